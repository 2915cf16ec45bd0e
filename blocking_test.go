package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintsim"
)

// startBlockable starts a simulated database in front of a real server, which can
// unblock connections.
func startBlockable(t *testing.T, server string, grace time.Duration) (*redis.Client, *redis.Client, *maintsim.Sim) {
	t.Helper()
	srv := realserver.Start(t, server)
	sim := maintsim.Start(t, maintsim.Config{Backend: maintsim.Address(srv.Addr()), Grace: grace, Proxies: 12})
	c := newClient(t, &redis.Options{Addr: sim.Addr(), Logger: testLogger(t)})
	return c, newClient(t, &redis.Options{Addr: srv.Addr()}), sim
}

// blockingCall is a command that blocks, with what serves it.
type blockingCall struct {
	name  string
	serve func(ctx context.Context, c *redis.Client) error
	call  func(ctx context.Context, c *redis.Client, d time.Duration) (string, error)
}

func blockingCalls() []blockingCall {
	push := func(ctx context.Context, c *redis.Client) error { return c.RPush(ctx, "q", "job").Err() }
	add := func(ctx context.Context, c *redis.Client) error {
		return c.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "job"}).Err()
	}
	stream := func(ctx context.Context, c *redis.Client) error {
		return c.XAdd(ctx, &redis.XAddArgs{Stream: "s", Values: []string{"k", "job"}}).Err()
	}
	read := func(all []redis.XStream, err error) (string, error) {
		if err != nil {
			return "", err
		}
		return fmt.Sprint(all[0].Messages[0].Values["k"]), nil
	}
	pop := func(kv []string, err error) (string, error) {
		if err != nil {
			return "", err
		}
		return kv[1], nil
	}
	return []blockingCall{
		{"BLPOP", push, func(ctx context.Context, c *redis.Client, d time.Duration) (string, error) {
			return pop(c.BLPop(ctx, d, "other", "q").Result())
		}},
		{"BRPOP", push, func(ctx context.Context, c *redis.Client, d time.Duration) (string, error) {
			return pop(c.BRPop(ctx, d, "q").Result())
		}},
		{"BRPOPLPUSH", push, func(ctx context.Context, c *redis.Client, d time.Duration) (string, error) {
			return c.BRPopLPush(ctx, "q", "to", d).Result()
		}},
		{"BLMOVE", push, func(ctx context.Context, c *redis.Client, d time.Duration) (string, error) {
			return c.BLMove(ctx, "q", "to", "left", "right", d).Result()
		}},
		{"BLMPOP", push, func(ctx context.Context, c *redis.Client, d time.Duration) (string, error) {
			_, vs, err := c.BLMPop(ctx, d, "left", 1, "q").Result()
			if err != nil {
				return "", err
			}
			return vs[0], nil
		}},
		{"BZPOPMIN", add, func(ctx context.Context, c *redis.Client, d time.Duration) (string, error) {
			z, err := c.BZPopMin(ctx, d, "z").Result()
			if err != nil {
				return "", err
			}
			return fmt.Sprint(z.Member), nil
		}},
		{"BZMPOP", add, func(ctx context.Context, c *redis.Client, d time.Duration) (string, error) {
			_, zs, err := c.BZMPop(ctx, d, "min", 1, "z").Result()
			if err != nil {
				return "", err
			}
			return fmt.Sprint(zs[0].Member), nil
		}},
		{"XREAD", stream, func(ctx context.Context, c *redis.Client, d time.Duration) (string, error) {
			return read(c.XRead(ctx, &redis.XReadArgs{Streams: []string{"s", "0"}, Block: d}).Result())
		}},
		{"XREADGROUP", stream, func(ctx context.Context, c *redis.Client, d time.Duration) (string, error) {
			err := c.XGroupCreateMkStream(ctx, "s", "group", "$").Err()
			if err != nil && !redis.HasErrorPrefix(err, "BUSYGROUP") {
				return "", err
			}
			return read(c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "group", Consumer: "c", Streams: []string{"s", ">"}, Block: d}).Result())
		}},
	}
}

// TestBlockedCommandsAreMoved: each command that blocks is on a new connection soon after
// MOVING, long before the old one closes, and gets what comes then.
func TestBlockedCommandsAreMoved(t *testing.T) {
	t.Parallel()
	for _, server := range sentinelServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c, direct, sim := startBlockable(t, server, 20*time.Second)
			for _, b := range blockingCalls() {
				t.Run(b.name, func(t *testing.T) {
					ctx := soon(t)
					if err := direct.FlushAll(ctx).Err(); err != nil {
						t.Fatal(err)
					}
					type outcome struct {
						val string
						err error
					}
					got := make(chan outcome, 1)
					go func() {
						v, err := b.call(ctx, c, 20*time.Second)
						got <- outcome{v, err}
					}()
					await(t, "a blocked connection", func() bool { return info(t, direct, "blocked_clients") == 1 })
					moved, before := make(chan error, 1), info(t, direct, "total_connections_received")
					go func() { moved <- sim.Rebind(ctx, maintsim.WithEarlyLeave()) }()
					await(t, "new connections", func() bool { return info(t, direct, "total_connections_received") > before })
					if err := <-moved; err != nil {
						t.Fatal(err)
					}
					await(t, "a wait that has moved", func() bool { return info(t, direct, "blocked_clients") == 1 })
					if err := b.serve(ctx, direct); err != nil {
						t.Fatal(err)
					}
					if o := <-got; o.err != nil || o.val != "job" {
						t.Errorf("got %q, %v", o.val, o.err)
					}
				})
			}
		})
	}
}

// TestBlockingTimeIsKept: a wait that was moved ends when it would have ended.
func TestBlockingTimeIsKept(t *testing.T) {
	t.Parallel()
	c, _, sim := startBlockable(t, realserver.Redis8, 500*time.Millisecond)
	ctx := soon(t)
	if err := c.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	const wait = 3 * time.Second
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			began := time.Now()
			err := c.BLPop(ctx, wait, "nothing").Err()
			if took := time.Since(began); !errors.Is(err, redis.Nil) || took < wait-50*time.Millisecond || took > wait+20*time.Second {
				t.Errorf("got %v after %v, want Nil after %v", err, took, wait)
			}
		})
	}
	for range 3 {
		if err := sim.Rebind(ctx); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// TestQueueAcrossMoves: everything pushed is served once while the endpoint moves again
// and again.
func TestQueueAcrossMoves(t *testing.T) {
	t.Parallel()
	c, direct, sim := startBlockable(t, realserver.Redis8, 20*time.Second)
	ctx := soon(t)
	const poppers = 16
	var mu sync.Mutex
	served := map[string]int{}
	var wg sync.WaitGroup
	for range poppers {
		wg.Go(func() {
			for {
				kv, err := c.BLPop(ctx, 0, "q").Result()
				if err != nil {
					t.Errorf("BLPOP: %v", err)
					return
				}
				if kv[1] == "end" {
					return
				}
				mu.Lock()
				served[kv[1]]++
				mu.Unlock()
			}
		})
	}
	await(t, "everybody waits", func() bool { return info(t, direct, "blocked_clients") == poppers })
	moves := make(chan error, 1)
	go func() {
		for range 6 {
			if err := sim.Rebind(ctx, maintsim.WithEarlyLeave()); err != nil {
				moves <- err
				return
			}
		}
		moves <- nil
	}()
	pushed := 0
	for moving := true; moving; pushed++ {
		if err := direct.RPush(ctx, "q", strconv.Itoa(pushed)).Err(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-moves:
			if err != nil {
				t.Error(err)
			}
			moving = false
		case <-time.After(time.Millisecond):
		}
	}
	for range poppers {
		if err := direct.RPush(ctx, "q", "end").Err(); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if len(served) != pushed {
		t.Errorf("%d of %d elements were served", len(served), pushed)
	}
	for v, n := range served {
		if n != 1 {
			t.Errorf("%s was served %d times", v, n)
		}
	}
	t.Logf("%d elements in 6 moves", pushed)
}

// TestBlockedCommandsAreMovedBehindADialer: the old server is asked at the address that
// was dialled, not at the socket's, to which the Dialer may have no way.
func TestBlockedCommandsAreMovedBehindADialer(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Grace: 20 * time.Second, Proxies: 3})
	const known = "127.9.9.9:6379"
	old := sim.Addr()
	c := newClient(t, &redis.Options{Addr: known, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		switch addr {
		case known:
			addr = old
		case old:
			return nil, errors.New("there is no route to " + addr)
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}})
	ctx := soon(t)
	got := make(chan error, 1)
	go func() { got <- c.BLPop(ctx, 20*time.Second, "q").Err() }()
	await(t, "a command on its connection", func() bool { return c.PoolStats().Misses == 1 && c.PoolStats().TotalConns == 1 })
	if err := sim.Rebind(ctx, maintsim.WithEarlyLeave()); err != nil {
		t.Fatal(err)
	}
	if err := c.RPush(ctx, "q", "job").Err(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// TestHandoffWhileWritesPause: a server is not asked to unblock a command that CLIENT PAUSE
// holds back, which crashes many, and the command goes on when the pause is over.
func TestHandoffWhileWritesPause(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := soon(t)
			c, adm, sim := startBlockable(t, name, time.Second)
			if err := c.Ping(ctx).Err(); err != nil {
				t.Fatal(err)
			}
			if err := adm.Do(ctx, "client", "pause", 700, "write").Err(); err != nil {
				t.Fatal(err)
			}
			got := make(chan error, 1)
			go func() {
				v, err := c.BLPop(ctx, 5*time.Second, "q").Result()
				if err == nil && v[1] != "job" {
					err = fmt.Errorf("got %q", v)
				}
				got <- err
			}()
			awaitLong(t, 5*time.Second, "a BLPOP at the server", func() bool {
				all, err := adm.ClientList(ctx).Result()
				return err == nil && strings.Contains(all, "cmd=blpop")
			})
			if err := sim.Rebind(ctx); err != nil {
				t.Fatal(err)
			}
			if err := adm.RPush(ctx, "q", "job").Err(); err != nil {
				t.Fatalf("the server after the handoff: %v", err)
			}
			if err := <-got; err != nil {
				t.Error(err)
			}
		})
	}
}
