package load

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/baton-go/redis/cmd/baton/internal/account"
)

// Settle compares what the workers know with what the server has, and writes the
// account into r. It is called once, after Wait has succeeded, with the time at which
// it was told to end. cut says whether commands without an answer are allowed for.
func (l *Load) Settle(r *account.Result, end time.Duration, cut bool) error {
	l.settleCommands(r, end)
	l.settleHistory(r)
	return errors.Join(l.settleIncr(r, cut), l.settleValues(r), l.settleWatch(r), l.settleBlocking(r), l.settlePubSub(r))
}

func (l *Load) settleCommands(r *account.Result, end time.Duration) {
	clock := l.cfg.Clock
	r.Errors, r.AppErrors = make(map[string]int64), make(map[string]int64)
	var hist [phases]*hdrhistogram.Histogram
	for i := range hist {
		hist[i] = hdrhistogram.New(1, maxLatency, phaseDigits)
	}
	var ordinary, session ticks
	for _, w := range l.workers {
		rec := w.rec
		r.WrongReplies += rec.wrong
		r.StaleReads += rec.stale
		r.OvertakenReads += rec.overtaken
		r.IdempotentFailed += rec.idempotent
		r.CompletedAfter += rec.doneAfter
		for msg, n := range rec.errors {
			r.Errors[msg] += n
		}
		for msg, n := range rec.appErrors {
			r.AppErrors[msg] += n
		}
		for i := range hist {
			hist[i].Merge(rec.phase[i])
		}
		ordinary.merge(rec.ordinary)
		session.merge(rec.session)
		if back := clock.back.Load(); back != 0 && rec.recovers {
			if rec.sawBack != back {
				r.NotRecovered++
			}
			r.RecoveryMS = max(r.RecoveryMS, account.Round(millis(rec.recovery), 1))
		}
	}
	l.busy = append(l.busy, ordinary...)
	l.busy.merge(session)
	live := l.Live()
	r.Commands = account.Commands{Sent: live.Sent, Acknowledged: live.Acknowledged, Failed: live.Failed, Unknown: live.Unknown}
	began := clock.Began(Before)
	r.DurationS = account.Round((end - began).Seconds(), 3)
	r.OpsPerS = account.Round(float64(live.Acknowledged)/(end-began).Seconds(), 1)

	bounds := [phases + 1]time.Duration{began, clock.Began(During), clock.Began(After), end}
	for i, b := range bounds[1:] {
		if b == 0 { // the phase before it was the last
			bounds[i+1] = end
		}
	}
	r.LongestGapMS = millis(l.LongestGap(began, end))
	for i, p := range []struct {
		latency *account.Latency
		gap     *float64
		shared  *float64
		seconds *float64
	}{
		{&r.LatencyUS.Before, &r.GapMS.Before, &r.OrdinaryGapMS.Before, &r.PhaseS.Before},
		{&r.LatencyUS.During, &r.GapMS.During, &r.OrdinaryGapMS.During, &r.PhaseS.During},
		{&r.LatencyUS.After, &r.GapMS.After, &r.OrdinaryGapMS.After, &r.PhaseS.After},
	} {
		h := hist[i]
		*p.latency = account.Latency{P50: h.ValueAtQuantile(50), P99: h.ValueAtQuantile(99), P999: h.ValueAtQuantile(99.9), Max: h.Max()}
		*p.gap = millis(l.LongestGap(bounds[i], bounds[i+1]))
		*p.shared = millis(ordinary.longestGap(bounds[i], bounds[i+1]))
		*p.seconds = account.Round((bounds[i+1] - bounds[i]).Seconds(), 3)
	}
}

// LongestGap is the longest time between from and to in which no command completed.
// It may be called after Settle.
func (l *Load) LongestGap(from, to time.Duration) time.Duration {
	return l.busy.longestGap(from, to)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// readInt reads a number past the proxies; a key that isn't there is 0.
func (l *Load) readInt(key string) (int64, error) {
	v, err := l.cfg.Backend.Do("GET", key)
	if err != nil || v == nil {
		return 0, err
	}
	s, ok := v.(string)
	if !ok {
		return 0, fmt.Errorf("GET %s answered %T", key, v)
	}
	return strconv.ParseInt(s, 10, 64)
}

func (l *Load) settleIncr(r *account.Result, cut bool) error {
	values := make([]int64, len(l.counters))
	for i, c := range l.counters {
		v, err := l.readInt(c.key)
		if err != nil {
			return fmt.Errorf("read a counter: %w", err)
		}
		values[i] = v - c.base
		var acked, unknown int64
		for _, w := range l.workers {
			acked += w.counters[i].acknowledged
			unknown += w.counters[i].unknown
		}
		r.Incr.Acknowledged += acked
		r.Incr.Unknown += unknown
		r.Incr.Value += values[i]
		if cut && (values[i] < acked || values[i] > acked+unknown) || !cut && values[i] != acked {
			r.Incr.Mismatched++
		}
	}
	for i, c := range l.counters {
		if c.twin > i {
			r.SplitTransactions += max(values[i]-values[c.twin], values[c.twin]-values[i])
		}
	}
	return nil
}

// settleValues compares what is in each key that only one worker writes to.
func (l *Load) settleValues(r *account.Result) error {
	for _, w := range l.workers {
		for i := range w.keys {
			k := &w.keys[i]
			if k.sent == 0 {
				continue
			}
			reply, err := l.cfg.Backend.Do("GET", k.key)
			if err != nil {
				return fmt.Errorf("read a key: %w", err)
			}
			r.Values.Keys++
			value, _ := reply.(string)
			if n, ok := k.serialOf(value); k.acked > 0 && (!ok || n < k.acked) || value != "" && !ok {
				r.Values.Lost++
			}
		}
	}
	return nil
}

func (l *Load) settleWatch(r *account.Result) error {
	for _, t := range l.watched {
		v, err := l.readInt(t.key)
		if err != nil {
			return fmt.Errorf("read a watched counter: %w", err)
		}
		r.Watch.Value += v
		r.Watch.Committed += t.committed.Load()
		r.Watch.Conflicts += t.conflicts.Load()
		r.Watch.Failed += t.failed.Load()
		r.Watch.Unknown += t.unknown.Load()
	}
	return nil
}

func (l *Load) settleBlocking(r *account.Result) error {
	for _, ls := range l.lists {
		reply, err := l.cfg.Backend.Do("LRANGE", ls.key, "0", "-1")
		if err != nil {
			return fmt.Errorf("read a list: %w", err)
		}
		items, _ := reply.([]any)
		var left numbers
		for _, item := range items {
			s, _ := item.(string)
			if n, ok := itemOf(ls.key, s); !ok || !left.add(n) {
				r.Blocking.Duplicated++
			}
		}
		r.Blocking.Pushed += ls.pushed.len()
		r.Blocking.Served += ls.served.len()
		r.Blocking.Left += left.len()
		r.Blocking.Lost += ls.pushed.without(&ls.served, &left)
		r.Blocking.Duplicated += ls.twice + ls.served.both(&left)
		r.Blocking.Failed += ls.failed.Load()
		r.Blocking.Unknown += ls.unknown.Load()
	}
	return nil
}

func (l *Load) settlePubSub(r *account.Result) error {
	for _, ch := range l.channels {
		r.PubSub.Published += ch.published.len()
		r.PubSub.Received += ch.received.len()
		r.PubSub.Duplicated += ch.twice
		r.PubSub.Lost += ch.published.without(&ch.received)
		r.PubSub.Reordered += ch.reordered
		r.PubSub.Unknown += ch.unsure.len()
		r.PubSub.Gaps += ch.gaps
		r.PubSub.Untold += ch.published.without(&ch.received, &ch.told)
		r.PubSub.Unheard += ch.unheard.without(&ch.received)
		if ch.isDeaf() {
			r.PubSub.Deaf++
		}
		r.AppRetries.PubSub += ch.appRetries.Load()
	}
	return nil
}

// Clean deletes every key of the run; not in a cluster, which is none of others'.
func (l *Load) Clean() error {
	if l.cfg.Cluster {
		return nil
	}
	keys := []string{"DEL"}
	for _, c := range l.counters {
		keys = append(keys, c.key)
	}
	for _, w := range l.workers {
		for _, k := range w.keys {
			keys = append(keys, k.key)
		}
	}
	for _, t := range l.watched {
		keys = append(keys, t.key)
	}
	for _, ls := range l.lists {
		keys = append(keys, ls.key)
	}
	keys = append(keys, l.registers...)
	_, err := l.cfg.Backend.Do(keys...)
	return err
}
