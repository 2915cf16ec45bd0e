package resp

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bigInts compares big numbers by value.
var bigInts = cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })

// bigNumber parses a decimal number.
func bigNumber(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("bad number in test")
	}
	return n
}

// samples are valid frames and what Any makes of them; want is an error where
// Any returns one.
var samples = []struct {
	name  string
	frame string
	want  any
}{
	{"simple", "+OK\r\n", "OK"},
	{"simple empty", "+\r\n", ""},
	{"simple with CR", "+a\rb\r\n", "a\rb"},
	{"simple long", "+" + strings.Repeat("x", 300) + "\r\n", strings.Repeat("x", 300)},
	{"error", "-ERR no\r\n", Error("ERR no")},
	{"int", ":42\r\n", int64(42)},
	{"int negative", ":-42\r\n", int64(-42)},
	{"int plus", ":+5\r\n", int64(5)},
	{"int minus zero", ":-0\r\n", int64(0)},
	{"int leading zeros", ":007\r\n", int64(7)},
	{"int min", ":-9223372036854775808\r\n", int64(math.MinInt64)},
	{"int max", ":9223372036854775807\r\n", int64(math.MaxInt64)},
	{"bulk", "$5\r\nhello\r\n", "hello"},
	{"bulk empty", "$0\r\n\r\n", ""},
	{"bulk binary", "$4\r\n\r\n\x00\xff\r\n", "\r\n\x00\xff"},
	{"bulk two digits", "$12\r\nhello world!\r\n", "hello world!"},
	{"bulk long", "$300\r\n" + strings.Repeat("y", 300) + "\r\n", strings.Repeat("y", 300)},
	{"null bulk", "$-1\r\n", Nil},
	{"null array", "*-1\r\n", Nil},
	{"null", "_\r\n", Nil},
	{"true", "#t\r\n", true},
	{"false", "#f\r\n", false},
	{"double", ",3.25\r\n", 3.25},
	{"double integral", ",10\r\n", float64(10)},
	{"double exponent", ",-1.5e+20\r\n", -1.5e20},
	{"double inf", ",inf\r\n", math.Inf(1)},
	{"double -inf", ",-inf\r\n", math.Inf(-1)},
	{"big number", "(3492890328409238509324850943850943825024385\r\n", bigNumber("3492890328409238509324850943850943825024385")},
	{"big number negative", "(-12\r\n", big.NewInt(-12)},
	{"bulk error", "!21\r\nSYNTAX invalid syntax\r\n", Error("SYNTAX invalid syntax")},
	{"bulk error with CRLF", "!4\r\na\r\nb\r\n", Error("a\r\nb")},
	{"verbatim", "=15\r\ntxt:Some string\r\n", "Some string"},
	{"verbatim empty", "=4\r\nmkd:\r\n", ""},
	{"array", "*3\r\n:1\r\n$1\r\na\r\n_\r\n", []any{int64(1), "a", nil}},
	{"array empty", "*0\r\n", []any{}},
	{"array RESP2 nulls", "*3\r\n$-1\r\n*-1\r\n+x\r\n", []any{nil, nil, "x"}},
	{"array with errors", "*2\r\n-ERR a\r\n!1\r\nb\r\n", []any{Error("ERR a"), Error("b")}},
	{"array nested", "*2\r\n*1\r\n*0\r\n*2\r\n+a\r\n+b\r\n", []any{[]any{[]any{}}, []any{"a", "b"}}},
	{"set", "~2\r\n+a\r\n#f\r\n", []any{"a", false}},
	{"push", ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n", []any{"invalidate", []any{"k"}}},
	{"map", "%2\r\n+a\r\n:1\r\n:2\r\n*1\r\n_\r\n", map[any]any{"a": int64(1), int64(2): []any{nil}}},
	{"map empty", "%0\r\n", map[any]any{}},
	{"map null key", "%1\r\n_\r\n_\r\n", map[any]any{nil: nil}},
	{"map last wins", "%2\r\n+a\r\n:1\r\n+a\r\n:2\r\n", map[any]any{"a": int64(2)}},
	{"attribute", "|1\r\n+ttl\r\n:3600\r\n$1\r\nv\r\n", "v"},
	{"attribute empty", "|0\r\n:1\r\n", int64(1)},
	{"attributes twice", "|1\r\n+a\r\n+b\r\n|1\r\n+c\r\n*1\r\n+d\r\n*1\r\n:1\r\n", []any{int64(1)}},
	{"attribute inside", "*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n", []any{int64(1), int64(2)}},
	{"attribute on key", "%1\r\n|1\r\n+a\r\n+b\r\n+k\r\n|0\r\n+v\r\n", map[any]any{"k": "v"}},
	{"attribute in attribute", "|1\r\n|1\r\n+x\r\n+y\r\n+a\r\n+b\r\n:1\r\n", int64(1)},
	{"attribute on null", "|1\r\n+a\r\n+b\r\n$-1\r\n", Nil},
	{"attribute on error", "|1\r\n+a\r\n+b\r\n-ERR x\r\n", Error("ERR x")},
}

// broken are frames that are no RESP.
var broken = []struct {
	name  string
	frame string
	is    error
}{
	{"unknown type", "hello\r\n", ErrProtocol},
	{"no type", "\r\n", ErrProtocol},
	{"LF only", "+OK\n", ErrProtocol},
	{"LF first", "+\n\r\n", ErrProtocol},
	{"LF inside", "+a\nb\r\n", ErrProtocol},
	{"length empty", "$\r\n", ErrProtocol},
	{"length -2", "$-2\r\n", ErrProtocol},
	{"length -0", "$-0\r\n\r\n", ErrProtocol},
	{"length +5", "$+5\r\nhello\r\n", ErrProtocol},
	{"length 05", "$05\r\nhello\r\n", ErrProtocol},
	{"length 00", "$00\r\n\r\n", ErrProtocol},
	{"length text", "$x\r\n", ErrProtocol},
	{"length 5x", "$5x\r\nhello\r\n", ErrProtocol},
	{"length of 20 digits", "$10000000000000000000\r\n", ErrProtocol},
	{"length without end", "$" + strings.Repeat("1", 40), ErrProtocol},
	{"count -2", "*-2\r\n", ErrProtocol},
	{"count of map -1", "%-1\r\n", ErrProtocol},
	{"count of set -1", "~-1\r\n", ErrProtocol},
	{"count of push -1", ">-1\r\n", ErrProtocol},
	{"length of bulk error -1", "!-1\r\n", ErrProtocol},
	{"bulk too long", "$2\r\nabc\r\n", ErrProtocol},
	{"bulk LF only", "$1\r\na\n\n", ErrProtocol},
	{"bulk without CRLF", "$1\r\naXX", ErrProtocol},
	{"bulk CR only", "$1\r\na\rb", ErrProtocol},
	{"bulk too short", "$4\r\nabc\r\n+", ErrProtocol},
	{"verbatim short", "=3\r\ntxt\r\n", ErrProtocol},
	{"verbatim no colon", "=5\r\ntxt.x\r\n", ErrProtocol},
	{"int empty", ":\r\n", ErrProtocol},
	{"int sign", ":-\r\n", ErrProtocol},
	{"int text", ":1a\r\n", ErrProtocol},
	{"int two signs", ":+-1\r\n", ErrProtocol},
	{"double empty", ",\r\n", ErrProtocol},
	{"double point", ",.\r\n", ErrProtocol},
	{"double hex", ",0x1p4\r\n", ErrProtocol},
	{"double exponent", ",1e\r\n", ErrProtocol},
	{"big number empty", "(\r\n", ErrProtocol},
	{"big number text", "(1.5\r\n", ErrProtocol},
	{"bool", "#x\r\n", ErrProtocol},
	{"bool long", "#true\r\n", ErrProtocol},
	{"null with content", "_x\r\n", ErrProtocol},
	{"streamed string", "$?\r\n;4\r\nHell\r\n;0\r\n", ErrStreamed},
	{"streamed array", "*?\r\n:1\r\n.\r\n", ErrStreamed},
	{"streamed map", "%?\r\n:1\r\n:2\r\n.\r\n", ErrStreamed},
	{"streamed set", "~?\r\n.\r\n", ErrStreamed},
	{"streamed push", ">?\r\n.\r\n", ErrStreamed},
	{"chunk", ";4\r\nHell\r\n", ErrStreamed},
	{"end", ".\r\n", ErrStreamed},
	{"broken element", "*2\r\n:1\r\n?\r\n", ErrProtocol},
	{"broken attribute", "|1\r\n+a\r\n?\r\n:1\r\n", ErrProtocol},
}

func TestScannerFindsTheEnd(t *testing.T) {
	for _, tt := range samples {
		t.Run(tt.name, func(t *testing.T) {
			var s Scanner
			for range 2 { // ready for the next frame
				n, err := s.Next([]byte(tt.frame + "+next\r\n"))
				if n != len(tt.frame) || err != nil {
					t.Fatalf("got %d, %v, want %d", n, err, len(tt.frame))
				}
			}
		})
	}
}

func TestScannerResumesAtEveryByte(t *testing.T) {
	for _, tt := range samples {
		t.Run(tt.name, func(t *testing.T) {
			var s Scanner
			for i := range len(tt.frame) {
				if n, err := s.Next([]byte(tt.frame[:i])); n != 0 || err != nil {
					t.Fatalf("with %d of %d bytes: got %d, %v", i, len(tt.frame), n, err)
				}
				if need := s.Need(); need <= i || need > len(tt.frame) {
					t.Fatalf("with %d of %d bytes: need %d", i, len(tt.frame), need)
				}
			}
			if n, err := s.Next([]byte(tt.frame)); n != len(tt.frame) || err != nil {
				t.Fatalf("got %d, %v, want %d", n, err, len(tt.frame))
			}
			for i := range len(tt.frame) { // in two pieces
				s.Reset()
				if n, err := s.Next([]byte(tt.frame[:i])); n != 0 || err != nil {
					t.Fatalf("with %d of %d bytes: got %d, %v", i, len(tt.frame), n, err)
				}
				if n, err := s.Next([]byte(tt.frame + ":1\r\n")); n != len(tt.frame) || err != nil {
					t.Fatalf("after %d bytes: got %d, %v, want %d", i, n, err, len(tt.frame))
				}
			}
		})
	}
}

func TestScannerRefusesWhatIsNotRESP(t *testing.T) {
	for _, tt := range broken {
		t.Run(tt.name, func(t *testing.T) {
			var s Scanner
			n, err := s.Next([]byte(tt.frame))
			if n != 0 || !errors.Is(err, tt.is) || !errors.Is(err, ErrProtocol) || errors.Is(err, ErrLimit) {
				t.Fatalf("got %d, %v, want %v", n, err, tt.is)
			}
			if _, again := s.Next([]byte(tt.frame)); !errors.Is(again, err) {
				t.Errorf("the error doesn't stick: got %v, want %v", again, err)
			}
			s.Reset()
			for i := range len(tt.frame) + 1 {
				if n, err = s.Next([]byte(tt.frame[:i])); n != 0 {
					t.Fatalf("with %d bytes: got %d", i, n)
				}
			}
			if !errors.Is(err, tt.is) {
				t.Fatalf("byte by byte: got %v, want %v", err, tt.is)
			}
			s.Reset()
			if n, err := s.Next([]byte("+OK\r\n")); n != 5 || err != nil {
				t.Errorf("after Reset: got %d, %v", n, err)
			}
		})
	}
}

func TestAny(t *testing.T) {
	for _, tt := range samples {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader([]byte(tt.frame + "+next\r\n"))
			got, err := r.Any()
			if want, isErr := tt.want.(error); isErr {
				if !errors.Is(err, want) {
					t.Fatalf("got %v, %v, want error %v", got, err, want)
				}
			} else if diff := cmp.Diff(tt.want, got, bigInts); diff != "" || err != nil {
				t.Fatalf("error %v, diff (-want +got):\n%s", err, diff)
			}
			if next, err := r.String(); next != "next" || err != nil || r.Len() != 0 {
				t.Errorf("not in step: %q, %v, %d bytes left", next, err, r.Len())
			}
		})
	}
}

func TestReaderRefusesWhatIsNotRESP(t *testing.T) {
	for _, tt := range broken {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader([]byte(tt.frame))
			if _, err := r.Any(); !errors.Is(err, ErrProtocol) {
				t.Errorf("Any: got %v", err)
			}
			if r.Len() != 0 {
				t.Errorf("Any left %d bytes", r.Len())
			}
			r = NewReader([]byte(tt.frame))
			if err := r.Skip(); !errors.Is(err, ErrProtocol) {
				t.Errorf("Skip: got %v", err)
			}
		})
	}
}
