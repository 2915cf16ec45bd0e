package maintsim_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// probe is what a fresh connection sees of a proxy.
func probe(t *testing.T, addr string, args ...string) string {
	t.Helper()
	nc, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
	switch ne, ok := errors.AsType[net.Error](err); {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case ok && ne.Timeout():
		return "unreachable"
	case err != nil:
		t.Fatal(err)
	}
	c := newClient(t, nc)
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := io.WriteString(nc, encode(args...)); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
	f, err := c.read()
	switch ne, ok := errors.AsType[net.Error](err); {
	case ok && ne.Timeout():
		return "hangs"
	case err != nil:
		return "closed"
	}
	return strings.Fields(f)[0]
}

func TestTargetFaults(t *testing.T) {
	for _, tc := range []struct {
		fault                   maintsim.Fault
		get, set, hello3, login string
	}{
		{maintsim.FaultRefuse, "refused", "refused", "refused", "refused"},
		{maintsim.FaultUnreachable, "unreachable", "unreachable", "unreachable", "unreachable"},
		{maintsim.FaultHang, "hangs", "hangs", "hangs", "hangs"},
		{maintsim.FaultBlackHole, "unreachable", "unreachable", "unreachable", "unreachable"},
		{maintsim.FaultClose, "closed", "closed", "closed", "closed"},
		{maintsim.FaultWrongPass, "-NOAUTH", "-NOAUTH", "-NOAUTH", "-WRONGPASS"},
		{maintsim.FaultLoading, "-LOADING", "-LOADING", "-LOADING", "-LOADING"},
		{maintsim.FaultReadOnly, "$-1", "-READONLY", "-NOAUTH", "%7"},
	} {
		t.Run(tc.fault.String(), func(t *testing.T) {
			t.Parallel()
			cfg := quick()
			cfg.Grace, cfg.Password = 100*time.Second, "secret"
			if tc.fault == maintsim.FaultReadOnly {
				cfg.Password = ""
			}
			sim := maintsim.Start(t, cfg)
			old, target := dial(t, sim.Addr()), sim.Addrs()[1]
			if cfg.Password != "" {
				old.send("AUTH", "default", "secret")
				old.want("+OK\r\n")
			} else {
				tc.hello3, tc.login = "%7", "-ERR"
			}
			wait := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithTargetFault(tc.fault, 0)) })
			waitFor(t, func() bool { return sim.Addr() == target })
			if got := probe(t, target, "GET", "none"); got != tc.get {
				t.Errorf("GET: got %q, want %q", got, tc.get)
			}
			if got := probe(t, target, "SET", "a", "b"); got != tc.set {
				t.Errorf("SET: got %q, want %q", got, tc.set)
			}
			if got := probe(t, target, "HELLO", "3"); got != tc.hello3 {
				t.Errorf("HELLO 3: got %q, want %q", got, tc.hello3)
			}
			if got := probe(t, target, "HELLO", "3", "AUTH", "default", "secret"); got != tc.login && cfg.Password != "" {
				t.Errorf("HELLO 3 AUTH: got %q, want %q", got, tc.login)
			}
			if got := old.do("PING"); got != "+PONG\r\n" {
				t.Errorf("PING at the old proxy: got %q", got)
			}
			wait()
			if got := probe(t, target, "HELLO", "3", "AUTH", "default", "secret"); got != "%7" && cfg.Password != "" {
				t.Errorf("after the move: got %q", got)
			}
		})
	}
}

func TestTargetFaultEndsInTime(t *testing.T) {
	cfg := quick()
	cfg.Grace = 50 * time.Second
	sim := maintsim.Start(t, cfg)
	target := sim.Addrs()[1]
	wait := background(t, func() error {
		return sim.Rebind(t.Context(), maintsim.WithTargetFault(maintsim.FaultRefuse, 100*time.Millisecond))
	})
	waitFor(t, func() bool { return sim.Addr() == target })
	if got := probe(t, target, "PING"); got != "refused" {
		t.Errorf("at first: got %q", got)
	}
	waitFor(t, func() bool { return probe(t, target, "PING") == "+PONG" })
	wait()

	// For good, until it is moved to again.
	if err := sim.Rebind(t.Context(), maintsim.WithTargetFault(maintsim.FaultLoading, -1)); err != nil {
		t.Fatal(err)
	}
	if got := probe(t, sim.Addr(), "PING"); got != "-LOADING" {
		t.Errorf("after the move: got %q", got)
	}
	if err := sim.Repair(); err != nil {
		t.Fatal(err)
	}
	if got := probe(t, sim.Addr(), "PING"); got != "+PONG" {
		t.Errorf("repaired: got %q", got)
	}
	if err := sim.SetFault(7, maintsim.FaultHang); err == nil {
		t.Error("fault of a proxy that isn't there: got no error")
	}
}

func TestFaultsOfAConnectionThatExists(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := dial(t, sim.Addr())
	c.hello3()
	set := func(f maintsim.Fault) {
		t.Helper()
		if err := sim.SetFault(0, f); err != nil {
			t.Fatal(err)
		}
	}
	c.send("MULTI")
	c.want("+OK\r\n")
	set(maintsim.FaultReadOnly)
	c.raw(encode("GET", "a") + encode("set", "a", "b") + "DEL a\r\n" + encode("GET", "a") + encode("EXEC") + encode("GET", "a"))
	c.want("+QUEUED\r\n")
	for range 2 {
		if got := c.frame(); !strings.HasPrefix(got, "-READONLY ") {
			t.Errorf("write: got %q", got)
		}
	}
	c.want("+QUEUED\r\n")
	c.want("-EXECABORT Transaction discarded because of previous errors.\r\n")
	c.want("_\r\n")

	set(maintsim.FaultHang)
	c.send("SET", "a", "1")
	c.quiet(30 * time.Millisecond)
	set(maintsim.FaultUnreachable)
	c.want("+OK\r\n") // what hung goes on
	if got := probe(t, sim.Addr(), "PING"); got != "unreachable" {
		t.Errorf("dial: got %q", got)
	}
	c.send("GET", "a")
	c.want("$1\r\n1\r\n")
	set(maintsim.FaultNone)
	if got := probe(t, sim.Addr(), "PING"); got != "+PONG" {
		t.Errorf("dial: got %q", got)
	}
	var details []string
	for _, e := range sim.Events() {
		if e.Kind == maintsim.EventFault {
			details = append(details, e.Detail)
		}
	}
	if got, want := strings.Join(details, " "), "readonly hang unreachable none"; got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
}

func TestFaultDuringAnOutage(t *testing.T) {
	var w watcher
	cfg := quick()
	cfg.OnEvent, cfg.Hold = w.on, -1
	sim := maintsim.Start(t, cfg)
	addr := sim.Addr()
	if err := sim.SetFault(0, maintsim.FaultRefuse); err != nil {
		t.Fatal(err)
	}
	wait := background(t, func() error { return sim.Cut(t.Context(), maintsim.WithOutage(200*time.Millisecond)) })
	w.await(t, maintsim.EventCut)
	if err := sim.Repair(); err != nil {
		t.Fatal(err)
	}
	if got := probe(t, addr, "PING"); got != "refused" {
		t.Errorf("repaired in the outage: got %q", got)
	}
	wait()
	if got := probe(t, addr, "PING"); got != "+PONG" {
		t.Errorf("after the outage: got %q", got)
	}
}

func TestCloseWithFaults(t *testing.T) {
	for _, f := range maintsim.Faults() {
		sim, err := maintsim.New(quick())
		if err != nil {
			t.Fatal(err)
		}
		c := dial(t, sim.Addr())
		c.hello3()
		if err := sim.SetFault(0, f); err != nil {
			t.Fatal(err)
		}
		c.send("PING")
		if err := sim.Close(); err != nil {
			t.Fatal(err)
		}
		if err := sim.SetFault(0, f); !errors.Is(err, maintsim.ErrClosed) {
			t.Errorf("%s after Close: got %v, want ErrClosed", f, err)
		}
		if err := c.end(); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: ended with %v", f, err)
		}
	}
}
