package redis

import "context"

// SAdd adds members to the set and gives how many are new. Since Redis 1.0 (several
// since 2.4), O(N) with the members.
func (c cmdable) SAdd(ctx context.Context, key string, members ...any) *IntCmd {
	cmd := &IntCmd{}
	cmd.key("sadd", key)
	cmd.expand(members)
	_ = c(ctx, cmd)
	return cmd
}

// SRem removes members from the set and gives how many there were. Since Redis 1.0
// (several since 2.4), O(N) with the members.
func (c cmdable) SRem(ctx context.Context, key string, members ...any) *IntCmd {
	cmd := &IntCmd{}
	cmd.key("srem", key)
	cmd.expand(members)
	_ = c(ctx, cmd)
	return cmd
}

// SMembers gives all members in no particular order. Since Redis 1.0, O(N) with the
// members.
func (c cmdable) SMembers(ctx context.Context, key string) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.key("smembers", key)
	_ = c(ctx, cmd)
	return cmd
}

// SMembersMap is SMembers with a Go map as the set.
func (c cmdable) SMembersMap(ctx context.Context, key string) *StringStructMapCmd {
	cmd := &StringStructMapCmd{}
	cmd.key("smembers", key)
	_ = c(ctx, cmd)
	return cmd
}
