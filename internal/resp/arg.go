package resp

import (
	"encoding"
	"net"
	"reflect"
	"time"
)

// AppendArg appends v as one argument of a command, a bulk string, as go-redis
// v9 does:
//
//   - nil is the empty string
//   - string, []byte and net.IP as they are
//   - integers as digits, floats in shortest form without exponent, bool as 1 or 0
//   - time.Time as RFC 3339 with nanoseconds, time.Duration as nanoseconds
//   - pointers to these (of basic types) as what they point to, a nil pointer as
//     the zero value
//   - an encoding.BinaryMarshaler as what it returns
//
// Anything else, named types included, is an [*ArgError], and b is returned
// unchanged.
func AppendArg(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return AppendBulk(b, ""), nil
	case string:
		return AppendBulk(b, v), nil
	case []byte:
		return AppendBulkBytes(b, v), nil
	case int:
		return AppendBulkInt(b, int64(v)), nil
	case int64:
		return AppendBulkInt(b, v), nil
	case float64:
		return AppendBulkFloat(b, v), nil
	case bool:
		return appendBulkBool(b, v), nil
	case time.Duration:
		return AppendBulkInt(b, int64(v)), nil
	case time.Time:
		return appendBulkTime(b, v), nil
	case int8:
		return AppendBulkInt(b, int64(v)), nil
	case int16:
		return AppendBulkInt(b, int64(v)), nil
	case int32:
		return AppendBulkInt(b, int64(v)), nil
	case uint:
		return AppendBulkUint(b, uint64(v)), nil
	case uint8:
		return AppendBulkUint(b, uint64(v)), nil
	case uint16:
		return AppendBulkUint(b, uint64(v)), nil
	case uint32:
		return AppendBulkUint(b, uint64(v)), nil
	case uint64:
		return AppendBulkUint(b, v), nil
	case float32:
		return AppendBulkFloat(b, float64(v)), nil
	}
	return appendRareArg(b, v)
}

// appendRareArg is AppendArg for what isn't a plain value.
func appendRareArg(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case *string:
		return AppendBulk(b, deref(v)), nil
	case *int:
		return AppendBulkInt(b, int64(deref(v))), nil
	case *int8:
		return AppendBulkInt(b, int64(deref(v))), nil
	case *int16:
		return AppendBulkInt(b, int64(deref(v))), nil
	case *int32:
		return AppendBulkInt(b, int64(deref(v))), nil
	case *int64:
		return AppendBulkInt(b, deref(v)), nil
	case *uint:
		return AppendBulkUint(b, uint64(deref(v))), nil
	case *uint8:
		return AppendBulkUint(b, uint64(deref(v))), nil
	case *uint16:
		return AppendBulkUint(b, uint64(deref(v))), nil
	case *uint32:
		return AppendBulkUint(b, uint64(deref(v))), nil
	case *uint64:
		return AppendBulkUint(b, deref(v)), nil
	case *float32:
		return AppendBulkFloat(b, float64(deref(v))), nil
	case *float64:
		return AppendBulkFloat(b, deref(v)), nil
	case *bool:
		return appendBulkBool(b, deref(v)), nil
	case *time.Time:
		return appendBulkTime(b, deref(v)), nil
	case *time.Duration:
		return AppendBulkInt(b, int64(deref(v))), nil
	case encoding.BinaryMarshaler:
		text, err := v.MarshalBinary()
		if err != nil {
			return b, &ArgError{Type: typeName(v), Err: err}
		}
		return AppendBulkBytes(b, text), nil
	case net.IP:
		return AppendBulkBytes(b, v), nil
	}
	return b, &ArgError{Type: typeName(v)}
}

// typeName returns the name of v's type as %T prints it.
func typeName(v any) string { return reflect.TypeOf(v).String() }

// deref returns what p points to, the zero value if p is nil.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// appendBulkBool appends v as 1 or 0.
func appendBulkBool(b []byte, v bool) []byte {
	if v {
		return append(b, "$1\r\n1\r\n"...)
	}
	return append(b, "$1\r\n0\r\n"...)
}

// appendBulkTime appends v as RFC 3339 with nanoseconds.
func appendBulkTime(b []byte, v time.Time) []byte {
	var text [len(time.RFC3339Nano) + 8]byte
	return AppendBulkBytes(b, v.AppendFormat(text[:0], time.RFC3339Nano))
}
