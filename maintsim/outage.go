package maintsim

import (
	"context"
	"errors"
)

// Outage takes the network to the proxies, or to one ([WithProxy]), away for the outage:
// packets are dropped, so that dials get no answer, and on connections that exist nothing
// arrives any more; none of them is told of it ([FaultBlackHole]), except that what a proxy
// has not accepted yet is reset. It returns when the network is back. If ctx ends, that is
// at once.
func (s *Sim) Outage(ctx context.Context, opts ...Option) error {
	o := s.options(opts)
	var errs []error
	var hit []*proxy
	conns := 0
	s.mu.Lock()
	for _, p := range s.proxies {
		if o.only < 0 || p.index == o.only {
			hit = append(hit, p)
			conns += len(p.sessions)
		}
	}
	s.mu.Unlock()
	holes := make([]*faultState, len(hit))
	for i, p := range hit {
		var err error
		holes[i], err = s.setFault(p, FaultBlackHole)
		errs = append(errs, err)
	}
	s.record(Event{Kind: EventCut, Proxy: o.only, Connections: conns})
	err := s.wait(ctx, o.outage)
	for i, p := range hit {
		errs = append(errs, s.endFault(p, holes[i]))
	}
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	s.record(Event{Kind: EventServiceBack, Proxy: o.only})
	return errors.Join(append(errs, err)...)
}
