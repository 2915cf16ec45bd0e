package maintnotifications

import (
	"testing"
	"time"
)

// A node that was left comes back as the target of the next move before the window
// of the first one is over: links to it must stay there.
func TestTargetOfANewerMoveDoesNotRetire(t *testing.T) {
	const a, b = "10.0.0.1:6379", "10.0.0.2:6379"
	m := NewMachine(MachineConfig{
		Addr: a, RelaxedTimeout: time.Second, HandoffTimeout: 15 * time.Second, MaxHandoffRetries: 3,
	})
	now := time.Unix(1000, 0)
	handoffs := func(actions []Action) (n int) {
		for _, act := range actions {
			if act.Do == ActionHandoff {
				n++
			}
		}
		return n
	}
	moving := func(seq int64, target string) Notice {
		return Notice{Kind: KindMoving, Seq: seq, Time: 15 * time.Second, HasTime: true, Endpoint: target}
	}
	m.LinkUp(now, LinkInfo{ID: 1, Peer: a, Addr: a})
	if n := handoffs(m.Notice(now, 1, moving(1, b))); n != 1 {
		t.Fatalf("%d handoffs to the first target, want 1", n)
	}
	m.LinkUp(now, LinkInfo{ID: 2, Peer: b, Addr: b})
	m.HandoffDone(now, OpKey{Seq: 1, Target: b}, 1, nil)
	m.LinkDown(now, 1)
	now = now.Add(time.Second)
	if n := handoffs(m.Notice(now, 2, moving(3, a))); n != 1 {
		t.Fatalf("%d handoffs to the second target, want 1", n)
	}
	if n := handoffs(m.LinkUp(now, LinkInfo{ID: 3, Peer: a, Addr: a})); n != 0 {
		t.Errorf("the link to the second target was handed over too")
	}
	m.HandoffDone(now, OpKey{Seq: 3, Target: a}, 2, nil)
	m.LinkDown(now, 2)
	if got := m.DialTargets(now); got[0] != a {
		t.Errorf("new links are dialled to %v", got)
	}
}

// However many moves there were lately, the next one is acted upon.
func TestManyMovesInARow(t *testing.T) {
	addr := []string{"10.0.0.1:6379", "10.0.0.2:6379"}
	m := NewMachine(MachineConfig{
		Addr: addr[0], RelaxedTimeout: time.Second, HandoffTimeout: 15 * time.Second, MaxHandoffRetries: 3,
	})
	now := time.Unix(1000, 0)
	m.LinkUp(now, LinkInfo{ID: 1, Peer: addr[0], Addr: addr[0]})
	for i := range 3 * maxOps {
		from, to := LinkID(i+1), addr[(i+1)%2]
		now = now.Add(100 * time.Millisecond)
		actions := m.Notice(now, from, Notice{Kind: KindMoving, Seq: int64(i), Time: 50 * time.Millisecond, HasTime: true, Endpoint: to})
		found := false
		for _, a := range actions {
			found = found || a.Do == ActionHandoff && a.Link == from
		}
		if !found {
			t.Fatalf("move %d was not acted upon", i)
		}
		m.LinkUp(now, LinkInfo{ID: from + 1, Peer: to, Addr: to})
		m.HandoffDone(now, OpKey{Seq: int64(i), Target: to}, from, nil)
		m.LinkDown(now, from)
	}
}

// Two moves without a target, one after the other, of which DNS shows the second to
// lead back to where the first one came from: links must not go round in circles.
func TestMovesByDNSDoNotGoInCircles(t *testing.T) {
	const a, b = "10.0.0.1:6379", "10.0.0.2:6379"
	m := NewMachine(MachineConfig{
		Addr: "db.example:6379", RelaxedTimeout: time.Second, HandoffTimeout: 15 * time.Second, MaxHandoffRetries: 3,
	})
	now := time.Unix(1000, 0)
	next, dials := LinkID(1), 0
	m.LinkUp(now, LinkInfo{ID: next, Peer: a, Addr: "db.example:6379"})
	var do func(actions []Action)
	do = func(actions []Action) {
		for _, act := range actions {
			if act.Do != ActionHandoff || dials > 20 {
				continue
			}
			dials++
			to := act.Targets[0]
			if to == "db.example:6379" {
				to = a // DNS does not change for a long time
			}
			next++
			do(m.LinkUp(now, LinkInfo{ID: next, Peer: to, Addr: act.Targets[0]}))
			do(m.HandoffDone(now, act.Op, act.Link, nil))
			do(m.LinkDown(now, act.Link))
		}
	}
	moving := func(seq int64) Notice { return Notice{Kind: KindMoving, Seq: seq, Time: time.Second, HasTime: true} }
	do(m.Notice(now, 1, moving(1)))
	do(m.Resolved(now, []string{"10.0.0.1"}, nil))
	now = now.Add(990 * time.Millisecond) // shortly before the deadline: to the configured address
	do(m.Tick(now))
	now = now.Add(100 * time.Millisecond)
	do(m.Tick(now))
	do(m.Resolved(now, []string{"10.0.0.2"}, nil))
	if dials != 2 {
		t.Fatalf("%d dials in the first move, want one in vain and one to the new address", dials)
	}
	dials = 0
	now = now.Add(time.Second)
	do(m.Notice(now, next, moving(3)))
	do(m.Resolved(now, []string{"10.0.0.1"}, nil))
	if dials != 1 {
		t.Errorf("%d dials in the second move, want 1", dials)
	}
}

// A sequence number that does not fit must not make every later notice look old.
func TestSequenceOutOfRangeIsRefused(t *testing.T) {
	for _, seq := range []any{"92233720368547758080", []byte("-92233720368547758080"), 1e30} {
		if n, err := ParseNotice([]any{"FAILED_OVER", seq}); err == nil {
			t.Errorf("%v was taken for %d", seq, n.Seq)
		}
	}
}

// Where the name has two addresses, and the one that a look-up has shown retires too,
// its links say so; look-ups tell that from a notice that is only repeated there.
func TestFoundTargetThatRetiresToo(t *testing.T) {
	const a, b = "10.0.0.1:6379", "10.0.0.2:6379"
	for _, retires := range []bool{false, true} {
		m := NewMachine(MachineConfig{
			Addr: "db:6379", RelaxedTimeout: time.Second, HandoffTimeout: 15 * time.Second, MaxHandoffRetries: 3,
		})
		now := time.Unix(1000, 0)
		op := OpKey{Seq: 1}
		moving := Notice{Kind: KindMoving, Seq: 1, Time: 15 * time.Second, HasTime: true}
		m.LinkUp(now, LinkInfo{ID: 1, Peer: a, Addr: "db:6379"})
		m.Notice(now, 1, moving)
		m.Resolved(now, []string{"10.0.0.1", "10.0.0.2"}, nil)
		m.LinkUp(now, LinkInfo{ID: 2, Peer: b, Addr: b})
		m.HandoffDone(now, op, 1, nil)
		m.LinkDown(now, 1)
		m.Notice(now, 2, moving)

		var moved []string
		for range 20 {
			now = now.Add(time.Second)
			addrs := []string{"10.0.0.2"}
			if retires {
				addrs = []string{"10.0.0.3"}
			}
			for _, act := range m.Tick(now) {
				if act.Do != ActionResolve {
					continue
				}
				for _, act := range m.Resolved(now, addrs, nil) {
					if act.Do == ActionHandoff {
						moved = append(moved, act.Targets...)
						m.LinkUp(now, LinkInfo{ID: 3, Peer: act.Targets[0], Addr: act.Targets[0]})
						m.HandoffDone(now, op, act.Link, nil)
						m.LinkDown(now, act.Link)
					}
				}
			}
		}
		if want := map[bool]int{false: 0, true: 1}[retires]; len(moved) != want || retires && moved[0] != "10.0.0.3:6379" {
			t.Errorf("retires=%v: handed over to %q", retires, moved)
		}
	}
}

// The configured address is tried early enough before the deadline, however short the
// window is.
func TestFallbackLeavesTime(t *testing.T) {
	for window, want := range map[time.Duration]time.Duration{
		300 * time.Millisecond: 150 * time.Millisecond, time.Second: 250 * time.Millisecond,
		5 * time.Second: 500 * time.Millisecond, time.Minute: time.Second,
	} {
		m := NewMachine(MachineConfig{Addr: "db:6379", HandoffTimeout: 15 * time.Second})
		start := time.Unix(1000, 0)
		m.LinkUp(start, LinkInfo{ID: 1, Peer: "10.0.0.1:6379", Addr: "db:6379"})
		m.Notice(start, 1, Notice{Kind: KindMoving, Seq: 1, Time: window, HasTime: true})
		var at time.Duration
		for now := start; at == 0 && now.Before(start.Add(window)); now = now.Add(10 * time.Millisecond) {
			for _, act := range append(m.Tick(now), m.Resolved(now, []string{"10.0.0.1"}, nil)...) {
				if act.Do == ActionHandoff {
					at = now.Sub(start)
				}
			}
		}
		if at != window-want {
			t.Errorf("window %v: the configured address is tried after %v, want %v", window, at, window-want)
		}
	}
}
