package load

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/bench/compare/internal/subject"
)

// A fake answers each call after a time, rightly unless told otherwise. It keeps no
// state but what a single goroutine needs for INCR.
type fake struct {
	delay    time.Duration
	fail     error
	wrong    bool
	hang     chan struct{}
	counters map[string]int64
	ctx      context.Context // of the last call
}

func (f *fake) call(ctx context.Context) error {
	f.ctx = ctx
	if f.hang != nil {
		<-f.hang
	}
	time.Sleep(f.delay)
	return f.fail
}

func (f *fake) value(key string) string {
	if f.wrong {
		key = "compare:64:wrong"
	}
	return key + strings.Repeat(".", smallValue-len(key))
}

func (f *fake) Get(ctx context.Context, key string) (string, error) {
	return f.value(key), f.call(ctx)
}

func (f *fake) Set(ctx context.Context, _, _ string) error { return f.call(ctx) }

func (f *fake) Incr(ctx context.Context, key string) (int64, error) {
	step := int64(1)
	if f.wrong {
		step = 2
	}
	f.counters[key] += step
	return f.counters[key], f.call(ctx)
}

func (f *fake) MGet(ctx context.Context, keys, values []string) error {
	for i, key := range keys {
		values[i] = f.value(key)
	}
	return f.call(ctx)
}

func (f *fake) Pipe(ctx context.Context, ops []subject.Op, values []string) error {
	for i, op := range ops {
		if !op.Set {
			values[i] = f.value(op.Key)
		}
	}
	return f.call(ctx)
}

func (f *fake) Close() error { return nil }

func slice(t *testing.T, f *fake, workload string, goroutines int) Slice {
	t.Helper()
	w, err := Named(workload)
	if err != nil {
		t.Fatal(err)
	}
	f.counters = map[string]int64{}
	var cpu time.Duration
	return Slice{
		Client: f, Workload: w, Goroutines: goroutines, Context: Background,
		Warm: 500*time.Microsecond + 1, Time: 10 * time.Millisecond, Seed: 1, Recorder: NewRecorder(),
		ServerCPU: func() (time.Duration, error) { cpu += time.Millisecond; return cpu, nil },
	}
}

// Time in a bubble is exact: so are all figures.
func TestSliceCountsCommandsOfItsTime(t *testing.T) {
	for _, tt := range []struct {
		workload   string
		goroutines int
		commands   int64
	}{
		{"get64", 1, 100},
		{"set64", 8, 800},
		{"mixed", 64, 6400},
		{"incr", 1, 100},
		{"mget10", 4, 400},
		{"pipe10", 2, 2000},
		{"pipe100", 1, 10_000},
	} {
		t.Run(tt.workload, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := slice(t, &fake{delay: 100 * time.Microsecond}, tt.workload, tt.goroutines)
				if tt.goroutines > 1 {
					s.Client = each{100 * time.Microsecond}
				}
				h := NewHistogram()
				got, err := Run(t.Context(), s, h)
				if err != nil {
					t.Fatal(err)
				}
				if got.Commands != tt.commands || got.Elapsed != s.Time {
					t.Errorf("%d commands in %v, want %d in %v", got.Commands, got.Elapsed, tt.commands, s.Time)
				}
				if want := float64(tt.commands) / s.Time.Seconds(); math.Abs(got.OpsPerSecond()-want) > 1e-6 {
					t.Errorf("%v ops/s, want %v", got.OpsPerSecond(), want)
				}
				if got.ServerCPU != time.Millisecond {
					t.Errorf("server CPU %v, want 1ms", got.ServerCPU)
				}
				if h.TotalCount() == 0 || math.Abs(Micros(h.Max())-100) > 0.1 || math.Abs(Micros(h.Min())-100) > 0.1 {
					t.Errorf("%d latencies from %v to %v µs, want 100 µs", h.TotalCount(), Micros(h.Min()), Micros(h.Max()))
				}
			})
		})
	}
}

// each is a fake without state, for several goroutines.
type each struct{ delay time.Duration }

func (e each) Get(ctx context.Context, key string) (string, error) {
	return (&fake{delay: e.delay}).Get(ctx, key)
}

func (e each) Set(ctx context.Context, key, value string) error {
	return (&fake{delay: e.delay}).Set(ctx, key, value)
}

func (e each) Incr(context.Context, string) (int64, error) { return 0, errors.ErrUnsupported }

func (e each) MGet(ctx context.Context, keys, values []string) error {
	return (&fake{delay: e.delay}).MGet(ctx, keys, values)
}

func (e each) Pipe(ctx context.Context, ops []subject.Op, values []string) error {
	return (&fake{delay: e.delay}).Pipe(ctx, ops, values)
}

func (e each) Close() error { return nil }

func TestSliceReportsErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, w := range Workloads() {
		if w.Size == largeValue {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := slice(t, &fake{delay: time.Microsecond, fail: broken}, w.Name, 1)
				if _, err := Run(t.Context(), s, NewHistogram()); !errors.Is(err, broken) {
					t.Errorf("error %v, want %v", err, broken)
				}
			})
		})
	}
}

func TestSliceNoticesWrongReplies(t *testing.T) {
	for _, workload := range []string{"get64", "mixed", "incr", "mget10", "pipe10"} {
		t.Run(workload, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := slice(t, &fake{delay: time.Microsecond, wrong: true}, workload, 1)
				_, err := Run(t.Context(), s, NewHistogram())
				if err == nil || !strings.Contains(err.Error(), "wrong reply") {
					t.Errorf("error %v, want one of a wrong reply", err)
				}
			})
		})
	}
}

func TestSliceNoticesCallsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{hang: make(chan struct{})}
		start := time.Now()
		s := slice(t, f, "get64", 1)
		_, err := Run(t.Context(), s, NewHistogram())
		if !errors.Is(err, ErrHung) {
			t.Errorf("error %v, want %v", err, ErrHung)
		}
		if got, want := time.Since(start), s.Warm+s.Time+patience; got != want {
			t.Errorf("noticed after %v, want %v", got, want)
		}
		close(f.hang)
	})
}

func TestSliceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(2*time.Millisecond, func() { cancel(enough) })
		start := time.Now()
		_, err := Run(ctx, slice(t, &fake{delay: 100 * time.Microsecond}, "get64", 1), NewHistogram())
		if !errors.Is(err, enough) {
			t.Errorf("error %v, want %v", err, enough)
		}
		if d := time.Since(start); d > 3*time.Millisecond {
			t.Errorf("ended after %v", d)
		}
	})
}

func TestSliceGivesTheContextAskedFor(t *testing.T) {
	for _, c := range Contexts() {
		t.Run(string(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{delay: 100 * time.Microsecond}
				s := slice(t, f, "get64", 1)
				s.Context = c
				if _, err := Run(t.Context(), s, NewHistogram()); err != nil {
					t.Fatal(err)
				}
				if can := f.ctx.Done() != nil; can != (c != Background) {
					t.Errorf("it can end: %v", can)
				}
				if _, has := f.ctx.Deadline(); has != (c == Timeout) {
					t.Errorf("it has a deadline: %v", has)
				}
				if c != Background && f.ctx.Err() == nil {
					t.Error("it was not released")
				}
			})
		})
	}
}
