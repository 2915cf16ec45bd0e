package load

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/cmd/baton/internal/account"
)

// Some workers write to and read from the same keys, and every command's time is
// recorded with its reply. Afterwards the history must be explained by an order of
// commands that agrees with the times: each took effect once, between its call and
// its reply, and one without a reply at some time after its call or never.

// registerTime is how long one key is used before the next: short histories are
// quickly checked.
const registerTime = 100 * time.Millisecond

const (
	maxHistory   = 200_000 // operations of one worker
	checkTime    = 5 * time.Second
	historyShare = 4 // one of so many plain workers
	maxHistorian = 3
)

type registerKind uint8

const (
	registerGet registerKind = iota
	registerSet
	registerSwap // GETSET
)

// register is an operation on a key of which others write to, too.
type register struct {
	key       int64
	kind      registerKind
	call, end time.Duration
	in, out   int64 // 0 is no value
	unknown   bool  // there was no reply
}

// historian reads and writes keys it shares with others, and records all of it.
func (w *worker) historian(ctx context.Context) {
	for serial := int64(1); w.running(ctx) && len(w.history) < maxHistory; serial++ {
		b := w.begin(1)
		op := register{key: int64(b.at / registerTime), call: b.at, in: int64(w.id+1)<<32 | serial}
		key := w.load.registerKey(op.key)
		value := key + "|" + strconv.FormatInt(op.in, 10)
		var reply string
		var err error
		switch n := w.rng.IntN(10); {
		case n < 5:
			op.kind, op.in = registerGet, 0
			reply, err = w.client().Get(ctx, key).Result()
		case n < 8 && !w.load.cfg.Resends:
			op.kind = registerSet
			err = w.client().Set(ctx, key, value, 0).Err()
		default:
			op.kind = registerSwap
			reply, err = w.client().GetSet(ctx, key, value).Result()
		}
		o := w.end(ctx, b, err)
		op.end = w.rec.clock.Now()
		op.unknown = o == Unknown
		if o == Failed || op.kind == registerGet && op.unknown {
			continue // it had no effect
		}
		if reply != "" {
			var ok bool
			if op.out, ok = itemOf(key, reply); !ok {
				w.rec.wrong++
			}
		} else if err == nil && op.kind != registerSet || errors.Is(err, redis.Nil) && op.kind == registerSet {
			w.rec.wrong++
		}
		w.history = append(w.history, op)
	}
	w.plain(ctx)
}

func (l *Load) registerKey(n int64) string { return l.prefix + "register:" + strconv.FormatInt(n, 10) }

// registers is the model: the state is the value.
var registers = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, output any) (bool, any) {
		op := input.(register)
		switch op.kind {
		case registerGet:
			return state == output, state
		case registerSwap:
			return op.unknown || state == output, op.in
		case registerSet:
		}
		return true, op.in
	},
}

// linearizable checks the history of one key. Every operation without a reply may
// have taken effect at any time after its call; one that never did is one that did
// after everything else.
func linearizable(ops []register, within time.Duration) porcupine.CheckResult {
	history := make([]porcupine.Operation, len(ops))
	for i, op := range ops {
		end := int64(op.end)
		if op.unknown {
			end = math.MaxInt64
		}
		history[i] = porcupine.Operation{Input: op, Output: op.out, Call: int64(op.call), Return: end}
	}
	return porcupine.CheckOperationsTimeout(registers, history, within)
}

// settleHistory checks what the historians recorded, key by key.
func (l *Load) settleHistory(r *account.Result) {
	byKey := make(map[int64][]register)
	for _, w := range l.workers {
		r.History.Operations += int64(len(w.history))
		for _, op := range w.history {
			byKey[op.key] = append(byKey[op.key], op)
		}
	}
	deadline := time.Now().Add(checkTime)
	for key, ops := range byKey {
		l.registers = append(l.registers, l.registerKey(key))
		r.History.Keys++
		slices.SortFunc(ops, func(a, b register) int { return cmp.Compare(a.call, b.call) })
		left := time.Until(deadline)
		if left <= 0 {
			r.History.Unchecked++
			continue
		}
		switch linearizable(ops, left) {
		case porcupine.Ok:
		case porcupine.Illegal:
			r.History.Violations++
		case porcupine.Unknown:
			r.History.Unchecked++
		}
	}
}
