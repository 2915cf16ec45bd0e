package maintsim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// A Fault is what is wrong with one proxy, or the node behind it.
type Fault string

// The faults; see [Sim.SetFault] and [WithTargetFault].
const (
	// FaultNone: nothing is wrong.
	FaultNone Fault = ""
	// FaultRefuse: dials are refused. Connections stay.
	FaultRefuse Fault = "refuse"
	// FaultUnreachable: dials get no answer at all. Connections stay. Where the
	// system can't do that, it is FaultHang.
	FaultUnreachable Fault = "unreachable"
	// FaultHang: dials succeed, and then nothing is read or answered until the
	// fault is over. This holds for TLS, too, and for connections that exist.
	FaultHang Fault = "hang"
	// FaultBlackHole: packets are dropped. Dials get no answer, and on connections that
	// exist nothing is read or answered until the fault is over. Where the system can't
	// leave dials without an answer, it is FaultHang.
	FaultBlackHole Fault = "black-hole"
	// FaultClose: connections are closed as soon as they are accepted. Older ones
	// stay.
	FaultClose Fault = "close"
	// FaultWrongPass: every attempt to authenticate fails with WRONGPASS, and any
	// other command of a connection that hasn't with NOAUTH.
	FaultWrongPass Fault = "wrongpass"
	// FaultLoading: every command is answered with LOADING.
	FaultLoading Fault = "loading"
	// FaultReadOnly: commands that write are answered with READONLY.
	FaultReadOnly Fault = "readonly"
)

// Faults are all faults, without FaultNone.
func Faults() []Fault {
	return []Fault{
		FaultRefuse, FaultUnreachable, FaultHang, FaultClose, FaultWrongPass, FaultLoading, FaultReadOnly, FaultBlackHole,
	}
}

// faultState is a fault a proxy has.
type faultState struct {
	fault   Fault
	over    chan struct{} // closed when it is over
	hang    atomic.Bool   // the proxy can't be made unreachable, so it hangs
	unblock func()        // undoes what makes it unreachable; may be nil; guarded by Sim.mu
}

// SetFault makes the proxy with index i faulty until the next SetFault or Repair
// of it. FaultNone repairs it. Moving to a proxy repairs it, too.
func (s *Sim) SetFault(i int, f Fault) error {
	if i < 0 || i >= len(s.proxies) {
		return fmt.Errorf("maintsim: no proxy %d", i)
	}
	_, err := s.setFault(s.proxies[i], f)
	return err
}

// Repair takes the faults of all proxies away.
func (s *Sim) Repair() error {
	var errs []error
	for _, p := range s.proxies {
		_, err := s.setFault(p, FaultNone)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// setFault replaces the fault of p and returns what it is now.
func (s *Sim) setFault(p *proxy, f Fault) (*faultState, error) {
	var next *faultState
	if f != FaultNone {
		next = &faultState{fault: f, over: make(chan struct{})}
	}
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	prev := p.fault.Swap(next)
	s.mu.Unlock()
	return next, s.changedFault(p, prev, f)
}

// endFault repairs p if its fault is still st.
func (s *Sim) endFault(p *proxy, st *faultState) error {
	s.mu.Lock()
	swapped := st != nil && p.fault.CompareAndSwap(st, nil)
	s.mu.Unlock()
	if !swapped {
		return nil
	}
	return s.changedFault(p, st, FaultNone)
}

// changedFault does what follows when the fault of p became f. The listener is
// replaced where dials are concerned.
func (s *Sim) changedFault(p *proxy, prev *faultState, f Fault) error {
	was := FaultNone
	if prev != nil {
		was = prev.fault
		close(prev.over)
	}
	if was == f {
		return nil
	}
	s.record(Event{Kind: EventFault, Proxy: p.index, Detail: f.String()})
	s.mu.Lock()
	var lns []net.Listener
	if prev != nil && prev.unblock != nil {
		defer prev.unblock()
	}
	if blocksDials(f) || blocksDials(was) {
		lns = s.takeListenersLocked(func(x *proxy) bool { return x == p })
	}
	reopen := p.wanted && p.outages == 0
	s.mu.Unlock()
	closeAll(lns)
	if reopen {
		return s.open(p)
	}
	return nil
}

// blocksDials reports whether a fault is one of the listener.
func blocksDials(f Fault) bool { return f == FaultRefuse || f.isUnreachable() }

// isUnreachable reports whether dials get no answer.
func (f Fault) isUnreachable() bool { return f == FaultUnreachable || f == FaultBlackHole }

// String is the fault's name.
func (f Fault) String() string {
	if f == FaultNone {
		return "none"
	}
	return string(f)
}

// faultyTarget gives the target of a move its fault, and repairs it otherwise. The
// function it returns is to be called when the move is over.
func (s *Sim) faultyTarget(p *proxy, o options) (over func(), err error) {
	st, err := s.setFault(p, o.fault)
	if st == nil || err != nil {
		return func() {}, err
	}
	switch {
	case o.faultFor > 0:
		s.later(o.faultFor, func() { s.repaired(p, st) })
	case o.faultFor == 0:
		return func() { s.repaired(p, st) }, nil
	}
	return func() {}, nil
}

func (s *Sim) repaired(p *proxy, st *faultState) {
	if err := s.endFault(p, st); err != nil {
		s.cfg.Logger.Warn("maintsim: proxy does not come back", "proxy", p.index, "err", err)
	}
}

// has is the fault p has. A replica has none, but refuses writes as well.
func (p *proxy) has() Fault {
	if st := p.fault.Load(); st != nil {
		return st.fault
	}
	if p.replicaOf.Load() != nil {
		return FaultReadOnly
	}
	return FaultNone
}

// passHang waits while the proxy hangs, unless the session ends.
func (s *session) passHang() {
	for st := s.proxy.fault.Load(); st != nil && st.hangs(); st = s.proxy.fault.Load() {
		select {
		case <-st.over:
		case <-s.ended:
			return
		}
	}
}

func (st *faultState) hangs() bool {
	return st.fault == FaultHang || st.fault == FaultBlackHole || st.hang.Load()
}

// blockDials makes ln, whose connections nobody accepts, ignore dials. It returns
// a function that undoes that.
func (s *Sim) blockDials(ln net.Listener) (undo func(), ok bool) {
	if !shrinkBacklog(ln) {
		return nil, false
	}
	var conns []net.Conn
	undo = func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}
	for range 4 {
		ctx, cancel := context.WithTimeout(s.ctx, 20*time.Millisecond)
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", ln.Addr().String())
		cancel()
		if err != nil {
			return undo, s.ctx.Err() == nil
		}
		conns = append(conns, c)
	}
	undo()
	return nil, false
}

// ruleFault decides about a command at a faulty proxy. ok is false if it is to be
// treated as any other.
func (s *session) ruleFault(f Fault, name []byte, frame []byte) (r ruling, ok bool) {
	local := func(msg string) (ruling, bool) {
		return ruling{drop: true, entry: entry{kind: entryLocal, answer: func() { s.reply(appendError(nil, msg)) }}}, true
	}
	v := verbOf(name)
	switch f {
	case FaultLoading:
		s.in.txBroken = s.in.inTx
		return local("LOADING Redis is loading the dataset in memory")
	case FaultWrongPass:
		if v == verbAuth || v == verbHello && hasOption(requestArgs(frame), "AUTH") {
			return local("WRONGPASS invalid username-password pair or user is disabled.")
		}
		if !s.in.served && !s.hasAuthed() { // who was let in before stays in
			return local("NOAUTH Authentication required.")
		}
	case FaultReadOnly:
		if writes(name) {
			s.in.txBroken = s.in.inTx
			return local("READONLY You can't write against a read only replica.")
		}
	case FaultNone, FaultRefuse, FaultUnreachable, FaultHang, FaultBlackHole, FaultClose:
	}
	return ruling{entry: entry{n: 1}}, false
}

// hasAuthed reports whether the client has authenticated.
func (s *session) hasAuthed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.authed
}

// ruleBrokenTx makes EXEC fail as it does after a command that was refused.
func (s *session) ruleBrokenTx() ruling {
	return ruling{
		bytes: appendCommand(nil, "DISCARD"),
		entry: entry{kind: entryWatched, rewrite: func(out, _ []byte) []byte {
			return appendError(out, "EXECABORT Transaction discarded because of previous errors.")
		}},
	}
}
