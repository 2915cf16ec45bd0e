// Package cache keeps replies of a server in memory until the server says that they
// are out of date: the store of client-side caching. It knows neither commands nor
// connections; a reply is bytes under a key, and belongs to the redis keys it was
// made of and to the connection on which the server tracks them.
//
// An entry is reserved before its command is sent. What invalidates one of its keys
// from then on takes the entry away, and the reply is not stored when it comes: so no
// reply is kept that is older than an invalidation that was received.
package cache

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// Config bounds a cache. A value of 0 or less means the default.
type Config struct {
	MaxEntries int   // default 10,000
	MaxMemory  int64 // bytes, as Sizer counts them; default 64 MiB
	// MaxStaleness is how long an entry is served at most; default: until it is invalid.
	MaxStaleness time.Duration
	// StaleTimeout is after how long somebody else may reserve what is reserved and not
	// fulfilled; default 5 s.
	StaleTimeout time.Duration
	// Sizer tells how much an entry counts; nil: its bytes and what it costs to keep
	// them. It is called without a lock held.
	Sizer func(key string, keys []string, value []byte) int64
}

// Defaults of Config.
const (
	defaultEntries = 10_000
	defaultMemory  = 64 << 20
	defaultStale   = 5 * time.Second
	// perEntry is about what an entry takes beside its bytes.
	perEntry = 320
)

// Sizes of shards: as many as keep shards at least so large.
const (
	mostShards   = 64
	leastEntries = 256
	leastMemory  = 1 << 20
)

// An Owner is the connection on which the server tracks an entry's keys.
type Owner struct {
	ID uint64
	// Left becomes true when the connection is left, for whatever reason: from then on
	// nothing of it is served. nil: never.
	Left *atomic.Bool
}

// Cache is the store. Safe for concurrent use.
//
// Entries lie in shards by their own key, and in an index by each redis key. A shard's
// lock and that of the index are never held together. What must not be served any more
// is marked first (Entry.gone) and taken out then, so that a lookup beside it needs no
// lock of both.
type Cache struct {
	cfg    Config       // with defaults; immutable
	seed   maphash.Seed // immutable
	shards []shard
	index  []indexShard

	tokens        atomic.Uint64
	invalidations atomic.Uint64
	deletions     atomic.Uint64
	noops         atomic.Uint64
}

// Entry is a reply, or the reservation of one.
type Entry struct {
	key   string    // immutable
	keys  []string  // immutable
	token uint64    // immutable; unique within the cache
	since time.Time // when it was reserved; immutable

	gone atomic.Bool // it is not served, and not stored, any more
	used atomic.Bool // it was served since the clock's hand has passed

	refs []ref // refs[i].at and .in are guarded by the index shard of keys[i]

	// Guarded by the shard's lock. The value's bytes are never changed.
	settled bool // it was fulfilled or cancelled
	ready   bool // it can be served
	value   []byte
	size    int64
	owner   Owner
	until   time.Time     // zero: no bound
	at      int           // in the shard's ring; ready ones only
	done    chan struct{} // closed when settled; nil: nobody waits
}

// A ref is an entry's place in the index.
type ref struct {
	in bool
	at int
}

type shard struct {
	mu      sync.RWMutex // guards the fields below
	entries map[string]*Entry
	ring    []*Entry // those that are ready
	hand    int      // of the clock, into ring
	bytes   int64    // of ring
	waiting int      // reservations

	most      int   // immutable
	mostBytes int64 // immutable

	hits, misses atomic.Uint64
	_            [64]byte // shards are written by different processors
}

type indexShard struct {
	mu   sync.Mutex // guards the map and what is in it
	keys map[string]*node
}

// A node holds the entries of one redis key.
type node struct{ slots []slot }

type slot struct {
	e *Entry
	i int // of the key in e.keys
}

// New makes an empty cache.
func New(cfg Config) *Cache {
	if cfg.MaxEntries <= 0 {
		cfg.MaxEntries = defaultEntries
	}
	if cfg.MaxMemory <= 0 {
		cfg.MaxMemory = defaultMemory
	}
	if cfg.StaleTimeout <= 0 {
		cfg.StaleTimeout = defaultStale
	}
	n := 1
	for n < mostShards && cfg.MaxEntries/(2*n) >= leastEntries && cfg.MaxMemory/int64(2*n) >= leastMemory {
		n *= 2
	}
	c := &Cache{cfg: cfg, seed: maphash.MakeSeed(), shards: make([]shard, n), index: make([]indexShard, n)}
	for i := range c.shards {
		s := &c.shards[i]
		s.entries = make(map[string]*Entry)
		s.most, s.mostBytes = cfg.MaxEntries/n, cfg.MaxMemory/int64(n)
		if i < cfg.MaxEntries%n {
			s.most++
		}
		c.index[i].keys = make(map[string]*node)
	}
	return c
}

func (c *Cache) shard(key string) *shard {
	return &c.shards[maphash.String(c.seed, key)&uint64(len(c.shards)-1)]
}

// Get gives a reply that may be served. Its bytes must not be changed.
func (c *Cache) Get(key []byte) (value []byte, ok bool) {
	s := &c.shards[maphash.Bytes(c.seed, key)&uint64(len(c.shards)-1)]
	s.mu.RLock()
	e := s.entries[string(key)]
	if e == nil || !c.served(e) {
		s.mu.RUnlock()
		s.misses.Add(1)
		return nil, false
	}
	value = e.value
	s.mu.RUnlock()
	if !e.used.Load() {
		e.used.Store(true)
	}
	s.hits.Add(1)
	return value, true
}

// served tells whether an entry may be served; its shard is locked.
func (c *Cache) served(e *Entry) bool {
	return e.ready && !e.gone.Load() && !e.owner.hasLeft() && (e.until.IsZero() || time.Now().Before(e.until))
}

func (o Owner) hasLeft() bool { return o.Left != nil && o.Left.Load() }

// Reserve announces that the reply of a key will be asked for, made of these redis
// keys. Where lead is true the caller asks, and must Fulfill or Cancel the entry; else
// somebody has reserved it already, or has stored it meanwhile: see Wait. The entry is
// nil where there are too many reservations.
func (c *Cache) Reserve(key string, keys []string) (e *Entry, lead bool) {
	s := c.shard(key)
	s.mu.Lock()
	old := s.entries[key]
	switch {
	case old == nil:
	case c.served(old), !old.ready && !old.gone.Load() && time.Since(old.since) < c.cfg.StaleTimeout:
		s.mu.Unlock()
		return old, false
	default:
		s.drop(old)
	}
	if s.waiting >= max(s.most, leastEntries) {
		s.mu.Unlock()
		c.unlink(old)
		return nil, false
	}
	e = &Entry{key: key, keys: keys, token: c.tokens.Add(1), since: time.Now(), refs: make([]ref, len(keys))}
	s.entries[key] = e
	s.waiting++
	s.mu.Unlock()
	c.unlink(old)
	c.link(e)
	return e, true
}

// Token is the entry's number, unique within the cache.
func (e *Entry) Token() uint64 { return e.token }

// Fulfill stores the reply of a reserved entry, unless it was invalidated since, its
// owner has left, or it is too large; those who Wait get it in any case. The bytes
// are the cache's from then on. It tells whether the reply was stored.
func (c *Cache) Fulfill(e *Entry, owner Owner, value []byte) bool {
	size := c.sizeOf(e, value)
	s := c.shard(e.key)
	s.mu.Lock()
	isStored := !e.settled && !e.gone.Load() && !owner.hasLeft() && size <= s.mostBytes
	s.settle(e, value)
	var out []*Entry
	if isStored {
		e.ready, e.owner, e.size = true, owner, size
		if c.cfg.MaxStaleness > 0 {
			e.until = time.Now().Add(c.cfg.MaxStaleness)
		}
		s.waiting--
		out = s.admit(e)
	} else if !e.ready {
		s.drop(e)
		out = []*Entry{e}
	}
	s.mu.Unlock()
	for _, e := range out {
		c.unlink(e)
	}
	return isStored
}

// sizeOf is how much an entry counts.
func (c *Cache) sizeOf(e *Entry, value []byte) int64 {
	if c.cfg.Sizer != nil {
		return max(c.cfg.Sizer(e.key, e.keys, value), 0)
	}
	n := perEntry + len(e.key) + len(value)
	for _, k := range e.keys {
		n += len(k)
	}
	return int64(n)
}

// Cancel ends a reservation without a reply. It is false where the entry is no
// reservation any more.
func (c *Cache) Cancel(e *Entry) bool {
	s := c.shard(e.key)
	s.mu.Lock()
	if e.settled {
		s.mu.Unlock()
		return false
	}
	s.settle(e, nil)
	was := s.drop(e)
	s.mu.Unlock()
	c.unlink(e)
	return was
}

// Wait gives the reply that the one who has reserved the entry gets; ok is false where
// there is none, or stop was closed.
func (c *Cache) Wait(e *Entry, stop <-chan struct{}) (value []byte, ok bool) {
	s := c.shard(e.key)
	s.mu.Lock()
	if !e.settled {
		if e.done == nil {
			e.done = make(chan struct{})
		}
		done := e.done
		s.mu.Unlock()
		select {
		case <-done:
		case <-stop:
			return nil, false
		}
		s.mu.Lock()
	}
	value = e.value
	s.mu.Unlock()
	return value, value != nil
}

// settle ends a reservation and tells those who wait; the shard is locked.
func (s *shard) settle(e *Entry, value []byte) {
	if e.settled {
		return
	}
	e.settled = true
	e.value = value
	if e.done != nil {
		close(e.done)
	}
}

// drop takes an entry out of the shard, which is locked, and tells whether it was in
// it. The caller takes it out of the index once the lock is free.
func (s *shard) drop(e *Entry) bool {
	e.gone.Store(true)
	if s.entries[e.key] != e {
		return false
	}
	delete(s.entries, e.key)
	if !e.ready {
		s.waiting--
		return true
	}
	last := len(s.ring) - 1
	s.ring[e.at] = s.ring[last]
	s.ring[e.at].at = e.at
	s.ring[last] = nil
	s.ring = s.ring[:last]
	s.bytes -= e.size
	return true
}

// admit takes a ready entry into the ring, and gives those that had to go for it; the
// shard is locked.
func (s *shard) admit(e *Entry) (out []*Entry) {
	e.at = len(s.ring)
	s.ring = append(s.ring, e)
	s.bytes += e.size
	for len(s.ring) > s.most || s.bytes > s.mostBytes {
		v := s.victim(e)
		if v == nil {
			break
		}
		s.drop(v)
		out = append(out, v)
	}
	return out
}

// victim is the entry that was served least lately, more or less: the clock's hand
// spares those that were served since it came by last. The newcomer is spared too.
func (s *shard) victim(newcomer *Entry) *Entry {
	for range 2*len(s.ring) + 1 {
		if s.hand >= len(s.ring) {
			s.hand = 0
		}
		e := s.ring[s.hand]
		if e != newcomer && !e.used.Swap(false) {
			return e
		}
		s.hand++
	}
	return nil
}
