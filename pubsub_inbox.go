package redis

import (
	"context"
	"errors"
	"sync"
	"time"
)

// inboxLimit is how many received messages may wait for their consumer before the
// connection is not read any more. TCP then holds up the server, which closes the
// connection of a consumer that is too slow for too long (client-output-buffer-limit).
const inboxLimit = 4096

// inbox is the queue between the readers of a subscription and its consumer. push
// never blocks, so that it can be called with locks held; who has pushed waits for
// room afterwards.
type inbox struct {
	some chan struct{} // one slot: there may be items
	room chan struct{} // one slot: there may be room

	mu     sync.Mutex // guards the fields below
	items  []any
	head   int
	closed bool
}

func newInbox() *inbox {
	return &inbox{some: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

var (
	errTimerFired  = errors.New("timer fired")
	errInboxClosed = ErrClosed
)

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (q *inbox) push(items ...any) {
	q.mu.Lock()
	if !q.closed {
		q.items = append(q.items, items...)
	}
	q.mu.Unlock()
	signal(q.some)
}

// awaitRoom waits until there is room for more, or until stop is closed.
func (q *inbox) awaitRoom(stop <-chan struct{}) {
	for {
		q.mu.Lock()
		full := len(q.items)-q.head >= inboxLimit && !q.closed
		q.mu.Unlock()
		if !full {
			signal(q.room) // for the next who waits
			return
		}
		select {
		case <-q.room:
		case <-stop:
			return
		}
	}
}

func (q *inbox) tryPop() (any, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.items) {
		return nil, false
	}
	v := q.items[q.head]
	q.items[q.head] = nil
	q.head++
	switch {
	case q.head == len(q.items):
		q.items, q.head = q.items[:0], 0
	case q.head >= 1024 && q.head*2 >= len(q.items):
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	if len(q.items)-q.head < inboxLimit {
		signal(q.room)
	}
	return v, true
}

// pop waits for an item. errTimerFired says that timer has fired.
func (q *inbox) pop(ctx context.Context, exit <-chan struct{}, timer <-chan time.Time) (any, error) {
	for {
		if v, ok := q.tryPop(); ok {
			signal(q.some) // there may be more, for somebody else
			return v, nil
		}
		select {
		case <-q.some:
		case <-exit:
			return nil, errInboxClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timer:
			return nil, errTimerFired
		}
	}
}

func (q *inbox) close() {
	q.mu.Lock()
	q.closed = true
	q.items, q.head = nil, 0
	q.mu.Unlock()
	signal(q.room)
}
