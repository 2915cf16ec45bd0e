package redis

import "context"

// SearchBuilder builds an FTSearch.
type SearchBuilder struct {
	searchBuilder

	query   string
	options *FTSearchOptions // a pointer, so that builders can be compared
}

// NewSearchBuilder begins an FTSearch.
func (c *Client) NewSearchBuilder(ctx context.Context, index, query string) *SearchBuilder {
	return &SearchBuilder{searchBuilder: c.builds(ctx, index), query: query, options: &FTSearchOptions{}}
}

// WithScores gives scores.
func (b *SearchBuilder) WithScores() *SearchBuilder { b.options.WithScores = true; return b }

// NoContent gives no fields.
func (b *SearchBuilder) NoContent() *SearchBuilder { b.options.NoContent = true; return b }

// Verbatim searches for words as they are.
func (b *SearchBuilder) Verbatim() *SearchBuilder { b.options.Verbatim = true; return b }

// NoStopWords searches for stop words too.
func (b *SearchBuilder) NoStopWords() *SearchBuilder { b.options.NoStopWords = true; return b }

// WithPayloads gives payloads.
func (b *SearchBuilder) WithPayloads() *SearchBuilder { b.options.WithPayloads = true; return b }

// WithSortKeys gives what documents are sorted by.
func (b *SearchBuilder) WithSortKeys() *SearchBuilder { b.options.WithSortKeys = true; return b }

// Filter adds a range of numbers.
func (b *SearchBuilder) Filter(field string, lowest, highest any) *SearchBuilder {
	b.options.Filters = append(b.options.Filters, FTSearchFilter{FieldName: field, Min: lowest, Max: highest})
	return b
}

// GeoFilter adds a circle.
func (b *SearchBuilder) GeoFilter(field string, lon, lat, radius float64, unit string) *SearchBuilder {
	f := FTSearchGeoFilter{FieldName: field, Longitude: lon, Latitude: lat, Radius: radius, Unit: unit}
	b.options.GeoFilter = append(b.options.GeoFilter, f)
	return b
}

// InKeys adds documents; only they are looked at.
func (b *SearchBuilder) InKeys(keys ...any) *SearchBuilder {
	b.options.InKeys = append(b.options.InKeys, keys...)
	return b
}

// InFields adds fields; only they are looked at.
func (b *SearchBuilder) InFields(fields ...any) *SearchBuilder {
	b.options.InFields = append(b.options.InFields, fields...)
	return b
}

// ReturnFields adds fields to give.
func (b *SearchBuilder) ReturnFields(fields ...string) *SearchBuilder {
	for _, f := range fields {
		b.ReturnAs(f, "")
	}
	return b
}

// ReturnAs adds a field to give under another name.
func (b *SearchBuilder) ReturnAs(field, alias string) *SearchBuilder {
	b.options.Return = append(b.options.Return, FTSearchReturn{FieldName: field, As: alias})
	return b
}

// Slop sets how many words may be between those of a phrase.
func (b *SearchBuilder) Slop(slop int) *SearchBuilder { b.options.Slop = slop; return b }

// Timeout sets how many milliseconds it may take.
func (b *SearchBuilder) Timeout(timeout int) *SearchBuilder { b.options.Timeout = timeout; return b }

// InOrder wants words in the order of the query.
func (b *SearchBuilder) InOrder() *SearchBuilder { b.options.InOrder = true; return b }

// Language sets the query's language.
func (b *SearchBuilder) Language(lang string) *SearchBuilder { b.options.Language = lang; return b }

// Expander sets a custom query expander.
func (b *SearchBuilder) Expander(expander string) *SearchBuilder {
	b.options.Expander = expander
	return b
}

// Scorer sets the scorer.
func (b *SearchBuilder) Scorer(scorer string) *SearchBuilder { b.options.Scorer = scorer; return b }

// ExplainScore explains scores.
func (b *SearchBuilder) ExplainScore() *SearchBuilder { b.options.ExplainScore = true; return b }

// Payload sets a payload for custom scorers.
func (b *SearchBuilder) Payload(payload string) *SearchBuilder {
	b.options.Payload = payload
	return b
}

// SortBy adds a field to sort by, descending if asc is false.
func (b *SearchBuilder) SortBy(field string, asc bool) *SearchBuilder {
	b.options.SortBy = append(b.options.SortBy, FTSearchSortBy{FieldName: field, Asc: asc, Desc: !asc})
	return b
}

// WithSortByCount makes the total exact, with SortBy.
func (b *SearchBuilder) WithSortByCount() *SearchBuilder {
	b.options.SortByWithCount = true
	return b
}

// Param sets a parameter.
func (b *SearchBuilder) Param(key string, value any) *SearchBuilder {
	addParam(&b.options.Params, map[string]any{key: value})
	return b
}

// ParamsMap sets several parameters.
func (b *SearchBuilder) ParamsMap(p map[string]any) *SearchBuilder {
	addParam(&b.options.Params, p)
	return b
}

// Dialect sets the dialect.
func (b *SearchBuilder) Dialect(version int) *SearchBuilder {
	b.options.DialectVersion = version
	return b
}

// Limit sets how many documents are left out, and how many are given.
func (b *SearchBuilder) Limit(offset, count int) *SearchBuilder {
	b.options.LimitOffset, b.options.Limit = offset, count
	return b
}

// CountOnly gives no documents.
func (b *SearchBuilder) CountOnly() *SearchBuilder { b.options.CountOnly = true; return b }

// Run searches.
func (b *SearchBuilder) Run() (FTSearchResult, error) {
	return b.c.FTSearchWithArgs(b.ctx, b.index, b.query, b.options).Result()
}

//------------------------------------------------------------------------------

// AggregateBuilder builds an FTAggregate. Load, Apply, GroupBy and SortBy add steps, in
// their order.
type AggregateBuilder struct {
	searchBuilder

	query   string
	options *FTAggregateOptions // a pointer, so that builders can be compared
	err     error               // the first mistake
}

// NewAggregateBuilder begins an FTAggregate.
func (c *Client) NewAggregateBuilder(ctx context.Context, index, query string) *AggregateBuilder {
	return &AggregateBuilder{searchBuilder: c.builds(ctx, index), query: query, options: &FTAggregateOptions{}}
}

// Verbatim searches for words as they are.
func (b *AggregateBuilder) Verbatim() *AggregateBuilder { b.options.Verbatim = true; return b }

// AddScores makes scores a property.
func (b *AggregateBuilder) AddScores() *AggregateBuilder { b.options.AddScores = true; return b }

// Scorer sets the scorer.
func (b *AggregateBuilder) Scorer(s string) *AggregateBuilder { b.options.Scorer = s; return b }

// LoadAll takes all fields of the documents.
func (b *AggregateBuilder) LoadAll() *AggregateBuilder { b.options.LoadAll = true; return b }

// Load adds a field of the documents, under another name if there is one.
func (b *AggregateBuilder) Load(field string, alias ...string) *AggregateBuilder {
	return b.step(FTAggregateStep{Load: &FTAggregateLoad{Field: field, As: firstOf(alias)}})
}

// Timeout sets how many milliseconds it may take.
func (b *AggregateBuilder) Timeout(ms int) *AggregateBuilder { b.options.Timeout = ms; return b }

// Apply adds a property, under a name if there is one.
func (b *AggregateBuilder) Apply(field string, alias ...string) *AggregateBuilder {
	return b.step(FTAggregateStep{Apply: &FTAggregateApply{Field: field, As: firstOf(alias)}})
}

// GroupBy adds a grouping; Reduce, ReduceAs and Collect, right after it, belong to it.
func (b *AggregateBuilder) GroupBy(fields ...any) *AggregateBuilder {
	return b.step(FTAggregateStep{GroupBy: &FTAggregateGroupBy{Fields: fields}})
}

// Reduce adds a value of the groups.
func (b *AggregateBuilder) Reduce(fn SearchAggregator, args ...any) *AggregateBuilder {
	return b.ReduceAs(fn, "", args...)
}

// ReduceAs adds a value of the groups under a name.
func (b *AggregateBuilder) ReduceAs(fn SearchAggregator, alias string, args ...any) *AggregateBuilder {
	return b.reduce(FTAggregateReducer{Reducer: fn, Args: args, As: alias})
}

// Collect adds a list of rows of the groups.
func (b *AggregateBuilder) Collect(c FTAggregateCollect) *AggregateBuilder {
	r, err := NewCollectReducer(c)
	if err != nil {
		return b.fail(err)
	}
	return b.reduce(r)
}

// SortBy adds a property to sort by, descending if asc is false. SortBy right after
// SortBy is one sorting.
func (b *AggregateBuilder) SortBy(field string, asc bool) *AggregateBuilder {
	by := FTAggregateSortBy{FieldName: field, Asc: asc, Desc: !asc}
	if last := b.last(); last.SortBy != nil {
		last.SortBy.Fields = append(last.SortBy.Fields, by)
		return b
	}
	return b.step(FTAggregateStep{SortBy: &FTAggregateSortByStep{Fields: []FTAggregateSortBy{by}}})
}

// SortByMax sets how many rows the sorting right before it keeps.
func (b *AggregateBuilder) SortByMax(n int) *AggregateBuilder {
	last := b.last()
	if last.SortBy == nil {
		return b.mistake("SortByMax comes right after SortBy")
	}
	last.SortBy.Max = n
	return b
}

// Filter sets an expression that rows must fulfil at the end.
func (b *AggregateBuilder) Filter(expr string) *AggregateBuilder { b.options.Filter = expr; return b }

// WithCursor gives the rows in parts; 0 is the server's default.
func (b *AggregateBuilder) WithCursor(count, maxIdle int) *AggregateBuilder {
	b.options.WithCursor = true
	b.options.WithCursorOptions = &FTAggregateWithCursor{Count: count, MaxIdle: maxIdle}
	return b
}

// Params sets parameters.
func (b *AggregateBuilder) Params(p map[string]any) *AggregateBuilder {
	addParam(&b.options.Params, p)
	return b
}

// Dialect sets the dialect.
func (b *AggregateBuilder) Dialect(version int) *AggregateBuilder {
	b.options.DialectVersion = version
	return b
}

// Run aggregates, or gives the first mistake that was made.
func (b *AggregateBuilder) Run() (*FTAggregateResult, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.c.FTAggregateWithArgs(b.ctx, b.index, b.query, b.options).Result()
}

// last is the last step, an empty one if there is none.
func (b *AggregateBuilder) last() FTAggregateStep {
	if n := len(b.options.Steps); n > 0 {
		return b.options.Steps[n-1]
	}
	return FTAggregateStep{}
}

// step adds a step.
func (b *AggregateBuilder) step(s FTAggregateStep) *AggregateBuilder {
	b.options.Steps = append(b.options.Steps, s)
	return b
}

// reduce adds a value of the groups.
func (b *AggregateBuilder) reduce(r FTAggregateReducer) *AggregateBuilder {
	last := b.last()
	if last.GroupBy == nil {
		return b.mistake("Reduce and Collect come right after GroupBy")
	}
	last.GroupBy.Reduce = append(last.GroupBy.Reduce, r)
	return b
}

// mistake is fail with a text.
func (b *AggregateBuilder) mistake(text string) *AggregateBuilder {
	var c baseCmd
	c.begin("ft.aggregate")
	c.reject("" + text)
	return b.fail(c.err)
}

// fail keeps the first mistake.
func (b *AggregateBuilder) fail(err error) *AggregateBuilder {
	if b.err == nil {
		b.err = err
	}
	return b
}

// firstOf is the first of some strings, empty if there is none.
func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
