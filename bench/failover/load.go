package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	redis "github.com/baton-go/redis"
	goredis "github.com/redis/go-redis/v9"
)

// A subject is one of the clients that are compared.
type subject struct {
	name  string
	get   func(ctx context.Context, key string) error
	incr  func(ctx context.Context, key string) (int64, error)
	close func() error
}

func newBaton(sentinels []string) *subject {
	c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: masterName, SentinelAddrs: sentinels})
	return &subject{
		name: "baton",
		get: func(ctx context.Context, key string) error {
			if err := c.Get(ctx, key).Err(); !errors.Is(err, redis.Nil) {
				return err
			}
			return nil
		},
		incr:  func(ctx context.Context, key string) (int64, error) { return c.Incr(ctx, key).Result() },
		close: c.Close,
	}
}

func newGoRedis(sentinels []string) *subject {
	c := goredis.NewFailoverClient(&goredis.FailoverOptions{MasterName: masterName, SentinelAddrs: sentinels})
	return &subject{
		name: "goredis",
		get: func(ctx context.Context, key string) error {
			if err := c.Get(ctx, key).Err(); !errors.Is(err, goredis.Nil) {
				return err
			}
			return nil
		},
		incr:  func(ctx context.Context, key string) (int64, error) { return c.Incr(ctx, key).Result() },
		close: c.Close,
	}
}

// A tally is what one worker has counted.
type tally struct {
	commands, failed, readOnly, maybe int64
	acked                             int64 // INCRs
	incrFailed                        int64 // INCRs whose effect nobody was told
	errs                              map[string]int64
}

// A worker is one closed loop.
type worker struct {
	s   *subject
	key string
	tally
}

func (w *worker) run(ctx context.Context, stop <-chan struct{}, done func(time.Time)) {
	w.errs = make(map[string]int64)
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		var err error
		if n%2 == 0 {
			_, err = w.s.incr(ctx, w.key)
		} else {
			err = w.s.get(ctx, w.key)
		}
		w.commands++
		if err == nil {
			if n%2 == 0 {
				w.acked++
			}
			done(time.Now())
			continue
		}
		w.note(err, n%2 == 0)
	}
}

// note counts an error.
func (w *worker) note(err error, isIncr bool) {
	w.failed++
	w.errs[short(err)]++
	if strings.Contains(err.Error(), "READONLY") {
		w.readOnly++
		return // it was not executed
	}
	e, isTyped := errors.AsType[*redis.CommandError](err)
	if isTyped && e.Delivery == redis.MaybeSent {
		w.maybe++
	}
	if isIncr && (!isTyped || e.Delivery == redis.MaybeSent) {
		w.incrFailed++
	}
}

// short is an error without what differs between connections.
func short(err error) string {
	text := err.Error()
	if i := strings.Index(text, "->"); i >= 0 {
		if j := strings.Index(text[i:], ": "); j >= 0 {
			text = text[i+j+2:]
		}
	}
	return text
}

// gaps is the longest time without a completed command of one client.
type gaps struct {
	mu      sync.Mutex // guards the fields below
	last    time.Time
	longest time.Duration
}

func (g *gaps) done(at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.last.IsZero() {
		g.longest = max(g.longest, at.Sub(g.last))
	}
	if at.After(g.last) {
		g.last = at
	}
}

// meet lets all clients work while there is a failover, and counts.
func meet(ctx context.Context, o options, w *watched, subjects []*subject) (round []Counts, err error) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	run := fmt.Sprintf("failover:%d", time.Now().UnixNano())
	workers := make([][]*worker, len(subjects))
	seen := make([]gaps, len(subjects))
	for i, s := range subjects {
		for n := range o.workers {
			wk := &worker{s: s, key: fmt.Sprintf("%s:%s:%d", run, s.name, n)}
			workers[i] = append(workers[i], wk)
			all.Go(func() { wk.run(ctx, stop, seen[i].done) })
		}
	}
	err = pause(ctx, o.around)
	if err == nil {
		err = w.failover(ctx)
	}
	if err == nil {
		err = pause(ctx, o.around)
	}
	close(stop)
	all.Wait()
	if err != nil {
		return nil, err
	}
	if err := w.settled(ctx); err != nil {
		return nil, err
	}
	for i, s := range subjects {
		c, err := s.count(ctx, w, workers[i])
		if err != nil {
			return nil, err
		}
		c.GapMS = float64(seen[i].longest) / float64(time.Millisecond)
		round = append(round, c)
	}
	return round, nil
}

// count adds up what a client's workers have counted, and compares it with the master.
func (s *subject) count(ctx context.Context, w *watched, workers []*worker) (c Counts, err error) {
	c.Client, c.Errors = s.name, make(map[string]int64)
	addr, err := w.master(ctx)
	if err != nil {
		return c, err
	}
	master := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { err = errors.Join(err, master.Close()) }()
	for _, wk := range workers {
		value, err := master.Get(ctx, wk.key).Int64()
		if err != nil && !errors.Is(err, redis.Nil) {
			return c, err
		}
		c.Commands += wk.commands
		c.Failed += wk.failed
		c.ReadOnly += wk.readOnly
		c.Maybe += wk.maybe
		c.Acked += wk.acked
		c.Value += value
		c.Twice += max(value-wk.acked-wk.incrFailed, 0)
		c.Lost += max(wk.acked-value, 0)
		for text, n := range wk.errs {
			c.Errors[text] += n
		}
	}
	return c, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
