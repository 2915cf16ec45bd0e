package maintsim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

func TestOutageDropsPackets(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := dial(t, sim.Addr())
	wait := background(t, func() error { return sim.Outage(t.Context(), maintsim.WithOutage(time.Second)) })
	waitFor(t, func() bool {
		return slices.ContainsFunc(sim.Events(), func(e maintsim.Event) bool { return e.Kind == maintsim.EventCut })
	})
	if got := probe(t, sim.Addr(), "PING"); got != "unreachable" {
		t.Errorf("in the outage: got %q", got)
	}
	began := time.Now()
	if got := c.do("PING"); got != "+PONG\r\n" { // it was under way
		t.Errorf("PING: got %q", got)
	}
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("PING was answered after %v, in the outage", took)
	}
	wait()
	if got := probe(t, sim.Addr(), "PING"); got != "+PONG" {
		t.Errorf("after the outage: got %q", got)
	}
}
