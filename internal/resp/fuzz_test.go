package resp

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"
)

// addSeeds adds the frames of the tables to a corpus, whole and cut.
func addSeeds(add func(frame []byte)) {
	for _, tt := range samples {
		add([]byte(tt.frame))
		add([]byte(tt.frame + tt.frame))
		add([]byte(tt.frame[:len(tt.frame)-1]))
		add([]byte("*1\r\n" + tt.frame))
	}
	for _, tt := range broken {
		add([]byte(tt.frame))
		add([]byte("*2\r\n" + tt.frame))
	}
}

// outcome is what a scanner or reader says about bytes.
type outcome int

const (
	accepted outcome = iota
	incomplete
	refused
	limited
)

// outcomeOf tells the outcome of Scanner.Next.
func outcomeOf(n int, err error) outcome {
	switch {
	case errors.Is(err, ErrLimit):
		return limited
	case err != nil:
		return refused
	case n == 0:
		return incomplete
	}
	return accepted
}

// FuzzScanner compares the scanner with the reader, which finds the end of a
// value in another way, and with itself when fed in pieces.
func FuzzScanner(f *testing.F) {
	addSeeds(func(frame []byte) { f.Add(frame, uint64(0x9E3779B97F4A7C15)) })
	f.Fuzz(func(t *testing.T, b []byte, cuts uint64) {
		type result struct {
			n       int
			outcome outcome
		}
		var got []result
		// The second limits matter only in that they turn the shortcuts off.
		for _, limits := range []Limits{{}, {MaxBulk: fastBulk - 1}, {MaxDepth: 3, MaxBulk: 20, MaxElems: 6, MaxLine: 10, MaxFrame: 60}} {
			var s Scanner
			s.SetLimits(limits)
			n, err := s.Next(b)
			whole := outcomeOf(n, err)
			if n < 0 || n > len(b) {
				t.Fatalf("%q: a frame of %d bytes in %d", b, n, len(b))
			}
			if whole == incomplete && s.Need() <= len(b) {
				t.Fatalf("%q: needs %d bytes of %d", b, s.Need(), len(b))
			}

			s.Reset()
			m, err := 0, error(nil)
			for end, i := 0, 0; m == 0 && err == nil; i++ {
				m, err = s.Next(b[:end])
				if end == len(b) {
					break
				}
				end = min(len(b), end+int(cuts>>(i%16*4)&15)%7+i%2)
			}
			if pieces := outcomeOf(m, err); pieces != whole || m != n {
				t.Fatalf("%q: %v, %d whole, %v, %d in pieces (%v)", b, whole, n, pieces, m, err)
			}
			checkReader(t, b, n, whole)
			got = append(got, result{n, whole})
		}
		if quick, thorough := got[0], got[1]; quick != thorough && quick.outcome != limited && thorough.outcome != limited {
			t.Fatalf("%q: %v with shortcuts, %v without", b, quick, thorough)
		}
	})
}

// checkReader checks that Skip and Any agree with what a scanner says.
func checkReader(t *testing.T, b []byte, n int, scanned outcome) {
	t.Helper()
	if scanned == limited {
		return
	}
	for name, read := range map[string]func(*Reader) error{
		"Skip": (*Reader).Skip,
		"Any":  func(r *Reader) error { _, err := r.Any(); return err },
	} {
		r := NewReader(b)
		err := read(&r)
		isProtocol := errors.Is(err, ErrProtocol)
		if scanned != accepted {
			if !isProtocol || r.Len() != 0 {
				t.Fatalf("%q: the scanner says %v, %s %v and %d bytes left", b, scanned, name, err, r.Len())
			}
			continue
		}
		if isProtocol || len(b)-r.Len() != n {
			t.Fatalf("%q: the scanner says %d, %s %v and %d", b, n, name, err, len(b)-r.Len())
		}
		r = NewReader(b[:n:n])
		if err := read(&r); errors.Is(err, ErrProtocol) || r.Len() != 0 {
			t.Fatalf("%q: alone: %s gives %v and %d bytes left", b[:n], name, err, r.Len())
		}
	}
}

// FuzzReader runs typed reads over any bytes: they must not panic, always move
// on, and stay in step with Skip.
func FuzzReader(f *testing.F) {
	addSeeds(func(frame []byte) {
		for op := range uint64(9) {
			f.Add(frame, op)
		}
	})
	f.Fuzz(func(t *testing.T, b []byte, ops uint64) {
		r := NewReader(b[:len(b):len(b)])
		for i := 0; r.Len() > 0; i++ {
			before, skipped := r, r
			skipErr := skipped.Skip()
			header := false
			var err error
			switch ops >> (i % 16 * 4) & 15 {
			case 0:
				var v []byte
				v, err = r.Bytes()
				if err != nil && v != nil {
					t.Fatalf("%q: Bytes gives %q and %v", b, v, err)
				}
			case 1:
				_, err = r.String()
			case 2:
				_, err = r.Int()
			case 3:
				_, err = r.Uint()
			case 4:
				_, err = r.Float()
			case 5:
				_, err = r.Bool()
			case 6:
				var n int
				n, err = r.ArrayLen()
				header = err == nil
				if n < 0 || n > len(b) {
					t.Fatalf("%q: ArrayLen gives %d", b, n)
				}
			case 7:
				var n int
				n, err = r.MapLen()
				header = err == nil
				if n < 0 || n > len(b) {
					t.Fatalf("%q: MapLen gives %d", b, n)
				}
			case 8:
				_, err = r.Any()
			case 9:
				kind := r.Kind()
				if null := r.Null(); null && kind != KindNull && kind != KindBulk && kind != KindArray {
					t.Fatalf("%q: a null of kind %v", b, kind)
				} else if null {
					continue
				}
				err = r.Skip()
			default:
				err = r.Skip()
			}
			if r.Len() >= before.Len() {
				t.Fatalf("%q: no progress with %d bytes left", b, r.Len())
			}
			if !header && skipErr == nil && r.Len() != skipped.Len() {
				t.Fatalf("%q: out of step: %d bytes left, %d after Skip (%v)", b, r.Len(), skipped.Len(), err)
			}
			if errors.Is(err, ErrProtocol) && skipErr == nil && !errors.Is(err, ErrLimit) {
				t.Fatalf("%q: %v, but Skip succeeds", b, err)
			}
		}
	})
}

// FuzzEncode checks that what is encoded is one frame and reads as what it was.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("text"), int64(0), uint64(0))
	f.Add([]byte("a\r\nb\x00"), int64(-1), uint64(math.MaxUint64))
	f.Add([]byte{}, int64(math.MinInt64), math.Float64bits(math.Inf(1)))
	f.Add([]byte("OK"), int64(math.MaxInt64), math.Float64bits(1e300))
	f.Add(make([]byte, 1000), int64(10), math.Float64bits(0.1))
	f.Fuzz(func(t *testing.T, text []byte, i int64, u uint64) {
		float := math.Float64frombits(u)
		when := time.Unix(i%1e11, int64(u%1e9)).UTC()
		args := []any{
			text, string(text), i, u, float, i > 0, time.Duration(i), when,
			int32(i), uint16(u), float32(float), &i, &float, nil,
		}
		b := AppendArrayLen(nil, len(args))
		for _, a := range args {
			var err error
			if b, err = AppendArg(b, a); err != nil {
				t.Fatal(err)
			}
		}
		var s Scanner
		if n, err := s.Next(b); n != len(b) || err != nil {
			t.Fatalf("%q: got %d, %v", b, n, err)
		}
		r := NewReader(b)
		if n, err := r.ArrayLen(); n != len(args) || err != nil {
			t.Fatalf("%q: got %d, %v", b, n, err)
		}
		readArgs(t, &r, text, i, u, when)
		if r.Len() != 0 {
			t.Fatalf("%q: %d bytes left", b, r.Len())
		}
		checkDoubles(t, float)
		b = binary.BigEndian.AppendUint64(b[:0], u)
		if _, err := s.Next(AppendSimple(nil, string(b))); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if _, err := s.Next(AppendError(nil, string(text))); err != nil && len(text) < 1<<20 {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// readArgs reads what FuzzEncode has encoded.
func readArgs(t *testing.T, r *Reader, text []byte, i int64, u uint64, when time.Time) {
	t.Helper()
	float := math.Float64frombits(u)
	sameFloat := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	if got, err := r.Bytes(); string(got) != string(text) || err != nil {
		t.Errorf("bytes: got %q, %v", got, err)
	}
	if got, err := r.String(); got != string(text) || err != nil {
		t.Errorf("string: got %q, %v", got, err)
	}
	if got, err := r.Int(); got != i || err != nil {
		t.Errorf("int64: got %d, %v, want %d", got, err, i)
	}
	if got, err := r.Uint(); got != u || err != nil {
		t.Errorf("uint64: got %d, %v, want %d", got, err, u)
	}
	if got, err := r.Float(); !sameFloat(got, float) || err != nil {
		t.Errorf("float64: got %v, %v, want %v", got, err, float)
	}
	if got, err := r.Bool(); got != (i > 0) || err != nil {
		t.Errorf("bool: got %v, %v", got, err)
	}
	if got, err := r.Int(); got != i || err != nil {
		t.Errorf("duration: got %d, %v", got, err)
	}
	text1, err := r.String()
	if got, perr := time.Parse(time.RFC3339Nano, text1); when.Year() <= 9999 && when.Year() >= 0 && (perr != nil || err != nil || !got.Equal(when)) {
		t.Errorf("time: got %v, %v, %v, want %v", got, err, perr, when)
	}
	if got, err := r.Int(); got != int64(int32(i)) || err != nil {
		t.Errorf("int32: got %d, %v", got, err)
	}
	if got, err := r.Uint(); got != uint64(uint16(u)) || err != nil {
		t.Errorf("uint16: got %d, %v", got, err)
	}
	if got, err := r.Float(); !sameFloat(got, float64(float32(float))) || err != nil {
		t.Errorf("float32: got %v, %v", got, err)
	}
	if got, err := r.Int(); got != i || err != nil {
		t.Errorf("*int64: got %d, %v", got, err)
	}
	if got, err := r.Float(); !sameFloat(got, float) || err != nil {
		t.Errorf("*float64: got %v, %v", got, err)
	}
	if got, err := r.String(); got != "" || err != nil {
		t.Errorf("nil: got %q, %v", got, err)
	}
}

// checkDoubles checks that a double comes back in both protocols.
func checkDoubles(t *testing.T, want float64) {
	t.Helper()
	for proto := 2; proto <= 3; proto++ {
		b := AppendDouble(nil, want, proto)
		r := NewReader(b)
		got, err := r.Float()
		if err != nil || got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%q: got %v, %v, want %v", b, got, err, want)
		}
	}
}
