package maintnotifications

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var errRefused = errors.New("connection refused")

// A breakerTester drives one breaker with fake time.
type breakerTester struct {
	t   *testing.T
	now time.Time
	cb  *CircuitBreaker
}

func newBreakerTester(t *testing.T, cfg *Config) *breakerTester {
	bt := &breakerTester{t: t, now: traceStart}
	bt.cb = newCircuitBreakerManager(cfg, func() time.Time { return bt.now }).GetCircuitBreaker("10.0.0.1:6379")
	return bt
}

func (bt *breakerTester) pass(d time.Duration) { bt.now = bt.now.Add(d) }

func (bt *breakerTester) wantState(want CircuitBreakerState) {
	bt.t.Helper()
	if got := bt.cb.GetState(); got != want {
		bt.t.Errorf("state: got %v, want %v", got, want)
	}
}

// try asks for a request and reports err for it.
func (bt *breakerTester) try(err error) {
	bt.t.Helper()
	if e := bt.cb.Allow(); e != nil {
		bt.t.Fatalf("Allow: %v", e)
	}
	bt.cb.Report(err)
}

func (bt *breakerTester) wantRefused() {
	bt.t.Helper()
	if err := bt.cb.Allow(); !errors.Is(err, ErrCircuitBreakerOpen) {
		bt.t.Errorf("Allow: got %v, want ErrCircuitBreakerOpen", err)
	}
	if !bt.cb.IsOpen() {
		bt.t.Error("Allow refuses and IsOpen is false")
	}
}

func TestBreakerOpensAfterFailuresInARow(t *testing.T) {
	bt := newBreakerTester(t, DefaultConfig())
	for range 4 {
		bt.try(errRefused)
	}
	bt.try(nil) // starts the count again
	for range 4 {
		bt.try(errRefused)
	}
	for _, err := range []error{context.Canceled, ErrShutdown} {
		bt.try(fmt.Errorf("dial: %w", err)) // says nothing
	}
	bt.wantState(CircuitBreakerClosed)
	bt.try(errRefused)
	bt.wantState(CircuitBreakerOpen)
	bt.wantRefused()
}

func TestBreakerReallyHalfOpens(t *testing.T) {
	bt := newBreakerTester(t, DefaultConfig())
	for range 5 {
		bt.try(errRefused)
	}
	bt.pass(time.Minute - 1)
	bt.wantRefused()
	bt.pass(1)
	bt.wantState(CircuitBreakerHalfOpen)
	if bt.cb.IsOpen() {
		t.Error("IsOpen hides that a trial is due")
	}
	bt.try(nil)
	bt.try(nil)
	bt.wantState(CircuitBreakerHalfOpen)
	bt.try(nil)
	bt.wantState(CircuitBreakerClosed)

	// Closed again means: a whole threshold of failures.
	for range 4 {
		bt.try(errRefused)
	}
	bt.wantState(CircuitBreakerClosed)
}

func TestBreakerOpensAgainOnAFailedTrial(t *testing.T) {
	bt := newBreakerTester(t, DefaultConfig())
	for range 5 {
		bt.try(errRefused)
	}
	bt.pass(time.Minute)
	bt.try(nil)
	bt.try(errRefused)
	bt.wantState(CircuitBreakerOpen)
	bt.pass(time.Minute - 1)
	bt.wantRefused()
	bt.pass(1)
	for range 3 { // the success of the last round does not count
		bt.wantState(CircuitBreakerHalfOpen)
		bt.try(nil)
	}
	bt.wantState(CircuitBreakerClosed)
}

func TestBreakerLimitsTrials(t *testing.T) {
	bt := newBreakerTester(t, DefaultConfig())
	for range 5 {
		bt.try(errRefused)
	}
	bt.pass(time.Minute)
	for range 3 {
		if err := bt.cb.Allow(); err != nil {
			t.Fatal(err)
		}
	}
	bt.wantRefused()
	bt.cb.Report(context.Canceled) // makes room
	if err := bt.cb.Allow(); err != nil {
		t.Fatal(err)
	}
	bt.wantRefused()

	// Trials that are never reported do not block it for ever.
	bt.pass(time.Minute)
	bt.try(nil)
	bt.try(nil)
	bt.try(nil)
	bt.wantState(CircuitBreakerClosed)
}

func TestBreakerWithoutResetTimeout(t *testing.T) {
	cfg := DefaultConfig()
	cfg.CircuitBreakerResetTimeout = 0
	bt := newBreakerTester(t, cfg)
	for range 5 {
		bt.try(errRefused)
	}
	bt.wantState(CircuitBreakerHalfOpen)
	for range 3 {
		bt.try(nil)
	}
	bt.wantState(CircuitBreakerClosed)
}

func TestBreakerIgnoresLateReports(t *testing.T) {
	bt := newBreakerTester(t, DefaultConfig())
	for range 6 {
		if err := bt.cb.Allow(); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		bt.cb.Report(errRefused)
	}
	bt.pass(time.Second)
	bt.cb.Report(nil)
	bt.wantState(CircuitBreakerOpen)
	bt.pass(time.Minute - time.Second)
	bt.wantState(CircuitBreakerHalfOpen)
}

func TestBreakerStats(t *testing.T) {
	bt := newBreakerTester(t, DefaultConfig())
	bt.try(nil)
	bt.pass(time.Second)
	bt.try(errRefused)
	want := CircuitBreakerStats{
		Endpoint: "10.0.0.1:6379", Failures: 1, Successes: 1, Requests: 2,
		LastSuccessTime: traceStart, LastFailureTime: traceStart.Add(time.Second),
	}
	if diff := cmp.Diff(want, bt.cb.GetStats()); diff != "" {
		t.Errorf("GetStats (-want +got):\n%s", diff)
	}
}

func TestBreakerExecute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cb := NewCircuitBreakerManager(nil).GetCircuitBreaker("a")
		for range 4 {
			if err := cb.Execute(func() error { return errRefused }); !errors.Is(err, errRefused) {
				t.Fatalf("Execute: got %v", err)
			}
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = cb.Execute(func() error { panic("oops") })
		}()
		if err := cb.Execute(func() error { t.Error("called"); return nil }); !errors.Is(err, ErrCircuitBreakerOpen) {
			t.Errorf("Execute: got %v, want ErrCircuitBreakerOpen", err)
		}
		<-time.After(time.Minute) // of the bubble
		for range 3 {
			if err := cb.Execute(func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if got := cb.GetState(); got != CircuitBreakerClosed {
			t.Errorf("state: got %v, want closed", got)
		}
	})
}

func TestBreakerManager(t *testing.T) {
	now := traceStart
	m := newCircuitBreakerManager(DefaultConfig(), func() time.Time { return now })
	b := m.GetCircuitBreaker("b")
	open := m.GetCircuitBreaker("open")
	for range 5 {
		open.Report(errRefused)
	}
	if m.GetCircuitBreaker("b") != b {
		t.Error("two breakers for one endpoint")
	}
	var names []string
	for _, st := range m.GetAllStats() {
		names = append(names, st.Endpoint+" "+st.State.String())
	}
	if diff := cmp.Diff([]string{"b closed", "open open"}, names); diff != "" {
		t.Errorf("GetAllStats (-want +got):\n%s", diff)
	}
	m.Reset()
	if open.GetState() != CircuitBreakerClosed || m.GetCircuitBreaker("open") != open {
		t.Error("Reset replaced a breaker or left it open")
	}
	now = now.Add(breakerMemory + time.Second)
	m.GetCircuitBreaker("c")
	if got := len(m.GetAllStats()); got != 1 {
		t.Errorf("%d breakers are kept, want the new one", got)
	}
	m.Shutdown()
	if got := len(m.GetAllStats()); got != 0 {
		t.Errorf("%d breakers after Shutdown", got)
	}
}

func TestBreakerIsSafeForConcurrentUse(t *testing.T) {
	m := NewCircuitBreakerManager(nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				cb := m.GetCircuitBreaker(fmt.Sprint(j % 3))
				_ = cb.Execute(func() error {
					if (i+j)%2 == 0 {
						return errRefused
					}
					return nil
				})
				m.GetAllStats()
				if j == 100 {
					m.Reset()
				}
			}
		})
	}
	wg.Wait()
}
