package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
)

// receive gives the next event as text.
func receive(t *testing.T, ps *redis.PubSub) string {
	t.Helper()
	v, err := ps.Receive(soon(t))
	if err != nil {
		t.Fatalf("Receive: %v", err)
	}
	return event(v)
}

func event(v any) string {
	switch v := v.(type) {
	case *redis.Subscription:
		return fmt.Sprintf("%s %s %d", v.Kind, v.Channel, v.Count)
	case *redis.Message:
		return strings.TrimSpace(fmt.Sprintf("%s=%s %s", v.Channel, v.Payload, v.Pattern))
	case *redis.Pong:
		return v.String()
	}
	return fmt.Sprintf("%T", v)
}

func wantEvents(t *testing.T, ps *redis.PubSub, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := receive(t, ps); got != w {
			t.Fatalf("got %q, want %q", got, w)
		}
	}
}

func TestPubSubOnEveryServer(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			s := realserver.Start(t, name)
			both(t, func(t *testing.T, proto int) {
				ctx := soon(t)
				c := newClient(t, &redis.Options{Addr: s.Addr(), Protocol: proto})
				ps := c.Subscribe(ctx, "b", "a")
				defer ps.Close()
				wantEvents(t, ps, "subscribe a 1", "subscribe b 2")
				_ = ps.PSubscribe(ctx, "p*")
				wantEvents(t, ps, "psubscribe p* 3")
				if got := ps.String(); got != "PubSub(a, b, p*)" {
					t.Errorf("String: %s", got)
				}
				for _, p := range []string{"a 1", "px 2", "b 3", "other 4"} {
					ch, msg, _ := strings.Cut(p, " ")
					do(t, c, "publish", ch, msg)
				}
				wantEvents(t, ps, "a=1", "px=2 p*", "b=3")
				_ = ps.Ping(ctx)
				wantEvents(t, ps, "Pong")
				_ = ps.Ping(ctx, "OK")
				wantEvents(t, ps, "Pong<OK>")
				_ = ps.Ping(ctx, "PONG")
				wantEvents(t, ps, "Pong<PONG>")
				_ = ps.Unsubscribe(ctx, "a")
				wantEvents(t, ps, "unsubscribe a 2")
				_ = ps.PUnsubscribe(ctx)
				wantEvents(t, ps, "punsubscribe p* 1")
				_ = ps.Unsubscribe(ctx)
				wantEvents(t, ps, "unsubscribe b 0")
				if !strings.HasPrefix(name, "valkey") { // which refuses it in RESP2
					_ = ps.Unsubscribe(ctx)
					wantEvents(t, ps, "unsubscribe  0")
				}
				_ = ps.Subscribe(ctx, "again")
				wantEvents(t, ps, "subscribe again 1")

				shard := c.SSubscribe(ctx, "s1", "s2")
				defer shard.Close()
				do(t, c, "spublish", "s2", "x")
				events := []string{receive(t, shard), receive(t, shard), receive(t, shard)}
				slices.Sort(events)
				if want := []string{"s2=x", "ssubscribe s1 1", "ssubscribe s2 2"}; !slices.Equal(events, want) {
					t.Errorf("got %q, want %q", events, want)
				}
				_ = shard.SUnsubscribe(ctx, "s1")
				wantEvents(t, shard, "sunsubscribe s1 1")
				pattern := c.PSubscribe(ctx, "x?", "y[12]")
				defer pattern.Close()
				wantEvents(t, pattern, "psubscribe x? 1", "psubscribe y[12] 2")
			})
		})
	}
}

func TestPubSubBinaryNamesAndPayloads(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, _ := start(t, &redis.Options{Protocol: proto})
		name, payload := "ch\r\n\x00\xff", strings.Repeat("x\r\n", 50_000)
		ps := c.Subscribe(ctx, name)
		defer ps.Close()
		_ = receive(t, ps)
		do(t, c, "publish", name, payload)
		do(t, c, "publish", name, "")
		for _, want := range []string{payload, ""} {
			m, err := ps.ReceiveMessage(ctx)
			if err != nil || m.Channel != name || m.Payload != want {
				t.Fatalf("got %v, %v", m, err)
			}
		}
	})
}

func TestReceiveTimeouts(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, _ := start(t, &redis.Options{Protocol: proto, ReadTimeout: 50 * time.Millisecond})
		ps := c.Subscribe(ctx, "ch")
		defer ps.Close()
		_ = receive(t, ps)
		begin := time.Now()
		_, err := ps.ReceiveTimeout(ctx, 150*time.Millisecond)
		if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() {
			t.Errorf("got %v", err)
		}
		if d := time.Since(begin); d < 150*time.Millisecond || d > 2*time.Second {
			t.Errorf("after %v", d)
		}
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		if _, err := ps.Receive(short); !errors.Is(err, context.DeadlineExceeded) || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("Receive: got %v", err)
		}
		if _, err := ps.ReceiveMessage(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ReceiveMessage: got %v", err)
		}
		// All of that did nothing to the subscription.
		do(t, c, "publish", "ch", "x")
		if m, err := ps.ReceiveTimeout(ctx, 0); err != nil || event(m) != "ch=x" {
			t.Errorf("got %v, %v", m, err)
		}
	})
}

func TestPubSubClose(t *testing.T) {
	ctx := soon(t)
	c, s := start(t, nil)
	adm := admin(t, s.Addr())
	ps := c.Subscribe(ctx, "ch")
	_ = receive(t, ps)
	waiting := make(chan error)
	go func() {
		_, err := ps.Receive(ctx)
		waiting <- err
	}()
	if err := ps.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waiting; !errors.Is(err, redis.ErrClosed) || redis.DeliveryOf(err) != redis.NotSent {
		t.Errorf("who waits gets %v", err)
	}
	if err := ps.Close(); !errors.Is(err, redis.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	for name, err := range map[string]error{
		"Receive":        second(ps.Receive(ctx)),
		"ReceiveTimeout": second(ps.ReceiveTimeout(ctx, time.Second)),
		"Subscribe":      ps.Subscribe(ctx, "x"),
		"Unsubscribe":    ps.Unsubscribe(ctx, "x"),
		"Ping":           ps.Ping(ctx),
	} {
		if !errors.Is(err, redis.ErrClosed) || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, ok := <-ps.Channel(); ok {
		t.Error("Channel after Close is open")
	}
	await(t, "the connection is closed", func() bool { return len(clients(t, adm)) == 0 })
}

func TestChannel(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, s := start(t, &redis.Options{Protocol: proto})
		ps := c.Subscribe(ctx, "ch")
		ch := ps.Channel()
		if ps.Channel() != ch {
			t.Error("there are two channels")
		}
		adm := admin(t, s.Addr())
		await(t, "subscribed", func() bool { return do(t, adm, "pubsub", "numsub", "ch") == "[ch 1]" })
		for i := range 500 {
			do(t, c, "publish", "ch", i)
		}
		for i := range 500 {
			if m := <-ch; m == nil || m.Payload != strconv.Itoa(i) {
				t.Fatalf("message %d is %v", i, m)
			}
		}
		if err := ps.Close(); err != nil {
			t.Error(err)
		}
		if m, ok := <-ch; ok {
			t.Errorf("the channel is open: %v", m)
		}
	})
}

func TestChannelWithSubscriptions(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	ps := c.Subscribe(ctx, "a")
	defer ps.Close()
	ch := ps.ChannelWithSubscriptions(redis.WithChannelSize(1), redis.WithChannelHealthCheckInterval(time.Millisecond))
	if got := event(<-ch); got != "subscribe a 1" {
		t.Errorf("got %s", got)
	}
	do(t, c, "publish", "a", "1")
	if got := event(<-ch); got != "a=1" {
		t.Errorf("got %s", got)
	}
	_ = ps.Unsubscribe(ctx, "a")
	if got := event(<-ch); got != "unsubscribe a 0" {
		t.Errorf("got %s", got)
	}
	for name, f := range map[string]func(){"Channel": func() { ps.Channel() }, "ChannelSize": func() { ps.ChannelSize(3) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s beside it does not panic", name)
				}
			}()
			f()
		}()
	}
	two := c.Subscribe(ctx, "b")
	defer two.Close()
	if n := cap(two.ChannelSize(7)); n != 7 {
		t.Errorf("capacity %d", n)
	}
}

// A consumer that is slow loses nothing: the connection is not read meanwhile, and
// the server keeps what it has.
func TestSlowConsumer(t *testing.T) {
	const n = 20_000
	ctx := soon(t)
	c, s := start(t, nil)
	do(t, c, "config", "set", "client-output-buffer-limit", "pubsub 0 0 0")
	ps := c.Subscribe(ctx, "ch")
	defer ps.Close()
	_ = receive(t, ps)
	payload := strings.Repeat("x", 600)
	for range n / 1000 {
		if _, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for range 1000 {
				p.Do(ctx, "publish", "ch", payload)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	// The socket's buffers are full, so the server holds the rest.
	adm := admin(t, s.Addr())
	await(t, "reading has stopped", func() bool {
		return slices.ContainsFunc(clients(t, adm), func(c map[string]string) bool {
			held, _ := strconv.Atoi(c["omem"])
			return c["sub"] == "1" && held > 100_000
		})
	})
	for i := range n {
		if m, err := ps.ReceiveMessage(ctx); err != nil || m.Payload != payload {
			t.Fatalf("message %d: %v, %v", i, m, err)
		}
	}
	do(t, c, "publish", "ch", "last")
	wantEvents(t, ps, "ch=last")
}

func TestSlowConsumerCanBeClosed(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	ps := c.Subscribe(ctx, "ch")
	_ = receive(t, ps)
	ch := ps.ChannelSize(1)
	if _, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for range 20_000 {
			p.Do(ctx, "publish", "ch", "x")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	<-ch
	if err := c.Close(); err != nil { // closes the subscription too
		t.Fatal(err)
	}
	for range ch {
	}
}

func TestPubSubReconnects(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, s := start(t, &redis.Options{Protocol: proto})
		adm := admin(t, s.Addr())
		ps := c.Subscribe(ctx, "a", "b")
		defer ps.Close()
		_ = ps.PSubscribe(ctx, "p*")
		_ = ps.SSubscribe(ctx, "s")
		for range 4 {
			_ = receive(t, ps)
		}
		_ = ps.Unsubscribe(ctx, "b")
		_ = receive(t, ps)
		for range 5 {
			killOthers(t, adm)
			_, err := ps.Receive(ctx)
			if _, ok := errors.AsType[*redis.CommandError](err); !ok {
				t.Fatalf("got %v, want a *CommandError", err)
			}
			// Only once; then it is there again, with everything.
			var got []string
			for range 3 {
				got = append(got, receive(t, ps))
			}
			if want := "subscribe a 1, psubscribe p* 2, ssubscribe s 1"; strings.Join(got, ", ") != want {
				t.Errorf("got %q, want %s", got, want)
			}
			do(t, adm, "publish", "a", "1")
			do(t, adm, "publish", "b", "2")
			do(t, adm, "publish", "px", "3")
			do(t, adm, "spublish", "s", "4")
			wantEvents(t, ps, "a=1", "px=3 p*", "s=4")
		}
	})
}

func TestChannelReconnects(t *testing.T) {
	ctx := soon(t)
	c, s := start(t, nil)
	adm := admin(t, s.Addr())
	ps := c.Subscribe(ctx, "ch")
	defer ps.Close()
	ch := ps.Channel()
	for range 5 {
		await(t, "subscribed", func() bool { return do(t, adm, "pubsub", "numsub", "ch") == "[ch 1]" })
		do(t, adm, "publish", "ch", "x")
		if m := <-ch; m.Payload != "x" {
			t.Errorf("got %v", m)
		}
		killOthers(t, adm)
	}
}

// A server that keeps silent for too long is given up, also by a subscription.
func TestChannelHealthCheck(t *testing.T) {
	var mu sync.Mutex
	var conns int
	s := newScript(t, func(p *peer, args []string) string {
		mu.Lock()
		defer mu.Unlock()
		conns = max(conns, p.n)
		if args[0] == "subscribe" {
			out := ">3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n"
			if p.n > 1 {
				out += ">3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$1\r\nx\r\n"
			}
			return out
		}
		return silence // no Pong
	})
	c := newClient(t, &redis.Options{Addr: s.addr})
	ps := c.Subscribe(soon(t), "ch")
	defer ps.Close()
	ch := ps.Channel(redis.WithChannelHealthCheckInterval(50*time.Millisecond), redis.WithChannelPingTimeout(50*time.Millisecond))
	select {
	case m := <-ch:
		if m.Payload != "x" {
			t.Errorf("got %v", m)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the silent server was not given up")
	}
}

func TestSubscribeWithoutAPermission(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		s := realserver.StartConfig(t, realserver.Redis7, realserver.Config{Users: []string{"bob on >b ~* resetchannels &open* +@all"}})
		ctx := soon(t)
		c := newClient(t, &redis.Options{Addr: s.Addr(), Username: "bob", Password: "b", Protocol: proto})
		ps := c.Subscribe(ctx, "forbidden")
		defer ps.Close()
		if _, err := ps.Receive(ctx); !redis.IsPermissionError(err) {
			t.Errorf("got %v", err)
		}
		_ = ps.Unsubscribe(ctx, "forbidden")
		_ = receive(t, ps)
		_ = ps.Subscribe(ctx, "open1")
		wantEvents(t, ps, "subscribe open1 1")
		do(t, c, "publish", "open1", "x")
		wantEvents(t, ps, "open1=x")
	})
}

func TestSubscribeToNobody(t *testing.T) {
	ctx := soon(t)
	c := newClient(t, &redis.Options{Addr: "127.0.0.1:1", DialerRetries: 1})
	ps := c.Subscribe(ctx, "ch")
	defer ps.Close()
	for range 2 {
		if _, err := ps.Receive(ctx); redis.DeliveryOf(err) != redis.NotSent || !strings.Contains(err.Error(), "127.0.0.1:1") {
			t.Errorf("got %v", err)
		}
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	<-short.Done()
	if err := ps.Subscribe(short, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestPubSubUsedByMany(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	ps := c.Subscribe(ctx)
	defer ps.Close()
	ch := ps.Channel()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 20 {
				name := fmt.Sprint(w, "-", i)
				if err := errors.Join(ps.Subscribe(ctx, name), ps.Ping(ctx), ps.Unsubscribe(ctx, name)); err != nil {
					t.Error(err)
				}
				_ = ps.String()
			}
		})
	}
	wg.Wait()
	if err := ps.Subscribe(ctx, "end"); err != nil {
		t.Error(err)
	}
	await(t, "subscribed", func() bool { return do(t, c, "publish", "end", "x") != "0" })
	if m := <-ch; m.Payload != "x" {
		t.Errorf("got %v", m)
	}
}
