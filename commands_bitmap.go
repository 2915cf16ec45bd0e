package redis

import "context"

// The units of a BitCount.
const (
	BitCountIndexByte string = "BYTE"
	BitCountIndexBit  string = "BIT"
)

// BitCount is the range in which BitCount counts, both ends included; negative ones
// count from the end.
type BitCount struct {
	Start, End int64
	Unit       string // BYTE or, since Redis 7.0, BIT; empty: BYTE
}

// BitCount counts the bits of the key's value that are set; a nil bitCount means all
// of it. Since Redis 2.6, O(N) with the value's length.
func (c cmdable) BitCount(ctx context.Context, key string, bitCount *BitCount) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("bitcount", key)
	if bitCount != nil {
		cmd.int(bitCount.Start)
		cmd.int(bitCount.End)
		cmd.opt(bitCount.Unit != "", bitCount.Unit)
	}
	_ = c(ctx, cmd)
	return cmd
}

// GetBit gives the bit at offset, 0 behind the value's end. Bit 0 is the highest of
// the first byte. Since Redis 2.2, O(1).
func (c cmdable) GetBit(ctx context.Context, key string, offset int64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("getbit", key)
	cmd.int(offset)
	_ = c(ctx, cmd)
	return cmd
}

// SetBit sets the bit at offset to 0 or 1, and gives what it was. Since Redis 2.2,
// O(1).
func (c cmdable) SetBit(ctx context.Context, key string, offset int64, value int) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("setbit", key)
	cmd.int(offset)
	cmd.int(int64(value))
	_ = c(ctx, cmd)
	return cmd
}

// BitPos gives the position of the first bit that is bit, -1 where there is none. pos
// are the first and the last byte to look at; each may be left out. Since Redis
// 2.8.7, O(N) with the bytes.
func (c cmdable) BitPos(ctx context.Context, key string, bit int64, pos ...int64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("bitpos", key)
	cmd.int(bit)
	if len(pos) > 2 {
		cmd.reject("redis: BitPos takes at most a first and a last position")
	}
	for _, p := range pos {
		cmd.int(p)
	}
	_ = c(ctx, cmd)
	return cmd
}

// BitPosSpan is BitPos in a range of bytes or bits, as span says: BYTE or BIT. Since
// Redis 7.0, O(N) with the bytes.
func (c cmdable) BitPosSpan(ctx context.Context, key string, bit int8, start, end int64, span string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("bitpos", key)
	cmd.int(int64(bit))
	cmd.int(start)
	cmd.int(end)
	cmd.str(span)
	_ = c(ctx, cmd)
	return cmd
}

// BitField reads and changes integers of any width inside the key's value. It takes
// the words of the command, such as "incrby", "u8", 0, 1. Nil says that an overflow
// was refused (OVERFLOW FAIL). Since Redis 3.2, O(1) for each.
func (c cmdable) BitField(ctx context.Context, key string, values ...any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.key("bitfield", key)
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}

// BitFieldRO is BitField for replicas. It takes pairs of a type and an offset, such
// as "u8", 0. Since Redis 6.0, O(1) for each.
func (c cmdable) BitFieldRO(ctx context.Context, key string, values ...any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.key("bitfield_ro", key)
	if len(values)%2 != 0 {
		cmd.reject("redis: BitFieldRO takes pairs of a type and an offset")
	}
	for i := 0; i+1 < len(values); i += 2 {
		cmd.str("get")
		cmd.args(values[i], values[i+1])
	}
	_ = c(ctx, cmd)
	return cmd
}

func (c cmdable) bitOp(ctx context.Context, op, dest string, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("bitop", op)
	cmd.str(dest)
	cmd.strs(keys...)
	_ = c(ctx, cmd)
	return cmd
}

// BitOpAnd stores in destKey the bits that are set in all keys, and gives the length
// in bytes. Since Redis 2.6, O(N) with the longest value.
func (c cmdable) BitOpAnd(ctx context.Context, destKey string, keys ...string) *IntCmd {
	return c.bitOp(ctx, "and", destKey, keys...)
}

// BitOpOr is BitOpAnd for the bits that are set in any of keys. Since Redis 2.6, O(N)
// with the longest value.
func (c cmdable) BitOpOr(ctx context.Context, destKey string, keys ...string) *IntCmd {
	return c.bitOp(ctx, "or", destKey, keys...)
}

// BitOpXor is BitOpAnd for the bits that are set in an odd number of keys. Since Redis
// 2.6, O(N) with the longest value.
func (c cmdable) BitOpXor(ctx context.Context, destKey string, keys ...string) *IntCmd {
	return c.bitOp(ctx, "xor", destKey, keys...)
}

// BitOpNot is BitOpAnd for the bits that are not set in key. Since Redis 2.6, O(N) with
// the value's length.
func (c cmdable) BitOpNot(ctx context.Context, destKey, key string) *IntCmd {
	return c.bitOp(ctx, "not", destKey, key)
}

// BitOpDiff is BitOpAnd for the bits that are set in the first key and in none of the
// others. Since Redis 8.2, O(N) with the longest value.
func (c cmdable) BitOpDiff(ctx context.Context, destKey string, keys ...string) *IntCmd {
	return c.bitOp(ctx, "diff", destKey, keys...)
}

// BitOpDiff1 is BitOpAnd for the bits that are set in some of the other keys and not in
// the first one. Since Redis 8.2, O(N) with the longest value.
func (c cmdable) BitOpDiff1(ctx context.Context, destKey string, keys ...string) *IntCmd {
	return c.bitOp(ctx, "diff1", destKey, keys...)
}

// BitOpAndOr is BitOpAnd for the bits that are set in the first key and in some of the
// others. Since Redis 8.2, O(N) with the longest value.
func (c cmdable) BitOpAndOr(ctx context.Context, destKey string, keys ...string) *IntCmd {
	return c.bitOp(ctx, "andor", destKey, keys...)
}

// BitOpOne is BitOpAnd for the bits that are set in exactly one of keys. Since Redis 8.2,
// O(N) with the longest value.
func (c cmdable) BitOpOne(ctx context.Context, destKey string, keys ...string) *IntCmd {
	return c.bitOp(ctx, "one", destKey, keys...)
}

//------------------------------------------------------------------------------

// PFAdd adds elements to a HyperLogLog, and gives 1 if its estimate has changed, else
// 0. Since Redis 2.8.9, O(1) for each.
func (c cmdable) PFAdd(ctx context.Context, key string, els ...any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("pfadd", key)
	cmd.expand(els)
	_ = c(ctx, cmd)
	return cmd
}

// PFCount estimates how many different elements were added to keys together. Since
// Redis 2.8.9, O(N) with the keys.
func (c cmdable) PFCount(ctx context.Context, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.keys("pfcount", keys)
	_ = c(ctx, cmd)
	return cmd
}

// PFMerge adds to dest all that was added to keys. Since Redis 2.8.9, O(N) with the
// keys.
func (c cmdable) PFMerge(ctx context.Context, dest string, keys ...string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("pfmerge", dest)
	cmd.strs(keys...)
	_ = c(ctx, cmd)
	return cmd
}
