package cluster

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/resp"
)

const (
	idA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	idB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	idC = "cccccccccccccccccccccccccccccccccccccccc"
)

var asked = Origin{Addr: "seed.example:7009"}

func TestParseSlots(t *testing.T) {
	for _, test := range []struct {
		name  string
		reply any
		from  Origin
		want  string
	}{
		{
			"Redis 3 tells no ids",
			[]any{
				[]any{5461, 10922, []any{"10.0.0.2", 7001}, []any{"10.0.0.5", 7004}},
				[]any{0, 5460, []any{"10.0.0.1", 7000}, []any{"10.0.0.4", 7003}},
				[]any{10923, 16383, []any{"10.0.0.3", 7002}},
			},
			asked,
			lines("[0-5460] 10.0.0.1:7000 < 10.0.0.4:7003", "[5461-10922] 10.0.0.2:7001 < 10.0.0.5:7004", "[10923-16383] 10.0.0.3:7002"),
		},
		{
			"Redis 4 to 6 tell ids",
			[]any{
				[]any{0, 8191, []any{"10.0.0.1", 7000, idA}, []any{"10.0.0.3", 7002, idC}},
				[]any{8192, 16383, []any{"10.0.0.2", 7001, idB}},
			},
			asked,
			lines("[0-8191] 10.0.0.1:7000 < 10.0.0.3:7002", "[8192-16383] 10.0.0.2:7001"),
		},
		{
			"Redis 7 has metadata, and others may have more",
			[]any{
				[]any{0, 8191, []any{"10.0.0.1", 7000, idA, pairs{"hostname", "a.example"}}},
				[]any{8192, 16383, []any{"10.0.0.2", 7001, idB, pairs{"zone", []any{"z", pairs{"k", nil}}}, "more", []any{1}}},
			},
			asked,
			lines("[0-8191] 10.0.0.1:7000", "[8192-16383] 10.0.0.2:7001"),
		},
		{
			"ranges of one primary come together",
			[]any{
				[]any{0, 99, []any{"10.0.0.1", 7000}, []any{"10.0.0.3", 7002}},
				[]any{100, 100, []any{"10.0.0.2", 7001}},
				[]any{101, 200, []any{"10.0.0.1", 7000}, []any{"10.0.0.3", 7002}, []any{"10.0.0.4", 7003}},
			},
			asked,
			lines("[0-99,101-200] 10.0.0.1:7000 < 10.0.0.3:7002 < 10.0.0.4:7003", "[100] 10.0.0.2:7001"),
		},
		{
			"host names preferred",
			[]any{
				[]any{0, 8191, []any{"a.example", 7000, idA, pairs{"ip", "10.0.0.1"}}},
				[]any{8192, 16383, []any{"?", 7001, idB, pairs{"ip", "10.0.0.2"}}, []any{"?", 7002, idC}},
			},
			asked,
			lines("[0-8191] a.example:7000", "[8192-16383] 10.0.0.2:7001 < seed.example:7002"),
		},
		{
			"unknown endpoint preferred",
			[]any{
				[]any{0, 8191, []any{nil, 7000, idA, pairs{"ip", "10.0.0.1", "hostname", "a.example"}}},
				[]any{8192, 16383, []any{nil, 7001, idB, pairs{"ip", "10.0.0.2"}}},
			},
			asked,
			lines("[0-8191] seed.example:7000", "[8192-16383] seed.example:7001"),
		},
		{
			"a node alone doesn't know its address",
			[]any{[]any{0, 16383, []any{"", 7000, idA, pairs{}}}},
			asked,
			lines("[0-16383] seed.example:7000"),
		},
		{
			"no port of the kind",
			[]any{[]any{0, 16383, []any{"10.0.0.1", 0, idA, nil}}},
			asked,
			lines("[0-16383] 10.0.0.1:7009"),
		},
		{
			"IPv6",
			[]any{[]any{0, 16383, []any{"2001:db8:0::1", 7000, idA, pairs{}}, []any{"", 7001, idB}}},
			Origin{Addr: "[2001:db8::9]:7009"},
			lines("[0-16383] [2001:db8::1]:7000 < [2001:db8::9]:7001"),
		},
		{
			"a loopback address of another machine",
			[]any{[]any{0, 16383, []any{"127.0.0.1", 7000, idA}, []any{"10.0.0.7", 7001, idB}}},
			Origin{Addr: "10.0.0.9:7009"},
			lines("[0-16383] 10.0.0.9:7000 < 10.0.0.7:7001"),
		},
		{
			"a primary whose address nobody knows",
			[]any{
				[]any{0, 99, []any{"", 0, idA}, []any{"10.0.0.2", 7001, idB}},
				[]any{100, 199, []any{"", 0, idA}, []any{"10.0.0.2", 7001, idB}},
				[]any{200, 299, []any{nil, 0, idC}},
				[]any{300, 399, []any{"10.0.0.4", 7003}},
			},
			asked,
			lines("[0-199] nobody < 10.0.0.2:7001", "[300-399] 10.0.0.4:7003"),
		},
		{
			"of two claims the first counts",
			[]any{
				[]any{0, 200, []any{"10.0.0.1", 7000}},
				[]any{100, 300, []any{"10.0.0.2", 7001}},
			},
			asked,
			lines("[0-200] 10.0.0.1:7000", "[201-300] 10.0.0.2:7001"),
		},
		{
			"a primary elsewhere is no replica, and nobody's replica twice",
			[]any{
				[]any{0, 99, []any{"10.0.0.1", 7000}, []any{"10.0.0.2", 7001}, []any{"10.0.0.3", 7002}, []any{"10.0.0.1", 7000}},
				[]any{100, 199, []any{"10.0.0.2", 7001}, []any{"10.0.0.3", 7002}},
			},
			asked,
			lines("[0-99] 10.0.0.1:7000 < 10.0.0.3:7002", "[100-199] 10.0.0.2:7001"),
		},
		{
			"a proxy in front of all nodes",
			[]any{
				[]any{0, 8191, []any{nil, 7009, idA}, []any{nil, 7009, idC}},
				[]any{8192, 16383, []any{nil, 7009, idB}},
			},
			asked,
			lines("[0-16383] seed.example:7009"),
		},
		{"a cluster without slots", []any{}, asked, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := mustParse(t, ParseSlots, test.reply, test.from)
			if text := describe(got); text != test.want && test.want != "" {
				t.Errorf("(-want +got):\n%s", cmp.Diff(test.want, text))
			}
		})
	}
}

func TestParseSlotsKeepsAllThatIsTold(t *testing.T) {
	reply := []any{[]any{
		0, 16383,
		[]any{"10.0.0.1", 7000, idA, pairs{"hostname", "a.example"}},
		[]any{"b.example", 7001, idB, pairs{"ip", "10.0.0.2"}},
		[]any{nil, 7002, idC, pairs{"ip", "10.0.0.3", "hostname", "c.example"}},
		[]any{"10.0.0.5", 7004, idB, pairs{"ip", "10.0.0.4"}},
	}}
	want := Shard{
		Primary: Node{Addr: "10.0.0.1:7000", ID: idA, IP: "10.0.0.1", Hostname: "a.example", Port: 7000},
		Replicas: []Node{
			{Addr: "10.0.0.5:7004", ID: idB, IP: "10.0.0.4", Port: 7004, Replica: true},
			{Addr: "b.example:7001", ID: idB, IP: "10.0.0.2", Hostname: "b.example", Port: 7001, Replica: true},
			{Addr: "seed.example:7002", ID: idC, IP: "10.0.0.3", Hostname: "c.example", Port: 7002, Replica: true},
		},
	}
	got := mustParse(t, ParseSlots, reply, asked)
	if diff := cmp.Diff([]Shard{want}, got.Shards()); diff != "" {
		t.Errorf("plain (-want +got):\n%s", diff)
	}
	got = mustParse(t, ParseSlots, reply, Origin{Addr: asked.Addr, TLS: true})
	for n := range got.Nodes() {
		if n.Port != 0 || n.TLSPort == 0 {
			t.Errorf("with TLS: %+v, want a TLS port only", n)
		}
	}
}

func TestParseSlotsRefusesOtherReplies(t *testing.T) {
	node := []any{"10.0.0.1", 7000, idA}
	for name, test := range map[string]struct {
		reply any
		want  string // in the error
	}{
		"error":          {resp.Error("ERR This instance has cluster support disabled"), "CLUSTER SLOTS: ERR This instance has cluster support disabled"},
		"null":           {nil, "nil"},
		"text":           {"OK", "as array"},
		"entry":          {[]any{"OK"}, "entry 1: "},
		"null entry":     {[]any{nil}, "entry 1: "},
		"no node":        {[]any{[]any{0, 1}}, "entry 1: 2 elements"},
		"first":          {[]any{[]any{"x", 1, node}}, "as int64"},
		"last":           {[]any{[]any{0, "x", node}}, "as int64"},
		"upside down":    {[]any{[]any{5, 1, node}}, "upside down"},
		"beyond":         {[]any{[]any{0, 16384, node}}, "slot 16384"},
		"negative":       {[]any{[]any{-1, 5, node}}, "slot -1"},
		"huge":           {[]any{[]any{0, 1 << 40, node}}, "slot 1099511627776"},
		"second entry":   {[]any{[]any{0, 1, node}, []any{2, 1, node}}, "entry 2: "},
		"node":           {[]any{[]any{0, 1, "10.0.0.1"}}, "node 1: "},
		"short node":     {[]any{[]any{0, 1, []any{"10.0.0.1"}}}, "1 elements"},
		"endpoint":       {[]any{[]any{0, 1, []any{[]any{}, 7000}}}, "endpoint: "},
		"odd endpoint":   {[]any{[]any{0, 1, []any{"a b", 7000}}}, `"a b" is no host`},
		"port":           {[]any{[]any{0, 1, []any{"a", "x"}}}, "port: "},
		"big port":       {[]any{[]any{0, 1, []any{"a", 65536}}}, "port 65536"},
		"negative port":  {[]any{[]any{0, 1, []any{"a", -1}}}, "port -1"},
		"id":             {[]any{[]any{0, 1, []any{"a", 1, []any{}}}}, "as string"},
		"metadata":       {[]any{[]any{0, 1, []any{"a", 1, idA, "text"}}}, "metadata: "},
		"odd metadata":   {[]any{[]any{0, 1, []any{"a", 1, idA, []any{"ip"}}}}, "metadata: "},
		"key":            {[]any{[]any{0, 1, []any{"a", 1, idA, []any{[]any{}, 1}}}}, "key of metadata: "},
		"ip":             {[]any{[]any{0, 1, []any{"a", 1, idA, []any{"ip", []any{}}}}}, "metadata: "},
		"second replica": {[]any{[]any{0, 1, node, []any{"a", 1}, []any{}}}, "node 3: "},
		"error inside":   {[]any{resp.Error("ERR odd")}, "ERR odd"},
	} {
		for proto := 2; proto <= 3; proto++ {
			_, err := parse(t, ParseSlots, encode(nil, test.reply, proto), asked)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, RESP%d: got %v, want %q in it", name, proto, err, test.want)
			}
		}
	}
}

func TestParseSlotsReturnsTheServersError(t *testing.T) {
	const text = "ERR This instance has cluster support disabled"
	_, err := parse(t, ParseSlots, []byte("-"+text+"\r\n"), asked)
	if got, ok := errors.AsType[resp.Error](err); !ok || string(got) != text {
		t.Errorf("got %v, want the server's error", err)
	}
}

func TestParseSlotsNeedsAHostFromSomewhere(t *testing.T) {
	frame := encode(nil, []any{[]any{0, 1, []any{"", 7000}}}, 3)
	for _, addr := range []string{"", "/run/redis.sock", ":7009"} {
		if _, err := parse(t, ParseSlots, frame, Origin{Addr: addr}); !errors.Is(err, errNoHost) {
			t.Errorf("asked %q: got %v, want %v", addr, err, errNoHost)
		}
	}
	frame = encode(nil, []any{[]any{0, 1, []any{"10.0.0.1", 0}}}, 3)
	if _, err := parse(t, ParseSlots, frame, Origin{Addr: "/run/redis.sock"}); err == nil {
		t.Error("no port: got no error")
	}
}

func TestParseSlotsIgnoresOddNames(t *testing.T) {
	reply := []any{[]any{0, 1, []any{"10.0.0.1", 7000, idA, pairs{"hostname", "a b", "ip", "?"}}}}
	want := Node{Addr: "10.0.0.1:7000", ID: idA, IP: "10.0.0.1", Port: 7000}
	if got := mustParse(t, ParseSlots, reply, asked).Shards()[0].Primary; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
