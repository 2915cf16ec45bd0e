package redis

import "context"

// SAdd adds members to the set and gives how many are new. Since Redis 1.0 (several
// since 2.4), O(N) with the members.
func (c cmdable) SAdd(ctx context.Context, key string, members ...any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("sadd", key)
	cmd.expand(members)
	_ = c(ctx, cmd)
	return cmd
}

// SRem removes members from the set and gives how many there were. Since Redis 1.0
// (several since 2.4), O(N) with the members.
func (c cmdable) SRem(ctx context.Context, key string, members ...any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("srem", key)
	cmd.expand(members)
	_ = c(ctx, cmd)
	return cmd
}

// SMembers gives all members in no particular order; none for a key that does not exist.
// Since Redis 1.0, O(N) with the members.
func (c cmdable) SMembers(ctx context.Context, key string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("smembers", key)
	_ = c(ctx, cmd)
	return cmd
}

// SMembersMap is SMembers with a Go map as the set. Since Redis 1.0, O(N) with the
// members.
func (c cmdable) SMembersMap(ctx context.Context, key string) *StringStructMapCmd {
	cmd := roomy[StringStructMapCmd]()
	cmd.key("smembers", key)
	_ = c(ctx, cmd)
	return cmd
}

// SCard gives the number of members, 0 for a key that does not exist. Since Redis
// 1.0, O(1).
func (c cmdable) SCard(ctx context.Context, key string) *IntCmd {
	cmd := fitting[IntCmd](len("scard"), len(key))
	cmd.key("scard", key)
	_ = c(ctx, cmd)
	return cmd
}

// SIsMember tells whether member is in the set. Since Redis 1.0, O(1).
func (c cmdable) SIsMember(ctx context.Context, key string, member any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("sismember", key)
	cmd.arg(member)
	_ = c(ctx, cmd)
	return cmd
}

// SMIsMember tells for each of members whether it is in the set. Since Redis 6.2,
// O(N) with the members asked for.
func (c cmdable) SMIsMember(ctx context.Context, key string, members ...any) *BoolSliceCmd {
	cmd := roomy[BoolSliceCmd]()
	cmd.key("smismember", key)
	cmd.expand(members)
	_ = c(ctx, cmd)
	return cmd
}

// SMove moves member from one set to another, and tells whether it was there. Since
// Redis 1.0, O(1).
func (c cmdable) SMove(ctx context.Context, source, destination string, member any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("smove", source)
	cmd.str(destination)
	cmd.arg(member)
	_ = c(ctx, cmd)
	return cmd
}

// SPop takes a random member from the set; Nil where there is none. Since Redis 1.0,
// O(1).
func (c cmdable) SPop(ctx context.Context, key string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("spop", key)
	_ = c(ctx, cmd)
	return cmd
}

// SPopN takes up to count random members from the set; none where there is none. Since
// Redis 3.2, O(N) with the members returned.
func (c cmdable) SPopN(ctx context.Context, key string, count int64) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("spop", key)
	cmd.int(count)
	_ = c(ctx, cmd)
	return cmd
}

// SRandMember gives a random member; Nil where there is none. Since Redis 1.0, O(1).
func (c cmdable) SRandMember(ctx context.Context, key string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("srandmember", key)
	_ = c(ctx, cmd)
	return cmd
}

// SRandMemberN gives up to count random members; of a negative count exactly that many,
// the same one possibly several times. It gives none for a key that does not exist. Since
// Redis 2.6, O(N) with the members returned.
func (c cmdable) SRandMemberN(ctx context.Context, key string, count int64) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("srandmember", key)
	cmd.int(count)
	_ = c(ctx, cmd)
	return cmd
}

// SScan gives a page of members; see Scan. Since Redis 2.8, O(1) for a page.
func (c cmdable) SScan(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd {
	cmd := roomy[ScanCmd]()
	cmd.process = c
	cmd.key("sscan", key)
	cmd.scanArgs(cursor, match, count)
	_ = c(ctx, cmd)
	return cmd
}

// SDiff gives the members of the first set that are in none of the others. Since
// Redis 1.0, O(N) with the members of all.
func (c cmdable) SDiff(ctx context.Context, keys ...string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.keys("sdiff", keys)
	_ = c(ctx, cmd)
	return cmd
}

// SDiffStore stores the result of SDiff in destination, and gives its size. Since Redis
// 1.0, O(N) with the members of all.
func (c cmdable) SDiffStore(ctx context.Context, destination string, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("sdiffstore", destination)
	cmd.strs(keys...)
	_ = c(ctx, cmd)
	return cmd
}

// SDiffCardOptions are the options of SDiffCard.
type SDiffCardOptions struct {
	Limit int64 // count no further than this; 0: all
}

// SDiffCard gives the size of the result of SDiff; options may be nil. Since Redis 8.10,
// O(N) with the members of all.
func (c cmdable) SDiffCard(ctx context.Context, options *SDiffCardOptions, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("sdiffcard")
	cmd.numKeys(keys)
	if options != nil {
		cmd.optInt(options.Limit != 0, "limit", options.Limit)
	}
	_ = c(ctx, cmd)
	return cmd
}

// SInter gives the members that are in all sets. Since Redis 1.0, O(N*M) with the
// members of the smallest set and the number of sets.
func (c cmdable) SInter(ctx context.Context, keys ...string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.keys("sinter", keys)
	_ = c(ctx, cmd)
	return cmd
}

// SInterStore stores the result of SInter in destination, and gives its size. Since Redis
// 1.0, O(N*M) as SInter.
func (c cmdable) SInterStore(ctx context.Context, destination string, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("sinterstore", destination)
	cmd.strs(keys...)
	_ = c(ctx, cmd)
	return cmd
}

// SInterCard gives the size of the result of SInter, counting no further than limit; 0:
// all. Since Redis 7.0, O(N*M) as SInter.
func (c cmdable) SInterCard(ctx context.Context, limit int64, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("sintercard")
	cmd.numKeys(keys)
	cmd.optInt(true, "limit", limit)
	_ = c(ctx, cmd)
	return cmd
}

// SUnion gives the members that are in any of the sets. Since Redis 1.0, O(N) with
// the members of all.
func (c cmdable) SUnion(ctx context.Context, keys ...string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.keys("sunion", keys)
	_ = c(ctx, cmd)
	return cmd
}

// SUnionStore stores the result of SUnion in destination, and gives its size. Since Redis
// 1.0, O(N) with the members of all.
func (c cmdable) SUnionStore(ctx context.Context, destination string, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("sunionstore", destination)
	cmd.strs(keys...)
	_ = c(ctx, cmd)
	return cmd
}

// SUnionCardOptions are the options of SUnionCard.
type SUnionCardOptions struct {
	Approx bool  // an estimate is enough
	Limit  int64 // count no further than this; 0: all
}

// SUnionCard gives the size of the result of SUnion; options may be nil. Since Redis
// 8.10, O(N) with the members of all.
func (c cmdable) SUnionCard(ctx context.Context, options *SUnionCardOptions, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("sunioncard")
	cmd.numKeys(keys)
	if options != nil {
		cmd.opt(options.Approx, "approx")
		cmd.optInt(options.Limit != 0, "limit", options.Limit)
	}
	_ = c(ctx, cmd)
	return cmd
}
