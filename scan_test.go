package redis

import (
	"context"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// none processes nothing.
func none(context.Context, Cmder) error { return nil }

func TestScanIntoValues(t *testing.T) {
	for _, tc := range []struct {
		text string
		dst  any
		want any // what dst points to
	}{
		{"abc", new(string), "abc"},
		{"abc", new([]byte), []byte("abc")},
		{"-7", new(int), -7},
		{"-7", new(int8), int8(-7)},
		{"-7", new(int16), int16(-7)},
		{"-7", new(int32), int32(-7)},
		{"-7", new(int64), int64(-7)},
		{"7", new(uint), uint(7)},
		{"7", new(uint8), uint8(7)},
		{"7", new(uint16), uint16(7)},
		{"7", new(uint32), uint32(7)},
		{"18446744073709551615", new(uint64), uint64(1<<64 - 1)},
		{"1.5", new(float32), float32(1.5)},
		{"1.5", new(float64), 1.5},
		{"1", new(bool), true},
		{"0", new(bool), false},
		{"2026-01-02T03:04:05.000000006Z", new(time.Time), time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)},
		{"1000", new(time.Duration), time.Microsecond},
		{"\x7f\x00\x00\x01", new(net.IP), net.IPv4(127, 0, 0, 1).To4()},
	} {
		cmd := NewStringResult(tc.text, nil)
		if err := cmd.Scan(tc.dst); err != nil {
			t.Errorf("Scan(%q, %T): %v", tc.text, tc.dst, err)
			continue
		}
		if diff := cmp.Diff(tc.want, deref(tc.dst)); diff != "" {
			t.Errorf("Scan(%q, %T) (-want +got):\n%s", tc.text, tc.dst, diff)
		}
	}
	var u url.URL // by encoding.BinaryUnmarshaler
	if err := NewStringResult("https://example.org/", nil).Scan(&u); err != nil || u.Host != "example.org" {
		t.Errorf("got %v, %v", u, err)
	}
}

// deref is what a pointer points to.
func deref(p any) any {
	switch p := p.(type) {
	case *string:
		return *p
	case *[]byte:
		return *p
	case *int:
		return *p
	case *int8:
		return *p
	case *int16:
		return *p
	case *int32:
		return *p
	case *int64:
		return *p
	case *uint:
		return *p
	case *uint8:
		return *p
	case *uint16:
		return *p
	case *uint32:
		return *p
	case *uint64:
		return *p
	case *float32:
		return *p
	case *float64:
		return *p
	case *bool:
		return *p
	case *time.Time:
		return *p
	case *time.Duration:
		return *p
	case *net.IP:
		return *p
	}
	return p
}

func TestScanGivesErrors(t *testing.T) {
	for _, tc := range []struct {
		text string
		dst  any
	}{
		{"abc", new(int)},
		{"300", new(int8)},
		{"-1", new(uint)},
		{"abc", new(float64)},
		{"abc", new(time.Time)},
		{"abc", nil},
		{"abc", new(struct{})},
		{"abc", 5},
	} {
		if err := NewStringResult(tc.text, nil).Scan(tc.dst); err == nil {
			t.Errorf("Scan(%q, %T) gave no error", tc.text, tc.dst)
		}
	}
	if err := NewStringResult("", Nil).Scan(new(string)); !errors.Is(err, Nil) {
		t.Errorf("got %v, want Nil", err)
	}
}

func TestScanSlice(t *testing.T) {
	cmd := NewStringSliceResult([]string{"1", "2"}, nil)
	var ints []int
	if err := cmd.ScanSlice(&ints); err != nil || !cmp.Equal(ints, []int{1, 2}) {
		t.Errorf("got %v, %v", ints, err)
	}
	var pointers []*uint8
	if err := cmd.ScanSlice(&pointers); err != nil || *pointers[1] != 2 {
		t.Errorf("got %v, %v", pointers, err)
	}
	for _, bad := range []any{nil, ints, &struct{}{}, (*[]int)(nil), new([]struct{}), new([]any)} {
		if err := cmd.ScanSlice(bad); err == nil {
			t.Errorf("ScanSlice(%T) gave no error", bad)
		}
	}
	if err := NewStringSliceResult([]string{"1", "x"}, nil).ScanSlice(&ints); err == nil || !strings.Contains(err.Error(), "value 1") {
		t.Errorf("got %v, want one that names the value", err)
	}
}

// upper is a Scanner.
type upper string

func (u *upper) ScanRedis(s string) error {
	if s == "bad" {
		return errors.New("it is bad")
	}
	*u = upper(strings.ToUpper(s))
	return nil
}

type row struct {
	Name   string         `redis:"name"`
	Num    int32          `redis:"num,omitempty"`
	Big    uint64         `redis:"big"`
	Rate   float32        `redis:"rate"`
	On     bool           `redis:"on"`
	Raw    []byte         `redis:"raw"`
	When   time.Time      `redis:"when"`
	Took   time.Duration  `redis:"took"`
	Addr   netip.Addr     `redis:"addr"`
	URL    url.URL        `redis:"url"`
	Upper  upper          `redis:"upper"`
	Ptr    *int           `redis:"ptr"`
	Later  *time.Time     `redis:"later"`
	Pupper *upper         `redis:"pupper"`
	Odd    map[string]int `redis:"odd"`
	Hidden string         `redis:"-"`
	Plain  string
}

func TestScanIntoStructs(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	text := when.Format(time.RFC3339Nano)
	want := row{
		Name: "ann", Num: -3, Big: 1 << 63, Rate: 0.5, On: true, Raw: []byte("raw"), When: when, Took: time.Second,
		Addr: netip.MustParseAddr("::1"), URL: url.URL{Scheme: "x", Host: "h"}, Upper: "UP", Ptr: new(7), Later: &when,
		Pupper: new(upper("UP")), Plain: "kept",
	}
	fields := map[string]string{
		"name": "ann", "num": "-3", "big": "9223372036854775808", "rate": "0.5", "on": "true", "raw": "raw", "when": text,
		"took": "1000000000", "addr": "::1", "url": "x://h", "upper": "up", "ptr": "7", "later": text, "pupper": "up",
		"unknown": "x", "-": "x", "Plain": "x",
	}
	compareRow := func(got row) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	got := row{Plain: "kept"}
	if err := NewMapStringStringResult(fields, nil).Scan(&got); err != nil {
		t.Fatal(err)
	}
	compareRow(got)

	for _, name := range []string{"hmget", "mget"} {
		args := []any{name}
		if name == "hmget" {
			args = append(args, "key")
		}
		var values []any
		for k, v := range fields {
			args = append(args, k)
			values = append(values, v)
		}
		args = append(args, "odd")
		values = append(values, nil) // a field that is not there is left alone
		cmd := NewSliceCmd(bg, args...)
		cmd.SetVal(values)
		got := row{Plain: "kept"}
		if err := cmd.Scan(&got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		compareRow(got)
	}
}

func TestScanIntoStructsGivesErrors(t *testing.T) {
	for name, val := range map[string]string{"num": "x", "on": "x", "rate": "x", "big": "-1", "when": "x", "took": "x", "upper": "bad", "odd": "x", "ptr": ""} {
		err := NewMapStringStringResult(map[string]string{name: val}, nil).Scan(new(row))
		if err == nil || !strings.Contains(err.Error(), "redis.row.") {
			t.Errorf("%s=%q: got error %v, want one that names the field", name, val, err)
		}
	}
	for _, bad := range []any{nil, row{}, (*row)(nil), new(int)} {
		if err := NewMapStringStringResult(nil, nil).Scan(bad); err == nil {
			t.Errorf("Scan(%T) gave no error", bad)
		}
	}
	if err := NewSliceResult([]any{"x"}, nil).Scan(new(row)); err == nil {
		t.Error("values without names gave no error")
	}
	if err := NewMapStringStringResult(nil, TxFailedErr).Scan(new(row)); !errors.Is(err, TxFailedErr) {
		t.Errorf("got %v, want the command's error", err)
	}
}

// What HSet writes, HGetAll().Scan reads.
func TestStructsComeBack(t *testing.T) {
	in := account{Name: "ann", Age: 7, Email: "a@b", Idle: time.Second, Since: time.Unix(1, 2).UTC(), Active: true}
	cmd := cmdable(none).HSet(bg, "k", &in)
	fields := map[string]string{}
	for args := cmd.Args()[2:]; len(args) > 0; args = args[2:] {
		fields[args[0].(string)] = args[1].(string)
	}
	var out account
	if err := NewMapStringStringResult(fields, nil).Scan(&out); err != nil {
		t.Fatal(err)
	}
	if out != in {
		t.Errorf("got %+v, want %+v", out, in)
	}
	if n := len(cmdable(none).HSet(bg, "k", (*account)(nil)).Args()); n != 2 {
		t.Errorf("a nil pointer gave %d arguments, want 2", n)
	}
}

func TestCmdConverts(t *testing.T) {
	text := func(c *Cmd) (any, error) { return c.Text() }
	for _, tc := range []struct {
		val  any
		how  string
		call func(c *Cmd) (any, error)
		want any // nil: an error
	}{
		{"a", "Text", text, "a"},
		{int64(7), "Text", text, "7"},
		{[]any{}, "Text", text, nil},
		{nil, "Text", text, nil},
		{int64(7), "Int", func(c *Cmd) (any, error) { return c.Int() }, 7},
		{"7", "Int", func(c *Cmd) (any, error) { return c.Int() }, 7},
		{"x", "Int", func(c *Cmd) (any, error) { return c.Int() }, nil},
		{7.0, "Int64", func(c *Cmd) (any, error) { return c.Int64() }, int64(7)},
		{7.5, "Int64", func(c *Cmd) (any, error) { return c.Int64() }, nil},
		{true, "Int64", func(c *Cmd) (any, error) { return c.Int64() }, nil},
		{"18446744073709551615", "Uint64", func(c *Cmd) (any, error) { return c.Uint64() }, uint64(1<<64 - 1)},
		{7.0, "Uint64", func(c *Cmd) (any, error) { return c.Uint64() }, uint64(7)},
		{"1.5", "Float32", func(c *Cmd) (any, error) { return c.Float32() }, float32(1.5)},
		{int64(2), "Float32", func(c *Cmd) (any, error) { return c.Float32() }, float32(2)},
		{1.5, "Float64", func(c *Cmd) (any, error) { return c.Float64() }, 1.5},
		{"1.5", "Float64", func(c *Cmd) (any, error) { return c.Float64() }, 1.5},
		{"t", "Bool", func(c *Cmd) (any, error) { return c.Bool() }, true},
		{int64(2), "Bool", func(c *Cmd) (any, error) { return c.Bool() }, true},
		{false, "Bool", func(c *Cmd) (any, error) { return c.Bool() }, false},
		{big.NewInt(1), "Bool", func(c *Cmd) (any, error) { return c.Bool() }, nil},
		{[]any{"a", int64(1)}, "Slice", func(c *Cmd) (any, error) { return c.Slice() }, []any{"a", int64(1)}},
		{"a", "Slice", func(c *Cmd) (any, error) { return c.Slice() }, nil},
		{[]any{"a", int64(1)}, "StringSlice", func(c *Cmd) (any, error) { return c.StringSlice() }, []string{"a", "1"}},
		{[]any{"1", int64(1)}, "Int64Slice", func(c *Cmd) (any, error) { return c.Int64Slice() }, []int64{1, 1}},
		{[]any{"1", nil}, "Int64Slice", func(c *Cmd) (any, error) { return c.Int64Slice() }, nil},
		{[]any{"1", int64(1)}, "Uint64Slice", func(c *Cmd) (any, error) { return c.Uint64Slice() }, []uint64{1, 1}},
		{[]any{"1", 1.5}, "Float32Slice", func(c *Cmd) (any, error) { return c.Float32Slice() }, []float32{1, 1.5}},
		{[]any{"1", 1.5}, "Float64Slice", func(c *Cmd) (any, error) { return c.Float64Slice() }, []float64{1, 1.5}},
		{[]any{true, int64(0)}, "BoolSlice", func(c *Cmd) (any, error) { return c.BoolSlice() }, []bool{true, false}},
		{[]any{Nil}, "BoolSlice", func(c *Cmd) (any, error) { return c.BoolSlice() }, nil},
	} {
		got, err := tc.call(NewCmdResult(tc.val, nil))
		switch {
		case tc.want == nil && err == nil:
			t.Errorf("%s of %#v gave %#v, want an error", tc.how, tc.val, got)
		case tc.want != nil && (err != nil || !cmp.Equal(tc.want, got)):
			t.Errorf("%s of %#v gave %#v, %v, want %#v", tc.how, tc.val, got, err, tc.want)
		}
		if _, err := tc.call(NewCmdResult(tc.val, TxFailedErr)); !errors.Is(err, TxFailedErr) {
			t.Errorf("%s: got %v, want the command's error", tc.how, err)
		}
	}
}
