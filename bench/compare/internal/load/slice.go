package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/baton-go/redis/bench/compare/internal/subject"
	"github.com/baton-go/redis/bench/internal/gauge"
)

// A Context is which context calls are given.
type Context string

// The contexts.
const (
	Background Context = "background"
	Cancel     Context = "cancel"  // can be cancelled; one for each worker
	Timeout    Context = "timeout" // has a deadline; one for each call
)

// Contexts returns all of them.
func Contexts() []Context { return []Context{Background, Cancel, Timeout} }

// A Slice is a length of time in which one client works.
type Slice struct {
	Client     subject.Client
	Workload   Workload
	Goroutines int
	Context    Context
	Warm       time.Duration // before it is measured
	Time       time.Duration
	Seed       uint64
	ServerCPU  func() (time.Duration, error) // that the server has used so far
	Recorder   *Recorder
}

// A Sample is what was measured in a slice.
type Sample struct {
	Commands  int64
	Elapsed   time.Duration
	Allocs    uint64
	Bytes     uint64
	ClientCPU time.Duration // of this whole process
	ServerCPU time.Duration
}

// OpsPerSecond is the rate of commands.
func (s Sample) OpsPerSecond() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Commands) / s.Elapsed.Seconds()
}

// ErrHung says that calls did not return long after a slice was over.
var ErrHung = errors.New("calls hang")

// patience is how long calls in flight may take to return after a slice.
const patience = 20 * time.Second

// Run measures one slice and adds its latencies to h. An error of the client, or a
// wrong reply, is returned beside the sample, but for ErrHung, after which nothing
// more can be measured.
func Run(ctx context.Context, s Slice, h *hdrhistogram.Histogram) (Sample, error) {
	var now atomic.Int32
	workers := s.workers(&now)
	s.Recorder.reset()
	// What others have left behind must not be collected at this client's cost.
	runtime.GC()

	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(w.run)
	}
	sample, err := s.measure(ctx, workers, &now)
	now.Store(phaseOver)
	if !waitFor(&wg, patience) {
		return sample, fmt.Errorf("%w for %v", ErrHung, patience)
	}
	if err != nil {
		return sample, err
	}
	s.Recorder.addTo(h)
	return sample, firstError(workers)
}

func (s Slice) workers(now *atomic.Int32) []*worker {
	pairs := Pairs(max(s.Workload.Size, smallValue))
	every := timedEvery(s.Goroutines, s.Workload.Commands)
	workers := make([]*worker, s.Goroutines)
	for i := range workers {
		w := &worker{
			client: s.Client, workload: s.Workload, pairs: pairs, phase: now,
			rng:     rand.New(rand.NewPCG(s.Seed, uint64(i))),
			ctx:     context.Background(),
			cancel:  func() {},
			perCall: s.Context == Timeout,
			counter: counterKey(i),
			keys:    make([]string, mgetKeys),
			ops:     make([]subject.Op, s.Workload.Commands),
			values:  make([]string, max(mgetKeys, s.Workload.Commands)),
			latency: &s.Recorder.shards[i%shardCount],
			every:   every,
		}
		w.untimed = w.rng.IntN(every)
		if s.Context == Cancel {
			w.ctx, w.cancel = context.WithCancel(context.Background())
		}
		workers[i] = w
	}
	return workers
}

// measure lets the workers warm up and takes what they do from then on.
func (s Slice) measure(ctx context.Context, workers []*worker, now *atomic.Int32) (Sample, error) {
	if err := pause(ctx, s.Warm); err != nil {
		return Sample{}, err
	}
	begin, err := s.reading(workers)
	if err != nil {
		return Sample{}, err
	}
	now.Store(phaseMeasured)
	if err := pause(ctx, s.Time); err != nil {
		return Sample{}, err
	}
	end, err := s.reading(workers)
	if err != nil {
		return Sample{}, err
	}
	return Sample{
		Commands:  end.commands - begin.commands,
		Elapsed:   end.at.Sub(begin.at),
		Allocs:    end.mallocs - begin.mallocs,
		Bytes:     end.bytes - begin.bytes,
		ClientCPU: end.client - begin.client,
		ServerCPU: end.server - begin.server,
	}, nil
}

// A reading is the state of all counters at one time.
type reading struct {
	at             time.Time
	commands       int64
	mallocs, bytes uint64
	client, server time.Duration
}

// reading reads all counters, always in the same order, so that the distance of two
// readings is the same for each counter.
func (s Slice) reading(workers []*worker) (r reading, err error) {
	if r.server, err = s.ServerCPU(); err != nil {
		return r, fmt.Errorf("CPU time of the server: %w", err)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	r.mallocs, r.bytes = mem.Mallocs, mem.TotalAlloc
	if r.client, err = gauge.ProcessCPU(); err != nil {
		return r, fmt.Errorf("CPU time of this process: %w", err)
	}
	r.at = time.Now()
	for _, w := range workers {
		r.commands += w.done.Load()
	}
	return r, nil
}

// pause returns after d, or with the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// waitFor reports whether wg was done within d.
func waitFor(wg *sync.WaitGroup, d time.Duration) bool {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

func firstError(workers []*worker) error {
	for _, w := range workers {
		if w.err != nil {
			return w.err
		}
	}
	return nil
}
