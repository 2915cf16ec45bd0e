package redis

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A command of the lean way looks like any other one, and can be used like it.
func TestLeanCommands(t *testing.T) {
	c := openCanned(t, len("*2\r\n$3\r\nget\r\n$1\r\nk\r\n"), "$1\r\n7\r\n")
	long := strings.Repeat("x", 300)
	want := func(cmd Cmder, shown string, args ...any) {
		t.Helper()
		for range 2 { // looking at it does not change it
			if cmd.Name() != args[0] || cmd.FullName() != args[0] || !slices.Equal(cmd.Args(), args) || cmd.String() != shown {
				t.Errorf("got %s %q, %s, want %q, %s", cmd.Name(), cmd.Args(), cmd, args, shown)
			}
		}
	}
	get := c.Get(bg, "k")
	want(get, "get k: 7", "get", "k")
	if err := c.Process(bg, get); err != nil || get.Val() != "7" {
		t.Errorf("sent again: got %q, %v", get.Val(), err)
	}
	want(get, "get k: 7", "get", "k")
	if e := c.Close(); e != nil {
		t.Fatal(e)
	}
	for _, cmd := range []Cmder{c.Get(bg, long), c.Incr(bg, "n"), c.Decr(bg, "n"), c.Set(bg, long, 1.5, 0)} {
		if !errors.Is(cmd.Err(), ErrClosed) {
			t.Errorf("%s: got %v, want %v", cmd.Name(), cmd.Err(), ErrClosed)
		}
	}
	if args := c.Set(bg, long, 1.5, KeepTTL).Args(); !slices.Equal(args, []any{"set", long, "1.5", "keepttl"}) {
		t.Errorf("got %q", args)
	}
	if cmd := c.Set(bg, "k", struct{}{}, 0); cmd.Err() == nil || errors.Is(cmd.Err(), ErrClosed) {
		t.Errorf("a value that can't be encoded: got %v", cmd.Err())
	}
}
