package resp

import (
	"errors"
	"strings"
	"testing"
)

func TestScannerLimits(t *testing.T) {
	small := Limits{MaxDepth: 2, MaxBulk: 10, MaxElems: 4, MaxLine: 8, MaxFrame: 40}
	tests := []struct {
		name      string
		limits    Limits
		frame     string
		limit     Limit // empty if the frame is accepted, or incomplete
		announced int64
		allowed   int64
	}{
		{"bulk of 600 MB", Limits{}, "$629145600\r\n", LimitBulk, 629145600, 512 << 20},
		{"bulk of 512 MiB", Limits{}, "$536870912\r\n", "", 0, 0},
		{"bulk of 512 MiB + 1", Limits{}, "$536870913\r\n", LimitBulk, 536870913, 512 << 20},
		{"bulk error", Limits{}, "!536870913\r\n", LimitBulk, 536870913, 512 << 20},
		{"verbatim", Limits{}, "=536870913\r\n", LimitBulk, 536870913, 512 << 20},
		{"bulk of 19 digits", Limits{}, "$9999999999999999999\r\n", LimitBulk, 1<<63 - 1, 512 << 20},
		{"array", Limits{}, "*16777216\r\n", "", 0, 0},
		{"array too long", Limits{}, "*16777217\r\n", LimitElems, 16777217, 16 << 20},
		{"array of 19 digits", Limits{}, "*9223372036854775807\r\n", LimitElems, 1<<63 - 1, 16 << 20},
		{"map", Limits{}, "%8388608\r\n", "", 0, 0},
		{"map too long", Limits{}, "%8388609\r\n", LimitElems, 16777218, 16 << 20},
		{"map of 19 digits", Limits{}, "%9223372036854775807\r\n", LimitElems, 1<<63 - 2, 16 << 20},
		{"set too long", Limits{}, "~16777217\r\n", LimitElems, 16777217, 16 << 20},
		{"push too long", Limits{}, ">16777217\r\n", LimitElems, 16777217, 16 << 20},
		{"attribute too long", Limits{}, "|16777216\r\n", LimitElems, 33554432, 16 << 20},
		{"depth", Limits{}, strings.Repeat("*1\r\n", 128) + ":1\r\n", "", 0, 0},
		{"depth bomb", Limits{}, strings.Repeat("*1\r\n", 1_000_000), LimitDepth, 129, 128},
		{"depth bomb of maps", Limits{}, strings.Repeat("%1\r\n+k\r\n", 129), LimitDepth, 129, 128},
		{"depth bomb of attributes", Limits{}, strings.Repeat("|1\r\n", 129), LimitDepth, 129, 128},
		{"line", Limits{}, "+" + strings.Repeat("x", 1<<20) + "\r\n", "", 0, 0},
		{"line too long", Limits{}, "+" + strings.Repeat("x", 1<<20+1) + "\r\n", LimitLine, 1<<20 + 1, 1 << 20},
		{"line without end", Limits{}, "-" + strings.Repeat("x", 2<<20), LimitLine, 1<<20 + 1, 1 << 20},
		{"two bulks over a frame", Limits{MaxBulk: 1 << 30}, "*2\r\n$1073741800\r\n", "", 0, 0},
		{"bulk over a frame", Limits{MaxBulk: 1 << 31}, "$1073741824\r\n", LimitFrame, 1073741839, 1 << 30},

		{"small bulk", small, "$10\r\n0123456789\r\n", "", 0, 0},
		{"small bulk too long", small, "$11\r\n01234567890\r\n", LimitBulk, 11, 10},
		{"small array", small, "*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n", "", 0, 0},
		{"small array too long", small, "*5\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n", LimitElems, 5, 4},
		{"small map too long", small, "%3\r\n", LimitElems, 6, 4},
		{"small depth", small, "*1\r\n*1\r\n:1\r\n", "", 0, 0},
		{"small depth too deep", small, "*1\r\n*1\r\n*0\r\n", LimitDepth, 3, 2},
		{"small line", small, "+12345678\r\n", "", 0, 0},
		{"small line too long", small, "+123456789\r\n", LimitLine, 9, 8},
		{"small frame", small, "*4\r\n$10\r\n0123456789\r\n:12345\r\n:12345\r\n_\r\n", "", 0, 0},
		{"small frame too long", small, "*4\r\n$10\r\n0123456789\r\n:12345\r\n:12345\r\n:1\r\n", LimitFrame, 41, 40},
		{"endless attributes", small, strings.Repeat("|0\r\n", 11), LimitFrame, 44, 40},
		{"depth only", Limits{MaxDepth: 1}, "*1\r\n*0\r\n", LimitDepth, 2, 1},
		{"elems only", Limits{MaxElems: 2}, "*3\r\n", LimitElems, 3, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s Scanner
			s.SetLimits(tt.limits)
			check := func(how string, n int, err error) {
				t.Helper()
				if tt.limit == "" {
					if err != nil {
						t.Errorf("%s: got %d, %v", how, n, err)
					}
					return
				}
				le, ok := errors.AsType[*LimitError](err)
				if !ok || n != 0 || !errors.Is(err, ErrLimit) || !errors.Is(err, ErrProtocol) {
					t.Fatalf("%s: got %d, %v, want a LimitError", how, n, err)
				}
				if le.Limit != tt.limit || le.Announced != tt.announced || le.Allowed != tt.allowed {
					t.Errorf("%s: got %v, want %s %d > %d", how, err, tt.limit, tt.announced, tt.allowed)
				}
			}
			n, err := s.Next([]byte(tt.frame))
			check("whole", n, err)
			if len(tt.frame) > 10_000 {
				return
			}
			s.Reset()
			n, err = 0, nil
			for i := 1; i <= len(tt.frame) && n == 0 && err == nil; i++ {
				n, err = s.Next([]byte(tt.frame[:i]))
			}
			if tt.limit != LimitFrame { // the value reached depends on how much is seen
				check("byte by byte", n, err)
			} else if !errors.Is(err, ErrLimit) {
				t.Errorf("byte by byte: got %d, %v, want a LimitError", n, err)
			}
		})
	}
}

func TestLimitsSurviveReset(t *testing.T) {
	var s Scanner
	s.SetLimits(Limits{MaxBulk: 3})
	for range 2 {
		if n, err := s.Next([]byte("$4\r\nabcd\r\n")); !errors.Is(err, ErrLimit) {
			t.Errorf("got %d, %v", n, err)
		}
		s.Reset()
	}
	s.SetLimits(Limits{})
	for range 2 {
		if n, err := s.Next([]byte("$4\r\nabcd\r\n")); n != 10 || err != nil {
			t.Errorf("with the defaults again: got %d, %v", n, err)
		}
	}
}

func TestNeedIsTheEndOfABulk(t *testing.T) {
	var s Scanner
	if n, err := s.Next([]byte("*2\r\n$1000000\r\nabc")); n != 0 || err != nil || s.Need() != 4+10+1000000+2 {
		t.Errorf("got %d, %v, need %d", n, err, s.Need())
	}
	s.Reset()
	if n, err := s.Next(nil); n != 0 || err != nil || s.Need() != 1 {
		t.Errorf("nothing: got %d, %v, need %d", n, err, s.Need())
	}
}

// TestScannerLooksOnce destroys what the scanner has passed before it gets the
// rest: looking at it again would show.
func TestScannerLooksOnce(t *testing.T) {
	array := string(mget(1000)) // 17 bytes an element behind a header of 7
	for _, tt := range []struct {
		name       string
		frame      string
		cut        int // bytes given first
		start, end int // of them, these may be looked at no more
	}{
		{"bulk", "$5000000\r\n" + strings.Repeat("x", 5_000_000) + "\r\n", 2_000_000, 0, 2_000_000},
		{"line", "+" + strings.Repeat("x", 1<<20) + "\r\n", 1 << 19, 1, 1 << 19},
		{"array", array, 7 + 500*17 + 5, 0, 7 + 500*17},
		{"map", "%1\r\n*2\r\n:1\r\n,1.5\r\n+v\r\n", 8 + 4 + 6, 0, 8 + 4 + 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := []byte(tt.frame)
			var s Scanner
			if n, err := s.Next(b[:tt.cut]); n != 0 || err != nil {
				t.Fatalf("got %d, %v", n, err)
			}
			for i := tt.start; i < tt.end; i++ {
				b[i] = '\n'
			}
			if n, err := s.Next(b); n != len(b) || err != nil {
				t.Fatalf("got %d, %v, want %d", n, err, len(b))
			}
		})
	}
}

// TestScannerTakesManyPieces feeds large replies in pieces as a socket gives
// them. If that were quadratic, it would take minutes.
func TestScannerTakesManyPieces(t *testing.T) {
	for _, frame := range [][]byte{
		AppendBulk(nil, strings.Repeat("x", 100<<20)),
		mget(1 << 20),
	} {
		var s Scanner
		n, err := 0, error(nil)
		for end := 0; end < len(frame) && n == 0 && err == nil; {
			end = min(len(frame), end+16<<10)
			n, err = s.Next(frame[:end])
		}
		if n != len(frame) || err != nil {
			t.Errorf("got %d, %v, want %d", n, err, len(frame))
		}
	}
}

func TestScannerSurvivesAShorterBuffer(t *testing.T) {
	for _, frame := range []string{"$10\r\nabc", "+abc", "*3\r\n:1\r\n:2\r\n"} {
		var s Scanner
		for i := len(frame); i >= 0; i-- { // against the contract
			if n, err := s.Next([]byte(frame[:i])); n != 0 || err != nil {
				t.Errorf("%q: got %d, %v", frame[:i], n, err)
			}
		}
	}
}

func TestScannerDoesNotAllocate(t *testing.T) {
	var s Scanner
	for _, tt := range samples {
		frame := []byte(tt.frame)
		if _, err := s.Next(frame); err != nil { // warms the stack up
			t.Fatal(err)
		}
		got := testing.AllocsPerRun(100, func() {
			for i := range 3 {
				if _, err := s.Next(frame[:len(frame)*(i+1)/3]); err != nil {
					t.Error(err)
				}
			}
		})
		if got != 0 {
			t.Errorf("%s: %v allocations", tt.name, got)
		}
	}
}

func TestReaderTakesNoCountOnTrust(t *testing.T) {
	for _, frame := range []string{
		"*1000000000\r\n:1\r\n",
		"%9000000000000000000\r\n",
		"|9000000000000000000\r\n:1\r\n",
		"$9000000000000000000\r\n",
		"*2\r\n*3\r\n:1\r\n:2\r\n:3\r\n",
		strings.Repeat("*1000\r\n", 1000),
		strings.Repeat("%500\r\n", 1000),
		strings.Repeat("*1\r\n", 1_000_000),
	} {
		name := sample([]byte(frame))
		var r Reader
		got := testing.AllocsPerRun(1, func() {
			r = NewReader([]byte(frame))
			if _, err := r.Any(); !errors.Is(err, ErrProtocol) {
				t.Errorf("%s: Any: got %v", name, err)
			}
		})
		if got > 3*maxAnyDepth {
			t.Errorf("%s: %v allocations", name, got)
		}
		r = NewReader([]byte(frame))
		if err := r.Skip(); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: Skip: got %v", name, err)
		}
	}
	r := NewReader([]byte("*1000000000\r\n:1\r\n"))
	if n, err := r.ArrayLen(); !errors.Is(err, ErrProtocol) || n != 0 {
		t.Errorf("ArrayLen: got %d, %v", n, err)
	}
}

func TestAnyStopsAtADepth(t *testing.T) {
	frame := strings.Repeat("*1\r\n", maxAnyDepth+1) + ":1\r\n"
	r := NewReader([]byte(frame + "+next\r\n"))
	if _, err := r.Any(); !errors.Is(err, ErrLimit) {
		t.Errorf("got %v", err)
	}
	if next, err := r.String(); next != "next" || err != nil {
		t.Errorf("not in step: %q, %v", next, err)
	}
	r = NewReader([]byte(frame[4:]))
	if _, err := r.Any(); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}
