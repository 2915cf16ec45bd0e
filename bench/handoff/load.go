package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
	"github.com/baton-go/redis/bench/internal/sheet"
	"github.com/baton-go/redis/maintnotifications"
)

// handovers notes when links were handed over.
type handovers struct {
	mu   sync.Mutex // guards the fields below
	ends []time.Time
	errs []error
}

func (h *handovers) done(_, endpoint string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ends = append(h.ends, time.Now())
	if err != nil {
		h.errs = append(h.errs, fmt.Errorf("handoff to %s: %w", endpoint, err))
	}
}

// take gives what was noted since the last time.
func (h *handovers) take() ([]time.Time, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ends, err := h.ends, errors.Join(h.errs...)
	h.ends, h.errs = nil, nil
	return ends, err
}

// newClient makes a client of the simulated database. note is told of its handoffs.
func newClient(addr string, mode maintnotifications.Mode, note *handovers) rig.Baton {
	return rig.NewBaton(&redis.Options{
		Addr:                      addr,
		MaintNotificationsConfig:  &maintnotifications.Config{Mode: mode},
		MaintNotificationsMetrics: &maintnotifications.Metrics{OnHandoff: note.done},
	})
}

// workers are n operations. Each gets a value of its own and increments a counter of
// its own in turn: a command that is lost, executed twice, or answered by another's
// reply is found at once.
func workers(ctx context.Context, b rig.Baton, name string, n int) ([]gauge.Op, error) {
	ops := make([]gauge.Op, n)
	for i := range ops {
		w := &worker{b: b, key: fmt.Sprintf("handoff:%s:%d", name, i)}
		w.value = strings.Repeat(w.key+"|", 4)
		if err := b.Set(ctx, w.key, w.value); err != nil {
			return nil, err
		}
		if err := b.Del(ctx, w.key+":n").Err(); err != nil {
			return nil, err
		}
		ops[i] = w.next
	}
	return ops, nil
}

// worker is the state of one goroutine's operation.
type worker struct {
	b          rig.Baton
	key, value string
	count      int64 // of the counter
	incr       bool  // it comes next
}

func (w *worker) next() error {
	w.incr = !w.incr
	if !w.incr {
		return rig.Getting(w.b, w.key, w.value)()
	}
	w.count++
	got, err := w.b.Incr(context.Background(), w.key+":n").Result()
	if err != nil {
		return fmt.Errorf("incr %s: %w", w.key, err)
	}
	if got != w.count {
		return fmt.Errorf("incr %s: %w: got %d, want %d", w.key, rig.ErrWrongValue, got, w.count)
	}
	return nil
}

// compareReady compares notifications on with off while nothing is announced. Each
// round has a client of its own: a connection that happens to be a fast one stays so
// for its life.
func compareReady(ctx context.Context, o options, addr string, progress *sheet.Progress) (gauge.Comparison, error) {
	progress.Step("notifications on against off, quiet, %d goroutines, %d pairs", o.goroutines, o.pairs)
	with := func(mode maintnotifications.Mode) func(context.Context) (gauge.Cost, error) {
		return func(ctx context.Context) (gauge.Cost, error) {
			b := newClient(addr, mode, new(handovers))
			defer b.Close()
			ops, err := workers(ctx, b, "quiet", o.goroutines)
			if err != nil {
				return gauge.Cost{}, err
			}
			cost, _, err := gauge.Plan{Warm: o.second / 8, Window: o.second / 4, Every: 1}.Run(ctx, ops)
			return cost, err
		}
	}
	pairs, err := gauge.Pairs(ctx, o.pairs, with(maintnotifications.ModeDisabled), with(maintnotifications.ModeEnabled))
	return gauge.Compare("on against off", o.goroutines, pairs), err
}

// A watched is one move with the times around it.
type watched struct {
	move
	links         int // handed over
	took          time.Duration
	quiet, before *gauge.Window // one after the other, then the move
	during        *gauge.Window
}

// watchMoves runs the load while the database moves.
func watchMoves(ctx context.Context, o options, sim *simulator, progress *sheet.Progress) (moves []watched, err error) {
	var note handovers
	b := newClient(sim.addr, maintnotifications.ModeEnabled, &note)
	defer b.Close()
	ops, err := workers(ctx, b, "moving", o.goroutines)
	if err != nil {
		return nil, err
	}
	l := gauge.Start(ops, 1)
	defer func() {
		if bad := l.Stop(); bad != nil {
			err = bad // it is why everything else has ended
		}
	}()
	if err := l.Wait(ctx, o.second); err != nil {
		return nil, err
	}
	for i := range o.handoffs {
		progress.Step("handoff %d of %d", i+1, o.handoffs)
		w, err := watchMove(ctx, l, o.second, sim, &note)
		if err != nil {
			return nil, fmt.Errorf("handoff %d: %w", i+1, err)
		}
		moves = append(moves, w)
	}
	return moves, nil
}

// watchMove watches one move: two quiet times, and then the move in a third. The old
// endpoint closes within it.
func watchMove(ctx context.Context, l *gauge.Load, second time.Duration, sim *simulator, note *handovers) (w watched, err error) {
	w.quiet = l.Open()
	if err := l.Wait(ctx, second); err != nil {
		return w, err
	}
	w.before = l.Open()
	if err := l.Wait(ctx, second); err != nil {
		return w, err
	}
	w.during = l.Open()
	begun := time.Now()
	if err := sim.begin(); err != nil {
		return w, err
	}
	if err := l.Wait(ctx, second); err != nil {
		return w, err
	}
	l.End()
	if w.move, err = sim.end(); err != nil {
		return w, err
	}
	ends, err := note.take()
	if err != nil {
		return w, err
	}
	if w.links = len(ends); w.links == 0 {
		return w, errors.New("the client has not followed the move")
	}
	w.took = ends[w.links-1].Sub(begun)
	return w, l.Wait(ctx, second/4)
}
