package load

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis"
)

const (
	blockFor = time.Second
	// slowPush is the most that the producer of a slow list waits between two items,
	// so that its consumer is blocked most of the time.
	slowPush = 200 * time.Millisecond
	// ahead is how many items a producer may be ahead of its consumer.
	ahead = 2
	// assumeLost is when a producer goes on although an item was not served.
	assumeLost = 500 * time.Millisecond
)

// list is a list with one producer of numbered items and one consumer.
type list struct {
	key  string
	slow bool
	room chan struct{} // a token for each item that may be pushed
	// pushing ends when the producer pushes its last item, and done when that has its
	// outcome.
	pushing, done chan struct{}

	pushed, unsure  numbers // owned by the producer
	served          numbers // owned by the consumer
	twice           int64   // owned by the consumer
	failed, unknown atomic.Int64
}

func newList(key string, slow bool) *list {
	return &list{key: key, slow: slow, room: make(chan struct{}, ahead), pushing: make(chan struct{}), done: make(chan struct{})}
}

// produce pushes numbered items, a few ahead of the consumer.
func (w *worker) produce(ctx context.Context, l *list) {
	for range ahead {
		l.room <- struct{}{}
	}
	lost := time.NewTimer(assumeLost)
	defer lost.Stop()
	n := int64(0)
	// The last item wakes the consumer, which then sees that it is the last.
	defer func() {
		close(l.pushing)
		w.push(ctx, l, n)
		close(l.done)
	}()
	for ; w.running(ctx); n++ {
		lost.Reset(assumeLost)
		select {
		case <-l.room:
		case <-lost.C:
		case <-ctx.Done():
			return
		}
		if l.slow {
			pause(ctx, time.Duration(w.rng.Int64N(int64(slowPush))))
		}
		w.push(ctx, l, n)
	}
}

// push pushes item n.
func (w *worker) push(ctx context.Context, l *list, n int64) {
	b := w.begin(1)
	cmd := w.client().RPush(ctx, l.key, l.key+"|"+strconv.FormatInt(n, 10))
	switch w.end(ctx, b, cmd.Err()) {
	case Acknowledged:
		l.pushed.add(n)
		if cmd.Val() < 1 {
			w.rec.wrong++
		}
	case Unknown:
		l.unsure.add(n)
	case Failed:
	}
}

// consume takes items with BLPOP until the producer has ended and the list is
// empty.
func (w *worker) consume(ctx context.Context, l *list) {
	var ended time.Time // when the producer had; zero: it has not
	for ctx.Err() == nil {
		over, isLast := isClosed(l.pushing), isClosed(l.done)
		if over && ended.IsZero() {
			ended = time.Now()
		}
		reply, err := w.pop(ctx, l, over)
		switch {
		case errors.Is(err, redis.Nil):
			if isLast {
				return
			}
			if over { // the last item is still on its way
				select {
				case <-l.done:
				case <-ctx.Done():
				}
			}
		case err != nil:
			if w.failed(ctx, err) == Unknown {
				l.unknown.Add(1)
			} else {
				l.failed.Add(1)
			}
			if over && time.Since(ended) > 3*blockFor {
				return // what is left is read past the proxies
			}
			continue
		default:
			w.take(l, reply)
		}
		w.rec.completed()
	}
}

// pop takes the next item: it waits for one unless no more will come.
func (w *worker) pop(ctx context.Context, l *list, over bool) ([]string, error) {
	if !over {
		return w.client().BLPop(ctx, blockFor, l.key).Result()
	}
	v, err := w.client().LPop(ctx, l.key).Result()
	return []string{l.key, v}, err
}

// take books a served item.
func (w *worker) take(l *list, reply []string) {
	if len(reply) != 2 || reply[0] != l.key {
		w.rec.wrong++
		return
	}
	n, ok := itemOf(l.key, reply[1])
	if !ok {
		w.rec.wrong++
		return
	}
	if !l.served.add(n) {
		l.twice++
		return
	}
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// itemOf is the number in an item or a message, which begins with its key.
func itemOf(key, item string) (int64, bool) {
	rest, ok := strings.CutPrefix(item, key)
	if !ok || !strings.HasPrefix(rest, "|") {
		return 0, false
	}
	n, err := strconv.ParseInt(rest[1:], 10, 64)
	return n, err == nil && n >= 0
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
