package result

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRatiosLeaveFailedRoundsOut(t *testing.T) {
	got := Ratios([]float64{10, 0, 30, 40}, []float64{5, 5, 0, 10, 7})
	if diff := cmp.Diff([]float64{2, 4}, got); diff != "" {
		t.Error(diff)
	}
}

// A machine that slows down for a round slows down both, so the ratio stays.
func TestPairRatioStandsDrift(t *testing.T) {
	a := &Subject{OpsPerSRounds: []float64{200, 20, 100, 400, 2}}
	b := &Subject{OpsPerSRounds: []float64{100, 10, 50, 200, 1}}
	if got := PairRatio(a, b); got != 2 {
		t.Errorf("ratio %v, want 2", got)
	}
	for _, pair := range [][2]*Subject{{nil, b}, {a, nil}, {a, {OpsPerSRounds: []float64{0, 0, 0}}}} {
		if got := PairRatio(pair[0], pair[1]); got != 0 {
			t.Errorf("ratio %v, want 0 for not known", got)
		}
	}
}

func TestFastestLeavesFailuresOut(t *testing.T) {
	c := &Cell{Subjects: []*Subject{
		{Name: "a", OpsPerS: 10}, {Name: "b", OpsPerS: 30}, {Name: "c", OpsPerS: 20}, {Name: "d"},
	}}
	if got := c.Fastest(func(s *Subject) bool { return s.Name != "b" }); got == nil || got.Name != "c" {
		t.Errorf("got %v, want c", got)
	}
	if got := c.Fastest(func(s *Subject) bool { return s.Name == "d" }); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
}

func TestJudged(t *testing.T) {
	least, most := Target{Limit: 1.2}, Target{Limit: 0.4, AtMost: true}
	for _, tt := range []struct {
		target   Target
		measured float64
		want     Outcome
	}{
		{least, 1.2, OK},
		{least, 1.19, Short},
		{least, 3, OK},
		{most, 0.4, OK},
		{most, 0.41, Short},
		{most, 0.1, OK},
		{least, 0, NotMeasured},
		{most, 0, NotMeasured},
		{least, math.Inf(1), OK},
	} {
		got := tt.target.Judged(tt.measured)
		if got.Outcome != tt.want || got.Measured != tt.measured {
			t.Errorf("%v of %q: %v, want %v", tt.measured, tt.target.Wanted(), got.Outcome, tt.want)
		}
	}
}

// Others read the JSON: keys may be added, never change.
func TestJSONKeysAreStable(t *testing.T) {
	r := &Result{
		Environment: Environment{Modules: map[string]string{"m": "v1"}},
		Cells: []*Cell{
			{Key: Key{Workload: "get64"}, NotMeasured: "why", Subjects: []*Subject{{Error: "x", NotMeasured: "why", Trials: []Trial{{}}}}},
		},
		Targets: []Target{{}},
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"cells", "cells.context", "cells.goroutines", "cells.not_measured", "cells.others_cpu", "cells.subjects",
		"cells.subjects.allocs_per_op", "cells.subjects.baton_ratio", "cells.subjects.bytes_per_op", "cells.subjects.client_cpu_us_per_op",
		"cells.subjects.error", "cells.subjects.family", "cells.subjects.latency_us", "cells.subjects.latency_us.max",
		"cells.subjects.latency_us.p50", "cells.subjects.latency_us.p99", "cells.subjects.latency_us.p999", "cells.subjects.latency_us.timed",
		"cells.subjects.name", "cells.subjects.not_measured", "cells.subjects.ops_per_s", "cells.subjects.ops_per_s_rounds", "cells.subjects.server_cpu_us_per_op",
		"cells.subjects.setting", "cells.subjects.trials", "cells.subjects.trials.ops_per_s", "cells.subjects.trials.setting",
		"cells.transport", "cells.workload", "date", "environment", "environment.arch", "environment.cpus", "environment.go",
		"environment.gomaxprocs", "environment.modules", "environment.modules.m", "environment.os", "environment.server",
		"environment.server_program", "quick", "rounds", "seed", "slice_s", "targets", "targets.against", "targets.at_most", "targets.group",
		"targets.limit", "targets.measured", "targets.outcome", "targets.what", "version", "warm_s",
	}
	got := paths("", tree, map[string]bool{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
