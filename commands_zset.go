package redis

import "context"

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
	cmd := &IntCmd{}
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

// ZRange gives the members from rank start to stop, both included, by rising score;
// negative ranks count from the end. Since Redis 1.2, O(log N + M) with the members
// returned.
func (c cmdable) ZRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.key("zrange", key)
	cmd.int(start)
	cmd.int(stop)
	_ = c(ctx, cmd)
	return cmd
}

// ZRangeWithScores is ZRange with the scores.
func (c cmdable) ZRangeWithScores(ctx context.Context, key string, start, stop int64) *ZSliceCmd {
	cmd := &ZSliceCmd{}
	cmd.key("zrange", key)
	cmd.int(start)
	cmd.int(stop)
	cmd.str("withscores")
	_ = c(ctx, cmd)
	return cmd
}
