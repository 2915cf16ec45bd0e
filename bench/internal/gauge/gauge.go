// Package gauge measures what operations cost: time, the process's own CPU time,
// allocations, latencies and memory.
package gauge

import (
	"runtime"
	"time"
)

// A Cost is what a number of operations took.
type Cost struct {
	Ops    int64
	Wall   time.Duration
	CPU    time.Duration // of this process, in user mode and in the kernel
	Allocs uint64
	Bytes  uint64 // allocated
}

// OpsPerSecond is the rate.
func (c Cost) OpsPerSecond() float64 { return perUnit(float64(c.Ops), c.Wall.Seconds()) }

// NsPerOp is how much time passed for each operation, whatever ran side by side.
func (c Cost) NsPerOp() float64 { return perUnit(float64(c.Wall), float64(c.Ops)) }

// CPUPerOp is the CPU time of one operation in microseconds.
func (c Cost) CPUPerOp() float64 {
	return perUnit(float64(c.CPU)/float64(time.Microsecond), float64(c.Ops))
}

// AllocsPerOp is the number of allocations of one operation.
func (c Cost) AllocsPerOp() float64 { return perUnit(float64(c.Allocs), float64(c.Ops)) }

// BytesPerOp is how much one operation allocates.
func (c Cost) BytesPerOp() float64 { return perUnit(float64(c.Bytes), float64(c.Ops)) }

// perUnit is a / b, and 0 where there is nothing to divide by.
func perUnit(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// A Reading is what the process has used so far.
type Reading struct {
	at            time.Time
	cpu           time.Duration
	allocs, bytes uint64
}

// Read takes a reading.
func Read() Reading {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	cpu, _ := ProcessCPU() // 0 where it is not known
	return Reading{at: time.Now(), cpu: cpu, allocs: m.Mallocs, bytes: m.TotalAlloc}
}

// Since is what ops operations took from r until now.
func Since(r Reading, ops int64) Cost { return between(r, Read(), ops) }

func between(from, to Reading, ops int64) Cost {
	return Cost{
		Ops: ops, Wall: to.at.Sub(from.at), CPU: to.cpu - from.cpu,
		Allocs: to.allocs - from.allocs, Bytes: to.bytes - from.bytes,
	}
}
