package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
)

// Who gets what in the part slow.
const (
	fastReaders = 8
	slowReaders = 4
	slowSize    = 1 << 20
	slowKey     = "growth:slow"
)

// quiet is one round of small GETs, alone or beside large ones.
type quiet struct {
	small    gauge.Cost
	p50, p99 float64
	large    gauge.Cost
}

// slow measures small GETs beside goroutines that read large values all the time
// with the same client, and the same alone.
func (l *lab) slow(ctx context.Context) error {
	if err := l.store(ctx, fastReaders); err != nil {
		return err
	}
	makers := rig.Makers()
	peers := make([]rig.Peer, len(makers))
	for i, m := range makers {
		p, err := m.Open(l.addr)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		defer p.Close()
		peers[i] = p
	}
	large := value(0, slowSize)
	if err := peers[0].Set(ctx, slowKey, large); err != nil {
		return err
	}
	alone, beside := make([][]quiet, len(makers)), make([][]quiet, len(makers))
	for round := range max(l.rounds, 2) {
		for turn := range makers {
			i := (round + turn) % len(makers)
			l.progress.Step("small GETs beside large ones, %s, round %d", makers[i].Name, round+1)
			a, err := l.readBeside(ctx, peers[i], large, 0)
			if err != nil {
				return fmt.Errorf("%s: %w", makers[i].Name, err)
			}
			b, err := l.readBeside(ctx, peers[i], large, slowReaders)
			if err != nil {
				return fmt.Errorf("%s: %w", makers[i].Name, err)
			}
			alone[i], beside[i] = append(alone[i], a), append(beside[i], b)
		}
	}
	for i, m := range makers {
		l.result.Slow = append(l.result.Slow, slowRow(m.Name, alone[i], beside[i]))
	}
	return nil
}

// readBeside measures the small GETs while readers get the large value.
func (l *lab) readBeside(ctx context.Context, p rig.Peer, large string, readers int) (q quiet, err error) {
	ops := make([]gauge.Op, readers)
	for i := range ops {
		ops[i] = rig.Getting(p, slowKey, large)
	}
	beside := gauge.Start(ops, 0)
	smallPlan := gauge.Plan{Warm: l.warm, Window: l.window, Every: 1}
	w := beside.Open()
	cost, latency, err := smallPlan.Run(ctx, getters(p, fastReaders))
	if err = errors.Join(err, beside.Stop()); err != nil {
		return q, err
	}
	return quiet{small: cost, p50: latency.Micros(0.5), p99: latency.Micros(0.99), large: w.Cost()}, nil
}

func slowRow(client string, alone, beside []quiet) SlowRow {
	p50 := func(q quiet) float64 { return q.p50 }
	p99 := func(q quiet) float64 { return q.p99 }
	ops := func(q quiet) float64 { return q.small.OpsPerSecond() }
	return SlowRow{
		Client:      client,
		AloneP50:    gauge.MedianOf(alone, p50),
		AloneP99:    gauge.MedianOf(alone, p99),
		AloneOps:    gauge.MedianOf(alone, ops),
		BesideP50:   gauge.MedianOf(beside, p50),
		BesideP99:   gauge.MedianOf(beside, p99),
		BesideOps:   gauge.MedianOf(beside, ops),
		MBPerSecond: gauge.MedianOf(beside, func(q quiet) float64 { return q.large.OpsPerSecond() * slowSize / 1e6 }),
	}
}
