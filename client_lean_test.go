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

// TestLeanSet: a text goes out as it is, and the command still knows it, and leaves it alone.
func TestLeanSet(t *testing.T) {
	srv := miniredis.RunT(t)
	c := NewClient(&Options{Addr: srv.Addr()})
	defer c.Close()
	whole := strings.Repeat("abc\r\n$1\r\n", 2*lane.Large/10)
	for _, size := range []int{0, 1, 9, 10, 300, lane.Large - 1, lane.Large, len(whole)} {
		value := whole[:size]
		for range 2 {
			cmd := c.Set(bg, "k", value, 0)
			if err := cmd.Err(); err != nil || cmd.Val() != "OK" {
				t.Fatalf("%d bytes: got %q, %v", size, cmd.Val(), err)
			}
			if got, err := srv.Get("k"); got != value || err != nil {
				t.Fatalf("%d bytes: the server has %.20q, %v", size, got, err)
			}
			if want := []any{"set", "k", value}; !slices.Equal(cmd.Args(), want) || cmd.String() != "set k "+value+": OK" {
				t.Errorf("%d bytes: got %.60q, want %.60q", size, cmd.Args(), want)
			}
			srv.Del("k")
			if err := c.Process(bg, cmd); err != nil || cmd.Val() != "OK" {
				t.Errorf("%d bytes, sent again: got %q, %v", size, cmd.Val(), err)
			}
			if got, err := srv.Get("k"); got != value || err != nil {
				t.Errorf("%d bytes, sent again: the server has %.20q, %v", size, got, err)
			}
		}
		if err := c.SetBytes(bg, "b", []byte(value), 0); err != nil {
			t.Errorf("%d bytes: SetBytes: %v", size, err)
		}
		if got, err := srv.Get("b"); got != value || err != nil {
			t.Errorf("%d bytes: SetBytes: the server has %.20q, %v", size, got, err)
		}
	}
	if want := strings.Repeat("abc\r\n$1\r\n", 2*lane.Large/10); whole != want {
		t.Error("the value has changed")
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
	if cmd := c.Set(bg, "k", "v", 0); cmd.Err() != nil || cmd.String() != "set k v: OK" {
		t.Errorf("SET while the server loads: %v", cmd)
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
