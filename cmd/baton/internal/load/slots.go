package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Slots collects latencies and counts by time, for the charts. Workers hand over
// what they have once per slot, so its lock is not felt.
type Slots struct {
	width time.Duration

	mu   sync.Mutex // guards the fields below
	hist []*hdrhistogram.Histogram
	sums []slotCount
}

const (
	slotWidth = 100 * time.Millisecond
	maxSlots  = 600
)

// NewSlots is for a load of about the given length. Slots take 100 ms each, more
// where that would make too many.
func NewSlots(length time.Duration) *Slots {
	width := slotWidth
	for length/width > maxSlots {
		width *= 2
	}
	return &Slots{width: width}
}

// Width is how long a slot is.
func (s *Slots) Width() time.Duration { return s.width }

func (s *Slots) index(now time.Duration) int { return int(now / s.width) }

func (s *Slots) newHist() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, maxLatency, slotDigits)
}

func (s *Slots) merge(i int, h *hdrhistogram.Histogram, c slotCount) {
	if c == (slotCount{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i >= len(s.hist) {
		s.hist = append(s.hist, nil)
		s.sums = append(s.sums, slotCount{})
	}
	if s.hist[i] == nil {
		s.hist[i] = s.newHist()
	}
	s.hist[i].Merge(h)
	s.sums[i].commands += c.commands
	s.sums[i].failed += c.failed
}

// A Sample is what happened in one slot. Latencies are in microseconds and 0 where
// nothing completed.
type Sample struct {
	At            time.Duration
	Commands      int64
	Failed        int64
	P50, P99, Max int64
}

// Samples are the whole slots from the start up to end, without holes.
func (s *Slots) Samples(end time.Duration) []Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Sample, s.index(end))
	for i := range out {
		out[i].At = time.Duration(i) * s.width
		if i >= len(s.hist) || s.hist[i] == nil {
			continue
		}
		h := s.hist[i]
		out[i].Commands, out[i].Failed = s.sums[i].commands, s.sums[i].failed
		if h.TotalCount() > 0 {
			out[i].P50, out[i].P99, out[i].Max = h.ValueAtQuantile(50), h.ValueAtQuantile(99), h.Max()
		}
	}
	return out
}
