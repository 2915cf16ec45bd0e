// Package lane holds the two ways to an endpoint's links: the shared lane, on which
// the commands of all callers are pipelined, and the exclusive pool, whose links are
// lent to one user at a time. Lanes know links, not where they lead.
package lane

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// Open makes a new link that serves. Its context ends when the lane is closed.
type Open func(ctx context.Context) (*link.Link, error)

// A WaitError is why a caller has got no link that had to be opened, with how long it has
// waited for it.
type WaitError struct {
	After time.Duration
	Err   error
}

func (e *WaitError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *WaitError) Unwrap() error { return e.Err }

// Waited is how long the caller whom err belongs to has waited for a link.
func Waited(err error) time.Duration {
	if w, ok := errors.AsType[*WaitError](err); ok {
		return w.After
	}
	return 0
}

// waited is err for a caller who has waited since began.
func waited(err error, began time.Time) *link.Error {
	e := *notSent(err)
	e.Err = &WaitError{After: time.Since(began), Err: e.Err}
	return &e
}

// A Wait bounds how long callers wait for a link that is being opened. The zero Wait does
// not.
type Wait struct {
	Most func() time.Duration // 0 or less: no bound
	Last func() error         // why the last attempt has failed; nil: none has
}

// begin begins to wait: late gets a value when that is over.
func (w Wait) begin() (late <-chan time.Time, end func(), most time.Duration) {
	if w.Most != nil {
		most = w.Most()
	}
	if most <= 0 {
		return nil, func() {}, 0
	}
	t := time.NewTimer(most)
	return t.C, func() { t.Stop() }, most
}

// lateError is why a caller leaves a dial that goes on.
type lateError struct {
	after time.Duration
	last  error // nil: no attempt has failed
}

// late is the error of a caller who has waited as long as it may.
func (w Wait) late(after time.Duration) error { return &lateError{after, w.Last()} }

func (e *lateError) Error() string {
	s := fmt.Sprintf("no connection could be opened within %v; it goes on being tried", e.after)
	if e.last != nil {
		s += "; the last attempt: " + e.last.Error()
	}
	return s
}

func (e *lateError) Unwrap() error { return e.last }

// Timeout is true.
func (e *lateError) Timeout() bool { return true }

// Shared is the lane of ordinary commands: one link, replaced in one atomic step.
// Safe for concurrent use.
type Shared struct {
	open Open // immutable
	wait Wait // immutable
	cur  atomic.Pointer[link.Link]

	mu      sync.Mutex // guards the fields below
	attempt *attempt   // the dial going on; nil: none
	closed  bool
	stop    context.CancelFunc // ends the dial going on
	dials   sync.WaitGroup
	failed  int       // dials in a row
	lastErr error     // of the last of them
	resting time.Time // until when that error is given without another dial
}

// An attempt is one dial that any number of callers wait for.
type attempt struct {
	done chan struct{} // closed when l or err is set
	l    *link.Link
	err  error
}

// NewShared makes a lane that opens its link when it is first asked for one, and whose
// callers wait for that as long as wait says.
func NewShared(open Open, wait Wait) *Shared { return &Shared{open: open, wait: wait} }

// Current is the link that serves now; nil: none.
func (s *Shared) Current() *link.Link { return s.cur.Load() }

// Get gives the lane's link, and opens one where there is none. Callers share one
// dial, which goes on when a caller's context or its time to wait has ended.
func (s *Shared) Get(ctx context.Context) (*link.Link, error) {
	if l := s.cur.Load(); l != nil {
		return l, nil
	}
	a, err := s.dial()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	late, end, most := s.wait.begin()
	defer end()
	select {
	case <-a.done:
		if a.err != nil {
			return nil, waited(a.err, began)
		}
		return a.l, nil
	case <-late:
		return nil, waited(s.wait.late(most), began)
	case <-ctx.Done():
		return nil, &link.Error{Delivery: link.NotSent, Err: context.Cause(ctx)}
	}
}

// dial joins the dial going on, or begins one.
func (s *Shared) dial() (*attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, &link.Error{Delivery: link.NotSent, Err: link.ErrClosed}
	}
	if l := s.cur.Load(); l != nil {
		a := &attempt{done: make(chan struct{}), l: l}
		close(a.done)
		return a, nil
	}
	if s.attempt == nil && s.failed > 0 && time.Now().Before(s.resting) {
		return nil, s.lastErr
	}
	if s.attempt == nil {
		a := &attempt{done: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		s.attempt, s.stop = a, cancel
		s.dials.Go(func() {
			defer cancel()
			l, err := s.open(ctx)
			s.arrive(a, l, err)
		})
	}
	return s.attempt, nil
}

// arrive ends an attempt that has run to its end, unless Replace or Close have
// ended it before.
func (s *Shared) arrive(a *attempt, l *link.Link, err error) {
	s.mu.Lock()
	isOurs := s.attempt == a
	if isOurs {
		s.rest(err)
		if err == nil {
			s.cur.Store(l)
			if !l.Alive() {
				s.Dropped(l) // it died before Dropped could know it was ours
			}
		}
		s.settle(l, err)
	}
	s.mu.Unlock()
	if !isOurs && l != nil {
		l.Drain()
	}
}

// longestRest bounds the pause between dials that fail. Callers who try again on their
// own, however many, dial no more often than that.
const longestRest = 100 * time.Millisecond

// rest notes how a dial has ended. From the second failure in a row on, the next dial
// has to wait; mu is held.
func (s *Shared) rest(err error) {
	if err == nil {
		s.failed, s.lastErr = 0, nil
		return
	}
	s.failed++
	s.lastErr = err
	if s.failed > 1 {
		s.resting = time.Now().Add(min(5*time.Millisecond<<min(s.failed, 8), longestRest))
	}
}

// settle gives those who wait for the dial going on its outcome, and ends it; mu is
// held.
func (s *Shared) settle(l *link.Link, err error) {
	if s.attempt == nil {
		return
	}
	s.attempt.l, s.attempt.err = l, err
	close(s.attempt.done)
	s.stop()
	s.attempt, s.stop = nil, nil
}

// Replace makes next the lane's link in one step: new commands take it, those who
// wait for a dial too, and the one before drains. It is false, and next is drained,
// where the lane is closed or next has died.
func (s *Shared) Replace(next *link.Link) bool {
	s.mu.Lock()
	if s.closed || !next.Alive() {
		s.mu.Unlock()
		next.Drain()
		return false
	}
	old := s.cur.Swap(next)
	s.settle(next, nil)
	s.mu.Unlock()
	if old != nil && old != next {
		old.Drain()
	}
	if !next.Alive() {
		s.Dropped(next)
	}
	return true
}

// Dropped tells the lane that a link takes no commands any more.
func (s *Shared) Dropped(l *link.Link) { s.cur.CompareAndSwap(l, nil) }

// Do sends a request on the lane's link and waits for its replies. A link that is
// just being replaced is passed over. What it returns is what link.Do does.
func (s *Shared) Do(ctx context.Context, q link.Request) (link.Done, error) {
	const passes = 16 // each needs a handoff at the same moment
	for pass := 0; ; pass++ {
		l, err := s.Get(ctx)
		if err != nil {
			return link.Done{}, err
		}
		d, err := l.Do(ctx, q)
		if err == nil {
			return d, nil
		}
		if !l.Alive() {
			s.Dropped(l) // the next caller must not meet it again
		}
		if pass == passes || !errors.Is(err, link.ErrDraining) {
			return d, err
		}
	}
}

// Close ends the lane: its link is closed, and so is the one being dialled. It
// returns when the lane's goroutines have ended.
func (s *Shared) Close() {
	s.mu.Lock()
	s.closed = true
	l := s.cur.Swap(nil)
	s.settle(nil, &link.Error{Delivery: link.NotSent, Err: link.ErrClosed})
	s.mu.Unlock()
	if l != nil {
		l.Close(link.ErrClosed)
	}
	s.dials.Wait()
}
