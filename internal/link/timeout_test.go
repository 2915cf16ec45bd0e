package link

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadTimeoutIsExact(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		time.Sleep(time.Second)
		r := t.Do(l, "GET a")
		srv.Expect("GET a")
		r.WantTimeout("read", readTimeout, time.Second+readTimeout)
		t.gone(l)
		srv.ExpectClose()
	})
}

func TestReadTimeoutCountsFromTheLastByte(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		r := t.Do(l, "GET a")
		frame := bulk("0123456789")
		for i := range len(frame) - 1 {
			time.Sleep(readTimeout - time.Millisecond)
			srv.Reply(frame[i : i+1])
		}
		at := time.Since(t.start)
		r.WantTimeout("read", readTimeout, at+readTimeout)
	})
}

func TestReadTimeoutIsThatOfTheOldestCommand(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		a := t.Do(l, "GET a")
		time.Sleep(2 * time.Second)
		b := t.Do(l, "GET b")
		srv.Reply("+a\r\n")
		a.Want("+a\r\n")
		time.Sleep(2 * time.Second)
		c := t.Do(l, "GET c")
		b.WantTimeout("read", readTimeout, 2*time.Second+readTimeout)
		c.WantTimeout("read", readTimeout, 2*time.Second+readTimeout)
	})
}

func TestReadTimeoutIsExactBesideContexts(t *testing.T) {
	bubble(t, func(t *tester) {
		t.cfg.Timeouts = NewTimeouts(7*time.Millisecond, 0)
		l, _ := t.link()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := t.Request(ctx, l, "GET a", Request{})
		r.WantTimeout("read", 7*time.Millisecond, 7*time.Millisecond)
	})
}

func TestAnIdleLinkHasNoTimeout(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		r := t.Do(l, "GET a")
		srv.Reply("+a\r\n")
		r.Want("+a\r\n")
		time.Sleep(time.Hour)
		if !l.Alive() {
			t.Errorf("got %v on an idle link", l.Err())
		}
		r = t.Do(l, "GET b")
		r.WantTimeout("read", readTimeout, time.Hour+readTimeout)
	})
}

// A server that is silent is told of long before the timeout, if there is one, and again
// and again; a command that blocks is no reason to.
func TestSilenceIsTold(t *testing.T) {
	for name, read := range map[string]time.Duration{"long before the timeout": time.Minute, "without one": 0} {
		for kind, ctx := range map[string]func(*tester) context.Context{
			"": func(*tester) context.Context { return context.Background() },
			"with a context that may end": func(t *tester) context.Context {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				t.Cleanup(cancel)
				return ctx
			},
		} {
			t.Run(name+kind, func(t *testing.T) {
				bubble(t, func(t *tester) {
					var mu sync.Mutex
					var told []time.Duration
					t.cfg.Timeouts = NewTimeouts(read, 0)
					t.cfg.SlowAfter = time.Second
					t.cfg.OnSlow = func(*Link) {
						mu.Lock()
						defer mu.Unlock()
						told = append(told, time.Since(t.start))
					}
					l, srv := t.link()
					b := t.Request(ctx(t), l, "BLPOP a 0", Request{Patience: -1})
					time.Sleep(10*time.Second + 300*time.Millisecond)
					srv.Reply("+x\r\n")
					b.Want("+x\r\n")
					r := t.Request(ctx(t), l, "GET a", Request{})
					time.Sleep(3*time.Second + 500*time.Millisecond)
					srv.Reply("+a\r\n")
					r.Want("+a\r\n")
					time.Sleep(time.Minute)
					mu.Lock()
					defer mu.Unlock()
					if len(told) != 3 {
						t.Fatalf("told at %v, want 3 times", told)
					}
					for i, at := range told {
						if late := at - time.Duration(11+i)*time.Second - 300*time.Millisecond; late < 0 || late > time.Duration(i+1)*sweepEvery {
							t.Errorf("told at %v, want each second from 11.3s on", told)
						}
					}
				})
			})
		}
	}
}

// A reply timeout counts from the end of the write, because the server can't answer
// what it hasn't got.
func TestReadTimeoutBeginsWhenTheWriteHasEnded(t *testing.T) {
	bubble(t, func(t *tester) {
		t.cfg.Timeouts = NewTimeouts(2*time.Second, 30*time.Second)
		l, srv := t.link()
		t.net.SetBuffer(addr, 1000)
		r := t.Do(l, "SET a "+strings.Repeat("x", 10_000))
		for range 5 {
			time.Sleep(time.Second)
			if _, err := srv.c.Read(make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		if r.Ended() {
			t.Fatalf("got %v while the command was being written", r.err)
		}
		go func() { _, _ = io.Copy(io.Discard, srv.c) }()
		r.WantTimeout("read", 2*time.Second, 7*time.Second)
	})
}

func TestPatienceIsWhatACommandWaitsLonger(t *testing.T) {
	for name, test := range map[string]struct {
		patience, want time.Duration
	}{
		"longer than the read timeout":  {time.Minute, time.Minute},
		"shorter than the read timeout": {time.Second, readTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				l, _ := t.link()
				r := t.Request(context.Background(), l, "BLPOP a 0", Request{Patience: test.patience})
				r.WantTimeout("read", test.want, test.want)
			})
		})
	}
}

func TestNegativePatienceWaitsForEver(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		r := t.Request(context.Background(), l, "BLPOP a 0", Request{Patience: -1})
		srv.Expect("BLPOP a 0")
		time.Sleep(10 * time.Hour)
		srv.Reply("+x\r\n")
		r.Want("+x\r\n")
		r.Took(10 * time.Hour)
	})
}

// The timer that watched a blocking command must not be late for the next one.
func TestReadTimeoutIsExactAfterABlockingCommand(t *testing.T) {
	for name, patience := range map[string]time.Duration{"long": time.Hour, "for ever": -1} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				l, srv := t.link()
				r := t.Request(context.Background(), l, "BLPOP a 0", Request{Patience: patience})
				time.Sleep(100 * time.Second)
				srv.Reply("+x\r\n")
				r.Want("+x\r\n")
				time.Sleep(time.Millisecond)
				r = t.Do(l, "GET a")
				r.WantTimeout("read", readTimeout, 100*time.Second+time.Millisecond+readTimeout)
			})
		})
	}
}

func TestWriteTimeoutIsExact(t *testing.T) {
	for name, test := range map[string]struct{ read, write time.Duration }{
		"shorter than the read timeout": {3 * time.Second, 2 * time.Second},
		"without a read timeout":        {0, 2 * time.Second},
		"much shorter":                  {time.Hour, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				t.cfg.Timeouts = NewTimeouts(test.read, test.write)
				l, _ := t.link()
				t.net.SetBuffer(addr, 1000)
				a := t.Request(context.Background(), l, "BLPOP a 0", Request{Patience: -1})
				at := 2*time.Second + 500*time.Millisecond // after the timer has looked
				time.Sleep(at)
				b := t.Do(l, "SET b "+strings.Repeat("x", 10_000))
				c := t.Do(l, "GET c")
				b.WantTimeout("write", test.write, at+test.write)
				a.WantTimeout("write", test.write, at+test.write)
				c.WantError(NotSent, nil, 0)
				t.gone(l)
			})
		})
	}
}

func TestACallerLeavesInItsOwnTimeThoughThePeerTakesNoBytes(t *testing.T) {
	for name, watch := range map[string]bool{"shared": false, "lent": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				t.cfg.WatchContexts = watch
				l, _ := t.link()
				var waiting []*running
				for range 5 { // more than the peer's buffers take
					ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
					defer cancel()
					waiting = append(waiting, t.Request(ctx, l, "SET a "+strings.Repeat("x", 100_000), Request{}))
				}
				for _, r := range waiting {
					r.WantError(MaybeSent, context.DeadlineExceeded, 0)
					if late := r.took - 100*time.Millisecond; late < 0 || late > sweepEvery || watch && late > 0 {
						t.Errorf("left %v after the deadline", late)
					}
				}
				// The link itself goes by its write timeout.
				time.Sleep(writeTimeout)
				t.gone(l)
				if te, ok := errors.AsType[*TimeoutError](l.Err()); !ok || te.Op != "write" {
					t.Errorf("got %v, want a write timeout", l.Err())
				}
			})
		})
	}
}

func TestNoTimeoutsAtAll(t *testing.T) {
	bubble(t, func(t *tester) {
		t.cfg.Timeouts = NewTimeouts(-1, 0)
		l, srv := t.link()
		r := t.Do(l, "GET a")
		time.Sleep(time.Hour)
		t.cfg.Timeouts.Relax(10 * time.Second) // none is not raised to some
		l.Recheck()
		time.Sleep(time.Hour)
		srv.Reply("+a\r\n")
		r.Want("+a\r\n")
	})
}

func TestRelaxRaisesAndNeverLowers(t *testing.T) {
	for name, test := range map[string]struct{ relaxed, want time.Duration }{
		"raised":      {10 * time.Second, 10 * time.Second},
		"not lowered": {time.Second, readTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				l, _ := t.link()
				t.cfg.Timeouts.Relax(test.relaxed)
				if !t.cfg.Timeouts.Relaxed() {
					t.Error("not relaxed")
				}
				r := t.Do(l, "GET a")
				r.WantTimeout("read", test.want, test.want)
			})
		})
	}
}

func TestRelaxSavesWhatIsInFlight(t *testing.T) {
	bubble(t, func(t *tester) {
		l, _ := t.link()
		r := t.Do(l, "GET a")
		time.Sleep(readTimeout - time.Nanosecond)
		t.cfg.Timeouts.Relax(10 * time.Second)
		l.Recheck()
		r.WantTimeout("read", 10*time.Second, 10*time.Second)
	})
}

func TestAFullTimeoutCountsFromTheEndOfRelaxing(t *testing.T) {
	bubble(t, func(t *tester) {
		l, _ := t.link()
		t.cfg.Timeouts.Relax(time.Minute)
		r := t.Do(l, "GET a")
		time.Sleep(20 * time.Second)
		t.cfg.Timeouts.Relax(0)
		l.Recheck()
		r.WantTimeout("read", readTimeout, 20*time.Second+readTimeout)
	})
}

func TestAFullWriteTimeoutCountsFromTheEndOfRelaxing(t *testing.T) {
	bubble(t, func(t *tester) {
		l, _ := t.link()
		t.net.SetBuffer(addr, 1000)
		t.cfg.Timeouts.Relax(time.Minute)
		r := t.Do(l, "SET a "+strings.Repeat("x", 10_000))
		time.Sleep(20 * time.Second)
		t.cfg.Timeouts.Relax(0)
		l.Recheck()
		r.WantTimeout("write", writeTimeout, 20*time.Second+writeTimeout)
	})
}

func TestWriteOnlyHasTheWriteTimeout(t *testing.T) {
	bubble(t, func(t *tester) {
		t.cfg.Subscriber = true
		l, srv := t.link()
		if err := l.WriteOnly(wire("SUBSCRIBE a")); err != nil {
			t.Fatal(err)
		}
		srv.Expect("SUBSCRIBE a")
		t.net.SetBuffer(addr, 100)
		err := l.WriteOnly(make([]byte, 1000))
		t.at(writeTimeout)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Delivery != MaybeSent || !e.Timeout() {
			t.Errorf("got %v, want a timeout with MaybeSent", err)
		}
		err = l.WriteOnly(wire("SUBSCRIBE b"))
		if e, ok := errors.AsType[*Error](err); !ok || e.Delivery != NotSent {
			t.Errorf("got %v on a dead link, want NotSent", err)
		}
		synctest.Wait()
		t.gone(l)
	})
}
