package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/realserver"
)

// However many callers there are, a slot that moves causes few redirects, and all slots
// together few refreshes.
func TestClusterSlotsMoveWithoutAStorm(t *testing.T) {
	cl := realserver.StartCluster(t, realserver.Redis8, realserver.ClusterConfig{Primaries: 3})
	c := NewClusterClient(&ClusterOptions{Addrs: cl.Addrs()[:1]})
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	const slots, callers = 512, 64
	var keys []string // of the slots that move
	for i := 0; len(keys) < 2*slots; i++ {
		if key := fmt.Sprint("k", i); cluster.SlotString(key) < slots {
			keys = append(keys, key)
		}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := c.Incr(ctx, keys[rand.IntN(len(keys))]).Err(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	if err := cl.MoveSlots(ctx, cl.Addrs()[0], cl.Addrs()[1], realserver.SlotRange{End: slots - 1}); err != nil {
		t.Error(err)
	}
	close(stop)
	wg.Wait()
	redirects, reloads := c.redirects.Load(), c.reloads.Load()
	t.Logf("%d MOVED and %d refreshes for %d slots", redirects, reloads, slots)
	if redirects == 0 || redirects > 2*slots || reloads > slots/4 {
		t.Errorf("%d MOVED, %d refreshes for %d slots", redirects, reloads, slots)
	}
}
