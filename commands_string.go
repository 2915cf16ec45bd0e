package redis

import (
	"context"
	"time"
)

// KeepTTL is the expiration with which Set and its like keep the time to live that
// the key has.
const KeepTTL = -1

// subSecond tells whether a duration needs milliseconds.
func subSecond(d time.Duration) bool { return d%time.Second != 0 }

// seconds is a duration in whole seconds. One that is shorter than a second is one,
// because 0 has another meaning.
func seconds(d time.Duration) int64 {
	if 0 < d && d < time.Second {
		return 1
	}
	return int64(d / time.Second)
}

// milliseconds is a duration in whole milliseconds. One that is shorter than a
// millisecond is one, because 0 has another meaning.
func milliseconds(d time.Duration) int64 {
	if 0 < d && d < time.Millisecond {
		return 1
	}
	return int64(d / time.Millisecond)
}

// ttl appends a time to live: none for 0, KEEPTTL, or EX with seconds, and PX with
// milliseconds where seconds are too coarse.
func (c *baseCmd) ttl(d time.Duration) {
	switch {
	case d == KeepTTL:
		c.str("keepttl")
	case d > 0 && subSecond(d):
		c.optInt(true, "px", milliseconds(d))
	case d > 0:
		c.optInt(true, "ex", seconds(d))
	}
}

// ttlRoom is how many bytes ttl appends, or a few more.
func ttlRoom(d time.Duration) int {
	if d == 0 {
		return 0
	}
	return len("$2\r\nex\r\n$8\r\n12345678\r\n")
}

// Get gives the value of key; Nil where there is none. An error of the server says
// that the key holds no string. Since Redis 1.0, O(1).
func (c cmdable) Get(ctx context.Context, key string) *StringCmd {
	cmd := fitting[StringCmd](len("get"), len(key))
	cmd.key("get", key)
	_ = c(ctx, cmd)
	return cmd
}

// Set stores value in key, whatever it held, for the time of expiration: 0 for ever,
// KeepTTL for as long as the key would have lived. Below a second, the server is
// told milliseconds. Since Redis 1.0 (KeepTTL since 6.0), O(1).
func (c cmdable) Set(ctx context.Context, key string, value any, expiration time.Duration) *StatusCmd {
	cmd := fitting[StatusCmd](len("set"), len(key), argSize(value)+ttlRoom(expiration))
	cmd.key("set", key)
	cmd.arg(value)
	cmd.ttl(expiration)
	_ = c(ctx, cmd)
	return cmd
}

// SetEx is Set for a whole number of seconds, at least one. Since Redis 2.0, O(1).
func (c cmdable) SetEx(ctx context.Context, key string, value any, expiration time.Duration) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("setex", key)
	cmd.int(seconds(expiration))
	cmd.arg(value)
	_ = c(ctx, cmd)
	return cmd
}

// SetNX stores value in key if the key does not exist, and tells whether it did. For
// expiration see Set. Since Redis 1.0, O(1).
func (c cmdable) SetNX(ctx context.Context, key string, value any, expiration time.Duration) *BoolCmd {
	cmd := roomy[BoolCmd]()
	if expiration == 0 {
		cmd.key("setnx", key)
		cmd.arg(value)
	} else {
		cmd.key("set", key)
		cmd.arg(value)
		cmd.ttl(expiration)
		cmd.str("nx")
	}
	_ = c(ctx, cmd)
	return cmd
}

// SetXX stores value in key if the key exists, and tells whether it did. For
// expiration see Set. Since Redis 2.6.12, O(1).
func (c cmdable) SetXX(ctx context.Context, key string, value any, expiration time.Duration) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("set", key)
	cmd.arg(value)
	cmd.ttl(expiration)
	cmd.str("xx")
	_ = c(ctx, cmd)
	return cmd
}

// SetArgs are the options of SetArgs; the zero value is a plain SET.
type SetArgs struct {
	// Mode is NX (only if the key does not exist), XX (only if it does), or empty;
	// since Redis 8.4 also IFEQ and IFNE, which compare the key's value with
	// MatchValue, and IFDEQ and IFDNE, which compare its digest with MatchDigest.
	Mode        string
	MatchValue  any
	MatchDigest uint64

	// TTL is the time to live; 0 none.
	TTL time.Duration
	// ExpireAt is when the key expires, in whole seconds; zero: never. It goes before
	// TTL.
	ExpireAt time.Time
	// Get makes the key's former value the reply, Nil where there was none. With
	// Mode NX since Redis 7.0.
	Get bool
	// KeepTTL keeps the time to live that the key has.
	KeepTTL bool
}

// SetArgs stores value in key under the conditions of a. The reply is OK, or Nil if a
// condition was not met; with Get, the former value, or Nil where there was none. Since
// Redis 2.6.12, O(1).
func (c cmdable) SetArgs(ctx context.Context, key string, value any, a SetArgs) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("set", key)
	cmd.arg(value)
	cmd.opt(a.KeepTTL, "keepttl")
	if !a.ExpireAt.IsZero() {
		cmd.optInt(true, "exat", a.ExpireAt.Unix())
	} else if a.TTL > 0 {
		cmd.ttl(a.TTL)
	}
	cmd.condition(a.Mode, a.MatchValue, a.MatchDigest)
	cmd.opt(a.Get, "get")
	_ = c(ctx, cmd)
	return cmd
}

// GetSet stores value in key, for ever, and gives the former value; Nil where there
// was none. Since Redis 1.0, O(1); SetArgs with Get replaces it.
func (c cmdable) GetSet(ctx context.Context, key string, value any) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("getset", key)
	cmd.arg(value)
	_ = c(ctx, cmd)
	return cmd
}

// GetEx is Get, and sets the time to live: 0 removes it, a negative one leaves it as it
// is. Nil where there is no key. Since Redis 6.2, O(1).
func (c cmdable) GetEx(ctx context.Context, key string, expiration time.Duration) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("getex", key)
	switch {
	case expiration > 0:
		cmd.ttl(expiration)
	case expiration == 0:
		cmd.str("persist")
	}
	_ = c(ctx, cmd)
	return cmd
}

// GetDel is Get, and removes the key; Nil where there is none. Since Redis 6.2, O(1).
func (c cmdable) GetDel(ctx context.Context, key string) *StringCmd {
	cmd := fitting[StringCmd](len("getdel"), len(key))
	cmd.key("getdel", key)
	_ = c(ctx, cmd)
	return cmd
}

// GetRange gives the bytes of the value from start to end, both included; negative
// offsets count from the end. A key that does not exist gives the empty string.
// Since Redis 2.4, O(N) with the bytes returned.
func (c cmdable) GetRange(ctx context.Context, key string, start, end int64) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("getrange", key)
	cmd.int(start)
	cmd.int(end)
	_ = c(ctx, cmd)
	return cmd
}

// SetRange overwrites the value from offset on, with zero bytes before it where the value
// is shorter, and gives the new length. That the value would be larger than
// proto-max-bulk-len (512 MB) is an error of the server. Since Redis 2.2, O(1) for short
// values.
func (c cmdable) SetRange(ctx context.Context, key string, offset int64, value string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("setrange", key)
	cmd.int(offset)
	cmd.str(value)
	_ = c(ctx, cmd)
	return cmd
}

// Append appends value to the key's value, and gives the new length. A key that does
// not exist becomes value. Since Redis 2.0, O(1).
func (c cmdable) Append(ctx context.Context, key, value string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("append", key)
	cmd.str(value)
	_ = c(ctx, cmd)
	return cmd
}

// StrLen gives the length of the key's value in bytes, 0 where there is none. Since
// Redis 2.2, O(1).
func (c cmdable) StrLen(ctx context.Context, key string) *IntCmd {
	cmd := fitting[IntCmd](len("strlen"), len(key))
	cmd.key("strlen", key)
	_ = c(ctx, cmd)
	return cmd
}

// Incr adds one to the number in key, which counts from 0 where there is none, and
// gives the sum. An error of the server says that the value is no integer, or that
// the sum does not fit 64 bits. Since Redis 1.0, O(1).
func (c cmdable) Incr(ctx context.Context, key string) *IntCmd {
	cmd := fitting[IntCmd](len("incr"), len(key))
	cmd.key("incr", key)
	_ = c(ctx, cmd)
	return cmd
}

// IncrBy is Incr with value instead of one, and has the same errors. Since Redis 1.0,
// O(1).
func (c cmdable) IncrBy(ctx context.Context, key string, value int64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("incrby", key)
	cmd.int(value)
	_ = c(ctx, cmd)
	return cmd
}

// IncrByFloat is Incr for numbers with a fraction. An error of the server says that the
// value is no number. Since Redis 2.6, O(1).
func (c cmdable) IncrByFloat(ctx context.Context, key string, value float64) *FloatCmd {
	cmd := roomy[FloatCmd]()
	cmd.key("incrbyfloat", key)
	cmd.float(value)
	_ = c(ctx, cmd)
	return cmd
}

// Decr subtracts one from the number in key, which counts from 0 where there is none, and
// gives the difference. For errors see Incr. Since Redis 1.0, O(1).
func (c cmdable) Decr(ctx context.Context, key string) *IntCmd {
	cmd := fitting[IntCmd](len("decr"), len(key))
	cmd.key("decr", key)
	_ = c(ctx, cmd)
	return cmd
}

// DecrBy is Decr with decrement instead of one. For errors see Incr. Since Redis 1.0,
// O(1).
func (c cmdable) DecrBy(ctx context.Context, key string, decrement int64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("decrby", key)
	cmd.int(decrement)
	_ = c(ctx, cmd)
	return cmd
}

// MGet gives the values of keys in their order, each a string, or nil where the key
// does not exist or holds no string. Since Redis 1.0, O(N) with the keys.
func (c cmdable) MGet(ctx context.Context, keys ...string) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.keys("mget", keys)
	_ = c(ctx, cmd)
	return cmd
}

// MSet stores several values at once. It takes keys and values in turn, or one
// []string or []any of these, a map[string]any or map[string]string, or a struct
// whose fields have tags `redis:"key"`. Since Redis 1.0.1, O(N) with the keys.
func (c cmdable) MSet(ctx context.Context, values ...any) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("mset")
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}

// MSetNX is MSet if none of the keys exists, and tells whether it did. Since Redis
// 1.0.1, O(N) with the keys.
func (c cmdable) MSetNX(ctx context.Context, values ...any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.begin("msetnx")
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}
