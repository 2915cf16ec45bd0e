package redis

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestReusableCmdOnServers sends different commands from one object, alone and in a
// pipeline, so that anything left of the last one would be seen.
func TestReusableCmdOnServers(t *testing.T) {
	onServers(t, func(t *testing.T, c *Client) {
		var cmd ReusableCmd
		send := func(cmd *ReusableCmd) *ReusableCmd {
			if err := c.Process(bg, cmd); err != nil && !errors.Is(err, Nil) {
				t.Errorf("%v: %v", cmd, err)
			}
			return cmd
		}
		if got, err := send(cmd.Begin("set").Str("k").Bytes([]byte("12"))).Text(); string(got) != "OK" || err != nil {
			t.Errorf("SET gave %q, %v", got, err)
		}
		if got, err := send(cmd.Begin("incrby").Str("k").Int(-5)).Int64(); got != 7 || err != nil {
			t.Errorf("INCRBY gave %v, %v", got, err)
		}
		if got, err := send(cmd.Begin("incrbyfloat").Str("k").Float(0.25)).Float64(); got != 7.25 || err != nil {
			t.Errorf("INCRBYFLOAT gave %v, %v", got, err)
		}
		if _, err := send(cmd.Begin("get").Str("none")).Text(); !errors.Is(err, Nil) {
			t.Errorf("GET of nothing gave %v, want Nil", err)
		}
		send(cmd.Begin("hset").Str("h").Str("f").Str("v").Str("g").Str(strings.Repeat("w", 100)))
		for range 2 { // the same once more
			var got []string
			for b, err := range send(cmd.Begin("hmget").Str("h").Str("f").Str("none").Str("g")).All() {
				if err != nil {
					t.Error(err)
				}
				got = append(got, string(b))
			}
			if want := []string{"v", "", strings.Repeat("w", 100)}; !slices.Equal(got, want) {
				t.Errorf("HMGET gave %q, want %q", got, want)
			}
		}
		if err := c.Process(bg, cmd.Begin("lpush").Str("h").Str("x")); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("LPUSH on a hash gave %v", err)
		}
		kept := cmd.Clone().(*ReusableCmd)
		n := 0
		for b, err := range send(cmd.Begin("hgetall").Str("h")).All() {
			n += len(b)
			if err != nil {
				t.Error(err)
			}
		}
		if n != 1+1+1+100 {
			t.Errorf("HGETALL gave %d bytes", n)
		}
		if kept.Name() != "lpush" || kept.Err() == nil {
			t.Errorf("the copy has become %v", kept)
		}

		var cmds [3]ReusableCmd
		for range 2 {
			p := c.Pipeline()
			for i := range cmds {
				_ = p.Process(bg, cmds[i].Begin("incr").Str("n"))
			}
			if _, err := p.Exec(bg); err != nil {
				t.Error(err)
			}
		}
		for i := range cmds {
			if got, err := cmds[i].Int64(); got != int64(4+i) || err != nil {
				t.Errorf("command %d of the second pipeline gave %v, %v", i, got, err)
			}
		}
	})
}

// TestReusableCmdTakesAnyReply feeds every kind of reply, well formed and not.
func TestReusableCmdTakesAnyReply(t *testing.T) {
	all := func(c *ReusableCmd) (got []string, err error) {
		for b, e := range c.All() {
			if e != nil {
				return got, e
			}
			if b == nil {
				got = append(got, "(nil)")
				continue
			}
			got = append(got, string(b))
		}
		return got, nil
	}
	for _, tc := range []struct {
		frame string
		text  string // "": an error
		num   int64  // -1: an error
		list  []string
		err   string // of the command
	}{
		{frame: "$3\r\n123\r\n", text: "123", num: 123},
		{frame: "+OK\r\n", text: "OK", num: -1},
		{frame: ":5\r\n", text: "5", num: 5},
		{frame: "*3\r\n$1\r\na\r\n$-1\r\n:2\r\n", num: -1, list: []string{"a", "(nil)", "2"}},
		{frame: "%1\r\n+a\r\n+b\r\n", num: -1, list: []string{"a", "b"}},
		{frame: "~1\r\n+a\r\n", num: -1, list: []string{"a"}},
		{frame: "*2\r\n+a\r\n*1\r\n+b\r\n", num: -1, list: []string{"a"}}, // and then an error
		{frame: "_\r\n", num: -1, err: "nil"},
		{frame: "*-1\r\n", num: -1, err: "nil"},
		{frame: "-WRONG x\r\n", num: -1, err: "WRONG x"},
		{frame: "!5\r\nERR x\r\n", num: -1, err: "ERR x"},
	} {
		var c ReusableCmd
		feed(c.Begin("x"), tc.frame)
		if got := c.Err(); (got == nil) != (tc.err == "") || got != nil && !strings.Contains(got.Error(), tc.err) {
			t.Errorf("%q: error %v, want %q", tc.frame, got, tc.err)
		}
		if got, err := c.Text(); string(got) != tc.text || (err == nil) != (tc.text != "") {
			t.Errorf("%q: Text gave %q, %v", tc.frame, got, err)
		}
		if got, err := c.Int64(); (err != nil) != (tc.num < 0) || err == nil && got != tc.num {
			t.Errorf("%q: Int64 gave %v, %v", tc.frame, got, err)
		}
		got, err := all(&c)
		if !slices.Equal(got, tc.list) || err == nil && tc.list == nil {
			t.Errorf("%q: All gave %q, %v", tc.frame, got, err)
		}
		if string(c.Raw()) != tc.frame {
			t.Errorf("%q: Raw gave %q", tc.frame, c.Raw())
		}
	}
}

func TestReusableCmdWithoutBegin(t *testing.T) {
	var cmd ReusableCmd
	c := NewClient(&Options{Addr: "127.0.0.1:1"})
	defer c.Close()
	if err := c.Process(bg, &cmd); err == nil || !strings.Contains(err.Error(), "needs at least its name") {
		t.Errorf("got %v", err)
	}
	if err := c.Process(bg, cmd.Begin("multi")); err == nil || DeliveryOf(err) != NotSent {
		t.Errorf("MULTI outside of a session: %v", err)
	}
}

// TestReusableCmdsOfMany is many goroutines with a command each, for the race detector.
func TestReusableCmdsOfMany(t *testing.T) {
	onServers(t, func(t *testing.T, c *Client) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				var cmd ReusableCmd
				for range 200 {
					if err := c.Process(bg, cmd.Begin("incr").Str("n")); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if got, err := c.Get(bg, "n").Int(); got != 1600 || err != nil {
			t.Errorf("counted %v, %v", got, err)
		}
	})
}
