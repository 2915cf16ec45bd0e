package maintnotifications

import (
	"net"
	"net/netip"
	"slices"
	"time"
)

// A moveMode says when and where the links of an operation are handed over.
type moveMode uint8

const (
	// moveToTarget: the notice named a target; hand over at once.
	moveToTarget moveMode = iota + 1
	// moveAtHalf: the address to connect to is the one that retires, so it is no
	// use before the endpoint has really moved: hand over at half of the window.
	moveAtHalf
	// moveByDNS: the configured host is a name; look it up until the answer holds
	// an address that does not retire.
	moveByDNS
)

// A movingOp is what one MOVING notice began: links of retiring peers are handed
// over until the deadline. It is remembered for a while after its end, so that
// the same notice read late does not begin it again.
type movingOp struct {
	key      OpKey
	mode     moveMode
	start    time.Time
	deadline time.Time // the retiring peers stop serving
	end      time.Time // links that are still waiting are retired; not before deadline
	overdue  bool      // the notice came when the time was over
	ended    bool

	targets []string // where to go, best first; empty as long as it is unknown
	peers   []string // those that retire
	addrs   []string // dialled addresses of retiring links whose peer is unknown

	enlisted    map[LinkID]struct{} // links it was ever responsible for
	outstanding map[LinkID]struct{} // handoffs in progress
	begun       uint64              // event of the first handoff, 0 before
	failures    int

	baseline   []netip.Addr  // the first answer, if no retiring peer is known
	doubted    []doubt       // targets that may retire as well
	interval   time.Duration // between look-ups
	nextAsk    time.Time
	fallbackAt time.Time // when to go to the configured address for want of a target
	fellBack   bool
}

// A doubt is about a target that a look-up has shown, and whose links say that it
// retires, though they are replacements. Some servers repeat the notice there
// (measured), but where a name has many addresses it may be meant: look-ups tell.
type doubt struct {
	peer    string
	missing int // look-ups in a row without the peer's address
}

// doubtMissing look-ups without a doubted address say that it retires: one alone may
// be an answer that rotates.
const doubtMissing = 2

// moving takes in a MOVING notice of a link.
func (m *Machine) moving(l *link, n Notice) {
	// What is over is forgotten first: it must not swallow a new operation.
	m.endOps()
	m.forgetOps()
	key := OpKey{Seq: n.Seq, Target: n.Endpoint}
	for _, op := range m.ops {
		if op.key == key {
			m.movingAgain(op, l)
			return
		}
	}
	left := min(n.Time, maxAnnounced)
	onTarget := n.Endpoint != "" && (l.Peer == canonical(n.Endpoint) || l.Addr == n.Endpoint)
	if left <= 0 && (l.leaving || onTarget) {
		return // read late from a socket that was replaced, or repeated by the new one
	}
	if len(m.ops) >= maxOps && !m.forgetOldest() {
		return
	}
	op := &movingOp{
		key: key, start: m.now, overdue: left <= 0,
		enlisted: make(map[LinkID]struct{}), outstanding: make(map[LinkID]struct{}),
	}
	if op.overdue {
		left = m.cfg.HandoffTimeout
	}
	op.deadline = m.now.Add(left)
	op.end = op.deadline
	m.chooseMode(op, l)
	if op.mode == moveByDNS {
		op.interval = min(max(left/pollShare, minPoll), maxPoll)
		op.nextAsk = m.now
		op.fallbackAt = op.deadline.Add(-min(max(left/fallbackShare, minFallback), maxFallback, left/2))
		if op.overdue {
			op.fallbackAt = m.now.Add(op.interval)
		}
		op.end = op.deadline.Add(m.cfg.HandoffTimeout)
	}
	m.ops = append(m.ops, op)
	if op.mode == moveToTarget {
		m.revive(op)
	}
	m.last.set(op)
	m.retire(op, l)
}

// forgetOldest makes room for a new operation by forgetting the oldest one that has
// ended, however short ago: that it might begin again by a late notice is the lesser
// evil. It is false where none has.
func (m *Machine) forgetOldest() bool {
	i := slices.IndexFunc(m.ops, func(op *movingOp) bool { return op.ended })
	if i < 0 {
		return false
	}
	m.ops = slices.Delete(m.ops, i, i+1)
	return true
}

// newerThan says whether op began because of later news than other. The server counts
// its own; where the client has made one of them, time tells.
func (op *movingOp) newerThan(other *movingOp) bool {
	if op.key.Seq >= 0 && other.key.Seq >= 0 && op.key.Seq != other.key.Seq {
		return op.key.Seq > other.key.Seq
	}
	return op.start.After(other.start)
}

// leadsTo says whether op hands links over to a peer.
func (op *movingOp) leadsTo(peer string) bool {
	return op.mode != moveAtHalf && peer != "" &&
		slices.ContainsFunc(op.targets, func(t string) bool { return canonical(t) == peer })
}

// revive lets earlier operations forget that the targets of a newer one retire: the
// server, or DNS, says that they serve again. Links that were to leave them for where
// the earlier move led get a new link to the target instead.
func (m *Machine) revive(newer *movingOp) {
	for _, op := range m.ops {
		if op == newer || !newer.newerThan(op) {
			continue
		}
		for _, l := range m.links {
			if l.op == op && newer.leadsTo(l.Peer) {
				m.enlist(newer, l)
			}
		}
		op.peers = slices.DeleteFunc(op.peers, newer.leadsTo)
		op.addrs = slices.DeleteFunc(op.addrs, func(a string) bool { return slices.Contains(newer.targets, a) })
	}
}

// revivedBy returns the operation in progress that is newer than op and leads to
// peer, nil if there is none.
func (m *Machine) revivedBy(op *movingOp, peer string) *movingOp {
	i := slices.IndexFunc(m.ops, func(newer *movingOp) bool {
		return newer != op && newer.newerThan(op) && m.now.Before(newer.end) && newer.leadsTo(peer)
	})
	if i < 0 {
		return nil
	}
	return m.ops[i]
}

// chooseMode decides how op goes about its links. A target that is the address
// it leaves, as a configured name or the peer itself, says no more than none.
func (m *Machine) chooseMode(op *movingOp, l *link) {
	target := op.key.Target
	atConfigured := target == "" || canonical(target) == m.cfgPeer
	switch {
	case atConfigured && !m.literal:
		op.mode = moveByDNS
	case target == "":
		op.mode, op.targets = moveAtHalf, []string{m.cfg.Addr}
	case canonical(target) == l.Peer, l.Peer == "" && l.Addr == target:
		op.mode, op.targets = moveAtHalf, []string{target}
	default:
		op.mode, op.targets = moveToTarget, []string{target}
	}
}

// movingAgain takes in a repeated MOVING. It only matters from a link whose peer
// was not known to retire; never from a link that is a replacement itself.
func (m *Machine) movingAgain(op *movingOp, l *link) {
	if op.ended || l.leaving || !m.now.Before(op.end) {
		return
	}
	if op.mode == moveByDNS && (op.begun == 0 || l.born < op.begun) && slices.Contains(op.targets, l.Peer) {
		// The address that was found retires too, and a link that was there before
		// says so: it is no target, and those that went there move on.
		op.targets = slices.DeleteFunc(op.targets, func(t string) bool { return t == l.Peer })
		if len(op.targets) == 0 {
			op.nextAsk = m.now
			op.end = op.deadline.Add(m.cfg.HandoffTimeout)
		}
		m.retire(op, l)
		return
	}
	if op.isReplacement(l) {
		m.doubt(op, l)
		return
	}
	m.retire(op, l)
}

// doubt keeps op looking the host up where a replacement at an address from an
// earlier look-up says that it retires.
func (m *Machine) doubt(op *movingOp, l *link) {
	if op.mode != moveByDNS || op.fellBack || !op.onTarget(l) ||
		slices.ContainsFunc(op.doubted, func(d doubt) bool { return d.peer == l.Peer }) {
		return
	}
	op.doubted = append(op.doubted, doubt{peer: l.Peer})
}

// settleDoubts compares an answer with the doubted targets: one that is gone is no
// target any more, and those that went there move on.
func (m *Machine) settleDoubts(op *movingOp, ips []netip.Addr) {
	if len(ips) == 0 {
		return
	}
	for i := 0; i < len(op.doubted); i++ {
		d := &op.doubted[i]
		if ap, err := netip.ParseAddrPort(d.peer); err != nil || slices.Contains(ips, ap.Addr()) {
			d.missing = 0
			continue
		}
		if d.missing++; d.missing < doubtMissing {
			continue
		}
		peer := d.peer
		op.doubted = slices.Delete(op.doubted, i, i+1)
		i--
		op.targets = slices.DeleteFunc(op.targets, func(t string) bool { return canonical(t) == peer })
		if len(op.targets) == 0 {
			op.end = op.deadline.Add(m.cfg.HandoffTimeout)
		}
		for _, l := range m.links {
			if l.Peer == peer && !l.leaving {
				delete(op.enlisted, l.ID)
				m.retire(op, l)
			}
		}
	}
}

// retire adds the peer of l to those that retire, and their links to op.
func (m *Machine) retire(op *movingOp, l *link) {
	if newer := m.revivedBy(op, l.Peer); newer != nil {
		m.enlist(newer, l) // the notice was read late: the peer serves again
		return
	}
	switch {
	case l.Peer != "":
		op.peers = addTo(op.peers, l.Peer)
	case l.Addr != "":
		op.addrs = addTo(op.addrs, l.Addr)
	}
	m.enlist(op, l)
	for _, other := range m.links {
		if op.covers(other) {
			m.enlist(op, other)
		}
	}
}

// addTo appends s unless it is there.
func addTo(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// covers says whether l is on a retiring peer. Where only the dialled address is
// known, a link that came up after handoffs had begun counts as one that is not.
func (op *movingOp) covers(l *link) bool {
	if l.Peer != "" && slices.Contains(op.peers, l.Peer) {
		return true
	}
	return slices.Contains(op.addrs, l.Addr) && !op.younger(l)
}

// younger says whether l came up after handoffs had begun.
func (op *movingOp) younger(l *link) bool { return op.begun != 0 && l.born > op.begun }

// isReplacement says whether l is where the operation sends links. Servers repeat
// the notice on such links (measured); acting on it would go round in circles.
func (op *movingOp) isReplacement(l *link) bool {
	if op.mode == moveAtHalf {
		return op.younger(l)
	}
	return slices.Contains(op.targets, l.Addr) || op.onTarget(l) ||
		op.younger(l) && !slices.Contains(op.peers, l.Peer)
}

// onTarget says whether the peer of l is a target.
func (op *movingOp) onTarget(l *link) bool {
	return slices.ContainsFunc(op.targets, func(t string) bool { return l.Peer != "" && canonical(t) == l.Peer })
}

// enlist makes op responsible for l, once, unless a newer operation is.
func (m *Machine) enlist(op *movingOp, l *link) {
	if _, ok := op.enlisted[l.ID]; ok || l.leaving {
		return
	}
	if l.op != nil && l.op != op && l.op.newerThan(op) {
		return
	}
	op.enlisted[l.ID] = struct{}{}
	l.op, l.attempt, l.gaveUp = op, 0, false
	l.fallback = op.fellBack && !op.younger(l)
	l.due = m.now
	if op.mode == moveAtHalf && !op.overdue {
		window := op.deadline.Sub(op.start)
		l.due = op.start.Add(window/2 + m.jitter(window/10))
	}
}

func (m *Machine) jitter(limit time.Duration) time.Duration {
	if m.cfg.Jitter == nil || limit <= 0 {
		return 0
	}
	return min(max(m.cfg.Jitter(limit), 0), limit)
}

// lateComer takes in a link that came up while op was remembered. On a retiring
// peer it is handed over as well: it was dialled before the notice, or because
// the target did not answer.
func (m *Machine) lateComer(op *movingOp, l *link) {
	if op.ended || !m.now.Before(op.end) || !op.covers(l) || op.isReplacement(l) {
		return
	}
	m.enlist(op, l)
	if l.op == op && op.failures > 0 {
		l.due = latest(l.due, m.now.Add(backoff(op.end.Sub(m.now))))
	}
}

// backoff is the wait between attempts when left is the time that is left.
func backoff(left time.Duration) time.Duration { return max(minBackoff, left/backoffShare) }

// resolved takes in an answer for one operation.
func (m *Machine) resolved(op *movingOp, addrs []string) {
	op.nextAsk = latest(op.nextAsk, m.askedAt.Add(op.interval)) // whoever asked
	ips := make([]netip.Addr, 0, len(addrs))
	for _, a := range addrs {
		if ip, err := netip.ParseAddr(a); err == nil {
			ips = append(ips, ip.Unmap())
		}
	}
	m.settleDoubts(op, ips)
	if len(op.targets) > 0 {
		return
	}
	if len(op.peers) == 0 && len(op.addrs) > 0 && op.baseline == nil && len(ips) > 0 {
		op.baseline = ips // which of them retires is unknown: wait for a change
	}
	for _, ip := range ips {
		if !m.retiring(op, ip) {
			op.targets = addTo(op.targets, net.JoinHostPort(ip.String(), m.port))
		}
	}
	if len(op.targets) == 0 {
		if op.overdue && !op.fellBack {
			op.fallbackAt = m.now
		}
		return
	}
	if !op.fellBack && m.now.Before(op.deadline) {
		op.end = op.deadline
	}
	m.last.set(op)
	m.revive(op)
	for _, l := range m.links {
		// The news is worth an attempt even where the retries are used up.
		if l.op == op {
			l.due, l.gaveUp, l.news = m.now, false, true
		}
	}
}

// retiring says whether a peer with this IP address retires in op, or in another
// operation whose deadline is to come, or may do so for all that is known.
func (m *Machine) retiring(op *movingOp, ip netip.Addr) bool {
	if len(op.peers) == 0 && slices.Contains(op.baseline, ip) {
		return true
	}
	for _, other := range m.ops {
		if other != op && !m.now.Before(other.deadline) {
			continue
		}
		for _, p := range other.peers {
			if ap, err := netip.ParseAddrPort(p); err == nil && ap.Addr() == ip {
				return true
			}
		}
	}
	return false
}

// polls says whether op still looks for a target.
func (m *Machine) polls(op *movingOp) bool {
	return op.mode == moveByDNS && len(op.targets) == 0 && m.pending(op)
}

// doubts says whether op looks up if a target that it knows retires.
func (m *Machine) doubts(op *movingOp) bool {
	return len(op.doubted) > 0 && slices.ContainsFunc(m.links, func(l *link) bool {
		return !l.leaving && slices.ContainsFunc(op.doubted, func(d doubt) bool { return d.peer == l.Peer })
	})
}

// pending says whether op has links to hand over.
func (m *Machine) pending(op *movingOp) bool {
	return slices.ContainsFunc(m.links, func(l *link) bool { return l.op == op })
}

// busy says whether op has links to hand over or handoffs in progress.
func (m *Machine) busy(op *movingOp) bool { return len(op.outstanding) > 0 || m.pending(op) }

// forgetOps forgets operations that ended long enough ago.
func (m *Machine) forgetOps() {
	m.ops = slices.DeleteFunc(m.ops, func(op *movingOp) bool {
		return op.ended && !m.now.Before(op.deadline.Add(opMemory))
	})
}
