package sheet

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestTableIsAligned(t *testing.T) {
	table := Table{Title: "Cost", Note: strings.Repeat("word ", 30), Columns: []string{"n", "µs"}}
	table.Add("1", "28.0")
	table.Add("1,000", "1")
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	note := "  " + strings.TrimSpace(strings.Repeat("word ", 20)) + "\n  " + strings.TrimSpace(strings.Repeat("word ", 10)) + "\n"
	want := "Cost\n  n        µs\n  1      28.0\n  1,000     1\n" + note
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Number(0): "0", Number(1234567.8): "1,234,568", Number(-1234): "-1,234", Number(12.34): "12.3", Number(0.567): "0.57",
		Number(0.00123): "0.0012", Number(999): "999", Size(512): "512 B", Size(12_345): "12.3 kB", Size(2.5e6): "2.50 MB",
		Size(-1024): "-1,024 B", Micros(28): "28.0 µs", Micros(1500): "1.50 ms", Micros(2e6): "2.00 s",
		Spread(1, 0.9, 1.1): "1.000 (0.900 to 1.100)",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestChartsAreWellFormed(t *testing.T) {
	for name, c := range map[string]Chart{
		"two": {Title: "µs < ms", Labels: []string{"1", "10"}, Series: []Series{{"a", []float64{1, 2}}, {"b & c", []float64{3, 4}}}},
		"log": {Title: "x", Labels: []string{"1", "10"}, Series: []Series{{"a", []float64{1, 2000}}}},
		"gap": {Title: "x", Labels: []string{"1", "10", "100"}, Series: []Series{{"a", []float64{1, 0, 2}}}},
		"one": {Title: "x", Labels: []string{"1"}, Series: []Series{{"a", []float64{5}}}},
		"nil": {Title: "x", Labels: []string{"1"}, Series: []Series{{"a", []float64{0}}}},
	} {
		for kind, draw := range map[string]func() (template.HTML, error){"lines": c.Lines, "bars": c.Bars} {
			svg, err := draw()
			if err != nil {
				t.Errorf("%s, %s: %v", name, kind, err)
				continue
			}
			for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s, %s: %v", name, kind, err)
				}
			}
			if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+"-"+kind+".svg"), []byte(svg), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

// The page opens offline: it loads nothing and runs nothing.
func TestPageIsSelfContained(t *testing.T) {
	chart, err := Chart{Title: "x", Labels: []string{"1"}, Series: []Series{{"a", []float64{1}}}}.Bars()
	if err != nil {
		t.Fatal(err)
	}
	p := Page{Title: "A <b>", Sub: "here", Sections: []Section{{
		Tables: []*Table{{Title: "T", Columns: []string{"c"}, Rows: [][]string{{"<i>"}}, Note: "N"}}, Charts: []template.HTML{chart},
	}}}
	var b strings.Builder
	if err := p.Write(&b, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A &lt;b&gt;", "&lt;i&gt;", "<svg", "2 January 2026"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	text := regexp.MustCompile(`xmlns(:\w+)?="[^"]*"`).ReplaceAllString(b.String(), "")
	for _, bad := range []string{`https?://`, `(?i)<script`, `(?i)<link`, `(?i)<img`, `(?i)\bsrc=`, `(?i)@import`, `(?i)url\(`} {
		if m := regexp.MustCompile(bad).FindString(text); m != "" {
			t.Errorf("the page has %q", m)
		}
	}
}

func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	jsonPath, htmlPath := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.html")
	var stdout, stderr strings.Builder
	o, err := Open(jsonPath, htmlPath, &stdout, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	tables := []*Table{{Title: "one", Columns: []string{"c"}}, {Title: "two", Columns: []string{"c"}}}
	text := func(w io.Writer) error { return WriteAll(w, tables) }
	page := func(w io.Writer) error { _, err := io.WriteString(w, "page"); return err }
	if err := o.Write(map[string]int{"a": 1}, text, page); err != nil {
		t.Fatal(err)
	}
	var got map[string]int
	b, err := os.ReadFile(jsonPath)
	if err != nil || json.Unmarshal(b, &got) != nil || got["a"] != 1 {
		t.Errorf("got %q, %v", b, err)
	}
	if b, err := os.ReadFile(htmlPath); string(b) != "page" {
		t.Errorf("got %q, %v", b, err)
	}
	if s := stdout.String(); !strings.Contains(s, "one\n  c\n\ntwo") || !strings.Contains(s, "JSON: "+jsonPath) || !strings.Contains(s, "Page: "+htmlPath) || stderr.Len() > 0 {
		t.Errorf("got %q", s)
	}
}

func TestJSONHasStdoutForItself(t *testing.T) {
	var stdout, stderr strings.Builder
	o, err := Open("-", "", &stdout, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	text := func(w io.Writer) error { _, err := io.WriteString(w, "one"); return err }
	if err := o.Write("<1>", text, nil); err != nil {
		t.Fatal(err)
	}
	if stdout.String() != "\"<1>\"\n" || !strings.Contains(stderr.String(), "one") {
		t.Errorf("got %q and %q", stdout.String(), stderr.String())
	}
}

func TestWrongPathsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	for _, paths := range [][2]string{
		{filepath.Join(dir, "none", "r.json"), filepath.Join(dir, "r.html")},
		{filepath.Join(dir, "r.json"), "-"},
	} {
		if _, err := Open(paths[0], paths[1], io.Discard, io.Discard); err == nil {
			t.Errorf("%q: no error", paths)
		}
	}
	o, err := Open(filepath.Join(dir, "r.json"), "", io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o.Discard()
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("got the files %v, want none", files)
	}
}

func TestProgress(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b)
	p.Step("part %d", 1)
	p.Close()
	if got := b.String(); !strings.HasSuffix(got, "s  part 1\n") {
		t.Errorf("got %q", got)
	}
	b.Reset()
	p.line.isTerminal = true
	p.Step("part 2")
	p.Close()
	if got := b.String(); strings.Contains(got, "\n") || !strings.HasSuffix(got, lineBegin+lineEnd) {
		t.Errorf("got %q", got)
	}
}
