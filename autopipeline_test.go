package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintsim"
)

// autoPipe gives the AutoPipeliner of a client.
func autoPipe(t *testing.T, c redis.UniversalClient, async bool, opt *redis.AutoPipelineOptions) *redis.AutoPipeliner {
	t.Helper()
	get := c.AutoPipelineWithOptions
	if async {
		get = c.AsyncAutoPipelineWithOptions
	}
	ap, err := get(opt)
	if err != nil {
		t.Fatal(err)
	}
	if ap.IsBlocking() == async {
		t.Fatalf("IsBlocking is %v", ap.IsBlocking())
	}
	return ap
}

// TestAutoPipelineOrder: what one goroutine gives without waiting is executed in order.
func TestAutoPipelineOrder(t *testing.T) {
	c, _ := start(t, nil)
	ctx := soon(t)
	for _, opt := range []*redis.AutoPipelineOptions{
		nil,
		{MaxBatchSize: 7, MaxFlushDelay: 100 * time.Microsecond, AdaptiveDelay: true},
		{MaxBatchBytes: 100, FullDuplexWindow: 50},
		{FullDuplex: true, NumShards: 3},
		{MaxConcurrentBatches: 4, NumShards: 2, Unordered: true},
	} {
		do(t, c, "flushall")
		ap := autoPipe(t, c, true, opt)
		if ap2, err := c.AsyncAutoPipeline(); err != nil || ap2 != ap {
			t.Errorf("another one: %v", err)
		}
		var sums []*redis.IntCmd
		set := ap.Set(ctx, "k", "first", 0)
		for range 500 {
			sums = append(sums, ap.IncrBy(ctx, "n", 2))
		}
		get := ap.Get(ctx, "k")
		if opt == nil || !opt.Unordered {
			if get.Val() != "first" || set.Val() != "OK" {
				t.Errorf("got %v after %v", get, set)
			}
			for i, cmd := range sums {
				if cmd.Val() != int64(2*i+2) {
					t.Fatalf("%d: got %v", i, cmd)
				}
			}
		} else {
			for _, cmd := range sums {
				if cmd.Err() != nil {
					t.Fatal(cmd)
				}
			}
			if n := c.Get(ctx, "n").Val(); n != "1000" {
				t.Errorf("got the sum %s", n)
			}
		}
		if err := ap.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAutoPipelineBatches: commands that are given at the same time go out together, and
// hooks see them so and may look at and change what came of them.
func TestAutoPipelineBatches(t *testing.T) {
	c, _ := start(t, nil)
	ctx := soon(t)
	seen := &batchHook{}
	ap := autoPipe(t, c, true, &redis.AutoPipelineOptions{MaxFlushDelay: 2 * time.Millisecond})
	ap.AddHook(seen)
	var cmds []*redis.StringCmd
	ap.Set(ctx, "k", "v", 0)
	for range 200 {
		cmds = append(cmds, ap.Get(ctx, "k"))
	}
	spoilt := ap.Get(ctx, "spoilt")
	missing := ap.HGetAll(ctx, "k")
	for _, cmd := range cmds {
		if cmd.Val() != "v" {
			t.Fatal(cmd)
		}
	}
	if !errors.Is(spoilt.Err(), errSpoilt) || spoilt.Val() != "" {
		t.Errorf("got %v, want the hook's error", spoilt)
	}
	if _, err := missing.Result(); !redis.HasErrorPrefix(err, "WRONGTYPE") {
		t.Errorf("got %v", err)
	}
	if n := seen.batches.Load(); n == 0 || n > 20 {
		t.Errorf("%d batches for 203 commands", n)
	}
	if ap.Len() != 0 {
		t.Errorf("%d commands without an outcome", ap.Len())
	}
}

var errSpoilt = errors.New("spoilt")

// batchHook counts pipelines, and gives commands on the key "spoilt" an error.
type batchHook struct{ batches atomic.Int64 }

func (h *batchHook) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (h *batchHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (h *batchHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.batches.Add(1)
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if _ = cmd.Err(); strings.Contains(cmd.String(), "spoilt") {
				cmd.SetErr(errSpoilt)
			}
		}
		return err
	}
}

// TestAutoPipelineIsAClient: everything that is no ordinary command works, too.
func TestAutoPipelineIsAClient(t *testing.T) {
	c, _ := start(t, nil)
	for _, async := range []bool{false, true} {
		ap := autoPipe(t, c, async, nil)
		ctx := soon(t)
		do(t, c, "flushall")
		for i := range 30 {
			ap.SAdd(ctx, "set", i)
		}
		total := 0
		for it := ap.SScan(ctx, "set", 0, "", 5).Iterator(); it.Next(ctx); {
			total++
		}
		if total != 30 {
			t.Errorf("scanned %d", total)
		}
		popped := make(chan []string, 1)
		go func() { popped <- ap.BLPop(ctx, 10*time.Second, "list").Val() }()
		ap.RPush(ctx, "list", "a")
		if got := <-popped; !slices.Equal(got, []string{"list", "a"}) {
			t.Errorf("blpop: got %q", got)
		}
		cmds, err := ap.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Incr(ctx, "n")
			p.Incr(ctx, "n")
			return nil
		})
		if err != nil || cmds[1].(*redis.IntCmd).Val() != 2 {
			t.Errorf("transaction: %v, %v", cmds, err)
		}
		if err := ap.Watch(ctx, func(tx *redis.Tx) error { return tx.Get(ctx, "n").Err() }, "n"); err != nil {
			t.Error(err)
		}
		if v, err := ap.Do(ctx, "get", "n").Text(); v != "2" || err != nil {
			t.Errorf("do: %q, %v", v, err)
		}
		var out strings.Builder
		raw, to := ap.DoRaw(ctx, "get", "n"), ap.DoRawWriteTo(ctx, &out, "get", "n")
		if b, err := raw.Bytes(); string(b) != "$1\r\n2\r\n" || err != nil || to.Err() != nil || out.String() != string(b) {
			t.Errorf("raw: %q, %v, %v, %q", b, err, to, out.String())
		}
		buf := make([]byte, 10)
		if cmd := ap.GetToBuffer(ctx, "n", buf); string(cmd.Bytes()) != "2" {
			t.Errorf("buffer: %v", cmd)
		}
		if err := ap.Set(ctx, "k", struct{}{}, 0).Err(); err == nil || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("a value that can't be encoded: %v", err)
		}
		f := ap.Submit(ctx, redis.NewIntCmd(ctx, "incrby", "n", 5))
		if err := f.Wait(); async && (err != nil || f.Cmd().(*redis.IntCmd).Val() != 7) {
			t.Errorf("submit: %v, %v", f.Cmd(), err)
		} else if !async && !errors.Is(err, redis.ErrSubmitBlockingFace) {
			t.Errorf("submit: %v", err)
		}
		script := redis.NewScript("return ARGV[1]")
		if v, err := script.Run(ctx, ap, nil, "x").Text(); v != "x" || err != nil {
			t.Errorf("script: %q, %v", v, err)
		}
		if err := ap.Close(); err != nil {
			t.Error(err)
		}
		if err := ap.Get(ctx, "n").Err(); !errors.Is(err, redis.ErrClosed) || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("after Close: %v", err)
		}
		if err := errors.Join(ap.Close(), ap.WaitClosed()); !errors.Is(err, redis.ErrClosed) || !ap.IsClosed() {
			t.Errorf("a second Close: %v", err)
		}
		if err := c.Get(ctx, "n").Err(); err != nil {
			t.Errorf("the client was closed, too: %v", err)
		}
	}
}

// TestAutoPipelineContexts: who leaves does so at once and alone. What was not sent by then
// never is.
func TestAutoPipelineContexts(t *testing.T) {
	answer := make(chan struct{})
	s := newScript(t, func(_ *peer, args []string) string {
		if args[0] == "get" && args[1] == "slow" {
			<-answer
		}
		return "+OK\r\n"
	})
	c := newClient(t, &redis.Options{Addr: s.addr})
	ap := autoPipe(t, c, true, nil)
	ctx := soon(t)
	leaving, leave := context.WithCancel(ctx)
	first, staying := ap.Get(leaving, "slow"), ap.Get(ctx, "slow")
	await(t, "the first batch", func() bool { return ap.Len() == 2 })
	f := ap.Submit(leaving, redis.NewStringCmd(ctx, "get", "never"))
	last := ap.Get(ctx, "last")
	short, cancel := context.WithCancel(ctx)
	cancel()
	if err := ap.Submit(ctx, redis.NewStringCmd(ctx, "get", "other")).WaitContext(short); !errors.Is(err, context.Canceled) {
		t.Errorf("WaitContext: %v", err)
	}
	leave()
	for range 2 {
		if err := first.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := f.Wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	close(answer)
	if staying.Val() != "OK" || last.Val() != "OK" || first.Val() != "" {
		t.Errorf("got %v, %v, %v", staying, last, first)
	}
}

// held starts a server that answers once it is told to.
func held(t *testing.T) (addr string, answer func()) {
	t.Helper()
	told := make(chan struct{})
	s := newScript(t, func(*peer, []string) string {
		<-told
		return "+OK\r\n"
	})
	return s.addr, func() { close(told) }
}

// TestAutoPipelineLimit: one command more than the limit is refused, in both forms.
func TestAutoPipelineLimit(t *testing.T) {
	for _, async := range []bool{false, true} {
		addr, answer := held(t)
		ctx := soon(t)
		c := newClient(t, &redis.Options{Addr: addr, AutoPipelineOptions: &redis.AutoPipelineOptions{MaxQueuedCommands: 3}})
		ap := autoPipe(t, c, async, nil)
		if ap.Config().MaxQueuedCommands != 3 {
			t.Errorf("got %+v", ap.Config())
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := ap.Get(ctx, "k").Err(); err != nil {
					t.Error(err)
				}
			})
		}
		await(t, "three commands", func() bool { return ap.Len() == 3 })
		err := ap.Get(ctx, "k").Err()
		if !errors.Is(err, redis.ErrAutoPipelineQueueFull) || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("got %v", err)
		}
		answer()
		wg.Wait()
	}
}

// TestAutoPipelineWindow: one command more than the window waits for room, as long as its
// context lasts.
func TestAutoPipelineWindow(t *testing.T) {
	addr, answer := held(t)
	ctx := soon(t)
	ap := autoPipe(t, newClient(t, &redis.Options{Addr: addr}), true, &redis.AutoPipelineOptions{FullDuplexWindow: 2})
	ap.Get(ctx, "k")
	ap.Get(ctx, "k")
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if err := ap.Get(short, "k").Err(); !errors.Is(err, redis.ErrAutoPipelineTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := ap.Get(ctx, "k").Err(); err != nil {
				t.Error(err)
			}
		})
	}
	answer()
	wg.Wait()
}

// TestAutoPipelineCloses: what was accepted is sent before Close returns, be it the client's
// or that of the AutoPipeliner. Commands that block are ended.
func TestAutoPipelineCloses(t *testing.T) {
	for _, whole := range []bool{false, true} {
		c, s := start(t, nil)
		ap := autoPipe(t, c, true, nil)
		ctx := soon(t)
		blocked := ap.BLPop(ctx, 0, "list")
		var cmds []*redis.IntCmd
		for range 5000 {
			cmds = append(cmds, ap.Incr(ctx, "n"))
		}
		closer := ap.Close
		if whole {
			closer = c.Close
		}
		if err := closer(); err != nil {
			t.Error(err)
		}
		for i, cmd := range cmds {
			if cmd.Val() != int64(i+1) {
				t.Fatalf("%d: got %v", i, cmd)
			}
		}
		if got := do(t, admin(t, s.Addr()), "get", "n"); got != "5000" {
			t.Errorf("got %s", got)
		}
		if err := blocked.Err(); !errors.Is(err, redis.ErrClosed) {
			t.Errorf("blpop: %v", err)
		}
	}
}

// TestAutoPipelineGivesUp: Close ends although the server does not answer any more.
func TestAutoPipelineGivesUp(t *testing.T) {
	s := newScript(t, func(*peer, []string) string { return silence })
	c := newClient(t, &redis.Options{
		Addr: s.addr, ReadTimeout: 50 * time.Millisecond, PoolTimeout: 50 * time.Millisecond, MaxRetries: -1,
	})
	ap := autoPipe(t, c, true, &redis.AutoPipelineOptions{MaxBatchSize: 1})
	ctx := soon(t)
	var cmds []*redis.StringCmd
	for range 1000 {
		cmds = append(cmds, ap.Get(ctx, "k"))
	}
	if err := ap.Close(); err != nil {
		t.Error(err)
	}
	if err := cmds[999].Err(); !errors.Is(err, redis.ErrClosed) || redis.DeliveryOf(err) != redis.NotSent {
		t.Errorf("got %v", err)
	}
	if ctx.Err() != nil {
		t.Error("it took too long")
	}
}

// TestAutoPipelineHandoffs: maintenance is not noticed through an AutoPipeliner.
func TestAutoPipelineHandoffs(t *testing.T) {
	for _, async := range []bool{false, true} {
		sim := maintsim.Start(t, maintsim.Config{Proxies: 3, Grace: 6 * time.Second, TimeUnit: 50 * time.Millisecond})
		c := newClient(t, &redis.Options{Addr: sim.Addr(), ReadTimeout: time.Second})
		ap := autoPipe(t, c, async, nil)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		var acked atomic.Int64
		for w := range 16 {
			wg.Go(func() { autoWork(t, ap, stop, w, &acked) })
		}
		for range 10 {
			if err := sim.Rebind(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		close(stop)
		wg.Wait()
		if got := counter(t, sim); got != acked.Load() || got == 0 {
			t.Errorf("counter is %d, acknowledged %d", got, acked.Load())
		}
		t.Logf("async %v: %d commands counted", async, acked.Load())
	}
}

// autoWork sends windows of commands, and checks what comes of each.
func autoWork(t *testing.T, ap *redis.AutoPipeliner, stop <-chan struct{}, w int, acked *atomic.Int64) {
	ctx := context.Background()
	key := fmt.Sprint("key-", w)
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		var sums []*redis.IntCmd
		val := fmt.Sprint(key, "=", n)
		set := ap.Set(ctx, key, val, 0)
		for range 20 {
			sums = append(sums, ap.Incr(ctx, "counter"))
		}
		get := ap.Get(ctx, key)
		if got, err := get.Result(); err != nil || got != val || set.Err() != nil {
			t.Errorf("got %q, %v, want %q, after %v", got, err, val, set)
		}
		for _, cmd := range sums {
			if err := cmd.Err(); err != nil {
				t.Error(err)
				continue
			}
			acked.Add(1)
		}
	}
}

// TestAutoPipelineOfACluster: also for commands that are for several nodes.
func TestAutoPipelineOfACluster(t *testing.T) {
	sim := maintsim.StartCluster(t, maintsim.ClusterConfig{Shards: 3})
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: sim.Addrs()})
	defer c.Close()
	ring, _ := startRing(t, 3, nil)
	for _, client := range []redis.UniversalClient{c, ring} {
		for _, async := range []bool{false, true} {
			ap := autoPipe(t, client, async, nil)
			ctx := soon(t)
			var cmds []*redis.IntCmd
			for i := range 300 {
				cmds = append(cmds, ap.IncrBy(ctx, fmt.Sprint("n", i%30), 1))
			}
			for i, cmd := range cmds {
				want := int64(i/30 + 1)
				if async {
					want += 10
				}
				if cmd.Val() != want {
					t.Fatalf("%d: got %v, want %d", i, cmd, want)
				}
			}
			if client == redis.UniversalClient(c) {
				if n, err := ap.DBSize(ctx).Result(); n != 30 || err != nil {
					t.Errorf("dbsize: %d, %v", n, err)
				}
			}
			if err := ap.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestFDPipelined(t *testing.T) {
	c, _ := start(t, nil)
	ctx := soon(t)
	incr := func(key string) redis.Cmder { return redis.NewIntCmd(ctx, "incr", key) }
	if err := autoPipe(t, c, false, nil).FDPipelined(ctx, []redis.Cmder{incr("n")}); !errors.Is(err, redis.ErrFDPipelineUnavailable) {
		t.Errorf("got %v", err)
	}
	ap := autoPipe(t, c, true, &redis.AutoPipelineOptions{FullDuplex: true, NumShards: 8, FullDuplexWindow: 10})
	cmds := []redis.Cmder{incr("n"), redis.NewStatusCmd(ctx, "ping"), incr("n")}
	if err := ap.FDPipelined(ctx, cmds); err != nil || cmds[2].(*redis.IntCmd).Val() != 2 {
		t.Errorf("got %v, %v", cmds, err)
	}
	for _, tc := range []struct {
		cmds []redis.Cmder
		want error
	}{
		{slices.Repeat([]redis.Cmder{incr("n")}, 11), redis.ErrFDPipelineTooLarge},
		{[]redis.Cmder{incr("n"), redis.NewStringSliceCmd(ctx, "blpop", "list", 1)}, redis.ErrFDPipelineDiverts},
		{[]redis.Cmder{incr("a"), incr("b"), incr("c"), incr("d")}, redis.ErrFDPipelineSpansEngines},
		{nil, nil},
	} {
		if err := ap.FDPipelined(ctx, tc.cmds); !errors.Is(err, tc.want) {
			t.Errorf("got %v, want %v", err, tc.want)
		}
	}
	wrong := []redis.Cmder{redis.NewIntCmd(ctx, "lpush", "n", 1), incr("n")}
	if err := ap.FDPipelined(ctx, wrong); !redis.HasErrorPrefix(err, "WRONGTYPE") || wrong[1].(*redis.IntCmd).Val() != 3 {
		t.Errorf("got %v, %v", err, wrong)
	}
}

func TestAutoPipelineOptionsAreValidated(t *testing.T) {
	for _, tc := range []struct {
		opt  redis.AutoPipelineOptions
		want string // "": valid
	}{
		{redis.AutoPipelineOptions{}, ""},
		{*redis.DefaultAutoPipelineOptions(), ""},
		{*redis.DefaultBlockingAutoPipelineOptions(), ""},
		{redis.AutoPipelineOptions{MaxConcurrentBatches: 80, Unordered: true}, ""},
		{redis.AutoPipelineOptions{FullDuplex: true, NumShards: 4}, ""},
		{redis.AutoPipelineOptions{MaxConcurrentBatches: 2}, "MaxConcurrentBatches"},
		{redis.AutoPipelineOptions{NumShards: 2}, "NumShards"},
		{redis.AutoPipelineOptions{FullDuplex: true, Unordered: true}, "FullDuplex"},
		{redis.AutoPipelineOptions{FullDuplex: true, MaxConcurrentBatches: 2}, "MaxConcurrentBatches"},
		{redis.AutoPipelineOptions{MaxBatchSize: -1, MaxFlushDelay: -1, MaxQueuedCommands: -1}, "MaxFlushDelay"},
	} {
		err := tc.opt.Validate()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: got %v, want %q", tc.opt, err, tc.want)
		}
		c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
		if _, got := c.AsyncAutoPipelineWithOptions(&tc.opt); (got == nil) != (err == nil) {
			t.Errorf("%+v: got %v, want %v", tc.opt, got, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := c.AutoPipeline(); !errors.Is(err, redis.ErrClosed) {
			t.Errorf("of a closed client: %v", err)
		}
	}
}
