package main

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/sheet"
)

// A Result is everything that was counted. The names in its JSON are stable: they are
// only added to.
type Result struct {
	sheet.Header
	Workers   int        `json:"workers"`
	Failovers int        `json:"failovers"`
	Total     []Counts   `json:"total"`  // of each client; gaps are the longest
	Rounds    [][]Counts `json:"rounds"` // of each failover
}

// Counts are what one client's workers have met.
type Counts struct {
	Client   string           `json:"client"`
	Commands int64            `json:"commands"`
	Failed   int64            `json:"failed"`
	ReadOnly int64            `json:"readonly"`   // errors that callers saw
	Maybe    int64            `json:"maybe_sent"` // errors whose type says that it may have been executed
	Acked    int64            `json:"incr_acknowledged"`
	Value    int64            `json:"incr_in_the_master"`
	Twice    int64            `json:"silent_duplicates"` // increments beyond those acknowledged or failed
	Lost     int64            `json:"acknowledged_lost"`
	GapMS    float64          `json:"longest_gap_ms"` // without a completed command
	Errors   map[string]int64 `json:"errors"`
}

// schema names the form of a Result.
const schema = "baton-failover/1"

func newResult(o options) *Result {
	return &Result{Header: sheet.NewHeader(schema, o.server), Workers: o.workers}
}

// add takes one failover.
func (r *Result) add(round []Counts) {
	r.Failovers++
	r.Rounds = append(r.Rounds, round)
	for i, c := range round {
		if i == len(r.Total) {
			r.Total = append(r.Total, Counts{Client: c.Client, Errors: make(map[string]int64)})
		}
		t := &r.Total[i]
		t.Commands += c.Commands
		t.Failed += c.Failed
		t.ReadOnly += c.ReadOnly
		t.Maybe += c.Maybe
		t.Acked += c.Acked
		t.Value += c.Value
		t.Twice += c.Twice
		t.Lost += c.Lost
		t.GapMS = max(t.GapMS, c.GapMS)
		for text, n := range c.Errors {
			t.Errors[text] += n
		}
	}
}

// tables are the result as tables.
func (r *Result) tables() []*sheet.Table {
	t := &sheet.Table{
		Title: fmt.Sprintf("%d planned Sentinel failovers, %d workers for each client, %s", r.Failovers, r.Workers, r.Server),
		Columns: []string{
			"client", "commands", "failed", "READONLY seen", "typed maybe-sent", "INCR acknowledged", "in the master",
			"silent duplicates", "acknowledged, lost", "longest gap", "median of the gaps",
		},
		Note: "Both clients work at the same time. Failed are errors that a caller saw. Silent duplicates are increments in the master beyond those " +
			"acknowledged and those that failed with an unknown effect. Acknowledged, lost is what the old master had taken and not passed on. The gap is without any completed command.",
	}
	for i, c := range r.Total {
		t.Add(c.Client, sheet.Thousands(c.Commands), sheet.Thousands(c.Failed), sheet.Thousands(c.ReadOnly), sheet.Thousands(c.Maybe),
			sheet.Thousands(c.Acked), sheet.Thousands(c.Value), sheet.Thousands(c.Twice), sheet.Thousands(c.Lost),
			sheet.Micros(c.GapMS*1000), sheet.Micros(gauge.Median(r.gaps(i))*1000))
	}
	return []*sheet.Table{t, r.errorTable()}
}

// gaps are a client's, one for each failover.
func (r *Result) gaps(client int) (all []float64) {
	for _, round := range r.Rounds {
		all = append(all, round[client].GapMS)
	}
	return all
}

// mostErrors is how many different messages of a client are shown.
const mostErrors = 5

func (r *Result) errorTable() *sheet.Table {
	t := &sheet.Table{Title: "What callers were told most often", Columns: []string{"client", "times", "error"}}
	for _, c := range r.Total {
		texts := slices.SortedFunc(maps.Keys(c.Errors), func(a, b string) int {
			return cmp.Or(cmp.Compare(c.Errors[b], c.Errors[a]), cmp.Compare(a, b))
		})
		for _, text := range texts[:min(len(texts), mostErrors)] {
			t.Add(c.Client, sheet.Thousands(c.Errors[text]), text)
		}
	}
	return t
}

// page writes the result as a page.
func (r *Result) page(w io.Writer) error {
	gap := sheet.Chart{Title: "Longest time without a completed command, ms"}
	for i := range r.Rounds {
		gap.Labels = append(gap.Labels, fmt.Sprint(i+1))
	}
	for i, c := range r.Total {
		gap.Series = append(gap.Series, sheet.Series{Name: c.Client, Values: r.gaps(i)})
	}
	bars, err := gap.Bars()
	p := sheet.Page{
		Title:    "A planned Sentinel failover",
		Sub:      fmt.Sprintf("%s on loopback, %s, %s/%s, %d CPUs", r.Server, r.Go, r.OS, r.Arch, r.CPUs),
		Sections: []sheet.Section{{Tables: r.tables(), Charts: []template.HTML{bars}}},
	}
	return errors.Join(err, p.Write(w, time.Now()))
}
