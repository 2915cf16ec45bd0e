package maintsim_test

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// lookup returns what the database's name resolves to, in order.
func lookup(t *testing.T, sim *maintsim.Sim) string {
	t.Helper()
	ips, err := sim.LookupHost(t.Context(), maintsim.DBName)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ips)
	return strings.Join(ips, " ")
}

func TestSeveralRecords(t *testing.T) {
	cfg := quick()
	cfg.Proxies, cfg.Records = 4, 2
	sim := maintsim.Start(t, cfg)
	first := make(map[string]bool)
	for range 4 {
		ips, err := sim.LookupHost(t.Context(), maintsim.DBName)
		if err != nil || len(ips) != 2 {
			t.Fatalf("LookupHost: got %v, %v, want two addresses", ips, err)
		}
		first[ips[0]] = true
	}
	if len(first) != 2 {
		t.Errorf("first addresses: got %v, want them in turn", first)
	}
	sibling := optIn(t, sim.Addrs()[1], "none")
	mover := optIn(t, sim.Addrs()[0], "external-ip")
	wait := background(t, func() error { return sim.Rebind(t.Context()) })
	mover.want(push("MOVING", "0", ":10\r\n", bulk(sim.Addrs()[2]))) // not the sibling
	wait()
	sibling.quiet(20 * time.Millisecond)
	if got := lookup(t, sim); got != "127.0.0.2 127.0.0.3" {
		t.Errorf("after the move: got %s", got)
	}
	if err := sim.Rebind(t.Context(), maintsim.WithProxy(1), maintsim.WithTarget(3)); err != nil {
		t.Fatal(err)
	}
	if got := lookup(t, sim); got != "127.0.0.3 127.0.0.4" {
		t.Errorf("after the sibling's move: got %s", got)
	}
	for _, opts := range [][]maintsim.Option{{maintsim.WithProxy(0)}, {maintsim.WithProxy(9)}, {maintsim.WithTarget(2)}, {maintsim.WithTarget(9)}} {
		if err := sim.Rebind(t.Context(), opts...); !errors.Is(err, maintsim.ErrNoTarget) {
			t.Errorf("impossible move: got %v, want ErrNoTarget", err)
		}
	}
}

func TestBusiestProxyMoves(t *testing.T) {
	cfg := quick()
	cfg.Proxies, cfg.Records = 3, 2
	sim := maintsim.Start(t, cfg)
	c := optIn(t, sim.Addrs()[1], "external-ip")
	wait := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithBusiest()) })
	c.want(push("MOVING", "0", ":10\r\n", bulk(sim.Addrs()[2])))
	wait()
	if got := lookup(t, sim); got != "127.0.0.1 127.0.0.3" {
		t.Errorf("name leads to %s", got)
	}
	c = optIn(t, sim.Addrs()[2], "none")
	if err := sim.Shrink(t.Context(), maintsim.WithBusiest()); err != nil {
		t.Fatal(err)
	}
	if err := c.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
}

func TestShrinkAndGrowAreSilent(t *testing.T) {
	cfg := quick()
	cfg.Proxies, cfg.Records = 3, 2
	sim := maintsim.Start(t, cfg)
	stays, leaves := optIn(t, sim.Addrs()[0], "none"), optIn(t, sim.Addrs()[1], "none")
	if err := sim.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := leaves.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
	stays.quiet(20 * time.Millisecond)
	if got := lookup(t, sim); got != "127.0.0.1" {
		t.Errorf("after Shrink: got %s", got)
	}
	if got := probe(t, sim.Addrs()[1], "PING"); got != "refused" {
		t.Errorf("the proxy that left: got %s", got)
	}
	if err := sim.Shrink(t.Context()); !errors.Is(err, maintsim.ErrNoTarget) {
		t.Errorf("Shrink of the last one: got %v, want ErrNoTarget", err)
	}
	for range 2 {
		if err := sim.Grow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := lookup(t, sim); got != "127.0.0.1 127.0.0.2 127.0.0.3" {
		t.Errorf("after Grow: got %s", got)
	}
	if err := sim.Grow(t.Context()); !errors.Is(err, maintsim.ErrNoTarget) {
		t.Errorf("Grow without a free proxy: got %v, want ErrNoTarget", err)
	}
	stays.quiet(20 * time.Millisecond)
	if err := sim.Shrink(t.Context(), maintsim.WithProxy(0)); err != nil {
		t.Fatal(err)
	}
	if got := sim.Addr(); got == sim.Addrs()[0] {
		t.Errorf("Addr: got %s, which left", got)
	}
}

func TestDemotionIsSilent(t *testing.T) {
	sim := maintsim.Start(t, quick())
	old, target := sim.Addr(), sim.Addrs()[1]
	c := optIn(t, old, "none")
	if err := sim.Demote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.do("SET", "a", "b"); !strings.HasPrefix(got, "-READONLY ") {
		t.Errorf("SET: got %q", got)
	}
	if got := c.do("GET", "a"); got != "_\r\n" {
		t.Errorf("GET: got %q", got)
	}
	if got := dial(t, target).do("SET", "a", "b"); got != "+OK\r\n" {
		t.Errorf("SET at the new one: got %q", got)
	}
	if got := lookup(t, sim); got != "127.0.0.2" || sim.Addr() != target {
		t.Errorf("name leads to %s, Addr is %s", got, sim.Addr())
	}
	if err := sim.Rebind(t.Context()); err != nil { // back
		t.Fatal(err)
	}
	if got := c.do("SET", "a", "b"); got != "+OK\r\n" {
		t.Errorf("SET after the way back: got %q", got)
	}
}

func TestDemotionOfTheOnlyProxy(t *testing.T) {
	var w watcher
	cfg := quick()
	cfg.Proxies, cfg.OnEvent = 1, w.on
	sim := maintsim.Start(t, cfg)
	c := dial(t, sim.Addr())
	wait := background(t, func() error { return sim.Demote(t.Context()) })
	w.await(t, maintsim.EventDemoted)
	if got := c.do("SET", "a", "b"); !strings.HasPrefix(got, "-READONLY ") {
		t.Errorf("SET: got %q", got)
	}
	wait()
	if got := c.do("SET", "a", "b"); got != "+OK\r\n" {
		t.Errorf("SET after the outage: got %q", got)
	}
}

func TestChangeDNS(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := optIn(t, sim.Addr(), "none")
	if err := sim.ChangeDNS(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := lookup(t, sim); got != "127.0.0.2" {
		t.Errorf("name leads to %s", got)
	}
	c.quiet(20 * time.Millisecond)
	if got := c.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
	other := optIn(t, sim.Addr(), "none")
	if err := sim.ChangeDNS(t.Context(), maintsim.WithLinger(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := other.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
	if got := c.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
}

func TestRestart(t *testing.T) {
	var w watcher
	cfg := quick()
	cfg.OnEvent = w.on
	sim := maintsim.Start(t, cfg)
	a, b := optIn(t, sim.Addrs()[0], "none"), optIn(t, sim.Addrs()[1], "none")
	wait := background(t, func() error { return sim.Restart(t.Context(), maintsim.WithProxy(0)) })
	w.await(t, maintsim.EventCut)
	if err := a.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
	if got := probe(t, sim.Addr(), "PING"); got != "refused" {
		t.Errorf("in the outage: got %s", got)
	}
	wait()
	if got := probe(t, sim.Addr(), "PING"); got != "+PONG" {
		t.Errorf("after it: got %s", got)
	}
	b.quiet(20 * time.Millisecond)
}

func TestMaintenanceModeTimeline(t *testing.T) {
	cfg := quick()
	cfg.Grace, cfg.Proxies, cfg.Records = 15*time.Second, 3, 2
	sim := maintsim.Start(t, cfg)
	stays, leaves := optIn(t, sim.Addrs()[0], "none"), optIn(t, sim.Addrs()[1], "none")
	start := time.Now()
	if err := sim.MaintenanceMode(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		event string
		at    float64 // wire seconds
	}{
		{"notice MIGRATING", 4.3},
		{"stall-begin", 11.6},
		{"stall-end", 16.6},
		{"notice MIGRATED", 16.6},
		{"dropped proxy=1", 21.4},
		{"proxy-closed proxy=1", 34.7},
	}
	events := sim.Events()
	if len(events) != len(want) {
		t.Fatalf("got %v", events)
	}
	for i, e := range events {
		at := e.Time.Sub(start).Seconds() / cfg.TimeUnit.Seconds()
		if !strings.HasPrefix(e.String(), want[i].event) || at < want[i].at-0.1 || at > want[i].at+5 {
			t.Errorf("event %d: got %s at %.1f, want %s at %.1f", i, e, at, want[i].event, want[i].at)
		}
	}
	for _, c := range []*client{stays, leaves} {
		c.want(push("MIGRATING", "0", ":2\r\n", shard1))
		c.want(push("MIGRATED", "1", shard1))
	}
	if err := leaves.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
	stays.quiet(10 * time.Millisecond)
	if err := sim.MaintenanceMode(t.Context()); !errors.Is(err, maintsim.ErrNoTarget) {
		t.Errorf("of the only proxy: got %v, want ErrNoTarget", err)
	}
}

func TestMeasuredTimings(t *testing.T) {
	cfg := maintsim.MeasuredTimings(1)
	cfg.TimeUnit, cfg.Seed, cfg.Stall = 10*time.Millisecond, 7, -1
	sim := maintsim.Start(t, cfg)
	var changes []float64
	for range 4 {
		start := time.Now()
		before := len(sim.Events())
		if err := sim.Rebind(t.Context()); err != nil {
			t.Fatal(err)
		}
		closed := time.Since(start).Seconds() * 100
		if closed < 15.6 || closed > 19.1+8 {
			t.Errorf("closed after %.1f wire seconds, want 15.7 to 19.1", closed)
		}
		waitFor(t, func() bool {
			for _, e := range sim.Events()[before:] {
				if e.Kind == maintsim.EventResolved {
					changes = append(changes, e.Time.Sub(start).Seconds()*100)
					return true
				}
			}
			return false
		})
	}
	for _, c := range changes {
		if c < 4.3 || c > 18.7+8 {
			t.Errorf("name changed after %v wire seconds, want 4.4 to 18.7", changes)
		}
	}
	if slices.Max(changes)-slices.Min(changes) < 1 {
		t.Errorf("name changed after %v wire seconds, want a spread", changes)
	}
	half := maintsim.MeasuredTimings(0.2)
	if half.Grace != 3*time.Second || half.ResolverChange.Max != 3740*time.Millisecond || half.Linger.Min != 140*time.Millisecond {
		t.Errorf("a fifth: got %+v", half)
	}
}

func TestResolverFails(t *testing.T) {
	sim := maintsim.Start(t, quick())
	bad := &net.DNSError{Err: "server misbehaving", Name: maintsim.DBName, IsTemporary: true}
	sim.DisturbLookups(30*time.Millisecond, bad)
	start := time.Now()
	_, err := sim.LookupHost(t.Context(), maintsim.DBName)
	if !errors.Is(err, bad) || time.Since(start) < 30*time.Millisecond {
		t.Errorf("got %v after %v, want %v after 30ms", err, time.Since(start), bad)
	}
	if _, err := sim.DialContext(t.Context(), "tcp", sim.Name()); !errors.Is(err, bad) {
		t.Errorf("DialContext: got %v, want %v", err, bad)
	}
	if _, err := sim.LookupHost(t.Context(), "127.0.0.1"); err != nil {
		t.Errorf("address: got %v", err)
	}
	sim.DisturbLookups(0, nil)
	if got := lookup(t, sim); got != "127.0.0.1" {
		t.Errorf("got %s", got)
	}
	if n := sim.Stats().Lookups; n != 3 {
		t.Errorf("lookups: got %d, want 3", n)
	}
}

func TestIPv6AndPorts(t *testing.T) {
	if ln, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here")
	} else {
		_ = ln.Close()
	}
	cfg := quick()
	cfg.Hosts, cfg.OwnPorts = []string{"127.0.0.1", "::1", "127.0.0.1"}, true
	sim := maintsim.Start(t, cfg)
	addrs := sim.Addrs()
	ports := make(map[string]bool)
	for _, a := range addrs {
		_, port, err := net.SplitHostPort(a)
		if err != nil {
			t.Fatal(err)
		}
		ports[port] = true
	}
	if len(ports) != 3 {
		t.Errorf("got %v, want three ports", addrs)
	}
	c := optIn(t, addrs[0], "external-ip")
	wait := background(t, func() error { return sim.Rebind(t.Context()) })
	if want := push("MOVING", "0", ":10\r\n", bulk(addrs[1])); !strings.Contains(want, "[::1]:") {
		t.Errorf("target: got %q", want)
	} else {
		c.want(want)
	}
	six := optIn(t, addrs[1], "external-ip")
	name := optIn(t, addrs[1], "external-fqdn")
	wait()
	wait = background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithTarget(2)) })
	six.want(push("MOVING", "1", ":10\r\n", bulk(addrs[2])))
	_, port, _ := net.SplitHostPort(addrs[2])
	name.want(push("MOVING", "1", ":10\r\n", bulk("node-3.sim.test:"+port)))
	wait()
	third := optIn(t, addrs[2], "internal-ip")
	wait = background(t, func() error {
		return sim.Rebind(t.Context(), maintsim.WithTarget(1), maintsim.WithVariant(maintsim.VariantBareIPv6))
	})
	_, port, _ = net.SplitHostPort(addrs[1])
	third.want(push("MOVING", "2", ":10\r\n", bulk("::1:"+port)))
	wait()
}

func TestTLSTargets(t *testing.T) {
	server, roots, err := maintsim.NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	cfg := quick()
	cfg.TLS = server
	sim := maintsim.Start(t, cfg)
	ask := func(addr, name string) (string, error) {
		nc, err := sim.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		tc := tls.Client(nc, &tls.Config{RootCAs: roots, ServerName: name})
		c := newClient(t, tc)
		if err := tc.HandshakeContext(t.Context()); err != nil {
			return "", err
		}
		return c.do("PING"), nil
	}
	opted := make(map[string]*client)
	for _, kind := range []string{"external-ip", "external-fqdn"} {
		c := dialTLS(t, sim, &tls.Config{RootCAs: roots, ServerName: maintsim.DBName})
		c.hello3()
		c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", kind)
		c.want("+OK\r\n")
		opted[kind] = c
	}
	wait := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithGrace(50*time.Second)) })
	ip, fqdn := sim.Addrs()[1], "node-2.sim.test:"+strconv.Itoa(mustPort(t, sim.Addrs()[1]))
	opted["external-ip"].want(push("MOVING", "0", ":50\r\n", bulk(ip)))
	opted["external-fqdn"].want(push("MOVING", "0", ":50\r\n", bulk(fqdn)))
	for _, tc := range []struct {
		addr, name string
		ok         bool
	}{
		{ip, maintsim.DBName, true},
		{ip, "127.0.0.2", false}, // the certificate names hosts only
		{fqdn, "node-2.sim.test", true},
		{fqdn, maintsim.DBName, true},
		{fqdn, "elsewhere.example", false},
	} {
		got, err := ask(tc.addr, tc.name)
		if tc.ok && (got != "+PONG\r\n" || err != nil) || !tc.ok && err == nil {
			t.Errorf("%s as %s: got %q, %v", tc.addr, tc.name, got, err)
		}
	}
	wait()
}

func mustPort(t *testing.T, addr string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
