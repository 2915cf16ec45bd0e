package redis

import (
	"context"
	"time"
)

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
	cmd := &IntSliceCmd{}
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
	cmd := &IntSliceCmd{}
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

// HExpireWithArgs is HExpire under a condition. Since Redis 7.4.
func (c cmdable) HExpireWithArgs(ctx context.Context, key string, expiration time.Duration, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hexpire", key, seconds(expiration), expirationArgs, fields)
}

// HPExpire is HExpire in whole milliseconds, at least one. Since Redis 7.4.
func (c cmdable) HPExpire(ctx context.Context, key string, expiration time.Duration, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hpexpire", key, milliseconds(expiration), HExpireArgs{}, fields)
}

// HPExpireWithArgs is HPExpire under a condition. Since Redis 7.4.
func (c cmdable) HPExpireWithArgs(ctx context.Context, key string, expiration time.Duration, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hpexpire", key, milliseconds(expiration), expirationArgs, fields)
}

// HExpireAt sets when fields expire, in whole seconds; for the reply see HExpire.
// Since Redis 7.4, O(N) with the fields.
func (c cmdable) HExpireAt(ctx context.Context, key string, tm time.Time, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hexpireat", key, tm.Unix(), HExpireArgs{}, fields)
}

// HExpireAtWithArgs is HExpireAt under a condition. Since Redis 7.4.
func (c cmdable) HExpireAtWithArgs(ctx context.Context, key string, tm time.Time, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hexpireat", key, tm.Unix(), expirationArgs, fields)
}

// HPExpireAt is HExpireAt in whole milliseconds. Since Redis 7.4.
func (c cmdable) HPExpireAt(ctx context.Context, key string, tm time.Time, fields ...string) *IntSliceCmd {
	return c.hexpire(ctx, "hpexpireat", key, tm.UnixMilli(), HExpireArgs{}, fields)
}

// HPExpireAtWithArgs is HPExpireAt under a condition. Since Redis 7.4.
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

// HPTTL is HTTL in milliseconds. Since Redis 7.4.
func (c cmdable) HPTTL(ctx context.Context, key string, fields ...string) *IntSliceCmd {
	return c.hfields(ctx, "hpttl", key, fields)
}

// HExpireTime gives when fields expire, in seconds since 1970; -1 for one that does
// not, -2 for one that does not exist. Since Redis 7.4, O(N) with the fields.
func (c cmdable) HExpireTime(ctx context.Context, key string, fields ...string) *IntSliceCmd {
	return c.hfields(ctx, "hexpiretime", key, fields)
}

// HPExpireTime is HExpireTime in milliseconds. Since Redis 7.4.
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
	cmd := &StringSliceCmd{}
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

// HGetEXWithArgs is HGetEX, and sets the fields' time to live. Since Redis 8.0.
func (c cmdable) HGetEXWithArgs(ctx context.Context, key string, options *HGetEXOptions, fields ...string) *StringSliceCmd {
	cmd := &StringSliceCmd{}
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
// not met. Since Redis 8.0.
func (c cmdable) HSetEXWithArgs(ctx context.Context, key string, options *HSetEXOptions, fieldsAndValues ...string) *IntCmd {
	cmd := &IntCmd{}
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

//------------------------------------------------------------------------------

// HImportPrepare tells the connection the names of fields, for HImportSet to leave
// them out. The server forgets them with the connection, so this works on a Conn,
// a Tx or in a pipeline that does all of it. Since Redis 8.10, O(N*log(N)) with the
// fields.
func (c cmdable) HImportPrepare(ctx context.Context, fieldset string, fields ...string) *StatusCmd {
	cmd := &StatusCmd{}
	cmd.sub("himport", "prepare")
	cmd.str(fieldset)
	cmd.strs(fields...)
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// HImportSet makes key a hash with values for the fields of a fieldset that the
// connection knows from HImportPrepare, in their order. Since Redis 8.10, O(N) with
// the fields.
func (c cmdable) HImportSet(ctx context.Context, key, fieldset string, values ...any) *StatusCmd {
	cmd := &StatusCmd{}
	cmd.sub("himport", "set")
	cmd.strs(key, fieldset)
	cmd.expand(values)
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// HImportDiscard makes the connection forget a fieldset, and gives 1 if there was
// one, else 0. Since Redis 8.10.
func (c cmdable) HImportDiscard(ctx context.Context, fieldset string) *IntCmd {
	cmd := &IntCmd{}
	cmd.sub("himport", "discard")
	cmd.str(fieldset)
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// HImportDiscardAll makes the connection forget all fieldsets, and gives how many
// there were. Since Redis 8.10.
func (c cmdable) HImportDiscardAll(ctx context.Context) *IntCmd {
	cmd := &IntCmd{}
	cmd.sub("himport", "discardall")
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}
