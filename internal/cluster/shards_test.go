package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/resp"
)

// node is a node as CLUSTER SHARDS tells it, with more or other fields.
func node(id, ip string, port int, role, health string, more ...any) pairs {
	return append(pairs{
		"id", id, "port", port, "ip", ip, "endpoint", ip, "role", role, "replication-offset", 72156, "health", health,
	}, more...)
}

func shard(slots []any, nodes ...any) pairs { return pairs{"slots", slots, "nodes", nodes} }

func TestParseShards(t *testing.T) {
	for _, test := range []struct {
		name  string
		reply any
		from  Origin
		want  string
	}{
		{
			"three shards",
			[]any{
				shard([]any{10923, 11110, 11113, 16383}, node(idA, "10.0.0.1", 30001, "master", "online"), node(idB, "10.0.0.1", 30004, "replica", "online")),
				shard([]any{0, 5460}, node(idC, "10.0.0.2", 30001, "replica", "loading"), node(idA, "10.0.0.3", 30001, "master", "online")),
				shard([]any{}, node(idA, "10.0.0.4", 30001, "master", "online")),
			},
			asked,
			lines("[0-5460] 10.0.0.3:30001 < 10.0.0.2:30001 (loading)",
				"[10923-11110,11113-16383] 10.0.0.1:30001 < 10.0.0.1:30004", "[] 10.0.0.4:30001"),
		},
		{
			"words of other versions",
			[]any{
				shard([]any{0, 1}, node(idA, "10.0.0.1", 1, "primary", "online"), node(idB, "10.0.0.2", 1, "slave", "failed"),
					node(idC, "10.0.0.3", 1, "replica", "fail"), node(idC, "10.0.0.4", 1, "replica", "handshake"), node(idC, "10.0.0.5", 1, "replica", "hidden")),
			},
			asked,
			lines("[0-1] 10.0.0.1:1 < 10.0.0.2:1 (failed) < 10.0.0.3:1 (failed) < 10.0.0.4:1 (handshake) < 10.0.0.5:1"),
		},
		{
			"a failed primary stays in its shard",
			[]any{
				shard([]any{0, 1}, node(idA, "10.0.0.1", 1, "master", "fail"), node(idB, "10.0.0.2", 1, "master", "online")),
			},
			asked,
			lines("[0-1] 10.0.0.2:1 < 10.0.0.1:1 (failed)"),
		},
		{
			"two primaries",
			[]any{
				shard([]any{0, 1}, node(idA, "10.0.0.2", 1, "master", "online"), node(idB, "10.0.0.1", 1, "master", "online")),
			},
			asked,
			lines("[0-1] 10.0.0.2:1 < 10.0.0.1:1"),
		},
		{
			"shards without slots",
			[]any{
				shard([]any{}, node(idA, "10.0.0.3", 1, "master", "online")),
				shard([]any{}, node(idB, "10.0.0.1", 1, "master", "online")),
				shard([]any{9, 9, 5, 5}, node(idC, "10.0.0.4", 1, "master", "online")),
				shard([]any{8, 8}, node(idC, "10.0.0.2", 1, "master", "online")),
			},
			asked,
			lines("[5,9] 10.0.0.4:1", "[8] 10.0.0.2:1", "[] 10.0.0.1:1", "[] 10.0.0.3:1"),
		},
		{
			"the only primary has failed",
			[]any{
				shard([]any{0, 1}, node(idA, "10.0.0.1", 1, "master", "fail"), node(idB, "10.0.0.2", 1, "replica", "online")),
			},
			asked,
			lines("[0-1] 10.0.0.1:1 (failed) < 10.0.0.2:1"),
		},
		{
			"no primary",
			[]any{
				shard([]any{0, 1}, node(idB, "10.0.0.3", 1, "replica", "online"), node(idB, "10.0.0.2", 1, "replica", "online")),
			},
			asked,
			lines("[0-1] nobody < 10.0.0.2:1 < 10.0.0.3:1"),
		},
		{
			"a claim of who has failed counts less",
			[]any{
				shard([]any{0, 9}, node(idA, "10.0.0.1", 1, "master", "fail")),
				shard([]any{5, 14}, node(idB, "10.0.0.2", 1, "master", "online")),
				shard([]any{10, 19}, node(idC, "10.0.0.3", 1, "master", "online")),
			},
			asked,
			lines("[0-4] 10.0.0.1:1 (failed)", "[5-14] 10.0.0.2:1", "[15-19] 10.0.0.3:1"),
		},
		{
			"a node whose address nobody knows",
			[]any{
				shard([]any{0, 1}, pairs{"id", idA, "ip", "", "endpoint", "", "role", "master", "replication-offset", 0, "health", "fail"},
					node(idB, "10.0.0.2", 1, "replica", "online")),
				shard([]any{2, 3}, pairs{"id", idC, "ip", "", "endpoint", "", "role", "master", "replication-offset", 0, "health", "fail"}),
			},
			asked,
			lines("[0-1] nobody < 10.0.0.2:1"),
		},
		{
			"endpoints",
			[]any{
				shard([]any{0, 1}, node(idA, "10.0.0.1", 1, "master", "online", "endpoint", "a.example", "hostname", "a.example"),
					node(idB, "10.0.0.2", 2, "replica", "online", "endpoint", "?"), node(idB, "10.0.0.3", 3, "replica", "online", "endpoint", nil),
					node(idB, "10.0.0.4", 4, "replica", "online", "endpoint", ""), node(idB, "", 5, "replica", "online")),
				shard([]any{2, 3}, pairs{"ip", "10.0.0.6", "port", 6, "role", "master"}),
			},
			asked,
			lines("[0-1] a.example:1 < 10.0.0.2:2 < seed.example:3 < seed.example:4 < seed.example:5", "[2-3] 10.0.0.6:6"),
		},
		{
			"ports of a plain connection",
			[]any{
				shard([]any{0, 1}, node(idA, "10.0.0.1", 1, "master", "online", "tls-port", 2),
					pairs{"ip", "10.0.0.2", "tls-port", 2, "role", "replica"}),
			},
			asked,
			lines("[0-1] 10.0.0.1:1 < 10.0.0.2:7009"),
		},
		{
			"a node alone, with a port for TLS only, behind a proxy",
			[]any{shard([]any{0, 1}, pairs{"ip", "", "endpoint", "", "tls-port", 2, "role", "master"})},
			asked,
			lines("[0-1] seed.example:7009"),
		},
		{
			"ports of a connection with TLS",
			[]any{
				shard([]any{0, 1}, node(idA, "10.0.0.1", 1, "master", "online", "tls-port", 2), node(idB, "10.0.0.2", 1, "replica", "online")),
			},
			Origin{Addr: asked.Addr, TLS: true},
			lines("[0-1] 10.0.0.1:2 < 10.0.0.2:1"),
		},
		{
			"more than is known",
			[]any{
				append(shard([]any{0, 1}, node(idA, "10.0.0.1", 1, "master", "online", "availability-zone", "z", "deep", pairs{"k", []any{nil}})), "id", "shard"),
			},
			asked,
			lines("[0-1] 10.0.0.1:1"),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := describe(mustParse(t, ParseShards, test.reply, test.from))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseShardsKeepsAllThatIsTold(t *testing.T) {
	reply := []any{shard([]any{0, 16383},
		node(idA, "10.0.0.1", 7000, "master", "online", "tls-port", 7100, "hostname", "a.example"),
		node(idB, "10.0.0.2", 7000, "replica", "fail"))}
	want := Shard{
		Primary:  Node{Addr: "10.0.0.1:7000", ID: idA, IP: "10.0.0.1", Hostname: "a.example", Port: 7000, TLSPort: 7100, Health: HealthOnline},
		Replicas: []Node{{Addr: "10.0.0.2:7000", ID: idB, IP: "10.0.0.2", Port: 7000, Health: HealthFailed, Replica: true}},
	}
	if diff := cmp.Diff([]Shard{want}, mustParse(t, ParseShards, reply, asked).Shards()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseShardsOfAnEmptyCluster(t *testing.T) {
	got := mustParse(t, ParseShards, []any{}, asked)
	if !got.Equal(new(Topology)) || got.Missing().String() != "0-16383" || got.Primary(5) != "" || got.Owner(5) != -1 {
		t.Errorf("got %s", describe(got))
	}
	got = mustParse(t, ParseShards, []any{pairs{}, shard([]any{0, 5})}, asked)
	if !got.Equal(new(Topology)) {
		t.Errorf("shards without nodes: got %s", describe(got))
	}
}

func TestParseShardsRefusesOtherReplies(t *testing.T) {
	for name, test := range map[string]struct {
		reply any
		want  string // in the error
	}{
		"error":        {resp.Error("ERR unknown subcommand 'SHARDS'. Try CLUSTER HELP."), "CLUSTER SHARDS: ERR unknown subcommand"},
		"null":         {nil, "nil"},
		"text":         {"OK", "as array"},
		"shard":        {[]any{"OK"}, "shard 1: "},
		"odd shard":    {[]any{[]any{"slots"}}, "shard 1: "},
		"key":          {[]any{[]any{[]any{}, 1}}, "key: "},
		"slots":        {[]any{pairs{"slots", "0-5"}}, "slots: "},
		"odd slots":    {[]any{shard([]any{0, 1, 2})}, "3 ends of ranges"},
		"nested slots": {[]any{shard([]any{[]any{0, 1}, []any{2, 3}})}, "as int64"},
		"beyond":       {[]any{shard([]any{0, 16384})}, "slot 16384"},
		"upside down":  {[]any{shard([]any{0, 1, 5, 3})}, "5-3 are upside down"},
		"nodes":        {[]any{pairs{"nodes", 5}}, "nodes: "},
		"node":         {[]any{shard([]any{}, "x")}, "node 1: "},
		"no role":      {[]any{shard([]any{}, pairs{"ip", "a", "port", 1})}, "no role"},
		"role":         {[]any{shard([]any{}, node(idA, "a", 1, "slave of", "online"))}, `"slave of" is no role`},
		"null role":    {[]any{shard([]any{}, pairs{"ip", "a", "port", 1, "role", nil})}, `"" is no role`},
		"port":         {[]any{shard([]any{}, node(idA, "a", 70000, "master", "online"))}, "port 70000"},
		"tls-port":     {[]any{shard([]any{}, node(idA, "a", 1, "master", "online", "tls-port", -1))}, "tls-port: port -1"},
		"endpoint":     {[]any{shard([]any{}, node(idA, "a", 1, "master", "online", "endpoint", "a b"))}, `"a b" is no host`},
		"id":           {[]any{shard([]any{}, pairs{"id", []any{}})}, "id: "},
		"health":       {[]any{shard([]any{}, pairs{"health", []any{}})}, "health: "},
		"error inside": {[]any{resp.Error("ERR odd")}, "ERR odd"},
	} {
		for proto := 2; proto <= 3; proto++ {
			_, err := parse(t, ParseShards, encode(nil, test.reply, proto), asked)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, RESP%d: got %v, want %q in it", name, proto, err, test.want)
			}
		}
	}
}
