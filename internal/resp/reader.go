package resp

import (
	"bytes"
	"math"
	"strconv"
	"unsafe"
)

// A Reader walks over the values of one complete frame. It is a value: copying
// it gives a second reader at the same place. Its methods allocate only what
// they return.
//
// Every method reads one value and consumes it, also if it returns a
// [*TypeError] or an [Error]. Attributes are skipped silently. Bytes that are
// not RESP, or end too early, give a [*ProtocolError]; nothing can be read
// after that.
type Reader struct {
	b   []byte
	pos int
	own bool   // b belongs to the reader's user for good
	to  *Chunk // where short strings are put; nil: each has memory of its own
}

// A Chunk is memory that short strings of several replies share, so that they need not
// be allocated one by one. It lives as long as any of them. The zero value is ready.
type Chunk struct{ free []byte }

const (
	chunkSize  = 4 << 10 // of memory at a time
	chunkShare = 256     // the longest string that shares it
)

// copy gives b as a string.
func (c *Chunk) copy(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if cap(c.free)-len(c.free) < len(b) {
		c.free = make([]byte, 0, min(max(2*cap(c.free), 4*len(b)), chunkSize)) // the first one is small
	}
	from := len(c.free)
	c.free = append(c.free, b...)
	return unsafe.String(&c.free[from], len(b))
}

// NewReader returns a reader over frame, which it aliases.
func NewReader(frame []byte) Reader { return Reader{b: frame} }

// NewOwner returns a reader over a frame that nobody changes any more: a string that
// is most of it is not copied.
func NewOwner(frame []byte) Reader { return Reader{b: frame, own: true} }

// NewSharing returns a reader over frame whose short strings are put into a chunk.
func NewSharing(frame []byte, to *Chunk) Reader { return Reader{b: frame, to: to} }

// Len returns how many bytes are left.
func (r *Reader) Len() int { return len(r.b) - r.pos }

// Kind returns the kind of the next value without consuming it, nulls of RESP2
// as what they look like, '$' or '*'. It is 0 at the end and where no value can
// be read.
func (r *Reader) Kind() Kind {
	if r.skipAttributes() != nil || r.pos >= len(r.b) {
		return 0
	}
	if k := Kind(r.b[r.pos]); k.layout() != layoutNone {
		return k
	}
	return 0
}

// Null reports whether the next value is a null, in any of its three forms, and
// consumes it if so.
func (r *Reader) Null() bool {
	if r.skipAttributes() != nil {
		return false
	}
	b := r.b[r.pos:]
	switch {
	case len(b) >= 3 && b[0] == '_' && b[1] == '\r' && b[2] == '\n':
		r.pos += 3
		return true
	case len(b) >= 5 && (b[0] == '$' || b[0] == '*') && b[1] == '-' && b[2] == '1' && b[3] == '\r' && b[4] == '\n':
		r.pos += 5
		return true
	}
	return false
}

// Skip consumes one value of any kind and depth.
func (r *Reader) Skip() error { return r.skip(1) }

// Raw consumes one value of any kind and depth and returns its bytes, without the
// attributes before it. They alias the frame.
func (r *Reader) Raw() ([]byte, error) {
	if err := r.skipAttributes(); err != nil {
		return nil, err
	}
	at := r.pos
	err := r.Skip()
	return r.b[at:r.pos:r.pos], err
}

// skip consumes n values.
func (r *Reader) skip(n int64) error {
	for n > 0 {
		if m := quick(r.b[r.pos:]); m > 0 {
			r.pos += m
			n--
			continue
		}
		h, err := r.header()
		if err != nil {
			return err
		}
		if h.kind != KindAttribute {
			n--
		}
		if h.n <= 0 && h.kind.layout() != layoutBlob {
			continue
		}
		switch h.kind.layout() {
		case layoutBlob:
			if h.n >= 0 {
				if _, err := r.blob(h); err != nil {
					return err
				}
			}
		case layoutAggregate:
			n += h.n
			if n > int64(r.Len()/minValue) {
				return r.broken(r.cut())
			}
		case layoutNone, layoutLine:
		}
	}
	return nil
}

// skipAttributes moves to the type byte of the next value.
func (r *Reader) skipAttributes() error {
	for r.pos < len(r.b) && r.b[r.pos] == '|' {
		h, err := r.header()
		if err != nil {
			return err
		}
		if err := r.skip(h.n); err != nil {
			return err
		}
	}
	return nil
}

// header parses the header of the next value and moves behind it.
func (r *Reader) header() (header, error) {
	if r.pos >= len(r.b) {
		return header{}, r.broken(r.cut())
	}
	if h := quickAggregate(r.b[r.pos:]); h.next > 0 {
		h.next += r.pos
		r.pos = h.next
		return h, nil
	}
	if Kind(r.b[r.pos]).layout() == layoutNone {
		return header{}, r.broken(badKind(r.b, r.pos))
	}
	eol := r.pos
	for stop := min(len(r.b), r.pos+fastLine); eol < stop && r.b[eol] != '\n'; eol++ {
	}
	if eol < len(r.b) && r.b[eol] != '\n' {
		if i := bytes.IndexByte(r.b[eol:], '\n'); i >= 0 {
			eol += i
		} else {
			eol = len(r.b)
		}
	}
	if eol == len(r.b) {
		return header{}, r.broken(r.cut())
	}
	h, err := parseHeader(r.b, r.pos, eol)
	if err != nil {
		return h, r.broken(err)
	}
	r.pos = h.next
	return h, nil
}

// blob returns the bytes that h announces and moves behind them.
func (r *Reader) blob(h header) ([]byte, error) {
	if h.n > int64(r.Len()-2) {
		return nil, r.broken(r.cut())
	}
	start, end := r.pos, r.pos+int(h.n)+2
	if err := checkTail(r.b, h.kind, start, end); err != nil {
		return nil, r.broken(err)
	}
	r.pos = end
	if h.kind == KindVerbatim {
		start += 4
	}
	return r.b[start : end-2 : end-2], nil
}

// cut returns the error for a frame that ends in the middle of a value.
func (r *Reader) cut() *ProtocolError {
	return &ProtocolError{Offset: len(r.b), Found: sample(nil), Want: "the rest of the value"}
}

// broken makes the reader empty, because nothing after err can be understood.
func (r *Reader) broken(err *ProtocolError) error {
	r.pos = len(r.b)
	return err
}

// quickString reads a bulk or simple string if one is next that is ordinary and
// complete.
func (r *Reader) quickString() (text []byte, ok bool) {
	b := r.b[r.pos:]
	if len(b) < minValue || b[0] != '$' && b[0] != '+' {
		return nil, false
	}
	n := quick(b)
	var start int // after the header, whose length follows from that of the whole
	switch {
	case n > 0 && b[0] == '+':
		start = 1
	case n < 6:
		return nil, false // not ordinary, or null
	case n <= 9+6:
		start = 4
	case n <= 99+7:
		start = 5
	case n <= 999+8:
		start = 6
	default:
		return nil, false
	}
	r.pos += n
	return b[start : n-2 : n-2], true
}

// Text gives the text of a whole frame that is a bulk or simple string and nothing else;
// ok false: it is something else. The text aliases the frame.
func Text(frame []byte) (text []byte, ok bool) {
	if len(frame) < minValue {
		return nil, false
	}
	switch frame[0] {
	case '+':
		return frame[1 : len(frame)-2 : len(frame)-2], true
	case '$':
		i := 1
		for ; i < len(frame)-2 && frame[i] != '\r'; i++ {
			if frame[i]-'0' > 9 {
				return nil, false // null, or streamed
			}
		}
		if i += 2; i <= len(frame)-2 {
			return frame[i : len(frame)-2 : len(frame)-2], true
		}
	}
	return nil, false
}

// Integer gives the number of a whole frame that is an integer; ok false: it is something
// else, or has unusual digits.
func Integer(frame []byte) (n int64, ok bool) {
	r := Reader{b: frame}
	return r.quickInt()
}

// quickInt reads an integer if one is next that is ordinary.
func (r *Reader) quickInt() (v int64, ok bool) {
	b := r.b[r.pos:]
	if len(b) < 4 || b[0] != ':' {
		return 0, false
	}
	i := 1
	if b[1] == '-' {
		i = 2
	}
	first := i
	for ; i < len(b)-1; i++ {
		c := b[i] - '0'
		if c > 9 {
			if i == first || b[i] != '\r' || b[i+1] != '\n' {
				return 0, false
			}
			r.pos += i + 2
			if first == 2 {
				v = -v
			}
			return v, true
		}
		if i >= maxDigits { // 18 digits can't overflow
			return 0, false
		}
		v = v*10 + int64(c)
	}
	return 0, false
}

// item is one value as the reader's typed methods see it.
type item struct {
	kind Kind   // KindNull for a null of any form
	text []byte // of a scalar: its content, for a verbatim string without the format
	n    int64  // values in the aggregate, which are not consumed yet
	at   int    // where it starts
}

// next reads one scalar, or the header of one aggregate.
func (r *Reader) next() (item, error) {
	if err := r.skipAttributes(); err != nil {
		return item{}, err
	}
	it := item{at: r.pos}
	h, err := r.header()
	if err != nil {
		return it, err
	}
	it.kind = h.kind
	switch h.kind.layout() {
	case layoutLine:
		it.text = r.b[it.at+1 : h.next-2 : h.next-2]
	case layoutBlob:
		if h.n < 0 {
			it.kind = KindNull
			break
		}
		it.text, err = r.blob(h)
	case layoutAggregate:
		if h.n < 0 {
			it.kind = KindNull
			break
		}
		it.n = h.n
		if h.n > int64(r.Len()/minValue) {
			err = r.broken(r.cut())
		}
	case layoutNone:
	}
	return it, err
}

// mismatch returns the error for it not being what was asked for, and consumes
// what is left of it.
func (r *Reader) mismatch(it item, want string) error {
	switch it.kind {
	case KindNull:
		return Nil
	case KindError, KindBulkError:
		return Error(it.text)
	}
	if err := r.skip(it.n); err != nil {
		return err
	}
	return &TypeError{Want: want, Got: it.kind, Sample: sample(r.b[it.at:r.pos])}
}

// Bytes returns the text of a string of any kind, or of a number as it was
// sent; a boolean gives true or false. What it returns aliases the frame,
// except for booleans. A null gives [Nil], an error reply an [Error].
func (r *Reader) Bytes() ([]byte, error) {
	if text, ok := r.quickString(); ok {
		return text, nil
	}
	it, err := r.next()
	if err != nil {
		return nil, err
	}
	switch it.kind {
	case KindBulk, KindSimple, KindVerbatim, KindInt, KindDouble, KindBigNumber:
		return it.text, nil
	case KindBool:
		return strconv.AppendBool(nil, it.text[0] == 't'), nil
	}
	return nil, r.mismatch(it, "string")
}

// String is [Reader.Bytes] with a copy of the text.
func (r *Reader) String() (string, error) {
	b, err := r.Bytes()
	if r.own && len(b) > len(r.b)/2 {
		return unsafe.String(&b[0], len(b)), err // see NewOwner
	}
	if r.to != nil && len(b) <= chunkShare {
		return r.to.copy(b), err
	}
	return string(b), err
}

// Int reads an integer, from any kind that holds one: an integer, a string of
// digits, a boolean as 0 or 1, a double or big number that is integral and in
// range.
func (r *Reader) Int() (int64, error) {
	if n, ok := r.quickInt(); ok {
		return n, nil
	}
	it, err := r.next()
	if err != nil {
		return 0, err
	}
	switch it.kind {
	case KindInt, KindBulk, KindSimple, KindVerbatim, KindBigNumber:
		if n, ok := parseInt(it.text); ok {
			return n, nil
		}
	case KindBool:
		if it.text[0] == 't' {
			return 1, nil
		}
		return 0, nil
	case KindDouble:
		f, ok := parseFloat(it.text)
		if ok && f == math.Trunc(f) && f >= -1<<63 && f < 1<<63 {
			return int64(f), nil
		}
	}
	return 0, r.mismatch(it, "int64")
}

// Uint reads an integer that isn't negative, from the kinds that
// [Reader.Int] reads.
func (r *Reader) Uint() (uint64, error) {
	it, err := r.next()
	if err != nil {
		return 0, err
	}
	switch it.kind {
	case KindInt, KindBulk, KindSimple, KindVerbatim, KindBigNumber:
		if n, negative, ok := parseMagnitude(it.text); ok && (!negative || n == 0) {
			return n, nil
		}
	case KindBool:
		if it.text[0] == 't' {
			return 1, nil
		}
		return 0, nil
	case KindDouble:
		f, ok := parseFloat(it.text)
		if ok && f == math.Trunc(f) && f >= 0 && f < 1<<64 {
			return uint64(f), nil
		}
	}
	return 0, r.mismatch(it, "uint64")
}

// Float reads a number as float64, from a double, an integer, a big number or a
// string holding one, with inf and nan in any case. Out of the range of float64
// is a [*TypeError].
func (r *Reader) Float() (float64, error) {
	it, err := r.next()
	if err != nil {
		return 0, err
	}
	switch it.kind {
	case KindInt, KindBulk, KindSimple, KindVerbatim, KindDouble, KindBigNumber:
		if f, ok := parseFloat(it.text); ok {
			return f, nil
		}
	}
	return 0, r.mismatch(it, "float64")
}

// Bool reads a boolean. The integer 1 is true and every other integer false,
// as go-redis has it; of strings, OK, 1 and true are true, 0 and false are
// false, and others a [*TypeError].
func (r *Reader) Bool() (bool, error) {
	it, err := r.next()
	if err != nil {
		return false, err
	}
	switch it.kind {
	case KindBool:
		return it.text[0] == 't', nil
	case KindInt:
		n, ok := parseInt(it.text)
		return ok && n == 1, nil
	case KindBulk, KindSimple, KindVerbatim:
		switch string(it.text) {
		case "OK", "1", "true":
			return true, nil
		case "0", "false":
			return false, nil
		}
	}
	return false, r.mismatch(it, "bool")
}

// ArrayLen reads the header of an array, set or push and returns how many
// values follow; a map gives two for each pair. A null gives [Nil]. The number
// is never more than the bytes left could hold, so it may be allocated.
func (r *Reader) ArrayLen() (int, error) {
	it, err := r.next()
	if err != nil {
		return 0, err
	}
	switch it.kind {
	case KindArray, KindSet, KindPush, KindMap:
		return int(it.n), nil
	}
	return 0, r.mismatch(it, "array")
}

// MapLen reads the header of a map and returns how many pairs follow; so does
// an array or set of an even number of values, which is a map in RESP2. A null
// gives [Nil]. The number is never more than the bytes left could hold.
func (r *Reader) MapLen() (int, error) {
	it, err := r.next()
	if err != nil {
		return 0, err
	}
	switch it.kind {
	case KindMap, KindArray, KindSet, KindPush:
		if it.n%2 == 0 {
			return int(it.n / 2), nil
		}
	}
	return 0, r.mismatch(it, "map")
}

// parseInt parses an optional sign and digits.
func parseInt(b []byte) (int64, bool) {
	n, negative, ok := parseMagnitude(b)
	switch {
	case !ok:
		return 0, false
	case negative:
		return -int64(n), n <= 1<<63
	}
	return int64(n), n <= math.MaxInt64
}

// parseMagnitude parses an optional sign and digits whose value without the
// sign fits a uint64.
func parseMagnitude(b []byte) (n uint64, negative, ok bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false, false
	}
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false, false
		}
		if n > (math.MaxUint64-uint64(c))/10 {
			return 0, false, false
		}
		n = n*10 + uint64(c)
	}
	return n, negative, true
}

// parseFloat parses what isDouble accepts.
func parseFloat(b []byte) (float64, bool) {
	if n, ok := parseInt(b); ok && -1<<53 <= n && n <= 1<<53 && (n != 0 || b[0] != '-') {
		return float64(n), true
	}
	if !isDouble(b) {
		return 0, false
	}
	if c := b[len(b)-1]; c == 'n' || c == 'N' {
		return math.NaN(), true // strconv knows no sign of a nan
	}
	f, err := strconv.ParseFloat(string(b), 64)
	return f, err == nil
}
