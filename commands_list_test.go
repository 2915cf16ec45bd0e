package redis

import "time"

func listCases() []commandCase {
	abc := []string{"rpush l a b c"}
	some := []string{"rpush l a b c a"}
	tick := 10 * time.Millisecond
	return []commandCase{
		{name: "LPush", call: func(c commander) Cmder { return c.LPush(bg, "l", "a", 1) }, args: "lpush l a 1", want: int64(2)},
		{name: "LPush/slice", call: func(c commander) Cmder { return c.LPush(bg, "l", []string{"a", "b"}) }, args: "lpush l a b", want: int64(2)},
		{name: "RPush", call: func(c commander) Cmder { return c.RPush(bg, "l", []any{"a", 2.5}) }, args: "rpush l a 2.5", want: int64(2)},
		{name: "LPushX", call: func(c commander) Cmder { return c.LPushX(bg, "l", "a") }, args: "lpushx l a", want: int64(0)},
		{name: "RPushX", setup: abc, call: func(c commander) Cmder { return c.RPushX(bg, "l", "d") }, args: "rpushx l d", want: int64(4)},
		{name: "LPop", setup: abc, call: func(c commander) Cmder { return c.LPop(bg, "l") }, args: "lpop l", want: "a"},
		{name: "LPop/none", call: func(c commander) Cmder { return c.LPop(bg, "l") }, args: "lpop l", want: Nil},
		{name: "RPop", setup: abc, call: func(c commander) Cmder { return c.RPop(bg, "l") }, args: "rpop l", want: "c"},
		{name: "LPopCount", setup: abc, call: func(c commander) Cmder { return c.LPopCount(bg, "l", 2) }, args: "lpop l 2", want: []string{"a", "b"}},
		{name: "LPopCount/none", call: func(c commander) Cmder { return c.LPopCount(bg, "l", 2) }, args: "lpop l 2", want: Nil},
		{name: "RPopCount", setup: abc, call: func(c commander) Cmder { return c.RPopCount(bg, "l", 2) }, args: "rpop l 2", want: []string{"c", "b"}},
		{name: "BLPop", setup: abc, call: func(c commander) Cmder { return c.BLPop(bg, time.Second, "x", "l") }, args: "blpop x l 1", want: []string{"l", "a"}},
		{name: "BLPop/timeout", call: func(c commander) Cmder { return c.BLPop(bg, tick, "l") }, args: "blpop l 0.01", want: Nil},
		{name: "BRPop", setup: abc, call: func(c commander) Cmder { return c.BRPop(bg, 0, "l") }, args: "brpop l 0", want: []string{"l", "c"}},
		{name: "BRPopLPush", setup: abc, call: func(c commander) Cmder { return c.BRPopLPush(bg, "l", "m", 1500*time.Millisecond) }, args: "brpoplpush l m 1.5", want: "c"},
		{name: "BRPopLPush/timeout", call: func(c commander) Cmder { return c.BRPopLPush(bg, "l", "m", tick) }, args: "brpoplpush l m 0.01", want: Nil},
		{name: "RPopLPush", setup: abc, call: func(c commander) Cmder { return c.RPopLPush(bg, "l", "m") }, args: "rpoplpush l m", want: "c"},
		{name: "LMove", setup: abc, call: func(c commander) Cmder { return c.LMove(bg, "l", "m", "LEFT", "RIGHT") }, args: "lmove l m LEFT RIGHT", want: "a"},
		{name: "BLMove", setup: abc, call: func(c commander) Cmder { return c.BLMove(bg, "l", "m", "left", "right", time.Second) }, args: "blmove l m left right 1", want: "a"},
		{name: "BLMove/timeout", call: func(c commander) Cmder { return c.BLMove(bg, "l", "m", "left", "right", tick) }, args: "blmove l m left right 0.01", want: Nil},
		{name: "LMoveM", call: func(c commander) Cmder { return c.LMoveM(bg, "l", "m", "left", "right", LMoveMArgs{}) }, args: "lmovem l m left right", want: []string{"a"}, since: "8.10", valkey: "-", r2: "*1\r\n$1\r\na\r\n"},
		{name: "LMoveM/count", call: func(c commander) Cmder {
			return c.LMoveM(bg, "l", "m", "left", "right", LMoveMArgs{Count: 2})
		}, args: "lmovem l m left right COUNT 2 OBO", want: []string{"a", "b"}, since: "8.10", valkey: "-", r2: "*2\r\n$1\r\na\r\n$1\r\nb\r\n"},
		{name: "BLMoveM", call: func(c commander) Cmder {
			return c.BLMoveM(bg, "l", "m", "left", "right", time.Second, LMoveMArgs{Mode: LMoveMExactly, Count: 2, Order: LMoveMBulk})
		}, args: "blmovem l m left right 1 EXACTLY 2 BULK", want: Nil, since: "8.10", valkey: "-", r2: "*-1\r\n", r3: "_\r\n"},
		{name: "LMPop", setup: abc, call: func(c commander) Cmder { return c.LMPop(bg, "left", 2, "x", "l") }, args: "lmpop 2 x l left count 2", want: []any{"l", []string{"a", "b"}}, since: "7.0"},
		{name: "LMPop/none", call: func(c commander) Cmder { return c.LMPop(bg, "left", 2, "x") }, args: "lmpop 1 x left count 2", want: Nil, since: "7.0"},
		{name: "BLMPop", setup: abc, call: func(c commander) Cmder { return c.BLMPop(bg, time.Second, "right", 1, "l") }, args: "blmpop 1 1 l right count 1", want: []any{"l", []string{"c"}}, since: "7.0"},
		{name: "BLMPop/timeout", call: func(c commander) Cmder { return c.BLMPop(bg, tick, "right", 1, "l") }, args: "blmpop 0.01 1 l right count 1", want: Nil, since: "7.0"},
		{name: "LLen", setup: abc, call: func(c commander) Cmder { return c.LLen(bg, "l") }, args: "llen l", want: int64(3)},
		{name: "LRange", setup: abc, call: func(c commander) Cmder { return c.LRange(bg, "l", 0, -1) }, args: "lrange l 0 -1", want: []string{"a", "b", "c"}},
		{name: "LRange/none", call: func(c commander) Cmder { return c.LRange(bg, "l", 0, -1) }, args: "lrange l 0 -1", want: []string{}},
		{name: "LIndex", setup: abc, call: func(c commander) Cmder { return c.LIndex(bg, "l", -1) }, args: "lindex l -1", want: "c"},
		{name: "LInsert", setup: abc, call: func(c commander) Cmder { return c.LInsert(bg, "l", "BEFORE", "b", 1) }, args: "linsert l BEFORE b 1", want: int64(4)},
		{name: "LInsertBefore", setup: abc, call: func(c commander) Cmder { return c.LInsertBefore(bg, "l", "x", 1) }, args: "linsert l before x 1", want: int64(-1)},
		{name: "LInsertAfter", call: func(c commander) Cmder { return c.LInsertAfter(bg, "l", "b", 1) }, args: "linsert l after b 1", want: int64(0)},
		{name: "LPos", setup: some, call: func(c commander) Cmder { return c.LPos(bg, "l", "a", LPosArgs{}) }, args: "lpos l a", want: int64(0)},
		{name: "LPos/rank", setup: some, call: func(c commander) Cmder { return c.LPos(bg, "l", "a", LPosArgs{Rank: -1, MaxLen: 10}) }, args: "lpos l a rank -1 maxlen 10", want: int64(3)},
		{name: "LPos/none", setup: some, call: func(c commander) Cmder { return c.LPos(bg, "l", "x", LPosArgs{}) }, args: "lpos l x", want: Nil},
		{name: "LPosCount", setup: some, call: func(c commander) Cmder { return c.LPosCount(bg, "l", "a", 0, LPosArgs{Rank: 1}) }, args: "lpos l a count 0 rank 1", want: []int64{0, 3}},
		{name: "LRem", setup: some, call: func(c commander) Cmder { return c.LRem(bg, "l", -1, "a") }, args: "lrem l -1 a", want: int64(1)},
		{name: "LSet", setup: abc, call: func(c commander) Cmder { return c.LSet(bg, "l", 1, "x") }, args: "lset l 1 x", want: "OK"},
		{name: "LTrim", setup: abc, call: func(c commander) Cmder { return c.LTrim(bg, "l", 1, -1) }, args: "ltrim l 1 -1", want: "OK"},
	}
}

func setCases() []commandCase {
	a := []string{"sadd s a"}
	two := []string{"sadd s a b", "sadd t b"}
	return []commandCase{
		{name: "SAdd", setup: a, call: func(c commander) Cmder { return c.SAdd(bg, "s", "a", 1) }, args: "sadd s a 1", want: int64(1)},
		{name: "SRem", setup: a, call: func(c commander) Cmder { return c.SRem(bg, "s", []string{"a", "b"}) }, args: "srem s a b", want: int64(1)},
		{name: "SMembers", setup: a, call: func(c commander) Cmder { return c.SMembers(bg, "s") }, args: "smembers s", want: []string{"a"}},
		{name: "SMembersMap", setup: a, call: func(c commander) Cmder { return c.SMembersMap(bg, "s") }, args: "smembers s", want: map[string]struct{}{"a": {}}},
		{name: "SCard", setup: a, call: func(c commander) Cmder { return c.SCard(bg, "s") }, args: "scard s", want: int64(1)},
		{name: "SIsMember", setup: a, call: func(c commander) Cmder { return c.SIsMember(bg, "s", "a") }, args: "sismember s a", want: true},
		{name: "SMIsMember", setup: a, call: func(c commander) Cmder { return c.SMIsMember(bg, "s", "a", 2) }, args: "smismember s a 2", want: []bool{true, false}},
		{name: "SMove", setup: a, call: func(c commander) Cmder { return c.SMove(bg, "s", "t", "a") }, args: "smove s t a", want: true},
		{name: "SPop", setup: a, call: func(c commander) Cmder { return c.SPop(bg, "s") }, args: "spop s", want: "a"},
		{name: "SPop/none", call: func(c commander) Cmder { return c.SPop(bg, "s") }, args: "spop s", want: Nil},
		{name: "SPopN", setup: a, call: func(c commander) Cmder { return c.SPopN(bg, "s", 2) }, args: "spop s 2", want: []string{"a"}},
		{name: "SRandMember", setup: a, call: func(c commander) Cmder { return c.SRandMember(bg, "s") }, args: "srandmember s", want: "a"},
		{name: "SRandMemberN", setup: a, call: func(c commander) Cmder { return c.SRandMemberN(bg, "s", -2) }, args: "srandmember s -2", want: []string{"a", "a"}},
		{name: "SScan", setup: a, call: func(c commander) Cmder { return c.SScan(bg, "s", 0, "a*", 5) }, args: "sscan s 0 match a* count 5", want: []any{[]string{"a"}, uint64(0)}},
		{name: "SDiff", setup: two, call: func(c commander) Cmder { return c.SDiff(bg, "s", "t") }, args: "sdiff s t", want: []string{"a"}},
		{name: "SDiffStore", setup: two, call: func(c commander) Cmder { return c.SDiffStore(bg, "d", "s", "t") }, args: "sdiffstore d s t", want: int64(1)},
		{name: "SDiffCard", setup: two, call: func(c commander) Cmder { return c.SDiffCard(bg, nil, "s", "t") }, args: "sdiffcard 2 s t", want: int64(1), since: "8.10", valkey: "-", r2: ":1\r\n"},
		{name: "SDiffCard/limit", call: func(c commander) Cmder { return c.SDiffCard(bg, &SDiffCardOptions{Limit: 3}, "s") }, args: "sdiffcard 1 s limit 3", want: int64(0), since: "8.10", valkey: "-", r2: ":0\r\n"},
		{name: "SInter", setup: two, call: func(c commander) Cmder { return c.SInter(bg, "s", "t") }, args: "sinter s t", want: []string{"b"}},
		{name: "SInterStore", setup: two, call: func(c commander) Cmder { return c.SInterStore(bg, "d", "s", "t") }, args: "sinterstore d s t", want: int64(1)},
		{name: "SInterCard", setup: two, call: func(c commander) Cmder { return c.SInterCard(bg, 0, "s", "t") }, args: "sintercard 2 s t limit 0", want: int64(1), since: "7.0"},
		{name: "SUnion", setup: two, call: func(c commander) Cmder { return c.SUnion(bg, "t", "t") }, args: "sunion t t", want: []string{"b"}},
		{name: "SUnionStore", setup: two, call: func(c commander) Cmder { return c.SUnionStore(bg, "d", "s", "t") }, args: "sunionstore d s t", want: int64(2)},
		{name: "SUnionCard", setup: two, call: func(c commander) Cmder {
			return c.SUnionCard(bg, &SUnionCardOptions{Approx: true, Limit: 9}, "s", "t")
		}, args: "sunioncard 2 s t approx limit 9", want: int64(2), since: "8.10", valkey: "-", r2: ":2\r\n"},
	}
}
