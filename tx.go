package redis

import (
	"context"
	"errors"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// Tx is a transaction with optimistic locking: a connection of one's own on which
// keys are watched. It is given to the function of Client.Watch and lives as long
// as that runs.
//
// A Tx stays on its connection during a handoff. Where the server cuts it before
// EXEC was sent, TxFailedErr is returned, as if a watched key had changed: nothing
// was executed, and the usual loop around Watch runs it again on the new connection. So
// it is where the server refuses it because it is a primary no more.
type Tx struct {
	cmdable
	statefulCmdable
	hooks
	s *session
}

// Watch watches keys, calls fn, and ends the watch. Commands of the Tx itself are
// executed at once; those collected by Tx.TxPipelined are executed only if no
// watched key has changed meanwhile, else TxFailedErr is returned.
func (c *Client) Watch(ctx context.Context, fn func(*Tx) error, keys ...string) error {
	tx := &Tx{s: &session{core: c.core}}
	tx.hooks.init(chain{dial: c.opt.Dialer, process: tx.process, pipeline: tx.pipeline, tx: tx.exec}, c.hooks.list())
	tx.cmdable = tx.Process
	tx.statefulCmdable = tx.Process
	defer func() { _ = tx.Close(context.WithoutCancel(ctx)) }()
	if len(keys) > 0 {
		if err := tx.Watch(ctx, keys...).Err(); err != nil {
			return err
		}
	}
	return fn(tx)
}

// Process sends a command on the transaction's connection, outside MULTI.
func (t *Tx) Process(ctx context.Context, cmd Cmder) error {
	err := t.hooks.chain.Load().process(ctx, cmd)
	cmd.SetErr(err) // a hook may have changed it
	return cmd.Err()
}

// Do sends a command given by its arguments, the name first.
func (t *Tx) Do(ctx context.Context, args ...any) *Cmd {
	cmd := NewCmd(ctx, args...)
	_ = t.Process(ctx, cmd)
	return cmd
}

// Watch watches more keys. Since Redis 2.2, O(1) for each.
func (t *Tx) Watch(ctx context.Context, keys ...string) *StatusCmd {
	return t.watchCmd(ctx, "watch", keys...)
}

// Unwatch forgets all watched keys. Redis has no way to forget some of them only: keys
// are there because go-redis has them, and a server refuses them. Since Redis 2.2, O(1).
func (t *Tx) Unwatch(ctx context.Context, keys ...string) *StatusCmd {
	return t.watchCmd(ctx, "unwatch", keys...)
}

func (t *Tx) watchCmd(ctx context.Context, name string, keys ...string) *StatusCmd {
	cmd := &StatusCmd{}
	cmd.begin(name)
	cmd.strs(keys...)
	cmd.lane = laneSession
	_ = t.Process(ctx, cmd)
	return cmd
}

// Pipeline starts to collect commands to be sent together, outside MULTI.
func (t *Tx) Pipeline() Pipeliner { return t.pipe() }

func (t *Tx) pipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return t.hooks.chain.Load().pipeline(ctx, cmds) })
}

// Pipelined collects the commands of fn and sends them together, outside MULTI.
func (t *Tx) Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return t.pipe().Pipelined(ctx, fn)
}

// TxPipeline starts to collect the commands to be executed if no watched key has
// changed.
func (t *Tx) TxPipeline() Pipeliner { return t.txPipe() }

func (t *Tx) txPipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return t.hooks.chain.Load().tx(ctx, cmds) })
}

// TxPipelined collects the commands of fn and executes them if no watched key has
// changed; else the error is TxFailedErr.
func (t *Tx) TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return t.txPipe().Pipelined(ctx, fn)
}

// String names the transaction by its client's address.
func (t *Tx) String() string { return "Tx<" + t.s.core.opt.Addr + ">" }

// Close ends the watch and gives the connection back.
func (t *Tx) Close(ctx context.Context) error {
	t.s.mu.Lock()
	isWatching := t.s.l != nil && t.s.watched && !t.s.closed
	t.s.mu.Unlock()
	if isWatching {
		_ = t.Unwatch(ctx).Err()
	}
	return t.s.close()
}

// process sends one command; a link lost before EXEC means that the transaction has
// failed, but for a command that may have changed something.
func (t *Tx) process(ctx context.Context, cmd Cmder) error {
	isOpen := t.isOpen()
	err := t.s.process(ctx, cmd)
	if isOpen && cutBeforeExec(cmd) {
		cmd.SetErr(TxFailedErr)
		return TxFailedErr
	}
	if isOpen && IsReadOnlyError(err) && t.isElsewhere(ctx) {
		cmd.SetErr(TxFailedErr)
		return TxFailedErr
	}
	return err
}

func (t *Tx) pipeline(ctx context.Context, cmds []Cmder) error {
	isOpen := t.isOpen()
	err := t.s.pipeline(ctx, cmds)
	if !isOpen {
		return err
	}
	for _, cmd := range cmds {
		if cutBeforeExec(cmd) {
			cmd.SetErr(TxFailedErr)
		}
	}
	// What may have changed something is what the caller has to know.
	for _, cmd := range cmds {
		if e, ok := errors.AsType[*link.Error](cmd.Err()); ok && e.Delivery == MaybeSent {
			return cmd.Err()
		}
	}
	return firstErr(cmds)
}

// exec sends MULTI, the commands and EXEC as one unit. Only where it is certain
// that EXEC was not sent is a cut the same as a failed transaction.
func (t *Tx) exec(ctx context.Context, cmds []Cmder) error {
	isOpen := t.isOpen()
	err := t.s.tx(ctx, cmds)
	if e, ok := errors.AsType[*link.Error](err); ok && isOpen && e.Delivery == NotSent && isCut(e) {
		for _, cmd := range cmds {
			cmd.SetErr(TxFailedErr)
		}
		return TxFailedErr
	}
	if err != nil && isOpen && IsReadOnlyError(refusedBlock(cmds)) && t.isElsewhere(ctx) {
		setErrs(cmds, TxFailedErr)
		return TxFailedErr
	}
	return err
}

// isElsewhere waits, after the server has refused a write, until the transaction's
// connection is being left for that of another primary. It is false where the server never
// was one, or no other is found in PoolTimeout.
func (t *Tx) isElsewhere(ctx context.Context) bool {
	t.s.mu.Lock()
	l := t.s.l
	t.s.mu.Unlock()
	c := t.s.core
	if l == nil || c.opt.MaxRetries < 0 || !c.ep.WasPrimary() {
		return false
	}
	var held tries
	held.began = time.Now()
	for !c.ep.Leaves(l) {
		c.ep.Demoted(l)
		pause, again := held.hold(c.opt.PoolTimeout)
		if !again || !sleep(ctx, pause) {
			return false
		}
	}
	return true
}

// isOpen tells whether the transaction has a connection, or has had one, and has
// not sent EXEC: only then there is a transaction to lose.
func (t *Tx) isOpen() bool {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return (t.s.l != nil || t.s.broken) && !t.s.executed
}

// cutBeforeExec tells whether a command outside MULTI has failed because its
// connection was lost, and has certainly changed nothing.
func cutBeforeExec(cmd Cmder) bool {
	e, ok := errors.AsType[*link.Error](cmd.Err())
	return ok && isCut(e) && (e.Delivery == NotSent || cmd.base().isIdempotent())
}

// isCut tells whether it was the connection that failed, not the caller's context,
// its options, or the client's end.
func isCut(e *link.Error) bool {
	return !errors.Is(e, context.Canceled) && !errors.Is(e, context.DeadlineExceeded) && !errors.Is(e, ErrClosed) &&
		!errors.Is(e, errSessionClosed) && !errors.Is(e, errNoPipeline)
}
