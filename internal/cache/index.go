package cache

import (
	"hash/maphash"
	"time"
)

func (c *Cache) indexOf(key string) *indexShard {
	return &c.index[maphash.String(c.seed, key)&uint64(len(c.index)-1)]
}

// link puts a reserved entry into the index. Whoever drops the entry meanwhile may
// have been here before, so it is looked at again.
func (c *Cache) link(e *Entry) {
	for i, key := range e.keys {
		x := c.indexOf(key)
		x.mu.Lock()
		n := x.keys[key]
		if n == nil {
			n = &node{}
			x.keys[key] = n
		}
		e.refs[i] = ref{in: true, at: len(n.slots)}
		n.slots = append(n.slots, slot{e, i})
		x.mu.Unlock()
	}
	if e.gone.Load() {
		c.unlink(e)
	}
}

// unlink takes an entry that is gone out of the index, where it still is there.
func (c *Cache) unlink(e *Entry) {
	if e == nil {
		return
	}
	for i, key := range e.keys {
		x := c.indexOf(key)
		x.mu.Lock()
		if e.refs[i].in {
			e.refs[i].in = false
			x.remove(key, e.refs[i].at)
		}
		x.mu.Unlock()
	}
}

// remove takes a slot out of a key's node; the shard is locked.
func (x *indexShard) remove(key string, at int) {
	n := x.keys[key]
	last := len(n.slots) - 1
	moved := n.slots[last]
	n.slots[at] = moved
	moved.e.refs[moved.i].at = at
	n.slots[last] = slot{}
	n.slots = n.slots[:last]
	if last == 0 {
		delete(x.keys, key)
	}
}

// Invalidate takes away all that is made of a redis key, reservations included, and
// tells how much that was. visit, unless nil, gets what could have been served until
// now; it is called without a lock held.
func (c *Cache) Invalidate(key string, visit func(key string, keys []string)) int {
	c.invalidations.Add(1)
	n := c.forget(key, visit)
	c.deletions.Add(uint64(n))
	if n == 0 {
		c.noops.Add(1)
	}
	return n
}

// Forget is Invalidate for a reason of this process, which counts as none of the
// server's.
func (c *Cache) Forget(key string) int { return c.forget(key, nil) }

func (c *Cache) forget(key string, visit func(key string, keys []string)) int {
	x := c.indexOf(key)
	x.mu.Lock()
	n := x.keys[key]
	if n == nil {
		x.mu.Unlock()
		return 0
	}
	delete(x.keys, key)
	for _, s := range n.slots {
		s.e.refs[s.i].in = false
		s.e.gone.Store(true)
	}
	x.mu.Unlock()
	for _, s := range n.slots {
		e := s.e
		home := c.shard(e.key)
		home.mu.Lock()
		wasServed := home.drop(e) && e.ready && !e.owner.hasLeft() && (e.until.IsZero() || time.Now().Before(e.until))
		home.mu.Unlock()
		c.unlink(e)
		if wasServed && visit != nil {
			visit(e.key, e.keys)
		}
	}
	return len(n.slots)
}

// Delete takes one entry away; false: there was none.
func (c *Cache) Delete(key string) bool {
	s := c.shard(key)
	s.mu.Lock()
	e := s.entries[key]
	if e != nil {
		s.drop(e)
	}
	s.mu.Unlock()
	c.unlink(e)
	return e != nil
}

// Reserved gives the reservation of a key with that token; nil: it is none any more.
func (c *Cache) Reserved(key string, token uint64) *Entry {
	s := c.shard(key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if e := s.entries[key]; e != nil && e.token == token && !e.settled {
		return e
	}
	return nil
}

// EvictOwner takes away the replies that belong to a connection, and counts them.
func (c *Cache) EvictOwner(id uint64) int {
	return c.sweep(func(e *Entry) bool { return e.ready && e.owner.ID == id })
}

// Flush takes everything away, reservations included, and counts it.
func (c *Cache) Flush() int { return c.sweep(func(*Entry) bool { return true }) }

func (c *Cache) sweep(goes func(e *Entry) bool) (n int) {
	for i := range c.shards {
		s := &c.shards[i]
		var out []*Entry
		s.mu.Lock()
		for _, e := range s.entries {
			if goes(e) {
				s.drop(e)
				out = append(out, e)
			}
		}
		s.mu.Unlock()
		for _, e := range out {
			c.unlink(e)
		}
		n += len(out)
	}
	return n
}

// Stats are a cache's numbers.
type Stats struct {
	Hits, Misses  uint64
	Entries       int // replies; reservations don't count
	Memory        int64
	Invalidations uint64 // redis keys that were invalidated
	Deletions     uint64 // entries that were taken away for it
	Noops         uint64 // keys of which there was nothing
}

// Stats gives the numbers of the moment.
func (c *Cache) Stats() Stats {
	st := Stats{Invalidations: c.invalidations.Load(), Deletions: c.deletions.Load(), Noops: c.noops.Load()}
	for i := range c.shards {
		s := &c.shards[i]
		st.Hits += s.hits.Load()
		st.Misses += s.misses.Load()
		s.mu.RLock()
		st.Entries += len(s.ring)
		st.Memory += s.bytes
		s.mu.RUnlock()
	}
	return st
}
