package maintnotifications

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/baton-go/redis/push"
)

// A NotificationHook sees every well-formed maintenance notification before and
// after it is handled.
//
// Hooks are called in the order in which they were added, without a lock held, by
// the goroutine that read the notification; several connections may call one at
// the same time. A hook must return quickly: no reply is read on that connection
// meanwhile.
type NotificationHook interface {
	// PreHook gets the notification (notification[0] is its name) and returns the
	// one to go on with, the same or another. false stops the processing: neither
	// later hooks nor the handler nor any PostHook is called.
	PreHook(ctx context.Context, notificationCtx push.NotificationHandlerContext, notificationType string, notification []any) ([]any, bool)

	// PostHook gets the notification as the PreHooks left it, and the result of
	// its handling, nil if all went well.
	PostHook(ctx context.Context, notificationCtx push.NotificationHandlerContext, notificationType string, notification []any, result error)
}

// A HandoffHook is a [NotificationHook] that wants to know of handoffs too.
type HandoffHook interface {
	// HandoffDone tells that a handoff to endpoint ended, err being nil if it
	// succeeded.
	HandoffDone(endpoint string, err error)
}

type startKey struct{}

// Dispatch takes a maintenance notification through its stations: check of the
// form, PreHooks, handle, metrics, PostHooks with the result. It is the order of
// section 4 of the maintenance specification.
//
// args is the frame as [ParseNotice] takes it; handle gets the parsed notice, of
// what the PreHooks made of it. A malformed frame goes to the metrics only and is
// returned as an error that wraps [ErrInvalidNotification]. Otherwise the result
// of handle is returned. metrics may be nil. A panic is not swallowed.
func Dispatch(ctx context.Context, notificationCtx push.NotificationHandlerContext, args []any,
	hooks []NotificationHook, metrics *Metrics, handle func(Notice) error,
) error {
	n, err := ParseNotice(args)
	if err != nil {
		metrics.Notification(frameName(args), false)
		return err
	}
	if len(hooks) == 0 {
		err = handle(n)
		metrics.Notification(n.Kind.String(), true)
		return err
	}
	name := n.Kind.String()
	ctx = context.WithValue(ctx, startKey{}, time.Now())
	for _, h := range hooks {
		var ok bool
		if args, ok = h.PreHook(ctx, notificationCtx, name, args); !ok {
			return nil
		}
	}
	// A hook may have changed the notification, in place too.
	valid := true
	if n, err = ParseNotice(args); err == nil {
		err = handle(n)
	} else {
		valid = false
	}
	metrics.Notification(name, valid)
	for _, h := range hooks {
		h.PostHook(ctx, notificationCtx, name, args, err)
	}
	return err
}

// frameName returns the name of a malformed frame for the metrics: only one of
// the seven, so that a server can't fill them with names.
func frameName(args []any) string {
	if len(args) > 0 {
		if s, ok := text(args[0]); ok {
			if k, ok := KindOf(s); ok {
				return k.String()
			}
		}
	}
	return "unknown"
}

// A LoggingHook logs notifications. Create one with [NewLoggingHook]; the fields
// must not be changed once it is in use.
type LoggingHook struct {
	// LogLevel says how much is logged: 0 errors of handling, 1 also malformed
	// notifications as warnings, 2 also each notification as information, 3 also
	// its end as debug. Below 0 nothing is logged.
	LogLevel int

	// Logger gets the records. nil stands for slog.Default().
	Logger *slog.Logger
}

// NewLoggingHook returns a hook that logs to slog.Default() with the given
// LogLevel, 0 to 3.
func NewLoggingHook(logLevel int) *LoggingHook { return &LoggingHook{LogLevel: logLevel} }

var (
	_ NotificationHook = (*LoggingHook)(nil)
	_ NotificationHook = (*MetricsHook)(nil)
	_ HandoffHook      = (*MetricsHook)(nil)
)

// PreHook logs the notification if LogLevel is at least 2. It changes nothing.
func (lh *LoggingHook) PreHook(ctx context.Context, notificationCtx push.NotificationHandlerContext, notificationType string, notification []any) ([]any, bool) {
	if lh.LogLevel >= 2 {
		lh.log(ctx, slog.LevelInfo, "maintenance notification", notificationCtx, notificationType, notification, nil)
	}
	return notification, true
}

// PostHook logs a failure, and success if LogLevel is at least 3.
func (lh *LoggingHook) PostHook(ctx context.Context, notificationCtx push.NotificationHandlerContext, notificationType string, notification []any, result error) {
	switch {
	case result == nil && lh.LogLevel >= 3:
		lh.log(ctx, slog.LevelDebug, "maintenance notification handled", notificationCtx, notificationType, notification, nil)
	case result == nil:
	case errors.Is(result, ErrInvalidNotification):
		if lh.LogLevel >= 1 {
			lh.log(ctx, slog.LevelWarn, "maintenance notification malformed", notificationCtx, notificationType, notification, result)
		}
	case lh.LogLevel >= 0:
		lh.log(ctx, slog.LevelError, "maintenance notification failed", notificationCtx, notificationType, notification, result)
	}
}

func (lh *LoggingHook) log(ctx context.Context, level slog.Level, msg string,
	hctx push.NotificationHandlerContext, notificationType string, notification []any, err error,
) {
	logger := lh.Logger
	if logger == nil {
		logger = slog.Default()
	}
	if !logger.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 5)
	if id, ok := connID(hctx.Conn); ok {
		attrs = append(attrs, slog.Uint64("conn", id))
	}
	attrs = append(attrs, slog.String("type", notificationType))
	if len(notification) > 1 {
		attrs = append(attrs, slog.Any("seq", notification[1]))
	}
	attrs = append(attrs, slog.Any("content", notification))
	if err != nil {
		attrs = append(attrs, slog.Any("err", err))
	}
	logger.LogAttrs(ctx, level, msg, attrs...)
}

// connID returns the id of a connection that tells it.
func connID(conn any) (uint64, bool) {
	switch c := conn.(type) {
	case uint64:
		return c, true
	case interface{ ID() uint64 }:
		return c.ID(), true
	case interface{ GetID() uint64 }:
		return c.GetID(), true
	}
	return 0, false
}

// A MetricsHook counts notifications and handoffs. Create one with
// [NewMetricsHook] and read it with [MetricsHook.GetMetrics], which is safe while
// it is in use; the fields are for reading after that.
type MetricsHook struct {
	// NotificationCounts counts notifications by type.
	NotificationCounts map[string]int64
	// ProcessingTimes is how long the latest notification of each type took from
	// before the first PreHook.
	ProcessingTimes map[string]time.Duration
	// ErrorCounts counts failed ones by type.
	ErrorCounts map[string]int64
	// HandoffCounts counts handoffs that ended.
	HandoffCounts int64
	// HandoffSuccesses counts those that succeeded.
	HandoffSuccesses int64
	// HandoffFailures counts those that failed.
	HandoffFailures int64

	mu     sync.Mutex // guards all fields
	starts map[started]time.Time
}

// started names a notification between PreHook and PostHook. One connection has
// one at a time.
type started struct {
	conn any
	kind string
}

// maxStarts bounds the starts that are kept for notifications without an end.
const maxStarts = 1024

// NewMetricsHook returns a hook that has counted nothing yet.
func NewMetricsHook() *MetricsHook {
	return &MetricsHook{
		NotificationCounts: make(map[string]int64),
		ProcessingTimes:    make(map[string]time.Duration),
		ErrorCounts:        make(map[string]int64),
		starts:             make(map[started]time.Time),
	}
}

// PreHook counts the notification. It changes nothing.
func (mh *MetricsHook) PreHook(ctx context.Context, notificationCtx push.NotificationHandlerContext, notificationType string, notification []any) ([]any, bool) {
	mh.mu.Lock()
	defer mh.mu.Unlock()
	mh.NotificationCounts[notificationType]++
	if _, ok := ctx.Value(startKey{}).(time.Time); !ok { // not called by Dispatch
		if len(mh.starts) >= maxStarts {
			clear(mh.starts)
		}
		mh.starts[startedBy(notificationCtx, notificationType)] = time.Now()
	}
	return notification, true
}

// PostHook counts a failure and notes the processing time.
func (mh *MetricsHook) PostHook(ctx context.Context, notificationCtx push.NotificationHandlerContext, notificationType string, _ []any, result error) {
	mh.mu.Lock()
	defer mh.mu.Unlock()
	start, ok := ctx.Value(startKey{}).(time.Time)
	if !ok {
		key := startedBy(notificationCtx, notificationType)
		start, ok = mh.starts[key]
		delete(mh.starts, key)
	}
	if ok {
		mh.ProcessingTimes[notificationType] = time.Since(start)
	}
	if result != nil {
		mh.ErrorCounts[notificationType]++
	}
}

func startedBy(hctx push.NotificationHandlerContext, kind string) started {
	if t := reflect.TypeOf(hctx.Conn); t == nil || t.Kind() != reflect.Pointer {
		return started{kind: kind} // what might not do as the key of a map
	}
	return started{conn: hctx.Conn, kind: kind}
}

// HandoffDone counts a handoff.
func (mh *MetricsHook) HandoffDone(_ string, err error) {
	mh.mu.Lock()
	defer mh.mu.Unlock()
	mh.HandoffCounts++
	if err == nil {
		mh.HandoffSuccesses++
	} else {
		mh.HandoffFailures++
	}
}

// GetMetrics returns a copy of the numbers:
//
//	"notification_counts"  map[string]int64          NotificationCounts
//	"processing_times"     map[string]time.Duration  ProcessingTimes
//	"error_counts"         map[string]int64          ErrorCounts
//	"handoff_counts"       int64                     HandoffCounts
//	"handoff_successes"    int64                     HandoffSuccesses
//	"handoff_failures"     int64                     HandoffFailures
func (mh *MetricsHook) GetMetrics() map[string]any {
	mh.mu.Lock()
	defer mh.mu.Unlock()
	return map[string]any{
		"notification_counts": maps.Clone(mh.NotificationCounts),
		"processing_times":    maps.Clone(mh.ProcessingTimes),
		"error_counts":        maps.Clone(mh.ErrorCounts),
		"handoff_counts":      mh.HandoffCounts,
		"handoff_successes":   mh.HandoffSuccesses,
		"handoff_failures":    mh.HandoffFailures,
	}
}
