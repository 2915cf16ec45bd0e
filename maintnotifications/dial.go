package maintnotifications

import (
	"slices"
	"time"
)

// A lastTarget is where the endpoint moved last.
type lastTarget struct {
	seq     int64
	targets []string
	end     time.Time // of the operation
	until   time.Time // when it is forgotten
}

// set remembers the targets of op. The operation of a lower number that was read
// late does not replace the one of a higher number in progress.
func (t *lastTarget) set(op *movingOp) {
	if len(op.targets) == 0 || op.key.Seq < t.seq && op.start.Before(t.end) {
		return
	}
	*t = lastTarget{seq: op.key.Seq, targets: slices.Clone(op.targets), end: op.end, until: op.end.Add(targetMemory)}
}

// linkDown keeps the target in mind for some time after a link to it was closed.
func (t *lastTarget) linkDown(now time.Time, l *link) {
	if t.holds(l) {
		t.until = latest(t.until, now.Add(targetMemory))
	}
}

// holds says whether l is a link to the target.
func (t *lastTarget) holds(l *link) bool {
	return slices.ContainsFunc(t.targets, func(a string) bool {
		return l.Addr == a || l.Peer != "" && l.Peer == canonical(a)
	})
}

// DialTargets returns where a new link may be dialled at now, best first; it is
// never empty and always holds the configured address.
//
// While an endpoint moves, and as long as links to its target are up, the target
// comes first: the configured address can lead to the node that retires. Later it
// is a second choice for an hour. Addresses that retire are left out, but for the
// configured one.
func (m *Machine) DialTargets(now time.Time) []string {
	first, second := m.dialTargets(now)
	out := make([]string, 0, len(first)+1+len(second))
	add := func(addrs []string) {
		for _, a := range addrs {
			if !slices.ContainsFunc(out, func(b string) bool { return canonical(a) == canonical(b) }) {
				out = append(out, a)
			}
		}
	}
	add(first)
	add([]string{m.cfg.Addr})
	add(second)
	return out
}

// dialTargets returns what comes before the configured address and what behind.
func (m *Machine) dialTargets(now time.Time) (first, second []string) {
	var newest *movingOp
	for _, op := range m.ops {
		if now.Before(op.end) && len(op.targets) > 0 && (newest == nil || op.key.Seq >= newest.key.Seq) {
			newest = op
		}
	}
	if newest != nil {
		if first = m.serving(now, newest.targets); len(first) > 0 {
			return first, nil
		}
	}
	last := m.serving(now, m.last.targets)
	if slices.ContainsFunc(m.links, func(l *link) bool { return !l.leaving && m.last.holds(l) }) {
		return last, nil
	}
	if now.Before(m.last.until) {
		return nil, last
	}
	return nil, nil
}

// serving returns those of addrs that no operation in progress retires.
func (m *Machine) serving(now time.Time, addrs []string) []string {
	var out []string
	for _, a := range addrs {
		retires := slices.ContainsFunc(m.ops, func(op *movingOp) bool {
			return now.Before(op.end) && !slices.Contains(op.targets, a) && slices.Contains(op.peers, canonical(a))
		})
		if !retires {
			out = append(out, a)
		}
	}
	return out
}
