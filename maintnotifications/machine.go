package maintnotifications

import "time"

type LinkID uint64

type LinkInfo struct {
	ID   LinkID
	Peer string
	Addr string
}

type OpKey struct {
	Seq    int64
	Target string
}

type MachineConfig struct {
	Addr                                                       string
	RelaxedTimeout, HandoffTimeout, PostHandoffRelaxedDuration time.Duration
	MaxHandoffRetries                                          int
	MigratingBackstop, FailingOverBackstop                     time.Duration
	Jitter                                                     func(max time.Duration) time.Duration
}

type ActionKind uint8

const (
	ActionRelax ActionKind = iota + 1
	ActionUnrelax
	ActionHandoff
	ActionResolve
	ActionRetire
)

type Action struct {
	Do       ActionKind
	Op       OpKey
	Link     LinkID
	Targets  []string
	Deadline time.Time
	Attempt  int
	Reason   string
}

type Machine struct{ cfg MachineConfig }

func NewMachine(cfg MachineConfig) *Machine { return &Machine{cfg: cfg} }

func (m *Machine) LinkUp(now time.Time, l LinkInfo) []Action { return nil }

func (m *Machine) LinkDown(now time.Time, id LinkID) []Action { return nil }

func (m *Machine) Notice(now time.Time, from LinkID, n Notice) []Action { return nil }

func (m *Machine) Resolved(now time.Time, addrs []string, err error) []Action { return nil }

func (m *Machine) HandoffDone(now time.Time, op OpKey, id LinkID, err error) []Action { return nil }

func (m *Machine) Tick(now time.Time) []Action { return nil }

func (m *Machine) Next() (time.Time, bool) { return time.Time{}, false }

func (m *Machine) Relaxed() bool { return false }

func (m *Machine) DialTargets(now time.Time) []string { return []string{m.cfg.Addr} }

func (m *Machine) Active() []OpKey { return nil }
