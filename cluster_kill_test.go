package redis_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/realserver"
)

// After a primary was killed the client is back soon after its replica serves, which takes
// the servers a while: what is the client's own part of the outage is short.
func TestClusterFollowsAnElection(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c, cl := startClusterOf(t, server, realserver.ClusterConfig{Replicas: 1})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			const key = "counter"
			awaitReplicas(t, c, 3)
			owner, err := cl.Owner(ctx, int(cluster.SlotString(key)))
			if err != nil {
				t.Fatal(err)
			}
			replicas, err := cl.Replicas(ctx, owner)
			if err != nil || len(replicas) == 0 {
				t.Fatalf("%s has no replica: %v", owner, err)
			}
			stop := make(chan struct{})
			var wg sync.WaitGroup
			var back atomic.Int64 // when a command succeeded first, since the kill
			var killed atomic.Int64
			began := time.Now()
			for range 16 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						sent := int64(time.Since(began))
						err := c.Incr(ctx, key).Err()
						k := killed.Load()
						if err == nil && k != 0 && sent > k {
							back.CompareAndSwap(0, int64(time.Since(began)))
						}
						if err != nil && redis.DeliveryOf(err) != redis.MaybeSent {
							t.Error(err)
							return
						}
					}
				})
			}
			others, err := cl.Primaries(ctx)
			if err != nil {
				t.Fatal(err)
			}
			others = slices.DeleteFunc(others, func(addr string) bool { return addr == owner })
			p := startPulse(t, others[0])
			if err := cl.Kill(owner); err != nil {
				t.Fatal(err)
			}
			killed.Store(int64(time.Since(began)))
			var elected time.Duration // since the beginning: the replica takes writes
			for elected == 0 && ctx.Err() == nil {
				if _, err := cl.Do(ctx, replicas[0], "SET", "{"+key+"}probe", "x"); err == nil {
					elected = time.Since(began)
				}
			}
			await(t, "commands succeed again", func() bool { return back.Load() != 0 })
			close(stop)
			wg.Wait()
			own := time.Duration(back.Load()) - elected
			t.Logf("the replica served %v after the kill, the client was back %v later",
				(elected - time.Duration(killed.Load())).Round(time.Millisecond), own.Round(time.Millisecond))
			if late := p.end(); own > 400*time.Millisecond+10*late { // dials, handshakes, a refresh, and the command
				t.Errorf("the client took %v, on a machine that takes %v to answer", own, late)
			}
		})
	}
}
