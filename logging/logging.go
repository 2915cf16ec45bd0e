// Package logging says what is logged by clients that have no Logger in their Options:
// nothing, until redis.SetLogger or Enable is called. It is for the whole program; a
// Logger of a client's own is the better way.
package logging

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/baton-go/redis/internal/logger"
)

// LogLevelT says how much is logged.
type LogLevelT int

// The levels; each takes those before it in. Warnings are logged unless SetLogLevel
// says something else.
const (
	LogLevelError LogLevelT = iota
	LogLevelWarn
	LogLevelInfo
	LogLevelDebug
)

// levels are those of slog.
var levels = [...]slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo, slog.LevelDebug} //nolint:gochecknoglobals // a table

// String is the level's name.
func (l LogLevelT) String() string {
	switch l {
	case LogLevelError:
		return "ERROR"
	case LogLevelWarn:
		return "WARN"
	case LogLevelInfo:
		return "INFO"
	case LogLevelDebug:
		return "DEBUG"
	}
	return "UNKNOWN"
}

// IsValid tells whether it is one of the four levels.
func (l LogLevelT) IsValid() bool { return l >= LogLevelError && l <= LogLevelDebug }

// WarnOrAbove tells whether warnings are logged at this level.
func (l LogLevelT) WarnOrAbove() bool { return l >= LogLevelWarn }

// InfoOrAbove tells whether information is logged at this level.
func (l LogLevelT) InfoOrAbove() bool { return l >= LogLevelInfo }

// DebugOrAbove tells whether everything is logged at this level.
func (l LogLevelT) DebugOrAbove() bool { return l >= LogLevelDebug }

// SetLogLevel sets how much is logged from now on. What is no level is ignored.
func SetLogLevel(logLevel LogLevelT) {
	if logLevel.IsValid() {
		logger.SetLevel(levels[logLevel])
	}
}

// Enable makes lines go to stderr, in place of a logger that was set.
func Enable() { logger.Set(logger.Standard()) }

// Disable makes nothing be logged.
func Disable() { logger.Set(nil) }

// VoidLogger is a logger that does nothing.
type VoidLogger struct{}

// Printf does nothing.
func (v *VoidLogger) Printf(context.Context, string, ...any) {}

// printer is what redis.SetLogger takes.
type printer interface {
	Printf(ctx context.Context, format string, v ...any)
}

// filter passes on lines that have one of some texts in them, or none of them.
type filter struct {
	to    printer
	texts []string
	with  bool
}

func (f filter) Printf(ctx context.Context, format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	found := false
	for _, text := range f.texts {
		found = found || strings.Contains(line, text)
	}
	if found == f.with {
		f.to.Printf(ctx, "%s", line)
	}
}

// NewBlacklistLogger makes a logger to stderr without the lines that have any of the
// texts in them.
func NewBlacklistLogger(substr []string) printer { //nolint:revive // go-redis's result has no public name either
	return filter{to: logger.Standard(), texts: substr}
}

// NewWhitelistLogger makes a logger to stderr of only those lines that have any of the
// texts in them.
func NewWhitelistLogger(substr []string) printer { //nolint:revive // the same
	return filter{to: logger.Standard(), texts: substr, with: true}
}
