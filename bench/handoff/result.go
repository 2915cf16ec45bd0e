package main

import (
	"fmt"
	"time"

	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/sheet"
)

// A Result is everything that was measured. The names in its JSON are stable: they
// are only added to.
type Result struct {
	sheet.Header
	Goroutines int              `json:"goroutines"`
	SecondMS   float64          `json:"second_ms"`
	Handoff    Seconds          `json:"handoff"` // the second of the handoff against the one before
	Control    Seconds          `json:"control"` // a quiet second against the one before
	Moves      Moves            `json:"moves"`
	Ready      gauge.Comparison `json:"ready"` // notifications on against off, quiet
}

// Seconds compare a second with the one before it. Ratios are medians over all pairs,
// and so are absolute figures.
type Seconds struct {
	N         int         `json:"n"` // pairs
	Ops       gauge.Ratio `json:"ops_ratio"`
	P50       gauge.Ratio `json:"p50_ratio"`
	P99       gauge.Ratio `json:"p99_ratio"`
	CPU       gauge.Ratio `json:"cpu_ratio"`
	OpsBefore float64     `json:"ops_per_second_before"`
	OpsAfter  float64     `json:"ops_per_second"`
	P50Before float64     `json:"p50_us_before"`
	P50After  float64     `json:"p50_us"`
	P99Before float64     `json:"p99_us_before"`
	P99After  float64     `json:"p99_us"`
	MaxBefore float64     `json:"max_us_before"` // the median of the longest of each second
	MaxAfter  float64     `json:"max_us"`
}

// Moves are what happened in the handoffs.
type Moves struct {
	N        int     `json:"n"`
	Links    int     `json:"links_handed_over"`
	TookMS   float64 `json:"took_ms_median"` // from the order to the last link handed over
	LongMS   float64 `json:"took_ms_max"`
	Closed   int     `json:"connections_closed_by_server"` // still there at the deadline
	InFlight int     `json:"in_flight_when_closed"`
}

// schema names the form of a Result.
const schema = "baton-handoff/1"

func newResult(o options) *Result {
	return &Result{
		Header: sheet.NewHeader(schema, o.server), Goroutines: o.goroutines, SecondMS: o.second.Seconds() * 1000,
	}
}

// A second is one of those that are compared.
type second struct {
	cost          gauge.Cost
	p50, p99, max float64 // microseconds
}

func secondOf(w *gauge.Window) second {
	l := w.Latency()
	return second{cost: w.Cost(), p50: l.Micros(0.5), p99: l.Micros(0.99), max: l.Micros(1)}
}

// take takes the moves, whose load was stopped.
func (r *Result) take(moves []watched) {
	var handoff, control []gauge.Pair[second]
	var took []float64
	for _, m := range moves {
		handoff = append(handoff, gauge.Pair[second]{A: secondOf(m.before), B: secondOf(m.during)})
		control = append(control, gauge.Pair[second]{A: secondOf(m.quiet), B: secondOf(m.before)})
		took = append(took, float64(m.took)/float64(time.Millisecond))
		r.Moves.Links += m.links
		r.Moves.Closed += m.closed
		r.Moves.InFlight += m.inFlight
	}
	r.Moves.N = len(moves)
	r.Moves.TookMS, r.Moves.LongMS = gauge.Median(took), gauge.Quantile(took, 1)
	r.Handoff, r.Control = seconds(handoff), seconds(control)
}

func seconds(pairs []gauge.Pair[second]) Seconds {
	ops := func(s second) float64 { return s.cost.OpsPerSecond() }
	cpu := func(s second) float64 { return s.cost.CPUPerOp() }
	p50 := func(s second) float64 { return s.p50 }
	p99 := func(s second) float64 { return s.p99 }
	longest := func(s second) float64 { return s.max }
	before, after := gauge.As(pairs), gauge.Bs(pairs)
	return Seconds{
		N:   len(pairs),
		Ops: gauge.RatioOf(pairs, ops), P50: gauge.RatioOf(pairs, p50), P99: gauge.RatioOf(pairs, p99), CPU: gauge.RatioOf(pairs, cpu),
		OpsBefore: gauge.MedianOf(before, ops), OpsAfter: gauge.MedianOf(after, ops),
		P50Before: gauge.MedianOf(before, p50), P50After: gauge.MedianOf(after, p50),
		P99Before: gauge.MedianOf(before, p99), P99After: gauge.MedianOf(after, p99),
		MaxBefore: gauge.MedianOf(before, longest), MaxAfter: gauge.MedianOf(after, longest),
	}
}

// tables are the result as tables.
func (r *Result) tables() []*sheet.Table {
	return []*sheet.Table{r.secondsTable(), r.secondTable(), r.readyTable()}
}

// compared are the two kinds of seconds.
func (r *Result) compared() []struct {
	name string
	Seconds
} {
	return []struct {
		name string
		Seconds
	}{{"quiet", r.Control}, {"with a handoff", r.Handoff}}
}

// secondsTable has the ratios.
func (r *Result) secondsTable() *sheet.Table {
	t := &sheet.Table{
		Title:   fmt.Sprintf("A second against the one before it, %d goroutines, %s", r.Goroutines, r.Server),
		Columns: []string{"second", "pairs", "ops/s ratio", "p50 ratio", "p99 ratio", "client CPU ratio"},
		Note: fmt.Sprintf("Medians of the ratios, and the range of the half of them around it. A second is %s ms. %d handoffs with %d links took %s ms "+
			"(median) from the order to the last link, %s ms at most. %d connections were left for the server to close, with %d commands in flight.",
			sheet.Number(r.SecondMS), r.Moves.N, r.Moves.Links, sheet.Number(r.Moves.TookMS), sheet.Number(r.Moves.LongMS), r.Moves.Closed, r.Moves.InFlight),
	}
	for _, s := range r.compared() {
		t.Add(s.name, sheet.Thousands(int64(s.N)), spread(s.Ops), spread(s.P50), spread(s.P99), spread(s.CPU))
	}
	return t
}

// secondTable has the absolute figures.
func (r *Result) secondTable() *sheet.Table {
	t := &sheet.Table{
		Title:   "These seconds",
		Columns: []string{"second", "ops/s", "p50", "p99", "longest", "before: ops/s", "p50", "p99", "longest"},
	}
	for _, s := range r.compared() {
		t.Add(s.name, sheet.Number(s.OpsAfter), sheet.Micros(s.P50After), sheet.Micros(s.P99After), sheet.Micros(s.MaxAfter),
			sheet.Number(s.OpsBefore), sheet.Micros(s.P50Before), sheet.Micros(s.P99Before), sheet.Micros(s.MaxBefore))
	}
	return t
}

func (r *Result) readyTable() *sheet.Table {
	t := &sheet.Table{
		Title:   "What it costs to be ready for a handoff while there is none",
		Columns: []string{"notifications", "ops/s ratio", "client CPU ratio", "ops/s off", "on", "CPU µs/op off", "on", "allocs/op off", "on"},
		Note:    "Pairs of rounds in alternating order, off against on.",
	}
	c := r.Ready
	t.Add(c.Name, spread(c.Ops), spread(c.CPU), sheet.Number(c.OpsA), sheet.Number(c.OpsB), sheet.Number(c.CPUA), sheet.Number(c.CPUB),
		sheet.Number(c.AllocsA), sheet.Number(c.AllocsB))
	return t
}

func spread(r gauge.Ratio) string { return sheet.Spread(r.Median, r.Low, r.High) }
