package redis_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	redis "github.com/baton-go/redis"
)

func TestConnKeepsItsState(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, _ := start(t, &redis.Options{Protocol: proto, PoolSize: 1})
		cn := c.Conn()
		for _, cmd := range [][]any{{"select", 3}, {"client", "setname", "mine"}, {"set", "k", "in 3"}} {
			if err := cn.Do(ctx, cmd...).Err(); err != nil {
				t.Fatalf("%v: %v", cmd, err)
			}
		}
		me := fields(cn.Do(ctx, "client", "info").Val().(string))
		if me["db"] != "3" || me["name"] != "mine" {
			t.Errorf("the connection has database %s, name %q", me["db"], me["name"])
		}
		if v := cn.Get(ctx, "k").Val(); v != "in 3" {
			t.Errorf("got %q", v)
		}
		if err := c.Get(ctx, "k").Err(); !errors.Is(err, redis.Nil) {
			t.Errorf("the client sees the Conn's database: %v", err)
		}
		if err := cn.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		// The next one gets a connection in its original state.
		next := c.Conn()
		defer next.Close()
		other := fields(next.Do(ctx, "client", "info").Val().(string))
		if other["db"] != "0" || other["name"] != "" || other["id"] == me["id"] {
			t.Errorf("the next one got database %s, name %q, connection %s after %s", other["db"], other["name"], other["id"], me["id"])
		}
	})
}

func TestCleanConnIsUsedAgain(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	id := func() string {
		cn := c.Conn()
		defer cn.Close()
		if err := cn.Set(ctx, "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		return fields(cn.Do(ctx, "client", "info").Val().(string))["id"]
	}
	if a, b := id(), id(); a != b {
		t.Errorf("connections %s and %s", a, b)
	}
	if st := c.PoolStats(); st.Hits != 1 || st.Misses != 1 || st.IdleConns != 1 || st.TotalConns != 1 {
		t.Errorf("stats: %+v", st)
	}
}

// A Conn that watches is not given to anybody else: their EXEC would fail.
func TestConnWithAWatchIsNotUsedAgain(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, &redis.Options{PoolSize: 1})
	cn := c.Conn()
	if err := cn.Do(ctx, "watch", "k").Err(); err != nil {
		t.Fatal(err)
	}
	_ = cn.Close()
	err := c.Watch(ctx, func(tx *redis.Tx) error {
		do(t, c, "set", "k", "1")
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "incr", "x"); return nil })
		return err
	})
	if err != nil {
		t.Errorf("somebody else's watch: %v", err)
	}
}

func TestConnAfterClose(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	for _, used := range []bool{false, true} {
		cn := c.Conn()
		if used {
			if err := cn.Ping(ctx).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if err := cn.Close(); err != nil {
			t.Error(err)
		}
		if err := cn.Close(); !errors.Is(err, redis.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
		for name, err := range map[string]error{
			"command":  cn.Ping(ctx).Err(),
			"pipeline": second(cn.Pipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "ping"); return nil })),
			"tx":       second(cn.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "ping"); return nil })),
		} {
			if redis.DeliveryOf(err) != redis.NotSent || !strings.Contains(err.Error(), "given back") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
	if st := c.PoolStats(); st.TotalConns != 1 || st.IdleConns != 1 {
		t.Errorf("stats: %+v", st)
	}
}

func second[A any](_ A, err error) error { return err }

func TestConnThatIsLost(t *testing.T) {
	ctx := soon(t)
	c, s := start(t, nil)
	adm := admin(t, s.Addr())
	cn := c.Conn()
	defer cn.Close()
	_ = cn.Ping(ctx).Err()
	killOthers(t, adm)
	// Nothing was lost with it, so that the next command gets another one.
	if err := cn.Get(ctx, "k").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("got %v, want another connection", err)
	}
	if err := cn.Do(ctx, "select", 3).Err(); err != nil {
		t.Fatal(err)
	}
	killOthers(t, adm)
	for range 2 {
		err := cn.Set(ctx, "k", "v", 0).Err()
		if _, ok := errors.AsType[*redis.CommandError](err); !ok {
			t.Errorf("got %v, want a *CommandError", err)
		}
	}
	if err := cn.Get(ctx, "k").Err(); redis.DeliveryOf(err) != redis.NotSent || !strings.Contains(err.Error(), "lost, and its state with it") {
		t.Errorf("got %v", err)
	}
	for _, db := range []int{0, 3} {
		adm := newClient(t, &redis.Options{Addr: s.Addr(), DB: db})
		if n := do(t, adm, "dbsize"); n != "0" {
			t.Errorf("database %d has %s keys", db, n)
		}
	}
}

func TestConnPipelines(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		ctx := soon(t)
		c, _ := start(t, &redis.Options{Protocol: proto})
		cn := c.Conn()
		defer cn.Close()
		cmds, err := cn.Pipelined(ctx, func(p redis.Pipeliner) error {
			collect(t, p, []string{"select 2", "set k v", "get k", "lpush k x"})
			return nil
		})
		if got := outcomes(cmds); !strings.HasPrefix(got, "OK, OK, v, WRONGTYPE") || err == nil {
			t.Errorf("pipeline: %s, %v", got, err)
		}
		cmds, err = cn.TxPipelined(ctx, func(p redis.Pipeliner) error {
			collect(t, p, []string{"incr n", "get k"})
			return nil
		})
		if got := outcomes(cmds); got != "1, v" || err != nil {
			t.Errorf("transaction: %s, %v", got, err)
		}
		if v := fields(cn.Do(ctx, "client", "info").Val().(string))["db"]; v != "2" {
			t.Errorf("database %s", v)
		}
	})
}

func TestSessionCommandsNeedAConn(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	for _, cmd := range [][]any{
		{"select", 1},
		{"auth", "x"},
		{"client", "setname", "x"},
		{"multi"},
		{"watch", "k"},
		{"subscribe", "ch"},
		{"monitor"},
		{"client", "reply", "off"},
		{"quit"},
	} {
		err := c.Do(ctx, cmd...).Err()
		if redis.DeliveryOf(err) != redis.NotSent || err == nil || !strings.Contains(err.Error(), "Client.Conn") {
			t.Errorf("%v: got %v", cmd, err)
		}
	}
	cn := c.Conn()
	defer cn.Close()
	for _, cmd := range [][]any{{"subscribe", "ch"}, {"monitor"}, {"client", "reply", "off"}} {
		err := cn.Do(ctx, cmd...).Err()
		if redis.DeliveryOf(err) != redis.NotSent || err == nil {
			t.Errorf("%v on a Conn: got %v", cmd, err)
		}
	}
	if err := cn.Ping(ctx).Err(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestConnString(t *testing.T) {
	c := newClient(t, &redis.Options{Addr: "127.0.0.1:1", DB: 2, Password: "secret"})
	if got := c.String(); got != "Redis<127.0.0.1:1 db:2>" {
		t.Errorf("client: %s", got)
	}
	if got := c.Conn().String(); got != "Conn<127.0.0.1:1>" {
		t.Errorf("conn: %s", got)
	}
	_ = c.Watch(context.Background(), func(tx *redis.Tx) error {
		if got := tx.String(); got != "Tx<127.0.0.1:1>" {
			t.Errorf("tx: %s", got)
		}
		return nil
	})
}
