package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/resp"
)

// topology gives the state, and waits for the first one.
func (c *clusterCore) topology(ctx context.Context) (*clusterState, error) {
	if st := c.state.Load(); st != nil {
		return st, nil
	}
	return c.refresh(ctx)
}

// refresh asks for the topology, or joins whoever does, and waits. It gives what was told,
// without what redirects have changed since: they tell of single slots, so that a node and
// its successor may both be primaries for a while.
func (c *clusterCore) refresh(ctx context.Context) (*clusterState, error) {
	l := c.begin()
	if l == nil {
		return nil, &CommandError{Delivery: NotSent, Err: ErrClosed}
	}
	select {
	case <-l.done:
		return l.st, l.err
	case <-ctx.Done():
		return nil, &CommandError{Delivery: NotSent, Err: context.Cause(ctx)}
	}
}

// refreshSoon asks for the topology, or once more after the refresh going on.
func (c *clusterCore) refreshSoon() {
	c.mu.Lock()
	isGoing := c.load != nil
	c.stale = c.stale || isGoing
	c.mu.Unlock()
	if !isGoing {
		c.begin()
	}
}

// begin begins a refresh, or gives the one going on; nil: the client is closed.
func (c *clusterCore) begin() *clusterLoad {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	if c.load == nil {
		c.load = &clusterLoad{done: make(chan struct{})}
		c.stale = false
		c.work.Go(c.reload)
	}
	return c.load
}

// reloadPause is the least time between two refreshes in a row, and half of it is jitter.
const reloadPause = 50 * time.Millisecond

// reload is the goroutine of a refresh. It goes on where something has changed since it
// began.
func (c *clusterCore) reload() {
	for {
		topo, err := c.ask()
		c.reloads.Add(1)
		isSettled := true
		var st *clusterState
		if err == nil {
			isSettled = c.isSettled(topo)
			if st = c.adopt(topo); st == nil {
				err = &CommandError{Delivery: NotSent, Err: ErrClosed}
			}
		}
		c.mu.Lock()
		l, again := c.load, c.stale && !c.closed
		c.stale, c.load = false, nil
		if again {
			c.load = &clusterLoad{done: make(chan struct{})}
		}
		c.schedule(isSettled)
		c.mu.Unlock()
		l.st, l.err = st, err
		close(l.done)
		if !again {
			return
		}
		sleep(c.run, reloadPause/2+rand.N(reloadPause)) //nolint:gosec // jitter, no secret
	}
}

// settleAfter is when the topology is asked for again after a change. Nodes learn of it one
// after the other, and what moves without anybody using it causes no redirect.
const settleAfter = time.Second

// restingPoll is when the topology is asked for again while commands wait for a change.
const restingPoll = 100 * time.Millisecond

// isSettled tells whether topo is what was known before, and what redirects have told
// since.
func (c *clusterCore) isSettled(topo *cluster.Topology) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.known
	c.known = topo
	st := c.state.Load()
	return was == nil || cluster.Diff(was, topo).IsEmpty() && cluster.Diff(st.topo, topo).IsEmpty()
}

// schedule sets the timer of the next refresh that nothing else calls for; mu is held.
func (c *clusterCore) schedule(isSettled bool) {
	every := c.opt.ClusterStateReloadInterval
	sooner := func(d time.Duration) {
		if every <= 0 || every > d {
			every = d
		}
	}
	if !isSettled {
		sooner(settleAfter)
	}
	if c.resting.Load() > 0 {
		sooner(restingPoll)
	}
	if every <= 0 || c.closed {
		return
	}
	every += rand.N(every/10+1) - every/20 //nolint:gosec // jitter, no secret
	if c.timer == nil {
		c.timer = time.AfterFunc(every, c.refreshSoon)
		return
	}
	c.timer.Reset(every)
}

// askTime bounds the question to one node.
const askTime = 2 * time.Second

// ask asks one node after the other for the topology until one tells.
func (c *clusterCore) ask() (*cluster.Topology, error) {
	if c.opt.ClusterSlots != nil {
		slots, err := c.opt.ClusterSlots(c.run)
		if err != nil {
			return nil, &CommandError{Delivery: NotSent, Err: fmt.Errorf("ClusterSlots: %w", err)}
		}
		return topologyOf(slots)
	}
	var errs []error
	for _, addr := range c.candidates() {
		n := c.node(addr)
		if n == nil {
			return nil, &CommandError{Delivery: NotSent, Err: ErrClosed}
		}
		topo, err := c.askNode(n, askTime)
		if err == nil {
			return topo, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", addr, err))
	}
	return nil, &CommandError{Delivery: NotSent, Err: fmt.Errorf("no node tells the cluster's topology: %w", errors.Join(errs...))}
}

// candidates are the addresses to ask: those that served last, in random order, and the
// seeds. Where a primary is down its replicas come first, because one of them is the first
// to know who follows it; those that are down themselves come last.
func (c *clusterCore) candidates() []string {
	var first, rest, last []string
	if st := c.state.Load(); st != nil {
		orphans := st.orphans()
		for _, n := range st.nodes {
			switch {
			case n.isDown():
				last = append(last, n.addr)
			case slices.Contains(orphans, n):
				first = append(first, n.addr)
			default:
				rest = append(rest, n.addr)
			}
		}
	}
	for _, addr := range c.opt.Addrs {
		if !slices.Contains(slices.Concat(first, rest, last), addr) {
			last = append(last, addr)
		}
	}
	for _, addrs := range [][]string{first, rest} {
		rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	}
	rand.Shuffle(len(last), func(i, j int) { last[i], last[j] = last[j], last[i] })
	return slices.Concat(first, rest, last)
}

// orphans are the replicas whose primary is down.
func (st *clusterState) orphans() (all []*clusterNode) {
	for shard, p := range st.primary {
		if p != nil && p.isDown() {
			all = append(all, st.replicas[shard]...)
		}
	}
	return all
}

// askNode asks one node, in one round trip: CLUSTER SLOTS tells who serves which slots,
// CLUSTER SHARDS how they are and by which other names they go. Where the server has
// only one of the two, that must do, and is all that is asked the next time.
func (c *clusterCore) askNode(n *clusterNode, patience time.Duration) (*cluster.Topology, error) {
	ctx, cancel := context.WithTimeout(c.run, patience)
	defer cancel()
	from := cluster.Origin{Addr: n.addr, TLS: c.opt.TLSConfig != nil}
	slots, shards := newTopologyCmd(cluster.ParseSlots, "slots", from), newTopologyCmd(cluster.ParseShards, "shards", from)
	cmds := []Cmder{slots, shards}
	lacks := n.lacks.Load()
	switch lacks {
	case lacksShards:
		cmds = cmds[:1]
	case lacksSlots:
		cmds = cmds[1:]
	}
	if _, err := n.client.core.sendUnit(ctx, laneShared, cmds, sendMany); err != nil {
		return nil, err
	}
	var topo *cluster.Topology
	switch {
	case slots.topo != nil:
		topo = slots.topo.With(shards.topo) // a nil one tells nothing
		n.note(lacks, lacksShards, shards.err)
	case shards.topo != nil:
		topo = shards.topo
		n.note(lacks, lacksSlots, slots.err)
	default:
		n.lacks.Store(lacksNothing)
		return nil, errors.Join(slots.err, shards.err)
	}
	if topo = topo.Serving(); len(topo.Shards()) == 0 {
		return nil, errors.New("it knows of no slot that is served")
	}
	return topo, nil
}

// What a node can't be asked for.
const (
	lacksNothing = iota // as far as is known
	lacksShards
	lacksSlots
)

// note remembers what a node has refused, unless it was not asked for it.
func (n *clusterNode) note(before, lacks int32, refusal error) {
	if before == lacksNothing && refusal != nil && !notReady(refusal) {
		n.lacks.Store(lacks)
	}
}

// topologyCmd is CLUSTER SLOTS or SHARDS.
type topologyCmd struct {
	baseCmd
	parse func(r *resp.Reader, from cluster.Origin) (*cluster.Topology, error)
	from  cluster.Origin
	topo  *cluster.Topology
}

func newTopologyCmd(parse func(*resp.Reader, cluster.Origin) (*cluster.Topology, error), word string, from cluster.Origin) *topologyCmd {
	c := &topologyCmd{parse: parse, from: from}
	c.begin("cluster")
	c.str(word)
	return c
}

func (c *topologyCmd) String() string { return c.show("a topology") }

func (c *topologyCmd) readReply(r *resp.Reader) (err error) {
	c.topo, err = c.parse(r, c.from)
	return err
}

// topologyOf reads what ClusterOptions.ClusterSlots has told.
func topologyOf(slots []ClusterSlot) (*cluster.Topology, error) {
	b := resp.AppendArrayLen(nil, len(slots))
	for _, s := range slots {
		b = resp.AppendArrayLen(b, 2+len(s.Nodes))
		b = resp.AppendInt(resp.AppendInt(b, int64(s.Start)), int64(s.End))
		for _, n := range s.Nodes {
			host, port, err := net.SplitHostPort(n.Addr)
			if err != nil {
				return nil, &CommandError{Delivery: NotSent, Err: fmt.Errorf("ClusterSlots: %w", err)}
			}
			num, err := strconv.ParseInt(port, 10, 64)
			if err != nil {
				return nil, &CommandError{Delivery: NotSent, Err: fmt.Errorf("ClusterSlots: %s: %w", n.Addr, err)}
			}
			b = resp.AppendArrayLen(b, 3)
			b = resp.AppendBulk(resp.AppendInt(resp.AppendBulk(b, host), num), n.ID)
		}
	}
	r := resp.NewReader(b)
	return cluster.ParseSlots(&r, cluster.Origin{})
}
