package maintnotifications

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A checker stands between random events and a machine and holds every answer
// against what must always be true.
type checker struct {
	t    *rapid.T
	m    *Machine
	cfg  MachineConfig
	now  time.Time
	next LinkID

	up          map[LinkID]bool // false: it is leaving
	outstanding map[LinkID]Action
	begun       map[string]time.Time // "op link attempt"
	relaxed     bool
	cause       string // of the latest relax
	log         []string
}

func newChecker(t *rapid.T) *checker {
	cfg := MachineConfig{
		Addr:              rapid.SampledFrom([]string{"db:6379", "10.0.0.1:6379"}).Draw(t, "addr"),
		MaxHandoffRetries: rapid.IntRange(1, 2).Draw(t, "retries"),
		HandoffTimeout:    15 * time.Second, MigratingBackstop: 10 * time.Minute, FailingOverBackstop: time.Minute,
		Jitter: func(limit time.Duration) time.Duration { return limit / 3 },
	}
	return &checker{
		t: t, m: NewMachine(cfg), cfg: cfg, now: traceStart,
		up: make(map[LinkID]bool), outstanding: make(map[LinkID]Action), begun: make(map[string]time.Time),
	}
}

func (c *checker) fail(format string, args ...any) {
	c.t.Helper()
	for _, l := range c.log {
		c.t.Log(l)
	}
	c.t.Fatalf(format, args...)
}

// did checks the actions of one call.
func (c *checker) did(what string, acts []Action) {
	c.t.Helper()
	c.log = append(c.log, fmt.Sprintf("%v %s", c.now.Sub(traceStart), what))
	for _, a := range acts {
		c.log = append(c.log, "    "+a.String())
		c.check(a)
	}
	if c.m.Relaxed() != c.relaxed {
		c.fail("Relaxed is %v, the actions say %v", c.m.Relaxed(), c.relaxed)
	}
	if again := c.m.Tick(c.now); len(again) > 0 {
		c.fail("a Tick right after the call has %v to do", again)
	}
	if next, ok := c.m.Next(); ok && !next.After(c.now) {
		c.fail("Next is in the past: %v", next.Sub(traceStart))
	}
	if len(c.m.Active()) > 0 && !c.relaxed {
		c.fail("active operations %v and not relaxed", c.m.Active())
	}
	targets := c.m.DialTargets(c.now)
	if !slices.Contains(targets, c.cfg.Addr) {
		c.fail("dial targets %v without the configured address", targets)
	}
	if s := slices.Sorted(slices.Values(targets)); len(slices.Compact(s)) != len(targets) {
		c.fail("dial targets %v have one twice", targets)
	}
}

func (c *checker) check(a Action) {
	c.t.Helper()
	switch a.Do {
	case ActionRelax, ActionUnrelax:
		if c.relaxed == (a.Do == ActionRelax) {
			c.fail("%v twice", a.Do)
		}
		if a.Do == ActionRelax {
			c.cause = a.Reason
		} else if a.Reason != c.cause {
			c.fail("relaxed because of %s, unrelaxed because of %s", c.cause, a.Reason)
		}
		c.relaxed = !c.relaxed
	case ActionHandoff:
		c.checkHandoff(a)
	case ActionRetire:
		if !c.up[a.Link] {
			c.fail("retires link %d, which is down or leaving", a.Link)
		}
		c.up[a.Link] = false
	case ActionResolve:
		if c.m.literal {
			c.fail("looks an IP address up")
		}
	}
}

func (c *checker) checkHandoff(a Action) {
	c.t.Helper()
	if !c.up[a.Link] {
		c.fail("hands over link %d, which is down or leaving", a.Link)
	}
	if old, ok := c.outstanding[a.Link]; ok && c.now.Before(old.Deadline.Add(resultGrace)) {
		c.fail("link %d has a handoff in progress: %v", a.Link, old)
	}
	if len(a.Targets) == 0 || !a.Deadline.After(c.now) || a.Deadline.After(c.now.Add(c.cfg.HandoffTimeout)) {
		c.fail("handoff without a target or a sane deadline: %v", a)
	}
	limit := 1 + c.cfg.MaxHandoffRetries
	if !c.m.literal {
		limit += 4 // each address that a look-up shows is worth another attempt
	}
	if a.Attempt < 1 || a.Attempt > limit {
		c.fail("attempt %d of 1+%d", a.Attempt, c.cfg.MaxHandoffRetries)
	}
	id := fmt.Sprint(a.Op, a.Link, a.Attempt)
	if at, ok := c.begun[id]; ok && c.now.Sub(at) < opMemory {
		c.fail("the same handoff twice: %v", a)
	}
	c.begun[id] = c.now
	c.outstanding[a.Link] = a
}

// pass lets time pass, with the ticks that the machine asks for.
func (c *checker) pass(d time.Duration) {
	c.t.Helper()
	end := c.now.Add(d)
	for range 100000 {
		next, ok := c.m.Next()
		if !ok || next.After(end) {
			c.now = end
			c.did("pass", c.m.Tick(end))
			return
		}
		c.now = next
		c.did("tick", c.m.Tick(next))
	}
	c.fail("endless ticks")
}

func (c *checker) drawLink() LinkID {
	return LinkID(rapid.Uint64Range(1, uint64(c.next)+1).Draw(c.t, "link"))
}

func (c *checker) drawAddr(name string) string {
	return rapid.SampledFrom([]string{"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379", "other:6379", "db:6379"}).Draw(c.t, name)
}

func (c *checker) drawNotice() Notice {
	n := Notice{
		Kind: Kind(max(1, rapid.IntRange(-4, int(KindSMigrated)).Draw(c.t, "kind"))), // half of them MOVING
		Seq:  rapid.Int64Range(0, 3).Draw(c.t, "seq"),
		Time: time.Duration(rapid.Int64Range(-1, 20).Draw(c.t, "time")) * time.Second, HasTime: true,
	}
	if n.Kind == KindMoving {
		if rapid.Bool().Draw(c.t, "named") {
			n.Endpoint = c.drawAddr("target")
		}
		return n
	}
	if rapid.Bool().Draw(c.t, "told") {
		n.Shards = slices.Compact(slices.Sorted(slices.Values(
			rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3"}), 1, 3).Draw(c.t, "shards"))))
	}
	return n
}

func TestMachineKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newChecker(t)
		t.Repeat(map[string]func(*rapid.T){
			"up": func(t *rapid.T) {
				c.next++
				info := LinkInfo{ID: c.next, Addr: c.cfg.Addr}
				info.Peer = rapid.SampledFrom([]string{"", "10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"}).Draw(t, "peer")
				if targets := c.m.DialTargets(c.now); rapid.Bool().Draw(t, "dialled first target") {
					info.Addr = targets[0]
				}
				c.up[c.next] = true
				c.did(fmt.Sprintf("up %+v", info), c.m.LinkUp(c.now, info))
			},
			"down": func(*rapid.T) {
				id := c.drawLink()
				delete(c.up, id)
				c.did(fmt.Sprintf("down %d", id), c.m.LinkDown(c.now, id))
			},
			"notice": func(*rapid.T) {
				id, n := c.drawLink(), c.drawNotice()
				c.did(fmt.Sprintf("notice %d %v", id, n), c.m.Notice(c.now, id, n))
			},
			"resolved": func(t *rapid.T) {
				addrs := rapid.SliceOfN(rapid.SampledFrom([]string{"10.0.0.1", "10.0.0.2", "::ffff:10.0.0.3", "junk"}), 0, 3).Draw(t, "addrs")
				c.did(fmt.Sprintf("resolved %v", addrs), c.m.Resolved(c.now, addrs, nil))
			},
			"done": func(t *rapid.T) {
				if len(c.outstanding) == 0 {
					t.Skip("nothing outstanding")
				}
				id := rapid.SampledFrom(slices.Sorted(maps.Keys(c.outstanding))).Draw(t, "of")
				a := c.outstanding[id]
				refused := errors.New("refused")
				err := rapid.SampledFrom([]error{nil, refused, refused, refused, ErrCircuitBreakerOpen, ErrHandoffQueueFull}).Draw(t, "err")
				delete(c.outstanding, id)
				// An outcome that comes after the machine has stopped to wait for it
				// does not make the link leave.
				late := !c.now.Before(a.Deadline.Add(resultGrace))
				if _, isUp := c.up[id]; isUp && err == nil && !late {
					c.up[id] = false
				}
				c.did(fmt.Sprintf("done %v %v", a, err), c.m.HandoffDone(c.now, a.Op, id, err))
			},
			"pass": func(t *rapid.T) {
				c.pass(time.Duration(rapid.Int64Range(1, 5000).Draw(t, "ms")) * time.Millisecond)
			},
			"long pass": func(t *rapid.T) {
				c.pass(time.Duration(rapid.Int64Range(10, 90).Draw(t, "s")) * time.Second)
			},
		})
		// Every window and every operation ends by itself.
		c.pass(time.Hour)
		if next, ok := c.m.Next(); ok || c.m.Relaxed() || len(c.m.Active()) > 0 {
			c.fail("after an hour: next %v, relaxed %v, active %v", next.Sub(traceStart), c.m.Relaxed(), c.m.Active())
		}
	})
}
