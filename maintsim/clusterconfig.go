package maintsim

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// Defaults of [ClusterConfig].
const (
	DefaultShards = 3
	DefaultSpares = 1
	DefaultWindow = time.Second
)

// maxNodes bounds the size of a cluster, spare nodes and replicas included.
const maxNodes = 100

// A ClusterConfig says which cluster to simulate. Its zero value is one of three
// shards without replicas, and a spare shard, in front of an embedded server, with
// the timing of the real product.
type ClusterConfig struct {
	// Config is what holds for each node as it does for a database. Backend is
	// [Embedded] or a [Program], of which each node is a process. Hosts are the
	// loopback addresses of the nodes, in turn; empty means 127.0.0.1. Every node
	// has a port of its own, Port to the first. Stall is how long replies are held
	// back when slots have moved; zero means not at all. Outage is after how long a
	// replica takes over from a primary that was killed. Unsupported makes an
	// open-source cluster of it, which never announces anything.
	//
	// Proxies, OwnPorts, Records, Linger, ResolverChange, CloseJitter and
	// RetainedLast have no use in a cluster.
	Config

	// Shards is how many shards share the slots evenly. Zero means DefaultShards.
	Shards int

	// Spares is how many more shards there are, not part of the cluster until slots
	// are moved there. Zero means DefaultSpares, negative none.
	Spares int

	// Replicas is how many replicas each shard has.
	Replicas int

	// Window is how long slots take to move, in wire time, from the end of the lead
	// time to SMIGRATED. Zero means DefaultWindow, negative as long as it takes.
	Window time.Duration

	// Announce returns the address, host:port, by which the cluster makes a node
	// known that listens on addr, as behind a NAT. It is called once for each node.
	// [Cluster.DialContext] leads from the one to the other. Nil means that nodes
	// are known by the addresses they listen on. Nodes of a real server talk to each
	// other there, so of theirs only a name and the port may differ.
	Announce func(node int, addr string) string

	// Names makes nodes known by name, node-<i>.sim.test with i from 1 on, which
	// [Cluster.LookupHost] and [Cluster.DialContext] resolve.
	Names bool
}

// withDefaults returns a copy of c with defaults filled in, or every problem.
func (c ClusterConfig) withDefaults() (ClusterConfig, error) {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("maintsim: "+format, args...))
	}
	if c.Shards == 0 {
		c.Shards = DefaultShards
	}
	if c.Spares == 0 {
		c.Spares = DefaultSpares
	}
	c.Spares = max(c.Spares, 0)
	if c.Shards < 1 || c.Replicas < 0 || c.nodes() > maxNodes {
		bad("%d shards, %d spares and %d replicas: want a shard or more, and at most %d nodes", c.Shards, c.Spares, c.Replicas, maxNodes)
		return c, errors.Join(errs...)
	}
	if c.Backend.kind == backendAddress {
		bad("a cluster can't be in front of a %s: want Embedded or a Program", c.Backend)
	}
	hosts := c.Hosts
	if len(hosts) == 0 {
		hosts = []string{"127.0.0.1"}
	}
	c.Hosts = nil
	for i := range c.nodes() {
		c.Hosts = append(c.Hosts, hosts[i%len(hosts)])
	}
	c.OwnPorts, c.Records, c.RetainedLast = true, 1, false
	if c.Stall == 0 {
		c.Stall = -1
	}
	c.Window = orDefault(c.Window, DefaultWindow)
	var err error
	if c.Config, err = c.Config.withDefaults(); err != nil {
		errs = append(errs, err)
	}
	return c, errors.Join(errs...)
}

// nodes is how many nodes there are: the first of each shard, those of the spare
// ones, and then the replicas of each.
func (c ClusterConfig) nodes() int { return (c.Shards + c.Spares) * (1 + c.Replicas) }

// shardOf is the shard that a node belongs to, for good.
func (c ClusterConfig) shardOf(node int) int {
	if first := c.Shards + c.Spares; node >= first {
		return (node - first) / c.Replicas
	}
	return node
}

// A SlotRange is the slots from First to Last, both included.
type SlotRange struct{ First, Last int }

// String returns the range as notices tell it: "5" or "5-9".
func (r SlotRange) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return strconv.Itoa(r.First) + "-" + strconv.Itoa(r.Last)
}

// A SlotMove is slots that go from one shard to another.
type SlotMove struct {
	From, To int
	Slots    []SlotRange // nil means all that From has
}

// validAnnounced tells what is wrong with an address that is to be announced.
func validAnnounced(addr string) error {
	host, _, err := splitAddr(addr)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		return fmt.Errorf("maintsim: %q can't be announced", addr)
	}
	return nil
}

// splitAddr splits host:port.
func splitAddr(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("maintsim: %w", err)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("maintsim: %q has no port", addr)
	}
	return host, port, nil
}
