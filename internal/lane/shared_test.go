package lane

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// A getting is a Get of a shared lane that somebody waits for.
type getting struct {
	done chan struct{} // closed when the fields below are set
	l    *link.Link
	err  error
	took time.Duration // since the bubble began
}

func (t *tester) get(ctx context.Context, s *Shared) *getting {
	g := &getting{done: make(chan struct{})}
	go func() {
		g.l, g.err = s.Get(ctx)
		g.took = time.Since(t.start)
		close(g.done)
	}()
	synctest.Wait()
	return g
}

func TestSharedDialsOnceForAll(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Second, 0)
		s := NewShared(t.open, Wait{})
		if s.Current() != nil || t.dialled() != 0 {
			t.Error("the lane dials before it is used")
		}
		var all []*getting
		for range 10 {
			all = append(all, t.get(t.Context(), s))
		}
		for _, g := range all {
			<-g.done
			if g.err != nil || g.l != s.Current() || g.took != time.Second {
				t.Errorf("got %p, %v after %v, want %p after 1s", g.l, g.err, g.took, s.Current())
			}
		}
		if got := t.dialled(); got != 1 {
			t.Errorf("got %d dials, want 1", got)
		}
		s.Close()
		t.wantConns(0)
	})
}

func TestSharedDialOutlivesItsCallers(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Second, 0)
		s := NewShared(t.open, Wait{})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		left := t.get(ctx, s)
		stays := t.get(t.Context(), s)
		<-left.done
		wantNotSent(t.T, left.err, context.DeadlineExceeded)
		t.at(100 * time.Millisecond)
		<-stays.done
		if stays.err != nil || stays.took != time.Second {
			t.Errorf("got %v after %v, want a link after 1s", stays.err, stays.took)
		}
		s.Close()
	})
}

func TestSharedDialFailsForAllWhoWait(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Second, 1)
		s := NewShared(t.open, Wait{})
		a, b := t.get(t.Context(), s), t.get(t.Context(), s)
		for _, g := range []*getting{a, b} {
			<-g.done
			if g.err == nil || g.l != nil {
				t.Errorf("got %p, %v, want the dial's error", g.l, g.err)
			}
		}
		if l, err := s.Get(t.Context()); err != nil || l == nil || t.dialled() != 2 {
			t.Errorf("got %v after %d dials, want a link after 2", err, t.dialled())
		}
		s.Close()
	})
}

// Callers work on while the lane's link is replaced again and again; none of them
// notices.
func TestSharedReplaceUnderLoadLosesNothing(t *testing.T) {
	bubble(t, func(t *tester) {
		t.net.SetLatency(addr, time.Millisecond)
		s := NewShared(t.open, Wait{})
		t.onClose = s.Dropped
		stop := make(chan struct{})
		var callers sync.WaitGroup
		for c := range 30 {
			callers.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					if err := sendEcho(t.Context(), s, fmt.Sprintf("%d-%d", c, i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for i := range 200 {
			time.Sleep(time.Duration(i) * 17 * time.Microsecond)
			if !s.Replace(t.link()) {
				t.Error("the lane would not take a link")
			}
		}
		close(stop)
		callers.Wait()
		t.wantConns(1)
		s.Close()
		t.wantConns(0)
	})
}

func TestSharedReplaceServesThoseWhoWaitForADial(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Minute, 0)
		s := NewShared(t.open, Wait{})
		g := t.get(t.Context(), s)
		time.Sleep(time.Second)
		next := t.link()
		s.Replace(next)
		<-g.done
		if g.l != next || g.err != nil || g.took != time.Second {
			t.Errorf("got %p, %v after %v, want the replacement after 1s", g.l, g.err, g.took)
		}
		t.wantConns(1) // what was being dialled is closed
		s.Close()
		t.wantConns(0)
	})
}

func TestSharedLinkThatArrivesAfterItsReplacementDrains(t *testing.T) {
	bubble(t, func(t *tester) {
		var late *link.Link
		s := NewShared(func(context.Context) (*link.Link, error) {
			time.Sleep(time.Second) // deaf to its context
			late = t.link()
			return late, nil
		}, Wait{})
		g := t.get(t.Context(), s)
		next := t.link()
		s.Replace(next)
		<-g.done
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s.Current() != next || late.Alive() {
			t.Error("the link that was dialled has replaced its replacement")
		}
		s.Close()
		t.wantConns(0)
	})
}

func TestSharedReplaceByADeadLinkChangesNothing(t *testing.T) {
	bubble(t, func(t *tester) {
		s := NewShared(t.open, Wait{})
		l, err := s.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		dead := t.link()
		dead.Close(nil)
		if s.Replace(dead) || s.Current() != l || !l.Alive() {
			t.Error("a dead link has replaced a live one")
		}
		if !s.Replace(l) || !l.Alive() {
			t.Error("a link that replaces itself was drained")
		}
		s.Close()
		next := t.link()
		if s.Replace(next) || next.Alive() || s.Current() != nil {
			t.Error("a closed lane has taken a link")
		}
	})
}

func TestSharedCloseDuringADial(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Minute, 0)
		s := NewShared(t.open, Wait{})
		g := t.get(t.Context(), s)
		time.Sleep(time.Second)
		s.Close()
		t.at(time.Second)
		<-g.done
		wantNotSent(t.T, g.err, link.ErrClosed)
		_, err := s.Get(t.Context())
		wantNotSent(t.T, err, link.ErrClosed)
		wantNotSent(t.T, sendEcho(t.Context(), s, "a"), link.ErrClosed)
		s.Close()
		t.wantConns(0)
	})
}

// A link can die before the lane has it: its OnClose finds no lane that knows it.
func TestSharedLinkThatDiedBetweenDialAndAdoption(t *testing.T) {
	bubble(t, func(t *tester) {
		s := NewShared(t.open, Wait{})
		t.onClose = s.Dropped
		t.atOpened = func(l *link.Link) {
			if t.dialled() == 1 {
				l.Close(errDial)
				<-l.Gone()
			}
		}
		wantNotSent(t.T, sendEcho(t.Context(), s, "a"), errDial)
		if err := sendEcho(t.Context(), s, "b"); err != nil || t.dialled() != 2 {
			t.Errorf("got %v after %d dials, want a reply after 2", err, t.dialled())
		}
		s.Close()
	})
}

func TestSharedDialsAnewAfterItsLinkDied(t *testing.T) {
	for name, end := range map[string]func(l *link.Link){
		"closed":  func(l *link.Link) { l.Close(nil) },
		"drained": func(l *link.Link) { l.Drain() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				s := NewShared(t.open, Wait{})
				t.onClose = s.Dropped
				l, _ := s.Get(t.Context())
				end(l)
				synctest.Wait()
				if s.Current() != nil {
					t.Error("the lane keeps a link that takes no commands")
				}
				if err := sendEcho(t.Context(), s, "a"); err != nil || t.dialled() != 2 {
					t.Errorf("got %v after %d dials, want a reply after 2", err, t.dialled())
				}
				s.Close()
			})
		})
	}
}

// A link that drains while the lane still has it is passed over.
func TestSharedDoPassesOverADrainingLink(t *testing.T) {
	bubble(t, func(t *tester) {
		t.net.SetLatency(addr, time.Second)
		s := NewShared(t.open, Wait{})
		l, _ := s.Get(t.Context())
		errs := make(chan error)
		go func() { errs <- sendEcho(t.Context(), s, "a") }() // keeps it from closing
		synctest.Wait()
		l.Drain()
		if err := sendEcho(t.Context(), s, "b"); err != nil {
			t.Error(err)
		}
		if err := <-errs; err != nil {
			t.Error(err)
		}
		s.Close()
	})
}

// A dial may take longer than its callers wait, and goes on without them.
func TestSharedCallersLeaveADialThatGoesOn(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(10*time.Second, 0)
		s := NewShared(t.open, Wait{func() time.Duration { return 3 * time.Second }, func() error { return errDial }})
		first := t.get(t.Context(), s)
		time.Sleep(8 * time.Second)
		second := t.get(t.Context(), s)
		<-first.done
		<-second.done
		if e, ok := errors.AsType[*link.Error](first.err); !ok || e.Delivery != link.NotSent || !e.Timeout() || !errors.Is(e, errDial) || Waited(e) != 3*time.Second {
			t.Errorf("got %v, want a timeout after 3s", first.err)
		}
		if second.err != nil || second.took != 10*time.Second || t.dialled() != 1 {
			t.Errorf("got %v after %v with %d dials, want the link of the first dial", second.err, second.took, t.dialled())
		}
		s.Close()
	})
}
