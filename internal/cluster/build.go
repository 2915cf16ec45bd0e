package cluster

import (
	"cmp"
	"errors"
	"slices"
)

// A builder collects the shards of a reply.
type builder struct {
	drafts []*draft
	known  map[string]*draft // by key
}

// A draft is a shard with its slots.
type draft struct {
	Shard
	slots Ranges
}

// add takes the nodes that stand together in a reply and the slots that it gives
// them. What is told of the same primary more than once comes together: CLUSTER
// SLOTS has one entry for each range.
//
// Of several primaries in one shard the first that serves is it, and the others
// stand among the replicas. There are several after a failover: Redis 8 and Valkey
// keep a failed primary in its shard as what it was. (Redis 7.0 puts it into a shard
// of its own, without slots.)
func (b *builder) add(nodes []Node, slots Ranges) {
	var s Shard
	at := -1
	for i, n := range nodes {
		if !n.Replica && (at < 0 || n.Health.rank() < nodes[at].Health.rank()) {
			at = i
		}
	}
	for i, n := range nodes {
		if i == at {
			s.Primary = n
			continue
		}
		n.Replica = true
		s.Replicas = append(s.Replicas, n)
	}
	slices.SortStableFunc(s.Replicas, compareAddr)
	if len(nodes) > 0 { // else nobody is known to own the slots
		b.merge(s, slots)
	}
}

// rank is 0 for those who serve.
func (h Health) rank() Health {
	if h.IsUsable() {
		return 0
	}
	return h
}

func (b *builder) merge(s Shard, slots Ranges) {
	key := s.Primary.Addr
	if key == "" {
		key = "replica " + s.Replicas[0].Addr
	}
	d := b.known[key]
	if d == nil {
		d = &draft{Shard: Shard{Primary: s.Primary}}
		b.drafts = append(b.drafts, d)
		if b.known == nil {
			b.known = make(map[string]*draft)
		}
		b.known[key] = d
	}
	d.Replicas = append(d.Replicas, s.Replicas...)
	d.slots = append(d.slots, slots...)
}

// topology returns what was collected.
//
// An address that is told more than once, which is a contradiction or a proxy in
// front of several nodes, stays where it is a primary, or else where it was told
// first. A slot that several shards claim goes to the first of those whose primary
// serves, or else to the first of all.
func (b *builder) topology() (*Topology, error) {
	b.dedup()
	if len(b.drafts) > maxShards {
		return nil, errors.New("too many shards")
	}
	claims := slices.Clone(b.drafts)
	slices.SortStableFunc(claims, func(x, y *draft) int { return cmp.Compare(x.claimRank(), y.claimRank()) })

	slices.SortStableFunc(b.drafts, func(x, y *draft) int {
		return cmp.Or(cmp.Compare(x.first(), y.first()), cmp.Compare(x.anyAddr(), y.anyAddr()))
	})
	t := new(Topology)
	index := make(map[*draft]uint16, len(b.drafts))
	for i, d := range b.drafts {
		t.shards = append(t.shards, d.Shard)
		index[d] = uint16(i + 1)
	}
	for _, d := range claims {
		for slot := range d.slots.all() {
			if t.owner[slot] == 0 {
				t.owner[slot] = index[d]
			}
		}
	}
	t.index()
	return t, nil
}

// dedup leaves each address once, sorts replicas, and drops shards that have no
// node left.
func (b *builder) dedup() {
	seen := make(map[string]bool)
	for _, d := range b.drafts {
		seen[d.Primary.Addr] = true // "" too, which no replica has
	}
	for _, d := range b.drafts {
		d.slots = d.slots.normal()
		d.Replicas = slices.DeleteFunc(d.Replicas, func(n Node) bool {
			was := seen[n.Addr]
			seen[n.Addr] = true
			return was
		})
		slices.SortFunc(d.Replicas, compareAddr)
	}
	b.drafts = slices.DeleteFunc(b.drafts, func(d *draft) bool { return d.Primary.Addr == "" && len(d.Replicas) == 0 })
}

// first returns the first slot, or one beyond the last for a shard without any.
func (d *draft) first() int {
	if len(d.slots) == 0 {
		return Slots
	}
	return int(d.slots[0].First)
}

// claimRank sorts those who claim a slot: 0 for a shard whose primary serves.
func (d *draft) claimRank() int {
	if d.Primary.Addr != "" && d.Primary.Health.IsUsable() {
		return 0
	}
	return 1
}
