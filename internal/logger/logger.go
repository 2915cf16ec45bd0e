// Package logger is where clients log that have no logger of their own. It is one for
// the whole program, because go-redis has it so.
package logger

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
)

// A Printer takes lines of text. It may be called by many goroutines at once.
type Printer interface {
	Printf(ctx context.Context, format string, v ...any)
}

// state is what may be changed while clients log. nil: nothing is logged.
var state atomic.Pointer[Printer] //nolint:gochecknoglobals // go-redis's API is for the whole program

// least is the lowest level that is logged; warnings at first.
var least atomic.Int64 //nolint:gochecknoglobals // the same

// Set makes p get the lines; nil: nobody.
func Set(p Printer) {
	if p == nil {
		state.Store(nil)
		return
	}
	state.Store(&p)
}

// SetLevel sets the lowest level that is logged.
func SetLevel(level slog.Level) { least.Store(int64(level - slog.LevelWarn)) }

// Standard prints to stderr.
func Standard() Printer {
	return standard{log.New(os.Stderr, "redis: ", log.LstdFlags)}
}

type standard struct{ log *log.Logger }

func (s standard) Printf(_ context.Context, format string, v ...any) { s.log.Printf(format, v...) }

// Handler gives records to whoever gets the lines at that time.
type Handler struct {
	attrs  string // those of WithAttrs, as text
	prefix string // that of WithGroup
}

var _ slog.Handler = Handler{}

// Enabled reports whether records of a level are logged.
func (h Handler) Enabled(_ context.Context, level slog.Level) bool {
	return state.Load() != nil && level-slog.LevelWarn >= slog.Level(least.Load())
}

// Handle logs a record as a line: the message, and its attributes as name=value.
func (h Handler) Handle(ctx context.Context, r slog.Record) error {
	to := state.Load()
	if to == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		h.write(&b, h.prefix, a)
		return true
	})
	(*to).Printf(ctx, "%s", b.String())
	return nil
}

func (h Handler) write(b *strings.Builder, prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		for _, inner := range v.Group() {
			h.write(b, prefix+a.Key+".", inner)
		}
		return
	}
	text := v.String()
	if strings.ContainsAny(text, " \"=\n") {
		text = fmt.Sprintf("%q", text)
	}
	b.WriteString(" " + prefix + a.Key + "=" + text)
}

// WithAttrs gives a handler that adds attributes.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	b.WriteString(h.attrs)
	for _, a := range attrs {
		h.write(&b, h.prefix, a)
	}
	h.attrs = b.String()
	return h
}

// WithGroup gives a handler that puts a name before those of attributes.
func (h Handler) WithGroup(name string) slog.Handler {
	if name != "" {
		h.prefix += name + "."
	}
	return h
}
