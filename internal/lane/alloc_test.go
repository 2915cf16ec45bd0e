package lane

import (
	"testing"

	"github.com/baton-go/redis/internal/invariants"
)

func TestLanesAllocateNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the race detector allocates")
	}
	t.Run("Shared.Do", func(t *testing.T) {
		s, q := onLane(t), ping()
		if got := testing.AllocsPerRun(1000, func() { mustDo(t, s, q) }); got > 0 {
			t.Errorf("got %v allocations per command, want 0", got)
		}
	})
	t.Run("Pool.Get and Put", func(t *testing.T) {
		p := withIdle(t, 10)
		if got := testing.AllocsPerRun(1000, func() { borrow(t, p) }); got > 0 {
			t.Errorf("got %v allocations per loan, want 0", got)
		}
	})
}
