package redis_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintsim"
)

// afterClose checks that nothing of a closed client works, and says so.
func afterClose(t *testing.T, c *redis.Client) {
	t.Helper()
	ctx := soon(t)
	ping := func(p redis.Pipeliner) error { p.Do(ctx, "ping"); return nil }
	begin := time.Now()
	for name, err := range map[string]error{
		"command":     c.Ping(ctx).Err(),
		"blocking":    c.BLPop(ctx, 0, "k").Err(),
		"pipeline":    second(c.Pipelined(ctx, ping)),
		"transaction": second(c.TxPipelined(ctx, ping)),
		"Conn":        c.Conn().Ping(ctx).Err(),
		"Watch":       c.Watch(ctx, func(*redis.Tx) error { return nil }, "k"),
		"Subscribe":   c.Subscribe(ctx).Subscribe(ctx, "ch"),
		"Receive":     second(c.Subscribe(ctx, "ch").Receive(ctx)),
		"second time": c.Close(),
	} {
		if !errors.Is(err, redis.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
		if name != "second time" && redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("%s: %v", name, redis.DeliveryOf(err))
		}
	}
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("took %v to say so", d)
	}
	if st := c.PoolStats(); st.TotalConns != 0 || st.IdleConns != 0 || st.PendingRequests != 0 {
		t.Errorf("stats after Close: %+v", st)
	}
}

func TestClose(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		for name, use := range map[string]func(c *redis.Client){
			"unused":  func(*redis.Client) {},
			"shared":  func(c *redis.Client) { _ = c.Ping(ctx).Err() },
			"pool":    func(c *redis.Client) { _ = c.BLPop(ctx, 10*time.Millisecond, "none").Err() },
			"session": func(c *redis.Client) { _ = c.Conn().Ping(ctx).Err() },
			"pubsub":  func(c *redis.Client) { _, _ = c.Subscribe(ctx, "ch").Receive(ctx) },
			"channel": func(c *redis.Client) { _ = c.Subscribe(ctx, "ch").Channel() },
			"cancelled": func(c *redis.Client) {
				short, cancel := context.WithCancel(ctx)
				cancel()
				_ = c.Ping(short).Err()
			},
		} {
			t.Run(name, func(t *testing.T) {
				c, _ := start(t, &redis.Options{Protocol: proto, MinIdleConns: 1})
				use(c)
				if err := c.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
				afterClose(t, c)
			})
		}
	})
}

func TestCloseWithoutAServer(t *testing.T) {
	// One that refuses, one that never answers, one that never accepts.
	silent := serve(t, func(nc net.Conn) { buf := make([]byte, 1024); _, _ = nc.Read(buf); _, _ = nc.Read(buf) })
	for name, opt := range map[string]*redis.Options{
		"refused": {Addr: "127.0.0.1:1"},
		"silent":  {Addr: silent},
		"no accept": {Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := redis.NewClient(opt)
			var wg sync.WaitGroup
			begun := make(chan struct{}, 5)
			for _, f := range []func() error{
				func() error { return c.Ping(t.Context()).Err() },
				func() error { return c.BLPop(t.Context(), 0, "k").Err() },
				func() error { return c.Conn().Ping(t.Context()).Err() },
				func() error { return c.Watch(t.Context(), func(*redis.Tx) error { return nil }, "k") },
				func() error { return second(c.Subscribe(t.Context(), "ch").Receive(t.Context())) },
			} {
				wg.Go(func() {
					begun <- struct{}{}
					if err := f(); err == nil {
						t.Error("no error")
					}
				})
			}
			for range 5 {
				<-begun
			}
			runtime.Gosched()
			begin := time.Now()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			wg.Wait()
			if d := time.Since(begin); d > 2*time.Second {
				t.Errorf("Close took %v", d)
			}
		})
	}
}

// A client may be closed whatever it is doing. Every command then has an outcome.
func TestCloseUnderLoad(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Proxies: 2, Grace: time.Second, TimeUnit: 50 * time.Millisecond})
	for range 20 {
		c := redis.NewClient(&redis.Options{Addr: sim.Addr(), PoolSize: 4})
		ctx := context.Background()
		var wg sync.WaitGroup
		busy := make(chan struct{}, 100)
		for w := range 24 {
			wg.Go(func() {
				for n := 0; ; n++ {
					var err error
					switch w % 8 {
					case 0, 1:
						err = c.Incr(ctx, "n").Err()
					case 2:
						_, err = c.Pipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "get", "k"); p.Do(ctx, "incr", "n"); return nil })
					case 3:
						_, err = c.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "incr", "n"); return nil })
					case 4:
						err = c.BLPop(ctx, 0, "none").Err()
					case 5:
						cn := c.Conn()
						err = cn.Get(ctx, "k").Err()
						_ = cn.Close()
					case 6:
						err = c.Watch(ctx, func(tx *redis.Tx) error {
							_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "set", "k", w); return nil })
							return err
						}, "k")
					case 7:
						ps := c.Subscribe(ctx, "ch")
						_, err = ps.Receive(ctx)
						_ = ps.Close()
					}
					if n == 0 {
						busy <- struct{}{}
					}
					switch {
					case err == nil, errors.Is(err, redis.Nil), errors.Is(err, redis.TxFailedErr), errors.Is(err, redis.ErrPoolTimeout):
					case errors.Is(err, redis.ErrClosed), strings.Contains(err.Error(), "closed"):
						return
					default:
						t.Errorf("%d: %v", w%8, err)
						return
					}
				}
			})
		}
		for range 12 {
			<-busy
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}

func TestCloseByMany(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	_ = c.Ping(ctx).Err()
	ps := c.Subscribe(ctx, "ch")
	var wg sync.WaitGroup
	results := make(chan error, 20)
	for range 10 {
		wg.Go(func() { results <- c.Close() })
		wg.Go(func() { _ = ps.Close() })
	}
	wg.Wait()
	close(results)
	first := 0
	for err := range results {
		if err == nil {
			first++
		} else if !errors.Is(err, redis.ErrClosed) {
			t.Error(err)
		}
	}
	if first > 1 {
		t.Errorf("%d were the first", first)
	}
}

func TestPanicWithoutOptions(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	redis.NewClient(nil)
}
