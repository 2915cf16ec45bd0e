package redis

import (
	"encoding"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Scanner is implemented by types that read themselves from the value of a hash's
// field, for the Scan methods of SliceCmd and MapStringStringCmd.
type Scanner interface {
	ScanRedis(s string) error
}

// scanInto stores b in what dst points to.
func scanInto(b []byte, dst any) error {
	switch dst := dst.(type) {
	case nil:
		return errors.New("redis: can't scan into nil")
	case *string:
		*dst = string(b)
	case *[]byte:
		*dst = append([]byte(nil), b...)
	case *int:
		return scanInt(b, strconv.IntSize, dst)
	case *int8:
		return scanInt(b, 8, dst)
	case *int16:
		return scanInt(b, 16, dst)
	case *int32:
		return scanInt(b, 32, dst)
	case *int64:
		return scanInt(b, 64, dst)
	case *uint:
		return scanUint(b, strconv.IntSize, dst)
	case *uint8:
		return scanUint(b, 8, dst)
	case *uint16:
		return scanUint(b, 16, dst)
	case *uint32:
		return scanUint(b, 32, dst)
	case *uint64:
		return scanUint(b, 64, dst)
	case *float32:
		f, err := strconv.ParseFloat(string(b), 32)
		*dst = float32(f)
		return err
	case *float64:
		f, err := strconv.ParseFloat(string(b), 64)
		*dst = f
		return err
	case *bool:
		*dst = len(b) == 1 && b[0] == '1'
	case *time.Time:
		t, err := time.Parse(time.RFC3339Nano, string(b))
		*dst = t
		return err
	case *time.Duration:
		return scanInt(b, 64, dst)
	case encoding.BinaryUnmarshaler:
		return dst.UnmarshalBinary(b)
	case *net.IP:
		*dst = append(net.IP(nil), b...)
	default:
		return fmt.Errorf("redis: can't scan into %T (implement encoding.BinaryUnmarshaler)", dst)
	}
	return nil
}

// scanInt stores an integer of so many bits.
func scanInt[T ~int | ~int8 | ~int16 | ~int32 | ~int64](b []byte, bits int, dst *T) error {
	n, err := strconv.ParseInt(string(b), 10, bits)
	if err == nil {
		*dst = T(n)
	}
	return err
}

// scanUint stores an integer of so many bits.
func scanUint[T ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](b []byte, bits int, dst *T) error {
	n, err := strconv.ParseUint(string(b), 10, bits)
	if err == nil {
		*dst = T(n)
	}
	return err
}

// scanSlice stores values in the slice that container points to, replacing what it
// holds.
func scanSlice(values []string, container any) error {
	p := reflect.ValueOf(container)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Slice {
		return fmt.Errorf("redis: ScanSlice needs a pointer to a slice, not %T", container)
	}
	elem := p.Elem().Type().Elem()
	list := reflect.MakeSlice(p.Elem().Type(), len(values), len(values))
	for i, s := range values {
		at := list.Index(i)
		var dst any
		if elem.Kind() == reflect.Pointer {
			at.Set(reflect.New(elem.Elem()))
			dst = at.Interface()
		} else {
			dst = at.Addr().Interface()
		}
		if err := scanInto([]byte(s), dst); err != nil {
			return fmt.Errorf("redis: ScanSlice: value %d of %d: %w", i, len(values), err)
		}
	}
	p.Elem().Set(list)
	return nil
}

//------------------------------------------------------------------------------

// hashField is a field of a struct that stands for a field of a hash.
type hashField struct {
	name      string
	index     int
	omitEmpty bool
}

// hashFields caches the tagged fields of struct types: reflect.Type to []hashField.
// A sync.Map, because it is written once for each type.
var hashFields sync.Map //nolint:gochecknoglobals // cache

// hashFieldsOf gives the exported fields of a struct type that have a tag
// `redis:"name"` or `redis:"name,omitempty"`.
func hashFieldsOf(t reflect.Type) []hashField {
	if f, ok := hashFields.Load(t); ok {
		return f.([]hashField)
	}
	fields := []hashField{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("redis"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		omit := false
		for o := range strings.SplitSeq(options, ",") {
			omit = omit || o == "omitempty"
		}
		fields = append(fields, hashField{name: name, index: i, omitEmpty: omit})
	}
	hashFields.Store(t, fields)
	return fields
}

// expand appends the arguments that methods with values of any type take: a single
// one may be a slice, a map or a struct, which stands for its values, its pairs, or
// its tagged fields with their names. Maps are appended in no particular order.
func (c *baseCmd) expand(values []any) {
	if len(values) != 1 {
		c.args(values...)
		return
	}
	switch v := values[0].(type) {
	case []string:
		c.strs(v...)
	case []any:
		c.args(v...)
	case map[string]any:
		for k, a := range v {
			c.str(k)
			c.arg(a)
		}
	case map[string]string:
		for k, a := range v {
			c.str(k)
			c.str(a)
		}
	case nil, string, []byte, time.Time, time.Duration, encoding.BinaryMarshaler, net.IP:
		c.arg(v)
	default:
		c.expandValue(v)
	}
}

// expandValue is expand for a struct and for all that needs reflection.
func (c *baseCmd) expandValue(v any) {
	s := reflect.ValueOf(v)
	if s.Kind() == reflect.Pointer && s.Type().Elem().Kind() == reflect.Struct {
		if s.IsNil() {
			return
		}
		s = s.Elem()
	}
	if s.Kind() != reflect.Struct {
		c.arg(v)
		return
	}
	for _, f := range hashFieldsOf(s.Type()) {
		val := s.Field(f.index)
		if f.omitEmpty && isEmpty(val) {
			continue
		}
		c.str(f.name)
		c.arg(val.Interface())
	}
}

// isEmpty tells whether omitempty leaves a value out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return t.IsZero()
		}
		return false
	}
	return v.IsZero()
}

//------------------------------------------------------------------------------

// scanTarget is a struct that is filled with the fields of a hash.
type scanTarget struct {
	val    reflect.Value
	fields []hashField
}

func newScanTarget(dest any) (scanTarget, error) {
	v := reflect.ValueOf(dest)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return scanTarget{}, fmt.Errorf("redis: Scan needs a pointer to a struct, not %T", dest)
	}
	return scanTarget{val: v.Elem(), fields: hashFieldsOf(v.Elem().Type())}, nil
}

// set stores val in the field for name, if there is any.
func (t scanTarget) set(name, val string) error {
	for _, f := range t.fields {
		if f.name != name {
			continue
		}
		if err := scanField(t.val.Field(f.index), val); err != nil {
			field := t.val.Type().Field(f.index)
			return fmt.Errorf("redis: can't scan %q into field %s.%s of type %s: %w",
				val, t.val.Type(), field.Name, field.Type, err)
		}
	}
	return nil
}

// scanField stores s in v, which can be set. Pointers are given something to point
// to.
func scanField(v reflect.Value, s string) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	switch dst := v.Addr().Interface().(type) {
	case Scanner:
		return dst.ScanRedis(s)
	case *time.Duration:
		return scanInto([]byte(s), dst)
	case *time.Time:
		return scanInto([]byte(s), dst)
	case encoding.TextUnmarshaler:
		return dst.UnmarshalText([]byte(s))
	case encoding.BinaryUnmarshaler:
		return dst.UnmarshalBinary([]byte(s))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
		return nil
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		v.SetBool(b)
		return err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(s, 10, v.Type().Bits())
		v.SetInt(n)
		return err
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(s, 10, v.Type().Bits())
		v.SetUint(n)
		return err
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(s, v.Type().Bits())
		v.SetFloat(f)
		return err
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(s))
			return nil
		}
	}
	return errors.New("unsupported type (implement redis.Scanner)")
}

// Scan stores the values of an HMGet or MGet in the fields of the struct that dest
// points to. Fields are chosen by their tag, `redis:"name"`, which names the field
// or key that was asked for. They may be of basic types, []byte, time.Time,
// time.Duration, a Scanner, an encoding.TextUnmarshaler, or pointers to these. Null
// values and names without a field are left out.
func (c *SliceCmd) Scan(dest any) error {
	r := c.settled()
	if r.err != nil {
		return r.err
	}
	target, err := newScanTarget(dest)
	if err != nil {
		return err
	}
	args, before := c.Args(), 1 // the name
	if c.Name() == "hmget" {
		before = 2 // and the key
	}
	args = args[min(before, len(args)):]
	if len(args) != len(r.val) {
		return fmt.Errorf("redis: Scan: %d names and %d values", len(args), len(r.val))
	}
	for i, v := range r.val {
		s, ok := v.(string)
		if !ok {
			continue
		}
		name, _ := args[i].(string)
		if err := target.set(name, s); err != nil {
			return err
		}
	}
	return nil
}
