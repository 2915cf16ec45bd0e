package maintsim_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

const (
	infoOn  = "%2\r\n$6\r\nstatus\r\n$2\r\non\r\n$10\r\nparameters\r\n%1\r\n$20\r\nmoving-endpoint-type\r\n"
	infoOff = "%2\r\n$6\r\nstatus\r\n$3\r\noff\r\n$10\r\nparameters\r\n%0\r\n"
)

func TestOptInInfoAndOff(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := dial(t, sim.Addr())
	c.hello3()
	info := func(want string) {
		t.Helper()
		c.send("client", "maint_notifications_info")
		c.want(want)
	}
	info(infoOff)
	c.send("client", "maint_notifications", "on", "moving-endpoint-type", "internal-fqdn")
	c.want("+OK\r\n")
	info(infoOn + bulk("internal-fqdn"))
	c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON")
	c.want("+OK\r\n")
	info(infoOn + bulk("none"))
	if n := sim.Stats().OptedIn(); n != 1 {
		t.Errorf("opted in: got %d, want 1", n)
	}
	c.send("CLIENT", "MAINT_NOTIFICATIONS", "OFF")
	c.want("+OK\r\n")
	info(infoOff)
	if err := sim.Migrate(t.Context(), maintsim.WithLead(0), maintsim.WithStall(0)); err != nil {
		t.Fatal(err)
	}
	c.quiet(20 * time.Millisecond)
	for _, bad := range [][]string{{"ON", "x"}, {"ON", "moving-endpoint-type", "x"}, {"MAYBE"}, {}} {
		if got := c.do(append([]string{"CLIENT", "MAINT_NOTIFICATIONS"}, bad...)...); !strings.HasPrefix(got, "-ERR ") {
			t.Errorf("%q: got %q, want an error", bad, got)
		}
	}
}

func TestOptInIsRefusedWhereUnsupported(t *testing.T) {
	cfg := quick()
	cfg.Unsupported = true
	sim := maintsim.Start(t, cfg)
	c := dial(t, sim.Addr())
	c.hello3()
	const refusal = "-ERR unknown subcommand 'maint_notifications'. Try CLIENT HELP.\r\n"
	c.send("client", "maint_notifications", "on")
	c.want(refusal)
	sim.Support()
	c.send("client", "maint_notifications", "on")
	c.want("+OK\r\n")
	sim.Refuse()
	c.send("client", "maint_notifications", "on")
	c.want(refusal)
	if err := sim.Migrate(t.Context(), maintsim.WithLead(0), maintsim.WithStall(0)); err != nil {
		t.Fatal(err)
	}
	c.quiet(20 * time.Millisecond)
}

func TestRESP2IsAcceptedAndHearsNothing(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := dial(t, sim.Addr())
	c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", "external-ip")
	c.want("+OK\r\n")
	c.send("CLIENT", "MAINT_NOTIFICATIONS_INFO")
	c.want("*4\r\n$6\r\nstatus\r\n$2\r\non\r\n$10\r\nparameters\r\n*2\r\n$20\r\nmoving-endpoint-type\r\n$11\r\nexternal-ip\r\n")
	if err := sim.Migrate(t.Context(), maintsim.WithLead(0), maintsim.WithStall(0)); err != nil {
		t.Fatal(err)
	}
	c.quiet(20 * time.Millisecond)
	if n := sim.Stats().Notices[maintsim.Migrating]; n != 0 {
		t.Errorf("MIGRATING sent: got %d, want 0", n)
	}
}

func TestCompletionIsRetained(t *testing.T) {
	for _, last := range []bool{false, true} {
		cfg := quick()
		cfg.TimeUnit, cfg.RetainedLast = time.Second, last
		sim := maintsim.Start(t, cfg)
		short := []maintsim.Option{maintsim.WithLead(0), maintsim.WithStall(0), maintsim.WithShards("2", "4")}
		for range 2 {
			if err := sim.Migrate(t.Context(), short...); err != nil {
				t.Fatal(err)
			}
		}
		retained := push("MIGRATED", "3", bulk(`["2","4"]`))
		for range 2 {
			optIn(t, sim.Addr(), "none").want(retained)
		}
		// The number goes on, and an open window is told beside it.
		first := optIn(t, sim.Addr(), "none")
		first.want(retained)
		opened := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithGrace(time.Second)) })
		moving := push("MOVING", "4", ":1\r\n", "_\r\n")
		first.want(moving)
		late := optIn(t, sim.Addrs()[0], "none")
		if last {
			late.want(moving)
			late.want(retained)
		} else {
			late.want(retained)
			late.want(moving)
		}
		opened()
		// MOVING is over: only the completion is left.
		c := optIn(t, sim.Addr(), "none")
		c.want(retained)
		c.quiet(20 * time.Millisecond)
	}
}

func TestLateComersAreToldWhatIsLeft(t *testing.T) {
	cfg := quick()
	cfg.TimeUnit = 50 * time.Millisecond
	cfg.Lead, cfg.Stall = 20*time.Second, -1
	sim := maintsim.Start(t, cfg)
	first := optIn(t, sim.Addr(), "external-ip")
	old := sim.Addr()
	failover := background(t, func() error { return sim.Failover(t.Context()) })
	first.want(push("FAILING_OVER", "0", ":20\r\n", shard1))
	rebind := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithGrace(10*time.Second)) })
	if got := first.frame(); !strings.HasPrefix(got, ">4\r\n$6\r\nMOVING\r\n:2\r\n:10\r\n") {
		t.Fatalf("got %q, want MOVING with 10 seconds", got)
	}
	<-time.After(200 * time.Millisecond) // four wire seconds
	late := optIn(t, old, "external-ip")
	seconds := func(frame, notice string) int {
		t.Helper()
		parts := strings.Split(frame, "\r\n")
		if len(parts) < 5 || parts[2] != notice {
			t.Fatalf("got %q, want %s", frame, notice)
		}
		n, err := strconv.Atoi(parts[4][1:])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := seconds(late.frame(), "FAILING_OVER"); n < 10 || n > 16 {
		t.Errorf("FAILING_OVER: got %d seconds, want about 16", n)
	}
	if n := seconds(late.frame(), "MOVING"); n < 1 || n > 6 {
		t.Errorf("MOVING: got %d seconds, want about 6", n)
	}
	// At the new proxy nothing moves.
	fresh := optIn(t, sim.Addr(), "external-ip")
	if n := seconds(fresh.frame(), "FAILING_OVER"); n < 1 {
		t.Errorf("FAILING_OVER: got %d seconds", n)
	}
	fresh.quiet(20 * time.Millisecond)
	rebind()
	failover()
	fresh.want(push("FAILED_OVER", "1", shard1))
}
