package redis

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// clusterNode is one node.
type clusterNode struct {
	of     *clusterCore
	addr   string
	client *Client
	made   time.Time
	lacks  atomic.Int32 // what it can't be asked for; see askNode
	asked  atomic.Int64 // when an ASK led there last, in nanoseconds of Unix time
	downAt atomic.Int64 // the same of when it could not be reached last; 0: it was since
	rtt    atomic.Int64 // how long a PING takes, in nanoseconds; 0: not known
	minded atomic.Bool  // mind is running

	leaving bool // the topology has it no more; guarded by clusterCore.mu
}

// node gives the node at an address, and makes it where there is none. nil: the client
// is closed.
func (c *clusterCore) node(addr string) *clusterNode {
	for {
		c.mu.Lock()
		n, made := c.nodes[addr], c.making[addr]
		switch {
		case c.closed:
			c.mu.Unlock()
			return nil
		case n != nil:
			c.mu.Unlock()
			return n
		case made == nil:
			made = make(chan struct{})
			c.making[addr] = made
			onNew := slices.Clone(c.onNew)
			c.mu.Unlock()
			return c.makeNode(addr, made, onNew)
		}
		c.mu.Unlock()
		<-made
	}
}

// makeNode makes the node at an address, and tells those who want to know of it. Others
// who need the node wait until made is closed.
func (c *clusterCore) makeNode(addr string, made chan struct{}, onNew []func(*Client)) (n *clusterNode) {
	defer func() { // also where a callback panics
		c.mu.Lock()
		delete(c.making, addr)
		isClosed := c.closed
		if n != nil && !isClosed {
			c.nodes[addr] = n
		}
		c.mu.Unlock()
		close(made)
		if n != nil && isClosed {
			_ = n.client.Close()
			n = nil
		}
	}()
	client := c.opt.NewClient(c.opt.node(addr))
	client.hooks.note(&c.nodesHooked)
	client.core.isNode.Store(true)
	client.core.readOnly.Store(c.opt.ReadOnly && c.watch == nil)
	told := c.migrated
	client.core.slots.Store(&told)
	for _, fn := range onNew {
		fn(client)
	}
	n = &clusterNode{of: c, addr: addr, client: client, made: time.Now()}
	if ep := client.core.ep; ep != nil {
		ep.TellSlow(n.suspect)
	}
	return n
}

// OnNewNode has fn called with the client of each node that is made from now on, before
// anything is sent to it; so OnNewNode belongs right behind NewClusterClient. A hook that
// fn adds sees the node's dials, and each attempt of a command, pipeline or transaction of
// the ClusterClient there, with its redirects. fn may be called by several goroutines at
// once, as may ClusterOptions.NewClient, and both may use the ClusterClient, but neither
// wait for a command of it, which may be waiting for them, nor close it.
func (c *ClusterClient) OnNewNode(fn func(client *Client)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onNew = append(c.onNew, fn)
	c.nodesHooked.Store(true)
}

//------------------------------------------------------------------------------

// nodeCall is an attempt of the cluster client that passes the hooks of a node's client.
// It goes with the context: what the client does after its hooks is this attempt then, and
// nothing else.
type nodeCall struct {
	cmd    Cmder // the first of several; it tells the attempt from what hooks send themselves
	do     func(ctx context.Context) error
	err    error
	answer error // the first that the server has given
	isEnd  bool  // the end of the hooks was reached
}

type nodeCallKey struct{}

// nodeCallOf gives the attempt that a context brings for commands; nil: there is none.
func (c *core) nodeCallOf(ctx context.Context, cmds ...Cmder) *nodeCall {
	if !c.isNode.Load() || len(cmds) == 0 {
		return nil // most clients
	}
	if call, ok := ctx.Value(nodeCallKey{}).(*nodeCall); ok && call.cmd == cmds[0] {
		return call
	}
	return nil
}

// attempt is what happens after the hooks.
func (call *nodeCall) attempt(ctx context.Context, cmds ...Cmder) error {
	call.isEnd = true
	call.err = call.do(ctx)
	if call.answer = firstErr(cmds); call.err != nil {
		return call.err
	}
	return call.answer
}

// hooked makes an attempt pass hooks, which run has begin. It gives the error that do has,
// even if hooks have put words around it, as it decides what comes next; so do redirects.
// What else hooks have made of the outcome is in the commands.
func (call *nodeCall) hooked(ctx context.Context, run func(ctx context.Context) error, cmds ...Cmder) error {
	err := run(context.WithValue(ctx, nodeCallKey{}, call))
	switch {
	case call.isEnd && call.err != nil && errors.Is(err, call.err):
		return call.err
	case call.isEnd && call.err == nil && call.answer != nil && isElsewhere(call.answer) && errors.Is(err, call.answer):
	case len(cmds) == 1:
		cmds[0].SetErr(err)
	case err != nil && firstErr(cmds) == nil:
		setErrs(cmds, err) // a hook has not let them be sent
	}
	return nil
}

// passes tells whether hooks of nodes may have to be passed.
func (n *clusterNode) passes(isPlain bool) bool {
	return !isPlain && n.of.nodesHooked.Load() && n.client.hooked()
}

//------------------------------------------------------------------------------

// reader gives the node for a command that only reads; nil: the primary.
func (c *clusterCore) reader(st *clusterState, slot uint16) *clusterNode {
	shard := st.topo.Owner(slot)
	if shard < 0 {
		return nil
	}
	replicas := st.replicas[shard]
	if len(replicas) == 0 {
		return nil
	}
	if c.opt.RouteByLatency {
		return c.nearest(st.primary[shard], replicas)
	}
	if c.opt.RouteRandomly && rand.IntN(len(replicas)+1) == 0 { //nolint:gosec // no secret
		return nil
	}
	first := rand.IntN(len(replicas)) //nolint:gosec // no secret
	for i := range replicas {
		if n := replicas[(first+i)%len(replicas)]; !n.isDown() {
			return n
		}
	}
	return nil
}

// downFor is how long a node that could not be reached gets no reads that another one can
// answer.
const downFor = time.Second

// failed notes that the node could not be reached.
func (n *clusterNode) failed() {
	n.downAt.Store(time.Now().UnixNano())
	if n.of.opt.RouteByLatency {
		signal(n.of.probeSoon)
	}
}

// isDown tells whether the node was not to be reached just now.
func (n *clusterNode) isDown() bool {
	at := n.downAt.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < downFor
}

// Numbers of the minding of a silent node.
const (
	mindEvery = 500 * time.Millisecond // so long has it to answer, too
	mindMost  = time.Minute            // then it is for who suspects it next
)

// suspect has a node minded that has fallen silent. It does not block.
func (n *clusterNode) suspect() {
	if n.minded.Load() {
		return
	}
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	if !n.of.closed && !n.minded.Swap(true) {
		n.of.work.Go(n.mind)
	}
}

// mind asks a silent node for an answer, and as long as there is none the others who
// serves in its place, until they tell. The timeouts of those who wait for the node may be
// much longer than the cluster takes for a failover; see retire.
func (n *clusterNode) mind() {
	defer n.minded.Store(false)
	for latest := time.Now().Add(mindMost); n.of.has(n) && time.Now().Before(latest); {
		began := time.Now()
		if _, err := n.ping(mindEvery); err == nil || isAnswer(err) {
			return
		}
		n.failed()
		n.of.refreshSoon()
		if !sleep(n.of.run, mindEvery-time.Since(began)) {
			return
		}
	}
}

// ping asks the node for an answer, whatever that is, and tells how long it took.
func (n *clusterNode) ping(patience time.Duration) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(n.of.run, patience)
	defer cancel()
	cmd := &StatusCmd{}
	cmd.begin("ping")
	began := time.Now()
	if err := n.client.core.sendOnce(ctx, cmd); err != nil {
		return 0, err
	}
	return time.Since(began), cmd.err
}

// nearest gives the node that answers fastest, or any of those that are no slower by more
// than the tolerance; nil: the primary, as nothing is known of any.
func (c *clusterCore) nearest(primary *clusterNode, replicas []*clusterNode) *clusterNode {
	if !c.probes.Load() {
		c.startProbes()
	}
	at := func(i int) *clusterNode {
		if i < len(replicas) {
			return replicas[i]
		}
		return primary
	}
	best := int64(math.MaxInt64)
	for i := range len(replicas) + 1 {
		if n := at(i); n != nil {
			best = min(best, n.delay())
		}
	}
	if best == math.MaxInt64 {
		return nil
	}
	limit, count := best+int64(c.opt.RouteByLatencyTolerance), 0
	var chosen *clusterNode
	for i := range len(replicas) + 1 {
		if n := at(i); n != nil && n.delay() <= limit {
			count++
			if count == 1 || rand.IntN(count) == 0 { //nolint:gosec // no secret
				chosen = n
			}
		}
	}
	return chosen
}

// delay is how long the node takes to answer; the longest time where that is not known, or
// it does not.
func (n *clusterNode) delay() int64 {
	if rtt := n.rtt.Load(); rtt != 0 && !n.isDown() {
		return rtt
	}
	return math.MaxInt64
}

// Numbers of the measuring of delays.
const (
	probeEvery = 10 * time.Second // all nodes, varied by a fifth
	probePause = time.Second      // after a node has failed
	probePings = 3                // of which the fastest counts
	probeTime  = time.Second      // for one
	probeMost  = 16               // nodes at a time
)

// startProbes starts the goroutine that measures, with the first read that needs it.
func (c *clusterCore) startProbes() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed && !c.probes.Swap(true) {
		c.work.Go(c.probe)
	}
}

// probe measures until Close.
func (c *clusterCore) probe() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-c.probeSoon: // a node has failed, or is new
			if !sleep(c.run, probePause) {
				return
			}
		case <-c.run.Done():
			return
		}
		c.probeAll()
		timer.Reset(probeEvery*9/10 + rand.N(probeEvery/5)) //nolint:gosec // jitter, no secret
	}
}

// probeAll measures all nodes.
func (c *clusterCore) probeAll() {
	var wg sync.WaitGroup
	turns := make(chan struct{}, probeMost)
	for _, n := range c.state.Load().nodes {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			n.measure()
		})
	}
	wg.Wait()
}

// measure finds out how long a PING takes.
func (n *clusterNode) measure() {
	best := time.Duration(0)
	for range probePings {
		took, err := n.ping(probeTime)
		if err != nil {
			n.rtt.Store(0)
			return
		}
		if best == 0 || took < best {
			best = took
		}
	}
	n.rtt.Store(int64(max(best, 1)))
	n.downAt.Store(0)
}

//------------------------------------------------------------------------------

// Times of a node that the topology does not have any more.
const (
	// leaveAfter is how long it must have been missing: nodes learn of each other's news
	// one after the other, so that a topology may be behind the one before.
	leaveAfter = 500 * time.Millisecond
	// leaveLatest is how long it may say itself that it is part of the cluster.
	leaveLatest = 15 * time.Second
	// leaveAsk is how long it may take to say so.
	leaveAsk = time.Second
	// leaveSubs is how long subscriptions have to be moved to other nodes.
	leaveSubs = 2*relayTime + time.Second
)

// errSilent is why commands fail that wait for a node which is retired.
var errSilent = errors.New("the cluster has other nodes in the place of this one, and it answers nothing")

// isPart tells whether the node, which the topology lacks, serves in its own eyes: nodes
// learn of a failover one after the other, and to some of them the old primary is nobody's
// replica for a while. isSilent: it takes connections, and says nothing.
func (n *clusterNode) isPart() (isPart, isSilent bool) {
	if n.of.has(n) {
		return false, false // it is back
	}
	ep := n.client.core.ep
	if ep == nil || ep.Links() == 0 {
		return false, false
	}
	if n.of.opt.ClusterSlots != nil || n.of.watch != nil {
		_, err := n.ping(leaveAsk)
		return false, isTimeout(err)
	}
	topo, err := n.of.askNode(n, leaveAsk)
	if err != nil {
		return false, isTimeout(err)
	}
	_, _, isKnown := topo.Find(n.addr)
	return isKnown, false
}

// isTimeout tells whether nothing came.
func isTimeout(err error) bool {
	e, ok := errors.AsType[*link.Error](err)
	return ok && e.Timeout()
}

// has tells whether the topology has a node.
func (c *clusterCore) has(n *clusterNode) bool {
	st := c.state.Load()
	return st != nil && st.nodes[n.addr] == n
}

// retire ends a node that is no part of the topology any more, unless it is one again
// soon: it gets no new commands, those in flight are answered, the cluster's
// subscriptions are handed over, and then its client is closed. Where it answers nothing,
// nobody waits for that.
func (c *clusterCore) retire(n *clusterNode) {
	ep := n.client.core.ep // nil: its options are invalid
	if (ep == nil || ep.Links() > 0 || time.Since(n.made) < leaveAfter) && !n.isDown() {
		sleep(c.run, leaveAfter)
	} // else commands may wait for a dial that leads nowhere, or for an answer
	isSilent := false
	for latest := time.Now().Add(leaveLatest); c.run.Err() == nil; sleep(c.run, leaveAfter) {
		if time.Since(time.Unix(0, n.asked.Load())) < leaveAfter {
			continue // it is importing
		}
		var isPart bool
		if isPart, isSilent = n.isPart(); !isPart || time.Now().After(latest) {
			break
		}
	}
	c.mu.Lock()
	if st := c.state.Load(); st.nodes[n.addr] == n && !c.closed {
		n.leaving = false
		c.mu.Unlock()
		return
	}
	delete(c.nodes, n.addr)
	c.leaving[n] = struct{}{}
	c.tendSubs() // who is there has to go elsewhere now
	c.mu.Unlock()
	if ep != nil {
		if isSilent {
			ep.Abandon(errSilent)
		}
		ep.Retire(c.run, leaveSubs)
	}
	_ = n.client.Close()
	c.mu.Lock()
	delete(c.leaving, n)
	c.mu.Unlock()
}
