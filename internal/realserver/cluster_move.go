package realserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	moveKeys         = 100             // how many keys one MIGRATE takes along
	failoverPatience = 6 * time.Second // a replica gives a failover up after five
	moveSlots        = 32              // how many slots MoveSlots has open at once, as each step costs the nodes a write to disk
)

// A SlotMove moves slots from one primary to another, step by step, as redis-cli
// does. It belongs to one goroutine, which must call Close.
type SlotMove struct {
	cluster  *Cluster
	from, to *node
	source   *session
	target   *session
}

// StartMove prepares to move slots between the primaries at two addresses; nothing is
// moved yet. ctx bounds this call only.
func (c *Cluster) StartMove(ctx context.Context, from, to string) (*SlotMove, error) {
	m := &SlotMove{cluster: c}
	var err error
	if m.from, err = c.at(from); err != nil {
		return nil, err
	}
	if m.to, err = c.at(to); err != nil {
		return nil, err
	}
	if m.source, err = openSession(ctx, from, c.password); err != nil {
		return nil, err
	}
	if m.target, err = openSession(ctx, to, c.password); err != nil {
		m.source.close()
		return nil, err
	}
	return m, nil
}

// Close ends the connections. What was begun stays as it is.
func (m *SlotMove) Close() {
	m.source.close()
	m.target.close()
}

// Open opens slots at both ends: for keys that the source has not it answers ASK.
func (m *SlotMove) Open(ctx context.Context, slots ...int) error {
	if err := setSlots(ctx, m.target, slots, "IMPORTING", m.from.id()); err != nil {
		return err
	}
	return setSlots(ctx, m.source, slots, "MIGRATING", m.to.id())
}

// setSlots says the same of slots to one end.
func setSlots(ctx context.Context, end *session, slots []int, state, id string) error {
	var commands [][]string
	for _, slot := range slots {
		commands = append(commands, []string{"CLUSTER", "SETSLOT", strconv.Itoa(slot), state, id})
	}
	_, err := end.doAll(ctx, commands)
	return err
}

// Keys moves at most limit keys of an open slot, and returns how many it moved; 0
// means that none were left.
func (m *SlotMove) Keys(ctx context.Context, slot, limit int) (int, error) {
	reply, err := m.source.do(ctx, "CLUSTER", "GETKEYSINSLOT", strconv.Itoa(slot), strconv.Itoa(limit))
	if err != nil {
		return 0, err
	}
	keys, _ := reply.([]any)
	if len(keys) == 0 {
		return 0, nil
	}
	host, port, err := net.SplitHostPort(cmp.Or(m.to.server().TLSAddr(), m.to.server().Addr()))
	if err != nil {
		return 0, err
	}
	words := []string{"MIGRATE", host, port, "", "0", strconv.FormatInt(talkTimeout.Milliseconds(), 10), "REPLACE"}
	if m.cluster.password != "" {
		words = append(words, "AUTH", m.cluster.password)
	}
	words = append(words, "KEYS")
	for _, key := range keys {
		text, _ := key.(string)
		words = append(words, text)
	}
	return len(keys), m.migrate(ctx, words)
}

// migrate sends MIGRATE, and again while the target holds the cluster to be down, as it
// does on a machine that is too busy for the nodes' heartbeats.
func (m *SlotMove) migrate(ctx context.Context, words []string) error {
	ticker := time.NewTicker(clusterPoll)
	defer ticker.Stop()
	for {
		_, err := m.source.do(ctx, words...)
		if err == nil || !strings.Contains(err.Error(), "CLUSTERDOWN") {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// Finish gives open slots, which must be empty at the source, to their new owner. The
// other nodes learn of it by gossip. Moves that overlap take turns: nodes believe a new
// owner that has a higher epoch than the old one, and each takes the next one that it
// knows of, so that two which finish at the same time would take the same.
func (m *SlotMove) Finish(ctx context.Context, slots ...int) error {
	c := m.cluster
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := c.inform(ctx, m.to); err != nil {
		return err
	}
	if err := setSlots(ctx, m.target, slots, "NODE", m.to.id()); err != nil {
		return err
	}
	c.latest = m.to
	return setSlots(ctx, m.source, slots, "NODE", m.to.id())
}

// inform waits until a node that is to get slots knows the epoch of the one that got some
// last. The turn is taken.
func (c *Cluster) inform(ctx context.Context, n *node) error {
	if c.latest == nil || c.latest == n || !c.latest.lives() {
		return nil
	}
	last, err := c.epoch(ctx, c.latest, "cluster_my_epoch")
	if err != nil {
		return err
	}
	return c.until(ctx, func(ctx context.Context) error {
		known, err := c.epoch(ctx, n, "cluster_current_epoch")
		if err == nil && known < last {
			err = fmt.Errorf("%s knows of epoch %d, not of %d yet", n.server().Addr(), known, last)
		}
		return err
	})
}

// epoch asks a node for one of its epochs, as CLUSTER INFO names it.
func (c *Cluster) epoch(ctx context.Context, n *node, name string) (int, error) {
	info, err := c.Do(ctx, n.server().Addr(), "CLUSTER", "INFO")
	if err != nil {
		return 0, err
	}
	text, _ := info.(string)
	_, rest, _ := strings.Cut(text, name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return strconv.Atoi(value)
}

// whole moves slots from the first step to the last.
func (m *SlotMove) whole(ctx context.Context, slots ...int) error {
	if err := m.Open(ctx, slots...); err != nil {
		return err
	}
	full, err := m.withKeys(ctx, slots)
	if err != nil {
		return err
	}
	for _, slot := range full {
		for {
			moved, err := m.Keys(ctx, slot, moveKeys)
			if err != nil {
				return err
			}
			if moved == 0 {
				break
			}
		}
	}
	return m.Finish(ctx, slots...)
}

// withKeys returns those of the open slots that are not empty at the source, where none
// gets a new key.
func (m *SlotMove) withKeys(ctx context.Context, slots []int) (full []int, err error) {
	var commands [][]string
	for _, slot := range slots {
		commands = append(commands, []string{"CLUSTER", "COUNTKEYSINSLOT", strconv.Itoa(slot)})
	}
	counts, err := m.source.doAll(ctx, commands)
	if err != nil {
		return nil, err
	}
	for i, n := range counts {
		if n != int64(0) {
			full = append(full, slots[i])
		}
	}
	return full, nil
}

// MoveSlots moves slots with their keys from the primary at one address to that at
// another, a few at a time, and returns when all nodes know the new owner. Meanwhile keys
// are asked for at either (ASK, TRYAGAIN, MOVED).
func (c *Cluster) MoveSlots(ctx context.Context, from, to string, ranges ...SlotRange) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	m, err := c.StartMove(ctx, from, to)
	if err != nil {
		return err
	}
	defer m.Close()
	for slots := range slices.Chunk(slotsOf(ranges), moveSlots) {
		if err := m.whole(ctx, slots...); err != nil {
			return fmt.Errorf("move slots %d from %s to %s: %w", slots, from, to, err)
		}
	}
	return c.Settle(ctx)
}

// slotsOf lists the slots of ranges.
func slotsOf(ranges []SlotRange) []int {
	var slots []int
	for _, r := range ranges {
		for slot := r.Start; slot <= r.End; slot++ {
			slots = append(slots, slot)
		}
	}
	return slots
}

// AtomicMigrate moves slots as a whole by CLUSTER MIGRATESLOTS, which Valkey has since
// 9.0, and returns when all nodes know the new owner. Other servers give
// errors.ErrUnsupported.
func (c *Cluster) AtomicMigrate(ctx context.Context, from, to string, ranges ...SlotRange) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	target, err := c.at(to)
	if err != nil {
		return err
	}
	words := []string{"CLUSTER", "MIGRATESLOTS", "SLOTSRANGE"}
	for _, r := range ranges {
		words = append(words, strconv.Itoa(r.Start), strconv.Itoa(r.End))
	}
	_, err = c.Do(ctx, from, append(words, "NODE", target.id())...)
	if refusal, ok := errors.AsType[ReplyError](err); ok && strings.Contains(string(refusal), "unknown subcommand") {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	if err != nil {
		return err
	}
	err = c.until(ctx, func(ctx context.Context) error { return c.arrived(ctx, target, ranges) })
	if err != nil {
		state, _ := c.Do(context.WithoutCancel(ctx), from, "CLUSTER", "GETSLOTMIGRATIONS")
		return fmt.Errorf("%w; the source says %v", err, state)
	}
	return c.Settle(ctx)
}

// arrived tells which slots a node does not own yet.
func (c *Cluster) arrived(ctx context.Context, n *node, ranges []SlotRange) error {
	own, err := c.self(ctx, n)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if !own.owns(r) {
			return fmt.Errorf("%s does not own the slots %d to %d yet", n.server().Addr(), r.Start, r.End)
		}
	}
	return nil
}

// Failover makes the replica at addr the primary, in agreement with its primary, and
// returns when all nodes know it. It asks when the others will vote for it, and again
// where they have not: until then its primary holds back writes.
func (c *Cluster) Failover(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	n, err := c.at(addr)
	if err != nil {
		return err
	}
	var asked time.Time
	var old *node
	err = c.until(ctx, func(ctx context.Context) error {
		own, err := c.self(ctx, n)
		if err != nil || own.isPrimary() {
			return err
		}
		if !asked.IsZero() && time.Since(asked) <= max(failoverPatience, 4*c.nodeTimeout) { // before that no other election begins
			return fmt.Errorf("%s is no primary yet", addr)
		}
		if old, err = c.predecessor(ctx, n, own.primary); err != nil {
			return err
		}
		if _, err := c.Do(ctx, addr, "CLUSTER", "FAILOVER"); err != nil {
			return err
		}
		asked = time.Now()
		return fmt.Errorf("%s is no primary yet", addr)
	})
	if err != nil {
		return err
	}
	if old != nil {
		now := time.Now()
		old.replaced.Store(&now)
	}
	return c.Settle(ctx)
}

// predecessor gives the primary with an id, whose place a replica is to take, or tells why
// the others would not vote for that yet: Valkey 8 votes about one primary once in two
// node timeouts, also where it was replaced and has been made a primary again since.
func (c *Cluster) predecessor(ctx context.Context, n *node, id string) (primary *node, err error) {
	i := slices.IndexFunc(c.nodes, func(other *node) bool { return other.id() == id })
	if i < 0 {
		return nil, nil
	}
	primary = c.nodes[i]
	at := primary.replaced.Load()
	if at == nil || time.Since(*at) > 2*c.nodeTimeout {
		return primary, nil
	}
	info, err := c.Do(ctx, n.server().Addr(), "INFO", "server")
	if err != nil {
		return nil, err
	}
	if text, _ := info.(string); strings.Contains(text, "\nvalkey_version:8.") {
		return nil, fmt.Errorf("nobody votes about %s before %v have passed", primary.server().Addr(), 2*c.nodeTimeout)
	}
	return primary, nil
}
