package redis

import (
	"context"
	"errors"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// How servers write the numbers that have no digits.
const (
	NaN  = "nan"
	Inf  = "inf"
	NInf = "-inf"
)

// result is what those command types have in common whose reply becomes one Go
// value.
type result[T any] struct {
	baseCmd
	val T
}

// SetVal sets the reply.
func (c *result[T]) SetVal(val T) { c.val = val }

// Val is the reply, the zero value where there is none.
func (c *result[T]) Val() T { return c.settled().val }

// Result is the reply and the error.
func (c *result[T]) Result() (T, error) {
	r := c.settled()
	return r.val, r.err
}

// String shows the command and its reply or error.
func (c *result[T]) String() string {
	r := c.settled()
	return r.show(r.val)
}

// key starts a command whose first argument is a key; name is in lower case.
func (c *baseCmd) key(name, key string) {
	c.begin(name)
	c.str(key)
}

// keys starts a command whose arguments are keys, or which begins with several.
func (c *baseCmd) keys(name string, keys []string) {
	c.begin(name)
	c.strs(keys...)
}

// numKeys appends how many keys there are and then the keys.
func (c *baseCmd) numKeys(keys []string) {
	c.int(int64(len(keys)))
	c.strs(keys...)
}

// sub starts a command with a subcommand.
func (c *baseCmd) sub(name, subcommand string) {
	c.begin(name)
	c.str(subcommand)
}

// opt appends word if it is wanted.
func (c *baseCmd) opt(wanted bool, word string) {
	if wanted {
		c.str(word)
	}
}

// optInt appends a word and a number if the number is wanted.
func (c *baseCmd) optInt(wanted bool, word string, v int64) {
	if wanted {
		c.str(word)
		c.int(v)
	}
}

// optFloat appends a word and a number if the number is wanted.
func (c *baseCmd) optFloat(wanted bool, word string, v float64) {
	if wanted {
		c.str(word)
		c.float(v)
	}
}

// reject makes the command one that is not sent, because of what its caller gave.
func (c *baseCmd) reject(text string) {
	if c.err == nil {
		c.err = &CommandError{Command: c.Name(), Delivery: NotSent, Err: errors.New(text)}
	}
}

// bytes appends a string argument.
func (c *baseCmd) bytes(b []byte) {
	c.buf = resp.AppendBulkBytes(c.buf, b)
	c.count++
}

// uint appends an integer argument.
func (c *baseCmd) uint(v uint64) {
	c.buf = resp.AppendBulkUint(c.buf, v)
	c.count++
}

// readSlice reads an array whose values read takes one by one.
func readSlice[T any](r *resp.Reader, read func(*resp.Reader) (T, error)) ([]T, error) {
	n, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	list := make([]T, n)
	for i := range list {
		if list[i], err = read(r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readMap reads a map with strings as keys, of the form of RESP2 or RESP3.
func readMap[T any](r *resp.Reader, read func(*resp.Reader) (T, error)) (map[string]T, error) {
	n, err := r.MapLen()
	if err != nil {
		return nil, err
	}
	m := make(map[string]T, n)
	for range n {
		key, err := r.String()
		if err != nil {
			return nil, err
		}
		if m[key], err = read(r); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// readFields reads a map whose keys say what their values are; read is called with
// each key and takes, or skips, the value.
func readFields(r *resp.Reader, read func(name string) error) error {
	n, err := r.MapLen()
	if err != nil {
		return err
	}
	for range n {
		name, err := r.String()
		if err != nil {
			return err
		}
		if err := read(name); err != nil {
			return err
		}
	}
	return nil
}

// readString is [resp.Reader.String] as a function.
func readString(r *resp.Reader) (string, error) { return r.String() }

// readInt is [resp.Reader.Int] as a function.
func readInt(r *resp.Reader) (int64, error) { return r.Int() }

// readBool is [resp.Reader.Bool] as a function.
func readBool(r *resp.Reader) (bool, error) { return r.Bool() }

// orZero makes a null inside an aggregate the zero value.
func orZero[T any](v T, err error) (T, error) {
	if err == Nil { //nolint:errorlint // the reader gives it unwrapped
		var zero T
		return zero, nil
	}
	return v, err
}

// readStringOrEmpty reads a string, and a null as the empty one.
func readStringOrEmpty(r *resp.Reader) (string, error) { return orZero(r.String()) }

// readFloatOrZero reads a number, and a null as 0.
func readFloatOrZero(r *resp.Reader) (float64, error) { return orZero(r.Float()) }

// readElement reads a value inside an aggregate: nil for a null, a resp.Error for
// an error.
func readElement(r *resp.Reader) (any, error) {
	v, err := r.Any()
	if e, ok := err.(resp.Error); ok { //nolint:errorlint // the reader gives it unwrapped
		if e == Nil {
			return nil, nil
		}
		return e, nil
	}
	return v, err
}

// expectLen reads the header of an array that has want values.
func expectLen(r *resp.Reader, want int, what string) error {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return err
	}
	if n != want {
		return badShape(at, what)
	}
	return nil
}

// badShape is the error for a value, the next of r, that is sound but not what the
// command answers.
func badShape(r resp.Reader, what string) error {
	kind := r.Kind()
	if err := r.Skip(); err != nil {
		return err
	}
	return &resp.TypeError{Want: what, Got: kind, Sample: "of another shape"}
}

// isList tells whether the next value is an array, set or push.
func isList(r *resp.Reader) bool {
	switch r.Kind() {
	case resp.KindArray, resp.KindSet, resp.KindPush:
		return true
	}
	return false
}

//------------------------------------------------------------------------------

// FloatCmd is a command whose reply is a number.
type FloatCmd struct{ result[float64] }

// NewFloatCmd makes a command of its arguments, the name first.
func NewFloatCmd(_ context.Context, args ...any) *FloatCmd {
	c := roomy[FloatCmd]()
	c.beginArgs(args)
	return c
}

func (c *FloatCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = r.Float()
	return err
}

// BoolCmd is a command whose reply says yes or no. A null, which SET NX answers
// where the key exists, is no, and not an error.
type BoolCmd struct{ result[bool] }

// NewBoolCmd makes a command of its arguments, the name first.
func NewBoolCmd(_ context.Context, args ...any) *BoolCmd {
	c := roomy[BoolCmd]()
	c.beginArgs(args)
	return c
}

func (c *BoolCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = orZero(r.Bool())
	return err
}

// DurationCmd is a command whose reply is a time span. The two numbers that stand
// for something else, -1 and -2, are these numbers of nanoseconds.
type DurationCmd struct {
	result[time.Duration]
	precision time.Duration
}

// NewDurationCmd makes a command of its arguments, the name first. The reply counts
// in units of precision.
func NewDurationCmd(_ context.Context, precision time.Duration, args ...any) *DurationCmd {
	c := &DurationCmd{precision: precision}
	c.beginArgs(args)
	return c
}

func (c *DurationCmd) readReply(r *resp.Reader) error {
	n, err := r.Int()
	if err != nil {
		c.val = 0
		return err
	}
	c.val = time.Duration(n)
	if n != -1 && n != -2 {
		c.val = times(n, c.precision)
	}
	return nil
}

// times is n units as a duration, the longest one where it does not fit.
func times(n int64, unit time.Duration) time.Duration {
	const longest = time.Duration(1<<63 - 1)
	if unit > 0 && n > int64(longest/unit) {
		return longest
	}
	return time.Duration(n) * unit
}

// TimeCmd is a command whose reply is a point in time: seconds and microseconds.
type TimeCmd struct{ result[time.Time] }

// NewTimeCmd makes a command of its arguments, the name first.
func NewTimeCmd(_ context.Context, args ...any) *TimeCmd {
	c := roomy[TimeCmd]()
	c.beginArgs(args)
	return c
}

func (c *TimeCmd) readReply(r *resp.Reader) error {
	c.val = time.Time{}
	if err := expectLen(r, 2, "seconds and microseconds"); err != nil {
		return err
	}
	sec, err := r.Int()
	if err != nil {
		return err
	}
	micro, err := r.Int()
	if err != nil {
		return err
	}
	c.val = time.Unix(sec, micro*int64(time.Microsecond))
	return nil
}

//------------------------------------------------------------------------------

// SliceCmd is a command whose reply is an array of values of any type, nil for a
// null.
type SliceCmd struct{ result[[]any] }

// NewSliceCmd makes a command of its arguments, the name first.
func NewSliceCmd(_ context.Context, args ...any) *SliceCmd {
	c := roomy[SliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *SliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, readElement)
	return err
}

// StringSliceCmd is a command whose reply is an array of strings, the empty string
// for a null.
type StringSliceCmd struct{ result[[]string] }

// NewStringSliceCmd makes a command of its arguments, the name first.
func NewStringSliceCmd(_ context.Context, args ...any) *StringSliceCmd {
	c := roomy[StringSliceCmd]()
	c.beginArgs(args)
	return c
}

// ScanSlice stores the reply in the slice that container points to, each value
// converted as by StringCmd.Scan.
func (c *StringSliceCmd) ScanSlice(container any) error {
	r := c.settled()
	if r.err != nil {
		return r.err
	}
	return scanSlice(r.val, container)
}

func (c *StringSliceCmd) readReply(r *resp.Reader) (err error) {
	if c.oneIsList {
		c.val, err = readMatches(r, readStringOrEmpty)
		return err
	}
	c.val, err = readSlice(r, readStringOrEmpty)
	return err
}

// IntSliceCmd is a command whose reply is an array of integers.
type IntSliceCmd struct{ result[[]int64] }

// NewIntSliceCmd makes a command of its arguments, the name first.
func NewIntSliceCmd(_ context.Context, args ...any) *IntSliceCmd {
	c := roomy[IntSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *IntSliceCmd) readReply(r *resp.Reader) (err error) {
	if c.oneIsList {
		c.val, err = readMatches(r, readIntOrZero)
		return err
	}
	c.val, err = readSlice(r, readInt)
	return err
}

// FloatSliceCmd is a command whose reply is an array of numbers, 0 for a null.
type FloatSliceCmd struct{ result[[]float64] }

// NewFloatSliceCmd makes a command of its arguments, the name first.
func NewFloatSliceCmd(_ context.Context, args ...any) *FloatSliceCmd {
	c := roomy[FloatSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *FloatSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, readFloatOrZero)
	return err
}

// BoolSliceCmd is a command whose reply is an array of yes and no.
type BoolSliceCmd struct{ result[[]bool] }

// NewBoolSliceCmd makes a command of its arguments, the name first.
func NewBoolSliceCmd(_ context.Context, args ...any) *BoolSliceCmd {
	c := roomy[BoolSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *BoolSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, readBool)
	return err
}
