// Package status shows how far a drill has come: one line that changes where there
// is a terminal, and a line now and then elsewhere.
package status

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/drill"
)

// A Line shows the progress. Show is called by one goroutine at a time.
type Line struct {
	w        io.Writer
	terminal bool
	quiet    bool
	every    time.Duration // between lines where there is no terminal

	last    drill.Status
	printed time.Duration // when the last plain line was
	began   bool
}

const (
	plainEvery = 5 * time.Second
	barWidth   = 10

	// The line is written over itself, and cut off where the terminal is too narrow:
	// wrapped, it could not be written over.
	lineBegin = "\r\x1b[?7l"
	lineEnd   = "\x1b[K\x1b[?7h"
)

// New makes a Line that writes to w.
func New(w io.Writer, quiet bool) *Line {
	return &Line{w: w, quiet: quiet, terminal: isTerminal(w), every: plainEvery}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Show shows s.
func (l *Line) Show(s drill.Status) {
	if l.quiet {
		return
	}
	var rate float64
	if d := s.Elapsed - l.last.Elapsed; d > 0 {
		rate = float64(s.Live.Acknowledged-l.last.Live.Acknowledged) / d.Seconds()
	}
	switch {
	case l.terminal:
		l.last = s
		fmt.Fprintf(l.w, "%s%s%s", lineBegin, Text(s, rate, true), lineEnd)
	case !l.began || s.Phase != l.last.Phase || s.Elapsed-l.printed >= l.every:
		l.last, l.printed = s, s.Elapsed
		fmt.Fprintln(l.w, Text(s, rate, false))
	}
	l.began = true
}

// Close ends the line.
func (l *Line) Close() {
	if l.terminal && l.began {
		fmt.Fprint(l.w, lineBegin+lineEnd)
	}
}

// Text is s in one line, with a bar for terminals.
func Text(s drill.Status, rate float64, bar bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s %4.1f/%.0f s ", s.Phase, s.Elapsed.Seconds(), s.Planned.Seconds())
	if bar {
		part := 1.0
		if s.Planned > 0 {
			part = min(float64(s.Elapsed)/float64(s.Planned), 1)
		}
		full := int(part * barWidth)
		fmt.Fprintf(&b, "%s%s ", strings.Repeat("█", full), strings.Repeat("░", barWidth-full))
	}
	fmt.Fprintf(&b, "%7s ops/s  failed %d  unknown %d  notices %d  handoffs %d",
		account.Thousands(int64(rate)), s.Live.Failed, s.Live.Unknown, s.Notices, s.Handoffs)
	if s.Stalled {
		b.WriteString("  [stall]")
	}
	return b.String()
}
