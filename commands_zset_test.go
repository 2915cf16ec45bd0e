package redis

import (
	"math"
	"time"
)

func zsetCases() []commandCase {
	abc := []string{"zadd z 1 a 2.5 b 3 c"}
	tick := 10 * time.Millisecond
	b := ZWithKey{Z: Z{Score: 3, Member: "c"}, Key: "z"}
	return []commandCase{
		{name: "ZAdd", setup: abc, call: func(c commander) Cmder { return c.ZAdd(bg, "z", Z{1.5, "a"}, Z{-1, 7}) }, args: "zadd z 1.5 a -1 7", want: int64(1)},
		{name: "ZAdd/inf", call: func(c commander) Cmder { return c.ZAdd(bg, "z", Z{math.Inf(1), "a"}, Z{1e300, "b"}) }, args: "zadd z +Inf a 1" + zeros(300) + " b", want: int64(2)},
		{name: "ZAddNX", setup: abc, call: func(c commander) Cmder { return c.ZAddNX(bg, "z", Z{9, "a"}) }, args: "zadd z nx 9 a", want: int64(0)},
		{name: "ZAddXX", setup: abc, call: func(c commander) Cmder { return c.ZAddXX(bg, "z", Z{9, "x"}) }, args: "zadd z xx 9 x", want: int64(0)},
		{name: "ZAddLT", setup: abc, call: func(c commander) Cmder { return c.ZAddLT(bg, "z", Z{9, "x"}) }, args: "zadd z lt 9 x", want: int64(1)},
		{name: "ZAddGT", setup: abc, call: func(c commander) Cmder { return c.ZAddGT(bg, "z", Z{9, "x"}) }, args: "zadd z gt 9 x", want: int64(1)},
		{name: "ZAddArgs", setup: abc, call: func(c commander) Cmder {
			return c.ZAddArgs(bg, "z", ZAddArgs{XX: true, GT: true, Ch: true, Members: []Z{{9, "a"}}})
		}, args: "zadd z xx gt ch 9 a", want: int64(1)},
		{name: "ZAddArgsIncr", setup: abc, call: func(c commander) Cmder {
			return c.ZAddArgsIncr(bg, "z", ZAddArgs{Members: []Z{{0.5, "a"}}})
		}, args: "zadd z incr 0.5 a", want: 1.5},
		{name: "ZAddArgsIncr/nx", setup: abc, call: func(c commander) Cmder {
			return c.ZAddArgsIncr(bg, "z", ZAddArgs{NX: true, Members: []Z{{0.5, "a"}}})
		}, args: "zadd z nx incr 0.5 a", want: Nil},
		{name: "ZIncrBy", setup: abc, call: func(c commander) Cmder { return c.ZIncrBy(bg, "z", 2, "a") }, args: "zincrby z 2 a", want: 3.0},
		{name: "ZCard", setup: abc, call: func(c commander) Cmder { return c.ZCard(bg, "z") }, args: "zcard z", want: int64(3)},
		{name: "ZCount", setup: abc, call: func(c commander) Cmder { return c.ZCount(bg, "z", "(1", "+inf") }, args: "zcount z (1 +inf", want: int64(2)},
		{name: "ZLexCount", setup: []string{"zadd z 0 a 0 b"}, call: func(c commander) Cmder { return c.ZLexCount(bg, "z", "[a", "(b") }, args: "zlexcount z [a (b", want: int64(1)},
		{name: "ZScore", setup: abc, call: func(c commander) Cmder { return c.ZScore(bg, "z", "b") }, args: "zscore z b", want: 2.5},
		{name: "ZScore/none", setup: abc, call: func(c commander) Cmder { return c.ZScore(bg, "z", "x") }, args: "zscore z x", want: Nil},
		{name: "ZScore/inf", setup: []string{"zadd z -inf a"}, call: func(c commander) Cmder { return c.ZScore(bg, "z", "a") }, args: "zscore z a", want: math.Inf(-1)},
		{name: "ZMScore", setup: abc, call: func(c commander) Cmder { return c.ZMScore(bg, "z", "b", "x") }, args: "zmscore z b x", want: []float64{2.5, 0}},
		{name: "ZRank", setup: abc, call: func(c commander) Cmder { return c.ZRank(bg, "z", "b") }, args: "zrank z b", want: int64(1)},
		{name: "ZRank/none", setup: abc, call: func(c commander) Cmder { return c.ZRank(bg, "z", "x") }, args: "zrank z x", want: Nil},
		{name: "ZRankWithScore", setup: abc, call: func(c commander) Cmder { return c.ZRankWithScore(bg, "z", "b") }, args: "zrank z b withscore", want: RankScore{1, 2.5}, since: "7.2"},
		{name: "ZRankWithScore/none", setup: abc, call: func(c commander) Cmder { return c.ZRankWithScore(bg, "z", "x") }, args: "zrank z x withscore", want: Nil, since: "7.2"},
		{name: "ZRevRank", setup: abc, call: func(c commander) Cmder { return c.ZRevRank(bg, "z", "a") }, args: "zrevrank z a", want: int64(2)},
		{name: "ZRevRankWithScore", setup: abc, call: func(c commander) Cmder { return c.ZRevRankWithScore(bg, "z", "a") }, args: "zrevrank z a withscore", want: RankScore{2, 1}, since: "7.2"},
		{name: "ZRem", setup: abc, call: func(c commander) Cmder { return c.ZRem(bg, "z", "a", "x") }, args: "zrem z a x", want: int64(1)},
		{name: "ZRemRangeByRank", setup: abc, call: func(c commander) Cmder { return c.ZRemRangeByRank(bg, "z", 0, 1) }, args: "zremrangebyrank z 0 1", want: int64(2)},
		{name: "ZRemRangeByScore", setup: abc, call: func(c commander) Cmder { return c.ZRemRangeByScore(bg, "z", "-inf", "1") }, args: "zremrangebyscore z -inf 1", want: int64(1)},
		{name: "ZRemRangeByLex", setup: []string{"zadd z 0 a 0 b"}, call: func(c commander) Cmder { return c.ZRemRangeByLex(bg, "z", "-", "+") }, args: "zremrangebylex z - +", want: int64(2)},
		{name: "ZPopMax", setup: abc, call: func(c commander) Cmder { return c.ZPopMax(bg, "z") }, args: "zpopmax z", want: []Z{{3, "c"}}},
		{name: "ZPopMax/none", call: func(c commander) Cmder { return c.ZPopMax(bg, "z") }, args: "zpopmax z", want: []Z{}},
		{name: "ZPopMin", setup: abc, call: func(c commander) Cmder { return c.ZPopMin(bg, "z", 2) }, args: "zpopmin z 2", want: []Z{{1, "a"}, {2.5, "b"}}},
		{name: "BZPopMax", setup: abc, call: func(c commander) Cmder { return c.BZPopMax(bg, time.Second, "x", "z") }, args: "bzpopmax x z 1", want: &b},
		{name: "BZPopMin", call: func(c commander) Cmder { return c.BZPopMin(bg, tick, "z") }, args: "bzpopmin z 0.01", want: Nil},
		{name: "ZMPop", setup: abc, call: func(c commander) Cmder { return c.ZMPop(bg, "min", 2, "x", "z") }, args: "zmpop 2 x z min count 2", want: []any{"z", []Z{{1, "a"}, {2.5, "b"}}}, since: "7.0"},
		{name: "ZMPop/none", call: func(c commander) Cmder { return c.ZMPop(bg, "min", 2, "x") }, args: "zmpop 1 x min count 2", want: Nil, since: "7.0"},
		{name: "BZMPop", setup: abc, call: func(c commander) Cmder { return c.BZMPop(bg, time.Second, "max", 1, "z") }, args: "bzmpop 1 1 z max count 1", want: []any{"z", []Z{{3, "c"}}}, since: "7.0"},
		{name: "BZMPop/timeout", call: func(c commander) Cmder { return c.BZMPop(bg, tick, "max", 1, "z") }, args: "bzmpop 0.01 1 z max count 1", want: Nil, since: "7.0"},
		{name: "ZRandMember", setup: []string{"zadd z 1 a"}, call: func(c commander) Cmder { return c.ZRandMember(bg, "z", -2) }, args: "zrandmember z -2", want: []string{"a", "a"}},
		{name: "ZRandMemberWithScores", setup: []string{"zadd z 1 a"}, call: func(c commander) Cmder { return c.ZRandMemberWithScores(bg, "z", 2) }, args: "zrandmember z 2 withscores", want: []Z{{1, "a"}}},
		{name: "ZScan", setup: abc, call: func(c commander) Cmder { return c.ZScan(bg, "z", 0, "b", 0) }, args: "zscan z 0 match b", want: []any{[]string{"b", "2.5"}, uint64(0)}},
	}
}

// zeros are n zeros.
func zeros(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return string(b)
}

func zsetRangeCases() []commandCase {
	abc := []string{"zadd z 1 a 2.5 b 3 c"}
	lex := []string{"zadd z 0 a 0 b 0 c"}
	two := []string{"zadd z 1 a 2 b", "zadd y 10 b"}
	all := []Z{{1, "a"}, {2.5, "b"}, {3, "c"}}
	both := &ZStore{Keys: []string{"z", "y"}}
	return []commandCase{
		{name: "ZRange", setup: abc, call: func(c commander) Cmder { return c.ZRange(bg, "z", 0, -1) }, args: "zrange z 0 -1", want: []string{"a", "b", "c"}},
		{name: "ZRangeWithScores", setup: abc, call: func(c commander) Cmder { return c.ZRangeWithScores(bg, "z", 0, -1) }, args: "zrange z 0 -1 withscores", want: all},
		{name: "ZRangeWithScores/none", call: func(c commander) Cmder { return c.ZRangeWithScores(bg, "z", 0, -1) }, args: "zrange z 0 -1 withscores", want: []Z{}},
		{name: "ZRevRange", setup: abc, call: func(c commander) Cmder { return c.ZRevRange(bg, "z", 0, 1) }, args: "zrevrange z 0 1", want: []string{"c", "b"}},
		{name: "ZRevRangeWithScores", setup: abc, call: func(c commander) Cmder { return c.ZRevRangeWithScores(bg, "z", 0, 0) }, args: "zrevrange z 0 0 withscores", want: []Z{{3, "c"}}},
		{name: "ZRangeByScore", setup: abc, call: func(c commander) Cmder { return c.ZRangeByScore(bg, "z", &ZRangeBy{Min: "(1", Max: "3"}) }, args: "zrangebyscore z (1 3", want: []string{"b", "c"}},
		{name: "ZRangeByScoreWithScores", setup: abc, call: func(c commander) Cmder {
			return c.ZRangeByScoreWithScores(bg, "z", &ZRangeBy{Min: "-inf", Max: "+inf", Offset: 1, Count: 1})
		}, args: "zrangebyscore z -inf +inf withscores limit 1 1", want: []Z{{2.5, "b"}}},
		{name: "ZRevRangeByScore", setup: abc, call: func(c commander) Cmder {
			return c.ZRevRangeByScore(bg, "z", &ZRangeBy{Min: "1", Max: "3", Count: -1})
		}, args: "zrevrangebyscore z 3 1 limit 0 -1", want: []string{"c", "b", "a"}},
		{name: "ZRevRangeByScoreWithScores", setup: abc, call: func(c commander) Cmder {
			return c.ZRevRangeByScoreWithScores(bg, "z", &ZRangeBy{Min: "3", Max: "9"})
		}, args: "zrevrangebyscore z 9 3 withscores", want: []Z{{3, "c"}}},
		{name: "ZRangeByLex", setup: lex, call: func(c commander) Cmder { return c.ZRangeByLex(bg, "z", &ZRangeBy{Min: "[b", Max: "+"}) }, args: "zrangebylex z [b +", want: []string{"b", "c"}},
		{name: "ZRevRangeByLex", setup: lex, call: func(c commander) Cmder {
			return c.ZRevRangeByLex(bg, "z", &ZRangeBy{Min: "-", Max: "(c", Offset: 0, Count: 1})
		}, args: "zrevrangebylex z (c - limit 0 1", want: []string{"b"}},
		{name: "ZRangeArgs", setup: abc, call: func(c commander) Cmder { return c.ZRangeArgs(bg, ZRangeArgs{Key: "z", Start: 0, Stop: -1}) }, args: "zrange z 0 -1", want: []string{"a", "b", "c"}},
		{name: "ZRangeArgs/rev", setup: abc, call: func(c commander) Cmder {
			return c.ZRangeArgs(bg, ZRangeArgs{Key: "z", Start: "(1", Stop: 3, ByScore: true, Rev: true, Offset: 1, Count: 5})
		}, args: "zrange z 3 (1 byscore rev limit 1 5", want: []string{"b"}},
		{name: "ZRangeArgs/lex", setup: lex, call: func(c commander) Cmder {
			return c.ZRangeArgs(bg, ZRangeArgs{Key: "z", Start: "[a", Stop: "(b", ByLex: true})
		}, args: "zrange z [a (b bylex", want: []string{"a"}},
		{name: "ZRangeArgsWithScores", setup: abc, call: func(c commander) Cmder {
			return c.ZRangeArgsWithScores(bg, ZRangeArgs{Key: "z", Start: 0, Stop: 0, Rev: true})
		}, args: "zrange z 0 0 rev withscores", want: []Z{{3, "c"}}},
		{name: "ZRangeStore", setup: abc, call: func(c commander) Cmder { return c.ZRangeStore(bg, "d", ZRangeArgs{Key: "z", Start: 0, Stop: 1}) }, args: "zrangestore d z 0 1", want: int64(2)},
		{name: "ZInter", setup: two, call: func(c commander) Cmder { return c.ZInter(bg, both) }, args: "zinter 2 z y", want: []string{"b"}},
		{name: "ZInterWithScores", setup: two, call: func(c commander) Cmder {
			return c.ZInterWithScores(bg, &ZStore{Keys: []string{"z", "y"}, Weights: []float64{2, 0.5}, Aggregate: "MAX"})
		}, args: "zinter 2 z y weights 2 0.5 aggregate MAX withscores", want: []Z{{5, "b"}}},
		{name: "ZInterCard", setup: two, call: func(c commander) Cmder { return c.ZInterCard(bg, 3, "z", "y") }, args: "zintercard 2 z y limit 3", want: int64(1), since: "7.0"},
		{name: "ZInterStore", setup: two, call: func(c commander) Cmder { return c.ZInterStore(bg, "d", both) }, args: "zinterstore d 2 z y", want: int64(1)},
		{name: "ZUnion", setup: two, call: func(c commander) Cmder { return c.ZUnion(bg, *both) }, args: "zunion 2 z y", want: []string{"a", "b"}},
		{name: "ZUnionWithScores", setup: two, call: func(c commander) Cmder { return c.ZUnionWithScores(bg, *both) }, args: "zunion 2 z y withscores", want: []Z{{1, "a"}, {12, "b"}}},
		{name: "ZUnionStore", setup: two, call: func(c commander) Cmder { return c.ZUnionStore(bg, "d", both) }, args: "zunionstore d 2 z y", want: int64(2)},
		{name: "ZDiff", setup: two, call: func(c commander) Cmder { return c.ZDiff(bg, "z", "y") }, args: "zdiff 2 z y", want: []string{"a"}},
		{name: "ZDiffWithScores", setup: two, call: func(c commander) Cmder { return c.ZDiffWithScores(bg, "z", "y") }, args: "zdiff 2 z y withscores", want: []Z{{1, "a"}}},
		{name: "ZDiffStore", setup: two, call: func(c commander) Cmder { return c.ZDiffStore(bg, "d", "z", "y") }, args: "zdiffstore d 2 z y", want: int64(1)},
	}
}
