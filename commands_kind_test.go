package redis_test

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"io"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintsim"
)

// TestEveryCommandTypeHasCloneAndType: the Clone and GetCmdType that all have by
// default lose a command's type.
func TestEveryCommandTypeHasCloneAndType(t *testing.T) {
	var commands []string
	methods := make(map[string][]string)
	for _, src := range sources(t) {
		if src.folder != "." || src.isTest {
			continue
		}
		for _, decl := range src.file.Decls {
			switch decl := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					ts, ok := spec.(*ast.TypeSpec)
					if ok && ts.Name.IsExported() && strings.HasSuffix(ts.Name.Name, "Cmd") {
						commands = append(commands, ts.Name.Name)
					}
				}
			case *ast.FuncDecl:
				if decl.Recv == nil {
					continue
				}
				if star, ok := decl.Recv.List[0].Type.(*ast.StarExpr); ok {
					if id, ok := star.X.(*ast.Ident); ok {
						methods[id.Name] = append(methods[id.Name], decl.Name.Name)
					}
				}
			}
		}
	}
	if len(commands) < 40 {
		t.Fatalf("found %d types of commands only", len(commands))
	}
	for _, name := range commands {
		for _, method := range []string{"Clone", "GetCmdType"} {
			if !slices.Contains(methods[name], method) {
				t.Errorf("%s has no %s of its own: add it to commands_clone.go", name, method)
			}
		}
	}
}

// answers are commands with replies of all shapes.
func answers() []redis.Cmder {
	ctx := context.Background()
	any1 := redis.NewCmd(ctx, "do")
	any1.SetVal([]any{"s", int64(1), nil, map[any]any{"k": []any{1.5}}, big.NewInt(7)})
	list := redis.NewStringSliceCmd(ctx, "lrange", "l", 0, -1)
	list.SetVal([]string{"a", "b"})
	hash := redis.NewMapStringStringCmd(ctx, "hgetall", "h")
	hash.SetVal(map[string]string{"f": "v"})
	streams := redis.NewXStreamSliceCmd(ctx, "xread")
	streams.SetVal([]redis.XStream{{Stream: "s", Messages: []redis.XMessage{{ID: "1-1", Values: map[string]any{"f": "v"}}}}})
	popped := redis.NewKeyValuesCmd(ctx, "lmpop")
	popped.SetVal("key", []string{"v"})
	page := redis.NewScanCmd(ctx, nil, "scan", 0)
	page.SetVal([]string{"k"}, 5)
	claimed := redis.NewXAutoClaimCmd(ctx, "xautoclaim")
	claimed.SetVal([]redis.XMessage{{ID: "1-1", Values: map[string]any{"f": "v"}}}, "0-0")
	pos := redis.NewGeoPosCmd(ctx, "geopos")
	pos.SetVal([]*redis.GeoPos{{Longitude: 1, Latitude: 2}, nil})
	members := redis.NewZSliceWithKeyCmd(ctx, "zmpop")
	members.SetVal("key", []redis.Z{{Score: 1, Member: "m"}})
	nothing := redis.NewSliceCmd(ctx, "mget", "a")
	return []redis.Cmder{
		any1, list, hash, streams, popped, page, claimed, pos, members, nothing,
		redis.NewTimeCmdResult(redis.NewTimeCmd(ctx).Val(), errors.New("an error")),
	}
}

func TestCloneSharesNothing(t *testing.T) {
	bigs := cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
	fresh := answers()
	for i, cmd := range answers() {
		name := reflect.TypeOf(cmd).Elem().Name()
		clone := cmd.Clone()
		if reflect.TypeOf(clone) != reflect.TypeOf(cmd) || clone.GetCmdType() != cmd.GetCmdType() || !errors.Is(clone.Err(), cmd.Err()) {
			t.Errorf("%s: got %T with error %v, want %v", name, clone, clone.Err(), cmd.Err())
		}
		if d := cmp.Diff(cmd.Args(), clone.Args()); d != "" {
			t.Errorf("%s: arguments: want -, got +:\n%s", name, d)
		}
		for _, val := range values(cmd) {
			spoil(reflect.ValueOf(val))
		}
		if d := cmp.Diff(values(fresh[i]), values(clone), bigs); d != "" {
			t.Errorf("%s: reply after a change of the original's: want -, got +:\n%s", name, d)
		}
	}
}

// values are what a command's Val gives.
func values(cmd redis.Cmder) (list []any) {
	for _, val := range reflect.ValueOf(cmd).MethodByName("Val").Call(nil) {
		list = append(list, val.Interface())
	}
	return list
}

// spoil changes everything in a reply that can be changed from outside.
func spoil(v reflect.Value) {
	if !v.IsValid() || !v.CanInterface() {
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if n, ok := v.Interface().(*big.Int); ok {
			n.SetInt64(-1)
		} else if !v.IsNil() {
			spoil(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Map:
		for key, val := range v.Seq2() {
			spoil(val)
			if val.Kind() == reflect.String {
				v.SetMapIndex(key, reflect.ValueOf("spoilt"))
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			spoil(field)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("spoilt")
		}
	case reflect.Float64:
		if v.CanSet() {
			v.SetFloat(-1)
		}
	}
}

func TestCloneIsProcessedByItself(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{})
	c, ctx := newClient(t, &redis.Options{Addr: sim.Addr()}), soon(t)
	incr := redis.NewIntCmd(ctx, "incrby", "n", 5)
	clone, ok := incr.Clone().(*redis.IntCmd)
	if !ok {
		t.Fatalf("got a %T", incr.Clone())
	}
	if err := errors.Join(c.Process(ctx, incr), c.Process(ctx, clone)); err != nil {
		t.Fatal(err)
	}
	if incr.Val() != 5 || clone.Val() != 10 {
		t.Errorf("got %d and %d, want 5 and 10", incr.Val(), clone.Val())
	}
	get := c.Get(ctx, "n") // one that is not encoded by itself
	again, ok := get.Clone().(*redis.StringCmd)
	if !ok || c.Process(ctx, again) != nil || again.Val() != "10" {
		t.Errorf("got %v", again)
	}
}

func TestExtractCommandValue(t *testing.T) {
	for _, what := range []any{nil, 5, "text"} {
		if v, err := redis.ExtractCommandValue(what); v != nil || err != nil {
			t.Errorf("%v: got %v, %v", what, v, err)
		}
	}
	cmd := redis.NewStringResult("v", nil)
	cmd.SetErr(redis.Nil)
	if v, err := redis.ExtractCommandValue(cmd); v != "v" || !errors.Is(err, redis.Nil) {
		t.Errorf("got %v, %v", v, err)
	}
}

//------------------------------------------------------------------------------

func TestDoRaw(t *testing.T) {
	c, _ := start(t, nil)
	ctx := soon(t)
	c.HSet(ctx, "h", "f", "v")
	for _, call := range []struct {
		args []any
		want string
	}{
		{[]any{"set", "k", "value"}, "+OK\r\n"},
		{[]any{"get", "k"}, "$5\r\nvalue\r\n"},
		{[]any{"get", "none"}, "_\r\n"},
		{[]any{"hgetall", "h"}, "%1\r\n$1\r\nf\r\n$1\r\nv\r\n"},
		{[]any{"lpush", "k", "v"}, "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"},
	} {
		cmd := c.DoRaw(ctx, call.args...)
		if cmd.Err() != nil || string(cmd.Val()) != call.want {
			t.Errorf("%v: got %q, %v, want %q", call.args, cmd.Val(), cmd.Err(), call.want)
		}
		var to bytes.Buffer
		w := c.DoRawWriteTo(ctx, &to, call.args...)
		if w.Err() != nil || to.String() != call.want || w.Val() != int64(len(call.want)) {
			t.Errorf("%v: wrote %q, %d bytes, %v, want %q", call.args, to.String(), w.Val(), w.Err(), call.want)
		}
	}
}

func TestRawRepliesInPipelinesAndSessions(t *testing.T) {
	c, _ := start(t, &redis.Options{Protocol: 2})
	ctx := soon(t)
	c.Set(ctx, "k", "v", 0)
	conn := c.Conn()
	defer conn.Close()
	pipes := map[string]redis.Pipeliner{"pipeline": c.Pipeline(), "transaction": c.TxPipeline(), "session": conn.Pipeline()}
	for name, p := range pipes {
		var to bytes.Buffer
		pipe := p.(*redis.Pipeline)
		pipe.DoRawWriteTo(ctx, &to, "get", "k")
		raw := pipe.DoRaw(ctx, "lpop", "k")
		refused := pipe.LPop(ctx, "k")
		pipe.DoRawWriteTo(ctx, &to, "get", "none")
		_, err := p.Exec(ctx)
		if to.String() != "$1\r\nv\r\n$-1\r\n" || raw.Err() != nil || !strings.HasPrefix(string(raw.Val()), "-WRONGTYPE") {
			t.Errorf("%s: wrote %q, got %q, %v", name, to.String(), raw.Val(), raw.Err())
		}
		if !errors.Is(err, refused.Err()) || refused.Err() == nil {
			t.Errorf("%s: got error %v, want %v", name, err, refused.Err())
		}
	}
	if got, err := conn.DoRaw(ctx, "get", "k").Bytes(); string(got) != "$1\r\nv\r\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// failingWriter takes a few bytes.
type failingWriter struct{ err error }

func (w failingWriter) Write(p []byte) (int, error) { return min(2, len(p)), w.err }

func TestRawReplyThatCannotBeWritten(t *testing.T) {
	c, _ := start(t, nil)
	ctx := soon(t)
	for _, want := range []error{errors.New("disk full"), io.ErrShortWrite} {
		to := failingWriter{want}
		if errors.Is(want, io.ErrShortWrite) {
			to.err = nil
		}
		cmd := redis.NewRawWriteToCmd(ctx, to, "echo", "hello")
		if err := c.Process(ctx, cmd); !errors.Is(err, want) || !errors.Is(cmd.Err(), want) || cmd.Val() != 2 || !strings.Contains(err.Error(), "echo") {
			t.Errorf("got %v and %d, want %v", err, cmd.Val(), want)
		}
	}
	if err := c.Ping(ctx).Err(); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// TestRawWriteIsNotRepeated: NoRetry means that even a command that only reads is not
// sent twice, though a RawCmd is.
func TestRawWriteIsNotRepeated(t *testing.T) {
	s := newScript(t, func(p *peer, args []string) string {
		if p.n == 1 && args[0] == "get" {
			_ = p.Close()
			return silence
		}
		return "$1\r\nv\r\n"
	})
	c, ctx := newClient(t, &redis.Options{Addr: s.addr}), soon(t)
	var to bytes.Buffer
	cmd := c.DoRawWriteTo(ctx, &to, "get", "k")
	if redis.DeliveryOf(cmd.Err()) != redis.MaybeSent || to.Len() != 0 || !cmd.NoRetry() {
		t.Errorf("got %v and %q", cmd.Err(), to.String())
	}
	if got := c.DoRaw(ctx, "get", "k"); string(got.Val()) != "$1\r\nv\r\n" || got.NoRetry() {
		t.Errorf("got %q, %v", got.Val(), got.Err())
	}
}

// TestRawReplyWaitsForTheServer: a server that is loading is waited for, as with every
// command, although an error is a reply like others.
func TestRawReplyWaitsForTheServer(t *testing.T) {
	asked := 0
	s := newScript(t, func(_ *peer, _ []string) string {
		if asked++; asked == 1 {
			return "-LOADING Redis is loading the dataset in memory\r\n"
		}
		return "$1\r\nv\r\n"
	})
	c := newClient(t, &redis.Options{Addr: s.addr})
	if got := c.DoRaw(soon(t), "get", "k"); string(got.Val()) != "$1\r\nv\r\n" || got.Err() != nil {
		t.Errorf("got %q, %v", got.Val(), got.Err())
	}
}

func TestMapSliceReplies(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	strs := redis.NewMapStringStringSliceCmd(ctx, "eval", "return {{'a','1'},{'b','2'}}", 0)
	anys := redis.NewMapStringInterfaceSliceCmd(ctx, "eval", "return {{'a',1},{'b',{'x'}}}", 0)
	if err := errors.Join(c.Process(ctx, strs), c.Process(ctx, anys)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]map[string]string{{"a": "1"}, {"b": "2"}}, strs.Val()); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
	if d := cmp.Diff([]map[string]any{{"a": int64(1)}, {"b": []any{"x"}}}, anys.Val()); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestHImportCommands(t *testing.T) {
	ctx := t.Context()
	for want, cmd := range map[string]redis.Cmder{
		"himport prepare f a b": redis.NewHImportPrepareCmd(ctx, "f", "a", "b"),
		"himport set k f v 5":   redis.NewHImportSetCmd(ctx, "k", "f", "v", 5),
		"himport discard f":     redis.NewHImportDiscardCmd(ctx, "f"),
		"himport discardall":    redis.NewHImportDiscardAllCmd(ctx),
	} {
		if got, _, _ := strings.Cut(cmd.String(), ":"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := reflect.TypeOf(cmd.Clone()), reflect.TypeOf(cmd); got != want {
			t.Errorf("a clone of a %v is a %v", want, got)
		}
	}
}
