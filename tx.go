package redis

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// Tx is a transaction with optimistic locking: a connection of one's own on which
// keys are watched. It is given to the function of Client.Watch and lives as long
// as that runs.
//
// A Tx stays on its connection during a handoff. Where the server cuts it before
// EXEC was sent, TxFailedErr is returned, as if a watched key had changed: nothing
// was executed, and the usual loop around Watch runs it again on the new connection. So
// it is where the server refuses it because it is a primary no more.
//
// In a cluster TxFailedErr also stands for keys that have moved (MOVED, ASK), and for an
// EXEC that was refused because the cluster was not ready. Commands before EXEC that were
// refused for that (CLUSTERDOWN, TRYAGAIN, LOADING, MASTERDOWN) are sent again on the same
// connection, where the watch still holds, until PoolTimeout has passed.
type Tx struct {
	cmdable
	statefulCmdable
	hooks
	s     *session
	place *txPlace // where in a cluster its keys are; nil: in none, or nothing is watched yet
}

// Watch watches keys, calls fn, and ends the watch. Commands of the Tx itself are
// executed at once; those collected by Tx.TxPipelined are executed only if no
// watched key has changed meanwhile, else TxFailedErr is returned.
func (c *Client) Watch(ctx context.Context, fn func(*Tx) error, keys ...string) error {
	return c.watchAt(ctx, nil, fn, keys...)
}

// watchAt is Watch for keys that are at a place in a cluster; nil: in none.
func (c *Client) watchAt(ctx context.Context, place *txPlace, fn func(*Tx) error, keys ...string) error {
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
	tx.place = place // from here on: whoever has begun it judges what WATCH was answered
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
	if t.place != nil && isOpen {
		t.goOn(ctx, []Cmder{cmd})
		err = cmd.Err()
	}
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
	if t.place != nil {
		t.goOn(ctx, cmds)
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
	if err != nil && isOpen && t.place != nil {
		if refusal := refusedTx(cmds); refusal != nil && t.place.ends(refusal) {
			for _, cmd := range cmds {
				cmd.SetErr(TxFailedErr)
			}
			return TxFailedErr
		}
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

//------------------------------------------------------------------------------

// txPlace is where a transaction of a cluster client is: the node that had its keys' slot
// when it began.
type txPlace struct {
	c    *clusterCore
	n    *clusterNode
	slot uint16
}

// goOn sends commands again that a cluster's node has refused although they may be for it
// later, over the same connection, as long as the keys are there. Where they are not any
// more, the commands fail as if a watched key had changed.
func (t *Tx) goOn(ctx context.Context, cmds []Cmder) {
	var held tries
	for {
		rest, refusal := refusedOf(cmds)
		if refusal == nil {
			return
		}
		again, isLost := t.place.judge(ctx, &held, refusal)
		switch {
		case isLost:
			for _, cmd := range rest {
				if cmd.Err() != nil {
					cmd.SetErr(TxFailedErr)
				}
			}
			return
		case !again:
			return
		case len(rest) == 1:
			_ = t.s.process(ctx, rest[0])
		default:
			_ = t.s.pipeline(ctx, rest)
		}
	}
}

// refusedOf gives those commands that a server has refused to execute here or now, and
// what it said to the first of them. Reads behind a write among them go with it, or they
// would not see it; a write is not sent again behind one that was executed.
func refusedOf(cmds []Cmder) (rest []Cmder, refusal error) {
	lastWrite := -1
	for i, cmd := range cmds {
		if b := cmd.base(); b.err == nil && b.flags()&flagRead == 0 {
			lastWrite = i
		}
	}
	isLate := false // a write is sent again
	for i, cmd := range cmds {
		b := cmd.base()
		isRead := b.flags()&flagRead != 0
		switch {
		case b.err == nil && isLate && isRead:
			rest = append(rest, cmd)
		case b.err == nil || !isAnswer(b.err) || !isElsewhere(b.err):
		case isRead || i > lastWrite:
			rest = append(rest, cmd)
			refusal = cmp.Or(refusal, b.err)
			isLate = isLate || !isRead
		}
	}
	return rest, refusal
}

// isAnswer tells whether an error is what a server has answered.
func isAnswer(err error) bool {
	_, ok := err.(resp.Error) //nolint:errorlint // the reader and settle give it unwrapped
	return ok
}

// ends tells whether a refusal of EXEC, or of what was before it, means that the
// transaction has failed as if a watched key had changed: nothing of it was executed, and
// the next one meets another node, or waits for the cluster.
func (p *txPlace) ends(refusal error) bool {
	if r, ok := p.c.redirect(refusal, p.n); ok {
		return p.isGone(r)
	}
	if p.c.opt.MaxRedirects < 0 || IsReadOnlyError(refusal) {
		return false
	}
	p.c.refreshSoon()
	return true
}

// isGone takes in a redirect, and tells whether it is about the watched keys. A key of
// another slot was never here, and never will be.
func (p *txPlace) isGone(r cluster.Redirect) bool {
	if r.Slot != p.slot {
		return false
	}
	if !r.Ask {
		p.c.moved(r.Slot, r.Addr)
	}
	return true
}

// judge waits, after a refusal, until the command is to be sent again over the same
// connection, or the keys are known to be elsewhere; neither: the refusal is the answer.
func (p *txPlace) judge(ctx context.Context, held *tries, refusal error) (again, isLost bool) {
	if r, ok := p.c.redirect(refusal, p.n); ok {
		return false, p.isGone(r)
	}
	if p.c.opt.MaxRedirects < 0 || IsReadOnlyError(refusal) || IsMaxClientsError(refusal) {
		return false, false
	}
	if held.began.IsZero() {
		held.began = time.Now()
	}
	if !IsTryAgainError(refusal) {
		p.c.refreshSoon()
	}
	pause, again := held.hold(p.c.base.PoolTimeout)
	if again = again && p.c.rest(ctx, pause); !again {
		return false, false
	}
	at := p.c.state.Load().at(p.slot) // nil: no node is known to have the slot, for now
	return true, at != nil && at != p.n
}
