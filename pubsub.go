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
	core *core
	in   *inbox
	exit chan struct{} // closed by Close
	loop sync.WaitGroup

	// turn is held, by a value in it, by who connects, subscribes or hands over.
	turn chan struct{}

	mu     sync.Mutex // guards the fields below
	closed bool
	subs   [subKinds]map[string]struct{} // what the user wants
	cur    *stream                       // nil: not connected
	relay  *relay                        // the handoff going on
	ch     *channel                      // of Channel
}

func (c *core) newPubSub() *PubSub {
	p := &PubSub{core: c, in: newInbox(), exit: make(chan struct{}), turn: make(chan struct{}, 1)}
	for k := range p.subs {
		p.subs[k] = make(map[string]struct{})
	}
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

// Subscribe subscribes to channels; with none, later by PubSub.Subscribe. An error
// is met again by Receive.
func (c *Client) Subscribe(ctx context.Context, channels ...string) *PubSub {
	p := c.newPubSub()
	if len(channels) > 0 {
		_ = p.Subscribe(ctx, channels...)
	}
	return p
}

// PSubscribe subscribes to patterns.
func (c *Client) PSubscribe(ctx context.Context, patterns ...string) *PubSub {
	p := c.newPubSub()
	if len(patterns) > 0 {
		_ = p.PSubscribe(ctx, patterns...)
	}
	return p
}

// SSubscribe subscribes to shard channels. Since Redis 7.0.
func (c *Client) SSubscribe(ctx context.Context, channels ...string) *PubSub {
	p := c.newPubSub()
	if len(channels) > 0 {
		_ = p.SSubscribe(ctx, channels...)
	}
	return p
}

// Subscribe subscribes to more channels. It returns when the command is written;
// the confirmation comes with Receive.
func (p *PubSub) Subscribe(ctx context.Context, channels ...string) error {
	return p.change(ctx, subChannel, true, channels)
}

// PSubscribe subscribes to more patterns.
func (p *PubSub) PSubscribe(ctx context.Context, patterns ...string) error {
	return p.change(ctx, subPattern, true, patterns)
}

// SSubscribe subscribes to more shard channels.
func (p *PubSub) SSubscribe(ctx context.Context, channels ...string) error {
	return p.change(ctx, subShard, true, channels)
}

// Unsubscribe leaves channels; with none given, all.
func (p *PubSub) Unsubscribe(ctx context.Context, channels ...string) error {
	return p.change(ctx, subChannel, false, channels)
}

// PUnsubscribe leaves patterns; with none given, all.
func (p *PubSub) PUnsubscribe(ctx context.Context, patterns ...string) error {
	return p.change(ctx, subPattern, false, patterns)
}

// SUnsubscribe leaves shard channels; with none given, all.
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
	p.mu.Lock()
	connected := p.cur != nil
	for _, n := range names {
		if add {
			p.subs[k][n] = struct{}{}
		} else {
			delete(p.subs[k], n)
		}
	}
	if !add && len(names) == 0 {
		clear(p.subs[k])
	}
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
	return p.write(appendCommand(nil, verb, names...))
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
	if err := p.core.unusable(); err != nil {
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
		return &CommandError{Command: "subscribe", Endpoint: p.core.opt.Addr, Delivery: NotSent, Err: context.Cause(ctx)}
	}
}

func (p *PubSub) giveTurn() { <-p.turn }

func (p *PubSub) closedError() error {
	return &CommandError{Command: "subscribe", Endpoint: p.core.opt.Addr, Delivery: NotSent, Err: ErrClosed}
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
	l, err := p.core.ep.OpenDedicated(ctx, s.dedicated())
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
		p.in.push(lost(l))
		return true // the next Receive meets the error and connects again
	}
	p.cur = s
	return true
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
		if k == subShard { // in a cluster, each may be of another slot
			for _, n := range slices.Sorted(maps.Keys(p.subs[k])) {
				wire = appendCommand(wire, verb, n)
			}
			continue
		}
		wire = appendCommand(wire, verb, slices.Sorted(maps.Keys(p.subs[k]))...)
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
	p.core.mu.Lock()
	delete(p.core.subs, p)
	p.core.mu.Unlock()
	if s != nil {
		s.l.Close(ErrClosed)
	}
	p.in.close()
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
			Command: "receive", Endpoint: p.core.opt.Addr, Delivery: NotSent,
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
		return unwrapEvent(v)
	}
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	v, err := p.in.pop(ctx, p.exit, timer)
	switch {
	case err == nil:
		return unwrapEvent(v)
	case err == errTimerFired: //nolint:errorlint // own sentinel
		return nil, err
	}
	return nil, &CommandError{Command: "receive", Endpoint: p.core.opt.Addr, Delivery: NotSent, Err: err}
}

func unwrapEvent(v any) (any, error) {
	if err, ok := v.(error); ok {
		return nil, err
	}
	return v, nil
}

// ready connects if there is no connection.
func (p *PubSub) ready(ctx context.Context) error {
	p.mu.Lock()
	connected := p.cur != nil
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
