package redis

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"
)

func stringCases() []commandCase {
	at := time.Unix(4102444800, 0)
	return []commandCase{
		{name: "Get", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.Get(bg, "k") }, args: "get k", want: "v"},
		{name: "Get/none", call: func(c commander) Cmder { return c.Get(bg, "k") }, args: "get k", want: Nil},
		{name: "Get/empty", setup: []string{"append k "}, call: func(c commander) Cmder { return c.Get(bg, "k") }, args: "get k", want: ""},
		{name: "Get/wrong", setup: []string{"lpush k v"}, call: func(c commander) Cmder { return c.Get(bg, "k") }, args: "get k", want: errors.New("WRONGTYPE")},
		{name: "Set", call: func(c commander) Cmder { return c.Set(bg, "k", "a b", 0) }, exact: []string{"set", "k", "a b"}, want: "OK"},
		{name: "Set/ex", call: func(c commander) Cmder { return c.Set(bg, "k", 7, 2*time.Second) }, args: "set k 7 ex 2", want: "OK"},
		{name: "Set/px", call: func(c commander) Cmder { return c.Set(bg, "k", true, 1500*time.Millisecond) }, args: "set k 1 px 1500", want: "OK"},
		{name: "Set/short", call: func(c commander) Cmder { return c.Set(bg, "k", 1.5, time.Microsecond) }, args: "set k 1.5 px 1", want: "OK"},
		{name: "Set/keepttl", call: func(c commander) Cmder { return c.Set(bg, "k", []byte("v"), KeepTTL) }, args: "set k v keepttl", want: "OK"},
		{name: "Set/time", call: func(c commander) Cmder { return c.Set(bg, "k", at.UTC(), 0) }, args: "set k 2100-01-01T00:00:00Z", want: "OK"},
		{name: "Set/duration", call: func(c commander) Cmder { return c.Set(bg, "k", time.Microsecond, 0) }, args: "set k 1000", want: "OK"},
		{name: "Set/nil", call: func(c commander) Cmder { return c.Set(bg, "k", nil, 0) }, exact: []string{"set", "k", ""}, want: "OK"},
		{name: "SetEx", call: func(c commander) Cmder { return c.SetEx(bg, "k", "v", time.Minute) }, args: "setex k 60 v", want: "OK"},
		{name: "SetEx/short", call: func(c commander) Cmder { return c.SetEx(bg, "k", "v", time.Millisecond) }, args: "setex k 1 v", want: "OK"},
		{name: "SetNX", call: func(c commander) Cmder { return c.SetNX(bg, "k", "v", 0) }, args: "setnx k v", want: true},
		{name: "SetNX/exists", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.SetNX(bg, "k", "v", 0) }, args: "setnx k v", want: false},
		{name: "SetNX/ex", call: func(c commander) Cmder { return c.SetNX(bg, "k", "v", time.Second) }, args: "set k v ex 1 nx", want: true},
		{name: "SetNX/ex-exists", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.SetNX(bg, "k", "v", time.Second) }, args: "set k v ex 1 nx", want: false},
		{name: "SetNX/keepttl", call: func(c commander) Cmder { return c.SetNX(bg, "k", "v", KeepTTL) }, args: "set k v keepttl nx", want: true},
		{name: "SetXX", call: func(c commander) Cmder { return c.SetXX(bg, "k", "v", 0) }, args: "set k v xx", want: false},
		{name: "SetXX/exists", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.SetXX(bg, "k", "v", KeepTTL) }, args: "set k v keepttl xx", want: true},
		{name: "SetXX/px", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.SetXX(bg, "k", "v", time.Millisecond) }, args: "set k v px 1 xx", want: true},
		{name: "SetArgs", call: func(c commander) Cmder { return c.SetArgs(bg, "k", "v", SetArgs{}) }, args: "set k v", want: "OK"},
		{name: "SetArgs/nx", setup: []string{"set k v"}, call: func(c commander) Cmder {
			return c.SetArgs(bg, "k", "v", SetArgs{Mode: "NX", TTL: time.Second})
		}, args: "set k v ex 1 NX", want: Nil},
		{name: "SetArgs/get", setup: []string{"set k old"}, call: func(c commander) Cmder {
			return c.SetArgs(bg, "k", "v", SetArgs{Mode: "XX", Get: true, KeepTTL: true})
		}, args: "set k v keepttl XX get", want: "old"},
		{name: "SetArgs/exat", call: func(c commander) Cmder {
			return c.SetArgs(bg, "k", "v", SetArgs{ExpireAt: at, TTL: time.Second})
		}, args: "set k v exat 4102444800", want: "OK"},
		{name: "SetArgs/ifeq", call: func(c commander) Cmder {
			return c.SetArgs(bg, "k", "v", SetArgs{Mode: "IFEQ", MatchValue: "w"})
		}, args: "set k v IFEQ w", want: Nil, since: "8.4", valkey: "8.1", r2: "$-1\r\n", r3: "_\r\n"},
		{name: "SetArgs/ifdne", call: func(c commander) Cmder {
			return c.SetArgs(bg, "k", "v", SetArgs{Mode: "IFDNE", MatchDigest: 0xabc, TTL: time.Millisecond})
		}, args: "set k v px 1 IFDNE 0000000000000abc", want: "OK", since: "8.4", valkey: "-", r2: "+OK\r\n"},
		{name: "GetSet", setup: []string{"set k old"}, call: func(c commander) Cmder { return c.GetSet(bg, "k", 1) }, args: "getset k 1", want: "old"},
		{name: "GetEx", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.GetEx(bg, "k", time.Second) }, args: "getex k ex 1", want: "v"},
		{name: "GetEx/px", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.GetEx(bg, "k", 1100*time.Millisecond) }, args: "getex k px 1100", want: "v"},
		{name: "GetEx/persist", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.GetEx(bg, "k", 0) }, args: "getex k persist", want: "v"},
		{name: "GetEx/keep", call: func(c commander) Cmder { return c.GetEx(bg, "k", KeepTTL) }, args: "getex k", want: Nil},
		{name: "GetDel", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.GetDel(bg, "k") }, args: "getdel k", want: "v"},
		{name: "GetRange", setup: []string{"set k hello"}, call: func(c commander) Cmder { return c.GetRange(bg, "k", 1, -2) }, args: "getrange k 1 -2", want: "ell"},
		{name: "SetRange", setup: []string{"set k hello"}, call: func(c commander) Cmder { return c.SetRange(bg, "k", 1, "i") }, args: "setrange k 1 i", want: int64(5)},
		{name: "Append", setup: []string{"set k a"}, call: func(c commander) Cmder { return c.Append(bg, "k", "bc") }, args: "append k bc", want: int64(3)},
		{name: "StrLen", setup: []string{"set k abc"}, call: func(c commander) Cmder { return c.StrLen(bg, "k") }, args: "strlen k", want: int64(3)},
		{name: "Incr", call: func(c commander) Cmder { return c.Incr(bg, "k") }, args: "incr k", want: int64(1)},
		{name: "Incr/text", setup: []string{"set k text"}, call: func(c commander) Cmder { return c.Incr(bg, "k") }, args: "incr k", want: errors.New("ERR value is not an integer")},
		{name: "IncrBy", setup: []string{"set k 4"}, call: func(c commander) Cmder { return c.IncrBy(bg, "k", 1234567) }, args: "incrby k 1234567", want: int64(1234571)},
		{name: "IncrByFloat", setup: []string{"set k 10.5"}, call: func(c commander) Cmder { return c.IncrByFloat(bg, "k", 0.1) }, args: "incrbyfloat k 0.1", want: 10.6},
		{name: "Decr", call: func(c commander) Cmder { return c.Decr(bg, "k") }, args: "decr k", want: int64(-1)},
		{name: "DecrBy", setup: []string{"set k 5"}, call: func(c commander) Cmder { return c.DecrBy(bg, "k", 3) }, args: "decrby k 3", want: int64(2)},
		{name: "MGet", setup: []string{"set a 1", "lpush c x"}, call: func(c commander) Cmder { return c.MGet(bg, "a", "b", "c") }, args: "mget a b c", want: []any{"1", nil, nil}},
		{name: "MSet", call: func(c commander) Cmder { return c.MSet(bg, "a", 1, "b", "two") }, args: "mset a 1 b two", want: "OK"},
		{name: "MSet/slice", call: func(c commander) Cmder { return c.MSet(bg, []string{"a", "1", "b", "2"}) }, args: "mset a 1 b 2", want: "OK"},
		{name: "MSet/any", call: func(c commander) Cmder { return c.MSet(bg, []any{"a", 1, "b", 2.5}) }, args: "mset a 1 b 2.5", want: "OK"},
		{name: "MSet/map", call: func(c commander) Cmder { return c.MSet(bg, map[string]any{"a": 1}) }, args: "mset a 1", want: "OK"},
		{name: "MSet/strings", call: func(c commander) Cmder { return c.MSet(bg, map[string]string{"a": "x"}) }, args: "mset a x", want: "OK"},
		{name: "MSet/struct", call: func(c commander) Cmder {
			return c.MSet(bg, struct {
				A string `redis:"a"`
				B int    `redis:"b"`
			}{"x", 2})
		}, args: "mset a x b 2", want: "OK"},
		{name: "MSetNX", setup: []string{"set b 1"}, call: func(c commander) Cmder { return c.MSetNX(bg, "a", 1, "b", 2) }, args: "msetnx a 1 b 2", want: false},
	}
}

func stringCondCases() []commandCase {
	set := []string{"set k old"}
	return []commandCase{
		{name: "SetIFEQ", setup: set, call: func(c commander) Cmder { return c.SetIFEQ(bg, "k", "v", "old", time.Second) }, args: "set k v ex 1 ifeq old", want: "OK", since: "8.4", valkey: "8.1", r2: "+OK\r\n"},
		{name: "SetIFEQGet", setup: set, call: func(c commander) Cmder { return c.SetIFEQGet(bg, "k", "v", "old", 0) }, args: "set k v ifeq old get", want: "old", since: "8.4", valkey: "8.1", r2: "$3\r\nold\r\n"},
		{name: "SetIFNE", setup: set, call: func(c commander) Cmder { return c.SetIFNE(bg, "k", "v", "old", 0) }, args: "set k v ifne old", want: Nil, since: "8.4", valkey: "-", r2: "$-1\r\n", r3: "_\r\n"},
		{name: "SetIFNEGet", call: func(c commander) Cmder { return c.SetIFNEGet(bg, "k", "v", "old", KeepTTL) }, args: "set k v keepttl ifne old get", want: Nil, since: "8.4", valkey: "-", r2: "$-1\r\n", r3: "_\r\n"},
		{name: "SetIFDEQ", call: func(c commander) Cmder { return c.SetIFDEQ(bg, "k", "v", 1, 0) }, args: "set k v ifdeq 0000000000000001", want: Nil, since: "8.4", valkey: "-", r2: "$-1\r\n", r3: "_\r\n"},
		{name: "SetIFDEQGet", call: func(c commander) Cmder { return c.SetIFDEQGet(bg, "k", "v", 1<<63, 0) }, args: "set k v ifdeq 8000000000000000 get", want: Nil, since: "8.4", valkey: "-", r2: "$-1\r\n", r3: "_\r\n"},
		{name: "SetIFDNE", call: func(c commander) Cmder { return c.SetIFDNE(bg, "k", "v", 1, 0) }, args: "set k v ifdne 0000000000000001", want: "OK", since: "8.4", valkey: "-", r2: "+OK\r\n"},
		{name: "SetIFDNEGet", call: func(c commander) Cmder { return c.SetIFDNEGet(bg, "k", "v", 1, 0) }, args: "set k v ifdne 0000000000000001 get", want: Nil, since: "8.4", valkey: "-", r2: "$-1\r\n", r3: "_\r\n"},
		{name: "DelExArgs", setup: set, call: func(c commander) Cmder {
			return c.DelExArgs(bg, "k", DelExArgs{Mode: "IFEQ", MatchValue: "old"})
		}, args: "delex k IFEQ old", want: int64(1), since: "8.4", valkey: "-", r2: ":1\r\n"},
		{name: "Digest", setup: set, call: func(c commander) Cmder { return c.Digest(bg, "k") }, args: "digest k", want: uint64(0xb6acb9d84a38ff74), since: "8.4", valkey: "-", r2: "$16\r\nb6acb9d84a38ff74\r\n"},
		{name: "MSetEX", call: func(c commander) Cmder {
			return c.MSetEX(bg, MSetEXArgs{Condition: NX, Expiration: &ExpirationOption{Mode: EX, Value: 10}}, "a", 1, "b", 2)
		}, args: "msetex 2 a 1 b 2 NX EX 10", want: int64(1), since: "8.4", valkey: "-", r2: ":1\r\n"},
		{name: "MSetEX/map", call: func(c commander) Cmder {
			return c.MSetEX(bg, MSetEXArgs{Expiration: &ExpirationOption{Mode: KEEPTTL, Value: 10}}, map[string]any{"a": 1})
		}, args: "msetex 1 a 1 KEEPTTL", want: int64(1), since: "8.4", valkey: "-", r2: ":1\r\n"},
		{name: "IncrEXInt", call: func(c commander) Cmder { return c.IncrEXInt(bg, "k", IncrEXIntArgs{}) }, args: "increx k", want: IncrEXIntResult{1, 1}, since: "8.8", valkey: "9.2", r2: "*2\r\n:1\r\n:1\r\n"},
		{name: "IncrEXInt/all", call: func(c commander) Cmder {
			return c.IncrEXInt(bg, "k", IncrEXIntArgs{
				HasBy: true, By: 5, HasLBound: true, LBound: -1, HasUBound: true, UBound: 3, Saturate: true,
				Expiration: &ExpirationOption{Mode: PX, Value: 100}, ENX: true,
			})
		}, args: "increx k byint 5 lbound -1 ubound 3 saturate PX 100 enx", want: IncrEXIntResult{3, 3}, since: "8.8", valkey: "9.2", r2: "*2\r\n:3\r\n:3\r\n"},
		{name: "IncrEXFloat", call: func(c commander) Cmder {
			return c.IncrEXFloat(bg, "k", IncrEXFloatArgs{
				By: 1.5, HasLBound: true, LBound: 0, HasUBound: true, UBound: 1, Saturate: true,
				Expiration: &ExpirationOption{Mode: PERSIST},
			})
		}, args: "increx k byfloat 1.5 lbound 0 ubound 1 saturate PERSIST", want: IncrEXFloatResult{1, 1}, since: "8.8", valkey: "9.2", r2: "*2\r\n$1\r\n1\r\n$1\r\n1\r\n", r3: "*2\r\n,1\r\n,1\r\n"},
		{name: "GetToBuffer", setup: set, call: func(c commander) Cmder { return c.GetToBuffer(bg, "k", make([]byte, 10)) }, args: "get k", want: 3},
		{name: "SetFromBuffer", call: func(c commander) Cmder { return c.SetFromBuffer(bg, "k", []byte("v\r\n")) }, exact: []string{"set", "k", "v\r\n"}, want: "OK"},
		{name: "LCS", setup: []string{"mset a ohmytext b mynewtext"}, call: func(c commander) Cmder { return c.LCS(bg, &LCSQuery{Key1: "a", Key2: "b"}) }, args: "lcs a b", want: &LCSMatch{MatchString: "mytext"}, since: "7.0"},
		{name: "LCS/len", setup: []string{"mset a ohmytext b mynewtext"}, call: func(c commander) Cmder {
			return c.LCS(bg, &LCSQuery{Key1: "a", Key2: "b", Len: true})
		}, args: "lcs a b len", want: &LCSMatch{Len: 6}, since: "7.0"},
		{name: "LCS/idx", setup: []string{"mset a ohmytext b mynewtext"}, call: func(c commander) Cmder {
			return c.LCS(bg, &LCSQuery{Key1: "a", Key2: "b", Idx: true})
		}, args: "lcs a b idx", want: &LCSMatch{Len: 6, Matches: []LCSMatchedPosition{
			{Key1: LCSPosition{4, 7}, Key2: LCSPosition{5, 8}},
			{Key1: LCSPosition{2, 3}, Key2: LCSPosition{0, 1}},
		}}, since: "7.0"},
		{name: "LCS/matchlen", setup: []string{"mset a ohmytext b mynewtext"}, call: func(c commander) Cmder {
			return c.LCS(bg, &LCSQuery{Key1: "a", Key2: "b", Idx: true, MinMatchLen: 3, WithMatchLen: true})
		}, args: "lcs a b idx minmatchlen 3 withmatchlen", want: &LCSMatch{Len: 6, Matches: []LCSMatchedPosition{
			{Key1: LCSPosition{4, 7}, Key2: LCSPosition{5, 8}, MatchLen: 4},
		}}, since: "7.0"},
	}
}

func TestBufferThatIsTooSmall(t *testing.T) {
	take := cmdable(func(_ context.Context, _ Cmder) error { return nil })
	cmd := take.GetToBuffer(bg, "k", make([]byte, 2))
	feed(cmd, "$3\r\nabc\r\n")
	if cmd.Err() == nil || cmd.Val() != 0 {
		t.Errorf("got %d, %v, want an error", cmd.Val(), cmd.Err())
	}
	cmd = take.GetToBuffer(bg, "k", make([]byte, 5))
	feed(cmd, "$3\r\nabc\r\n")
	if string(cmd.Bytes()) != "abc" {
		t.Errorf("got %q, want abc", cmd.Bytes())
	}
}

// An argument that can't be encoded must not be sent, and the error says which.
func TestArgumentsThatCantBeEncoded(t *testing.T) {
	c := cmdable(func(_ context.Context, cmd Cmder) error { return cmd.Err() })
	type named string
	for _, cmd := range []Cmder{
		c.Set(bg, "k", named("v"), 0), c.Set(bg, "k", struct{}{}, 0), c.MSet(bg, "k", make(chan int)),
		c.HSet(bg, "h", map[string]any{"f": []int{1}}), c.MSetEX(bg, MSetEXArgs{}, "k", named("v")),
		c.ZAdd(bg, "z", Z{Member: []string{"a"}}), c.BitPos(bg, "k", 1, 1, 2, 3), c.ZPopMin(bg, "z", 1, 2),
		c.BitFieldRO(bg, "k", "u8"), c.MemoryUsage(bg, "k", 1, 2),
	} {
		e, ok := errors.AsType[*CommandError](cmd.Err())
		if !ok || e.Delivery != NotSent || e.Command != cmd.Name() {
			t.Errorf("%v: got error %#v, want one that says that it was not sent", cmd.Args(), cmd.Err())
		}
	}
	if err := c.Set(bg, "k", netip.MustParseAddr("::1"), 0).Err(); err != nil {
		t.Errorf("a BinaryMarshaler: %v", err)
	}
}
