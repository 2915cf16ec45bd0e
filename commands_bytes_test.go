package redis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintsim"
)

func TestByteForm(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{})
	plain := newClient(t, &redis.Options{Addr: sim.Addr()})
	hooked := newClient(t, &redis.Options{Addr: sim.Addr()})
	seen := &countingHook{}
	hooked.AddHook(seen)
	for name, c := range map[string]*redis.Client{"plain": plain, "with a hook": hooked} {
		t.Run(name, func(t *testing.T) {
			ctx := soon(t)
			c.FlushAll(ctx)
			for _, v := range []string{"", "short", strings.Repeat("long", 1<<16), "short again"} {
				if err := c.SetBytes(ctx, "k", []byte(v), 0); err != nil {
					t.Fatal(err)
				}
				got, err := c.GetBytes(ctx, []byte("before:"), "k")
				if err != nil || string(got) != "before:"+v {
					t.Errorf("got %.20q (%d bytes), %v, want it to be appended: %.20q", got, len(got), err, v)
				}
			}
			dst := []byte("kept")
			if got, err := c.GetBytes(ctx, dst, "none"); !errors.Is(err, redis.Nil) || string(got) != "kept" {
				t.Errorf("a key that is not there: got %q, %v", got, err)
			}
			c.LPush(ctx, "list", 1)
			if got, err := c.GetBytes(ctx, dst, "list"); err == nil || !strings.HasPrefix(err.Error(), "WRONGTYPE") || string(got) != "kept" {
				t.Errorf("a key of another type: got %q, %v", got, err)
			}
			if err := c.SetBytes(ctx, "brief", []byte("v"), 1500*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if d := c.PTTL(ctx, "brief").Val(); d <= time.Second || d > 1500*time.Millisecond {
				t.Errorf("the time to live is %v, want 1.5 s", d)
			}
			if err := c.SetBytes(ctx, "brief", []byte("w"), redis.KeepTTL); err != nil || c.PTTL(ctx, "brief").Val() <= 0 {
				t.Errorf("KeepTTL: %v", err)
			}
		})
	}
	if seen.n.Load() == 0 {
		t.Error("hooks don't see the byte form")
	}
	_ = plain.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"get, closed": second(plain.GetBytes(t.Context(), nil, "k")), "set, closed": plain.SetBytes(t.Context(), "k", nil, 0),
		"get, cancelled": second(newClient(t, &redis.Options{Addr: sim.Addr()}).GetBytes(ended, nil, "k")),
	} {
		if err == nil || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("%s: got %v, want an error that says that nothing was sent", name, err)
		}
	}
}

// The command objects are used again: none may see another's.
func TestByteFormSideBySide(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{})
	c := newClient(t, &redis.Options{Addr: sim.Addr()})
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			key := fmt.Sprint("key", w)
			var buf []byte
			for i := range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%7*i%5)*100*time.Microsecond)
				value := bytes.Repeat(fmt.Appendf(nil, "%s/%d,", key, i), 1+i%50)
				if err := c.SetBytes(t.Context(), key, value, 0); err != nil {
					t.Error(err)
				}
				var err error
				if buf, err = c.GetBytes(ctx, buf[:0], key); err == nil && !bytes.Equal(buf, value) {
					t.Errorf("got %.40q, want %.40q", buf, value)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

// countingHook counts commands.
type countingHook struct{ n atomic.Int64 }

func (*countingHook) DialHook(redis.DialHook) redis.DialHook { return nil }

func (h *countingHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.n.Add(1)
		return next(ctx, cmd)
	}
}

func (*countingHook) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return nil
}
