package link

import (
	"errors"
	"os"
	"time"
)

// A caller who is alone on a link writes and reads by itself, without waking another
// goroutine and being woken by it. The socket has one reader at a time: the link's
// reader, or such a caller. Link.reading says that there is one, and whoever sets it
// reads until it passes the turn on. With nobody reading, somebody has just had a
// reply, and the timer gives the turn to the reader once the link is at rest, so that
// pushes are seen.

// Numbers of the solo mode.
const (
	// After soloAfter replies in a row, each alone on the link, the reader leaves the
	// socket to the callers.
	soloAfter = 16
	// soloRest is how often the timer looks whether the link is at rest; after one to
	// two of it the reader has the socket back.
	soloRest = 10 * time.Millisecond
)

// passTurn gives the socket to the reader; mu is held, and the caller has the turn, or
// has found that nobody has.
func (l *Link) passTurn() {
	l.reading = true
	l.turn <- struct{}{} // one place, and one turn: never blocks
}

// wantTurn gives the socket to the reader where nobody reads it; mu is held.
func (l *Link) wantTurn() {
	if !l.reading {
		l.passTurn()
	}
}

// mayBeSolo tells whether the call just queued is alone, and its caller may do all by
// itself; mu is held.
func (l *Link) mayBeSolo(c *call) bool {
	return c.alone && !l.reading && l.inflight == 0 && len(l.cur.calls) == 1 && len(l.buf) <= calmBytes
}

// goSolo takes the turn for the caller of c; mu is held, and submit has promised to
// write.
func (l *Link) goSolo(c *call) ([]byte, *batch) {
	l.reading = true
	l.soloist = c
	l.soloUses++
	return l.begin()
}

// solo writes what goSolo took, and reads until c is answered. It ends with the turn
// passed on or free.
func (l *Link) solo(c *call, out []byte, b *batch) {
	l.due = 1
	l.write(out, b)
	if !l.stillAlone() {
		l.flush(true)
		return
	}
	for {
		l.makeSpace()
		n, err := l.read()
		var answered int
		if n > 0 {
			l.w += n
			answered, err = l.take(err)
		}
		if l.endSolo(c, answered, err) {
			return
		}
	}
}

// stillAlone ends the promise to write where nobody else has queued anything. Where
// somebody has, the reader gets the turn before that is written: no reply must lie
// unread while a write may end the link.
func (l *Link) stillAlone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.cur.calls) == 0 {
		l.flushing = false
		return true
	}
	l.soloist = nil
	l.passTurn()
	return false
}

// take gives out the replies in the buffer; err is that of the read before. What it
// answers is still counted as in flight.
func (l *Link) take(err error) (int, error) {
	l.mu.Lock()
	l.lastRead = l.cfg.Timeouts.now()
	l.parsing = true
	l.mu.Unlock()
	answered, bad := l.parse()
	if bad != nil {
		return answered, bad
	}
	return answered, err
}

// endSolo settles one read of a caller, and tells whether its part is over.
func (l *Link) endSolo(c *call, answered int, err error) bool {
	if err != nil && l.broken(err) {
		l.kill(err)
		l.mu.Lock()
		l.soloist = nil
		l.passTurn() // the reader buries the link
		l.mu.Unlock()
		return true
	}
	isOver := c.state.Load() >= done
	l.mu.Lock()
	l.tally(answered)
	isDrained := l.drained()
	if isOver {
		l.soloist = nil
		switch {
		case l.inflight > 0 || l.r != l.w || isDrained || l.phase == dead:
			l.passTurn()
		default:
			l.reading = false
			l.rest()
		}
	}
	l.mu.Unlock()
	if isDrained {
		l.kill(ErrDraining)
	}
	return isOver
}

// broken tells whether a read's error ends the link. A deadline in the past is how a
// caller is called back whose context has ended; it may hit who reads next.
func (l *Link) broken(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || l.Err() != nil {
		return true
	}
	_ = l.nc.SetReadDeadline(time.Time{})
	return false
}

// rest makes the timer look soon whether the link is at rest; mu is held.
func (l *Link) rest() {
	if !l.resting {
		l.resting = true
		l.armed = true
		l.timer.Reset(soloRest)
	}
}

// lookAtRest is the timer's part: it gives the turn to the reader where no caller has
// used the link since the last look, and tells whether to look again; mu is held.
func (l *Link) lookAtRest() bool {
	if !l.resting {
		return false
	}
	if l.soloSeen != l.soloUses {
		l.soloSeen = l.soloUses
		return true
	}
	if l.reading && l.soloist != nil {
		return true // a caller waits for a slow reply: it sees pushes by itself
	}
	l.wantTurn()
	l.resting = false
	return false
}

// letGo is the reader's part: after so many lone replies it leaves the socket to the
// callers, if none has sent anything since, and waits for its turn. A link that dies
// gives it one.
func (l *Link) letGo(answered int) {
	l.mu.Lock()
	unanswered := l.inflight + len(l.cur.calls)
	if unanswered > 1 || answered != 1 {
		l.lone = 0
		l.mu.Unlock()
		return
	}
	l.lone = min(l.lone, l.cfg.soloAfter) + 1
	if l.lone <= l.cfg.soloAfter || unanswered > 0 || l.phase != serving || l.flushing || l.r != l.w {
		l.mu.Unlock()
		return
	}
	l.lone = 0
	l.reading = false
	l.rest()
	l.mu.Unlock()
	<-l.turn
}
