package contest

import (
	"errors"

	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/compare/internal/subject"
	"github.com/baton-go/redis/bench/internal/gauge"
)

func key(b Block, c load.Context) result.Key {
	return result.Key{Workload: b.Workload.Name, Goroutines: b.Goroutines, Transport: string(b.Transport), Context: string(c)}
}

// unmeasured are the cells of a block that can't be measured.
func unmeasured(b Block, why error) (cells []*result.Cell) {
	for _, c := range b.Contexts {
		cells = append(cells, &result.Cell{Key: key(b, c), NotMeasured: why.Error()})
	}
	return cells
}

// cells sums up the entries of a block.
func cells(subjects []subject.Subject, b Block, entries []*entry, others float64) (cells []*result.Cell) {
	for _, c := range b.Contexts {
		cell := &result.Cell{Key: key(b, c), OthersCPU: others}
		for _, s := range subjects {
			for _, e := range entries {
				if e.context == c && e.subject.Name == s.Name {
					cell.Subjects = append(cell.Subjects, e.sum())
				}
			}
		}
		cell.SetRatios(subject.Baton)
		cells = append(cells, cell)
	}
	return cells
}

// sum is what all rounds of an entry say together.
func (e *entry) sum() *result.Subject {
	s := &result.Subject{Name: e.subject.Name, Family: string(e.subject.Family), Setting: e.setting, Trials: e.trials}
	var why subject.NotMeasured
	switch {
	case e.client == nil && errors.As(e.err, &why):
		s.NotMeasured = string(why)
	case e.err != nil:
		s.Error = e.err.Error()
	}
	var all load.Sample
	var measured []float64
	for _, sample := range e.samples {
		rate := sample.OpsPerSecond()
		s.OpsPerSRounds = append(s.OpsPerSRounds, rate)
		if rate > 0 {
			measured = append(measured, rate)
		}
		all.Commands += sample.Commands
		all.Allocs += sample.Allocs
		all.Bytes += sample.Bytes
		all.ClientCPU += sample.ClientCPU
		all.ServerCPU += sample.ServerCPU
	}
	s.OpsPerS = gauge.Median(measured)
	if all.Commands > 0 {
		n := float64(all.Commands)
		s.AllocsPerOp, s.BytesPerOp = float64(all.Allocs)/n, float64(all.Bytes)/n
		s.ClientCPUMicrosPer, s.ServerCPUMicrosPer = all.ClientCPU.Seconds()*1e6/n, all.ServerCPU.Seconds()*1e6/n
	}
	if e.latency.TotalCount() > 0 {
		at := func(q float64) float64 { return load.Micros(e.latency.ValueAtQuantile(q)) }
		s.Latency = result.Latency{P50: at(50), P99: at(99), P999: at(99.9), Max: load.Micros(e.latency.Max()), Timed: e.latency.TotalCount()}
	}
	return s
}
