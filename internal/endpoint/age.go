package endpoint

import (
	"context"
	"math/rand/v2"
	"time"
)

// ageing is what bounds the life of the shared lane's link. The pool looks after
// its own.
type ageing struct {
	e     *Endpoint
	en    *entry
	dies  time.Time // end of its lifetime; zero: none
	timer *time.Timer
}

// watchAge sets a timer for the end of a link's lifetime, or for a silence of
// MaxIdleTime, whichever may be first. nil: the link may live for ever.
func (e *Endpoint) watchAge(en *entry) *ageing {
	cfg := e.cfg.Pool
	if cfg.MaxLifetime <= 0 && cfg.MaxIdleTime <= 0 {
		return nil
	}
	a := &ageing{e: e, en: en}
	if life := cfg.MaxLifetime; life > 0 {
		if j := cfg.Jitter; j > 0 {
			life += rand.N(2*j) - j //nolint:gosec // jitter, no secret
		}
		a.dies = time.Now().Add(max(life, 1))
	}
	a.timer = time.AfterFunc(time.Hour, a.look)
	a.timer.Reset(a.next(time.Now())) // not earlier: look needs a.timer
	return a
}

// next is when to look again.
func (a *ageing) next(at time.Time) time.Duration {
	d := time.Hour
	if idle := a.e.cfg.Pool.MaxIdleTime; idle > 0 {
		d = min(d, idle-a.en.l.Idle())
	}
	if !a.dies.IsZero() {
		d = min(d, a.dies.Sub(at))
	}
	return max(d, time.Millisecond)
}

// look closes a link that has been idle for too long, and replaces one that has
// become too old, before it is left.
func (a *ageing) look() {
	at, idle := time.Now(), a.e.cfg.Pool.MaxIdleTime
	switch {
	case !a.en.l.Alive(): // it died while it was to be replaced
		return
	case idle > 0 && a.en.l.Idle() >= idle:
		a.en.retire()
		return
	case !a.dies.IsZero() && !at.Before(a.dies):
		a.e.mu.Lock()
		if !a.e.closed {
			a.e.work.Go(a.renew)
		}
		a.e.mu.Unlock()
		return
	}
	a.timer.Reset(a.next(at))
}

// renewEvery is the pause after a replacement that could not be opened.
const renewEvery = 10 * time.Second

func (a *ageing) renew() {
	ctx, cancel := context.WithTimeout(a.e.run, a.e.cfg.Maint.HandoffTimeout)
	defer cancel()
	if err := a.en.renew(ctx); err != nil && a.e.run.Err() == nil {
		a.e.cfg.Logger.Debug("an old link could not be replaced yet", "endpoint", a.e.cfg.Addr, "link", a.en.l.ID(), "cause", err)
		a.timer.Reset(renewEvery)
	}
}

func (a *ageing) stop() {
	if a != nil {
		a.timer.Stop()
	}
}
