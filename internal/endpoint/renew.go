package endpoint

import (
	"context"
	"errors"
)

// Renew replaces every link by one with a new handshake, so that all have what it says
// now. Those of the shared lanes and of subscriptions are left only when the new one
// serves; of the pool, idle links are closed, and lent ones when they are put back. A
// link that could not be replaced stays; the error says why.
func (e *Endpoint) Renew() error {
	var shared, pooled, beside []*entry
	e.mu.Lock()
	for _, en := range e.links {
		switch {
		case en.renew != nil:
			shared = append(shared, en)
		case en.pooled:
			pooled = append(pooled, en)
		case en.move != nil:
			beside = append(beside, en)
		}
	}
	e.mu.Unlock()
	for _, en := range pooled {
		en.retire()
	}
	var errs []error
	for _, en := range shared {
		errs = append(errs, e.renewOne(en, en.renew))
	}
	for _, en := range beside {
		errs = append(errs, e.renewOne(en, func(ctx context.Context) error { return en.move(ctx, e.dialTargets()) }))
	}
	return errors.Join(errs...)
}

// renewOne replaces a link that lives.
func (e *Endpoint) renewOne(en *entry, renew func(ctx context.Context) error) error {
	if !en.l.Alive() {
		return nil
	}
	ctx, cancel := context.WithTimeout(e.run, e.cfg.Maint.HandoffTimeout)
	defer cancel()
	return renew(ctx)
}
