// Package report shows a comparison: as text, and as a page that needs nothing else.
package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/internal/sheet"
)

// WriteTable writes r for people.
func WriteTable(w io.Writer, r *result.Result) error {
	var b strings.Builder
	e := r.Environment
	fmt.Fprintf(&b, "%s, %s/%s, %d CPUs, %s; %d rounds of %.0f ms, seed %d\n",
		e.Server, e.OS, e.Arch, e.CPUs, e.Go, r.Rounds, r.SliceS*1000, r.Seed)
	for _, c := range r.Cells {
		writeCell(&b, c)
	}
	writeTargets(&b, r.Targets)
	writeFailures(&b, r.Failures())
	_, err := io.WriteString(w, b.String())
	return err
}

func writeCell(b *strings.Builder, c *result.Cell) {
	fmt.Fprintf(b, "\n%s%s\n", c.Key, disturbed(c))
	if c.NotMeasured != "" {
		fmt.Fprintf(b, "  not measured: %s\n", c.NotMeasured)
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "  \tops/s\tbaton is\tp50\tp99\tp99.9\tmax\tallocs\tbytes\tclient CPU\tserver CPU\t\n")
	width := 0
	for _, s := range c.Subjects {
		width = max(width, utf8.RuneCountInString(label(s)))
	}
	for _, s := range c.Subjects {
		// Of one width, names are at the left of a column that is aligned to the right.
		fmt.Fprintf(t, "  %-*s\t%s\t\n", width, label(s), strings.Join(figuresOf(s), "\t"))
	}
	_ = t.Flush() // into memory
	for _, s := range c.Subjects {
		if s.NotMeasured != "" {
			fmt.Fprintf(b, "  %s is not measured: %s\n", s.Name, s.NotMeasured)
		}
	}
}

// figuresOf are the columns of a client; dashes where it has failed throughout or was
// not measured.
func figuresOf(s *result.Subject) []string {
	none := slices.Repeat([]string{"-"}, 10)
	switch {
	case s.NotMeasured != "":
		return none
	case s.OpsPerS == 0:
		return append([]string{"failed"}, none[1:]...)
	}
	l := s.Latency
	return []string{
		thousands(s.OpsPerS), times(s.BatonRatio), micros(l.P50), micros(l.P99), micros(l.P999), micros(l.Max),
		fmt.Sprintf("%.2f", s.AllocsPerOp), thousands(s.BytesPerOp),
		fmt.Sprintf("%.2f µs", s.ClientCPUMicrosPer), fmt.Sprintf("%.2f µs", s.ServerCPUMicrosPer),
	}
}

// noticeable is the part of the CPUs from which on other processes are mentioned.
const noticeable = 0.05

// disturbed tells whether other processes may have spoiled the figures.
func disturbed(c *result.Cell) string {
	if c.OthersCPU < noticeable {
		return ""
	}
	return fmt.Sprintf(" (disturbed: other processes used %.0f %% of the CPUs)", c.OthersCPU*100)
}

// label is the name of a client, with its setting where that is no matter of course.
func label(s *result.Subject) string {
	if s.Setting == "default" || s.Setting == "" {
		return s.Name
	}
	return s.Name + " (" + s.Setting + ")"
}

func writeTargets(b *strings.Builder, targets []result.Target) {
	if len(targets) == 0 {
		return
	}
	fmt.Fprint(b, "\nTargets\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	count := map[result.Outcome]int{}
	for _, target := range targets {
		count[target.Outcome]++
		if target.Outcome != result.NotMeasured {
			fmt.Fprintf(t, "  %s\t%s\tagainst %s\t%s\t%.2f\t%s\n",
				target.Group, target.What, target.Against, target.Wanted(), target.Measured, target.Outcome)
		}
	}
	_ = t.Flush() // into memory
	fmt.Fprintf(b, "  %d ok, %d short, %d not measured\n", count[result.OK], count[result.Short], count[result.NotMeasured])
}

func writeFailures(b *strings.Builder, failures []string) {
	if len(failures) == 0 {
		return
	}
	fmt.Fprint(b, "\nFailures\n")
	for _, f := range failures {
		fmt.Fprintf(b, "  - %s\n", f)
	}
}

// times is a ratio.
func times(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2fx", v)
}

// thousands is v as a whole number with its thousands apart.
func thousands(v float64) string { return sheet.Thousands(int64(math.RoundToEven(v))) }

// micros is a time in microseconds in the unit that suits it; 0 is not known.
func micros(us float64) string {
	switch {
	case us == 0:
		return "-"
	case us < 99.95:
		return fmt.Sprintf("%.1f µs", us)
	case us < 1000:
		return fmt.Sprintf("%.0f µs", us)
	case us < 10_000:
		return fmt.Sprintf("%.2f ms", us/1000)
	case us < 100_000:
		return fmt.Sprintf("%.1f ms", us/1000)
	case us < 10_000_000:
		return fmt.Sprintf("%.0f ms", us/1000)
	}
	return fmt.Sprintf("%.1f s", us/1e6)
}
