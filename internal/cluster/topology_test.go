package cluster

import (
	"slices"
	"testing"
)

// a topology of two shards, one of them with replicas, as CLUSTER SLOTS tells it
func twoShards() *Topology {
	t := &Topology{shards: []Shard{
		{Primary: Node{Addr: "a:1", ID: "a"}, Replicas: []Node{{Addr: "b:1", ID: "b", Replica: true}, {Addr: "c:1", ID: "c", Replica: true}}},
		{Primary: Node{Addr: "d:1", ID: "d"}},
	}}
	t.index()
	return t.assign(Ranges{{0, 9}}, 0).assign(Ranges{{10, 19}}, 1)
}

func TestTopologyWith(t *testing.T) {
	base := twoShards()
	if base.With(nil) != base {
		t.Error("nothing was told, and yet it is another one")
	}
	other := &Topology{shards: []Shard{{
		Primary:  Node{Addr: "elsewhere:1", ID: "b", Health: HealthFailed, Hostname: "b.example", Port: 1}, // by its ID
		Replicas: []Node{{Addr: "d:1", IP: "10.0.0.4", Port: 7, Health: HealthOnline}},                     // by its address
	}}}
	other.index()
	got := base.With(other)
	b, shard, ok := got.Find("b.example:1")
	if !ok || shard != 0 || b != (Node{Addr: "b:1", ID: "b", Replica: true, Health: HealthFailed, Hostname: "b.example", Port: 1}) {
		t.Errorf("by its other name: got %+v of shard %d, %v", b, shard, ok)
	}
	if d, shard, ok := got.Find("10.0.0.4:7"); !ok || shard != 1 || d.Addr != "d:1" || d.Replica || d.Health != HealthOnline {
		t.Errorf("by its IP address: got %+v of shard %d, %v", d, shard, ok)
	}
	if !base.Equal(twoShards()) || base.shards[0].Unready != nil {
		t.Error("the first topology has changed")
	}
	if got.Primary(5) != "a:1" || got.Primary(15) != "d:1" {
		t.Error("who owns what has changed")
	}
}

// CLUSTER SLOTS leaves out replicas of whose offset it knows nothing, and CLUSTER SHARDS has
// them.
func TestTopologyWithReplicasThatAreNotReady(t *testing.T) {
	slots := &Topology{shards: []Shard{{Primary: Node{Addr: "a:1"}}}}
	slots.assign(Ranges{{0, 9}}, 0)
	slots.index()
	shards := &Topology{shards: []Shard{{Primary: Node{Addr: "a:1"}, Replicas: []Node{{Addr: "b:1", Health: HealthLoading}}}}}
	shards.index()
	for _, got := range []*Topology{slots.With(shards), slots.With(shards).Serving(), slots.With(shards).With(shards)} {
		if nodes := got.Shards()[0].Nodes(); !slices.Equal(nodes, []string{"a:1", "b:1"}) {
			t.Errorf("the shard has %q", nodes)
		}
	}
}

func TestTopologyServing(t *testing.T) {
	base := twoShards()
	base.shards = slices.Insert(base.shards, 1, Shard{Primary: Node{Addr: "empty:1"}})
	base.assign(Ranges{{10, 19}}, 2)
	base.shards[0].Replicas[0].Health = HealthLoading
	base.shards[2].Primary.Health = HealthFailed // nobody else has its slots
	base.index()
	got := base.Serving()
	var addrs []string
	for n := range got.Nodes() {
		addrs = append(addrs, n.Addr)
	}
	if want := []string{"a:1", "c:1", "d:1"}; !slices.Equal(addrs, want) {
		t.Errorf("nodes: got %q, want %q", addrs, want)
	}
	if got.Primary(5) != "a:1" || got.Primary(15) != "d:1" || got.Primary(20) != "" {
		t.Errorf("owners: %q, %q, %q", got.Primary(5), got.Primary(15), got.Primary(20))
	}
	if nodes := got.Shards()[0].Nodes(); !slices.Contains(nodes, base.shards[0].Replicas[0].Addr) {
		t.Errorf("the shard has %q: the replica that is not in sync is forgotten", nodes)
	}
	if n := len((&Topology{}).Serving().Shards()); n != 0 {
		t.Errorf("%d shards of nothing", n)
	}
}
