package redis

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func arrayCases() []commandCase {
	grep := &ARGrepArgs{Predicates: []ARGrepPredicate{{ARGrepGlob, "a*"}, {ARGrepRegex, "b$"}}, CombineAnd: true, Limit: 3, NoCase: true}
	plain := &ARGrepArgs{Predicates: []ARGrepPredicate{{ARGrepExact, "x"}}}
	two := []AREntry{{2, "x"}, {math.MaxUint64 - 1, ""}}
	pairs := frameList(frameList(frameInt(2), frameBulk("x")), frameList("(18446744073709551614\r\n", frameBulk("")))
	flat := frameList(frameInt(2), frameBulk("x"), frameBulk("18446744073709551614"), frameBulk(""))
	number := func(name, args string, call func(c commander) Cmder, want any) commandCase {
		return commandCase{name: name, args: args, call: call, want: want, r2: fmt.Sprintf(":%d\r\n", want)}
	}
	info2 := frameList(frameBulk("count"), frameInt(2), frameBulk("avg-dense-fill"), frameBulk("0.5"))
	info3 := frameMap(frameBulk("count"), frameInt(2), frameBulk("avg-dense-fill"), frameDouble(0.5))
	wantInfo := func(v any) bool {
		m, _ := v.(map[string]any)
		return len(m) == 2 && m["count"] == int64(2) && fmt.Sprint(m["avg-dense-fill"]) == "0.5"
	}
	cases := []commandCase{
		number("ARSet", "arset k 5 a b", func(c commander) Cmder { return c.ARSet(bg, "k", 5, "a", "b") }, int64(2)),
		number("ARMSet", "armset k 18446744073709551614 a 0 b", func(c commander) Cmder {
			return c.ARMSet(bg, "k", AREntry{math.MaxUint64 - 1, "a"}, AREntry{0, "b"})
		}, int64(1)),
		number("ARInsert", "arinsert k a b", func(c commander) Cmder { return c.ARInsert(bg, "k", "a", "b") }, uint64(1)),
		number("ARRing", "arring k 3 a", func(c commander) Cmder { return c.ARRing(bg, "k", 3, "a") }, uint64(0)),
		number("ARNext", "arnext k", func(c commander) Cmder { return c.ARNext(bg, "k") }, uint64(2)),
		{name: "ARNext/none", args: "arnext k", call: func(c commander) Cmder { return c.ARNext(bg, "k") }, want: Nil, r2: frameNull2, r3: frameNull},
		number("ARSeek", "arseek k 10", func(c commander) Cmder { return c.ARSeek(bg, "k", 10) }, int64(1)),
		number("ARDel", "ardel k 1 2", func(c commander) Cmder { return c.ARDel(bg, "k", 1, 2) }, int64(1)),
		number("ARDelRange", "ardelrange k 0 2 9 7", func(c commander) Cmder { return c.ARDelRange(bg, "k", ARRange{0, 2}, ARRange{9, 7}) }, uint64(3)),
		{name: "ARGet", args: "arget k 7", call: func(c commander) Cmder { return c.ARGet(bg, "k", 7) }, want: "x", r2: frameBulk("x")},
		{name: "ARGet/none", args: "arget k 7", call: func(c commander) Cmder { return c.ARGet(bg, "k", 7) }, want: Nil, r2: frameNull2, r3: frameNull},
		{name: "ARMGet", args: "armget k 1 2", call: func(c commander) Cmder { return c.ARMGet(bg, "k", 1, 2) }, want: []any{"x", nil}, r2: frameList(frameBulk("x"), frameNull2), r3: frameList(frameBulk("x"), frameNull)},
		{name: "ARGetRange", args: "argetrange k 1 0", call: func(c commander) Cmder { return c.ARGetRange(bg, "k", 1, 0) }, want: []any{nil, "x"}, r2: frameList(frameNull2, frameBulk("x")), r3: frameList(frameNull, frameBulk("x"))},
		{name: "ARLastItems", args: "arlastitems k 2", call: func(c commander) Cmder { return c.ARLastItems(bg, "k", 2, false) }, want: []any{"x", "y"}, r2: frameBulks("x", "y")},
		{name: "ARLastItems/rev", args: "arlastitems k 2 rev", call: func(c commander) Cmder { return c.ARLastItems(bg, "k", 2, true) }, want: []any{}, r2: frameList()},
		{name: "ARScan", args: "arscan k 0 9", call: func(c commander) Cmder { return c.ARScan(bg, "k", 0, 9, nil) }, want: two, r2: flat, r3: pairs},
		{name: "ARScan/limit", args: "arscan k 9 0 limit 2", call: func(c commander) Cmder { return c.ARScan(bg, "k", 9, 0, &ARScanArgs{Limit: 2}) }, want: []AREntry{}, r2: frameList()},
		{name: "ARGrep", args: "argrep k - + GLOB a* RE b$ and limit 3 nocase", call: func(c commander) Cmder { return c.ARGrep(bg, "k", "-", "+", grep) }, want: []uint64{2, math.MaxUint64 - 1}, r2: frameList(frameInt(2), frameBulk("18446744073709551614"))},
		{name: "ARGrep/plain", args: "argrep k 0 5 EXACT x", call: func(c commander) Cmder { return c.ARGrep(bg, "k", "0", "5", plain) }, want: []uint64{}, r2: frameList()},
		{name: "ARGrepWithValues", args: "argrep k - + GLOB a* RE b$ and limit 3 nocase withvalues", call: func(c commander) Cmder { return c.ARGrepWithValues(bg, "k", "-", "+", grep) }, want: two, r2: pairs, r3: flat},
		number("ARLen", "arlen k", func(c commander) Cmder { return c.ARLen(bg, "k") }, uint64(math.MaxUint64)),
		number("ARCount", "arcount k", func(c commander) Cmder { return c.ARCount(bg, "k") }, uint64(2)),
		{name: "ARInfo", args: "arinfo k", call: func(c commander) Cmder { return c.ARInfo(bg, "k") }, want: wantInfo, r2: info2, r3: info3},
		{name: "ARInfoFull", args: "arinfo k full", call: func(c commander) Cmder { return c.ARInfoFull(bg, "k") }, want: wantInfo, r2: info2, r3: info3},
		{name: "AROpSum", args: "arop k 0 2 sum", call: func(c commander) Cmder { return c.AROpSum(bg, "k", 0, 2) }, want: "60", r2: frameBulk("60")},
		{name: "AROpMin", args: "arop k 0 2 min", call: func(c commander) Cmder { return c.AROpMin(bg, "k", 0, 2) }, want: "-1.5", r2: frameBulk("-1.5")},
		{name: "AROpMax", args: "arop k 0 2 max", call: func(c commander) Cmder { return c.AROpMax(bg, "k", 0, 2) }, want: Nil, r2: frameNull2, r3: frameNull},
		number("AROpAnd", "arop k 0 2 and", func(c commander) Cmder { return c.AROpAnd(bg, "k", 0, 2) }, int64(-1)),
		number("AROpOr", "arop k 0 2 or", func(c commander) Cmder { return c.AROpOr(bg, "k", 0, 2) }, int64(7)),
		{name: "AROpXor", args: "arop k 0 2 xor", call: func(c commander) Cmder { return c.AROpXor(bg, "k", 0, 2) }, want: Nil, r2: frameNull2, r3: frameNull},
		number("AROpMatch", "arop k 0 2 match x", func(c commander) Cmder { return c.AROpMatch(bg, "k", 0, 2, "x") }, int64(1)),
		number("AROpUsed", "arop k 2 0 used", func(c commander) Cmder { return c.AROpUsed(bg, "k", 2, 0) }, int64(3)),
	}
	for i := range cases {
		cases[i].since, cases[i].valkey = "8.8", "-"
	}
	return cases
}

func TestARGrepArgs(t *testing.T) {
	for _, a := range []*ARGrepArgs{
		{Predicates: []ARGrepPredicate{{ARGrepMatch, "x"}}},
		{Predicates: []ARGrepPredicate{{ARGrepExact, "x"}, {ARGrepGlob, "y"}}, CombineAnd: true, Limit: math.MaxUint64, NoCase: true},
	} {
		args := a.Append([]any{"argrep", "k", "-", "+"})
		if len(args) != 4+a.Len() {
			t.Errorf("%v: Len is %d", args, a.Len())
		}
		if diff := cmp.Diff(NewCmd(bg, args...).Args(), cmdable(none).ARGrep(bg, "k", "-", "+", a).Args()); diff != "" {
			t.Errorf("the command has other arguments (-Append +sent):\n%s", diff)
		}
	}
	c := cmdable(none)
	for _, cmd := range []Cmder{c.ARGrep(bg, "k", "-", "+", nil), c.ARGrepWithValues(bg, "k", "-", "+", &ARGrepArgs{})} {
		if err := cmd.Err(); err == nil || DeliveryOf(err) != NotSent || !strings.Contains(err.Error(), "argrep") {
			t.Errorf("without a predicate: got %v, want an error that names the command before it is sent", err)
		}
	}
}

func TestArraysRefuseOddReplies(t *testing.T) {
	c := cmdable(none)
	for frame, cmd := range map[string]Cmder{
		frameInt(-1):                    c.ARLen(bg, "k"),
		frameBulk("many"):               c.ARCount(bg, "k"),
		"(18446744073709551616\r\n":     c.ARNext(bg, "k"),
		frameInts(1, -2):                c.ARGrep(bg, "k", "-", "+", &ARGrepArgs{Predicates: make([]ARGrepPredicate, 1)}),
		frameInts(1, 2, 3):              c.ARScan(bg, "k", 0, 1, nil),
		frameList(frameInts(1)):         c.ARScan(bg, "k", 0, 1, nil),
		frameList(frameBulks("a", "b")): c.ARScan(bg, "k", 0, 1, nil),
	} {
		feed(cmd, frame)
		if err := cmd.Err(); err == nil || errors.Is(err, Nil) || !strings.Contains(err.Error(), cmd.Name()+": unexpected reply") {
			t.Errorf("%q: got %v, want an error that names %s", frame, err, cmd.Name())
		}
	}
}
