package redis_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/invariants"
	"github.com/baton-go/redis/internal/realserver"
)

// linksAt counts the connections of a client's name at a node.
func linksAt(t *testing.T, cl *realserver.Cluster, addr, name string) (n int) {
	t.Helper()
	list, err := cl.Do(t.Context(), addr, "CLIENT", "LIST")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := list.(string)
	return strings.Count(text, "name="+name+" ")
}

// All slots of a node go to another one: the node is left soon, whatever the timeouts, and
// nobody notices, neither commands that are in flight or blocked nor subscriptions.
func TestClusterLeavesANodeWithoutSlots(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			cl := realserver.StartCluster(t, server, steady(0))
			c := redis.NewClusterClient(&redis.ClusterOptions{
				Addrs: cl.Addrs()[2:], Logger: testLogger(t), ClientName: "leaver", ReadTimeout: time.Minute,
			})
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			from, to := cl.Addrs()[0], cl.Addrs()[1]
			slots := realserver.SlotRange{End: cluster.Slots/3 - 1}
			var own []string // keys of the node
			for i := 0; len(own) < 8; i++ {
				if key := fmt.Sprint("own-", i); int(cluster.SlotString(key)) <= slots.End {
					own = append(own, key)
				}
			}
			shard := c.SSubscribe(ctx, own[0])
			defer shard.Close()
			_ = receive(t, shard)
			ks := consume(ctx, shard)
			var popped sync.WaitGroup
			for _, key := range own {
				popped.Go(func() {
					if v, err := c.BLPop(ctx, 0, key+"-{"+key+"}list").Result(); err != nil || v[1] != "x" {
						t.Errorf("BLPOP: got %v, %v", v, err)
					}
				})
			}
			await(t, "the node is in use", func() bool { return linksAt(t, cl, from, "leaver") >= len(own) })
			l := startClusterLoad(t, c, 8)
			if err := cl.MoveSlots(ctx, from, to, slots); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			await(t, "the node is left", func() bool { return linksAt(t, cl, from, "leaver") == 0 })
			t.Logf("left after %v", time.Since(began).Round(time.Millisecond))
			for _, key := range own {
				if err := c.RPush(ctx, key+"-{"+key+"}list", "x").Err(); err != nil {
					t.Error(err)
				}
			}
			popped.Wait()
			l.end()
			ks.works(t, c, "spublish", own[0])
		})
	}
}

// A command that waits for a dial to a node that has silently gone is sent to its successor
// as soon as the topology tells of it.
func TestClusterOvertakesADial(t *testing.T) {
	n := newThreeNodes(t, 10*time.Second, []int{0}, func(int, []string) string { return "+OK\r\n" })
	gone := n.addrs[0]
	var dials atomic.Int64
	c := redis.NewClusterClient(&redis.ClusterOptions{
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) { return *n.slots.Load(), nil },
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == gone {
				dials.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		},
		DialTimeout: time.Minute,
	})
	defer c.Close()
	ctx := soon(t)
	want(t, "SET", c.Set(ctx, n.keys[1], 1, 0).Result, "OK") // the topology is known
	got := make(chan error, 1)
	began := time.Now()
	go func() { got <- c.Set(ctx, n.keys[0], 1, 0).Err() }()
	await(t, "the node is dialled", func() bool { return dials.Load() > 0 })
	n.serve(0, n.addrs[2])
	c.ReloadState(ctx)
	if err := <-got; err != nil {
		t.Error(err)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

// A node that is not used costs little memory and no goroutine, however many there are.
func TestClusterIdleNodesCostLittle(t *testing.T) {
	const nodes = 500
	s := newScript(t, func(*peer, []string) string { return "+OK\r\n" })
	slots := []redis.ClusterSlot{{End: cluster.Slots - 1 - nodes, Nodes: []redis.ClusterNode{{Addr: s.addr}}}}
	for i := range nodes {
		slot := cluster.Slots - nodes + i
		slots = append(slots, redis.ClusterSlot{Start: slot, End: slot, Nodes: []redis.ClusterNode{{Addr: fmt.Sprint("127.0.0.2:", i+1)}}})
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) { return slots, nil }})
	defer c.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	goroutines := runtime.NumGoroutine()
	want(t, "SET", c.Set(soon(t), keyOfSlot(0), 1, 0).Result, "OK")
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / nodes
	more := runtime.NumGoroutine() - goroutines
	t.Logf("%d bytes for each node, %d goroutines for all", each, more)
	if more > 20 || each > 9<<10 && !invariants.Enabled {
		t.Errorf("%d bytes for each node, %d goroutines for all", each, more)
	}
}
