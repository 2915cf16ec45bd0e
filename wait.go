package redis

import (
	"context"
	"errors"
	"time"

	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
)

// WAIT and WAITAOF are about what their own connection has written. Another connection,
// even to the same server, knows nothing of it, and its answer would call writes safe that
// may be lost. So they are never sent again over another one, unless all commands before
// them are as well, and a handoff leaves them where they are for as long as it can: before
// the old server closes it is asked to end the wait, and answers with how many have the
// writes by then (endpoint.Hold).

// errWaitLost is why a WAIT has no answer.
var errWaitLost = errors.New("the connection whose writes it asks about is lost, so it is not known how many servers have them")

// isWait tells whether a command asks who has what its connection has written.
func (c *core) isWait(b *baseCmd) bool {
	if b == nil || b.lane != laneExclusive || c.waitsRoam {
		return false
	}
	name := b.Name()
	return name == "wait" || name == "waitaof"
}

// waitOf gives the first WAIT among commands; nil: there is none.
func (c *core) waitOf(cmds []Cmder) *baseCmd {
	for _, cmd := range cmds {
		if b := cmd.base(); c.isWait(b) {
			return b
		}
	}
	return nil
}

// holding makes handoffs leave a lent link as it is for as long as they can, where a WAIT
// is to be sent on it; the function is to be called when it was answered.
func (c *core) holding(l *link.Link, wait *baseCmd) (done func()) {
	if wait == nil {
		return func() {}
	}
	held := c.ep.Hold(l)
	return func() { held.Done() }
}

// sendHeld sends a command that is not to be moved, over any connection of the pool.
func (c *core) sendHeld(ctx context.Context, lease *lane.Lease, cmd Cmder, wire []byte, patience time.Duration) error {
	b := cmd.base()
	var wait *baseCmd
	if c.isWait(b) {
		wait = b
	}
	done := c.holding(lease.Link, wait)
	defer done()
	return sendWire(ctx, lease.Link, cmd, wire, patience)
}

// lostWait is the error of a WAIT that failed with err, or would have to be sent again
// without what was before it; it keeps how far it got.
func lostWait(err error) error {
	lost := &link.Error{Delivery: NotSent, Err: errWaitLost}
	if e, ok := err.(*link.Error); ok { //nolint:errorlint // lanes and links give it unwrapped
		lost.Endpoint, lost.Delivery = e.Endpoint, e.Delivery
		lost.Err = errors.Join(errWaitLost, e.Err)
	}
	return lost
}
