package redis

import (
	"context"
	"math"

	"github.com/baton-go/redis/internal/resp"
)

// FTSearchFilter keeps documents with a number of a field in a range. Min and Max are
// numbers, -inf, +inf, or (n for a bound that is not included.
type FTSearchFilter struct {
	FieldName any
	Min       any
	Max       any
}

// FTSearchGeoFilter keeps documents with a place of a field in a circle.
type FTSearchGeoFilter struct {
	FieldName string
	Longitude float64
	Latitude  float64
	Radius    float64
	Unit      string // m, km, mi or ft
}

// FTSearchReturn is a field that a search gives.
type FTSearchReturn struct {
	FieldName string // or a JSON path
	As        string // its name in the reply; empty: FieldName
}

// FTSearchSortBy is a field that results are sorted by: Asc, Desc, or as the server
// likes, which is ascending.
type FTSearchSortBy struct {
	FieldName string
	Asc       bool
	Desc      bool
}

// FTSearchOptions are the options of FTSearchWithArgs.
type FTSearchOptions struct {
	NoContent       bool // no fields
	Verbatim        bool // no stems of words
	NoStopWords     bool // stop words are searched for too
	WithScores      bool
	WithPayloads    bool
	WithSortKeys    bool
	Filters         []FTSearchFilter
	GeoFilter       []FTSearchGeoFilter
	InKeys          []any            // only these documents
	InFields        []any            // only matches in these fields
	Return          []FTSearchReturn // only these fields; none: all
	Slop            int              // words between those of a phrase; 0: not said
	Timeout         int              // milliseconds; 0: the server's
	InOrder         bool             // with Slop: words in the order of the query
	Language        string
	Expander        string
	Scorer          string
	ExplainScore    bool   // how scores come about, in RawVal only; needs WithScores
	Payload         string // for custom scorers
	SortBy          []FTSearchSortBy
	SortByWithCount bool // with SortBy: Total is exact
	// LimitOffset is how many documents are left out, and Limit how many are given at
	// most; 0: 10.
	LimitOffset int
	Limit       int
	// CountOnly gives the number of documents and none of them.
	CountOnly bool
	// Params are what $name stands for in the query. Vectors are []byte.
	Params         map[string]any
	DialectVersion int // 0: 2
}

// FTSearch gives the documents that a query matches, the best 10 of them, in the server's
// default dialect. An error of the server says that there is no such index, or what is
// wrong with the query. Since Search 1.0, O(N) with the matches.
func (c cmdable) FTSearch(ctx context.Context, index, query string) *FTSearchCmd {
	return c.FTSearchWithArgs(ctx, index, query, nil)
}

// FTSearchWithArgs is FTSearch with options. Since Search 1.0, O(N) with the matches.
func (c cmdable) FTSearchWithArgs(ctx context.Context, index, query string, options *FTSearchOptions) *FTSearchCmd {
	cmd := roomy[FTSearchCmd]()
	cmd.begin("ft.search")
	cmd.strs(index, query)
	if options != nil {
		cmd.parts = options.parts()
		cmd.searchOptions(options)
	}
	_ = c(ctx, cmd)
	return cmd
}

// SearchQuery is a query with its options as FT.SEARCH has them behind the index.
type SearchQuery []any

// FTSearchQuery gives the arguments that FTSearchWithArgs sends behind the index, as
// strings, or why it would not send them.
func FTSearchQuery(query string, options *FTSearchOptions) (SearchQuery, error) {
	var c baseCmd
	c.begin("ft.search")
	c.str(query)
	if options != nil {
		c.searchOptions(options)
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.Args()[1:], nil
}

// searchOptions appends the options of a search.
func (c *baseCmd) searchOptions(o *FTSearchOptions) {
	c.opt(o.NoContent, "NOCONTENT")
	c.opt(o.Verbatim, "VERBATIM")
	c.opt(o.NoStopWords, "NOSTOPWORDS")
	c.opt(o.WithScores, "WITHSCORES")
	c.opt(o.WithPayloads, "WITHPAYLOADS")
	c.opt(o.WithSortKeys, "WITHSORTKEYS")
	for _, f := range o.Filters {
		c.str("FILTER")
		c.args(f.FieldName, f.Min, f.Max)
	}
	for _, f := range o.GeoFilter {
		c.strs("GEOFILTER", f.FieldName)
		c.float(f.Longitude)
		c.float(f.Latitude)
		c.float(f.Radius)
		c.str(f.Unit)
	}
	c.optList("INKEYS", o.InKeys)
	c.optList("INFIELDS", o.InFields)
	c.returned(o.Return)
	c.optInt(o.Slop > 0, "SLOP", int64(o.Slop))
	c.optInt(o.Timeout > 0, "TIMEOUT", int64(o.Timeout))
	c.opt(o.InOrder, "INORDER")
	c.optStr("LANGUAGE", o.Language)
	c.optStr("EXPANDER", o.Expander)
	c.optStr("SCORER", o.Scorer)
	c.opt(o.ExplainScore, "EXPLAINSCORE")
	c.optStr("PAYLOAD", o.Payload)
	if len(o.SortBy) > 0 {
		c.str("SORTBY")
		for _, by := range o.SortBy {
			c.str(by.FieldName)
			word := c.sortWord(by.Asc, by.Desc)
			c.opt(word != "", word)
		}
		c.opt(o.SortByWithCount, "WITHCOUNT")
	}
	c.searchLimit(o)
	c.queryParams(o.Params)
	c.dialect(o.DialectVersion)
}

// returned appends the fields that are wanted.
func (c *baseCmd) returned(fields []FTSearchReturn) {
	if len(fields) == 0 {
		return
	}
	n := len(fields)
	for _, f := range fields {
		if f.As != "" {
			n += 2
		}
	}
	c.optInt(true, "RETURN", int64(n))
	for _, f := range fields {
		c.str(f.FieldName)
		c.optStr("AS", f.As)
	}
}

// searchLimit appends how many documents are wanted.
func (c *baseCmd) searchLimit(o *FTSearchOptions) {
	const usual = 10
	switch {
	case o.CountOnly:
		c.limit(0, 0)
	case o.Limit > 0:
		c.limit(max(0, o.LimitOffset), o.Limit)
	case o.LimitOffset > 0:
		c.limit(o.LimitOffset, usual)
	}
}

// limit appends which of the results are wanted.
func (c *baseCmd) limit(offset, n int) {
	c.optInt(true, "LIMIT", int64(offset))
	c.int(int64(n))
}

//------------------------------------------------------------------------------

// Document is a document that a search has found.
type Document struct {
	ID      string   // its key
	Score   *float64 // nil: not asked for
	Payload *string  // nil: not asked for, or it has none
	SortKey *string  // nil: not asked for, or not sorted
	// Fields are the fields with their values as text; empty with NoContent.
	Fields map[string]string
	// Error is Nil if the document expired while it was to be loaded, or what the server
	// says instead of its fields.
	Error error
}

// FTSearchResult is what a search has found.
type FTSearchResult struct {
	Total    int        // documents that match, of which Docs are some
	Docs     []Document // what was asked for, in order
	Warnings []string   // such as a timeout; RESP3 only
}

// FTSearchCmd is the command of FTSearch.
type FTSearchCmd struct {
	keptReply[FTSearchResult]

	parts searchParts
}

// searchParts are what a reply of RESP2 has for each document beside its key; RESP3 says
// itself what there is.
type searchParts struct{ score, payload, sortKey, noFields bool }

// parts are what the reply has.
func (o *FTSearchOptions) parts() searchParts {
	return searchParts{score: o.WithScores, payload: o.WithPayloads, sortKey: o.WithSortKeys, noFields: o.NoContent}
}

// count is how many values there are for each document.
func (p searchParts) count() int {
	n := 2
	for _, has := range []bool{p.score, p.payload, p.sortKey} {
		if has {
			n++
		}
	}
	if p.noFields {
		n--
	}
	return n
}

func (c *FTSearchCmd) readReply(r *resp.Reader) (err error) {
	c.keep(*r)
	c.val = FTSearchResult{}
	var found FTSearchResult
	if r.Kind() == resp.KindMap {
		found, err = readFound(r)
	} else {
		found, err = c.parts.read(r)
	}
	if err == nil {
		c.val = found
	}
	return err
}

// read reads a reply of RESP2: the number of matches, and then the documents.
func (p searchParts) read(r *resp.Reader) (found FTSearchResult, err error) {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return found, err
	}
	if n < 1 || (n-1)%p.count() != 0 {
		return found, badShape(at, "a number and documents")
	}
	total, err := r.Int()
	if err != nil {
		return found, err
	}
	found.Total = int(total)
	found.Docs = make([]Document, (n-1)/p.count())
	for i := range found.Docs {
		if err := p.readDocument(r, &found.Docs[i]); err != nil {
			return found, err
		}
	}
	return found, nil
}

// readDocument reads a document of RESP2.
func (p searchParts) readDocument(r *resp.Reader, d *Document) (err error) {
	if d.ID, err = r.String(); err != nil {
		return err
	}
	if p.score {
		if d.Score, err = readScore(r); err != nil {
			return err
		}
	}
	if p.payload {
		if d.Payload, err = readOptional(r); err != nil {
			return err
		}
	}
	if p.sortKey {
		if d.SortKey, err = readOptional(r); err != nil {
			return err
		}
	}
	if p.noFields {
		d.Fields = map[string]string{}
		return nil
	}
	return readDocumentFields(r, d)
}

// readFound reads a reply of RESP3.
func readFound(r *resp.Reader) (found FTSearchResult, err error) {
	found.Docs = []Document{}
	err = readFields(r, func(name string) (err error) {
		switch name {
		case "total_results":
			found.Total, err = readWhole(r)
		case "results":
			found.Docs, err = readDocuments(r)
		case "warning", "warnings":
			found.Warnings, err = readWarnings(r)
		default:
			err = r.Skip()
		}
		return err
	})
	return found, err
}

// readWarnings reads warnings; nil if there are none.
func readWarnings(r *resp.Reader) ([]string, error) {
	list, err := orZero(readSlice(r, readStringOrEmpty))
	if len(list) == 0 {
		return nil, err
	}
	return list, err
}

// readDocuments reads the documents of RESP3, without the nulls that are there for those
// that expired meanwhile.
func readDocuments(r *resp.Reader) ([]Document, error) {
	n, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	docs := make([]Document, 0, min(n, r.Len()/minDocument))
	for range n {
		if r.Null() {
			continue
		}
		d := Document{Fields: map[string]string{}}
		if err := readFields(r, func(name string) error { return d.readPart(r, name) }); err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// minDocument is how many bytes a document takes at least in RESP3.
const minDocument = 4

// readPart reads what RESP3 has under a name for a document.
func (d *Document) readPart(r *resp.Reader, name string) (err error) {
	switch name {
	case "id":
		d.ID, err = r.String()
	case "score":
		d.Score, err = readScore(r)
	case "payload":
		d.Payload, err = readOptional(r)
	case "sortkey":
		d.SortKey, err = readOptional(r)
	case "extra_attributes":
		err = readDocumentFields(r, d)
	case "error":
		var text string
		if text, err = r.String(); err == nil {
			d.Error = resp.Error(text)
		}
	default:
		err = r.Skip()
	}
	return err
}

// readDocumentFields reads the fields of a document. Fields without a value are left out.
// An error or a null in their place, or an error as a value, is the document's error, not
// the command's.
func readDocumentFields(r *resp.Reader, d *Document) error {
	d.Fields = map[string]string{}
	switch r.Kind() {
	case resp.KindError, resp.KindBulkError:
		_, d.Error = r.Bytes()
		return nil
	}
	if r.Null() {
		d.Error = Nil
		return nil
	}
	return readFields(r, func(name string) error {
		if r.Null() {
			return nil
		}
		switch r.Kind() {
		case resp.KindError, resp.KindBulkError:
			_, d.Error = r.Bytes()
			return nil
		}
		text, err := r.String()
		d.Fields[name] = text
		return err
	})
}

// readScore reads a score, with EXPLAINSCORE together with how it came about; nil for
// null.
func readScore(r *resp.Reader) (*float64, error) {
	if r.Null() {
		return nil, nil
	}
	parts := 1
	if isList(r) {
		at := *r
		var err error
		if parts, err = r.ArrayLen(); err != nil {
			return nil, err
		}
		if parts == 0 {
			return nil, badShape(at, "score with explanation")
		}
	}
	score, err := r.Float()
	if err != nil {
		return nil, err
	}
	for range parts - 1 {
		if err := r.Skip(); err != nil {
			return nil, err
		}
	}
	return &score, nil
}

// readOptional reads a string, nil for null.
func readOptional(r *resp.Reader) (*string, error) {
	if r.Null() {
		return nil, nil
	}
	s, err := r.String()
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// readWhole reads a number without its fraction: RESP3 has doubles where RESP2 has
// integers. What is no finite number, and null, is 0.
func readWhole(r *resp.Reader) (int, error) {
	f, err := readFloatOrZero(r)
	if err != nil || math.IsNaN(f) || f >= 1<<63 || f < -1<<63 {
		return 0, err
	}
	return int(f), nil
}
