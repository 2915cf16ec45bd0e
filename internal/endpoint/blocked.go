package endpoint

import (
	"context"
	"strconv"
	"time"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// A command that blocks would keep its link from being handed over until the server ends
// it. So the old server is asked, over a link of its own, to unblock the connection: the
// command is answered, with what it waited for or with a null as if its time were up, and
// its caller goes on over a new link with the time that is left.

// Numbers of unblocking.
const (
	unblockTries = 25 // a command may be on its way still when its server is asked
	unblockEvery = 20 * time.Millisecond
)

// Blocked is a command that waits on a lent link.
type Blocked struct {
	e     *Endpoint
	l     *link.Link
	moved bool          // the link is being left; guarded by Endpoint.mu
	stays bool          // it is asked to end only when the link is about to be closed; immutable
	over  chan struct{} // closed by Done; nil: it does not stay
}

// Block makes known that a command is about to wait on a lent link. It is nil where that
// is being left already, or where nobody could end the wait: false and true.
func (e *Endpoint) Block(l *link.Link) (b *Blocked, isFine bool) {
	if l.Info().ConnID == 0 {
		return nil, true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	en := e.links[l.ID()]
	if en == nil || en.left {
		return nil, false
	}
	en.blocked = &Blocked{e: e, l: l}
	return en.blocked, true
}

// Hold makes known that a command is about to wait on a lent link that must not go on
// elsewhere: when the link is left, its wait is ended shortly before the server closes it.
// It is nil where nobody could do that.
func (e *Endpoint) Hold(l *link.Link) *Blocked {
	if l.Info().ConnID == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	en := e.links[l.ID()]
	if en == nil {
		return nil
	}
	en.blocked = &Blocked{e: e, l: l, stays: true, over: make(chan struct{})}
	if en.left {
		e.endLate(en.blocked, en.leftBy)
	}
	return en.blocked
}

// The wait of a command that stays is ended that long before its link is closed: a part of
// the time that is left, and no longer than a second.
const (
	lateShare = 4
	lateMost  = time.Second
)

// endLate has a wait ended before a time. mu is held.
func (e *Endpoint) endLate(b *Blocked, by time.Time) {
	left := time.Until(by)
	left -= min(left/lateShare, lateMost)
	if left <= 0 || e.closed {
		e.endWait(b)
		return
	}
	e.work.Go(func() {
		t := time.NewTimer(left)
		defer t.Stop()
		select {
		case <-t.C:
			e.mu.Lock()
			defer e.mu.Unlock()
			e.endWait(b)
		case <-b.over:
		case <-e.run.Done():
		}
	})
}

// Done ends it, and tells whether the server may have been asked to.
func (b *Blocked) Done() (moved bool) {
	if b == nil {
		return false
	}
	b.e.mu.Lock()
	defer b.e.mu.Unlock()
	if en := b.e.links[b.l.ID()]; en != nil && en.blocked == b {
		en.blocked = nil
	}
	if b.over != nil {
		close(b.over)
	}
	return b.moved
}

// waits tells whether the command still does.
func (b *Blocked) waits() bool {
	b.e.mu.Lock()
	defer b.e.mu.Unlock()
	en := b.e.links[b.l.ID()]
	return en != nil && en.blocked == b
}

// Leaves tells whether a lent link is taken out of use, or has gone.
func (e *Endpoint) Leaves(l *link.Link) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	en := e.links[l.ID()]
	return en == nil || en.left
}

// leaveLent ends the wait on a lent link that has been taken out of use, and that its
// server closes at a time; zero: that may be at once.
func (e *Endpoint) leaveLent(en *entry, by time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	en.left, en.leftBy = true, by
	switch b := en.blocked; {
	case b == nil:
	case b.stays:
		e.endLate(b, by)
	default:
		e.endWait(b)
	}
}

// endWait has a wait ended. mu is held.
func (e *Endpoint) endWait(b *Blocked) {
	if b.moved || e.closed {
		return
	}
	b.moved = true
	at := place{b.l.Endpoint(), b.l.Peer()}
	if e.toUnblock == nil {
		e.toUnblock = make(map[place][]*Blocked)
	}
	waiting, isBusy := e.toUnblock[at]
	e.toUnblock[at] = append(waiting, b)
	if !isBusy {
		e.work.Go(func() { e.unblock(at) })
	}
}

// place is where links lead: the address that was dialled, which the Dialer may map to
// another one and a name may lead elsewhere by now, and what the socket knows.
type place struct{ addr, peer string }

// unblock asks a server to end the waits there, until none is left.
func (e *Endpoint) unblock(at place) {
	ctx, cancel := context.WithTimeout(e.run, max(e.cfg.Maint.HandoffTimeout, time.Second))
	defer cancel()
	l, err := e.openBeside(ctx, at.addr)
	if err == nil && l.Peer() != at.peer { // the name leads elsewhere
		l.Close(nil)
		<-l.Gone()
		l, err = e.openBeside(ctx, at.peer)
	}
	if err == nil {
		defer func() {
			l.Close(nil)
			<-l.Gone()
		}()
	}
	for {
		e.mu.Lock()
		all := e.toUnblock[at]
		if len(all) == 0 || err != nil {
			delete(e.toUnblock, at)
			e.mu.Unlock()
			break
		}
		e.toUnblock[at] = []*Blocked{} // there, so that nobody else begins
		e.mu.Unlock()
		err = unblockAll(ctx, l, all)
	}
	if err != nil {
		e.cfg.Logger.Debug("blocking commands stay on the connections that are being left, until these end", "endpoint", at.addr, "cause", err)
	}
}

// unblockAll asks for each wait until it has ended, a number of times.
func unblockAll(ctx context.Context, l *link.Link, all []*Blocked) error {
	for range unblockTries {
		var rest []*Blocked
		for _, b := range all {
			if !b.waits() {
				continue
			}
			if err := askUnblock(ctx, l, b.l.Info().ConnID); err != nil {
				return err
			}
			rest = append(rest, b)
		}
		if all = rest; len(all) == 0 {
			return nil
		}
		pause := time.NewTimer(unblockEvery)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return context.Cause(ctx)
		}
	}
	return nil
}

// openBeside opens a link that the endpoint does not count as one of its own.
func (e *Endpoint) openBeside(ctx context.Context, addr string) (*link.Link, error) {
	addr, nc, err := e.dial(ctx, addr, false)
	if err != nil {
		return nil, err
	}
	h, err := e.cfg.Handshake(ctx)
	if err != nil {
		_ = nc.Close()
		return nil, err
	}
	l, err := e.shake(ctx, nc, link.Config{
		Endpoint: addr, Timeouts: e.timeouts, ReadBuffer: e.cfg.ReadBuffer, NoPolling: true, WatchContexts: true, Readers: &e.readers,
	}, h)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		l.Close(link.ErrClosed) // never started, so nothing is left
		return nil, link.ErrClosed
	}
	l.Start()
	return l, nil
}

// unblockChannel is where nobody listens; what is published there holds a server back that
// pauses writes.
const unblockChannel = "__baton:handoff:unblock"

// askUnblock asks a server to end the wait of a connection. Many servers crash if they are
// asked so for a command that CLIENT PAUSE WRITE holds back (Redis 7.0.15 and 8.0.2 and
// Valkey 8.0.1 among them), which is what operators do who fail over by hand. So what is held back as well
// goes in front of it over the same connection: the server reads on when it holds back
// nothing any more.
func askUnblock(ctx context.Context, l *link.Link, id int64) error {
	var wire []byte
	for _, args := range [][]string{
		{"PUBLISH", unblockChannel, ""},
		{"CLIENT", "UNBLOCK", strconv.FormatInt(id, 10), "TIMEOUT"},
	} {
		wire = resp.AppendArrayLen(wire, len(args))
		for _, a := range args {
			wire = resp.AppendBulk(wire, a)
		}
	}
	var got answer
	if _, err := l.Do(ctx, link.Request{Wire: wire, Replies: 2, Sink: &got}); err != nil {
		return err
	}
	return got.err
}

// answer takes replies, of which the last counts if it is an error.
type answer struct{ err error }

func (a *answer) Reply(_ int, frame []byte) {
	r := resp.NewReader(frame)
	_, a.err = r.Any()
}
