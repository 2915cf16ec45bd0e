package drill

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/cmd/baton/internal/load"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
	"github.com/baton-go/redis/push"
)

// A witness sees what the simulator does and what the client makes of it. It is a
// hook of both; its methods may be called from any goroutine.
type witness struct {
	clock *load.Clock
	cuts  bool // the recovery counts from when the server is back

	mu          sync.Mutex // guards the fields below
	marks       []Mark
	dropped     int
	handoffs    account.Handoffs
	inFlight    int64
	notices     int64
	stalls      int
	lastHandoff time.Duration
}

// maxMarks bounds the timeline.
const maxMarks = 20_000

// together is how close handoffs are to be one mark.
const together = 20 * time.Millisecond

func newWitness(clock *load.Clock, s Scenario) *witness {
	return &witness{clock: clock, cuts: s.Cuts()}
}

var (
	_ maintnotifications.NotificationHook = (*witness)(nil)
	_ maintnotifications.HandoffHook      = (*witness)(nil)
)

// event takes what the simulator did.
func (w *witness) event(e maintsim.Event) {
	if e.Kind == maintsim.EventServiceBack && w.cuts {
		w.clock.Back(e.Time)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	m := Mark{At: w.clock.At(e.Time), Kind: MarkOther, Text: e.String()}
	switch e.Kind {
	case maintsim.EventNotice:
		m.Text = fmt.Sprintf("%s, told to %d connections", strings.TrimSpace(string(e.Notice)+" "+e.Detail), e.Connections)
		if e.Connections > 0 {
			m.Kind = MarkNotice
		}
		w.notices += int64(e.Connections)
	case maintsim.EventStallBegin:
		m.Kind, m.Text = MarkStallBegin, "replies stall"
		w.stalls++
	case maintsim.EventStallEnd:
		m.Kind, m.Text = MarkStallEnd, "replies flow"
		w.stalls--
	case maintsim.EventProxyClosed:
		m.Kind, m.Text = MarkClosed, fmt.Sprintf("node %d closes %d connections, %d commands in flight", e.Proxy+1, e.Connections, e.InFlight)
	case maintsim.EventCut:
		m.Kind, m.Text = MarkCut, fmt.Sprintf("%d connections cut, %d commands in flight", e.Connections, e.InFlight)
		w.inFlight += int64(e.InFlight)
	case maintsim.EventServiceBack:
		m.Kind, m.Text = MarkBack, "server is back"
	case maintsim.EventFault:
		m.Kind, m.Text = MarkFault, fmt.Sprintf("node %d: %s", e.Proxy+1, e.Detail)
		if e.Detail == maintsim.FaultNone.String() {
			m.Kind, m.Text = MarkRepaired, fmt.Sprintf("node %d is well again", e.Proxy+1)
		}
	case maintsim.EventDemoted:
		m.Kind, m.Text = MarkFault, fmt.Sprintf("node %d is demoted and refuses writes", e.Proxy+1)
	case maintsim.EventLookups:
		m.Kind, m.Text = MarkFault, "lookups of names: "+e.Detail
		if e.Detail == "well" {
			m.Kind, m.Text = MarkRepaired, "lookups are well again"
		}
	case maintsim.EventProxyOpened:
		m.Kind, m.Text = MarkEndpoint, fmt.Sprintf("node %d accepts", e.Proxy+1)
	case maintsim.EventTakeOver:
		m.Kind, m.Text = MarkEndpoint, fmt.Sprintf("another node takes over the address of node %d", e.Proxy+1)
	case maintsim.EventResolved:
		m.Kind, m.Text = MarkEndpoint, fmt.Sprintf("the name leads to node %d", e.Proxy+1)
	case maintsim.EventJoined:
		m.Kind, m.Text = MarkEndpoint, fmt.Sprintf("node %d joins the endpoint", e.Proxy+1)
	case maintsim.EventDropped:
		m.Kind, m.Text = MarkEndpoint, fmt.Sprintf("node %d leaves the name", e.Proxy+1)
	case maintsim.EventSlots:
		m.Kind, m.Text = MarkEndpoint, "slots have moved: "+e.Detail
	case maintsim.EventPromoted:
		m.Kind, m.Text = MarkEndpoint, fmt.Sprintf("node %d is promoted", e.Proxy+1)
	case maintsim.EventSwitched:
		m.Kind, m.Text = MarkEndpoint, fmt.Sprintf("the sentinels name node %d", e.Proxy+1)
	case maintsim.EventKilled:
		m.Kind, m.Text = MarkFault, fmt.Sprintf("node %d is killed, %d commands in flight", e.Proxy+1, e.InFlight)
		w.inFlight += int64(e.InFlight)
	case maintsim.EventChaos:
		m.Kind, m.Text = MarkStep, "chaos "+e.Detail
	}
	w.markLocked(m)
}

func (w *witness) markLocked(m Mark) {
	if len(w.marks) >= maxMarks {
		w.dropped++
		return
	}
	w.marks = append(w.marks, m)
}

// PreHook lets every notice pass.
func (w *witness) PreHook(_ context.Context, _ push.NotificationHandlerContext, _ string, n []any) ([]any, bool) {
	return n, true
}

// PostHook does nothing.
func (w *witness) PostHook(context.Context, push.NotificationHandlerContext, string, []any, error) {}

// HandoffDone counts a handoff the client has ended.
func (w *witness) HandoffDone(endpoint string, err error) {
	now := w.clock.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handoffs.Started++
	if err != nil {
		w.handoffs.Failed++
		w.markLocked(Mark{At: now, Kind: MarkHandoff, Text: fmt.Sprintf("handoff to %s failed: %v", endpoint, err)})
		return
	}
	w.handoffs.Succeeded++
	if w.lastHandoff == 0 || now-w.lastHandoff > together {
		w.markLocked(Mark{At: now, Kind: MarkHandoff, Text: "handoff to " + endpoint})
	}
	w.lastHandoff = now
}

// progress is what the status line shows.
func (w *witness) progress() (notices, handoffs int64, stalled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notices, w.handoffs.Started, w.stalls > 0
}

// fill writes what was seen into the account.
func (w *witness) fill(r *account.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Handoffs = w.handoffs
	r.InFlightAtCut = w.inFlight
}

// timeline is every mark in the order of time.
func (w *witness) timeline() []Mark {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Clone(w.marks)
	slices.SortStableFunc(out, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	return out
}
