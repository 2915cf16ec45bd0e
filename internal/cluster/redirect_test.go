package cluster

import (
	"strings"
	"testing"
)

func TestParseRedirect(t *testing.T) {
	const origin = "node.example:7000"
	for _, test := range []struct {
		text, origin string
		want         Redirect
	}{
		{"MOVED 3999 127.0.0.1:6381", origin, Redirect{3999, "127.0.0.1:6381", false}},
		{"ASK 3999 127.0.0.1:6381", origin, Redirect{3999, "127.0.0.1:6381", true}},
		{"MOVED 0 host-1.example_x:1", origin, Redirect{0, "host-1.example_x:1", false}},
		{"MOVED 16383 10.0.0.1:65535", origin, Redirect{16383, "10.0.0.1:65535", false}},

		// IPv6, as servers write it and as everybody else does.
		{"MOVED 1 2001:db8::1:6379", origin, Redirect{1, "[2001:db8::1]:6379", false}},
		{"ASK 1 [2001:db8::1]:6379", origin, Redirect{1, "[2001:db8::1]:6379", true}},
		{"MOVED 1 ::1:6379", origin, Redirect{1, "[::1]:6379", false}},
		{"MOVED 1 ::ffff:10.0.0.1:6379", origin, Redirect{1, "10.0.0.1:6379", false}},
		{"MOVED 1 2001:DB8:0:0::1:6379", origin, Redirect{1, "[2001:db8::1]:6379", false}},
		{"MOVED 1 fe80::1%eth0:6379", origin, Redirect{1, "[fe80::1%eth0]:6379", false}},

		// What isn't told is taken from the origin.
		{"MOVED 3999 :6381", origin, Redirect{3999, "node.example:6381", false}},
		{"ASK 3999 ?:6381", origin, Redirect{3999, "node.example:6381", true}},
		{"MOVED 3999 :6381", "[2001:db8::7]:7000", Redirect{3999, "[2001:db8::7]:6381", false}},
		{"MOVED 3999 10.0.0.1:0", origin, Redirect{3999, "10.0.0.1:7000", false}},
		{"MOVED 3999 :0", origin, Redirect{3999, "node.example:7000", false}},

		// An origin without host or port serves if nothing is left open.
		{"MOVED 1 10.0.0.1:6381", "/run/redis.sock", Redirect{1, "10.0.0.1:6381", false}},
		{"MOVED 1 10.0.0.1:6381", "", Redirect{1, "10.0.0.1:6381", false}},

		// A loopback address of another machine is that machine.
		{"MOVED 1 127.0.0.1:6381", "10.0.0.9:7000", Redirect{1, "10.0.0.9:6381", false}},
		{"MOVED 1 ::1:6381", "10.0.0.9:7000", Redirect{1, "10.0.0.9:6381", false}},
		{"MOVED 1 127.0.0.1:6381", "127.0.0.2:7000", Redirect{1, "127.0.0.1:6381", false}},
	} {
		got, ok := ParseRedirect(test.text, test.origin)
		if !ok || got != test.want {
			t.Errorf("%q from %q: got %+v, %v, want %+v", test.text, test.origin, got, ok, test.want)
		}
	}
}

func TestParseRedirectRefusesEverythingElse(t *testing.T) {
	for _, text := range []string{
		"", "MOVED", "ASK", "MOVED ", "MOVED 1", "MOVED 1 ", "MOVED  1 a:1", "moved 1 a:1", "MOVED 1 a:1 ", " MOVED 1 a:1", "MOVED 1  a:1",
		"MOVED 16384 a:1", "MOVED -1 a:1", "MOVED +1 a:1", "MOVED x a:1", "MOVED 1x a:1", "MOVED 999999999999999999999 a:1",
		"MOVED 1 a", "MOVED 1 a:", "MOVED 1 a:65536", "MOVED 1 a:-1", "MOVED 1 a:x", "MOVED 1 a:99999999", "MOVED 1 a:1:b",
		"MOVED 1 a b:1", "MOVED 1 a\x00:1", "MOVED 1 a/b:1", "MOVED 1 a@b:1", "MOVED 1 [::1:1", "MOVED 1 ::1]:1", "MOVED 1 []:1", "MOVED 1 [a]:1",
		"MOVED 1 a:b:1", "MOVED 1 fe80::1%e\x00:1", "MOVED 1 " + strings.Repeat("a", 256) + ":1",
		"ASKING 1 a:1", "ERR MOVED 1 a:1", "CLUSTERDOWN Hash slot not served", "TRYAGAIN Multiple keys request during rehashing of slot",
		"CROSSSLOT Keys in request don't hash to the same slot", "ERR unknown command 'ASK 1 a:1'",
	} {
		if got, ok := ParseRedirect(text, "node:7000"); ok || got != (Redirect{}) {
			t.Errorf("%q: got %+v, %v, want nothing", text, got, ok)
		}
	}
	for _, origin := range []string{"", "/run/redis.sock", ":7000", "node", "node:x"} {
		if got, ok := ParseRedirect("MOVED 1 :6381", origin); ok {
			t.Errorf("no host from %q: got %+v", origin, got)
		}
	}
	if got, ok := ParseRedirect("MOVED 1 a:0", "node"); ok {
		t.Errorf("no port: got %+v", got)
	}
}

func TestParseRedirectOfAnotherErrorDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { ParseRedirect("WRONGTYPE Operation against a key", "a:1") }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzParseRedirect(f *testing.F) {
	for _, text := range []string{
		"MOVED 3999 127.0.0.1:6381", "ASK 1 [2001:db8::1]:6379", "MOVED 1 2001:db8::1:6379", "MOVED 3999 :6381", "ASK 3999 ?:0",
		"MOVED 1 fe80::1%eth0:6379", "MOVED 16384 a:1", "ERR no",
	} {
		f.Add(text, "node:7000")
	}
	f.Add("MOVED 3999 :6381", "[::1]:7")
	f.Add("MOVED 3999 127.0.0.1:6381", "10.0.0.1:7")
	f.Fuzz(func(t *testing.T, text, origin string) {
		r, ok := ParseRedirect(text, origin)
		if !ok {
			return
		}
		checkAddr(t, r.Addr)
		word := "MOVED"
		if r.Ask {
			word = "ASK"
		}
		if !strings.HasPrefix(text, word+" ") || r.Slot >= Slots {
			t.Fatalf("%q: got %+v", text, r)
		}
		var moved Topology
		if got := moved.Move(Ranges{{r.Slot, r.Slot}}, r.Addr).Primary(r.Slot); got != r.Addr {
			t.Fatalf("%q: the slot goes to %q, want %q", text, got, r.Addr)
		}
	})
}

// checkAddr checks that an address is complete and in its one form.
func checkAddr(t failer, addr string) {
	t.Helper()
	if again, err := canonicalAddr(addr); err != nil || again != addr {
		t.Fatalf("address %q: again it is %q, %v", addr, again, err)
	}
}

func TestTopologyParseRedirect(t *testing.T) {
	node := func(addr string) Shard { return Shard{Primary: Node{Addr: addr}} }
	topo := &Topology{shards: []Shard{
		node("10.0.0.1:7000"), node("10.0.0.1:7001"), node("10.0.0.2:7001"), node("10.0.0.2:7002"),
		{Primary: Node{Addr: "10.0.0.3:7003", TLSPort: 8003}},
	}}
	topo.index()
	for _, test := range []struct{ text, origin, want string }{
		{"MOVED 1 10.0.0.9:1", "10.0.0.1:7000", "10.0.0.9:1"}, // told
		{"MOVED 1 :7009", "10.0.0.1:7000", "10.0.0.1:7009"},   // the host that was asked
		{"MOVED 1 ?:7001", "10.0.0.1:7000", "10.0.0.1:7001"},  // there is such a node
		{"ASK 1 ?:7002", "10.0.0.1:7000", "10.0.0.2:7002"},    // the only one with the port
		{"MOVED 1 ?:8003", "10.0.0.1:7000", "10.0.0.3:7003"},  // the same, by its other port
		{"MOVED 1 ?:7001", "10.0.0.3:7003", ""},               // which of two?
		{"MOVED 1 ?:7009", "10.0.0.1:7000", ""},               // none
		{"MOVED 1 ?:7000", "10.0.0.1:7000", ""},               // never the one that says it
		{"MOVED 1 ?:7001", "10.0.0.1:7001", "10.0.0.2:7001"},  // the other one
	} {
		got, ok := topo.ParseRedirect(test.text, test.origin)
		if !ok || got.Addr != test.want || got.Slot != 1 {
			t.Errorf("%q from %s: got %+v, %v, want %q", test.text, test.origin, got, ok, test.want)
		}
	}
	if got, ok := (*Topology)(nil).ParseRedirect("MOVED 1 ?:7000", "10.0.0.1:7001"); !ok || got.Addr != "" {
		t.Errorf("without a topology: got %+v, %v", got, ok)
	}
}
