package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// subKind is one of the three kinds of subscription.
type subKind uint8

const (
	subChannel subKind = iota
	subPattern
	subShard
	subKinds // how many there are
)

// verbs are the commands of a kind.
func (k subKind) verbs() (subscribe, unsubscribe string) {
	switch k {
	case subPattern:
		return "psubscribe", "punsubscribe"
	case subShard:
		return "ssubscribe", "sunsubscribe"
	default:
		return "subscribe", "unsubscribe"
	}
}

// PubSub is a subscription to channels and patterns, on a connection of its own. It
// is made by Client.Subscribe and its like; Channel gives the messages.
//
// During a handoff the new connection is subscribed to everything before the old
// one is left, and what both deliver is delivered once, in order. After a cut
// without notice it connects and subscribes again; messages published meanwhile are
// lost, as Redis does not keep them.
//
// Methods are safe for concurrent use; messages are to be received by one goroutine.
type PubSub struct {
	host subHost  // the client it belongs to
	opt  *Options // of its connections
	in   *inbox
	exit chan struct{} // closed by Close
	loop sync.WaitGroup

	shards *shardSubs // of a ClusterClient: its shard channels; else nil
	part   *shardPart // it is the part of another one at one node; else nil

	// turn is held, by a value in it, by who connects, subscribes or hands over.
	turn chan struct{}

	mu     sync.Mutex // guards the fields below
	closed bool
	subs   [subKinds]map[string]struct{} // what the user wants
	ended  map[string]struct{}           // shard channels in subs that the server has ended by itself
	cur    *stream                       // nil: not connected
	relay  *relay                        // the handoff going on
	ch     *channel                      // of Channel
}

// subHost is the client that a subscription belongs to.
type subHost interface {
	unusable() error
	// reach calls open with where the subscription is to connect to, and with what
	// comes next where that can't be reached.
	reach(ctx context.Context, open func(at *core) (*link.Link, error)) (*link.Link, error)
	forget(p *PubSub) // it was closed
}

func newPubSub(host subHost, opt *Options, in *inbox) *PubSub {
	p := &PubSub{
		host: host, opt: opt, in: in, exit: make(chan struct{}), turn: make(chan struct{}, 1),
		ended: make(map[string]struct{}),
	}
	for k := range p.subs {
		p.subs[k] = make(map[string]struct{})
	}
	return p
}

func (c *core) newPubSub() *PubSub {
	p := newPubSub(c, c.opt, newInbox())
	c.enlist(p)
	return p
}

// enlist makes Close close p too.
func (c *core) enlist(p *PubSub) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	if c.closed {
		p.closed = true
		close(p.exit)
	} else {
		c.subs[p] = struct{}{}
	}
}

func (c *core) forget(p *PubSub) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.subs, p)
}

func (c *core) reach(_ context.Context, open func(at *core) (*link.Link, error)) (*link.Link, error) {
	return open(c)
}

// Subscribe subscribes to channels; with none, later by PubSub.Subscribe. An error is met
// again by Receive. Since Redis 2.0, O(N) with the channels.
func (c *Client) Subscribe(ctx context.Context, channels ...string) *PubSub {
	p := c.newPubSub()
	return p.begin(ctx, p.Subscribe, channels)
}

// begin subscribes with what a client was given, if anything; an error is met again by
// Receive.
func (p *PubSub) begin(ctx context.Context, subscribe func(context.Context, ...string) error, names []string) *PubSub {
	if len(names) > 0 {
		_ = subscribe(ctx, names...)
	}
	return p
}

// PSubscribe subscribes to patterns. Since Redis 2.0, O(N) with the patterns.
func (c *Client) PSubscribe(ctx context.Context, patterns ...string) *PubSub {
	p := c.newPubSub()
	return p.begin(ctx, p.PSubscribe, patterns)
}

// SSubscribe subscribes to shard channels. Since Redis 7.0, O(N) with the channels.
func (c *Client) SSubscribe(ctx context.Context, channels ...string) *PubSub {
	p := c.newPubSub()
	return p.begin(ctx, p.SSubscribe, channels)
}

// Subscribe subscribes to more channels. It returns when the command is written; the
// confirmation comes with Receive. Since Redis 2.0, O(N) with the channels.
func (p *PubSub) Subscribe(ctx context.Context, channels ...string) error {
	return p.change(ctx, subChannel, true, channels)
}

// PSubscribe subscribes to more patterns. Since Redis 2.0, O(N) with the patterns.
func (p *PubSub) PSubscribe(ctx context.Context, patterns ...string) error {
	return p.change(ctx, subPattern, true, patterns)
}

// SSubscribe subscribes to more shard channels. Since Redis 7.0, O(N) with the channels.
func (p *PubSub) SSubscribe(ctx context.Context, channels ...string) error {
	return p.change(ctx, subShard, true, channels)
}

// Unsubscribe leaves channels; with none given, all. Since Redis 2.0, O(N) with the
// channels.
func (p *PubSub) Unsubscribe(ctx context.Context, channels ...string) error {
	return p.change(ctx, subChannel, false, channels)
}

// PUnsubscribe leaves patterns; with none given, all. Since Redis 2.0, O(N) with the
// patterns.
func (p *PubSub) PUnsubscribe(ctx context.Context, patterns ...string) error {
	return p.change(ctx, subPattern, false, patterns)
}

// SUnsubscribe leaves shard channels; with none given, all. Since Redis 7.0, O(N) with
// the channels.
func (p *PubSub) SUnsubscribe(ctx context.Context, channels ...string) error {
	return p.change(ctx, subShard, false, channels)
}

// change changes what is subscribed to, here and at the server. What could not be
// written is subscribed to with the next connection.
func (p *PubSub) change(ctx context.Context, k subKind, add bool, names []string) error {
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	defer p.giveTurn()
	if p.shards != nil {
		p.shards.begin()
		if k == subShard {
			return p.shards.change(ctx, add, names)
		}
	}
	p.mu.Lock()
	connected := p.cur != nil
	p.want(k, add, names)
	p.mu.Unlock()
	if !connected {
		if !add {
			return nil
		}
		return p.connect(ctx) // subscribes to everything
	}
	verb, leave := k.verbs()
	if !add {
		verb = leave
	}
	var wire []byte
	if p.part != nil && !add && p.opt.Protocol == 3 {
		wire = appendCommand(wire, "readonly") // or replicas of Redis 8 refuse to end it
	}
	return p.write(appendNames(wire, k, verb, names))
}

// want takes in what the user wants, or does not any more; mu is held.
func (p *PubSub) want(k subKind, add bool, names []string) {
	for _, n := range names {
		if k == subShard {
			delete(p.ended, n) // what is asked for now begins on the connection that there is
		}
		if add {
			p.subs[k][n] = struct{}{}
		} else {
			delete(p.subs[k], n)
		}
	}
	if !add && len(names) == 0 {
		clear(p.subs[k])
	}
}

// appendNames is one command, or for shard channels one for each slot, as a cluster
// wants it.
func appendNames(b []byte, k subKind, verb string, names []string) []byte {
	if k != subShard || len(names) < 2 {
		return appendCommand(b, verb, names...)
	}
	bySlot := make(map[uint16][]string)
	var slots []uint16 // in the order of names
	for _, n := range names {
		slot := cluster.SlotString(n)
		if bySlot[slot] == nil {
			slots = append(slots, slot)
		}
		bySlot[slot] = append(bySlot[slot], n)
	}
	for _, slot := range slots {
		b = appendCommand(b, verb, bySlot[slot]...)
	}
	return b
}

func appendCommand(b []byte, name string, args ...string) []byte {
	b = resp.AppendArrayLen(b, 1+len(args))
	b = resp.AppendBulk(b, name)
	for _, a := range args {
		b = resp.AppendBulk(b, a)
	}
	return b
}

// takeTurn waits for the right to change the connection.
func (p *PubSub) takeTurn(ctx context.Context) error {
	if err := p.host.unusable(); err != nil {
		return err
	}
	select {
	case <-p.exit:
		return p.closedError()
	default:
	}
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-p.exit:
		return p.closedError()
	case <-ctx.Done():
		return &CommandError{Command: "subscribe", Endpoint: p.opt.Addr, Delivery: NotSent, Err: context.Cause(ctx)}
	}
}

func (p *PubSub) giveTurn() { <-p.turn }

func (p *PubSub) closedError() error {
	return &CommandError{Command: "subscribe", Endpoint: p.opt.Addr, Delivery: NotSent, Err: ErrClosed}
}

// connect opens a connection if there is none and subscribes to everything. The
// turn is held.
func (p *PubSub) connect(ctx context.Context) error {
	p.mu.Lock()
	connected := p.cur != nil
	p.mu.Unlock()
	if connected {
		return nil
	}
	s := newStream(p)
	l, err := p.open(ctx, s)
	if err != nil {
		return err
	}
	if !p.adopt(s, l) {
		l.Close(ErrClosed)
		return p.closedError()
	}
	wire := p.wireOfAll()
	if len(wire) == 0 {
		return nil
	}
	return l.WriteOnly(wire)
}

// open opens the connection of s. Close ends it.
func (p *PubSub) open(ctx context.Context, s *stream) (*link.Link, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	opened := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-p.exit:
			cancel(ErrClosed)
		case <-opened:
		}
	})
	l, err := p.host.reach(ctx, func(at *core) (*link.Link, error) {
		s.core = at
		return at.ep.OpenDedicated(ctx, s.dedicated())
	})
	close(opened)
	watch.Wait()
	defer cancel(nil)
	if err != nil && errors.Is(context.Cause(ctx), ErrClosed) {
		return nil, p.closedError()
	}
	return l, err
}

// adopt makes s the stream that delivers.
func (p *PubSub) adopt(s *stream, l *link.Link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	s.l = l
	if s.gone {
		p.push(lost(l))
		p.tend()
		return true // the next Receive meets the error and connects again
	}
	p.cur = s
	return true
}

// push gives events to the consumer; mu is held.
func (p *PubSub) push(events ...any) {
	if p.part != nil {
		p.part.push(events)
		return
	}
	p.in.push(events...)
}

// tend makes a cluster's subscription look after its connections now.
func (p *PubSub) tend() {
	if p.shards != nil {
		signal(p.shards.wake)
	}
}

// wireOfAll are the commands that subscribe to everything.
func (p *PubSub) wireOfAll() (wire []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range subKinds {
		if len(p.subs[k]) == 0 {
			continue
		}
		verb, _ := k.verbs()
		wire = appendNames(wire, k, verb, slices.Sorted(maps.Keys(p.subs[k])))
	}
	return wire
}

// write writes on the connection there is; the turn is held.
func (p *PubSub) write(wire []byte) error {
	p.mu.Lock()
	s := p.cur
	p.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.l.WriteOnly(wire)
}

// Ping asks the server for a Pong, which comes with Receive.
func (p *PubSub) Ping(ctx context.Context, payload ...string) error {
	if at := p.connected(); at != p {
		return at.Ping(ctx, payload...)
	}
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	defer p.giveTurn()
	if err := p.connect(ctx); err != nil {
		return err
	}
	return p.write(appendCommand(nil, "ping", payload...))
}

// ClientSetName names the connection; a new one is named by Options.ClientName.
func (p *PubSub) ClientSetName(ctx context.Context, name string) error {
	if at := p.connected(); at != p {
		return at.ClientSetName(ctx, name)
	}
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	defer p.giveTurn()
	if err := p.connect(ctx); err != nil {
		return err
	}
	return p.write(appendCommand(nil, "client", "setname", name))
}

// String lists what is subscribed to.
func (p *PubSub) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for k := range p.subs {
		names = append(names, slices.Sorted(maps.Keys(p.subs[k]))...)
	}
	if p.shards != nil {
		names = append(names, p.shards.names()...)
	}
	return fmt.Sprintf("PubSub(%s)", strings.Join(names, ", "))
}

// Close ends the subscription, and the channel of Channel. A second Close returns
// ErrClosed.
func (p *PubSub) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return ErrClosed
	}
	p.closed = true
	close(p.exit)
	s := p.cur
	p.cur = nil
	p.mu.Unlock()
	p.host.forget(p)
	if s != nil {
		s.l.Close(ErrClosed)
	}
	if p.shards != nil {
		p.shards.close()
	}
	if p.part != nil {
		p.part.ended()
	} else {
		p.in.close()
	}
	p.loop.Wait()
	return nil
}

//------------------------------------------------------------------------------

// Message is a message of a channel.
type Message struct {
	Channel      string
	Pattern      string // of a pattern subscription; else ""
	Payload      string
	PayloadSlice []string // of a push with several payloads; else nil
}

func (m *Message) String() string { return fmt.Sprintf("Message<%s: %s>", m.Channel, m.Payload) }

// Subscription confirms that a subscription has begun or ended.
type Subscription struct {
	Kind    string // the command: "subscribe", "unsubscribe", "psubscribe", ...
	Channel string // the channel or the pattern
	Count   int    // how many subscriptions there are now
}

func (m *Subscription) String() string { return fmt.Sprintf("%s: %s", m.Kind, m.Channel) }

// Pong answers a Ping.
type Pong struct{ Payload string }

func (p *Pong) String() string {
	if p.Payload != "" {
		return fmt.Sprintf("Pong<%s>", p.Payload)
	}
	return "Pong"
}

// Receive waits for the next *Message, *Subscription or *Pong. An error says that
// the context has ended, that the server has refused a command, or that the
// connection was lost: the next Receive then connects and subscribes again.
func (p *PubSub) Receive(ctx context.Context) (any, error) { return p.receive(ctx, nil) }

// ReceiveTimeout is Receive, but waits no longer than timeout, 0 meaning for ever;
// the error then answers Timeout with true, and the subscription goes on.
func (p *PubSub) ReceiveTimeout(ctx context.Context, timeout time.Duration) (any, error) {
	if timeout <= 0 {
		return p.receive(ctx, nil)
	}
	t := time.NewTimer(timeout)
	defer t.Stop()
	v, err := p.receive(ctx, t.C)
	if err == errTimerFired { //nolint:errorlint // own sentinel
		return nil, &CommandError{
			Command: "receive", Endpoint: p.opt.Addr, Delivery: NotSent,
			Err: &link.TimeoutError{Op: "read", After: timeout},
		}
	}
	return v, err
}

// ReceiveMessage waits for the next message and passes over everything else.
func (p *PubSub) ReceiveMessage(ctx context.Context) (*Message, error) {
	for {
		v, err := p.Receive(ctx)
		if err != nil {
			return nil, err
		}
		if m, ok := v.(*Message); ok {
			return m, nil
		}
	}
}

func (p *PubSub) receive(ctx context.Context, timer <-chan time.Time) (any, error) {
	if v, ok := p.in.tryPop(); ok {
		return p.received(v)
	}
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	v, err := p.in.pop(ctx, p.exit, timer)
	switch {
	case err == nil:
		return p.received(v)
	case err == errTimerFired: //nolint:errorlint // own sentinel
		return nil, err
	}
	return nil, &CommandError{Command: "receive", Endpoint: p.opt.Addr, Delivery: NotSent, Err: err}
}

// received is what a receiver gets of an event.
func (p *PubSub) received(v any) (any, error) {
	switch v := v.(type) {
	case error:
		return nil, v
	case *Message:
		recordMessage(p, v)
	}
	return v, nil
}

// ready connects if there is no connection.
func (p *PubSub) ready(ctx context.Context) error {
	p.mu.Lock()
	connected := p.cur != nil || p.isIdle() && p.shards.serves()
	p.mu.Unlock()
	if connected {
		return nil
	}
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	defer p.giveTurn()
	return p.connect(ctx)
}

// connected gives the part of a cluster's subscription that has a connection: itself
// unless it has only shard channels.
func (p *PubSub) connected() *PubSub {
	p.mu.Lock()
	isOwn := p.cur != nil || !p.isIdle()
	p.mu.Unlock()
	if !isOwn && p.shards != nil {
		for _, part := range p.shards.all() {
			return part.sub
		}
	}
	return p
}

// isIdle tells whether there is nothing to subscribe to; mu is held.
func (p *PubSub) isIdle() bool {
	for _, names := range p.subs {
		if len(names) > 0 {
			return false
		}
	}
	return true
}
