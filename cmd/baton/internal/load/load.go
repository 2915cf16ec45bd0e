package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"
)

// keyPrefix begins every key a drill writes, so that it never touches others'.
const keyPrefix = "baton-drill:"

// MinWorkers is the fewest workers a load needs, one of each kind.
const MinWorkers = 8

// Backend runs commands on the server past everything that is simulated; in a cluster on
// the node that has the command's key.
type Backend interface {
	Do(args ...string) (any, error)
}

// A Config says what load to run.
type Config struct {
	Client  Client
	Backend Backend
	// Cluster is true where Client is a cluster's. Keys are then spread over all slots,
	// and there are shard channels.
	Cluster bool
	Workers int    // at least MinWorkers
	Seed    uint64 // of all random choices
	Run     string // makes the keys of this run its own
	// Resends is true where commands may be sent again after they were executed. A SET
	// is then no single event, so that histories have none.
	Resends bool
	Clock   *Clock
	Slots   *Slots
}

// A Load is a set of workers, each a closed loop: it waits for a command to end,
// checks the reply, and sends the next.
type Load struct {
	cfg     Config
	prefix  string
	layout  layout
	workers []*worker
	start   []func(context.Context) // one for each worker
	wg      sync.WaitGroup

	counters  []counter
	lists     []*list
	channels  []*channel
	watched   []*watched
	registers []string       // keys of the histories; set by Settle
	subbed    sync.WaitGroup // subscribers that have not confirmed
	busy      ticks          // of all workers; set by Settle
}

// a counter is incremented by INCR. Its base tells its values from those of others.
type counter struct {
	key  string
	base int64
	twin int // the counter that every MULTI/EXEC unit increments with it, or -1
}

// counterStep separates the bases of counters.
const counterStep = 1_000_000_000_000

// Shares of a load of 64 workers; what is left are plain ones.
var shares = []struct {
	kind   kind
	weight int
}{
	{pipeliner, 6}, {transactor, 4}, {watcher, 4}, {producer, 4}, {consumer, 4}, {publisher, 3}, {subscriber, 3},
}

type kind uint8

const (
	plain kind = iota
	pipeliner
	transactor
	watcher
	producer
	consumer
	publisher
	subscriber
	kinds = 8
)

// split says how many workers of each kind a load of n has.
func split(n int) (of [kinds]int) {
	of[plain] = n
	for _, s := range shares {
		of[s.kind] = max(1, n*s.weight/64)
		of[plain] -= of[s.kind]
	}
	return of
}

// Exclusive is how many workers need a connection of their own at a time.
func Exclusive(workers int) int {
	of := split(workers)
	return of[watcher] + of[consumer] + of[subscriber]
}

// New prepares a load: its counters are written through the backend.
func New(cfg Config) (*Load, error) {
	if cfg.Workers < MinWorkers {
		return nil, fmt.Errorf("load: %d workers, want at least %d", cfg.Workers, MinWorkers)
	}
	l := &Load{cfg: cfg, prefix: keyPrefix + cfg.Run + ":", layout: newLayout(cfg.Cluster)}
	l.addCounters()
	for i := range l.layout.watched {
		l.watched = append(l.watched, &watched{key: l.place("watched:"+strconv.Itoa(i), i, l.layout.watched)})
	}
	l.addWorkers()
	for _, c := range l.counters {
		if _, err := cfg.Backend.Do("SET", c.key, strconv.FormatInt(c.base, 10)); err != nil {
			return nil, fmt.Errorf("load: write a counter: %w", err)
		}
	}
	l.dealKeys()
	for _, w := range l.workers {
		w.prepare()
	}
	return l, nil
}

// place is layout.place for a key of this run.
func (l *Load) place(name string, nth, of int) string { return l.layout.place(l.prefix+name, nth, of) }

func (l *Load) addCounters() {
	for i := range l.layout.shared {
		l.addCounter(l.place("counter:shared:"+strconv.Itoa(i), i, l.layout.shared), -1)
	}
	for i := range l.layout.pairs {
		n, tag := len(l.counters), l.tag(i)
		l.addCounter(l.prefix+"counter:left:"+tag, n+1)
		l.addCounter(l.prefix+"counter:right:"+tag, n)
	}
}

// tag is what keys have in common with a pair of counters, so that one node has all of
// them.
func (l *Load) tag(pair int) string {
	return "{" + l.layout.place("pair:"+strconv.Itoa(pair), pair, l.layout.pairs) + "}"
}

// dealKeys gives every worker the keys that only it writes to.
func (l *Load) dealKeys() {
	var roaming []*worker
	wanted := 0
	for _, w := range l.workers {
		switch w.owns {
		case ownsTagged:
			for i := range l.layout.pairs {
				w.addKey(l.prefix + "key:" + strconv.Itoa(w.id) + ":" + l.tag(i))
			}
		case ownsAny:
			roaming = append(roaming, w)
			wanted += keysPerWorker
		case ownsFew:
			wanted += keysPerWorker
		case ownsNone:
		}
	}
	names := l.layout.cover(l.prefix+"key:", wanted, rand.New(rand.NewPCG(l.cfg.Seed, keySeed)))
	for _, w := range l.workers {
		if w.owns == ownsFew {
			for _, name := range names[:keysPerWorker] {
				w.addKey(name)
			}
			names = names[keysPerWorker:]
		}
	}
	for i, name := range names {
		roaming[i%len(roaming)].addKey(name)
	}
}

// keySeed tells the random choice of keys from those of workers.
const keySeed = 1 << 32

func (l *Load) addCounter(key string, twin int) int {
	n := len(l.counters)
	l.counters = append(l.counters, counter{
		key:  key,
		base: int64(n+1) * counterStep,
		twin: twin,
	})
	return n
}

func (l *Load) addWorkers() {
	of := split(l.cfg.Workers)
	for i := range of[plain] {
		w := l.addCountingWorker()
		if i < min(of[plain]/historyShare, maxHistorian) {
			w.owns = ownsFew // until its history is full
			l.start = append(l.start, w.historian)
		} else {
			l.start = append(l.start, w.plain)
		}
	}
	for range of[pipeliner] {
		l.start = append(l.start, l.addCountingWorker().pipeline)
	}
	for range of[transactor] {
		w := l.addWorker(true)
		w.owns = ownsTagged
		l.start = append(l.start, w.transact)
	}
	for i := range of[watcher] {
		w := l.addWorker(true)
		target := l.watched[i%len(l.watched)]
		l.start = append(l.start, func(ctx context.Context) { w.watch(ctx, target) })
	}
	for i := range of[producer] {
		ls := newList(l.place("list:"+strconv.Itoa(i), i%regions, regions), i%2 == 1)
		l.lists = append(l.lists, ls)
		from, to := l.addWorker(true), l.addWorker(false)
		l.start = append(l.start,
			func(ctx context.Context) { from.produce(ctx, ls) },
			func(ctx context.Context) { to.consume(ctx, ls) })
	}
	for i := range of[publisher] {
		ch := newChannel("{"+l.place("channel:"+strconv.Itoa(i), i%regions, regions)+"}", l.channelKind(i))
		l.channels = append(l.channels, ch)
		from, to := l.addWorker(true), l.addWorker(false)
		l.subbed.Add(1)
		l.start = append(l.start,
			func(ctx context.Context) { from.publish(ctx, ch) },
			func(ctx context.Context) { to.subscribe(ctx, ch) })
	}
}

// channelKind says how the subscriber of channel i subscribes: one by pattern, and in a
// cluster the first to a shard channel.
func (l *Load) channelKind(i int) channelKind {
	if l.cfg.Cluster {
		return []channelKind{sharded, byPattern, byName}[i%3]
	}
	if i == 0 {
		return byPattern
	}
	return byName
}

// addCountingWorker adds a worker with keys and a counter of its own.
func (l *Load) addCountingWorker() *worker {
	w := l.addWorker(true)
	w.own = l.addCounter(l.prefix+"counter:own:"+strconv.Itoa(w.id), -1)
	w.owns = ownsAny
	return w
}

func (l *Load) addWorker(recovers bool) *worker {
	id := len(l.workers)
	w := &worker{
		load: l,
		id:   id,
		rec:  newRecorder(l.cfg.Clock, l.cfg.Slots, recovers),
		rng:  rand.New(rand.NewPCG(l.cfg.Seed, uint64(id))),
	}
	l.workers = append(l.workers, w)
	return w
}

// Start starts the workers. They end when the clock is stopped, or, in the middle
// of a command, when ctx ends.
func (l *Load) Start(ctx context.Context) {
	for i, run := range l.start {
		l.wg.Go(func() {
			run(ctx)
			l.workers[i].rec.flush()
		})
	}
}

// ErrHanging is the error of [Load.Wait] where a worker did not end.
var ErrHanging = errors.New("load: a worker does not end")

// Wait waits until every worker has ended, at most until ctx ends. After an error
// the load's figures must not be read.
func (l *Load) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.wg.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ErrHanging
	}
}

// Live is what the commands have come to so far.
type Live struct{ Sent, Acknowledged, Failed, Unknown int64 }

// Live may be called at any time.
func (l *Load) Live() (v Live) {
	for _, w := range l.workers {
		v.Sent += w.rec.live.sent.Load()
		v.Acknowledged += w.rec.live.acknowledged.Load()
		v.Failed += w.rec.live.failed.Load()
		v.Unknown += w.rec.live.unknown.Load()
	}
	return v
}

// pause lets d pass, less if ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
