package sheet

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A Line is one that changes where there is a terminal; elsewhere each text has a line of
// its own.
type Line struct {
	w          io.Writer
	isTerminal bool
	isShown    bool
}

// The line is written over itself, and cut off where the terminal is too narrow:
// wrapped, it could not be written over.
const (
	lineBegin = "\r\x1b[?7l"
	lineEnd   = "\x1b[K\x1b[?7h"
)

// NewLine makes one that writes to w.
func NewLine(w io.Writer) *Line { return &Line{w: w, isTerminal: isTerminal(w)} }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Changes tells whether a text takes the place of the one before.
func (l *Line) Changes() bool { return l.isTerminal }

// Show shows a text.
func (l *Line) Show(text string) {
	if l.isTerminal {
		fmt.Fprint(l.w, lineBegin+text+lineEnd)
	} else {
		fmt.Fprintln(l.w, text)
	}
	l.isShown = true
}

// Close ends the line.
func (l *Line) Close() {
	if l.isTerminal && l.isShown {
		fmt.Fprint(l.w, lineBegin+lineEnd)
	}
}

// Progress says what is being measured.
type Progress struct {
	line  *Line
	begun time.Time
}

// NewProgress makes one that writes to w.
func NewProgress(w io.Writer) *Progress { return &Progress{line: NewLine(w), begun: time.Now()} }

// Step says what comes now.
func (p *Progress) Step(format string, args ...any) {
	p.line.Show(fmt.Sprintf("%4.0f s  ", time.Since(p.begun).Seconds()) + fmt.Sprintf(format, args...))
}

// Close ends what is shown.
func (p *Progress) Close() { p.line.Close() }
