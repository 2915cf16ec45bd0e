package maintnotifications

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/push"
	"github.com/google/go-cmp/cmp"
)

func newManager(t *testing.T, metrics *Metrics) *Manager {
	t.Helper()
	m, err := NewManager(nil, metrics)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestManagerRefusesABadConfig(t *testing.T) {
	if _, err := NewManager(&Config{Mode: "foo", MaxWorkers: -1}, nil); !errors.Is(err, ErrInvalidMaintNotifications) || !errors.Is(err, ErrInvalidHandoffWorkers) {
		t.Errorf("NewManager: got %v", err)
	}
}

func TestManagerTracksOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, nil)
		if m.GetState() != StateIdle || m.IsHandoffInProgress() {
			t.Error("a new manager is not idle")
		}
		deadline := time.Now().Add(15 * time.Second)
		for range 2 { // the second is the same operation
			if err := m.TrackMovingOperationWithConnID(t.Context(), "b:1", deadline, 5, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.TrackMovingOperationWithConnID(t.Context(), "b:1", deadline, 5, 2); err != nil {
			t.Fatal(err)
		}
		want := map[MovingOperationKey]*MovingOperation{
			{SeqID: 5, ConnID: 1}: {SeqID: 5, NewEndpoint: "b:1", StartTime: time.Now(), Deadline: deadline},
			{SeqID: 5, ConnID: 2}: {SeqID: 5, NewEndpoint: "b:1", StartTime: time.Now(), Deadline: deadline},
		}
		got := m.GetActiveMovingOperations()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("operations (-want +got):\n%s", diff)
		}
		got[MovingOperationKey{SeqID: 5, ConnID: 1}].NewEndpoint = "changed" // only the copy
		if m.GetActiveOperationCount() != 2 || m.GetState() != StateMoving || !m.IsHandoffInProgress() {
			t.Errorf("count %d, state %v", m.GetActiveOperationCount(), m.GetState())
		}
		m.UntrackOperationWithConnID(5, 1)
		m.UntrackOperationWithConnID(5, 2)
		m.UntrackOperationWithConnID(5, 2)
		if m.GetActiveOperationCount() != 0 || m.GetState() != StateIdle {
			t.Errorf("count %d, state %v after all ended", m.GetActiveOperationCount(), m.GetState())
		}

		// A forgotten operation does not stay for ever.
		_ = m.TrackMovingOperationWithConnID(t.Context(), "b:1", time.Now(), 6, 1)
		<-time.After(3 * time.Minute) // of the bubble
		_ = m.TrackMovingOperationWithConnID(t.Context(), "b:1", time.Now(), 7, 1)
		if got := m.GetActiveOperationCount(); got != 1 {
			t.Errorf("%d operations, want the new one", got)
		}
	})
}

func TestManagerHandoffs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		m := newManager(t, &Metrics{OnHandoff: func(kind, endpoint string, err error) {
			calls = append(calls, fmt.Sprint(kind, " ", endpoint, " ", err))
		}})
		hook := NewMetricsHook()
		m.AddNotificationHook(nil)
		m.AddNotificationHook(hook)
		begin := func(id LinkID) (context.Context, func(error)) {
			ctx, done, err := m.BeginHandoff(t.Context(), Handoff{
				Op: OpKey{Seq: 5, Target: "b:1"}, Link: id, Kind: NotificationMoving,
				Endpoint: "b:1", Deadline: time.Now().Add(15 * time.Second),
			})
			if err != nil {
				t.Fatal(err)
			}
			return ctx, done
		}
		_, done1 := begin(1)
		ctx2, done2 := begin(2)
		if m.GetActiveOperationCount() != 2 || m.GetState() != StateMoving {
			t.Errorf("count %d, state %v", m.GetActiveOperationCount(), m.GetState())
		}
		done1(nil)
		done1(errRefused) // does nothing
		<-ctx2.Done()
		if err := context.Cause(ctx2); !errors.Is(err, errHandoffDeadline) {
			t.Errorf("the context ended with %v", err)
		}
		done2(ctx2.Err())
		if m.GetActiveOperationCount() != 0 || m.IsHandoffInProgress() {
			t.Error("operations are left")
		}
		if diff := cmp.Diff([]string{"MOVING b:1 <nil>", "MOVING b:1 context deadline exceeded"}, calls); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
		if hook.HandoffCounts != 2 || hook.HandoffFailures != 1 {
			t.Errorf("the hook counted %d handoffs, %d failed", hook.HandoffCounts, hook.HandoffFailures)
		}

		// An operation that someone else tracks stays.
		_ = m.TrackMovingOperationWithConnID(t.Context(), "b:1", time.Now().Add(time.Hour), 5, 3)
		_, done3 := begin(3)
		done3(nil)
		if got := m.GetActiveOperationCount(); got != 1 {
			t.Errorf("%d operations, want 1", got)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestManagerCloseWaitsForHandoffs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, nil)
		ctx, done, err := m.BeginHandoff(t.Context(), Handoff{Link: 1, Deadline: time.Now().Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-time.After(3 * time.Second) // of the bubble
			done(ctx.Err())
		}()
		start := time.Now()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
				if d := time.Since(start); d != 3*time.Second {
					t.Errorf("Close took %v, want 3s", d)
				}
			})
		}
		wg.Wait()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if _, _, err := m.BeginHandoff(t.Context(), Handoff{}); !errors.Is(err, ErrShutdown) {
			t.Errorf("BeginHandoff after Close: %v", err)
		}
		if err := m.TrackMovingOperationWithConnID(t.Context(), "", time.Now(), 1, 1); !errors.Is(err, ErrShutdown) {
			t.Errorf("Track after Close: %v", err)
		}
		if err := m.Dispatch(t.Context(), push.NotificationHandlerContext{}, frame("MIGRATED", int64(1)), nil); !errors.Is(err, ErrShutdown) {
			t.Errorf("Dispatch after Close: %v", err)
		}
	})
}

func TestManagerCloseHasLimitedPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, nil)
		ctx, done, err := m.BeginHandoff(t.Context(), Handoff{Link: 1, Deadline: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := m.Close(); err == nil {
			t.Error("Close does not tell of the handoff that is left")
		}
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("Close took %v, want 10s", d)
		}
		<-ctx.Done()
		done(ctx.Err())
		if m.IsHandoffInProgress() {
			t.Error("a handoff is left")
		}
	})
}

func TestManagerHandler(t *testing.T) {
	m := newManager(t, nil)
	var got []string
	h := m.Handler(func(_ context.Context, hctx push.NotificationHandlerContext, n Notice) error {
		got = append(got, fmt.Sprint(hctx.Conn, " ", n))
		return nil
	})
	p := push.NewProcessor()
	if err := p.RegisterHandler(NotificationMoving, h, true); err != nil {
		t.Fatal(err)
	}
	hctx := push.NotificationHandlerContext{Conn: "c"}
	if _, err := p.HandleNotification(t.Context(), hctx, frame("MOVING", int64(5), int64(15))); err != nil {
		t.Error(err)
	}
	if _, err := p.HandleNotification(t.Context(), hctx, frame("MOVING")); !errors.Is(err, ErrInvalidNotification) {
		t.Errorf("got %v, want ErrInvalidNotification", err)
	}
	if diff := cmp.Diff([]string{"c MOVING seq=5 time=15s endpoint=none"}, got); diff != "" {
		t.Errorf("handled (-want +got):\n%s", diff)
	}
}

func TestManagerSeesSMigratedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, nil)
		if !m.MarkSMigratedSeqIDProcessed(17) || m.MarkSMigratedSeqIDProcessed(17) || !m.MarkSMigratedSeqIDProcessed(18) {
			t.Error("a number is not seen exactly once")
		}
		<-time.After(2 * time.Minute) // of the bubble
		if !m.MarkSMigratedSeqIDProcessed(17) {
			t.Error("a number is remembered for ever")
		}
		for i := range int64(3 * maxSMigratedSeqs) {
			m.MarkSMigratedSeqIDProcessed(i)
		}
		if got := len(m.smigrated); got > maxSMigratedSeqs {
			t.Errorf("the table has %d numbers", got)
		}
	})
}

func TestManagerReloadCallback(t *testing.T) {
	m := newManager(t, nil)
	m.TriggerClusterStateReload(t.Context(), "a:1", nil)
	var got string
	m.SetClusterStateReloadCallback(func(_ context.Context, hostPort string, slots []string) {
		got = fmt.Sprint(hostPort, slots)
	})
	m.TriggerClusterStateReload(t.Context(), "a:1", []string{"1-2"})
	if got != "a:1[1-2]" {
		t.Errorf("the callback got %q", got)
	}
	m.SetClusterStateReloadCallback(nil)
	m.TriggerClusterStateReload(t.Context(), "a:1", nil)
}

func TestManagerBreakers(t *testing.T) {
	m := newManager(t, nil)
	for range 5 {
		m.CircuitBreaker("b:1").Report(errRefused)
	}
	stats := m.GetCircuitBreakerStats()
	if len(stats) != 1 || stats[0].State != CircuitBreakerOpen {
		t.Errorf("stats: %+v", stats)
	}
	m.ResetCircuitBreakers()
	if m.CircuitBreaker("b:1").IsOpen() {
		t.Error("open after the reset")
	}
}

func TestManagerIsSafeForConcurrentUse(t *testing.T) {
	m := newManager(t, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				_, done, err := m.BeginHandoff(t.Context(), Handoff{
					Op: OpKey{Seq: int64(j)}, Link: LinkID(i), Deadline: time.Now().Add(time.Minute),
				})
				if err != nil {
					continue // closed meanwhile
				}
				m.AddNotificationHook(NewMetricsHook())
				_ = m.Dispatch(t.Context(), push.NotificationHandlerContext{}, frame("MIGRATED", int64(j)), func(Notice) error { return nil })
				m.GetActiveMovingOperations()
				m.GetState()
				done(nil)
				if i == 0 && j == 50 {
					wg.Go(func() { _ = m.Close() })
				}
			}
		})
	}
	wg.Wait()
	if m.IsHandoffInProgress() {
		t.Error("something is left")
	}
}

func TestStateText(t *testing.T) {
	if got := fmt.Sprint(StateIdle, StateMoving, State(9), MovingOperationKey{SeqID: 5, ConnID: 1}); got != "idle moving unknown seq:5-conn:1" {
		t.Errorf("got %q", got)
	}
}
