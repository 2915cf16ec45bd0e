package redis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/baton-go/redis/internal/lane"
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

// TestLeanCommandsMeetTheUnexpected: whatever is not the usual reply takes the way of
// other commands from there on.
func TestLeanCommandsMeetTheUnexpected(t *testing.T) {
	srv := miniredis.RunT(t)
	c := NewClient(&Options{Addr: srv.Addr()})
	defer c.Close()
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	buf := []byte("kept ")
	for range 2 { // with a context that can be cancelled, too
		if err := c.Get(ctx, "none").Err(); err != Nil { //nolint:errorlint // it is Nil itself, as programs compare
			t.Errorf("GET of nothing: %v, want Nil", err)
		}
		if got, err := c.GetBytes(ctx, buf, "none"); err != Nil || string(got) != "kept " { //nolint:errorlint // as above
			t.Errorf("GetBytes of nothing: %q, %v", got, err)
		}
		srv.Lpush("list", "x")
		for name, err := range map[string]error{
			"get": c.Get(ctx, "list").Err(), "incr": c.Incr(ctx, "list").Err(), "decr": c.Decr(ctx, "list").Err(),
		} {
			if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
				t.Errorf("%s of a list: %v", name, err)
			}
		}
		srv.Set("text", "abc")
		if cmd := c.Incr(ctx, "text"); cmd.Err() == nil || cmd.Val() != 0 || cmd.String() == "" {
			t.Errorf("INCR of a text: %v", cmd)
		}
		ctx = bg
	}

	srv.SetError("LOADING Redis is loading the dataset in memory")
	time.AfterFunc(30*time.Millisecond, func() { srv.SetError("") })
	if err := c.Set(bg, "k", "v", 0).Err(); err != nil {
		t.Errorf("SET while the server loads: %v", err)
	}
	if got, err := c.Get(bg, "k").Result(); got != "v" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := c.GetBytes(bg, buf, "k"); string(got) != "kept v" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestLeanCommandsLearnWhatIsLarge: a key whose value was large is asked for over the
// link for large ones, and others still go the lean way.
func TestLeanCommandsLearnWhatIsLarge(t *testing.T) {
	for _, size := range []int{lane.Large, 20 * lane.Large} {
		srv := miniredis.RunT(t)
		c := NewClient(&Options{Addr: srv.Addr()})
		defer c.Close()
		value := strings.Repeat("x", size)
		srv.Set("a", value)
		srv.Set("b", value)
		srv.Set("small", "s")
		for range 3 {
			if got, err := c.Get(bg, "a").Result(); got != value || err != nil {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			if got, err := c.GetBytes(bg, nil, "b"); string(got) != value || err != nil {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			if got, err := c.Get(bg, "small").Result(); got != "s" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
		l := c.ep.Lane()
		for key, want := range map[string]bool{"a": true, "b": true, "small": false, strings.Repeat("k", 600): false} {
			if got := l.IsLarge(leanHeads[leanGet], key); got != want {
				t.Errorf("%.10s: large: %v, want %v", key, got, want)
			}
		}
		if n := srv.CurrentConnectionCount(); n != 2 {
			t.Errorf("%d connections, want 2: for small and for large ones", n)
		}
	}
}
