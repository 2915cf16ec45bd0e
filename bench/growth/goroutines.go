package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
)

// goroutines measures what a command costs with more and more callers on the shared
// lane.
func (l *lab) goroutines(ctx context.Context) error {
	if err := l.store(ctx, slices.Max(l.callers)); err != nil {
		return err
	}
	onOne := func(ops func(b rig.Baton, n int) []gauge.Op) func(context.Context, int) (gauge.Cost, error) {
		return func(ctx context.Context, n int) (gauge.Cost, error) {
			b := rig.NewBaton(&redis.Options{Addr: l.addr})
			defer b.Close()
			return l.run(ctx, ops(b, n))
		}
	}
	rows, err := l.grow(ctx, "goroutines",
		series{"get", l.callers, onOne(func(b rig.Baton, n int) []gauge.Op { return getters(b, n) })},
		series{"set", l.callers, onOne(setters)},
		series{"get bytes", l.callers, onOne(byteGetters)},
		series{"set bytes", l.callers, onOne(byteSetters)},
	)
	l.result.Goroutines = rows
	return err
}

// setters are n operations, each of which sets a small value of its own. What it
// costs to make it an any is the caller's, so that is done before.
func setters(b rig.Baton, n int) []gauge.Op {
	ops := make([]gauge.Op, n)
	for i := range ops {
		k := key(i)
		var v any = value(i, smallSize)
		ops[i] = func() error {
			if got, err := b.Client.Set(context.Background(), k, v, 0).Result(); err != nil || got != "OK" {
				return fmt.Errorf("set %s: got %q, %w", k, got, orWrong(err))
			}
			return nil
		}
	}
	return ops
}

// byteGetters are getters that read into buffers of their own.
func byteGetters(b rig.Baton, n int) []gauge.Op {
	ops := make([]gauge.Op, n)
	for i := range ops {
		k, want := key(i), []byte(value(i, smallSize))
		buf := make([]byte, 0, 2*smallSize)
		ops[i] = func() error {
			got, err := b.GetBytes(context.Background(), buf, k)
			if err != nil || !bytes.Equal(got, want) {
				return fmt.Errorf("get bytes of %s: got %q, %w", k, got, orWrong(err))
			}
			return nil
		}
	}
	return ops
}

// byteSetters are setters that give bytes.
func byteSetters(b rig.Baton, n int) []gauge.Op {
	ops := make([]gauge.Op, n)
	for i := range ops {
		k, v := key(i), []byte(value(i, smallSize))
		ops[i] = func() error {
			if err := b.SetBytes(context.Background(), k, v, 0); err != nil {
				return fmt.Errorf("set bytes of %s: %w", k, err)
			}
			return nil
		}
	}
	return ops
}

// orWrong is why a reply was not the one wanted.
func orWrong(err error) error {
	if err == nil {
		return rig.ErrWrongValue
	}
	return err
}
