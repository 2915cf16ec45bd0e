package gauge

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestCostIsPerOperation(t *testing.T) {
	c := Cost{Ops: 1000, Wall: 2 * time.Second, CPU: 5 * time.Millisecond, Allocs: 2500, Bytes: 64_000}
	for name, got := range map[string][2]float64{
		"ops/s": {c.OpsPerSecond(), 500}, "ns": {c.NsPerOp(), 2e6}, "cpu": {c.CPUPerOp(), 5},
		"allocs": {c.AllocsPerOp(), 2.5}, "bytes": {c.BytesPerOp(), 64},
		"nothing": {Cost{}.OpsPerSecond() + Cost{}.NsPerOp() + Cost{}.CPUPerOp(), 0},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: got %v, want %v", name, got[0], got[1])
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, tt := range []struct {
		values   []float64
		fraction float64
		want     float64
	}{
		{nil, 0.5, 0},
		{[]float64{7}, 0.5, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{1, 2, 3, 4, 5}, 0.25, 2},
		{[]float64{1, 2, 3, 4, 5}, 1, 5},
		{[]float64{0, 10}, 0.75, 7.5},
	} {
		if got := Quantile(tt.values, tt.fraction); got != tt.want {
			t.Errorf("Quantile(%v, %v): got %v, want %v", tt.values, tt.fraction, got, tt.want)
		}
	}
}

func TestPairsAlternate(t *testing.T) {
	var order string
	measure := func(name string, value float64) func(context.Context) (float64, error) {
		return func(context.Context) (float64, error) {
			order += name
			return value, nil
		}
	}
	pairs, err := Pairs(t.Context(), 4, measure("a", 2), measure("b", 3))
	if err != nil || order != "abbaabba" || len(pairs) != 4 {
		t.Fatalf("got %d pairs in the order %s, %v, want 4 in abbaabba", len(pairs), order, err)
	}
	self := func(v float64) float64 { return v }
	if got, want := RatioOf(pairs, self), (Ratio{1.5, 1.5, 1.5}); got != want {
		t.Errorf("got the ratio %v, want %v", got, want)
	}
	if a, b := MedianOf(As(pairs), self), MedianOf(Bs(pairs), self); a != 2 || b != 3 {
		t.Errorf("got %v and %v, want 2 and 3", a, b)
	}
	bad := errors.New("bad")
	_, err = Pairs(t.Context(), 4, measure("a", 2), func(context.Context) (float64, error) { return 0, bad })
	if !errors.Is(err, bad) {
		t.Errorf("got %v, want %v", err, bad)
	}
}

func TestRatioLeavesOutWhatHasNone(t *testing.T) {
	self := func(v float64) float64 { return v }
	got := RatioOf([]Pair[float64]{{0, 1}, {1, 2}, {1, 4}}, self)
	if want := (Ratio{3, 2.5, 3.5}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLatencyToOneHundredth(t *testing.T) {
	l, other := NewLatency(), NewLatency()
	for range 98 {
		l.Record(200 * time.Microsecond)
	}
	other.Record(time.Hour) // longer than there is
	other.Record(50 * time.Millisecond)
	l.Merge(other)
	for fraction, want := range map[float64]float64{0.5: 200, 0.99: 50_000, 1: longest.Seconds() * 1e6} {
		if got := l.Micros(fraction); math.Abs(got-want) > want/50 {
			t.Errorf("Micros(%v): got %v, want about %v", fraction, got, want)
		}
	}
	if l.Count() != 100 {
		t.Errorf("got %d, want 100", l.Count())
	}
	if l.Reset(); l.Count() != 0 {
		t.Errorf("got %d after Reset", l.Count())
	}
}

func TestWindowsCountWhatEndsInThem(t *testing.T) {
	turn := make(chan struct{})
	l := Start([]Op{func() error { <-turn; return nil }}, 1)
	step := func(n int64) {
		t.Helper()
		for range n {
			turn <- struct{}{}
		}
		turn <- struct{}{} // then those before have ended
	}
	step(2)
	first := l.Open()
	step(3)
	second := l.Open()
	step(5)
	l.End()
	close(turn)
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	// A step's own last operation may count on either side.
	for name, got := range map[string][2]int64{"first": {first.Cost().Ops, 4}, "second": {second.Cost().Ops, 6}} {
		if got[0] < got[1]-1 || got[0] > got[1]+1 {
			t.Errorf("%s: got %d operations, want about %d", name, got[0], got[1])
		}
	}
	if n := first.Latency().Count(); n < 3 || n > 5 {
		t.Errorf("got %d latencies in the first window, want about 4", n)
	}
}

func TestWindowLastsUntilAnOperationEnds(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		time.Second: 10 * time.Second, 35 * time.Second: 40 * time.Second, time.Hour: mostWindows * 10 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			c, _, err := Plan{Window: 10 * time.Second}.Run(t.Context(), []Op{func() error { time.Sleep(took); return nil }})
			if hasNone := took == time.Hour; c.Wall != want || (err != nil) != hasNone || (c.Ops == 0) != hasNone {
				t.Errorf("operations of %v: got %+v, %v, want a window of %v", took, c, err, want)
			}
		})
	}
}

func TestErrorEndsTheLoad(t *testing.T) {
	bad := errors.New("bad reply")
	_, _, err := Plan{Warm: time.Minute, Window: time.Minute}.Run(t.Context(), []Op{
		func() error { return nil },
		func() error { return bad },
	})
	if !errors.Is(err, bad) {
		t.Errorf("got %v, want %v", err, bad)
	}
}

func TestEndOfContextEndsTheLoad(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, _, err := Plan{Warm: time.Minute, Window: time.Minute}.Run(ctx, []Op{func() error { cancel(why); return nil }})
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestMemoryIsSeen(t *testing.T) {
	const size = 8 << 20
	before := Settled()
	peak := WatchPeak()
	held := make([]byte, size)
	r := Read()
	held = append(held, 1)
	c := Since(r, 1)
	if most := peak.Stop(); most < before.Heap+size {
		t.Errorf("got a peak of %d on top of %d, want %d more at least", most, before.Heap, size)
	}
	if c.Bytes < size || c.Allocs == 0 {
		t.Errorf("got %+v, want more than %d bytes", c, size)
	}
	if held[0] = 1; Settled().Sub(before).Heap < size {
		t.Error("what is held is not seen")
	}
	if held[size] != 1 {
		t.Error("the value is lost")
	}
}
