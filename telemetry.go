package redis

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/endpoint"
	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/maintnotifications"
)

// ConnInfo tells which connection something is about. Where a connection is shared by
// all commands, or there was none, it tells the server's address.
type ConnInfo interface {
	// RemoteAddr is the server's address; nil where it is not known.
	RemoteAddr() net.Addr
	// PoolName is "main", or "pubsub" for the connections of subscriptions.
	PoolName() string
}

// Pooler is a client's connections, for those who count them now and then.
type Pooler interface {
	PoolStats() *PoolStats
}

// PubSubPooler is a client's subscriptions, likewise.
type PubSubPooler interface {
	Stats() *pubSubStats
}

// OTelRecorder gets what happens in all clients of the program; see SetOTelRecorder. Its
// methods are called without locks, by many goroutines at once: those of commands by the
// command's caller after the reply, those of subscriptions by the receiver, and those of
// connections and maintenance by goroutines of the client, which wait for them. A method
// that takes long holds those up, but no connection that serves; a panic in it is
// swallowed, and changes nothing. Commands and errors must not be kept.
type OTelRecorder interface {
	// RecordOperationDuration gets each command that was processed, with how often it was
	// tried: db.client.operation.duration.
	RecordOperationDuration(ctx context.Context, duration time.Duration, cmd Cmder, attempts int, err error, cn ConnInfo, dbIndex int)
	// RecordPipelineOperationDuration gets each pipeline ("PIPELINE") and transaction
	// ("MULTI"), with the number of commands and the first error.
	RecordPipelineOperationDuration(ctx context.Context, duration time.Duration, operationName string, cmdCount, attempts int, err error, cn ConnInfo, dbIndex int)
	// RecordConnectionCreateTime gets how long it took to open a connection, with its
	// handshake: db.client.connection.create_time.
	RecordConnectionCreateTime(ctx context.Context, duration time.Duration, cn ConnInfo)
	// RecordConnectionRelaxedTimeout gets +1 for each connection whose timeouts become
	// relaxed, and -1 when that ends: redis.client.connection.relaxed_timeout.
	RecordConnectionRelaxedTimeout(ctx context.Context, delta int, cn ConnInfo, poolName, notificationType string)
	// RecordConnectionHandoff gets each handoff that succeeded:
	// redis.client.connection.handoff.
	RecordConnectionHandoff(ctx context.Context, cn ConnInfo, poolName string)
	// RecordError gets each error: of a command that the caller gets, and with isInternal
	// one after which it was tried again. errorType is ErrorTypeNil for Nil, what the
	// server's error begins with, TIMEOUT, CANCELED, CLOSED, or CONNECTION; statusCode is
	// the server's: redis.client.errors.
	RecordError(ctx context.Context, errorType string, cn ConnInfo, statusCode string, isInternal bool, retryAttempts int)
	// RecordMaintenanceNotification gets each notice that was processed:
	// redis.client.maintenance.notifications.
	RecordMaintenanceNotification(ctx context.Context, cn ConnInfo, notificationType string)
	// RecordConnectionWaitTime gets how long it took to get a connection of the pool:
	// db.client.connection.wait_time.
	RecordConnectionWaitTime(ctx context.Context, duration time.Duration, cn ConnInfo)
	// RecordConnectionClosed gets each connection that has ended, and why: "drained" after
	// a handoff or its life, "closed" with the client, "timeout", or "error", and err for
	// the last two: redis.client.connection.closed.
	RecordConnectionClosed(ctx context.Context, cn ConnInfo, reason string, err error)
	// RecordPubSubMessage gets each message that was "sent" or "received":
	// redis.client.pubsub.messages.
	RecordPubSubMessage(ctx context.Context, cn ConnInfo, direction, channel string, sharded bool)
	// RecordStreamLag gets how old each entry of a stream was when XREAD or XREADGROUP gave
	// it: redis.client.stream.lag.
	RecordStreamLag(ctx context.Context, lag time.Duration, cn ConnInfo, streamName, consumerGroup, consumerName string)
}

// OTelConnectionCounter is what an OTelRecorder may be as well.
type OTelConnectionCounter interface {
	// RecordConnectionCount gets the changes of how many connections there are, by state,
	// "used" or "idle": db.client.connection.count. Those that all commands share, and those
	// of subscriptions, are always used.
	RecordConnectionCount(ctx context.Context, delta int, cn ConnInfo, state string, isPubSub bool)
	// RecordPendingRequests gets +1 from who waits for a connection of the pool, and -1
	// afterwards: db.client.connection.pending_requests.
	RecordPendingRequests(ctx context.Context, delta int, cn ConnInfo, poolName string)
}

// OTelPoolRegistrar is what an OTelRecorder may be as well. Clients that are made while
// it is set register themselves, and take that back when they are closed.
type OTelPoolRegistrar interface {
	RegisterPool(poolName string, pool Pooler)
	UnregisterPool(pool Pooler)
	RegisterPubSubPool(poolName string, pool PubSubPooler)
	UnregisterPubSubPool(pool PubSubPooler)
}

// ErrorTypeNil is the type of Nil in RecordError: a null reply is no failure.
const ErrorTypeNil = "NIL"

// telemetry is what SetOTelRecorder has set; nil: nothing. Commands load it once.
var telemetry atomic.Pointer[recorder] //nolint:gochecknoglobals // go-redis's API is for the whole program

// recorder is an OTelRecorder with what else it is.
type recorder struct {
	OTelRecorder
	counter OTelConnectionCounter // nil: it is none
	pools   OTelPoolRegistrar     // nil: it is none
}

// SetOTelRecorder makes r get what happens in all clients; nil: nobody. It is to be called
// before clients are made: sums of what r gets are right only from the beginning.
func SetOTelRecorder(r OTelRecorder) {
	if r == nil {
		telemetry.Store(nil)
		return
	}
	rec := &recorder{OTelRecorder: r}
	rec.counter, _ = r.(OTelConnectionCounter)
	rec.pools, _ = r.(OTelPoolRegistrar)
	telemetry.Store(rec)
}

// telemetryEpoch is where the times of telemetryStart begin.
var telemetryEpoch = time.Now() //nolint:gochecknoglobals // constant

// telemetryStart is the time if there is somebody to tell how long something takes; else
// 0.
func telemetryStart() int64 {
	if telemetry.Load() == nil {
		return 0
	}
	return max(int64(time.Since(telemetryEpoch)), 1)
}

// telemetrySince is the time since telemetryStart.
func telemetrySince(start int64) time.Duration {
	return time.Since(telemetryEpoch) - time.Duration(start)
}

// guard keeps a panic of a recorder away from the client.
func guard(call func()) {
	defer func() { _ = recover() }()
	call()
}

//------------------------------------------------------------------------------

// Names of pools.
const (
	poolMain   = maintnotifications.PoolNameMain
	poolPubSub = "pubsub"
)

// linkInfo is a ConnInfo of one link.
type linkInfo struct {
	l    *link.Link
	pool string
}

func (i linkInfo) RemoteAddr() net.Addr { return i.l.RemoteAddr() }
func (i linkInfo) PoolName() string     { return i.pool }

// coreInfo is a ConnInfo of a client's shared connection, or of its address.
type coreInfo struct {
	c    *core
	pool string
}

func (i coreInfo) RemoteAddr() net.Addr {
	if i.c.client == nil {
		return nil // it stands for all nodes of a cluster
	}
	if i.c.ep != nil {
		if addr := i.c.ep.RemoteAddr(); addr != nil {
			return addr
		}
	}
	return textAddr{i.c.opt.Network, i.c.opt.Addr}
}

func (i coreInfo) PoolName() string { return i.pool }

// textAddr is an address that was not dialled, or can't be reached.
type textAddr struct{ network, addr string }

func (a textAddr) Network() string { return a.network }
func (a textAddr) String() string  { return a.addr }

//------------------------------------------------------------------------------

// recordCommand tells the recorder of a command that has its outcome.
func (c *core) recordCommand(ctx context.Context, start int64, cmd Cmder, attempts int, err error) {
	r := telemetry.Load()
	if r == nil {
		return
	}
	took, cn := telemetrySince(start), coreInfo{c, poolMain}
	guard(func() { r.RecordOperationDuration(ctx, took, cmd, attempts, err, cn, c.opt.DB) })
	r.outcome(ctx, cn, cmd, err, attempts)
}

// recordPipeline tells the recorder of a pipeline or transaction.
func (c *core) recordPipeline(ctx context.Context, start int64, name string, cmds []Cmder, attempts int) {
	r := telemetry.Load()
	if r == nil {
		return
	}
	took, cn := telemetrySince(start), coreInfo{c, poolMain}
	guard(func() {
		r.RecordPipelineOperationDuration(ctx, took, name, len(cmds), attempts, firstErr(cmds), cn, c.opt.DB)
	})
	for _, cmd := range cmds {
		r.outcome(ctx, cn, cmd, cmd.base().err, attempts)
	}
}

// recordRetried tells the recorder of an error after which a command is tried again.
func recordRetried(ctx context.Context, c *core, err error, attempts int) {
	if r := telemetry.Load(); r != nil {
		r.failure(ctx, coreInfo{c, poolMain}, err, true, attempts)
	}
}

// outcome tells what a command has come to, beside how long it took.
func (r *recorder) outcome(ctx context.Context, cn ConnInfo, cmd Cmder, err error, attempts int) {
	if err != nil {
		r.failure(ctx, cn, err, false, attempts)
		return
	}
	switch name := cmd.Name(); name {
	case "publish", "spublish":
		if channel, ok := cmd.base().argAt(1); ok {
			guard(func() { r.RecordPubSubMessage(ctx, cn, "sent", string(channel), name == "spublish") })
		}
	case "xread", "xreadgroup":
		if read, ok := cmd.(*XStreamSliceCmd); ok {
			r.lags(ctx, cn, read)
		}
	}
}

// failure tells of an error.
func (r *recorder) failure(ctx context.Context, cn ConnInfo, err error, isInternal bool, attempts int) {
	kind, status := errorType(err)
	guard(func() { r.RecordError(ctx, kind, cn, status, isInternal, attempts-1) })
}

// errorType names an error, and the server's status in it, if any.
func errorType(err error) (kind, status string) {
	if err == Nil { //nolint:errorlint // a reply comes as it is
		return ErrorTypeNil, ""
	}
	if e, ok := errors.AsType[Error](err); ok {
		status, _, _ = strings.Cut(e.Error(), " ")
		return status, status
	}
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, ErrClosed):
		return "CLOSED", ""
	case errors.Is(err, context.Canceled):
		return "CANCELED", ""
	case errors.As(err, &timeout) && timeout.Timeout():
		return "TIMEOUT", ""
	}
	return "CONNECTION", ""
}

// lags tells how old the entries of streams were when they came.
func (r *recorder) lags(ctx context.Context, cn ConnInfo, cmd *XStreamSliceCmd) {
	var group, consumer string
	if args := cmd.Args(); len(args) > 3 && strings.EqualFold(args[1].(string), "group") {
		group, consumer = args[2].(string), args[3].(string)
	}
	now := time.Now()
	for _, s := range cmd.val {
		for _, m := range s.Messages {
			head, _, _ := strings.Cut(m.ID, "-")
			if ms, err := strconv.ParseInt(head, 10, 64); err == nil {
				lag := now.Sub(time.UnixMilli(ms))
				guard(func() { r.RecordStreamLag(ctx, lag, cn, s.Stream, group, consumer) })
			}
		}
	}
}

// recordMessage tells of a message that a receiver gets.
func recordMessage(p *PubSub, m *Message) {
	r := telemetry.Load()
	if r == nil {
		return
	}
	p.mu.Lock()
	_, sharded := p.subs[subShard][m.Channel]
	p.mu.Unlock()
	if p.shards != nil && !sharded && m.Pattern == "" {
		p.mu.Lock()
		_, known := p.subs[subChannel][m.Channel]
		p.mu.Unlock()
		sharded = !known
	}
	cn := pubSubInfo{textAddr{p.opt.Network, p.opt.Addr}}
	guard(func() { r.RecordPubSubMessage(context.Background(), cn, "received", m.Channel, sharded) })
}

// pubSubInfo is a ConnInfo of a subscription.
type pubSubInfo struct{ addr textAddr }

func (i pubSubInfo) RemoteAddr() net.Addr { return i.addr }
func (i pubSubInfo) PoolName() string     { return poolPubSub }

//------------------------------------------------------------------------------

// recordUp tells of a connection that serves.
func (c *core) recordUp(l *link.Link, took time.Duration, kind endpoint.LinkKind) {
	r := telemetry.Load()
	if r == nil {
		return
	}
	cn, state, isPubSub := describe(l, kind)
	guard(func() { r.RecordConnectionCreateTime(context.Background(), took, cn) })
	r.count(1, cn, state, isPubSub)
}

// recordDown tells of a connection that has ended.
func (c *core) recordDown(l *link.Link, err error, kind endpoint.LinkKind) {
	r := telemetry.Load()
	if r == nil {
		return
	}
	cn, state, isPubSub := describe(l, kind)
	reason := "error"
	switch {
	case errors.Is(err, link.ErrDraining):
		reason, err = "drained", nil
	case errors.Is(err, link.ErrClosed):
		reason, err = "closed", nil
	default:
		if t, ok := errors.AsType[*link.TimeoutError](err); ok && t.Timeout() {
			reason = "timeout"
		}
	}
	guard(func() { r.RecordConnectionClosed(context.Background(), cn, reason, err) })
	r.count(-1, cn, state, isPubSub)
}

// describe says what a connection is to a recorder. Those of the pool come and go as idle
// ones: who has one then gives it back.
func describe(l *link.Link, kind endpoint.LinkKind) (cn linkInfo, state string, isPubSub bool) {
	switch kind {
	case endpoint.LinkDedicated:
		return linkInfo{l, poolPubSub}, "used", true
	case endpoint.LinkPooled:
		return linkInfo{l, poolMain}, "idle", false
	case endpoint.LinkShared:
	}
	return linkInfo{l, poolMain}, "used", false
}

// count tells that there are more or fewer connections.
func (r *recorder) count(delta int, cn ConnInfo, state string, isPubSub bool) {
	if r.counter != nil {
		guard(func() { r.counter.RecordConnectionCount(context.Background(), delta, cn, state, isPubSub) })
	}
}

// borrow takes a connection of the pool.
func (c *core) borrow(ctx context.Context) (*lane.Lease, error) {
	r := telemetry.Load()
	if r == nil {
		return c.ep.Pool().Get(ctx)
	}
	cn, start := coreInfo{c, poolMain}, time.Now()
	r.pending(ctx, 1, cn)
	lease, err := c.ep.Pool().Get(ctx)
	r.pending(ctx, -1, cn)
	if err != nil {
		return nil, err
	}
	at := linkInfo{lease.Link, poolMain}
	took := time.Since(start)
	guard(func() { r.RecordConnectionWaitTime(ctx, took, at) })
	r.count(-1, at, "idle", false)
	r.count(1, at, "used", false)
	return lease, nil
}

// pending tells that somebody waits for a connection, or no longer does.
func (r *recorder) pending(ctx context.Context, delta int, cn ConnInfo) {
	if r.counter != nil {
		guard(func() { r.counter.RecordPendingRequests(ctx, delta, cn, poolMain) })
	}
}

// giveBack ends what borrow has begun.
func (c *core) giveBack(lease *lane.Lease, reuse bool) {
	if r := telemetry.Load(); r != nil {
		at := linkInfo{lease.Link, poolMain}
		r.count(-1, at, "used", false)
		r.count(1, at, "idle", false)
	}
	c.ep.Pool().Put(lease, reuse)
}

//------------------------------------------------------------------------------

// recordedMetrics are the user's, which the recorder gets too.
func (c *core) recordedMetrics() *maintnotifications.Metrics {
	own := c.opt.MaintNotificationsMetrics
	return &maintnotifications.Metrics{
		OnRelaxed: func(delta int, kind string) {
			own.Relaxed(delta, kind)
			if r := telemetry.Load(); r != nil {
				guard(func() {
					r.RecordConnectionRelaxedTimeout(context.Background(), delta, coreInfo{c, poolMain}, poolMain, kind)
				})
			}
		},
		OnHandoff: func(kind, at string, err error) {
			own.Handoff(kind, at, err)
			if r := telemetry.Load(); r != nil && err == nil {
				guard(func() { r.RecordConnectionHandoff(context.Background(), coreInfo{c, poolMain}, poolMain) })
			}
		},
		OnNotification: func(kind string, valid bool) {
			own.Notification(kind, valid)
			if r := telemetry.Load(); r != nil && valid {
				guard(func() { r.RecordMaintenanceNotification(context.Background(), coreInfo{c, poolMain}, kind) })
			}
		},
	}
}

// registeredPools is a client at a registrar.
type registeredPools struct {
	at     OTelPoolRegistrar
	client *Client
	subs   clientSubs
}

// clientSubs is the PubSubPooler of a client.
type clientSubs struct{ client *Client }

func (s clientSubs) Stats() *pubSubStats {
	stats := s.client.PoolStats().PubSubStats
	return &stats
}

// registerPools registers the client where there is a registrar.
func (c *core) registerPools() {
	r := telemetry.Load()
	if r == nil || r.pools == nil {
		return
	}
	c.registered = &registeredPools{at: r.pools, client: c.client, subs: clientSubs{c.client}}
	guard(func() { r.pools.RegisterPool(poolMain, c.client) })
	guard(func() { r.pools.RegisterPubSubPool(poolPubSub, c.registered.subs) })
}

// end takes the registration back.
func (p *registeredPools) end() {
	if p == nil {
		return
	}
	guard(func() { p.at.UnregisterPool(p.client) })
	guard(func() { p.at.UnregisterPubSubPool(p.subs) })
}
