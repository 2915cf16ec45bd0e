// Package redis is a client for Redis and compatible servers that goes on through
// maintenance: where the server announces that it moves, migrates or fails over,
// every connection is handed over to the new place before the old one closes, and
// timeouts are relaxed meanwhile, so that callers notice nothing.
//
// Its names and signatures are those of go-redis v9. Connections are shared:
// commands of all goroutines are pipelined on them by themselves, and only those
// that need a connection of their own (blocking commands, transactions, sessions)
// get one from a pool.
//
// A Client is made by NewClient and safe for concurrent use. A command that fails
// for another reason than an answer of the server returns a *CommandError, which
// says how far the command got: see Delivery.
package redis
