package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"time"

	"github.com/baton-go/redis/auth"
	sharedlog "github.com/baton-go/redis/internal/logger"
	"github.com/baton-go/redis/logging"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/push"
)

// Limiter is asked before each command or pipeline and told its outcome, so that a
// rate limiter or a circuit breaker can be put in front of the client.
type Limiter interface {
	// Allow returns nil where the command may be sent, else the error it fails with.
	Allow() error
	// ReportResult is told the outcome of what was allowed; nil is success.
	ReportResult(result error)
}

// Resolver looks host names up. *net.Resolver is one. A client asks it anew for
// each connection, and during a handoff that names no endpoint.
type Resolver interface {
	LookupHost(ctx context.Context, host string) (addrs []string, err error)
}

// Options configure a Client. The zero value of each field means its default. The
// struct is not changed by the client, which works on a copy.
type Options struct {
	// Network is "tcp" (the default) or "unix".
	Network string
	// Addr is "host:port", or the path of a unix socket. Default localhost:6379.
	Addr string
	// NodeAddress is there because go-redis has it: where the server says that it is.
	// Default: Addr.
	NodeAddress string
	// ClientName is told to the server for each connection. Default: none.
	ClientName string

	// Dialer opens connections in place of the default one. TLSConfig, Resolver and
	// DialTimeout are then its own affair, but for the context's deadline, and so is
	// keep-alive. The default one has the system ask a peer after 15 s of silence whether
	// it is there, and end the connection 15 s later if nothing came. That is what bounds a
	// BLPOP without a timeout whose server has forgotten the connection: it fails after
	// 30 s, or after 15 s where the server's host is up and says so. On Linux that is also
	// how long it takes where the command itself was sent into a hole, for which other
	// systems take minutes; and there it is WriteTimeout or RelaxedTimeout if one of them
	// is longer.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
	// OnConnect is called for each new connection of the lanes, after its handshake
	// and before its first use. An error closes the connection.
	OnConnect func(ctx context.Context, cn *Conn) error
	// Resolver looks host names up for the default dialer. Default: the system's.
	Resolver Resolver

	// Protocol is 3 (the default; falls back to 2 where the server refuses) or 2.
	// Maintenance notifications need 3.
	Protocol int
	// Username is the ACL user; "" is the default user.
	Username string
	// Password of the user; "" does not authenticate.
	Password string
	// CredentialsProvider gives user and password for each new connection; it has
	// precedence over Username and Password.
	CredentialsProvider func() (username string, password string)
	// CredentialsProviderContext is CredentialsProvider with a context and an error;
	// it has precedence over both.
	CredentialsProviderContext func(ctx context.Context) (username string, password string, err error)
	// StreamingCredentialsProvider gives credentials that change; it has precedence over
	// all of these. With new ones, connections are replaced by some that have them: the
	// shared one and those of subscriptions before they are left, those of the pool when
	// they are idle or put back. The client subscribes with its first connection, and
	// until Close.
	StreamingCredentialsProvider auth.StreamingCredentialsProvider
	// DB is the database selected on each connection.
	DB int

	// MaxRetries is how often a command is sent again that is idempotent and was not
	// answered. Default 3; -1 is never. A command that could not be sent at all waits
	// for a connection regardless, and one that the server was not ready for (LOADING,
	// READONLY from what was a primary, and the like) waits in the same way unless this
	// is -1; see PoolTimeout.
	MaxRetries int
	// MinRetryBackoff is the least pause before that, default 10 ms; -1 none.
	MinRetryBackoff time.Duration
	// MaxRetryBackoff is the longest pause, default 1 s; -1 none.
	MaxRetryBackoff time.Duration

	// DialTimeout bounds one attempt to connect; the handshake has ReadTimeout beside it.
	// Default 5 s.
	DialTimeout time.Duration
	// DialerRetries is how often one dial is attempted, 25 s in all where nothing answers.
	// Default 5. Callers don't wait for all of them; see PoolTimeout.
	DialerRetries int
	// DialerRetryTimeout is the pause between attempts. Default 100 ms.
	DialerRetryTimeout time.Duration
	// DialerRetryBackoff gives the pause after the given attempt, counted from 1, in
	// place of DialerRetryTimeout.
	DialerRetryBackoff func(attempt int) time.Duration
	// ReadTimeout is how long the server may send nothing while commands are waiting
	// for replies; then the connection is given up. Default 5 s; -1 or -2 never.
	ReadTimeout time.Duration
	// WriteTimeout is how long the server may take no bytes. Default 5 s; -1 or -2
	// never.
	WriteTimeout time.Duration
	// ContextTimeoutEnabled is there because go-redis has it. A context's end always
	// makes its caller leave at once, whatever this says.
	ContextTimeoutEnabled bool
	// ReadBufferSize is the size of each connection's read buffer. Default 32 KiB for
	// connections of the pool, and at least 64 KiB for the shared one.
	ReadBufferSize int
	// DisablePolling makes readers sleep at once where replies are due. By default they
	// look for bytes for up to 50 us before, on TCP and unix sockets without TLS, while
	// trials show that waits get shorter by at least a fifth, as they do on loopback.
	DisablePolling bool
	// WriteBufferSize is there because go-redis has it; write buffers follow the load.
	WriteBufferSize int

	// PipelineReadBufferSize, PipelineWriteBufferSize and PipelinePoolSize are there
	// because go-redis has them; pipelines go the way of all commands.
	PipelineReadBufferSize  int
	PipelineWriteBufferSize int
	PipelinePoolSize        int

	// PoolFIFO lends the connection that is idle longest; default: the one used last.
	PoolFIFO bool
	// PoolSize is how many connections are lent at one time to those who need one of
	// their own: blocking commands, transactions, sessions. Ordinary commands share
	// one. Default 10 for each of GOMAXPROCS.
	PoolSize int
	// MaxConcurrentDials is there because go-redis has it; PoolSize bounds dials.
	MaxConcurrentDials int
	// PoolTimeout is how long to wait for a connection: for one of the pool to become
	// free, or, for a command that could not be sent, until one can be opened again, or
	// until the server is ready. A caller waits no longer than this for one that is being
	// opened, or than DialTimeout and ReadTimeout together if those are longer: 10 s by
	// default. So a call whose context has no deadline fails after that where nothing
	// answers, and where attempts fail sooner after PoolTimeout and one more such wait at
	// the latest. With a reply outstanding it has ReadTimeout, and again for each of the
	// MaxRetries. Default ReadTimeout + 1 s.
	PoolTimeout time.Duration
	// MinIdleConns are kept open in the pool. Default 0.
	MinIdleConns int
	// MaxIdleConns are kept at most. Default 0: as many as PoolSize.
	MaxIdleConns int
	// MaxActiveConns bounds the pool's open connections; one more fails with
	// ErrPoolExhausted. A handoff may exceed it by the connections it is just
	// replacing. Default 0: no bound.
	MaxActiveConns int
	// ConnMaxIdleTime closes a connection that was idle so long. Default 30 min; -1
	// never.
	ConnMaxIdleTime time.Duration
	// ConnMaxLifetime makes a connection not be lent any more after it. Default 0:
	// never.
	ConnMaxLifetime time.Duration
	// ConnMaxLifetimeJitter varies ConnMaxLifetime by up to so much either way.
	ConnMaxLifetimeJitter time.Duration

	// TLSConfig turns TLS on. Where ServerName is empty, the host of Addr is verified,
	// also for connections to another address during a handoff.
	TLSConfig *tls.Config
	// Limiter is asked before each command; nil: none.
	Limiter Limiter

	// DisableIndentity is go-redis's spelling of DisableIdentity; either counts.
	DisableIndentity bool
	// DisableIdentity keeps the library's name and version from the server.
	DisableIdentity bool
	// IdentitySuffix is added to the library's name.
	IdentitySuffix string
	// UnstableResp3 is there because go-redis has it; replies are always parsed.
	UnstableResp3 bool

	// PushNotificationProcessor holds the handlers of RESP3 pushes that are no
	// maintenance notifications. Default: an empty push.Processor.
	PushNotificationProcessor push.NotificationProcessor
	// FailingTimeoutSeconds is there because go-redis has it.
	FailingTimeoutSeconds int
	// MaintNotificationsConfig says how maintenance is dealt with; nil is
	// maintnotifications.DefaultConfig.
	MaintNotificationsConfig *maintnotifications.Config
	// MaintNotificationsMetrics are called for what happens in maintenance; nil:
	// nothing is called. Its documentation names the OpenTelemetry instruments.
	MaintNotificationsMetrics *maintnotifications.Metrics

	// AutoPipelineOptions are those of AutoPipeline and AsyncAutoPipeline; nil: the
	// defaults of each.
	AutoPipelineOptions *AutoPipelineOptions

	// ClientSideCacheConfig makes the client keep replies in memory until the server says
	// that they are out of date; see README. nil: it doesn't.
	ClientSideCacheConfig *ClientSideCacheConfig
	// ClientSideCache is a cache of the user's, in place of one that ClientSideCacheConfig
	// describes: a LocalCache that several clients share, or another implementation.
	ClientSideCache Cache
	// ClientSideCacheStrategy is CSCStrategySharedTracking.
	ClientSideCacheStrategy CSCStrategy
	// ClientSideCacheRefreshOnInvalidate reads what was cached and is invalidated anew in
	// the background: one read for each. Only with a LocalCache.
	ClientSideCacheRefreshOnInvalidate bool
	// ClientSideCacheCoalesceMisses makes callers who ask for the same thing at the same
	// time wait for one command. Only with a LocalCache.
	ClientSideCacheCoalesceMisses bool
	// ClientSideCacheInvalidationBatchWindow is how long entries are gathered that are to
	// be read anew together, unless one of them is asked for. They are deleted at once,
	// whatever this is. Default 0: what comes together is read together.
	ClientSideCacheInvalidationBatchWindow time.Duration

	// Logger gets what happens to connections, at debug level, and what the user
	// should know, at warn. Default: that of SetLogger, and without one nothing is
	// logged.
	Logger *slog.Logger
}

// What go-redis has by default for the connections of pipelines. There because it has
// them; see Options.PipelinePoolSize.
const (
	DefaultPipelineBufferSize  = 128 << 10
	DefaultPipelinePoolSize    = 10
	DefaultPipelinePoolTimeout = 100 * time.Millisecond
)

// blockingForever tells the values that go-redis has for "no timeout".
func noTimeout(d time.Duration) bool { return d == -1 || d == -2 }

// withDefaults gives a copy with every default filled in.
func (opt *Options) withDefaults() *Options {
	o := *opt
	if o.Network == "" {
		o.Network = "tcp"
		if strings.HasPrefix(o.Addr, "/") {
			o.Network = "unix"
		}
	}
	if o.Addr == "" {
		o.Addr = "localhost:6379"
	}
	orDefault(&o.NodeAddress, o.Addr)
	orDefault(&o.Protocol, 3)
	orDefault(&o.MaxRetries, 3)
	orDefault(&o.MinRetryBackoff, 10*time.Millisecond)
	orDefault(&o.MaxRetryBackoff, time.Second)
	orDefault(&o.DialTimeout, 5*time.Second)
	orDefault(&o.DialerRetries, 5)
	orDefault(&o.DialerRetryTimeout, 100*time.Millisecond)
	orDefault(&o.ReadTimeout, 5*time.Second)
	if o.WriteTimeout == 0 {
		o.WriteTimeout = o.ReadTimeout
	}
	orDefault(&o.ReadBufferSize, 32<<10)
	orDefault(&o.WriteBufferSize, 32<<10)
	orDefault(&o.PoolSize, 10*runtime.GOMAXPROCS(0))
	orDefault(&o.MaxConcurrentDials, o.PoolSize)
	if o.PoolTimeout == 0 {
		o.PoolTimeout = 30 * time.Second
		if o.ReadTimeout > 0 {
			o.PoolTimeout = o.ReadTimeout + time.Second
		}
	}
	orDefault(&o.ConnMaxIdleTime, 30*time.Minute)
	orDefault(&o.FailingTimeoutSeconds, 15)
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Logger == nil {
		o.Logger = slog.New(sharedlog.Handler{})
	}
	if o.PushNotificationProcessor == nil {
		o.PushNotificationProcessor = push.NewProcessor()
	}
	o.MaintNotificationsConfig = o.MaintNotificationsConfig.ApplyDefaultsWithPoolConfig(o.PoolSize, o.MaxActiveConns)
	if o.Protocol == 2 && o.MaintNotificationsConfig.Mode == maintnotifications.ModeAuto {
		o.MaintNotificationsConfig.Mode = maintnotifications.ModeDisabled
	}
	if o.Dialer == nil {
		o.Dialer = newDialer(&o)
	}
	return &o
}

// maintDisabled is for clients that ask for no notifications.
func maintDisabled() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

func orDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// validate tells every problem of options that have their defaults, and of those that
// say who knows the address; nil: Addr is it.
func (opt *Options) validate(failover *FailoverOptions) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("redis: options: "+format, args...)) }
	if opt.Network != "tcp" && opt.Network != "tcp4" && opt.Network != "tcp6" && opt.Network != "unix" {
		bad("Network %q is neither tcp nor unix", opt.Network)
	}
	if failover != nil {
		errs = append(errs, failover.validate()...)
	} else if strings.HasPrefix(opt.Network, "tcp") {
		if _, _, err := net.SplitHostPort(opt.Addr); err != nil {
			bad("Addr %q is not host:port: %v", opt.Addr, err)
		}
	}
	if opt.Protocol != 2 && opt.Protocol != 3 {
		bad("Protocol %d is neither 2 nor 3", opt.Protocol)
	}
	for _, n := range []struct {
		name  string
		value int
		least int
	}{
		{"DB", opt.DB, 0},
		{"MaxRetries", opt.MaxRetries, -1},
		{"DialerRetries", opt.DialerRetries, 1},
		{"ReadBufferSize", opt.ReadBufferSize, 1},
		{"PoolSize", opt.PoolSize, 1},
		{"MinIdleConns", opt.MinIdleConns, 0},
		{"MaxIdleConns", opt.MaxIdleConns, 0},
		{"MaxActiveConns", opt.MaxActiveConns, 0},
	} {
		if n.value < n.least {
			bad("%s %d is less than %d", n.name, n.value, n.least)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"DialTimeout", opt.DialTimeout},
		{"ReadTimeout", opt.ReadTimeout},
		{"WriteTimeout", opt.WriteTimeout},
		{"PoolTimeout", opt.PoolTimeout},
		{"MinRetryBackoff", opt.MinRetryBackoff},
		{"MaxRetryBackoff", opt.MaxRetryBackoff},
	} {
		if d.value < 0 && !noTimeout(d.value) {
			bad("%s %v is negative", d.name, d.value)
		}
	}
	if err := opt.MaintNotificationsConfig.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("redis: options: MaintNotificationsConfig: %w", err))
	}
	if opt.Protocol == 2 && opt.MaintNotificationsConfig.Mode == maintnotifications.ModeEnabled {
		bad("maintenance notifications are enabled, which needs Protocol 3")
	}
	errs = append(errs, opt.validateCache()...)
	return errors.Join(errs...)
}

// backoff is the pause before retry number n, counted from 0: twice as long each
// time, with jitter, between MinRetryBackoff and MaxRetryBackoff.
func (opt *Options) backoff(n int) time.Duration {
	most := max(opt.MaxRetryBackoff, 0)
	least := min(max(opt.MinRetryBackoff, 0), most)
	if most == 0 {
		return 0
	}
	d := min(max(least, time.Millisecond), most)
	for ; n > 0 && d < most; n-- {
		d = min(d, most-d) + d // twice as long, without an overflow
	}
	return least + rand.N(max(min(d, most-least), 1)) //nolint:gosec // jitter, no secret
}

// DialRetryBackoffConstant makes a DialerRetryBackoff that always gives d.
func DialRetryBackoffConstant(d time.Duration) func(attempt int) time.Duration {
	return func(int) time.Duration { return d }
}

// DialRetryBackoffExponential makes a DialerRetryBackoff that doubles from base up
// to most.
func DialRetryBackoffExponential(base, most time.Duration) func(attempt int) time.Duration {
	return func(attempt int) time.Duration {
		d := base
		for i := 1; i < attempt && d < most; i++ {
			d *= 2
		}
		return min(d, most)
	}
}

// SetLogger makes clients without a Logger of their own log to logger; nil is ignored.
// It may be called at any time, also while clients are in use. See package logging.
func SetLogger(logger interface {
	Printf(ctx context.Context, format string, v ...any)
},
) {
	if logger != nil {
		sharedlog.Set(logger)
	}
}

// SetLogLevel sets how much goes to the logger of SetLogger: warnings and errors unless
// it is called.
func SetLogLevel(logLevel logging.LogLevelT) { logging.SetLogLevel(logLevel) }
