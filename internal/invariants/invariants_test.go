package invariants

import (
	"bytes"
	"testing"
)

// panics returns what f panics with, nil if it doesn't.
func panics(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// wantPanic checks that f panics with want in builds with checks, and never in
// others.
func wantPanic(t *testing.T, f func(), want string) {
	t.Helper()
	got := panics(f)
	if Enabled && got != want {
		t.Errorf("got panic %v, want %q", got, want)
	}
	if !Enabled && got != nil {
		t.Errorf("got panic %v with checks disabled", got)
	}
}

func TestCheck(t *testing.T) {
	if got := panics(func() { Check(true, "never") }); got != nil {
		t.Errorf("got panic %v for a condition that holds", got)
	}
	wantPanic(t, func() { Check(false, "%d links", 3) }, "invariant broken: 3 links")
}

func TestClosedPanicsOnSecondClose(t *testing.T) {
	var c Closed
	if got := panics(c.CheckOpen); got != nil {
		t.Errorf("open: got panic %v", got)
	}
	if got := panics(c.Close); got != nil {
		t.Errorf("first Close: got panic %v", got)
	}
	wantPanic(t, c.Close, "invariant broken: closed twice")
	wantPanic(t, c.CheckOpen, "invariant broken: used after close")
}

func TestScribble(t *testing.T) {
	b := []byte("abc")
	Scribble(b[:2])
	want := []byte("abc")
	if Enabled {
		want = []byte{0xDB, 0xDB, 'c'}
	}
	if !bytes.Equal(b, want) {
		t.Errorf("got %q, want %q", b, want)
	}
}
