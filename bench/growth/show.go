package main

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/sheet"
)

// tables are the result as tables.
func (r *Result) tables() (all []*sheet.Table) {
	for _, s := range r.sections() {
		all = append(all, s.table)
	}
	return all
}

// A section is one part of the result, with its charts.
type section struct {
	table  *sheet.Table
	charts []func() (template.HTML, error)
}

// sections are those parts that were measured.
func (r *Result) sections() (all []section) {
	add := func(isThere bool, s section) {
		if isThere {
			all = append(all, s)
		}
	}
	add(len(r.Goroutines) > 0, costSection("Cost of a command by goroutines on the shared lane", "goroutines", r.Goroutines))
	add(len(r.Links) > 0, costSection("Cost of a command by exclusive links in use", "links", r.Links))
	add(len(r.Nodes) > 0, nodesSection(r.Nodes))
	add(len(r.Memory) > 0, memorySection(r.Memory))
	add(len(r.Large) > 0, largeSection(r.Large))
	add(len(r.Slow) > 0, slowSection(r.Slow))
	add(len(r.Ready) > 0, pairSection("What it costs to be ready for maintenance", "notifications",
		"Pairs of rounds in alternating order, notifications disabled against what the row says: the median of the ratios, and the range of "+
			"the half of them around it. Where the server agrees, it is a server that sends no notice. The last row has no difference to show.",
		r.Ready))
	add(len(r.Polling) > 0, pairSection("What polling gains and costs by distance", "server",
		"Pairs of rounds in alternating order, one goroutine, readers that never poll against those that do while it pays. A relay is a "+
			"process of its own between client and server that delivers replies later by the time given.",
		r.Polling))
	return all
}

// writePage writes the result as a page.
func writePage(w io.Writer, r *Result, date time.Time) error {
	p := sheet.Page{
		Title: "How costs grow",
		Sub: fmt.Sprintf("Baton with %s on loopback, %s, %s/%s, %d CPUs, windows of %s ms",
			r.Server, r.Go, r.OS, r.Arch, r.CPUs, sheet.Number(r.WindowMS)),
	}
	var errs []error
	for _, s := range r.sections() {
		shown := sheet.Section{Tables: []*sheet.Table{s.table}}
		for _, draw := range s.charts {
			svg, err := draw()
			errs = append(errs, err)
			shown.Charts = append(shown.Charts, svg)
		}
		p.Sections = append(p.Sections, shown)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.Write(w, date)
}

func costSection(title, unit string, rows []CostRow) section {
	t := &sheet.Table{
		Title: title, Columns: []string{"op", unit, "ops/s", "ns/op", "client CPU µs/op", "allocs/op", "B/op"},
		Note: "ns/op is the time that passed divided by the commands of all goroutines. The CPU time is that of this process, in user mode and in the kernel.",
	}
	for _, r := range rows {
		t.Add(r.Op, sheet.Thousands(int64(r.N)), sheet.Number(r.OpsPerSecond), sheet.Number(r.NsPerOp), sheet.Number(r.CPUMicros),
			sheet.Number(r.Allocs), sheet.Number(r.Bytes))
	}
	chart := func(title string, of func(CostRow) float64) func() (template.HTML, error) {
		c := sheet.Chart{Title: title}
		for _, r := range rows {
			if len(c.Series) == 0 || c.Series[len(c.Series)-1].Name != r.Op {
				c.Series = append(c.Series, sheet.Series{Name: r.Op})
			}
			if len(c.Series) == 1 {
				c.Labels = append(c.Labels, sheet.Thousands(int64(r.N)))
			}
			s := &c.Series[len(c.Series)-1]
			s.Values = append(s.Values, of(r))
		}
		return c.Lines
	}
	return section{t, []func() (template.HTML, error){
		chart("Commands a second by "+unit, func(r CostRow) float64 { return r.OpsPerSecond }),
		chart("Client CPU in µs for each command by "+unit, func(r CostRow) float64 { return r.CPUMicros }),
	}}
}

func nodesSection(rows []NodesRow) section {
	t := &sheet.Table{
		Title: "Cost of a command by nodes of a cluster",
		Columns: []string{
			"op, servers, callers", "nodes", "goroutines", "ops/s", "ns/op", "ratio to 1 node", "client CPU µs/op", "ratio to 1 node", "allocs/op", "B/op",
		},
		Note: "Medians of rounds that take all numbers of nodes in turn, and of the ratios within a round with the range of the half of them around it. " +
			"Without nodes it is a client of one server. Servers share the machine with the client, and many real ones keep a small one busy: " +
			"then it is the client's own CPU time that counts, and not the time that passed. A stub is one process that answers at all " +
			"addresses and stores nothing. Where the same callers use more nodes, fewer of them share a connection and its system calls, and more " +
			"callers cost more by themselves: what nodes cost is seen best in the rows with the most callers in all.",
	}
	var s section
	for _, r := range rows {
		t.Add(strings.Join([]string{r.Op, r.Servers, r.Callers}, ", "), strconv.Itoa(r.N), sheet.Thousands(int64(r.Goroutines)),
			sheet.Number(r.OpsPerSecond), sheet.Number(r.NsPerOp), sheet.Spread(r.Ns.Median, r.Ns.Low, r.Ns.High),
			sheet.Number(r.CPUMicros), sheet.Spread(r.CPU.Median, r.CPU.Low, r.CPU.High), sheet.Number(r.Allocs), sheet.Number(r.Bytes))
	}
	s.table = t
	for _, op := range []string{"get", "set"} {
		for _, servers := range serversOf(rows) {
			s.charts = append(s.charts, nodesChart(rows, op, servers).Lines)
		}
	}
	return s
}

// serversOf are the kinds of servers that were measured.
func serversOf(rows []NodesRow) (names []string) {
	for _, r := range rows {
		if !slices.Contains(names, r.Servers) {
			names = append(names, r.Servers)
		}
	}
	return names
}

// nodesChart has a line for each kind of callers.
func nodesChart(rows []NodesRow, op, servers string) sheet.Chart {
	c := sheet.Chart{Title: fmt.Sprintf("Client CPU for each %s by nodes, %s, as a multiple of that with 1", op, servers)}
	for _, r := range rows {
		if r.Op != op || r.Servers != servers || r.N == 0 {
			continue
		}
		if r.N == 1 {
			c.Series = append(c.Series, sheet.Series{Name: r.Callers})
		}
		if len(c.Series) == 1 {
			c.Labels = append(c.Labels, strconv.Itoa(r.N))
		}
		line := &c.Series[len(c.Series)-1]
		line.Values = append(line.Values, r.CPU.Median)
	}
	return c
}

func memorySection(rows []MemoryRow) section {
	t := &sheet.Table{
		Title: "Memory held for each", Columns: []string{"what", "measured with", "heap", "stacks", "together"},
		Note: "After garbage collection, in this process; what the kernel holds for sockets is not counted. A command in flight includes the " +
			"goroutine that waits for it, which the row before it shows alone; in a pipeline there is one goroutine for all.",
	}
	c := sheet.Chart{Title: "Memory for each, in bytes", Series: []sheet.Series{{Name: "heap and stacks"}}}
	for _, r := range rows {
		t.Add(r.What, sheet.Thousands(int64(r.N)), sheet.Size(r.Heap), sheet.Size(r.Stack), sheet.Size(r.Heap+r.Stack))
		c.Labels = append(c.Labels, r.What)
		c.Series[0].Values = append(c.Series[0].Values, r.Heap+r.Stack)
	}
	return section{t, []func() (template.HTML, error){c.Bars}}
}

func largeSection(rows []LargeRow) section {
	t := &sheet.Table{
		Title:   "Large values, one at a time",
		Columns: []string{"client", "op", "size", "time", "MB/s", "CPU ms", "allocs", "allocated", "peak heap", "kept"},
		Note: "Allocated is what one operation allocates in all, peak heap how much more than before it was in use at one time, garbage not " +
			"collected yet included, and kept what is still held after the last one.",
	}
	c := sheet.Chart{Title: "Peak heap as a multiple of the value's size", Series: []sheet.Series{{Name: "peak heap"}}}
	for _, r := range rows {
		t.Add(r.Client, r.Op, sheet.Size(float64(r.Size)), sheet.Micros(r.Milliseconds*1000), sheet.Number(r.MBPerSecond), sheet.Number(r.CPUMillis),
			sheet.Number(r.Allocs), sheet.Size(r.AllocatedBytes), sheet.Size(r.PeakBytes), sheet.Size(float64(r.KeptBytes)))
		c.Labels = append(c.Labels, fmt.Sprintf("%s %s %s", r.Client, r.Op, sheet.Size(float64(r.Size))))
		c.Series[0].Values = append(c.Series[0].Values, r.PeakBytes/float64(r.Size))
	}
	return section{t, []func() (template.HTML, error){c.Bars}}
}

func slowSection(rows []SlowRow) section {
	t := &sheet.Table{
		Title:   "Small GETs beside readers of large values",
		Columns: []string{"client", "alone: ops/s", "p50", "p99", "beside: ops/s", "p50", "p99", "large MB/s"},
		Note: fmt.Sprintf("%d goroutines get small values with a client, alone and while %d others read values of 1 MiB with the same client all the time.",
			fastReaders, slowReaders),
	}
	c := sheet.Chart{
		Title:  "Latency of small GETs in µs",
		Series: []sheet.Series{{Name: "alone p50"}, {Name: "alone p99"}, {Name: "beside p50"}, {Name: "beside p99"}},
	}
	for _, r := range rows {
		t.Add(r.Client, sheet.Number(r.AloneOps), sheet.Micros(r.AloneP50), sheet.Micros(r.AloneP99),
			sheet.Number(r.BesideOps), sheet.Micros(r.BesideP50), sheet.Micros(r.BesideP99), sheet.Number(r.MBPerSecond))
		c.Labels = append(c.Labels, r.Client)
		for i, v := range []float64{r.AloneP50, r.AloneP99, r.BesideP50, r.BesideP99} {
			c.Series[i].Values = append(c.Series[i].Values, v)
		}
	}
	return section{t, []func() (template.HTML, error){c.Bars}}
}

func pairSection(title, what, note string, rows []gauge.Comparison) section {
	t := &sheet.Table{
		Title: title, Note: note,
		Columns: []string{what, "goroutines", "ops/s ratio", "CPU ratio", "ops/s without", "with", "CPU µs/op without", "with", "allocs/op without", "with"},
	}
	c := sheet.Chart{Title: title + ", ratios", Series: []sheet.Series{{Name: "ops/s"}, {Name: "CPU for each command"}}}
	for _, r := range rows {
		t.Add(r.Name, strconv.Itoa(r.N), sheet.Spread(r.Ops.Median, r.Ops.Low, r.Ops.High), sheet.Spread(r.CPU.Median, r.CPU.Low, r.CPU.High),
			sheet.Number(r.OpsA), sheet.Number(r.OpsB), sheet.Number(r.CPUA), sheet.Number(r.CPUB), sheet.Number(r.AllocsA), sheet.Number(r.AllocsB))
		c.Labels = append(c.Labels, fmt.Sprintf("%s, %d", r.Name, r.N))
		c.Series[0].Values = append(c.Series[0].Values, r.Ops.Median)
		c.Series[1].Values = append(c.Series[1].Values, r.CPU.Median)
	}
	return section{t, []func() (template.HTML, error){c.Bars}}
}
