package gauge

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// An Op is one operation, with the check of its reply. An error ends the load.
type Op func() error

// A Load is a closed loop on each of many goroutines: every one does its operation
// again as soon as it is done.
type Load struct {
	every   int // every how many operations one is timed; 0: none. Immutable
	workers []*worker
	window  atomic.Pointer[Window] // nil: nothing is recorded
	stop    atomic.Bool
	failed  chan struct{} // closed when a worker has failed
	wg      sync.WaitGroup

	mu  sync.Mutex // guards the field below
	err error      // the first one
}

// worker is one goroutine of a load. Its fields but done are its own.
type worker struct {
	op     Op
	done   atomic.Int64
	window *Window // that lat is for
	lat    *Latency
	_      [64]byte // workers count beside each other
}

// Start starts a load with one goroutine for each operation. One operation out of
// every is timed; 0 times none.
func Start(ops []Op, every int) *Load {
	l := &Load{every: every, failed: make(chan struct{})}
	for _, op := range ops {
		w := &worker{op: op}
		if every > 0 {
			w.lat = NewLatency()
		}
		l.workers = append(l.workers, w)
	}
	for _, w := range l.workers {
		l.wg.Go(func() { l.work(w) })
	}
	return l
}

func (l *Load) work(w *worker) {
	defer w.hand(nil)
	for n := 0; !l.stop.Load(); n++ {
		timed := l.every > 0 && n%l.every == 0
		var begun time.Time
		if timed {
			begun = time.Now()
		}
		if err := w.op(); err != nil {
			l.fail(err)
			return
		}
		w.done.Add(1)
		if !timed {
			continue
		}
		took := time.Since(begun)
		if now := l.window.Load(); now != w.window {
			w.hand(now)
		}
		if w.window != nil {
			w.lat.Record(took)
		}
	}
}

// hand gives what was recorded to the window it belongs to, and goes to the next.
func (w *worker) hand(next *Window) {
	if w.window != nil {
		w.window.add(w.lat)
		w.lat.Reset()
	}
	w.window = next
}

func (l *Load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		close(l.failed)
	}
}

func (l *Load) done() (n int64) {
	for _, w := range l.workers {
		n += w.done.Load()
	}
	return n
}

// Wait lets the load run for d. It ends early, with the reason, when a worker fails
// or the context ends.
func (l *Load) Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-l.failed:
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Open begins a window, which ends the one before.
func (l *Load) Open() *Window {
	w := &Window{lat: NewLatency()}
	l.End()
	w.from, w.first = Read(), l.done()
	l.window.Store(w)
	return w
}

// End ends the window that is open.
func (l *Load) End() {
	if w := l.window.Swap(nil); w != nil {
		w.cost = between(w.from, Read(), l.done()-w.first)
	}
}

// Stop ends the load after the operations going on, and gives the first error.
func (l *Load) Stop() error {
	l.End()
	l.stop.Store(true)
	l.wg.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// A Window is a time of a load that is looked at.
type Window struct {
	from  Reading
	first int64 // operations before it
	cost  Cost

	mu  sync.Mutex // guards the field below
	lat *Latency
}

func (w *Window) add(lat *Latency) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lat.Merge(lat)
}

// Cost is what the window's operations took. It is known when the window has ended.
func (w *Window) Cost() Cost { return w.cost }

// Latency are the times of the window's operations, each of which counts where it
// ended. They are complete when the load was stopped.
func (w *Window) Latency() *Latency {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lat
}

// A Plan says how long a load is measured.
type Plan struct {
	Warm   time.Duration // before it is
	Window time.Duration
	Every  int // every how many operations one is timed; 0: none
}

// mostWindows is how many windows long one gets where no operation ends: a busy machine
// may let none for some 100 ms.
const mostWindows = 50

// Run starts a load, measures one window of it, and stops it. The window gets longer where
// no operation has ended within it.
func (p Plan) Run(ctx context.Context, ops []Op) (Cost, *Latency, error) {
	l := Start(ops, p.Every)
	err := l.Wait(ctx, p.Warm)
	w := l.Open()
	for n := 0; err == nil && n < mostWindows && (n == 0 || l.done() == w.first); n++ {
		err = l.Wait(ctx, p.Window)
	}
	if bad := l.Stop(); bad != nil {
		err = bad
	}
	if err == nil && w.Cost().Ops == 0 {
		err = fmt.Errorf("not one operation has ended within %v", mostWindows*p.Window)
	}
	return w.Cost(), w.Latency(), err
}
