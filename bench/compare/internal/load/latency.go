package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// Latencies are counted in units of so much,
	latencyUnit = 100 * time.Nanosecond
	// up to so much: a longer one counts as this.
	latencyLimit = time.Minute
	// shardCount is how many histograms workers share, so that they don't wait for
	// one another.
	shardCount = 16
)

// A shard is a histogram that some workers share.
type shard struct {
	mu sync.Mutex // guards h
	h  *hdrhistogram.Histogram
}

func (s *shard) record(d time.Duration) {
	s.mu.Lock()
	_ = s.h.RecordValue(int64(min(d, latencyLimit) / latencyUnit)) // within its limits
	s.mu.Unlock()
}

// NewHistogram makes an empty histogram of latencies.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(latencyLimit/latencyUnit), 3)
}

// Micros is a value of such a histogram in microseconds.
func Micros(v int64) float64 {
	return float64(v) * latencyUnit.Seconds() * 1e6
}

// A Recorder holds the histograms of one slice after the other.
type Recorder struct {
	shards [shardCount]shard
}

// NewRecorder makes an empty Recorder.
func NewRecorder() *Recorder {
	r := &Recorder{}
	for i := range r.shards {
		r.shards[i].h = NewHistogram()
	}
	return r
}

func (r *Recorder) reset() {
	for i := range r.shards {
		r.shards[i].h.Reset()
	}
}

// addTo adds what was recorded to h. No worker may be running.
func (r *Recorder) addTo(h *hdrhistogram.Histogram) {
	for i := range r.shards {
		h.Merge(r.shards[i].h)
	}
}

const (
	allTimed  = 8  // up to so many goroutines every call is timed,
	sampledOf = 16 // beyond that one command of so many
)

// timedEvery is how many calls there are for one that is timed. Reading the clock
// twice costs some 100 ns, which is a fifth of a command where hundreds of
// goroutines share the machine.
func timedEvery(goroutines, commands int) int {
	if goroutines <= allTimed {
		return 1
	}
	return max(1, sampledOf/commands)
}
