package redis

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// frameSample2 and frameSample are a sample with RESP2 and RESP3.
func frameSample2(ts int64, v ...string) string {
	return frameList(append([]string{frameInt(ts)}, mapped(v, frameStatus)...)...)
}

func frameSample(ts int64, v ...float64) string {
	return frameList(append([]string{frameInt(ts)}, mapped(v, frameDouble)...)...)
}

func timeseriesCases() []commandCase {
	full := &TSOptions{
		Retention: 1000, ChunkSize: 128, Encoding: "UNCOMPRESSED", DuplicatePolicy: "LAST",
		Labels: map[string]string{"b": "2", "a": "1"}, IgnoreMaxTimeDiff: 5, IgnoreMaxValDiff: 0.5,
	}
	like := "RETENTION 1000 ENCODING UNCOMPRESSED CHUNK_SIZE 128 DUPLICATE_POLICY LAST IGNORE 5 0.5 LABELS a 1 b 2"
	incr := &TSIncrDecrOptions{
		Timestamp: 7, Retention: 1000, ChunkSize: 128, Uncompressed: true, DuplicatePolicy: "SUM",
		Labels: map[string]string{"a": "1"}, IgnoreMaxValDiff: 2,
	}
	incrLike := "TIMESTAMP 7 UNCOMPRESSED RETENTION 1000 CHUNK_SIZE 128 DUPLICATE_POLICY SUM IGNORE 0 2 LABELS a 1"
	ok := func(name, args string, call func(c commander) Cmder) commandCase {
		return commandCase{name: name, call: call, args: args, want: "OK", r2: frameOK}
	}
	stamp := func(name, args string, call func(c commander) Cmder) commandCase {
		return commandCase{name: name, call: call, args: args, want: int64(1000), r2: frameInt(1000)}
	}
	info2 := frameList(frameStatus("totalSamples"), frameInt(2), frameStatus("duplicatePolicy"), frameNull2, frameStatus("rules"), frameList(frameList(frameBulk("d"), frameInt(60), frameStatus("AVG"), frameInt(0))))
	info := frameMap(frameStatus("totalSamples"), frameInt(2), frameStatus("duplicatePolicy"), frameNull, frameStatus("rules"), frameMap(frameBulk("d"), frameList(frameInt(60), frameStatus("AVG"), frameInt(0))))
	wantInfo := func(v any) bool {
		m, _ := v.(map[string]any)
		return len(m) == 3 && m["totalSamples"] == int64(2) && m["duplicatePolicy"] == nil && m["rules"] != nil
	}
	return []commandCase{
		ok("TSCreate", "ts.create k", func(c commander) Cmder { return c.TSCreate(bg, "k") }),
		ok("TSCreateWithArgs", "ts.create k "+like, func(c commander) Cmder { return c.TSCreateWithArgs(bg, "k", full) }),
		ok("TSCreateWithArgs/none", "ts.create k", func(c commander) Cmder {
			return c.TSCreateWithArgs(bg, "k", &TSOptions{Labels: map[string]string{}})
		}),
		ok("TSAlter", "ts.alter k RETENTION 5 CHUNK_SIZE 64 DUPLICATE_POLICY MIN IGNORE 1 0 LABELS a 1", func(c commander) Cmder {
			return c.TSAlter(bg, "k", &TSAlterOptions{Retention: 5, ChunkSize: 64, DuplicatePolicy: "MIN", IgnoreMaxTimeDiff: 1, Labels: map[string]string{"a": "1"}})
		}),
		ok("TSAlter/labels", "ts.alter k LABELS", func(c commander) Cmder {
			return c.TSAlter(bg, "k", &TSAlterOptions{Labels: map[string]string{}})
		}),
		ok("TSAlter/nil", "ts.alter k", func(c commander) Cmder { return c.TSAlter(bg, "k", nil) }),
		stamp("TSAdd", "ts.add k * 1.5", func(c commander) Cmder { return c.TSAdd(bg, "k", "*", 1.5) }),
		stamp("TSAddWithArgs", "ts.add k 1000 -2 "+like, func(c commander) Cmder { return c.TSAddWithArgs(bg, "k", 1000, -2, full) }),
		stamp("TSIncrBy", "ts.incrby k 1.5", func(c commander) Cmder { return c.TSIncrBy(bg, "k", 1.5) }),
		stamp("TSIncrByWithArgs", "ts.incrby k 1 "+incrLike, func(c commander) Cmder { return c.TSIncrByWithArgs(bg, "k", 1, incr) }),
		stamp("TSDecrBy", "ts.decrby k 1.5", func(c commander) Cmder { return c.TSDecrBy(bg, "k", 1.5) }),
		stamp("TSDecrByWithArgs", "ts.decrby k 1 "+incrLike, func(c commander) Cmder { return c.TSDecrByWithArgs(bg, "k", 1, incr) }),
		stamp("TSDel", "ts.del k 0 10", func(c commander) Cmder { return c.TSDel(bg, "k", 0, 10) }),
		{name: "TSMAdd", call: func(c commander) Cmder {
			return c.TSMAdd(bg, [][]any{{"a", 1, 1.5}, {"b", "*", 2}})
		}, args: "ts.madd a 1 1.5 b * 2", want: []int64{1, 1000}, r2: frameInts(1, 1000)},
		{name: "TSMAdd/refused", call: func(c commander) Cmder { return c.TSMAdd(bg, [][]any{{"a", 1, 1}, {"b", 2, 2}}) }, args: "ts.madd a 1 1 b 2 2", want: errors.New("TSDB: "), r2: frameList(frameInt(1), "-TSDB: the key does not exist\r\n")},
		ok("TSCreateRule", "ts.createrule a b AGGREGATION STD.P 60000", func(c commander) Cmder { return c.TSCreateRule(bg, "a", "b", StdP, 60000) }),
		ok("TSCreateRuleWithArgs", "ts.createrule a b AGGREGATION TWA 60000 30", func(c commander) Cmder {
			return c.TSCreateRuleWithArgs(bg, "a", "b", Twa, 60000, &TSCreateRuleOptions{AlignTimestamp: 30})
		}),
		ok("TSDeleteRule", "ts.deleterule a b", func(c commander) Cmder { return c.TSDeleteRule(bg, "a", "b") }),
		{name: "TSGet", call: func(c commander) Cmder { return c.TSGet(bg, "k") }, args: "ts.get k", want: TSTimestampValue{Timestamp: 5, Value: 1.5}, r2: frameSample2(5, "1.5"), r3: frameSample(5, 1.5)},
		{name: "TSGet/empty", call: func(c commander) Cmder { return c.TSGet(bg, "k") }, args: "ts.get k", want: TSTimestampValue{}, r2: frameList()},
		{name: "TSGetWithArgs", call: func(c commander) Cmder { return c.TSGetWithArgs(bg, "k", &TSGetOptions{Latest: true}) }, args: "ts.get k LATEST", want: func(v any) bool {
			s, ok := v.(TSTimestampValue)
			return ok && math.IsNaN(s.Value)
		}, r2: frameSample2(5, "NaN"), r3: frameSample(5, math.NaN())},
		{name: "TSInfo", call: func(c commander) Cmder { return c.TSInfo(bg, "k") }, args: "ts.info k", want: wantInfo, r2: info2, r3: info},
		{name: "TSInfoWithArgs", call: func(c commander) Cmder { return c.TSInfoWithArgs(bg, "k", &TSInfoOptions{Debug: true}) }, args: "ts.info k DEBUG", want: wantInfo, r2: info2, r3: info},
		{name: "TSQueryIndex", call: func(c commander) Cmder { return c.TSQueryIndex(bg, []string{"a=1", "b!="}) }, args: "ts.queryindex a=1 b!=", want: []string{"k", "l"}, r2: frameBulks("k", "l"), r3: frameSet(framesOf("k", "l")...)},
		{name: "TSQueryLabels", call: func(c commander) Cmder { return c.TSQueryLabels(bg, nil) }, args: "ts.querylabels LABELS", want: []string{"a"}, r2: frameBulks("a"), r3: frameSet(framesOf("a")...)},
		{name: "TSQueryLabels/filter", call: func(c commander) Cmder { return c.TSQueryLabels(bg, []string{"a=1"}) }, args: "ts.querylabels LABELS FILTER a=1", want: []string{}, r2: frameList(), r3: frameSet()},
		{name: "TSQueryLabelValues", call: func(c commander) Cmder { return c.TSQueryLabelValues(bg, "a", []string{"a=1", "b=2"}) }, args: "ts.querylabels VALUES a FILTER a=1 b=2", want: []string{"1"}, r2: frameBulks("1"), r3: frameSet(framesOf("1")...)},
		{name: "TSRead", call: func(c commander) Cmder { return c.TSRead(bg, "k", TSReadEarliest) }, args: "ts.read k -", want: []TSTimestampValue{{Timestamp: 1, Value: 2}}, r2: frameList(frameSample2(1, "2")), r3: frameList(frameSample(1, 2))},
		{name: "TSReadWithArgs", call: func(c commander) Cmder {
			return c.TSReadWithArgs(bg, "k", 201, &TSReadOptions{MinCount: 9, MaxCount: 2})
		}, args: "ts.read k 201 MAX_COUNT 2", want: []TSTimestampValue{}, r2: frameList()},
		{name: "TSReadWithArgs/block", call: func(c commander) Cmder {
			return c.TSReadWithArgs(bg, "k", TSReadNew, &TSReadOptions{Block: true, Timeout: time.Second, MinCount: 2, MaxCount: 3})
		}, args: "ts.read k $ BLOCK 1000 2 MAX_COUNT 3", want: []TSTimestampValue{}, r2: frameList()},
		{name: "TSReadWithArgs/forever", call: func(c commander) Cmder {
			return c.TSReadWithArgs(bg, "k", TSReadLatest, &TSReadOptions{Block: true})
		}, args: "ts.read k + BLOCK 0 1", want: []TSTimestampValue{{Timestamp: 1, Value: 2}}, r2: frameList(frameSample2(1, "2")), r3: frameList(frameSample(1, 2))},
	}
}

func timeseriesRangeCases() []commandCase {
	two := []TSTimestampValue{{Timestamp: 1000, Value: 1.5}, {Timestamp: 2000, Value: -2}}
	two2 := frameList(frameSample2(1000, "1.5"), frameSample2(2000, "-2"))
	two3 := frameList(frameSample(1000, 1.5), frameSample(2000, -2))
	several := []TSTimestampValue{{Timestamp: 0, Value: 1, Values: []float64{1, 2, 3}}}
	all := TSRangeOptions{
		Latest: true, FilterByTS: []int{1000, 2000}, FilterByValue: []int{-5, 5}, Count: 9, Align: "start",
		Aggregator: Avg, BucketDuration: 100, BucketTimestamp: "mid", Empty: true,
	}
	allArgs := "LATEST FILTER_BY_TS 1000 2000 FILTER_BY_VALUE -5 5 COUNT 9 ALIGN start AGGREGATION AVG 100 BUCKETTIMESTAMP mid EMPTY"
	multi := TSMRangeOptions{
		Latest: true, FilterByTS: []int{1}, FilterByValue: []int{0, 1}, SelectedLabels: []any{"a", "b"}, Count: 2,
		Align: 7, Aggregators: []Aggregator{Min, Max}, BucketDuration: 10, BucketTimestamp: "+", Empty: true, ExcludeEmpty: true,
	}
	multiArgs := "LATEST FILTER_BY_TS 1 FILTER_BY_VALUE 0 1 SELECTED_LABELS a b COUNT 2 ALIGN 7 AGGREGATION MIN,MAX 10 BUCKETTIMESTAMP + EMPTY EXCLUDEEMPTY FILTER a=1"
	group := TSMRangeOptions{WithLabels: true, Aggregator: CountAll, BucketDuration: 10, GroupByLabel: "a", Reducer: Max}
	groupArgs := "WITHLABELS AGGREGATION COUNTALL 10 FILTER a=1 b=2 GROUPBY a REDUCE MAX"
	rows := []TSNRangePivotRow{{Timestamp: 1000, Values: []float64{10, 20}}, {Timestamp: 2000, Values: []float64{12, 0}}}
	rows2 := frameList(frameList(frameInt(1000), frameList(frameStatus("10"), frameStatus("20"))), frameList(frameInt(2000), frameList(frameStatus("12"), frameStatus("0"))))
	rows3 := frameList(frameList(frameInt(1000), frameList(frameDouble(10), frameDouble(20))), frameList(frameInt(2000), frameList(frameDouble(12), frameDouble(0))))
	pivot := TSNRangeOptions{
		Latest: true, FilterByTS: []int{1}, FilterByValue: []float64{0.5, 1.5}, Count: 2, Align: "-",
		Aggregators: [][]Aggregator{{Avg, Max}, {Sum}}, BucketDuration: 1000, BucketTimestamp: "~", Empty: true,
	}
	pivotArgs := "LATEST FILTER_BY_TS 1 FILTER_BY_VALUE 0.5 1.5 COUNT 2 ALIGN - AGGREGATION AVG,MAX SUM 1000 BUCKETTIMESTAMP ~ EMPTY"
	series2 := frameList(frameList(frameBulk("k"), frameList(frameBulks("a", "1")), frameList(frameSample2(5, "1.5"))))
	series3 := frameMap(frameBulk("k"), frameList(frameMap(framesOf("a", "1")...), frameMap(frameBulk("aggregators"), frameList()), frameList(frameSample(5, 1.5))))
	// wantSeries tells whether there is one series, with the last value in place.
	wantSeries := func(v any) bool {
		m, _ := v.(map[string][]any)
		if len(m) != 1 || len(m["k"]) < 2 {
			return false
		}
		last := fmt.Sprint(m["k"][len(m["k"])-1])
		return last == "[[5 1.5]]" || last == "[5 1.5]"
	}
	get2 := frameList(frameList(frameBulk("k"), frameList(), frameSample2(5, "1.5")))
	get3 := frameMap(frameBulk("k"), frameList(frameMap(), frameSample(5, 1.5)))
	return []commandCase{
		{name: "TSRange", call: func(c commander) Cmder { return c.TSRange(bg, "k", 0, math.MaxInt64) }, args: "ts.range k 0 9223372036854775807", want: two, r2: two2, r3: two3},
		{name: "TSRangeWithArgs", call: func(c commander) Cmder { return c.TSRangeWithArgs(bg, "k", 0, 5, &all) }, args: "ts.range k 0 5 " + allArgs, want: two, r2: two2, r3: two3},
		{name: "TSRangeWithArgs/several", call: func(c commander) Cmder {
			return c.TSRangeWithArgs(bg, "k", 0, 5, &TSRangeOptions{Aggregators: []Aggregator{Min, First, CountNaN}, BucketDuration: 10})
		}, args: "ts.range k 0 5 AGGREGATION MIN,FIRST,COUNTNAN 10", want: several, r2: frameList(frameSample2(0, "1", "2", "3")), r3: frameList(frameSample(0, 1, 2, 3))},
		{name: "TSRevRange", call: func(c commander) Cmder { return c.TSRevRange(bg, "k", 0, 5) }, args: "ts.revrange k 0 5", want: []TSTimestampValue{}, r2: frameList()},
		{name: "TSRevRangeWithArgs", call: func(c commander) Cmder {
			return c.TSRevRangeWithArgs(bg, "k", 0, 5, (*TSRevRangeOptions)(&all))
		}, args: "ts.revrange k 0 5 " + allArgs, want: two, r2: two2, r3: two3},
		{name: "TSMGet", call: func(c commander) Cmder { return c.TSMGet(bg, []string{"a=1"}) }, args: "ts.mget FILTER a=1", want: wantSeries, r2: get2, r3: get3},
		{name: "TSMGet/none", call: func(c commander) Cmder { return c.TSMGet(bg, []string{"a=1"}) }, args: "ts.mget FILTER a=1", want: map[string][]any{}, r2: frameList(), r3: frameMap()},
		{name: "TSMGetWithArgs", call: func(c commander) Cmder {
			return c.TSMGetWithArgs(bg, []string{"a=1", "b="}, &TSMGetOptions{Latest: true, WithLabels: true})
		}, args: "ts.mget LATEST WITHLABELS FILTER a=1 b=", want: wantSeries, r2: get2, r3: get3},
		{name: "TSMGetWithArgs/selected", call: func(c commander) Cmder {
			return c.TSMGetWithArgs(bg, []string{"a=1"}, &TSMGetOptions{SelectedLabels: []any{"a", "b"}})
		}, args: "ts.mget SELECTED_LABELS a b FILTER a=1", want: wantSeries, r2: get2, r3: get3},
		{name: "TSMRange", call: func(c commander) Cmder { return c.TSMRange(bg, 0, 5, []string{"a=1"}) }, args: "ts.mrange 0 5 FILTER a=1", want: wantSeries, r2: series2, r3: series3},
		{
			name: "TSMRange/shape", call: func(c commander) Cmder { return c.TSMRange(bg, 0, 5, []string{"a=1"}) }, args: "ts.mrange 0 5 FILTER a=1",
			want: map[string][]any{"k": {[]any{[]any{"a", nil}}, []any{[]any{int64(5), "1.5"}}}},
			r2:   frameList(frameList(frameBulk("k"), frameList(frameList(frameBulk("a"), frameNull2)), frameList(frameSample2(5, "1.5")))),
			r3:   frameMap(frameBulk("k"), frameList(frameList(frameList(frameBulk("a"), frameNull)), frameList(frameSample2(5, "1.5")))),
		},
		{name: "TSMRangeWithArgs", call: func(c commander) Cmder { return c.TSMRangeWithArgs(bg, 0, 5, []string{"a=1"}, &multi) }, args: "ts.mrange 0 5 " + multiArgs, want: wantSeries, r2: series2, r3: series3},
		{name: "TSMRangeWithArgs/group", call: func(c commander) Cmder {
			return c.TSMRangeWithArgs(bg, 0, 5, []string{"a=1", "b=2"}, &group)
		}, args: "ts.mrange 0 5 " + groupArgs, want: wantSeries, r2: series2, r3: series3},
		{name: "TSMRangeWithArgs/name", call: func(c commander) Cmder {
			return c.TSMRangeWithArgs(bg, 0, 5, []string{"a=1"}, &TSMRangeOptions{GroupByLabel: "a", Reducer: "sum"})
		}, args: "ts.mrange 0 5 FILTER a=1 GROUPBY a REDUCE sum", want: wantSeries, r2: series2, r3: series3},
		{name: "TSMRevRange", call: func(c commander) Cmder { return c.TSMRevRange(bg, 0, 5, []string{"a=1"}) }, args: "ts.mrevrange 0 5 FILTER a=1", want: wantSeries, r2: series2, r3: series3},
		{name: "TSMRevRangeWithArgs", call: func(c commander) Cmder {
			return c.TSMRevRangeWithArgs(bg, 0, 5, []string{"a=1"}, (*TSMRevRangeOptions)(&multi))
		}, args: "ts.mrevrange 0 5 " + multiArgs, want: wantSeries, r2: series2, r3: series3},
		{name: "TSNRange", call: func(c commander) Cmder { return c.TSNRange(bg, []string{"a", "b"}, "-", 5) }, args: "ts.nrange 2 a b - 5", want: rows, r2: rows2, r3: rows3},
		{name: "TSNRangeWithArgs", call: func(c commander) Cmder { return c.TSNRangeWithArgs(bg, []string{"a", "b"}, 0, "+", &pivot) }, args: "ts.nrange 2 a b 0 + " + pivotArgs, want: rows, r2: rows2, r3: rows3},
		{name: "TSNRevRange", call: func(c commander) Cmder { return c.TSNRevRange(bg, []string{"a"}, 0, 5) }, args: "ts.nrevrange 1 a 0 5", want: func(v any) bool {
			r, _ := v.([]TSNRangePivotRow)
			return len(r) == 1 && r[0].Timestamp == 1 && math.IsNaN(r[0].Values[0])
		}, r2: frameList(frameList(frameInt(1), frameList(frameStatus("NaN")))), r3: frameList(frameList(frameInt(1), frameList(frameNull)))},
		{name: "TSNRevRangeWithArgs", call: func(c commander) Cmder {
			return c.TSNRevRangeWithArgs(bg, []string{"a", "b"}, 0, "+", (*TSNRevRangeOptions)(&pivot))
		}, args: "ts.nrevrange 2 a b 0 + " + pivotArgs, want: rows, r2: rows2, r3: rows3},
	}
}

func TestTimeseriesRejectsWhatTheServerWouldRefuse(t *testing.T) {
	c := cmdable(none)
	rng := func(o TSRangeOptions) Cmder { return c.TSRangeWithArgs(bg, "k", 0, 1, &o) }
	mrange := func(o TSMRangeOptions) Cmder { return c.TSMRangeWithArgs(bg, 0, 1, []string{"a=1"}, &o) }
	nrange := func(lists ...[]Aggregator) Cmder {
		return c.TSNRangeWithArgs(bg, []string{"a", "b"}, 0, 1, &TSNRangeOptions{Aggregators: lists, BucketDuration: 1})
	}
	for _, cmd := range []Cmder{
		c.TSMAdd(bg, nil), c.TSMAdd(bg, [][]any{{"k", 1}}), c.TSMAdd(bg, [][]any{{}}),
		c.TSCreateRule(bg, "a", "b", Invalid, 1), c.TSCreateRule(bg, "a", "b", CountAll+1, 1), c.TSCreateRule(bg, "a", "b", -1, 1),
		rng(TSRangeOptions{FilterByValue: []int{1}}), rng(TSRangeOptions{FilterByValue: []int{1, 2, 3}}),
		rng(TSRangeOptions{Aggregator: Avg, Aggregators: []Aggregator{Max}}), rng(TSRangeOptions{Aggregators: []Aggregator{Max, Invalid}}),
		mrange(TSMRangeOptions{GroupByLabel: "a"}), mrange(TSMRangeOptions{Reducer: "sum"}),
		mrange(TSMRangeOptions{GroupByLabel: "a", Reducer: "sum", ExcludeEmpty: true}),
		mrange(TSMRangeOptions{GroupByLabel: "a", Reducer: "sum", Aggregators: []Aggregator{Min, Max}}),
		mrange(TSMRangeOptions{GroupByLabel: "a", Reducer: Invalid}),
		nrange([]Aggregator{Avg}), nrange([]Aggregator{Avg}, nil), nrange([]Aggregator{Avg}, []Aggregator{99}),
	} {
		if err := cmd.Err(); err == nil || DeliveryOf(err) != NotSent || !strings.Contains(err.Error(), "ts.") {
			t.Errorf("%v: got %v, want an error that names the command before it is sent", cmd.Args(), err)
		}
	}
}

func TestTimeseriesRefusesOddSamples(t *testing.T) {
	c := cmdable(none)
	for frame, cmd := range map[string]Cmder{
		frameInts(1):                                          c.TSGet(bg, "k"),
		frameList(frameInts(1)):                               c.TSRange(bg, "k", 0, 1),
		frameList(frameSample2(1, "much")):                    c.TSRange(bg, "k", 0, 1),
		frameList(frameSample2(1, "1", "much")):               c.TSRange(bg, "k", 0, 1),
		frameList(frameList()):                                c.TSRange(bg, "k", 0, 1),
		frameList(frameList(frameInt(1))):                     c.TSNRange(bg, []string{"k"}, 0, 1),
		frameList(frameList(frameInt(1), frameInt(1))):        c.TSNRange(bg, []string{"k"}, 0, 1),
		frameList(frameList(frameInt(1), frameBulks("much"))): c.TSNRange(bg, []string{"k"}, 0, 1),
		frameList(frameList()) + "x":                          c.TSMGet(bg, []string{"a=1"}),
		frameList(frameBulk("k")):                             c.TSMGet(bg, []string{"a=1"}),
		frameMap(frameBulk("k"), frameInt(1)):                 c.TSMGet(bg, []string{"a=1"}),
	} {
		feed(cmd, frame)
		if err := cmd.Err(); err == nil || !strings.Contains(err.Error(), cmd.Name()) {
			t.Errorf("%q: got %v, want an error that names %s", frame, err, cmd.Name())
		}
	}
}

func TestTimeseriesShowsSamples(t *testing.T) {
	for want, v := range map[string]TSTimestampValue{
		"{5 1.5}":     {Timestamp: 5, Value: 1.5},
		"{5 [1.5 2]}": {Timestamp: 5, Value: 1.5, Values: []float64{1.5, 2}},
	} {
		if got := v.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := Aggregator(99).String() + Aggregator(-1).String() + Invalid.String(); got != "" {
		t.Errorf("what is no aggregator is called %q", got)
	}
}

func TestTSReadBlocksOnlyIfAsked(t *testing.T) {
	for line, want := range map[string]laneKind{
		"ts.read k 0": laneShared, "ts.read k 0 max_count 1": laneShared, "TS.READ k 0 BLOCK 0 1": laneExclusive,
	} {
		if got := NewCmd(bg, words(line)...).lane; got != want {
			t.Errorf("%s: got lane %v, want %v", line, got, want)
		}
	}
}
