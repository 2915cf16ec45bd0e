package cluster

import (
	"testing"

	"github.com/baton-go/redis/internal/resp"
)

// replySeeds are replies of both commands, sound and odd.
func replySeeds() [][]byte {
	slotsNode := []any{"10.0.0.1", 7000, idA, pairs{"hostname", "a.example", "ip", "10.0.0.1"}}
	var seeds [][]byte
	for _, reply := range []any{
		[]any{},
		[]any{[]any{0, 8191, []any{"10.0.0.1", 7000}, []any{"", 7001}}, []any{8192, 16383, []any{nil, 7002, idB}}},
		[]any{[]any{0, 10, slotsNode, []any{"?", 7001, idB, pairs{"ip", "10.0.0.2"}}}, []any{5, 20, slotsNode}},
		[]any{[]any{0, 10, []any{"", 0, idA, nil}, slotsNode, "more"}},
		[]any{[]any{10, 0, slotsNode}},
		[]any{[]any{0, 16384, slotsNode}},
		[]any{nil},
		[]any{shard([]any{0, 5460}, node(idA, "10.0.0.1", 1, "master", "fail", "tls-port", 2), node(idB, "10.0.0.1", 1, "master", "online"))},
		[]any{shard([]any{}, node(idA, "::1", 1, "replica", "loading", "endpoint", nil)), shard([]any{0, 5, 3, 9}, node(idB, "::1", 2, "slave", "x"))},
		[]any{shard([]any{0, 1, 2}), append(shard([]any{}, pairs{"role", "master", "endpoint", ""}), "id", "x")},
		resp.Error("ERR This instance has cluster support disabled"), nil, "OK",
	} {
		seeds = append(seeds, encode(nil, reply, 2), encode(nil, reply, 3))
	}
	return append(seeds, []byte("*1000000000\r\n"), []byte("*1\r\n*1000000\r\n:0\r\n:1\r\n"), []byte("*1\r\n%2\r\n+slots\r\n*500000\r\n"))
}

// FuzzParse reads any bytes as both replies: no panic, and what comes out is sound,
// from RESP2 and RESP3 alike, and after moving slots too.
func FuzzParse(f *testing.F) {
	for _, frame := range replySeeds() {
		f.Add(frame, "seed.example:7009", false, uint16(5), "10.0.0.1:7000")
		f.Add(frame, "10.0.0.9:7009", true, uint16(0), "[::1]:2")
	}
	f.Fuzz(func(t *testing.T, frame []byte, asked string, isTLS bool, slot uint16, to string) {
		for _, p := range []parser{ParseSlots, ParseShards} {
			r := resp.NewReader(frame)
			top, err := p(&r, Origin{Addr: asked, TLS: isTLS})
			if err != nil {
				if top != nil {
					t.Fatalf("both a topology and error %v", err)
				}
				continue
			}
			checkTopology(t, top)
			next := top.Move(Ranges{{slot, slot + 9}}, to)
			checkTopology(t, next)
			checkReverse(t, Diff(top, next), Diff(next, top))
			if top.Equal(next) && next != top {
				t.Fatalf("%d-%d to %q: another topology that says the same", slot, slot+9, to)
			}
			if n, shard, ok := next.Find(to); ok && next != top && (n.Replica || next.Owner(slot) != shard && slot < Slots) {
				t.Fatalf("slot %d belongs to shard %d, want that of %+v, %d", slot, next.Owner(slot), n, shard)
			}
		}
	})
}
