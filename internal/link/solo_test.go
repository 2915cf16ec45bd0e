package link

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// solo opens a link that its callers read.
func solo(t *testing.T, f func(t *tester, l *Link, srv *server)) {
	t.Helper()
	bubbleSolo(t, 1, func(t *tester) {
		l, srv := t.link()
		for range 2 {
			r := t.Do(l, "GET warm")
			srv.Expect("GET warm")
			srv.Reply(bulk("up"))
			r.Want(bulk("up"))
			synctest.Wait()
		}
		f(t, l, srv)
	})
}

// readers tells who has the turn to read.
func (l *Link) readers() (reading, isSolo bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reading, l.soloist != nil
}

func TestALoneCallerReadsByItself(t *testing.T) {
	solo(t, func(t *tester, l *Link, srv *server) {
		for range 3 {
			r := t.Do(l, "GET a")
			srv.Expect("GET a")
			if reading, isSolo := l.readers(); !reading || !isSolo {
				t.Errorf("reading %v, a caller %v, want the caller to read", reading, isSolo)
			}
			srv.Reply(pushFrame("note", "x") + bulk("1"))
			r.Want(bulk("1"))
			synctest.Wait()
			if reading, _ := l.readers(); reading {
				t.Error("somebody reads although nobody waits")
			}
		}
	})
}

// A push on a link at rest is seen after twice soloRest at the latest, and at once when
// the link has been at rest for so long.
func TestPushesOnALinkAtRest(t *testing.T) {
	bubbleSolo(t, 1, func(t *tester) {
		seen := make(chan time.Duration, 2)
		t.cfg.OnPush = func(*Link, []byte) { seen <- time.Since(t.start) }
		l, srv := t.link()
		for range 2 {
			r := t.Do(l, "GET a")
			srv.Expect("GET a")
			srv.Reply(bulk("1"))
			r.Want(bulk("1"))
			synctest.Wait()
		}
		srv.Push("first")
		time.Sleep(2 * soloRest)
		srv.Push("second")
		time.Sleep(time.Second)
		if first, second := <-seen, <-seen; first > 2*soloRest || second != 2*soloRest {
			t.Errorf("pushes were seen at %v and %v, want the first by 20ms and the second at once", first, second)
		}
		if reading, isSolo := l.readers(); !reading || isSolo {
			t.Error("the reader has not got the link back")
		}
	})
}

func TestASecondCallerJoinsALoneOne(t *testing.T) {
	solo(t, func(t *tester, l *Link, srv *server) {
		a := t.Do(l, "GET a")
		srv.Expect("GET a")
		b := t.Do(l, "GET b")
		srv.Expect("GET b")
		srv.Reply(bulk("1"))
		a.Want(bulk("1"))
		if reading, isSolo := l.readers(); !reading || isSolo {
			t.Error("the reader has not got the link though a reply is due")
		}
		srv.Reply(bulk("2"))
		b.Want(bulk("2"))
	})
}

// A caller whose context ends is called back from reading; its reply is dropped.
func TestALoneCallerLeaves(t *testing.T) {
	solo(t, func(t *tester, l *Link, srv *server) {
		ctx, cancel := context.WithCancel(t.Context())
		a := t.Request(ctx, l, "GET a", Request{})
		srv.Expect("GET a")
		time.Sleep(time.Second)
		cancel()
		began := time.Now()
		a.WantError(MaybeSent, context.Canceled, 0)
		if d := time.Since(began); d > sweepEvery {
			t.Errorf("it left after %v, want %v at most", d, sweepEvery)
		}
		b := t.Do(l, "GET b")
		srv.Expect("GET b")
		srv.Reply(bulk("1") + bulk("2"))
		b.Want(bulk("2"))
		c := t.Do(l, "GET c")
		srv.Expect("GET c")
		srv.Reply(bulk("3"))
		c.Want(bulk("3"))
	})
}

// The call to come back may hit whoever reads next: nobody takes it for the end.
func TestALateRecallHarmsNobody(t *testing.T) {
	solo(t, func(t *tester, l *Link, srv *server) {
		for _, command := range []string{"GET a", "GET b"} {
			r := t.Do(l, command)
			srv.Expect(command)
			_ = l.nc.SetReadDeadline(time.Unix(1, 0))
			time.Sleep(time.Millisecond)
			srv.Reply(bulk("1"))
			r.Want(bulk("1"))
		}
		time.Sleep(time.Second) // the reader has it
		_ = l.nc.SetReadDeadline(time.Unix(1, 0))
		time.Sleep(time.Second)
		r := t.Do(l, "GET c")
		srv.Expect("GET c")
		srv.Reply(bulk("1"))
		r.Want(bulk("1"))
	})
}

func TestALoneCallerMeetsTheEnd(t *testing.T) {
	ends := map[string]struct {
		end   func(t *tester, l *Link, srv *server)
		cause error
		at    time.Duration
	}{
		"the server closes":     {func(_ *tester, _ *Link, srv *server) { _ = srv.c.Close() }, io.EOF, 0},
		"the link is closed":    {func(_ *tester, l *Link, _ *server) { l.Close(nil) }, ErrClosed, 0},
		"the server is silent":  {func(*tester, *Link, *server) {}, nil, readTimeout},
		"garbage is the answer": {func(_ *tester, _ *Link, srv *server) { srv.Reply("?\r\n") }, nil, 0},
	}
	for name, test := range ends {
		t.Run(name, func(t *testing.T) {
			solo(t, func(t *tester, l *Link, srv *server) {
				r := t.Do(l, "GET a")
				srv.Expect("GET a")
				test.end(t, l, srv)
				r.WantError(MaybeSent, test.cause, 0)
				r.Took(test.at)
				t.gone(l)
			})
		})
	}
}

func TestADrainedLinkWithALoneCaller(t *testing.T) {
	solo(t, func(t *tester, l *Link, srv *server) {
		r := t.Do(l, "GET a")
		srv.Expect("GET a")
		l.Drain()
		srv.Reply(bulk("1"))
		r.Want(bulk("1"))
		t.gone(l)
		if !errors.Is(l.Err(), ErrDraining) {
			t.Errorf("the link ended by %v, want %v", l.Err(), ErrDraining)
		}
	})
	solo(t, func(t *tester, l *Link, _ *server) { // nobody reads it
		l.Drain()
		t.gone(l)
	})
}
