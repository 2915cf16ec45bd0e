package lane

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// A pooling is a pool in a bubble, whose links tell it when they die.
type pooling struct {
	*tester
	p *Pool
}

func (t *tester) pool(cfg PoolConfig) *pooling {
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Second
	}
	p := NewPool(cfg, t.open)
	t.mu.Lock()
	t.onClose = p.Dropped
	t.mu.Unlock()
	return &pooling{t, p}
}

// A borrowing is a Get of a pool that somebody waits for.
type borrowing struct {
	t    *pooling
	done chan struct{} // closed when the fields below are set
	l    *Lease
	err  error
	took time.Duration // of the Get
}

// Get asks for a link, and returns when it is there or waited for.
func (t *pooling) Get(ctx context.Context) *borrowing {
	b := &borrowing{t: t, done: make(chan struct{})}
	go func() {
		start := time.Now()
		b.l, b.err = t.p.Get(ctx)
		b.took = time.Since(start)
		close(b.done)
	}()
	synctest.Wait()
	return b
}

// Ended tells whether the Get has returned.
func (b *borrowing) Ended() bool {
	synctest.Wait()
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// Lease waits for the link.
func (b *borrowing) Lease() *Lease {
	b.t.Helper()
	<-b.done
	if b.err != nil {
		b.t.Fatalf("got %v, want a link", b.err)
	}
	return b.l
}

// WantError waits for the failure and checks it.
func (b *borrowing) WantError(cause error, took time.Duration) {
	b.t.Helper()
	<-b.done
	wantNotSent(b.t.T, b.err, cause)
	if b.took != took {
		b.t.Errorf("it took %v, want %v", b.took, took)
	}
}

// Borrow is Get for a link that has to be there.
func (t *pooling) Borrow() *Lease {
	t.Helper()
	return t.Get(t.Context()).Lease()
}

// Close closes the pool and checks that nothing is left of it.
func (t *pooling) Close() {
	t.Helper()
	t.p.Close()
	t.wantConns(0)
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	if n := len(t.p.members) + len(t.p.idle) + t.p.dialing + t.p.queue.Len() + t.p.wants.Len(); n != 0 {
		t.Errorf("got members %d, idle %d, dials %d, waiting %d and %d after Close, want none",
			len(t.p.members), len(t.p.idle), t.p.dialing, t.p.queue.Len(), t.p.wants.Len())
	}
}

func TestPoolDialsWhenItIsUsed(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 2})
		synctest.Wait()
		if got := t.dialled(); got != 0 {
			t.Errorf("got %d dials of an unused pool", got)
		}
		a := p.Borrow()
		if err := sendEcho(t.Context(), a.Link, "a"); err != nil {
			t.Error(err)
		}
		p.p.Put(a, true)
		if b := p.Borrow(); b != a {
			t.Error("an idle link was not lent again")
		} else {
			p.p.Put(b, true)
		}
		if got := p.p.Stats(); got.Hits != 1 || got.Misses != 1 || got.Total != 1 || got.Idle != 1 || got.Pending != 0 {
			t.Errorf("got %+v", got)
		}
		p.Close()
	})
}

func TestPoolServesWaitersInTheirOrder(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 1})
		held := p.Borrow()
		var waiting []*borrowing
		for range 5 {
			waiting = append(waiting, p.Get(t.Context()))
		}
		if got := p.p.Stats(); got.Pending != 5 || got.Waits != 5 {
			t.Errorf("got %+v, want 5 pending, 5 waits", got)
		}
		for i, w := range waiting {
			p.p.Put(held, i != 2) // one of them needs a new link
			held = w.Lease()
			for _, later := range waiting[i+1:] {
				if later.Ended() {
					t.Fatalf("a waiter has overtaken number %d", i)
				}
			}
		}
		p.p.Put(held, true)
		p.Close()
	})
}

func TestPoolTimeoutIsExact(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 1, Timeout: 4 * time.Second})
		held := p.Borrow()
		time.Sleep(time.Second)
		a := p.Get(t.Context())
		time.Sleep(time.Second)
		b := p.Get(t.Context())
		a.WantError(ErrPoolTimeout, 4*time.Second)
		p.p.Put(held, true)
		p.p.Put(b.Lease(), true)
		if got := p.p.Stats(); got.Timeouts != 1 || got.WaitTime != 7*time.Second {
			t.Errorf("got %d timeouts, %v waited, want 1, 7s", got.Timeouts, got.WaitTime)
		}
		p.Close()
	})
}

func TestPoolForgetsWaitersWhoLeft(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 1})
		held := p.Borrow()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		left, stays := p.Get(ctx), p.Get(t.Context())
		left.WantError(context.DeadlineExceeded, 300*time.Millisecond)
		if got := p.p.Stats().Pending; got != 1 {
			t.Errorf("got %d pending, want 1", got)
		}
		p.p.Put(held, true)
		p.p.Put(stays.Lease(), true)
		p.Close()
	})
}

func TestPoolRefusesAContextThatHasEnded(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 1})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p.Get(ctx).WantError(context.Canceled, 0)
		if got := t.dialled(); got != 0 {
			t.Errorf("got %d dials for nobody, want 0", got)
		}
		p.Close()
	})
}

func TestPoolCallerWhoLeavesADialLeavesItToTheNext(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Second, 0)
		p := t.pool(PoolConfig{Size: 1, MaxActive: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		p.Get(ctx).WantError(context.DeadlineExceeded, 300*time.Millisecond)
		b := p.Get(t.Context())
		l := b.Lease()
		if b.took != 700*time.Millisecond || t.dialled() != 1 {
			t.Errorf("got the link after %v and %d dials, want 700ms and 1", b.took, t.dialled())
		}
		p.p.Put(l, true)
		t.wantConns(1)
		p.Close()
	})
}

func TestPoolDialErrorIsThatOfTheFirstWhoWaits(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Second, 1)
		p := t.pool(PoolConfig{Size: 3})
		a := p.Get(t.Context())
		time.Sleep(500 * time.Millisecond)
		b, c := p.Get(t.Context()), p.Get(t.Context())
		a.WantError(errDial, time.Second)
		p.p.Put(b.Lease(), true)
		p.p.Put(c.Lease(), true)
		p.Close()
	})
}

func TestPoolMaxActive(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 3, MaxActive: 2})
		a, b := p.Borrow(), p.Borrow()
		p.Get(t.Context()).WantError(ErrPoolExhausted, 0)
		p.p.Put(a, false)
		c := p.Borrow()
		p.p.Put(b, true)
		p.p.Put(c, true)
		t.wantConns(2)
		p.Close()
	})
}

func TestPoolKeepsMinIdleLinksReady(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 4, MinIdle: 2})
		t.wantConns(2)
		a := p.Borrow()
		t.wantConns(3)
		b, c := p.Borrow(), p.Borrow()
		t.wantConns(4) // no more than Size
		p.p.Put(a, false)
		t.wantConns(4)
		p.p.Put(b, true)
		p.p.Put(c, true)
		t.wantConns(4)
		p.Close()
	})
}

func TestPoolMaxIdle(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 3, MaxIdle: 1})
		a, b := p.Borrow(), p.Borrow()
		p.p.Put(a, true)
		p.p.Put(b, true)
		t.wantConns(1)
		if p.Borrow() != a {
			t.Error("the link that was idle is gone")
		}
		p.p.Put(a, true)
		p.Close()
	})
}

func TestPoolLendsTheLinkUsedLastOrFirst(t *testing.T) {
	for name, fifo := range map[string]bool{"LIFO": false, "FIFO": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				p := t.pool(PoolConfig{Size: 2, FIFO: fifo})
				a, b := p.Borrow(), p.Borrow()
				p.p.Put(a, true)
				p.p.Put(b, true)
				want := b
				if fifo {
					want = a
				}
				if got := p.Borrow(); got != want {
					t.Error("got the other link")
				}
				p.Close()
			})
		})
	}
}

func TestPoolIdleTimeIsExact(t *testing.T) {
	for name, test := range map[string]struct {
		idle time.Duration
		same bool
	}{"before it": {time.Minute - 1, true}, "at it": {time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				p := t.pool(PoolConfig{Size: 2, MaxIdleTime: time.Minute})
				a := p.Borrow()
				time.Sleep(time.Hour) // lent is not idle
				p.p.Put(a, true)
				time.Sleep(test.idle)
				if b := p.Borrow(); (b == a) != test.same {
					t.Errorf("got the same link: %v, want %v", b == a, test.same)
				}
				t.wantConns(1)
				p.Close()
			})
		})
	}
}

// Where the newest link is lent first, the oldest ones are never looked at for
// lending; they end all the same.
func TestPoolClosesLinksThatStayIdle(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 5, MaxIdleTime: time.Minute})
		var burst []*Lease
		for range 5 {
			burst = append(burst, p.Borrow())
		}
		for _, l := range burst {
			p.p.Put(l, true)
		}
		for range 61 {
			l := p.Borrow()
			time.Sleep(time.Second)
			p.p.Put(l, true)
		}
		t.wantConns(1)
		p.Close()
	})
}

func TestPoolLifetimeIsExact(t *testing.T) {
	for name, test := range map[string]struct {
		age  time.Duration
		same bool
	}{"before it": {time.Minute - 1, true}, "at it": {time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				p := t.pool(PoolConfig{Size: 2, MaxLifetime: time.Minute})
				a := p.Borrow()
				time.Sleep(test.age)
				p.p.Put(a, true)
				if b := p.Borrow(); (b == a) != test.same {
					t.Errorf("got the same link: %v, want %v", b == a, test.same)
				}
				t.wantConns(1)
				p.Close()
			})
		})
	}
}

func TestPoolLifetimesAreSpread(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 20, MaxLifetime: time.Minute, Jitter: 10 * time.Second})
		ends := map[time.Duration]bool{}
		for range 20 {
			l := p.Borrow()
			d := l.expires.Sub(t.start)
			if d < 50*time.Second || d >= 70*time.Second {
				t.Errorf("a link lives for %v, want 50s to 70s", d)
			}
			ends[d] = true
		}
		if len(ends) < 10 {
			t.Errorf("20 links end at %d times", len(ends))
		}
		p.Close()
	})
}

func TestPoolRetire(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 3})
		idle, lent := p.Borrow(), p.Borrow()
		p.p.Put(idle, true)
		p.p.Retire(idle.Link)
		p.p.Retire(lent.Link)
		t.wantConns(1)
		if err := sendEcho(t.Context(), lent.Link, "a"); err != nil {
			t.Errorf("got %v on a lent link that is retired", err)
		}
		p.p.Put(lent, true)
		t.wantConns(0)
		if l := p.Borrow(); l == lent || l == idle {
			t.Error("a retired link was lent")
		}
		p.Close()
	})
}

// A link can be retired while it is being opened: its notice came at once.
func TestPoolRetireBeforeAdoption(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Second, 0)
		p := t.pool(PoolConfig{Size: 3, MinIdle: 1})
		synctest.Wait()
		p.p.Retire(t.opened[0])
		time.Sleep(2 * time.Second)
		t.wantConns(0)
		if len(p.p.early) != 0 {
			t.Error("the pool still waits for the link")
		}
		p.Close()
	})
}

func TestPoolForgetsARetiredLinkThatNeverCame(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Second, 1)
		p := t.pool(PoolConfig{Size: 3})
		g := p.Get(t.Context())
		p.p.Retire(t.opened[0])
		g.WantError(errDial, time.Second)
		synctest.Wait()
		if len(p.p.early) != 0 {
			t.Error("the pool still waits for the link")
		}
		p.Close()
	})
}

// A handoff takes the replacement in before the old link goes, also where the pool
// is full in every way.
func TestPoolTakesReplacementsInWhenItIsFull(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 4, MaxActive: 4, MaxIdle: 2})
		var all []*Lease
		for range 4 {
			all = append(all, p.Borrow())
		}
		p.p.Put(all[0], true)
		p.p.Put(all[1], true)
		t.wantConns(4)
		for _, l := range all {
			next := t.link()
			if !p.p.Add(next) {
				t.Fatal("the pool would not take the replacement")
			}
			p.p.Retire(l.Link)
			synctest.Wait()
			if !next.Alive() {
				t.Error("a replacement was closed")
			}
		}
		t.wantConns(6) // 4 new ones, and 2 old ones that are still lent
		p.p.Put(all[2], true)
		p.p.Put(all[3], true)
		t.wantConns(4)
		for _, l := range []*Lease{p.Borrow(), p.Borrow(), p.Borrow(), p.Borrow()} {
			p.p.Put(l, true)
		}
		if got := t.dialled(); got != 4 {
			t.Errorf("got %d dials, want 4: the replacements serve", got)
		}
		p.Close()
	})
}

func TestPoolGivesAReplacementToWhoWaitsForADial(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Minute, 0)
		p := t.pool(PoolConfig{Size: 1})
		g := p.Get(t.Context())
		next := t.link()
		p.p.Add(next)
		if l := g.Lease(); l.Link != next {
			t.Error("got another link")
		}
		t.at(0)
		p.Close()
	})
}

func TestPoolRefusesALinkThatIsDead(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 1})
		dead := t.link()
		dead.Close(nil)
		if p.p.Add(dead) {
			t.Error("the pool has taken a dead link")
		}
		p.Close()
		l := t.link()
		if p.p.Add(l) || l.Alive() {
			t.Error("a closed pool has taken a link")
		}
	})
}

func TestPoolDoesNotLendLinksThatDied(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 2})
		a, b := p.Borrow(), p.Borrow()
		p.p.Put(a, true)
		a.Link.Close(nil)
		b.Link.Close(nil)
		synctest.Wait()
		if got := p.p.Stats(); got.Total != 0 || got.Idle != 0 || got.Stale != 1 {
			t.Errorf("got %+v, want no link, and 1 stale", got)
		}
		p.p.Put(b, true)
		if c := p.Borrow(); c == a || c == b || !c.Link.Alive() {
			t.Error("a dead link was lent")
		}
		p.Close()
	})
}

func TestPoolLinkThatDiedBeforeAdoption(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Second, 0)
		p := t.pool(PoolConfig{Size: 2})
		g := p.Get(t.Context())
		t.opened[0].Close(errDial)
		g.WantError(errDial, time.Second)
		p.p.Put(p.Borrow(), true)
		p.Close()
	})
}

func TestPoolCloseEndsAllWaiting(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 2})
		lent := p.Borrow()
		t.set(time.Minute, 0)
		dialling, queued := p.Get(t.Context()), p.Get(t.Context())
		time.Sleep(500 * time.Millisecond)
		p.Close()
		t.at(500 * time.Millisecond)
		dialling.WantError(link.ErrClosed, 500*time.Millisecond)
		queued.WantError(link.ErrClosed, 500*time.Millisecond)
		if lent.Link.Alive() || !errors.Is(lent.Link.Err(), link.ErrClosed) {
			t.Errorf("a lent link has outlived the pool: %v", lent.Link.Err())
		}
		p.p.Put(lent, true)
		p.Get(t.Context()).WantError(link.ErrClosed, 0)
		p.p.Retire(lent.Link)
		p.p.Close()
	})
}

func TestPoolManyAtOnce(t *testing.T) {
	bubble(t, func(t *tester) {
		t.set(time.Millisecond, 0)
		p := t.pool(PoolConfig{Size: 5, MinIdle: 1, Timeout: time.Minute})
		var users sync.WaitGroup
		for range 20 {
			users.Go(func() {
				for range 50 {
					ctx, cancel := context.WithTimeout(t.Context(), rand.N(40*time.Millisecond))
					l, err := p.p.Get(ctx)
					if err == nil {
						err = sendEcho(t.Context(), l.Link, "a")
						switch rand.N(10) {
						case 0:
							p.p.Retire(l.Link)
						case 1:
							p.p.Add(t.link())
						}
						if err != nil {
							t.Error(err) // nobody else may end a lent link
						}
						p.p.Put(l, rand.N(5) > 0)
					}
					cancel()
				}
			})
		}
		users.Wait()
		synctest.Wait()
		if p.p.turns != 5 {
			t.Errorf("got %d turns at the end, want 5", p.p.turns)
		}
		p.Close()
	})
}

// A replacement can come too late: its link has died, and another one was dialled.
func TestPoolClosesWhatHandoffsLeaveOver(t *testing.T) {
	bubble(t, func(t *tester) {
		p := t.pool(PoolConfig{Size: 3})
		for range 5 {
			old := p.Borrow()
			next := t.link() // its handoff has begun
			p.p.Put(old, false)
			held := []*Lease{p.Borrow(), p.Borrow(), p.Borrow()}
			p.p.Add(next)
			p.p.Retire(old.Link)
			for _, l := range held {
				p.p.Put(l, true)
			}
			t.wantConns(3)
		}
		p.Close()
	})
}
