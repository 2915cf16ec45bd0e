package maintsim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// wait lets d pass. It returns early with the context's cause or ErrClosed.
func (s *Sim) wait(ctx context.Context, d time.Duration) error {
	return s.waitUnless(ctx, d, nil)
}

// waitUnless is wait until enough is closed.
func (s *Sim) waitUnless(ctx context.Context, d time.Duration, enough <-chan struct{}) error {
	if d <= 0 {
		return s.interrupted(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-enough:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.ctx.Done():
		return ErrClosed
	}
}

func (s *Sim) interrupted(ctx context.Context) error {
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// openWindow announces MIGRATING or FAILING_OVER.
func (s *Sim) openWindow(n Notice, o options) (*window, error) {
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	w := &window{
		notice: n,
		seq:    s.takeSeqLocked(o, 2), // the closing notice has the next number
		end:    time.Now().Add(s.real(o.lead)),
		shards: o.shards,
		form:   o.form,
		twice:  o.twice,
	}
	told := s.openLocked(w, o)
	s.mu.Unlock()
	s.record(Event{Kind: EventNotice, Notice: n, Seq: w.seq, Proxy: -1, Connections: told})
	return w, nil
}

// closeWindow announces that w is over, and retains that.
func (s *Sim) closeWindow(w *window, o options) {
	if o.noClosing {
		s.mu.Lock()
		s.closeLocked(w, nil, o)
		s.mu.Unlock()
		return
	}
	done := &completion{notice: w.notice.closing(), seq: w.seq + 1, shards: w.shards, form: w.form, twice: w.twice}
	s.mu.Lock()
	told := s.closeLocked(w, done, o)
	s.mu.Unlock()
	s.record(Event{Kind: EventNotice, Notice: done.notice, Seq: done.seq, Proxy: -1, Connections: told})
}

// stall holds every reply back for d.
func (s *Sim) stall(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return s.interrupted(ctx)
	}
	s.holdReplies()
	s.record(Event{Kind: EventStallBegin, Proxy: -1})
	err := s.wait(ctx, d)
	s.releaseReplies()
	s.record(Event{Kind: EventStallEnd, Proxy: -1})
	return err
}

// Migrate moves a shard: MIGRATING, the lead time, a stall of replies, MIGRATED.
// Connections stay. If ctx ends, the rest is skipped, except the closing notice.
func (s *Sim) Migrate(ctx context.Context, opts ...Option) error {
	return s.relocate(ctx, Migrating, s.options(opts))
}

// Failover promotes a replica behind the proxies: FAILING_OVER, the lead time, a
// stall of replies, FAILED_OVER. Connections stay. If ctx ends, the rest is
// skipped, except the closing notice.
func (s *Sim) Failover(ctx context.Context, opts ...Option) error {
	return s.relocate(ctx, FailingOver, s.options(opts))
}

func (s *Sim) relocate(ctx context.Context, n Notice, o options) error {
	w, err := s.openWindow(n, o)
	if err != nil {
		return err
	}
	defer s.closeWindow(w, o)
	if err := s.wait(ctx, s.real(o.lead)); err != nil {
		return err
	}
	return s.stall(ctx, o.stall)
}

// RollingUpgrade replaces every node once: for each, Migrate, Failover, and a
// Rebind. It stops at the first error.
func (s *Sim) RollingUpgrade(ctx context.Context, opts ...Option) error {
	for i := range s.proxies {
		for _, step := range []func(context.Context, ...Option) error{s.Migrate, s.Failover, s.Rebind} {
			if err := step(ctx, opts...); err != nil {
				return fmt.Errorf("node %d: %w", i, err)
			}
		}
	}
	return nil
}

// FailoverCut is a failover that goes wrong: FAILING_OVER and the lead time, then
// every connection is cut with its commands in flight and nothing accepts for the
// outage. Connections made after it are greeted with FAILED_OVER. Commands that
// were forwarded have been executed when it returns. If ctx ends, the rest is skipped, except the
// way back to service.
func (s *Sim) FailoverCut(ctx context.Context, opts ...Option) error {
	o := s.options(opts)
	w, err := s.openWindow(FailingOver, o)
	if err != nil {
		return err
	}
	if err := s.wait(ctx, s.real(o.lead)); err != nil {
		s.closeWindow(w, o)
		return err
	}
	return s.cut(ctx, o, func() { s.closeWindow(w, o) })
}

// Cut cuts every connection with its commands in flight, without notice, and
// refuses dials for the outage. Commands that were forwarded have been executed
// when it returns. If ctx ends, service is back at once.
func (s *Sim) Cut(ctx context.Context, opts ...Option) error {
	return s.cut(ctx, s.options(opts), func() {})
}

// cut cuts everything, and calls repaired before anything accepts again.
func (s *Sim) cut(ctx context.Context, o options, repaired func()) error {
	s.holdReplies()
	if err := s.wait(ctx, o.hold); err != nil {
		s.releaseReplies()
		repaired()
		return err
	}
	s.mu.Lock()
	hit := func(p *proxy) bool { return o.only < 0 || p.index == o.only }
	var down []*proxy
	for _, p := range s.proxies {
		if p.wanted && hit(p) {
			p.outages++
			down = append(down, p)
		}
	}
	lns := s.takeListenersLocked(hit)
	victims := s.sessionsLocked(func(c *session) bool { return hit(c.proxy) && !c.raw.Load() })
	s.mu.Unlock()
	closeAll(lns)
	inFlight := s.endAll(victims, o.mode.atCut())
	s.releaseReplies()
	s.addCut(len(victims), inFlight)
	s.record(Event{Kind: EventCut, Proxy: o.only, Connections: len(victims), InFlight: inFlight})

	errs := []error{s.wait(ctx, o.outage)}
	repaired()
	for _, p := range down {
		s.mu.Lock()
		p.outages--
		back := p.wanted && p.outages == 0
		s.mu.Unlock()
		if back && s.ctx.Err() == nil {
			errs = append(errs, s.open(p))
		}
	}
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	s.record(Event{Kind: EventServiceBack, Proxy: o.only})
	settle(victims)
	return errors.Join(errs...)
}

// later calls f after d, unless the simulator is closed before.
func (s *Sim) later(d time.Duration, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.laterLocked(d, f)
}

func (s *Sim) laterLocked(d time.Duration, f func()) {
	if s.mu.closed {
		return
	}
	s.wg.Go(func() {
		if s.wait(context.Background(), d) == nil {
			f()
		}
	})
}

// bound returns a context that ends with ctx, or when the simulator is closed.
func (s *Sim) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
