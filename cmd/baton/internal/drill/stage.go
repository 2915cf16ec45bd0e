package drill

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"time"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/load"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// A stage is what a drill is played on: a simulated database or cluster, and the client
// under test.
type stage interface {
	client() load.Client
	// backend reaches the data past everything that is simulated.
	backend() load.Backend
	ping(ctx context.Context) error
	// watch tells w from now on what the client makes of it all.
	watch(w *witness)
	// accept accepts the opt-in again.
	accept()
	// perform does the scenario, and returns when it is over.
	perform(ctx context.Context) error
	// fill writes what was counted into the account.
	fill(r *account.Result)
	close() error
}

// newStage starts what the drill needs. onEvent is told what the simulator does. The opt-in
// is to be accepted again after a time; 0 is never.
func (c Config) newStage(onEvent func(maintsim.Event)) (st stage, accept time.Duration, err error) {
	switch {
	case c.Scenario.Clustered():
		return c.newClusterStage(onEvent)
	case c.Scenario.watched():
		return c.newSentinelStage(onEvent)
	case c.Scenario == RingMoves:
		return c.newRingStage(onEvent)
	}
	return c.newServerStage(onEvent)
}

// serverStage is a database with one endpoint.
type serverStage struct {
	cfg     Config
	sim     *maintsim.Sim
	cl      *redis.Client
	manager *maintnotifications.Manager // nil where notices are disabled
}

func (c Config) newServerStage(onEvent func(maintsim.Event)) (stage, time.Duration, error) {
	sim, err := c.simulation(onEvent)
	if err != nil {
		return nil, 0, err
	}
	sim.Proxies = c.proxies()
	c.Conditions.Records = c.records()
	c.Apply(&sim)
	opt := c.clientOptions()
	if opt.TLSConfig, err = c.encrypt(&sim); err != nil {
		return nil, 0, err
	}
	s := &serverStage{cfg: c}
	if s.sim, err = maintsim.New(sim); err != nil {
		return nil, 0, err
	}
	accept := c.Begin(s.sim)
	opt.Addr, opt.Resolver = s.sim.Addr(), s.sim
	if c.byName() {
		opt.Addr = s.sim.Name()
	}
	s.cl = redis.NewClient(opt)
	s.manager = s.cl.GetMaintNotificationsManager()
	return s, accept, nil
}

// simulation is what the simulations of a database and of a cluster have in common.
func (c Config) simulation(onEvent func(maintsim.Event)) (maintsim.Config, error) {
	backend, _, err := Backend(c.Server)
	return maintsim.Config{
		Backend: backend,
		Grace:   c.Grace,
		Lead:    OrNone(c.Lead),
		Stall:   OrNone(c.Stall),
		Outage:  OrNone(c.Outage),
		Seed:    c.Seed,
		OnEvent: onEvent,
	}, err
}

// encrypt makes sim use TLS if it is to, and gives what a client needs for it.
func (c Config) encrypt(sim *maintsim.Config) (client *tls.Config, err error) {
	if !c.TLS {
		return nil, nil
	}
	var trust *x509.CertPool
	if sim.TLS, trust, err = maintsim.NewCertificate(); err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: trust, ServerName: maintsim.DBName}, nil
}

// OrNone is how the simulator is told none.
func OrNone(d time.Duration) time.Duration { return cmp.Or(d, -1) }

// clientOptions are those of the client under test: timeouts shorter than the stall, so
// that they are only met if they are relaxed. Where the server is comes later.
func (c Config) clientOptions() *redis.Options {
	return &redis.Options{
		Protocol:                 cmp.Or(c.Protocol, 3),
		ReadTimeout:              c.ReadTimeout,
		WriteTimeout:             c.ReadTimeout,
		DialTimeout:              5 * time.Second,
		PoolSize:                 load.Exclusive(c.Workers) + 8,
		PoolTimeout:              c.commandsWait(),
		MaxRetries:               10,
		MinRetryBackoff:          8 * time.Millisecond,
		MaxRetryBackoff:          250 * time.Millisecond,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: c.Mode},
	}
}

// commandsWait is how long commands wait for a server: as long as there may be none, but for
// an outage, in which they are to return.
func (c Config) commandsWait() time.Duration {
	if c.Scenario == Outage {
		return c.ReadTimeout + 2*time.Second
	}
	return c.ReadTimeout + c.Outage + 2*time.Second
}

func (s *serverStage) client() load.Client               { return s.cl }
func (s *serverStage) backend() load.Backend             { return s.sim.Backend() }
func (s *serverStage) ping(ctx context.Context) error    { return s.cl.Ping(ctx).Err() }
func (s *serverStage) accept()                           { s.sim.Support() }
func (s *serverStage) perform(ctx context.Context) error { return s.cfg.perform(ctx, s.sim) }

func (s *serverStage) close() error {
	_ = s.cl.Close() // all is accounted for
	return s.sim.Close()
}

func (s *serverStage) watch(w *witness) {
	if s.manager != nil {
		s.manager.AddNotificationHook(w)
	}
}

func (s *serverStage) fill(r *account.Result) {
	r.Notices = noticesOf(s.sim.Stats().Notices)
	if s.manager != nil {
		r.Handoffs.Started += s.manager.GetActiveOperationCount()
	}
}

func noticesOf(sent map[maintsim.Notice]uint64) account.Notices {
	n := func(name maintsim.Notice) int64 { return int64(sent[name]) }
	return account.Notices{
		Moving:      n(maintsim.Moving),
		Migrating:   n(maintsim.Migrating),
		Migrated:    n(maintsim.Migrated),
		FailingOver: n(maintsim.FailingOver),
		FailedOver:  n(maintsim.FailedOver),
		SMigrating:  n(maintsim.SMigrating),
		SMigrated:   n(maintsim.SMigrated),
	}
}
