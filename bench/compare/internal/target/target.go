// Package target knows the figures that Baton wants to reach, and judges what was
// measured by them.
package target

import (
	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/compare/internal/server"
	"github.com/baton-go/redis/bench/compare/internal/subject"
	"github.com/baton-go/redis/bench/internal/gauge"
)

// A peer is a client, or the fastest of several, that Baton is compared with.
type peer struct {
	name string
	in   func(*result.Cell) *result.Subject // nil: it was not measured
}

func named(name, label string) peer {
	return peer{label, func(c *result.Cell) *result.Subject { return c.Find(name) }}
}

func fastest(label string, ok func(*result.Subject) bool) peer {
	return peer{label, func(c *result.Cell) *result.Subject { return c.Fastest(ok) }}
}

// The peers of the tables.
var (
	rueidisDefault = named(subject.Rueidis, "rueidis")
	goRedisDefault = named(subject.GoRedis, "go-redis")
	autoPipeline   = named(subject.GoRedisAutoPipeline, "go-redis AutoPipeline")
	rueidisBest    = fastest("rueidis at its best", func(s *result.Subject) bool { return s.Family == string(subject.FamilyRueidis) })
	bestPeer       = fastest("the best peer", func(s *result.Subject) bool { return s.Family != string(subject.FamilyBaton) })
)

// A row is the least ratio of Baton's throughput to each of the four peers'; 0 is
// no target.
type row struct {
	goroutines                           int
	rueidis, rueidisBest, goRedis, autoP float64
}

func (r row) limits() []limit {
	return []limit{
		{rueidisDefault, r.rueidis},
		{rueidisBest, r.rueidisBest},
		{goRedisDefault, r.goRedis},
		{autoPipeline, r.autoP},
	}
}

type limit struct {
	peer  peer
	ratio float64
}

// A table is the targets of some workloads.
type table struct {
	group     string
	transport server.Transport
	workloads []string
	rows      []row
}

var single = []string{"get64", "set64", "mixed"}

var tables = []table{
	{"throughput, 64 B", server.TCP, single, []row{
		{1, 1.0, 1.0, 1.0, 1.0},
		{8, 1.2, 1.2, 1.5, 1.8},
		{64, 3.0, 1.3, 5, 2.2},
		{512, 4.0, 1.2, 12, 2},
		{2048, 2.5, 1.5, 12, 1.8},
	}},
	{"throughput, 4 KiB", server.TCP, []string{"get4k"}, []row{
		{64, 1.6, 1.15, 2.5, 1.4},
		{512, 1.6, 1.15, 2.5, 1.4},
	}},
	{"throughput, pipelines", server.TCP, []string{"pipe100"}, []row{
		{1, 1.0, 0, 1.3, 0},
		{64, 1.0, 0, 1.3, 0},
	}},
	{"throughput, cluster", server.Cluster, []string{"get64", "mixed"}, []row{
		{64, 2.0, 0, 4.0, 0},
		{512, 2.0, 0, 4.0, 0},
	}},
}

// Judge compares r with all targets.
func Judge(r *result.Result) []result.Target {
	j := judge{r: r}
	for _, t := range tables {
		j.table(t)
	}
	for _, w := range single {
		j.latency(w)
		j.polling(w)
	}
	j.contexts()
	j.maintenance()
	return j.targets
}

type judge struct {
	r       *result.Result
	targets []result.Target
}

func (j *judge) add(t result.Target, measured float64) {
	j.targets = append(j.targets, t.Judged(measured))
}

// cell is the cell of a workload over TCP without a context; an empty one if it was
// not measured.
func (j *judge) cell(workload string, goroutines int) *result.Cell {
	return j.cellOver(server.TCP, workload, goroutines)
}

// cellOver is the same over t.
func (j *judge) cellOver(t server.Transport, workload string, goroutines int) *result.Cell {
	k := result.Key{Workload: workload, Goroutines: goroutines, Transport: string(t), Context: string(load.Background)}
	if c := j.r.Find(k); c != nil {
		return c
	}
	return &result.Cell{Key: k}
}

func where(c *result.Cell) string {
	return c.Workload + ", " + result.Goroutines(c.Goroutines)
}

func (j *judge) table(t table) {
	for _, w := range t.workloads {
		for _, row := range t.rows {
			cell := j.cellOver(t.transport, w, row.goroutines)
			for _, l := range row.limits() {
				if l.ratio == 0 {
					continue
				}
				j.add(result.Target{Group: t.group, What: where(cell), Against: l.peer.name, Limit: l.ratio},
					result.PairRatio(cell.Find(subject.Baton), l.peer.in(cell)))
			}
		}
	}
}

// latency: the tail is far shorter than rueidis's, and a lone caller waits no longer
// than with any peer.
func (j *judge) latency(workload string) {
	for _, goroutines := range []int{64, 512} {
		cell := j.cell(workload, goroutines)
		j.add(result.Target{Group: "latency", What: "p99, " + where(cell), Against: rueidisDefault.name, Limit: 0.4, AtMost: true},
			quotient(cell.Find(subject.Baton), cell.Find(subject.Rueidis), func(l result.Latency) float64 { return l.P99 }))
	}
	cell := j.cell(workload, 1)
	p50 := func(l result.Latency) float64 { return l.P50 }
	j.add(result.Target{Group: "latency", What: "p50, " + where(cell), Against: bestPeer.name, Limit: 1.05, AtMost: true},
		quotient(cell.Find(subject.Baton), quickest(cell), p50))
}

// quickest is the peer with the lowest p50.
func quickest(c *result.Cell) *result.Subject {
	var best *result.Subject
	for _, s := range c.Subjects {
		if s.Family != string(subject.FamilyBaton) && s.Latency.P50 > 0 && (best == nil || s.Latency.P50 < best.Latency.P50) {
			best = s
		}
	}
	return best
}

// quotient is the ratio of a's latency to b's, or 0 where one is not known.
func quotient(a, b *result.Subject, of func(result.Latency) float64) float64 {
	if a == nil || b == nil || of(b.Latency) == 0 {
		return 0
	}
	return of(a.Latency) / of(b.Latency)
}

// polling: it pays on loopback, and a lone caller loses nothing without it.
func (j *judge) polling(workload string) {
	const group = "polling"
	cell := j.cell(workload, 1)
	j.add(result.Target{Group: group, What: where(cell), Against: bestPeer.name, Limit: 1.6},
		result.PairRatio(cell.Find(subject.Baton), bestPeer.in(cell)))
	for _, p := range []peer{rueidisDefault, goRedisDefault} {
		j.add(result.Target{Group: group, What: "without polling, " + where(cell), Against: p.name, Limit: 1.0},
			result.PairRatio(cell.Find(subject.BatonNoPoll), p.in(cell)))
	}
}

// contexts: one that can be cancelled costs little.
func (j *judge) contexts() {
	for _, w := range []string{"get64", "mixed"} {
		for _, goroutines := range []int{1, 64, 512} {
			plain := j.cell(w, goroutines)
			k := plain.Key
			k.Context = string(load.Cancel)
			var ratio float64
			if c := j.r.Find(k); c != nil {
				ratio = result.PairRatio(c.Find(subject.Baton), plain.Find(subject.Baton))
			}
			j.add(result.Target{Group: "context that can be cancelled", What: where(plain), Against: "background", Limit: 0.9}, ratio)
		}
	}
}

// maintenance: being ready for it costs nothing. The difference is smaller than the
// noise of a cell, so all rounds of all cells count together.
func (j *judge) maintenance() {
	var ratios []float64
	for _, c := range j.r.Cells {
		if baton, off := c.Find(subject.Baton), c.Find(subject.BatonOff); baton != nil && off != nil {
			ratios = append(ratios, result.Ratios(baton.OpsPerSRounds, off.OpsPerSRounds)...)
		}
	}
	j.add(result.Target{Group: "maintenance notifications", What: "all cells", Against: "baton without them", Limit: 0.99}, gauge.Median(ratios))
}
