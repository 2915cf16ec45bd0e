package endpoint

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/simnet"
)

func TestSharedLinkIsClosedAfterItsIdleTime(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.cfg.Pool.MaxIdleTime = time.Minute
		e := t.endpoint()
		e.Echo("first")
		time.Sleep(30 * time.Second)
		e.Echo("second")
		time.Sleep(time.Minute - 1)
		t.wantConns(oldAddr, 1)
		time.Sleep(time.Nanosecond)
		t.wantConns(oldAddr, 0)
		e.Echo("third")
		if got := t.dials(oldAddr); got != 2 {
			t.Errorf("got %d dials, want 2", got)
		}
		e.Close()
	})
}

func TestSharedLinkInUseIsNotIdle(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.cfg.Pool.MaxIdleTime = time.Minute
		t.cfg.ReadTimeout = 0
		e := t.endpoint()
		e.Echo("first")
		waits := hang(e.shared)
		time.Sleep(time.Hour)
		t.wantConns(oldAddr, 1)
		e.Close()
		<-waits
	})
}

// A link that has become too old is replaced before it is left.
func TestSharedLinkIsReplacedAtTheEndOfItsLife(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.cfg.Pool.MaxLifetime = time.Minute
		e := t.endpoint()
		e.Echo("first")
		load := e.Load(2)
		for range 3 {
			old := e.shared.Current()
			time.Sleep(time.Minute)
			synctest.Wait()
			if e.shared.Current() == old || old.Alive() {
				t.Errorf("the link has outlived its lifetime at %v", time.Since(t.start))
			}
		}
		t.wantConns(oldAddr, 1)
		load.End()
		e.Close()
	})
}

func TestOldSharedLinkServesUntilItCanBeReplaced(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.cfg.Pool.MaxLifetime = time.Minute
		e := t.endpoint()
		e.Echo("first")
		old := e.shared.Current()
		load := e.Load(2)
		time.Sleep(30 * time.Second)
		t.net.Refuse(oldAddr, true)
		time.Sleep(35 * time.Second)
		if e.shared.Current() != old {
			t.Error("the old link was left without another")
		}
		t.net.Refuse(oldAddr, false)
		time.Sleep(renewEvery)
		synctest.Wait()
		if e.shared.Current() == old || old.Alive() {
			t.Error("the old link was not replaced when that was possible")
		}
		load.End()
		e.Close()
	})
}

// Nobody needs a successor of a link that died while it was to be replaced.
func TestDeadSharedLinkIsNotReplaced(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.cfg.Pool.MaxLifetime = time.Minute
		e := t.endpoint()
		e.Echo("first")
		t.net.SetLatency(oldAddr, 200*time.Millisecond)
		time.Sleep(time.Minute + 200*time.Millisecond) // it is being dialled
		t.net.Refuse(oldAddr, true)
		t.net.Cut(oldAddr, simnet.RST)
		time.Sleep(time.Hour)
		if got := t.dials(oldAddr); got != 2 {
			t.Errorf("got %d dials though nobody uses the endpoint, want 2", got)
		}
		e.Close()
	})
}

func TestDemotedServerIsLeft(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.server(newAddr)
		t.cfg.Addr = "db.example:6379"
		t.net.Hosts.Set("db.example", "10.0.0.1")
		e := t.endpoint()
		e.Echo("first")
		e.Return(e.Borrow(3)...)
		t.net.Hosts.Set("db.example", "10.0.0.2")
		for range 100 { // every caller is told
			e.Demoted(nil)
		}
		time.Sleep(2 * time.Second)
		if got := e.Peer(); got != newAddr {
			t.Errorf("the lane leads to %q, want %s", got, newAddr)
		}
		t.wantConns(oldAddr, 0)
		t.wantConns(newAddr, 4)
		e.Close()
	})
}

func TestAddressThatHasLeftDNSIsLeft(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.server(newAddr)
		t.cfg.Addr = "db.example:6379"
		t.net.Hosts.Set("db.example", "10.0.0.1")
		e := t.endpoint()
		e.Echo("first")
		time.Sleep(2 * time.Minute)
		if got := t.dials("db.example:6379"); got != 1 {
			t.Errorf("got %d dials with nothing changed, want 1", got)
		}
		t.net.Hosts.Set("db.example", "10.0.0.2")
		load := e.Load(2)
		time.Sleep(2*dnsEvery + 2*time.Second)
		if got := e.Peer(); got != newAddr {
			t.Errorf("the lane leads to %q, want %s", got, newAddr)
		}
		load.End()
		t.wantConns(oldAddr, 0)
		e.Close()
	})
}

func TestSilentPeerTakesItsIdleLinksAlong(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		e := t.endpoint()
		e.Echo("first")
		all := e.Borrow(4)
		e.Return(all[:3]...)
		wantTimeout(t, <-hang(all[3].Link), readTimeout)
		t.wantConns(oldAddr, 1) // that of the shared lane, which nothing is known of
		e.Return(all[3])
		e.Return(e.Borrow(1)...)
		e.Close()
	})
}

func TestSuspicionsAreActedUponEverMoreRarely(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		e := t.endpoint()
		e.Demoted(nil) // of nothing
		e.Echo("first")
		for range 100 { // of a server that says READONLY all the time
			e.Demoted(e.shared.Current())
			time.Sleep(100 * time.Millisecond)
		}
		if got := t.dials(oldAddr); got != 1+4 { // at 0, 1, 3 and 7 s
			t.Errorf("got %d dials in 10s, want the first and 4 more", got)
		}
		time.Sleep(suspectMemory)
		for range 15 {
			e.Demoted(nil)
			time.Sleep(100 * time.Millisecond)
		}
		if got := t.dials(oldAddr); got != 1+4+2 {
			t.Errorf("got %d dials, want 2 more after a quiet minute", got)
		}
		t.wantConns(oldAddr, 1)
		e.Close()
	})
}

// A counting resolver counts.
type countingResolver struct {
	Resolver
	asked atomic.Int64
}

func (r *countingResolver) LookupHost(ctx context.Context, host string) ([]string, error) {
	r.asked.Add(1)
	return r.Resolver.LookupHost(ctx, host)
}

func TestDNSIsLookedAtOftenAfterMaintenance(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		t.server(newAddr)
		t.cfg.Addr = "db.example:6379"
		t.net.Hosts.Set("db.example", "10.0.0.1")
		r := &countingResolver{Resolver: t.net}
		t.cfg.Resolver = r
		e := t.endpoint()
		e.Echo("first")
		want := func(n int64) {
			t.Helper()
			synctest.Wait()
			if got := r.asked.Load(); got != n {
				t.Errorf("got %d look-ups after %v, want %d", got, time.Since(t.start), n)
			}
		}
		time.Sleep(65 * time.Second)
		want(2)
		srv.Push("MIGRATING", 1, 5, "1")
		srv.Push("MIGRATED", 1, "1")
		time.Sleep(dnsSoon)
		want(3)
		time.Sleep(dnsSoonFor)
		want(2 + 20)
		time.Sleep(dnsEvery)
		want(2 + 20 + 1)

		srv.Push("FAILING_OVER", 2, 0, "1")
		srv.Push("FAILED_OVER", 2, "1")
		t.net.Hosts.Set("db.example", "10.0.0.2")
		time.Sleep(2*dnsSoon + time.Second)
		if got := e.Peer(); got != newAddr {
			t.Errorf("the lane leads to %q, want %s", got, newAddr)
		}
		e.Close()
		asked := r.asked.Load()
		time.Sleep(time.Hour)
		want(asked)
	})
}
