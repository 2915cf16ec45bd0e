package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
	"github.com/baton-go/redis/bench/internal/sheet"
	"github.com/baton-go/redis/internal/realserver"
)

// callersOfNodes are how many goroutines use the nodes of a cluster.
type callersOfNodes struct {
	name    string // stable
	n       int
	perNode bool // n is for each
}

func (c callersOfNodes) goroutines(nodes int) int {
	if c.perNode {
		return c.n * max(nodes, 1)
	}
	return c.n
}

// callersOfNodes are one, a crowd for all nodes together, as many as are a crowd for each
// of the most nodes, which is also more than that for each of fewer, and a crowd for each
// node, however many there are.
func (l *lab) callersOfNodes() []callersOfNodes {
	all := []callersOfNodes{{"1", 1, false}}
	for _, n := range []int{l.crowd, l.crowd * slices.Max(l.nodes)} {
		all = append(all, callersOfNodes{sheet.Thousands(int64(n)) + " in all", n, false})
	}
	return append(all, callersOfNodes{sheet.Thousands(int64(l.crowd)) + " per node", l.crowd, true})
}

// stubServers is the name of servers that are no real ones.
const stubServers = "stub"

// nodeKeys is how many keys the callers of a cluster use: enough to be spread evenly.
const nodeKeys = 4096

// byNodes measures what a command costs with more and more nodes: on real servers, of
// which many keep a small machine busy, and on stubs that cost the same however many
// there are. Neither knows of a cluster: clients are told which nodes have which slots,
// so that all numbers of nodes are measured on the same servers, one soon after the
// other.
func (l *lab) byNodes(ctx context.Context) (err error) {
	most := slices.Max(l.nodes)
	servers, addrs, err := l.startNodes(ctx, most)
	defer func() { err = errors.Join(err, stopAll(servers)) }()
	if err != nil {
		return err
	}
	stub, stubAddrs, err := rig.SpawnStub(ctx, most)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stub.Close()) }()
	load := newNodeLoad()
	for _, callers := range l.callersOfNodes() {
		for _, op := range []string{"get", "set"} {
			if err := l.nodeSeries(ctx, load, l.server, addrs, op, callers); err != nil {
				return err
			}
			if err := l.nodeSeries(ctx, load, stubServers, stubAddrs, op, callers); err != nil {
				return err
			}
		}
	}
	return nil
}

// startNodes starts n servers that all hold the values; those that have started are to
// be stopped even where it gives an error.
func (l *lab) startNodes(ctx context.Context, n int) (servers []*realserver.Server, addrs []string, err error) {
	l.progress.Step("start of %d servers", n)
	started, errs := make([]*realserver.Server, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if started[i], errs[i] = rig.StartServer(ctx, l.server); errs[i] == nil {
				errs[i] = storeAt(ctx, started[i].Addr(), nodeKeys)
			}
		})
	}
	wg.Wait()
	for _, s := range started {
		if s != nil {
			servers, addrs = append(servers, s), append(addrs, s.Addr())
		}
	}
	return servers, addrs, errors.Join(errs...)
}

func stopAll(servers []*realserver.Server) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { errs[i] = s.Stop() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// nodeSeries measures one kind of load with all numbers of nodes, round by round. What
// comes first is another one in each round.
func (l *lab) nodeSeries(
	ctx context.Context, load *nodeLoad, servers string, addrs []string, op string, callers callersOfNodes,
) error {
	sizes := append([]int{0}, l.nodes...)
	costs := make([][]gauge.Cost, len(sizes)) // by size, and round
	rounds := max(1, l.pairs/4)
	for round := range rounds {
		l.progress.Step("%s by nodes, %s, %s callers, round %d of %d", op, servers, callers.name, round+1, rounds)
		for turn := range sizes {
			i := (round + turn) % len(sizes)
			c, err := l.runNodes(ctx, load, addrs[:sizes[i]], addrs[0], op, callers.goroutines(sizes[i]))
			if err != nil {
				return fmt.Errorf("%s, %s, %s callers, %d nodes: %w", op, servers, callers.name, sizes[i], err)
			}
			costs[i] = append(costs[i], c)
		}
	}
	one := slices.Index(sizes, 1)
	for i, n := range sizes {
		pairs := make([]gauge.Pair[gauge.Cost], rounds)
		for round := range pairs {
			pairs[round] = gauge.Pair[gauge.Cost]{A: costs[one][round], B: costs[i][round]}
		}
		l.result.Nodes = append(l.result.Nodes, NodesRow{
			CostRow: costRow(op, n, costs[i]),
			Servers: servers, Callers: callers.name, Goroutines: callers.goroutines(n),
			Ns: gauge.RatioOf(pairs, gauge.Cost.NsPerOp), CPU: gauge.RatioOf(pairs, gauge.Cost.CPUPerOp),
		})
	}
	return nil
}

// runNodes measures one load of a new client: of the cluster of these nodes or, without
// any, of the server at addr.
func (l *lab) runNodes(ctx context.Context, load *nodeLoad, nodes []string, addr, op string, goroutines int) (gauge.Cost, error) {
	var p rig.Peer
	if len(nodes) > 0 {
		p = rig.NewBatonCluster(nodes)
	} else {
		p = rig.NewBaton(&redis.Options{Addr: addr})
	}
	c, err := l.runShort(ctx, load.ops(p, op, goroutines))
	return c, errors.Join(err, p.Close())
}

// A nodeLoad is what the callers of a cluster do: each goes through all keys, and begins
// with another one. It is immutable.
type nodeLoad struct{ keys, values []string }

func newNodeLoad() *nodeLoad {
	load := &nodeLoad{keys: make([]string, nodeKeys), values: make([]string, nodeKeys)}
	// Keys that differ little have slots that differ in a regular way.
	for at, i := range rand.New(rand.NewPCG(1, 2)).Perm(nodeKeys) { //nolint:gosec // no secret
		load.keys[at], load.values[at] = key(i), value(i, smallSize)
	}
	return load
}

func (load *nodeLoad) ops(p rig.Peer, op string, n int) []gauge.Op {
	ops := make([]gauge.Op, n)
	for i := range ops {
		next := i * nodeKeys / n
		ops[i] = func() error {
			k, v := load.keys[next%nodeKeys], load.values[next%nodeKeys]
			next++
			if op == "set" {
				if err := p.Set(context.Background(), k, v); err != nil {
					return fmt.Errorf("set %s: %w", k, err)
				}
				return nil
			}
			got, err := p.Get(context.Background(), k)
			if err != nil {
				return fmt.Errorf("get %s: %w", k, err)
			}
			return rig.Want(k, got, v)
		}
	}
	return ops
}
