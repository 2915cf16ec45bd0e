package maintsim

import (
	"context"
	"net"
	"sync"
)

// A Cluster is a simulated cluster: a proxy for each node, in front of one embedded
// server that all nodes share, or of the nodes of a real cluster. Its methods may be
// called from any goroutine.
//
// Shards and nodes are numbered. Shard s begins with node s as its primary; the spare
// shards come behind the others, and the replicas behind all of those, shard by shard.
// A node stays in its shard.
type Cluster struct {
	cfg ClusterConfig
	sim *Sim

	mu sync.Mutex
}

// NewCluster starts a simulated cluster. The error says everything that is wrong with
// cfg, or why the servers or the proxies could not be started.
func NewCluster(cfg ClusterConfig) (*Cluster, error) { return nil, nil }

// StartCluster is [NewCluster] for tests: it fails the test on an error and closes the
// cluster when the test ends.
func StartCluster(tb TB, cfg ClusterConfig) *Cluster { return nil }

// Close ends every connection, the proxies and the servers that were started, and
// waits until all of it is gone. Scenarios that run end with [ErrClosed]. It may be
// called more than once.
func (c *Cluster) Close() error { return nil }

// Addrs are the announced addresses of the nodes that are part of the cluster, of
// primaries first: what a client is to be configured with, together with
// [Cluster.DialContext] if there are names or a NAT.
func (c *Cluster) Addrs() []string { return nil }

// A NodeInfo is what the cluster knows of a node.
type NodeInfo struct {
	Node    int
	Shard   int
	Addr    string // announced
	Listen  string // where its proxy listens
	Primary bool
	Member  bool        // of the cluster: neither spare nor gone
	Alive   bool        // not killed
	Slots   []SlotRange // of a primary
}

// Nodes describes all nodes, by number.
func (c *Cluster) Nodes() []NodeInfo { return nil }

// Slots are the slots that a shard has.
func (c *Cluster) Slots(shard int) []SlotRange { return nil }

// Owner is the shard that has a key, or -1.
func (c *Cluster) Owner(key string) int { return -1 }

// Primary is the node that is the primary of a shard.
func (c *Cluster) Primary(shard int) int { return -1 }

// Spares are the shards that are no part of the cluster.
func (c *Cluster) Spares() []int { return nil }

// Migrate moves slots between shards: SMIGRATING with all of them to every connection
// of every node, the lead time, the slots move within the window, and SMIGRATED with
// one triplet for each move. Several may overlap, and a move may take slots along that
// are still on their way to its source. A spare shard becomes part of the cluster with
// its first slot. If ctx ends, the slots that have moved stay where they are, and
// SMIGRATED tells of them.
//
// Options: [WithLead], [WithWindow], [WithAtomic], [WithRemoval] with [WithGrace] and
// [WithCloseMode], [WithStall], [WithUnannounced], and all that change notices.
func (c *Cluster) Migrate(ctx context.Context, moves []SlotMove, opts ...Option) error { return nil }

// MigrateSlots is [Cluster.Migrate] of one move. Without slots it takes all.
func (c *Cluster) MigrateSlots(ctx context.Context, from, to int, slots []SlotRange, opts ...Option) error {
	return c.Migrate(ctx, []SlotMove{{From: from, To: to, Slots: slots}}, opts...)
}

// Failover makes a replica the primary of its shard, in agreement with the old one,
// which is a replica then: SMIGRATING with all slots of the shard, the lead time, the
// change, SMIGRATED. [WithTarget] says which node takes over; by default it is the first
// that lives. With [WithUnannounced] nobody is told. It fails with [ErrNoTarget] if there
// is none.
func (c *Cluster) Failover(ctx context.Context, shard int, opts ...Option) error { return nil }

// AddShard makes the first spare shard part of the cluster and moves a fair share of
// the slots there: one announced window for each shard that gives slots, one after the
// other. It returns the shard's number.
func (c *Cluster) AddShard(ctx context.Context, opts ...Option) (shard int, err error) {
	return -1, nil
}

// RemoveShard moves the slots of a shard to the others, one announced window for each,
// one after the other. Then the shard leaves the cluster: its nodes close their
// connections after the grace time, and are spare again.
func (c *Cluster) RemoveShard(ctx context.Context, shard int, opts ...Option) error { return nil }

// Reshard adds a shard, and removes it again.
func (c *Cluster) Reshard(ctx context.Context, opts ...Option) error { return nil }

// Kill ends a node without notice: its connections are reset with commands in flight,
// and dials are refused. If it is a primary, a replica takes over after Config.Outage,
// or what a real cluster takes.
func (c *Cluster) Kill(ctx context.Context, node int) error { return nil }

// Restart brings a killed node back, as a replica if another one took over.
func (c *Cluster) Restart(ctx context.Context, node int) error { return nil }

// Cut cuts the connections to all nodes, or with [WithProxy] to one, with their
// commands in flight; see [Sim.Cut]. Nobody takes over.
func (c *Cluster) Cut(ctx context.Context, opts ...Option) error { return nil }

// Do runs a command on the node that has its key, past the proxies and whatever they
// simulate; see [Engine.Do]. A command without keys is run by the first primary of a
// real cluster.
func (c *Cluster) Do(args ...string) (any, error) { return nil, nil }

// Events returns what happened so far; see [Sim.Events]. Event.Proxy is the node.
func (c *Cluster) Events() []Event { return nil }

// ClusterStats are counts since the start, and what is open now.
type ClusterStats struct {
	Nodes    []NodeStats       // by number
	Commands uint64            // forwarded to servers
	Answered uint64            // answered by the proxies themselves
	Lookups  uint64            // of names, whatever came of them
	Notices  map[Notice]uint64 // sent, one for each connection told
	Cuts     []CutStats        // in order, one for each cut, killed node and node that left
}

// NodeStats are the counts of one node.
type NodeStats struct {
	ProxyStats
	Commands uint64 // read from clients, but for those of the handshake

	// Replies of these kinds, sent since the start.
	Moved, Ask, TryAgain, ClusterDown uint64
}

// Stats returns a consistent copy of the counts. It may be called at any time.
func (c *Cluster) Stats() ClusterStats { return ClusterStats{} }

// LookupHost resolves the names of nodes, node-<i>.sim.test; see [Sim.LookupHost].
func (c *Cluster) LookupHost(ctx context.Context, host string) ([]string, error) { return nil, nil }

// DialContext connects to addr: to the node that is announced by it, or else as
// [Sim.DialContext]. It has the form of a client's dialer option.
func (c *Cluster) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return nil, nil
}

// Sim is what the proxies have in common with those of a database: faults, the way
// bytes are sent, the opt-in command, the version, the next number, [Sim.Push]. Its
// proxies are the nodes. Its scenarios are those of a database, and have no place in a
// cluster.
func (c *Cluster) Sim() *Sim { return c.sim }
