package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// SearchAggregator is a function that makes one value of a group.
type SearchAggregator int

// The functions for groups. What they take is in FTAggregateReducer.Args.
const (
	SearchInvalid SearchAggregator = iota
	SearchAvg
	SearchSum
	SearchMin
	SearchMax
	SearchCount
	SearchCountDistinct
	SearchCountDistinctish // about 3 % off, in little memory
	SearchStdDev
	SearchQuantile // takes a property and 0 to 1
	SearchToList
	SearchFirstValue
	SearchRandomSample // takes a property and how many
	SearchCollect      // see NewCollectReducer
)

// String is the function's word, empty for one that is unknown.
func (a SearchAggregator) String() string {
	switch a {
	case SearchInvalid:
		return ""
	case SearchAvg:
		return "AVG"
	case SearchSum:
		return "SUM"
	case SearchMin:
		return "MIN"
	case SearchMax:
		return "MAX"
	case SearchCount:
		return "COUNT"
	case SearchCountDistinct:
		return "COUNT_DISTINCT"
	case SearchCountDistinctish:
		return "COUNT_DISTINCTISH"
	case SearchStdDev:
		return "STDDEV"
	case SearchQuantile:
		return "QUANTILE"
	case SearchToList:
		return "TOLIST"
	case SearchFirstValue:
		return "FIRST_VALUE"
	case SearchRandomSample:
		return "RANDOM_SAMPLE"
	case SearchCollect:
		return "COLLECT"
	}
	return ""
}

// FTAggregateReducer is one value that is made of a group.
type FTAggregateReducer struct {
	Reducer SearchAggregator
	Args    []any
	As      string // its name; empty: the server makes one up
}

// FTAggregateGroupBy makes groups of the rows that are equal in some properties, and a
// row of each group. Without Fields all rows are one group.
type FTAggregateGroupBy struct {
	Fields []any // "@name"
	Reduce []FTAggregateReducer
}

// FTAggregateSortBy is a property that rows are sorted by: Asc, Desc, or as the server
// likes, which is ascending.
type FTAggregateSortBy struct {
	FieldName string // "@name"
	Asc       bool
	Desc      bool
}

// FTAggregateApply makes a property of others.
type FTAggregateApply struct {
	Field string // the expression
	As    string // the property's name; empty: the server makes one up
}

// FTAggregateLoad takes a field of the documents into the rows.
type FTAggregateLoad struct {
	Field string // or a JSON path
	As    string // the property's name; empty: Field
}

// FTAggregateWithCursor says how a cursor gives its rows.
type FTAggregateWithCursor struct {
	Count   int // rows at a time; 0: the server's, 1000
	MaxIdle int // milliseconds without being used after which it goes; 0: the server's
}

// FTAggregateSortByStep sorts the rows.
type FTAggregateSortByStep struct {
	Fields []FTAggregateSortBy
	Max    int // keep so many rows only; 0: all
}

// FTAggregateStep is a step of an aggregation: exactly one is not nil.
type FTAggregateStep struct {
	Load    *FTAggregateLoad
	Apply   *FTAggregateApply
	GroupBy *FTAggregateGroupBy
	SortBy  *FTAggregateSortByStep
}

// FTAggregateOptions are the options of FTAggregateWithArgs. An aggregation is a row of
// steps. Either Steps are they, in their order; or they are those of Load, Apply,
// GroupBy and SortBy, in this order.
type FTAggregateOptions struct {
	Verbatim  bool              // no stems of words
	LoadAll   bool              // all fields of the documents
	Load      []FTAggregateLoad // not with LoadAll
	Timeout   int               // milliseconds; 0: the server's
	GroupBy   []FTAggregateGroupBy
	SortBy    []FTAggregateSortBy
	SortByMax int // with SortBy: keep so many rows only; 0: all
	Scorer    string
	AddScores bool // scores are @__score
	Apply     []FTAggregateApply
	// LimitOffset is how many rows are left out, and Limit how many are kept after the
	// steps; 0: all, whatever LimitOffset is.
	LimitOffset int
	Limit       int
	Filter      string // an expression that rows must fulfil, after the limit
	// WithCursor gives the rows in parts; see AggregateCmd.CursorID.
	WithCursor        bool
	WithCursorOptions *FTAggregateWithCursor
	// Params are what $name stands for in the query. Vectors are []byte.
	Params         map[string]any
	DialectVersion int // 0: 2
	Steps          []FTAggregateStep
}

// FTAggregate gives what a query matches as rows, in the server's default dialect. The
// value is what RESP3 has, whatever the protocol: "total_results", which is no reliable
// number, "results", a []any of map[any]any with the properties under "extra_attributes",
// and "warning". FTAggregateWithArgs gives the same typed, with nil as options. An error
// of the server says that there is no such index, or what is wrong with the query. Since
// Search 1.1, O(N) with the matches.
func (c cmdable) FTAggregate(ctx context.Context, index, query string) *MapStringInterfaceCmd {
	cmd := roomy[MapStringInterfaceCmd]()
	cmd.isRows = true
	cmd.begin("ft.aggregate")
	cmd.strs(index, query)
	_ = c(ctx, cmd)
	return cmd
}

// FTAggregateWithArgs gives what steps make of what a query matches, as rows. An error of
// the server says that there is no such index, or what is wrong with the query. Since
// Search 1.1, O(N) with the matches.
func (c cmdable) FTAggregateWithArgs(ctx context.Context, index, query string, options *FTAggregateOptions) *AggregateCmd {
	cmd := roomy[AggregateCmd]()
	cmd.begin("ft.aggregate")
	cmd.strs(index, query)
	if options != nil {
		cmd.aggregateOptions(options)
	}
	_ = c(ctx, cmd)
	return cmd
}

// AggregateQuery is a query with its options as FT.AGGREGATE has them behind the index.
type AggregateQuery []any

// FTAggregateQuery gives the arguments that FTAggregateWithArgs sends behind the index,
// as strings, or why it would not send them.
func FTAggregateQuery(query string, options *FTAggregateOptions) (AggregateQuery, error) {
	var c baseCmd
	c.begin("ft.aggregate")
	c.str(query)
	if options != nil {
		c.aggregateOptions(options)
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.Args()[1:], nil
}

// aggregateOptions appends the options of an aggregation.
func (c *baseCmd) aggregateOptions(o *FTAggregateOptions) {
	c.opt(o.Verbatim, "VERBATIM")
	c.optStr("SCORER", o.Scorer)
	c.opt(o.AddScores, "ADDSCORES")
	if o.LoadAll {
		c.strs("LOAD", "*")
	}
	if len(o.Steps) > 0 {
		c.optInt(o.Timeout > 0, "TIMEOUT", int64(o.Timeout))
		c.steps(o)
	} else {
		c.loads(o)
		c.optInt(o.Timeout > 0, "TIMEOUT", int64(o.Timeout))
		c.plainSteps(o)
	}
	if o.Limit > 0 {
		c.limit(max(0, o.LimitOffset), o.Limit)
	}
	c.optStr("FILTER", o.Filter)
	if o.WithCursor {
		count, idle := 0, 0
		if o.WithCursorOptions != nil {
			count, idle = o.WithCursorOptions.Count, o.WithCursorOptions.MaxIdle
		}
		c.withCursor(count, idle)
	}
	c.queryParams(o.Params)
	c.dialect(o.DialectVersion)
}

// withCursor appends that the rows are to be given in parts.
func (c *baseCmd) withCursor(count, maxIdle int) {
	c.str("WITHCURSOR")
	c.optInt(count > 0, "COUNT", int64(count))
	c.optInt(maxIdle > 0, "MAXIDLE", int64(maxIdle))
}

// steps appends the steps that Steps are.
func (c *baseCmd) steps(o *FTAggregateOptions) {
	if len(o.Load) > 0 || len(o.Apply) > 0 || len(o.GroupBy) > 0 || len(o.SortBy) > 0 || o.SortByMax > 0 {
		c.reject("an aggregation has Steps, or Load, Apply, GroupBy, SortBy and SortByMax, not both")
	}
	for _, s := range o.Steps {
		given := 0
		if s.Load != nil {
			given++
			if o.LoadAll {
				c.reject(errLoadAll)
			}
			c.load(s.Load)
		}
		if s.Apply != nil {
			given++
			c.apply(s.Apply)
		}
		if s.GroupBy != nil {
			given++
			c.groupBy(s.GroupBy)
		}
		if s.SortBy != nil {
			given++
			c.sortRows(s.SortBy.Fields, s.SortBy.Max)
		}
		if given != 1 {
			c.reject("a step is exactly one of Load, Apply, GroupBy and SortBy")
		}
	}
}

// errLoadAll is why an aggregation is not sent that loads all fields, and some.
const errLoadAll = "an aggregation has LoadAll or Load, not both"

// loads appends the fields that Load has, in one clause.
func (c *baseCmd) loads(o *FTAggregateOptions) {
	if len(o.Load) == 0 {
		return
	}
	if o.LoadAll {
		c.reject(errLoadAll)
	}
	n := len(o.Load)
	for _, l := range o.Load {
		if l.As != "" {
			n += 2
		}
	}
	c.optInt(true, "LOAD", int64(n))
	for _, l := range o.Load {
		c.str(l.Field)
		c.optStr("AS", l.As)
	}
}

// plainSteps appends the steps that Apply, GroupBy and SortBy have.
func (c *baseCmd) plainSteps(o *FTAggregateOptions) {
	for i := range o.Apply {
		c.apply(&o.Apply[i])
	}
	for i := range o.GroupBy {
		c.groupBy(&o.GroupBy[i])
	}
	if len(o.SortBy) > 0 {
		c.sortRows(o.SortBy, o.SortByMax)
	} else if o.SortByMax > 0 {
		c.reject("SortByMax needs SortBy")
	}
}

// load appends one field to load.
func (c *baseCmd) load(l *FTAggregateLoad) {
	n := int64(1)
	if l.As != "" {
		n = 3
	}
	c.optInt(true, "LOAD", n)
	c.str(l.Field)
	c.optStr("AS", l.As)
}

// apply appends one property to make.
func (c *baseCmd) apply(a *FTAggregateApply) {
	c.strs("APPLY", a.Field)
	c.optStr("AS", a.As)
}

// groupBy appends one grouping.
func (c *baseCmd) groupBy(g *FTAggregateGroupBy) {
	c.list("GROUPBY", g.Fields)
	for _, r := range g.Reduce {
		c.str("REDUCE")
		c.list(r.Reducer.String(), r.Args)
		c.optStr("AS", r.As)
	}
}

// sortRows appends one sorting.
func (c *baseCmd) sortRows(fields []FTAggregateSortBy, most int) {
	n := len(fields)
	for _, by := range fields {
		if by.Asc || by.Desc {
			n++
		}
	}
	c.optInt(true, "SORTBY", int64(n))
	for _, by := range fields {
		c.str(by.FieldName)
		word := c.sortWord(by.Asc, by.Desc)
		c.opt(word != "", word)
	}
	c.optInt(most > 0, "MAX", int64(most))
}

//------------------------------------------------------------------------------

// FTAggregateCollect makes a list of the rows of a group; see NewCollectReducer.
type FTAggregateCollect struct {
	Fields    []string // properties that are kept, with or without @
	FieldsAll bool     // all; Fields don't count then
	Distinct  bool     // equal rows once only
	SortBy    []FTAggregateSortBy
	Limit     *FTAggregateCollectLimit
	As        string // the list's name
}

// FTAggregateCollectLimit is which rows of a group are kept.
type FTAggregateCollectLimit struct {
	Offset int
	Count  int
}

// NewCollectReducer makes the reducer COLLECT, whose value AggregateRow.Collect reads, or
// tells what is wrong. Since Redis 8.8.
func NewCollectReducer(c FTAggregateCollect) (FTAggregateReducer, error) {
	none := FTAggregateReducer{}
	var args []any
	switch {
	case c.FieldsAll:
		args = append(args, "FIELDS", "*")
	case len(c.Fields) == 0:
		return none, errors.New("redis: COLLECT needs Fields or FieldsAll")
	default:
		args = append(args, "FIELDS", len(c.Fields))
		for _, name := range c.Fields {
			if name == "" {
				return none, errors.New("redis: COLLECT: a name in Fields is empty")
			}
			args = append(args, property(name))
		}
	}
	if c.Distinct {
		args = append(args, "DISTINCT")
	}
	if len(c.SortBy) > 0 {
		var by []any
		for _, s := range c.SortBy {
			switch {
			case s.FieldName == "":
				return none, errors.New("redis: COLLECT: a name in SortBy is empty")
			case s.Asc && s.Desc:
				return none, errors.New("redis: COLLECT: " + errBothWays)
			}
			by = append(by, property(s.FieldName))
			switch {
			case s.Asc:
				by = append(by, "ASC")
			case s.Desc:
				by = append(by, "DESC")
			}
		}
		args = append(append(args, "SORTBY", len(by)), by...)
	}
	if c.Limit != nil {
		args = append(args, "LIMIT", c.Limit.Offset, c.Limit.Count)
	}
	return FTAggregateReducer{Reducer: SearchCollect, Args: args, As: c.As}, nil
}

// property is a name with the @ that says that it is a property.
func property(name string) string {
	if strings.HasPrefix(name, "@") {
		return name
	}
	return "@" + name
}

// CollectEntry is a row that COLLECT has kept, by property.
type CollectEntry = map[string]any

// CollectColumn is what COLLECT has made of a group.
type CollectColumn = []CollectEntry

// Collect is the value of a COLLECT by its name: nil if there is none or a null. A value
// that is no list of rows is an error.
func (r AggregateRow) Collect(name string) (CollectColumn, error) {
	v := r.Fields[name]
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("redis: COLLECT %q: want a list of rows, got %T", name, v)
	}
	column := make(CollectColumn, len(list))
	for i, v := range list {
		row, err := toProperties(v)
		if err != nil {
			return nil, fmt.Errorf("redis: COLLECT %q: row %d: %w", name, i, err)
		}
		column[i] = row
	}
	return column, nil
}

// toProperties makes a map with strings as keys of what a reply has for one: such a map,
// one with keys of any type, or names and values in turn.
func toProperties(v any) (map[string]any, error) {
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case map[any]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("want a string as name, got %T", key)
			}
			m[name] = value
		}
		return m, nil
	case []any:
		if len(v)%2 != 0 {
			return nil, fmt.Errorf("want names and values, got %d values", len(v))
		}
		m := make(map[string]any, len(v)/2)
		for i := 0; i < len(v); i += 2 {
			name, ok := v[i].(string)
			if !ok {
				return nil, fmt.Errorf("want a string as name, got %T", v[i])
			}
			m[name] = v[i+1]
		}
		return m, nil
	}
	return nil, fmt.Errorf("want names and values, got %T", v)
}
