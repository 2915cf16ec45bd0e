package redis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module       = "github.com/baton-go/redis"
	maxFileLines = 800
	// Files of the root beside tests; those of a command group (commands_*, one or
	// two for each) are counted apart, because their number is the server's.
	maxRootFiles  = 46
	maxGroupFiles = 50
)

// A layer is a row of the import table: what the code of one package may
// import. Tests may import any package of ours beside it, and testModules.
type layer struct {
	pkg     string   // folder below the module's root; "." is the root; a trailing "/..." takes the folders below too
	ours    []string // packages of ours, by folder; "..." is all of them
	modules []string // foreign modules, by prefix of the import path; none for the library
}

// layers is the architecture: no package without a row, no import outside it.
// A row may wait for its package. Upper rows import lower ones, never back.
var layers = []layer{
	// Bytes, decisions and test equipment know nothing of ours.
	{pkg: "internal/resp"},
	{pkg: "internal/invariants"},
	{pkg: "internal/cache"},
	{pkg: "internal/simnet"},
	{pkg: "internal/realserver"},
	{pkg: "push"},
	{pkg: "auth"},
	{pkg: "helper"},
	{pkg: "logging", ours: []string{"internal/logger"}},
	{pkg: "internal/logger"},
	{pkg: "maintnotifications", ours: []string{"push"}},
	{pkg: "internal/cluster", ours: []string{"internal/resp"}},

	// Sockets: links know neither routing nor retries; lanes know links.
	{pkg: "internal/link", ours: []string{"internal/resp", "internal/invariants"}},
	{pkg: "internal/lane", ours: []string{"internal/resp", "internal/invariants", "internal/link"}},
	{pkg: "internal/endpoint", ours: []string{
		"internal/resp", "internal/invariants", "internal/link", "internal/lane", "maintnotifications", "push",
	}},
	{pkg: "internal/sentinel", ours: []string{
		"internal/resp", "internal/invariants", "internal/link", "maintnotifications",
	}},

	// The simulator shares the codec with the client and no more, so that one
	// bug can't hide another. It starts real clusters as tests do.
	{pkg: "maintsim", ours: []string{"internal/resp", "internal/realserver"}, modules: []string{"github.com/alicebob/miniredis/v2"}},

	{pkg: ".", ours: []string{
		"push", "auth", "logging", "maintnotifications", "internal/logger", "internal/cache", "internal/resp", "internal/invariants", "internal/cluster",
		"internal/link", "internal/lane", "internal/endpoint", "internal/sentinel",
	}},

	{pkg: "cmd/baton/...", ours: []string{"..."}, modules: []string{
		"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/HdrHistogram/hdrhistogram-go", "github.com/go-analyze/charts",
		"github.com/schollz/progressbar/v3", "github.com/anishathalye/porcupine",
		"github.com/prometheus/client_golang", "golang.org/x/sync",
	}},

	// Modules of their own.
	{pkg: "extra/otel", ours: []string{".", "push", "maintnotifications"}, modules: []string{"go.opentelemetry.io/otel"}},
	{pkg: "extra/prometheus", ours: []string{".", "push", "maintnotifications"}, modules: []string{"github.com/prometheus/client_golang"}},
	{pkg: "bench/...", ours: []string{
		".", "push", "maintnotifications", "maintsim", "internal/realserver", "bench/...",
	}, modules: []string{
		"github.com/redis/go-redis/v9", "github.com/redis/rueidis", "github.com/gomodule/redigo",
		"github.com/HdrHistogram/hdrhistogram-go", "github.com/go-analyze/charts", "github.com/spf13/cobra",
	}},
	{pkg: "tools/..."},
}

// library are the rows that an application links: standard library only.
var library = []string{
	".", "push", "auth", "helper", "logging", "internal/logger", "maintnotifications", "internal/resp", "internal/invariants", "internal/cluster", "internal/cache",
	"internal/link", "internal/lane", "internal/endpoint", "internal/sentinel",
}

// testModules are the foreign modules that any test may import.
var testModules = []string{
	"github.com/google/go-cmp", "pgregory.net/rapid", "go.uber.org/goleak",
	"github.com/cockroachdb/datadriven", "github.com/anishathalye/porcupine",
	"github.com/alicebob/miniredis/v2", "github.com/rogpeppe/go-internal",
	"go.opentelemetry.io/otel",
}

// denied are imports that nobody may have, with the reason.
var denied = map[string]string{
	"math/rand": "use math/rand/v2",
}

// A source is one parsed file of ours.
type source struct {
	name   string // path below the root, with slashes
	folder string
	isTest bool
	lines  int
	file   *ast.File
}

func TestImportsFollowTheTable(t *testing.T) {
	for _, src := range sources(t) {
		row, ok := layerOf(src.folder)
		if !ok {
			t.Errorf("%s: package %s has no row in the table of arch_test.go", src.name, src.folder)
			continue
		}
		for _, imported := range imports(t, src) {
			if why := objection(row, src.isTest, imported); why != "" {
				t.Errorf("%s imports %s: %s", src.name, imported, why)
			}
		}
	}
}

// objection tells why a file in a package of row may not import a path, or "".
func objection(row layer, isTest bool, imported string) string {
	if why := denied[imported]; why != "" {
		return why
	}
	folder, isOurs := ourFolder(imported)
	switch {
	case isOurs && (isTest || slices.ContainsFunc(row.ours, func(p string) bool { return covers(p, folder) })):
		return ""
	case isOurs:
		return "not in the row of " + row.pkg
	case isStandard(imported):
		return ""
	case isTest && slices.ContainsFunc(testModules, func(m string) bool { return covers(m+"/...", imported) }):
		return ""
	case slices.ContainsFunc(row.modules, func(m string) bool { return covers(m+"/...", imported) }):
		return ""
	}
	return "a dependency that is not allowed there"
}

func TestObjection(t *testing.T) {
	row := layer{pkg: "internal/lane", ours: []string{"internal/link"}, modules: []string{"example.org/m"}}
	for _, test := range []struct {
		path           string
		inCode, inTest bool
	}{
		{"net/http", true, true},
		{"math/rand", false, false},
		{"math/rand/v2", true, true},
		{module + "/internal/link", true, true},
		{module + "/internal/linked", false, true},
		{module, false, true},
		{"github.com/google/go-cmp/cmp", false, true},
		{"github.com/stretchr/testify/assert", false, false},
		{"example.org/m/deep", true, true},
		{"example.org/more", false, false},
	} {
		if got := objection(row, false, test.path) == ""; got != test.inCode {
			t.Errorf("code may import %s: got %v, want %v", test.path, got, test.inCode)
		}
		if got := objection(row, true, test.path) == ""; got != test.inTest {
			t.Errorf("a test may import %s: got %v, want %v", test.path, got, test.inTest)
		}
	}
}

// TestTableHasNoWayUp keeps the table itself honest: no two rows may reach each
// other, and no row of the library reaches test equipment.
func TestTableHasNoWayUp(t *testing.T) {
	reach := map[string][]string{}
	for range layers { // enough rounds for the longest path
		for _, row := range layers {
			if strings.HasSuffix(row.pkg, "/...") {
				continue
			}
			for _, below := range row.ours {
				for _, pkg := range append([]string{below}, reach[below]...) {
					if !slices.Contains(reach[row.pkg], pkg) {
						reach[row.pkg] = append(reach[row.pkg], pkg)
					}
				}
			}
		}
	}
	for pkg, below := range reach {
		if slices.Contains(below, pkg) {
			t.Errorf("%s reaches itself", pkg)
		}
	}
	for _, pkg := range library {
		for _, equipment := range []string{"maintsim", "internal/simnet", "internal/realserver"} {
			if slices.Contains(reach[pkg], equipment) {
				t.Errorf("%s reaches %s", pkg, equipment)
			}
		}
		if row, ok := layerOf(pkg); !ok || len(row.modules) > 0 {
			t.Errorf("%s is library and must import the standard library only", pkg)
		}
	}
	for _, pkg := range []string{".", "internal/endpoint", "internal/lane", "internal/link"} {
		if slices.Contains(reach["maintsim"], pkg) {
			t.Errorf("the simulator reaches the client's %s", pkg)
		}
	}
}

// TestLibraryLinksTheStandardLibraryOnly asks the go command, which also sees
// what is imported by what is imported.
func TestLibraryLinksTheStandardLibraryOnly(t *testing.T) {
	var there []string
	for _, pkg := range library {
		if files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go")); slices.ContainsFunc(files, isCode) {
			there = append(there, "./"+pkg)
		}
	}
	if len(there) == 0 {
		t.Skip("no package of the library is there yet")
	}
	args := append([]string{"list", "-e", "-deps", "-json=ImportPath,Standard"}, there...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderrOf(err))
	}
	seen := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); ; seen++ {
		var pkg struct {
			ImportPath string
			Standard   bool
		}
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		folder, isOurs := ourFolder(pkg.ImportPath)
		switch {
		case isOurs && !slices.Contains(library, folder):
			t.Errorf("the library links %s", pkg.ImportPath)
		case !isOurs && !pkg.Standard:
			t.Errorf("the library links %s, which is not of the standard library", pkg.ImportPath)
		}
	}
	if seen < len(there) {
		t.Errorf("go list named %d packages of at least %d", seen, len(there))
	}
}

func TestFilesStayReadable(t *testing.T) {
	root, groups := 0, 0
	for _, src := range sources(t) {
		if src.lines > maxFileLines {
			t.Errorf("%s has %d lines, the limit is %d", src.name, src.lines, maxFileLines)
		}
		switch {
		case src.folder != "." || src.isTest:
		case strings.HasPrefix(src.name, "commands_"):
			groups++
		default:
			root++
		}
	}
	if groups > maxGroupFiles {
		t.Errorf("the root has %d files of command groups, the limit is %d", groups, maxGroupFiles)
	}
	if root > maxRootFiles {
		t.Errorf("the root has %d files beside tests, the limit is %d", root, maxRootFiles)
	}
}

func TestEveryPackageHasADocComment(t *testing.T) {
	documented := map[string]bool{}
	for _, src := range sources(t) {
		if !src.isTest {
			documented[src.folder] = documented[src.folder] || src.file.Doc != nil
		}
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("package %s has no doc comment", folder)
		}
	}
}

// TestNobodySleeps: only the network of the bubbles sleeps, and tests inside a
// bubble, where sleeping costs no time.
func TestNobodySleeps(t *testing.T) {
	for _, src := range sources(t) {
		if src.folder == "internal/simnet" {
			continue
		}
		if src.isTest && slices.Contains(imports(t, src), "testing/synctest") {
			continue
		}
		for _, line := range sleeps(src.file) {
			t.Errorf("%s:%d: time.Sleep; wait for what happens, or use a timer that Close stops", src.name, lineOf(line))
		}
	}
}

// sleeps returns where a file uses time.Sleep, under whatever name it imports
// the package.
func sleeps(file *ast.File) []token.Pos {
	var found []token.Pos
	name := ""
	for _, spec := range file.Imports {
		if spec.Path.Value != `"time"` {
			continue
		}
		name = "time"
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			found = append(found, spec.Pos())
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if sel, ok := node.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == name {
				found = append(found, sel.Pos())
			}
		}
		return true
	})
	return found
}

func TestSleepsSeesEveryName(t *testing.T) {
	for text, want := range map[string]int{
		`package p; import "time"; func f() { time.Sleep(1) }`:              1,
		`package p; import "time"; var nap = time.Sleep`:                    1,
		`package p; import clock "time"; func f() { clock.Sleep(1) }`:       1,
		`package p; import . "time"; func f() { Sleep(1) }`:                 1,
		`package p; import "time"; type t struct{}; var _ = "time.Sleep"`:   0,
		`package p; func f(time interface{ Sleep(int) }) { time.Sleep(1) }`: 0,
	} {
		file, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(sleeps(file)); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

// TestNoExportedNamesForTests: a test seam belongs in an export_test.go.
func TestNoExportedNamesForTests(t *testing.T) {
	for _, src := range sources(t) {
		if src.isTest {
			continue
		}
		ast.Inspect(src.file, func(node ast.Node) bool {
			var names []*ast.Ident
			switch node := node.(type) {
			case *ast.FuncDecl:
				names = []*ast.Ident{node.Name}
			case *ast.TypeSpec:
				names = []*ast.Ident{node.Name}
			case *ast.ValueSpec:
				names = node.Names
			case *ast.Field:
				names = node.Names
			}
			for _, name := range names {
				if name.IsExported() && strings.Contains(name.Name, "ForTest") {
					t.Errorf("%s:%d: exported name %s", src.name, lineOf(name.Pos()), name.Name)
				}
			}
			return true
		})
	}
}

var fset = token.NewFileSet()

// sources parses every Go file of the repository, those of other modules and
// for other systems too.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(base) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an editor's temporary file
		}
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(name)
		all = append(all, source{
			name:   slashed,
			folder: path.Dir(slashed),
			isTest: strings.HasSuffix(base, "_test.go"),
			lines:  bytes.Count(text, []byte("\n")),
			file:   file,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func imports(t *testing.T, src source) []string {
	t.Helper()
	var paths []string
	for _, spec := range src.file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", src.name, err)
		}
		paths = append(paths, imported)
	}
	return paths
}

// layerOf returns the row of a folder: its own, or the longest that takes it in.
func layerOf(folder string) (layer, bool) {
	var best layer
	for _, row := range layers {
		if row.pkg == folder {
			return row, true
		}
		if covers(row.pkg, folder) && len(row.pkg) > len(best.pkg) {
			best = row
		}
	}
	return best, best.pkg != ""
}

// covers reports whether pattern names a path: "a" only a, "a/..." a and all
// below it, "..." everything.
func covers(pattern, name string) bool {
	if pattern == "..." {
		return true
	}
	prefix, deep := strings.CutSuffix(pattern, "/...")
	return name == prefix || deep && strings.HasPrefix(name, prefix+"/")
}

// ourFolder returns the folder of a package of ours.
func ourFolder(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// isStandard reports whether a path is of the standard library, none of which
// has a dot in its first element.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") && imported != "C"
}

func isCode(name string) bool { return !strings.HasSuffix(name, "_test.go") }

func lineOf(pos token.Pos) int { return fset.Position(pos).Line }

func stderrOf(err error) string {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(exit.Stderr)
	}
	return fmt.Sprint(err)
}
