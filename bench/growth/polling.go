package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
)

// A distance is how far away the server seems to be.
type distance struct {
	name  string // stable
	relay bool   // through a relay, which by itself makes the way longer
	delay time.Duration
}

func distances() []distance {
	return []distance{
		{"direct", false, 0},
		{"relay", true, 0},
		{"relay + 0.5 ms", true, 500 * time.Microsecond},
		{"relay + 5 ms", true, 5 * time.Millisecond},
	}
}

// polling measures what a reader gains and costs that polls before it sleeps, for one
// caller at several distances from the server. The relays are processes of their own:
// their CPU time is not the client's.
func (l *lab) polling(ctx context.Context) error {
	if err := l.store(ctx, 1); err != nil {
		return err
	}
	for _, d := range distances() {
		l.progress.Step("polling against none, %s, %d pairs", d.name, l.pairs)
		row, err := l.pollingPairs(ctx, d)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		l.result.Polling = append(l.result.Polling, row)
	}
	return nil
}

func (l *lab) pollingPairs(ctx context.Context, d distance) (row gauge.Comparison, err error) {
	addr := l.addr
	if d.relay {
		relay, at, err := rig.SpawnRelay(ctx, l.addr, d.delay)
		if err != nil {
			return row, err
		}
		defer func() { _ = relay.Close() }() // what it has done is measured
		addr = at
	}
	with := func(opt redis.Options) (rig.Baton, func(context.Context) (gauge.Cost, error)) {
		opt.Addr = addr
		b := rig.NewBaton(&opt)
		return b, func(ctx context.Context) (gauge.Cost, error) { return l.runShort(ctx, getters(b, 1)) }
	}
	off, a := with(redis.Options{DisablePolling: true})
	on, b := with(redis.Options{})
	pairs, err := gauge.Pairs(ctx, l.pairs, a, b)
	if err = errors.Join(err, off.Close(), on.Close()); err != nil {
		return row, err
	}
	return gauge.Compare(d.name, 1, pairs), nil
}
