package maintsim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Defaults of [Sim.Chaos].
const (
	DefaultChaosOverlap  = 2
	DefaultChaosPauseMax = 500 * time.Millisecond
)

// A ChaosOption changes one run of [Sim.Chaos].
type ChaosOption func(*chaos)

type chaos struct {
	first, steps int // steps 0: without end
	overlap      int
	pause        Range
	actions      []action
	announced    bool
	unknown      []string // names that are no action
}

// ChaosSteps ends the run after n steps. Zero means that only the context does.
func ChaosSteps(n int) ChaosOption { return func(c *chaos) { c.steps = max(n, 0) } }

// ChaosFirst begins with step n instead of step 0, to repeat the end of a run.
func ChaosFirst(n int) ChaosOption { return func(c *chaos) { c.first = max(n, 0) } }

// ChaosOverlap lets at most n steps run at a time. The default is
// DefaultChaosOverlap.
func ChaosOverlap(n int) ChaosOption { return func(c *chaos) { c.overlap = max(n, 1) } }

// ChaosPause sets the range of the random time between the beginnings of two
// steps, in real time. The default is up to DefaultChaosPauseMax.
func ChaosPause(shortest, longest time.Duration) ChaosOption {
	return func(c *chaos) { c.pause = Range{max(shortest, 0), max(longest, shortest, 0)} }
}

// ChaosOnly limits the steps to these actions; see [ChaosActions].
func ChaosOnly(names ...string) ChaosOption {
	return func(c *chaos) {
		c.check(names)
		c.actions = slices.DeleteFunc(c.actions, func(a action) bool { return !slices.Contains(names, a.name) })
	}
}

// ChaosExcept leaves these actions out; see [ChaosActions].
func ChaosExcept(names ...string) ChaosOption {
	return func(c *chaos) {
		c.check(names)
		c.actions = slices.DeleteFunc(c.actions, func(a action) bool { return slices.Contains(names, a.name) })
	}
}

// ChaosAnnounced limits the steps to those that a client that does everything
// right loses no command to: what is announced is announced to everybody, a
// target's fault ends before the old proxy closes, moves don't overlap, and nothing
// is cut. The client is to be configured by [Sim.Name] and [Sim.LookupHost], for
// moves without a target, and its timeouts are to be longer than a stall.
func ChaosAnnounced() ChaosOption {
	return func(c *chaos) {
		c.announced = true
		c.actions = slices.DeleteFunc(c.actions, func(a action) bool { return a.harmful })
	}
}

func (c *chaos) check(names []string) {
	for _, n := range names {
		if !slices.Contains(ChaosActions(), n) {
			c.unknown = append(c.unknown, n)
		}
	}
}

// ChaosActions are the names of what [Sim.Chaos] does.
func ChaosActions() []string {
	var names []string
	for _, a := range actions() {
		names = append(names, a.name)
	}
	return names
}

func newChaos(opts []ChaosOption) (*chaos, error) {
	c := &chaos{overlap: DefaultChaosOverlap, pause: Range{Max: DefaultChaosPauseMax}, actions: actions()}
	for _, opt := range opts {
		opt(c)
	}
	if len(c.unknown) > 0 {
		return nil, fmt.Errorf("maintsim: no chaos action %q, want some of %q", c.unknown, ChaosActions())
	}
	if len(c.actions) == 0 {
		return nil, errors.New("maintsim: no chaos action is left")
	}
	return c, nil
}

// Chaos does random scenarios and faults, one after another and overlapping, until
// ctx ends, which is no error, or as many as [ChaosSteps] says. What is done depends
// on seed, the options and the Config only: step n of a seed is always the same, if
// not at the same time. Each step is an [EventChaos] when it begins, with its number
// and everything that was chosen, when it fails, because what it wants is not
// possible at the moment, and when it is over.
//
// Steps are called off when ctx ends. Afterwards all faults are gone, and what the
// Config says of the opt-in, the version and the writes holds again; proxies may
// have left or joined the endpoint. The error is ErrClosed, one of listening, or
// says what is wrong with the options.
func (s *Sim) Chaos(ctx context.Context, seed uint64, opts ...ChaosOption) error {
	c, err := newChaos(opts)
	if err != nil {
		return err
	}
	var (
		wg    sync.WaitGroup
		moves sync.Mutex // held by steps that don't overlap with another move
		slots = make(chan struct{}, c.overlap)
		fatal = make(chan error, 1)
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for n := c.first; c.steps == 0 || n < c.first+c.steps; n++ {
		st := s.chaosStep(c, seed, n)
		if s.wait(ctx, st.pause) != nil {
			break
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		case <-s.ctx.Done():
		}
		if s.interrupted(ctx) != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if st.move {
				moves.Lock()
				defer moves.Unlock()
			}
			if err := s.chaosRun(ctx, st); err != nil {
				select {
				case fatal <- err:
				default:
				}
				cancel()
			}
		})
	}
	wg.Wait()
	select {
	case err = <-fatal:
	default:
	}
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	return errors.Join(err, s.calm())
}

// chaosRun does one step. An error that it returns ends the run.
func (s *Sim) chaosRun(ctx context.Context, st chaosStep) error {
	note := func(what string) {
		s.record(Event{Kind: EventChaos, Proxy: -1, Detail: fmt.Sprintf("#%d %s", st.n, what)})
	}
	note(st.text)
	err := st.run(ctx)
	switch {
	case err == nil:
		note(st.name + " is over")
	case ctx.Err() != nil || errors.Is(err, ErrClosed):
		note(st.name + " was called off")
	case errors.Is(err, ErrNoTarget), errors.Is(err, ErrLeaving):
		note(st.name + " failed: " + err.Error())
	default:
		note(st.name + " failed: " + err.Error())
		return fmt.Errorf("chaos step %d, %s: %w", st.n, st.name, err)
	}
	return nil
}

// calm takes back what steps may have left.
func (s *Sim) calm() error {
	if s.lookups.Load() != nil {
		s.DisturbLookups(0, nil)
	}
	s.restoreOptIn()
	s.SetWrites(s.cfg.Writes)
	return s.Repair()
}

// restoreOptIn makes the opt-in and the version what the Config says.
func (s *Sim) restoreOptIn() {
	if s.cfg.Unsupported {
		s.Refuse()
	} else {
		s.Support()
	}
	s.SetVersion(s.cfg.Version)
}

// ChaosPlan describes the first n steps that [Sim.Chaos] does with seed and opts.
func (s *Sim) ChaosPlan(seed uint64, n int, opts ...ChaosOption) ([]string, error) {
	c, err := newChaos(opts)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range n {
		st := s.chaosStep(c, seed, c.first+i)
		out = append(out, fmt.Sprintf("#%d %s", st.n, st.text))
	}
	return out, nil
}
