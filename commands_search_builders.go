package redis

import (
	"context"
	"fmt"
	"maps"
	"strings"
)

// A searchBuilder collects the options of one command, method by method, and Run sends
// it. What is set twice counts the last time; what adds to a list says so. A builder is
// for one goroutine. It keeps the context because go-redis's builders take it first.
type searchBuilder struct {
	c     *Client
	ctx   context.Context
	index string
}

// builds is what a builder of this client begins with.
func (c *Client) builds(ctx context.Context, index string) searchBuilder {
	return searchBuilder{c: c, ctx: ctx, index: index}
}

// errNoAction is the error of a builder that was not told what to do.
func errNoAction(command, action, want string) error {
	err := fmt.Errorf("want %s first", want)
	if action != "" {
		err = fmt.Errorf("%q is no action: %w", action, err)
	}
	return &CommandError{Command: command, Delivery: NotSent, Err: err}
}

// CreateIndexBuilder builds an FTCreate.
type CreateIndexBuilder struct {
	searchBuilder

	options FTCreateOptions
	schema  []*FieldSchema
}

// NewCreateIndexBuilder begins an FTCreate.
func (c *Client) NewCreateIndexBuilder(ctx context.Context, index string) *CreateIndexBuilder {
	return &CreateIndexBuilder{searchBuilder: c.builds(ctx, index)}
}

// OnHash indexes hashes.
func (b *CreateIndexBuilder) OnHash() *CreateIndexBuilder { b.options.OnHash = true; return b }

// OnJSON indexes JSON documents.
func (b *CreateIndexBuilder) OnJSON() *CreateIndexBuilder { b.options.OnJSON = true; return b }

// Prefix sets what the keys begin with.
func (b *CreateIndexBuilder) Prefix(prefixes ...any) *CreateIndexBuilder {
	b.options.Prefix = prefixes
	return b
}

// Filter sets an expression that documents must fulfil.
func (b *CreateIndexBuilder) Filter(filter string) *CreateIndexBuilder {
	b.options.Filter = filter
	return b
}

// DefaultLanguage sets the language of the documents.
func (b *CreateIndexBuilder) DefaultLanguage(lang string) *CreateIndexBuilder {
	b.options.DefaultLanguage = lang
	return b
}

// LanguageField sets the field with a document's language.
func (b *CreateIndexBuilder) LanguageField(field string) *CreateIndexBuilder {
	b.options.LanguageField = field
	return b
}

// Score sets the score of documents.
func (b *CreateIndexBuilder) Score(score float64) *CreateIndexBuilder {
	b.options.Score = score
	return b
}

// ScoreField sets the field with a document's score.
func (b *CreateIndexBuilder) ScoreField(field string) *CreateIndexBuilder {
	b.options.ScoreField = field
	return b
}

// PayloadField sets the field with a document's payload.
func (b *CreateIndexBuilder) PayloadField(field string) *CreateIndexBuilder {
	b.options.PayloadField = field
	return b
}

// NoOffsets keeps no positions of terms.
func (b *CreateIndexBuilder) NoOffsets() *CreateIndexBuilder { b.options.NoOffsets = true; return b }

// Temporary sets after how many seconds without a query the index goes.
func (b *CreateIndexBuilder) Temporary(sec int) *CreateIndexBuilder {
	b.options.Temporary = sec
	return b
}

// NoHL makes that nothing can be highlighted.
func (b *CreateIndexBuilder) NoHL() *CreateIndexBuilder { b.options.NoHL = true; return b }

// NoFields does not keep in which field a term is.
func (b *CreateIndexBuilder) NoFields() *CreateIndexBuilder { b.options.NoFields = true; return b }

// NoFreqs does not keep how often a term is there.
func (b *CreateIndexBuilder) NoFreqs() *CreateIndexBuilder { b.options.NoFreqs = true; return b }

// StopWords sets the words that are not indexed; none: all words are.
func (b *CreateIndexBuilder) StopWords(words ...any) *CreateIndexBuilder {
	b.options.StopWords = append([]any{}, words...)
	return b
}

// SkipInitialScan does not index the documents that exist.
func (b *CreateIndexBuilder) SkipInitialScan() *CreateIndexBuilder {
	b.options.SkipInitialScan = true
	return b
}

// Schema adds a field.
func (b *CreateIndexBuilder) Schema(field *FieldSchema) *CreateIndexBuilder {
	b.schema = append(b.schema, field)
	return b
}

// Run makes the index.
func (b *CreateIndexBuilder) Run() (string, error) {
	return b.c.FTCreate(b.ctx, b.index, &b.options, b.schema...).Result()
}

// DropIndexBuilder builds an FTDropIndex.
type DropIndexBuilder struct {
	searchBuilder

	options FTDropIndexOptions
}

// NewDropIndexBuilder begins an FTDropIndex.
func (c *Client) NewDropIndexBuilder(ctx context.Context, index string) *DropIndexBuilder {
	return &DropIndexBuilder{searchBuilder: c.builds(ctx, index)}
}

// DeleteDocs removes the documents too.
func (b *DropIndexBuilder) DeleteDocs() *DropIndexBuilder { b.options.DeleteDocs = true; return b }

// Run removes the index.
func (b *DropIndexBuilder) Run() (string, error) {
	return b.c.FTDropIndexWithArgs(b.ctx, b.index, &b.options).Result()
}

// AliasBuilder builds an FTAliasAdd, FTAliasDel or FTAliasUpdate.
type AliasBuilder struct {
	searchBuilder // index is what Add and Update say

	alias  string
	action string
}

// NewAliasBuilder begins a command for another name of an index.
func (c *Client) NewAliasBuilder(ctx context.Context, alias string) *AliasBuilder {
	return &AliasBuilder{searchBuilder: c.builds(ctx, ""), alias: alias}
}

// Action sets what to do: add, del or update.
func (b *AliasBuilder) Action(action string) *AliasBuilder { b.action = action; return b }

// Add gives the name to an index.
func (b *AliasBuilder) Add(index string) *AliasBuilder { b.index = index; return b.Action("add") }

// Del removes the name.
func (b *AliasBuilder) Del() *AliasBuilder { return b.Action("del") }

// Update gives the name to an index, whoever has it.
func (b *AliasBuilder) Update(index string) *AliasBuilder {
	b.index = index
	return b.Action("update")
}

// Run sends the command. It is an error if it was not said which.
func (b *AliasBuilder) Run() (string, error) {
	switch strings.ToLower(b.action) {
	case "add":
		return b.c.FTAliasAdd(b.ctx, b.index, b.alias).Result()
	case "del":
		return b.c.FTAliasDel(b.ctx, b.alias).Result()
	case "update":
		return b.c.FTAliasUpdate(b.ctx, b.index, b.alias).Result()
	}
	return "", errNoAction("ft.alias", b.action, "Add, Del or Update")
}

// ExplainBuilder builds an FTExplain.
type ExplainBuilder struct {
	searchBuilder

	query   string
	options FTExplainOptions
}

// NewExplainBuilder begins an FTExplain.
func (c *Client) NewExplainBuilder(ctx context.Context, index, query string) *ExplainBuilder {
	return &ExplainBuilder{searchBuilder: c.builds(ctx, index), query: query}
}

// Dialect sets the dialect.
func (b *ExplainBuilder) Dialect(d string) *ExplainBuilder { b.options.Dialect = d; return b }

// Run gives the plan.
func (b *ExplainBuilder) Run() (string, error) {
	return b.c.FTExplainWithArgs(b.ctx, b.index, b.query, &b.options).Result()
}

// FTInfoBuilder builds an FTInfo.
type FTInfoBuilder struct{ searchBuilder }

// NewSearchInfoBuilder begins an FTInfo.
func (c *Client) NewSearchInfoBuilder(ctx context.Context, index string) *FTInfoBuilder {
	return &FTInfoBuilder{searchBuilder: c.builds(ctx, index)}
}

// Run describes the index.
func (b *FTInfoBuilder) Run() (FTInfoResult, error) { return b.c.FTInfo(b.ctx, b.index).Result() }

// SpellCheckBuilder builds an FTSpellCheck.
type SpellCheckBuilder struct {
	searchBuilder

	query   string
	options FTSpellCheckOptions
}

// NewSpellCheckBuilder begins an FTSpellCheck.
func (c *Client) NewSpellCheckBuilder(ctx context.Context, index, query string) *SpellCheckBuilder {
	return &SpellCheckBuilder{searchBuilder: c.builds(ctx, index), query: query}
}

// Distance sets how many letters may differ.
func (b *SpellCheckBuilder) Distance(d int) *SpellCheckBuilder { b.options.Distance = d; return b }

// Terms sets a dictionary whose terms are suggested, or are not if include is false.
func (b *SpellCheckBuilder) Terms(include bool, dictionary string, terms ...any) *SpellCheckBuilder {
	t := &FTSpellCheckTerms{Inclusion: "EXCLUDE", Dictionary: dictionary, Terms: terms}
	if include {
		t.Inclusion = "INCLUDE"
	}
	b.options.Terms = t
	return b
}

// Dialect sets the dialect.
func (b *SpellCheckBuilder) Dialect(d int) *SpellCheckBuilder { b.options.Dialect = d; return b }

// Run gives the suggestions.
func (b *SpellCheckBuilder) Run() ([]SpellCheckResult, error) {
	return b.c.FTSpellCheckWithArgs(b.ctx, b.index, b.query, &b.options).Result()
}

// DictBuilder builds an FTDictAdd, FTDictDel or FTDictDump.
type DictBuilder struct {
	searchBuilder // index is the dictionary

	terms  []any
	action string
}

// NewDictBuilder begins a command for a dictionary.
func (c *Client) NewDictBuilder(ctx context.Context, dict string) *DictBuilder {
	return &DictBuilder{searchBuilder: c.builds(ctx, dict)}
}

// Action sets what to do: add, del or dump.
func (b *DictBuilder) Action(action string) *DictBuilder { b.action = action; return b }

// Add adds terms.
func (b *DictBuilder) Add(terms ...any) *DictBuilder { b.terms = terms; return b.Action("add") }

// Del removes terms.
func (b *DictBuilder) Del(terms ...any) *DictBuilder { b.terms = terms; return b.Action("del") }

// Dump gives the terms.
func (b *DictBuilder) Dump() *DictBuilder { return b.Action("dump") }

// Run sends the command, and gives an int64, or a []string for Dump. It is an error if it
// was not said which.
func (b *DictBuilder) Run() (any, error) {
	switch strings.ToLower(b.action) {
	case "add":
		return anyResult(b.c.FTDictAdd(b.ctx, b.index, b.terms...).Result())
	case "del":
		return anyResult(b.c.FTDictDel(b.ctx, b.index, b.terms...).Result())
	case "dump":
		return anyResult(b.c.FTDictDump(b.ctx, b.index).Result())
	}
	return nil, errNoAction("ft.dict", b.action, "Add, Del or Dump")
}

// anyResult is a result of any type.
func anyResult[T any](v T, err error) (any, error) { return v, err }

// TagValsBuilder builds an FTTagVals.
type TagValsBuilder struct {
	searchBuilder

	field string
}

// NewTagValsBuilder begins an FTTagVals.
func (c *Client) NewTagValsBuilder(ctx context.Context, index, field string) *TagValsBuilder {
	return &TagValsBuilder{searchBuilder: c.builds(ctx, index), field: field}
}

// Run gives the values.
func (b *TagValsBuilder) Run() ([]string, error) {
	return b.c.FTTagVals(b.ctx, b.index, b.field).Result()
}

// CursorBuilder builds an FTCursorRead or FTCursorDel.
type CursorBuilder struct {
	searchBuilder

	cursor int64
	count  int
	action string
}

// NewCursorBuilder begins a command for a cursor.
func (c *Client) NewCursorBuilder(ctx context.Context, index string, cursorID int64) *CursorBuilder {
	return &CursorBuilder{searchBuilder: c.builds(ctx, index), cursor: cursorID}
}

// Action sets what to do: read or del.
func (b *CursorBuilder) Action(action string) *CursorBuilder { b.action = action; return b }

// Read gives the next rows.
func (b *CursorBuilder) Read() *CursorBuilder { return b.Action("read") }

// Del removes the cursor.
func (b *CursorBuilder) Del() *CursorBuilder { return b.Action("del") }

// Count sets how many rows Read gives.
func (b *CursorBuilder) Count(count int) *CursorBuilder { b.count = count; return b }

// Run sends the command, and gives the map that FTCursorRead has, or a string for Del. It
// is an error if it was not said which.
func (b *CursorBuilder) Run() (any, error) {
	switch strings.ToLower(b.action) {
	case "read":
		return anyResult(b.c.FTCursorRead(b.ctx, b.index, int(b.cursor), b.count).Result())
	case "del":
		return anyResult(b.c.FTCursorDel(b.ctx, b.index, int(b.cursor)).Result())
	}
	return nil, errNoAction("ft.cursor", b.action, "Read or Del")
}

// SynUpdateBuilder builds an FTSynUpdate.
type SynUpdateBuilder struct {
	searchBuilder

	group   any
	terms   []any
	options FTSynUpdateOptions
}

// NewSynUpdateBuilder begins an FTSynUpdate.
func (c *Client) NewSynUpdateBuilder(ctx context.Context, index string, groupID any) *SynUpdateBuilder {
	return &SynUpdateBuilder{searchBuilder: c.builds(ctx, index), group: groupID}
}

// SkipInitialScan does not index the documents again that exist.
func (b *SynUpdateBuilder) SkipInitialScan() *SynUpdateBuilder {
	b.options.SkipInitialScan = true
	return b
}

// Terms sets the synonyms.
func (b *SynUpdateBuilder) Terms(terms ...any) *SynUpdateBuilder { b.terms = terms; return b }

// Run adds the synonyms.
func (b *SynUpdateBuilder) Run() (string, error) {
	return b.c.FTSynUpdateWithArgs(b.ctx, b.index, b.group, &b.options, b.terms).Result()
}

// addParam sets a parameter, in a map that is made if there is none.
func addParam(params *map[string]any, more map[string]any) {
	if *params == nil {
		*params = make(map[string]any, len(more))
	}
	maps.Copy(*params, more)
}
