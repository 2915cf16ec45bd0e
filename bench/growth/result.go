package main

import (
	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/sheet"
)

// A Result is everything that was measured. The names in its JSON are stable: they
// are only added to.
type Result struct {
	sheet.Header
	Quick      bool               `json:"quick"`
	WindowMS   float64            `json:"window_ms"`
	Rounds     int                `json:"rounds"`
	Pairs      int                `json:"pairs"`
	Goroutines []CostRow          `json:"goroutines,omitempty"`
	Links      []CostRow          `json:"links,omitempty"`
	Nodes      []NodesRow         `json:"nodes,omitempty"`
	Memory     []MemoryRow        `json:"memory,omitempty"`
	Large      []LargeRow         `json:"large,omitempty"`
	Slow       []SlowRow          `json:"slow,omitempty"`
	Ready      []gauge.Comparison `json:"ready,omitempty"`
	Polling    []gauge.Comparison `json:"polling,omitempty"`
}

// schema names the form of a Result.
const schema = "baton-growth/1"

func newResult(o options) *Result {
	return &Result{
		Header: sheet.NewHeader(schema, o.server),
		Quick:  o.plan.quick, WindowMS: o.plan.window.Seconds() * 1000,
		Rounds: o.plan.rounds, Pairs: o.plan.pairs,
	}
}

// A CostRow is what one operation costs with N goroutines, connections or nodes. All
// figures are medians of the rounds.
type CostRow struct {
	Op           string  `json:"op"`
	N            int     `json:"n"`
	OpsPerSecond float64 `json:"ops_per_second"`
	NsPerOp      float64 `json:"ns_per_op"`
	CPUMicros    float64 `json:"cpu_us_per_op"`
	Allocs       float64 `json:"allocs_per_op"`
	Bytes        float64 `json:"allocated_bytes_per_op"`
}

func costRow(op string, n int, costs []gauge.Cost) CostRow {
	return CostRow{
		Op: op, N: n,
		OpsPerSecond: gauge.MedianOf(costs, gauge.Cost.OpsPerSecond),
		NsPerOp:      gauge.MedianOf(costs, gauge.Cost.NsPerOp),
		CPUMicros:    gauge.MedianOf(costs, gauge.Cost.CPUPerOp),
		Allocs:       gauge.MedianOf(costs, gauge.Cost.AllocsPerOp),
		Bytes:        gauge.MedianOf(costs, gauge.Cost.BytesPerOp),
	}
}

// A NodesRow is what one operation costs a client of a cluster of N nodes. With N 0 it is
// a client of one server, without a cluster. The ratios are to N 1 in the same round.
type NodesRow struct {
	CostRow
	Servers    string      `json:"servers"` // the name of the server, or "stub"
	Callers    string      `json:"callers"` // stable
	Goroutines int         `json:"goroutines"`
	Ns         gauge.Ratio `json:"ns_ratio"`
	CPU        gauge.Ratio `json:"cpu_ratio"`
}

// A MemoryRow is what each of N things holds, in bytes.
type MemoryRow struct {
	What  string  `json:"what"`
	N     int     `json:"n"`
	Heap  float64 `json:"heap_bytes"`
	Stack float64 `json:"stack_bytes"`
}

func memoryRow(what string, n int, held []gauge.Memory) MemoryRow {
	each := func(bytes func(gauge.Memory) int64) float64 {
		return gauge.MedianOf(held, func(m gauge.Memory) float64 { return float64(bytes(m)) / float64(n) })
	}
	return MemoryRow{
		What: what, N: n,
		Heap:  each(func(m gauge.Memory) int64 { return m.Heap }),
		Stack: each(func(m gauge.Memory) int64 { return m.Stack }),
	}
}

// A LargeRow is what one operation with a large value costs.
type LargeRow struct {
	Client         string  `json:"client"`
	Op             string  `json:"op"`
	Size           int     `json:"size_bytes"`
	Milliseconds   float64 `json:"ms"`
	MBPerSecond    float64 `json:"mb_per_second"`
	CPUMillis      float64 `json:"cpu_ms"`
	Allocs         float64 `json:"allocs"`
	AllocatedBytes float64 `json:"allocated_bytes"`
	PeakBytes      float64 `json:"peak_heap_bytes"` // above what was held before
	KeptBytes      int64   `json:"kept_bytes"`      // after the last one
}

// A SlowRow is the latency, in microseconds, and the rate of small GETs alone and
// beside readers of large values.
type SlowRow struct {
	Client      string  `json:"client"`
	AloneP50    float64 `json:"alone_p50_us"`
	AloneP99    float64 `json:"alone_p99_us"`
	AloneOps    float64 `json:"alone_ops_per_second"`
	BesideP50   float64 `json:"beside_p50_us"`
	BesideP99   float64 `json:"beside_p99_us"`
	BesideOps   float64 `json:"beside_ops_per_second"`
	MBPerSecond float64 `json:"large_mb_per_second"`
}
