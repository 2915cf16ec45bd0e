package redis

import "context"

// HGet gives the value of a field; Nil where the key or the field does not exist.
// Since Redis 2.0, O(1).
func (c cmdable) HGet(ctx context.Context, key, field string) *StringCmd {
	cmd := &StringCmd{}
	cmd.key("hget", key)
	cmd.str(field)
	_ = c(ctx, cmd)
	return cmd
}

// HMGet gives the values of fields in their order, each a string, or nil where there
// is none. Since Redis 2.0, O(N) with the fields.
func (c cmdable) HMGet(ctx context.Context, key string, fields ...string) *SliceCmd {
	cmd := &SliceCmd{}
	cmd.key("hmget", key)
	cmd.strs(fields...)
	_ = c(ctx, cmd)
	return cmd
}

// HGetAll gives all fields with their values; none for a key that does not exist.
// Since Redis 2.0, O(N) with the fields.
func (c cmdable) HGetAll(ctx context.Context, key string) *MapStringStringCmd {
	cmd := &MapStringStringCmd{}
	cmd.key("hgetall", key)
	_ = c(ctx, cmd)
	return cmd
}

// HKeys gives the names of all fields. Since Redis 2.0, O(N) with the fields.
func (c cmdable) HKeys(ctx context.Context, key string) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.key("hkeys", key)
	_ = c(ctx, cmd)
	return cmd
}

// HVals gives the values of all fields. Since Redis 2.0, O(N) with the fields.
func (c cmdable) HVals(ctx context.Context, key string) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.key("hvals", key)
	_ = c(ctx, cmd)
	return cmd
}

// HLen gives the number of fields, 0 for a key that does not exist. Since Redis 2.0,
// O(1).
func (c cmdable) HLen(ctx context.Context, key string) *IntCmd {
	cmd := &IntCmd{}
	cmd.key("hlen", key)
	_ = c(ctx, cmd)
	return cmd
}

// HStrLen gives the length of a field's value in bytes, 0 where there is none. Since
// Redis 3.2, O(1).
func (c cmdable) HStrLen(ctx context.Context, key, field string) *IntCmd {
	cmd := &IntCmd{}
	cmd.key("hstrlen", key)
	cmd.str(field)
	_ = c(ctx, cmd)
	return cmd
}

// HExists tells whether a field exists. Since Redis 2.0, O(1).
func (c cmdable) HExists(ctx context.Context, key, field string) *BoolCmd {
	cmd := &BoolCmd{}
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
	cmd := &IntCmd{}
	cmd.key("hset", key)
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}

// HMSet is HSet without the number of new fields. Since Redis 2.0; HSet replaces it.
func (c cmdable) HMSet(ctx context.Context, key string, values ...any) *BoolCmd {
	cmd := &BoolCmd{}
	cmd.key("hmset", key)
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}

// HSetNX sets a field that does not exist, and tells whether it did. Since Redis 2.0,
// O(1).
func (c cmdable) HSetNX(ctx context.Context, key, field string, value any) *BoolCmd {
	cmd := &BoolCmd{}
	cmd.key("hsetnx", key)
	cmd.str(field)
	cmd.arg(value)
	_ = c(ctx, cmd)
	return cmd
}

// HDel removes fields and gives how many there were. Since Redis 2.0, O(N) with the
// fields.
func (c cmdable) HDel(ctx context.Context, key string, fields ...string) *IntCmd {
	cmd := &IntCmd{}
	cmd.key("hdel", key)
	cmd.strs(fields...)
	_ = c(ctx, cmd)
	return cmd
}

// HIncrBy adds incr to the number in a field, which counts from 0 where there is
// none, and gives the sum. Since Redis 2.0, O(1).
func (c cmdable) HIncrBy(ctx context.Context, key, field string, incr int64) *IntCmd {
	cmd := &IntCmd{}
	cmd.key("hincrby", key)
	cmd.str(field)
	cmd.int(incr)
	_ = c(ctx, cmd)
	return cmd
}

// HIncrByFloat is HIncrBy for numbers with a fraction. Since Redis 2.6, O(1).
func (c cmdable) HIncrByFloat(ctx context.Context, key, field string, incr float64) *FloatCmd {
	cmd := &FloatCmd{}
	cmd.key("hincrbyfloat", key)
	cmd.str(field)
	cmd.float(incr)
	_ = c(ctx, cmd)
	return cmd
}

// HScan gives a page of names and values in turn; see Scan. Since Redis 2.8, O(1) for
// a page.
func (c cmdable) HScan(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd {
	cmd := &ScanCmd{process: c}
	cmd.key("hscan", key)
	cmd.scanArgs(cursor, match, count)
	_ = c(ctx, cmd)
	return cmd
}

// HScanNoValues is HScan with the names only. Since Redis 7.4.
func (c cmdable) HScanNoValues(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd {
	cmd := &ScanCmd{process: c}
	cmd.key("hscan", key)
	cmd.scanArgs(cursor, match, count)
	cmd.str("novalues")
	_ = c(ctx, cmd)
	return cmd
}

// HRandField gives the names of up to count random fields; of a negative count
// exactly that many, the same one possibly several times. Since Redis 6.2, O(N) with
// the fields returned.
func (c cmdable) HRandField(ctx context.Context, key string, count int) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.key("hrandfield", key)
	cmd.int(int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// HRandFieldWithValues is HRandField with the values. Since Redis 6.2.
func (c cmdable) HRandFieldWithValues(ctx context.Context, key string, count int) *KeyValueSliceCmd {
	cmd := &KeyValueSliceCmd{}
	cmd.key("hrandfield", key)
	cmd.int(int64(count))
	cmd.str("withvalues")
	_ = c(ctx, cmd)
	return cmd
}
