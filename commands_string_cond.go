package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// ExpirationMode says what an ExpirationOption's value means.
type ExpirationMode string

// The modes of an ExpirationOption.
const (
	EX      ExpirationMode = "EX"      // seconds from now
	PX      ExpirationMode = "PX"      // milliseconds from now
	EXAT    ExpirationMode = "EXAT"    // seconds since 1970
	PXAT    ExpirationMode = "PXAT"    // milliseconds since 1970
	KEEPTTL ExpirationMode = "KEEPTTL" // as long as the key would have lived
	PERSIST ExpirationMode = "PERSIST" // for ever
)

// ExpirationOption says when a key expires. Value counts for the first four modes.
type ExpirationOption struct {
	Mode  ExpirationMode
	Value int64
}

// expiration appends an ExpirationOption, if there is one.
func (c *baseCmd) expiration(o *ExpirationOption) {
	if o == nil || o.Mode == "" {
		return
	}
	c.str(string(o.Mode))
	if o.Mode != KEEPTTL && o.Mode != PERSIST {
		c.int(o.Value)
	}
}

// SetCondition says which keys are set: NX, XX, or empty for all.
type SetCondition string

// The conditions.
const (
	NX SetCondition = "NX" // only if none of the keys exists
	XX SetCondition = "XX" // only if all of the keys exist
)

// condition appends the condition of a SET or DELEX with what it compares.
func (c *baseCmd) condition(mode string, value any, digest uint64) {
	if mode == "" {
		return
	}
	c.str(mode)
	switch strings.ToLower(mode) {
	case "ifeq", "ifne":
		c.arg(value)
	case "ifdeq", "ifdne":
		c.digest(digest)
	}
}

// digest appends a digest as the server shows it: 16 hexadecimal digits.
func (c *baseCmd) digest(d uint64) { c.str(fmt.Sprintf("%016x", d)) }

// setIf encodes a SET with a condition that compares, and GET if former is wanted.
func (c *baseCmd) setIf(key string, value any, mode string, match any, digest uint64, d time.Duration) {
	c.key("set", key)
	c.arg(value)
	c.ttl(d)
	c.condition(mode, match, digest)
}

// SetIFEQ stores value in key if the key's value is matchValue; Nil if it is not. For
// expiration see Set. Since Redis 8.4, O(1).
func (c cmdable) SetIFEQ(ctx context.Context, key string, value, matchValue any, expiration time.Duration) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.setIf(key, value, "ifeq", matchValue, 0, expiration)
	_ = c(ctx, cmd)
	return cmd
}

// SetIFEQGet is SetIFEQ with the key's former value as the reply, Nil where there was
// none. Since Redis 8.4, O(1).
func (c cmdable) SetIFEQGet(ctx context.Context, key string, value, matchValue any, expiration time.Duration) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.setIf(key, value, "ifeq", matchValue, 0, expiration)
	cmd.str("get")
	_ = c(ctx, cmd)
	return cmd
}

// SetIFNE stores value in key if the key's value is not matchValue, or if the key
// does not exist; Nil if it is. For expiration see Set. Since Redis 8.4, O(1).
func (c cmdable) SetIFNE(ctx context.Context, key string, value, matchValue any, expiration time.Duration) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.setIf(key, value, "ifne", matchValue, 0, expiration)
	_ = c(ctx, cmd)
	return cmd
}

// SetIFNEGet is SetIFNE with the key's former value as the reply, Nil where there was
// none. Since Redis 8.4, O(1).
func (c cmdable) SetIFNEGet(ctx context.Context, key string, value, matchValue any, expiration time.Duration) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.setIf(key, value, "ifne", matchValue, 0, expiration)
	cmd.str("get")
	_ = c(ctx, cmd)
	return cmd
}

// SetIFDEQ is SetIFEQ with the value's digest; see Digest. Nil if it is another one.
// Since Redis 8.4, O(N) with the value's length.
func (c cmdable) SetIFDEQ(ctx context.Context, key string, value any, matchDigest uint64, expiration time.Duration) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.setIf(key, value, "ifdeq", nil, matchDigest, expiration)
	_ = c(ctx, cmd)
	return cmd
}

// SetIFDEQGet is SetIFEQGet with the value's digest; Nil where there was no value. Since
// Redis 8.4, O(N) with the value's length.
func (c cmdable) SetIFDEQGet(ctx context.Context, key string, value any, matchDigest uint64, expiration time.Duration) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.setIf(key, value, "ifdeq", nil, matchDigest, expiration)
	cmd.str("get")
	_ = c(ctx, cmd)
	return cmd
}

// SetIFDNE is SetIFNE with the value's digest; Nil if it is the same. Since Redis 8.4,
// O(N) with the value's length.
func (c cmdable) SetIFDNE(ctx context.Context, key string, value any, matchDigest uint64, expiration time.Duration) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.setIf(key, value, "ifdne", nil, matchDigest, expiration)
	_ = c(ctx, cmd)
	return cmd
}

// SetIFDNEGet is SetIFNEGet with the value's digest; Nil where there was no value. Since
// Redis 8.4, O(N) with the value's length.
func (c cmdable) SetIFDNEGet(ctx context.Context, key string, value any, matchDigest uint64, expiration time.Duration) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.setIf(key, value, "ifdne", nil, matchDigest, expiration)
	cmd.str("get")
	_ = c(ctx, cmd)
	return cmd
}

// DelExArgs is the condition of DelExArgs; the zero value is none.
type DelExArgs struct {
	// Mode is IFEQ or IFNE, which compare the key's value with MatchValue, IFDEQ or
	// IFDNE, which compare its digest with MatchDigest, or empty.
	Mode        string
	MatchValue  any
	MatchDigest uint64
}

// DelExArgs removes key if the condition is met, and gives 1 if it did, else 0. Since
// Redis 8.4, O(1), O(N) with the value's length for digests.
func (c cmdable) DelExArgs(ctx context.Context, key string, a DelExArgs) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("delex", key)
	cmd.condition(a.Mode, a.MatchValue, a.MatchDigest)
	_ = c(ctx, cmd)
	return cmd
}

// DigestCmd is a command whose reply is the digest of a value.
type DigestCmd struct{ result[uint64] }

// NewDigestCmd makes a command of its arguments, the name first.
func NewDigestCmd(_ context.Context, args ...any) *DigestCmd {
	c := roomy[DigestCmd]()
	c.beginArgs(args)
	return c
}

func (c *DigestCmd) readReply(r *resp.Reader) error {
	c.val = 0
	at := *r
	text, err := r.Bytes()
	if err != nil {
		return err
	}
	if c.val, err = strconv.ParseUint(string(text), 16, 64); err != nil {
		c.val = 0
		return badShape(at, "hexadecimal digest")
	}
	return nil
}

// Digest gives the 64-bit XXH3 digest of the key's value; Nil where there is none.
// Since Redis 8.4, O(N) with the value's length.
func (c cmdable) Digest(ctx context.Context, key string) *DigestCmd {
	cmd := roomy[DigestCmd]()
	cmd.key("digest", key)
	_ = c(ctx, cmd)
	return cmd
}

// MSetEXArgs are the options of MSetEX; the zero value is a plain MSET.
type MSetEXArgs struct {
	Condition  SetCondition
	Expiration *ExpirationOption // nil: for ever
}

// MSetEX is MSet with a condition and an expiration for all keys; it gives 1 if it
// set them, else 0. Since Redis 8.4, O(N) with the keys.
func (c cmdable) MSetEX(ctx context.Context, args MSetEXArgs, values ...any) *IntCmd {
	cmd := roomy[IntCmd]()
	var pairs baseCmd // their number goes first
	pairs.begin("msetex")
	pairs.expand(values)
	cmd.begin("msetex")
	cmd.int(int64(pairs.count-1) / 2)
	cmd.appendArgs(&pairs)
	cmd.opt(args.Condition != "", string(args.Condition))
	cmd.expiration(args.Expiration)
	_ = c(ctx, cmd)
	return cmd
}

// appendArgs appends the arguments of another command without its name, and takes its
// error.
func (c *baseCmd) appendArgs(from *baseCmd) {
	if c.err == nil {
		c.err = from.err
	}
	r := resp.NewReader(from.buf[wireHead:])
	if r.Skip() == nil {
		c.buf = append(c.buf, from.buf[len(from.buf)-r.Len():]...)
		c.count += from.count - 1
	}
}

// IncrEXIntArgs are the options of IncrEXInt; the zero value adds one.
type IncrEXIntArgs struct {
	HasBy     bool // whether By counts
	By        int64
	HasLBound bool // whether LBound counts
	LBound    int64
	HasUBound bool // whether UBound counts
	UBound    int64
	// Saturate makes a sum out of bounds the bound; else nothing is added.
	Saturate   bool
	Expiration *ExpirationOption // nil: unchanged
	// ENX sets the expiration only if the key has none.
	ENX bool
}

// IncrEXIntResult is the reply of IncrEXInt.
type IncrEXIntResult struct {
	Value            int64 // after the command
	AppliedIncrement int64 // what was added: 0 if the sum was out of bounds
}

// IncrEXFloatArgs are the options of IncrEXFloat.
type IncrEXFloatArgs struct {
	By        float64
	HasLBound bool // whether LBound counts
	LBound    float64
	HasUBound bool // whether UBound counts
	UBound    float64
	// Saturate makes a sum out of bounds the bound; else nothing is added.
	Saturate   bool
	Expiration *ExpirationOption // nil: unchanged
	// ENX sets the expiration only if the key has none.
	ENX bool
}

// IncrEXFloatResult is the reply of IncrEXFloat.
type IncrEXFloatResult struct {
	Value            float64 // after the command
	AppliedIncrement float64 // what was added: 0 if the sum was out of bounds
}

// IncrEXIntCmd is the command of IncrEXInt.
type IncrEXIntCmd struct{ result[IncrEXIntResult] }

// NewIncrEXIntCmd makes a command of its arguments, the name first.
func NewIncrEXIntCmd(_ context.Context, args ...any) *IncrEXIntCmd {
	c := roomy[IncrEXIntCmd]()
	c.beginArgs(args)
	return c
}

func (c *IncrEXIntCmd) readReply(r *resp.Reader) (err error) {
	c.val = IncrEXIntResult{}
	if err := expectLen(r, 2, "value and increment"); err != nil {
		return err
	}
	var v IncrEXIntResult
	if v.Value, err = r.Int(); err != nil {
		return err
	}
	if v.AppliedIncrement, err = r.Int(); err != nil {
		return err
	}
	c.val = v
	return nil
}

// IncrEXFloatCmd is the command of IncrEXFloat.
type IncrEXFloatCmd struct{ result[IncrEXFloatResult] }

// NewIncrEXFloatCmd makes a command of its arguments, the name first.
func NewIncrEXFloatCmd(_ context.Context, args ...any) *IncrEXFloatCmd {
	c := roomy[IncrEXFloatCmd]()
	c.beginArgs(args)
	return c
}

func (c *IncrEXFloatCmd) readReply(r *resp.Reader) (err error) {
	c.val = IncrEXFloatResult{}
	if err := expectLen(r, 2, "value and increment"); err != nil {
		return err
	}
	var v IncrEXFloatResult
	if v.Value, err = r.Float(); err != nil {
		return err
	}
	if v.AppliedIncrement, err = r.Float(); err != nil {
		return err
	}
	c.val = v
	return nil
}

// IncrEXInt adds to the number in key within bounds, and sets its expiration. Since
// Redis 8.8, O(1).
func (c cmdable) IncrEXInt(ctx context.Context, key string, args IncrEXIntArgs) *IncrEXIntCmd {
	cmd := roomy[IncrEXIntCmd]()
	cmd.key("increx", key)
	cmd.optInt(args.HasBy, "byint", args.By)
	cmd.optInt(args.HasLBound, "lbound", args.LBound)
	cmd.optInt(args.HasUBound, "ubound", args.UBound)
	cmd.opt(args.Saturate, "saturate")
	cmd.expiration(args.Expiration)
	cmd.opt(args.ENX, "enx")
	_ = c(ctx, cmd)
	return cmd
}

// IncrEXFloat is IncrEXInt for numbers with a fraction. Since Redis 8.8, O(1).
func (c cmdable) IncrEXFloat(ctx context.Context, key string, args IncrEXFloatArgs) *IncrEXFloatCmd {
	cmd := roomy[IncrEXFloatCmd]()
	cmd.key("increx", key)
	cmd.optFloat(true, "byfloat", args.By)
	cmd.optFloat(args.HasLBound, "lbound", args.LBound)
	cmd.optFloat(args.HasUBound, "ubound", args.UBound)
	cmd.opt(args.Saturate, "saturate")
	cmd.expiration(args.Expiration)
	cmd.opt(args.ENX, "enx")
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// ZeroCopyStringCmd is a GET whose reply goes into the caller's buffer.
type ZeroCopyStringCmd struct {
	result[int]
	into []byte
}

// NewZeroCopyStringCmd makes a command of its arguments, the name first. buf belongs
// to the command until it has been processed.
func NewZeroCopyStringCmd(_ context.Context, buf []byte, args ...any) *ZeroCopyStringCmd {
	c := roomy[ZeroCopyStringCmd]()
	c.into = buf
	c.beginArgs(args)
	return c
}

// Bytes is the part of the buffer that holds the value.
func (c *ZeroCopyStringCmd) Bytes() []byte {
	r := c.settled()
	return c.into[:min(max(r.val, 0), len(c.into))]
}

func (c *ZeroCopyStringCmd) readReply(r *resp.Reader) error {
	c.val = 0
	text, err := r.Bytes()
	if err != nil {
		return err
	}
	if len(text) > len(c.into) {
		return fmt.Errorf("redis: the buffer of %d bytes is too small for a value of %d", len(c.into), len(text))
	}
	c.val = copy(c.into, text)
	return nil
}

// GetToBuffer is Get with the value put into buf; its length is the reply. Nil where
// there is no key. A value that does not fit is an error. buf must not be used until the
// command has been processed. Since Redis 1.0, O(1).
func (c cmdable) GetToBuffer(ctx context.Context, key string, buf []byte) *ZeroCopyStringCmd {
	cmd := roomy[ZeroCopyStringCmd]()
	cmd.into = buf
	cmd.key("get", key)
	_ = c(ctx, cmd)
	return cmd
}

// SetFromBuffer is Set of a value without expiration. buf is copied, so it may be used
// again at once. Since Redis 1.0, O(1).
func (c cmdable) SetFromBuffer(ctx context.Context, key string, buf []byte) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("set", key)
	cmd.bytes(buf)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// LCSQuery is what LCS is asked for.
type LCSQuery struct {
	Key1 string
	Key2 string
	Len  bool // only the length
	Idx  bool // where the matches are, rather than their text
	// MinMatchLen leaves out shorter matches, WithMatchLen adds each match's length;
	// both with Idx only.
	MinMatchLen  int
	WithMatchLen bool
}

// LCSMatch is the longest common subsequence of two values.
type LCSMatch struct {
	MatchString string               // without Len and Idx
	Matches     []LCSMatchedPosition // with Idx, the last match first
	Len         int64                // with Len or Idx
}

// LCSMatchedPosition is where a match is in the two values.
type LCSMatchedPosition struct {
	Key1     LCSPosition
	Key2     LCSPosition
	MatchLen int64 // with WithMatchLen
}

// LCSPosition is a range of bytes, both ends included.
type LCSPosition struct {
	Start int64
	End   int64
}

// LCSCmd is the command of LCS.
type LCSCmd struct {
	result[*LCSMatch]
}

// NewLCSCmd makes the command for a query.
func NewLCSCmd(_ context.Context, q *LCSQuery) *LCSCmd {
	c := roomy[LCSCmd]()
	c.begin("lcs")
	c.strs(q.Key1, q.Key2)
	c.opt(q.Len, "len")
	if q.Idx {
		c.str("idx")
		c.optInt(q.MinMatchLen != 0, "minmatchlen", int64(q.MinMatchLen))
		c.opt(q.WithMatchLen, "withmatchlen")
	}
	return c
}

// LCS gives the longest common subsequence of the values of two keys. Since Redis
// 7.0, O(N*M) with their lengths.
func (c cmdable) LCS(ctx context.Context, q *LCSQuery) *LCSCmd {
	cmd := NewLCSCmd(ctx, q)
	_ = c(ctx, cmd)
	return cmd
}

func (c *LCSCmd) readReply(r *resp.Reader) (err error) {
	c.val = nil
	m := &LCSMatch{}
	switch k := r.Kind(); {
	case k == resp.KindInt:
		m.Len, err = r.Int()
	case k == resp.KindMap || isList(r):
		err = m.read(r)
	default:
		m.MatchString, err = r.String()
	}
	if err != nil {
		return err
	}
	c.val = m
	return nil
}

// read reads the reply with Idx.
func (m *LCSMatch) read(r *resp.Reader) error {
	return readFields(r, func(name string) (err error) {
		switch name {
		case "matches":
			m.Matches, err = readSlice(r, readLCSMatch)
		case "len":
			m.Len, err = r.Int()
		default:
			err = r.Skip()
		}
		return err
	})
}

// readLCSMatch reads where a match is.
func readLCSMatch(r *resp.Reader) (p LCSMatchedPosition, err error) {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return p, err
	}
	if n < 2 || n > 3 {
		return p, badShape(at, "position of a match")
	}
	for _, pos := range []*LCSPosition{&p.Key1, &p.Key2} {
		if err := expectLen(r, 2, "start and end"); err != nil {
			return p, err
		}
		if pos.Start, err = r.Int(); err != nil {
			return p, err
		}
		if pos.End, err = r.Int(); err != nil {
			return p, err
		}
	}
	if n == 3 {
		p.MatchLen, err = r.Int()
	}
	return p, err
}
