package drill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// A Scenario names what is done to the server.
type Scenario string

// The scenarios.
const (
	RollingUpgrade   Scenario = "rolling-upgrade"
	Migrate          Scenario = "migrate"
	Failover         Scenario = "failover"
	Rebind           Scenario = "rebind"
	RebindNone       Scenario = "rebind-none"
	TakeOver         Scenario = "take-over"
	OverlappingMoves Scenario = "overlapping-moves"
	FailoverCut      Scenario = "failover-cut"
	SilentCut        Scenario = "silent-cut"
	Outage           Scenario = "outage"
	Restart          Scenario = "restart"
	Demotion         Scenario = "demotion"
	DNSChange        Scenario = "dns-change"
	Shrink           Scenario = "shrink"
	MaintenanceMode  Scenario = "maintenance-mode"
	SlotMigrate      Scenario = "slot-migrate"
	ClusterFailover  Scenario = "cluster-failover"
	Reshard          Scenario = "reshard"
	SentinelFailover Scenario = "sentinel-failover"
	DiscoverySwitch  Scenario = "discovery-switch"
	RingMoves        Scenario = "ring"
	Chaos            Scenario = "chaos"
	Quiet            Scenario = "quiet"
)

// Scenarios are all of them, the default first, in the order of [Groups].
func Scenarios() []Scenario {
	var all []Scenario
	for _, g := range Groups() {
		all = append(all, g.Scenarios...)
	}
	return all
}

// A Group is scenarios with something in common.
type Group struct {
	Name      string
	Scenarios []Scenario
}

// Groups are all scenarios by what they ask of a client.
func Groups() []Group {
	return []Group{
		{"Announced maintenance, which must not be felt", []Scenario{
			RollingUpgrade, Migrate, Failover, Rebind, RebindNone, TakeOver, OverlappingMoves,
		}},
		{"Connections cut", []Scenario{FailoverCut, SilentCut}},
		{"Transitions nobody announces, judged like cuts", []Scenario{
			Outage, Restart, Demotion, DNSChange, Shrink, MaintenanceMode,
		}},
		{"Clusters, which must not be felt either", clusterScenarios()},
		{"Failover and ring clients, which must not feel anything either", []Scenario{SentinelFailover, DiscoverySwitch, RingMoves}},
		{"Other", []Scenario{Chaos, Quiet}},
	}
}

// clusterScenarios are those of a cluster.
func clusterScenarios() []Scenario { return []Scenario{SlotMigrate, ClusterFailover, Reshard} }

// Explain says in one line what s does.
func (s Scenario) Explain() string {
	switch s {
	case RollingUpgrade:
		return "migrate, failover and rebind, once per node"
	case Migrate:
		return "a shard moves: announced, replies stall, connections stay"
	case Failover:
		return "a replica is promoted: announced, replies stall, connections stay"
	case Rebind:
		return "the endpoint moves to a named address, the old one closes at its deadline"
	case RebindNone:
		return "the endpoint moves, no address is named"
	case TakeOver:
		return "another node takes over the address, no address is named"
	case OverlappingMoves:
		return "one move with two targets, and the next one before it is over"
	case FailoverCut:
		return "a failover is announced, then connections are cut with commands in flight"
	case SilentCut:
		return "connections are cut with commands in flight, without a word"
	case Outage:
		return "packets are dropped, dials included, for longer than commands wait"
	case Restart:
		return "every connection is closed in order, nothing accepts for a while"
	case Demotion:
		return "writes are answered with READONLY, the name follows to another node"
	case DNSChange:
		return "the name leads elsewhere, the old endpoint closes a grace time later"
	case Shrink:
		return "one of several addresses leaves the name, its proxy closes"
	case MaintenanceMode:
		return "the same with MIGRATING and MIGRATED before, by the measured timing"
	case SlotMigrate:
		return "all slots of a shard move to others and back, in several steps"
	case ClusterFailover:
		return "a replica takes over from each primary in turn, by command"
	case Reshard:
		return "a shard joins, gets its part of the slots, gives them back and leaves"
	case SentinelFailover:
		return "sentinels make a replica the master, writes pause meanwhile"
	case DiscoverySwitch:
		return "a discovery service says that the endpoint moves, the old one closes later"
	case RingMoves:
		return "the endpoint of each shard of a ring moves, one after the other"
	case Chaos:
		return "all of this but clusters, sentinels and rings at random, repeatable by --seed; see --chaos"
	case Quiet:
		return "nothing happens: what the other scenarios are compared with"
	}
	return "unknown"
}

// among reports whether s is one of these.
func (s Scenario) among(these ...Scenario) bool { return slices.Contains(these, s) }

// Clustered reports whether s is done to a cluster.
func (s Scenario) Clustered() bool { return slices.Contains(clusterScenarios(), s) }

// watched reports whether sentinels tell the client of s where the server is.
func (s Scenario) watched() bool { return s.among(SentinelFailover, DiscoverySwitch) }

// IsOfDatabase reports whether s is done to a database, by [Scenario.Do].
func (s Scenario) IsOfDatabase() bool {
	return !s.Clustered() && !s.watched() && !s.among(RingMoves, Chaos, Quiet)
}

// Cuts reports whether s cuts connections with commands in flight.
func (s Scenario) Cuts() bool { return s.among(FailoverCut, SilentCut) }

// silent reports whether s is a transition that nobody announces.
func (s Scenario) silent() bool {
	return s.among(Outage, Restart, Demotion, DNSChange, Shrink, MaintenanceMode)
}

// announces reports whether s sends notices for certain.
func (s Scenario) announces() bool {
	return s.moves() || s.Clustered() || s.among(Migrate, Failover, FailoverCut, MaintenanceMode)
}

// moves reports whether s sends MOVING for certain.
func (s Scenario) moves() bool {
	return s.among(RollingUpgrade, Rebind, RebindNone, TakeOver, OverlappingMoves, DiscoverySwitch, RingMoves)
}

// targets reports whether s opens another proxy than the present one.
func (s Scenario) targets() bool {
	return s.among(RollingUpgrade, Rebind, OverlappingMoves, Demotion, DNSChange)
}

// needsName reports whether only clients that know the name can follow s.
func (s Scenario) needsName() bool {
	return s.among(Demotion, DNSChange, Shrink, MaintenanceMode, Chaos)
}

// storms reports whether s can be repeated as a storm of handoffs.
func (s Scenario) storms() bool { return s.among(storms()...) }

func storms() []Scenario {
	return []Scenario{Rebind, RebindNone, SentinelFailover, DiscoverySwitch, RingMoves}
}

// least is the fewest proxies and records that s needs.
func (s Scenario) least() (proxies, records int) {
	switch s {
	case Shrink, MaintenanceMode:
		return 3, 2
	case OverlappingMoves, Chaos:
		return 3, 1
	case SentinelFailover, DiscoverySwitch:
		return 2, 1
	case RollingUpgrade, Migrate, Failover, Rebind, RebindNone, TakeOver, FailoverCut, SilentCut, Outage, Restart, Demotion, DNSChange, Quiet,
		SlotMigrate, ClusterFailover, Reshard, RingMoves:
	}
	return 1, 1
}

// ParseScenario finds a scenario by its name.
func ParseScenario(name string) (Scenario, error) {
	if s := Scenario(name); slices.Contains(Scenarios(), s) {
		return s, nil
	}
	return "", fmt.Errorf("unknown scenario %q, want one of %s", name, names(Scenarios()))
}

// margin is what a scenario takes beyond the times it is made of.
const margin = 100 * time.Millisecond

const (
	defaultChaos = 10 * time.Second
	defaultQuiet = 5 * time.Second
)

// secondMove is when in a window of overlapping moves the next one begins, and
// secondTarget when the second target is announced, as fractions of the grace time.
const (
	secondTarget = 0.3
	secondMove   = 0.6
)

// length is how long the scenario takes, about.
func (c Config) length() time.Duration {
	window, move := c.Lead+c.Stall, c.Grace+c.Linger.Max
	switch c.Scenario {
	case RollingUpgrade:
		return time.Duration(c.proxies())*(2*window+move) + margin
	case Migrate, Failover:
		return window + margin
	case Rebind, RebindNone, TakeOver, DiscoverySwitch, RingMoves:
		return time.Duration(c.handoffs()-1)*c.Interval + move + margin
	case SentinelFailover:
		return c.failoverLength()
	case OverlappingMoves:
		return time.Duration(secondMove*float64(c.Grace)) + move + margin
	case FailoverCut:
		return c.Lead + maintsim.DefaultHold + c.Outage + margin
	case SilentCut:
		return maintsim.DefaultHold + c.Outage + margin
	case Outage, Restart:
		return c.Outage + margin
	case Demotion:
		return max(c.Lead, c.Outage) + margin
	case DNSChange:
		return c.Grace + margin
	case Shrink:
		return c.Lead + margin
	case MaintenanceMode:
		return time.Duration(maintenanceMode*float64(c.Grace)) + margin
	case SlotMigrate, ClusterFailover, Reshard:
		return c.clusterLength()
	case Chaos:
		return c.middle(defaultChaos)
	case Quiet:
		return c.middle(defaultQuiet)
	}
	return 0
}

// maintenanceMode is how long the measured maintenance mode took, in grace times.
const maintenanceMode = 34.7 / 15

// middle is how long the middle phase of a drill without a length of its own is.
func (c Config) middle(def time.Duration) time.Duration {
	if c.Duration > 0 {
		return c.Duration / 2
	}
	return def
}

// Do does s once to sim and returns when it is over. The grace time is that of its
// moves. Those without an end
// of their own, Chaos and Quiet, are not done, nor are those of a cluster, of sentinels or
// of a ring.
func (s Scenario) Do(ctx context.Context, sim *maintsim.Sim, grace time.Duration, opts ...maintsim.Option) error {
	switch s {
	case RollingUpgrade:
		return sim.RollingUpgrade(ctx, opts...)
	case Migrate:
		return sim.Migrate(ctx, opts...)
	case Failover:
		return sim.Failover(ctx, opts...)
	case Rebind:
		return sim.Rebind(ctx, opts...)
	case RebindNone, TakeOver:
		return sim.Rebind(ctx, slices.Insert(slices.Clone(opts), 0, maintsim.WithNullEndpoint())...)
	case OverlappingMoves:
		return overlap(ctx, sim, grace, opts)
	case FailoverCut:
		return sim.FailoverCut(ctx, opts...)
	case SilentCut:
		return sim.Cut(ctx, opts...)
	case Outage:
		return sim.Outage(ctx, opts...)
	case Restart:
		return sim.Restart(ctx, opts...)
	case Demotion:
		return sim.Demote(ctx, opts...)
	case DNSChange:
		return sim.ChangeDNS(ctx, slices.Insert(slices.Clone(opts), 0, maintsim.WithLinger(grace))...)
	case Shrink:
		return sim.Shrink(ctx, opts...)
	case MaintenanceMode:
		return sim.MaintenanceMode(ctx, opts...)
	case SlotMigrate, ClusterFailover, Reshard, SentinelFailover, DiscoverySwitch, RingMoves, Chaos, Quiet:
	}
	return fmt.Errorf("scenario %q can't be done once to a database", s)
}

// overlap announces one move with two targets, and moves on from the second before
// that is over.
func overlap(ctx context.Context, sim *maintsim.Sim, grace time.Duration, opts []maintsim.Option) error {
	addrs := sim.Addrs()
	from := max(slices.Index(addrs, sim.Addr()), 0)
	nth := func(i int) int { return (from + i) % len(addrs) }
	var (
		wg    sync.WaitGroup
		first error
	)
	wg.Go(func() {
		first = sim.Rebind(ctx, append(slices.Clone(opts),
			maintsim.WithTarget(nth(1)), maintsim.WithSecondTarget(nth(2), secondTarget))...)
	})
	err := wait(ctx, time.Duration(secondMove*float64(grace)))
	if err == nil {
		err = sim.Rebind(ctx, opts...)
	}
	wg.Wait()
	return errors.Join(first, err)
}

// perform does the scenario to sim and returns when it is over.
func (c Config) perform(ctx context.Context, sim *maintsim.Sim) error {
	opts := c.options()
	switch {
	case c.Scenario == Quiet:
		return wait(ctx, c.length())
	case c.Scenario == Chaos:
		return c.chaos(ctx, sim)
	case c.Scenario.storms():
		if c.Scenario == RebindNone && c.byName() {
			opts = append(opts, maintsim.WithNullByName())
		}
		return c.storm(ctx, func(int) error { return c.Scenario.Do(ctx, sim, c.Grace, opts...) })
	}
	return c.Scenario.Do(ctx, sim, c.Grace, opts...)
}

// chaos does random things for the length of the scenario.
func (c Config) chaos(ctx context.Context, sim *maintsim.Sim) error {
	limit, cancel := context.WithTimeout(ctx, c.length())
	defer cancel()
	var opts []maintsim.ChaosOption
	if c.Chaos != ChaosAll {
		// Where a server stalls replies until it closes the connection, no client can get
		// them: announced steps come one at a time.
		opts = append(opts, maintsim.ChaosAnnounced(), maintsim.ChaosOverlap(1))
	}
	if len(c.ChaosOnly) > 0 {
		opts = append(opts, maintsim.ChaosOnly(c.ChaosOnly...))
	}
	if err := sim.Chaos(limit, c.Seed, opts...); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// The extents of a chaos.
const (
	ChaosAnnounced = "announced"
	ChaosAll       = "all"
)

// handoffs is how often the scenario is done; of a ring, once for each shard at least.
func (c Config) handoffs() int {
	if c.Scenario == RingMoves {
		return max(c.Handoffs, c.shards())
	}
	return max(c.Handoffs, 1)
}

// storm does as many rebinds as the configuration says, one in each interval. They
// overlap where the grace time is longer than that. do does the ith.
func (c Config) storm(ctx context.Context, do func(i int) error) error {
	n := c.handoffs()
	errs := make([]error, n)
	var wg sync.WaitGroup
	tick := time.NewTicker(c.Interval)
	defer tick.Stop()
	for i := range n {
		if i > 0 {
			select {
			case <-tick.C:
			case <-ctx.Done():
				wg.Wait()
				return context.Cause(ctx)
			}
		}
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// wait lets d pass, or returns why ctx ended.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ValidateChaos reports what is wrong with the choice of a chaos.
func ValidateChaos(extent string, only []string) error {
	if extent != ChaosAnnounced && extent != ChaosAll {
		return fmt.Errorf("unknown chaos %q, want %s or %s", extent, ChaosAnnounced, ChaosAll)
	}
	for _, a := range only {
		if !slices.Contains(maintsim.ChaosActions(), a) {
			return fmt.Errorf("unknown chaos action %q, want some of %s", a, strings.Join(maintsim.ChaosActions(), ", "))
		}
	}
	return nil
}
