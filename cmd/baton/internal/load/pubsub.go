package load

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis"
)

const (
	// confirmWithin is how long a subscription may take to be confirmed.
	confirmWithin = 5 * time.Second
	// stragglers is how long a subscriber waits for what is still missing.
	stragglers = 2 * time.Second
	// bufferedMessages is how many messages may wait for a subscriber.
	bufferedMessages = 1000
)

// channelKind is how a channel is subscribed to.
type channelKind uint8

const (
	byName channelKind = iota
	byPattern
	sharded
)

// channel is a Pub/Sub channel with one publisher of numbered messages and one
// subscriber.
type channel struct {
	name string
	kind channelKind
	// publishing ends when the publisher has ended.
	publishing chan struct{}

	// Owned by the publisher until publishing ends. Of shard channels, unheard are those
	// of which the reply said that nobody listens, and silence is those since the last one
	// of which it said something else.
	published, unsure, unheard, silence numbers

	received         numbers // owned by the subscriber
	last             int64   // owned by the subscriber; -1 before the first
	twice, reordered int64   // owned by the subscriber
	// Owned by the subscriber: how often it was told that messages may be missing, and
	// those that may. inGap is whether the next message ends a gap.
	gaps       int64
	told       numbers
	inGap      bool
	appRetries atomic.Int64
}

func newChannel(name string, kind channelKind) *channel {
	return &channel{name: name, kind: kind, publishing: make(chan struct{}), last: -1}
}

// publish sends numbered messages.
func (w *worker) publish(ctx context.Context, ch *channel) {
	defer close(ch.publishing)
	if !w.load.subscribed(ctx) {
		return
	}
	for n := int64(0); w.running(ctx); n++ {
		w.publishOne(ctx, ch, n)
	}
}

func (w *worker) publishOne(ctx context.Context, ch *channel, n int64) {
	publish := w.client().Publish
	if ch.kind == sharded {
		publish = w.client().SPublish
	}
	b := w.begin(1)
	cmd := publish(ctx, ch.name, ch.name+"|"+strconv.FormatInt(n, 10))
	switch w.end(ctx, b, cmd.Err()) {
	case Unknown:
		ch.unsure.add(n)
	case Acknowledged:
		if ch.kind == sharded && cmd.Val() == 0 {
			ch.unheard.add(n)
			ch.silence.add(n)
			pause(ctx, failurePause)
			return
		}
		ch.silence = numbers{}
		ch.published.add(n)
	case Failed:
	}
}

// isDeaf reports whether nobody listened in the end: none of the last messages has come,
// as it may by another node of the shard than the one that counts its listeners.
func (ch *channel) isDeaf() bool { return ch.silence.len() > 0 && ch.silence.both(&ch.received) == 0 }

// subscribed waits until every subscriber has its confirmation.
func (l *Load) subscribed(ctx context.Context) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.subbed.Wait()
	}()
	select {
	case <-done:
		return true
	case <-l.cfg.Clock.ended:
		return false
	case <-ctx.Done():
		return false
	}
}

// subscribe receives until the publisher has ended and nothing is missing.
func (w *worker) subscribe(ctx context.Context, ch *channel) {
	confirmed := false
	defer func() {
		if !confirmed {
			w.load.subbed.Done()
		}
	}()
	for ctx.Err() == nil {
		ps := w.openSubscription(ctx, ch)
		if _, err := ps.ReceiveTimeout(ctx, confirmWithin); err != nil {
			note(w.rec.appErrors, err)
			ch.appRetries.Add(1)
			_ = ps.Close() // it has failed already
			if isClosed(ch.publishing) {
				return
			}
			pause(ctx, failurePause)
			continue
		}
		if !confirmed {
			confirmed = true
			w.load.subbed.Done()
		}
		complete := w.receive(ctx, ch, ps.ChannelWithSubscriptions(redis.WithChannelSize(bufferedMessages), redis.WithChannelGaps()))
		_ = ps.Close() // everything was received
		if complete {
			return
		}
		ch.appRetries.Add(1) // the channel was closed under the subscriber
	}
}

func (w *worker) openSubscription(ctx context.Context, ch *channel) *redis.PubSub {
	switch ch.kind {
	case byPattern:
		return w.client().PSubscribe(ctx, ch.name+"*")
	case sharded:
		return w.client().SSubscribe(ctx, ch.name)
	case byName:
	}
	return w.client().Subscribe(ctx, ch.name)
}

// receive books messages until it is complete, or false if events was closed before.
func (w *worker) receive(ctx context.Context, ch *channel, events <-chan any) bool {
	publishing := ch.publishing
	idle := time.NewTimer(time.Hour)
	defer idle.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return ctx.Err() != nil || isClosed(ch.publishing)
			}
			switch e := e.(type) {
			case *redis.Message:
				w.book(ch, e)
			case *redis.Gap:
				ch.gaps++
				ch.inGap = true
				note(w.rec.appErrors, e.Err)
			}
			if publishing == nil {
				if ch.published.without(&ch.received) == 0 {
					return true
				}
				idle.Reset(stragglers)
			}
		case <-publishing:
			publishing = nil
			if ch.published.without(&ch.received) == 0 {
				return true
			}
			idle.Reset(stragglers)
		case <-idle.C:
			return true
		case <-ctx.Done():
			return true
		}
	}
}

func (w *worker) book(ch *channel, m *redis.Message) {
	n, ok := itemOf(ch.name, m.Payload)
	if !ok || m.Channel != ch.name || (ch.kind == byPattern) != (m.Pattern != "") {
		w.rec.wrong++
		return
	}
	if !ch.received.add(n) {
		ch.twice++
		return
	}
	if n < ch.last {
		ch.reordered++
	}
	ch.endGap(n)
	ch.last = max(ch.last, n)
}

// endGap notes what may be missing in front of message n.
func (ch *channel) endGap(n int64) {
	for i := ch.last + 1; ch.inGap && i < n; i++ {
		ch.told.add(i)
	}
	ch.inGap = false
}
