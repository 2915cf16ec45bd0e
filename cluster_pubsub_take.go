package redis

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/cluster"
)

// push takes what a part has received; the mutex of its PubSub is held.
func (part *shardPart) push(events []any) {
	s := part.of
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ev := range events {
		if deliver := s.take(part, ev); len(deliver) > 0 {
			s.p.in.push(deliver...)
		}
	}
}

// ended takes in that a part was closed, as where its node is retired.
func (part *shardPart) ended() {
	s := part.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if !part.gone && !s.closed {
		s.p.in.push(s.lose(part, nil)...)
	}
}

// take tells what is to be delivered now that ev has come from a part; mu is held.
func (s *shardSubs) take(part *shardPart, ev any) []any {
	switch ev := ev.(type) {
	case *Message:
		if strings.HasPrefix(ev.Channel, shardMarkerPrefix) {
			return s.takeMarker(part, ev)
		}
		return s.takeMessage(part, ev)
	case *Subscription:
		if strings.HasPrefix(ev.Channel, shardMarkerPrefix) {
			s.takeMarkerChannel(part, ev)
			return nil
		}
		ch := s.chans[ev.Channel]
		if ev.Kind == "ssubscribe" {
			return s.takeBegin(part, ch, ev)
		}
		return s.takeEnd(part, ch, ev)
	case *CommandError:
		return s.lose(part, []any{ev})
	case error:
		return s.takeRefusal(part, ev)
	}
	return []any{ev}
}

// takeMessage is take for a message of a channel.
func (s *shardSubs) takeMessage(part *shardPart, m *Message) []any {
	switch ch, now := s.chans[m.Channel], time.Now(); {
	case ch == nil:
		if part.isLeftByUser(m.Channel) {
			return []any{m}
		}
	case ch.at == part && ch.confirmed: // else it was subscribed to before
		return ch.takeOld(m, now)
	case ch.to() == part && ch.isReady:
		return ch.takeNew(m, now, s.isUnmarked)
	}
	return nil
}

// takeBegin is take for a confirmation.
func (s *shardSubs) takeBegin(part *shardPart, ch *shardChan, ev *Subscription) []any {
	switch {
	case ch == nil:
		return []any{ev}
	case ch.at == part:
		ch.confirmed = true
		s.failures = 0
		return []any{ev}
	case ch.to() == part:
		ch.isReady = true
		s.failures = 0
	case ch.confirmed || len(part.leaving[ev.Channel]) > 0:
	default:
		// A new connection of the part has begun what the server had ended.
		if ch.at != nil {
			s.toLeave(ch.at, ev.Channel)
			ch.end()
		}
		part.stayAt(ev.Channel)
		s.put(ch, part, true)
		s.failures = 0
		return []any{ev}
	}
	return nil
}

// takeEnd is take for the end of a subscription, which was asked for or not.
func (s *shardSubs) takeEnd(part *shardPart, ch *shardChan, ev *Subscription) []any {
	by, wasAsked := part.hasLeft(ev.Channel)
	switch {
	case wasAsked && by == leftByMove:
		return nil
	case ch == nil || wasAsked: // and subscribed to again since
		return []any{ev}
	case ch.at == part && ch.move != nil:
		wasReady := ch.isReady
		ch.isEnded = true
		deliver := s.pass(ch)
		if !wasReady {
			deliver = append([]any{ev}, deliver...)
		}
		return deliver
	case ch.at == part:
		ch.end()
		s.isStale = true
		signal(s.wake)
		return []any{ev}
	case ch.to() == part && ch.isShared:
		return s.stay(ch)
	case ch.to() == part: // it has moved on already, or is of one shard with the old one after all
		deliver := append(ch.share(time.Now()), ev)
		s.toLeave(ch.at, ch.name)
		*ch = shardChan{name: ch.name, slot: ch.slot, was: ch.at, shardHeld: shardHeld{seen: ch.seen, seenNext: ch.seenNext}}
		s.isStale = true
		signal(s.wake)
		return deliver
	}
	return nil
}

// end takes in that nothing comes from where the channel is.
func (ch *shardChan) end() { ch.was, ch.at, ch.confirmed = ch.at, nil, false }

// put makes a part the one that delivers a channel that is nowhere. If it is of one shard
// with where that was, copies of what was delivered there may still be coming.
func (s *shardSubs) put(ch *shardChan, part *shardPart, isConfirmed bool) {
	if ch.was != nil && ch.was.node != part.node && s.areMates(ch.was, part) {
		ch.seen, ch.seenNext = nil, append(ch.seenNext, ch.seen...)
	}
	ch.was, ch.at, ch.confirmed, ch.asked = nil, part, isConfirmed, time.Now()
}

// takeRefusal is take for an error of the server, which doesn't tell what it is about.
func (s *shardSubs) takeRefusal(part *shardPart, err error) (deliver []any) {
	r, isRedirect := s.c.redirect(err, part.node)
	switch {
	case isRedirect:
		deliver = part.refusedToLeave(r.Slot)
	case IsPermissionError(err) && s.isMarking(part):
		s.isUnmarked = true
		return nil
	case !notReady(err):
		return []any{err}
	}
	if isRedirect && !r.Ask {
		s.redirects = append(s.redirects, r)
	}
	for _, name := range slices.Sorted(maps.Keys(s.chans)) {
		ch := s.chans[name]
		if isRedirect && ch.slot != r.Slot {
			continue
		}
		if ch.at == part && !ch.confirmed {
			ch.end()
		}
		if ch.to() == part && !ch.isReady {
			deliver = append(deliver, s.stay(ch)...)
		}
	}
	s.failures++
	signal(s.wake)
	return deliver
}

// isMarking tells whether a part is being subscribed to a marker.
func (s *shardSubs) isMarking(part *shardPart) bool {
	for _, m := range s.moves {
		if m.from == part && !m.isAtFrom || m.to == part && !m.isAtTo {
			return true
		}
	}
	return false
}

// lose takes in that nothing comes from a part any more; told is what the consumer is told
// of it, if the part has delivered anything.
func (s *shardSubs) lose(part *shardPart, told []any) (deliver []any) {
	part.gone = true
	part.ending = nil
	isMissed := len(s.chans) == 0
	for _, name := range slices.Sorted(maps.Keys(s.chans)) {
		ch := s.chans[name]
		isMissed = isMissed || ch.at == part
		switch {
		case ch.to() == part:
			deliver = append(deliver, s.stay(ch)...)
		case ch.at != part:
		case ch.move != nil:
			ch.isEnded = true
			deliver = append(deliver, s.pass(ch)...)
		default:
			ch.end()
		}
	}
	signal(s.wake)
	if isMissed {
		deliver = append(told, deliver...)
	}
	return deliver
}

//------------------------------------------------------------------------------

// shardMove hands shard channels over from one part to another one.
//
// Nodes of one shard pass on to each other what is published at any of them, as soon as they
// know that they are of one shard, and up to about 40 ms later. So while both are subscribed
// to, a message is delivered when it comes first, and its copy from the other one is found by
// its content. The old part is left when markers, published at each node of the shard on a
// shard channel that only the two parts know, have come on both: then the new one gets all
// that the old one does.
//
// Where the two are not of one shard, as where a slot moves, nothing comes twice, and the
// old one ends by itself. What the new one sends is held until then, which keeps the order,
// or until a marker shows that they are of one shard, which the topology may not know yet.
type shardMove struct {
	from, to *shardPart
	marker   string // its channel
	slot     uint16 // of the marker
	mayStay  bool   // the old part's node is of the shard: nothing is lost if the channels stay
	limit    time.Time

	// Guarded by shardSubs.mu.
	isAtFrom, isAtTo bool      // subscribed to the marker there
	round            int       // how often markers were published; their payload
	sent             time.Time // when they were last
	want             int       // how many nodes have published one; -1: it is not known yet
	atFrom, atTo     int       // how many have come
	isPast           bool      // one has come from the old part: what was before the new one's is delivered
}

// shardHeld is what has come of a channel lately.
type shardHeld struct {
	seen     []seenMessage // what at has delivered, and the new part has not sent yet
	seenNext []seenMessage // the reverse; both are kept for copyTime
	held     []any         // what the new part has sent and is not delivered yet
	isShared bool          // copies may come: the two parts are of one shard
}

// seenMessage is a message that was delivered.
type seenMessage struct {
	m  any
	at time.Time
}

// copyTime is how long a copy of a message is expected.
const copyTime = time.Second

// note adds a message to a list, and forgets old ones.
func note(list []seenMessage, m any, now time.Time) []seenMessage {
	i := 0
	for i < len(list) && now.Sub(list[i].at) > copyTime {
		list[i] = seenMessage{}
		i++
	}
	return append(list[i:], seenMessage{m, now})
}

// isCopy tells whether a message is in a list, and removes it.
func isCopy(list *[]seenMessage, m any, now time.Time) bool {
	i := slices.IndexFunc(*list, func(l seenMessage) bool { return now.Sub(l.at) <= copyTime && sameMessage(l.m, m) })
	if i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	return i >= 0
}

// takeOld takes a message of the part that delivers.
func (ch *shardChan) takeOld(m any, now time.Time) []any {
	if isCopy(&ch.seenNext, m, now) {
		return nil
	}
	ch.seen = note(ch.seen, m, now)
	return []any{m}
}

// takeNew takes a message of the next part. It may be later than one that the old part has
// not delivered yet, until that has come to a marker.
func (ch *shardChan) takeNew(m any, now time.Time, isUnmarked bool) []any {
	ch.held = append(ch.held, m)
	if ch.isShared && (ch.move.isPast || isUnmarked) {
		return ch.share(now)
	}
	return nil
}

// share takes in that copies come, and gives what was held and is none.
func (ch *shardChan) share(now time.Time) (deliver []any) {
	ch.isShared = true
	for _, m := range ch.held {
		if !isCopy(&ch.seen, m, now) {
			ch.seenNext = note(ch.seenNext, m, now)
			deliver = append(deliver, m)
		}
	}
	ch.held = nil
	return deliver
}

// shardMarkerPrefix begins the names of the markers' channels.
const shardMarkerPrefix = "__baton:move:"

// markAgain is when markers are published once more. A server does not pass messages on to
// a node of which it has not heard yet that it is in the same shard.
const markAgain = 100 * time.Millisecond

// markerBeside makes the name of a shard channel that has the slot of another one.
func markerBeside(channel string) string {
	prefix, slot := shardMarkerPrefix+rand.Text(), cluster.SlotString(channel)
	if name := prefix + "{" + cluster.Tag(channel) + "}"; cluster.SlotString(name) == slot {
		return name
	}
	for i := 0; ; i++ { // the channel's name can't be a hash tag
		if name := prefix + ":" + strconv.Itoa(i); cluster.SlotString(name) == slot {
			return name
		}
	}
}

// newMove makes the move of channels, of which one is given, between two parts; mu is held.
func (s *shardSubs) newMove(from, to *shardPart, channel string, mayStay bool) *shardMove {
	m := &shardMove{
		from: from, to: to, marker: markerBeside(channel), slot: cluster.SlotString(channel),
		mayStay: mayStay, limit: time.Now().Add(relayTime), want: -1,
	}
	s.moves[m.marker] = m
	return m
}

// of gives the channels of a move in the order of their names; shardSubs.mu is held.
func (m *shardMove) of(s *shardSubs) (chans []*shardChan) {
	for _, name := range slices.Sorted(maps.Keys(s.chans)) {
		if ch := s.chans[name]; ch.move == m {
			chans = append(chans, ch)
		}
	}
	return chans
}

// subscribeToMarkers is for moves whose channels the new part has been told of. If it can't
// be written, the link is gone.
func subscribeToMarkers(ctx context.Context, moves []*shardMove) {
	for _, m := range moves {
		_ = m.to.sub.SSubscribe(ctx, m.marker)
		_ = m.from.sub.SSubscribe(ctx, m.marker)
	}
}

// mark publishes the markers that are due; the turn is held.
func (s *shardSubs) mark(ctx context.Context, st *clusterState) {
	for _, m := range s.dueMarkers() {
		nodes := append(slices.Clone(st.nodesOf(st.topo.Owner(m.slot))), m.from.node, m.to.node)
		slices.SortFunc(nodes, func(a, b *clusterNode) int { return cmp.Compare(a.addr, b.addr) })
		nodes = slices.Compact(nodes)
		ctx, cancel := context.WithDeadline(ctx, m.limit)
		errs := make([]error, len(nodes))
		var wg sync.WaitGroup
		for i, n := range nodes {
			wg.Go(func() { errs[i] = n.client.core.process(ctx, newPublish("spublish", m.marker, m.payload(n))) })
		}
		wg.Wait()
		cancel()
		s.marked(m, errs)
	}
}

// dueMarkers gives the moves whose markers are to be published.
func (s *shardSubs) dueMarkers() (due []*shardMove) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, m := range s.moves {
		if !m.isAtFrom || !m.isAtTo || now.Sub(m.sent) < markAgain || s.isUnmarked {
			continue
		}
		m.round++
		m.sent = now
		m.want, m.atFrom, m.atTo = -1, 0, 0
		due = append(due, m)
	}
	return due
}

// marked takes in what nodes have answered to the markers. Some are of another shard by now.
func (s *shardSubs) marked(m *shardMove, errs []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.want = 0
	for _, err := range errs {
		switch {
		case err == nil:
			m.want++
		case IsPermissionError(err):
			s.isUnmarked = true
		}
	}
	s.p.in.push(s.finish(m)...)
	if s.isUnmarked && m.mayStay {
		for _, ch := range m.of(s) {
			s.p.in.push(s.stay(ch)...)
		}
	}
}

// takeMarker is take for a marker.
func (s *shardSubs) takeMarker(part *shardPart, ev *Message) (deliver []any) {
	m := s.moves[ev.Channel]
	if m == nil || !strings.HasPrefix(ev.Payload, m.payload(nil)) {
		return nil
	}
	other := m.from.node
	switch part {
	case m.from:
		m.atFrom++
		m.isPast = true
		other = m.to.node
	case m.to:
		m.atTo++
	}
	for _, ch := range m.of(s) {
		ch.isShared = ch.isShared || ev.Payload == m.payload(other) // it has passed this one's message on
		if ch.isShared && m.isPast {
			deliver = append(deliver, ch.share(time.Now())...)
		}
	}
	return append(deliver, s.finish(m)...)
}

// payload is that of the marker that a node publishes in the present round; nil: the begin
// of all of them.
func (m *shardMove) payload(n *clusterNode) string {
	p := strconv.Itoa(m.round) + " "
	if n != nil {
		p += n.addr
	}
	return p
}

// finish ends a move if all markers have come.
func (s *shardSubs) finish(m *shardMove) (deliver []any) {
	if m.want <= 0 || m.atFrom < m.want || m.atTo < m.want {
		return nil
	}
	for _, ch := range m.of(s) {
		deliver = append(deliver, s.pass(ch)...)
	}
	return deliver
}

// takeMarkerChannel is take for the begin or the end of a subscription to a marker.
func (s *shardSubs) takeMarkerChannel(part *shardPart, ev *Subscription) {
	m, isBegin := s.moves[ev.Channel], ev.Kind == "ssubscribe"
	if !isBegin {
		_, _ = part.hasLeft(ev.Channel)
	}
	switch {
	case m == nil:
		return
	case part == m.from:
		m.isAtFrom = isBegin
	case part == m.to:
		m.isAtTo = isBegin
	}
	if m.isAtFrom && m.isAtTo {
		signal(s.wake) // to publish it
	}
}

// pass makes the next part the one that delivers, and gives what it has sent and was held.
func (s *shardSubs) pass(ch *shardChan) (deliver []any) {
	if !ch.isEnded {
		s.toLeave(ch.move.from, ch.name)
	}
	copies := shardHeld{}
	if deliver = ch.held; ch.isShared {
		deliver = ch.share(time.Now())
		copies.seenNext = ch.seen
	}
	*ch = shardChan{name: ch.name, slot: ch.slot, at: ch.move.to, confirmed: ch.isReady, asked: time.Now(), shardHeld: copies}
	return deliver
}

// stay ends a move that has come to nothing, and gives what was held.
func (s *shardSubs) stay(ch *shardChan) (deliver []any) {
	s.toLeave(ch.move.to, ch.name)
	deliver = ch.share(time.Now())
	*ch = shardChan{
		name: ch.name, slot: ch.slot, at: ch.at, confirmed: ch.confirmed,
		shardHeld: shardHeld{seen: ch.seen, seenNext: ch.seenNext},
	}
	return deliver
}

// areMates tells whether two parts are at nodes of one shard, or were.
func (s *shardSubs) areMates(a, b *shardPart) bool {
	if a.isMate(b.node) || b.isMate(a.node) {
		return true
	}
	st := s.c.state.Load()
	if st == nil {
		return false
	}
	_, shardA, knowsA := st.topo.Find(a.node.addr)
	_, shardB, knowsB := st.topo.Find(b.node.addr)
	return knowsA && knowsB && shardA == shardB
}

// late ends a move that has taken too long.
func (s *shardSubs) late(ch *shardChan) (deliver []any) {
	if !ch.isReady || ch.move.mayStay {
		return s.stay(ch)
	}
	return s.pass(ch)
}

// tidy forgets moves that are over.
func (s *shardSubs) tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, m := range s.moves {
		if len(m.of(s)) == 0 {
			delete(s.moves, name)
			s.toLeave(m.from, name)
			s.toLeave(m.to, name)
		}
	}
}

//------------------------------------------------------------------------------

// toLeave makes a part end a subscription soon; mu is held.
func (s *shardSubs) toLeave(part *shardPart, name string) {
	if !part.gone {
		part.ending = append(part.ending, name)
		signal(s.wake)
	}
}

// stayAt takes toLeave back; mu is held.
func (part *shardPart) stayAt(name string) {
	part.ending = slices.DeleteFunc(part.ending, func(n string) bool { return n == name })
}

// leave gives the subscriptions that are to end, by part.
func (s *shardSubs) leave() map[*shardPart][]string {
	left := make(map[*shardPart][]string)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, part := range s.parts {
		if len(part.ending) == 0 {
			continue
		}
		left[part] = part.ending
		for _, name := range part.ending {
			part.leaving[name] = append(part.leaving[name], leftByMove)
		}
		part.ending = nil
	}
	return left
}

// A leaver is who has ended a subscription.
type leaver uint8

const (
	leftByUser leaver = iota
	leftByMove
)

// hasLeft takes in a confirmation that a subscription has ended: by whom it was asked for.
func (part *shardPart) hasLeft(name string) (by leaver, wasAsked bool) {
	all := part.leaving[name]
	if len(all) == 0 {
		return 0, false
	}
	if part.leaving[name] = all[1:]; len(all) == 1 {
		delete(part.leaving, name)
	}
	return all[0], true
}

// isLeftByUser tells whether the user has ended a subscription just now.
func (part *shardPart) isLeftByUser(name string) bool {
	return slices.Contains(part.leaving[name], leftByUser)
}

// refusedToLeave takes in that SUNSUBSCRIBE was answered with an error about a slot: a
// server that has lost the slot has ended the subscriptions by itself. It gives the
// confirmations that the user waits for.
func (part *shardPart) refusedToLeave(slot uint16) (deliver []any) {
	for _, name := range slices.Sorted(maps.Keys(part.leaving)) {
		if cluster.SlotString(name) != slot {
			continue
		}
		if part.isLeftByUser(name) {
			deliver = append(deliver, &Subscription{Kind: "sunsubscribe", Channel: name})
		}
		delete(part.leaving, name)
	}
	return deliver
}
