package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/baton-go/redis/internal/endpoint"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// stream is one connection of a subscription.
type stream struct {
	p *PubSub
	l *link.Link // set with PubSub.mu held before the stream is used

	// Guarded by PubSub.mu.
	gone    bool
	muted   bool                // what comes is dropped: another stream delivers it
	seenAt  time.Time           // when the last frame came
	waiting map[string]struct{} // confirmations that are kept from the consumer
	settled chan struct{}       // closed when waiting has become empty
}

func newStream(p *PubSub) *stream { return &stream{p: p, seenAt: time.Now()} }

// relay is a handoff of a subscription: both streams are subscribed to everything,
// and a message published on a channel that only they know tells where in the order
// of all messages the new one takes over. What the old one delivers before that
// marker is delivered, and what the new one delivers after it.
type relay struct {
	from, to *stream
	marker   string

	// Guarded by PubSub.mu.
	held     []any // what came on to
	markerAt int   // how many of held came before the marker; -1: it has not come
	since    []any // what came on from since to was subscribed
	fromSaw  bool  // the marker has come on from
	done     chan struct{}
	over     bool
}

// dedicated says how the endpoint is to treat the stream's link.
func (s *stream) dedicated() endpoint.Dedicated {
	return endpoint.Dedicated{OnFrame: s.onFrame, OnGone: s.onGone, Move: s.move}
}

// lost is the error of a subscription that was cut.
func lost(l *link.Link) error {
	return &CommandError{Command: "receive", Endpoint: l.Endpoint(), Delivery: NotSent, Err: fmt.Errorf("subscription lost: %w", l.Err())}
}

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
		p.in.push(deliver...)
	}
	p.mu.Unlock()
	p.in.awaitRoom(l.Down())
}

// take tells what is to be delivered now that ev has come; PubSub.mu is held.
func (s *stream) take(ev any) []any {
	if sub, ok := ev.(*Subscription); ok && s.waiting != nil {
		key := sub.Kind + " " + sub.Channel
		if _, ok := s.waiting[key]; ok {
			delete(s.waiting, key)
			if len(s.waiting) == 0 {
				close(s.settled)
				s.waiting = nil
			}
			return nil
		}
	}
	r := s.p.relay
	if s.muted {
		return nil
	}
	if r == nil || s != r.from && s != r.to {
		return []any{ev}
	}
	return r.take(s, ev)
}

// take is stream.take during a handoff; PubSub.mu is held.
func (r *relay) take(s *stream, ev any) []any {
	m, isMessage := ev.(*Message)
	isMarker := isMessage && m.Channel == r.marker
	if s == r.to {
		switch {
		case isMarker && r.markerAt < 0:
			r.markerAt = len(r.held)
		case isMessage && !isMarker:
			r.held = append(r.held, ev)
		}
		return r.finish()
	}
	if isMarker {
		r.fromSaw = true
		s.muted = true
		return r.finish()
	}
	if isMessage {
		r.since = append(r.since, ev)
	}
	return []any{ev}
}

// finish ends the handoff if both have seen the marker.
func (r *relay) finish() []any {
	if r.over || r.markerAt < 0 || !r.fromSaw {
		return nil
	}
	return r.end(r.held[r.markerAt:])
}

// breakOff ends the handoff without the marker: what came on both is recognised by
// its content, the end of what from has delivered being the beginning of what to
// has.
func (r *relay) breakOff() []any {
	if r.over {
		return nil
	}
	for n := min(len(r.since), len(r.held)); n > 0; n-- {
		if slices.EqualFunc(r.since[len(r.since)-n:], r.held[:n], sameMessage) {
			return r.end(r.held[n:])
		}
	}
	return r.end(r.held)
}

func sameMessage(a, b any) bool {
	x, y := a.(*Message), b.(*Message)
	return x.Channel == y.Channel && x.Pattern == y.Pattern && x.Payload == y.Payload
}

func (r *relay) end(deliver []any) []any {
	r.over = true
	r.from.muted = true
	p := r.to.p
	p.relay = nil
	if !r.to.gone {
		p.cur = r.to
	}
	close(r.done)
	return deliver
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
		p.in.push(r.breakOff()...)
		return
	}
	if p.cur != s {
		return
	}
	p.cur = nil
	if r := p.relay; r != nil {
		p.in.push(r.breakOff()...)
	}
	if !p.closed {
		p.in.push(lost(l))
	}
}

// relayTime is how long both streams of a handoff go on where there is no marker.
const relayTime = 2 * time.Second

// move hands the subscription over to the first of targets that works. The worker
// that calls it waits until the new connection delivers.
func (s *stream) move(ctx context.Context, l *link.Link, targets []string) error {
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
	next := newStream(p)
	nl, err := p.core.ep.OpenDedicatedAt(ctx, next.dedicated(), targets)
	if err != nil {
		return err
	}
	if err := s.handTo(ctx, next, nl); err != nil {
		nl.Close(err)
		return err
	}
	l.Close(link.ErrDraining)
	return nil
}

// handTo makes next take over from s; the turn is held.
func (s *stream) handTo(ctx context.Context, next *stream, nl *link.Link) error {
	p := s.p
	wire := p.wireOfAll()
	r := &relay{from: s, to: next, marker: "__baton:handoff:" + rand.Text(), markerAt: -1, done: make(chan struct{})}
	wire = appendCommand(wire, "subscribe", r.marker)

	p.mu.Lock()
	next.l = nl
	settled := next.expect(p.confirmations(r.marker))
	oldSettled := s.expect([]string{"subscribe " + r.marker})
	p.relay = r
	p.mu.Unlock()

	err := nl.WriteOnly(wire)
	if err == nil {
		err = s.l.WriteOnly(appendCommand(nil, "subscribe", r.marker))
	}
	if err == nil {
		err = p.await(ctx, r, settled, oldSettled)
	}
	if err == nil {
		s.mark(ctx, r)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.over:
	case err != nil || next.gone:
		// Keep to the old stream.
		r.over = true
		p.relay = nil
		s.muted = false
		if err == nil {
			err = lost(nl)
		}
		return err
	default:
		p.in.push(r.breakOff()...)
	}
	_ = nl.WriteOnly(appendCommand(nil, "unsubscribe", r.marker))
	next.waiting = map[string]struct{}{"unsubscribe " + r.marker: {}}
	next.settled = make(chan struct{})
	return nil
}

// mark publishes the marker and waits until it has come on both streams. Where it
// can't be published, both go on for a while, so that what was under way when the
// new one was subscribed still comes on the old one. A server that stalls is waited
// for until the handoff's deadline.
func (s *stream) mark(ctx context.Context, r *relay) {
	p := s.p
	var late <-chan time.Time
	if err := p.core.process(ctx, newPublish(r.marker)); err != nil {
		t := time.NewTimer(relayTime)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-r.done:
	case <-late:
	case <-ctx.Done():
	case <-p.exit:
	}
}

// expect keeps confirmations from the consumer, and gives what is closed when all
// have come; PubSub.mu is held.
func (s *stream) expect(keys []string) <-chan struct{} {
	s.waiting = make(map[string]struct{}, len(keys))
	s.settled = make(chan struct{})
	for _, k := range keys {
		s.waiting[k] = struct{}{}
	}
	return s.settled
}

// confirmations are those that follow from subscribing to everything; mu is held.
func (p *PubSub) confirmations(marker string) (keys []string) {
	for k := range subKinds {
		verb, _ := k.verbs()
		for n := range p.subs[k] {
			keys = append(keys, verb+" "+n)
		}
	}
	return append(keys, "subscribe "+marker)
}

var errNotConfirmed = errors.New("the new connection's subscriptions were not confirmed")

// await waits until everything is subscribed to on both streams.
func (p *PubSub) await(ctx context.Context, r *relay, settled ...<-chan struct{}) error {
	for _, c := range settled {
		select {
		case <-c:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", errNotConfirmed, context.Cause(ctx))
		case <-p.exit:
			return ErrClosed
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.to.gone {
		return errNotConfirmed
	}
	return nil
}

func newPublish(channel string) *IntCmd {
	cmd := &IntCmd{}
	cmd.begin("publish")
	cmd.str(channel)
	cmd.str("")
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
	default:
		s, err := r.String()
		if err != nil || s == "OK" {
			return nil
		}
		if s == "PONG" {
			s = ""
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
