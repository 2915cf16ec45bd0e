package redis

import (
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
// exact, in order, for what is published at the node that has the slot of the channel, as
// all PUBLISHes of a ClusterClient are. Nodes pass on each other's messages in no common
// order: one that was published at another node may be lost or come twice if it reaches the
// two nodes on different sides of the handover, which is a matter of the difference between
// their delays. Since Redis 2.0, O(N) with the channels.
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

// origins gives the nodes at which a ClusterClient publishes; see routeChannel.
func (st *clusterState) origins() *origins {
	o := &origins{}
	index := make(map[*clusterNode]int, len(st.masters))
	for i, n := range st.masters {
		o.cores = append(o.cores, n.client.core)
		index[n] = i
	}
	o.of = func(channel string) int {
		slot := cluster.SlotString(channel)
		if n := st.at(slot); n != nil {
			return index[n]
		}
		return int(slot) % len(st.masters)
	}
	return o
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
// by Close, sees to it that every channel is at the primary of its slot.
//
// A channel moves in one of two ways. Where the old node has ended the subscription, which
// it does when it has given the slot away or is demoted, it is begun at the new one. Where
// the topology tells first, it is handed over; see shardMove.
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
	moves     map[string]*shardMove // by the channels of their markers
	redirects []cluster.Redirect    // to be told to the client
	isStale   bool                  // a node has ended a subscription: the topology has changed
	failures  int                   // since a channel was confirmed
	// isUnmarked: the user may not use markers. Channels stay in their shard then.
	isUnmarked bool
	told       bool       // the consumer knows that something can't be subscribed to
	dial       *shardDial // going on; nil: none
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

	mates   []string            // the addresses of the nodes that its shard has had
	gone    bool                // its connection is lost: nothing comes from it any more
	ending  []string            // subscriptions that are to be ended
	leaving map[string][]leaver // SUNSUBSCRIBEs that are not answered
}

// shardChan is one shard channel.
type shardChan struct {
	name      string
	slot      uint16
	at        *shardPart // whose messages are delivered; nil: nobody's
	was       *shardPart // where at was when the subscription ended; nil: it has not
	confirmed bool       // at has
	asked     time.Time  // when at was asked to confirm it

	away time.Time // since when at is not the primary of its shard; zero: it is

	move    *shardMove // nil: it is not moving
	isReady bool       // the new part has confirmed it
	isEnded bool       // the old one has ended it, or is lost
	shardHeld
}

// to gives where a channel is moving; nil: it is not.
func (ch *shardChan) to() *shardPart {
	if ch.move == nil {
		return nil
	}
	return ch.move.to
}

func newShardSubs(p *PubSub, c *clusterCore) *shardSubs {
	s := &shardSubs{
		p: p, c: c, wake: make(chan struct{}, 1),
		chans: make(map[string]*shardChan), parts: make(map[*clusterNode]*shardPart),
		moves: make(map[string]*shardMove),
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
	clear(s.moves)
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
			late.Reset(markAgain)
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

// isMoving tells whether there is something to do soon.
func (s *shardSubs) isMoving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range s.chans {
		if !ch.away.IsZero() || ch.at != nil && !ch.confirmed {
			return true
		}
	}
	return len(s.moves) > 0
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
	cur, isIdle := p.cur, p.isIdle()
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
	from := st.origins()
	_, err := s.c.reach(ctx, func(at *core) (*link.Link, error) {
		return nil, cur.replace(ctx, at, from.or(at), func(d endpoint.Dedicated) (*link.Link, error) { return at.ep.OpenDedicated(ctx, d) })
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
			s.chans[name] = &shardChan{name: name, slot: cluster.SlotString(name)}
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
		for by, part := range []*shardPart{leftByUser: ch.at, leftByMove: ch.to()} {
			if part != nil {
				part.leaving[name] = append(part.leaving[name], leaver(by))
				told[part] = append(told[part], name)
			}
		}
	}
	return told
}

//------------------------------------------------------------------------------

// settle subscribes every channel where its slot is; the turn is held.
func (s *shardSubs) settle(ctx context.Context) error {
	redirects, isStale := s.takeNews()
	for _, r := range redirects {
		s.c.moved(r.Slot, r.Addr)
	}
	if isStale {
		s.c.refreshSoon()
	}
	s.tidy()
	s.sayLeave(ctx)
	if !s.serves() {
		return nil
	}
	st, err := s.c.topology(ctx)
	if err != nil {
		return err
	}
	plan, err := s.plan(st)
	failed := err != nil
	for to, names := range plan {
		e := s.subscribe(ctx, to, to.nodes(st), names)
		failed = failed || e != nil
		if err == nil && !to.mayStay {
			err = e
		}
	}
	s.mark(ctx, st)
	s.sayLeave(ctx)
	s.prune(st)
	if failed {
		s.c.refreshSoon()
	}
	return err
}

// sayLeave ends the subscriptions that have moved elsewhere.
func (s *shardSubs) sayLeave(ctx context.Context) {
	for part, names := range s.leave() {
		_ = part.sub.SUnsubscribe(ctx, names...) // if it can't be written, the link is gone
	}
}

// takeNews gives what is to be told to the client.
func (s *shardSubs) takeNews() (redirects []cluster.Redirect, isStale bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	redirects, isStale = s.redirects, s.isStale
	s.redirects, s.isStale = nil, false
	return redirects, isStale
}

// shardGoal is where channels are to be subscribed to.
type shardGoal struct {
	shard   int
	mayStay bool // they are at a node of it: only the primary is better
}

// nodes are those to try.
func (g shardGoal) nodes(st *clusterState) []*clusterNode {
	nodes := st.nodesOf(g.shard)
	if g.mayStay {
		return nodes[:1]
	}
	return nodes
}

// plan tells which channels are not where their slot is, and where that is.
func (s *shardSubs) plan(st *clusterState) (plan map[shardGoal][]string, err error) {
	plan = make(map[shardGoal][]string)
	now, leaving := time.Now(), s.c.leavingNodes()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, part := range s.parts {
		part.meet(st)
	}
	for _, name := range slices.Sorted(maps.Keys(s.chans)) {
		ch := s.chans[name]
		if ch.move != nil {
			if now.After(ch.move.limit) {
				s.p.in.push(s.late(ch)...)
			}
			continue
		}
		goal := shardGoal{shard: st.topo.Owner(ch.slot)}
		nodes := st.nodesOf(goal.shard)
		switch {
		case goal.shard < 0:
			err = notServed(int(ch.slot))
			continue
		case ch.at != nil && !ch.confirmed && now.Sub(ch.asked) < leaveAfter:
			continue // nodes learn of a change one after the other: let this one say no
		case ch.at == nil || len(nodes) == 0:
		case slices.Contains(nodes, ch.at.node):
			if !ch.isAway(st.primary[goal.shard], now) || s.isUnmarked {
				continue
			}
			goal.mayStay = true
		case s.isUnmarked && ch.at.isPassedOver(st, nodes, leaving):
			// Nodes learn of a failover one after the other, and in the eyes of some the
			// old primary serves nobody meanwhile. It is looked at again when it is retired.
			continue
		}
		plan[goal] = append(plan[goal], name)
	}
	return plan, err
}

// isAway tells whether a channel should be at the primary of its shard instead: what is
// subscribed to there is counted by SPUBLISH, and goes on when the old primary of a failover
// is shut down. While nodes learn of a failover, it stays.
func (ch *shardChan) isAway(primary *clusterNode, now time.Time) bool {
	switch {
	case primary == nil || ch.at.node == primary || !ch.confirmed:
		ch.away = time.Time{}
	case ch.away.IsZero():
		ch.away = now
	}
	return !ch.away.IsZero() && now.Sub(ch.away) >= leaveAfter
}

// isPassedOver tells whether the part's node is missing from its shard, the nodes of which
// are given, though it may still be one of them.
func (part *shardPart) isPassedOver(st *clusterState, nodes []*clusterNode, leaving map[*clusterNode]bool) bool {
	return len(nodes) > 0 && part.isMate(nodes[0]) && st.nodes[part.node.addr] == nil && !leaving[part.node]
}

// meet takes in which nodes a state has in the part's shard, with those that are not in sync:
// one of them may be the next primary.
func (part *shardPart) meet(st *clusterState) {
	if st == nil {
		return
	}
	if _, shard, isKnown := st.topo.Find(part.node.addr); isKnown {
		part.mates = slices.Concat(part.mates, st.topo.Shards()[shard].Nodes())
		slices.Sort(part.mates)
		part.mates = slices.Compact(part.mates)
	}
}

// isMate tells whether a node was of the part's shard.
func (part *shardPart) isMate(n *clusterNode) bool {
	return slices.Contains(part.mates, n.addr)
}

// subscribe subscribes to channels at the first of nodes that can be reached. They are
// those of a shard: its replicas have the shard's messages too, and one of them is the
// primary soon where that can't be reached.
func (s *shardSubs) subscribe(ctx context.Context, goal shardGoal, nodes []*clusterNode, names []string) error {
	var errs []error
	for _, n := range nodes {
		part, err := s.partAt(ctx, n, cluster.SlotString(names[0]))
		if err == nil {
			var moves []*shardMove
			if moves, err = s.assign(part, goal, names); err == nil {
				if err = part.sub.SSubscribe(ctx, names...); err == nil {
					subscribeToMarkers(ctx, moves)
				}
				return err
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
	part = &shardPart{of: s, node: n, leaving: make(map[string][]leaver)}
	if old != nil {
		part.mates = old.mates
	}
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

// assign makes a part the one that delivers channels, or is to, by the moves that it gives.
func (s *shardSubs) assign(part *shardPart, goal shardGoal, names []string) (moves []*shardMove, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if part.gone {
		return nil, &CommandError{Command: "ssubscribe", Endpoint: part.node.addr, Delivery: NotSent, Err: errNotConfirmed}
	}
	if !goal.mayStay {
		part.meet(s.c.state.Load())
	}
	from := make(map[*shardPart]*shardMove)
	for _, name := range names {
		ch := s.chans[name]
		if ch == nil {
			continue
		}
		part.stayAt(name)
		switch {
		case ch.at == nil || ch.at == part:
			s.put(ch, part, false)
		case !ch.confirmed: // nothing has come from there
			s.toLeave(ch.at, name)
			ch.end()
			s.put(ch, part, false)
		default:
			m := from[ch.at]
			if m == nil {
				m = s.newMove(ch.at, part, name, goal.mayStay)
				from[ch.at] = m
				moves = append(moves, m)
			}
			*ch = shardChan{
				name: name, slot: ch.slot, at: ch.at, confirmed: true, move: m, shardHeld: ch.shardHeld,
			}
			ch.isShared = goal.mayStay || s.areMates(ch.at, part)
		}
	}
	return moves, nil
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
		for _, part := range []*shardPart{ch.at, ch.to()} {
			if part != nil && has[part] != nil {
				has[part][name] = true
			}
		}
	}
	for name, m := range s.moves {
		for _, part := range []*shardPart{m.from, m.to} {
			if has[part] != nil {
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
