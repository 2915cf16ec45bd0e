package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/drill"
	"github.com/baton-go/redis/cmd/baton/internal/load"
)

// example is a report with everything in it.
func example() *drill.Report {
	rep := &drill.Report{
		Width:  100 * time.Millisecond,
		During: 2 * time.Second,
		After:  8 * time.Second,
		End:    10 * time.Second,
		Result: account.Result{
			Scenario: "failover-cut", Client: "test", Server: "embedded server", Mode: "auto", Workers: 64,
			Commands:      account.Commands{Sent: 1_234_567, Acknowledged: 1_234_500, Failed: 7, Unknown: 60},
			Errors:        map[string]int64{"incr: <script>alert(1)</script>": 60, "get: i/o timeout": 7},
			AppErrors:     map[string]int64{"blpop: EOF": 2},
			Problems:      []string{"7 commands failed.", "60 commands were <sent> and not answered."},
			InFlightAtCut: 70,
			RecoveryMS:    28.5,
		},
	}
	for i := range 100 {
		s := load.Sample{At: time.Duration(i) * rep.Width, Commands: int64(1000 + i), P50: 400, P99: 4000, Max: 40_000}
		if i > 40 && i < 60 {
			s = load.Sample{At: s.At, Failed: int64(i % 2)}
		}
		rep.Samples = append(rep.Samples, s)
	}
	for i, k := range []drill.MarkKind{
		drill.MarkNotice, drill.MarkStallBegin, drill.MarkStallEnd, drill.MarkHandoff, drill.MarkClosed, drill.MarkCut, drill.MarkBack,
		drill.MarkFault, drill.MarkRepaired, drill.MarkEndpoint, drill.MarkStep, drill.MarkOther,
	} {
		rep.Marks = append(rep.Marks, drill.Mark{At: time.Duration(i+1) * time.Second, Kind: k, Text: "mark <" + string(rune('a'+i)) + ">"})
	}
	return rep
}

func render(t *testing.T, rep *drill.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, rep, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), "report.html"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReportOfACluster(t *testing.T) {
	rep := example()
	rep.Result.Cluster = account.Cluster{Nodes: 4, SlotsMoved: 13_652, Moved: 676, MovedPerSlot: 0.0495}
	page := render(t, rep)
	for _, want := range []string{"13,652", "0.050", "MOVED for each slot that moved", ">slots<", "SMIGRATING"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(page, "connections handed over") {
		t.Error("the page speaks of handoffs")
	}
}

func TestReportHasEverything(t *testing.T) {
	page := render(t, example())
	for _, want := range []string{
		"Maintenance drill: failover-cut", "Not OK.", "2 rules were broken", "7 commands failed.", "60 commands were &lt;sent&gt;",
		"1,234,567", "get: i/o timeout", "&lt;script&gt;alert(1)", "blpop: EOF", "mark &lt;a&gt;", "2 January 2026",
		"Latency over time", "Throughput over time", "28.5 ms",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if n := strings.Count(page, "<svg"); n != 2 {
		t.Errorf("%d charts, want 2", n)
	}
	for _, lane := range []string{"notices", "handoffs", "closes", "cuts", "failures", "before", "during", "after", "p50", "p99", "max"} {
		if !strings.Contains(page, ">"+lane+"<") {
			t.Errorf("no %q in the charts", lane)
		}
	}
}

// The page opens offline: it loads nothing and runs nothing.
func TestReportIsSelfContained(t *testing.T) {
	page := render(t, example())
	page = strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, "")
	page = strings.ReplaceAll(page, `xmlns:xlink="http://www.w3.org/1999/xlink"`, "")
	for _, bad := range []string{`https?://`, `(?i)<script`, `(?i)<link`, `(?i)<img`, `(?i)<iframe`, `(?i)\bsrc=`, `(?i)@import`, `(?i)url\(`, `(?i)\son\w+=`} {
		if m := regexp.MustCompile(bad).FindString(page); m != "" {
			t.Errorf("the page has %q", m)
		}
	}
}

func TestChartsAreWellFormed(t *testing.T) {
	rep := example()
	crowd := example()
	for i := range 1000 {
		crowd.Marks = append(crowd.Marks, drill.Mark{At: time.Duration(i) * 10 * time.Millisecond, Kind: drill.MarkNotice})
	}
	empty := &drill.Report{Width: rep.Width}
	one := &drill.Report{Width: rep.Width, End: rep.Width, Samples: rep.Samples[:1]}
	idle := &drill.Report{Width: rep.Width, End: time.Second, Samples: make([]load.Sample, 10)}
	for name, r := range map[string]*drill.Report{"full": rep, "crowded": crowd, "empty": empty, "one sample": one, "idle": idle} {
		t.Run(name, func(t *testing.T) {
			page := render(t, r)
			for {
				from := strings.Index(page, "<svg")
				if from < 0 {
					break
				}
				to := strings.Index(page, "</svg>") + len("</svg>")
				d := xml.NewDecoder(strings.NewReader(page[from:to]))
				for {
					_, err := d.Token()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				page = page[to:]
			}
		})
	}
}

func TestVerdictSaysWhatHappened(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    account.Result
		want string
	}{
		{"good", account.Result{OK: true, Commands: account.Commands{Sent: 1500}}, "noticed nothing: 1,500 commands"},
		{"good cut", account.Result{OK: true, InFlightAtCut: 134, Commands: account.Commands{Unknown: 54}}, "with 134 commands in flight. The client said of 54"},
		{"one problem", account.Result{Problems: []string{"x"}}, "One rule was broken"},
		{"two problems", account.Result{Problems: []string{"x", "y"}}, "2 rules were broken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := verdict(&tt.r); !strings.Contains(got, tt.want) {
				t.Errorf("verdict = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAxes(t *testing.T) {
	for in, want := range map[float64]float64{1: 1, 1.1: 2, 2.4: 5, 7: 10, 18_000: 20_000, 83_000: 100_000, 0.2: 1} {
		if got := niceStep(in); got != want {
			t.Errorf("niceStep(%v) = %v, want %v", in, got, want)
		}
	}
	for end, want := range map[time.Duration]time.Duration{
		4 * time.Second: 500 * time.Millisecond, 32 * time.Second: 5 * time.Second, 66 * time.Second: 5 * time.Second,
		time.Hour: 5 * time.Minute, 10 * time.Hour: 10 * time.Minute,
	} {
		if got := timeStep(end); got != want {
			t.Errorf("timeStep(%v) = %v, want %v", end, got, want)
		}
	}
}
