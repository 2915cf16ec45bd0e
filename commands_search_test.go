package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// frame is a reply in short: words that are headers (*2, %1, ~1) or values with their
// kind (:1, ,1.5, +OK, -ERR, _, NIL, NILS) as they are, and all others as bulk strings; '
// begins one that looks like something else, and ^ is a space. There is no server with
// the module: these are the shapes that its documentation and its own tests show.
func frame(words string) string {
	var b strings.Builder
	for w := range strings.FieldsSeq(words) {
		switch {
		case w == "NIL":
			b.WriteString("$-1\r\n")
		case w == "NILS":
			b.WriteString("*-1\r\n")
		case w == "_", strings.ContainsRune("*%~:,+-", rune(w[0])) && len(w) > 1:
			b.WriteString(strings.ReplaceAll(w, "^", " ") + "\r\n")
		default:
			w = strings.ReplaceAll(strings.TrimPrefix(w, "'"), "^", " ")
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	return b.String()
}

// searchCase is a case of a command that no server of the tests knows. Without r3 the
// reply is the same in RESP3.
func searchCase(name, args, r2, r3 string, want any, call func(c commander) Cmder) commandCase {
	return commandCase{name: name, args: args, want: want, call: call, unfit: true, r2: frame(r2), r3: frame(r3)}
}

func searchIndexCases() []commandCase {
	names := []string{"b", "a"}
	return []commandCase{
		searchCase("FT_List", "ft._list", "*2 b a", "~2 +b +a", names, func(c commander) Cmder { return c.FT_List(bg) }),
		searchCase("FTAliasAdd", "ft.aliasadd a i", "+OK", "", "OK", func(c commander) Cmder { return c.FTAliasAdd(bg, "i", "a") }),
		searchCase("FTAliasDel", "ft.aliasdel a", "+OK", "", "OK", func(c commander) Cmder { return c.FTAliasDel(bg, "a") }),
		searchCase("FTAliasList", "ft.aliaslist i", "*2 b a", "~2 b a", names, func(c commander) Cmder { return c.FTAliasList(bg, "i") }),
		searchCase("FTAliasUpdate", "ft.aliasupdate a i", "+OK", "", "OK", func(c commander) Cmder { return c.FTAliasUpdate(bg, "i", "a") }),
		searchCase("FTAlter", "ft.alter i SCHEMA ADD f NUMERIC", "+OK", "", "OK", func(c commander) Cmder {
			return c.FTAlter(bg, "i", false, []any{"f", "NUMERIC"})
		}),
		searchCase("FTAlter/skip", "ft.alter i SKIPINITIALSCAN SCHEMA ADD f TEXT WEIGHT 2", "+OK", "", "OK", func(c commander) Cmder {
			return c.FTAlter(bg, "i", true, []any{"f", "TEXT", "WEIGHT", 2})
		}),
		searchCase("FTConfigGet", "ft.config GET *", "*2 *2 TIMEOUT 500 *2 EXTLOAD NIL", "%2 TIMEOUT 500 EXTLOAD _",
			map[string]any{"TIMEOUT": "500", "EXTLOAD": nil}, func(c commander) Cmder { return c.FTConfigGet(bg, "*") }),
		searchCase("FTConfigGet/none", "ft.config GET x", "*0", "%0", map[string]any{}, func(c commander) Cmder { return c.FTConfigGet(bg, "x") }),
		searchCase("FTConfigSet", "ft.config SET TIMEOUT 5", "+OK", "", "OK", func(c commander) Cmder { return c.FTConfigSet(bg, "TIMEOUT", 5) }),
		searchCase("FTDictAdd", "ft.dictadd d a 1", ":2", "", int64(2), func(c commander) Cmder { return c.FTDictAdd(bg, "d", "a", 1) }),
		searchCase("FTDictDel", "ft.dictdel d a", ":1", "", int64(1), func(c commander) Cmder { return c.FTDictDel(bg, "d", "a") }),
		searchCase("FTDictDump", "ft.dictdump d", "*2 b a", "~2 b a", names, func(c commander) Cmder { return c.FTDictDump(bg, "d") }),
		searchCase("FTDropIndex", "ft.dropindex i", "+OK", "", "OK", func(c commander) Cmder { return c.FTDropIndex(bg, "i") }),
		searchCase("FTDropIndexWithArgs", "ft.dropindex i DD", "+OK", "", "OK", func(c commander) Cmder {
			return c.FTDropIndexWithArgs(bg, "i", &FTDropIndexOptions{DeleteDocs: true})
		}),
		searchCase("FTDropIndexWithArgs/none", "ft.dropindex i", "+OK", "", "OK", func(c commander) Cmder {
			return c.FTDropIndexWithArgs(bg, "i", &FTDropIndexOptions{})
		}),
		searchCase("FTExplain", "ft.explain i q", "UNION^{}", "", "UNION {}", func(c commander) Cmder { return c.FTExplain(bg, "i", "q") }),
		searchCase("FTExplainWithArgs", "ft.explain i q DIALECT 3", "UNION", "", "UNION", func(c commander) Cmder {
			return c.FTExplainWithArgs(bg, "i", "q", &FTExplainOptions{Dialect: "3"})
		}),
		searchCase("FTExplainWithArgs/default", "ft.explain i q DIALECT 2", "UNION", "", "UNION", func(c commander) Cmder {
			return c.FTExplainWithArgs(bg, "i", "q", &FTExplainOptions{})
		}),
		searchCase("FTTagVals", "ft.tagvals i f", "*2 b a", "~2 b a", names, func(c commander) Cmder { return c.FTTagVals(bg, "i", "f") }),
		searchCase("FTSynUpdate", "ft.synupdate i 5 a b", "+OK", "", "OK", func(c commander) Cmder {
			return c.FTSynUpdate(bg, "i", 5, []any{"a", "b"})
		}),
		searchCase("FTSynUpdateWithArgs", "ft.synupdate i g SKIPINITIALSCAN a b", "+OK", "", "OK", func(c commander) Cmder {
			return c.FTSynUpdateWithArgs(bg, "i", "g", &FTSynUpdateOptions{SkipInitialScan: true}, []any{"a", "b"})
		}),
		searchCase("FTSynDump", "ft.syndump i", "*4 baby *1 g2 child *2 g1 g2", "%2 baby *1 g2 child *2 g1 g2",
			[]FTSynDumpResult{{"baby", []string{"g2"}}, {"child", []string{"g1", "g2"}}},
			func(c commander) Cmder { return c.FTSynDump(bg, "i") }),
		searchCase("FTSynDump/none", "ft.syndump i", "*0", "%0", []FTSynDumpResult{}, func(c commander) Cmder { return c.FTSynDump(bg, "i") }),
		searchCase("FTSpellCheck", "ft.spellcheck i held", "*2 *3 TERM held *2 *2 0.75 hello *2 0.25 help *3 TERM xx *0",
			"%1 results %2 held *2 %1 hello ,0.75 %1 help ,0.25 xx *0",
			[]SpellCheckResult{{"held", []SpellCheckSuggestion{{0.75, "hello"}, {0.25, "help"}}}, {"xx", []SpellCheckSuggestion{}}},
			func(c commander) Cmder { return c.FTSpellCheck(bg, "i", "held") }),
		searchCase("FTSpellCheck/none", "ft.spellcheck i q", "*0", "%1 results %0", []SpellCheckResult{},
			func(c commander) Cmder { return c.FTSpellCheck(bg, "i", "q") }),
		searchCase("FTSpellCheckWithArgs", "ft.spellcheck i q DISTANCE 2 TERMS EXCLUDE d x DIALECT 3", "*0", "%1 results %0", []SpellCheckResult{}, func(c commander) Cmder {
			return c.FTSpellCheckWithArgs(bg, "i", "q", &FTSpellCheckOptions{
				Distance: 2, Dialect: 3, Terms: &FTSpellCheckTerms{Inclusion: "EXCLUDE", Dictionary: "d", Terms: []any{"x"}},
			})
		}),
		searchCase("FTSpellCheckWithArgs/defaults", "ft.spellcheck i q TERMS INCLUDE d DIALECT 2", "*0", "%1 results %0", []SpellCheckResult{}, func(c commander) Cmder {
			return c.FTSpellCheckWithArgs(bg, "i", "q", &FTSpellCheckOptions{Terms: &FTSpellCheckTerms{Dictionary: "d"}})
		}),
		searchCase("FTInfo", "ft.info i", infoReply(2), infoReply(3), infoWanted(), func(c commander) Cmder { return c.FTInfo(bg, "i") }),
		searchCase("FTInfo/unknown", "ft.info i", "*8 num_docs NIL gc_stats NIL newer *1 :1 attributes *0", "%4 num_docs _ gc_stats _ newer *1 :1 attributes *0",
			FTInfoResult{Attributes: []FTAttribute{}}, func(c commander) Cmder { return c.FTInfo(bg, "i") }),
	}
}

// infoReply is a reply of FT.INFO, with numbers that are all different.
func infoReply(proto int) string {
	head := func(pairs int) string {
		if proto == 2 {
			return fmt.Sprint("*", 2*pairs)
		}
		return fmt.Sprint("%", pairs)
	}
	double := func(f string) string { // a string in RESP2
		if proto == 2 {
			return f
		}
		return "," + f
	}
	var b strings.Builder
	pairs := 0
	add := func(name, value string) {
		pairs++
		fmt.Fprintf(&b, " %s %s", name, value)
	}
	add("index_name", "idx")
	add("index_options", "*2 NOFREQS NOHL")
	add("index_definition", head(4)+" key_type HASH prefixes *1 p: default_score "+double("0.5")+" indexes_all false")
	if proto == 2 {
		add("attributes", `*3
			*15 identifier $.t attribute t type TEXT WEIGHT 2 PHONETIC dm:en INDEXEMPTY NEWFLAG SORTABLE UNF NOSTEM
			*11 identifier g attribute g type TAG SEPARATOR ', WITHSUFFIXTRIE CASESENSITIVE NOINDEX
			*18 identifier v attribute v type VECTOR algorithm HNSW data_type FLOAT32 dim :4 distance_metric L2 M :16 ef_construction :200`)
	} else {
		add("attributes", `*3
			%6 identifier $.t attribute t type TEXT WEIGHT ,2 PHONETIC dm:en flags *5 INDEXEMPTY NEWFLAG SORTABLE UNF NOSTEM
			%5 identifier g attribute g type TAG SEPARATOR ', flags *3 WITHSUFFIXTRIE CASESENSITIVE NOINDEX
			%10 identifier v attribute v type VECTOR algorithm HNSW data_type FLOAT32 dim :4 distance_metric L2 M :16 ef_construction :200 flags *0`)
	}
	for i, name := range []string{
		"num_docs", "max_doc_id", "num_terms", "num_records", "total_inverted_index_blocks", "hash_indexing_failures",
		"total_indexing_time", "indexing", "number_of_uses", "cleaning",
	} {
		add(name, double(fmt.Sprint(i+1)))
	}
	for i, name := range []string{
		"inverted_sz_mb", "vector_index_sz_mb", "offset_vectors_sz_mb", "doc_table_size_mb", "sortable_values_size_mb", "key_table_size_mb",
		"geoshapes_sz_mb", "percent_indexed", "tag_overhead_sz_mb", "text_overhead_sz_mb", "total_index_memory_sz_mb",
	} {
		add(name, double(fmt.Sprint(i, ".5")))
	}
	add("records_per_doc_avg", double("2.5"))
	add("bytes_per_record_avg", double("nan"))
	add("offsets_per_term_avg", double("1.25"))
	add("offset_bits_per_record_avg", double("8"))
	add("gc_stats", head(8)+" bytes_collected "+double("1")+" total_ms_run "+double("2")+" total_cycles "+double("3")+" average_cycle_time_ms "+double("nan")+
		" last_run_time_ms "+double("4")+" gc_numeric_trees_missed "+double("5")+" gc_blocks_denied "+double("6")+" newer :7")
	add("cursor_stats", head(5)+" global_idle :1 global_total :2 index_capacity :128 index_total :3 newer :7")
	add("dialect_stats", head(2)+" dialect_1 :1 dialect_2 :2")
	add("Index^Errors", head(4)+" indexing^failures :1 last^indexing^error oops last^indexing^error^key k newer :1")
	add("field^statistics", "*1 "+head(4)+" identifier $.t attribute t newer :1 Index^Errors "+head(3)+
		" indexing^failures :2 last^indexing^error N/A last^indexing^error^key N/A")
	return head(pairs) + b.String()
}

// infoWanted is what infoReply says.
func infoWanted() FTInfoResult {
	return FTInfoResult{
		IndexName: "idx", IndexOptions: []string{"NOFREQS", "NOHL"},
		IndexDefinition: IndexDefinition{KeyType: "HASH", Prefixes: []string{"p:"}, DefaultScore: 0.5},
		Attributes: []FTAttribute{
			{Identifier: "$.t", Attribute: "t", Type: "TEXT", Weight: 2, PhoneticMatcher: "dm:en", Sortable: true, UNF: true, NoStem: true},
			{Identifier: "g", Attribute: "g", Type: "TAG", WithSuffixtrie: true, CaseSensitive: true, NoIndex: true},
			{Identifier: "v", Attribute: "v", Type: "VECTOR", Algorithm: "HNSW", DataType: "FLOAT32", Dim: 4, DistanceMetric: "L2", M: 16, EFConstruction: 200},
		},
		NumDocs: 1, MaxDocID: 2, NumTerms: 3, NumRecords: 4, TotalInvertedIndexBlocks: 5, HashIndexingFailures: 6,
		TotalIndexingTime: 7, Indexing: 8, NumberOfUses: 9, Cleaning: 10,
		InvertedSzMB: 0.5, VectorIndexSzMB: 1.5, OffsetVectorsSzMB: 2.5, DocTableSizeMB: 3.5, SortableValuesSizeMB: 4.5, KeyTableSizeMB: 5.5,
		GeoshapesSzMB: 6.5, PercentIndexed: 7.5, TagOverheadSzMB: 8.5, TextOverheadSzMB: 9.5, TotalIndexMemorySzMB: 10.5,
		RecordsPerDocAvg: "2.5", BytesPerRecordAvg: "nan", OffsetsPerTermAvg: "1.25", OffsetBitsPerRecordAvg: "8",
		GCStats:         GCStats{BytesCollected: 1, TotalMsRun: 2, TotalCycles: 3, AverageCycleTimeMs: "nan", LastRunTimeMs: 4, GCNumericTreesMissed: 5, GCBlocksDenied: 6},
		CursorStats:     CursorStats{GlobalIdle: 1, GlobalTotal: 2, IndexCapacity: 128, IndexTotal: 3},
		DialectStats:    map[string]int{"dialect_1": 1, "dialect_2": 2},
		IndexErrors:     IndexErrors{IndexingFailures: 1, LastIndexingError: "oops", LastIndexingErrorKey: "k"},
		FieldStatistics: []FieldStatistic{{Identifier: "$.t", Attribute: "t", IndexErrors: IndexErrors{IndexingFailures: 2, LastIndexingError: "N/A", LastIndexingErrorKey: "N/A"}}},
	}
}

func searchCreateCases() []commandCase {
	create := func(name, args string, options *FTCreateOptions, schema ...*FieldSchema) commandCase {
		return searchCase("FTCreate/"+name, "ft.create i "+args, "+OK", "", "OK", func(c commander) Cmder { return c.FTCreate(bg, "i", options, schema...) })
	}
	vector := func(name, args string, a FTVectorArgs) commandCase {
		return create(name, "SCHEMA v AS w VECTOR "+args+" INDEXMISSING", nil,
			&FieldSchema{FieldName: "v", As: "w", FieldType: SearchFieldTypeVector, VectorArgs: &a, IndexMissing: true})
	}
	text := &FieldSchema{FieldName: "t", FieldType: SearchFieldTypeText}
	return []commandCase{
		create("plain", "SCHEMA t TEXT", nil, text),
		create("empty", "SCHEMA t TEXT", &FTCreateOptions{}, text),
		create("json", "ON JSON STOPWORDS 0 SCHEMA $.n AS n NUMERIC t TEXT", &FTCreateOptions{OnJSON: true, StopWords: []any{}},
			&FieldSchema{FieldName: "$.n", As: "n", FieldType: SearchFieldTypeNumeric}, text),
		create("all", "ON HASH PREFIX 2 a: b: FILTER @x>1 LANGUAGE german LANGUAGE_FIELD lf SCORE 0.5 SCORE_FIELD sf PAYLOAD_FIELD pf MAXTEXTFIELDS NOOFFSETS TEMPORARY 60 NOHL NOFIELDS NOFREQS STOPWORDS 2 x y SKIPINITIALSCAN SCHEMA t TEXT", &FTCreateOptions{
			OnHash: true, Prefix: []any{"a:", "b:"}, Filter: "@x>1", DefaultLanguage: "german", LanguageField: "lf", Score: 0.5, ScoreField: "sf", PayloadField: "pf",
			MaxTextFields: 40, NoOffsets: true, Temporary: 60, NoHL: true, NoFields: true, NoFreqs: true, StopWords: []any{"x", "y"}, SkipInitialScan: true,
		}, text),
		create("text", "SCHEMA t AS u TEXT NOSTEM PHONETIC dm:en WEIGHT 2.5 WITHSUFFIXTRIE INDEXEMPTY INDEXMISSING SORTABLE UNF NOINDEX", nil, &FieldSchema{
			FieldName: "t", As: "u", FieldType: SearchFieldTypeText, Sortable: true, UNF: true, NoStem: true, NoIndex: true,
			PhoneticMatcher: "dm:en", Weight: 2.5, WithSuffixtrie: true, IndexEmpty: true, IndexMissing: true,
		}),
		create("tag", "SCHEMA t TAG SEPARATOR ; CASESENSITIVE SORTABLE", nil, &FieldSchema{
			FieldName: "t", FieldType: SearchFieldTypeTag, Sortable: true, Separator: ";", CaseSensitive: true,
		}),
		create("geo", "SCHEMA g GEO s GEOSHAPE FLAT INDEXMISSING", nil, &FieldSchema{FieldName: "g", FieldType: SearchFieldTypeGeo},
			&FieldSchema{FieldName: "s", FieldType: SearchFieldTypeGeoShape, GeoShapeFieldType: "FLAT", IndexMissing: true}),
		vector("flat", "FLAT 10 TYPE FLOAT32 DIM 4 DISTANCE_METRIC COSINE INITIAL_CAP 10 BLOCK_SIZE 20", FTVectorArgs{
			FlatOptions: &FTFlatOptions{Type: "FLOAT32", Dim: 4, DistanceMetric: "COSINE", InitialCapacity: 10, BlockSize: 20},
		}),
		vector("hnsw", "HNSW 18 TYPE FLOAT32 DIM 4 DISTANCE_METRIC L2 INITIAL_CAP 10 M 11 EF_CONSTRUCTION 12 EF_RUNTIME 13 EPSILON 0.5 RERANK TRUE", FTVectorArgs{
			HNSWOptions: &FTHNSWOptions{Type: "FLOAT32", Dim: 4, DistanceMetric: "L2", InitialCapacity: 10, MaxEdgesPerNode: 11, MaxAllowedEdgesPerNode: 12, EFRunTime: 13, Epsilon: 0.5, Rerank: true},
		}),
		vector("rerank", "HNSW 8 TYPE FLOAT32 DIM 4 DISTANCE_METRIC L2 RERANK FALSE", FTVectorArgs{
			HNSWOptions: &FTHNSWOptions{Type: "FLOAT32", Dim: 4, DistanceMetric: "L2", HasRerank: true},
		}),
		vector("vamana", "SVS-VAMANA 20 TYPE FLOAT32 DIM 4 DISTANCE_METRIC IP COMPRESSION LVQ8 CONSTRUCTION_WINDOW_SIZE 1 GRAPH_MAX_DEGREE 2 SEARCH_WINDOW_SIZE 3 EPSILON 0.25 TRAINING_THRESHOLD 5 REDUCE 6", FTVectorArgs{
			VamanaOptions: &FTVamanaOptions{Type: "FLOAT32", Dim: 4, DistanceMetric: "IP", Compression: "LVQ8", ConstructionWindowSize: 1, GraphMaxDegree: 2, SearchWindowSize: 3, Epsilon: 0.25, TrainingThreshold: 5, ReduceDim: 6},
		}),
	}
}

// What the server could only refuse, or take for something else, is not sent.
func TestSearchRefusals(t *testing.T) {
	c := cmdable(none)
	flat := &FTVectorArgs{FlatOptions: &FTFlatOptions{Type: "FLOAT32", Dim: 4, DistanceMetric: "L2"}}
	create := func(f *FieldSchema) Cmder { return c.FTCreate(bg, "i", nil, f) }
	field := func(f FieldSchema) Cmder { f.FieldName = "f"; return create(&f) }
	aggregate := func(o FTAggregateOptions) Cmder { return c.FTAggregateWithArgs(bg, "i", "q", &o) }
	step := func(s ...FTAggregateStep) Cmder { return aggregate(FTAggregateOptions{Steps: s}) }
	hybrid := func(v FTHybridVectorExpression, combine *FTHybridCombineOptions) Cmder {
		return c.FTHybridWithArgs(bg, "i", &FTHybridOptions{VectorExpressions: []FTHybridVectorExpression{v}, Combine: combine})
	}
	apply := FTAggregateStep{Apply: &FTAggregateApply{Field: "x", As: "y"}}
	fp32 := &VectorFP32{Val: []byte("abcd")}
	var none Vector
	for says, cmds := range map[string][]Cmder{
		"at least one field":      {c.FTCreate(bg, "i", nil)},
		"OnHash or OnJSON":        {c.FTCreate(bg, "i", &FTCreateOptions{OnHash: true, OnJSON: true}, &FieldSchema{FieldName: "f", FieldType: SearchFieldTypeTag})},
		"FieldName and FieldType": {create(nil), create(&FieldSchema{}), field(FieldSchema{}), create(&FieldSchema{FieldType: SearchFieldTypeTag})},
		"type VECTOR needs": {
			field(FieldSchema{FieldType: SearchFieldTypeVector}), field(FieldSchema{FieldType: SearchFieldTypeVector, VectorArgs: &FTVectorArgs{}}),
			field(FieldSchema{FieldType: SearchFieldTypeVector, VectorArgs: &FTVectorArgs{FlatOptions: flat.FlatOptions, HNSWOptions: &FTHNSWOptions{}}}),
		},
		"VectorArgs are for": {field(FieldSchema{FieldType: SearchFieldTypeText, VectorArgs: flat})},
		"GeoShapeFieldType":  {field(FieldSchema{FieldType: SearchFieldTypeText, GeoShapeFieldType: "FLAT"})},
		"Sortable":           {field(FieldSchema{FieldType: SearchFieldTypeText, UNF: true})},
		"Type, Dim and DistanceMetric": {
			field(FieldSchema{FieldType: SearchFieldTypeVector, VectorArgs: &FTVectorArgs{FlatOptions: &FTFlatOptions{Dim: 1, DistanceMetric: "L2"}}}),
			field(FieldSchema{FieldType: SearchFieldTypeVector, VectorArgs: &FTVectorArgs{HNSWOptions: &FTHNSWOptions{Type: "FLOAT32", DistanceMetric: "L2"}}}),
			field(FieldSchema{FieldType: SearchFieldTypeVector, VectorArgs: &FTVectorArgs{VamanaOptions: &FTVamanaOptions{Type: "FLOAT32", Dim: 1}}}),
		},
		"by Asc or by Desc": {
			c.FTSearchWithArgs(bg, "i", "q", &FTSearchOptions{SortBy: []FTSearchSortBy{{"f", true, true}}}),
			aggregate(FTAggregateOptions{SortBy: []FTAggregateSortBy{{"f", true, true}}}),
			step(FTAggregateStep{SortBy: &FTAggregateSortByStep{Fields: []FTAggregateSortBy{{"f", true, true}}}}),
			c.FTHybridWithArgs(bg, "i", &FTHybridOptions{SortBy: []FTSearchSortBy{{"f", true, true}}}),
		},
		"LoadAll or Load": {
			aggregate(FTAggregateOptions{LoadAll: true, Load: []FTAggregateLoad{{Field: "f"}}}),
			aggregate(FTAggregateOptions{LoadAll: true, Steps: []FTAggregateStep{{Load: &FTAggregateLoad{Field: "f"}}}}),
		},
		"SortByMax needs": {aggregate(FTAggregateOptions{SortByMax: 3})},
		"has Steps, or": {
			aggregate(FTAggregateOptions{Steps: []FTAggregateStep{apply}, Load: []FTAggregateLoad{{Field: "f"}}}),
			aggregate(FTAggregateOptions{Steps: []FTAggregateStep{apply}, SortByMax: 1}),
		},
		"exactly one of Load": {step(FTAggregateStep{}), step(apply, FTAggregateStep{Load: &FTAggregateLoad{}, Apply: apply.Apply})},
		"needs VectorData":    {c.FTHybrid(bg, "i", "q", "v", none)},
		"vectors as bytes":    {c.FTHybrid(bg, "i", "q", "v", &VectorRef{"x"}), c.FTHybrid(bg, "i", "q", "v", &VectorValues{[]float64{1}})},
		"for the method KNN":  {hybrid(FTHybridVectorExpression{VectorField: "v", VectorData: fp32, ShardKRatio: 0.5}, nil)},
		"needs a Method":      {hybrid(FTHybridVectorExpression{VectorField: "v", VectorData: fp32}, &FTHybridCombineOptions{Window: 1})},
	} {
		for i, cmd := range cmds {
			if err := cmd.Err(); err == nil || DeliveryOf(err) != NotSent || !strings.Contains(err.Error(), says) {
				t.Errorf("%d: got %v, want an error before it is sent that says %q", i, err, says)
			}
		}
	}
	if err := c.FTExplainCli(bg, "i", "q"); err == nil || DeliveryOf(err) != NotSent {
		t.Errorf("FTExplainCli: got %v", err)
	}
}

func TestSearchWords(t *testing.T) {
	var types, functions []string
	for i := range SearchFieldTypeGeoShape + 2 {
		types = append(types, i.String())
	}
	for i := range SearchCollect + 2 {
		functions = append(functions, i.String())
	}
	if diff := cmp.Diff([]string{"", "NUMERIC", "TAG", "TEXT", "GEO", "VECTOR", "GEOSHAPE", "TEXT"}, types); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(strings.Split(",AVG,SUM,MIN,MAX,COUNT,COUNT_DISTINCT,COUNT_DISTINCTISH,STDDEV,QUANTILE,TOLIST,FIRST_VALUE,RANDOM_SAMPLE,COLLECT,", ","), functions); diff != "" {
		t.Error(diff)
	}
}
