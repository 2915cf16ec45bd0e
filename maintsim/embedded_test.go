package maintsim_test

import (
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/baton-go/redis/maintsim"
)

func TestConnectionCommandsOfTheEmbeddedServer(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c, other := dial(t, sim.Addr()), dial(t, sim.Addr())
	if got := other.do("HELLO", "2"); !strings.HasPrefix(got, "*14\r\n") {
		t.Errorf("HELLO 2: got %q", got)
	}
	id := c.do("CLIENT", "ID")
	if got := c.do("HELLO", "3", "SETNAME", "me"); !strings.Contains(got, "$2\r\nid\r\n"+id) {
		t.Errorf("HELLO: got %q, want id %q", got, id)
	}
	if got := c.do("HELLO"); !strings.Contains(got, "$5\r\nproto\r\n:3\r\n") {
		t.Errorf("HELLO without arguments: got %q", got)
	}
	for _, tc := range []struct{ send, want string }{
		{"CLIENT GETNAME", bulk("me")},
		{"CLIENT SETNAME you", "+OK\r\n"},
		{"CLIENT GETNAME", bulk("you")},
		{"CLIENT SETINFO LIB-NAME baton", "+OK\r\n"},
		{"CLIENT SETINFO LIB-VER 1", "+OK\r\n"},
		{"CLIENT SETINFO LIB-NICE 1", "-ERR Unrecognized option 'LIB-NICE'\r\n"},
		{"CLIENT NO-EVICT ON", "+OK\r\n"},
		{"CLIENT NO-TOUCH off", "+OK\r\n"},
		{"READONLY", "+OK\r\n"},
		{"READWRITE", "+OK\r\n"},
		{"ROLE", "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"},
		{"HELLO 4", "-NOPROTO unsupported protocol version\r\n"},
		{"MULTI", "+OK\r\n"},
		{"INCR n", "+QUEUED\r\n"},
		{"EXEC", "*1\r\n:1\r\n"},
		{"WATCH n", "+OK\r\n"},
	} {
		if got := c.do(strings.Fields(tc.send)...); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.send, got, tc.want)
		}
	}
	if got := other.do("INCR", "n"); got != ":2\r\n" {
		t.Errorf("INCR: got %q", got)
	}
	c.send("MULTI")
	c.send("EXEC")
	c.want("+OK\r\n")
	c.want("_\r\n") // aborted
	for _, what := range []string{"INFO", "LIST"} {
		got := c.do("CLIENT", what)
		if got[0] != '=' || !strings.Contains(got, "name=you ") || !strings.Contains(got, "lib-name=baton lib-ver=1\n") {
			t.Errorf("CLIENT %s: got %q", what, got)
		}
	}
	if got := c.do("INFO", "server", "replication"); !strings.Contains(got, "redis_version:") || !strings.Contains(got, "role:master") || strings.Contains(got, "# Clients") {
		t.Errorf("INFO: got %q", got)
	}

	if got := c.do("SELECT", "5"); got != "+OK\r\n" {
		t.Errorf("SELECT: got %q", got)
	}
	c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON")
	c.send("RESET")
	c.send("CLIENT", "GETNAME")
	c.send("EXISTS", "n")
	c.want("+OK\r\n")
	c.want("+RESET\r\n")
	c.want("$-1\r\n")
	c.want(":1\r\n") // database 0
	if n := sim.Stats().OptedIn(); n != 0 {
		t.Errorf("opted in after RESET: got %d", n)
	}

	if got := c.do("CLIENT", "KILL", other.nc.LocalAddr().String()); got != "+OK\r\n" {
		t.Errorf("CLIENT KILL: got %q", got)
	}
	if err := other.end(); err != nil {
		t.Errorf("killed connection ended with %v, want EOF", err)
	}
	if got := c.do("CLIENT", "KILL", "ID", strings.TrimSpace(id[1:])); got != ":0\r\n" {
		t.Errorf("CLIENT KILL of itself: got %q", got)
	}
	if got := c.do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"); got != ":1\r\n" {
		t.Errorf("CLIENT KILL: got %q", got)
	}
	if err := c.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
}

func TestQuitAndBadRequests(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := dial(t, sim.Addr())
	c.send("QUIT")
	c.want("+OK\r\n")
	if err := c.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
	const n = 500 // what came before is answered
	c = dial(t, sim.Addr())
	c.raw(strings.Repeat("*1\r\n$4\r\nPING\r\n", n) + "*1\r\n+PING\r\n*1\r\n$4\r\nPING\r\n")
	got, err := io.ReadAll(c.br)
	if want := strings.Repeat("+PONG\r\n", n) + "-ERR Protocol error\r\n"; err != nil || string(got) != want {
		t.Errorf("got %d bytes, the end of them %q, %v; want %d", len(got), got[max(0, len(got)-100):], err, len(want))
	}
}

func TestAuthentication(t *testing.T) {
	for _, user := range []string{"", "alice"} {
		cfg := quick()
		cfg.Username, cfg.Password = user, "secret"
		sim := maintsim.Start(t, cfg)
		if user == "" {
			user = "default"
		}
		c := dial(t, sim.Addr())
		for _, cmd := range []string{"HELLO 3", "GET k", "CLIENT ID", "CLIENT MAINT_NOTIFICATIONS ON"} {
			if got := c.do(strings.Fields(cmd)...); !strings.HasPrefix(got, "-NOAUTH ") {
				t.Errorf("%s: got %q, want NOAUTH", cmd, got)
			}
		}
		if got := c.do("AUTH", user, "wrong"); !strings.HasPrefix(got, "-WRONGPASS ") {
			t.Errorf("AUTH: got %q", got)
		}
		c.send("AUTH", user, "secret")
		c.send("CLIENT", "ID")
		c.want("+OK\r\n")
		c.want(":1\r\n")
		c = dial(t, sim.Addr())
		if got := c.do("HELLO", "3", "AUTH", user, "secret", "SETNAME", "x"); got[0] != '%' {
			t.Errorf("HELLO: got %q", got)
		}
		c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON")
		c.want("+OK\r\n")
		// The server's side is renewed with the same rights.
		c.send("BLPOP", "q", "0")
		waitFor(t, func() bool {
			v, err := sim.Backend().Do("EXISTS", "q")
			return err == nil && v == int64(0)
		})
		admin := dial(t, sim.Addr())
		admin.send("AUTH", user, "secret")
		admin.want("+OK\r\n")
		waitFor(t, func() bool { return admin.do("CLIENT", "UNBLOCK", "2") == ":1\r\n" })
		c.want("_\r\n")
		if got := c.do("GET", "k"); got != "_\r\n" {
			t.Errorf("GET: got %q", got)
		}
	}
}

func TestTLSWithNamesOnly(t *testing.T) {
	server, roots, err := maintsim.NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	cfg := quick()
	cfg.TLS = server
	sim := maintsim.Start(t, cfg)
	c := dialTLS(t, sim, &tls.Config{RootCAs: roots, ServerName: maintsim.DBName})
	c.hello3()
	c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", "external-fqdn")
	c.want("+OK\r\n")
	// A command behind a blocking one needs the reader to be woken.
	c.send("BLPOP", "q", "0.01")
	c.send("PING")
	c.want("_\r\n")
	c.want("+PONG\r\n")
	wait := background(t, func() error { return sim.Rebind(t.Context()) })
	if got := c.frame(); !strings.Contains(got, "node-2.sim.test:") {
		t.Errorf("got %q", got)
	}
	if err := c.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
	wait()

	bad := dialTLS(t, sim, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"})
	if _, err := io.WriteString(bad.nc, "PING\r\n"); err == nil {
		t.Error("the certificate holds for an address")
	} else if _, ok := errors.AsType[*tls.CertificateVerificationError](err); !ok {
		t.Errorf("got %v, want a verification error", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	_, err := maintsim.New(maintsim.Config{Hosts: []string{"10.0.0.1", "x"}, Port: -1, Grace: -1, Proxies: 999})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`"10.0.0.1"`, `"x"`, "port -1", "Grace", "999 proxies"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	if _, err := maintsim.New(maintsim.Config{Backend: maintsim.Program("/does/not/exist")}); err == nil {
		t.Error("started a program that isn't there")
	}
	if _, err := maintsim.New(maintsim.Config{Backend: maintsim.Address("127.0.0.1:1")}); err == nil {
		t.Error("found a server where none is")
	}
}

func TestDo(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{})
	if _, err := sim.Backend().Do("RPUSH", "l", "a", "b"); err != nil {
		t.Fatal(err)
	}
	v, err := sim.Backend().Do("LRANGE", "l", "0", "-1")
	if list, ok := v.([]any); err != nil || !ok || len(list) != 2 || list[1] != "b" {
		t.Errorf("got %v, %v", v, err)
	}
	_, err = sim.Backend().Do("INCR", "l")
	if e, ok := errors.AsType[maintsim.ServerError](err); !ok || !strings.HasPrefix(string(e), "WRONGTYPE") {
		t.Errorf("got %v", err)
	}
	if v, err := sim.Backend().Do("GET", "none"); v != nil || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	if v, err := sim.Backend().Do("LLEN", "l"); v != int64(2) || err != nil {
		t.Errorf("after an error: got %v, %v", v, err)
	}
}
