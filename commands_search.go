package redis

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/baton-go/redis/internal/resp"
)

// SearchCmdable are the commands that index and query hashes and JSON documents. They
// need the search module, which is part of Redis since 8.0. In a cluster any node
// answers for all; see FTCursorRead for what is different with cursors.
type SearchCmdable interface {
	FT_List(ctx context.Context) *StringSliceCmd
	FTAggregate(ctx context.Context, index, query string) *MapStringInterfaceCmd
	FTAggregateWithArgs(ctx context.Context, index, query string, options *FTAggregateOptions) *AggregateCmd
	FTAliasAdd(ctx context.Context, index, alias string) *StatusCmd
	FTAliasDel(ctx context.Context, alias string) *StatusCmd
	FTAliasList(ctx context.Context, index string) *StringSliceCmd
	FTAliasUpdate(ctx context.Context, index, alias string) *StatusCmd
	FTAlter(ctx context.Context, index string, skipInitialScan bool, definition []any) *StatusCmd
	FTConfigGet(ctx context.Context, option string) *MapMapStringInterfaceCmd
	FTConfigSet(ctx context.Context, option string, value any) *StatusCmd
	FTCreate(ctx context.Context, index string, options *FTCreateOptions, schema ...*FieldSchema) *StatusCmd
	FTCursorDel(ctx context.Context, index string, cursorID int) *StatusCmd
	FTCursorRead(ctx context.Context, index string, cursorID, count int) *MapStringInterfaceCmd
	FTDictAdd(ctx context.Context, dict string, term ...any) *IntCmd
	FTDictDel(ctx context.Context, dict string, term ...any) *IntCmd
	FTDictDump(ctx context.Context, dict string) *StringSliceCmd
	FTDropIndex(ctx context.Context, index string) *StatusCmd
	FTDropIndexWithArgs(ctx context.Context, index string, options *FTDropIndexOptions) *StatusCmd
	FTExplain(ctx context.Context, index, query string) *StringCmd
	FTExplainWithArgs(ctx context.Context, index, query string, options *FTExplainOptions) *StringCmd
	FTHybrid(ctx context.Context, index, searchExpr, vectorField string, vectorData Vector) *FTHybridCmd
	FTHybridWithArgs(ctx context.Context, index string, options *FTHybridOptions) *FTHybridCmd
	FTInfo(ctx context.Context, index string) *FTInfoCmd
	FTSearch(ctx context.Context, index, query string) *FTSearchCmd
	FTSearchWithArgs(ctx context.Context, index, query string, options *FTSearchOptions) *FTSearchCmd
	FTSpellCheck(ctx context.Context, index, query string) *FTSpellCheckCmd
	FTSpellCheckWithArgs(ctx context.Context, index, query string, options *FTSpellCheckOptions) *FTSpellCheckCmd
	FTSynDump(ctx context.Context, index string) *FTSynDumpCmd
	FTSynUpdate(ctx context.Context, index string, synGroupID any, terms []any) *StatusCmd
	FTSynUpdateWithArgs(ctx context.Context, index string, synGroupID any, options *FTSynUpdateOptions, terms []any) *StatusCmd
	FTTagVals(ctx context.Context, index, field string) *StringSliceCmd
}

// The words of these commands are in capitals, as they are documented: there is no
// server with the module among those of the tests that could confirm that case does not
// matter.

// defaultDialect is the dialect of queries with options that name none. The server's
// own default is 1, which knows neither parameters nor vectors.
const defaultDialect = 2

// list appends a word, the number of values, and the values.
func (c *baseCmd) list(word string, values []any) {
	c.str(word)
	c.int(int64(len(values)))
	c.args(values...)
}

// optList appends a list if it has any values.
func (c *baseCmd) optList(word string, values []any) {
	if len(values) > 0 {
		c.list(word, values)
	}
}

// optStr appends a word and a text if there is one.
func (c *baseCmd) optStr(word, text string) {
	if text != "" {
		c.strs(word, text)
	}
}

// queryParams appends the parameters of a query, in the order of their names.
func (c *baseCmd) queryParams(params map[string]any) {
	if len(params) == 0 {
		return
	}
	c.optInt(true, "PARAMS", int64(2*len(params)))
	for _, name := range slices.Sorted(maps.Keys(params)) {
		c.str(name)
		c.arg(params[name])
	}
}

// dialect appends the dialect of a query, the default one for 0.
func (c *baseCmd) dialect(version int) {
	if version <= 0 {
		version = defaultDialect
	}
	c.optInt(true, "DIALECT", int64(version))
}

// errBothWays is why a query is not sent that is to be sorted up and down.
const errBothWays = "a field is sorted by Asc or by Desc, not by both"

// sortWord is the word for an order, empty for the server's default; asc and desc must
// not both be wanted.
func (c *baseCmd) sortWord(asc, desc bool) string {
	switch {
	case asc && desc:
		c.reject(errBothWays)
	case asc:
		return "ASC"
	case desc:
		return "DESC"
	}
	return ""
}

// keptReply is what the command types have in common that keep their reply as it came
// beside what was made of it.
type keptReply[T any] struct {
	result[T]

	frame []byte
}

// framed is settled for the reply as it came.
func (c *keptReply[T]) framed() *keptReply[T] {
	if c.due == nil {
		return c
	}
	src, err := c.due.wait()
	if s, ok := src.(interface{ kept() *keptReply[T] }); ok && err == nil {
		return s.kept()
	}
	return &keptReply[T]{}
}

func (c *keptReply[T]) kept() *keptReply[T] { return c }

// keep keeps the next value of r, which is a copy of the reader.
func (c *keptReply[T]) keep(r resp.Reader) {
	c.frame = nil
	switch r.Kind() {
	case resp.KindError, resp.KindBulkError, resp.KindNull:
		return
	}
	if frame, err := r.Raw(); err == nil {
		c.frame = slices.Clone(frame)
	}
}

// RawVal is the reply as it came, in the types that Cmd gives; nil if there is none. Its
// form depends on the protocol and on the server.
func (c *keptReply[T]) RawVal() any {
	frame := c.framed().frame
	if frame == nil {
		return nil
	}
	r := resp.NewReader(frame)
	v, err := r.Any()
	if err != nil {
		return nil
	}
	return v
}

// RawResult is RawVal and the error.
func (c *keptReply[T]) RawResult() (any, error) { return c.RawVal(), c.Err() }

//------------------------------------------------------------------------------

// FT_List gives the names of all indexes, in no order. Since Search 2.0, O(1).
//
//revive:disable-next-line:var-naming // go-redis calls it so
func (c cmdable) FT_List(ctx context.Context) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.begin("ft._list")
	_ = c(ctx, cmd)
	return cmd
}

// FTAliasAdd gives an index another name. An error of the server says that the name is
// taken, or that there is no such index. Since Search 1.0, O(1).
func (c cmdable) FTAliasAdd(ctx context.Context, index, alias string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("ft.aliasadd")
	cmd.strs(alias, index)
	_ = c(ctx, cmd)
	return cmd
}

// FTAliasDel removes another name of an index. An error of the server says that there is
// none. Since Search 1.0, O(1).
func (c cmdable) FTAliasDel(ctx context.Context, alias string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("ft.aliasdel")
	cmd.str(alias)
	_ = c(ctx, cmd)
	return cmd
}

// FTAliasList gives the other names of an index. Since Redis 8.10, O(N) with them.
func (c cmdable) FTAliasList(ctx context.Context, index string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.begin("ft.aliaslist")
	cmd.str(index)
	_ = c(ctx, cmd)
	return cmd
}

// FTAliasUpdate is FTAliasAdd that takes the name away from the index that has it. An
// error of the server says that there is no such index. Since Search 1.0, O(1).
func (c cmdable) FTAliasUpdate(ctx context.Context, index, alias string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("ft.aliasupdate")
	cmd.strs(alias, index)
	_ = c(ctx, cmd)
	return cmd
}

// FTAlter adds a field to an index: definition is its name and then what FT.CREATE has
// behind that. Documents that exist are indexed again unless skipInitialScan. An error of
// the server says that there is no such index. Since Search 1.0, O(N) with the keys.
func (c cmdable) FTAlter(ctx context.Context, index string, skipInitialScan bool, definition []any) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("ft.alter")
	cmd.str(index)
	cmd.opt(skipInitialScan, "SKIPINITIALSCAN")
	cmd.strs("SCHEMA", "ADD")
	cmd.args(definition...)
	_ = c(ctx, cmd)
	return cmd
}

// FTConfigGet gives settings of the module by name, * for all; nil is one that is not
// set. Since Search 1.0, O(1). Since Redis 8.0 ConfigGet gives them too.
func (c cmdable) FTConfigGet(ctx context.Context, option string) *MapMapStringInterfaceCmd {
	cmd := roomy[MapMapStringInterfaceCmd]()
	cmd.sub("ft.config", "GET")
	cmd.str(option)
	_ = c(ctx, cmd)
	return cmd
}

// FTConfigSet changes a setting of the module, in a cluster on all nodes. An error of the
// server says that there is no such setting, or that it can't be changed. Since Search
// 1.0, O(1). Since Redis 8.0 ConfigSet does it too.
func (c cmdable) FTConfigSet(ctx context.Context, option string, value any) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("ft.config", "SET")
	cmd.str(option)
	cmd.arg(value)
	_ = c(ctx, cmd)
	return cmd
}

// FTCursorRead gives the next rows of an aggregation or a hybrid search with a cursor:
// count of them, or as many as WITHCURSOR said if it is not above 0. The value is that
// of FTAggregate, and "cursor" the cursor to go on with, 0 at the end. An error of the
// server says that there is no such cursor: it has ended, or was idle for too long.
// Since Search 1.1, O(1).
//
// A cursor belongs to one node. A cluster client sends commands that open a cursor, and
// those that use it, to the node that has the slot of the index's name; give the same
// name to both, not another one of the index. If that slot moves meanwhile, the cursor
// is not found. It is not sent again by itself if its reply is lost, because those rows
// are read then.
func (c cmdable) FTCursorRead(ctx context.Context, index string, cursorID, count int) *MapStringInterfaceCmd {
	cmd := roomy[MapStringInterfaceCmd]()
	cmd.isRows = true
	cmd.sub("ft.cursor", "READ")
	cmd.str(index)
	cmd.int(int64(cursorID))
	cmd.optInt(count > 0, "COUNT", int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// FTCursorDel removes a cursor; see FTCursorRead. An error of the server says that there
// is none. Since Search 1.1, O(1).
func (c cmdable) FTCursorDel(ctx context.Context, index string, cursorID int) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("ft.cursor", "DEL")
	cmd.str(index)
	cmd.int(int64(cursorID))
	_ = c(ctx, cmd)
	return cmd
}

// FTDictAdd adds terms to a dictionary for FTSpellCheck, and gives how many are new.
// Since Search 1.4, O(1).
func (c cmdable) FTDictAdd(ctx context.Context, dict string, term ...any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("ft.dictadd")
	cmd.str(dict)
	cmd.args(term...)
	_ = c(ctx, cmd)
	return cmd
}

// FTDictDel removes terms from a dictionary, and gives how many there were. Since Search
// 1.4, O(1).
func (c cmdable) FTDictDel(ctx context.Context, dict string, term ...any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.begin("ft.dictdel")
	cmd.str(dict)
	cmd.args(term...)
	_ = c(ctx, cmd)
	return cmd
}

// FTDictDump gives the terms of a dictionary. Since Search 1.4, O(N) with them.
func (c cmdable) FTDictDump(ctx context.Context, dict string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.begin("ft.dictdump")
	cmd.str(dict)
	_ = c(ctx, cmd)
	return cmd
}

// FTDropIndexOptions says what else FTDropIndexWithArgs removes.
type FTDropIndexOptions struct {
	DeleteDocs bool // the indexed documents too
}

// FTDropIndex removes an index, but not the documents. An error of the server says that
// there is none. Since Search 2.0, O(1).
func (c cmdable) FTDropIndex(ctx context.Context, index string) *StatusCmd {
	return c.FTDropIndexWithArgs(ctx, index, nil)
}

// FTDropIndexWithArgs is FTDropIndex that may remove the documents too. Since Search 2.0,
// O(1), or O(N) with the keys if they are removed.
func (c cmdable) FTDropIndexWithArgs(ctx context.Context, index string, options *FTDropIndexOptions) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("ft.dropindex")
	cmd.str(index)
	cmd.opt(options != nil && options.DeleteDocs, "DD")
	_ = c(ctx, cmd)
	return cmd
}

// FTExplainOptions says how FTExplainWithArgs understands a query.
type FTExplainOptions struct {
	Dialect string // empty: 2
}

// FTExplain gives the plan of a query as text of several lines, in the server's default
// dialect. An error of the server says that there is no such index, or what is wrong with
// the query. Since Search 1.0, O(1).
func (c cmdable) FTExplain(ctx context.Context, index, query string) *StringCmd {
	return c.FTExplainWithArgs(ctx, index, query, nil)
}

// FTExplainWithArgs is FTExplain with a dialect. Since Search 2.4.3, O(1).
func (c cmdable) FTExplainWithArgs(ctx context.Context, index, query string, options *FTExplainOptions) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.begin("ft.explain")
	cmd.strs(index, query)
	switch {
	case options == nil:
	case options.Dialect != "":
		cmd.strs("DIALECT", options.Dialect)
	default:
		cmd.dialect(0)
	}
	_ = c(ctx, cmd)
	return cmd
}

// FTExplainCli always gives an error, as it does in go-redis: FT.EXPLAINCLI is for people
// at a terminal. FTExplain gives the same plan.
func (c cmdable) FTExplainCli(_ context.Context, _, _ string) error {
	return &CommandError{Command: "ft.explaincli", Delivery: NotSent, Err: errors.New("it is for terminals: use FTExplain")}
}

// FTTagVals gives the different values of a TAG field of an index, in no order. An error
// of the server says that there is no such index, or that the field is no TAG field.
// Since Search 1.0, O(N) with them.
func (c cmdable) FTTagVals(ctx context.Context, index, field string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.begin("ft.tagvals")
	cmd.strs(index, field)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// MapMapStringInterfaceCmd is a command whose reply is pairs of a name and a value of any
// type: an array of arrays of two in RESP2, a map in RESP3.
type MapMapStringInterfaceCmd struct{ result[map[string]any] }

// NewMapMapStringInterfaceCmd makes a command of its arguments, the name first.
func NewMapMapStringInterfaceCmd(_ context.Context, args ...any) *MapMapStringInterfaceCmd {
	c := roomy[MapMapStringInterfaceCmd]()
	c.beginArgs(args)
	return c
}

func (c *MapMapStringInterfaceCmd) readReply(r *resp.Reader) (err error) {
	if r.Kind() == resp.KindMap {
		c.val, err = readMap(r, readElement)
		return err
	}
	c.val = nil
	n, err := r.ArrayLen()
	if err != nil {
		return err
	}
	val := make(map[string]any, n)
	for range n {
		if err := expectLen(r, 2, "name and value"); err != nil {
			return err
		}
		name, err := r.String()
		if err != nil {
			return err
		}
		if val[name], err = readElement(r); err != nil {
			return err
		}
	}
	c.val = val
	return nil
}
