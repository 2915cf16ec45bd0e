package maintsim

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// A slotTable is who has which slot, and what becomes of the nodes. Of an embedded
// cluster it decides; of a real one it is what the simulator knows.
//
// Its lock is taken alone, or with a slotMigration's behind it.
type slotTable struct {
	addrs []string // announced, by node; immutable
	ids   []string // by node; set before anybody is served

	mu      sync.RWMutex
	owner   [slotCount]int16 // shard; -1: nobody
	moving  map[int]*slotMigration
	shards  []shardState
	alive   []bool // by node
	epoch   int64
	changed chan struct{} // closed at the next change
}

// A shardState is what a shard is at present.
type shardState struct {
	nodes   []int
	primary int
	member  bool
	failed  bool // its primary is gone and nobody takes over
}

// A slotMigration is a slot on its way, key by key, between two shards.
type slotMigration struct {
	from, to int

	mu    sync.Mutex
	moved map[string]struct{} // keys that are at the target, or were asked for there
}

func newSlotTable(cfg ClusterConfig, addrs []string) *slotTable {
	t := &slotTable{
		addrs:   addrs,
		moving:  make(map[int]*slotMigration),
		shards:  make([]shardState, cfg.Shards+cfg.Spares),
		epoch:   int64(cfg.nodes()),
		changed: make(chan struct{}),
	}
	for node := range cfg.nodes() {
		sh := &t.shards[cfg.shardOf(node)]
		sh.nodes = append(sh.nodes, node)
		t.ids = append(t.ids, fmt.Sprintf("%08x%032x", 0xba70+node, node+1))
		t.alive = append(t.alive, true)
	}
	for s := range t.shards {
		t.shards[s].primary, t.shards[s].member = s, s < cfg.Shards
	}
	for s := range cfg.Shards {
		for slot := slotCount * s / cfg.Shards; slot < slotCount*(s+1)/cfg.Shards; slot++ {
			t.owner[slot] = int16(s)
		}
	}
	return t
}

// update changes the table and wakes who waits for that.
func (t *slotTable) update(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	t.epoch++
	close(t.changed)
	t.changed = make(chan struct{})
}

// shardOfLocked is the shard of a node.
func (t *slotTable) shardOfLocked(node int) int {
	return slices.IndexFunc(t.shards, func(s shardState) bool { return slices.Contains(s.nodes, node) })
}

// slotsOf are the slots of a shard.
func (t *slotTable) slotsOf(shard int) []int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.slotsOfLocked(shard)
}

func (t *slotTable) slotsOfLocked(shard int) []int {
	var slots []int
	for slot, owner := range t.owner {
		if int(owner) == shard {
			slots = append(slots, slot)
		}
	}
	return slots
}

// members are the shards that are part of the cluster, or those that are not.
func (t *slotTable) members(want bool) []int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var out []int
	for s, sh := range t.shards {
		if sh.member == want {
			out = append(out, s)
		}
	}
	return out
}

// primary is the primary of a shard.
func (t *slotTable) primary(shard int) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.shards[shard].primary
}

// A request is what the table judges of a command.
type request struct {
	node     int
	keys     [][]byte
	channels bool // they are names of channels, which don't wander
	reads    bool // a replica may serve it
	asking   bool
	queued   bool // it is not executed yet
}

// judge returns the error that a node answers with because of the slot of the keys, or ""
// if it serves. exists tells whether there is a key anywhere.
func (t *slotTable) judge(req request, exists func(key string) bool) string {
	slot := slotOf(req.keys[0])
	for _, k := range req.keys[1:] {
		if slotOf(k) != slot {
			return "CROSSSLOT Keys in request don't hash to the same slot"
		}
	}
	t.mu.RLock()
	owner, m := int(t.owner[slot]), t.moving[slot]
	here := t.shardOfLocked(req.node)
	var sh, target shardState
	if owner >= 0 {
		sh = t.shards[owner]
	}
	if m != nil {
		target = t.shards[m.to]
	}
	t.mu.RUnlock()
	switch {
	case owner < 0 || sh.failed && owner != here:
		return "CLUSTERDOWN Hash slot not served"
	case m != nil && !req.channels && req.node == sh.primary:
		return m.atSource(req.keys, slot, t.addrs[target.primary], exists)
	case m != nil && !req.channels && req.asking && req.node == target.primary:
		return m.atTarget(req, exists)
	case req.node == sh.primary || owner == here && req.reads:
		return ""
	}
	return movedTo(slot, t.addrs[sh.primary])
}

// movedTo is the error that leads to the owner of a slot.
func movedTo(slot int, addr string) string { return "MOVED " + strconv.Itoa(slot) + " " + addr }

const errTryAgain = "TRYAGAIN Multiple keys request during rehashing of slot"

// atSource judges a command at the node that gives a slot away.
func (m *slotMigration) atSource(keys [][]byte, slot int, target string, exists func(string) bool) string {
	here, missing := m.count(keys, false, exists)
	switch {
	case missing == 0:
		return ""
	case here > 0:
		return errTryAgain
	}
	return "ASK " + strconv.Itoa(slot) + " " + target
}

// atTarget judges a command behind ASKING at the node that gets a slot.
func (m *slotMigration) atTarget(req request, exists func(string) bool) string {
	here, missing := m.count(req.keys, true, exists)
	if here+missing > 1 && missing > 0 {
		return errTryAgain
	}
	if !req.queued {
		m.take(req.keys)
	}
	return ""
}

// count tells how many different keys are at one end of the migration, and how many
// are not.
func (m *slotMigration) count(keys [][]byte, target bool, exists func(string) bool) (here, missing int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, k := range keys {
		if slices.ContainsFunc(keys[:i], func(other []byte) bool { return string(other) == string(k) }) {
			continue
		}
		_, moved := m.moved[string(k)]
		if moved == target && exists(string(k)) {
			here++
		} else {
			missing++
		}
	}
	return here, missing
}

// take makes keys those of the target.
func (m *slotMigration) take(keys [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range keys {
		m.moved[string(k)] = struct{}{}
	}
}

// has tells whether the node of a shard would list a key as its own.
func (t *slotTable) has(shard int, key string) bool {
	slot := slotOfString(key)
	t.mu.RLock()
	owner, m := int(t.owner[slot]), t.moving[slot]
	t.mu.RUnlock()
	if m == nil || shard != m.from && shard != m.to {
		return owner == shard
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, moved := m.moved[key]
	return moved == (shard == m.to)
}

// ranges joins slots, which ascend.
func ranges(slots []int) []SlotRange {
	var out []SlotRange
	for _, slot := range slots {
		if n := len(out); n > 0 && out[n-1].Last+1 == slot {
			out[n-1].Last = slot
			continue
		}
		out = append(out, SlotRange{First: slot, Last: slot})
	}
	return out
}

// slotsText is ranges as notices tell them.
func slotsText(rs []SlotRange) string {
	var b []byte
	for i, r := range rs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, r.String()...)
	}
	return string(b)
}

// listSlots are the slots of ranges, ascending, each once.
func listSlots(rs []SlotRange) ([]int, error) {
	var slots []int
	for _, r := range rs {
		if r.First < 0 || r.Last >= slotCount || r.First > r.Last {
			return nil, fmt.Errorf("maintsim: there are no slots %v", r)
		}
		for slot := r.First; slot <= r.Last; slot++ {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	return slices.Compact(slots), nil
}
