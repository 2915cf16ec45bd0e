package redis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	redis "github.com/baton-go/redis"
)

// once answers with first the first time, then with later.
func once(name, first, later string) func(*peer, []string) string {
	done := false
	return func(_ *peer, args []string) string {
		if args[0] == name && !done {
			done = true
			return first
		}
		return later
	}
}

func TestReadIsSentAgainAfterACut(t *testing.T) {
	s := newScript(t, once("get", hangUp, "$1\r\nv\r\n"))
	c := newClient(t, &redis.Options{Addr: s.addr})
	if v, err := c.Get(soon(t), "k").Result(); v != "v" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
	if got := s.commands(); got != "get k, get k" {
		t.Errorf("sent %s", got)
	}
}

func TestWriteIsNotSentAgainAfterACut(t *testing.T) {
	s := newScript(t, once("incr", hangUp, ":1\r\n"))
	c := newClient(t, &redis.Options{Addr: s.addr})
	err := c.Incr(soon(t), "n").Err()
	e, ok := errors.AsType[*redis.CommandError](err)
	if !ok || e.Delivery != redis.MaybeSent || e.Command != "incr" || e.Attempts > 1 || e.Endpoint != s.addr || !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if got := s.commands(); got != "incr n" {
		t.Errorf("sent %s", got)
	}
	// The next one gets a new connection.
	if err := c.Incr(soon(t), "n").Err(); err != nil {
		t.Error(err)
	}
}

// A wait that a server ends because it is a primary no more is begun again, if only for a
// moment, though its time is up by then: UNBLOCKED is not what its caller waited for.
func TestUnblockedAtTheEndIsTriedAgain(t *testing.T) {
	const wait = 20 * time.Millisecond
	asked := 0
	s := newScript(t, func(*peer, []string) string {
		if asked++; asked > 1 {
			return "*-1\r\n"
		}
		<-time.After(2 * wait)
		return "-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)\r\n"
	})
	c := newClient(t, &redis.Options{Addr: s.addr})
	if err := c.BLPop(soon(t), wait, "list").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("got %v, want nil", err)
	}
	if got := s.commands(); got != "blpop list 0.02, blpop list 0.001" {
		t.Errorf("sent %s", got)
	}
}

// A server closes the connection on which it has said UNBLOCKED, so it is lent to nobody
// else.
func TestUnblockedConnectionsAreNotUsedAgain(t *testing.T) {
	demoted := make(chan struct{})
	s := newScript(t, func(p *peer, args []string) string {
		switch {
		case p.n > 1:
			return "*2\r\n$4\r\nlist\r\n$1\r\nx\r\n"
		case args[1] == "first":
			<-demoted
			return "-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)\r\n"
		}
		return hangUp
	})
	c := newClient(t, &redis.Options{Addr: s.addr, PoolSize: 1, PoolTimeout: time.Minute})
	ctx := soon(t)
	got := make(chan error, 2)
	pop := func(list string) { got <- c.BLPop(ctx, time.Minute, list).Err() }
	go pop("first")
	await(t, "the first blocks", func() bool { return c.PoolStats().TotalConns == 1 })
	go pop("second")
	await(t, "the second waits for its connection", func() bool { return c.PoolStats().PendingRequests == 1 })
	close(demoted)
	for range 2 {
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
}

func TestNotReadyAnswersAreTriedAgain(t *testing.T) {
	for _, answer := range []string{
		"LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica.",
		"MASTERDOWN Link with MASTER is down", "CLUSTERDOWN The cluster is down", "TRYAGAIN Multiple keys request",
	} {
		name, _, _ := strings.Cut(answer, " ")
		t.Run(name, func(t *testing.T) {
			s := newScript(t, once("incr", "-"+answer+"\r\n", ":1\r\n"))
			c := newClient(t, &redis.Options{Addr: s.addr})
			if n, err := c.Incr(soon(t), "n").Result(); n != 1 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
		})
	}
	t.Run("in the end it is the error", func(t *testing.T) {
		s := newScript(t, func(*peer, []string) string { return "-LOADING still\r\n" })
		c := newClient(t, &redis.Options{Addr: s.addr, PoolTimeout: 300 * time.Millisecond})
		start := time.Now()
		err := c.Incr(soon(t), "n").Err()
		if !redis.IsLoadingError(err) || redis.DeliveryOf(err) != redis.Rejected {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took < 300*time.Millisecond || took > 2*time.Second {
			t.Errorf("waited %v, want PoolTimeout", took)
		}
		if n := len(strings.Split(s.commands(), ", ")); n < 3 || n > 20 {
			t.Errorf("sent %d times", n)
		}
	})
}

// pipelined sends the commands, each given as words, in one pipeline.
func pipelined(t *testing.T, c *redis.Client, cmds ...string) ([]redis.Cmder, error) {
	t.Helper()
	return c.Pipelined(soon(t), func(p redis.Pipeliner) error {
		collect(t, p, cmds)
		return nil
	})
}

func collect(t *testing.T, p redis.Pipeliner, cmds []string) {
	for _, c := range cmds {
		var args []any
		for w := range strings.FieldsSeq(c) {
			args = append(args, w)
		}
		p.Do(t.Context(), args...)
	}
}

// outcomes shows what became of commands.
func outcomes(cmds []redis.Cmder) string {
	var s []string
	for _, c := range cmds {
		switch err := c.Err(); {
		case err == nil:
			s = append(s, fmt.Sprint(c.(*redis.Cmd).Val()))
		case redis.DeliveryOf(err) == redis.Rejected:
			s = append(s, err.Error())
		default:
			s = append(s, redis.DeliveryOf(err).String())
		}
	}
	return strings.Join(s, ", ")
}

func TestPipelineAfterACut(t *testing.T) {
	for _, c := range []struct {
		name      string
		cmds      []string
		cutAt     string // the connection is cut before this one is answered, once
		again     string // what is sent after that
		want      string
		transient string // this answer in place of the cut
	}{
		{
			name: "answered part kept, idempotent rest in order, others not",
			cmds: []string{"get a", "set b 1", "incr c", "set d 1", "incr e", "get f"}, cutAt: "incr c",
			again: "set d 1, get f", want: "OK, OK, maybe sent, OK, maybe sent, OK",
		},
		{
			name: "nothing answered", cmds: []string{"get a", "incr b", "set c 1"}, cutAt: "get a",
			again: "get a, set c 1", want: "OK, maybe sent, OK",
		},
		{name: "nothing to send again", cmds: []string{"get a", "incr b"}, cutAt: "incr b", want: "OK, maybe sent"},
		{
			// The second connection has not the first one's database.
			name: "state is not forgotten", cmds: []string{"select 5", "set a 1", "get b"}, cutAt: "set a 1",
			want: "OK, maybe sent, maybe sent",
		},
		{name: "state is not forgotten from the start", cmds: []string{"select 5", "get a"}, cutAt: "select 5", want: "maybe sent, maybe sent"},
		{
			name: "not ready", cmds: []string{"get a", "incr b", "get c"}, cutAt: "incr b", transient: "-LOADING soon\r\n",
			again: "incr b, get c", want: "OK, OK, OK",
		},
		{
			name: "a read sees the write before it", cmds: []string{"get b", "set a 2", "get a", "get c"}, cutAt: "set a 2",
			transient: "-READONLY soon\r\n", again: "set a 2, get a, get c", want: "OK, OK, OK, OK",
		},
		{
			// Sent again, the first SET would undo the second.
			name: "no write overtakes another", cmds: []string{"set a 1", "set a 2"}, cutAt: "set a 1", transient: "-LOADING soon\r\n",
			want: "LOADING soon, OK",
		},
		{
			name: "state and not ready", cmds: []string{"select 5", "set a 1"}, cutAt: "set a 1", transient: "-LOADING soon\r\n",
			want: "OK, LOADING soon",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cut := false
			s := newScript(t, func(_ *peer, args []string) string {
				if strings.Join(args, " ") == c.cutAt && !cut {
					cut = true
					if c.transient != "" {
						return c.transient
					}
					return hangUp
				}
				return "+OK\r\n"
			})
			client := newClient(t, &redis.Options{Addr: s.addr})
			cmds, err := pipelined(t, client, c.cmds...)
			if got := outcomes(cmds); got != c.want {
				t.Errorf("outcomes are %s, want %s", got, c.want)
			}
			if want := firstError(cmds); err != want { //nolint:errorlint // the same one
				t.Errorf("Exec gives %v, the first error is %v", err, want)
			}
			sent := s.commands()
			_, again, _ := strings.Cut(sent, c.cutAt)
			again = strings.TrimPrefix(again, ", ")
			if c.transient != "" {
				again = strings.TrimPrefix(sent, strings.Join(c.cmds, ", "))
				again = strings.TrimPrefix(again, ", ")
			}
			if again != c.again {
				t.Errorf("sent again %q, want %q", again, c.again)
			}
		})
	}
}

func firstError(cmds []redis.Cmder) error {
	for _, c := range cmds {
		if c.Err() != nil {
			return c.Err()
		}
	}
	return nil
}

func TestTransactionIsNotSentAgainAfterACut(t *testing.T) {
	s := newScript(t, once("exec", hangUp, "+OK\r\n"))
	c := newClient(t, &redis.Options{Addr: s.addr})
	cmds, err := c.TxPipelined(soon(t), func(p redis.Pipeliner) error {
		collect(t, p, []string{"get a", "set b 1"})
		return nil
	})
	if got := outcomes(cmds); got != "maybe sent, maybe sent" || redis.DeliveryOf(err) != redis.MaybeSent {
		t.Errorf("outcomes are %s, error %v", got, err)
	}
	if got := s.commands(); got != "multi, get a, set b 1, exec" {
		t.Errorf("sent %s", got)
	}
}

// A transaction that met a dead connection was not sent, and is sent again.
func TestTransactionThatWasNotSentIsSent(t *testing.T) {
	ctx := soon(t)
	c, s := start(t, nil)
	adm := admin(t, s.Addr())
	for range 20 {
		if err := c.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		killOthers(t, adm)
		_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error { collect(t, p, []string{"incr n"}); return nil })
		if err != nil && redis.DeliveryOf(err) != redis.MaybeSent { // written before the end was seen
			t.Fatal(err)
		}
	}
}

func TestPauseEndsWithTheContext(t *testing.T) {
	s := newScript(t, func(*peer, []string) string { return "-LOADING soon\r\n" })
	c := newClient(t, &redis.Options{Addr: s.addr, MinRetryBackoff: time.Minute, MaxRetryBackoff: time.Minute})
	for name, send := range map[string]func(ctx context.Context) error{
		"command":     func(ctx context.Context) error { return c.Get(ctx, "k").Err() },
		"pipeline":    func(ctx context.Context) error { _, err := c.Pipelined(ctx, get); return err },
		"transaction": func(ctx context.Context) error { return c.Conn().Get(ctx, "k").Err() },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		begin := time.Now()
		err := send(ctx)
		if took := time.Since(begin); took > 5*time.Second || err == nil {
			t.Errorf("%s: took %v: %v", name, took, err)
		}
		cancel()
	}
}

func get(p redis.Pipeliner) error {
	p.Do(context.Background(), "get", "k")
	return nil
}

// The end of the context is in the error of a command that could not be sent, and so
// is the reason.
func TestContextEndsWhileTheServerIsAway(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.opt.MaxRetries = 3
		c := s.client()
		s.echo(c)
		a.leave()
		s.net.Refuse(oldAddr, true)
		synctest.Wait()
		for name, send := range map[string]func(ctx context.Context) error{
			"command":     func(ctx context.Context) error { return c.Incr(ctx, "k").Err() },
			"pipeline":    func(ctx context.Context) error { _, err := c.Pipelined(ctx, get); return err },
			"transaction": func(ctx context.Context) error { _, err := c.TxPipelined(ctx, get); return err },
			"session":     func(ctx context.Context) error { return c.Conn().Incr(ctx, "k").Err() },
			"watch":       func(ctx context.Context) error { return c.Watch(ctx, func(*redis.Tx) error { return nil }, "k") },
		} {
			ctx, cancel := context.WithTimeout(s.Context(), 300*time.Millisecond)
			err := send(ctx)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "refused") || redis.DeliveryOf(err) != redis.NotSent {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

func TestEndedContextSendsNothing(t *testing.T) {
	c, s := start(t, nil)
	adm := admin(t, s.Addr())
	ctx, cancel := context.WithCancel(t.Context())
	conn := c.Conn()
	defer conn.Close()
	incr := func(p redis.Pipeliner) error { p.Do(ctx, "incr", "n"); return nil }
	for _, e := range []struct {
		name string
		send func() error
	}{
		{"command", func() error { return c.Incr(ctx, "n").Err() }},
		{"pipeline", func() error { _, err := c.Pipelined(ctx, incr); return err }},
		{"transaction", func() error { _, err := c.TxPipelined(ctx, incr); return err }},
		{"session", func() error { return conn.Incr(ctx, "n").Err() }},
		{"pipeline of a session", func() error { _, err := conn.Pipelined(ctx, incr); return err }},
		{"blocking", func() error { return c.BLPop(ctx, 0, "n").Err() }},
	} {
		if e.name != "blocking" {
			if err := e.send(); err != nil {
				t.Fatal(err)
			}
		}
		do(t, adm, "set", "n", 0)
	}
	cancel()
	for _, e := range []func() error{
		func() error { return c.Incr(ctx, "n").Err() },
		func() error { _, err := c.Pipelined(ctx, incr); return err },
		func() error { _, err := c.TxPipelined(ctx, incr); return err },
		func() error { return conn.Incr(ctx, "n").Err() },
		func() error { _, err := conn.Pipelined(ctx, incr); return err },
		func() error { return c.BLPop(ctx, 0, "n").Err() },
	} {
		if err := e(); !errors.Is(err, context.Canceled) || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("got %v, want not sent", err)
		}
	}
	if err := conn.Ping(t.Context()).Err(); err != nil {
		t.Errorf("the session is lost: %v", err)
	}
	if n := do(t, adm, "get", "n"); n != "0" {
		t.Errorf("n is %s", n)
	}
}
