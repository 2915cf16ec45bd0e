package redis

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/cache"
	"github.com/baton-go/redis/internal/link"
)

// A heartbeat notices that a connection is dead on which nobody sends anything, because
// all is answered out of the cache: nothing on it would be invalidated any more.
type heartbeat struct {
	timeout time.Duration // 0: the link's own
	stop    chan struct{} // closed by close
	work    sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	links  map[uint64]*link.Link
	runs   bool
	closed bool
}

// beatEvery is how long a connection may be silent until the server is asked for a sign
// of life.
const beatEvery = 2 * time.Second

const (
	beatTimeout = 5 * time.Second // where there is no read timeout
	pingWire    = "*1\r\n$4\r\nping\r\n"
)

func (h *heartbeat) init(opt *Options) {
	h.stop, h.links = make(chan struct{}), make(map[uint64]*link.Link)
	if opt.ReadTimeout < 0 {
		h.timeout = beatTimeout
	}
}

// watch watches a link from now on.
func (h *heartbeat) watch(l *link.Link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.links[l.ID()] != nil {
		return
	}
	h.links[l.ID()] = l
	if !h.runs {
		h.runs = true
		h.work.Go(h.run)
	}
}

// run looks at the links until there are none.
func (h *heartbeat) run() {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-h.stop:
			return
		}
		h.mu.Lock()
		for id, l := range h.links {
			switch {
			case l.Left().Load():
				delete(h.links, id)
			case l.Idle() >= beatEvery:
				h.work.Go(func() { h.ask(l) })
			}
		}
		h.runs = len(h.links) > 0
		goesOn := h.runs
		h.mu.Unlock()
		if !goesOn {
			return
		}
	}
}

// ask sends PING. A link that does not answer within its read timeout ends by itself.
func (h *heartbeat) ask(l *link.Link) {
	ctx := context.Background()
	if h.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.timeout)
		defer cancel()
	}
	if _, err := l.Do(ctx, link.Request{Wire: []byte(pingWire), Replies: 1, Sink: noReply{}}); err != nil && ctx.Err() != nil {
		l.Close(errNoBeat)
	}
}

var errNoBeat = errors.New("the server has not answered PING, so that what it has told to cache may be out of date")

func (h *heartbeat) close() {
	h.mu.Lock()
	isFirst := !h.closed
	h.closed = true
	h.mu.Unlock()
	if isFirst {
		close(h.stop)
	}
	h.work.Wait()
}

// noReply takes a reply that nobody wants.
type noReply struct{}

func (noReply) Reply(int, []byte) {}

// A refresher reads what was invalidated anew, all of a window in one pipeline, so that
// the next one who asks finds it.
type refresher struct {
	k      *clientCache
	window time.Duration
	now    chan struct{} // of capacity 1: the window ends at once
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	queue  map[string][]string
	runs   bool
	closed bool

	enqueued, refreshed, failed, dropped, demands atomic.Uint64
}

// refreshMost is how many entries wait to be read anew at most, and refreshBatch how
// many are in one pipeline.
const (
	refreshMost  = 4096
	refreshBatch = 256
)

func newRefresher(k *clientCache, window time.Duration) *refresher {
	r := &refresher{k: k, window: window, now: make(chan struct{}, 1), queue: make(map[string][]string)}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// add enqueues an entry that was invalidated. It runs on a link's reader.
func (r *refresher) add(key string, keys []string) {
	if len(key) <= len(r.k.space) || key[:len(r.k.space)] != r.k.space {
		return // it is another client's
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.queue[key]; ok || r.closed {
		return
	}
	if len(r.queue) >= refreshMost {
		r.dropped.Add(1)
		return
	}
	r.enqueued.Add(1)
	r.queue[key] = keys
	if !r.runs {
		r.runs = true
		r.work.Go(r.run)
	}
}

// demand ends the window where somebody asks for what waits in it.
func (r *refresher) demand(key string) {
	r.mu.Lock()
	_, ok := r.queue[key]
	if ok {
		delete(r.queue, key) // who asks reads it
	}
	r.mu.Unlock()
	if !ok || r.window == 0 {
		return
	}
	select {
	case r.now <- struct{}{}:
		r.demands.Add(1)
	default:
	}
}

// run reads what is enqueued until there is nothing.
func (r *refresher) run() {
	for {
		if r.window > 0 {
			t := time.NewTimer(r.window)
			select {
			case <-t.C:
			case <-r.now:
				t.Stop()
			case <-r.ctx.Done():
				t.Stop()
				return
			}
		}
		r.mu.Lock()
		queue := r.queue
		r.queue = make(map[string][]string)
		r.runs = len(queue) > 0 && !r.closed
		goesOn := r.runs
		r.mu.Unlock()
		if !goesOn {
			return
		}
		r.read(queue)
	}
}

// read reads entries anew.
func (r *refresher) read(queue map[string][]string) {
	b := &refill{k: r.k, r: r}
	for key, keys := range queue {
		e, lead := r.k.local.Reserve(key, keys)
		if !lead {
			continue // somebody reads it, or has
		}
		b.entries = append(b.entries, e)
		b.wire = append(b.wire, key[len(r.k.space):]...)
		if len(b.entries) == refreshBatch {
			b.send()
			b = &refill{k: r.k, r: r}
		}
	}
	b.send()
}

func (r *refresher) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	clear(r.queue)
	r.mu.Unlock()
	r.stop()
	r.work.Wait()
}

// A refill is a pipeline of reads whose replies are stored.
type refill struct {
	k       *clientCache
	r       *refresher
	entries []*cache.Entry
	wire    []byte
	l       *link.Link
	tracked bool
	stored  int
}

// send sends it, once: who then asks sends again by himself.
func (b *refill) send() {
	if len(b.entries) == 0 {
		return
	}
	_, _ = b.k.c.ep.Lane().Do(b.r.ctx, link.Request{Wire: b.wire, Replies: len(b.entries), Sink: b, Carrier: b})
	for _, e := range b.entries {
		b.k.local.Cancel(e)
	}
	b.r.refreshed.Add(uint64(b.stored))
	b.r.failed.Add(uint64(len(b.entries) - b.stored))
}

// Carried notes the link.
func (b *refill) Carried(l *link.Link) { b.l, b.tracked = l, b.k.watch(l) }

// Reply runs on the link's reader.
func (b *refill) Reply(i int, frame []byte) {
	if b.tracked && isStorable(frame) && b.k.fulfill(b.entries[i], "", 0, b.l, append([]byte{}, frame...)) {
		b.stored++
	}
}

var (
	_ link.Keeper  = (*fill)(nil)
	_ link.Carrier = (*fill)(nil)
	_ link.Carrier = (*refill)(nil)
)
