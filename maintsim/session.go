package maintsim

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// A session is one client connection and the connection to the server that
// belongs to it.
//
// Three goroutines serve it: readCommands takes commands from the client and
// forwards them, readReplies takes what the server sends and puts it in order
// with what the proxy answers itself, writeReplies sends to the client. run
// starts and awaits them; end makes them leave.
//
// Lock order: Sim.mu, then session.mu. No lock is held across I/O on sockets.
type session struct {
	sim   *Sim
	proxy *proxy
	gen   int // the proxy's generation at accept
	id    int64
	tcp   *net.TCPConn
	conn  net.Conn // tcp, or TLS over it
	born  time.Time

	wake    chan struct{} // of capacity 1: there is something to write
	drained chan struct{} // of capacity 1: out was taken
	ended   chan struct{} // closed by end
	closed  chan struct{} // closed when the client's socket has got its end
	settled chan struct{} // closed when the server has executed what was forwarded

	proto atomic.Int32 // as negotiated by HELLO
	raw   atomic.Bool  // neither commands nor replies are looked for
	maint string       // endpoint type of the opt-in, "" without; guarded by Sim.mu

	in      input        // owned by readCommands
	scan    resp.Scanner // owned by readReplies
	replies []byte       // owned by readReplies
	rng     *rand.Rand   // owned by writeReplies; nil until it is needed

	mu struct {
		sync.Mutex
		how        ending
		backend    duplex // replaced by renew only
		fifo       fifo
		out        []byte // whole frames for the client
		outReplies int    // replies among them
		missed     []byte // to be announced behind missedIn further replies
		missedIn   int
		held       bool // no command may be forwarded: a blocking one is out
		renew      renewal
		renewText  string
		renewed    chan bool // answers the renewal; of capacity 1

		authed     bool
		monitor    bool
		subscriber bool // has ever been one
		db         string
		name       string
		libName    string
		libVer     string
	}
}

// ending is how a session ends.
type ending uint8

const (
	endNot    ending = iota
	endGone          // the client closed, or broke the protocol
	endFlush         // FIN after what was answered
	endFIN           // FIN at once, replies in hand are dropped
	endReset         // RST at once
	endSilent        // nothing is sent any more, not even FIN
)

const (
	bufferSize    = 16 << 10
	maxBuffered   = 4 << 20  // replies waiting for a client; above it, reading pauses
	maxPending    = 64 << 20 // commands read but not forwarded
	keepBuffer    = 1 << 20  // larger buffers are given back
	lingerTimeout = time.Second
	drainTimeout  = 2 * time.Second
	nudgeInterval = 2 * time.Millisecond
	tlsTimeout    = 10 * time.Second
)

// run serves the session until both sides are closed.
func (s *session) run() {
	defer s.sim.remove(s)
	defer s.tcp.Close()
	if err := s.handshake(); err != nil {
		s.sim.cfg.Logger.Debug("maintsim: session refused", slog.Int64("id", s.id), slog.Any("err", err))
		s.end(endGone)
		close(s.closed)
		close(s.settled)
		return
	}
	var wg sync.WaitGroup
	wg.Go(s.readReplies)
	wg.Go(s.writeReplies)
	s.readCommands()
	s.end(endGone)
	wg.Wait()
}

// handshake does TLS, if configured, and connects to the server.
func (s *session) handshake() error {
	s.passHang()
	ctx, cancel := context.WithTimeout(s.sim.ctx, tlsTimeout)
	defer cancel()
	if c, ok := s.conn.(*tls.Conn); ok {
		if err := c.HandshakeContext(ctx); err != nil {
			return err
		}
	}
	backend, err := s.sim.dialBackend(ctx, s.proxy)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.how != endNot {
		_ = backend.Close()
		return ErrClosed
	}
	s.mu.backend = backend
	return nil
}

// end ends the session, unless it is ending already, and returns how many
// commands the client gets no reply to.
func (s *session) end(how ending) (inFlight int) {
	s.mu.Lock()
	if s.mu.how != endNot {
		s.mu.Unlock()
		return 0
	}
	s.mu.how = how
	inFlight = s.mu.fifo.total
	if how != endFlush {
		inFlight += s.mu.outReplies
		s.mu.out, s.mu.outReplies = nil, 0
	}
	backend, renewed := s.mu.backend, s.mu.renewed
	s.mu.renewed = nil
	close(s.ended)
	s.mu.Unlock()

	if renewed != nil {
		renewed <- false
	}
	switch how {
	case endReset:
		_ = s.tcp.SetLinger(0)
		_ = s.tcp.Close()
	case endGone:
		_ = s.tcp.Close()
	case endFlush, endFIN:
		_ = s.conn.SetWriteDeadline(time.Now().Add(lingerTimeout))
	case endSilent:
		_ = s.conn.SetWriteDeadline(time.Now())
	case endNot:
	}
	if backend == nil {
		_ = s.tcp.Close() // handshake hasn't come that far
	} else {
		// What was forwarded is executed, so the server gets to read it all.
		_ = backend.CloseWrite()
		wait := drainTimeout
		if s.sim.engine.Embedded() {
			wait = 0
		}
		_ = backend.SetReadDeadline(time.Now().Add(wait))
	}
	return inFlight
}

// kill ends the session without regard for anything in flight.
func (s *session) kill() {
	s.end(endGone)
	_ = s.tcp.Close() // endSilent leaves it open
	s.mu.Lock()
	backend := s.mu.backend
	s.mu.Unlock()
	if backend != nil {
		_ = backend.Close()
	}
}

func (s *session) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// readCommands takes commands from the client until the session has ended and
// the client's side is closed.
func (s *session) readCommands() {
	for {
		s.in.makeRoom()
		n, err := s.conn.Read(s.in.free())
		s.in.buf = s.in.buf[:len(s.in.buf)+n]
		if s.hasEnded() {
			s.in.buf = s.in.buf[:0]
			if err != nil {
				return
			}
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.deadline(time.Time{})
			err = nil
		}
		s.passHang()
		if bad := s.takeCommands(); bad != nil {
			s.refuse()
			continue
		}
		if err != nil {
			return
		}
		s.waitDrained()
	}
}

// deadline sets the deadline of reads from the client, unless the session has
// ended: then it belongs to writeReplies.
func (s *session) deadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.how == endNot {
		_ = s.conn.SetReadDeadline(t)
	}
}

// unholdLocked lets commands be forwarded again, those read meanwhile included.
func (s *session) unholdLocked() {
	s.mu.held = false
	if s.mu.how == endNot {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // wakes readCommands
	}
}

// readReplies takes what the server sends until it closes.
func (s *session) readReplies() {
	backend := s.mu.backend // set by handshake, before this goroutine began
	defer close(s.settled)
	defer func() { _ = backend.Close() }()
	for {
		s.replies = makeRoom(s.replies)
		n, err := backend.Read(s.replies[len(s.replies):cap(s.replies)])
		s.replies = s.replies[:len(s.replies)+n]
		if n > 0 {
			if !s.raw.Load() {
				s.sim.passGate(s.ended)
			}
			used, bad := s.deliver(s.replies)
			s.replies = discard(s.replies, used)
			if bad != nil {
				s.sim.cfg.Logger.Warn("maintsim: server broke the protocol", slog.Any("err", bad))
				s.end(endFlush)
				return
			}
		}
		switch {
		case err == nil:
			s.waitDrained()
		case errors.Is(err, os.ErrDeadlineExceeded):
			if !s.sim.engine.Embedded() {
				s.end(endFlush)
				return
			}
			// The session or its server side is to end, which a blocked
			// command notices when it is nudged.
			s.sim.engine.embedded.nudge()
			_ = backend.SetReadDeadline(time.Now().Add(nudgeInterval))
		default:
			next := s.renewBackend()
			if next == nil {
				s.end(endFlush)
				return
			}
			_ = backend.Close()
			backend, s.replies = next, s.replies[:0]
			s.scan.Reset()
		}
	}
}

// writeReplies sends to the client until the session has ended, and then ends
// the connection the way it is to end.
func (s *session) writeReplies() {
	defer close(s.closed)
	var buf []byte
	for {
		select {
		case <-s.wake:
		case <-s.ended:
		}
		s.passHang()
		w := s.sim.writes.Load()
		if w != nil {
			w.gather(s.ended)
		}
		s.mu.Lock()
		buf, s.mu.out = s.mu.out, buf[:0]
		s.mu.outReplies = 0
		how := s.mu.how
		s.mu.Unlock()
		notify(s.drained)
		if len(buf) > 0 {
			if err := s.write(buf, w); err != nil && how == endNot {
				s.end(endGone)
				return
			}
			if cap(buf) > keepBuffer {
				buf = nil
			}
		}
		switch how {
		case endNot:
			continue
		case endFlush, endFIN:
			s.farewell()
		case endGone, endReset, endSilent:
		}
		return
	}
}

// write sends b to the client the way w says; nil is at once and in one piece.
func (s *session) write(b []byte, w *Writes) error {
	if w == nil {
		_, err := s.conn.Write(b)
		return err
	}
	if s.rng == nil {
		s.rng = rand.New(rand.NewPCG(s.sim.cfg.Seed, uint64(s.id)))
	}
	return w.write(s.conn, b, s.rng, s.ended)
}

// farewell closes the write side and bounds how long readCommands goes on to
// read: closing a socket with unread bytes would turn the FIN into an RST and
// could take replies with it.
func (s *session) farewell() {
	if c, ok := s.conn.(*tls.Conn); ok {
		_ = c.CloseWrite()
	}
	_ = s.tcp.CloseWrite()
	_ = s.conn.SetReadDeadline(time.Now().Add(lingerTimeout))
}

// push sends a whole frame nobody asked for, after what is to be announced.
func (s *session) push(b []byte) {
	s.mu.Lock()
	if s.mu.how == endNot {
		s.announceLocked()
		s.mu.out = append(s.mu.out, b...)
	}
	s.mu.Unlock()
	notify(s.wake)
}

// reply answers one command.
func (s *session) reply(b []byte) {
	s.mu.Lock()
	s.replyLocked(b)
	s.mu.Unlock()
	notify(s.wake)
}

func (s *session) replyLocked(b []byte) {
	if s.mu.how == endNot {
		s.mu.out = append(s.mu.out, b...)
		s.mu.outReplies++
		s.trailLocked()
	}
}

// replyThen answers one command, and announces missed behind n further replies.
func (s *session) replyThen(b, missed []byte, n int) {
	s.mu.Lock()
	s.replyLocked(b)
	s.mu.missed, s.mu.missedIn = missed, n
	s.mu.Unlock()
	notify(s.wake)
}

// announce sends what waits for further replies.
func (s *session) announce() {
	s.mu.Lock()
	s.announceLocked()
	s.mu.Unlock()
	notify(s.wake)
}

func (s *session) announceLocked() {
	if s.mu.how == endNot && s.mu.missed != nil {
		s.mu.out = append(s.mu.out, s.mu.missed...)
		s.mu.missed = nil
	}
}

// trailLocked appends what follows a reply to a command of the handshake.
func (s *session) trailLocked() {
	if s.sim.cfg.HandshakePush != "" && s.proto.Load() == 3 {
		s.mu.out = append(s.mu.out, s.sim.cfg.HandshakePush...)
	}
	if s.mu.missed != nil {
		if s.mu.missedIn--; s.mu.missedIn <= 0 {
			s.announceLocked()
		}
	}
}

// waitDrained blocks while too much is waiting for the client.
func (s *session) waitDrained() {
	for {
		s.mu.Lock()
		full := len(s.mu.out) > maxBuffered
		s.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-s.drained:
		case <-s.ended:
			return
		}
	}
}

// notify puts a token into c, a channel of capacity 1, unless one is there.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// makeRoom returns b with free capacity to read into.
func makeRoom(b []byte) []byte {
	switch {
	case len(b) == 0 && cap(b) > keepBuffer, cap(b) == 0:
		return make([]byte, 0, bufferSize)
	case cap(b)-len(b) >= cap(b)/4:
		return b
	}
	return append(make([]byte, 0, 2*cap(b)), b...)
}

// discard returns b without its first n bytes, in the same memory.
func discard(b []byte, n int) []byte {
	if n == 0 {
		return b
	}
	return b[:copy(b, b[n:])]
}
