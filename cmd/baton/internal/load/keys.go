package load

import (
	"math/rand/v2"
	"strconv"

	"github.com/baton-go/redis/internal/cluster"
)

// A layout is how many keys of each kind a load has, and where they are.
type layout struct {
	slots   int // of the cluster; 0 where there is none
	shared  int // counters that everybody increments
	pairs   int // of counters that MULTI/EXEC units increment
	watched int
}

// keysPerWorker is how many keys of its own a worker has at least.
const keysPerWorker = 3

// regions is in how many parts of the slots the keys are that there are few of, one
// after the other. A cluster has that many shards to begin with, or about so.
const regions = 3

func newLayout(isCluster bool) layout {
	if isCluster {
		return layout{slots: cluster.Slots, shared: 256, pairs: 32, watched: regions}
	}
	return layout{shared: 8, pairs: 2, watched: 2}
}

// place gives prefix with an ending that puts it in the nth part of the slots, of so
// many. Without a cluster it is prefix alone.
func (l layout) place(prefix string, nth, of int) string {
	if l.slots == 0 {
		return prefix
	}
	first, end := l.slots*nth/of, l.slots*(nth+1)/of
	name := []byte(prefix + ":")
	for i := int64(0); ; i++ {
		try := strconv.AppendInt(name, i, 36)
		if s := int(cluster.Slot(try)); s >= first && s < end {
			return string(try)
		}
	}
}

// cover gives names that begin with prefix: for each slot one, and at least as many as
// wanted, in random order. Without a cluster they are just as many.
func (l layout) cover(prefix string, wanted int, rng *rand.Rand) []string {
	taken := make([]bool, l.slots)
	var names []string
	missing := l.slots
	for i := int64(0); missing > 0 || len(names) < wanted; i++ {
		name := strconv.AppendInt([]byte(prefix), i, 36)
		switch {
		case missing == 0:
			names = append(names, string(name))
		case !taken[cluster.Slot(name)]:
			taken[cluster.Slot(name)] = true
			missing--
			names = append(names, string(name))
		}
	}
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}
