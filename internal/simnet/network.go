// Package simnet is a network in memory, for tests inside testing/synctest
// bubbles, where real sockets would never be idle.
//
// A [Network] has listeners, dials, names, and faults that a test can switch on
// and off while connections are in use. Connections behave like TCP: buffered
// in each direction, ordered, with deadlines; what arrives when depends on the
// latency and bandwidth of the address dialled, and is exact in a bubble's fake
// time. The package starts no goroutine, and everything that blocks does so on
// a channel or timer, so that a bubble with only waiting connections is durably
// blocked.
//
// It also works outside a bubble.
package simnet

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// defaultBuffer is how many bytes fit in one direction of a connection.
const defaultBuffer = 256 << 10

// How is the way a connection is cut.
type How int

// The ways to cut a connection.
const (
	// FIN ends both directions as if each end saw the other one close: it reads
	// what was sent, then io.EOF. Its first write is still accepted, and lost.
	FIN How = iota
	// RST ends it at once: what was sent is lost, reads and writes fail with
	// syscall.ECONNRESET.
	RST
)

// String names the way.
func (h How) String() string {
	switch h {
	case FIN:
		return "FIN"
	case RST:
		return "RST"
	}
	return "How(" + strconv.Itoa(int(h)) + ")"
}

// settings are what a test can change for an address.
type settings struct {
	latency   *time.Duration // one way; nil as the network's default
	bandwidth *int           // bytes per second in each direction; nil as the default, 0 unlimited
	buffer    *int           // bytes in each direction; nil as the default
	refuse    bool
	hole      bool
}

// link is the settings that apply to one connection, defaults filled in.
type link struct {
	latency   time.Duration
	bandwidth int
	buffer    int
}

// A Network connects dials with listeners. Its methods are safe for concurrent
// use. Addresses are "ip:port" or "name:port". A setting belongs to the address
// that is dialled, after resolving a name; it may be made before anybody listens
// there.
//
// Lock order: Network.mu, then listener.mu; wire.mu is taken without them. None
// is held while blocking.
type Network struct {
	// Hosts are the names that Dial and LookupHost resolve.
	Hosts Hosts

	mu        sync.Mutex // guards the fields below
	listeners map[string]*listener
	wires     []*wire // in the order of their making
	set       map[string]*settings
	base      link
	resend    time.Duration // see SetResend
	ports     int           // dialled from so far
	changed   chan struct{} // nil, or closed at the next change dials wait for
	closed    bool
}

// New returns a network without latency, with unlimited bandwidth and buffers
// of 256 KiB.
func New() *Network {
	return &Network{
		listeners: make(map[string]*listener),
		set:       make(map[string]*settings),
		base:      link{buffer: defaultBuffer},
	}
}

// Close closes all listeners, resets all connections and ends dials that hang.
// Later dials and listeners fail with net.ErrClosed.
func (n *Network) Close() error {
	n.mu.Lock()
	n.closed = true
	n.broadcast()
	var listeners []*listener
	for _, l := range n.listeners {
		listeners = append(listeners, l)
	}
	wires := n.wires
	n.wires = nil
	n.mu.Unlock()
	for _, l := range listeners {
		_ = l.Close() // fails if it was closed meanwhile
	}
	for _, w := range wires {
		w.cut(RST, 0)
	}
	return nil
}

// SetLatency sets how long bytes travel in one direction to and from addr, and
// with the address "" from everywhere to everywhere without a setting of its
// own. A dial takes two latencies. Bytes already under way keep their time.
func (n *Network) SetLatency(addr string, d time.Duration) {
	n.change(addr, func(s *settings) { s.latency = &d }, func(l *link) { l.latency = d })
}

// SetBandwidth sets how many bytes per second travel in each direction of every
// connection to addr, or by default if addr is "". Zero is unlimited.
func (n *Network) SetBandwidth(addr string, bytesPerSecond int) {
	n.change(addr, func(s *settings) { s.bandwidth = &bytesPerSecond }, func(l *link) { l.bandwidth = bytesPerSecond })
}

// SetBuffer sets how many bytes fit in each direction of every connection to
// addr, or by default if addr is "": under way and not yet read together. A
// write beyond that blocks.
func (n *Network) SetBuffer(addr string, sizeBytes int) {
	sizeBytes = max(sizeBytes, 1)
	n.change(addr, func(s *settings) { s.buffer = &sizeBytes }, func(l *link) { l.buffer = sizeBytes })
}

// Refuse makes new dials to addr fail with syscall.ECONNREFUSED, or ends that.
// Connections live on.
func (n *Network) Refuse(addr string, on bool) {
	n.change(addr, func(s *settings) { s.refuse = on }, func(*link) {})
}

// Blackhole swallows what travels to and from addr, or ends that: dials hang,
// and on existing connections nothing arrives any more, a FIN included. When it
// ends, hanging dials go on and what was sent arrives, as with TCP.
func (n *Network) Blackhole(addr string, on bool) {
	n.change(addr, func(s *settings) { s.hole = on }, func(*link) {})
	for _, w := range n.wiresOf(addr) {
		w.setHole(on, n.link(w.target).latency)
	}
}

// SetResend sets after how long a dial that a black hole has swallowed is sent again for
// the first time; each of the later pauses is twice as long as the one before, as with
// TCP, where the first is a second. So a dial may go on late when the hole has ended.
// Zero, the default: it goes on at once.
func (n *Network) SetResend(first time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.resend = first
}

// change applies f to the settings of addr, or g to the defaults if addr is
// empty.
func (n *Network) change(addr string, f func(*settings), g func(*link)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if addr == "" {
		g(&n.base)
	} else {
		key := canonical(addr)
		if n.set[key] == nil {
			n.set[key] = new(settings)
		}
		f(n.set[key])
	}
	n.broadcast()
}

// broadcast wakes waiting dials. n.mu is held.
func (n *Network) broadcast() {
	if n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
}

// link returns what applies to connections to key.
func (n *Network) link(key string) link {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.base
	if s := n.set[key]; s != nil {
		if s.latency != nil {
			l.latency = *s.latency
		}
		if s.bandwidth != nil {
			l.bandwidth = *s.bandwidth
		}
		if s.buffer != nil {
			l.buffer = *s.buffer
		}
	}
	return l
}

// Conns returns the accepting ends of the connections to addr, oldest first:
// those dialled to addr and those of the listener at addr. Connections that one
// end has closed, or that were cut, are not among them.
func (n *Network) Conns(addr string) []*Conn {
	var conns []*Conn
	for _, w := range n.wiresOf(addr) {
		if w.open() {
			conns = append(conns, w.ends[acceptor])
		}
	}
	return conns
}

// Cut cuts all connections to addr. The listener stays.
func (n *Network) Cut(addr string, how How) {
	for _, w := range n.wiresOf(addr) {
		w.cut(how, n.link(w.target).latency)
	}
}

// wiresOf returns the connections to addr.
func (n *Network) wiresOf(addr string) []*wire {
	key := canonical(addr)
	n.mu.Lock()
	defer n.mu.Unlock()
	var wires []*wire
	for _, w := range n.wires {
		if w.target == key || w.accepted == key {
			wires = append(wires, w)
		}
	}
	return wires
}

// forget drops a connection that nothing can happen to any more.
func (n *Network) forget(w *wire) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := slices.Index(n.wires, w); i >= 0 {
		n.wires = slices.Delete(n.wires, i, i+1)
	}
}

// LookupHost resolves a name with [Network.Hosts].
func (n *Network) LookupHost(ctx context.Context, host string) ([]string, error) {
	return n.Hosts.LookupHost(ctx, host)
}

// Dial connects to addr, resolving its name if nobody listens at the name
// itself; the addresses of a name are tried in turn. It has the signature of
// net.Dialer.DialContext and fails with a *net.OpError: around
// syscall.ECONNREFUSED if nobody listens, a *net.DNSError, or the end of ctx.
func (n *Network) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, &net.OpError{Op: "dial", Net: network, Err: net.UnknownNetworkError(network)}
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	if _, err := netip.ParseAddr(host); err == nil || n.listening(addr) {
		return n.dial(ctx, network, addr)
	}
	ips, err := n.LookupHost(ctx, host)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	var first error
	for _, ip := range ips {
		c, err := n.dial(ctx, network, net.JoinHostPort(ip, port))
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// listening reports whether somebody listens at addr as it is written.
func (n *Network) listening(addr string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.listeners[canonical(addr)] != nil
}

// dial connects to an address that needs no resolving.
func (n *Network) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: toAddr(addr), Err: err}
	}
	key := canonical(addr)
	latency := n.link(key).latency
	sent := time.Now()
	arrival := sent.Add(2 * latency)
	for {
		if ctx.Err() != nil {
			return fail(contextError(ctx))
		}
		now := time.Now()
		n.mu.Lock()
		s := n.set[key]
		hole := s != nil && s.hole
		if !hole && !now.Before(arrival) {
			c, err := n.connect(key, s != nil && s.refuse)
			n.mu.Unlock()
			if err != nil {
				return fail(err)
			}
			return c, nil
		}
		if n.closed {
			n.mu.Unlock()
			return fail(net.ErrClosed)
		}
		if n.changed == nil {
			n.changed = make(chan struct{})
		}
		changed := n.changed
		n.mu.Unlock()

		if hole {
			wait(ctx.Done(), changed, time.Time{})
			arrival = n.sentAgain(sent).Add(2 * latency) // the first packet that gets through
			continue
		}
		wait(ctx.Done(), changed, arrival)
	}
}

// sentAgain is when a dial that was sent at a time is sent again next.
func (n *Network) sentAgain(sent time.Time) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if n.resend <= 0 {
		return now
	}
	for pause := n.resend; sent.Before(now); pause *= 2 {
		sent = sent.Add(pause)
	}
	return sent
}

// connect makes a connection to the listener at key. n.mu is held.
func (n *Network) connect(key string, refuse bool) (net.Conn, error) {
	if n.closed {
		return nil, net.ErrClosed
	}
	l := n.listeners[key]
	if l == nil {
		l = n.listeners[wildcard(key)]
	}
	if l == nil || refuse {
		return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	local := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 32768 + n.ports%32768}
	n.ports++
	w := newWire(n, key, l.key, local, toAddr(key))
	n.wires = append(n.wires, w)
	l.deliver(w.ends[acceptor])
	return w.ends[dialler], nil
}

// Listen listens at addr. Without an IP it gets the dials to its port at all
// IPs that nobody else listens at; port 0 picks a free one.
func (n *Network) Listen(addr string) (net.Listener, error) {
	fail := func(err error) (net.Listener, error) {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: toAddr(addr), Err: err}
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fail(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return fail(net.ErrClosed)
	}
	key := canonical(addr)
	for free := 20000; port == "0"; free++ {
		key = canonical(net.JoinHostPort(host, strconv.Itoa(free)))
		if n.listeners[key] == nil {
			break
		}
	}
	if n.listeners[key] != nil {
		return fail(os.NewSyscallError("bind", syscall.EADDRINUSE))
	}
	l := &listener{n: n, key: key, addr: toAddr(key)}
	n.listeners[key] = l
	return l, nil
}

// listener is a net.Listener of a Network.
type listener struct {
	n    *Network // immutable, as are key and addr
	key  string
	addr net.Addr

	mu      sync.Mutex // guards the fields below; taken after Network.mu
	queue   []*Conn    // dialled, not yet accepted
	closed  bool
	changed chan struct{} // nil, or closed at the next change
}

// deliver queues a connection for Accept. n.mu is held, so the listener is
// open: Close takes it out of the network first.
func (l *listener) deliver(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, c)
	l.broadcast()
}

// broadcast wakes Accept. l.mu is held.
func (l *listener) broadcast() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Accept returns the connection dialled first.
func (l *listener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
		}
		if len(l.queue) > 0 {
			c := l.queue[0]
			l.queue = l.queue[1:]
			l.mu.Unlock()
			return c, nil
		}
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		<-changed
	}
}

// Close ends Accept and resets connections it hasn't returned. Others live on.
func (l *listener) Close() error {
	l.n.mu.Lock()
	if l.n.listeners[l.key] == l {
		delete(l.n.listeners, l.key)
	}
	l.n.mu.Unlock()

	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
	}
	l.closed = true
	queue := l.queue
	l.queue = nil
	l.broadcast()
	l.mu.Unlock()
	for _, c := range queue {
		c.w.cut(RST, 0)
	}
	return nil
}

// Addr returns the address listened at.
func (l *listener) Addr() net.Addr { return l.addr }

// address is the net.Addr of what isn't ip:port.
type address string

// Network returns "tcp".
func (address) Network() string { return "tcp" }

// String returns the address as it was written.
func (a address) String() string { return string(a) }

// toAddr returns addr as a *net.TCPAddr if it is ip:port.
func toAddr(addr string) net.Addr {
	if ap, err := netip.ParseAddrPort(canonical(addr)); err == nil {
		return net.TCPAddrFromAddrPort(ap)
	}
	return address(addr)
}

// canonical returns the one spelling of addr.
func canonical(addr string) string {
	if len(addr) > 0 && addr[0] == ':' {
		addr = "0.0.0.0" + addr
	}
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return addr
	}
	ip := ap.Addr().Unmap()
	if ip == netip.IPv6Unspecified() {
		ip = netip.IPv4Unspecified()
	}
	return netip.AddrPortFrom(ip, ap.Port()).String()
}

// wildcard returns the address of a listener without IP that gets dials to key.
func wildcard(key string) string {
	_, port, err := net.SplitHostPort(key)
	if err != nil {
		return key
	}
	return canonical(":" + port)
}

// wait waits for done, for changed, or for the time until, whichever comes
// first; a nil channel and the zero time never come.
func wait(done, changed <-chan struct{}, until time.Time) {
	var expired <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-done:
	case <-changed:
	case <-expired:
	}
}

// contextError returns what a dial fails with at the end of ctx, as package net
// has it.
func contextError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return dialTimeout{}
	}
	return ctx.Err()
}

// dialTimeout is the error of a dial whose context's deadline has passed.
type dialTimeout struct{}

// Error says "i/o timeout".
func (dialTimeout) Error() string { return "i/o timeout" }

// Timeout makes it a timeout for net.Error.
func (dialTimeout) Timeout() bool { return true }

// Temporary is there for net.Error.
func (dialTimeout) Temporary() bool { return true }

// Is makes it context.DeadlineExceeded.
func (dialTimeout) Is(target error) bool { return target == context.DeadlineExceeded }
