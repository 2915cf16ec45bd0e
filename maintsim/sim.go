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
	cluster *Cluster // immutable; nil for a database

	sentinels *Sentinels // immutable; that the proxies imitate; nil for servers
	// switched is told of each move of the endpoint; nil: nobody is. Immutable from the
	// first scenario on.
	switched func(old, next *proxy)

	ctx    context.Context // ends at Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // accept loops, sessions, late resolver changes
	moves  chan struct{}  // of capacity 1: held while a rebind is being announced

	gate     atomic.Pointer[gate]    // nil: replies flow
	writes   atomic.Pointer[Writes]  // nil: at once and in one piece
	version  atomic.Pointer[string]  // in HELLO and INFO; empty: the server's own
	lookups  atomic.Pointer[lookups] // nil: the resolver is well
	lookedUp atomic.Uint64
	commands atomic.Uint64
	answered atomic.Uint64
	events   eventLog

	mu struct {
		sync.Mutex
		closed bool
		optIn  optInMode
		lastID int64

		// members are the proxies of the endpoint, and resolved those the
		// database's name leads to, by slot; nil for a slot that was given up.
		members, resolved []*proxy

		seq      int64 // of the next notice
		windows  []*window
		retained *completion // nil: nothing has completed
		stalls   int         // overlapping stalls
		notices  map[Notice]uint64
		cuts     []CutStats
		rng      *rand.Rand
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
	return newSimOf(cfg, nil)
}

// newSimOf is New of a configuration that has its defaults. The proxies are those of
// sentinels if there are any.
func newSimOf(cfg Config, sentinels *Sentinels) (s *Sim, err error) {
	s = newSim(cfg)
	s.sentinels = sentinels
	if s.engine, err = cfg.Backend.start(s.ctx, cfg); err != nil {
		s.cancel()
		return nil, err
	}
	lns, err := s.listen()
	if err != nil {
		s.cancel()
		return nil, errors.Join(err, s.engine.close())
	}
	for i, ln := range lns {
		s.serve(s.proxies[i], ln, nil)
	}
	return s, nil
}

// newSim makes a simulator that has neither a server nor proxies yet. cfg has its
// defaults.
func newSim(cfg Config) *Sim {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sim{cfg: cfg, ctx: ctx, cancel: cancel, moves: make(chan struct{}, 1)}
	if cfg.Unsupported {
		s.mu.optIn = optInRefused
	}
	s.mu.seq = cfg.FirstSeq
	s.SetVersion(cfg.Version)
	s.mu.notices = make(map[Notice]uint64)
	s.mu.rng = rand.New(rand.NewPCG(cfg.Seed, 0))
	s.SetWrites(cfg.Writes)
	return s
}

// listen makes the proxies, which don't accept yet, and returns their listeners.
func (s *Sim) listen() ([]net.Listener, error) {
	lns, err := listenAll(s.ctx, s.cfg.Hosts, s.cfg.Port, s.cfg.OwnPorts)
	if err != nil {
		return nil, err
	}
	s.port = lns[0].Addr().(*net.TCPAddr).Port
	for i, ln := range lns {
		s.proxies = append(s.proxies, newProxy(i, s.cfg.Hosts[i], ln.Addr().(*net.TCPAddr).Port))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.members = slices.Clone(s.proxies[:s.cfg.Records])
	s.mu.resolved = slices.Clone(s.mu.members)
	return lns, nil
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
		lns := s.takeListenersLocked(func(*proxy) bool { return true })
		var sessions []*session
		for _, p := range s.proxies {
			if st := p.fault.Load(); st != nil && st.unblock != nil {
				defer st.unblock()
			}
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
// configured with; with several records, that of the first. It changes when a
// named rebind begins.
func (s *Sim) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.currentLocked().addr
}

// currentLocked is the first proxy of the endpoint. There always is one.
func (s *Sim) currentLocked() *proxy {
	return s.mu.members[slices.IndexFunc(s.mu.members, func(p *proxy) bool { return p != nil })]
}

// Name is the address of the database by name, [DBName] with the port. It never
// changes; [Sim.LookupHost] resolves it. With [Config.OwnPorts], the port is that
// of the first proxy.
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
