package redis_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
)

// serve listens on loopback and gives each connection to handle, until the test
// ends.
func serve(t *testing.T, handle func(nc net.Conn)) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	wg.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, nc)
			mu.Unlock()
			wg.Go(func() { defer nc.Close(); handle(nc) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for _, nc := range conns {
			nc.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return ln.Addr().String()
}

// answer reads a bit and answers with bytes, once, then keeps silent.
func answer(reply string) func(net.Conn) {
	return func(nc net.Conn) {
		buf := make([]byte, 4096)
		if _, err := nc.Read(buf); err != nil {
			return
		}
		_, _ = io.WriteString(nc, reply)
		_, _ = io.Copy(io.Discard, nc)
	}
}

// afterHandshake answers the handshake of a default client as a server that speaks
// RESP2 only, and every later command with reply.
func afterHandshake(reply string) func(net.Conn) {
	return func(nc net.Conn) {
		buf := make([]byte, 4096)
		for {
			n, err := nc.Read(buf)
			if err != nil {
				return
			}
			in := strings.ToLower(string(buf[:n]))
			if strings.Contains(in, "\r\nget\r\n") {
				_, _ = io.WriteString(nc, reply)
				continue
			}
			for range strings.Count(in, "*") {
				_, _ = io.WriteString(nc, "-ERR unknown command\r\n")
			}
		}
	}
}

// wantFailure says what a command's failure must be like.
type wantFailure struct {
	within   time.Duration
	delivery redis.Delivery
	text     []string // in the error, each
	is       error
}

func (w wantFailure) check(t *testing.T, c *redis.Client) {
	t.Helper()
	start := time.Now()
	err := c.Get(context.Background(), "key").Err()
	took := time.Since(start)
	if err == nil {
		t.Fatal("no error")
	}
	t.Logf("after %v: %v", took.Round(time.Millisecond), err)
	if took > w.within {
		t.Errorf("took %v, want at most %v", took, w.within)
	}
	ce, ok := errors.AsType[*redis.CommandError](err)
	if !ok {
		t.Fatalf("error is a %T, want a *CommandError", err)
	}
	if ce.Delivery != w.delivery {
		t.Errorf("delivery is %v, want %v", ce.Delivery, w.delivery)
	}
	if ce.Command != "get" || ce.Endpoint == "" {
		t.Errorf("error names command %q at endpoint %q", ce.Command, ce.Endpoint)
	}
	for _, s := range w.text {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error does not say %q", s)
		}
	}
	if w.is != nil && !errors.Is(err, w.is) {
		t.Errorf("error is not %v", w.is)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Error("error shows the password")
	}
}

func newClient(t *testing.T, opt *redis.Options) *redis.Client {
	t.Helper()
	c := redis.NewClient(opt)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestBadAddress(t *testing.T) {
	for _, addr := range []string{"no-port", "[::1", "a:b:c"} {
		c := newClient(t, &redis.Options{Addr: addr})
		err := c.Get(t.Context(), "key").Err()
		if err == nil || !strings.Contains(err.Error(), addr) || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("%s: got %v", addr, err)
		}
	}
}

// emptyResolver knows no host.
type emptyResolver struct{}

func (emptyResolver) LookupHost(_ context.Context, host string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func TestUnknownHost(t *testing.T) {
	c := newClient(t, &redis.Options{Addr: "no-such-host.invalid:6379", Resolver: emptyResolver{}, DialerRetries: 1})
	wantFailure{within: 2 * time.Second, text: []string{"no-such-host.invalid"}}.check(t, c)
}

func TestRefusedConnection(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	c := newClient(t, &redis.Options{Addr: addr})
	wantFailure{within: 3 * time.Second, text: []string{"connection refused", addr}}.check(t, c)
}

func TestWrongPassword(t *testing.T) {
	s := realserver.Start(t, "redis-7.0", "--requirepass", "right")
	for _, proto := range []int{2, 3} {
		c := newClient(t, &redis.Options{Addr: s.Addr(), Password: "secret", Protocol: proto})
		wantFailure{within: 3 * time.Second, text: []string{"WRONGPASS"}}.check(t, c)
	}
	c := newClient(t, &redis.Options{Addr: s.Addr()})
	if err := c.Get(t.Context(), "key").Err(); !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("without a password: got %v", err)
	}
	c = newClient(t, &redis.Options{Addr: s.Addr(), Password: "right"})
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("with the password: got %v", err)
	}
}

func TestDatabaseThatDoesNotExist(t *testing.T) {
	s := realserver.Start(t, "redis-7.0")
	c := newClient(t, &redis.Options{Addr: s.Addr(), DB: 99})
	wantFailure{within: 3 * time.Second, text: []string{"SELECT", "DB index is out of range"}}.check(t, c)
}

func TestNotARedisServer(t *testing.T) {
	addr := serve(t, answer("HTTP/1.1 400 Bad Request\r\n\r\n"))
	c := newClient(t, &redis.Options{Addr: addr})
	wantFailure{within: 3 * time.Second, text: []string{"is it a Redis server"}}.check(t, c)
}

func TestTLSAgainstPlainPort(t *testing.T) {
	s := realserver.Start(t, "redis-7.0")
	c := newClient(t, &redis.Options{Addr: s.Addr(), TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12}, DialTimeout: time.Second, DialerRetries: 2})
	wantFailure{within: 3 * time.Second, text: []string{"TLS"}}.check(t, c)
}

func TestRESPGarbage(t *testing.T) {
	addr := serve(t, afterHandshake("$abc\r\nxyz\r\n"))
	c := newClient(t, &redis.Options{Addr: addr, MaxRetries: -1})
	wantFailure{within: 3 * time.Second, delivery: redis.MaybeSent, text: []string{"can't be understood"}}.check(t, c)
}

func TestHugeReplyIsRefused(t *testing.T) {
	addr := serve(t, afterHandshake("$629145600\r\nxyz"))
	c := newClient(t, &redis.Options{Addr: addr, MaxRetries: -1})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wantFailure{within: 3 * time.Second, delivery: redis.MaybeSent, text: []string{"629145600"}}.check(t, c)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

func TestServerThatNeverAnswers(t *testing.T) {
	addr := serve(t, func(nc net.Conn) { _, _ = io.Copy(io.Discard, nc) })
	c := newClient(t, &redis.Options{Addr: addr, ReadTimeout: 200 * time.Millisecond, DialerRetries: 2})
	wantFailure{within: 2 * time.Second, text: []string{"timeout"}}.check(t, c)

	t.Run("after the handshake", func(t *testing.T) {
		addr := serve(t, afterHandshake(""))
		c := newClient(t, &redis.Options{Addr: addr, ReadTimeout: 200 * time.Millisecond, MaxRetries: -1})
		start := time.Now()
		wantFailure{within: 3 * time.Second, delivery: redis.MaybeSent, text: []string{"timeout"}}.check(t, c)
		if took := time.Since(start); took < 200*time.Millisecond {
			t.Errorf("gave up after %v already", took)
		}
	})

	t.Run("the caller's context counts", func(t *testing.T) {
		addr := serve(t, afterHandshake(""))
		c := newClient(t, &redis.Options{Addr: addr})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := c.Get(ctx, "key").Err()
		if took := time.Since(start); took > 500*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestServerThatClosesAtOnce(t *testing.T) {
	addr := serve(t, func(net.Conn) {})
	c := newClient(t, &redis.Options{Addr: addr, DialerRetries: 2})
	wantFailure{within: 3 * time.Second}.check(t, c)
}

func TestPanicFreeWithoutOptionsThatMakeSense(t *testing.T) {
	c := newClient(t, &redis.Options{Protocol: 7, PoolSize: -3, DB: -1, Network: "carrier-pigeon"})
	err := c.Ping(t.Context()).Err()
	for _, s := range []string{"Protocol 7", "PoolSize -3", "DB -1", "carrier-pigeon"} {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("error does not tell of %s: %v", s, err)
		}
	}
	if _, err := c.Pipelined(t.Context(), func(p redis.Pipeliner) error { p.Do(t.Context(), "ping"); return nil }); err == nil {
		t.Error("a pipeline is no error")
	}
	if err := c.Subscribe(t.Context(), "ch").Ping(t.Context()); err == nil {
		t.Error("a subscription is no error")
	}
	if err := c.Watch(t.Context(), func(*redis.Tx) error { return nil }, "key"); err == nil {
		t.Error("a transaction is no error")
	}
}
