package maintsim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"
)

// A chaosStep is what was chosen for one step.
type chaosStep struct {
	n     int
	name  string
	text  string        // name and everything that was chosen
	move  bool          // at a time with no other move, if everything is announced
	pause time.Duration // before it
	run   func(context.Context) error
}

// An action is what a step may be. plan chooses everything random about it, and
// returns what does it.
type action struct {
	name    string
	weight  int
	harmful bool // even a perfect client may lose commands to it
	plan    func(*draft) func(context.Context) error
}

// actions are all actions, in the order that choices depend on.
func actions() []action {
	return []action{
		{"migrate", 4, false, func(d *draft) func(context.Context) error { return d.window(d.s.Migrate) }},
		{"failover", 4, false, func(d *draft) func(context.Context) error { return d.window(d.s.Failover) }},
		{"rebind", 8, false, (*draft).rebind},
		{"take-over", 2, false, (*draft).takeOver},
		{"grow", 1, false, func(d *draft) func(context.Context) error { return d.scenario(d.s.growWithRoom) }},
		{"garbage", 2, false, (*draft).garbage},
		{"retain", 1, false, (*draft).retain},
		{"writes", 2, false, (*draft).writes},
		{"lookups", 1, true, (*draft).lookups},
		{"opt-in", 1, true, (*draft).optIn},
		{"fault", 2, true, (*draft).fault},
		{"cut", 1, true, func(d *draft) func(context.Context) error { return d.cut(d.s.Cut) }},
		{"failover-cut", 1, true, func(d *draft) func(context.Context) error { return d.cut(d.s.FailoverCut) }},
		{"restart", 1, true, func(d *draft) func(context.Context) error { return d.cut(d.s.Restart) }},
		{"demote", 1, true, (*draft).demote},
		{"change-dns", 1, true, (*draft).changeDNS},
		{"shrink", 1, true, func(d *draft) func(context.Context) error { return d.member(d.s.Shrink) }},
		{"maintenance-mode", 1, true, func(d *draft) func(context.Context) error { return d.member(d.s.MaintenanceMode) }},
	}
}

// chaosFaults are those that a chaos chooses from. An outage is more than a client that
// waits for a few seconds can bridge.
func chaosFaults() []Fault {
	return slices.DeleteFunc(Faults(), func(f Fault) bool { return f == FaultBlackHole })
}

// chaosStep chooses step n of a seed.
func (s *Sim) chaosStep(c *chaos, seed uint64, n int) chaosStep {
	d := &draft{s: s, rng: rand.New(rand.NewPCG(seed, uint64(n))), announced: c.announced}
	st := chaosStep{n: n, pause: d.between(c.pause)}
	total := 0
	for _, a := range c.actions {
		total += a.weight
	}
	k := d.rng.IntN(total)
	for _, a := range c.actions {
		if k -= a.weight; k < 0 {
			st.name = a.name
			st.run = a.plan(d)
			st.move = c.announced && (a.name == "rebind" || a.name == "take-over")
			break
		}
	}
	st.text = strings.Join(append([]string{st.name}, d.words...), " ")
	return st
}

// A draft collects what is chosen for a step.
type draft struct {
	s         *Sim
	rng       *rand.Rand
	announced bool
	opts      []Option
	words     []string
}

func (d *draft) add(opt Option, format string, args ...any) {
	d.opts = append(d.opts, opt)
	d.say(format, args...)
}

func (d *draft) say(format string, args ...any) {
	d.words = append(d.words, fmt.Sprintf(format, args...))
}

// chance is true once in n times.
func (d *draft) chance(n int) bool { return d.rng.IntN(n) == 0 }

// part is a random part of a duration, at least a tenth, in full milliseconds.
func (d *draft) part(of time.Duration) time.Duration {
	return fraction(of, 0.1+0.9*d.rng.Float64()).Round(time.Millisecond)
}

func (d *draft) between(r Range) time.Duration {
	if r.Max <= r.Min {
		return r.Min
	}
	return r.Min + time.Duration(d.rng.Int64N(int64(r.Max-r.Min)+1))
}

func (d *draft) proxy() int { return d.rng.IntN(len(d.s.proxies)) }

func (d *draft) scenario(f func(context.Context, ...Option) error) func(context.Context) error {
	opts := d.opts
	return func(ctx context.Context) error { return f(ctx, opts...) }
}

// member is scenario for what happens to one proxy of the endpoint.
func (d *draft) member(f func(context.Context, ...Option) error) func(context.Context) error {
	if !d.chance(4) {
		d.add(WithBusiest(), "busiest")
	}
	return d.scenario(f)
}

// growWithRoom is Grow, but leaves a proxy to move to.
func (s *Sim) growWithRoom(ctx context.Context, opts ...Option) error {
	s.mu.Lock()
	members := 0
	for _, p := range s.mu.members {
		if p != nil {
			members++
		}
	}
	s.mu.Unlock()
	if members+2 > len(s.proxies) {
		return ErrNoTarget
	}
	return s.Grow(ctx, opts...)
}

// delivery chooses how notices reach connections.
func (d *draft) delivery() {
	if d.chance(4) {
		d.add(WithDuplicates(), "twice")
	}
	if d.chance(3) {
		all := Variants()
		v := all[d.rng.IntN(len(all))]
		d.add(WithVariant(v), "variant=%s", v)
	}
}

// window chooses a migration or failover.
func (d *draft) window(f func(context.Context, ...Option) error) func(context.Context) error {
	lead, stall := d.part(d.s.cfg.Lead), d.part(d.s.cfg.Stall)
	d.add(WithLead(lead), "lead=%v", lead)
	d.add(WithStall(stall), "stall=%v", stall)
	d.delivery()
	some, fate := 0.2+0.6*d.rng.Float64(), d.rng.IntN(8)
	switch {
	case fate == 0:
		d.add(WithoutClosing(), "no-closing")
	case fate == 1:
		d.add(WithClosingsTo(some), "closings=%.2f", some)
	case fate == 2 && !d.announced:
		d.add(WithOpeningsTo(some), "openings=%.2f", some)
	case fate == 3 && !d.announced:
		d.add(WithReordered(some), "reordered=%.2f", some)
	}
	return d.scenario(f)
}

// grace chooses a grace time in whole wire seconds, and a linger. It returns how
// long the old proxy serves in real time.
func (d *draft) grace() time.Duration {
	grace := max(fraction(d.s.cfg.Grace, 0.5+0.5*d.rng.Float64()).Round(time.Second), time.Second)
	d.add(WithGrace(grace), "grace=%v", grace)
	if d.chance(3) {
		linger := d.part(grace)
		d.add(WithLinger(linger), "linger=%v", linger)
	}
	return d.s.real(grace)
}

// ending chooses how connections end.
func (d *draft) ending() {
	if !d.announced && d.chance(3) {
		m := []CloseMode{CloseFIN, CloseRST, CloseSilent}[d.rng.IntN(3)]
		d.add(WithCloseMode(m), "ending=%s", m)
	}
}

// rebind chooses a move.
func (d *draft) rebind() func(context.Context) error {
	serves := d.grace()
	d.delivery()
	d.ending()
	resolver := 0.3 + d.rng.Float64()
	if d.announced { // in time for those that are told no target
		resolver = 0.3 + resolver/3
	}
	if d.chance(2) {
		d.add(WithResolverChange(resolver), "dns=%.2f", resolver)
	}
	if d.chance(4) {
		d.add(WithNullByName(), "null")
	}
	if d.chance(4) {
		d.add(WithRepeatOnTarget(), "repeated")
	}
	if i := d.proxy(); d.chance(5) {
		d.add(WithSecondTarget(i, 0.3), "second-target=%d", i)
	}
	if d.chance(3) {
		f := chaosFaults()[d.rng.IntN(len(chaosFaults()))]
		long := d.part(serves)
		if d.announced {
			long /= 2
		}
		d.add(WithTargetFault(f, long), "target-fault=%s/%v", f, long)
	}
	if some := 0.2 + 0.6*d.rng.Float64(); !d.announced && d.chance(6) {
		d.add(WithOpeningsTo(some), "openings=%.2f", some)
	}
	return d.member(d.s.Rebind)
}

// takeOver chooses a move without a target in place.
func (d *draft) takeOver() func(context.Context) error {
	d.add(WithNullEndpoint(), "null")
	d.grace()
	d.delivery()
	d.ending()
	return d.member(d.s.Rebind)
}

func (d *draft) cut(f func(context.Context, ...Option) error) func(context.Context) error {
	outage := d.part(d.s.cfg.Outage)
	d.add(WithOutage(outage), "outage=%v", outage)
	if i := d.proxy(); d.chance(2) {
		d.add(WithProxy(i), "proxy=%d", i)
	}
	d.ending()
	return d.scenario(f)
}

func (d *draft) demote() func(context.Context) error {
	lead := d.part(d.s.cfg.Lead)
	d.add(WithLead(lead), "lead=%v", lead)
	return d.member(d.s.Demote)
}

func (d *draft) changeDNS() func(context.Context) error {
	if linger := d.part(d.s.cfg.Grace); d.chance(2) {
		d.add(WithLinger(linger), "linger=%v", linger)
	}
	return d.member(d.s.ChangeDNS)
}

// garbage chooses malformed notices.
func (d *draft) garbage() func(context.Context) error {
	n := []Notice{Moving, Migrating, Migrated, FailingOver, FailedOver}[d.rng.IntN(5)]
	frames := Malformed(n)
	frame := frames[d.rng.IntN(len(frames))]
	d.say("%q", frame)
	return func(context.Context) error {
		d.s.Push(frame)
		return nil
	}
}

// retain chooses a completion of long ago.
func (d *draft) retain() func(context.Context) error {
	n := []Notice{Migrated, FailedOver}[d.rng.IntN(2)]
	seq := d.rng.Int64N(1000)
	d.say("%s seq=%d", n, seq)
	return func(context.Context) error {
		d.s.Retain(n, seq, "1")
		return nil
	}
}

// during does something, waits, and undoes it.
func (d *draft) during(do, undo func() error) func(context.Context) error {
	long := d.part(d.s.real(d.s.cfg.Grace))
	d.say("for=%v", long)
	return func(ctx context.Context) error {
		if err := do(); err != nil {
			return err
		}
		err := d.s.wait(ctx, long)
		if undone := undo(); err == nil {
			err = undone
		}
		return err
	}
}

// writes chooses how bytes are torn or gathered.
func (d *draft) writes() func(context.Context) error {
	w := Writes{MaxPiece: 32 + d.rng.IntN(480), Pause: 50 * time.Microsecond}
	if d.chance(2) {
		w = Writes{Gather: time.Duration(1+d.rng.IntN(5)) * time.Millisecond}
	}
	d.say("max-piece=%d gather=%v", w.MaxPiece, w.Gather)
	return d.during(
		func() error { d.s.SetWrites(w); return nil },
		func() error { d.s.SetWrites(d.s.cfg.Writes); return nil },
	)
}

// lookups chooses how the resolver is disturbed.
func (d *draft) lookups() func(context.Context) error {
	delay := time.Duration(d.rng.IntN(200)) * time.Millisecond
	var err error
	if d.chance(2) {
		err = &net.DNSError{Err: "server misbehaving", Name: DBName, IsTemporary: true}
	}
	d.say("delay=%v err=%t", delay, err != nil)
	return d.during(
		func() error { d.s.DisturbLookups(delay, err); return nil },
		func() error { d.s.DisturbLookups(0, nil); return nil },
	)
}

// optIn chooses what becomes of the opt-in. Afterwards the server is another one.
func (d *draft) optIn() func(context.Context) error {
	deny, how := d.s.Refuse, "refused"
	if d.chance(3) {
		deny, how = d.s.CloseOnOptIn, "fatal"
	}
	version := fmt.Sprintf("8.0.%d", d.rng.IntN(100))
	d.say("%s version=%s", how, version)
	return d.during(
		func() error { deny(); return nil },
		func() error {
			d.s.restoreOptIn()
			d.s.SetVersion(version)
			return nil
		},
	)
}

// fault chooses what is wrong with a proxy for a while.
func (d *draft) fault() func(context.Context) error {
	f, i := chaosFaults()[d.rng.IntN(len(chaosFaults()))], d.proxy()
	d.say("%s proxy=%d", f, i)
	var st *faultState
	p := d.s.proxies[i]
	return d.during(
		func() (err error) {
			st, err = d.s.setFault(p, f)
			return err
		},
		func() error { return d.s.endFault(p, st) },
	)
}
