package maintsim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/baton-go/redis/maintsim"
)

// realCluster starts a cluster of a program whose windows take no longer than its slots.
func realCluster(t *testing.T, path string, replicas int) *maintsim.Cluster {
	t.Helper()
	cfg := quickCluster()
	cfg.Backend, cfg.Replicas, cfg.Password = maintsim.Program(path), replicas, "secret"
	return maintsim.StartCluster(t, cfg)
}

// The nodes of a real cluster make the proxies known in their place, and nobody notices
// what becomes of them.
func TestRealClusterSurvives(t *testing.T) {
	for name, path := range realServers(t) {
		t.Run(name, func(t *testing.T) {
			c := realCluster(t, path, 1)
			l := startLoad(t, c, "secret")
			ctx, cancel := context.WithTimeout(t.Context(), 9*patience)
			defer cancel()
			slots := []maintsim.SlotRange{{First: 0, Last: 30}}
			steps := []struct {
				name string
				do   func() error
			}{
				{"announced", func() error { return c.MigrateSlots(ctx, 0, 1, slots) }},
				{"unannounced", func() error { return c.MigrateSlots(ctx, 1, 0, slots, maintsim.WithUnannounced()) }},
				{"lost", func() error {
					return c.MigrateSlots(ctx, 0, 1, slots, maintsim.WithOpeningsTo(0.5), maintsim.WithClosingsTo(0.5))
				}},
				{"failover", func() error { return c.Failover(ctx, 1) }},
				{"unannounced failover", func() error { return c.Failover(ctx, 2, maintsim.WithUnannounced()) }},
				{"new shard", func() error { return c.MigrateSlots(ctx, 1, 3, slots) }},
				{"removal", func() error { return c.MigrateSlots(ctx, 3, 1, nil, maintsim.WithRemoval()) }},
				{"new shard again", func() error { return c.MigrateSlots(ctx, 1, 3, slots) }},
				{"atomic", func() error {
					if !strings.HasPrefix(name, "valkey-9") {
						return nil
					}
					return c.MigrateSlots(ctx, 3, 0, slots, maintsim.WithAtomic())
				}},
			}
			for _, step := range steps {
				if err := step.do(); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
				t.Logf("%s: %d commands, %d failed", step.name, l.ops.Load(), l.failed.Load())
			}
			l.end(c)
			for _, n := range c.Stats().Nodes[:3] {
				if n.Accepted == 0 {
					t.Errorf("nobody came to the proxy at %s", n.Addr)
				}
			}
		})
	}
}
