package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
	"github.com/baton-go/redis/maintnotifications"
)

// DialError says why no link could be opened to an address.
type DialError struct {
	Addr string
	Err  error
}

func (e *DialError) Error() string { return "connect to " + e.Addr + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *DialError) Unwrap() error { return e.Err }

// Permanent tells whether dialling again is in vain.
func Permanent(err error) bool {
	h, ok := errors.AsType[*link.HandshakeError](err)
	return ok && h.Permanent() || errors.Is(err, errSetup)
}

// errSetup marks errors of what the user has configured: credentials, OnConnect.
var errSetup = errors.New("link setup")

// open opens a link to where the endpoint is now, with DialRetries attempts.
func (e *Endpoint) open(ctx context.Context, u use) (*link.Link, error) {
	for attempt := 1; ; attempt++ {
		l, err := e.openAt(ctx, u, e.dialTargets())
		e.noteAttempt(err)
		if err == nil || attempt >= e.cfg.DialRetries || Permanent(err) || ctx.Err() != nil || e.dials.Err() != nil {
			return l, err
		}
		pause := time.NewTimer(e.cfg.DialBackoff(attempt))
		select {
		case <-pause.C:
		case <-e.dials.Done():
			pause.Stop()
			return nil, err
		case <-ctx.Done():
			pause.Stop()
			return nil, err
		}
	}
}

// noteAttempt keeps in mind how an attempt of an ordinary dial has ended.
func (e *Endpoint) noteAttempt(err error) {
	if f, ok := errors.AsType[*link.Error](err); ok {
		e.failure.Store(&f.Err)
		return
	}
	e.failure.Store(nil)
}

// dialTargets are the addresses to try, best first.
func (e *Endpoint) dialTargets() []string {
	if t := e.targets.Load(); t != nil {
		return *t
	}
	return []string{e.cfg.Addr}
}

// openAt opens a link to the first target that works; each is tried once.
func (e *Endpoint) openAt(ctx context.Context, u use, targets []string) (*link.Link, error) {
	var errs []error
	for _, addr := range targets {
		l, err := e.openOne(ctx, u, addr)
		if err == nil {
			return l, nil
		}
		errs = append(errs, &DialError{Addr: addr, Err: err})
		if ctx.Err() != nil {
			break
		}
	}
	err := errors.Join(errs...)
	if len(errs) == 1 {
		err = errs[0]
	}
	return nil, &link.Error{Endpoint: e.cfg.Addr, Delivery: link.NotSent, Err: err}
}

// openOne dials one address, shakes hands, and makes the link known to the
// endpoint.
func (e *Endpoint) openOne(ctx context.Context, u use, addr string) (*link.Link, error) {
	began := time.Now()
	ctx, done := e.dialling(ctx)
	defer done()
	addr, nc, err := e.dial(ctx, addr, u.raced)
	if err != nil {
		return nil, err
	}
	h, err := e.handshake(ctx, nc)
	if err != nil {
		_ = nc.Close()
		return nil, err
	}
	cfg := link.Config{
		Endpoint: addr, Timeouts: e.timeouts, ReadBuffer: e.cfg.ReadBuffer, NoPolling: e.cfg.NoPolling, Readers: &e.readers,
		WatchContexts: u.lent, Subscriber: u.subscriber, OnPush: e.onPush, OnClose: e.onClose,
	}
	if f := e.onSlow.Load(); f != nil && !u.subscriber {
		cfg.OnSlow, cfg.SlowAfter = func(*link.Link) { (*f)() }, slowAfter
	}
	if t := e.cfg.Tracking; t != nil && u.tracked {
		h.Tracking, cfg.KeepReading, cfg.OnLeave = true, true, t.OnLeave
	}
	if u.onFrame != nil {
		cfg.OnPush = func(l *link.Link, frame []byte) {
			e.onPush(l, frame)
			u.onFrame(l, frame)
		}
	}
	l, err := e.shake(ctx, nc, cfg, h)
	if err != nil {
		e.noteCut(began, err)
		return nil, err
	}
	if e.cfg.Locate != nil && e.cfg.PrimaryOnly && isReplica(l.Info()) {
		l.Close(errReplica) // never started, so nothing is left
		return nil, errReplica
	}
	e.remember(l.Info(), h)
	en := u.entry(l)
	if err := e.register(en); err != nil {
		l.Close(err) // never started, so nothing is left
		return nil, err
	}
	if e.cfg.OnUp != nil {
		e.cfg.OnUp(l, time.Since(began), en.kind())
	}
	if e.cfg.OnLink != nil && !u.subscriber {
		if err := e.cfg.OnLink(ctx, l); err != nil {
			if !l.Alive() {
				return nil, fmt.Errorf("OnConnect: %w", err) // the server has gone; the next one may be better
			}
			l.Close(err)
			return nil, fmt.Errorf("%w: OnConnect: %w", errSetup, err)
		}
	}
	return l, nil
}

// shake makes a link of a socket, within the read timeout.
func (e *Endpoint) shake(ctx context.Context, nc net.Conn, cfg link.Config, h link.Handshake) (*link.Link, error) {
	if d := e.timeouts.Read(); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, &link.TimeoutError{Op: "read", After: d})
		defer cancel()
	}
	return link.Open(ctx, nc, cfg, h)
}

// dial opens a socket, and tells to which address: another one than addr where the
// endpoint has to be located. raced: somebody else sees to it if that takes long.
func (e *Endpoint) dial(ctx context.Context, addr string, raced bool) (string, net.Conn, error) {
	if d := e.cfg.DialTimeout; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, &dialTimeout{d})
		defer cancel()
	}
	if e.cfg.Locate != nil && addr == e.cfg.Addr {
		var err error
		if addr, err = e.locate(ctx); err != nil {
			return addr, nil, err
		}
	}
	connect := e.connect
	if raced {
		connect = e.cfg.Dial
	}
	nc, err := connect(ctx, e.cfg.Network, addr)
	if err != nil && ctx.Err() != nil {
		if cause := context.Cause(ctx); !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
	}
	return addr, nc, err
}

// dialTimeout is the cause of a dial that took longer than DialTimeout.
type dialTimeout struct{ after time.Duration }

func (t *dialTimeout) Error() string { return fmt.Sprintf("dial timeout after %v", t.after) }
func (t *dialTimeout) Timeout() bool { return true }

// handshake completes what the user wants to be said by the opt-in.
func (e *Endpoint) handshake(ctx context.Context, nc net.Conn) (link.Handshake, error) {
	h, err := e.cfg.Handshake(ctx)
	if err != nil {
		return h, fmt.Errorf("%w: credentials: %w", errSetup, err)
	}
	m := e.cfg.Maint
	if !m.IsEnabled() {
		return h, nil
	}
	h.OptInRequired = m.Mode == maintnotifications.ModeEnabled
	t := m.EndpointType
	if t == maintnotifications.EndpointTypeAuto || t == "" {
		t = maintnotifications.EndpointTypeForPeer(nc.RemoteAddr(), e.cfg.TLS)
	}
	h.OptIn = t.String()
	if h.OptInRequired {
		return h, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cutAsked >= cutsAskedMost {
		h.OptIn = ""
		return h, nil
	}
	if e.refusal.by != "" && time.Now().Before(e.refusal.until) {
		h.RefusedBy = e.refusal.by
	}
	return h, nil
}

// cutsAskedMost is how many dials, one after the other, may end at the opt-in until the
// next one does without it. One alone may have met a server that was just going down.
const cutsAskedMost = 2

// noteCut counts dials whose server answered HELLO and then, asked for notices, nothing
// more. It counts none where a link has opted in before, and dials side by side once: a
// server that goes down ends them all, and is no reason to miss its notices for long.
func (e *Endpoint) noteCut(began time.Time, err error) {
	h, ok := errors.AsType[*link.HandshakeError](err)
	if !ok || h.Step != link.StepOptIn {
		return
	}
	if _, isReply := errors.AsType[resp.Error](err); isReply {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.optedIn || e.cutAsked > 0 && !began.After(e.cutAt) {
		return
	}
	e.cutAsked++
	e.cutAt = time.Now()
}

// remember keeps in mind whether the server sends notifications.
func (e *Endpoint) remember(info link.Info, h link.Handshake) {
	e.mu.Lock()
	defer e.mu.Unlock()
	isCut := e.cutAsked >= cutsAskedMost
	e.cutAsked = 0
	switch {
	case info.OptedIn:
		e.refusal = refusal{}
		e.optedIn = true
	case isCut && h.OptIn == "" && e.cfg.Maint.IsEnabled():
		e.refusal = refusal{by: info.Identity(), until: time.Now().Add(refusalMemory)}
		e.cfg.Logger.Debug("the server ends connections that ask for maintenance notifications",
			"endpoint", e.cfg.Addr, "server", info.Identity())
	case info.OptInRefused != nil:
		e.refusal = refusal{by: info.Identity(), until: time.Now().Add(refusalMemory)}
		e.cfg.Logger.Debug("maintenance notifications are not supported by the server",
			"endpoint", e.cfg.Addr, "server", info.Identity(), "reply", info.OptInRefused)
	}
}

// register makes a link known and starts it; an error: the endpoint takes none.
func (e *Endpoint) register(en *entry) error {
	e.mu.Lock()
	if err := e.refuses(); err != nil {
		e.mu.Unlock()
		return err
	}
	e.links[en.l.ID()] = en
	e.noteRole(en.l.Info())
	e.watchDNS(dnsEvery)
	e.post(event{kind: eventUp, link: en.l.ID(), peer: en.l.Peer(), addr: en.l.Endpoint()})
	en.l.Start()
	e.mu.Unlock()
	e.wasUp.Store(true)
	return nil
}

// onClose runs on the reader of a link that has died.
func (e *Endpoint) onClose(l *link.Link, err error) {
	e.mu.Lock()
	en := e.links[l.ID()]
	delete(e.links, l.ID())
	if en != nil {
		e.post(event{kind: eventDown, link: l.ID()})
	}
	if e.left != nil {
		select {
		case e.left <- struct{}{}:
		default: // it looks anyway
		}
	}
	e.mu.Unlock()
	if t, ok := errors.AsType[*link.TimeoutError](err); ok && t.Op == "read" {
		e.stuck(l)
	}
	if en != nil {
		en.gone()
		if e.cfg.OnDown != nil {
			e.cfg.OnDown(l, err, en.kind())
		}
		e.cfg.Logger.Debug("link closed", "endpoint", l.Endpoint(), "link", l.ID(), "cause", err)
	}
}

// onPush runs on a link's reader: it only decodes what somebody wants.
func (e *Endpoint) onPush(l *link.Link, frame []byte) {
	r := resp.NewReader(frame)
	if r.Kind() != resp.KindPush {
		return
	}
	names := r
	if _, err := names.ArrayLen(); err != nil {
		return
	}
	name, err := names.Bytes()
	if err != nil {
		return
	}
	if t := e.cfg.Tracking; t != nil && string(name) == "invalidate" && l.Info().Tracking {
		t.OnInvalidate(l, names)
	}
	_, isNotice := maintnotifications.KindOf(string(name))
	if !isNotice && (e.cfg.WantsPush == nil || !e.cfg.WantsPush(string(name))) {
		return
	}
	v, err := r.Any()
	args, ok := v.([]any)
	if err != nil || !ok {
		return
	}
	kind := eventPush
	if isNotice {
		kind = eventNotice
	}
	e.mu.Lock()
	e.post(event{kind: kind, link: l.ID(), l: l, args: args})
	e.mu.Unlock()
}
