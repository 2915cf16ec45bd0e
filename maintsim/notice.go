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

// closing returns the notice that ends the window n opens.
func (n Notice) closing() Notice {
	switch n {
	case Migrating:
		return Migrated
	case FailingOver:
		return FailedOver
	case Moving, Migrated, FailedOver:
	}
	return ""
}

// appendMoving appends a MOVING push. An empty target is sent as null.
func appendMoving(b []byte, seq, seconds int64, target string) []byte {
	b = appendPush(b, 4, Moving, seq)
	b = appendInt(b, seconds)
	if target == "" {
		return appendNull(b, 3)
	}
	return appendBulk(b, target)
}

// appendOpening appends a MIGRATING or FAILING_OVER push.
func appendOpening(b []byte, n Notice, seq, seconds int64, shards []string) []byte {
	b = appendPush(b, 4, n, seq)
	b = appendInt(b, seconds)
	return appendBulk(b, shardIDs(shards))
}

// appendClosing appends a MIGRATED or FAILED_OVER push.
func appendClosing(b []byte, n Notice, seq int64, shards []string) []byte {
	b = appendPush(b, 3, n, seq)
	return appendBulk(b, shardIDs(shards))
}

func appendPush(b []byte, elems int, n Notice, seq int64) []byte {
	b = appendHead(b, '>', int64(elems))
	b = appendBulk(b, string(n))
	return appendInt(b, seq)
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
// immutable.
type window struct {
	notice Notice
	seq    int64
	end    time.Time // of the grace or lead time
	shards []string  // not of MOVING

	// Of MOVING only.
	leaving *proxy // whose connections are told
	gen     int    // those accepted in a later generation are not
	target  *proxy // nil: every connection is told null
	text    string // if not empty, the target everyone is told
}

// concerns reports whether connections of generation gen at p are told.
func (w *window) concerns(p *proxy, gen int) bool {
	return w.notice != Moving || p == w.leaving && gen <= w.gen
}

// appendTo appends w's notice for a connection that opted in with endpoint type
// maint, with the time that is left at now.
func (w *window) appendTo(b []byte, maint string, now time.Time, unit time.Duration) []byte {
	left := wireSeconds(w.end.Sub(now), unit)
	if w.notice == Moving {
		return appendMoving(b, w.seq, left, w.endpoint(maint))
	}
	return appendOpening(b, w.notice, w.seq, max(left, 0), w.shards)
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

// A completion is the closing notice that is kept for connections to come.
type completion struct {
	notice Notice
	seq    int64
	shards []string
}
