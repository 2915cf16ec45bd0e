package resp

import (
	"errors"
	"strconv"
)

// Error is an error reply of the server, in the server's words. It is a string
// type so that constants are possible.
type Error string

// Error returns the server's text.
func (e Error) Error() string { return string(e) }

// RedisError marks the type as a reply of the server, to tell it from errors of
// the network and of this client.
func (Error) RedisError() {}

// Nil is what a null reply is read as.
const Nil = Error("redis: nil")

var (
	// ErrProtocol is what every [ProtocolError] and [LimitError] is.
	ErrProtocol = errors.New("resp: protocol violation")

	// ErrLimit is what every [LimitError] is.
	ErrLimit = errors.New("resp: limit exceeded")

	// ErrStreamed is what a [ProtocolError] about a streamed string or
	// aggregate is.
	ErrStreamed = errors.New("resp: streamed types are not supported")
)

// A ProtocolError says that bytes are not RESP. The stream can't be read on.
type ProtocolError struct {
	Offset int    // of the offending byte, from the start of the frame
	Found  string // what is there, shortened and escaped
	Want   string // what would be legal there, in words

	streamed bool // a streamed type, legal but refused
}

// Error describes what was found, what was expected, and where.
func (e *ProtocolError) Error() string {
	s := "resp: found " + e.Found + " at byte " + strconv.Itoa(e.Offset) + " of the reply, want " + e.Want
	if e.streamed {
		s += " (streamed types are not supported)"
	}
	return s
}

// Is reports whether target is [ErrProtocol], or [ErrStreamed] for a streamed
// type.
func (e *ProtocolError) Is(target error) bool {
	return target == ErrProtocol || e.streamed && target == ErrStreamed
}

// Limit names one of the [Limits].
type Limit string

// The limits, as a [LimitError] names them.
const (
	LimitDepth Limit = "nesting depth"
	LimitBulk  Limit = "bulk length"
	LimitElems Limit = "aggregate elements"
	LimitLine  Limit = "line length"
	LimitFrame Limit = "frame length"
)

// A LimitError says that a frame is larger than [Limits] allow. The rest of the
// frame is still on its way, so the stream can't be read on.
type LimitError struct {
	Offset    int   // of the header that asked for too much
	Limit     Limit // which limit
	Announced int64 // what the frame announced, or the size it had reached
	Allowed   int64 // the limit's value
}

// Error names the limit, what was announced and what is allowed.
func (e *LimitError) Error() string {
	return "resp: " + string(e.Limit) + " " + strconv.FormatInt(e.Announced, 10) + " at byte " +
		strconv.Itoa(e.Offset) + " of the reply exceeds the limit of " + strconv.FormatInt(e.Allowed, 10)
}

// Is reports whether target is [ErrLimit] or [ErrProtocol].
func (e *LimitError) Is(target error) bool {
	return target == ErrLimit || target == ErrProtocol
}

// A TypeError says that a reply is sound but is not of the type asked for. The
// value has been skipped, so the reader is in step.
type TypeError struct {
	Want   string // what was asked for
	Got    Kind   // the kind of the value
	Sample string // the beginning of the value, escaped
}

// Error says what was wanted and what came.
func (e *TypeError) Error() string {
	return "resp: can't read " + e.Got.String() + " " + e.Sample + " as " + e.Want
}

// An ArgError says that an argument of a command can't be encoded.
type ArgError struct {
	Type string // the Go type of the argument
	Err  error  // what its MarshalBinary returned; nil if there is none
}

// Error names the type.
func (e *ArgError) Error() string {
	if e.Err != nil {
		return "redis: can't marshal " + e.Type + ": " + e.Err.Error()
	}
	return "redis: can't marshal " + e.Type + " (implement encoding.BinaryMarshaler)"
}

// Unwrap returns the error of MarshalBinary, if that was the cause.
func (e *ArgError) Unwrap() error { return e.Err }

// maxSample is how many bytes of a reply an error shows.
const maxSample = 32

// sample returns the beginning of b, quoted.
func sample(b []byte) string {
	if len(b) == 0 {
		return "the end"
	}
	if len(b) > maxSample {
		return strconv.QuoteToASCII(string(b[:maxSample])) + "..."
	}
	return strconv.QuoteToASCII(string(b))
}
