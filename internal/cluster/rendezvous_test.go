package cluster

import (
	"fmt"
	"testing"
)

// Values of the reference implementation, with seed 0.
func TestXXH64(t *testing.T) {
	for s, want := range map[string]uint64{
		"": 0xEF46DB3751D8E999, "a": 0xD24EC4F1A98C6E5B, "abc": 0x44BC2CF5AD770999,
		"Nobody inspects the spammish repetition": 0xFBCEA83C8A378BF1,
	} {
		if got := XXH64(s); got != want {
			t.Errorf("%q: %#x, want %#x", s, got, want)
		}
	}
}

// TestRendezvousMovesOnlyWhatItMust: where a shard leaves, the keys of all others stay.
func TestRendezvousMovesOnlyWhatItMust(t *testing.T) {
	all, fewer := NewRendezvous([]string{"a", "b", "c", "d"}), NewRendezvous([]string{"a", "b", "d"})
	count := map[string]int{}
	for i := range 10_000 {
		key := fmt.Sprintf("key:%d", i)
		before, after := all.Get(key), fewer.Get(key)
		count[before]++
		if before != "c" && after != before {
			t.Fatalf("%s was at %s and is at %s", key, before, after)
		}
	}
	for name, n := range count {
		if n < 2200 || n > 2800 {
			t.Errorf("%s has %d of 10,000 keys, want about 2,500", name, n)
		}
	}
	if got := NewRendezvous(nil).Get("k"); got != "" {
		t.Errorf("without shards: %q", got)
	}
}
