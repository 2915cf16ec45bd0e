package maintsim

import "time"

// A Range is a random duration from Min to Max, both included. The zero value is
// none.
type Range struct {
	Min, Max time.Duration
}

// draw chooses from r.
func (s *Sim) draw(r Range) time.Duration {
	if r.Max <= r.Min {
		return r.Min
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.Min + time.Duration(s.mu.rng.Int64N(int64(r.Max-r.Min)+1))
}

// What was measured on the real product, after a MOVING of 15 seconds.
const (
	measuredGrace   = 15 * time.Second
	measuredOutage  = 8 * time.Second // of a proxy that failed
	measuredDNSMin  = 4400 * time.Millisecond
	measuredDNSMax  = 18700 * time.Millisecond
	measuredCloseTo = 19100 * time.Millisecond
	measuredClose   = 15700 * time.Millisecond
)

// MeasuredTimings is a Config with the timing that was measured on the real
// product, times scale: a grace time of 15 s, a target that accepts at once, a
// name that leads to it 4.4 to 18.7 s after MOVING, an old proxy that closes 15.7
// to 19.1 s after it, a lead time of 2 s, and an outage of 8 s. Everything else of
// it may be set.
//
// A MOVING says whole seconds, so with a scale of a fifth it says 3 and means it,
// while one of a hundredth says 0. For clients that don't act by the clock, leave
// the scale at 1 and set TimeUnit.
func MeasuredTimings(scale float64) Config {
	by := func(d time.Duration) time.Duration { return fraction(d, scale) }
	return Config{
		Grace:          by(measuredGrace),
		Lead:           by(DefaultLead),
		Stall:          by(DefaultStall),
		Outage:         by(measuredOutage),
		ResolverChange: Range{by(measuredDNSMin), by(measuredDNSMax)},
		Linger:         Range{by(measuredClose - measuredGrace), by(measuredCloseTo - measuredGrace)},
	}
}
