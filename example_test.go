package redis_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// exampleServer starts an embedded server, so that the examples need nothing
// installed. A real program has its server's address in place of it.
func exampleServer() (addr string, stop func()) {
	s, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	return s.Addr(), s.Close
}

func Example() {
	addr, stop := exampleServer()
	defer stop()
	ctx := context.Background()

	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()

	if err := rdb.Set(ctx, "greeting", "hello", time.Hour).Err(); err != nil {
		fmt.Println(err)
		return
	}
	v, err := rdb.Get(ctx, "greeting").Result()
	fmt.Println(v, err)

	// A key that does not exist is no failure of the server: its error is Nil.
	_, err = rdb.Get(ctx, "nothing").Result()
	fmt.Println(errors.Is(err, redis.Nil))
	// Output:
	// hello <nil>
	// true
}

func ExampleParseURL() {
	opt, err := redis.ParseURL("rediss://alice:secret@db.example.com:6380/2?read_timeout=3s&pool_size=20")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(opt.Addr, opt.Username, opt.DB, opt.ReadTimeout, opt.PoolSize, opt.TLSConfig.ServerName)
	// Output: db.example.com:6380 alice 2 3s 20 db.example.com
}

// Commands of a pipeline are sent together and cost one round trip.
func ExampleClient_Pipelined_quick() {
	addr, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()

	var visits *redis.IntCmd
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, "page", "/index", 0)
		visits = p.Incr(ctx, "visits")
		p.Expire(ctx, "visits", time.Hour)
		return nil
	})
	fmt.Println(visits.Val(), err)
	// Output: 1 <nil>
}

// A transaction that reads and then writes watches what it has read: if somebody
// changes it meanwhile, or the server goes away before EXEC, nothing is executed and
// the error is TxFailedErr. Then it is run again.
func ExampleClient_Watch() {
	addr, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	rdb.Set(ctx, "stock", 3, 0)

	buy := func(tx *redis.Tx) error {
		left, err := tx.Get(ctx, "stock").Int()
		if err != nil {
			return err
		}
		if left == 0 {
			return errors.New("sold out")
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, "stock", left-1, 0)
			p.RPush(ctx, "orders", "one")
			return nil
		})
		return err
	}
	for range 4 {
		err := rdb.Watch(ctx, buy, "stock")
		for errors.Is(err, redis.TxFailedErr) {
			err = rdb.Watch(ctx, buy, "stock")
		}
		fmt.Println(rdb.Get(ctx, "stock").Val(), err)
	}
	// Output:
	// 2 <nil>
	// 1 <nil>
	// 0 <nil>
	// 0 sold out
}

func ExampleClient_Subscribe() {
	addr, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()

	news := rdb.Subscribe(ctx, "news")
	defer news.Close()
	if _, err := news.Receive(ctx); err != nil { // the confirmation
		fmt.Println(err)
		return
	}
	rdb.Publish(ctx, "news", "first")
	rdb.Publish(ctx, "news", "second")

	messages := news.Channel()
	for range 2 {
		m := <-messages
		fmt.Println(m.Channel, m.Payload)
	}
	// Output:
	// news first
	// news second
}

// Every failure says how far the command got.
func ExampleDeliveryOf() {
	addr, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()

	pay := func(ctx context.Context) {
		err := rdb.IncrBy(ctx, "account", 100).Err()
		if err == nil {
			fmt.Println("paid")
			return
		}
		switch redis.DeliveryOf(err) {
		case redis.NotSent:
			fmt.Println("nothing was sent: it is safe to try again")
		case redis.MaybeSent:
			fmt.Println("it may have been paid: look before trying again")
		case redis.Rejected:
			fmt.Println("the server said:", err)
		}
	}
	pay(ctx)

	tooLate, cancel := context.WithCancel(ctx)
	cancel()
	pay(tooLate)

	rdb.Del(ctx, "account")
	rdb.LPush(ctx, "account", "no number")
	pay(ctx)
	// Output:
	// paid
	// nothing was sent: it is safe to try again
	// the server said: WRONGTYPE Operation against a key holding the wrong kind of value
}

// Maintenance is survived without any configuration. What can be configured is how
// strict the client is, and how much time it gives a server under maintenance.
func Example_maintenance() {
	sim, err := maintsim.New(maintsim.Config{Grace: 2 * time.Second, TimeUnit: 100 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sim.Close()
	ctx := context.Background()

	rdb := redis.NewClient(&redis.Options{
		Addr: sim.Addr(),
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode:           maintnotifications.ModeEnabled, // fail where the server does not send notifications
			RelaxedTimeout: 20 * time.Second,               // what a server under maintenance may take
		},
	})
	defer rdb.Close()

	rdb.Set(ctx, "key", "value", 0)
	if err := sim.Rebind(ctx); err != nil { // the database moves to another address
		fmt.Println(err)
	}
	fmt.Println(rdb.Get(ctx, "key").Result())
	// Output: value <nil>
}

// A hook sees every command.
func ExampleClient_AddHook() {
	addr, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()

	rdb.AddHook(logHook{})
	rdb.Set(ctx, "key", "value", 0)
	rdb.Get(ctx, "nothing")
	// Output:
	// set: <nil>
	// get: redis: nil
}

// logHook prints each command's outcome; a nil hook is none.
type logHook struct{}

func (logHook) DialHook(redis.DialHook) redis.DialHook { return nil }

func (logHook) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook { return nil }

func (logHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		fmt.Printf("%s: %v\n", cmd.Name(), err)
		return err
	}
}

// A Conn is a connection of one's own, whose state concerns nobody else.
func ExampleClient_Conn() {
	addr, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()

	conn := rdb.Conn()
	defer conn.Close()
	conn.Do(ctx, "select", 3)
	conn.Set(ctx, "key", "in database 3", 0)
	fmt.Println(conn.Get(ctx, "key").Val())
	fmt.Println(rdb.Exists(ctx, "key").Val())
	// Output:
	// in database 3
	// 0
}

// AutoPipeline gives a client of the same kind with a limit and a Close of its own: the
// commands of all goroutines are pipelined by themselves.
func ExampleClient_AutoPipeline() {
	addr, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()

	ap, err := rdb.AutoPipeline()
	if err != nil {
		fmt.Println(err) // the options make no sense
		return
	}
	defer ap.Close()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { ap.Incr(ctx, "visits") }) // waits for its reply
	}
	wg.Wait()
	fmt.Println(ap.Get(ctx, "visits").Val())
	// Output: 100
}

// AsyncAutoPipeline's commands return at once; their methods wait for the reply.
func ExampleClient_AsyncAutoPipeline() {
	addr, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()

	ap, err := rdb.AsyncAutoPipeline()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ap.Close()
	var sums []*redis.IntCmd
	for range 100 {
		sums = append(sums, ap.Incr(ctx, "visits"))
	}
	total := int64(0)
	for _, sum := range sums {
		total += sum.Val()
	}
	fmt.Println(total)
	// Output: 5050
}

// Replies are kept in memory until the server says that their keys have changed. The
// embedded server of the examples can't track keys, so that this one only compiles.
func ExampleOptions_clientSideCache() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{
		Addr: "localhost:6379",
		ClientSideCacheConfig: &redis.ClientSideCacheConfig{
			MaxEntries:     10_000,
			MaxMemoryBytes: 64 << 20,
			MaxStaleness:   10 * time.Minute, // whatever happens
		},
		ClientSideCacheCoalesceMisses: true, // one command for all who miss the same key
	})
	defer rdb.Close()

	for range 1000 {
		if _, err := rdb.Get(ctx, "config").Result(); err != nil && !errors.Is(err, redis.Nil) {
			fmt.Println(err)
			return
		}
	}
	stats := rdb.CSCStats()
	fmt.Printf("%d hits, %d misses\n", stats.Hits, stats.Misses)
}
