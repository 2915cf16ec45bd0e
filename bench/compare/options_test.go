package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/bench/compare/internal/subject"
)

func parsedOptions(t *testing.T, args ...string) options {
	t.Helper()
	var stderr bytes.Buffer
	o, err := parse(args, &stderr)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &stderr)
	}
	return o
}

// blocks are those of a plan, a line each.
func blocks(o options) []string {
	var lines []string
	for _, b := range o.plan.Blocks {
		var contexts []string
		for _, c := range b.Contexts {
			contexts = append(contexts, string(c))
		}
		lines = append(lines, fmt.Sprintf("%s %d %s %s", b.Workload.Name, b.Goroutines, b.Transport, strings.Join(contexts, "+")))
	}
	return lines
}

func TestDefaultMeasuresEverythingOnceAndSomeThingsMore(t *testing.T) {
	o := parsedOptions(t)
	got := blocks(o)
	if want := 8*5 + 2*3*3; len(got) != want {
		t.Errorf("%d blocks, want %d", len(got), want)
	}
	for _, want := range []string{
		"get64 1 tcp background+cancel", "mixed 512 tcp background+cancel", "get64 8 tcp background", "set64 64 tcp background",
		"pipe100 2048 tcp background", "get64 64 tls background", "mixed 1 unix background",
		"get64 64 cluster background", "mixed 512 cluster background",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no block %q in %q", want, got)
		}
	}
	if o.plan.Rounds != 7 || len(o.plan.Subjects) != len(subject.All()) || o.plan.Seed != 1 {
		t.Errorf("%d rounds of %d clients with seed %d", o.plan.Rounds, len(o.plan.Subjects), o.plan.Seed)
	}
	if d := o.plan.Expected(); d < 30*time.Minute || d > 45*time.Minute {
		t.Errorf("it takes %v, want 30 to 45 minutes", d)
	}
}

func TestQuickIsQuick(t *testing.T) {
	o := parsedOptions(t, "-quick")
	if d := o.plan.Expected(); d > 55*time.Second {
		t.Errorf("it takes %v, want less than a minute", d)
	}
	if got := blocks(o); len(got) != 9 || got[0] != "get64 1 tcp background" {
		t.Errorf("blocks %q", got)
	}
}

func TestSelectionIsAProduct(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{
			[]string{"-workloads", "incr,get4k", "-goroutines", "3,1"},
			[]string{"incr 3 tcp background", "incr 1 tcp background", "get4k 3 tcp background", "get4k 1 tcp background"},
		},
		{
			[]string{"--workloads=incr", "-goroutines=1", "-transports", "unix,tls", "-contexts", "timeout, cancel"},
			[]string{"incr 1 unix timeout+cancel", "incr 1 tls timeout+cancel"},
		},
		{
			[]string{"-quick", "-workloads", "set64"},
			[]string{"set64 1 tcp background", "set64 64 tcp background", "set64 512 tcp background"},
		},
	} {
		if diff := cmp.Diff(tt.want, blocks(parsedOptions(t, tt.args...))); diff != "" {
			t.Errorf("%v: -want +got:\n%s", tt.args, diff)
		}
	}
}

func TestFlagsSetThePlan(t *testing.T) {
	o := parsedOptions(t, "-rounds", "3", "-time", "50ms", "-seed", "9", "-subjects", "redigo,baton", "-server", "/s", "-json", "-", "-html", "h")
	p := o.plan
	if p.Rounds != 3 || p.Time != 50*time.Millisecond || p.Warm != 10*time.Millisecond || p.Seed != 9 {
		t.Errorf("plan %+v", p)
	}
	if diff := cmp.Diff([]string{"baton", "redigo"}, subject.Names(p.Subjects)); diff != "" {
		t.Error(diff)
	}
	if o.server != "/s" || o.json != "-" || o.html != "h" || o.quick {
		t.Errorf("options %+v", o)
	}
}

func TestWrongFlagsAreExplained(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-workloads", "get1g"}, "get1g"},
		{[]string{"-goroutines", "0"}, `"0"`},
		{[]string{"-goroutines", "many"}, "many"},
		{[]string{"-subjects", "nobody"}, "nobody"},
		{[]string{"-transports", "pigeon"}, "pigeon"},
		{[]string{"-contexts", "none"}, "none"},
		{[]string{"-rounds", "-1"}, "-rounds"},
		{[]string{"-time", "-1s"}, "-time"},
		{[]string{"-workloads", ","}, "nothing is selected"},
		{[]string{"more"}, "more"},
		{[]string{"-unknown"}, "-unknown"},
	} {
		var stderr bytes.Buffer
		if _, err := parse(tt.args, &stderr); err == nil || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%v: error %v, told %q", tt.args, err, &stderr)
		}
	}
	var stderr bytes.Buffer
	if _, err := parse([]string{"-help"}, &stderr); !errors.Is(err, flag.ErrHelp) || !strings.Contains(stderr.String(), "-workloads") {
		t.Errorf("-help: %v, %q", err, &stderr)
	}
}
