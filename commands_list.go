package redis

import (
	"context"
	"time"
)

// block appends a timeout in seconds, with a fraction where it needs one (which
// servers before Redis 6.0 do not understand), and marks the command as blocking. 0
// is for ever.
func (c *baseCmd) block(timeout time.Duration) {
	if subSecond(timeout) {
		c.float(timeout.Seconds())
	} else {
		c.int(int64(timeout / time.Second))
	}
	c.blocks(timeout)
}

// LPush puts values in front of the list, one after the other, so that the last one
// becomes the first, and gives the new length. Since Redis 1.0 (several since 2.4),
// O(N) with the values.
func (c cmdable) LPush(ctx context.Context, key string, values ...any) *IntCmd {
	return c.push(ctx, "lpush", key, values)
}

// RPush puts values at the end of the list and gives the new length. Since Redis 1.0
// (several since 2.4), O(N) with the values.
func (c cmdable) RPush(ctx context.Context, key string, values ...any) *IntCmd {
	return c.push(ctx, "rpush", key, values)
}

// LPushX is LPush if the list exists. Since Redis 2.2 (several since 4.0).
func (c cmdable) LPushX(ctx context.Context, key string, values ...any) *IntCmd {
	return c.push(ctx, "lpushx", key, values)
}

// RPushX is RPush if the list exists. Since Redis 2.2 (several since 4.0).
func (c cmdable) RPushX(ctx context.Context, key string, values ...any) *IntCmd {
	return c.push(ctx, "rpushx", key, values)
}

func (c cmdable) push(ctx context.Context, name, key string, values []any) *IntCmd {
	cmd := &IntCmd{}
	cmd.key(name, key)
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}

// LPop takes the first value from the list; Nil where there is none. Since Redis 1.0,
// O(1).
func (c cmdable) LPop(ctx context.Context, key string) *StringCmd {
	cmd := &StringCmd{}
	cmd.key("lpop", key)
	_ = c(ctx, cmd)
	return cmd
}

// RPop takes the last value from the list; Nil where there is none. Since Redis 1.0,
// O(1).
func (c cmdable) RPop(ctx context.Context, key string) *StringCmd {
	cmd := &StringCmd{}
	cmd.key("rpop", key)
	_ = c(ctx, cmd)
	return cmd
}

// LPopCount takes up to count values from the front of the list; Nil where the list
// does not exist. Since Redis 6.2, O(N) with the values.
func (c cmdable) LPopCount(ctx context.Context, key string, count int) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.key("lpop", key)
	cmd.int(int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// RPopCount takes up to count values from the end of the list, the last one first;
// Nil where the list does not exist. Since Redis 6.2, O(N) with the values.
func (c cmdable) RPopCount(ctx context.Context, key string, count int) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.key("rpop", key)
	cmd.int(int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// BLPop takes the first value of the first list that has any, and waits for one at
// most for timeout, 0 for ever. The reply is the key and the value; Nil when the time
// has run out. The command has a connection of its own. Since Redis 2.0 (fractions
// of seconds since 6.0), O(N) with the keys.
func (c cmdable) BLPop(ctx context.Context, timeout time.Duration, keys ...string) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.keys("blpop", keys)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// BRPop is BLPop for the last value. Since Redis 2.0.
func (c cmdable) BRPop(ctx context.Context, timeout time.Duration, keys ...string) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.keys("brpop", keys)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// LLen gives the length of the list, 0 for a key that does not exist. Since Redis
// 1.0, O(1).
func (c cmdable) LLen(ctx context.Context, key string) *IntCmd {
	cmd := &IntCmd{}
	cmd.key("llen", key)
	_ = c(ctx, cmd)
	return cmd
}

// LRange gives the values from start to stop, both included; negative positions count
// from the end. Since Redis 1.0, O(S+N) with the distance to start and the values.
func (c cmdable) LRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.key("lrange", key)
	cmd.int(start)
	cmd.int(stop)
	_ = c(ctx, cmd)
	return cmd
}
