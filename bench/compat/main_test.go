package main

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	// What is compared is read from the go command's cache; a change of it must make
	// the tests run again.
	_ "github.com/baton-go/redis"
	_ "github.com/redis/go-redis/v9"
)

// TestCompleteGroups is what -check does: it fails where a group that is said to be
// complete is not, and where an exception has lost its reason.
func TestCompleteGroups(t *testing.T) {
	rep, err := compareModules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range rep.faults() {
		t.Error(fault)
	}
	for _, g := range rep.Groups {
		if g.Present+g.Missing+g.Different != g.Items {
			t.Errorf("%s: %d present, %d missing and %d different are not %d items", g.Name, g.Present, g.Missing, g.Different, g.Items)
		}
	}
}

func TestOutputs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "compat.json")
	var stdout, stderr strings.Builder
	if code := run(t.Context(), []string{"-json", file, "-group", "string"}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit status %d: %s", code, stderr.String())
	}
	if !strings.Contains(stdout.String(), "hyperloglog") {
		t.Errorf("no row for each group in\n%s", stdout.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Groups) == 0 || got.Groups[0].Name != "string" || got.Groups[0].Items < 400 {
		t.Errorf("got %+v", got.Groups)
	}
}

func TestWrongCalls(t *testing.T) {
	for args, want := range map[string]string{
		"now":           `unknown argument "now"`,
		"-strict":       "not defined",
		"-group no,one": `unknown group "no"`,
	} {
		var stderr strings.Builder
		if code := run(t.Context(), strings.Fields(args), io.Discard, &stderr); code != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: got exit status %d and %q, want %d and %q", args, code, stderr.String(), exitUsage, want)
		}
	}
}

// check type-checks a package as the root of a module.
func check(t *testing.T, module, source string) *surface {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package redis\n"+source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: importer.Default()}
	pkg, err := conf.Check(module, fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return surfaceOf(module, map[string]*types.Package{module: pkg})
}

func TestCompare(t *testing.T) {
	for name, c := range map[string]struct {
		theirs, ours string
		want         []string // status, key
	}{
		"the same":              {`func F(a int, b ...any) error { return nil }`, `func F(x int, y ...interface{}) error { return nil }`, nil},
		"own types":             {`type A struct{}; var V *A`, `type A struct{}; var V *A`, nil},
		"a function":            {`func F() {}`, ``, []string{"missing redis.F"}},
		"a result":              {`func F() int { return 0 }`, `func F() int64 { return 0 }`, []string{"different redis.F"}},
		"a constant's value":    {`const C = 1`, `const C = 2`, []string{"different redis.C"}},
		"a constant's type":     {`const C int = 1`, `const C = 1`, []string{"different redis.C"}},
		"a tag":                 {"type T struct{ F int `redis:\"f\"` }", "type T struct{ F int `redis:\"g\"` }", []string{"different redis.T.F"}},
		"a field more":          {`type T struct{ A int }`, `type T struct{ A, B int }`, nil},
		"a field of a part":     {`type t struct{ A int }; type T struct{ t }`, `type T struct{ A int }`, nil},
		"a struct's comparison": {`type T struct{}`, `type T struct{ f func() }`, []string{"different redis.T"}},
		"a method":              {`type T struct{}; func (T) M() {}`, `type T struct{}`, []string{"missing redis.T.M"}},
		"a method of pointers":  {`type T struct{}; func (T) M() {}`, `type T struct{}; func (*T) M() {}`, []string{"different redis.T.M"}},
		"a method of values":    {`type T struct{}; func (*T) M() {}`, `type T struct{}; func (T) M() {}`, nil},
		"an interface that grew": {
			`type I interface{ M() }`, `type I interface{ M(); N() }`, []string{"different redis.I"},
		},
		"an interface that nobody else implements": {
			`type I interface{ M(); n() }`, `type I interface{ M(); N() }`, nil,
		},
		"an interface that is sealed": {
			`type I interface{ M() }`, `type I interface{ M(); n() }`, []string{"different redis.I"},
		},
		"types without a name": {
			`type e string; func (e) Error() string { return "" }; const Nil e = "x"`,
			`type f string; func (f) Error() string { return "" }; const Nil f = "x"`, nil,
		},
		"functions without a name": {`type p func(int); func F(p) {}`, `func F(func(int)) {}`, nil},
		"an alias":                 {`type A = []string`, `type A []string`, []string{"different redis.A"}},
		"an alias of a hidden type": {
			`type h struct{}; func (h) M() {}; type A = h; func F() A { return A{} }`,
			`type A struct{}; func (A) M() {}; func F() A { return A{} }`, nil,
		},
		"channels": {`var C <-chan int`, `var C chan int`, []string{"different redis.C"}},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, ours := check(t, theirModule, c.theirs), check(t, ourModule, c.ours)
			rep, err := compare(theirs, ours, groupsOf(theirs), &exceptions{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range rep.Findings {
				got = append(got, f.Status+" "+f.Key)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("want -, got +:\n%s\n%+v", d, rep.Findings)
			}
		})
	}
}

func TestExceptions(t *testing.T) {
	theirs, ours := check(t, theirModule, `func F() {}; func G() {}; type T struct{}; func (T) M() {}`), check(t, ourModule, `type T struct{}`)
	rules, err := parseExceptions("# why\n\ncomplete: rest\nredis.F: it is of no use\nredis.T.*: nobody calls it\nredis.H: gone\n")
	if err != nil {
		t.Fatal(err)
	}
	rep, err := compare(theirs, ours, groupsOf(theirs), rules)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"rest: redis.G is missing: func()", "exceptions.txt: nothing needs redis.H"}
	if d := cmp.Diff(want, rep.faults()); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
	if g := rep.Groups[0]; g.Excepted != 2 || g.Missing != 3 || g.percent() != 75 {
		t.Errorf("got %+v", g)
	}
	for text, want := range map[string]string{
		"redis.F":              "line 1",
		"redis.F: ":            "line 1",
		"\nredis.[: no":        "line 2",
		"complete: everything": `unknown group "everything"`,
	} {
		rules, err := parseExceptions(text)
		if err == nil {
			_, err = compare(theirs, ours, groupsOf(theirs), rules)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
