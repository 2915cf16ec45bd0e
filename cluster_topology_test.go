package redis_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/realserver"
)

// frame encodes a reply: strings, numbers, and arrays of them.
func frame(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("$%d\r\n%s\r\n", len(v), v)
	case int:
		return fmt.Sprintf(":%d\r\n", v)
	case []any:
		var b strings.Builder
		fmt.Fprintf(&b, "*%d\r\n", len(v))
		for _, e := range v {
			b.WriteString(frame(e))
		}
		return b.String()
	}
	panic(fmt.Sprintf("no frame is made of a %T", v))
}

// A tellTester is a cluster of one shard whose nodes are scripts: a primary and replicas.
type tellTester struct {
	nodes  []*script
	health []string                 // of each node
	refuse map[string]string        // "slots" or "shards": the error in its place
	asked  map[string]*atomic.Int64 // how often for either
}

// startTelling starts nodes with a health each, the primary first.
func startTelling(t *testing.T, health ...string) *tellTester {
	t.Helper()
	tt := &tellTester{health: health, refuse: map[string]string{}, asked: map[string]*atomic.Int64{"slots": {}, "shards": {}}}
	for range health {
		tt.nodes = append(tt.nodes, newScript(t, func(_ *peer, args []string) string {
			if strings.ToLower(args[0]) != "cluster" {
				return "+OK\r\n"
			}
			tt.asked[args[1]].Add(1)
			if err := tt.refuse[args[1]]; err != "" {
				return "-" + err + "\r\n"
			}
			return frame(tt.tell(args[1]))
		}))
	}
	return tt
}

// tell is what a node answers.
func (tt *tellTester) tell(form string) []any {
	slots := []any{0, cluster.Slots - 1}
	var nodes []any
	for i, s := range tt.nodes {
		host, portText, _ := net.SplitHostPort(s.addr)
		port, _ := strconv.Atoi(portText)
		id := strings.Repeat(fmt.Sprint(i), 40)
		if form == "slots" {
			slots = append(slots, []any{host, port, id})
			continue
		}
		role := "replica"
		if i == 0 {
			role = "master"
		}
		nodes = append(nodes, []any{"id", id, "port", port, "ip", host, "endpoint", host, "role", role, "replication-offset", 7, "health", tt.health[i]})
	}
	if form == "slots" {
		return []any{slots}
	}
	return []any{[]any{"slots", slots, "nodes", nodes}}
}

// reads tells how many GETs a node got.
func (tt *tellTester) reads(i int) int { return strings.Count(tt.nodes[i].commands(), "get ") }

// What the nodes say of each other's health is heeded, in whichever form they tell it, and
// a refresh is one round trip.
func TestClusterReadsFromHealthyReplicas(t *testing.T) {
	const unknown = "ERR unknown subcommand"
	for _, test := range []struct {
		name, refused, refusal string
		heeds                  bool // the health
	}{
		{"both forms", "", "", true},
		{"no SHARDS, as before Redis 7", "shards", unknown, false},
		{"no SLOTS", "slots", unknown, true},
		{"SHARDS not allowed", "shards", "NOPERM this user has no permissions", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			tt := startTelling(t, "online", "online", "fail", "loading")
			if test.refused != "" {
				tt.refuse[test.refused] = test.refusal
			}
			c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{tt.nodes[0].addr}, ReadOnly: true})
			defer c.Close()
			ctx := soon(t)
			refreshed := func(context.Context, *redis.Client) error { return nil }
			for range 3 {
				if err := c.ForEachMaster(ctx, refreshed); err != nil {
					t.Fatal(err)
				}
			}
			for range 60 {
				if err := c.Get(ctx, "k").Err(); err != nil {
					t.Fatal(err)
				}
			}
			if tt.reads(1) == 0 || test.heeds != (tt.reads(2)+tt.reads(3) == 0) {
				t.Errorf("reads: %d at the healthy replica, %d at the failed, %d at the loading one", tt.reads(1), tt.reads(2), tt.reads(3))
			}
			for form, n := range tt.asked {
				if got := n.Load(); form != test.refused && got != 3 || got > int64(len(tt.nodes)) {
					t.Errorf("asked for %s %d times; there were 3 refreshes", form, got)
				}
			}
		})
	}
}

// Neither form works: the error says why.
func TestClusterTellsNothing(t *testing.T) {
	tt := startTelling(t, "online")
	tt.refuse["slots"], tt.refuse["shards"] = "ERR This instance has cluster support disabled", "ERR This instance has cluster support disabled"
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{tt.nodes[0].addr}, PoolTimeout: 50 * time.Millisecond})
	defer c.Close()
	if err := c.Get(soon(t), "k").Err(); err == nil || !strings.Contains(err.Error(), "cluster support disabled") {
		t.Errorf("got %v", err)
	}
}

// Reads go on without an error while a replica dies and is found out.
func TestClusterReadsSurviveAReplica(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			cl := realserver.StartCluster(t, server, realserver.ClusterConfig{Replicas: 1})
			c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cl.Addrs()[:1], ReadOnly: true, Logger: testLogger(t), DialerRetries: 1})
			defer c.Close()
			ctx := soon(t)
			awaitReplicas(t, c, 3)
			keys, pairs := someKeys(40)
			want(t, "MSET", c.MSet(ctx, pairs...).Result, "OK")
			replicas, err := cl.Replicas(ctx, "")
			if err != nil {
				t.Fatal(err)
			}
			if err := cl.Kill(replicas[0]); err != nil {
				t.Fatal(err)
			}
			isOut := false
			deadline := time.Now().Add(10 * time.Second)
			for !isOut && time.Now().Before(deadline) {
				for _, key := range keys {
					if err := c.Get(ctx, key).Err(); err != nil && err != redis.Nil {
						t.Fatal(err)
					}
				}
				isOut = replicasOf(ctx, c) == 2
			}
			if !isOut {
				t.Error("the dead replica is still among those that serve")
			}
		})
	}
}

// replicasOf counts the replicas that the client knows.
func replicasOf(ctx context.Context, c *redis.ClusterClient) int64 {
	var n atomic.Int64
	_ = c.ForEachSlave(ctx, func(context.Context, *redis.Client) error { n.Add(1); return nil })
	return n.Load()
}

// awaitReplicas waits until replicas are known: a node tells of one once something was
// replicated.
func awaitReplicas(t *testing.T, c *redis.ClusterClient, count int64) {
	t.Helper()
	ctx := soon(t)
	await(t, "replicas are known", func() bool {
		_ = c.ForEachMaster(ctx, func(ctx context.Context, m *redis.Client) error { return m.Do(ctx, "flushdb").Err() })
		return replicasOf(ctx, c) == count
	})
}
