package maintsim_test

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
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// quickSentinels is a configuration whose changes take tenths of a second where all is
// imitated.
func quickSentinels() maintsim.SentinelConfig { return maintsim.SentinelConfig{Config: quick()} }

func split(t *testing.T, addr string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// message is a message in RESP2.
func message(channel, text string) string {
	return "*3\r\n" + bulk("message") + bulk(channel) + bulk(text)
}

// What imitated sentinels answer, in both protocols.
func TestSentinelCommands(t *testing.T) {
	s := maintsim.StartSentinels(t, quickSentinels())
	host, port := split(t, s.Master())
	asked, _ := split(t, s.Addrs()[1])
	addr := "*2\r\n" + bulk(host) + bulk(port)
	for _, proto := range []string{"2", "3"} {
		c := dial(t, s.Addrs()[1])
		if got := c.do("HELLO", proto); !strings.Contains(got, bulk("mode")+bulk("sentinel")) || strings.Contains(got, bulk("role")) {
			t.Errorf("HELLO %s: %q", proto, got)
		}
		c.send("SENTINEL", "get-master-addr-by-name", s.MasterName())
		c.want(addr)
		if got := c.do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "nobody"); got != map[string]string{"2": "*-1\r\n", "3": "_\r\n"}[proto] {
			t.Errorf("unknown name: %q", got)
		}
		if got := c.do("SENTINEL", "sentinels", s.MasterName()); strings.Count(got, bulk("port")) != 2 || strings.Contains(got, bulk("ip")+bulk(asked)) {
			t.Errorf("others: %q", got)
		}
		if got := c.do("SENTINEL", "replicas", s.MasterName()); !strings.Contains(got, bulk(s.Servers()[1])) || strings.Contains(got, bulk(s.Servers()[0])) {
			t.Errorf("replicas: %q", got)
		}
		c.send("SENTINEL", "master", "nobody")
		c.want("-ERR No such master with that name\r\n")
		c.send("GET", "k")
		c.want("-ERR unknown command 'GET', with args beginning with: 'k' \r\n")
		c.send("ROLE")
		c.want("*2\r\n" + bulk("sentinel") + "*1\r\n" + bulk(s.MasterName()))
		c.send("PING")
		c.want("+PONG\r\n")
	}
}

// An imitated failover tells what sentinels tell, in their order, and the servers change
// places.
func TestSentinelFailover(t *testing.T) {
	s := maintsim.StartSentinels(t, quickSentinels())
	old, next := s.Servers()[0], s.Servers()[1]
	c := dial(t, s.Addrs()[0])
	c.send("PSUBSCRIBE", "*")
	c.want("*3\r\n" + bulk("psubscribe") + bulk("*") + ":1\r\n")
	blocked := dial(t, old)
	blocked.send("BLPOP", "list", "0")
	master, replica := dial(t, old), dial(t, next)
	if got := replica.do("SET", "k", "v"); !strings.HasPrefix(got, "-READONLY") {
		t.Errorf("a write at a replica: %q", got)
	}
	if got := replica.do("ROLE"); !strings.HasPrefix(got, "*5\r\n"+bulk("slave")) {
		t.Errorf("a replica's role: %q", got)
	}
	waitFor(t, func() bool { return s.Sim().Blocked() == 1 })
	if err := s.Failover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := blocked.frame(); !strings.HasPrefix(got, "-UNBLOCKED") {
		t.Errorf("a command that was blocked: %q", got)
	}
	if got := master.do("SET", "k", "v"); !strings.HasPrefix(got, "-READONLY") {
		t.Errorf("a write at the old master: %q", got)
	}
	replica.send("SET", "k", "v")
	replica.want("+OK\r\n")
	oh, op := split(t, old)
	nh, np := split(t, next)
	name := s.MasterName()
	about := fmt.Sprintf("slave %s %s %s @ %s %s %s", next, nh, np, name, oh, op)
	for _, want := range []struct{ channel, text string }{
		{"+failover-state-wait-promotion", about},
		{"+promoted-slave", about},
		{"+switch-master", strings.Join([]string{name, oh, op, nh, np}, " ")},
	} {
		c.want("*4\r\n" + bulk("pmessage") + bulk("*") + bulk(want.channel) + bulk(want.text))
	}
	if s.Master() != next {
		t.Errorf("the master is %s, want %s", s.Master(), next)
	}
	// And back, ordered from a sentinel.
	cl := dial(t, s.Addrs()[2])
	cl.send("SENTINEL", "FAILOVER", name)
	cl.want("+OK\r\n")
	waitFor(t, func() bool { return s.Master() == old })
}

// A discovery service tells that the endpoint moves, by both names, and the old proxy
// serves for the grace time.
func TestDiscoverySwitch(t *testing.T) {
	cfg := quickSentinels()
	cfg.Discovery = true
	s := maintsim.StartSentinels(t, cfg)
	old := s.Master()
	told := optIn(t, old, "internal-ip")
	c := dial(t, s.Addrs()[0])
	c.send("SUBSCRIBE", "+switch-master")
	c.want("*3\r\n" + bulk("subscribe") + bulk("+switch-master") + ":1\r\n")
	wait := background(t, func() error { return s.Switch(t.Context()) })
	oh, op := split(t, old)
	nh, np := split(t, s.Servers()[1])
	for _, name := range []string{s.MasterName(), s.MasterName() + "@internal"} {
		c.want(message("+switch-master", strings.Join([]string{name, oh, op, nh, np}, " ")))
	}
	told.want(push("MOVING", "0", ":10\r\n", bulk(s.Servers()[1])))
	if s.Master() != s.Servers()[1] {
		t.Errorf("the master is %s, want %s", s.Master(), s.Servers()[1])
	}
	told.send("PING")
	told.want("+PONG\r\n")
	ask := dial(t, s.Addrs()[2])
	ask.send("SENTINEL", "get-master-addr-by-name", s.MasterName()+"@internal")
	ask.want("*2\r\n" + bulk(nh) + bulk(np))
	ask.send("SENTINEL", "replicas", s.MasterName())
	ask.want("*0\r\n")
	wait()
	if err := told.end(); err != nil {
		t.Errorf("the old proxy's connection ended with %v, want FIN", err)
	}
	// A shard's failover is nothing that the service tells.
	if err := s.Failover(t.Context(), maintsim.WithStall(0)); err != nil {
		t.Fatal(err)
	}
	c.quiet(50 * time.Millisecond)
}

// A move that is called off is told of, too.
func TestDiscoverySwitchCalledOff(t *testing.T) {
	cfg := quickSentinels()
	cfg.Discovery = true
	s := maintsim.StartSentinels(t, cfg)
	old := s.Master()
	ctx, cancel := context.WithCancel(t.Context())
	wait := make(chan error, 1)
	go func() { wait <- s.Switch(ctx) }()
	waitFor(t, func() bool { return s.Master() != old })
	cancel()
	if err := <-wait; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if s.Master() != old {
		t.Errorf("the master is %s, want %s", s.Master(), old)
	}
}

func TestSentinelConfigRefused(t *testing.T) {
	for want, edit := range map[string]func(*maintsim.SentinelConfig){
		"want 1 to 20":              func(c *maintsim.SentinelConfig) { c.Sentinels = 99 },
		"no name of a master":       func(c *maintsim.SentinelConfig) { c.MasterName = "my master" },
		"Embedded or a Program":     func(c *maintsim.SentinelConfig) { c.Backend = maintsim.Address("127.0.0.1:1") },
		"a master and a replica":    func(c *maintsim.SentinelConfig) { c.Proxies = 1 },
		"is no loopback address":    func(c *maintsim.SentinelConfig) { c.Hosts = []string{"192.0.2.1", "127.0.0.1"} },
		"no such file or directory": func(c *maintsim.SentinelConfig) { c.Backend = maintsim.Program("/no/such/server") },
		"real sentinels can't have ": func(c *maintsim.SentinelConfig) {
			c.Backend, c.TLS = maintsim.Program("/x"), must2(maintsim.NewCertificate())
		},
	} {
		cfg := quickSentinels()
		edit(&cfg)
		s, err := maintsim.NewSentinels(cfg)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if s != nil {
			_ = s.Close()
		}
	}
	s := maintsim.StartSentinels(t, quickSentinels())
	if err := s.Switch(t.Context()); !errors.Is(err, maintsim.ErrNoSwitch) {
		t.Errorf("Switch: %v", err)
	}
	if err := s.Failover(t.Context(), maintsim.WithTarget(0)); !errors.Is(err, maintsim.ErrNoTarget) {
		t.Errorf("Failover to the master: %v", err)
	}
}

func must2[A, B any](a A, _ B, err error) A {
	if err != nil {
		panic(err)
	}
	return a
}

// failoverLoad is goroutines with a counter each.
type failoverLoad struct {
	client       *redis.Client
	done         atomic.Int64
	wg           sync.WaitGroup
	stop         chan struct{}
	mu           sync.Mutex // guards errs
	errs         map[string]int
	acked, doubt [8]int64
}

func startFailoverLoad(t *testing.T, s *maintsim.Sentinels, change func(*redis.FailoverOptions)) *failoverLoad {
	t.Helper()
	opt := &redis.FailoverOptions{
		MasterName: s.MasterName(), SentinelAddrs: s.Addrs()[:1], ReadTimeout: 2 * time.Second, PoolTimeout: 20 * time.Second,
	}
	if change != nil {
		change(opt)
	}
	l := &failoverLoad{client: redis.NewFailoverClient(opt), stop: make(chan struct{}), errs: map[string]int{}}
	t.Cleanup(func() { _ = l.client.Close() })
	if err := l.client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	for i := range l.acked {
		l.wg.Go(func() { l.count(ctx, i) })
	}
	l.more(t, 500)
	return l
}

func (l *failoverLoad) count(ctx context.Context, i int) {
	for {
		select {
		case <-l.stop:
			return
		default:
		}
		err := l.client.Incr(ctx, fmt.Sprint("counter:", i)).Err()
		switch {
		case err == nil:
			l.acked[i]++
			l.done.Add(1)
		case redis.DeliveryOf(err) == redis.MaybeSent:
			l.doubt[i]++
			fallthrough
		default:
			l.mu.Lock()
			l.errs[err.Error()]++
			l.mu.Unlock()
		}
	}
}

// more waits for so many more answers.
func (l *failoverLoad) more(t *testing.T, n int64) {
	t.Helper()
	from := l.done.Load()
	waitFor(t, func() bool { return l.done.Load() >= from+n })
}

// end stops the load and compares; doubts is whether errors are allowed.
func (l *failoverLoad) end(t *testing.T, s *maintsim.Sentinels, doubts bool) {
	t.Helper()
	l.more(t, 500)
	close(l.stop)
	l.wg.Wait()
	for i := range l.acked {
		v, err := s.Do("GET", fmt.Sprint("counter:", i))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := v.(string)
		var n int64
		_, _ = fmt.Sscan(text, &n)
		if n < l.acked[i] || n > l.acked[i]+l.doubt[i] {
			t.Errorf("counter %d is %d, acknowledged %d and in doubt %d", i, n, l.acked[i], l.doubt[i])
		}
	}
	if len(l.errs) > 0 && !doubts {
		t.Errorf("%v", l.errs)
	}
	t.Logf("%d commands, errors %v", l.done.Load(), l.errs)
}

// The client is handed over without an error: by the service alone, by it and MOVING, by
// an ordered failover, with a hanging sentinel.
func TestFailoverClientSurvives(t *testing.T) {
	disabled := func(o *redis.FailoverOptions) {
		o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	}
	for _, tt := range []struct {
		name      string
		discovery bool
		change    func(*redis.FailoverOptions)
		do        func(*maintsim.Sentinels, context.Context) error
	}{
		{"switch", true, disabled, func(s *maintsim.Sentinels, ctx context.Context) error { return s.Switch(ctx) }},
		{"switch and notices", true, nil, func(s *maintsim.Sentinels, ctx context.Context) error { return s.Switch(ctx) }},
		{"switch in RESP2", true, func(o *redis.FailoverOptions) { o.Protocol = 2 }, func(s *maintsim.Sentinels, ctx context.Context) error { return s.Switch(ctx) }},
		{"failover", false, nil, func(s *maintsim.Sentinels, ctx context.Context) error { return s.Failover(ctx) }},
		{"failover that a sentinel decides", false, nil, func(s *maintsim.Sentinels, ctx context.Context) error {
			return s.Failover(ctx, maintsim.WithUnannounced())
		}},
		{"failover while a sentinel hangs", false, nil, func(s *maintsim.Sentinels, ctx context.Context) error {
			if err := s.SentinelSim().SetFault(0, maintsim.FaultHang); err != nil {
				return err
			}
			return s.Failover(ctx)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := quickSentinels()
			cfg.Discovery = tt.discovery
			s := maintsim.StartSentinels(t, cfg)
			l := startFailoverLoad(t, s, tt.change)
			for range 3 {
				before := s.Master()
				if err := tt.do(s, t.Context()); err != nil {
					t.Fatal(err)
				}
				if s.Master() == before {
					t.Errorf("the master is still %s", before)
				}
				l.more(t, 500)
			}
			l.end(t, s, false)
		})
	}
}

// A master that dies takes replies with it, and nothing else.
func TestFailoverClientSurvivesAKill(t *testing.T) {
	for name, discovery := range map[string]bool{"sentinels": false, "discovery": true} {
		t.Run(name, func(t *testing.T) {
			cfg := quickSentinels()
			cfg.Discovery = discovery
			s := maintsim.StartSentinels(t, cfg)
			l := startFailoverLoad(t, s, nil)
			old := s.Master()
			if err := s.KillMaster(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.Master() == old {
				t.Errorf("the master is still %s", old)
			}
			l.end(t, s, true)
		})
	}
}

// Real sentinels around real servers, and a discovery service around one of them.
func TestRealSentinels(t *testing.T) {
	for name, path := range newestServers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			cfg := quickSentinels()
			cfg.Backend, cfg.Password = maintsim.Program(path), "secret"
			s := maintsim.StartSentinels(t, cfg)
			password := func(o *redis.FailoverOptions) { o.Password = "secret" }
			l := startFailoverLoad(t, s, password)
			for range 2 {
				before := s.Master()
				if err := s.Failover(t.Context()); err != nil {
					t.Fatal(err)
				}
				if s.Master() == before {
					t.Errorf("the master is still %s", before)
				}
				l.more(t, 500)
			}
			l.end(t, s, false)
			l = startFailoverLoad(t, s, password)
			if err := s.KillMaster(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.more(t, 500)
			close(l.stop)
			l.wg.Wait()
		})
		t.Run(name+" discovery", func(t *testing.T) {
			t.Parallel()
			cfg := quickSentinels()
			cfg.Backend, cfg.Discovery = maintsim.Program(path), true
			s := maintsim.StartSentinels(t, cfg)
			l := startFailoverLoad(t, s, nil)
			if err := s.Switch(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.end(t, s, false)
		})
	}
}
