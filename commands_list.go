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

// LPushX is LPush if the list exists, else it gives 0. Since Redis 2.2 (several since
// 4.0), O(N) with the values.
func (c cmdable) LPushX(ctx context.Context, key string, values ...any) *IntCmd {
	return c.push(ctx, "lpushx", key, values)
}

// RPushX is RPush if the list exists, else it gives 0. Since Redis 2.2 (several since
// 4.0), O(N) with the values.
func (c cmdable) RPushX(ctx context.Context, key string, values ...any) *IntCmd {
	return c.push(ctx, "rpushx", key, values)
}

func (c cmdable) push(ctx context.Context, name, key string, values []any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key(name, key)
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}

// LPop takes the first value from the list; Nil where there is none. Since Redis 1.0,
// O(1).
func (c cmdable) LPop(ctx context.Context, key string) *StringCmd {
	cmd := fitting[StringCmd](len("lpop"), len(key))
	cmd.key("lpop", key)
	_ = c(ctx, cmd)
	return cmd
}

// RPop takes the last value from the list; Nil where there is none. Since Redis 1.0,
// O(1).
func (c cmdable) RPop(ctx context.Context, key string) *StringCmd {
	cmd := fitting[StringCmd](len("rpop"), len(key))
	cmd.key("rpop", key)
	_ = c(ctx, cmd)
	return cmd
}

// LPopCount takes up to count values from the front of the list; Nil where the list
// does not exist. Since Redis 6.2, O(N) with the values.
func (c cmdable) LPopCount(ctx context.Context, key string, count int) *StringSliceCmd {
	cmd := fitting[StringSliceCmd](len("lpop"), len(key))
	cmd.key("lpop", key)
	cmd.int(int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// RPopCount takes up to count values from the end of the list, the last one first;
// Nil where the list does not exist. Since Redis 6.2, O(N) with the values.
func (c cmdable) RPopCount(ctx context.Context, key string, count int) *StringSliceCmd {
	cmd := fitting[StringSliceCmd](len("rpop"), len(key))
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
	cmd := roomy[StringSliceCmd]()
	cmd.keys("blpop", keys)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// BRPop is BLPop for the last value; Nil when the time has run out. Since Redis 2.0
// (fractions of seconds since 6.0), O(N) with the keys.
func (c cmdable) BRPop(ctx context.Context, timeout time.Duration, keys ...string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.keys("brpop", keys)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// LLen gives the length of the list, 0 for a key that does not exist. Since Redis
// 1.0, O(1).
func (c cmdable) LLen(ctx context.Context, key string) *IntCmd {
	cmd := fitting[IntCmd](len("llen"), len(key))
	cmd.key("llen", key)
	_ = c(ctx, cmd)
	return cmd
}

// LRange gives the values from start to stop, both included; negative positions count
// from the end. It gives none where there are none. Since Redis 1.0, O(S+N) with the
// distance to start and the values.
func (c cmdable) LRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("lrange", key)
	cmd.int(start)
	cmd.int(stop)
	_ = c(ctx, cmd)
	return cmd
}

// BRPopLPush moves the last value of source to the front of destination, waiting at
// most for timeout, 0 for ever; Nil when the time has run out. Since Redis 2.2, O(1);
// BLMove replaces it.
func (c cmdable) BRPopLPush(ctx context.Context, source, destination string, timeout time.Duration) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("brpoplpush", source)
	cmd.str(destination)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// RPopLPush moves the last value of source to the front of destination, and gives it;
// Nil where there is none. Since Redis 1.2, O(1); LMove replaces it.
func (c cmdable) RPopLPush(ctx context.Context, source, destination string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("rpoplpush", source)
	cmd.str(destination)
	_ = c(ctx, cmd)
	return cmd
}

// LMove moves a value from one end of source to one end of destination, and gives it;
// Nil where there is none. The ends are LEFT or RIGHT. Since Redis 6.2, O(1).
func (c cmdable) LMove(ctx context.Context, source, destination, srcpos, destpos string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("lmove", source)
	cmd.strs(destination, srcpos, destpos)
	_ = c(ctx, cmd)
	return cmd
}

// BLMove is LMove, and waits for a value at most for timeout, 0 for ever; Nil when the
// time has run out. Since Redis 6.2, O(1).
func (c cmdable) BLMove(ctx context.Context, source, destination, srcpos, destpos string, timeout time.Duration) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("blmove", source)
	cmd.strs(destination, srcpos, destpos)
	cmd.block(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// LMoveMMode says what LMoveMArgs.Count means.
type LMoveMMode string

// The modes of LMoveMArgs.
const (
	LMoveMCount   LMoveMMode = "COUNT"   // up to so many
	LMoveMExactly LMoveMMode = "EXACTLY" // so many, or none
)

// LMoveMOrder says in which order several values arrive.
type LMoveMOrder string

// The orders of LMoveMArgs.
const (
	LMoveMOBO  LMoveMOrder = "OBO"  // as if moved one by one
	LMoveMBulk LMoveMOrder = "BULK" // as they were
)

// LMoveMArgs says how many values LMoveM moves. With an empty Mode and Count 0 it is
// one; with one of the two, or Order, empty they are COUNT, 1 and OBO.
type LMoveMArgs struct {
	Mode  LMoveMMode
	Count int64
	Order LMoveMOrder
}

// lmovem appends how many values to move.
func (c *baseCmd) lmovem(a LMoveMArgs) {
	if a == (LMoveMArgs{}) {
		return
	}
	if a.Mode == "" {
		a.Mode = LMoveMCount
	}
	if a.Count == 0 {
		a.Count = 1
	}
	if a.Order == "" {
		a.Order = LMoveMOBO
	}
	c.optInt(true, string(a.Mode), a.Count)
	c.str(string(a.Order))
}

// LMoveM is LMove for several values, which it gives in the order of destination; Nil
// where there are none. Since Redis 8.10, O(N) with the values.
func (c cmdable) LMoveM(ctx context.Context, source, destination, srcpos, destpos string, args LMoveMArgs) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("lmovem", source)
	cmd.strs(destination, srcpos, destpos)
	cmd.lmovem(args)
	_ = c(ctx, cmd)
	return cmd
}

// BLMoveM is LMoveM, and waits for the values at most for timeout, 0 for ever; Nil when
// the time has run out. Since Redis 8.10, O(N) with the values.
func (c cmdable) BLMoveM(ctx context.Context, source, destination, srcpos, destpos string, timeout time.Duration, args LMoveMArgs) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("blmovem", source)
	cmd.strs(destination, srcpos, destpos)
	cmd.block(timeout)
	cmd.lmovem(args)
	_ = c(ctx, cmd)
	return cmd
}

// LMPop takes up to count values from one end, left or right, of the first list that
// has any. The reply is the key and the values; Nil where all are empty. Since Redis
// 7.0, O(N+M) with the keys and the values.
func (c cmdable) LMPop(ctx context.Context, direction string, count int64, keys ...string) *KeyValuesCmd {
	cmd := roomy[KeyValuesCmd]()
	cmd.begin("lmpop")
	cmd.numKeys(keys)
	cmd.str(direction)
	cmd.optInt(true, "count", count)
	_ = c(ctx, cmd)
	return cmd
}

// BLMPop is LMPop, and waits for a value at most for timeout, 0 for ever; Nil when the
// time has run out. Since Redis 7.0, O(N+M) with the keys and the values.
func (c cmdable) BLMPop(ctx context.Context, timeout time.Duration, direction string, count int64, keys ...string) *KeyValuesCmd {
	cmd := roomy[KeyValuesCmd]()
	cmd.begin("blmpop")
	cmd.block(timeout)
	cmd.numKeys(keys)
	cmd.str(direction)
	cmd.optInt(true, "count", count)
	_ = c(ctx, cmd)
	return cmd
}

// LIndex gives the value at a position, which counts from the end if negative; Nil
// where there is none. Since Redis 1.0, O(N) with the distance from the nearer end.
func (c cmdable) LIndex(ctx context.Context, key string, index int64) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("lindex", key)
	cmd.int(index)
	_ = c(ctx, cmd)
	return cmd
}

// LInsert puts value before or after the first value that is pivot, as op says:
// BEFORE or AFTER. It gives the new length, -1 without pivot, 0 without list. Since
// Redis 2.2, O(N) with the distance of pivot.
func (c cmdable) LInsert(ctx context.Context, key, op string, pivot, value any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("linsert", key)
	cmd.str(op)
	cmd.arg(pivot)
	cmd.arg(value)
	_ = c(ctx, cmd)
	return cmd
}

// LInsertBefore is LInsert with BEFORE. Since Redis 2.2, O(N) with the distance of pivot.
func (c cmdable) LInsertBefore(ctx context.Context, key string, pivot, value any) *IntCmd {
	return c.LInsert(ctx, key, "before", pivot, value)
}

// LInsertAfter is LInsert with AFTER. Since Redis 2.2, O(N) with the distance of pivot.
func (c cmdable) LInsertAfter(ctx context.Context, key string, pivot, value any) *IntCmd {
	return c.LInsert(ctx, key, "after", pivot, value)
}

// LPosArgs are the options of LPos and LPosCount.
type LPosArgs struct {
	// Rank says which match is the first that counts: 1 the first, 2 the second, -1 the
	// last; 0: the first.
	Rank int64
	// MaxLen is how many values are compared at most; 0: all.
	MaxLen int64
}

// LPos gives the position of value in the list; Nil where it is not. Since Redis
// 6.0.6, O(N) with the values.
func (c cmdable) LPos(ctx context.Context, key, value string, args LPosArgs) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("lpos", key)
	cmd.str(value)
	cmd.optInt(args.Rank != 0, "rank", args.Rank)
	cmd.optInt(args.MaxLen != 0, "maxlen", args.MaxLen)
	_ = c(ctx, cmd)
	return cmd
}

// LPosCount gives up to count positions of value in the list; with count 0, all; none
// where it is not. Since Redis 6.0.6, O(N) with the values.
func (c cmdable) LPosCount(ctx context.Context, key, value string, count int64, args LPosArgs) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.key("lpos", key)
	cmd.str(value)
	cmd.optInt(true, "count", count)
	cmd.optInt(args.Rank != 0, "rank", args.Rank)
	cmd.optInt(args.MaxLen != 0, "maxlen", args.MaxLen)
	_ = c(ctx, cmd)
	return cmd
}

// LRem removes values that are value: the first count ones, the last -count ones, all
// for 0. It gives how many there were. Since Redis 1.0, O(N) with the values.
func (c cmdable) LRem(ctx context.Context, key string, count int64, value any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("lrem", key)
	cmd.int(count)
	cmd.arg(value)
	_ = c(ctx, cmd)
	return cmd
}

// LSet replaces the value at a position, which counts from the end if negative. An
// error of the server says that there is none. Since Redis 1.0, O(N) with the distance
// from the nearer end.
func (c cmdable) LSet(ctx context.Context, key string, index int64, value any) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("lset", key)
	cmd.int(index)
	cmd.arg(value)
	_ = c(ctx, cmd)
	return cmd
}

// LTrim removes all but the values from start to stop, both included; negative
// positions count from the end. Since Redis 1.0, O(N) with the values removed.
func (c cmdable) LTrim(ctx context.Context, key string, start, stop int64) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("ltrim", key)
	cmd.int(start)
	cmd.int(stop)
	_ = c(ctx, cmd)
	return cmd
}
