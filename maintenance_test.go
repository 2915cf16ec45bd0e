package redis_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintsim"
)

// load is a number of workers whose every reply is checked to be their own
// command's: values carry their key and a serial number.
type load struct {
	t      *testing.T
	c      *redis.Client
	stop   chan struct{}
	wg     sync.WaitGroup
	acked  atomic.Int64 // INCRs
	maybe  atomic.Int64 // INCRs without an answer
	ops    atomic.Int64
	errs   sync.Map // message -> *atomic.Int64
	failed atomic.Int64
	wrong  atomic.Int64 // replies of another command
}

func startLoad(t *testing.T, c *redis.Client, workers int) *load {
	l := &load{t: t, c: c, stop: make(chan struct{})}
	for w := range workers {
		l.wg.Go(func() { l.work(w) })
	}
	return l
}

func (l *load) work(w int) {
	ctx := context.Background()
	key := fmt.Sprintf("key-%d", w)
	for n := 0; ; n++ {
		select {
		case <-l.stop:
			return
		default:
		}
		val := fmt.Sprintf("%s=%d", key, n)
		if err := l.c.Set(ctx, key, val, 0).Err(); err != nil {
			l.fail(err)
			continue
		}
		got, err := l.c.Get(ctx, key).Result()
		switch {
		case err != nil:
			l.fail(err)
		case !strings.HasPrefix(got, key+"="):
			l.wrong.Add(1)
			l.fail(fmt.Errorf("reply of another command: got %q, want %q", got, val))
		case got != val: // a SET that was cut and sent again may be executed late
			l.fail(fmt.Errorf("stale value: got %q, want %q", got, val))
		}
		if err := l.c.Incr(ctx, "counter").Err(); err == nil {
			l.acked.Add(1)
		} else {
			l.fail(err)
			if redis.DeliveryOf(err) == redis.MaybeSent {
				l.maybe.Add(1)
			}
		}
		l.ops.Add(3)
	}
}

func (l *load) fail(err error) {
	l.failed.Add(1)
	n, _ := l.errs.LoadOrStore(err.Error(), new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// end stops the workers and reports what failed.
func (l *load) end() {
	l.t.Helper()
	close(l.stop)
	l.wg.Wait()
	l.errs.Range(func(msg, n any) bool {
		l.t.Errorf("%d x %s", n.(*atomic.Int64).Load(), msg)
		return true
	})
}

// counter is the value in the server, read past the client and the proxies.
func counter(t *testing.T, sim *maintsim.Sim) int64 {
	t.Helper()
	v, err := sim.Backend().Do("GET", "counter")
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	if _, err := fmt.Sscan(v.(string), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func testLogger(t *testing.T) *slog.Logger {
	if !testing.Verbose() {
		return nil
	}
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func TestHandoffStorm(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	sim := maintsim.Start(t, maintsim.Config{Proxies: rounds + 2, Grace: 20 * time.Second})
	c := redis.NewClient(&redis.Options{Addr: sim.Addr(), ReadTimeout: 10 * time.Second})
	defer c.Close()
	l := startLoad(t, c, 100)
	await(t, "commands run", func() bool { return l.ops.Load() > 0 })
	for range rounds {
		before := l.ops.Load()
		if err := sim.Rebind(t.Context(), maintsim.WithEarlyLeave()); err != nil {
			t.Fatal(err)
		}
		await(t, "commands go on", func() bool { return l.ops.Load() > before+300 })
	}
	l.end()
	if got, want := counter(t, sim), l.acked.Load(); got != want {
		t.Errorf("counter is %d, acknowledged %d", got, want)
	}
	t.Logf("%d commands, %d rebinds", l.ops.Load(), rounds)
}

func TestRollingUpgradeIsNotNoticed(t *testing.T) {
	t.Parallel()
	sim := maintsim.Start(t, maintsim.Config{
		Grace: 20 * time.Second, Lead: 500 * time.Millisecond, Stall: 1500 * time.Millisecond,
	})
	c := redis.NewClient(&redis.Options{Addr: sim.Addr(), ReadTimeout: time.Second, Logger: testLogger(t)})
	defer c.Close()
	l := startLoad(t, c, 32)
	if err := sim.RollingUpgrade(t.Context(), maintsim.WithEarlyLeave()); err != nil {
		t.Fatal(err)
	}
	l.end()
	if got, want := counter(t, sim), l.acked.Load(); got != want {
		t.Errorf("counter is %d, acknowledged %d", got, want)
	}
}

func TestWithoutNotificationsAnUpgradeIsNoticed(t *testing.T) {
	t.Parallel()
	sim := maintsim.Start(t, maintsim.Config{
		Grace: time.Second, Lead: time.Second, TimeUnit: 100 * time.Millisecond, Stall: 700 * time.Millisecond, Unsupported: true,
	})
	c := redis.NewClient(&redis.Options{Addr: sim.Addr(), ReadTimeout: 200 * time.Millisecond, MaxRetries: -1})
	defer c.Close()
	l := startLoad(t, c, 8)
	if err := sim.Failover(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(l.stop)
	l.wg.Wait()
	if l.failed.Load() == 0 {
		t.Error("nothing has failed, so the other tests prove nothing")
	}
	if acked, maybe, got := l.acked.Load(), l.maybe.Load(), counter(t, sim); got < acked || got > acked+maybe {
		t.Errorf("counter is %d, want between %d and %d", got, acked, acked+maybe)
	}
}

func TestCutIsTyped(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Outage: 300 * time.Millisecond})
	c := redis.NewClient(&redis.Options{Addr: sim.Addr(), ReadTimeout: time.Second})
	defer c.Close()
	l := startLoad(t, c, 32)
	if err := sim.Cut(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(l.stop)
	l.wg.Wait()
	l.errs.Range(func(msg, n any) bool {
		if !strings.Contains(msg.(string), "incr: ") || !strings.Contains(msg.(string), "may have been executed") {
			t.Errorf("%d x %s", n.(*atomic.Int64).Load(), msg)
		}
		return true
	})
	if acked, maybe, got := l.acked.Load(), l.maybe.Load(), counter(t, sim); got < acked || got > acked+maybe {
		t.Errorf("counter is %d, want between %d and %d", got, acked, acked+maybe)
	} else {
		t.Logf("acknowledged %d, unknown %d, counter %d", acked, maybe, got)
	}
}
