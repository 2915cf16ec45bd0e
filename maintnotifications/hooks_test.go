package maintnotifications

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/push"
	"github.com/google/go-cmp/cmp"
)

// A recordingHook writes its calls down.
type recordingHook struct {
	name   string
	calls  *[]string
	change func([]any) ([]any, bool)
}

func (h *recordingHook) PreHook(_ context.Context, _ push.NotificationHandlerContext, kind string, args []any) ([]any, bool) {
	*h.calls = append(*h.calls, h.name+" pre "+kind)
	if h.change != nil {
		return h.change(args)
	}
	return args, true
}

func (h *recordingHook) PostHook(_ context.Context, _ push.NotificationHandlerContext, kind string, _ []any, result error) {
	call := h.name + " post " + kind
	switch {
	case errors.Is(result, ErrInvalidNotification):
		call += " invalid"
	case result != nil:
		call += " " + result.Error()
	}
	*h.calls = append(*h.calls, call)
}

func TestDispatchOrder(t *testing.T) {
	moving := frame("MOVING", int64(5), int64(15), "10.0.0.2:6379")
	for _, tc := range []struct {
		name   string
		args   []any
		change func([]any) ([]any, bool)
		result error
		want   []string
		err    error
	}{
		{
			name: "all well", args: moving,
			want: []string{
				"a pre MOVING", "b pre MOVING", "handle MOVING seq=5 time=15s endpoint=10.0.0.2:6379",
				"metric MOVING true", "a post MOVING", "b post MOVING",
			},
		},
		{
			name: "handler fails", args: moving, result: errRefused, err: errRefused,
			want: []string{
				"a pre MOVING", "b pre MOVING", "handle MOVING seq=5 time=15s endpoint=10.0.0.2:6379",
				"metric MOVING true", "a post MOVING connection refused", "b post MOVING connection refused",
			},
		},
		{
			name: "malformed", args: frame("MOVING", "x"), err: ErrInvalidNotification,
			want: []string{"metric MOVING false"},
		},
		{
			name: "unknown", args: frame("x"), err: ErrInvalidNotification,
			want: []string{"metric unknown false"},
		},
		{
			name: "a hook changes it", args: moving,
			change: func(args []any) ([]any, bool) { return append(args[:3:3], "other:1"), true },
			want: []string{
				"a pre MOVING", "b pre MOVING", "handle MOVING seq=5 time=15s endpoint=other:1",
				"metric MOVING true", "a post MOVING", "b post MOVING",
			},
		},
		{
			name: "a hook spoils it", args: moving, err: ErrInvalidNotification,
			change: func([]any) ([]any, bool) { return frame("MOVING"), true },
			want: []string{
				"a pre MOVING", "b pre MOVING", "metric MOVING false", "a post MOVING invalid", "b post MOVING invalid",
			},
		},
		{
			name: "a hook stops it", args: moving,
			change: func(args []any) ([]any, bool) { return args, false },
			want:   []string{"a pre MOVING"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var calls []string
			metrics := &Metrics{OnNotification: func(kind string, valid bool) {
				calls = append(calls, "metric "+kind+" "+map[bool]string{true: "true", false: "false"}[valid])
			}}
			hooks := []NotificationHook{
				&recordingHook{name: "a", calls: &calls, change: tc.change},
				&recordingHook{name: "b", calls: &calls},
			}
			err := Dispatch(t.Context(), push.NotificationHandlerContext{}, tc.args, hooks, metrics, func(n Notice) error {
				calls = append(calls, "handle "+n.String())
				return tc.result
			})
			if !errors.Is(err, tc.err) {
				t.Errorf("Dispatch: got %v, want %v", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDispatchWithoutHooksAndMetrics(t *testing.T) {
	called := false
	err := Dispatch(t.Context(), push.NotificationHandlerContext{}, frame("MIGRATED", int64(1)), nil, nil, func(Notice) error {
		called = true
		return nil
	})
	if err != nil || !called {
		t.Errorf("got called=%v, error %v", called, err)
	}
}

func TestMetricsMayBeNil(t *testing.T) {
	var got []any
	for _, m := range []*Metrics{nil, {}, {
		OnRelaxed:      func(delta int, kind string) { got = append(got, delta, kind) },
		OnHandoff:      func(kind, endpoint string, err error) { got = append(got, kind, endpoint, err) },
		OnNotification: func(kind string, valid bool) { got = append(got, kind, valid) },
	}} {
		m.Relaxed(1, "a")
		m.Handoff("b", "c", nil)
		m.Notification("d", true)
	}
	if diff := cmp.Diff([]any{1, "a", "b", "c", error(nil), "d", true}, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

type conn uint64

func (c *conn) ID() uint64 { return uint64(*c) }

type oldConn struct{}

func (oldConn) GetID() uint64 { return 8 }

func TestLoggingHook(t *testing.T) {
	args := frame("MOVING", int64(5), int64(15), nil)
	for _, tc := range []struct {
		level int
		conn  any
		err   error
		want  []string
	}{
		{-1, nil, errRefused, nil},
		{0, nil, nil, nil},
		{0, nil, errRefused, []string{"ERROR maintenance notification failed type=MOVING seq=5 content=[MOVING 5 15 <nil>] err=connection refused"}},
		{0, nil, ErrInvalidNotification, nil},
		{1, nil, ErrInvalidNotification, []string{"WARN maintenance notification malformed type=MOVING seq=5 content=[MOVING 5 15 <nil>] err=maintnotifications: invalid notification"}},
		{2, new(conn(7)), nil, []string{"INFO maintenance notification conn=7 type=MOVING seq=5 content=[MOVING 5 15 <nil>]"}},
		{3, oldConn{}, nil, []string{
			"INFO maintenance notification conn=8 type=MOVING seq=5 content=[MOVING 5 15 <nil>]",
			"DEBUG maintenance notification handled conn=8 type=MOVING seq=5 content=[MOVING 5 15 <nil>]",
		}},
	} {
		var buf bytes.Buffer
		hook := NewLoggingHook(tc.level)
		hook.Logger = slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{
			Level: slog.LevelDebug,
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			},
		}))
		hctx := push.NotificationHandlerContext{Conn: tc.conn}
		got, ok := hook.PreHook(t.Context(), hctx, "MOVING", args)
		if !ok || len(got) != len(args) {
			t.Errorf("level %d: PreHook changed or stopped the notification", tc.level)
		}
		hook.PostHook(t.Context(), hctx, "MOVING", args, tc.err)
		var lines []string
		for line := range strings.Lines(buf.String()) {
			line = strings.NewReplacer("level=", "", "msg=", "", `"`, "", "\n", "").Replace(line)
			lines = append(lines, line)
		}
		if diff := cmp.Diff(tc.want, lines); diff != "" {
			t.Errorf("level %d, error %v (-want +got):\n%s", tc.level, tc.err, diff)
		}
	}
}

func TestMetricsHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := NewMetricsHook()
		hctx := push.NotificationHandlerContext{Conn: new(conn(7))}
		slow := func(err error) func(Notice) error {
			return func(Notice) error {
				<-time.After(time.Second) // of the bubble
				return err
			}
		}
		hooks := []NotificationHook{hook}
		_ = Dispatch(t.Context(), hctx, frame("MOVING", int64(5), int64(15)), hooks, nil, slow(nil))
		_ = Dispatch(t.Context(), hctx, frame("MOVING", int64(6), int64(15)), hooks, nil, slow(errRefused))

		// Without Dispatch the start is kept by the hook.
		hook.PreHook(t.Context(), hctx, "MIGRATED", nil)
		<-time.After(2 * time.Second) // of the bubble
		hook.PostHook(t.Context(), hctx, "MIGRATED", nil, nil)

		hook.HandoffDone("10.0.0.2:6379", nil)
		hook.HandoffDone("10.0.0.2:6379", errRefused)
		want := map[string]any{
			"notification_counts": map[string]int64{"MOVING": 2, "MIGRATED": 1},
			"processing_times":    map[string]time.Duration{"MOVING": time.Second, "MIGRATED": 2 * time.Second},
			"error_counts":        map[string]int64{"MOVING": 1},
			"handoff_counts":      int64(2),
			"handoff_successes":   int64(1),
			"handoff_failures":    int64(1),
		}
		if diff := cmp.Diff(want, hook.GetMetrics()); diff != "" {
			t.Errorf("GetMetrics (-want +got):\n%s", diff)
		}
	})
}

func TestMetricsHookIsSafeForConcurrentUse(t *testing.T) {
	hook := NewMetricsHook()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			hctx := push.NotificationHandlerContext{Conn: []int{i}} // not comparable
			for range 200 {
				hook.PreHook(t.Context(), hctx, "MOVING", nil)
				hook.PostHook(t.Context(), hctx, "MOVING", nil, nil)
				hook.HandoffDone("", nil)
				hook.GetMetrics()
			}
		})
	}
	wg.Wait()
	if got := hook.GetMetrics()["notification_counts"].(map[string]int64)["MOVING"]; got != 1600 {
		t.Errorf("counted %d notifications, want 1600", got)
	}
	for range 3 * maxStarts {
		hook.PreHook(t.Context(), push.NotificationHandlerContext{Conn: new(conn)}, "MOVING", nil)
	}
	if got := len(hook.starts); got > maxStarts {
		t.Errorf("%d starts are kept", got)
	}
}
