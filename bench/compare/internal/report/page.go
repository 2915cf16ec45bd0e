package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/baton-go/redis/bench/compare/internal/result"
)

//go:embed page.html
var pageText string

// page is immutable after its declaration.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"figures": figuresOf,
	"two":     func(v float64) string { return fmt.Sprintf("%.2f", v) },
	"percent": func(v float64) string { return fmt.Sprintf("%.0f %%", v*100) },
	"millis":  func(s float64) string { return fmt.Sprintf("%.0f ms", s*1000) },
	"label":   label,
	"color":   func(name string) template.CSS { return template.CSS(colorOf(name)) },
}).Parse(pageText))

type content struct {
	*result.Result
	Modules  []string
	Figures  []figure
	Counts   map[string]int
	Failures []string
	Date     string
	Disturb  float64 // from which part of the CPUs on others are mentioned
}

// WritePage writes r as one page that loads nothing.
func WritePage(w io.Writer, r *result.Result) error {
	drawn, err := figures(r)
	if err != nil {
		return err
	}
	c := content{
		Result: r, Figures: drawn, Counts: map[string]int{}, Failures: r.Failures(),
		Date: r.Date.Format("2 January 2006, 15:04:05"), Disturb: noticeable,
	}
	for _, path := range slices.Sorted(maps.Keys(r.Environment.Modules)) {
		c.Modules = append(c.Modules, strings.TrimPrefix(path, "github.com/")+" "+r.Environment.Modules[path])
	}
	for _, t := range r.Targets {
		c.Counts[string(t.Outcome)]++
	}
	return page.Execute(w, c)
}
