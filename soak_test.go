package redis_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintsim"
)

// soakTime is how long a soak takes: BATON_SOAK, such as 10m, or a few seconds.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	s := os.Getenv("BATON_SOAK")
	if s == "" {
		return 10 * time.Second
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("BATON_SOAK: %v", err)
	}
	return d
}

// soakSeed makes the choices of a soak repeatable: BATON_SEED, a number or "random"; 1
// where it is not set.
func soakSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(1)
	switch s := os.Getenv("BATON_SEED"); s {
	case "":
	case "random":
		seed = rand.Uint64()
	default:
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("BATON_SEED: %v", err)
		}
		seed = n
	}
	t.Logf("to repeat: BATON_SEED=%d", seed)
	return seed
}

// soakSim has the shortest windows that the wire can tell, in real time: clients act
// by the clock where no target is named. Without BATON_SOAK, which is for a machine with
// nothing else to do, windows and the client's timeout are four times as long.
func soakSim(t *testing.T) (sim *maintsim.Sim, readTimeout time.Duration) {
	cfg := maintsim.Config{
		Proxies: 3, Grace: time.Second, Lead: time.Second, Stall: 600 * time.Millisecond, Outage: 100 * time.Millisecond,
	}
	readTimeout = 300 * time.Millisecond
	if os.Getenv("BATON_SOAK") == "" {
		cfg.Grace, cfg.Stall, readTimeout = 4*cfg.Grace, 4*cfg.Stall, 4*readTimeout
	}
	return maintsim.Start(t, cfg), readTimeout
}

// logChaos shows what was done to the client.
func logChaos(t *testing.T, sim *maintsim.Sim) {
	if !t.Failed() {
		return
	}
	for _, e := range sim.Events() {
		t.Log(e.Time.Format("15:04:05.000"), e)
	}
}

// Announced maintenance of every kind, at random, is not noticed. One at a time: where
// a server stalls replies until it closes the connection, no client can get them.
func TestSoakAnnounced(t *testing.T) {
	t.Parallel()
	seed, d := soakSeed(t), soakTime(t)
	sim, readTimeout := soakSim(t)
	c := newClient(t, &redis.Options{Addr: sim.Name(), Resolver: sim, ReadTimeout: readTimeout, Logger: testLogger(t)})
	l := startLoad(t, c, 32)
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := sim.Chaos(ctx, seed, maintsim.ChaosAnnounced(), maintsim.ChaosOverlap(1)); err != nil {
		t.Error(err)
	}
	l.end()
	if got, want := counter(t, sim), l.acked.Load(); got != want {
		t.Errorf("counter is %d, acknowledged %d", got, want)
	}
	t.Logf("%d commands", l.ops.Load())
	logChaos(t, sim)
}

// Whatever happens, nothing is executed twice, every reply is its own command's, and
// registers are linearizable.
func TestSoakChaos(t *testing.T) {
	t.Parallel()
	seed, d := soakSeed(t), soakTime(t)
	sim, readTimeout := soakSim(t)
	opt := redis.Options{Addr: sim.Name(), Resolver: sim, ReadTimeout: readTimeout, PoolTimeout: 2 * time.Second, DialTimeout: time.Second}
	c := newClient(t, &opt)
	opt.MaxRetries = -1 // a SET sent twice is no single event
	h := &history{t: t, c: newClient(t, &opt), seed: seed, stop: make(chan struct{})}
	l := startLoad(t, c, 16)
	h.start(12)
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := sim.Chaos(ctx, seed); err != nil {
		t.Error(err)
	}
	close(l.stop)
	l.wg.Wait()
	close(h.stop)
	h.wg.Wait()
	h.check()

	if n := l.wrong.Load(); n > 0 {
		t.Errorf("%d wrong replies", n)
	}
	if acked, maybe, got := l.acked.Load(), l.maybe.Load(), counter(t, sim); got < acked || got > acked+maybe {
		t.Errorf("counter is %d, want between %d and %d", got, acked, acked+maybe)
	}
	if err := c.Ping(soon(t)).Err(); err != nil {
		t.Errorf("after it all: %v", err)
	}
	t.Logf("%d commands, %d failed, of them %d INCRs with unknown outcome; %d operations on registers, %d unknown",
		l.ops.Load(), l.failed.Load(), l.maybe.Load(), h.total.Load(), h.unknown.Load())
	logChaos(t, sim)
}

// history is what clients did to registers, recorded for a check.
type history struct {
	t    *testing.T
	c    *redis.Client
	seed uint64
	stop chan struct{}
	wg   sync.WaitGroup

	serial, total, unknown atomic.Int64

	mu  sync.Mutex // guards ops
	ops map[string][]porcupine.Operation
}

const (
	registers = 4
	// epoch is how long the same registers are used: a history without end takes
	// without end to be checked.
	epoch = 3 * time.Second
	// pace is the mean pause of a worker between operations.
	pace = 4 * time.Millisecond
)

type registerOp struct {
	write bool
	value int64
}

func (h *history) start(workers int) {
	h.ops = make(map[string][]porcupine.Operation)
	began := time.Now()
	for w := range workers {
		h.wg.Go(func() {
			rng := rand.New(rand.NewPCG(h.seed, uint64(w)))
			pause := time.NewTimer(0)
			for {
				select {
				case <-h.stop:
					return
				case <-pause.C:
				}
				key := fmt.Sprintf("register-%d-%d", time.Since(began)/epoch, rng.IntN(registers))
				h.one(w, key, rng.IntN(2) == 0, began)
				pause.Reset(time.Duration(rng.Int64N(int64(2 * pace))))
			}
		})
	}
}

// one does one operation and records it.
func (h *history) one(w int, key string, write bool, began time.Time) {
	op := porcupine.Operation{ClientId: w, Input: registerOp{write: write}, Call: int64(time.Since(began))}
	var err error
	if write {
		v := h.serial.Add(1)
		op.Input = registerOp{write: true, value: v}
		err = h.c.Set(context.Background(), key, v, 0).Err()
	} else {
		var v int64
		if v, err = h.c.Get(context.Background(), key).Int64(); errors.Is(err, redis.Nil) {
			v, err = 0, nil
		}
		op.Output = v
	}
	op.Return = int64(time.Since(began))
	h.total.Add(1)
	if err != nil {
		if !write || redis.DeliveryOf(err) != redis.MaybeSent {
			return // it has not happened, or is none of the register's business
		}
		h.unknown.Add(1)
		op.Return = math.MaxInt64 // it may happen at any time
	}
	h.mu.Lock()
	h.ops[key] = append(h.ops[key], op)
	h.mu.Unlock()
}

func (h *history) check() {
	model := porcupine.Model{
		Init: func() any { return int64(0) },
		Step: func(state, input, output any) (bool, any) {
			in := input.(registerOp)
			if in.write {
				return true, in.value
			}
			return output.(int64) == state.(int64), state
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %v", input, output) },
	}
	var slow int
	for key, ops := range h.ops {
		switch porcupine.CheckOperationsTimeout(model, ops, 10*time.Second) {
		case porcupine.Ok:
		case porcupine.Illegal:
			h.t.Errorf("%s: its %d operations are not linearizable", key, len(ops))
		case porcupine.Unknown:
			slow++
		}
	}
	if slow > len(h.ops)/20 {
		h.t.Errorf("%d of %d registers could not be checked in time", slow, len(h.ops))
	}
}

// The check can fail: a read of a value that was overwritten before is found.
func TestHistoryCheckFindsAStaleRead(t *testing.T) {
	inner := &testing.T{}
	h := &history{t: inner, ops: map[string][]porcupine.Operation{"r": {
		{ClientId: 0, Input: registerOp{write: true, value: 1}, Call: 1, Return: 2},
		{ClientId: 0, Input: registerOp{write: true, value: 2}, Call: 3, Return: 4},
		{ClientId: 1, Input: registerOp{}, Output: int64(1), Call: 5, Return: 6},
	}}}
	h.check()
	if !inner.Failed() {
		t.Error("a stale read was not found")
	}
}

// A thousand handoffs in a row leave nothing behind.
func TestManyHandoffsLeaveNothingBehind(t *testing.T) {
	rounds, cfg, how := 30, maintsim.Config{Proxies: 32, Grace: 20 * time.Second}, []maintsim.Option{maintsim.WithEarlyLeave()}
	if os.Getenv("BATON_SOAK") != "" {
		rounds, cfg, how = 1000, maintsim.Config{Proxies: 3, Grace: 3 * time.Second, TimeUnit: 100 * time.Millisecond}, nil
	}
	sim := maintsim.Start(t, cfg)
	c := newClient(t, &redis.Options{Addr: sim.Addr(), ReadTimeout: 10 * time.Second})
	l := startLoad(t, c, 64)
	type state struct {
		goroutines int
		heap       uint64
	}
	look := func() state {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return state{goroutines: runtime.NumGoroutine(), heap: m.HeapAlloc}
	}
	var first state
	await(t, "commands run", func() bool { return l.ops.Load() > 0 })
	for i := range rounds {
		if err := sim.Rebind(t.Context(), how...); err != nil {
			t.Fatal(err)
		}
		if i == rounds/10 {
			first = look()
		}
	}
	last := look()
	l.end()
	if got, want := counter(t, sim), l.acked.Load(); got != want {
		t.Errorf("counter is %d, acknowledged %d", got, want)
	}
	t.Logf("%d handoffs, %d commands; after a tenth of them %+v, at the end %+v", rounds, l.ops.Load(), first, last)
	if last.goroutines > first.goroutines+10 {
		t.Errorf("%d goroutines became %d", first.goroutines, last.goroutines)
	}
	if last.heap > first.heap+4<<20 {
		t.Errorf("%d bytes became %d", first.heap, last.heap)
	}
	if s := c.PoolStats(); s.TotalConns != 1 {
		t.Errorf("%d connections are open, want 1", s.TotalConns)
	}
	m := c.GetMaintNotificationsManager()
	if n := m.GetActiveOperationCount(); n != 0 {
		t.Errorf("%d operations are still active", n)
	}
}
