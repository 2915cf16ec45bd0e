package maintsim_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/maintsim"
)

// quickCluster is a configuration whose windows take tenths of a second.
func quickCluster() maintsim.ClusterConfig {
	return maintsim.ClusterConfig{Config: quick(), Window: 10 * time.Second}
}

// keyOf returns a key of a slot.
func keyOf(slot int) string {
	for i := 0; ; i++ {
		if key := "k" + strconv.Itoa(i); int(cluster.SlotString(key)) == slot {
			return key
		}
	}
}

func oneSlot(slot int) []maintsim.SlotRange { return []maintsim.SlotRange{{First: slot, Last: slot}} }

// The frames are those that wire-facts were measured of: one string of slots, and
// triplets; every connection of every node gets the same ones.
func TestClusterNotices(t *testing.T) {
	c := maintsim.StartCluster(t, quickCluster())
	var told []*client
	for _, addr := range c.Addrs() {
		told = append(told, optIn(t, addr, "none"), optIn(t, addr, "internal-ip"))
	}
	nodes := c.Nodes()
	for _, n := range nodes[:3] {
		if !n.Primary || !n.Member || len(n.Slots) != 1 {
			t.Fatalf("got %+v, want a primary with one range", n)
		}
	}
	moves := []maintsim.SlotMove{
		{From: 0, To: 1, Slots: []maintsim.SlotRange{{First: 123, Last: 123}, {First: 789, Last: 1000}}},
		{From: 2, To: 3, Slots: oneSlot(16383)}, // a shard that nobody knows yet
	}
	if err := c.Migrate(t.Context(), moves); err != nil {
		t.Fatal(err)
	}
	triplet := func(from, to int, slots string) string {
		return "*3\r\n" + bulk(nodes[from].Addr) + bulk(nodes[to].Addr) + bulk(slots)
	}
	for _, cl := range told {
		cl.want(push("SMIGRATING", "0", bulk("123,789-1000,16383")))
		cl.want(push("SMIGRATED", "1", "*2\r\n"+triplet(0, 1, "123,789-1000")+triplet(2, 3, "16383")))
	}
	if got, want := c.Stats().Notices[maintsim.SMigrated], uint64(len(told)); got != want {
		t.Errorf("SMIGRATED was sent %d times, want %d", got, want)
	}
	if got := c.Owner(keyOf(123)); got != 1 {
		t.Errorf("slot 123 belongs to shard %d, want 1", got)
	}
	if got := c.Addrs(); !slices.Contains(got, nodes[3].Addr) {
		t.Errorf("got addresses %v, want %s among them", got, nodes[3].Addr)
	}
	// SMIGRATED isn't kept for connections to come.
	optIn(t, nodes[3].Addr, "none").quiet(50 * time.Millisecond)
}

// Notices may come in other forms, twice, in the wrong order, late, or not at all.
func TestClusterNoticeOptions(t *testing.T) {
	c := maintsim.StartCluster(t, quickCluster())
	a, b := optIn(t, c.Addrs()[0], "none"), optIn(t, c.Addrs()[1], "none")
	both := func(frames ...string) {
		t.Helper()
		for _, cl := range []*client{a, b} {
			for _, f := range frames {
				cl.want(f)
			}
		}
	}
	done := func(seq string, slot string, from, to int) string {
		nodes := c.Nodes()
		return push("SMIGRATED", seq, "*1\r\n*3\r\n"+bulk(nodes[from].Addr)+bulk(nodes[to].Addr)+bulk(slot))
	}
	slots := []maintsim.SlotRange{{First: 1, Last: 2}, {First: 9, Last: 9}}
	run := func(from, to int, opts ...maintsim.Option) {
		t.Helper()
		if err := c.MigrateSlots(t.Context(), from, to, slots, opts...); err != nil {
			t.Fatal(err)
		}
	}
	run(0, 1, maintsim.WithVariant(maintsim.VariantSlotElements, maintsim.VariantPairs), maintsim.WithLead(0))
	both(push("SMIGRATING", "0", bulk("1-2"), bulk("9")),
		push("SMIGRATED", "1", "*1\r\n*2\r\n"+bulk(c.Nodes()[1].Addr)+bulk("1-2,9")))
	opening := func(seq string) string { return push("SMIGRATING", seq, bulk("1-2,9")) }
	run(1, 0, maintsim.WithDuplicates(), maintsim.WithWindow(0))
	both(opening("2"), opening("2"), done("3", "1-2,9", 1, 0), done("3", "1-2,9", 1, 0))
	run(0, 1, maintsim.WithReordered(1), maintsim.WithWindow(0), maintsim.WithSeq(70))
	both(done("71", "1-2,9", 0, 1), opening("70"))
	run(1, 0, maintsim.WithoutClosing(), maintsim.WithWindow(0))
	run(0, 1, maintsim.WithOpeningsTo(0), maintsim.WithWindow(0))
	both(opening("4"), done("7", "1-2,9", 0, 1))
	run(1, 0, maintsim.WithUnannounced())
	c.Sim().Refuse()
	run(0, 1)
	a.quiet(30 * time.Millisecond)
	b.quiet(30 * time.Millisecond)
}

// Who opts in while slots move is told so.
func TestClusterLateComer(t *testing.T) {
	c := maintsim.StartCluster(t, quickCluster())
	wait := background(t, func() error { return c.MigrateSlots(t.Context(), 0, 1, oneSlot(7)) })
	waitFor(t, func() bool { return c.Stats().Notices[maintsim.SMigrating] == 0 && len(c.Events()) > 0 })
	late := optIn(t, c.Addrs()[2], "none")
	late.want(push("SMIGRATING", "0", bulk("7")))
	wait()
	late.want(push("SMIGRATED", "1", "*1\r\n*3\r\n"+bulk(c.Nodes()[0].Addr)+bulk(c.Nodes()[1].Addr)+bulk("7")))
}

// Keys of a slot on the move are at the source until they are at the target.
func TestClusterAsk(t *testing.T) {
	c := maintsim.StartCluster(t, quickCluster())
	const slot = 5
	tag := "{" + keyOf(slot) + "}"
	var keys []string
	for i := range 8 {
		keys = append(keys, tag+strconv.Itoa(i))
		if _, err := c.Do("SET", keys[i], "v"); err != nil {
			t.Fatal(err)
		}
	}
	from, to := dial(t, c.Addrs()[0]), dial(t, c.Addrs()[1])
	moved, ask := fmt.Sprintf("-MOVED %d %s\r\n", slot, c.Addrs()[0]), fmt.Sprintf("-ASK %d %s\r\n", slot, c.Addrs()[1])
	if got := to.do("GET", keys[0]); got != moved {
		t.Errorf("got %q, want %q", got, moved)
	}
	wait := background(t, func() error {
		return c.MigrateSlots(t.Context(), 0, 1, oneSlot(slot), maintsim.WithWindow(100*time.Second), maintsim.WithUnannounced())
	})
	waitFor(t, func() bool {
		return from.do("MGET", keys[0], tag+"new") == "-TRYAGAIN Multiple keys request during rehashing of slot\r\n"
	})
	if got := from.do("SET", tag+"new", "v"); got != ask {
		t.Errorf("a new key at the source: got %q, want %q", got, ask)
	}
	to.raw(encode("ASKING") + encode("SET", tag+"new", "v") + encode("GET", tag+"new"))
	to.want("+OK\r\n")
	to.want("+OK\r\n")
	to.want(moved) // ASKING is for one command
	if got := from.do("GET", tag+"new"); got != ask {
		t.Errorf("a key that was made at the target: got %q at the source, want %q", got, ask)
	}
	to.raw(encode("ASKING") + encode("MULTI") + encode("INCR", tag+"n") + encode("INCR", tag+"n") + encode("EXEC") + encode("GET", tag+"n"))
	for _, want := range []string{"+OK\r\n", "+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n:1\r\n:2\r\n", moved} {
		to.want(want)
	}
	from.raw(encode("MULTI") + encode("GET", keys[7]))
	from.want("+OK\r\n")
	from.want("+QUEUED\r\n")
	wait()
	back := fmt.Sprintf("-MOVED %d %s\r\n", slot, c.Addrs()[1])
	if got := from.do("EXEC"); got != back {
		t.Errorf("EXEC after the slot has left: got %q, want %q", got, back)
	}
	if got := from.do("GET", keys[0]); got != back {
		t.Errorf("got %q, want %q", got, back)
	}
	if got := to.do("GET", keys[0]); got != bulk("v") {
		t.Errorf("got %q at the new owner, want v", got)
	}
	st := c.Stats().Nodes
	if st[0].Ask < 2 || st[0].TryAgain == 0 || st[0].Moved < 2 || st[1].Moved < 3 {
		t.Errorf("got %+v", st)
	}
}

// A cluster answers what clients ask about it, in both protocols.
func TestClusterCommands(t *testing.T) {
	cfg := quickCluster()
	cfg.Replicas, cfg.Names = 1, true
	c := maintsim.StartCluster(t, cfg)
	nodes := c.Nodes()
	cl := dial(t, nodes[0].Listen)
	cl.send("GET", "a", "b")
	if got := cl.frame(); !strings.HasPrefix(got, "-MOVED 15495 node-3.sim.test:") {
		t.Errorf("got %q", got)
	}
	for words, want := range map[string]string{
		"CLUSTER KEYSLOT foo":           ":12182\r\n",
		"MGET {a}b c":                   "-CROSSSLOT Keys in request don't hash to the same slot\r\n",
		"SELECT 1":                      "-ERR SELECT is not allowed in cluster mode\r\n",
		"SELECT 0":                      "+OK\r\n",
		"CLUSTER COUNTKEYSINSLOT 12182": ":0\r\n",
		"DBSIZE":                        ":0\r\n",
		"READONLY":                      "+OK\r\n",
	} {
		if got := cl.do(strings.Fields(words)...); got != want {
			t.Errorf("%s: got %q, want %q", words, got, want)
		}
	}
	for range 2 {
		for _, sub := range []string{"SLOTS", "SHARDS", "NODES", "INFO"} {
			got := cl.do("CLUSTER", sub)
			if sub != "INFO" && !strings.Contains(got, "node-2.sim.test") {
				t.Errorf("CLUSTER %s: got %q", sub, got)
			}
		}
		cl.hello3()
	}
	id := cl.do("CLUSTER", "MYID")
	if !strings.Contains(cl.do("CLUSTER", "NODES"), strings.TrimSpace(strings.Split(id, "\n")[1])+" 127.0.0.1:") {
		t.Errorf("id %q is not among the nodes", id)
	}
	// Each node has its own keys.
	for i := range 100 {
		if _, err := c.Do("SET", "key"+strconv.Itoa(i), "v"); err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for _, n := range nodes[:3] {
		cl := dial(t, n.Listen)
		size, _ := strconv.Atoi(strings.TrimSpace(cl.do("DBSIZE")[1:]))
		for _, words := range []string{"KEYS *", "SCAN 0 COUNT 1000"} {
			if got := cl.do(strings.Fields(words)...); strings.Count(got, "key") != size || size == 0 {
				t.Errorf("node %d has %d keys, %s gives %d", n.Node, size, words, strings.Count(got, "key"))
			}
		}
		total += size
	}
	if total != 100 {
		t.Errorf("the nodes have %d keys, want 100", total)
	}
	// A replica serves reads to who says READONLY.
	replica := dial(t, nodes[4].Listen)
	key := keyOf(1)
	if _, err := c.Do("SET", key, "v"); err != nil {
		t.Fatal(err)
	}
	moved := "-MOVED 1 " + nodes[0].Addr + "\r\n"
	for _, step := range [][2]string{
		{"GET " + key, moved},
		{"READONLY", "+OK\r\n"},
		{"GET " + key, bulk("v")},
		{"SET " + key + " x", moved},
		{"READWRITE", "+OK\r\n"},
		{"GET " + key, moved},
	} {
		if got := replica.do(strings.Fields(step[0])...); got != step[1] {
			t.Errorf("%s at a replica: got %q, want %q", step[0], got, step[1])
		}
	}
}

// A sharded subscription ends, unasked, when its slot leaves; others reach every node.
func TestClusterSubscriptions(t *testing.T) {
	c := maintsim.StartCluster(t, quickCluster())
	ch := keyOf(9)
	sub, other := dial(t, c.Addrs()[0]), dial(t, c.Addrs()[1])
	sub.hello3()
	sub.send("SSUBSCRIBE", ch)
	sub.want(">3\r\n" + bulk("ssubscribe") + bulk(ch) + ":1\r\n")
	sub.send("SUBSCRIBE", "news")
	sub.want(">3\r\n" + bulk("subscribe") + bulk("news") + ":1\r\n")
	if got := other.do("SSUBSCRIBE", ch); !strings.HasPrefix(got, "-MOVED 9 ") {
		t.Errorf("SSUBSCRIBE elsewhere: got %q", got)
	}
	if got := dial(t, c.Addrs()[0]).do("SPUBLISH", ch, "hello"); got != ":1\r\n" {
		t.Errorf("SPUBLISH: got %q", got)
	}
	sub.want(">3\r\n" + bulk("smessage") + bulk(ch) + bulk("hello"))
	other.do("PUBLISH", "news", "now")
	sub.want(">3\r\n" + bulk("message") + bulk("news") + bulk("now"))
	if err := c.MigrateSlots(t.Context(), 0, 1, oneSlot(9), maintsim.WithUnannounced()); err != nil {
		t.Fatal(err)
	}
	sub.want(">3\r\n" + bulk("sunsubscribe") + bulk(ch) + ":0\r\n")
	other.send("SSUBSCRIBE", ch)
	other.want("*3\r\n" + bulk("ssubscribe") + bulk(ch) + ":1\r\n")
}

// A blocking command of a slot that leaves is sent away.
func TestClusterBlockedCommandFollows(t *testing.T) {
	c := maintsim.StartCluster(t, quickCluster())
	cl := dial(t, c.Addrs()[0])
	cl.send("BLPOP", keyOf(3), "0")
	waitFor(t, func() bool { return c.Sim().Blocked() == 1 })
	if err := c.MigrateSlots(t.Context(), 0, 1, oneSlot(3), maintsim.WithAtomic(), maintsim.WithWindow(0)); err != nil {
		t.Fatal(err)
	}
	cl.want("-MOVED 3 " + c.Addrs()[1] + "\r\n")
	if got := cl.do("PING"); got != "+PONG\r\n" {
		t.Errorf("got %q", got)
	}
}

// clusterLoad is commands under way on a client. Every INCR is counted.
type clusterLoad struct {
	t      *testing.T
	c      *redis.ClusterClient
	stop   chan struct{}
	wg     sync.WaitGroup
	ops    atomic.Int64
	failed atomic.Int64
	first  atomic.Value
	acked  [32]atomic.Int64
}

func startLoad(t *testing.T, sim *maintsim.Cluster, password string) *clusterLoad {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: sim.Addrs(), Dialer: sim.DialContext, Password: password,
	})
	t.Cleanup(func() { _ = c.Close() })
	l := &clusterLoad{t: t, c: c, stop: make(chan struct{})}
	for w := range 8 {
		l.wg.Go(func() {
			for i := w; ; i++ {
				select {
				case <-l.stop:
					return
				default:
				}
				l.step(w, i)
			}
		})
	}
	waitFor(t, func() bool { return l.ops.Load() > 500 })
	return l
}

func (l *clusterLoad) step(w, i int) {
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	var err error
	key := "other-" + strconv.Itoa(i%1000)
	tag := "{tag-" + strconv.Itoa(i%200) + "}"
	switch i % 6 {
	case 0, 1:
		n := i / 6 % len(l.acked)
		if err = l.c.Incr(ctx, "counter-"+strconv.Itoa(n)).Err(); err == nil {
			l.acked[n].Add(1)
		}
	case 2:
		err = l.c.Set(ctx, key, w, 0).Err()
	case 3:
		if err = l.c.Get(ctx, key).Err(); errors.Is(err, redis.Nil) {
			err = nil
		}
	case 4:
		err = l.c.MSet(ctx, tag+"a", i, tag+"b", i).Err()
	case 5:
		_, err = l.c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Incr(ctx, tag+"n")
			p.Incr(ctx, tag+"m")
			return nil
		})
	}
	l.ops.Add(1)
	if err != nil {
		l.failed.Add(1)
		l.first.CompareAndSwap(nil, fmt.Sprint("step ", i%6, ": ", err))
	}
}

// end stops the load, and checks that nothing failed and every INCR counts once.
func (l *clusterLoad) end(sim *maintsim.Cluster) {
	l.t.Helper()
	close(l.stop)
	l.wg.Wait()
	if n := l.failed.Load(); n > 0 {
		l.t.Errorf("%d of %d commands failed, the first one with %v", n, l.ops.Load(), l.first.Load())
	}
	for n := range l.acked {
		want := strconv.FormatInt(l.acked[n].Load(), 10)
		if want == "0" {
			continue
		}
		if got, err := sim.Do("GET", "counter-"+strconv.Itoa(n)); err != nil || got != want {
			l.t.Errorf("counter-%d is %v, %v, want %s", n, got, err, want)
		}
	}
	var moved, ask, tryAgain uint64
	for _, n := range sim.Stats().Nodes {
		moved, ask, tryAgain = moved+n.Moved, ask+n.Ask, tryAgain+n.TryAgain
	}
	l.t.Logf("%d commands, %d MOVED, %d ASK, %d TRYAGAIN", l.ops.Load(), moved, ask, tryAgain)
}

// Nobody notices that slots move, whatever becomes of the notices.
func TestClusterClientSurvives(t *testing.T) {
	all := func(opts ...maintsim.Option) func(context.Context, *maintsim.Cluster) error {
		return func(ctx context.Context, c *maintsim.Cluster) error {
			return errors.Join(c.MigrateSlots(ctx, 0, 1, nil, opts...), c.MigrateSlots(ctx, 1, 0, c.Slots(1)[:1], opts...))
		}
	}
	for name, run := range map[string]func(context.Context, *maintsim.Cluster) error{
		"announced":      all(),
		"atomic":         all(maintsim.WithAtomic()),
		"short":          all(maintsim.WithWindow(time.Second), maintsim.WithLead(0)),
		"unannounced":    all(maintsim.WithUnannounced()),
		"open source":    all(),
		"lost openings":  all(maintsim.WithOpeningsTo(0)),
		"lost closings":  all(maintsim.WithoutClosing()),
		"some told":      all(maintsim.WithOpeningsTo(0.5), maintsim.WithClosingsTo(0.5)),
		"duplicates":     all(maintsim.WithDuplicates()),
		"reordered":      all(maintsim.WithReordered(0.5)),
		"new shard":      func(ctx context.Context, c *maintsim.Cluster) error { return c.MigrateSlots(ctx, 0, 3, nil) },
		"reshard":        func(ctx context.Context, c *maintsim.Cluster) error { return c.Reshard(ctx) },
		"removed source": func(ctx context.Context, c *maintsim.Cluster) error { return c.RemoveShard(ctx, 0) },
		"failover": func(ctx context.Context, c *maintsim.Cluster) error {
			return errors.Join(c.Failover(ctx, 0), c.Failover(ctx, 1, maintsim.WithUnannounced()))
		},
		"cascade": func(ctx context.Context, c *maintsim.Cluster) error {
			first := make(chan error, 1)
			slots := c.Slots(0)
			go func() { first <- c.MigrateSlots(ctx, 0, 1, slots, maintsim.WithLead(0)) }()
			var err error
			for err = errors.New(""); err != nil && ctx.Err() == nil; { // until the first is planned
				err = c.MigrateSlots(ctx, 1, 2, slots, maintsim.WithLead(0))
			}
			return errors.Join(err, <-first)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := quickCluster()
			cfg.Replicas, cfg.Unsupported = 1, name == "open source"
			sim := maintsim.StartCluster(t, cfg)
			l := startLoad(t, sim, "")
			ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
			defer cancel()
			if err := run(ctx, sim); err != nil {
				t.Error(err)
			}
			before := l.ops.Load()
			waitFor(t, func() bool { return l.ops.Load() > before+500 })
			l.end(sim)
			if name == "removed source" && !slices.Contains(sim.Spares(), 0) {
				t.Errorf("spare shards are %v, want 0 among them", sim.Spares())
			}
		})
	}
}

// A replica takes over from a primary that was killed; the old one comes back as a replica.
func TestClusterKill(t *testing.T) {
	cfg := quickCluster()
	cfg.Replicas = 1
	c := maintsim.StartCluster(t, cfg)
	testKill(t, c)
	// Without a replica nobody serves.
	c = maintsim.StartCluster(t, quickCluster())
	if err := c.Kill(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		return dial(t, c.Addrs()[1]).do("GET", keyOf(1)) == "-CLUSTERDOWN Hash slot not served\r\n"
	})
	if err := c.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := dial(t, c.Addrs()[0]).do("GET", keyOf(1)); got != "$-1\r\n" {
		t.Errorf("got %q from the node that came back", got)
	}
}

func testKill(t *testing.T, c *maintsim.Cluster) {
	t.Helper()
	victim := dial(t, c.Nodes()[0].Listen)
	if err := c.Kill(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := victim.end(); err == nil {
		t.Error("a connection to the killed node ended with EOF, want a reset")
	}
	waitFor(t, func() bool { return c.Primary(0) != 0 })
	info := c.Nodes()[0]
	if info.Alive || info.Primary || c.Nodes()[c.Primary(0)].Slots == nil {
		t.Errorf("got %+v", c.Nodes())
	}
	if err := c.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if c.Nodes()[0].Primary || !c.Nodes()[0].Alive {
		t.Errorf("got %+v, want a living replica", c.Nodes()[0])
	}
}

// Announced addresses can differ from those that proxies listen on.
func TestClusterNAT(t *testing.T) {
	cfg := quickCluster()
	cfg.Announce = func(node int, _ string) string { return fmt.Sprintf("10.1.2.%d:6379", node+1) }
	c := maintsim.StartCluster(t, cfg)
	if got := c.Addrs(); !slices.Equal(got, []string{"10.1.2.1:6379", "10.1.2.2:6379", "10.1.2.3:6379"}) {
		t.Fatalf("got addresses %v", got)
	}
	told := newClient(t, must(c.DialContext(t.Context(), "tcp", c.Addrs()[0])))
	told.hello3()
	if got := told.do("GET", keyOf(16000)); got != "-MOVED 16000 10.1.2.3:6379\r\n" {
		t.Errorf("got %q", got)
	}
	told.send("CLIENT", "MAINT_NOTIFICATIONS", "ON")
	told.want("+OK\r\n")
	l := startLoad(t, c, "")
	if err := c.MigrateSlots(t.Context(), 0, 3, nil); err != nil {
		t.Fatal(err)
	}
	told.want(push("SMIGRATING", "0", bulk("0-5460")))
	told.want(push("SMIGRATED", "1", "*1\r\n*3\r\n"+bulk("10.1.2.1:6379")+bulk("10.1.2.4:6379")+bulk("0-5460")))
	// Notices may tell the addresses of either side.
	if err := c.MigrateSlots(t.Context(), 3, 0, nil, maintsim.WithVariant(maintsim.VariantResolved)); err != nil {
		t.Fatal(err)
	}
	told.want(push("SMIGRATING", "2", bulk("0-5460")))
	told.want(push("SMIGRATED", "3", "*1\r\n*3\r\n"+bulk(c.Nodes()[3].Listen)+bulk(c.Nodes()[0].Listen)+bulk("0-5460")))
	l.end(c)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A configuration that can't be is refused, with everything that is wrong with it.
func TestClusterConfigRefused(t *testing.T) {
	for want, cfg := range map[string]maintsim.ClusterConfig{
		"shards":      {Shards: -1},
		"most":        {Shards: 90, Replicas: 1},
		"server at":   {Config: maintsim.Config{Backend: maintsim.Address("127.0.0.1:1")}},
		"no loopback": {Config: maintsim.Config{Hosts: []string{"10.0.0.1"}}},
		"two nodes":   {Announce: func(int, string) string { return "10.0.0.1:1" }},
		"has no port": {Announce: func(int, string) string { return "10.0.0.1:x" }},
		"TLS":         {Config: maintsim.Config{Backend: maintsim.Program("x"), TLS: &tls.Config{}}},
	} {
		c, err := maintsim.NewCluster(cfg)
		if err == nil {
			_ = c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want something about %q", err, want)
		}
	}
	c := maintsim.StartCluster(t, maintsim.ClusterConfig{Spares: -1})
	for want, run := range map[string]func() error{
		"no shard 3":       func() error { return c.MigrateSlots(t.Context(), 0, 3, nil) },
		"to itself":        func() error { return c.MigrateSlots(t.Context(), 0, 0, nil) },
		"does not have":    func() error { return c.MigrateSlots(t.Context(), 0, 1, oneSlot(16383)) },
		"there are no":     func() error { return c.MigrateSlots(t.Context(), 0, 1, oneSlot(16384)) },
		"no proxy to move": func() error { return c.Failover(t.Context(), 0) },
		"no spare":         func() error { return c.Reshard(t.Context()) },
		"no node 9":        func() error { return c.Kill(t.Context(), 9) },
	} {
		if err := run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want something about %q", err, want)
		}
	}
	if n := len(c.Events()); n != 0 {
		t.Errorf("got %v, want no event of what was refused", c.Events())
	}
}

// When the context ends, SMIGRATED tells of what has moved, and the rest stays.
func TestClusterMigrationGivenUp(t *testing.T) {
	c := maintsim.StartCluster(t, quickCluster())
	told := optIn(t, c.Addrs()[0], "none")
	ctx, cancel := context.WithCancel(t.Context())
	wait := background(t, func() error {
		if err := c.MigrateSlots(ctx, 0, 1, nil, maintsim.WithWindow(1000*time.Second)); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("got %w, want that it was canceled", err)
		}
		return nil
	})
	waitFor(t, func() bool { return len(c.Slots(1)) == 2 })
	cancel()
	wait()
	told.want(push("SMIGRATING", "0", bulk("0-5460")))
	left := c.Slots(0)[0].First
	moved := maintsim.SlotRange{First: 0, Last: left - 1}
	told.want(push("SMIGRATED", "1", "*1\r\n*3\r\n"+bulk(c.Addrs()[0])+bulk(c.Addrs()[1])+bulk(moved.String())))
	// What stayed can be moved again.
	if err := c.MigrateSlots(t.Context(), 0, 2, nil, maintsim.WithWindow(0)); err != nil {
		t.Fatal(err)
	}
}
