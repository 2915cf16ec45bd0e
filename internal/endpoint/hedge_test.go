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
