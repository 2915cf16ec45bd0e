package drill

import (
	"runtime"
	"sync"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/account"
)

// growth looks at what the program has while a scenario goes on. Its methods are called
// by one goroutine.
type growth struct {
	seen account.Growth
	quit chan struct{}
	wg   sync.WaitGroup
}

// growthEvery is how often it looks.
const growthEvery = 100 * time.Millisecond

// start notes what there is, and begins to look for the most.
func (g *growth) start() {
	goroutines, heap := alive()
	g.seen.Goroutines = account.Span{Before: goroutines, Most: goroutines}
	g.seen.HeapKB = account.Span{Before: heap, Most: heap}
	g.quit = make(chan struct{})
	g.wg.Go(func() {
		tick := time.NewTicker(growthEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-g.quit:
				return
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			g.seen.Goroutines.Most = max(g.seen.Goroutines.Most, int64(runtime.NumGoroutine()))
			g.seen.HeapKB.Most = max(g.seen.HeapKB.Most, int64(m.HeapAlloc>>10))
		}
	})
}

// stop ends the look for the most, and notes what there is at the end of the scenario.
func (g *growth) stop() {
	close(g.quit)
	g.wg.Wait()
	g.seen.Goroutines.End, g.seen.HeapKB.End = alive()
}

// end notes what there is while the load still runs.
func (g *growth) end() { g.seen.Goroutines.After, g.seen.HeapKB.After = alive() }

// alive counts goroutines, and the heap after a collection in KB.
func alive() (goroutines, heapKB int64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(runtime.NumGoroutine()), int64(m.HeapAlloc >> 10)
}
