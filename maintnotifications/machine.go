package maintnotifications

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// LinkID names a link for as long as the machine lives; an id is never used
// again.
type LinkID uint64

// LinkInfo describes a link (one server connection) that the machine knows of.
type LinkInfo struct {
	// ID is the id of the link.
	ID LinkID
	// Peer is the remote side's "ip:port", "" if it is unknown.
	Peer string
	// Addr is the address that was dialled: the configured one, or one of the
	// targets of an action or of [Machine.DialTargets], unchanged.
	Addr string
}

// OpKey identifies a moving operation. Two overlapping operations can have one
// sequence number and different targets (measured), so both belong to it.
type OpKey struct {
	// Seq is the sequence number of the MOVING notice.
	Seq int64
	// Target is the endpoint it named, "" if none.
	Target string
}

// String returns "seq>target", or "seq>none".
func (k OpKey) String() string {
	target := k.Target
	if target == "" {
		target = "none"
	}
	return strconv.FormatInt(k.Seq, 10) + ">" + target
}

// MachineConfig says how a [Machine] decides. What is zero or negative has its
// default, except for Addr.
type MachineConfig struct {
	// Addr is the configured address, "host:port".
	Addr string
	// RelaxedTimeout is only used for the default of
	// PostHandoffRelaxedDuration. Default: 10 s.
	RelaxedTimeout time.Duration
	// HandoffTimeout is the longest that one handoff may take. Default: 15 s.
	HandoffTimeout time.Duration
	// PostHandoffRelaxedDuration is how long timeouts stay relaxed after a
	// handoff. Default: twice RelaxedTimeout.
	PostHandoffRelaxedDuration time.Duration
	// MaxHandoffRetries is how often the handoff of a link is tried again.
	// Default: 3.
	MaxHandoffRetries int
	// MigratingBackstop ends a window of MIGRATING or SMIGRATING whose closing
	// notice never came, this long after its lead time. Default: 10 min.
	MigratingBackstop time.Duration
	// FailingOverBackstop is the same for FAILING_OVER. Default: 60 s.
	FailingOverBackstop time.Duration
	// Jitter returns a random duration from 0 to max. nil: always 0.
	Jitter func(max time.Duration) time.Duration
}

// Numbers of the machine; sections 4, 5 and 9 of the maintenance specification
// unless it says otherwise.
const (
	defaultMigratingBackstop   = 10 * time.Minute
	defaultFailingOverBackstop = time.Minute

	// maxAnnounced bounds the times a server may announce, so that every window
	// ends. Real ones are seconds.
	maxAnnounced = 24 * time.Hour

	minBackoff   = 500 * time.Millisecond // between attempts of one handoff
	backoffShare = 3                      // or this part of the time that is left

	opMemory     = time.Minute // an operation is recognised this long after its deadline
	resultGrace  = time.Second // for the result of a handoff that ran to its deadline
	targetMemory = time.Hour   // a target is a second choice for dials this long

	minPoll      = 50 * time.Millisecond // between look-ups of the configured host
	maxPoll      = time.Second
	pollShare    = 20              // or this part of the window
	pollPatience = 5 * time.Second // a look-up without an answer is repeated after this

	// Where DNS has shown nothing new, the configured address is tried shortly before
	// the deadline: another node may have taken the address over as it is, and then
	// nothing should be in flight on the old links when they close.
	fallbackShare = 10 // this part of the window before the deadline
	maxFallback   = time.Second
	minFallback   = 250 * time.Millisecond // or half of a window that is very short

	closedMemory = 2 * time.Minute // a late opening is recognised as stale this long

	// Bounds of the tables, against a server gone mad. Real ones hold a few.
	maxWindows = 128
	maxClosed  = 256
	maxOps     = 256
)

// ActionKind says what a client has to do.
type ActionKind uint8

// The actions.
const (
	// ActionRelax: raise the timeouts of every link of the endpoint, for commands
	// in flight too. It alternates with ActionUnrelax.
	ActionRelax ActionKind = iota + 1
	// ActionUnrelax: go back to the configured timeouts.
	ActionUnrelax
	// ActionHandoff: replace link Link by one to the first of Targets that works,
	// before Deadline, and report the outcome with [Machine.HandoffDone].
	ActionHandoff
	// ActionResolve: look up the configured host now and report the answer with
	// [Machine.Resolved].
	ActionResolve
	// ActionRetire: give link Link no new work and close it when it is drained;
	// its endpoint is gone, and no replacement was found in time.
	ActionRetire
)

// String returns the action's name in traces.
func (k ActionKind) String() string {
	switch k {
	case ActionRelax:
		return "relax"
	case ActionUnrelax:
		return "unrelax"
	case ActionHandoff:
		return "handoff"
	case ActionResolve:
		return "resolve"
	case ActionRetire:
		return "retire"
	}
	return "ActionKind(" + strconv.Itoa(int(k)) + ")"
}

// An Action is something a client has to do now. Which fields are used depends
// on Do.
type Action struct {
	// Do is what to do.
	Do ActionKind
	// Op is the operation that wants it; zero for ActionRelax and ActionUnrelax.
	Op OpKey
	// Link is the link of ActionHandoff and ActionRetire.
	Link LinkID
	// Targets are the addresses of ActionHandoff, best first. The slice is the
	// caller's.
	Targets []string
	// Deadline is when an ActionHandoff has to be over.
	Deadline time.Time
	// Attempt counts the handoffs of this link in this operation, from 1.
	Attempt int
	// Reason is a word or two for logs. For ActionRelax it is the kind of the
	// notice that caused it, for ActionUnrelax that of the ActionRelax before it:
	// the kind for [Metrics.OnRelaxed].
	Reason string
}

// String renders the action on one line, as logs and traces show it.
func (a Action) String() string {
	var b strings.Builder
	b.WriteString(a.Do.String())
	switch a.Do {
	case ActionRelax, ActionUnrelax:
	case ActionHandoff:
		fmt.Fprintf(&b, " link=%d op=%s targets=%s attempt=%d deadline=%s",
			a.Link, a.Op, strings.Join(a.Targets, ","), a.Attempt, a.Deadline.Format("15:04:05.000"))
	case ActionResolve:
		fmt.Fprintf(&b, " op=%s", a.Op)
	case ActionRetire:
		fmt.Fprintf(&b, " link=%d op=%s", a.Link, a.Op)
	}
	if a.Reason != "" {
		fmt.Fprintf(&b, " (%s)", a.Reason)
	}
	return b.String()
}

// A Machine decides what maintenance means for one endpoint, that is for one
// configured address and all its links. It is a plain value: no goroutine, lock,
// timer or clock is inside, the time is an argument, and the same calls give the
// same actions. One owner calls it and carries the actions out in their order.
//
// Every call first takes in what it is told, then does everything that is due at
// its time. The owner calls [Machine.Tick] at the time that [Machine.Next] tells.
// Times must not run backwards.
type Machine struct {
	cfg     MachineConfig
	cfgPeer string // cfg.Addr in the form of a peer
	host    string // of cfg.Addr
	port    string
	literal bool // host is an IP address

	event   uint64    // counts calls, to order what happens at one time
	now     time.Time // of the latest call
	acts    []Action  // of the call in progress
	relaxed bool
	cause   string // the kind of the notice that made it relaxed

	links   []*link // in the order in which they came up
	windows []*window
	closed  []closing // latest last

	ops       []*movingOp // those remembered, in order of arrival
	postUntil time.Time   // the end of the relaxed time after handoffs
	asking    bool        // a look-up has not been answered
	askedAt   time.Time
	last      lastTarget
}

// A link is what the machine knows of one link.
type link struct {
	LinkInfo           // Peer in canonical form
	born     uint64    // the event of its LinkUp
	leaving  bool      // replaced or retired: takes no further part
	op       *movingOp // the operation that wants it replaced, nil if none

	due      time.Time // when its next handoff may begin
	attempt  int       // handoffs begun for op
	gaveUp   bool      // no further attempt; it serves until op ends
	news     bool      // a target was found since its latest handoff began
	fallback bool      // it may go to the configured address for want of a target

	outstanding *movingOp // the operation of the handoff in progress, nil if none
}

// NewMachine returns a machine for the endpoint cfg.Addr that knows of no link.
func NewMachine(cfg MachineConfig) *Machine {
	positive(&cfg.RelaxedTimeout, defaultRelaxedTimeout)
	positive(&cfg.HandoffTimeout, defaultHandoffTimeout)
	positive(&cfg.PostHandoffRelaxedDuration, postHandoffRelaxedFactor*cfg.RelaxedTimeout)
	positive(&cfg.MaxHandoffRetries, defaultMaxHandoffRetries)
	positive(&cfg.MigratingBackstop, defaultMigratingBackstop)
	positive(&cfg.FailingOverBackstop, defaultFailingOverBackstop)
	m := &Machine{cfg: cfg, cfgPeer: canonical(cfg.Addr)}
	var err error
	if m.host, m.port, err = net.SplitHostPort(cfg.Addr); err != nil {
		m.host, m.port = cfg.Addr, strconv.Itoa(defaultPort)
	}
	_, err = netip.ParseAddr(m.host)
	m.literal = err == nil
	return m
}

// positive gives *field the value def if it is not above zero.
func positive[T ~int | ~int64](field *T, def T) {
	if *field <= 0 {
		*field = def
	}
}

// canonical returns an "ip:port" in the one form in which peers are compared, so
// that 1.2.3.4 and ::ffff:1.2.3.4 are one peer; anything else as it is.
func canonical(addr string) string {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return addr
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()).String()
}

// LinkUp tells of a link that is ready, or at least able to read notices: it has
// to come before the first notice of the link. A second call for a link only
// updates its addresses.
func (m *Machine) LinkUp(now time.Time, info LinkInfo) []Action {
	m.begin(now)
	info.Peer = canonical(info.Peer)
	l := m.link(info.ID)
	if l != nil {
		l.LinkInfo = info
	} else {
		l = &link{LinkInfo: info, born: m.event}
		m.links = append(m.links, l)
	}
	for _, op := range m.ops {
		m.lateComer(op, l)
	}
	return m.settle()
}

// LinkDown tells that a link is closed, for whatever reason.
func (m *Machine) LinkDown(now time.Time, id LinkID) []Action {
	m.begin(now)
	for i, l := range m.links {
		if l.ID == id {
			m.links = append(m.links[:i:i], m.links[i+1:]...)
			m.last.linkDown(now, l)
			break
		}
	}
	return m.settle()
}

// Notice tells of a notice that was read from a link. From a link that is not
// up, only closing notices count: they can't start anything.
func (m *Machine) Notice(now time.Time, from LinkID, n Notice) []Action {
	m.begin(now)
	l := m.link(from)
	switch n.Kind {
	case KindMoving:
		if l != nil {
			m.moving(l, n)
		}
	case KindMigrating, KindFailingOver, KindSMigrating:
		if l != nil {
			m.openWindow(l, n)
		}
	case KindMigrated, KindFailedOver, KindSMigrated:
		m.closeWindows(n)
	}
	return m.settleNotice(n.Kind)
}

// Resolved answers an [ActionResolve]: the IP addresses of the configured host,
// or why there are none.
func (m *Machine) Resolved(now time.Time, addrs []string, err error) []Action {
	m.begin(now)
	m.asking = false
	if err != nil {
		addrs = nil
	}
	for _, op := range m.ops {
		if op.mode == moveByDNS && !op.ended {
			m.resolved(op, addrs)
		}
	}
	return m.settle()
}

// HandoffDone answers an [ActionHandoff] of the operation op for link id. err is
// nil if the replacement serves and the old link drains. An outcome the machine
// does not wait for, as one that comes twice, is ignored.
func (m *Machine) HandoffDone(now time.Time, op OpKey, id LinkID, err error) []Action {
	m.begin(now)
	m.handoffDone(op, id, err)
	return m.settle()
}

// Tick does what is due at now. A call too early or too often does no harm.
func (m *Machine) Tick(now time.Time) []Action {
	m.begin(now)
	return m.settle()
}

// Next returns when Tick has to be called, unless another call comes first; false
// if nothing is going on. The time may have passed already.
func (m *Machine) Next() (time.Time, bool) {
	var next time.Time
	add := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for _, w := range m.windows {
		add(w.expires)
	}
	if m.now.Before(m.postUntil) {
		add(m.postUntil)
	}
	for _, op := range m.ops {
		if !op.ended {
			m.nextOfOp(op, add)
		}
	}
	return next, !next.IsZero()
}

// Relaxed says whether timeouts are relaxed: whether the latest of ActionRelax
// and ActionUnrelax was a Relax.
func (m *Machine) Relaxed() bool { return m.relaxed }

// Active returns the operations that still have links to hand over, in the order
// in which they were announced.
func (m *Machine) Active() []OpKey {
	var keys []OpKey
	for _, op := range m.ops {
		if !op.ended && m.busy(op) {
			keys = append(keys, op.key)
		}
	}
	return keys
}

// begin starts a call.
func (m *Machine) begin(now time.Time) {
	m.event++
	m.now = now
	m.acts = nil
}

// settle ends a call: it does what is due and returns the actions.
func (m *Machine) settle() []Action { return m.settleNotice(KindMoving) }

// settleNotice is settle for a notice of the given kind.
func (m *Machine) settleNotice(kind Kind) []Action {
	m.expireWindows()
	if !m.relaxed && m.holds() {
		m.relaxed, m.cause = true, kind.String()
		m.act(Action{Do: ActionRelax, Reason: m.cause})
	}
	m.endOps() // first: it frees links for other operations
	for _, op := range m.ops {
		if m.now.Before(op.end) {
			m.advance(op)
		}
	}
	if m.relaxed && !m.holds() {
		m.relaxed = false
		m.act(Action{Do: ActionUnrelax, Reason: m.cause})
	}
	m.forgetOps()
	acts := m.acts
	m.acts = nil
	return acts
}

func (m *Machine) act(a Action) { m.acts = append(m.acts, a) }

// holds says whether anything keeps timeouts relaxed: a window, an operation
// before its deadline or with links to hand over, or a handoff lately.
func (m *Machine) holds() bool {
	if len(m.windows) > 0 || m.now.Before(m.postUntil) {
		return true
	}
	for _, op := range m.ops {
		if m.now.Before(op.deadline) || !op.ended && m.busy(op) {
			return true
		}
	}
	return false
}

// link returns the link id, nil if it is not up.
func (m *Machine) link(id LinkID) *link {
	for _, l := range m.links {
		if l.ID == id {
			return l
		}
	}
	return nil
}
