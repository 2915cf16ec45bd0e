package cluster

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/baton-go/redis/internal/resp"
)

// A drawnNode is a node of a drawn reply.
type drawnNode struct {
	host    string
	replica bool
	health  string
}

// A drawnShard is a shard of a drawn reply.
type drawnShard struct {
	nodes []drawnNode
	slots Ranges
}

func (n drawnNode) addr() string { return n.host + ":1" }

// drawReply draws shards that may contradict each other.
func drawReply(t *rapid.T) []drawnShard {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) drawnShard {
		nodes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) drawnNode {
			return drawnNode{
				host:    fmt.Sprintf("10.0.0.%d", rapid.IntRange(1, 8).Draw(t, "host")),
				replica: rapid.Bool().Draw(t, "replica"),
				health:  rapid.SampledFrom([]string{"online", "loading", "fail", "odd"}).Draw(t, "health"),
			}
		}), 0, 4).Draw(t, "nodes")
		return drawnShard{nodes, drawRanges(t, "slots")}
	}), 0, 5).Draw(t, "shards")
}

// shardsReply is the reply of CLUSTER SHARDS.
func shardsReply(drawn []drawnShard) []any {
	reply := []any{}
	for _, s := range drawn {
		slots, nodes := []any{}, []any{}
		for _, r := range s.slots {
			slots = append(slots, int(r.First), int(r.Last))
		}
		for _, n := range s.nodes {
			role := "master"
			if n.replica {
				role = "replica"
			}
			nodes = append(nodes, node(idA, n.host, 1, role, n.health))
		}
		reply = append(reply, shard(slots, nodes...))
	}
	return reply
}

// mustParseRapid is mustParse for a check of a property.
func mustParseRapid(t *rapid.T, p parser, reply any) *Topology {
	t.Helper()
	var both [2]*Topology
	for i := range both {
		r := resp.NewReader(encode(nil, reply, i+2))
		var err error
		if both[i], err = p(&r, asked); err != nil || r.Len() > 0 {
			t.Fatalf("RESP%d: %v, %d bytes left", i+2, err, r.Len())
		}
		checkTopology(t, both[i])
	}
	if !both[0].Equal(both[1]) {
		t.Fatalf("RESP2 and RESP3 differ:\n%s\n%s", describe(both[0]), describe(both[1]))
	}
	return both[0]
}

// TestShardsMayContradictEachOther: whatever is claimed, each slot that somebody
// claims has one of those as its owner, one that serves if there is one, and every
// address that is told is there.
func TestShardsMayContradictEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawReply(t)
		top := mustParseRapid(t, ParseShards, shardsReply(drawn))
		addrs, claimed := make(map[string]bool), make(map[uint16]bool)
		for _, s := range drawn {
			for _, n := range s.nodes {
				addrs[n.addr()] = true
			}
			if len(s.nodes) == 0 {
				continue
			}
			for slot := range s.slots.all() {
				claimed[slot] = true
			}
		}
		got := make(map[string]bool)
		for n := range top.Nodes() {
			got[n.Addr] = true
		}
		if diff := cmp.Diff(addrs, got); diff != "" {
			t.Fatalf("addresses (-told +there):\n%s", diff)
		}
		for slot := range claimed {
			checkOwner(t, top, drawn, slot)
		}
		if n := top.Missing().Len(); n < Slots-len(claimed) {
			t.Fatalf("%d slots are missing, want %d or more", n, Slots-len(claimed))
		}
	})
}

// checkOwner checks that the owner of a slot is among those who claim it.
func checkOwner(t *rapid.T, top *Topology, drawn []drawnShard, slot uint16) {
	t.Helper()
	owner := top.Owner(slot)
	isClaimant, oneServes := false, false
	for _, s := range drawn {
		if !s.slots.Contains(slot) {
			continue
		}
		primaries := 0
		for _, n := range s.nodes {
			if !n.replica {
				primaries++
			}
		}
		for _, n := range s.nodes {
			place, ok := top.exact(n.addr())
			if !ok {
				t.Fatalf("%s is nowhere", n.addr())
			}
			isClaimant = isClaimant || place.shard == owner
			if at := top.shards[place.shard].Primary; !n.replica && primaries == 1 && at.Addr == n.addr() && at.Health.IsUsable() {
				oneServes = true
			}
		}
	}
	switch {
	case owner < 0:
		// All of the claimants' nodes stand in shards that were told elsewhere.
		if oneServes {
			t.Fatalf("slot %d has no owner, but one who claims it serves:\n%s", slot, describe(top))
		}
	case !isClaimant && top.primaryOf(owner) != "": // those without a primary may have come together
		t.Fatalf("slot %d belongs to shard %d, which doesn't claim it:\n%s", slot, owner, describe(top))
	case oneServes && !top.shards[owner].Primary.Health.IsUsable():
		t.Fatalf("slot %d belongs to shard %d, whose primary doesn't serve:\n%s", slot, owner, describe(top))
	}
}

// TestBothCommandsTellTheSame draws a cluster in order and reads it from both.
func TestBothCommandsTellTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 5).Draw(t, "shards")
		shards := make([]drawnShard, count)
		for i := range shards {
			shards[i].nodes = []drawnNode{{host: fmt.Sprintf("10.0.%d.0", i), health: "odd"}}
			for j := range rapid.IntRange(0, 2).Draw(t, "replicas") {
				shards[i].nodes = append(shards[i].nodes, drawnNode{fmt.Sprintf("10.0.%d.%d", i, j+1), true, "odd"})
			}
		}
		var m model
		slots := []any{} // the reply of CLUSTER SLOTS
		for first := 0; first < Slots; {
			size := rapid.IntRange(1, 6000).Draw(t, "size")
			last := min(first+size, Slots) - 1
			if i := rapid.IntRange(-1, count-1).Draw(t, "owner"); i >= 0 {
				shards[i].slots = append(shards[i].slots, Range{uint16(first), uint16(last)})
				entry := []any{first, last}
				for _, n := range shards[i].nodes {
					entry = append(entry, []any{n.host, 1, idA})
				}
				slots = append(slots, entry)
				for slot := first; slot <= last; slot++ {
					m[slot] = shards[i].nodes[0].addr()
				}
			}
			first = last + 1
		}
		fromShards := mustParseRapid(t, ParseShards, shardsReply(shards))
		fromSlots := mustParseRapid(t, ParseSlots, slots)
		if modelOf(fromShards) != m || modelOf(fromSlots) != m {
			t.Fatalf("want other owners than in\n%s\n%s", describe(fromShards), describe(fromSlots))
		}
		// Shards without slots are only in one of them.
		for _, n := range Diff(fromSlots, fromShards).Added {
			if _, shard, _ := fromShards.Find(n.Addr); len(fromShards.SlotsOf(shard)) > 0 {
				t.Fatalf("%s is missing in\n%s", n.Addr, describe(fromSlots))
			}
		}
	})
}
