package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
)

// A nodeTrace is a hook of one node's client that takes down what it sees there.
type nodeTrace struct {
	addr   string
	client *redis.Client
	note   func(string)
}

func (h *nodeTrace) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *nodeTrace) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "echo" {
			return next(ctx, cmd)
		}
		// A command of the hook's own is none of the cluster client's.
		if err := h.client.Do(ctx, "echo", "x").Err(); err != nil {
			h.note("echo: " + err.Error())
		}
		err := next(ctx, cmd)
		switch {
		case cmd.Name() == "getdel":
			err = errors.New("not allowed")
		case err != nil:
			h.note(fmt.Sprintf("%s %s: %.5s", h.addr, cmd.Name(), err))
			return fmt.Errorf("traced: %w", err)
		}
		h.note(h.addr + " " + cmd.Name())
		return err
	}
}

func (h *nodeTrace) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		names := make([]string, len(cmds))
		for i, cmd := range cmds {
			names[i] = cmd.Name()
		}
		h.note(h.addr + " [" + strings.Join(names, " ") + "]")
		return err
	}
}

// Hooks of a node's client, as applications add for tracing, see what the cluster client
// does there: each attempt, with its redirects. The callback that adds them may use the
// cluster client.
func TestClusterNodeHooks(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	var c *redis.ClusterClient
	taken := func() (got []string) {
		mu.Lock()
		defer mu.Unlock()
		got, seen = seen, nil
		slices.Sort(got)
		return got
	}
	var isAsked, isCut atomic.Bool
	var n *threeNodes
	n = newThreeNodes(t, 10*time.Second, nil, func(node int, args []string) string {
		switch {
		case args[0] == "echo":
			return "$1\r\nx\r\n"
		case args[0] == "incr" && node == 0:
			return fmt.Sprintf("-MOVED %d %s\r\n", cluster.SlotString(args[1]), n.addrs[1])
		case args[0] == "decr" && node == 0 && !isAsked.Swap(true):
			return fmt.Sprintf("-ASK %d %s\r\n", cluster.SlotString(args[1]), n.addrs[1])
		case args[0] == "get" && isCut.Swap(false):
			return hangUp
		case args[0] == "multi":
			return "+OK\r\n"
		case args[0] == "exec":
			return "*1\r\n:1\r\n"
		case args[0] == "strlen":
			return "+QUEUED\r\n"
		case args[0] == "get":
			return "$1\r\nv\r\n"
		}
		return ":1\r\n"
	})
	var made atomic.Int64
	c = redis.NewClusterClient(&redis.ClusterOptions{
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) { return *n.slots.Load(), nil },
		NewClient: func(opt *redis.Options) *redis.Client {
			made.Add(1)
			_ = c.PoolStats() // must not hang
			c.ReloadState(context.Background())
			client := redis.NewClient(opt)
			client.AddHook(&nodeTrace{addr: fmt.Sprint("node", slices.Index(n.addrs, opt.Addr)), client: client, note: func(s string) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, s)
			}})
			return client
		},
	})
	defer c.Close()
	ctx := soon(t)
	check := func(what string, want ...string) {
		t.Helper()
		if got := taken(); !slices.Equal(got, want) {
			t.Errorf("%s: the hooks saw %q, want %q", what, got, want)
		}
	}
	key := n.keys[0]
	want(t, "GET", c.Get(ctx, key).Result, "v")
	check("GET", "node0 get")
	isCut.Store(true)
	want(t, "GET", c.Get(ctx, key).Result, "v")
	check("a cut", "node0 get", "node0 get: redis")
	want(t, "DECR", c.Decr(ctx, key).Result, 1)
	check("ASK", "node0 decr: ASK 3", "node1 decr")
	want(t, "INCR", c.Incr(ctx, key).Result, 1)
	check("MOVED", "node0 incr: MOVED", "node1 incr")
	await(t, "the topology is as it was", func() bool { // the refresh says so
		_ = c.Get(ctx, key)
		return slices.Equal(taken(), []string{"node0 get"})
	})
	if err := c.GetDel(ctx, key).Err(); err == nil || err.Error() != "not allowed" {
		t.Errorf("an error of a hook: got %v", err)
	}
	_ = taken()
	if _, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Get(ctx, n.keys[0])
		p.Exists(ctx, n.keys[0])
		p.Get(ctx, n.keys[2])
		return nil
	}); err != nil {
		t.Errorf("pipeline: %v", err)
	}
	check("pipeline", "node0 [get exists]", "node2 [get]")
	if _, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.StrLen(ctx, n.keys[1]).Err() }); err != nil {
		t.Errorf("transaction: %v", err)
	}
	check("transaction", "node1 [strlen]")
	want(t, "DBSIZE", c.DBSize(ctx).Result, 3)
	check("DBSIZE", "node0 dbsize", "node1 dbsize", "node2 dbsize")
	if made.Load() != 3 {
		t.Errorf("%d clients were made for 3 nodes", made.Load())
	}
}

// always picks the same shard.
type always int

func (a always) Next(int) int { return int(a) }

func TestClusterShardPicker(t *testing.T) {
	n := newThreeNodes(t, time.Second, nil, func(int, []string) string { return "+PONG\r\n" })
	for _, pick := range []int{1, 2, 7} { // the last one is too many
		c := redis.NewClusterClient(&redis.ClusterOptions{
			ShardPicker:  always(pick),
			ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) { return *n.slots.Load(), nil },
		})
		before := strings.Count(n.nodes[min(pick, 2)].commands(), "ping")
		for range 20 {
			want(t, "PING", c.Ping(soon(t)).Result, "PONG")
		}
		if got := strings.Count(n.nodes[min(pick, 2)].commands(), "ping") - before; got != 20 {
			t.Errorf("shard %d got %d of 20 commands", pick, got)
		}
		_ = c.Close()
	}
}

// A NewClient that makes clients of bad options is told so.
func TestClusterNewClientIsInvalid(t *testing.T) {
	c := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{"127.0.0.1:1"}, PoolTimeout: 50 * time.Millisecond,
		NewClient: func(opt *redis.Options) *redis.Client {
			opt.Addr = "nonsense"
			return redis.NewClient(opt)
		},
	})
	defer c.Close()
	if err := c.Get(soon(t), "k").Err(); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("got %v", err)
	}
}
