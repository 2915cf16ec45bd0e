package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/bench/compare/internal/subject"
)

// A phase is what part of a slice it is.
type phase = int32

const (
	phaseWarm phase = iota
	phaseMeasured
	phaseOver
)

// A worker is a closed loop of calls, run by one goroutine, which owns all fields
// but done.
type worker struct {
	client   subject.Client
	workload Workload
	pairs    []Pair
	rng      *rand.Rand
	ctx      context.Context // of the call at hand
	cancel   func()          // ends it when the worker is through
	perCall  bool            // each call gets a context of its own
	phase    *atomic.Int32

	counter string // key of INCR
	last    int64  // its last reply; 0 before the first

	keys   []string     // of MGET
	ops    []subject.Op // of pipelines
	values []string     // that MGET or a pipeline found

	latency *shard
	every   int // one call of so many is timed, on average
	untimed int // calls to go to the next that is timed

	err  error
	done atomic.Int64 // commands answered; read by whoever measures
	_    [64]byte     // the next worker's counter is on another cache line
}

// callTimeout is what a context for one call is given, which no call reaches.
const callTimeout = 10 * time.Second

// run calls until the slice is over or a call fails.
func (w *worker) run() {
	defer w.cancel()
	for {
		switch w.phase.Load() {
		case phaseOver:
			return
		case phaseMeasured:
			if w.untimed--; w.untimed < 0 {
				w.err = w.timed()
				break
			}
			w.err = w.once()
		default:
			w.err = w.once()
		}
		if w.err != nil {
			return
		}
		w.done.Add(int64(w.workload.Commands))
	}
}

// timed makes a call and records how long it took. The distance to the next one is
// random, so that it does not fall into step with anything.
func (w *worker) timed() error {
	start := time.Now()
	err := w.once()
	w.latency.record(time.Since(start))
	if w.every > 1 {
		w.untimed = w.rng.IntN(2*w.every - 1)
	}
	return err
}

func (w *worker) once() error {
	if !w.perCall {
		return w.workload.call(w)
	}
	parent := w.ctx
	ctx, cancel := context.WithTimeout(parent, callTimeout)
	w.ctx = ctx
	err := w.workload.call(w)
	cancel()
	w.ctx = parent
	return err
}

func (w *worker) pair() *Pair { return &w.pairs[w.rng.IntN(len(w.pairs))] }

func (w *worker) get() error {
	p := w.pair()
	value, err := w.client.Get(w.ctx, p.Key)
	if err != nil {
		return err
	}
	return check(p.Key, value, w.workload.Size)
}

func (w *worker) set() error {
	p := w.pair()
	return w.client.Set(w.ctx, p.Key, p.Value)
}

func (w *worker) mixed() error {
	if w.rng.IntN(writeEvery) == 0 {
		return w.set()
	}
	return w.get()
}

// incr checks that nobody and nothing but the last call has changed the counter.
func (w *worker) incr() error {
	n, err := w.client.Incr(w.ctx, w.counter)
	if err != nil {
		return err
	}
	if w.last != 0 && n != w.last+1 {
		return fmt.Errorf("wrong reply for %s: %d after %d", w.counter, n, w.last)
	}
	w.last = n
	return nil
}

func (w *worker) mget() error {
	for i := range w.keys {
		w.keys[i] = w.pair().Key
	}
	if err := w.client.MGet(w.ctx, w.keys, w.values); err != nil {
		return err
	}
	for i, key := range w.keys {
		if err := check(key, w.values[i], w.workload.Size); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) pipe() error {
	for i := range w.ops {
		p := w.pair()
		w.ops[i] = subject.Op{Key: p.Key, Value: p.Value, Set: w.rng.IntN(writeEvery) == 0}
	}
	clear(w.values)
	if err := w.client.Pipe(w.ctx, w.ops, w.values); err != nil {
		return err
	}
	for i, op := range w.ops {
		if op.Set {
			continue
		}
		if err := check(op.Key, w.values[i], w.workload.Size); err != nil {
			return err
		}
	}
	return nil
}
