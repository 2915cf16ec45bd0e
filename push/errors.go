package push

import (
	"errors"
	"strconv"
)

// ErrHandlerNil is returned for the registration of a nil handler.
var ErrHandlerNil = errors.New("push: " + ReasonHandlerNil)

// The reasons found in [HandlerError] and [ProcessorError].
const (
	ReasonHandlerNil                = "handler cannot be nil"
	ReasonHandlerExists             = "cannot overwrite existing handler"
	ReasonHandlerProtected          = "handler is protected"
	ReasonPushNotificationsDisabled = "push notifications are disabled"
)

// ProcessorType says which kind of processor an error comes from.
type ProcessorType string

// The kinds of processors.
const (
	ProcessorTypeProcessor     ProcessorType = "processor"
	ProcessorTypeVoidProcessor ProcessorType = "void_processor"
	ProcessorTypeCustom        ProcessorType = "custom"
)

// ProcessorOperation says what a processor was doing when it failed.
type ProcessorOperation string

// The operations of processors.
const (
	ProcessorOperationProcess    ProcessorOperation = "process"
	ProcessorOperationRegister   ProcessorOperation = "register"
	ProcessorOperationUnregister ProcessorOperation = "unregister"
	ProcessorOperationUnknown    ProcessorOperation = "unknown"
)

// A HandlerError is a refusal to register or remove a handler.
type HandlerError struct {
	// Operation is what was refused.
	Operation ProcessorOperation
	// PushNotificationName is the name of the push frame.
	PushNotificationName string
	// Reason is one of the Reason constants, or free text.
	Reason string
	// Err is the cause, nil if there is none.
	Err error
}

// NewHandlerError returns a [HandlerError] with the given fields.
func NewHandlerError(operation ProcessorOperation, pushNotificationName, reason string, err error) *HandlerError {
	return &HandlerError{Operation: operation, PushNotificationName: pushNotificationName, Reason: reason, Err: err}
}

// Error says which operation failed for which name, and why.
func (e *HandlerError) Error() string {
	return message("handler", e.Operation, e.PushNotificationName, e.Reason, e.Err)
}

// Unwrap returns the cause.
func (e *HandlerError) Unwrap() error { return e.Err }

// A ProcessorError is a failure of a processor.
type ProcessorError struct {
	// ProcessorType is the kind of the processor.
	ProcessorType ProcessorType
	// Operation is what failed.
	Operation ProcessorOperation
	// PushNotificationName is the name of the push frame, "" if unknown.
	PushNotificationName string
	// Reason is one of the Reason constants, or free text.
	Reason string
	// Err is the cause, nil if there is none.
	Err error
}

// NewProcessorError returns a [ProcessorError] with the given fields.
func NewProcessorError(processorType ProcessorType, operation ProcessorOperation, pushNotificationName, reason string, err error) *ProcessorError {
	return &ProcessorError{
		ProcessorType: processorType, Operation: operation,
		PushNotificationName: pushNotificationName, Reason: reason, Err: err,
	}
}

// Error says which operation of which processor failed for which name, and why.
func (e *ProcessorError) Error() string {
	return message(string(e.ProcessorType), e.Operation, e.PushNotificationName, e.Reason, e.Err)
}

// Unwrap returns the cause.
func (e *ProcessorError) Unwrap() error { return e.Err }

func message(who string, op ProcessorOperation, name, reason string, err error) string {
	s := "push: " + who + ": " + string(op)
	if name != "" {
		s += " " + strconv.Quote(name)
	}
	s += ": " + reason
	if err != nil && reasonOf(err) != reason {
		s += ": " + err.Error()
	}
	return s
}

// reasonOf returns the reason inside err, or its text.
func reasonOf(err error) string {
	if he, ok := errors.AsType[*HandlerError](err); ok {
		return he.Reason
	}
	if errors.Is(err, ErrHandlerNil) {
		return ReasonHandlerNil
	}
	return err.Error()
}

// ErrHandlerExists returns the error for a second handler of a name.
func ErrHandlerExists(pushNotificationName string) error {
	return NewHandlerError(ProcessorOperationRegister, pushNotificationName, ReasonHandlerExists, nil)
}

// ErrProtectedHandler returns the error for the removal of a protected handler.
func ErrProtectedHandler(pushNotificationName string) error {
	return NewHandlerError(ProcessorOperationUnregister, pushNotificationName, ReasonHandlerProtected, nil)
}

// ErrVoidProcessorRegister returns the error for a registration where push
// frames cannot arrive.
func ErrVoidProcessorRegister(pushNotificationName string) error {
	return NewProcessorError(ProcessorTypeVoidProcessor, ProcessorOperationRegister,
		pushNotificationName, ReasonPushNotificationsDisabled, nil)
}

// ErrVoidProcessorUnregister returns the error for a removal where push frames
// cannot arrive.
func ErrVoidProcessorUnregister(pushNotificationName string) error {
	return NewProcessorError(ProcessorTypeVoidProcessor, ProcessorOperationUnregister,
		pushNotificationName, ReasonPushNotificationsDisabled, nil)
}

// IsHandlerNilError says whether err is about a nil handler.
func IsHandlerNilError(err error) bool { return errors.Is(err, ErrHandlerNil) }

// IsHandlerExistsError says whether err is about a name that has a handler.
func IsHandlerExistsError(err error) bool {
	he, ok := errors.AsType[*HandlerError](err)
	return ok && he.Reason == ReasonHandlerExists
}

// IsProtectedHandlerError says whether err is about a protected handler.
func IsProtectedHandlerError(err error) bool {
	he, ok := errors.AsType[*HandlerError](err)
	return ok && he.Reason == ReasonHandlerProtected
}

// IsVoidProcessorError says whether err comes from a [VoidProcessor].
func IsVoidProcessorError(err error) bool {
	pe, ok := errors.AsType[*ProcessorError](err)
	return ok && pe.ProcessorType == ProcessorTypeVoidProcessor && pe.Reason == ReasonPushNotificationsDisabled
}
