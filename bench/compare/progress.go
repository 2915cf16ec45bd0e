package main

import (
	"fmt"
	"io"
	"time"

	"github.com/baton-go/redis/bench/compare/internal/contest"
	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/internal/sheet"
)

// progress shows how far the program has come: one line that changes where there is
// a terminal, and a line now and then elsewhere.
type progress struct {
	line    *sheet.Line
	printed time.Duration // when the last line of its own was
	began   bool
}

// plainEvery is how often there is a line of its own.
const plainEvery = 10 * time.Second

func newProgress(w io.Writer) *progress { return &progress{line: sheet.NewLine(w)} }

func (p *progress) show(s contest.Status) {
	if p.began && !p.line.Changes() && s.Elapsed-p.printed < plainEvery {
		return
	}
	p.began, p.printed = true, s.Elapsed
	p.line.Show(progressText(s))
}

// close ends the line.
func (p *progress) close() { p.line.Close() }

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
