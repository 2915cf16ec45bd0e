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
