package redis

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/baton-go/redis/internal/resp"
)

// FTHybridVectorMethod is how vectors are searched: KNN or RANGE.
type FTHybridVectorMethod = string

// FTHybridCombineMethod is how the results of the text and the vector search are made
// one.
type FTHybridCombineMethod string

// The methods. KNN and RANGE are values of FTHybridVectorMethod, once converted; they
// have this type because they have it in go-redis.
const (
	FTHybridCombineRRF      FTHybridCombineMethod = "RRF"      // by rank
	FTHybridCombineLinear   FTHybridCombineMethod = "LINEAR"   // by weighted scores
	FTHybridCombineFunction FTHybridCombineMethod = "FUNCTION" // no server knows it yet
	KNN                     FTHybridCombineMethod = "KNN"
	RANGE                   FTHybridCombineMethod = "RANGE"
)

// FTHybridSearchExpression is the text search of a hybrid search.
type FTHybridSearchExpression struct {
	Query        string
	Scorer       string
	ScorerParams []any // what the scorer takes, with Scorer
	YieldScoreAs string
}

// FTHybridVectorExpression is the vector search of a hybrid search.
type FTHybridVectorExpression struct {
	VectorField string // with or without @
	// VectorData is the vector: one of the types that have bytes, in the format of the
	// field. It goes out as a parameter; nil: Params has it under VectorParamName.
	VectorData Vector
	// VectorParamName is the name of that parameter; empty: the client makes one up.
	VectorParamName string
	Method          FTHybridVectorMethod // empty: KNN with the server's defaults
	// MethodParams are names and values in turn: K and EF_RUNTIME for KNN, RADIUS and
	// EPSILON for RANGE.
	MethodParams []any
	Filter       string // a query that limits which vectors are looked at
	YieldScoreAs string
	// ShardKRatio, for KNN in a cluster: how much of K each shard finds, up to 1; 0: all.
	ShardKRatio float64
}

// FTHybridCombineOptions says how the results are made one.
type FTHybridCombineOptions struct {
	Method   FTHybridCombineMethod
	Count    int     // is not used: the client counts
	Window   int     // results of each search that are looked at; 0: 20
	Constant float64 // RRF; 0: 60
	// Alpha and Beta are the weights of text and vectors, for LINEAR. Both are sent if one
	// is not 0, because the server wants both or none.
	Alpha        float64
	Beta         float64
	YieldScoreAs string
}

// FTHybridGroupBy makes groups of the results; see FTAggregateGroupBy.
type FTHybridGroupBy struct {
	Count      int      // of Fields; 0: the client counts
	Fields     []string // "@name"
	ReduceFunc string   // empty: none
	// ReduceCount is the number of arguments at the beginning of ReduceParams; 0: all but
	// AS with a name at the end.
	ReduceCount  int
	ReduceParams []any
}

// FTHybridApply makes a property of others.
type FTHybridApply struct {
	Expression string
	AsField    string
}

// FTHybridWithCursor says how cursors give their rows.
type FTHybridWithCursor struct {
	Count   int // rows at a time; 0: the server's
	MaxIdle int // milliseconds without being used after which they go; 0: the server's
}

// FTHybridOptions are the options of FTHybridWithArgs.
type FTHybridOptions struct {
	CountExpressions  int // is not used: it is gone from the command
	SearchExpressions []FTHybridSearchExpression
	VectorExpressions []FTHybridVectorExpression
	Combine           *FTHybridCombineOptions // nil: RRF
	Load              []string                // "@name"; a single "*": all
	GroupBy           *FTHybridGroupBy
	Apply             []FTHybridApply
	SortBy            []FTSearchSortBy
	Filter            string // an expression that results must fulfil
	// LimitOffset is how many results are left out, and Limit how many are given at most;
	// 0: 10.
	LimitOffset int
	Limit       int
	// Params are what $name stands for, beside the vectors.
	Params       map[string]any
	ExplainScore bool
	Timeout      int // milliseconds; 0: the server's
	// WithCursor gives two cursors instead of results; see FTHybridCmd.CursorVal.
	WithCursor        bool
	WithCursorOptions *FTHybridWithCursor
}

// FTHybrid gives the documents that a text query matches and those whose vectors are near
// a vector, made one list by their ranks. An error of the server says that there is no
// such index, or what is wrong with the query. Since Redis 8.4, O(N + M) with what both
// searches find.
func (c cmdable) FTHybrid(ctx context.Context, index, searchExpr, vectorField string, vectorData Vector) *FTHybridCmd {
	return c.FTHybridWithArgs(ctx, index, &FTHybridOptions{
		SearchExpressions: []FTHybridSearchExpression{{Query: searchExpr}},
		VectorExpressions: []FTHybridVectorExpression{{VectorField: vectorField, VectorData: vectorData}},
	})
}

// FTHybridWithArgs is FTHybrid with options. Since Redis 8.4, O(N + M) as FTHybrid.
func (c cmdable) FTHybridWithArgs(ctx context.Context, index string, options *FTHybridOptions) *FTHybridCmd {
	cmd := roomy[FTHybridCmd]()
	cmd.begin("ft.hybrid")
	cmd.str(index)
	if options != nil {
		cmd.hybridOptions(options)
	}
	_ = c(ctx, cmd)
	return cmd
}

// hybridOptions appends the options of a hybrid search.
func (c *baseCmd) hybridOptions(o *FTHybridOptions) {
	for _, s := range o.SearchExpressions {
		c.strs("SEARCH", s.Query)
		if s.Scorer != "" {
			c.strs("SCORER", s.Scorer)
			c.args(s.ScorerParams...)
		}
		c.optStr("YIELD_SCORE_AS", s.YieldScoreAs)
	}
	vectors := map[string]any{}
	for i := range o.VectorExpressions {
		c.vectorSearch(&o.VectorExpressions[i], i, vectors)
	}
	if o.Combine != nil {
		c.combine(o.Combine)
	}
	if len(o.Load) == 1 && o.Load[0] == "*" {
		c.strs("LOAD", "*")
	} else if len(o.Load) > 0 {
		c.str("LOAD")
		c.numKeys(o.Load)
	}
	c.hybridGroup(o.GroupBy)
	for _, a := range o.Apply {
		c.strs("APPLY", a.Expression)
		c.optStr("AS", a.AsField)
	}
	c.hybridSort(o.SortBy)
	c.optStr("FILTER", o.Filter)
	c.searchLimit(&FTSearchOptions{LimitOffset: o.LimitOffset, Limit: o.Limit})
	if len(vectors) > 0 {
		params := maps.Clone(o.Params)
		if params == nil {
			params = vectors
		} else {
			maps.Copy(params, vectors)
		}
		c.queryParams(params)
	} else {
		c.queryParams(o.Params)
	}
	c.opt(o.ExplainScore, "EXPLAINSCORE")
	c.optInt(o.Timeout > 0, "TIMEOUT", int64(o.Timeout))
	if o.WithCursor {
		count, idle := 0, 0
		if o.WithCursorOptions != nil {
			count, idle = o.WithCursorOptions.Count, o.WithCursorOptions.MaxIdle
		}
		c.withCursor(count, idle)
	}
}

// vectorSearch appends the i-th vector search, and puts its vector into vectors.
func (c *baseCmd) vectorSearch(v *FTHybridVectorExpression, i int, vectors map[string]any) {
	name := strings.TrimPrefix(v.VectorParamName, "$")
	switch {
	case v.VectorData == nil && name == "":
		c.reject("a vector search needs VectorData, or VectorParamName and Params")
	case name == "":
		name = "__vector_param_" + strconv.Itoa(i)
	}
	if v.VectorData != nil {
		blob := blobOf(v.VectorData)
		if blob == nil {
			c.reject("FT.HYBRID takes vectors as bytes: VectorFP32, VectorFloat16, VectorBFloat16, VectorFloat64, VectorInt8 or VectorUint8")
		}
		vectors[name] = blob
	}
	c.strs("VSIM", property(v.VectorField), "$"+name)
	isKNN := strings.EqualFold(v.Method, string(KNN))
	params := v.MethodParams
	if isKNN && len(params) == 0 && v.ShardKRatio > 0 {
		params = []any{"K", 10} // the default
	}
	if v.Method != "" && (!isKNN || len(params) > 0) { // KNN without parameters is the default
		c.list(v.Method, params)
	}
	if v.ShardKRatio > 0 && !isKNN {
		c.reject("ShardKRatio is for the method KNN")
	}
	c.optFloat(v.ShardKRatio > 0, "SHARD_K_RATIO", v.ShardKRatio)
	c.optStr("FILTER", v.Filter)
	c.optStr("YIELD_SCORE_AS", v.YieldScoreAs)
}

// blobOf is the bytes of a vector, nil if it is none that has bytes.
func blobOf(v Vector) []byte {
	switch v.(type) {
	case *VectorValues, *VectorRef:
		return nil
	}
	value := v.Value()
	if len(value) == 0 {
		return nil
	}
	blob, _ := value[len(value)-1].([]byte)
	return blob
}

// combine appends how results are made one.
func (c *baseCmd) combine(o *FTHybridCombineOptions) {
	if o.Method == "" {
		c.reject("Combine needs a Method")
	}
	var params vectorAttrs
	params.int("WINDOW", o.Window)
	switch o.Method {
	case FTHybridCombineRRF:
		params.float("CONSTANT", o.Constant)
	case FTHybridCombineLinear:
		if o.Alpha != 0 || o.Beta != 0 {
			params = append(params, "ALPHA", o.Alpha, "BETA", o.Beta)
		}
	case FTHybridCombineFunction, KNN, RANGE:
	}
	if o.YieldScoreAs != "" {
		params = append(params, "YIELD_SCORE_AS", o.YieldScoreAs)
	}
	c.str("COMBINE")
	c.list(string(o.Method), params)
}

// hybridGroup appends how results are grouped.
func (c *baseCmd) hybridGroup(g *FTHybridGroupBy) {
	if g == nil {
		return
	}
	n := g.Count
	if n == 0 {
		n = len(g.Fields)
	}
	c.optInt(true, "GROUPBY", int64(n))
	c.strs(g.Fields...)
	if g.ReduceFunc == "" {
		return
	}
	n = g.ReduceCount
	if n == 0 {
		n = len(g.ReduceParams)
		if n >= 2 {
			if word, ok := g.ReduceParams[n-2].(string); ok && strings.EqualFold(word, "AS") {
				n -= 2
			}
		}
	}
	c.str("REDUCE")
	c.optInt(true, g.ReduceFunc, int64(n))
	c.args(g.ReduceParams...)
}

// hybridSort appends how results are sorted.
func (c *baseCmd) hybridSort(fields []FTSearchSortBy) {
	if len(fields) == 0 {
		return
	}
	rows := make([]FTAggregateSortBy, len(fields))
	for i, by := range fields {
		rows[i] = FTAggregateSortBy(by)
	}
	c.sortRows(rows, 0)
}

//------------------------------------------------------------------------------

// FTHybridResult is what a hybrid search has found.
type FTHybridResult struct {
	TotalResults  int
	Results       []map[string]any // properties, by name; "__key" and "__score" unless Load said what
	Warnings      []string         // such as a timeout
	ExecutionTime float64          // milliseconds
}

// FTHybridCursorResult are the cursors of a hybrid search, for FTCursorRead.
type FTHybridCursorResult struct {
	SearchCursorID int
	VsimCursorID   int
}

// FTHybridCmd is the command of FTHybrid.
type FTHybridCmd struct {
	keptReply[FTHybridResult]

	cursors *FTHybridCursorResult
}

// CursorVal is the cursors, nil if none were asked for.
func (c *FTHybridCmd) CursorVal() *FTHybridCursorResult { return settled(c).cursors }

// CursorResult is CursorVal and the error.
func (c *FTHybridCmd) CursorResult() (*FTHybridCursorResult, error) {
	c = settled(c)
	return c.cursors, c.err
}

func (c *FTHybridCmd) readReply(r *resp.Reader) error {
	c.keep(*r)
	c.val, c.cursors = FTHybridResult{}, nil
	var got FTHybridResult
	var cursors FTHybridCursorResult
	isCursor := false
	err := readFields(r, func(name string) (err error) {
		switch name {
		case "total_results":
			got.TotalResults, err = readWhole(r)
		case "results":
			got.Results, err = readSlice(r, readHybrid)
		case "warning", "warnings":
			got.Warnings, err = readWarnings(r)
		case "execution_time":
			got.ExecutionTime, err = readFloatOrZero(r)
		case "SEARCH":
			isCursor = true
			cursors.SearchCursorID, err = readCursor(r)
		case "VSIM":
			isCursor = true
			cursors.VsimCursorID, err = readCursor(r)
		default:
			err = r.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	c.val = got
	if isCursor {
		c.cursors = &cursors
	}
	return nil
}

// detachReply makes the reply the command's own.
func (c *FTHybridCmd) detachReply() {
	c.keptReply.detachReply()
	c.cursors = deepCopy(c.cursors)
}

// readHybrid reads a result, nil for null.
func readHybrid(r *resp.Reader) (map[string]any, error) { return orZero(readMap(r, readElement)) }

// readCursor reads a cursor.
func readCursor(r *resp.Reader) (int, error) {
	n, err := r.Int()
	return int(n), err
}
