package maintnotifications

// Metrics are the functions a client calls for what happens in maintenance. A nil
// function is not called, and a nil *Metrics calls nothing. They are called
// without a lock, by several goroutines, and must not block.
//
// The names in OpenTelemetry, shared with other Redis clients:
//
//	redis.client.connection.relaxed_timeout   up-down counter, OnRelaxed
//	redis.client.connection.handoff           counter, OnHandoff
//	redis.client.maintenance.notifications    counter, OnNotification
//
// The kind is their attribute redis.client.connection.notification; an endpoint
// is server.address with server.port; an error goes into error.type.
type Metrics struct {
	// OnRelaxed is called with +1 for each connection whose timeouts become
	// relaxed, and with -1 when that ends, also by its closing: the sum is the
	// number of relaxed connections and returns to 0. kind is the wire name of the
	// notice that caused it.
	OnRelaxed func(delta int, kind string)

	// OnHandoff is called for each handoff that ended. kind is what caused it
	// (MOVING, or another source's name), endpoint where it went, err nil if it
	// succeeded.
	OnHandoff func(kind, endpoint string, err error)

	// OnNotification is called for each maintenance notification that was
	// processed, and for each that is malformed, with valid false. kind is the
	// wire name.
	OnNotification func(kind string, valid bool)
}

// Relaxed calls OnRelaxed if there is one.
func (m *Metrics) Relaxed(delta int, kind string) {
	if m != nil && m.OnRelaxed != nil {
		m.OnRelaxed(delta, kind)
	}
}

// Handoff calls OnHandoff if there is one.
func (m *Metrics) Handoff(kind, endpoint string, err error) {
	if m != nil && m.OnHandoff != nil {
		m.OnHandoff(kind, endpoint, err)
	}
}

// Notification calls OnNotification if there is one.
func (m *Metrics) Notification(kind string, valid bool) {
	if m != nil && m.OnNotification != nil {
		m.OnNotification(kind, valid)
	}
}
