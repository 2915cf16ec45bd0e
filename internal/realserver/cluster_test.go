package realserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A clusterTester is a cluster with verbs that fail the test.
type clusterTester struct {
	*Cluster
	t *testing.T
}

func startCluster(t *testing.T, name string, cfg ClusterConfig) clusterTester {
	t.Helper()
	return clusterTester{StartCluster(t, name, cfg), t}
}

// do sends a command that must not fail.
func (c clusterTester) do(addr string, words ...string) any {
	c.t.Helper()
	reply, err := c.Do(c.t.Context(), addr, words...)
	if err != nil {
		c.t.Fatalf("%s: %q: %v", addr, words, err)
	}
	return reply
}

// put stores a key at the owner of its slot, and returns the slot.
func (c clusterTester) put(key, value string) int {
	c.t.Helper()
	slot, _ := c.do(c.Addrs()[0], "CLUSTER", "KEYSLOT", key).(int64)
	if got := c.do(c.owner(int(slot)), "SET", key, value); got != "OK" {
		c.t.Fatalf("SET: got %v", got)
	}
	return int(slot)
}

func (c clusterTester) owner(slot int) string {
	c.t.Helper()
	addr, err := c.Owner(c.t.Context(), slot)
	if err != nil {
		c.t.Fatal(err)
	}
	return addr
}

func (c clusterTester) primaries() []string {
	c.t.Helper()
	addrs, err := c.Primaries(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return addrs
}

func (c clusterTester) replicas(of string) []string {
	c.t.Helper()
	addrs, err := c.Replicas(c.t.Context(), of)
	if err != nil {
		c.t.Fatal(err)
	}
	return addrs
}

// refuses sends a command that the server must refuse in words that begin so.
func (c clusterTester) refuses(prefix, addr string, words ...string) {
	c.t.Helper()
	reply, err := c.Do(c.t.Context(), addr, words...)
	if refusal, ok := errors.AsType[ReplyError](err); !ok || !strings.HasPrefix(string(refusal), prefix) {
		c.t.Fatalf("%s: %q: got %v, %v, want %s", addr, words, reply, err, prefix)
	}
}

// TestClusterLives takes a cluster through what can happen to one.
func TestClusterLives(t *testing.T) {
	for _, name := range All() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, name, ClusterConfig{Primaries: 3, Replicas: 1})
			if got := len(c.Addrs()); got != 6 {
				t.Fatalf("%d nodes, want 6", got)
			}
			if got := c.primaries(); !slices.Equal(got, c.Addrs()[:3]) {
				t.Fatalf("primaries: got %q, want the first three of %q", got, c.Addrs())
			}
			if got := c.replicas(""); !slices.Equal(got, c.Addrs()[3:]) {
				t.Fatalf("replicas: got %q, want the last three of %q", got, c.Addrs())
			}
			c.movesSlots()
			c.failsOver()
			c.losesAPrimary()
		})
	}
}

// movesSlots moves slots with keys in them.
func (c clusterTester) movesSlots() {
	c.t.Helper()
	var slots []int
	for i := range 3 {
		slots = append(slots, c.put(fmt.Sprintf("{moved}%d", i), "v"))
	}
	slot := slots[0]
	from := c.owner(slot)
	to := c.primaries()[0]
	if to == from {
		to = c.primaries()[1]
	}
	r := SlotRange{max(0, slot-2), slot}
	if err := c.MoveSlots(c.t.Context(), from, to, r); err != nil {
		c.t.Fatal(err)
	}
	if got := c.owner(slot); got != to {
		c.t.Fatalf("slot %d: owned by %s, want %s", slot, got, to)
	}
	c.refuses(fmt.Sprintf("MOVED %d ", slot), from, "GET", "{moved}0")
	if got := c.do(to, "MGET", "{moved}0", "{moved}1", "{moved}2"); !slices.Equal(got.([]any), []any{"v", "v", "v"}) {
		c.t.Fatalf("at the new owner: %v", got)
	}
	err := c.AtomicMigrate(c.t.Context(), to, from, r)
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil {
		c.t.Fatal(err)
	}
	if got := c.do(from, "GET", "{moved}2"); got != "v" {
		c.t.Fatalf("after the way back: %v", got)
	}
}

// failsOver swaps a primary and its replica.
func (c clusterTester) failsOver() {
	c.t.Helper()
	primary := c.primaries()[1]
	replica := c.replicas(primary)[0]
	if err := c.Failover(c.t.Context(), replica); err != nil {
		c.t.Fatal(err)
	}
	if got := c.replicas(replica); !slices.Equal(got, []string{primary}) {
		c.t.Fatalf("after the failover %s has the replicas %q, want %s", replica, got, primary)
	}
}

// losesAPrimary kills a primary, whose replica must take over.
func (c clusterTester) losesAPrimary() {
	c.t.Helper()
	slot := c.put("survivor", "v")
	lost := c.owner(slot)
	heir := c.replicas(lost)[0]
	if reply := c.do(lost, "WAIT", "1", "5000"); reply != int64(1) {
		c.t.Fatalf("WAIT: %v", reply)
	}
	if err := c.Kill(lost); err != nil {
		c.t.Fatal(err)
	}
	if slices.Contains(c.Addrs(), lost) {
		c.t.Fatalf("%s is still listed", lost)
	}
	if err := c.Settle(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	if got := c.owner(slot); got != heir {
		c.t.Fatalf("slot %d: owned by %s, want %s", slot, got, heir)
	}
	if got := c.do(heir, "GET", "survivor"); got != "v" {
		c.t.Fatalf("after the failover: %v", got)
	}
}

func TestSlotMoveStepByStep(t *testing.T) {
	t.Parallel()
	c := startCluster(t, Redis7, ClusterConfig{Primaries: 2, Password: "open sesame"})
	slot := c.put("{s}a", "1")
	c.put("{s}b", "2")
	from, to := c.owner(slot), c.primaries()[0]
	if to == from {
		to = c.primaries()[1]
	}
	m, err := c.StartMove(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Open(t.Context(), slot); err != nil {
		t.Fatal(err)
	}
	c.refuses(fmt.Sprintf("ASK %d ", slot), from, "GET", "{s}none")
	if n, err := m.Keys(t.Context(), slot, 1); n != 1 || err != nil {
		t.Fatalf("moved %d, %v, want 1", n, err)
	}
	c.refuses("TRYAGAIN ", from, "MGET", "{s}a", "{s}b")
	for _, want := range []int{1, 0} {
		if n, err := m.Keys(t.Context(), slot, 10); n != want || err != nil {
			t.Fatalf("moved %d, %v, want %d", n, err, want)
		}
	}
	if err := m.Finish(t.Context(), slot); err != nil {
		t.Fatal(err)
	}
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.do(to, "GET", "{s}b"); got != "2" {
		t.Errorf("at the new owner: %v", got)
	}
}

// TestClusterAnnouncesWhatItIsTold puts another address and a name in front of nodes.
func TestClusterAnnouncesWhatItIsTold(t *testing.T) {
	for _, name := range All() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			c := startCluster(t, name, ClusterConfig{
				Primaries: 2,
				Hosts:     []string{"127.0.0.1", "127.0.0.2"},
				Args:      []string{"--cluster-preferred-endpoint-type", "hostname"},
				Announce: func(node int, addr string) Announcement {
					told = append(told, addr)
					return Announcement{Port: 7000 + node, Hostname: fmt.Sprintf("node-%d.example", node)}
				},
			})
			if !slices.Equal(told, c.Addrs()) {
				t.Errorf("told of %q, the nodes are at %q", told, c.Addrs())
			}
			for i, addr := range c.Addrs() {
				if host, _, _ := net.SplitHostPort(addr); host != fmt.Sprintf("127.0.0.%d", i+1) {
					t.Errorf("node %d listens on %s", i, addr)
				}
				if got, want := c.Announced(addr), fmt.Sprintf("node-%d.example:700%d", i, i); got != want {
					t.Errorf("node %d: got %s, want %s", i, got, want)
				}
				slots := fmt.Sprint(c.do(addr, "CLUSTER", "SLOTS"))
				for _, want := range []string{"node-0.example 7000", "node-1.example 7001"} {
					if !strings.Contains(slots, want) {
						t.Errorf("node %d: CLUSTER SLOTS lacks %s: %s", i, want, slots)
					}
				}
			}
		})
	}
}

// TestClusterBehindProxies: even replicas reach their primaries through what is
// announced.
func TestClusterBehindProxies(t *testing.T) {
	for _, name := range []string{Redis8, Valkey9} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var proxies []string
			c := startCluster(t, name, ClusterConfig{
				Primaries: 2,
				Replicas:  1,
				Announce: func(_ int, addr string) Announcement {
					port := forward(t, addr)
					proxies = append(proxies, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
					return Announcement{Port: port}
				},
			})
			slot := c.put("k", "v")
			owner := c.owner(slot)
			if got := c.Announced(owner); !slices.Contains(proxies, got) {
				t.Errorf("%s announces %s, which is none of %q", owner, got, proxies)
			}
			if got := c.do(c.Announced(owner), "GET", "k"); got != "v" {
				t.Errorf("through the proxy: %v", got)
			}
			if got := c.do(owner, "WAIT", "1", "5000"); got != int64(1) {
				t.Errorf("WAIT: %v", got)
			}
			for _, addr := range c.Addrs() {
				if addr != owner && !slices.Contains(c.replicas(owner), addr) {
					c.refuses(fmt.Sprintf("MOVED %d %s", slot, c.Announced(owner)), addr, "GET", "k")
				}
			}
		})
	}
}

func TestClusterTalksTLS(t *testing.T) {
	for _, name := range All() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, name, ClusterConfig{Primaries: 2, Replicas: 1, TLS: true})
			slot := c.put("k", "v")
			owner, other := c.owner(slot), c.primaries()[0]
			if other == owner {
				other = c.primaries()[1]
			}
			for _, addr := range c.Addrs() {
				conn, err := tls.Dial("tcp", c.Server(addr).TLSAddr(), c.TLSConfig())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				got := talk(t, conn, []string{"GET", "k"})
				if want := fmt.Sprintf("-MOVED %d %s", slot, c.Server(owner).TLSAddr()); addr == other && got != want {
					t.Errorf("%s: got %q, want %q", addr, got, want)
				}
			}
			if err := c.MoveSlots(t.Context(), owner, other, SlotRange{slot, slot}); err != nil {
				t.Fatal(err)
			}
			if got := c.do(other, "GET", "k"); got != "v" {
				t.Errorf("at the new owner: %v", got)
			}
			if err := c.Failover(t.Context(), c.replicas(other)[0]); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// forward passes connections on to addr until the test ends, and returns its port.
func forward(t *testing.T, addr string) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { join(ctx, near, addr) })
		}
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// join copies both ways between a connection and addr until either ends or ctx is done.
func join(ctx context.Context, near net.Conn, addr string) {
	defer func() { _ = near.Close() }()
	far, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	end := func() {
		_ = near.Close()
		_ = far.Close()
	}
	defer context.AfterFunc(ctx, end)()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, far)
		end()
	})
	_, _ = io.Copy(far, near)
	end()
	back.Wait()
}

// TestClusterMovesAllSlots empties a primary.
func TestClusterMovesAllSlots(t *testing.T) {
	t.Parallel()
	c := startCluster(t, Valkey9, ClusterConfig{Primaries: 2})
	from, to := c.Addrs()[0], c.Addrs()[1]
	if err := c.MoveSlots(t.Context(), from, to, SlotRange{0, 4000}); err != nil {
		t.Fatal(err)
	}
	if err := c.AtomicMigrate(t.Context(), from, to, SlotRange{4001, 5000}, SlotRange{5001, 8191}); err != nil {
		t.Fatal(err)
	}
	for _, slot := range []int{0, 4000, 4001, 8191, 16383} {
		if got := c.owner(slot); got != to {
			t.Errorf("slot %d: owned by %s, want %s", slot, got, to)
		}
	}
	if got := c.primaries(); !slices.Equal(got, []string{from, to}) {
		t.Errorf("primaries: got %q, want both", got)
	}
}

func TestClusterSurvivesAPause(t *testing.T) {
	t.Parallel()
	c := startCluster(t, Redis8, ClusterConfig{Primaries: 3, Replicas: 1, NodeTimeout: time.Second})
	primary := c.primaries()[0]
	heir := c.replicas(primary)[0]
	if err := c.Pause(primary); err != nil {
		t.Fatal(err)
	}
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.primaries(); !slices.Contains(got, heir) || len(got) != 3 {
		t.Errorf("primaries: got %q, want %s among three", got, heir)
	}
	if err := c.Resume(primary); err != nil {
		t.Fatal(err)
	}
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.replicas(heir); !slices.Equal(got, []string{primary}) {
		t.Errorf("replicas of the heir: got %q, want %s", got, primary)
	}
}

func TestClusterWaitsAreBounded(t *testing.T) {
	t.Parallel()
	c := startCluster(t, Valkey8, ClusterConfig{Primaries: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := c.until(ctx, func(context.Context) error { return errors.New("never") })
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "never") {
		t.Errorf("got %v, want the deadline and what was waited for", err)
	}
	if _, err := c.Do(ctx, c.Addrs()[0], "PING"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	if err := c.Failover(t.Context(), "127.0.0.1:1"); err == nil {
		t.Error("a stranger failed over")
	}
	if err := c.Kill("127.0.0.1:1"); err == nil {
		t.Error("a stranger was killed")
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := c.Addrs(); len(got) != 0 {
		t.Errorf("after Close: %q live", got)
	}
}

func TestAClusterThatCantStartTellsWhy(t *testing.T) {
	path := Require(t, Redis7)
	c, err := LaunchCluster(t.Context(), path, ClusterConfig{Args: []string{"--no-such-setting", "1"}})
	if err == nil {
		_ = c.Close()
		t.Fatal("started with a setting that does not exist")
	}
	if !strings.Contains(err.Error(), "no-such-setting") {
		t.Errorf("the error does not show the servers' logs: %v", err)
	}
}
