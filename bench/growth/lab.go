package main

import (
	"context"
	"fmt"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
	"github.com/baton-go/redis/bench/internal/sheet"
)

// A plan says how long is measured.
type plan struct {
	warm   time.Duration // before each measurement
	window time.Duration // of absolute figures
	short  time.Duration // of one half of a pair
	rounds int           // of absolute figures; the median counts
	pairs  int           // of ratios; the median counts
	quick  bool
}

// newPlan is the plan for the arguments given, of which 0 is the default.
func newPlan(quick bool, window time.Duration, rounds, pairs int) plan {
	p := plan{warm: 300 * time.Millisecond, window: time.Second, rounds: 3, pairs: 20, quick: quick}
	if quick {
		p = plan{warm: 80 * time.Millisecond, window: 200 * time.Millisecond, rounds: 1, pairs: 3, quick: true}
	}
	if window > 0 {
		p.window, p.warm = window, min(p.warm, window)
	}
	if rounds > 0 {
		p.rounds = rounds
	}
	if pairs > 0 {
		p.pairs = pairs
	}
	p.short = max(p.window/4, min(p.window, 150*time.Millisecond))
	return p
}

// sizes are how far everything is let grow.
type sizes struct {
	callers []int // goroutines that share the one connection
	links   []int // connections of their own that callers have in all
	nodes   []int // of a cluster
	crowd   int   // goroutines that use all nodes of it, or each
	held    int   // every number of things held is divided by it
	large   []largeSize
}

// A largeSize is a size of large values, and how often one is sent in a round.
type largeSize struct{ bytes, times int }

// fullSizes are those of the program; tests have smaller ones.
func fullSizes() sizes {
	return sizes{
		callers: []int{1, 10, 100, 1000, 10_000},
		links:   []int{1, 10, 50, 100, 200},
		nodes:   []int{1, 2, 4, 8, 16},
		crowd:   64,
		held:    1,
		large:   []largeSize{{1_000_000, 10}, {100_000_000, 1}},
	}
}

// A lab is where all parts are measured.
type lab struct {
	plan
	sizes
	server   string // its name
	addr     string // of the one that runs
	progress *sheet.Progress
	result   *Result
}

// A part is one question.
type part struct {
	name    string // stable
	measure func(l *lab, ctx context.Context) error
}

func parts() []part {
	return []part{
		{"goroutines", (*lab).goroutines},
		{"links", (*lab).exclusive},
		{"nodes", (*lab).byNodes},
		{"memory", (*lab).memory},
		{"large", (*lab).largeValues},
		{"slow", (*lab).slow},
		{"ready", (*lab).ready},
		{"polling", (*lab).polling},
	}
}

func partNames() (names []string) {
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

// smallSize is the size of values where it does not matter.
const smallSize = rig.StubSize

// key is the name of value i.
func key(i int) string { return fmt.Sprintf("growth:%05d", i) }

// value is what key i holds: no two are the same.
func value(i, size int) string { return rig.ValueOf(key(i), size) }

// store stores n small values.
func (l *lab) store(ctx context.Context, n int) error { return storeAt(ctx, l.addr, n) }

// storeAt stores n small values in the server at addr.
func storeAt(ctx context.Context, addr string, n int) error {
	b := rig.NewBaton(&redis.Options{Addr: addr})
	defer b.Close()
	const atOnce = 1000
	for from := 0; from < n; from += atOnce {
		_, err := b.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := from; i < min(from+atOnce, n); i++ {
				p.Set(ctx, key(i), value(i, smallSize), 0)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("store the values: %w", err)
		}
	}
	return nil
}

// getters are n operations, each of which gets a small value of its own.
func getters(p rig.Peer, n int) []gauge.Op {
	ops := make([]gauge.Op, n)
	for i := range ops {
		ops[i] = rig.Getting(p, key(i), value(i, smallSize))
	}
	return ops
}

// run measures one load.
func (l *lab) run(ctx context.Context, ops []gauge.Op) (gauge.Cost, error) {
	c, _, err := gauge.Plan{Warm: l.warm, Window: l.window}.Run(ctx, ops)
	return c, err
}

// runShort measures one half of a pair.
func (l *lab) runShort(ctx context.Context, ops []gauge.Op) (gauge.Cost, error) {
	c, _, err := gauge.Plan{Warm: l.warm / 2, Window: l.short}.Run(ctx, ops)
	return c, err
}

// A series is one kind of load in several sizes.
type series struct {
	op    string
	sizes []int
	run   func(ctx context.Context, n int) (gauge.Cost, error)
}

// grow measures the series round by round, so that a slow moment of the machine
// concerns all sizes, and gives the medians.
func (l *lab) grow(ctx context.Context, unit string, all ...series) ([]CostRow, error) {
	costs := make(map[string]map[int][]gauge.Cost)
	for round := range l.rounds {
		for _, s := range all {
			for _, n := range s.sizes {
				l.progress.Step("%s, %s %d, round %d of %d", s.op, unit, n, round+1, l.rounds)
				c, err := s.run(ctx, n)
				if err != nil {
					return nil, fmt.Errorf("%s, %s %d: %w", s.op, unit, n, err)
				}
				if costs[s.op] == nil {
					costs[s.op] = make(map[int][]gauge.Cost)
				}
				costs[s.op][n] = append(costs[s.op][n], c)
			}
		}
	}
	var rows []CostRow
	for _, s := range all {
		for _, n := range s.sizes {
			rows = append(rows, costRow(s.op, n, costs[s.op][n]))
		}
	}
	return rows, nil
}
