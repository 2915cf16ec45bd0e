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
	RollingUpgrade Scenario = "rolling-upgrade"
	Migrate        Scenario = "migrate"
	Failover       Scenario = "failover"
	Rebind         Scenario = "rebind"
	RebindNone     Scenario = "rebind-none"
	FailoverCut    Scenario = "failover-cut"
	SilentCut      Scenario = "silent-cut"
	Quiet          Scenario = "quiet"
)

// Scenarios are all of them, the default first.
func Scenarios() []Scenario {
	return []Scenario{RollingUpgrade, Migrate, Failover, Rebind, RebindNone, FailoverCut, SilentCut, Quiet}
}

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
	case FailoverCut:
		return "a failover is announced, then connections are cut with commands in flight"
	case SilentCut:
		return "connections are cut with commands in flight, without a word"
	case Quiet:
		return "nothing happens: what the other scenarios are compared with"
	}
	return "unknown"
}

// Cuts reports whether s cuts connections with commands in flight.
func (s Scenario) Cuts() bool { return s == FailoverCut || s == SilentCut }

// announces reports whether s sends notices.
func (s Scenario) announces() bool { return s != SilentCut && s != Quiet }

// storms reports whether s can be repeated as a storm of handoffs.
func (s Scenario) storms() bool { return s == Rebind || s == RebindNone }

// ParseScenario finds a scenario by its name.
func ParseScenario(name string) (Scenario, error) {
	if s := Scenario(name); slices.Contains(Scenarios(), s) {
		return s, nil
	}
	var names []string
	for _, s := range Scenarios() {
		names = append(names, string(s))
	}
	return "", fmt.Errorf("unknown scenario %q, want one of %s", name, strings.Join(names, ", "))
}

// margin is what a scenario takes beyond the times it is made of.
const margin = 100 * time.Millisecond

// length is how long the scenario takes, about.
func (c Config) length() time.Duration {
	window := c.Lead + c.Stall
	switch c.Scenario {
	case RollingUpgrade:
		return time.Duration(c.Proxies)*(2*window+c.Grace) + margin
	case Migrate, Failover:
		return window + margin
	case Rebind, RebindNone:
		return time.Duration(max(c.Handoffs, 1)-1)*c.Interval + c.Grace + margin
	case FailoverCut:
		return c.Lead + maintsim.DefaultHold + c.Outage + margin
	case SilentCut:
		return maintsim.DefaultHold + c.Outage + margin
	case Quiet:
		return c.quietFor()
	}
	return 0
}

// quietFor is how long a quiet drill's middle phase is.
func (c Config) quietFor() time.Duration {
	if c.Duration > 0 {
		return c.Duration / 2
	}
	return 5 * time.Second
}

// perform does the scenario to sim and returns when it is over.
func (c Config) perform(ctx context.Context, sim *maintsim.Sim) error {
	switch c.Scenario {
	case RollingUpgrade:
		return sim.RollingUpgrade(ctx)
	case Migrate:
		return sim.Migrate(ctx)
	case Failover:
		return sim.Failover(ctx)
	case Rebind, RebindNone:
		return c.storm(ctx, sim)
	case FailoverCut:
		return sim.FailoverCut(ctx)
	case SilentCut:
		return sim.Cut(ctx)
	case Quiet:
		return wait(ctx, c.quietFor())
	}
	return fmt.Errorf("unknown scenario %q", c.Scenario)
}

// storm does as many rebinds as the configuration says, one in each interval. They
// overlap where the grace time is longer than that.
func (c Config) storm(ctx context.Context, sim *maintsim.Sim) error {
	var opts []maintsim.Option
	if c.Scenario == RebindNone {
		opts = append(opts, maintsim.WithNullEndpoint())
		if c.ByName {
			opts[0] = maintsim.WithNullByName()
		}
	}
	n := max(c.Handoffs, 1)
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
		wg.Go(func() { errs[i] = sim.Rebind(ctx, opts...) })
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
