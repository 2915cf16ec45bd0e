package cluster

import "slices"

// Move returns the topology after slots went to the node at an address, as MOVED
// tells of one slot and SMIGRATED of ranges. If it says nothing new, that is the
// same pointer.
//
// What isn't told is assumed, until a refresh tells more:
//
//   - A node that isn't known becomes the primary of a new shard.
//   - A replica of the shard that owns all of the slots has been promoted: it and
//     the primary change places, and all slots of the shard follow. So has a replica
//     of a shard without a known primary.
//   - Any other replica has left its shard and is the primary of a new one.
//
// A shard that has lost all its slots stays: its nodes are still there. If "to" is
// not an address, nothing changes.
func (t *Topology) Move(slots Ranges, to string) *Topology {
	p, isKnown := t.find(to)
	switch {
	case len(slots) == 0:
		return t
	case !isKnown:
		addr, err := canonicalAddr(to)
		if err != nil || len(t.shards) == maxShards {
			return t
		}
		return t.withShard(Node{Addr: addr}).assign(slots, len(t.shards))
	case t.ownsAll(p.shard, slots) && p.replica < 0:
		return t
	case p.replica < 0:
		next := *t
		return next.assign(slots, p.shard)
	case t.ownsAll(p.shard, slots) || t.shards[p.shard].Primary.Addr == "":
		return t.promote(p).assign(slots, p.shard)
	case len(t.shards) == maxShards:
		return t
	}
	n := *t.at(p)
	n.Replica = false
	return t.without(p).withShard(n).assign(slots, len(t.shards))
}

// ownsAll tells whether a shard owns every one of the slots.
func (t *Topology) ownsAll(shard int, slots Ranges) bool {
	for slot := range slots.all() {
		if t.Owner(slot) != shard {
			return false
		}
	}
	return true
}

// assign gives slots to a shard, in place: t is a copy that nobody has yet.
func (t *Topology) assign(slots Ranges, shard int) *Topology {
	for slot := range slots.all() {
		t.owner[slot] = uint16(shard + 1)
	}
	return t
}

// withShard returns a copy with one more shard, a primary without slots.
func (t *Topology) withShard(primary Node) *Topology {
	next := *t
	next.shards = append(slices.Clone(t.shards), Shard{Primary: primary})
	next.index()
	return &next
}

// without returns a copy without a replica.
func (t *Topology) without(p place) *Topology {
	next := *t
	next.shards = slices.Clone(t.shards)
	shard := &next.shards[p.shard]
	shard.Replicas = slices.Delete(slices.Clone(shard.Replicas), p.replica, p.replica+1)
	return &next
}

// promote returns a copy in which a replica and its primary have changed places.
// How the old primary is, is not known: it may have failed or just handed over.
func (t *Topology) promote(p place) *Topology {
	next := *t
	next.shards = slices.Clone(t.shards)
	shard := &next.shards[p.shard]
	shard.Replicas = slices.Clone(shard.Replicas)
	up, down := shard.Replicas[p.replica], shard.Primary
	up.Replica, down.Replica = false, true
	down.Health = HealthUnknown
	shard.Primary = up
	shard.Replicas = slices.Delete(shard.Replicas, p.replica, p.replica+1)
	if down.Addr != "" {
		shard.Replicas = append(shard.Replicas, down)
	}
	slices.SortFunc(shard.Replicas, compareAddr)
	next.index()
	return &next
}
