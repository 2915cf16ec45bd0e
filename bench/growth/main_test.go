package main

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/program"
	"github.com/baton-go/redis/bench/internal/rig"
	"github.com/baton-go/redis/internal/realserver"
)

func TestMain(m *testing.M) {
	rig.PlayRole(roles())
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args  string
		parts string
		plan  plan
	}{
		{
			"", "goroutines links nodes memory large slow ready polling",
			plan{300 * time.Millisecond, time.Second, 250 * time.Millisecond, 3, 20, false},
		},
		{
			"-quick -parts slow,large", "slow large",
			plan{80 * time.Millisecond, 200 * time.Millisecond, 150 * time.Millisecond, 1, 3, true},
		},
		{
			"-window 40ms -rounds 5 -pairs 2 -parts ready", "ready",
			plan{40 * time.Millisecond, 40 * time.Millisecond, 40 * time.Millisecond, 5, 2, false},
		},
	} {
		o, err := parse(strings.Fields(tt.args), io.Discard)
		if err != nil || strings.Join(o.parts, " ") != tt.parts || o.plan != tt.plan || o.server != realserver.Redis7 {
			t.Errorf("%q: got %+v, %v, want %s and %+v", tt.args, o, err, tt.parts, tt.plan)
		}
	}
}

func TestWrongCalls(t *testing.T) {
	for args, want := range map[string]string{
		"-parts slow,fast":          `unknown part "fast"`,
		"-pairs -1":                 "negative",
		"now":                       `unknown argument "now"`,
		"-window soon":              "invalid value",
		"-json /nowhere/at/all":     "no such file",
		"-parts slow -html -":       "to a file only",
		"-server redis-0.1 -rounds": "needs an argument",
	} {
		var stderr strings.Builder
		if code := run(t.Context(), strings.Fields(args), io.Discard, &stderr); code != program.Usage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: got exit status %d and %q, want %d and %q", args, code, stderr.String(), program.Usage, want)
		}
	}
	if code := run(t.Context(), []string{"-help"}, io.Discard, io.Discard); code != program.OK {
		t.Errorf("-help: got exit status %d, want %d", code, program.OK)
	}
}

func TestMissingServerFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	var stderr strings.Builder
	code := run(t.Context(), []string{"-server", "redis-0.1", "-json", path}, io.Discard, &stderr)
	if code != program.Failed || !strings.Contains(stderr.String(), "make servers") {
		t.Errorf("got exit status %d and %q, want %d and advice", code, stderr.String(), program.Failed)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file without figures was left")
	}
}

func TestValuesDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for i := range 10_000 {
		v := value(i, smallSize)
		if len(v) != smallSize || seen[v] {
			t.Fatalf("value %d: %q is not new, or not %d bytes", i, v, smallSize)
		}
		seen[v] = true
	}
	if v := value(7, 1_000_000); len(v) != 1_000_000 {
		t.Errorf("got %d bytes", len(v))
	}
}

// measureTiny measures parts in no time, which gives figures that mean nothing.
func measureTiny(ctx context.Context, t *testing.T, names ...string) *Result {
	t.Helper()
	realserver.Require(t, realserver.Redis7)
	o := options{plan: newPlan(true, 60*time.Millisecond, 1, 1), parts: names, server: realserver.Redis7}
	far := sizes{callers: []int{1, 20}, links: []int{1, 3}, nodes: []int{1, 2}, crowd: 4, held: 100, large: []largeSize{{300_000, 1}, {5_000_000, 1}}}
	r, err := measure(ctx, o, far, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryPartMeasures(t *testing.T) {
	r := measureTiny(t.Context(), t, partNames()...)
	for _, row := range slices.Concat(r.Goroutines, r.Links) {
		if row.OpsPerSecond <= 0 || row.NsPerOp <= 0 || row.N < 1 {
			t.Errorf("got %+v", row)
		}
	}
	for _, row := range r.Nodes {
		if row.OpsPerSecond <= 0 || row.Ns.Median <= 0 || row.Goroutines < 1 || row.N == 1 && (row.Ns.Median != 1 || row.Ns.High != 1) {
			t.Errorf("got %+v", row)
		}
	}
	for _, row := range slices.Concat(r.Ready, r.Polling) {
		if row.OpsA <= 0 || row.OpsB <= 0 || row.Ops.Median <= 0 {
			t.Errorf("got %+v", row)
		}
	}
	for _, row := range r.Large {
		if row.Milliseconds <= 0 || row.MBPerSecond <= 0 {
			t.Errorf("got %+v", row)
		}
	}
	for _, row := range r.Slow {
		if row.AloneP50 <= 0 || row.BesideP99 < row.BesideP50 || row.MBPerSecond <= 0 {
			t.Errorf("got %+v", row)
		}
	}
	for what, got := range map[string][2]int{
		"goroutines": {len(r.Goroutines), 8}, "links": {len(r.Links), 4}, "nodes": {len(r.Nodes), 48}, "memory": {len(r.Memory), 7}, "large": {len(r.Large), 16},
		"slow": {len(r.Slow), 3}, "ready": {len(r.Ready), 6}, "polling": {len(r.Polling), 4}, "tables": {len(r.tables()), 8},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: got %d rows, want %d", what, got[0], got[1])
		}
	}
	var page strings.Builder
	if err := writePage(&page, r, time.Now()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), "<svg"); n != 13 {
		t.Errorf("got %d charts, want 13", n)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), "growth.html"), []byte(page.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// Whoever reads the JSON relies on its names.
func TestNamesInJSONAreStable(t *testing.T) {
	r := newResult(options{server: "s"})
	r.Goroutines = []CostRow{costRow("get", 1, nil)}
	r.Links = r.Goroutines
	r.Nodes = []NodesRow{{}}
	r.Memory = []MemoryRow{memoryRow("link", 1, nil)}
	r.Large = []LargeRow{{}}
	r.Slow = []SlowRow{{}}
	r.Ready = []gauge.Comparison{gauge.Compare("x", 1, nil)}
	r.Polling = r.Ready
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	keys := func(v any) string {
		row := v.([]any)[0].(map[string]any)
		return strings.Join(slices.Sorted(maps.Keys(row)), " ")
	}
	const (
		cost = "allocated_bytes_per_op allocs_per_op cpu_us_per_op n ns_per_op op ops_per_second"
		pair = "allocs_per_op_a allocs_per_op_b cpu_ratio cpu_us_per_op_a cpu_us_per_op_b n name ops_per_second_a ops_per_second_b ops_ratio"
	)
	for name, want := range map[string]string{
		"goroutines": cost, "links": cost, "ready": pair, "polling": pair,
		"nodes":  "allocated_bytes_per_op allocs_per_op callers cpu_ratio cpu_us_per_op goroutines n ns_per_op ns_ratio op ops_per_second servers",
		"memory": "heap_bytes n stack_bytes what",
		"large":  "allocated_bytes allocs client cpu_ms kept_bytes mb_per_second ms op peak_heap_bytes size_bytes",
		"slow": "alone_ops_per_second alone_p50_us alone_p99_us beside_ops_per_second beside_p50_us beside_p99_us client " +
			"large_mb_per_second",
	} {
		if keys(got[name]) != want {
			t.Errorf("%s: got the names %s, want %s", name, keys(got[name]), want)
		}
		delete(got, name)
	}
	const rest = "arch cpus go os pairs quick rounds schema server window_ms"
	if names := strings.Join(slices.Sorted(maps.Keys(got)), " "); names != rest {
		t.Errorf("got the names %s, want %s", names, rest)
	}
}

func TestKeptMemoryIsJudged(t *testing.T) {
	base := gauge.Settled()
	var keep [][]byte
	c, err := largeOp(2, func() (func() error, error) {
		keep = append(keep, make([]byte, mostKept))
		return func() error { return nil }, nil
	})
	if err != nil || c.kept < mostKept || len(keep) != 2 {
		t.Errorf("got %d bytes kept on top of %d, %v, want %d at least", c.kept, base.Heap, err, mostKept)
	}
	r := c.row("baton", "set", 1000)
	if err := tooMuchKept([]LargeRow{r}); err == nil {
		t.Error("no error although too much was kept")
	}
	r.Client = "rueidis"
	if err := tooMuchKept([]LargeRow{r}); err != nil {
		t.Errorf("got %v for a client that is not ours", err)
	}
}
