package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/endpoint"
	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/push"
)

// Client is a client of one server, or of one database behind proxies. It is safe
// for concurrent use. Connections are opened when they are first needed.
type Client struct {
	cmdable
	hooks
	*core
}

// core is what a client and those derived from it share.
type core struct {
	opt     *Options // with defaults; immutable
	invalid error    // what is wrong with the options: every command fails with it
	client  *Client  // the one that was made with it; immutable
	// failover says who knows where the server is; nil: it is at opt.Addr. Immutable.
	failover *FailoverOptions
	ep       *endpoint.Endpoint
	manager  *maintnotifications.Manager // nil: the options are invalid
	watch    *sentinels                  // nil: the address is known

	dialHooks *hooks                                          // of the client that was made first
	slots     atomic.Pointer[func(maintnotifications.Notice)] // gets SMIGRATED; nil: nobody does
	csc       *clientCache                                    // nil: nothing is cached; set before first use
	creds     *liveCredentials                                // nil: no StreamingCredentialsProvider; set before first use
	readOnly  atomic.Bool                                     // each new connection says READONLY, so that a replica of a cluster answers
	isNode    atomic.Bool                                     // it is the client of a cluster\'s node
	waitsRoam bool                                            // WAIT is no other than any command that blocks: for tests that show what comes of that; set before first use
	autos     autoPipes

	mu     sync.Mutex // guards the fields below
	closed bool
	subs   map[*PubSub]struct{}
	begun  uint32 // subscriptions that there have been
	// registered is where the client's pools are registered; nil: nowhere.
	registered *registeredPools
}

// NewClient makes a client. It connects to nothing and starts nothing until it is
// used, but for MinIdleConns. Options that make no sense are reported by every
// command.
func NewClient(opt *Options) *Client {
	if opt == nil {
		panic("redis: NewClient needs Options")
	}
	return newClient(opt, nil)
}

// newClient is NewClient for a server whose address is told by sentinels, if there is
// failover.
func newClient(opt *Options, failover *FailoverOptions) *Client {
	c := &Client{core: &core{opt: opt.withDefaults(), failover: failover, subs: make(map[*PubSub]struct{})}}
	c.core.client, c.dialHooks = c, &c.hooks
	c.hooks.init(chain{
		dial:     c.opt.Dialer,
		process:  c.core.process,
		pipeline: c.core.processPipeline,
		tx:       c.core.processTx,
	}, nil)
	c.cmdable = c.Process
	c.core.open()
	return c
}

// open makes the endpoint.
func (c *core) open() {
	opt := c.opt
	if c.invalid = opt.validate(c.failover); c.invalid != nil {
		return
	}
	c.manager = newMaintManager(opt, c.recordedMetrics())
	c.csc = newClientCache(c)
	cfg := endpoint.Config{
		Network: opt.Network, Addr: opt.Addr, TLS: opt.TLSConfig != nil,
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return c.dialHooks.chain.Load().dial(ctx, network, addr)
		},
		Resolver:  opt.Resolver,
		Handshake: c.handshake,
		OnPush:    c.onPush,
		OnSlots: func(n maintnotifications.Notice) {
			if f := c.slots.Load(); f != nil {
				(*f)(n)
			}
		},
		Tracking:     c.csc.tracking(),
		WantsPush:    func(name string) bool { return opt.PushNotificationProcessor.GetHandler(name) != nil },
		DialTimeout:  opt.DialTimeout,
		DialRetries:  opt.DialerRetries,
		DialBackoff:  opt.DialerRetryBackoff,
		ReadTimeout:  opt.ReadTimeout,
		WriteTimeout: opt.WriteTimeout,
		ReadBuffer:   opt.ReadBufferSize,
		NoPolling:    opt.DisablePolling,
		Pool: lane.PoolConfig{
			Size: opt.PoolSize, MinIdle: opt.MinIdleConns, MaxIdle: opt.MaxIdleConns, MaxActive: opt.MaxActiveConns,
			Timeout: opt.PoolTimeout, MaxIdleTime: opt.ConnMaxIdleTime, MaxLifetime: opt.ConnMaxLifetime,
			Jitter: opt.ConnMaxLifetimeJitter, FIFO: opt.PoolFIFO,
		},
		OnUp:    c.recordUp,
		OnDown:  c.recordDown,
		Maint:   opt.MaintNotificationsConfig,
		Manager: c.manager,
		Logger:  opt.Logger,
	}
	if cfg.DialBackoff == nil {
		cfg.DialBackoff = DialRetryBackoffConstant(opt.DialerRetryTimeout)
	}
	if opt.OnConnect != nil {
		cfg.OnLink = func(ctx context.Context, l *link.Link) error {
			cn := c.connOn(l)
			defer cn.detach()
			return opt.OnConnect(ctx, cn)
		}
	}
	if f := c.failover; f != nil {
		c.watch = newSentinels(f, func(from, to string) { c.ep.Moved(from, to) })
		cfg.Addr, cfg.Locate, cfg.PrimaryOnly = f.MasterName, c.watch.locate, !f.ReplicaOnly
	}
	if p := opt.StreamingCredentialsProvider; p != nil {
		c.creds = newLiveCredentials(p, func() error { return c.ep.Renew() }, opt.Logger)
	}
	c.ep = endpoint.New(cfg)
	c.registerPools()
}

// newMaintManager makes what the client's endpoint reports to. The options have
// been validated.
func newMaintManager(opt *Options, metrics *maintnotifications.Metrics) *maintnotifications.Manager {
	m, err := maintnotifications.NewManager(opt.MaintNotificationsConfig, metrics)
	if err != nil {
		panic("redis: options were validated, and yet: " + err.Error())
	}
	return m
}

// handshake is what a new connection tells the server.
func (c *core) handshake(ctx context.Context) (link.Handshake, error) {
	opt := c.opt
	h := link.Handshake{
		Protocol: opt.Protocol, Username: opt.Username, Password: opt.Password,
		ClientName: opt.ClientName, DB: opt.DB, ReadOnly: c.readOnly.Load(),
	}
	switch {
	case c.creds != nil:
		var err error
		if h.Username, h.Password, err = c.creds.current(ctx); err != nil {
			return h, err
		}
	case opt.CredentialsProviderContext != nil:
		var err error
		if h.Username, h.Password, err = opt.CredentialsProviderContext(ctx); err != nil {
			return h, err
		}
	case opt.CredentialsProvider != nil:
		h.Username, h.Password = opt.CredentialsProvider()
	}
	if !opt.DisableIdentity && !opt.DisableIndentity {
		h.LibName, h.LibVer = libName, Version()
		if opt.IdentitySuffix != "" {
			h.LibName += "-" + opt.IdentitySuffix
		}
	}
	return h, nil
}

// libName is what the server shows in CLIENT LIST.
const libName = "baton"

// Version is the library's version.
func Version() string { return "0.1.0" }

// onPush gives a push to the user's handler.
func (c *core) onPush(l *link.Link, args []any) {
	name, _ := args[0].(string)
	h := c.opt.PushNotificationProcessor.GetHandler(name)
	if h == nil {
		return
	}
	ctx := context.Background()
	if err := h.HandlePushNotification(ctx, push.NotificationHandlerContext{Client: c.client, Conn: l.ID()}, args); err != nil {
		c.opt.Logger.Debug("push handler", "name", name, "error", err)
	}
}

// Options are the client's, with defaults filled in. They must not be changed.
func (c *Client) Options() *Options { return c.opt }

// String names the client by its address and database.
func (c *Client) String() string { return fmt.Sprintf("Redis<%s db:%d>", c.opt.Addr, c.opt.DB) }

// NodeAddress is Options.NodeAddress.
func (c *Client) NodeAddress() string { return c.opt.NodeAddress }

// WithTimeout gives a client with another read and write timeout. It has
// connections of its own and is to be closed by itself.
func (c *Client) WithTimeout(timeout time.Duration) *Client {
	opt := *c.opt
	opt.ReadTimeout, opt.WriteTimeout = timeout, timeout
	d := &Client{core: &core{opt: &opt, failover: c.failover, subs: make(map[*PubSub]struct{})}}
	d.core.client, d.dialHooks = d, &d.hooks
	d.hooks.init(chain{
		dial: opt.Dialer, process: d.core.process, pipeline: d.core.processPipeline, tx: d.core.processTx,
	}, c.hooks.list())
	d.cmdable = d.Process
	d.core.open()
	return d
}

// Process sends a command and waits for its reply, which is stored in cmd together
// with the error.
func (c *Client) Process(ctx context.Context, cmd Cmder) error {
	err := c.hooks.chain.Load().process(ctx, cmd)
	cmd.SetErr(err) // a hook may have changed it
	return cmd.base().err
}

// Do sends a command given by its arguments, the name first.
func (c *Client) Do(ctx context.Context, args ...any) *Cmd {
	cmd := NewCmd(ctx, args...)
	_ = c.Process(ctx, cmd)
	return cmd
}

// Close ends all connections and waits until every goroutine of the client has
// ended. Commands in flight fail with ErrClosed as their cause, but for those of
// AutoPipeliners, which are closed before. A second Close returns ErrClosed.
func (c *Client) Close() error {
	c.autos.close()
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.closed = true
	registered := c.registered
	c.registered = nil
	subs := make([]*PubSub, 0, len(c.subs))
	for p := range c.subs {
		subs = append(subs, p)
	}
	c.mu.Unlock()
	for _, p := range subs {
		_ = p.Close()
	}
	registered.end()
	c.creds.end()
	if c.ep != nil {
		c.ep.Close()
	}
	c.csc.close()
	if c.watch != nil {
		c.watch.close()
	}
	c.creds.wait()
	if c.manager != nil {
		return c.manager.Close()
	}
	return nil
}

// PoolStats are the numbers of a client's connections. Hits, Misses and so on are
// those of the exclusive pool; TotalConns counts every connection.
type PoolStats struct {
	Hits            uint32 // a connection of the pool was idle
	Misses          uint32 // one had to be opened
	Timeouts        uint32 // none became free within PoolTimeout
	WaitCount       uint32 // how often one was waited for
	Unusable        uint32 // always 0; there because go-redis has it
	WaitDurationNs  int64  // how long in all, in nanoseconds
	TotalConns      uint32 // open now
	IdleConns       uint32 // idle in the pool now
	StaleConns      uint32 // taken out because they were too old or had died
	PendingRequests uint32 // waiting for a connection now

	// PubSubStats counts subscriptions, of which each has a connection of its own.
	PubSubStats pubSubStats
	// PipelineStats is always nil: pipelines share the connections of all commands.
	// There because go-redis has it.
	PipelineStats *PoolStats
}

// pubSubStats count subscriptions.
type pubSubStats struct {
	Created   uint32 // all that there have been
	Untracked uint32 // closed ones
	Active    uint32 // open ones
}

// add adds the numbers of another client.
func (s *PoolStats) add(o *PoolStats) {
	s.Hits += o.Hits
	s.Misses += o.Misses
	s.Timeouts += o.Timeouts
	s.WaitCount += o.WaitCount
	s.WaitDurationNs += o.WaitDurationNs
	s.TotalConns += o.TotalConns
	s.IdleConns += o.IdleConns
	s.StaleConns += o.StaleConns
	s.PendingRequests += o.PendingRequests
}

// PoolStats counts the client's connections.
func (c *Client) PoolStats() *PoolStats {
	if c.ep == nil {
		return &PoolStats{}
	}
	s := c.ep.Pool().Stats()
	c.mu.Lock()
	subs := pubSubStats{Created: c.begun, Active: uint32(len(c.subs))}
	c.mu.Unlock()
	subs.Untracked = subs.Created - subs.Active
	return &PoolStats{
		Hits: s.Hits, Misses: s.Misses, Timeouts: s.Timeouts, WaitCount: s.Waits,
		WaitDurationNs: int64(s.WaitTime), TotalConns: uint32(c.ep.Links()), IdleConns: s.Idle,
		StaleConns: s.Stale, PendingRequests: s.Pending, PubSubStats: subs,
	}
}

// RegisterPushNotificationHandler makes handler be called for the pushes of that
// name. It runs beside the client's work, one push at a time, and may use the client.
func (c *Client) RegisterPushNotificationHandler(name string, handler push.NotificationHandler, protected bool) error {
	return c.opt.PushNotificationProcessor.RegisterHandler(name, handler, protected)
}

// NewPushNotificationProcessor makes what Options.PushNotificationProcessor is by
// default.
func NewPushNotificationProcessor() push.NotificationProcessor { return push.NewProcessor() }

// NewVoidPushNotificationProcessor makes one that has no handlers and takes none.
func NewVoidPushNotificationProcessor() push.NotificationProcessor { return push.NewVoidProcessor() }

// GetPushNotificationHandler is the handler registered for a name; nil: none.
func (c *Client) GetPushNotificationHandler(name string) push.NotificationHandler {
	return c.opt.PushNotificationProcessor.GetHandler(name)
}

// GetMaintNotificationsManager shows what the maintenance system does; nil where it
// is disabled.
func (c *Client) GetMaintNotificationsManager() *maintnotifications.Manager {
	if !c.opt.MaintNotificationsConfig.IsEnabled() {
		return nil
	}
	return c.manager
}

// unusable tells why a client can't be used; nil: it can.
func (c *core) unusable() error {
	if c.invalid != nil {
		return &CommandError{Delivery: NotSent, Err: c.invalid}
	}
	return nil
}

var errNoCredentials = errors.New("redis: the StreamingCredentialsProvider has given no credentials")

var errSession = errors.New("this command changes the connection's state, and connections are shared; " +
	"use Client.Conn for a connection of your own, or the client's method for it")
