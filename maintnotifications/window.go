package maintnotifications

import (
	"slices"
	"time"
)

// A family is a pair of an opening and a closing kind.
type family uint8

const (
	familyMigrate family = iota + 1
	familyFailover
	familySlots
)

// familyOf returns the family of an opening or closing kind.
func familyOf(k Kind) family {
	switch k {
	case KindMigrating, KindMigrated:
		return familyMigrate
	case KindFailingOver, KindFailedOver:
		return familyFailover
	case KindSMigrating, KindSMigrated:
		return familySlots
	case KindMoving:
	}
	return 0
}

// A window is the time between an opening notice and its closing one.
//
// Windows are per endpoint: an opening read from several links is one window,
// and its closing may come over another link, because the first may have been
// closed (measured).
type window struct {
	family family
	seq    int64
	told   []string    // shards of the opening, part of the window's identity
	open   []string    // those of told that are not closed yet
	slots  []SlotRange // of SMIGRATING

	event   uint64 // of the latest report that said it is in progress
	expires time.Time
}

// A closing is a closing notice that was seen, remembered for closedMemory so
// that its opening, read late from another link, does not open a window.
type closing struct {
	family family
	seq    int64
	shards []string
	slots  []SlotRange
	at     time.Time
}

// coversSlots says whether the closing speaks for the slots of an opening: they
// have one in common, for a slot takes part in one move at a time, or one of the
// two did not tell.
func (c closing) coversSlots(slots []SlotRange) bool {
	return c.slots == nil || slots == nil || overlap(c.slots, slots)
}

// openWindow takes in an opening notice.
func (m *Machine) openWindow(l *link, n Notice) {
	fam := familyOf(n.Kind)
	backstop := m.cfg.MigratingBackstop
	if fam == familyFailover {
		backstop = m.cfg.FailingOverBackstop
	}
	expires := m.now.Add(min(max(n.Time, 0), maxAnnounced) + backstop)

	for _, w := range m.windows {
		if w.family == fam && w.seq == n.Seq && slices.Equal(w.told, n.Shards) && slices.Equal(w.slots, n.Slots) {
			// A link that is younger than the window was told because it is still in
			// progress, which is news; an older one may have been read late.
			if l.born > w.event {
				w.event = m.event
				w.expires = latest(w.expires, expires)
			}
			return
		}
	}
	open, stale := m.stillOpen(fam, n)
	if stale {
		return
	}
	if len(m.windows) >= maxWindows {
		m.windows = slices.Delete(m.windows, 0, 1)
	}
	m.windows = append(m.windows, &window{
		family: fam, seq: n.Seq, told: slices.Clone(n.Shards), open: open,
		slots: slices.Clone(n.Slots), event: m.event, expires: expires,
	})
}

// stillOpen returns the shards of an opening that were not closed already, and
// whether the opening is stale as a whole.
func (m *Machine) stillOpen(fam family, n Notice) (open []string, stale bool) {
	m.closed = slices.DeleteFunc(m.closed, func(c closing) bool { return m.now.Sub(c.at) >= closedMemory })
	open = slices.Clone(n.Shards)
	for _, c := range m.closed {
		if c.family != fam || c.seq < n.Seq {
			continue
		}
		if c.shards == nil || n.Shards == nil {
			if c.coversSlots(n.Slots) {
				return nil, true
			}
			continue
		}
		if open = without(open, c.shards); len(open) == 0 {
			return nil, true
		}
	}
	return open, false
}

// closeWindows takes in a closing notice. It ends what its opening, or part of
// its opening, began: windows of its family, not younger than it, for its shards
// or slots. A completion that a server keeps and replays hours later (measured)
// is older than any window, so it ends nothing.
func (m *Machine) closeWindows(n Notice) {
	c := closing{family: familyOf(n.Kind), seq: n.Seq, shards: slices.Clone(n.Shards), at: m.now}
	for _, mv := range n.Moves {
		c.slots = append(c.slots, mv.Slots...)
	}
	c.slots = normaliseSlots(c.slots)
	m.windows = slices.DeleteFunc(m.windows, func(w *window) bool {
		if w.family != c.family || w.seq > c.seq {
			return false
		}
		if c.shards == nil || w.told == nil {
			return c.coversSlots(w.slots)
		}
		w.open = without(w.open, c.shards)
		return len(w.open) == 0
	})
	m.remember(c)
}

// remember keeps a closing. An older one for the same shards is not younger news
// than the one that is kept, and must not lengthen its life: after a database was
// created anew, numbers start again.
func (m *Machine) remember(c closing) {
	for i, old := range m.closed {
		if old.family != c.family || !slices.Equal(old.shards, c.shards) || !slices.Equal(old.slots, c.slots) {
			continue
		}
		if c.seq < old.seq && m.now.Sub(old.at) < closedMemory {
			return
		}
		m.closed = slices.Delete(m.closed, i, i+1)
		break
	}
	if len(m.closed) >= maxClosed {
		m.closed = slices.Delete(m.closed, 0, 1)
	}
	m.closed = append(m.closed, c)
}

// expireWindows ends windows whose closing notice did not come.
func (m *Machine) expireWindows() {
	m.windows = slices.DeleteFunc(m.windows, func(w *window) bool { return !m.now.Before(w.expires) })
}

// without returns the elements of a that are not in b; it may change a.
func without(a, b []string) []string {
	return slices.DeleteFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// overlap says whether two normalised lists of slots have one in common.
func overlap(a, b []SlotRange) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Last < b[0].First:
			a = a[1:]
		case b[0].Last < a[0].First:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
