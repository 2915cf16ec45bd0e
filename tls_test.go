package redis_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintnotifications"
)

// names is a resolver of the names it holds.
type names map[string]string

func (n names) LookupHost(_ context.Context, host string) ([]string, error) {
	if ip, ok := n[host]; ok {
		return []string{ip}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func authority(t *testing.T) *realserver.Authority {
	t.Helper()
	a, err := realserver.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTLSOnEveryServer(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			s := realserver.StartConfig(t, name, realserver.Config{TLS: true, TLSClients: true})
			both(t, func(t *testing.T, proto int) {
				ctx := soon(t)
				c := newClient(t, &redis.Options{Addr: s.TLSAddr(), TLSConfig: s.TLSConfig(), Protocol: proto})
				if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
					t.Fatal(err)
				}
				ps := c.Subscribe(ctx, "ch")
				defer ps.Close()
				if _, err := ps.Receive(ctx); err != nil {
					t.Error(err)
				}
				if err := c.BLPop(ctx, 10_000_000, "none").Err(); !errors.Is(err, redis.Nil) {
					t.Error(err)
				}
			})
			t.Run("without a client certificate", func(t *testing.T) {
				config := s.TLSConfig()
				config.Certificates = nil
				c := newClient(t, &redis.Options{Addr: s.TLSAddr(), TLSConfig: config, DialerRetries: 1})
				err := c.Ping(soon(t)).Err()
				if err == nil || redis.DeliveryOf(err) != redis.NotSent {
					t.Errorf("got %v", err)
				}
			})
			t.Run("with another authority", func(t *testing.T) {
				config := s.TLSConfig()
				config.RootCAs = authority(t).Pool()
				c := newClient(t, &redis.Options{Addr: s.TLSAddr(), TLSConfig: config, DialerRetries: 1})
				err := c.Ping(soon(t)).Err()
				if _, ok := errors.AsType[*tls.CertificateVerificationError](err); !ok || redis.DeliveryOf(err) != redis.NotSent {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestTLSVerifiesTheConfiguredHost(t *testing.T) {
	s := realserver.StartConfig(t, realserver.Redis7, realserver.Config{TLS: true, TLSHosts: []string{"db.test"}})
	_, port, _ := net.SplitHostPort(s.TLSAddr())
	ctx := soon(t)

	resolver := names{"db.test": "127.0.0.1", "other.test": "127.0.0.1"}
	c := newClient(t, &redis.Options{Addr: "db.test:" + port, Resolver: resolver, TLSConfig: s.TLSConfig()})
	if err := c.Ping(ctx).Err(); err != nil {
		t.Errorf("a name: %v", err)
	}

	// Whatever address is dialled in its place, as in a handoff.
	dial := redis.NewDialer(&redis.Options{Addr: "db.test:" + port, Resolver: resolver, TLSConfig: s.TLSConfig()})
	for _, addr := range []string{"127.0.0.1:" + port, "other.test:" + port} {
		nc, err := dial(ctx, "tcp", addr)
		if err != nil {
			t.Errorf("%s in its place: %v", addr, err)
			continue
		}
		nc.Close()
	}

	c = newClient(t, &redis.Options{Addr: "other.test:" + port, Resolver: resolver, TLSConfig: s.TLSConfig(), DialerRetries: 1})
	if err := c.Ping(ctx).Err(); err == nil || !strings.Contains(err.Error(), "other.test") {
		t.Errorf("a name that is not in the certificate: got %v", err)
	}

	config := s.TLSConfig()
	config.ServerName = "db.test"
	c = newClient(t, &redis.Options{Addr: "127.0.0.1:" + port, TLSConfig: config})
	if err := c.Ping(ctx).Err(); err != nil {
		t.Errorf("ServerName: %v", err)
	}
}

// A proxy that serves many databases tells them apart by the name in the client's
// hello, whether the client verifies it or not.
func TestTLSTellsTheName(t *testing.T) {
	cert, err := authority(t).Certificate("whatever.test")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var asked []string
	addr := serve(t, func(nc net.Conn) {
		srv := tls.Server(nc, &tls.Config{
			Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12,
			GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, h.ServerName)
				return nil, nil //nolint:nilnil // that is: go on
			},
		})
		_ = srv.Handshake()
	})
	_, port, _ := net.SplitHostPort(addr)
	for _, config := range []*tls.Config{
		{MinVersion: tls.VersionTLS12},
		{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true},
	} {
		dial := redis.NewDialer(&redis.Options{
			Addr: "db.test:" + port, Resolver: names{"db.test": "127.0.0.1"}, TLSConfig: config,
		})
		if nc, err := dial(soon(t), "tcp", "db.test:"+port); err == nil {
			nc.Close()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(asked, " "); got != "db.test db.test" {
		t.Errorf("the names asked for are %q", got)
	}
}

func TestUnixSocket(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			s := realserver.StartConfig(t, name, realserver.Config{Unix: true})
			both(t, func(t *testing.T, proto int) {
				for _, mode := range []maintnotifications.Mode{maintnotifications.ModeAuto, maintnotifications.ModeDisabled} {
					ctx := soon(t)
					c := newClient(t, &redis.Options{
						Network: "unix", Addr: s.UnixSocket(), Protocol: proto, DB: 3,
						MaintNotificationsConfig: &maintnotifications.Config{Mode: mode},
					})
					me := fields(do(t, c, "client", "info"))
					if me["db"] != "3" || !strings.Contains(me["laddr"], "sock") && !strings.Contains(me["addr"], "sock") {
						t.Errorf("%s: %v", mode, me)
					}
					if err := c.BLPop(ctx, 10_000_000, "none").Err(); !errors.Is(err, redis.Nil) {
						t.Errorf("%s: %v", mode, err)
					}
				}
			})
		})
	}
	o, err := redis.ParseURL("unix:///nowhere/socket")
	if err != nil {
		t.Fatal(err)
	}
	o.DialerRetries = 1
	if err := newClient(t, o).Ping(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "/nowhere/socket") {
		t.Errorf("no socket: got %v", err)
	}
}

func TestResolver(t *testing.T) {
	s := newScript(t, func(*peer, []string) string { return "+PONG\r\n" })
	_, port, _ := net.SplitHostPort(s.addr)
	ctx := soon(t)
	if err := newClient(t, &redis.Options{Addr: "db.test:" + port, Resolver: names{"db.test": "127.0.0.1"}}).Ping(ctx).Err(); err != nil {
		t.Errorf("a name: %v", err)
	}
	// Nothing to look up.
	for _, addr := range []string{s.addr, ":" + port} {
		if err := newClient(t, &redis.Options{Addr: addr, Resolver: emptyResolver{}, DialerRetries: 1}).Ping(ctx).Err(); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	// The first address does not answer, the second one does.
	two := lookup(func(string) ([]string, error) { return []string{"127.0.0.99", "127.0.0.1"}, nil })
	if err := newClient(t, &redis.Options{Addr: "db.test:" + port, Resolver: two}).Ping(ctx).Err(); err != nil {
		t.Errorf("two addresses: %v", err)
	}
	none := lookup(func(string) ([]string, error) { return nil, nil })
	err := newClient(t, &redis.Options{Addr: "db.test:" + port, Resolver: none, DialerRetries: 1}).Ping(ctx).Err()
	if _, ok := errors.AsType[*net.DNSError](err); !ok {
		t.Errorf("no address: got %v", err)
	}
}

type lookup func(host string) ([]string, error)

func (f lookup) LookupHost(_ context.Context, host string) ([]string, error) { return f(host) }
