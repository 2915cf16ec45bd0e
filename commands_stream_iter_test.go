package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestStreamMessages(t *testing.T) {
	onServers(t, func(t *testing.T, c *Client) {
		for i := range 25 {
			if err := c.XAdd(bg, &XAddArgs{Stream: "s", ID: fmt.Sprintf("%d-0", i+1), Values: []any{"n", i}}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		for _, page := range []int64{0, 1, 5, 24, 25, 26} {
			var got []string
			for m, err := range StreamMessages(bg, c, "s", "2", "(25-0", page) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, m.Values["n"].(string))
			}
			if len(got) != 23 || got[0] != "1" || got[22] != "23" || !slices.IsSortedFunc(got, byNumber) {
				t.Errorf("pages of %d: got %q", page, got)
			}
		}
		for m := range StreamMessages(bg, c, "s", "-", "+", 2) {
			if m.ID == "3-0" {
				break
			}
		}
		if err := c.Set(bg, "k", 1, 0).Err(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range StreamMessages(bg, c, "k", "-", "+", 0) {
			if n++; err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
				t.Errorf("got %v, want WRONGTYPE", err)
			}
		}
		if n != 1 {
			t.Errorf("%d errors, want 1", n)
		}
	})
}

// beforeRead does something before it reads.
type beforeRead struct {
	*Client
	then func()
}

func (b *beforeRead) XRead(ctx context.Context, a *XReadArgs) *XStreamSliceCmd {
	b.then()
	return b.Client.XRead(ctx, a)
}

func byNumber(a, b string) int { return len(a)*100 + strings.Compare(a, b) - len(b)*100 }

func TestFollowStreams(t *testing.T) {
	onServers(t, func(t *testing.T, c *Client) {
		add := func(stream string, n int) {
			if err := c.XAdd(bg, &XAddArgs{Stream: stream, Values: []any{"n", n}}).Err(); err != nil {
				t.Error(err)
			}
		}
		for i := range 10 {
			add("a", i)
			add("b", i)
		}
		counts := map[string]int{}
		args := &XReadArgs{Streams: []string{"a", "b", "0", "0"}, Count: 3, Block: -1}
		for m, err := range FollowStreams(bg, c, args) { // to the end
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprint(counts[m.Stream]); m.Values["n"] != want {
				t.Errorf("stream %s gave %v, want %s", m.Stream, m.Values["n"], want)
			}
			counts[m.Stream]++
		}
		if counts["a"] != 10 || counts["b"] != 10 || args.Streams[2] != "0" || args.ID != "" {
			t.Errorf("got %v messages, and the arguments are %v now", counts, args)
		}

		// From $ on: what comes between two reads is not missed. Each message makes the
		// next, before the loop reads on.
		next := 0
		first := &beforeRead{Client: c, then: sync.OnceFunc(func() { add("a", 100) })}
		for m, err := range FollowStreams(bg, first, &XReadArgs{Streams: []string{"a", "none", "b"}, ID: "$", Block: time.Minute, Count: 1}) {
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprint(100 + next); m.Values["n"] != want {
				t.Errorf("got %v, want %s", m.Values["n"], want)
			}
			if next++; next == 10 {
				break
			}
			add([]string{"a", "b", "none"}[next%3], 100+next)
		}

		ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
		defer cancel()
		n := 0
		for _, err := range FollowStreams(ctx, c, &XReadArgs{Streams: []string{"a"}, ID: "$", Block: 0}) {
			if n++; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the end of the context", err)
			}
		}
		if n != 1 {
			t.Errorf("%d turns of the loop, want 1, the error", n)
		}
	})
}
