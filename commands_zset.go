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

// ZAddArgs is ZAdd with options. Since Redis 3.0.2 (GT and LT since 6.2).
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

// ZAddNX is ZAdd for new members only. Since Redis 3.0.2.
func (c cmdable) ZAddNX(ctx context.Context, key string, members ...Z) *IntCmd {
	return c.ZAddArgs(ctx, key, ZAddArgs{NX: true, Members: members})
}

// ZAddXX is ZAdd for members that exist only. Since Redis 3.0.2.
func (c cmdable) ZAddXX(ctx context.Context, key string, members ...Z) *IntCmd {
	return c.ZAddArgs(ctx, key, ZAddArgs{XX: true, Members: members})
}

// ZAddLT is ZAdd that changes no score to a higher one. Since Redis 6.2.
func (c cmdable) ZAddLT(ctx context.Context, key string, members ...Z) *IntCmd {
	return c.ZAddArgs(ctx, key, ZAddArgs{LT: true, Members: members})
}

// ZAddGT is ZAdd that changes no score to a lower one. Since Redis 6.2.
func (c cmdable) ZAddGT(ctx context.Context, key string, members ...Z) *IntCmd {
	return c.ZAddArgs(ctx, key, ZAddArgs{GT: true, Members: members})
}

// ZAddArgsIncr adds to the score of a member, which counts from 0 where there is
// none, and gives the sum; Nil if a condition was not met. Since Redis 3.0.2.
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

// ZRankWithScore is ZRank with the score. Since Redis 7.2.
func (c cmdable) ZRankWithScore(ctx context.Context, key, member string) *RankWithScoreCmd {
	cmd := roomy[RankWithScoreCmd]()
	cmd.key("zrank", key)
	cmd.strs(member, "withscore")
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRank is ZRank by falling score. Since Redis 2.0.
func (c cmdable) ZRevRank(ctx context.Context, key, member string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zrevrank", key)
	cmd.str(member)
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRankWithScore is ZRankWithScore by falling score. Since Redis 7.2.
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

// ZPopMax takes the members with the highest scores, up to count; without count, one.
// Since Redis 5.0, O(log N) for each.
func (c cmdable) ZPopMax(ctx context.Context, key string, count ...int64) *ZSliceCmd {
	return c.zpop(ctx, "zpopmax", key, count)
}

// ZPopMin takes the members with the lowest scores, up to count; without count, one.
// Since Redis 5.0, O(log N) for each.
func (c cmdable) ZPopMin(ctx context.Context, key string, count ...int64) *ZSliceCmd {
	return c.zpop(ctx, "zpopmin", key, count)
}

// BZPopMax takes the member with the highest score from the first set that has any,
// and waits for one at most for timeout, 0 for ever; Nil when the time has run out.
// The command has a connection of its own. Since Redis 5.0, O(log N).
func (c cmdable) BZPopMax(ctx context.Context, timeout time.Duration, keys ...string) *ZWithKeyCmd {
	cmd := roomy[ZWithKeyCmd]()
	cmd.keys("bzpopmax", keys)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// BZPopMin is BZPopMax for the lowest score. Since Redis 5.0.
func (c cmdable) BZPopMin(ctx context.Context, timeout time.Duration, keys ...string) *ZWithKeyCmd {
	cmd := roomy[ZWithKeyCmd]()
	cmd.keys("bzpopmin", keys)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// ZMPop takes up to count members with the lowest or highest scores, as order says
// (MIN or MAX), from the first set that has any. The reply is the key and the members;
// Nil where all are empty. Since Redis 7.0, O(K + M*log N).
func (c cmdable) ZMPop(ctx context.Context, order string, count int64, keys ...string) *ZSliceWithKeyCmd {
	cmd := roomy[ZSliceWithKeyCmd]()
	cmd.begin("zmpop")
	cmd.numKeys(keys)
	cmd.str(order)
	cmd.optInt(true, "count", count)
	_ = c(ctx, cmd)
	return cmd
}

// BZMPop is ZMPop, and waits for a member at most for timeout, 0 for ever; Nil when
// the time has run out. Since Redis 7.0.
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

// ZRandMember gives up to count random members; of a negative count exactly that
// many, the same one possibly several times. Since Redis 6.2, O(N) with the members
// returned.
func (c cmdable) ZRandMember(ctx context.Context, key string, count int) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("zrandmember", key)
	cmd.int(int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// ZRandMemberWithScores is ZRandMember with the scores. Since Redis 6.2.
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
