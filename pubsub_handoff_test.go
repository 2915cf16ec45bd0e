package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintsim"
)

// publisher publishes numbers, past the proxies, until it is stopped.
type publisher struct {
	stop chan struct{}
	wg   sync.WaitGroup
	sent []int // for each channel
}

func startPublisher(t *testing.T, c *redis.Client, payload func(i int) string, channels ...string) *publisher {
	t.Helper()
	p := &publisher{stop: make(chan struct{}), sent: make([]int, len(channels))}
	p.wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-p.stop:
				return
			default:
			}
			for k, ch := range channels {
				if err := c.Do(context.Background(), "publish", ch, payload(i)).Err(); err != nil {
					t.Errorf("publish: %v", err)
					return
				}
				p.sent[k]++
			}
		}
	})
	return p
}

// end stops publishing, and marks the end of each channel.
func (p *publisher) end(t *testing.T, c *redis.Client, channels ...string) {
	t.Helper()
	close(p.stop)
	p.wg.Wait()
	for _, ch := range channels {
		do(t, c, "publish", ch, "end")
	}
}

// collectUntilEnd receives until every stream has ended, and gives their payloads. A
// stream is a channel as one subscription sees it.
func collectUntilEnd(t *testing.T, ps *redis.PubSub, streams ...string) map[string][]string {
	t.Helper()
	got := map[string][]string{}
	ended := 0
	for ended < len(streams) {
		v, err := ps.Receive(soon(t))
		if err != nil {
			t.Errorf("Receive: %v", err)
			return got
		}
		m, ok := v.(*redis.Message)
		if !ok {
			t.Errorf("Receive: %s", event(v))
			continue
		}
		key := strings.TrimSpace(m.Pattern + " " + m.Channel)
		if m.Payload == "end" {
			ended++
			continue
		}
		got[key] = append(got[key], m.Payload)
	}
	for key := range got {
		if !contains(streams, key) {
			t.Errorf("messages of %q", key)
		}
	}
	return got
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}

func TestSubscriptionSurvivesHandoffs(t *testing.T) {
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	number := strconv.Itoa
	for _, c := range []struct {
		name      string
		payload   func(i int) string
		subscribe func(ctx context.Context, c *redis.Client) *redis.PubSub
		publish   []string
		streams   []string // what is to come, and the index in publish of each
		of        []int
		confirmed int
	}{
		{
			name: "one channel", payload: number, publish: []string{"a"}, streams: []string{"a"}, of: []int{0}, confirmed: 1,
			subscribe: func(ctx context.Context, c *redis.Client) *redis.PubSub { return c.Subscribe(ctx, "a") },
		},
		{
			name: "channels and patterns", payload: number, publish: []string{"a", "b", "px", "py"},
			streams: []string{"a", "b", "p* px", "p* py", "*x px"}, of: []int{0, 1, 2, 3, 2}, confirmed: 4,
			subscribe: func(ctx context.Context, c *redis.Client) *redis.PubSub {
				ps := c.Subscribe(ctx, "a", "b")
				_ = ps.PSubscribe(ctx, "p*", "*x")
				return ps
			},
		},
		{
			name: "every channel", payload: number, publish: []string{"a"}, streams: []string{"* a"}, of: []int{0}, confirmed: 1,
			subscribe: func(ctx context.Context, c *redis.Client) *redis.PubSub { return c.PSubscribe(ctx, "*") },
		},
		{
			name: "identical payloads", payload: func(int) string { return "same" }, publish: []string{"a"}, streams: []string{"a"},
			of: []int{0}, confirmed: 1,
			subscribe: func(ctx context.Context, c *redis.Client) *redis.PubSub { return c.Subscribe(ctx, "a") },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sim := maintsim.Start(t, maintsim.Config{
				Backend: maintsim.Program(realserver.Require(t, realserver.Redis7)), Proxies: rounds + 2, Grace: 20 * time.Second,
			})
			client := newClient(t, &redis.Options{Addr: sim.Addr(), Logger: testLogger(t)})
			direct := newClient(t, &redis.Options{Addr: sim.Backend().Addr()})
			ps := c.subscribe(soon(t), client)
			defer ps.Close()
			for range c.confirmed {
				_ = receive(t, ps)
			}
			var got map[string][]string
			var wg sync.WaitGroup
			wg.Go(func() { got = collectUntilEnd(t, ps, c.streams...) })
			pub := startPublisher(t, direct, c.payload, c.publish...)
			for range rounds {
				if err := sim.Rebind(t.Context(), maintsim.WithEarlyLeave()); err != nil {
					t.Fatal(err)
				}
			}
			pub.end(t, direct, c.publish...)
			wg.Wait()
			for k, stream := range c.streams {
				n := pub.sent[c.of[k]]
				if len(got[stream]) != n {
					t.Errorf("%s: received %d of %d", stream, len(got[stream]), n)
				}
				for i, payload := range got[stream] {
					if payload != c.payload(i) {
						t.Errorf("%s: message %d is %q", stream, i, payload)
						break
					}
				}
				t.Logf("%s: %d messages, %d rebinds", stream, n, rounds)
			}
		})
	}
}

func TestCloseDuringAHandoff(t *testing.T) {
	ctx := soon(t)
	sim := maintsim.Start(t, maintsim.Config{Grace: 2 * time.Second, TimeUnit: 50 * time.Millisecond})
	for i := range 10 {
		c := redis.NewClient(&redis.Options{Addr: sim.Addr()})
		ps := c.Subscribe(ctx, "a")
		_ = receive(t, ps)
		ch := ps.Channel()
		var wg sync.WaitGroup
		wg.Go(func() { _ = sim.Rebind(ctx) })
		await(t, "the handoff has begun", func() bool { return sim.Stats().Notices[maintsim.Moving] > uint64(i) })
		if i%2 == 0 {
			if err := ps.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for range ch {
		}
		wg.Wait()
	}
}

// A subscription that is changed during handoffs ends up with what was wanted last.
func TestSubscribeDuringHandoffs(t *testing.T) {
	t.Parallel()
	ctx := soon(t)
	sim := maintsim.Start(t, maintsim.Config{
		Backend: maintsim.Program(realserver.Require(t, realserver.Redis7)), Proxies: 12, Grace: 20 * time.Second,
	})
	c := newClient(t, &redis.Options{Addr: sim.Addr()})
	direct := newClient(t, &redis.Options{Addr: sim.Backend().Addr()})
	ps := c.Subscribe(ctx, "first")
	defer ps.Close()
	ch := ps.ChannelWithSubscriptions(redis.WithChannelSize(1000))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var last string
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := fmt.Sprint("ch", i)
			if err := errors.Join(ps.Subscribe(ctx, next), ps.Unsubscribe(ctx, last)); err != nil {
				t.Error(err)
				return
			}
			last = next
			// Not faster than a program would.
			if err := direct.Do(ctx, "blpop", "none", "0.005").Err(); !errors.Is(err, redis.Nil) {
				t.Error(err)
			}
		}
	})
	seen := make(chan string, 1)
	wg.Go(func() {
		for v := range ch {
			switch v := v.(type) {
			case *redis.Message:
				if strings.HasPrefix(v.Channel, "ch") {
					seen <- v.Channel
					return
				}
			case *redis.Subscription:
				if strings.Contains(v.Channel, "baton") {
					t.Errorf("the consumer sees %s", event(v))
				}
			}
		}
	})
	for range 10 {
		if err := sim.Rebind(ctx, maintsim.WithEarlyLeave()); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	await(t, "subscribed", func() bool { return do(t, direct, "pubsub", "channels", "ch*") == "["+last+"]" })
	do(t, direct, "publish", last, "x")
	if got := <-seen; got != last {
		t.Errorf("got a message of %s, want %s", got, last)
	}
	wg.Wait()
	if got := do(t, direct, "pubsub", "channels", "*"); strings.Contains(got, "baton") {
		t.Errorf("left behind: %s", got)
	}
}

// A user who may use few channels has handoffs too, and hears nothing of them.
func TestHandoffOfARestrictedUser(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]string{
		"few channels": "bob on >b ~* resetchannels &a +@all", "no publishing": "bob on >b ~* &* +@all -publish",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := soon(t)
			s := realserver.StartConfig(t, realserver.Redis7, realserver.Config{Users: []string{rule}})
			sim := maintsim.Start(t, maintsim.Config{Backend: maintsim.Address(s.Addr()), Grace: 20 * time.Second})
			direct := newClient(t, &redis.Options{Addr: s.Addr()})
			c := newClient(t, &redis.Options{Addr: sim.Addr(), Username: "bob", Password: "b", Logger: testLogger(t)})
			ps := c.Subscribe(ctx, "a")
			defer ps.Close()
			_ = receive(t, ps)
			var got map[string][]string
			var wg sync.WaitGroup
			wg.Go(func() { got = collectUntilEnd(t, ps, "a") })
			pub := startPublisher(t, direct, strconv.Itoa, "a")
			if err := sim.Rebind(ctx, maintsim.WithEarlyLeave()); err != nil {
				t.Fatal(err)
			}
			pub.end(t, direct, "a")
			wg.Wait()
			if n := len(got["a"]); n != pub.sent[0] {
				t.Errorf("received %d of %d", n, pub.sent[0])
			}
			for i, m := range got["a"] {
				if m != strconv.Itoa(i) {
					t.Errorf("message %d is %s", i, m)
					break
				}
			}
		})
	}
}

// TestGapsAreTold: a cut that nobody announced is told to who wants to know, between the
// messages before it and those after; a handoff is not.
func TestGapsAreTold(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Grace: time.Second, TimeUnit: 300 * time.Millisecond})
	c := newClient(t, &redis.Options{Addr: sim.Addr()})
	ctx := soon(t)
	sub := c.Subscribe(ctx, "news")
	defer sub.Close()
	events := sub.ChannelWithSubscriptions(redis.WithChannelGaps())
	next := func(what string, is func(any) bool) {
		t.Helper()
		for {
			select {
			case v := <-events:
				if is(v) {
					return
				}
				if g, ok := v.(*redis.Gap); ok {
					t.Fatalf("waiting for %s: %v", what, g)
				}
			case <-ctx.Done():
				t.Fatalf("waited in vain for %s", what)
			}
		}
	}
	isBegun := func(v any) bool { _, ok := v.(*redis.Subscription); return ok }
	isMessage := func(v any) bool { _, ok := v.(*redis.Message); return ok }
	next("the subscription", isBegun)
	if err := sim.Rebind(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Publish(ctx, "news", "after a handoff").Err(); err != nil {
		t.Fatal(err)
	}
	next("a message after a handoff", isMessage)
	if err := sim.Cut(ctx); err != nil {
		t.Fatal(err)
	}
	next("a gap", func(v any) bool {
		g, ok := v.(*redis.Gap)
		return ok && strings.Contains(g.Err.Error(), "subscription lost") && time.Since(g.At) < 10*time.Second
	})
	next("the next subscription", isBegun)
	if err := c.Publish(ctx, "news", "after a cut").Err(); err != nil {
		t.Fatal(err)
	}
	next("a message after a cut", isMessage)
}
