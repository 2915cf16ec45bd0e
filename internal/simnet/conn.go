package simnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// The two ends of a connection, and of a wire's arrays.
const (
	dialler  = 0
	acceptor = 1
)

// maxSegment is how many bytes arrive together if the bandwidth is limited.
const maxSegment = 1 << 10

// wire is one connection with both ends.
type wire struct {
	n        *Network // immutable, as are target and accepted
	target   string   // address dialled
	accepted string   // address of the listener
	ends     [2]*Conn // immutable; what is in them is guarded by mu

	mu      sync.Mutex // guards the fields below
	flow    [2]flow    // what the end with that index has sent
	reset   bool
	cutOff  bool // FIN by a cut
	hole    bool
	holeAt  time.Time     // when the hole began; only if hole
	changed chan struct{} // nil, or closed at the next change
}

// flow is one direction.
type flow struct {
	segments []segment
	size     int       // bytes in segments
	busy     time.Time // until when earlier segments occupy the bandwidth
	last     time.Time // arrival of the last segment: nothing overtakes
	fin      bool      // the last segment is a FIN
	deaf     bool      // the receiving end is gone: what is sent is lost
	resetAt  time.Time // if deaf: when the sender learns that; zero until it sends
}

// segment is bytes that arrive together, or a FIN.
type segment struct {
	data []byte
	fin  bool
	at   time.Time // of arrival
}

// newWire returns an open connection.
func newWire(n *Network, target, accepted string, local, remote net.Addr) *wire {
	w := &wire{n: n, target: target, accepted: accepted}
	w.ends[dialler] = &Conn{w: w, side: dialler, local: local, remote: remote}
	w.ends[acceptor] = &Conn{w: w, side: acceptor, local: remote, remote: local}
	return w
}

// A Conn is one end of a connection. It is a net.Conn like *net.TCPConn, with
// its errors: *net.OpError around net.ErrClosed, os.ErrDeadlineExceeded,
// syscall.ECONNRESET and syscall.EPIPE, and a bare io.EOF. When the other end
// has closed, the first write is still accepted, and lost; those that come
// after a round trip fail with syscall.EPIPE.
type Conn struct {
	w             *wire // immutable, as are side, local and remote
	side          int
	local, remote net.Addr

	// Guarded by w.mu.
	readBy, writeBy time.Time // deadlines; zero is none
	closed          bool
	writeClosed     bool // by CloseWrite
}

// broadcast wakes everybody who waits. w.mu is held.
func (w *wire) broadcast() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

// waiting returns the channel that is closed at the next change. w.mu is held.
func (w *wire) waiting() <-chan struct{} {
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return w.changed
}

// open reports whether neither end has closed and nothing was cut.
func (w *wire) open() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.reset && !w.cutOff && !w.ends[dialler].closed && !w.ends[acceptor].closed
}

// cut ends the connection from outside.
func (w *wire) cut(how How, latency time.Duration) {
	w.mu.Lock()
	switch how {
	case FIN:
		if !w.cutOff {
			w.cutOff = true
			for side := range w.flow {
				w.sendFIN(side, latency)
				w.flow[side].deaf = true
			}
		}
	case RST:
		w.reset = true
		for side := range w.flow {
			w.flow[side].segments, w.flow[side].size = nil, 0
		}
	}
	w.broadcast()
	w.mu.Unlock()
	if how == RST {
		w.n.forget(w)
	}
}

// sendFIN sends a FIN from side. w.mu is held.
func (w *wire) sendFIN(side int, latency time.Duration) {
	f := &w.flow[side]
	if f.fin {
		return
	}
	f.fin = true
	f.last = w.arrival(latest(time.Now(), f.busy).Add(latency), f)
	f.segments = append(f.segments, segment{fin: true, at: f.last})
}

// setHole begins or ends the loss of everything under way.
func (w *wire) setHole(on bool, latency time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	switch {
	case on == w.hole:
		return
	case on:
		w.holeAt = now
	default: // it is sent again now
		for side := range w.flow {
			f := &w.flow[side]
			for i := range f.segments {
				if s := &f.segments[i]; s.at.After(w.holeAt) {
					s.at = latest(s.at, now.Add(latency))
					f.last = s.at
				}
			}
		}
	}
	w.hole = on
	w.broadcast()
}

// arrived reports whether s can be read at now. w.mu is held.
func (w *wire) arrived(s segment, now time.Time) bool {
	if w.hole && s.at.After(w.holeAt) {
		return false
	}
	return !s.at.After(now)
}

// arrival returns when a segment of f arrives that would at the time at if it
// were alone. w.mu is held.
func (w *wire) arrival(at time.Time, f *flow) time.Time {
	if w.hole && !at.After(w.holeAt) {
		at = w.holeAt.Add(1) // only what had arrived before the hole gets through
	}
	return latest(at, f.last)
}

// push sends as much of p as fits and returns how much that is. w.mu is held.
func (w *wire) push(side int, p []byte, l link) int {
	f := &w.flow[side]
	now := time.Now()
	sent := 0
	for len(p) > 0 && f.size < l.buffer {
		chunk := p[:min(len(p), l.buffer-f.size)]
		f.busy = latest(f.busy, now)
		if l.bandwidth > 0 {
			chunk = chunk[:min(len(chunk), maxSegment)]
			f.busy = f.busy.Add(time.Duration(len(chunk)) * time.Second / time.Duration(l.bandwidth))
		}
		at := w.arrival(f.busy.Add(l.latency), f)
		f.last = at
		if last := len(f.segments) - 1; last >= 0 && f.segments[last].at.Equal(at) {
			f.segments[last].data = append(f.segments[last].data, chunk...)
		} else {
			f.segments = append(f.segments, segment{data: append([]byte(nil), chunk...), at: at})
		}
		f.size += len(chunk)
		sent += len(chunk)
		p = p[len(chunk):]
	}
	return sent
}

// pull reads what has arrived from side into p. w.mu is held.
func (w *wire) pull(side int, p []byte, now time.Time) (n int, eof bool) {
	f := &w.flow[side]
	for n < len(p) && len(f.segments) > 0 && w.arrived(f.segments[0], now) {
		s := &f.segments[0]
		if s.fin {
			return n, n == 0
		}
		m := copy(p[n:], s.data)
		n += m
		f.size -= m
		s.data = s.data[m:]
		if len(s.data) == 0 {
			f.segments[0] = segment{}
			f.segments = f.segments[1:]
		}
	}
	return n, false
}

// Read reads what has arrived, at least one byte, waiting for it if need be.
func (c *Conn) Read(p []byte) (int, error) {
	w, peer := c.w, 1-c.side
	for {
		w.mu.Lock()
		now := time.Now()
		switch {
		case c.closed:
			w.mu.Unlock()
			return 0, c.fail("read", net.ErrClosed)
		case w.reset:
			w.mu.Unlock()
			return 0, c.fail("read", os.NewSyscallError("read", syscall.ECONNRESET))
		case expired(c.readBy, now):
			w.mu.Unlock()
			return 0, c.fail("read", os.ErrDeadlineExceeded)
		case len(p) == 0:
			w.mu.Unlock()
			return 0, nil
		}
		n, eof := w.pull(peer, p, now)
		if n > 0 {
			w.broadcast() // there is space again
			w.mu.Unlock()
			return n, nil
		}
		if eof {
			w.mu.Unlock()
			return 0, io.EOF
		}
		until := c.readBy
		if s := w.flow[peer].segments; len(s) > 0 && s[0].at.After(now) && !w.hole {
			if until.IsZero() || s[0].at.Before(until) {
				until = s[0].at
			}
		}
		changed := w.waiting()
		w.mu.Unlock()
		wait(nil, changed, until)
	}
}

// Write sends p, waiting for space if need be. It returns how many bytes were
// sent also if it fails.
func (c *Conn) Write(p []byte) (int, error) {
	w := c.w
	sent := 0
	for {
		l := w.n.link(w.target)
		w.mu.Lock()
		now := time.Now()
		f := &w.flow[c.side]
		switch {
		case c.closed:
			w.mu.Unlock()
			return sent, c.fail("write", net.ErrClosed)
		case w.reset:
			w.mu.Unlock()
			return sent, c.fail("write", os.NewSyscallError("write", syscall.ECONNRESET))
		case expired(c.writeBy, now):
			w.mu.Unlock()
			return sent, c.fail("write", os.ErrDeadlineExceeded)
		case c.writeClosed, f.deaf && expired(f.resetAt, now):
			w.mu.Unlock()
			return sent, c.fail("write", os.NewSyscallError("write", syscall.EPIPE))
		case f.deaf && len(p) > 0:
			if f.resetAt.IsZero() && !w.hole {
				f.resetAt = now.Add(2 * l.latency)
			}
			w.mu.Unlock()
			return sent + len(p), nil
		}
		if n := w.push(c.side, p, l); n > 0 {
			sent += n
			p = p[n:]
			w.broadcast()
		}
		if len(p) == 0 {
			w.mu.Unlock()
			return sent, nil
		}
		until := c.writeBy
		changed := w.waiting()
		w.mu.Unlock()
		wait(nil, changed, until)
	}
}

// Close closes this end. The other one reads what was sent, then io.EOF.
func (c *Conn) Close() error {
	w := c.w
	latency := w.n.link(w.target).latency
	w.mu.Lock()
	if c.closed {
		w.mu.Unlock()
		return c.fail("close", net.ErrClosed)
	}
	c.closed = true
	w.sendFIN(c.side, latency)
	f := &w.flow[1-c.side]
	f.deaf, f.segments, f.size = true, nil, 0
	both := w.ends[1-c.side].closed
	w.broadcast()
	w.mu.Unlock()
	if both {
		w.n.forget(w)
	}
	return nil
}

// CloseWrite ends what this end sends: the other one reads io.EOF after it.
// Reading goes on.
func (c *Conn) CloseWrite() error {
	w := c.w
	latency := w.n.link(w.target).latency
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.closed {
		return c.fail("close", net.ErrClosed)
	}
	c.writeClosed = true
	w.sendFIN(c.side, latency)
	w.broadcast()
	return nil
}

// Cut cuts the connection of which c is an end.
func (c *Conn) Cut(how How) { c.w.cut(how, c.w.n.link(c.w.target).latency) }

// Peer returns the other end, for a test to look at.
func (c *Conn) Peer() *Conn { return c.w.ends[1-c.side] }

// Buffered returns how many bytes are under way to c or wait to be read.
func (c *Conn) Buffered() int {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return c.w.flow[1-c.side].size
}

// LocalAddr returns the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets the deadlines of reads and writes, those waiting included.
// The zero time is none.
func (c *Conn) SetDeadline(t time.Time) error {
	return c.setDeadlines(func() { c.readBy, c.writeBy = t, t })
}

// SetReadDeadline sets the deadline of reads, those waiting included.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.setDeadlines(func() { c.readBy = t })
}

// SetWriteDeadline sets the deadline of writes, those waiting included.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.setDeadlines(func() { c.writeBy = t })
}

// setDeadlines calls set under the lock and wakes those waiting.
func (c *Conn) setDeadlines(set func()) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.closed {
		return c.fail("set", net.ErrClosed)
	}
	set()
	c.w.broadcast()
	return nil
}

// fail returns err as an error of op on c.
func (c *Conn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// expired reports whether the deadline t has passed at now.
func expired(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }

// latest returns the latest of times.
func latest(first time.Time, times ...time.Time) time.Time {
	for _, t := range times {
		if t.After(first) {
			first = t
		}
	}
	return first
}
