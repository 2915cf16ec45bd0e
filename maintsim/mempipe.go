package maintsim

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// duplex is a connection whose write side can be closed alone.
type duplex interface {
	net.Conn
	CloseWrite() error
}

// Limits of the in-memory connection to the embedded server. Requests push back
// early; replies must not, because the server writes published messages under
// its global lock.
const (
	maxQueuedRequests = 1 << 20
	maxQueuedReplies  = 256 << 20
)

var errPipeFull = errors.New("maintsim: reply buffer is full")

// newPipe returns the two ends of a buffered in-memory connection.
func newPipe() (client, server duplex) {
	up, down := newHalf(maxQueuedRequests), newHalf(maxQueuedReplies)
	down.refuse = true
	return &memConn{in: down, out: up}, &memConn{in: up, out: down}
}

// memConn is one end of a pipe.
type memConn struct {
	in, out *half // immutable
}

func (c *memConn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *memConn) Write(p []byte) (int, error) { return c.out.write(p) }

// CloseWrite lets the peer read what was written and then EOF.
func (c *memConn) CloseWrite() error {
	c.out.closeWrite()
	return nil
}

func (c *memConn) Close() error {
	c.out.closeWrite()
	c.in.closeRead()
	return nil
}

func (c *memConn) LocalAddr() net.Addr  { return memAddr{} }
func (c *memConn) RemoteAddr() net.Addr { return memAddr{} }

func (c *memConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *memConn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(t)
	return nil
}

// SetWriteDeadline does nothing: a write ends when the peer reads or closes.
func (c *memConn) SetWriteDeadline(time.Time) error { return nil }

type memAddr struct{}

func (memAddr) Network() string { return "mem" }
func (memAddr) String() string  { return "mem" }

// half is one direction of a pipe.
type half struct {
	limit  int  // immutable
	refuse bool // a write over the limit fails instead of waiting; immutable

	mu       sync.Mutex // guards the fields below
	readable sync.Cond  // L is &mu
	writable sync.Cond  // L is &mu
	buf      []byte     // buf[r:] was written and not read
	r        int
	noWriter bool
	noReader bool
	deadline time.Time   // of reads; zero means none
	timer    *time.Timer // wakes readers at deadline
}

func newHalf(limit int) *half {
	h := &half{limit: limit}
	h.readable.L, h.writable.L = &h.mu, &h.mu
	return h
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.r == len(h.buf) {
		switch {
		case h.noReader:
			return 0, net.ErrClosed
		case h.noWriter:
			return 0, io.EOF
		case !h.deadline.IsZero() && !time.Now().Before(h.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		h.readable.Wait()
	}
	n := copy(p, h.buf[h.r:])
	h.r += n
	if h.r == len(h.buf) {
		h.r, h.buf = 0, h.buf[:0]
		if cap(h.buf) > 1<<20 {
			h.buf = nil
		}
	}
	h.writable.Signal()
	return n, nil
}

func (h *half) write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.buf)-h.r >= h.limit && !h.noReader && !h.noWriter {
		if h.refuse {
			return 0, errPipeFull
		}
		h.writable.Wait()
	}
	if h.noReader || h.noWriter {
		return 0, net.ErrClosed
	}
	if h.r > 0 && len(h.buf)+len(p) > cap(h.buf) {
		h.buf = h.buf[:copy(h.buf, h.buf[h.r:])]
		h.r = 0
	}
	h.buf = append(h.buf, p...)
	h.readable.Signal()
	return len(p), nil
}

func (h *half) closeWrite() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noWriter = true
	h.readable.Broadcast()
	h.writable.Broadcast()
}

func (h *half) closeRead() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noReader, h.buf, h.r = true, nil, 0
	if h.timer != nil {
		h.timer.Stop()
	}
	h.readable.Broadcast()
	h.writable.Broadcast()
}

func (h *half) setDeadline(t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	h.deadline = t
	if !t.IsZero() {
		h.timer = time.AfterFunc(time.Until(t), func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.readable.Broadcast()
		})
	}
}
