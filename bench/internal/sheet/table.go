// Package sheet shows what was measured: as tables, as a page with charts that needs
// nothing else, and how far the measuring has come.
package sheet

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Table has a name for each row in its first column, and numbers in the others.
type Table struct {
	Title   string
	Note    string // how to read it
	Columns []string
	Rows    [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write writes the table as text.
func (t *Table) Write(w io.Writer) error {
	widths := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	b.WriteString(t.Title + "\n")
	line := func(row []string) {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch i {
			case 0:
				b.WriteString("  " + cell + pad)
			default:
				b.WriteString("  " + pad + cell)
			}
		}
		b.WriteString("\n")
	}
	line(t.Columns)
	for _, row := range t.Rows {
		line(row)
	}
	if t.Note != "" {
		b.WriteString("  " + strings.ReplaceAll(wrap(t.Note, noteWidth), "\n", "\n  ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteAll writes tables as text, with a line between them.
func WriteAll(w io.Writer, tables []*Table) error {
	for i, t := range tables {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}

// noteWidth is how long the lines of a note are.
const noteWidth = 100

// wrap breaks text between words.
func wrap(text string, width int) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		size := utf8.RuneCountInString(word)
		switch {
		case n == 0:
		case n+1+size > width:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += size
	}
	return b.String()
}

// Number is v with three digits that count, and its thousands apart.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 100:
		return Thousands(int64(math.Round(v)))
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.01:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// Thousands is n with its thousands apart.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Size is a number of bytes.
func Size(bytes float64) string {
	switch a := math.Abs(bytes); {
	case a >= 1e6:
		return Number(bytes/1e6) + " MB"
	case a >= 1e4:
		return Number(bytes/1e3) + " kB"
	}
	return Number(math.Round(bytes)) + " B"
}

// Micros is a time given in microseconds.
func Micros(us float64) string {
	switch {
	case us >= 1e6:
		return Number(us/1e6) + " s"
	case us >= 1e3:
		return Number(us/1e3) + " ms"
	}
	return Number(us) + " µs"
}

// Spread is a median with the range around it.
func Spread(median, low, high float64) string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", median, low, high)
}
