package redis

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/realserver"
)

// TestFunctionsOnServers takes libraries through their lives. Their code has spaces, so
// that they are no setup of the cases.
func TestFunctionsOnServers(t *testing.T) {
	const (
		lib  = "#!lua name=lib\nredis.register_function{function_name='add', callback=function(keys, args) return redis.call('incrby', keys[1], args[1]) end}\n"
		look = "redis.register_function{function_name='look', description='looks', flags={'no-writes'}, callback=function(keys) return redis.call('get', keys[1]) end}\n"
	)
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			srv := realserver.Start(t, name)
			for _, protocol := range []int{2, 3} {
				t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
					c := NewClient(&Options{Addr: srv.Addr(), Protocol: protocol})
					defer c.Close()
					must := func(cmd Cmder) {
						t.Helper()
						if err := cmd.Err(); err != nil {
							t.Fatal(err)
						}
					}
					must(c.FunctionFlush(bg))
					must(c.Del(bg, "n"))
					if got, err := c.FunctionLoad(bg, lib).Result(); got != "lib" || err != nil {
						t.Fatalf("FunctionLoad: %q, %v", got, err)
					}
					if err := c.FunctionLoad(bg, lib).Err(); !HasErrorPrefix(err, "ERR Library 'lib' already exists") {
						t.Errorf("loaded again: %v", err)
					}
					must(c.FunctionLoadReplace(bg, lib+look))
					if got, err := c.FCall(bg, "add", []string{"n"}, 3).Int(); got != 3 || err != nil {
						t.Errorf("FCall: %d, %v", got, err)
					}
					if got, err := c.FCallRO(bg, "look", []string{"n"}).Text(); got != "3" || err != nil {
						t.Errorf("FCallRO: %q, %v", got, err)
					}
					if err := c.FCallRo(bg, "add", []string{"n"}, 3).Err(); err == nil {
						t.Error("FCallRo runs a function that writes")
					}
					checkLibraries(t, c, lib+look)
					dump := c.FunctionDump(bg)
					must(dump)
					must(c.FunctionDelete(bg, "lib"))
					if _, err := c.FunctionList(bg, FunctionListQuery{}).First(); !errors.Is(err, Nil) {
						t.Errorf("First of none: %v", err)
					}
					must(c.FunctionRestore(bg, dump.Val()))
					if list := c.FunctionList(bg, FunctionListQuery{LibraryNamePattern: "l*"}).Val(); len(list) != 1 || list[0].Code != "" {
						t.Errorf("after FunctionRestore: %+v", list)
					}
					must(c.FunctionFlushAsync(bg))
				})
			}
		})
	}
}

// checkLibraries looks at the library of the test.
func checkLibraries(t *testing.T, c *Client, code string) {
	t.Helper()
	got, err := c.FunctionList(bg, FunctionListQuery{LibraryNamePattern: "lib", WithCode: true}).First()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got.Functions, func(a, b Function) int { return len(a.Name) - len(b.Name) })
	want := &Library{Name: "lib", Engine: "LUA", Code: code, Functions: []Function{
		{Name: "add", Flags: []string{}}, {Name: "look", Description: "looks", Flags: []string{"no-writes"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("FunctionList (-want +got):\n%s", diff)
	}
	stats, err := c.FunctionStats(bg).Result()
	if _, runs := stats.RunningScript(); err != nil || runs || !cmp.Equal(stats.Engines, []Engine{{"LUA", 1, 2}}) {
		t.Errorf("FunctionStats: %+v, %v", stats, err)
	}
}

// TestRunningFunctionIsSeen asks while a function runs, and ends it.
func TestRunningFunctionIsSeen(t *testing.T) {
	srv := realserver.Start(t, realserver.Redis8, "--busy-reply-threshold", "1")
	c := NewClient(&Options{Addr: srv.Addr(), ReadTimeout: 20 * time.Second})
	defer c.Close()
	if err := c.FunctionLoad(bg, "#!lua name=l\nredis.register_function{function_name='spin', flags={'no-writes'}, callback=function() while true do end end}").Err(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		cn := c.Conn() // a link of its own
		defer cn.Close()
		ended <- cn.FCallRO(bg, "spin", []string{"k"}, "x").Err()
	}()
	for stop := time.Now().Add(20 * time.Second); ; {
		stats, err := c.FunctionStats(bg).Result()
		if err != nil {
			t.Fatal(err)
		}
		script, runs := stats.RunningScript()
		if !runs {
			if time.Now().After(stop) {
				t.Fatal("it is not seen")
			}
			continue // it has not begun
		}
		if !stats.Running() || script.Name != "spin" || !cmp.Equal(script.Command, []string{"fcall_ro", "spin", "1", "k", "x"}) || script.Duration <= 0 {
			t.Errorf("got %+v", script)
		}
		break
	}
	if err := c.FunctionKill(bg).Err(); err != nil {
		t.Errorf("FunctionKill: %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("the function that was ended gave no error")
	}
}

func functionCases() []commandCase {
	return []commandCase{
		{name: "FCall", call: func(c commander) Cmder { return c.FCall(bg, "f", []string{"k"}, 1, "b") }, args: "fcall f 1 k 1 b", want: errors.New("ERR Function not found")},
		{name: "FCallRO", call: func(c commander) Cmder { return c.FCallRO(bg, "f", nil, []string{"a", "b"}) }, args: "fcall_ro f 0 a b", want: errors.New("ERR Function not found")},
		{name: "FCallRo", call: func(c commander) Cmder { return c.FCallRo(bg, "f", []string{"k"}) }, args: "fcall_ro f 1 k", want: errors.New("ERR Function not found")},
		{name: "FunctionLoad", call: func(c commander) Cmder { return c.FunctionLoad(bg, "code") }, args: "function load code", want: errors.New("ERR Missing library metadata")},
		{name: "FunctionLoadReplace", call: func(c commander) Cmder { return c.FunctionLoadReplace(bg, "code") }, args: "function load replace code", want: errors.New("ERR Missing library metadata")},
		{name: "FunctionDelete", call: func(c commander) Cmder { return c.FunctionDelete(bg, "lib") }, args: "function delete lib", want: errors.New("ERR Library not found")},
		{name: "FunctionFlush", call: func(c commander) Cmder { return c.FunctionFlush(bg) }, args: "function flush", want: "OK"},
		{name: "FunctionFlushAsync", call: func(c commander) Cmder { return c.FunctionFlushAsync(bg) }, args: "function flush async", want: "OK"},
		{name: "FunctionKill", call: func(c commander) Cmder { return c.FunctionKill(bg) }, args: "function kill", want: errors.New("NOTBUSY")},
		{name: "FunctionDump", call: func(c commander) Cmder { return c.FunctionDump(bg) }, args: "function dump", want: func(v any) bool { s, _ := v.(string); return len(s) == 10 }},
		{name: "FunctionRestore", call: func(c commander) Cmder { return c.FunctionRestore(bg, "dump") }, args: "function restore dump", want: errors.New("ERR DUMP payload version or checksum are wrong")},
		{name: "FunctionList", call: func(c commander) Cmder {
			return c.FunctionList(bg, FunctionListQuery{LibraryNamePattern: "l*", WithCode: true})
		}, args: "function list libraryname l* withcode", want: []Library{}},
		{
			name: "FunctionList/some", call: func(c commander) Cmder { return c.FunctionList(bg, FunctionListQuery{}) }, args: "function list", unfit: true,
			r2:   "*1\r\n*6\r\n$12\r\nlibrary_name\r\n$1\r\nl\r\n$6\r\nengine\r\n$3\r\nLUA\r\n$9\r\nfunctions\r\n*1\r\n*6\r\n$4\r\nname\r\n$1\r\nf\r\n$11\r\ndescription\r\n$-1\r\n$5\r\nflags\r\n*1\r\n+no-writes\r\n",
			r3:   "*1\r\n%3\r\n$12\r\nlibrary_name\r\n$1\r\nl\r\n$6\r\nengine\r\n$3\r\nLUA\r\n$9\r\nfunctions\r\n*1\r\n%3\r\n$4\r\nname\r\n$1\r\nf\r\n$11\r\ndescription\r\n_\r\n$5\r\nflags\r\n~1\r\n+no-writes\r\n",
			want: []Library{{Name: "l", Engine: "LUA", Functions: []Function{{Name: "f", Flags: []string{"no-writes"}}}}},
		},
		{name: "FunctionStats", call: func(c commander) Cmder { return c.FunctionStats(bg) }, args: "function stats", want: func(v any) bool {
			s, ok := v.(FunctionStats)
			return ok && !s.Running() && cmp.Equal(s.Engines, []Engine{{Language: "LUA"}})
		}},
		{
			name: "FunctionStats/all", call: func(c commander) Cmder { return c.FunctionStats(bg) }, args: "function stats", unfit: true,
			r2: "*4\r\n$7\r\nengines\r\n*0\r\n$19\r\nall_running_scripts\r\n*1\r\n*6\r\n$4\r\nname\r\n$1\r\nf\r\n$7\r\ncommand\r\n*1\r\n$5\r\nfcall\r\n$11\r\nduration_ms\r\n:12\r\n",
			want: func(v any) bool {
				s, ok := v.(FunctionStats)
				first, _ := s.RunningScript()
				want := RunningScript{"f", []string{"fcall"}, 12 * time.Millisecond}
				return ok && s.Running() && cmp.Equal(first, want) && cmp.Equal(s.AllRunningScripts(), []RunningScript{want})
			},
		},
	}
}
