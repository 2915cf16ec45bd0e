package maintnotifications

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/push"
)

// PoolNameMain is the name of a client's main pool in metrics.
const PoolNameMain = "main"

// State says whether a client is moving connections.
type State int

// The states of a client.
const (
	// StateIdle: no connection waits to be handed over.
	StateIdle State = iota
	// StateMoving: connections are being handed over.
	StateMoving
)

// String returns "idle" or "moving".
func (s State) String() string {
	switch s {
	case StateIdle:
		return "idle"
	case StateMoving:
		return "moving"
	}
	return "unknown"
}

// A MovingOperationKey identifies the handoff of one connection because of one
// notice.
type MovingOperationKey struct {
	// SeqID is the sequence number of the notice.
	SeqID int64
	// ConnID is the id of the connection.
	ConnID uint64
}

// String returns "seq:<seq>-conn:<id>".
func (k MovingOperationKey) String() string { return fmt.Sprintf("seq:%d-conn:%d", k.SeqID, k.ConnID) }

// A MovingOperation is a connection that is being handed over.
type MovingOperation struct {
	// SeqID is the sequence number of the notice.
	SeqID int64
	// NewEndpoint is where the connection goes, "" if that is not known yet.
	NewEndpoint string
	// StartTime is when the operation was tracked.
	StartTime time.Time
	// Deadline is when the old endpoint stops.
	Deadline time.Time
}

// ClusterStateReloadCallback is told that slots moved away from the node hostPort
// and that the cluster's state has to be read again.
type ClusterStateReloadCallback func(ctx context.Context, hostPort string, slotRanges []string)

// OperationsManagerInterface is the part of [Manager] that keeps the table of
// moving operations.
type OperationsManagerInterface interface {
	// TrackMovingOperationWithConnID adds an operation.
	TrackMovingOperationWithConnID(ctx context.Context, newEndpoint string, deadline time.Time, seqID int64, connID uint64) error
	// UntrackOperationWithConnID removes it.
	UntrackOperationWithConnID(seqID int64, connID uint64)
}

var _ OperationsManagerInterface = (*Manager)(nil)

// Numbers of the manager.
const (
	closePatience    = 10 * time.Second // maintenance specification, section 5
	smigratedMemory  = 2 * time.Minute  // as long as a machine knows a closing notice
	maxSMigratedSeqs = 1024
)

// A Manager holds the maintenance state of one client that others can watch: the
// operations under way, the hooks, the circuit breakers. The client's endpoints
// feed it. It has no goroutine of its own. Create one with [NewManager]. It is
// safe for concurrent use.
type Manager struct {
	cfg      *Config  // immutable, with its defaults
	metrics  *Metrics // immutable, may be nil
	breakers *CircuitBreakerManager

	operations atomic.Int64 // len(ops)
	handoffs   atomic.Int64 // handoffs in progress; changed under mu
	hooks      atomic.Pointer[[]NotificationHook]
	reload     atomic.Pointer[ClusterStateReloadCallback]

	run    context.Context // of all handoffs; cancelled at the end of Close
	cancel context.CancelFunc

	mu        sync.Mutex // guards the fields below; never held over a callback
	ops       map[MovingOperationKey]*MovingOperation
	purged    time.Time           // when ops was last searched for forgotten ones
	smigrated map[int64]time.Time // when a sequence number was first seen
	closing   bool
	idle      chan struct{} // closed when closing and no handoff is in progress
	closed    chan struct{} // closed when Close is done
	closeErr  error         // set before closed is closed
}

// NewManager returns a manager for a client with configuration cfg, of which it
// takes a copy with defaults; nil means [DefaultConfig]. metrics may be nil. The
// error is that of [Config.Validate].
func NewManager(cfg *Config, metrics *Metrics) (*Manager, error) {
	cfg = cfg.ApplyDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := &Manager{
		cfg: cfg, metrics: metrics,
		breakers:  NewCircuitBreakerManager(cfg),
		ops:       make(map[MovingOperationKey]*MovingOperation),
		smigrated: make(map[int64]time.Time),
		idle:      make(chan struct{}),
		closed:    make(chan struct{}),
	}
	m.run, m.cancel = context.WithCancel(context.Background())
	return m, nil
}

// Config returns a copy of the configuration with its defaults.
func (m *Manager) Config() *Config { return m.cfg.Clone() }

// Metrics returns the callbacks given to [NewManager]; they may be called even if
// it is nil.
func (m *Manager) Metrics() *Metrics { return m.metrics }

// AddNotificationHook adds a hook behind those that are there. It takes effect
// with the next notification; nil is ignored.
func (m *Manager) AddNotificationHook(notificationHook NotificationHook) {
	if notificationHook == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.currentHooks()
	hooks := append(old[:len(old):len(old)], notificationHook)
	m.hooks.Store(&hooks)
}

func (m *Manager) currentHooks() []NotificationHook {
	if p := m.hooks.Load(); p != nil {
		return *p
	}
	return nil
}

// Dispatch is the function [Dispatch] with the manager's hooks and metrics. After
// Close it does nothing and returns [ErrShutdown].
func (m *Manager) Dispatch(ctx context.Context, notificationCtx push.NotificationHandlerContext, args []any, handle func(Notice) error) error {
	if m.run.Err() != nil {
		return ErrShutdown
	}
	return Dispatch(ctx, notificationCtx, args, m.currentHooks(), m.metrics, handle)
}

// A NotificationHandler is the push handler of the maintenance notifications. It
// comes from [Manager.Handler].
type NotificationHandler struct {
	manager *Manager
	handle  func(context.Context, push.NotificationHandlerContext, Notice) error
}

var _ push.NotificationHandler = (*NotificationHandler)(nil)

// Handler returns a handler to be registered for the seven names. handle gets
// every notice that is well-formed and that no hook stopped.
func (m *Manager) Handler(handle func(context.Context, push.NotificationHandlerContext, Notice) error) *NotificationHandler {
	return &NotificationHandler{manager: m, handle: handle}
}

// HandlePushNotification takes a notification through [Manager.Dispatch].
func (h *NotificationHandler) HandlePushNotification(ctx context.Context, handlerCtx push.NotificationHandlerContext, notification []any) error {
	return h.manager.Dispatch(ctx, handlerCtx, notification, func(n Notice) error {
		return h.handle(ctx, handlerCtx, n)
	})
}

// GetState returns StateMoving while [Manager.IsHandoffInProgress]. It takes no
// lock.
func (m *Manager) GetState() State {
	if m.IsHandoffInProgress() {
		return StateMoving
	}
	return StateIdle
}

// IsHandoffInProgress says whether any connection is being handed over or waits
// for it. It takes no lock.
func (m *Manager) IsHandoffInProgress() bool {
	return m.operations.Load() > 0 || m.handoffs.Load() > 0
}

// GetActiveOperationCount returns how many operations are tracked. It takes no
// lock.
func (m *Manager) GetActiveOperationCount() int64 { return m.operations.Load() }

// GetActiveMovingOperations returns a copy of the operations that are tracked.
func (m *Manager) GetActiveMovingOperations() map[MovingOperationKey]*MovingOperation {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[MovingOperationKey]*MovingOperation, len(m.ops))
	for k, op := range m.ops {
		out[k] = new(*op)
	}
	return out
}

// TrackMovingOperationWithConnID adds the operation of connection connID because
// of notice seqID. One that is tracked already is left as it is. Whoever adds an
// operation removes it, however it ends; one that was forgotten leaves the table
// a minute or two after its deadline, when the next is added. After Close the error is
// [ErrShutdown].
func (m *Manager) TrackMovingOperationWithConnID(_ context.Context, newEndpoint string, deadline time.Time, seqID int64, connID uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closing {
		return ErrShutdown
	}
	m.track(MovingOperationKey{SeqID: seqID, ConnID: connID}, newEndpoint, deadline)
	return nil
}

// track adds an operation and says whether it was not there. m.mu is held.
func (m *Manager) track(key MovingOperationKey, newEndpoint string, deadline time.Time) bool {
	now := time.Now()
	if now.Sub(m.purged) > opMemory {
		m.purged = now
		maps.DeleteFunc(m.ops, func(_ MovingOperationKey, op *MovingOperation) bool {
			return now.Sub(op.Deadline) > opMemory
		})
	}
	_, ok := m.ops[key]
	if !ok {
		m.ops[key] = &MovingOperation{SeqID: key.SeqID, NewEndpoint: newEndpoint, StartTime: now, Deadline: deadline}
	}
	m.operations.Store(int64(len(m.ops)))
	return !ok
}

// UntrackOperationWithConnID removes an operation. One that is not there is no
// fault.
func (m *Manager) UntrackOperationWithConnID(seqID int64, connID uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.untrack(MovingOperationKey{SeqID: seqID, ConnID: connID})
}

func (m *Manager) untrack(key MovingOperationKey) {
	delete(m.ops, key)
	m.operations.Store(int64(len(m.ops)))
}

// A Handoff is what [Manager.BeginHandoff] is told.
type Handoff struct {
	// Op and Link are those of the action.
	Op   OpKey
	Link LinkID
	// Kind is what caused it, for metrics: MOVING, or another source's name.
	Kind string
	// Endpoint is where the link goes first.
	Endpoint string
	// Deadline is when it has to be over.
	Deadline time.Time
}

// BeginHandoff starts the account of one handoff. The context it returns ends at
// the deadline, with ctx, or when Close has run out of patience. The caller calls
// done exactly when the handoff is over, with its outcome: that settles the table
// of operations, metrics and hooks; a second call does nothing. If the operation
// was not tracked it is, until done. After Close the error is [ErrShutdown], and
// done is nil.
func (m *Manager) BeginHandoff(ctx context.Context, h Handoff) (hctx context.Context, done func(err error), err error) {
	key := MovingOperationKey{SeqID: h.Op.Seq, ConnID: uint64(h.Link)}
	m.mu.Lock()
	if m.closing {
		m.mu.Unlock()
		return nil, nil, ErrShutdown
	}
	tracked := m.track(key, h.Endpoint, h.Deadline)
	m.handoffs.Add(1)
	m.mu.Unlock()

	hctx, cancel := context.WithDeadlineCause(ctx, h.Deadline, errHandoffDeadline)
	stop := context.AfterFunc(m.run, cancel)
	var once sync.Once
	return hctx, func(err error) {
		once.Do(func() {
			stop()
			cancel()
			m.endHandoff(h, key, tracked, err)
		})
	}, nil
}

var errHandoffDeadline = errors.New("maintnotifications: deadline of the handoff passed")

func (m *Manager) endHandoff(h Handoff, key MovingOperationKey, tracked bool, err error) {
	// Callbacks first: Close returns after the last of them.
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if tracked {
			m.untrack(key)
		}
		if m.handoffs.Add(-1) == 0 && m.closing {
			close(m.idle)
		}
	}()
	m.metrics.Handoff(h.Kind, h.Endpoint, err)
	for _, hook := range m.currentHooks() {
		if hh, ok := hook.(HandoffHook); ok {
			hh.HandoffDone(h.Endpoint, err)
		}
	}
}

// CircuitBreaker returns the breaker of an endpoint.
func (m *Manager) CircuitBreaker(endpoint string) *CircuitBreaker {
	return m.breakers.GetCircuitBreaker(endpoint)
}

// GetCircuitBreakerStats returns snapshots of all breakers, sorted by endpoint.
func (m *Manager) GetCircuitBreakerStats() []CircuitBreakerStats { return m.breakers.GetAllStats() }

// ResetCircuitBreakers closes all breakers and sets their counters to zero.
func (m *Manager) ResetCircuitBreakers() { m.breakers.Reset() }

// MarkSMigratedSeqIDProcessed says whether the SMIGRATED with this sequence
// number is seen for the first time: every node sends it to every connection, and
// it is acted on once. A number is remembered for 2 minutes, so that a database
// whose numbers start again works, and the table stays small.
func (m *Manager) MarkSMigratedSeqIDProcessed(seqID int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if at, ok := m.smigrated[seqID]; ok && now.Sub(at) < smigratedMemory {
		return false
	}
	oldest, oldestAt := seqID, now
	for seq, at := range m.smigrated {
		if now.Sub(at) >= smigratedMemory {
			delete(m.smigrated, seq)
		} else if !at.After(oldestAt) {
			oldest, oldestAt = seq, at
		}
	}
	if len(m.smigrated) >= maxSMigratedSeqs {
		delete(m.smigrated, oldest)
	}
	m.smigrated[seqID] = now
	return true
}

// SetClusterStateReloadCallback sets what [Manager.TriggerClusterStateReload]
// calls; nil for nothing.
func (m *Manager) SetClusterStateReloadCallback(callback ClusterStateReloadCallback) {
	m.reload.Store(&callback)
}

// TriggerClusterStateReload calls the reload callback, if there is one.
func (m *Manager) TriggerClusterStateReload(ctx context.Context, hostPort string, slotRanges []string) {
	if cb := m.reload.Load(); cb != nil && *cb != nil {
		(*cb)(ctx, hostPort, slotRanges)
	}
}

// Close lets no further handoff begin, waits until those in progress are over,
// but 10 s at most, and then cancels the contexts of those that are left. The
// error says how many these are. Further calls wait for the first and return the
// same.
func (m *Manager) Close() error {
	m.mu.Lock()
	if m.closing {
		m.mu.Unlock()
		<-m.closed
		return m.closeErr
	}
	m.closing = true
	if m.handoffs.Load() == 0 {
		close(m.idle)
	}
	m.mu.Unlock()

	timer := time.NewTimer(closePatience)
	defer timer.Stop()
	select {
	case <-m.idle:
	case <-timer.C:
		if n := m.handoffs.Load(); n > 0 {
			m.closeErr = fmt.Errorf("maintnotifications: close: %d handoffs still running after %v", n, closePatience)
		}
	}
	m.cancel()
	m.mu.Lock()
	clear(m.ops)
	clear(m.smigrated)
	m.operations.Store(0)
	m.mu.Unlock()
	m.breakers.Shutdown()
	close(m.closed)
	return m.closeErr
}
