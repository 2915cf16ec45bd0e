package maintnotifications

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// The wire names of the seven notifications.
const (
	NotificationMoving      = "MOVING"
	NotificationMigrating   = "MIGRATING"
	NotificationMigrated    = "MIGRATED"
	NotificationFailingOver = "FAILING_OVER"
	NotificationFailedOver  = "FAILED_OVER"
	NotificationSMigrating  = "SMIGRATING"
	NotificationSMigrated   = "SMIGRATED"
)

// Kind is the kind of a notice. The zero value is no kind.
type Kind uint8

// The seven kinds; section 4 of the maintenance specification.
const (
	// KindMoving: the server behind this connection leaves; connect elsewhere.
	KindMoving Kind = iota + 1
	// KindMigrating: shards are about to be moved; opens a window.
	KindMigrating
	// KindMigrated closes the window of KindMigrating.
	KindMigrated
	// KindFailingOver: shards are about to fail over; opens a window.
	KindFailingOver
	// KindFailedOver closes the window of KindFailingOver.
	KindFailedOver
	// KindSMigrating: slots of a cluster are about to be moved; opens a window.
	KindSMigrating
	// KindSMigrated closes the window of KindSMigrating and tells the new owners.
	KindSMigrated
)

var kindNames = [...]string{
	KindMoving:      NotificationMoving,
	KindMigrating:   NotificationMigrating,
	KindMigrated:    NotificationMigrated,
	KindFailingOver: NotificationFailingOver,
	KindFailedOver:  NotificationFailedOver,
	KindSMigrating:  NotificationSMigrating,
	KindSMigrated:   NotificationSMigrated,
}

// String returns the wire name, as "MOVING".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "Kind(" + strconv.Itoa(int(k)) + ")"
	}
	return kindNames[k]
}

// KindOf returns the kind with the given wire name, which is upper case.
func KindOf(name string) (Kind, bool) {
	for k := KindMoving; int(k) < len(kindNames); k++ {
		if kindNames[k] == name {
			return k, true
		}
	}
	return 0, false
}

// A SlotRange is a range of cluster slots, both ends included.
type SlotRange struct{ First, Last uint16 }

// String returns "5" or "5-9".
func (r SlotRange) String() string {
	if r.First == r.Last {
		return strconv.Itoa(int(r.First))
	}
	return strconv.Itoa(int(r.First)) + "-" + strconv.Itoa(int(r.Last))
}

// A SlotMove tells that slots went from one node to another. Both nodes are
// "host:port" with a bracketed IPv6 address.
type SlotMove struct {
	Source, Destination string
	Slots               []SlotRange // ascending, apart from each other
}

// A Notice is one maintenance notification in typed and normalised form. Which
// fields are used depends on the kind.
type Notice struct {
	// Kind is the kind.
	Kind Kind
	// Seq is the server's sequence number of the event: per database, from 0, the
	// same on every node and connection (measured). It starts again when a
	// database is created anew. Numbers below 0 are never on the wire and free for
	// notices that a client makes itself, of what it learned in another way.
	Seq int64
	// Time is, for MOVING, the time from arrival until the old endpoint stops; it
	// can be zero or negative when that is nearly over (measured). For the opening
	// notices it is the lead time before the operation begins, not its length.
	Time time.Duration
	// HasTime says that the notice told a time.
	HasTime bool
	// Endpoint is, for MOVING, where to connect: "host:port", an IPv6 address in
	// brackets. "" means that the server named none.
	Endpoint string
	// Shards are the ids of the shards concerned, sorted, without repetition; nil
	// if the notice did not tell.
	Shards []string
	// Slots are, for SMIGRATING, the slots concerned, ascending, apart from each
	// other.
	Slots []SlotRange
	// Moves are, for SMIGRATED, the slots with their old and new owner, in the
	// order of the notice.
	Moves []SlotMove
}

// String renders the notice on one line, as logs and traces show it.
func (n Notice) String() string {
	var b strings.Builder
	b.WriteString(n.Kind.String())
	b.WriteString(" seq=")
	b.WriteString(strconv.FormatInt(n.Seq, 10))
	if n.HasTime {
		b.WriteString(" time=")
		b.WriteString(n.Time.String())
	}
	if n.Kind == KindMoving {
		b.WriteString(" endpoint=")
		if n.Endpoint == "" {
			b.WriteString("none")
		}
		b.WriteString(n.Endpoint)
	}
	if n.Shards != nil {
		b.WriteString(" shards=")
		b.WriteString(strings.Join(n.Shards, ","))
	}
	if n.Slots != nil {
		b.WriteString(" slots=")
		b.WriteString(formatSlots(n.Slots))
	}
	for _, mv := range n.Moves {
		b.WriteString(" move=")
		b.WriteString(mv.Source)
		b.WriteString(">")
		b.WriteString(mv.Destination)
		b.WriteString("[")
		b.WriteString(formatSlots(mv.Slots))
		b.WriteString("]")
	}
	return b.String()
}

func formatSlots(rs []SlotRange) string {
	parts := make([]string, len(rs))
	for i, r := range rs {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

// normaliseSlots sorts ranges and joins those that overlap or touch.
func normaliseSlots(rs []SlotRange) []SlotRange {
	slices.SortFunc(rs, func(a, b SlotRange) int {
		if a.First != b.First {
			return int(a.First) - int(b.First)
		}
		return int(a.Last) - int(b.Last)
	})
	out := rs[:0]
	for _, r := range rs {
		if k := len(out) - 1; k >= 0 && int(r.First) <= int(out[k].Last)+1 {
			out[k].Last = max(out[k].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return out
}
