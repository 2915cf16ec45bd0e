package redis

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// A sketchCall is a case in short: a method, its words, and the reply, which is the same
// with both protocols unless r3 is given.
type sketchCall struct {
	name, args string
	call       func(c commander) Cmder
	want       any
	r2, r3     string
}

func (s sketchCall) commandCase() commandCase {
	return commandCase{name: s.name, args: s.args, call: s.call, want: s.want, r2: s.r2, r3: s.r3}
}

// frameInfo2 and frameInfo are names and numbers with RESP2 and RESP3; a negative number
// stands for a null.
func frameInfo2(numbers ...any) string { return frameList(frameFields(frameNull2, numbers)...) }
func frameInfo(numbers ...any) string  { return frameMap(frameFields(frameNull, numbers)...) }

func frameFields(null string, numbers []any) []string {
	var fields []string
	for i := 0; i < len(numbers); i += 2 {
		value := null
		if n := numbers[i+1].(int); n >= 0 {
			value = frameInt(int64(n))
		}
		fields = append(fields, frameStatus(numbers[i].(string)), value)
	}
	return fields
}

func bloomCases() []commandCase {
	created := &BFInsertOptions{Capacity: 10, Error: 0.5, Expansion: 2, NonScaling: true, NoCreate: true}
	numbers := []any{"Capacity", 100, "Size", 240, "Number of filters", 1, "Number of items inserted", 7, "Expansion rate", -1, "Something new", 5}
	info := BFInfo{Capacity: 100, Size: 240, Filters: 1, ItemsInserted: 7}
	yes2, yes3 := frameInt(1), "#t\r\n"
	list2, list3 := frameInts(1, 0), frameList("#t\r\n", "#f\r\n")
	return mapped([]sketchCall{
		{"BFReserve", "bf.reserve k 0.01 100", func(c commander) Cmder { return c.BFReserve(bg, "k", 0.01, 100) }, "OK", frameOK, ""},
		{"BFReserve/exists", "bf.reserve k 0.01 100", func(c commander) Cmder { return c.BFReserve(bg, "k", 0.01, 100) }, errors.New("ERR item exists"), "-ERR item exists\r\n", ""},
		{"BFReserveExpansion", "bf.reserve k 0.01 100 EXPANSION 4", func(c commander) Cmder { return c.BFReserveExpansion(bg, "k", 0.01, 100, 4) }, "OK", frameOK, ""},
		{"BFReserveNonScaling", "bf.reserve k 0.01 100 NONSCALING", func(c commander) Cmder { return c.BFReserveNonScaling(bg, "k", 0.01, 100) }, "OK", frameOK, ""},
		{"BFReserveWithArgs", "bf.reserve k 0.5 9 EXPANSION 3 NONSCALING", func(c commander) Cmder {
			return c.BFReserveWithArgs(bg, "k", &BFReserveOptions{Capacity: 9, Error: 0.5, Expansion: 3, NonScaling: true})
		}, "OK", frameOK, ""},
		{"BFAdd", "bf.add k 5", func(c commander) Cmder { return c.BFAdd(bg, "k", 5) }, true, yes2, yes3},
		{"BFAdd/known", "bf.add k a", func(c commander) Cmder { return c.BFAdd(bg, "k", "a") }, false, frameInt(0), "#f\r\n"},
		{"BFMAdd", "bf.madd k a 1", func(c commander) Cmder { return c.BFMAdd(bg, "k", "a", 1) }, []bool{true, false}, list2, list3},
		{"BFMAdd/full", "bf.madd k a b", func(c commander) Cmder { return c.BFMAdd(bg, "k", "a", "b") }, errors.New("ERR non scaling filter is full"), frameList(frameInt(1), "-ERR non scaling filter is full\r\n"), ""},
		{"BFInsert", "bf.insert k CAPACITY 10 ERROR 0.5 EXPANSION 2 NOCREATE NONSCALING ITEMS a b", func(c commander) Cmder { return c.BFInsert(bg, "k", created, "a", "b") }, []bool{true, false}, list2, list3},
		{"BFInsert/plain", "bf.insert k ITEMS a", func(c commander) Cmder { return c.BFInsert(bg, "k", nil, "a") }, []bool{true}, frameInts(1), frameList("#t\r\n")},
		{"BFExists", "bf.exists k a", func(c commander) Cmder { return c.BFExists(bg, "k", "a") }, true, yes2, yes3},
		{"BFMExists", "bf.mexists k a b", func(c commander) Cmder { return c.BFMExists(bg, "k", "a", "b") }, []bool{true, false}, list2, list3},
		{"BFCard", "bf.card k", func(c commander) Cmder { return c.BFCard(bg, "k") }, int64(7), frameInt(7), ""},
		{"BFInfo", "bf.info k", func(c commander) Cmder { return c.BFInfo(bg, "k") }, info, frameInfo2(numbers...), frameInfo(numbers...)},
		{"BFInfoArg", "bf.info k items", func(c commander) Cmder { return c.BFInfoArg(bg, "k", "items") }, BFInfo{ItemsInserted: 7}, frameInts(7), frameInfo("Number of items inserted", 7)},
		{"BFInfoCapacity", "bf.info k CAPACITY", func(c commander) Cmder { return c.BFInfoCapacity(bg, "k") }, BFInfo{Capacity: 7}, frameInts(7), frameInfo("Capacity", 7)},
		{"BFInfoSize", "bf.info k SIZE", func(c commander) Cmder { return c.BFInfoSize(bg, "k") }, BFInfo{Size: 7}, frameInts(7), frameInfo("Size", 7)},
		{"BFInfoFilters", "bf.info k FILTERS", func(c commander) Cmder { return c.BFInfoFilters(bg, "k") }, BFInfo{Filters: 7}, frameInts(7), frameInfo("Number of filters", 7)},
		{"BFInfoItems", "bf.info k ITEMS", func(c commander) Cmder { return c.BFInfoItems(bg, "k") }, BFInfo{ItemsInserted: 7}, frameInts(7), frameInfo("Number of items inserted", 7)},
		{"BFInfoExpansion", "bf.info k EXPANSION", func(c commander) Cmder { return c.BFInfoExpansion(bg, "k") }, BFInfo{ExpansionRate: 2}, frameInts(2), frameInfo("Expansion rate", 2)},
		{"BFInfoExpansion/none", "bf.info k EXPANSION", func(c commander) Cmder { return c.BFInfoExpansion(bg, "k") }, BFInfo{}, frameList(frameNull2), frameList(frameNull)},
		{"BFScanDump", "bf.scandump k 0", func(c commander) Cmder { return c.BFScanDump(bg, "k", 0) }, ScanDump{Iter: 1, Data: "\x01\r\n\x00"}, frameList(frameInt(1), frameBulk("\x01\r\n\x00")), ""},
		{"BFScanDump/end", "bf.scandump k 9", func(c commander) Cmder { return c.BFScanDump(bg, "k", 9) }, ScanDump{}, frameList(frameInt(0), frameNull2), frameList(frameInt(0), frameNull)},
		{"BFLoadChunk", "bf.loadchunk k 1 data", func(c commander) Cmder { return c.BFLoadChunk(bg, "k", 1, []byte("data")) }, "OK", frameOK, ""},
	}, sketchCall.commandCase)
}

func cuckooCases() []commandCase {
	numbers := []any{"Size", 1080, "Number of buckets", 512, "Number of filters", 1, "Number of items inserted", 4, "Number of items deleted", 3, "Bucket size", 2, "Expansion rate", 1, "Max iterations", 20}
	older := []any{"Size", 1080, "Number of buckets", 512, "Number of filter", 1, "Number of items inserted", 4, "Number of items deleted", 3, "Bucket size", 2, "Expansion rate", 1, "Max iteration", 20}
	info := CFInfo{Size: 1080, NumBuckets: 512, NumFilters: 1, NumItemsInserted: 4, NumItemsDeleted: 3, BucketSize: 2, ExpansionRate: 1, MaxIteration: 20}
	yes2, yes3 := frameInt(1), "#t\r\n"
	list2, list3 := frameInts(1, 0), frameList("#t\r\n", "#f\r\n")
	return mapped([]sketchCall{
		{"CFReserve", "cf.reserve k 100", func(c commander) Cmder { return c.CFReserve(bg, "k", 100) }, "OK", frameOK, ""},
		{"CFReserveBucketSize", "cf.reserve k 100 BUCKETSIZE 3", func(c commander) Cmder { return c.CFReserveBucketSize(bg, "k", 100, 3) }, "OK", frameOK, ""},
		{"CFReserveMaxIterations", "cf.reserve k 100 MAXITERATIONS 3", func(c commander) Cmder { return c.CFReserveMaxIterations(bg, "k", 100, 3) }, "OK", frameOK, ""},
		{"CFReserveExpansion", "cf.reserve k 100 EXPANSION 3", func(c commander) Cmder { return c.CFReserveExpansion(bg, "k", 100, 3) }, "OK", frameOK, ""},
		{"CFReserveWithArgs", "cf.reserve k 9 BUCKETSIZE 1 MAXITERATIONS 2 EXPANSION 3", func(c commander) Cmder {
			return c.CFReserveWithArgs(bg, "k", &CFReserveOptions{Capacity: 9, BucketSize: 1, MaxIterations: 2, Expansion: 3})
		}, "OK", frameOK, ""},
		{"CFAdd", "cf.add k a", func(c commander) Cmder { return c.CFAdd(bg, "k", "a") }, true, yes2, yes3},
		{"CFAddNX", "cf.addnx k a", func(c commander) Cmder { return c.CFAddNX(bg, "k", "a") }, false, frameInt(0), "#f\r\n"},
		{"CFInsert", "cf.insert k CAPACITY 9 NOCREATE ITEMS a 1", func(c commander) Cmder {
			return c.CFInsert(bg, "k", &CFInsertOptions{Capacity: 9, NoCreate: true}, "a", 1)
		}, []bool{true, false}, frameInts(1, -1), frameList("#t\r\n", frameInt(-1))},
		{"CFInsert/plain", "cf.insert k ITEMS a b", func(c commander) Cmder { return c.CFInsert(bg, "k", nil, "a", "b") }, []bool{true, false}, list2, list3},
		{"CFInsertNX", "cf.insertnx k CAPACITY 9 ITEMS a b c", func(c commander) Cmder {
			return c.CFInsertNX(bg, "k", &CFInsertOptions{Capacity: 9}, "a", "b", "c")
		}, []int64{1, 0, -1}, frameInts(1, 0, -1), frameList("#t\r\n", "#f\r\n", frameInt(-1))},
		{"CFExists", "cf.exists k a", func(c commander) Cmder { return c.CFExists(bg, "k", "a") }, true, yes2, yes3},
		{"CFMExists", "cf.mexists k a b", func(c commander) Cmder { return c.CFMExists(bg, "k", "a", "b") }, []bool{true, false}, list2, list3},
		{"CFCount", "cf.count k a", func(c commander) Cmder { return c.CFCount(bg, "k", "a") }, int64(2), frameInt(2), ""},
		{"CFDel", "cf.del k a", func(c commander) Cmder { return c.CFDel(bg, "k", "a") }, true, yes2, yes3},
		{"CFInfo", "cf.info k", func(c commander) Cmder { return c.CFInfo(bg, "k") }, info, frameInfo2(numbers...), frameInfo(numbers...)},
		{"CFInfo/older", "cf.info k", func(c commander) Cmder { return c.CFInfo(bg, "k") }, info, frameInfo2(older...), frameInfo(append(older, "More", 1)...)},
		{"CFScanDump", "cf.scandump k 0", func(c commander) Cmder { return c.CFScanDump(bg, "k", 0) }, ScanDump{Iter: 1, Data: "d"}, frameList(frameInt(1), frameBulk("d")), ""},
		{"CFLoadChunk", "cf.loadchunk k 1 d", func(c commander) Cmder { return c.CFLoadChunk(bg, "k", 1, "d") }, "OK", frameOK, ""},
	}, sketchCall.commandCase)
}

func sketchCases() []commandCase {
	cms := []any{"width", 2000, "depth", 7, "count", 5, "cell size", 4}
	topk := []string{frameStatus("k"), frameInt(50), frameStatus("width"), frameInt(2000), frameStatus("depth"), frameInt(7), frameStatus("decay")}
	return mapped([]sketchCall{
		{"CMSInitByDim", "cms.initbydim k 2000 5", func(c commander) Cmder { return c.CMSInitByDim(bg, "k", 2000, 5) }, "OK", frameOK, ""},
		{"CMSInitByProb", "cms.initbyprob k 0.001 0.01", func(c commander) Cmder { return c.CMSInitByProb(bg, "k", 0.001, 0.01) }, "OK", frameOK, ""},
		{"CMSIncrBy", "cms.incrby k a 1 b 2", func(c commander) Cmder { return c.CMSIncrBy(bg, "k", "a", 1, "b", 2) }, []int64{1, 2}, frameInts(1, 2), ""},
		{"CMSQuery", "cms.query k a b", func(c commander) Cmder { return c.CMSQuery(bg, "k", "a", "b") }, []int64{1, 0}, frameInts(1, 0), ""},
		{"CMSMerge", "cms.merge d 2 a b", func(c commander) Cmder { return c.CMSMerge(bg, "d", "a", "b") }, "OK", frameOK, ""},
		{"CMSMergeWithWeight", "cms.merge d 2 a b WEIGHTS 3 2", func(c commander) Cmder {
			return c.CMSMergeWithWeight(bg, "d", map[string]int64{"b": 2, "a": 3})
		}, "OK", frameOK, ""},
		{"CMSInfo", "cms.info k", func(c commander) Cmder { return c.CMSInfo(bg, "k") }, CMSInfo{Width: 2000, Depth: 7, Count: 5, CellSize: 4}, frameInfo2(cms...), frameInfo(cms...)},
		{"CMSInfo/older", "cms.info k", func(c commander) Cmder { return c.CMSInfo(bg, "k") }, CMSInfo{Width: 2000, Depth: 7, Count: 5}, frameInfo2(cms[:6]...), frameInfo("new", 3, "width", 2000, "depth", 7, "count", 5)},
		{"TopKReserve", "topk.reserve k 50", func(c commander) Cmder { return c.TopKReserve(bg, "k", 50) }, "OK", frameOK, ""},
		{"TopKReserveWithOptions", "topk.reserve k 50 2000 7 0.925", func(c commander) Cmder { return c.TopKReserveWithOptions(bg, "k", 50, 2000, 7, 0.925) }, "OK", frameOK, ""},
		{"TopKAdd", "topk.add k a 1", func(c commander) Cmder { return c.TopKAdd(bg, "k", "a", 1) }, []string{"", "x"}, frameList(frameNull2, frameBulk("x")), frameList(frameNull, frameBulk("x"))},
		{"TopKIncrBy", "topk.incrby k a 3", func(c commander) Cmder { return c.TopKIncrBy(bg, "k", "a", 3) }, []string{""}, frameList(frameNull2), frameList(frameNull)},
		{"TopKQuery", "topk.query k a b", func(c commander) Cmder { return c.TopKQuery(bg, "k", "a", "b") }, []bool{true, false}, frameInts(1, 0), frameList("#t\r\n", "#f\r\n")},
		{"TopKCount", "topk.count k a b", func(c commander) Cmder { return c.TopKCount(bg, "k", "a", "b") }, []int64{3, 0}, frameInts(3, 0), ""},
		{"TopKList", "topk.list k", func(c commander) Cmder { return c.TopKList(bg, "k") }, []string{"a", "b"}, frameBulks("a", "b"), ""},
		{"TopKListWithCount", "topk.list k WITHCOUNT", func(c commander) Cmder { return c.TopKListWithCount(bg, "k") }, map[string]int64{"a": 12, "b": 7}, frameList(frameBulk("a"), frameInt(12), frameBulk("b"), frameInt(7)), ""},
		{"TopKInfo", "topk.info k", func(c commander) Cmder { return c.TopKInfo(bg, "k") }, TopKInfo{K: 50, Width: 2000, Depth: 7, Decay: 0.925}, frameList(append(topk, frameStatus("0.92500000000000004"))...), frameMap(append(topk, frameDouble(0.925), frameStatus("new"), frameInts(1))...)},
	}, sketchCall.commandCase)
}

func tdigestCases() []commandCase {
	isNaN := func(v any) bool { f, ok := v.(float64); return ok && math.IsNaN(f) }
	numbers := []any{"Compression", 100, "Capacity", 610, "Merged nodes", 1, "Unmerged nodes", 5, "Merged weight", 2, "Unmerged weight", 6, "Observations", 8, "Total compressions", 3, "Memory usage", 9768, "More", 1}
	info := TDigestInfo{
		Compression: 100, Capacity: 610, MergedNodes: 1, UnmergedNodes: 5, MergedWeight: 2, UnmergedWeight: 6,
		Observations: 8, TotalCompressions: 3, MemoryUsage: 9768,
	}
	floats2, floats3 := frameBulks("0.5", "inf"), frameList(frameDouble(0.5), ",inf\r\n")
	floats := []float64{0.5, math.Inf(1)}
	return mapped([]sketchCall{
		{"TDigestCreate", "tdigest.create k", func(c commander) Cmder { return c.TDigestCreate(bg, "k") }, "OK", frameOK, ""},
		{"TDigestCreateWithCompression", "tdigest.create k COMPRESSION 200", func(c commander) Cmder { return c.TDigestCreateWithCompression(bg, "k", 200) }, "OK", frameOK, ""},
		{"TDigestAdd", "tdigest.add k 1 -2.5", func(c commander) Cmder { return c.TDigestAdd(bg, "k", 1, -2.5) }, "OK", frameOK, ""},
		{"TDigestReset", "tdigest.reset k", func(c commander) Cmder { return c.TDigestReset(bg, "k") }, "OK", frameOK, ""},
		{"TDigestMerge", "tdigest.merge d 2 a b COMPRESSION 9 OVERRIDE", func(c commander) Cmder {
			return c.TDigestMerge(bg, "d", &TDigestMergeOptions{Compression: 9, Override: true}, "a", "b")
		}, "OK", frameOK, ""},
		{"TDigestMerge/plain", "tdigest.merge d 1 a", func(c commander) Cmder { return c.TDigestMerge(bg, "d", nil, "a") }, "OK", frameOK, ""},
		{"TDigestMin", "tdigest.min k", func(c commander) Cmder { return c.TDigestMin(bg, "k") }, -1.5, frameBulk("-1.5"), frameDouble(-1.5)},
		{"TDigestMax", "tdigest.max k", func(c commander) Cmder { return c.TDigestMax(bg, "k") }, isNaN, frameBulk("nan"), ",nan\r\n"},
		{"TDigestQuantile", "tdigest.quantile k 0 0.5", func(c commander) Cmder { return c.TDigestQuantile(bg, "k", 0, 0.5) }, floats, floats2, floats3},
		{"TDigestCDF", "tdigest.cdf k 1 2.5", func(c commander) Cmder { return c.TDigestCDF(bg, "k", 1, 2.5) }, floats, floats2, floats3},
		{"TDigestRank", "tdigest.rank k 1 2.5", func(c commander) Cmder { return c.TDigestRank(bg, "k", 1, 2.5) }, []int64{-1, 3}, frameInts(-1, 3), ""},
		{"TDigestRevRank", "tdigest.revrank k 1", func(c commander) Cmder { return c.TDigestRevRank(bg, "k", 1) }, []int64{-2}, frameInts(-2), ""},
		{"TDigestByRank", "tdigest.byrank k 0 18446744073709551615", func(c commander) Cmder { return c.TDigestByRank(bg, "k", 0, math.MaxUint64) }, floats, floats2, floats3},
		{"TDigestByRevRank", "tdigest.byrevrank k 0 1", func(c commander) Cmder { return c.TDigestByRevRank(bg, "k", 0, 1) }, floats, floats2, floats3},
		{"TDigestTrimmedMean", "tdigest.trimmed_mean k 0.1 0.9", func(c commander) Cmder { return c.TDigestTrimmedMean(bg, "k", 0.1, 0.9) }, 2.5, frameBulk("2.5"), frameDouble(2.5)},
		{"TDigestInfo", "tdigest.info k", func(c commander) Cmder { return c.TDigestInfo(bg, "k") }, info, frameInfo2(numbers...), frameInfo(numbers...)},
	}, sketchCall.commandCase)
}

func TestFiltersAreDumpedByPrimaries(t *testing.T) {
	c := cmdable(none)
	for _, cmd := range []Cmder{c.BFScanDump(bg, "k", 0), c.CFScanDump(bg, "k", 0)} {
		if b := cmd.base(); b.flags()&flagRead != 0 || !b.isIdempotent() {
			t.Errorf("%s: it may be sent twice, but not to a replica", cmd.Name())
		}
	}
}

func TestFiltersNeedOptions(t *testing.T) {
	c := cmdable(none)
	for _, cmd := range []Cmder{c.BFReserveWithArgs(bg, "k", nil), c.CFReserveWithArgs(bg, "k", nil)} {
		if err := cmd.Err(); err == nil || DeliveryOf(err) != NotSent || !strings.Contains(err.Error(), "f.reserve") {
			t.Errorf("%v: got %v, want an error that names the command before it is sent", cmd.Args(), err)
		}
	}
}

func TestFiltersRefuseOddReplies(t *testing.T) {
	c := cmdable(none)
	for frame, cmd := range map[string]Cmder{
		frameInts(7):                         c.BFInfo(bg, "k"), // it did not ask for one number
		frameInts(8):                         c.BFInfoArg(bg, "k", "COLOUR"),
		frameBulks("many"):                   c.BFInfoSize(bg, "k"),
		frameBulks("Size", "many"):           c.CFInfo(bg, "k"),
		frameInts(1, 2, 3):                   c.CMSInfo(bg, "k"),
		frameBulks("decay", "some"):          c.TopKInfo(bg, "k"),
		frameInts(1):                         c.BFScanDump(bg, "k", 0),
		frameInts(1, 2, 4):                   c.CFScanDump(bg, "k", 0),
		frameList(frameBulk("x")):            c.CFScanDump(bg, "k", 0),
		frameList(frameInt(1), frameInts(1)): c.BFScanDump(bg, "k", 0),
	} {
		feed(cmd, frame)
		if err := cmd.Err(); err == nil || !strings.Contains(err.Error(), cmd.Name()+": unexpected reply") {
			t.Errorf("%q: got %v, want an error that names %s", frame, err, cmd.Name())
		}
	}
}
