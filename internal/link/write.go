package link

import (
	"context"
	"runtime"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// joinYields is how often a flusher lets others run before it writes, for as long
// as that makes its batch grow.
const joinYields = 4

// A caller writes what has queued up, though somebody else has promised to, when that
// is this share of what was in flight at most lately, but no fewer than so many commands:
// the server then has work while callers go on. Where thousands are in flight it is the
// larger share. Measured with 8 to 2,048 callers on 2 cores: with 64, a quarter was faster
// than a half by a tenth to a third, with 512 both were the same, with 2,048 a half was
// faster by a tenth; writing one or two commands was slower everywhere.
const (
	partShare = 4
	largeFrom = 1024 // in flight
	largePart = 2
	leastPart = 5
)

// part is from how many queued commands on a caller writes them; mu is held. What is in
// flight now may be little because parts are small, so a slowly falling peak counts.
func (l *Link) part() int {
	n := l.inflight + len(l.cur.calls)
	l.peak = max(n, l.peak-l.peak>>6)
	share := partShare
	if l.peak >= largeFrom {
		share = largePart
	}
	return max(l.peak/share, leastPart)
}

// duty is what a caller owes the link after it has queued its command.
type duty uint8

const (
	dutyNone  duty = iota
	dutyFlush      // nobody had promised to write: the caller has now
	dutySolo       // the caller is alone: it writes, and reads its reply
	dutyPart       // enough has gathered for the caller to write it, though somebody else has promised to
)

// submit queues a call and does what the queue then asks of the caller. Where the call is
// keyed, key goes behind wire. An error means that nothing was queued.
func (l *Link) submit(ctx context.Context, c *call, wire []byte, key string) *Error {
	l.mu.Lock()
	for l.phase == serving && (len(l.buf) > maxQueued || l.inflight+len(l.cur.calls) >= maxInFlight) {
		if err := l.awaitRoom(ctx); err != nil {
			return err
		}
	}
	if l.phase != serving {
		err := l.err
		if l.phase == draining {
			err = ErrDraining
		}
		l.mu.Unlock()
		return &Error{Endpoint: l.cfg.Endpoint, Delivery: NotSent, Err: err}
	}
	before := len(l.buf)
	l.buf = append(l.buf, wire...)
	if c.keyed {
		l.buf = resp.AppendBulk(l.buf, key)
		if c.want == wantOK {
			l.buf = resp.AppendBulk(l.buf, c.text)
		}
	}
	c.size = len(l.buf) - before
	l.cur.calls = append(l.cur.calls, c)
	if c.patience != 0 {
		l.cur.wait(c.patience)
	}
	if !l.armed || c.watched && !l.swift {
		l.arm(c.watched)
	}
	do := dutyFlush
	var out []byte
	var b *batch
	alone := l.lastBatch <= 1 && l.inflight == 0
	switch {
	case !l.flushing:
		l.flushing = true
		if l.mayBeSolo(c) {
			do = dutySolo
			out, b = l.goSolo(c)
		}
	case len(l.cur.calls) >= l.flushAt && !l.writing && l.calm():
		do = dutyPart
		out, b = l.begin()
	default:
		do = dutyNone
	}
	l.mu.Unlock()
	switch do {
	case dutyNone:
	case dutyFlush:
		l.flush(alone)
	case dutySolo:
		l.solo(c, out, b)
	case dutyPart:
		if l.writeCalmly(out, b, dutyPart) {
			l.finishPart()
		}
	}
	return nil
}

// WriteOnly writes commands that have no replies of their own, on the link of a
// subscription. Callers take turns by themselves. The error is an *Error.
func (l *Link) WriteOnly(wire []byte) error {
	if d := l.cfg.Timeouts.Write(); d > 0 {
		_ = l.nc.SetWriteDeadline(time.Now().Add(d))
	}
	n, err := l.nc.Write(wire)
	if err == nil {
		return nil
	}
	l.kill(err)
	e := &Error{Endpoint: l.cfg.Endpoint, Delivery: NotSent, Err: l.Err()}
	if n > 0 {
		e.Delivery = MaybeSent
	}
	return e
}

// wait makes the batch wait for as long as its most patient call.
func (b *batch) wait(d time.Duration) {
	if d < 0 || b.patience < 0 {
		b.patience = -1
		return
	}
	b.patience = max(b.patience, d)
}

// awaitRoom waits until the link has room for more. It is called with mu held and
// returns with it held, or with an error and mu free.
func (l *Link) awaitRoom(ctx context.Context) *Error {
	if l.room == nil {
		l.room = make(chan struct{})
	}
	room := l.room
	l.mu.Unlock()
	select {
	case <-room:
		l.mu.Lock()
		return nil
	case <-ctx.Done():
		return &Error{Endpoint: l.cfg.Endpoint, Delivery: NotSent, Err: context.Cause(ctx)}
	}
}

// calm tells whether a write now will not block whoever does it; mu is held.
func (l *Link) calm() bool { return l.writer.raw != nil || l.unread+len(l.buf) <= calmBytes }

// begin takes everything queued for one write, which the caller must do; mu is
// held.
func (l *Link) begin() ([]byte, *batch) {
	out := l.buf
	l.buf, l.spare = l.spare[:0], nil
	var b *batch
	if n := len(l.free); n > 0 {
		b, l.free = l.free[n-1], l.free[:n-1]
	} else {
		b = new(batch)
	}
	*b, l.cur = l.cur, batch{calls: b.calls[:0]}
	b.size, b.sent, b.at = len(out), 0, 0
	l.fifo = append(l.fifo, b)
	l.inflight += len(b.calls)
	l.unread += len(out)
	b.calm = l.unread <= calmBytes
	l.lastBatch = len(b.calls)
	l.writing = true
	l.writeSince = l.cfg.Timeouts.now()
	l.wantTurn()
	return out, b
}

// write writes what begin took, and may block. A failure closes the socket; the reader
// then ends the link.
func (l *Link) write(out []byte, b *batch) {
	n, err := l.nc.Write(out)
	l.written(out, b, n, err)
}

// writeCalmly is write for those who must not block. Where the socket does not take all,
// it returns false, and a goroutine writes the rest and takes over the duty of the caller.
func (l *Link) writeCalmly(out []byte, b *batch, do duty) bool {
	if l.writer.raw == nil || b.calm {
		l.write(out, b)
		return true
	}
	n, err := l.writer.try(out)
	if n == len(out) || err != nil {
		l.written(out, b, n, err)
		return true
	}
	l.writers.Go(func() {
		more, err := l.nc.Write(out[n:])
		l.written(out, b, n+more, err)
		if do == dutyPart {
			l.finishPart()
		} else {
			l.flushAll()
		}
	})
	return false
}

// written ends a write of n bytes of out.
func (l *Link) written(out []byte, b *batch, n int, err error) {
	l.mu.Lock()
	b.sent, b.at = n, l.cfg.Timeouts.now()
	l.writing = false
	l.writeSince = 0
	if cap(out) <= keepWrite {
		l.spare = out[:0]
	}
	isDead := l.phase == dead
	l.mu.Unlock()
	if err != nil && !isDead {
		l.kill(err)
	}
	if err != nil || isDead {
		l.wrote.Broadcast()
	}
}

// finishPart takes over the promise of a flusher that found this caller writing.
func (l *Link) finishPart() {
	l.mu.Lock()
	mine := l.handover
	l.handover = false
	l.mu.Unlock()
	if mine {
		l.flush(true)
	}
}

// flush writes until nothing is queued. The caller has set flushing.
func (l *Link) flush(alone bool) {
	for round := 0; ; round++ {
		if !alone {
			l.join(0)
		}
		alone = false
		l.mu.Lock()
		if l.passOn() {
			l.mu.Unlock()
			return
		}
		if round >= 2 || !l.calm() {
			// Nobody writes for others for ever, and nobody who has something else to
			// do writes what might block.
			l.writers.Go(l.flushAll)
			l.mu.Unlock()
			return
		}
		out, b := l.begin()
		l.mu.Unlock()
		if !l.writeCalmly(out, b, dutyFlush) {
			return
		}
	}
}

// passOn ends a flusher's duty where there is nothing to write or somebody else
// will; mu is held.
func (l *Link) passOn() bool {
	switch {
	case l.writing:
		l.handover = true
		return true
	case len(l.cur.calls) == 0 || l.phase == dead:
		l.flushing = false
		return true
	}
	return false
}

// flushAll is a flusher of its own that may block in Write.
func (l *Link) flushAll() {
	for {
		l.mu.Lock()
		if l.passOn() {
			l.mu.Unlock()
			return
		}
		out, b := l.begin()
		l.mu.Unlock()
		l.write(out, b)
	}
}

// join lets others run for as long as that makes the batch grow, until want have
// joined (0: no matter how many).
func (l *Link) join(want int) {
	last := -1
	for range joinYields {
		runtime.Gosched()
		l.mu.Lock()
		n := len(l.cur.calls)
		l.mu.Unlock()
		if n == last || want > 0 && n >= want {
			return
		}
		last = n
	}
}
