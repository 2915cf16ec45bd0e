package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/realserver"
)

// wantAll receives events that come in any order.
func wantAll(t *testing.T, ps *redis.PubSub, want ...string) {
	t.Helper()
	var got []string
	for range want {
		got = append(got, receive(t, ps))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func publish(t *testing.T, c *redis.ClusterClient, verb, channel string, payload any) {
	t.Helper()
	if err := c.Do(t.Context(), verb, channel, payload).Err(); err != nil {
		t.Fatalf("%s %s: %v", verb, channel, err)
	}
}

func TestClusterPubSub(t *testing.T) {
	onClusters(t, 0, func(t *testing.T, c *redis.ClusterClient, _ *realserver.Cluster) {
		ctx := soon(t)
		ps := c.Subscribe(ctx, "a", "b")
		defer ps.Close()
		wantAll(t, ps, "subscribe a 1", "subscribe b 2")
		_ = ps.PSubscribe(ctx, "p*")
		wantEvents(t, ps, "psubscribe p* 3")
		for range 3 { // from whichever node
			publish(t, c, "publish", "a", 1)
			publish(t, c, "publish", "px", 2)
			wantAll(t, ps, "a=1", "px=2 p*")
		}
		_ = ps.Unsubscribe(ctx, "a")
		wantEvents(t, ps, "unsubscribe a 2")

		// Shard channels of every node, beside the others.
		names := make([]string, 12)
		for i := range names {
			names[i] = fmt.Sprint("s", i)
		}
		if err := ps.SSubscribe(ctx, names...); err != nil {
			t.Fatal(err)
		}
		for range names {
			if got := receive(t, ps); !strings.HasPrefix(got, "ssubscribe s") {
				t.Errorf("got %s", got)
			}
		}
		for round := range 3 {
			var want []string
			for _, n := range names {
				publish(t, c, "spublish", n, round)
				want = append(want, fmt.Sprint(n, "=", round))
			}
			wantAll(t, ps, want...)
		}
		_ = ps.Ping(ctx, "x")
		wantEvents(t, ps, "Pong<x>")
		if got := ps.String(); !strings.HasPrefix(got, "PubSub(b, p*, s0, s1, ") {
			t.Errorf("String: %s", got)
		}
		_ = ps.SUnsubscribe(ctx, "s3")
		if got := receive(t, ps); !strings.HasPrefix(got, "sunsubscribe s3 ") {
			t.Errorf("got %s", got)
		}
		_ = ps.SSubscribe(ctx, "s3")
		if got := receive(t, ps); !strings.HasPrefix(got, "ssubscribe s3 ") {
			t.Errorf("got %s", got)
		}
		_ = ps.SUnsubscribe(ctx)
		for range names {
			if got := receive(t, ps); !strings.HasPrefix(got, "sunsubscribe s") {
				t.Errorf("got %s", got)
			}
		}

		// Only shard channels: there is no connection beside those.
		only := c.SSubscribe(ctx, "s1")
		defer only.Close()
		wantEvents(t, only, "ssubscribe s1 1")
		_ = only.Ping(ctx)
		wantEvents(t, only, "Pong")
		publish(t, c, "spublish", "s1", "x")
		wantEvents(t, only, "s1=x")
		if err := only.Close(); err != nil {
			t.Error(err)
		}
		if err := only.Close(); !errors.Is(err, redis.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
		if _, err := only.Receive(ctx); !errors.Is(err, redis.ErrClosed) || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("Receive after Close: %v", err)
		}

		open := c.PSubscribe(ctx, "q*")
		wantEvents(t, open, "psubscribe q* 1")
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := open.Receive(ctx); !errors.Is(err, redis.ErrClosed) {
			t.Errorf("Receive after the client's Close: %v", err)
		}
		if err := c.Subscribe(ctx).Subscribe(ctx, "x"); !errors.Is(err, redis.ErrClosed) {
			t.Errorf("Subscribe after the client's Close: %v", err)
		}
	})
}

func TestClusterSubscribeToNobody(t *testing.T) {
	ctx := soon(t)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, DialerRetries: 1})
	defer c.Close()
	for name, ps := range map[string]*redis.PubSub{"channel": c.Subscribe(ctx, "x"), "shard channel": c.SSubscribe(ctx, "x")} {
		_, err := ps.Receive(ctx)
		if _, ok := errors.AsType[*redis.CommandError](err); !ok || redis.DeliveryOf(err) != redis.NotSent || !strings.Contains(err.Error(), "127.0.0.1:1") {
			t.Errorf("%s: got %v", name, err)
		}
		if err := ps.Close(); err != nil {
			t.Error(err)
		}
	}
}

// clusterPublisher publishes numbers steadily until it is stopped, and knows which were
// acknowledged.
type clusterPublisher struct {
	stop chan struct{}
	wg   sync.WaitGroup
	sent []int
	late []int        // of a shard channel, what had no listener at the node that took it
	next atomic.Int64 // the number published next
}

func startClusterPublisher(c *redis.ClusterClient, verb, channel string) *clusterPublisher {
	p := &clusterPublisher{stop: make(chan struct{})}
	p.wg.Go(func() {
		tick := time.NewTicker(200 * time.Microsecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			p.next.Store(int64(i))
			select {
			case <-p.stop:
				return
			case <-tick.C:
			}
			n, err := c.Do(context.Background(), verb, channel, i).Int64()
			switch {
			case err != nil:
			case n == 0 && verb == "spublish":
				p.late = append(p.late, i)
			default:
				p.sent = append(p.sent, i)
			}
		}
	})
	return p
}

func (p *clusterPublisher) end() {
	close(p.stop)
	p.wg.Wait()
}

// clusterConsumer takes down what a subscription gives, by channel.
type clusterConsumer struct {
	wg     sync.WaitGroup
	got    map[string][]int
	events []string    // what else came
	calls  int         // of works
	late   []int       // what has no place in the order; see clusterPublisher
	ended  chan string // what works has published
}

// plain is the ordinary channel of the tests.
const plain = "plain"

func consume(ctx context.Context, ps *redis.PubSub) *clusterConsumer {
	k := &clusterConsumer{got: map[string][]int{}, ended: make(chan string, 1000)}
	k.wg.Go(func() {
		for {
			v, err := ps.Receive(ctx)
			if errors.Is(err, redis.ErrClosed) || ctx.Err() != nil {
				return
			}
			m, ok := v.(*redis.Message)
			switch {
			case err != nil:
				k.events = append(k.events, err.Error())
			case !ok:
				k.events = append(k.events, event(v))
			case strings.HasPrefix(m.Payload, "end"):
				k.ended <- m.Channel + m.Payload
			default:
				n, _ := strconv.Atoi(m.Payload)
				k.got[m.Channel] = append(k.got[m.Channel], n)
			}
		}
	})
	return k
}

// steady lets 20 messages be published, and gives what numbers those have.
func (p *clusterPublisher) steady(t *testing.T) (first, last int) {
	t.Helper()
	first = int(p.next.Load()) + 1
	last = first + 20
	await(t, "published", func() bool { return int(p.next.Load()) > last })
	return first, last
}

// check ends the consumer, and tells how many of what was sent it has not received. None
// may have come twice or in another order.
func (k *clusterConsumer) check(t *testing.T, ps *redis.PubSub, channel string, sent []int) (lost []int) {
	t.Helper()
	_ = ps.Close()
	k.wg.Wait()
	got := slices.DeleteFunc(k.got[channel], func(n int) bool { return slices.Contains(k.late, n) })
	if channel == plain { // what passes through several nodes has no order
		slices.Sort(got)
	}
	for i := 1; i < len(got); i++ {
		if got[i] <= got[i-1] {
			t.Errorf("%s: %d after %d", channel, got[i], got[i-1])
		}
	}
	for _, n := range sent {
		if !slices.Contains(got, n) {
			lost = append(lost, n)
		}
	}
	t.Logf("%s: lost %d of %d: %v; events: %q", channel, len(lost), len(sent), lost, k.events)
	return lost
}

// works publishes until a message arrives.
func (k *clusterConsumer) works(t *testing.T, c *redis.ClusterClient, verb, channel string) {
	t.Helper()
	k.calls++
	payload := fmt.Sprint("end", k.calls)
	await(t, channel+" works", func() bool {
		_ = c.Do(t.Context(), verb, channel, payload).Err()
		for {
			select {
			case got := <-k.ended:
				if got == channel+payload {
					return true
				}
			default:
				return false
			}
		}
	})
}

// The slot of a shard channel moves to another node and back, step by step.
func TestClusterShardChannelMoves(t *testing.T) {
	onClusters(t, 0, func(t *testing.T, c *redis.ClusterClient, cl *realserver.Cluster) {
		ctx := soon(t)
		const channel = "ch"
		slot := int(cluster.SlotString(channel))
		ps := c.SSubscribe(ctx, channel, "{ch}2", "other", "another")
		defer ps.Close()
		for range 4 {
			_ = receive(t, ps)
		}
		k := consume(ctx, ps)
		pub := startClusterPublisher(c, "spublish", channel)
		from, err := cl.Owner(ctx, slot)
		if err != nil {
			t.Fatal(err)
		}
		to := cl.Addrs()[0]
		if to == from {
			to = cl.Addrs()[1]
		}
		var steady [][2]int
		for _, way := range [][2]string{{from, to}, {to, from}} {
			if err := cl.MoveSlots(ctx, way[0], way[1], realserver.SlotRange{Start: slot, End: slot}); err != nil {
				t.Fatal(err)
			}
			k.works(t, c, "spublish", channel)
			k.works(t, c, "spublish", "{ch}2")
			k.works(t, c, "spublish", "other")
			first, last := pub.steady(t)
			steady = append(steady, [2]int{first, last})
		}
		pub.end()
		k.works(t, c, "spublish", channel)
		for _, n := range k.check(t, ps, channel, pub.sent) {
			for _, s := range steady {
				if n >= s[0] && n <= s[1] {
					t.Errorf("%d is lost, although the move had settled", n)
				}
			}
		}
	})
}

// Each primary fails over by command.
func TestClusterSubscriptionFailsOver(t *testing.T) {
	onClusters(t, 1, func(t *testing.T, c *redis.ClusterClient, cl *realserver.Cluster) {
		ctx := soon(t)
		shard, ps := c.SSubscribe(ctx, "ch"), c.Subscribe(ctx, plain)
		_, _ = receive(t, shard), receive(t, ps)
		ks, kp := consume(ctx, shard), consume(ctx, ps)
		pubShard, pubPlain := startClusterPublisher(c, "spublish", "ch"), startClusterPublisher(c, "publish", plain)
		primary, err := cl.Owner(ctx, int(cluster.SlotString("ch")))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			replicas, err := cl.Replicas(ctx, primary)
			if err != nil || len(replicas) == 0 {
				t.Fatalf("%s has no replica: %v", primary, err)
			}
			if err := cl.Failover(ctx, replicas[0]); err != nil {
				t.Fatal(err)
			}
			primary = replicas[0]
			ks.works(t, c, "spublish", "ch")
		}
		pubShard.end()
		pubPlain.end()
		ks.works(t, c, "spublish", "ch")
		kp.works(t, c, "publish", plain)
		// What the old primary has held back is executed there when it is demoted, after it has
		// ended all subscriptions, and comes on the new one up to 40 ms later.
		ks.late = pubShard.late
		if lost := ks.check(t, shard, "ch", pubShard.sent); len(lost) > 0 {
			t.Errorf("lost %d messages of a shard channel", len(lost))
		}
		if lost := kp.check(t, ps, plain, pubPlain.sent); len(lost) > 0 {
			t.Errorf("lost %d messages of an ordinary channel", len(lost))
		}
	})
}

// awaitAcquainted waits until every node has heard of all others: one that is killed
// before that may be missed by nobody for long.
func awaitAcquainted(t *testing.T, cl *realserver.Cluster) {
	t.Helper()
	ctx := soon(t)
	for _, addr := range cl.Addrs() {
		await(t, addr+" has heard of all", func() bool {
			reply, err := cl.Do(ctx, addr, "CLUSTER", "NODES")
			lines, _ := reply.(string)
			heard := 0
			for line := range strings.Lines(lines) {
				f := strings.Fields(line)
				if len(f) > 7 && (strings.Contains(f[2], "myself") || f[5] != "0" && f[7] == "connected") {
					heard++
				}
			}
			return err == nil && heard == len(cl.Addrs())
		})
	}
}

// The node that is subscribed at dies.
func TestClusterSubscriptionSurvivesADeath(t *testing.T) {
	onClustersOf(t, realserver.ClusterConfig{Replicas: 1}, func(t *testing.T, c *redis.ClusterClient, cl *realserver.Cluster) {
		ctx := soon(t)
		// A node tells of replicas once something was replicated.
		await(t, "replicas are known", func() bool {
			_ = c.ForEachMaster(ctx, func(ctx context.Context, m *redis.Client) error { return m.Do(ctx, "flushdb").Err() })
			var n atomic.Int64
			_ = c.ForEachSlave(ctx, func(context.Context, *redis.Client) error { n.Add(1); return nil })
			return n.Load() == 3
		})
		ps := c.SSubscribe(ctx, "ch")
		_ = receive(t, ps)
		k := consume(ctx, ps)
		pub := startClusterPublisher(c, "spublish", "ch")
		primary, err := cl.Owner(ctx, int(cluster.SlotString("ch")))
		if err != nil {
			t.Fatal(err)
		}
		awaitAcquainted(t, cl)
		if err := cl.Kill(primary); err != nil {
			t.Fatal(err)
		}
		k.works(t, c, "spublish", "ch")
		pub.end()
		k.works(t, c, "spublish", "ch")
		_ = k.check(t, ps, "ch", pub.sent)
	})
}

// The node of a subscription leaves the topology, though it still works: nothing is lost.
func TestClusterSubscriptionLeavesANode(t *testing.T) {
	onClusters(t, 1, func(t *testing.T, direct *redis.ClusterClient, cl *realserver.Cluster) {
		ctx := soon(t)
		primaries, err := cl.Primaries(ctx)
		if err != nil {
			t.Fatal(err)
		}
		replicas, err := cl.Replicas(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		owner, err := cl.Owner(ctx, int(cluster.SlotString(plain)))
		if err != nil {
			t.Fatal(err)
		}
		var isGone atomic.Bool // the replicas are
		c := redis.NewClusterClient(&redis.ClusterOptions{
			Logger: testLogger(t),
			ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
				slot := int(cluster.SlotString(plain))
				nodes := map[string][]redis.ClusterNode{owner: {{Addr: owner}}, primaries[0]: {{Addr: primaries[0]}}}
				for _, r := range replicas {
					if !isGone.Load() {
						nodes[owner] = append(nodes[owner], redis.ClusterNode{Addr: r})
					}
				}
				return []redis.ClusterSlot{
					{End: slot - 1, Nodes: nodes[primaries[0]]},
					{Start: slot, End: cluster.Slots - 1, Nodes: nodes[owner]},
				}, nil
			},
		})
		defer c.Close()
		atReplicas := func() (n int) {
			for _, r := range replicas {
				reply, err := cl.Do(ctx, r, "PUBSUB", "NUMSUB", plain)
				if err != nil {
					t.Fatal(err)
				}
				sum, _ := reply.([]any)[1].(int64)
				patterns, err := cl.Do(ctx, r, "PUBSUB", "NUMPAT")
				if err != nil {
					t.Fatal(err)
				}
				more, _ := patterns.(int64)
				n += int(sum + more)
			}
			return n
		}
		var subs []*redis.PubSub
		for i := range 8 { // one of them is at a replica, or it is nearly impossible
			ps := c.Subscribe(ctx, plain)
			if i%2 == 1 {
				_ = ps.Close()
				ps = c.PSubscribe(ctx, plain+"*")
			}
			defer ps.Close()
			_ = receive(t, ps)
			subs = append(subs, ps)
		}
		if atReplicas() == 0 {
			t.Fatal("all subscriptions are at the primary")
		}
		consumers := make([]*clusterConsumer, len(subs))
		for i, ps := range subs {
			consumers[i] = consume(ctx, ps)
		}
		pub := startClusterPublisher(direct, "publish", plain)
		_, _ = pub.steady(t)
		isGone.Store(true)
		c.ReloadState(ctx)
		await(t, "the replicas are left", func() bool { return atReplicas() == 0 })
		_, _ = pub.steady(t)
		pub.end()
		for i, k := range consumers {
			k.works(t, direct, "publish", plain)
			if lost := k.check(t, subs[i], plain, pub.sent); len(lost) > 0 || len(k.events) > 0 {
				t.Errorf("lost %v, events %q", lost, k.events)
			}
		}
	})
}
