package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
)

// memoryRounds is how often each is held. The median counts: the stacks of goroutines
// that have ended are given back late.
const memoryRounds = 3

// memory measures what the process holds for things that just exist.
func (l *lab) memory(ctx context.Context) error {
	if err := l.store(ctx, 10_000/l.held); err != nil {
		return err
	}
	for _, q := range []struct {
		what string
		n    int
		hold func(ctx context.Context, n int) (gauge.Memory, error)
	}{
		{"client", 100, l.holdClients},
		{"idle link", 200, l.holdIdle},
		{"subscription", 100, l.holdSubscriptions},
		{"channel of a subscription", 10_000, l.holdChannels},
		{"waiting goroutine", 10_000, holdGoroutines},
		{"command in flight", 10_000, l.holdCommands},
		{"command in flight, in a pipeline", 10_000, l.holdPipeline},
	} {
		q.n /= l.held
		l.progress.Step("memory of %d: %s", q.n, q.what)
		var all []gauge.Memory
		for range memoryRounds {
			held, err := q.hold(ctx, q.n)
			if err != nil {
				return fmt.Errorf("%s: %w", q.what, err)
			}
			all = append(all, held)
		}
		l.result.Memory = append(l.result.Memory, memoryRow(q.what, q.n, all))
	}
	return nil
}

// holdClients holds clients with the one connection that each has.
func (l *lab) holdClients(ctx context.Context, n int) (gauge.Memory, error) {
	clients := make([]rig.Baton, n)
	before := gauge.Settled()
	for i := range clients {
		clients[i] = rig.NewBaton(&redis.Options{Addr: l.addr})
		defer clients[i].Close()
		if err := clients[i].Ping(ctx).Err(); err != nil {
			return gauge.Memory{}, err
		}
	}
	return gauge.Settled().Sub(before), nil
}

// holdIdle holds idle connections of one client's pool.
func (l *lab) holdIdle(ctx context.Context, n int) (held gauge.Memory, err error) {
	b := l.pooled(n)
	defer b.Close()
	if err := b.Ping(ctx).Err(); err != nil {
		return held, err
	}
	before := gauge.Settled()
	if err := useConns(ctx, b, n); err != nil {
		return held, err
	}
	if got := b.PoolStats().IdleConns; int(got) != n {
		return held, fmt.Errorf("got %d idle connections, want %d", got, n)
	}
	return gauge.Settled().Sub(before), nil
}

// useConns uses n connections at one time and gives them back.
func useConns(ctx context.Context, b rig.Baton, n int) error {
	var errs []error
	for range n {
		cn := b.Conn()
		defer cn.Close()
		errs = append(errs, cn.Ping(ctx).Err())
	}
	return errors.Join(errs...)
}

// holdSubscriptions holds subscriptions with a connection of their own each.
func (l *lab) holdSubscriptions(ctx context.Context, n int) (held gauge.Memory, err error) {
	b := rig.NewBaton(&redis.Options{Addr: l.addr})
	defer b.Close()
	if err := b.Ping(ctx).Err(); err != nil {
		return held, err
	}
	before := gauge.Settled()
	for i := range n {
		s := b.Subscribe(ctx, key(i))
		defer s.Close()
		if _, err := s.Receive(ctx); err != nil {
			return held, err
		}
	}
	return gauge.Settled().Sub(before), nil
}

// holdChannels holds channels of one subscription.
func (l *lab) holdChannels(ctx context.Context, n int) (held gauge.Memory, err error) {
	b := rig.NewBaton(&redis.Options{Addr: l.addr})
	defer b.Close()
	s := b.Subscribe(ctx, "first")
	defer s.Close()
	if _, err := s.Receive(ctx); err != nil {
		return held, err
	}
	names := make([]string, n)
	for i := range names {
		names[i] = key(i)
	}
	before := gauge.Settled()
	if err := s.Subscribe(ctx, names...); err != nil {
		return held, err
	}
	for range n {
		if _, err := s.Receive(ctx); err != nil {
			return held, err
		}
	}
	return gauge.Settled().Sub(before), nil
}

// holdGoroutines holds goroutines that wait for a channel, which is what a command in
// flight would cost if the client held nothing for it.
func holdGoroutines(_ context.Context, n int) (gauge.Memory, error) {
	before := gauge.Settled()
	var started, ended sync.WaitGroup
	wait := make(chan struct{})
	started.Add(n)
	for range n {
		ended.Go(func() {
			started.Done()
			<-wait
		})
	}
	started.Wait()
	held := gauge.Settled().Sub(before)
	close(wait)
	ended.Wait()
	return held, nil
}

// holdCommands holds commands of as many goroutines in flight: the server's replies
// are held back by a relay.
func (l *lab) holdCommands(ctx context.Context, n int) (gauge.Memory, error) {
	return l.inFlight(ctx, func(b rig.Baton) (func(), func() error) {
		var wg sync.WaitGroup
		ops := getters(b, n)
		errs := make([]error, n)
		send := func() {
			for i, op := range ops {
				wg.Go(func() { errs[i] = op() })
			}
		}
		return send, func() error {
			wg.Wait()
			return errors.Join(errs...)
		}
	})
}

// holdPipeline holds the commands of one pipeline in flight.
func (l *lab) holdPipeline(ctx context.Context, n int) (gauge.Memory, error) {
	return l.inFlight(ctx, func(b rig.Baton) (func(), func() error) {
		var wg sync.WaitGroup
		var cmds []redis.Cmder
		var err error
		send := func() {
			wg.Go(func() {
				p := b.Pipeline()
				for i := range n {
					p.Get(ctx, key(i))
				}
				cmds, err = p.Exec(ctx)
			})
		}
		return send, func() error {
			wg.Wait()
			for i, cmd := range cmds {
				if bad := rig.Want(key(i), cmd.(*redis.StringCmd).Val(), value(i, smallSize)); bad != nil && err == nil {
					err = bad
				}
			}
			return err
		}
	})
}

// inFlight measures what is held for requests in flight. prepare gives what sends them
// and what waits for their replies.
func (l *lab) inFlight(ctx context.Context, prepare func(b rig.Baton) (send func(), wait func() error)) (held gauge.Memory, err error) {
	relay, err := rig.NewRelay(l.addr, 0)
	if err != nil {
		return held, err
	}
	defer relay.Close()
	b := rig.NewBaton(&redis.Options{Addr: relay.Addr(), ReadTimeout: -1})
	defer b.Close()
	send, wait := prepare(b)
	// The first time opens every connection that is needed: a handshake could not be
	// told from a command. The second time shows how many bytes are to be waited for.
	var size int64
	for range 2 {
		before := relay.Sent()
		send()
		if err := wait(); err != nil {
			return held, err
		}
		size = relay.Sent() - before
	}
	base := gauge.Settled()
	relay.Hold()
	target := relay.Sent() + size
	send()
	soon, cancel := context.WithTimeoutCause(ctx, sendPatience, errNotSent)
	defer cancel()
	err = relay.AwaitSent(soon, target)
	held = gauge.Settled().Sub(base)
	relay.Release()
	return held, errors.Join(err, wait())
}

// sendPatience is how long it may take until all commands are on their way.
const sendPatience = 30 * time.Second

var errNotSent = fmt.Errorf("the commands have not reached the relay within %v", sendPatience)
