package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/baton-go/redis/internal/resp"
)

// JSONCmdable are the commands for JSON documents, of the module RedisJSON, which Redis
// 8 brings along. A path that begins with $ may match several values, and the reply is
// a list with one entry for each; a path of the older form, which begins with a dot,
// means the first match, and where a method gives a list, it has that one entry.
type JSONCmdable interface {
	JSONArrAppend(ctx context.Context, key, path string, values ...any) *IntSliceCmd
	JSONArrIndex(ctx context.Context, key, path string, value ...any) *IntSliceCmd
	JSONArrIndexWithArgs(ctx context.Context, key, path string, options *JSONArrIndexArgs, value ...any) *IntSliceCmd
	JSONArrInsert(ctx context.Context, key, path string, index int64, values ...any) *IntSliceCmd
	JSONArrLen(ctx context.Context, key, path string) *IntSliceCmd
	JSONArrPop(ctx context.Context, key, path string, index int) *StringSliceCmd
	JSONArrTrim(ctx context.Context, key, path string) *IntSliceCmd
	JSONArrTrimWithArgs(ctx context.Context, key, path string, options *JSONArrTrimArgs) *IntSliceCmd
	JSONClear(ctx context.Context, key, path string) *IntCmd
	JSONDebugMemory(ctx context.Context, key, path string) *IntCmd
	JSONDel(ctx context.Context, key, path string) *IntCmd
	JSONForget(ctx context.Context, key, path string) *IntCmd
	JSONGet(ctx context.Context, key string, paths ...string) *JSONCmd
	JSONGetWithArgs(ctx context.Context, key string, options *JSONGetArgs, paths ...string) *JSONCmd
	JSONMGet(ctx context.Context, path string, keys ...string) *JSONSliceCmd
	JSONMSet(ctx context.Context, params ...any) *StatusCmd
	JSONMSetArgs(ctx context.Context, docs []JSONSetArgs) *StatusCmd
	JSONMerge(ctx context.Context, key, path, value string) *StatusCmd
	JSONNumIncrBy(ctx context.Context, key, path string, value float64) *JSONCmd
	JSONObjKeys(ctx context.Context, key, path string) *SliceCmd
	JSONObjLen(ctx context.Context, key, path string) *IntPointerSliceCmd
	JSONSet(ctx context.Context, key, path string, value any) *StatusCmd
	JSONSetMode(ctx context.Context, key, path string, value any, mode string) *StatusCmd
	JSONSetWithArgs(ctx context.Context, key, path string, value any, options *JSONSetArgsOptions) *StatusCmd
	JSONStrAppend(ctx context.Context, key, path, value string) *IntPointerSliceCmd
	JSONStrLen(ctx context.Context, key, path string) *IntPointerSliceCmd
	JSONToggle(ctx context.Context, key, path string) *IntPointerSliceCmd
	JSONType(ctx context.Context, key, path string) *JSONSliceCmd
}

// JSONSetArgs is a value for JSONMSetArgs, and where it goes.
type JSONSetArgs struct {
	Key   string
	Path  string
	Value any // see JSONSet
}

// JSONSetArgsOptions are the options of JSONSetWithArgs.
type JSONSetArgsOptions struct {
	Mode string   // NX: only if the path has no match, XX: only if it has; empty: always
	FPHA FPHAType // how arrays of numbers with fractions are kept; empty: as the server likes. Since Redis 8.8
}

// FPHAType is the type of numbers in arrays of which at least one has a fraction.
type FPHAType string

// The types of such numbers.
const (
	FPHATypeBF16 FPHAType = "BF16"
	FPHATypeFP16 FPHAType = "FP16"
	FPHATypeFP32 FPHAType = "FP32"
	FPHATypeFP64 FPHAType = "FP64"
)

// JSONArrIndexArgs say where JSONArrIndexWithArgs searches.
type JSONArrIndexArgs struct {
	Start int
	Stop  *int // the first that is not searched; nil or 0: to the end
}

// JSONArrTrimArgs say what JSONArrTrimWithArgs leaves.
type JSONArrTrimArgs struct {
	Start int
	Stop  *int // the last that stays. The server wants it
}

// JSONGetArgs say how JSONGetWithArgs lays the text out; empty strings: without any
// white space.
type JSONGetArgs struct {
	Indent  string
	Newline string
	Space   string
}

// json appends a value as JSON. Strings and bytes are taken for JSON already.
func (c *baseCmd) json(v any) {
	switch v := v.(type) {
	case string:
		c.str(v)
	case []byte:
		c.bytes(v)
	case json.RawMessage:
		c.bytes(v)
	case int:
		c.int(int64(v))
	case int64:
		c.int(v)
	default:
		text, err := json.Marshal(v)
		if err != nil {
			c.reject(fmt.Sprintf("redis: a value can't be made JSON: %v", err))
			return
		}
		c.bytes(text)
	}
}

// jsons appends several values as JSON.
func (c *baseCmd) jsons(values []any) {
	for _, v := range values {
		c.json(v)
	}
}

// jsonPath begins a command for a path of a document. If its reply is no list, it is
// one of a single value: that of an older path.
func (c *baseCmd) jsonPath(name, key, path string) {
	c.key(name, key)
	c.str(path)
	c.oneIsList = true
}

// JSONSet stores a value at a path: a string or bytes are taken as JSON text, all else
// is encoded by encoding/json. A new document needs the path $. Nil where the path has
// no match and can't be made. Since RedisJSON 1.0, O(M+N) with the old and the new
// size.
func (c cmdable) JSONSet(ctx context.Context, key, path string, value any) *StatusCmd {
	return c.JSONSetWithArgs(ctx, key, path, value, nil)
}

// JSONSetMode is JSONSet with a condition: NX if the path has no match, XX if it has. Nil
// where it is not met. Since RedisJSON 1.0, O(M+N) as JSONSet.
func (c cmdable) JSONSetMode(ctx context.Context, key, path string, value any, mode string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.jsonSet(key, path, value)
	if !strings.EqualFold(mode, "NX") && !strings.EqualFold(mode, "XX") {
		cmd.reject("redis: the mode of JSONSetMode must be NX or XX, not " + mode)
	}
	cmd.str(mode)
	_ = c(ctx, cmd)
	return cmd
}

// JSONSetWithArgs is JSONSet with options; Nil also where the condition is not met. Since
// RedisJSON 1.0, O(M+N) as JSONSet.
func (c cmdable) JSONSetWithArgs(ctx context.Context, key, path string, value any, options *JSONSetArgsOptions) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.jsonSet(key, path, value)
	if options != nil {
		cmd.opt(options.Mode != "", options.Mode)
		if options.FPHA != "" {
			cmd.strs("FPHA", string(options.FPHA))
		}
	}
	_ = c(ctx, cmd)
	return cmd
}

// jsonSet appends what all forms of JSON.SET have.
func (c *baseCmd) jsonSet(key, path string, value any) {
	c.key("json.set", key)
	c.str(path)
	c.json(value)
}

// JSONMSet stores several values at once. It takes keys, paths and values in turn, or one
// []any of these; for values see JSONSet. A new document needs the path $, or else that
// is an error of the server, and nothing is stored. In a cluster all keys must be in one
// slot. Since RedisJSON 2.6, O(K*(M+N)) with the keys.
func (c cmdable) JSONMSet(ctx context.Context, params ...any) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("json.mset")
	if len(params) == 1 {
		if list, ok := params[0].([]any); ok {
			params = list
		}
	}
	for i, p := range params {
		if i%3 == 2 {
			cmd.json(p)
		} else {
			cmd.arg(p)
		}
	}
	if len(params) == 0 || len(params)%3 != 0 {
		cmd.reject("redis: JSONMSet needs a key, a path and a value for each document")
	}
	_ = c(ctx, cmd)
	return cmd
}

// JSONMSetArgs is JSONMSet of a list. Since RedisJSON 2.6, O(K*(M+N)) as JSONMSet.
func (c cmdable) JSONMSetArgs(ctx context.Context, docs []JSONSetArgs) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("json.mset")
	for i := range docs {
		cmd.strs(docs[i].Key, docs[i].Path)
		cmd.json(docs[i].Value)
	}
	if len(docs) == 0 {
		cmd.reject("redis: JSONMSetArgs needs a document")
	}
	_ = c(ctx, cmd)
	return cmd
}

// JSONMerge merges a JSON text with the values at a path: members are replaced, those
// that are null in it are removed, and the others stay. A new document needs the path $,
// or else that is an error of the server. Since RedisJSON 2.6, O(M+N) with the old and
// the new size.
func (c cmdable) JSONMerge(ctx context.Context, key, path, value string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("json.merge", key)
	cmd.strs(path, value)
	_ = c(ctx, cmd)
	return cmd
}

// JSONGet gives the values at some paths as JSON text: an array of the matches of a
// path with $, an object with the paths as names for several paths, the whole document
// for none. Nil where the key does not exist. Since RedisJSON 1.0, O(N) with the size.
func (c cmdable) JSONGet(ctx context.Context, key string, paths ...string) *JSONCmd {
	return c.JSONGetWithArgs(ctx, key, nil, paths...)
}

// JSONGetWithArgs is JSONGet with white space; Nil where the key does not exist. Since
// RedisJSON 1.0, O(N) with the size.
func (c cmdable) JSONGetWithArgs(ctx context.Context, key string, options *JSONGetArgs, paths ...string) *JSONCmd {
	cmd := roomy[JSONCmd]()
	cmd.key("json.get", key)
	if options != nil {
		for _, o := range []struct{ word, text string }{
			{"INDENT", options.Indent}, {"NEWLINE", options.Newline}, {"SPACE", options.Space},
		} {
			if o.text != "" {
				cmd.strs(o.word, o.text)
			}
		}
	}
	cmd.strs(paths...)
	_ = c(ctx, cmd)
	return cmd
}

// JSONMGet gives the values at a path of several documents as JSON texts, nil for a
// key that does not exist and for one that holds no document. In a cluster all keys
// must be in one slot. Since RedisJSON 1.0, O(M*N) with the keys and their sizes.
func (c cmdable) JSONMGet(ctx context.Context, path string, keys ...string) *JSONSliceCmd {
	cmd := roomy[JSONSliceCmd]()
	cmd.keys("json.mget", keys)
	cmd.str(path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONDel deletes the values at a path, the key too if nothing is left, and gives how
// many there were, 0 where the key does not exist. Since RedisJSON 1.0, O(N) with the
// size.
func (c cmdable) JSONDel(ctx context.Context, key, path string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("json.del", key)
	cmd.str(path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONForget is JSONDel under another name. Since RedisJSON 1.0, O(N) with the size.
func (c cmdable) JSONForget(ctx context.Context, key, path string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("json.forget", key)
	cmd.str(path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONClear empties the arrays and objects at a path, makes its numbers 0, and gives how
// many values have changed. That the key does not exist is an error of the server. Since
// RedisJSON 2.0, O(N) with the size.
func (c cmdable) JSONClear(ctx context.Context, key, path string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("json.clear", key)
	cmd.str(path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONDebugMemory gives how many bytes the values at a path take, together. Since
// RedisJSON 1.0, O(N) with the size.
func (c cmdable) JSONDebugMemory(ctx context.Context, key, path string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("json.debug", "memory")
	cmd.strs(key, path)
	cmd.oneIsList = true
	_ = c(ctx, cmd)
	return cmd
}

// JSONType gives the types of the values at a path: object, array, string, integer,
// number, boolean or null. With RESP3 there is another list around them. Nil where the
// key does not exist. Since RedisJSON 1.0, O(1) for a single value.
func (c cmdable) JSONType(ctx context.Context, key, path string) *JSONSliceCmd {
	cmd := roomy[JSONSliceCmd]()
	cmd.jsonPath("json.type", key, path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONToggle negates the booleans at a path, and gives the new values, 0 or 1, nil for
// what is no boolean. That the key does not exist is an error of the server. Since
// RedisJSON 2.0, O(1) for a single value.
func (c cmdable) JSONToggle(ctx context.Context, key, path string) *IntPointerSliceCmd {
	cmd := roomy[IntPointerSliceCmd]()
	cmd.jsonPath("json.toggle", key, path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONNumIncrBy adds value to the numbers at a path, and gives the new ones as JSON text,
// null for what is no number. That the key does not exist is an error of the server.
// Since RedisJSON 1.0, O(1) for a single value.
func (c cmdable) JSONNumIncrBy(ctx context.Context, key, path string, value float64) *JSONCmd {
	cmd := roomy[JSONCmd]()
	cmd.key("json.numincrby", key)
	cmd.str(path)
	cmd.float(value)
	_ = c(ctx, cmd)
	return cmd
}

// JSONStrAppend appends to the strings at a path, and gives the new lengths, nil for what
// is no string. The value is JSON text, in quotes. That the key does not exist is an
// error of the server. Since RedisJSON 1.0, O(1) for a single value.
func (c cmdable) JSONStrAppend(ctx context.Context, key, path, value string) *IntPointerSliceCmd {
	cmd := roomy[IntPointerSliceCmd]()
	cmd.jsonPath("json.strappend", key, path)
	cmd.str(value)
	_ = c(ctx, cmd)
	return cmd
}

// JSONStrLen gives the lengths of the strings at a path, nil for what is no string. Nil
// where the key does not exist. Since RedisJSON 1.0, O(1) for a single value.
func (c cmdable) JSONStrLen(ctx context.Context, key, path string) *IntPointerSliceCmd {
	cmd := roomy[IntPointerSliceCmd]()
	cmd.jsonPath("json.strlen", key, path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONObjKeys gives the names of the members of the objects at a path: a list for each,
// nil for what is no object; the names alone for an older path. Nil where the key does
// not exist. Since RedisJSON 1.0, O(N) with the names.
func (c cmdable) JSONObjKeys(ctx context.Context, key, path string) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.key("json.objkeys", key)
	cmd.str(path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONObjLen gives how many members the objects at a path have, nil for what is no
// object. Nil where the key does not exist. Since RedisJSON 1.0, O(1) for a single
// value.
func (c cmdable) JSONObjLen(ctx context.Context, key, path string) *IntPointerSliceCmd {
	cmd := roomy[IntPointerSliceCmd]()
	cmd.jsonPath("json.objlen", key, path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONArrAppend appends values to the arrays at a path, and gives their new lengths, 0
// for what is no array; for values see JSONSet. That the key does not exist is an error
// of the server. Since RedisJSON 1.0, O(1) for a single array.
func (c cmdable) JSONArrAppend(ctx context.Context, key, path string, values ...any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.jsonPath("json.arrappend", key, path)
	cmd.jsons(values)
	_ = c(ctx, cmd)
	return cmd
}

// JSONArrIndex gives where the arrays at a path have a value for the first time, -1 if
// they have not, 0 for what is no array; for the value, which must be one, see JSONSet.
// That the key does not exist is an error of the server. Since RedisJSON 1.0, O(N) with
// the length.
func (c cmdable) JSONArrIndex(ctx context.Context, key, path string, value ...any) *IntSliceCmd {
	return c.JSONArrIndexWithArgs(ctx, key, path, nil, value...)
}

// JSONArrIndexWithArgs is JSONArrIndex in a part of each array. Since RedisJSON 1.0, O(N)
// with the length.
func (c cmdable) JSONArrIndexWithArgs(ctx context.Context, key, path string, options *JSONArrIndexArgs, value ...any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.jsonPath("json.arrindex", key, path)
	cmd.jsons(value)
	if options != nil {
		cmd.int(int64(options.Start))
		if options.Stop != nil {
			cmd.int(int64(*options.Stop))
		}
	}
	_ = c(ctx, cmd)
	return cmd
}

// JSONArrInsert inserts values into the arrays at a path in front of index, which counts
// from the end if it is negative, and gives their new lengths, 0 for what is no array;
// for values see JSONSet. That the key does not exist, or has no such index, is an error
// of the server. Since RedisJSON 1.0, O(N) with the length.
func (c cmdable) JSONArrInsert(ctx context.Context, key, path string, index int64, values ...any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.jsonPath("json.arrinsert", key, path)
	cmd.int(index)
	cmd.jsons(values)
	_ = c(ctx, cmd)
	return cmd
}

// JSONArrLen gives the lengths of the arrays at a path, 0 for what is no array. Nil
// where the key does not exist. Since RedisJSON 1.0, O(1) for a single array.
func (c cmdable) JSONArrLen(ctx context.Context, key, path string) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.jsonPath("json.arrlen", key, path)
	_ = c(ctx, cmd)
	return cmd
}

// JSONArrPop takes a value out of the arrays at a path, -1 for the last, and gives them
// as JSON texts, empty for what is no array or an empty one. That the key does not exist
// is an error of the server. Since RedisJSON 1.0, O(1) for the last value, else O(N) with
// the length.
func (c cmdable) JSONArrPop(ctx context.Context, key, path string, index int) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.jsonPath("json.arrpop", key, path)
	cmd.int(int64(index))
	_ = c(ctx, cmd)
	return cmd
}

// JSONArrTrim is JSONArrTrimWithArgs without a range, which the server refuses. Since
// RedisJSON 1.0, O(N) with the length.
func (c cmdable) JSONArrTrim(ctx context.Context, key, path string) *IntSliceCmd {
	return c.JSONArrTrimWithArgs(ctx, key, path, nil)
}

// JSONArrTrimWithArgs leaves a part of the arrays at a path, and gives their new lengths,
// 0 for what is no array. That the key does not exist is an error of the server. Since
// RedisJSON 1.0, O(N) with the length.
func (c cmdable) JSONArrTrimWithArgs(ctx context.Context, key, path string, options *JSONArrTrimArgs) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.jsonPath("json.arrtrim", key, path)
	if options != nil {
		cmd.int(int64(options.Start))
		if options.Stop != nil {
			cmd.int(int64(*options.Stop))
		}
	}
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// readMatches reads what a path of a document gives: a list, or a single value, which
// is a list of one.
func readMatches[T any](r *resp.Reader, read func(*resp.Reader) (T, error)) ([]T, error) {
	if isList(r) {
		return readSlice(r, read)
	}
	if r.Null() {
		return nil, Nil
	}
	v, err := read(r)
	if err != nil {
		return nil, err
	}
	return []T{v}, nil
}

// readIntOrZero reads a number, and a null as 0.
func readIntOrZero(r *resp.Reader) (int64, error) { return orZero(r.Int()) }

// readSum reads a number, or a list of numbers, which counts as their sum.
func readSum(r *resp.Reader) (sum int64, err error) {
	list, err := readMatches(r, readIntOrZero)
	for _, n := range list {
		sum += n
	}
	return sum, err
}

// JSONCmd is a command whose reply is JSON text, or values that can be written as such.
type JSONCmd struct{ result[string] }

// Expanded is the reply decoded by encoding/json: nil, bool, float64, string, []any or
// map[string]any.
func (c *JSONCmd) Expanded() (any, error) {
	r := c.settled()
	if r.err != nil {
		return nil, r.err
	}
	if r.val == "" {
		return nil, nil
	}
	var v any
	if err := json.Unmarshal([]byte(r.val), &v); err != nil {
		return nil, fmt.Errorf("redis: %s: the reply is no JSON: %w", c.Name(), err)
	}
	return v, nil
}

// readReply takes the text that servers send, and makes one of values, which they send
// with RESP3 for JSON.NUMINCRBY.
func (c *JSONCmd) readReply(r *resp.Reader) (err error) {
	c.val = ""
	switch r.Kind() {
	case resp.KindBulk, resp.KindSimple, resp.KindVerbatim:
		c.val, err = r.String()
		return err
	}
	at := *r
	v, err := r.Any()
	if err != nil {
		return err
	}
	if v, err = jsonable(v); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return badShape(at, "JSON")
	}
	c.val = string(text)
	return nil
}

// jsonable makes maps into such as JSON has; an error inside is the error.
func jsonable(v any) (_ any, err error) {
	switch v := v.(type) {
	case error:
		return nil, v
	case []any:
		for i := range v {
			if v[i], err = jsonable(v[i]); err != nil {
				return nil, err
			}
		}
	case map[any]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			if object[fmt.Sprint(name)], err = jsonable(member); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return v, nil
}

// JSONSliceCmd is a command whose reply is a list of JSON texts or types, nil for what
// is not there.
type JSONSliceCmd struct{ result[[]any] }

// NewJSONSliceCmd makes a command of its arguments, the name first.
func NewJSONSliceCmd(_ context.Context, args ...any) *JSONSliceCmd {
	c := roomy[JSONSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *JSONSliceCmd) readReply(r *resp.Reader) (err error) {
	if isList(r) {
		c.val, err = readSlice(r, readElement)
		return err
	}
	c.val = nil
	text, err := r.String() // JSON.TYPE with an older path
	if err == nil {
		c.val = []any{text}
	}
	return err
}

// IntPointerSliceCmd is a command whose reply is a list of integers, nil for what has
// none.
type IntPointerSliceCmd struct{ result[[]*int64] }

// NewIntPointerSliceCmd makes a command of its arguments, the name first.
func NewIntPointerSliceCmd(_ context.Context, args ...any) *IntPointerSliceCmd {
	c := roomy[IntPointerSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *IntPointerSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readMatches(r, func(r *resp.Reader) (*int64, error) {
		if r.Null() {
			return nil, nil
		}
		n, err := readIntOrBool(r)
		return &n, err
	})
	return err
}

// readIntOrBool reads a number, and true and false, of which older paths of JSON.TOGGLE
// give the words, as 1 and 0.
func readIntOrBool(r *resp.Reader) (int64, error) {
	at := *r
	if b, err := at.Bytes(); err == nil && (string(b) == "true" || string(b) == "false") {
		*r = at
		if string(b) == "true" {
			return 1, nil
		}
		return 0, nil
	}
	return r.Int()
}
