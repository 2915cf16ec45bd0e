package redis

import (
	"context"

	"github.com/baton-go/redis/internal/resp"
)

// ArrayCmdable are the commands for arrays, which Redis has since 8.8: values at indexes
// from 0 on, of which not all need be there. Indexes go up to 2^64-2. A key that does not
// exist is an empty array.
type ArrayCmdable interface {
	ARCount(ctx context.Context, key string) *UintCmd
	ARDel(ctx context.Context, key string, indexes ...uint64) *IntCmd
	ARDelRange(ctx context.Context, key string, ranges ...ARRange) *UintCmd
	ARGet(ctx context.Context, key string, index uint64) *StringCmd
	ARGetRange(ctx context.Context, key string, start, end uint64) *SliceCmd
	ARGrep(ctx context.Context, key, start, end string, args *ARGrepArgs) *UintSliceCmd
	ARGrepWithValues(ctx context.Context, key, start, end string, args *ARGrepArgs) *AREntrySliceCmd
	ARInfo(ctx context.Context, key string) *MapStringInterfaceCmd
	ARInfoFull(ctx context.Context, key string) *MapStringInterfaceCmd
	ARInsert(ctx context.Context, key string, values ...string) *UintCmd
	ARLastItems(ctx context.Context, key string, count uint64, rev bool) *SliceCmd
	ARLen(ctx context.Context, key string) *UintCmd
	ARMGet(ctx context.Context, key string, indexes ...uint64) *SliceCmd
	ARMSet(ctx context.Context, key string, members ...AREntry) *IntCmd
	ARNext(ctx context.Context, key string) *UintCmd
	AROpAnd(ctx context.Context, key string, start, end uint64) *IntCmd
	AROpMatch(ctx context.Context, key string, start, end uint64, value string) *IntCmd
	AROpMax(ctx context.Context, key string, start, end uint64) *StringCmd
	AROpMin(ctx context.Context, key string, start, end uint64) *StringCmd
	AROpOr(ctx context.Context, key string, start, end uint64) *IntCmd
	AROpSum(ctx context.Context, key string, start, end uint64) *StringCmd
	AROpUsed(ctx context.Context, key string, start, end uint64) *IntCmd
	AROpXor(ctx context.Context, key string, start, end uint64) *IntCmd
	ARRing(ctx context.Context, key string, size uint64, values ...string) *UintCmd
	ARScan(ctx context.Context, key string, start, end uint64, args *ARScanArgs) *AREntrySliceCmd
	ARSeek(ctx context.Context, key string, index uint64) *IntCmd
	ARSet(ctx context.Context, key string, index uint64, values ...string) *IntCmd
}

// AREntry is a value of an array with its index.
type AREntry struct {
	Index uint64
	Value string
}

// ARRange is a range of indexes, both included.
type ARRange struct {
	Start, End uint64
}

// ARScanArgs are the options of ARScan.
type ARScanArgs struct {
	Limit uint64 // values; 0: all
}

// ARGrepPredicateType says how values are compared.
type ARGrepPredicateType string

// The ways to compare.
const (
	ARGrepExact ARGrepPredicateType = "EXACT" // equal
	ARGrepMatch ARGrepPredicateType = "MATCH" // contained
	ARGrepGlob  ARGrepPredicateType = "GLOB"  // a pattern as of KEYS
	ARGrepRegex ARGrepPredicateType = "RE"    // a regular expression
)

// ARGrepPredicate is what values are compared with.
type ARGrepPredicate struct {
	Type  ARGrepPredicateType
	Value string
}

// ARGrepArgs say which values ARGrep looks for.
type ARGrepArgs struct {
	Predicates []ARGrepPredicate // one or more
	CombineAnd bool              // all must be true; else any
	Limit      uint64            // values; 0: all
	NoCase     bool              // upper and lower case are the same
}

// Len is how many arguments Append appends.
func (a *ARGrepArgs) Len() int {
	n := 2 * len(a.Predicates)
	if a.CombineAnd {
		n++
	}
	if a.Limit > 0 {
		n += 2
	}
	if a.NoCase {
		n++
	}
	return n
}

// Append appends the arguments to those of a command.
func (a *ARGrepArgs) Append(args []any) []any {
	for _, p := range a.Predicates {
		args = append(args, string(p.Type), p.Value)
	}
	if a.CombineAnd {
		args = append(args, "and")
	}
	if a.Limit > 0 {
		args = append(args, "limit", a.Limit)
	}
	if a.NoCase {
		args = append(args, "nocase")
	}
	return args
}

// uints appends numbers.
func (c *baseCmd) uints(v ...uint64) {
	for _, n := range v {
		c.uint(n)
	}
}

// ARSet stores values from an index on, one after the other, and gives how many of the
// places were empty. Since Redis 8.8, O(N).
func (c cmdable) ARSet(ctx context.Context, key string, index uint64, values ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("arset", key)
	cmd.uint(index)
	cmd.strs(values...)
	_ = c(ctx, cmd)
	return cmd
}

// ARMSet stores values at their indexes, and gives how many of the places were empty.
// Since Redis 8.8, O(N).
func (c cmdable) ARMSet(ctx context.Context, key string, members ...AREntry) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("armset", key)
	for _, m := range members {
		cmd.uint(m.Index)
		cmd.str(m.Value)
	}
	_ = c(ctx, cmd)
	return cmd
}

// ARInsert stores values where ARNext says, one after the other, and gives the index of
// the last one. Since Redis 8.8, O(N).
func (c cmdable) ARInsert(ctx context.Context, key string, values ...string) *UintCmd {
	cmd := roomy[UintCmd]()
	cmd.key("arinsert", key)
	cmd.strs(values...)
	_ = c(ctx, cmd)
	return cmd
}

// ARRing is ARInsert that starts anew at index 0 after size values, so that the array
// keeps the last ones. Since Redis 8.8, O(N), and with the size if that has changed.
func (c cmdable) ARRing(ctx context.Context, key string, size uint64, values ...string) *UintCmd {
	cmd := roomy[UintCmd]()
	cmd.key("arring", key)
	cmd.uint(size)
	cmd.strs(values...)
	_ = c(ctx, cmd)
	return cmd
}

// ARNext gives where ARInsert stores next, 0 if it was never used. Nil if there is no
// index left. Since Redis 8.8, O(1).
func (c cmdable) ARNext(ctx context.Context, key string) *UintCmd {
	cmd := roomy[UintCmd]()
	cmd.key("arnext", key)
	_ = c(ctx, cmd)
	return cmd
}

// ARSeek says where ARInsert stores next, and gives 1, or 0 if the key does not exist.
// Since Redis 8.8, O(1).
func (c cmdable) ARSeek(ctx context.Context, key string, index uint64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("arseek", key)
	cmd.uint(index)
	_ = c(ctx, cmd)
	return cmd
}

// ARDel deletes the values at some indexes, and gives how many there were. Since Redis
// 8.8, O(N).
func (c cmdable) ARDel(ctx context.Context, key string, indexes ...uint64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("ardel", key)
	cmd.uints(indexes...)
	_ = c(ctx, cmd)
	return cmd
}

// ARDelRange deletes the values in some ranges, and gives how many there were. Since Redis
// 8.8, O(N) with the values.
func (c cmdable) ARDelRange(ctx context.Context, key string, ranges ...ARRange) *UintCmd {
	cmd := roomy[UintCmd]()
	cmd.key("ardelrange", key)
	for _, r := range ranges {
		cmd.uints(r.Start, r.End)
	}
	_ = c(ctx, cmd)
	return cmd
}

// ARGet gives the value at an index; Nil where there is none. Since Redis 8.8, O(1).
func (c cmdable) ARGet(ctx context.Context, key string, index uint64) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("arget", key)
	cmd.uint(index)
	_ = c(ctx, cmd)
	return cmd
}

// ARMGet gives the values at some indexes, each a string, or nil where there is none.
// Since Redis 8.8, O(N).
func (c cmdable) ARMGet(ctx context.Context, key string, indexes ...uint64) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.key("armget", key)
	cmd.uints(indexes...)
	_ = c(ctx, cmd)
	return cmd
}

// ARGetRange gives the values from one index to another, both included, backwards if start
// is greater: each a string, or nil where there is none. Since Redis 8.8, O(N) with the
// indexes.
func (c cmdable) ARGetRange(ctx context.Context, key string, start, end uint64) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.key("argetrange", key)
	cmd.uints(start, end)
	_ = c(ctx, cmd)
	return cmd
}

// ARLastItems gives the values that ARInsert or ARRing stored last, at most count, the
// oldest first, or the newest first with rev. Since Redis 8.8, O(N).
func (c cmdable) ARLastItems(ctx context.Context, key string, count uint64, rev bool) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.key("arlastitems", key)
	cmd.uint(count)
	cmd.opt(rev, "rev")
	_ = c(ctx, cmd)
	return cmd
}

// ARScan gives the values that are there from one index to another, both included,
// backwards if start is greater. Since Redis 8.8, O(N) with the places of the slices in
// the range.
func (c cmdable) ARScan(ctx context.Context, key string, start, end uint64, args *ARScanArgs) *AREntrySliceCmd {
	cmd := roomy[AREntrySliceCmd]()
	cmd.key("arscan", key)
	cmd.uints(start, end)
	if args != nil && args.Limit > 0 {
		cmd.str("limit")
		cmd.uint(args.Limit)
	}
	_ = c(ctx, cmd)
	return cmd
}

// arGrep appends a search.
func (c *baseCmd) arGrep(key, start, end string, a *ARGrepArgs) {
	c.key("argrep", key)
	c.strs(start, end)
	if a == nil || len(a.Predicates) == 0 {
		c.reject("redis: ARGrep needs a predicate")
		return
	}
	for _, p := range a.Predicates {
		c.strs(string(p.Type), p.Value)
	}
	c.opt(a.CombineAnd, "and")
	if a.Limit > 0 {
		c.str("limit")
		c.uint(a.Limit)
	}
	c.opt(a.NoCase, "nocase")
}

// ARGrep gives the indexes of the values that are looked for, from one index to another,
// both included, backwards if start is greater. "-" and "+" are the first and the last
// index. Since Redis 8.8, O(N) with the places of the slices in the range.
func (c cmdable) ARGrep(ctx context.Context, key, start, end string, args *ARGrepArgs) *UintSliceCmd {
	cmd := roomy[UintSliceCmd]()
	cmd.arGrep(key, start, end, args)
	_ = c(ctx, cmd)
	return cmd
}

// ARGrepWithValues is ARGrep that gives the values too. Since Redis 8.8, O(N) as ARGrep.
func (c cmdable) ARGrepWithValues(ctx context.Context, key, start, end string, args *ARGrepArgs) *AREntrySliceCmd {
	cmd := roomy[AREntrySliceCmd]()
	cmd.arGrep(key, start, end, args)
	cmd.str("withvalues")
	_ = c(ctx, cmd)
	return cmd
}

// ARLen gives the highest index and 1, or 0. Since Redis 8.8, O(1).
func (c cmdable) ARLen(ctx context.Context, key string) *UintCmd {
	cmd := roomy[UintCmd]()
	cmd.key("arlen", key)
	_ = c(ctx, cmd)
	return cmd
}

// ARCount gives how many values there are. Since Redis 8.8, O(1).
func (c cmdable) ARCount(ctx context.Context, key string) *UintCmd {
	cmd := roomy[UintCmd]()
	cmd.key("arcount", key)
	_ = c(ctx, cmd)
	return cmd
}

// ARInfo describes an array. Since Redis 8.8, O(1).
func (c cmdable) ARInfo(ctx context.Context, key string) *MapStringInterfaceCmd {
	cmd := roomy[MapStringInterfaceCmd]()
	cmd.key("arinfo", key)
	_ = c(ctx, cmd)
	return cmd
}

// ARInfoFull is ARInfo that looks at all slices of the array. Since Redis 8.8, O(N) with
// them.
func (c cmdable) ARInfoFull(ctx context.Context, key string) *MapStringInterfaceCmd {
	cmd := roomy[MapStringInterfaceCmd]()
	cmd.key("arinfo", key)
	cmd.str("full")
	_ = c(ctx, cmd)
	return cmd
}

// arOp appends an operation on a range.
func (c *baseCmd) arOp(key string, start, end uint64, op ...string) {
	c.key("arop", key)
	c.uints(start, end)
	c.strs(op...)
}

func (c cmdable) arOpString(ctx context.Context, key string, start, end uint64, op string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.arOp(key, start, end, op)
	_ = c(ctx, cmd)
	return cmd
}

func (c cmdable) arOpInt(ctx context.Context, key string, start, end uint64, op ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.arOp(key, start, end, op...)
	_ = c(ctx, cmd)
	return cmd
}

// AROpSum gives the sum of the numbers from one index to another, both included; Nil where
// there is no number. Since Redis 8.8, O(N) with the places of the slices in the range.
func (c cmdable) AROpSum(ctx context.Context, key string, start, end uint64) *StringCmd {
	return c.arOpString(ctx, key, start, end, "sum")
}

// AROpMin is AROpSum for the smallest number; Nil where there is no number. Since Redis
// 8.8, O(N) as AROpSum.
func (c cmdable) AROpMin(ctx context.Context, key string, start, end uint64) *StringCmd {
	return c.arOpString(ctx, key, start, end, "min")
}

// AROpMax is AROpSum for the largest number; Nil where there is no number. Since Redis
// 8.8, O(N) as AROpSum.
func (c cmdable) AROpMax(ctx context.Context, key string, start, end uint64) *StringCmd {
	return c.arOpString(ctx, key, start, end, "max")
}

// AROpAnd gives the bits that all numbers from one index to another have, both included,
// without fractions; Nil where there is no value. Since Redis 8.8, O(N) as AROpSum.
func (c cmdable) AROpAnd(ctx context.Context, key string, start, end uint64) *IntCmd {
	return c.arOpInt(ctx, key, start, end, "and")
}

// AROpOr is AROpAnd for the bits that any number has; Nil where there is no value. Since
// Redis 8.8, O(N) as AROpSum.
func (c cmdable) AROpOr(ctx context.Context, key string, start, end uint64) *IntCmd {
	return c.arOpInt(ctx, key, start, end, "or")
}

// AROpXor is AROpAnd for the bits that an odd number of them have; Nil where there is no
// value. Since Redis 8.8, O(N) as AROpSum.
func (c cmdable) AROpXor(ctx context.Context, key string, start, end uint64) *IntCmd {
	return c.arOpInt(ctx, key, start, end, "xor")
}

// AROpMatch gives how many values from one index to another, both included, are equal to
// value. Since Redis 8.8, O(N) as AROpSum.
func (c cmdable) AROpMatch(ctx context.Context, key string, start, end uint64, value string) *IntCmd {
	return c.arOpInt(ctx, key, start, end, "match", value)
}

// AROpUsed gives how many values there are from one index to another, both included.
// Since Redis 8.8, O(N) as AROpSum.
func (c cmdable) AROpUsed(ctx context.Context, key string, start, end uint64) *IntCmd {
	return c.arOpInt(ctx, key, start, end, "used")
}

//------------------------------------------------------------------------------

// UintCmd is a command whose reply is an integer that is not negative.
type UintCmd struct{ result[uint64] }

// NewUintCmd makes a command of its arguments, the name first.
func NewUintCmd(_ context.Context, args ...any) *UintCmd {
	c := roomy[UintCmd]()
	c.beginArgs(args)
	return c
}

func (c *UintCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = r.Uint()
	return err
}

// UintSliceCmd is a command whose reply is an array of integers that are not negative.
type UintSliceCmd struct{ result[[]uint64] }

// NewUintSliceCmd makes a command of its arguments, the name first.
func NewUintSliceCmd(_ context.Context, args ...any) *UintSliceCmd {
	c := roomy[UintSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *UintSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (uint64, error) { return r.Uint() })
	return err
}

// AREntrySliceCmd is a command whose reply is values with their indexes.
type AREntrySliceCmd struct{ result[[]AREntry] }

// NewAREntrySliceCmd makes a command of its arguments, the name first.
func NewAREntrySliceCmd(_ context.Context, args ...any) *AREntrySliceCmd {
	c := roomy[AREntrySliceCmd]()
	c.beginArgs(args)
	return c
}

// readReply reads pairs, nested as servers send them, or flat as they are documented.
func (c *AREntrySliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readPairs(r, "indexes and values", func(r *resp.Reader) (e AREntry, err error) {
		if e.Index, err = r.Uint(); err != nil {
			return e, err
		}
		e.Value, err = r.String()
		return e, err
	})
	return err
}
