package redis_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/realserver"
)

// shardOf gives the primary of a key's slot, and its replicas, of which there is one at least.
func shardOf(ctx context.Context, tb testing.TB, cl *realserver.Cluster, key string) (owner string, replicas []string) {
	tb.Helper()
	owner, err := cl.Owner(ctx, int(cluster.SlotString(key)))
	if err != nil {
		tb.Fatal(err)
	}
	if replicas, err = cl.Replicas(ctx, owner); err != nil || len(replicas) == 0 {
		tb.Fatalf("%s has no replica: %v", owner, err)
	}
	return owner, replicas
}

// After a primary was killed the client is back soon after its replica serves, which takes
// the servers a while: what is the client's own part of the outage is short.
func TestClusterFollowsAnElection(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c, cl := startClusterOf(t, server, realserver.ClusterConfig{Replicas: 1})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			const key = "counter"
			awaitReplicas(t, c, 3)
			owner, replicas := shardOf(ctx, t, cl, key)
			stop := make(chan struct{})
			var wg sync.WaitGroup
			var back atomic.Int64 // when a command succeeded first, since the kill
			var killed atomic.Int64
			began := time.Now()
			for range 16 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						sent := int64(time.Since(began))
						err := c.Incr(ctx, key).Err()
						k := killed.Load()
						if err == nil && k != 0 && sent > k {
							back.CompareAndSwap(0, int64(time.Since(began)))
						}
						if err != nil && redis.DeliveryOf(err) != redis.MaybeSent {
							t.Error(err)
							return
						}
					}
				})
			}
			others, err := cl.Primaries(ctx)
			if err != nil {
				t.Fatal(err)
			}
			others = slices.DeleteFunc(others, func(addr string) bool { return addr == owner })
			p := startPulse(t, others[0])
			if err := cl.Kill(owner); err != nil {
				t.Fatal(err)
			}
			killed.Store(int64(time.Since(began)))
			var elected time.Duration // since the beginning: the replica takes writes
			for elected == 0 && ctx.Err() == nil {
				if _, err := cl.Do(ctx, replicas[0], "SET", "{"+key+"}probe", "x"); err == nil {
					elected = time.Since(began)
				}
			}
			await(t, "commands succeed again", func() bool { return back.Load() != 0 })
			close(stop)
			wg.Wait()
			own := time.Duration(back.Load()) - elected
			t.Logf("the replica served %v after the kill, the client was back %v later",
				(elected - time.Duration(killed.Load())).Round(time.Millisecond), own.Round(time.Millisecond))
			if late := p.end(); own > 400*time.Millisecond+10*late { // dials, handshakes, a refresh, and the command
				t.Errorf("the client took %v, on a machine that takes %v to answer", own, late)
			}
		})
	}
}

// A primary that hangs takes connections and bytes, and answers nothing. The others agree
// on its successor long before a read timeout is over: those who wait are served there, or
// told that it is not known what came of their commands, and so is who comes later.
func TestClusterFollowsAPrimaryThatHangs(t *testing.T) {
	t.Parallel()
	for _, server := range clusterServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			cl := realserver.StartCluster(t, server, realserver.ClusterConfig{Replicas: 1})
			c := redis.NewClusterClient(&redis.ClusterOptions{
				Addrs: cl.Addrs()[:1], Logger: testLogger(t), ReadTimeout: time.Minute,
			})
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			defer cancel()
			awaitReplicas(t, c, 3)
			awaitAcquainted(t, cl)
			const key = "key"
			want(t, "SET", c.Set(ctx, key, 1, 0).Result, "OK")
			owner, replicas := shardOf(ctx, t, cl, key)
			h := &hangLoad{began: time.Now(), ended: make(map[string]time.Duration), errs: make(map[string]error)}
			h.do("blpop", func() error { return c.BLPop(ctx, 0, "list-{"+key+"}").Err() })
			await(t, "BLPOP waits", func() bool {
				list, err := cl.Do(ctx, owner, "CLIENT", "LIST")
				text, _ := list.(string)
				return err == nil && strings.Contains(text, "cmd=blpop")
			})
			if err := cl.Pause(owner); err != nil {
				t.Fatal(err)
			}
			h.do("get", func() error { return c.Get(ctx, key).Err() })
			h.do("incr", func() error { return c.Incr(ctx, key).Err() })
			h.do("impatient", func() error { // its deadlines are shorter than anything else
				for ctx.Err() == nil {
					brief, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
					err := c.Get(brief, key).Err()
					cancel()
					if err == nil {
						return nil
					}
				}
				return ctx.Err()
			})
			p := startPulse(t, replicas[0])
			var elected time.Duration
			await(t, "the replica takes writes", func() bool {
				_, err := cl.Do(ctx, replicas[0], "SET", "{"+key+"}probe", "x")
				elected = time.Since(h.began)
				return err == nil
			})
			h.wg.Wait()
			late := p.end()
			for name, at := range h.ended {
				err := h.errs[name]
				t.Logf("%s: %v after the replica serves: %v", name, (at - elected).Round(time.Millisecond), err)
				if isRead := name == "get" || name == "impatient"; isRead != (err == nil) || !isRead && redis.DeliveryOf(err) != redis.MaybeSent {
					t.Errorf("%s: got %v", name, err)
				}
				// A refresh, the question to the node itself, and the command.
				if own := at - elected; own > 3*time.Second+10*late {
					t.Errorf("%s took %v, on a machine that takes %v to answer", name, own, late)
				}
			}
			began := time.Now()
			if err := c.Incr(ctx, key).Err(); err != nil || time.Since(began) > 2*time.Second {
				t.Errorf("INCR at the successor: %v after %v", err, time.Since(began))
			}
		})
	}
}

// A hangLoad is commands that wait at the same time.
type hangLoad struct {
	began time.Time
	wg    sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	ended map[string]time.Duration
	errs  map[string]error
}

// do begins to wait.
func (h *hangLoad) do(name string, wait func() error) {
	h.wg.Go(func() {
		err := wait()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ended[name], h.errs[name] = time.Since(h.began), err
	})
}
