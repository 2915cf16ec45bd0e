package cluster

import (
	"cmp"
	"slices"
)

// Changes are what is different between two topologies. Nodes are told apart by the
// address that is dialled and sorted by it.
type Changes struct {
	// Added are in the new topology only, Removed in the old one only. Both have
	// the role that they have there.
	Added, Removed []Node

	// Promoted were replicas and are primaries, Demoted the other way round. They
	// are as in the new topology.
	Promoted, Demoted []Node

	// Moved are the slots with another primary, sorted by their first slot. A
	// failover moves all slots of its shard.
	Moved []SlotMove
}

// A SlotMove are slots that went from one primary to another.
type SlotMove struct {
	From, To string // addresses; "" if nobody owns the slots, or the primary isn't known
	Slots    Ranges
}

// IsEmpty tells whether nothing is different.
func (c Changes) IsEmpty() bool {
	return len(c.Added)+len(c.Removed)+len(c.Promoted)+len(c.Demoted)+len(c.Moved) == 0
}

// Diff returns what is different in after. Other things that topologies tell, such as
// health, names, and the shard of a replica, don't count; [Topology.Equal] compares
// them too.
func Diff(before, after *Topology) Changes {
	if before == after {
		return Changes{}
	}
	var c Changes
	for n := range after.Nodes() {
		p, ok := before.exact(n.Addr)
		switch {
		case !ok:
			c.Added = append(c.Added, n)
		case !n.Replica && p.replica >= 0:
			c.Promoted = append(c.Promoted, n)
		case n.Replica && p.replica < 0:
			c.Demoted = append(c.Demoted, n)
		}
	}
	for n := range before.Nodes() {
		if _, ok := after.exact(n.Addr); !ok {
			c.Removed = append(c.Removed, n)
		}
	}
	for _, nodes := range [][]Node{c.Added, c.Removed, c.Promoted, c.Demoted} {
		slices.SortFunc(nodes, compareAddr)
	}
	c.Moved = moves(before, after)
	return c
}

// moves compares the primaries of all slots.
func moves(before, after *Topology) []SlotMove {
	type pair struct{ from, to string }
	var out []SlotMove
	at := make(map[pair]int)
	for first := 0; first < Slots; {
		from, to := before.owner[first], after.owner[first]
		next := first + 1
		for next < Slots && before.owner[next] == from && after.owner[next] == to {
			next++
		}
		p := pair{before.primaryOf(int(from) - 1), after.primaryOf(int(to) - 1)}
		if p.from != p.to {
			i, ok := at[p]
			if !ok {
				i = len(out)
				at[p] = i
				out = append(out, SlotMove{From: p.from, To: p.to})
			}
			out[i].Slots = append(out[i].Slots, Range{uint16(first), uint16(next - 1)})
		}
		first = next
	}
	for i := range out {
		out[i].Slots = out[i].Slots.normal() // shards without a primary may touch
	}
	slices.SortFunc(out, func(a, b SlotMove) int { return cmp.Compare(a.Slots[0].First, b.Slots[0].First) })
	return out
}
