package maintnotifications

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Defaults; section 2 of the maintenance specification.
const (
	defaultRelaxedTimeout     = 10 * time.Second
	defaultHandoffTimeout     = 15 * time.Second // the server's own grace time, measured
	defaultMaxHandoffRetries  = 3
	defaultFailureThreshold   = 5
	defaultResetTimeout       = 60 * time.Second
	defaultHalfOpenRequests   = 3
	maxHandoffRetriesLimit    = 10
	minWorkersTarget          = 10
	minExplicitQueue          = 200
	queuePerWorker            = 20
	queuePerPoolSize          = 5
	minQueue                  = 2
	poolSizePerProc           = 10
	postHandoffRelaxedFactor  = 2
	endpointResolutionTimeout = 2 * time.Second
)

// Mode says whether a client asks for maintenance notifications.
type Mode string

// The modes. "" stands for the default, ModeAuto.
const (
	// ModeDisabled never sends the command that asks for them.
	ModeDisabled Mode = "disabled"
	// ModeEnabled fails a connection on which the server refuses, or which does
	// not speak RESP3.
	ModeEnabled Mode = "enabled"
	// ModeAuto asks, and works normally and silently where the server refuses.
	ModeAuto Mode = "auto"
)

// IsValid says whether m is one of the three modes.
func (m Mode) IsValid() bool {
	switch m {
	case ModeDisabled, ModeEnabled, ModeAuto:
		return true
	}
	return false
}

// String returns the mode as text.
func (m Mode) String() string { return string(m) }

// Config says how a client takes part in maintenance. nil means
// [DefaultConfig], and a zero field means its default. Clients work on a copy
// and never change it; it must not be changed while one is being made.
type Config struct {
	// Mode says whether to ask for notifications. Default: ModeAuto.
	Mode Mode

	// EndpointType says in which form the server names new endpoints. Default:
	// EndpointTypeAuto, decided for each connection.
	EndpointType EndpointType

	// RelaxedTimeout is the read and write timeout while a window is open. It is
	// a floor: a longer configured timeout stays. Default: 10 s.
	RelaxedTimeout time.Duration

	// HandoffTimeout is the longest that one handoff may take; then the old
	// connection is closed. It equals the time after which the server closes old
	// connections (measured). Default: 15 s.
	HandoffTimeout time.Duration

	// MaxWorkers is how many handoffs run at once. 0 is automatic:
	// min(PoolSize/2, max(10, PoolSize/3)). A number is raised to PoolSize/2. At
	// least 1.
	MaxWorkers int

	// HandoffQueueSize is how many handoffs may wait. 0 is automatic:
	// max(20*MaxWorkers, PoolSize). A number is raised to 200. Both are capped by
	// MaxActiveConns+1 if that is set, else by 5*PoolSize. At least 2.
	HandoffQueueSize int

	// PostHandoffRelaxedDuration is how long timeouts stay relaxed after a
	// handoff. Default: twice RelaxedTimeout.
	PostHandoffRelaxedDuration time.Duration

	// CircuitBreakerFailureThreshold is how many failures in a row open the
	// breaker of an endpoint. Default: 5.
	CircuitBreakerFailureThreshold int

	// CircuitBreakerResetTimeout is how long a breaker stays open before it lets
	// trials through. Default: 60 s.
	CircuitBreakerResetTimeout time.Duration

	// CircuitBreakerMaxRequests is how many trials have to succeed to close the
	// breaker again. Default: 3.
	CircuitBreakerMaxRequests int

	// MaxHandoffRetries is how often a failed handoff is tried again, 1 to 10.
	// Default: 3.
	MaxHandoffRetries int
}

// DefaultConfig returns a new Config with the defaults, MaxWorkers and
// HandoffQueueSize being 0 (automatic).
func DefaultConfig() *Config {
	return &Config{
		Mode:                           ModeAuto,
		EndpointType:                   EndpointTypeAuto,
		RelaxedTimeout:                 defaultRelaxedTimeout,
		HandoffTimeout:                 defaultHandoffTimeout,
		PostHandoffRelaxedDuration:     postHandoffRelaxedFactor * defaultRelaxedTimeout,
		CircuitBreakerFailureThreshold: defaultFailureThreshold,
		CircuitBreakerResetTimeout:     defaultResetTimeout,
		CircuitBreakerMaxRequests:      defaultHalfOpenRequests,
		MaxHandoffRetries:              defaultMaxHandoffRetries,
	}
}

// IsEnabled says whether the client asks for notifications: true unless c is nil
// or its mode is ModeDisabled.
func (c *Config) IsEnabled() bool { return c != nil && c.Mode != ModeDisabled }

// Validate returns every problem of c at once. Each matches its own error of
// this package with [errors.Is]. It judges the fields as they are: a partly
// filled Config passes through [Config.ApplyDefaults] first. A nil Config, which
// means the defaults, is valid.
func (c *Config) Validate() error {
	if c == nil {
		return nil
	}
	var errs []error
	check := func(ok bool, sentinel error, got any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%w, not %v", sentinel, got))
		}
	}
	check(c.Mode.IsValid(), ErrInvalidMaintNotifications, quoted(c.Mode))
	check(c.EndpointType.IsValid(), ErrInvalidEndpointType, quoted(c.EndpointType))
	check(c.RelaxedTimeout > 0, ErrInvalidRelaxedTimeout, c.RelaxedTimeout)
	check(c.HandoffTimeout > 0, ErrInvalidHandoffTimeout, c.HandoffTimeout)
	check(c.MaxWorkers >= 0, ErrInvalidHandoffWorkers, c.MaxWorkers)
	check(c.HandoffQueueSize >= 0, ErrInvalidHandoffQueueSize, c.HandoffQueueSize)
	check(c.PostHandoffRelaxedDuration >= 0, ErrInvalidPostHandoffRelaxedDuration, c.PostHandoffRelaxedDuration)
	check(c.CircuitBreakerFailureThreshold >= 1, ErrInvalidCircuitBreakerFailureThreshold, c.CircuitBreakerFailureThreshold)
	check(c.CircuitBreakerResetTimeout >= 0, ErrInvalidCircuitBreakerResetTimeout, c.CircuitBreakerResetTimeout)
	check(c.CircuitBreakerMaxRequests >= 1, ErrInvalidCircuitBreakerMaxRequests, c.CircuitBreakerMaxRequests)
	check(c.MaxHandoffRetries >= 1 && c.MaxHandoffRetries <= maxHandoffRetriesLimit, ErrInvalidHandoffRetries, c.MaxHandoffRetries)
	return errors.Join(errs...)
}

func quoted[S ~string](s S) string { return fmt.Sprintf("%q", string(s)) }

// ApplyDefaults is [Config.ApplyDefaultsWithPoolSize] for an unknown pool size.
func (c *Config) ApplyDefaults() *Config { return c.ApplyDefaultsWithPoolConfig(0, 0) }

// ApplyDefaultsWithPoolSize is [Config.ApplyDefaultsWithPoolConfig] for a pool
// without a bound on its active connections.
func (c *Config) ApplyDefaultsWithPoolSize(poolSize int) *Config {
	return c.ApplyDefaultsWithPoolConfig(poolSize, 0)
}

// ApplyDefaultsWithPoolConfig returns a copy of c in which every zero field has
// its default and MaxWorkers and HandoffQueueSize are settled for a pool of
// poolSize connections. A poolSize that is not above zero stands for 10 for each
// of GOMAXPROCS; a maxActiveConns that is not above zero for no bound. Values
// that [Config.Validate] refuses are kept, for it to find. c may be nil and is
// not changed.
func (c *Config) ApplyDefaultsWithPoolConfig(poolSize, maxActiveConns int) *Config {
	out, def := c.Clone(), DefaultConfig()
	orDefault(&out.Mode, def.Mode)
	orDefault(&out.EndpointType, def.EndpointType)
	orDefault(&out.RelaxedTimeout, def.RelaxedTimeout)
	orDefault(&out.HandoffTimeout, def.HandoffTimeout)
	orDefault(&out.PostHandoffRelaxedDuration, postHandoffRelaxedFactor*out.RelaxedTimeout)
	orDefault(&out.CircuitBreakerFailureThreshold, def.CircuitBreakerFailureThreshold)
	orDefault(&out.CircuitBreakerResetTimeout, def.CircuitBreakerResetTimeout)
	orDefault(&out.CircuitBreakerMaxRequests, def.CircuitBreakerMaxRequests)
	orDefault(&out.MaxHandoffRetries, def.MaxHandoffRetries)

	if poolSize <= 0 {
		poolSize = poolSizePerProc * runtime.GOMAXPROCS(0)
	}
	switch {
	case out.MaxWorkers == 0:
		out.MaxWorkers = max(1, min(poolSize/2, max(minWorkersTarget, poolSize/3)))
	case out.MaxWorkers > 0:
		out.MaxWorkers = max(poolSize/2, out.MaxWorkers)
	}
	limit := queuePerPoolSize * poolSize
	if maxActiveConns > 0 {
		limit = maxActiveConns + 1
	}
	switch {
	case out.HandoffQueueSize == 0:
		out.HandoffQueueSize = max(queuePerWorker*out.MaxWorkers, poolSize)
	case out.HandoffQueueSize > 0:
		out.HandoffQueueSize = max(minExplicitQueue, out.HandoffQueueSize)
	default:
		return out
	}
	out.HandoffQueueSize = max(minQueue, min(out.HandoffQueueSize, limit))
	return out
}

// orDefault gives *field the value def if it is zero.
func orDefault[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}

// Clone returns a copy of c, or [DefaultConfig] if c is nil.
func (c *Config) Clone() *Config {
	if c == nil {
		return DefaultConfig()
	}
	out := *c
	return &out
}
