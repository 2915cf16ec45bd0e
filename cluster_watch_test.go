package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/realserver"
)

// A watchScene is three nodes, of which the first refuses what it is told to, and a
// transaction whose keys are there.
type watchScene struct {
	*threeNodes
	t *testing.T

	// Of the first node; guarded by its script's lock.
	refusals map[string]int // of commands, by name: how often they are refused
	with     string         // the refusal
}

func newWatchScene(t *testing.T, patience time.Duration) *watchScene {
	t.Helper()
	s := &watchScene{t: t, refusals: make(map[string]int)}
	isMulti, isAborted := false, false
	s.threeNodes = newThreeNodes(t, patience, nil, func(node int, args []string) string {
		name := strings.ToLower(args[0])
		if node == 0 && s.refusals[name] > 0 {
			s.refusals[name]--
			isAborted = isAborted || isMulti
			if name == "exec" {
				isMulti, isAborted = false, false
			}
			return s.with
		}
		switch {
		case name == "multi":
			isMulti = true
			return "+OK\r\n"
		case name == "exec" && isAborted:
			isMulti, isAborted = false, false
			return "-EXECABORT Transaction discarded because of previous errors.\r\n"
		case name == "exec":
			isMulti = false
			return "*2\r\n+OK\r\n:7\r\n"
		case isMulti:
			return "+QUEUED\r\n"
		case name == "get":
			return "$1\r\nv\r\n"
		}
		return "+OK\r\n"
	})
	return s
}

// refuse makes the first node refuse a command so often.
func (s *watchScene) refuse(name string, times int, with string) {
	s.nodes[0].mu.Lock()
	defer s.nodes[0].mu.Unlock()
	s.refusals[name], s.with = times, "-"+with+"\r\n"
}

// got counts a command at a node.
func (s *watchScene) got(node int, name string) (n int) {
	s.nodes[node].mu.Lock()
	defer s.nodes[node].mu.Unlock()
	for _, args := range s.nodes[node].got {
		if strings.EqualFold(args[0], name) {
			n++
		}
	}
	return n
}

// transfer is what is done while the keys are watched.
func (s *watchScene) transfer(tx *redis.Tx) error {
	key := s.keys[0]
	if v, err := tx.Get(s.t.Context(), key).Result(); err != nil || v != "v" {
		return fmt.Errorf("transfer: get: %w", errors.Join(err))
	}
	if _, err := tx.Pipelined(s.t.Context(), func(p redis.Pipeliner) error {
		p.Get(s.t.Context(), key)
		p.Get(s.t.Context(), key)
		return nil
	}); err != nil {
		return fmt.Errorf("transfer: pipeline: %w", err)
	}
	_, err := tx.TxPipelined(s.t.Context(), func(p redis.Pipeliner) error {
		p.Set(s.t.Context(), key, "w", 0)
		p.Incr(s.t.Context(), key)
		return nil
	})
	if err != nil {
		return fmt.Errorf("transfer: exec: %w", err)
	}
	return nil
}

// run runs the transaction as applications do, and tells how often.
func (s *watchScene) run() (runs int, err error) {
	for ctx := soon(s.t); ctx.Err() == nil; {
		runs++
		if err = s.c.Watch(ctx, s.transfer, s.keys[0]); !errors.Is(err, redis.TxFailedErr) {
			return runs, err
		}
	}
	return runs, err
}

// Answers that the cluster is not ready, in the middle of a transaction, don't reach the
// caller: what was not executed is sent again on the same connection, and an EXEC that was
// refused is a transaction that has failed, which the usual loop runs again.
func TestClusterWatchOutlastsRefusals(t *testing.T) {
	t.Parallel()
	for _, with := range []string{
		"CLUSTERDOWN The cluster is down", "TRYAGAIN Multiple keys request during rehashing of slot",
		"LOADING Redis is loading the dataset in memory", "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
	} {
		for _, tt := range []struct {
			command string
			times   int
			runs    int
			with    string // "": the same
		}{
			{"get", 5, 1, ""},
			{"set", 1, 2, ""},
			{"incr", 2, 3, ""},
			{"exec", 1, 2, ""},
			{"exec", 1, 2, "EXECABORT Transaction discarded because of: " + with},
		} {
			name, _, _ := strings.Cut(with, " ")
			t.Run(fmt.Sprint(name, " to ", tt.command, " ", len(tt.with) > 0), func(t *testing.T) {
				t.Parallel()
				s := newWatchScene(t, 10*time.Second)
				want(t, "SET", s.c.Set(t.Context(), s.keys[0], "v", 0).Result, "OK")
				text := with
				if tt.with != "" {
					text = tt.with
				}
				s.refuse(tt.command, tt.times, text)
				runs, err := s.run()
				if err != nil || runs != tt.runs {
					t.Errorf("got %v after %d runs, want none after %d", err, runs, tt.runs)
				}
				if got := s.got(0, "watch"); got != runs {
					t.Errorf("WATCH was sent %d times for %d runs", got, runs)
				}
			})
		}
	}
}

// A key that has moved is one that has changed, however the function words it.
func TestClusterWatchFailsWhereItsKeysHaveMoved(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"get", "incr", "exec"} {
		for _, kind := range []string{"MOVED", "ASK"} {
			t.Run(kind+" to "+command, func(t *testing.T) {
				t.Parallel()
				s := newWatchScene(t, 10*time.Second)
				want(t, "SET", s.c.Set(t.Context(), s.keys[0], "v", 0).Result, "OK")
				s.refuse(command, 1, fmt.Sprintf("%s %d %s", kind, cluster.SlotString(s.keys[0]), s.addrs[1]))
				if runs, err := s.run(); runs != 2 || err != nil {
					t.Errorf("got %v after %d runs, want none after two", err, runs)
				}
			})
		}
	}
	t.Run("while it waits", func(t *testing.T) {
		t.Parallel()
		s := newWatchScene(t, 20*time.Second)
		want(t, "SET", s.c.Set(t.Context(), s.keys[0], "v", 0).Result, "OK")
		s.refuse("get", 1<<30, "TRYAGAIN Multiple keys request during rehashing of slot")
		time.AfterFunc(200*time.Millisecond, func() {
			s.serve(0, s.addrs[1])
			s.c.ReloadState(t.Context())
		})
		began := time.Now()
		if runs, err := s.run(); runs != 2 || err != nil || s.got(1, "exec") != 1 {
			t.Errorf("got %v after %d runs, want none after two, the second at the new node", err, runs)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// What can't be avoided reaches the caller as it came.
func TestClusterWatchTellsWhatItCantAvoid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, command, with string
		patience            time.Duration
	}{
		{"a cluster that stays down", "get", "CLUSTERDOWN The cluster is down", 300 * time.Millisecond},
		{"a key of another slot", "get", "MOVED 16000 127.0.0.1:1", 10 * time.Second},
		{"a key of another slot in EXEC", "set", "MOVED 16000 127.0.0.1:1", 10 * time.Second},
		{"an answer of another kind", "get", "NOPERM no", 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newWatchScene(t, tt.patience)
			want(t, "SET", s.c.Set(t.Context(), s.keys[0], "v", 0).Result, "OK")
			s.refuse(tt.command, 1<<30, tt.with)
			began := time.Now()
			err := s.c.Watch(soon(t), s.transfer, s.keys[0])
			if answer, ok := errors.AsType[redis.Error](err); !ok || answer.Error() != tt.with {
				t.Errorf("got %v, want %s", err, tt.with)
			}
			if took := time.Since(began); took < tt.patience && tt.patience < time.Second || took > 5*time.Second {
				t.Errorf("after %v", took)
			}
		})
	}
	t.Run("redirects are not wanted", func(t *testing.T) {
		t.Parallel()
		s := newWatchScene(t, 10*time.Second)
		c := redis.NewClusterClient(&redis.ClusterOptions{
			ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) { return *s.slots.Load(), nil }, MaxRedirects: -1,
		})
		defer c.Close()
		s.refuse("get", 1, "CLUSTERDOWN The cluster is down")
		if err := c.Watch(soon(t), s.transfer, s.keys[0]); !redis.IsClusterDownError(err) {
			t.Errorf("got %v, want CLUSTERDOWN", err)
		}
	})
}

// A node that hangs takes a whole cluster down until it is back, in the middle of a
// transaction too.
func TestClusterWatchOutlastsARealClusterThatIsDown(t *testing.T) {
	onClustersOf(t, realserver.ClusterConfig{NodeTimeout: time.Second}, func(t *testing.T, _ *redis.ClusterClient, cl *realserver.Cluster) {
		c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cl.Addrs()[:1], PoolTimeout: 30 * time.Second, Logger: testLogger(t)})
		defer c.Close()
		ctx := soon(t)
		const key = "counter"
		owner, err := cl.Owner(ctx, int(cluster.SlotString(key)))
		if err != nil {
			t.Fatal(err)
		}
		other := cl.Addrs()[0]
		if other == owner {
			other = cl.Addrs()[1]
		}
		isDown := func(want bool) func() bool {
			return func() bool {
				_, err := cl.Do(ctx, owner, "GET", key)
				return (err != nil && strings.Contains(err.Error(), "CLUSTERDOWN")) == want
			}
		}
		// down makes the cluster be down, and be back soon.
		down := func() {
			if err := cl.Pause(other); err != nil {
				t.Error(err)
			}
			await(t, "the cluster is down", isDown(true))
			time.AfterFunc(500*time.Millisecond, func() {
				if err := cl.Resume(other); err != nil {
					t.Error(err)
				}
			})
		}
		runs := 0
		increment := func(tx *redis.Tx) error {
			if runs++; runs == 1 {
				down()
			}
			n, err := tx.Get(ctx, key).Int()
			if err != nil && !errors.Is(err, redis.Nil) {
				return err
			}
			if runs == 1 {
				await(t, "the cluster is back", isDown(false))
				down()
			}
			_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, key, n+1, 0).Err() })
			return err
		}
		err = c.Watch(ctx, increment, key)
		for ; errors.Is(err, redis.TxFailedErr); err = c.Watch(ctx, increment, key) {
		}
		if err != nil || runs != 2 {
			t.Errorf("got %v after %d runs, want none after two", err, runs)
		}
		await(t, "the cluster is back", isDown(false))
		want(t, "GET", c.Get(ctx, key).Result, "1")
	})
}
