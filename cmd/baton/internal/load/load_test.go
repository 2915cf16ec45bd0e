package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/baton-go/redis"
)

func TestSplitGivesEveryKindItsShare(t *testing.T) {
	if got, want := split(64), [kinds]int{36, 6, 4, 4, 4, 4, 3, 3}; got != want {
		t.Errorf("64 workers: %v, want %v", got, want)
	}
	if got, want := split(MinWorkers), [kinds]int{1, 1, 1, 1, 1, 1, 1, 1}; got != want {
		t.Errorf("%d workers: %v, want %v", MinWorkers, got, want)
	}
	for n := MinWorkers; n < 500; n++ {
		of := split(n)
		sum := 0
		for _, k := range of {
			sum += k
			if k < 1 {
				t.Fatalf("%d workers: %v leaves a kind out", n, of)
			}
		}
		if sum != n || of[producer] != of[consumer] || of[publisher] != of[subscriber] {
			t.Fatalf("%d workers: %v", n, of)
		}
	}
}

func TestClassify(t *testing.T) {
	failure := func(d redis.Delivery) error {
		return fmt.Errorf("wrapped: %w", &redis.CommandError{Command: "incr", Delivery: d, Err: io.EOF})
	}
	tests := []struct {
		name string
		err  error
		want Outcome
	}{
		{"no error", nil, Acknowledged},
		{"null reply", redis.Nil, Acknowledged},
		{"wrapped null reply", fmt.Errorf("get: %w", redis.Nil), Acknowledged},
		{"never sent", failure(redis.NotSent), Failed},
		{"sent and not answered", failure(redis.MaybeSent), Unknown},
		{"refused", failure(redis.Rejected), Failed},
		{"conflict", redis.TxFailedErr, Failed},
		{"any other", errors.New("odd"), Failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Classify(tt.err); got != tt.want {
				t.Errorf("Classify(%v) = %v, want %v", tt.err, got, tt.want)
			}
		})
	}
}

func TestMessageLeavesOutWhatVaries(t *testing.T) {
	tests := map[string]string{
		"read tcp 127.0.0.1:40312->127.0.0.1:17559: i/o timeout": "read tcp 127.0.0.1:17559: i/o timeout",
		"read tcp [::1]:40312->[::1]:17559: EOF":                 "read tcp [::1]:17559: EOF",
		"no bytes for 1.002s (10 attempts)":                      "no bytes for 1s (10 attempts)",
		"redis: get: MOVED 1730 127.0.0.1:13404":                 "redis: get: MOVED <slot> <address>",
		"ASK 5 [::1]:7000":                                       "ASK <slot> <address>",
		"safe to repeat; 9 attempts":                             "safe to repeat; several attempts",
		"WRONGTYPE for baton-drill:x1:key:3:1 there":             "WRONGTYPE for <key> there",
	}
	for in, want := range tests {
		if got := Message(errors.New(in)); got != want {
			t.Errorf("Message(%q) = %q, want %q", in, got, want)
		}
	}
}

// testWorker is a worker whose load has no client.
func testWorker(t *testing.T) *worker {
	t.Helper()
	l := &Load{cfg: Config{Clock: NewClock(), Slots: NewSlots(time.Second)}, prefix: "p:"}
	l.addCounter("shared", -1)
	own := l.addCounter("own", -1)
	w := l.addWorker(true)
	w.own, w.owns = own, ownsAny
	l.dealKeys()
	w.prepare()
	return w
}

func stringReply(v string) *redis.StringCmd {
	cmd := redis.NewStringCmd(context.Background(), "get", "k")
	cmd.SetVal(v)
	return cmd
}

func intReply(v int64) *redis.IntCmd {
	cmd := redis.NewIntCmd(context.Background(), "incr", "k")
	cmd.SetVal(v)
	return cmd
}

// Every reply is checked to be its own command's.
func TestWrongRepliesToGetAreFound(t *testing.T) {
	value := func(key string, n int) string { return fmt.Sprintf("%s|%d|%s", key, n, valuePadding) }
	tests := []struct {
		name         string
		reply        func(own, other string) string
		wrong, stale int64
	}{
		{"own value", func(own, _ string) string { return value(own, 5) }, 0, 0},
		{"later value that was sent", func(own, _ string) string { return value(own, 6) }, 0, 0},
		{"older value", func(own, _ string) string { return value(own, 4) }, 0, 1},
		{"value never sent", func(own, _ string) string { return value(own, 7) }, 1, 0},
		{"another key's value", func(_, other string) string { return value(other, 5) }, 1, 0},
		{"another command's reply", func(_, _ string) string { return "OK" }, 1, 0},
		{"half a value", func(own, _ string) string { return value(own, 5)[:len(own)+3] }, 1, 0},
		{"longer key", func(own, _ string) string { return value(own+"0", 5) }, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := testWorker(t)
			k := &w.keys[0]
			k.acked, k.sent = 5, 6
			w.checkGet(k, stringReply(tt.reply(k.key, w.keys[1].key)), k.acked)
			if w.rec.wrong != tt.wrong || w.rec.stale != tt.stale {
				t.Errorf("wrong %d, stale %d, want %d, %d", w.rec.wrong, w.rec.stale, tt.wrong, tt.stale)
			}
		})
	}
	t.Run("null for a key that was set", func(t *testing.T) {
		w := testWorker(t)
		cmd := stringReply("")
		cmd.SetErr(redis.Nil)
		w.checkGet(&w.keys[0], cmd, w.keys[0].acked)
		if w.rec.wrong != 0 {
			t.Error("null before the first SET is wrong")
		}
		w.keys[0].acked, w.keys[0].sent = 1, 1
		w.checkGet(&w.keys[0], cmd, w.keys[0].acked)
		if w.rec.wrong != 1 {
			t.Error("null after a SET is right")
		}
	})
}

func TestWrongRepliesToIncrAreFound(t *testing.T) {
	const shared, own = 0, 1
	tests := []struct {
		name    string
		counter int
		unknown int // INCRs without an answer before
		reply   int64
		wrong   int64
	}{
		{"own, the next", own, 0, 2*counterStep + 1, 0},
		{"own, twice", own, 0, 2*counterStep + 2, 1},
		{"own, one unknown was executed", own, 1, 2*counterStep + 2, 0},
		{"own, one unknown was not", own, 1, 2*counterStep + 1, 0},
		{"own, more than was sent", own, 1, 2*counterStep + 3, 1},
		{"own, not incremented", own, 0, 2 * counterStep, 1},
		{"shared, others were there", shared, 0, counterStep + 100, 0},
		{"shared, another counter's", shared, 0, 2*counterStep + 1, 1},
		{"shared, a plain number", shared, 0, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := testWorker(t)
			for range tt.unknown {
				w.checkIncr(tt.counter, nil, Unknown)
			}
			w.checkIncr(tt.counter, intReply(tt.reply), Acknowledged)
			if w.rec.wrong != tt.wrong {
				t.Errorf("wrong = %d, want %d", w.rec.wrong, tt.wrong)
			}
			s := w.counters[tt.counter]
			if s.acknowledged != 1 || s.unknown != int64(tt.unknown) {
				t.Errorf("acknowledged %d, unknown %d", s.acknowledged, s.unknown)
			}
		})
	}
	t.Run("going back", func(t *testing.T) {
		w := testWorker(t)
		w.checkIncr(shared, intReply(counterStep+5), Acknowledged)
		w.checkIncr(shared, intReply(counterStep+5), Acknowledged)
		if w.rec.wrong != 1 {
			t.Errorf("wrong = %d, want 1", w.rec.wrong)
		}
	})
}

func TestMessagesAreBooked(t *testing.T) {
	w := testWorker(t)
	ch := newChannel("c", byName)
	for i := range int64(7) {
		ch.published.add(i)
	}
	for _, payload := range []string{"c|0", "c|1", "c|3", "c|2", "c|3", "d|4", "4"} {
		w.book(ch, &redis.Message{Channel: "c", Payload: payload})
	}
	w.book(ch, &redis.Message{Channel: "d", Payload: "c|5"})
	w.book(ch, &redis.Message{Channel: "c", Pattern: "c*", Payload: "c|6"})
	if ch.twice != 1 || ch.reordered != 1 || w.rec.wrong != 4 {
		t.Errorf("twice %d, reordered %d, wrong %d, want 1, 1, 4", ch.twice, ch.reordered, w.rec.wrong)
	}
	if n := ch.received.len(); n != 4 {
		t.Errorf("received %d, want 4", n)
	}
	if n := ch.published.without(&ch.received); n != 3 {
		t.Errorf("lost %d, want 3", n)
	}
}

// A shard channel is deaf if its last messages have not come, whatever their replies said.
func TestDeafChannelsAreFound(t *testing.T) {
	w := testWorker(t)
	ch := newChannel("c", sharded)
	if ch.isDeaf() {
		t.Error("deaf without a message")
	}
	ch.silence.add(7)
	if !ch.isDeaf() {
		t.Error("not deaf although nobody listened")
	}
	ch.silence.add(8)
	w.book(ch, &redis.Message{Channel: "c", Payload: "c|7"})
	if ch.isDeaf() {
		t.Error("deaf although a message has come")
	}
}

func TestItemsAreBooked(t *testing.T) {
	w := testWorker(t)
	l := newList("l", false)
	w.take(l, []string{"l", "l|0"})
	w.take(l, []string{"l", "l|0"})
	w.take(l, []string{"l", "m|1"})
	w.take(l, []string{"m", "l|1"})
	w.take(l, []string{"l"})
	w.take(l, []string{"l", "l|-1"})
	if l.served.len() != 1 || l.twice != 1 || w.rec.wrong != 4 {
		t.Errorf("served %d, twice %d, wrong %d, want 1, 1, 4", l.served.len(), l.twice, w.rec.wrong)
	}
}

func TestHistoriesThatNoOrderExplains(t *testing.T) {
	at := func(call, end time.Duration, op register) register {
		op.call, op.end = call, end
		return op
	}
	set := func(v int64) register { return register{kind: registerSet, in: v} }
	get := func(v int64) register { return register{kind: registerGet, out: v} }
	swap := func(in, out int64) register { return register{kind: registerSwap, in: in, out: out} }
	lost := func(op register) register { op.unknown = true; return op }
	tests := []struct {
		name string
		ops  []register
		want porcupine.CheckResult
	}{
		{"one after the other", []register{at(1, 2, set(7)), at(3, 4, get(7)), at(5, 6, swap(8, 7)), at(7, 8, get(8))}, porcupine.Ok},
		{"write lost", []register{at(1, 2, set(7)), at(3, 4, get(0))}, porcupine.Illegal},
		{"write took effect twice", []register{at(1, 2, set(7)), at(3, 4, set(8)), at(5, 6, get(8)), at(7, 8, get(7))}, porcupine.Illegal},
		{"at the same time", []register{at(1, 9, set(7)), at(2, 3, get(0)), at(4, 5, get(7))}, porcupine.Ok},
		{"read went back", []register{at(1, 9, set(7)), at(2, 3, get(7)), at(4, 5, get(0))}, porcupine.Illegal},
		{"unanswered and executed", []register{at(1, 2, lost(set(7))), at(3, 4, get(7))}, porcupine.Ok},
		{"unanswered and not executed", []register{at(1, 2, lost(set(7))), at(3, 4, get(0))}, porcupine.Ok},
		{"unanswered and executed late", []register{at(1, 2, lost(swap(7, 0))), at(3, 4, get(0)), at(5, 6, get(7))}, porcupine.Ok},
		{"unanswered and executed twice", []register{at(1, 2, lost(swap(7, 0))), at(3, 4, get(7)), at(5, 6, set(8)), at(7, 8, get(7))}, porcupine.Illegal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := linearizable(tt.ops, time.Minute); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestNumbersAreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.SliceOf(rapid.Int64Range(0, 3000))
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		var sa, sb numbers
		ma, mb := map[int64]bool{}, map[int64]bool{}
		for _, v := range a {
			if sa.add(v) == ma[v] {
				t.Fatalf("add(%d) disagrees", v)
			}
			ma[v] = true
		}
		for _, v := range b {
			sb.add(v)
			mb[v] = true
		}
		var without int64
		for v := range ma {
			if !mb[v] {
				without++
			}
		}
		if sa.len() != int64(len(ma)) || sa.without(&sb) != without || sa.both(&sb) != int64(len(ma))-without {
			t.Fatalf("len %d, without %d, both %d of %v and %v", sa.len(), sa.without(&sb), sa.both(&sb), a, b)
		}
	})
	var s numbers
	if s.add(-1) || s.has(-1) || s.has(5) {
		t.Error("the empty set has something")
	}
}

func TestLongestGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SliceOf(rapid.IntRange(0, 5000)).Draw(t, "at")
		from := rapid.IntRange(0, 2000).Draw(t, "from")
		to := rapid.IntRange(from+1, 6000).Draw(t, "to")
		var x ticks
		busy := map[int]bool{}
		for _, v := range at {
			x.add(time.Duration(v) * gapTick)
			busy[v] = true
		}
		want, last := 0, from
		for i := from + 1; i < to; i++ {
			if busy[i] {
				want, last = max(want, i-last), i
			}
		}
		want = max(want, to-last)
		if got := x.longestGap(time.Duration(from)*gapTick, time.Duration(to)*gapTick); got != time.Duration(want)*gapTick {
			t.Fatalf("longest gap in [%d, %d) with %v is %v, want %d ticks", from, to, at, got, want)
		}
	})
}

// What workers record in turns comes together in the slots.
func TestSlotsCollect(t *testing.T) {
	s := NewSlots(time.Second)
	rng := rand.New(rand.NewPCG(1, 1))
	want := map[int]int64{}
	for range 100 {
		h := s.newHist()
		slot := rng.IntN(10)
		if err := h.RecordValue(int64(100 * (slot + 1))); err != nil {
			t.Fatal(err)
		}
		s.merge(slot, h, slotCount{commands: 2, failed: 1})
		want[slot] += 2
	}
	s.merge(3, s.newHist(), slotCount{})
	samples := s.Samples(1050 * time.Millisecond)
	if len(samples) != 10 {
		t.Fatalf("%d samples, want 10 whole ones", len(samples))
	}
	for i, got := range samples {
		if got.Commands != want[i] || got.Failed != want[i]/2 {
			t.Errorf("slot %d: %+v, want %d commands", i, got, want[i])
		}
		if v := int64(100 * (i + 1)); got.P50 < v*98/100 || got.Max > v*102/100 {
			t.Errorf("slot %d: p50 %d, max %d, want about %d", i, got.P50, got.Max, v)
		}
	}
	if w := NewSlots(10 * time.Minute).Width(); w <= slotWidth {
		t.Errorf("ten minutes in slots of %v", w)
	}
}

func TestErrorsAreBounded(t *testing.T) {
	m := map[string]int64{}
	for i := range 2 * maxMessages {
		note(m, errors.New(strings.Repeat("e", i+1)))
	}
	if len(m) != maxMessages+1 || m[otherMessage] != maxMessages {
		t.Errorf("%d messages, %d others", len(m), m[otherMessage])
	}
}
