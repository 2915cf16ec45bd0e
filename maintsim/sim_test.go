package maintsim_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

const shard1 = "$5\r\n[\"1\"]\r\n"

func TestMigrateAnnouncesAndStalls(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := optIn(t, sim.Addr(), "none")
	wait := background(t, func() error { return sim.Migrate(t.Context()) })
	c.want(push("MIGRATING", "0", ":2\r\n", shard1))
	wait()
	c.want(push("MIGRATED", "1", shard1))
	if got := c.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
}

func TestFailoverKeepsConnectionsAndStallsReplies(t *testing.T) {
	cfg := quick()
	cfg.Lead, cfg.Stall = -1, 300*time.Millisecond
	stalled := make(chan struct{}, 1)
	cfg.OnEvent = func(e maintsim.Event) {
		if e.Kind == maintsim.EventStallBegin {
			stalled <- struct{}{}
		}
	}
	sim := maintsim.Start(t, cfg)
	c := optIn(t, sim.Addr(), "none")
	wait := background(t, func() error { return sim.Failover(t.Context()) })
	c.want(push("FAILING_OVER", "0", ":0\r\n", shard1))
	<-stalled
	start := time.Now()
	c.send("INCR", "n")
	closing := c.replies(1, func(_ int, got string) {
		if got != ":1\r\n" {
			t.Errorf("INCR: got %q", got)
		}
	})
	if d := time.Since(start); d < 250*time.Millisecond || d > 2*time.Second {
		t.Errorf("reply after %v, want about 300ms", d)
	}
	wait()
	if len(closing) == 0 { // it may come before the reply
		closing = append(closing, c.frame())
	}
	if want := push("FAILED_OVER", "1", shard1); closing[0] != want {
		t.Errorf("got %q, want %q", closing[0], want)
	}
}

func TestRebindNamesTargetAndClosesAtDeadline(t *testing.T) {
	sim := maintsim.Start(t, quick())
	addr, port := sim.Addr(), sim.Addr()[strings.LastIndex(sim.Addr(), ":"):]
	ip, fqdn, none := optIn(t, addr, "external-ip"), optIn(t, addr, "internal-fqdn"), optIn(t, addr, "none")
	deaf := dial(t, addr)
	deaf.hello3()
	other := optIn(t, sim.Addrs()[1], "external-ip")

	start := time.Now()
	wait := background(t, func() error { return sim.Rebind(t.Context()) })
	ip.want(push("MOVING", "0", ":10\r\n", bulk("127.0.0.2"+port)))
	fqdn.want(push("MOVING", "0", ":10\r\n", bulk("node-2.sim.test"+port)))
	none.want(push("MOVING", "0", ":10\r\n", "_\r\n"))
	if got, want := sim.Addr(), "127.0.0.2"+port; got != want {
		t.Errorf("Addr: got %s, want %s", got, want)
	}
	for _, c := range []*client{ip, fqdn, none, deaf, dial(t, addr), dial(t, sim.Addr())} {
		if got := c.do("PING"); got != "+PONG\r\n" {
			t.Errorf("PING in the window: got %q", got)
		}
	}
	for _, c := range []*client{ip, fqdn, none, deaf} {
		if err := c.end(); err != nil {
			t.Errorf("old connection ended with %v, want EOF", err)
		}
	}
	if d := time.Since(start); d < 200*time.Millisecond || d > 2*time.Second {
		t.Errorf("closed after %v, want about 200ms", d)
	}
	wait()
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the old proxy still accepts")
	}
	other.quiet(50 * time.Millisecond)
	if got := other.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING at the other proxy: got %q", got)
	}
}

func TestRebindComesBackToNodesThatLeft(t *testing.T) {
	sim := maintsim.Start(t, quick())
	first := sim.Addr()
	for range 2 {
		if err := sim.Rebind(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if sim.Addr() != first {
		t.Errorf("Addr: got %s, want %s again", sim.Addr(), first)
	}
	if got := dial(t, first).do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
}

func TestCloseEndsScenariosAndConnections(t *testing.T) {
	cfg := quick()
	cfg.TimeUnit = time.Second
	told := make(chan struct{}, 1)
	cfg.OnEvent = func(maintsim.Event) { told <- struct{}{} }
	sim, err := maintsim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, sim.Addr())
	c.send("BLPOP", "list", "0")
	errs := make(chan error)
	go func() { errs <- sim.Rebind(t.Context()) }()
	<-told
	for range 2 {
		if err := sim.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if err := <-errs; !errors.Is(err, maintsim.ErrClosed) {
		t.Errorf("Rebind: got %v, want ErrClosed", err)
	}
	if err := c.end(); err != nil && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("connection ended with %v", err)
	}
	if err := sim.Migrate(t.Context()); !errors.Is(err, maintsim.ErrClosed) {
		t.Errorf("Migrate: got %v, want ErrClosed", err)
	}
}
