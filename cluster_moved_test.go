package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
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

// A refresh gives what was told, even if a redirect changes the state right behind it: a
// command for all primaries would ask a node and its successor, and add up both.
func TestClusterRefreshGivesWhatWasTold(t *testing.T) {
	told, err := topologyOf([]ClusterSlot{{End: cluster.Slots - 1, Nodes: []ClusterNode{{Addr: "a:1"}, {Addr: "b:1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	c := NewClusterClient(&ClusterOptions{ClusterSlots: func(context.Context) ([]ClusterSlot, error) { return nil, errNoNodes }})
	defer c.Close()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for slot := uint16(0); ; slot = (slot + 1) % cluster.Slots {
			select {
			case <-stop:
				return
			default:
				c.moved(slot, "b:1")
			}
		}
	})
	for range 20_000 {
		if st := c.adopt(told); st == nil || st.topo != told {
			t.Error("the state is not what was told")
			break
		}
	}
	close(stop)
	wg.Wait()
}

// A slot that moves while a pipeline is being taken apart moves for all of it.
func TestClusterPipelineHasOneState(t *testing.T) {
	told, err := topologyOf([]ClusterSlot{{End: cluster.Slots - 1, Nodes: []ClusterNode{{Addr: "a:1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var c *ClusterClient
	slot := cluster.SlotString("key")
	c = NewClusterClient(&ClusterOptions{
		ClusterSlots: func(context.Context) ([]ClusterSlot, error) { return nil, errNoNodes },
		Dialer:       func(context.Context, string, string) (net.Conn, error) { return nil, errNoNodes },
		ShardPicker:  pickerFunc(func(int) int { c.moved(slot, "b:1"); return 0 }),
	})
	defer c.Close()
	c.adopt(told)
	set, ping, get := NewStatusCmd(t.Context(), "set", "key", 1), NewStatusCmd(t.Context(), "ping"), NewStringCmd(t.Context(), "get", "key")
	all := []*piped{{cmd: set, slot: int(slot)}, {cmd: ping, slot: anySlot}, {cmd: get, slot: int(slot)}}
	c.round(t.Context(), all)
	if at := c.state.Load().at(slot); at == nil || at.addr != "b:1" {
		t.Fatalf("the slot has not moved: %v", at)
	}
	if all[0].node != all[2].node || all[0].node == nil {
		t.Errorf("SET went to %v, GET of the same key to %v", all[0].node, all[2].node)
	}
}

// pickerFunc is a ShardPicker.
type pickerFunc func(total int) int

func (f pickerFunc) Next(total int) int { return f(total) }
