package endpoint

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A target that swallows the first packet costs TCP a second, which a short window
// does not have: another attempt is made beside the first.
func TestHandoffToATargetThatLosesTheFirstPacket(t *testing.T) {
	bubble(t, func(t *tester) {
		before := t.server(oldAddr)
		t.server(newAddr)
		dial := t.cfg.Dial
		var lost atomic.Bool
		t.cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == newAddr && lost.CompareAndSwap(false, true) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return dial(ctx, network, addr)
		}
		e := t.endpoint()
		e.Echo("first")
		before.PushOne("MOVING", 1, 1, newAddr)
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if got := e.Peer(); got != newAddr {
			t.Errorf("300 ms after the notice the lane leads to %q, want %s", got, newAddr)
		}
		e.Close()
	})
}

// A target that does not answer at all does not keep the others waiting.
func TestHandoffGoesOnBesideAnAttemptThatHangs(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.server(newAddr)
		const silent = "10.0.0.9:6379"
		t.server(silent)
		t.net.Blackhole(silent, true)
		e := t.endpoint()
		e.Echo("first")
		start := time.Now()
		l, err := e.openFirst(t.Context(), e.pooledUse(), []string{silent, newAddr})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); l.Peer() != newAddr || took != longestHedge {
			t.Errorf("got a link to %s after %v, want %s after %v", l.Peer(), took, newAddr, longestHedge)
		}
		e.Close()
		if n := t.dials(silent); n != 1 {
			t.Errorf("%d dials to the one that is silent, want 1", n)
		}
	})
}

// lateness is how long after the network is back a dial has opened its link that began
// before. raced leaves out the second dial.
func (t *tester) lateness(back time.Duration, raced bool) time.Duration {
	t.Helper()
	t.server(oldAddr)
	t.net.SetResend(time.Second)
	t.net.Blackhole(oldAddr, true)
	t.cfg.DialTimeout = time.Hour
	e := t.endpoint()
	time.AfterFunc(back, func() { t.net.Blackhole(oldAddr, false) })
	u := e.pooledUse()
	u.raced = raced
	l, err := e.openAt(t.Context(), u, []string{oldAddr})
	if err != nil {
		t.Fatal(err)
	}
	late := time.Since(t.start) - back
	t.wantConns(oldAddr, 1)
	l.Drain()
	e.Close()
	return late
}

// A dial whose packets were lost goes on late when the network is back, because TCP sends
// them ever more rarely: others are tried beside it. Without those it is late.
func TestDialsFindTheNetworkSoonAfterItIsBack(t *testing.T) {
	for _, back := range []time.Duration{1100 * time.Millisecond, 3100 * time.Millisecond, 8 * time.Second, 15 * time.Minute} {
		t.Run(back.String(), func(t *testing.T) {
			bubble(t, func(t *tester) {
				if late := t.lateness(back, false); late < 0 || late > dialPatience {
					t.Errorf("the link is open %v after the network is back, want within %v", late, dialPatience)
				}
				if t.atOnce > 2 {
					t.Errorf("%d dials at one time, want 2 at most", t.atOnce)
				}
			})
		})
		t.Run(back.String()+"/without", func(t *testing.T) {
			bubble(t, func(t *tester) {
				if late := t.lateness(back, true); late <= dialPatience {
					t.Errorf("the link is open %v after the network is back though nothing is tried beside its dial", late)
				}
			})
		})
	}
}

// Without another attempt beside the first a handoff hangs with a packet that is lost, or
// with a target that does not answer, and the window is over.
func TestWithoutASecondAttemptAHandoffHangs(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.server(newAddr)
		t.net.Blackhole(oldAddr, true)
		e := t.endpoint()
		ctx, cancel := context.WithTimeout(t.Context(), 4*longestHedge)
		defer cancel()
		u := e.pooledUse()
		u.raced = true
		start := time.Now()
		l, err := e.openAt(ctx, u, []string{oldAddr, newAddr})
		if err == nil || time.Since(start) < 4*longestHedge {
			t.Errorf("got %v, %v after %v, want nothing", l, err, time.Since(start))
		}
		e.Close()
	})
}

// A dial that takes long because the server is far away is not broken off, and one that
// both attempts have opened leaves one connection.
func TestASlowDialIsWaitedFor(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.net.SetLatency(oldAddr, 900*time.Millisecond) // 1.8 s to dial
		e := t.endpoint()
		e.Echo("first")
		t.at(5400 * time.Millisecond) // to dial, for the handshake, for the command
		t.wantConns(oldAddr, 1)
		e.Close()
	})
}
