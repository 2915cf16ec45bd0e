package drill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/load"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// A Shape says what cluster to rehearse on, and how its slots move.
type Shape struct {
	// Shards is how many share the slots to begin with; 0 is 3.
	Shards int
	// Replicas is how many each of them has; 0 is what the scenario needs.
	Replicas int
	// Steps is in how many parts the slots of a shard move; 0 is 4.
	Steps int
	// Slots is how many of them; 0 is all.
	Slots int
	// Window is how long each part takes to move; 0 is the simulator's default.
	Window time.Duration
	// Atomic moves slots as a whole, without ASK and TRYAGAIN.
	Atomic bool
	// MaxRedirects is the client's: 0 is its default, -1 none.
	MaxRedirects int
}

const (
	defaultShards = maintsim.DefaultShards
	defaultSteps  = 4
	// failoverTime is about how long a replica takes to take over.
	failoverTime = time.Second
)

func (s Shape) shards() int { return cmp.Or(s.Shards, defaultShards) }
func (s Shape) steps() int  { return cmp.Or(s.Steps, defaultSteps) }

func (s Shape) window() time.Duration { return cmp.Or(s.Window, maintsim.DefaultWindow) }

// replicas is how many each shard has.
func (c Config) replicas() int {
	if c.Scenario == ClusterFailover {
		return max(c.Replicas, 1)
	}
	return c.Replicas
}

// spares is how many shards are no part of the cluster to begin with, negative for none.
func (c Config) spares() int {
	if c.Scenario == Reshard {
		return 1
	}
	return -1
}

// cluster describes the cluster.
func (c Config) cluster() string {
	_, server, _ := Backend(c.Server) // it was found before
	if server == embeddedServer {
		server = "embedded cluster"
	} else {
		server = "cluster of " + server
	}
	server += fmt.Sprintf(", %d shards", c.shards())
	switch n := c.replicas(); n {
	case 0:
	case 1:
		server += " with a replica each"
	default:
		server += fmt.Sprintf(" with %d replicas each", n)
	}
	return server
}

// isReal reports whether the nodes are processes.
func (c Config) isReal() bool {
	argv, _, _ := parseServer(c.Server)
	return argv != nil
}

// clusterLength is how long the scenario takes, about.
func (c Config) clusterLength() time.Duration {
	step := c.Lead + c.window() + c.Stall
	switch c.Scenario {
	case SlotMigrate:
		return time.Duration(2*c.steps())*step + time.Duration(c.cascades())*(c.Lead+c.window()) + margin
	case ClusterFailover:
		return time.Duration(c.shards())*(c.Lead+c.Stall+failoverTime) + margin
	case Reshard:
		return time.Duration(2*c.shards())*step + c.Grace + margin
	}
	return 0
}

// cascades is how many steps move on before they are over.
func (c Config) cascades() int {
	if c.shards() < 3 {
		return 0
	}
	return c.steps() / 2
}

// A clusterStage is a cluster with its client.
type clusterStage struct {
	cfg    Config
	sim    *maintsim.Cluster
	cl     *redis.ClusterClient
	before maintsim.ClusterStats // when the load began
	moved  int64                 // slots; owned by perform, and read when that is over

	mu       sync.Mutex // guards the fields below
	managers []*maintnotifications.Manager
	seen     *witness // nil until watch
}

func (c Config) newClusterStage(onEvent func(maintsim.Event)) (stage, time.Duration, error) {
	sim, err := c.simulation(onEvent)
	if err != nil {
		return nil, 0, err
	}
	if c.IPv6 {
		sim.Hosts = []string{"127.0.0.1", "::1"}
	}
	c.Apply(&sim)
	node := c.clientOptions()
	if node.TLSConfig, err = c.encrypt(&sim); err != nil {
		return nil, 0, err
	}
	s := &clusterStage{cfg: c}
	s.sim, err = maintsim.NewCluster(maintsim.ClusterConfig{
		Config: sim, Shards: c.shards(), Spares: c.spares(), Replicas: c.replicas(), Window: c.window(), Names: c.ByName || c.TLS,
	})
	if err != nil {
		return nil, 0, err
	}
	accept := c.Begin(s.sim.Sim())
	opt := &redis.ClusterOptions{
		Addrs:        s.sim.Addrs(),
		MaxRedirects: c.MaxRedirects,
		Protocol:     node.Protocol, TLSConfig: node.TLSConfig,
		ReadTimeout: node.ReadTimeout, WriteTimeout: node.WriteTimeout, DialTimeout: node.DialTimeout,
		PoolSize: node.PoolSize, PoolTimeout: node.PoolTimeout,
		MaxRetries: node.MaxRetries, MinRetryBackoff: node.MinRetryBackoff, MaxRetryBackoff: node.MaxRetryBackoff,
		MaintNotificationsConfig: node.MaintNotificationsConfig,
	}
	if c.ByName || c.TLS {
		opt.Resolver = s.sim
	}
	s.cl = redis.NewClusterClient(opt)
	s.cl.OnNewNode(s.node)
	return s, accept, nil
}

// node takes in the client of a node.
func (s *clusterStage) node(cl *redis.Client) {
	m := cl.GetMaintNotificationsManager()
	if m == nil {
		return
	}
	s.mu.Lock()
	s.managers = append(s.managers, m)
	w := s.seen
	s.mu.Unlock()
	if w != nil {
		m.AddNotificationHook(w)
	}
}

func (s *clusterStage) watch(w *witness) {
	s.before = s.sim.Stats()
	s.mu.Lock()
	s.seen = w
	known := slices.Clone(s.managers)
	s.mu.Unlock()
	for _, m := range known {
		m.AddNotificationHook(w)
	}
}

func (s *clusterStage) client() load.Client   { return s.cl }
func (s *clusterStage) backend() load.Backend { return s.sim }
func (s *clusterStage) accept()               { s.sim.Sim().Support() }

func (s *clusterStage) ping(ctx context.Context) error {
	return s.cl.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return node.Ping(ctx).Err() })
}

func (s *clusterStage) close() error {
	_ = s.cl.Close() // all is accounted for
	return s.sim.Close()
}

func (s *clusterStage) fill(r *account.Result) {
	st := s.sim.Stats()
	r.Notices = noticesOf(st.Notices)
	c := account.Cluster{Shards: int64(s.cfg.shards()), Nodes: int64(len(st.Nodes)), SlotsMoved: s.moved}
	for i, n := range st.Nodes {
		b := s.before.Nodes[i]
		c.Moved += int64(n.Moved - b.Moved)
		c.Ask += int64(n.Ask - b.Ask)
		c.TryAgain += int64(n.TryAgain - b.TryAgain)
		c.ClusterDown += int64(n.ClusterDown - b.ClusterDown)
	}
	if c.SlotsMoved > 0 {
		c.MovedPerSlot = account.Round(float64(c.Moved)/float64(c.SlotsMoved), 4)
	}
	r.Cluster = c
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.managers {
		r.Handoffs.Started += m.GetActiveOperationCount()
	}
}

func (s *clusterStage) perform(ctx context.Context) error {
	opts := s.cfg.options()
	if s.cfg.Atomic {
		opts = append(opts, maintsim.WithAtomic())
	}
	switch s.cfg.Scenario {
	case SlotMigrate:
		return s.migrateSlots(ctx, opts)
	case ClusterFailover:
		return s.failovers(ctx, opts)
	case Reshard:
		return s.reshard(ctx, opts)
	}
	return fmt.Errorf("scenario %q is none of a cluster", s.cfg.Scenario)
}

// migrateSlots moves the slots of the first shard to the second, in steps. Every other
// step moves on to the third before it is over. Then all of them move back.
func (s *clusterStage) migrateSlots(ctx context.Context, opts []maintsim.Option) error {
	slots := s.sim.Slots(0)
	if n := s.cfg.Slots; n > 0 {
		slots = firstSlots(slots, n)
	}
	steps := CutSlots(slots, s.cfg.steps())
	at := make([]int, len(steps)) // the shard where a step's slots are
	for i, slots := range steps {
		at[i] = 1
		var err error
		if i%2 == 1 && s.cfg.cascades() > 0 {
			at[i] = 2
			err = s.cascade(ctx, slots, opts)
		} else {
			err = s.migrate(ctx, 0, 1, slots, opts)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	for i, slots := range steps {
		if err := s.migrate(ctx, at[i], 0, slots, opts); err != nil {
			return fmt.Errorf("step %d back: %w", i+1, err)
		}
	}
	return nil
}

func (s *clusterStage) migrate(ctx context.Context, from, to int, slots []maintsim.SlotRange, opts []maintsim.Option) error {
	err := s.sim.MigrateSlots(ctx, from, to, slots, opts...)
	if err == nil {
		s.moved += int64(SlotsIn(slots))
	}
	return err
}

// cascade moves slots from the first shard to the second, and on to the third in the
// middle of that window. Real nodes move them on right behind it: they settle who has a
// slot by epochs that each takes by itself, and a node that gives and gets slots at a time
// may take back what it has given.
func (s *clusterStage) cascade(ctx context.Context, slots []maintsim.SlotRange, opts []maintsim.Option) error {
	if s.cfg.isReal() {
		err := s.migrate(ctx, 0, 1, slots, opts)
		if err == nil {
			err = s.migrate(ctx, 1, 2, slots, opts)
		}
		return err
	}
	var (
		wg    sync.WaitGroup
		first error
	)
	wg.Go(func() { first = s.sim.MigrateSlots(ctx, 0, 1, slots, opts...) })
	err := wait(ctx, s.cfg.Lead+s.cfg.window()/2)
	if err == nil {
		err = s.sim.MigrateSlots(ctx, 1, 2, slots, opts...)
	}
	wg.Wait()
	if err = errors.Join(first, err); err == nil {
		s.moved += 2 * int64(SlotsIn(slots))
	}
	return err
}

// failovers makes a replica the primary of each shard, one after the other.
func (s *clusterStage) failovers(ctx context.Context, opts []maintsim.Option) error {
	for shard := range s.cfg.shards() {
		slots := s.sim.Slots(shard)
		if err := s.sim.Failover(ctx, shard, opts...); err != nil {
			return fmt.Errorf("shard %d: %w", shard+1, err)
		}
		s.moved += int64(SlotsIn(slots))
	}
	return nil
}

// reshard makes the spare shard one of the cluster, and then spare again.
func (s *clusterStage) reshard(ctx context.Context, opts []maintsim.Option) error {
	shard, err := s.sim.AddShard(ctx, opts...)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	n := int64(SlotsIn(s.sim.Slots(shard)))
	s.moved += n
	if err := s.sim.RemoveShard(ctx, shard, opts...); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	s.moved += n
	return nil
}

// SlotsIn is how many slots there are in ranges.
func SlotsIn(slots []maintsim.SlotRange) (n int) {
	for _, r := range slots {
		n += r.Last - r.First + 1
	}
	return n
}

// CutSlots cuts slots in parts of about the same size, as many as there can be up to n.
func CutSlots(slots []maintsim.SlotRange, n int) [][]maintsim.SlotRange {
	var parts [][]maintsim.SlotRange
	all := SlotsIn(slots)
	n = min(n, all)
	for i := range n {
		part := firstSlots(slots, all*(i+1)/n-all*i/n)
		slots = withoutFirst(slots, SlotsIn(part))
		parts = append(parts, part)
	}
	return parts
}

// firstSlots are the first n slots, or all where there are fewer.
func firstSlots(slots []maintsim.SlotRange, n int) (first []maintsim.SlotRange) {
	for _, r := range slots {
		if n <= 0 {
			break
		}
		r.Last = min(r.Last, r.First+n-1)
		n -= r.Last - r.First + 1
		first = append(first, r)
	}
	return first
}

// withoutFirst are all slots but the first n.
func withoutFirst(slots []maintsim.SlotRange, n int) (rest []maintsim.SlotRange) {
	for _, r := range slots {
		skip := min(n, r.Last-r.First+1)
		n -= skip
		if r.First += skip; r.First <= r.Last {
			rest = append(rest, r)
		}
	}
	return rest
}

// validateCluster reports what is wrong with the cluster, or has no use in one.
func (c Config) validateCluster(bad func(is bool, format string, args ...any)) {
	if !c.Scenario.Clustered() {
		shape := c.Shape
		if c.Scenario == RingMoves {
			shape.Shards = 0
		}
		bad(shape != Shape{}, "--shards, --replicas, --steps, --slots, --window, --atomic and --max-redirects are for the scenarios %s, not for %s",
			names(clusterScenarios()), c.Scenario)
		return
	}
	_, addr, _ := parseServer(c.Server)
	bad(addr != "", "--server %s: the scenario %s makes a cluster of its own, so it wants embedded or a server program", addr, c.Scenario)
	bad(c.Shards != 0 && (c.Shards < 2 || c.Shards > 16), "--shards %d, want 2 to 16", c.Shards)
	bad(c.Replicas < 0 || c.Replicas > 3, "--replicas %d, want 0 to 3", c.Replicas)
	bad(c.Steps < 0 || c.Steps > 100, "--steps %d, want 1 to 100", c.Steps)
	bad(c.Steps > 0 && c.Scenario != SlotMigrate, "--steps is for %s, not for %s", SlotMigrate, c.Scenario)
	bad(c.Slots < 0 || c.Slots > 0 && c.Slots < c.steps(), "--slots %d, want one or more for each step", c.Slots)
	bad(c.Slots > 0 && c.Scenario != SlotMigrate, "--slots is for %s, not for %s", SlotMigrate, c.Scenario)
	bad(c.Window < 0, "--window %v is negative", c.Window)
	bad((c.Window > 0 || c.Atomic) && c.Scenario == ClusterFailover, "--window and --atomic are for slots that move, not for %s", c.Scenario)
	bad(c.MaxRedirects < -1, "--max-redirects %d, want -1 or more", c.MaxRedirects)
	for _, useless := range []struct {
		flag string
		set  bool
	}{
		{"--own-ports", c.OwnPorts},
		{"--records", c.Records != 0},
		{"--retained", c.Retained.Notice != ""},
	} {
		bad(useless.set, "%s has no use in a cluster, so not for %s", useless.flag, c.Scenario)
	}
}
