package redis

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// as is the reply made a T, or the command's error.
func as[T any](c *Cmd, convert func(any) (T, error)) (T, error) {
	r := c.settled()
	if r.err != nil {
		var zero T
		return zero, r.err
	}
	return convert(r.val)
}

// asSlice is the reply made a slice of T, or the command's error.
func asSlice[T any](c *Cmd, convert func(any) (T, error)) ([]T, error) {
	values, err := c.Slice()
	if err != nil {
		return nil, err
	}
	list := make([]T, len(values))
	for i, v := range values {
		if list[i], err = convert(v); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// unlike is the error for a value that can't be what is wanted.
func unlike(v any, want string) error { return fmt.Errorf("redis: can't make a %T a %s", v, want) }

// Text is the reply as a string; it must be one, or an integer.
func (c *Cmd) Text() (string, error) { return as(c, toText) }

// Int is the reply as an int; it must be a number or a string of digits.
func (c *Cmd) Int() (int, error) {
	return as(c, func(v any) (int, error) {
		n, err := toInt64(v)
		if err == nil && int64(int(n)) != n {
			return 0, unlike(v, "int")
		}
		return int(n), err
	})
}

// Int64 is the reply as an int64; it must be a number or a string of digits.
func (c *Cmd) Int64() (int64, error) { return as(c, toInt64) }

// Uint64 is the reply as a uint64; it must be a number or a string of digits.
func (c *Cmd) Uint64() (uint64, error) { return as(c, toUint64) }

// Float32 is the reply as a float32; it must be a number or a string of one.
func (c *Cmd) Float32() (float32, error) { return as(c, toFloat32) }

// Float64 is the reply as a float64; it must be a number or a string of one.
func (c *Cmd) Float64() (float64, error) { return as(c, toFloat64) }

// Bool is the reply as a bool: a boolean, an integer that is not 0, or a string such as
// 1, t or true.
func (c *Cmd) Bool() (bool, error) { return as(c, toBool) }

// Slice is the reply as a slice; it must be an array or a set.
func (c *Cmd) Slice() ([]any, error) {
	return as(c, func(v any) ([]any, error) {
		list, ok := v.([]any)
		if !ok {
			return nil, unlike(v, "slice")
		}
		return list, nil
	})
}

// StringSlice is the reply as a slice of strings; see Text.
func (c *Cmd) StringSlice() ([]string, error) { return asSlice(c, toText) }

// Int64Slice is the reply as a slice of int64; see Int64.
func (c *Cmd) Int64Slice() ([]int64, error) { return asSlice(c, toInt64) }

// Uint64Slice is the reply as a slice of uint64; see Uint64.
func (c *Cmd) Uint64Slice() ([]uint64, error) { return asSlice(c, toUint64) }

// Float32Slice is the reply as a slice of float32; see Float32.
func (c *Cmd) Float32Slice() ([]float32, error) { return asSlice(c, toFloat32) }

// Float64Slice is the reply as a slice of float64; see Float64.
func (c *Cmd) Float64Slice() ([]float64, error) { return asSlice(c, toFloat64) }

// BoolSlice is the reply as a slice of bool; see Bool.
func (c *Cmd) BoolSlice() ([]bool, error) { return asSlice(c, toBool) }

func toText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case error:
		return "", v
	}
	return "", unlike(v, "string")
}

func toInt64(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case string:
		return strconv.ParseInt(v, 10, 64)
	case float64:
		if v == math.Trunc(v) && v >= -1<<63 && v < 1<<63 {
			return int64(v), nil
		}
	case error:
		return 0, v
	}
	return 0, unlike(v, "int64")
}

func toUint64(v any) (uint64, error) {
	switch v := v.(type) {
	case int64:
		return uint64(v), nil
	case string:
		return strconv.ParseUint(v, 10, 64)
	case float64:
		if v == math.Trunc(v) && v >= 0 && v < 1<<64 {
			return uint64(v), nil
		}
	case error:
		return 0, v
	}
	return 0, unlike(v, "uint64")
}

func toFloat64(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case string:
		return strconv.ParseFloat(v, 64)
	case error:
		return 0, v
	}
	return 0, unlike(v, "float64")
}

func toFloat32(v any) (float32, error) {
	if s, ok := v.(string); ok {
		f, err := strconv.ParseFloat(s, 32)
		return float32(f), err
	}
	f, err := toFloat64(v)
	return float32(f), err
}

func toBool(v any) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case int64:
		return v != 0, nil
	case string:
		return strconv.ParseBool(v)
	case error:
		return false, v
	}
	return false, unlike(v, "bool")
}

//------------------------------------------------------------------------------

// A settable is a command type whose reply is one value.
type settable[T any] interface {
	SetVal(val T)
	SetErr(err error)
}

// answered gives a command a reply and an error.
func answered[T any, C settable[T]](cmd C, val T, err error) C {
	cmd.SetVal(val)
	cmd.SetErr(err)
	return cmd
}

// NewCmdResult makes a command that is answered already, for tests with a fake client.
func NewCmdResult(val any, err error) *Cmd { return answered(&Cmd{}, val, err) }

// NewSliceResult makes a command that is answered already; see NewCmdResult.
func NewSliceResult(val []any, err error) *SliceCmd { return answered(&SliceCmd{}, val, err) }

// NewStatusResult makes a command that is answered already; see NewCmdResult.
func NewStatusResult(val string, err error) *StatusCmd { return answered(&StatusCmd{}, val, err) }

// NewIntResult makes a command that is answered already; see NewCmdResult.
func NewIntResult(val int64, err error) *IntCmd { return answered(&IntCmd{}, val, err) }

// NewDurationResult makes a command that is answered already; see NewCmdResult.
func NewDurationResult(val time.Duration, err error) *DurationCmd {
	return answered(&DurationCmd{}, val, err)
}

// NewBoolResult makes a command that is answered already; see NewCmdResult.
func NewBoolResult(val bool, err error) *BoolCmd { return answered(&BoolCmd{}, val, err) }

// NewStringResult makes a command that is answered already; see NewCmdResult.
func NewStringResult(val string, err error) *StringCmd { return answered(&StringCmd{}, val, err) }

// NewFloatResult makes a command that is answered already; see NewCmdResult.
func NewFloatResult(val float64, err error) *FloatCmd { return answered(&FloatCmd{}, val, err) }

// NewFloatSliceResult makes a command that is answered already; see NewCmdResult.
func NewFloatSliceResult(val []float64, err error) *FloatSliceCmd {
	return answered(&FloatSliceCmd{}, val, err)
}

// NewStringSliceResult makes a command that is answered already; see NewCmdResult.
func NewStringSliceResult(val []string, err error) *StringSliceCmd {
	return answered(&StringSliceCmd{}, val, err)
}

// NewBoolSliceResult makes a command that is answered already; see NewCmdResult.
func NewBoolSliceResult(val []bool, err error) *BoolSliceCmd {
	return answered(&BoolSliceCmd{}, val, err)
}

// NewMapStringStringResult makes a command that is answered already; see NewCmdResult.
func NewMapStringStringResult(val map[string]string, err error) *MapStringStringCmd {
	return answered(&MapStringStringCmd{}, val, err)
}

// NewMapStringIntCmdResult makes a command that is answered already; see NewCmdResult.
func NewMapStringIntCmdResult(val map[string]int64, err error) *MapStringIntCmd {
	return answered(&MapStringIntCmd{}, val, err)
}

// NewTimeCmdResult makes a command that is answered already; see NewCmdResult.
func NewTimeCmdResult(val time.Time, err error) *TimeCmd { return answered(&TimeCmd{}, val, err) }

// NewZSliceCmdResult makes a command that is answered already; see NewCmdResult.
func NewZSliceCmdResult(val []Z, err error) *ZSliceCmd { return answered(&ZSliceCmd{}, val, err) }

// NewZWithKeyCmdResult makes a command that is answered already; see NewCmdResult.
func NewZWithKeyCmdResult(val *ZWithKey, err error) *ZWithKeyCmd {
	return answered(&ZWithKeyCmd{}, val, err)
}

// NewScanCmdResult makes a command that is answered already; see NewCmdResult.
func NewScanCmdResult(keys []string, cursor uint64, err error) *ScanCmd {
	cmd := &ScanCmd{}
	cmd.SetVal(keys, cursor)
	cmd.SetErr(err)
	return cmd
}
