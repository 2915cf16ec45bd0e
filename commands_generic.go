package redis

import (
	"context"
	"time"
)

// Del removes keys and gives how many there were. Since Redis 1.0, O(N) with the
// keys, and with the elements of the values.
func (c cmdable) Del(ctx context.Context, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.keys("del", keys)
	_ = c(ctx, cmd)
	return cmd
}

// Unlink is Del, with the memory freed later by another thread of the server. Since
// Redis 4.0, O(1) for each key.
func (c cmdable) Unlink(ctx context.Context, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.keys("unlink", keys)
	_ = c(ctx, cmd)
	return cmd
}

// Exists gives how many of keys exist; one that is named twice counts twice. Since
// Redis 1.0, O(N) with the keys.
func (c cmdable) Exists(ctx context.Context, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.keys("exists", keys)
	_ = c(ctx, cmd)
	return cmd
}

// Touch makes keys recently used, and gives how many exist. Since Redis 3.2.1, O(N)
// with the keys.
func (c cmdable) Touch(ctx context.Context, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.keys("touch", keys)
	_ = c(ctx, cmd)
	return cmd
}

// Type gives what a key holds: string, list, set, zset, hash, stream or none. Since
// Redis 1.0, O(1).
func (c cmdable) Type(ctx context.Context, key string) *StatusCmd {
	cmd := fitting[StatusCmd](len("type"), len(key))
	cmd.key("type", key)
	_ = c(ctx, cmd)
	return cmd
}

// Keys gives all keys that match a glob pattern. The server does nothing else
// meanwhile; Scan is the better choice. Since Redis 1.0, O(N) with all keys.
func (c cmdable) Keys(ctx context.Context, pattern string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("keys", pattern)
	_ = c(ctx, cmd)
	return cmd
}

// RandomKey gives some key; Nil where there is none. Since Redis 1.0, O(1).
func (c cmdable) RandomKey(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
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

// ScanType is Scan for the keys that hold the type keyType, as Type names it. Since Redis
// 6.0, O(1) for a page.
func (c cmdable) ScanType(ctx context.Context, cursor uint64, match string, count int64, keyType string) *ScanCmd {
	cmd := roomy[ScanCmd]()
	cmd.process = c
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

// ExpireNX is Expire where the key has no time to live, and false if it has one. Since
// Redis 7.0, O(1).
func (c cmdable) ExpireNX(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.expire(ctx, key, expiration, "nx")
}

// ExpireXX is Expire where the key has a time to live, and false if it has none. Since
// Redis 7.0, O(1).
func (c cmdable) ExpireXX(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.expire(ctx, key, expiration, "xx")
}

// ExpireGT is Expire where the key would live longer; one without a time to live lives
// for ever. Since Redis 7.0, O(1).
func (c cmdable) ExpireGT(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.expire(ctx, key, expiration, "gt")
}

// ExpireLT is Expire where the key would live shorter. Since Redis 7.0, O(1).
func (c cmdable) ExpireLT(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	return c.expire(ctx, key, expiration, "lt")
}

func (c cmdable) expire(ctx context.Context, key string, d time.Duration, mode string) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("expire", key)
	cmd.int(seconds(d))
	cmd.opt(mode != "", mode)
	_ = c(ctx, cmd)
	return cmd
}

// TTL gives the time to live in whole seconds; -1 (a nanosecond) for a key that has
// none, -2 for a key that does not exist. Since Redis 1.0, O(1).
func (c cmdable) TTL(ctx context.Context, key string) *DurationCmd {
	cmd := roomy[DurationCmd]()
	cmd.precision = time.Second
	cmd.key("ttl", key)
	_ = c(ctx, cmd)
	return cmd
}

// PTTL is TTL in milliseconds. Since Redis 2.6, O(1).
func (c cmdable) PTTL(ctx context.Context, key string) *DurationCmd {
	cmd := roomy[DurationCmd]()
	cmd.precision = time.Millisecond
	cmd.key("pttl", key)
	_ = c(ctx, cmd)
	return cmd
}

// ExpireAt sets when key expires, in whole seconds; a time that has passed removes
// it. It tells whether the key exists. Since Redis 1.2, O(1).
func (c cmdable) ExpireAt(ctx context.Context, key string, tm time.Time) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("expireat", key)
	cmd.int(tm.Unix())
	_ = c(ctx, cmd)
	return cmd
}

// ExpireTime gives when key expires, as the time since 1970 in whole seconds; -1 (a
// nanosecond) for a key that does not expire, -2 for one that does not exist. Since
// Redis 7.0, O(1).
func (c cmdable) ExpireTime(ctx context.Context, key string) *DurationCmd {
	cmd := roomy[DurationCmd]()
	cmd.precision = time.Second
	cmd.key("expiretime", key)
	_ = c(ctx, cmd)
	return cmd
}

// PExpire is Expire in whole milliseconds, at least one. Since Redis 2.6, O(1).
func (c cmdable) PExpire(ctx context.Context, key string, expiration time.Duration) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("pexpire", key)
	cmd.int(milliseconds(expiration))
	_ = c(ctx, cmd)
	return cmd
}

// PExpireAt is ExpireAt in whole milliseconds. Since Redis 2.6, O(1).
func (c cmdable) PExpireAt(ctx context.Context, key string, tm time.Time) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("pexpireat", key)
	cmd.int(tm.UnixMilli())
	_ = c(ctx, cmd)
	return cmd
}

// PExpireTime is ExpireTime in whole milliseconds. Since Redis 7.0, O(1).
func (c cmdable) PExpireTime(ctx context.Context, key string) *DurationCmd {
	cmd := roomy[DurationCmd]()
	cmd.precision = time.Millisecond
	cmd.key("pexpiretime", key)
	_ = c(ctx, cmd)
	return cmd
}

// Persist removes the time to live, and tells whether there was one. Since Redis 2.2,
// O(1).
func (c cmdable) Persist(ctx context.Context, key string) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("persist", key)
	_ = c(ctx, cmd)
	return cmd
}

// Rename gives key another name and replaces what has that name. An error of the
// server says that there is no key. Since Redis 1.0, O(1).
func (c cmdable) Rename(ctx context.Context, key, newkey string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("rename", key)
	cmd.str(newkey)
	_ = c(ctx, cmd)
	return cmd
}

// RenameNX is Rename if nothing has the new name, and tells whether it did. Since
// Redis 1.0, O(1).
func (c cmdable) RenameNX(ctx context.Context, key, newkey string) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("renamenx", key)
	cmd.str(newkey)
	_ = c(ctx, cmd)
	return cmd
}

// Copy copies the value of sourceKey to destKey of database db, and gives 1 if it did,
// else 0: there is none, or destKey has a value and replace does not say that it may be
// replaced. Since Redis 6.2, O(N) with the elements of the value.
func (c cmdable) Copy(ctx context.Context, sourceKey, destKey string, db int, replace bool) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("copy", sourceKey)
	cmd.str(destKey)
	cmd.optInt(true, "db", int64(db))
	cmd.opt(replace, "replace")
	_ = c(ctx, cmd)
	return cmd
}

// Move moves key to another database, and tells whether it did: not if it does not exist,
// or if that database has one of the name. Since Redis 1.0, O(1).
func (c cmdable) Move(ctx context.Context, key string, db int) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("move", key)
	cmd.int(int64(db))
	_ = c(ctx, cmd)
	return cmd
}

// Migrate moves key to another server, to database db there. timeout is how long the two
// servers may be silent. The reply is NOKEY instead of OK if there is no such key. An
// error of the server says that the other one can't be reached (IOERR), or has refused
// it. The command has a connection of its own. Since Redis 2.6, O(N) with the elements of
// the value.
func (c cmdable) Migrate(ctx context.Context, host, port, key string, db int, timeout time.Duration) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("migrate")
	cmd.strs(host, port, key)
	cmd.int(int64(db))
	cmd.int(milliseconds(timeout))
	cmd.blocks(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// Dump gives the value of key in the form that Restore takes; Nil where there is
// none. Since Redis 2.6, O(N) with the elements of the value.
func (c cmdable) Dump(ctx context.Context, key string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("dump", key)
	_ = c(ctx, cmd)
	return cmd
}

// Restore makes key from the output of Dump. ttl is the time to live in whole
// milliseconds, 0 for ever. An error of the server says that the key exists (BUSYKEY), or
// that value is no output of Dump. Since Redis 2.6, O(N) with the elements of the value.
func (c cmdable) Restore(ctx context.Context, key string, ttl time.Duration, value string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("restore", key)
	cmd.int(milliseconds(ttl))
	cmd.str(value)
	_ = c(ctx, cmd)
	return cmd
}

// RestoreReplace is Restore, also where the key exists. Since Redis 3.0, O(N) with the
// elements of the value.
func (c cmdable) RestoreReplace(ctx context.Context, key string, ttl time.Duration, value string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("restore", key)
	cmd.int(milliseconds(ttl))
	cmd.strs(value, "replace")
	_ = c(ctx, cmd)
	return cmd
}

// ObjectEncoding gives how the server stores the value of key; Nil where there is
// none. Since Redis 2.2.3, O(1).
func (c cmdable) ObjectEncoding(ctx context.Context, key string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("object", "encoding")
	cmd.str(key)
	_ = c(ctx, cmd)
	return cmd
}

// ObjectFreq gives how often key is used, on a logarithmic scale; Nil where there is
// none. The server must have an LFU policy for its memory, or answers with an error.
// Since Redis 4.0, O(1).
func (c cmdable) ObjectFreq(ctx context.Context, key string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("object", "freq")
	cmd.str(key)
	_ = c(ctx, cmd)
	return cmd
}

// ObjectIdleTime gives for how long key was not used, in whole seconds; Nil where there
// is none. That the server has an LFU policy for its memory is an error. Since Redis
// 2.2.3, O(1).
func (c cmdable) ObjectIdleTime(ctx context.Context, key string) *DurationCmd {
	cmd := roomy[DurationCmd]()
	cmd.precision = time.Second
	cmd.sub("object", "idletime")
	cmd.str(key)
	_ = c(ctx, cmd)
	return cmd
}

// ObjectRefCount gives how often the server refers to the value of key; Nil where
// there is none. Since Redis 2.2.3, O(1).
func (c cmdable) ObjectRefCount(ctx context.Context, key string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("object", "refcount")
	cmd.str(key)
	_ = c(ctx, cmd)
	return cmd
}

// Sort says how to sort; the zero value sorts numbers, the lowest first.
type Sort struct {
	// By is the pattern of the keys whose values are the weights, with * for the
	// element; empty: the elements themselves.
	By            string
	Offset, Count int64 // with Count 0 and Offset 0 all
	// Get are the patterns of the keys whose values are returned, # for the element;
	// empty: the elements.
	Get   []string
	Order string // ASC or DESC; empty: ASC
	Alpha bool   // as text, not as numbers
}

// sort encodes a SORT.
func (c *baseCmd) sort(name, key string, s *Sort) {
	c.key(name, key)
	if s == nil {
		return
	}
	if s.By != "" {
		c.strs("by", s.By)
	}
	if s.Offset != 0 || s.Count != 0 {
		c.str("limit")
		c.int(s.Offset)
		c.int(s.Count)
	}
	for _, p := range s.Get {
		c.strs("get", p)
	}
	c.opt(s.Order != "", s.Order)
	c.opt(s.Alpha, "alpha")
}

// Sort gives the elements of a list, set or sorted set in order; none where the key does
// not exist. That an element is no number is an error of the server unless the order is
// alphabetical. Since Redis 1.0, O(N+M*log(M)) with all elements and those returned.
func (c cmdable) Sort(ctx context.Context, key string, sort *Sort) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sort("sort", key, sort)
	_ = c(ctx, cmd)
	return cmd
}

// SortRO is Sort for replicas, which take no command that could write. Since Redis 7.0,
// O(N+M*log(M)) as Sort.
func (c cmdable) SortRO(ctx context.Context, key string, sort *Sort) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sort("sort_ro", key, sort)
	_ = c(ctx, cmd)
	return cmd
}

// SortStore is Sort with the result stored as a list, and its length as the reply. Since
// Redis 1.0, O(N+M*log(M)) as Sort.
func (c cmdable) SortStore(ctx context.Context, key, store string, sort *Sort) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sort("sort", key, sort)
	if store != "" {
		cmd.strs("store", store)
	}
	_ = c(ctx, cmd)
	return cmd
}

// SortInterfaces is Sort where the values that are got may be missing: nil for those.
// Since Redis 1.0, O(N+M*log(M)) as Sort.
func (c cmdable) SortInterfaces(ctx context.Context, key string, sort *Sort) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.sort("sort", key, sort)
	_ = c(ctx, cmd)
	return cmd
}
