package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/invariants"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintsim"
)

// clusterServers are the servers to make clusters of: the newest of each kind, or one
// where time is short or the race detector is on, to which all are alike.
func clusterServers() []string {
	if testing.Short() || invariants.Enabled {
		return []string{realserver.Redis8}
	}
	return []string{realserver.Redis8, realserver.Valkey9}
}

// allClusterServers are those of the tests that show what a cluster is there for.
func allClusterServers() []string {
	if testing.Short() || invariants.Enabled {
		return clusterServers()
	}
	return realserver.All()
}

// onClusters runs a test with a cluster of each server, beside other tests.
func onClusters(t *testing.T, replicas int, test func(t *testing.T, c *redis.ClusterClient, cl *realserver.Cluster)) {
	t.Helper()
	onClustersOf(t, steady(replicas), test)
}

// onClustersOf is onClusters with everything that can be chosen.
func onClustersOf(t *testing.T, cfg realserver.ClusterConfig, test func(t *testing.T, c *redis.ClusterClient, cl *realserver.Cluster)) {
	t.Helper()
	t.Parallel() // a cluster takes seconds to form
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c, cl := startClusterOf(t, server, cfg)
			test(t, c, cl)
		})
	}
}

// steady is three primaries that don't hold each other to be down soon, however busy the
// machine is. What is to be killed must not be steady.
func steady(replicas int) realserver.ClusterConfig {
	patience := 5 * time.Second
	if replicas > 0 {
		patience /= 2 // as that is how long nodes take to agree on a failover, too
	}
	return realserver.ClusterConfig{Replicas: replicas, NodeTimeout: patience}
}

// startCluster starts real nodes and a client of them.
func startCluster(t *testing.T, server string, replicas int) (*redis.ClusterClient, *realserver.Cluster) {
	t.Helper()
	return startClusterOf(t, server, steady(replicas))
}

// startClusterOf is startCluster with everything that can be chosen.
func startClusterOf(t *testing.T, server string, cfg realserver.ClusterConfig) (*redis.ClusterClient, *realserver.Cluster) {
	t.Helper()
	cl := realserver.StartCluster(t, server, cfg)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cl.Addrs()[:1], Logger: testLogger(t)})
	t.Cleanup(func() { _ = c.Close() })
	return c, cl
}

func TestClusterCommands(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c, _ := startCluster(t, server, 0)
			ctx := soon(t)
			const keys = 200
			for i := range keys {
				if err := c.Set(ctx, fmt.Sprint("k", i), i, 0).Err(); err != nil {
					t.Fatal(err)
				}
			}
			cmds, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
				for i := range keys {
					p.Incr(ctx, fmt.Sprint("k", i))
				}
				p.Ping(ctx)
				return nil
			})
			if err != nil || len(cmds) != keys+1 {
				t.Fatalf("pipeline: %d commands, %v", len(cmds), err)
			}
			for i := range keys {
				if n := cmds[i].(*redis.IntCmd).Val(); n != int64(i+1) {
					t.Errorf("k%d: got %d, want %d", i, n, i+1)
				}
			}
			if _, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "{tag}a", 1, 0)
				p.Incr(ctx, "{tag}b")
				return nil
			}); err != nil {
				t.Errorf("transaction: %v", err)
			}
			if err := c.Watch(ctx, func(tx *redis.Tx) error {
				n, err := tx.Get(ctx, "{tag}b").Int()
				if err != nil {
					return err
				}
				_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, "{tag}b", n+1, 0).Err() })
				return err
			}, "{tag}b"); err != nil || c.Get(ctx, "{tag}b").Val() != "2" {
				t.Errorf("watch: %v, %v", err, c.Get(ctx, "{tag}b"))
			}
			if err := c.SetBytes(ctx, "bytes", []byte("v"), 0); err != nil {
				t.Error(err)
			}
			if b, err := c.GetBytes(ctx, nil, "bytes"); err != nil || string(b) != "v" {
				t.Errorf("byte form: %q, %v", b, err)
			}
			if n := c.Decr(ctx, "down").Val(); n != -1 || c.Incr(ctx, "down").Val() != 0 {
				t.Errorf("decr: %d", n)
			}
			masters := atomic.Int64{}
			if err := c.ForEachMaster(ctx, func(ctx context.Context, m *redis.Client) error {
				masters.Add(1)
				return m.Ping(ctx).Err()
			}); err != nil || masters.Load() != 3 {
				t.Errorf("%d primaries, %v", masters.Load(), err)
			}
		})
	}
}

// What can't be right in a cluster is refused before anything is sent.
func TestClusterRefusals(t *testing.T) {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer c.Close()
	ctx := soon(t)
	for name, err := range map[string]error{
		"keys of several slots": c.Rename(ctx, "a", "b").Err(),
		"in a transaction": second(c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Incr(ctx, "a")
			p.Incr(ctx, "b")
			return nil
		})),
		"in a pipeline":    second(c.Pipelined(ctx, func(p redis.Pipeliner) error { return p.Rename(ctx, "a", "b").Err() })),
		"watched":          c.Watch(ctx, func(*redis.Tx) error { return nil }, "a", "b"),
		"nothing to watch": c.Watch(ctx, func(*redis.Tx) error { return nil }),
		"a session's":      c.Do(ctx, "select", 1).Err(),
	} {
		if err == nil || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("%s: got %v, want an error that says that nothing was sent", name, err)
		}
	}
	for _, opt := range []*redis.ClusterOptions{{}, {Addrs: []string{"nonsense"}}, {Addrs: []string{"a:1"}, MaxRedirects: -2}} {
		c := redis.NewClusterClient(opt)
		if err := c.Get(ctx, "k").Err(); err == nil || !strings.Contains(err.Error(), "options") {
			t.Errorf("%+v: got %v, want what is wrong with the options", opt.Addrs, err)
		}
		_ = c.Close()
	}
}

// clusterLoad is workers whose every reply is checked.
type clusterLoad struct {
	t      *testing.T
	c      *redis.ClusterClient
	stop   chan struct{}
	wg     sync.WaitGroup
	ops    atomic.Int64
	acked  [16]atomic.Int64 // INCRs of each counter
	errs   sync.Map
	failed atomic.Int64
}

func startClusterLoad(t *testing.T, c *redis.ClusterClient, workers int) *clusterLoad {
	l := &clusterLoad{t: t, c: c, stop: make(chan struct{})}
	for w := range workers {
		l.wg.Go(func() { l.work(w) })
	}
	for w := range 8 {
		l.wg.Go(func() { l.block(w) })
	}
	return l
}

// block waits for items that never come.
func (l *clusterLoad) block(w int) {
	for {
		select {
		case <-l.stop:
			return
		default:
		}
		if err := l.c.BLPop(context.Background(), time.Second, fmt.Sprint("list-", w)).Err(); !errors.Is(err, redis.Nil) {
			l.note(fmt.Errorf("blpop: %w", errors.Join(err)))
		}
	}
}

func (l *clusterLoad) work(w int) {
	ctx := context.Background()
	key := fmt.Sprint("key-", w)
	for n := 0; ; n++ {
		select {
		case <-l.stop:
			return
		default:
		}
		val := fmt.Sprint(key, "=", n)
		l.note(l.c.Set(ctx, key, val, 0).Err())
		if got, err := l.c.Get(ctx, key).Result(); err != nil || got != val {
			l.note(fmt.Errorf("get: %w: got %q", errors.Join(err), got))
		}
		i := n % len(l.acked)
		if err := l.c.Incr(ctx, counterKey(i)).Err(); err == nil {
			l.acked[i].Add(1)
		} else {
			l.note(err)
		}
		if n%4 == 0 {
			_, err := l.c.Pipelined(ctx, func(p redis.Pipeliner) error {
				for j := range 4 {
					p.Set(ctx, fmt.Sprint(key, "-", j), n, 0)
				}
				return nil
			})
			l.note(err)
			_, err = l.c.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "{"+key+"}x", n, 0)
				p.Get(ctx, "{"+key+"}x")
				return nil
			})
			l.note(err)
		}
		l.ops.Add(3)
	}
}

func counterKey(i int) string { return fmt.Sprint("counter-", i) }

func (l *clusterLoad) note(err error) {
	if err == nil {
		return
	}
	l.failed.Add(1)
	n, _ := l.errs.LoadOrStore(err.Error(), new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// end stops the workers, and checks that nothing has failed and every INCR counted once.
func (l *clusterLoad) end() {
	l.t.Helper()
	close(l.stop)
	l.wg.Wait()
	l.errs.Range(func(msg, n any) bool {
		l.t.Errorf("%d x %s", n.(*atomic.Int64).Load(), msg)
		return true
	})
	for i := range l.acked {
		got, err := l.c.Get(soon(l.t), counterKey(i)).Int64()
		if errors.Is(err, redis.Nil) {
			err = nil // nobody has come to it
		}
		if err != nil || got != l.acked[i].Load() {
			l.t.Errorf("%s is %d, %v, acknowledged %d", counterKey(i), got, err, l.acked[i].Load())
		}
	}
	l.t.Logf("%d commands", l.ops.Load())
}

// All slots of one node move to another one and back, and nobody notices.
func TestClusterSlotsMove(t *testing.T) {
	t.Parallel()
	for _, server := range allClusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c, cl := startCluster(t, server, 0)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			l := startClusterLoad(t, c, 64)
			addrs := cl.Addrs()
			slots := realserver.SlotRange{End: cluster.Slots/3 - 1} // those of the first node
			if testing.Short() {
				slots.End /= 8
			}
			for _, way := range [][2]string{{addrs[0], addrs[1]}, {addrs[1], addrs[0]}} {
				if err := cl.MoveSlots(ctx, way[0], way[1], slots); err != nil {
					t.Fatal(err)
				}
			}
			l.end()
		})
	}
}

// Each primary fails over by command, and nobody notices.
func TestClusterFailover(t *testing.T) {
	t.Parallel()
	for _, server := range allClusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c, cl := startCluster(t, server, 1)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			l := startClusterLoad(t, c, 64)
			primaries, err := cl.Primaries(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range primaries {
				replicas, err := cl.Replicas(ctx, p)
				if err != nil || len(replicas) == 0 {
					t.Fatalf("%s has no replica: %v", p, err)
				}
				if err := cl.Failover(ctx, replicas[0]); err != nil {
					t.Fatal(err)
				}
			}
			l.end()
		})
	}
}

// Where keys to watch are on their way to another node, the session waits for them.
func TestClusterWatchWaitsForASlot(t *testing.T) {
	t.Parallel()
	var nodes *threeNodes
	asked := 0
	nodes = newThreeNodes(t, 10*time.Second, nil, func(node int, args []string) string {
		if node == 0 && args[0] == "watch" {
			if asked++; asked > 6 { // more than there are redirects
				return "-MOVED 3300 " + nodes.addrs[1] + "\r\n"
			}
			return "-ASK 3300 " + nodes.addrs[1] + "\r\n"
		}
		return "+OK\r\n"
	})
	begun := false
	err := nodes.c.Watch(soon(t), func(*redis.Tx) error { begun = true; return nil }, nodes.keys[0])
	if err != nil || !begun {
		t.Errorf("got %v, begun %v", err, begun)
	}
	if got := nodes.nodes[1].commands(); !strings.HasPrefix(got, "watch "+nodes.keys[0]) || strings.Contains(got, "asking") {
		t.Errorf("the new node got %q", got)
	}
}

// A SMIGRATED that every connection tells is acted upon once: the new owner is used at
// once, and one refresh verifies it.
func TestClusterSlotsMigrated(t *testing.T) {
	from, to := maintsim.Start(t, maintsim.Config{}), maintsim.Start(t, maintsim.Config{})
	var asked atomic.Int64
	hold := make(chan struct{})
	c := redis.NewClusterClient(&redis.ClusterOptions{
		ClusterSlots: func(ctx context.Context) ([]redis.ClusterSlot, error) {
			if asked.Add(1) > 1 { // what the notice says must do until then
				select {
				case <-hold:
				case <-ctx.Done():
				}
				return nil, errors.New("the test's cluster does not tell")
			}
			return []redis.ClusterSlot{
				{Start: 0, End: 8191, Nodes: []redis.ClusterNode{{Addr: from.Addr()}}},
				{Start: 8192, End: 16383, Nodes: []redis.ClusterNode{{Addr: to.Addr()}}},
			}, nil
		},
	})
	defer c.Close()
	ctx := soon(t)
	key := "k"
	for i := 0; cluster.SlotString(key) >= 100; i++ {
		key = fmt.Sprint("k", i)
	}
	if err := c.Set(ctx, key, "old", 0).Err(); err != nil {
		t.Fatal(err)
	}
	moves := fmt.Sprintf("*1\r\n*3\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n$4\r\n0-99\r\n", len(from.Addr()), from.Addr(), len(to.Addr()), to.Addr())
	frame := ">3\r\n$9\r\nSMIGRATED\r\n:7\r\n" + moves
	for range 50 {
		if told := from.Push(frame); told == 0 {
			t.Fatal("nobody listens")
		}
	}
	await(t, "the new owner is used", func() bool {
		_ = c.Set(ctx, key, "new", 0).Err()
		v, _ := to.Backend().Do("GET", key)
		return v == "new"
	})
	if v, _ := from.Backend().Do("GET", key); v != "old" && v != "new" {
		t.Errorf("the old owner has %v", v)
	}
	close(hold)
	await(t, "the refresh is over", func() bool { return asked.Load() >= 2 })
	if n := asked.Load(); n != 2 {
		t.Errorf("the topology was asked for %d times, want one refresh", n)
	}
}

// Where a primary is killed nothing is executed twice, and what may have been is said.
func TestClusterPrimaryIsKilled(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c, cl := startClusterOf(t, server, realserver.ClusterConfig{Replicas: 1})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			var acked, maybe, failed atomic.Int64
			var longest atomic.Int64
			stop := make(chan struct{})
			var wg sync.WaitGroup
			key := "counter"
			for range 16 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						began := time.Now()
						err := c.Incr(ctx, key).Err()
						switch {
						case err == nil:
							acked.Add(1)
							longest.Store(max(longest.Load(), int64(time.Since(began))))
						case redis.DeliveryOf(err) == redis.MaybeSent:
							maybe.Add(1)
						default:
							failed.Add(1)
							t.Error(err)
							return
						}
					}
				})
			}
			owner, err := cl.Owner(ctx, int(cluster.SlotString(key)))
			if err != nil {
				t.Fatal(err)
			}
			await(t, "the load runs", func() bool { return acked.Load() > 1000 })
			if err := cl.Kill(owner); err != nil {
				t.Fatal(err)
			}
			before := acked.Load()
			await(t, "a replica has taken over", func() bool { return acked.Load() > before+2000 })
			close(stop)
			wg.Wait()
			got, err := c.Get(ctx, key).Int64()
			if err != nil {
				t.Fatal(err)
			}
			// The server may lose writes it has acknowledged: replication is asynchronous.
			if got > acked.Load()+maybe.Load() {
				t.Errorf("the counter is %d, more than the %d acknowledged and %d unknown", got, acked.Load(), maybe.Load())
			}
			t.Logf("%d acknowledged, %d unknown, %d lost by the server; the longest took %v",
				acked.Load(), maybe.Load(), max(acked.Load()-got, 0), time.Duration(longest.Load()))
		})
	}
}

// Valkey 9 moves slots as a whole, and nobody notices that either.
func TestClusterAtomicMigration(t *testing.T) {
	t.Parallel()
	c, cl := startCluster(t, realserver.Valkey9, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	l := startClusterLoad(t, c, 64)
	addrs := cl.Addrs()
	for _, way := range [][2]string{{addrs[0], addrs[1]}, {addrs[1], addrs[0]}} {
		if err := cl.AtomicMigrate(ctx, way[0], way[1], realserver.SlotRange{End: cluster.Slots/3 - 1}); err != nil {
			t.Fatal(err)
		}
	}
	l.end()
}
