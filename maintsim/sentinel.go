package maintsim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Defaults of [SentinelConfig].
const (
	DefaultMasterName = "redis-1"
	DefaultSentinels  = 3
)

// maxSentinels bounds their number.
const maxSentinels = 20

// ErrNoSwitch is returned where sentinels can't do what is asked: only those of a
// discovery service tell that an endpoint moves.
var ErrNoSwitch = errors.New("maintsim: these sentinels are no discovery service")

// A SentinelConfig says what sentinels to simulate, and what they watch. Its zero value
// is a master with one replica and three sentinels, all of them imitated.
type SentinelConfig struct {
	// Config is what holds for the servers' proxies as it does for a database; Proxies is
	// the number of servers, the master included. Backend is [Embedded] or a [Program], of
	// which each server, and each sentinel, is a process. Outage is after how long imitated
	// sentinels agree that a killed master is down. Nothing is announced on the
	// connections to the servers, as by open-source ones.
	//
	// Records, Linger, ResolverChange, CloseJitter and RetainedLast have no use but with
	// Discovery.
	Config

	// MasterName is what the sentinels call the master. Empty means DefaultMasterName.
	MasterName string

	// Sentinels is how many there are. Zero means DefaultSentinels.
	Sentinels int

	// Discovery imitates the discovery service of Redis Enterprise, which speaks as
	// sentinels do, instead: Config is one database with several proxies in front of any
	// Backend, its notices included, and what the service calls the master is the proxy of
	// the endpoint. See [Sentinels.Switch].
	Discovery bool
}

// withDefaults returns a copy of c with defaults filled in, or every problem.
func (c SentinelConfig) withDefaults() (SentinelConfig, error) {
	var errs []error
	if c.MasterName == "" {
		c.MasterName = DefaultMasterName
	}
	if strings.ContainsAny(c.MasterName, " \r\n\"") {
		errs = append(errs, fmt.Errorf("maintsim: MasterName %q: no name of a master", c.MasterName))
	}
	if c.Sentinels == 0 {
		c.Sentinels = DefaultSentinels
	}
	if c.Sentinels < 1 || c.Sentinels > maxSentinels {
		errs = append(errs, fmt.Errorf("maintsim: %d sentinels, want 1 to %d", c.Sentinels, maxSentinels))
	}
	if !c.Discovery {
		c.Unsupported = true
		if c.Backend.kind == backendAddress {
			errs = append(errs, errors.New("maintsim: sentinels need a server that they can make a replica: Backend is Embedded or a Program"))
		}
		if c.Backend.kind == backendProgram && c.TLS != nil {
			errs = append(errs, errors.New("maintsim: real sentinels can't have TLS: they and the servers talk to each other through the proxies"))
		}
	}
	var err error
	c.Config, err = c.Config.withDefaults()
	if err == nil && c.Proxies < 2 {
		err = errors.New("maintsim: 1 server, want a master and a replica at least")
	}
	return c, errors.Join(append(errs, err)...)
}

// Sentinels are simulated sentinels and what they watch, each server and each sentinel
// behind a proxy. Its methods may be called from any goroutine.
type Sentinels struct {
	cfg     SentinelConfig // with defaults; immutable, as all up to the blank line
	servers *Sim
	watch   *Sim
	fleet   sentinelFleet
	turn    chan struct{} // of capacity 1: held while the master changes
}

// A sentinelFleet is the servers and the sentinels behind their proxies.
type sentinelFleet interface {
	// master is the server that the sentinels call the master.
	master() *proxy
	// failover makes another server the master.
	failover(ctx context.Context, o options) error
	// kill ends the master and returns when there is another one.
	kill(ctx context.Context, o options) error
	do(args []string) (any, error)
	close() error
}

// NewSentinels starts simulated sentinels. The error says everything that is wrong with
// cfg, or why something could not be started.
func NewSentinels(cfg SentinelConfig) (*Sentinels, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Sentinels{cfg: cfg, turn: make(chan struct{}, 1)}
	if cfg.Backend.kind == backendProgram && !cfg.Discovery {
		err = s.startReal()
	} else {
		err = s.startImitated()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// StartSentinels is [NewSentinels] for tests: it fails the test on an error and closes the
// sentinels when the test ends.
func StartSentinels(tb TB, cfg SentinelConfig) *Sentinels {
	tb.Helper()
	s, err := NewSentinels(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Fatal(err)
		}
	})
	return s
}

// watchConfig is that of the sentinels' proxies.
func (c SentinelConfig) watchConfig() Config {
	w := c.Config
	w.Backend, w.Hosts, w.Port, w.Proxies, w.Records = Embedded(), nil, 0, c.Sentinels, 1
	w.Unsupported, w.OnEvent, w.Username, w.Password = true, nil, "", ""
	for i := range c.Sentinels {
		w.Hosts = append(w.Hosts, c.Hosts[i%len(c.Hosts)])
	}
	w.OwnPorts = c.OwnPorts || c.Sentinels > len(c.Hosts)
	return w
}

// Close ends every connection, the proxies, and the servers and sentinels that were
// started, and waits until all of it is gone. It may be called more than once.
func (s *Sentinels) Close() error {
	var errs []error
	for _, sim := range []*Sim{s.watch, s.servers} {
		switch {
		case sim == nil:
		case sim.engine == nil: // it never started
			sim.cancel()
		default:
			errs = append(errs, sim.Close())
		}
	}
	if s.fleet != nil {
		errs = append(errs, s.fleet.close())
	}
	return errors.Join(errs...)
}

// Addrs are the addresses of the sentinels: what a client is to be configured with, and
// with [Sentinels.MasterName].
func (s *Sentinels) Addrs() []string { return s.watch.Addrs() }

// MasterName is what the sentinels call the master.
func (s *Sentinels) MasterName() string { return s.cfg.MasterName }

// Master is the address of the present master.
func (s *Sentinels) Master() string { return s.fleet.master().addr }

// Servers are the addresses of all servers' proxies.
func (s *Sentinels) Servers() []string { return s.servers.Addrs() }

// Failover makes a replica the master, the way a careful operator does it who wants to
// lose nothing: writes at the master pause until its replicas have everything, a sentinel
// is told to fail over, and as soon as a replica is promoted the old master becomes its
// replica; the writes that waited there are refused. [WithTarget] says which server takes
// over, where the sentinels are imitated; by default it is the next that lives.
//
// With [WithUnannounced] only a sentinel is told. The old master goes on until the
// sentinels make it a replica, ten seconds or so after the promotion, and then its
// connections are closed. What a real one acknowledges meanwhile is lost. Where it is
// imitated that is after the grace time, and nothing is lost.
//
// Failover returns when every sentinel names the new master, and the old one follows it.
// Of a discovery service it is [Sim.Failover], of which the service says nothing.
func (s *Sentinels) Failover(ctx context.Context, opts ...Option) error {
	if s.cfg.Discovery {
		return s.servers.Failover(ctx, opts...)
	}
	return s.exclusively(ctx, func() error { return s.fleet.failover(ctx, s.servers.options(opts)) })
}

// KillMaster ends the master without notice: its connections are reset with commands in
// flight, and dials are refused. It returns when every sentinel names another one: after
// [Config.Outage] where they are imitated, and after some seconds where they are real.
func (s *Sentinels) KillMaster(ctx context.Context, opts ...Option) error {
	return s.exclusively(ctx, func() error { return s.fleet.kill(ctx, s.servers.options(opts)) })
}

// Switch moves the endpoint of a database to another proxy: the discovery service says so
// with +switch-master, once for the name and once for name@internal, the old proxy serves
// for the grace time, and then it closes its connections. Connections that have asked for
// notices get MOVING, too. It is [Sim.Rebind] of the database.
func (s *Sentinels) Switch(ctx context.Context, opts ...Option) error {
	if !s.cfg.Discovery {
		return ErrNoSwitch
	}
	return s.servers.Rebind(ctx, opts...)
}

// exclusively does one change of the master at a time.
func (s *Sentinels) exclusively(ctx context.Context, do func() error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.servers.ctx.Done():
		return ErrClosed
	}
	return do()
}

// Cut cuts the connections of clients to all servers, or with [WithProxy] to one, with
// their commands in flight; see [Sim.Cut]. The master stays the master.
func (s *Sentinels) Cut(ctx context.Context, opts ...Option) error {
	return s.servers.Cut(ctx, opts...)
}

// Do runs a command on the master, past the proxies and whatever they simulate; see
// [Engine.Do].
func (s *Sentinels) Do(args ...string) (any, error) { return s.fleet.do(args) }

// Events returns what happened to the servers so far; see [Sim.Events].
func (s *Sentinels) Events() []Event { return s.servers.Events() }

// Sim is what simulates the servers: the database of a discovery service, or the master
// and its replicas, whose scenarios are those of Sentinels then.
func (s *Sentinels) Sim() *Sim { return s.servers }

// SentinelSim is what simulates the sentinels, for [Sim.Cut], [Sim.SetFault] and the like.
func (s *Sentinels) SentinelSim() *Sim { return s.watch }

// LookupHost resolves the simulator's names; see [Sim.LookupHost].
func (s *Sentinels) LookupHost(ctx context.Context, host string) ([]string, error) {
	return s.servers.LookupHost(ctx, host)
}

// words are host and port of an address, with a blank between them.
func words(p *proxy) string { return p.host + " " + strconv.Itoa(p.port) }

// aboutReplica is how events of sentinels name a replica.
func (s *Sentinels) aboutReplica(replica, master *proxy) string {
	return "slave " + replica.addr + " " + words(replica) + " @ " + s.cfg.MasterName + " " + words(master)
}

// nextServer is the server that takes over from old: the wanted one, or the next that
// accepts.
func (s *Sentinels) nextServer(old *proxy, wanted int) (*proxy, error) {
	sim := s.servers
	sim.mu.Lock()
	defer sim.mu.Unlock()
	if wanted >= 0 {
		if wanted >= len(sim.proxies) || sim.proxies[wanted] == old || !sim.proxies[wanted].wanted {
			return nil, ErrNoTarget
		}
		return sim.proxies[wanted], nil
	}
	for d := 1; d < len(sim.proxies); d++ {
		if p := sim.proxies[(old.index+d)%len(sim.proxies)]; p.wanted {
			return p, nil
		}
	}
	return nil, ErrNoTarget
}

// end makes a server refuse, and resets its connections.
func (s *Sim) endServer(p *proxy, how ending, kind EventKind) {
	s.mu.Lock()
	lns, victims := s.dismissLocked(p)
	s.mu.Unlock()
	closeAll(lns)
	inFlight := s.endAll(victims, how)
	s.addCut(len(victims), inFlight)
	s.record(Event{Kind: kind, Proxy: p.index, Connections: len(victims), InFlight: inFlight})
}

// proxyAt is the proxy with an address.
func (s *Sim) proxyAt(host, port string) *proxy {
	addr := net.JoinHostPort(host, port)
	if i := slices.IndexFunc(s.proxies, func(p *proxy) bool { return p.addr == addr }); i >= 0 {
		return s.proxies[i]
	}
	return nil
}
