package maintsim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// A proxy is one listener of the database, on one node.
type proxy struct {
	index int    // immutable, as all up to the blank line
	host  string // an IP address
	port  int
	addr  string // host:port
	name  string // of the node

	fault atomic.Pointer[faultState] // nil: none; written with Sim.mu held

	// Of servers that sentinels watch: the master of an imitated replica.
	replicaOf atomic.Pointer[proxy]

	// Of a cluster's node, and of what sentinels watch.
	upstream                            string // address of the real server behind it; empty: the embedded one
	commands                            atomic.Uint64
	moved, asked, tryAgain, clusterDown atomic.Uint64

	// Guarded by Sim.mu.
	ln       net.Listener // nil: it refuses, or is unreachable
	gen      int          // of connections accepted now; grows when a new node takes over
	leaving  bool         // its close was announced
	wanted   bool         // it is to accept; false once it left, until it is opened
	outages  int          // cuts that keep it from accepting at present
	accepted uint64
	sessions map[*session]struct{}
	vacant   chan struct{} // closed, and nil again, when the last session ends; nil: nobody waits
}

func newProxy(index int, host string, port int) *proxy {
	return &proxy{
		index:    index,
		host:     host,
		port:     port,
		addr:     net.JoinHostPort(host, strconv.Itoa(port)),
		name:     fmt.Sprintf("node-%d.sim.test", index+1),
		sessions: make(map[*session]struct{}),
	}
}

const (
	listenTries = 50
	listenRetry = 20 * time.Millisecond
)

// listenAll listens on the same port of every host, a free one if port is 0, or
// on a free one of each, except that the first has the one asked for.
func listenAll(ctx context.Context, hosts []string, port int, ownPorts bool) ([]net.Listener, error) {
	var err error
	for range listenTries {
		p := port
		if p == 0 {
			p = randomPort()
		}
		var lns []net.Listener
		for i, h := range hosts {
			if ownPorts && i > 0 {
				p = randomPort()
			}
			var ln net.Listener
			if ln, err = listen(ctx, h, p); err != nil {
				break
			}
			lns = append(lns, ln)
		}
		if err == nil {
			return lns, nil
		}
		closeAll(lns)
		if port != 0 && !ownPorts {
			break
		}
	}
	return nil, fmt.Errorf("maintsim: %w", err)
}

func listen(ctx context.Context, host string, port int) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

func closeAll(lns []net.Listener) {
	for _, ln := range lns {
		_ = ln.Close() // there is nothing to do about it
	}
}

// open makes p accept, as far as its fault lets it; it may do so already. The port
// was given up before, so somebody else may hold it for a moment.
func (s *Sim) open(p *proxy) error {
	ticker := time.NewTicker(listenRetry)
	defer ticker.Stop()
	var err error
	for range listenTries {
		s.mu.Lock()
		p.wanted = true
		listening, st := p.ln != nil, p.fault.Load()
		s.mu.Unlock()
		if listening || st != nil && st.fault == FaultRefuse {
			return nil
		}
		var ln net.Listener
		if ln, err = listen(s.ctx, p.host, p.port); err == nil {
			if s.serve(p, ln, st) {
				s.record(Event{Kind: EventProxyOpened, Proxy: p.index})
				return nil
			}
			if s.ctx.Err() != nil {
				return ErrClosed
			}
			continue // it changed meanwhile
		}
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			return ErrClosed
		}
	}
	return fmt.Errorf("maintsim: proxy %d: %w", p.index, err)
}

// serve accepts connections of p from ln until ln is closed. It closes ln and
// reports false if p listens already or has another fault than st by now.
func (s *Sim) serve(p *proxy, ln net.Listener, st *faultState) bool {
	var unblock func()
	blocked := false
	if st != nil && st.fault.isUnreachable() {
		if unblock, blocked = s.blockDials(ln); !blocked {
			st.hang.Store(true)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed || p.ln != nil || p.fault.Load() != st {
		_ = ln.Close()
		if blocked {
			unblock()
		}
		return false
	}
	p.ln, p.wanted = ln, true
	if blocked {
		st.unblock = unblock
		return true
	}
	s.wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				if errors.Is(err, net.ErrClosed) {
					return
				}
				// Out of descriptors, or the peer gave up: later ones may do.
				if s.wait(context.Background(), listenRetry) != nil {
					return
				}
				continue
			}
			s.admit(p, ln, conn.(*net.TCPConn))
		}
	})
	return true
}

// admit starts a session for a connection accepted from ln, unless p has closed
// meanwhile.
func (s *Sim) admit(p *proxy, ln net.Listener, conn *net.TCPConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.ln != ln {
		_ = conn.SetLinger(0)
		_ = conn.Close()
		return
	}
	if p.has() == FaultClose {
		p.accepted++
		_ = conn.Close()
		return
	}
	s.mu.lastID++
	c := &session{
		sim:     s,
		proxy:   p,
		gen:     p.gen,
		id:      s.mu.lastID,
		tcp:     conn,
		conn:    conn,
		born:    time.Now(),
		wake:    make(chan struct{}, 1),
		drained: make(chan struct{}, 1),
		ended:   make(chan struct{}),
		closed:  make(chan struct{}),
		settled: make(chan struct{}),
	}
	if s.cfg.TLS != nil {
		c.conn = tls.Server(conn, s.cfg.TLS)
	}
	c.proto.Store(2)
	p.accepted++
	p.sessions[c] = struct{}{}
	s.wg.Go(c.run)
}

// dialBackend connects to the server behind p, for one client.
func (s *Sim) dialBackend(ctx context.Context, p *proxy) (duplex, error) {
	if p.upstream != "" {
		return dialServer(ctx, p.upstream)
	}
	return s.engine.dial(ctx)
}

// remove forgets a session that is over.
func (s *Sim) remove(c *session) {
	if s.cluster != nil {
		s.cluster.channels.drop(c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(c.proxy.sessions, c)
	if p := c.proxy; len(p.sessions) == 0 && p.vacant != nil {
		close(p.vacant)
		p.vacant = nil
	}
}

// takeListenersLocked makes the proxies match accepts refuse once the listeners
// it returns are closed.
func (s *Sim) takeListenersLocked(match func(*proxy) bool) (lns []net.Listener) {
	for _, p := range s.proxies {
		if p.ln != nil && match(p) {
			lns = append(lns, p.ln)
			p.ln = nil
		}
	}
	return lns
}

// endAll ends sessions, waits until their sockets have got their end, and returns
// how many commands lost their reply.
func (s *Sim) endAll(sessions []*session, how ending) (inFlight int) {
	for _, c := range sessions {
		inFlight += c.end(how)
	}
	for _, c := range sessions {
		<-c.closed // bounded by the write deadline that end sets
	}
	return inFlight
}

// settle waits until the server has executed what it was sent for sessions that
// have ended.
func settle(sessions []*session) {
	for _, c := range sessions {
		<-c.settled // bounded by the read deadline that end sets
	}
}

// addCut counts a close or cut.
func (s *Sim) addCut(connections, inFlight int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mu.cuts) == maxEvents {
		s.mu.cuts = slices.Delete(s.mu.cuts, 0, maxEvents/10)
	}
	s.mu.cuts = append(s.mu.cuts, CutStats{Time: time.Now(), Connections: connections, InFlight: inFlight})
}
