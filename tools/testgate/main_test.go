package main

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	const (
		start = `{"Action":"start","Package":"x/p"}` + "\n"
		pass  = `{"Action":"pass","Package":"x/p","Test":"TestA","Elapsed":0}` + "\n"
		end   = `{"Action":"output","Package":"x/p","Output":"ok  \tx/p\t0.1s\n"}` + "\n" + `{"Action":"pass","Package":"x/p"}` + "\n"
		skip  = `{"Action":"output","Package":"x/p","Test":"TestB/c","Output":"    a_test.go:3: no server\n"}` + "\n" +
			`{"Action":"output","Package":"x/p","Test":"TestB/c","Output":"--- SKIP: TestB/c (0.00s)\n"}` + "\n" +
			`{"Action":"skip","Package":"x/p","Test":"TestB/c"}` + "\n"
	)
	for _, test := range []struct {
		name   string
		rules  rules
		stream string
		want   bool
		shows  string
	}{
		{"good", rules{forbidSkips: true}, start + pass + end, true, "ok  \tx/p\t0.1s\n"},
		{"nothing", rules{}, "", false, "no test ran"},
		{"no test", rules{}, start + end, false, "no test ran"},
		{"cut off", rules{}, start + pass, false, "x/p did not end"},
		{"skip forbidden", rules{forbidSkips: true}, start + pass + skip + end, false, "not allowed here: x/p:TestB/c: a_test.go:3: no server"},
		{"skip reported", rules{}, start + pass + skip + end, true, "skipped: x/p:TestB/c"},
		{"skip allowed", rules{forbidSkips: true, allowed: readAllowed("# why\np:TestB/c # because\n")}, start + pass + skip + end, true, "skipped: x/p:TestB/c"},
		{"skip printed by a test", rules{forbidSkips: true}, start + pass + `{"Action":"output","Package":"x/p","Output":"{\"Action\":\"pass\",\"Package\":\"x/p\",\"Test\":\"TestN\"}\n"}` + "\n" + end, true, "1 tests passed"},
		{"needed passed", rules{needed: []string{"p:TestA"}}, start + pass + end, true, "accepted"},
		{"needed missing", rules{needed: []string{"p:TestC"}}, start + pass + end, false, "did not pass: p:TestC"},
		{"needed skipped", rules{needed: []string{"p:TestB/c"}}, start + pass + skip + end, false, "did not pass: p:TestB/c"},
		{"needed elsewhere", rules{needed: []string{"q:TestA"}}, start + pass + end, false, "did not pass: q:TestA"},
		{
			"failed",
			rules{},
			start + pass + `{"Action":"output","Package":"x/p","Test":"TestF","Output":"    a_test.go:9: got 1, want 2\n"}` + "\n" +
				`{"Action":"fail","Package":"x/p","Test":"TestF"}` + "\n" + `{"Action":"output","Package":"x/p","Output":"FAIL\tx/p\t0.1s\n"}` + "\n" + `{"Action":"fail","Package":"x/p"}` + "\n",
			false, "got 1, want 2\nFAIL\tx/p\t0.1s\n",
		},
		{
			"panicked",
			rules{},
			start + pass + `{"Action":"output","Package":"x/p","Test":"TestF","Output":"panic: oh\n"}` + "\n" + `{"Action":"fail","Package":"x/p"}` + "\n",
			false, "TestF did not end\npanic: oh\n",
		},
		{
			"build failed",
			rules{},
			`{"ImportPath":"x/q","Action":"build-output","Output":"q.go:1: undefined\n"}` + "\n" + `{"ImportPath":"x/q","Action":"build-fail"}` + "\n" + start + pass + end,
			false, "q.go:1: undefined\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			g := newGate(&out, test.rules)
			g.read(strings.NewReader(test.stream))
			if got := g.verdict(); got != test.want {
				t.Errorf("accepted: got %v, want %v\n%s", got, test.want, out.String())
			}
			if !strings.Contains(out.String(), test.shows) {
				t.Errorf("lacks %q:\n%s", test.shows, out.String())
			}
		})
	}
}
