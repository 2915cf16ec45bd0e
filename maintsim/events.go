package maintsim

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// An EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	// EventNotice: a notice was sent to the connections that are to know.
	EventNotice EventKind = "notice"
	// EventStallBegin and EventStallEnd: replies are held back between them.
	EventStallBegin EventKind = "stall-begin"
	EventStallEnd   EventKind = "stall-end"
	// EventProxyOpened: a proxy began to accept again.
	EventProxyOpened EventKind = "proxy-opened"
	// EventProxyClosed: an old proxy closed its connections at its deadline.
	EventProxyClosed EventKind = "proxy-closed"
	// EventTakeOver: connections accepted from now on belong to the new node
	// behind the same address.
	EventTakeOver EventKind = "take-over"
	// EventResolved: the database's name resolves to another proxy.
	EventResolved EventKind = "resolved"
	// EventCut: connections were cut without closing notice.
	EventCut EventKind = "cut"
	// EventServiceBack: dials succeed again after a cut.
	EventServiceBack EventKind = "service-back"
	// EventFault: a proxy became faulty, or well again; Detail says how.
	EventFault EventKind = "fault"
	// EventDemoted: a proxy answers writes with READONLY.
	EventDemoted EventKind = "demoted"
	// EventJoined and EventDropped: a proxy became part of the endpoint, or was
	// taken out of what the name leads to.
	EventJoined  EventKind = "joined"
	EventDropped EventKind = "dropped"
	// EventLookups: lookups fail or are late, or are well again; Detail says how.
	EventLookups EventKind = "lookups"
	// EventSlots: slots of a cluster have moved; Detail says which and where.
	EventSlots EventKind = "slots"
	// EventPromoted: a replica became the primary of its shard, or a master.
	EventPromoted EventKind = "promoted"
	// EventSwitched: sentinels name another master.
	EventSwitched EventKind = "switched"
	// EventKilled: a node of a cluster, or a master, ended without notice.
	EventKilled EventKind = "killed"
	// EventChaos: a step of Chaos began or failed; Detail says which.
	EventChaos EventKind = "chaos"
)

// An Event is one thing the simulator did. Fields that don't apply are zero,
// except Proxy.
type Event struct {
	Time        time.Time
	Kind        EventKind
	Notice      Notice // of EventNotice
	Seq         int64  // of EventNotice
	Proxy       int    // index, or -1 for all proxies
	Connections int    // told, closed or cut
	InFlight    int    // commands without a reply at the moment of closing or cutting
	Detail      string // of EventFault, EventLookups, EventChaos and EventSlots, and of a cluster's EventNotice
}

// String is the event in one line, without its time.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(string(e.Kind))
	if e.Notice != "" {
		fmt.Fprintf(&b, " %s seq=%d", e.Notice, e.Seq)
	}
	if e.Proxy >= 0 {
		fmt.Fprintf(&b, " proxy=%d", e.Proxy)
	}
	switch e.Kind {
	case EventNotice:
		fmt.Fprintf(&b, " connections=%d", e.Connections)
		if e.Detail != "" {
			fmt.Fprintf(&b, " %s", e.Detail)
		}
	case EventProxyClosed, EventCut, EventKilled:
		fmt.Fprintf(&b, " connections=%d in-flight=%d", e.Connections, e.InFlight)
	case EventFault, EventLookups, EventChaos, EventSlots:
		fmt.Fprintf(&b, " %s", e.Detail)
	case EventStallBegin, EventStallEnd, EventProxyOpened, EventTakeOver, EventResolved, EventServiceBack,
		EventDemoted, EventJoined, EventDropped, EventPromoted, EventSwitched:
	}
	return b.String()
}

// maxEvents bounds the log; the oldest events are forgotten first.
const maxEvents = 10_000

type eventLog struct {
	mu  sync.Mutex // guards the field below
	all []Event
}

// Events returns what happened so far, oldest first, at most the last 10000
// events. It may be called at any time, also after Close.
func (s *Sim) Events() []Event {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	return slices.Clone(s.events.all)
}

// record logs e and tells OnEvent. No lock may be held.
func (s *Sim) record(e Event) {
	e.Time = time.Now()
	s.events.mu.Lock()
	if len(s.events.all) == maxEvents {
		s.events.all = slices.Delete(s.events.all, 0, maxEvents/10)
	}
	s.events.all = append(s.events.all, e)
	s.events.mu.Unlock()
	s.cfg.Logger.Info("maintsim: " + e.String())
	if s.cfg.OnEvent != nil {
		s.cfg.OnEvent(e)
	}
}
