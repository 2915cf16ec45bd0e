package maintsim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
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
	cfg      ClusterConfig // with defaults; immutable, as all up to the blank line
	sim      *Sim
	table    *slotTable
	channels *shardChannels
	fleet    fleet

	mu struct {
		sync.Mutex
		planned [slotCount]int16 // who has each slot when all migrations are over
	}
	closeOnce sync.Once
	closeErr  error // set by closeOnce
}

// NewCluster starts a simulated cluster. The error says everything that is wrong with
// cfg, or why the servers or the proxies could not be started.
func NewCluster(cfg ClusterConfig) (*Cluster, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, sim: newSim(cfg.Config)}
	c.sim.cluster = c
	lns, err := c.sim.listen()
	if err != nil {
		c.sim.cancel()
		return nil, err
	}
	addrs, err := c.announced()
	if err == nil {
		c.table = newSlotTable(cfg, addrs)
		c.mu.planned = c.table.owner
		c.channels = newShardChannels(c.table)
		err = c.start(lns)
	}
	if err != nil {
		closeAll(lns)
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// start starts the servers, and serves from the listeners of nodes that are part of the
// cluster. The others are closed.
func (c *Cluster) start(lns []net.Listener) (err error) {
	if c.cfg.Backend.kind == backendProgram {
		return c.startReal(lns)
	}
	if c.sim.engine, err = c.cfg.Backend.start(c.sim.ctx, c.cfg.Config); err != nil {
		return err
	}
	c.fleet = embeddedFleet{c}
	for node, ln := range lns {
		if c.cfg.shardOf(node) >= c.cfg.Shards {
			_ = ln.Close()
			continue
		}
		c.sim.serve(c.sim.proxies[node], ln, nil)
	}
	return nil
}

// announced are the addresses by which nodes are known.
func (c *Cluster) announced() ([]string, error) {
	var addrs []string
	for node, p := range c.sim.proxies {
		addr := p.addr
		switch {
		case c.cfg.Announce != nil:
			addr = c.cfg.Announce(node, p.addr)
		case c.cfg.Names:
			addr = net.JoinHostPort(p.name, strconv.Itoa(p.port))
		}
		if err := validAnnounced(addr); err != nil {
			return nil, err
		}
		if slices.Contains(addrs, addr) {
			return nil, fmt.Errorf("maintsim: two nodes are announced as %s", addr)
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

// StartCluster is [NewCluster] for tests: it fails the test on an error and closes the
// cluster when the test ends.
func StartCluster(tb TB, cfg ClusterConfig) *Cluster {
	tb.Helper()
	c, err := NewCluster(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Fatal(err)
		}
	})
	return c
}

// Close ends every connection, the proxies and the servers that were started, and
// waits until all of it is gone. Scenarios that run end with [ErrClosed]. It may be
// called more than once.
func (c *Cluster) Close() error {
	c.closeOnce.Do(func() {
		if c.sim.engine == nil { // it never started
			c.sim.cancel()
			return
		}
		c.closeErr = c.sim.Close()
		if c.fleet != nil {
			c.closeErr = errors.Join(c.closeErr, c.fleet.close())
		}
	})
	return c.closeErr
}

// Addrs are the announced addresses of the nodes that are part of the cluster, of
// primaries first: what a client is to be configured with, together with
// [Cluster.DialContext] if there are names or a NAT.
func (c *Cluster) Addrs() []string {
	var primaries, replicas []string
	for _, n := range c.Nodes() {
		switch {
		case !n.Member:
		case n.Primary:
			primaries = append(primaries, n.Addr)
		default:
			replicas = append(replicas, n.Addr)
		}
	}
	return append(primaries, replicas...)
}

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
func (c *Cluster) Nodes() []NodeInfo {
	t := c.table
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]NodeInfo, len(c.sim.proxies))
	for node, p := range c.sim.proxies {
		shard := c.cfg.shardOf(node)
		n := NodeInfo{
			Node: node, Shard: shard, Addr: t.addrs[node], Listen: p.addr,
			Primary: t.shards[shard].primary == node, Member: t.shards[shard].member, Alive: t.alive[node],
		}
		if n.Primary {
			n.Slots = ranges(t.slotsOfLocked(shard))
		}
		out[node] = n
	}
	return out
}

// Slots are the slots that a shard has.
func (c *Cluster) Slots(shard int) []SlotRange { return ranges(c.table.slotsOf(shard)) }

// Owner is the shard that has a key, or -1.
func (c *Cluster) Owner(key string) int {
	c.table.mu.RLock()
	defer c.table.mu.RUnlock()
	return int(c.table.owner[slotOfString(key)])
}

// Primary is the node that is the primary of a shard.
func (c *Cluster) Primary(shard int) int { return c.table.primary(shard) }

// Spares are the shards that are no part of the cluster.
func (c *Cluster) Spares() []int { return c.table.members(false) }

// Migrate moves slots between shards: SMIGRATING with all of them to every connection
// of every node, the lead time, the slots move within the window, and SMIGRATED with
// one triplet for each move. Several may overlap, and a move may take slots along that
// are still on their way to its source. A spare shard becomes part of the cluster with
// its first slot. If ctx ends, the slots that have moved stay where they are, and
// SMIGRATED tells of them.
//
// Options: [WithLead], [WithWindow], [WithAtomic], [WithRemoval] with [WithGrace] and
// [WithCloseMode], [WithStall], [WithUnannounced], and all that change notices.
func (c *Cluster) Migrate(ctx context.Context, moves []SlotMove, opts ...Option) error {
	return c.migrate(ctx, moves, c.options(opts))
}

// options are the defaults of c, changed by opts.
func (c *Cluster) options(opts []Option) options {
	o := c.sim.options(append([]Option{WithWindow(c.cfg.Window)}, opts...))
	return o
}

// MigrateSlots is [Cluster.Migrate] of one move. Without slots it takes all.
func (c *Cluster) MigrateSlots(ctx context.Context, from, to int, slots []SlotRange, opts ...Option) error {
	return c.Migrate(ctx, []SlotMove{{From: from, To: to, Slots: slots}}, opts...)
}

// Failover makes a replica the primary of its shard, in agreement with the old one,
// which is a replica then: SMIGRATING with all slots of the shard, the lead time, the
// change, SMIGRATED. [WithTarget] says which node takes over; by default it is the first
// that lives. With [WithUnannounced] nobody is told. It fails with [ErrNoTarget] if there
// is none.
func (c *Cluster) Failover(ctx context.Context, shard int, opts ...Option) error {
	return c.failover(ctx, shard, c.options(opts))
}

// AddShard makes the first spare shard part of the cluster and moves a fair share of
// the slots there: one announced window for each shard that gives slots, one after the
// other. It returns the shard's number.
func (c *Cluster) AddShard(ctx context.Context, opts ...Option) (shard int, err error) {
	return c.addShard(ctx, opts)
}

// RemoveShard moves the slots of a shard to the others, one announced window for each,
// one after the other. Then the shard leaves the cluster: its nodes close their
// connections after the grace time, and are spare again.
func (c *Cluster) RemoveShard(ctx context.Context, shard int, opts ...Option) error {
	return c.removeShard(ctx, shard, opts)
}

// Reshard adds a shard, and removes it again.
func (c *Cluster) Reshard(ctx context.Context, opts ...Option) error {
	shard, err := c.AddShard(ctx, opts...)
	if err != nil {
		return err
	}
	return c.RemoveShard(ctx, shard, opts...)
}

// Kill ends a node without notice: its connections are reset with commands in flight,
// and dials are refused. If it is a primary, a replica takes over after Config.Outage,
// or what a real cluster takes.
func (c *Cluster) Kill(_ context.Context, node int) error {
	if err := c.checkNode(node); err != nil {
		return err
	}
	c.table.update(func() { c.table.alive[node] = false })
	c.closeNode(node, endReset, EventKilled)
	if err := c.fleet.kill(node); err != nil {
		return err
	}
	c.sim.later(c.cfg.Outage, func() {
		if err := c.fleet.takeOver(c.sim.ctx, node); err != nil {
			c.cfg.Logger.Warn("maintsim: nobody took over", slog.Int("node", node), slog.Any("err", err))
		}
	})
	return nil
}

func (c *Cluster) checkNode(node int) error {
	if node < 0 || node >= len(c.sim.proxies) {
		return fmt.Errorf("maintsim: no node %d", node)
	}
	return nil
}

// Restart brings a killed node back, as a replica if another one took over. A real server
// comes back without data.
func (c *Cluster) Restart(ctx context.Context, node int) error {
	if err := c.checkNode(node); err != nil {
		return err
	}
	if err := c.sim.open(c.sim.proxies[node]); err != nil { // replicas look for the node there
		return err
	}
	return c.fleet.restart(ctx, node)
}

// Cut cuts the connections to all nodes, or with [WithProxy] to one, with their
// commands in flight; see [Sim.Cut]. Nobody takes over.
func (c *Cluster) Cut(ctx context.Context, opts ...Option) error { return c.sim.Cut(ctx, opts...) }

// Do runs a command on the node that has its key, past the proxies and whatever they
// simulate; see [Engine.Do]. A command without keys is run by the first primary of a
// real cluster.
func (c *Cluster) Do(args ...string) (any, error) { return c.fleet.do(args) }

// Events returns what happened so far; see [Sim.Events]. Event.Proxy is the node.
func (c *Cluster) Events() []Event { return c.sim.Events() }

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
	Commands uint64 // read from clients

	// Replies of these kinds, sent since the start.
	Moved, Ask, TryAgain, ClusterDown uint64
}

// Stats returns a consistent copy of the counts. It may be called at any time.
func (c *Cluster) Stats() ClusterStats {
	st := c.sim.Stats()
	out := ClusterStats{Commands: st.Commands, Answered: st.Answered, Lookups: st.Lookups, Notices: st.Notices, Cuts: st.Cuts}
	for node, p := range c.sim.proxies {
		out.Nodes = append(out.Nodes, NodeStats{
			ProxyStats: st.Proxies[node], Commands: p.commands.Load(),
			Moved: p.moved.Load(), Ask: p.asked.Load(), TryAgain: p.tryAgain.Load(), ClusterDown: p.clusterDown.Load(),
		})
	}
	return out
}

// LookupHost resolves the names of nodes, node-<i>.sim.test; see [Sim.LookupHost].
func (c *Cluster) LookupHost(ctx context.Context, host string) ([]string, error) {
	return c.sim.LookupHost(ctx, host)
}

// DialContext connects to addr: to the node that is announced by it, or else as
// [Sim.DialContext]. It has the form of a client's dialer option.
func (c *Cluster) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if node := slices.Index(c.table.addrs, addr); node >= 0 {
		addr = c.sim.proxies[node].addr
	}
	return c.sim.DialContext(ctx, network, addr)
}

// Sim is what the proxies have in common with those of a database: faults, the way
// bytes are sent, the opt-in command, the version, the next number, [Sim.Push]. Its
// proxies are the nodes. Its scenarios are those of a database, and have no place in a
// cluster.
func (c *Cluster) Sim() *Sim { return c.sim }
