package redis_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
)

// A farTester is a shard of a primary and two replicas, each with a delay.
type farTester struct {
	nodes  []*script
	delays [3]atomic.Int64 // of each answer
	isDown [3]atomic.Bool  // the node ends connections
	slots  []redis.ClusterSlot
}

func startFar(t *testing.T, delays ...time.Duration) *farTester {
	t.Helper()
	f := &farTester{slots: []redis.ClusterSlot{{End: cluster.Slots - 1}}}
	for i, d := range delays {
		f.delays[i].Store(int64(d))
		s := newScript(t, func(*peer, []string) string {
			if f.isDown[i].Load() {
				return hangUp
			}
			if d := time.Duration(f.delays[i].Load()); d > 0 {
				<-time.After(d) // it is the network's
			}
			return "+PONG\r\n"
		})
		f.nodes = append(f.nodes, s)
		f.slots[0].Nodes = append(f.slots[0].Nodes, redis.ClusterNode{Addr: s.addr})
	}
	return f
}

func (f *farTester) client(t *testing.T, opt redis.ClusterOptions) *redis.ClusterClient {
	t.Helper()
	opt.ClusterSlots = func(context.Context) ([]redis.ClusterSlot, error) { return f.slots, nil }
	opt.DialerRetries = 1
	c := redis.NewClusterClient(&opt)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (f *farTester) count(i int, command string) int {
	return strings.Count(f.nodes[i].commands(), command)
}

// reads sends reads, none of which may fail, and tells how many each node got.
func (f *farTester) reads(t *testing.T, c *redis.ClusterClient, n int) (got [3]int) {
	t.Helper()
	for i := range f.nodes {
		got[i] = -f.count(i, "get")
	}
	for range n {
		if err := c.Get(soon(t), "k").Err(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range f.nodes {
		got[i] += f.count(i, "get")
	}
	return got
}

// Reads go to the node that answers fastest, be it a replica or the primary, and to the next
// one while that can't be reached.
func TestClusterRoutesByLatency(t *testing.T) {
	f := startFar(t, 10*time.Millisecond, 20*time.Millisecond, 0)
	c := f.client(t, redis.ClusterOptions{RouteByLatency: true})
	if err := c.Set(soon(t), "k", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	for i := range f.nodes {
		if n := f.count(i, "ping"); n != 0 {
			t.Errorf("node %d was probed %d times although nothing was read", i, n)
		}
	}
	await(t, "the near replica is used", func() bool { return f.reads(t, c, 3) == [3]int{2: 3} })
	if got := f.reads(t, c, 50); got != [3]int{2: 50} {
		t.Errorf("reads: got %v, want all at the last node", got)
	}
	f.isDown[2].Store(true)
	_ = f.reads(t, c, 1) // finds out
	if got := f.reads(t, c, 5); got != [3]int{0: 5} {
		t.Errorf("reads without the near replica: got %v, want all at the primary", got)
	}
	f.isDown[2].Store(false)
	await(t, "the near replica is back", func() bool { return f.reads(t, c, 1) == [3]int{2: 1} })

	wide := f.client(t, redis.ClusterOptions{RouteByLatency: true, RouteByLatencyTolerance: 200 * time.Millisecond})
	await(t, "all nodes are used", func() bool {
		got := f.reads(t, wide, 12)
		return got[0] > 0 && got[1] > 0 && got[2] > 0
	})
	if err := c.Close(); err != nil { // which ends the probing: main_test looks for what is left
		t.Error(err)
	}
}

// A replica that can't be reached gets no reads for a while, also without measuring.
func TestClusterAvoidsReplicasThatFail(t *testing.T) {
	for name, opt := range map[string]redis.ClusterOptions{"ReadOnly": {ReadOnly: true}, "RouteRandomly": {RouteRandomly: true}} {
		t.Run(name, func(t *testing.T) {
			f := startFar(t, 0, 0, 0)
			c := f.client(t, opt)
			await(t, "both replicas are used", func() bool {
				got := f.reads(t, c, 12)
				return got[1] > 0 && got[2] > 0 && (got[0] > 0) == opt.RouteRandomly
			})
			f.isDown[1].Store(true)
			began := time.Now()
			got := f.reads(t, c, 300)
			if most := 2 * (2 + int(time.Since(began)/time.Second)); got[1] > most {
				t.Errorf("%d reads of 300 were tried at the replica that is down, want at most %d", got[1], most)
			}
			f.isDown[2].Store(true)
			if got := f.reads(t, c, 10); got[0] < 10 {
				t.Errorf("no replica is up: got %v, want all at the primary", got)
			}
		})
	}
}
