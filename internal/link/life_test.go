package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestContextEndsACallOnASharedLinkWithinOneSweep(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.Sleep(time.Second)
		r := t.Request(ctx, l, "GET a", Request{})
		time.Sleep(1234567 * time.Nanosecond)
		cancel(cause)
		r.WantError(MaybeSent, cause, 0)
		if late := r.took - time.Second - 1234567*time.Nanosecond; late < 0 || late > sweepEvery {
			t.Errorf("left %v after the context, want at most %v", late, sweepEvery)
		}
		if !l.Alive() {
			t.Errorf("the link died of it: %v", l.Err())
		}
		srv.Expect("GET a")
	})
}

func TestContextEndsACallOnALentLinkAtOnce(t *testing.T) {
	bubble(t, func(t *tester) {
		t.cfg.WatchContexts = true
		l, _ := t.link()
		ctx, cancel := context.WithTimeout(t.Context(), 123456789*time.Nanosecond)
		defer cancel()
		r := t.Request(ctx, l, "GET a", Request{})
		r.WantError(MaybeSent, context.DeadlineExceeded, 0)
		r.Took(123456789 * time.Nanosecond)
	})
}

func TestContextThatHasEndedSendsNothing(t *testing.T) {
	for name, watch := range map[string]bool{"shared": false, "lent": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				t.cfg.WatchContexts = watch
				l, srv := t.link()
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				r := t.Request(ctx, l, "INCR a", Request{})
				r.WantError(NotSent, context.Canceled, 0)
				r.Took(0)
				t.Do(l, "GET b")
				srv.Expect("GET b")
			})
		})
	}
}

func TestRepliesOfThoseWhoLeftAreDropped(t *testing.T) {
	for name, watch := range map[string]bool{"shared": false, "lent": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				t.cfg.WatchContexts = watch
				l, srv := t.link()
				ctx, cancel := context.WithCancel(t.Context())
				var left, stay []*running
				for i := range 10 {
					left = append(left, t.Request(ctx, l, "pipeline", Request{Replies: 3}))
					stay = append(stay, t.Do(l, fmt.Sprintf("GET %d", i)))
				}
				srv.Reply("+0.0\r\n") // the first leaves with one of three
				synctest.Wait()
				cancel()
				for i, r := range left {
					r.WantError(MaybeSent, context.Canceled, max(0, 1-i))
				}
				srv.Reply("+0.1\r\n+0.2\r\n")
				for i, r := range stay {
					if i > 0 {
						srv.Reply("+a\r\n+b\r\n+c\r\n")
					}
					srv.Reply(fmt.Sprintf(":%d\r\n", i))
					r.Want(fmt.Sprintf(":%d\r\n", i))
				}
				synctest.Wait()
				if got := l.InFlight(); got != 0 {
					t.Errorf("got %d in flight, want 0", got)
				}
			})
		})
	}
}

// A link whose callers have all left is still watched: it may be stuck.
func TestStuckLinkDiesThoughItsCallersHaveLeft(t *testing.T) {
	bubble(t, func(t *tester) {
		l, _ := t.link()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		t.Request(ctx, l, "GET a", Request{}).WantError(MaybeSent, context.DeadlineExceeded, 0)
		<-l.Gone()
		t.at(readTimeout)
	})
}

func TestDrainAnswersWhatIsInFlight(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		a, b := t.Do(l, "GET a"), t.Do(l, "GET b")
		l.Drain()
		if l.Alive() {
			t.Error("a draining link takes commands")
		}
		c := t.Do(l, "GET c")
		c.WantError(NotSent, ErrDraining, 0)
		c.Took(0)
		time.Sleep(time.Second)
		srv.Reply("+a\r\n")
		a.Want("+a\r\n")
		if b.Ended() {
			t.Fatal("ended with the link draining")
		}
		srv.Reply("+b\r\n")
		b.Want("+b\r\n")
		t.gone(l)
		t.at(time.Second)
		srv.Expect("GET a", "GET b")
		srv.ExpectClose()
		if !errors.Is(l.Err(), ErrDraining) {
			t.Errorf("got %v, want ErrDraining", l.Err())
		}
	})
}

func TestDrainOfAnIdleLinkClosesItAtOnce(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		l.Drain()
		t.gone(l)
		srv.ExpectClose()
	})
}

func TestDrainWaitsForWhatIsOnlyQueued(t *testing.T) {
	bubble(t, func(t *tester) {
		t.net.SetBuffer(addr, 1000)
		l, srv := t.link()
		large := "SET a " + strings.Repeat("x", 10_000)
		a, b := t.Do(l, large), t.Do(l, "GET b")
		l.Drain()
		srv.Expect(large, "GET b")
		srv.Reply("+a\r\n+b\r\n")
		a.Want("+a\r\n")
		b.Want("+b\r\n")
		t.gone(l)
	})
}

func TestDrainThatGetsNoAnswersEndsWithTheTimeout(t *testing.T) {
	bubble(t, func(t *tester) {
		l, _ := t.link()
		r := t.Do(l, "GET a")
		time.Sleep(time.Second)
		l.Drain()
		r.WantTimeout("read", readTimeout, readTimeout)
	})
}

func TestDrainOutlivesCallersThatLeft(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		ctx, cancel := context.WithCancel(t.Context())
		r := t.Request(ctx, l, "GET a", Request{})
		l.Drain()
		cancel()
		r.WantError(MaybeSent, context.Canceled, 0)
		srv.Reply("+a\r\n")
		t.gone(l)
	})
}

// fill queues so much that the next caller has to wait for room, and returns those
// that were let in.
func (t *tester) fill(l *Link) (in []*running, command string) {
	command = "SET a " + strings.Repeat("x", 6<<20)
	for range 4 { // the first is being written
		in = append(in, t.Do(l, command))
	}
	return in, command
}

func TestCallersWaitForRoomWithTheirContext(t *testing.T) {
	bubble(t, func(t *tester) {
		t.cfg.Timeouts = NewTimeouts(0, 0)
		l, srv := t.link()
		in, command := t.fill(l)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		leaves := t.Request(ctx, l, "GET b", Request{})
		stays := t.Do(l, "GET c")
		leaves.WantError(NotSent, context.DeadlineExceeded, 0)
		leaves.Took(time.Second)
		if got := l.InFlight(); got != len(in) {
			t.Errorf("got %d in flight, want %d", got, len(in))
		}
		for i, r := range in {
			srv.Expect(command)
			srv.Reply(fmt.Sprintf(":%d\r\n", i))
			r.Want(fmt.Sprintf(":%d\r\n", i))
		}
		srv.Expect("GET c")
		srv.Reply("+c\r\n")
		stays.Want("+c\r\n")
	})
}

func TestThoseWhoWaitForRoomAreNotForgotten(t *testing.T) {
	for name, test := range map[string]struct {
		end   func(l *Link)
		cause error
	}{
		"closed":   {func(l *Link) { l.Close(nil) }, ErrClosed},
		"draining": {func(l *Link) { l.Drain() }, ErrDraining},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				l, _ := t.link()
				t.fill(l)
				r := t.Do(l, "GET c")
				test.end(l)
				r.WantError(NotSent, test.cause, 0)
				r.Took(0)
			})
		})
	}
}

func TestInFlightIsBounded(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		const more = 10
		others := func(n int) { // as if n more were in flight
			l.mu.Lock()
			defer l.mu.Unlock()
			l.inflight += n
		}
		others(maxInFlight - more)
		var all []*running
		for range more {
			all = append(all, t.Do(l, "GET a"))
		}
		over := t.Do(l, "GET b")
		if got := l.InFlight(); got != maxInFlight {
			t.Errorf("got %d in flight, want %d", got, maxInFlight)
		}
		others(more - maxInFlight)
		for _, r := range all {
			srv.Expect("GET a")
			srv.Reply("+a\r\n")
			r.Want("+a\r\n")
		}
		srv.Expect("GET b")
		srv.Reply("+b\r\n")
		over.Want("+b\r\n")
	})
}

func TestPhases(t *testing.T) {
	for p, want := range map[phase]string{serving: "serving", draining: "draining", dead: "dead", 9: "invalid"} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
