package redis

import (
	"errors"
	"slices"
	"time"
)

func genericCases() []commandCase {
	far := time.Unix(4102444800, 7e6)
	nums := []string{"rpush l 3 1 2"}
	return []commandCase{
		{name: "Del", setup: []string{"mset a 1 b 2"}, call: func(c commander) Cmder { return c.Del(bg, "a", "b", "c") }, args: "del a b c", want: int64(2)},
		{name: "Unlink", setup: []string{"mset a 1 b 2"}, call: func(c commander) Cmder { return c.Unlink(bg, "a", "c") }, args: "unlink a c", want: int64(1)},
		{name: "Exists", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.Exists(bg, "a", "a", "b") }, args: "exists a a b", want: int64(2)},
		{name: "Touch", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.Touch(bg, "a", "b") }, args: "touch a b", want: int64(1)},
		{name: "Type", setup: []string{"zadd z 1 m"}, call: func(c commander) Cmder { return c.Type(bg, "z") }, args: "type z", want: "zset"},
		{name: "Keys", setup: []string{"mset a1 1 b1 1"}, call: func(c commander) Cmder { return c.Keys(bg, "a*") }, args: "keys a*", want: []string{"a1"}},
		{name: "Keys/none", call: func(c commander) Cmder { return c.Keys(bg, "*") }, args: "keys *", want: []string{}},
		{name: "RandomKey", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.RandomKey(bg) }, args: "randomkey", want: "a"},
		{name: "Scan", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.Scan(bg, 0, "", 0) }, args: "scan 0", want: []any{[]string{"a"}, uint64(0)}},
		{name: "Scan/match", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.Scan(bg, 0, "b*", 100) }, args: "scan 0 match b* count 100", want: []any{[]string{}, uint64(0)}},
		{name: "ScanType", setup: []string{"set a 1", "lpush l 1"}, call: func(c commander) Cmder { return c.ScanType(bg, 0, "", 50, "list") }, args: "scan 0 count 50 type list", want: []any{[]string{"l"}, uint64(0)}},
		{name: "Expire", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.Expire(bg, "a", time.Minute) }, args: "expire a 60", want: true},
		{name: "Expire/short", call: func(c commander) Cmder { return c.Expire(bg, "a", time.Millisecond) }, args: "expire a 1", want: false},
		{name: "ExpireNX", setup: []string{"set a 1 ex 10"}, call: func(c commander) Cmder { return c.ExpireNX(bg, "a", time.Minute) }, args: "expire a 60 nx", want: false, since: "7.0"},
		{name: "ExpireXX", setup: []string{"set a 1 ex 10"}, call: func(c commander) Cmder { return c.ExpireXX(bg, "a", time.Minute) }, args: "expire a 60 xx", want: true, since: "7.0"},
		{name: "ExpireGT", setup: []string{"set a 1 ex 10"}, call: func(c commander) Cmder { return c.ExpireGT(bg, "a", time.Minute) }, args: "expire a 60 gt", want: true, since: "7.0"},
		{name: "ExpireLT", setup: []string{"set a 1 ex 10"}, call: func(c commander) Cmder { return c.ExpireLT(bg, "a", time.Minute) }, args: "expire a 60 lt", want: false, since: "7.0"},
		{name: "ExpireAt", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.ExpireAt(bg, "a", far) }, args: "expireat a 4102444800", want: true},
		{name: "ExpireTime", setup: []string{"set a 1", "expireat a 4102444800"}, call: func(c commander) Cmder { return c.ExpireTime(bg, "a") }, args: "expiretime a", want: 4102444800 * time.Second, since: "7.0"},
		{name: "PExpire", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.PExpire(bg, "a", 1500*time.Millisecond) }, args: "pexpire a 1500", want: true},
		{name: "PExpire/short", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.PExpire(bg, "a", time.Nanosecond) }, args: "pexpire a 1", want: true},
		{name: "PExpireAt", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.PExpireAt(bg, "a", far) }, args: "pexpireat a 4102444800007", want: true},
		{name: "PExpireTime", setup: []string{"set a 1", "pexpireat a 4102444800007"}, call: func(c commander) Cmder { return c.PExpireTime(bg, "a") }, args: "pexpiretime a", want: 4102444800007 * time.Millisecond, since: "7.0"},
		{name: "TTL", setup: []string{"set a 1 ex 100"}, call: func(c commander) Cmder { return c.TTL(bg, "a") }, args: "ttl a", want: within(100 * time.Second)},
		{name: "TTL/never", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.TTL(bg, "a") }, args: "ttl a", want: time.Duration(-1)},
		{name: "TTL/none", call: func(c commander) Cmder { return c.TTL(bg, "a") }, args: "ttl a", want: time.Duration(-2)},
		{name: "PTTL", setup: []string{"set a 1 ex 100"}, call: func(c commander) Cmder { return c.PTTL(bg, "a") }, args: "pttl a", want: within(100 * time.Second)},
		{name: "PTTL/none", call: func(c commander) Cmder { return c.PTTL(bg, "a") }, args: "pttl a", want: time.Duration(-2)},
		{name: "Persist", setup: []string{"set a 1 ex 10"}, call: func(c commander) Cmder { return c.Persist(bg, "a") }, args: "persist a", want: true},
		{name: "Rename", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.Rename(bg, "a", "b") }, args: "rename a b", want: "OK"},
		{name: "Rename/none", call: func(c commander) Cmder { return c.Rename(bg, "a", "b") }, args: "rename a b", want: errors.New("ERR no such key")},
		{name: "RenameNX", setup: []string{"mset a 1 b 2"}, call: func(c commander) Cmder { return c.RenameNX(bg, "a", "b") }, args: "renamenx a b", want: false},
		{name: "Copy", setup: []string{"mset a 1 b 2"}, call: func(c commander) Cmder { return c.Copy(bg, "a", "b", 0, false) }, args: "copy a b db 0", want: int64(0)},
		{name: "Copy/replace", setup: []string{"mset a 1 b 2"}, call: func(c commander) Cmder { return c.Copy(bg, "a", "b", 0, true) }, args: "copy a b db 0 replace", want: int64(1)},
		{name: "Move", call: func(c commander) Cmder { return c.Move(bg, "a", 1) }, args: "move a 1", want: false},
		{name: "Migrate", call: func(c commander) Cmder { return c.Migrate(bg, "127.0.0.1", "1", "a", 2, time.Second) }, args: "migrate 127.0.0.1 1 a 2 1000", want: "NOKEY"},
		{name: "Dump", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.Dump(bg, "a") }, args: "dump a", want: func(v any) bool { s, _ := v.(string); return len(s) > 10 }},
		{name: "Dump/none", call: func(c commander) Cmder { return c.Dump(bg, "a") }, args: "dump a", want: Nil},
		{name: "Restore", call: func(c commander) Cmder { return c.Restore(bg, "a", 0, "junk") }, args: "restore a 0 junk", want: errors.New("ERR DUMP payload")},
		{name: "RestoreReplace", call: func(c commander) Cmder { return c.RestoreReplace(bg, "a", 2*time.Second, "junk") }, args: "restore a 2000 junk replace", want: errors.New("ERR DUMP payload")},
		{name: "ObjectEncoding", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.ObjectEncoding(bg, "a") }, args: "object encoding a", want: "int"},
		{name: "ObjectFreq", call: func(c commander) Cmder { return c.ObjectFreq(bg, "a") }, args: "object freq a", want: Nil},
		{name: "ObjectIdleTime", setup: []string{"set a 1"}, call: func(c commander) Cmder { return c.ObjectIdleTime(bg, "a") }, args: "object idletime a", want: within(time.Second)},
		{name: "ObjectRefCount", setup: []string{"lpush a 1"}, call: func(c commander) Cmder { return c.ObjectRefCount(bg, "a") }, args: "object refcount a", want: int64(1)},
		{name: "Sort", setup: nums, call: func(c commander) Cmder { return c.Sort(bg, "l", &Sort{}) }, args: "sort l", want: []string{"1", "2", "3"}},
		{name: "Sort/nil", setup: nums, call: func(c commander) Cmder { return c.Sort(bg, "l", nil) }, args: "sort l", want: []string{"1", "2", "3"}},
		{name: "Sort/all", setup: []string{"rpush l 3 1 2", "mset w1 3 w2 2 w3 1 v1 one v2 two"}, call: func(c commander) Cmder {
			return c.Sort(bg, "l", &Sort{By: "w*", Offset: 0, Count: 2, Get: []string{"#", "v*"}, Order: "DESC", Alpha: true})
		}, args: "sort l by w* limit 0 2 get # get v* DESC alpha", want: []string{"1", "one", "2", "two"}},
		{name: "SortRO", setup: nums, call: func(c commander) Cmder { return c.SortRO(bg, "l", &Sort{Offset: 1, Count: -1}) }, args: "sort_ro l limit 1 -1", want: []string{"2", "3"}, since: "7.0"},
		{name: "SortStore", setup: nums, call: func(c commander) Cmder { return c.SortStore(bg, "l", "d", &Sort{Order: "ASC"}) }, args: "sort l ASC store d", want: int64(3)},
		{name: "SortInterfaces", setup: []string{"rpush l 2 1", "set v1 one"}, call: func(c commander) Cmder {
			return c.SortInterfaces(bg, "l", &Sort{Get: []string{"v*"}})
		}, args: "sort l get v*", want: []any{"one", nil}},
	}
}

func bitmapCases() []commandCase {
	foobar := []string{"set k foobar"}
	two := []string{"set a abc", "set b abd"}
	op := func(name, word string) commandCase {
		keys := "a b"
		if word == "not" {
			keys = "a"
		}
		tc := commandCase{name: name, setup: two, args: "bitop " + word + " d " + keys, want: int64(3)}
		if slices.Contains([]string{"diff", "diff1", "andor", "one"}, word) {
			tc.since, tc.valkey, tc.r2 = "8.2", "-", ":3\r\n"
		}
		return tc
	}
	with := func(tc commandCase, call func(c commander) Cmder) commandCase {
		tc.call = call
		return tc
	}
	return []commandCase{
		{name: "BitCount", setup: foobar, call: func(c commander) Cmder { return c.BitCount(bg, "k", nil) }, args: "bitcount k", want: int64(26)},
		{name: "BitCount/range", setup: foobar, call: func(c commander) Cmder { return c.BitCount(bg, "k", &BitCount{Start: 1, End: 1}) }, args: "bitcount k 1 1", want: int64(6)},
		{name: "BitCount/bit", setup: foobar, call: func(c commander) Cmder {
			return c.BitCount(bg, "k", &BitCount{Start: 5, End: 30, Unit: BitCountIndexBit})
		}, args: "bitcount k 5 30 BIT", want: int64(17), since: "7.0"},
		{name: "GetBit", setup: foobar, call: func(c commander) Cmder { return c.GetBit(bg, "k", 1) }, args: "getbit k 1", want: int64(1)},
		{name: "SetBit", setup: foobar, call: func(c commander) Cmder { return c.SetBit(bg, "k", 1, 0) }, args: "setbit k 1 0", want: int64(1)},
		{name: "BitPos", setup: foobar, call: func(c commander) Cmder { return c.BitPos(bg, "k", 1) }, args: "bitpos k 1", want: int64(1)},
		{name: "BitPos/range", setup: foobar, call: func(c commander) Cmder { return c.BitPos(bg, "k", 0, 1, -1) }, args: "bitpos k 0 1 -1", want: int64(8)},
		{name: "BitPosSpan", setup: foobar, call: func(c commander) Cmder { return c.BitPosSpan(bg, "k", 1, 8, -1, "bit") }, args: "bitpos k 1 8 -1 bit", want: int64(9), since: "7.0"},
		{name: "BitField", call: func(c commander) Cmder { return c.BitField(bg, "k", "incrby", "u8", 0, 3, "get", "u4", 4) }, args: "bitfield k incrby u8 0 3 get u4 4", want: []int64{3, 3}},
		{name: "BitField/fail", call: func(c commander) Cmder {
			return c.BitField(bg, "k", "overflow", "fail", "incrby", "u1", 0, 2)
		}, args: "bitfield k overflow fail incrby u1 0 2", want: Nil},
		{name: "BitFieldRO", setup: foobar, call: func(c commander) Cmder { return c.BitFieldRO(bg, "k", "u8", 0, "u4", 4) }, args: "bitfield_ro k get u8 0 get u4 4", want: []int64{102, 6}},
		with(op("BitOpAnd", "and"), func(c commander) Cmder { return c.BitOpAnd(bg, "d", "a", "b") }),
		with(op("BitOpOr", "or"), func(c commander) Cmder { return c.BitOpOr(bg, "d", "a", "b") }),
		with(op("BitOpXor", "xor"), func(c commander) Cmder { return c.BitOpXor(bg, "d", "a", "b") }),
		with(op("BitOpNot", "not"), func(c commander) Cmder { return c.BitOpNot(bg, "d", "a") }),
		with(op("BitOpDiff", "diff"), func(c commander) Cmder { return c.BitOpDiff(bg, "d", "a", "b") }),
		with(op("BitOpDiff1", "diff1"), func(c commander) Cmder { return c.BitOpDiff1(bg, "d", "a", "b") }),
		with(op("BitOpAndOr", "andor"), func(c commander) Cmder { return c.BitOpAndOr(bg, "d", "a", "b") }),
		with(op("BitOpOne", "one"), func(c commander) Cmder { return c.BitOpOne(bg, "d", "a", "b") }),
		{name: "PFAdd", call: func(c commander) Cmder { return c.PFAdd(bg, "k", "a", 1) }, args: "pfadd k a 1", want: int64(1)},
		{name: "PFCount", setup: []string{"pfadd k a b c"}, call: func(c commander) Cmder { return c.PFCount(bg, "k", "l") }, args: "pfcount k l", want: int64(3)},
		{name: "PFMerge", setup: []string{"pfadd k a b c"}, call: func(c commander) Cmder { return c.PFMerge(bg, "d", "k", "l") }, args: "pfmerge d k l", want: "OK"},
	}
}
