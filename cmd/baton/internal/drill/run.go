package drill

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/load"
	"github.com/baton-go/redis/maintsim"
)

// A Report is everything a drill leaves.
type Report struct {
	Result  account.Result
	Samples []load.Sample
	Width   time.Duration // of a sample
	Marks   []Mark
	// During and After are when these phases began.
	During, After, End time.Duration
}

// A Mark is something that happened at a moment.
type Mark struct {
	At   time.Duration
	Kind MarkKind
	Text string
}

// A MarkKind is what a mark stands for.
type MarkKind uint8

// The kinds of marks.
const (
	MarkNotice MarkKind = iota
	MarkHandoff
	MarkStallBegin
	MarkStallEnd
	MarkClosed
	MarkCut
	MarkBack
	MarkFault    // a node or the resolver is not as it should be
	MarkRepaired // a node is well again
	MarkEndpoint // where the endpoint is, or where its name leads
	MarkStep     // of a chaos
	MarkOther
)

// A Status is how far a running drill has come.
type Status struct {
	Phase    load.Phase
	Elapsed  time.Duration
	Planned  time.Duration
	Live     load.Live
	Notices  int64
	Handoffs int64
	Stalled  bool
}

const (
	statusEvery = 250 * time.Millisecond
	// lastCommand is how long workers have for the command they wait for when the
	// load ends.
	lastCommand = 15 * time.Second
	// lastCommandInterrupted is the same after an interruption.
	lastCommandInterrupted = 5 * time.Second
	// aborted is how long workers have after their context has ended.
	aborted = 3 * time.Second
)

// Run does the drill. show is called with its progress now and then, and may be
// nil. An error says that there was nothing to rehearse with; everything that goes
// wrong afterwards is in the report. If ctx ends, the drill ends early, with its
// report.
func Run(ctx context.Context, c Config, show func(Status)) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout(), errTimeout)
	defer cancel()
	r := &run{cfg: c, show: show}
	return r.run(ctx)
}

var errTimeout = errors.New("the drill took too long")

// A run is one drill.
type run struct {
	cfg   Config
	show  func(Status)
	clock *load.Clock // starts when the load is about to
	stage stage
	load  *load.Load
	slots *load.Slots
	seen  *witness

	problems []string
	growth   growth
}

func (r *run) run(ctx context.Context) (rep *Report, err error) {
	c := r.cfg
	// Nothing that happens before the load begins is of interest.
	var seen atomic.Pointer[witness]
	st, accept, err := c.newStage(func(e maintsim.Event) {
		if w := seen.Load(); w != nil {
			w.event(e)
		}
	})
	if err != nil {
		return nil, err
	}
	r.stage = st
	defer func() { err = errors.Join(err, st.close()) }()
	if err := st.ping(ctx); err != nil {
		return nil, fmt.Errorf("the client can't reach the simulated database: %w", err)
	}

	r.clock = load.NewClock()
	r.seen = newWitness(r.clock, c.Scenario)
	seen.Store(r.seen)
	st.watch(r.seen)

	before, during, after := c.plan()
	r.slots = load.NewSlots(before + during + after)
	r.load, err = load.New(load.Config{
		Client:  st.client(),
		Backend: st.backend(),
		Cluster: c.Scenario.Clustered(),
		Workers: c.Workers,
		Seed:    c.Seed,
		Run:     strconv.FormatInt(time.Now().UnixNano(), 36),
		Clock:   r.clock,
		Slots:   r.slots,
		Resends: c.felt(),
	})
	if err != nil {
		return nil, err
	}
	rep = &Report{Width: r.slots.Width()}
	if accept > 0 {
		t := time.AfterFunc(accept, st.accept)
		defer t.Stop()
	}
	r.perform(ctx, before, during, after)
	settled := r.settle(rep)
	res := &rep.Result
	res.Scenario, res.Client, res.Server = string(c.Scenario), "baton "+Version(), c.server()
	res.Mode, res.Workers, res.Seed = string(c.Mode), c.Workers, c.Seed
	r.seen.fill(res)
	st.fill(res)
	res.Growth = r.growth.seen
	rep.Marks = r.seen.timeline()
	if settled {
		res.GapOutsideStallsMS = float64(r.gapOutsideStalls(rep)) / float64(time.Millisecond)
		terms := c.terms(r.problems)
		res.Problems, res.Allowed = account.Judge(res, terms), account.Allowed(res, terms)
	} else {
		res.Problems = r.problems
	}
	res.OK = len(res.Problems) == 0
	return rep, nil
}

// perform runs the load through the three phases, and ends it.
func (r *run) perform(ctx context.Context, before, during, after time.Duration) {
	// Workers outlive an interruption: each gets to finish its last command.
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	r.clock.Enter(load.Before)
	r.load.Start(work)
	stop := r.report(before + during + after)
	defer stop()

	err := wait(ctx, before)
	if err == nil {
		r.growth.start()
		r.clock.Enter(load.During)
		err = r.stage.perform(ctx)
		r.growth.stop()
		if r.cfg.felt() && !r.cfg.Scenario.Cuts() {
			r.clock.Back(time.Now())
		}
		if err != nil && ctx.Err() == nil {
			r.problems = append(r.problems, fmt.Sprintf("The scenario failed: %v.", err))
			err = nil
		}
	}
	if err == nil {
		r.clock.Enter(load.After)
		err = wait(ctx, after)
	}
	r.growth.end()
	r.clock.Stop()
	patience := lastCommand
	if err != nil {
		patience = lastCommandInterrupted
		if errors.Is(err, errTimeout) {
			r.problems = append(r.problems, fmt.Sprintf("The drill took longer than %v.", r.cfg.timeout()))
		} else {
			r.problems = append(r.problems, "The drill was interrupted.")
		}
	}
	r.end(abort, patience)
}

// end waits for the workers, and ends their context if they take too long.
func (r *run) end(abort context.CancelFunc, patience time.Duration) {
	limit, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if r.load.Wait(limit) == nil {
		return
	}
	r.problems = append(r.problems, fmt.Sprintf("A worker's last command took longer than %v.", patience))
	abort()
	limit, cancel = context.WithTimeout(context.Background(), aborted)
	defer cancel()
	if err := r.load.Wait(limit); err != nil {
		r.problems = append(r.problems, fmt.Sprintf("A worker did not end within %v after its context.", aborted))
		r.load = nil
	}
}

// settle takes the account. It reports false if there is none, because a worker
// still runs.
func (r *run) settle(rep *Report) bool {
	end := r.clock.End()
	rep.During, rep.After, rep.End = r.clock.Began(load.During), r.clock.Began(load.After), end
	rep.Samples = r.slots.Samples(end)
	rep.Result.Errors, rep.Result.AppErrors = map[string]int64{}, map[string]int64{}
	if r.load == nil {
		return false
	}
	if err := r.load.Settle(&rep.Result, end, r.cfg.felt()); err != nil {
		r.problems = append(r.problems, fmt.Sprintf("The account could not be taken: %v.", err))
		return false
	}
	if err := r.load.Clean(); err != nil {
		r.problems = append(r.problems, fmt.Sprintf("The drill's keys could not be deleted: %v.", err))
	}
	return true
}

// gapOutsideStalls is the longest time without a completed command in which the
// server was answering.
func (r *run) gapOutsideStalls(rep *Report) (gap time.Duration) {
	from := r.clock.Began(load.Before) // since when it is answering
	quiet := 0                         // reasons why it isn't
	for _, m := range rep.Marks {
		switch m.Kind {
		case MarkStallBegin, MarkCut:
			if quiet++; quiet == 1 {
				gap = max(gap, r.load.LongestGap(from, m.At))
			}
		case MarkStallEnd, MarkBack:
			if quiet--; quiet == 0 {
				from = m.At
			}
		case MarkNotice, MarkHandoff, MarkClosed, MarkFault, MarkRepaired, MarkEndpoint, MarkStep, MarkOther:
		}
	}
	return max(gap, r.load.LongestGap(from, rep.End))
}

// report shows the status now and then until the function it returns was called.
func (r *run) report(planned time.Duration) (stop func()) {
	if r.show == nil {
		return func() {}
	}
	quit := make(chan struct{})
	var wg sync.WaitGroup
	l := r.load
	wg.Go(func() {
		tick := time.NewTicker(statusEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-quit:
				return
			}
			s := Status{Phase: r.clock.Phase(), Elapsed: r.clock.Now(), Planned: planned, Live: l.Live()}
			s.Notices, s.Handoffs, s.Stalled = r.seen.progress()
			r.show(s)
		}
	})
	return func() {
		close(quit)
		wg.Wait()
	}
}

// Version is the version of this program, and so of the client in it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
