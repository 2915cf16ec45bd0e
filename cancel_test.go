package redis_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	redis "github.com/baton-go/redis"
)

func TestDeadlineDuringACommand(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		c := s.client()
		s.give(s.hold(c, 2)...)
		s.echo(c)
		a.set(func(a *actor) { a.stalled = time.Now().Add(time.Minute) })
		const patience = 50 * time.Millisecond
		for name, send := range map[string]func(ctx context.Context) error{
			"command":     func(ctx context.Context) error { return c.Get(ctx, "k").Err() },
			"pipeline":    func(ctx context.Context) error { return second(c.Pipelined(ctx, get)) },
			"transaction": func(ctx context.Context) error { return second(c.TxPipelined(ctx, get)) },
			"Conn":        func(ctx context.Context) error { return c.Conn().Get(ctx, "k").Err() },
		} {
			ctx, cancel := context.WithTimeout(s.Context(), patience)
			begin := time.Now()
			err := send(ctx)
			took := time.Since(begin)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || redis.DeliveryOf(err) != redis.MaybeSent || took < patience || took > patience+10*time.Millisecond {
				t.Errorf("%s, after %v: %v", name, took, err)
			}
			if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() {
				t.Errorf("%s: no timeout: %v", name, err)
			}
		}
		own := errors.New("own cause")
		ctx, cancel := context.WithCancelCause(s.Context())
		cancelled := make(chan error)
		go func() { cancelled <- c.Get(ctx, "k").Err() }()
		synctest.Wait()
		cancel(own)
		if err := <-cancelled; !errors.Is(err, own) {
			t.Errorf("got %v, want the cause", err)
		}
		s.sleep(time.Minute) // until the server is done
	})
}

// Callers that leave do not disturb those that stay: no reply ever goes to another
// command.
func TestManyCallersThatLeave(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		c, _ := start(t, &redis.Options{Protocol: proto})
		var left, served atomic.Int64
		var wg sync.WaitGroup
		for w := range 1000 {
			wg.Go(func() {
				for i := range 20 {
					ctx, cancel := context.WithCancel(t.Context())
					if rand.N(2) == 0 {
						time.AfterFunc(time.Duration(rand.N(2000))*time.Microsecond, cancel)
					}
					want := fmt.Sprint(w, "-", i)
					got, err := c.Echo(ctx, want).Result()
					switch {
					case err == nil && got != want:
						t.Errorf("got %q, want %q", got, want)
					case err == nil:
						served.Add(1)
					case errors.Is(err, context.Canceled):
						left.Add(1)
					default:
						t.Error(err)
					}
					cancel()
				}
			})
		}
		wg.Wait()
		t.Logf("%d served, %d left", served.Load(), left.Load())
		if served.Load() < 5000 {
			t.Errorf("only %d were served", served.Load())
		}
		if n := c.PoolStats().TotalConns; n != 1 {
			t.Errorf("%d connections: the link did not live on", n)
		}
	})
}

// The same with connections of one's own, which do not live on.
func TestManySessionsThatLeave(t *testing.T) {
	c, _ := start(t, &redis.Options{PoolSize: 8})
	var wg sync.WaitGroup
	for w := range 100 {
		wg.Go(func() {
			for i := range 10 {
				ctx, cancel := context.WithCancel(t.Context())
				if rand.N(3) == 0 {
					time.AfterFunc(time.Duration(rand.N(3000))*time.Microsecond, cancel)
				}
				cn := c.Conn()
				for k := range 3 {
					want := fmt.Sprint(w, "-", i, "-", k)
					got, err := cn.Echo(ctx, want).Result()
					if err == nil && got != want {
						t.Errorf("got %q, want %q", got, want)
					}
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}
				_ = cn.Close()
				cancel()
			}
		})
	}
	wg.Wait()
	if st := c.PoolStats(); st.TotalConns > 8 {
		t.Errorf("stats: %+v", st)
	}
}

// A blocking command that was given up takes nothing out of the list later.
func TestBlockingCommandGivenUpStealsNothing(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		c, s := start(t, &redis.Options{Protocol: proto})
		adm := admin(t, s.Addr())
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- c.BLPop(ctx, 0, "list").Err() }()
			await(t, "BLPOP blocks", func() bool { return info(t, adm, "blocked_clients") == 1 })
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) || redis.DeliveryOf(err) != redis.MaybeSent {
				t.Fatalf("got %v", err)
			}
			await(t, "nobody blocks", func() bool { return info(t, adm, "blocked_clients") == 0 })
			do(t, adm, "rpush", "list", "x")
			if got := do(t, adm, "lpop", "list"); got != "x" {
				t.Errorf("got %s", got)
			}
		}
	})
}

func TestBlockingTimeouts(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		// The read timeout does not end what is to take longer.
		c, s := start(t, &redis.Options{Protocol: proto, ReadTimeout: 100 * time.Millisecond})
		for _, d := range []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, time.Second} {
			p := startPulse(t, s.Addr())
			begin := time.Now()
			err := c.BLPop(soon(t), d, "none").Err()
			took := time.Since(begin)
			if late := p.end(); !errors.Is(err, redis.Nil) || took < d || took > d+150*time.Millisecond+10*late {
				t.Errorf("BLPOP for %v took %v: %v, on a machine that takes %v to answer", d, took, err, late)
			}
		}
		if st := c.PoolStats(); st.Misses != 1 || st.Hits != 2 {
			t.Errorf("stats: %+v", st)
		}
	})
}

func TestBlockingCommandIsServed(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, s := start(t, &redis.Options{Protocol: proto, ReadTimeout: 100 * time.Millisecond})
		adm := admin(t, s.Addr())
		const n = 8
		var wg sync.WaitGroup
		var got sync.Map
		for range n {
			wg.Go(func() {
				v, err := c.BLPop(ctx, 0, "list").Result()
				if err != nil || len(v) != 2 || v[0] != "list" {
					t.Errorf("got %v, %v", v, err)
					return
				}
				if _, twice := got.LoadOrStore(v[1], true); twice {
					t.Errorf("%s was delivered twice", v[1])
				}
			})
		}
		await(t, "all block", func() bool { return info(t, adm, "blocked_clients") == n })
		// Ordinary commands go on meanwhile.
		if err := c.Ping(ctx).Err(); err != nil {
			t.Error(err)
		}
		if st := c.PoolStats(); st.TotalConns != n+1 || st.IdleConns != 0 {
			t.Errorf("stats: %+v", st)
		}
		for i := range n {
			do(t, adm, "rpush", "list", i)
		}
		wg.Wait()
	})
}

func TestPoolLimits(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, &redis.Options{PoolSize: 2, PoolTimeout: 50 * time.Millisecond})
	a, b := c.Conn(), c.Conn()
	if err := errors.Join(a.Ping(ctx).Err(), b.Ping(ctx).Err()); err != nil {
		t.Fatal(err)
	}
	for name, send := range map[string]func(ctx context.Context) error{
		"blocking": func(ctx context.Context) error { return c.BLPop(ctx, 0, "k").Err() },
		"Conn":     func(ctx context.Context) error { return c.Conn().Ping(ctx).Err() },
		"Watch":    func(ctx context.Context) error { return c.Watch(ctx, func(*redis.Tx) error { return nil }, "k") },
		"pipeline": func(ctx context.Context) error {
			return second(c.Pipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "select", 1); return nil }))
		},
	} {
		begin := time.Now()
		err := send(ctx)
		took := time.Since(begin)
		e, ok := errors.AsType[*redis.CommandError](err)
		if !ok || !errors.Is(err, redis.ErrPoolTimeout) || e.Delivery != redis.NotSent || e.Endpoint == "" || e.Command == "" {
			t.Errorf("%s: got %v", name, err)
		}
		if took < 50*time.Millisecond || took > time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	// Ordinary commands need no connection of their own.
	if err := c.Ping(ctx).Err(); err != nil {
		t.Error(err)
	}
	if st := c.PoolStats(); st.Timeouts != 4 || st.WaitCount != 4 || st.WaitDurationNs < int64(150*time.Millisecond) || st.PendingRequests != 0 {
		t.Errorf("stats: %+v", st)
	}
	// One who waits gets what is given back.
	waiting := make(chan error)
	patient := newClient(t, &redis.Options{Addr: c.Options().Addr, PoolSize: 1})
	hold := patient.Conn()
	_ = hold.Ping(ctx).Err()
	go func() { waiting <- patient.Conn().Ping(ctx).Err() }()
	await(t, "one waits", func() bool { return patient.PoolStats().PendingRequests == 1 })
	_ = hold.Close()
	if err := <-waiting; err != nil {
		t.Error(err)
	}
	_, _ = a.Close(), b.Close()
	if err := c.BLPop(ctx, 10*time.Millisecond, "none").Err(); !errors.Is(err, redis.Nil) {
		t.Error(err)
	}
}

func TestMaxActiveConns(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, &redis.Options{PoolSize: 10, MaxActiveConns: 2})
	a, b := c.Conn(), c.Conn()
	if err := errors.Join(a.Ping(ctx).Err(), b.Ping(ctx).Err()); err != nil {
		t.Fatal(err)
	}
	err := c.Conn().Ping(ctx).Err()
	if !errors.Is(err, redis.ErrPoolExhausted) || redis.DeliveryOf(err) != redis.NotSent {
		t.Errorf("got %v", err)
	}
	_ = a.Close()
	if err := c.BLPop(ctx, 10*time.Millisecond, "none").Err(); !errors.Is(err, redis.Nil) {
		t.Error(err)
	}
	_ = b.Close()
}

func TestMaxIdleConns(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, &redis.Options{PoolSize: 10, MaxIdleConns: 2})
	var conns []*redis.Conn
	for range 5 {
		cn := c.Conn()
		_ = cn.Ping(ctx).Err()
		conns = append(conns, cn)
	}
	for _, cn := range conns {
		_ = cn.Close()
	}
	await(t, "two are kept", func() bool { st := c.PoolStats(); return st.IdleConns == 2 && st.TotalConns == 2 })
}
