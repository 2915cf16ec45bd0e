package drill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/load"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// ringServers describes the shards.
func (c Config) ringServers() string {
	_, server, _ := Backend(c.Server) // it was found before
	return fmt.Sprintf("ring of %d shards, each with %s", c.shards(), server)
}

// A ringStage is a database for each shard of a ring, with the ring's client.
type ringStage struct {
	cfg      Config
	sims     []*maintsim.Sim
	byName   map[string]*maintsim.Sim
	hash     *cluster.Rendezvous
	cl       *redis.Ring
	managers []*maintnotifications.Manager
}

func (c Config) newRingStage(onEvent func(maintsim.Event)) (st stage, accept time.Duration, err error) {
	opt := c.clientOptions()
	s := &ringStage{cfg: c, byName: make(map[string]*maintsim.Sim)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	addrs := make(map[string]string)
	for i := range c.shards() {
		cfg, err := c.simulation(onEvent)
		if err != nil {
			return nil, 0, err
		}
		cfg.Proxies = c.proxies()
		cfg.Seed += uint64(i)
		c.Apply(&cfg)
		sim, err := maintsim.New(cfg)
		if err != nil {
			return nil, 0, err
		}
		c.Begin(sim)
		name := "shard" + strconv.Itoa(i+1)
		s.sims = append(s.sims, sim)
		s.byName[name], addrs[name] = sim, sim.Addr()
	}
	s.hash = cluster.NewRendezvous(slices.Sorted(maps.Keys(addrs)))
	s.cl = redis.NewRing(&redis.RingOptions{
		Addrs: addrs, Protocol: opt.Protocol,
		ReadTimeout: opt.ReadTimeout, WriteTimeout: opt.WriteTimeout, DialTimeout: opt.DialTimeout,
		PoolSize: opt.PoolSize, PoolTimeout: opt.PoolTimeout,
		MaxRetries: opt.MaxRetries, MinRetryBackoff: opt.MinRetryBackoff, MaxRetryBackoff: opt.MaxRetryBackoff,
		MaintNotificationsConfig: opt.MaintNotificationsConfig,
	})
	for _, shard := range s.cl.GetShardClients() {
		if m := shard.GetMaintNotificationsManager(); m != nil {
			s.managers = append(s.managers, m)
		}
	}
	return s, 0, nil
}

func (s *ringStage) client() load.Client   { return s.cl }
func (s *ringStage) backend() load.Backend { return s }
func (s *ringStage) accept()               {}

func (s *ringStage) ping(ctx context.Context) error {
	return s.cl.ForEachShard(ctx, func(ctx context.Context, shard *redis.Client) error { return shard.Ping(ctx).Err() })
}

// Do runs a command on the shard that has its keys, each key by itself where there are
// several.
func (s *ringStage) Do(args ...string) (any, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("%q has no key", args)
	}
	if args[0] != "DEL" {
		return s.shardOf(args[1]).Backend().Do(args...)
	}
	for _, key := range args[1:] {
		if _, err := s.shardOf(key).Backend().Do("DEL", key); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (s *ringStage) shardOf(key string) *maintsim.Sim { return s.byName[s.hash.Get(cluster.Tag(key))] }

// perform moves the shards' endpoints in turn.
func (s *ringStage) perform(ctx context.Context) error {
	opts := s.cfg.options()
	return s.cfg.storm(ctx, func(i int) error { return s.sims[i%len(s.sims)].Rebind(ctx, opts...) })
}

func (s *ringStage) close() error {
	if s.cl != nil {
		_ = s.cl.Close() // all is accounted for
	}
	var errs []error
	for _, sim := range s.sims {
		errs = append(errs, sim.Close())
	}
	return errors.Join(errs...)
}

func (s *ringStage) watch(w *witness) {
	for _, m := range s.managers {
		m.AddNotificationHook(w)
	}
}

func (s *ringStage) fill(r *account.Result) {
	for _, sim := range s.sims {
		r.Notices.Moving += noticesOf(sim.Stats().Notices).Moving
	}
	for _, m := range s.managers {
		r.Handoffs.Started += m.GetActiveOperationCount()
	}
}

// validateRing reports what a ring's client can't follow, or has no use for.
func (c Config) validateRing(bad func(is bool, format string, args ...any)) {
	if c.Scenario != RingMoves {
		return
	}
	bad(c.Shards != 0 && (c.Shards < 2 || c.Shards > 16), "--shards %d, want 2 to 16", c.Shards)
	bad(c.ByName || c.TLS || c.Records > 1, "--by-name, --tls and --records are for one name, and a ring has several servers")
	bad(c.deaf() || c.LostOpenings > 0, "--refuse-opt-in, --close-on-opt-in, --protocol 2 and --lost-openings keep a ring from knowing where its shards go")
}
