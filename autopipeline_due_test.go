package redis

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/baton-go/redis/internal/invariants"
)

// pendingCommands gives a command of every type that a method of clients gives.
func pendingCommands(t *testing.T) map[string]Cmder {
	t.Helper()
	all := make(map[string]Cmder)
	none := cmdable(func(context.Context, Cmder) error { return nil })
	v := reflect.ValueOf(none)
	for _, m := range v.Methods() {
		if m.Type().NumOut() != 1 || !m.Type().Out(0).Implements(reflect.TypeFor[Cmder]()) {
			continue
		}
		name := m.Type().Out(0).Elem().Name()
		if all[name] != nil || name == "MonitorCmd" { // that one is waited for
			continue
		}
		cmd := reflect.New(m.Type().Out(0).Elem()).Interface().(Cmder)
		cmd.base().begin("ping")
		cmd.base().wire()
		all[name] = cmd
	}
	if len(all) < 40 {
		t.Fatalf("got %d types of commands only", len(all))
	}
	return all
}

// filled gives a value of a type that is not the zero value, as far as that is possible.
func filled(typ reflect.Type, depth int) reflect.Value {
	v := reflect.New(typ).Elem()
	if depth == 0 {
		return v
	}
	switch typ.Kind() {
	case reflect.String:
		v.SetString("7")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(7)
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(typ.Elem(), depth-1)))
	case reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		v.Elem().Set(filled(typ.Elem(), depth-1))
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		v.SetMapIndex(filled(typ.Key(), depth-1), filled(typ.Elem(), depth-1))
	case reflect.Struct:
		for i := range typ.NumField() {
			if v.Field(i).CanSet() {
				v.Field(i).Set(filled(typ.Field(i).Type, depth-1))
			}
		}
	case reflect.Interface:
		if typ.NumMethod() == 0 {
			v.Set(reflect.ValueOf("7"))
		}
	}
	return v
}

// asked calls every method of a command that needs no arguments.
func asked(cmd Cmder) map[string][]any {
	all := make(map[string][]any)
	v := reflect.ValueOf(cmd)
	for i := range v.NumMethod() {
		name, m := v.Type().Method(i).Name, v.Method(i)
		if m.Type().NumIn() > 0 || name == "Clone" || name == "Iterator" {
			continue
		}
		for _, out := range m.Call(nil) {
			all[name] = append(all[name], out.Interface())
		}
	}
	return all
}

// TestEveryAccessorWaitsForTheOutcome: what a command that was handed out tells is what the
// one that was sent in its place knows, whatever is asked for.
func TestEveryAccessorWaitsForTheOutcome(t *testing.T) {
	boom := errors.New("boom")
	for name, cmd := range pendingCommands(t) {
		proxy := shallow(cmd)
		set := reflect.ValueOf(proxy).MethodByName("SetVal")
		if !set.IsValid() {
			t.Errorf("%s has no SetVal", name)
			continue
		}
		var vals []reflect.Value
		for in := range set.Type().Ins() {
			vals = append(vals, filled(in, 6))
		}
		set.Call(vals)
		d := &due{ctx: bg, cmd: cmd, proxy: proxy, done: make(chan struct{})}
		close(d.done)
		cmd.base().due = d
		for _, err := range []error{nil, boom} {
			proxy.base().err = err
			want := asked(proxy)
			for method, got := range asked(cmd) {
				if !reflect.DeepEqual(got, want[method]) {
					t.Errorf("%s.%s: got %v, want %v", name, method, got, want[method])
				}
			}
			clone, v1 := cmd.Clone(), any(nil)
			if v1, _ = ExtractCommandValue(clone); clone.Err() != err || !reflect.DeepEqual(v1, first(ExtractCommandValue(proxy))) {
				t.Errorf("%s.Clone: got %v, %v", name, v1, clone.Err())
			}
		}
	}
}

func first(v any, _ error) any { return v }

// TestALeftCommandTellsWhy: whoever asks a command that was given up gets the same error,
// and no reply, even if it comes.
func TestALeftCommandTellsWhy(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	for name, cmd := range pendingCommands(t) {
		d := &due{ctx: ctx, cmd: cmd, done: make(chan struct{})}
		cmd.base().due = d
		cancel()
		if err := cmd.Err(); !errors.Is(err, context.Canceled) || DeliveryOf(err) != NotSent {
			t.Errorf("%s: got %v", name, err)
		}
		if d.take() {
			t.Errorf("%s: it is sent although it was given up", name)
		}
		close(d.done)
		for method, got := range asked(cmd) {
			err, isErr := got[len(got)-1].(error)
			if isErr && !errors.Is(err, context.Canceled) {
				t.Errorf("%s.%s: got %v", name, method, err)
			}
		}
		if cmd.Name() != "ping" {
			t.Errorf("%s: got the name %q", name, cmd.Name())
		}
	}
}

// TestAutoPipelinerCostsNothing: the blocking form allocates what the client does.
func TestAutoPipelinerCostsNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks allocate")
	}
	c := openCanned(t, len("*2\r\n$3\r\nget\r\n$1\r\nk\r\n"), "$1\r\n7\r\n")
	ap, err := c.AutoPipeline()
	if err != nil {
		t.Fatal(err)
	}
	get := func(c interface {
		Get(context.Context, string) *StringCmd
	},
	) func() {
		return func() {
			if v, err := c.Get(bg, "k").Result(); v != "7" || err != nil {
				t.Errorf("got %q, %v", v, err)
			}
		}
	}
	get(ap)()
	want := testing.AllocsPerRun(1000, get(c))
	if got := testing.AllocsPerRun(1000, get(ap)); got > want {
		t.Errorf("got %v allocations, want %v", got, want)
	}
}

func BenchmarkAutoPipeline(b *testing.B) {
	cc := clientCalls()[0]
	c := cc.open(b)
	ap, err := c.AutoPipeline()
	if err != nil {
		b.Fatal(err)
	}
	async, err := c.AsyncAutoPipeline()
	if err != nil {
		b.Fatal(err)
	}
	parallel := func(get func(context.Context, string) *StringCmd) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(64)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := get(bg, "key:000001").Err(); err != nil {
						b.Error(err)
					}
				}
			})
		}
	}
	b.Run("client", parallel(c.Get))
	b.Run("blocking", parallel(ap.Get))
	b.Run("async", func(b *testing.B) {
		const window = 256
		b.ReportAllocs()
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			cmds := make([]*StringCmd, 0, window)
			for pb.Next() {
				if cmds = append(cmds, async.Get(bg, "key:000001")); len(cmds) < window {
					continue
				}
				for _, cmd := range cmds {
					if err := cmd.Err(); err != nil {
						b.Error(err)
					}
				}
				cmds = cmds[:0]
			}
		})
	})
}
