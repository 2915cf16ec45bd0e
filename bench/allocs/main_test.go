package main

import (
	"strings"
	"testing"

	"github.com/baton-go/redis/bench/internal/program"
	"github.com/baton-go/redis/internal/invariants"
)

// TestBounds is the measurement, whose bounds are Baton's promise.
func TestBounds(t *testing.T) {
	if invariants.Enabled {
		t.Skip("pools drop what they get under the race detector")
	}
	var stdout, stderr strings.Builder
	if code := run(t.Context(), nil, &stdout, &stderr); code != program.OK {
		t.Errorf("exit status %d: %s", code, stderr.String())
	}
	t.Log(stdout.String())
}

func TestBoundsCanBeBroken(t *testing.T) {
	for _, r := range []row{
		{command: "GET", baton: 3, goredis: 9, atMost: 2},
		{command: "GET", baton: 2, goredis: 5, atMost: 2},
		{command: "INCR", baton: 3, goredis: 6},
		{command: "bytes", baton: 1, bytes: true},
	} {
		if err := show(&strings.Builder{}, []row{r}); err == nil || !strings.Contains(err.Error(), r.command) {
			t.Errorf("%+v: got %v", r, err)
		}
	}
	var stderr strings.Builder
	if code := run(t.Context(), []string{"now"}, &stderr, &stderr); code != program.Usage || !strings.Contains(stderr.String(), `"now"`) {
		t.Errorf("got %d, %q", code, stderr.String())
	}
}
