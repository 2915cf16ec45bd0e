package link

import (
	"errors"
	"fmt"
	"time"
)

// Delivery says how far a command got before it failed.
type Delivery uint8

const (
	// NotSent means that no byte of the command left this process: sending it
	// again is always safe.
	NotSent Delivery = iota
	// MaybeSent means that the command was written, wholly or in part, and no
	// reply came: the server may have executed it. Only an idempotent command may
	// be sent again.
	MaybeSent
	// Rejected means that the server answered with an error.
	Rejected
)

func (d Delivery) String() string {
	switch d {
	case NotSent:
		return "not sent"
	case MaybeSent:
		return "maybe sent"
	case Rejected:
		return "rejected"
	}
	return fmt.Sprintf("Delivery(%d)", uint8(d))
}

// hint tells a reader of the error what to do about it.
func (d Delivery) hint() string {
	switch d {
	case NotSent:
		return "nothing was sent, so it is safe to repeat"
	case MaybeSent:
		return "sent without an answer: it may have been executed, check before you repeat it"
	case Rejected:
		return "the server refused it"
	}
	return d.String()
}

// Error is a command's failure that is no answer of the server: what happened,
// where, to which command, and how far it got.
type Error struct {
	Command  string   // the command's name; "" where a whole link failed
	Endpoint string   // the address of the server, as it was dialled
	Delivery Delivery // how far the command got
	Attempts int      // how often it was tried; 0 counts as 1
	Err      error    // the cause, never nil
}

func (e *Error) Error() string {
	s := "redis: "
	if e.Command != "" {
		s += e.Command + ": "
	}
	if e.Endpoint != "" {
		s += e.Endpoint + ": "
	}
	s += e.Err.Error() + " (" + e.Delivery.hint()
	if e.Attempts > 1 {
		s += fmt.Sprintf("; %d attempts", e.Attempts)
	}
	return s + ")"
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout tells whether the cause is a timeout, so that *Error is a net.Error.
func (e *Error) Timeout() bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](e.Err)
	return ok && t.Timeout()
}

// Temporary is there for net.Error; a link's failures are all of one connection
// and therefore temporary.
func (e *Error) Temporary() bool { return true }

var (
	// ErrClosed says that the link, or the client above it, was closed by its user.
	ErrClosed = errors.New("client is closed")
	// ErrDraining says that the link takes no new commands because another one
	// has replaced it.
	ErrDraining = errors.New("link is draining")
	// ErrUnexpectedReply says that the server sent a reply that nobody waits for,
	// so that replies can't be told apart any more.
	ErrUnexpectedReply = errors.New("reply without a command")
)

// TimeoutError says that the server did not take or answer a command in time.
type TimeoutError struct {
	Op    string        // "read" or "write"
	After time.Duration // how long the link had waited
}

func (e *TimeoutError) Error() string {
	if e.Op == "write" {
		return fmt.Sprintf("i/o timeout: the server took no bytes for %v", e.After.Round(time.Millisecond))
	}
	return fmt.Sprintf("i/o timeout: the server sent no bytes for %v", e.After.Round(time.Millisecond))
}

// Timeout is true.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary is true.
func (e *TimeoutError) Temporary() bool { return true }
