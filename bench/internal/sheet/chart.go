package sheet

import (
	"bytes"
	"html/template"
	"math"
	"slices"

	"github.com/go-analyze/charts"
)

// A Series is one line, or one colour of bars, of a chart.
type Series struct {
	Name   string
	Values []float64 // one for each label; 0 where there is none
}

// A Chart shows numbers that have the same unit.
type Chart struct {
	Title  string
	Labels []string // along the bottom, or of the groups of bars
	Series []Series
}

// The size of a chart, in pixels.
const (
	chartWidth  = 1000
	chartHeight = 320
	groupHeight = 26 // of one bar
)

// palette are the colours of the series, on white.
func palette() charts.ColorPalette {
	return charts.MakeTheme(charts.ThemeOption{
		SeriesColors: []charts.Color{
			charts.ColorFromHex("#2563eb"), charts.ColorFromHex("#d97706"), charts.ColorFromHex("#be185d"),
			charts.ColorFromHex("#059669"), charts.ColorFromHex("#7c3aed"),
		},
		BackgroundColor:    charts.ColorFromHex("#ffffff"),
		TextColor:          charts.ColorFromHex("#1f2937"),
		AxisSplitLineColor: charts.ColorFromHex("#e5e7eb"),
	})
}

func (c Chart) names() (names []string, values [][]float64) {
	for _, s := range c.Series {
		names, values = append(names, s.Name), append(values, s.Values)
	}
	return names, values
}

// Lines draws a line for each series. The scale is logarithmic where the values
// differ a lot.
func (c Chart) Lines() (template.HTML, error) {
	names, values := c.names()
	low, high := bounds(values)
	isLog := low > 0 && high/low > 50
	for i, line := range values {
		values[i] = make([]float64, len(line))
		for j, v := range line {
			switch {
			case v <= 0:
				values[i][j] = charts.GetNullValue()
			case isLog:
				values[i][j] = math.Log10(v)
			default:
				values[i][j] = v
			}
		}
	}
	opt := charts.NewLineChartOptionWithData(values)
	opt.Theme = palette()
	opt.Title.Text = c.Title
	opt.Title.FontStyle.FontSize = 12
	opt.Legend.SeriesNames = names
	opt.Legend.Offset = charts.OffsetRight
	opt.XAxis.Labels = c.Labels
	axis := charts.YAxisOption{ValueFormatter: Number}
	if isLog {
		from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
		axis.Min, axis.Max = &from, &to
		axis.LabelCount = int(to-from) + 1
		axis.RangeValuePaddingScale = new(0.0)
		axis.ValueFormatter = func(v float64) string { return Number(math.Pow(10, v)) }
	} else {
		axis.Min = new(0.0)
	}
	opt.YAxis = []charts.YAxisOption{axis}
	return draw(chartHeight, func(p *charts.Painter) error { return p.LineChart(opt) })
}

// Bars draws a horizontal bar for each value, those of one label beside each other.
func (c Chart) Bars() (template.HTML, error) {
	names, values := c.names()
	for i, bars := range values {
		values[i] = slices.Clone(bars)
		slices.Reverse(values[i]) // the first one is drawn at the bottom
	}
	opt := charts.NewBarChartOptionWithData(values)
	opt.Horizontal = true
	opt.Theme = palette()
	opt.Title.Text = c.Title
	opt.Title.FontStyle.FontSize = 12
	opt.Legend.SeriesNames = names
	opt.Legend.Offset = charts.OffsetRight
	opt.CategoryAxis.Labels = slices.Clone(c.Labels)
	slices.Reverse(opt.CategoryAxis.Labels)
	opt.ValueAxis = []charts.ValueAxisOption{{ValueFormatter: Number, Min: new(0.0)}}
	opt.ValueFormatter = Number
	for i := range opt.SeriesList {
		opt.SeriesList[i].Label.Show = new(true)
	}
	height := 120 + groupHeight*len(c.Labels)*len(c.Series)
	return draw(height, func(p *charts.Painter) error { return p.BarChart(opt) })
}

// draw makes an SVG of what paint paints.
func draw(height int, paint func(*charts.Painter) error) (template.HTML, error) {
	p := charts.NewPainter(charts.PainterOptions{
		OutputFormat: charts.ChartOutputSVG, Width: chartWidth, Height: height,
	})
	if err := paint(p); err != nil {
		return "", err
	}
	b, err := p.Bytes()
	return template.HTML(bytes.TrimSpace(b)), err
}

// bounds are the smallest value that is one, and the largest.
func bounds(values [][]float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, line := range values {
		for _, v := range line {
			if v != 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return 0, 0
	}
	return low, high
}
