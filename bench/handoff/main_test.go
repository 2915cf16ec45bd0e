package main

import (
	"encoding/json"
	"errors"
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
	"github.com/baton-go/redis/maintnotifications"
)

func TestMain(m *testing.M) {
	rig.PlayRole(roles())
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	for args, want := range map[string]options{
		"":                        {realserver.Redis7, 64, 10, time.Second, 20, ""},
		"-quick -server embedded": {embedded, 64, 4, 300 * time.Millisecond, 3, ""},
		"-goroutines 5 -handoffs 2 -json x -second 2s -pairs 4": {realserver.Redis7, 5, 2, 2 * time.Second, 4, "x"},
	} {
		if got, err := parse(strings.Fields(args), io.Discard); got != want || err != nil {
			t.Errorf("%q: got %+v, %v, want %+v", args, got, err, want)
		}
	}
}

func TestWrongCalls(t *testing.T) {
	for args, want := range map[string]string{
		"now":                   `unknown argument "now"`,
		"-handoffs 0":           "1 at least",
		"-second 1ms":           "10ms at least",
		"-server redis-0.1":     `unknown server "redis-0.1"`,
		"-pairs many":           "invalid value",
		"-json /nowhere/at/all": "no such file",
	} {
		var stderr strings.Builder
		if code := run(t.Context(), strings.Fields(args), io.Discard, &stderr); code != program.Usage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: got exit status %d and %q, want %d and %q", args, code, stderr.String(), program.Usage, want)
		}
	}
}

func TestServeSimWantsItsArguments(t *testing.T) {
	for _, args := range [][]string{nil, {embedded, "soon"}, {"127.0.0.1:1", "1s"}} {
		if err := serveSim(args, strings.NewReader(""), io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// tiny are options with which the figures mean nothing.
func tiny(server string) options {
	return options{server: server, goroutines: 8, handoffs: 2, second: 400 * time.Millisecond, pairs: 1}
}

func TestHandoffsAreFollowed(t *testing.T) {
	for _, server := range []string{embedded, realserver.Redis7} {
		t.Run(server, func(t *testing.T) {
			if server != embedded {
				realserver.Require(t, server)
			}
			r, err := measure(t.Context(), tiny(server), t.Output())
			if err != nil {
				t.Fatal(err)
			}
			if r.Moves.N != 2 || r.Moves.Links < 2 || r.Moves.TookMS <= 0 || r.Moves.LongMS < r.Moves.TookMS {
				t.Errorf("got %+v, want 2 moves with a link each", r.Moves)
			}
			for name, s := range map[string]Seconds{"handoff": r.Handoff, "control": r.Control} {
				if s.N != 2 || s.OpsBefore <= 0 || s.OpsAfter <= 0 || s.P99After < s.P50After || s.MaxAfter < s.P99After || s.Ops.Median <= 0 {
					t.Errorf("%s: got %+v", name, s)
				}
			}
			if r.Ready.OpsA <= 0 || r.Ready.OpsB <= 0 {
				t.Errorf("got %+v", r.Ready)
			}
			for _, table := range r.tables() {
				if err := table.Write(t.Output()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestFiguresAreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	var stdout, stderr strings.Builder
	args := "-server embedded -goroutines 2 -handoffs 1 -pairs 1 -second 200ms -json " + path
	if code := run(t.Context(), strings.Fields(args), &stdout, &stderr); code != program.OK {
		t.Fatalf("got exit status %d and %q", code, stderr.String())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := json.Unmarshal(text, &r); err != nil || r.Schema != schema || r.Moves.N != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if !strings.Contains(stdout.String(), "with a handoff") || !strings.Contains(stderr.String(), "handoff 1 of 1") {
		t.Errorf("got the tables %q and the progress %q", stdout.String(), stderr.String())
	}
}

func TestWorkersSeeWrongReplies(t *testing.T) {
	sim, err := startSim(t.Context(), embedded, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	b := newClient(sim.addr, maintnotifications.ModeDisabled, new(handovers))
	defer func() {
		if err := errors.Join(b.Close(), sim.Close()); err != nil {
			t.Error(err)
		}
	}()
	ops, err := workers(t.Context(), b, "w", 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := ops[0](); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Incr(t.Context(), "handoff:w:0:n").Err(); err != nil { // as if one was executed twice
		t.Fatal(err)
	}
	if err := ops[0](); !errors.Is(err, rig.ErrWrongValue) {
		t.Errorf("got %v, want %v", err, rig.ErrWrongValue)
	}
	if err := b.Set(t.Context(), "handoff:w:0", "other"); err != nil {
		t.Fatal(err)
	}
	if err := ops[0](); !errors.Is(err, rig.ErrWrongValue) {
		t.Errorf("got %v, want %v", err, rig.ErrWrongValue)
	}
}

func TestHandoversAreTakenOnce(t *testing.T) {
	var h handovers
	bad := errors.New("refused")
	h.done("MOVING", "a", nil)
	h.done("MOVING", "b", bad)
	if ends, err := h.take(); len(ends) != 2 || !errors.Is(err, bad) {
		t.Errorf("got %d, %v, want 2 and %v", len(ends), err, bad)
	}
	if ends, err := h.take(); len(ends) != 0 || err != nil {
		t.Errorf("got %d, %v, want none", len(ends), err)
	}
}

func TestSecondsAreComparedPairByPair(t *testing.T) {
	at := func(ops int64, p99 float64) second {
		return second{cost: gauge.Cost{Ops: ops, Wall: time.Second}, p50: 1, p99: p99, max: 2 * p99}
	}
	got := seconds([]gauge.Pair[second]{{A: at(100, 10), B: at(50, 40)}, {A: at(200, 10), B: at(150, 20)}, {A: at(100, 10), B: at(100, 10)}})
	if got.N != 3 || got.Ops.Median != 0.75 || got.P99.Median != 2 || got.OpsBefore != 100 || got.OpsAfter != 100 || got.MaxAfter != 40 {
		t.Errorf("got %+v", got)
	}
}

// Whoever reads the JSON relies on its names.
func TestNamesInJSONAreStable(t *testing.T) {
	text, err := json.Marshal(Result{})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	keys := func(v any) string { return strings.Join(slices.Sorted(maps.Keys(v.(map[string]any))), " ") }
	const of2 = "cpu_ratio max_us max_us_before n ops_per_second ops_per_second_before ops_ratio p50_ratio p50_us p50_us_before p99_ratio p99_us p99_us_before"
	for name, want := range map[string]string{
		"handoff": of2, "control": of2,
		"moves": "connections_closed_by_server in_flight_when_closed links_handed_over n took_ms_max took_ms_median",
		"ready": "allocs_per_op_a allocs_per_op_b cpu_ratio cpu_us_per_op_a cpu_us_per_op_b n name ops_per_second_a ops_per_second_b ops_ratio",
	} {
		if keys(got[name]) != want {
			t.Errorf("%s: got the names %s, want %s", name, keys(got[name]), want)
		}
	}
	if want := "arch control cpus go goroutines handoff moves os ready schema second_ms server"; keys(got) != want {
		t.Errorf("got the names %s, want %s", keys(got), want)
	}
}
