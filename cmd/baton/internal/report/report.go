// Package report writes what a drill has found as a page that needs nothing else.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/drill"
)

//go:embed page.html
var pageText string

// page is immutable after its declaration.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"thousands": account.Thousands,
	"micros":    account.Micros,
	"millis":    func(ms float64) string { return account.Micros(int64(ms * 1000)) },
	"whole":     func(v float64) string { return account.Thousands(int64(v)) },
	"seconds":   func(s float64) string { return fmt.Sprintf("%.1f s", s) },
	"at":        func(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) },
}).Parse(pageText))

// maxMarks is how many lines the list of what happened has, and maxErrors that of
// the errors.
const (
	maxMarks  = 200
	maxErrors = 50
)

type content struct {
	*account.Result
	Verdict    string
	Explain    string
	Latency    template.HTML
	Throughput template.HTML
	Errors     []errorRow
	AppErrors  []errorRow
	Marks      []drill.Mark
	MoreMarks  int
	Date       string
}

type errorRow struct {
	Count   int64
	Message string
}

// Write writes the page for rep. date says when the drill was run.
func Write(w io.Writer, rep *drill.Report, date time.Time) error {
	latency, err := latencyChart(rep)
	if err != nil {
		return fmt.Errorf("latency chart: %w", err)
	}
	throughput, err := throughputChart(rep)
	if err != nil {
		return fmt.Errorf("throughput chart: %w", err)
	}
	r := &rep.Result
	c := content{
		Result:     r,
		Verdict:    verdict(r),
		Explain:    drill.Scenario(r.Scenario).Explain(),
		Latency:    latency,
		Throughput: throughput,
		Errors:     rows(r.Errors),
		AppErrors:  rows(r.AppErrors),
		Marks:      rep.Marks,
		Date:       date.Format("2 January 2006, 15:04:05"),
	}
	if n := len(c.Marks) - maxMarks; n > 0 {
		c.Marks, c.MoreMarks = c.Marks[:maxMarks], n
	}
	return page.Execute(w, c)
}

// verdict is the outcome in plain words.
func verdict(r *account.Result) string {
	switch {
	case r.OK && r.InFlightAtCut > 0:
		return fmt.Sprintf("The connections were cut with %s commands in flight. The client said of %s that it can't know their fate, "+
			"sent everything else again by itself, and nothing was executed twice.",
			account.Thousands(r.InFlightAtCut), account.Thousands(r.Commands.Unknown))
	case r.OK:
		return fmt.Sprintf("The application would have noticed nothing: %s commands, none failed, none was lost, none was executed twice.",
			account.Thousands(r.Commands.Sent))
	case len(r.Problems) == 1:
		return "The application would have noticed. One rule was broken:"
	}
	return fmt.Sprintf("The application would have noticed. %d rules were broken:", len(r.Problems))
}

func rows(m map[string]int64) []errorRow {
	var out []errorRow
	for _, msg := range account.Sorted(m) {
		if len(out) == maxErrors {
			break
		}
		out = append(out, errorRow{Count: m[msg], Message: msg})
	}
	return out
}
