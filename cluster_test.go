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
	"github.com/baton-go/redis/internal/realserver"
)

// startCluster starts real nodes and a client of them.
func startCluster(t *testing.T, server string, replicas int) (*redis.ClusterClient, *realserver.Cluster) {
	t.Helper()
	cl := realserver.StartCluster(t, server, realserver.ClusterConfig{Primaries: 3, Replicas: replicas})
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cl.Addrs()[:1], Logger: testLogger(t)})
	t.Cleanup(func() { _ = c.Close() })
	return c, cl
}

func TestClusterCommands(t *testing.T) {
	for _, server := range realserver.All() {
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
	return l
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
		if got, err := l.c.Get(soon(l.t), counterKey(i)).Int64(); err != nil || got != l.acked[i].Load() {
			l.t.Errorf("%s is %d, %v, acknowledged %d", counterKey(i), got, err, l.acked[i].Load())
		}
	}
	l.t.Logf("%d commands", l.ops.Load())
}

// All slots of one node move to another one and back, and nobody notices.
func TestClusterSlotsMove(t *testing.T) {
	for _, server := range realserver.All() {
		t.Run(server, func(t *testing.T) {
			c, cl := startCluster(t, server, 0)
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			l := startClusterLoad(t, c, 16)
			addrs := cl.Addrs()
			const all = cluster.Slots
			for _, way := range [][2]string{{addrs[0], addrs[1]}, {addrs[1], addrs[0]}} {
				if err := cl.MoveSlots(ctx, way[0], way[1], realserver.SlotRange{End: all / 16}); err != nil {
					t.Fatal(err)
				}
			}
			l.end()
		})
	}
}

// Each primary fails over by command, and nobody notices.
func TestClusterFailover(t *testing.T) {
	for _, server := range realserver.All() {
		t.Run(server, func(t *testing.T) {
			c, cl := startCluster(t, server, 1)
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			l := startClusterLoad(t, c, 16)
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
