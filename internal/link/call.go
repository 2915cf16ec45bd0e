package link

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// A Sink takes the replies of one call.
type Sink interface {
	// Reply takes reply number i, counted from 0. It runs on the link's reader:
	// it must not block, and frame is valid only until it returns. Every reply is
	// taken by one goroutine at a time, and none after Do has returned.
	Reply(i int, frame []byte)
}

// Keeper is a Sink that can use a large reply without copying it.
type Keeper interface {
	// Keep is Reply with a frame that is the sink's for good.
	Keep(i int, frame []byte)
}

// Carrier wants to know which link carries a request.
type Carrier interface {
	// Carried is called by Do before the request is queued on l: more than once where
	// another link has to take it instead. It must not block.
	Carried(l *Link)
}

// Request is what Do sends and how it waits.
type Request struct {
	Wire    []byte // the encoded commands; not changed, and not kept after the last reply
	Replies int    // how many replies belong to it, at least 1
	Sink    Sink
	Carrier Carrier // nil: nobody wants to know
	// Patience is how long the server may stay silent on this request: 0 means the
	// link's read timeout, negative for ever; a positive value counts where it is
	// longer than the read timeout.
	Patience time.Duration
}

// Done tells what came of a request.
type Done struct {
	Replies int // given to the sink
	Bytes   int // their size
}

// The states of a call. Whoever moves it out of pending owns the sink until it
// moves on.
const (
	pending   uint32 = iota // waits for a reply
	filling                 // the reader gives a reply to the sink, or to the caller's memory
	done                    // every reply was taken
	odd                     // the call has failed, or a question has another reply than expected
	abandoned               // the caller has left; what still comes is dropped
)

// A call is one request in flight. The first cache line, of 64 bytes, is all that a question
// without a context touches where its reply is as expected: with thousands in flight none of
// them is in a cache any more when its reply comes. The size is that of three lines, so that
// they begin where the machine's do.
type call struct {
	state   atomic.Uint32
	want    want          // what of the reply is kept here; wantSink: the sink takes it
	keyed   bool          // a key follows what is written
	alone   bool          // its caller may write and read by itself
	watched bool          // ctx is set
	ready   chan struct{} // one slot; filled once, when the call is done

	text     string        // the reply to a question; until it is queued, what is written behind the key
	num      int64         // the reply to a question
	size     int           // bytes on the wire
	patience time.Duration // set before it is queued
	replies  int           // how many it gets; set before it is queued

	// The second line. dst and ctx are set before the call is queued, and dst is the reader's
	// while filling.
	odd  *Answer // another reply than the question expects; set before the state
	err  *Error  // set before the state
	dst  []byte  // where the reply to a question belongs
	ctx  context.Context
	seen int // replies that came; the reader's

	// The third line.
	sink Sink // set before it is queued
	got  Done // what the sink has; written by the reader while filling
	_    [32]byte
}

func newCall() any { return &call{ready: make(chan struct{}, 1)} }

// release gives a call back whose caller has seen it done. A call that was
// abandoned is left to the garbage collector: the link may still look at it.
func (l *Link) release(c *call) {
	c.state.Store(pending)
	c.sink, c.ctx, c.err, c.alone, c.watched = nil, nil, nil, false, false
	c.replies, c.size, c.seen, c.got, c.patience = 0, 0, 0, Done{}, 0
	l.calls.Put(c)
}

// take gives one reply to the call's sink, for good if apart, unless the caller has
// left, and tells whether it was the last one.
func (c *call) take(frame []byte, apart bool) (last bool) {
	if c.want != wantSink {
		c.answer(frame, apart)
		return true
	}
	c.seen++
	last = c.seen == c.replies
	if !c.state.CompareAndSwap(pending, filling) {
		return last
	}
	if k, ok := c.sink.(Keeper); ok && apart {
		k.Keep(c.got.Replies, frame)
	} else {
		c.sink.Reply(c.got.Replies, frame)
	}
	c.got.Replies++
	c.got.Bytes += len(frame)
	if !last {
		c.state.Store(pending)
		return false
	}
	c.state.Store(done)
	c.ready <- struct{}{} // one slot and one sender: never blocks
	return true
}

// fail ends a call that gets no more replies.
func (c *call) fail(err *Error) {
	if c.state.CompareAndSwap(pending, filling) {
		c.err = err
		c.state.Store(odd)
		c.ready <- struct{}{}
	}
}

// expire makes the caller leave whose context has ended, and wakes it.
func (c *call) expire() {
	if c.state.CompareAndSwap(pending, abandoned) {
		c.ready <- struct{}{}
	}
}

// abandon makes the caller leave. It is false where the call is done: then its
// outcome counts. A reply just being taken is waited for; that takes microseconds.
func (c *call) abandon() bool {
	for {
		if c.state.CompareAndSwap(pending, abandoned) {
			return true
		}
		if s := c.state.Load(); s == done || s == odd {
			return false
		}
		runtime.Gosched()
	}
}
