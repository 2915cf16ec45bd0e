package load

import (
	"strings"
	"testing"
)

func TestPairsShowWhoseTheyAre(t *testing.T) {
	for _, size := range Sizes() {
		seen := map[string]bool{}
		for _, p := range Pairs(size) {
			if err := check(p.Key, p.Value, size); err != nil {
				t.Error(err)
			}
			if seen[p.Value] {
				t.Errorf("two keys have the value %.40q", p.Value)
			}
			seen[p.Value] = true
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	pairs := Pairs(smallValue)
	for name, value := range map[string]string{
		"another key's":  pairs[1].Value,
		"a shorter one":  pairs[0].Value[:smallValue-1],
		"a longer one":   pairs[0].Value + ".",
		"an empty one":   "",
		"a large one":    strings.Repeat("x", largeValue),
		"a shifted one":  pairs[0].Value[1:] + ".",
		"the key itself": pairs[0].Key,
	} {
		if err := check(pairs[0].Key, value, smallValue); err == nil {
			t.Errorf("%s value was accepted", name)
		} else if len(err.Error()) > 120 {
			t.Errorf("%s: the message has %d bytes", name, len(err.Error()))
		}
	}
}

func TestNamed(t *testing.T) {
	for _, w := range Workloads() {
		got, err := Named(w.Name)
		if err != nil || got.Name != w.Name {
			t.Errorf("Named(%q) = %q, %v", w.Name, got.Name, err)
		}
	}
	if _, err := Named("get1g"); err == nil || !strings.Contains(err.Error(), "pipe100") {
		t.Errorf("error %v, want one that names the workloads", err)
	}
}

func TestTimedEvery(t *testing.T) {
	for _, tt := range []struct{ goroutines, commands, want int }{
		{1, 1, 1},
		{8, 1, 1},
		{9, 1, 16},
		{2048, 1, 16},
		{64, 10, 1},
		{64, 100, 1},
		{64, 4, 4},
	} {
		if got := timedEvery(tt.goroutines, tt.commands); got != tt.want {
			t.Errorf("timedEvery(%d, %d) = %d, want %d", tt.goroutines, tt.commands, got, tt.want)
		}
	}
}
