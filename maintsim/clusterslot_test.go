package maintsim

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/baton-go/redis/internal/cluster"
)

// The simulator and the client have slots of their own making, which agree with what
// servers say.
func TestSlotOf(t *testing.T) {
	for key, want := range map[string]int{
		"123456789": 12739, "foo": 12182, "": 0, "{foo}bar": 12182, "a{foo}{bar}": 12182,
	} {
		if got := slotOfString(key); got != want {
			t.Errorf("%q: got slot %d, want %d", key, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringOf(rapid.SampledFrom([]rune("{}ab\x00é1"))).Draw(t, "key")
		if got, want := slotOfString(key), int(cluster.SlotString(key)); got != want {
			t.Errorf("%q: got slot %d, want %d", key, got, want)
		}
	})
}
