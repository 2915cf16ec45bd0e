package link

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/resp"
	"github.com/baton-go/redis/internal/simnet"
)

const (
	helloReply = "%5\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n8.2.1\r\n$5\r\nproto\r\n:3\r\n" +
		"$2\r\nid\r\n:77\r\n$7\r\nmodules\r\n*1\r\n%1\r\n+name\r\n+search\r\n"
	ok       = "+OK\r\n"
	unknown  = "-ERR unknown command 'HELLO', with args beginning with: '3' \r\n"
	noOptIn  = "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.\r\n"
	optIn    = "CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type internal-ip"
	identity = "redis/8.2.1"
)

// An opening is a handshake that somebody waits for.
type opening struct {
	t    *tester
	srv  *server
	done chan struct{} // closed when the fields below are set
	l    *Link
	err  error
	took time.Duration // since the bubble began
}

// Open begins a handshake, and returns when its first commands are out.
func (t *tester) Open(ctx context.Context, h Handshake) *opening {
	t.Helper()
	nc, srv := t.connect()
	o := &opening{t: t, srv: srv, done: make(chan struct{})}
	go func() {
		o.l, o.err = Open(ctx, nc, t.cfg, h)
		o.took = time.Since(t.start)
		close(o.done)
	}()
	synctest.Wait()
	return o
}

// Link waits for the link and starts it.
func (o *opening) Link() *Link {
	o.t.Helper()
	<-o.done
	if o.err != nil {
		o.t.Fatalf("got %v, want a link", o.err)
	}
	o.l.Start()
	return o.l
}

// WantError waits for the failure of the given step, and checks that the socket is
// closed and the password is not told.
func (o *opening) WantError(step string) *HandshakeError {
	o.t.Helper()
	<-o.done
	var he *HandshakeError
	if !errors.As(o.err, &he) || he.Step != step {
		o.t.Fatalf("got %v, want a *HandshakeError of %s", o.err, step)
	}
	o.wantClosed()
	return he
}

func (o *opening) wantClosed() {
	o.t.Helper()
	if strings.Contains(o.err.Error(), "secret") {
		o.t.Errorf("the password is in %q", o.err)
	}
	if _, err := io.Copy(io.Discard, o.srv.r); err != nil {
		o.t.Errorf("got %v, want a closed socket", err)
	}
}

var full = Handshake{
	Protocol: 3, Username: "me", Password: "secret", ClientName: "worker", DB: 5,
	LibName: "baton", LibVer: "1.0", ReadOnly: true, OptIn: "internal-ip",
}

func TestHandshakeTakesOneRoundTrip(t *testing.T) {
	bubble(t, func(t *tester) {
		writes := 0
		t.bend = func(nc net.Conn) net.Conn {
			return &bentConn{nc, func(nc net.Conn, p []byte) (int, error) { writes++; return nc.Write(p) }}
		}
		t.net.SetLatency(addr, 10*time.Millisecond)
		o := t.Open(t.Context(), full)
		o.srv.Expect("HELLO 3 AUTH me secret SETNAME worker", "SELECT 5", "READONLY",
			"CLIENT SETINFO LIB-NAME baton", "CLIENT SETINFO LIB-VER 1.0", optIn)
		o.srv.Reply(helloReply + ok + ok + ok + ok + ok)
		l := o.Link()
		if o.took != 40*time.Millisecond { // dial and handshake, one round trip each
			t.Errorf("it took %v, want 40ms", o.took)
		}
		if writes != 1 {
			t.Errorf("got %d writes, want 1", writes)
		}
		want := Info{Protocol: 3, Server: "redis", Version: "8.2.1", ConnID: 77, OptedIn: true}
		if d := cmp.Diff(want, l.Info()); d != "" {
			t.Errorf("info (-want +got):\n%s", d)
		}
		if got := l.Info().Identity(); got != identity {
			t.Errorf("got the identity %q, want %q", got, identity)
		}
		if l.Peer() != addr || l.Endpoint() != addr || l.LocalAddr() == nil {
			t.Errorf("got the peer %q of the endpoint %q, want %s", l.Peer(), l.Endpoint(), addr)
		}
	})
}

func TestHandshakeOfAnOldServer(t *testing.T) {
	for name, test := range map[string]struct {
		hello string
		user  string
		auth  string
	}{
		"unknown command":      {unknown, "me", "AUTH me secret"},
		"without a user":       {unknown, "", "AUTH secret"},
		"unsupported protocol": {"-NOPROTO unsupported protocol version\r\n", "me", "AUTH me secret"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				h := full
				h.Username, h.LibName, h.LibVer, h.ReadOnly = test.user, "", "", false
				o := t.Open(t.Context(), h)
				user := test.user
				if user == "" {
					user = "default"
				}
				o.srv.Expect("HELLO 3 AUTH "+user+" secret SETNAME worker", "SELECT 5", optIn)
				o.srv.Reply(test.hello + "-NOAUTH Authentication required.\r\n" + noOptIn)
				o.srv.Expect(test.auth, "CLIENT SETNAME worker", "SELECT 5")
				o.srv.Reply(ok + ok + ok)
				l := o.Link()
				if d := cmp.Diff(Info{Protocol: 2}, l.Info()); d != "" {
					t.Errorf("info (-want +got):\n%s", d)
				}
				r := t.Do(l, "GET a")
				o.srv.Expect("GET a")
				o.srv.Reply("$-1\r\n")
				r.Want("$-1\r\n")
			})
		})
	}
}

func TestHandshakeInRESP2AsksForNothingMore(t *testing.T) {
	bubble(t, func(t *tester) {
		h := full
		h.Protocol = 2
		o := t.Open(t.Context(), h)
		o.srv.Expect("AUTH me secret", "CLIENT SETNAME worker", "SELECT 5", "READONLY",
			"CLIENT SETINFO LIB-NAME baton", "CLIENT SETINFO LIB-VER 1.0")
		o.srv.Reply(ok + ok + ok + ok + "-ERR unknown subcommand\r\n" + "-ERR unknown subcommand\r\n")
		if got := o.Link().Info(); got.Protocol != 2 || got.OptedIn || got.OptInRefused != nil {
			t.Errorf("got %+v", got)
		}
	})
}

func TestRefusedOptInCostsNothing(t *testing.T) {
	bubble(t, func(t *tester) {
		o := t.Open(t.Context(), Handshake{Protocol: 3, OptIn: "internal-ip"})
		o.srv.Expect("HELLO 3", optIn)
		o.srv.Reply(helloReply + noOptIn)
		l := o.Link()
		want := resp.Error(strings.TrimSuffix(noOptIn[1:], "\r\n"))
		if got := l.Info(); got.OptedIn || !errors.Is(got.OptInRefused, want) {
			t.Errorf("got %+v, want the refusal %q", got, want)
		}
		r := t.Do(l, "GET a")
		o.srv.Reply("+a\r\n")
		r.Want("+a\r\n")
	})
}

func TestRequiredOptInFailsTheLink(t *testing.T) {
	h := Handshake{Protocol: 3, OptIn: "internal-ip", OptInRequired: true}
	t.Run("refused", func(t *testing.T) {
		bubble(t, func(t *tester) {
			o := t.Open(t.Context(), h)
			o.srv.Reply(helloReply + noOptIn)
			if he := o.WantError("CLIENT MAINT_NOTIFICATIONS"); !he.Permanent() {
				t.Error("trying again is in vain, but the error is not permanent")
			}
		})
	})
	t.Run("RESP2", func(t *testing.T) {
		bubble(t, func(t *tester) {
			o := t.Open(t.Context(), h)
			o.srv.Reply(unknown + noOptIn)
			he := o.WantError("HELLO")
			if !errors.Is(he, ErrNeedsRESP3) || !he.Permanent() {
				t.Errorf("got %v, permanent %v, want ErrNeedsRESP3, permanent", he, he.Permanent())
			}
		})
	})
}

func TestOptInIsNotAskedOfAServerThatHasRefused(t *testing.T) {
	h := Handshake{Protocol: 3, OptIn: "internal-ip", RefusedBy: identity}
	t.Run("the same", func(t *testing.T) {
		bubble(t, func(t *tester) {
			o := t.Open(t.Context(), h)
			o.srv.Expect("HELLO 3")
			o.srv.Reply(helloReply)
			if got := o.Link().Info(); got.OptedIn || got.OptInRefused != nil {
				t.Errorf("got %+v", got)
			}
		})
	})
	t.Run("another version", func(t *testing.T) {
		bubble(t, func(t *tester) {
			h := h
			h.RefusedBy = "redis/7.0.15"
			o := t.Open(t.Context(), h)
			o.srv.Expect("HELLO 3")
			o.srv.Reply(helloReply)
			o.srv.Expect(optIn)
			o.srv.Reply(ok)
			if got := o.Link().Info(); !got.OptedIn {
				t.Errorf("got %+v, want it to be opted in", got)
			}
		})
	})
}

// A server may announce a maintenance before the handshake has ended, and a reply
// may come right behind it.
func TestPushesOfTheHandshakeAreDeliveredInOrder(t *testing.T) {
	bubble(t, func(t *tester) {
		var got []string
		t.cfg.OnPush = func(_ *Link, frame []byte) { got = append(got, string(frame)) }
		o := t.Open(t.Context(), Handshake{Protocol: 3, DB: 1, OptIn: "internal-ip"})
		p := func(name string) string { return pushFrame(name, "1") }
		attribute := "|1\r\n+ttl\r\n:1\r\n"
		o.srv.Reply(p("A") + helloReply + p("B") + attribute + p("C") + ok + p("D") + ok + p("E") + p("F")[:5])
		<-o.done
		if got != nil {
			t.Errorf("got %q before Start", got)
		}
		l := o.Link()
		synctest.Wait()
		o.srv.Reply(p("F")[5:])
		r := t.Do(l, "GET a")
		o.srv.Reply("+a\r\n")
		r.Want("+a\r\n")
		want := []string{p("A"), p("B"), attribute + p("C"), p("D"), p("E"), p("F")}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("pushes (-want +got):\n%s", d)
		}
	})
}

func TestPushesOfTheHandshakeMayBeUnwanted(t *testing.T) {
	bubble(t, func(t *tester) {
		o := t.Open(t.Context(), Handshake{Protocol: 3})
		o.srv.Reply(pushFrame("A") + helloReply + pushFrame("B"))
		r := t.Do(o.Link(), "GET a")
		o.srv.Reply(pushFrame("C") + "+a\r\n")
		r.Want("+a\r\n")
	})
}

func TestHandshakeSplitAtEveryByte(t *testing.T) {
	all := pushFrame("A") + helloReply + ok + pushFrame("B")
	for i := 1; i < len(all); i++ {
		bubble(t, func(t *tester) {
			o := t.Open(t.Context(), Handshake{Protocol: 3, DB: 1})
			o.srv.Reply(all[:i])
			synctest.Wait()
			o.srv.Reply(all[i:])
			if got := o.Link().Info(); got.Protocol != 3 || got.ConnID != 77 {
				t.Errorf("split at %d: got %+v", i, got)
			}
		})
	}
}

func TestHandshakeRefused(t *testing.T) {
	for name, test := range map[string]struct {
		replies   string
		step      string
		permanent bool
	}{
		"wrong password":      {"-WRONGPASS invalid username-password pair or user is disabled.\r\n-NOAUTH x\r\n", "HELLO", true},
		"no authentication":   {"-NOAUTH HELLO must be called with the client already authenticated\r\n-NOAUTH x\r\n", "HELLO", true},
		"no password set":     {"-ERR AUTH <password> called without any password configured\r\n" + ok, "HELLO", true},
		"no permission":       {"-NOPERM this user has no permissions to run the 'hello' command\r\n-NOPERM x\r\n", "HELLO", true},
		"loading":             {"-LOADING Redis is loading the dataset in memory\r\n-LOADING x\r\n", "HELLO", false},
		"too many clients":    {"-ERR max number of clients reached\r\n", "HELLO", false},
		"no such database":    {helloReply + "-ERR DB index is out of range\r\n", "SELECT", true},
		"loading later":       {helloReply + "-LOADING Redis is loading the dataset in memory\r\n", "SELECT", false},
		"another protocol":    {"%1\r\n+proto\r\n:2\r\n" + ok, "HELLO", false},
		"strange HELLO reply": {ok + ok, "HELLO", false},
		"strange HELLO key":   {"%1\r\n*1\r\n:1\r\n:3\r\n" + ok, "HELLO", false},
		"strange HELLO value": {"%2\r\n+server\r\n+redis\r\n+proto\r\n+three\r\n" + ok, "HELLO", false},
		"strange HELLO id":    {"%2\r\n+id\r\n*0\r\n+proto\r\n:3\r\n" + ok, "HELLO", false},
		"strange HELLO name":  {"%2\r\n+server\r\n*0\r\n+proto\r\n:3\r\n" + ok, "HELLO", false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				o := t.Open(t.Context(), Handshake{Protocol: 3, Password: "secret", DB: 99})
				o.srv.Reply(test.replies)
				_ = o.srv.c.CloseWrite() // some servers close after their refusal
				if he := o.WantError(test.step); he.Permanent() != test.permanent {
					t.Errorf("%v: got permanent %v, want %v", he, he.Permanent(), test.permanent)
				}
			})
		})
	}
}

func TestHandshakeWithWhatIsNoRedis(t *testing.T) {
	for name, reply := range map[string]string{
		"HTTP": "HTTP/1.1 400 Bad Request\r\n\r\n",
		"TLS":  "\x15\x03\x01\x00\x02\x02\x0a",
		"huge": "$99999999999\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				o := t.Open(t.Context(), full)
				o.srv.Reply(reply)
				he := o.WantError("HELLO")
				if !errors.Is(he, resp.ErrProtocol) || !he.Permanent() {
					t.Errorf("got %v, permanent %v, want a protocol error, permanent", he, he.Permanent())
				}
			})
		})
	}
}

func TestHandshakeWithAPeerThatCloses(t *testing.T) {
	for _, how := range []simnet.How{simnet.FIN, simnet.RST} {
		t.Run(how.String(), func(t *testing.T) {
			bubble(t, func(t *tester) {
				o := t.Open(t.Context(), full)
				o.srv.Reply(helloReply[:20])
				synctest.Wait()
				o.srv.c.Cut(how)
				<-o.done
				he, isHandshake := errors.AsType[*HandshakeError](o.err)
				if !isHandshake || he.Step != "HELLO" || he.Permanent() {
					t.Errorf("got %v, want a failure of HELLO that is not permanent", o.err)
				}
			})
		})
	}
}

func TestHandshakeEndsWithItsContext(t *testing.T) {
	cause := errors.New("time is up")
	for name, begin := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Second, cause)
		},
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(cause) })
			return ctx, func() { cancel(nil) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, said := range []string{"", helloReply[:30], helloReply} {
				bubble(t, func(t *tester) {
					ctx, cancel := begin(t.Context())
					defer cancel()
					o := t.Open(ctx, full)
					o.srv.Reply(said)
					<-o.done
					if !errors.Is(o.err, cause) || o.took != time.Second {
						t.Errorf("got %v after %v, want %v after 1s", o.err, o.took, cause)
					}
					o.wantClosed()
				})
			}
		})
	}
}

func TestHandshakeThatEndsInTimeHasNoDeadlineLeft(t *testing.T) {
	bubble(t, func(t *tester) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		o := t.Open(ctx, Handshake{Protocol: 3})
		o.srv.Reply(helloReply)
		l := o.Link()
		time.Sleep(time.Hour)
		r := t.Do(l, "GET a")
		o.srv.Reply("+a\r\n")
		r.Want("+a\r\n")
	})
}

func TestTransientErrors(t *testing.T) {
	var got []string
	for _, e := range []resp.Error{
		"LOADING x", "BUSY x", "MASTERDOWN x", "CLUSTERDOWN x", "TRYAGAIN x", "ERR max number of clients reached",
		"ERR x", "WRONGPASS x", "READONLY x",
	} {
		if transient(e) {
			got = append(got, string(e))
		}
	}
	if len(got) != 6 || slices.Contains(got, "ERR x") {
		t.Errorf("got %q", got)
	}
}

func TestTrackingIsAskedForInTheSameRoundTrip(t *testing.T) {
	const tracking = "CLIENT TRACKING ON"
	for name, test := range map[string]struct {
		replies string
		tracked bool
		refused error
	}{
		"granted": {helloReply + ok + ok, true, nil},
		"refused": {helloReply + "-NOPERM no\r\n" + ok, false, resp.Error("NOPERM no")},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				o := t.Open(t.Context(), Handshake{Protocol: 3, Tracking: true, OptIn: "internal-ip"})
				o.srv.Reply(test.replies)
				got := o.Link().Info()
				if got.Tracking != test.tracked || got.TrackingRefused != test.refused || !got.OptedIn { //nolint:errorlint // as it came
					t.Errorf("got %+v", got)
				}
			})
		})
	}
	bubble(t, func(t *tester) { // RESP2 has no pushes
		o := t.Open(t.Context(), Handshake{Protocol: 2, Tracking: true, DB: 1})
		o.srv.Reply(ok)
		if got := o.Link().Info(); got.Tracking || got.TrackingRefused != nil {
			t.Errorf("got %+v after RESP2, want %s not to be asked for", got, tracking)
		}
	})
}

func TestALinkTellsOnceThatItIsLeft(t *testing.T) {
	bubble(t, func(t *tester) {
		var left []bool
		t.cfg.OnLeave = func(l *Link) { left = append(left, l.Left().Load()) }
		o := t.Open(t.Context(), Handshake{Protocol: 3})
		o.srv.Reply(helloReply)
		l := o.Link()
		r := t.Do(l, "GET a")
		if l.Left().Load() || left != nil {
			t.Error("a link that serves was left")
		}
		l.Drain()
		if want := []bool{true}; !slices.Equal(left, want) {
			t.Errorf("got %v while the link drains, want %v", left, want)
		}
		o.srv.Reply("+a\r\n")
		r.Want("+a\r\n")
		<-l.Gone()
		if len(left) != 1 {
			t.Errorf("the link was left %d times", len(left))
		}
	})
}

func TestALinkThatKeepsReadingSeesPushesAtOnce(t *testing.T) {
	bubble(t, func(t *tester) {
		seen := 0
		t.cfg.KeepReading = true
		t.cfg.OnPush = func(*Link, []byte) { seen++ }
		o := t.Open(t.Context(), Handshake{Protocol: 3})
		o.srv.Reply(helloReply)
		l := o.Link()
		for i := range 3 * soloAfter { // more than enough for callers to read by themselves
			r := t.Do(l, "GET a")
			o.srv.Reply("+a\r\n")
			r.Want("+a\r\n")
			o.srv.Reply(pushFrame("invalidate"))
			synctest.Wait()
			if seen != i+1 {
				t.Fatalf("got %d pushes, want %d", seen, i+1)
			}
		}
	})
}
