package target

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/compare/internal/subject"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// measured is a subject with the same rate in each of two rounds.
func measured(name string, family subject.Family, rate, p50, p99 float64) *result.Subject {
	return &result.Subject{
		Name: name, Family: string(family), OpsPerS: rate, OpsPerSRounds: []float64{rate, rate},
		Latency: result.Latency{P50: p50, P99: p99},
	}
}

func cell(workload string, goroutines int, transport, context string) *result.Cell {
	return &result.Cell{
		Key: result.Key{Workload: workload, Goroutines: goroutines, Transport: transport, Context: context},
		Subjects: []*result.Subject{
			measured(subject.Baton, subject.FamilyBaton, 1200, 30, 90),
			measured(subject.BatonNoPoll, subject.FamilyBaton, 900, 30, 90),
			measured(subject.BatonOff, subject.FamilyBaton, 1210, 30, 90),
			measured(subject.GoRedis, subject.FamilyGoRedis, 300, 25, 400),
			measured(subject.GoRedisAutoPipeline, subject.FamilyGoRedis, 1000, 60, 100),
			measured(subject.Rueidis, subject.FamilyRueidis, 400, 40, 300),
			measured(subject.RueidisDelay, subject.FamilyRueidis, 800, 50, 200),
			measured(subject.Redigo, subject.FamilyRedigo, 200, 45, 500),
		},
	}
}

// All targets are in a file, so that a change of one is seen.
func TestAllTargets(t *testing.T) {
	r := &result.Result{}
	for _, w := range []string{"get64", "set64", "mixed", "get4k", "pipe100"} {
		for _, goroutines := range []int{1, 8, 64, 512, 2048} {
			r.Cells = append(r.Cells, cell(w, goroutines, "tcp", "background"))
		}
	}
	r.Cells = append(r.Cells, cell("get64", 64, "cluster", "background"))
	cancel := cell("get64", 64, "tcp", "cancel")
	cancel.Find(subject.Baton).OpsPerSRounds = []float64{1140, 1140}
	r.Cells = append(r.Cells, cancel)

	var b strings.Builder
	for _, target := range Judge(r) {
		fmt.Fprintf(&b, "%s | %s | %s | %s | %.3f | %s\n", target.Group, target.What, target.Against, target.Wanted(), target.Measured, target.Outcome)
	}
	golden := filepath.Join("testdata", "targets.golden")
	if *rewrite {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
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

func TestNothingMeasuredIsNoFailure(t *testing.T) {
	for _, r := range []*result.Result{
		{},
		{Cells: []*result.Cell{{Key: result.Key{Workload: "get64", Goroutines: 64, Transport: "tcp", Context: "background"}, NotMeasured: "no server"}}},
		{Cells: []*result.Cell{{
			Key:      result.Key{Workload: "get64", Goroutines: 64, Transport: "tcp", Context: "background"},
			Subjects: []*result.Subject{{Name: subject.Baton, Error: "broken", OpsPerSRounds: []float64{0}}, measured(subject.Rueidis, subject.FamilyRueidis, 1, 1, 1)},
		}}},
	} {
		for _, target := range Judge(r) {
			if target.Outcome == result.OK || math.IsNaN(target.Measured) {
				t.Errorf("%s, %s: measured %v, %s", target.What, target.Against, target.Measured, target.Outcome)
			}
		}
	}
}
