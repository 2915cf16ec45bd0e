package maintnotifications

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultPort = 6379  // of a bracketed IPv6 address without one
	lastSlot    = 16383 // a cluster has 16384 slots
	maxHostLen  = 255   // of a DNS name
	maxLabelLen = 63
	maxSeconds  = int64(math.MaxInt64 / time.Second) // what a time.Duration can hold
)

// ParseNotice reads a push frame. args[0] is its name, the rest its arguments in
// the generic form frames have after decoding: string, []byte, int64, float64,
// nil, []any or error. args is not changed and not kept.
//
// Numbers may be integers or their digits as text. A time beyond what a
// [time.Duration] holds becomes the largest there is. Further elements than a
// kind has are ignored. What is accepted for each kind:
//
//   - MOVING seq time [endpoint]. No endpoint is told by leaving it out, by null,
//     or by "null", "?", "", an empty host, or port 0. An IPv6 address may stand
//     without brackets (the port is then behind the last colon), or in brackets
//     without a port (it is then 6379).
//   - MIGRATING and FAILING_OVER seq [time [shards]].
//   - MIGRATED and FAILED_OVER seq [shards]. The shards are a JSON array in one
//     string, of strings or numbers, or an array of the protocol, or plain text
//     with commas. Null or nothing means that they are not told.
//   - SMIGRATING seq slots..., each with single slots and inclusive ranges
//     separated by commas.
//   - SMIGRATED seq moves, an array of [source, destination, slots]. The older
//     forms without a source (pairs or a flat list) are refused: without the
//     source a move can't be checked.
//
// Everything else is an error that wraps [ErrInvalidNotification] and says what
// is wrong.
func ParseNotice(args []any) (Notice, error) {
	n, err := parseNotice(args)
	if err != nil {
		return Notice{}, fmt.Errorf("%w: %w", ErrInvalidNotification, err)
	}
	return n, nil
}

func parseNotice(args []any) (Notice, error) {
	if len(args) == 0 {
		return Notice{}, errors.New("empty frame")
	}
	name, ok := text(args[0])
	if !ok {
		return Notice{}, fmt.Errorf("name is %s", describe(args[0]))
	}
	kind, ok := KindOf(name)
	if !ok {
		return Notice{}, fmt.Errorf("unknown name %s", clip(name))
	}
	n := Notice{Kind: kind}
	if len(args) < 2 {
		return n, fmt.Errorf("%s: no sequence number", kind)
	}
	seq, err := sequence(args[1])
	if err != nil {
		return n, fmt.Errorf("%s: sequence number: %w", kind, err)
	}
	if seq < 0 {
		return n, fmt.Errorf("%s: sequence number %d is negative", kind, seq)
	}
	n.Seq = seq
	rest := args[2:]
	switch kind {
	case KindMoving:
		err = n.parseMoving(rest)
	case KindMigrating, KindFailingOver:
		err = n.parseOpening(rest)
	case KindMigrated, KindFailedOver:
		if len(rest) > 0 {
			n.Shards, err = shards(rest[0])
		}
	case KindSMigrating:
		err = n.parseSMigrating(rest)
	case KindSMigrated:
		err = n.parseSMigrated(rest)
	}
	if err != nil {
		return n, fmt.Errorf("%s seq %d: %w", kind, seq, err)
	}
	return n, nil
}

func (n *Notice) parseMoving(rest []any) error {
	if len(rest) == 0 {
		return errors.New("no time")
	}
	if err := n.setTime(rest[0]); err != nil {
		return err
	}
	if len(rest) == 1 || rest[1] == nil {
		return nil
	}
	s, ok := text(rest[1])
	if !ok {
		return fmt.Errorf("endpoint is %s", describe(rest[1]))
	}
	ep, err := endpoint(s)
	if err != nil {
		return fmt.Errorf("endpoint %s: %w", clip(s), err)
	}
	n.Endpoint = ep
	return nil
}

func (n *Notice) parseOpening(rest []any) error {
	if len(rest) > 0 && rest[0] != nil {
		if err := n.setTime(rest[0]); err != nil {
			return err
		}
	}
	var err error
	if len(rest) > 1 {
		n.Shards, err = shards(rest[1])
	}
	return err
}

func (n *Notice) parseSMigrating(rest []any) error {
	if len(rest) == 0 {
		return errors.New("no slots")
	}
	var all []SlotRange
	for _, v := range rest {
		rs, err := slotRanges(v)
		if err != nil {
			return err
		}
		all = append(all, rs...)
	}
	n.Slots = normaliseSlots(all)
	return nil
}

func (n *Notice) parseSMigrated(rest []any) error {
	if len(rest) == 0 {
		return errors.New("no moves")
	}
	list, ok := rest[0].([]any)
	if !ok {
		return fmt.Errorf("moves are %s, not an array", describe(rest[0]))
	}
	if len(list) == 0 {
		return errors.New("no moves")
	}
	moves := make([]SlotMove, 0, len(list))
	for i, v := range list {
		t, ok := v.([]any)
		if !ok || len(t) != 3 {
			return fmt.Errorf("move %d is not [source, destination, slots]", i)
		}
		var mv SlotMove
		for j, dst := range []*string{&mv.Source, &mv.Destination} {
			s, ok := text(t[j])
			if !ok {
				return fmt.Errorf("move %d: node is %s", i, describe(t[j]))
			}
			ep, err := endpoint(s)
			if err == nil && ep == "" {
				err = errors.New("names no node")
			}
			if err != nil {
				return fmt.Errorf("move %d: node %s: %w", i, clip(s), err)
			}
			*dst = ep
		}
		rs, err := slotRanges(t[2])
		if err != nil {
			return fmt.Errorf("move %d: %w", i, err)
		}
		mv.Slots = normaliseSlots(rs)
		moves = append(moves, mv)
	}
	n.Moves = moves
	return nil
}

// setTime reads seconds. What a Duration can't hold is clamped, so that a far
// future stays one.
func (n *Notice) setTime(v any) error {
	s, err := integer(v)
	if err != nil {
		return fmt.Errorf("time: %w", err)
	}
	n.Time = time.Duration(min(max(s, -maxSeconds), maxSeconds)) * time.Second
	n.HasTime = true
	return nil
}

// text reads a string in any of its forms.
func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// integer reads a whole number: an integer, a float without a fraction, or
// digits. Digits beyond int64 become the nearest int64.
func integer(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		if v != math.Trunc(v) || math.IsInf(v, 0) { // a NaN differs from itself
			return 0, fmt.Errorf("%v is no whole number", v)
		}
		// float64(MaxInt64) is 1<<63, one more than fits.
		if v >= math.MaxInt64 {
			return math.MaxInt64, nil
		}
		if v <= math.MinInt64 {
			return math.MinInt64, nil
		}
		return int64(v), nil
	}
	s, ok := text(v)
	if !ok {
		return 0, fmt.Errorf("%s is no number", describe(v))
	}
	i, err := strconv.ParseInt(s, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is no number", clip(s))
	}
	return i, nil // ParseInt returns the nearest value with ErrRange
}

// sequence reads a sequence number. One that does not fit is refused: taken for the
// nearest, it would make every later notice look old.
func sequence(v any) (int64, error) {
	i, err := integer(v)
	if err == nil && (i == math.MaxInt64 || i == math.MinInt64) {
		err = fmt.Errorf("%s is out of range", describe(v))
	}
	return i, err
}

// describe names the type of a value that is not what was expected.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case []any:
		return "an array"
	case error:
		return "an error"
	case string:
		return clip(v)
	case []byte:
		return clip(string(v))
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprintf("a %T", v)
}

// clip quotes text of a server for an error, at most 64 bytes of it.
func clip(s string) string {
	if len(s) > 64 {
		return strconv.Quote(s[:64]) + "..."
	}
	return strconv.Quote(s)
}

// endpoint reads "host:port" and returns it with a bracketed IPv6 address, or ""
// if it names no endpoint.
func endpoint(s string) (string, error) {
	if s == "" || s == "?" || strings.EqualFold(s, "null") {
		return "", nil
	}
	var host, port string
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", errors.New("bracket is not closed")
		}
		host = s[1:end]
		ip, err := netip.ParseAddr(host)
		if err != nil || !ip.Is6() {
			return "", errors.New("no IPv6 address in brackets")
		}
		switch tail := s[end+1:]; {
		case tail == "":
			port = strconv.Itoa(defaultPort)
		case strings.HasPrefix(tail, ":"):
			port = tail[1:]
		default:
			return "", errors.New("text behind the bracket")
		}
	} else {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			return "", errors.New("no port")
		}
		host, port = s[:i], s[i+1:]
	}
	p, err := parsePort(port)
	if err != nil {
		return "", err
	}
	if p == 0 || host == "" || host == "?" || strings.EqualFold(host, "null") {
		return "", nil
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && strings.ContainsFunc(ip.Zone(), notInZone):
		return "", errors.New("odd zone")
	case err == nil:
		// One form for one address: 1.2.3.4 for ::ffff:1.2.3.4.
		return netip.AddrPortFrom(ip.Unmap(), p).String(), nil
	}
	if err := checkHostName(host); err != nil {
		return "", err
	}
	return host + ":" + strconv.Itoa(int(p)), nil
}

func parsePort(s string) (uint16, error) {
	if s == "" {
		return 0, errors.New("no port")
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, errors.New("port is no number")
		}
	}
	p, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, errors.New("port is beyond 65535")
	}
	return uint16(p), nil
}

// checkHostName refuses what can't be a DNS name: such a target would only waste
// the time of the handoff.
func checkHostName(host string) error {
	name := strings.TrimSuffix(host, ".")
	if len(name) == 0 || len(name) > maxHostLen {
		return errors.New("host is no name")
	}
	digits := true
	for label := range strings.SplitSeq(name, ".") {
		if len(label) == 0 || len(label) > maxLabelLen {
			return errors.New("host has an empty or too long label")
		}
		if label[0] == '-' || label[len(label)-1] == '-' {
			return errors.New("host has a label with a hyphen at its end")
		}
		for i := range len(label) {
			switch c := label[i]; {
			case c >= '0' && c <= '9':
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_':
				digits = false
			default:
				return fmt.Errorf("host has a %q", rune(c))
			}
		}
	}
	if digits {
		return errors.New("host looks like an IP address and is none")
	}
	return nil
}

// notInZone says whether r can't be in the name of a network interface.
func notInZone(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '.' && r != '-' && r != '_'
}

// saneText says whether s has only visible ASCII characters.
func saneText(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// shards reads shard ids. nil means that they are not told.
func shards(v any) ([]string, error) {
	var ids []string
	switch v := v.(type) {
	case nil:
		return nil, nil
	case int64:
		ids = []string{strconv.FormatInt(v, 10)}
	case []any:
		for _, e := range v {
			id, err := shardID(e)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
	default:
		s, ok := text(v)
		if !ok {
			return nil, fmt.Errorf("shards are %s", describe(v))
		}
		var err error
		if ids, err = shardsText(s); err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil, nil
	}
	return ids, nil
}

func shardsText(s string) ([]string, error) {
	s = strings.TrimSpace(s)
	if s == "" || strings.EqualFold(s, "null") {
		return nil, nil
	}
	var ids []string
	if !strings.HasPrefix(s, "[") {
		for part := range strings.SplitSeq(s, ",") {
			id, err := shardID(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		return ids, nil
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var list []any
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("shards %s are no JSON array: %w", clip(s), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("shards %s: text behind the array", clip(s))
	}
	for _, e := range list {
		if num, ok := e.(json.Number); ok {
			e = num.String()
		}
		id, err := shardID(e)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// shardID reads one id; it is opaque, but has no characters that would break a
// log line or the text form.
func shardID(v any) (string, error) {
	if i, ok := v.(int64); ok {
		return strconv.FormatInt(i, 10), nil
	}
	s, ok := text(v)
	if !ok {
		return "", fmt.Errorf("shard id is %s", describe(v))
	}
	if s == "" || len(s) > maxHostLen || !saneText(s) {
		return "", fmt.Errorf("shard id %s is empty, too long, or has odd characters", clip(s))
	}
	return s, nil
}

// slotRanges reads "1,5-9", or one slot as a number.
func slotRanges(v any) ([]SlotRange, error) {
	if i, ok := v.(int64); ok {
		if i < 0 || i > lastSlot {
			return nil, fmt.Errorf("slot %d is beyond %d", i, lastSlot)
		}
		return []SlotRange{{uint16(i), uint16(i)}}, nil
	}
	var b []byte
	switch v := v.(type) {
	case string:
		b = []byte(v)
	case []byte:
		b = v
	default:
		return nil, fmt.Errorf("slots are %s", describe(v))
	}
	var out []SlotRange
	for part := range bytes.SplitSeq(b, []byte(",")) {
		first, last, isRange := strings.Cut(strings.TrimSpace(string(part)), "-")
		if !isRange {
			last = first
		}
		a, err := slot(first)
		if err != nil {
			return nil, err
		}
		z, err := slot(last)
		if err != nil {
			return nil, err
		}
		if a > z {
			return nil, fmt.Errorf("slot range %d-%d is upside down", a, z)
		}
		out = append(out, SlotRange{a, z})
	}
	return out, nil
}

func slot(s string) (uint16, error) {
	p, err := parsePort(strings.TrimSpace(s)) // digits up to 65535, as a port
	if err != nil || p > lastSlot {
		return 0, fmt.Errorf("%s is no slot", clip(s))
	}
	return p, nil
}
