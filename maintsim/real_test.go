package maintsim_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// newestServers are those of [realServers] that are the newest of their kind, where all
// are there: a real cluster takes its time to form and to change.
func newestServers(t *testing.T) map[string]string {
	t.Helper()
	all := realServers(t)
	if all["redis-8.0"] != "" && all["valkey-9"] != "" {
		maps.DeleteFunc(all, func(name, _ string) bool { return name != "redis-8.0" && name != "valkey-9" })
	}
	return all
}

// realServers returns the programs to test against, by name: what
// BATON_REDIS_SERVER names, what scripts/fetch-servers has fetched, or what is on
// the PATH.
func realServers(t *testing.T) map[string]string {
	t.Helper()
	if path := os.Getenv("BATON_REDIS_SERVER"); path != "" {
		return map[string]string{"env": path}
	}
	root := os.Getenv("BATON_SERVERS")
	if root == "" {
		root = "../.cache/servers"
	}
	out := make(map[string]string)
	for _, program := range []string{"redis-server", "valkey-server"} {
		found, err := filepath.Glob(filepath.Join(root, "*", "bin", program))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if path, err = filepath.Abs(path); err != nil {
				t.Fatal(err)
			}
			out[filepath.Base(filepath.Dir(filepath.Dir(path)))] = path
		}
	}
	if path, err := exec.LookPath("redis-server"); err == nil && len(out) == 0 {
		out["path"] = path
	}
	if len(out) == 0 {
		t.Skip("no real server: run scripts/fetch-servers, put redis-server on the PATH, or set BATON_REDIS_SERVER to one")
	}
	return out
}

func TestRealServer(t *testing.T) {
	for name, path := range realServers(t) {
		t.Run(name, func(t *testing.T) {
			cfg := quick()
			cfg.Backend, cfg.Password, cfg.Hold = maintsim.Program(path), "secret", 100*time.Millisecond
			sim := maintsim.Start(t, cfg)
			second := quick()
			second.Backend, second.Password = maintsim.Address(sim.Backend().Addr()), "secret"
			testReal(t, sim)
			// A second simulator in front of the same server sees the same data.
			if v, err := maintsim.Start(t, second).Backend().Do("EXISTS", "n"); v != int64(1) || err != nil {
				t.Errorf("EXISTS n: got %v, %v", v, err)
			}
		})
	}
}

func testReal(t *testing.T, sim *maintsim.Sim) {
	t.Helper()
	connect := func() *client {
		t.Helper()
		c := dial(t, sim.Addr())
		if got := c.do("CLIENT", "MAINT_NOTIFICATIONS", "ON"); !strings.HasPrefix(got, "-NOAUTH") {
			t.Errorf("opt-in without AUTH: got %q", got)
		}
		if got := c.do("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"); got[0] != '%' {
			t.Fatalf("HELLO: got %q", got)
		}
		c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON")
		c.want("+OK\r\n")
		return c
	}
	c, other := connect(), connect()
	id := strings.TrimSpace(c.do("CLIENT", "ID")[1:])

	// What the server sends and what the proxy answers, in order, both in bulk.
	const n = 2000
	c.raw(strings.Repeat(encode("INCR", "n")+encode("CLIENT", "MAINT_NOTIFICATIONS_INFO")+encode("CLIENT", "GETNAME"), n))
	c.replies(3*n, func(i int, got string) {
		t.Helper()
		want := []string{":" + strconv.Itoa(i/3+1) + "\r\n", infoOn + bulk("none"), bulk("me")}[i%3]
		if got != want {
			t.Fatalf("reply %d: got %q, want %q", i, got, want)
		}
	})

	// RESP3 allows commands on a connection that subscribes.
	c.send("SUBSCRIBE", "a", "b")
	c.want(">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n")
	c.want(">3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n")
	c.send("PUBLISH", "a", "x")
	c.send("UNSUBSCRIBE")
	c.send("CLIENT", "MAINT_NOTIFICATIONS_INFO")
	var got []string
	for range 5 {
		got = append(got, c.frame())
	}
	if last := got[len(got)-1]; last != infoOn+bulk("none") {
		t.Errorf("got %q, want the proxy's answer last", got)
	}

	// CLIENT REPLY takes replies out of the order.
	c.raw(encode("CLIENT", "REPLY", "SKIP") + encode("PING") + encode("CLIENT", "REPLY", "OFF") + encode("PING") +
		encode("CLIENT", "REPLY", "ON") + encode("CLIENT", "MAINT_NOTIFICATIONS_INFO") + encode("PING"))
	c.want("+OK\r\n")
	c.want(infoOn + bulk("none"))
	c.want("+PONG\r\n")

	// Blocking, and unblocking by the server's own means.
	c.send("BLPOP", "q", "0")
	c.send("PING")
	waitFor(t, func() bool { return other.do("CLIENT", "UNBLOCK", id) == ":1\r\n" })
	c.want("_\r\n")
	c.want("+PONG\r\n")

	// MONITOR's lines are no replies.
	spy := connect()
	spy.send("MONITOR")
	spy.want("+OK\r\n")
	other.do("ECHO", "seen")
	if got := spy.frame(); !strings.Contains(got, `"seen"`) {
		t.Errorf("MONITOR: got %q", got)
	}

	// A failed failover: effects stay, replies are lost.
	wait := background(t, func() error { return sim.FailoverCut(t.Context(), maintsim.WithLead(0)) })
	other.want(push("FAILING_OVER", "0", ":0\r\n", shard1))
	waitFor(t, sim.Holding)
	other.raw(strings.Repeat(encode("INCR", "n"), 100))
	if err := other.end(); err == nil {
		t.Error("cut connection ended with EOF, want a reset")
	}
	wait()
	if v, err := sim.Backend().Do("GET", "n"); v != strconv.Itoa(n+100) || err != nil {
		t.Errorf("GET n: got %v, %v, want %d", v, err, n+100)
	}
	if cuts := sim.Stats().Cuts; len(cuts) != 1 || cuts[0].InFlight != 100 {
		t.Errorf("cuts: got %+v, want one with 100 in flight", cuts)
	}
	connect().want(push("FAILED_OVER", "1", shard1))
	if err := sim.Rebind(t.Context()); err != nil {
		t.Fatal(err)
	}
	sim.SetVersion("99.1.2")
	renewed := dial(t, sim.Addr())
	if got := renewed.do("HELLO", "3", "AUTH", "default", "secret"); !strings.Contains(got, bulk("version")+bulk("99.1.2")) {
		t.Errorf("HELLO after an upgrade: got %q", got)
	}
	if err := sim.SetFault(1, maintsim.FaultReadOnly); err != nil {
		t.Fatal(err)
	}
	renewed.raw(encode("MULTI") + encode("INCR", "n") + encode("EXEC") + encode("GET", "n"))
	for _, want := range []string{"+OK", "-READONLY", "-EXECABORT", bulk(strconv.Itoa(n + 100))} {
		if got := renewed.frame(); !strings.HasPrefix(got, want) {
			t.Errorf("at a demoted proxy: got %q, want %q", got, want)
		}
	}
	if got := connect().do("RESET"); !strings.HasPrefix(got, ">") {
		t.Errorf("got %q, want the retained notice first", got)
	}
}
