package redis

import (
	"context"
	"fmt"

	"github.com/baton-go/redis/push"
)

// SentinelClient is a client of one sentinel: it asks, orders, and listens to its events
// (https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/). It is safe
// for concurrent use. Commands for a master that the sentinel does not know fail with its
// error, or give Nil where a method says so.
type SentinelClient struct{ c *Client }

// NewSentinelClient makes a client of the sentinel at opt.Addr. Sentinels announce no
// maintenance of their own, so it asks for no notifications.
func NewSentinelClient(opt *Options) *SentinelClient {
	o := *opt
	o.MaintNotificationsConfig = maintDisabled()
	return &SentinelClient{c: NewClient(&o)}
}

// AddHook makes h see every command; see Client.AddHook.
func (c *SentinelClient) AddHook(h Hook) { c.c.AddHook(h) }

// Close ends the connections and waits until every goroutine has ended.
func (c *SentinelClient) Close() error { return c.c.Close() }

// String names the client by its address.
func (c *SentinelClient) String() string { return fmt.Sprintf("Sentinel<%s>", c.c.opt.Addr) }

// Process sends a command and waits for its reply.
func (c *SentinelClient) Process(ctx context.Context, cmd Cmder) error { return c.c.Process(ctx, cmd) }

// RegisterPushNotificationHandler is Client.RegisterPushNotificationHandler.
func (c *SentinelClient) RegisterPushNotificationHandler(name string, h push.NotificationHandler, protected bool) error {
	return c.c.RegisterPushNotificationHandler(name, h, protected)
}

// GetPushNotificationHandler is the handler registered for a name; nil: none.
func (c *SentinelClient) GetPushNotificationHandler(name string) push.NotificationHandler {
	return c.c.GetPushNotificationHandler(name)
}

// Subscribe listens to events, such as "+switch-master", whose messages are the words of
// the event separated by blanks. Since Redis 2.8.4, O(N) with the channels.
func (c *SentinelClient) Subscribe(ctx context.Context, channels ...string) *PubSub {
	return c.c.Subscribe(ctx, channels...)
}

// PSubscribe listens to the events that match patterns; "*" is all. Since Redis 2.8.4,
// O(N) with the patterns.
func (c *SentinelClient) PSubscribe(ctx context.Context, channels ...string) *PubSub {
	return c.c.PSubscribe(ctx, channels...)
}

// Ping asks whether the sentinel answers; the reply is PONG. Since Redis 2.8.4, O(1).
func (c *SentinelClient) Ping(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.begin("ping")
	_ = c.Process(ctx, cmd)
	return cmd
}

// sentinelCmd sends SENTINEL with a subcommand and its arguments.
func sentinelCmd[T any, P interface {
	*T
	Cmder
}](ctx context.Context, c *SentinelClient, subcommand string, args ...string) P {
	cmd := P(new(T))
	b := cmd.base()
	b.sub("sentinel", subcommand)
	b.strs(args...)
	_ = c.Process(ctx, cmd)
	return cmd
}

// GetMasterAddrByName gives host and port of the master of that name; Nil where the
// sentinel knows none. Since Redis 2.8.4, O(1).
func (c *SentinelClient) GetMasterAddrByName(ctx context.Context, name string) *StringSliceCmd {
	return sentinelCmd[StringSliceCmd](ctx, c, "get-master-addr-by-name", name)
}

// Master gives what the sentinel knows of a master. An error of the server says that it
// knows none of the name. Since Redis 2.8.4, O(1).
func (c *SentinelClient) Master(ctx context.Context, name string) *MapStringStringCmd {
	return sentinelCmd[MapStringStringCmd](ctx, c, "master", name)
}

// Masters gives what the sentinel knows of all masters that it watches. Since Redis
// 2.8.4, O(N) with the masters.
func (c *SentinelClient) Masters(ctx context.Context) *SliceCmd {
	return sentinelCmd[SliceCmd](ctx, c, "masters")
}

// Replicas gives what the sentinel knows of a master's replicas. An error of the server
// says that it knows none of the name. Since Redis 5.0, O(N) with the replicas.
func (c *SentinelClient) Replicas(ctx context.Context, name string) *MapStringStringSliceCmd {
	return sentinelCmd[MapStringStringSliceCmd](ctx, c, "replicas", name)
}

// Sentinels gives what the sentinel knows of the others that watch a master. An error of
// the server says that it knows none of the name. Since Redis 2.8.4, O(N) with the
// sentinels.
func (c *SentinelClient) Sentinels(ctx context.Context, name string) *MapStringStringSliceCmd {
	return sentinelCmd[MapStringStringSliceCmd](ctx, c, "sentinels", name)
}

// Failover makes a replica the master, as if the master were down, without asking the
// other sentinels. An error of the server says that it knows none of the name (ERR), that
// a failover is under way (INPROG), or that no replica is fit (NOGOODSLAVE). Since Redis
// 2.8.4, O(N) with the replicas.
func (c *SentinelClient) Failover(ctx context.Context, name string) *StatusCmd {
	return sentinelCmd[StatusCmd](ctx, c, "failover", name)
}

// Reset forgets what is known of the masters whose name matches a pattern, and finds it
// out anew; the reply is how many there were. Since Redis 2.8.4, O(N) with the masters.
func (c *SentinelClient) Reset(ctx context.Context, pattern string) *IntCmd {
	return sentinelCmd[IntCmd](ctx, c, "reset", pattern)
}

// FlushConfig writes the sentinel's configuration file anew. Since Redis 2.8.4, O(1).
func (c *SentinelClient) FlushConfig(ctx context.Context) *StatusCmd {
	return sentinelCmd[StatusCmd](ctx, c, "flushconfig")
}

// CkQuorum asks whether enough sentinels can be reached for a failover of a master. The
// error says what is missing. Since Redis 2.8.4, O(N) with the sentinels.
func (c *SentinelClient) CkQuorum(ctx context.Context, name string) *StringCmd {
	return sentinelCmd[StringCmd](ctx, c, "ckquorum", name)
}

// Monitor makes the sentinel watch a master from now on; quorum is how many sentinels
// have to agree that it is down. An error of the server says that it watches one of the
// name already. Since Redis 2.8.4, O(1).
func (c *SentinelClient) Monitor(ctx context.Context, name, ip, port, quorum string) *StringCmd {
	return sentinelCmd[StringCmd](ctx, c, "monitor", name, ip, port, quorum)
}

// Set changes a setting of a master, such as down-after-milliseconds. An error of the
// server says that it knows none of the name, or no such setting. Since Redis 2.8.4,
// O(1).
func (c *SentinelClient) Set(ctx context.Context, name, option, value string) *StringCmd {
	return sentinelCmd[StringCmd](ctx, c, "set", name, option, value)
}

// Remove makes the sentinel watch a master no more. An error of the server says that it
// knows none of the name. Since Redis 2.8.4, O(1).
func (c *SentinelClient) Remove(ctx context.Context, name string) *StringCmd {
	return sentinelCmd[StringCmd](ctx, c, "remove", name)
}
