package lane

import (
	"container/list"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// PoolConfig are the sizes and times of a pool.
type PoolConfig struct {
	Size        int           // links lent at one time at most; at least 1
	MinIdle     int           // idle links kept ready
	MaxIdle     int           // idle links kept at most; 0: no bound but Size
	MaxActive   int           // links open at one time at most; 0: no bound
	Timeout     time.Duration // how long Get waits for its turn
	Wait        Wait          // and then for a link that is being opened
	MaxIdleTime time.Duration // an idle link is closed at the first use of the pool after it; 0 or less: never
	MaxLifetime time.Duration // a link is not lent any more after it; 0 or less: never
	Jitter      time.Duration // MaxLifetime is varied by up to so much either way
	FIFO        bool          // lend the link that is idle longest, not shortest
}

var (
	// ErrPoolTimeout says that all links of a pool stayed lent for PoolTimeout.
	ErrPoolTimeout = errors.New("connection pool timeout")
	// ErrPoolExhausted says that one more link would exceed MaxActiveConns.
	ErrPoolExhausted = errors.New("connection pool exhausted")
)

// PoolStats counts what a pool did. All are totals since its creation but Total,
// Idle and Pending.
type PoolStats struct {
	Hits, Misses, Timeouts, Waits, Stale uint32
	Total, Idle, Pending                 uint32
	WaitTime                             time.Duration
}

// Pool is the lane of those who need a link of their own: blocking commands,
// transactions, sessions. Waiters are served in the order of their arrival.
//
// A turn is the right to hold a link; there are Size of them. Links and turns are
// apart: during a handoff there may be more links than turns, never fewer usable
// links than before it. Safe for concurrent use.
type Pool struct {
	open Open       // immutable
	cfg  PoolConfig // immutable

	run  context.Context // ends when the pool is closed
	stop context.CancelFunc
	work sync.WaitGroup // dials

	mu      sync.Mutex // guards the fields below
	closed  bool
	turns   int                     // not taken
	queue   list.List               // of *waiter: for a turn
	wants   list.List               // of *want: have a turn, wait for a link
	members map[*link.Link]*Lease   // every link of the pool
	idle    []*Lease                // the last one was used last
	dialing int                     // links being opened
	early   map[*link.Link]struct{} // retired before they were adopted
	stats   PoolStats
}

// A Lease is one link of the pool; whoever got it from Get holds it until Put.
type Lease struct {
	Link *link.Link // immutable

	// Guarded by Pool.mu.
	lent    bool
	retired bool      // not to be lent again
	expires time.Time // end of its lifetime; zero: none
	used    time.Time // when it was put back last
}

// A waiter waits for a turn.
type waiter struct{ turn chan struct{} } // closed when it has one

// A want waits for a link: an idle one or the one being dialled for it, whichever
// is first.
type want struct {
	got chan struct{} // closed when lease or err is set
	l   *Lease
	err error
}

// NewPool makes a pool. It opens MinIdle links at once, and else nothing before
// the first Get.
func NewPool(cfg PoolConfig, open Open) *Pool {
	cfg.Size = max(cfg.Size, 1)
	p := &Pool{open: open, cfg: cfg, turns: cfg.Size, members: make(map[*link.Link]*Lease), early: make(map[*link.Link]struct{})}
	p.run, p.stop = context.WithCancel(context.Background())
	p.mu.Lock()
	p.topUp()
	p.mu.Unlock()
	return p
}

// Get lends a link. It waits for a turn no longer than the pool's Timeout, then
// takes an idle link or waits for one to be dialled. The errors are link.Error with
// NotSent, around ErrPoolTimeout, ErrPoolExhausted, the context's or the dial's.
func (p *Pool) Get(ctx context.Context) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, notSent(context.Cause(ctx))
	}
	if err := p.takeTurn(ctx); err != nil {
		return nil, notSent(err)
	}
	l, w, err := p.pick()
	if err != nil {
		return nil, notSent(err)
	}
	if w == nil {
		return l, nil
	}
	began := time.Now()
	late, end, most := p.cfg.Wait.begin()
	defer end()
	select {
	case <-w.got:
	case <-late:
		if p.unwant(w) {
			return nil, waited(p.cfg.Wait.late(most), began)
		}
		<-w.got
	case <-ctx.Done():
		if p.unwant(w) {
			return nil, notSent(context.Cause(ctx))
		}
		<-w.got
	}
	if w.err != nil {
		return nil, waited(w.err, began)
	}
	return w.l, nil
}

func notSent(err error) *link.Error {
	if e, ok := errors.AsType[*link.Error](err); ok {
		return e
	}
	return &link.Error{Delivery: link.NotSent, Err: err}
}

// takeTurn waits for the right to hold a link.
func (p *Pool) takeTurn(ctx context.Context) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return link.ErrClosed
	}
	if p.turns > 0 {
		p.turns--
		p.mu.Unlock()
		return nil
	}
	w := &waiter{turn: make(chan struct{})}
	e := p.queue.PushBack(w)
	p.stats.Waits++
	p.mu.Unlock()

	start := time.Now()
	timer := time.NewTimer(p.cfg.Timeout)
	defer timer.Stop()
	var err error
	select {
	case <-w.turn:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = ErrPoolTimeout
	case <-p.run.Done():
		err = link.ErrClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.WaitTime += time.Since(start)
	if err == nil {
		return nil
	}
	select {
	case <-w.turn: // it came at the same moment: give it on
		p.giveTurn()
	default:
		p.queue.Remove(e)
	}
	if errors.Is(err, ErrPoolTimeout) {
		p.stats.Timeouts++
	}
	return err
}

// giveTurn gives a turn to the one who waits longest, or keeps it; mu is held.
func (p *Pool) giveTurn() {
	if e := p.queue.Front(); e != nil {
		p.queue.Remove(e)
		close(e.Value.(*waiter).turn)
		return
	}
	p.turns++
}

// pick takes an idle link, or says what to wait for: a link that is being dialled
// and that nobody waits for, or a new one. On an error the turn is given back.
func (p *Pool) pick() (*Lease, *want, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.giveTurn()
		return nil, nil, link.ErrClosed
	}
	if l := p.popIdle(); l != nil {
		p.stats.Hits++
		p.topUp()
		return l, nil, nil
	}
	p.stats.Misses++
	isSpare := p.dialing > p.wants.Len() // for MinIdle, or its caller has left
	if !isSpare && p.full() {
		p.giveTurn()
		return nil, nil, ErrPoolExhausted
	}
	w := &want{got: make(chan struct{})}
	p.wants.PushBack(w)
	if !isSpare {
		p.dial()
	}
	p.topUp()
	return nil, w, nil
}

// full tells whether MaxActive forbids one more link; mu is held.
func (p *Pool) full() bool {
	return p.cfg.MaxActive > 0 && len(p.members)+p.dialing >= p.cfg.MaxActive
}

// popIdle takes the next idle link that is still good and lends it; mu is held.
func (p *Pool) popIdle() *Lease {
	at := time.Now()
	p.expire(at)
	for len(p.idle) > 0 {
		i := len(p.idle) - 1
		if p.cfg.FIFO {
			i = 0
		}
		l := p.idle[i]
		p.idle = append(p.idle[:i], p.idle[i+1:]...)
		if p.isStale(l, at) || !l.Link.Alive() {
			p.remove(l)
			p.stats.Stale++
			continue
		}
		l.lent = true
		return l
	}
	return nil
}

// expire ends the links that have been idle for too long, which are the first ones;
// mu is held.
func (p *Pool) expire(at time.Time) {
	for len(p.idle) > 0 && p.isStale(p.idle[0], at) {
		p.remove(p.idle[0])
		p.idle = append(p.idle[:0], p.idle[1:]...)
		p.stats.Stale++
	}
}

func (p *Pool) isStale(l *Lease, at time.Time) bool {
	if l.retired || !l.expires.IsZero() && !at.Before(l.expires) {
		return true
	}
	return p.cfg.MaxIdleTime > 0 && at.Sub(l.used) >= p.cfg.MaxIdleTime
}

// remove takes a link out of the pool and ends it; mu is held. Draining an idle
// link closes its socket without waiting.
func (p *Pool) remove(l *Lease) {
	delete(p.members, l.Link)
	l.retired = true
	p.work.Go(l.Link.Drain)
}

// dial opens one more link in a goroutine of its own; mu is held.
func (p *Pool) dial() {
	p.dialing++
	p.work.Go(func() {
		l, err := p.open(p.run)
		p.mu.Lock()
		p.dialing--
		if err != nil {
			p.dialFailed(err)
			p.mu.Unlock()
			return
		}
		p.adopt(l)
		p.mu.Unlock()
	})
}

// dialFailed gives the error to the one who waits longest; mu is held.
func (p *Pool) dialFailed(err error) {
	if e := p.wants.Front(); e != nil && p.wants.Len() > p.dialing {
		p.wants.Remove(e)
		w := e.Value.(*want)
		w.err = err
		p.giveTurn()
		close(w.got)
	}
}

// adopt takes a new link into the pool; mu is held.
func (p *Pool) adopt(l *link.Link) {
	if p.closed || !l.Alive() {
		p.work.Go(func() { l.Close(link.ErrClosed) })
		if !p.closed {
			p.dialFailed(&link.Error{Endpoint: l.Endpoint(), Delivery: link.NotSent, Err: l.Err()})
		}
		return
	}
	p.settle(p.join(l))
}

// join makes a new link one of the pool's; mu is held.
func (p *Pool) join(l *link.Link) *Lease {
	lease := &Lease{Link: l, used: time.Now()}
	if d := p.cfg.MaxLifetime; d > 0 {
		if j := p.cfg.Jitter; j > 0 {
			d += rand.N(2*j) - j //nolint:gosec // jitter, no secret
		}
		lease.expires = lease.used.Add(max(d, 1))
	}
	_, lease.retired = p.early[l]
	delete(p.early, l)
	p.members[l] = lease
	return lease
}

// settle gives a free link to the one who waits longest for one, or makes it idle;
// mu is held.
func (p *Pool) settle(l *Lease) {
	switch {
	case p.serve(l):
	case l.retired, p.hasSurplus(), p.cfg.MaxIdle > 0 && len(p.idle) >= p.cfg.MaxIdle:
		p.remove(l)
	default:
		p.rest(l)
	}
}

// hasSurplus tells whether there are more links than may be lent at one time, as
// handoffs can leave behind; mu is held.
func (p *Pool) hasSurplus() bool {
	most := p.cfg.Size
	if p.cfg.MaxActive > 0 {
		most = min(most, p.cfg.MaxActive)
	}
	usable := len(p.members)
	if usable <= most { // as ever outside handoffs
		return false
	}
	for _, l := range p.members {
		if l.retired {
			usable-- // it goes when it is put back
		}
	}
	return usable > most
}

// serve gives a free link to the one who waits longest for one; false: nobody does.
// mu is held.
func (p *Pool) serve(l *Lease) bool {
	e := p.wants.Front()
	l.lent = e != nil
	if l.lent {
		w := e.Value.(*want)
		p.wants.Remove(e)
		w.l = l
		close(w.got)
	}
	return l.lent
}

// rest makes a free link idle; mu is held.
func (p *Pool) rest(l *Lease) {
	l.used = time.Now()
	p.idle = append(p.idle, l)
}

// unwant takes back a want whose owner leaves; false: it was served already. The
// turn is given back with it, and what is being dialled becomes idle.
func (p *Pool) unwant(w *want) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.wants.Front(); e != nil; e = e.Next() {
		if e.Value.(*want) == w {
			p.wants.Remove(e)
			p.giveTurn()
			return true
		}
	}
	return false
}

// Put gives a link back. reuse false ends it: its state is not that of a fresh link
// any more, or a command is still in flight on it.
func (p *Pool) Put(l *Lease, reuse bool) {
	if !reuse {
		l.Link.Close(nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.lent {
		return
	}
	l.lent = false
	at := time.Now()
	l.used = at // however long it was lent, it was not idle
	switch {
	case p.members[l.Link] == nil: // died, or the pool is closed
	case !reuse:
		delete(p.members, l.Link)
	case p.isStale(l, at) || !l.Link.Alive():
		p.remove(l)
		p.stats.Stale++
	default:
		p.settle(l)
	}
	p.giveTurn()
	p.expire(at)
	p.topUp()
}

// Add takes a link into the pool that was opened elsewhere: the replacement in a
// handoff. It may exceed Size, MaxActive and MaxIdle until the link it replaces is
// retired.
func (p *Pool) Add(l *link.Link) bool {
	p.mu.Lock()
	if p.closed || !l.Alive() {
		p.mu.Unlock()
		l.Close(link.ErrClosed)
		return false
	}
	switch m := p.join(l); {
	case p.serve(m):
	case m.retired:
		p.remove(m)
	default:
		p.rest(m)
	}
	p.mu.Unlock()
	return true
}

// Retire makes the pool not lend a link again: an idle one is closed, a lent one
// when it is put back.
func (p *Pool) Retire(l *link.Link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.members[l]
	if m == nil {
		if !p.closed && l.Alive() {
			p.early[l] = struct{}{} // it is just being opened: see adopt
		}
		return
	}
	m.retired = true
	for i, c := range p.idle {
		if c == m {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.remove(m)
			p.topUp()
			return
		}
	}
}

// Dropped tells the pool that a link has died.
func (p *Pool) Dropped(l *link.Link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.early, l)
	m := p.members[l]
	if m == nil {
		return
	}
	delete(p.members, l)
	m.retired = true
	for i, c := range p.idle {
		if c == m {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.stats.Stale++
			break
		}
	}
}

// topUp opens idle links up to MinIdle, as far as there are turns and MaxActive
// allows; mu is held. It is asked again whenever a link is taken or given back, so
// a failed dial is not repeated in a loop.
func (p *Pool) topUp() {
	for !p.closed && len(p.idle)+p.dialing-p.wants.Len() < p.cfg.MinIdle &&
		len(p.members)+p.dialing < p.cfg.Size && !p.full() {
		p.dial()
	}
}

// Stats counts.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Total, s.Idle = uint32(len(p.members)), uint32(len(p.idle))
	s.Pending = uint32(p.queue.Len() + p.wants.Len())
	return s
}

// Close ends the pool: idle links and lent ones are closed, waiters get ErrClosed.
// It returns when the pool's goroutines have ended.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	links := make([]*link.Link, 0, len(p.members))
	for l := range p.members {
		links = append(links, l)
	}
	clear(p.members)
	p.idle = nil
	for e := p.wants.Front(); e != nil; e = p.wants.Front() {
		p.wants.Remove(e)
		w := e.Value.(*want)
		w.err = link.ErrClosed
		p.giveTurn()
		close(w.got)
	}
	p.stop()
	p.mu.Unlock()
	for _, l := range links {
		l.Close(link.ErrClosed)
	}
	p.work.Wait()
}
