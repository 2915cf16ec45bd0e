package redis

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/endpoint"
	"github.com/baton-go/redis/internal/link"
)

// Subscribe subscribes to channels; with none, later by PubSub.Subscribe. Messages of
// channels and patterns come from any node, and from another one where that fails, or
// leaves the cluster. In the latter case both deliver for a while, and the handover is
// exact, in order, for what is published at the node that has the slot of the first
// channel, as all PUBLISHes of a ClusterClient to that channel are. Nodes pass on each
// other's messages in no common order: one that was published at another node may be lost
// or come twice if it reaches the two nodes on different sides of the handover, which is a
// matter of the difference between their delays. Since Redis 2.0, O(N) with the channels.
func (c *ClusterClient) Subscribe(ctx context.Context, channels ...string) *PubSub {
	p := c.newPubSub()
	return p.begin(ctx, p.Subscribe, channels)
}

// PSubscribe subscribes to patterns; see Subscribe. Since Redis 2.0, O(N) with the
// patterns.
func (c *ClusterClient) PSubscribe(ctx context.Context, patterns ...string) *PubSub {
	p := c.newPubSub()
	return p.begin(ctx, p.PSubscribe, patterns)
}

// SSubscribe subscribes to shard channels, of any slots, each at a node that has its
// slot. Where a slot moves without notice, what is published between is lost: the server
// ends the subscription, which Receive gives as a Subscription of the kind
// "sunsubscribe", and that at the new node begins with an "ssubscribe". Counts are those
// of one node. Since Redis 7.0, O(N) with the channels.
func (c *ClusterClient) SSubscribe(ctx context.Context, channels ...string) *PubSub {
	p := c.newPubSub()
	return p.begin(ctx, p.SSubscribe, channels)
}

func (c *clusterCore) newPubSub() *PubSub {
	opt := *c.base
	opt.Addr = ""
	p := newPubSub(c, &opt, newInbox())
	p.shards = newShardSubs(p, c)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		p.closed = true
		close(p.exit)
	} else {
		c.subs[p] = struct{}{}
	}
	return p
}

func (c *clusterCore) forget(p *PubSub) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.subs, p)
}

// tendSubs makes subscriptions look whether they are where they should be, now that the
// topology has changed; mu is held.
func (c *clusterCore) tendSubs() {
	for p := range c.subs {
		p.shards.overtake()
		p.tend()
	}
}

// reach tries one node after the other, in random order.
func (c *clusterCore) reach(ctx context.Context, open func(at *core) (*link.Link, error)) (*link.Link, error) {
	st, err := c.topology(ctx)
	if err != nil {
		return nil, err
	}
	nodes := slices.Collect(maps.Values(st.nodes))
	rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	var errs []error
	for _, n := range nodes {
		l, err := open(n.client.core)
		if err == nil {
			return l, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	c.refreshSoon()
	return nil, notPlaced(errs)
}

var errNoNodes = errors.New("no node of the cluster is known")

// notPlaced is the error of a subscription that no node has taken.
func notPlaced(errs []error) error {
	err := errors.Join(errs...)
	if err == nil {
		err = errNoNodes
	}
	return &CommandError{Command: "subscribe", Delivery: NotSent, Err: err}
}

// hasCore tells whether a core is that of a node.
func (st *clusterState) hasCore(c *core) bool {
	for _, n := range st.nodes {
		if n.client.core == c {
			return true
		}
	}
	return false
}

// leavingNodes gives the nodes that are being retired.
func (c *clusterCore) leavingNodes() map[*clusterNode]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := make(map[*clusterNode]bool, len(c.leaving))
	for n := range c.leaving {
		nodes[n] = true
	}
	return nodes
}

// isRetiring tells whether a core is that of a node that is being retired. One that only
// the topology lacks may be in it again soon.
func (c *clusterCore) isRetiring(at *core) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range c.leaving {
		if n.client.core == at {
			return true
		}
	}
	return false
}

// origin gives the core of the node at which messages of the first of channels are
// published (see routeChannel); nil: it is not known.
func (st *clusterState) origin(channels map[string]struct{}) *core {
	if len(channels) > 0 && st != nil {
		if n := st.at(cluster.SlotString(slices.Min(slices.Collect(maps.Keys(channels))))); n != nil {
			return n.client.core
		}
	}
	return nil
}

// nodesOf gives the nodes of a shard, the primary first; of shard -1 none.
func (st *clusterState) nodesOf(shard int) (nodes []*clusterNode) {
	if shard < 0 {
		return nil
	}
	if p := st.primary[shard]; p != nil {
		nodes = append(nodes, p)
	}
	return append(nodes, st.replicas[shard]...)
}

//------------------------------------------------------------------------------

// shardSubs are the shard channels of a cluster's subscription. Each node that has some
// of them is a part: a subscription with a connection and handoffs of its own, whose
// events come to the same inbox. One goroutine, begun by the first subscription and ended
// by Close, sees to it that every channel is where its slot is.
//
// A channel moves in one of two ways. Where the old node has ended the subscription, which
// it does when it has given the slot away, it is begun at the new one. Where the topology
// tells first, the new one is subscribed to beside the old one, and what it delivers is
// held until that has ended, so that the order is kept. All nodes of a shard deliver every
// message, so a channel stays where it is when another one of them becomes the primary;
// where it has to move among them, what both have sent is delivered once.
type shardSubs struct {
	p    *PubSub
	c    *clusterCore
	wake chan struct{} // one slot: there may be something to do

	begun bool // the goroutine is; guarded by p.mu

	run  context.Context // ends at Close
	stop context.CancelFunc

	mu        sync.Mutex // guards the fields below and those of parts and channels
	closed    bool
	chans     map[string]*shardChan // what the user wants
	parts     map[*clusterNode]*shardPart
	redirects []cluster.Redirect // to be told to the client
	failures  int                // since a channel was confirmed
	told      bool               // the consumer knows that something can't be subscribed to
	dial      *shardDial         // going on; nil: none
}

// shardDial is an attempt to reach a node of a shard. It ends where the topology tells that
// the node is that no more: one that has died may take long to be given up.
type shardDial struct {
	node    *clusterNode
	slot    uint16 // one of the shard
	primary string // of the slot when it began
	cancel  context.CancelCauseFunc
}

var errOvertaken = errors.New("the node has lost its slots meanwhile")

// shardPart is what is subscribed to at one node.
type shardPart struct {
	of   *shardSubs
	node *clusterNode
	sub  *PubSub

	mates   []*clusterNode // the nodes of the shard when it was one of them last
	gone    bool           // its connection is lost: nothing comes from it any more
	leaving map[string]int // SUNSUBSCRIBEs that are not answered
}

// shardChan is one shard channel.
type shardChan struct {
	slot      uint16
	at        *shardPart // whose messages are delivered; nil: nobody's
	was       *shardPart // at before it has ended the subscription; nil: it has not
	confirmed bool       // at has

	next    *shardPart // where it is moving, at having confirmed it; nil: it is not moving
	isReady bool       // next has confirmed it
	isDue   bool       // at is to be told that it ends
	isLeft  bool       // at was
	held    []any      // what next has sent
	limit   time.Time  // when next takes over, whatever at does; without a next: when skip ends

	// Where next is of the same shard as at was, both get every message: at is left when
	// both have sent one and the same, with which held and since begin then.
	isMate bool
	since  []any // what at has sent since then

	skip []any // what at sends next and was delivered before
}

func newShardSubs(p *PubSub, c *clusterCore) *shardSubs {
	s := &shardSubs{
		p: p, c: c, wake: make(chan struct{}, 1),
		chans: make(map[string]*shardChan), parts: make(map[*clusterNode]*shardPart),
	}
	s.run, s.stop = context.WithCancel(context.Background())
	return s
}

// begin starts the goroutine.
func (s *shardSubs) begin() {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if !s.begun && !s.p.closed {
		s.begun = true
		s.p.loop.Go(s.keep)
	}
}

// close ends every part.
func (s *shardSubs) close() {
	s.stop()
	s.mu.Lock()
	s.closed = true
	clear(s.chans)
	parts := slices.Collect(maps.Values(s.parts))
	s.mu.Unlock()
	for _, part := range parts {
		_ = part.sub.Close()
	}
}

// serves tells whether there are channels. A nil receiver has none.
func (s *shardSubs) serves() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.chans) > 0
}

func (s *shardSubs) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.chans))
}

// all gives the parts that are connected.
func (s *shardSubs) all() (parts []*shardPart) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, part := range s.parts {
		if !part.gone {
			parts = append(parts, part)
		}
	}
	return parts
}

//------------------------------------------------------------------------------

// keep is the goroutine.
func (s *shardSubs) keep() {
	late := time.NewTimer(relayTime)
	defer late.Stop()
	for {
		select {
		case <-s.wake:
		case <-late.C:
		case <-s.run.Done():
			return
		}
		if !sleep(s.run, s.pause()) {
			return
		}
		s.tend()
		if s.isMoving() {
			late.Reset(relayTime)
		}
	}
}

// pause is how long to wait before the next attempt after failures.
func (s *shardSubs) pause() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures < 3 {
		return 0
	}
	d := min(shortestHold<<min(s.failures-3, 5), longestHold)
	return d/2 + rand.N(d/2) //nolint:gosec // jitter, no secret
}

func (s *shardSubs) isMoving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range s.chans {
		if ch.next != nil {
			return true
		}
	}
	return false
}

// tend connects what is not connected, and moves what is at the wrong node. The first
// failure in a row is the consumer's too.
func (s *shardSubs) tend() {
	if s.p.takeTurn(s.run) != nil {
		return // closed
	}
	defer s.p.giveTurn()
	err := s.tendOwn(s.run)
	if e := s.settle(s.run); err == nil {
		err = e
	}
	if s.run.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.told = false
		return
	}
	s.failures++
	if !s.told {
		s.told = true
		s.p.in.push(err)
	}
	signal(s.wake)
}

// tendOwn is tend for channels and patterns.
func (s *shardSubs) tendOwn(ctx context.Context) error {
	p, st := s.p, s.c.state.Load()
	p.mu.Lock()
	cur, isIdle, origin := p.cur, p.isIdle(), st.origin(p.subs[subChannel])
	p.mu.Unlock()
	if cur == nil {
		if isIdle {
			return nil
		}
		return p.connect(ctx)
	}
	if st == nil || st.hasCore(cur.core) || !s.c.isRetiring(cur.core) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, relayTime)
	defer cancel()
	_, err := s.c.reach(ctx, func(at *core) (*link.Link, error) {
		return nil, cur.replace(ctx, at, cmp.Or(origin, at), func(d endpoint.Dedicated) (*link.Link, error) { return at.ep.OpenDedicated(ctx, d) })
	})
	if err != nil {
		cur.l.Close(err) // which makes it connect elsewhere
	}
	return nil
}

// change is PubSub.change for shard channels; the turn is held.
func (s *shardSubs) change(ctx context.Context, add bool, names []string) error {
	if add {
		again := s.want(names)
		err := s.settle(ctx)
		if err != nil {
			signal(s.wake) // again
		}
		for part, names := range again {
			if e := part.sub.SSubscribe(ctx, names...); err == nil {
				err = e
			}
		}
		return err
	}
	var err error
	for part, names := range s.unwant(names) {
		if e := part.sub.SUnsubscribe(ctx, names...); err == nil {
			err = e
		}
	}
	return err
}

// want adds channels, and gives those that were there.
func (s *shardSubs) want(names []string) map[*shardPart][]string {
	again := make(map[*shardPart][]string)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		switch ch := s.chans[name]; {
		case ch == nil:
			s.chans[name] = &shardChan{slot: cluster.SlotString(name)}
		case ch.at != nil:
			again[ch.at] = append(again[ch.at], name)
		}
	}
	return again
}

// unwant removes channels, all where none is named, and gives who is to be told.
func (s *shardSubs) unwant(names []string) map[*shardPart][]string {
	told := make(map[*shardPart][]string)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(s.chans))
	}
	for _, name := range names {
		ch := s.chans[name]
		if ch == nil {
			continue
		}
		delete(s.chans, name)
		for _, part := range []*shardPart{ch.at, ch.next} {
			if part != nil {
				part.leaving[name]++
				told[part] = append(told[part], name)
			}
		}
	}
	return told
}

//------------------------------------------------------------------------------

// settle subscribes every channel where its slot is; the turn is held.
func (s *shardSubs) settle(ctx context.Context) error {
	for _, r := range s.takeRedirects() {
		s.c.moved(r.Slot, r.Addr)
	}
	if !s.serves() {
		return nil
	}
	st, err := s.c.topology(ctx)
	if err != nil {
		return err
	}
	plan, err := s.plan(st)
	for to, names := range plan {
		if e := s.subscribe(ctx, to.nodes(st), names); err == nil {
			err = e
		}
	}
	for part, names := range s.leave() {
		_ = part.sub.SUnsubscribe(ctx, names...) // if it can't be written, the link is gone
	}
	s.prune(st)
	if err != nil {
		s.c.refreshSoon()
	}
	return err
}

func (s *shardSubs) takeRedirects() []cluster.Redirect {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.redirects
	s.redirects = nil
	return r
}

// shardGoal is where channels are to be subscribed to.
type shardGoal struct {
	shard int
	first *clusterNode // the one of its nodes that is tried before the others; nil: the primary
}

// nodes are those to try.
func (g shardGoal) nodes(st *clusterState) []*clusterNode {
	nodes := st.nodesOf(g.shard)
	if g.first == nil {
		return nodes
	}
	others := slices.DeleteFunc(slices.Clone(nodes), func(n *clusterNode) bool { return n == g.first })
	return append([]*clusterNode{g.first}, others...)
}

// plan tells which channels are not where their slot is, and where that is. One that the
// old primary of a shard has ended, as it does when it is demoted, is begun there again: what
// comes from there first and through it then is in order, which is not so for the messages of
// two nodes.
func (s *shardSubs) plan(st *clusterState) (plan map[shardGoal][]string, err error) {
	plan = make(map[shardGoal][]string)
	now, leaving := time.Now(), s.c.leavingNodes()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.chans)) {
		ch := s.chans[name]
		if ch.next != nil {
			switch {
			case now.Before(ch.limit):
			case ch.isReady && !ch.isDue: // there are no messages
				ch.isDue, ch.limit = true, now.Add(relayTime)
			default:
				s.p.in.push(ch.pass()...)
			}
			continue
		}
		shard := st.topo.Owner(ch.slot)
		switch nodes := st.nodesOf(shard); {
		case shard < 0:
			err = notServed(int(ch.slot))
		case ch.at == nil:
			goal := shardGoal{shard: shard}
			if was := ch.was; was != nil && !was.gone && (slices.Contains(nodes, was.node) || was.isPassedOver(st, nodes, leaving)) {
				goal.first = was.node
			}
			plan[goal] = append(plan[goal], name)
		case slices.Contains(nodes, ch.at.node):
			ch.at.mates = nodes
		case ch.at.isPassedOver(st, nodes, leaving):
			// Nodes learn of a failover one after the other, and in the eyes of some the
			// old primary serves nobody meanwhile. It is looked at again when it is retired.
		default:
			plan[shardGoal{shard: shard}] = append(plan[shardGoal{shard: shard}], name)
		}
	}
	return plan, err
}

// isPassedOver tells whether the part's node is missing from its shard, the nodes of which
// are given, though it may still be one of them.
func (part *shardPart) isPassedOver(st *clusterState, nodes []*clusterNode, leaving map[*clusterNode]bool) bool {
	return len(nodes) > 0 && part.isMate(nodes[0]) && st.nodes[part.node.addr] == nil && !leaving[part.node]
}

// isMate tells whether a node was of the part's shard.
func (part *shardPart) isMate(n *clusterNode) bool {
	return slices.ContainsFunc(part.mates, func(m *clusterNode) bool { return m.addr == n.addr })
}

// subscribe subscribes to channels at the first of nodes that can be reached. They are
// those of a shard: its replicas have the shard's messages too, and one of them is the
// primary soon where that can't be reached.
func (s *shardSubs) subscribe(ctx context.Context, nodes []*clusterNode, names []string) error {
	var errs []error
	for _, n := range nodes {
		part, err := s.partAt(ctx, n, cluster.SlotString(names[0]))
		if err == nil {
			if err = s.assign(part, nodes, names); err == nil {
				return part.sub.SSubscribe(ctx, names...)
			}
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return notPlaced(errs)
}

// partAt gives the part at a node, and connects it.
func (s *shardSubs) partAt(ctx context.Context, n *clusterNode, slot uint16) (*shardPart, error) {
	s.mu.Lock()
	part := s.parts[n]
	switch {
	case s.closed:
		s.mu.Unlock()
		return nil, s.p.closedError()
	case part != nil && !part.gone:
		s.mu.Unlock()
		return part, nil
	}
	old := part
	part = &shardPart{of: s, node: n, leaving: make(map[string]int)}
	part.sub = newPubSub(n.client.core, n.client.opt, s.p.in)
	part.sub.part = part
	s.parts[n] = part
	s.mu.Unlock()
	if old != nil {
		_ = old.sub.Close()
	}
	n.client.core.enlist(part.sub)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.setDial(&shardDial{node: n, slot: slot, primary: s.c.state.Load().topo.Primary(slot), cancel: cancel})
	err := part.sub.ready(ctx)
	s.setDial(nil)
	if err != nil {
		s.mu.Lock()
		part.gone = true
		delete(s.parts, n)
		s.mu.Unlock()
		_ = part.sub.Close()
		return nil, err
	}
	return part, nil
}

func (s *shardSubs) setDial(d *shardDial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dial = d
}

// overtake ends a dial to a node that has lost the slot.
func (s *shardSubs) overtake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.c.state.Load()
	if s.dial == nil || st == nil {
		return
	}
	shard := st.topo.Owner(s.dial.slot)
	if shard >= 0 && st.topo.Primary(s.dial.slot) != s.dial.primary && !slices.Contains(st.nodesOf(shard), s.dial.node) {
		s.dial.cancel(errOvertaken)
	}
}

// assign makes a part the one that delivers channels, or is to; nodes are those of its
// shard.
func (s *shardSubs) assign(part *shardPart, nodes []*clusterNode, names []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if part.gone {
		return &CommandError{Command: "ssubscribe", Endpoint: part.node.addr, Delivery: NotSent, Err: errNotConfirmed}
	}
	part.mates = nodes
	for _, name := range names {
		ch := s.chans[name]
		switch {
		case ch == nil:
		case ch.at == nil || !ch.confirmed: // nothing has come from there
			ch.at, ch.confirmed = part, false
		default:
			*ch = shardChan{
				slot: ch.slot, at: ch.at, confirmed: true, skip: ch.skip,
				next: part, isMate: ch.at.isMate(part.node), limit: time.Now().Add(relayTime),
			}
		}
	}
	return nil
}

// leave gives the channels whose next node has confirmed them, by the part that they are
// to leave now.
func (s *shardSubs) leave() map[*shardPart][]string {
	left := make(map[*shardPart][]string)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, ch := range s.chans {
		if ch.next != nil && ch.isReady && ch.isDue && !ch.isLeft {
			ch.isLeft = true
			ch.at.leaving[name]++
			left[ch.at] = append(left[ch.at], name)
		}
	}
	return left
}

// prune ends parts that are lost, or have no channel any more and are at a node that has
// left the cluster, and makes the others forget what is elsewhere, so that their handoffs
// don't ask for it.
func (s *shardSubs) prune(st *clusterState) {
	var ended []*shardPart
	has := make(map[*shardPart]map[string]bool)
	s.mu.Lock()
	for _, part := range s.parts {
		has[part] = make(map[string]bool)
	}
	for name, ch := range s.chans {
		for _, part := range []*shardPart{ch.at, ch.next} {
			if part != nil && has[part] != nil {
				has[part][name] = true
			}
		}
	}
	for n, part := range s.parts {
		if part.gone || len(has[part]) == 0 && st.nodes[n.addr] != n {
			ended = append(ended, part)
			delete(s.parts, n)
			delete(has, part)
		}
	}
	s.mu.Unlock()
	for _, part := range ended {
		_ = part.sub.Close()
	}
	for part, names := range has {
		part.sub.mu.Lock()
		maps.DeleteFunc(part.sub.subs[subShard], func(name string, _ struct{}) bool { return !names[name] })
		part.sub.mu.Unlock()
	}
}
