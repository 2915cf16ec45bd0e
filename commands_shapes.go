package redis

import (
	"context"

	"github.com/baton-go/redis/internal/resp"
)

// UintCmd is a command whose reply is an integer that is not negative.
type UintCmd struct{ result[uint64] }

// NewUintCmd makes a command of its arguments, the name first.
func NewUintCmd(_ context.Context, args ...any) *UintCmd {
	c := roomy[UintCmd]()
	c.beginArgs(args)
	return c
}

func (c *UintCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = r.Uint()
	return err
}

// UintSliceCmd is a command whose reply is an array of integers that are not negative.
type UintSliceCmd struct{ result[[]uint64] }

// NewUintSliceCmd makes a command of its arguments, the name first.
func NewUintSliceCmd(_ context.Context, args ...any) *UintSliceCmd {
	c := roomy[UintSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *UintSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (uint64, error) { return r.Uint() })
	return err
}

// StringSliceSliceCmd is a command whose reply is an array of arrays of strings, the empty
// string for a null.
type StringSliceSliceCmd struct{ result[[][]string] }

// NewStringSliceSliceCmd makes a command of its arguments, the name first.
func NewStringSliceSliceCmd(_ context.Context, args ...any) *StringSliceSliceCmd {
	c := roomy[StringSliceSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *StringSliceSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) ([]string, error) { return orZero(readSlice(r, readStringOrEmpty)) })
	return err
}

// MapStringInterfaceSliceCmd is a command whose reply is an array of maps with values of
// any type.
type MapStringInterfaceSliceCmd struct{ result[[]map[string]any] }

// NewMapStringInterfaceSliceCmd makes a command of its arguments, the name first.
func NewMapStringInterfaceSliceCmd(_ context.Context, args ...any) *MapStringInterfaceSliceCmd {
	c := roomy[MapStringInterfaceSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *MapStringInterfaceSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (map[string]any, error) { return readMap(r, readElement) })
	return err
}

// MapStringStringSliceCmd is a command whose reply is an array of maps of strings.
type MapStringStringSliceCmd struct{ result[[]map[string]string] }

// NewMapStringStringSliceCmd makes a command of its arguments, the name first.
func NewMapStringStringSliceCmd(_ context.Context, args ...any) *MapStringStringSliceCmd {
	c := roomy[MapStringStringSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *MapStringStringSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (map[string]string, error) { return readMap(r, readStringOrEmpty) })
	return err
}
