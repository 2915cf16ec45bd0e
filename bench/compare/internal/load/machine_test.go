package load

import (
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		text string
		want time.Duration
	}{
		{"cpu  100 20 3 9999 50 0 4 5 7 8\ncpu0 1 1 1 1 1 1 1 1 1 1\n", 1280 * time.Millisecond},
		{"cpu 1 0 0 0 0 0 0 0", 10 * time.Millisecond},
	} {
		got, err := parseStat([]byte(tt.text))
		if err != nil || got != tt.want {
			t.Errorf("parseStat(%q) = %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "cpu", "cpu0 1 2 3 4 5 6 7 8 9", "cpu 1 2 3 4 5 6 7", "cpu 1 2 x 4 5 6 7 8"} {
		if got, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("parseStat(%q) = %v, want an error", bad, got)
		}
	}
}

func TestRecorderForgetsWhatWasBefore(t *testing.T) {
	r := NewRecorder()
	for i := range r.shards {
		r.shards[i].record(time.Duration(i+1) * time.Millisecond)
	}
	r.shards[0].record(time.Hour) // beyond the limit
	h := NewHistogram()
	r.addTo(h)
	if got, want := h.TotalCount(), int64(shardCount+1); got != want {
		t.Errorf("%d latencies, want %d", got, want)
	}
	if got := Micros(h.Max()); got < 59.9e6 || got > 60.1e6 {
		t.Errorf("the largest is %v µs, want a minute", got)
	}
	r.reset()
	h.Reset()
	r.addTo(h)
	if h.TotalCount() != 0 {
		t.Errorf("%d latencies after a reset", h.TotalCount())
	}
}
