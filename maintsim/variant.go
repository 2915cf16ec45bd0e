package maintsim

import (
	"slices"
	"strconv"
)

// A Variant is a form of a notice that is seen in the wild, or that clients are
// known to have met, beside the one of the measured servers. A client has to
// understand all of them. Variants of elements that a notice doesn't have are
// ignored.
type Variant string

// The variants; see [WithVariant].
const (
	// VariantNoEndpoint leaves the fourth element of MOVING out.
	VariantNoEndpoint Variant = "no-endpoint"
	// VariantNullText says "null" as text instead of an endpoint.
	VariantNullText Variant = "null-text"
	// VariantNullBulk says null in the way of RESP2 instead of an endpoint.
	VariantNullBulk Variant = "null-bulk"
	// VariantNullEndpoint says null instead of an endpoint, whatever was asked for.
	VariantNullEndpoint Variant = "null-endpoint"
	// VariantBareIPv6 leaves the brackets of an IPv6 address out: ::1:6379.
	VariantBareIPv6 Variant = "bare-ipv6"
	// VariantSeqText sends the sequence number as digits in a bulk string.
	VariantSeqText Variant = "seq-text"
	// VariantTimeText sends the seconds as digits in a bulk string.
	VariantTimeText Variant = "time-text"
	// VariantSimpleName sends the notice's name as a simple string.
	VariantSimpleName Variant = "simple-name"
	// VariantSimpleText sends endpoint and shards as simple strings.
	VariantSimpleText Variant = "simple-text"
	// VariantShardArray sends the shards as an array of bulk strings.
	VariantShardArray Variant = "shard-array"
	// VariantNoShards leaves the shards out.
	VariantNoShards Variant = "no-shards"
	// VariantNoTime leaves everything behind the sequence number of MIGRATING and
	// FAILING_OVER out.
	VariantNoTime Variant = "no-time"
	// VariantExtra adds an element that is none of today's.
	VariantExtra Variant = "extra"
)

// Variants are all variants.
func Variants() []Variant {
	return []Variant{
		VariantNoEndpoint, VariantNullText, VariantNullBulk, VariantNullEndpoint, VariantBareIPv6, VariantSeqText,
		VariantTimeText, VariantSimpleName, VariantSimpleText, VariantShardArray, VariantNoShards, VariantNoTime, VariantExtra,
	}
}

// Variants of what a cluster announces, beside VariantSeqText, VariantSimpleName,
// VariantSimpleText and VariantExtra.
const (
	// VariantSlotElements sends each range of SMIGRATING as an element of its own.
	VariantSlotElements Variant = "slot-elements"
	// VariantPairs leaves the source out of SMIGRATED, as older drafts had it. Clients
	// need not understand that.
	VariantPairs Variant = "pairs"
	// VariantResolved says in SMIGRATED where proxies listen, and not how they are known.
	VariantResolved Variant = "resolved"
)

// form is how a notice is encoded: the variants of it.
type form []Variant

func (f form) has(v Variant) bool { return slices.Contains(f, v) }

// appendHead opens a push with the elements every notice has. elems counts what
// comes behind them.
func (f form) appendHead(b []byte, n Notice, seq int64, elems int) []byte {
	if f.has(VariantExtra) {
		elems++
	}
	b = appendHead(b, '>', int64(2+elems))
	if f.has(VariantSimpleName) {
		b = appendSimple(b, string(n))
	} else {
		b = appendBulk(b, string(n))
	}
	return f.appendNumber(b, seq, VariantSeqText)
}

// appendEnd closes what appendHead opened.
func (f form) appendEnd(b []byte) []byte {
	if f.has(VariantExtra) {
		return appendBulk(b, "extra")
	}
	return b
}

func (f form) appendNumber(b []byte, n int64, asText Variant) []byte {
	if f.has(asText) {
		return appendBulk(b, strconv.FormatInt(n, 10))
	}
	return appendInt(b, n)
}

func (f form) appendText(b []byte, s string) []byte {
	if f.has(VariantSimpleText) {
		return appendSimple(b, s)
	}
	return appendBulk(b, s)
}

func (f form) appendShards(b []byte, ids []string) []byte {
	if !f.has(VariantShardArray) {
		return f.appendText(b, shardIDs(ids))
	}
	b = appendArrayLen(b, len(ids))
	for _, id := range ids {
		b = appendBulk(b, id)
	}
	return b
}

// Malformed returns frames that call themselves n and are no such notice, each a
// complete RESP3 push, to be sent with [Sim.Push]. A client has to ignore them: no
// window opens or closes, no connection is harmed.
func Malformed(n Notice) []string {
	head := func(elems int) []byte { return appendBulk(appendHead(nil, '>', int64(elems)), string(n)) }
	number := func(elems int) []byte { return appendInt(head(elems), 7) }
	frames := [][]byte{
		head(1),                                           // nothing but the name
		append(head(2), "_\r\n"...),                       // null for a number
		appendBulk(head(2), "seven"),                      // text for a number
		appendBulk(head(2), ""),                           // nothing for a number
		appendInt(appendArrayLen(head(2), 1), 7),          // an array for a number
		appendBulk(head(2), "92233720368547758080"),       // too large a number
		appendInt(head(2), -7),                            // no sequence number is negative
		append(appendHead(nil, '>', 2), "_\r\n:7\r\n"...), // null for the name
		appendHead(nil, '>', 0),                           // nothing at all
	}
	switch n {
	case Moving:
		frames = append(frames,
			number(2),
			append(number(4), "_\r\n_\r\n"...),
			appendBulk(appendBulk(number(4), "soon"), "127.0.0.1:6379"),
			appendInt(appendInt(number(4), 15), 6379),
			appendArrayLen(appendInt(number(4), 15), 0),
			appendBulk(appendInt(number(4), 15), "127.0.0.1:65536"),
			appendBulk(appendInt(number(4), 15), "127.0.0.1:port"),
			appendBulk(appendInt(number(4), 15), "a host:6379"),
			appendBulk(appendInt(number(4), 15), "[::1:6379"),
		)
	case Migrating, FailingOver:
		frames = append(frames,
			appendBulk(number(3), "soon"),
			appendBulk(appendArrayLen(number(4), 0), "[]"),
		)
	case Migrated, FailedOver, SMigrating, SMigrated:
	}
	out := make([]string, len(frames))
	for i, f := range frames {
		out[i] = string(f)
	}
	return out
}
