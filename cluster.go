package redis

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/maintnotifications"
)

// ClusterClient is a client of a cluster: it sends each command to the node that has its
// key. Each node is an endpoint with lanes and handoffs of its own, like that of a
// Client. It is safe for concurrent use. Connections are opened when they are first
// needed.
//
// Commands that are for several nodes are sent to all of them at the same time, and their
// replies merged: DBSIZE, KEYS, FLUSHALL, SCRIPT LOAD and the like. MGET, MSET, DEL, UNLINK,
// EXISTS and TOUCH with keys of several slots are sent in parts, one for each slot, so that
// they are not atomic. Where a part fails, the *CommandError says at which node, and its
// Delivery is NotSent only if no part was sent. Commands for one node that nothing in them
// tells, such as SCAN, are refused: they are for the clients that MasterForKey and
// ForEachMaster give. ClusterOptions.DisableRoutingPolicies switches all this off.
type ClusterClient struct {
	cmdable
	hooks
	*clusterCore
}

// clusterCore is what a cluster client knows and does. Lock order: mu, then that of a
// node's client.
type clusterCore struct {
	opt     *ClusterOptions // with defaults; immutable
	base    *Options        // of any node, with defaults; immutable
	invalid error           // what is wrong with the options; immutable

	watch *sentinels // they tell the topology of servers that are no cluster; nil: it is one. Immutable

	run  context.Context // ends at Close
	stop context.CancelFunc
	work sync.WaitGroup // refreshes, retirements

	state       atomic.Pointer[clusterState] // nil: not known yet
	redirects   atomic.Int64                 // MOVED answers that were followed
	reloads     atomic.Int64                 // refreshes
	nodesHooked atomic.Bool                  // clients of nodes may have hooks: somebody sees them being made, or has added one since
	resting     atomic.Int32                 // commands that wait for the cluster to be ready
	probes      atomic.Bool                  // delays of nodes are being measured
	probeSoon   chan struct{}                // one slot: they are to be measured anew
	autos       autoPipes

	mu      sync.Mutex // guards the fields below
	closed  bool
	nodes   map[string]*clusterNode   // by address: those of the topology, and the seeds that were asked
	leaving map[*clusterNode]struct{} // those that are being retired
	load    *clusterLoad              // the refresh going on; nil: none
	changed chan struct{}             // closed when there is another topology
	known   *cluster.Topology         // as the last refresh or a notice has told it; nil: not known yet
	stale   bool                      // something has changed since it began
	timer   *time.Timer               // of the next periodic refresh
	torn    time.Time                 // since when the topology has slots without a node; zero: it has none
	onNew   []func(*Client)           // see OnNewNode
	making  map[string]chan struct{}  // nodes that are being made; closed when they are
	seen    cluster.Seen              // SMIGRATED notices that were acted upon
	subs    map[*PubSub]struct{}
}

// Bounds of the table of notices: every connection of every node tells each of them
// (maintenance specification, section 6).
const (
	seenMost = 256
	seenFor  = 10 * time.Minute
)

// clusterState is a topology with the nodes it speaks of. It is never changed.
type clusterState struct {
	topo     *cluster.Topology
	nodes    map[string]*clusterNode
	primary  []*clusterNode   // of each shard; nil: not known
	replicas [][]*clusterNode // of each shard, those that serve
	masters  []*clusterNode   // the primaries that are known
}

func newClusterState(topo *cluster.Topology, nodes map[string]*clusterNode) *clusterState {
	st := &clusterState{topo: topo, nodes: nodes}
	for _, shard := range topo.Shards() {
		p := nodes[shard.Primary.Addr]
		st.primary = append(st.primary, p)
		if p != nil {
			st.masters = append(st.masters, p)
		}
		var rs []*clusterNode
		for _, r := range shard.Replicas {
			if n := nodes[r.Addr]; n != nil && r.Health.IsUsable() {
				rs = append(rs, n)
			}
		}
		st.replicas = append(st.replicas, rs)
	}
	return st
}

// at gives the primary of a slot; nil: none is known.
func (st *clusterState) at(slot uint16) *clusterNode {
	if i := st.topo.Owner(slot); i >= 0 {
		return st.primary[i]
	}
	return nil
}

// clusterLoad is one refresh that any number of callers wait for.
type clusterLoad struct {
	done chan struct{} // closed when st or err is set
	st   *clusterState
	err  error
}

// NewClusterClient makes a client of a cluster. It connects to nothing and starts
// nothing until it is used. Options that make no sense are reported by every command.
func NewClusterClient(opt *ClusterOptions) *ClusterClient {
	if opt == nil {
		panic("redis: NewClusterClient needs ClusterOptions")
	}
	o := opt.withDefaults()
	core := &clusterCore{
		opt: o, base: o.node("localhost:6379").withDefaults(),
		nodes: make(map[string]*clusterNode), leaving: make(map[*clusterNode]struct{}),
		making: make(map[string]chan struct{}), subs: make(map[*PubSub]struct{}),
	}
	core.changed = make(chan struct{})
	core.probeSoon = make(chan struct{}, 1)
	core.invalid = o.validate()
	core.nodesHooked.Store(opt.NewClient != nil)
	core.seen = cluster.NewSeen(seenMost, seenFor)
	core.run, core.stop = context.WithCancel(context.Background())
	c := &ClusterClient{clusterCore: core}
	c.hooks.init(chain{
		dial: core.base.Dialer, process: core.process, pipeline: core.processPipeline, tx: core.processTx,
	}, nil)
	c.cmdable = c.Process
	return c
}

// Options are the client's, with defaults filled in. They must not be changed.
func (c *ClusterClient) Options() *ClusterOptions { return c.opt }

// Process sends a command and waits for its reply, which is stored in cmd together with
// the error.
func (c *ClusterClient) Process(ctx context.Context, cmd Cmder) error {
	err := c.hooks.chain.Load().process(ctx, cmd)
	cmd.SetErr(err) // a hook may have changed it
	return err
}

// Do sends a command given by its arguments, the name first.
func (c *ClusterClient) Do(ctx context.Context, args ...any) *Cmd {
	cmd := NewCmd(ctx, args...)
	_ = c.Process(ctx, cmd)
	return cmd
}

// Close ends all connections and waits until every goroutine of the client has ended. A
// second Close returns ErrClosed.
func (c *ClusterClient) Close() error {
	c.autos.close()
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.closed = true
	nodes := slices.AppendSeq(slices.Collect(maps.Values(c.nodes)), maps.Keys(c.leaving))
	subs := slices.Collect(maps.Keys(c.subs))
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.stop()
	for _, p := range subs {
		_ = p.Close()
	}
	var errs []error
	for _, n := range nodes {
		if err := n.client.Close(); err != nil && !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	c.work.Wait()
	if c.watch != nil {
		c.watch.close()
	}
	return errors.Join(errs...)
}

// ReloadState asks the cluster for its topology soon, without waiting for the answer.
func (c *ClusterClient) ReloadState(_ context.Context) { c.refreshSoon() }

func (c *clusterCore) unusable() error {
	if c.invalid != nil {
		return &CommandError{Delivery: NotSent, Err: c.invalid}
	}
	return nil
}

// adopt makes topo the topology, with its nodes. Nodes that are no part of it any more are
// retired. It gives the state; nil: the client is closed.
func (c *clusterCore) adopt(topo *cluster.Topology) *clusterState {
	var st *clusterState
	c.change(func(*clusterState) *cluster.Topology { return topo }, func() {
		switch {
		case len(topo.Missing()) == 0:
			c.torn = time.Time{}
		case c.torn.IsZero():
			c.torn = time.Now()
		}
		st = c.state.Load()
		for addr, n := range c.nodes {
			if st.nodes[addr] == nil && !n.leaving {
				n.leaving = true
				c.work.Go(func() { c.retire(n) })
			}
		}
	})
	return st
}

// change has next make a topology of the state, which is nil at first, and makes it the
// one in use when all its nodes are there; then it calls done. Both are called with the
// lock held, next perhaps more than once. It is false where next gives nil, or the client
// is closed.
func (c *clusterCore) change(next func(st *clusterState) *cluster.Topology, done func()) bool {
	for {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return false
		}
		st := c.state.Load()
		topo := next(st)
		if topo == nil {
			c.mu.Unlock()
			return false
		}
		nodes, missing := make(map[string]*clusterNode), ""
		for n := range topo.Nodes() {
			if nodes[n.Addr] = c.nodes[n.Addr]; nodes[n.Addr] == nil {
				missing = n.Addr
			}
		}
		if missing == "" {
			c.state.Store(newClusterState(topo, nodes))
			c.tendSubs()
			if st == nil || !cluster.Diff(st.topo, topo).IsEmpty() {
				close(c.changed)
				c.changed = make(chan struct{})
			}
			if c.probes.Load() && c.isUnmeasured(nodes) {
				signal(c.probeSoon)
			}
			done()
			c.mu.Unlock()
			return true
		}
		c.mu.Unlock()
		if c.node(missing) == nil {
			return false
		}
	}
}

// moved takes in that a slot is elsewhere: it is used at once, and verified soon. addr ""
// is an elsewhere that was not told.
func (c *clusterCore) moved(slot uint16, addr string) {
	if addr != "" {
		c.change(func(st *clusterState) *cluster.Topology {
			if st == nil || st.topo.Primary(slot) == addr {
				return nil
			}
			return st.topo.Move(cluster.Ranges{{First: slot, Last: slot}}, addr)
		}, func() {})
	}
	c.refreshSoon()
}

// migrated takes in a SMIGRATED notice, once, however many connections tell it: the new
// owners are used at once, and verified soon. What was announced by a node that is not
// the owner any more has been overtaken.
func (c *clusterCore) migrated(n maintnotifications.Notice) {
	isNew := false
	var topo *cluster.Topology
	c.change(func(st *clusterState) *cluster.Topology {
		isNew = isNew || st != nil && c.seen.First(n.Seq, time.Now())
		if !isNew {
			return nil
		}
		topo = st.topo
		for _, move := range n.Moves {
			topo = c.shift(topo, move)
		}
		return topo
	}, func() { c.known = topo })
	if isNew {
		c.refreshSoon()
	}
}

// shift gives the topology after slots of one node went to another one; mu is held.
func (c *clusterCore) shift(topo *cluster.Topology, move maintnotifications.SlotMove) *cluster.Topology {
	var slots cluster.Ranges
	_, source, isKnown := topo.Find(c.knownAs(topo, move.Source))
	for _, r := range move.Slots {
		if !isKnown || topo.Owner(r.First) == source {
			slots = append(slots, cluster.Range(r))
		}
	}
	if len(slots) == 0 {
		return topo
	}
	return topo.Move(slots, c.knownAs(topo, move.Destination))
}

// knownAs gives the address by which the topology knows a node that a notice names. It may
// be named as it announces itself or as it is reached (maintenance specification, section
// 6), which differ where a Dialer or a name leads to it. mu is held.
func (c *clusterCore) knownAs(topo *cluster.Topology, addr string) string {
	if _, _, isKnown := topo.Find(addr); isKnown {
		return addr
	}
	for known, n := range c.nodes {
		if _, _, isKnown := topo.Find(known); isKnown && n.client.core.ep != nil && n.client.core.ep.IsLinkedTo(addr) {
			return known
		}
	}
	return addr
}

// isUnmeasured tells whether the delay of a node is not known, though it has not failed.
func (c *clusterCore) isUnmeasured(nodes map[string]*clusterNode) bool {
	for _, n := range nodes {
		if n.rtt.Load() == 0 && n.downAt.Load() == 0 {
			return true
		}
	}
	return false
}

//------------------------------------------------------------------------------

// ForEachMaster calls fn with the client of each primary, all at the same time, and gives
// the errors joined.
func (c *ClusterClient) ForEachMaster(ctx context.Context, fn func(ctx context.Context, client *Client) error) error {
	return c.forEach(ctx, fn, func(st *clusterState) []*clusterNode { return st.masters })
}

// ForEachSlave is ForEachMaster for the replicas.
func (c *ClusterClient) ForEachSlave(ctx context.Context, fn func(ctx context.Context, client *Client) error) error {
	return c.forEach(ctx, fn, func(st *clusterState) (all []*clusterNode) {
		for _, rs := range st.replicas {
			all = append(all, rs...)
		}
		return all
	})
}

// ForEachShard is ForEachMaster for all nodes, primaries and replicas. The name is
// go-redis's.
func (c *ClusterClient) ForEachShard(ctx context.Context, fn func(ctx context.Context, client *Client) error) error {
	return c.forEach(ctx, fn, func(st *clusterState) []*clusterNode { return slices.Collect(maps.Values(st.nodes)) })
}

func (c *ClusterClient) forEach(
	ctx context.Context, fn func(ctx context.Context, client *Client) error, pick func(*clusterState) []*clusterNode,
) error {
	if err := c.unusable(); err != nil {
		return err
	}
	st, err := c.refresh(ctx)
	if err != nil {
		return err
	}
	nodes := pick(st)
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { errs[i] = fn(ctx, n.client) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// MasterForKey gives the client of the primary that has a key.
func (c *ClusterClient) MasterForKey(ctx context.Context, key string) (*Client, error) {
	st, err := c.stateFor(ctx)
	if err != nil {
		return nil, err
	}
	if n := st.at(cluster.SlotString(key)); n != nil {
		return n.client, nil
	}
	return nil, notServed(int(cluster.SlotString(key)))
}

// SlaveForKey gives the client of a replica that has a key; the primary's where there is
// none.
func (c *ClusterClient) SlaveForKey(ctx context.Context, key string) (*Client, error) {
	st, err := c.stateFor(ctx)
	if err != nil {
		return nil, err
	}
	if n := c.reader(st, cluster.SlotString(key)); n != nil {
		return n.client, nil
	}
	return c.MasterForKey(ctx, key)
}

func (c *clusterCore) stateFor(ctx context.Context) (*clusterState, error) {
	if err := c.unusable(); err != nil {
		return nil, err
	}
	return c.topology(ctx)
}

// PoolStats adds up those of all nodes.
func (c *ClusterClient) PoolStats() *PoolStats {
	c.mu.Lock()
	nodes := slices.Collect(maps.Values(c.nodes))
	c.mu.Unlock()
	var sum PoolStats
	for _, n := range nodes {
		sum.add(n.client.PoolStats())
	}
	return &sum
}
