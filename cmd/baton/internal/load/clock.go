// Package load runs a mixed load through a client and counts what came of it.
package load

import (
	"sync/atomic"
	"time"
)

// A Phase is a part of a drill.
type Phase int32

// The phases of a drill, in order.
const (
	Before Phase = iota
	During
	After
	phases = 3
)

// String names p.
func (p Phase) String() string {
	switch p {
	case Before:
		return "before"
	case During:
		return "during"
	case After:
		return "after"
	}
	return "unknown"
}

// A Clock counts the time since the load began and knows what everybody looks at:
// the phase, when the server was last back after a cut, and whether the load is to
// end. Its methods may be called from any goroutine.
type Clock struct {
	start time.Time
	phase atomic.Int32
	stop  atomic.Bool
	ended chan struct{} // closed by Stop
	// back is when the server was last back after a cut, in nanoseconds since start;
	// 0 without a cut.
	back atomic.Int64
	// stopped is when Stop was called, in nanoseconds since start.
	stopped atomic.Int64
	// began is when each phase began.
	began [phases]atomic.Int64
}

// NewClock starts a clock.
func NewClock() *Clock { return &Clock{start: time.Now(), ended: make(chan struct{})} }

// Now is the time since the start.
func (c *Clock) Now() time.Duration { return time.Since(c.start) }

// At is t as time since the start.
func (c *Clock) At(t time.Time) time.Duration { return t.Sub(c.start) }

// Enter begins a phase.
func (c *Clock) Enter(p Phase) {
	c.began[p].Store(int64(c.Now()))
	c.phase.Store(int32(p))
}

// Phase is the present one.
func (c *Clock) Phase() Phase { return Phase(c.phase.Load()) }

// Began is when phase p began; 0 if it has not.
func (c *Clock) Began(p Phase) time.Duration { return time.Duration(c.began[p].Load()) }

// Back says that the server is back after a cut since t.
func (c *Clock) Back(t time.Time) { c.back.Store(int64(c.At(t))) }

// Stop tells every worker to end after the command it is waiting for.
func (c *Clock) Stop() {
	if c.stop.CompareAndSwap(false, true) {
		c.stopped.Store(int64(c.Now()))
		close(c.ended)
	}
}

// End is when Stop was called.
func (c *Clock) End() time.Duration { return time.Duration(c.stopped.Load()) }

// Stopped reports whether Stop was called.
func (c *Clock) Stopped() bool { return c.stop.Load() }
