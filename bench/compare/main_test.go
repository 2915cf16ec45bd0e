package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/bench/compare/internal/contest"
	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/internal/program"
	"github.com/baton-go/redis/internal/realserver"
)

// A comparison for real, as small as can be.
func TestCompare(t *testing.T) {
	realserver.Require(t, realserver.Redis7)
	dir := t.TempDir()
	jsonFile, page := filepath.Join(dir, "c.json"), filepath.Join(dir, "c.html")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{
		"-workloads", "get64,pipe10", "-goroutines", "2", "-subjects", "baton,rueidis-always", "-contexts", "background,cancel",
		"-rounds", "2", "-time", "20ms", "-json", jsonFile, "-html", page,
	}, &stdout, &stderr)
	if code != program.OK {
		t.Fatalf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	for _, want := range []string{"get64, 2 goroutines, tcp, background", "pipe10, 2 goroutines, tcp, cancel", "rueidis-always (always", "Targets", page} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in the output:\n%s", want, &stdout)
		}
	}
	if !strings.Contains(stderr.String(), "1/2  get64, 2 goroutines, tcp") {
		t.Errorf("no progress: %q", &stderr)
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("<svg")) {
		t.Errorf("the page has no chart: %v", err)
	}
	text, err := os.ReadFile(jsonFile)
	if err != nil {
		t.Fatal(err)
	}
	checkJSON(t, text)
}

func checkJSON(t *testing.T, text []byte) {
	t.Helper()
	var res result.Result
	if err := json.Unmarshal(text, &res); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, c := range res.Cells {
		keys = append(keys, c.String())
		if len(c.Subjects) != 2 {
			t.Errorf("%s: %d clients", c, len(c.Subjects))
		}
		for _, s := range c.Subjects {
			if s.OpsPerS <= 0 || s.Error != "" || s.BatonRatio <= 0 || len(s.OpsPerSRounds) != 2 {
				t.Errorf("%s: %+v", c, s)
			}
			if l := s.Latency; l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.P999 || l.P999 > l.Max || l.Timed == 0 {
				t.Errorf("%s, %s: latency %+v", c, s.Name, l)
			}
		}
	}
	if diff := cmp.Diff([]string{
		"get64, 2 goroutines, tcp, background", "get64, 2 goroutines, tcp, cancel",
		"pipe10, 2 goroutines, tcp, background", "pipe10, 2 goroutines, tcp, cancel",
	}, keys); diff != "" {
		t.Errorf("cells: -want +got:\n%s", diff)
	}
	if res.Version != result.FormatVersion || len(res.Targets) == 0 || !strings.HasPrefix(res.Environment.Server, "redis 7") {
		t.Errorf("version %d, %d targets, server %q", res.Version, len(res.Targets), res.Environment.Server)
	}
}

// The same in a cluster.
func TestCompareInACluster(t *testing.T) {
	realserver.Require(t, realserver.Redis7)
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{
		"-transports", "cluster", "-workloads", "get64,mget10,pipe10", "-goroutines", "2", "-subjects", "baton,rueidis",
		"-rounds", "2", "-time", "20ms", "-json", "-",
	}, &stdout, &stderr)
	if code != program.OK {
		t.Fatalf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	var res result.Result
	if err := json.Unmarshal(stdout.Bytes(), &res); err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Cells {
		if several := c.Workload == "mget10"; several != (c.NotMeasured != "") || several != (len(c.Subjects) != 2) {
			t.Errorf("%s: not measured: %q, %d clients", c, c.NotMeasured, len(c.Subjects))
		}
		for _, s := range c.Subjects {
			if s.OpsPerS <= 0 || s.Error != "" || s.BatonRatio <= 0 || s.ServerCPUMicrosPer <= 0 {
				t.Errorf("%s: %+v", c, s)
			}
		}
	}
	if len(res.Cells) != 3 {
		t.Errorf("%d cells, want 3", len(res.Cells))
	}
}

func TestJSONOnStdoutIsAlone(t *testing.T) {
	realserver.Require(t, realserver.Redis7)
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{
		"-workloads", "get64", "-goroutines", "1", "-subjects", "baton", "-rounds", "1", "-time", "2ms", "-json", "-",
	}, &stdout, &stderr)
	if code != program.OK || !json.Valid(stdout.Bytes()) || !strings.Contains(stderr.String(), "Targets") {
		t.Errorf("exit code %d\n%s\n%s", code, &stdout, &stderr)
	}
}

func TestExitCodes(t *testing.T) {
	t.Setenv(realserver.EnvServers, t.TempDir())
	missing := filepath.Join(t.TempDir(), "no", "such", "file")
	for _, tt := range []struct {
		name string
		args []string
		code int
		told string
	}{
		{"help", []string{"-h"}, program.OK, "Usage"},
		{"wrong flag", []string{"-rounds", "x"}, program.Usage, "rounds"},
		{"wrong path", []string{"-json", missing}, program.Usage, "no such file"},
		{"page on stdout", []string{"-html", "-"}, program.Usage, "-html"},
		{"no server", nil, program.Failed, "make servers"},
		{"wrong server", []string{"-server", missing}, program.Failed, "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), tt.args, &stdout, &stderr); code != tt.code || !strings.Contains(stderr.String(), tt.told) {
				t.Errorf("exit code %d, want %d; told %q", code, tt.code, &stderr)
			}
		})
	}
}

func TestFailuresAreAnError(t *testing.T) {
	good := &result.Subject{OpsPerS: 1}
	if err := failure(&result.Result{Cells: []*result.Cell{{Subjects: []*result.Subject{good}}, {NotMeasured: "no TLS"}}}); err != nil {
		t.Errorf("error %v without a failure", err)
	}
	bad := &result.Subject{OpsPerS: 1, Error: "wrong reply"}
	if err := failure(&result.Result{Cells: []*result.Cell{{Subjects: []*result.Subject{good, bad}}}}); err == nil {
		t.Error("no error with a failure")
	}
}

func TestInterruptLeavesNoEmptyFile(t *testing.T) {
	realserver.Require(t, realserver.Redis7)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "c.json")
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"-json", file}, &stdout, &stderr); code != program.Failed {
		t.Errorf("exit code %d, want %d", code, program.Failed)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is there")
	}
}

func TestProgressIsALineNowAndThen(t *testing.T) {
	w, err := load.Named("get64")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	p := newProgress(&b)
	s := contest.Status{
		Block: contest.Block{Workload: w, Goroutines: 64, Transport: "tcp"}, Number: 2, Blocks: 9, Rounds: 7,
		Subject: "baton", Expected: time.Minute,
	}
	for i := range 25 {
		s.Elapsed = time.Duration(i) * time.Second
		s.Round = i / 4
		p.show(s)
	}
	p.close()
	want := `2/9  get64, 64 goroutines, tcp  settings  baton  (1m0s left)
2/9  get64, 64 goroutines, tcp  round 2/7  baton  (50s left)
2/9  get64, 64 goroutines, tcp  round 5/7  baton  (40s left)
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
