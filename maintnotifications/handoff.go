package maintnotifications

import (
	"errors"
	"slices"
	"time"
)

// endOps ends the operations whose time is over.
func (m *Machine) endOps() {
	for _, op := range m.ops {
		if !op.ended && !m.now.Before(op.end) {
			m.endOp(op)
		}
	}
}

// advance does what is due of an operation whose time is not over.
func (m *Machine) advance(op *movingOp) {
	if m.polls(op) {
		if !op.fellBack && !m.now.Before(op.fallbackAt) {
			m.fallBack(op)
		}
		m.poll(op)
	} else if m.doubts(op) {
		m.poll(op)
	}
	for _, l := range m.links {
		if l.op == op && m.ready(op, l) && !m.now.Before(l.due) {
			m.startHandoff(op, l)
		}
	}
}

// ready says whether l waits for nothing but its time.
func (m *Machine) ready(op *movingOp, l *link) bool {
	return l.outstanding == nil && !l.gaveUp && (len(op.targets) > 0 || l.fallback)
}

// fallBack sends the links of op to the configured address: no look-up has shown
// another one, and the retiring peers are about to close.
func (m *Machine) fallBack(op *movingOp) {
	op.fellBack = true
	for _, l := range m.links {
		if l.op == op {
			l.fallback, l.gaveUp, l.due = true, false, m.now
		}
	}
}

// poll asks for a look-up if it is time. One answer serves all operations.
func (m *Machine) poll(op *movingOp) {
	if m.now.Before(op.nextAsk) || m.asking && m.now.Before(m.askedAt.Add(pollPatience)) {
		return
	}
	m.asking, m.askedAt = true, m.now
	op.nextAsk = m.now.Add(op.interval)
	m.act(Action{Do: ActionResolve, Op: op.key})
}

// startHandoff begins the next attempt for l. Only one is in progress for a link.
func (m *Machine) startHandoff(op *movingOp, l *link) {
	l.attempt++
	l.news = false
	l.outstanding = op
	op.outstanding[l.ID] = struct{}{}
	if op.begun == 0 {
		op.begun = m.event
	}
	a := Action{
		Do: ActionHandoff, Op: op.key, Link: l.ID, Attempt: l.attempt,
		Targets:  slices.Clone(m.handoffTargets(op)),
		Deadline: earliest(op.end, m.now.Add(m.cfg.HandoffTimeout)),
	}
	switch {
	case len(op.targets) == 0:
		a.Targets, a.Reason = []string{m.cfg.Addr}, "no target known"
	case l.attempt > 1 && !slices.Contains(op.peers, m.cfgPeer) &&
		!slices.ContainsFunc(a.Targets, func(t string) bool { return canonical(t) == m.cfgPeer }):
		// The target failed: the configured address may show a way by now.
		a.Targets = append(a.Targets, m.cfg.Addr)
	}
	m.act(a)
}

// handoffTargets returns where links of op go: its targets, unless these retire in
// turn and a newer operation knows better.
func (m *Machine) handoffTargets(op *movingOp) []string {
	if t := m.serving(m.now, op.targets); len(t) > 0 {
		return t
	}
	if t, _ := m.dialTargets(m.now); len(t) > 0 && len(op.targets) > 0 {
		return t
	}
	return op.targets
}

// handoffDone takes in the outcome of a handoff.
func (m *Machine) handoffDone(key OpKey, id LinkID, err error) {
	i := slices.IndexFunc(m.ops, func(op *movingOp) bool { return op.key == key })
	if i < 0 {
		return
	}
	op := m.ops[i]
	if _, ok := op.outstanding[id]; !ok {
		return
	}
	delete(op.outstanding, id)
	l := m.link(id)
	if l != nil && l.outstanding == op {
		l.outstanding = nil
	}
	if err == nil {
		m.postUntil = latest(m.postUntil, m.now.Add(m.cfg.PostHandoffRelaxedDuration))
		if l != nil {
			l.leaving, l.op = true, nil
		}
		m.takeHeart(op)
		return
	}
	op.failures++
	if l == nil || l.op != op {
		return // closed meanwhile, or a newer operation takes over
	}
	switch {
	case errors.Is(err, ErrHandoffQueueFull):
		m.retireLink(op, l, "handoff queue full")
	case l.news:
		l.due = m.now
	case errors.Is(err, ErrCircuitBreakerOpen), errors.Is(err, ErrShutdown),
		errors.Is(err, ErrMaxHandoffRetriesReached), l.attempt > m.cfg.MaxHandoffRetries:
		l.gaveUp = true
	default:
		l.due = m.now.Add(backoff(op.end.Sub(m.now)))
	}
}

// takeHeart makes the links of op that have given up try again, now that another one
// has got where they could not: a breaker that lets a few try has refused the rest.
func (m *Machine) takeHeart(op *movingOp) {
	for _, l := range m.links {
		if l.op == op && l.gaveUp {
			l.gaveUp, l.due = false, m.now
		}
	}
}

func (m *Machine) retireLink(op *movingOp, l *link, reason string) {
	l.leaving, l.op = true, nil
	m.act(Action{Do: ActionRetire, Op: op.key, Link: l.ID, Reason: reason})
}

// endOp retires the links that op could not hand over in time. A handoff in
// progress has run to the same deadline; its outcome is waited for a moment, so
// that a link is not retired just before its replacement serves.
func (m *Machine) endOp(op *movingOp) {
	patient := len(op.outstanding) > 0 && m.now.Before(op.end.Add(resultGrace))
	for _, l := range m.links {
		if patient && l.outstanding == op {
			continue
		}
		if l.outstanding == op {
			l.outstanding = nil
		}
		switch {
		case l.op == op && op.fellBack && !l.fallback:
			// It came up after the deadline, behind an address that was to retire, and
			// still works: the address is served anew.
			l.op = nil
		case l.op == op:
			m.retireLink(op, l, "deadline passed")
		case op.mode == moveToTarget && l.op == nil && !l.leaving &&
			slices.Contains(op.peers, l.Peer) && !op.onTarget(l):
			// The target is a name, which led back to a retiring peer.
			m.retireLink(op, l, "deadline passed")
		}
	}
	if !patient {
		clear(op.outstanding)
		op.ended = true
	}
}

// nextOfOp tells the times at which op wants a Tick.
func (m *Machine) nextOfOp(op *movingOp, add func(time.Time)) {
	if m.now.Before(op.deadline) {
		add(op.deadline) // the relaxed window ends
	}
	if !m.now.Before(op.end) {
		add(op.end.Add(resultGrace))
		return
	}
	add(op.end)
	polls := m.polls(op)
	if polls && !op.fellBack {
		add(op.fallbackAt)
	}
	if polls || m.doubts(op) {
		if m.asking {
			add(latest(op.nextAsk, m.askedAt.Add(pollPatience)))
		} else {
			add(op.nextAsk)
		}
	}
	for _, l := range m.links {
		if l.op == op && m.ready(op, l) && l.due.Before(op.end) {
			add(l.due)
		}
	}
}
