package redis_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
)

func TestPipelineOutcomes(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			s := realserver.Start(t, name)
			both(t, func(t *testing.T, proto int) {
				ctx := soon(t)
				c := newClient(t, &redis.Options{Addr: s.Addr(), Protocol: proto})
				_ = c.FlushAll(ctx).Err()
				cmds, err := pipelined(t, c, "set k v", "get k", "lpush k x", "get none", "incr n", "blpop none 0.01", "incr n")
				got := outcomes(cmds)
				if !strings.HasPrefix(got, "OK, v, WRONGTYPE") || !strings.HasSuffix(got, ", redis: nil, 1, redis: nil, 2") {
					t.Errorf("got %s", got)
				}
				if !redis.HasErrorPrefix(err, "WRONGTYPE") {
					t.Errorf("Exec gives %v, want the first error", err)
				}
				if _, err := pipelined(t, c, "get k", "get none", "lpush k x"); err != redis.Nil { //nolint:errorlint // go-redis users compare it
					t.Errorf("Exec gives %v, want Nil", err)
				}
				cmds, err = pipelined(t, c, "select 5", "set only-in-5 x", "client setname mine")
				if got := outcomes(cmds); got != "OK, OK, OK" || err != nil {
					t.Errorf("session commands: %s, %v", got, err)
				}
				if n := do(t, c, "exists", "only-in-5"); n != "0" {
					t.Error("the database of the client has changed")
				}
				for range 3 { // on the pool's connection too
					cn := c.Conn()
					if me := fields(cn.Do(ctx, "client", "info").Val().(string)); me["db"] != "0" || me["name"] != "" {
						t.Errorf("somebody got a connection with database %s, name %q", me["db"], me["name"])
					}
					_ = cn.Close()
				}
			})
		})
	}
}

func TestTxPipelineOutcomes(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			s := realserver.Start(t, name)
			both(t, func(t *testing.T, proto int) {
				ctx := soon(t)
				c := newClient(t, &redis.Options{Addr: s.Addr(), Protocol: proto})
				_ = c.FlushAll(ctx).Err()
				tx := func(cmds ...string) ([]redis.Cmder, error) {
					return c.TxPipelined(ctx, func(p redis.Pipeliner) error { collect(t, p, cmds); return nil })
				}
				cmds, err := tx("set k v", "get k", "lpush k x", "get none", "incr n")
				if got := outcomes(cmds); !strings.HasPrefix(got, "OK, v, WRONGTYPE") || !strings.HasSuffix(got, ", redis: nil, 1") {
					t.Errorf("got %s", got)
				}
				if !redis.HasErrorPrefix(err, "WRONGTYPE") {
					t.Errorf("Exec gives %v, want the first error", err)
				}
				if _, err := tx("get none"); err != redis.Nil { //nolint:errorlint // go-redis users compare it
					t.Errorf("Exec gives %v, want Nil", err)
				}
				// Refused while queued: nothing is executed.
				cmds, err = tx("incr n", "nonsense", "incr n")
				if !redis.IsExecAbortError(err) || !redis.IsExecAbortError(cmds[0].Err()) || !redis.IsExecAbortError(cmds[2].Err()) ||
					!redis.HasErrorPrefix(cmds[1].Err(), "ERR unknown command") {
					t.Errorf("got %s, %v", outcomes(cmds), err)
				}
				// In MULTI nothing blocks.
				cmds, err = tx("blpop none 0", "incr n")
				if got := outcomes(cmds); got != "redis: nil, 2" || !errors.Is(err, redis.Nil) {
					t.Errorf("got %s, %v", got, err)
				}
				cmds, err = tx("select 5", "set only-in-5 x")
				if got := outcomes(cmds); got != "OK, OK" || err != nil {
					t.Errorf("session commands: %s, %v", got, err)
				}
				if n := do(t, c, "exists", "only-in-5"); n != "0" {
					t.Error("the database of the client has changed")
				}
				if err := c.Ping(ctx).Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestMultiRefused(t *testing.T) {
	s := realserver.StartConfig(t, realserver.Redis7, realserver.Config{Users: []string{"bob on >b ~* +@all -multi"}})
	c := newClient(t, &redis.Options{Addr: s.Addr(), Username: "bob", Password: "b"})
	_, err := c.TxPipelined(soon(t), func(p redis.Pipeliner) error { collect(t, p, []string{"get k"}); return nil })
	if !redis.IsPermissionError(err) || redis.DeliveryOf(err) != redis.MaybeSent {
		t.Errorf("got %v, want the answer to MULTI, and that the rest may have been executed", err)
	}
}

func TestEmptyPipelines(t *testing.T) {
	ctx := soon(t)
	c := newClient(t, &redis.Options{Addr: "127.0.0.1:1"}) // which nobody must dial
	for name, p := range map[string]redis.Pipeliner{"pipeline": c.Pipeline(), "transaction": c.TxPipeline(), "of a Conn": c.Conn().Pipeline()} {
		if cmds, err := p.Exec(ctx); len(cmds) != 0 || err != nil {
			t.Errorf("%s: %v, %v", name, cmds, err)
		}
	}
	own := errors.New("own")
	if cmds, err := c.Pipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "get", "k"); return own }); cmds != nil || err != own { //nolint:errorlint // passed through
		t.Errorf("fn fails: %v, %v", cmds, err)
	}
}

func TestPipelineMethods(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	p := c.Pipeline()
	a := p.Set(ctx, "k", "v", 0)
	b := redis.NewStringCmd(ctx, "get", "k")
	if err := p.Process(ctx, b); err != nil {
		t.Error(err)
	}
	_ = p.BatchProcess(ctx, redis.NewCmd(ctx, "ping"), redis.NewCmd(ctx, "incr", "n"))
	if p.Len() != 4 || len(p.Cmds()) != 4 || p.Cmds()[0] != redis.Cmder(a) {
		t.Errorf("%d commands", p.Len())
	}
	if cmds, err := p.Exec(ctx); len(cmds) != 4 || err != nil || b.Val() != "v" || a.Val() != "OK" {
		t.Errorf("got %v, %v", cmds, err)
	}
	if p.Len() != 0 {
		t.Error("Exec does not forget")
	}
	p.Set(ctx, "k", "other", 0)
	p.Discard()
	if p.Len() != 0 {
		t.Error("Discard does not forget")
	}
	_, _ = p.Exec(ctx)
	if v := c.Get(ctx, "k").Val(); v != "v" {
		t.Errorf("what was discarded was sent: %s", v)
	}
	// A pipeline can be used again, and by what its own methods give.
	for name, f := range map[string]func(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error){
		"Pipelined":   c.Pipeline().Pipelined,
		"TxPipelined": c.TxPipeline().TxPipelined,
	} {
		cmds, err := f(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "get", "k"); return nil })
		if got := outcomes(cmds); got != "v" || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestPipelineRefusals(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	for name, f := range map[string]func(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error){
		"pipeline": c.Pipelined, "transaction": c.TxPipelined, "Conn": c.Conn().Pipelined,
	} {
		for _, bad := range []string{"subscribe ch", "psubscribe p", "ssubscribe ch", "monitor", "client reply off"} {
			cmds, err := f(ctx, func(p redis.Pipeliner) error { collect(t, p, []string{"set k v", bad}); return nil })
			if err == nil || redis.DeliveryOf(err) != redis.NotSent || !strings.Contains(err.Error(), "stream") {
				t.Errorf("%s with %s: got %v", name, bad, err)
			}
			if got := outcomes(cmds); got != "not sent, not sent" {
				t.Errorf("%s with %s: got %s", name, bad, got)
			}
		}
		cmds, err := f(ctx, func(p redis.Pipeliner) error {
			p.Do(ctx, "set", "k", "v")
			p.Do(ctx, "set", "k", struct{}{})
			p.Do(ctx, "set", "k", "v")
			return nil
		})
		if err == nil || redis.DeliveryOf(err) != redis.NotSent || !strings.Contains(err.Error(), "command 2") {
			t.Errorf("%s, an argument that can't be encoded: got %v", name, err)
		}
		if got := outcomes(cmds); got != "not sent, not sent, not sent" {
			t.Errorf("%s, an argument that can't be encoded: got %s", name, got)
		}
	}
	if n := do(t, c, "exists", "k"); n != "0" {
		t.Error("something was sent")
	}
	if err := c.Do(ctx).Err(); redis.DeliveryOf(err) != redis.NotSent || err == nil {
		t.Errorf("no command at all: %v", err)
	}
}

func TestHugePipelines(t *testing.T) {
	const n = 100_000
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, _ := start(t, &redis.Options{Protocol: proto})
		for name, p := range map[string]redis.Pipeliner{"pipeline": c.Pipeline(), "transaction": c.TxPipeline()} {
			for i := range n {
				p.Do(ctx, "echo", i)
			}
			cmds, err := p.Exec(ctx)
			if err != nil || len(cmds) != n {
				t.Fatalf("%s: %d commands, %v", name, len(cmds), err)
			}
			for i, cmd := range cmds {
				if v := cmd.(*redis.Cmd).Val(); v != strconv.Itoa(i) {
					t.Fatalf("%s: reply %d is %v", name, i, v)
				}
			}
		}
	})
}

// Others' commands go on beside a large pipeline, and get their own replies.
func TestPipelinesBesideCommands(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 50 {
				if w%2 == 0 {
					want := fmt.Sprint(w, "-", i)
					if got := do(t, c, "echo", want); got != want {
						t.Errorf("got %s, want %s", got, want)
					}
					continue
				}
				f := c.Pipelined
				if w%4 == 1 {
					f = c.TxPipelined
				}
				cmds, err := f(ctx, func(p redis.Pipeliner) error {
					for k := range 100 {
						p.Do(ctx, "echo", fmt.Sprint(w, "-", i, "-", k))
					}
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
				for k, cmd := range cmds {
					if got, want := cmd.(*redis.Cmd).Val(), fmt.Sprint(w, "-", i, "-", k); got != want {
						t.Errorf("got %s, want %s", got, want)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// A blocking command in a pipeline takes its time, and holds up nobody else.
func TestBlockingCommandInAPipeline(t *testing.T) {
	ctx := soon(t)
	c, s := start(t, &redis.Options{ReadTimeout: 100 * time.Millisecond})
	adm := admin(t, s.Addr())
	var wg sync.WaitGroup
	wg.Go(func() {
		cmds, err := pipelined(t, c, "set a 1", "blpop list 5", "get a")
		if got := outcomes(cmds); got != "OK, [list x], 1" || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
	})
	await(t, "BLPOP blocks", func() bool { return info(t, adm, "blocked_clients") == 1 })
	for range 10 {
		if err := c.Ping(ctx).Err(); err != nil {
			t.Error(err)
		}
		runtime.Gosched()
	}
	do(t, adm, "rpush", "list", "x")
	wg.Wait()
}
