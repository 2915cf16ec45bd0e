package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// Pipeliner collects commands, to be sent together by Exec.
type Pipeliner interface {
	StatefulCmdable

	// Len is the number of commands collected.
	Len() int
	// Do collects a command given by its arguments, the name first.
	Do(ctx context.Context, args ...any) *Cmd
	// Process collects a command.
	Process(ctx context.Context, cmd Cmder) error
	// BatchProcess collects several.
	BatchProcess(ctx context.Context, cmds ...Cmder) error
	// Discard forgets what was collected.
	Discard()
	// Exec sends what was collected, and forgets it.
	Exec(ctx context.Context) ([]Cmder, error)
	// Cmds are the commands collected.
	Cmds() []Cmder
}

// Pipeline collects commands and sends them together: in one write, as one unit on
// one connection, and other callers' commands never come in between. It is not safe
// for concurrent use.
type Pipeline struct {
	cmdable
	statefulCmdable

	exec ProcessPipelineHook
	cmds []Cmder
}

var _ Pipeliner = (*Pipeline)(nil)

func newPipeline(exec ProcessPipelineHook) *Pipeline {
	p := &Pipeline{exec: exec}
	p.cmdable = p.Process
	p.statefulCmdable = p.Process
	return p
}

// Len is the number of commands collected.
func (p *Pipeline) Len() int { return len(p.cmds) }

// Cmds are the commands collected.
func (p *Pipeline) Cmds() []Cmder { return p.cmds }

// Do collects a command given by its arguments, the name first.
func (p *Pipeline) Do(ctx context.Context, args ...any) *Cmd {
	cmd := NewCmd(ctx, args...)
	_ = p.Process(ctx, cmd)
	return cmd
}

// Process collects a command.
func (p *Pipeline) Process(_ context.Context, cmd Cmder) error {
	p.cmds = append(p.cmds, cmd)
	return nil
}

// BatchProcess collects several commands.
func (p *Pipeline) BatchProcess(_ context.Context, cmds ...Cmder) error {
	p.cmds = append(p.cmds, cmds...)
	return nil
}

// Discard forgets what was collected.
func (p *Pipeline) Discard() { p.cmds = nil }

// Exec sends what was collected and waits for all replies. It gives the commands,
// and the error of the first one that failed. With nothing collected it does nothing.
func (p *Pipeline) Exec(ctx context.Context) ([]Cmder, error) {
	if len(p.cmds) == 0 {
		return nil, nil
	}
	cmds := p.cmds
	p.cmds = nil
	err := p.exec(ctx, cmds)
	if err != nil && firstErr(cmds) == nil {
		setErrs(cmds, err) // a hook has not let them be sent
	}
	if settleRaw(cmds) {
		err = firstErr(cmds)
	}
	return cmds, err
}

// Pipelined calls fn with the pipeline itself and then Exec.
func (p *Pipeline) Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	if err := fn(p); err != nil {
		return nil, err
	}
	return p.Exec(ctx)
}

// Pipeline gives the pipeline itself.
func (p *Pipeline) Pipeline() Pipeliner { return p }

// TxPipelined is Pipelined.
func (p *Pipeline) TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return p.Pipelined(ctx, fn)
}

// TxPipeline gives the pipeline itself.
func (p *Pipeline) TxPipeline() Pipeliner { return p }

// Pipeline starts to collect commands.
func (c *Client) Pipeline() Pipeliner { return c.pipe() }

func (c *Client) pipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return c.hooks.chain.Load().pipeline(ctx, cmds) })
}

// Pipelined collects the commands of fn and sends them together. An error of fn is
// returned, and nothing is sent.
func (c *Client) Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.pipe().Pipelined(ctx, fn)
}

// TxPipeline starts to collect commands for a transaction: Exec puts them between
// MULTI and EXEC and sends all at once.
func (c *Client) TxPipeline() Pipeliner { return c.txPipe() }

func (c *Client) txPipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return c.hooks.chain.Load().tx(ctx, cmds) })
}

// TxPipelined collects the commands of fn and sends them as one transaction.
func (c *Client) TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.txPipe().Pipelined(ctx, fn)
}

//------------------------------------------------------------------------------

// many takes the replies of a pipeline.
type many struct {
	cmds  []Cmder
	rd    resp.Reader
	chunk resp.Chunk
	wire  []byte
}

func (m *many) Reply(i int, frame []byte) {
	m.rd = resp.NewSharing(frame, &m.chunk)
	cmd := m.cmds[i]
	cmd.base().settle(cmd.readReply(&m.rd))
}

// Keep is Reply with a frame that the command may keep.
func (m *many) Keep(i int, frame []byte) {
	m.rd = resp.NewOwner(frame)
	cmd := m.cmds[i]
	cmd.base().settle(cmd.readReply(&m.rd))
}

var manys = sync.Pool{New: func() any { return new(many) }} //nolint:gochecknoglobals // pool

// keepWire is how large the buffer of a pipeline may be to be kept for the next.
const keepWire = 64 << 10

// sendMany sends commands as one unit and tells how many were answered.
func sendMany(ctx context.Context, d doer, cmds []Cmder) (int, error) {
	m := manys.Get().(*many)
	m.cmds = cmds
	q := link.Request{Replies: len(cmds), Sink: m}
	for _, cmd := range cmds {
		b := cmd.base()
		m.wire = append(m.wire, b.wire()...)
		if b.wait < 0 || q.Patience < 0 {
			q.Patience = -1
		} else {
			q.Patience += b.wait
		}
	}
	q.Wire = m.wire
	got, err := d.Do(ctx, q)
	m.cmds, m.rd, m.chunk = nil, resp.Reader{}, resp.Chunk{}
	if m.wire = m.wire[:0]; err == nil && cap(m.wire) <= keepWire {
		manys.Put(m)
	}
	return got.Replies, err
}

// processPipeline is what a client does with a pipeline after its hooks. What is not
// answered is judged command by command, and what may be is sent again, in order.
func (c *core) processPipeline(ctx context.Context, cmds []Cmder) error {
	if call := c.nodeCallOf(ctx, cmds...); call != nil {
		return call.attempt(ctx, cmds...)
	}
	need, err := c.admitAll(cmds)
	if err != nil {
		return err
	}
	var t tries
	if began := telemetryStart(); began != 0 {
		defer func() { c.recordPipeline(ctx, began, "PIPELINE", cmds, t.count()) }()
	}
	for rest := cmds; len(rest) > 0; {
		n, err := c.sendUnit(ctx, need, rest, sendMany)
		var pause time.Duration
		if need == laneSession {
			rest, pause = c.unsent(ctx, &t, rest, n, err)
		} else {
			rest, pause = c.unanswered(ctx, &t, rest, n, err)
		}
		if len(rest) > 0 && !sleep(ctx, pause) {
			for _, cmd := range rest {
				b := cmd.base()
				b.err = c.named(ctx, &t, b, b.err)
			}
			break
		}
	}
	return c.outcome(cmds)
}

// admitAll tells on which lane commands go together, or why they are not sent.
func (c *core) admitAll(cmds []Cmder) (laneKind, error) {
	need := laneShared
	err := c.unusable()
	for i, cmd := range cmds {
		b := cmd.base()
		if b.err != nil && b.off == 0 && err == nil {
			err = fmt.Errorf("redis: nothing of the pipeline was sent because of command %d: %w", i+1, b.err)
		}
		need = max(need, b.lane)
		if b.lane == laneSession && b.flags()&flagPush != 0 && err == nil {
			err = &CommandError{Command: b.Name(), Endpoint: c.opt.Addr, Delivery: NotSent, Err: errNoPipeline}
		}
	}
	if err == nil {
		for _, cmd := range cmds {
			cmd.base().wire() // see process
		}
		if c.opt.Limiter != nil {
			err = c.opt.Limiter.Allow()
		}
	}
	if err != nil {
		setErrs(cmds, err)
	}
	return need, err
}

var errNoPipeline = errors.New("this command turns the connection into a stream, so it can't be in a pipeline")

// setErrs gives an error to those commands that have none.
func setErrs(cmds []Cmder, err error) {
	for _, cmd := range cmds {
		if cmd.base().err == nil {
			cmd.SetErr(err)
		}
	}
}

// unit sends commands together and tells how many of them have an outcome.
type unit func(ctx context.Context, d doer, cmds []Cmder) (int, error)

// sendUnit sends commands together on the lane that they need.
func (c *core) sendUnit(ctx context.Context, need laneKind, cmds []Cmder, send unit) (int, error) {
	if err := c.ended(ctx); err != nil {
		return 0, err
	}
	if need == laneShared {
		return send(ctx, c.ep.Lane(), cmds)
	}
	lease, err := c.borrow(ctx)
	if err != nil {
		return 0, err
	}
	done := c.holding(lease.Link, c.waitOf(cmds))
	n, err := send(ctx, lease.Link, cmds)
	done()
	// A connection whose state was changed is not lent to anybody else.
	c.giveBack(lease, err == nil && need != laneSession)
	return n, err
}

// unanswered judges those commands of a pipeline that have no outcome yet, of which
// the first n were answered, and gives those to be sent again after a pause. A write
// that the server was not ready for is not sent again behind one that it has executed;
// reads behind one that is sent again are too, or they would not see it.
func (c *core) unanswered(ctx context.Context, t *tries, cmds []Cmder, n int, err error) (rest []Cmder, pause time.Duration) {
	if err == nil && n == len(cmds) && !slices.ContainsFunc(cmds, wasNotReady) {
		return nil, 0
	}
	was := *t
	late := false // a write is sent again
	lastWrite := -1
	for i, cmd := range cmds[:n] {
		if b := cmd.base(); b.err == nil && b.flags()&flagRead == 0 {
			lastWrite = i
		}
	}
	consider := func(i int, cmd Cmder, err error) {
		b := cmd.base()
		if c.isWait(b) && i > 0 {
			if was.apart || len(rest) < i {
				b.err = c.named(ctx, &was, b, lostWait(err))
			} else { // with all that it is about
				b.err = c.named(ctx, &was, b, err)
				rest = append(rest, cmd)
			}
			return
		}
		one := was // all commands of the pipeline count as one attempt
		p, again := c.judge(ctx, &one, b, err)
		b.err = c.named(ctx, &one, b, err) // until it is sent again
		if !again {
			return
		}
		*t = one
		pause = max(pause, p)
		rest = append(rest, cmd)
		late = late || b.flags()&flagRead == 0
	}
	for i, cmd := range cmds {
		b := cmd.base()
		switch {
		case i >= n:
			consider(i, cmd, err)
		case b.err != nil && notReady(b.err) && (i > lastWrite || b.flags()&flagRead != 0):
			consider(i, cmd, b.err)
		case late && c.isWait(b) && (was.apart || len(rest) < i):
			b.err = c.named(ctx, &was, b, lostWait(nil))
		case late && b.flags()&flagRead != 0:
			rest = append(rest, cmd)
		}
	}
	t.apart = was.apart || len(rest) < len(cmds)
	return rest, pause
}

// wasNotReady tells whether the server was not ready for a command.
func wasNotReady(cmd Cmder) bool { return cmd.base().err != nil && notReady(cmd.base().err) }

// unsent is unanswered for commands of which some change their connection's state:
// they are sent again only all together, where nothing of them was sent.
func (c *core) unsent(ctx context.Context, t *tries, cmds []Cmder, n int, err error) (rest []Cmder, pause time.Duration) {
	if err == nil {
		return nil, 0
	}
	pause, again := c.judge(ctx, t, &txCmd, err)
	for _, cmd := range cmds[n:] {
		b := cmd.base()
		b.err = c.named(ctx, t, b, err)
	}
	if !again {
		return nil, 0
	}
	return cmds, pause
}

// outcome is the error of the first command that failed.
func (c *core) outcome(cmds []Cmder) error {
	c.csc.wroteAll(cmds)
	first := firstErr(cmds)
	if c.opt.Limiter != nil {
		c.opt.Limiter.ReportResult(first)
	}
	return first
}

func firstErr(cmds []Cmder) error {
	for _, cmd := range cmds {
		if err := cmd.base().err; err != nil {
			return err
		}
	}
	return nil
}

//------------------------------------------------------------------------------

// block takes the replies of MULTI, commands, EXEC.
type block struct {
	many
	before int   // replies that come before, of commands that wire begins with
	err    error // of the whole: what EXEC or MULTI has answered
}

// The commands around a transaction, encoded.
const (
	multiWire = "*1\r\n$5\r\nmulti\r\n"
	execWire  = "*1\r\n$4\r\nexec\r\n"
)

func (b *block) Reply(i int, frame []byte) {
	r := resp.NewReader(frame)
	i -= b.before
	switch {
	case i < 0:
	case i == 0:
		if _, err := r.Bytes(); err != nil {
			// What follows was executed command by command, or refused as well.
			b.err = &CommandError{Command: "multi", Delivery: MaybeSent, Err: err}
		}
	case b.err != nil:
	case i <= len(b.cmds):
		if _, err := r.Bytes(); err != nil { // not queued
			b.cmds[i-1].base().settle(err)
		}
	default:
		b.exec(&r, frame)
	}
}

// exec gives each command its part of EXEC's reply.
func (b *block) exec(r *resp.Reader, frame []byte) {
	n, err := r.ArrayLen()
	switch {
	case errors.Is(err, resp.Nil):
		b.err = TxFailedErr
	case err != nil:
		b.err = err
	case n != len(b.cmds):
		b.err = fmt.Errorf("redis: exec: %d replies for %d commands", n, len(b.cmds))
	}
	if b.err != nil {
		return
	}
	for _, cmd := range b.cmds {
		// A command that reads less than its part must not shift those behind it.
		from := len(frame) - r.Len()
		if err := r.Skip(); err != nil {
			b.err = err
			return
		}
		b.rd = resp.NewReader(frame[from : len(frame)-r.Len()])
		cmd.base().settle(cmd.readReply(&b.rd))
	}
}

// Keep is Reply: a transaction's replies are taken apart.
func (b *block) Keep(i int, frame []byte) { b.Reply(i, frame) }

// sendBlock sends commands as a transaction.
func sendBlock(ctx context.Context, d doer, cmds []Cmder) (int, error) {
	return (&block{many: many{cmds: cmds}}).send(ctx, d)
}

// send sends the transaction.
func (b *block) send(ctx context.Context, d doer) (int, error) {
	cmds := b.cmds
	b.wire = append(b.wire, multiWire...)
	for _, cmd := range cmds {
		b.wire = append(b.wire, cmd.base().wire()...)
	}
	b.wire = append(b.wire, execWire...)
	_, err := d.Do(ctx, link.Request{Wire: b.wire, Replies: b.before + len(cmds) + 2, Sink: b})
	if err != nil {
		return 0, err
	}
	if b.err != nil {
		setErrs(cmds, b.err)
	}
	return len(cmds), nil
}

// processTx is what a client does with a transaction after its hooks. It goes whole
// to one connection, and is sent again only where nothing of it was sent.
func (c *core) processTx(ctx context.Context, cmds []Cmder) error {
	if call := c.nodeCallOf(ctx, cmds...); call != nil {
		return call.attempt(ctx, cmds...)
	}
	need, err := c.admitAll(cmds)
	if err != nil {
		return err
	}
	if need == laneExclusive {
		need = laneShared // within MULTI nothing blocks
	}
	var t tries
	if began := telemetryStart(); began != 0 {
		defer func() { c.recordPipeline(ctx, began, "MULTI", cmds, t.count()) }()
	}
	for {
		_, err := c.sendUnit(ctx, need, cmds, sendBlock)
		if err == nil {
			err = refusedBlock(cmds)
		}
		if err == nil {
			return c.outcome(cmds)
		}
		pause, again := c.judge(ctx, &t, &txCmd, err)
		if !again || !sleep(ctx, pause) {
			setErrs(cmds, c.named(ctx, &t, &txCmd, err))
			return c.outcome(cmds)
		}
	}
}

// refusedBlock tells why the server was not ready for a transaction; nil: it was.
// Nothing of it was executed then: EXEC is refused where a command of it was.
func refusedBlock(cmds []Cmder) error {
	var notYet error
	for _, cmd := range cmds {
		switch err := cmd.base().err; {
		case err == nil:
			return nil
		case notReady(err):
			notYet = err
		case !IsExecAbortError(err):
			return nil
		}
	}
	return notYet
}

// txCmd stands for a whole transaction where it is judged: it is never idempotent.
var txCmd = *newTxCmd() //nolint:gochecknoglobals // constant

func newTxCmd() *baseCmd {
	b := &baseCmd{}
	b.begin("multi/exec")
	return b
}
