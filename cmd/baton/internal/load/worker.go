package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis"
)

// ownership is which keys of its own a worker has.
type ownership uint8

const (
	ownsNone   ownership = iota
	ownsFew              // keysPerWorker
	ownsAny              // its part of those that cover a cluster's slots
	ownsTagged           // one with the tag of each pair of counters
)

// A worker is one closed loop with a book of its own.
type worker struct {
	load *Load
	id   int
	rec  *Recorder
	rng  *rand.Rand
	own  int // index of the counter only this worker increments
	owns ownership

	keys     []ownKeyState
	counters []counterState // by index of Load.counters
	history  []register
}

// ownKeyState is a key only one worker writes to, and what its value can be: the
// last acknowledged serial number, or a later one that was sent.
type ownKeyState struct {
	key         string
	acked, sent int64
}

// counterState is what one worker knows of a counter.
type counterState struct {
	acknowledged, unknown int64
	seen                  int64 // the highest value in a reply
	since                 int64 // increments without a reply since
}

const failurePause = 5 * time.Millisecond

// valuePadding makes values as long as small records are.
var valuePadding = strings.Repeat("x", 40)

// prepare makes the state for as many counters as the load has.
func (w *worker) prepare() {
	w.counters = make([]counterState, len(w.load.counters))
	for i, c := range w.load.counters {
		w.counters[i].seen = c.base
	}
}

func (w *worker) addKey(key string) { w.keys = append(w.keys, ownKeyState{key: key}) }

func (w *worker) client() Client { return w.load.cfg.Client }

// running reports whether the worker is to send another command.
func (w *worker) running(ctx context.Context) bool {
	return !w.load.cfg.Clock.Stopped() && ctx.Err() == nil
}

// begin starts the clock for a round trip with n commands.
func (w *worker) begin(n int64) stamp {
	w.rec.live.sent.Add(n)
	return w.rec.begin()
}

// end books a round trip of one command.
func (w *worker) end(ctx context.Context, b stamp, err error) Outcome {
	o := Classify(err)
	w.rec.count(1, o, b.phase == After)
	w.rec.end(b, 1, o == Acknowledged)
	if o != Acknowledged {
		note(w.rec.errors, err)
		pause(ctx, failurePause)
	}
	return o
}

// plain sends single commands.
func (w *worker) plain(ctx context.Context) {
	for w.running(ctx) {
		k := &w.keys[w.rng.IntN(len(w.keys))]
		switch n := w.rng.IntN(100); {
		case n < 45:
			b := w.begin(1)
			cmd := w.client().Get(ctx, k.key)
			if w.end(ctx, b, cmd.Err()) == Acknowledged {
				w.checkGet(k, cmd, k.acked)
			} else {
				w.rec.idempotent++
			}
		case n < 80:
			v := k.next()
			b := w.begin(1)
			cmd := w.client().Set(ctx, k.key, v, 0)
			if w.end(ctx, b, cmd.Err()) == Acknowledged {
				w.checkSet(k, cmd)
			} else {
				w.rec.idempotent++
			}
		case n < 90:
			w.incr(ctx, w.own)
		default:
			w.incr(ctx, w.rng.IntN(w.load.layout.shared))
		}
	}
}

func (w *worker) incr(ctx context.Context, counter int) {
	b := w.begin(1)
	cmd := w.client().Incr(ctx, w.load.counters[counter].key)
	w.checkIncr(counter, cmd, w.end(ctx, b, cmd.Err()))
}

// next is the value to set: it tells its key and its serial number.
func (k *ownKeyState) next() string {
	k.sent++
	return k.key + "|" + strconv.FormatInt(k.sent, 10) + "|" + valuePadding
}

// checkSet checks the reply of a SET that was acknowledged.
func (w *worker) checkSet(k *ownKeyState, cmd *redis.StatusCmd) {
	if cmd.Val() != "OK" {
		w.rec.wrong++
		return
	}
	k.acked = k.sent
}

// checkGet checks that the reply of a GET is its key's, and recent enough: not older
// than before, what was acknowledged when its pipeline began. An older one than of
// the SETs in front of it in the pipeline is counted apart.
func (w *worker) checkGet(k *ownKeyState, cmd *redis.StringCmd, before int64) {
	if errors.Is(cmd.Err(), redis.Nil) {
		switch {
		case before > 0:
			w.rec.wrong++
		case k.acked > 0:
			w.rec.overtaken++
		}
		return
	}
	n, ok := k.serialOf(cmd.Val())
	switch {
	case !ok:
		w.rec.wrong++
	case n < before:
		w.rec.stale++
	case n < k.acked:
		w.rec.overtaken++
	default:
		k.acked = n
	}
}

// serialOf is the serial number in a value, if it is one that was set.
func (k *ownKeyState) serialOf(value string) (n int64, ok bool) {
	rest, ok := strings.CutPrefix(value, k.key)
	if !ok || !strings.HasPrefix(rest, "|") {
		return 0, false
	}
	serial, rest, ok := strings.Cut(rest[1:], "|")
	n, err := strconv.ParseInt(serial, 10, 64)
	return n, ok && err == nil && rest == valuePadding && n <= k.sent
}

// checkIncr books an INCR and checks its reply: the counter's own, and higher than
// any this worker has seen. Where nobody else increments it, exactly by one.
func (w *worker) checkIncr(counter int, cmd *redis.IntCmd, o Outcome) {
	s := &w.counters[counter]
	switch o {
	case Failed:
		return
	case Unknown:
		s.unknown++
		s.since++
		return
	case Acknowledged:
	}
	s.acknowledged++
	v := cmd.Val()
	switch base := w.load.counters[counter].base; {
	case v <= base || v >= base+counterStep || v <= s.seen:
		w.rec.wrong++
		return
	case counter == w.own && w.own != 0 && v > s.seen+1+s.since:
		w.rec.wrong++
	}
	s.seen, s.since = v, 0
}

// pipelineLength is the number of commands in a pipeline.
const pipelineLength = 10

// pipeline sends pipelines of ten.
func (w *worker) pipeline(ctx context.Context) {
	for w.running(ctx) {
		first := w.rng.IntN(len(w.keys))
		a, b, c := &w.keys[first], &w.keys[(first+1)%len(w.keys)], &w.keys[(first+2)%len(w.keys)]
		one, two := w.rng.IntN(w.load.layout.shared), w.rng.IntN(w.load.layout.shared)
		var checks [pipelineLength]func(Outcome)
		p := w.client().Pipeline()
		n := 0
		get := func(k *ownKeyState) {
			cmd, before := p.Get(ctx, k.key), k.acked
			checks[n] = func(o Outcome) {
				if o == Acknowledged {
					w.checkGet(k, cmd, before)
				}
			}
			n++
		}
		set := func(k *ownKeyState) {
			cmd := p.Set(ctx, k.key, k.next(), 0)
			checks[n] = func(o Outcome) {
				if o == Acknowledged {
					w.checkSet(k, cmd)
				}
			}
			n++
		}
		incr := func(i int) {
			cmd := p.Incr(ctx, w.load.counters[i].key)
			checks[n] = func(o Outcome) { w.checkIncr(i, cmd, o) }
			n++
		}
		set(a)
		get(a)
		incr(w.own)
		set(b)
		get(b)
		incr(one)
		get(c)
		incr(w.own)
		get(a)
		incr(two)
		w.exec(ctx, p.Exec, checks[:])
	}
}

// exec sends a pipeline and books each of its commands.
func (w *worker) exec(ctx context.Context, send func(context.Context) ([]redis.Cmder, error), checks []func(Outcome)) {
	n := len(checks)
	b := w.begin(int64(n))
	cmds, err := send(ctx)
	bad := 0
	for i, check := range checks {
		e := err
		if i < len(cmds) {
			e = cmds[i].Err()
		}
		o := Classify(e)
		w.rec.count(1, o, b.phase == After)
		if o != Acknowledged {
			bad++
			note(w.rec.errors, e)
		}
		check(o)
	}
	w.rec.end(b, n-bad, bad < n)
	if bad > 0 {
		w.rec.slotCount.failed += int64(bad)
		pause(ctx, failurePause)
	}
}

// transact sends MULTI/EXEC units that increment two counters together.
func (w *worker) transact(ctx context.Context) {
	for w.running(ctx) {
		pair := w.rng.IntN(w.load.layout.pairs)
		left := w.load.layout.shared + 2*pair
		right := w.load.counters[left].twin
		k := &w.keys[pair]
		var (
			l, r *redis.IntCmd
			set  *redis.StatusCmd
			get  *redis.StringCmd
		)
		fill := func(p redis.Pipeliner) error {
			l = p.Incr(ctx, w.load.counters[left].key)
			set = p.Set(ctx, k.key, k.next(), 0)
			get = p.Get(ctx, k.key)
			r = p.Incr(ctx, w.load.counters[right].key)
			return nil
		}
		send := func(ctx context.Context) ([]redis.Cmder, error) { return w.client().TxPipelined(ctx, fill) }
		w.exec(ctx, send, []func(Outcome){
			func(o Outcome) { w.checkIncr(left, l, o) },
			func(o Outcome) {
				if o == Acknowledged {
					w.checkSet(k, set)
				}
			},
			func(o Outcome) {
				if o == Acknowledged {
					w.checkGet(k, get, k.acked)
				}
			},
			func(o Outcome) {
				w.checkIncr(right, r, o)
				lv, rv := l.Val()-w.load.counters[left].base, r.Val()-w.load.counters[right].base
				if o == Acknowledged && l.Err() == nil && lv != rv {
					w.rec.wrong++
				}
			},
		})
	}
}
