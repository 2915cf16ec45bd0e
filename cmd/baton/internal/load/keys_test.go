package load

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/internal/cluster"
)

// kept is a backend that is a map.
type kept map[string]string

func (k kept) Do(args ...string) (any, error) {
	switch args[0] {
	case "SET":
		k[args[1]] = args[2]
		return "OK", nil
	case "GET":
		if v, ok := k[args[1]]; ok {
			return v, nil
		}
	}
	return nil, nil
}

// prepared is a load that has not begun.
func prepared(t *testing.T, isCluster bool) (*Load, kept) {
	t.Helper()
	b := kept{}
	l, err := New(Config{
		Backend: b, Cluster: isCluster, Workers: 64, Seed: 1, Run: "r", Clock: NewClock(), Slots: NewSlots(time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, b
}

func TestKeysCoverAllSlotsOfACluster(t *testing.T) {
	l, _ := prepared(t, true)
	slots, keys := map[uint16]bool{}, map[string]bool{}
	for _, w := range l.workers {
		for _, k := range w.keys {
			slots[cluster.SlotString(k.key)] = true
			if keys[k.key] {
				t.Errorf("two workers have %s", k.key)
			}
			keys[k.key] = true
		}
	}
	if len(slots) != cluster.Slots {
		t.Errorf("%d of %d slots have a key", len(slots), cluster.Slots)
	}
	third := func(key string) int { return int(cluster.SlotString(key)) * 3 / cluster.Slots }
	var lists, channels, watched, counters [3]int
	for _, ls := range l.lists {
		lists[third(ls.key)]++
	}
	for _, ch := range l.channels {
		channels[third(ch.name)]++
	}
	for _, w := range l.watched {
		watched[third(w.key)]++
	}
	for _, c := range l.counters {
		counters[third(c.key)]++
	}
	for i := range 3 {
		if lists[i] == 0 || channels[i] == 0 || watched[i] == 0 || counters[i] < 80 {
			t.Errorf("third %d of the slots: lists %v, channels %v, watched %v, counters %v", i, lists, channels, watched, counters)
		}
	}
	if l.channels[0].kind != sharded {
		t.Error("there is no shard channel")
	}
}

// What is sent as one unit has keys of one slot.
func TestUnitsHaveOneSlot(t *testing.T) {
	l, _ := prepared(t, true)
	for pair := range l.layout.pairs {
		left := l.counters[l.layout.shared+2*pair]
		slot := cluster.SlotString(left.key)
		if right := l.counters[left.twin]; cluster.SlotString(right.key) != slot || right.key == left.key {
			t.Errorf("pair %d: %s and %s", pair, left.key, right.key)
		}
		for _, w := range l.workers {
			if w.owns == ownsTagged && cluster.SlotString(w.keys[pair].key) != slot {
				t.Errorf("pair %d: %s and %s", pair, left.key, w.keys[pair].key)
			}
		}
	}
}

func TestAServerHasFewKeys(t *testing.T) {
	l, b := prepared(t, false)
	keys := 0
	for _, w := range l.workers {
		keys += len(w.keys)
	}
	if keys > 64*keysPerWorker || len(b) > 64 {
		t.Errorf("%d keys and %d counters", keys, len(b))
	}
	for key := range b {
		if !strings.HasPrefix(key, keyPrefix+"r:") {
			t.Errorf("%q is no key of the run", key)
		}
	}
	if got := l.layout.cover("k", 5, rand.New(rand.NewPCG(1, 1))); len(got) != 5 {
		t.Errorf("cover gives %q", got)
	}
}

// What is in the servers at the end is compared with what was acknowledged.
func TestLostValuesAreFound(t *testing.T) {
	for _, tt := range []struct {
		name        string
		acked, sent int64
		there       int64 // serial number in the server; 0: none
		lost        int64
	}{
		{"acknowledged", 3, 3, 3, 0},
		{"later", 3, 4, 4, 0},
		{"older", 3, 3, 2, 1},
		{"gone", 3, 3, 0, 1},
		{"never sent", 3, 3, 4, 1},
		{"never acknowledged", 0, 1, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, b := prepared(t, true)
			k := &l.workers[len(l.workers)-1].keys
			for _, w := range l.workers {
				if w.owns == ownsAny {
					k = &w.keys
				}
			}
			key := &(*k)[0]
			key.sent = tt.there - 1
			if value := key.next(); tt.there > 0 {
				b[key.key] = value
			}
			key.acked, key.sent = tt.acked, tt.sent
			var r account.Result
			if err := l.settleValues(&r); err != nil {
				t.Fatal(err)
			}
			if want := (account.Values{Keys: 1, Lost: tt.lost}); r.Values != want {
				t.Errorf("%+v, want %+v", r.Values, want)
			}
		})
	}
}
