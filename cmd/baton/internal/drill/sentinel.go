package drill

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/load"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

const (
	// imitatedFailover is how long imitated sentinels take beside the lead time.
	imitatedFailover = 300 * time.Millisecond
	// realFailover is about how long real ones take until they could do the next.
	realFailover = 4 * time.Second
)

// failoverLength is how long the failovers take, about.
func (c Config) failoverLength() time.Duration {
	each := imitatedFailover + c.Lead
	if c.isReal() {
		each = realFailover
	}
	n := time.Duration(c.handoffs())
	return n*each + (n-1)*c.Interval + margin
}

// watchedServers describes the servers and who watches them.
func (c Config) watchedServers() string {
	_, server, _ := Backend(c.Server) // it was found before
	if c.Scenario == DiscoverySwitch {
		return server + " behind a discovery service"
	}
	return fmt.Sprintf("%s and %d replicas, %d sentinels", server, c.proxies()-1, maintsim.DefaultSentinels)
}

// A sentinelStage is a server that sentinels tell, or a discovery service, and the client
// that asks them.
type sentinelStage struct {
	cfg     Config
	sim     *maintsim.Sentinels
	cl      *redis.Client
	manager *maintnotifications.Manager // nil where notices are disabled
}

func (c Config) newSentinelStage(onEvent func(maintsim.Event)) (stage, time.Duration, error) {
	sim, err := c.simulation(onEvent)
	if err != nil {
		return nil, 0, err
	}
	sim.Proxies = c.proxies()
	c.Apply(&sim)
	opt := c.clientOptions()
	if opt.TLSConfig, err = c.encrypt(&sim); err != nil {
		return nil, 0, err
	}
	s := &sentinelStage{cfg: c}
	s.sim, err = maintsim.NewSentinels(maintsim.SentinelConfig{Config: sim, Discovery: c.Scenario == DiscoverySwitch})
	if err != nil {
		return nil, 0, err
	}
	accept := c.Begin(s.sim.Sim())
	s.cl = redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: s.sim.MasterName(), SentinelAddrs: s.sim.Addrs(),
		Protocol: opt.Protocol, TLSConfig: opt.TLSConfig,
		ReadTimeout: opt.ReadTimeout, WriteTimeout: opt.WriteTimeout, DialTimeout: opt.DialTimeout,
		PoolSize: opt.PoolSize, PoolTimeout: opt.PoolTimeout,
		MaxRetries: opt.MaxRetries, MinRetryBackoff: opt.MinRetryBackoff, MaxRetryBackoff: opt.MaxRetryBackoff,
		MaintNotificationsConfig: opt.MaintNotificationsConfig,
	})
	s.manager = s.cl.GetMaintNotificationsManager()
	return s, accept, nil
}

func (s *sentinelStage) client() load.Client            { return s.cl }
func (s *sentinelStage) backend() load.Backend          { return s.sim }
func (s *sentinelStage) ping(ctx context.Context) error { return s.cl.Ping(ctx).Err() }
func (s *sentinelStage) accept()                        { s.sim.Sim().Support() }

// perform moves the master as often as it is to.
func (s *sentinelStage) perform(ctx context.Context) error {
	opts := s.cfg.options()
	if s.cfg.Scenario == DiscoverySwitch {
		return s.cfg.storm(ctx, func(int) error { return s.sim.Switch(ctx, opts...) })
	}
	for i := range s.cfg.handoffs() {
		if i > 0 {
			if err := wait(ctx, s.cfg.Interval); err != nil {
				return err
			}
		}
		if err := s.sim.Failover(ctx, opts...); err != nil {
			return fmt.Errorf("failover %d: %w", i+1, err)
		}
	}
	return nil
}

func (s *sentinelStage) close() error {
	_ = s.cl.Close() // all is accounted for
	return s.sim.Close()
}

func (s *sentinelStage) watch(w *witness) {
	if s.manager != nil {
		s.manager.AddNotificationHook(w)
	}
}

func (s *sentinelStage) fill(r *account.Result) {
	r.Notices = noticesOf(s.sim.Sim().Stats().Notices)
	if s.manager != nil {
		r.Handoffs.Started += s.manager.GetActiveOperationCount()
	}
}

// validateWatched reports what has no use where sentinels tell where the server is.
func (c Config) validateWatched(bad func(is bool, format string, args ...any)) {
	if !c.Scenario.watched() {
		return
	}
	bad(c.ByName, "--by-name is for clients that know an address, not for %s", c.Scenario)
	bad(c.Records > 1, "--records is for names, not for %s", c.Scenario)
	if c.Scenario != SentinelFailover {
		return
	}
	_, addr, _ := parseServer(c.Server)
	bad(addr != "", "--server %s: the scenario %s makes servers of its own, so it wants embedded or a server program", addr, c.Scenario)
	bad(c.isReal() && c.TLS, "--tls: real sentinels and servers talk to each other through the simulator's proxies, in clear")
	bad(c.isReal() && c.IPv6, "--ipv6: real sentinels have IPv4 addresses here")
	bad(cmp.Or(c.RefuseOptIn, c.CloseOnOptIn) != 0 || c.Retained.Notice != "",
		"--refuse-opt-in, --close-on-opt-in and --retained are for servers with notices, not for %s", c.Scenario)
}
