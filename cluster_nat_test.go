package redis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintsim"
)

// keyOfSlot finds a key with a slot.
func keyOfSlot(slot int) string {
	for i := 0; ; i++ {
		if key := fmt.Sprint("k", i); int(cluster.SlotString(key)) == slot {
			return key
		}
	}
}

// forward listens on loopback and passes everything on to an address, both ways.
func forward(t *testing.T, to string) (addr string) {
	t.Helper()
	return serve(t, func(nc net.Conn) {
		up, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer up.Close()
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = io.Copy(up, nc); _ = up.(*net.TCPConn).CloseWrite() })
		_, _ = io.Copy(nc, up)
		nc.Close()
		wg.Wait()
	})
}

// A router is the way from a client to nodes that it knows by other addresses than
// theirs.
type router struct {
	mu      sync.Mutex // guards the fields below
	routes  map[string]string
	dialled map[string]int
}

func newRouter() *router {
	return &router{routes: map[string]string{}, dialled: map[string]int{}}
}

func (r *router) add(addr, to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.routes[addr] = to
}

// dial is the client's Dialer. What has no route can't be reached.
func (r *router) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	r.mu.Lock()
	r.dialled[addr]++
	to := r.routes[addr]
	r.mu.Unlock()
	if to == "" {
		return nil, fmt.Errorf("there is no route to %s", addr)
	}
	return (&net.Dialer{}).DialContext(ctx, network, to)
}

// strays are the addresses that were dialled and lead nowhere.
func (r *router) strays() (addrs []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for addr := range r.dialled {
		if r.routes[addr] == "" {
			addrs = append(addrs, addr)
		}
	}
	slices.Sort(addrs)
	return addrs
}

// A natTester is a cluster behind a router, with its client.
type natTester struct {
	*router
	cl *realserver.Cluster
	c  *redis.ClusterClient
}

// startNAT starts a cluster. announce tells what a node announces, and routes at which
// addresses clients reach it; the first of the first node's is the seed.
func startNAT(
	t *testing.T, server string, cfg realserver.ClusterConfig,
	announce func(node int, addr string) realserver.Announcement, routes func(node int, addr string, a realserver.Announcement) []string,
) *natTester {
	t.Helper()
	n := &natTester{router: newRouter()}
	var seed string
	cfg.Announce = func(node int, addr string) realserver.Announcement {
		a := announce(node, addr)
		for i, known := range routes(node, addr, a) {
			if node+i == 0 {
				seed = known
			}
			n.add(known, addr)
		}
		return a
	}
	cfg.NodeTimeout = steady(cfg.Replicas).NodeTimeout
	n.cl = realserver.StartCluster(t, server, cfg)
	n.c = redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{seed}, Dialer: n.dial, DialerRetries: 1, Logger: testLogger(t)})
	t.Cleanup(func() { _ = n.c.Close() })
	return n
}

// drill has everything go on while slots move and, where there are replicas, a primary
// fails over.
func (n *natTester) drill(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ps := n.c.SSubscribe(ctx, "ch")
	defer ps.Close()
	wantEvents(t, ps, "ssubscribe ch 1")
	k := consume(ctx, ps)
	l := startClusterLoad(t, n.c, 16)
	addrs := n.cl.Addrs()
	slots := realserver.SlotRange{End: 63}
	for _, way := range [][2]string{{addrs[0], addrs[1]}, {addrs[1], addrs[0]}} {
		if err := n.cl.MoveSlots(ctx, way[0], way[1], slots); err != nil {
			t.Fatal(err)
		}
	}
	replicas, err := n.cl.Replicas(ctx, addrs[1])
	if err != nil {
		t.Fatal(err)
	}
	if len(replicas) > 0 {
		if err := n.cl.Failover(ctx, replicas[0]); err != nil {
			t.Fatal(err)
		}
	}
	l.end()
	k.works(t, n.c, "spublish", "ch")
	_ = ps.Close()
	k.wg.Wait()
	if strays := n.strays(); len(strays) > 0 {
		t.Errorf("the client has dialled %q, which lead nowhere", strays)
	}
}

func withPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// The nodes announce proxies, and the client begins at a node itself or at a proxy.
func TestClusterBehindProxies(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers()[:1] {
		for _, seed := range []string{"at a node", "at a proxy"} {
			t.Run(server+" "+seed, func(t *testing.T) {
				t.Parallel()
				n := startNAT(t, server, realserver.ClusterConfig{Replicas: 1},
					func(_ int, addr string) realserver.Announcement {
						_, port, _ := net.SplitHostPort(forward(t, addr))
						num, _ := strconv.Atoi(port)
						return realserver.Announcement{Port: num}
					},
					func(node int, addr string, a realserver.Announcement) []string {
						known := []string{withPort("127.0.0.1", a.Port)}
						if node == 0 && seed == "at a node" {
							known = []string{addr, known[0]}
						}
						return known
					})
				n.drill(t)
			})
		}
	}
}

// What the nodes announce can be reached through the client's Dialer only.
func TestClusterBehindADialer(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server+" by port", func(t *testing.T) {
			t.Parallel()
			n := startNAT(t, server, realserver.ClusterConfig{},
				func(node int, _ string) realserver.Announcement { return realserver.Announcement{Port: 7001 + node} },
				func(node int, addr string, a realserver.Announcement) []string {
					return []string{withPort("127.0.0.1", a.Port)}
				})
			n.drill(t)
		})
		t.Run(server+" by name", func(t *testing.T) {
			t.Parallel()
			n := startNAT(t, server, realserver.ClusterConfig{Replicas: 1, Args: []string{"--cluster-preferred-endpoint-type", "hostname"}},
				func(node int, _ string) realserver.Announcement {
					return realserver.Announcement{Hostname: fmt.Sprintf("node-%d.example", node)}
				},
				func(_ int, addr string, a realserver.Announcement) []string {
					_, port, _ := net.SplitHostPort(addr)
					return []string{a.Hostname + ":" + port}
				})
			n.drill(t)
		})
	}
}

// The nodes tell no host: it is the one that was asked.
func TestClusterWithoutHosts(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			n := startNAT(t, server, realserver.ClusterConfig{Replicas: 1, Args: []string{"--cluster-preferred-endpoint-type", "unknown-endpoint"}},
				func(int, string) realserver.Announcement { return realserver.Announcement{} },
				func(_ int, addr string, _ realserver.Announcement) []string {
					_, port, _ := net.SplitHostPort(addr)
					return []string{"cluster.example:" + port}
				})
			n.drill(t)
		})
	}
}

// Names are preferred and there are none: the servers say "?", and what they tell beside it
// must do, also where a redirect tells no more than a port.
func TestClusterWithoutNames(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			n := startNAT(t, server, realserver.ClusterConfig{
				Hosts: []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}, Args: []string{"--cluster-preferred-endpoint-type", "hostname"},
			}, func(int, string) realserver.Announcement { return realserver.Announcement{} },
				func(_ int, addr string, _ realserver.Announcement) []string { return []string{addr} })
			n.drill(t)
		})
	}
}

// A notice names nodes as they announce themselves or as they are reached, and both are
// understood; what another notice has overtaken is not.
func TestClusterNoticesNameNodesEitherWay(t *testing.T) {
	names := []string{"a.example:7000", "b.example:7001", "c.example:7002"}
	r := newRouter()
	sims := make([]*maintsim.Sim, len(names))
	slots := make([]redis.ClusterSlot, len(names))
	for i, name := range names {
		sims[i] = maintsim.Start(t, maintsim.Config{})
		r.add(name, sims[i].Addr())
		slots[i] = redis.ClusterSlot{Start: i * 100, End: i*100 + 99, Nodes: []redis.ClusterNode{{Addr: name}}}
	}
	slots[2].End = cluster.Slots - 1
	var isTold atomic.Bool
	c := redis.NewClusterClient(&redis.ClusterOptions{
		Dialer: r.dial, DialerRetries: 1,
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			if isTold.Swap(true) { // what the notices say must do
				return nil, errors.New("the test's cluster does not tell")
			}
			return slots, nil
		},
	})
	defer c.Close()
	ctx := soon(t)
	key := keyOfSlot(0)
	for slot := range 3 {
		want(t, "SET", c.Set(ctx, keyOfSlot(slot*100), "old", 0).Result, "OK")
	}
	bulk := func(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
	seq := 0
	migrate := func(from, to string) {
		seq++
		frame := fmt.Sprintf(">3\r\n$9\r\nSMIGRATED\r\n:%d\r\n*1\r\n*3\r\n", seq) + bulk(from) + bulk(to) + bulk("0")
		if sims[2].Push(frame) == 0 {
			t.Fatal("nobody listens")
		}
	}
	at := func(i int) bool {
		v := fmt.Sprint("v", seq)
		_ = c.Set(ctx, key, v, 0).Err()
		got, _ := sims[i].Backend().Do("GET", key)
		return got == v
	}
	migrate(names[0], sims[1].Addr()) // announced, reached
	await(t, "the slot is at b", func() bool { return at(1) })
	migrate(sims[0].Addr(), names[2]) // a has it no more
	migrate(sims[1].Addr(), names[0]) // reached, announced
	await(t, "the slot is at a", func() bool { return at(0) })
	if v, _ := sims[2].Backend().Do("GET", key); v != nil {
		t.Errorf("c has got %v, by a notice that was overtaken", v)
	}
	if strays := r.strays(); len(strays) > 0 {
		t.Errorf("the client has dialled %q", strays)
	}
}
