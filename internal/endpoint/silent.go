package endpoint

import (
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/maintnotifications"
)

// What a server does not announce is found out here, and becomes a notice that the
// machine treats like the server's own: a MOVING without a target whose time is up
// (maintenance specification, section 9, 14).

// Numbers of the silent transitions. The times follow what was measured on Redis
// Enterprise: after a node's shards have left, it is taken from DNS about five
// seconds later, and its connections are closed without notice after another 13.
const (
	suspectEvery    = time.Second      // at most one suspicion is acted upon in it
	suspectMost     = 30 * time.Second // in the long run
	suspectMemory   = time.Minute      // without suspicion for so long, all is well again
	dnsEvery        = 30 * time.Second // between looks at DNS
	dnsSoon         = 2 * time.Second  // the same after maintenance
	dnsSoonFor      = 40 * time.Second // how long after it
	dnsMissingTwice = 2                // answers without an address until it counts as gone
)

// silent is the owner's state of what is not announced.
type silent struct {
	seq   int64         // of the last notice made here; they count down from 0
	last  time.Time     // when a suspicion was acted upon last
	pause time.Duration // until the next one is

	missing map[uint64]int // link -> answers in a row without its address
	soon    time.Time      // until when to look at DNS often
}

// Demoted tells the endpoint that the server of a link has answered READONLY. If it
// was a primary's, the endpoint's links to it are replaced by new ones to wherever
// the configured address leads now; at most once a second, and ever more rarely.
// l nil stands for the link of ordinary commands.
func (e *Endpoint) Demoted(l *link.Link) {
	if l == nil {
		l = e.shared.Current()
	}
	if l == nil {
		l = e.large.Current()
	}
	if l == nil || !e.wasPrimary.Load() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cfg.Locate != nil {
		e.relocate(l)
		return
	}
	e.post(event{kind: eventSuspect, link: l.ID(), l: l, reason: "READONLY"})
}

// WasPrimary tells whether a server of the endpoint has called itself a primary, or
// could not say what it is.
func (e *Endpoint) WasPrimary() bool { return e.wasPrimary.Load() }

// noteRole remembers what a new link's server is.
func (e *Endpoint) noteRole(info link.Info) {
	if !isReplica(info) {
		e.wasPrimary.Store(true)
	}
}

// isReplica tells whether a server has called itself one.
func isReplica(info link.Info) bool { return info.Role != "" && info.Role != "master" }

// suspect makes a notice of a suspicion, unless there was one lately. Only the owner
// calls it.
func (e *Endpoint) suspect(at time.Time, ev *event) []maintnotifications.Action {
	s := &e.silent
	since := at.Sub(s.last)
	switch {
	case s.last.IsZero() || since >= suspectMemory:
		s.pause = suspectEvery
	case since < s.pause:
		return nil
	default:
		s.pause = min(2*s.pause, suspectMost)
	}
	s.last = at
	s.seq--
	e.cfg.Logger.Debug("the server behind a link is not what it was; the endpoint's links to it are replaced",
		"endpoint", e.cfg.Addr, "link", ev.link, "reason", ev.reason)
	return e.machine.Notice(at, maintnotifications.LinkID(ev.link), maintnotifications.Notice{
		Kind: maintnotifications.KindMoving, Seq: s.seq, HasTime: true,
	})
}

// stuck tells the owner's side of a link that fell silent with commands in flight:
// idle links to the same peer are taken out of use, since they are likely to be as
// dead, and nobody would know before a command fails on them.
func (e *Endpoint) stuck(dead *link.Link) {
	peer := dead.Peer()
	e.mu.Lock()
	var retire []func()
	for _, en := range e.links {
		if en.pooled && en.l != dead && en.l.Peer() == peer {
			retire = append(retire, en.retire)
		}
	}
	e.mu.Unlock()
	for _, f := range retire {
		f()
	}
}

// slowAfter is how long a server may send nothing, with commands in flight that do not
// block, until TellSlow's function is called.
const slowAfter = time.Second

// TellSlow has f called whenever the server has been silent for a second with commands in
// flight, on links that are opened from now on. f must not block.
func (e *Endpoint) TellSlow(f func()) { e.onSlow.Store(&f) }

// byName tells whether the configured host is a name that is looked up.
func (e *Endpoint) byName() bool {
	host, _, err := net.SplitHostPort(e.cfg.Addr)
	if err != nil || e.cfg.Network == "unix" || e.cfg.Resolver == nil {
		return false
	}
	_, err = netip.ParseAddr(host)
	return err != nil
}

// watchDNS sets the timer for the next look at DNS, as long as there are links. mu is
// held.
func (e *Endpoint) watchDNS(every time.Duration) {
	if e.closed || e.dnsSet || len(e.links) == 0 || !e.named {
		return
	}
	e.dnsSet = true
	if e.dnsTimer == nil {
		e.dnsTimer = time.AfterFunc(every, e.lookAtDNS)
		return
	}
	e.dnsTimer.Reset(every)
}

// lookAtDNS looks the host up in a goroutine of its own.
func (e *Endpoint) lookAtDNS() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dnsSet = false
	if e.closed || len(e.links) == 0 {
		return
	}
	e.work.Go(func() {
		addrs, err := e.lookUp()
		e.mu.Lock()
		e.post(event{kind: eventDNS, addrs: addrs, err: err})
		e.mu.Unlock()
	})
}

// afterMaintenance makes the endpoint look at DNS often for a while. Only the owner
// calls it.
func (e *Endpoint) afterMaintenance(at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.named || e.closed {
		return
	}
	e.silent.soon = at.Add(dnsSoonFor)
	if e.dnsTimer != nil && e.dnsTimer.Stop() {
		e.dnsSet = false
	}
	e.watchDNS(dnsSoon)
}

// seen compares an answer of DNS with the links there are: one whose address is
// missing twice in a row has been left behind. Only the owner calls it.
func (e *Endpoint) seen(at time.Time, ev *event) (actions []maintnotifications.Action) {
	s := &e.silent
	e.mu.Lock()
	links := make([]*link.Link, 0, len(e.links))
	for _, en := range e.links {
		links = append(links, en.l)
	}
	every := dnsEvery
	if at.Before(s.soon) {
		every = dnsSoon
	}
	e.watchDNS(every)
	e.mu.Unlock()
	if ev.err != nil || len(ev.addrs) == 0 {
		return nil
	}
	missing := make(map[uint64]int)
	for _, l := range links {
		if ip := ipOf(l.Peer()); ip.IsValid() && !slices.ContainsFunc(ev.addrs, func(a string) bool { return ipOf(a) == ip }) {
			missing[l.ID()] = s.missing[l.ID()] + 1
		}
	}
	s.missing = missing
	for _, l := range links {
		if missing[l.ID()] < dnsMissingTwice || e.onTarget(l) {
			continue
		}
		actions = append(actions, e.suspect(at, &event{link: l.ID(), l: l, reason: "its address has left DNS"})...)
	}
	return actions
}

// onTarget tells whether a link is where a handoff has led, which DNS may not know.
func (e *Endpoint) onTarget(l *link.Link) bool {
	t := e.targets.Load()
	return t != nil && slices.Contains(*t, l.Endpoint()) && l.Endpoint() != e.cfg.Addr
}

// ipOf is the IP address of "ip:port" or "ip"; the zero Addr if it is none.
func ipOf(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap()
	}
	ip, _ := netip.ParseAddr(s)
	return ip.Unmap()
}
