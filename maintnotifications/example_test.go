package maintnotifications_test

import (
	"fmt"
	"time"

	"github.com/baton-go/redis/maintnotifications"
)

// A machine is told what happens and says what to do. This one has two links to
// the node that is about to leave.
func ExampleMachine() {
	m := maintnotifications.NewMachine(maintnotifications.MachineConfig{Addr: "db.example.com:6379"})
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for id := range maintnotifications.LinkID(2) {
		m.LinkUp(now, maintnotifications.LinkInfo{ID: id, Peer: "10.0.0.1:6379", Addr: "db.example.com:6379"})
	}
	notice, err := maintnotifications.ParseNotice([]any{"MOVING", int64(5), int64(15), "10.0.0.2:6379"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, action := range m.Notice(now, 0, notice) {
		fmt.Println(action)
	}
	fmt.Println("dial", m.DialTargets(now))
	next, _ := m.Next()
	fmt.Println("tick at", next.Format(time.TimeOnly))
	// Output:
	// relax (MOVING)
	// handoff link=0 op=5>10.0.0.2:6379 targets=10.0.0.2:6379 attempt=1 deadline=12:00:15.000
	// handoff link=1 op=5>10.0.0.2:6379 targets=10.0.0.2:6379 attempt=1 deadline=12:00:15.000
	// dial [10.0.0.2:6379 db.example.com:6379]
	// tick at 12:00:15
}

func ExampleConfig_Validate() {
	cfg := maintnotifications.DefaultConfig()
	cfg.Mode = "sometimes"
	cfg.MaxHandoffRetries = 11
	fmt.Println(cfg.Validate())
	// Output:
	// maintnotifications: mode must be disabled, enabled or auto, not "sometimes"
	// maintnotifications: max handoff retries must be from 1 to 10, not 11
}
