package main

import (
	"context"
	"fmt"
	"time"

	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
)

// mostKept is what a client of ours may keep for a large value that is over: the
// buffers of one connection, each up to 1 MiB, and what the pools hold.
const mostKept = 4 << 20

// largeValues measures values that no buffer is made for: what they cost, and that the
// buffers shrink again.
func (l *lab) largeValues(ctx context.Context) error {
	for _, size := range l.large {
		v := value(1, size.bytes)
		for _, m := range rig.Makers() {
			l.progress.Step("values of %d bytes, %s", size.bytes, m.Name)
			rows, err := l.largeValue(ctx, m, v, size.times*l.rounds)
			if err != nil {
				return fmt.Errorf("%s, %d bytes: %w", m.Name, size.bytes, err)
			}
			l.result.Large = append(l.result.Large, rows...)
		}
	}
	return tooMuchKept(l.result.Large)
}

// tooMuchKept tells that our client has not let go of what it needed for a large value.
func tooMuchKept(rows []LargeRow) error {
	for _, r := range rows {
		if r.Client == "baton" && r.KeptBytes > mostKept {
			return fmt.Errorf("%s of %d bytes: the client has kept %d bytes, want %d at most", r.Op, r.Size, r.KeptBytes, mostKept)
		}
	}
	return nil
}

// A largeCall is one way of a client to set or get a large value.
type largeCall struct {
	op string
	// do does it. The check that it gives is not measured.
	do func() (check func() error, err error)
}

// largeValue measures one client's ways with one value.
func (l *lab) largeValue(ctx context.Context, m rig.Maker, v string, times int) (rows []LargeRow, err error) {
	p, err := m.Open(l.addr)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.Set(ctx, largeKey, "small"); err != nil {
		return nil, err
	}
	calls := largeCalls(ctx, p, v)
	if b, ok := p.(rig.Baton); ok {
		calls = append(calls, largeByteCalls(ctx, b, v)...)
	}
	for _, call := range calls {
		c, err := largeOp(times, call.do)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", call.op, err)
		}
		rows = append(rows, c.row(m.Name, call.op, len(v)))
	}
	return rows, nil
}

const largeKey = "growth:large"

func largeCalls(ctx context.Context, p rig.Peer, v string) []largeCall {
	return []largeCall{
		{"set", func() (func() error, error) {
			return func() error { return nil }, p.Set(ctx, largeKey, v)
		}},
		{"get", func() (func() error, error) {
			got, err := p.Get(ctx, largeKey)
			return func() error { return rig.Want(largeKey, got, v) }, err
		}},
	}
}

// largeByteCalls are the calls that need no memory for the value: the caller's buffers
// are there before.
func largeByteCalls(ctx context.Context, b rig.Baton, v string) []largeCall {
	in, out := []byte(v), make([]byte, 0, len(v))
	return []largeCall{
		{"set bytes", func() (func() error, error) {
			return func() error { return nil }, b.SetBytes(ctx, largeKey, in, 0)
		}},
		{"get bytes", func() (func() error, error) {
			got, err := b.GetBytes(ctx, out, largeKey)
			return func() error { return rig.Want(largeKey, string(got), v) }, err
		}},
	}
}

// largeCost is what one operation with large values did, several times.
type largeCost struct {
	costs []gauge.Cost
	peaks []float64 // of the heap, above what it was before
	kept  int64     // of the heap, afterwards
}

// largeOp does an operation several times. The check that it gives is not measured.
func largeOp(times int, do func() (check func() error, err error)) (c largeCost, err error) {
	base := gauge.Settled()
	for range times {
		before := gauge.Settled().Heap
		peak := gauge.WatchPeak()
		from := gauge.Read()
		check, err := do()
		c.costs = append(c.costs, gauge.Since(from, 1))
		c.peaks = append(c.peaks, float64(peak.Stop()-before))
		if err == nil {
			err = check()
		}
		if err != nil {
			return c, err
		}
	}
	c.kept = gauge.Settled().Sub(base).Heap
	return c, nil
}

func (c largeCost) row(client, op string, size int) LargeRow {
	ms := gauge.MedianOf(c.costs, func(c gauge.Cost) float64 { return c.Wall.Seconds() * 1000 })
	return LargeRow{
		Client: client, Op: op, Size: size, Milliseconds: ms,
		MBPerSecond:    float64(size) / 1e6 / max(ms/1000, time.Nanosecond.Seconds()),
		CPUMillis:      gauge.MedianOf(c.costs, gauge.Cost.CPUPerOp) / 1000,
		Allocs:         gauge.MedianOf(c.costs, gauge.Cost.AllocsPerOp),
		AllocatedBytes: gauge.MedianOf(c.costs, gauge.Cost.BytesPerOp),
		PeakBytes:      gauge.Median(c.peaks),
		KeptBytes:      c.kept,
	}
}
