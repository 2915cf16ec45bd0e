package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/baton-go/redis/auth"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/push"
)

// FailoverOptions configure a client that is told by sentinels where its server is. The
// zero value of each field means its default. Fields that Options has as well mean the
// same for the connections to the server; Dialer, TLSConfig, timeouts and retries are for
// those to the sentinels too.
type FailoverOptions struct {
	// MasterName is what the sentinels call the master.
	MasterName string
	// SentinelAddrs are some of the sentinels, "host:port"; the others are found out.
	SentinelAddrs []string
	// ClientName is told to the servers for each connection.
	ClientName string
	// SentinelUsername and SentinelPassword are for the sentinels; without a password
	// they are not authenticated to.
	SentinelUsername string
	SentinelPassword string

	// RouteByLatency and RouteRandomly are for NewFailoverClusterClient: reads go to the
	// nearest server, or to any; see ClusterOptions.
	RouteByLatency          bool
	RouteByLatencyTolerance time.Duration
	RouteRandomly           bool
	// ReplicaOnly makes NewFailoverClient connect to replicas, each connection to any of
	// them, and to the master where there is none.
	ReplicaOnly bool
	// UseDisconnectedReplicas takes in replicas that have lost their master.
	UseDisconnectedReplicas bool

	Dialer    func(ctx context.Context, network, addr string) (net.Conn, error)
	OnConnect func(ctx context.Context, cn *Conn) error
	Resolver  Resolver

	Protocol                   int
	Username                   string
	Password                   string
	CredentialsProvider        func() (username string, password string)
	CredentialsProviderContext func(ctx context.Context) (username string, password string, err error)
	// StreamingCredentialsProvider is as in Options.
	StreamingCredentialsProvider auth.StreamingCredentialsProvider
	DB                           int

	MaxRetries      int
	MinRetryBackoff time.Duration
	MaxRetryBackoff time.Duration

	DialTimeout             time.Duration
	DialerRetries           int
	DialerRetryTimeout      time.Duration
	DialerRetryBackoff      func(attempt int) time.Duration
	ReadTimeout             time.Duration
	WriteTimeout            time.Duration
	ContextTimeoutEnabled   bool
	ReadBufferSize          int
	WriteBufferSize         int
	DisablePolling          bool
	PipelineReadBufferSize  int
	PipelineWriteBufferSize int
	PipelinePoolSize        int

	PoolFIFO              bool
	PoolSize              int
	MaxConcurrentDials    int
	PoolTimeout           time.Duration
	MinIdleConns          int
	MaxIdleConns          int
	MaxActiveConns        int
	ConnMaxIdleTime       time.Duration
	ConnMaxLifetime       time.Duration
	ConnMaxLifetimeJitter time.Duration

	TLSConfig *tls.Config

	DisableIndentity bool
	DisableIdentity  bool
	IdentitySuffix   string
	UnstableResp3    bool

	PushNotificationProcessor push.NotificationProcessor
	FailingTimeoutSeconds     int
	// MaintNotificationsConfig is as in Options: what servers announce and what the
	// sentinels tell goes through the same handoff.
	MaintNotificationsConfig  *maintnotifications.Config
	MaintNotificationsMetrics *maintnotifications.Metrics
	AutoPipelineOptions       *AutoPipelineOptions

	Logger *slog.Logger

	csc cacheOptions // of UniversalOptions
}

// failoverAddr is the address in the options of a client whose server sentinels tell.
const failoverAddr = "FailoverClient"

// NewFailoverClient makes a client of the master of that name, wherever the sentinels say
// that it is. When they say that another server is the master now, every connection is
// handed over to it as in announced maintenance: new ones first, then the old ones drain.
// Like NewClient it connects to nothing until it is used.
func NewFailoverClient(opt *FailoverOptions) *Client {
	if opt == nil {
		panic("redis: NewFailoverClient needs FailoverOptions")
	}
	failover := *opt
	failover.SentinelAddrs = slices.Clone(opt.SentinelAddrs)
	return newClient(opt.clientOptions(), &failover)
}

// clientOptions are those of the client of the server itself.
func (opt *FailoverOptions) clientOptions() *Options {
	return opt.csc.into(&Options{
		Addr: failoverAddr, Network: "tcp", ClientName: opt.ClientName,
		Dialer: opt.Dialer, OnConnect: opt.OnConnect, Resolver: opt.Resolver,
		Protocol: opt.Protocol, Username: opt.Username, Password: opt.Password, DB: opt.DB,
		CredentialsProvider: opt.CredentialsProvider, CredentialsProviderContext: opt.CredentialsProviderContext,
		StreamingCredentialsProvider: opt.StreamingCredentialsProvider,
		MaxRetries:                   opt.MaxRetries, MinRetryBackoff: opt.MinRetryBackoff, MaxRetryBackoff: opt.MaxRetryBackoff,
		DialTimeout: opt.DialTimeout, DialerRetries: opt.DialerRetries,
		DialerRetryTimeout: opt.DialerRetryTimeout, DialerRetryBackoff: opt.DialerRetryBackoff,
		ReadTimeout: opt.ReadTimeout, WriteTimeout: opt.WriteTimeout, ContextTimeoutEnabled: opt.ContextTimeoutEnabled,
		ReadBufferSize: opt.ReadBufferSize, WriteBufferSize: opt.WriteBufferSize, DisablePolling: opt.DisablePolling,
		PipelineReadBufferSize: opt.PipelineReadBufferSize, PipelineWriteBufferSize: opt.PipelineWriteBufferSize,
		PipelinePoolSize: opt.PipelinePoolSize,
		PoolFIFO:         opt.PoolFIFO, PoolSize: opt.PoolSize, MaxConcurrentDials: opt.MaxConcurrentDials,
		PoolTimeout: opt.PoolTimeout, MinIdleConns: opt.MinIdleConns, MaxIdleConns: opt.MaxIdleConns,
		MaxActiveConns: opt.MaxActiveConns, ConnMaxIdleTime: opt.ConnMaxIdleTime,
		ConnMaxLifetime: opt.ConnMaxLifetime, ConnMaxLifetimeJitter: opt.ConnMaxLifetimeJitter,
		TLSConfig: opt.TLSConfig, DisableIndentity: opt.DisableIndentity, DisableIdentity: opt.DisableIdentity,
		IdentitySuffix: opt.IdentitySuffix, UnstableResp3: opt.UnstableResp3,
		PushNotificationProcessor: opt.PushNotificationProcessor, FailingTimeoutSeconds: opt.FailingTimeoutSeconds,
		MaintNotificationsConfig: opt.MaintNotificationsConfig, MaintNotificationsMetrics: opt.MaintNotificationsMetrics,
		AutoPipelineOptions: opt.AutoPipelineOptions, Logger: opt.Logger,
	})
}

// sentinelOptions are those of the client of one sentinel.
func (opt *FailoverOptions) sentinelOptions(addr string) *Options {
	return &Options{
		Addr: addr, ClientName: opt.ClientName, Dialer: opt.Dialer, Resolver: opt.Resolver,
		Protocol: opt.Protocol, Username: opt.SentinelUsername, Password: opt.SentinelPassword,
		MaxRetries: opt.MaxRetries, MinRetryBackoff: opt.MinRetryBackoff, MaxRetryBackoff: opt.MaxRetryBackoff,
		DialTimeout: opt.DialTimeout, DialerRetries: 1,
		ReadTimeout: opt.ReadTimeout, WriteTimeout: opt.WriteTimeout, DisablePolling: true,
		PoolSize: 1, TLSConfig: opt.TLSConfig, DisableIndentity: opt.DisableIndentity,
		DisableIdentity: opt.DisableIdentity, IdentitySuffix: opt.IdentitySuffix, Logger: opt.Logger,
	}
}

// NewFailoverClusterClient makes a client of the master of that name and its replicas:
// writes go to the master, and reads, with RouteByLatency or RouteRandomly, to any of
// them. Where the master is another server, commands go there from its promotion on.
func NewFailoverClusterClient(opt *FailoverOptions) *ClusterClient {
	if opt == nil {
		panic("redis: NewFailoverClusterClient needs FailoverOptions")
	}
	failover := *opt
	failover.SentinelAddrs = slices.Clone(opt.SentinelAddrs)
	failover.RouteByLatency, failover.RouteRandomly = false, false
	var c *ClusterClient
	watch := newSentinels(&failover, func(string, string) { c.refreshSoon() })
	o := opt.clusterOptions()
	o.ClusterSlots = watch.topology
	c = NewClusterClient(o)
	c.watch = watch
	c.invalid = errors.Join(append(failover.validate(), c.invalid)...)
	return c
}

// clusterOptions are those of NewFailoverClusterClient.
func (opt *FailoverOptions) clusterOptions() *ClusterOptions {
	db := opt.DB
	return &ClusterOptions{
		Addrs: []string{"127.0.0.1:6379"}, // asked by nobody: sentinels tell the topology
		NewClient: func(o *Options) *Client {
			o.DB = db
			return NewClient(o)
		},
		ClientName: opt.ClientName, Dialer: opt.Dialer, OnConnect: opt.OnConnect, Resolver: opt.Resolver,
		RouteByLatency: opt.RouteByLatency, RouteByLatencyTolerance: opt.RouteByLatencyTolerance, RouteRandomly: opt.RouteRandomly,
		Protocol: opt.Protocol, Username: opt.Username, Password: opt.Password,
		CredentialsProvider: opt.CredentialsProvider, CredentialsProviderContext: opt.CredentialsProviderContext,
		StreamingCredentialsProvider: opt.StreamingCredentialsProvider,
		MaxRetries:                   opt.MaxRetries, MinRetryBackoff: opt.MinRetryBackoff, MaxRetryBackoff: opt.MaxRetryBackoff,
		DialTimeout: opt.DialTimeout, DialerRetries: opt.DialerRetries,
		DialerRetryTimeout: opt.DialerRetryTimeout, DialerRetryBackoff: opt.DialerRetryBackoff,
		ReadTimeout: opt.ReadTimeout, WriteTimeout: opt.WriteTimeout, ContextTimeoutEnabled: opt.ContextTimeoutEnabled,
		ReadBufferSize: opt.ReadBufferSize, WriteBufferSize: opt.WriteBufferSize, DisablePolling: opt.DisablePolling,
		PipelineReadBufferSize: opt.PipelineReadBufferSize, PipelineWriteBufferSize: opt.PipelineWriteBufferSize,
		PipelinePoolSize: opt.PipelinePoolSize,
		PoolFIFO:         opt.PoolFIFO, PoolSize: opt.PoolSize, MaxConcurrentDials: opt.MaxConcurrentDials,
		PoolTimeout: opt.PoolTimeout, MinIdleConns: opt.MinIdleConns, MaxIdleConns: opt.MaxIdleConns,
		MaxActiveConns: opt.MaxActiveConns, ConnMaxIdleTime: opt.ConnMaxIdleTime,
		ConnMaxLifetime: opt.ConnMaxLifetime, ConnMaxLifetimeJitter: opt.ConnMaxLifetimeJitter,
		TLSConfig: opt.TLSConfig, DisableIndentity: opt.DisableIndentity, DisableIdentity: opt.DisableIdentity,
		IdentitySuffix: opt.IdentitySuffix, UnstableResp3: opt.UnstableResp3,
		PushNotificationProcessor: opt.PushNotificationProcessor, FailingTimeoutSeconds: opt.FailingTimeoutSeconds,
		MaintNotificationsConfig: opt.MaintNotificationsConfig, MaintNotificationsMetrics: opt.MaintNotificationsMetrics,
		AutoPipelineOptions: opt.AutoPipelineOptions, Logger: opt.Logger, csc: opt.csc,
	}
}

// validate tells what is wrong with the part that is about sentinels.
func (opt *FailoverOptions) validate() (errs []error) {
	if opt.MasterName == "" {
		errs = append(errs, errors.New("redis: options: MasterName is empty"))
	}
	if len(opt.SentinelAddrs) == 0 {
		errs = append(errs, errors.New("redis: options: SentinelAddrs is empty"))
	}
	for _, addr := range opt.SentinelAddrs {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			errs = append(errs, fmt.Errorf("redis: options: SentinelAddrs: %q is not host:port: %w", addr, err))
		}
	}
	if opt.RouteByLatency || opt.RouteRandomly {
		errs = append(errs, errors.New("redis: options: RouteByLatency and RouteRandomly are for NewFailoverClusterClient"))
	}
	return errs
}

//------------------------------------------------------------------------------

// Numbers of the sentinels.
const (
	// sentinelPatience is how long the sentinel that answered last is waited for until the
	// others are asked as well.
	sentinelPatience = 300 * time.Millisecond
	// sentinelLook is how often they are asked without a reason, in case an event was
	// missed while a connection to them was down.
	sentinelLook = 10 * time.Second
	// promotionLook is how long a replica that is being promoted is looked at, and
	// promotionEvery how often.
	promotionLook  = 3 * time.Second
	promotionEvery = 2 * time.Millisecond
	// mostSentinels bounds those that are found out.
	mostSentinels = 64
)

// sentinels are those that watch one master. They are asked where it is for each new
// connection, and tell when it has moved. Their clients are made with the first question,
// and their goroutine when it was answered.
type sentinels struct {
	opt  *FailoverOptions // immutable
	tell switched         // immutable

	ctx  context.Context // ends with close
	stop context.CancelFunc
	wg   sync.WaitGroup // the watchers

	mu       sync.Mutex // guards the fields below
	closed   bool
	watched  bool
	promoted string          // the replica that promoting looks at; "": none
	next     string          // it has become the master, which the sentinels do not say yet
	until    time.Time       // when they are believed again
	nodes    []*sentinelNode // the one that answered last is the first
}

// switched is told what the sentinels have seen: that links to from are to go to to;
// from "": all that are elsewhere.
type switched func(from, to string)

type sentinelNode struct {
	addr   string
	client *SentinelClient
}

// newSentinels makes the sentinels of a client; nothing is started.
func newSentinels(opt *FailoverOptions, tell switched) *sentinels {
	s := &sentinels{opt: opt, tell: tell}
	s.ctx, s.stop = context.WithCancel(context.Background())
	for _, addr := range opt.SentinelAddrs {
		s.add(addr)
	}
	return s
}

// add makes a sentinel known, once; mu is held, or nobody else has s.
func (s *sentinels) add(addr string) {
	if len(s.nodes) >= mostSentinels || slices.ContainsFunc(s.nodes, func(n *sentinelNode) bool { return n.addr == addr }) {
		return
	}
	n := &sentinelNode{addr: addr, client: NewSentinelClient(s.opt.sentinelOptions(addr))}
	s.nodes = append(s.nodes, n)
	if s.watched {
		s.wg.Go(func() { s.watch(n) })
	}
}

// close ends the connections to the sentinels and waits for the watchers.
func (s *sentinels) close() {
	s.mu.Lock()
	s.closed = true
	nodes := s.nodes
	s.mu.Unlock()
	s.stop()
	s.wg.Wait()
	for _, n := range nodes {
		_ = n.client.Close()
	}
}

// begin makes the sentinels be listened to, once.
func (s *sentinels) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched || s.closed {
		return
	}
	s.watched = true
	for _, n := range s.nodes {
		s.wg.Go(func() { s.watch(n) })
	}
	s.wg.Go(s.look)
}

// locate tells where the client has to connect to: the master, or a replica. The first
// sentinel that answers counts.
func (s *sentinels) locate(ctx context.Context) (string, error) {
	return ask(ctx, s, func(ctx context.Context, c *SentinelClient) (string, error) {
		if s.opt.ReplicaOnly {
			if all, err := s.replicas(ctx, c); err != nil || len(all) > 0 {
				return anyOf(all), err
			}
		}
		return s.master(ctx, c)
	})
}

// anyOf is one of several, or "".
func anyOf(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[rand.N(len(all))] //nolint:gosec // to spread connections
}

// master asks one sentinel where the master is, unless it is known better.
func (s *sentinels) master(ctx context.Context, c *SentinelClient) (string, error) {
	s.mu.Lock()
	next := s.next
	if time.Now().After(s.until) {
		next = ""
	}
	s.mu.Unlock()
	if next != "" {
		return next, nil
	}
	parts, err := c.GetMasterAddrByName(ctx, s.opt.MasterName).Result()
	switch {
	case errors.Is(err, Nil):
		return "", fmt.Errorf("it watches no master called %q", s.opt.MasterName)
	case err != nil:
		return "", err
	case len(parts) != 2:
		return "", fmt.Errorf("SENTINEL GET-MASTER-ADDR-BY-NAME: %d elements, want host and port", len(parts))
	}
	return net.JoinHostPort(parts[0], parts[1]), nil
}

// replicas asks one sentinel for the replicas that can be used.
func (s *sentinels) replicas(ctx context.Context, c *SentinelClient) (addrs []string, err error) {
	all, err := c.Replicas(ctx, s.opt.MasterName).Result()
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if s.usable(r) && r["ip"] != "" && r["port"] != "" {
			addrs = append(addrs, net.JoinHostPort(r["ip"], r["port"]))
		}
	}
	return addrs, nil
}

// usable tells whether a replica is up, as far as its sentinel knows.
func (s *sentinels) usable(replica map[string]string) bool {
	for flag := range strings.SplitSeq(replica["flags"], ",") {
		switch flag {
		case "s_down", "o_down":
			return false
		case "disconnected":
			if !s.opt.UseDisconnectedReplicas {
				return false
			}
		}
	}
	return s.opt.UseDisconnectedReplicas || replica["master-link-status"] != "err"
}

// told is what one sentinel said.
type told[T any] struct {
	node *sentinelNode
	val  T
	err  error
}

// ask asks the sentinel that answered last and, if it takes its time or fails, all others
// at one time. The first good answer counts: its sentinel is asked first from now on, and all
// are listened to.
func ask[T any](ctx context.Context, s *sentinels, question func(context.Context, *SentinelClient) (T, error)) (T, error) {
	var none T
	s.mu.Lock()
	nodes, closed := slices.Clone(s.nodes), s.closed
	if !closed {
		s.wg.Add(1)
		defer s.wg.Done()
	}
	s.mu.Unlock()
	if closed {
		return none, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan told[T], len(nodes))
	var wg sync.WaitGroup
	defer wg.Wait() // after cancel: they leave at once
	defer cancel()
	put := func(n *sentinelNode) {
		wg.Go(func() {
			v, err := question(ctx, n.client)
			answers <- told[T]{n, v, err}
		})
	}
	put(nodes[0])
	rest := nodes[1:]
	hurry := time.NewTimer(sentinelPatience)
	defer hurry.Stop()
	var errs []error
	for waiting := 1; waiting > 0; {
		select {
		case a := <-answers:
			waiting--
			if a.err == nil {
				s.prefer(a.node)
				s.begin()
				return a.val, nil
			}
			errs = append(errs, fmt.Errorf("sentinel %s: %w", a.node.addr, a.err))
		case <-hurry.C:
		}
		for _, n := range rest {
			put(n)
			waiting++
		}
		rest = nil
	}
	return none, fmt.Errorf("no sentinel has told: %w", errors.Join(errs...))
}

// prefer makes a sentinel the first to be asked.
func (s *sentinels) prefer(n *sentinelNode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.nodes, n); i > 0 {
		s.nodes = slices.Insert(slices.Delete(slices.Clone(s.nodes), i, i+1), 0, n)
	}
}

// watch listens to one sentinel's events.
func (s *sentinels) watch(n *sentinelNode) {
	sub := n.client.Subscribe(s.ctx, "+switch-master", "+failover-state-wait-promotion", "+promoted-slave", "+sdown", "+sentinel")
	defer sub.Close()
	events := sub.Channel()
	for {
		select {
		case m, ok := <-events:
			if !ok {
				return
			}
			s.event(m)
		case <-s.ctx.Done():
			return
		}
	}
}

// event takes in what a sentinel has told.
func (s *sentinels) event(m *Message) {
	words := strings.Fields(m.Payload)
	switch m.Channel {
	case "+switch-master": // <name> <old host> <old port> <new host> <new port>
		if len(words) < 5 || words[0] != s.opt.MasterName {
			return
		}
		now := net.JoinHostPort(words[3], words[4])
		s.mu.Lock()
		s.next = ""
		s.mu.Unlock()
		if s.opt.ReplicaOnly {
			s.leave(now)
			return
		}
		s.tell("", now)
	case "+failover-state-wait-promotion", "+promoted-slave": // slave <name> <host> <port> @ <master> <host> <port>
		if !s.opt.ReplicaOnly && len(words) >= 6 && words[5] == s.opt.MasterName {
			s.promoting(net.JoinHostPort(words[2], words[3]))
		}
	case "+sdown": // <kind> <name> <host> <port> @ <master> <host> <port>
		if s.opt.ReplicaOnly && len(words) >= 6 && words[0] == "slave" && words[5] == s.opt.MasterName {
			s.leave(net.JoinHostPort(words[2], words[3]))
		}
	case "+sentinel": // sentinel <name> <host> <port> @ <master> <host> <port>
		if len(words) >= 6 && words[5] == s.opt.MasterName {
			s.mu.Lock()
			if !s.closed {
				s.add(net.JoinHostPort(words[2], words[3]))
			}
			s.mu.Unlock()
		}
	}
}

// promoting waits until a replica that is being made the master is one, and then hands
// over to it. The sentinel tells +switch-master about a second later, and what the old
// master has acknowledged meanwhile will be lost.
func (s *sentinels) promoting(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.promoted == addr {
		return
	}
	s.promoted = addr
	s.wg.Go(func() {
		isMaster := s.isMaster(addr)
		s.mu.Lock()
		s.promoted = ""
		if isMaster {
			s.next, s.until = addr, time.Now().Add(sentinelLook)
		}
		s.mu.Unlock()
		if isMaster {
			s.tell("", addr)
		}
	})
}

// isMaster asks a server until it says that it is a master, for promotionLook at most.
func (s *sentinels) isMaster(addr string) bool {
	ctx, cancel := context.WithTimeout(s.ctx, promotionLook)
	defer cancel()
	opt := s.opt.clientOptions()
	opt.Addr, opt.OnConnect = addr, nil
	opt.MaintNotificationsConfig, opt.MaintNotificationsMetrics = maintDisabled(), nil
	opt.MinIdleConns, opt.DialerRetries, opt.MaxRetries, opt.DisablePolling = 0, 1, -1, true
	c := NewClient(opt)
	defer c.Close()
	for {
		role, err := c.Do(ctx, "role").Slice()
		if err == nil && len(role) > 0 && role[0] == "master" {
			return true
		}
		if !sleep(ctx, promotionEvery) {
			return false
		}
	}
}

// topology is the master and its replicas as a cluster with all slots at one place.
func (s *sentinels) topology(ctx context.Context) ([]ClusterSlot, error) {
	return ask(ctx, s, func(ctx context.Context, c *SentinelClient) ([]ClusterSlot, error) {
		master, err := s.master(ctx, c)
		if err != nil {
			return nil, err
		}
		replicas, err := s.replicas(ctx, c)
		if err != nil {
			return nil, err
		}
		nodes := []ClusterNode{{Addr: master}}
		for _, addr := range replicas {
			if addr != master {
				nodes = append(nodes, ClusterNode{Addr: addr})
			}
		}
		return []ClusterSlot{{Start: 0, End: cluster.Slots - 1, Nodes: nodes}}, nil
	})
}

// leave hands over what is connected to a replica that is none any more.
func (s *sentinels) leave(addr string) {
	ctx, cancel := context.WithTimeout(s.ctx, sentinelLook)
	defer cancel()
	if other, err := s.locate(ctx); err == nil && other != addr {
		s.tell(addr, other)
	}
}

// look asks from time to time where the master is and who the sentinels are.
func (s *sentinels) look() {
	t := time.NewTicker(sentinelLook)
	defer t.Stop()
	for {
		s.discover()
		select {
		case <-t.C:
		case <-s.ctx.Done():
			return
		}
		if s.opt.ReplicaOnly {
			continue
		}
		if addr, err := s.locate(s.ctx); err == nil {
			s.tell("", addr)
		}
	}
}

// discover makes the other sentinels known.
func (s *sentinels) discover() {
	found, err := ask(s.ctx, s, func(ctx context.Context, c *SentinelClient) ([]map[string]string, error) {
		return c.Sentinels(ctx, s.opt.MasterName).Result()
	})
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range found {
		if f["ip"] != "" && f["port"] != "" && !s.closed {
			s.add(net.JoinHostPort(f["ip"], f["port"]))
		}
	}
}
