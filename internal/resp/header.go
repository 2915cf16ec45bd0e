package resp

import (
	"bytes"
	"math"
)

const (
	// minValue is the length of the shortest value, "+\r\n". So n values need
	// at least n*minValue bytes, which unmasks absurd counts early.
	minValue = 3

	// maxDigits bounds the line of a length or count. 19 digits hold every
	// int64 and more.
	maxDigits = 19

	// fastLine bounds the lines and fastBulkDigits the lengths that quick
	// handles.
	fastLine       = 64
	fastBulkDigits = 6
	fastBulk       = 1_000_000 // longer than every bulk of quick
)

// quick returns the length of the value b starts with if it is a short and
// ordinary one that is complete, else 0, which says nothing: the thorough
// parser must look. It accepts nothing that the thorough parser refuses.
func quick(b []byte) int {
	if len(b) < minValue {
		return 0
	}
	switch Kind(b[0]) {
	case KindBulk:
		c := b[1] - '0'
		if c > 9 {
			if len(b) >= 5 && b[1] == '-' && b[2] == '1' && b[3] == '\r' && b[4] == '\n' {
				return 5
			}
			return 0
		}
		n, i := int(c), 2
		for ; i < len(b); i++ {
			c = b[i] - '0'
			if c > 9 {
				break
			}
			if n == 0 || i > fastBulkDigits {
				return 0
			}
			n = n*10 + int(c)
		}
		end := i + n + 4
		if end > len(b) || b[i] != '\r' || b[i+1] != '\n' || b[end-2] != '\r' || b[end-1] != '\n' {
			return 0
		}
		return end
	case KindSimple, KindError:
		if len(b) > fastLine {
			b = b[:fastLine]
		}
		for i := 1; i < len(b); i++ {
			if b[i] == '\n' {
				if b[i-1] != '\r' {
					return 0
				}
				return i + 1
			}
		}
	case KindInt:
		i := 1
		if b[1] == '-' {
			i = 2
		}
		first := i
		for ; i < len(b)-1; i++ {
			if b[i]-'0' > 9 {
				if i == first || i > maxDigits || b[i] != '\r' || b[i+1] != '\n' {
					return 0
				}
				return i + 2
			}
		}
	case KindNull:
		if b[1] == '\r' && b[2] == '\n' {
			return 3
		}
	}
	return 0
}

// quickAggregate returns the header b starts with if it is that of a small
// aggregate, with next relative to b; else next is 0, which says nothing.
func quickAggregate(b []byte) header {
	if len(b) < 4 || b[1]-'0' > 9 {
		return header{}
	}
	h := header{kind: Kind(b[0]), n: int64(b[1] - '0')}
	i := 2
	if c := b[2] - '0'; c <= 9 && h.n > 0 {
		h.n = h.n*10 + int64(c)
		i = 3
		if c := b[3] - '0'; c <= 9 {
			h.n = h.n*10 + int64(c)
			i = 4
		}
	}
	if i+1 >= len(b) || b[i] != '\r' || b[i+1] != '\n' {
		return header{}
	}
	switch h.kind {
	case KindArray, KindSet, KindPush:
	case KindMap:
		h.n *= 2
	default:
		return header{}
	}
	h.next = i + 2
	return h
}

// header is the parsed first line of a value.
type header struct {
	kind Kind
	next int   // offset of what follows the line
	n    int64 // bytes of a blob, values in an aggregate (two for each pair), -1 for null
}

// parseHeader checks the line from pos to eol, the offset of its LF. The type
// byte has a layout.
func parseHeader(b []byte, pos, eol int) (header, *ProtocolError) {
	h := header{kind: Kind(b[pos]), next: eol + 1}
	if eol < pos+2 || b[eol-1] != '\r' {
		return h, protocolError(b, eol, "CR before LF")
	}
	line := b[pos+1 : eol-1]
	switch h.kind.layout() {
	case layoutNone:
		return h, badKind(b, pos)
	case layoutLine:
		if want := badLine(h.kind, line); want != "" {
			return h, protocolError(b, pos+1, want)
		}
	case layoutBlob, layoutAggregate:
		return parseLength(b, pos, h, line)
	}
	return h, nil
}

// parseLength sets h.n from line.
func parseLength(b []byte, pos int, h header, line []byte) (header, *ProtocolError) {
	if len(line) == 2 && line[0] == '-' && line[1] == '1' && (h.kind == KindBulk || h.kind == KindArray) {
		h.n = -1
		return h, nil
	}
	if len(line) == 1 && line[0] == '?' && h.kind != KindBulkError && h.kind != KindVerbatim {
		e := protocolError(b, pos, "a length")
		e.streamed = true
		return h, e
	}
	if len(line) == 0 || len(line) > maxDigits || line[0] == '0' && len(line) > 1 {
		return h, protocolError(b, pos+1, "a length")
	}
	var n uint64
	for i, c := range line {
		if c -= '0'; c > 9 {
			return h, protocolError(b, pos+1+i, "a digit of a length")
		}
		n = n*10 + uint64(c) // 19 digits fit
	}
	if h.kind == KindMap || h.kind == KindAttribute {
		n = 2 * min(n, math.MaxInt64/2)
	}
	if h.kind == KindVerbatim && n < 4 {
		return h, protocolError(b, pos+1, "at least the 4 bytes of a verbatim string's format")
	}
	h.n = int64(min(n, math.MaxInt64))
	return h, nil
}

// badLine returns what is legal in a line of kind k if line isn't, else "".
func badLine(k Kind, line []byte) string {
	switch k {
	case KindInt:
		if !isInteger(line) {
			return "an integer"
		}
	case KindBigNumber:
		if !isInteger(line) {
			return "a big number"
		}
	case KindDouble:
		if !isDouble(line) {
			return "a double"
		}
	case KindBool:
		if len(line) != 1 || line[0] != 't' && line[0] != 'f' {
			return "t or f"
		}
	case KindNull:
		if len(line) != 0 {
			return "an empty line of a null"
		}
	}
	return ""
}

// checkTail checks what surrounds the bytes of a blob that starts at start and
// whose CRLF ends at end.
func checkTail(b []byte, kind Kind, start, end int) *ProtocolError {
	if b[end-2] != '\r' || b[end-1] != '\n' {
		return protocolError(b, end-2, "CRLF after "+kind.String())
	}
	if kind == KindVerbatim && b[start+3] != ':' {
		return protocolError(b, start+3, "':' after a verbatim string's format")
	}
	return nil
}

// isInteger reports whether b is an optional sign and digits.
func isInteger(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	return len(b) > 0 && digits(b) == len(b)
}

// isDouble reports whether b is a decimal number, inf or nan, optionally
// signed. strconv.ParseFloat accepts everything it accepts, except what is out
// of range.
func isDouble(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	if len(b) == 3 {
		switch {
		case bytes.EqualFold(b, []byte("inf")), bytes.EqualFold(b, []byte("nan")):
			return true
		}
	}
	whole := digits(b)
	b = b[whole:]
	if len(b) > 0 && b[0] == '.' {
		fraction := digits(b[1:])
		whole += fraction
		b = b[1+fraction:]
	}
	if whole == 0 {
		return false
	}
	if len(b) > 0 && (b[0] == 'e' || b[0] == 'E') {
		return isInteger(b[1:])
	}
	return len(b) == 0
}

// digits returns how many digits b starts with.
func digits(b []byte) int {
	for i, c := range b {
		if c-'0' > 9 {
			return i
		}
	}
	return len(b)
}

// badKind returns the error for a byte at pos that is no type byte.
func badKind(b []byte, pos int) *ProtocolError {
	e := protocolError(b, pos, "a type byte")
	e.streamed = b[pos] == ';' || b[pos] == '.'
	return e
}

// protocolError describes the bytes at pos.
func protocolError(b []byte, pos int, want string) *ProtocolError {
	return &ProtocolError{Offset: pos, Found: sample(b[min(pos, len(b)):]), Want: want}
}
