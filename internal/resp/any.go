package resp

import (
	"errors"
	"math/big"
	"strconv"
)

// maxAnyDepth bounds the recursion of [Reader.Any]. It matters only to frames
// that no Scanner with sensible limits has accepted.
const maxAnyDepth = 10_000

// maxBigDigits bounds what [Reader.Any] parses as a big number: parsing takes
// time in proportion to the square of the digits, milliseconds for this many.
const maxBigDigits = 64 << 10

// Any reads one value into the type go-redis gives it:
//
//   - string for simple, bulk and verbatim strings
//   - int64, float64, bool, and *big.Int for a big number
//   - []any for arrays, sets and pushes; map[any]any for maps, of equal keys the
//     last one counts
//   - inside aggregates nil for a null and an [Error] for an error
//
// A null at the top gives [Nil] and an error at the top the [Error], as errors.
// A map whose key is an aggregate, or a number that is out of range or has more
// than 65,536 digits, gives a [*TypeError] for the value as a whole.
func (r *Reader) Any() (any, error) {
	if err := r.skipAttributes(); err != nil {
		return nil, err
	}
	start := *r
	v, err := r.any(0, 0)
	if err != nil {
		if _, broken := errors.AsType[*ProtocolError](err); !broken {
			*r = start
			if err := r.Skip(); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return nil, Nil
	case Error:
		return nil, v
	}
	return v, nil
}

// any reads a value at the given depth, with nil for a null and an Error for an
// error. missing is how many values the aggregates around it still need behind
// it: counts that the remaining bytes can't hold together are refused before
// anything is allocated for them.
func (r *Reader) any(depth int, missing int64) (any, error) {
	if text, ok := r.quickString(); ok {
		return string(text), nil
	}
	it, err := r.next()
	if err != nil {
		return nil, err
	}
	switch it.kind {
	case KindNull:
		return nil, nil
	case KindError, KindBulkError:
		return Error(it.text), nil
	case KindSimple, KindBulk, KindVerbatim:
		return string(it.text), nil
	case KindBool:
		return it.text[0] == 't', nil
	case KindInt:
		if n, ok := parseInt(it.text); ok {
			return n, nil
		}
		return nil, r.mismatch(it, "int64")
	case KindDouble:
		if f, ok := parseFloat(it.text); ok {
			return f, nil
		}
		return nil, r.mismatch(it, "float64")
	case KindBigNumber:
		if len(it.text) > maxBigDigits {
			return nil, r.mismatch(it, "big number of at most "+strconv.Itoa(maxBigDigits)+" digits")
		}
		n, _ := new(big.Int).SetString(string(it.text), 10) // it was checked to be one
		return n, nil
	case KindArray, KindSet, KindPush, KindMap:
		if depth++; depth > maxAnyDepth {
			return nil, &LimitError{Offset: it.at, Limit: LimitDepth, Announced: int64(depth), Allowed: maxAnyDepth}
		}
		if it.n+missing > int64(r.Len()/minValue) {
			return nil, r.broken(r.cut())
		}
		if it.kind == KindMap {
			return r.anyMap(it, depth, missing)
		}
		return r.anySlice(it, depth, missing)
	case KindAttribute:
	}
	return nil, r.mismatch(it, "value")
}

// anySlice reads the values of an aggregate.
func (r *Reader) anySlice(it item, depth int, missing int64) (any, error) {
	list := make([]any, it.n)
	for i := range list {
		v, err := r.any(depth, missing+it.n-int64(i)-1)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

// anyMap reads the pairs of a map.
func (r *Reader) anyMap(it item, depth int, missing int64) (any, error) {
	m := make(map[any]any, it.n/2)
	for left := it.n; left > 0; left -= 2 {
		at := *r
		key, err := r.any(depth, missing+left-1)
		if err != nil {
			return nil, err
		}
		switch key.(type) {
		case []any, map[any]any:
			_ = at.skipAttributes() // it was read above
			return nil, &TypeError{Want: "key of a map", Got: at.Kind(), Sample: sample(at.b[at.pos:r.pos])}
		}
		v, err := r.any(depth, missing+left-2)
		if err != nil {
			return nil, err
		}
		m[key] = v
	}
	return m, nil
}
