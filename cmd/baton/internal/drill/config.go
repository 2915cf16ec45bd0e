// Package drill rehearses maintenance: it runs a load through the client against a
// simulated database, does a scenario to it, and takes the account.
package drill

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/load"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// A Config says what to rehearse.
type Config struct {
	Scenario Scenario
	// Server is "embedded", a server program with its arguments, or host:port.
	Server string
	// Workers is the number of closed loops.
	Workers int
	// Duration is the length of the load; 0 is what the scenario needs, with 3 s
	// before and after it.
	Duration time.Duration
	// Mode is the client's mode of maintenance notifications.
	Mode maintnotifications.Mode
	// Seed is the seed of all random choices.
	Seed uint64

	// Grace is how long an old endpoint serves after MOVING.
	Grace time.Duration
	// Lead passes between an announcement and the stall.
	Lead time.Duration
	// Stall is how long replies are held back.
	Stall time.Duration
	// Outage is how long nothing accepts after a cut.
	Outage time.Duration
	// ReadTimeout is the client's, for reads and writes.
	ReadTimeout time.Duration
	// Proxies is the number of nodes of the database.
	Proxies int
	// ByName makes the client know the database by name instead of by address.
	ByName bool

	// Handoffs is the number of rebinds; more than one is a storm.
	Handoffs int
	// Interval is the time between the rebinds of a storm.
	Interval time.Duration

	// Chaos is ChaosAnnounced or ChaosAll; ChaosOnly limits it to these actions.
	Chaos     string
	ChaosOnly []string

	Conditions
	Shape

	// Timeout bounds the whole drill; 0 is its planned length and 30 s.
	Timeout time.Duration
}

// Default is the drill that is run where nothing else is said.
func Default() Config {
	return Config{
		Scenario:    RollingUpgrade,
		Server:      "embedded",
		Workers:     64,
		Mode:        maintnotifications.ModeAuto,
		Seed:        1,
		Grace:       5 * time.Second,
		Lead:        time.Second,
		Stall:       3 * time.Second,
		Outage:      maintsim.DefaultOutage,
		ReadTimeout: time.Second,
		Proxies:     2,
		Handoffs:    1,
		Interval:    500 * time.Millisecond,
		Chaos:       ChaosAnnounced,
	}
}

const (
	edge       = 3 * time.Second // before and after the scenario
	shortEdge  = 500 * time.Millisecond
	maxWorkers = 4096
)

// Validate returns everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if _, err := ParseScenario(string(c.Scenario)); err != nil {
		errs = append(errs, err)
	}
	if _, _, err := Backend(c.Server); err != nil {
		errs = append(errs, err)
	}
	bad(c.Workers < load.MinWorkers || c.Workers > maxWorkers, "%d workers, want %d to %d", c.Workers, load.MinWorkers, maxWorkers)
	bad(!c.Mode.IsValid(), "unknown mode of maintenance notifications %q, want auto, enabled or disabled", c.Mode)
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{
		{"--duration", c.Duration},
		{"--lead", c.Lead},
		{"--stall", c.Stall},
		{"--outage", c.Outage},
		{"--timeout", c.Timeout},
	} {
		bad(d.value < 0, "%s %v is negative", d.flag, d.value)
	}
	bad(c.Grace <= 0, "--grace %v, want more than 0", c.Grace)
	// A client that is told no address waits for half of the time it is told, and that
	// is in whole seconds.
	bad(c.Scenario.among(RebindNone, TakeOver, Chaos) && c.Grace%time.Second != 0, "--grace %v: %s needs whole seconds", c.Grace, c.Scenario)
	bad(c.ReadTimeout <= 0, "--read-timeout %v, want more than 0", c.ReadTimeout)
	bad(c.Interval <= 0, "--interval %v, want more than 0", c.Interval)
	bad(c.Proxies < 1 || c.Proxies > 100, "%d proxies, want 1 to 100", c.Proxies)
	bad(c.Proxies < 2 && c.Scenario.among(Rebind, RollingUpgrade, DiscoverySwitch, SentinelFailover, RingMoves), "scenario %s needs at least 2 proxies", c.Scenario)
	bad(c.Handoffs < 1, "--handoffs %d, want at least 1", c.Handoffs)
	bad(c.Handoffs > 1 && !c.Scenario.storms(), "--handoffs is for the scenarios %s, not for %s", names(storms()), c.Scenario)
	bad(c.Handoffs > 1 && c.Scenario == RebindNone && c.Interval <= c.Grace,
		"rebinds without an address can't overlap: --interval %v must be longer than --grace %v", c.Interval, c.Grace)
	c.Conditions.validate(bad)
	c.validateTogether(bad)
	c.validateCluster(bad)
	c.validateWatched(bad)
	c.validateRing(bad)
	if err := ValidateChaos(c.Chaos, c.ChaosOnly); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if least := c.length() + 2*shortEdge; c.Duration > 0 && !c.Scenario.among(Quiet, Chaos) && c.Duration < least {
		bad(true, "--duration %v is too short: scenario %s takes %v with these times (shorten --grace, --lead or --stall)",
			c.Duration, c.Scenario, least.Round(100*time.Millisecond))
	}
	return errors.Join(errs...)
}

// validateTogether reports conditions that the scenario has no use for, or that
// exclude each other.
func (c Config) validateTogether(bad func(is bool, format string, args ...any)) {
	useless := func(set bool, flag string, useful bool, where string) {
		bad(set && !useful, "%s is for %s, not for %s", flag, where, c.Scenario)
	}
	windows := c.Scenario.announces()
	const (
		announced = "scenarios with notices"
		moving    = "scenarios with a move"
		inPlace   = "the scenarios take-over and rebind-none by address"
	)
	useless(len(c.Variants) > 0, "--variant", windows, announced)
	useless(c.Duplicates, "--duplicates", windows, announced)
	useless(c.LostOpenings > 0, "--lost-openings", windows, announced)
	closes := c.Scenario.Clustered() || c.Scenario.among(RollingUpgrade, Migrate, Failover, FailoverCut, MaintenanceMode)
	useless(c.Reordered > 0, "--reordered", closes, "scenarios with MIGRATED, FAILED_OVER or SMIGRATED")
	useless(c.LostClosings, "--lost-closings", closes, "scenarios with MIGRATED, FAILED_OVER or SMIGRATED")
	useless(c.Target.Fault != maintsim.FaultNone, "--target-fault", c.Scenario.targets(), "scenarios that move to another node")
	useless(c.Repeated, "--repeated", c.Scenario.among(RollingUpgrade, Rebind, OverlappingMoves, DiscoverySwitch, RingMoves), "moves to a named address")
	useless(c.Linger.Max > 0, "--linger", c.Scenario.moves() || c.Scenario == Chaos || c.Resolver.Max > 0, moving)
	useless(c.TakeOver > 0, "--take-over", c.Scenario == TakeOver || c.Scenario == RebindNone && !c.ByName, inPlace)
	bad(len(c.ChaosOnly) > 0 && c.Scenario != Chaos, "--chaos-only is for the scenario chaos, not for %s", c.Scenario)

	bad(c.OwnPorts && !c.Scenario.Clustered() && c.byName() && (c.deaf() || c.LostOpenings > 0 || !c.Scenario.among(RollingUpgrade, Rebind, OverlappingMoves)),
		"--own-ports: a name can't lead to another port, and %s needs that here", c.Scenario)
	bad(c.Records > 1 && c.Scenario == OverlappingMoves, "--records %d: overlapping-moves is for one record", c.Records)
	bad(c.Records == 1 && c.Scenario.among(Shrink, MaintenanceMode), "--records 1: %s needs at least 2", c.Scenario)
	bad(c.Protocol == 2 && c.Mode == maintnotifications.ModeEnabled, "--protocol 2: there are no notices in RESP2, so --maintnotifications enabled can't be met")
	bad(c.Mode == maintnotifications.ModeEnabled && c.RefuseOptIn != 0, "--refuse-opt-in: a client with --maintnotifications enabled doesn't work without the opt-in")
	bad(c.Mode == maintnotifications.ModeEnabled && c.CloseOnOptIn != 0, "--close-on-opt-in: a client with --maintnotifications enabled doesn't work without the opt-in")
}

// byName reports whether the client knows the database by name.
func (c Config) byName() bool {
	return c.ByName || c.Scenario.needsName() || c.Scenario.targets() && (c.deaf() || c.LostOpenings > 0)
}

// plan is how long the load runs before and after the scenario.
func (c Config) plan() (before, during, after time.Duration) {
	during = c.length()
	if c.Duration == 0 {
		return edge, during, c.edgeAfter()
	}
	rest := c.Duration - during
	before = min(rest/2, max(rest-c.edgeAfter(), shortEdge)) // a recovery takes what it needs
	return before, during, rest - before
}

// timeout is the most the whole drill may take.
func (c Config) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	before, during, after := c.plan()
	if c.Scenario.Clustered() || c.Scenario == SentinelFailover {
		return before + 2*during + after + time.Minute // real slots and sentinels take longer
	}
	return before + during + after + 30*time.Second
}

// server is what to call the server, which is known to be there.
func (c Config) server() string {
	switch {
	case c.Scenario.Clustered():
		return c.cluster()
	case c.Scenario.watched():
		return c.watchedServers()
	case c.Scenario == RingMoves:
		return c.ringServers()
	}
	_, name, _ := Backend(c.Server)
	return name
}

// proxies is the number of proxies, enough for the scenario.
func (c Config) proxies() int {
	n, _ := c.Scenario.least()
	n = max(n, c.Proxies)
	if c.records() > 1 {
		n = max(n, c.records()+1)
	}
	if c.handoffs() > 1 && c.Scenario.among(Rebind, DiscoverySwitch, RingMoves) {
		n = max(n, int((c.Grace+c.Linger.Max)/c.Interval)+3)
	}
	return n
}

// records is the number of addresses that the database's name has.
func (c Config) records() int {
	_, n := c.Scenario.least()
	return max(n, c.Records)
}

const embeddedServer = "embedded server"

// Backend is the server that a --server flag names, and what to call it.
func Backend(server string) (maintsim.Backend, string, error) {
	argv, addr, err := parseServer(server)
	switch {
	case err != nil:
		return maintsim.Backend{}, "", err
	case addr != "":
		return maintsim.Address(addr), "server at " + addr, nil
	case argv != nil:
		return maintsim.Command(argv), strings.Join(argv, " "), nil
	}
	return maintsim.Embedded(), embeddedServer, nil
}

// parseServer reads a --server flag: a program with its arguments, an address, or neither
// for the embedded server.
func parseServer(server string) (argv []string, addr string, err error) {
	s := strings.TrimSpace(server)
	switch {
	case s == "":
		return nil, "", errors.New(`--server is empty, want "embedded", a server program, or host:port`)
	case s == "embedded":
		return nil, "", nil
	}
	// A path with spaces is a program without arguments if it is there.
	argv = []string{s}
	if _, err := os.Stat(s); err != nil {
		argv = strings.Fields(s)
	}
	if path, err := exec.LookPath(argv[0]); err == nil {
		// The server runs in a folder of its own.
		if argv[0], err = filepath.Abs(path); err != nil {
			return nil, "", fmt.Errorf("--server %q: %w", server, err)
		}
		return argv, "", nil
	}
	if host, port, err := net.SplitHostPort(s); err == nil && host != "" {
		if _, err := net.LookupPort("tcp", port); err == nil {
			return nil, s, nil
		}
	}
	return nil, "", fmt.Errorf(`--server %q is neither "embedded" nor a program that can be run nor host:port`, s)
}
