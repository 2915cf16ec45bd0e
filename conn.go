package redis

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/push"
)

// Conn is a connection of one's own, taken from the pool with the first command and
// given back by Close. What it does to the connection's state (SELECT, AUTH, CLIENT
// SETNAME and so on) concerns nobody else: such a connection is closed, not given
// back. Its methods are for one goroutine at a time.
//
// During a handoff a Conn stays on its connection; it is replaced when it is given
// back. Where the server cuts it, commands fail with a *CommandError; the next one
// gets a new connection, unless the state of the old one was changed.
type Conn struct {
	cmdable
	statefulCmdable
	hooks
	s *session
}

// Conn gives a connection of one's own.
func (c *Client) Conn() *Conn {
	return newConn(&session{core: c.core}, c.hooks.list())
}

// EphemeralConn is Conn, but that Close never gives the connection to others.
func (c *Client) EphemeralConn() *Conn {
	return newConn(&session{core: c.core, ephemeral: true}, c.hooks.list())
}

func newConn(s *session, inherited []Hook) *Conn {
	cn := &Conn{s: s}
	cn.hooks.init(chain{dial: s.core.opt.Dialer, process: s.process, pipeline: s.pipeline, tx: s.tx}, inherited)
	cn.cmdable = cn.Process
	cn.statefulCmdable = cn.Process
	return cn
}

// connOn gives a Conn on a link that belongs to somebody else.
func (c *core) connOn(l *link.Link) *Conn {
	return newConn(&session{core: c, l: l, borrowed: true}, c.dialHooks.list())
}

func (c *Conn) detach() { _ = c.Close() }

// Process sends a command on the connection.
func (c *Conn) Process(ctx context.Context, cmd Cmder) error {
	err := c.hooks.chain.Load().process(ctx, cmd)
	cmd.SetErr(err) // a hook may have changed it
	return cmd.Err()
}

// Do sends a command given by its arguments, the name first.
func (c *Conn) Do(ctx context.Context, args ...any) *Cmd {
	cmd := NewCmd(ctx, args...)
	_ = c.Process(ctx, cmd)
	return cmd
}

// Pipeline starts to collect commands for the connection.
func (c *Conn) Pipeline() Pipeliner { return c.pipe() }

func (c *Conn) pipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return c.hooks.chain.Load().pipeline(ctx, cmds) })
}

// Pipelined collects the commands of fn and sends them together.
func (c *Conn) Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.pipe().Pipelined(ctx, fn)
}

// TxPipeline starts to collect commands for a transaction.
func (c *Conn) TxPipeline() Pipeliner { return c.txPipe() }

func (c *Conn) txPipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return c.hooks.chain.Load().tx(ctx, cmds) })
}

// TxPipelined collects the commands of fn and sends them as one transaction.
func (c *Conn) TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.txPipe().Pipelined(ctx, fn)
}

// RegisterPushNotificationHandler is that of the client: a handler gets the pushes of
// all connections.
func (c *Conn) RegisterPushNotificationHandler(name string, handler push.NotificationHandler, protected bool) error {
	return c.s.core.opt.PushNotificationProcessor.RegisterHandler(name, handler, protected)
}

// String names the connection by its client's address.
func (c *Conn) String() string { return "Conn<" + c.s.core.opt.Addr + ">" }

// Close gives the connection back. A second Close returns ErrClosed.
func (c *Conn) Close() error { return c.s.close() }

//------------------------------------------------------------------------------

// session is a link held by one user.
type session struct {
	core     *core // immutable
	borrowed bool  // l belongs to somebody else; immutable
	// ephemeral: the link is closed, not given back; immutable.
	ephemeral bool

	mu       sync.Mutex // guards the fields below
	lease    *lane.Lease
	l        *link.Link
	dirty    bool // the link's state is not that of a fresh one
	watched  bool // WATCH was sent, and neither EXEC nor UNWATCH has ended it
	executed bool // EXEC was sent, and no WATCH since
	broken   bool // a command's outcome is unknown, or the link is lost
	wrote    bool // the link has writes that a WAIT would be about
	lost     bool // such a link was lost, and no WAIT has been told yet
	closed   bool
}

var (
	errSessionClosed = errors.New("the connection was given back")
	errSessionLost   = errors.New("the connection is lost, and its state with it; open a new one")
)

// take gives the session's link, and gets it with the first command.
func (s *session) take(ctx context.Context, b *baseCmd) (*link.Link, error) {
	if err := s.core.ended(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if err := s.refusal(b); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	if s.lost && s.core.isWait(b) {
		s.lost = false
		s.mu.Unlock()
		return nil, lostWait(nil)
	}
	if s.l != nil {
		defer s.mu.Unlock()
		return s.l, nil
	}
	s.mu.Unlock()
	lease, err := s.core.borrow(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.closed || s.l != nil { // closed, or another goroutine was faster
		l, err := s.l, s.refusal(b)
		s.mu.Unlock()
		s.core.giveBack(lease, true)
		return l, err
	}
	s.lease, s.l, s.broken = lease, lease.Link, false
	s.mu.Unlock()
	return lease.Link, nil
}

// refusal tells why a command can't be sent in this session; mu is held.
func (s *session) refusal(b *baseCmd) error {
	e := &link.Error{Endpoint: s.core.opt.Addr, Delivery: NotSent}
	switch {
	case s.core.invalid != nil:
		e.Err = s.core.invalid
	case s.closed:
		e.Err = errSessionClosed
	case s.broken && (s.dirty || s.watched):
		e.Err = errSessionLost
	case b != nil && b.lane == laneSession && b.flags()&flagPush != 0:
		e.Err = errNoPipeline
	case b != nil && b.lane == laneSession && s.borrowed && s.core.csc.mustKeep(b):
		e.Err = errTracked
	default:
		return nil
	}
	return e
}

// after notes what a command has done to the session.
func (s *session) after(b *baseCmd, err error) {
	if lease := s.note(b, err); lease != nil {
		s.core.giveBack(lease, false)
	}
}

// note is after; it gives the lease of a session that has lost its link.
func (s *session) note(b *baseCmd, err error) (lost *lane.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b != nil && b.lane == laneSession {
		switch b.Name() {
		case "watch":
			s.watched, s.executed = true, false
		case "unwatch":
			s.watched = s.watched && (err != nil || b.err != nil)
		default:
			s.dirty = true
		}
	}
	isWrite := b == nil || b.flags()&flagRead == 0
	if err == nil || s.borrowed {
		s.wrote = s.wrote || isWrite
		return nil
	}
	s.lost = s.lost || s.wrote || isWrite && DeliveryOf(err) == MaybeSent
	s.wrote = false
	s.broken = true
	lost = s.lease
	if lost != nil {
		s.lease, s.l = nil, nil
	}
	return lost
}

// isFresh tells whether another link would do for the session as well as the one it
// has: then a command may be sent again as outside of sessions.
func (s *session) isFresh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.borrowed && !s.dirty && !s.watched && !s.executed
}

// renew makes a session that was fresh before its last command failed fresh again.
func (s *session) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty, s.watched = false, false
}

func (s *session) close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.closed = true
	lease, reuse := s.lease, !s.dirty && !s.watched && !s.broken && !s.ephemeral
	s.lease, s.l = nil, nil
	s.mu.Unlock()
	if lease != nil {
		s.core.giveBack(lease, reuse)
	}
	return nil
}

// process sends one command in the session. It is sent again only in a fresh
// session: what the link's state meant to it is lost with the link.
func (s *session) process(ctx context.Context, cmd Cmder) error {
	b := cmd.base()
	if b.err != nil && b.off == 0 {
		return b.err
	}
	b.wire() // see core.process
	if l := s.core.opt.Limiter; l != nil {
		if err := l.Allow(); err != nil {
			cmd.SetErr(err)
			return err
		}
		defer func() { l.ReportResult(b.err) }()
	}
	if k := s.core.csc; k != nil {
		defer k.wrote(b)
	}
	var t tries
	for {
		isFresh := s.isFresh()
		l, err := s.take(ctx, b)
		if err == nil {
			err = s.send(ctx, l, cmd)
			s.after(b, err)
		}
		if err == nil {
			return b.err
		}
		was := t
		pause, again := s.core.judge(ctx, &t, b, err)
		if !isFresh || !again || !sleep(ctx, pause) {
			b.err = s.core.named(ctx, &was, b, err)
			return b.err
		}
		s.renew()
	}
}

// send sends one command on the session's link.
func (s *session) send(ctx context.Context, l *link.Link, cmd Cmder) error {
	if !s.core.isWait(cmd.base()) {
		return send(ctx, l, cmd)
	}
	done := s.core.holding(l, cmd.base())
	defer done()
	return send(ctx, l, cmd)
}

func (s *session) pipeline(ctx context.Context, cmds []Cmder) error {
	return s.unit(ctx, cmds, sendMany)
}

func (s *session) tx(ctx context.Context, cmds []Cmder) error {
	err := s.unit(ctx, cmds, sendBlock)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := errors.AsType[*link.Error](err); !ok || e.Delivery != NotSent {
		s.executed = true
	}
	// An EXEC that has executed something, or was refused as such, ends the watch.
	if errors.Is(err, TxFailedErr) || IsExecAbortError(err) ||
		slices.ContainsFunc(cmds, func(c Cmder) bool { return c.Err() == nil }) {
		s.watched = false
	}
	return err
}

func (s *session) unit(ctx context.Context, cmds []Cmder, send unit) error {
	if _, err := s.core.admitAll(cmds); err != nil {
		return err
	}
	var t tries
	n, err := s.sendUnit(ctx, &t, cmds, send)
	for _, cmd := range cmds[n:] {
		if err != nil {
			b := cmd.base()
			b.err = s.core.named(ctx, &t, b, err)
		}
	}
	return s.core.outcome(cmds)
}

// sendUnit sends commands together, and again where nothing of them was sent, in a
// fresh session.
func (s *session) sendUnit(ctx context.Context, t *tries, cmds []Cmder, send unit) (int, error) {
	for {
		isFresh := s.isFresh()
		wait := s.core.waitOf(cmds)
		l, err := s.take(ctx, wait)
		n := 0
		if err == nil {
			done := s.core.holding(l, wait)
			n, err = send(ctx, l, cmds)
			done()
			for _, cmd := range cmds {
				if b := cmd.base(); b.lane == laneSession {
					s.after(b, nil)
				}
			}
			s.after(nil, err)
		}
		if err == nil || !isFresh || n > 0 {
			return n, err
		}
		pause, again := s.core.judge(ctx, t, &txCmd, err)
		if !again || !sleep(ctx, pause) {
			return n, err
		}
		s.renew()
	}
}
