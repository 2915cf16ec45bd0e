package maintsim

import (
	"context"
	"sync/atomic"
	"time"
)

// promotionPause is how long writes pause before a replica is promoted.
const promotionPause = 200 * time.Millisecond

// An imitatedFleet is servers that are proxies only, in front of one server, and
// sentinels that are proxies only, in front of an embedded server that passes on what
// they publish.
type imitatedFleet struct {
	s       *Sentinels
	primary atomic.Pointer[proxy] // of servers that are no database
}

// startImitated starts the servers, then the sentinels.
func (s *Sentinels) startImitated() (err error) {
	f := &imitatedFleet{s: s}
	if s.servers, err = newSimOf(s.cfg.Config, nil); err != nil {
		return err
	}
	f.primary.Store(s.servers.proxies[0])
	s.fleet = f
	if s.watch, err = newSimOf(s.cfg.watchConfig(), s); err != nil {
		return err
	}
	if s.cfg.Discovery {
		s.servers.switched = f.tellSwitch
		return nil
	}
	for _, p := range s.servers.proxies[1:] {
		p.replicaOf.Store(s.servers.proxies[0])
	}
	return nil
}

func (f *imitatedFleet) master() *proxy {
	if !f.s.cfg.Discovery {
		return f.primary.Load()
	}
	sim := f.s.servers
	sim.mu.Lock()
	defer sim.mu.Unlock()
	return sim.currentLocked()
}

// publish makes the sentinels tell of something. All of them do, each to those that
// listen to it.
func (f *imitatedFleet) publish(channel, text string) {
	// It fails only when the simulator is being closed.
	_, _ = f.s.watch.engine.Do("PUBLISH", channel, text)
}

// tellSwitch tells that another proxy is the master now.
func (f *imitatedFleet) tellSwitch(old, next *proxy) {
	names := []string{f.s.cfg.MasterName}
	if f.s.cfg.Discovery {
		names = append(names, f.s.cfg.MasterName+"@internal")
	}
	for _, name := range names {
		f.publish("+switch-master", name+" "+words(old)+" "+words(next))
	}
	f.s.servers.record(Event{Kind: EventSwitched, Proxy: next.index})
}

func (f *imitatedFleet) failover(ctx context.Context, o options) error {
	sim, old := f.s.servers, f.primary.Load()
	next, err := f.s.nextServer(old, o.target)
	if err != nil {
		return err
	}
	f.publish("+failover-state-wait-promotion", f.s.aboutReplica(next, old))
	if !o.unannounced {
		if err := sim.stall(ctx, promotionPause); err != nil {
			return err
		}
	}
	// From here on it can't be called off.
	f.promote(next)
	if !o.unannounced {
		f.demote(old, next)
	}
	f.publish("+promoted-slave", f.s.aboutReplica(next, old))
	err = sim.wait(ctx, sim.real(o.lead))
	f.primary.Store(next)
	f.tellSwitch(old, next)
	if o.unannounced {
		if err == nil {
			err = sim.wait(ctx, sim.real(o.grace))
		}
		f.demote(old, next)
		sim.closeSessions(old, o)
	}
	return err
}

// promote makes a replica a master.
func (f *imitatedFleet) promote(next *proxy) {
	next.replicaOf.Store(nil)
	for _, p := range f.s.servers.proxies {
		if p.replicaOf.Load() != nil {
			p.replicaOf.Store(next)
		}
	}
	f.s.servers.record(Event{Kind: EventPromoted, Proxy: next.index})
}

// demote makes a master a replica. Who waits for something there is sent away.
func (f *imitatedFleet) demote(old, next *proxy) {
	sim := f.s.servers
	old.replicaOf.Store(next)
	sim.record(Event{Kind: EventDemoted, Proxy: old.index})
	for _, c := range sim.blocked() {
		if c.proxy == old {
			c.unblockError("UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)")
		}
	}
}

// closeSessions closes the connections of a proxy, which goes on to accept.
func (s *Sim) closeSessions(p *proxy, o options) {
	s.mu.Lock()
	victims := s.sessionsLocked(func(c *session) bool { return c.proxy == p })
	s.mu.Unlock()
	s.closeProxy(p, victims, o)
}

func (f *imitatedFleet) kill(ctx context.Context, o options) error {
	if f.s.cfg.Discovery {
		return f.killEndpoint(ctx, o)
	}
	sim, old := f.s.servers, f.primary.Load()
	next, err := f.s.nextServer(old, o.target)
	if err != nil {
		return err
	}
	sim.endServer(old, endReset, EventKilled)
	if err := sim.wait(ctx, o.outage); err != nil {
		return err
	}
	f.publish("+sdown", "master "+f.s.cfg.MasterName+" "+words(old))
	f.publish("+odown", "master "+f.s.cfg.MasterName+" "+words(old)+" #quorum 2/2")
	f.publish("+failover-state-wait-promotion", f.s.aboutReplica(next, old))
	f.promote(next)
	old.replicaOf.Store(next)
	f.publish("+promoted-slave", f.s.aboutReplica(next, old))
	f.primary.Store(next)
	f.tellSwitch(old, next)
	return nil
}

// killEndpoint ends the proxy of a database's endpoint. Another one takes over after
// the outage.
func (f *imitatedFleet) killEndpoint(ctx context.Context, o options) error {
	sim := f.s.servers
	m, err := sim.chooseMove(o)
	if err != nil {
		return err
	}
	sim.endServer(m.old, endReset, EventKilled)
	if err := sim.wait(ctx, o.outage); err != nil {
		return err
	}
	if err := sim.takeOver(m, o); err != nil {
		return err
	}
	defer m.repair()
	sim.resolve(m)
	f.tellSwitch(m.old, m.target)
	return nil
}

func (f *imitatedFleet) do(args []string) (any, error) { return f.s.servers.engine.Do(args...) }

// close does nothing: the proxies' simulators have ended what there was.
func (f *imitatedFleet) close() error { return nil }
