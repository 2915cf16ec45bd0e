// Package maintnotifications knows what a server's maintenance notifications
// mean and what a client has to do about them.
//
// Redis Enterprise and Redis Cloud announce maintenance by RESP3 push frames.
// The package holds the configuration ([Config]), the frames in typed form
// ([Notice]), the decisions ([Machine]), the circuit breaker of an endpoint
// ([CircuitBreaker]), hooks for applications ([NotificationHook]), and the state
// that can be watched while a client runs ([Manager]).
//
// It opens no connection. A Machine is a plain value: notices and times go in,
// actions come out, and the client carries these out. The numbers come from the
// maintenance specification of this project; where it says "measured", they were
// seen on Redis Enterprise.
package maintnotifications
