package redis

import (
	"context"
	"time"
)

// HGet gives the value of a field; Nil where the key or the field does not exist.
// Since Redis 2.0, O(1).
func (c cmdable) HGet(ctx context.Context, key, field string) *StringCmd {
	cmd := fitting[StringCmd](len("hget"), len(key), len(field))
	cmd.key("hget", key)
	cmd.str(field)
	_ = c(ctx, cmd)
	return cmd
}

// HMGet gives the values of fields in their order, each a string, or nil where there
// is none. Since Redis 2.0, O(N) with the fields.
func (c cmdable) HMGet(ctx context.Context, key string, fields ...string) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.key("hmget", key)
	cmd.strs(fields...)
	_ = c(ctx, cmd)
	return cmd
}

// HGetAll gives all fields with their values; none for a key that does not exist.
// Since Redis 2.0, O(N) with the fields.
func (c cmdable) HGetAll(ctx context.Context, key string) *MapStringStringCmd {
	cmd := fitting[MapStringStringCmd](len("hgetall"), len(key))
	cmd.key("hgetall", key)
	_ = c(ctx, cmd)
	return cmd
}

// HKeys gives the names of all fields; none for a key that does not exist. Since Redis
// 2.0, O(N) with the fields.
func (c cmdable) HKeys(ctx context.Context, key string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("hkeys", key)
	_ = c(ctx, cmd)
	return cmd
}

// HVals gives the values of all fields; none for a key that does not exist. Since Redis
// 2.0, O(N) with the fields.
func (c cmdable) HVals(ctx context.Context, key string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("hvals", key)
	_ = c(ctx, cmd)
	return cmd
}

// HLen gives the number of fields, 0 for a key that does not exist. Since Redis 2.0,
// O(1).
func (c cmdable) HLen(ctx context.Context, key string) *IntCmd {
	cmd := fitting[IntCmd](len("hlen"), len(key))
	cmd.key("hlen", key)
	_ = c(ctx, cmd)
	return cmd
}

// HStrLen gives the length of a field's value in bytes, 0 where there is none. Since
// Redis 3.2, O(1).
func (c cmdable) HStrLen(ctx context.Context, key, field string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("hstrlen", key)
	cmd.str(field)
	_ = c(ctx, cmd)
	return cmd
}

// HExists tells whether a field exists. Since Redis 2.0, O(1).
func (c cmdable) HExists(ctx context.Context, key, field string) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("hexists", key)
	cmd.str(field)
	_ = c(ctx, cmd)
	return cmd
}

// HSet sets fields and gives how many are new. It takes names and values in turn, or
// one []string or []any of these, a map[string]any or map[string]string, or a struct
// whose fields have tags:
//
//	type user struct {
//		Name  string `redis:"name"`
//		Email string `redis:"email,omitempty"` // left out if empty
//	}
//
// Since Redis 4.0 (a single field: 2.0), O(N) with the fields.
func (c cmdable) HSet(ctx context.Context, key string, values ...any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("hset", key)
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}

// HMSet is HSet without the number of new fields. Since Redis 2.0, O(N) with the fields;
// HSet replaces it.
func (c cmdable) HMSet(ctx context.Context, key string, values ...any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("hmset", key)
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}

// HSetNX sets a field that does not exist, and tells whether it did. Since Redis 2.0,
// O(1).
func (c cmdable) HSetNX(ctx context.Context, key, field string, value any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("hsetnx", key)
	cmd.str(field)
	cmd.arg(value)
	_ = c(ctx, cmd)
	return cmd
}

// HDel removes fields and gives how many there were. Since Redis 2.0, O(N) with the
// fields.
func (c cmdable) HDel(ctx context.Context, key string, fields ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("hdel", key)
	cmd.strs(fields...)
	_ = c(ctx, cmd)
	return cmd
}

// HIncrBy adds incr to the number in a field, which counts from 0 where there is none,
// and gives the sum. An error of the server says that the value is no integer, or that
// the sum does not fit 64 bits. Since Redis 2.0, O(1).
func (c cmdable) HIncrBy(ctx context.Context, key, field string, incr int64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("hincrby", key)
	cmd.str(field)
	cmd.int(incr)
	_ = c(ctx, cmd)
	return cmd
}

// HIncrByFloat is HIncrBy for numbers with a fraction. An error of the server says that
// the value is no number. Since Redis 2.6, O(1).
func (c cmdable) HIncrByFloat(ctx context.Context, key, field string, incr float64) *FloatCmd {
	cmd := roomy[FloatCmd]()
	cmd.key("hincrbyfloat", key)
	cmd.str(field)
	cmd.float(incr)
	_ = c(ctx, cmd)
	return cmd
}

// HScan gives a page of names and values in turn; see Scan. Since Redis 2.8, O(1) for
// a page.
func (c cmdable) HScan(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd {
	cmd := roomy[ScanCmd]()
	cmd.process = c
	cmd.key("hscan", key)
	cmd.scanArgs(cursor, match, count)
	_ = c(ctx, cmd)
	return cmd
}

// HScanNoValues is HScan with the names only. Since Redis 7.4, O(1) for a page.
func (c cmdable) HScanNoValues(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd {
	cmd := roomy[ScanCmd]()
	cmd.process = c
	cmd.key("hscan", key)
	cmd.scanArgs(cursor, match, count)
	cmd.str("novalues")
	_ = c(ctx, cmd)
	return cmd
}

// HRandField gives the names of up to count random fields; of a negative count exactly
// that many, the same one possibly several times. It gives none for a key that does not
// exist. Since Redis 6.2, O(N) with the fields returned.
func (c cmdable) HRandField(ctx context.Context, key string, count int) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("hrandfield", key)
	cmd.int(int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// HRandFieldWithValues is HRandField with the values. Since Redis 6.2, O(N) with the
// fields returned.
func (c cmdable) HRandFieldWithValues(ctx context.Context, key string, count int) *KeyValueSliceCmd {
	cmd := roomy[KeyValueSliceCmd]()
	cmd.key("hrandfield", key)
	cmd.int(int64(count))
	cmd.str("withvalues")
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// HExpireArgs are the conditions of HExpire and its like; at most one is true. NX:
// the field has no time to live, XX: it has one, GT and LT: it would live longer or
// shorter.
type HExpireArgs struct {
	NX bool
	XX bool
	GT bool
	LT bool
}

// fields appends the names of fields as the commands for their time to live want
// them.
func (c *baseCmd) fields(fields []string) {
	c.str("fields")
	c.numKeys(fields)
}

func (c cmdable) hexpire(ctx context.Context, name, key string, v int64, a HExpireArgs, fields []string) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.key(name, key)
	cmd.int(v)
	switch {
	case a.NX:
		cmd.str("nx")
	case a.XX:
		cmd.str("xx")
	case a.GT:
		cmd.str("gt")
	case a.LT:
		cmd.str("lt")
	}
	cmd.fields(fields)
	_ = c(ctx, cmd)
	return cmd
}

func (c cmdable) hfields(ctx context.Context, name, key string, fields []string) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.key(name, key)
	cmd.fields(fields)
	_ = c(ctx, cmd)
	return cmd
}

// HExpire sets the time to live of fields in whole seconds, at least one; 0 removes
// them. For each field it gives 1 set, 2 removed, 0 condition not met, -2 no such
// field. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HExpire(ctx context.Context, key string, expiration time.Duration, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hexpire", key, seconds(expiration), HExpireArgs{}, fields)
}

// HExpireWithArgs is HExpire under a condition. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HExpireWithArgs(ctx context.Context, key string, expiration time.Duration, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hexpire", key, seconds(expiration), expirationArgs, fields)
}

// HPExpire is HExpire in whole milliseconds, at least one. Since Redis 7.4, O(N) with the
// fields.
func (c cmdable) HPExpire(ctx context.Context, key string, expiration time.Duration, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hpexpire", key, milliseconds(expiration), HExpireArgs{}, fields)
}

// HPExpireWithArgs is HPExpire under a condition. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HPExpireWithArgs(ctx context.Context, key string, expiration time.Duration, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hpexpire", key, milliseconds(expiration), expirationArgs, fields)
}

// HExpireAt sets when fields expire, in whole seconds; for the reply see HExpire.
// Since Redis 7.4, O(N) with the fields.
func (c cmdable) HExpireAt(ctx context.Context, key string, tm time.Time, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hexpireat", key, tm.Unix(), HExpireArgs{}, fields)
}

// HExpireAtWithArgs is HExpireAt under a condition. Since Redis 7.4, O(N) with the
// fields.
func (c cmdable) HExpireAtWithArgs(ctx context.Context, key string, tm time.Time, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hexpireat", key, tm.Unix(), expirationArgs, fields)
}

// HPExpireAt is HExpireAt in whole milliseconds. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HPExpireAt(ctx context.Context, key string, tm time.Time, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hpexpireat", key, tm.UnixMilli(), HExpireArgs{}, fields)
}

// HPExpireAtWithArgs is HPExpireAt under a condition. Since Redis 7.4, O(N) with the
// fields.
func (c cmdable) HPExpireAtWithArgs(ctx context.Context, key string, tm time.Time, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hpexpireat", key, tm.UnixMilli(), expirationArgs, fields)
}

// HPersist removes the time to live of fields. For each it gives 1 removed, -1 there
// was none, -2 no such field. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HPersist(ctx context.Context, key string, fields ...string) *IntSliceCmd {
	return c.hfields(ctx, "hpersist", key, fields)
}

// HTTL gives the times to live of fields in seconds; -1 for one that has none, -2 for
// one that does not exist. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HTTL(ctx context.Context, key string, fields ...string) *IntSliceCmd {
	return c.hfields(ctx, "httl", key, fields)
}

// HPTTL is HTTL in milliseconds. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HPTTL(ctx context.Context, key string, fields ...string) *IntSliceCmd {
	return c.hfields(ctx, "hpttl", key, fields)
}

// HExpireTime gives when fields expire, in seconds since 1970; -1 for one that does
// not, -2 for one that does not exist. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HExpireTime(ctx context.Context, key string, fields ...string) *IntSliceCmd {
	return c.hfields(ctx, "hexpiretime", key, fields)
}

// HPExpireTime is HExpireTime in milliseconds. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HPExpireTime(ctx context.Context, key string, fields ...string) *IntSliceCmd {
	return c.hfields(ctx, "hpexpiretime", key, fields)
}

//------------------------------------------------------------------------------

// HGetEXExpirationType says what HGetEXOptions.ExpirationVal means.
type HGetEXExpirationType string

// The types of an expiration in HGetEXOptions.
const (
	HGetEXExpirationEX      HGetEXExpirationType = "EX"      // seconds from now
	HGetEXExpirationPX      HGetEXExpirationType = "PX"      // milliseconds from now
	HGetEXExpirationEXAT    HGetEXExpirationType = "EXAT"    // seconds since 1970
	HGetEXExpirationPXAT    HGetEXExpirationType = "PXAT"    // milliseconds since 1970
	HGetEXExpirationPERSIST HGetEXExpirationType = "PERSIST" // for ever
)

// HGetEXOptions are the options of HGetEXWithArgs; the zero value changes nothing.
type HGetEXOptions struct {
	ExpirationType HGetEXExpirationType
	ExpirationVal  int64
}

// HSetEXExpirationType says what HSetEXOptions.ExpirationVal means.
type HSetEXExpirationType string

// The types of an expiration in HSetEXOptions.
const (
	HSetEXExpirationEX      HSetEXExpirationType = "EX"      // seconds from now
	HSetEXExpirationPX      HSetEXExpirationType = "PX"      // milliseconds from now
	HSetEXExpirationEXAT    HSetEXExpirationType = "EXAT"    // seconds since 1970
	HSetEXExpirationPXAT    HSetEXExpirationType = "PXAT"    // milliseconds since 1970
	HSetEXExpirationKEEPTTL HSetEXExpirationType = "KEEPTTL" // as long as the field would have lived
)

// HSetEXCondition says which fields are set.
type HSetEXCondition string

// The conditions of HSetEXOptions.
const (
	HSetEXFNX HSetEXCondition = "FNX" // only if none of the fields exists
	HSetEXFXX HSetEXCondition = "FXX" // only if all of the fields exist
)

// HSetEXOptions are the options of HSetEXWithArgs; with the zero value fields live
// for ever.
type HSetEXOptions struct {
	Condition      HSetEXCondition
	ExpirationType HSetEXExpirationType
	ExpirationVal  int64
}

// HGetDel gives the values of fields and removes them; the empty string for those
// that do not exist. Since Redis 8.0, O(N) with the fields.
func (c cmdable) HGetDel(ctx context.Context, key string, fields ...string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("hgetdel", key)
	cmd.fields(fields)
	_ = c(ctx, cmd)
	return cmd
}

// HGetEX gives the values of fields; the empty string for those that do not exist.
// Since Redis 8.0, O(N) with the fields.
func (c cmdable) HGetEX(ctx context.Context, key string, fields ...string) *StringSliceCmd {
	return c.HGetEXWithArgs(ctx, key, nil, fields...)
}

// HGetEXWithArgs is HGetEX, and sets the fields' time to live. Since Redis 8.0, O(N) with
// the fields.
func (c cmdable) HGetEXWithArgs(ctx context.Context, key string, options *HGetEXOptions, fields ...string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("hgetex", key)
	if options != nil {
		cmd.expiration(&ExpirationOption{Mode: ExpirationMode(options.ExpirationType), Value: options.ExpirationVal})
	}
	cmd.fields(fields)
	_ = c(ctx, cmd)
	return cmd
}

// HSetEX sets fields, given as names and values in turn, and gives 1. Since Redis
// 8.0, O(N) with the fields.
func (c cmdable) HSetEX(ctx context.Context, key string, fieldsAndValues ...string) *IntCmd {
	return c.HSetEXWithArgs(ctx, key, nil, fieldsAndValues...)
}

// HSetEXWithArgs is HSetEX with a time to live and a condition; it gives 0 if that was
// not met. Since Redis 8.0, O(N) with the fields.
func (c cmdable) HSetEXWithArgs(ctx context.Context, key string, options *HSetEXOptions, fieldsAndValues ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("hsetex", key)
	if options != nil {
		cmd.opt(options.Condition != "", string(options.Condition))
		cmd.expiration(&ExpirationOption{Mode: ExpirationMode(options.ExpirationType), Value: options.ExpirationVal})
	}
	cmd.optInt(true, "fields", int64(len(fieldsAndValues)/2))
	cmd.strs(fieldsAndValues...)
	_ = c(ctx, cmd)
	return cmd
}
