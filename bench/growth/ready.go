package main

import (
	"context"
	"fmt"
	"net"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
	"github.com/baton-go/redis/maintnotifications"
)

// A readiness is compared with maintenance notifications disabled.
type readiness struct {
	name string // stable
	mode maintnotifications.Mode
	// dial makes the server seem to agree to send notifications; nil: it refuses.
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

func readinesses() []readiness {
	return []readiness{
		{"enabled, agreed", maintnotifications.ModeEnabled, rig.DialAgreeing},
		{"auto, refused", maintnotifications.ModeAuto, nil},
		{"disabled again", maintnotifications.ModeDisabled, nil}, // how far figures wander
	}
}

// ready measures what it costs to be ready for maintenance while there is none.
func (l *lab) ready(ctx context.Context) error {
	const most = 64
	if err := l.store(ctx, most); err != nil {
		return err
	}
	for _, r := range readinesses() {
		for _, n := range []int{1, most} {
			l.progress.Step("notifications %s against disabled, %d goroutines, %d pairs", r.name, n, l.pairs)
			row, err := l.readyPairs(ctx, r, n)
			if err != nil {
				return fmt.Errorf("%s, %d goroutines: %w", r.name, n, err)
			}
			l.result.Ready = append(l.result.Ready, row)
		}
	}
	return nil
}

// readyPairs compares one readiness with none. Each round has a client of its own: a
// connection that happens to be a fast one stays so for its life.
func (l *lab) readyPairs(ctx context.Context, r readiness, n int) (row gauge.Comparison, err error) {
	with := func(mode maintnotifications.Mode) func(context.Context) (gauge.Cost, error) {
		return func(ctx context.Context) (gauge.Cost, error) {
			b := rig.NewBaton(&redis.Options{
				Addr: l.addr, Dialer: r.dial, MaintNotificationsConfig: &maintnotifications.Config{Mode: mode},
			})
			defer b.Close()
			return l.runShort(ctx, getters(b, n))
		}
	}
	pairs, err := gauge.Pairs(ctx, l.pairs, with(maintnotifications.ModeDisabled), with(r.mode))
	return gauge.Compare(r.name, n, pairs), err
}
