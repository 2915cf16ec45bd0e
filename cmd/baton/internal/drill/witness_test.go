package drill

import (
	"testing"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/load"
	"github.com/baton-go/redis/maintsim"
)

// Everything the simulator does is on the time axis, in words of its own.
func TestWitnessHasAMarkForEveryEvent(t *testing.T) {
	for _, tt := range []struct {
		event maintsim.Event
		kind  MarkKind
		text  string
	}{
		{maintsim.Event{Kind: maintsim.EventNotice, Notice: maintsim.Moving, Connections: 3}, MarkNotice, "MOVING, told to 3 connections"},
		{maintsim.Event{Kind: maintsim.EventNotice, Notice: maintsim.Moving}, MarkOther, "MOVING, told to 0 connections"},
		{maintsim.Event{Kind: maintsim.EventStallBegin}, MarkStallBegin, "replies stall"},
		{maintsim.Event{Kind: maintsim.EventStallEnd}, MarkStallEnd, "replies flow"},
		{maintsim.Event{Kind: maintsim.EventProxyClosed, Connections: 4, InFlight: 1}, MarkClosed, "node 1 closes 4 connections, 1 commands in flight"},
		{maintsim.Event{Kind: maintsim.EventCut, Connections: 4, InFlight: 2}, MarkCut, "4 connections cut, 2 commands in flight"},
		{maintsim.Event{Kind: maintsim.EventServiceBack}, MarkBack, "server is back"},
		{maintsim.Event{Kind: maintsim.EventFault, Proxy: 1, Detail: "hang"}, MarkFault, "node 2: hang"},
		{maintsim.Event{Kind: maintsim.EventFault, Proxy: 1, Detail: "none"}, MarkRepaired, "node 2 is well again"},
		{maintsim.Event{Kind: maintsim.EventDemoted, Proxy: 1}, MarkFault, "node 2 is demoted and refuses writes"},
		{maintsim.Event{Kind: maintsim.EventLookups, Detail: "delay=1s err=<nil>"}, MarkFault, "lookups of names: delay=1s err=<nil>"},
		{maintsim.Event{Kind: maintsim.EventLookups, Detail: "well"}, MarkRepaired, "lookups are well again"},
		{maintsim.Event{Kind: maintsim.EventProxyOpened, Proxy: 1}, MarkEndpoint, "node 2 accepts"},
		{maintsim.Event{Kind: maintsim.EventTakeOver}, MarkEndpoint, "another node takes over the address of node 1"},
		{maintsim.Event{Kind: maintsim.EventResolved, Proxy: 1}, MarkEndpoint, "the name leads to node 2"},
		{maintsim.Event{Kind: maintsim.EventJoined, Proxy: 1}, MarkEndpoint, "node 2 joins the endpoint"},
		{maintsim.Event{Kind: maintsim.EventDropped, Proxy: 1}, MarkEndpoint, "node 2 leaves the name"},
		{maintsim.Event{Kind: maintsim.EventChaos, Detail: "#3 rebind"}, MarkStep, "chaos #3 rebind"},
	} {
		w := newWitness(load.NewClock(), SilentCut)
		tt.event.Time = time.Now()
		w.event(tt.event)
		if got := w.timeline(); len(got) != 1 || got[0].Kind != tt.kind || got[0].Text != tt.text {
			t.Errorf("%s: got %+v, want kind %d, %q", tt.event.Kind, got, tt.kind, tt.text)
		}
	}
}
