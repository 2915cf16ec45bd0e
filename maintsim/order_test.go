package maintsim_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// replies reads n replies and returns the pushes that came between them.
func (c *client) replies(n int, check func(i int, frame string)) (pushes []string) {
	c.tb.Helper()
	for i := 0; i < n; {
		f := c.frame()
		if f[0] == '>' {
			pushes = append(pushes, f)
			continue
		}
		check(i, f)
		i++
	}
	return pushes
}

func TestRepliesKeepTheOrderOfCommands(t *testing.T) {
	cfg := quick()
	cfg.Stall, cfg.Lead = 5*time.Millisecond, -1
	sim := maintsim.Start(t, cfg)
	c := optIn(t, sim.Addr(), "none")
	id := c.do("CLIENT", "ID")

	const n = 30_000
	var want []string
	var b strings.Builder
	incr := 0
	for i := range n {
		switch {
		case i%7 == 0:
			b.WriteString(encode("CLIENT", "ID"))
			want = append(want, id)
		case i%101 == 0:
			b.WriteString(encode("CLIENT", "MAINT_NOTIFICATIONS", "ON"))
			want = append(want, "+OK\r\n")
		case i%211 == 0:
			b.WriteString("ECHO inline\r\n")
			want = append(want, "$6\r\ninline\r\n")
		case i%503 == 0:
			b.WriteString(encode("BLPOP", "empty", "0.001"))
			want = append(want, "_\r\n")
		case i%13 == 0:
			b.WriteString(encode("SELECT", "0"))
			want = append(want, "+OK\r\n")
		default:
			incr++
			b.WriteString(encode("INCR", "n"))
			want = append(want, ":"+strconv.Itoa(incr)+"\r\n")
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5 {
			if err := sim.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}()
	go func() { _, _ = c.nc.Write([]byte(b.String())) }()
	pushes := c.replies(n, func(i int, got string) {
		t.Helper()
		if got != want[i] {
			t.Fatalf("reply %d: got %q, want %q", i, got, want[i])
		}
	})
	<-done
	for len(pushes) < 10 {
		pushes = append(pushes, c.frame())
	}
	for i, p := range pushes {
		if !strings.Contains(p, "\r\n:"+strconv.Itoa(i)+"\r\n") {
			t.Errorf("push %d: got %q", i, p)
		}
	}
	if v, err := sim.Backend().Do("GET", "n"); v != strconv.Itoa(incr) || err != nil {
		t.Errorf("GET n: got %v, %v, want %d", v, err, incr)
	}
}

func TestBigValuesPassThrough(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := dial(t, sim.Addr())
	big := strings.Repeat("x", 5<<20)
	c.send("SET", "big", big)
	c.want("+OK\r\n")
	for range 3 {
		if got := c.do("GET", "big"); got != bulk(big) {
			t.Fatalf("GET: got %d bytes", len(got))
		}
	}
	// A client that doesn't read is waited for, and gets everything.
	for range 10 {
		c.send("GET", "big")
	}
	for range 10 {
		if got := c.frame(); len(got) != len(bulk(big)) {
			t.Fatalf("GET: got %d bytes", len(got))
		}
	}
}

func TestPubSubPassesThrough(t *testing.T) {
	sim := maintsim.Start(t, quick())
	for _, proto := range []string{"2", "3"} {
		t.Run("RESP"+proto, func(t *testing.T) {
			c, kind := dial(t, sim.Addr()), "*"
			if proto == "3" {
				c.hello3()
				c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON")
				c.want("+OK\r\n")
				kind = ">"
			}
			frame := func(elems ...string) string {
				return kind + strconv.Itoa(len(elems)) + "\r\n" + strings.Join(elems, "")
			}
			c.send("SUBSCRIBE", "a", "b")
			c.send("PSUBSCRIBE", "c*")
			c.want(frame(bulk("subscribe"), bulk("a"), ":1\r\n"))
			c.want(frame(bulk("subscribe"), bulk("b"), ":2\r\n"))
			c.want(frame(bulk("psubscribe"), bulk("c*"), ":3\r\n"))
			for _, m := range [][2]string{{"a", "1"}, {"b", "2"}} {
				if n, err := sim.Backend().Do("PUBLISH", m[0], m[1]); n != int64(1) || err != nil {
					t.Fatalf("PUBLISH: got %v, %v", n, err)
				}
				c.want(frame(bulk("message"), bulk(m[0]), bulk(m[1])))
			}
			if _, err := sim.Backend().Do("PUBLISH", "cc", "3"); err != nil {
				t.Fatal(err)
			}
			c.want(frame(bulk("pmessage"), bulk("c*"), bulk("cc"), bulk("3")))
			if proto == "3" {
				if got := c.do("PING"); got != "+PONG\r\n" {
					t.Errorf("PING: got %q", got)
				}
				if err := sim.Migrate(t.Context(), maintsim.WithLead(0), maintsim.WithStall(0)); err != nil {
					t.Fatal(err)
				}
				c.want(push("MIGRATING", "0", ":0\r\n", shard1))
				c.want(push("MIGRATED", "1", shard1))
			} else if got := c.do("PING"); got != "*2\r\n$4\r\npong\r\n$0\r\n\r\n" {
				t.Errorf("PING: got %q", got)
			}
			c.send("UNSUBSCRIBE")
			c.want(frame(bulk("unsubscribe"), bulk("a"), ":2\r\n"))
			c.want(frame(bulk("unsubscribe"), bulk("b"), ":1\r\n"))
			c.send("PUNSUBSCRIBE", "c*")
			c.want(frame(bulk("punsubscribe"), bulk("c*"), ":0\r\n"))
			c.send("UNSUBSCRIBE")
			c.send("CLIENT", "GETNAME")
			if got := c.frame(); !strings.HasPrefix(got, kind+"3\r\n$11\r\nunsubscribe\r\n") {
				t.Errorf("UNSUBSCRIBE: got %q", got)
			}
			if got := c.frame(); got != "_\r\n" && got != "$-1\r\n" {
				t.Errorf("CLIENT GETNAME: got %q", got)
			}
		})
	}
}

func TestBlockingCommands(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := dial(t, sim.Addr())
	c.hello3()
	c.send("BLPOP", "list", "0")
	c.send("PING") // behind it
	other := dial(t, sim.Addr())
	if got := other.do("RPUSH", "list", "x"); got != ":1\r\n" {
		t.Errorf("RPUSH: got %q", got)
	}
	c.want("*2\r\n$4\r\nlist\r\n$1\r\nx\r\n")
	c.want("+PONG\r\n")
	if got := c.do("BLPOP", "list", "0.01"); got != "_\r\n" {
		t.Errorf("BLPOP that timed out: got %q", got)
	}

	// Who went away while waiting takes nothing.
	c.send("BLPOP", "list", "0")
	_ = c.nc.Close()
	waitFor(t, func() bool { return sim.Sessions() == 1 })
	if got := other.do("RPUSH", "list", "y"); got != ":1\r\n" {
		t.Errorf("RPUSH: got %q, want the only element", got)
	}
	if got := other.do("LLEN", "list"); got != ":1\r\n" {
		t.Errorf("LLEN: got %q, want 1", got)
	}
}

// waitFor waits until f is true. It is for what another connection can only see
// by asking.
func waitFor(t *testing.T, f func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); !f(); <-tick.C {
		if time.Since(start) > patience {
			t.Fatal("it did not happen")
		}
	}
}

func TestClientUnblock(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c, other := dial(t, sim.Addr()), dial(t, sim.Addr())
	c.hello3()
	if got := c.do("SELECT", "3"); got != "+OK\r\n" {
		t.Fatalf("SELECT: got %q", got)
	}
	id := strings.TrimSpace(c.do("CLIENT", "ID")[1:])
	blocked := func() bool { return strings.Contains(other.do("CLIENT", "LIST"), " flags=b ") }
	for _, tc := range []struct{ how, want string }{
		{"", "_\r\n"},
		{"TIMEOUT", "_\r\n"},
		{"ERROR", "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n"},
	} {
		c.send("BLPOP", "q", "0")
		c.send("RPUSH", "q", "a")
		c.send("LPOP", "q")
		waitFor(t, blocked)
		args := []string{"CLIENT", "UNBLOCK", id}
		if tc.how != "" {
			args = append(args, tc.how)
		}
		if got := other.do(args...); got != ":1\r\n" {
			t.Errorf("UNBLOCK %s: got %q, want 1", tc.how, got)
		}
		c.want(tc.want)
		c.want(":1\r\n") // in database 3, in RESP3, as before
		c.want("$1\r\na\r\n")
	}
	if got := other.do("CLIENT", "UNBLOCK", id); got != ":0\r\n" {
		t.Errorf("UNBLOCK of one that isn't blocked: got %q", got)
	}
	if got := other.do("CLIENT", "UNBLOCK", "999"); got != ":0\r\n" {
		t.Errorf("UNBLOCK of nobody: got %q", got)
	}
}

// An element is either delivered or still there, whichever of push and unblock
// wins.
func TestUnblockLosesNoElement(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c, killer, pusher := dial(t, sim.Addr()), dial(t, sim.Addr()), dial(t, sim.Addr())
	c.hello3()
	id := strings.TrimSpace(c.do("CLIENT", "ID")[1:])
	popped := 0
	const rounds = 200
	for i := range rounds {
		c.send("BLPOP", "q", "0")
		pusher.send("RPUSH", "q", strconv.Itoa(i))
		killer.send("CLIENT", "UNBLOCK", id)
		unblocked := killer.frame()
		pusher.frame()
		if got := c.frame(); got != "_\r\n" {
			popped++
		} else if unblocked != ":1\r\n" {
			t.Fatalf("round %d: null, but UNBLOCK said %q", i, unblocked)
		}
	}
	left, err := sim.Backend().Do("LLEN", "q")
	if err != nil {
		t.Fatal(err)
	}
	if popped+int(left.(int64)) != rounds {
		t.Errorf("%d popped and %d left, want %d together", popped, left, rounds)
	}
}
