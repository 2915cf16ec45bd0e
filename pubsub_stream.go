package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/endpoint"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// stream is one connection of a subscription.
type stream struct {
	p    *PubSub
	core *core      // where it was opened; set before that
	l    *link.Link // set with PubSub.mu held before the stream is used

	// Guarded by PubSub.mu.
	gone    bool
	muted   bool                // what comes is dropped: another stream delivers it
	seenAt  time.Time           // when the last frame came
	waiting map[string]struct{} // confirmations that are kept from the consumer
	settled chan struct{}       // closed when waiting has become empty
	skip    [][]any             // of each part of the last handoff: what comes next and was delivered before
	split   *origins            // of the last handoff; nil: there was none
}

func newStream(p *PubSub) *stream { return &stream{p: p, seenAt: time.Now()} }

// relay is a handoff of a subscription: both streams are subscribed to everything,
// and a message published on a channel that only they know, the marker, tells where
// in the order of all messages the new one takes over. What the old one delivers
// before the marker is delivered, and what the new one delivers after it.
//
// Messages of channels and of patterns are ordered among themselves only, and in a cluster
// those that are published at one node, so there is a marker among each.
type relay struct {
	from, to *stream
	marker   string // its channel; the payload is the number of the origin
	origins  *origins

	// Guarded by PubSub.mu.
	parts    []relayPart // of the channels of each origin, and of the patterns
	done     chan struct{}
	over     bool
	unmarked bool                     // the user may not subscribe to the marker
	refused  error                    // what the server would not let the new stream subscribe to
	anew     map[string][]any         // see takeSubscription
	gone     map[string]*Subscription // see takeSubscription
}

// markerPrefix begins the names of markers. Whatever comes on such a channel is not
// the consumer's.
const markerPrefix = "__baton:handoff:"

// relayPart is the state of a relay for messages that are ordered among themselves.
type relayPart struct {
	used     bool  // the subscription has such messages
	held     []any // what came on to
	markerAt int   // how many of held came before the marker; -1: it has not come
	since    []any // what came on from since to was subscribed
	fromSaw  bool  // the marker has come on from
	after    []any // what came on from after the marker; it comes on to as well
}

// origins are where messages are published: the server or, in a cluster, each of several
// nodes.
type origins struct {
	cores []*core
	of    func(channel string) int // which of them a channel's messages come from; nil: there is one
}

// or is o, or the one node if o has none.
func (o *origins) or(c *core) *origins {
	if len(o.cores) > 0 {
		return o
	}
	return &origins{cores: []*core{c}}
}

// part tells among which messages one is ordered.
func (o *origins) part(m *Message) int {
	origin := 0
	if o.of != nil {
		origin = o.of(m.Channel)
	}
	return o.partOf(m, origin)
}

// partOf is part for a message of a given origin: the parts of channels come first, and then
// those of patterns.
func (o *origins) partOf(m *Message, origin int) int {
	if m.Pattern != "" {
		return len(o.cores) + origin
	}
	return origin
}

// dedicated says how the endpoint is to treat the stream's link.
func (s *stream) dedicated() endpoint.Dedicated {
	return endpoint.Dedicated{OnFrame: s.onFrame, OnGone: s.onGone, Move: s.move}
}

// lost is the error of a subscription that was cut.
func lost(l *link.Link) error {
	return &CommandError{Command: "receive", Endpoint: l.Endpoint(), Delivery: NotSent, Err: fmt.Errorf("%w: %w", errSubscriptionLost, l.Err())}
}

var errSubscriptionLost = errors.New("subscription lost")

// onFrame runs on the link's reader.
func (s *stream) onFrame(l *link.Link, frame []byte) {
	ev := parseFrame(frame)
	if ev == nil {
		return
	}
	p := s.p
	p.mu.Lock()
	s.seenAt = time.Now()
	deliver := s.take(ev)
	if len(deliver) > 0 {
		p.push(deliver...)
	}
	p.mu.Unlock()
	p.in.awaitRoom(l.Down())
}

// take tells what is to be delivered now that ev has come; PubSub.mu is held.
func (s *stream) take(ev any) []any {
	r := s.p.relay
	isHandedOver := r != nil && (s == r.from || s == r.to)
	if sub, ok := ev.(*Subscription); ok {
		switch wasDue := s.confirm(sub); {
		case isHandedOver:
			return r.takeSubscription(s, sub, wasDue)
		case wasDue || s.muted:
			return nil
		}
		s.p.noteEnd(sub)
		return []any{ev}
	}
	m, isMessage := ev.(*Message)
	if isMessage && strings.HasPrefix(m.Channel, markerPrefix) && (!isHandedOver || m.Channel != r.marker) {
		return nil // once more, or somebody else's, for another pattern
	}
	if s.muted {
		return nil
	}
	if isHandedOver {
		return r.take(s, ev)
	}
	if isMessage && s.split != nil {
		skip := &s.skip[s.split.part(m)]
		if len(*skip) > 0 && sameMessage((*skip)[0], ev) {
			*skip = (*skip)[1:]
			return nil
		}
		*skip = nil
	}
	return []any{ev}
}

// confirm tells whether a confirmation is one that was waited for; PubSub.mu is held.
func (s *stream) confirm(sub *Subscription) (wasDue bool) {
	key := sub.Kind + " " + sub.Channel
	if _, wasDue = s.waiting[key]; !wasDue {
		return false
	}
	delete(s.waiting, key)
	if len(s.waiting) == 0 {
		close(s.settled)
		s.waiting = nil
	}
	return true
}

// noteEnd remembers whether the server has ended the subscription to a shard channel by
// itself; mu is held.
func (p *PubSub) noteEnd(sub *Subscription) (isEnd bool) {
	_, isWanted := p.subs[subShard][sub.Channel]
	switch {
	case sub.Kind == "sunsubscribe" && isWanted:
		p.ended[sub.Channel] = struct{}{}
		return true
	case sub.Kind == "ssubscribe":
		delete(p.ended, sub.Channel)
	}
	return false
}

// takeSubscription is take for the begin or the end of a subscription. A shard channel that
// the server has ended on the old stream begins anew on the new one, which then delivers all
// that comes on it: there is nothing of it to hand over. anew has these channels, each with
// what the old one has delivered since the new one was subscribed, as the same may be
// coming on that. What it has ended on the new one first is in gone.
func (r *relay) takeSubscription(s *stream, sub *Subscription, wasDue bool) []any {
	p, name := s.p, sub.Channel
	_, wasEnded := p.ended[name]
	_, isAnew := r.anew[name]
	switch {
	case s == r.from && wasDue:
		return nil
	case s == r.from:
		if !p.noteEnd(sub) {
			return []any{sub}
		}
		_, isDue := r.to.waiting["ssubscribe "+name]
		if _, isGone := r.gone[name]; isGone || isDue {
			delete(r.gone, name)
			return []any{sub}
		}
		delete(p.ended, name)
		return append([]any{sub, &Subscription{Kind: "ssubscribe", Channel: name, Count: len(p.subs[subShard])}}, r.takeOver(name)...)
	case wasDue && wasEnded && sub.Kind == "ssubscribe":
		delete(p.ended, name)
		r.takeOver(name)
		return []any{sub}
	case wasDue || !p.noteEnd(sub):
	case isAnew:
		delete(r.anew, name)
		return []any{sub}
	case !wasEnded:
		delete(p.ended, name) // not on the old one yet
		r.gone[name] = sub
	}
	return nil
}

// takeOver makes the new stream the one that delivers a shard channel, and gives what has
// come of it and the old one has not delivered.
func (r *relay) takeOver(name string) (deliver []any) {
	isOther := func(m any) bool { return m.(*Message).Channel != name || m.(*Message).Pattern != "" }
	part := &r.parts[r.origins.part(&Message{Channel: name})]
	r.anew[name] = slices.DeleteFunc(slices.Clone(part.since), isOther)
	part.since = slices.DeleteFunc(part.since, func(m any) bool { return !isOther(m) })
	var held []any
	markerAt := part.markerAt
	for i, m := range part.held {
		switch {
		case isOther(m):
			held = append(held, m)
			continue
		case i < markerAt:
			part.markerAt--
		}
		deliver = append(deliver, r.takeAnew(m.(*Message))...)
	}
	part.held = held
	return deliver
}

// takeAnew is take for a message of such a channel.
func (r *relay) takeAnew(m *Message) []any {
	was := r.anew[m.Channel]
	if i := slices.IndexFunc(was, func(o any) bool { return sameMessage(o, m) }); i >= 0 {
		r.anew[m.Channel] = slices.Delete(was, i, i+1)
		return nil
	}
	return []any{m}
}

// giveUp gives what is to be delivered now that the old stream is kept to: the channels
// that only the new one has end with it.
func (r *relay) giveUp() (deliver []any) {
	p := r.to.p
	r.over = true
	p.relay = nil
	for i := range r.parts {
		deliver = append(deliver, r.parts[i].after...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.anew)) {
		p.ended[name] = struct{}{}
		deliver = append(deliver, &Subscription{Kind: "sunsubscribe", Channel: name})
	}
	return deliver
}

// take is stream.take during a handoff; PubSub.mu is held.
func (r *relay) take(s *stream, ev any) []any {
	m, ok := ev.(*Message)
	switch err, isErr := ev.(error); {
	case ok:
	case s == r.from:
		return []any{ev}
	case isErr:
		r.refuse(err)
		return nil
	default:
		return nil
	}
	if _, isAnew := r.anew[m.Channel]; isAnew && s == r.to && m.Pattern == "" {
		return r.takeAnew(m)
	}
	part, isMarker := r.partOf(m)
	switch {
	case part == nil:
		return nil
	case s == r.to && isMarker:
		part.markerAt = len(part.held)
		return r.finish()
	case s == r.to:
		part.held = append(part.held, ev)
		return nil
	case isMarker:
		part.fromSaw = true
		return r.finish()
	case part.fromSaw:
		part.after = append(part.after, ev)
		return nil
	}
	part.since = append(part.since, ev)
	return []any{ev}
}

// partOf gives the part of a message, and tells whether that is its marker. nil: it is no
// message of anybody's.
func (r *relay) partOf(m *Message) (part *relayPart, isMarker bool) {
	if m.Channel != r.marker {
		return &r.parts[r.origins.part(m)], false
	}
	origin, err := strconv.Atoi(m.Payload)
	if err != nil || origin < 0 || origin >= len(r.origins.cores) {
		return nil, false
	}
	return &r.parts[r.origins.partOf(m, origin)], true
}

// refuse takes an error of the new stream, on which there is nothing but the commands
// that subscribe to everything, that to the marker being the last.
func (r *relay) refuse(err error) {
	s := r.to
	for _, k := range r.confirmations("subscribe") {
		delete(s.waiting, k)
	}
	if len(s.waiting) > 0 {
		r.refused = err
	}
	r.unmarked = true
	if s.waiting != nil {
		close(s.settled)
		s.waiting = nil
	}
}

// finish ends the handoff if every marker has come on both streams.
func (r *relay) finish() []any {
	for i := range r.parts {
		if p := &r.parts[i]; p.used && !p.passed() {
			return nil
		}
	}
	return r.end()
}

// passed tells whether the marker has come on both streams.
func (p *relayPart) passed() bool { return p.markerAt >= 0 && p.fromSaw }

// rest is what is still to be delivered of what the new stream has sent, and what it
// will send that was delivered already. Without the marker, what came on both is
// recognised by its content: the end of what the old one has delivered is the
// beginning of what the new one has, or the new one is behind in the middle of it.
func (p *relayPart) rest() (deliver, skip []any) {
	if p.passed() {
		return p.held[p.markerAt:], nil
	}
	for n := min(len(p.since), len(p.held)); n > 0; n-- {
		if slices.EqualFunc(p.since[len(p.since)-n:], p.held[:n], sameMessage) {
			return p.held[n:], nil
		}
	}
	for i := len(p.since) - len(p.held); i >= 0 && len(p.held) > 0; i-- {
		if end := i + len(p.held); slices.EqualFunc(p.since[i:end], p.held, sameMessage) {
			return nil, p.since[end:]
		}
	}
	return p.held, nil
}

// end makes the new stream the one that delivers, and gives what is to be delivered
// of what it has sent already.
func (r *relay) end() (deliver []any) {
	if r.over {
		return nil
	}
	r.to.split, r.to.skip = r.origins, make([][]any, len(r.parts))
	for i := range r.parts {
		rest, skip := r.parts[i].rest()
		deliver = append(deliver, rest...)
		r.to.skip[i] = skip
	}
	for _, name := range slices.Sorted(maps.Keys(r.gone)) {
		r.to.p.ended[name] = struct{}{}
		deliver = append(deliver, r.gone[name])
	}
	r.over = true
	r.from.muted = true
	p := r.to.p
	p.relay = nil
	p.cur = r.to
	if r.to.gone {
		p.cur = nil // both are: the next Receive connects again
		p.tend()
		deliver = append(deliver, lost(r.to.l))
	}
	close(r.done)
	return deliver
}

func sameMessage(a, b any) bool {
	x, y := a.(*Message), b.(*Message)
	return x.Channel == y.Channel && x.Pattern == y.Pattern && x.Payload == y.Payload
}

// onGone runs on the reader of a link that has died.
func (s *stream) onGone(l *link.Link) {
	p := s.p
	p.mu.Lock()
	defer p.mu.Unlock()
	s.gone = true
	if s.waiting != nil {
		close(s.settled)
		s.waiting = nil
	}
	if r := p.relay; r != nil && s == r.from {
		p.push(r.end()...)
		return
	}
	if p.cur != s {
		return
	}
	p.cur = nil
	if !p.closed {
		p.push(lost(l))
		p.tend()
	}
}

// relayTime is how long both streams of a handoff go on where there is no marker.
const relayTime = 2 * time.Second

// move hands the subscription over to the first of targets that works. The worker
// that calls it waits until the new connection delivers.
func (s *stream) move(ctx context.Context, _ *link.Link, targets []string) error {
	p := s.p
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	defer p.giveTurn()
	p.mu.Lock()
	isCurrent := p.cur == s
	p.mu.Unlock()
	if !isCurrent {
		return nil // it was replaced or has died
	}
	return s.replace(ctx, s.core, new(origins).or(s.core), func(d endpoint.Dedicated) (*link.Link, error) {
		return s.core.ep.OpenDedicatedAt(ctx, d, targets)
	})
}

// replace hands the subscription over to a link that open opens at a core. What tells the
// order is published where the messages are, too: only those of one node of a cluster have
// an order. The turn is held.
func (s *stream) replace(ctx context.Context, at *core, from *origins, open func(endpoint.Dedicated) (*link.Link, error)) error {
	next := newStream(s.p)
	next.core = at
	nl, err := open(next.dedicated())
	if err != nil {
		return err
	}
	r, err := s.handTo(ctx, next, nl, from)
	if err != nil {
		nl.Close(err)
		if wire := r.wire("unsubscribe"); len(wire) > 0 {
			_ = s.l.WriteOnly(wire)
		}
		return err
	}
	if wire := r.wire("unsubscribe"); len(wire) > 0 {
		_ = nl.WriteOnly(wire) // if it can't be written, the link is gone
	}
	s.l.Close(link.ErrDraining)
	return nil
}

// handTo makes next take over from s; the turn is held.
func (s *stream) handTo(ctx context.Context, next *stream, nl *link.Link, from *origins) (*relay, error) {
	p := s.p
	r := &relay{from: s, to: next, marker: markerPrefix + rand.Text(), origins: from, done: make(chan struct{})}
	wire := p.wireOfAll()

	p.mu.Lock()
	r.begin(len(p.subs[subPattern]) > 0)
	next.l = nl
	settled := next.expect(append(p.confirmations(), r.confirmations("subscribe")...))
	p.relay = r
	p.mu.Unlock()

	err := nl.WriteOnly(append(wire, r.wire("subscribe")...))
	if err == nil {
		err = p.await(ctx, r, settled)
	}
	if err == nil {
		err = s.mark(ctx, r)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.over:
	case err != nil || !nl.Alive():
		p.push(r.giveUp()...)
		if !s.gone {
			s.expect(r.confirmations("unsubscribe"))
		}
		if err == nil {
			err = lost(nl)
		}
		return r, err
	default:
		p.push(r.end()...)
	}
	if !next.gone {
		next.expect(r.confirmations("unsubscribe"))
	}
	return r, nil
}

// begin makes the parts.
func (r *relay) begin(hasPatterns bool) {
	r.anew, r.gone = make(map[string][]any), make(map[string]*Subscription)
	n := len(r.origins.cores)
	r.parts = make([]relayPart, 2*n)
	for i := range r.parts {
		r.parts[i] = relayPart{used: i < n || hasPatterns, markerAt: -1}
	}
}

// wire is the command about the marker's channel, and the one about it as a pattern
// where patterns are subscribed to.
func (r *relay) wire(verb string) (wire []byte) {
	if r.unmarked {
		return nil
	}
	for i, prefix := range []string{"", "p"} {
		if r.parts[i*len(r.origins.cores)].used {
			wire = appendCommand(wire, prefix+verb, r.marker)
		}
	}
	return wire
}

// confirmations are those of wire.
func (r *relay) confirmations(verb string) (keys []string) {
	if r.unmarked {
		return nil
	}
	for i, prefix := range []string{"", "p"} {
		if r.parts[i*len(r.origins.cores)].used {
			keys = append(keys, prefix+verb+" "+r.marker)
		}
	}
	return keys
}

// mark subscribes the old stream to the marker too, publishes it, and waits until it
// has come on both. Where the user may not do that, both go on for a while, so that
// what was under way when the new one was subscribed still comes on the old one. A
// server that stalls is waited for until the handoff's deadline.
func (s *stream) mark(ctx context.Context, r *relay) error {
	p := s.p
	p.mu.Lock()
	isMarked := !r.unmarked
	settled := s.expect(r.confirmations("subscribe"))
	p.mu.Unlock()
	if isMarked {
		if err := s.l.WriteOnly(r.wire("subscribe")); err != nil {
			return err
		}
		if err := p.await(ctx, r, settled); err != nil {
			return err
		}
		isMarked = r.publish(ctx)
	}
	var late <-chan time.Time
	if !isMarked {
		t := time.NewTimer(relayTime)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-r.done:
	case <-late:
	case <-r.to.l.Down():
	case <-ctx.Done():
	case <-p.exit:
	}
	return nil
}

// publish publishes the marker at every origin, and tells whether all have taken it.
func (r *relay) publish(ctx context.Context) bool {
	var (
		wg     sync.WaitGroup
		failed atomic.Bool
	)
	for i, c := range r.origins.cores {
		wg.Go(func() {
			if c.process(ctx, newPublish("publish", r.marker, strconv.Itoa(i))) != nil {
				failed.Store(true)
			}
		})
	}
	wg.Wait()
	return !failed.Load()
}

// expect keeps confirmations from the consumer, and gives what is closed when all
// have come, those still due from before with them; PubSub.mu is held.
func (s *stream) expect(keys []string) <-chan struct{} {
	if s.waiting == nil {
		s.waiting = make(map[string]struct{}, len(keys))
		s.settled = make(chan struct{})
	}
	settled := s.settled
	for _, k := range keys {
		s.waiting[k] = struct{}{}
	}
	if len(s.waiting) == 0 {
		close(s.settled)
		s.waiting = nil
	}
	return settled
}

// confirmations are those that follow from subscribing to everything; mu is held.
func (p *PubSub) confirmations() (keys []string) {
	for k := range subKinds {
		verb, _ := k.verbs()
		for n := range p.subs[k] {
			keys = append(keys, verb+" "+n)
		}
	}
	return keys
}

var errNotConfirmed = errors.New("the new connection's subscriptions were not confirmed")

// await waits until what a stream is to be subscribed to is confirmed.
func (p *PubSub) await(ctx context.Context, r *relay, settled <-chan struct{}) error {
	select {
	case <-settled:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errNotConfirmed, context.Cause(ctx))
	case <-p.exit:
		return ErrClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.refused != nil:
		return fmt.Errorf("%w: %w", errNotConfirmed, r.refused)
	case r.to.gone:
		return errNotConfirmed
	}
	return nil
}

// newPublish makes a command that publishes: publish or spublish.
func newPublish(verb, channel, payload string) *IntCmd {
	cmd := &IntCmd{}
	cmd.begin(verb)
	cmd.str(channel)
	cmd.str(payload)
	return cmd
}

// parseFrame makes an event of a frame; nil: it is none.
func parseFrame(frame []byte) any {
	r := resp.NewReader(frame)
	switch r.Kind() {
	case resp.KindPush, resp.KindArray:
	case resp.KindError, resp.KindBulkError:
		_, err := r.Bytes()
		return err
	case resp.KindSimple:
		if s, err := r.String(); err != nil || s != "PONG" {
			return nil // OK, of another command
		}
		return &Pong{}
	default:
		s, err := r.String()
		if err != nil {
			return nil
		}
		return &Pong{Payload: s}
	}
	n, err := r.ArrayLen()
	if err != nil || n < 2 {
		return nil
	}
	kind, err := r.String()
	if err != nil {
		return nil
	}
	switch kind {
	case "message", "smessage":
		return parseMessage(&r, false)
	case "pmessage":
		return parseMessage(&r, true)
	case "pong":
		s, _ := r.String()
		return &Pong{Payload: s}
	}
	if strings.HasSuffix(kind, "subscribe") && n == 3 {
		name, err := r.String()
		if err != nil && !errors.Is(err, Nil) {
			return nil
		}
		count, _ := r.Int()
		return &Subscription{Kind: kind, Channel: name, Count: int(count)}
	}
	return nil
}

func parseMessage(r *resp.Reader, hasPattern bool) any {
	m := &Message{}
	var err error
	if hasPattern {
		m.Pattern, err = r.String()
	}
	if err == nil {
		m.Channel, err = r.String()
	}
	if err != nil {
		return nil
	}
	if r.Kind() == resp.KindArray {
		n, err := r.ArrayLen()
		for i := 0; err == nil && i < n; i++ {
			var s string
			s, err = r.String()
			m.PayloadSlice = append(m.PayloadSlice, s)
		}
		return m
	}
	m.Payload, err = r.String()
	if err != nil && !errors.Is(err, Nil) {
		return nil
	}
	return m
}
