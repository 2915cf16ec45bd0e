package report

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/go-analyze/charts"

	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/compare/internal/subject"
)

// The layout of a chart, in pixels.
const (
	chartWidth  = 530
	chartHeight = 290
	plotLeft    = 62
	plotRight   = chartWidth - 14
	plotTop     = 30
	plotBottom  = chartHeight - 30
	plotMargin  = 24 // between the frame and the first and last points
)

// Colours, on white.
var (
	ink   = charts.ColorFromHex("#1f2937")
	faint = charts.ColorFromHex("#6b7280")
	grid  = charts.ColorFromHex("#e5e7eb")
	paper = charts.ColorFromHex("#ffffff")
)

// colors are those of the clients: one hue for each library.
var colors = map[string]string{
	subject.Baton:               "#1d4ed8",
	subject.BatonNoPoll:         "#60a5fa",
	subject.BatonOff:            "#93c5fd",
	subject.GoRedis:             "#dc2626",
	subject.GoRedisAutoPipeline: "#f97316",
	subject.Rueidis:             "#047857",
	subject.RueidisDelay:        "#10b981",
	subject.RueidisAlways:       "#84cc16",
	subject.Redigo:              "#7c3aed",
}

// otherColor is that of a client that has none.
const otherColor = "#6b7280"

func colorOf(name string) string {
	if c := colors[name]; c != "" {
		return c
	}
	return otherColor
}

// A metric is what a chart shows of each client.
type metric struct {
	title string
	of    func(*result.Subject) float64
	tick  func(float64) string // a round value
}

var metrics = []metric{
	{"commands a second", func(s *result.Subject) float64 { return s.OpsPerS }, countTick},
	{"p99 of a call", func(s *result.Subject) float64 { return s.Latency.P99 }, microsTick},
}

// countTick is a round number, short.
func countTick(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%gM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%gk", v/1e3)
	}
	return fmt.Sprintf("%g", v)
}

// microsTick is a round number of microseconds, short.
func microsTick(us float64) string {
	switch {
	case us >= 1e6:
		return fmt.Sprintf("%g s", us/1e6)
	case us >= 1e3:
		return fmt.Sprintf("%g ms", us/1e3)
	}
	return fmt.Sprintf("%g µs", us)
}

// A chart draws one metric over the numbers of goroutines, logarithmically.
type chart struct {
	p      *charts.Painter
	cells  []*result.Cell // by number of goroutines
	metric metric
	lo, hi float64 // of the scale
}

// draw draws the metric of cells, which differ in the number of goroutines only.
func draw(cells []*result.Cell, m metric) (template.HTML, error) {
	c := chart{cells: cells, metric: m, p: charts.NewPainter(charts.PainterOptions{
		OutputFormat: charts.ChartOutputSVG,
		Width:        chartWidth,
		Height:       chartHeight,
	})}
	c.p.FilledRect(0, 0, chartWidth, chartHeight, paper, paper, 0)
	c.p.Text(m.title, plotLeft, 16, 0, font(11, ink))
	c.fit()
	c.axes()
	// Those drawn last are on top: Baton's.
	names := c.names()
	for i := len(names) - 1; i >= 0; i-- {
		c.curve(names[i])
	}
	b, err := c.p.Bytes()
	if err != nil {
		return "", fmt.Errorf("chart of %s: %w", m.title, err)
	}
	return template.HTML(bytes.TrimSpace(b)), nil
}

func font(size float64, color charts.Color) charts.FontStyle {
	return charts.FontStyle{FontSize: size, FontColor: color}
}

// names are the clients that are in any of the cells.
func (c chart) names() []string { return namesIn(c.cells) }

// fit makes the scale so that it holds all values.
func (c *chart) fit() {
	low, high := math.Inf(1), 0.0
	for _, cell := range c.cells {
		for _, s := range cell.Subjects {
			if v := c.metric.of(s); v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if high == 0 {
		low, high = 1, 10
	}
	for i, v := range roundValues {
		if v <= low {
			c.lo = v
		}
		if v < high {
			c.hi = roundValues[i+1]
		}
	}
	if c.hi <= c.lo {
		c.hi = c.lo * 10
	}
}

// roundValues are where lines may be: 1, 2, 5, 10, ...
var roundValues = func() (values []float64) {
	for e := -2; e <= 12; e++ {
		for _, first := range []float64{1, 2, 5} {
			values = append(values, first*math.Pow(10, float64(e)))
		}
	}
	return values
}()

// fewLines is up to how many lines there are between the powers of ten, too.
const fewLines = 10

// ticks are the values with a line.
func (c chart) ticks() []float64 {
	var all, powers []float64
	for i, v := range roundValues {
		if v < c.lo || v > c.hi {
			continue
		}
		all = append(all, v)
		if i%3 == 0 {
			powers = append(powers, v)
		}
	}
	if len(all) > fewLines {
		return powers
	}
	return all
}

func (c chart) y(v float64) int {
	part := math.Log(v/c.lo) / math.Log(c.hi/c.lo)
	return plotBottom - int(math.Round(part*(plotBottom-plotTop)))
}

// x is where cell number i is. They are equally far apart.
func (c chart) x(i int) int {
	if len(c.cells) == 1 {
		return (plotLeft + plotRight) / 2
	}
	return plotLeft + plotMargin + i*(plotRight-plotLeft-2*plotMargin)/(len(c.cells)-1)
}

func (c chart) axes() {
	for _, v := range c.ticks() {
		y := c.y(v)
		c.p.LineStroke([]charts.Point{{X: plotLeft, Y: y}, {X: plotRight, Y: y}}, grid, 1)
		label := c.metric.tick(v)
		w := c.p.MeasureText(label, 0, font(9, faint)).Width()
		c.p.Text(label, plotLeft-8-w, y+4, 0, font(9, faint))
	}
	for i, cell := range c.cells {
		label := thousands(float64(cell.Goroutines))
		w := c.p.MeasureText(label, 0, font(9, faint)).Width()
		c.p.Text(label, c.x(i)-w/2, plotBottom+18, 0, font(9, faint))
	}
}

// curve draws the values of one client. Where it has none there is a gap.
func (c chart) curve(name string) {
	color := charts.ColorFromHex(colorOf(name))
	width := 1.5
	if name == subject.Baton {
		width = 3
	}
	var line []charts.Point
	flush := func() {
		if len(line) > 1 {
			c.p.LineStroke(line, color, width)
		}
		line = nil
	}
	for i, cell := range c.cells {
		s := cell.Find(name)
		if s == nil || c.metric.of(s) <= 0 {
			flush()
			continue
		}
		at := charts.Point{X: c.x(i), Y: c.y(c.metric.of(s))}
		line = append(line, at)
		c.p.FilledDiamond(at.X, at.Y, 7, 7, color, color, 1)
	}
	flush()
}

// A figure is the charts of cells that differ in the number of goroutines only.
type figure struct {
	Title  string
	Charts []template.HTML
	Key    []keyEntry
}

type keyEntry struct{ Name, Color string }

// figures draws all that was measured, workload by workload.
func figures(r *result.Result) ([]figure, error) {
	var all []figure
	for _, cells := range series(r.Cells) {
		k := cells[0].Key
		f := figure{Title: strings.Join([]string{k.Workload, k.Transport, k.Context}, ", ")}
		for _, m := range metrics {
			svg, err := draw(cells, m)
			if err != nil {
				return nil, err
			}
			f.Charts = append(f.Charts, svg)
		}
		for _, name := range namesIn(cells) {
			f.Key = append(f.Key, keyEntry{name, colorOf(name)})
		}
		all = append(all, f)
	}
	return all, nil
}
