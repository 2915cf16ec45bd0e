package redis

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Frames of replies, for cases of commands that no server that is tested with knows.
const (
	frameOK    = "+OK\r\n"
	frameNull2 = "$-1\r\n"
	frameNull  = "_\r\n"
)

func frameBulk(s string) string     { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
func frameStatus(s string) string   { return "+" + s + "\r\n" }
func frameInt(n int64) string       { return fmt.Sprintf(":%d\r\n", n) }
func frameDouble(v float64) string  { return "," + strconv.FormatFloat(v, 'g', -1, 64) + "\r\n" }
func frameList(v ...string) string  { return fmt.Sprintf("*%d\r\n", len(v)) + strings.Join(v, "") }
func frameSet(v ...string) string   { return fmt.Sprintf("~%d\r\n", len(v)) + strings.Join(v, "") }
func frameMap(v ...string) string   { return fmt.Sprintf("%%%d\r\n", len(v)/2) + strings.Join(v, "") }
func framesOf(s ...string) []string { return mapped(s, frameBulk) }
func frameInts(n ...int64) string   { return frameList(mapped(n, frameInt)...) }
func frameBulks(s ...string) string { return frameList(framesOf(s...)...) }
func mapped[T, U any](v []T, f func(T) U) []U {
	list := make([]U, len(v))
	for i := range v {
		list[i] = f(v[i])
	}
	return list
}

func jsonCases() []commandCase {
	doc := struct {
		A int `json:"a"`
	}{1}
	return []commandCase{
		{name: "JSONSet", call: func(c commander) Cmder { return c.JSONSet(bg, "k", "$", `{"a":1}`) }, args: `json.set k $ {"a":1}`, want: "OK", r2: frameOK},
		{name: "JSONSet/struct", call: func(c commander) Cmder { return c.JSONSet(bg, "k", "$", doc) }, args: `json.set k $ {"a":1}`, want: "OK", r2: frameOK},
		{name: "JSONSet/bytes", call: func(c commander) Cmder { return c.JSONSet(bg, "k", "$", []byte("[ 1 ]")) }, exact: []string{"json.set", "k", "$", "[ 1 ]"}, want: "OK", r2: frameOK},
		{name: "JSONSet/raw", call: func(c commander) Cmder { return c.JSONSet(bg, "k", "$", json.RawMessage("true")) }, args: "json.set k $ true", want: "OK", r2: frameOK},
		{name: "JSONSet/null", call: func(c commander) Cmder { return c.JSONSet(bg, "k", "$.a", nil) }, args: "json.set k $.a null", want: Nil, r2: frameNull2, r3: frameNull},
		{name: "JSONSet/bool", call: func(c commander) Cmder { return c.JSONSet(bg, "k", "$.a", true) }, args: "json.set k $.a true", want: "OK", r2: frameOK},
		{name: "JSONSetMode", call: func(c commander) Cmder { return c.JSONSetMode(bg, "k", "$.a", int64(5), "NX") }, args: "json.set k $.a 5 NX", want: Nil, r2: frameNull2, r3: frameNull},
		{name: "JSONSetWithArgs", call: func(c commander) Cmder {
			return c.JSONSetWithArgs(bg, "k", "$", []float64{1.5, 2}, &JSONSetArgsOptions{Mode: "XX", FPHA: FPHATypeBF16})
		}, args: "json.set k $ [1.5,2] XX FPHA BF16", want: "OK", r2: frameOK},
		{name: "JSONMSet", call: func(c commander) Cmder { return c.JSONMSet(bg, "a", "$", `"x"`, "b", "$.b", doc) }, args: `json.mset a $ "x" b $.b {"a":1}`, want: "OK", r2: frameOK},
		{name: "JSONMSet/slice", call: func(c commander) Cmder { return c.JSONMSet(bg, []any{"a", "$", 1}) }, args: "json.mset a $ 1", want: "OK", r2: frameOK},
		{name: "JSONMSetArgs", call: func(c commander) Cmder {
			return c.JSONMSetArgs(bg, []JSONSetArgs{{Key: "a", Path: "$", Value: "[]"}, {Key: "b", Path: "$", Value: 1.5}})
		}, args: "json.mset a $ [] b $ 1.5", want: "OK", r2: frameOK},
		{name: "JSONMerge", call: func(c commander) Cmder { return c.JSONMerge(bg, "k", "$.a", `{"b":null}`) }, args: `json.merge k $.a {"b":null}`, want: "OK", r2: frameOK},
		{name: "JSONGet", call: func(c commander) Cmder { return c.JSONGet(bg, "k", "$..a", "$.b") }, args: "json.get k $..a $.b", want: `{"$..a":[1],"$.b":[]}`, r2: frameBulk(`{"$..a":[1],"$.b":[]}`)},
		{name: "JSONGet/all", call: func(c commander) Cmder { return c.JSONGet(bg, "k") }, args: "json.get k", want: "5", r2: frameBulk("5")},
		{name: "JSONGet/none", call: func(c commander) Cmder { return c.JSONGet(bg, "k", "$") }, args: "json.get k $", want: Nil, r2: frameNull2, r3: frameNull},
		{
			name: "JSONGet/values", call: func(c commander) Cmder { return c.JSONGet(bg, "k", "$") }, args: "json.get k $",
			want: `[{"a":[1,2.5,null,true,"x"]}]`,
			r2:   frameBulk(`[{"a":[1,2.5,null,true,"x"]}]`),
			r3:   frameList(frameMap(frameBulk("a"), frameList(frameInt(1), frameDouble(2.5), frameNull, "#t\r\n", frameBulk("x")))),
		},
		{name: "JSONGetWithArgs", call: func(c commander) Cmder {
			return c.JSONGetWithArgs(bg, "k", &JSONGetArgs{Indent: "\t", Newline: "\n", Space: " "}, "$")
		}, exact: []string{"json.get", "k", "INDENT", "\t", "NEWLINE", "\n", "SPACE", " ", "$"}, want: "[\n\t1\n]", r2: frameBulk("[\n\t1\n]")},
		{name: "JSONMGet", call: func(c commander) Cmder { return c.JSONMGet(bg, "$.a", "k", "l") }, args: "json.mget k l $.a", want: []any{"[1]", nil}, r2: frameList(frameBulk("[1]"), frameNull2), r3: frameList(frameBulk("[1]"), frameNull)},
		{name: "JSONDel", call: func(c commander) Cmder { return c.JSONDel(bg, "k", "$..a") }, args: "json.del k $..a", want: int64(2), r2: frameInt(2)},
		{name: "JSONForget", call: func(c commander) Cmder { return c.JSONForget(bg, "k", "$") }, args: "json.forget k $", want: int64(1), r2: frameInt(1)},
		{name: "JSONClear", call: func(c commander) Cmder { return c.JSONClear(bg, "k", "$.a") }, args: "json.clear k $.a", want: int64(1), r2: frameInt(1)},
		{name: "JSONDebugMemory", call: func(c commander) Cmder { return c.JSONDebugMemory(bg, "k", "$") }, exact: []string{"json.debug", "memory", "k", "$"}, want: int64(573), r2: frameInts(573)},
		{name: "JSONDebugMemory/several", call: func(c commander) Cmder { return c.JSONDebugMemory(bg, "k", "$..a") }, args: "json.debug memory k $..a", want: int64(24), r2: frameInts(8, 16)},
		{name: "JSONDebugMemory/old", call: func(c commander) Cmder { return c.JSONDebugMemory(bg, "k", ".") }, args: "json.debug memory k .", want: int64(573), r2: frameInt(573)},
		{name: "JSONType", call: func(c commander) Cmder { return c.JSONType(bg, "k", "$.a") }, args: "json.type k $.a", want: []any{"integer"}, r2: frameBulks("integer")},
		{name: "JSONType/nested", call: func(c commander) Cmder { return c.JSONType(bg, "k", "$..a") }, args: "json.type k $..a", want: []any{[]any{"integer", "null"}}, r2: frameList(frameBulks("integer", "null"))},
		{name: "JSONType/old", call: func(c commander) Cmder { return c.JSONType(bg, "k", ".a") }, args: "json.type k .a", want: []any{"integer"}, r2: frameBulk("integer"), r3: frameBulks("integer")},
		{name: "JSONNumIncrBy", call: func(c commander) Cmder { return c.JSONNumIncrBy(bg, "k", "$..a", 2) }, args: "json.numincrby k $..a 2", want: "[null,4,7.5]", r2: frameBulk("[null,4,7.5]"), r3: frameList(frameNull, frameInt(4), frameDouble(7.5))},
		{name: "JSONNumIncrBy/old", call: func(c commander) Cmder { return c.JSONNumIncrBy(bg, "k", ".a", -0.5) }, args: "json.numincrby k .a -0.5", want: "1.5", r2: frameBulk("1.5"), r3: frameDouble(1.5)},
	}
}

func jsonPathCases() []commandCase {
	three := new(int64(3))
	withNull2, withNull := frameList(frameInt(3), frameNull2), frameList(frameInt(3), frameNull)
	pointers := []*int64{three, nil}
	return []commandCase{
		{name: "JSONToggle", call: func(c commander) Cmder { return c.JSONToggle(bg, "k", "$..a") }, args: "json.toggle k $..a", want: []*int64{new(int64(0)), new(int64(1)), nil}, r2: frameList(frameInt(0), frameInt(1), frameNull2), r3: frameList(frameInt(0), "#t\r\n", frameNull)},
		{name: "JSONToggle/old", call: func(c commander) Cmder { return c.JSONToggle(bg, "k", ".a") }, args: "json.toggle k .a", want: []*int64{new(int64(1))}, r2: frameBulk("true"), r3: frameInts(1)},
		{name: "JSONToggle/off", call: func(c commander) Cmder { return c.JSONToggle(bg, "k", ".a") }, args: "json.toggle k .a", want: []*int64{new(int64(0))}, r2: frameBulk("false")},
		{name: "JSONStrAppend", call: func(c commander) Cmder { return c.JSONStrAppend(bg, "k", "$..a", `"b"`) }, args: `json.strappend k $..a "b"`, want: pointers, r2: withNull2, r3: withNull},
		{name: "JSONStrLen", call: func(c commander) Cmder { return c.JSONStrLen(bg, "k", "$..a") }, args: "json.strlen k $..a", want: pointers, r2: withNull2, r3: withNull},
		{name: "JSONStrLen/old", call: func(c commander) Cmder { return c.JSONStrLen(bg, "k", ".a") }, args: "json.strlen k .a", want: pointers[:1], r2: frameInt(3)},
		{name: "JSONObjKeys", call: func(c commander) Cmder { return c.JSONObjKeys(bg, "k", "$..a") }, args: "json.objkeys k $..a", want: []any{[]any{"x", "y"}, nil}, r2: frameList(frameBulks("x", "y"), "*-1\r\n"), r3: frameList(frameBulks("x", "y"), frameNull)},
		{name: "JSONObjKeys/old", call: func(c commander) Cmder { return c.JSONObjKeys(bg, "k", ".") }, args: "json.objkeys k .", want: []any{"x", "y"}, r2: frameBulks("x", "y")},
		{name: "JSONObjLen", call: func(c commander) Cmder { return c.JSONObjLen(bg, "k", "$..a") }, args: "json.objlen k $..a", want: pointers, r2: withNull2, r3: withNull},
		{name: "JSONArrAppend", call: func(c commander) Cmder { return c.JSONArrAppend(bg, "k", "$..a", 1, `"x"`, true, 1.5) }, args: `json.arrappend k $..a 1 "x" true 1.5`, want: []int64{3, 0}, r2: withNull2, r3: withNull},
		{name: "JSONArrAppend/old", call: func(c commander) Cmder { return c.JSONArrAppend(bg, "k", ".a", 1) }, args: "json.arrappend k .a 1", want: []int64{3}, r2: frameInt(3)},
		{name: "JSONArrIndex", call: func(c commander) Cmder { return c.JSONArrIndex(bg, "k", "$..a", `"x"`) }, args: `json.arrindex k $..a "x"`, want: []int64{1, -1}, r2: frameInts(1, -1)},
		{name: "JSONArrIndexWithArgs", call: func(c commander) Cmder {
			return c.JSONArrIndexWithArgs(bg, "k", "$.a", &JSONArrIndexArgs{Start: 1, Stop: new(-1)}, 5)
		}, args: "json.arrindex k $.a 5 1 -1", want: []int64{-1}, r2: frameInts(-1)},
		{name: "JSONArrIndexWithArgs/start", call: func(c commander) Cmder {
			return c.JSONArrIndexWithArgs(bg, "k", "$.a", &JSONArrIndexArgs{Start: 1}, 5)
		}, args: "json.arrindex k $.a 5 1", want: []int64{-1}, r2: frameInts(-1)},
		{name: "JSONArrInsert", call: func(c commander) Cmder { return c.JSONArrInsert(bg, "k", "$..a", -1, 1, "[]") }, args: "json.arrinsert k $..a -1 1 []", want: []int64{3, 0}, r2: withNull2, r3: withNull},
		{name: "JSONArrLen", call: func(c commander) Cmder { return c.JSONArrLen(bg, "k", "$..a") }, args: "json.arrlen k $..a", want: []int64{3, 0}, r2: withNull2, r3: withNull},
		{name: "JSONArrLen/none", call: func(c commander) Cmder { return c.JSONArrLen(bg, "k", "$") }, args: "json.arrlen k $", want: Nil, r2: "*-1\r\n", r3: frameNull},
		{name: "JSONArrPop", call: func(c commander) Cmder { return c.JSONArrPop(bg, "k", "$..a", -1) }, args: "json.arrpop k $..a -1", want: []string{"80", ""}, r2: frameList(frameBulk("80"), frameNull2), r3: frameList(frameBulk("80"), frameNull)},
		{name: "JSONArrPop/old", call: func(c commander) Cmder { return c.JSONArrPop(bg, "k", ".a", 0) }, args: "json.arrpop k .a 0", want: []string{`{"b":1}`}, r2: frameBulk(`{"b":1}`)},
		{name: "JSONArrTrim", call: func(c commander) Cmder { return c.JSONArrTrim(bg, "k", "$") }, args: "json.arrtrim k $", want: errors.New("ERR wrong number"), r2: "-ERR wrong number of arguments for 'json.arrtrim' command\r\n"},
		{name: "JSONArrTrimWithArgs", call: func(c commander) Cmder {
			return c.JSONArrTrimWithArgs(bg, "k", "$..a", &JSONArrTrimArgs{Start: 0, Stop: new(2)})
		}, args: "json.arrtrim k $..a 0 2", want: []int64{3, 0}, r2: withNull2, r3: withNull},
	}
}

func TestJSONRejectsWhatItCantSend(t *testing.T) {
	c := cmdable(none)
	for _, cmd := range []Cmder{
		c.JSONSet(bg, "k", "$", math.NaN()), c.JSONSet(bg, "k", "$", func() {}), c.JSONArrAppend(bg, "k", "$", make(chan int)),
		c.JSONSetMode(bg, "k", "$", 1, ""), c.JSONSetMode(bg, "k", "$", 1, "GT"),
		c.JSONMSet(bg), c.JSONMSet(bg, "k", "$"), c.JSONMSetArgs(bg, nil),
	} {
		if err := cmd.Err(); err == nil || DeliveryOf(err) != NotSent || !strings.Contains(err.Error(), "json.") {
			t.Errorf("%v: got %v, want an error that names the command before it is sent", cmd.Args(), err)
		}
	}
}

func TestJSONExpanded(t *testing.T) {
	want := []any{map[string]any{"a": []any{1.0, 2.5, nil, true, "x"}}}
	for _, frame := range []string{
		frameBulk(`[{"a":[1,2.5,null,true,"x"]}]`),
		frameList(frameMap(frameBulk("a"), frameList(frameInt(1), frameDouble(2.5), frameNull, "#t\r\n", frameBulk("x")))),
	} {
		cmd := cmdable(none).JSONGet(bg, "k", "$")
		feed(cmd, frame)
		got, err := cmd.Expanded()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", frame, err, diff)
		}
	}

	cmd := cmdable(none).JSONGet(bg, "k", "$")
	feed(cmd, frameNull)
	if v, err := cmd.Expanded(); v != nil || !errors.Is(err, Nil) {
		t.Errorf("a null: got %v, %v, want Nil", v, err)
	}
	feed(cmd, frameBulk("[1"))
	if v, err := cmd.Expanded(); err == nil || !strings.Contains(err.Error(), "json.get") {
		t.Errorf("what is no JSON: got %v, %v, want an error that names the command", v, err)
	}
	feed(cmd, frameList(frameDouble(math.Inf(1))))
	if err := cmd.Err(); err == nil || !strings.Contains(err.Error(), "json.get: unexpected reply") {
		t.Errorf("a number that JSON has not: got %v, want an error that names the command", err)
	}
	cmd.SetVal("")
	cmd.SetErr(nil)
	if v, err := cmd.Expanded(); v != nil || err != nil {
		t.Errorf("an empty reply: got %v, %v", v, err)
	}
}

func TestJSONIsRetriedIfThatChangesNothing(t *testing.T) {
	c := cmdable(none)
	for _, test := range []struct {
		cmd  Cmder
		want bool
	}{
		{c.JSONSet(bg, "k", "$", "nx"), true},
		{c.JSONSetMode(bg, "k", "$", 1, "nx"), false},
		{c.JSONSetWithArgs(bg, "k", "$", 1, &JSONSetArgsOptions{FPHA: FPHATypeFP16}), true},
		{c.JSONMSet(bg, "k", "$", 1), true},
		{c.JSONMerge(bg, "k", "$", "{}"), true},
		{c.JSONGet(bg, "k"), true},
		{c.JSONDebugMemory(bg, "k", "$"), true},
		{c.JSONDel(bg, "k", "$"), false},
		{c.JSONNumIncrBy(bg, "k", "$", 1), false},
		{c.JSONToggle(bg, "k", "$"), false},
		{c.JSONArrAppend(bg, "k", "$", 1), false},
	} {
		if got := test.cmd.base().isIdempotent(); got != test.want {
			t.Errorf("%v: got %v, want %v", test.cmd.Args(), got, test.want)
		}
	}
}
