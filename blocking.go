package redis

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// A command that blocks goes on over another connection when its own is being left: the
// server there is asked to end the wait (see endpoint.Blocked), and where that gives a
// null before the time is up, the command is sent again with the time that is left. So
// the caller gets what an unmoved one would have got, and nothing is taken twice.

//
// TS.READ is left where it is until its connection is closed: an answer before its time is
// up can't be told from another one. Then it is sent again, with the time that is left.

// leastBlock is the shortest time that a command is sent again with; a server takes
// milliseconds, and 0 would be for ever.
const leastBlock = time.Millisecond

// timeoutArg tells which argument of a command says how long it may block, and its unit;
// i 0: the command does not block on data, or not here.
func (c *baseCmd) timeoutArg() (i int, unit time.Duration) {
	switch c.Name() {
	case "blpop", "brpop", "brpoplpush", "blmove", "bzpopmin", "bzpopmax":
		return int(c.count) - 1, time.Second
	case "blmpop", "bzmpop":
		return 1, time.Second
	case "xread", "xreadgroup", "ts.read":
		for i := 1; i+1 < int(c.count); i++ {
			word, _ := c.argAt(i)
			switch {
			case isWord(word, "block"):
				return i + 1, time.Millisecond
			case isWord(word, "streams"), isWord(word, "max_count"):
				return 0, 0
			case isWord(word, "group"):
				i += 2
			}
		}
	}
	return 0, 0
}

// blockTime is how long the command may block as its argument says; 0: for ever.
func (c *baseCmd) blockTime(i int, unit time.Duration) (d time.Duration, ok bool) {
	arg, _ := c.argAt(i)
	f, err := strconv.ParseFloat(string(arg), 64)
	if err != nil || f < 0 || f > math.MaxInt64/float64(unit) {
		return 0, false // the server will say so
	}
	return time.Duration(f * float64(unit)), true
}

// withTimeout encodes the command anew with another time in argument i.
func (c *baseCmd) withTimeout(i int, unit, d time.Duration) []byte {
	r := c.reader()
	wire := resp.AppendArrayLen(make([]byte, 0, len(c.buf)+16), int(c.count))
	for at := range int(c.count) {
		arg, err := r.Bytes()
		if err != nil {
			return nil // it was encoded by us
		}
		if at == i {
			arg = strconv.AppendFloat(nil, float64(d)/float64(unit), 'f', -1, 64)
			if unit == time.Millisecond {
				arg = strconv.AppendInt(nil, int64(max(d/unit, 1)), 10)
			}
		}
		wire = resp.AppendBulk(wire, string(arg))
	}
	return wire
}

// sendBlocking sends a command that needs a connection of its own, and again over
// another one for as long as it is moved before its time is up. began is when its caller
// began to wait.
func (c *core) sendBlocking(ctx context.Context, cmd Cmder, began time.Time) error {
	b := cmd.base()
	at, unit := b.timeoutArg()
	var most time.Duration
	ok := at > 0
	if ok {
		most, ok = b.blockTime(at, unit)
	}
	wire, patience := b.wire(), b.wait
	for {
		if left := most - time.Since(began); ok && most > 0 && left < most-unhurried {
			left = max(left, leastBlock)
			wire, patience = b.withTimeout(at, unit, left), left+blockingGrace
		}
		moved, err := c.sendLent(ctx, cmd, wire, patience, ok && b.Name() != "ts.read")
		if err != nil || !moved || b.err == nil {
			return err
		}
		isNull, isEnded := b.err == Nil, HasErrorPrefix(b.err, "UNBLOCKED ") //nolint:errorlint // settle gives it unwrapped
		if !isEnded && (!isNull || most > 0 && time.Since(began) >= most-leastBlock) {
			return nil
		}
		if err := c.ended(ctx); err != nil {
			return err
		}
	}
}

// unhurried is how late a command may be sent the first time without its time being
// changed.
const unhurried = time.Millisecond

// sendLent sends a command over a lent connection. moved: it was answered after the
// server might have been asked to end its wait, or because it is a primary no more.
func (c *core) sendLent(ctx context.Context, cmd Cmder, wire []byte, patience time.Duration, mayMove bool) (moved bool, err error) {
	for {
		lease, err := c.borrow(ctx)
		if err != nil {
			return false, err
		}
		if !mayMove {
			err = c.sendHeld(ctx, lease, cmd, wire, patience)
			c.giveBack(lease, err == nil)
			return false, err
		}
		blocked, isFine := c.ep.Block(lease.Link)
		if !isFine { // it is being left: there is a better one
			c.giveBack(lease, true)
			continue
		}
		err = sendWire(ctx, lease.Link, cmd, wire, patience)
		moved = blocked.Done()
		isEnded := err == nil && HasErrorPrefix(cmd.base().err, "UNBLOCKED ")
		if isEnded {
			c.ep.Demoted(lease.Link)
		}
		c.giveBack(lease, err == nil && !isEnded) // the server closes what it has ended
		if isEnded {
			moved = true
			if !sleep(ctx, shortestHold) {
				return false, c.ended(ctx)
			}
		}
		return moved, err
	}
}
