package endpoint

import (
	"context"
	"errors"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// ErrRetired is why an endpoint that was retired opens no link.
var ErrRetired = errors.New("nothing is served at this address any more")

// Retire ends an endpoint that nobody needs any more without harm to anybody who still
// uses it: no link is opened from now on, not even one that is just being dialled, those
// of the lanes answer what is in flight, and lent ones are closed when they come back.
// Links beside the lanes have their users' time, which is patience, to be moved
// elsewhere. It returns when there are no links left that it waits for, or ctx has ended;
// then the endpoint is to be closed.
func (e *Endpoint) Retire(ctx context.Context, patience time.Duration) {
	for _, en := range e.openNoMore() {
		en.retire()
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	isOver := false
	for {
		lanes, beside := e.count()
		if lanes == 0 && (beside == 0 || isOver) {
			return
		}
		select {
		case <-e.left:
		case <-timer.C:
			isOver = true
		case <-ctx.Done():
			return
		}
	}
}

// Abandon ends an endpoint whose server answers nothing, and that others have taken the
// place of: the links of the lanes are closed at once with err, so that nobody waits for
// their timeouts, and no more are opened. Retire does the rest.
func (e *Endpoint) Abandon(err error) {
	for _, en := range e.openNoMore() {
		en.l.Close(err)
	}
}

// openNoMore makes the endpoint open no link any more, and gives those of the lanes.
func (e *Endpoint) openNoMore() (lanes []*entry) {
	e.mu.Lock()
	if e.left == nil {
		e.left = make(chan struct{}, 1)
	}
	for _, en := range e.links {
		if !en.beside {
			lanes = append(lanes, en)
		}
	}
	e.mu.Unlock()
	e.stopDials(ErrRetired)
	return lanes
}

// count tells how many links there are of the lanes, and beside them.
func (e *Endpoint) count() (lanes, beside int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, en := range e.links {
		if en.beside {
			beside++
		} else {
			lanes++
		}
	}
	return lanes, beside
}

// dialling gives the context of a dial, which ends when the endpoint is retired or closed.
func (e *Endpoint) dialling(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.dials, func() { cancel(context.Cause(e.dials)) })
	return ctx, func() { stop(); cancel(nil) }
}

// refuses is why no link is opened or taken in; nil: it is. mu is held.
func (e *Endpoint) refuses() error {
	switch {
	case e.closed:
		return link.ErrClosed
	case e.left != nil:
		return ErrRetired
	}
	return nil
}
