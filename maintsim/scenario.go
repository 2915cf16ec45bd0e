package maintsim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// wait lets d pass. It returns early with the context's cause or ErrClosed.
func (s *Sim) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return s.interrupted(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
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
	w := &window{notice: n, seq: s.mu.seq, end: time.Now().Add(s.real(o.lead)), shards: o.shards}
	s.mu.seq += 2 // the closing notice has the next number
	s.mu.windows = append(s.mu.windows, w)
	told := s.tellLocked(w)
	s.mu.Unlock()
	s.record(Event{Kind: EventNotice, Notice: n, Seq: w.seq, Proxy: -1, Connections: told})
	return w, nil
}

// closeWindow announces that w is over, and retains that.
func (s *Sim) closeWindow(w *window, o options) {
	s.mu.Lock()
	if o.noClosing {
		s.mu.windows = removeWindow(s.mu.windows, w)
		s.mu.Unlock()
		return
	}
	done := &completion{notice: w.notice.closing(), seq: w.seq + 1, shards: w.shards}
	s.mu.windows = removeWindow(s.mu.windows, w)
	s.mu.retained = done
	told := s.broadcastLocked(done.notice, func(b []byte, _ *session) []byte {
		return appendClosing(b, done.notice, done.seq, done.shards)
	})
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

// Rebind moves the endpoint away from its present proxy: MOVING to the
// connections of that proxy, the grace time, and then it closes them and, unless
// its address is taken over, refuses new ones. The target accepts from the
// beginning; proxies that left before are used again in turn. Rebind returns when
// the connections are closed.
//
// MOVING says the target in the form that each connection negotiated. If ctx ends
// before the deadline, the move is called off and nothing closes; there is no
// notice for that. Commands that were forwarded have been executed when Rebind
// returns. Errors are ErrNoTarget, ErrLeaving, ErrClosed, the context's
// cause, and those of listening.
func (s *Sim) Rebind(ctx context.Context, opts ...Option) error {
	o := s.options(opts)
	if o.null == nullInPlace {
		return s.rebindInPlace(ctx, o)
	}
	w, old, target, err := s.announceMove(ctx, o)
	if err != nil {
		return err
	}
	grace := s.real(o.grace)
	changed := false
	if o.resolver <= 1 {
		if err := s.wait(ctx, time.Until(w.end)-grace+fraction(grace, o.resolver)); err != nil {
			s.callOff(w, old, target)
			return err
		}
		s.resolve(target)
		changed = true
	}
	if err := s.wait(ctx, time.Until(w.end)+s.jitter(o)); err != nil {
		s.callOff(w, old, target)
		return err
	}
	s.leave(w, old, o)
	if !changed {
		s.later(fraction(grace, o.resolver-1), func() { s.resolve(target) })
	}
	return nil
}

// announceMove chooses and opens the target of a move and announces it.
func (s *Sim) announceMove(ctx context.Context, o options) (w *window, old, target *proxy, err error) {
	select {
	case s.moves <- struct{}{}:
		defer func() { <-s.moves }()
	case <-ctx.Done():
		return nil, nil, nil, context.Cause(ctx)
	case <-s.ctx.Done():
		return nil, nil, nil, ErrClosed
	}
	if old, target, err = s.chooseTarget(o.target); err != nil {
		return nil, nil, nil, err
	}
	if err := s.open(target); err != nil {
		return nil, nil, nil, err
	}
	w = &window{
		notice:  Moving,
		end:     time.Now().Add(s.real(o.grace)),
		leaving: old,
		target:  target,
		text:    o.text,
	}
	if o.null == nullByName {
		w.target = nil
	}
	s.mu.Lock()
	w.gen = old.gen
	old.leaving = true
	target.left = false
	s.mu.current = target
	told := s.announceLocked(w)
	s.mu.Unlock()
	s.record(Event{Kind: EventNotice, Notice: Moving, Seq: w.seq, Proxy: old.index, Connections: told})
	return w, old, target, nil
}

// announceLocked numbers a MOVING and sends it.
func (s *Sim) announceLocked(w *window) (told int) {
	w.seq = s.mu.seq
	s.mu.seq++
	s.mu.windows = append(s.mu.windows, w)
	return s.tellLocked(w)
}

// chooseTarget returns the present endpoint and where it is to move.
func (s *Sim) chooseTarget(want int) (old, target *proxy, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old = s.mu.current
	switch {
	case s.mu.closed:
		return nil, nil, ErrClosed
	case old.leaving:
		return nil, nil, ErrLeaving
	case want >= len(s.proxies) || want == old.index:
		return nil, nil, ErrNoTarget
	case want >= 0:
		if target = s.proxies[want]; target.leaving {
			return nil, nil, ErrLeaving
		}
		return old, target, nil
	}
	for i := 1; i < len(s.proxies); i++ {
		if p := s.proxies[(old.index+i)%len(s.proxies)]; !p.leaving {
			return old, p, nil
		}
	}
	return nil, nil, ErrNoTarget
}

// callOff ends a move whose context ended: old stays the endpoint.
func (s *Sim) callOff(w *window, old, target *proxy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.windows = removeWindow(s.mu.windows, w)
	old.leaving = false
	if s.mu.current == target {
		s.mu.current, s.mu.resolved = old, old
	}
}

// leave makes old refuse and closes its connections.
func (s *Sim) leave(w *window, old *proxy, o options) {
	s.mu.Lock()
	var lns []net.Listener
	if old.ln != nil {
		lns = append(lns, old.ln)
	}
	old.ln, old.leaving, old.left = nil, false, true
	s.mu.windows = removeWindow(s.mu.windows, w)
	victims := s.sessionsLocked(func(c *session) bool { return c.proxy == old })
	s.mu.Unlock()
	closeAll(lns)
	s.closeProxy(old, victims, o)
}

func (s *Sim) closeProxy(p *proxy, victims []*session, o options) {
	inFlight := s.endAll(victims, o.mode.atDeadline())
	s.addCut(len(victims), inFlight)
	s.record(Event{Kind: EventProxyClosed, Proxy: p.index, Connections: len(victims), InFlight: inFlight})
	settle(victims)
}

// rebindInPlace announces a move without target. Another node takes over the
// address during the window.
func (s *Sim) rebindInPlace(ctx context.Context, o options) error {
	grace := s.real(o.grace)
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	p := s.mu.current
	if p.leaving {
		s.mu.Unlock()
		return ErrLeaving
	}
	p.leaving = true
	w := &window{notice: Moving, end: time.Now().Add(grace), leaving: p, gen: p.gen, text: o.text}
	told := s.announceLocked(w)
	s.mu.Unlock()
	s.record(Event{Kind: EventNotice, Notice: Moving, Seq: w.seq, Proxy: p.index, Connections: told})

	err := s.wait(ctx, time.Until(w.end)-grace+fraction(grace, o.takeOver))
	if err == nil {
		s.mu.Lock()
		p.gen++
		s.mu.Unlock()
		s.record(Event{Kind: EventTakeOver, Proxy: p.index})
		err = s.wait(ctx, time.Until(w.end)+s.jitter(o))
	}
	s.mu.Lock()
	s.mu.windows = removeWindow(s.mu.windows, w)
	p.leaving = false
	var victims []*session
	if err == nil {
		victims = s.sessionsLocked(func(c *session) bool { return c.proxy == p && c.gen <= w.gen })
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.closeProxy(p, victims, o)
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
	lns, down := s.takeListenersLocked(hit)
	victims := s.sessionsLocked(func(c *session) bool { return hit(c.proxy) })
	s.mu.Unlock()
	closeAll(lns)
	inFlight := s.endAll(victims, o.mode.atCut())
	s.releaseReplies()
	s.addCut(len(victims), inFlight)
	s.record(Event{Kind: EventCut, Proxy: o.only, Connections: len(victims), InFlight: inFlight})

	errs := []error{s.wait(ctx, o.outage)}
	repaired()
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	for _, p := range down {
		if !s.hasLeft(p) {
			errs = append(errs, s.open(p))
		}
	}
	s.record(Event{Kind: EventServiceBack, Proxy: o.only})
	settle(victims)
	return errors.Join(errs...)
}

// resolve makes the database's name lead to p.
func (s *Sim) resolve(p *proxy) {
	s.mu.Lock()
	s.mu.resolved = p
	s.mu.Unlock()
	s.record(Event{Kind: EventResolved, Proxy: p.index})
}

// later calls f after d, unless the simulator is closed before.
func (s *Sim) later(d time.Duration, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return
	}
	s.wg.Go(func() {
		if s.wait(context.Background(), d) == nil {
			f()
		}
	})
}

// jitter is how much later than announced a proxy closes.
func (s *Sim) jitter(o options) time.Duration {
	if o.jitter <= 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.mu.rng.Int64N(int64(o.jitter)))
}

func fraction(d time.Duration, f float64) time.Duration {
	return time.Duration(float64(d) * f)
}
