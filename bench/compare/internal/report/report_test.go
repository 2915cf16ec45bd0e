package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/compare/internal/subject"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// example is a result with everything in it.
func example() *result.Result {
	r := &result.Result{
		Version: 1, Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 7, Rounds: 3, SliceS: 0.45,
		Environment: result.Environment{
			Go: "go1.26", OS: "linux", Arch: "amd64", CPUs: 2, Server: "redis 7.0.15",
			Modules: map[string]string{"github.com/redis/rueidis": "v1.0.79"},
		},
		Targets: []result.Target{
			result.Target{Group: "throughput", What: "get64, 64 goroutines", Against: "rueidis", Limit: 3}.Judged(3.456),
			result.Target{Group: "latency", What: "p99, get64", Against: "rueidis", Limit: 0.4, AtMost: true}.Judged(0.5),
			result.Target{Group: "polling", What: "get64, 1 goroutine", Against: "nobody", Limit: 1}.Judged(0),
		},
	}
	for _, goroutines := range []int{512, 1, 64} {
		rate := 30_000 * float64(goroutines)
		r.Cells = append(r.Cells, &result.Cell{
			Key: result.Key{Workload: "get64", Goroutines: goroutines, Transport: "tcp", Context: "background"},
			Subjects: []*result.Subject{
				{
					Name: subject.Baton, Family: "baton", Setting: "default", OpsPerS: rate, BatonRatio: 1,
					Latency: result.Latency{P50: 31.26, P99: 312.5, P999: 4321, Max: 23_456}, AllocsPerOp: 1.004, BytesPerOp: 96,
					ClientCPUMicrosPer: 1.5, ServerCPUMicrosPer: 0.5,
				},
				{
					Name: subject.RueidisAlways, Family: "rueidis", Setting: "always <&>", OpsPerS: rate / 2.5, BatonRatio: 2.5,
					Latency: result.Latency{P50: 99.96, P99: 1000, P999: 1_234_567, Max: 12_345_678},
				},
			},
		})
	}
	r.Cells[2].OthersCPU = 0.25
	r.Cells = append(r.Cells,
		&result.Cell{
			Key:         result.Key{Workload: "get64", Goroutines: 64, Transport: "tls", Context: "background"},
			NotMeasured: "the server does not start with TLS",
		},
		&result.Cell{
			Key: result.Key{Workload: "mixed", Goroutines: 8, Transport: "unix", Context: "cancel"},
			Subjects: []*result.Subject{
				{Name: subject.Baton, Family: "baton", Setting: "default", Error: "wrong reply for <k>"},
				{Name: "newcomer", Family: "other", OpsPerS: 1234},
				{Name: "outsider", Family: "other", NotMeasured: "no client for <this>"},
			},
		})
	return r
}

func render(t *testing.T, r *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := WritePage(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), "page.html"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTable(&b, example()); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "table.golden")
	if *rewrite {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-want +got; accept with -rewrite:\n%s", diff)
	}
}

func TestPageHasEverything(t *testing.T) {
	page := render(t, example())
	for _, want := range []string{
		"Baton and its peers", "redis 7.0.15", "redis/rueidis v1.0.79", "3 rounds of 450 ms", "2 January 2026",
		"3.46", "≥ 3.00", "≤ 0.40", "1,920,000", "2.50x", "312 µs", "23.5 ms", "rueidis-always (always &lt;&amp;&gt;)",
		"the server does not start with TLS", "other processes used 25 %", "wrong reply for &lt;k&gt;", "newcomer", "(not measured: no client for &lt;this&gt;)",
		"get64, tcp, background", "mixed, unix, cancel", ">commands a second<", ">p99 of a call<", ">512<", ">1M<", ">500 µs<",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if n := strings.Count(page, "<svg"); n != 4 {
		t.Errorf("%d charts, want 4", n)
	}
	if n := strings.Count(page, "outsider"); n != 1 {
		t.Errorf("a client that was not measured is there %d times, want once, in the table", n)
	}
	if strings.Contains(page, "nobody") {
		t.Error("a target that was not measured has a line")
	}
}

// The page opens offline: it loads nothing and runs nothing.
func TestPageIsSelfContained(t *testing.T) {
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
	one := example()
	one.Cells = one.Cells[:1]
	gap := example()
	gap.Cells[2].Subjects = gap.Cells[2].Subjects[1:]
	flat := example()
	flat.Cells = flat.Cells[:1]
	flat.Cells[0].Subjects = []*result.Subject{{Name: "a", OpsPerS: 100, Latency: result.Latency{P99: 10}}}
	for name, r := range map[string]*result.Result{"full": example(), "one cell": one, "a gap": gap, "one value": flat, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			for page := render(t, r); ; {
				_, after, ok := strings.Cut(page, "<svg")
				if !ok {
					return
				}
				svg, rest, _ := strings.Cut(after, "</svg>")
				wellFormed(t, "<svg"+svg+"</svg>")
				page = rest
			}
		})
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error("a number is none")
	}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestScaleHoldsAllValues(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		lo, hi float64
		ticks  int
	}{
		{[]float64{14_000, 700_000}, 10_000, 1_000_000, 7},
		{[]float64{20_000, 50_000}, 20_000, 50_000, 2},
		{[]float64{1000}, 1000, 10_000, 4},
		{[]float64{1, 3_000_000}, 1, 5_000_000, 7},
		{nil, 1, 10, 4},
	} {
		c := chart{metric: metrics[0]}
		for _, v := range tt.values {
			c.cells = append(c.cells, &result.Cell{Subjects: []*result.Subject{{OpsPerS: v}}})
		}
		c.fit()
		if c.lo != tt.lo || c.hi != tt.hi || len(c.ticks()) != tt.ticks {
			t.Errorf("%v: from %v to %v with lines at %v, want %v to %v with %d lines", tt.values, c.lo, c.hi, c.ticks(), tt.lo, tt.hi, tt.ticks)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1_234_567.8: "1,234,568"} {
		if got := thousands(v); got != want {
			t.Errorf("thousands(%v) = %q, want %q", v, got, want)
		}
	}
	for us, want := range map[float64]string{
		0.1: "0.1 µs", 99.9: "99.9 µs", 512.4: "512 µs", 1024: "1.02 ms", 54_321: "54.3 ms", 123_456: "123 ms", 2e7: "20.0 s",
	} {
		if got := micros(us); got != want {
			t.Errorf("micros(%v) = %q, want %q", us, got, want)
		}
	}
}
