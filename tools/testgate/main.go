// Command testgate judges a run of "go test -json" and shows it as go test
// would have.
//
//	go test -json ./... | testgate -skips forbid -need pkg:TestName
//
// It reads events, not text, so nothing that a test prints can change the
// verdict. It fails if a test or build failed, if no test ran, if the stream
// ends early, if a test was skipped that is not in the list of allowed ones, or
// if a test that is needed did not pass.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// shownLines is how much of one test's output is shown when it failed.
const shownLines = 400

// An event is one line of test2json's output.
type event struct {
	Action     string
	Package    string
	Test       string
	Output     string
	ImportPath string // of a build event
}

// Rules say what a run has to fulfil besides passing.
type rules struct {
	forbidSkips bool
	allowed     []string // "package:Test" of tests that may be skipped
	needed      []string // "package:Test" of tests that must pass
}

// A gate follows one run. The zero value is not usable: see newGate.
type gate struct {
	out     io.Writer
	rules   rules
	output  map[string][]string // of each running test, by key
	state   map[string]string   // of each package: "run" or its last action
	passed  map[string]bool     // keys of tests that passed
	skipped map[string]string   // reasons by key
	failed  []string            // keys of tests, packages and builds
	tests   int
}

func newGate(out io.Writer, r rules) *gate {
	return &gate{
		out: out, rules: r,
		output: map[string][]string{}, state: map[string]string{},
		passed: map[string]bool{}, skipped: map[string]string{},
	}
}

func main() {
	skips := flag.String("skips", "forbid", "forbid or report skipped tests")
	allow := flag.String("allow", "", "file of tests that may be skipped: one package:Test a line, # begins a comment")
	need := flag.String("need", "", "tests that must pass: package:Test, separated by commas")
	flag.Parse()
	r := rules{forbidSkips: *skips != "report"}
	if *need != "" {
		r.needed = strings.Split(*need, ",")
	}
	if *allow != "" {
		text, err := os.ReadFile(*allow)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			fmt.Fprintln(os.Stderr, "testgate:", err)
			os.Exit(2)
		}
		r.allowed = readAllowed(string(text))
	}
	g := newGate(os.Stdout, r)
	g.read(os.Stdin)
	if !g.verdict() {
		os.Exit(1)
	}
}

func readAllowed(text string) []string {
	var allowed []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			allowed = append(allowed, line)
		}
	}
	return allowed
}

// read takes in the whole run.
func (g *gate) read(in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) == nil && e.Action != "":
			g.take(e)
		default:
			_, _ = g.out.Write(line)
		}
		if err != nil {
			return
		}
	}
}

func (g *gate) take(e event) {
	key := e.Package + ":" + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(g.out, e.Output)
	case "build-fail":
		g.failed = append(g.failed, e.ImportPath+" (build)")
	case "start":
		g.state[e.Package] = "run"
	case "output":
		g.output[key] = append(g.output[key], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			g.endPackage(e)
		} else {
			g.endTest(key, e)
		}
	}
}

func (g *gate) endTest(key string, e event) {
	g.tests++
	switch e.Action {
	case "pass":
		g.passed[key] = true
	case "skip":
		g.skipped[key] = reason(g.output[key])
	case "fail":
		g.failed = append(g.failed, key)
		g.show(g.output[key])
	}
	delete(g.output, key)
}

func (g *gate) endPackage(e event) {
	g.state[e.Package] = e.Action
	if e.Action == "fail" {
		g.failed = append(g.failed, e.Package)
		for _, key := range slices.Sorted(maps.Keys(g.output)) {
			if key != e.Package+":" && strings.HasPrefix(key, e.Package+":") {
				fmt.Fprintf(g.out, "=== %s did not end\n", key)
				g.show(g.output[key])
				delete(g.output, key)
			}
		}
	}
	key := e.Package + ":"
	if e.Action == "fail" {
		g.show(g.output[key])
	} else {
		for _, line := range g.output[key] { // the closing line only
			if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "? ") || strings.HasPrefix(line, "\t") {
				fmt.Fprint(g.out, line)
			}
		}
	}
	delete(g.output, key)
}

func (g *gate) show(lines []string) {
	if extra := len(lines) - shownLines; extra > 0 {
		fmt.Fprintf(g.out, "    ... %d lines before\n", extra)
		lines = lines[extra:]
	}
	for _, line := range lines {
		fmt.Fprint(g.out, line)
	}
}

// reason is what a skipped test said last before its closing line.
func reason(lines []string) string {
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "=== ") {
			return line
		}
	}
	return "no reason given"
}

// matches reports whether key is the test that pattern names: its package may
// be given by its last elements.
func matches(pattern, key string) bool {
	pkg, test, _ := strings.Cut(key, ":")
	wantPkg, wantTest, _ := strings.Cut(pattern, ":")
	return test == wantTest && (pkg == wantPkg || strings.HasSuffix(pkg, "/"+wantPkg))
}

// verdict prints the closing lines and reports whether the run is accepted.
func (g *gate) verdict() bool {
	good := true
	complain := func(format string, args ...any) {
		good = false
		fmt.Fprintf(g.out, "testgate: "+format+"\n", args...)
	}
	for _, pkg := range slices.Sorted(maps.Keys(g.state)) {
		if g.state[pkg] == "run" {
			complain("%s did not end", pkg)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(g.skipped)) {
		allowed := slices.ContainsFunc(g.rules.allowed, func(p string) bool { return matches(p, key) })
		if g.rules.forbidSkips && !allowed {
			complain("skipped, which is not allowed here: %s: %s", key, g.skipped[key])
		} else {
			fmt.Fprintf(g.out, "testgate: skipped: %s: %s\n", key, g.skipped[key])
		}
	}
	for _, pattern := range g.rules.needed {
		found := false
		for key := range g.passed {
			found = found || matches(pattern, key)
		}
		if !found {
			complain("needed, but did not pass: %s", pattern)
		}
	}
	if len(g.failed) > 0 {
		complain("failed: %s", strings.Join(g.failed, ", "))
	}
	if g.tests == 0 {
		complain("no test ran")
	}
	word := "accepted"
	if !good {
		word = "REJECTED"
	}
	fmt.Fprintf(g.out, "testgate: %s: %d tests passed, %d skipped, in %d packages\n",
		word, len(g.passed), len(g.skipped), len(g.state))
	return good
}
