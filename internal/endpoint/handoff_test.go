package endpoint

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/simnet"
	"github.com/baton-go/redis/maintnotifications"
)

// The old link serves until the new one is ready; then it drains. Nobody notices.
func TestHandoffOfTheSharedLane(t *testing.T) {
	bubble(t, func(t *tester) {
		before, after := t.server(oldAddr), t.server(newAddr)
		t.net.SetLatency(oldAddr, time.Millisecond)
		t.net.SetLatency(newAddr, 100*time.Millisecond) // 200 ms to dial, as much to shake hands
		e := t.endpoint()
		e.Echo("first")
		load := e.Load(20)
		time.Sleep(time.Second)
		before.PushOne("MOVING", 1, 15, newAddr)
		time.Sleep(402 * time.Millisecond)
		if got := e.Peer(); got != newAddr {
			t.Errorf("the lane leads to %q when the new link is ready, want %s", got, newAddr)
		}
		_, served := before.counts()
		if served < 20*80 {
			t.Errorf("the old server has answered %d commands, want it to serve until the new link is ready", served)
		}
		t.wantConns(newAddr, 1)
		time.Sleep(time.Second)
		t.wantConns(oldAddr, 0)
		if _, later := before.counts(); later > served+20 {
			t.Errorf("the old server got %d commands after the handoff", later-served)
		}
		if _, got := after.counts(); got == 0 {
			t.Error("the new server got no command")
		}
		load.End()
		e.Close()
	})
}

func TestHandoffLosesNoCommandInFlight(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		t.net.SetLatency(oldAddr, 500*time.Millisecond)
		e := t.endpoint()
		e.Echo("first")
		errs := make(chan error)
		for range 10 {
			go func() { errs <- echo(t.Context(), e.shared, "x") }()
		}
		synctest.Wait()
		before.Push("MOVING", 1, 15, newAddr)
		for range 10 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Second)
		if got := e.Peer(); got != newAddr {
			t.Errorf("the lane leads to %q, want %s", got, newAddr)
		}
		t.wantConns(oldAddr, 0)
		e.Close()
	})
}

func TestHandoffOfPooledLinks(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		t.net.SetLatency(newAddr, 10*time.Millisecond)
		e := t.endpoint()
		all := e.Borrow(20)
		busy, idle := all[:10], all[10:]
		e.Return(idle...)
		before.PushOne("MOVING", 1, 15, newAddr) // one link speaks for all
		time.Sleep(time.Second)
		t.wantConns(oldAddr, 10)
		t.wantConns(newAddr, 20)
		if t.atOnce > 3 {
			t.Errorf("got %d handoffs at one time, want at most MaxWorkers, 3", t.atOnce)
		}
		for _, l := range busy {
			if err := echo(t.Context(), l.Link, "x"); err != nil {
				t.Errorf("a lent link was disturbed: %v", err)
			}
		}
		e.Return(busy...)
		t.wantConns(oldAddr, 0)
		for _, l := range e.Borrow(20) {
			if got := l.Link.Peer(); got != newAddr {
				t.Errorf("got a link to %s, want %s", got, newAddr)
			}
		}
		if got := t.dials(newAddr) + t.dials(oldAddr); got != 40 {
			t.Errorf("got %d dials, want 40", got)
		}
		e.Close()
	})
}

func TestHandoffWorkersLeaveAfterTheirRest(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		t.net.SetLatency(newAddr, 10*time.Millisecond) // 40 ms for each handoff
		e := t.endpoint()
		e.Return(e.Borrow(10)...)
		want := func(at time.Duration, workers int) {
			t.Helper()
			time.Sleep(at - time.Since(t.start))
			if got := e.workersNow(); got != workers {
				t.Errorf("got %d workers after %v, want %d", got, at, workers)
			}
		}
		want(0, 0)
		before.PushOne("MOVING", 1, 15, newAddr)
		want(time.Millisecond, 3)
		// Three rounds of three, then one: two workers begin their rest at 120 ms.
		want(120*time.Millisecond+workerRest-1, 3)
		want(120*time.Millisecond+workerRest, 1)
		want(160*time.Millisecond+workerRest-1, 1)
		want(160*time.Millisecond+workerRest, 0)
		t.wantConns(newAddr, 10)
		e.Close()
	})
}

// A resting worker that is given work at the moment its rest ends does it, whichever
// it sees first.
func TestHandoffAtTheEndOfARest(t *testing.T) {
	for i := range 200 {
		bubble(t, func(t *tester) {
			e := t.endpoint()
			enqueue := func(n int) {
				for range n {
					e.enqueue(job{link: 1 << 40, targets: []string{newAddr}}) // of a link that has died
				}
			}
			enqueue(3) // for 1 to 3 workers, as it happens
			synctest.Wait()
			time.Sleep(workerRest)
			enqueue(1 + i%3)
			synctest.Wait()
			e.mu.Lock()
			if len(e.jobs) != 0 || e.busy != 0 || len(e.wake) != 0 || e.workers != e.resting {
				t.Errorf("%d jobs are left, %d calls to wake up; %d workers, %d busy, %d resting",
					len(e.jobs), len(e.wake), e.workers, e.busy, e.resting)
			}
			e.mu.Unlock()
			time.Sleep(workerRest)
			if got := e.workersNow(); got != 0 {
				t.Errorf("got %d workers after their rest, want 0", got)
			}
			e.Close()
		})
	}
}

func TestHandoffQueueFullRetiresTheLinks(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		t.net.Blackhole(newAddr, true)
		t.cfg.Maint.MaxWorkers, t.cfg.Maint.HandoffQueueSize = 1, 2
		e := t.endpoint()
		e.Return(e.Borrow(6)...)
		before.PushOne("MOVING", 1, 15, newAddr)
		// One is being handed over, two wait; the others are closed, being idle.
		t.wantConns(oldAddr, 3)
		t.net.Blackhole(newAddr, false)
		time.Sleep(5 * time.Second)
		t.wantConns(oldAddr, 0)
		t.wantConns(newAddr, 3)
		e.Close()
	})
}

func TestHandoffToATargetThatFails(t *testing.T) {
	for name, fault := range map[string]func(n *tester, on bool){
		"refuses": func(t *tester, on bool) { t.net.Refuse(newAddr, on) },
		"hangs":   func(t *tester, on bool) { t.net.Blackhole(newAddr, on) },
	} {
		t.Run(name+" for a while", func(t *testing.T) {
			bubble(t, func(t *tester) {
				before, _ := t.server(oldAddr), t.server(newAddr)
				e := t.endpoint()
				e.Echo("first")
				load := e.Load(5)
				fault(t, true)
				before.Push("MOVING", 1, 30, newAddr)
				time.Sleep(6 * time.Second)
				if got := e.Peer(); got != oldAddr {
					t.Errorf("the lane leads to %q while the target fails, want %s", got, oldAddr)
				}
				fault(t, false)
				time.Sleep(10 * time.Second)
				if got := e.Peer(); got != newAddr {
					t.Errorf("the lane leads to %q, want %s", got, newAddr)
				}
				load.End()
				e.Close()
			})
		})
		t.Run(name+" for ever", func(t *testing.T) {
			bubble(t, func(t *tester) {
				before, _ := t.server(oldAddr), t.server(newAddr)
				e := t.endpoint()
				e.Echo("first")
				l := e.shared.Current()
				load := e.Load(5)
				fault(t, true)
				before.Push("MOVING", 1, 10, newAddr)
				time.Sleep(10*time.Second - 1)
				if !l.Alive() {
					t.Errorf("the old link was given up before the deadline: %v", l.Err())
				}
				load.End()
				time.Sleep(2 * time.Second) // a handoff in progress is waited for a little longer
				synctest.Wait()
				if l.Alive() {
					t.Error("the old link outlives the deadline")
				}
				e.Close()
			})
		})
	}
}

// The replacement is there, but the caller holds the old link beyond everything.
func TestHandoffWhileALinkIsHeld(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		e := t.endpoint()
		held := e.Borrow(1)
		before.Push("MOVING", 1, 1, newAddr)
		time.Sleep(time.Minute)
		if err := echo(t.Context(), held[0].Link, "x"); err != nil {
			t.Errorf("the lent link was ended by us: %v", err)
		}
		e.Return(held...)
		t.wantConns(oldAddr, 0)
		e.Close()
	})
}

func TestHandoffOfALinkThatDiedMeanwhile(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		t.net.SetLatency(newAddr, time.Second)
		e := t.endpoint()
		e.Echo("first")
		e.Return(e.Borrow(3)...)
		before.Push("MOVING", 1, 15, newAddr)
		time.Sleep(time.Second)
		_ = before.l.Close()
		t.net.Cut(oldAddr, simnet.FIN)
		synctest.Wait()
		e.Echo("after the cut") // dialled where the links go
		time.Sleep(time.Minute)
		if got := e.Peer(); got != newAddr {
			t.Errorf("the lane leads to %q, want %s", got, newAddr)
		}
		l := e.Borrow(1)
		e.Return(l...)
		if got := l[0].Link.Peer(); got != newAddr {
			t.Errorf("got a link to %q, want %s", got, newAddr)
		}
		if got := len(t.net.Conns(newAddr)); got > 5 {
			t.Errorf("got %d connections to the target, want at most 5", got)
		}
		e.Close()
	})
}

// While a handoff was slow the lane has got a link by itself: that one stays.
func TestHandoffThatComesTooLate(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		dial := t.cfg.Dial
		t.cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := dial(ctx, network, addr)
			if t.dials(newAddr) == 1 {
				time.Sleep(3 * time.Second)
			}
			return nc, err
		}
		e := t.endpoint()
		e.Echo("first")
		before.Push("MOVING", 1, 15, newAddr)
		synctest.Wait()
		t.net.Cut(oldAddr, simnet.RST)
		synctest.Wait()
		e.Echo("second")
		l := e.shared.Current()
		time.Sleep(5 * time.Second)
		if e.shared.Current() != l || !l.Alive() {
			t.Error("a late handoff has replaced a good link")
		}
		t.wantConns(newAddr, 1)
		e.Close()
	})
}

// A target that fails again and again is not tried for every link.
func TestHandoffStopsAtAnOpenBreaker(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		t.net.Refuse(newAddr, true)
		t.cfg.Maint.CircuitBreakerFailureThreshold = 2
		manager, err := maintnotifications.NewManager(t.cfg.Maint, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.cfg.Manager = manager
		e := t.endpoint()
		e.Return(e.Borrow(10)...)
		before.PushOne("MOVING", 1, 15, newAddr)
		time.Sleep(10 * time.Second)
		if got := t.dials(newAddr); got < 2 || got > 4 {
			t.Errorf("got %d dials of a target that refuses, want 2 and what was under way", got)
		}
		t.wantConns(oldAddr, 10) // they serve until the deadline
		time.Sleep(10 * time.Second)
		t.wantConns(oldAddr, 0)
		e.Close()
	})
}

func TestDialsDuringAWindowGoToTheTarget(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		e := t.endpoint()
		e.Return(e.Borrow(1)...)
		before.Push("MOVING", 1, 15, newAddr)
		synctest.Wait()
		for _, l := range e.Borrow(5) {
			if got := l.Link.Endpoint(); got != newAddr {
				t.Errorf("got a link to %s, want %s", got, newAddr)
			}
		}
		if got := t.dials(oldAddr); got != 1 {
			t.Errorf("got %d dials of the old address, want 1", got)
		}
		e.Close()
	})
}

func TestDialsDuringAWindowFallBackToTheConfiguredAddress(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		t.net.Refuse(newAddr, true)
		e := t.endpoint()
		held := e.Borrow(1)
		before.Push("MOVING", 1, 15, newAddr)
		synctest.Wait()
		more := e.Borrow(1)
		if got := more[0].Link.Endpoint(); got != oldAddr {
			t.Errorf("got a link to %s, want %s", got, oldAddr)
		}
		e.Return(append(held, more...)...)
		e.Close()
	})
}

func TestMovingWithoutATargetToAnIPWaitsForHalfTheWindow(t *testing.T) {
	bubble(t, func(t *tester) {
		before := t.server(oldAddr)
		e := t.endpoint()
		e.Echo("first")
		l := e.shared.Current()
		before.Push("MOVING", 1, 10, nil)
		time.Sleep(5*time.Second - 1)
		if got := t.dials(oldAddr); got != 1 || e.shared.Current() != l {
			t.Errorf("got %d dials before half of the window, want 1", got)
		}
		time.Sleep(time.Second + 2) // the jitter is a tenth of the window
		synctest.Wait()
		if got := t.dials(oldAddr); got != 2 || e.shared.Current() == l || l.Alive() {
			t.Errorf("got %d dials after half of the window, old link alive: %v; want 2 and a new link", got, l.Alive())
		}
		e.Echo("last")
		e.Close()
	})
}

func TestMovingWithoutATargetFollowsTheName(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		t.cfg.Addr = "db.example:6379"
		t.net.Hosts.Set("db.example", "10.0.0.1")
		e := t.endpoint()
		e.Echo("first")
		e.Return(e.Borrow(3)...)
		load := e.Load(5)
		before.Push("MOVING", 1, 10, nil)
		time.Sleep(2 * time.Second)
		if got := e.Peer(); got != oldAddr {
			t.Errorf("the lane leads to %q before the name does, want %s", got, oldAddr)
		}
		t.net.Hosts.Set("db.example", "10.0.0.2")
		time.Sleep(500*time.Millisecond + 20*time.Millisecond) // the look-ups' interval
		if got := e.Peer(); got != newAddr {
			t.Errorf("the lane leads to %q, want %s", got, newAddr)
		}
		t.wantConns(oldAddr, 0)
		t.wantConns(newAddr, 4)
		load.End()
		e.Close()
	})
}

// A lease that was taken before, during and after never leads nowhere.
func TestHandoffsInARow(t *testing.T) {
	bubble(t, func(t *tester) {
		servers := map[string]*server{oldAddr: t.server(oldAddr), newAddr: t.server(newAddr), otherAddr: t.server(otherAddr)}
		ring := []string{oldAddr, newAddr, otherAddr}
		e := t.endpoint()
		e.Echo("first")
		e.Return(e.Borrow(6)...)
		load := e.Load(10)
		var held []*lane.Lease
		for i := range 12 {
			from, to := ring[i%3], ring[(i+1)%3]
			servers[from].Push("MOVING", i+1, 2, to)
			time.Sleep(time.Second)
			if got := e.Peer(); got != to {
				t.Errorf("round %d: the lane leads to %q, want %s", i, got, to)
			}
			e.Return(held...)
			held = e.Borrow(i % 5)
			for _, l := range held {
				if err := echo(t.Context(), l.Link, "x"); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(2 * time.Second)
		}
		e.Return(held...)
		load.End()
		time.Sleep(time.Minute)
		if got := e.Links(); got > 7 {
			t.Errorf("got %d links at the end, want at most the 7 of the beginning", got)
		}
		e.Close()
	})
}

// The link of large replies is handed over like that of small ones.
func TestHandoffOfTheLargeLane(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		e := t.endpoint()
		e.Echo("first")
		large := strings.Repeat("x", 64<<10)
		if err := echo(t.Context(), e.Lane(), large); err != nil {
			t.Fatal(err)
		}
		t.wantConns(oldAddr, 2)
		before.Push("MOVING", 1, 15, newAddr)
		time.Sleep(time.Second)
		t.wantConns(oldAddr, 0)
		t.wantConns(newAddr, 2)
		if err := echo(t.Context(), e.Lane(), large); err != nil {
			t.Error(err)
		}
		t.wantConns(newAddr, 2)
		e.Close()
	})
}
