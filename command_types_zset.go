package redis

import (
	"context"

	"github.com/baton-go/redis/internal/resp"
)

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
	c := &ZSliceCmd{}
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
	c := &ZWithKeyCmd{}
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
	c := &ZSliceWithKeyCmd{}
	c.beginArgs(args)
	return c
}

// SetVal sets the reply.
func (c *ZSliceWithKeyCmd) SetVal(key string, val []Z) { c.from, c.val = key, val }

// Val is the key and the members.
func (c *ZSliceWithKeyCmd) Val() (string, []Z) { return c.from, c.val }

// Result is the key, the members and the error.
func (c *ZSliceWithKeyCmd) Result() (string, []Z, error) { return c.from, c.val, c.err }

// String shows the command and its reply or error.
func (c *ZSliceWithKeyCmd) String() string { return c.show(c.val) }

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
	c := &RankWithScoreCmd{}
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
