package redis_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/maintsim"
)

// startRing starts so many servers and a ring of them.
func startRing(t *testing.T, n int, change func(*redis.RingOptions)) (*redis.Ring, map[string]*miniredis.Miniredis) {
	t.Helper()
	servers := map[string]*miniredis.Miniredis{}
	opt := &redis.RingOptions{Addrs: map[string]string{}, HeartbeatFrequency: 20 * time.Millisecond, Logger: testLogger(t)}
	for i := range n {
		name := fmt.Sprintf("shard%d", i+1)
		servers[name] = miniredis.RunT(t)
		opt.Addrs[name] = servers[name].Addr()
	}
	if change != nil {
		change(opt)
	}
	r := redis.NewRing(opt)
	t.Cleanup(func() { _ = r.Close() })
	return r, servers
}

// TestRingSpreadsKeys: each key is at one shard, where the ring finds it again, alone and
// in pipelines; keys with one hash tag are together.
func TestRingSpreadsKeys(t *testing.T) {
	r, servers := startRing(t, 3, nil)
	ctx := soon(t)
	for i := range 300 {
		if err := r.Set(ctx, fmt.Sprintf("k%d", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for name, s := range servers {
		n := len(s.Keys())
		total += n
		if n < 60 {
			t.Errorf("%s has %d keys of 300", name, n)
		}
	}
	if total != 300 {
		t.Errorf("%d keys in all, want 300", total)
	}
	cmds, err := r.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range 300 {
			p.Get(ctx, fmt.Sprintf("k%d", i))
		}
		p.Ping(ctx)
		return nil
	})
	if err != nil || len(cmds) != 301 {
		t.Fatal(len(cmds), err)
	}
	for i, cmd := range cmds[:300] {
		if got := cmd.(*redis.StringCmd).Val(); got != fmt.Sprint(i) {
			t.Errorf("k%d is %q", i, got)
		}
	}
	if _, err := r.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, "a{tag}", 1, 0)
		p.Incr(ctx, "b{tag}")
		return nil
	}); err != nil {
		t.Error(err)
	}
	client, err := r.GetShardClientForKey("{tag}")
	if err != nil {
		t.Fatal(err)
	}
	if n := client.Exists(ctx, "a{tag}", "b{tag}").Val(); n != 2 {
		t.Errorf("%d of 2 keys with a tag are together", n)
	}
}

// TestRingIsThatOfOthers: the shards of keys as go-redis's ring finds them (measured with
// v9.23 for shards called shard1 to shard4).
func TestRingIsThatOfOthers(t *testing.T) {
	r := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{
		"shard1": "127.0.0.1:1", "shard2": "127.0.0.1:2", "shard3": "127.0.0.1:3", "shard4": "127.0.0.1:4",
	}})
	defer r.Close()
	for key, want := range ringFacts {
		c, err := r.GetShardClientForKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if got := "shard" + c.Options().Addr[len("127.0.0.1:"):]; got != want {
			t.Errorf("%s is at %s, want %s", key, got, want)
		}
	}
}

// TestRingLeavesOutWhatIsDown: keys of a shard that does not answer go to others, and back.
func TestRingLeavesOutWhatIsDown(t *testing.T) {
	r, servers := startRing(t, 2, func(o *redis.RingOptions) { o.PoolTimeout = 10 * time.Second })
	ctx := soon(t)
	if err := r.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	addr := servers["shard1"].Addr()
	servers["shard1"].Close()
	await(t, "a ring of one", func() bool { return r.Len() == 1 })
	for i := range 20 {
		if err := r.Set(ctx, fmt.Sprintf("k%d", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	back := miniredis.NewMiniRedis()
	if err := back.StartAddr(addr); err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	await(t, "a ring of two", func() bool { return r.Len() == 2 })
	servers["shard2"].Close()
	back.Close()
	await(t, "a ring without shards", func() bool { return r.Len() == 0 })
	if err := r.Ping(ctx).Err(); err == nil || redis.DeliveryOf(err) != redis.NotSent {
		t.Errorf("without shards: %v", err)
	}
	if err := r.ForEachShard(ctx, func(context.Context, *redis.Client) error { return errors.New("there is one") }); err != nil {
		t.Error(err)
	}
}

// TestRingShardsComeAndGo under load: SetAddrs costs no command.
func TestRingShardsComeAndGo(t *testing.T) {
	r, servers := startRing(t, 3, nil)
	ctx := soon(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := r.Set(ctx, fmt.Sprintf("k%d-%d", w, i%100), i, 0).Err(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var made []string
	r.OnNewNode(func(c *redis.Client) { made = append(made, c.Options().Addr) })
	all := maps.Clone(r.Options().Addrs)
	for i := range 20 {
		some := maps.Clone(all)
		delete(some, fmt.Sprintf("shard%d", i%3+1))
		r.SetAddrs(some)
		if r.Len() != 2 {
			t.Errorf("%d shards, want 2", r.Len())
		}
		r.SetAddrs(all)
	}
	close(stop)
	wg.Wait()
	if want := servers["shard1"].Addr(); len(made) != 20 || !slices.Contains(made, want) {
		t.Errorf("%d new clients (%v), want 20", len(made), made)
	}
}

// TestRingPublishes at the shard where subscribers of the channel are.
func TestRingPublishes(t *testing.T) {
	r, _ := startRing(t, 3, nil)
	ctx := soon(t)
	for i := range 5 {
		name := fmt.Sprintf("channel%d", i)
		sub := r.Subscribe(ctx, name)
		defer sub.Close()
		if _, err := sub.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		if n, err := r.Publish(ctx, name, "hello").Result(); err != nil || n != 1 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != "hello" {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}

func TestRingWatches(t *testing.T) {
	r, _ := startRing(t, 3, nil)
	ctx := soon(t)
	err := r.Watch(ctx, func(tx *redis.Tx) error {
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, "{a}1", "x", 0); return nil })
		return err
	}, "{a}1", "{a}2")
	if err != nil || r.Get(ctx, "{a}1").Val() != "x" {
		t.Error(err)
	}
	for _, keys := range [][]string{nil, {"a", "b", "c", "d", "e", "f"}} {
		if err := r.Watch(ctx, func(*redis.Tx) error { return nil }, keys...); err == nil {
			t.Errorf("keys %q: no error", keys)
		}
	}
}

// TestRingTakesNotices: each shard is an endpoint that hands over.
func TestRingTakesNotices(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Grace: time.Second})
	r, _ := startRing(t, 1, func(o *redis.RingOptions) {
		o.Addrs["simulated"] = sim.Addr()
		o.HeartbeatFrequency = time.Minute
	})
	ctx := soon(t)
	key := ""
	for i := 0; key == ""; i++ {
		c, err := r.GetShardClientForKey(fmt.Sprint("k", i))
		if err != nil {
			t.Fatal(err)
		}
		if c.Options().Addr == sim.Addr() {
			key = fmt.Sprint("k", i)
		}
	}
	if err := r.Set(ctx, key, 0, 0).Err(); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan int64)
	go func() {
		n := int64(0)
		for {
			select {
			case <-stop:
				done <- n
				return
			default:
			}
			if err := r.Incr(ctx, key).Err(); err != nil {
				t.Error(err)
			}
			n++
		}
	}()
	if err := sim.Rebind(ctx); err != nil {
		t.Error(err)
	}
	close(stop)
	if n := <-done; r.Get(ctx, key).Val() != fmt.Sprint(n) {
		t.Errorf("%s INCRs in the server, %d acknowledged", r.Get(ctx, key).Val(), n)
	}
}

// TestUnusedRingStartsNothing is looked after by the goroutine check of all tests.
func TestUnusedRingStartsNothing(t *testing.T) {
	r := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Close(); !errors.Is(err, redis.ErrClosed) {
		t.Errorf("a second Close: %v", err)
	}
	if err := r.Ping(t.Context()).Err(); err == nil {
		t.Error("a closed ring answers")
	}
}

var ringFacts = map[string]string{
	"key:0": "shard3",
	"key:1": "shard2",
	"key:2": "shard3",
	"key:3": "shard3",
	"a-long-key-that-has-more-than-thirty-two-bytes-in-it-4": "shard1",
	"some{tag5}long-key-that-has-more-than-32-bytes-in-it":   "shard4",
	"key:6": "shard3",
	"key:7": "shard3",
	"key:8": "shard4",
	"key:9": "shard3",
	"a-long-key-that-has-more-than-thirty-two-bytes-in-it-10": "shard2",
	"some{tag11}long-key-that-has-more-than-32-bytes-in-it":   "shard4",
	"key:12": "shard3",
	"key:13": "shard1",
	"key:14": "shard3",
	"key:15": "shard4",
	"a-long-key-that-has-more-than-thirty-two-bytes-in-it-16": "shard2",
	"some{tag17}long-key-that-has-more-than-32-bytes-in-it":   "shard3",
	"key:18": "shard4",
	"key:19": "shard2",
	"key:20": "shard1",
	"key:21": "shard1",
	"a-long-key-that-has-more-than-thirty-two-bytes-in-it-22": "shard1",
	"some{tag23}long-key-that-has-more-than-32-bytes-in-it":   "shard4",
}
