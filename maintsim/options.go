package maintsim

import (
	"slices"
	"time"
)

// A CloseMode is how connections end when the simulator closes them.
type CloseMode uint8

const (
	// CloseDefault is CloseFIN at a deadline and CloseRST at a cut.
	CloseDefault CloseMode = iota
	// CloseFIN: an orderly close. At a deadline, replies in hand are sent first.
	CloseFIN
	// CloseRST: the connection is reset.
	CloseRST
	// CloseSilent: the peer vanishes. The socket stays open until the client
	// closes it, but nothing is sent any more.
	CloseSilent
)

// String names m.
func (m CloseMode) String() string {
	switch m {
	case CloseDefault:
		return "default"
	case CloseFIN:
		return "fin"
	case CloseRST:
		return "rst"
	case CloseSilent:
		return "silent"
	}
	return "unknown"
}

// atDeadline is how a session ends when its proxy leaves as announced.
func (m CloseMode) atDeadline() ending {
	switch m {
	case CloseRST:
		return endReset
	case CloseSilent:
		return endSilent
	case CloseDefault, CloseFIN:
	}
	return endFlush
}

// atCut is how a session ends when it is cut.
func (m CloseMode) atCut() ending {
	switch m {
	case CloseFIN:
		return endFIN
	case CloseSilent:
		return endSilent
	case CloseDefault, CloseRST:
	}
	return endReset
}

// An Option changes one run of a scenario. Options a scenario has no use for are
// ignored.
type Option func(*options)

type options struct {
	grace, lead                 time.Duration // wire time
	stall, outage, hold, jitter time.Duration // real time
	mode                        CloseMode
	null                        nullForm
	target                      int // -1: the next
	only                        int // -1: all proxies
	noClosing                   bool
	text                        string
	takeOver, resolver          float64
	shards                      []string
}

// nullForm is why a MOVING carries no endpoint for anybody.
type nullForm uint8

const (
	nullNot     nullForm = iota
	nullInPlace          // the address stays, another node takes it over
	nullByName           // only the database's name leads to the new address
)

// options are the defaults of s, changed by opts.
func (s *Sim) options(opts []Option) options {
	o := options{
		grace:    s.cfg.Grace,
		lead:     s.cfg.Lead,
		stall:    s.cfg.Stall,
		outage:   s.cfg.Outage,
		hold:     s.cfg.Hold,
		jitter:   s.cfg.CloseJitter,
		mode:     s.cfg.CloseMode,
		target:   -1,
		only:     -1,
		takeOver: DefaultTakeOver,
		resolver: DefaultResolver,
		shards:   []string{"1"},
	}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// real converts wire time to the time that passes.
func (s *Sim) real(wire time.Duration) time.Duration {
	return time.Duration(float64(wire) * float64(s.cfg.TimeUnit) / float64(time.Second))
}

// WithGrace sets how long the old proxy serves after MOVING, in wire time.
func WithGrace(d time.Duration) Option { return func(o *options) { o.grace = max(d, 0) } }

// WithLead sets the time between the opening notice and what it announces, in
// wire time; zero means none.
func WithLead(d time.Duration) Option { return func(o *options) { o.lead = max(d, 0) } }

// WithStall sets how long replies are held back, in real time; zero means not at
// all.
func WithStall(d time.Duration) Option { return func(o *options) { o.stall = max(d, 0) } }

// WithOutage sets how long dials are refused after a cut, in real time; zero
// means not at all.
func WithOutage(d time.Duration) Option { return func(o *options) { o.outage = max(d, 0) } }

// WithHold sets how long replies are held back before a cut, in real time; zero
// means not at all.
func WithHold(d time.Duration) Option { return func(o *options) { o.hold = max(d, 0) } }

// WithCloseMode sets how connections end.
func WithCloseMode(m CloseMode) Option { return func(o *options) { o.mode = m } }

// WithShards sets the ids of the shards that notices name. The default is "1".
func WithShards(ids ...string) Option {
	return func(o *options) { o.shards = append([]string{}, ids...) }
}

// WithoutClosing leaves MIGRATED or FAILED_OVER out, as if it had been lost. It is
// not retained either.
func WithoutClosing() Option { return func(o *options) { o.noClosing = true } }

// WithProxy limits a cut to the proxy with index i.
func WithProxy(i int) Option { return func(o *options) { o.only = i } }

// WithTarget moves to the proxy with index i instead of the next one.
func WithTarget(i int) Option { return func(o *options) { o.target = i } }

// WithAnnounced announces text as the target to everyone, wherever the endpoint
// really moves.
func WithAnnounced(text string) Option { return func(o *options) { o.text = text } }

// WithNullEndpoint announces no target, and lets another node take over the
// address as it is: connections accepted after the take-over stay, those accepted
// before are closed at the deadline. This is what a client that is configured by
// address sees; it works with a single proxy.
func WithNullEndpoint() Option { return func(o *options) { o.null = nullInPlace } }

// WithNullByName announces no target, while the endpoint moves to another
// address: only the database's name leads there.
func WithNullByName() Option { return func(o *options) { o.null = nullByName } }

// WithTakeOver sets when the new node takes over the address, as a fraction of
// the grace time. See [WithNullEndpoint].
func WithTakeOver(fraction float64) Option {
	return func(o *options) { o.takeOver = min(max(fraction, 0), 1) }
}

// WithResolverChange sets when [DBName] begins to resolve to the new address, as
// a fraction of the grace time. It may be above 1: measured databases were late
// now and then.
func WithResolverChange(fraction float64) Option {
	return func(o *options) { o.resolver = max(fraction, 0) }
}

// remove deletes w from windows.
func removeWindow(windows []*window, w *window) []*window {
	return slices.DeleteFunc(windows, func(x *window) bool { return x == w })
}
