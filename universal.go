package redis

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/baton-go/redis/auth"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/push"
)

// UniversalClient is what Client and ClusterClient have in common.
type UniversalClient interface {
	Cmdable
	AddHook(hook Hook)
	Watch(ctx context.Context, fn func(*Tx) error, keys ...string) error
	Do(ctx context.Context, args ...any) *Cmd
	Process(ctx context.Context, cmd Cmder) error
	Subscribe(ctx context.Context, channels ...string) *PubSub
	PSubscribe(ctx context.Context, channels ...string) *PubSub
	SSubscribe(ctx context.Context, channels ...string) *PubSub
	Close() error
	PoolStats() *PoolStats
	AutoPipeline() (*AutoPipeliner, error)
	AutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error)
	AsyncAutoPipeline() (*AutoPipeliner, error)
	AsyncAutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error)
}

var (
	_ UniversalClient = (*Client)(nil)
	_ UniversalClient = (*ClusterClient)(nil)
	_ UniversalClient = (*Ring)(nil)
)

// UniversalOptions configure a client of one server or of a cluster; see
// NewUniversalClient. Fields that Options or ClusterOptions have as well mean the same
// as there.
type UniversalOptions struct {
	// Addrs is the server's address, or some nodes of a cluster. Default:
	// 127.0.0.1:6379.
	Addrs      []string
	ClientName string
	// DB is the database; not for a cluster, which has one only.
	DB int

	Dialer    func(ctx context.Context, network, addr string) (net.Conn, error)
	OnConnect func(ctx context.Context, cn *Conn) error
	Resolver  Resolver

	Protocol                     int
	Username                     string
	Password                     string
	CredentialsProvider          func() (username string, password string)
	CredentialsProviderContext   func(ctx context.Context) (username string, password string, err error)
	StreamingCredentialsProvider auth.StreamingCredentialsProvider

	// SentinelUsername and SentinelPassword are for the sentinels; see MasterName.
	SentinelUsername string
	SentinelPassword string

	MaxRetries      int
	MinRetryBackoff time.Duration
	MaxRetryBackoff time.Duration

	DialTimeout             time.Duration
	DialerRetries           int
	DialerRetryTimeout      time.Duration
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

	// MaxRedirects, ReadOnly and the fields of routes are for a cluster.
	MaxRedirects            int
	ReadOnly                bool
	RouteByLatency          bool
	RouteByLatencyTolerance time.Duration
	RouteRandomly           bool

	// MasterName is the name that sentinels know a primary by; Addrs are then theirs.
	MasterName string

	DisableIndentity bool
	DisableIdentity  bool
	IdentitySuffix   string
	UnstableResp3    bool

	PushNotificationProcessor push.NotificationProcessor
	FailingTimeoutSeconds     int
	// IsClusterMode makes the client one of a cluster although there is one address.
	IsClusterMode             bool
	MaintNotificationsConfig  *maintnotifications.Config
	MaintNotificationsMetrics *maintnotifications.Metrics
	AutoPipelineOptions       *AutoPipelineOptions

	// These are for a client of one server, be it named by sentinels.
	ClientSideCacheConfig                  *ClientSideCacheConfig
	ClientSideCache                        Cache
	ClientSideCacheStrategy                CSCStrategy
	ClientSideCacheRefreshOnInvalidate     bool
	ClientSideCacheCoalesceMisses          bool
	ClientSideCacheInvalidationBatchWindow time.Duration

	Logger *slog.Logger
}

// NewUniversalClient makes the client of a master that sentinels name if there is a
// MasterName, and one of its replicas too if reads are to be routed, or IsClusterMode is
// set; a ClusterClient if there are two addresses or more, or IsClusterMode is set; and
// else a Client.
func NewUniversalClient(opts *UniversalOptions) UniversalClient {
	switch {
	case opts == nil:
		panic("redis: NewUniversalClient needs UniversalOptions")
	case opts.MasterName != "":
		if opts.RouteByLatency || opts.RouteRandomly || opts.IsClusterMode {
			return NewFailoverClusterClient(opts.Failover())
		}
		return NewFailoverClient(opts.Failover())
	case len(opts.Addrs) > 1 || opts.IsClusterMode:
		return NewClusterClient(opts.Cluster())
	}
	return NewClient(opts.Simple())
}

// addrs are the addresses, the default one where there is none.
func (o *UniversalOptions) addrs() []string {
	if len(o.Addrs) == 0 {
		return []string{"127.0.0.1:6379"}
	}
	return o.Addrs
}

// Simple gives the options of a client of the first address.
func (o *UniversalOptions) Simple() *Options {
	return o.cacheOptions().into(&Options{
		Addr: o.addrs()[0], ClientName: o.ClientName, DB: o.DB,
		Dialer: o.Dialer, OnConnect: o.OnConnect, Resolver: o.Resolver,
		Protocol: o.Protocol, Username: o.Username, Password: o.Password,
		CredentialsProvider: o.CredentialsProvider, CredentialsProviderContext: o.CredentialsProviderContext,
		StreamingCredentialsProvider: o.StreamingCredentialsProvider,
		MaxRetries:                   o.MaxRetries, MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff,
		DialTimeout: o.DialTimeout, DialerRetries: o.DialerRetries, DialerRetryTimeout: o.DialerRetryTimeout,
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, ContextTimeoutEnabled: o.ContextTimeoutEnabled,
		ReadBufferSize: o.ReadBufferSize, WriteBufferSize: o.WriteBufferSize, DisablePolling: o.DisablePolling,
		PipelineReadBufferSize: o.PipelineReadBufferSize, PipelineWriteBufferSize: o.PipelineWriteBufferSize,
		PipelinePoolSize: o.PipelinePoolSize,
		PoolFIFO:         o.PoolFIFO, PoolSize: o.PoolSize, MaxConcurrentDials: o.MaxConcurrentDials,
		PoolTimeout: o.PoolTimeout, MinIdleConns: o.MinIdleConns, MaxIdleConns: o.MaxIdleConns,
		MaxActiveConns: o.MaxActiveConns, ConnMaxIdleTime: o.ConnMaxIdleTime, ConnMaxLifetime: o.ConnMaxLifetime,
		ConnMaxLifetimeJitter: o.ConnMaxLifetimeJitter, TLSConfig: o.TLSConfig,
		DisableIndentity: o.DisableIndentity, DisableIdentity: o.DisableIdentity, IdentitySuffix: o.IdentitySuffix,
		UnstableResp3: o.UnstableResp3, PushNotificationProcessor: o.PushNotificationProcessor,
		FailingTimeoutSeconds: o.FailingTimeoutSeconds, MaintNotificationsConfig: o.MaintNotificationsConfig,
		MaintNotificationsMetrics: o.MaintNotificationsMetrics, AutoPipelineOptions: o.AutoPipelineOptions,
		Logger: o.Logger,
	})
}

// Failover gives the options of a client of the master that sentinels name.
func (o *UniversalOptions) Failover() *FailoverOptions {
	return &FailoverOptions{
		SentinelAddrs: o.addrs(), MasterName: o.MasterName, ClientName: o.ClientName, DB: o.DB,
		SentinelUsername: o.SentinelUsername, SentinelPassword: o.SentinelPassword,
		RouteByLatency: o.RouteByLatency, RouteByLatencyTolerance: o.RouteByLatencyTolerance, RouteRandomly: o.RouteRandomly,
		Dialer: o.Dialer, OnConnect: o.OnConnect, Resolver: o.Resolver,
		Protocol: o.Protocol, Username: o.Username, Password: o.Password,
		CredentialsProvider: o.CredentialsProvider, CredentialsProviderContext: o.CredentialsProviderContext,
		StreamingCredentialsProvider: o.StreamingCredentialsProvider,
		MaxRetries:                   o.MaxRetries, MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff,
		DialTimeout: o.DialTimeout, DialerRetries: o.DialerRetries, DialerRetryTimeout: o.DialerRetryTimeout,
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, ContextTimeoutEnabled: o.ContextTimeoutEnabled,
		ReadBufferSize: o.ReadBufferSize, WriteBufferSize: o.WriteBufferSize, DisablePolling: o.DisablePolling,
		PipelineReadBufferSize: o.PipelineReadBufferSize, PipelineWriteBufferSize: o.PipelineWriteBufferSize,
		PipelinePoolSize: o.PipelinePoolSize,
		PoolFIFO:         o.PoolFIFO, PoolSize: o.PoolSize, MaxConcurrentDials: o.MaxConcurrentDials,
		PoolTimeout: o.PoolTimeout, MinIdleConns: o.MinIdleConns, MaxIdleConns: o.MaxIdleConns,
		MaxActiveConns: o.MaxActiveConns, ConnMaxIdleTime: o.ConnMaxIdleTime, ConnMaxLifetime: o.ConnMaxLifetime,
		ConnMaxLifetimeJitter: o.ConnMaxLifetimeJitter, TLSConfig: o.TLSConfig,
		DisableIndentity: o.DisableIndentity, DisableIdentity: o.DisableIdentity, IdentitySuffix: o.IdentitySuffix,
		UnstableResp3: o.UnstableResp3, PushNotificationProcessor: o.PushNotificationProcessor,
		FailingTimeoutSeconds: o.FailingTimeoutSeconds, MaintNotificationsConfig: o.MaintNotificationsConfig,
		MaintNotificationsMetrics: o.MaintNotificationsMetrics, AutoPipelineOptions: o.AutoPipelineOptions,
		Logger: o.Logger, csc: o.cacheOptions(),
	}
}

// Cluster gives the options of a client of a cluster.
func (o *UniversalOptions) Cluster() *ClusterOptions {
	return &ClusterOptions{
		Addrs: o.addrs(), ClientName: o.ClientName,
		Dialer: o.Dialer, OnConnect: o.OnConnect, Resolver: o.Resolver,
		Protocol: o.Protocol, Username: o.Username, Password: o.Password,
		CredentialsProvider: o.CredentialsProvider, CredentialsProviderContext: o.CredentialsProviderContext,
		StreamingCredentialsProvider: o.StreamingCredentialsProvider,
		MaxRedirects:                 o.MaxRedirects, ReadOnly: o.ReadOnly, RouteByLatency: o.RouteByLatency,
		RouteByLatencyTolerance: o.RouteByLatencyTolerance, RouteRandomly: o.RouteRandomly,
		MaxRetries: o.MaxRetries, MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff,
		DialTimeout: o.DialTimeout, DialerRetries: o.DialerRetries, DialerRetryTimeout: o.DialerRetryTimeout,
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, ContextTimeoutEnabled: o.ContextTimeoutEnabled,
		ReadBufferSize: o.ReadBufferSize, WriteBufferSize: o.WriteBufferSize, DisablePolling: o.DisablePolling,
		PipelineReadBufferSize: o.PipelineReadBufferSize, PipelineWriteBufferSize: o.PipelineWriteBufferSize,
		PipelinePoolSize: o.PipelinePoolSize,
		PoolFIFO:         o.PoolFIFO, PoolSize: o.PoolSize, MaxConcurrentDials: o.MaxConcurrentDials,
		PoolTimeout: o.PoolTimeout, MinIdleConns: o.MinIdleConns, MaxIdleConns: o.MaxIdleConns,
		MaxActiveConns: o.MaxActiveConns, ConnMaxIdleTime: o.ConnMaxIdleTime, ConnMaxLifetime: o.ConnMaxLifetime,
		ConnMaxLifetimeJitter: o.ConnMaxLifetimeJitter, TLSConfig: o.TLSConfig,
		DisableIndentity: o.DisableIndentity, DisableIdentity: o.DisableIdentity, IdentitySuffix: o.IdentitySuffix,
		UnstableResp3: o.UnstableResp3, PushNotificationProcessor: o.PushNotificationProcessor,
		FailingTimeoutSeconds: o.FailingTimeoutSeconds, MaintNotificationsConfig: o.MaintNotificationsConfig,
		MaintNotificationsMetrics: o.MaintNotificationsMetrics, AutoPipelineOptions: o.AutoPipelineOptions,
		Logger: o.Logger, csc: o.cacheOptions(),
	}
}
