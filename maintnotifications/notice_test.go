package maintnotifications

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// frame makes the arguments of a push frame.
func frame(args ...any) []any { return args }

func TestParseNotice(t *testing.T) {
	const s = time.Second
	moving := func(endpoint string) Notice {
		return Notice{Kind: KindMoving, Seq: 5, Time: 15 * s, HasTime: true, Endpoint: endpoint}
	}
	for _, tc := range []struct {
		name string
		args []any
		want Notice
	}{
		{
			"as a real server sends it: MOVING 0 15 null", frame("MOVING", int64(0), int64(15), nil),
			Notice{Kind: KindMoving, Time: 15 * s, HasTime: true},
		},
		{"target", frame("MOVING", int64(5), int64(15), "10.0.0.2:6379"), moving("10.0.0.2:6379")},
		{"bytes", frame([]byte("MOVING"), []byte("5"), []byte("15"), []byte("10.0.0.2:6379")), moving("10.0.0.2:6379")},
		{"floats", frame("MOVING", 5.0, 15.0, "10.0.0.2:6379"), moving("10.0.0.2:6379")},
		{"further elements", frame("MOVING", int64(5), int64(15), "10.0.0.2:6379", "x", nil), moving("10.0.0.2:6379")},
		{"endpoint missing", frame("MOVING", int64(5), int64(15)), moving("")},
		{"endpoint as text null", frame("MOVING", int64(5), int64(15), "null"), moving("")},
		{"endpoint ?", frame("MOVING", int64(5), int64(15), "?"), moving("")},
		{"endpoint empty", frame("MOVING", int64(5), int64(15), ""), moving("")},
		{"host empty", frame("MOVING", int64(5), int64(15), ":6379"), moving("")},
		{"host ?", frame("MOVING", int64(5), int64(15), "?:6379"), moving("")},
		{"port 0", frame("MOVING", int64(5), int64(15), "10.0.0.2:0"), moving("")},
		{"host name", frame("MOVING", int64(5), int64(15), "node-2.db_1.example.com:12000"), moving("node-2.db_1.example.com:12000")},
		{"host name of digits and letters", frame("MOVING", int64(5), int64(15), "1a.2:12000"), moving("1a.2:12000")},
		{"rooted name", frame("MOVING", int64(5), int64(15), "db.example.com.:1"), moving("db.example.com.:1")},
		{"IPv6 without brackets", frame("MOVING", int64(5), int64(15), "2001:db8::1:6380"), moving("[2001:db8::1]:6380")},
		{"IPv6 in brackets", frame("MOVING", int64(5), int64(15), "[2001:db8::1]:6380"), moving("[2001:db8::1]:6380")},
		{"IPv6 in brackets without a port", frame("MOVING", int64(5), int64(15), "[2001:DB8:0::1]"), moving("[2001:db8::1]:6379")},
		{"IPv6 with a zone", frame("MOVING", int64(5), int64(15), "[fe80::1%eth0]:6379"), moving("[fe80::1%eth0]:6379")},
		{"IPv4 in IPv6", frame("MOVING", int64(5), int64(15), "[::ffff:10.0.0.2]:6379"), moving("10.0.0.2:6379")},
		{"time over", frame("MOVING", int64(5), int64(-3), nil), Notice{Kind: KindMoving, Seq: 5, Time: -3 * s, HasTime: true}},
		{"far future", frame("MOVING", int64(5), int64(math.MaxInt64)), Notice{Kind: KindMoving, Seq: 5, Time: time.Duration(maxSeconds) * s, HasTime: true}},
		{"far past", frame("MOVING", int64(5), "-99999999999999999999"), Notice{Kind: KindMoving, Seq: 5, Time: time.Duration(-maxSeconds) * s, HasTime: true}},
		{
			"shards as JSON text", frame("MIGRATING", int64(7), int64(2), `["4", "2", "4"]`),
			Notice{Kind: KindMigrating, Seq: 7, Time: 2 * s, HasTime: true, Shards: []string{"2", "4"}},
		},
		{
			"shards as JSON numbers", frame("FAILING_OVER", int64(7), "2", `[4,"2"]`),
			Notice{Kind: KindFailingOver, Seq: 7, Time: 2 * s, HasTime: true, Shards: []string{"2", "4"}},
		},
		{
			"shards as an array", frame("FAILED_OVER", int64(7), []any{int64(4), []byte("2")}),
			Notice{Kind: KindFailedOver, Seq: 7, Shards: []string{"2", "4"}},
		},
		{"shards as plain text", frame("MIGRATED", int64(7), "4, 2"), Notice{Kind: KindMigrated, Seq: 7, Shards: []string{"2", "4"}}},
		{"one shard as a number", frame("MIGRATED", int64(7), int64(4)), Notice{Kind: KindMigrated, Seq: 7, Shards: []string{"4"}}},
		{"shards missing", frame("MIGRATED", int64(7)), Notice{Kind: KindMigrated, Seq: 7}},
		{"shards null", frame("MIGRATED", int64(7), nil), Notice{Kind: KindMigrated, Seq: 7}},
		{"no shards", frame("MIGRATED", int64(7), "[]"), Notice{Kind: KindMigrated, Seq: 7}},
		{"shards as text null", frame("MIGRATED", int64(7), "null"), Notice{Kind: KindMigrated, Seq: 7}},
		{"only a number", frame("FAILING_OVER", int64(7)), Notice{Kind: KindFailingOver, Seq: 7}},
		{"time null", frame("MIGRATING", int64(7), nil, `["2"]`), Notice{Kind: KindMigrating, Seq: 7, Shards: []string{"2"}}},
		{
			"slots", frame("SMIGRATING", int64(16), "123,456,789-1000"),
			Notice{Kind: KindSMigrating, Seq: 16, Slots: []SlotRange{{123, 123}, {456, 456}, {789, 1000}}},
		},
		{
			"slots as elements, overlapping", frame("SMIGRATING", int64(16), "10-20", "15-30", int64(31), []byte("0")),
			Notice{Kind: KindSMigrating, Seq: 16, Slots: []SlotRange{{0, 0}, {10, 31}}},
		},
		{
			"moves", frame("SMIGRATED", int64(17), []any{
				[]any{"10.0.0.1:6379", "[2001:db8::1]:6379", "0-16383"},
				[]any{[]byte("a.example:6379"), "2001:db8::2:6379", []byte("5,7-8")},
			}),
			Notice{Kind: KindSMigrated, Seq: 17, Moves: []SlotMove{
				{Source: "10.0.0.1:6379", Destination: "[2001:db8::1]:6379", Slots: []SlotRange{{0, 16383}}},
				{Source: "a.example:6379", Destination: "[2001:db8::2]:6379", Slots: []SlotRange{{5, 5}, {7, 8}}},
			}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseNotice(tc.args)
			if err != nil {
				t.Fatalf("ParseNotice: %v", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("ParseNotice (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNoticeRefuses(t *testing.T) {
	for _, tc := range []struct {
		args []any
		want string // part of the error
	}{
		{nil, "empty"},
		{frame(nil), "name is null"},
		{frame("moving", int64(1)), "unknown name"},
		{frame("invalidate", nil), "unknown name"},
		{frame("MOVING"), "no sequence number"},
		{frame("MOVING", nil), "null is no number"},
		{frame("MOVING", "x"), "is no number"},
		{frame("MOVING", 1.5), "no whole number"},
		{frame("MOVING", math.NaN()), "no whole number"},
		{frame("MOVING", int64(-1), int64(15)), "negative"},
		{frame("MOVING", int64(1)), "no time"},
		{frame("MOVING", int64(1), nil), "time: null"},
		{frame("MOVING", int64(1), errors.New("x")), "an error is no number"},
		{frame("MOVING", int64(1), int64(1), []any{}), "endpoint is an array"},
		{frame("MOVING", int64(1), int64(1), int64(6379)), "endpoint is 6379"},
		{frame("MOVING", int64(1), int64(1), "10.0.0.1"), "no port"},
		{frame("MOVING", int64(1), int64(1), "10.0.0.1:"), "no port"},
		{frame("MOVING", int64(1), int64(1), "10.0.0.1:x"), "port is no number"},
		{frame("MOVING", int64(1), int64(1), "10.0.0.1:-1"), "port is no number"},
		{frame("MOVING", int64(1), int64(1), "10.0.0.1:65536"), "beyond 65535"},
		{frame("MOVING", int64(1), int64(1), "10.0.0.256:6379"), "looks like an IP"},
		{frame("MOVING", int64(1), int64(1), "a b:6379"), `has a ' '`},
		{frame("MOVING", int64(1), int64(1), "a\nb:6379"), `has a '\n'`},
		{frame("MOVING", int64(1), int64(1), "a..b:6379"), "label"},
		{frame("MOVING", int64(1), int64(1), "-a.b:6379"), "hyphen"},
		{frame("MOVING", int64(1), int64(1), strings.Repeat("a", 64)+":6379"), "label"},
		{frame("MOVING", int64(1), int64(1), strings.Repeat("a.", 200)+"b:6379"), "no name"},
		{frame("MOVING", int64(1), int64(1), "[::1:6379"), "not closed"},
		{frame("MOVING", int64(1), int64(1), "[10.0.0.1]:6379"), "no IPv6"},
		{frame("MOVING", int64(1), int64(1), "[::1]6379"), "behind the bracket"},
		{frame("MOVING", int64(1), int64(1), "[fe80::1%a b]:6379"), "zone"},
		{frame("MIGRATING", int64(1), "soon"), "no number"},
		{frame("MIGRATED", int64(1), `["2"`), "no JSON array"},
		{frame("MIGRATED", int64(1), `["2"]]`), "behind the array"},
		{frame("MIGRATED", int64(1), `[{}]`), "shard id is"},
		{frame("MIGRATED", int64(1), `[""]`), "empty"},
		{frame("MIGRATED", int64(1), 1.5), "shards are"},
		{frame("MIGRATED", int64(1), []any{nil}), "shard id is null"},
		{frame("SMIGRATING", int64(1)), "no slots"},
		{frame("SMIGRATING", int64(1), nil), "slots are null"},
		{frame("SMIGRATING", int64(1), ""), "no slot"},
		{frame("SMIGRATING", int64(1), "5-3"), "upside down"},
		{frame("SMIGRATING", int64(1), "16384"), "no slot"},
		{frame("SMIGRATING", int64(1), int64(16384)), "beyond"},
		{frame("SMIGRATED", int64(1)), "no moves"},
		{frame("SMIGRATED", int64(1), []any{}), "no moves"},
		{frame("SMIGRATED", int64(1), "x"), "not an array"},
		{frame("SMIGRATED", int64(1), []any{[]any{"10.0.0.1:1", "1-2"}}), "not [source"},        // a pair
		{frame("SMIGRATED", int64(1), []any{"10.0.0.1:1", "10.0.0.2:1", "1-2"}), "not [source"}, // flat
		{frame("SMIGRATED", int64(1), []any{[]any{"10.0.0.1:1", nil, "1-2"}}), "node is null"},
		{frame("SMIGRATED", int64(1), []any{[]any{"10.0.0.1:1", "?", "1-2"}}), "names no node"},
		{frame("SMIGRATED", int64(1), []any{[]any{"10.0.0.1:1", "10.0.0.2:1", "x"}}), "no slot"},
		{frame("SMIGRATED", int64(1), []any{[]any{"10.0.0.1", "10.0.0.2:1", "1"}}), "no port"},
		{frame("SMIGRATED", int64(1), []any{[]any{"10.0.0.1:1", "10.0.0.2:1", nil}}), "slots are"},
	} {
		_, err := ParseNotice(tc.args)
		if !errors.Is(err, ErrInvalidNotification) {
			t.Errorf("ParseNotice(%q): got error %v, want ErrInvalidNotification", tc.args, err)
			continue
		}
		if !strings.Contains(err.Error(), tc.want) {
			t.Errorf("ParseNotice(%q): got error %q, want one with %q", tc.args, err, tc.want)
		}
	}
}

func TestKindNames(t *testing.T) {
	for _, name := range []string{
		NotificationMoving, NotificationMigrating, NotificationMigrated, NotificationFailingOver,
		NotificationFailedOver, NotificationSMigrating, NotificationSMigrated,
	} {
		k, ok := KindOf(name)
		if !ok || k.String() != name {
			t.Errorf("KindOf(%q): got %v, %v", name, k, ok)
		}
	}
	for _, name := range []string{"", "message", "Moving"} {
		if k, ok := KindOf(name); ok {
			t.Errorf("KindOf(%q): got %v, want none", name, k)
		}
	}
	if got := Kind(99).String(); got != "Kind(99)" {
		t.Errorf("Kind(99).String() = %q", got)
	}
}

func TestNoticeString(t *testing.T) {
	for _, tc := range []struct {
		n    Notice
		want string
	}{
		{Notice{Kind: KindMoving, Seq: 5, Time: time.Second, HasTime: true}, "MOVING seq=5 time=1s endpoint=none"},
		{Notice{Kind: KindMigrated, Seq: 5, Shards: []string{"2", "4"}}, "MIGRATED seq=5 shards=2,4"},
		{Notice{Kind: KindSMigrating, Seq: 5, Slots: []SlotRange{{1, 1}, {3, 9}}}, "SMIGRATING seq=5 slots=1,3-9"},
		{
			Notice{Kind: KindSMigrated, Seq: 6, Moves: []SlotMove{{"a:1", "b:2", []SlotRange{{1, 2}}}}},
			"SMIGRATED seq=6 move=a:1>b:2[1-2]",
		},
	} {
		if got := tc.n.String(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

// render is the inverse of ParseNotice for normalised notices.
func render(n Notice) []any {
	args := []any{n.Kind.String(), n.Seq}
	if n.HasTime {
		args = append(args, int64(n.Time/time.Second))
	} else if n.Kind == KindMigrating || n.Kind == KindFailingOver {
		args = append(args, nil)
	}
	switch n.Kind {
	case KindMoving:
		args = append(args, n.Endpoint)
	case KindMigrating, KindMigrated, KindFailingOver, KindFailedOver:
		var shards []any
		for _, id := range n.Shards {
			shards = append(shards, id)
		}
		args = append(args, shards)
	case KindSMigrating:
		args = append(args, formatSlots(n.Slots))
	case KindSMigrated:
		var moves []any
		for _, mv := range n.Moves {
			moves = append(moves, []any{mv.Source, mv.Destination, formatSlots(mv.Slots)})
		}
		args = append(args, moves)
	}
	return args
}

// decodeFrame makes a frame of JSON, with the types that the protocol has.
func decodeFrame(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = decodeFrame(e)
		}
		return out
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		return errors.New("error reply")
	case string:
		return v
	}
	return nil
}

func FuzzParseNotice(f *testing.F) {
	for _, seed := range []string{
		`["MOVING",0,15,null]`, `["MOVING",1,-2,"2001:db8::1:6379"]`, `["MOVING","1","15","[::1]"]`,
		`["MOVING",1,15,"db.example.com.:6379"]`, `["MOVING",1,9e99,"[fe80::1%eth0]:1"]`,
		`["MIGRATING",1,2,"[\"2\",4]"]`, `["FAILED_OVER",1,["2",4]]`, `["MIGRATED",1,"2,4"]`,
		`["SMIGRATING",16,"1,5-9","7"]`, `["SMIGRATED",17,[["a:1","b:2","1-2"],["a:1","c:3","4"]]]`,
		`[{},[],1.5]`, `[]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		var list []any
		if dec.Decode(&list) != nil {
			return
		}
		args := decodeFrame(list).([]any)
		n, err := ParseNotice(args)
		if err != nil {
			if !errors.Is(err, ErrInvalidNotification) {
				t.Fatalf("error %v is not ErrInvalidNotification", err)
			}
			if diff := cmp.Diff(Notice{}, n); diff != "" {
				t.Fatalf("error with a notice:\n%s", diff)
			}
			return
		}
		again, err := ParseNotice(render(n))
		if err != nil {
			t.Fatalf("%v is accepted, its normal form is not: %v", n, err)
		}
		if diff := cmp.Diff(n, again); diff != "" {
			t.Fatalf("not normalised (-first +second):\n%s", diff)
		}
	})
}
