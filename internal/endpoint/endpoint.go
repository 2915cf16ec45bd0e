// Package endpoint is one server address with all links to it: its lanes, its
// maintenance state, and the one owner that carries out what the maintenance
// machine decides.
package endpoint

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
	"github.com/baton-go/redis/maintnotifications"
)

// Resolver looks host names up; *net.Resolver is one.
type Resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// Config is what an endpoint needs to know. It is not changed after New.
type Config struct {
	Network string // "tcp" or "unix"
	Addr    string // the configured address
	TLS     bool   // the dialer speaks TLS; decides the endpoint type to ask for

	// Dial opens a socket; it is called with the address to use, which is another
	// one than Addr during a handoff.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Resolver finds out whether the addresses of Addr's host have changed.
	Resolver Resolver
	// Locate finds out where the server is, "host:port", for each dial; Addr is then a
	// name and no address. nil: it is at Addr.
	Locate func(ctx context.Context) (string, error)
	// PrimaryOnly refuses links to what Locate has given if it calls itself a replica.
	PrimaryOnly bool
	// Handshake gives what to tell the server; it is called for each link, so that
	// credentials may change.
	Handshake func(ctx context.Context) (link.Handshake, error)
	// OnLink is called with each new link of the lanes before it is used by anybody
	// else; an error closes it. nil: nothing.
	OnLink func(ctx context.Context, l *link.Link) error
	// OnUp and OnDown are told of each link that serves, with how long it took to open it,
	// and of each that has died. They run without locks, OnDown on the reader of the dead
	// link, and must not block. nil: nothing.
	OnUp   func(l *link.Link, took time.Duration, kind LinkKind)
	OnDown func(l *link.Link, err error, kind LinkKind)
	// OnSlots gets each SMIGRATED, on the endpoint's owner, from each link that told
	// it. It must not block. nil: nothing.
	OnSlots func(n maintnotifications.Notice)
	// Tracking makes the server track what is read on the shared lane; nil: it doesn't.
	Tracking *Tracking
	// OnPush gets the pushes that are no maintenance notices: the name, and all
	// elements with it. It runs on the endpoint's owner, never on a reader. Only
	// those pushes are passed on that WantsPush is true for.
	OnPush    func(l *link.Link, args []any)
	WantsPush func(name string) bool

	DialTimeout  time.Duration // for one connection attempt
	DialRetries  int           // attempts of one dial; at least 1
	DialBackoff  func(attempt int) time.Duration
	ReadTimeout  time.Duration // 0 or less: none
	WriteTimeout time.Duration // 0 or less: none
	ReadBuffer   int           // bytes; 0: the link's default
	NoPolling    bool          // readers never poll

	Pool  lane.PoolConfig
	Maint *maintnotifications.Config // with its defaults applied; never nil
	// Manager sees what the maintenance system does; never nil.
	Manager *maintnotifications.Manager
	Logger  *slog.Logger // never nil
}

// LinkKind is what a link is for.
type LinkKind uint8

// The kinds of links.
const (
	LinkShared    LinkKind = iota // of ordinary commands
	LinkPooled                    // lent to one user at a time
	LinkDedicated                 // in no lane: of a subscription
)

// kind is what the entry's link is for.
func (en *entry) kind() LinkKind {
	switch {
	case en.pooled:
		return LinkPooled
	case en.beside:
		return LinkDedicated
	}
	return LinkShared
}

// RemoteAddr is the address at the other end of the link of ordinary commands; nil: there
// is none now.
func (e *Endpoint) RemoteAddr() net.Addr {
	if l := e.shared.Current(); l != nil {
		return l.RemoteAddr()
	}
	return nil
}

// Tracking says who is told of the keys that links of the shared lane have read, for a
// cache. None of its functions may block.
type Tracking struct {
	// OnInvalidate gets the server's word that keys have changed, in order with the
	// link's replies: it runs on the link's reader. r is at an array of keys, or at a
	// null for all keys.
	OnInvalidate func(l *link.Link, r resp.Reader)
	// OnLeave is called when a link is left: dead, replaced or handed over. Replies of
	// what is in flight may still come.
	OnLeave func(l *link.Link)
	// OnGone is called when a link has died and no more replies come.
	OnGone func(l *link.Link)
}

// Endpoint is one address with its links. Safe for concurrent use.
//
// Lock order: mu is never held while a lane's or a link's lock is taken, nor the
// other way round.
type Endpoint struct {
	cfg      Config         // immutable
	timeouts *link.Timeouts // shared with every link
	shared   *lane.Shared   // of ordinary commands
	large    *lane.Shared   // of those with large replies
	lane     *lane.Split    // of both
	pool     *lane.Pool

	run     context.Context // ends at Close
	stop    context.CancelFunc
	dials   context.Context // ends when it is retired or closed
	work    sync.WaitGroup  // the owner, workers, lookups
	readers sync.WaitGroup  // of the links

	stopDials context.CancelCauseFunc

	onSlow     atomic.Pointer[func()]   // see TellSlow; nil: nobody is told
	failure    atomic.Pointer[error]    // of the last attempt of an ordinary dial; nil: it has succeeded
	wasUp      atomic.Bool              // a link was open once
	wasPrimary atomic.Bool              // and its server was a primary, as far as it said
	named      bool                     // the configured host is a name; immutable
	targets    atomic.Pointer[[]string] // where to dial, best first; nil: the configured address

	mu       sync.Mutex // guards the fields below
	closed   bool
	links    map[uint64]*entry // every link that has not died
	left     chan struct{}     // it was retired; gets a value when a link has gone
	refusal  refusal
	optedIn  bool      // a link has, once
	cutAsked int       // dials, one after the other, that ended at the opt-in
	cutAt    time.Time // when the last of them did
	events   []event   // for the owner
	owned    bool      // the owner is running
	timer    *time.Timer
	jobs     []job // handoffs to do
	workers  int
	busy     int         // workers with a job
	resting  int         // workers without one
	dnsTimer *time.Timer // nil: never set
	dnsSet   bool        // it is set

	locatedAt time.Time // when relocate asked last

	toUnblock map[place][]*Blocked // by who is asked; there as long as somebody asks

	wake chan struct{} // to resting workers; never closed

	// The owner's.
	machine *maintnotifications.Machine
	silent  silent
	account account
}

// entry is a link with what depends on its use.
type entry struct {
	l      *link.Link
	move   mover
	renew  func(ctx context.Context) error // move without haste; of the shared lane only
	retire func()                          // no new work; close when drained
	gone   func()                          // it has died
	pooled bool                            // it is one of the pool's
	beside bool                            // it is in no lane
	age    *ageing                         // of the shared lane's link; set before it is registered

	left    bool      // a lent link that is taken out of use; guarded by Endpoint.mu
	leftBy  time.Time // when its server closes it; zero: not known. Guarded by Endpoint.mu
	blocked *Blocked  // a command that waits on it; nil: none. Guarded by Endpoint.mu
}

// A mover replaces the entry's link by one to the first of targets that works, so
// that the replacement serves before the old link drains.
type mover func(ctx context.Context, targets []string) error

// refusal remembers that the server would not send notifications.
type refusal struct {
	by    string // link.Info.Identity
	until time.Time
}

// refusalMemory is how long a server that has refused the opt-in is not asked
// again; one of another version is asked at once.
const refusalMemory = 10 * time.Minute

// New makes an endpoint. Nothing is dialled and no goroutine started before it is
// used, but for MinIdle links of the pool.
func New(cfg Config) *Endpoint {
	e := &Endpoint{
		cfg:      cfg,
		timeouts: link.NewTimeouts(cfg.ReadTimeout, cfg.WriteTimeout),
		links:    make(map[uint64]*entry),
		wake:     make(chan struct{}, max(cfg.Maint.MaxWorkers, 1)),
	}
	e.named = e.byName()
	e.run, e.stop = context.WithCancel(context.Background())
	e.dials, e.stopDials = context.WithCancelCause(e.run)
	e.machine = maintnotifications.NewMachine(maintnotifications.MachineConfig{
		Addr:                       cfg.Addr,
		RelaxedTimeout:             cfg.Maint.RelaxedTimeout,
		HandoffTimeout:             cfg.Maint.HandoffTimeout,
		PostHandoffRelaxedDuration: cfg.Maint.PostHandoffRelaxedDuration,
		MaxHandoffRetries:          cfg.Maint.MaxHandoffRetries,
		Jitter:                     jitter,
	})
	e.shared, e.large = e.newShared(), e.newShared()
	e.lane = lane.NewSplit(e.shared, e.large)
	cfg.Pool.Wait = e.dialWait()
	e.pool = lane.NewPool(cfg.Pool, func(ctx context.Context) (*link.Link, error) {
		return e.open(ctx, e.pooledUse())
	})
	return e
}

// newShared makes a lane whose link is replaced by handoffs.
func (e *Endpoint) newShared() (s *lane.Shared) {
	s = lane.NewShared(func(ctx context.Context) (*link.Link, error) {
		return e.open(ctx, e.sharedUse(s))
	}, e.dialWait())
	return s
}

// dialWait is how long a caller waits for a link that is being opened, while that goes on:
// as long as for one of the pool, or for what one attempt may take.
func (e *Endpoint) dialWait() lane.Wait {
	return lane.Wait{
		Most: func() time.Duration {
			if e.cfg.Pool.Timeout <= 0 {
				return 0
			}
			return max(e.cfg.Pool.Timeout, max(e.cfg.DialTimeout, 0)+e.timeouts.Read())
		},
		Last: func() error {
			if err := e.failure.Load(); err != nil {
				return *err
			}
			return nil
		},
	}
}

// Lane is the lane of ordinary commands.
func (e *Endpoint) Lane() *lane.Split { return e.lane }

// Pool is the lane of those who need a link of their own.
func (e *Endpoint) Pool() *lane.Pool { return e.pool }

// Addr is the configured address.
func (e *Endpoint) Addr() string { return e.cfg.Addr }

// WasUp tells whether a link to the endpoint was ever open.
func (e *Endpoint) WasUp() bool { return e.wasUp.Load() }

// Timeouts are those of the endpoint's links.
func (e *Endpoint) Timeouts() *link.Timeouts { return e.timeouts }

// Links is the number of live links: on the shared lane, in the pool, beside them.
func (e *Endpoint) Links() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.links)
}

// IsLinkedTo tells whether a live link leads to addr, as it was dialled or as the
// socket has it.
func (e *Endpoint) IsLinkedTo(addr string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, en := range e.links {
		if en.l.Endpoint() == addr || en.l.Peer() == addr {
			return true
		}
	}
	return false
}

// Close ends all links at once and returns when every goroutine of the endpoint has
// ended. Handoffs going on are broken off.
func (e *Endpoint) Close() {
	e.mu.Lock()
	e.closed = true // perhaps not for the first time: every call waits
	e.jobs, e.events = nil, nil
	for _, t := range []*time.Timer{e.timer, e.dnsTimer} {
		if t != nil {
			t.Stop()
		}
	}
	links := make([]*link.Link, 0, len(e.links))
	for _, en := range e.links {
		links = append(links, en.l)
	}
	e.mu.Unlock()
	e.stopDials(link.ErrClosed)
	e.stop()
	e.lane.Close()
	e.pool.Close()
	for _, l := range links {
		l.Close(link.ErrClosed)
	}
	e.work.Wait()
	e.readers.Wait()
	e.mu.Lock()
	rest := e.account // the owner has gone
	e.account = account{}
	e.mu.Unlock()
	rest.unrelax(e.cfg.Manager.Metrics())
}

// use says what a link is for: what its configuration and its entry are like.
type use struct {
	subscriber bool
	lent       bool // to one user at a time
	raced      bool // it is one of several attempts
	tracked    bool // by the server, if Config.Tracking wants it
	onFrame    func(l *link.Link, frame []byte)
	entry      func(l *link.Link) *entry
}

// sharedUse is for the link of a shared lane.
func (e *Endpoint) sharedUse(s *lane.Shared) use {
	return use{tracked: true, entry: func(l *link.Link) *entry {
		en := &entry{
			l: l,
			move: func(ctx context.Context, targets []string) error {
				next, err := e.openFirst(ctx, e.sharedUse(s), targets)
				return succeed(s, l, next, err)
			},
			renew: func(ctx context.Context) error {
				next, err := e.openAt(ctx, e.sharedUse(s), e.dialTargets())
				return succeed(s, l, next, err)
			},
			retire: func() { s.Dropped(l); l.Drain() },
		}
		en.gone = func() {
			en.age.stop()
			s.Dropped(l)
			if t := e.cfg.Tracking; t != nil {
				t.OnGone(l)
			}
		}
		en.age = e.watchAge(en)
		return en
	}}
}

// succeed makes next a shared lane's link in place of l.
func succeed(s *lane.Shared, l, next *link.Link, err error) error {
	switch {
	case err != nil:
		return err
	case s.Current() != nil && s.Current() != l:
		next.Drain() // the lane has moved by itself
	case !s.Replace(next):
		return &link.Error{Endpoint: next.Endpoint(), Delivery: link.NotSent, Err: errReplacementDied}
	}
	l.Drain()
	return nil
}

var errReplacementDied = errors.New("the new link has died before it could serve")

// pooledUse is for the links of the pool.
func (e *Endpoint) pooledUse() use {
	return use{lent: true, entry: func(l *link.Link) *entry {
		en := &entry{l: l, pooled: true, gone: func() { e.pool.Dropped(l) }}
		en.retire = func() {
			e.pool.Retire(l)
			e.leaveLent(en, time.Time{})
		}
		en.move = func(ctx context.Context, targets []string) error {
			next, err := e.openFirst(ctx, e.pooledUse(), targets)
			if err != nil {
				return err
			}
			if !e.pool.Add(next) {
				return &link.Error{Endpoint: next.Endpoint(), Delivery: link.NotSent, Err: errReplacementDied}
			}
			by, _ := ctx.Deadline()
			e.pool.Retire(l)
			e.leaveLent(en, by)
			return nil
		}
		return en
	}}
}

// Dedicated says what a link beside the lanes is for: a subscription.
type Dedicated struct {
	OnFrame func(l *link.Link, frame []byte) // see link.Config.OnPush
	OnGone  func(l *link.Link)               // the link has died; nil: nothing
	// Move is told to replace the link; see OpenDedicatedAt. nil: it is left alone
	// until its server closes it.
	Move func(ctx context.Context, l *link.Link, targets []string) error
}

// OpenDedicated opens a link that belongs to the caller alone, in no lane.
func (e *Endpoint) OpenDedicated(ctx context.Context, d Dedicated) (*link.Link, error) {
	return e.open(ctx, e.dedicatedUse(d))
}

// OpenDedicatedAt is OpenDedicated during a handoff.
func (e *Endpoint) OpenDedicatedAt(ctx context.Context, d Dedicated, targets []string) (*link.Link, error) {
	return e.openFirst(ctx, e.dedicatedUse(d), targets)
}

func (e *Endpoint) dedicatedUse(d Dedicated) use {
	return use{subscriber: true, lent: true, onFrame: d.OnFrame, entry: func(l *link.Link) *entry {
		en := &entry{l: l, beside: true, retire: func() {}, gone: func() {}}
		if d.OnGone != nil {
			en.gone = func() { d.OnGone(l) }
		}
		if d.Move != nil {
			en.move = func(ctx context.Context, targets []string) error { return d.Move(ctx, l, targets) }
			en.retire = func() { l.Close(errRetired) }
		}
		return en
	}}
}

var errRetired = errors.New("the endpoint is being retired and no replacement could be reached")
