package link

import (
	"sync/atomic"
	"time"
)

// Timeouts are the read and write timeouts of all links of one endpoint. While
// relaxed, both are raised to the relaxed value, never lowered; what is in flight
// is judged by the value of the moment. Safe for concurrent use.
type Timeouts struct {
	read, write time.Duration // immutable; 0 or less: none
	born        time.Time     // immutable
	relaxed     atomic.Int64  // nanoseconds; 0: not relaxed
	calmed      atomic.Int64  // when relaxing ended last, as of now()
}

// now is the time since the timeouts were made, on the monotonic clock. It is the
// clock of all links that share them; it starts at 1 ns so that 0 can mean "never".
func (t *Timeouts) now() int64 { return int64(time.Since(t.born)) + 1 }

// NewTimeouts makes timeouts; 0 or less means none.
func NewTimeouts(read, write time.Duration) *Timeouts {
	return &Timeouts{read: read, write: write, born: time.Now()}
}

// Relax raises the timeouts to at least d; 0 ends that. Those who wait when it
// ends get a full ordinary timeout from that moment on.
func (t *Timeouts) Relax(d time.Duration) {
	if d <= 0 && t.relaxed.Load() != 0 {
		t.calmed.Store(t.now())
	}
	t.relaxed.Store(int64(max(d, 0)))
}

// Relaxed tells whether the timeouts are relaxed.
func (t *Timeouts) Relaxed() bool { return t.relaxed.Load() != 0 }

// Read is the read timeout of the moment; 0: none.
func (t *Timeouts) Read() time.Duration { return t.floor(t.read) }

// Write is the write timeout of the moment; 0: none.
func (t *Timeouts) Write() time.Duration { return t.floor(t.write) }

func (t *Timeouts) floor(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return max(d, time.Duration(t.relaxed.Load()))
}
