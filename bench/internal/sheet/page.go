package sheet

import (
	_ "embed"
	"html/template"
	"io"
	"time"
)

// A Section is one thing that was measured.
type Section struct {
	Tables []*Table
	Charts []template.HTML
}

// A Page is a report.
type Page struct {
	Title    string
	Sub      string // where and how it was measured
	Sections []Section
}

//go:embed page.html
var pageText string

// page is immutable after its declaration.
var page = template.Must(template.New("page").Parse(pageText))

// Write writes the page, which loads nothing and runs nothing. date says when the
// measurements were made.
func (p Page) Write(w io.Writer, date time.Time) error {
	return page.Execute(w, struct {
		Page
		Date string
	}{p, date.Format("2 January 2006, 15:04")})
}
