package redis

import "context"

// Publish sends message to those who listen to channel, and gives how many do at
// this server (in a cluster, not at the others). Since Redis 2.0, O(N+M) with them and
// with all patterns.
func (c cmdable) Publish(ctx context.Context, channel string, message any) *IntCmd {
	cmd := &IntCmd{}
	cmd.key("publish", channel)
	cmd.arg(message)
	_ = c(ctx, cmd)
	return cmd
}

// SPublish is Publish for a sharded channel, which in a cluster belongs to a slot as a
// key does. Since Redis 7.0, O(N) with the listeners.
func (c cmdable) SPublish(ctx context.Context, channel string, message any) *IntCmd {
	cmd := &IntCmd{}
	cmd.key("spublish", channel)
	cmd.arg(message)
	_ = c(ctx, cmd)
	return cmd
}

// PubSubChannels gives the channels that somebody listens to, of those that match a
// glob pattern; empty for all. Since Redis 2.8, O(N) with the channels.
func (c cmdable) PubSubChannels(ctx context.Context, pattern string) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.sub("pubsub", "channels")
	cmd.opt(pattern != "", pattern)
	_ = c(ctx, cmd)
	return cmd
}

// PubSubNumSub gives how many listen to each of channels, patterns not counted. Since
// Redis 2.8, O(N) with the channels asked for.
func (c cmdable) PubSubNumSub(ctx context.Context, channels ...string) *MapStringIntCmd {
	cmd := &MapStringIntCmd{}
	cmd.sub("pubsub", "numsub")
	cmd.strs(channels...)
	_ = c(ctx, cmd)
	return cmd
}

// PubSubNumPat gives how many different patterns are listened to. Since Redis 2.8,
// O(1).
func (c cmdable) PubSubNumPat(ctx context.Context) *IntCmd {
	cmd := &IntCmd{}
	cmd.sub("pubsub", "numpat")
	_ = c(ctx, cmd)
	return cmd
}

// PubSubShardChannels is PubSubChannels for sharded channels. Since Redis 7.0.
func (c cmdable) PubSubShardChannels(ctx context.Context, pattern string) *StringSliceCmd {
	cmd := &StringSliceCmd{}
	cmd.sub("pubsub", "shardchannels")
	cmd.opt(pattern != "", pattern)
	_ = c(ctx, cmd)
	return cmd
}

// PubSubShardNumSub is PubSubNumSub for sharded channels. Since Redis 7.0.
func (c cmdable) PubSubShardNumSub(ctx context.Context, channels ...string) *MapStringIntCmd {
	cmd := &MapStringIntCmd{}
	cmd.sub("pubsub", "shardnumsub")
	cmd.strs(channels...)
	_ = c(ctx, cmd)
	return cmd
}
