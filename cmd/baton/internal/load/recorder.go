package load

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are recorded in microseconds, up to a minute: longer ones count as one.
const (
	maxLatency   = int64(time.Minute / time.Microsecond)
	phaseDigits  = 3
	slotDigits   = 2
	gapTick      = 100 * time.Microsecond
	maxMessages  = 200
	otherMessage = "(others)"
)

// A Recorder is one worker's book. Only its worker writes to it; Live may be called
// by anybody, everything else when the worker has ended.
type Recorder struct {
	clock *Clock
	slots *Slots

	live struct {
		sent, acknowledged, failed, unknown atomic.Int64
	}
	phase     [phases]*hdrhistogram.Histogram
	doneAfter int64 // commands acknowledged after the scenario

	slot      int // the one slotHist is of
	slotHist  *hdrhistogram.Histogram
	slotCount slotCount

	ordinary, session ticks // when ordinary commands completed, and when others did

	wrong int64
	stale int64
	// overtaken counts GETs executed before a SET in front of them in their pipeline.
	overtaken int64
	// idempotent counts single GETs and SETs that did not succeed.
	idempotent int64

	errors, appErrors map[string]int64

	sawBack  int64 // the Clock.back that recovery is known of
	recovery time.Duration
	// recovers is true for workers whose next command after a cut must be quick.
	recovers bool
}

// slotCount is what is counted for a slot beside latencies.
type slotCount struct{ commands, failed int64 }

func newRecorder(clock *Clock, slots *Slots, recovers bool) *Recorder {
	r := &Recorder{
		clock:     clock,
		slots:     slots,
		slotHist:  slots.newHist(),
		errors:    make(map[string]int64),
		appErrors: make(map[string]int64),
		recovers:  recovers,
	}
	for i := range r.phase {
		r.phase[i] = hdrhistogram.New(1, maxLatency, phaseDigits)
	}
	return r
}

// A stamp is when something began, and in which phase.
type stamp struct {
	at    time.Duration
	phase Phase
}

func (r *Recorder) begin() stamp { return stamp{at: r.clock.Now(), phase: r.clock.Phase()} }

// end records a round trip with so many commands, ok if it was answered. It
// returns when it ended.
func (r *Recorder) end(b stamp, commands int, ok bool) time.Duration {
	now := r.clock.Now()
	us := min(max(int64((now-b.at)/time.Microsecond), 1), maxLatency)
	r.touch(now)
	if !ok {
		// How long a failed command took says nothing about the server.
		r.slotCount.failed += int64(commands)
		return now
	}
	_ = r.phase[b.phase].RecordValue(us) // within its range
	_ = r.slotHist.RecordValue(us)       // within its range
	r.slotCount.commands += int64(commands)
	r.ordinary.add(now)
	r.served(now)
	return now
}

// completed notes that a command of a session completed now: one that blocks, or one
// of an optimistic transaction.
func (r *Recorder) completed() {
	now := r.clock.Now()
	r.session.add(now)
	r.served(now)
}

// served notes that the server answers, for the first time after a cut perhaps.
func (r *Recorder) served(now time.Duration) {
	if back := r.clock.back.Load(); back != r.sawBack && int64(now) >= back {
		r.sawBack = back
		r.recovery = max(r.recovery, now-time.Duration(back))
	}
}

// touch hands the slot's figures over when the time is in another slot.
func (r *Recorder) touch(now time.Duration) {
	if s := r.slots.index(now); s != r.slot {
		r.flush()
		r.slot = s
	}
}

func (r *Recorder) flush() {
	r.slots.merge(r.slot, r.slotHist, r.slotCount)
	r.slotHist.Reset()
	r.slotCount = slotCount{}
}

// count books n commands with the same outcome.
func (r *Recorder) count(n int64, o Outcome, after bool) {
	switch o {
	case Acknowledged:
		r.live.acknowledged.Add(n)
		if after {
			r.doneAfter += n
		}
	case Failed:
		r.live.failed.Add(n)
	case Unknown:
		r.live.unknown.Add(n)
	}
}

func note(m map[string]int64, err error) {
	msg := Message(err)
	if _, known := m[msg]; !known && len(m) >= maxMessages {
		msg = otherMessage
	}
	m[msg]++
}

// ticks has a bit for each gapTick in which something happened.
type ticks []uint64

func (t *ticks) add(now time.Duration) {
	tick := int(now / gapTick)
	for tick>>6 >= len(*t) {
		*t = append(*t, make([]uint64, max(1024, len(*t)/2))...)
	}
	(*t)[tick>>6] |= 1 << (tick & 63)
}

// merge adds what is in o.
func (t *ticks) merge(o ticks) {
	if n := len(o) - len(*t); n > 0 {
		*t = append(*t, make([]uint64, n)...)
	}
	for i, word := range o {
		(*t)[i] |= word
	}
}

// longestGap is the longest time in [from, to) in which nothing happened.
func (t ticks) longestGap(from, to time.Duration) (gap time.Duration) {
	last, end := int(from/gapTick), int(to/gapTick)
	for w := last >> 6; w < len(t) && w<<6 < end; w++ {
		for word := t[w]; word != 0; word &= word - 1 {
			tick := w<<6 + bits.TrailingZeros64(word)
			if tick <= last {
				continue
			}
			if tick >= end {
				break
			}
			gap = max(gap, time.Duration(tick-last)*gapTick)
			last = tick
		}
	}
	return max(gap, time.Duration(end-last)*gapTick)
}
