package redis

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/resp"
)

// repliesOf makes parts that were answered.
func repliesOf(frames ...string) (parts []*fanPart) {
	for _, f := range frames {
		parts = append(parts, &fanPart{cmd: rawCmd{frame: []byte(f)}})
	}
	return parts
}

func TestRepliesAreMerged(t *testing.T) {
	placed := repliesOf("*2\r\n$1\r\na\r\n_\r\n", "*1\r\n*1\r\n:5\r\n", "*1\r\n$-1\r\n")
	placed[0].places, placed[1].places, placed[2].places = []int{1, 3}, []int{2}, []int{0}
	for _, tt := range []struct {
		kind  mergeKind
		parts []*fanPart
		want  string // "": an error
	}{
		{mergeNone, repliesOf("+OK\r\n"), "+OK\r\n"},
		{mergeAll, repliesOf("+OK\r\n", "+OK\r\n"), "+OK\r\n"},
		{mergeOne, repliesOf("+OK\r\n"), "+OK\r\n"},
		{mergeSum, repliesOf(":1\r\n", ":2\r\n", ":-7\r\n"), ":-4\r\n"},
		{mergeSum, repliesOf("*2\r\n:1\r\n:2\r\n", "*2\r\n:3\r\n:4\r\n"), "*2\r\n:4\r\n:6\r\n"},
		{mergeSum, repliesOf("*2\r\n:1\r\n:2\r\n", "*1\r\n:3\r\n"), ""},
		{mergeSum, repliesOf("*1\r\n:1\r\n", ":1\r\n"), ""},
		{mergeSum, repliesOf(":1\r\n", "+OK\r\n"), ""},
		{mergeSum, repliesOf(":1\r\n", "_\r\n"), ""},
		{mergeMin, repliesOf(":3\r\n", ":2\r\n", ":9\r\n"), ":2\r\n"},
		{mergeMin, repliesOf("*2\r\n:1\r\n:2\r\n", "*2\r\n:0\r\n:4\r\n"), "*2\r\n:0\r\n:2\r\n"},
		{mergeAnd, repliesOf("*3\r\n:1\r\n:1\r\n:0\r\n", "*3\r\n:1\r\n:0\r\n:0\r\n"), "*3\r\n:1\r\n:0\r\n:0\r\n"},
		{mergeAnd, repliesOf("*1\r\n#t\r\n", "*1\r\n#t\r\n"), "*1\r\n:1\r\n"},
		{mergeConcat, repliesOf("*1\r\n$1\r\na\r\n", "*0\r\n", "*2\r\n:1\r\n*1\r\n_\r\n"), "*3\r\n$1\r\na\r\n:1\r\n*1\r\n_\r\n"},
		{mergeConcat, repliesOf("*0\r\n", "*0\r\n"), "*0\r\n"},
		{mergeConcat, repliesOf("%1\r\n+a\r\n:1\r\n", "~1\r\n+b\r\n"), "*3\r\n+a\r\n:1\r\n+b\r\n"},
		{mergeConcat, repliesOf("*0\r\n", ":0\r\n"), ""},
		{mergeInOrder, placed, "*4\r\n$-1\r\n$1\r\na\r\n*1\r\n:5\r\n_\r\n"},
		{mergeInOrder, repliesOf("*1\r\n:1\r\n"), ""},
		{mergeNotNil, repliesOf("_\r\n", "$1\r\na\r\n", "$-1\r\n"), "$1\r\na\r\n"},
		{mergeNotNil, repliesOf("_\r\n", "_\r\n"), "_\r\n"},
		{mergeNotNil + 1, repliesOf("_\r\n"), ""},
	} {
		var frames []string
		for _, p := range tt.parts {
			frames = append(frames, string(p.cmd.frame))
		}
		got, err := merged(tt.kind, tt.parts)
		if string(got) != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s of %q: got %q, %v, want %q", tt.kind, frames, got, err, tt.want)
		}
	}
}

// The parts of a split command have all its arguments, each key's at its slot, and merging
// their replies gives those of the keys in their order.
func TestSplitAndMergeKeepTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b c {a}1 {a}2 {b}1 d e f a b")), 1, 20).Draw(t, "keys")
		var get, set baseCmd
		get.begin("mget")
		set.begin("mset")
		wanted := resp.AppendArrayLen(nil, len(keys))
		for i, key := range keys {
			get.str(key)
			set.str(key)
			set.int(int64(i))
			wanted = resp.AppendBulk(wanted, fmt.Sprint(key, "=", i))
		}
		parts, err := get.split()
		if err != nil {
			t.Fatal(err)
		}
		setParts, err := set.split()
		if err != nil || len(setParts) != len(parts) {
			t.Fatalf("%d parts of MSET, %d of MGET, %v", len(setParts), len(parts), err)
		}
		slots := map[int]bool{}
		for i, p := range parts {
			if slots[p.slot] {
				t.Fatalf("two parts for slot %d", p.slot)
			}
			slots[p.slot] = true
			wantGet, wantSet := []any{"mget"}, []any{"mset"}
			frame := resp.AppendArrayLen(nil, len(p.places))
			for _, place := range p.places {
				if slot := int(cluster.SlotString(keys[place])); slot != p.slot {
					t.Fatalf("%s has slot %d, not %d", keys[place], slot, p.slot)
				}
				wantGet = append(wantGet, keys[place])
				wantSet = append(wantSet, keys[place], fmt.Sprint(place))
				frame = resp.AppendBulk(frame, fmt.Sprint(keys[place], "=", place))
			}
			if diff := cmp.Diff(wantGet, p.cmd.Args()); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(wantSet, setParts[i].cmd.Args()); diff != "" {
				t.Fatal(diff)
			}
			p.cmd.frame = frame
		}
		if got, err := merged(mergeInOrder, parts); err != nil || !bytes.Equal(got, wanted) {
			t.Fatalf("got %q, %v, want %q", got, err, wanted)
		}
	})
}

// Whatever servers answer, the merged reply is one whole frame.
func FuzzMergedReplies(f *testing.F) {
	for _, seed := range []string{
		":1\r\n:2\r\n", "*1\r\n:1\r\n*1\r\n:0\r\n", "*2\r\n$1\r\na\r\n_\r\n*0\r\n", "%1\r\n+a\r\n:1\r\n*1\r\n+b\r\n", "_\r\n$-1\r\n+OK\r\n",
		"*1\r\n|1\r\n+a\r\n+b\r\n:1\r\n*1\r\n-ERR no\r\n",
	} {
		for kind := range len(mergeNames) {
			f.Add(uint8(kind), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, replies []byte) {
		var parts []*fanPart
		var scan resp.Scanner
		for place, rest := 0, replies; len(rest) > 0; {
			n, err := scan.Next(rest)
			if n == 0 || err != nil {
				break
			}
			p := &fanPart{}
			r := resp.NewReader(rest[:n])
			if p.cmd.readReply(&r) == nil {
				r = resp.NewReader(p.cmd.frame)
				for n, _ := r.ArrayLen(); n > 0; n-- {
					p.places = append(p.places, place)
					place++
				}
				parts = append(parts, p)
			}
			rest = rest[n:]
		}
		if len(parts) == 0 {
			return
		}
		frame, err := merged(mergeKind(kind), parts)
		if err != nil {
			return
		}
		scan.Reset()
		if n, err := scan.Next(frame); n != len(frame) || err != nil {
			t.Errorf("%s: %q is no frame: %d of %d bytes, %v", mergeKind(kind), frame, n, len(frame), err)
		}
	})
}
