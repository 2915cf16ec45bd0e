package redis

import "context"

// ZRange gives the members from rank start to stop, both included, by rising score;
// negative ranks count from the end. Since Redis 1.2, O(log N + M) with the members
// returned.
func (c cmdable) ZRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("zrange", key)
	cmd.int(start)
	cmd.int(stop)
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeWithScores is ZRange with the scores.
func (c cmdable) ZRangeWithScores(ctx context.Context, key string, start, stop int64) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.key("zrange", key)
	cmd.int(start)
	cmd.int(stop)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRange is ZRange by falling score. Since Redis 1.2.
func (c cmdable) ZRevRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("zrevrange", key)
	cmd.int(start)
	cmd.int(stop)
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRangeWithScores is ZRevRange with the scores.
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

// ZRangeByScoreWithScores is ZRangeByScore with the scores.
func (c cmdable) ZRangeByScoreWithScores(ctx context.Context, key string, opt *ZRangeBy) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.zrangeBy("zrangebyscore", key, opt.Min, opt.Max, "withscores", opt)
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRangeByScore is ZRangeByScore by falling score. Since Redis 2.2.
func (c cmdable) ZRevRangeByScore(ctx context.Context, key string, opt *ZRangeBy) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.zrangeBy("zrevrangebyscore", key, opt.Max, opt.Min, "", opt)
	_ = c(ctx, cmd)
	return cmd
}

// ZRevRangeByScoreWithScores is ZRevRangeByScore with the scores.
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

// ZRevRangeByLex is ZRangeByLex in reverse order. Since Redis 2.8.9.
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

// ZRangeArgsWithScores is ZRangeArgs with the scores. Since Redis 6.2.
func (c cmdable) ZRangeArgsWithScores(ctx context.Context, z ZRangeArgs) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.begin("zrange")
	cmd.zrange(&z)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeStore stores the result of ZRangeArgs in dst, and gives its size. Since Redis
// 6.2.
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

// ZInterWithScores is ZInter with the scores. Since Redis 6.2.
func (c cmdable) ZInterWithScores(ctx context.Context, store *ZStore) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.begin("zinter")
	cmd.zstore(store)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZInterCard gives the size of the result of ZInter, counting no further than limit;
// 0: all. Since Redis 7.0.
func (c cmdable) ZInterCard(ctx context.Context, limit int64, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("zintercard")
	cmd.numKeys(keys)
	cmd.optInt(true, "limit", limit)
	_ = c(ctx, cmd)
	return cmd
}

// ZInterStore stores the result of ZInter in destination, and gives its size. Since
// Redis 2.0.
func (c cmdable) ZInterStore(ctx context.Context, destination string, store *ZStore) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zinterstore", destination)
	cmd.zstore(store)
	_ = c(ctx, cmd)
	return cmd
}

// ZUnion gives the members that are in any of the sets. Since Redis 6.2, O(N + M*log
// M) with the members of all and those returned.
func (c cmdable) ZUnion(ctx context.Context, store ZStore) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.begin("zunion")
	cmd.zstore(&store)
	_ = c(ctx, cmd)
	return cmd
}

// ZUnionWithScores is ZUnion with the scores. Since Redis 6.2.
func (c cmdable) ZUnionWithScores(ctx context.Context, store ZStore) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.begin("zunion")
	cmd.zstore(&store)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZUnionStore stores the result of ZUnion in dest, and gives its size. Since Redis
// 2.0.
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

// ZDiffWithScores is ZDiff with the scores. Since Redis 6.2.
func (c cmdable) ZDiffWithScores(ctx context.Context, keys ...string) *ZSliceCmd {
	cmd := roomy[ZSliceCmd]()
	cmd.begin("zdiff")
	cmd.numKeys(keys)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}

// ZDiffStore stores the result of ZDiff in destination, and gives its size. Since
// Redis 6.2.
func (c cmdable) ZDiffStore(ctx context.Context, destination string, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("zdiffstore", destination)
	cmd.numKeys(keys)
	_ = c(ctx, cmd)
	return cmd
}
