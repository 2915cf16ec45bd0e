package maintsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

func TestFramesSplitAtEveryByte(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := optIn(t, sim.Addr(), "none")
	frame := push("MOVING", "0", ":15\r\n", bulk("127.0.0.2:6379"))
	for at := 1; at < len(frame); at++ {
		sim.SetWrites(maintsim.Writes{At: []int{at}, Pause: 2 * time.Millisecond})
		sim.Push(frame)
		var got [1024]byte
		n, err := c.nc.Read(got[:])
		if err != nil {
			t.Fatal(err)
		}
		// The first piece comes alone, unless the reader was late.
		if n != at && n != len(frame) {
			t.Errorf("split at %d: got %d bytes first", at, n)
		}
		rest := make([]byte, len(frame)-n)
		for r := rest; len(r) > 0; {
			m, err := c.nc.Read(r)
			if err != nil {
				t.Fatal(err)
			}
			r = r[m:]
		}
		if s := string(got[:n]) + string(rest); s != frame {
			t.Fatalf("split at %d: got %q", at, s)
		}
	}
}

func TestTornStreamKeepsItsOrder(t *testing.T) {
	cfg := quick()
	cfg.Stall, cfg.Lead, cfg.Writes = -1, -1, maintsim.Writes{MaxPiece: 7, Pause: 50 * time.Microsecond}
	sim := maintsim.Start(t, cfg)
	c := optIn(t, sim.Addr(), "none")
	const n = 300
	c.raw(strings.Repeat(encode("ECHO", "hello"), n))
	wait := background(t, func() error { return sim.Migrate(t.Context()) })
	pushes := c.replies(n, func(i int, f string) {
		if f != bulk("hello") {
			t.Fatalf("reply %d: got %q", i, f)
		}
	})
	wait()
	for len(pushes) < 2 {
		pushes = append(pushes, c.frame())
	}
	if want := push("MIGRATED", "1", shard1); pushes[1] != want {
		t.Errorf("got %q, want %q", pushes[1], want)
	}
}

func TestPushesAndRepliesComeInOneWrite(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := optIn(t, sim.Addr(), "none")
	sim.SetWrites(maintsim.Writes{Gather: 100 * time.Millisecond})
	c.send("PING")
	waitFor(t, func() bool { return sim.Stats().Commands > 0 })
	frame := push("MOVING", "0", ":15\r\n", "_\r\n")
	sim.Push(frame)
	want := "+PONG\r\n" + frame
	var got [1024]byte
	n, err := c.nc.Read(got[:])
	if s := string(got[:n]); err != nil || len(s) != len(want) || !strings.Contains(s, frame) {
		t.Errorf("got %q, %v, want both frames of %q", s, err, want)
	}
	sim.SetWrites(maintsim.Writes{})
	if got := c.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
}

func TestAnnouncedBetweenHandshakeReplies(t *testing.T) {
	for _, tc := range []struct {
		after int
		want  []string
	}{
		{0, []string{"+OK\r\n", "push", "+OK\r\n", "+OK\r\n", "+PONG\r\n"}},
		{1, []string{"+OK\r\n", "+OK\r\n", "push", "+OK\r\n", "+PONG\r\n"}},
		{2, []string{"+OK\r\n", "+OK\r\n", "+OK\r\n", "push", "+PONG\r\n"}},
	} {
		cfg := quick()
		cfg.AnnounceAfter = tc.after
		sim := maintsim.Start(t, cfg)
		sim.Retain(maintsim.Migrated, 3, "1")
		completed := push("MIGRATED", "3", shard1)
		c := dial(t, sim.Addr())
		c.hello3()
		c.raw(encode("CLIENT", "MAINT_NOTIFICATIONS", "ON") + encode("CLIENT", "SETINFO", "LIB-NAME", "x") +
			encode("SELECT", "1") + encode("PING"))
		for i, want := range tc.want {
			if want == "push" {
				want = completed
			}
			if got := c.frame(); got != want {
				t.Errorf("after %d: frame %d: got %q, want %q", tc.after, i, got, want)
			}
		}
		// Without further replies it comes all the same.
		optIn(t, sim.Addr(), "none").want(completed)
	}
}

func TestWaitingAnnouncementsStayInOrder(t *testing.T) {
	cfg := quick()
	cfg.AnnounceAfter, cfg.Stall = 100, -1
	sim := maintsim.Start(t, cfg)
	c := optIn(t, sim.Addr(), "none")
	wait := background(t, func() error { return sim.Migrate(t.Context(), maintsim.WithLead(time.Second/4)) })
	c.want(push("MIGRATING", "0", ":0\r\n", shard1))
	late := optIn(t, sim.Addr(), "none")
	wait()
	if got := late.frame(); got != push("MIGRATED", "1", shard1) { // it came too late for the window
		if want := push("MIGRATING", "0", ":0\r\n", shard1); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		late.want(push("MIGRATED", "1", shard1))
	}
}

func TestPushBehindEveryHandshakeReply(t *testing.T) {
	cfg := quick()
	cfg.HandshakePush = ">2\r\n$10\r\ninvalidate\r\n_\r\n"
	sim := maintsim.Start(t, cfg)
	c := dial(t, sim.Addr())
	c.raw(encode("CLIENT", "ID") + encode("HELLO", "3") + encode("SELECT", "1") + encode("CLIENT", "SETINFO", "LIB-VER", "1") +
		encode("CLIENT", "MAINT_NOTIFICATIONS", "ON") + encode("SET", "a", "b"))
	c.want(":1\r\n")
	if got := c.frame(); got[0] != '%' {
		t.Errorf("HELLO: got %q", got)
	}
	c.want(cfg.HandshakePush)
	for range 3 {
		c.want("+OK\r\n")
		c.want(cfg.HandshakePush)
	}
	c.want("+OK\r\n")
	c.quiet(20 * time.Millisecond)
}
