package redis

import (
	"context"
	"time"
)

// ZAddArgs are the options of ZAddArgs and ZAddArgsIncr.
type ZAddArgs struct {
	// NX adds only; XX, LT and GT change only (LT and GT also add, unless XX says
	// no). NX goes before XX, and GT and LT exclude each other and NX.
	NX bool
	XX bool
	LT bool // change only to a lower score
	GT bool // change only to a higher score
	// Ch makes the reply count changed members too.
	Ch      bool
	Members []Z
}

// ZAdd adds members to the sorted set, or changes their scores, and gives how many
// are new. Since Redis 1.2 (several since 2.4), O(log N) for each member.
func (c cmdable) ZAdd(ctx context.Context, key string, members ...Z) *IntCmd {
	return c.ZAddArgs(ctx, key, ZAddArgs{Members: members})
}

// ZAddArgs is ZAdd with options. Since Redis 3.0.2 (GT and LT since 6.2), O(log N) for
// each member.
func (c cmdable) ZAddArgs(ctx context.Context, key string, args ZAddArgs) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zadd", key)
	cmd.zadd(args, "")
	_ = c(ctx, cmd)
	return cmd
}

// zadd appends the options and members of a ZADD.
func (c *baseCmd) zadd(a ZAddArgs, more string) {
	switch {
	case a.NX:
		c.str("nx")
	default:
		c.opt(a.XX, "xx")
		if a.GT {
			c.str("gt")
		} else {
			c.opt(a.LT, "lt")
		}
	}
	c.opt(a.Ch, "ch")
	c.opt(more != "", more)
	for _, m := range a.Members {
		c.float(m.Score)
		c.arg(m.Member)
	}
}

// ZAddNX is ZAdd for new members only. Since Redis 3.0.2, O(log N) for each member.
func (c cmdable) ZAddNX(ctx context.Context, key string, members ...Z) *IntCmd {
	return c.ZAddArgs(ctx, key, ZAddArgs{NX: true, Members: members})
}

// ZAddXX is ZAdd for members that exist only. Since Redis 3.0.2, O(log N) for each
// member.
func (c cmdable) ZAddXX(ctx context.Context, key string, members ...Z) *IntCmd {
	return c.ZAddArgs(ctx, key, ZAddArgs{XX: true, Members: members})
}

// ZAddLT is ZAdd that changes no score to a higher one. Since Redis 6.2, O(log N) for
// each member.
func (c cmdable) ZAddLT(ctx context.Context, key string, members ...Z) *IntCmd {
	return c.ZAddArgs(ctx, key, ZAddArgs{LT: true, Members: members})
}

// ZAddGT is ZAdd that changes no score to a lower one. Since Redis 6.2, O(log N) for each
// member.
func (c cmdable) ZAddGT(ctx context.Context, key string, members ...Z) *IntCmd {
	return c.ZAddArgs(ctx, key, ZAddArgs{GT: true, Members: members})
}

// ZAddArgsIncr adds to the score of a member, which counts from 0 where there is none,
// and gives the sum; Nil if a condition was not met. Since Redis 3.0.2, O(log N).
func (c cmdable) ZAddArgsIncr(ctx context.Context, key string, args ZAddArgs) *FloatCmd {
	cmd := roomy[FloatCmd]()
	cmd.key("zadd", key)
	cmd.zadd(args, "incr")
	_ = c(ctx, cmd)
	return cmd
}

// ZIncrBy adds increment to the score of member, which counts from 0 where there is
// none, and gives the sum. Since Redis 1.2, O(log N).
func (c cmdable) ZIncrBy(ctx context.Context, key string, increment float64, member string) *FloatCmd {
	cmd := roomy[FloatCmd]()
	cmd.key("zincrby", key)
	cmd.float(increment)
	cmd.str(member)
	_ = c(ctx, cmd)
	return cmd
}

// ZCard gives the number of members, 0 for a key that does not exist. Since Redis
// 1.2, O(1).
func (c cmdable) ZCard(ctx context.Context, key string) *IntCmd {
	cmd := fitting[IntCmd](len("zcard"), len(key))
	cmd.key("zcard", key)
	_ = c(ctx, cmd)
	return cmd
}

// ZCount gives how many members have a score from min to max, which are written as in
// ZRangeBy. Since Redis 2.0, O(log N).
func (c cmdable) ZCount(ctx context.Context, key, min, max string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zcount", key)
	cmd.strs(min, max)
	_ = c(ctx, cmd)
	return cmd
}

// ZLexCount gives how many members are in an alphabetical range, written as for
// ZRangeByLex. Since Redis 2.8.9, O(log N).
func (c cmdable) ZLexCount(ctx context.Context, key, min, max string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zlexcount", key)
	cmd.strs(min, max)
	_ = c(ctx, cmd)
	return cmd
}

// ZScore gives the score of member; Nil where there is none. Since Redis 1.2, O(1).
func (c cmdable) ZScore(ctx context.Context, key, member string) *FloatCmd {
	cmd := roomy[FloatCmd]()
	cmd.key("zscore", key)
	cmd.str(member)
	_ = c(ctx, cmd)
	return cmd
}

// ZMScore gives the scores of members, 0 for those that are not there. Since Redis
// 6.2, O(N) with the members asked for.
func (c cmdable) ZMScore(ctx context.Context, key string, members ...string) *FloatSliceCmd {
	cmd := roomy[FloatSliceCmd]()
	cmd.key("zmscore", key)
	cmd.strs(members...)
	_ = c(ctx, cmd)
	return cmd
}

// ZRank gives the rank of member by rising score, from 0; Nil where it is not there.
// Since Redis 2.0, O(log N).
func (c cmdable) ZRank(ctx context.Context, key, member string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zrank", key)
	cmd.str(member)
	_ = c(ctx, cmd)
	return cmd
}

// ZRankWithScore is ZRank with the score; Nil where it is not there. Since Redis 7.2,
// O(log N).
func (c cmdable) ZRankWithScore(ctx context.Context, key, member string) *RankWithScoreCmd {
	cmd := roomy[RankWithScoreCmd]()
	cmd.key("zrank", key)
	cmd.strs(member, "withscore")
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRank is ZRank by falling score; Nil where it is not there. Since Redis 2.0,
// O(log N).
func (c cmdable) ZRevRank(ctx context.Context, key, member string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zrevrank", key)
	cmd.str(member)
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRankWithScore is ZRankWithScore by falling score; Nil where it is not there. Since
// Redis 7.2, O(log N).
func (c cmdable) ZRevRankWithScore(ctx context.Context, key, member string) *RankWithScoreCmd {
	cmd := roomy[RankWithScoreCmd]()
	cmd.key("zrevrank", key)
	cmd.strs(member, "withscore")
	_ = c(ctx, cmd)
	return cmd
}

// ZRem removes members and gives how many there were. Since Redis 1.2 (several since
// 2.4), O(log N) for each.
func (c cmdable) ZRem(ctx context.Context, key string, members ...any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zrem", key)
	cmd.expand(members)
	_ = c(ctx, cmd)
	return cmd
}

// ZRemRangeByRank removes the members from rank start to stop, both included, and
// gives how many there were. Since Redis 2.0, O(log N + M) with those.
func (c cmdable) ZRemRangeByRank(ctx context.Context, key string, start, stop int64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zremrangebyrank", key)
	cmd.int(start)
	cmd.int(stop)
	_ = c(ctx, cmd)
	return cmd
}

// ZRemRangeByScore removes the members with a score from min to max, which are
// written as in ZRangeBy, and gives how many there were. Since Redis 1.2, O(log N + M)
// with those.
func (c cmdable) ZRemRangeByScore(ctx context.Context, key, min, max string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zremrangebyscore", key)
	cmd.strs(min, max)
	_ = c(ctx, cmd)
	return cmd
}

// ZRemRangeByLex removes the members of an alphabetical range, written as for
// ZRangeByLex, and gives how many there were. Since Redis 2.8.9, O(log N + M) with
// those.
func (c cmdable) ZRemRangeByLex(ctx context.Context, key, min, max string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zremrangebylex", key)
	cmd.strs(min, max)
	_ = c(ctx, cmd)
	return cmd
}

// zpop encodes a ZPOPMIN or ZPOPMAX.
func (c cmdable) zpop(ctx context.Context, name, key string, count []int64) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.key(name, key)
	switch len(count) {
	case 0:
	case 1:
		cmd.int(count[0])
	default:
		cmd.reject("redis: ZPopMin and ZPopMax take one count at most")
	}
	_ = c(ctx, cmd)
	return cmd
}

// ZPopMax takes the members with the highest scores, up to count; without count, one. It
// gives none where there are none. Since Redis 5.0, O(log N) for each.
func (c cmdable) ZPopMax(ctx context.Context, key string, count ...int64) *ZSliceCmd {
	return c.zpop(ctx, "zpopmax", key, count)
}

// ZPopMin takes the members with the lowest scores, up to count; without count, one. It
// gives none where there are none. Since Redis 5.0, O(log N) for each.
func (c cmdable) ZPopMin(ctx context.Context, key string, count ...int64) *ZSliceCmd {
	return c.zpop(ctx, "zpopmin", key, count)
}

// BZPopMax takes the member with the highest score from the first set that has any, and
// waits for one at most for timeout, 0 for ever; Nil when the time has run out. The
// command has a connection of its own. Since Redis 5.0 (fractions of seconds since 6.0),
// O(log N).
func (c cmdable) BZPopMax(ctx context.Context, timeout time.Duration, keys ...string) *ZWithKeyCmd {
	cmd := roomy[ZWithKeyCmd]()
	cmd.keys("bzpopmax", keys)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// BZPopMin is BZPopMax for the lowest score; Nil when the time has run out. Since Redis
// 5.0 (fractions of seconds since 6.0), O(log N).
func (c cmdable) BZPopMin(ctx context.Context, timeout time.Duration, keys ...string) *ZWithKeyCmd {
	cmd := roomy[ZWithKeyCmd]()
	cmd.keys("bzpopmin", keys)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// ZMPop takes up to count members with the lowest or highest scores, as order says (MIN
// or MAX), from the first set that has any. The reply is the key and the members; Nil
// where all are empty. Since Redis 7.0, O(K + M*log N) with the keys and the members
// returned.
func (c cmdable) ZMPop(ctx context.Context, order string, count int64, keys ...string) *ZSliceWithKeyCmd {
	cmd := roomy[ZSliceWithKeyCmd]()
	cmd.begin("zmpop")
	cmd.numKeys(keys)
	cmd.str(order)
	cmd.optInt(true, "count", count)
	_ = c(ctx, cmd)
	return cmd
}

// BZMPop is ZMPop, and waits for a member at most for timeout, 0 for ever; Nil when the
// time has run out. Since Redis 7.0, O(K + M*log N) as ZMPop.
func (c cmdable) BZMPop(ctx context.Context, timeout time.Duration, order string, count int64, keys ...string) *ZSliceWithKeyCmd {
	cmd := roomy[ZSliceWithKeyCmd]()
	cmd.begin("bzmpop")
	cmd.block(timeout)
	cmd.numKeys(keys)
	cmd.str(order)
	cmd.optInt(true, "count", count)
	_ = c(ctx, cmd)
	return cmd
}

// ZRandMember gives up to count random members; of a negative count exactly that many,
// the same one possibly several times. It gives none for a key that does not exist. Since
// Redis 6.2, O(N) with the members returned.
func (c cmdable) ZRandMember(ctx context.Context, key string, count int) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("zrandmember", key)
	cmd.int(int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// ZRandMemberWithScores is ZRandMember with the scores. Since Redis 6.2, O(N) with the
// members returned.
func (c cmdable) ZRandMemberWithScores(ctx context.Context, key string, count int) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.key("zrandmember", key)
	cmd.int(int64(count))
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZScan gives a page of members and scores in turn; see Scan. Since Redis 2.8, O(1)
// for a page.
func (c cmdable) ZScan(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd {
	cmd := roomy[ScanCmd]()
	cmd.process = c
	cmd.key("zscan", key)
	cmd.scanArgs(cursor, match, count)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------
// Ranges and operations on several sets.

// ZRange gives the members from rank start to stop, both included, by rising score;
// negative ranks count from the end. It gives none where there are none. Since Redis 1.2,
// O(log N + M) with the members returned.
func (c cmdable) ZRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("zrange", key)
	cmd.int(start)
	cmd.int(stop)
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeWithScores is ZRange with the scores. Since Redis 1.2, O(log N + M) as ZRange.
func (c cmdable) ZRangeWithScores(ctx context.Context, key string, start, stop int64) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.key("zrange", key)
	cmd.int(start)
	cmd.int(stop)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRange is ZRange by falling score. Since Redis 1.2, O(log N + M) as ZRange.
func (c cmdable) ZRevRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("zrevrange", key)
	cmd.int(start)
	cmd.int(stop)
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRangeWithScores is ZRevRange with the scores. Since Redis 1.2, O(log N + M) as
// ZRange.
func (c cmdable) ZRevRangeWithScores(ctx context.Context, key string, start, stop int64) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.key("zrevrange", key)
	cmd.int(start)
	cmd.int(stop)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeBy is a range of scores or, for the methods with Lex, an alphabetical one.
type ZRangeBy struct {
	// Min and Max are scores, such as 1.5, (1.5 without 1.5 itself, -inf and +inf; in
	// an alphabetical range [a, (a without a itself, - and +.
	Min, Max string
	// Offset and Count choose a part of the range; a Count of 0 with Offset 0 is all,
	// a negative one all from Offset on.
	Offset, Count int64
}

// zrangeBy encodes a ZRANGEBYSCORE and its like; from and to are in its order.
func (c *baseCmd) zrangeBy(name, key, from, to, more string, by *ZRangeBy) {
	c.key(name, key)
	c.strs(from, to)
	c.opt(more != "", more)
	if by.Offset != 0 || by.Count != 0 {
		c.str("limit")
		c.int(by.Offset)
		c.int(by.Count)
	}
}

// ZRangeByScore gives the members with scores in a range, by rising score. Since
// Redis 1.0.5, O(log N + M) with the members returned.
func (c cmdable) ZRangeByScore(ctx context.Context, key string, opt *ZRangeBy) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.zrangeBy("zrangebyscore", key, opt.Min, opt.Max, "", opt)
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeByScoreWithScores is ZRangeByScore with the scores. Since Redis 2.0, O(log N + M)
// as ZRangeByScore.
func (c cmdable) ZRangeByScoreWithScores(ctx context.Context, key string, opt *ZRangeBy) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.zrangeBy("zrangebyscore", key, opt.Min, opt.Max, "withscores", opt)
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRangeByScore is ZRangeByScore by falling score. Since Redis 2.2, O(log N + M) as
// ZRangeByScore.
func (c cmdable) ZRevRangeByScore(ctx context.Context, key string, opt *ZRangeBy) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.zrangeBy("zrevrangebyscore", key, opt.Max, opt.Min, "", opt)
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRangeByScoreWithScores is ZRevRangeByScore with the scores. Since Redis 2.2,
// O(log N + M) as ZRangeByScore.
func (c cmdable) ZRevRangeByScoreWithScores(ctx context.Context, key string, opt *ZRangeBy) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.zrangeBy("zrevrangebyscore", key, opt.Max, opt.Min, "withscores", opt)
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeByLex gives the members of an alphabetical range, where all scores are the
// same. Since Redis 2.8.9, O(log N + M) with the members returned.
func (c cmdable) ZRangeByLex(ctx context.Context, key string, opt *ZRangeBy) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.zrangeBy("zrangebylex", key, opt.Min, opt.Max, "", opt)
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRangeByLex is ZRangeByLex in reverse order. Since Redis 2.8.9, O(log N + M) as
// ZRangeByLex.
func (c cmdable) ZRevRangeByLex(ctx context.Context, key string, opt *ZRangeBy) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.zrangeBy("zrevrangebylex", key, opt.Max, opt.Min, "", opt)
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeArgs is a range of ranks, of scores or an alphabetical one.
type ZRangeArgs struct {
	Key string

	// Start and Stop are ranks, or what ZRangeBy says with ByScore or ByLex. With Rev
	// and one of these, Start is still the lower one.
	Start any
	Stop  any

	ByScore bool
	ByLex   bool // not with ByScore
	Rev     bool // the highest first

	// Offset and Count choose a part of the range, with ByScore or ByLex only.
	Offset int64
	Count  int64
}

// zrange appends a range.
func (c *baseCmd) zrange(z *ZRangeArgs) {
	c.str(z.Key)
	if z.Rev && (z.ByScore || z.ByLex) {
		c.arg(z.Stop)
		c.arg(z.Start)
	} else {
		c.arg(z.Start)
		c.arg(z.Stop)
	}
	if z.ByScore {
		c.str("byscore")
	} else {
		c.opt(z.ByLex, "bylex")
	}
	c.opt(z.Rev, "rev")
	if z.Offset != 0 || z.Count != 0 {
		c.str("limit")
		c.int(z.Offset)
		c.int(z.Count)
	}
}

// ZRangeArgs gives the members of a range. Since Redis 6.2, O(log N + M) with the
// members returned.
func (c cmdable) ZRangeArgs(ctx context.Context, z ZRangeArgs) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.begin("zrange")
	cmd.zrange(&z)
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeArgsWithScores is ZRangeArgs with the scores. Since Redis 6.2, O(log N + M) as
// ZRangeArgs.
func (c cmdable) ZRangeArgsWithScores(ctx context.Context, z ZRangeArgs) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.begin("zrange")
	cmd.zrange(&z)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeStore stores the result of ZRangeArgs in dst, and gives its size. Since Redis
// 6.2, O(log N + M) as ZRangeArgs.
func (c cmdable) ZRangeStore(ctx context.Context, dst string, z ZRangeArgs) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zrangestore", dst)
	cmd.zrange(&z)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// ZStore says what sorted sets to combine, and how their scores.
type ZStore struct {
	Keys    []string
	Weights []float64 // factors for the scores, one for each key; empty: 1
	// Aggregate says which score a member has that is in several: SUM, MIN or MAX;
	// empty: SUM.
	Aggregate string
}

// zstore appends what to combine.
func (c *baseCmd) zstore(s *ZStore) {
	c.numKeys(s.Keys)
	if len(s.Weights) > 0 {
		c.str("weights")
		for _, w := range s.Weights {
			c.float(w)
		}
	}
	if s.Aggregate != "" {
		c.strs("aggregate", s.Aggregate)
	}
}

// ZInter gives the members that are in all sets. Since Redis 6.2, O(N*K + M*log M)
// with the smallest set, the number of sets, and the members returned.
func (c cmdable) ZInter(ctx context.Context, store *ZStore) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.begin("zinter")
	cmd.zstore(store)
	_ = c(ctx, cmd)
	return cmd
}

// ZInterWithScores is ZInter with the scores. Since Redis 6.2, O(N*K + M*log M) as
// ZInter.
func (c cmdable) ZInterWithScores(ctx context.Context, store *ZStore) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.begin("zinter")
	cmd.zstore(store)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZInterCard gives the size of the result of ZInter, counting no further than limit; 0:
// all. Since Redis 7.0, O(N*K) with the smallest set and the number of sets.
func (c cmdable) ZInterCard(ctx context.Context, limit int64, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("zintercard")
	cmd.numKeys(keys)
	cmd.optInt(true, "limit", limit)
	_ = c(ctx, cmd)
	return cmd
}

// ZInterStore stores the result of ZInter in destination, and gives its size. Since Redis
// 2.0, O(N*K + M*log M) as ZInter.
func (c cmdable) ZInterStore(ctx context.Context, destination string, store *ZStore) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zinterstore", destination)
	cmd.zstore(store)
	_ = c(ctx, cmd)
	return cmd
}

// ZUnion gives the members that are in any of the sets. Since Redis 6.2, O(N + M*log M)
// with the members of all and those returned.
func (c cmdable) ZUnion(ctx context.Context, store ZStore) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.begin("zunion")
	cmd.zstore(&store)
	_ = c(ctx, cmd)
	return cmd
}

// ZUnionWithScores is ZUnion with the scores. Since Redis 6.2, O(N + M*log M) as ZUnion.
func (c cmdable) ZUnionWithScores(ctx context.Context, store ZStore) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.begin("zunion")
	cmd.zstore(&store)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZUnionStore stores the result of ZUnion in dest, and gives its size. Since Redis 2.0,
// O(N + M*log M) as ZUnion.
func (c cmdable) ZUnionStore(ctx context.Context, dest string, store *ZStore) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zunionstore", dest)
	cmd.zstore(store)
	_ = c(ctx, cmd)
	return cmd
}

// ZDiff gives the members of the first set that are in none of the others. Since
// Redis 6.2, O(L + (N-K)*log N) with all members, those of the first set, and those
// returned.
func (c cmdable) ZDiff(ctx context.Context, keys ...string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.begin("zdiff")
	cmd.numKeys(keys)
	_ = c(ctx, cmd)
	return cmd
}

// ZDiffWithScores is ZDiff with the scores. Since Redis 6.2, O(L + (N-K)*log N) as ZDiff.
func (c cmdable) ZDiffWithScores(ctx context.Context, keys ...string) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.begin("zdiff")
	cmd.numKeys(keys)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZDiffStore stores the result of ZDiff in destination, and gives its size. Since Redis
// 6.2, O(L + (N-K)*log N) as ZDiff.
func (c cmdable) ZDiffStore(ctx context.Context, destination string, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zdiffstore", destination)
	cmd.numKeys(keys)
	_ = c(ctx, cmd)
	return cmd
}
