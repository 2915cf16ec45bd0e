package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/realserver"
)

// someKeys are keys of many slots, with their values, in the order of MSET.
func someKeys(n int) (keys []string, pairs []any) {
	for i := range n {
		keys = append(keys, fmt.Sprint("key", i))
		pairs = append(pairs, keys[i], fmt.Sprint("value", i))
	}
	return keys, pairs
}

// want checks a reply.
func want[T any](t *testing.T, what string, get func() (T, error), want T) {
	t.Helper()
	got, err := get()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestClusterCommandsForSeveralNodes(t *testing.T) {
	onClusters(t, 1, func(t *testing.T, c *redis.ClusterClient, cl *realserver.Cluster) {
		ctx := soon(t)
		keys, pairs := someKeys(60)
		want(t, "MSET", c.MSet(ctx, pairs...).Result, "OK")
		values := []any{nil}
		for i := 1; i < len(pairs); i += 2 {
			values = append(values, pairs[i])
		}
		want(t, "MGET", c.MGet(ctx, append([]string{"missing"}, keys...)...).Result, values)
		want(t, "EXISTS", c.Exists(ctx, append(keys, "missing", keys[0])...).Result, 61)
		want(t, "TOUCH", c.Touch(ctx, keys...).Result, 60)
		want(t, "DBSIZE", c.DBSize(ctx).Result, 60)
		found, err := c.Keys(ctx, "key*").Result()
		slices.Sort(found)
		if sorted := slices.Sorted(slices.Values(keys)); err != nil || !slices.Equal(found, sorted) {
			t.Errorf("KEYS: got %q, %v, want %q", found, err, sorted)
		}
		if key, err := c.RandomKey(ctx).Result(); err != nil || !slices.Contains(keys, key) {
			t.Errorf("RANDOMKEY: got %q, %v", key, err)
		}
		want(t, "WAIT", c.Wait(ctx, 1, time.Second).Result, 1)
		want(t, "DEL", c.Del(ctx, keys[:20]...).Result, 20)
		want(t, "UNLINK", c.Unlink(ctx, keys...).Result, 40)
		if err := c.RandomKey(ctx).Err(); !errors.Is(err, redis.Nil) {
			t.Errorf("RANDOMKEY of nothing: got %v", err)
		}
		awaitReplicas(t, c, 3)
		for _, addr := range cl.Addrs() { // whichever node a refresh asks
			await(t, addr+" tells of all replicas", func() bool {
				slots, err := cl.Do(ctx, addr, "CLUSTER", "SLOTS")
				ranges, _ := slots.([]any)
				return err == nil && len(ranges) == 3 && !slices.ContainsFunc(ranges, func(r any) bool { return len(r.([]any)) != 4 })
			})
		}
		testClusterScripts(t, c)
		if err := c.MSet(ctx, pairs...).Err(); err != nil {
			t.Error(err)
		}
		want(t, "FLUSHALL", c.FlushAll(ctx).Result, "OK")
		want(t, "DBSIZE after FLUSHALL", c.DBSize(ctx).Result, 0)
		testClusterSlotCommands(t, c)
		testClusterWithoutPolicies(t, cl)
	})
}

// Scripts are loaded and flushed everywhere, replicas included.
func testClusterScripts(t *testing.T, c *redis.ClusterClient) {
	t.Helper()
	ctx := soon(t)
	script := redis.NewScript("return 'reply of " + t.Name() + "'")
	check := func(isKnown bool) {
		t.Helper()
		want(t, "SCRIPT EXISTS", c.ScriptExists(ctx, script.Hash(), strings.Repeat("0", 40)).Result, []bool{isKnown, false})
		if err := c.ForEachShard(ctx, func(ctx context.Context, n *redis.Client) error {
			if got, err := n.ScriptExists(ctx, script.Hash()).Result(); err != nil || got[0] != isKnown {
				return fmt.Errorf("%s: SCRIPT EXISTS: %v, %w", n.Options().Addr, got, errors.Join(err))
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	want(t, "SCRIPT LOAD", c.ScriptLoad(ctx, "return 'reply of "+t.Name()+"'").Result, script.Hash())
	check(true)
	want(t, "SCRIPT FLUSH", c.ScriptFlush(ctx).Result, "OK")
	check(false)
	if err := c.Do(ctx, "script", "kill").Err(); !redis.HasErrorPrefix(err, "NOTBUSY ") {
		t.Errorf("SCRIPT KILL: got %v", err)
	}
}

// Commands that name a slot go to its node, alone, in a pipeline, and between MULTI and
// EXEC.
func testClusterSlotCommands(t *testing.T, c *redis.ClusterClient) {
	t.Helper()
	ctx := soon(t)
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		if err := c.Set(ctx, key, 1, 0).Err(); err != nil {
			t.Error(err)
		}
		slot := cluster.SlotString(key)
		want(t, "CLUSTER COUNTKEYSINSLOT", c.Do(ctx, "cluster", "countkeysinslot", slot).Int64, 1)
		cmds, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.Do(ctx, "cluster", "countkeysinslot", slot)
			p.Publish(ctx, "channel", "message")
			return nil
		})
		if err != nil || cmds[0].(*redis.Cmd).Val() != int64(1) {
			t.Errorf("in a pipeline: %v, %v", cmds, err)
		}
		if _, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Incr(ctx, key)
			p.Publish(ctx, "channel", "message") // of another slot than most of the keys
			return nil
		}); err != nil {
			t.Errorf("in a transaction: %v", err)
		}
	}
}

func testClusterWithoutPolicies(t *testing.T, cl *realserver.Cluster) {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cl.Addrs(), DisableRoutingPolicies: true})
	defer c.Close()
	ctx := soon(t)
	keys, _ := someKeys(60)
	for _, key := range keys {
		if err := c.Set(ctx, key, 1, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := c.DBSize(ctx).Result(); err != nil || n >= 60 {
		t.Errorf("without policies: DBSIZE: got %d, %v, want that of one node", n, err)
	}
	if err := c.Scan(ctx, 0, "", 10).Err(); err != nil {
		t.Errorf("without policies: SCAN: %v", err)
	}
	if err := c.MGet(ctx, keys...).Err(); redis.DeliveryOf(errors.Join(err)) != redis.NotSent {
		t.Errorf("without policies: MGET: got %v", err)
	}
}

// The parts of a split command follow slots that the client does not know to have moved.
func TestClusterSplitFollowsSlots(t *testing.T) {
	onClusters(t, 0, func(t *testing.T, c *redis.ClusterClient, cl *realserver.Cluster) {
		ctx := soon(t)
		keys, pairs := someKeys(300)
		want(t, "MSET", c.MSet(ctx, pairs...).Result, "OK")
		if err := cl.MoveSlots(ctx, cl.Addrs()[0], cl.Addrs()[1], realserver.SlotRange{End: 150}); err != nil {
			t.Fatal(err)
		}
		values, err := c.MGet(ctx, keys...).Result()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if v != pairs[2*i+1] {
				t.Errorf("%s: got %v", keys[i], v)
			}
		}
		want(t, "DEL", c.Del(ctx, keys...).Result, 300)
	})
}

// nodeHook counts what it sees.
type nodeHook struct{ dials, commands atomic.Int64 }

func (h *nodeHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		h.dials.Add(1)
		return next(ctx, network, addr)
	}
}

func (h *nodeHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.commands.Add(1)
		return next(ctx, cmd)
	}
}

func (*nodeHook) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook { return nil }

// Each node is announced once, by the time that something is sent to it, also one that
// only a redirect tells of.
func TestClusterAnnouncesNewNodes(t *testing.T) {
	elsewhere := newScript(t, func(*peer, []string) string { return "+OK\r\n" })
	var n *threeNodes
	n = newThreeNodes(t, 10*time.Second, nil, func(node int, args []string) string {
		if node == 2 && len(args) == 3 {
			n.serve(2, elsewhere.addr)
			return fmt.Sprintf("-MOVED %d %s\r\n", cluster.SlotString(args[1]), elsewhere.addr)
		}
		return "+OK\r\n"
	})
	var hook nodeHook
	var mu sync.Mutex
	seen := map[string]int{}
	n.c.OnNewNode(func(client *redis.Client) {
		client.AddHook(&hook)
		mu.Lock()
		defer mu.Unlock()
		seen[client.Options().Addr]++
	})
	ctx := soon(t)
	for _, key := range n.keys {
		want(t, "SET", n.c.Set(ctx, key, 1, 0).Result, "OK")
	}
	if err := n.c.ForEachMaster(ctx, func(ctx context.Context, client *redis.Client) error {
		return client.Do(ctx, "ping").Err()
	}); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, addr := range append(n.addrs, elsewhere.addr) {
		if seen[addr] != 1 {
			t.Errorf("%s was announced %d times, want once", addr, seen[addr])
		}
	}
	if hook.dials.Load() < 4 || hook.commands.Load() != 7 {
		t.Errorf("the hook saw %d dials, %d commands, want 4 and 7: those of the ClusterClient, one of them twice, and of ForEachMaster", hook.dials.Load(), hook.commands.Load())
	}
}

// Failovers by command change nothing of what is asked of all nodes, and what is changed at
// several is changed once.
func TestClusterFanThroughFailovers(t *testing.T) {
	onClusters(t, 1, func(t *testing.T, c *redis.ClusterClient, cl *realserver.Cluster) {
		ctx := soon(t)
		keys, pairs := someKeys(60)
		want(t, "MSET", c.MSet(ctx, pairs...).Result, "OK")
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for w := range 4 {
			own := make([]string, 12)
			for i := range own {
				own[i] = fmt.Sprint("own-", w, "-", i)
			}
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					want(t, "EXISTS", c.Exists(ctx, keys...).Result, 60)
					want(t, "MSET", c.MSet(ctx, own[0], 1, own[1], 2, own[2], 3, own[3], 4).Result, "OK")
					want(t, "DEL", c.Del(ctx, own...).Result, 4)
					if found, err := c.Keys(ctx, "key*").Result(); err != nil || len(found) != 60 {
						t.Errorf("KEYS: got %d, %v", len(found), err)
					}
					want(t, "PUBLISH", c.Publish(ctx, "channel", w).Result, 0)
				}
			})
		}
		primaries, err := cl.Primaries(ctx)
		if err != nil {
			t.Error(err)
		}
		for _, p := range primaries {
			replicas, err := cl.Replicas(ctx, p)
			if err == nil && len(replicas) > 0 {
				err = cl.Failover(ctx, replicas[0])
			}
			if err != nil {
				t.Errorf("%s: %v", p, err)
			}
		}
		close(stop)
		wg.Wait()
	})
}

//------------------------------------------------------------------------------

// threeNodes are scripts that are the nodes of a cluster, each with a third of the slots.
type threeNodes struct {
	c     *redis.ClusterClient
	addrs []string
	nodes []*script
	keys  []string // one of each node
	slots atomic.Pointer[[]redis.ClusterSlot]
}

// serve gives the slots of node i to the node at addr, so that i is none any more.
func (n *threeNodes) serve(i int, addr string) {
	slots := slices.Clone(*n.slots.Load())
	slots[i].Nodes = []redis.ClusterNode{{Addr: addr}}
	n.slots.Store(&slots)
}

// newThreeNodes starts nodes that answer by reply; node is from 0. A node of which down
// says so does not exist. patience is how long the client waits for a cluster that is not
// ready.
func newThreeNodes(t *testing.T, patience time.Duration, down []int, reply func(node int, args []string) string) *threeNodes {
	t.Helper()
	n := &threeNodes{keys: []string{"c", "b", "a"}} // slots 7365, 3300, 15495
	slices.SortFunc(n.keys, func(a, b string) int { return int(cluster.SlotString(a)) - int(cluster.SlotString(b)) })
	var slots []redis.ClusterSlot
	for i := range 3 {
		addr := fmt.Sprint("127.0.0.1:", i+1)
		if !slices.Contains(down, i) {
			s := newScript(t, func(_ *peer, args []string) string { return reply(i, args) })
			n.nodes = append(n.nodes, s)
			addr = s.addr
		}
		n.addrs = append(n.addrs, addr)
		slots = append(slots, redis.ClusterSlot{Start: i * 5500, End: min(i*5500+5499, cluster.Slots-1), Nodes: []redis.ClusterNode{{Addr: addr}}})
	}
	n.slots.Store(&slots)
	n.c = redis.NewClusterClient(&redis.ClusterOptions{
		ClusterSlots:  func(context.Context) ([]redis.ClusterSlot, error) { return *n.slots.Load(), nil },
		DialerRetries: 1, PoolTimeout: patience, Logger: testLogger(t),
	})
	t.Cleanup(func() { _ = n.c.Close() })
	return n
}

func TestClusterFanTellsWhatHasFailed(t *testing.T) {
	// Node 2 is the one with which something is wrong.
	other := func(reply string) func(int, []string) string {
		return func(node int, args []string) string {
			if node == 2 {
				return reply
			}
			return map[string]string{"flushall": "+OK\r\n"}[args[0]] + map[string]string{"dbsize": ":1\r\n", "del": ":1\r\n"}[args[0]]
		}
	}
	del := func(ctx context.Context, n *threeNodes) error { return n.c.Del(ctx, n.keys...).Err() }
	flush := func(ctx context.Context, n *threeNodes) error { return n.c.FlushAll(ctx).Err() }
	size := func(ctx context.Context, n *threeNodes) error { return n.c.DBSize(ctx).Err() }
	for _, tt := range []struct {
		name     string
		down     []int
		reply    string
		do       func(context.Context, *threeNodes) error
		delivery redis.Delivery
		says     string
	}{
		{"a part of DEL may have been executed", nil, hangUp, del, redis.MaybeSent, "executed in 2 of 3 parts"},
		{"a part of DEL was not sent", []int{2}, "", del, redis.MaybeSent, "executed in 2 of 3 parts"},
		{"a part of DEL was refused", nil, "-NOPERM no\r\n", del, redis.MaybeSent, "executed in 2 of 3 parts: NOPERM no"},
		{"no part of DEL was sent", []int{0, 1, 2}, "", del, redis.NotSent, "executed in 0 of 3 parts"},
		{"a part of FLUSHALL may have been executed", nil, hangUp, flush, redis.MaybeSent, "executed in 2 of 3 parts"},
		{"a part of FLUSHALL was not sent", []int{2}, "", flush, redis.MaybeSent, "executed in 2 of 3 parts"},
		{"no part of FLUSHALL was sent", []int{0, 1, 2}, "", flush, redis.NotSent, "executed in 0 of 3 parts"},
		{"DBSIZE was refused by a node", nil, "-NOPERM no\r\n", size, redis.Rejected, "executed in 2 of 3 parts: NOPERM no"},
		{"DBSIZE was not sent to a node", []int{2}, "", size, redis.MaybeSent, "executed in 2 of 3 parts"},
		{"DBSIZE makes no sense", nil, "+many\r\n", size, redis.Rejected, "unexpected reply"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newThreeNodes(t, 50*time.Millisecond, tt.down, other(tt.reply))
			err := tt.do(soon(t), n)
			if err == nil || redis.DeliveryOf(err) != tt.delivery || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %v and %q", err, tt.delivery, tt.says)
			}
			if e, ok := errors.AsType[*redis.CommandError](err); ok && len(tt.down) < 2 && e.Endpoint != n.addrs[2] {
				t.Errorf("got endpoint %s, want %s", e.Endpoint, n.addrs[2])
			}
		})
	}
}

// What all nodes answer alike is the answer.
func TestClusterFanGivesTheCommonError(t *testing.T) {
	n := newThreeNodes(t, 10*time.Second, nil, func(int, []string) string { return "-ERR no such parameter\r\n" })
	if err := n.c.ConfigSet(soon(t), "nonsense", "1").Err(); err == nil || err.Error() != "ERR no such parameter" {
		t.Errorf("got %v", err)
	}
}

// A node that is not ready is waited for, and the others do their part once.
func TestClusterFanWaitsForANode(t *testing.T) {
	var asked [3]atomic.Int64
	n := newThreeNodes(t, 10*time.Second, nil, func(node int, _ []string) string {
		if asked[node].Add(1) < 3 && node == 1 {
			return "-LOADING Redis is loading the dataset in memory\r\n"
		}
		return ":7\r\n"
	})
	want(t, "DBSIZE", n.c.DBSize(soon(t)).Result, 21)
	for i, times := range []int64{1, 3, 1} {
		if got := asked[i].Load(); got != times {
			t.Errorf("node %d was asked %d times, want %d", i, got, times)
		}
	}
}

// Where a node has become a replica, or has left, while it was asked, what is for primaries
// is for its successor, and what is for all nodes is for the others.
func TestClusterFanFollowsTheTopology(t *testing.T) {
	ctx := soon(t)
	var n *threeNodes
	var successor string
	var asked atomic.Int64
	refuse := func(node int, _ []string) string {
		if node != 2 {
			return "+OK\r\n"
		}
		asked.Add(1)
		n.serve(2, successor)
		return "-READONLY You can't write against a read only replica.\r\n"
	}
	heir := newScript(t, func(*peer, []string) string { return "+OK\r\n" })
	n, successor = newThreeNodes(t, 10*time.Second, nil, refuse), heir.addr
	want(t, "FLUSHALL", n.c.FlushAll(ctx).Result, "OK")
	if got := heir.commands(); got != "flushall" || asked.Load() == 0 {
		t.Errorf("the successor got %q, the other was asked %d times", got, asked.Load())
	}
	asked.Store(0)
	n = newThreeNodes(t, 10*time.Second, nil, refuse)
	successor = n.addrs[0]
	want(t, "SCRIPT FLUSH", n.c.ScriptFlush(ctx).Result, "OK")
	if got := n.nodes[0].commands(); got != "script flush" || asked.Load() == 0 {
		t.Errorf("the first node got %q, the other was asked %d times", got, asked.Load())
	}
}

// While a failover is told, a node may know of slots that nobody has any more and nobody has
// yet. What is for all nodes waits for the one that will have them, but not for ever.
func TestClusterFanWaitsForSlots(t *testing.T) {
	n := newThreeNodes(t, 10*time.Second, nil, func(int, []string) string { return ":1\r\n" })
	all := *n.slots.Load()
	torn := all[:2]
	n.slots.Store(&torn)
	begun := time.Now()
	time.AfterFunc(50*time.Millisecond, func() { n.slots.Store(&all) })
	want(t, "DBSIZE", n.c.DBSize(soon(t)).Result, 3)
	n.slots.Store(&torn)
	for range 2 { // only the first one waits
		want(t, "DBSIZE without a third of the slots", n.c.DBSize(soon(t)).Result, 2)
	}
	if took := time.Since(begun); took < time.Second {
		t.Errorf("waited %v, want a second", took)
	}
}

// Of SCRIPT KILL one success is enough, and of failures the one counts that tells most.
func TestClusterFanKillsWhereThereIsSomething(t *testing.T) {
	var answer atomic.Pointer[string]
	n := newThreeNodes(t, 10*time.Second, nil, func(node int, _ []string) string {
		if node == 1 {
			return *answer.Load()
		}
		return "-NOTBUSY No scripts in execution right now.\r\n"
	})
	answer.Store(new("+OK\r\n"))
	want(t, "SCRIPT KILL", n.c.ScriptKill(soon(t)).Result, "OK")
	answer.Store(new("-UNKILLABLE it has written\r\n"))
	if err := n.c.ScriptKill(soon(t)).Err(); !redis.HasErrorPrefix(err, "UNKILLABLE ") {
		t.Errorf("got %v", err)
	}
}

// Messages on a channel go to one node, so that none is overtaken.
func TestClusterPublishKeepsOrder(t *testing.T) {
	n := newThreeNodes(t, 10*time.Second, nil, func(int, []string) string { return ":1\r\n" })
	ctx := soon(t)
	for i := range 60 {
		if err := n.c.Publish(ctx, fmt.Sprint("channel", i%20), "message").Err(); err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for _, s := range n.nodes {
		got := strings.Split(s.commands(), ", ")
		total += len(got)
		for _, line := range got {
			if n := strings.Count(s.commands()+",", line+","); n != 3 {
				t.Errorf("%q came %d times to one node, want all 3", line, n)
			}
		}
	}
	if total != 60 {
		t.Errorf("%d messages came, want 60", total)
	}
}

// What can't be sent is refused, and the error says what to do instead.
func TestClusterFanRefusals(t *testing.T) {
	n := newThreeNodes(t, 10*time.Second, nil, func(int, []string) string { return "+OK\r\n" })
	ctx := soon(t)
	piped := func(add func(p redis.Pipeliner)) error {
		return second(n.c.Pipelined(ctx, func(p redis.Pipeliner) error { add(p); return nil }))
	}
	for _, tt := range []struct {
		name string
		err  error
		says string
	}{
		{"SCAN", n.c.Scan(ctx, 0, "", 10).Err(), "ForEachMaster"},
		{"CLUSTER FAILOVER", n.c.Do(ctx, "cluster", "failover").Err(), "MasterForKey"},
		{"DBSIZE in a pipeline", piped(func(p redis.Pipeliner) { p.DBSize(ctx) }), "several nodes"},
		{"MGET in a pipeline", piped(func(p redis.Pipeliner) { p.MGet(ctx, n.keys...) }), "CROSSSLOT"},
		{"SCAN in a pipeline", piped(func(p redis.Pipeliner) { p.Scan(ctx, 0, "", 10) }), "ForEachMaster"},
		{"MSET without a value", n.c.MSet(ctx, n.keys[0], 1, n.keys[1]).Err(), "no value"},
	} {
		if tt.err == nil || redis.DeliveryOf(tt.err) != redis.NotSent || !strings.Contains(tt.err.Error(), tt.says) {
			t.Errorf("%s: got %v, want NotSent and %q", tt.name, tt.err, tt.says)
		}
	}
	for _, s := range n.nodes {
		if got := s.commands(); got != "" {
			t.Errorf("sent: %s", got)
		}
	}
}

// A context that ends is an end for all parts.
func TestClusterFanEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(soon(t))
	n := newThreeNodes(t, 10*time.Second, nil, func(node int, _ []string) string {
		if node == 1 {
			cancel()
			return silence
		}
		return ":1\r\n"
	})
	err := n.c.DBSize(ctx).Err()
	if !errors.Is(err, context.Canceled) || redis.DeliveryOf(err) != redis.MaybeSent {
		t.Errorf("got %v", err)
	}
}
