package maintnotifications

import "errors"

// Errors of [Config.Validate], one for each rule of section 2 of the
// maintenance specification.
var (
	// ErrInvalidRelaxedTimeout says that RelaxedTimeout is not above zero.
	ErrInvalidRelaxedTimeout = errors.New("maintnotifications: relaxed timeout must be greater than 0")
	// ErrInvalidHandoffTimeout says that HandoffTimeout is not above zero.
	ErrInvalidHandoffTimeout = errors.New("maintnotifications: handoff timeout must be greater than 0")
	// ErrInvalidHandoffWorkers says that MaxWorkers is negative.
	ErrInvalidHandoffWorkers = errors.New("maintnotifications: max workers must be 0 or greater")
	// ErrInvalidHandoffQueueSize says that HandoffQueueSize is negative.
	ErrInvalidHandoffQueueSize = errors.New("maintnotifications: handoff queue size must be 0 or greater")
	// ErrInvalidPostHandoffRelaxedDuration says that PostHandoffRelaxedDuration
	// is negative.
	ErrInvalidPostHandoffRelaxedDuration = errors.New("maintnotifications: post-handoff relaxed duration must be 0 or greater")
	// ErrInvalidHandoffRetries says that MaxHandoffRetries is not within 1..10.
	ErrInvalidHandoffRetries = errors.New("maintnotifications: max handoff retries must be from 1 to 10")
	// ErrInvalidMaintNotifications says that Mode is unknown.
	ErrInvalidMaintNotifications = errors.New("maintnotifications: mode must be disabled, enabled or auto")
	// ErrInvalidEndpointType says that EndpointType is unknown.
	ErrInvalidEndpointType = errors.New("maintnotifications: endpoint type must be a known one")
	// ErrInvalidCircuitBreakerFailureThreshold says that
	// CircuitBreakerFailureThreshold is below 1.
	ErrInvalidCircuitBreakerFailureThreshold = errors.New("maintnotifications: circuit breaker failure threshold must be 1 or greater")
	// ErrInvalidCircuitBreakerResetTimeout says that CircuitBreakerResetTimeout
	// is negative.
	ErrInvalidCircuitBreakerResetTimeout = errors.New("maintnotifications: circuit breaker reset timeout must be 0 or greater")
	// ErrInvalidCircuitBreakerMaxRequests says that CircuitBreakerMaxRequests is
	// below 1.
	ErrInvalidCircuitBreakerMaxRequests = errors.New("maintnotifications: circuit breaker max requests must be 1 or greater")
)

// Errors of handoffs and notices.
var (
	// ErrInvalidNotification says that a maintenance notification does not have a
	// known form. It harms neither the connection nor a command.
	ErrInvalidNotification = errors.New("maintnotifications: invalid notification")
	// ErrMaxHandoffRetriesReached says that a handoff was given up. The old
	// connection serves on until the deadline and is then closed.
	ErrMaxHandoffRetriesReached = errors.New("maintnotifications: max handoff retries reached")
	// ErrHandoffQueueFull says that no more handoffs can wait. The connection is
	// retired instead.
	ErrHandoffQueueFull = errors.New("maintnotifications: handoff queue is full")
	// ErrCircuitBreakerOpen says that an endpoint failed too often lately and is
	// not tried now.
	ErrCircuitBreakerOpen = errors.New("maintnotifications: circuit breaker is open")
	// ErrShutdown says that the manager is closed.
	ErrShutdown = errors.New("maintnotifications: manager is closed")
	// ErrInvalidClient says that a client is missing or does not fit.
	ErrInvalidClient = errors.New("maintnotifications: invalid client")
	// ErrConnectionInvalidHandoffState says that a connection is in no state in
	// which it can be handed over.
	ErrConnectionInvalidHandoffState = errors.New("maintnotifications: connection is in no state for a handoff")
	// ErrConnectionMarkedForHandoff says that a connection is about to be handed
	// over and takes no new work.
	ErrConnectionMarkedForHandoff = errors.New("maintnotifications: connection marked for handoff")
	// ErrConnectionMarkedForHandoffWithState is ErrConnectionMarkedForHandoff for
	// a connection that carries session state.
	ErrConnectionMarkedForHandoffWithState = errors.New("maintnotifications: connection with session state marked for handoff")
)
