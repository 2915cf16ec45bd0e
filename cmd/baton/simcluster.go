package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/drill"
	"github.com/baton-go/redis/maintsim"
)

// clusterOrders are what can be done to a cluster beside the orders for both.
func clusterOrders() []order {
	return []order{
		{"slot-migrate", "[from=0] [to=1] [slots=0-99]", "move slots, by default half of the largest shard's to the smallest", inCluster, parseSlotMigrate},
		{"cluster-failover", "[shard=0]", "a replica takes over from its primary", inCluster, parseFailover},
		{"reshard", "", "a shard joins, gets slots, and leaves", inCluster, ofCluster((*maintsim.Cluster).Reshard)},
		{"add-shard", "", "a spare shard joins and gets slots", inCluster, ofCluster(func(c *maintsim.Cluster, ctx context.Context, opts ...maintsim.Option) error {
			_, err := c.AddShard(ctx, opts...)
			return err
		})},
		{"remove-shard", "shard", "a shard gives its slots and leaves", inCluster, numbered((*maintsim.Cluster).RemoveShard)},
		{"kill", "node", "end a node without notice", inCluster, numbered(func(c *maintsim.Cluster, ctx context.Context, node int, _ ...maintsim.Option) error {
			return c.Kill(ctx, node)
		})},
		{"start", "node", "bring a killed node back", inCluster, numbered(func(c *maintsim.Cluster, ctx context.Context, node int, _ ...maintsim.Option) error {
			return c.Restart(ctx, node)
		})},
		{"cut", "[proxy=0]", "cut the connections to all nodes or to one", inCluster, ofCluster((*maintsim.Cluster).Cut)},
		{"nodes", "", "list the nodes", inCluster, bare(func(_ context.Context, s *simulation) error {
			s.out.at(time.Now(), describeNodes(s.cluster.Nodes()))
			return nil
		})},
	}
}

// ofCluster parses an order with options only.
func ofCluster(do func(*maintsim.Cluster, context.Context, ...maintsim.Option) error) func([]string) (func(context.Context, *simulation) error, error) {
	return func(args []string) (func(context.Context, *simulation) error, error) {
		opts, _, err := parseOptions(args)
		return func(ctx context.Context, s *simulation) error { return do(s.cluster, ctx, opts...) }, err
	}
}

// numbered parses an order with a number and options.
func numbered(do func(*maintsim.Cluster, context.Context, int, ...maintsim.Option) error) func([]string) (func(context.Context, *simulation) error, error) {
	return func(args []string) (func(context.Context, *simulation) error, error) {
		if len(args) == 0 {
			return nil, errors.New("wants a number from 0 on")
		}
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 0 {
			return nil, fmt.Errorf("wants a number from 0 on, not %q", args[0])
		}
		opts, _, err := parseOptions(args[1:])
		return func(ctx context.Context, s *simulation) error { return do(s.cluster, ctx, n, opts...) }, err
	}
}

// parseFailover reads which shard fails over.
func parseFailover(args []string) (func(context.Context, *simulation) error, error) {
	shard := 0
	rest, err := take(args, map[string]func(string) error{"shard": number(&shard)})
	if err != nil {
		return nil, err
	}
	opts, _, err := parseOptions(rest)
	return func(ctx context.Context, s *simulation) error { return s.cluster.Failover(ctx, shard, opts...) }, err
}

// parseSlotMigrate reads which slots move.
func parseSlotMigrate(args []string) (func(context.Context, *simulation) error, error) {
	move := maintsim.SlotMove{From: -1, To: -1}
	rest, err := take(args, map[string]func(string) error{
		"from": number(&move.From),
		"to":   number(&move.To),
		"slots": func(text string) (err error) {
			move.Slots, err = parseSlots(text)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	if (move.From < 0) != (move.To < 0) || move.From < 0 && move.Slots != nil {
		return nil, errors.New("wants both from=shard and to=shard, or neither of them and no slots")
	}
	opts, _, err := parseOptions(rest)
	return func(ctx context.Context, s *simulation) error {
		m := move
		if m.From < 0 {
			if m, err = balancing(s.cluster); err != nil {
				return err
			}
		}
		return s.cluster.Migrate(ctx, []maintsim.SlotMove{m}, opts...)
	}, err
}

// take reads the words whose key is known, and gives the others.
func take(args []string, known map[string]func(string) error) (rest []string, err error) {
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		read := known[key]
		if read == nil {
			rest = append(rest, a)
			continue
		}
		if err := read(value); err != nil {
			return nil, fmt.Errorf("%s %w", key, err)
		}
	}
	return rest, nil
}

func number(to *int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("wants a number from 0 on, not %q", text)
		}
		*to = n
		return nil
	}
}

// parseSlots reads ranges such as "5,100-199".
func parseSlots(text string) (slots []maintsim.SlotRange, err error) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		var r maintsim.SlotRange
		err = errors.Join(number(&r.First)(first), number(&r.Last)(last))
		if err != nil || r.Last < r.First || r.Last > 16383 {
			return nil, fmt.Errorf("wants slots of 0 to 16383 such as 5,100-199, not %q", text)
		}
		slots = append(slots, r)
	}
	return slots, nil
}

// balancing is a move of half of the slots of the shard that has most to that which has
// fewest.
func balancing(c *maintsim.Cluster) (maintsim.SlotMove, error) {
	type shard struct {
		number, slots int
	}
	var shards []shard
	for _, n := range c.Nodes() {
		if n.Member && n.Primary {
			shards = append(shards, shard{n.Shard, drill.SlotsIn(n.Slots)})
		}
	}
	if len(shards) < 2 {
		return maintsim.SlotMove{}, errors.New("there are no two shards")
	}
	bySlots := func(a, b shard) int { return cmp.Compare(a.slots, b.slots) }
	slices.SortStableFunc(shards, func(a, b shard) int { return cmp.Compare(b.slots, a.slots) })
	from := shards[0]
	to := slices.MinFunc(shards[1:], bySlots)
	return maintsim.SlotMove{From: from.number, To: to.number, Slots: drill.CutSlots(c.Slots(from.number), 2)[0]}, nil
}

// describeNodes is one line for each node.
func describeNodes(nodes []maintsim.NodeInfo) string {
	var b strings.Builder
	b.WriteString("nodes:")
	for _, n := range nodes {
		role := "replica"
		switch {
		case !n.Member:
			role = "spare"
		case n.Primary:
			role = "primary"
		}
		if !n.Alive {
			role += ", killed"
		}
		fmt.Fprintf(&b, "\n  node %d  shard %d  %s  %s", n.Node, n.Shard, n.Addr, role)
		for _, r := range n.Slots {
			fmt.Fprintf(&b, " %v", r)
		}
	}
	return b.String()
}

// startCluster starts the cluster of a simulation.
func (f *simFlags) startCluster(cfg maintsim.Config) (*maintsim.Cluster, error) {
	switch {
	case f.shards < 0 || f.replicas < 0 || f.spares < 0:
		return nil, errors.New("--shards, --replicas and --spares can't be negative")
	case f.Records != 0:
		return nil, errors.New("--records is for a database, not for a cluster")
	case f.window < 0:
		return nil, fmt.Errorf("--window %v is negative", f.window)
	}
	spares := f.spares
	if spares == 0 {
		spares = -1 // none
	}
	return maintsim.NewCluster(maintsim.ClusterConfig{
		Config: cfg, Shards: f.shards, Replicas: f.replicas, Spares: spares, Window: drill.OrNone(f.window), Names: f.tls != "",
	})
}

// clusterSchedule is what a cluster does in turn if nothing else is said.
func (f *simFlags) clusterSchedule() string {
	var names []string
	names = append(names, "slot-migrate")
	if f.replicas > 0 {
		names = append(names, "cluster-failover")
	}
	if f.spares > 0 {
		names = append(names, "reshard")
	}
	return strings.Join(names, ",")
}

// clusterStats is what was done so far, in one line.
func clusterStats(st maintsim.ClusterStats) string {
	var open, told int
	var moved, ask, again, down uint64
	for _, n := range st.Nodes {
		open, told = open+n.Open, told+n.OptedIn
		moved, ask, again, down = moved+n.Moved, ask+n.Ask, again+n.TryAgain, down+n.ClusterDown
	}
	return fmt.Sprintf("%d connections, %d opted in, %d commands, notices %v, %d MOVED, %d ASK, %d TRYAGAIN, %d CLUSTERDOWN, %d cuts and closes",
		open, told, st.Commands, st.Notices, moved, ask, again, down, len(st.Cuts))
}
