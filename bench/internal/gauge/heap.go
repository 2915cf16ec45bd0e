package gauge

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// Memory is what the process holds.
type Memory struct {
	Heap  int64 // bytes of objects
	Stack int64 // bytes of goroutines' stacks
}

// Settled is what is held after everything that nobody needs was let go of.
func Settled() Memory {
	// The second round empties what the first one left in pools.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Memory{Heap: int64(m.HeapAlloc), Stack: int64(m.StackInuse)}
}

// Sub is what m has more than other.
func (m Memory) Sub(other Memory) Memory {
	return Memory{Heap: m.Heap - other.Heap, Stack: m.Stack - other.Stack}
}

// heapNow is the metric that a Peak follows: objects, dead ones that were not
// collected yet included.
const heapNow = "/memory/classes/heap/objects:bytes"

// peakEvery is how often a Peak looks.
const peakEvery = time.Millisecond

// A Peak follows the heap and remembers its largest size.
type Peak struct {
	stop chan struct{}
	wg   sync.WaitGroup

	// Owned by the goroutine until wg is done.
	most   int64
	sample [1]metrics.Sample // kept, so that looking allocates nothing
}

// WatchPeak begins to follow the heap.
func WatchPeak() *Peak {
	p := &Peak{stop: make(chan struct{})}
	p.sample[0].Name = heapNow
	p.look()
	p.wg.Go(func() {
		t := time.NewTicker(peakEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				p.look()
			case <-p.stop:
				p.look()
				return
			}
		}
	})
	return p
}

func (p *Peak) look() {
	metrics.Read(p.sample[:])
	p.most = max(p.most, int64(p.sample[0].Value.Uint64()))
}

// Stop ends that and gives the largest size seen, in bytes.
func (p *Peak) Stop() int64 {
	close(p.stop)
	p.wg.Wait()
	return p.most
}
