package maintsim_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// watcher collects events and lets a test wait for one.
type watcher struct {
	mu   sync.Mutex
	seen map[maintsim.EventKind]chan struct{}
}

func (w *watcher) on(e maintsim.Event) {
	c := w.channel(e.Kind)
	select {
	case <-c:
	default:
		close(c)
	}
}

func (w *watcher) channel(k maintsim.EventKind) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = make(map[maintsim.EventKind]chan struct{})
	}
	if w.seen[k] == nil {
		w.seen[k] = make(chan struct{})
	}
	return w.seen[k]
}

// await waits for the first event of a kind.
func (w *watcher) await(t *testing.T, k maintsim.EventKind) {
	t.Helper()
	select {
	case <-w.channel(k):
	case <-time.After(patience):
		t.Fatalf("no event %s", k)
	}
}

func TestNullRebindTakesOverTheAddress(t *testing.T) {
	var w watcher
	cfg := quick()
	cfg.TimeUnit, cfg.Hosts, cfg.OnEvent = 30*time.Millisecond, []string{"127.0.0.1"}, w.on
	sim := maintsim.Start(t, cfg)
	addr := sim.Addr()
	before := optIn(t, addr, "external-ip")
	wait := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithNullEndpoint()) })
	moving := push("MOVING", "0", ":10\r\n", "_\r\n")
	before.want(moving)
	late := optIn(t, addr, "external-ip")
	if got := late.frame(); !strings.HasPrefix(got, ">4\r\n$6\r\nMOVING\r\n:0\r\n") || !strings.HasSuffix(got, "_\r\n") {
		t.Errorf("late: got %q", got)
	}
	w.await(t, maintsim.EventTakeOver)
	after := optIn(t, addr, "external-ip")
	wait()
	for _, c := range []*client{before, late} {
		if err := c.end(); err != nil {
			t.Errorf("old connection ended with %v, want EOF", err)
		}
	}
	after.quiet(20 * time.Millisecond)
	if got := after.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
	if sim.Addr() != addr {
		t.Errorf("Addr: got %s, want %s", sim.Addr(), addr)
	}
	if err := sim.Rebind(t.Context()); !errors.Is(err, maintsim.ErrNoTarget) {
		t.Errorf("named rebind of one proxy: got %v, want ErrNoTarget", err)
	}
}

// An old proxy that is empty leaves at once if it may, and the name has changed by then.
func TestRebindLeavesEarly(t *testing.T) {
	var w watcher
	cfg := quick()
	cfg.Grace, cfg.TimeUnit, cfg.OnEvent = time.Hour, time.Second, w.on
	sim := maintsim.Start(t, cfg)
	old := sim.Addr()
	first, second := optIn(t, old, "external-ip"), optIn(t, old, "external-ip")
	wait := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithEarlyLeave()) })
	first.frame()
	second.frame()
	_ = first.nc.Close()
	second.quiet(20 * time.Millisecond)
	if got := second.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING where one connection is left: got %q", got)
	}
	_ = second.nc.Close()
	wait()
	w.await(t, maintsim.EventResolved)
	if nc, err := net.Dial("tcp", old); err == nil {
		_ = nc.Close()
		t.Error("the old proxy still accepts")
	}
	if sim.Addr() == old {
		t.Errorf("the endpoint is still at %s", old)
	}
}

func TestNullRebindByName(t *testing.T) {
	var w watcher
	cfg := quick()
	cfg.OnEvent = w.on
	sim := maintsim.Start(t, cfg)
	lookup := func(host string) string {
		t.Helper()
		ips, err := sim.LookupHost(t.Context(), host)
		if err != nil || len(ips) != 1 {
			t.Fatalf("LookupHost(%s): got %v, %v", host, ips, err)
		}
		return ips[0]
	}
	if got := lookup("Redis-1.sim.test."); got != "127.0.0.1" {
		t.Errorf("before: got %s", got)
	}
	c := optIn(t, sim.Addr(), "external-fqdn")
	wait := background(t, func() error {
		return sim.Rebind(t.Context(), maintsim.WithNullByName(), maintsim.WithResolverChange(0.5))
	})
	c.want(push("MOVING", "0", ":10\r\n", "_\r\n"))
	if got := lookup(maintsim.DBName); got != "127.0.0.1" {
		t.Errorf("at the beginning: got %s", got)
	}
	w.await(t, maintsim.EventResolved)
	if got := lookup(maintsim.DBName); got != "127.0.0.2" {
		t.Errorf("after the change: got %s", got)
	}
	nc, err := sim.DialContext(t.Context(), "tcp", sim.Name())
	if err != nil {
		t.Fatal(err)
	}
	if got := newClient(t, nc).do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
	wait()
	if err := c.end(); err != nil {
		t.Errorf("old connection ended with %v", err)
	}
	// A resolver that is late.
	wait = background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithResolverChange(1.2)) })
	wait()
	if got := lookup(maintsim.DBName); got != "127.0.0.2" {
		t.Errorf("at the deadline: got %s, want the old address", got)
	}
	waitFor(t, func() bool { return lookup(maintsim.DBName) == "127.0.0.1" })
	if got := lookup("node-2.sim.test"); got != "127.0.0.2" {
		t.Errorf("node-2: got %s", got)
	}
	_, err = sim.LookupHost(t.Context(), "redis.example")
	if de, ok := errors.AsType[*net.DNSError](err); !ok || !de.IsNotFound {
		t.Errorf("unknown name: got %v", err)
	}
}

func TestCloseModesAtTheDeadline(t *testing.T) {
	for _, tc := range []struct {
		mode maintsim.CloseMode
		ok   func(error) bool
	}{
		{maintsim.CloseFIN, func(err error) bool { return err == nil }},
		{maintsim.CloseRST, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		{maintsim.CloseSilent, func(err error) bool { ne, ok := errors.AsType[net.Error](err); return ok && ne.Timeout() }},
	} {
		t.Run(tc.mode.String(), func(t *testing.T) {
			sim := maintsim.Start(t, quick())
			c := dial(t, sim.Addr())
			if got := c.do("PING"); got != "+PONG\r\n" {
				t.Fatalf("PING: got %q", got)
			}
			if err := sim.Rebind(t.Context(), maintsim.WithCloseMode(tc.mode)); err != nil {
				t.Fatal(err)
			}
			_ = c.nc.SetDeadline(time.Now().Add(100 * time.Millisecond))
			if tc.mode == maintsim.CloseSilent {
				c.send("PING")
			}
			if err := c.end(); !tc.ok(err) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// Whatever is in flight when an old proxy closes, replies that were sent arrive
// before the end.
func TestDeadlineFlushesReplies(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := dial(t, sim.Addr())
	wait := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithGrace(5*time.Second)) })
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for {
			if _, err := io.WriteString(c.nc, encode("INCR", "n")); err != nil {
				return
			}
		}
	}()
	got := 0
	for {
		f, err := c.read()
		if err != nil {
			if err != io.EOF {
				t.Errorf("ended with %v, want EOF", err)
			}
			break
		}
		if got++; f != ":"+strconv.Itoa(got)+"\r\n" {
			t.Fatalf("reply %d: got %q", got, f)
		}
	}
	wait()
	_ = c.nc.Close()
	<-sent
	cut := sim.Stats().Cuts[0]
	v, err := sim.Backend().Do("GET", "n")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := strconv.Atoi(v.(string)); got == 0 || n < got || n > got+cut.InFlight {
		t.Errorf("%d executed, want %d that were answered and at most %d more", n, got, cut.InFlight)
	}
}

func TestCutLosesRepliesButNotEffects(t *testing.T) {
	for _, tc := range []struct {
		name string
		cut  func(*maintsim.Sim, context.Context, ...maintsim.Option) error
		mode maintsim.CloseMode
	}{
		{"cut", (*maintsim.Sim).Cut, maintsim.CloseRST},
		{"cut with FIN", (*maintsim.Sim).Cut, maintsim.CloseFIN},
		{"failover", (*maintsim.Sim).FailoverCut, maintsim.CloseRST},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var w watcher
			cfg := quick()
			cfg.OnEvent, cfg.Hold, cfg.CloseMode, cfg.Lead = w.on, 100*time.Millisecond, tc.mode, -1
			sim := maintsim.Start(t, cfg)
			addr := sim.Addr()
			c := optIn(t, addr, "none")
			wait := background(t, func() error { return tc.cut(sim, t.Context()) })
			const n = 25
			waitFor(t, func() bool { return sim.Holding() })
			c.raw(strings.Repeat(encode("INCR", "n"), n))
			blocked := dial(t, addr)
			blocked.send("BLPOP", "none", "0")
			w.await(t, maintsim.EventCut)
			if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("dial in the outage: got %v, want refused", err)
			}
			err := c.end()
			if tc.mode == maintsim.CloseFIN && err != nil || tc.mode == maintsim.CloseRST && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("ended with %v", err)
			}
			wait()
			st := sim.Stats()
			if len(st.Cuts) != 1 || st.Cuts[0].InFlight != n+1 || st.Cuts[0].Connections != 2 {
				t.Errorf("cuts: got %+v, want one of 2 connections with %d in flight", st.Cuts, n+1)
			}
			if v, err := sim.Backend().Do("GET", "n"); v != strconv.Itoa(n) || err != nil {
				t.Errorf("GET n: got %v, %v, want %d", v, err, n)
			}
			back := optIn(t, addr, "none")
			if tc.name == "failover" {
				back.want(push("FAILED_OVER", "1", shard1))
			}
			back.quiet(20 * time.Millisecond)
		})
	}
}

func TestBlackHoleAtACut(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := optIn(t, sim.Addr(), "none")
	if err := sim.Cut(t.Context(), maintsim.WithCloseMode(maintsim.CloseSilent)); err != nil {
		t.Fatal(err)
	}
	c.send("PING") // nobody is there, but the socket doesn't know
	c.quiet(50 * time.Millisecond)
	if n := sim.Stats().Cuts[0].Connections; n != 1 {
		t.Errorf("cut: got %d connections, want 1", n)
	}
	if got := dial(t, sim.Addr()).do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING on another connection: got %q", got)
	}
}

func TestRollingUpgradeReplacesEveryNode(t *testing.T) {
	cfg := quick()
	cfg.Proxies, cfg.Grace, cfg.Lead, cfg.Stall = 3, 2*time.Second, -1, -1
	sim := maintsim.Start(t, cfg)
	addr := sim.Addr()
	if err := sim.RollingUpgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sim.Addr() != addr {
		t.Errorf("Addr: got %s, want %s", sim.Addr(), addr)
	}
	var seqs, closed []int
	for _, e := range sim.Events() {
		switch e.Kind {
		case maintsim.EventNotice:
			seqs = append(seqs, int(e.Seq))
		case maintsim.EventProxyClosed:
			closed = append(closed, e.Proxy)
		}
	}
	for i, s := range seqs {
		if i != s {
			t.Errorf("sequence numbers: got %v", seqs)
			break
		}
	}
	if len(seqs) != 15 || len(closed) != 3 || closed[0] != 0 || closed[1] != 1 || closed[2] != 2 {
		t.Errorf("got %d notices and closes of %v", len(seqs), closed)
	}
}

func TestScenariosHonourTheContext(t *testing.T) {
	cfg := quick()
	cfg.TimeUnit, cfg.Stall, cfg.Outage = time.Second, time.Hour, time.Hour
	sim := maintsim.Start(t, cfg)
	c := optIn(t, sim.Addr(), "none")
	addr := sim.Addr()
	cause := errors.New("enough")
	run := func(f func(context.Context, ...maintsim.Option) error, opts ...maintsim.Option) {
		t.Helper()
		ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, cause)
		defer cancel()
		if err := f(ctx, opts...); !errors.Is(err, cause) {
			t.Errorf("got %v, want the context's cause", err)
		}
	}
	run(sim.Migrate)
	run(sim.Failover, maintsim.WithLead(0))
	run(sim.Rebind)
	run(sim.Rebind, maintsim.WithNullEndpoint())
	run(sim.FailoverCut)
	var names []string
	c.send("PING")
	for _, p := range c.replies(1, func(int, string) {}) {
		names = append(names, strings.Split(p, "\r\n")[2])
	}
	if got, want := strings.Join(names, " "), "MIGRATING MIGRATED FAILING_OVER FAILED_OVER MOVING MOVING FAILING_OVER FAILED_OVER"; got != want {
		t.Errorf("notices: got %s, want %s", got, want)
	}
	if sim.Addr() != addr {
		t.Errorf("Addr: got %s, want %s: the move was called off", sim.Addr(), addr)
	}
	run(sim.Cut)
	if got := dial(t, addr).do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
}

func TestWindowsOverlap(t *testing.T) {
	cfg := quick()
	cfg.TimeUnit, cfg.Stall = 50*time.Millisecond, 100*time.Millisecond
	sim := maintsim.Start(t, cfg)
	c := optIn(t, sim.Addr(), "none")
	a := background(t, func() error { return sim.Migrate(t.Context(), maintsim.WithLead(6*time.Second)) })
	c.want(push("MIGRATING", "0", ":6\r\n", shard1))
	b := background(t, func() error { return sim.Failover(t.Context()) })
	c.want(push("FAILING_OVER", "2", ":2\r\n", shard1))
	c.want(push("FAILED_OVER", "3", shard1))
	c.want(push("MIGRATED", "1", shard1))
	a()
	b()
	if err := sim.Rebind(t.Context(), maintsim.WithTarget(0)); !errors.Is(err, maintsim.ErrNoTarget) {
		t.Errorf("rebind to itself: got %v, want ErrNoTarget", err)
	}
	wait := background(t, func() error { return sim.Rebind(t.Context()) })
	c.want(push("MOVING", "4", ":10\r\n", "_\r\n"))
	if err := sim.Rebind(t.Context()); !errors.Is(err, maintsim.ErrNoTarget) {
		t.Errorf("rebind to a proxy that leaves: got %v, want ErrNoTarget", err)
	}
	wait()
}

func TestPushAndLostClosing(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c, deaf := optIn(t, sim.Addr(), "none"), dial(t, sim.Addr())
	odd := push("MOVING", "0", ":-1\r\n")
	if n := sim.Push(odd); n != 1 {
		t.Errorf("told %d, want 1", n)
	}
	c.want(odd)
	if err := sim.Failover(t.Context(), maintsim.WithoutClosing(), maintsim.WithLead(0), maintsim.WithStall(0)); err != nil {
		t.Fatal(err)
	}
	c.want(push("FAILING_OVER", "0", ":0\r\n", shard1))
	c.quiet(20 * time.Millisecond)
	optIn(t, sim.Addr(), "none").quiet(20 * time.Millisecond)
	deaf.quiet(20 * time.Millisecond)
}

func TestCutOfOneProxy(t *testing.T) {
	sim := maintsim.Start(t, quick())
	a, b := dial(t, sim.Addrs()[0]), dial(t, sim.Addrs()[1])
	for _, c := range []*client{a, b} {
		c.do("PING")
	}
	if err := sim.Cut(t.Context(), maintsim.WithProxy(0), maintsim.WithOutage(0)); err != nil {
		t.Fatal(err)
	}
	if err := a.end(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("ended with %v, want a reset", err)
	}
	if got := b.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING at the other proxy: got %q", got)
	}
}

// worker increments a key of its own as fast as it can, in batches, and dials
// again whenever it loses its connection.
type worker struct {
	key           string
	acked, failed int  // commands
	mayFail       bool // error replies are no surprise
}

func (w *worker) run(t *testing.T, sim *maintsim.Sim, stop <-chan struct{}) {
	const batch = 20
	commands := strings.Repeat(encode("INCR", w.key), batch)
	for {
		nc, err := net.DialTimeout("tcp", sim.Addr(), time.Second)
		if err == nil {
			c := newClient(t, nc)
			if w.mayFail { // peers may vanish
				_ = nc.SetDeadline(time.Now().Add(time.Second))
			}
			for err == nil {
				select {
				case <-stop:
					_ = nc.Close()
					return
				default:
				}
				if _, err = io.WriteString(nc, commands); err != nil {
					w.failed += batch
					break
				}
				for i := range batch {
					var f string
					if f, err = c.read(); err != nil {
						w.failed += batch - i
						break
					}
					if f[0] == ':' {
						w.acked++
					} else if w.failed++; !w.mayFail {
						t.Errorf("got %q", f)
					}
				}
			}
			_ = nc.Close()
		}
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Whatever overlaps, an acknowledged command is in the server once, and one that
// failed at most once.
func TestAccountsBalanceUnderOverlappingScenarios(t *testing.T) {
	cfg := quick()
	cfg.Proxies, cfg.TimeUnit, cfg.Stall, cfg.Outage = 3, 10*time.Millisecond, 20*time.Millisecond, 20*time.Millisecond
	sim := maintsim.Start(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	var working, playing sync.WaitGroup
	stop := make(chan struct{})
	workers := make([]worker, 8)
	for i := range workers {
		workers[i].key = "n" + strconv.Itoa(i)
		working.Go(func() { workers[i].run(t, sim, stop) })
	}
	for _, f := range []func(context.Context, ...maintsim.Option) error{sim.Migrate, sim.RollingUpgrade, sim.Cut, sim.FailoverCut} {
		playing.Go(func() {
			for ctx.Err() == nil {
				if err := f(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	playing.Wait()
	close(stop)
	working.Wait()
	waitFor(t, func() bool { return sim.Sessions() == 0 })
	total := 0
	for _, w := range workers {
		v, err := sim.Backend().Do("GET", w.key)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := v.(string)
		n, _ := strconv.Atoi(s)
		if n < w.acked || n > w.acked+w.failed {
			t.Errorf("%s: %d in the server, want %d to %d", w.key, n, w.acked, w.acked+w.failed)
		}
		total += w.acked
	}
	if total == 0 {
		t.Error("nothing was acknowledged")
	}
}

// A move whose second target can't be had is refused before anybody is told of it.
func TestSecondTargetThatIsTaken(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Proxies: 3})
	if err := sim.Rebind(t.Context(), maintsim.WithSecondTarget(0, 0.3)); !errors.Is(err, maintsim.ErrNoTarget) {
		t.Errorf("got %v, want %v", err, maintsim.ErrNoTarget)
	}
	for _, e := range sim.Events() {
		if e.Kind == maintsim.EventNotice {
			t.Errorf("announced all the same: %v", e)
		}
	}
}
