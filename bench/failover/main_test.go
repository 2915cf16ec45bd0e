package main

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/bench/internal/program"
	"github.com/baton-go/redis/internal/realserver"
)

func TestParse(t *testing.T) {
	for args, want := range map[string]options{
		"":                        {realserver.Redis8, 64, 5, 2 * time.Second, "", ""},
		"-workers 5 -json x":      {realserver.Redis8, 5, 5, 2 * time.Second, "x", ""},
		"-around 1s -failovers 2": {realserver.Redis8, 64, 2, time.Second, "", ""},
	} {
		if got, err := parse(strings.Fields(args), io.Discard); got != want || err != nil {
			t.Errorf("%q: got %+v, %v, want %+v", args, got, err, want)
		}
	}
}

func TestWrongCalls(t *testing.T) {
	for args, want := range map[string]string{
		"now":                   `unknown argument "now"`,
		"-workers 0":            "1 at least",
		"-around 1ms":           "10ms at least",
		"-server redis-0.1":     `unknown server "redis-0.1"`,
		"-json /nowhere/at/all": "no such file",
	} {
		var stderr strings.Builder
		if code := run(t.Context(), strings.Fields(args), io.Discard, &stderr); code != program.Usage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: got exit status %d and %q, want %d and %q", args, code, stderr.String(), program.Usage, want)
		}
	}
}

func TestBothClientsMeetAFailover(t *testing.T) {
	realserver.Require(t, realserver.Redis8)
	r, err := measure(t.Context(), options{server: realserver.Redis8, workers: 4, failovers: 1, around: time.Second}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Total {
		if c.Commands == 0 || c.Acked == 0 || c.GapMS <= 0 {
			t.Errorf("got %+v", c)
		}
	}
	if b := r.Total[0]; b.Client != "baton" || b.ReadOnly != 0 || b.Twice != 0 {
		t.Errorf("got %+v, want no READONLY and nothing twice", b)
	}
	var page strings.Builder
	if err := r.page(&page); err != nil || !strings.Contains(page.String(), "goredis") {
		t.Errorf("got %v and a page of %d bytes", err, page.Len())
	}
}

func TestErrorsAreCountedByWhatTheySay(t *testing.T) {
	w := &worker{tally: tally{errs: make(map[string]int64)}}
	w.note(errors.New("READONLY You can't write against a read only replica."), true)
	w.note(errors.New("read tcp 127.0.0.1:1->127.0.0.1:2: EOF"), true)
	if w.failed != 2 || w.readOnly != 1 || w.incrFailed != 1 || w.errs["EOF"] != 1 {
		t.Errorf("got %+v", w.tally)
	}
}

// Whoever reads the JSON relies on its names.
func TestNamesInJSONAreStable(t *testing.T) {
	text, err := json.Marshal(Result{Total: []Counts{{}}})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	keys := func(v any) string { return strings.Join(slices.Sorted(maps.Keys(v.(map[string]any))), " ") }
	if want := "arch cpus failovers go os rounds schema server total workers"; keys(got) != want {
		t.Errorf("got the names %s, want %s", keys(got), want)
	}
	const counts = "acknowledged_lost client commands errors failed incr_acknowledged incr_in_the_master longest_gap_ms maybe_sent readonly silent_duplicates"
	if one := got["total"].([]any)[0]; keys(one) != counts {
		t.Errorf("got the names %s, want %s", keys(one), counts)
	}
}
