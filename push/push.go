// Package push lets an application see the RESP3 push frames a server sends
// outside of replies.
//
// A push frame arrives as a slice: the name first, then its arguments in their
// generic decoded form (string, []byte, int64, float64, nil, []any, error). A
// [Processor] hands it to the handler registered for the name and drops frames
// nobody asked for.
//
// The client registers its own handlers for the maintenance notifications as
// protected ones, so that an application can add handlers but cannot switch
// these off by accident.
package push

import "context"

// A NotificationHandler is told about push frames of the names it is
// registered for.
//
// It is called by the goroutine that reads the connection, without any lock
// held: no reply is read on that connection before it returns. It may be
// called by several connections at once.
type NotificationHandler interface {
	// HandlePushNotification handles one frame; notification[0] is its name. The
	// slice belongs to the handler only until it returns. An error is reported
	// to whoever delivered the frame; it harms neither the connection nor a
	// command.
	HandlePushNotification(ctx context.Context, handlerCtx NotificationHandlerContext, notification []any) error
}

// NotificationHandlerContext tells a handler where a frame came from. Fields
// that do not apply are nil. The values are for identification and logging; a
// handler must not use Conn for commands.
type NotificationHandlerContext struct {
	// Client is the client the connection belongs to.
	Client any
	// ConnPool is the pool or lane that owns the connection.
	ConnPool any
	// PubSub is the subscription that owns the connection, if any.
	PubSub any
	// Conn is the connection the frame was read from: its id, a uint64, which is
	// also the one in MovingOperationKey and in logs.
	Conn any
	// IsBlocking says that the frame was read while waiting for the reply of a
	// blocking command.
	IsBlocking bool
}

// A NotificationProcessor keeps handlers by the name of the push frame.
// [Processor] and [VoidProcessor] implement it.
type NotificationProcessor interface {
	// GetHandler returns the handler registered for name, nil if there is none.
	GetHandler(name string) NotificationHandler
	// RegisterHandler registers handler for name. A name has one handler; see
	// [Registry.RegisterHandler].
	RegisterHandler(name string, handler NotificationHandler, protected bool) error
	// UnregisterHandler removes the handler of name; see
	// [Registry.UnregisterHandler].
	UnregisterHandler(name string) error
}
