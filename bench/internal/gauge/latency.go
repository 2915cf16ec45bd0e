package gauge

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The times that a Latency tells apart: to one hundredth, from a microsecond on.
const (
	shortest = time.Microsecond
	longest  = 2 * time.Minute
	digits   = 2
)

// Latency is how long operations took. It is not safe for concurrent use.
type Latency struct{ h *hdrhistogram.Histogram }

// NewLatency makes an empty one.
func NewLatency() *Latency {
	return &Latency{hdrhistogram.New(int64(shortest), int64(longest), digits)}
}

// Record adds one operation.
func (l *Latency) Record(d time.Duration) {
	_ = l.h.RecordValue(int64(min(max(d, shortest), longest))) // it is within the bounds
}

// Merge adds the operations of another.
func (l *Latency) Merge(other *Latency) { l.h.Merge(other.h) }

// Reset forgets all.
func (l *Latency) Reset() { l.h.Reset() }

// Count is how many were recorded.
func (l *Latency) Count() int64 { return l.h.TotalCount() }

// Micros is the time in microseconds that a fraction of the operations did not
// exceed: 0.99 is p99.
func (l *Latency) Micros(fraction float64) float64 {
	return float64(l.h.ValueAtQuantile(100*fraction)) / float64(time.Microsecond)
}
