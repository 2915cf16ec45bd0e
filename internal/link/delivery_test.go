package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/simnet"
)

var errBroken = errors.New("broken by the test")

// bendWrites makes the links' sockets hold their first write until open is closed;
// the second write carries what was queued meanwhile, and is done by second.
func (t *tester) bendWrites(second func(nc net.Conn, p []byte) (int, error)) (open chan struct{}) {
	open = make(chan struct{})
	t.bend = func(nc net.Conn) net.Conn {
		writes := 0
		return &bentConn{nc, func(nc net.Conn, p []byte) (int, error) {
			writes++
			if writes == 1 {
				<-open
				return nc.Write(p)
			}
			return second(nc, p)
		}}
	}
	return open
}

func TestWrittenAndUnansweredIsMaybeSent(t *testing.T) {
	for _, how := range []simnet.How{simnet.FIN, simnet.RST} {
		t.Run(how.String(), func(t *testing.T) {
			bubble(t, func(t *tester) {
				l, srv := t.link()
				a, b := t.Do(l, "GET a"), t.Do(l, "GET b")
				srv.Reply("+a\r\n")
				a.Want("+a\r\n")
				srv.c.Cut(how)
				b.WantError(MaybeSent, nil, 0)
				t.gone(l)
				t.Do(l, "GET c").WantError(NotSent, nil, 0)
			})
		})
	}
}

func TestQueuedOnlyIsNotSent(t *testing.T) {
	bubble(t, func(t *tester) {
		open := t.bendWrites(func(net.Conn, []byte) (int, error) { return 0, errBroken })
		l, _ := t.link()
		a := t.Do(l, "GET a")
		b := t.Do(l, "GET b")
		c := t.Request(t.Context(), l, "pipeline", Request{Replies: 2})
		l.Close(errBroken)
		close(open)
		a.WantError(NotSent, errBroken, 0) // its write came after the socket was closed
		b.WantError(NotSent, errBroken, 0)
		c.WantError(NotSent, errBroken, 0)
		t.gone(l)
	})
}

func TestWriteOfNothingIsNotSent(t *testing.T) {
	bubble(t, func(t *tester) {
		t.bend = func(nc net.Conn) net.Conn {
			return &bentConn{nc, func(net.Conn, []byte) (int, error) { return 0, errBroken }}
		}
		l, srv := t.link()
		t.Do(l, "GET a").WantError(NotSent, errBroken, 0)
		t.gone(l)
		srv.ExpectClose()
	})
}

// However many bytes of a batch went out: what begins before the cut may have been
// executed, what begins behind it was not sent.
func TestPartlyWrittenBatchIsSplitExactly(t *testing.T) {
	commands := []string{"GET b", "SET c 1", "GET d"}
	batch := 0
	for _, c := range commands {
		batch += len(wire(c))
	}
	for n := range batch {
		bubble(t, func(t *tester) {
			open := t.bendWrites(func(nc net.Conn, p []byte) (int, error) {
				if len(p) != batch {
					t.Errorf("the batch has %d bytes, want %d", len(p), batch)
				}
				n, _ := nc.Write(p[:n])
				return n, errBroken
			})
			l, _ := t.link()
			first := t.Do(l, "GET x")
			var rest []*running
			for _, c := range commands {
				rest = append(rest, t.Do(l, c))
			}
			close(open)
			first.WantError(MaybeSent, errBroken, 0)
			start := 0
			for i, r := range rest {
				want := NotSent
				if start < n {
					want = MaybeSent
				}
				r.name = fmt.Sprintf("%s with %d bytes written", commands[i], n)
				r.WantError(want, errBroken, 0)
				start += len(wire(commands[i]))
			}
			t.gone(l)
		})
	}
}

// The same where the server has answered some of the batch before the rest failed.
func TestPartlyWrittenAndPartlyAnsweredBatch(t *testing.T) {
	commands := []string{"GET b", "GET c", "GET d", "GET e"}
	size := len(wire(commands[0]))
	for written := range len(commands)*size - 1 {
		for answered := range written/size + 1 {
			bubble(t, func(t *tester) {
				var srv *server
				open := t.bendWrites(func(nc net.Conn, p []byte) (int, error) {
					n, _ := nc.Write(p[:written])
					srv.Reply(strings.Repeat("+x\r\n", 1+answered))
					time.Sleep(time.Second) // until the replies have been taken
					return n, errBroken
				})
				l, s := t.link()
				srv = s
				first := t.Do(l, "GET a")
				var rest []*running
				for _, c := range commands {
					rest = append(rest, t.Do(l, c))
				}
				close(open)
				first.Want("+x\r\n")
				for i, r := range rest {
					r.name = fmt.Sprintf("%s with %d bytes written, %d answered", commands[i], written, answered)
					switch {
					case i < answered:
						r.Want("+x\r\n")
					case i*size < written:
						r.WantError(MaybeSent, errBroken, 0)
					default:
						r.WantError(NotSent, errBroken, 0)
					}
				}
				t.gone(l)
			})
		}
	}
}

// A server that hangs up in the middle of a long write tells how far it got.
func TestPeerThatClosesDuringAWrite(t *testing.T) {
	bubble(t, func(t *tester) {
		t.net.SetBuffer(addr, 5000)
		l, srv := t.link()
		a := t.Do(l, "SET a "+strings.Repeat("x", 10_000))
		b := t.Do(l, "GET b")
		srv.c.Cut(simnet.RST)
		a.WantError(MaybeSent, nil, 0)
		b.WantError(NotSent, nil, 0)
		t.gone(l)
	})
}

func TestHalfAnsweredPipelineTellsHowManyReplies(t *testing.T) {
	for answered := range 5 {
		bubble(t, func(t *tester) {
			l, srv := t.link()
			p := t.Request(t.Context(), l, "pipeline", Request{Replies: 5})
			r := t.Do(l, "GET a")
			srv.Reply(strings.Repeat("+x\r\n", answered) + "+half")
			synctest.Wait()
			_ = srv.c.Close()
			p.WantError(MaybeSent, nil, answered)
			r.WantError(MaybeSent, nil, 0)
			t.gone(l)
		})
	}
}

func TestCloseGivesEveryCallerItsOutcome(t *testing.T) {
	for name, end := range map[string]func(l *Link, srv *server){
		"closed":             func(l *Link, _ *server) { l.Close(nil) },
		"closed by the peer": func(_ *Link, srv *server) { _ = srv.c.Close() },
		"stuck":              func(*Link, *server) { time.Sleep(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				closed := 0
				t.cfg.OnClose = func(l *Link, err error) {
					closed++
					if err == nil || l.InFlight() != 0 {
						t.Errorf("OnClose got %v with %d in flight", err, l.InFlight())
					}
				}
				l, srv := t.link()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var all []*running
				for range 20 {
					all = append(all, t.Do(l, "GET a"), t.Request(ctx, l, "GET b", Request{}))
				}
				srv.Reply("+a\r\n")
				all[0].Want("+a\r\n")
				end(l, srv)
				for _, r := range all[1:] {
					r.WantError(MaybeSent, nil, 0)
				}
				t.gone(l)
				l.Close(nil) // again does no harm
				l.Drain()
				if closed != 1 {
					t.Errorf("OnClose was called %d times, want 1", closed)
				}
				select {
				case <-l.Down():
				default:
					t.Error("Down is open on a dead link")
				}
			})
		})
	}
}

func TestErrorsInWords(t *testing.T) {
	for _, test := range []struct {
		err  *Error
		want string
	}{
		{
			&Error{Command: "GET", Endpoint: addr, Delivery: NotSent, Err: ErrDraining},
			"redis: GET: 10.0.0.1:6379: link is draining (nothing was sent, so it is safe to repeat)",
		},
		{
			&Error{Delivery: MaybeSent, Attempts: 3, Err: &TimeoutError{Op: "read", After: 3 * time.Second}},
			"redis: i/o timeout: the server sent no bytes for 3s (sent without an answer: it may have been executed, check before you repeat it; 3 attempts)",
		},
		{
			&Error{Delivery: Rejected, Err: &TimeoutError{Op: "write", After: 2 * time.Second}},
			"redis: i/o timeout: the server took no bytes for 2s (the server refused it)",
		},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
		if _, ok := errors.AsType[net.Error](error(test.err)); !ok {
			t.Errorf("%v is no net.Error", test.err)
		}
	}
	if (&Error{Err: errBroken}).Timeout() {
		t.Error("an error without a timeout says it is one")
	}
}
