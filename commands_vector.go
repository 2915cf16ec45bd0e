package redis

import (
	"context"

	"github.com/baton-go/redis/internal/resp"
)

// VectorSetCmdable are the commands for vector sets, which Redis has since 8.0.
type VectorSetCmdable interface {
	VAdd(ctx context.Context, key, element string, val Vector) *BoolCmd
	VAddWithArgs(ctx context.Context, key, element string, val Vector, addArgs *VAddArgs) *BoolCmd
	VCard(ctx context.Context, key string) *IntCmd
	VClearAttributes(ctx context.Context, key, element string) *BoolCmd
	VDim(ctx context.Context, key string) *IntCmd
	VEmb(ctx context.Context, key, element string, raw bool) *SliceCmd
	VGetAttr(ctx context.Context, key, element string) *StringCmd
	VInfo(ctx context.Context, key string) *MapStringInterfaceCmd
	VIsMember(ctx context.Context, key, element string) *BoolCmd
	VLinks(ctx context.Context, key, element string) *StringSliceSliceCmd
	VLinksWithScores(ctx context.Context, key, element string) *VectorScoreSliceSliceCmd
	VRandMember(ctx context.Context, key string) *StringCmd
	VRandMemberCount(ctx context.Context, key string, count int) *StringSliceCmd
	VRange(ctx context.Context, key, start, end string, count int64) *StringSliceCmd
	VRem(ctx context.Context, key, element string) *BoolCmd
	VSetAttr(ctx context.Context, key, element string, attr any) *BoolCmd
	VSim(ctx context.Context, key string, val Vector) *StringSliceCmd
	VSimWithArgs(ctx context.Context, key string, val Vector, args *VSimArgs) *StringSliceCmd
	VSimWithArgsWithAttribs(ctx context.Context, key string, val Vector, args *VSimArgs) *VectorAttribSliceCmd
	VSimWithArgsWithScores(ctx context.Context, key string, val Vector, args *VSimArgs) *VectorScoreSliceCmd
	VSimWithArgsWithScoresWithAttribs(ctx context.Context, key string, val Vector, args *VSimArgs) *VectorScoreAttribSliceCmd
	VSimWithScores(ctx context.Context, key string, val Vector) *VectorScoreSliceCmd
}

// A Vector is a vector, or the name of an element that has one, as arguments of a
// command. Vector sets take VectorFP32 and VectorValues, and VectorRef for searches; the
// others are for vector fields of search indexes.
type Vector interface {
	Value() []any
}

// VectorFP32 is a vector of little-endian numbers of 32 bits.
type VectorFP32 struct{ Val []byte }

// Value gives the arguments.
func (v *VectorFP32) Value() []any { return []any{"FP32", v.Val} }

// VectorValues is a vector of numbers, which are sent as text.
type VectorValues struct{ Val []float64 }

// Value gives the arguments.
func (v *VectorValues) Value() []any {
	args := []any{"VALUES", len(v.Val)}
	for _, f := range v.Val {
		args = append(args, f)
	}
	return args
}

// VectorRef is the vector of an element of the set.
type VectorRef struct{ Name string }

// Value gives the arguments.
func (v *VectorRef) Value() []any { return []any{"ELE", v.Name} }

// VectorFloat16 is a vector of little-endian numbers of 16 bits.
type VectorFloat16 struct{ Val []byte }

// Value gives the arguments.
func (v *VectorFloat16) Value() []any { return []any{"FLOAT16", v.Val} }

// VectorBFloat16 is a vector of little-endian bfloat16 numbers.
type VectorBFloat16 struct{ Val []byte }

// Value gives the arguments.
func (v *VectorBFloat16) Value() []any { return []any{"BFLOAT16", v.Val} }

// VectorFloat64 is a vector of little-endian numbers of 64 bits.
type VectorFloat64 struct{ Val []byte }

// Value gives the arguments.
func (v *VectorFloat64) Value() []any { return []any{"FLOAT64", v.Val} }

// VectorInt8 is a vector of bytes with a sign.
type VectorInt8 struct{ Val []byte }

// Value gives the arguments.
func (v *VectorInt8) Value() []any { return []any{"INT8", v.Val} }

// VectorUint8 is a vector of bytes.
type VectorUint8 struct{ Val []byte }

// Value gives the arguments.
func (v *VectorUint8) Value() []any { return []any{"UINT8", v.Val} }

// vector appends a vector.
func (c *baseCmd) vector(v Vector) {
	switch v := v.(type) {
	case nil:
		c.reject("redis: the vector is nil")
	case *VectorFP32:
		c.str("FP32")
		c.bytes(v.Val)
	case *VectorValues:
		c.optInt(true, "VALUES", int64(len(v.Val)))
		for _, f := range v.Val {
			c.float(f)
		}
	case *VectorRef:
		c.strs("ELE", v.Name)
	default:
		c.args(v.Value()...)
	}
}

// VAddArgs are the options of VAddWithArgs. Zero values are the server's defaults.
type VAddArgs struct {
	Reduce  int64  // so many dimensions are kept, by a random projection
	Cas     bool   // the search for neighbours has a thread of its own
	NoQuant bool   // numbers are kept as they are
	Q8      bool   // in 8 bits, the default
	Bin     bool   // in one bit
	EF      int64  // effort to find good neighbours
	SetAttr string // attributes, as JSON text
	M       int64  // neighbours of an element
}

// VAdd adds an element with its vector, or gives it a new one, and tells whether it is
// new. All vectors of a set have the same dimension, or else that is an error of the
// server. Since Redis 8.0, O(log N).
func (c cmdable) VAdd(ctx context.Context, key, element string, val Vector) *BoolCmd {
	return c.VAddWithArgs(ctx, key, element, val, nil)
}

// VAddWithArgs is VAdd with options. Since Redis 8.0, O(log N).
func (c cmdable) VAddWithArgs(ctx context.Context, key, element string, val Vector, addArgs *VAddArgs) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("vadd", key)
	a := addArgs
	if a == nil {
		a = &VAddArgs{}
	}
	cmd.optInt(a.Reduce > 0, "reduce", a.Reduce)
	cmd.vector(val)
	cmd.str(element)
	cmd.opt(a.Cas, "cas")
	switch {
	case a.NoQuant && (a.Q8 || a.Bin) || a.Q8 && a.Bin:
		cmd.reject("redis: NoQuant, Q8 and Bin don't go together")
	case a.NoQuant:
		cmd.str("noquant")
	case a.Q8:
		cmd.str("q8")
	case a.Bin:
		cmd.str("bin")
	}
	cmd.optInt(a.EF > 0, "ef", a.EF)
	if a.SetAttr != "" {
		cmd.strs("setattr", a.SetAttr)
	}
	cmd.optInt(a.M > 0, "m", a.M)
	_ = c(ctx, cmd)
	return cmd
}

// VRem takes an element out, and tells whether it was there. Since Redis 8.0, O(log N).
func (c cmdable) VRem(ctx context.Context, key, element string) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("vrem", key)
	cmd.str(element)
	_ = c(ctx, cmd)
	return cmd
}

// VCard gives how many elements there are, 0 where the key does not exist. Since Redis
// 8.0, O(1).
func (c cmdable) VCard(ctx context.Context, key string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("vcard", key)
	_ = c(ctx, cmd)
	return cmd
}

// VDim gives the dimension of the vectors. That the key does not exist is an error of the
// server. Since Redis 8.0, O(1).
func (c cmdable) VDim(ctx context.Context, key string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("vdim", key)
	_ = c(ctx, cmd)
	return cmd
}

// VIsMember tells whether there is an element. Since Redis 8.0, O(1).
func (c cmdable) VIsMember(ctx context.Context, key, element string) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("vismember", key)
	cmd.str(element)
	_ = c(ctx, cmd)
	return cmd
}

// VEmb gives the vector of an element, as numbers, which differ a little from those that
// were added: strings with RESP2, float64 with RESP3. With raw it gives what the server
// keeps: how, the bytes, and the factor; for 8 bits, the range too. Nil where there is no
// such element. Since Redis 8.0, O(1).
func (c cmdable) VEmb(ctx context.Context, key, element string, raw bool) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.key("vemb", key)
	cmd.str(element)
	cmd.opt(raw, "raw")
	_ = c(ctx, cmd)
	return cmd
}

// VGetAttr gives the attributes of an element, as JSON text. Nil where there are none.
// Since Redis 8.0, O(1).
func (c cmdable) VGetAttr(ctx context.Context, key, element string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("vgetattr", key)
	cmd.str(element)
	_ = c(ctx, cmd)
	return cmd
}

// VSetAttr gives an element attributes, and tells whether there is such an element. A
// string or bytes are taken as JSON text, all else is encoded by encoding/json. Since
// Redis 8.0, O(1).
func (c cmdable) VSetAttr(ctx context.Context, key, element string, attr any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.key("vsetattr", key)
	cmd.str(element)
	cmd.json(attr)
	_ = c(ctx, cmd)
	return cmd
}

// VClearAttributes takes the attributes of an element away, and tells whether there is
// such an element. Since Redis 8.0, O(1).
func (c cmdable) VClearAttributes(ctx context.Context, key, element string) *BoolCmd {
	return c.VSetAttr(ctx, key, element, "")
}

// VInfo describes a vector set. Nil where the key does not exist. Since Redis 8.0, O(1).
func (c cmdable) VInfo(ctx context.Context, key string) *MapStringInterfaceCmd {
	cmd := roomy[MapStringInterfaceCmd]()
	cmd.key("vinfo", key)
	_ = c(ctx, cmd)
	return cmd
}

// VLinks gives the neighbours of an element: a list for each layer of the graph, the
// highest first. Nil where there is no such element. Since Redis 8.0, O(1).
func (c cmdable) VLinks(ctx context.Context, key, element string) *StringSliceSliceCmd {
	cmd := roomy[StringSliceSliceCmd]()
	cmd.key("vlinks", key)
	cmd.str(element)
	_ = c(ctx, cmd)
	return cmd
}

// VLinksWithScores is VLinks with how similar the neighbours are: 1 is the same
// direction, 0 the opposite one. Nil where there is no such element. Since Redis 8.0,
// O(1).
func (c cmdable) VLinksWithScores(ctx context.Context, key, element string) *VectorScoreSliceSliceCmd {
	cmd := roomy[VectorScoreSliceSliceCmd]()
	cmd.key("vlinks", key)
	cmd.strs(element, "withscores")
	_ = c(ctx, cmd)
	return cmd
}

// VRandMember gives any element. Nil where the key does not exist. Since Redis 8.0, O(1).
func (c cmdable) VRandMember(ctx context.Context, key string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("vrandmember", key)
	_ = c(ctx, cmd)
	return cmd
}

// VRandMemberCount gives at most count different elements, or -count elements, of which
// some may be the same, if count is negative. It gives none where the key does not exist.
// Since Redis 8.0, O(N) with the count.
func (c cmdable) VRandMemberCount(ctx context.Context, key string, count int) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("vrandmember", key)
	cmd.int(int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// VRange gives at most count elements in the order of their bytes, all if it is negative.
// "[name" is from or to that element, "(name" is without it, "-" and "+" are the first
// and the last. Since Redis 8.4, O(log K + M) with the elements and those given.
func (c cmdable) VRange(ctx context.Context, key, start, end string, count int64) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("vrange", key)
	cmd.strs(start, end)
	cmd.int(count)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// VSimArgs are the options of VSimWithArgs and its like. Zero values are the server's
// defaults.
type VSimArgs struct {
	Count    int64   // elements; 0: 10
	EF       int64   // effort of the search
	Filter   string  // an expression over the attributes
	FilterEF int64   // elements that are tried against the filter
	Truth    bool    // all elements are compared, in O(N)
	NoThread bool    // the server's main thread searches
	Epsilon  float64 // elements that are farther away than this, 0 to 1, are left out. Since Redis 8.2
}

// vsim appends a search; with are words that say what to give.
func (c *baseCmd) vsim(key string, val Vector, a *VSimArgs, with ...string) {
	c.key("vsim", key)
	c.vector(val)
	c.strs(with...)
	if a == nil {
		return
	}
	c.optInt(a.Count > 0, "count", a.Count)
	c.optFloat(a.Epsilon > 0, "epsilon", a.Epsilon)
	c.optInt(a.EF > 0, "ef", a.EF)
	if a.Filter != "" {
		c.strs("filter", a.Filter)
	}
	c.optInt(a.FilterEF > 0, "filter-ef", a.FilterEF)
	c.opt(a.Truth, "truth")
	c.opt(a.NoThread, "nothread")
}

// VSim gives the elements that are most similar to a vector or an element, the most
// similar first. It gives none where the key does not exist; that an element does not
// exist is an error of the server. Since Redis 8.0, O(log N).
func (c cmdable) VSim(ctx context.Context, key string, val Vector) *StringSliceCmd {
	return c.VSimWithArgs(ctx, key, val, nil)
}

// VSimWithArgs is VSim with options. Since Redis 8.0, O(log N), or O(N) with Truth.
func (c cmdable) VSimWithArgs(ctx context.Context, key string, val Vector, args *VSimArgs) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.vsim(key, val, args)
	_ = c(ctx, cmd)
	return cmd
}

// VSimWithScores is VSim with how similar the elements are: 1 is the same direction, 0
// the opposite one. Since Redis 8.0, O(log N).
func (c cmdable) VSimWithScores(ctx context.Context, key string, val Vector) *VectorScoreSliceCmd {
	return c.VSimWithArgsWithScores(ctx, key, val, nil)
}

// VSimWithArgsWithScores is VSimWithScores with options. Since Redis 8.0, O(log N), or
// O(N) with Truth.
func (c cmdable) VSimWithArgsWithScores(ctx context.Context, key string, val Vector, args *VSimArgs) *VectorScoreSliceCmd {
	cmd := roomy[VectorScoreSliceCmd]()
	cmd.vsim(key, val, args, "withscores")
	_ = c(ctx, cmd)
	return cmd
}

// VSimWithArgsWithAttribs is VSimWithArgs with the attributes. Since Redis 8.2, O(log N),
// or O(N) with Truth.
func (c cmdable) VSimWithArgsWithAttribs(ctx context.Context, key string, val Vector, args *VSimArgs) *VectorAttribSliceCmd {
	cmd := roomy[VectorAttribSliceCmd]()
	cmd.vsim(key, val, args, "withattribs")
	_ = c(ctx, cmd)
	return cmd
}

// VSimWithArgsWithScoresWithAttribs is VSimWithArgsWithScores with the attributes. Since
// Redis 8.2, O(log N), or O(N) with Truth.
func (c cmdable) VSimWithArgsWithScoresWithAttribs(ctx context.Context, key string, val Vector, args *VSimArgs) *VectorScoreAttribSliceCmd {
	cmd := roomy[VectorScoreAttribSliceCmd]()
	cmd.vsim(key, val, args, "withscores", "withattribs")
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// StringSliceSliceCmd is a command whose reply is lists of strings.
type StringSliceSliceCmd struct{ result[[][]string] }

// NewStringSliceSliceCmd makes a command of its arguments, the name first.
func NewStringSliceSliceCmd(_ context.Context, args ...any) *StringSliceSliceCmd {
	c := roomy[StringSliceSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *StringSliceSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) ([]string, error) {
		return orZero(readSlice(r, readStringOrEmpty))
	})
	return err
}

// VectorScore is an element and how similar it is.
type VectorScore struct {
	Name  string
	Score float64
}

// VectorAttrib is an element with its attributes as JSON text, nil if it has none.
type VectorAttrib struct {
	Name    string
	Attribs *string
}

// VectorScoreAttrib is an element, how similar it is, and its attributes as JSON text, nil
// if it has none.
type VectorScoreAttrib struct {
	Name    string
	Score   float64
	Attribs *string
}

// readAttribs reads attributes, nil for a null.
func readAttribs(r *resp.Reader) (*string, error) {
	if r.Null() {
		return nil, nil
	}
	s, err := r.String()
	return &s, err
}

// readVectorScores reads elements with scores.
func readVectorScores(r *resp.Reader) ([]VectorScore, error) {
	return readPairs(r, "elements and scores", func(r *resp.Reader) (v VectorScore, err error) {
		if v.Name, err = r.String(); err != nil {
			return v, err
		}
		v.Score, err = r.Float()
		return v, err
	})
}

// VectorScoreSliceCmd is a command whose reply is elements with scores.
type VectorScoreSliceCmd struct{ result[[]VectorScore] }

// NewVectorScoreSliceCmd makes a command of its arguments, the name first.
func NewVectorScoreSliceCmd(_ context.Context, args ...any) *VectorScoreSliceCmd {
	c := roomy[VectorScoreSliceCmd]()
	c.beginArgs(args)
	return c
}

// NewVectorInfoSliceCmd is NewVectorScoreSliceCmd; go-redis has both names.
func NewVectorInfoSliceCmd(ctx context.Context, args ...any) *VectorScoreSliceCmd {
	return NewVectorScoreSliceCmd(ctx, args...)
}

func (c *VectorScoreSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readVectorScores(r)
	return err
}

// VectorScoreSliceSliceCmd is a command whose reply is lists of elements with scores.
type VectorScoreSliceSliceCmd struct{ result[[][]VectorScore] }

// NewVectorScoreSliceSliceCmd makes a command of its arguments, the name first.
func NewVectorScoreSliceSliceCmd(_ context.Context, args ...any) *VectorScoreSliceSliceCmd {
	c := roomy[VectorScoreSliceSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *VectorScoreSliceSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) ([]VectorScore, error) { return orZero(readVectorScores(r)) })
	return err
}

// VectorAttribSliceCmd is a command whose reply is elements with attributes.
type VectorAttribSliceCmd struct{ result[[]VectorAttrib] }

// NewVectorAttribSliceCmd makes a command of its arguments, the name first.
func NewVectorAttribSliceCmd(_ context.Context, args ...any) *VectorAttribSliceCmd {
	c := roomy[VectorAttribSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *VectorAttribSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readPairs(r, "elements and attributes", func(r *resp.Reader) (v VectorAttrib, err error) {
		if v.Name, err = r.String(); err != nil {
			return v, err
		}
		v.Attribs, err = readAttribs(r)
		return v, err
	})
	return err
}

// VectorScoreAttribSliceCmd is a command whose reply is elements with scores and
// attributes.
type VectorScoreAttribSliceCmd struct{ result[[]VectorScoreAttrib] }

// NewVectorScoreAttribSliceCmd makes a command of its arguments, the name first.
func NewVectorScoreAttribSliceCmd(_ context.Context, args ...any) *VectorScoreAttribSliceCmd {
	c := roomy[VectorScoreAttribSliceCmd]()
	c.beginArgs(args)
	return c
}

// readReply reads a map with lists of a score and attributes, or, with RESP2, a flat list
// of all three.
func (c *VectorScoreAttribSliceCmd) readReply(r *resp.Reader) error {
	c.val = nil
	const what = "elements, scores and attributes"
	at, flat := *r, r.Kind() != resp.KindMap
	n, err := r.ArrayLen()
	if err != nil {
		return err
	}
	each := 2
	if flat {
		each = 3
	}
	if n%each != 0 {
		return badShape(at, what)
	}
	list := make([]VectorScoreAttrib, n/each)
	for i := range list {
		v := &list[i]
		if v.Name, err = r.String(); err != nil {
			return err
		}
		if !flat {
			if err := expectLen(r, 2, "score and attributes"); err != nil {
				return err
			}
		}
		if v.Score, err = r.Float(); err != nil {
			return err
		}
		if v.Attribs, err = readAttribs(r); err != nil {
			return err
		}
	}
	c.val = list
	return nil
}
