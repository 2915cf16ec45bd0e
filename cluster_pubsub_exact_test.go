package redis_test

import (
	"context"
	"sync/atomic"
	"testing"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/realserver"
)

// A shard channel moves among the nodes of its shard, all of which have every message.
func TestClusterShardChannelStaysInItsShard(t *testing.T) {
	onClusters(t, 1, func(t *testing.T, direct *redis.ClusterClient, cl *realserver.Cluster) {
		ctx := soon(t)
		const channel = "ch"
		slot := int(cluster.SlotString(channel))
		primaries, err := cl.Primaries(ctx)
		if err != nil {
			t.Fatal(err)
		}
		owner, err := cl.Owner(ctx, slot)
		if err != nil {
			t.Fatal(err)
		}
		replicas, err := cl.Replicas(ctx, owner)
		if err != nil {
			t.Fatal(err)
		}
		var isOver atomic.Bool // the failover, in the eyes of the client
		c := redis.NewClusterClient(&redis.ClusterOptions{
			Logger: testLogger(t),
			ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
				nodes := []redis.ClusterNode{{Addr: owner}, {Addr: replicas[0]}}
				if isOver.Load() {
					nodes = nodes[1:]
				}
				return []redis.ClusterSlot{
					{End: slot - 1, Nodes: []redis.ClusterNode{{Addr: primaries[0]}}},
					{Start: slot, End: cluster.Slots - 1, Nodes: nodes},
				}, nil
			},
		})
		defer c.Close()
		ps := c.SSubscribe(ctx, channel)
		defer ps.Close()
		_ = receive(t, ps)
		listeners := func(addr string) int64 {
			reply, err := cl.Do(ctx, addr, "PUBSUB", "SHARDNUMSUB", channel)
			if err != nil {
				t.Fatal(err)
			}
			n, _ := reply.([]any)[1].(int64)
			return n
		}
		if listeners(owner) != 1 {
			t.Fatal("the subscription is not at the primary")
		}
		k := consume(ctx, ps)
		pub := startClusterPublisher(direct, "spublish", channel)
		_, _ = pub.steady(t)
		isOver.Store(true)
		c.ReloadState(ctx)
		await(t, "the old primary is left", func() bool { return listeners(owner) == 0 && listeners(replicas[0]) == 1 })
		_, _ = pub.steady(t)
		pub.end()
		k.works(t, direct, "spublish", channel)
		if lost := k.check(t, ps, channel, pub.sent); len(lost) > 0 || len(k.events) > 0 {
			t.Errorf("lost %v, events %q", lost, k.events)
		}
	})
}
