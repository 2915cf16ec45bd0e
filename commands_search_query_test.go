package redis

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/resp"
)

// doc is a document with fields and values in turn.
func doc(id string, fields ...string) Document {
	d := Document{ID: id, Fields: map[string]string{}}
	for i := 0; i < len(fields); i += 2 {
		d.Fields[fields[i]] = fields[i+1]
	}
	return d
}

func searchQueryCases() []commandCase {
	query := func(name, args string, o *FTSearchOptions, r2, r3 string, want any) commandCase {
		if args != "" {
			args = " " + args
		}
		return searchCase("FTSearchWithArgs/"+name, "ft.search i q"+args, r2, r3, want, func(c commander) Cmder { return c.FTSearchWithArgs(bg, "i", "q", o) })
	}
	// found3 is a reply of RESP3.
	found3 := func(total, results string) string {
		return "%6 attributes *0 warning *0 total_results :" + total + " format STRING results " + results + " newer *1 %0"
	}
	scored := doc("d1", "a", "1")
	scored.Score = new(0.5)
	all := scored
	all.Payload, all.SortKey = new("pay"), new("$key")
	bare := all
	bare.Fields = map[string]string{}
	gone, broken := doc("d1"), doc("d1")
	gone.Error, broken.Error = Nil, resp.Error("ERR no")
	partly := doc("d1", "b", "2")
	partly.Error = resp.Error("ERR no")
	every := &FTSearchOptions{WithScores: true, WithPayloads: true, WithSortKeys: true}
	everyBare := &FTSearchOptions{WithScores: true, WithPayloads: true, WithSortKeys: true, NoContent: true}
	none := FTSearchResult{Docs: []Document{}}
	plain := func(name, args string, o FTSearchOptions) commandCase {
		return query(name, args, &o, "*1 :0", found3("0", "*0"), none)
	}
	return []commandCase{
		searchCase("FTSearch", "ft.search i q", "*5 :7 d1 *4 a 1 b x d2 *0",
			"%5 attributes *0 warning *0 total_results :7 format STRING results *2 %3 id d1 extra_attributes %2 a 1 b x values *0 %3 id d2 extra_attributes %0 values *0",
			FTSearchResult{Total: 7, Docs: []Document{doc("d1", "a", "1", "b", "x"), doc("d2")}},
			func(c commander) Cmder { return c.FTSearch(bg, "i", "q") }),
		searchCase("FTSearch/warning", "ft.search i q", "%3 total_results ,1 warning *1 Timeout^limit results *0", "",
			FTSearchResult{Total: 1, Docs: []Document{}, Warnings: []string{"Timeout limit"}},
			func(c commander) Cmder { return c.FTSearch(bg, "i", "q") }),
		query("nil", "", nil, "*1 :0", found3("0", "*0"), none),
		query("empty", "DIALECT 2", &FTSearchOptions{}, "*1 :0", found3("0", "*0"), none),
		query("nocontent", "NOCONTENT DIALECT 2", &FTSearchOptions{NoContent: true}, "*3 :2 d1 d2", found3("2", "*2 %2 id d1 values *0 %2 id d2 values *0"),
			FTSearchResult{Total: 2, Docs: []Document{doc("d1"), doc("d2")}}),
		query("scores", "WITHSCORES DIALECT 2", &FTSearchOptions{WithScores: true}, "*4 :1 d1 0.5 *2 a 1",
			found3("1", "*1 %4 id d1 score ,0.5 extra_attributes %1 a 1 values *0"), FTSearchResult{Total: 1, Docs: []Document{scored}}),
		query("explained", "WITHSCORES EXPLAINSCORE DIALECT 2", &FTSearchOptions{WithScores: true, ExplainScore: true}, "*4 :1 d1 *2 0.5 *2 Final *1 part *2 a 1",
			found3("1", "*1 %4 id d1 score *2 ,0.5 *2 Final *1 part extra_attributes %1 a 1 values *0"), FTSearchResult{Total: 1, Docs: []Document{scored}}),
		query("parts", "WITHSCORES WITHPAYLOADS WITHSORTKEYS DIALECT 2", every, "*6 :1 d1 0.5 pay $key *2 a 1",
			found3("1", "*1 %6 id d1 score ,0.5 payload pay sortkey $key extra_attributes %1 a 1 values *0"), FTSearchResult{Total: 1, Docs: []Document{all}}),
		query("parts/null", "WITHSCORES WITHPAYLOADS WITHSORTKEYS DIALECT 2", every, "*6 :1 d1 0.5 NIL NIL *2 a 1",
			found3("1", "*1 %6 id d1 score ,0.5 payload _ sortkey _ extra_attributes %1 a 1 values *0"), FTSearchResult{Total: 1, Docs: []Document{scored}}),
		query("parts/nocontent", "NOCONTENT WITHSCORES WITHPAYLOADS WITHSORTKEYS DIALECT 2", everyBare, "*5 :1 d1 0.5 pay $key",
			found3("1", "*1 %5 id d1 score ,0.5 payload pay sortkey $key values *0"), FTSearchResult{Total: 1, Docs: []Document{bare}}),
		query("expired", "DIALECT 2", &FTSearchOptions{}, "*7 :3 d1 NILS d1 NIL d2 *2 a 3",
			found3("3", "*4 %2 id d1 extra_attributes _ _ %2 id d1 extra_attributes _ %2 id d2 extra_attributes %1 a 3"),
			FTSearchResult{Total: 3, Docs: []Document{gone, gone, doc("d2", "a", "3")}}),
		query("broken", "DIALECT 2", &FTSearchOptions{}, "*5 :2 d1 -ERR^no d1 *4 a -ERR^no b 2",
			found3("2", "*2 %2 id d1 extra_attributes -ERR^no %2 id d1 extra_attributes %2 a -ERR^no b 2"), FTSearchResult{Total: 2, Docs: []Document{broken, partly}}),
		query("broken/3", "DIALECT 2", &FTSearchOptions{}, found3("1", "*1 %2 id d1 error ERR^no"), "", FTSearchResult{Total: 1, Docs: []Document{broken}}),
		query("values", "DIALECT 2", &FTSearchOptions{}, "*3 :1 d1 *6 n NIL i :5 f ,1.5", found3("1", "*1 %2 id d1 extra_attributes %3 n _ i :5 f ,1.5"),
			FTSearchResult{Total: 1, Docs: []Document{doc("d1", "i", "5", "f", "1.5")}}),

		plain("flags", "VERBATIM NOSTOPWORDS INORDER DIALECT 2", FTSearchOptions{Verbatim: true, NoStopWords: true, InOrder: true}),
		plain("filters", "FILTER n 1 +inf FILTER m (1 2.5 GEOFILTER g 1.5 2 3 km DIALECT 2", FTSearchOptions{
			Filters:   []FTSearchFilter{{"n", 1, "+inf"}, {"m", "(1", 2.5}},
			GeoFilter: []FTSearchGeoFilter{{"g", 1.5, 2, 3, "km"}},
		}),
		plain("fields", "INKEYS 2 a 1 INFIELDS 1 f RETURN 4 a b AS c DIALECT 2", FTSearchOptions{
			InKeys: []any{"a", 1}, InFields: []any{"f"}, Return: []FTSearchReturn{{FieldName: "a"}, {FieldName: "b", As: "c"}},
		}),
		plain("words", "SLOP 3 TIMEOUT 50 LANGUAGE german EXPANDER e SCORER BM25 PAYLOAD p DIALECT 3", FTSearchOptions{
			Slop: 3, Timeout: 50, Language: "german", Expander: "e", Scorer: "BM25", Payload: "p", DialectVersion: 3,
		}),
		plain("sort", "SORTBY a DESC WITHCOUNT DIALECT 2", FTSearchOptions{SortBy: []FTSearchSortBy{{FieldName: "a", Desc: true}}, SortByWithCount: true}),
		plain("sort/asc", "SORTBY a ASC DIALECT 2", FTSearchOptions{SortBy: []FTSearchSortBy{{FieldName: "a", Asc: true}}}),
		plain("sort/default", "SORTBY a DIALECT 2", FTSearchOptions{SortBy: []FTSearchSortBy{{FieldName: "a"}}}),
		plain("sort/none", "DIALECT 2", FTSearchOptions{SortByWithCount: true}),
		plain("limit", "LIMIT 5 10 DIALECT 2", FTSearchOptions{LimitOffset: 5, Limit: 10}),
		plain("limit/only", "LIMIT 0 3 DIALECT 2", FTSearchOptions{Limit: 3}),
		plain("offset", "LIMIT 5 10 DIALECT 2", FTSearchOptions{LimitOffset: 5}),
		plain("count", "LIMIT 0 0 DIALECT 2", FTSearchOptions{CountOnly: true, Limit: 5}),
		plain("params", "PARAMS 4 a 1 b xyz DIALECT 2", FTSearchOptions{Params: map[string]any{"b": []byte("xyz"), "a": 1}}),
	}
}

func TestFTSearchQuery(t *testing.T) {
	q, err := FTSearchQuery("a b", &FTSearchOptions{Limit: 3, Verbatim: true})
	if diff := cmp.Diff(SearchQuery{"a b", "VERBATIM", "LIMIT", "0", "3", "DIALECT", "2"}, q); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if q, err := FTSearchQuery("q", nil); err != nil || len(q) != 1 || q[0] != "q" {
		t.Errorf("without options: got %q, %v", q, err)
	}
	for name, err := range map[string]error{
		"search":    onlyErr(FTSearchQuery("q", &FTSearchOptions{SortBy: []FTSearchSortBy{{"f", true, true}}})),
		"argument":  onlyErr(FTSearchQuery("q", &FTSearchOptions{InKeys: []any{struct{}{}}})),
		"aggregate": onlyErr(FTAggregateQuery("q", &FTAggregateOptions{SortByMax: 1})),
	} {
		if err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	a, err := FTAggregateQuery("q", &FTAggregateOptions{LoadAll: true})
	if diff := cmp.Diff(AggregateQuery{"q", "LOAD", "*", "DIALECT", "2"}, a); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func onlyErr[T any](_ T, err error) error { return err }

// A reply of the wrong shape is an error that names the command and what was wanted, and
// leaves no value of the reply before.
func TestSearchRepliesOfTheWrongShape(t *testing.T) {
	c := commander{none, none}
	const good = "*3 :1 d1 *2 a 1"
	search := func() Cmder { return c.FTSearch(bg, "i", "q") }
	scored := func() Cmder { return c.FTSearchWithArgs(bg, "i", "q", &FTSearchOptions{WithScores: true}) }
	aggregate := func() Cmder { return c.FTAggregateWithArgs(bg, "i", "q", nil) }
	rows := func() Cmder { return c.FTAggregate(bg, "i", "q") }
	spell := func() Cmder { return c.FTSpellCheck(bg, "i", "q") }
	info := func() Cmder { return c.FTInfo(bg, "i") }
	hybrid := func() Cmder { return c.FTHybridWithArgs(bg, "i", nil) }
	for _, tc := range []struct {
		name  string
		cmd   func() Cmder
		frame string
		want  string
	}{
		{"no number", search, "*0", "a number and documents"},
		{"half a document", search, "*2 :1 d1", "a number and documents"},
		{"one too many", search, "*4 :1 d1 *0 d2", "a number and documents"},
		{"no number first", search, "*3 d1 *0 d2", "int64"},
		{"a key that is a list", search, "*3 :1 *0 *0", "string"},
		{"fields that are odd", search, "*3 :1 d1 *3 a 1 b", "map"},
		{"fields that are text", search, "*3 :1 d1 text", "map"},
		{"a value that is a list", search, "*3 :1 d1 *2 a *1 b", "string"},
		{"scores that were not asked for", search, "*4 :1 d1 0.5 *0", "a number and documents"},
		{"a score that is none", scored, "*4 :1 d1 high *0", "float64"},
		{"an explanation without a score", scored, "*4 :1 d1 *0 *0", "score with explanation"},
		{"results that are a map", search, "%1 results %0", ""},
		{"results that are text", search, "%1 results text", "array"},
		{"a result that is a number", search, "%1 results *1 :1", "map"},
		{"rows without a number", aggregate, "*0", "a number and rows"},
		{"a row that is odd", aggregate, "*2 :1 *1 a", "map"},
		{"a row that is text", aggregate, "*2 :1 text", "map"},
		{"a cursor that is none", aggregate, "*2 *1 :0 text", "int64"},
		{"a cursor without rows", aggregate, "*2 *0 :1", "a number and rows"},
		{"a cursor in a cursor", aggregate, "*2 *2 *1 :0 :1 :2", "float64"},
		{"rows of a map that are odd", rows, "*2 :1 *1 a", "map"},
		{"a cursor of a map that is none", rows, "*2 *1 :0 text", "int64"},
		{"a term without suggestions", spell, "*1 *2 TERM a", "TERM, a term and suggestions"},
		{"a suggestion without a score", spell, "*1 *3 TERM a *1 *1 b", "score and suggestion"},
		{"a score that is a list", spell, "%1 results %1 a *1 %1 b *0", "float64"},
		{"a name without a value", info, "*1 num_docs", "map"},
		{"a number that is text", info, "*2 num_docs many", "float64"},
		{"a field that is text", info, "*2 attributes *1 text", "array"},
		{"errors that are text", info, "*2 Index^Errors text", "map"},
		{"a hybrid result that is text", hybrid, "*2 results *1 text", "map"},
		{"a hybrid cursor that is text", hybrid, "*2 SEARCH text", "int64"},
		{"a reply that is text", hybrid, "+OK", "map"},
		{"a setting without a value", func() Cmder { return c.FTConfigGet(bg, "x") }, "*1 *1 a", "name and value"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := tc.cmd()
			feed(cmd, frame(good))
			feed(cmd, frame(tc.frame)+"+next\r\n")
			err := cmd.Err()
			if tc.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), cmd.Name()) || !isTypeError(err) && !errors.Is(err, resp.ErrProtocol) {
				t.Fatalf("got %v, want an error that names %s", err, cmd.Name())
			}
			if e, _ := errors.AsType[*resp.TypeError](err); e != nil && e.Want != tc.want {
				t.Errorf("%v: want %q, got %q", err, tc.want, e.Want)
			}
			cmd.SetErr(nil)
			fresh := tc.cmd()
			if diff := cmp.Diff(valueOf(fresh), valueOf(cmd)); diff != "" {
				t.Errorf("a value is left (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearchRawReplies(t *testing.T) {
	c := commander{none, none}
	type raw interface {
		Cmder
		RawVal() any
		RawResult() (any, error)
	}
	for _, cmd := range []raw{
		c.FTSearch(bg, "i", "q"), c.FTAggregateWithArgs(bg, "i", "q", nil), c.FTInfo(bg, "i"), c.FTSpellCheck(bg, "i", "q"),
		c.FTSynDump(bg, "i"), c.FTHybridWithArgs(bg, "i", nil), NewFTSynDumpCmd(bg, "ft.syndump", "i"), NewAggregateCmd(bg, "ft.aggregate", "i", "q"),
	} {
		if v := cmd.RawVal(); v != nil {
			t.Errorf("%v: before the reply: %v", cmd.Args(), v)
		}
		buf := []byte(frame("*2 a *2 :1 _"))
		r := resp.NewReader(buf)
		_ = cmd.readReply(&r)
		clear(buf) // it belongs to the link
		if diff := cmp.Diff([]any{"a", []any{int64(1), nil}}, cmd.RawVal()); diff != "" {
			t.Errorf("%v: (-want +got):\n%s", cmd.Args(), diff)
		}
		for _, text := range []string{"-ERR no", "_", "NIL", "NILS"} {
			feed(cmd, frame(text))
			if v, err := cmd.RawResult(); v != nil || err == nil {
				t.Errorf("%v: %s: got %v, %v", cmd.Args(), text, v, err)
			}
		}
		feed(cmd, "*2\r\n:1")
		if v := cmd.RawVal(); v != nil {
			t.Errorf("%v: of half a reply: %v", cmd.Args(), v)
		}
	}
}
