package resp

import "bytes"

// Limits bound what a peer can make this side keep in memory. A zero field
// means the default; a negative one is taken as zero.
type Limits struct {
	MaxDepth int // aggregates inside each other; default 128
	MaxBulk  int // bytes of one bulk, verbatim string or bulk error; default 512 MiB, the server's own limit
	MaxElems int // values in one aggregate, a pair of a map being two; default 16 Mi
	MaxLine  int // bytes of one line, without type byte and CRLF; default 1 MiB
	MaxFrame int // bytes of one frame; default 1 GiB
}

// defaultLimits are the limits of a scanner's zero value.
const (
	defaultMaxDepth = 128
	defaultMaxBulk  = 512 << 20
	defaultMaxElems = 16 << 20
	defaultMaxLine  = 1 << 20
	defaultMaxFrame = 1 << 30
)

// withDefaults returns l with every field set.
func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.MaxDepth, defaultMaxDepth},
		{&l.MaxBulk, defaultMaxBulk},
		{&l.MaxElems, defaultMaxElems},
		{&l.MaxLine, defaultMaxLine},
		{&l.MaxFrame, defaultMaxFrame},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return l
}

// A Scanner finds where a frame ends. It is resumable: given the same frame
// again with more bytes, it goes on where it stopped. The zero value is ready
// and uses the default limits. It keeps no reference to the bytes it is given.
type Scanner struct {
	// slow is set when quick may not be asked about the first value: in the
	// middle of a frame, after an error, or when limits are too tight.
	slow  bool
	tight bool // limits are below what quick accepts

	pos   int     // start of the value being looked at
	seen  int     // 0, or up to where its first line was searched for LF
	body  int     // 0, or where the blob being waited for starts
	end   int     // where it ends, CRLF included; only if body > 0
	kind  Kind    // of the blob; only if body > 0
	left  int64   // values missing in the innermost open aggregate
	outer []int64 // values missing in those around it, outermost first

	limits Limits // all fields set, or the zero value for the defaults
	err    error  // sticky
}

// SetLimits replaces the limits. It may be called between frames only.
func (s *Scanner) SetLimits(l Limits) {
	s.limits = l.withDefaults()
	s.tight = s.limits.MaxBulk < fastBulk || s.limits.MaxLine < fastLine || s.limits.MaxFrame < 2*fastBulk
	s.slow = s.slow || s.tight
}

// Reset forgets the current frame and an error, and keeps the limits.
func (s *Scanner) Reset() {
	s.err = nil
	s.start()
}

// start makes the scanner ready for the next frame.
func (s *Scanner) start() {
	s.slow = s.tight
	s.pos, s.seen, s.body, s.left, s.outer = 0, 0, 0, 0, s.outer[:0]
}

// Next looks for the end of the frame that b starts with. b must hold at least
// what it held in the previous call if that returned 0.
//
// If n > 0, the frame is b[:n] and the scanner is ready for the next one. If n
// is 0 without an error, more bytes are needed. An attribute and the value it
// belongs to are one frame. After an error every call returns the same error
// until [Scanner.Reset]. Errors are [*ProtocolError] and [*LimitError]; the
// latter comes as soon as a header announces too much.
func (s *Scanner) Next(b []byte) (n int, err error) {
	if !s.slow {
		if n = quick(b); n > 0 {
			return n, nil
		}
	}
	return s.scan(b)
}

// Need is the least length b must have for Next to make progress, after Next
// returned 0. It is at most the limit on frames, but still only what the peer
// announced: do not allocate it without having seen bytes in proportion.
func (s *Scanner) Need() int {
	if s.body > 0 {
		return s.end
	}
	return max(s.pos, s.seen) + 1
}

// scan is Next without the shortcut for small frames.
func (s *Scanner) scan(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.limits.MaxDepth == 0 {
		s.limits = Limits{}.withDefaults()
	}
	if s.pos == 0 && s.seen == 0 && s.body == 0 {
		s.slow, s.left = true, 1
	}
	if s.body > 0 {
		if len(b) < s.end {
			return 0, nil
		}
		if err := checkTail(b, s.kind, s.body, s.end); err != nil {
			return 0, s.fail(err)
		}
		s.pos, s.body = s.end, 0
		s.left--
	}
	for {
		if s.pos > s.limits.MaxFrame {
			return 0, s.tooMuch(LimitFrame, int64(s.pos), s.limits.MaxFrame)
		}
		for s.left == 0 {
			if len(s.outer) == 0 {
				n := s.pos
				s.start()
				return n, nil
			}
			s.left = s.outer[len(s.outer)-1]
			s.outer = s.outer[:len(s.outer)-1]
		}
		if s.pos >= len(b) {
			return 0, nil
		}
		if s.seen == 0 && !s.tight {
			if s.quickRun(b) {
				continue
			}
			if h := quickAggregate(b[s.pos:]); h.next > 0 {
				h.next += s.pos
				if err := s.aggregate(h); err != nil {
					return 0, err
				}
				continue
			}
		}
		if more, err := s.value(b); more || err != nil {
			return 0, err
		}
	}
}

// quickRun passes over the short ordinary values at the current position and
// reports whether there were any.
func (s *Scanner) quickRun(b []byte) bool {
	pos, left := s.pos, s.left
	for left > 0 && pos < len(b) {
		n := quick(b[pos:])
		if n == 0 {
			break
		}
		pos += n
		left--
	}
	some := pos > s.pos
	s.pos, s.left = pos, left
	return some
}

// value passes over the scalar or the header of the aggregate at the current
// position, and reports whether more bytes are needed for that.
func (s *Scanner) value(b []byte) (more bool, err error) {
	kind := Kind(b[s.pos])
	longest := maxDigits + 2
	switch kind.layout() {
	case layoutNone:
		return false, s.fail(badKind(b, s.pos))
	case layoutLine:
		longest = s.limits.MaxLine
	case layoutBlob, layoutAggregate:
	}
	from := max(s.pos+1, s.seen)
	room := len(b)-s.pos-3 >= longest // b could hold the longest legal line
	to := len(b)
	if room {
		to = s.pos + 3 + longest
	}
	i := bytes.IndexByte(b[min(from, to):to], '\n')
	if i < 0 {
		switch {
		case room && kind.layout() == layoutLine:
			return false, s.tooMuch(LimitLine, int64(longest)+1, longest)
		case room:
			return false, s.fail(protocolError(b, s.pos+1, "a length"))
		case len(b) > s.limits.MaxFrame:
			return false, s.tooMuch(LimitFrame, int64(len(b)), s.limits.MaxFrame)
		}
		s.seen = len(b)
		return true, nil
	}
	h, perr := parseHeader(b, s.pos, from+i)
	if perr != nil {
		return false, s.fail(perr)
	}
	s.seen = 0
	if h.n >= 0 {
		switch kind.layout() {
		case layoutBlob:
			return s.blob(b, h)
		case layoutAggregate:
			return false, s.aggregate(h)
		case layoutNone, layoutLine:
		}
	}
	s.pos = h.next
	s.left--
	return false, nil
}

// blob passes over the bytes that follow h.
func (s *Scanner) blob(b []byte, h header) (more bool, err error) {
	if h.n > int64(s.limits.MaxBulk) {
		return false, s.tooMuch(LimitBulk, h.n, s.limits.MaxBulk)
	}
	if end := int64(h.next) + h.n + 2; end > int64(s.limits.MaxFrame) {
		return false, s.tooMuch(LimitFrame, end, s.limits.MaxFrame)
	}
	end := h.next + int(h.n) + 2
	if len(b) < end {
		s.body, s.end, s.kind = h.next, end, h.kind
		return true, nil
	}
	if err := checkTail(b, h.kind, h.next, end); err != nil {
		return false, s.fail(err)
	}
	s.pos = end
	s.left--
	return false, nil
}

// aggregate enters the aggregate that h opens.
func (s *Scanner) aggregate(h header) error {
	if h.n > int64(s.limits.MaxElems) {
		return s.tooMuch(LimitElems, h.n, s.limits.MaxElems)
	}
	if depth := len(s.outer) + 1; depth > s.limits.MaxDepth {
		return s.tooMuch(LimitDepth, int64(depth), s.limits.MaxDepth)
	}
	s.pos = h.next
	if h.kind != KindAttribute {
		s.left-- // an attribute isn't a value: the one it belongs to is still missing
	}
	if h.n > 0 {
		s.outer = append(s.outer, s.left)
		s.left = h.n
	}
	return nil
}

// fail makes err the scanner's answer from now on.
func (s *Scanner) fail(err *ProtocolError) error {
	s.err, s.slow = err, true
	return err
}

// tooMuch makes a LimitError at the current position the scanner's answer from
// now on.
func (s *Scanner) tooMuch(limit Limit, announced int64, allowed int) error {
	s.err, s.slow = &LimitError{Offset: s.pos, Limit: limit, Announced: announced, Allowed: int64(allowed)}, true
	return s.err
}
