package endpoint

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// Bounds of the time after which a handoff tries again, or elsewhere, beside an
// attempt that has not answered: a packet that is lost at the wrong moment costs TCP
// a second, and a window may be shorter.
const (
	hedgeShare    = 4 // this part of the time that is left
	shortestHedge = 200 * time.Millisecond
	longestHedge  = time.Second
	mostHedges    = 6 // attempts in all, or as many as there are targets
)

// attemptResult is how one attempt of openFirst has ended.
type attemptResult struct {
	addr string
	l    *link.Link
	err  error
}

// openFirst opens a link to whichever of targets answers first, in their order of
// preference: the next one is tried when one fails, or beside it when it takes long.
// An attempt that fails speaks for the others at the same target. Each is asked for by
// its breaker. It is for handoffs, which have no time to lose.
func (e *Endpoint) openFirst(ctx context.Context, u use, targets []string) (*link.Link, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		won     atomic.Bool // set by the attempt that succeeds first
		errs    []error
		pending int
	)
	queue := slices.Repeat(targets, mostHedges)[:max(mostHedges, len(targets))] // each again, where there is time
	results := make(chan attemptResult, len(queue))
	giveUp := make(map[string]context.CancelFunc, len(targets))
	at := make(map[string]context.Context, len(targets))
	for _, addr := range targets {
		at[addr], giveUp[addr] = context.WithCancel(ctx)
	}
	start := func() {
		for len(queue) > 0 {
			addr := queue[0]
			queue = queue[1:]
			if at[addr].Err() != nil {
				continue
			}
			if err := e.cfg.Manager.CircuitBreaker(addr).Allow(); err != nil {
				errs = append(errs, &DialError{Addr: addr, Err: err})
				continue
			}
			pending++
			e.work.Go(func() { results <- e.openRacing(at[addr], u, addr, &won) })
			return
		}
	}
	again := len(queue) - len(targets)
	start()
	timer := time.NewTimer(hedgeAfter(ctx))
	defer timer.Stop()
	for pending > 0 {
		select {
		case r := <-results:
			pending--
			if r.err == nil {
				return r.l, nil
			}
			if at[r.addr].Err() == nil || ctx.Err() != nil {
				errs = append(errs, r.err)
			}
			giveUp[r.addr]()
			if ctx.Err() == nil && len(queue) > again { // a target not tried yet
				start()
			}
		case <-timer.C:
			start()
			timer.Reset(hedgeAfter(ctx))
		}
	}
	return nil, &link.Error{Endpoint: e.cfg.Addr, Delivery: link.NotSent, Err: errors.Join(errs...)}
}

// openRacing is one attempt of openFirst. A link that comes too late is closed.
func (e *Endpoint) openRacing(ctx context.Context, u use, addr string, won *atomic.Bool) attemptResult {
	u.raced = true
	l, err := e.openOne(ctx, u, addr)
	e.cfg.Manager.CircuitBreaker(addr).Report(err)
	if err != nil {
		return attemptResult{addr: addr, err: &DialError{Addr: addr, Err: err}}
	}
	if !won.CompareAndSwap(false, true) {
		l.Drain()
		return attemptResult{addr: addr, err: &DialError{Addr: addr, Err: context.Canceled}}
	}
	return attemptResult{addr: addr, l: l}
}

// hedgeAfter is how long an attempt has for itself.
func hedgeAfter(ctx context.Context) time.Duration {
	d := longestHedge
	if at, ok := ctx.Deadline(); ok {
		d = time.Until(at) / hedgeShare
	}
	return min(max(d, shortestHedge), longestHedge)
}

// dialPatience is how long a socket may take to be open until another one is tried beside
// it, and how long each of those has. TCP sends its first packet again after one second,
// three and seven: into a hole it is lost, and the one that gets through comes late.
const dialPatience = 500 * time.Millisecond

// connect opens a socket. One that takes long goes on, and beside it others are tried,
// one after the other, so that the network is found soon after it is back; whichever is
// first counts.
func (e *Endpoint) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		beside sync.WaitGroup
		won    net.Conn // set before beside is done
	)
	beside.Go(func() {
		if won = e.connectBeside(ctx, network, addr); won != nil {
			cancel()
		}
	})
	nc, err := e.cfg.Dial(ctx, network, addr)
	cancel()
	beside.Wait()
	switch {
	case won == nil:
		return nc, err
	case err == nil:
		_ = won.Close()
		return nc, nil
	}
	return won, nil
}

// connectBeside tries for as long as ctx goes on; nil: none was opened.
func (e *Endpoint) connectBeside(ctx context.Context, network, addr string) net.Conn {
	tick := time.NewTicker(dialPatience)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		attempt, cancel := context.WithTimeout(ctx, dialPatience)
		nc, err := e.cfg.Dial(attempt, network, addr)
		cancel()
		if err == nil {
			return nc
		}
	}
}
