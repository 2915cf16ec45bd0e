package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/simnet"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// The tests of this file and the next one are named after faults that another client's
// maintenance notifications were found to have, in the order of a list of them; that of
// a cluster client is missing. Each says which rule of the code it guards.

// Fault: connections could be lent while they were handed over, so that replies went to
// other commands. Guards: a link that is being opened is nobody's (lane.Pool.Add comes
// after link.Open), and pushes are no replies (link's reader).
func TestFault01_NoReplyCrossesDuringHandoffs(t *testing.T) {
	t.Parallel()
	sim := maintsim.Start(t, maintsim.Config{Proxies: 7, Grace: 20 * time.Second})
	c := newClient(t, &redis.Options{Addr: sim.Addr(), PoolSize: 20})
	l := startLoad(t, c, 8)
	var own sync.WaitGroup
	for w := range 16 { // and as many on connections of their own, for a moment each
		own.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.stop:
					return
				default:
				}
				cn := c.Conn()
				want := fmt.Sprintf("%d-%d", w, n)
				for range 3 {
					if got, err := cn.Echo(context.Background(), want).Result(); err != nil || got != any(want) {
						l.fail(fmt.Errorf("got %v, %w, want %s", got, err, want))
					}
				}
				_ = cn.Close()
			}
		})
	}
	await(t, "commands run", func() bool { return l.ops.Load() > 100 })
	for range 5 {
		if err := sim.Rebind(t.Context(), maintsim.WithDuplicates(), maintsim.WithEarlyLeave()); err != nil {
			t.Fatal(err)
		}
	}
	l.end()
	own.Wait()
}

// numbers publishes the numbers from 0 on, one every few milliseconds, until stop is
// closed, and then "end".
func numbers(t *testing.T, sim *maintsim.Sim, stop <-chan struct{}) {
	publish := func(message string) {
		if _, err := sim.Backend().Do("PUBLISH", "numbers", message); err != nil {
			t.Error(err)
		}
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-stop:
			publish("end")
			return
		case <-tick.C:
			publish(strconv.Itoa(n))
		}
	}
}

// wantNumbers checks that a subscription gets every number once and in order while
// something happens. It does not send anything meanwhile.
func wantNumbers(t *testing.T, sim *maintsim.Sim, c *redis.Client, happens func() error) {
	t.Helper()
	ctx := soon(t)
	sub := c.Subscribe(ctx, "numbers")
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { numbers(t, sim, stop) })
	all.Go(func() {
		defer close(stop)
		if err := happens(); err != nil {
			t.Error(err)
		}
	})
	for want := 0; ; want++ {
		m, err := sub.ReceiveMessage(ctx)
		switch {
		case err != nil:
			t.Fatalf("after %d messages: %v", want, err)
		case m.Payload == "end":
			return
		case m.Payload != strconv.Itoa(want):
			t.Fatalf("got message %s, want %d", m.Payload, want)
		}
	}
}

// Fault: a MOVING without a target made a subscription go silent. Guards: the links of
// subscriptions are handed over by their owner, who subscribes again (stream.move).
func TestFault02_MovingWithoutATargetKeepsSubscriptions(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Grace: time.Second})
	c := newClient(t, &redis.Options{Addr: sim.Name(), Dialer: sim.DialContext, Resolver: lookup(func(host string) ([]string, error) {
		return sim.LookupHost(t.Context(), host)
	})})
	wantNumbers(t, sim, c, func() error { return sim.Rebind(t.Context(), maintsim.WithNullByName()) })
}

// Fault: the relaxed timeout replaced that of a blocking command. Guards: a command's own
// patience counts beside it (link.Link.overdue).
func TestFault03_RelaxedTimeoutsDoNotCutBlockingCommands(t *testing.T) {
	onStage(t, func(s *stage) {
		a, b := s.actor(oldAddr), s.actor(newAddr)
		c := s.client()
		s.echo(c)
		a.tell("MOVING", 1, 5, newAddr) // relaxed for another 20 s
		s.wantConns(newAddr, 1)
		b.tell("MIGRATING", 2, 1, "1") // and longer
		var all sync.WaitGroup
		for _, wait := range []time.Duration{12 * time.Second, 25 * time.Second, 0} {
			all.Go(func() {
				began := time.Now()
				got, err := c.BLPop(s.Context(), wait, "list").Result()
				took := time.Since(began)
				switch {
				case wait == 0:
					if err != nil || len(got) != 2 || took != 40*time.Second {
						t.Errorf("a command that waits for ever got %v, %v after %v", got, err, took)
					}
				case !errors.Is(err, redis.Nil) || took != wait:
					t.Errorf("got %v after %v, want nil after %v", err, took, wait)
				}
			})
		}
		s.sleep(40 * time.Second)
		if err := c.LPush(s.Context(), "list", "x").Err(); err != nil {
			t.Error(err)
		}
		all.Wait()
	})
}

// Fault: idle connections did not read notices and were dead at their first use. Guards:
// the reader of a link reads from its first moment on (link.Link.Start).
func TestFault04_IdleConnectionsAreNotFoundDead(t *testing.T) {
	t.Parallel()
	sim := maintsim.Start(t, maintsim.Config{Grace: 20 * time.Second})
	c := newClient(t, &redis.Options{Addr: sim.Addr(), MaxRetries: -1, PoolSize: 20})
	held := make([]*redis.Conn, 20)
	use := func() {
		t.Helper()
		for i := range held {
			held[i] = c.Conn()
			if err := held[i].Incr(t.Context(), "n").Err(); err != nil {
				t.Error(err)
			}
		}
		for _, cn := range held {
			_ = cn.Close()
		}
	}
	use()
	if err := sim.Rebind(t.Context(), maintsim.WithEarlyLeave()); err != nil {
		t.Fatal(err)
	}
	if got := sim.Stats().Cuts[0].Connections; got != 0 {
		t.Errorf("%d connections were closed by the old proxy, want 0", got)
	}
	await(t, "20 connections are at the new proxy", func() bool { return sim.Stats().Proxies[1].Open == 20 })
	use()
	if st := c.PoolStats(); st.Misses != 20 {
		t.Errorf("%d connections were dialled by those who needed them, want the 20 of the beginning", st.Misses)
	}
}

// Fault: the command in flight, the first one behind the notice, and new connections kept
// the strict timeout. Guards: what is in flight is judged by the timeouts of the moment
// (link.Link.overdue), those of the endpoint (link.Timeouts).
func TestFault05_CommandsAroundTheNoticeAreRelaxed(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.opt.ReadTimeout = time.Second
		s.maint.RelaxedTimeout = 6 * time.Second
		c := s.client()
		s.echo(c)
		s.sleep(time.Minute)
		a.set(func(a *actor) { a.stalled = time.Now().Add(4 * time.Second) })
		var all sync.WaitGroup
		all.Go(func() { s.echo(c) }) // in flight when the notice comes
		s.sleep(time.Second - 1)
		a.tell("FAILING_OVER", 1, 1, "1")
		all.Go(func() { s.echo(c) })               // the first one behind it
		all.Go(func() { s.give(s.hold(c, 1)...) }) // on a new connection
		s.sleep(2 * time.Second)                   // and in the middle of the stall
		all.Go(func() { s.echo(c) })               //
		all.Wait()                                 // none has failed
		s.wantTimeout(s.silence(c), 6*time.Second) // but there is still a timeout
		s.echo(c)                                  //
		a.tell("FAILED_OVER", 2, "1")              //
		s.wantTimeout(s.silence(c), 1000*time.Millisecond)
	})
}

// Fault: a breaker that had opened stayed open. Guards: handoffs ask it by Allow, which
// half-opens it, and report (endpoint.tryTargets).
func TestFault06_AnEndpointThatIsBackIsUsedAgain(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		s.net.Refuse(newAddr, true)
		s.maint.CircuitBreakerResetTimeout = time.Second
		c := s.client()
		s.give(s.hold(c, 5)...)
		for seq := range 3 {
			a.tell("MOVING", seq, 0, newAddr)
			s.sleep(20 * time.Second)
			s.give(s.hold(c, 5)...)
		}
		s.wantConns(oldAddr, 5)
		if st := c.GetMaintNotificationsManager().GetCircuitBreakerStats(); len(st) == 0 || st[0].Failures < 5 {
			t.Fatalf("the breaker has not opened: %+v", st)
		}
		s.net.Refuse(newAddr, false)
		s.sleep(time.Second)
		a.tell("MOVING", 9, 10, newAddr)
		s.sleep(5 * time.Second) // one that asks while three others try the breaker waits a third of the window
		s.wantConns(newAddr, 5)
		s.wantConns(oldAddr, 0)
	})
}

// Fault: with a bad target each command dialled, or there was none left to serve, though
// the old server worked. Guards: a link serves until its replacement does (pooledUse,
// sharedUse), and failed handoffs pause (Machine.handoffDone).
func TestFault07_ABadTargetDoesNotStarveThePool(t *testing.T) {
	for _, fault := range []maintsim.Fault{
		maintsim.FaultRefuse, maintsim.FaultHang, maintsim.FaultClose, maintsim.FaultWrongPass, maintsim.FaultLoading,
	} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			sim := maintsim.Start(t, maintsim.Config{Password: "secret", Grace: 5 * time.Second})
			old := sim.Addr()
			var dials, dialsOld atomic.Int64
			opt := &redis.Options{
				Addr: old, Password: "secret", PoolSize: 10, MaxActiveConns: 10, MaxRetries: -1, DialTimeout: 300 * time.Millisecond,
				Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
					dials.Add(1)
					if addr == old {
						dialsOld.Add(1)
					}
					return new(net.Dialer).DialContext(ctx, network, addr)
				},
			}
			c := newClient(t, opt)
			l := startLoad(t, c, 4)
			var own sync.WaitGroup
			for range 10 { // as many as may be lent
				own.Go(func() {
					for {
						select {
						case <-l.stop:
							return
						default:
						}
						cn := c.Conn()
						if err := cn.Ping(context.Background()).Err(); err != nil {
							l.fail(err)
						}
						_ = cn.Close()
					}
				})
			}
			await(t, "every connection is open", func() bool { return c.PoolStats().TotalConns == 11 })
			before, beforeOld := dials.Load(), dialsOld.Load()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // well before the deadline
			defer cancel()
			if err := sim.Rebind(ctx, maintsim.WithTargetFault(fault, -1)); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			const most = 11 * 4 * 6 // four handoffs of each connection, with six attempts each
			dialled, dialledOld := dials.Load()-before, dialsOld.Load()-beforeOld
			await(t, "more commands run than may dial", func() bool { return l.ops.Load() > 4*most })
			l.end()
			own.Wait()
			if dialled == 0 || dialled > most {
				t.Errorf("dialled %d times in the window, %d commands ran; want a few for each connection", dialled, l.ops.Load())
			}
			if dialledOld != 0 {
				t.Errorf("dialled the old address %d times, where all connections are open", dialledOld)
			}
		})
	}
}

// Guards: a failed handoff is tried again after a third of the time that is left, three
// times (Machine.handoffDone, backoff).
func TestFault07_FailedHandoffsPause(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.net.Refuse(newAddr, true)
		s.maint.CircuitBreakerFailureThreshold = 1000
		c := s.client()
		s.echo(c)
		a.tell("MOVING", 1, 15, newAddr)
		for range 149 {
			s.sleep(100 * time.Millisecond)
			if took := s.echo(c); took != 0 {
				t.Errorf("a command took %v", took)
			}
		}
		at := s.dials(newAddr)
		want := []time.Duration{0, 5 * time.Second, 8333 * time.Millisecond, 10555 * time.Millisecond}
		if !slices.EqualFunc(at, want, func(a, b time.Duration) bool { return a.Truncate(time.Millisecond) == b }) {
			t.Errorf("dialled at %v, want %v", at, want)
		}
		if got := len(s.dials(oldAddr)); got != 1 {
			t.Errorf("dialled the old address %d times, want once", got)
		}
	})
}

// What follows when a bad target's window is over: back to the configured address.
// Guards: Machine.DialTargets, ActionRetire.
func TestFault07_AfterTheWindowTheConfiguredAddressIsUsed(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.net.Refuse(newAddr, true)
		c := s.client()
		s.echo(c)
		s.give(s.hold(c, 5)...)
		a.tell("MOVING", 1, 10, newAddr)
		s.sleepUntil(9 * time.Second)
		s.wantConns(oldAddr, 6)
		s.sleepUntil(11 * time.Second)
		s.net.Cut(oldAddr, simnet.FIN)
		synctest.Wait()
		bad := len(s.dials(newAddr))
		s.echo(c)
		s.hold(c, 5)
		s.wantConns(oldAddr, 6)
		if got := len(s.dials(newAddr)); got != bad {
			t.Errorf("the target that never worked was dialled %d times after its window", got-bad)
		}
	})
}

// Fault: after a move new connections went to the old address, or never back. Guards: the
// target comes first as long as links to it are up, and is a second choice then
// (Machine.dialTargets).
func TestFault08_TheTargetIsRememberedAndGivenUpAgain(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		b := s.actor(newAddr)
		c := s.client()
		sub := c.Subscribe(s.Context(), "news")
		defer sub.Close()
		pinged := func() {
			t.Helper()
			if err := sub.Ping(s.Context()); err != nil {
				t.Error(err)
			}
			s.sleep(time.Second)
		}
		pinged()
		s.echo(c)
		a.tell("MOVING", 1, 5, newAddr)
		s.sleep(5 * time.Second)
		a.leave()
		s.wantConns(newAddr, 2)
		s.hold(c, 2) // new ones, long after the window
		s.sleep(10 * time.Minute)
		s.hold(c, 2)
		s.wantConns(newAddr, 6)
		// Its connections are dropped; the configured address is still down.
		s.net.Cut(newAddr, simnet.RST)
		synctest.Wait()
		s.echo(c)
		pinged()
		s.wantConns(newAddr, 2)
		// The target is down, and the configured address is back.
		s.actor(oldAddr)
		b.leave()
		s.echo(c)
		pinged()
		s.wantConns(oldAddr, 2)
	})
}

// Fault: a subscription broke before it made. Guards: the new connection is subscribed,
// and both deliver for a moment, before the old one ends (stream.handTo, relay).
func TestFault09_SubscriptionsMakeBeforeBreak(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Grace: time.Second, Proxies: 3})
	c := newClient(t, &redis.Options{Addr: sim.Addr()})
	wantNumbers(t, sim, c, func() error {
		for range 2 {
			if err := sim.Rebind(t.Context()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Fault: commands whose effect was unknown were sent again. Guards: judge sends again what
// was not sent, or is idempotent.
func TestFault10_UnknownEffectsAreNotRepeated(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Outage: 100 * time.Millisecond, Lead: -1})
	c := newClient(t, &redis.Options{Addr: sim.Addr()})
	l := startLoad(t, c, 32)
	for cuts := 0; cuts < 3 || l.maybe.Load() == 0 && cuts < 50; cuts++ { // a cut may find no INCR on its way
		before := l.ops.Load()
		await(t, "commands run", func() bool { return l.ops.Load() > before+1000 })
		if err := sim.FailoverCut(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	close(l.stop)
	l.wg.Wait()
	if l.maybe.Load() == 0 {
		t.Error("no effect was unknown, so nothing was tested")
	}
	l.errs.Range(func(msg, _ any) bool {
		if !containsAll(msg.(string), "incr: ", "may have been executed") {
			t.Error(msg)
		}
		return true
	})
	if acked, maybe, got := l.acked.Load(), l.maybe.Load(), counter(t, sim); got < acked || got > acked+maybe {
		t.Errorf("counter is %d, want between %d and %d", got, acked, acked+maybe)
	}
}

// Fault: a blocking command that was cut began anew with its whole timeout, and took an
// element that was lost. Guards: it is not idempotent (command_table.go), so judge gives
// it to the caller, and says that an element may be gone.
func TestFault11_ABlockedCommandDoesNotBeginAnew(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		s.opt.MaxRetries = 3
		c := s.client()
		s.echo(c)
		var all sync.WaitGroup
		all.Go(func() { // ends within the window
			if got, err := c.BLPop(s.Context(), 8*time.Second, "list").Result(); err != nil || len(got) != 2 {
				t.Errorf("got %v, %v, want the element", got, err)
			}
		})
		synctest.Wait()
		a.tell("MOVING", 1, 5, newAddr)
		s.sleepUntil(4 * time.Second)
		if err := c.LPush(s.Context(), "list", "x").Err(); err != nil {
			t.Error(err)
		}
		all.Wait()
		s.wantConns(oldAddr, 0)
	})
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		s.opt.MaxRetries = 3
		c := s.client()
		s.echo(c)
		var all sync.WaitGroup
		all.Go(func() { // blocks beyond the deadline
			err := c.BLPop(s.Context(), 8*time.Second, "list").Err()
			took := time.Since(s.start)
			switch e, ok := errors.AsType[*redis.CommandError](err); {
			case errors.Is(err, redis.Nil) && took == 8*time.Second: // moved
			case ok && e.Delivery == redis.MaybeSent && took == 5*time.Second:
			default:
				t.Errorf("got %v after %v", err, took)
			}
		})
		synctest.Wait()
		a.tell("MOVING", 1, 5, newAddr)
		s.sleepUntil(5 * time.Second)
		a.leave()
		all.Wait()
	})
}

// Fault: WATCH or a connection held over the deadline ended with EOF. Guards: a
// transaction that was certainly not executed has failed as if a key had changed
// (Tx.exec), and a fresh Conn gets another connection (session.take).
func TestFault12_WatchAndConnSurviveTheDeadline(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Grace: time.Second, TimeUnit: 300 * time.Millisecond})
	c := newClient(t, &redis.Options{Addr: sim.Addr()})
	ctx := soon(t)
	cn := c.Conn()
	if err := cn.Set(ctx, "n", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	attempts := 0
	transfer := func(tx *redis.Tx) error {
		n, err := tx.Get(ctx, "n").Int()
		if err != nil {
			return err
		}
		if attempts++; attempts == 1 {
			if err := sim.Rebind(ctx); err != nil { // returns when the old proxy has closed its connections
				t.Error(err)
			}
			await(t, "the cut was noticed", func() bool { return c.PoolStats().TotalConns == 2 })
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, "n", n+1, 0)
			return nil
		})
		return err
	}
	err := c.Watch(ctx, transfer, "n")
	for ; errors.Is(err, redis.TxFailedErr); err = c.Watch(ctx, transfer, "n") {
		if attempts > 3 {
			break
		}
	}
	if err != nil || attempts != 2 {
		t.Errorf("got %v after %d attempts, want success after 2", err, attempts)
	}
	if n, err := cn.Get(ctx, "n").Int(); n != 2 || err != nil {
		t.Errorf("the connection held meanwhile: got %d, %v, want 2", n, err)
	}
}

// Fault: a connection that had seen MIGRATING and then moved was relaxed for ever.
// Guards: windows and the time after a handoff have ends (Machine.holds).
func TestFault13_NothingIsRelaxedForEver(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		c := s.client()
		s.echo(c)
		a.tell("FAILING_OVER", 1, 2, "1") // its closing never comes
		a.tell("MOVING", 2, 5, newAddr)
		s.sleepUntil(5 * time.Second)
		a.leave()
		s.sleepUntil(61 * time.Second)
		if got, _, _ := s.seen.now(); got != 1 {
			t.Errorf("%d connections are relaxed, want 1", got)
		}
		s.sleepUntil(62 * time.Second)
		if got, _, _ := s.seen.now(); got != 0 {
			t.Errorf("%d connections are relaxed, want 0", got)
		}
		s.wantTimeout(s.silence(c), 3*time.Second)
	})
	onStage(t, func(s *stage) { // without a window: PostHandoffRelaxedDuration
		a := s.actor(oldAddr)
		s.actor(newAddr)
		s.maint.PostHandoffRelaxedDuration = 30 * time.Second
		c := s.client()
		s.echo(c)
		a.tell("MOVING", 2, 5, newAddr)
		s.sleepUntil(29 * time.Second)
		s.wantTimeout(s.silence(c), 4*time.Second) // relaxed for a second, then an ordinary timeout
	})
}

// Fault: the metrics hook crashed the process, and its times were empty. Guards:
// MetricsHook's lock, and the start that Dispatch puts into the context.
func TestFault14_TheMetricsHookIsSafe(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Lead: -1, Stall: -1})
	c := newClient(t, &redis.Options{Addr: sim.Addr(), PoolSize: 50})
	others := make([]*redis.Client, 4)
	hook := maintnotifications.NewMetricsHook()
	for i := range others { // a hook may be shared
		others[i] = newClient(t, &redis.Options{Addr: sim.Addr(), PoolSize: 50})
		others[i].GetMaintNotificationsManager().AddNotificationHook(hook)
	}
	for _, c := range append(others, c) {
		for range 10 {
			if err := c.Conn().Ping(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	const rounds = 3
	for range rounds {
		if err := sim.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	count := func(kind string) int64 { return hook.GetMetrics()["notification_counts"].(map[string]int64)[kind] }
	await(t, "every notice was counted", func() bool { return count("MIGRATING") == 4*10*rounds && count("MIGRATED") == 4*10*rounds })
	times := hook.GetMetrics()["processing_times"].(map[string]time.Duration)
	if times["MIGRATING"] <= 0 || times["MIGRATED"] <= 0 {
		t.Errorf("got processing times %v", times)
	}
}

// Fault: operations never left the table of active ones. Guards: the account of a
// handoff is settled however it ends (Manager.BeginHandoff).
func TestFault15_ActiveOperationsEnd(t *testing.T) {
	onStage(t, func(s *stage) {
		a, b := s.actor(oldAddr), s.actor(newAddr)
		c := s.client()
		m := c.GetMaintNotificationsManager()
		idle := func(when string) {
			t.Helper()
			synctest.Wait()
			if n := m.GetActiveOperationCount(); n != 0 || m.IsHandoffInProgress() || m.GetState() != maintnotifications.StateIdle || len(m.GetActiveMovingOperations()) != 0 {
				t.Errorf("%s: %d operations are active, state %v", when, n, m.GetState())
			}
		}
		s.echo(c)
		s.give(s.hold(c, 5)...)
		s.net.SetLatency(newAddr, 100*time.Millisecond)
		idle("before")
		a.tell("MOVING", 1, 5, newAddr)
		if n := m.GetActiveOperationCount(); n == 0 || !m.IsHandoffInProgress() || m.GetState() != maintnotifications.StateMoving {
			t.Errorf("during a handoff: %d operations, state %v", n, m.GetState())
		}
		for key, op := range m.GetActiveMovingOperations() {
			if key.SeqID != 1 || op.NewEndpoint != newAddr || op.Deadline.Sub(op.StartTime) != 5*time.Second {
				t.Errorf("got the operation %+v: %+v", key, *op)
			}
		}
		s.sleep(2 * time.Second)
		idle("after handoffs")
		s.net.Refuse(oldAddr, true)
		b.tell("MOVING", 2, 5, oldAddr)
		s.sleep(30 * time.Second)
		idle("after failures")
		s.net.Blackhole(otherAddr, true)
		s.net.Refuse(oldAddr, false)
		s.echo(c)
		a.tell("MOVING", 3, 50, otherAddr)
		s.sleep(time.Second)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		idle("after Close")
		if relaxed, good, bad := s.seen.now(); relaxed != 0 || s.seen.low < 0 || s.seen.ups == 0 || good < 6 || bad == 0 {
			t.Errorf("the metrics do not balance: relaxed %d (least %d, %d times +1), %d handoffs, %d failed", relaxed, s.seen.low, s.seen.ups, good, bad)
		}
	})
}
