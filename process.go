package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/endpoint"
	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// single takes the reply of one command. Link.Do promises that no reply is taken
// after it has returned, so singles are pooled.
type single struct {
	cmd Cmder
	rd  resp.Reader
}

func (s *single) Reply(_ int, frame []byte) {
	s.rd = resp.NewReader(frame)
	s.cmd.base().settle(s.cmd.readReply(&s.rd))
}

// Keep is Reply with a frame that the command may keep.
func (s *single) Keep(_ int, frame []byte) {
	s.rd = resp.NewOwner(frame)
	s.cmd.base().settle(s.cmd.readReply(&s.rd))
}

var singles = sync.Pool{New: func() any { return new(single) }} //nolint:gochecknoglobals // pool

// doer sends a request: a lane or a link.
type doer interface {
	Do(ctx context.Context, q link.Request) (link.Done, error)
}

// send sends one command through d. The error is an *CommandError; an error reply
// of the server is in the command.
func send(ctx context.Context, d doer, cmd Cmder) error {
	b := cmd.base()
	return sendWire(ctx, d, cmd, b.wire(), b.wait)
}

// sendWire is send with what to send, and how long the server may keep silent.
func sendWire(ctx context.Context, d doer, cmd Cmder, wire []byte, patience time.Duration) error {
	s := singles.Get().(*single)
	s.cmd = cmd
	_, err := d.Do(ctx, link.Request{Wire: wire, Replies: 1, Sink: s, Patience: patience})
	*s = single{}
	singles.Put(s)
	return err
}

// process is what a client does with one command after its hooks.
func (c *core) process(ctx context.Context, cmd Cmder) error {
	if call := c.nodeCallOf(ctx, cmd); call != nil {
		return call.attempt(ctx, cmd)
	}
	b := cmd.base()
	if b.err != nil && b.off == 0 {
		return b.err // an argument that can't be encoded
	}
	b.wire() // an error from now on is no such one, whatever becomes of the command
	if c.csc != nil && c.csc.answer(ctx, cmd) {
		return b.err
	}
	if err := c.admit(b); err != nil {
		cmd.SetErr(err)
		return err
	}
	var t tries
	began := telemetryStart()
	var err error
	if c.csc != nil {
		err = c.csc.attempts(ctx, cmd, &t)
	} else {
		err = c.attempts(ctx, cmd, &t)
	}
	if began != 0 {
		c.recordCommand(ctx, began, cmd, t.count(), err)
	}
	if c.opt.Limiter != nil {
		c.opt.Limiter.ReportResult(err)
	}
	return err
}

// admit tells why a command must not be sent at all.
func (c *core) admit(b *baseCmd) error {
	if err := c.unusable(); err != nil {
		return err
	}
	if b.lane == laneSession {
		return &CommandError{Command: b.Name(), Endpoint: c.opt.Addr, Delivery: NotSent, Err: errSession}
	}
	if c.opt.Limiter != nil {
		return c.opt.Limiter.Allow()
	}
	return nil
}

// attempts sends a command until it has an outcome that counts.
func (c *core) attempts(ctx context.Context, cmd Cmder, t *tries) error {
	var began time.Time
	if cmd.base().lane == laneExclusive {
		began = time.Now()
	}
	return c.goOn(ctx, cmd, t, began, nil, c.sendFrom(ctx, cmd, began))
}

// attemptsBy is attempts for a command whose reply goes to f as well.
func (c *core) attemptsBy(ctx context.Context, cmd Cmder, t *tries, f *fill) error {
	return c.goOn(ctx, cmd, t, time.Time{}, f, c.sendFill(ctx, f))
}

// goOn is attempts after the first of them, which ended with err; nil: the command has
// its answer. f is nil unless the reply is cached.
func (c *core) goOn(ctx context.Context, cmd Cmder, t *tries, began time.Time, f *fill, err error) error {
	b := cmd.base()
	for {
		if err == nil && (b.err == nil || !notReady(b.err)) {
			return b.err
		}
		if err == nil {
			err = b.err
		}
		was := *t
		pause, again := c.judge(ctx, t, b, err)
		if again {
			recordRetried(ctx, c, err, t.count())
		}
		if !again || !sleep(ctx, pause) {
			b.err = c.named(ctx, &was, b, err)
			return b.err
		}
		if f != nil {
			err = c.sendFill(ctx, f)
		} else {
			err = c.sendFrom(ctx, cmd, began)
		}
	}
}

// ended tells that a context has ended before anything was sent, or that there is nothing
// to send by, as the options are invalid; nil: go on.
func (c *core) ended(ctx context.Context) error {
	switch {
	case c.ep == nil:
		return &link.Error{Endpoint: c.opt.Addr, Delivery: NotSent, Err: c.invalid}
	case ctx.Err() == nil:
		return nil
	}
	return &link.Error{Endpoint: c.opt.Addr, Delivery: NotSent, Err: context.Cause(ctx)}
}

// sendFill sends a command whose reply is cached, on the shared lane.
func (c *core) sendFill(ctx context.Context, f *fill) error {
	if err := c.ended(ctx); err != nil {
		return err
	}
	_, err := c.ep.Lane().Do(ctx, link.Request{Wire: f.cmd.base().wire(), Replies: 1, Sink: f, Carrier: f})
	return err
}

// sendOnce sends a command on the lane that it needs.
func (c *core) sendOnce(ctx context.Context, cmd Cmder) error {
	return c.sendFrom(ctx, cmd, time.Time{})
}

// sendFrom is sendOnce for a caller who began to wait at began; zero: now.
func (c *core) sendFrom(ctx context.Context, cmd Cmder, began time.Time) error {
	if err := c.ended(ctx); err != nil {
		return err
	}
	if cmd.base().lane == laneShared {
		return send(ctx, c.ep.Lane(), cmd)
	}
	if began.IsZero() {
		began = time.Now()
	}
	return c.sendBlocking(ctx, cmd, began)
}

// tries is what judge remembers of a command.
type tries struct {
	began time.Time // when it first failed
	sent  int       // how often it was sent again although it had been sent
	idle  int       // how often it was tried again because it could not be sent
	apart bool      // commands of its pipeline were executed over another connection
}

// count is how often a command has been tried.
func (t *tries) count() int { return 1 + t.sent + t.idle }

// named completes an error with the command, the endpoint and the number of attempts,
// and with the end of the context, where that is why there were no more.
func (c *core) named(ctx context.Context, t *tries, b *baseCmd, err error) error {
	return namedAt(ctx, b, err, c.opt.Addr, 1+t.sent+t.idle)
}

// namedAt is named with the endpoint that counts where the error names none, and the
// number of attempts.
func namedAt(ctx context.Context, b *baseCmd, err error, endpoint string, attempts int) error {
	e, ok := err.(*link.Error) //nolint:errorlint // lanes and links give it unwrapped
	if !ok {
		return err // the server's answer
	}
	n := *e
	n.Command = b.Name()
	n.Attempts = attempts
	if n.Endpoint == "" {
		n.Endpoint = endpoint
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(n.Err, cause) && n.Delivery == NotSent {
		n.Err = fmt.Errorf("%w; before that: %w", cause, n.Err)
	}
	return &n
}

// judge decides whether a command that failed with err is tried again, and after
// which pause. It is the one place that decides it:
//   - not sent: yes, until PoolTimeout has passed since it first failed, unless the
//     endpoint was never reached, the pool is full, or trying again is in vain;
//   - sent and not answered: only if the command is idempotent, MaxRetries times;
//   - answered that the server is not ready, so that nothing was done: as if not sent,
//     unless MaxRetries is -1; READONLY only from what was a primary, else MaxRetries
//     times;
//   - any other answer: no;
//   - whatever it is, not once the context has ended or the client was closed.
func (c *core) judge(ctx context.Context, t *tries, b *baseCmd, err error) (pause time.Duration, again bool) {
	if ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return 0, false
	}
	if t.began.IsZero() {
		t.began = time.Now().Add(-lane.Waited(err))
	}
	e, ok := err.(*link.Error) //nolint:errorlint // lanes and links give it unwrapped
	switch {
	case ok && e.Delivery == NotSent:
		if !c.waitsFor(e) {
			return 0, false
		}
		return t.hold(c.opt.PoolTimeout)
	case ok && !b.isIdempotent(), !ok && !notReady(err):
		return 0, false
	case !ok && c.opt.MaxRetries >= 0 && c.willBeReady(err):
		return t.hold(c.opt.PoolTimeout)
	case t.sent >= c.opt.MaxRetries:
		return 0, false
	}
	t.sent++
	return c.opt.backoff(t.sent - 1), true
}

// hold lets a command wait that was certainly not executed, for so long in all.
func (t *tries) hold(longest time.Duration) (pause time.Duration, again bool) {
	if time.Since(t.began) >= longest {
		return 0, false
	}
	t.idle++
	d := min(shortestHold<<min(t.idle-1, 5), longestHold)
	return d/2 + rand.N(d/2), true //nolint:gosec // jitter, no secret
}

// willBeReady tells whether a server that is not ready is worth waiting for. A
// replica that was never anything else stays one. Where it was a primary, somebody
// else is now: the endpoint looks for it.
func (c *core) willBeReady(err error) bool {
	if !IsReadOnlyError(err) {
		return true
	}
	c.ep.Demoted(nil)
	return c.ep.WasPrimary()
}

// The pauses of a command that is held: they double from the shortest to the longest,
// so that it goes out soon after the server is back.
const (
	shortestHold = 10 * time.Millisecond
	longestHold  = 250 * time.Millisecond
)

// waitsFor tells whether a command that could not be sent should wait for a
// connection.
func (c *core) waitsFor(e *link.Error) bool {
	switch {
	case errors.Is(e, lane.ErrPoolTimeout), errors.Is(e, lane.ErrPoolExhausted):
		return false
	case c.invalid != nil, errors.Is(e, errSessionClosed), errors.Is(e, errSessionLost), errors.Is(e, errNoPipeline), errors.Is(e, errWaitLost):
		return false
	case endpoint.Permanent(e):
		return false
	}
	// A server that was never there is reported at once: its address may be wrong.
	return c.ep.WasUp()
}

// notReady tells whether the server has answered that it can't execute commands
// for the time being. It has then not executed this one.
func notReady(err error) bool {
	return IsLoadingError(err) || IsReadOnlyError(err) || IsMasterDownError(err) ||
		IsClusterDownError(err) || IsTryAgainError(err) || IsMaxClientsError(err)
}

// sleep waits; false: the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
