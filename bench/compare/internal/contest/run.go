package contest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/compare/internal/server"
	"github.com/baton-go/redis/bench/compare/internal/subject"
)

// A Status is how far a run has come.
type Status struct {
	Block    Block
	Number   int // of the block, from 1
	Blocks   int
	Round    int // from 1; 0 while settings are tried
	Rounds   int
	Subject  string
	Elapsed  time.Duration
	Expected time.Duration // of the whole run
}

// A Server is what the clients are measured against.
type Server interface {
	// Reach tells how to reach it; an error says why it can't be reached so.
	Reach(context.Context, server.Transport) (subject.Server, error)
	// CPU is the CPU time that what is reached so has used so far.
	CPU(server.Transport) (time.Duration, error)
}

// Run measures what plan says and returns the cells. Where a client fails, its part
// of the cell says so, and the others are measured nevertheless. An error means that
// the run could not go on; the cells are then those measured before.
func Run(ctx context.Context, plan Plan, srv Server, progress func(Status)) ([]*result.Cell, error) {
	r := &run{
		plan: plan, srv: srv, progress: progress, began: time.Now(),
		rng: rand.New(rand.NewPCG(plan.Seed, 0)), recorder: load.NewRecorder(),
	}
	var cells []*result.Cell
	for i, b := range plan.Blocks {
		r.status = Status{Block: b, Number: i + 1, Blocks: len(plan.Blocks), Rounds: plan.Rounds, Expected: r.forecast(i)}
		measured, err := r.block(ctx, b)
		if err != nil {
			return cells, err
		}
		cells = append(cells, measured...)
	}
	return cells, nil
}

type run struct {
	plan     Plan
	srv      Server
	progress func(Status)
	began    time.Time
	rng      *rand.Rand
	recorder *load.Recorder
	status   Status
}

// forecast is how long the run takes, from what the first done blocks took.
func (r *run) forecast(done int) time.Duration {
	var past, all time.Duration
	for i, b := range r.plan.Blocks {
		all += r.plan.expected(b)
		if i < done {
			past += r.plan.expected(b)
		}
	}
	return time.Since(r.began) + all - past
}

// errSlots is why a workload is not measured in a cluster.
var errSlots = errors.New("the keys of one command are in several slots, which a cluster refuses")

// block measures the cells of one block.
func (r *run) block(ctx context.Context, b Block) ([]*result.Cell, error) {
	if b.Transport == server.Cluster && b.Workload.Keys > 1 {
		return unmeasured(b, errSlots), nil
	}
	reach, err := r.srv.Reach(ctx, b.Transport)
	if fatal(ctx, err) {
		return nil, err
	}
	if err != nil {
		return unmeasured(b, err), nil
	}
	var open []subject.Client
	defer func() {
		for _, c := range open {
			_ = c.Close() // it has no work left to lose
		}
	}()
	var entries []*entry
	for _, s := range r.plan.Subjects {
		t, err := r.choose(ctx, b, s, reach)
		if fatal(ctx, err) {
			return nil, err
		}
		if t.best.client != nil {
			open = append(open, t.best.client)
		}
		for _, c := range b.Contexts {
			entries = append(entries, &entry{
				subject: s, setting: t.best.setting, trials: t.all, client: t.best.client,
				context: c, latency: load.NewHistogram(), err: err,
			})
		}
	}
	machine := r.watch(b.Transport)
	for round := range r.plan.Rounds {
		r.rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		for _, e := range entries {
			r.show(round+1, e.subject.Name)
			if err := r.measure(ctx, b, e); err != nil {
				return nil, err
			}
		}
	}
	return cells(r.plan.Subjects, b, entries, machine.others()), nil
}

func (r *run) show(round int, name string) {
	r.status.Round, r.status.Subject, r.status.Elapsed = round, name, time.Since(r.began)
	r.progress(r.status)
}

// fatal tells whether nothing can be measured after err.
func fatal(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, load.ErrHung))
}

// measure lets e work for one slice.
func (r *run) measure(ctx context.Context, b Block, e *entry) error {
	if e.client == nil {
		e.samples = append(e.samples, load.Sample{})
		return nil
	}
	sample, err := load.Run(ctx, r.slice(b, e.client, e.context), e.latency)
	if fatal(ctx, err) {
		return fmt.Errorf("%s: %w", e.subject.Name, err)
	}
	if err != nil {
		sample = load.Sample{} // what a broken client does is no work
		if e.err == nil {
			e.err = err
		}
	}
	e.samples = append(e.samples, sample)
	return nil
}

func (r *run) slice(b Block, client subject.Client, c load.Context) load.Slice {
	warm, length := r.plan.lengths(b)
	cpu := func() (time.Duration, error) { return r.srv.CPU(b.Transport) }
	return load.Slice{
		Client: client, Workload: b.Workload, Goroutines: b.Goroutines, Context: c,
		Warm: warm, Time: length, Seed: r.rng.Uint64(), ServerCPU: cpu, Recorder: r.recorder,
	}
}

// An entry is a client that takes part in a block, under one of its contexts.
type entry struct {
	subject subject.Subject
	setting string
	trials  []result.Trial
	client  subject.Client // nil: it could not be opened
	context load.Context
	samples []load.Sample // one for each round; empty ones where it failed
	latency *hdrhistogram.Histogram
	err     error
}
