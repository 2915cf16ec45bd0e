package redis_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	redis "github.com/baton-go/redis"
)

// killOthers makes the server close every connection but admin's.
func killOthers(t *testing.T, adm *redis.Client) {
	t.Helper()
	for _, c := range clients(t, adm) {
		_ = adm.Do(t.Context(), "client", "kill", "id", c["id"]).Err()
	}
}

func TestWatchCommits(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, _ := start(t, &redis.Options{Protocol: proto})
		const workers, rounds = 8, 20
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for done := 0; done < rounds; {
					err := c.Watch(ctx, func(tx *redis.Tx) error {
						n, err := tx.Get(ctx, "n").Int()
						if err != nil && !errors.Is(err, redis.Nil) {
							return err
						}
						_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
							p.Set(ctx, "n", n+1, 0)
							return nil
						})
						return err
					}, "n")
					switch {
					case err == nil:
						done++
					case !errors.Is(err, redis.TxFailedErr):
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if n, err := c.Get(ctx, "n").Int(); n != workers*rounds || err != nil {
			t.Errorf("got %d (%v), want %d", n, err, workers*rounds)
		}
	})
}

func TestWatchConflict(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, _ := start(t, &redis.Options{Protocol: proto})
		var cmd *redis.StatusCmd
		err := c.Watch(ctx, func(tx *redis.Tx) error {
			if err := c.Set(ctx, "k", "theirs", 0).Err(); err != nil {
				return err
			}
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				cmd = p.Set(ctx, "k", "ours", 0)
				return nil
			})
			return err
		}, "k")
		if err != redis.TxFailedErr { //nolint:errorlint // go-redis users compare it
			t.Errorf("got %v, want TxFailedErr", err)
		}
		if !errors.Is(cmd.Err(), redis.TxFailedErr) {
			t.Errorf("the command's error is %v, want TxFailedErr", cmd.Err())
		}
		if v := c.Get(ctx, "k").Val(); v != "theirs" {
			t.Errorf("value is %q", v)
		}
	})
}

func TestWatchLeavesNothingBehind(t *testing.T) {
	ctx := soon(t)
	c, s := start(t, &redis.Options{PoolSize: 1})
	own := errors.New("own")
	calls := 0
	err := c.Watch(ctx, func(*redis.Tx) error { calls++; return own }, "a", "b")
	if err != own || calls != 1 { //nolint:errorlint // it must be passed through as it is
		t.Errorf("got %v after %d calls, want fn's own error after one", err, calls)
	}
	// The next one on the same connection does not watch a and b any more.
	err = c.Watch(ctx, func(tx *redis.Tx) error {
		do(t, c, "set", "a", "1")
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, "x", 1, 0); return nil })
		return err
	})
	if err != nil {
		t.Errorf("without keys: %v", err)
	}
	if st := c.PoolStats(); st.Hits != 1 || st.Misses != 1 || st.IdleConns != 1 {
		t.Errorf("the connection was not used again: %+v", st)
	}
	adm := admin(t, s.Addr())
	for _, cl := range clients(t, adm) {
		if w := cl["watch"]; w != "" && w != "0" {
			t.Errorf("a connection still watches %s keys", w)
		}
	}
}

func TestWatchInsideWatch(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	err := c.Watch(ctx, func(outer *redis.Tx) error {
		err := c.Watch(ctx, func(inner *redis.Tx) error {
			_, err := inner.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, "k"); return nil })
			return err
		}, "k")
		if err != nil {
			t.Errorf("inner: %v", err)
		}
		_, err = outer.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, "k"); return nil })
		return err
	}, "k")
	if !errors.Is(err, redis.TxFailedErr) {
		t.Errorf("outer: got %v, want TxFailedErr", err)
	}
	if v := c.Get(ctx, "k").Val(); v != "1" {
		t.Errorf("k is %s, want 1", v)
	}
}

func TestWatchMethodsOfTx(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	err := c.Watch(ctx, func(tx *redis.Tx) error {
		if err := tx.Watch(ctx, "k").Err(); err != nil {
			return err
		}
		do(t, c, "set", "k", "1")
		if err := tx.Unwatch(ctx).Err(); err != nil {
			return err
		}
		cmds, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Incr(ctx, "k")
			p.Get(ctx, "k")
			return nil
		})
		if err != nil {
			return err
		}
		if v := cmds[1].(*redis.StringCmd).Val(); v != "2" {
			t.Errorf("k is %s in the transaction, want 2", v)
		}
		cmds, err = tx.Pipelined(ctx, func(p redis.Pipeliner) error { p.Get(ctx, "k"); p.Get(ctx, "none"); return nil })
		if len(cmds) != 2 || !errors.Is(err, redis.Nil) {
			t.Errorf("pipeline in a Tx: %d commands, %v", len(cmds), err)
		}
		if v := tx.Do(ctx, "echo", "hi").Val(); v != "hi" {
			t.Errorf("Do in a Tx: %v", v)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A transaction whose connection was cut must not go on without its WATCH, even if
// its function does not look at errors.
func TestWatchIsNotLostWithItsConnection(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, s := start(t, &redis.Options{Protocol: proto})
		adm := admin(t, s.Addr())
		do(t, adm, "set", "k", "1")
		err := c.Watch(ctx, func(tx *redis.Tx) error {
			killOthers(t, adm)
			do(t, adm, "set", "k", "theirs")
			_ = tx.Get(ctx, "k").Err() // fails, and nobody looks
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "k", "ours", 0)
				return nil
			})
			return err
		}, "k")
		if !errors.Is(err, redis.TxFailedErr) {
			t.Errorf("got %v, want TxFailedErr", err)
		}
		if v := do(t, adm, "get", "k"); v != "theirs" {
			t.Errorf("k is %q: committed without its WATCH", v)
		}
	})
}

// The same where it was the caller who gave a command up: its reply would be taken
// for that of the next, so the connection can't be used on.
func TestWatchIsNotLostWithACommandGivenUp(t *testing.T) {
	ctx := soon(t)
	c, s := start(t, nil)
	adm := admin(t, s.Addr())
	err := c.Watch(ctx, func(tx *redis.Tx) error {
		short, cancel := context.WithCancel(ctx)
		block := make(chan error, 1)
		go func() { block <- tx.BLPop(short, 0, "list").Err() }()
		await(t, "BLPOP blocks", func() bool { return info(t, adm, "blocked_clients") == 1 })
		cancel()
		if err := <-block; !errors.Is(err, context.Canceled) {
			t.Errorf("BLPOP: got %v", err)
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, "k", "ours", 0); return nil })
		return err
	}, "k")
	if !errors.Is(err, redis.TxFailedErr) {
		t.Errorf("got %v, want TxFailedErr", err)
	}
	if n := do(t, adm, "exists", "k"); n != "0" {
		t.Error("committed without its WATCH")
	}
}

// A write outside MULTI that may have been executed is no failed transaction: the
// usual loop would execute it twice.
func TestTxDoesNotHideAnUnknownWrite(t *testing.T) {
	ctx := soon(t)
	s := newScript(t, func(_ *peer, args []string) string {
		if args[0] == "incr" {
			return hangUp // executed, and the answer is lost
		}
		return "+OK\r\n"
	})
	c := newClient(t, &redis.Options{Addr: s.addr})
	for _, send := range []struct {
		name string
		do   func(tx *redis.Tx) error
	}{
		{"command", func(tx *redis.Tx) error { return tx.Incr(ctx, "n").Err() }},
		{"pipeline", func(tx *redis.Tx) error {
			_, err := tx.Pipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, "n"); return nil })
			return err
		}},
	} {
		err := c.Watch(ctx, send.do, "k")
		if errors.Is(err, redis.TxFailedErr) || redis.DeliveryOf(err) != redis.MaybeSent || !errors.Is(err, io.EOF) {
			t.Errorf("%s: got %v, want maybe sent", send.name, err)
		}
	}
}

func TestTxCutBeforeExec(t *testing.T) {
	ctx := soon(t)
	s := newScript(t, func(_ *peer, args []string) string {
		if args[0] == "get" {
			return hangUp
		}
		return "+OK\r\n"
	})
	c := newClient(t, &redis.Options{Addr: s.addr})
	err := c.Watch(ctx, func(tx *redis.Tx) error { return tx.Get(ctx, "k").Err() }, "k")
	if !errors.Is(err, redis.TxFailedErr) {
		t.Errorf("command: got %v, want TxFailedErr", err)
	}
	var cmds []redis.Cmder
	err = c.Watch(ctx, func(tx *redis.Tx) (err error) {
		cmds, err = tx.Pipelined(ctx, func(p redis.Pipeliner) error { p.Get(ctx, "k"); return nil })
		return err
	}, "k")
	if !errors.Is(err, redis.TxFailedErr) || !errors.Is(cmds[0].Err(), redis.TxFailedErr) {
		t.Errorf("pipeline: got %v, its command %v, want TxFailedErr", err, cmds[0].Err())
	}
}

func TestTxCutDuringExecIsUnknown(t *testing.T) {
	ctx := soon(t)
	s := newScript(t, func(_ *peer, args []string) string {
		switch args[0] {
		case "exec":
			return hangUp
		case "incr":
			return "+QUEUED\r\n"
		}
		return "+OK\r\n"
	})
	c := newClient(t, &redis.Options{Addr: s.addr})
	err := c.Watch(ctx, func(tx *redis.Tx) error {
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, "n"); return nil })
		return err
	}, "k")
	if redis.DeliveryOf(err) != redis.MaybeSent || errors.Is(err, redis.TxFailedErr) {
		t.Errorf("got %v, want maybe sent", err)
	}
	if got := strings.Count(s.commands(), "exec"); got != 1 {
		t.Errorf("EXEC was sent %d times", got)
	}
}

// WATCH changes nothing, so that one whose connection turns out to be dead is sent
// again on another.
func TestFirstWatchIsSentAgain(t *testing.T) {
	ctx := soon(t)
	first := true
	s := newScript(t, func(_ *peer, args []string) string {
		if args[0] == "watch" && first {
			first = false
			return hangUp
		}
		return "+OK\r\n"
	})
	c := newClient(t, &redis.Options{Addr: s.addr})
	calls := 0
	if err := c.Watch(ctx, func(*redis.Tx) error { calls++; return nil }, "k"); err != nil || calls != 1 {
		t.Errorf("got %v, fn was called %d times", err, calls)
	}
	if got, want := s.commands(), "watch k, watch k, unwatch"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestTxOfManyCommands(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	const n = 2000
	err := c.Watch(ctx, func(tx *redis.Tx) error {
		cmds, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			for i := range n {
				p.Set(ctx, "k"+strconv.Itoa(i), i, 0)
				p.Get(ctx, "k"+strconv.Itoa(i))
			}
			return nil
		})
		for i := range n {
			if v := cmds[2*i+1].(*redis.StringCmd).Val(); v != strconv.Itoa(i) {
				t.Fatalf("reply %d is %q", i, v)
			}
		}
		return err
	}, "k0")
	if err != nil {
		t.Error(err)
	}
}

// After an EXEC that was executed, a cut is no failed transaction any more: run
// again, it would be executed twice.
func TestTxCutAfterExec(t *testing.T) {
	ctx := soon(t)
	c, s := start(t, nil)
	adm := admin(t, s.Addr())
	err := c.Watch(ctx, func(tx *redis.Tx) error {
		if _, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, "n"); return nil }); err != nil {
			return err
		}
		killOthers(t, adm)
		return tx.Get(ctx, "n").Err()
	}, "n")
	if _, ok := errors.AsType[*redis.CommandError](err); !ok {
		t.Errorf("got %v, want a *CommandError", err)
	}
	if n := do(t, adm, "get", "n"); n != "1" {
		t.Errorf("n is %s", n)
	}
}
