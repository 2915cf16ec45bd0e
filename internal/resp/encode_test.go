package resp

import (
	"errors"
	"math"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// marshaler is an encoding.BinaryMarshaler.
type marshaler struct{ err error }

// MarshalBinary returns a fixed text, or the error.
func (m marshaler) MarshalBinary() ([]byte, error) { return []byte("marshaled"), m.err }

// named is a type whose kind AppendArg knows but not the type itself.
type named string

func TestAppendArg(t *testing.T) {
	when := time.Date(2026, 2, 3, 4, 5, 6, 700, time.FixedZone("", 3600))
	for _, tt := range []struct {
		arg  any
		want string
	}{
		{nil, ""},
		{"text", "text"},
		{"", ""},
		{[]byte("a\r\nb"), "a\r\nb"},
		{[]byte(nil), ""},
		{0, "0"},
		{7, "7"},
		{-7, "-7"},
		{123456, "123456"},
		{int8(-128), "-128"},
		{int16(-300), "-300"},
		{int32(1 << 30), "1073741824"},
		{int64(math.MinInt64), "-9223372036854775808"},
		{uint(5), "5"},
		{uint8(255), "255"},
		{uint16(65535), "65535"},
		{uint32(1 << 31), "2147483648"},
		{uint64(math.MaxUint64), "18446744073709551615"},
		{1.5, "1.5"},
		{1e21, "1000000000000000000000"},
		{float32(0.5), "0.5"},
		{float32(0.1), "0.10000000149011612"}, // as go-redis: the float64 it is
		{math.Inf(-1), "-Inf"},
		{math.MaxFloat64, "17976931348623157" + strings.Repeat("0", 309-17)},
		{true, "1"},
		{false, "0"},
		{when, "2026-02-03T04:05:06.0000007+01:00"},
		{1500 * time.Millisecond, "1500000000"},
		{net.IPv4(1, 2, 3, 4), string(net.IPv4(1, 2, 3, 4))},
		{marshaler{}, "marshaled"},
		{&marshaler{}, "marshaled"},
		{new("p"), "p"},
		{new(1), "1"},
		{new(int8(2)), "2"},
		{new(int16(3)), "3"},
		{new(int32(4)), "4"},
		{new(int64(5)), "5"},
		{new(uint(6)), "6"},
		{new(uint8(7)), "7"},
		{new(uint16(8)), "8"},
		{new(uint32(9)), "9"},
		{new(uint64(10)), "10"},
		{new(float32(0.25)), "0.25"},
		{new(0.125), "0.125"},
		{new(true), "1"},
		{new(when), "2026-02-03T04:05:06.0000007+01:00"},
		{new(time.Second), "1000000000"},
		{(*string)(nil), ""},
		{(*int)(nil), "0"},
		{(*uint64)(nil), "0"},
		{(*float64)(nil), "0"},
		{(*bool)(nil), "0"},
		{(*time.Time)(nil), "0001-01-01T00:00:00Z"},
		{(*time.Duration)(nil), "0"},
	} {
		b, err := AppendArg([]byte("before"), tt.arg)
		if want := "before" + string(AppendBulk(nil, tt.want)); string(b) != want || err != nil {
			t.Errorf("%T %v: got %q, %v, want %q", tt.arg, tt.arg, b, err, want)
		}
	}
}

func TestAppendArgRefusesOtherTypes(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		arg  any
		want string
		is   error
	}{
		{named("x"), "redis: can't marshal resp.named (implement encoding.BinaryMarshaler)", nil},
		{[]string{"a"}, "redis: can't marshal []string (implement encoding.BinaryMarshaler)", nil},
		{struct{}{}, "redis: can't marshal struct {} (implement encoding.BinaryMarshaler)", nil},
		{map[string]int{}, "redis: can't marshal map[string]int (implement encoding.BinaryMarshaler)", nil},
		{marshaler{broken}, "redis: can't marshal resp.marshaler: broken", broken},
	} {
		b, err := AppendArg([]byte("before"), tt.arg)
		ae, ok := errors.AsType[*ArgError](err)
		if !ok || string(b) != "before" || err.Error() != tt.want || !errors.Is(ae.Err, tt.is) {
			t.Errorf("%T: got %q, %v, want %s", tt.arg, b, err, tt.want)
		}
	}
}

func TestAppendReplies(t *testing.T) {
	huge := bigNumber("12345678901234567890")
	for _, tt := range []struct {
		got, want string
	}{
		{string(AppendArrayLen(nil, 0)), "*0\r\n"},
		{string(AppendArrayLen(nil, 9)), "*9\r\n"},
		{string(AppendArrayLen(nil, 10)), "*10\r\n"},
		{string(AppendArrayLen(nil, 99)), "*99\r\n"},
		{string(AppendArrayLen(nil, 100)), "*100\r\n"},
		{string(AppendArrayLen(nil, 12345)), "*12345\r\n"},
		{string(AppendBulkInt(nil, 9)), "$1\r\n9\r\n"},
		{string(AppendBulkInt(nil, -9)), "$2\r\n-9\r\n"},
		{string(AppendBulkInt(nil, 10)), "$2\r\n10\r\n"},
		{string(AppendSimple(nil, "OK")), "+OK\r\n"},
		{string(AppendSimple(nil, "a\r\nb")), "+a  b\r\n"},
		{string(AppendError(nil, "ERR a\nb")), "-ERR a b\r\n"},
		{string(AppendInt(nil, -5)), ":-5\r\n"},
		{string(AppendNull(nil, 2)), "$-1\r\n"},
		{string(AppendNull(nil, 3)), "_\r\n"},
		{string(AppendNullArray(nil, 2)), "*-1\r\n"},
		{string(AppendNullArray(nil, 3)), "_\r\n"},
		{string(AppendMapLen(nil, 2, 2)), "*4\r\n"},
		{string(AppendMapLen(nil, 2, 3)), "%2\r\n"},
		{string(AppendSetLen(nil, 2, 2)), "*2\r\n"},
		{string(AppendSetLen(nil, 2, 3)), "~2\r\n"},
		{string(AppendPushLen(nil, 2, 2)), "*2\r\n"},
		{string(AppendPushLen(nil, 2, 3)), ">2\r\n"},
		{string(AppendAttributeLen(nil, 2)), "|2\r\n"},
		{string(AppendDouble(nil, 1.5, 2)), "$3\r\n1.5\r\n"},
		{string(AppendDouble(nil, 1.5, 3)), ",1.5\r\n"},
		{string(AppendDouble(nil, 1000000, 3)), ",1000000\r\n"},
		{string(AppendDouble(nil, 1e20, 3)), ",1e+20\r\n"},
		{string(AppendDouble(nil, 1e-7, 3)), ",1e-07\r\n"},
		{string(AppendDouble(nil, 0, 3)), ",0\r\n"},
		{string(AppendDouble(nil, math.Inf(1), 3)), ",inf\r\n"},
		{string(AppendDouble(nil, math.Inf(-1), 2)), "$4\r\n-inf\r\n"},
		{string(AppendDouble(nil, math.NaN(), 3)), ",nan\r\n"},
		{string(AppendBool(nil, true, 2)), ":1\r\n"},
		{string(AppendBool(nil, false, 2)), ":0\r\n"},
		{string(AppendBool(nil, true, 3)), "#t\r\n"},
		{string(AppendBool(nil, false, 3)), "#f\r\n"},
		{string(AppendBigNumber(nil, huge, 2)), "$20\r\n12345678901234567890\r\n"},
		{string(AppendBigNumber(nil, huge, 3)), "(12345678901234567890\r\n"},
		{string(AppendBigNumber(nil, new(big.Int), 3)), "(0\r\n"},
		{string(AppendVerbatim(nil, "mkd", "a", 2)), "$1\r\na\r\n"},
		{string(AppendVerbatim(nil, "mkd", "a", 3)), "=5\r\nmkd:a\r\n"},
		{string(AppendVerbatim(nil, "markdown", "a", 3)), "=5\r\ntxt:a\r\n"},
		{string(AppendBulkError(nil, "ERR a\r\nb", 2)), "-ERR a  b\r\n"},
		{string(AppendBulkError(nil, "ERR a\r\nb", 3)), "!8\r\nERR a\r\nb\r\n"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestBulksOfEveryLengthComeBack(t *testing.T) {
	var s Scanner
	for n := range 1100 {
		want := strings.Repeat("x", n)
		b := AppendBulk(nil, want)
		if other := AppendBulkBytes(nil, []byte(want)); string(other) != string(b) {
			t.Fatalf("%d: AppendBulkBytes differs", n)
		}
		if m, err := s.Next(b); m != len(b) || err != nil {
			t.Fatalf("%d: got %d, %v", n, m, err)
		}
		r := NewReader(b)
		if got, err := r.String(); got != want || err != nil {
			t.Fatalf("%d: got %q, %v", n, got, err)
		}
	}
}

func TestEncodingDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 1024)
	value := []byte("value")
	got := testing.AllocsPerRun(100, func() {
		b := AppendArrayLen(buf, 6)
		b = AppendBulk(b, "set")
		b = AppendBulkBytes(b, value)
		b = AppendBulkInt(b, -123456789)
		b = AppendBulkUint(b, math.MaxUint64)
		b = AppendBulkFloat(b, 3.14)
		b = AppendDouble(b, 3.14, 3)
		AppendSimple(b, "OK")
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
	args := []any{"set", value, 1 << 40, 1.5, true, time.Minute, time.Unix(1e9, 5).UTC(), uint8(3), nil}
	got = testing.AllocsPerRun(100, func() {
		b := buf
		for _, a := range args {
			var err error
			if b, err = AppendArg(b, a); err != nil {
				t.Error(err)
			}
		}
	})
	if got != 0 {
		t.Errorf("AppendArg: %v allocations", got)
	}
}
