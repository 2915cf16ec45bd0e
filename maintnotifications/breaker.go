package maintnotifications

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"
)

// CircuitBreakerState is the state of a breaker.
type CircuitBreakerState int32

// The states of a breaker.
const (
	// CircuitBreakerClosed: everything passes.
	CircuitBreakerClosed CircuitBreakerState = iota
	// CircuitBreakerOpen: nothing passes.
	CircuitBreakerOpen
	// CircuitBreakerHalfOpen: a few trials pass.
	CircuitBreakerHalfOpen
)

// String returns "closed", "open" or "half-open".
func (s CircuitBreakerState) String() string {
	switch s {
	case CircuitBreakerClosed:
		return "closed"
	case CircuitBreakerOpen:
		return "open"
	case CircuitBreakerHalfOpen:
		return "half-open"
	}
	return "CircuitBreakerState(" + strconv.Itoa(int(s)) + ")"
}

// CircuitBreakerStats is a snapshot of a breaker. The counters start at the
// breaker's making or at the latest reset.
type CircuitBreakerStats struct {
	// Endpoint is the address the breaker watches.
	Endpoint string
	// State is the state at the time of the snapshot.
	State CircuitBreakerState
	// Failures counts reported failures.
	Failures int64
	// Successes counts reported successes.
	Successes int64
	// Requests counts requests that passed.
	Requests int64
	// LastFailureTime is the time of the latest failure, zero if there was none.
	LastFailureTime time.Time
	// LastSuccessTime is the time of the latest success, zero if there was none.
	LastSuccessTime time.Time
}

// breaker is the state machine of a circuit breaker. It has neither a lock nor a
// clock: every call is told the time.
//
//   - Closed: every request passes. threshold failures in a row open it; a success
//     starts the count again.
//   - Open: no request passes until reset has gone by since it opened.
//   - Half-open: the first request after that is a trial, and so are the next, as
//     long as trials in progress and successful trials together are below trials.
//     When that many have succeeded it closes; one that fails opens it again, for
//     another reset. Trials whose outcome is not reported within reset (or a
//     second, if that is longer) no longer count as in progress, so that a lost
//     report does not keep it half-open for ever.
type breaker struct {
	threshold int           // >= 1
	reset     time.Duration // >= 0
	trials    int           // >= 1

	state     CircuitBreakerState
	failures  int       // in a row, while closed
	openedAt  time.Time // while open
	inTrial   int       // trials in progress, while half-open
	succeeded int       // trials that succeeded, while half-open
	trialAt   time.Time // the latest trial, while half-open

	stats CircuitBreakerStats // its State and Endpoint are not kept here
}

// minTrialLife is how long a trial counts as in progress at least.
const minTrialLife = time.Second

// at returns the state at now: open turns into half-open by time alone.
func (b *breaker) at(now time.Time) CircuitBreakerState {
	if b.state == CircuitBreakerOpen && now.Sub(b.openedAt) >= b.reset {
		return CircuitBreakerHalfOpen
	}
	return b.state
}

// allow says whether a request passes, and counts it if so.
func (b *breaker) allow(now time.Time) bool {
	if !b.passes(now) {
		return false
	}
	if b.at(now) == CircuitBreakerHalfOpen {
		if b.state == CircuitBreakerOpen {
			b.state, b.inTrial, b.succeeded = CircuitBreakerHalfOpen, 0, 0
		}
		if b.trialsLost(now) {
			b.inTrial = 0
		}
		b.inTrial++
		b.trialAt = now
	}
	b.stats.Requests++
	return true
}

// passes says whether allow would let a request pass.
func (b *breaker) passes(now time.Time) bool {
	switch b.at(now) {
	case CircuitBreakerClosed:
		return true
	case CircuitBreakerOpen:
		return false
	case CircuitBreakerHalfOpen:
	}
	return b.state == CircuitBreakerOpen || b.trialsLost(now) || b.inTrial+b.succeeded < b.trials
}

func (b *breaker) trialsLost(now time.Time) bool {
	return b.inTrial > 0 && now.Sub(b.trialAt) >= max(b.reset, minTrialLife)
}

// report takes in the outcome of a request that passed.
func (b *breaker) report(now time.Time, err error) {
	if b.state == CircuitBreakerHalfOpen && b.inTrial > 0 {
		b.inTrial--
	}
	switch {
	case err == nil:
		b.stats.Successes++
		b.stats.LastSuccessTime = now
		b.success()
	case saysNothing(err):
	default:
		b.stats.Failures++
		b.stats.LastFailureTime = now
		b.failure(now)
	}
}

func (b *breaker) success() {
	switch b.state {
	case CircuitBreakerClosed:
		b.failures = 0
	case CircuitBreakerHalfOpen:
		if b.succeeded++; b.succeeded >= b.trials {
			b.state, b.failures = CircuitBreakerClosed, 0
		}
	case CircuitBreakerOpen: // of a request from before it opened
	}
}

func (b *breaker) failure(now time.Time) {
	switch b.state {
	case CircuitBreakerClosed:
		if b.failures++; b.failures >= b.threshold {
			b.state, b.openedAt = CircuitBreakerOpen, now
		}
	case CircuitBreakerHalfOpen:
		b.state, b.openedAt = CircuitBreakerOpen, now
	case CircuitBreakerOpen: // of a request from before it opened
	}
}

// saysNothing says whether err tells nothing about the endpoint: our side gave
// up, not the other one failed.
func saysNothing(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, ErrShutdown) || errors.Is(err, ErrCircuitBreakerOpen)
}

// A CircuitBreaker keeps a client from trying an endpoint that failed several
// times in a row. Without a goroutine or timer it opens, half-opens after the
// reset timeout, and closes after successful trials; see
// [Config.CircuitBreakerFailureThreshold], [Config.CircuitBreakerResetTimeout]
// and [Config.CircuitBreakerMaxRequests].
//
// It comes from a [CircuitBreakerManager] and is safe for concurrent use.
type CircuitBreaker struct {
	endpoint string
	now      func() time.Time

	mu   sync.Mutex // guards the fields below
	b    breaker
	used time.Time
}

// Allow asks for a request to pass. If it may, the caller has to tell the outcome
// with [CircuitBreaker.Report], once; else the error is [ErrCircuitBreakerOpen].
func (cb *CircuitBreaker) Allow() error {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	cb.used = cb.now()
	if !cb.b.allow(cb.used) {
		return ErrCircuitBreakerOpen
	}
	return nil
}

// Report tells the outcome of a request that Allow let pass. nil is a success.
// An error that says nothing about the endpoint ([context.Canceled],
// [ErrShutdown], [ErrCircuitBreakerOpen]) is neither a success nor a failure.
func (cb *CircuitBreaker) Report(err error) {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	cb.used = cb.now()
	cb.b.report(cb.used, err)
}

// Execute runs fn between Allow and Report. It returns the error of fn, or
// [ErrCircuitBreakerOpen] without calling it. A panic in fn counts as a failure
// and goes on.
func (cb *CircuitBreaker) Execute(fn func() error) error {
	if err := cb.Allow(); err != nil {
		return err
	}
	outcome := errPanicked
	defer func() { cb.Report(outcome) }()
	outcome = fn()
	return outcome
}

var errPanicked = errors.New("maintnotifications: panic")

// IsOpen says whether a request would not pass now. Once the reset timeout has
// gone by it is false, so that a caller who only asks here still gets its trial.
func (cb *CircuitBreaker) IsOpen() bool {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	return !cb.b.passes(cb.now())
}

// GetState returns the state. A breaker whose reset timeout has gone by is
// half-open, whether or not a trial has been asked for yet.
func (cb *CircuitBreaker) GetState() CircuitBreakerState {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	return cb.b.at(cb.now())
}

// GetStats returns a snapshot.
func (cb *CircuitBreaker) GetStats() CircuitBreakerStats {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	st := cb.b.stats
	st.Endpoint, st.State = cb.endpoint, cb.b.at(cb.now())
	return st
}

// clear makes the breaker closed and its counters zero.
func (cb *CircuitBreaker) clear() {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	cb.b = breaker{threshold: cb.b.threshold, reset: cb.b.reset, trials: cb.b.trials}
}

// idle says whether the breaker has not been used since before t and keeps no one
// from the endpoint, so that forgetting it changes nothing.
func (cb *CircuitBreaker) idle(now, t time.Time) bool {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	return cb.used.Before(t) && cb.b.at(now) != CircuitBreakerOpen
}

// breakerMemory is how long a breaker nobody asks for is kept.
const breakerMemory = 30 * time.Minute

// A CircuitBreakerManager keeps one breaker for each endpoint. Breakers that were
// not used for 30 minutes are forgotten when a new one is made; there is no
// goroutine. It is safe for concurrent use.
type CircuitBreakerManager struct {
	threshold int
	reset     time.Duration
	trials    int
	now       func() time.Time

	mu       sync.Mutex // guards breakers; taken before a breaker's own
	breakers map[string]*CircuitBreaker
}

// NewCircuitBreakerManager returns a manager without breakers that goes by the
// numbers of cfg. nil and zero fields stand for the defaults.
func NewCircuitBreakerManager(cfg *Config) *CircuitBreakerManager {
	return newCircuitBreakerManager(cfg.ApplyDefaults(), time.Now)
}

// newCircuitBreakerManager is NewCircuitBreakerManager for a cfg that has its
// defaults, and with a clock.
func newCircuitBreakerManager(cfg *Config, now func() time.Time) *CircuitBreakerManager {
	return &CircuitBreakerManager{
		threshold: cfg.CircuitBreakerFailureThreshold,
		reset:     cfg.CircuitBreakerResetTimeout,
		trials:    cfg.CircuitBreakerMaxRequests,
		now:       now,
		breakers:  make(map[string]*CircuitBreaker),
	}
}

// GetCircuitBreaker returns the breaker of endpoint, making it if need be.
func (m *CircuitBreakerManager) GetCircuitBreaker(endpoint string) *CircuitBreaker {
	m.mu.Lock()
	defer m.mu.Unlock()
	if cb := m.breakers[endpoint]; cb != nil {
		return cb
	}
	now := m.now()
	for ep, cb := range m.breakers {
		if cb.idle(now, now.Add(-breakerMemory)) {
			delete(m.breakers, ep)
		}
	}
	cb := &CircuitBreaker{
		endpoint: endpoint, now: m.now, used: now,
		b: breaker{threshold: m.threshold, reset: m.reset, trials: m.trials},
	}
	m.breakers[endpoint] = cb
	return cb
}

// GetAllStats returns snapshots of all breakers, sorted by endpoint.
func (m *CircuitBreakerManager) GetAllStats() []CircuitBreakerStats {
	m.mu.Lock()
	all := make([]*CircuitBreaker, 0, len(m.breakers))
	for _, cb := range m.breakers {
		all = append(all, cb)
	}
	m.mu.Unlock()
	stats := make([]CircuitBreakerStats, len(all))
	for i, cb := range all {
		stats[i] = cb.GetStats()
	}
	slices.SortFunc(stats, func(a, b CircuitBreakerStats) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
	return stats
}

// Reset closes every breaker and sets its counters to zero. Breakers that callers
// hold stay the ones in use.
func (m *CircuitBreakerManager) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, cb := range m.breakers {
		cb.clear()
	}
}

// Shutdown forgets all breakers. Nothing has to be stopped; the manager can be
// used again.
func (m *CircuitBreakerManager) Shutdown() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.breakers)
}
