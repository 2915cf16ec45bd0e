package maintsim

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Errors of scenarios.
var (
	// ErrClosed: the simulator was closed, before or meanwhile.
	ErrClosed = errors.New("maintsim: closed")
	// ErrNoTarget: no proxy is free to take over from the one that leaves.
	ErrNoTarget = errors.New("maintsim: no proxy to move to")
	// ErrLeaving: the proxy that is to leave, or the target, is leaving already.
	ErrLeaving = errors.New("maintsim: proxy is leaving already")
)

// A Sim is a simulated database. Its methods may be called from any goroutine.
//
// Lock order: Sim.mu, then session.mu; the event log's lock is taken alone.
type Sim struct {
	cfg     Config   // with defaults; immutable
	engine  *Engine  // immutable
	proxies []*proxy // immutable; what they hold is guarded by mu
	port    int      // immutable

	ctx    context.Context // ends at Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // accept loops, sessions, late resolver changes
	moves  chan struct{}  // of capacity 1: held while a rebind is being announced

	gate     atomic.Pointer[gate] // nil: replies flow
	commands atomic.Uint64
	answered atomic.Uint64
	events   eventLog

	mu struct {
		sync.Mutex
		closed    bool
		supported bool
		lastID    int64
		current   *proxy // the endpoint
		resolved  *proxy // where the database's name leads to
		seq       int64  // of the next notice
		windows   []*window
		retained  *completion // nil: nothing has completed
		stalls    int         // overlapping stalls
		notices   map[Notice]uint64
		cuts      []CutStats
		rng       *rand.Rand
	}
	closeOnce sync.Once
	closeErr  error // set by closeOnce
}

// New starts a simulator. The error says everything that is wrong with cfg, or
// why the server or the proxies could not be started.
func New(cfg Config) (*Sim, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sim{cfg: cfg, ctx: ctx, cancel: cancel, moves: make(chan struct{}, 1)}
	s.mu.supported = !cfg.Unsupported
	s.mu.notices = make(map[Notice]uint64)
	s.mu.rng = rand.New(rand.NewPCG(cfg.Seed, 0))
	if s.engine, err = cfg.Backend.start(ctx, cfg); err != nil {
		cancel()
		return nil, err
	}
	lns, err := listenAll(ctx, cfg.Hosts, cfg.Port)
	if err != nil {
		cancel()
		return nil, errors.Join(err, s.engine.close())
	}
	s.port = lns[0].Addr().(*net.TCPAddr).Port
	for i, ln := range lns {
		p := newProxy(i, cfg.Hosts[i], s.port)
		s.proxies = append(s.proxies, p)
		s.serve(p, ln)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.current, s.mu.resolved = s.proxies[0], s.proxies[0]
	return s, nil
}

// TB is what [Start] needs of a test or benchmark.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(func())
}

// Start is [New] for tests: it fails the test on an error and closes the
// simulator when the test ends.
func Start(tb TB, cfg Config) *Sim {
	tb.Helper()
	s, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Fatal(err)
		}
	})
	return s
}

// Close ends every connection, the proxies and the server the simulator
// started, and waits until all of it is gone. Scenarios that run end with
// [ErrClosed]. It may be called more than once.
func (s *Sim) Close() error {
	s.closeOnce.Do(func() {
		s.cancel()
		s.mu.Lock()
		s.mu.closed = true
		lns, _ := s.takeListenersLocked(func(*proxy) bool { return true })
		var sessions []*session
		for _, p := range s.proxies {
			sessions = slices.AppendSeq(sessions, maps.Keys(p.sessions))
		}
		s.mu.Unlock()
		closeAll(lns)
		for _, c := range sessions {
			c.kill()
		}
		s.closeErr = s.engine.close()
		s.wg.Wait()
	})
	return s.closeErr
}

// Addr is the address of the present endpoint, ip:port, which a client is to be
// configured with. It changes when a named rebind begins.
func (s *Sim) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.current.addr
}

// Name is the address of the database by name, [DBName] with the port. It never
// changes; [Sim.LookupHost] resolves it.
func (s *Sim) Name() string { return net.JoinHostPort(DBName, strconv.Itoa(s.port)) }

// Addrs are the addresses of all proxies, those included that refuse at present.
func (s *Sim) Addrs() []string {
	out := make([]string, len(s.proxies))
	for i, p := range s.proxies {
		out[i] = p.addr
	}
	return out
}

// Backend is the server behind the proxies.
func (s *Sim) Backend() *Engine { return s.engine }

// Support makes the proxies accept the opt-in command from now on.
func (s *Sim) Support() { s.setSupported(true) }

// Refuse makes the proxies refuse the opt-in command from now on. Connections
// that have opted in are told nothing any more.
func (s *Sim) Refuse() { s.setSupported(false) }

func (s *Sim) setSupported(supported bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.supported = supported
}

// A gate holds replies back until it is opened.
type gate struct {
	open chan struct{}
}

// passGate waits while replies are held back, unless the session ends.
func (s *Sim) passGate(ended <-chan struct{}) {
	for g := s.gate.Load(); g != nil; g = s.gate.Load() {
		select {
		case <-g.open:
		case <-ended:
			return
		}
	}
}

// holdReplies holds replies back until releaseReplies was called as often.
func (s *Sim) holdReplies() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stalls++; s.mu.stalls == 1 {
		s.gate.Store(&gate{open: make(chan struct{})})
	}
}

func (s *Sim) releaseReplies() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stalls--; s.mu.stalls == 0 {
		close(s.gate.Swap(nil).open)
	}
}

// tellLocked sends w's notice to the connections it concerns that opted in.
func (s *Sim) tellLocked(w *window) (told int) {
	now := time.Now()
	return s.broadcastLocked(w.notice, func(b []byte, c *session) []byte {
		if !w.concerns(c.proxy, c.gen) {
			return b
		}
		return w.appendTo(b, c.maint, now, s.cfg.TimeUnit)
	})
}

// broadcastLocked sends what frame appends to each connection that listens.
func (s *Sim) broadcastLocked(n Notice, frame func(b []byte, c *session) []byte) (told int) {
	if !s.mu.supported {
		return 0
	}
	var b []byte
	for _, p := range s.proxies {
		for c := range p.sessions {
			if c.maint == "" || c.proto.Load() != 3 || c.hasEnded() {
				continue
			}
			if b = frame(b[:0], c); len(b) > 0 {
				c.emit(b, 0)
				told++
			}
		}
	}
	if n != "" {
		s.mu.notices[n] += uint64(told)
	}
	return told
}

// Push sends frame, one complete RESP3 push or whatever is to be tried on a
// client, to every connection that opted in with RESP3, and returns how many that
// were. It lands between replies like any notice, and counts as none.
func (s *Sim) Push(frame string) (told int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broadcastLocked("", func(b []byte, _ *session) []byte { return append(b, frame...) })
}

// optIn answers CLIENT MAINT_NOTIFICATIONS ON with an endpoint type, and tells
// the connection what it missed.
func (s *Sim) optIn(c *session, endpointType string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := appendSimple(nil, "OK")
	first := c.maint == ""
	c.maint = endpointType
	if !first || c.proto.Load() != 3 {
		c.reply(b)
		return
	}
	if !s.cfg.RetainedLast {
		b = s.appendRetainedLocked(b)
	}
	now := time.Now()
	for _, w := range s.mu.windows {
		if w.concerns(c.proxy, c.gen) {
			b = w.appendTo(b, endpointType, now, s.cfg.TimeUnit)
			s.mu.notices[w.notice]++
		}
	}
	if s.cfg.RetainedLast {
		b = s.appendRetainedLocked(b)
	}
	c.reply(b)
}

func (s *Sim) appendRetainedLocked(b []byte) []byte {
	r := s.mu.retained
	if r == nil {
		return b
	}
	s.mu.notices[r.notice]++
	return appendClosing(b, r.notice, r.seq, r.shards)
}

// optOut forgets that c opted in.
func (s *Sim) optOut(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.maint = ""
}

// sessionsLocked returns the sessions match accepts that haven't ended, by id.
func (s *Sim) sessionsLocked(match func(*session) bool) []*session {
	var out []*session
	for _, p := range s.proxies {
		for c := range p.sessions {
			if match(c) && !c.hasEnded() {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b *session) int { return int(a.id - b.id) })
	return out
}
