package sheet

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Progress says what is being measured: in one line that changes where there is a
// terminal, and in lines of their own elsewhere.
type Progress struct {
	w        io.Writer
	terminal bool
	begun    time.Time
	shown    bool
}

// The line is written over itself, and cut off where the terminal is too narrow.
const (
	lineBegin = "\r\x1b[?7l"
	lineEnd   = "\x1b[K\x1b[?7h"
)

// NewProgress makes one that writes to w.
func NewProgress(w io.Writer) *Progress {
	return &Progress{w: w, terminal: isTerminal(w), begun: time.Now()}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Step says what comes now.
func (p *Progress) Step(format string, args ...any) {
	text := fmt.Sprintf("%4.0f s  ", time.Since(p.begun).Seconds()) + fmt.Sprintf(format, args...)
	if p.terminal {
		fmt.Fprint(p.w, lineBegin+text+lineEnd)
	} else {
		fmt.Fprintln(p.w, text)
	}
	p.shown = true
}

// Close ends the line.
func (p *Progress) Close() {
	if p.terminal && p.shown {
		fmt.Fprint(p.w, lineBegin+lineEnd)
	}
}
