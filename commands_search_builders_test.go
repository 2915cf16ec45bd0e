package redis

// A builderCase is one use of a builder.
type builderCase struct {
	run  func() error
	want string // what is sent
	says string // or part of the error
}

func builderCases(c *Client) []builderCase {
	text, number := &FieldSchema{FieldName: "t", FieldType: SearchFieldTypeText}, &FieldSchema{FieldName: "n", FieldType: SearchFieldTypeNumeric}
	list := []builderCase{
		{
			run: func() error {
				return onlyErr(c.NewCreateIndexBuilder(bg, "i").OnHash().Prefix("z").Prefix("a", "b").Filter("f").DefaultLanguage("l").LanguageField("lf").Score(0.5).
					ScoreField("sf").PayloadField("pf").NoOffsets().Temporary(5).NoHL().NoFields().NoFreqs().StopWords("x").SkipInitialScan().Schema(text).Schema(number).Run())
			},
			want: "ft.create i ON HASH PREFIX 2 a b FILTER f LANGUAGE l LANGUAGE_FIELD lf SCORE 0.5 SCORE_FIELD sf PAYLOAD_FIELD pf NOOFFSETS TEMPORARY 5 NOHL NOFIELDS NOFREQS STOPWORDS 1 x SKIPINITIALSCAN SCHEMA t TEXT n NUMERIC",
		},
		{run: func() error { return onlyErr(c.NewCreateIndexBuilder(bg, "i").OnJSON().StopWords().Schema(text).Run()) }, want: "ft.create i ON JSON STOPWORDS 0 SCHEMA t TEXT"},
		{run: func() error { return onlyErr(c.NewDropIndexBuilder(bg, "i").Run()) }, want: "ft.dropindex i"},
		{run: func() error { return onlyErr(c.NewDropIndexBuilder(bg, "i").DeleteDocs().Run()) }, want: "ft.dropindex i DD"},
		{run: func() error { return onlyErr(c.NewAliasBuilder(bg, "a").Add("i").Run()) }, want: "ft.aliasadd a i"},
		{run: func() error { return onlyErr(c.NewAliasBuilder(bg, "a").Del().Run()) }, want: "ft.aliasdel a"},
		{run: func() error { return onlyErr(c.NewAliasBuilder(bg, "a").Update("i").Run()) }, want: "ft.aliasupdate a i"},
		{run: func() error { return onlyErr(c.NewAliasBuilder(bg, "a").Add("i").Action("UPDATE").Run()) }, want: "ft.aliasupdate a i"},
		{run: func() error { return onlyErr(c.NewAliasBuilder(bg, "a").Run()) }, says: "Add, Del or Update"},
		{run: func() error { return onlyErr(c.NewAliasBuilder(bg, "a").Action("x").Run()) }, says: `"x" is no action`},
		{run: func() error { return onlyErr(c.NewExplainBuilder(bg, "i", "q").Dialect("3").Run()) }, want: "ft.explain i q DIALECT 3"},
		{run: func() error { return onlyErr(c.NewSearchInfoBuilder(bg, "i").Run()) }, want: "ft.info i"},
		{run: func() error {
			return onlyErr(c.NewSpellCheckBuilder(bg, "i", "q").Distance(2).Terms(true, "d", "a").Dialect(3).Run())
		}, want: "ft.spellcheck i q DISTANCE 2 TERMS INCLUDE d a DIALECT 3"},
		{run: func() error { return onlyErr(c.NewSpellCheckBuilder(bg, "i", "q").Terms(false, "d").Run()) }, want: "ft.spellcheck i q TERMS EXCLUDE d DIALECT 2"},
		{run: func() error { return onlyErr(c.NewDictBuilder(bg, "d").Add("a", 1).Run()) }, want: "ft.dictadd d a 1"},
		{run: func() error { return onlyErr(c.NewDictBuilder(bg, "d").Del("a").Run()) }, want: "ft.dictdel d a"},
		{run: func() error { return onlyErr(c.NewDictBuilder(bg, "d").Dump().Run()) }, want: "ft.dictdump d"},
		{run: func() error { return onlyErr(c.NewDictBuilder(bg, "d").Action("dump").Run()) }, want: "ft.dictdump d"},
		{run: func() error { return onlyErr(c.NewDictBuilder(bg, "d").Run()) }, says: "Add, Del or Dump"},
		{run: func() error { return onlyErr(c.NewTagValsBuilder(bg, "i", "f").Run()) }, want: "ft.tagvals i f"},
		{run: func() error { return onlyErr(c.NewCursorBuilder(bg, "i", 7).Read().Count(3).Run()) }, want: "ft.cursor READ i 7 COUNT 3"},
		{run: func() error { return onlyErr(c.NewCursorBuilder(bg, "i", 7).Del().Run()) }, want: "ft.cursor DEL i 7"},
		{run: func() error { return onlyErr(c.NewCursorBuilder(bg, "i", 7).Action("read").Run()) }, want: "ft.cursor READ i 7"},
		{run: func() error { return onlyErr(c.NewCursorBuilder(bg, "i", 7).Run()) }, says: "Read or Del"},
		{run: func() error {
			return onlyErr(c.NewSynUpdateBuilder(bg, "i", 5).Terms("z").Terms("a", "b").SkipInitialScan().Run())
		}, want: "ft.synupdate i 5 SKIPINITIALSCAN a b"},
	}
	return append(append(list, searchBuilderCases(c)...), aggregateBuilderCases(c)...)
}

func searchBuilderCases(c *Client) []builderCase {
	return []builderCase{
		{
			run: func() error {
				return onlyErr(c.NewSearchBuilder(bg, "i", "q").WithScores().WithPayloads().WithSortKeys().NoContent().Verbatim().NoStopWords().ExplainScore().
					Filter("n", 1, 2).Filter("m", 3, 4).GeoFilter("g", 1, 2, 3, "km").InKeys("a", "b").InKeys("c").InFields("f").ReturnFields("x", "y").ReturnAs("z", "zz").
					Slop(2).Timeout(3).InOrder().Language("l").Expander("e").Scorer("s").Payload("p").SortBy("a", true).WithSortByCount().Param("k", 1).ParamsMap(map[string]any{"k": 2, "l": 3}).
					Limit(1, 2).Dialect(3).Run())
			},
			want: "ft.search i q NOCONTENT VERBATIM NOSTOPWORDS WITHSCORES WITHPAYLOADS WITHSORTKEYS FILTER n 1 2 FILTER m 3 4 GEOFILTER g 1 2 3 km INKEYS 3 a b c INFIELDS 1 f RETURN 5 x y z AS zz SLOP 2 TIMEOUT 3 INORDER LANGUAGE l EXPANDER e SCORER s EXPLAINSCORE PAYLOAD p SORTBY a ASC WITHCOUNT LIMIT 1 2 PARAMS 4 k 2 l 3 DIALECT 3",
		},
		{run: func() error { return onlyErr(c.NewSearchBuilder(bg, "i", "q").SortBy("b", false).CountOnly().Run()) }, want: "ft.search i q SORTBY b DESC LIMIT 0 0 DIALECT 2"},
	}
}

func aggregateBuilderCases(c *Client) []builderCase {
	build := func() *AggregateBuilder { return c.NewAggregateBuilder(bg, "i", "q") }
	return []builderCase{
		{run: func() error { return onlyErr(build().Run()) }, want: "ft.aggregate i q DIALECT 2"},
		{
			run: func() error {
				return onlyErr(build().Verbatim().AddScores().Scorer("S").Load("@a").Load("@b", "bb").Timeout(5).GroupBy("@a").Reduce(SearchCount).ReduceAs(SearchSum, "s", "@b").
					Collect(FTAggregateCollect{Fields: []string{"@c"}, As: "cc"}).SortBy("@s", false).SortBy("@a", true).SortByMax(3).Apply("@s*2", "t").Apply("@t").SortBy("@t", true).
					Filter("@t>1").WithCursor(5, 100).Params(map[string]any{"p": 1}).Dialect(3).Run())
			},
			want: "ft.aggregate i q VERBATIM SCORER S ADDSCORES TIMEOUT 5 LOAD 1 @a LOAD 3 @b AS bb GROUPBY 1 @a REDUCE COUNT 0 REDUCE SUM 1 @b AS s REDUCE COLLECT 3 FIELDS 1 @c AS cc SORTBY 4 @s DESC @a ASC MAX 3 APPLY @s*2 AS t APPLY @t SORTBY 2 @t ASC FILTER @t>1 WITHCURSOR COUNT 5 MAXIDLE 100 PARAMS 2 p 1 DIALECT 3",
		},
		{run: func() error { return onlyErr(build().LoadAll().WithCursor(0, 0).Run()) }, want: "ft.aggregate i q LOAD * WITHCURSOR DIALECT 2"},
		{run: func() error { return onlyErr(build().SortByMax(1).SortBy("@a", true).Run()) }, says: "right after SortBy"},
		{run: func() error { return onlyErr(build().SortBy("@a", true).Apply("x").SortByMax(1).Run()) }, says: "right after SortBy"},
		{run: func() error { return onlyErr(build().Reduce(SearchCount).Run()) }, says: "right after GroupBy"},
		{run: func() error { return onlyErr(build().GroupBy("@a").Apply("x").ReduceAs(SearchCount, "n").Run()) }, says: "right after GroupBy"},
		{run: func() error { return onlyErr(build().Collect(FTAggregateCollect{FieldsAll: true}).Run()) }, says: "right after GroupBy"},
		{run: func() error { return onlyErr(build().GroupBy("@a").Collect(FTAggregateCollect{}).SortByMax(1).Run()) }, says: "Fields or FieldsAll"},
	}
}
