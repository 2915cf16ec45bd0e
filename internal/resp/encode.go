package resp

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// AppendArrayLen appends the header of an array of n values, which is also that
// of a command of n arguments.
func AppendArrayLen(b []byte, n int) []byte { return appendCount(b, KindArray, n) }

// AppendBulk appends s as a bulk string.
func AppendBulk(b []byte, s string) []byte {
	b = appendCount(b, KindBulk, len(s))
	b = append(b, s...)
	return append(b, '\r', '\n')
}

// AppendBulkBytes appends s as a bulk string.
func AppendBulkBytes(b, s []byte) []byte {
	b = appendCount(b, KindBulk, len(s))
	b = append(b, s...)
	return append(b, '\r', '\n')
}

// AppendBulkInt appends the digits of v as a bulk string.
func AppendBulkInt(b []byte, v int64) []byte {
	if 0 <= v && v <= 9 {
		return append(b, '$', '1', '\r', '\n', '0'+byte(v), '\r', '\n')
	}
	var digits [20]byte
	return AppendBulkBytes(b, strconv.AppendInt(digits[:0], v, 10))
}

// AppendBulkUint appends the digits of v as a bulk string.
func AppendBulkUint(b []byte, v uint64) []byte {
	var digits [20]byte
	return AppendBulkBytes(b, strconv.AppendUint(digits[:0], v, 10))
}

// AppendBulkFloat appends v as a bulk string, in the shortest decimal form
// without exponent that reads back as v.
func AppendBulkFloat(b []byte, v float64) []byte {
	var text [32]byte
	return AppendBulkBytes(b, strconv.AppendFloat(text[:0], v, 'f', -1, 64))
}

// AppendSimple appends a simple string. CR and LF in s become spaces.
func AppendSimple(b []byte, s string) []byte { return appendLine(b, KindSimple, s) }

// AppendError appends an error. CR and LF in s become spaces.
func AppendError(b []byte, s string) []byte { return appendLine(b, KindError, s) }

// AppendInt appends an integer.
func AppendInt(b []byte, v int64) []byte {
	b = append(b, byte(KindInt))
	b = strconv.AppendInt(b, v, 10)
	return append(b, '\r', '\n')
}

// AppendNull appends a null: that of RESP3, or the null bulk string if proto is
// 2.
func AppendNull(b []byte, proto int) []byte {
	if proto < 3 {
		return append(b, "$-1\r\n"...)
	}
	return append(b, "_\r\n"...)
}

// AppendNullArray appends a null: that of RESP3, or the null array if proto is
// 2.
func AppendNullArray(b []byte, proto int) []byte {
	if proto < 3 {
		return append(b, "*-1\r\n"...)
	}
	return append(b, "_\r\n"...)
}

// AppendMapLen appends the header of a map of n pairs, an array of 2n values if
// proto is 2.
func AppendMapLen(b []byte, n, proto int) []byte {
	if proto < 3 {
		return appendCount(b, KindArray, 2*n)
	}
	return appendCount(b, KindMap, n)
}

// AppendSetLen appends the header of a set of n values, an array if proto is 2.
func AppendSetLen(b []byte, n, proto int) []byte {
	if proto < 3 {
		return appendCount(b, KindArray, n)
	}
	return appendCount(b, KindSet, n)
}

// AppendPushLen appends the header of a push of n values, an array if proto is
// 2.
func AppendPushLen(b []byte, n, proto int) []byte {
	if proto < 3 {
		return appendCount(b, KindArray, n)
	}
	return appendCount(b, KindPush, n)
}

// AppendAttributeLen appends the header of an attribute of n pairs. RESP2 has
// none.
func AppendAttributeLen(b []byte, n int) []byte { return appendCount(b, KindAttribute, n) }

// AppendDouble appends a double, a bulk string if proto is 2.
func AppendDouble(b []byte, v float64, proto int) []byte {
	var buf [32]byte
	text := buf[:0]
	switch abs := math.Abs(v); {
	case math.IsNaN(v):
		text = append(text, "nan"...)
	case math.IsInf(v, 1):
		text = append(text, "inf"...)
	case math.IsInf(v, -1):
		text = append(text, "-inf"...)
	case abs != 0 && (abs < 1e-4 || abs >= 1e17):
		text = strconv.AppendFloat(text, v, 'e', -1, 64)
	default:
		text = strconv.AppendFloat(text, v, 'f', -1, 64)
	}
	if proto < 3 {
		return AppendBulkBytes(b, text)
	}
	b = append(b, byte(KindDouble))
	b = append(b, text...)
	return append(b, '\r', '\n')
}

// AppendBool appends a boolean, the integer 1 or 0 if proto is 2.
func AppendBool(b []byte, v bool, proto int) []byte {
	switch {
	case proto < 3 && v:
		return append(b, ":1\r\n"...)
	case proto < 3:
		return append(b, ":0\r\n"...)
	case v:
		return append(b, "#t\r\n"...)
	}
	return append(b, "#f\r\n"...)
}

// AppendBigNumber appends a big number, a bulk string of digits if proto is 2.
func AppendBigNumber(b []byte, v *big.Int, proto int) []byte {
	if proto < 3 {
		return AppendBulk(b, v.String())
	}
	b = append(b, byte(KindBigNumber))
	b = v.Append(b, 10)
	return append(b, '\r', '\n')
}

// AppendVerbatim appends a verbatim string, a bulk string without the format if
// proto is 2. A format that isn't 3 bytes long becomes "txt".
func AppendVerbatim(b []byte, format, s string, proto int) []byte {
	if proto < 3 {
		return AppendBulk(b, s)
	}
	if len(format) != 3 {
		format = "txt"
	}
	b = appendCount(b, KindVerbatim, len(s)+4)
	b = append(b, format...)
	b = append(b, ':')
	b = append(b, s...)
	return append(b, '\r', '\n')
}

// AppendBulkError appends an error that may hold any bytes, an ordinary error
// if proto is 2.
func AppendBulkError(b []byte, s string, proto int) []byte {
	if proto < 3 {
		return AppendError(b, s)
	}
	b = appendCount(b, KindBulkError, len(s))
	b = append(b, s...)
	return append(b, '\r', '\n')
}

// appendCount appends the line of a length or count n, which isn't negative.
func appendCount(b []byte, kind Kind, n int) []byte {
	switch {
	case n < 10:
		return append(b, byte(kind), '0'+byte(n), '\r', '\n')
	case n < 100:
		return append(b, byte(kind), '0'+byte(n/10), '0'+byte(n%10), '\r', '\n')
	}
	b = append(b, byte(kind))
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, '\r', '\n')
}

// appendLine appends s as a line.
func appendLine(b []byte, kind Kind, s string) []byte {
	b = append(b, byte(kind))
	if strings.ContainsAny(s, "\r\n") {
		s = strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
	}
	b = append(b, s...)
	return append(b, '\r', '\n')
}
