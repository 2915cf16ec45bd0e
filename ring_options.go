package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"net"
	"time"

	"github.com/baton-go/redis/auth"
	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/maintnotifications"
)

// ConsistentHash tells which shard a key belongs to.
type ConsistentHash interface {
	// Get gives the name of the shard; key is a hash tag, or a key without one.
	Get(key string) string
}

// RingOptions configure a Ring. The zero value of each field means its default. Fields
// that Options has as well mean the same, for each shard.
type RingOptions struct {
	// Addrs are the shards: name to "host:port". A shard that keeps its name keeps its
	// keys, whatever its address.
	Addrs map[string]string
	// NewClient makes the client of a shard. Default: the function NewClient.
	NewClient func(opt *Options) *Client
	// ClientName is told to the servers for each connection.
	ClientName string

	// HeartbeatFrequency is how often each shard is asked whether it is there. One that
	// has failed three times in a row is left out until it answers again. Default 500 ms.
	HeartbeatFrequency time.Duration
	// HeartbeatFn asks a shard. Default: PING, and a full pool counts as an answer.
	HeartbeatFn func(ctx context.Context, client *Client) bool
	// NewConsistentHash spreads keys over shards of these names. Default: rendezvous
	// hashing with XXH64, by which go-redis finds the same shards.
	NewConsistentHash func(shards []string) ConsistentHash

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
	PoolTimeout           time.Duration
	MinIdleConns          int
	MaxIdleConns          int
	MaxActiveConns        int
	ConnMaxIdleTime       time.Duration
	ConnMaxLifetime       time.Duration
	ConnMaxLifetimeJitter time.Duration

	TLSConfig *tls.Config
	Limiter   Limiter

	DisableIndentity bool
	DisableIdentity  bool
	IdentitySuffix   string
	UnstableResp3    bool

	// MaintNotificationsConfig is as in Options: each shard is an endpoint with notices of
	// its own.
	MaintNotificationsConfig  *maintnotifications.Config
	MaintNotificationsMetrics *maintnotifications.Metrics

	Logger *slog.Logger
}

// withDefaults gives a copy with every default filled in.
func (opt *RingOptions) withDefaults() *RingOptions {
	o := *opt
	o.Addrs = maps.Clone(opt.Addrs)
	if o.NewClient == nil {
		o.NewClient = NewClient
	}
	orDefault(&o.HeartbeatFrequency, 500*time.Millisecond)
	if o.HeartbeatFn == nil {
		o.HeartbeatFn = func(ctx context.Context, client *Client) bool {
			err := client.Ping(ctx).Err()
			return err == nil || errors.Is(err, ErrPoolTimeout)
		}
	}
	if o.NewConsistentHash == nil {
		o.NewConsistentHash = func(shards []string) ConsistentHash { return cluster.NewRendezvous(shards) }
	}
	orDefault(&o.MaxRetries, 3)
	orDefault(&o.MinRetryBackoff, 10*time.Millisecond)
	orDefault(&o.MaxRetryBackoff, time.Second)
	orDefault(&o.ReadBufferSize, 32<<10)
	orDefault(&o.WriteBufferSize, 32<<10)
	return &o
}

// shard are the options of one shard's client.
func (opt *RingOptions) shard(addr string) *Options {
	return &Options{
		Addr: addr, ClientName: opt.ClientName, Dialer: opt.Dialer, OnConnect: opt.OnConnect, Resolver: opt.Resolver,
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
		PoolFIFO:         opt.PoolFIFO, PoolSize: opt.PoolSize, PoolTimeout: opt.PoolTimeout, MinIdleConns: opt.MinIdleConns,
		MaxIdleConns: opt.MaxIdleConns, MaxActiveConns: opt.MaxActiveConns, ConnMaxIdleTime: opt.ConnMaxIdleTime,
		ConnMaxLifetime: opt.ConnMaxLifetime, ConnMaxLifetimeJitter: opt.ConnMaxLifetimeJitter,
		TLSConfig: opt.TLSConfig, Limiter: opt.Limiter, DisableIndentity: opt.DisableIndentity,
		DisableIdentity: opt.DisableIdentity, IdentitySuffix: opt.IdentitySuffix, UnstableResp3: opt.UnstableResp3,
		MaintNotificationsConfig: opt.MaintNotificationsConfig, MaintNotificationsMetrics: opt.MaintNotificationsMetrics,
		Logger: opt.Logger,
	}
}
