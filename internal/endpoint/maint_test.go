package endpoint

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/maintnotifications"
)

func TestWindowRelaxesCommandsInFlightOfOtherLinks(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		e := t.endpoint()
		e.Echo("first")
		leases := e.Borrow(2)
		onShared, onLent := hang(e.shared), hang(leases[0].Link)
		time.Sleep(readTimeout - time.Millisecond)
		srv.PushOne("MIGRATING", 1, 5, "1")
		wantTimeout(t, <-onShared, relaxedTimeout)
		wantTimeout(t, <-onLent, relaxedTimeout)
		t.at(relaxedTimeout) // the third one was told
		e.Close()
	})
}

func TestWindowEndsWithAFullOrdinaryTimeout(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		e := t.endpoint()
		e.Echo("first")
		lent := e.Borrow(1)[0]
		srv.PushOne("FAILING_OVER", 7, 0, "1")
		synctest.Wait()
		if !e.Timeouts().Relaxed() {
			t.Error("timeouts are not relaxed in a window")
		}
		inFlight := hang(lent.Link)
		time.Sleep(4 * time.Second)
		srv.PushOne("FAILED_OVER", 7, "1")
		synctest.Wait()
		if e.Timeouts().Relaxed() {
			t.Error("timeouts are relaxed after the window")
		}
		wantTimeout(t, <-inFlight, readTimeout) // since the end, or the last byte
		t.at(4*time.Second + readTimeout)
		e.Close()
	})
}

func TestWindowWithoutAnEndIsClosedByItsBackstop(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		e := t.endpoint()
		e.Echo("first")
		srv.PushOne("FAILING_OVER", 7, 2, "1")
		time.Sleep(62*time.Second - 1)
		synctest.Wait()
		if !e.Timeouts().Relaxed() {
			t.Error("not relaxed before the backstop")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if e.Timeouts().Relaxed() {
			t.Error("relaxed after the backstop")
		}
		e.Close()
	})
}

func TestLinksThatComeDuringAWindowAreRelaxed(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		e := t.endpoint()
		e.Echo("first")
		srv.PushOne("MIGRATING", 1, 5, "1")
		synctest.Wait()
		wantTimeout(t, <-hang(e.Borrow(1)[0].Link), relaxedTimeout)
		e.Close()
	})
}

func TestTimeoutsStayRelaxedAfterAHandoff(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		e := t.endpoint()
		e.Echo("first")
		before.Push("MOVING", 1, 5, newAddr)
		time.Sleep(20*time.Second - 1)
		synctest.Wait()
		if !e.Timeouts().Relaxed() {
			t.Error("not relaxed shortly after a handoff")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if e.Timeouts().Relaxed() {
			t.Error("still relaxed after PostHandoffRelaxedDuration")
		}
		e.Close()
	})
}

// The sum of what the metrics are told is the number of relaxed connections.
func TestMetricsCountRelaxedLinks(t *testing.T) {
	bubble(t, func(t *tester) {
		sum := map[string]int{}
		var err error
		t.cfg.Manager, err = maintnotifications.NewManager(t.cfg.Maint, &maintnotifications.Metrics{
			OnRelaxed: func(delta int, kind string) { sum[kind] += delta },
		})
		if err != nil {
			t.Fatal(err)
		}
		srv := t.server(oldAddr)
		e := t.endpoint()
		want := func(kind string, n int) {
			t.Helper()
			synctest.Wait()
			if sum[kind] != n {
				t.Errorf("got %d links relaxed by %s, want %d", sum[kind], kind, n)
			}
		}
		leases := e.Borrow(3)
		srv.PushOne("MIGRATING", 1, 5, "1")
		want("MIGRATING", 3)
		leases = append(leases, e.Borrow(1)...)
		want("MIGRATING", 4)
		e.Pool().Put(leases[0], false)
		want("MIGRATING", 3)
		srv.PushOne("MIGRATED", 1, "1")
		want("MIGRATING", 0)
		e.Pool().Put(leases[1], false)
		want("MIGRATING", 0)
		srv.PushOne("FAILING_OVER", 2, 5, "1")
		want("FAILING_OVER", 2)
		e.Close()
		want("FAILING_OVER", 0)
		want("MIGRATING", 0)
	})
}

func TestMalformedNoticesHarmNothing(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		e := t.endpoint()
		e.Echo("first")
		for _, n := range [][]any{
			{"MOVING"}, {"MOVING", "x", "y", "z"}, {"MIGRATING", nil}, {"SMIGRATED", 1, 2, 3}, {"FAILED_OVER"},
		} {
			srv.Push(n...)
		}
		e.Echo("second")
		if e.Timeouts().Relaxed() || e.Peer() != oldAddr {
			t.Error("a malformed notice had an effect")
		}
		e.Close()
	})
}

func TestOnlyWantedPushesArePassedOn(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		var got [][]any
		t.cfg.WantsPush = func(name string) bool { return name == "invalidate" }
		t.cfg.OnPush = func(_ *link.Link, args []any) { got = append(got, args) }
		e := t.endpoint()
		e.Echo("first")
		srv.Push("tracking", "x")
		srv.Push("invalidate", "k", 1)
		synctest.Wait()
		if d := cmp.Diff([][]any{{"invalidate", "k", int64(1)}}, got); d != "" {
			t.Errorf("pushes (-want +got):\n%s", d)
		}
		e.Close()
	})
}

func TestOptInNamesTheEndpointTypeOfThePeer(t *testing.T) {
	for name, test := range map[string]struct {
		asked maintnotifications.EndpointType
		tls   bool
		want  string
	}{
		"a private peer":          {maintnotifications.EndpointTypeAuto, false, "internal-ip"},
		"a private peer with TLS": {maintnotifications.EndpointTypeAuto, true, "internal-fqdn"},
		"as configured":           {maintnotifications.EndpointTypeNone, false, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				srv := t.server(oldAddr)
				t.cfg.TLS, t.cfg.Maint.EndpointType = test.tls, test.asked
				e := t.endpoint()
				e.Echo("first")
				if !slices.Equal(srv.optIns, []string{test.want}) {
					t.Errorf("got the opt-ins %q, want %q", srv.optIns, test.want)
				}
				e.Close()
			})
		})
	}
}

func TestDisabledMaintenanceAsksForNothing(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		t.cfg.Maint.Mode = maintnotifications.ModeDisabled
		e := t.endpoint()
		e.Echo("first")
		if asked, _ := srv.counts(); asked != 0 {
			t.Errorf("asked %d times", asked)
		}
		e.Close()
	})
}

func TestRefusedOptInIsRemembered(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		srv.refuses = true
		e := t.endpoint()
		open := func(want int) {
			t.Helper()
			e.Borrow(1)
			if asked, _ := srv.counts(); asked != want {
				t.Errorf("after %v: the server was asked %d times, want %d", time.Since(t.start), asked, want)
			}
		}
		open(1)
		open(1) // it has refused
		time.Sleep(refusalMemory - 1)
		open(1)
		time.Sleep(time.Nanosecond)
		open(2) // it has been long enough
		open(2)
		srv.mu.Lock()
		srv.version = "8.4.0"
		srv.mu.Unlock()
		open(3) // it is another server now
		open(3)
		srv.mu.Lock()
		srv.version, srv.refuses = "8.6.0", false
		srv.mu.Unlock()
		open(4)
		open(5) // it has agreed
		e.Close()
	})
}

func TestRequiredOptInFailsTheDial(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		srv.refuses = true
		t.cfg.Maint.Mode = maintnotifications.ModeEnabled
		t.cfg.DialRetries = 5
		e := t.endpoint()
		for range 2 {
			_, err := e.shared.Get(t.Context())
			if h, ok := errors.AsType[*link.HandshakeError](err); !ok || !Permanent(err) {
				t.Errorf("got %v (%v), want a permanent handshake error", err, h)
			}
		}
		if got := t.dials(oldAddr); got != 2 {
			t.Errorf("got %d dials, want one each time", got)
		}
		e.Close()
	})
}

// goroutines counts those that run a function whose name has one of the parts.
func goroutines(parts ...string) (n int) {
	synctest.Wait()
	buf := make([]byte, 1<<20)
	for g := range bytes.SplitSeq(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
		if slices.ContainsFunc(parts, func(p string) bool { return bytes.Contains(g, []byte(p)) }) {
			n++
		}
	}
	return n
}

func TestUnusedEndpointHasNoGoroutine(t *testing.T) {
	bubble(t, func(t *tester) {
		e := t.endpoint()
		if got := goroutines("(*Endpoint)", "(*Shared)", "(*Pool)", "(*Link)"); got != 0 {
			t.Errorf("got %d goroutines of an unused endpoint", got)
		}
		if e.WasUp() || e.Links() != 0 || len(t.dialled) != 0 {
			t.Error("an unused endpoint has dialled")
		}
		// It is not closed: the bubble would not end if there were one.
	})
}

// When all is done only the readers are left.
func TestIdleEndpointHasOnlyItsReaders(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		e := t.endpoint()
		e.Echo("first")
		e.Return(e.Borrow(3)...)
		before.Push("MOVING", 1, 5, newAddr)
		time.Sleep(time.Minute)
		if got := goroutines("(*Endpoint)", "(*Shared)", "(*Pool)", "(*Link)"); got != 4 {
			t.Errorf("got %d goroutines, want one for each of 4 links", got)
		}
		if got := goroutines("(*Link).readLoop"); got != 4 {
			t.Errorf("got %d readers, want 4", got)
		}
		e.Close()
	})
}

func TestCloseBreaksEverythingOff(t *testing.T) {
	for name, fault := range map[string]func(t *tester){
		"handoffs that hang":     func(t *tester) { t.net.Blackhole(newAddr, true) },
		"handoffs that fail":     func(t *tester) { t.net.Refuse(newAddr, true) },
		"handoffs under way":     func(t *tester) { t.net.SetLatency(newAddr, 100*time.Millisecond) },
		"handoffs that are done": func(*tester) {},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				before, _ := t.server(oldAddr), t.server(newAddr)
				fault(t)
				e := t.endpoint()
				e.Echo("first")
				all := e.Borrow(10)
				e.Return(all[:5]...)
				waits := hang(all[5].Link)
				before.Push("MOVING", 1, 15, newAddr)
				time.Sleep(350 * time.Millisecond)
				var closing sync.WaitGroup
				for range 3 {
					closing.Go(func() {
						e.Endpoint.Close()
						if got := e.Links(); got != 0 {
							t.Errorf("Close has returned with %d links", got)
						}
					})
				}
				closing.Wait()
				t.at(350 * time.Millisecond)
				if err := <-waits; !errors.Is(err, link.ErrClosed) {
					t.Errorf("got %v in flight, want ErrClosed", err)
				}
				if err := echo(t.Context(), e.shared, "x"); !errors.Is(err, link.ErrClosed) {
					t.Errorf("got %v on the shared lane, want ErrClosed", err)
				}
				if _, err := e.Pool().Get(t.Context()); !errors.Is(err, link.ErrClosed) {
					t.Errorf("got %v from the pool, want ErrClosed", err)
				}
				if _, err := e.OpenDedicated(t.Context(), Dedicated{}); err == nil {
					t.Error("a closed endpoint opens a link")
				}
				e.Return(all[5:]...)
				e.Close()
			})
		})
	}
}

func TestDedicatedLinkMovesItself(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		e := t.endpoint()
		moved := make(chan *link.Link, 1)
		gone := make(chan *link.Link, 2)
		var d Dedicated
		d = Dedicated{
			OnFrame: func(*link.Link, []byte) {},
			OnGone:  func(l *link.Link) { gone <- l },
			Move: func(ctx context.Context, l *link.Link, targets []string) error {
				next, err := e.OpenDedicatedAt(ctx, d, targets)
				if err != nil {
					return err
				}
				moved <- next
				l.Close(link.ErrDraining)
				return nil
			},
		}
		first, err := e.OpenDedicated(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		before.Push("MOVING", 1, 15, newAddr)
		if next := <-moved; next.Peer() != newAddr {
			t.Errorf("moved to %s, want %s", next.Peer(), newAddr)
		}
		if l := <-gone; l != first {
			t.Error("the new link died")
		}
		e.Close()
	})
}

func TestDedicatedLinkThatCantMoveIsClosedAtTheDeadline(t *testing.T) {
	bubble(t, func(t *tester) {
		before := t.server(oldAddr)
		e := t.endpoint()
		l, err := e.OpenDedicated(t.Context(), Dedicated{
			OnFrame: func(*link.Link, []byte) {},
			Move:    func(context.Context, *link.Link, []string) error { return errors.New("not now") },
		})
		if err != nil {
			t.Fatal(err)
		}
		before.Push("MOVING", 1, 5, newAddr)
		<-l.Gone()
		if d := time.Since(t.start); d < 5*time.Second || d > 7*time.Second {
			t.Errorf("closed after %v, want it at the deadline, 5s", d)
		}
		if !errors.Is(l.Err(), errRetired) {
			t.Errorf("got %v, want %v", l.Err(), errRetired)
		}
		e.Close()
	})
}
