package maintsim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/baton-go/redis/internal/realserver"
)

// A realFleet is the nodes of a real cluster, each behind a proxy that the cluster itself
// makes known in its place. They decide who serves what; the table follows.
type realFleet struct {
	c     *Cluster
	nodes *realserver.Cluster
	addrs []string // where nodes really listen, by number
}

const (
	realPoll  = 50 * time.Millisecond
	realTries = 100                    // of Do, while slots are on the move
	realSlots = 256                    // that are moved at once: a move is bounded in time
	realPart  = 500 * time.Millisecond // that moving a part of the slots should take
)

// startReal starts a real cluster. Each node is served as soon as its address is known,
// because replicas look for their primary at the proxy.
func (c *Cluster) startReal(lns []net.Listener) error {
	cfg := c.cfg
	if cfg.TLS != nil {
		return errors.New("maintsim: a real cluster can't have TLS: its nodes talk to each other through the proxies")
	}
	f := &realFleet{c: c, addrs: make([]string, cfg.nodes())}
	hosts := make([]string, cfg.nodes())
	for i := range hosts {
		hosts[i] = cfg.Hosts[cfg.nodeOf(i)]
	}
	var bad []error
	launch := realserver.ClusterConfig{
		Primaries: cfg.Shards,
		Replicas:  cfg.Replicas,
		Spares:    cfg.Spares * (1 + cfg.Replicas),
		Hosts:     hosts,
		Password:  cfg.Password,
		// Nobody has to be found dead soon, and a machine that is busy with a load must not
		// make the nodes lose each other.
		NodeTimeout: 3 * time.Second,
		Lead:        cfg.Backend.argv[1:],
		Announce: func(i int, addr string) realserver.Announcement {
			node := cfg.nodeOf(i)
			p := c.sim.proxies[node]
			f.addrs[node], p.upstream = addr, addr
			if cfg.shardOf(node) < cfg.Shards {
				c.sim.serve(p, lns[node], nil)
			} else {
				_ = lns[node].Close()
			}
			a, err := c.announcement(node)
			bad = append(bad, err)
			return a
		},
	}
	if cfg.Names || cfg.Announce != nil {
		launch.Args = []string{"--cluster-preferred-endpoint-type", "hostname"}
	}
	c.sim.engine = &Engine{user: cfg.Username, password: cfg.Password}
	var err error
	if f.nodes, err = realserver.LaunchCluster(c.sim.ctx, cfg.Backend.argv[0], launch); err != nil {
		return fmt.Errorf("maintsim: %w", err)
	}
	c.fleet = f
	c.sim.engine.addr = f.addrs[0]
	if err := errors.Join(bad...); err != nil {
		return err
	}
	return f.sync(c.sim.ctx)
}

// nodeOf is the number of the real cluster's node i: primaries, replicas in turn, and then
// those that are spare.
func (c ClusterConfig) nodeOf(i int) int {
	first := c.Shards + c.Spares // of the replicas
	replicas := c.Shards * c.Replicas
	switch j := i - c.Shards; {
	case j < 0:
		return i
	case j < replicas:
		return first + j%c.Shards*c.Replicas + j/c.Shards
	case j < replicas+c.Spares:
		return c.Shards + j - replicas
	default:
		return first + j - c.Spares
	}
}

// announcement is how a node is to be announced.
func (c *Cluster) announcement(node int) (realserver.Announcement, error) {
	p := c.sim.proxies[node]
	host, port, err := splitAddr(c.table.addrs[node])
	a := realserver.Announcement{IP: p.host, Port: port}
	switch {
	case err != nil:
	case net.ParseIP(host) == nil:
		a.Hostname = host
	case host != p.host:
		err = fmt.Errorf("maintsim: node %d of a real cluster can't be announced as %s: the others look for it at %s", node, host, p.host)
	}
	return a, err
}

// sync makes the table say what the nodes say.
func (f *realFleet) sync(ctx context.Context) error {
	states, err := f.nodes.Describe(ctx)
	if err != nil {
		return err
	}
	t := f.c.table
	t.update(func() {
		for node, addr := range f.addrs {
			st, ok := states[addr]
			if !ok {
				continue
			}
			t.ids[node] = st.ID
			if !st.Primary {
				continue
			}
			shard := f.c.cfg.shardOf(node)
			if t.alive[node] {
				t.shards[shard].primary = node
			}
			for _, r := range st.Slots {
				for slot := r.Start; slot <= r.End; slot++ {
					t.owner[slot] = int16(shard)
				}
			}
		}
	})
	return nil
}

// primary is where the primary of a shard listens.
func (f *realFleet) primary(shard int) string { return f.addrs[f.c.table.primary(shard)] }

func (f *realFleet) move(ctx context.Context, m plannedMove, within time.Duration, atomic bool) (done []int, err error) {
	ctx, cancel := f.c.sim.bound(ctx)
	defer cancel()
	n := max(min(int(within/realPart), moveParts), len(m.slots)/realSlots, 1)
	move := f.nodes.MoveSlots
	if atomic {
		n, move = 1, f.nodes.AtomicMigrate
	}
	all := parts(m.slots, n)
	for _, part := range all {
		over := time.Now().Add(within / time.Duration(len(all)))
		if atomic {
			if err := f.c.sim.wait(ctx, within); err != nil {
				return done, err
			}
		}
		if err := f.c.table.ownsAll(ctx, part, m.from); err != nil {
			return done, err
		}
		var rs []realserver.SlotRange
		for _, r := range ranges(part) {
			rs = append(rs, realserver.SlotRange{Start: r.First, End: r.Last})
		}
		if err := move(ctx, f.primary(m.from), f.primary(m.to), rs...); err != nil {
			return f.arrived(m, err)
		}
		f.c.table.flip(part, m.to)
		f.c.sim.record(Event{Kind: EventSlots, Proxy: f.c.table.primary(m.to), Detail: slotsText(ranges(part))})
		done = append(done, part...)
		if err := f.c.sim.wait(ctx, time.Until(over)); err != nil {
			return done, err
		}
	}
	return done, nil
}

// arrived is what has moved when a move failed for a reason.
func (f *realFleet) arrived(m plannedMove, why error) ([]int, error) {
	ctx, cancel := context.WithTimeout(f.c.sim.ctx, doTimeout)
	defer cancel()
	if err := f.sync(ctx); err != nil {
		return nil, errors.Join(why, err)
	}
	own := f.c.table.slotsOf(m.to)
	return slices.DeleteFunc(slices.Clone(m.slots), func(slot int) bool {
		_, ok := slices.BinarySearch(own, slot)
		return !ok
	}), why
}

func (f *realFleet) failover(ctx context.Context, node int) error {
	if err := f.nodes.Failover(ctx, f.addrs[node]); err != nil {
		return err
	}
	return f.sync(ctx)
}

func (f *realFleet) join(ctx context.Context, shard int) error {
	t := f.c.table
	primary := t.primary(shard)
	if err := f.nodes.Join(ctx, f.addrs[primary], ""); err != nil {
		return err
	}
	for _, node := range t.shards[shard].nodes {
		if node == primary {
			continue
		}
		if err := f.nodes.Join(ctx, f.addrs[node], f.addrs[primary]); err != nil {
			return err
		}
	}
	return f.sync(ctx)
}

func (f *realFleet) leave(ctx context.Context, shard int) error {
	return f.nodes.Leave(ctx, f.shardAddrs(shard)...)
}

func (f *realFleet) reset(ctx context.Context, shard int) error {
	return f.nodes.Reset(ctx, f.shardAddrs(shard)...)
}

// shardAddrs is where the nodes of a shard listen, its primary first.
func (f *realFleet) shardAddrs(shard int) []string {
	primary := f.primary(shard)
	addrs := []string{primary}
	for _, node := range f.c.table.shards[shard].nodes {
		if f.addrs[node] != primary {
			addrs = append(addrs, f.addrs[node])
		}
	}
	return addrs
}

func (f *realFleet) kill(node int) error { return f.nodes.Kill(f.addrs[node]) }

// takeOver waits until another node is the primary of the killed one's shard.
func (f *realFleet) takeOver(ctx context.Context, node int) error {
	t, shard := f.c.table, f.c.cfg.shardOf(node)
	if t.primary(shard) != node {
		return nil
	}
	if _, err := f.c.successor(shard, -1); err != nil {
		t.update(func() { t.shards[shard].failed = true })
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		err := f.sync(ctx)
		if next := t.primary(shard); err == nil && next != node {
			f.c.sim.record(Event{Kind: EventPromoted, Proxy: next})
			return nil
		}
		if err := f.c.sim.wait(ctx, realPoll); err != nil {
			return err
		}
	}
}

func (f *realFleet) restart(ctx context.Context, node int) error {
	if err := f.nodes.Restart(ctx, f.addrs[node]); err != nil {
		return err
	}
	f.c.table.update(func() {
		f.c.table.alive[node] = true
		f.c.table.shards[f.c.cfg.shardOf(node)].failed = false
	})
	return f.sync(ctx)
}

// do follows redirects, as slots may be on the move.
func (f *realFleet) do(args []string) (any, error) {
	words := make([][]byte, len(args))
	for i, a := range args {
		words[i] = []byte(a)
	}
	shard := 0
	if len(words) > 0 {
		if keys := appendKeys(nil, words); len(keys) > 0 {
			f.c.table.mu.RLock()
			shard = int(f.c.table.owner[slotOf(keys[0])])
			f.c.table.mu.RUnlock()
		}
	}
	addr, asking := f.primary(shard), false
	var err error
	for range realTries {
		var v any
		if v, err = f.ask(addr, asking, args); err == nil {
			return v, nil
		}
		asking = false
		refusal, ok := errors.AsType[ServerError](err)
		if !ok {
			return nil, err
		}
		switch words := strings.Fields(string(refusal)); {
		case len(words) == 3 && (words[0] == "MOVED" || words[0] == "ASK"):
			node := slices.Index(f.c.table.addrs, words[2])
			if node < 0 {
				return nil, err
			}
			addr, asking = f.addrs[node], words[0] == "ASK"
		case strings.HasPrefix(string(refusal), "TRYAGAIN"):
			if err := f.c.sim.wait(f.c.sim.ctx, realPoll); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	return nil, err
}

// ask runs a command on the node at addr.
func (f *realFleet) ask(addr string, asking bool, args []string) (any, error) {
	ctx, cancel := context.WithTimeout(f.c.sim.ctx, doTimeout)
	defer cancel()
	conn, err := dialServer(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	d := newDataConn(conn)
	if err := d.auth("", f.c.cfg.Password); err != nil {
		return nil, err
	}
	if asking {
		if _, err := d.do("ASKING"); err != nil {
			return nil, err
		}
	}
	return d.do(args...)
}

func (f *realFleet) close() error { return f.nodes.Close() }
