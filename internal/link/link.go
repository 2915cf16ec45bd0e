// Package link is one connection to one server: its handshake, its write side, on
// which the commands of many callers are gathered into batches, and its reader,
// which gives every reply to the call it belongs to.
//
// A link is born by Open, serves, drains and dies. Its socket is never swapped: a
// handoff makes a new link. Links know neither routing nor retries; every failure
// they report says how far the command got.
package link

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// phase is where a link is in its life. It only grows.
type phase uint8

const (
	serving  phase = iota // takes commands
	draining              // takes none; answers what is in flight, then closes
	dead                  // the socket is closed or about to be
)

func (p phase) String() string {
	switch p {
	case serving:
		return "serving"
	case draining:
		return "draining"
	case dead:
		return "dead"
	}
	return "invalid"
}

// Sizes and limits of a link.
const (
	defaultReadBuffer = 64 << 10
	// keepShared and keepLent are how large a buffer may be to be kept once it is
	// empty: that of a shared link, of which there are few, and of a lent one. One of
	// which so many reads in a row have filled less than a quarter is given up too.
	keepShared = 4 << 20
	keepLent   = 256 << 10
	slackMost  = 64
	// keepWrite is the same for the buffers of commands.
	keepWrite = 1 << 20
	// calmBytes is how much may be unanswered on the wire for a caller or the
	// reader to write itself, where a socket can't be asked how much it takes: so
	// much it takes without blocking. Beyond it a goroutine of its own writes, so
	// that neither a caller's deadline nor the reader can hang on a peer that does
	// not read.
	calmBytes = 64 << 10
	// maxQueued and maxInFlight bound what one link holds; callers beyond it wait
	// with their own deadline.
	maxQueued   = 16 << 20
	maxInFlight = 1 << 16
)

// Config is what a link needs to know, set before it is opened.
type Config struct {
	Endpoint   string      // the address as dialled; for errors
	Timeouts   *Timeouts   // shared by the links of one endpoint; never nil
	Limits     resp.Limits // of what a server may send; zero: the codec's defaults
	ReadBuffer int         // bytes; 0: 64 KiB
	NoPolling  bool        // never poll the socket before sleeping
	soloAfter  int         // 0: the default; for tests

	// WatchContexts makes each caller watch its own context. Good for links lent
	// to one user at a time; on shared links a sweeper looks at the contexts of
	// all in flight every few milliseconds, which costs a call nothing.
	WatchContexts bool
	// Readers, if set, counts the link's reader, so that its owner can wait for it.
	Readers *sync.WaitGroup
	// Subscriber makes every frame go to OnPush: the link of a subscription, on
	// which nothing is asked by Do.
	Subscriber bool
	// OnPush gets every push of the server, or every frame of a Subscriber. It runs
	// on the reader: it must not block, and frame is valid only until it returns.
	OnPush func(l *Link, frame []byte)
	// KeepReading leaves the socket to the link's reader, so that a push is seen at once
	// whatever callers do.
	KeepReading bool
	// OnLeave is called once, as soon as the link takes no commands any more; replies of
	// what is in flight may still come. It runs on whoever ends the link's service: it
	// must not block. nil: nothing.
	OnLeave func(l *Link)
	// OnSlow is called where the server has sent nothing for SlowAfter while a command was
	// waiting that does not block, and again as long as that goes on. It runs on the
	// link's timer: it must not block. nil: nothing.
	OnSlow    func(l *Link)
	SlowAfter time.Duration // more than 0 if there is OnSlow
	// OnClose is called once, when the link has died and every call on it has its
	// outcome. It must not block.
	OnClose func(l *Link, err error)
}

// A batch is what one write carries.
type batch struct {
	calls    []*call
	size     int           // bytes
	sent     int           // bytes that were written for sure; set when the write has ended
	at       int64         // when its write ended; 0: it is being written
	patience time.Duration // the longest of its calls; negative: for ever
	calm     bool          // a socket takes it without blocking
}

// A Link is one connection, shared by many callers.
//
// The reader goroutine owns the fields below "the reader's"; everything else is
// immutable or guarded by mu. No lock is held while the socket is read or
// written, while a channel blocks, or while a callback runs.
type Link struct {
	cfg  Config   // immutable
	nc   net.Conn // immutable
	id   uint64   // immutable; unique within the process
	info Info     // immutable after Open

	// calls are those nobody waits for. Each link has its own: they hold channels,
	// and a synctest bubble must not get those of another.
	calls sync.Pool

	bornAt int64 // immutable; by the clock of Timeouts

	away *atomic.Bool // it takes no commands any more; set before OnLeave

	down chan struct{} // closed when the link begins to die: by kill
	gone chan struct{} // closed when the link has died and nobody uses it any more

	mu sync.Mutex // guards the fields below

	phase phase
	err   error // why it died; set with phase = dead

	buf      []byte // encoded commands that nobody has taken for writing yet
	spare    []byte // the other buffer
	cur      batch  // their calls
	fifo     []*batch
	head     int    // of fifo
	got      *batch // the batch whose replies are coming; nil: none. Changed by the reader only
	parsing  bool   // the reader is giving replies to got's calls
	free     []*batch
	inflight int // calls taken for writing and not answered
	unread   int // bytes of batches not wholly answered

	flushing   bool  // somebody has promised to write buf
	writing    bool  // somebody is in Write
	handover   bool  // the promise was passed to whoever is in Write
	flushAt    int   // a caller writes when so many are queued, promise or not; see part
	peak       int   // calls taken or queued at most lately
	lastBatch  int   // calls in the batch written last
	writeSince int64 // when the write going on began; 0: none

	reading  bool   // somebody has the turn to read the socket; see solo.go
	soloist  *call  // the call whose caller has it; nil: the reader, or nobody
	soloUses uint64 // how often a caller had it
	soloSeen uint64 // what the timer saw of that when it looked last
	resting  bool   // the timer looks whether the link is at rest

	lastRead int64         // when bytes came in last
	armed    bool          // the timer is set
	swift    bool          // it is set to look at contexts
	slowAt   int64         // when OnSlow was told last; 0: never
	room     chan struct{} // closed when there is room for more; nil: nobody waits
	writers  sync.WaitGroup
	timer    *time.Timer
	wrote    sync.Cond // after writing became false on a dead link

	turn chan struct{} // gives the reader its turn; one place

	// Those of whoever has the turn to read; next also others may read under mu while
	// parsing is false.
	rbuf    []byte
	r, w    int    // unread part of rbuf
	aside   []byte // what rbuf is when it is not a buffer for one large string; nil: it is not
	slack   int    // reads in a row that have left most of rbuf empty
	filled  int    // reads that have filled rbuf, since it is as large as it is
	scanner resp.Scanner
	next    int      // index of got's first call that is not wholly answered
	start   int      // and where in the batch its bytes start
	early   [][]byte // pushes that came during the handshake
	lone    int      // replies in a row that were alone; the reader's
	due     int      // calls known to be unanswered
	poller  poller
	gate    *gate // below TLS; nil: none

	writer tryWriter // immutable; used by whoever has set writing
}

// ID is the link's number, unique within the process.
func (l *Link) ID() uint64 { return l.id }

// Info tells what the handshake has found out.
func (l *Link) Info() Info { return l.info }

// Endpoint is the address as it was dialled.
func (l *Link) Endpoint() string { return l.cfg.Endpoint }

// Peer is the server's address as the socket knows it, "" where it has none.
func (l *Link) Peer() string {
	if a := l.nc.RemoteAddr(); a != nil && a.Network() != "unix" && a.Network() != "pipe" {
		return a.String()
	}
	return ""
}

// RemoteAddr is the server's address.
func (l *Link) RemoteAddr() net.Addr { return l.nc.RemoteAddr() }

// LocalAddr is this side's address.
func (l *Link) LocalAddr() net.Addr { return l.nc.LocalAddr() }

// Gone is closed when the link has died, every call on it has its outcome, and its
// goroutines have ended.
func (l *Link) Gone() <-chan struct{} { return l.gone }

// Down is closed when the link begins to die. Callbacks of the link that have to
// wait for something end when it is.
func (l *Link) Down() <-chan struct{} { return l.down }

// Alive tells whether the link takes commands.
func (l *Link) Alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.phase == serving
}

// Idle is how long the link has had nothing to do.
func (l *Link) Idle() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inflight+len(l.cur.calls) > 0 {
		return 0
	}
	return time.Duration(l.cfg.Timeouts.now() - max(l.lastRead, l.bornAt))
}

// Left becomes true as soon as the link takes no commands any more. It may be kept
// when the link is gone.
func (l *Link) Left() *atomic.Bool { return l.away }

// leave tells, once, that the link takes no commands any more. No lock is held.
func (l *Link) leave() {
	if !l.away.Swap(true) && l.cfg.OnLeave != nil {
		l.cfg.OnLeave(l)
	}
}

// Err tells why the link died; nil while it lives.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// InFlight is the number of commands queued or unanswered.
func (l *Link) InFlight() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inflight + len(l.cur.calls)
}

// Drain makes the link take no new commands and close itself when those in flight
// are answered. It does not wait: see Gone.
func (l *Link) Drain() {
	l.mu.Lock()
	if l.phase != serving {
		l.mu.Unlock()
		return
	}
	l.phase = draining
	l.letIn()
	empty := l.drained()
	l.mu.Unlock()
	l.leave()
	if empty {
		l.kill(ErrDraining)
	}
}

// drained tells whether a draining link has nothing left to do; mu is held.
func (l *Link) drained() bool {
	return l.phase == draining && l.inflight == 0 && len(l.cur.calls) == 0
}

// Close ends the link at once; what is in flight fails with err (nil: ErrClosed).
// It does not wait: see Gone.
func (l *Link) Close(err error) {
	if err == nil {
		err = ErrClosed
	}
	l.kill(err)
}

// kill makes the link dead. The reader, woken by the closed socket, does the rest.
func (l *Link) kill(err error) {
	l.mu.Lock()
	if l.phase == dead {
		l.mu.Unlock()
		return
	}
	l.phase = dead
	l.err = err
	close(l.down)
	l.letIn()
	l.wantTurn()
	l.mu.Unlock()
	l.leave()
	if t, ok := l.nc.(interface{ NetConn() net.Conn }); ok && !errors.Is(err, ErrDraining) {
		_ = t.NetConn().Close() // TLS would first wait to say goodbye to a peer that may not listen
	}
	_ = l.nc.Close()
}

// bury ends a link whose reader has stopped: it waits for whoever writes, gives
// every call its outcome and tells the owner.
func (l *Link) bury(err error) {
	l.kill(err)
	l.mu.Lock()
	for l.writing {
		l.wrote.Wait()
	}
	err = l.err
	l.timer.Stop()
	first, batches, queued := l.got, l.fifo[l.head:], l.cur.calls
	l.got = nil
	l.cur.calls, l.fifo, l.head, l.buf, l.inflight = nil, nil, 0, nil, 0
	l.mu.Unlock()

	maybe := &Error{Endpoint: l.cfg.Endpoint, Delivery: MaybeSent, Err: err}
	not := &Error{Endpoint: l.cfg.Endpoint, Delivery: NotSent, Err: err}
	if first != nil {
		failBatch(first.calls[l.next:], l.start, first.sent, maybe, not)
	}
	for _, b := range batches {
		failBatch(b.calls, 0, b.sent, maybe, not)
	}
	for _, c := range queued {
		c.fail(not)
	}
	l.writers.Wait()
	if l.cfg.OnClose != nil {
		l.cfg.OnClose(l, err)
	}
	close(l.gone)
}

// failBatch fails the calls of a batch, the first of which starts at byte start of
// it. Those that lie wholly beyond what was written have not been sent.
func failBatch(calls []*call, start, sent int, maybe, not *Error) {
	for _, c := range calls {
		size := c.size // a call that has failed is no longer ours
		if start >= sent {
			c.fail(not)
		} else {
			c.fail(maybe)
		}
		start += size
	}
}

// keep is how large a buffer may be to be kept.
func (l *Link) keep() int {
	if l.cfg.WatchContexts {
		return keepLent
	}
	return keepShared
}

// letIn wakes those who wait for room; mu is held.
func (l *Link) letIn() {
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
}

// Do sends a request and waits for its replies. It returns what of them was given to
// the sink, and nil where that is all. Otherwise the error is an *Error
// that says how far the request got; a caller whose context ends gets its cause
// and leaves at once, and the link drops the reply when it comes. Nothing is sent
// for a context that has ended already.
func (l *Link) Do(ctx context.Context, q Request) (Done, error) {
	watch := ctx.Done()
	if watch != nil && ctx.Err() != nil {
		return Done{}, &Error{Endpoint: l.cfg.Endpoint, Delivery: NotSent, Err: context.Cause(ctx)}
	}
	if q.Carrier != nil {
		q.Carrier.Carried(l)
	}
	c := l.calls.Get().(*call)
	c.sink, c.replies, c.patience = q.Sink, q.Replies, q.Patience
	if watch != nil && !l.cfg.WatchContexts {
		c.ctx, c.watched, watch = ctx, true, nil
	}
	c.alone = watch == nil
	if err := l.submit(ctx, c, q.Wire, ""); err != nil {
		l.release(c)
		return Done{}, err
	}
	if watch == nil {
		<-c.ready
	} else {
		select {
		case <-c.ready:
		case <-watch:
			if c.abandon() {
				return c.got, l.left(ctx)
			}
			<-c.ready
		}
	}
	if c.state.Load() == abandoned { // by the sweeper
		return c.got, l.left(ctx)
	}
	got, err := c.got, c.err
	l.release(c)
	if err != nil {
		return got, err
	}
	return got, nil
}

// left is the error of a caller whose context has ended with its command sent.
func (l *Link) left(ctx context.Context) *Error {
	return &Error{Endpoint: l.cfg.Endpoint, Delivery: MaybeSent, Err: context.Cause(ctx)}
}
