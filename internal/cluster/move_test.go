package cluster

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/resp"
)

// sample has three shards, two of them with replicas.
func sample(t testing.TB) *Topology {
	t.Helper()
	return mustParse(t, ParseShards, []any{
		shard([]any{0, 99}, node(idA, "10.0.0.1", 1, "master", "online", "hostname", "one.example"), node(idA, "10.0.0.4", 1, "replica", "online"), node(idA, "10.0.0.5", 1, "replica", "online")),
		shard([]any{100, 199}, node(idB, "10.0.0.2", 1, "master", "online"), node(idB, "10.0.0.6", 1, "replica", "online")),
		shard([]any{}, node(idC, "10.0.0.3", 1, "master", "online")),
	}, asked)
}

func TestMove(t *testing.T) {
	const rest = "[100-199] 10.0.0.2:1 < 10.0.0.6:1"
	for _, test := range []struct {
		name, slots, to string
		want            string
	}{
		{"to a primary", "10-19,150", "10.0.0.3:1", lines("[0-9,20-99] 10.0.0.1:1 < 10.0.0.4:1 < 10.0.0.5:1", "[100-149,151-199] 10.0.0.2:1 < 10.0.0.6:1", "[10-19,150] 10.0.0.3:1")},
		{"of nobody", "16383", "10.0.0.2:1", lines("[0-99] 10.0.0.1:1 < 10.0.0.4:1 < 10.0.0.5:1", "[100-199,16383] 10.0.0.2:1 < 10.0.0.6:1", "[] 10.0.0.3:1")},
		{"all of a shard", "0-99", "10.0.0.3:1", lines("[] 10.0.0.1:1 < 10.0.0.4:1 < 10.0.0.5:1", rest, "[0-99] 10.0.0.3:1")},
		{"to a new node", "0", "10.0.0.9:1", lines("[1-99] 10.0.0.1:1 < 10.0.0.4:1 < 10.0.0.5:1", rest, "[] 10.0.0.3:1", "[0] 10.0.0.9:1")},
		{"to a new name", "0", "new.example:1", lines("[1-99] 10.0.0.1:1 < 10.0.0.4:1 < 10.0.0.5:1", rest, "[] 10.0.0.3:1", "[0] new.example:1")},
		{"to another name of a node", "150", "one.example:1", lines("[0-99,150] 10.0.0.1:1 < 10.0.0.4:1 < 10.0.0.5:1", "[100-149,151-199] 10.0.0.2:1 < 10.0.0.6:1", "[] 10.0.0.3:1")},
		{"to another form of an address", "150", "::ffff:10.0.0.3:1", lines("[0-99] 10.0.0.1:1 < 10.0.0.4:1 < 10.0.0.5:1", "[100-149,151-199] 10.0.0.2:1 < 10.0.0.6:1", "[150] 10.0.0.3:1")},
		{"to the own replica", "7", "10.0.0.5:1", lines("[0-99] 10.0.0.5:1 < 10.0.0.1:1 < 10.0.0.4:1", rest, "[] 10.0.0.3:1")},
		{"to another's replica", "7", "10.0.0.6:1", lines("[0-6,8-99] 10.0.0.1:1 < 10.0.0.4:1 < 10.0.0.5:1", "[100-199] 10.0.0.2:1", "[] 10.0.0.3:1", "[7] 10.0.0.6:1")},
		{"to a replica of one of two", "99-100", "10.0.0.6:1", lines("[0-98] 10.0.0.1:1 < 10.0.0.4:1 < 10.0.0.5:1", "[101-199] 10.0.0.2:1", "[] 10.0.0.3:1", "[99-100] 10.0.0.6:1")},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := sample(t)
			slots, err := ParseRanges(test.slots)
			if err != nil {
				t.Fatal(err)
			}
			after := before.Move(slots, test.to)
			checkTopology(t, after)
			if diff := cmp.Diff(test.want, describe(after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !before.Equal(sample(t)) {
				t.Errorf("the old topology was changed:\n%s", describe(before))
			}
			if after.Equal(before) || before.Equal(after) {
				t.Error("equal to the old topology")
			}
			if again := after.Move(slots, test.to); again != after {
				t.Error("a second time it is another topology")
			}
		})
	}
}

func TestMoveOfNothingIsTheSameTopology(t *testing.T) {
	top := sample(t)
	for _, to := range []string{"10.0.0.1:1", "10.0.0.9:1"} {
		if top.Move(nil, to) != top || top.Move(Ranges{{20000, 20001}}, "10.0.0.1:1") != top {
			t.Errorf("no slots to %q: another topology", to)
		}
	}
	if top.Move(Ranges{{5, 9}, {90, 99}}, "10.0.0.1:1") != top {
		t.Error("to the owner: another topology")
	}
	for _, to := range []string{"", "10.0.0.9", ":1", "?:1", "10.0.0.9:0", "10.0.0.9:x", "a b:1", "[10.0.0.9:1"} {
		if top.Move(Ranges{{5, 9}}, to) != top {
			t.Errorf("to %q: another topology", to)
		}
	}
}

func TestMoveOnTheZeroValue(t *testing.T) {
	top := new(Topology).Move(Ranges{{5, 9}}, "10.0.0.1:1").Move(Ranges{{7, 7}}, "10.0.0.2:1")
	checkTopology(t, top)
	if want, got := lines("[5-6,8-9] 10.0.0.1:1", "[7] 10.0.0.2:1"), describe(top); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMovePromotesAReplicaWithoutPrimary(t *testing.T) {
	before := mustParse(t, ParseShards, []any{
		shard([]any{0, 9}, node(idA, "10.0.0.1", 1, "replica", "online"), node(idA, "10.0.0.2", 1, "replica", "online")),
		shard([]any{10, 19}, node(idB, "10.0.0.3", 1, "replica", "online")),
	}, asked)
	after := before.Move(Ranges{{5, 5}}, "10.0.0.2:1").Move(Ranges{{6, 6}}, "10.0.0.3:1")
	checkTopology(t, after)
	if want, got := lines("[0-5,7-9] 10.0.0.2:1 < 10.0.0.1:1", "[6,10-19] 10.0.0.3:1"), describe(after); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestMoveForgetsTheHealthOfADemotedPrimary: all that is known is that another node
// is the primary.
func TestMoveForgetsTheHealthOfADemotedPrimary(t *testing.T) {
	after := sample(t).Move(Ranges{{5, 5}}, "10.0.0.5:1")
	for addr, want := range map[string]Node{
		"10.0.0.1:1": {Addr: "10.0.0.1:1", ID: idA, IP: "10.0.0.1", Hostname: "one.example", Port: 1, Replica: true},
		"10.0.0.5:1": {Addr: "10.0.0.5:1", ID: idA, IP: "10.0.0.5", Port: 1, Health: HealthOnline},
	} {
		got, _, _ := after.Find(addr)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestFind(t *testing.T) {
	top := mustParse(t, ParseShards, []any{
		shard([]any{0, 99},
			node(idA, "10.0.0.1", 1, "master", "online", "endpoint", "", "hostname", "one.example", "tls-port", 2),
			node(idB, "10.0.0.2", 2, "replica", "online", "endpoint", "", "hostname", "both.example")),
		shard([]any{100, 199},
			node(idC, "10.0.0.3", 3, "master", "online", "endpoint", "", "hostname", "both.example"),
			node(idC, "10.0.0.2", 4, "replica", "online", "endpoint", "", "hostname", "both.example", "port", 2, "tls-port", 4, "endpoint", "four.example"),
			node(idC, "10.0.0.5", 5, "replica", "online", "hostname", "seed.example", "tls-port", 1)),
	}, asked)
	for addr, want := range map[string]string{
		"seed.example:1": "seed.example:1", // what is dialled, though another node announces it
		"one.example:1":  "seed.example:1",
		"one.example:2":  "seed.example:1",
		"10.0.0.1:1":     "seed.example:1",
		"10.0.0.1:2":     "seed.example:1",
		"seed.example:2": "seed.example:2",
		"both.example:3": "seed.example:3",
		"four.example:2": "four.example:2",
		"10.0.0.2:4":     "four.example:2",
		"10.0.0.2:2":     "", // two nodes say that they are there
		"both.example:2": "",
		"10.0.0.9:1":     "",
		"one.example:3":  "",
		"":               "",
	} {
		n, shard, ok := top.Find(addr)
		if n.Addr != want || ok != (want != "") || ok != (shard >= 0) {
			t.Errorf("%q: got %q of shard %d, %v, want %q", addr, n.Addr, shard, ok, want)
		}
	}
}

func TestAClusterHasALimit(t *testing.T) {
	reply := []any{}
	for i := range maxShards {
		host := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}).String()
		reply = append(reply, shard([]any{}, node("", host, 1, "master", "online")))
	}
	r := resp.NewReader(encode(nil, reply, 3))
	top, err := ParseShards(&r, asked)
	if err != nil {
		t.Fatal(err)
	}
	if next := top.Move(Ranges{{5, 5}}, "new.example:1"); next != top {
		t.Error("one more shard was added")
	}
	if got := top.Move(Ranges{{5, 5}}, "10.0.255.254:1").Primary(5); got != "10.0.255.254:1" {
		t.Errorf("the last shard can't own slots: got %q", got)
	}
	r = resp.NewReader(encode(nil, append(reply, shard([]any{}, node("", "new.example", 1, "master", "online"))), 3))
	if _, err := ParseShards(&r, asked); err == nil {
		t.Error("one more shard: got no error")
	}
}

func TestNodesCanBeLeftEarly(t *testing.T) {
	top := sample(t)
	for want := range 7 {
		got := 0
		for range top.Nodes() {
			if got == want {
				break
			}
			got++
		}
		if got != min(want, 6) {
			t.Errorf("got %d nodes, want %d", got, min(want, 6))
		}
	}
}

func TestHealthPrintsItself(t *testing.T) {
	for h, want := range map[Health]string{HealthUnknown: "unknown", HealthOnline: "online", HealthLoading: "loading", HealthHandshake: "handshake", HealthFailed: "failed", 99: "no health"} {
		if got := h.String(); got != want {
			t.Errorf("%d: got %q, want %q", h, got, want)
		}
	}
}

func BenchmarkMove(b *testing.B) {
	top := sample(b)
	b.ReportAllocs()
	for b.Loop() {
		top.Move(Ranges{{5, 5}}, "10.0.0.2:1")
	}
}

func BenchmarkOwner(b *testing.B) {
	top := sample(b)
	for b.Loop() {
		top.Owner(5000)
	}
}
