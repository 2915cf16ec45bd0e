package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/invariants"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// masterName is what the sentinels of the tests call their master.
const masterName = "main"

// watched is a master with replicas, and sentinels that watch it.
type watched struct {
	servers   []*realserver.Server // the first is the master at the beginning
	sentinels []*realserver.Server
}

// startWatched starts servers of one kind. When it returns, every sentinel knows all
// replicas and all other sentinels.
func startWatched(t *testing.T, name string, replicas, sentinels int) *watched {
	t.Helper()
	w := &watched{servers: []*realserver.Server{realserver.Start(t, name, "--repl-diskless-sync-delay", "0")}}
	host, port, err := net.SplitHostPort(w.servers[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	for range replicas {
		w.servers = append(w.servers, realserver.Start(t, name, "--replicaof", host+" "+port, "--repl-diskless-sync-delay", "0"))
	}
	for range sentinels {
		w.sentinels = append(w.sentinels, realserver.StartConfig(t, name, realserver.Config{Sentinel: []string{
			fmt.Sprintf("sentinel monitor %s %s %s %d", masterName, host, port, sentinels/2+1),
			"sentinel down-after-milliseconds " + masterName + " 1000",
			"sentinel failover-timeout " + masterName + " 5000",
			"sentinel parallel-syncs " + masterName + " 1",
		}}))
	}
	for _, s := range w.sentinels {
		c := w.sentinel(t, s)
		awaitLong(t, 30*time.Second, "a sentinel that knows the others", func() bool {
			others, err := c.Sentinels(t.Context(), masterName).Result()
			known, err2 := c.Replicas(t.Context(), masterName).Result()
			up := 0
			for _, r := range known {
				if r["flags"] == "slave" && r["master-link-status"] == "ok" {
					up++
				}
			}
			return err == nil && err2 == nil && len(others) == sentinels-1 && up == replicas
		})
	}
	return w
}

// awaitLong is await with a time.
func awaitLong(t *testing.T, longest time.Duration, what string, f func() bool) {
	t.Helper()
	end := time.After(longest)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("not after %v: %s", longest, what)
		}
	}
}

func (w *watched) sentinel(t *testing.T, s *realserver.Server) *redis.SentinelClient {
	t.Helper()
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (w *watched) addrs() (addrs []string) {
	for _, s := range w.sentinels {
		addrs = append(addrs, s.Addr())
	}
	return addrs
}

// failover orders a failover and returns when the sentinel names another master. A
// sentinel refuses for a while after the last one.
func (w *watched) failover(t *testing.T) (master string) {
	t.Helper()
	c := w.sentinel(t, w.sentinels[0])
	before := w.master(t, c)
	awaitLong(t, 30*time.Second, "a sentinel that begins a failover", func() bool {
		return c.Failover(t.Context(), masterName).Err() == nil
	})
	awaitLong(t, 30*time.Second, "another master", func() bool { return w.master(t, c) != before })
	return w.master(t, c)
}

func (w *watched) master(t *testing.T, c *redis.SentinelClient) string {
	t.Helper()
	parts, err := c.GetMasterAddrByName(t.Context(), masterName).Result()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort(parts[0], parts[1])
}

func (w *watched) client(t *testing.T, change func(*redis.FailoverOptions)) *redis.Client {
	t.Helper()
	opt := &redis.FailoverOptions{MasterName: masterName, SentinelAddrs: w.addrs()[:1]}
	if change != nil {
		change(opt)
	}
	c := redis.NewFailoverClient(opt)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// sentinelServers are the kinds of servers that these tests are run with.
func sentinelServers() []string {
	if testing.Short() || invariants.Enabled {
		return []string{realserver.Redis8}
	}
	return []string{realserver.Redis8, realserver.Valkey9}
}

// serverOf is the address of the server that answers, as it knows itself.
func serverOf(t *testing.T, c *redis.Client) string {
	t.Helper()
	got, err := c.ConfigGet(t.Context(), "port").Result()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", got["port"])
}

// TestFailoverOrderedFromASentinel: while a sentinel makes a replica the master, commands
// go on. READONLY reaches no caller, nothing is executed twice, and what can't be known
// is said so.
func TestFailoverOrderedFromASentinel(t *testing.T) {
	t.Parallel()
	for _, name := range sentinelServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // a failover takes seconds, most of them waiting
			w := startWatched(t, name, 2, 3)
			c := w.client(t, nil)
			run := startFailoverLoad(t, c, 64)
			old := serverOf(t, c)
			master := w.failover(t)
			if master == old {
				t.Fatalf("the master is still %s", old)
			}
			awaitLong(t, 10*time.Second, "a connection to the new master", func() bool { return serverOf(t, c) == master })
			// Only when the old master has been made a replica has it ended what was left there.
			was := redis.NewClient(&redis.Options{Addr: old})
			defer was.Close()
			awaitLong(t, 30*time.Second, "a replica where the master was", func() bool {
				info, err := was.InfoMap(t.Context(), "replication").Result()
				return err == nil && info["Replication"]["role"] == "slave"
			})
			run.goOn(t, 2000)
			run.end(t, c)
		})
	}
}

// TestFailoverClusterClient: reads are spread over the master and its replicas, and
// writes follow the master.
func TestFailoverClusterClient(t *testing.T) {
	t.Parallel()
	w := startWatched(t, realserver.Redis8, 2, 3)
	c := redis.NewFailoverClusterClient(&redis.FailoverOptions{
		MasterName: masterName, SentinelAddrs: w.addrs(), RouteRandomly: true, DB: 3, PoolTimeout: 20 * time.Second, Logger: testLogger(t),
	})
	defer c.Close()
	ctx := t.Context()
	write := func(i int) {
		t.Helper()
		if err := c.Set(ctx, fmt.Sprint("k", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		write(i)
	}
	direct := newClient(t, &redis.Options{Addr: w.servers[0].Addr(), DB: 3})
	if n := direct.DBSize(ctx).Val(); n != 30 {
		t.Errorf("%d keys in database 3 of the master, want 30", n)
	}
	readBy := func(s *realserver.Server) func() bool {
		direct := newClient(t, &redis.Options{Addr: s.Addr()})
		before := statOf(t, direct, "cmdstat_get")
		return func() bool {
			if err := c.Get(ctx, "k1").Err(); err != nil && !errors.Is(err, redis.Nil) {
				t.Fatal(err)
			}
			return statOf(t, direct, "cmdstat_get") > before
		}
	}
	for _, s := range w.servers {
		awaitLong(t, 10*time.Second, "reads by "+s.Addr(), readBy(s))
	}
	master := w.failover(t)
	awaitLong(t, 20*time.Second, "writes at the new master", func() bool {
		write(100)
		now := newClient(t, &redis.Options{Addr: master, DB: 3})
		return now.Get(ctx, "k100").Val() == "100"
	})
	for i := range 30 {
		write(i)
	}
}

// statOf is how often a server has executed a command.
func statOf(t *testing.T, c *redis.Client, name string) string {
	t.Helper()
	info, err := c.InfoMap(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	return info["Commandstats"][name]
}

// failoverLoad is workers that write and read keys of their own and one counter each.
type failoverLoad struct {
	wg      sync.WaitGroup
	stop    chan struct{}
	done    atomic.Int64
	unknown atomic.Int64
	failed  atomic.Int64
	longest atomic.Int64 // nanoseconds
	mu      sync.Mutex   // guards errs
	errs    map[string]int
	sent    []atomic.Int64 // INCRs acknowledged, by worker
	doubt   []atomic.Int64 // INCRs that may have been executed
}

func startFailoverLoad(t *testing.T, c *redis.Client, workers int) *failoverLoad {
	t.Helper()
	l := &failoverLoad{
		stop: make(chan struct{}), errs: map[string]int{},
		sent: make([]atomic.Int64, workers), doubt: make([]atomic.Int64, workers),
	}
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	for i := range workers {
		l.wg.Go(func() { l.work(ctx, c, i) })
	}
	l.goOn(t, 2000)
	return l
}

func (l *failoverLoad) work(ctx context.Context, c *redis.Client, i int) {
	key, counter := fmt.Sprintf("key:%d", i), fmt.Sprintf("counter:%d", i)
	for n := 0; ; n++ {
		select {
		case <-l.stop:
			return
		default:
		}
		began := time.Now()
		var err error
		if n%3 == 0 {
			if err = c.Incr(ctx, counter).Err(); err == nil {
				l.sent[i].Add(1)
			} else if redis.DeliveryOf(err) == redis.MaybeSent {
				l.doubt[i].Add(1)
			}
		} else if n%3 == 1 {
			err = c.Set(ctx, key, n, 0).Err()
		} else if err = c.Get(ctx, key).Err(); errors.Is(err, redis.Nil) {
			err = nil // the write before may have been lost with the old master
		}
		if d := int64(time.Since(began)); d > l.longest.Load() {
			l.longest.Store(d)
		}
		switch {
		case err == nil:
			l.done.Add(1)
		case redis.DeliveryOf(err) == redis.MaybeSent:
			l.unknown.Add(1)
		default:
			l.failed.Add(1)
			l.mu.Lock()
			l.errs[err.Error()]++
			l.mu.Unlock()
		}
	}
}

// goOn waits until so many more commands were answered.
func (l *failoverLoad) goOn(t *testing.T, more int64) {
	t.Helper()
	from := l.done.Load()
	awaitLong(t, 30*time.Second, fmt.Sprintf("%d more commands", more), func() bool { return l.done.Load() >= from+more })
}

// end stops the workers and compares what they know with what the master has. A failover
// loses what the old master had acknowledged and not passed on, so a counter may be less
// than what was acknowledged, and never more than that with what is in doubt.
func (l *failoverLoad) end(t *testing.T, c *redis.Client) {
	t.Helper()
	close(l.stop)
	l.wg.Wait()
	var lost, doubt int64
	for i := range l.sent {
		got, err := c.Get(t.Context(), fmt.Sprintf("counter:%d", i)).Int64()
		if err != nil && !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
		sent, maybe := l.sent[i].Load(), l.doubt[i].Load()
		if got > sent+maybe {
			t.Errorf("counter %d is %d, only %d INCRs were sent: one was executed twice", i, got, sent+maybe)
		}
		lost += max(sent-got, 0)
		doubt += maybe
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for text, n := range l.errs {
		t.Errorf("%d times: %s", n, text)
	}
	t.Logf("%d commands, %d failed, %d maybe sent (%d INCRs), longest %v; %d acknowledged INCRs lost with the old master",
		l.done.Load(), l.failed.Load(), l.unknown.Load(), doubt, time.Duration(l.longest.Load()).Round(time.Millisecond), lost)
}

// TestSentinelsNameTheMasterThatDied: after the master was killed, the client goes on at
// the one that the sentinels name.
func TestSentinelsNameTheMasterThatDied(t *testing.T) {
	t.Parallel()
	w := startWatched(t, realserver.Redis8, 1, 3)
	c := w.client(t, func(o *redis.FailoverOptions) { o.PoolTimeout = 20 * time.Second })
	old := serverOf(t, c)
	if err := w.servers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatalf("a write while there is no master: %v", err)
	}
	if got := serverOf(t, c); got == old || got != w.servers[1].Addr() {
		t.Errorf("connected to %s, want %s", got, w.servers[1].Addr())
	}
}

// TestSubscriptionFollowsTheMaster: a subscription, too, is handed over.
func TestSubscriptionFollowsTheMaster(t *testing.T) {
	t.Parallel()
	w := startWatched(t, realserver.Redis8, 1, 1)
	c := w.client(t, nil)
	sub := c.Subscribe(t.Context(), "news")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	master := w.failover(t)
	awaitLong(t, 20*time.Second, "a connection to the new master", func() bool { return serverOf(t, c) == master })
	awaitLong(t, 20*time.Second, "a subscriber at the new master", func() bool {
		n, err := c.Publish(t.Context(), "news", "hello").Result()
		return err == nil && n == 1
	})
	if m, err := sub.ReceiveMessage(t.Context()); err != nil || m.Payload != "hello" {
		t.Errorf("got %v, %v", m, err)
	}
}

// TestFirstSentinelThatAnswersWins: sentinels that are down, or hang, hold nothing up.
func TestFirstSentinelThatAnswersWins(t *testing.T) {
	t.Parallel()
	w := startWatched(t, realserver.Redis8, 0, 1)
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	c := w.client(t, func(o *redis.FailoverOptions) {
		o.SentinelAddrs = []string{mute.Addr().String(), "127.0.0.1:1", w.addrs()[0]}
	})
	began := time.Now()
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > 3*time.Second {
		t.Errorf("took %v, though a sentinel answers", d)
	}
}

// TestReplicaOnly connects to replicas, which refuse writes.
func TestReplicaOnly(t *testing.T) {
	t.Parallel()
	w := startWatched(t, realserver.Redis8, 1, 1)
	c := w.client(t, func(o *redis.FailoverOptions) { o.ReplicaOnly = true; o.PoolTimeout = time.Second })
	if got := serverOf(t, c); got != w.servers[1].Addr() {
		t.Errorf("connected to %s, the replica is %s", got, w.servers[1].Addr())
	}
	if err := c.Set(t.Context(), "k", "v", 0).Err(); !redis.IsReadOnlyError(err) {
		t.Errorf("a write: got %v, want READONLY", err)
	}
}

// TestSentinelWithPassword: the sentinels' password is another one than the servers'.
func TestSentinelWithPassword(t *testing.T) {
	master := realserver.StartConfig(t, realserver.Redis8, realserver.Config{Password: "of the server"})
	host, port, _ := net.SplitHostPort(master.Addr())
	sentinel := realserver.StartConfig(t, realserver.Redis8, realserver.Config{Password: "of the sentinel", Sentinel: []string{
		fmt.Sprintf("sentinel monitor %s %s %s 1", masterName, host, port),
		"sentinel auth-pass " + masterName + ` "of the server"`,
	}})
	w := &watched{sentinels: []*realserver.Server{sentinel}}
	c := w.client(t, func(o *redis.FailoverOptions) { o.Password, o.SentinelPassword = "of the server", "of the sentinel" })
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
	c = w.client(t, func(o *redis.FailoverOptions) { o.Password, o.SentinelPassword = "of the server", "hush" })
	err := c.Ping(t.Context()).Err()
	if err == nil || !strings.Contains(err.Error(), "WRONGPASS") || strings.Contains(err.Error(), "hush") {
		t.Errorf("with a wrong password: %v", err)
	}
}

// TestFailoverClientWithNonsense reports what is wrong, and does nothing.
func TestFailoverClientWithNonsense(t *testing.T) {
	for _, tc := range []struct {
		opt  redis.FailoverOptions
		want string
	}{
		{redis.FailoverOptions{SentinelAddrs: []string{"127.0.0.1:1"}}, "MasterName is empty"},
		{redis.FailoverOptions{MasterName: "m"}, "SentinelAddrs is empty"},
		{redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"nowhere"}}, `"nowhere" is not host:port`},
		{redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}, RouteRandomly: true}, "NewFailoverClusterClient"},
		{redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}, DialerRetries: 1}, "no sentinel has told: sentinel 127.0.0.1:1"},
	} {
		c := redis.NewFailoverClient(&tc.opt)
		if err := c.Ping(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %q in it", err, tc.want)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	w := startWatched(t, realserver.Redis8, 0, 1)
	c := w.client(t, func(o *redis.FailoverOptions) { o.MasterName = "another" })
	if err := c.Ping(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), `it watches no master called "another"`) {
		t.Errorf("an unknown master: %v", err)
	}
}

// TestFailoverClientTakesNotices: notices of servers are dealt with as those of any other
// client.
func TestFailoverClientTakesNotices(t *testing.T) {
	c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}})
	defer c.Close()
	if got := c.Options().MaintNotificationsConfig.Mode; got != maintnotifications.ModeAuto {
		t.Errorf("mode %v, want auto", got)
	}
}

// TestWatchWhoseMasterWasDemoted: a transaction that the server refuses because it is a
// replica by then has failed as if a watched key had changed, so that the usual loop runs
// it again, and finds the new master.
func TestWatchWhoseMasterWasDemoted(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		for name, write := range map[string]func(context.Context, *redis.Tx) error{
			"exec": func(ctx context.Context, tx *redis.Tx) error {
				_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
					p.Set(ctx, "k", "v", 0)
					return nil
				})
				return err
			},
			"outside MULTI": func(ctx context.Context, tx *redis.Tx) error { return tx.Set(ctx, "k", "v", 0).Err() },
		} {
			t.Run(name, func(t *testing.T) {
				s := maintsim.StartSentinels(t, maintsim.SentinelConfig{Config: maintsim.Config{Lead: -1}})
				c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: s.MasterName(), SentinelAddrs: s.Addrs(), Protocol: proto})
				defer c.Close()
				ctx := soon(t)
				for try := range 2 {
					err := c.Watch(ctx, func(tx *redis.Tx) error {
						if try == 0 {
							if err := s.Failover(ctx); err != nil {
								return err
							}
						}
						return write(ctx, tx)
					}, "k")
					if want := []error{redis.TxFailedErr, nil}[try]; !errors.Is(err, want) {
						t.Errorf("try %d: got %v, want %v", try+1, err, want)
					}
				}
				if v, err := s.Do("GET", "k"); err != nil || v != "v" {
					t.Errorf("k is %v, %v", v, err)
				}
			})
		}
	})
}
