package maintsim

import (
	"context"
	"slices"
	"time"
)

// What a maintenance mode did on a database with several proxies, by the clock
// from its beginning, when the grace time was 15 seconds.
const (
	modeOpens   = 4300 * time.Millisecond
	modeCloses  = 16600 * time.Millisecond
	modeDrops   = 21400 * time.Millisecond
	modeHangsUp = 34700 * time.Millisecond
)

// Demote makes a proxy answer READONLY to commands that write, without a word,
// while the endpoint moves to another one: the proxy that leaves ([WithProxy]) goes
// on to serve reads, and its connections stay. The name follows after the lead
// time, and then Demote returns. The old proxy is well again when it is moved to,
// or at [Sim.Repair].
//
// If no other proxy is free, the proxy is promoted again after the outage.
func (s *Sim) Demote(ctx context.Context, opts ...Option) error {
	o := s.options(opts)
	m, err := s.chooseMove(o)
	if err != nil && (m == nil || o.target >= 0) {
		return err
	}
	alone := err != nil
	if !alone {
		if err := s.takeOver(m, o); err != nil {
			return err
		}
		defer m.repair()
	}
	st, err := s.setFault(m.old, FaultReadOnly)
	if err != nil {
		return err
	}
	s.record(Event{Kind: EventDemoted, Proxy: m.old.index})
	if alone {
		err = s.wait(ctx, o.outage)
		s.repaired(m.old, st)
		return err
	}
	err = s.wait(ctx, s.real(o.lead))
	s.resolve(m)
	return err
}

// takeOver makes the target of a move part of the endpoint instead of the old
// proxy, without a word.
func (s *Sim) takeOver(m *move, o options) error {
	over, err := s.faultyTarget(m.target, o)
	if err != nil {
		return err
	}
	m.repair = over
	if err := s.open(m.target); err != nil {
		over()
		return err
	}
	s.mu.Lock()
	possible := s.possibleLocked(m)
	if possible {
		s.mu.members[m.slot] = m.target
	}
	s.mu.Unlock()
	if !possible {
		over()
		return ErrLeaving
	}
	return nil
}

// ChangeDNS makes the database's name lead elsewhere, and nothing else happens: no
// notice, and the proxy it led to ([WithProxy]) goes on to serve. With
// [WithLinger], that proxy closes its connections without notice d later and
// refuses, and ChangeDNS returns then.
func (s *Sim) ChangeDNS(ctx context.Context, opts ...Option) error {
	o := s.options(opts)
	m, err := s.chooseMove(o)
	if err != nil {
		return err
	}
	if err := s.takeOver(m, o); err != nil {
		return err
	}
	defer m.repair()
	s.resolve(m)
	if o.linger == 0 {
		return nil
	}
	err = s.wait(ctx, s.real(o.linger))
	if err == nil {
		s.hangUp(m.old, o)
	}
	return err
}

// Shrink takes a proxy ([WithProxy], by default the last) out of an endpoint with
// several records: its address leaves the name, and after the lead time it closes
// its connections and refuses, all without notice. If ctx ends before that, it goes
// on to serve. The error is ErrNoTarget if it is the only one.
func (s *Sim) Shrink(ctx context.Context, opts ...Option) error {
	o := s.options(opts)
	p, err := s.drop(o)
	if err != nil {
		return err
	}
	if err := s.wait(ctx, s.real(o.lead)); err != nil {
		return err
	}
	s.hangUp(p, o)
	return nil
}

// drop takes a proxy out of the endpoint and the name.
func (s *Sim) drop(o options) (*proxy, error) {
	s.mu.Lock()
	p, slot, err := s.chooseDropLocked(o)
	if err == nil {
		s.mu.members[slot], s.mu.resolved[slot] = nil, nil
	}
	s.mu.Unlock()
	if err == nil {
		s.record(Event{Kind: EventDropped, Proxy: p.index})
	}
	return p, err
}

func (s *Sim) chooseDropLocked(o options) (p *proxy, slot int, err error) {
	if s.mu.closed {
		return nil, 0, ErrClosed
	}
	members := 0
	for _, m := range s.mu.members {
		if m != nil {
			members++
			p = m
		}
	}
	p = s.memberLocked(o, p)
	if p == nil || members < 2 {
		return nil, 0, ErrNoTarget
	}
	if p.leaving || slices.ContainsFunc(s.mu.windows, func(w *window) bool { return w.goesTo == p }) {
		return nil, 0, ErrLeaving
	}
	return p, slices.Index(s.mu.members, p), nil
}

// hangUp makes p refuse and closes its connections, unless it is part of the
// endpoint again.
func (s *Sim) hangUp(p *proxy, o options) {
	s.mu.Lock()
	if slices.Contains(s.mu.members, p) {
		s.mu.Unlock()
		return
	}
	lns, victims := s.dismissLocked(p)
	s.mu.Unlock()
	closeAll(lns)
	s.closeProxy(p, victims, o)
}

// Grow adds a proxy ([WithProxy], by default the next free one) to the endpoint and
// the name, and tells nobody. The error is ErrNoTarget if none is free.
func (s *Sim) Grow(ctx context.Context, opts ...Option) error {
	o := s.options(opts)
	if err := s.interrupted(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	p := s.freeLocked(s.currentLocked().index)
	if o.only >= 0 && o.only < len(s.proxies) {
		p = s.proxies[o.only]
	}
	if p == nil || p.leaving || slices.Contains(s.mu.members, p) {
		s.mu.Unlock()
		return ErrNoTarget
	}
	// A slot of its own: moves may still be busy with one that was given up.
	slot := len(s.mu.members)
	s.mu.members, s.mu.resolved = append(s.mu.members, p), append(s.mu.resolved, nil)
	s.mu.Unlock()
	if _, err := s.faultyTarget(p, o); err != nil {
		return err
	}
	err := s.open(p)
	s.mu.Lock()
	s.mu.resolved[slot] = p
	s.mu.Unlock()
	s.record(Event{Kind: EventJoined, Proxy: p.index})
	return err
}

// Restart restarts the proxies, or one ([WithProxy]): every connection is closed
// without notice, and dials are refused for the outage. It is a [Sim.Cut] that by
// default ends connections in order.
func (s *Sim) Restart(ctx context.Context, opts ...Option) error {
	return s.Cut(ctx, append([]Option{WithCloseMode(CloseFIN), WithHold(0)}, opts...)...)
}

// MaintenanceMode puts the node of one proxy ([WithProxy], by default the last) of
// an endpoint with several records into maintenance, the way it was measured:
// MIGRATING after 4.3 s, MIGRATED at 16.6 s, both to the connections of every
// proxy, the address leaves the name at 21.4 s, and at 34.7 s the proxy closes its
// connections without notice and refuses. There is no MOVING. These are wire
// seconds at a grace time of 15 s, and in proportion at others; replies stall
// before MIGRATED. If ctx ends, the rest is skipped, except the closing notice. The
// error is ErrNoTarget if the proxy is the only one.
func (s *Sim) MaintenanceMode(ctx context.Context, opts ...Option) error {
	o := s.options(opts)
	s.mu.Lock()
	_, _, err := s.chooseDropLocked(o)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	begin := time.Now()
	at := func(d time.Duration) time.Time {
		return begin.Add(s.real(fraction(d, float64(o.grace)/float64(measuredGrace))))
	}
	until := func(d time.Duration) error { return s.wait(ctx, time.Until(at(d))) }
	if err := until(modeOpens); err != nil {
		return err
	}
	w, err := s.openWindow(Migrating, o)
	if err != nil {
		return err
	}
	stall := min(o.stall, at(modeCloses).Sub(at(modeOpens)))
	if err = s.wait(ctx, time.Until(at(modeCloses))-stall); err == nil {
		err = s.stall(ctx, stall)
	}
	s.closeWindow(w, o)
	if err != nil {
		return err
	}
	if err := until(modeDrops); err != nil {
		return err
	}
	p, err := s.drop(o)
	if err != nil {
		return err
	}
	if err := until(modeHangsUp); err != nil {
		return err
	}
	s.hangUp(p, o)
	return nil
}
