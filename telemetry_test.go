package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintsim"
)

// notes is an OTelRecorder that writes down what it is told.
type notes struct {
	mu    sync.Mutex
	lines []string
	sums  map[string]int
	stall chan struct{} // RecordError waits for it; nil: it does not
	panic bool
}

func record(t *testing.T) *notes {
	n := &notes{sums: make(map[string]int)}
	redis.SetOTelRecorder(n)
	t.Cleanup(func() { redis.SetOTelRecorder(nil) })
	return n
}

func (n *notes) add(what string, by int, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, strings.TrimSpace(fmt.Sprintln(append([]any{what}, args...)...)))
	n.sums[what] += by
	if n.panic {
		panic("a recorder's own fault")
	}
}

func (n *notes) sum(what string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sums[what]
}

func (n *notes) has(line string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.lines, line)
}

func (n *notes) want(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		await(t, "telemetry: "+line, func() bool { return n.has(line) })
	}
}

func (n *notes) RecordOperationDuration(_ context.Context, d time.Duration, cmd redis.Cmder, attempts int, err error, cn redis.ConnInfo, db int) {
	n.add("op", 1, cmd.Name(), attempts, err, cn.PoolName(), db, d > 0)
}

func (n *notes) RecordPipelineOperationDuration(_ context.Context, _ time.Duration, name string, cmds, attempts int, err error, cn redis.ConnInfo, _ int) {
	n.add("pipe", 1, name, cmds, attempts, err, cn.RemoteAddr() != nil)
}

func (n *notes) RecordConnectionCreateTime(_ context.Context, d time.Duration, cn redis.ConnInfo) {
	n.add("created", 1, cn.PoolName(), d > 0)
}

func (n *notes) RecordConnectionRelaxedTimeout(_ context.Context, delta int, _ redis.ConnInfo, pool, kind string) {
	n.add("relaxed", delta, delta, pool, kind)
}

func (n *notes) RecordConnectionHandoff(_ context.Context, _ redis.ConnInfo, pool string) {
	n.add("handoff", 1, pool)
}

func (n *notes) RecordError(_ context.Context, kind string, _ redis.ConnInfo, status string, isInternal bool, retries int) {
	if n.stall != nil {
		<-n.stall
	}
	n.add("error", 1, kind, status, isInternal, retries)
}

func (n *notes) RecordMaintenanceNotification(_ context.Context, _ redis.ConnInfo, kind string) {
	n.add("notice", 1, kind)
}

func (n *notes) RecordConnectionWaitTime(context.Context, time.Duration, redis.ConnInfo) {
	n.add("wait", 1)
}

func (n *notes) RecordConnectionClosed(_ context.Context, cn redis.ConnInfo, reason string, err error) {
	n.add("down", 1, cn.PoolName(), reason, err != nil)
}

func (n *notes) RecordPubSubMessage(_ context.Context, _ redis.ConnInfo, direction, channel string, sharded bool) {
	n.add("message", 1, direction, channel, sharded)
}

func (n *notes) RecordStreamLag(_ context.Context, lag time.Duration, _ redis.ConnInfo, stream, group, consumer string) {
	n.add("lag", 1, stream, group, consumer, lag < time.Minute)
}

func (n *notes) RecordConnectionCount(_ context.Context, delta int, _ redis.ConnInfo, state string, _ bool) {
	n.add("links "+state, delta)
}

func (n *notes) RecordPendingRequests(_ context.Context, delta int, _ redis.ConnInfo, _ string) {
	n.add("pending", delta)
}

func (n *notes) RegisterPool(name string, pool redis.Pooler) {
	n.add("pools", 1, name, pool.PoolStats() != nil)
}
func (n *notes) UnregisterPool(redis.Pooler) { n.add("pools", -1) }

func (n *notes) RegisterPubSubPool(name string, pool redis.PubSubPooler) {
	n.add("subs", 1, name, pool.Stats() != nil)
}
func (n *notes) UnregisterPubSubPool(redis.PubSubPooler) { n.add("subs", -1) }

var (
	_ redis.OTelConnectionCounter = (*notes)(nil)
	_ redis.OTelPoolRegistrar     = (*notes)(nil)
)

func TestTelemetryOfCommands(t *testing.T) {
	n := record(t)
	c, _ := start(t, nil)
	ctx := soon(t)
	c.Set(ctx, "k", "v", 0)
	c.Get(ctx, "none")
	c.LPush(ctx, "k", "x")
	_, _ = c.Pipelined(ctx, func(p redis.Pipeliner) error { p.Get(ctx, "k"); return p.LLen(ctx, "k").Err() })
	_, _ = c.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Get(ctx, "k").Err() })
	c.BLPop(ctx, 10*time.Millisecond, "list")
	sub := c.Subscribe(ctx, "news")
	if _, err := sub.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	c.Publish(ctx, "news", "x")
	if _, err := sub.ReceiveMessage(ctx); err != nil {
		t.Fatal(err)
	}
	shard := c.SSubscribe(ctx, "local")
	if _, err := shard.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	c.SPublish(ctx, "local", "x")
	if _, err := shard.ReceiveMessage(ctx); err != nil {
		t.Fatal(err)
	}
	c.XGroupCreateMkStream(ctx, "s", "g", "0")
	c.XAdd(ctx, &redis.XAddArgs{Stream: "s", Values: []string{"f", "v"}})
	c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "me", Streams: []string{"s", ">"}})
	wrong := "WRONGTYPE Operation against a key holding the wrong kind of value"
	n.want(t,
		"op set 1 <nil> main 0 true", "op get 1 redis: nil main 0 true", "op lpush 1 "+wrong+" main 0 true",
		"error NIL  false 0", "error WRONGTYPE WRONGTYPE false 0",
		"pipe PIPELINE 2 1 "+wrong+" true", "pipe MULTI 1 1 <nil> true", "wait",
		"created main true", "created pubsub true",
		"message sent news false", "message received news false", "message sent local true", "message received local true",
		"lag s g me true", "pools main true", "subs pubsub true",
	)
	if used, idle := n.sum("links used"), n.sum("links idle"); used != 3 || idle != 1 {
		t.Errorf("%d used and %d idle connections", used, idle)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	n.want(t, "down main closed false", "down pubsub closed false")
	for _, what := range []string{"links used", "links idle", "pending", "pools", "subs"} {
		if n.sum(what) != 0 {
			t.Errorf("%s: %d are left", what, n.sum(what))
		}
	}
}

func TestTelemetryOfMaintenance(t *testing.T) {
	n := record(t)
	sim := maintsim.Start(t, maintsim.Config{Proxies: 3, Grace: 6 * time.Second, TimeUnit: 50 * time.Millisecond})
	c := newClient(t, &redis.Options{Addr: sim.Addr(), ReadTimeout: time.Second})
	if err := c.Ping(soon(t)).Err(); err != nil {
		t.Fatal(err)
	}
	if err := sim.Rebind(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.want(t, "notice MOVING", "handoff main", "down main drained false")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if n.sum("relaxed") != 0 || n.sum("links used") != 0 {
		t.Errorf("%d relaxed, %d used connections are left", n.sum("relaxed"), n.sum("links used"))
	}
}

// TestTelemetryDoesNoHarm: a recorder that panics or does not return holds up whoever
// called it, and nobody else.
func TestTelemetryDoesNoHarm(t *testing.T) {
	n := record(t)
	n.panic, n.stall = true, make(chan struct{})
	c, _ := start(t, nil)
	ctx := soon(t)
	held := make(chan error, 1)
	go func() { held <- c.Get(ctx, "none").Err() }()
	for i := range 100 {
		if got, err := c.Incr(ctx, "n").Result(); err != nil || got != int64(i+1) {
			t.Fatalf("got %d, %v", got, err)
		}
	}
	close(n.stall)
	if err := <-held; !errors.Is(err, redis.Nil) {
		t.Errorf("got %v", err)
	}
}

func TestTelemetryOfAClusterAndARing(t *testing.T) {
	n := record(t)
	sim := maintsim.StartCluster(t, maintsim.ClusterConfig{Shards: 3})
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: sim.Addrs()})
	defer c.Close()
	ring, _ := startRing(t, 3, nil)
	ctx := soon(t)
	for _, client := range []redis.UniversalClient{c, ring} {
		if err := client.Set(ctx, "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Pipelined(ctx, func(p redis.Pipeliner) error { return p.Incr(ctx, "n").Err() }); err != nil {
			t.Fatal(err)
		}
		if n.sum("op") == 0 || n.sum("pipe") == 0 {
			t.Errorf("%T: %d commands, %d pipelines", client, n.sum("op"), n.sum("pipe"))
		}
	}
	if err := c.DBSize(ctx).Err(); err != nil {
		t.Error(err)
	}
	n.want(t, "op dbsize 1 <nil> main 0 true")
}
