package maintsim

import (
	"encoding/json"
	"math"
	"net"
	"strconv"
	"time"
)

// A Notice is the name of a maintenance notification.
type Notice string

// The notices of a proxied database.
const (
	Moving      Notice = "MOVING"
	Migrating   Notice = "MIGRATING"
	Migrated    Notice = "MIGRATED"
	FailingOver Notice = "FAILING_OVER"
	FailedOver  Notice = "FAILED_OVER"
)

// The notices of a cluster.
const (
	SMigrating Notice = "SMIGRATING"
	SMigrated  Notice = "SMIGRATED"
)

// closing returns the notice that ends the window n opens.
func (n Notice) closing() Notice {
	switch n {
	case Migrating:
		return Migrated
	case FailingOver:
		return FailedOver
	case SMigrating:
		return SMigrated
	case Moving, Migrated, FailedOver, SMigrated:
	}
	return ""
}

// appendMoving appends a MOVING push. An empty target is sent as null.
func appendMoving(b []byte, seq, seconds int64, target string, f form) []byte {
	elems := 2
	if f.has(VariantNoEndpoint) {
		elems = 1
	}
	b = f.appendHead(b, Moving, seq, elems)
	b = f.appendNumber(b, seconds, VariantTimeText)
	switch {
	case elems == 1:
	case f.has(VariantNullText):
		b = f.appendText(b, "null")
	case f.has(VariantNullBulk):
		b = appendNull(b, 2)
	case f.has(VariantNullEndpoint), target == "":
		b = appendNull(b, 3)
	default:
		b = f.appendText(b, target)
	}
	return f.appendEnd(b)
}

// appendOpening appends a MIGRATING or FAILING_OVER push.
func appendOpening(b []byte, n Notice, seq, seconds int64, shards []string, f form) []byte {
	switch {
	case f.has(VariantNoTime):
		return form{VariantSeqText, VariantSimpleName}.only(f).appendHead(b, n, seq, 0)
	case f.has(VariantNoShards):
		b = f.appendHead(b, n, seq, 1)
		return f.appendEnd(f.appendNumber(b, seconds, VariantTimeText))
	}
	b = f.appendHead(b, n, seq, 2)
	b = f.appendNumber(b, seconds, VariantTimeText)
	return f.appendEnd(f.appendShards(b, shards))
}

// appendClosing appends a MIGRATED or FAILED_OVER push.
func appendClosing(b []byte, n Notice, seq int64, shards []string, f form) []byte {
	if f.has(VariantNoShards) {
		return form{VariantSeqText, VariantSimpleName}.only(f).appendHead(b, n, seq, 0)
	}
	b = f.appendHead(b, n, seq, 1)
	return f.appendEnd(f.appendShards(b, shards))
}

// A triplet is slots that went from one address to another.
type triplet struct{ from, to, slots string }

// appendSMigrating appends a SMIGRATING push.
func appendSMigrating(b []byte, seq int64, slots []SlotRange, f form) []byte {
	if !f.has(VariantSlotElements) {
		b = f.appendHead(b, SMigrating, seq, 1)
		return f.appendEnd(f.appendText(b, slotsText(slots)))
	}
	b = f.appendHead(b, SMigrating, seq, len(slots))
	for _, r := range slots {
		b = f.appendText(b, r.String())
	}
	return f.appendEnd(b)
}

// appendSMigrated appends a SMIGRATED push.
func appendSMigrated(b []byte, seq int64, moves []triplet, f form) []byte {
	b = f.appendHead(b, SMigrated, seq, 1)
	b = appendArrayLen(b, len(moves))
	for _, m := range moves {
		if f.has(VariantPairs) {
			b = appendArrayLen(b, 2)
		} else {
			b = f.appendText(appendArrayLen(b, 3), m.from)
		}
		b = f.appendText(f.appendText(b, m.to), m.slots)
	}
	return f.appendEnd(b)
}

// only returns the variants of f that are in want, too.
func (f form) only(want form) form {
	var out form
	for _, v := range f {
		if want.has(v) {
			out = append(out, v)
		}
	}
	return out
}

// shardIDs encodes ids as the one bulk string they travel in.
func shardIDs(ids []string) string {
	out, err := json.Marshal(ids)
	if err != nil || ids == nil {
		return "[]"
	}
	return string(out)
}

// A window is a maintenance operation that was announced and isn't over. It is
// immutable, except for untold.
type window struct {
	notice Notice
	seq    int64
	end    time.Time // of the grace or lead time
	shards []string  // not of MOVING
	form   form
	twice  bool        // every frame is sent twice
	nobody bool        // the opening is lost for late-comers, too
	slots  []SlotRange // of SMIGRATING

	// untold are the connections that were there when the window opened and
	// weren't told. Guarded by Sim.mu.
	untold map[*session]struct{}

	// Of MOVING only.
	leaving *proxy // whose connections are told
	gen     int    // those accepted in a later generation are not
	target  *proxy // nil: every connection is told null
	goesTo  *proxy // target, even if nobody is told; nil if the address stays
	repeat  bool   // connections at goesTo are told, too
	text    string // if not empty, the target everyone is told
}

// concerns reports whether connections of generation gen at p are told.
func (w *window) concerns(p *proxy, gen int) bool {
	return w.notice != Moving || p == w.leaving && gen <= w.gen || w.repeat && (p == w.goesTo || w.goesTo == nil)
}

// appendTo appends w's notice for a connection that opted in with endpoint type
// maint, with the time that is left at now.
func (w *window) appendTo(b []byte, maint string, now time.Time, unit time.Duration) []byte {
	left := wireSeconds(w.end.Sub(now), unit)
	start := len(b)
	switch w.notice {
	case Moving:
		b = appendMoving(b, w.seq, left, w.endpoint(maint), w.form)
	case SMigrating:
		b = appendSMigrating(b, w.seq, w.slots, w.form)
	default:
		b = appendOpening(b, w.notice, w.seq, max(left, 0), w.shards, w.form)
	}
	return w.repeated(b, start)
}

// repeated doubles b[start:] if w's frames are sent twice.
func (w *window) repeated(b []byte, start int) []byte {
	if w.twice {
		b = append(b, b[start:]...)
	}
	return b
}

// endpoint is the target in the form of an endpoint type, empty for null.
func (w *window) endpoint(maint string) string {
	if w.text != "" {
		return w.text
	}
	if w.target == nil {
		return ""
	}
	switch maint {
	case "internal-ip", "external-ip":
		if w.form.has(VariantBareIPv6) {
			return w.target.host + ":" + strconv.Itoa(w.target.port)
		}
		return w.target.addr
	case "internal-fqdn", "external-fqdn":
		return net.JoinHostPort(w.target.name, strconv.Itoa(w.target.port))
	}
	return ""
}

// wireSeconds rounds d to seconds of length unit.
func wireSeconds(d, unit time.Duration) int64 {
	return int64(math.Round(float64(d) / float64(unit)))
}

// A completion is a closing notice. All but SMIGRATED are kept for connections to come.
type completion struct {
	notice Notice
	seq    int64
	shards []string
	form   form
	twice  bool
	moves  []triplet // of SMIGRATED
}

func (c *completion) appendTo(b []byte) []byte {
	start := len(b)
	if c.notice == SMigrated {
		b = appendSMigrated(b, c.seq, c.moves, c.form)
	} else {
		b = appendClosing(b, c.notice, c.seq, c.shards, c.form)
	}
	if c.twice {
		b = append(b, b[start:]...)
	}
	return b
}
