package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/baton-go/redis/internal/resp"
)

// pairs are the keys and values of a map.
type pairs []any

// encode writes a reply: nil, a string, an int, an array as []any, or a map.
func encode(b []byte, v any, proto int) []byte {
	switch v := v.(type) {
	case nil:
		return resp.AppendNull(b, proto)
	case string:
		return resp.AppendBulk(b, v)
	case int:
		return resp.AppendInt(b, int64(v))
	case resp.Error:
		return resp.AppendError(b, string(v))
	case []any:
		b = resp.AppendArrayLen(b, len(v))
		for _, e := range v {
			b = encode(b, e, proto)
		}
		return b
	case pairs:
		b = resp.AppendMapLen(b, len(v)/2, proto)
		for _, e := range v {
			b = encode(b, e, proto)
		}
		return b
	}
	panic(fmt.Sprintf("no encoding for a %T", v))
}

type parser func(*resp.Reader, Origin) (*Topology, error)

// parse runs a parser over one frame, which must be used up.
func parse(t testing.TB, p parser, frame []byte, from Origin) (*Topology, error) {
	t.Helper()
	r := resp.NewReader(frame)
	topology, err := p(&r, from)
	if err == nil {
		if r.Len() > 0 {
			t.Errorf("%d bytes are left of %q", r.Len(), frame)
		}
		checkTopology(t, topology)
	} else if topology != nil {
		t.Errorf("both a topology and error %v", err)
	}
	return topology, err
}

// mustParse parses a reply in RESP2 and RESP3 and expects the same from both.
func mustParse(t testing.TB, p parser, reply any, from Origin) *Topology {
	t.Helper()
	var both [2]*Topology
	for i := range both {
		var err error
		if both[i], err = parse(t, p, encode(nil, reply, i+2), from); err != nil {
			t.Fatalf("RESP%d: %v", i+2, err)
		}
	}
	if !both[0].Equal(both[1]) || !both[1].Equal(both[0]) {
		t.Errorf("RESP2 and RESP3 differ:\n%s\n%s", describe(both[0]), describe(both[1]))
	}
	return both[0]
}

// describe writes one line for each shard: its slots, its primary, its replicas.
func describe(t *Topology) string {
	var b strings.Builder
	for i, shard := range t.Shards() {
		fmt.Fprintf(&b, "[%v] %s", t.SlotsOf(i), describeNode(shard.Primary))
		for _, n := range shard.Replicas {
			fmt.Fprintf(&b, " < %s", describeNode(n))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func describeNode(n Node) string {
	switch {
	case n.Addr == "":
		return "nobody"
	case n.Health == HealthUnknown || n.Health == HealthOnline:
		return n.Addr
	}
	return n.Addr + " (" + n.Health.String() + ")"
}

// lines joins the lines of a description.
func lines(all ...string) string {
	return strings.Join(all, "\n") + "\n"
}

// A failer is a test, or a check of a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkTopology checks what is true of every topology.
func checkTopology(t failer, top *Topology) {
	t.Helper()
	seen := make(map[string]bool)
	for i, shard := range top.Shards() {
		if shard.Primary.Addr == "" {
			if shard.Primary != (Node{}) || len(shard.Replicas) == 0 {
				t.Fatalf("shard %d has no primary, but %+v", i, shard)
			}
		}
		if shard.Primary.Replica {
			t.Fatalf("primary %q is a replica", shard.Primary.Addr)
		}
		if !slices.IsSortedFunc(shard.Replicas, compareAddr) {
			t.Fatalf("replicas are not sorted: %+v", shard.Replicas)
		}
		for _, n := range shard.Replicas {
			if !n.Replica {
				t.Fatalf("replica %q is none", n.Addr)
			}
		}
	}
	for n := range top.Nodes() {
		checkAddr(t, n.Addr)
		if seen[n.Addr] {
			t.Fatalf("%q occurs twice", n.Addr)
		}
		seen[n.Addr] = true
		if found, _, ok := top.Find(n.Addr); !ok || found != n {
			t.Fatalf("%q finds %+v, %v, want %+v", n.Addr, found, ok, n)
		}
	}
	checkOwners(t, top)
	if !top.Equal(top) || !Diff(top, top).IsEmpty() {
		t.Fatalf("differs from itself")
	}
	fresh := *top
	if !top.Equal(&fresh) || !Diff(top, &fresh).IsEmpty() {
		t.Fatalf("differs from its copy")
	}
	fresh.index()
	if !maps.Equal(fresh.places, top.places) {
		t.Fatalf("the index is %v, want %v", top.places, fresh.places)
	}
}

func checkOwners(t failer, top *Topology) {
	t.Helper()
	n := top.Missing().Len()
	for i := range top.Shards() {
		n += top.SlotsOf(i).Len()
	}
	if n != Slots {
		t.Fatalf("%d slots are owned or missing, want %d", n, Slots)
	}
	for slot := range uint16(Slots) {
		if i := top.Owner(slot); i < -1 || i >= len(top.Shards()) {
			t.Fatalf("slot %d has owner %d of %d", slot, i, len(top.Shards()))
		}
	}
}
