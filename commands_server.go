package redis

import (
	"context"
	"strings"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// Ping asks the server for a sign of life, which is PONG. Since Redis 1.0, O(1).
func (c cmdable) Ping(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("ping")
	_ = c(ctx, cmd)
	return cmd
}

// Echo gives message back. Since Redis 1.0, O(1).
func (c cmdable) Echo(ctx context.Context, message any) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.begin("echo")
	cmd.arg(message)
	_ = c(ctx, cmd)
	return cmd
}

// Time gives the server's time. Since Redis 2.6, O(1).
func (c cmdable) Time(ctx context.Context) *TimeCmd {
	cmd := roomy[TimeCmd]()
	cmd.begin("time")
	_ = c(ctx, cmd)
	return cmd
}

// DBSize gives the number of keys of the database. Since Redis 1.0, O(1).
func (c cmdable) DBSize(ctx context.Context) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("dbsize")
	_ = c(ctx, cmd)
	return cmd
}

// FlushAll removes all keys of all databases. Since Redis 1.0, O(N) with the keys.
func (c cmdable) FlushAll(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("flushall")
	_ = c(ctx, cmd)
	return cmd
}

// FlushAllAsync is FlushAll, with the memory freed later. Since Redis 4.0, O(N) with the
// keys, in another thread of the server.
func (c cmdable) FlushAllAsync(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("flushall", "async")
	_ = c(ctx, cmd)
	return cmd
}

// FlushDB removes all keys of the database. Since Redis 1.0, O(N) with the keys.
func (c cmdable) FlushDB(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("flushdb")
	_ = c(ctx, cmd)
	return cmd
}

// FlushDBAsync is FlushDB, with the memory freed later. Since Redis 4.0, O(N) with the
// keys, in another thread of the server.
func (c cmdable) FlushDBAsync(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("flushdb", "async")
	_ = c(ctx, cmd)
	return cmd
}

// Info gives what the server says about itself, or some sections of it, as text:
// lines "name:value" under headings "# Section". Since Redis 1.0, O(1).
func (c cmdable) Info(ctx context.Context, sections ...string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.keys("info", sections)
	_ = c(ctx, cmd)
	return cmd
}

// InfoCmd is the command of InfoMap.
type InfoCmd struct {
	result[map[string]map[string]string]
}

// NewInfoCmd makes a command of its arguments, the name first.
func NewInfoCmd(_ context.Context, args ...any) *InfoCmd {
	c := roomy[InfoCmd]()
	c.beginArgs(args)
	return c
}

// Item is a value of a section, empty where there is none.
func (c *InfoCmd) Item(section, key string) string { return c.settled().val[section][key] }

func (c *InfoCmd) readReply(r *resp.Reader) error {
	c.val = nil
	text, err := r.String()
	if err != nil {
		return err
	}
	c.val = make(map[string]map[string]string)
	var section map[string]string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if name, ok := strings.CutPrefix(line, "# "); ok {
			section = make(map[string]string)
			c.val[name] = section
			continue
		}
		if name, val, ok := strings.Cut(line, ":"); ok {
			if section == nil { // a line before any heading
				section = make(map[string]string)
				c.val[""] = section
			}
			section[name] = val
		}
	}
	return nil
}

// InfoMap is Info as a map: section, name, value. Since Redis 1.0, O(1).
func (c cmdable) InfoMap(ctx context.Context, sections ...string) *InfoCmd {
	cmd := roomy[InfoCmd]()
	cmd.keys("info", sections)
	_ = c(ctx, cmd)
	return cmd
}

// ConfigGet gives the settings whose names match a glob pattern; none if none do. Since
// Redis 2.0, O(N) with the settings.
func (c cmdable) ConfigGet(ctx context.Context, parameter string) *MapStringStringCmd {
	cmd := roomy[MapStringStringCmd]()
	cmd.sub("config", "get")
	cmd.str(parameter)
	_ = c(ctx, cmd)
	return cmd
}

// ConfigSet changes a setting. An error of the server says that there is none of the
// name, or that it can't be changed so. Since Redis 2.0, O(1).
func (c cmdable) ConfigSet(ctx context.Context, parameter, value string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("config", "set")
	cmd.strs(parameter, value)
	_ = c(ctx, cmd)
	return cmd
}

// ConfigResetStat sets the counters of Info to zero. Since Redis 2.0, O(1).
func (c cmdable) ConfigResetStat(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("config", "resetstat")
	_ = c(ctx, cmd)
	return cmd
}

// ConfigRewrite writes the settings to the server's file. That it runs without one is an
// error of the server. Since Redis 2.8, O(1).
func (c cmdable) ConfigRewrite(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("config", "rewrite")
	_ = c(ctx, cmd)
	return cmd
}

// Save writes the data to disk. The server does nothing else meanwhile. An error of the
// server says that it saves already. Since Redis 1.0, O(N) with the keys.
func (c cmdable) Save(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("save")
	_ = c(ctx, cmd)
	return cmd
}

// BgSave starts to write the data to disk. An error of the server says that it does so
// already. Since Redis 1.0, O(1).
func (c cmdable) BgSave(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("bgsave")
	_ = c(ctx, cmd)
	return cmd
}

// BgRewriteAOF starts to write the append-only file anew. An error of the server says
// that it does so already. Since Redis 1.0, O(1).
func (c cmdable) BgRewriteAOF(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("bgrewriteaof")
	_ = c(ctx, cmd)
	return cmd
}

// LastSave gives when the data was written to disk, in seconds since 1970. Since
// Redis 1.0, O(1).
func (c cmdable) LastSave(ctx context.Context) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("lastsave")
	_ = c(ctx, cmd)
	return cmd
}

// MemoryUsage estimates how many bytes key and its value take; Nil where there is
// none. samples is how many elements are looked at, 0 all; without it, the server's
// default. Since Redis 4.0, O(N) with the samples.
func (c cmdable) MemoryUsage(ctx context.Context, key string, samples ...int) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("memory", "usage")
	cmd.str(key)
	switch len(samples) {
	case 0:
	case 1:
		cmd.optInt(true, "samples", int64(samples[0]))
	default:
		cmd.reject("redis: MemoryUsage takes one number of samples at most")
	}
	_ = c(ctx, cmd)
	return cmd
}

// DebugObject gives what the server knows about the value of key, as text. An error of
// the server says that there is no key, or that the command is switched off. Since Redis
// 1.0, O(1).
func (c cmdable) DebugObject(ctx context.Context, key string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("debug", "object")
	cmd.str(key)
	_ = c(ctx, cmd)
	return cmd
}

// Wait waits until numSlaves replicas have what this connection has written, at most
// for timeout, in whole milliseconds, 0 for ever. It gives how many have. It concerns
// the writes of the same connection only, so it belongs on a Conn or at the end of a
// pipeline; of a Client it is about nobody's.
//
// It stays on its connection: where that is lost, it fails, and is not sent again over
// another one, unless the pipeline before it is as well. Before a handoff's old connection
// is closed it ends, and gives how many have the writes by then. Since Redis 3.0, O(1).
func (c cmdable) Wait(ctx context.Context, numSlaves int, timeout time.Duration) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("wait")
	cmd.int(int64(numSlaves))
	cmd.int(milliseconds(timeout))
	cmd.blocks(timeout)
	_ = c(ctx, cmd)
	return cmd
}

// WaitAOF is Wait for writes that are on disk: on numLocal (0 or 1) this server, and
// numSlaves replicas. It gives both numbers, and moves as little. Since Redis 7.2, O(1).
func (c cmdable) WaitAOF(ctx context.Context, numLocal, numSlaves int, timeout time.Duration) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.begin("waitaof")
	cmd.int(int64(numLocal))
	cmd.int(int64(numSlaves))
	cmd.int(milliseconds(timeout))
	cmd.blocks(timeout)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// Publish sends message to those who listen to channel, and gives how many do at
// this server (in a cluster, not at the others). Since Redis 2.0, O(N+M) with them and
// with all patterns.
func (c cmdable) Publish(ctx context.Context, channel string, message any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("publish", channel)
	cmd.arg(message)
	_ = c(ctx, cmd)
	return cmd
}

// SPublish is Publish for a sharded channel, which in a cluster belongs to a slot as a
// key does. Since Redis 7.0, O(N) with the listeners.
func (c cmdable) SPublish(ctx context.Context, channel string, message any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("spublish", channel)
	cmd.arg(message)
	_ = c(ctx, cmd)
	return cmd
}

// PubSubChannels gives the channels that somebody listens to, of those that match a
// glob pattern; empty for all. Since Redis 2.8, O(N) with the channels.
func (c cmdable) PubSubChannels(ctx context.Context, pattern string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("pubsub", "channels")
	cmd.opt(pattern != "", pattern)
	_ = c(ctx, cmd)
	return cmd
}

// PubSubNumSub gives how many listen to each of channels, patterns not counted. Since
// Redis 2.8, O(N) with the channels asked for.
func (c cmdable) PubSubNumSub(ctx context.Context, channels ...string) *MapStringIntCmd {
	cmd := roomy[MapStringIntCmd]()
	cmd.sub("pubsub", "numsub")
	cmd.strs(channels...)
	_ = c(ctx, cmd)
	return cmd
}

// PubSubNumPat gives how many different patterns are listened to. Since Redis 2.8,
// O(1).
func (c cmdable) PubSubNumPat(ctx context.Context) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("pubsub", "numpat")
	_ = c(ctx, cmd)
	return cmd
}

// PubSubShardChannels is PubSubChannels for sharded channels. Since Redis 7.0, O(N) with
// the channels.
func (c cmdable) PubSubShardChannels(ctx context.Context, pattern string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("pubsub", "shardchannels")
	cmd.opt(pattern != "", pattern)
	_ = c(ctx, cmd)
	return cmd
}

// PubSubShardNumSub is PubSubNumSub for sharded channels. Since Redis 7.0, O(N) with the
// channels asked for.
func (c cmdable) PubSubShardNumSub(ctx context.Context, channels ...string) *MapStringIntCmd {
	cmd := roomy[MapStringIntCmd]()
	cmd.sub("pubsub", "shardnumsub")
	cmd.strs(channels...)
	_ = c(ctx, cmd)
	return cmd
}
