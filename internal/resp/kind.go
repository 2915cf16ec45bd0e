package resp

import "strconv"

// Kind is the type byte of a RESP value. The zero Kind means "no value".
type Kind byte

// The kinds of RESP2 and RESP3.
const (
	KindSimple    Kind = '+'
	KindError     Kind = '-'
	KindInt       Kind = ':'
	KindBulk      Kind = '$'
	KindArray     Kind = '*'
	KindNull      Kind = '_'
	KindBool      Kind = '#'
	KindDouble    Kind = ','
	KindBigNumber Kind = '('
	KindBulkError Kind = '!'
	KindVerbatim  Kind = '='
	KindMap       Kind = '%'
	KindSet       Kind = '~'
	KindPush      Kind = '>'
	KindAttribute Kind = '|'
)

// String names the kind in words, for messages.
func (k Kind) String() string {
	switch k {
	case 0:
		return "nothing"
	case KindSimple:
		return "simple string"
	case KindError:
		return "error"
	case KindInt:
		return "integer"
	case KindBulk:
		return "bulk string"
	case KindArray:
		return "array"
	case KindNull:
		return "null"
	case KindBool:
		return "boolean"
	case KindDouble:
		return "double"
	case KindBigNumber:
		return "big number"
	case KindBulkError:
		return "bulk error"
	case KindVerbatim:
		return "verbatim string"
	case KindMap:
		return "map"
	case KindSet:
		return "set"
	case KindPush:
		return "push"
	case KindAttribute:
		return "attribute"
	}
	return "unknown kind " + strconv.QuoteRune(rune(k))
}

// layout says how a kind is framed.
type layout uint8

const (
	layoutNone      layout = iota // not a type byte
	layoutLine                    // content up to CRLF
	layoutBlob                    // length, CRLF, that many bytes, CRLF
	layoutAggregate               // count, CRLF, that many values or pairs
)

// layout returns how k is framed, layoutNone for a byte that is no kind.
func (k Kind) layout() layout {
	switch k {
	case KindSimple, KindError, KindInt, KindNull, KindBool, KindDouble, KindBigNumber:
		return layoutLine
	case KindBulk, KindBulkError, KindVerbatim:
		return layoutBlob
	case KindArray, KindMap, KindSet, KindPush, KindAttribute:
		return layoutAggregate
	}
	return layoutNone
}
