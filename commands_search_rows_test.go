package redis

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rowsOf are rows, each of names and values in turn.
func rowsOf(rows ...[]any) []AggregateRow {
	list := make([]AggregateRow, len(rows))
	for i, row := range rows {
		list[i].Fields = map[string]any{}
		for j := 0; j < len(row); j += 2 {
			list[i].Fields[row[j].(string)] = row[j+1]
		}
	}
	return list
}

func searchAggregateCases() []commandCase {
	aggregate := func(name, args string, o *FTAggregateOptions, r2, r3 string, want any) commandCase {
		if args != "" {
			args = " " + args
		}
		return searchCase("FTAggregateWithArgs/"+name, "ft.aggregate i q"+args, r2, r3, want, func(c commander) Cmder { return c.FTAggregateWithArgs(bg, "i", "q", o) })
	}
	rows3 := func(total, results string) string {
		return "%6 attributes *0 warning *0 total_results " + total + " format STRING results " + results + " newer %0"
	}
	none := &FTAggregateResult{Rows: []AggregateRow{}}
	plain := func(name, args string, o FTAggregateOptions) commandCase {
		return aggregate(name, args, &o, "*1 :0", rows3(":0", "*0"), none)
	}
	one := &FTAggregateResult{Total: 1, Rows: rowsOf([]any{"a", "1"})}
	const one2, one3 = "*2 :1 *2 a 1", "*1 %2 extra_attributes %1 a 1 values *0"
	asMap := map[string]any{
		"attributes": []any{}, "format": "STRING", "total_results": int64(1), "warning": []any{},
		"results": []any{map[any]any{"extra_attributes": map[any]any{"a": "1"}, "values": []any{}}},
	}
	plainMap3 := "%5 attributes *0 warning *0 total_results :1 format STRING results " + one3
	withCursor := map[string]any{"cursor": int64(77)}
	atEnd := map[string]any{"cursor": int64(0)}
	for name, v := range asMap {
		withCursor[name], atEnd[name] = v, v
	}
	return []commandCase{
		searchCase("FTAggregate", "ft.aggregate i q", one2, plainMap3, asMap, func(c commander) Cmder { return c.FTAggregate(bg, "i", "q") }),
		searchCase("FTAggregate/null", "ft.aggregate i q", "*3 :1 NILS *2 a 1", plainMap3, asMap, func(c commander) Cmder { return c.FTAggregate(bg, "i", "q") }),
		searchCase("FTCursorRead", "ft.cursor READ i 7 COUNT 3", "*2 "+one2+" :77", "*2 "+plainMap3+" :77", withCursor, func(c commander) Cmder { return c.FTCursorRead(bg, "i", 7, 3) }),
		searchCase("FTCursorRead/end", "ft.cursor READ i 7", "*2 "+one2+" :0", "*2 "+plainMap3+" :0", atEnd, func(c commander) Cmder { return c.FTCursorRead(bg, "i", 7, 0) }),
		searchCase("FTCursorDel", "ft.cursor DEL i 7", "+OK", "", "OK", func(c commander) Cmder { return c.FTCursorDel(bg, "i", 7) }),

		aggregate("nil", "", nil, "*3 :2 *2 a 1 *4 a NIL b *2 x y", rows3(":2", "*2 "+one3[3:]+" %1 extra_attributes %2 a _ b *2 x y"),
			&FTAggregateResult{Total: 2, Rows: rowsOf([]any{"a", "1"}, []any{"a", nil, "b", []any{"x", "y"}})}),
		aggregate("empty", "DIALECT 2", &FTAggregateOptions{}, "*1 :0", rows3(":0", "*0"), none),
		aggregate("expired", "DIALECT 2", &FTAggregateOptions{}, "*3 :1 NILS *2 a 1", rows3(",1", "*2 _ "+one3[3:]), one),
		aggregate("bare", "DIALECT 2", &FTAggregateOptions{}, "*2 :1 *0", rows3(":1", "*1 %1 extra_attributes _"), &FTAggregateResult{Total: 1, Rows: rowsOf(nil)}),
		aggregate("cursor", "WITHCURSOR DIALECT 2", &FTAggregateOptions{WithCursor: true}, "*2 "+one2+" :77", "*2 "+rows3(":1", one3)+" :77", one),
		aggregate("cursor/counts", "WITHCURSOR COUNT 3 MAXIDLE 500 DIALECT 2", &FTAggregateOptions{
			WithCursor: true, WithCursorOptions: &FTAggregateWithCursor{Count: 3, MaxIdle: 500},
		}, "*2 *1 :0 :0", "*2 "+rows3(":0", "*0")+" :0", none),

		plain("flags", "VERBATIM SCORER BM25 ADDSCORES LOAD * TIMEOUT 7 DIALECT 2", FTAggregateOptions{Verbatim: true, AddScores: true, Scorer: "BM25", LoadAll: true, Timeout: 7}),
		plain("order", "LOAD 4 a b AS c TIMEOUT 7 APPLY @x+1 AS y APPLY @z GROUPBY 2 @a @b REDUCE COUNT 0 REDUCE QUANTILE 2 @x 0.5 AS s GROUPBY 0 SORTBY 5 @a b ASC @c DESC MAX 9 LIMIT 4 2 FILTER @a>1 PARAMS 2 p 1 DIALECT 4", FTAggregateOptions{
			Load: []FTAggregateLoad{{Field: "a"}, {Field: "b", As: "c"}}, Timeout: 7, Apply: []FTAggregateApply{{"@x+1", "y"}, {Field: "@z"}},
			GroupBy: []FTAggregateGroupBy{{Fields: []any{"@a", "@b"}, Reduce: []FTAggregateReducer{{Reducer: SearchCount}, {SearchQuantile, []any{"@x", 0.5}, "s"}}}, {}},
			SortBy:  []FTAggregateSortBy{{FieldName: "@a"}, {FieldName: "b", Asc: true}, {FieldName: "@c", Desc: true}}, SortByMax: 9,
			LimitOffset: 4, Limit: 2, Filter: "@a>1", Params: map[string]any{"p": 1}, DialectVersion: 4,
		}),
		plain("steps", "LOAD * TIMEOUT 7 APPLY @a*2 AS c GROUPBY 1 @c REDUCE COUNT 0 AS n SORTBY 2 @n DESC MAX 3 APPLY @n+1 LIMIT 0 2 FILTER @m>1 DIALECT 2", FTAggregateOptions{
			LoadAll: true, Timeout: 7, Filter: "@m>1", Limit: 2, Steps: []FTAggregateStep{
				{Apply: &FTAggregateApply{"@a*2", "c"}},
				{GroupBy: &FTAggregateGroupBy{Fields: []any{"@c"}, Reduce: []FTAggregateReducer{{Reducer: SearchCount, As: "n"}}}},
				{SortBy: &FTAggregateSortByStep{Fields: []FTAggregateSortBy{{FieldName: "@n", Desc: true}}, Max: 3}},
				{Apply: &FTAggregateApply{Field: "@n+1"}},
			},
		}),
		plain("steps/load", "LOAD 1 @a LOAD 3 @b AS c DIALECT 2", FTAggregateOptions{Steps: []FTAggregateStep{
			{Load: &FTAggregateLoad{Field: "@a"}}, {Load: &FTAggregateLoad{"@b", "c"}},
		}}),
		plain("offset", "DIALECT 2", FTAggregateOptions{LimitOffset: 4}),
	}
}

func TestAggregateCursorID(t *testing.T) {
	c := cmdable(none)
	cmd := c.FTAggregateWithArgs(bg, "i", "q", &FTAggregateOptions{WithCursor: true})
	for reply, want := range map[string]int{"*2 *1 :0 :77": 77, "*2 %1 total_results :0 :9007199254740993": 9007199254740993, "*1 :0": 0, "-ERR no": 0} {
		feed(cmd, frame(reply))
		if got := cmd.CursorID(); got != want {
			t.Errorf("%s: got %d, want %d", reply, got, want)
		}
	}
}

func TestCollect(t *testing.T) {
	want := CollectColumn{{"name": "kiwi", "n": "3"}, {"name": "lime"}}
	for proto, reply := range map[string]string{
		"RESP2": "*2 :1 *10 items *2 *4 name kiwi n 3 *2 name lime null NIL none *0 text x odd *2 *1 a *2 :1 b",
		"RESP3": "%1 results *1 %1 extra_attributes %5 items *2 %2 name kiwi n 3 %1 name lime null _ none *0 text x odd *1 %1 :1 b",
	} {
		cmd := cmdable(none).FTAggregateWithArgs(bg, "i", "q", nil)
		feed(cmd, frame(reply))
		got, err := cmd.Result()
		if err != nil || len(got.Rows) != 1 {
			t.Fatalf("%s: %v, %v", proto, got, err)
		}
		row := got.Rows[0]
		items, err := row.Collect("items")
		if diff := cmp.Diff(want, items); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", proto, err, diff)
		}
		for _, name := range []string{"null", "missing"} {
			if v, err := row.Collect(name); v != nil || err != nil {
				t.Errorf("%s: %s: got %v, %v", proto, name, v, err)
			}
		}
		if v, err := row.Collect("none"); err != nil || v == nil || len(v) != 0 {
			t.Errorf("%s: none: got %v, %v", proto, v, err)
		}
		for _, name := range []string{"text", "odd"} {
			if v, err := row.Collect(name); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %s: got %v, %v, want an error", proto, name, v, err)
			}
		}
	}
}

func TestNewCollectReducer(t *testing.T) {
	for _, tc := range []struct {
		collect FTAggregateCollect
		want    string // what is sent, or part of the error
	}{
		{FTAggregateCollect{Fields: []string{"@a", "b"}}, "COLLECT 4 FIELDS 2 @a @b"},
		{FTAggregateCollect{FieldsAll: true, Fields: []string{"@a"}}, "COLLECT 2 FIELDS *"},
		{
			FTAggregateCollect{FieldsAll: true, Distinct: true, SortBy: []FTAggregateSortBy{{FieldName: "s", Desc: true}, {FieldName: "@t", Asc: true}, {FieldName: "u"}}, Limit: &FTAggregateCollectLimit{1, 5}, As: "x"},
			"COLLECT 13 FIELDS * DISTINCT SORTBY 5 @s DESC @t ASC @u LIMIT 1 5 AS x",
		},
		{FTAggregateCollect{}, "Fields or FieldsAll"},
		{FTAggregateCollect{Fields: []string{""}}, "Fields is empty"},
		{FTAggregateCollect{FieldsAll: true, SortBy: []FTAggregateSortBy{{}}}, "SortBy is empty"},
		{FTAggregateCollect{FieldsAll: true, SortBy: []FTAggregateSortBy{{"a", true, true}}}, "Asc or by Desc"},
	} {
		r, err := NewCollectReducer(tc.collect)
		if err != nil {
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			continue
		}
		q, err := FTAggregateQuery("q", &FTAggregateOptions{GroupBy: []FTAggregateGroupBy{{Reduce: []FTAggregateReducer{r}}}})
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, w := range q[4 : len(q)-2] { // without GROUPBY and DIALECT
			words = append(words, w.(string))
		}
		if got := strings.Join(words, " "); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestProcessAggregateResult(t *testing.T) {
	row := []any{"a", "1"}
	want := &FTAggregateResult{Total: 3, Rows: rowsOf([]any{"a", "1"}, []any{"b", int64(2)})}
	for name, data := range map[string][]any{
		"plain":       {int64(3), row, []any{"b", int64(2)}},
		"maps":        {int64(3), map[any]any{"a": "1"}, map[string]any{"b": int64(2)}},
		"expired":     {int64(3), row, nil, []any{"b", int64(2)}},
		"with cursor": {[]any{int64(3), row, []any{"b", int64(2)}}, int64(7)},
	} {
		got, err := ProcessAggregateResult(data)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	for name, data := range map[string][]any{
		"nothing": nil, "empty": {}, "no number": {"x"}, "a row of text": {int64(1), "x"}, "an odd row": {int64(1), []any{"x"}},
		"a name that is none": {int64(1), []any{int64(1), "x"}}, "a key that is none": {int64(1), map[any]any{int64(1): "x"}}, "an empty cursor": {[]any{}, int64(1)},
	} {
		if got, err := ProcessAggregateResult(data); err == nil || got != nil || !strings.Contains(err.Error(), "FT.AGGREGATE") {
			t.Errorf("%s: got %v, %v, want an error", name, got, err)
		}
	}
}

func searchHybridCases() []commandCase {
	fp32 := &VectorFP32{Val: []byte("abcd")}
	// hybrid is a case that sends args behind SEARCH q and the vector, and tail behind
	// PARAMS 2.
	hybrid := func(name, args, tail string, change func(o *FTHybridOptions)) commandCase {
		words := "ft.hybrid i SEARCH q VSIM @v $__vector_param_0 " + args + " PARAMS 2 __vector_param_0 abcd " + tail
		return searchCase("FTHybridWithArgs/"+name, words, "*4 total_results :0 results *0", "%2 total_results :0 results *0",
			FTHybridResult{Results: []map[string]any{}}, func(c commander) Cmder {
				o := &FTHybridOptions{
					SearchExpressions: []FTHybridSearchExpression{{Query: "q"}},
					VectorExpressions: []FTHybridVectorExpression{{VectorField: "v", VectorData: fp32}},
				}
				change(o)
				return c.FTHybridWithArgs(bg, "i", o)
			})
	}
	// vector is a case of one vector search.
	vector := func(name, args string, v FTHybridVectorExpression, params map[string]any) commandCase {
		return searchCase("FTHybridWithArgs/vector/"+name, "ft.hybrid i VSIM "+args, "*4 SEARCH :11 VSIM :12", "%2 SEARCH :11 VSIM :12", FTHybridResult{}, func(c commander) Cmder {
			return c.FTHybridWithArgs(bg, "i", &FTHybridOptions{VectorExpressions: []FTHybridVectorExpression{v}, Params: params})
		})
	}
	group := func(name, args string, g FTHybridGroupBy) commandCase {
		return hybrid("group/"+name, args, "", func(o *FTHybridOptions) { o.GroupBy = &g })
	}
	combine := func(name, args string, m FTHybridCombineOptions) commandCase {
		return hybrid("combine/"+name, "COMBINE "+args, "", func(o *FTHybridOptions) { o.Combine = &m })
	}
	return []commandCase{
		searchCase("FTHybrid", "ft.hybrid i SEARCH q VSIM @v $__vector_param_0 PARAMS 2 __vector_param_0 abcd",
			"*8 total_results :2 results *2 *6 '__key d1 '__score 0.5 l *2 x y *2 '__key d2 warnings *1 w execution_time 1.5",
			"%5 total_results :2 results *2 %3 '__key d1 '__score 0.5 l *2 x y %1 '__key d2 warnings *1 w execution_time ,1.5 newer *0",
			FTHybridResult{
				TotalResults: 2, Results: []map[string]any{{"__key": "d1", "__score": "0.5", "l": []any{"x", "y"}}, {"__key": "d2"}},
				Warnings: []string{"w"}, ExecutionTime: 1.5,
			}, func(c commander) Cmder { return c.FTHybrid(bg, "i", "q", "v", fp32) }),
		searchCase("FTHybridWithArgs/nil", "ft.hybrid i", "*8 total_results :0 results *0 warnings *0 execution_time 1.5", "%4 total_results :0 results *0 warnings *0 execution_time ,1.5",
			FTHybridResult{Results: []map[string]any{}, ExecutionTime: 1.5}, func(c commander) Cmder { return c.FTHybridWithArgs(bg, "i", nil) }),
		vector("knn", "@v $pv KNN 4 K 10 EF_RUNTIME 100 SHARD_K_RATIO 0.5 FILTER @n:[1 YIELD_SCORE_AS d PARAMS 4 a 1 pv abcd", FTHybridVectorExpression{
			VectorField: "@v", VectorData: fp32, VectorParamName: "$pv", Method: string(KNN), MethodParams: []any{"K", 10, "EF_RUNTIME", 100},
			Filter: "@n:[1", YieldScoreAs: "d", ShardKRatio: 0.5,
		}, map[string]any{"a": 1, "pv": "is overwritten"}),
		vector("knn/default", "@v $p PARAMS 2 p abcd", FTHybridVectorExpression{VectorField: "v", VectorData: fp32, VectorParamName: "p", Method: "KNN"}, nil),
		vector("knn/ratio", "@v $p KNN 2 K 10 SHARD_K_RATIO 0.25 PARAMS 2 p abcd", FTHybridVectorExpression{
			VectorField: "v", VectorData: fp32, VectorParamName: "p", Method: "KNN", ShardKRatio: 0.25,
		}, nil),
		vector("range", "@v $p RANGE 2 RADIUS 0.5 PARAMS 2 p blob", FTHybridVectorExpression{
			VectorField: "v", VectorParamName: "p", Method: string(RANGE), MethodParams: []any{"RADIUS", 0.5},
		}, map[string]any{"p": []byte("blob")}),
		vector("int8", "@v $p PARAMS 2 p ab", FTHybridVectorExpression{VectorField: "v", VectorData: &VectorInt8{[]byte("ab")}, VectorParamName: "p"}, nil),
		hybrid("search", "", "", func(*FTHybridOptions) {}),
		combine("rrf", "RRF 6 WINDOW 20 CONSTANT 60 YIELD_SCORE_AS c", FTHybridCombineOptions{Method: FTHybridCombineRRF, Window: 20, Constant: 60, YieldScoreAs: "c", Alpha: 1}),
		combine("rrf/bare", "RRF 0", FTHybridCombineOptions{Method: FTHybridCombineRRF}),
		combine("linear", "LINEAR 8 WINDOW 9 ALPHA 0.7 BETA 0.3 YIELD_SCORE_AS c", FTHybridCombineOptions{Method: FTHybridCombineLinear, Window: 9, Alpha: 0.7, Beta: 0.3, YieldScoreAs: "c", Constant: 5}),
		combine("linear/one", "LINEAR 4 ALPHA 0 BETA 1", FTHybridCombineOptions{Method: FTHybridCombineLinear, Beta: 1}),
		group("plain", "GROUPBY 2 @a @b REDUCE SUM 1 @x AS s", FTHybridGroupBy{Fields: []string{"@a", "@b"}, ReduceFunc: "SUM", ReduceParams: []any{"@x", "AS", "s"}}),
		group("counted", "GROUPBY 1 @a REDUCE COUNT 0 AS n", FTHybridGroupBy{Count: 1, Fields: []string{"@a"}, ReduceFunc: "COUNT", ReduceParams: []any{"AS", "n"}}),
		group("given", "GROUPBY 1 @a REDUCE F 2 as x", FTHybridGroupBy{Fields: []string{"@a"}, ReduceFunc: "F", ReduceCount: 2, ReduceParams: []any{"as", "x"}}),
		group("only", "GROUPBY 1 @a", FTHybridGroupBy{Fields: []string{"@a"}}),
		hybrid("load", "LOAD 2 @a @b", "", func(o *FTHybridOptions) { o.Load = []string{"@a", "@b"} }),
		hybrid("load/all", "LOAD *", "", func(o *FTHybridOptions) { o.Load = []string{"*"} }),
		hybrid("steps", "APPLY @a+1 AS b APPLY @c SORTBY 4 @a DESC b @c FILTER @a>1 LIMIT 3 4", "EXPLAINSCORE TIMEOUT 100 WITHCURSOR COUNT 3 MAXIDLE 500", func(o *FTHybridOptions) {
			o.Apply = []FTHybridApply{{"@a+1", "b"}, {Expression: "@c"}}
			o.SortBy = []FTSearchSortBy{{FieldName: "@a", Desc: true}, {FieldName: "b"}, {FieldName: "@c"}}
			o.Filter, o.LimitOffset, o.Limit, o.ExplainScore, o.Timeout = "@a>1", 3, 4, true, 100
			o.WithCursor, o.WithCursorOptions = true, &FTHybridWithCursor{Count: 3, MaxIdle: 500}
		}),
	}
}

func TestHybridCursors(t *testing.T) {
	cmd := cmdable(none).FTHybridWithArgs(bg, "i", &FTHybridOptions{WithCursor: true})
	for _, reply := range []string{"*6 SEARCH :11 VSIM :12 warnings *1 w", "%3 SEARCH :11 VSIM :12 warnings *1 w"} {
		feed(cmd, frame(reply))
		got, err := cmd.CursorResult()
		if diff := cmp.Diff(&FTHybridCursorResult{11, 12}, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		if w := cmd.Val().Warnings; len(w) != 1 {
			t.Errorf("warnings: %q", w)
		}
	}
	feed(cmd, frame("%1 total_results :0"))
	if v := cmd.CursorVal(); v != nil {
		t.Errorf("a cursor is left: %v", v)
	}
}

func TestSearchClones(t *testing.T) {
	hybrid := cmdable(none).FTHybridWithArgs(bg, "i", nil)
	feed(hybrid, frame("%3 SEARCH :11 VSIM :12 results *1 %1 a *1 x"))
	twin := hybrid.Clone().(*FTHybridCmd)
	if diff := cmp.Diff(hybrid.CursorVal(), twin.CursorVal()) + cmp.Diff(hybrid.Val(), twin.Val()) + cmp.Diff(hybrid.RawVal(), twin.RawVal()); diff != "" {
		t.Error(diff)
	}
	twin.CursorVal().SearchCursorID = 0
	twin.Val().Results[0]["a"] = nil
	if hybrid.CursorVal().SearchCursorID != 11 || hybrid.Val().Results[0]["a"] == nil {
		t.Error("the clone shares its reply")
	}
	search := cmdable(none).FTSearchWithArgs(bg, "i", "q", &FTSearchOptions{WithScores: true})
	feed(search, frame("*4 :1 d 0.5 NIL"))
	found := search.Clone().(*FTSearchCmd)
	if diff := cmp.Diff(search.Val(), found.Val()); diff != "" {
		t.Error(diff)
	}
	*found.Val().Docs[0].Score = 2
	feed(found, frame("*4 :1 d 0.25 NIL")) // it knows what is in a reply, too
	if *search.Val().Docs[0].Score != 0.5 || found.Err() != nil {
		t.Errorf("the clone shares its reply, or has %v", found.Err())
	}
}

// A builder sends what the method with the same options would.
func TestSearchBuilders(t *testing.T) {
	var sent Cmder
	c := &Client{}
	c.cmdable = func(_ context.Context, cmd Cmder) error { sent = cmd; return nil }
	for _, tc := range builderCases(c) {
		sent = nil
		err := tc.run()
		switch {
		case tc.says != "":
			if err == nil || !strings.Contains(err.Error(), tc.says) || sent != nil && sent.Err() == nil {
				t.Errorf("got %v, sent %v, want an error that says %q", err, sent, tc.says)
			}
		case err != nil || sent == nil:
			t.Errorf("%s: %v", tc.want, err)
		default:
			var words []string
			for _, w := range sent.Args() {
				words = append(words, w.(string))
			}
			if diff := cmp.Diff(tc.want, strings.Join(words, " ")); diff != "" {
				t.Error(diff)
			}
		}
	}
}
