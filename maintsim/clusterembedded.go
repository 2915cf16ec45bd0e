package maintsim

import (
	"context"
	"slices"
	"time"
)

// An embeddedFleet is nodes that are proxies only, in front of one embedded server. The
// table decides who serves what.
type embeddedFleet struct{ c *Cluster }

const (
	moveParts = 16 // parts in which slots move, one after the other
	keySteps  = 8  // steps in which the keys of a part move
)

// move moves slots part by part. Keys of a part that is on its way go step by step, so
// that those left are served by the source, and the others by the target.
func (f embeddedFleet) move(ctx context.Context, m plannedMove, within time.Duration, atomic bool) (done []int, err error) {
	ctx, cancel := f.c.sim.bound(ctx)
	defer cancel()
	if atomic {
		if err := f.c.sim.wait(ctx, within); err != nil {
			return nil, err
		}
		if err := f.c.table.ownsAll(ctx, m.slots, m.from); err != nil {
			return nil, err
		}
		f.finish(m, m.slots)
		return m.slots, nil
	}
	all := parts(m.slots, moveParts)
	for _, part := range all {
		if err := f.c.table.ownsAll(ctx, part, m.from); err != nil {
			return done, err
		}
		if err := f.movePart(ctx, m, part, within/time.Duration(len(all))); err != nil {
			return done, err
		}
		done = append(done, part...)
	}
	return done, nil
}

// movePart moves some slots key by key. If ctx ends, they stay.
func (f embeddedFleet) movePart(ctx context.Context, m plannedMove, part []int, within time.Duration) error {
	t := f.c.table
	t.update(func() {
		for _, slot := range part {
			t.moving[slot] = &slotMigration{from: m.from, to: m.to, moved: make(map[string]struct{})}
		}
	})
	var keys []string
	for _, k := range f.c.sim.engine.embedded.m.Keys() {
		if _, ok := slices.BinarySearch(part, slotOfString(k)); ok {
			keys = append(keys, k)
		}
	}
	for i := range keySteps {
		if err := f.c.sim.wait(ctx, within/keySteps); err != nil {
			t.flip(part, m.from)
			return err
		}
		for _, k := range keys[len(keys)*i/keySteps : len(keys)*(i+1)/keySteps] {
			t.mu.RLock()
			migration := t.moving[slotOfString(k)]
			t.mu.RUnlock()
			migration.take([][]byte{[]byte(k)})
		}
	}
	f.finish(m, part)
	return nil
}

// finish gives slots to their new owner. Who waits for something of theirs at the old one
// is sent away.
func (f embeddedFleet) finish(m plannedMove, slots []int) {
	c := f.c
	c.table.flip(slots, m.to)
	c.channels.evict(slots, func(s *session) bool { return c.cfg.shardOf(s.proxy.index) == m.to })
	to := c.table.addrs[c.table.primary(m.to)]
	c.unblock(func(s *session, slot int) string {
		if _, ok := slices.BinarySearch(slots, slot); !ok || c.cfg.shardOf(s.proxy.index) == m.to {
			return ""
		}
		return movedTo(slot, to)
	})
	c.sim.record(Event{Kind: EventSlots, Proxy: c.table.primary(m.to), Detail: slotsText(ranges(slots))})
}

// unblock ends blocking commands with the error that why returns for the slot of their
// first key, if it is not "".
func (c *Cluster) unblock(why func(s *session, slot int) string) {
	for _, s := range c.sim.blocked() {
		if slot := s.blockedSlot(); slot >= 0 {
			if text := why(s, slot); text != "" && s.unblockError(text) {
				s.proxy.countError(text)
			}
		}
	}
}

func (f embeddedFleet) failover(_ context.Context, node int) error {
	f.c.promote(f.c.cfg.shardOf(node), node)
	return nil
}

// promote makes a node the primary of its shard.
func (c *Cluster) promote(shard, node int) {
	old := c.table.primary(shard)
	c.table.update(func() { c.table.shards[shard].primary, c.table.shards[shard].failed = node, false })
	c.unblock(func(s *session, _ int) string {
		if s.proxy.index != old {
			return ""
		}
		return "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"
	})
}

func (f embeddedFleet) join(context.Context, int) error  { return nil }
func (f embeddedFleet) leave(context.Context, int) error { return nil }
func (f embeddedFleet) reset(context.Context, int) error { return nil }
func (f embeddedFleet) kill(int) error                   { return nil }

// takeOver promotes a replica of the killed node's shard if it was the primary.
func (f embeddedFleet) takeOver(_ context.Context, node int) error {
	c, shard := f.c, f.c.cfg.shardOf(node)
	c.table.mu.RLock()
	back := c.table.alive[node] || c.table.shards[shard].primary != node
	c.table.mu.RUnlock()
	if back {
		return nil
	}
	next, err := c.successor(shard, -1)
	if err != nil {
		c.table.update(func() { c.table.shards[shard].failed = true })
		return nil
	}
	c.promote(shard, next)
	c.sim.record(Event{Kind: EventPromoted, Proxy: next})
	return nil
}

func (f embeddedFleet) restart(_ context.Context, node int) error {
	t, shard := f.c.table, f.c.cfg.shardOf(node)
	t.update(func() {
		t.alive[node] = true
		if t.shards[shard].primary == node {
			t.shards[shard].failed = false
		}
	})
	return nil
}

func (f embeddedFleet) do(args []string) (any, error) { return f.c.sim.engine.Do(args...) }
func (f embeddedFleet) close() error                  { return nil }
