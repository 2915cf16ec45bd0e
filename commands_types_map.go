package redis

import (
	"context"

	"github.com/baton-go/redis/internal/resp"
)

// MapStringStringCmd is a command whose reply is a map of strings.
type MapStringStringCmd struct{ result[map[string]string] }

// NewMapStringStringCmd makes a command of its arguments, the name first.
func NewMapStringStringCmd(_ context.Context, args ...any) *MapStringStringCmd {
	c := roomy[MapStringStringCmd]()
	c.beginArgs(args)
	return c
}

// Scan stores the values in the fields of the struct that dest points to; see
// SliceCmd.Scan for the tags and types.
func (c *MapStringStringCmd) Scan(dest any) error {
	r := c.settled()
	if r.err != nil {
		return r.err
	}
	target, err := newScanTarget(dest)
	if err != nil {
		return err
	}
	for key, val := range r.val {
		if err := target.set(key, val); err != nil {
			return err
		}
	}
	return nil
}

func (c *MapStringStringCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readMap(r, readStringOrEmpty)
	return err
}

// MapStringIntCmd is a command whose reply is a map of integers.
type MapStringIntCmd struct{ result[map[string]int64] }

// NewMapStringIntCmd makes a command of its arguments, the name first.
func NewMapStringIntCmd(_ context.Context, args ...any) *MapStringIntCmd {
	c := roomy[MapStringIntCmd]()
	c.beginArgs(args)
	return c
}

func (c *MapStringIntCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readMap(r, readInt)
	return err
}

// StringStructMapCmd is a command whose reply is a set of strings.
type StringStructMapCmd struct{ result[map[string]struct{}] }

// NewStringStructMapCmd makes a command of its arguments, the name first.
func NewStringStructMapCmd(_ context.Context, args ...any) *StringStructMapCmd {
	c := roomy[StringStructMapCmd]()
	c.beginArgs(args)
	return c
}

func (c *StringStructMapCmd) readReply(r *resp.Reader) error {
	c.val = nil
	n, err := r.ArrayLen()
	if err != nil {
		return err
	}
	set := make(map[string]struct{}, n)
	for range n {
		s, err := r.String()
		if err != nil {
			return err
		}
		set[s] = struct{}{}
	}
	c.val = set
	return nil
}

// KeyValue is a field of a hash and its value.
type KeyValue struct {
	Key   string
	Value string
}

// KeyValueSliceCmd is a command whose reply is a list of fields with their values.
type KeyValueSliceCmd struct{ result[[]KeyValue] }

// NewKeyValueSliceCmd makes a command of its arguments, the name first.
func NewKeyValueSliceCmd(_ context.Context, args ...any) *KeyValueSliceCmd {
	c := roomy[KeyValueSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *KeyValueSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readPairs(r, "fields and values", func(r *resp.Reader) (kv KeyValue, err error) {
		if kv.Key, err = r.String(); err != nil {
			return kv, err
		}
		kv.Value, err = r.String()
		return kv, err
	})
	return err
}

// readPairs reads a list of pairs, of which read takes one: flat, as RESP2 has it,
// a map, or an array of arrays of two, as RESP3 has it.
func readPairs[T any](r *resp.Reader, what string, read func(*resp.Reader) (T, error)) ([]T, error) {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	nested := n > 0 && isList(r)
	if !nested {
		if n%2 != 0 {
			return nil, badShape(at, what)
		}
		n /= 2
	}
	list := make([]T, n)
	for i := range list {
		if nested {
			if err := expectLen(r, 2, what); err != nil {
				return nil, err
			}
		}
		if list[i], err = read(r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// KeyValuesCmd is a command whose reply is a key and values taken from it.
type KeyValuesCmd struct {
	baseCmd
	from string
	val  []string
}

// NewKeyValuesCmd makes a command of its arguments, the name first.
func NewKeyValuesCmd(_ context.Context, args ...any) *KeyValuesCmd {
	c := roomy[KeyValuesCmd]()
	c.beginArgs(args)
	return c
}

// SetVal sets the reply.
func (c *KeyValuesCmd) SetVal(key string, val []string) { c.from, c.val = key, val }

// Val is the key and the values.
func (c *KeyValuesCmd) Val() (string, []string) {
	c = settled(c)
	return c.from, c.val
}

// Result is the key, the values and the error.
func (c *KeyValuesCmd) Result() (string, []string, error) {
	c = settled(c)
	return c.from, c.val, c.err
}

// String shows the command and its reply or error.
func (c *KeyValuesCmd) String() string {
	c = settled(c)
	return c.show(c.val)
}

func (c *KeyValuesCmd) readReply(r *resp.Reader) (err error) {
	c.from, c.val = "", nil
	if err := expectLen(r, 2, "a key and values"); err != nil {
		return err
	}
	if c.from, err = r.String(); err != nil {
		return err
	}
	c.val, err = readSlice(r, readStringOrEmpty)
	return err
}

// MapStringInterfaceCmd is a command whose reply is a map with values of any type.
type MapStringInterfaceCmd struct {
	result[map[string]any]

	isRows bool // the reply is that of an aggregation; see readRowMap
}

// NewMapStringInterfaceCmd makes a command of its arguments, the name first.
func NewMapStringInterfaceCmd(_ context.Context, args ...any) *MapStringInterfaceCmd {
	c := roomy[MapStringInterfaceCmd]()
	c.beginArgs(args)
	return c
}

func (c *MapStringInterfaceCmd) readReply(r *resp.Reader) (err error) {
	if c.isRows {
		c.val, err = readRowMap(r)
		return err
	}
	c.val, err = readMap(r, readElement)
	return err
}

//------------------------------------------------------------------------------

// Z is a member of a sorted set and its score. In replies Member is a string.
type Z struct {
	Score  float64
	Member any
}

// ZWithKey is a member of a sorted set, its score, and the key of the set.
type ZWithKey struct {
	Z

	Key string
}

// RankScore is a member's rank, which counts from 0, and its score.
type RankScore struct {
	Rank  int64
	Score float64
}

// readZ reads a member and its score.
func readZ(r *resp.Reader) (Z, error) {
	member, err := r.String()
	if err != nil {
		return Z{}, err
	}
	score, err := r.Float()
	if err != nil {
		return Z{}, err
	}
	return Z{Score: score, Member: member}, nil
}

// readZs reads members with their scores, flat or in pairs.
func readZs(r *resp.Reader) ([]Z, error) { return readPairs(r, "members and scores", readZ) }

// ZSliceCmd is a command whose reply is a list of members with their scores.
type ZSliceCmd struct{ result[[]Z] }

// NewZSliceCmd makes a command of its arguments, the name first.
func NewZSliceCmd(_ context.Context, args ...any) *ZSliceCmd {
	c := roomy[ZSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *ZSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readZs(r)
	return err
}

// ZWithKeyCmd is a command whose reply is a key and a member taken from it.
type ZWithKeyCmd struct{ result[*ZWithKey] }

// NewZWithKeyCmd makes a command of its arguments, the name first.
func NewZWithKeyCmd(_ context.Context, args ...any) *ZWithKeyCmd {
	c := roomy[ZWithKeyCmd]()
	c.beginArgs(args)
	return c
}

func (c *ZWithKeyCmd) readReply(r *resp.Reader) error {
	c.val = nil
	if err := expectLen(r, 3, "key, member and score"); err != nil {
		return err
	}
	key, err := r.String()
	if err != nil {
		return err
	}
	z, err := readZ(r)
	if err != nil {
		return err
	}
	c.val = &ZWithKey{Z: z, Key: key}
	return nil
}

// ZSliceWithKeyCmd is a command whose reply is a key and members taken from it.
type ZSliceWithKeyCmd struct {
	baseCmd
	from string
	val  []Z
}

// NewZSliceWithKeyCmd makes a command of its arguments, the name first.
func NewZSliceWithKeyCmd(_ context.Context, args ...any) *ZSliceWithKeyCmd {
	c := roomy[ZSliceWithKeyCmd]()
	c.beginArgs(args)
	return c
}

// SetVal sets the reply.
func (c *ZSliceWithKeyCmd) SetVal(key string, val []Z) { c.from, c.val = key, val }

// Val is the key and the members.
func (c *ZSliceWithKeyCmd) Val() (string, []Z) {
	c = settled(c)
	return c.from, c.val
}

// Result is the key, the members and the error.
func (c *ZSliceWithKeyCmd) Result() (string, []Z, error) {
	c = settled(c)
	return c.from, c.val, c.err
}

// String shows the command and its reply or error.
func (c *ZSliceWithKeyCmd) String() string {
	c = settled(c)
	return c.show(c.val)
}

func (c *ZSliceWithKeyCmd) readReply(r *resp.Reader) (err error) {
	c.from, c.val = "", nil
	if err := expectLen(r, 2, "a key and its members"); err != nil {
		return err
	}
	if c.from, err = r.String(); err != nil {
		return err
	}
	c.val, err = readZs(r)
	return err
}

// RankWithScoreCmd is a command whose reply is a rank and a score.
type RankWithScoreCmd struct{ result[RankScore] }

// NewRankWithScoreCmd makes a command of its arguments, the name first.
func NewRankWithScoreCmd(_ context.Context, args ...any) *RankWithScoreCmd {
	c := roomy[RankWithScoreCmd]()
	c.beginArgs(args)
	return c
}

func (c *RankWithScoreCmd) readReply(r *resp.Reader) (err error) {
	c.val = RankScore{}
	if err := expectLen(r, 2, "rank and score"); err != nil {
		return err
	}
	rank, err := r.Int()
	if err != nil {
		return err
	}
	score, err := r.Float()
	if err != nil {
		return err
	}
	c.val = RankScore{Rank: rank, Score: score}
	return nil
}
