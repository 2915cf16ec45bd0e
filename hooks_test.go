package redis_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	redis "github.com/baton-go/redis"
)

// recorder is a hook that notes what it sees.
type recorder struct {
	name string
	mu   sync.Mutex // guards seen
	seen *[]string
}

func newRecorders(names ...string) (hooks []*recorder, seen *[]string) {
	seen = new([]string)
	for _, n := range names {
		hooks = append(hooks, &recorder{name: n, seen: seen})
	}
	return hooks, seen
}

func (r *recorder) note(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.seen = append(*r.seen, r.name+" "+s)
}

func (r *recorder) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		r.note("dials " + network)
		return next(ctx, network, addr)
	}
}

func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.note("before " + cmd.Name())
		err := next(ctx, cmd)
		r.note("after " + cmd.Name())
		return err
	}
}

func (r *recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		names := make([]string, len(cmds))
		for i, c := range cmds {
			names[i] = c.Name()
		}
		r.note("before [" + strings.Join(names, " ") + "]")
		err := next(ctx, cmds)
		r.note("after [" + strings.Join(names, " ") + "]")
		return err
	}
}

// funcs is a hook of functions; nil is next.
type funcs struct {
	dial     func(next redis.DialHook) redis.DialHook
	process  func(next redis.ProcessHook) redis.ProcessHook
	pipeline func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook
}

func (f funcs) DialHook(next redis.DialHook) redis.DialHook {
	if f.dial == nil {
		return nil
	}
	return f.dial(next)
}

func (f funcs) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	if f.process == nil {
		return nil
	}
	return f.process(next)
}

func (f funcs) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	if f.pipeline == nil {
		return nil
	}
	return f.pipeline(next)
}

func TestHookOrder(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	hooks, seen := newRecorders("first", "second")
	for _, h := range hooks {
		c.AddHook(h)
	}
	check := func(what string, want ...string) {
		t.Helper()
		if !slices.Equal(*seen, want) {
			t.Errorf("%s: got %q, want %q", what, *seen, want)
		}
		*seen = nil
	}
	_ = c.Ping(ctx).Err()
	check("command", "first before ping", "second before ping", "first dials tcp", "second dials tcp", "second after ping", "first after ping")
	_, _ = c.Pipelined(ctx, func(p redis.Pipeliner) error { collect(t, p, []string{"ping", "get k"}); return nil })
	check("pipeline", "first before [ping get]", "second before [ping get]", "second after [ping get]", "first after [ping get]")
	_, _ = c.TxPipelined(ctx, func(p redis.Pipeliner) error { collect(t, p, []string{"ping"}); return nil })
	check("transaction", "first before [ping]", "second before [ping]", "second after [ping]", "first after [ping]")

	cn := c.Conn()
	defer cn.Close()
	_ = cn.Ping(ctx).Err()
	check("Conn", "first before ping", "second before ping", "first dials tcp", "second dials tcp", "second after ping", "first after ping")
	extra, more := newRecorders("own")
	cn.AddHook(extra[0])
	_ = cn.Ping(ctx).Err()
	check("Conn with a hook of its own", "first before ping", "second before ping", "second after ping", "first after ping")
	if got := strings.Join(*more, ", "); got != "own before ping, own after ping" {
		t.Errorf("the Conn's own hook saw %s", got)
	}
	_ = c.Ping(ctx).Err()
	*seen = nil
	if len(*more) != 2 {
		t.Error("a Conn's hook is called for the client")
	}

	_ = c.Watch(ctx, func(tx *redis.Tx) error {
		*seen = nil
		_ = tx.Get(ctx, "k").Err()
		check("Tx", "first before get", "second before get", "second after get", "first after get")
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { collect(t, p, []string{"ping"}); return nil })
		check("EXEC", "first before [ping]", "second before [ping]", "second after [ping]", "first after [ping]")
		return err
	}, "k")

	*seen = nil
	other := c.WithTimeout(c.Options().ReadTimeout)
	defer other.Close()
	_ = other.Ping(ctx).Err()
	check("WithTimeout", "first before ping", "second before ping", "first dials tcp", "second dials tcp", "second after ping", "first after ping")
}

func TestHookChangesTheError(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	own := errors.New("own")
	var change func(err error) error
	c.AddHook(funcs{
		process: func(next redis.ProcessHook) redis.ProcessHook {
			return func(ctx context.Context, cmd redis.Cmder) error { return change(next(ctx, cmd)) }
		},
		pipeline: func(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
			return func(ctx context.Context, cmds []redis.Cmder) error { return change(next(ctx, cmds)) }
		},
	})
	cn := c.Conn()
	defer cn.Close()
	each := func(check func(what string, err error)) {
		check("client", c.Get(ctx, "none").Err())
		check("conn", cn.Get(ctx, "none").Err())
		_ = c.Watch(ctx, func(tx *redis.Tx) error { check("tx", tx.Get(ctx, "none").Err()); return nil })
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error { p.Do(ctx, "get", "none"); return nil })
		check("pipeline", err)
	}

	change = func(error) error { return own }
	each(func(what string, err error) {
		if err != own { //nolint:errorlint // the very same
			t.Errorf("%s: got %v, want the hook's error", what, err)
		}
	})
	change = func(err error) error {
		if errors.Is(err, redis.Nil) {
			return nil
		}
		return err
	}
	each(func(what string, err error) {
		if err != nil {
			t.Errorf("%s: got %v, which the hook has taken away", what, err)
		}
	})
}

// A hook that does not call next answers in its place.
func TestHookAnswers(t *testing.T) {
	ctx := soon(t)
	c, s := start(t, nil)
	own := errors.New("no")
	c.AddHook(funcs{
		process: func(redis.ProcessHook) redis.ProcessHook {
			return func(_ context.Context, cmd redis.Cmder) error {
				if g, ok := cmd.(*redis.StringCmd); ok {
					g.SetVal("cached")
					return nil
				}
				return own
			}
		},
		pipeline: func(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
			return func(context.Context, []redis.Cmder) error { return own }
		},
	})
	if v, err := c.Get(ctx, "k").Result(); v != "cached" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
	if err := c.Incr(ctx, "k").Err(); !errors.Is(err, own) {
		t.Errorf("got %v", err)
	}
	cmds, err := c.Pipelined(ctx, func(p redis.Pipeliner) error { collect(t, p, []string{"incr k", "get k"}); return nil })
	if !errors.Is(err, own) {
		t.Errorf("pipeline: got %v", err)
	}
	for _, cmd := range cmds {
		if !errors.Is(cmd.Err(), own) {
			t.Errorf("%s, which was not sent, has the error %v", cmd.Name(), cmd.Err())
		}
	}
	if n := len(clients(t, admin(t, s.Addr()))); n != 0 {
		t.Errorf("there are %d connections", n)
	}
}

// A hook may process a command again, whatever it failed with.
func TestHookRetries(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, &redis.Options{Limiter: &limiter{refuse: 1}})
	c.AddHook(funcs{process: func(next redis.ProcessHook) redis.ProcessHook {
		return func(ctx context.Context, cmd redis.Cmder) error {
			if err := next(ctx, cmd); err == nil {
				return nil
			}
			return next(ctx, cmd)
		}
	}})
	if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestDialHook(t *testing.T) {
	ctx := soon(t)
	s := newScript(t, func(*peer, []string) string { return "+PONG\r\n" })
	c := newClient(t, &redis.Options{Addr: "nowhere.invalid:1", Resolver: emptyResolver{}})
	c.AddHook(funcs{dial: func(next redis.DialHook) redis.DialHook {
		return func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr != "nowhere.invalid:1" {
				t.Errorf("dials %s", addr)
			}
			return next(ctx, network, s.addr)
		}
	}})
	if err := c.Ping(ctx).Err(); err != nil {
		t.Error(err)
	}
	own := errors.New("own")
	c = newClient(t, &redis.Options{Addr: s.addr, DialerRetries: 1})
	c.AddHook(funcs{dial: func(redis.DialHook) redis.DialHook {
		return func(context.Context, string, string) (net.Conn, error) { return nil, own }
	}})
	if err := c.Ping(ctx).Err(); !errors.Is(err, own) || redis.DeliveryOf(err) != redis.NotSent {
		t.Errorf("got %v", err)
	}
}

func TestAddHookWhileInUse(t *testing.T) {
	ctx := soon(t)
	c, _ := start(t, nil)
	var calls atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := c.Ping(ctx).Err(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var adders sync.WaitGroup
	for range 10 {
		adders.Go(func() {
			c.AddHook(funcs{process: func(next redis.ProcessHook) redis.ProcessHook {
				return func(ctx context.Context, cmd redis.Cmder) error {
					calls.Add(1)
					return next(ctx, cmd)
				}
			}})
		})
	}
	adders.Wait()
	close(stop)
	wg.Wait()
	calls.Store(0)
	_ = c.Ping(ctx).Err()
	if n := calls.Load(); n != 10 {
		t.Errorf("%d hooks are called, want 10", n)
	}
}

// limiter refuses a number of times and counts.
type limiter struct {
	mu      sync.Mutex // guards the fields below
	refuse  int
	allowed int
	results []error
}

var errLimited = errors.New("limited")

func (l *limiter) Allow() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse > 0 {
		l.refuse--
		return errLimited
	}
	l.allowed++
	return nil
}

func (l *limiter) ReportResult(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results = append(l.results, err)
}

func TestLimiter(t *testing.T) {
	ctx := soon(t)
	l := &limiter{}
	c, _ := start(t, &redis.Options{Limiter: l})
	cn := c.Conn()
	defer cn.Close()
	ping := func(p redis.Pipeliner) error { p.Do(ctx, "get", "none"); return nil }
	for _, use := range []struct {
		name string
		do   func() error
	}{
		{"command", func() error { return c.Get(ctx, "none").Err() }},
		{"pipeline", func() error { return second(c.Pipelined(ctx, ping)) }},
		{"transaction", func() error { return second(c.TxPipelined(ctx, ping)) }},
		{"conn", func() error { return cn.Get(ctx, "none").Err() }},
		{"pipeline of a conn", func() error { return second(cn.Pipelined(ctx, ping)) }},
	} {
		l.refuse, l.allowed, l.results = 1, 0, nil
		if err := use.do(); !errors.Is(err, errLimited) || l.allowed != 0 || len(l.results) != 0 {
			t.Errorf("%s, refused: got %v; %d allowed, %d results", use.name, err, l.allowed, len(l.results))
		}
		if err := use.do(); !errors.Is(err, redis.Nil) || l.allowed != 1 || len(l.results) != 1 {
			t.Errorf("%s, allowed: got %v; %d allowed, %d results", use.name, err, l.allowed, len(l.results))
		} else if !errors.Is(l.results[0], redis.Nil) {
			t.Errorf("%s: the result is %v", use.name, l.results[0])
		}
	}
	// A command that can't be encoded is nobody's business.
	l.allowed, l.results = 0, nil
	_ = c.Do(ctx, "set", "k", struct{}{}).Err()
	if l.allowed != len(l.results) {
		t.Errorf("%d allowed, %d results", l.allowed, len(l.results))
	}
}
