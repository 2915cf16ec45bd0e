package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// pages answers scans: the cursor is the number of the page.
func pages(sent *[]string, page ...string) cmdable {
	return func(_ context.Context, cmd Cmder) error {
		*sent = append(*sent, fmt.Sprint(cmd.Args()))
		at := 1
		if cmd.Name() != "scan" {
			at = 2
		}
		cursor, _ := cmd.base().argAt(at)
		var i int
		_, _ = fmt.Sscan(string(cursor), &i)
		feed(cmd, page[i])
		return cmd.Err()
	}
}

var threePages = []string{
	"*2\r\n$1\r\n1\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n",
	"*2\r\n$1\r\n2\r\n*0\r\n", // empty pages are not the end
	"*2\r\n$1\r\n0\r\n*1\r\n$1\r\nc\r\n",
}

func TestIteratorGoesOverAllPages(t *testing.T) {
	for _, tc := range []struct {
		name string
		scan func(c cmdable) *ScanCmd
		last string
	}{
		{"SCAN", func(c cmdable) *ScanCmd { return c.ScanType(bg, 0, "m*", 5, "hash") }, "[scan 2 match m* count 5 type hash]"},
		{"HSCAN", func(c cmdable) *ScanCmd { return c.HScan(bg, "k", 0, "", 0) }, "[hscan k 2]"},
		{"SSCAN", func(c cmdable) *ScanCmd { return c.SScan(bg, "k", 0, "m", 0) }, "[sscan k 2 match m]"},
		{"ZSCAN", func(c cmdable) *ScanCmd { return c.ZScan(bg, "k", 0, "", 3) }, "[zscan k 2 count 3]"},
		{"by hand", func(c cmdable) *ScanCmd {
			cmd := NewScanCmd(bg, c, "scan", 0)
			_ = c(bg, cmd)
			return cmd
		}, "[scan 2]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var sent, got []string
			it := tc.scan(pages(&sent, threePages...)).Iterator()
			for it.Next(bg) {
				got = append(got, it.Val())
			}
			if err := it.Err(); err != nil || !slices.Equal(got, []string{"a", "b", "c"}) {
				t.Errorf("got %q, %v", got, err)
			}
			if len(sent) != 3 || sent[2] != tc.last {
				t.Errorf("sent %q, want the last to be %q", sent, tc.last)
			}
			if it.Next(bg) {
				t.Errorf("there is a value behind the end: %q", it.Val())
			}

			sent, got = nil, nil
			for key, err := range tc.scan(pages(&sent, threePages...)).Iterator().All(bg) {
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, key); key == "b" {
					break
				}
			}
			if !slices.Equal(got, []string{"a", "b"}) || len(sent) != 1 {
				t.Errorf("got %q by %q, want a and b by one command", got, sent)
			}
		})
	}
}

func TestIteratorStopsAtErrors(t *testing.T) {
	var sent []string
	c := pages(&sent, threePages[0], "-ERR broken\r\n")
	it := c.Scan(bg, 0, "", 0).Iterator()
	n := 0
	for it.Next(bg) {
		n++
	}
	if n != 2 || !HasErrorPrefix(it.Err(), "ERR broken") {
		t.Errorf("got %d values, %v", n, it.Err())
	}
	var last error
	for _, err := range c.Scan(bg, 0, "", 0).Iterator().All(bg) {
		last = err
	}
	if !HasErrorPrefix(last, "ERR broken") {
		t.Errorf("got %v", last)
	}
	if it := NewScanCmdResult([]string{"a"}, 5, nil).Iterator(); !it.Next(bg) || it.Next(bg) {
		t.Error("a command that nobody sends must end with its page")
	}
	if err := NewScanCmdResult(nil, 0, ErrClosed).Iterator().Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestIteratorGoesOverPairs(t *testing.T) {
	var sent []string
	two := pages(&sent,
		"*2\r\n$1\r\n1\r\n*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n",
		"*2\r\n$1\r\n0\r\n*2\r\n$1\r\nc\r\n$1\r\n3\r\n")
	var got []string
	it := two.HScan(bg, "k", 0, "", 0).Iterator()
	for k, v := range it.Pairs(bg) {
		got = append(got, k+"="+v)
	}
	if want := []string{"a=1", "b=2", "c=3"}; !slices.Equal(got, want) || it.Err() != nil {
		t.Errorf("got %q, %v, want %q", got, it.Err(), want)
	}
	odd := pages(&sent, "*2\r\n$1\r\n0\r\n*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n")
	n := 0
	for range odd.ZScan(bg, "k", 0, "", 0).Iterator().Pairs(bg) {
		n++
	}
	if n != 1 {
		t.Errorf("%d pairs of three values, want 1", n)
	}
	it = NewScanCmdResult(nil, 0, ErrClosed).Iterator()
	for range it.Pairs(bg) {
		t.Error("a pair in spite of an error")
	}
	if !errors.Is(it.Err(), ErrClosed) {
		t.Errorf("the error is %v", it.Err())
	}
}
