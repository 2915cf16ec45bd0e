package redis_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
	"github.com/baton-go/redis/push"
)

// Fault: one refusal switched the feature off for good, and closed the connections that
// had it. Guards: a refusal has an end (endpoint.remember), and concerns new links only.
func TestFault16_OneRefusalIsNotForEver(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		c := s.client()
		s.echo(c)
		a.set(func(a *actor) { a.refuses = true })
		s.hold(c, 1)
		a.set(func(a *actor) { a.refuses = false })
		s.sleep(10 * time.Minute)
		s.hold(c, 1)
		s.wantConns(oldAddr, 3)
		a.mu.Lock()
		told := len(a.conns)
		a.mu.Unlock()
		if told != 2 {
			t.Errorf("%d connections are told, want the first and the third", told)
		}
		a.tellOne("MOVING", 1, 15, newAddr) // from one that is older than the refusal
		s.wantConns(newAddr, 3)
		if got, _, _ := s.seen.now(); got == 0 {
			t.Error("the old connection's notice means nothing")
		}
	})
}

// Fault: a second MOVING for a connection was dropped, and one that came during the new
// connection's handshake erased. Guards: the newest operation has a link
// (Machine.enlist), and pushes of a handshake are kept (link.Link.early).
func TestFault18_TheLatestMovingCounts(t *testing.T) {
	t.Run("while it is handed over", func(t *testing.T) {
		onStage(t, func(s *stage) {
			a := s.actor(oldAddr)
			s.actor(newAddr)
			s.actor(otherAddr)
			s.net.Blackhole(newAddr, true) // the handoff's attempts hang, each for DialTimeout
			c := s.client()
			s.echo(c)
			s.give(s.hold(c, 3)...)
			a.tell("MOVING", 1, 15, newAddr)
			s.sleep(time.Second)
			a.tell("MOVING", 2, 15, otherAddr)
			s.hold(c, 4) // new ones go there at once
			s.wantConns(otherAddr, 1)
			s.sleepUntil(14 * time.Second)
			s.wantConns(otherAddr, 5)
			s.sleepUntil(time.Minute)
			s.wantConns(newAddr, 0)
			s.echo(c)
		})
	})
	for name, hasty := range map[string]bool{"behind the handshake": false, "within the handshake": true} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				a, b := s.actor(oldAddr), s.actor(newAddr)
				s.actor(otherAddr)
				b.set(func(a *actor) { a.greeting, a.hasty = []byte(notice("MOVING", 2, 10, otherAddr)), hasty })
				c := s.client()
				s.echo(c)
				s.give(s.hold(c, 3)...)
				a.tell("MOVING", 1, 15, newAddr)
				s.sleep(9 * time.Second)
				s.wantConns(oldAddr, 0)
				s.wantConns(newAddr, 0)
				s.wantConns(otherAddr, 4)
			})
		})
	}
	t.Run("one number, two targets", func(t *testing.T) {
		sim := maintsim.Start(t, maintsim.Config{Proxies: 3, Grace: 2 * time.Second})
		c := newClient(t, &redis.Options{Addr: sim.Addr()})
		l := startLoad(t, c, 4)
		if err := sim.Rebind(t.Context(), maintsim.WithTarget(1), maintsim.WithSecondTarget(2, 0.3), maintsim.WithSeq(5)); err != nil {
			t.Fatal(err)
		}
		l.end()
	})
}

// Fault: half of one second was none, and all connections went at the same instant.
// Guards: times are not whole seconds, and links go one after the other
// (Machine.enlist).
func TestFault19_HalfOfOneSecondIsHalfASecond(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		c := s.client()
		s.give(s.hold(c, 10)...)
		a.tell("MOVING", 1, 1, nil)
		s.sleep(time.Second)
		at := s.dials(oldAddr)[10:]
		if len(at) != 10 || at[0] < 500*time.Millisecond || at[len(at)-1] > 600*time.Millisecond {
			t.Errorf("dialled at %v, want 10 times between 500ms and 600ms", at)
		}
		if n := len(slices.Compact(slices.Clone(at))); n < 5 {
			t.Errorf("dialled at %v: at %d moments only", at, n)
		}
	})
}

// Fault: with TLS, HandoffTimeout did not bound a dial, and the target's own name was
// verified. Guards: the TLS handshake obeys the context (newDialer), which ends with the
// handoff (Manager.BeginHandoff). For the name see section 9, item 6.
func TestFault20_TLSHandoffsAreBounded(t *testing.T) {
	t.Parallel()
	server, roots, err := maintsim.NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	sim := maintsim.Start(t, maintsim.Config{Grace: time.Minute, TLS: server})
	var seen metrics
	failed := make(chan struct{}, 100)
	callbacks := seen.callbacks()
	callbacks.OnHandoff = func(_, _ string, err error) {
		if err != nil {
			failed <- struct{}{}
		}
	}
	c := newClient(t, &redis.Options{
		Addr: sim.Name(), TLSConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		Resolver:                  lookup(func(host string) ([]string, error) { return sim.LookupHost(t.Context(), host) }),
		MaintNotificationsConfig:  &maintnotifications.Config{HandoffTimeout: 300 * time.Millisecond},
		DialTimeout:               time.Minute,
		MaintNotificationsMetrics: callbacks,
	})
	l := startLoad(t, c, 4)
	await(t, "commands run", func() bool { return l.ops.Load() > 100 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	moved := make(chan error, 1)
	go func() { moved <- sim.Rebind(ctx, maintsim.WithTargetFault(maintsim.FaultHang, -1)) }()
	select {
	case <-failed:
	case <-time.After(20 * time.Second): // DialTimeout and the window are three times as long
		t.Error("a handoff that hangs in its TLS handshake is not given up after HandoffTimeout, 300ms")
	}
	cancel()
	if err := <-moved; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	l.end()
}

// Fault: IPv6 targets without brackets or port were misread. Guards:
// maintnotifications.ParseNotice, and that targets are dialled in one form.
func TestFault21_IPv6TargetsWithoutBracketsOrPort(t *testing.T) {
	for said, where := range map[string]string{
		"[fd00::2]":      "[fd00::2]:6379",
		"fd00::2:6379":   "[fd00::2]:6379",
		"[fd00::2]:6379": "[fd00::2]:6379",
		"::1:6379":       "[::1]:6379",
	} {
		t.Run(said, func(t *testing.T) {
			onStage(t, func(s *stage) {
				a := s.actor(oldAddr)
				s.actor(where)
				c := s.client()
				s.echo(c)
				a.tell("MOVING", 1, 15, said)
				s.wantConns(where, 1)
				s.wantConns(oldAddr, 0)
			})
		})
	}
}

// Fault: sockets leaked when a handoff failed in the middle, a full queue held callers up,
// and the handshake took four round trips. Guards: link.Open closes what it can't use,
// endpoint.enqueue never waits, and link.Link.run writes all steps at once.
func TestFault22_FailedHandoffsLeakNothing(t *testing.T) {
	for name, fail := range map[string]func(s *stage, b *actor){
		"silent":    func(_ *stage, b *actor) { b.set(func(a *actor) { a.quiet = true }) },
		"refuses":   func(s *stage, _ *actor) { s.net.Refuse(newAddr, true) },
		"blackhole": func(s *stage, _ *actor) { s.net.Blackhole(newAddr, true) },
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				a, b := s.actor(oldAddr), s.actor(newAddr)
				fail(s, b)
				s.maint.MaxWorkers, s.maint.HandoffQueueSize = 1, 1 // with MaxActiveConns the queue holds two
				s.opt.MaxActiveConns = 1
				s.opt.PoolSize = 1
				c := s.client()
				s.echo(c)
				held := s.hold(c, 1)
				sub := c.Subscribe(s.Context(), "news")
				defer sub.Close()
				if err := sub.Ping(s.Context()); err != nil {
					t.Error(err)
				}
				for seq := range 5 {
					a.tell("MOVING", seq, 10, newAddr)
					if took := s.echo(c) + s.echo(held[0]); took != 0 {
						t.Errorf("a caller was held up for %v", took)
					}
					s.sleep(2 * time.Second)
				}
				s.give(held...)
				s.sleep(2 * time.Minute)
				s.net.Blackhole(newAddr, false)
				s.wantConns(newAddr, 0)
				s.give(s.hold(c, 1)...) // no turn of the pool is lost
				s.echo(c)
				if got := len(s.net.Conns(oldAddr)); got > 3 {
					t.Errorf("%d connections are open, want at most 3", got)
				}
			})
		})
	}
	t.Run("one round trip", func(t *testing.T) {
		onStage(t, func(s *stage) {
			a := s.actor(oldAddr)
			s.actor(newAddr)
			s.net.SetLatency(newAddr, 50*time.Millisecond)
			s.opt.Username, s.opt.Password, s.opt.DB, s.opt.ClientName = "user", "secret", 3, "app"
			c := s.client()
			s.echo(c)
			a.tell("MOVING", 1, 15, newAddr)
			s.sleep(200*time.Millisecond - 1)
			s.wantConns(oldAddr, 1)
			s.sleep(time.Millisecond)
			s.wantConns(oldAddr, 0) // 100 ms to dial, as much for AUTH, SELECT, SETNAME, and all
		})
	})
}

// Fault: an idle client had goroutines from its construction on. Guards: NewClient starts
// nothing.
func TestFault23_AnUnusedClientHasNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	clients := make([]*redis.Client, 0, 100)
	for _, mode := range []maintnotifications.Mode{"", maintnotifications.ModeEnabled, maintnotifications.ModeDisabled} {
		for range 30 {
			c := redis.NewClient(&redis.Options{Addr: "db.example:6379", MaintNotificationsConfig: &maintnotifications.Config{Mode: mode}})
			if m := c.GetMaintNotificationsManager(); m != nil {
				m.AddNotificationHook(maintnotifications.NewMetricsHook())
			}
			clients = append(clients, c)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d clients have %d goroutines", len(clients), after-before)
	}
	for _, c := range clients {
		_ = c.Close()
	}
	// In a bubble a goroutine that is left over would be found, too.
	synctest.Test(t, func(*testing.T) { redis.NewClient(&redis.Options{}) })
}

//------------------------------------------------------------------------------

// A pool of 200, half of it busy, is told to move. Guards: workers bound the dials
// (endpoint.enqueue), idle links are handed over at once, busy ones when they are free.
func TestAFullPoolMovesWithinItsGrace(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		s.net.SetLatency(newAddr, 100*time.Millisecond) // so a handoff takes 400 ms
		s.opt.PoolSize = 200
		c := s.client()
		held := s.hold(c, 200)
		s.give(held[50:]...)
		held = held[:50]
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if got, err := c.BLPop(s.Context(), 0, "list").Result(); err != nil || len(got) != 2 {
					t.Errorf("blocked: got %v, %v", got, err)
				}
			})
		}
		synctest.Wait()
		s.atOnce = 0
		a.tell("MOVING", 1, 15, newAddr)
		watched := make(chan struct{})
		all.Go(func() {
			defer close(watched)
			for time.Since(s.start) < 15*time.Second {
				if st := c.PoolStats(); st.TotalConns < 200 {
					t.Errorf("after %v: %d connections, want at least 200", time.Since(s.start), st.TotalConns)
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
		for range 50 { // the busy ones work on, and end one after the other
			s.sleep(200 * time.Millisecond)
			s.echo(held[0])
			s.give(held[0])
			held = held[1:]
			if err := c.LPush(s.Context(), "list", "x").Err(); err != nil {
				t.Error(err)
			}
		}
		s.sleepUntil(15*time.Second - 1)
		s.wantConns(oldAddr, 0)
		<-watched
		workers := c.Options().MaintNotificationsConfig.MaxWorkers
		if workers != 66 || s.atOnce > workers+1 { // the shared lane's first dial is not a handoff
			t.Errorf("%d dials at one time, want at most the %d workers'", s.atOnce, workers)
		}
		if _, good, bad := s.seen.now(); good != 200 || bad != 0 {
			t.Errorf("%d handoffs succeeded, %d failed, want 200 and 0", good, bad)
		}
		all.Wait()
		a.leave()
		s.give(s.hold(c, 200)...)
		if st := c.PoolStats(); st.Misses != 200 || st.Timeouts != 0 {
			t.Errorf("got %+v, want that nobody had to dial", st)
		}
	})
}

// Guards: whatever happens, what is relaxed becomes unrelaxed, and what begins ends.
func TestMaintenanceMetricsBalance(t *testing.T) {
	t.Parallel()
	sim := maintsim.Start(t, maintsim.Config{
		Proxies: 3, Grace: time.Second, TimeUnit: 200 * time.Millisecond, Lead: -1, Stall: 20 * time.Millisecond, Outage: 50 * time.Millisecond,
	})
	var seen metrics
	c := newClient(t, &redis.Options{
		Addr: sim.Name(), Dialer: sim.DialContext,
		Resolver:                  lookup(func(host string) ([]string, error) { return sim.LookupHost(t.Context(), host) }),
		MaintNotificationsMetrics: seen.callbacks(),
		MaintNotificationsConfig:  &maintnotifications.Config{PostHandoffRelaxedDuration: 50 * time.Millisecond},
	})
	hook := maintnotifications.NewMetricsHook()
	c.GetMaintNotificationsManager().AddNotificationHook(hook)
	l := startLoad(t, c, 4)
	for range 10 {
		if err := c.Conn().Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for _, scenario := range []func(context.Context, ...maintsim.Option) error{sim.Migrate, sim.Failover, sim.Rebind, sim.RollingUpgrade} {
		all.Go(func() {
			for range 2 { // they overlap
				if err := scenario(t.Context()); err != nil && !errors.Is(err, maintsim.ErrLeaving) && !errors.Is(err, maintsim.ErrNoTarget) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, frame := range maintsim.Malformed(maintsim.Moving) {
		sim.Push(frame)
	}
	await(t, "one has understood that they are malformed", func() bool {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		return seen.notices["MOVING!"] > 0
	})
	if err := sim.FailoverCut(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(l.stop)
	l.wg.Wait()
	m := c.GetMaintNotificationsManager()
	// The moves' windows last as long as the notices said, which is longer than the
	// simulator took: a second each.
	await(t, "nothing is relaxed", func() bool { n, _, _ := seen.now(); return n == 0 && !m.IsHandoffInProgress() })
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	n, good, bad := seen.now()
	if n != 0 || seen.low < 0 || seen.ups == 0 || m.GetActiveOperationCount() != 0 {
		t.Errorf("relaxed: sum %d, least %d, %d times +1; %d operations", n, seen.low, seen.ups, m.GetActiveOperationCount())
	}
	got := hook.GetMetrics()
	if got["handoff_successes"] != int64(good) || got["handoff_failures"] != int64(bad) || got["handoff_counts"] != int64(good+bad) || good == 0 {
		t.Errorf("the hook counts %v, the metrics %d and %d failed", got, good, bad)
	}
	if seen.notices["MOVING!"] == 0 || seen.notices["MOVING"] == 0 || seen.notices["MIGRATED"] == 0 {
		t.Errorf("got notices %v", seen.notices)
	}
}

//------------------------------------------------------------------------------

// documentedHook is written as those in go-redis's documentation are.
type documentedHook struct {
	mu   sync.Mutex // guards seen
	seen []string
}

func (h *documentedHook) PreHook(ctx context.Context, notificationCtx push.NotificationHandlerContext, notificationType string, notification []any) ([]any, bool) {
	h.note("pre " + notificationType)
	return notification, true
}

func (h *documentedHook) PostHook(ctx context.Context, notificationCtx push.NotificationHandlerContext, notificationType string, notification []any, result error) {
	if result != nil {
		h.note("failed " + notificationType)
		return
	}
	h.note("post " + notificationType)
}

func (h *documentedHook) note(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, s)
}

type documentedHandler struct{ got chan []any }

func (h *documentedHandler) HandlePushNotification(ctx context.Context, handlerCtx push.NotificationHandlerContext, notification []any) error {
	if _, ok := handlerCtx.Client.(*redis.Client); ok {
		h.got <- notification
	}
	return nil
}

var (
	_ maintnotifications.NotificationHook = (*documentedHook)(nil)
	_ push.NotificationHandler            = (*documentedHandler)(nil)
)

// What a program for go-redis does with the packages, as its documentation shows it,
// with other import paths.
func TestProgramsForGoRedisWork(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Lead: -1, Stall: -1, Grace: time.Second})
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{
		Addr:     sim.Addr(),
		Protocol: 3, // RESP3 required for push notifications
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode:                           maintnotifications.ModeAuto,
			EndpointType:                   maintnotifications.EndpointTypeExternalIP,
			RelaxedTimeout:                 10 * time.Second,
			HandoffTimeout:                 15 * time.Second,
			MaxHandoffRetries:              3,
			MaxWorkers:                     20,
			HandoffQueueSize:               5000,
			PostHandoffRelaxedDuration:     20 * time.Second,
			CircuitBreakerFailureThreshold: 5,
			CircuitBreakerResetTimeout:     60 * time.Second,
			CircuitBreakerMaxRequests:      3,
		},
	})
	defer client.Close()

	manager := client.GetMaintNotificationsManager()
	if manager == nil {
		t.Fatal("no manager")
	}
	var text syncBuffer
	loggingHook := maintnotifications.NewLoggingHook(2)
	loggingHook.Logger = slog.New(slog.NewTextHandler(&text, nil))
	metricsHook, custom := maintnotifications.NewMetricsHook(), &documentedHook{}
	manager.AddNotificationHook(loggingHook)
	manager.AddNotificationHook(metricsHook)
	manager.AddNotificationHook(custom)

	handler := &documentedHandler{got: make(chan []any, 1)}
	if err := client.RegisterPushNotificationHandler("CUSTOM_EVENT", handler, false); err != nil {
		t.Fatal(err)
	}
	if err := client.RegisterPushNotificationHandler("CUSTOM_EVENT", handler, false); !push.IsHandlerExistsError(err) {
		t.Errorf("a second handler: got %v", err)
	}
	if client.GetPushNotificationHandler("CUSTOM_EVENT") != push.NotificationHandler(handler) {
		t.Error("the handler is not there")
	}

	if err := client.Set(ctx, "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if sim.Push(notice("CUSTOM_EVENT", "data", 7)) != 1 {
		t.Fatal("nobody was told")
	}
	if got := <-handler.got; len(got) != 3 || got[0] != "CUSTOM_EVENT" || got[1] != "data" || got[2] != int64(7) {
		t.Errorf("the handler got %v", got)
	}
	if err := sim.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	if err := sim.Rebind(ctx); err != nil {
		t.Fatal(err)
	}

	metrics := metricsHook.GetMetrics()
	counts := metrics["notification_counts"].(map[string]int64)
	if counts[maintnotifications.NotificationMigrating] != 1 || counts[maintnotifications.NotificationMoving] != 1 || metrics["handoff_successes"] != int64(1) {
		t.Errorf("got metrics %v", metrics)
	}
	for _, stat := range manager.GetCircuitBreakerStats() {
		if stat.State != maintnotifications.CircuitBreakerClosed || stat.Endpoint == "" || stat.Requests != 1 || stat.Successes != 1 || stat.Failures != 0 || stat.LastSuccessTime.IsZero() {
			t.Errorf("got breaker %+v", stat)
		}
	}
	if manager.GetState() != maintnotifications.StateIdle || manager.IsHandoffInProgress() || len(manager.GetActiveMovingOperations()) != 0 {
		t.Error("a handoff is still in progress")
	}
	custom.mu.Lock()
	if got := custom.seen; !slices.Equal(got[:2], []string{"pre MIGRATING", "post MIGRATING"}) || !slices.Contains(got, "post MOVING") {
		t.Errorf("the hook saw %v", got)
	}
	custom.mu.Unlock()
	if got := text.String(); !containsAll(got, "conn=", "type=MOVING", "seq=", "content=") {
		t.Errorf("logged %s", got)
	}
}

// syncBuffer is a buffer that several goroutines write to.
type syncBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
