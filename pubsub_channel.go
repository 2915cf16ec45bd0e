package redis

import (
	"context"
	"errors"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// ChannelOption configures PubSub.Channel.
type ChannelOption func(c *channel)

// WithChannelSize sets the Go channel's capacity. Default 100.
func WithChannelSize(size int) ChannelOption { return func(c *channel) { c.size = max(size, 0) } }

// WithChannelHealthCheckInterval sets after how long a silence the server is asked
// whether it is still there. Default 3 s; 0 never asks.
func WithChannelHealthCheckInterval(d time.Duration) ChannelOption {
	return func(c *channel) { c.check = d }
}

// WithChannelSendTimeout sets how long a full Go channel is waited for before a
// message is dropped. Default 60 s.
func WithChannelSendTimeout(d time.Duration) ChannelOption {
	return func(c *channel) { c.sendTimeout = d }
}

// WithChannelReconnectTimeout bounds one attempt to connect again. Default: the
// client's DialTimeout and ReadTimeout.
func WithChannelReconnectTimeout(d time.Duration) ChannelOption {
	return func(c *channel) { c.reconnect = d }
}

// WithChannelPingTimeout bounds how long the answer to a health check is waited
// for. Default: the client's ReadTimeout.
func WithChannelPingTimeout(d time.Duration) ChannelOption {
	return func(c *channel) { c.pingTimeout = d }
}

// WithChannelGaps makes ChannelWithSubscriptions give a *Gap wherever messages may be
// missing. It does nothing for Channel, which can give messages only.
func WithChannelGaps() ChannelOption { return func(c *channel) { c.gaps = true } }

// Gap says that messages may be missing from here on until the *Subscription values that
// follow: the connection was cut without notice, and Redis does not keep messages. Or a
// message was dropped because its consumer was too slow. Handoffs leave no gap.
type Gap struct {
	At  time.Time // when it was noticed
	Err error     // why
}

func (g *Gap) String() string { return "Gap<" + g.Err.Error() + ">" }

// errSlowConsumer is why a message was dropped.
var errSlowConsumer = errors.New("the consumer is too slow, so a message was dropped")

// channel is what feeds the Go channel of a PubSub.
type channel struct {
	p                      *PubSub
	size                   int
	check, sendTimeout     time.Duration
	reconnect, pingTimeout time.Duration
	gaps                   bool          // give *Gap values
	messages               chan *Message // one of these two is used
	all                    chan any
}

// Channel gives a Go channel of the messages. It is closed by Close. The connection
// is watched, and opened again when it was lost. A consumer that does not keep up
// for the send timeout (one minute) loses messages. A PubSub has one Go channel;
// Receive is not to be used beside it.
func (p *PubSub) Channel(opts ...ChannelOption) <-chan *Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ch == nil {
		c := p.newChannel(opts)
		c.messages = make(chan *Message, c.size)
		p.start(c)
	}
	if p.ch.messages == nil {
		panic("redis: Channel after ChannelWithSubscriptions")
	}
	return p.ch.messages
}

// ChannelSize is Channel with a capacity.
func (p *PubSub) ChannelSize(size int) <-chan *Message { return p.Channel(WithChannelSize(size)) }

// ChannelWithSubscriptions is Channel, but gives *Subscription values too, and *Gap
// values with WithChannelGaps.
func (p *PubSub) ChannelWithSubscriptions(opts ...ChannelOption) <-chan any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ch == nil {
		c := p.newChannel(opts)
		c.all = make(chan any, c.size)
		p.start(c)
	}
	if p.ch.all == nil {
		panic("redis: ChannelWithSubscriptions after Channel")
	}
	return p.ch.all
}

func (p *PubSub) newChannel(opts []ChannelOption) *channel {
	c := &channel{p: p, size: 100, check: 3 * time.Second, sendTimeout: time.Minute}
	for _, o := range opts {
		o(c)
	}
	return c
}

// start runs the channel's goroutine; mu is held.
func (p *PubSub) start(c *channel) {
	p.ch = c
	if p.closed {
		c.end()
		return
	}
	p.loop.Go(c.run)
}

func (c *channel) end() {
	if c.messages != nil {
		close(c.messages)
	} else {
		close(c.all)
	}
}

// run receives until Close.
func (c *channel) run() {
	defer c.end()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // ends with run
		select {
		case <-c.p.exit:
			cancel()
		case <-stop:
		}
	}()
	failures := 0
	for {
		v, err := c.next(ctx)
		select {
		case <-c.p.exit:
			return
		default:
		}
		switch {
		case err == errTimerFired: //nolint:errorlint // own sentinel
			c.probe(ctx)
		case err != nil:
			c.p.opt.Logger.Debug("subscription", "error", err)
			if errors.Is(err, errSubscriptionLost) {
				c.gap(err)
			}
			if !sleep(ctx, c.p.opt.backoff(min(failures, 10))) {
				return
			}
			failures++
		default:
			failures = 0
			c.send(v)
		}
	}
}

// next waits for an event, or for a silence that is too long.
func (c *channel) next(ctx context.Context) (any, error) {
	if c.reconnect > 0 {
		connect, cancel := context.WithTimeout(ctx, c.reconnect)
		err := c.p.ready(connect)
		cancel()
		if err != nil {
			return nil, err
		}
	}
	if v, ok := c.p.in.tryPop(); ok {
		return c.p.received(v)
	}
	if c.check <= 0 {
		return c.p.receive(ctx, nil)
	}
	t := time.NewTimer(c.check)
	defer t.Stop()
	return c.p.receive(ctx, t.C)
}

// probe asks silent servers whether they are there. One that was asked, and has sent
// nothing for the ping timeout since, is given up; the next receive connects anew.
func (c *channel) probe(ctx context.Context) {
	c.probePart(ctx, c.p)
	if c.p.shards != nil {
		for _, part := range c.p.shards.all() {
			c.probePart(ctx, part.sub)
		}
	}
}

// probePart is probe for one connection.
func (c *channel) probePart(ctx context.Context, p *PubSub) {
	p.mu.Lock()
	s := p.cur
	p.mu.Unlock()
	if s == nil {
		return
	}
	limit := s.core.ep.Timeouts().Read()
	if c.pingTimeout > 0 {
		limit = c.pingTimeout
	}
	if limit > 0 && s.silence() > c.check+limit {
		s.l.Close(&link.TimeoutError{Op: "read", After: s.silence()})
		return
	}
	_ = p.Ping(ctx)
}

// silence is how long nothing has come.
func (s *stream) silence() time.Duration {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return time.Since(s.seenAt)
}

// send gives an event to the consumer.
func (c *channel) send(v any) {
	m, isMessage := v.(*Message)
	if _, isPong := v.(*Pong); isPong || c.messages != nil && !isMessage {
		return
	}
	if c.messages != nil {
		select {
		case c.messages <- m:
			return
		default:
		}
	}
	t := time.NewTimer(c.sendTimeout)
	defer t.Stop()
	var sent bool
	if c.messages != nil {
		sent = sendBefore(c.messages, m, c.p.exit, t.C)
	} else {
		sent = sendBefore(c.all, v, c.p.exit, t.C)
	}
	if !sent {
		c.p.opt.Logger.Warn("a message was dropped because its consumer is too slow", "event", v)
		if _, isGap := v.(*Gap); !isGap {
			c.gap(errSlowConsumer)
		}
	}
}

// gap tells the consumer that messages may be missing, if it wants to know.
func (c *channel) gap(err error) {
	if c.gaps && c.all != nil {
		c.send(&Gap{At: time.Now(), Err: err})
	}
}

// sendBefore is false where the timer fires before v was taken.
func sendBefore[T any](to chan<- T, v T, exit <-chan struct{}, timer <-chan time.Time) bool {
	select {
	case to <- v:
		return true
	case <-exit:
		return true
	case <-timer:
		return false
	}
}
