package drill

import (
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/load"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

const (
	recoverFast = time.Second // after a cut
	// recoverSilent is the same after the server has left without a sign in a window:
	// the client's timeouts are relaxed then.
	recoverSilent = 10*time.Second + recoverFast
	// recoverNetwork is the same after packets were dropped: what is dialled again once a
	// second may just have been.
	recoverNetwork = 2 * time.Second
)

// terms are what the drill allows and requires.
func (c Config) terms(incomplete []string) account.Terms {
	return account.Terms{
		Cut:        c.felt(),
		Unbounded:  c.felt() && (!c.Scenario.Cuts() || c.Ending == maintsim.CloseSilent || c.deaf()),
		Down:       c.down(),
		Refused:    c.refuses(),
		Announced:  c.Scenario.announces() && !c.deaf() && c.LostOpenings < 1 && c.Mode != maintnotifications.ModeDisabled,
		RecoveryMS: float64(c.recovery().Milliseconds()),
		Scattered:  c.scatters(),
		Redirects:  c.mostRedirects(),
		Incomplete: incomplete,
	}
}

// felt reports whether even a client that does everything right loses replies. What is
// done to a cluster, or told by sentinels, can be followed without notices, too.
func (c Config) felt() bool {
	return !c.Scenario.Clustered() && !c.Scenario.watched() && c.loses()
}

func (c Config) loses() bool {
	return c.Scenario.Cuts() || c.Scenario.silent() || c.allChaos() || c.deaf() ||
		c.LostOpenings > 0 || c.badTarget() || c.lateName() || c.TakeOver > latestTakeOver
}

// latestTakeOver is until when in its window an address must be taken over, so that
// a client which connects anew at half of it finds the new node.
const latestTakeOver = 0.5

// refuses reports whether a server answers reads and refuses writes for a while.
func (c Config) refuses() bool {
	return c.Scenario == Demotion || c.allChaos() ||
		c.Target.Fault == maintsim.FaultReadOnly || c.Target.Fault == maintsim.FaultLoading
}

func (c Config) allChaos() bool { return c.Scenario == Chaos && c.Chaos == ChaosAll }

// deaf reports whether connections may have no notices.
func (c Config) deaf() bool {
	return c.RefuseOptIn != 0 || c.CloseOnOptIn != 0 || c.Protocol == 2
}

// badTarget reports whether the target of a move may be bad for longer than the old
// endpoint serves, or not much less.
func (c Config) badTarget() bool {
	t := c.Target
	return t.Fault != maintsim.FaultNone && (t.For == 0 || 2*t.For > c.Grace)
}

// lateName reports whether the name may lead to the target only when the old
// endpoint has closed, and nothing else tells the target.
func (c Config) lateName() bool {
	return c.Scenario == RebindNone && c.ByName && c.Resolver.Max > c.Grace+c.Linger.Min
}

// down reports whether there may be no server for longer than commands wait.
func (c Config) down() bool {
	return c.Scenario == Outage || c.allChaos() || c.badTarget() || c.lateName()
}

// recovery is how long after the scenario each worker's next command may take.
func (c Config) recovery() time.Duration {
	if c.Scenario == Outage {
		return recoverNetwork
	}
	if c.Ending == maintsim.CloseSilent || c.allChaos() || c.badTarget() {
		return recoverSilent
	}
	return recoverFast
}

// edgeAfter is how long the load goes on after the scenario.
func (c Config) edgeAfter() time.Duration {
	if c.felt() && c.recovery() > recoverFast {
		return c.recovery() + shortEdge
	}
	return edge
}

// scatters reports whether messages are published at other nodes than before, as they are
// where a primary fails over, or slots move. Nodes pass them on to each other without an
// order, some 40 ms later if packets are held back, so that those of the new primary overtake
// those of the old one on their way to any third node. Who subscribes at one node with a bare
// socket sees the same. None is lost, nor comes twice. The embedded cluster is one server.
func (c Config) scatters() bool { return c.Scenario.Clustered() && c.isReal() }

// mostRedirects is how many MOVED there may be for each slot that moves: two for each
// connection of the client to a node. 0 is any number.
func (c Config) mostRedirects() float64 {
	if !c.Scenario.Clustered() {
		return 0
	}
	return 2 * float64(1+load.Exclusive(c.Workers))
}
