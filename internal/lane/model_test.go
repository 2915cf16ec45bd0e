package lane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/baton-go/redis/internal/link"
)

// An op is one random thing that happens to a pool; arg chooses among what there is.
type op struct {
	kind opKind
	arg  int
}

type opKind int

const (
	opGet opKind = iota
	opGetBriefly
	opPut
	opPutUsedUp
	opAdd
	opRetire
	opKill
	opCancel
	opDials
	opWait
	opKinds
)

func (o op) String() string {
	return fmt.Sprintf("%s(%d)", [...]string{
		"get", "get briefly", "put", "put used up", "add", "retire", "kill", "cancel", "dials", "wait",
	}[o.kind], o.arg)
}

// A model drives a pool and knows what must be true of it.
type model struct {
	*pooling
	cfg     PoolConfig
	waiting []*modelGet // in the order in which they came
	held    []*Lease
	added   bool
	faults  []string
}

// A modelGet is a Get that has not returned.
type modelGet struct {
	b      *borrowing
	cancel context.CancelFunc
	ctx    context.Context
}

func (m *model) faultf(format string, args ...any) {
	m.faults = append(m.faults, fmt.Sprintf(format, args...))
}

func (m *model) do(o op) {
	switch o.kind {
	case opGet, opGetBriefly:
		ctx, cancel := context.WithCancel(context.Background())
		if o.kind == opGetBriefly {
			cancel()
			ctx, cancel = context.WithTimeout(context.Background(), time.Duration(1+o.arg)*10*time.Millisecond)
		}
		m.waiting = append(m.waiting, &modelGet{b: m.Get(ctx), ctx: ctx, cancel: cancel})
	case opPut, opPutUsedUp:
		if len(m.held) == 0 {
			return
		}
		i := o.arg % len(m.held)
		l := m.held[i]
		m.held = slices.Delete(m.held, i, i+1)
		m.p.Put(l, o.kind == opPut)
	case opAdd:
		m.added = true
		m.p.Add(m.link())
	case opRetire, opKill:
		m.mu.Lock()
		opened := slices.Clone(m.opened) // also those not adopted yet, and dead ones
		m.mu.Unlock()
		if len(opened) == 0 {
			return
		}
		l := opened[o.arg%len(opened)]
		if o.kind == opRetire {
			m.p.Retire(l)
		} else {
			l.Close(errDial)
		}
	case opCancel:
		if len(m.waiting) > 0 {
			m.waiting[o.arg%len(m.waiting)].cancel()
		}
	case opDials:
		m.set(time.Duration(o.arg%4)*100*time.Millisecond, o.arg/4%3)
	case opWait:
		time.Sleep([...]time.Duration{time.Nanosecond, 50 * time.Millisecond, 500 * time.Millisecond, 10 * time.Second, time.Minute}[o.arg%5])
	case opKinds:
	}
}

// settle takes in which Gets have returned.
func (m *model) settle() {
	synctest.Wait()
	var still []*modelGet
	for _, g := range m.waiting {
		if !g.b.Ended() {
			still = append(still, g)
			continue
		}
		switch {
		case g.b.err == nil:
			for _, h := range m.held {
				if h == g.b.l || h.Link == g.b.l.Link {
					m.faultf("link %d was lent twice", h.Link.ID())
				}
			}
			m.held = append(m.held, g.b.l)
			if len(still) > 0 {
				m.faultf("a waiter was overtaken")
			}
		default:
			m.failed(g)
		}
		g.cancel()
	}
	m.waiting = still
}

// failed checks an error of Get.
func (m *model) failed(g *modelGet) {
	e, ok := g.b.err.(*link.Error) //nolint:errorlint // Get promises it
	if !ok || e.Delivery != link.NotSent {
		m.faultf("Get gave %v, want a link.Error with NotSent", g.b.err)
		return
	}
	switch {
	case e.Err == ErrPoolTimeout: //nolint:errorlint // unwrapped
		if g.b.took != m.cfg.Timeout {
			m.faultf("PoolTimeout after %v", g.b.took)
		}
	case e.Err == ErrPoolExhausted: //nolint:errorlint // unwrapped
		if m.cfg.MaxActive == 0 {
			m.faultf("exhausted without a bound")
		}
	case g.ctx.Err() == nil && !errors.Is(e.Err, errDial):
		m.faultf("Get gave %v", e.Err)
	}
}

// check looks into the pool.
func (m *model) check() {
	p := m.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := p.turns + len(m.held) + p.wants.Len(); got != m.cfg.Size {
		m.faultf("%d turns: %d free, %d held, %d waiting for a link; want %d", got, p.turns, len(m.held), p.wants.Len(), m.cfg.Size)
	}
	if p.turns > 0 && p.queue.Len() > 0 {
		m.faultf("%d wait for a turn with %d free", p.queue.Len(), p.turns)
	}
	if got, want := p.queue.Len()+p.wants.Len(), len(m.waiting); got != want {
		m.faultf("%d wait in the pool, want %d", got, want)
	}
	if p.wants.Len() > 0 && (len(p.idle) > 0 || p.dialing < p.wants.Len()) {
		m.faultf("%d wait for a link with %d idle and %d dials", p.wants.Len(), len(p.idle), p.dialing)
	}
	lent := 0
	for l, lease := range p.members {
		isIdle := slices.Contains(p.idle, lease)
		if lease.Link != l || lease.lent == isIdle || isIdle && lease.retired {
			m.faultf("link %d: lent %v, idle %v, retired %v", l.ID(), lease.lent, isIdle, lease.retired)
		}
		if lease.lent {
			lent++
			if !slices.Contains(m.held, lease) {
				m.faultf("link %d is lent to nobody", l.ID())
			}
		}
		if !l.Alive() {
			m.faultf("link %d is dead and still in the pool", l.ID())
		}
	}
	if len(p.idle)+lent != len(p.members) {
		m.faultf("%d links, %d idle and %d lent", len(p.members), len(p.idle), lent)
	}
	if m.added {
		return // replacements may exceed the bounds for a while
	}
	if n := len(p.members) + p.dialing; n > m.cfg.Size || m.cfg.MaxActive > 0 && n > m.cfg.MaxActive {
		m.faultf("%d links and dials with Size %d, MaxActive %d", n, m.cfg.Size, m.cfg.MaxActive)
	}
	if m.cfg.MaxIdle > 0 && len(p.idle) > m.cfg.MaxIdle {
		m.faultf("%d idle, want at most %d", len(p.idle), m.cfg.MaxIdle)
	}
}

// end gives everything back and checks that nothing is missing.
func (m *model) end() {
	m.set(0, 0)
	for len(m.waiting) > 0 {
		time.Sleep(time.Minute) // the longest dial, and the pool's timeout
		m.settle()
		m.check()
		for _, l := range m.held {
			m.p.Put(l, true)
		}
		m.held = nil
		m.settle()
	}
	for _, l := range m.held {
		m.p.Put(l, true)
	}
	m.held = nil
	m.settle()
	m.check()
	if s := m.p.Stats(); s.Pending != 0 {
		m.faultf("%d pending at the end", s.Pending)
	}
	m.p.Close()
	synctest.Wait()
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	if m.p.turns != m.cfg.Size || len(m.p.early) != 0 {
		m.faultf("after Close: %d turns, want %d; %d early", m.p.turns, m.cfg.Size, len(m.p.early))
	}
	if n := len(m.net.Conns(addr)); n != 0 {
		m.faultf("after Close: %d connections", n)
	}
}

// Whatever happens, in whatever order: turns are neither lost nor doubled, no link is
// lent twice, nobody waits for what is there, and the bounds hold.
func TestPoolKeepsItsBooks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := PoolConfig{
			Size:        rapid.IntRange(1, 4).Draw(rt, "Size"),
			MinIdle:     rapid.IntRange(0, 2).Draw(rt, "MinIdle"),
			MaxIdle:     rapid.IntRange(0, 3).Draw(rt, "MaxIdle"),
			MaxActive:   rapid.IntRange(0, 5).Draw(rt, "MaxActive"),
			Timeout:     time.Second,
			MaxIdleTime: time.Duration(rapid.IntRange(0, 1).Draw(rt, "MaxIdleTime")) * 20 * time.Second,
			MaxLifetime: time.Duration(rapid.IntRange(0, 1).Draw(rt, "MaxLifetime")) * 90 * time.Second,
			FIFO:        rapid.Bool().Draw(rt, "FIFO"),
		}
		ops := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) op {
			return op{opKind(rapid.IntRange(0, int(opKinds)-1).Draw(rt, "kind")), rapid.IntRange(0, 11).Draw(rt, "arg")}
		}), 1, 40).Draw(rt, "ops")
		var faults []string
		bubble(t, func(t *tester) {
			m := &model{pooling: t.pool(cfg), cfg: cfg}
			for i, o := range ops {
				m.do(o)
				m.settle()
				m.check()
				if m.faults != nil {
					m.faultf("at step %d: %v", i, o)
					break
				}
			}
			if m.faults == nil {
				m.end()
			} else {
				m.p.Close()
			}
			faults = m.faults
		})
		for _, f := range faults {
			rt.Error(f)
		}
	})
}
