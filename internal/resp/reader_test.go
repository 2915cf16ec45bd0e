package resp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// after is a value behind the one under test, to see whether the reader is in
// step.
const after = "$5\r\nafter\r\n"

// checkInStep reads the value behind the one under test.
func checkInStep(t *testing.T, frame string, r *Reader) {
	t.Helper()
	if got, err := r.String(); got != "after" || err != nil || r.Len() != 0 {
		t.Errorf("%q: not in step: got %q, %v, %d bytes left", frame, got, err, r.Len())
	}
}

// mismatch is the want of a read that gives a TypeError.
type mismatch Kind

// checkRead compares the result of a typed read with want, which is a value of
// type T, an Error, or a mismatch.
func checkRead[T any](t *testing.T, frame string, want any, read func(*Reader) (T, error), equal func(a, b T) bool) {
	t.Helper()
	for _, prefix := range []string{"", "|1\r\n+a\r\n*1\r\n:1\r\n"} {
		r := NewReader([]byte(prefix + frame + after))
		got, err := read(&r)
		switch want := want.(type) {
		case Error:
			if !errors.Is(err, want) {
				t.Errorf("%q: got %v, %v, want error %v", frame, got, err, want)
			}
		case mismatch:
			te, ok := errors.AsType[*TypeError](err)
			if !ok || te.Got != Kind(want) || te.Want == "" || te.Sample == "" {
				t.Errorf("%q: got %v, %v, want a TypeError for %v", frame, got, err, Kind(want))
			}
		case T:
			if err != nil || !equal(got, want) {
				t.Errorf("%q: got %v, %v, want %v", frame, got, err, want)
			}
		default:
			t.Fatalf("%q: bad want %T", frame, want)
		}
		checkInStep(t, frame, &r)
	}
}

// same is ==.
func same[T comparable](a, b T) bool { return a == b }

func TestReadString(t *testing.T) {
	for frame, want := range map[string]any{
		"+OK\r\n":                       "OK",
		"+\r\n":                         "",
		"$0\r\n\r\n":                    "",
		"$3\r\na\r\n\r\n":               "a\r\n",
		bulkOf(9):                       strings.Repeat("x", 9),
		bulkOf(10):                      strings.Repeat("x", 10),
		bulkOf(99):                      strings.Repeat("x", 99),
		bulkOf(100):                     strings.Repeat("x", 100),
		bulkOf(999):                     strings.Repeat("x", 999),
		bulkOf(1000):                    strings.Repeat("x", 1000),
		bulkOf(1 << 20):                 strings.Repeat("x", 1<<20),
		"=7\r\ntxt:abc\r\n":             "abc",
		":-12\r\n":                      "-12",
		",1.50\r\n":                     "1.50",
		",inf\r\n":                      "inf",
		"(123456789012345678901234\r\n": "123456789012345678901234",
		"#t\r\n":                        "true",
		"#f\r\n":                        "false",
		"_\r\n":                         Nil,
		"$-1\r\n":                       Nil,
		"*-1\r\n":                       Nil,
		"-ERR x\r\n":                    Error("ERR x"),
		"!3\r\na\nb\r\n":                Error("a\nb"),
		"*2\r\n:1\r\n*1\r\n:2\r\n":      mismatch(KindArray),
		"*0\r\n":                        mismatch(KindArray),
		"%1\r\n:1\r\n:2\r\n":            mismatch(KindMap),
		"~1\r\n:1\r\n":                  mismatch(KindSet),
		">1\r\n+x\r\n":                  mismatch(KindPush),
		"*1\r\n|1\r\n:1\r\n:2\r\n_\r\n": mismatch(KindArray),
	} {
		checkRead(t, frame, want, (*Reader).String, same)
		checkRead(t, frame, want, func(r *Reader) (string, error) {
			b, err := r.Bytes()
			return string(b), err
		}, same)
	}
}

// bulkOf returns a bulk string of n bytes.
func bulkOf(n int) string { return string(AppendBulk(nil, strings.Repeat("x", n))) }

func TestReadInt(t *testing.T) {
	for frame, want := range map[string]any{
		":0\r\n":                               int64(0),
		":-0\r\n":                              int64(0),
		":+5\r\n":                              int64(5),
		":007\r\n":                             int64(7),
		":999999999999999999\r\n":              int64(999999999999999999),
		":-999999999999999999\r\n":             int64(-999999999999999999),
		":9223372036854775807\r\n":             int64(math.MaxInt64),
		":-9223372036854775808\r\n":            int64(math.MinInt64),
		":9223372036854775808\r\n":             mismatch(KindInt),
		":-9223372036854775809\r\n":            mismatch(KindInt),
		":99999999999999999999999\r\n":         mismatch(KindInt),
		"$2\r\n42\r\n":                         int64(42),
		"+42\r\n":                              int64(42),
		"=6\r\ntxt:42\r\n":                     int64(42),
		"(42\r\n":                              int64(42),
		"(99999999999999999999999\r\n":         mismatch(KindBigNumber),
		"$0\r\n\r\n":                           mismatch(KindBulk),
		"$3\r\nabc\r\n":                        mismatch(KindBulk),
		"$2\r\n 1\r\n":                         mismatch(KindBulk),
		"+OK\r\n":                              mismatch(KindSimple),
		"#t\r\n":                               int64(1),
		"#f\r\n":                               int64(0),
		",3\r\n":                               int64(3),
		",1e3\r\n":                             int64(1000),
		",3.5\r\n":                             mismatch(KindDouble),
		",1e19\r\n":                            mismatch(KindDouble),
		",9223372036854775808\r\n":             mismatch(KindDouble),
		",-9223372036854775808\r\n":            int64(math.MinInt64),
		",nan\r\n":                             mismatch(KindDouble),
		",inf\r\n":                             mismatch(KindDouble),
		"_\r\n":                                Nil,
		"$-1\r\n":                              Nil,
		"-WRONGTYPE x\r\n":                     Error("WRONGTYPE x"),
		"*1\r\n:1\r\n":                         mismatch(KindArray),
		"%1\r\n:1\r\n$4\r\n\r\n\r\n\r\n":       mismatch(KindMap),
		"*2\r\n=7\r\ntxt:a\r\n\r\n!1\r\nx\r\n": mismatch(KindArray),
	} {
		checkRead(t, frame, want, (*Reader).Int, same)
	}
}

func TestReadUint(t *testing.T) {
	for frame, want := range map[string]any{
		":0\r\n":                          uint64(0),
		":-0\r\n":                         uint64(0),
		":42\r\n":                         uint64(42),
		":-1\r\n":                         mismatch(KindInt),
		":18446744073709551615\r\n":       uint64(math.MaxUint64),
		":18446744073709551616\r\n":       mismatch(KindInt),
		"$20\r\n18446744073709551615\r\n": uint64(math.MaxUint64),
		"(18446744073709551615\r\n":       uint64(math.MaxUint64),
		",2\r\n":                          uint64(2),
		",-2\r\n":                         mismatch(KindDouble),
		",18446744073709551616\r\n":       mismatch(KindDouble),
		"#t\r\n":                          uint64(1),
		"#f\r\n":                          uint64(0),
		"_\r\n":                           Nil,
		"-ERR x\r\n":                      Error("ERR x"),
		"~1\r\n:1\r\n":                    mismatch(KindSet),
	} {
		checkRead(t, frame, want, (*Reader).Uint, same)
	}
}

func TestReadFloat(t *testing.T) {
	equal := func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
	}
	for frame, want := range map[string]any{
		",3.14\r\n":             3.14,
		",10\r\n":               10.0,
		",-0\r\n":               math.Copysign(0, -1),
		",0\r\n":                0.0,
		",.5\r\n":               0.5,
		",5.\r\n":               5.0,
		",+1.5E-3\r\n":          0.0015,
		",inf\r\n":              math.Inf(1),
		",+inf\r\n":             math.Inf(1),
		",-inf\r\n":             math.Inf(-1),
		",nan\r\n":              math.NaN(),
		",-nan\r\n":             math.NaN(),
		",NaN\r\n":              math.NaN(),
		",1e400\r\n":            mismatch(KindDouble),
		",9007199254740993\r\n": 9007199254740992.0,
		",0.1000000000000000055511151231257827021181583404541015625\r\n": 0.1,
		":7\r\n":         7.0,
		"$4\r\n-1.5\r\n": -1.5,
		"$3\r\ninf\r\n":  math.Inf(1),
		"$4\r\n-inf\r\n": math.Inf(-1),
		"$3\r\nnan\r\n":  math.NaN(),
		"+2.5\r\n":       2.5,
		"(12\r\n":        12.0,
		"$3\r\n0x1\r\n":  mismatch(KindBulk),
		"$3\r\n1_0\r\n":  mismatch(KindBulk),
		"$3\r\nnil\r\n":  mismatch(KindBulk),
		"$0\r\n\r\n":     mismatch(KindBulk),
		"$1\r\n-\r\n":    mismatch(KindBulk),
		"#t\r\n":         mismatch(KindBool),
		"_\r\n":          Nil,
		"-ERR x\r\n":     Error("ERR x"),
		"*0\r\n":         mismatch(KindArray),
	} {
		checkRead(t, frame, want, (*Reader).Float, equal)
	}
}

func TestReadBool(t *testing.T) {
	for frame, want := range map[string]any{
		"#t\r\n":            true,
		"#f\r\n":            false,
		":1\r\n":            true,
		":0\r\n":            false,
		":2\r\n":            false,
		":-1\r\n":           false,
		"+OK\r\n":           true,
		"$1\r\n1\r\n":       true,
		"$1\r\n0\r\n":       false,
		"$4\r\ntrue\r\n":    true,
		"+false\r\n":        false,
		"+QUEUED\r\n":       mismatch(KindSimple),
		"$0\r\n\r\n":        mismatch(KindBulk),
		",1\r\n":            mismatch(KindDouble),
		"_\r\n":             Nil,
		"-ERR x\r\n":        Error("ERR x"),
		"*1\r\n:1\r\n":      mismatch(KindArray),
		"=6\r\ntxt:OK\r\n":  true,
		"=6\r\ntxt:NO\r\n":  mismatch(KindVerbatim),
		"(1\r\n":            mismatch(KindBigNumber),
		"!5\r\nERR x\r\n":   Error("ERR x"),
		"%1\r\n+a\r\n_\r\n": mismatch(KindMap),
	} {
		checkRead(t, frame, want, (*Reader).Bool, same)
	}
}

func TestReadArrayLen(t *testing.T) {
	read := func(r *Reader) (int, error) {
		n, err := r.ArrayLen()
		for range n {
			if err := r.Skip(); err != nil {
				return n, err
			}
		}
		return n, err
	}
	for frame, want := range map[string]any{
		"*0\r\n":                         0,
		"*2\r\n:1\r\n*1\r\n:2\r\n":       2,
		"~1\r\n:1\r\n":                   1,
		">1\r\n:1\r\n":                   1,
		"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n": 4,
		"*-1\r\n":                        Nil,
		"$-1\r\n":                        Nil,
		"_\r\n":                          Nil,
		"-ERR x\r\n":                     Error("ERR x"),
		":1\r\n":                         mismatch(KindInt),
		"$1\r\na\r\n":                    mismatch(KindBulk),
		"*1\r\n|1\r\n+a\r\n+b\r\n+c\r\n": 1,
		string(mget(1000)):               1000,
		"*1000\r\n" + strings.Repeat("_\r\n", 1000): 1000,
	} {
		checkRead(t, frame, want, read, same)
	}
}

func TestReadMapLen(t *testing.T) {
	read := func(r *Reader) (int, error) {
		n, err := r.MapLen()
		for range 2 * n {
			if err := r.Skip(); err != nil {
				return n, err
			}
		}
		return n, err
	}
	for frame, want := range map[string]any{
		"%0\r\n":                         0,
		"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n": 2,
		"*2\r\n+a\r\n:1\r\n":             1,
		"~2\r\n+a\r\n:1\r\n":             1,
		"*0\r\n":                         0,
		"*3\r\n:1\r\n:2\r\n:3\r\n":       mismatch(KindArray),
		"_\r\n":                          Nil,
		"*-1\r\n":                        Nil,
		"-ERR x\r\n":                     Error("ERR x"),
		":1\r\n":                         mismatch(KindInt),
	} {
		checkRead(t, frame, want, read, same)
	}
}

func TestSkip(t *testing.T) {
	for _, tt := range samples {
		r := NewReader([]byte(tt.frame + after))
		if err := r.Skip(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		checkInStep(t, tt.frame, &r)
	}
}

func TestKindAndNull(t *testing.T) {
	for _, tt := range []struct {
		frame string
		kind  Kind
		null  bool
	}{
		{"+OK\r\n", KindSimple, false},
		{"_\r\n", KindNull, true},
		{"$-1\r\n", KindBulk, true},
		{"*-1\r\n", KindArray, true},
		{"|1\r\n+a\r\n+b\r\n_\r\n", KindNull, true},
		{"|1\r\n+a\r\n+b\r\n%0\r\n", KindMap, false},
		{":-1\r\n", KindInt, false},
	} {
		r := NewReader([]byte(tt.frame + after))
		if got := r.Kind(); got != tt.kind {
			t.Errorf("%q: kind %v, want %v", tt.frame, got, tt.kind)
		}
		if got := r.Null(); got != tt.null {
			t.Errorf("%q: null %v, want %v", tt.frame, got, tt.null)
		}
		if !tt.null {
			if err := r.Skip(); err != nil {
				t.Errorf("%q: %v", tt.frame, err)
			}
		}
		checkInStep(t, tt.frame, &r)
	}
	for _, frame := range []string{"", "x", "|1\r\n+a\r\n", "|x\r\n"} {
		r := NewReader([]byte(frame))
		if got := r.Kind(); got != 0 {
			t.Errorf("%q: kind %v, want none", frame, got)
		}
		if r.Null() {
			t.Errorf("%q: null", frame)
		}
		if err := r.Skip(); !errors.Is(err, ErrProtocol) {
			t.Errorf("%q: Skip gives %v", frame, err)
		}
	}
}

func TestRawIsOneValueWithoutAttributes(t *testing.T) {
	for _, frame := range []string{":1\r\n", "$-1\r\n", "-ERR no\r\n", "*2\r\n%1\r\n+a\r\n:1\r\n_\r\n", "*0\r\n"} {
		for _, before := range []string{"", "|1\r\n+a\r\n*1\r\n:1\r\n"} {
			r := NewReader([]byte(before + frame + "+next\r\n"))
			got, err := r.Raw()
			if string(got) != frame || cap(got) != len(got) || err != nil || r.Len() != len("+next\r\n") {
				t.Errorf("%q: got %q, capacity %d, %v", before+frame, got, cap(got), err)
			}
		}
	}
}

func TestReaderRefusesACutFrame(t *testing.T) {
	for _, tt := range samples {
		for i := range len(tt.frame) {
			for _, read := range []func(*Reader) error{
				(*Reader).Skip,
				func(r *Reader) error { _, err := r.Any(); return err },
				func(r *Reader) error { _, err := r.Raw(); return err },
			} {
				r := NewReader([]byte(tt.frame[:i]))
				if err := read(&r); !errors.Is(err, ErrProtocol) || r.Len() != 0 {
					t.Errorf("%q: got %v, %d bytes left", tt.frame[:i], err, r.Len())
				}
			}
		}
	}
}

func TestBytesAliasTheFrameButCannotGrowIntoIt(t *testing.T) {
	for _, frame := range []string{"$3\r\nabc\r\n", "+abc\r\n", "=7\r\ntxt:abc\r\n", bulkOf(2000)} {
		b := []byte(frame)
		r := NewReader(b)
		got, err := r.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if cap(got) != len(got) {
			t.Errorf("%q: capacity %d for %d bytes", sample(b), cap(got), len(got))
		}
		b[len(b)-3] = 'Z'
		if got[len(got)-1] != 'Z' {
			t.Errorf("%q: not an alias", sample(b))
		}
	}
}

func TestAnyWithBadContentStaysInStep(t *testing.T) {
	for _, frame := range []string{
		"%1\r\n*1\r\n:1\r\n+v\r\n",
		"%2\r\n+k\r\n+v\r\n%0\r\n+v\r\n",
		"*2\r\n%1\r\n~1\r\n:1\r\n+v\r\n:2\r\n",
		"%1\r\n|1\r\n+a\r\n+b\r\n*0\r\n_\r\n",
		"*2\r\n:9223372036854775808\r\n+x\r\n",
		"*2\r\n,1e999\r\n+x\r\n",
		"*1\r\n(" + strings.Repeat("7", 1<<20) + "\r\n",
	} {
		r := NewReader([]byte(frame + after))
		v, err := r.Any()
		if _, ok := errors.AsType[*TypeError](err); !ok || v != nil {
			t.Errorf("%q: got %v, %v, want a TypeError", frame, v, err)
		}
		checkInStep(t, frame, &r)
	}
}

func TestErrorTexts(t *testing.T) {
	r := NewReader([]byte("*2\r\n$3\r\nabc\r\n:1\r\n"))
	_, err := r.Int()
	if got, want := err.Error(), `resp: can't read array "*2\r\n$3\r\nabc\r\n:1\r\n" as int64`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var s Scanner
	for frame, want := range map[string]string{
		"*1\r\nHTTP/1.1 400\r\n": `resp: found "HTTP/1.1 400\r\n" at byte 4 of the reply, want a type byte`,
		"$?\r\n":                 `resp: found "$?\r\n" at byte 0 of the reply, want a length (streamed types are not supported)`,
		"*99999999\r\n":          `resp: aggregate elements 99999999 at byte 0 of the reply exceeds the limit of 16777216`,
	} {
		s.Reset()
		if _, err := s.Next([]byte(frame)); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	r = NewReader(nil)
	if err := r.Skip(); err.Error() != "resp: found the end at byte 0 of the reply, want the rest of the value" {
		t.Errorf("got %v", err)
	}
	var re interface {
		error
		RedisError()
	} = Nil
	if re.Error() != "redis: nil" {
		t.Errorf("got %v", re)
	}
}

func TestKindString(t *testing.T) {
	seen := make(map[string]bool)
	for _, k := range []Kind{
		0, KindSimple, KindError, KindInt, KindBulk, KindArray, KindNull, KindBool, KindDouble,
		KindBigNumber, KindBulkError, KindVerbatim, KindMap, KindSet, KindPush, KindAttribute, 'x',
	} {
		s := k.String()
		if s == "" || seen[s] {
			t.Errorf("%d: %q is empty or not unique", k, s)
		}
		seen[s] = true
	}
}

func TestTypedReadsDoNotAllocate(t *testing.T) {
	frame := []byte("*6\r\n$5\r\nhello\r\n:42\r\n,3.14\r\n#t\r\n%1\r\n+k\r\n_\r\n$20\r\n12345678901234567890\r\n")
	got := testing.AllocsPerRun(100, func() {
		r := NewReader(frame)
		if n, err := r.ArrayLen(); n != 6 || err != nil {
			t.Error(n, err)
		}
		if b, err := r.Bytes(); string(b) != "hello" || err != nil {
			t.Error(b, err)
		}
		if n, err := r.Int(); n != 42 || err != nil {
			t.Error(n, err)
		}
		if f, err := r.Float(); f != 3.14 || err != nil {
			t.Error(f, err)
		}
		if v, err := r.Bool(); !v || err != nil {
			t.Error(v, err)
		}
		if n, err := r.MapLen(); n != 1 || err != nil {
			t.Error(n, err)
		}
		if err := r.Skip(); err != nil || !r.Null() {
			t.Error(err)
		}
		if n, err := r.Uint(); n != 12345678901234567890 || err != nil {
			t.Error(n, err)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// What a frame's owner reads of it shares its memory only where it is most of it.
func TestOwnersDontCopy(t *testing.T) {
	for text, want := range map[string]bool{"": false, strings.Repeat("x", 1000): true} {
		frame := AppendBulk(nil, text)
		for _, own := range []bool{false, true} {
			r := NewReader(frame)
			if own {
				r = NewOwner(frame)
			}
			got, err := r.String()
			if err != nil || got != text {
				t.Fatalf("got %.20q, %v, want %.20q", got, err, text)
			}
			shares := got != "" && unsafe.StringData(got) == &frame[len("$1000\r\n")]
			if shares != (own && want) {
				t.Errorf("%d bytes, owner %v: shares memory: %v, want %v", len(text), own, shares, own && want)
			}
		}
	}
	r := NewOwner([]byte("*2\r\n$5\r\nfirst\r\n$6\r\nsecond\r\n"))
	if n, err := r.ArrayLen(); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if s, err := r.String(); s != "first" || err != nil {
		t.Errorf("got %q, %v", s, err)
	}
}

// Short strings of several frames share memory, and keep their contents.
func TestStringsShareChunks(t *testing.T) {
	var chunk Chunk
	var got, want []string
	for i := range 500 {
		text := strings.Repeat(string(rune('a'+i%26)), i%300)
		frame := AppendBulk(nil, text)
		r := NewSharing(frame, &chunk)
		s, err := r.String()
		if err != nil {
			t.Fatal(err)
		}
		clear(frame)
		got, want = append(got, s), append(want, text)
	}
	if !slices.Equal(got, want) {
		t.Error("strings have changed")
	}
	frame := AppendBulk(nil, strings.Repeat("x", 64))
	if n := testing.AllocsPerRun(1000, func() {
		r := NewSharing(frame, &chunk)
		_, _ = r.String()
	}); n > 0 {
		t.Errorf("%v allocations for a string of 64 bytes, want one for many", n)
	}
}
