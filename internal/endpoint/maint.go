package endpoint

import (
	"context"
	"math/rand/v2"
	"net"
	"time"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/maintnotifications"
)

// event is what the owner is told.
type event struct {
	kind       eventKind
	link       uint64
	l          *link.Link // eventNotice, eventPush
	peer, addr string     // eventUp; eventMoved: from and to
	args       []any      // eventNotice, eventPush
	op         maintnotifications.OpKey
	addrs      []string // eventResolved, eventDNS
	err        error    // eventDone, eventResolved, eventDNS
	reason     string   // eventSuspect
}

type eventKind uint8

const (
	eventUp       eventKind = iota // a link serves
	eventDown                      // a link has died
	eventNotice                    // a maintenance notice came
	eventPush                      // another push came that somebody wants
	eventDone                      // a handoff has ended
	eventResolved                  // the host was looked up
	eventSuspect                   // a server seems not to be what it was
	eventDNS                       // the host was looked up to see whether links are left behind
	eventMoved                     // the server is elsewhere
	eventTick                      // the time the machine asked for has come
)

// post tells the owner something, and starts it if it is not running; mu is held.
// Events are dealt with in the order in which they are posted.
func (e *Endpoint) post(ev event) {
	if e.closed {
		return
	}
	e.events = append(e.events, ev)
	if !e.owned {
		e.owned = true
		e.work.Go(e.own)
	}
}

// own is the owner: the one goroutine at a time that asks the machine and carries
// out its actions. It ends when there is nothing to do.
func (e *Endpoint) own() {
	for {
		e.mu.Lock()
		if len(e.events) == 0 || e.closed {
			e.owned = false
			e.mu.Unlock()
			return
		}
		events := e.events
		e.events = nil
		e.mu.Unlock()
		for i := range events {
			for _, a := range e.step(&events[i]) {
				e.apply(a)
			}
		}
		e.arm()
	}
}

// step asks the machine what follows from an event.
func (e *Endpoint) step(ev *event) []maintnotifications.Action {
	at, id := time.Now(), maintnotifications.LinkID(ev.link)
	switch ev.kind {
	case eventUp:
		e.account.up(1, e.cfg.Manager.Metrics())
		return e.machine.LinkUp(at, maintnotifications.LinkInfo{ID: id, Peer: ev.peer, Addr: ev.addr})
	case eventDown:
		e.account.up(-1, e.cfg.Manager.Metrics())
		return e.machine.LinkDown(at, id)
	case eventNotice:
		return e.notice(at, ev)
	case eventPush:
		e.cfg.OnPush(ev.l, ev.args)
		return nil
	case eventDone:
		return e.machine.HandoffDone(at, ev.op, id, ev.err)
	case eventResolved:
		return e.machine.Resolved(at, ev.addrs, ev.err)
	case eventSuspect:
		return e.suspect(at, ev)
	case eventDNS:
		return e.seen(at, ev)
	case eventMoved:
		return e.moved(at, ev.peer, ev.addr)
	case eventTick:
		return e.machine.Tick(at)
	}
	return nil
}

// apply carries out one action. Nothing in it waits.
func (e *Endpoint) apply(a maintnotifications.Action) {
	e.cfg.Logger.Debug("maintenance", "endpoint", e.cfg.Addr, "action", a)
	switch a.Do {
	case maintnotifications.ActionRelax:
		e.timeouts.Relax(e.cfg.Maint.RelaxedTimeout)
		e.account.relax(a.Reason, e.cfg.Manager.Metrics())
		e.recheck()
	case maintnotifications.ActionUnrelax:
		e.timeouts.Relax(0)
		e.account.unrelax(e.cfg.Manager.Metrics())
		e.recheck()
	case maintnotifications.ActionHandoff:
		e.enqueue(job{op: a.Op, link: uint64(a.Link), targets: a.Targets, deadline: a.Deadline})
	case maintnotifications.ActionResolve:
		e.work.Go(e.resolve)
	case maintnotifications.ActionRetire:
		if en := e.entry(uint64(a.Link)); en != nil {
			en.retire()
		}
	}
}

// account counts the links whose timeouts are relaxed, for the metrics.
type account struct {
	links   int // that are up
	relaxed bool
	kind    string // of the notice that caused it
}

// up takes in that a link has come, or gone with -1.
func (a *account) up(delta int, m *maintnotifications.Metrics) {
	a.links += delta
	if a.relaxed {
		m.Relaxed(delta, a.kind)
	}
}

// relax takes in that all links are relaxed from now on.
func (a *account) relax(kind string, m *maintnotifications.Metrics) {
	a.relaxed, a.kind = true, kind
	for range a.links {
		m.Relaxed(1, kind)
	}
}

// unrelax takes in that they no longer are, if they were.
func (a *account) unrelax(m *maintnotifications.Metrics) {
	if !a.relaxed {
		return
	}
	a.relaxed = false
	for range a.links {
		m.Relaxed(-1, a.kind)
	}
}

// recheck makes all links judge what is in flight by the timeouts of now.
func (e *Endpoint) recheck() {
	e.mu.Lock()
	links := make([]*link.Link, 0, len(e.links))
	for _, en := range e.links {
		links = append(links, en.l)
	}
	e.mu.Unlock()
	for _, l := range links {
		l.Recheck()
	}
}

func (e *Endpoint) entry(id uint64) *entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.links[id]
}

// arm publishes what the machine has decided for new dials, and sets the timer for
// when it wants to be asked again. Only the owner calls it.
func (e *Endpoint) arm() {
	at := time.Now()
	targets := e.machine.DialTargets(at)
	if e.cfg.Locate != nil || len(targets) == 1 && targets[0] == e.cfg.Addr {
		e.targets.Store(nil)
	} else {
		e.targets.Store(&targets)
	}
	next, ok := e.machine.Next()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	if e.timer == nil {
		if !ok {
			return
		}
		e.timer = time.AfterFunc(max(next.Sub(at), 0), e.tick)
		return
	}
	e.timer.Stop()
	if ok {
		e.timer.Reset(max(next.Sub(at), 0))
	}
}

func (e *Endpoint) tick() {
	e.mu.Lock()
	e.post(event{kind: eventTick})
	e.mu.Unlock()
}

// resolve looks the configured host up for the machine.
func (e *Endpoint) resolve() {
	addrs, err := e.lookUp()
	e.mu.Lock()
	e.post(event{kind: eventResolved, addrs: addrs, err: err})
	e.mu.Unlock()
}

// lookUpTime bounds one look-up (maintenance specification, section 3).
const lookUpTime = 2 * time.Second

// lookUp asks for the addresses of the configured host.
func (e *Endpoint) lookUp() ([]string, error) {
	host, _, err := net.SplitHostPort(e.cfg.Addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(e.run, lookUpTime)
	defer cancel()
	return e.cfg.Resolver.LookupHost(ctx, host)
}

// jitter is a random time up to limit.
func jitter(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return rand.N(limit) //nolint:gosec // jitter, no secret
}
