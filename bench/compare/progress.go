package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/baton-go/redis/bench/compare/internal/contest"
	"github.com/baton-go/redis/bench/compare/internal/result"
)

// progress shows how far the program has come: one line that changes where there is
// a terminal, and a line now and then elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	printed  time.Duration // when the last plain line was
	began    bool
}

const (
	plainEvery = 10 * time.Second

	// The line is written over itself, and cut off where the terminal is too narrow:
	// wrapped, it could not be written over.
	lineBegin = "\r\x1b[?7l"
	lineEnd   = "\x1b[K\x1b[?7h"
)

func newProgress(w io.Writer) *progress {
	return &progress{w: w, terminal: isTerminal(w)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

func (p *progress) show(s contest.Status) {
	switch {
	case p.terminal:
		fmt.Fprint(p.w, lineBegin, progressText(s), lineEnd)
	case !p.began || s.Elapsed-p.printed >= plainEvery:
		p.printed = s.Elapsed
		fmt.Fprintln(p.w, progressText(s))
	}
	p.began = true
}

// close ends the line.
func (p *progress) close() {
	if p.terminal && p.began {
		fmt.Fprint(p.w, lineBegin+lineEnd)
	}
}

// progressText is s in one line.
func progressText(s contest.Status) string {
	round := "settings"
	if s.Round > 0 {
		round = fmt.Sprintf("round %d/%d", s.Round, s.Rounds)
	}
	left := max(s.Expected-s.Elapsed, 0).Round(time.Second)
	return fmt.Sprintf("%d/%d  %s, %s, %s  %s  %s  (%v left)",
		s.Number, s.Blocks, s.Block.Workload.Name, result.Goroutines(s.Block.Goroutines), s.Block.Transport, round, s.Subject, left)
}
