package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// describeChanges writes one line for each change.
func describeChanges(c Changes) string {
	var b strings.Builder
	for _, kind := range []struct {
		sign  string
		nodes []Node
	}{{"+", c.Added}, {"-", c.Removed}, {"^", c.Promoted}, {"v", c.Demoted}} {
		for _, n := range kind.nodes {
			fmt.Fprintf(&b, "%s %s\n", kind.sign, n.Addr)
		}
	}
	for _, m := range c.Moved {
		fmt.Fprintf(&b, "%v: %q > %q\n", m.Slots, m.From, m.To)
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	empty := new(Topology)
	for _, test := range []struct {
		name  string
		after func(before *Topology) *Topology
		want  string
	}{
		{"nothing", func(before *Topology) *Topology { return before }, ""},
		{
			"slots", func(before *Topology) *Topology {
				return before.Move(Ranges{{150, 150}, {5, 9}}, "10.0.0.3:1").Move(Ranges{{20, 20}}, "10.0.0.2:1").Move(Ranges{{300, 301}}, "10.0.0.2:1")
			},
			lines(`5-9: "10.0.0.1:1" > "10.0.0.3:1"`, `20: "10.0.0.1:1" > "10.0.0.2:1"`, `150: "10.0.0.2:1" > "10.0.0.3:1"`, `300-301: "" > "10.0.0.2:1"`),
		},
		{
			"a failover", func(before *Topology) *Topology { return before.Move(Ranges{{5, 5}}, "10.0.0.5:1") },
			lines("^ 10.0.0.5:1", "v 10.0.0.1:1", `0-99: "10.0.0.1:1" > "10.0.0.5:1"`),
		},
		{
			"a new node", func(before *Topology) *Topology { return before.Move(Ranges{{5, 5}}, "10.0.0.9:1") },
			lines("+ 10.0.0.9:1", `5: "10.0.0.1:1" > "10.0.0.9:1"`),
		},
		{
			"all gone", func(*Topology) *Topology { return empty },
			lines("- 10.0.0.1:1", "- 10.0.0.2:1", "- 10.0.0.3:1", "- 10.0.0.4:1", "- 10.0.0.5:1", "- 10.0.0.6:1", `0-99: "10.0.0.1:1" > ""`, `100-199: "10.0.0.2:1" > ""`),
		},
		{
			"a failover with a new replica", func(*Topology) *Topology {
				return mustParse(t, ParseShards, []any{
					shard([]any{100, 199}, node(idB, "10.0.0.6", 1, "master", "online"), node(idB, "10.0.0.7", 1, "replica", "online")),
					shard([]any{0, 99}, node(idA, "10.0.0.1", 1, "master", "online"), node(idA, "10.0.0.4", 1, "replica", "loading")),
					shard([]any{}, node(idC, "10.0.0.3", 1, "master", "online"), node(idA, "10.0.0.5", 1, "replica", "online")),
				}, asked)
			},
			lines("+ 10.0.0.7:1", "- 10.0.0.2:1", "^ 10.0.0.6:1", `100-199: "10.0.0.2:1" > "10.0.0.6:1"`),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := sample(t)
			after := test.after(before)
			c := Diff(before, after)
			if diff := cmp.Diff(test.want, describeChanges(c)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.IsEmpty() != (test.want == "") {
				t.Errorf("IsEmpty: got %v", c.IsEmpty())
			}
			checkReverse(t, c, Diff(after, before))
		})
	}
}

// TestDiffGoesByTheAddressThatIsDialled: another name of the same node is another
// address, with connections of its own.
func TestDiffGoesByTheAddressThatIsDialled(t *testing.T) {
	before := mustParse(t, ParseShards, []any{shard([]any{0, 1}, node(idA, "10.0.0.1", 1, "master", "online", "endpoint", ""))}, asked)
	after := mustParse(t, ParseShards, []any{shard([]any{0, 1}, node(idA, "10.0.0.1", 1, "master", "online"))}, asked)
	want := lines("+ 10.0.0.1:1", "- seed.example:1", `0-1: "seed.example:1" > "10.0.0.1:1"`)
	if diff := cmp.Diff(want, describeChanges(Diff(before, after))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDiffJoinsSlotsOfShardsWithoutPrimary(t *testing.T) {
	before := mustParse(t, ParseShards, []any{
		shard([]any{0, 4}, node(idA, "10.0.0.1", 1, "replica", "online")),
		shard([]any{5, 9}, node(idB, "10.0.0.2", 1, "replica", "online")),
	}, asked)
	after := mustParse(t, ParseShards, []any{shard([]any{0, 12}, node(idC, "10.0.0.3", 1, "master", "online"))}, asked)
	want := lines("+ 10.0.0.3:1", "- 10.0.0.1:1", "- 10.0.0.2:1", `0-12: "" > "10.0.0.3:1"`)
	if diff := cmp.Diff(want, describeChanges(Diff(before, after))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// checkReverse checks that there and back are mirror images.
func checkReverse(t testing.TB, there, back Changes) {
	t.Helper()
	addrs := func(nodes []Node) []string {
		var all []string
		for _, n := range nodes {
			all = append(all, n.Addr)
		}
		return all
	}
	for _, pair := range [][2][]Node{{there.Added, back.Removed}, {there.Removed, back.Added}, {there.Promoted, back.Demoted}, {there.Demoted, back.Promoted}} {
		if diff := cmp.Diff(addrs(pair[0]), addrs(pair[1])); diff != "" {
			t.Fatalf("there and back (-there +back):\n%s", diff)
		}
	}
	mirrored := slices.Clone(back.Moved)
	for i, m := range mirrored {
		mirrored[i].From, mirrored[i].To = m.To, m.From
	}
	if diff := cmp.Diff(there.Moved, mirrored); diff != "" {
		t.Fatalf("moves there and back (-there +back):\n%s", diff)
	}
}

func TestEqualSeesEveryDetail(t *testing.T) {
	base := func() []any {
		return []any{
			shard([]any{0, 99}, node(idA, "10.0.0.1", 1, "master", "online"), node(idB, "10.0.0.2", 1, "replica", "online")),
			shard([]any{100, 199}, node(idC, "10.0.0.3", 1, "master", "online")),
		}
	}
	top := mustParse(t, ParseShards, base(), asked)
	same := base()
	slices.Reverse(same)
	if !top.Equal(mustParse(t, ParseShards, same, asked)) {
		t.Error("another order of shards: not equal")
	}
	for name, other := range map[string][]any{
		"health":  {shard([]any{0, 99}, node(idA, "10.0.0.1", 1, "master", "online"), node(idB, "10.0.0.2", 1, "replica", "loading")), base()[1]},
		"id":      {shard([]any{0, 99}, node(idC, "10.0.0.1", 1, "master", "online"), node(idB, "10.0.0.2", 1, "replica", "online")), base()[1]},
		"replica": {shard([]any{0, 99}, node(idA, "10.0.0.1", 1, "master", "online")), base()[1]},
		"slots":   {shard([]any{0, 98}, node(idA, "10.0.0.1", 1, "master", "online"), node(idB, "10.0.0.2", 1, "replica", "online")), base()[1]},
		"role":    {shard([]any{0, 99}, node(idA, "10.0.0.1", 1, "replica", "online"), node(idB, "10.0.0.2", 1, "master", "online")), base()[1]},
		"shards":  base()[:1],
		"another": append(base(), shard([]any{}, node(idC, "10.0.0.4", 1, "master", "online"))),
		"address": {base()[0], shard([]any{100, 199}, node(idC, "10.0.0.4", 1, "master", "online"))},
		"grouping": {
			shard([]any{0, 99}, node(idA, "10.0.0.1", 1, "master", "online")),
			shard([]any{100, 199}, node(idC, "10.0.0.3", 1, "master", "online"), node(idB, "10.0.0.2", 1, "replica", "online")),
		},
	} {
		if other := mustParse(t, ParseShards, other, asked); top.Equal(other) || other.Equal(top) {
			t.Errorf("%s: equal", name)
		}
	}
}

// A model is the plainest form of a topology's slots.
type model [Slots]string

func modelOf(t *Topology) (m model) {
	for slot := range m {
		m[slot] = t.Primary(uint16(slot))
	}
	return m
}

// drawAddr draws an address that may be known: hosts 1 to 6 are, to 9 aren't.
func drawAddr(t *rapid.T) string {
	return fmt.Sprintf("10.0.0.%d:1", rapid.IntRange(1, 9).Draw(t, "host"))
}

// TestDiffTellsWhatMoveDid moves at random, and compares with the model, and what
// Diff says with what is different in the model.
func TestDiffTellsWhatMoveDid(t *testing.T) {
	start := sample(t)
	rapid.Check(t, func(t *rapid.T) {
		before := start
		for range rapid.IntRange(1, 4).Draw(t, "moves") {
			slots, to := drawRanges(t, "slots"), drawAddr(t)
			if rapid.Bool().Draw(t, "within the sample") {
				first := rapid.Uint16Max(199).Draw(t, "first")
				slots = Ranges{{first, first + rapid.Uint16Max(9).Draw(t, "more")}}
			}
			after := before.Move(slots, to)
			checkTopology(t, after)
			if n, _, ok := after.Find(to); !ok || n.Replica {
				t.Fatalf("%v to %s: it is %+v, %v", slots, to, n, ok)
			}
			for slot := range slots.all() {
				if got := after.Primary(slot); got != to {
					t.Fatalf("%v to %s: slot %d belongs to %q", slots, to, slot, got)
				}
			}
			checkDiff(t, before, after)
			before = after
		}
		checkDiff(t, start, before)
	})
}

// checkDiff applies what Diff says to the model of one topology; the model of the
// other must come out.
func checkDiff(t *rapid.T, before, after *Topology) {
	t.Helper()
	c := Diff(before, after)
	m := modelOf(before)
	last := -1
	for _, move := range c.Moved {
		if move.From == move.To || len(move.Slots) == 0 || int(move.Slots[0].First) <= last {
			t.Fatalf("odd move %+v", move)
		}
		last = int(move.Slots[0].First)
		for slot := range move.Slots.all() {
			if m[slot] != move.From {
				t.Fatalf("slot %d goes from %q, which is %q's", slot, move.From, m[slot])
			}
			m[slot] = move.To
		}
	}
	if m != modelOf(after) {
		t.Fatalf("the moves don't lead from\n%s to\n%s: %+v", describe(before), describe(after), c)
	}
	if before.Equal(after) != after.Equal(before) || before.Equal(after) && !c.IsEmpty() {
		t.Fatalf("equal, and yet %+v", c)
	}
	nodes := make(map[string]bool) // is a replica
	for n := range before.Nodes() {
		nodes[n.Addr] = n.Replica
	}
	for _, n := range c.Removed {
		delete(nodes, n.Addr)
	}
	for _, n := range slices.Concat(c.Added, c.Promoted, c.Demoted) {
		nodes[n.Addr] = n.Replica
	}
	want := make(map[string]bool)
	for n := range after.Nodes() {
		want[n.Addr] = n.Replica
	}
	if diff := cmp.Diff(want, nodes); diff != "" {
		t.Fatalf("nodes (-want +got):\n%s", diff)
	}
}
