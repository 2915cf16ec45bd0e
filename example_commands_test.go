package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alicebob/miniredis/v2"

	redis "github.com/baton-go/redis"
)

// exampleClient is a client of an embedded server, and a function that ends both.
func exampleClient() (*redis.Client, func()) {
	srv := miniredis.NewMiniRedis()
	if err := srv.Start(); err != nil {
		panic(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: srv.Addr()})
	return rdb, func() {
		_ = rdb.Close()
		srv.Close()
	}
}

func Example_strings() {
	ctx := context.Background()
	rdb, end := exampleClient()
	defer end()

	if err := rdb.Set(ctx, "greeting", "hello", time.Hour).Err(); err != nil {
		fmt.Println(err)
		return
	}
	val, err := rdb.Get(ctx, "greeting").Result()
	fmt.Println(val, err)

	_, err = rdb.Get(ctx, "missing").Result()
	if errors.Is(err, redis.Nil) {
		fmt.Println("missing does not exist")
	}

	n, err := rdb.IncrBy(ctx, "visits", 5).Result()
	fmt.Println(n, err)
	ttl, err := rdb.TTL(ctx, "greeting").Result()
	fmt.Println(ttl, err)
	// Output:
	// hello <nil>
	// missing does not exist
	// 5 <nil>
	// 1h0m0s <nil>
}

func Example_hashAsStruct() {
	ctx := context.Background()
	rdb, end := exampleClient()
	defer end()

	type user struct {
		Name  string `redis:"name"`
		Age   int    `redis:"age"`
		Email string `redis:"email,omitempty"`
	}
	if err := rdb.HSet(ctx, "user:1", user{Name: "Ann", Age: 42}).Err(); err != nil {
		fmt.Println(err)
		return
	}
	var all, some user
	err := rdb.HGetAll(ctx, "user:1").Scan(&all)
	fmt.Printf("%+v %v\n", all, err)
	err = rdb.HMGet(ctx, "user:1", "age", "email").Scan(&some)
	fmt.Printf("%+v %v\n", some, err)
	// Output:
	// {Name:Ann Age:42 Email:} <nil>
	// {Name: Age:42 Email:} <nil>
}

func Example_queue() {
	ctx := context.Background()
	rdb, end := exampleClient()
	defer end()

	rdb.RPush(ctx, "jobs", "first", "second")
	for {
		// A blocking command has a connection of its own and holds up nobody.
		job, err := rdb.BLPop(ctx, 50*time.Millisecond, "jobs").Result()
		if errors.Is(err, redis.Nil) {
			fmt.Println("no more jobs")
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(job[0], job[1])
	}
	// Output:
	// jobs first
	// jobs second
	// no more jobs
}

func Example_leaderboard() {
	ctx := context.Background()
	rdb, end := exampleClient()
	defer end()

	rdb.ZAdd(ctx, "board", redis.Z{Score: 10, Member: "ann"}, redis.Z{Score: 30, Member: "bob"}, redis.Z{Score: 20, Member: "eve"})
	rdb.ZIncrBy(ctx, "board", 25, "ann")
	best, err := rdb.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{Key: "board", Start: 0, Stop: 1, Rev: true}).Result()
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, z := range best {
		fmt.Println(i+1, z.Member, z.Score)
	}
	// Output:
	// 1 ann 35
	// 2 bob 30
}

func Example_scan() {
	ctx := context.Background()
	rdb, end := exampleClient()
	defer end()

	for i := range 3 {
		rdb.Set(ctx, fmt.Sprintf("user:%d", i), i, 0)
	}
	var keys []string
	for key, err := range rdb.Scan(ctx, 0, "user:*", 100).Iterator().All(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	fmt.Println(keys)
	// Output: [user:0 user:1 user:2]
}

func ExampleReusableCmd() {
	ctx := context.Background()
	rdb, end := exampleClient()
	defer end()

	var cmd redis.ReusableCmd // one object for all commands of the loop
	for _, word := range []string{"to", "be", "or", "not", "to", "be"} {
		if err := rdb.Process(ctx, cmd.Begin("hincrby").Str("words").Str(word).Int(1)); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := rdb.Process(ctx, cmd.Begin("hmget").Str("words").Str("be").Str("or")); err != nil {
		fmt.Println(err)
		return
	}
	for count, err := range cmd.All() {
		fmt.Println(string(count), err)
	}
	// Output:
	// 2 <nil>
	// 1 <nil>
}

func ExampleFollowStreams() {
	ctx := context.Background()
	rdb, end := exampleClient()
	defer end()

	for _, what := range []string{"ordered", "paid", "sent"} {
		rdb.XAdd(ctx, &redis.XAddArgs{Stream: "order:1", Values: []any{"what", what}})
	}
	// With Block at 0 the loop would go on waiting for what is added.
	from := &redis.XReadArgs{Streams: []string{"order:1"}, ID: "0", Block: -1}
	for msg, err := range redis.FollowStreams(ctx, rdb, from) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(msg.Stream, msg.Values["what"])
	}
	// Output:
	// order:1 ordered
	// order:1 paid
	// order:1 sent
}

func ExampleScript_Run() {
	ctx := context.Background()
	rdb, end := exampleClient()
	defer end()

	// Adds, but never above a limit.
	addUpTo := redis.NewScript(`
		local sum = redis.call("INCRBY", KEYS[1], ARGV[1])
		if sum > tonumber(ARGV[2]) then
			redis.call("SET", KEYS[1], ARGV[2])
			return tonumber(ARGV[2])
		end
		return sum`)
	for range 3 {
		n, err := addUpTo.Run(ctx, rdb, []string{"stock"}, 4, 10).Int()
		fmt.Println(n, err)
	}
	// Output:
	// 4 <nil>
	// 8 <nil>
	// 10 <nil>
}

func ExampleNewCmdResult() {
	// A fake for tests answers with commands that are answered already.
	get := func(key string) *redis.StringCmd {
		if key != "greeting" {
			return redis.NewStringResult("", redis.Nil)
		}
		return redis.NewStringResult("hello", nil)
	}
	fmt.Println(get("greeting").Result())
	fmt.Println(get("other").Result())
	// Output:
	// hello <nil>
	//  redis: nil
}
