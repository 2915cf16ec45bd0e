package report

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/go-analyze/charts"

	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/drill"
)

// The layout of a chart, in pixels: a lane with what happened on top, then the
// plot, then the time.
const (
	chartWidth  = 1080
	plotLeft    = 72
	plotRight   = chartWidth - 16
	legendLine  = 14 // base line of the legend
	phaseLine   = 32 // base line of the phases' names
	laneTop     = 40
	laneRow     = 13
	laneRows    = 8
	plotTop     = laneTop + laneRows*laneRow + 8
	plotHeight  = 210
	plotBottom  = plotTop + plotHeight
	chartHeight = plotBottom + 30
)

// Colours, on white.
var (
	ink      = charts.ColorFromHex("#1f2937")
	faint    = charts.ColorFromHex("#6b7280")
	grid     = charts.ColorFromHex("#e5e7eb")
	paper    = charts.ColorFromHex("#ffffff")
	blue     = charts.ColorFromHex("#2563eb")
	amber    = charts.ColorFromHex("#d97706")
	rose     = charts.ColorFromHex("#be185d")
	green    = charts.ColorFromHex("#059669")
	red      = charts.ColorFromHex("#dc2626")
	violet   = charts.ColorFromHex("#7c3aed")
	stallBed = charts.ColorFromHex("#fef3c7")
	outBed   = charts.ColorFromHex("#fee2e2")
)

// A chart draws one picture over the time axis that all pictures share.
type chart struct {
	p   *charts.Painter
	rep *drill.Report
}

func newChart(rep *drill.Report) chart {
	p := charts.NewPainter(charts.PainterOptions{
		OutputFormat: charts.ChartOutputSVG,
		Width:        chartWidth,
		Height:       chartHeight,
	})
	p.FilledRect(0, 0, chartWidth, chartHeight, paper, paper, 0)
	return chart{p: p, rep: rep}
}

// x is where t is. A sample is drawn at the middle of its time.
func (c chart) x(t time.Duration) int {
	n := len(c.rep.Samples)
	if n < 2 {
		return plotLeft
	}
	pos := (float64(t)/float64(c.rep.Width) - 0.5) / float64(n-1)
	return plotLeft + int(math.Round(min(max(pos, 0), 1)*(plotRight-plotLeft)))
}

func font(size float64, color charts.Color) charts.FontStyle {
	return charts.FontStyle{FontSize: size, FontColor: color}
}

func (c chart) text(s string, x, y int, size float64, color charts.Color) {
	c.p.Text(s, x, y, 0, font(size, color))
}

// textLeftOf writes s so that it ends at x.
func (c chart) textLeftOf(s string, x, y int, size float64, color charts.Color) {
	w := c.p.MeasureText(s, 0, font(size, color)).Width()
	c.text(s, x-w, y, size, color)
}

func (c chart) vertical(x, top, bottom int, color charts.Color, width float64) {
	c.p.LineStroke([]charts.Point{{X: x, Y: top}, {X: x, Y: bottom}}, color, width)
}

// background draws what explains the curves: times in which replies stalled or
// nothing accepted, and the time axis.
func (c chart) background() {
	bed := func(from, to time.Duration, color charts.Color) {
		x1, x2 := c.x(from), c.x(to)
		c.p.FilledRect(x1, laneTop, max(x2, x1+2), plotBottom, color, color, 0)
	}
	var stall, out time.Duration
	for _, m := range c.rep.Marks {
		switch m.Kind {
		case drill.MarkStallBegin:
			stall = m.At
		case drill.MarkStallEnd:
			bed(stall, m.At, stallBed)
		case drill.MarkCut:
			out = m.At
		case drill.MarkBack:
			bed(out, m.At, outBed)
		case drill.MarkNotice, drill.MarkHandoff, drill.MarkClosed, drill.MarkFault, drill.MarkRepaired,
			drill.MarkEndpoint, drill.MarkStep, drill.MarkOther:
		}
	}
	end := c.rep.End
	step := timeStep(end)
	for t := time.Duration(0); t <= end; t += step {
		x := c.x(t)
		c.vertical(x, plotTop, plotBottom, grid, 1)
		c.text(fmt.Sprintf("%g s", t.Seconds()), max(x-8, plotLeft-4), plotBottom+18, 9, faint)
	}
}

// timeStep is the distance of the marks on a time axis.
func timeStep(end time.Duration) time.Duration {
	for _, s := range []time.Duration{
		500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute,
	} {
		if end/s <= 14 {
			return s
		}
	}
	return 10 * time.Minute
}

// crowded is how many marks are too many for a line down from each of them.
const crowded = 40

// lane draws what happened, one row for each kind.
func (c chart) lane() {
	endpoint := "endpoint"
	if c.rep.Result.Cluster.Nodes > 0 {
		endpoint = "slots"
	}
	for i, row := range [laneRows]struct {
		name  string
		color charts.Color
		at    []time.Duration
		lines bool // through the plot
	}{
		{"notices", blue, c.marked(drill.MarkNotice), true},
		{"handoffs", green, c.marked(drill.MarkHandoff), false},
		{"closes", violet, c.marked(drill.MarkClosed), true},
		{"cuts", red, c.marked(drill.MarkCut), true},
		{"faults", red, c.marked(drill.MarkFault), false},
		{endpoint, violet, c.marked(drill.MarkEndpoint), false},
		{"chaos", amber, c.marked(drill.MarkStep), false},
		{"failures", red, c.failures(), false},
	} {
		y := laneTop + i*laneRow + laneRow/2
		c.textLeftOf(row.name, plotLeft-8, y+4, 8.5, faint)
		c.p.LineStroke([]charts.Point{{X: plotLeft, Y: y}, {X: plotRight, Y: y}}, grid, 1)
		last := -10
		for _, at := range row.at {
			x := c.x(at)
			if x-last < 2 {
				continue // the same pixels
			}
			last = x
			if len(row.at) > crowded {
				c.vertical(x, y-4, y+4, row.color, 1.5)
				continue
			}
			c.p.FilledDiamond(x, y, 8, 8, row.color, row.color, 1)
			if row.lines {
				c.p.DashedLineStroke([]charts.Point{{X: x, Y: y + 5}, {X: x, Y: plotBottom}}, row.color.WithAlpha(70), 1, []float64{2, 3})
			}
		}
	}
	c.phases()
}

// marked is when something of that kind happened.
func (c chart) marked(kind drill.MarkKind) (at []time.Duration) {
	for _, m := range c.rep.Marks {
		if m.Kind == kind {
			at = append(at, m.At)
		}
	}
	return at
}

// failures is when commands failed or were not answered.
func (c chart) failures() (at []time.Duration) {
	for _, s := range c.rep.Samples {
		if s.Failed > 0 {
			at = append(at, s.At+c.rep.Width/2)
		}
	}
	return at
}

// phases names the phases above the lane.
func (c chart) phases() {
	for _, ph := range []struct {
		name string
		from time.Duration
	}{{"before", 0}, {"during", c.rep.During}, {"after", c.rep.After}} {
		if ph.from == 0 && ph.name != "before" {
			continue
		}
		x := c.x(ph.from)
		if ph.name != "before" {
			c.vertical(x, phaseLine-10, plotBottom, faint, 1)
		}
		c.text(ph.name, x+5, phaseLine, 9, ink)
	}
}

// a scale maps values to heights between lo and hi.
type scale struct {
	lo, hi float64
	of     func(float64) float64
}

func (s scale) y(v float64) int {
	f := (s.of(v) - s.lo) / (s.hi - s.lo)
	return plotBottom - int(math.Round(min(max(f, 0), 1)*plotHeight))
}

// gridLine draws a horizontal line with its value.
func (c chart) gridLine(y int, label string) {
	c.p.LineStroke([]charts.Point{{X: plotLeft, Y: y}, {X: plotRight, Y: y}}, grid, 1)
	c.textLeftOf(label, plotLeft-8, y+4, 9, faint)
}

// curves draws one line for each series, in a scale that all of them share.
func (c chart) curves(series [][]float64, colors []charts.Color, s scale, fill bool) error {
	for i, values := range series {
		out := make([]float64, len(values))
		for j, v := range values {
			if out[j] = charts.GetNullValue(); v > 0 || fill {
				out[j] = s.of(v)
			}
		}
		series[i] = out
	}
	opt := charts.NewLineChartOptionWithData(series)
	opt.Theme = charts.MakeTheme(charts.ThemeOption{
		SeriesColors:    colors,
		BackgroundColor: charts.ColorTransparent,
		TextColor:       ink,
	})
	opt.Padding = charts.NewBoxEqual(0)
	opt.XAxis.Show = new(false)
	opt.XAxis.BoundaryGap = new(false)
	opt.YAxis = []charts.YAxisOption{{
		Show: new(false), Min: &s.lo, Max: &s.hi, RangeValuePaddingScale: new(0.0),
	}}
	opt.Legend.Show = new(false)
	opt.Title.Show = new(false)
	opt.Symbol.Shape = charts.SymbolNone
	opt.LineStrokeWidth = 1.5
	if fill {
		opt.FillArea = new(true)
		opt.FillOpacity = 40
	}
	child := c.p.Child(charts.PainterBoxOption(charts.NewBox(plotLeft, plotTop, plotRight, plotBottom)))
	return child.LineChart(opt)
}

// legend writes names in their colours at the right of the top line.
func (c chart) legend(names []string, colors []charts.Color) {
	x := plotRight
	for i := len(names) - 1; i >= 0; i-- {
		w := c.p.MeasureText(names[i], 0, font(9, ink)).Width()
		x -= w
		c.text(names[i], x, legendLine, 9, ink)
		c.p.FilledRect(x-14, legendLine-7, x-4, legendLine-1, colors[i], colors[i], 0)
		x -= 26
	}
}

func (c chart) svg() (template.HTML, error) {
	b, err := c.p.Bytes()
	if err != nil {
		return "", err
	}
	b = bytes.TrimSpace(b)
	return template.HTML(b), nil
}

// latencyChart draws p50, p99 and the maximum over time, logarithmically.
func latencyChart(rep *drill.Report) (template.HTML, error) {
	c := newChart(rep)
	c.background()
	top := int64(1)
	series := [][]float64{nil, nil, nil}
	low := int64(math.MaxInt64)
	for _, s := range rep.Samples {
		series[0] = append(series[0], float64(s.Max))
		series[1] = append(series[1], float64(s.P99))
		series[2] = append(series[2], float64(s.P50))
		top = max(top, s.Max)
		if s.P50 > 0 {
			low = min(low, s.P50)
		}
	}
	if low == math.MaxInt64 {
		low = 1
	}
	sc := scale{of: math.Log10}
	sc.lo = math.Floor(math.Log10(float64(max(low, 1))))
	sc.hi = math.Ceil(math.Log10(float64(max(top, 10))) + 0.01)
	for e := sc.lo; e <= sc.hi; e++ {
		v := math.Pow(10, e)
		c.gridLine(sc.y(v), power(int64(math.Round(v))))
	}
	colors := []charts.Color{rose, amber, blue}
	if len(rep.Samples) > 1 {
		if err := c.curves(series, colors, sc, false); err != nil {
			return "", err
		}
	}
	c.lane()
	c.legend([]string{"max", "p99", "p50"}, colors)
	return c.svg()
}

// power is a power of ten of microseconds.
func power(us int64) string {
	switch {
	case us < 1000:
		return fmt.Sprintf("%d µs", us)
	case us < 1_000_000:
		return fmt.Sprintf("%d ms", us/1000)
	}
	return fmt.Sprintf("%d s", us/1_000_000)
}

// throughputChart draws commands a second over time.
func throughputChart(rep *drill.Report) (template.HTML, error) {
	c := newChart(rep)
	c.background()
	perSecond := float64(time.Second) / float64(rep.Width)
	ops := make([]float64, len(rep.Samples))
	top := 1.0
	for i, s := range rep.Samples {
		ops[i] = float64(s.Commands) * perSecond
		top = max(top, ops[i])
	}
	step := niceStep(top / 4)
	sc := scale{lo: 0, hi: step * math.Ceil(top*1.02/step), of: func(v float64) float64 { return v }}
	for v := 0.0; v <= sc.hi; v += step {
		c.gridLine(sc.y(v), account.Thousands(int64(v)))
	}
	colors := []charts.Color{blue}
	if len(ops) > 1 {
		if err := c.curves([][]float64{ops}, colors, sc, true); err != nil {
			return "", err
		}
	}
	c.lane()
	c.legend([]string{"commands a second"}, colors)
	return c.svg()
}

// niceStep is the next of 1, 2, 5, 10, ... above v.
func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(max(v, 1))))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*p >= v {
			return m * p
		}
	}
	return 10 * p
}
