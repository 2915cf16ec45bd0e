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
	busiest                     bool
	text                        string
	takeOver                    float64
	resolver                    float64       // of the grace time; negative: resolverAt
	resolverAt                  time.Duration // wire time
	linger                      time.Duration // wire time
	shards                      []string
	form                        form

	seq      int64 // -1: the next
	retarget int   // -1: no second target
	retellAt float64
	early    bool // the old proxy leaves when it is empty
	repeat   bool
	twice    bool

	noClosing              bool
	openingsTo, closingsTo float64 // fractions of the connections
	reordered              float64

	fault    Fault // of the target
	faultFor time.Duration

	// Of clusters only.
	window      time.Duration // wire time
	atomic      bool
	removal     bool
	unannounced bool
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
		grace:      s.cfg.Grace,
		lead:       s.cfg.Lead,
		stall:      s.cfg.Stall,
		outage:     s.cfg.Outage,
		hold:       s.cfg.Hold,
		jitter:     s.cfg.CloseJitter,
		mode:       s.cfg.CloseMode,
		target:     -1,
		only:       -1,
		takeOver:   DefaultTakeOver,
		resolver:   DefaultResolver,
		resolverAt: s.draw(s.cfg.ResolverChange),
		linger:     s.draw(s.cfg.Linger),
		shards:     []string{"1"},
		seq:        -1,
		retarget:   -1,
		openingsTo: 1,
		closingsTo: 1,
	}
	if s.cfg.ResolverChange != (Range{}) {
		o.resolver = -1
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

// WithProxy limits a cut to the proxy with index i. Of a move, it is the proxy of
// the endpoint that leaves; by default it is the first. Of [Sim.Grow], it is the
// one that joins.
func WithProxy(i int) Option { return func(o *options) { o.only = i } }

// WithBusiest makes the proxy of the endpoint that has the most connections be the
// one that something happens to, of an endpoint with several records. [WithProxy]
// overrides it. Cuts have no use for it.
func WithBusiest() Option { return func(o *options) { o.busiest = true } }

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

// WithVariant sends the notices in other forms than the measured one, any number
// at a time.
func WithVariant(v ...Variant) Option { return func(o *options) { o.form = append(o.form, v...) } }

// WithLinger makes the old proxy serve, and announce its move to connections that
// opt in, for d beyond the deadline of MOVING, in wire time: the time they are told
// is zero or negative. Measured proxies closed 0.7 to 4.1 seconds late.
func WithLinger(d time.Duration) Option { return func(o *options) { o.linger = max(d, 0) } }

// WithSeq gives the first notice this number, and the closing one the next,
// whatever was sent before. Overlapping moves can have the same.
func WithSeq(seq int64) Option { return func(o *options) { o.seq = max(seq, 0) } }

// WithSecondTarget announces, after a fraction of the grace time, the move anew
// with the same number and deadline, but to the proxy with index i, and goes there.
// The first target stays open, but is no longer the endpoint. A proxy that is part of
// the endpoint, or about to leave it, can't be the second target: [Sim.Rebind] returns
// [ErrNoTarget] and announces nothing.
func WithSecondTarget(i int, fraction float64) Option {
	return func(o *options) { o.retarget, o.retellAt = i, min(max(fraction, 0), 1) }
}

// WithEarlyLeave makes the old proxy of a [Sim.Rebind] with a target leave as soon as it has
// no connection any more, at its deadline at the latest. So a test can have a window that
// is long enough for the busiest machine and need not wait for its end.
func WithEarlyLeave() Option { return func(o *options) { o.early = true } }

// WithRepeatOnTarget sends MOVING to the connections that opt in at the target
// while the old proxy serves, too. A client that takes that for news moves from
// the target to the target, again and again.
func WithRepeatOnTarget() Option { return func(o *options) { o.repeat = true } }

// WithDuplicates sends every frame twice, retained ones included.
func WithDuplicates() Option { return func(o *options) { o.twice = true } }

// WithOpeningsTo sends the opening notice, MOVING included, to a fraction of the
// connections that are there: at random, but to at least one and, of several, not
// to all, unless fraction is 0 or 1. Those that opt in later are told, unless it
// is 0.
func WithOpeningsTo(fraction float64) Option {
	return func(o *options) { o.openingsTo = min(max(fraction, 0), 1) }
}

// WithClosingsTo sends MIGRATED or FAILED_OVER to a fraction of the connections, by
// the rule of [WithOpeningsTo]. It is retained for those to come.
func WithClosingsTo(fraction float64) Option {
	return func(o *options) { o.closingsTo = min(max(fraction, 0), 1) }
}

// WithReordered delivers the closing notice before its opening to a fraction of
// the connections.
func WithReordered(fraction float64) Option {
	return func(o *options) { o.reordered = min(max(fraction, 0), 1) }
}

// WithTargetFault makes the target of a move faulty, from its announcement on, for
// d in real time; zero means until the old proxy has closed, negative until
// [Sim.Repair]. The old proxy serves until its deadline all the same.
func WithTargetFault(f Fault, d time.Duration) Option {
	return func(o *options) { o.fault, o.faultFor = f, d }
}

// removeWindow deletes w from windows.
func removeWindow(windows []*window, w *window) []*window {
	return slices.DeleteFunc(windows, func(x *window) bool { return x == w })
}

// WithWindow sets how long slots take to move, in wire time; zero means no longer than
// they need.
func WithWindow(d time.Duration) Option { return func(o *options) { o.window = max(d, 0) } }

// WithAtomic moves the slots of a migration as a whole, at the end of its window: no
// command is answered with ASK or TRYAGAIN. A real server must know CLUSTER
// MIGRATESLOTS.
func WithAtomic() Option { return func(o *options) { o.atomic = true } }

// WithRemoval makes shards that own nothing after a migration leave the cluster, and
// close their connections after the grace time.
func WithRemoval() Option { return func(o *options) { o.removal = true } }

// WithUnannounced does what is to be done to a cluster without telling anybody.
func WithUnannounced() Option { return func(o *options) { o.unannounced = true } }
