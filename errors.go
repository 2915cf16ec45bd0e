package redis

import (
	"errors"
	"strings"

	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// Nil is the error of a command whose reply is null: a key that does not exist, a
// blocking command whose time ran out.
const Nil = resp.Nil

// TxFailedErr is the error of EXEC where a watched key has changed, so that nothing
// was executed.
const TxFailedErr = resp.Error("redis: transaction failed")

// Error is an error that the server has answered with, or one that stands for an
// answer (Nil, TxFailedErr).
type Error interface {
	error
	// RedisError does nothing; it marks the errors of the server.
	RedisError()
}

var _ Error = Nil

// CommandError is a command's failure that is no answer of the server. It says
// what happened, at which endpoint, to which command, and how far the command got.
// It is a net.Error, and errors.Is finds the cause: io.EOF, context.Canceled,
// ErrClosed and so on.
type CommandError = link.Error

// Delivery says how far a command got before it failed.
type Delivery = link.Delivery

const (
	// NotSent means that no byte of the command left this process.
	NotSent = link.NotSent
	// MaybeSent means that the command was sent and not answered: the server may
	// have executed it. The client sends it again by itself only if it is idempotent.
	MaybeSent = link.MaybeSent
	// Rejected means that the server answered with an error.
	Rejected = link.Rejected
)

// DeliveryOf says how far the command got that failed with err, which is not nil.
func DeliveryOf(err error) Delivery {
	if e, ok := errors.AsType[*CommandError](err); ok {
		return e.Delivery
	}
	return Rejected
}

var (
	// ErrClosed is the cause of the errors of a client that was closed.
	ErrClosed = link.ErrClosed
	// ErrPoolTimeout says that no link of the pool became free within PoolTimeout.
	ErrPoolTimeout = lane.ErrPoolTimeout
	// ErrPoolExhausted says that one more link would exceed MaxActiveConns.
	ErrPoolExhausted = lane.ErrPoolExhausted
	// ErrCrossSlot is the answer of a cluster's node to a command with keys of several
	// slots.
	ErrCrossSlot = resp.Error("CROSSSLOT Keys in request don't hash to the same slot")
	// ErrInvalidCommand is there because go-redis has it; nothing returns it.
	ErrInvalidCommand = errors.New("invalid command type")
	// ErrInvalidPool is there because go-redis has it; nothing returns it.
	ErrInvalidPool = errors.New("invalid pool type")
)

// HasErrorPrefix tells whether err is an error of the server that begins with
// prefix.
func HasErrorPrefix(err error, prefix string) bool {
	e, ok := errors.AsType[Error](err)
	return ok && strings.HasPrefix(e.Error(), prefix)
}

// IsLoadingError tells whether the server is loading its data.
func IsLoadingError(err error) bool { return HasErrorPrefix(err, "LOADING ") }

// IsReadOnlyError tells whether a write was refused by a replica.
func IsReadOnlyError(err error) bool { return HasErrorPrefix(err, "READONLY ") }

// IsClusterDownError tells whether the cluster is down.
func IsClusterDownError(err error) bool { return HasErrorPrefix(err, "CLUSTERDOWN ") }

// IsTryAgainError tells whether the keys of a command are being moved.
func IsTryAgainError(err error) bool { return HasErrorPrefix(err, "TRYAGAIN ") }

// IsMasterDownError tells whether a replica has lost its primary.
func IsMasterDownError(err error) bool { return HasErrorPrefix(err, "MASTERDOWN ") }

// IsMaxClientsError tells whether the server has too many connections.
func IsMaxClientsError(err error) bool {
	return HasErrorPrefix(err, "ERR max number of clients reached")
}

// IsNoReplicasError tells whether a write was refused for lack of replicas.
func IsNoReplicasError(err error) bool { return HasErrorPrefix(err, "NOREPLICAS ") }

// IsOOMError tells whether the server is out of memory.
func IsOOMError(err error) bool { return HasErrorPrefix(err, "OOM ") }

// IsExecAbortError tells whether EXEC was refused because of an earlier error.
func IsExecAbortError(err error) bool { return HasErrorPrefix(err, "EXECABORT ") }

// IsPermissionError tells whether the user lacks a permission.
func IsPermissionError(err error) bool { return HasErrorPrefix(err, "NOPERM ") }

// IsAuthError tells whether the credentials are missing or wrong.
func IsAuthError(err error) bool {
	return HasErrorPrefix(err, "NOAUTH ") || HasErrorPrefix(err, "WRONGPASS ") || HasErrorPrefix(err, "unauthenticated")
}

// IsMovedError tells whether the key's slot is at another node, and at which.
func IsMovedError(err error) (addr string, ok bool) { return redirect(err, "MOVED ") }

// IsAskError tells whether the key is to be asked for at another node, and at which.
func IsAskError(err error) (addr string, ok bool) { return redirect(err, "ASK ") }

func redirect(err error, prefix string) (string, bool) {
	e, ok := errors.AsType[Error](err)
	if !ok || !strings.HasPrefix(e.Error(), prefix) {
		return "", false
	}
	f := strings.Fields(e.Error())
	if len(f) != 3 {
		return "", false
	}
	return f[2], true
}
