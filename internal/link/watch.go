package link

import "time"

// sweepEvery is how often a shared link looks at the contexts of what is in flight.
// It bounds how late a caller sees that its context has ended.
const sweepEvery = 5 * time.Millisecond

// arm sets the timer that watches what is in flight: often, to look at contexts, or
// when the oldest command would be overdue. While commands keep coming it costs
// them nothing: it is set once, and then sets itself again; mu is held.
func (l *Link) arm(swift bool) {
	d := l.patienceNow()
	if swift {
		d = min(d, sweepEvery)
		l.swift = true
	}
	l.armed = true
	l.timer.Reset(d)
}

// Recheck makes the link judge what is in flight anew, after its timeouts changed.
func (l *Link) Recheck() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.armed && l.phase != dead {
		l.timer.Reset(0)
	}
}

// patienceNow is the shorter of the timeouts that apply. The timer never waits
// longer, whatever it sees in flight: what comes next may be less patient.
func (l *Link) patienceNow() time.Duration {
	d := time.Minute // no timeout at all: there may be one later
	for _, t := range [...]time.Duration{l.cfg.Timeouts.Read(), l.cfg.Timeouts.Write()} {
		if t > 0 {
			d = min(d, t)
		}
	}
	if l.cfg.OnSlow != nil {
		d = min(d, l.cfg.SlowAfter)
	}
	return d
}

// tick is what the timer does.
func (l *Link) tick() {
	l.mu.Lock()
	if l.phase == dead {
		l.mu.Unlock()
		return
	}
	waiting, recall := l.sweep()
	again, isSlow, err := l.overdue()
	look := l.lookAtRest()
	if look {
		again = min(again, soloRest)
	}
	l.swift = l.swift && waiting
	switch {
	case err != nil:
	case waiting:
		l.timer.Reset(min(again, sweepEvery))
	case look || l.inflight > 0 || len(l.cur.calls) > 0 || l.writing:
		l.timer.Reset(again)
	default:
		l.armed = false
	}
	l.mu.Unlock()
	switch {
	case err != nil:
		l.kill(err)
	case isSlow:
		l.cfg.OnSlow(l)
	}
	if recall {
		_ = l.nc.SetReadDeadline(time.Unix(1, 0)) // see broken
	}
}

// overdue tells whether the link is stuck, else when that is to be asked again, and
// whether OnSlow is to be told; mu is held. The order of replies is the order of
// commands, so the oldest one tells: it waits since it was written, since the last byte
// came in, or since relaxed timeouts ended, whatever was last.
func (l *Link) overdue() (again time.Duration, isSlow bool, err error) {
	t := l.cfg.Timeouts
	at := t.now()
	again = l.patienceNow()
	if limit := t.Write(); l.writing && limit > 0 {
		waited := time.Duration(at - max(l.writeSince, t.calmed.Load()))
		if waited >= limit {
			return 0, false, &TimeoutError{Op: "write", After: waited}
		}
		again = min(again, limit-waited)
	}
	oldest := l.got
	if oldest == nil && l.head < len(l.fifo) {
		oldest = l.fifo[l.head]
	}
	if oldest == nil || oldest.at == 0 || oldest.patience < 0 {
		return again, false, nil
	}
	waited := time.Duration(at - max(oldest.at, l.lastRead, t.calmed.Load()))
	if after := int64(l.cfg.SlowAfter); l.cfg.OnSlow != nil && oldest.patience == 0 {
		if isSlow = int64(waited) >= after && at-l.slowAt >= after; isSlow {
			l.slowAt = at
		} else {
			again = min(again, time.Duration(after-min(int64(waited), at-l.slowAt)))
		}
	}
	limit := t.Read()
	if limit == 0 {
		return again, isSlow, nil
	}
	limit = max(limit, oldest.patience)
	if waited >= limit {
		return 0, false, &TimeoutError{Op: "read", After: waited}
	}
	return min(again, limit-waited), isSlow, nil
}

// sweep lets those callers leave whose context has ended, and tells whether there
// are any that still may; recall is true where one of them reads the socket itself, and
// has to be called back. mu is held. The batch that replies are being given to at this
// moment is left for the next time: its calls are changing hands.
func (l *Link) sweep() (waiting, recall bool) {
	if !l.swift {
		return false, false
	}
	look := func(calls []*call) {
		for _, c := range calls {
			if !c.watched {
				continue
			}
			if c.ctx.Err() != nil {
				c.expire()
				recall = recall || c == l.soloist
			} else {
				waiting = true
			}
		}
	}
	switch {
	case l.got == nil:
	case l.parsing:
		waiting = true
	default:
		look(l.got.calls[l.next:])
	}
	for _, b := range l.fifo[l.head:] {
		look(b.calls)
	}
	look(l.cur.calls)
	return waiting, recall
}
