package account

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteJSON writes r as indented JSON.
func (r *Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// A Row is one line of an account: a name, and what was counted.
type Row struct {
	Name  string
	Cells []Cell
}

// A Cell is one number of a [Row].
type Cell struct {
	Name  string
	Value int64
	Bad   bool // more than zero of these breaks a rule or needs a look
}

// Rows is the account by kind of work.
func (r *Result) Rows() []Row {
	c := func(name string, v int64) Cell { return Cell{Name: name, Value: v} }
	bad := func(name string, v int64) Cell { return Cell{Name: name, Value: v, Bad: v > 0} }
	rows := []Row{
		{"Commands", []Cell{
			c("sent", r.Commands.Sent), c("acknowledged", r.Commands.Acknowledged),
			bad("failed", r.Commands.Failed), bad("unknown", r.Commands.Unknown), bad("wrong replies", r.WrongReplies),
		}},
		{"INCR", []Cell{
			c("acknowledged", r.Incr.Acknowledged), c("in the server", r.Incr.Value),
			bad("unknown", r.Incr.Unknown), bad("counters off", r.Incr.Mismatched),
		}},
		{"SET", []Cell{c("keys in the server", r.Values.Keys), bad("lost", r.Values.Lost)}},
		{"Pub/Sub", []Cell{
			c("published", r.PubSub.Published), c("received", r.PubSub.Received),
			bad("lost", r.PubSub.Lost), bad("twice", r.PubSub.Duplicated), bad("out of order", r.PubSub.Reordered),
			c("gaps told", r.PubSub.Gaps),
		}},
		{"WATCH", []Cell{
			c("committed", r.Watch.Committed), c("in the server", r.Watch.Value),
			c("conflicts", r.Watch.Conflicts), bad("failed", r.Watch.Failed), bad("unknown", r.Watch.Unknown),
		}},
		{"BLPOP", []Cell{
			c("pushed", r.Blocking.Pushed), c("served", r.Blocking.Served), c("left", r.Blocking.Left),
			bad("failed", r.Blocking.Failed), bad("lost", r.Blocking.Lost), bad("twice", r.Blocking.Duplicated), bad("unknown", r.Blocking.Unknown),
		}},
		{"History", []Cell{
			c("recorded", r.History.Operations), c("keys", r.History.Keys),
			bad("not linearizable", r.History.Violations), c("not checked", r.History.Unchecked),
		}},
		{"App retries", []Cell{
			c("BLPOP", r.AppRetries.Blocking), bad("Pub/Sub", r.AppRetries.PubSub), c("WATCH", r.AppRetries.Watch),
		}},
		{"Handoffs", []Cell{
			c("started", r.Handoffs.Started), c("succeeded", r.Handoffs.Succeeded), bad("failed", r.Handoffs.Failed),
		}},
	}
	if r.Cluster.Nodes > 0 {
		return append(rows,
			Row{"Shard channels", []Cell{c("unheard", r.PubSub.Unheard), bad("deaf", r.PubSub.Deaf)}},
			Row{"Slots", []Cell{
				c("moved", r.Cluster.SlotsMoved), c("MOVED", r.Cluster.Moved), c("ASK", r.Cluster.Ask),
				c("TRYAGAIN", r.Cluster.TryAgain), c("CLUSTERDOWN", r.Cluster.ClusterDown),
			}},
			Row{"Notices", []Cell{c("SMIGRATING", r.Notices.SMigrating), c("SMIGRATED", r.Notices.SMigrated)}})
	}
	return append(rows, Row{"Notices", []Cell{
		c("MOVING", r.Notices.Moving), c("MIGRATING", r.Notices.Migrating), c("MIGRATED", r.Notices.Migrated),
		c("FAILING_OVER", r.Notices.FailingOver), c("FAILED_OVER", r.Notices.FailedOver),
	}})
}

// WriteTable writes r for people.
func (r *Result) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Scenario %s, %s, %d workers, %.1f s, maintenance notifications %s, seed %d\n\n",
		r.Scenario, r.Server, r.Workers, r.DurationS, r.Mode, r.Seed)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range r.Rows() {
		fmt.Fprintf(t, "  %s", row.Name)
		for _, c := range row.Cells {
			fmt.Fprintf(t, "\t%s %s", Thousands(c.Value), c.Name)
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // into memory
	fmt.Fprintln(&b)

	t = tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "  Latency\tp50\tp99\tp99.9\tmax\tlongest gap\t")
	for _, p := range r.PhaseRows() {
		l := p.Latency
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t\n", p.Name,
			Micros(l.P50), Micros(l.P99), Micros(l.P999), Micros(l.Max), Micros(int64(p.GapMS*1000)))
	}
	_ = t.Flush() // into memory
	fmt.Fprintf(&b, "\n  %s commands a second; longest gap %s, or %s but for the server's own stalls",
		Thousands(int64(r.OpsPerS)), Micros(int64(r.LongestGapMS*1000)), Micros(int64(r.GapOutsideStallsMS*1000)))
	if r.InFlightAtCut > 0 || r.RecoveryMS > 0 {
		fmt.Fprintf(&b, "\n  %d in flight at the cut, every worker served again %.0f ms after the server was back", r.InFlightAtCut, r.RecoveryMS)
	}
	if g := r.Growth; g.Goroutines.Before > 0 {
		fmt.Fprintf(&b, "\n  goroutines %d before, %d at most, %d at its end, %d after; heap %d KB before, %d KB at its end",
			g.Goroutines.Before, g.Goroutines.Most, g.Goroutines.End, g.Goroutines.After, g.HeapKB.Before, g.HeapKB.End)
	}
	if r.Cluster.SlotsMoved > 0 {
		fmt.Fprintf(&b, "\n  %.3f MOVED for each slot that moved", r.Cluster.MovedPerSlot)
	}
	fmt.Fprintln(&b)
	writeErrors(&b, "Errors", r.Errors)
	writeErrors(&b, "Errors of BLPOP, WATCH and subscriptions", r.AppErrors)
	if len(r.Allowed) > 0 {
		fmt.Fprint(&b, "\n  Allowed here, as connections end without a word\n")
		for _, a := range r.Allowed {
			fmt.Fprintf(&b, "    %s\n", a)
		}
	}
	if r.OK {
		fmt.Fprint(&b, "\nOK: the application would have felt nothing that this scenario does not allow.\n")
	} else {
		fmt.Fprint(&b, "\nNOT OK:\n")
		for _, p := range r.Problems {
			fmt.Fprintf(&b, "  - %s\n", p)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A PhaseRow is what was measured in one phase.
type PhaseRow struct {
	Name    string
	Seconds float64
	Latency Latency
	GapMS   float64
}

// PhaseRows are the phases in order.
func (r *Result) PhaseRows() []PhaseRow {
	return []PhaseRow{
		{"before", r.PhaseS.Before, r.LatencyUS.Before, r.GapMS.Before},
		{"during", r.PhaseS.During, r.LatencyUS.During, r.GapMS.During},
		{"after", r.PhaseS.After, r.LatencyUS.After, r.GapMS.After},
	}
}

// Sorted returns the messages of m, the most frequent first.
func Sorted(m map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
}

// maxErrors is how many different messages the table has.
const maxErrors = 12

func writeErrors(b *strings.Builder, title string, m map[string]int64) {
	if len(m) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  %s\n", title)
	for i, msg := range Sorted(m) {
		if i == maxErrors {
			fmt.Fprintf(b, "  %10s  others, see the JSON\n", fmt.Sprint(len(m)-i))
			break
		}
		fmt.Fprintf(b, "  %10s  %s\n", Thousands(m[msg]), msg)
	}
}

// Thousands is v with its thousands apart.
func Thousands(v int64) string {
	if v < 0 {
		return "-" + Thousands(-v)
	}
	s := fmt.Sprint(v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Micros is a time in microseconds in the unit that suits it.
func Micros(us int64) string {
	switch {
	case us < 1000:
		return fmt.Sprintf("%d µs", us)
	case us < 10_000:
		return fmt.Sprintf("%.2f ms", float64(us)/1000)
	case us < 100_000:
		return fmt.Sprintf("%.1f ms", float64(us)/1000)
	case us < 10_000_000:
		return fmt.Sprintf("%d ms", us/1000)
	}
	return fmt.Sprintf("%.1f s", float64(us)/1e6)
}
