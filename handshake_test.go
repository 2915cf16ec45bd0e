package redis_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintnotifications"
)

func TestNewClientDoesNothing(t *testing.T) {
	var accepted atomic.Int64
	addr := serve(t, func(net.Conn) { accepted.Add(1) })
	before := runtime.NumGoroutine()
	for range 20 {
		c := redis.NewClient(&redis.Options{Addr: addr})
		cn := c.Conn()
		ps := c.Subscribe(t.Context())
		_ = c.Pipeline()
		_ = c.PoolStats()
		_ = c.String()
		if n := runtime.NumGoroutine(); n > before {
			t.Fatalf("%d goroutines more", n-before)
		}
		_, _ = cn.Close(), ps.Close()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := accepted.Load(); n != 0 {
		t.Errorf("%d connections were opened", n)
	}
}

func TestMinIdleConnsAreOpened(t *testing.T) {
	c, s := start(t, &redis.Options{MinIdleConns: 3})
	adm := admin(t, s.Addr())
	await(t, "three idle connections", func() bool { return c.PoolStats().IdleConns == 3 })
	if n := len(clients(t, adm)); n != 3 {
		t.Errorf("the server has %d", n)
	}
}

func TestHandshake(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			s := realserver.StartConfig(t, name, realserver.Config{
				Password: "default secret", Users: []string{"alice on >alice-secret ~* &* +@all"},
			})
			both(t, func(t *testing.T, proto int) {
				for _, c := range []struct {
					name string
					opt  redis.Options
					want map[string]string
					err  string
				}{
					{name: "default user", opt: redis.Options{Password: "default secret"}, want: map[string]string{"user": "default", "db": "0", "name": ""}},
					{name: "user", opt: redis.Options{Username: "alice", Password: "alice-secret"}, want: map[string]string{"user": "alice"}},
					{
						name: "everything", opt: redis.Options{Username: "alice", Password: "alice-secret", ClientName: "me", DB: 7},
						want: map[string]string{"user": "alice", "db": "7", "name": "me"},
					},
					{name: "wrong password", opt: redis.Options{Username: "alice", Password: "x"}, err: "WRONGPASS"},
					{name: "no password", opt: redis.Options{}, err: "NOAUTH"},
					{name: "bad name", opt: redis.Options{Password: "default secret", ClientName: "a b"}, err: "name"},
					{
						name: "provider", opt: redis.Options{
							Username: "x", Password: "x", CredentialsProvider: func() (string, string) { return "alice", "alice-secret" },
						},
						want: map[string]string{"user": "alice"},
					},
					{
						name: "provider with a context", opt: redis.Options{
							CredentialsProvider: func() (string, string) { return "x", "x" },
							CredentialsProviderContext: func(context.Context) (string, string, error) {
								return "alice", "alice-secret", nil
							},
						},
						want: map[string]string{"user": "alice"},
					},
					{
						name: "provider that fails", opt: redis.Options{
							CredentialsProviderContext: func(context.Context) (string, string, error) {
								return "", "", errors.New("vault is sealed")
							},
						},
						err: "vault is sealed",
					},
				} {
					t.Run(c.name, func(t *testing.T) {
						c.opt.Addr, c.opt.Protocol = s.Addr(), proto
						client := newClient(t, &c.opt)
						line, err := client.Do(soon(t), "client", "info").Text()
						if c.err != "" {
							if err == nil || !strings.Contains(err.Error(), c.err) || redis.DeliveryOf(err) == redis.MaybeSent {
								t.Errorf("got %v, want %s", err, c.err)
							}
							return
						}
						if err != nil {
							t.Fatal(err)
						}
						got := fields(line)
						for k, v := range c.want {
							if got[k] != v {
								t.Errorf("%s is %q, want %q", k, got[k], v)
							}
						}
						if r := got["resp"]; r != "" && r != map[int]string{2: "2", 3: "3"}[proto] {
							t.Errorf("RESP%s", r)
						}
					})
				}
			})
			// The library's identity, where the server knows of it (since 7.2).
			if name == realserver.Redis7 {
				return
			}
			for _, c := range []struct {
				opt      redis.Options
				lib, ver string
			}{
				{lib: "baton", ver: redis.Version()},
				{opt: redis.Options{IdentitySuffix: "shop"}, lib: "baton-shop", ver: redis.Version()},
				{opt: redis.Options{DisableIdentity: true, IdentitySuffix: "shop"}},
				{opt: redis.Options{DisableIndentity: true}},
			} {
				c.opt.Addr, c.opt.Password = s.Addr(), "default secret"
				me := fields(do(t, newClient(t, &c.opt), "client", "info"))
				if me["lib-name"] != c.lib || me["lib-ver"] != c.ver {
					t.Errorf("library %q %q, want %q %q", me["lib-name"], me["lib-ver"], c.lib, c.ver)
				}
			}
		})
	}
}

// A provider is asked for each connection, so that passwords may change.
func TestCredentialsAreAskedForEachConnection(t *testing.T) {
	ctx := soon(t)
	var password atomic.Value
	password.Store("one")
	s := realserver.Start(t, realserver.Redis7, "--requirepass", "one")
	c := newClient(t, &redis.Options{Addr: s.Addr(), CredentialsProvider: func() (string, string) { return "", password.Load().(string) }})
	do(t, c, "config", "set", "requirepass", "two")
	password.Store("two")
	if err := c.BLPop(ctx, 10*time.Millisecond, "none").Err(); !errors.Is(err, redis.Nil) {
		t.Error(err)
	}
}

func TestServerWithoutRESP3(t *testing.T) {
	ctx := soon(t)
	var got []string
	var mu sync.Mutex
	addr := serve(t, func(nc net.Conn) {
		buf := make([]byte, 4096)
		for {
			n, err := nc.Read(buf)
			if err != nil {
				return
			}
			mu.Lock()
			for f := range strings.SplitSeq(string(buf[:n]), "*") {
				if f == "" {
					continue
				}
				w := strings.Split(f, "\r\n")
				got = append(got, strings.ToLower(w[2]))
				reply := "+OK\r\n"
				if w[2] == "HELLO" || w[2] == "CLIENT" {
					reply = "-ERR unknown command `" + w[2] + "`\r\n"
				}
				_, _ = nc.Write([]byte(reply))
			}
			mu.Unlock()
		}
	})
	c := newClient(t, &redis.Options{Addr: addr, Password: "secret", DB: 1})
	if err := c.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	// What was written with HELLO has been refused or must be said again.
	if s := strings.Join(got, " "); !strings.HasSuffix(s, "auth select client client ping") {
		t.Errorf("sent %s", s)
	}
}

func TestCustomDialer(t *testing.T) {
	ctx := soon(t)
	_, s := start(t, nil)
	var dials atomic.Int64
	c := newClient(t, &redis.Options{Addr: "anything:1", Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		if network != "tcp" || addr != "anything:1" {
			t.Errorf("dials %s %s", network, addr)
		}
		if _, ok := ctx.Deadline(); !ok {
			t.Error("DialTimeout is not in the context")
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", s.Addr())
	}})
	if err := c.Ping(ctx).Err(); err != nil || dials.Load() != 1 {
		t.Errorf("%d dials, %v", dials.Load(), err)
	}
	own := errors.New("own")
	c = newClient(t, &redis.Options{DialerRetries: 3, DialerRetryBackoff: func(int) time.Duration { return time.Millisecond }, Dialer: func(context.Context, string, string) (net.Conn, error) {
		dials.Add(1)
		return nil, own
	}})
	dials.Store(0)
	if err := c.Ping(ctx).Err(); !errors.Is(err, own) || dials.Load() != 3 {
		t.Errorf("%d dials, %v, want 3", dials.Load(), err)
	}
	c = newClient(t, &redis.Options{DialTimeout: 50 * time.Millisecond, DialerRetries: 1, Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	begin := time.Now()
	err := c.Ping(ctx).Err()
	if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() || time.Since(begin) > 2*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

func TestOnConnect(t *testing.T) {
	ctx := soon(t)
	var calls atomic.Int64
	c, s := start(t, &redis.Options{OnConnect: func(ctx context.Context, cn *redis.Conn) error {
		calls.Add(1)
		if err := cn.Do(ctx, "select", 4).Err(); err != nil {
			return err
		}
		_, err := cn.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.Do(ctx, "client", "setname", "on-connect")
			p.Do(ctx, "incr", "connects")
			return nil
		})
		return err
	}})
	if v := do(t, c, "get", "connects"); v != "1" || calls.Load() != 1 {
		t.Errorf("connects is %s after %d calls", v, calls.Load())
	}
	_ = c.BLPop(ctx, 10*time.Millisecond, "none").Err()
	if v := do(t, c, "get", "connects"); v != "2" {
		t.Errorf("connects is %s after a blocking command", v)
	}
	for _, cl := range clients(t, admin(t, s.Addr())) {
		if cl["db"] != "4" || cl["name"] != "on-connect" {
			t.Errorf("a connection has database %s, name %q", cl["db"], cl["name"])
		}
	}
}

func TestOnConnectFails(t *testing.T) {
	ctx := soon(t)
	own := errors.New("own")
	var calls atomic.Int64
	var kept *redis.Conn
	c, s := start(t, &redis.Options{OnConnect: func(_ context.Context, cn *redis.Conn) error {
		calls.Add(1)
		kept = cn
		return own
	}})
	for name, err := range map[string]error{
		"command":  c.Ping(ctx).Err(),
		"blocking": c.BLPop(ctx, 0, "k").Err(),
		"watch":    c.Watch(ctx, func(*redis.Tx) error { return nil }, "k"),
		"conn":     c.Conn().Ping(ctx).Err(),
	} {
		if !errors.Is(err, own) || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if n := calls.Load(); n != 4 {
		t.Errorf("called %d times, want once for each", n)
	}
	if err := kept.Ping(ctx).Err(); err == nil {
		t.Error("the Conn can be used afterwards")
	}
	adm := admin(t, s.Addr())
	await(t, "the connections are closed", func() bool { return len(clients(t, adm)) == 0 })
}

// levels is a log handler that keeps what is above debug.
type levels struct {
	mu   sync.Mutex
	seen []string
}

func (l *levels) Enabled(context.Context, slog.Level) bool { return true }
func (l *levels) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *levels) WithGroup(string) slog.Handler            { return l }
func (l *levels) Handle(_ context.Context, r slog.Record) error {
	if r.Level > slog.LevelDebug {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen = append(l.seen, r.Message)
	}
	return nil
}

// A server that does not know the opt-in is asked once, and nobody hears of it.
func TestRefusedOptInIsQuiet(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			ctx := soon(t)
			s := realserver.Start(t, name)
			adm := admin(t, s.Addr())
			_ = adm.Ping(ctx).Err()
			before := info(t, adm, "total_error_replies")
			log := &levels{}
			c := newClient(t, &redis.Options{Addr: s.Addr(), Logger: slog.New(log), DisableIdentity: true})
			for range 3 {
				if err := c.Ping(ctx).Err(); err != nil {
					t.Fatal(err)
				}
				_ = c.BLPop(ctx, 10*time.Millisecond, "none").Err()
				cn := c.Conn()
				_ = cn.Ping(ctx).Err()
				_ = cn.Do(ctx, "select", 1).Err() // not used again
				_ = cn.Close()
				ps := c.Subscribe(ctx, "ch")
				_, _ = ps.Receive(ctx)
				_ = ps.Close()
				killOthers(t, adm)
			}
			if n := info(t, adm, "total_error_replies") - before; n != 1 {
				t.Errorf("the server has refused %d times, want 1", n)
			}
			if len(log.seen) > 0 {
				t.Errorf("logged: %q", log.seen)
			}
		})
	}
	t.Run("required", func(t *testing.T) {
		s := realserver.Start(t, realserver.Redis7)
		c := newClient(t, &redis.Options{Addr: s.Addr(), MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeEnabled}})
		err := c.Ping(soon(t)).Err()
		if err == nil || !strings.Contains(err.Error(), "MAINT_NOTIFICATIONS") || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("got %v", err)
		}
	})
}
