package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"time"

	"github.com/baton-go/redis/auth"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/push"
)

// ClusterNode is a node as CLUSTER SLOTS tells it.
type ClusterNode struct {
	ID                 string            // 40 hexadecimal digits; "" where it is not known
	Addr               string            // host:port to connect to
	NetworkingMetadata map[string]string // hostname, ip and the like
}

// ClusterSlot is a range of slots with the nodes that serve it, the primary first.
type ClusterSlot struct {
	Start, End int // both included, of 0 to 16383
	Nodes      []ClusterNode
}

// ShardPicker picks one of several primaries, which are in the order of their slots. It is
// called by many goroutines at once.
type ShardPicker interface {
	// Next gives a number from 0 to total-1; total is at least 1.
	Next(total int) int
}

// ClusterOptions configure a ClusterClient. The zero value of each field means its
// default. The struct is not changed by the client. Fields that Options has as well mean
// the same, for each node; PoolSize and its like are per node.
type ClusterOptions struct {
	// Addrs are some nodes of the cluster, "host:port"; the others are found out.
	Addrs []string
	// ClientName is told to the servers for each connection.
	ClientName string
	// NewClient makes the client of a node. Default: the function NewClient. Hooks that
	// it adds see what is sent to the node; see ClusterClient.OnNewNode.
	NewClient func(opt *Options) *Client
	// MaxRedirects is how often a command follows MOVED and ASK, beyond which that
	// is its answer. Default 3; -1 never, and then answers that the cluster is not
	// ready count as well. Else commands that were not executed because it was not
	// wait up to PoolTimeout, as do those that could not be sent.
	MaxRedirects int
	// ReadOnly lets commands that only read go to replicas, which may be behind.
	ReadOnly bool
	// RouteByLatency is ReadOnly, and reads go to the node that answers a PING fastest
	// of those that have the slot, the primary among them. That is measured every 10 s,
	// and when nodes appear or fail, from the first read on.
	RouteByLatency bool
	// RouteByLatencyTolerance has reads go to any node that is slower than the fastest
	// one by no more than that. Default 0.
	RouteByLatencyTolerance time.Duration
	// RouteRandomly is ReadOnly, and reads go to any node that has the slot, the
	// primary among them.
	RouteRandomly bool
	// DisableRoutingPolicies sends commands without a key to one node, whichever it is:
	// what is for all of them (DBSIZE, FLUSHALL, KEYS, SCRIPT LOAD, ...) is not sent to
	// the others, what is for one certain node (SCAN, CLUSTER FAILOVER, ...) is not
	// refused, and MGET, MSET, DEL, UNLINK, EXISTS and TOUCH can't have keys of several
	// slots.
	DisableRoutingPolicies bool
	// ShardPicker picks the primary for each command that is for any. Default: each at
	// random.
	ShardPicker ShardPicker
	// ClusterSlots tells the topology in place of the cluster, as where nodes are no
	// cluster at all.
	ClusterSlots func(ctx context.Context) ([]ClusterSlot, error)

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
	PoolSize              int // default 5 for each of GOMAXPROCS
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
	MaintNotificationsConfig  *maintnotifications.Config
	MaintNotificationsMetrics *maintnotifications.Metrics
	AutoPipelineOptions       *AutoPipelineOptions

	// ClusterStateReloadInterval is how often the topology is asked for although
	// nothing calls for it, varied by a tenth. Default 1 min; -1 never.
	ClusterStateReloadInterval time.Duration

	Logger *slog.Logger

	csc cacheOptions // of UniversalOptions; refused
}

// withDefaults gives a copy with the cluster's own defaults; those of the nodes are
// Options'.
func (opt *ClusterOptions) withDefaults() *ClusterOptions {
	o := *opt
	orDefault(&o.MaxRedirects, 3)
	orDefault(&o.PoolSize, 5*runtime.GOMAXPROCS(0))
	orDefault(&o.ClusterStateReloadInterval, time.Minute)
	o.ReadOnly = o.ReadOnly || o.RouteByLatency || o.RouteRandomly
	if o.NewClient == nil {
		o.NewClient = NewClient
	}
	return &o
}

// node gives the options of the client of one node.
func (opt *ClusterOptions) node(addr string) *Options {
	return &Options{
		Addr: addr, ClientName: opt.ClientName,
		Dialer: opt.Dialer, OnConnect: opt.OnConnect, Resolver: opt.Resolver,
		Protocol: opt.Protocol, Username: opt.Username, Password: opt.Password,
		CredentialsProvider: opt.CredentialsProvider, CredentialsProviderContext: opt.CredentialsProviderContext,
		StreamingCredentialsProvider: opt.StreamingCredentialsProvider,
		MaxRetries:                   opt.MaxRetries, MinRetryBackoff: opt.MinRetryBackoff, MaxRetryBackoff: opt.MaxRetryBackoff,
		DialTimeout: opt.DialTimeout, DialerRetries: opt.DialerRetries, DialerRetryTimeout: opt.DialerRetryTimeout,
		DialerRetryBackoff: opt.DialerRetryBackoff, ReadTimeout: opt.ReadTimeout, WriteTimeout: opt.WriteTimeout,
		ContextTimeoutEnabled: opt.ContextTimeoutEnabled, ReadBufferSize: opt.ReadBufferSize,
		WriteBufferSize: opt.WriteBufferSize, DisablePolling: opt.DisablePolling,
		PipelineReadBufferSize: opt.PipelineReadBufferSize, PipelineWriteBufferSize: opt.PipelineWriteBufferSize,
		PipelinePoolSize: opt.PipelinePoolSize,
		PoolFIFO:         opt.PoolFIFO, PoolSize: opt.PoolSize, MaxConcurrentDials: opt.MaxConcurrentDials,
		PoolTimeout: opt.PoolTimeout, MinIdleConns: opt.MinIdleConns, MaxIdleConns: opt.MaxIdleConns,
		MaxActiveConns: opt.MaxActiveConns, ConnMaxIdleTime: opt.ConnMaxIdleTime, ConnMaxLifetime: opt.ConnMaxLifetime,
		ConnMaxLifetimeJitter: opt.ConnMaxLifetimeJitter,
		TLSConfig:             opt.TLSConfig, DisableIndentity: opt.DisableIndentity, DisableIdentity: opt.DisableIdentity,
		IdentitySuffix: opt.IdentitySuffix, UnstableResp3: opt.UnstableResp3,
		PushNotificationProcessor: opt.PushNotificationProcessor, FailingTimeoutSeconds: opt.FailingTimeoutSeconds,
		MaintNotificationsConfig: opt.MaintNotificationsConfig, MaintNotificationsMetrics: opt.MaintNotificationsMetrics,
		Logger: opt.Logger,
	}
}

// validate tells every problem of options that have their defaults.
func (opt *ClusterOptions) validate() error {
	var errs []error
	if len(opt.Addrs) == 0 && opt.ClusterSlots == nil {
		errs = append(errs, errors.New("redis: options: a cluster needs Addrs, or ClusterSlots"))
	}
	for _, addr := range opt.Addrs {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			errs = append(errs, fmt.Errorf("redis: options: Addrs: %q is not host:port: %w", addr, err))
		}
	}
	if opt.MaxRedirects < -1 {
		errs = append(errs, fmt.Errorf("redis: options: MaxRedirects %d is less than -1", opt.MaxRedirects))
	}
	if err := opt.csc.refused(); err != nil {
		errs = append(errs, err)
	}
	if err := opt.node("localhost:6379").withDefaults().validate(nil); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
