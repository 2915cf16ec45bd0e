package maintsim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A fleet is the nodes of a cluster, which do what the simulator announces.
type fleet interface {
	// move moves slots within a time, or as fast as it can if that is zero, and returns
	// those that have moved, whatever the error.
	move(ctx context.Context, m plannedMove, within time.Duration, atomic bool) ([]int, error)
	// failover makes a node the primary of its shard.
	failover(ctx context.Context, node int) error
	// join makes a shard part of the cluster, and leave takes it out; its nodes still lead
	// clients to the others then. reset ends that.
	join(ctx context.Context, shard int) error
	leave(ctx context.Context, shard int) error
	reset(ctx context.Context, shard int) error
	// kill ends a node, and restart brings it back. takeOver does what the others do
	// some time after a node was killed.
	kill(node int) error
	takeOver(ctx context.Context, node int) error
	restart(ctx context.Context, node int) error
	// do runs a command on the node that has its key.
	do(args []string) (any, error)
	close() error
}

// A plannedMove is a SlotMove that was looked at.
type plannedMove struct {
	from, to int
	slots    []int // ascending
}

// plan checks moves, and makes them what the next ones build on.
func (c *Cluster) plan(moves []SlotMove) ([]plannedMove, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []plannedMove
	owner := c.mu.planned
	for _, m := range moves {
		for _, shard := range []int{m.From, m.To} {
			if shard < 0 || shard >= len(c.table.shards) {
				return nil, fmt.Errorf("maintsim: no shard %d", shard)
			}
		}
		if m.From == m.To {
			return nil, fmt.Errorf("maintsim: slots can't move from shard %d to itself", m.From)
		}
		slots, err := listSlots(m.Slots)
		if err != nil {
			return nil, err
		}
		if m.Slots == nil {
			for slot, shard := range owner {
				if int(shard) == m.From {
					slots = append(slots, slot)
				}
			}
		}
		if len(slots) == 0 {
			return nil, fmt.Errorf("maintsim: shard %d has no slots to move", m.From)
		}
		for _, slot := range slots {
			if int(owner[slot]) != m.From {
				return nil, fmt.Errorf("maintsim: shard %d does not have slot %d", m.From, slot)
			}
			owner[slot] = int16(m.To)
		}
		out = append(out, plannedMove{from: m.From, to: m.To, slots: slots})
	}
	c.mu.planned = owner
	return out, nil
}

// replan makes what the table says the plan for slots that did not move.
func (c *Cluster) replan(moves []plannedMove) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.table.mu.RLock()
	defer c.table.mu.RUnlock()
	for _, m := range moves {
		for _, slot := range m.slots {
			if int(c.mu.planned[slot]) == m.to {
				c.mu.planned[slot] = c.table.owner[slot]
			}
		}
	}
}

// migrate is Migrate.
func (c *Cluster) migrate(ctx context.Context, moves []SlotMove, o options) error {
	if err := c.sim.interrupted(ctx); err != nil {
		return err
	}
	planned, err := c.plan(moves)
	if err != nil {
		return err
	}
	for _, m := range planned {
		if err := c.join(ctx, m.to); err != nil {
			c.replan(planned)
			return err
		}
	}
	var all []int
	for _, m := range planned {
		all = append(all, m.slots...)
	}
	slices.Sort(all)
	w, err := c.open(all, o)
	if err != nil {
		return err
	}
	if w != nil {
		err = c.sim.wait(ctx, c.sim.real(o.lead))
	}
	if err == nil {
		planned, err = c.moveAll(ctx, planned, o)
	} else {
		c.replan(planned)
		planned = nil
	}
	if err == nil {
		err = c.sim.stall(ctx, o.stall)
	}
	c.conclude(w, c.triplets(planned, o), o)
	if o.removal && err == nil {
		err = c.retire(ctx, planned, o)
	}
	return err
}

// moveAll does moves side by side, and returns what has moved.
func (c *Cluster) moveAll(ctx context.Context, planned []plannedMove, o options) (done []plannedMove, err error) {
	var wg sync.WaitGroup
	done = slices.Clone(planned)
	errs := make([]error, len(planned))
	for i, m := range planned {
		wg.Go(func() { done[i].slots, errs[i] = c.fleet.move(ctx, m, c.sim.real(o.window), o.atomic) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		c.replan(planned)
		return done, err
	}
	return done, nil
}

// triplets are moves as SMIGRATED tells them.
func (c *Cluster) triplets(moves []plannedMove, o options) []triplet {
	var out []triplet
	for _, m := range moves {
		if len(m.slots) > 0 {
			out = append(out, c.triplet(c.table.primary(m.from), c.table.primary(m.to), m.slots, o))
		}
	}
	return out
}

// triplet is slots that went from one node to another, as SMIGRATED tells them.
func (c *Cluster) triplet(from, to int, slots []int, o options) triplet {
	addr := func(node int) string {
		if o.form.has(VariantResolved) {
			return c.sim.proxies[node].addr
		}
		return c.table.addrs[node]
	}
	return triplet{addr(from), addr(to), slotsText(ranges(slots))}
}

// open announces SMIGRATING, unless nobody is to know: then it returns nil.
func (c *Cluster) open(slots []int, o options) (*window, error) {
	s := c.sim
	if o.unannounced || s.optInMode() == optInRefused {
		return nil, nil
	}
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	w := &window{
		notice: SMigrating,
		seq:    s.takeSeqLocked(o, 2), // the closing notice has the next number
		end:    time.Now().Add(s.real(o.lead + o.window)),
		form:   o.form,
		twice:  o.twice,
		slots:  ranges(slots),
	}
	told := s.openLocked(w, o)
	s.mu.Unlock()
	s.record(Event{Kind: EventNotice, Notice: SMigrating, Seq: w.seq, Proxy: -1, Connections: told, Detail: slotsText(w.slots)})
	return w, nil
}

// conclude announces SMIGRATED with what has moved. Without that the window ends silently.
func (c *Cluster) conclude(w *window, moves []triplet, o options) {
	if w == nil {
		return
	}
	s := c.sim
	if o.noClosing || len(moves) == 0 {
		s.mu.Lock()
		s.closeLocked(w, nil, o)
		s.mu.Unlock()
		return
	}
	done := &completion{notice: SMigrated, seq: w.seq + 1, form: w.form, twice: w.twice, moves: moves}
	s.mu.Lock()
	told := s.closeLocked(w, done, o)
	s.mu.Unlock()
	var detail strings.Builder
	for i, m := range moves {
		if i > 0 {
			detail.WriteString(" ")
		}
		detail.WriteString(m.from + ">" + m.to + "[" + m.slots + "]")
	}
	s.record(Event{Kind: EventNotice, Notice: SMigrated, Seq: done.seq, Proxy: -1, Connections: told, Detail: detail.String()})
}

// join makes a shard part of the cluster, and its nodes accept.
func (c *Cluster) join(ctx context.Context, shard int) error {
	if !slices.Contains(c.table.members(false), shard) {
		return nil
	}
	for _, node := range c.table.shards[shard].nodes {
		if err := c.sim.open(c.sim.proxies[node]); err != nil {
			return err
		}
	}
	if err := c.fleet.join(ctx, shard); err != nil {
		return err
	}
	c.table.update(func() { c.table.shards[shard].member = true })
	c.sim.record(Event{Kind: EventJoined, Proxy: c.table.primary(shard)})
	return nil
}

// retire takes the sources of moves out of the cluster that have no slots any more, and
// closes their connections after the grace time.
func (c *Cluster) retire(ctx context.Context, moves []plannedMove, o options) error {
	var empty []int
	for _, m := range moves {
		if len(c.table.slotsOf(m.from)) == 0 && !slices.Contains(empty, m.from) {
			empty = append(empty, m.from)
		}
	}
	for _, shard := range empty {
		if err := c.fleet.leave(ctx, shard); err != nil {
			return err
		}
		c.table.update(func() { c.table.shards[shard].member = false })
		c.sim.record(Event{Kind: EventDropped, Proxy: c.table.primary(shard)})
	}
	if len(empty) == 0 {
		return nil
	}
	err := c.sim.wait(ctx, c.sim.real(o.grace))
	for _, shard := range empty {
		for _, node := range c.table.shards[shard].nodes {
			c.closeNode(node, o.mode.atDeadline(), EventProxyClosed)
		}
		if err == nil {
			err = c.fleet.reset(ctx, shard)
		}
	}
	return err
}

// closeNode makes a node refuse, and ends its connections.
func (c *Cluster) closeNode(node int, how ending, kind EventKind) {
	c.sim.endServer(c.sim.proxies[node], how, kind)
}

// failover is Failover.
func (c *Cluster) failover(ctx context.Context, shard int, o options) error {
	if err := c.sim.interrupted(ctx); err != nil {
		return err
	}
	if shard < 0 || shard >= len(c.table.shards) {
		return fmt.Errorf("maintsim: no shard %d", shard)
	}
	old := c.table.primary(shard)
	node, err := c.successor(shard, o.target)
	if err != nil {
		return err
	}
	slots := c.table.slotsOf(shard)
	w, err := c.open(slots, o)
	if err != nil {
		return err
	}
	if w != nil {
		err = c.sim.wait(ctx, c.sim.real(o.lead))
	}
	if err == nil {
		err = c.fleet.failover(ctx, node)
	}
	if err == nil {
		c.sim.record(Event{Kind: EventPromoted, Proxy: node})
		err = c.sim.stall(ctx, o.stall)
		c.conclude(w, []triplet{c.triplet(old, node, slots, o)}, o)
		return err
	}
	c.conclude(w, nil, o)
	return err
}

// successor is the replica of a shard that takes over: target, or if that is -1 the first
// that lives.
func (c *Cluster) successor(shard, target int) (int, error) {
	t := c.table
	t.mu.RLock()
	defer t.mu.RUnlock()
	sh := t.shards[shard]
	for _, node := range sh.nodes {
		if node != sh.primary && t.alive[node] && (target < 0 || node == target) {
			return node, nil
		}
	}
	return -1, fmt.Errorf("%w: shard %d has no replica that could", ErrNoTarget, shard)
}

// addShard is AddShard.
func (c *Cluster) addShard(ctx context.Context, opts []Option) (int, error) {
	spares := c.Spares()
	if len(spares) == 0 {
		return -1, fmt.Errorf("%w: there is no spare shard", ErrNoTarget)
	}
	shard, givers := spares[0], c.table.members(true)
	for _, from := range givers {
		slots := c.table.slotsOf(from)
		keep := len(slots) * len(givers) / (len(givers) + 1)
		if keep == len(slots) {
			continue
		}
		if err := c.MigrateSlots(ctx, from, shard, ranges(slots[keep:]), opts...); err != nil {
			return shard, err
		}
	}
	return shard, nil
}

// removeShard is RemoveShard.
func (c *Cluster) removeShard(ctx context.Context, shard int, opts []Option) error {
	heirs := slices.DeleteFunc(c.table.members(true), func(s int) bool { return s == shard })
	if len(heirs) == 0 {
		return fmt.Errorf("%w: no other shard", ErrNoTarget)
	}
	slots := c.table.slotsOf(shard)
	opts = append(slices.Clone(opts), WithRemoval()) // which is when it is empty
	for i, to := range heirs {
		part := slots[len(slots)*i/len(heirs) : len(slots)*(i+1)/len(heirs)]
		if len(part) == 0 {
			continue
		}
		if err := c.MigrateSlots(ctx, shard, to, ranges(part), opts...); err != nil {
			return err
		}
	}
	return nil
}

// flip gives slots to a shard, for whoever keeps the table.
func (t *slotTable) flip(slots []int, to int) {
	t.update(func() {
		for _, slot := range slots {
			t.owner[slot] = int16(to)
			delete(t.moving, slot)
		}
	})
}

// ownsAll waits until a shard has slots, none of them on the move.
func (t *slotTable) ownsAll(ctx context.Context, slots []int, shard int) error {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("maintsim: slots %s never came to shard %d", slotsText(ranges(slots)), shard))
	defer cancel()
	for {
		t.mu.RLock()
		changed := t.changed
		ready := !slices.ContainsFunc(slots, func(slot int) bool { return int(t.owner[slot]) != shard || t.moving[slot] != nil })
		t.mu.RUnlock()
		if ready {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// parts cuts slots into at most n parts of nearly the same length.
func parts(slots []int, n int) [][]int {
	n = max(min(n, len(slots)), 1)
	var out [][]int
	for i := range n {
		out = append(out, slots[len(slots)*i/n:len(slots)*(i+1)/n])
	}
	return out
}
