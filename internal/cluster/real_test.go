package cluster

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/internal/resp"
)

var recordFlag = flag.Bool("record", false, "write the replies of real servers to testdata/replies")

// TestRealCluster lets each real server form a small cluster, and checks what is
// read from its replies and redirects:
//
//	go test ./internal/cluster -run TestRealCluster -record
//
// keeps them for TestRecordedReplies, which -rewrite then brings up to date.
func TestRealCluster(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, name)
			c.checkTopologies("joined", c.nodes[:], "[0-8191] A < C", "[8192-16383] B")
			c.checkSlots()
			c.checkRedirects()
			c.checkEndpoints()
			c.checkHandshake()
			c.checkFailover()
			c.checkFailure()
			if *recordFlag {
				c.record(filepath.Join("testdata", "replies", name))
			}
		})
	}
}

// A realCluster has three nodes, called by letters: A and B are primaries, and C
// replicates A.
type realCluster struct {
	*testing.T
	name     string
	nodes    [3]*realNode
	recorded strings.Builder
}

type realNode struct {
	*testing.T
	*realserver.Server
	letter string
	id     string
	conns  map[int]net.Conn // by protocol, plain
}

func startCluster(t *testing.T, name string) *realCluster {
	t.Helper()
	c := &realCluster{T: t, name: name}
	for i := range c.nodes {
		srv := realserver.StartConfig(t, name, realserver.Config{Cluster: true, TLS: true, Args: []string{"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"}})
		n := &realNode{T: t, Server: srv, letter: string("ABC"[i]), conns: make(map[int]net.Conn)}
		for proto := 2; proto <= 3; proto++ {
			conn, err := net.Dial("tcp", srv.Addr())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			n.conns[proto] = conn
		}
		n.text(3, "HELLO", "3")
		n.id = n.text(2, "CLUSTER", "MYID")
		c.nodes[i] = n
	}
	a, b, third := c.nodes[0], c.nodes[1], c.nodes[2]
	a.text(2, "CLUSTER", "ADDSLOTSRANGE", "0", "8191")
	b.text(2, "CLUSTER", "ADDSLOTSRANGE", "8192", "16383")
	b.text(2, "CLUSTER", "SET-CONFIG-EPOCH", "2")
	for _, n := range []*realNode{b, third} {
		host, port, _ := net.SplitHostPort(n.Addr())
		a.text(2, "CLUSTER", "MEET", host, port, n.config("cluster-port"))
	}
	c.until(says("C knows A"), func() bool {
		return third.try("CLUSTER", "REPLICATE", a.id) == nil
	})
	return c
}

// until waits for a gossip to arrive; nobody tells when.
func (c *realCluster) until(what func() string, done func() bool) {
	c.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	timeout := time.NewTimer(30 * time.Second)
	defer timeout.Stop()
	for !done() {
		select {
		case <-ticker.C:
		case <-timeout.C:
			c.Fatalf("waited too long until %s", what())
		}
	}
}

func says(what string) func() string { return func() string { return what } }

// frame sends a command over a connection and returns the whole reply.
func (n *realNode) frame(conn net.Conn, words ...string) []byte {
	n.Helper()
	request := resp.AppendArrayLen(nil, len(words))
	for _, word := range words {
		request = resp.AppendBulk(request, word)
	}
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		n.Fatal(err)
	}
	if _, err := conn.Write(request); err != nil {
		n.Fatalf("%s: %q: %v", n.letter, words, err)
	}
	var s resp.Scanner
	var got []byte
	for {
		size, err := s.Next(got)
		if err != nil {
			n.Fatalf("%s: %q: %v", n.letter, words, err)
		}
		if size > 0 {
			return got
		}
		buf := make([]byte, 64<<10)
		m, err := conn.Read(buf)
		if err != nil {
			n.Fatalf("%s: %q: %v", n.letter, words, err)
		}
		got = append(got, buf[:m]...)
	}
}

// text runs a command that must succeed, and returns its reply if it is a string.
func (n *realNode) text(proto int, words ...string) string {
	n.Helper()
	r := resp.NewReader(n.frame(n.conns[proto], words...))
	if r.Kind() == resp.KindMap {
		return ""
	}
	s, err := r.String()
	if err != nil {
		n.Fatalf("%s: %q: %v", n.letter, words, err)
	}
	return s
}

// try runs a command and returns the server's error.
func (n *realNode) try(words ...string) error {
	n.Helper()
	r := resp.NewReader(n.frame(n.conns[2], words...))
	_, err := r.String()
	return err
}

func (n *realNode) config(name string) string {
	n.Helper()
	r := resp.NewReader(n.frame(n.conns[2], "CONFIG", "GET", name))
	if pairs, err := r.MapLen(); err != nil || pairs != 1 {
		n.Fatalf("CONFIG GET %s: %d pairs, %v", name, pairs, err)
	}
	_, _ = r.String()
	value, err := r.String()
	if err != nil {
		n.Fatal(err)
	}
	return value
}

// letters puts letters in the place of addresses.
func (c *realCluster) letters(text string) string {
	for _, n := range c.nodes {
		text = strings.ReplaceAll(text, n.Addr(), n.letter)
		text = strings.ReplaceAll(text, n.TLSAddr(), n.letter+"/TLS")
	}
	return text
}

// A view is a command that tells a topology.
type view struct {
	command string
	parse   parser
}

var (
	viewShards = view{"SHARDS", ParseShards}
	viewSlots  = view{"SLOTS", ParseSlots}
	views      = []view{viewShards, viewSlots}
)

// checkTopologies waits until nodes tell what is wanted, in both protocols and by
// both commands.
func (c *realCluster) checkTopologies(stage string, nodes []*realNode, want ...string) {
	c.Helper()
	for _, view := range views {
		c.checkView(view, stage, nodes, want...)
	}
}

func (c *realCluster) checkView(view view, stage string, nodes []*realNode, want ...string) {
	c.Helper()
	for _, n := range nodes {
		for proto := 2; proto <= 3; proto++ {
			var frame []byte
			var last string
			c.until(func() string {
				return fmt.Sprintf("%s: CLUSTER %s of %s says %q: %q is\n%s", stage, view.command, n.letter, want, frame, last)
			}, func() bool {
				frame = n.frame(n.conns[proto], "CLUSTER", view.command)
				top := c.parse(view.parse, frame, Origin{Addr: n.Addr()})
				c.checkIDs(top)
				last = c.letters(describe(top))
				return last == lines(want...)
			})
			if n == c.nodes[0] && (proto == 3 || stage == "joined" || stage == "unknown endpoint") {
				fmt.Fprintf(&c.recorded, "# %s\n%s RESP%d from=%s\n%q\n----\n\n", stage, strings.ToLower(view.command), proto, n.Addr(), frame)
			}
		}
	}
}

func (c *realCluster) parse(p parser, frame []byte, from Origin) *Topology {
	c.Helper()
	top, err := parse(c.T, p, frame, from)
	if err != nil {
		c.Fatalf("%q: %v", frame, err)
	}
	return top
}

func (c *realCluster) checkIDs(top *Topology) {
	c.Helper()
	for _, n := range c.nodes {
		for _, addr := range []string{n.Addr(), n.TLSAddr()} {
			if got, _, ok := top.Find(addr); ok && got.ID != n.id {
				c.Errorf("%s: got id %q, want %q", n.letter, got.ID, n.id)
			}
		}
	}
}

func (c *realCluster) record(file string) {
	c.Helper()
	text := "# Replies of " + c.name + ", in a cluster of three nodes; see TestRealCluster.\n\n" + c.recorded.String()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

// checkSlots asks the server for the slots of random keys.
func (c *realCluster) checkSlots() {
	c.Helper()
	n := c.nodes[0]
	for range 300 {
		key := make([]byte, rand.IntN(12))
		for i := range key {
			key[i] = "ab{}\x00\xff"[rand.IntN(6)]
		}
		r := resp.NewReader(n.frame(n.conns[2], "CLUSTER", "KEYSLOT", string(key)))
		want, err := r.Int()
		if err != nil {
			c.Fatal(err)
		}
		if got := Slot(key); int64(got) != want {
			c.Errorf("slot of %q: got %d, the server says %d", key, got, want)
		}
	}
}

// checkRedirects asks A for a key of B, and B for one that is on its way to A.
func (c *realCluster) checkRedirects() {
	c.Helper()
	a, b := c.nodes[0], c.nodes[1]
	const key = "foo" // in slot 12182, B's
	slot := strconv.Itoa(int(SlotString(key)))
	c.until(says("A serves"), func() bool { return !strings.HasPrefix(a.try("GET", key).Error(), "CLUSTERDOWN ") })
	c.wantRedirect(a, Redirect{Slot: SlotString(key), Addr: b.Addr()}, key)

	c.until(says("B serves"), func() bool { return errors.Is(b.try("GET", key), resp.Nil) })
	b.text(2, "CLUSTER", "SETSLOT", slot, "MIGRATING", a.id)
	c.wantRedirect(b, Redirect{Slot: SlotString(key), Addr: a.Addr(), Ask: true}, key)
	b.text(2, "CLUSTER", "SETSLOT", slot, "STABLE")
}

func (c *realCluster) wantRedirect(n *realNode, want Redirect, key string) {
	c.Helper()
	err := n.try("GET", key)
	if got, ok := ParseRedirect(fmt.Sprint(err), n.Addr()); !ok || got != want {
		c.Errorf("%s says %v: got %+v, want %+v", n.letter, err, got, want)
	}
}

// checkEndpoints goes through the types of endpoints, as A tells them.
func (c *realCluster) checkEndpoints() {
	c.Helper()
	a, b := c.nodes[0], c.nodes[1]
	moved := Redirect{Slot: SlotString("foo"), Addr: b.Addr()}

	a.text(2, "CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname")
	c.checkTopologies("names preferred, none known", c.nodes[:1], "[0-8191] A < C", "[8192-16383] B")
	c.wantRedirect(a, moved, "foo")

	for _, n := range c.nodes {
		n.text(2, "CONFIG", "SET", "cluster-announce-hostname", strings.ToLower(n.letter)+".example")
	}
	named := func(n *realNode) string {
		_, port, _ := net.SplitHostPort(n.Addr())
		return strings.ToLower(n.letter) + ".example:" + port
	}
	c.checkTopologies("names preferred", c.nodes[:1], "[0-8191] "+named(a)+" < "+named(c.nodes[2]), "[8192-16383] "+named(b))
	c.wantRedirect(a, Redirect{Slot: moved.Slot, Addr: named(b)}, "foo")

	a.text(2, "CONFIG", "SET", "cluster-preferred-endpoint-type", "unknown-endpoint")
	c.checkTopologies("unknown endpoint", c.nodes[:1], "[0-8191] A < C", "[8192-16383] B")
	c.wantRedirect(a, moved, "foo")

	a.text(2, "CONFIG", "SET", "cluster-preferred-endpoint-type", "ip")
	c.checkTopologies("names known", c.nodes[:1], "[0-8191] A < C", "[8192-16383] B")
	c.checkNames()
	c.checkTLS()
}

// checkNames finds nodes by their announced names, from both commands.
func (c *realCluster) checkNames() {
	c.Helper()
	a := c.nodes[0]
	for _, view := range views {
		top := c.parse(view.parse, a.frame(a.conns[3], "CLUSTER", view.command), Origin{Addr: a.Addr()})
		for _, n := range c.nodes {
			_, port, _ := net.SplitHostPort(n.Addr())
			name := strings.ToLower(n.letter) + ".example:" + port
			if got, _, ok := top.Find(name); !ok || got.ID != n.id || got.Addr != n.Addr() {
				c.Errorf("%s: %s finds %+v", view.command, name, got)
			}
		}
	}
}

// checkTLS asks A over TLS. Redis 7.0 knows of one port only, unless the nodes
// themselves use TLS.
func (c *realCluster) checkTLS() {
	c.Helper()
	if c.name == realserver.Redis7 {
		return
	}
	a := c.nodes[0]
	conn, err := tls.Dial("tcp", a.TLSAddr(), a.TLSConfig())
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, view := range views {
		frame := a.frame(conn, "CLUSTER", view.command)
		top := c.parse(view.parse, frame, Origin{Addr: a.TLSAddr(), TLS: true})
		if diff := cmp.Diff(lines("[0-8191] A/TLS < C/TLS", "[8192-16383] B/TLS"), c.letters(describe(top))); diff != "" {
			c.Errorf("TLS: %q (-want +got):\n%s", frame, diff)
		}
	}
	r := resp.NewReader(a.frame(conn, "GET", "foo"))
	if _, err = r.String(); err == nil {
		c.Fatal("GET of a key of B: no error")
	}
	want := Redirect{Slot: SlotString("foo"), Addr: c.nodes[1].TLSAddr()}
	if got, ok := ParseRedirect(err.Error(), a.TLSAddr()); !ok || got != want {
		c.Errorf("TLS: %v: got %+v, want %+v", err, got, want)
	}
}

// checkFailover lets C take over and compares what Move foresees from the first
// MOVED with what the nodes tell afterwards.
func (c *realCluster) checkFailover() {
	c.Helper()
	a, b, third := c.nodes[0], c.nodes[1], c.nodes[2]
	view := func() *Topology {
		return c.parse(ParseSlots, b.frame(b.conns[3], "CLUSTER", "SLOTS"), Origin{Addr: b.Addr()})
	}
	before := view()
	third.text(2, "CLUSTER", "FAILOVER")
	var redirect Redirect
	const key = "bar" // in slot 5061, A's
	c.until(says("A redirects to C"), func() bool {
		var ok bool
		redirect, ok = ParseRedirect(fmt.Sprint(a.try("GET", key)), a.Addr())
		return ok
	})
	foreseen := before.Move(Ranges{{redirect.Slot, redirect.Slot}}, redirect.Addr)
	if diff := cmp.Diff(lines("[0-8191] C < A", "[8192-16383] B"), c.letters(describe(foreseen))); diff != "" {
		c.Errorf("foreseen (-want +got):\n%s", diff)
	}
	c.checkTopologies("failed over", c.nodes[:], "[0-8191] C < A", "[8192-16383] B")
	after := view()
	if diff := cmp.Diff(Changes{}, Diff(foreseen, after)); diff != "" {
		c.Errorf("foreseen and told (-foreseen +told):\n%s", diff)
	}
	want := lines("^ C", "v A", `0-8191: "A" > "C"`)
	if diff := cmp.Diff(want, c.letters(describeChanges(Diff(before, after)))); diff != "" {
		c.Errorf("(-want +got):\n%s", diff)
	}
}

// checkHandshake lets A meet nobody. Such a node is in neither reply.
func (c *realCluster) checkHandshake() {
	c.Helper()
	a := c.nodes[0]
	a.text(2, "CLUSTER", "MEET", "127.0.0.1", "1", "2")
	r := resp.NewReader(a.frame(a.conns[2], "CLUSTER", "NODES"))
	if nodes, err := r.String(); err != nil || !strings.Contains(nodes, " handshake ") {
		c.Errorf("got %q, %v, want a node in handshake", nodes, err)
	}
	c.checkTopologies("meeting nobody", c.nodes[:1], "[0-8191] A < C", "[8192-16383] B")
}

// checkFailure kills C, the primary. What has failed is in one reply only, as a
// primary: in its shard, but for Redis 7.0, which puts it in one of its own.
func (c *realCluster) checkFailure() {
	c.Helper()
	a, living := c.nodes[0], c.nodes[:2]
	for _, n := range living {
		n.text(2, "CONFIG", "SET", "cluster-node-timeout", "1000")
	}
	if err := c.nodes[2].Kill(); err != nil {
		c.Fatal(err)
	}
	a.text(2, "CLUSTER", "FAILOVER", "TAKEOVER")
	want := []string{"[0-8191] A < C (failed)", "[8192-16383] B"}
	if c.name == realserver.Redis7 {
		want = []string{"[0-8191] A", "[8192-16383] B", "[] C (failed)"}
	}
	c.checkView(viewShards, "failed", living, want...)
	c.checkView(viewSlots, "failed", living, "[0-8191] A", "[8192-16383] B")
}

// TestRecordedReplies reads what real servers have answered.
func TestRecordedReplies(t *testing.T) {
	datadriven.Walk(t, filepath.Join("testdata", "replies"), func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			frame, err := strconv.Unquote(d.Input)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			from := Origin{}
			d.ScanArgs(t, "from", &from.Addr)
			p := ParseSlots
			if d.Cmd == "shards" {
				p = ParseShards
			}
			top, err := parse(t, p, []byte(frame), from)
			if err != nil {
				return err.Error() + "\n"
			}
			for n := range len(frame) {
				if _, err := parse(t, p, []byte(frame[:n]), from); err == nil {
					d.Fatalf(t, "no error for %q", frame[:n])
				}
			}
			return describeAll(top)
		})
	})
}

// describeAll writes everything that is known of each node.
func describeAll(t *Topology) string {
	var b strings.Builder
	for i, shard := range t.Shards() {
		fmt.Fprintf(&b, "%v\n", t.SlotsOf(i))
		for _, n := range append([]Node{shard.Primary}, shard.Replicas...) {
			role := "primary"
			if n.Replica {
				role = "replica"
			}
			fmt.Fprintf(&b, "  %s %s: id %.6s, name %q, ip %q, port %d, TLS %d, %v\n", role, n.Addr, n.ID, n.Hostname, n.IP, n.Port, n.TLSPort, n.Health)
		}
	}
	return b.String()
}
