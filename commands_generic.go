package redis

import (
	"context"
	"time"
)

// Del removes keys and gives how many there were. Since Redis 1.0, O(N) with the
// keys, and with the elements of the values.
func (c cmdable) Del(ctx context.Context, keys ...string) *IntCmd {
	cmd := &IntCmd{}
	cmd.keys("del", keys)
	_ = c(ctx, cmd)
	return cmd
}

// Unlink is Del, with the memory freed later by another thread of the server. Since
// Redis 4.0, O(1) for each key.
func (c cmdable) Unlink(ctx context.Context, keys ...string) *IntCmd {
	cmd := &IntCmd{}
	cmd.keys("unlink", keys)
	_ = c(ctx, cmd)
	return cmd
}

// Exists gives how many of keys exist; one that is named twice counts twice. Since
// Redis 1.0, O(N) with the keys.
func (c cmdable) Exists(ctx context.Context, keys ...string) *IntCmd {
	cmd := &IntCmd{}
	cmd.keys("exists", keys)
	_ = c(ctx, cmd)
	return cmd
}

// Touch makes keys recently used, and gives how many exist. Since Redis 3.2.1, O(N)
// with the keys.
func (c cmdable) Touch(ctx context.Context, keys ...string) *IntCmd {
	cmd := &IntCmd{}
	cmd.keys("touch", keys)
	_ = c(ctx, cmd)
	return cmd
}

// Type gives what a key holds: string, list, set, zset, hash, stream or none. Since
// Redis 1.0, O(1).
func (c cmdable) Type(ctx context.Context, key string) *StatusCmd {
	cmd := &StatusCmd{}
	cmd.key("type", key)
	_ = c(ctx, cmd)
	return cmd
}

// Keys gives all keys that match a glob pattern. The server does nothing else
// meanwhile; Scan is the better choice. Since Redis 1.0, O(N) with all keys.
func (c cmdable) Keys(ctx context.Context, pattern string) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.key("keys", pattern)
	_ = c(ctx, cmd)
	return cmd
}

// RandomKey gives some key; Nil where there is none. Since Redis 1.0, O(1).
func (c cmdable) RandomKey(ctx context.Context) *StringCmd {
	cmd := &StringCmd{}
	cmd.begin("randomkey")
	_ = c(ctx, cmd)
	return cmd
}

// Scan gives a page of the keys and the cursor of the next page, 0 after the last;
// the first page has cursor 0. A page may be empty. match is a glob pattern, empty
// for all; count is a hint how much to go through, 0 for the server's default. See
// ScanCmd.Iterator. Since Redis 2.8, O(1) for a page.
func (c cmdable) Scan(ctx context.Context, cursor uint64, match string, count int64) *ScanCmd {
	return c.ScanType(ctx, cursor, match, count, "")
}

// ScanType is Scan for the keys that hold the type keyType, as Type names it. Since
// Redis 6.0.
func (c cmdable) ScanType(ctx context.Context, cursor uint64, match string, count int64, keyType string) *ScanCmd {
	cmd := &ScanCmd{process: c}
	cmd.begin("scan")
	cmd.scanArgs(cursor, match, count)
	if keyType != "" {
		cmd.strs("type", keyType)
	}
	_ = c(ctx, cmd)
	return cmd
}

// Expire sets the time to live of key in whole seconds, at least one; 0 or less
// removes the key. It tells whether the key exists. Since Redis 1.0, O(1).
func (c cmdable) Expire(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.expire(ctx, key, expiration, "")
}

// ExpireNX is Expire where the key has no time to live. Since Redis 7.0.
func (c cmdable) ExpireNX(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.expire(ctx, key, expiration, "nx")
}

// ExpireXX is Expire where the key has a time to live. Since Redis 7.0.
func (c cmdable) ExpireXX(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.expire(ctx, key, expiration, "xx")
}

// ExpireGT is Expire where the key would live longer; one without a time to live
// lives for ever. Since Redis 7.0.
func (c cmdable) ExpireGT(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.expire(ctx, key, expiration, "gt")
}

// ExpireLT is Expire where the key would live shorter. Since Redis 7.0.
func (c cmdable) ExpireLT(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.expire(ctx, key, expiration, "lt")
}

func (c cmdable) expire(ctx context.Context, key string, d time.Duration, mode string) *BoolCmd {
	cmd := &BoolCmd{}
	cmd.key("expire", key)
	cmd.int(seconds(d))
	cmd.opt(mode != "", mode)
	_ = c(ctx, cmd)
	return cmd
}

// TTL gives the time to live in whole seconds; -1 (a nanosecond) for a key that has
// none, -2 for a key that does not exist. Since Redis 1.0, O(1).
func (c cmdable) TTL(ctx context.Context, key string) *DurationCmd {
	cmd := &DurationCmd{precision: time.Second}
	cmd.key("ttl", key)
	_ = c(ctx, cmd)
	return cmd
}
