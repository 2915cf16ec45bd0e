package maintsim

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"
)

// A move is an endpoint on its way from one proxy to another.
type move struct {
	slot    int // of the endpoint's proxies
	old     *proxy
	target  *proxy    // the last one announced; guarded by Sim.mu
	windows []*window // guarded by Sim.mu
	begin   time.Time
	end     time.Time // the deadline that was announced
	repair  func()    // ends the fault of the target
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
	m, err := s.announceMove(ctx, o)
	if err != nil {
		return err
	}
	defer m.repair()
	resolve := step{m.begin.Add(s.resolverDelay(o)), func() error {
		s.resolve(m)
		return nil
	}}
	leave := step{m.end.Add(s.real(o.linger) + s.jitter(o)), func() error {
		s.leave(m, o)
		return nil
	}}
	steps := []step{resolve, leave}
	if o.retarget >= 0 {
		steps = append(steps, step{m.begin.Add(fraction(m.end.Sub(m.begin), o.retellAt)), func() error {
			return s.retarget(m, o)
		}})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	var vacant <-chan struct{} // nil: never
	if o.early && o.retarget < 0 {
		vacant = s.vacancy(m.old)
	}
	var failed error
	closed := false
	for i, st := range steps {
		if closed { // a resolver that is late
			s.later(time.Until(st.at), func() { _ = st.do() })
			continue
		}
		if err := s.waitUnless(ctx, time.Until(st.at), vacant); err != nil {
			s.callOff(m)
			return err
		}
		// Where one fails the others follow all the same: what was announced happens.
		failed = errors.Join(failed, st.do())
		closed = steps[i].at.Equal(leave.at)
	}
	return failed
}

// vacancy is closed when p has no session left.
func (s *Sim) vacancy(p *proxy) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	vacant := p.vacant
	if vacant == nil {
		vacant = make(chan struct{})
		if len(p.sessions) == 0 {
			close(vacant)
		} else {
			p.vacant = vacant
		}
	}
	return vacant
}

// A step is something to be done at a time.
type step struct {
	at time.Time
	do func() error
}

// resolverDelay is when after MOVING the name leads to the target, in real time.
func (s *Sim) resolverDelay(o options) time.Duration {
	if o.resolver < 0 {
		return s.real(o.resolverAt)
	}
	return fraction(s.real(o.grace), o.resolver)
}

// announceMove chooses and opens the target of a move and announces it.
func (s *Sim) announceMove(ctx context.Context, o options) (*move, error) {
	select {
	case s.moves <- struct{}{}:
		defer func() { <-s.moves }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.ctx.Done():
		return nil, ErrClosed
	}
	m, err := s.chooseMove(o)
	if err != nil {
		return nil, err
	}
	if m.repair, err = s.faultyTarget(m.target, o); err != nil {
		return nil, err
	}
	if err := s.open(m.target); err != nil {
		m.repair()
		return nil, err
	}
	m.begin = time.Now()
	m.end = m.begin.Add(s.real(o.grace))
	s.mu.Lock()
	if !s.possibleLocked(m) {
		s.mu.Unlock()
		m.repair()
		return nil, ErrLeaving
	}
	m.old.leaving = true
	s.mu.members[m.slot] = m.target
	w, told := s.announceLocked(m, o, s.takeSeqLocked(o, 1))
	s.mu.Unlock()
	s.record(Event{Kind: EventNotice, Notice: Moving, Seq: w.seq, Proxy: m.old.index, Connections: told})
	s.tellSwitch(m.old, m.target)
	return m, nil
}

// tellSwitch makes a discovery service tell where the endpoint is.
func (s *Sim) tellSwitch(old, next *proxy) {
	if s.switched != nil {
		s.switched(old, next)
	}
}

// announceLocked opens a window for m and tells the connections.
func (s *Sim) announceLocked(m *move, o options, seq int64) (w *window, told int) {
	w = &window{
		notice:  Moving,
		seq:     seq,
		end:     m.end,
		leaving: m.old,
		gen:     m.old.gen,
		target:  m.target,
		goesTo:  m.target,
		repeat:  o.repeat,
		text:    o.text,
		form:    o.form,
		twice:   o.twice,
	}
	if o.null == nullByName {
		w.target = nil
	}
	m.windows = append(m.windows, w)
	return w, s.openLocked(w, o)
}

// takeSeqLocked returns the number of the next notice, and takes n of them, unless
// the options say one.
func (s *Sim) takeSeqLocked(o options, n int64) int64 {
	if o.seq >= 0 {
		return o.seq
	}
	s.mu.seq += n
	return s.mu.seq - n
}

// retarget sends m to its second target.
func (s *Sim) retarget(m *move, o options) error {
	if o.retarget >= len(s.proxies) {
		return ErrNoTarget
	}
	p := s.proxies[o.retarget]
	if err := s.open(p); err != nil {
		return err
	}
	s.mu.Lock()
	if s.takenLocked(p) || s.mu.members[m.slot] != m.target {
		s.mu.Unlock()
		return ErrNoTarget
	}
	before := m.target
	m.target = p
	s.mu.members[m.slot] = p
	w, told := s.announceLocked(m, o, m.windows[0].seq)
	s.mu.Unlock()
	s.record(Event{Kind: EventNotice, Notice: Moving, Seq: w.seq, Proxy: m.old.index, Connections: told})
	s.tellSwitch(before, p)
	return nil
}

// chooseMove returns which proxy of the endpoint is to move where. With
// ErrNoTarget comes a move without target if there is only no proxy free.
func (s *Sim) chooseMove(o options) (*move, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return nil, ErrClosed
	}
	m := &move{old: s.memberLocked(o, s.currentLocked()), repair: func() {}}
	if m.old == nil {
		return nil, ErrNoTarget
	}
	m.slot = slices.Index(s.mu.members, m.old)
	if m.old.leaving {
		return nil, ErrLeaving
	}
	if o.retarget >= len(s.proxies) || o.retarget >= 0 && s.takenLocked(s.proxies[o.retarget]) {
		return nil, ErrNoTarget
	}
	if o.target >= 0 {
		if o.target >= len(s.proxies) || slices.Contains(s.mu.members, s.proxies[o.target]) {
			return nil, ErrNoTarget
		}
		if m.target = s.proxies[o.target]; m.target.leaving {
			return nil, ErrLeaving
		}
		return m, nil
	}
	if m.target = s.freeLocked(m.old.index); m.target == nil {
		return m, ErrNoTarget
	}
	return m, nil
}

// takenLocked reports whether p is part of the endpoint, or about to leave, and so
// can't be moved to.
func (s *Sim) takenLocked(p *proxy) bool { return p.leaving || slices.Contains(s.mu.members, p) }

// memberLocked returns the proxy of the endpoint that o is about, by default def,
// and nil if it isn't part of the endpoint.
func (s *Sim) memberLocked(o options, def *proxy) *proxy {
	if o.only >= 0 {
		i := slices.IndexFunc(s.mu.members, func(p *proxy) bool { return p != nil && p.index == o.only })
		if i < 0 {
			return nil
		}
		return s.mu.members[i]
	}
	if !o.busiest {
		return def
	}
	for _, p := range s.mu.members {
		if p != nil && len(p.sessions) > len(def.sessions) {
			def = p
		}
	}
	return def
}

// possibleLocked reports whether what chooseMove said still holds.
func (s *Sim) possibleLocked(m *move) bool {
	return s.mu.members[m.slot] == m.old && !m.old.leaving && !m.target.leaving && !slices.Contains(s.mu.members, m.target)
}

// freeLocked returns the next proxy after index i that is neither part of the
// endpoint nor about to leave, nil if there is none.
func (s *Sim) freeLocked(i int) *proxy {
	for d := 1; d <= len(s.proxies); d++ {
		p := s.proxies[(i+d)%len(s.proxies)]
		if !s.takenLocked(p) {
			return p
		}
	}
	return nil
}

// callOff ends a move whose context ended: old stays part of the endpoint.
func (s *Sim) callOff(m *move) {
	s.mu.Lock()
	for _, w := range m.windows {
		s.mu.windows = removeWindow(s.mu.windows, w)
	}
	m.old.leaving = false
	goesBack := s.mu.members[m.slot] == m.target
	if goesBack {
		s.mu.members[m.slot], s.mu.resolved[m.slot] = m.old, m.old
	}
	s.mu.Unlock()
	if goesBack {
		s.tellSwitch(m.target, m.old)
	}
}

// leave makes the old proxy of a move refuse and closes its connections.
func (s *Sim) leave(m *move, o options) {
	s.mu.Lock()
	for _, w := range m.windows {
		s.mu.windows = removeWindow(s.mu.windows, w)
	}
	m.old.leaving = false
	lns, victims := s.dismissLocked(m.old)
	s.mu.Unlock()
	closeAll(lns)
	s.closeProxy(m.old, victims, o)
}

// dismissLocked makes p refuse, once what it returns is closed, until it is opened
// again. It returns the connections p has, too.
func (s *Sim) dismissLocked(p *proxy) (lns []net.Listener, victims []*session) {
	if p.ln != nil {
		lns = append(lns, p.ln)
	}
	p.ln, p.wanted = nil, false
	return lns, s.sessionsLocked(func(c *session) bool { return c.proxy == p })
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
	p := s.memberLocked(o, s.currentLocked())
	if p == nil {
		s.mu.Unlock()
		return ErrNoTarget
	}
	if p.leaving {
		s.mu.Unlock()
		return ErrLeaving
	}
	p.leaving = true
	w := &window{
		notice: Moving, seq: s.takeSeqLocked(o, 1), end: time.Now().Add(grace), leaving: p, gen: p.gen,
		text: o.text, form: o.form, twice: o.twice,
	}
	told := s.openLocked(w, o)
	s.mu.Unlock()
	s.record(Event{Kind: EventNotice, Notice: Moving, Seq: w.seq, Proxy: p.index, Connections: told})

	err := s.wait(ctx, time.Until(w.end)-grace+fraction(grace, o.takeOver))
	if err == nil {
		s.mu.Lock()
		p.gen++
		s.mu.Unlock()
		s.record(Event{Kind: EventTakeOver, Proxy: p.index})
		err = s.wait(ctx, time.Until(w.end)+s.real(o.linger)+s.jitter(o))
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

// resolve makes the database's name lead to where m goes, unless that was given up
// meanwhile.
func (s *Sim) resolve(m *move) {
	s.mu.Lock()
	p := m.target
	if s.mu.members[m.slot] == nil {
		s.mu.Unlock()
		return
	}
	s.mu.resolved[m.slot] = p
	s.mu.Unlock()
	s.record(Event{Kind: EventResolved, Proxy: p.index})
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
