package maintnotifications

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A machineTester drives a machine with verbs; see trace_test.go for the rules.
type machineTester struct {
	t   *testing.T
	m   *Machine
	now time.Time
}

func newMachineTester(t *testing.T, cfg MachineConfig) *machineTester {
	return &machineTester{t: t, m: NewMachine(cfg), now: traceStart}
}

func (mt *machineTester) up(id LinkID, peer string) []Action {
	return mt.m.LinkUp(mt.now, LinkInfo{ID: id, Peer: peer, Addr: mt.m.cfg.Addr})
}

func (mt *machineTester) notice(from LinkID, n Notice) []Action {
	return mt.m.Notice(mt.now, from, n)
}

// want compares actions with their texts.
func (mt *machineTester) want(acts []Action, want ...string) {
	mt.t.Helper()
	var got []string
	for _, a := range acts {
		got = append(got, a.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		mt.t.Errorf("actions (-want +got):\n%s", diff)
	}
}

func moving(seq int64, d time.Duration, target string) Notice {
	return Notice{Kind: KindMoving, Seq: seq, Time: d, HasTime: true, Endpoint: target}
}

func TestActionStrings(t *testing.T) {
	deadline := traceStart.Add(time.Second)
	for _, tc := range []struct {
		a    Action
		want string
	}{
		{Action{Do: ActionRelax}, "relax"},
		{Action{Do: ActionUnrelax}, "unrelax"},
		{Action{Do: ActionResolve, Op: OpKey{Seq: 5}}, "resolve op=5>none"},
		{Action{Do: ActionRetire, Op: OpKey{5, "a:1"}, Link: 3, Reason: "deadline passed"}, "retire link=3 op=5>a:1 (deadline passed)"},
		{
			Action{Do: ActionHandoff, Op: OpKey{5, "a:1"}, Link: 3, Targets: []string{"a:1", "b:2"}, Attempt: 2, Deadline: deadline},
			"handoff link=3 op=5>a:1 targets=a:1,b:2 attempt=2 deadline=00:00:01.000",
		},
		{Action{Do: 99}, "ActionKind(99)"},
	} {
		if got := tc.a.String(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestMachineDefaults(t *testing.T) {
	got := NewMachine(MachineConfig{Addr: "db:6379"}).cfg
	want := MachineConfig{
		Addr: "db:6379", RelaxedTimeout: 10 * time.Second, HandoffTimeout: 15 * time.Second,
		PostHandoffRelaxedDuration: 20 * time.Second, MaxHandoffRetries: 3,
		MigratingBackstop: 10 * time.Minute, FailingOverBackstop: time.Minute,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFreshMachineIsQuiet(t *testing.T) {
	mt := newMachineTester(t, MachineConfig{Addr: "db:6379"})
	mt.want(mt.up(1, "10.0.0.1:6379"))
	mt.want(mt.m.LinkDown(mt.now, 99))
	mt.want(mt.m.Tick(mt.now))
	mt.want(mt.m.Resolved(mt.now, []string{"10.0.0.1"}, nil))
	mt.want(mt.m.HandoffDone(mt.now, OpKey{Seq: 1}, 1, nil))
	if next, ok := mt.m.Next(); ok || mt.m.Relaxed() || mt.m.Active() != nil {
		t.Errorf("next %v, relaxed %v, active %v", next, mt.m.Relaxed(), mt.m.Active())
	}
	if diff := cmp.Diff([]string{"db:6379"}, mt.m.DialTargets(mt.now)); diff != "" {
		t.Errorf("DialTargets (-want +got):\n%s", diff)
	}
}

func TestPeersHaveOneForm(t *testing.T) {
	mt := newMachineTester(t, MachineConfig{Addr: "db:6379"})
	mt.up(1, "10.0.0.1:6379")
	mt.up(2, "[::ffff:10.0.0.1]:6379")
	acts := mt.notice(1, moving(5, 15*time.Second, "[2001:db8::1]:6379"))
	mt.want(
		acts, "relax (MOVING)",
		"handoff link=1 op=5>[2001:db8::1]:6379 targets=[2001:db8::1]:6379 attempt=1 deadline=00:00:15.000",
		"handoff link=2 op=5>[2001:db8::1]:6379 targets=[2001:db8::1]:6379 attempt=1 deadline=00:00:15.000",
	)
}

func TestConfiguredAddressAsTarget(t *testing.T) {
	// Moved away before, now back to the configured address: it is a target like
	// any other, and dialled once.
	mt := newMachineTester(t, MachineConfig{Addr: "10.0.0.1:6379"})
	mt.m.LinkUp(mt.now, LinkInfo{ID: 1, Peer: "10.0.0.2:6379", Addr: "10.0.0.2:6379"})
	acts := mt.notice(1, moving(5, 15*time.Second, "10.0.0.1:6379"))
	mt.want(acts, "relax (MOVING)", "handoff link=1 op=5>10.0.0.1:6379 targets=10.0.0.1:6379 attempt=1 deadline=00:00:15.000")
	if diff := cmp.Diff([]string{"10.0.0.1:6379"}, mt.m.DialTargets(mt.now)); diff != "" {
		t.Errorf("DialTargets (-want +got):\n%s", diff)
	}
	mt.want(mt.m.HandoffDone(mt.now, OpKey{5, "10.0.0.1:6379"}, 1, errRefused))
	next, _ := mt.m.Next()
	mt.want(mt.m.Tick(next), "handoff link=1 op=5>10.0.0.1:6379 targets=10.0.0.1:6379 attempt=2 deadline=00:00:15.000")
}

func TestLinkUpAgainUpdatesAddresses(t *testing.T) {
	mt := newMachineTester(t, MachineConfig{Addr: "db:6379"})
	mt.up(1, "10.0.0.1:6379")
	mt.up(2, "")
	mt.notice(1, moving(5, 15*time.Second, "10.0.0.2:6379"))
	mt.want(mt.up(2, "10.0.0.1:6379"), "handoff link=2 op=5>10.0.0.2:6379 targets=10.0.0.2:6379 attempt=1 deadline=00:00:15.000")
	mt.want(mt.up(2, "10.0.0.1:6379"))
}

func TestHalfOfTheWindowIsExact(t *testing.T) {
	mt := newMachineTester(t, MachineConfig{
		Addr: "10.0.0.1:6379",
		Jitter: func(limit time.Duration) time.Duration {
			if limit != 300*time.Millisecond {
				t.Errorf("jitter of at most %v, want a tenth", limit)
			}
			return time.Hour // too much: cut
		},
	})
	mt.up(1, "10.0.0.1:6379")
	mt.want(mt.notice(1, moving(5, 3*time.Second, "")), "relax (MOVING)")
	if next, _ := mt.m.Next(); next.Sub(traceStart) != 1800*time.Millisecond {
		t.Errorf("the handoff is due after %v, want 1.8s", next.Sub(traceStart))
	}
}

func TestLinkClosedDuringItsHandoff(t *testing.T) {
	mt := newMachineTester(t, MachineConfig{Addr: "db:6379"})
	op := OpKey{5, "10.0.0.2:6379"}
	mt.up(1, "10.0.0.1:6379")
	mt.up(2, "10.0.0.1:6379")
	mt.notice(1, moving(5, time.Second, op.Target))
	mt.want(mt.m.LinkDown(mt.now, 1))
	mt.want(mt.m.LinkDown(mt.now, 2))
	mt.want(mt.m.HandoffDone(mt.now, op, 1, errRefused))
	if diff := cmp.Diff([]OpKey{op}, mt.m.Active()); diff != "" {
		t.Errorf("Active (-want +got):\n%s", diff)
	}
	mt.want(mt.m.HandoffDone(mt.now, op, 2, nil)) // its replacement serves all the same
	if got := mt.m.Active(); got != nil {
		t.Errorf("active: %v", got)
	}
	mt.want(mt.m.Tick(traceStart.Add(time.Second)))
	mt.want(mt.m.Tick(traceStart.Add(20*time.Second)), "unrelax (MOVING)")
}

func TestTargetNameLeadsBackToTheRetiringPeer(t *testing.T) {
	mt := newMachineTester(t, MachineConfig{Addr: "db:6379"})
	op := OpKey{5, "node2.example:6379"}
	mt.up(1, "10.0.0.1:6379")
	mt.notice(1, moving(5, 15*time.Second, op.Target))
	mt.want(mt.m.LinkUp(mt.now, LinkInfo{ID: 2, Peer: "10.0.0.1:6379", Addr: op.Target}))
	mt.want(mt.m.HandoffDone(mt.now, op, 1, nil))
	mt.want(mt.notice(2, moving(5, 14*time.Second, op.Target))) // does not go round in circles
	mt.want(mt.m.Tick(traceStart.Add(15*time.Second)), "retire link=2 op=5>node2.example:6379 (deadline passed)")
}

func TestAnnouncedTimesAreBounded(t *testing.T) {
	mt := newMachineTester(t, MachineConfig{Addr: "db:6379"})
	mt.up(1, "10.0.0.1:6379")
	mt.notice(1, Notice{Kind: KindMigrating, Seq: 1, Time: math.MaxInt64, HasTime: true})
	mt.notice(1, moving(2, math.MaxInt64, "10.0.0.2:6379"))
	mt.want(mt.m.Tick(traceStart.Add(25*time.Hour)), "retire link=1 op=2>10.0.0.2:6379 (deadline passed)", "unrelax (MIGRATING)")
	mt.notice(1, Notice{Kind: KindMigrating, Seq: 3, Time: math.MinInt64, HasTime: true})
	mt.notice(1, moving(4, math.MinInt64, "10.0.0.2:6379"))
	if next, ok := mt.m.Next(); !ok || next.After(traceStart.Add(26*time.Hour)) {
		t.Errorf("next %v", next)
	}
}

func TestTablesAreBounded(t *testing.T) {
	mt := newMachineTester(t, MachineConfig{Addr: "db:6379"})
	mt.up(1, "10.0.0.1:6379")
	for i := range int64(1000) {
		shard := []string{fmt.Sprint(i)}
		mt.notice(1, moving(i, time.Minute, "10.0.0.2:6379"))
		mt.notice(1, Notice{Kind: KindMigrating, Seq: i, Shards: shard})
		mt.notice(1, Notice{Kind: KindFailedOver, Seq: i, Shards: shard})
	}
	if len(mt.m.ops) > maxOps || len(mt.m.windows) > maxWindows || len(mt.m.closed) > maxClosed {
		t.Errorf("%d operations, %d windows, %d closings", len(mt.m.ops), len(mt.m.windows), len(mt.m.closed))
	}
	mt.m.Tick(traceStart.Add(time.Hour))
	if len(mt.m.ops) != 0 || len(mt.m.windows) != 0 || mt.m.Relaxed() {
		t.Errorf("%d operations, %d windows after an hour", len(mt.m.ops), len(mt.m.windows))
	}
}

func TestConfiguredAddressWithoutPort(t *testing.T) {
	mt := newMachineTester(t, MachineConfig{Addr: "db"})
	mt.up(1, "10.0.0.1:6379")
	mt.want(mt.notice(1, moving(5, 15*time.Second, "")), "relax (MOVING)", "resolve op=5>none")
	mt.want(mt.m.Resolved(mt.now, []string{"2001:db8::1"}, nil),
		"handoff link=1 op=5>none targets=[2001:db8::1]:6379 attempt=1 deadline=00:00:15.000")
}
