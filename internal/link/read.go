package link

import (
	"fmt"

	"github.com/baton-go/redis/internal/resp"
)

// Start begins the link's life: from now on it is read, whether anybody waits for
// a reply or not, so that a push on an idle link is seen at once. The pushes that
// came during the handshake are delivered first.
func (l *Link) Start() {
	if l.cfg.Readers != nil {
		l.cfg.Readers.Go(l.readLoop)
		return
	}
	go l.readLoop()
}

// readLoop is the reader; it owns the link's end.
func (l *Link) readLoop() {
	for _, frame := range l.early {
		l.pushed(frame)
	}
	l.early = nil
	_, err := l.digest() // what the handshake has read beyond its own replies
	if err == nil && l.cfg.soloAfter < 0 && !l.cfg.Subscriber {
		l.lone = 1
		l.letGo(1)
		err = l.Err()
	}
	for err == nil {
		l.makeSpace()
		var n, answered int
		n, err = l.read()
		if n > 0 {
			l.w += n
			var bad error
			if answered, bad = l.digest(); bad != nil {
				err = bad
			}
		}
		if err != nil && !l.broken(err) {
			err = nil
		}
		if err == nil && answered > 0 {
			l.letGo(answered)
			err = l.Err()
		}
	}
	l.bury(err)
}

// read waits for bytes. Where replies are due it may poll for a while.
func (l *Link) read() (int, error) {
	polls := l.mayPoll()
	switch {
	case l.gate == nil && polls:
		return l.poller.read(l.nc, l.rbuf[l.w:])
	case l.gate == nil:
		return l.nc.Read(l.rbuf[l.w:])
	case polls && !l.gate.ready():
		if err := l.gate.fill(func(buf []byte) (int, error) { return l.poller.read(l.gate.Conn, buf) }); err != nil {
			return 0, err
		}
	}
	return l.gate.readAll(l.nc, l.rbuf[l.w:])
}

// mayPoll tells whether replies are due, but not too many, on a socket that can be polled.
func (l *Link) mayPoll() bool { return l.poller.raw != nil && l.due > 0 && l.due < pollMost }

// digest deals with what has been read: it promises to write what the callers it
// is about to wake will queue, gives out the replies, lets those callers run, and
// keeps the promise. So a batch is as large as the one before, without any timer.
func (l *Link) digest() (answered int, err error) {
	if l.r == l.w {
		return 0, nil
	}
	l.mu.Lock()
	l.lastRead = l.cfg.Timeouts.now()
	// A caller who seems to be alone is not waited for: see letGo.
	promised := !l.flushing && l.inflight > 0 && (l.lone < l.cfg.soloAfter || l.inflight > 1)
	if promised {
		l.flushing = true
	}
	l.flushAt = l.part()
	l.parsing = true
	l.mu.Unlock()
	answered, err = l.parse()
	if err != nil {
		return answered, err // parsing stays set: nobody but bury looks at got any more
	}
	if promised && answered > 0 {
		l.join(answered)
	}
	l.mu.Lock()
	l.tally(answered)
	empty := l.drained()
	l.mu.Unlock()
	if promised {
		l.flushOnce()
		l.mu.Lock()
		l.due = l.inflight
		l.mu.Unlock()
	}
	if empty {
		l.kill(ErrDraining)
	}
	return answered, nil
}

// tally takes in that calls were answered, and ends the parsing; mu is held.
func (l *Link) tally(answered int) {
	l.parsing = false
	l.inflight -= answered
	l.due = l.inflight
	l.poller.answered(answered)
	if l.room != nil && l.inflight < maxInFlight/2 && len(l.buf) < maxQueued/2 {
		l.letIn()
	}
}

// flushOnce keeps the reader's promise with one write at most; what gathers during
// that write is left to a flusher of its own.
func (l *Link) flushOnce() {
	l.mu.Lock()
	if l.passOn() {
		l.mu.Unlock()
		return
	}
	if !l.calm() {
		l.writers.Go(l.flushAll)
		l.mu.Unlock()
		return
	}
	out, b := l.begin()
	l.mu.Unlock()
	if !l.writeCalmly(out, b, dutyFlush) {
		return
	}
	l.mu.Lock()
	if !l.passOn() {
		l.writers.Go(l.flushAll)
	}
	l.mu.Unlock()
}

// parse gives every complete frame in the buffer to whom it belongs, and counts
// the calls that are answered with that.
func (l *Link) parse() (answered int, err error) {
	for l.r < l.w {
		b := l.rbuf[l.r:l.w]
		n, err := l.scanner.Next(b)
		if err != nil {
			return answered, fmt.Errorf("the reply can't be understood, so the connection is given up: %w", err)
		}
		if n == 0 {
			return answered, nil
		}
		frame := b[:n:n]
		l.r += n
		if l.cfg.Subscriber || isPush(frame) {
			l.pushed(frame)
			continue
		}
		if l.got == nil && !l.nextBatch() {
			return answered, unexpected(frame)
		}
		c := l.got.calls[l.next]
		size := c.size // once the last reply is taken, the call is its caller's
		apart := l.aside != nil
		if apart { // nobody else uses this buffer any more
			l.rbuf, l.aside, l.r, l.w = l.aside, nil, 0, 0
		}
		if c.take(frame, apart) {
			answered++
			l.got.calls[l.next] = nil
			l.next++
			l.start += size
			if l.next == len(l.got.calls) {
				l.nextBatch()
			}
		}
	}
	return answered, nil
}

func (l *Link) pushed(frame []byte) {
	if l.cfg.OnPush != nil {
		l.cfg.OnPush(l, frame)
	}
}

// isPush tells whether a frame is a push, with or without an attribute before it.
func isPush(frame []byte) bool {
	switch frame[0] {
	case '>':
		return true
	case '|':
		r := resp.NewReader(frame)
		return r.Kind() == resp.KindPush
	}
	return false
}

func unexpected(frame []byte) error {
	const most = 80
	return fmt.Errorf("%w: %.*q", ErrUnexpectedReply, most, frame[:min(len(frame), most)])
}

// nextBatch goes to the batch whose replies come next; false: there is none.
func (l *Link) nextBatch() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.got; b != nil {
		l.unread -= b.size
		b.calls = b.calls[:0]
		l.free = append(l.free, b)
		l.got = nil
	}
	l.next, l.start = 0, 0
	if l.head == len(l.fifo) {
		return false
	}
	l.got = l.fifo[l.head]
	l.fifo[l.head] = nil
	l.head++
	if l.head > len(l.fifo)/2 { // also on a link that is never idle: the queue must stay small
		n := copy(l.fifo, l.fifo[l.head:])
		clear(l.fifo[n:])
		l.fifo, l.head = l.fifo[:n], 0
	}
	return true
}

// makeSpace makes room to read into: it moves what is left to the front, grows the
// buffer no faster than bytes really come, and lets go of a buffer that grew large.
func (l *Link) makeSpace() {
	if l.w == len(l.rbuf) && l.aside == nil {
		l.widen()
	}
	if l.r == l.w {
		l.shrink(l.w)
		l.r, l.w = 0, 0
		return
	}
	if l.setApart() {
		return
	}
	if l.r > 0 && len(l.rbuf)-l.w < len(l.rbuf)/4 {
		l.w = copy(l.rbuf, l.rbuf[l.r:l.w])
		l.r = 0
	}
	if l.w == len(l.rbuf) {
		grown := make([]byte, 2*len(l.rbuf))
		copy(grown, l.rbuf[l.r:l.w])
		l.rbuf = grown
		l.w -= l.r
		l.r = 0
	}
}

// widest is how large the buffer of a shared link becomes because reads fill it, so that
// more replies are dealt with together.
const widest = 512 << 10

// widen makes a buffer larger that was filled twice in a row.
func (l *Link) widen() {
	if l.cfg.WatchContexts || len(l.rbuf) >= widest {
		return
	}
	if l.filled++; l.filled < 2 {
		return
	}
	buf := make([]byte, 2*len(l.rbuf))
	l.w = copy(buf, l.rbuf[l.r:l.w])
	l.rbuf, l.r, l.filled = buf, 0, 0
}

// apartBytes is from which size on a string has a buffer of its own, and apartStep how
// many times larger than what has come that may be: a peer may announce what it likes.
const (
	apartBytes = 64 << 10
	apartStep  = 32
)

// setApart gives a large string that is coming a buffer of its own, as large as its
// frame, so that its caller can have it without a copy. It is false where there is none,
// or the buffer has room still.
func (l *Link) setApart() bool {
	have := l.w - l.r
	if l.aside != nil && l.w < len(l.rbuf) {
		return true
	}
	need := l.scanner.Need()
	if need < apartBytes || resp.Kind(l.rbuf[l.r]) != resp.KindBulk || l.cfg.Subscriber {
		return false
	}
	buf := make([]byte, min(need, max(apartStep*have, apartBytes)))
	copy(buf, l.rbuf[l.r:l.w])
	if l.aside == nil {
		l.aside = l.rbuf
	}
	l.rbuf, l.r, l.w = buf, 0, have
	return true
}

// shrink lets go of an empty buffer that grew larger than is needed: used bytes of it
// were by the last read. A large one is kept for a while, for the next large reply.
func (l *Link) shrink(used int) {
	size := l.readBuffer()
	if len(l.rbuf) <= size {
		return
	}
	l.slack++
	if used > len(l.rbuf)/4 {
		l.slack = 0
	}
	if len(l.rbuf) > l.keep() || l.slack >= slackMost {
		l.rbuf, l.slack = make([]byte, size), 0
	}
}

func (l *Link) readBuffer() int {
	if l.cfg.ReadBuffer > 0 {
		return max(l.cfg.ReadBuffer, 1<<10)
	}
	return defaultReadBuffer
}
