package drill

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/baton-go/redis/internal/invariants"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

func TestValidateFindsWhatNoClusterCanDo(t *testing.T) {
	tests := []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"running server", func(c *Config) { c.Server = "127.0.0.1:6379" }, "--server 127.0.0.1:6379: the scenario slot-migrate makes a cluster of its own"},
		{"one shard", func(c *Config) { c.Shards = 1 }, "--shards 1, want 2 to 16"},
		{"replicas", func(c *Config) { c.Replicas = 4 }, "--replicas 4, want 0 to 3"},
		{"steps", func(c *Config) { c.Steps = -1 }, "--steps -1, want 1 to 100"},
		{"slots", func(c *Config) { c.Slots = 3 }, "--slots 3, want one or more for each step"},
		{"steps of a reshard", func(c *Config) { c.Scenario, c.Steps = Reshard, 3 }, "--steps is for slot-migrate, not for reshard"},
		{"slots of a failover", func(c *Config) { c.Scenario, c.Slots = ClusterFailover, 30 }, "--slots is for slot-migrate, not for cluster-failover"},
		{"window of a failover", func(c *Config) { c.Scenario, c.Window = ClusterFailover, 1 }, "--window and --atomic are for slots that move"},
		{"atomic failover", func(c *Config) { c.Scenario, c.Atomic = ClusterFailover, true }, "--window and --atomic are for slots that move"},
		{"window", func(c *Config) { c.Window = -1 }, "--window -1ns is negative"},
		{"redirects", func(c *Config) { c.MaxRedirects = -2 }, "--max-redirects -2, want -1 or more"},
		{"records", func(c *Config) { c.Records = 2 }, "--records has no use in a cluster"},
		{"ports", func(c *Config) { c.OwnPorts = true }, "--own-ports has no use in a cluster"},
		{"retained", func(c *Config) { c.Retained = Retained{maintsim.Migrated, 3} }, "--retained has no use in a cluster"},
		{"storm", func(c *Config) { c.Handoffs = 3 }, "--handoffs is for the scenarios rebind, rebind-none, sentinel-failover, discovery-switch, ring, not for slot-migrate"},
		{"target", func(c *Config) { c.Target.Fault = maintsim.FaultHang }, "--target-fault is for scenarios that move to another node"},
		{"a database's shards", func(c *Config) { c.Scenario, c.Shards = Rebind, 3 }, "are for the scenarios slot-migrate, cluster-failover, reshard, not for rebind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Default()
			c.Scenario = SlotMigrate
			tt.edit(&c)
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// Slots are cut in parts of about the same size, and none is lost.
func TestSlotsAreCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var slots []maintsim.SlotRange
		var all []int
		for next := 0; len(slots) < 6; {
			r := maintsim.SlotRange{First: next + rapid.IntRange(0, 3).Draw(t, "hole")}
			r.Last = r.First + rapid.IntRange(0, 20).Draw(t, "length")
			next = r.Last + 2
			slots = append(slots, r)
			all = append(all, listed(r)...)
		}
		n := rapid.IntRange(1, 200).Draw(t, "n")
		parts := CutSlots(slots, n)
		var got []int
		for _, part := range parts {
			if size := SlotsIn(part); size < len(all)/len(parts) || size > len(all)/len(parts)+1 {
				t.Fatalf("%d slots in one of %d parts of %d", size, len(parts), len(all))
			}
			got = append(got, listed(part...)...)
		}
		if diff := cmp.Diff(all, got); diff != "" || len(parts) != min(n, len(all)) {
			t.Fatalf("%d parts (-want +got):\n%s", len(parts), diff)
		}
	})
}

func listed(slots ...maintsim.SlotRange) (all []int) {
	for _, r := range slots {
		for s := r.First; s <= r.Last; s++ {
			all = append(all, s)
		}
	}
	return all
}

// The negative control: a client that does not follow its slots is felt, so the drill
// can fail.
func TestDrillWithoutRedirectsIsNotOK(t *testing.T) {
	t.Parallel()
	c := brief(SlotMigrate)
	c.Mode, c.MaxRedirects = maintnotifications.ModeDisabled, -1
	r := &drill(t, c).Result
	if r.OK || len(r.Problems) == 0 || r.Commands.Failed == 0 || r.Errors["MOVED <slot> <address>"] == 0 || r.Cluster.Moved == 0 {
		t.Errorf("ok %v, problems %q, commands %+v, errors %v, %+v", r.OK, r.Problems, r.Commands, r.Errors, r.Cluster)
	}
	if i := r.Incr; r.WrongReplies > 0 || r.Values.Lost > 0 || i.Value < i.Acknowledged || i.Value > i.Acknowledged+i.Unknown {
		t.Errorf("%d wrong replies, values %+v, incr %+v", r.WrongReplies, r.Values, r.Incr)
	}
}

// Without notices slots are followed by redirects, and that is not felt either.
func TestDrillOfAClusterWithoutNoticesIsOK(t *testing.T) {
	t.Parallel()
	c := brief(SlotMigrate)
	c.Mode = maintnotifications.ModeDisabled
	r := &drill(t, c).Result
	if !r.OK || r.Notices.Total() > 0 || r.Cluster.Moved == 0 {
		t.Errorf("problems %q, errors %v, notices %+v, %+v", r.Problems, r.Errors, r.Notices, r.Cluster)
	}
}

// Notices that come twice, in the wrong order or not at all do no harm.
func TestDrillOfAClusterWithBadNoticesIsOK(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"twice":      func(c *Config) { c.Duplicates = true },
		"swapped":    func(c *Config) { c.Reordered = 0.5 },
		"no end":     func(c *Config) { c.LostClosings = true },
		"half lost":  func(c *Config) { c.LostOpenings = 0.5 },
		"other form": func(c *Config) { c.Variants = []maintsim.Variant{maintsim.VariantSeqText, maintsim.VariantExtra} },
		"refused":    func(c *Config) { c.RefuseOptIn = -1 },
		"atomic":     func(c *Config) { c.Atomic = true },
		"stall":      func(c *Config) { c.Stall, c.Steps, c.Duration = 1500*time.Millisecond, 1, 0 },
		"by name":    func(c *Config) { c.ByName = true },
		"encrypted":  func(c *Config) { c.TLS = true },
		"RESP2":      func(c *Config) { c.Protocol = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "twice" {
				t.Skip("takes seconds")
			}
			t.Parallel()
			c := brief(SlotMigrate)
			edit(&c)
			if r := &drill(t, c).Result; !r.OK {
				t.Errorf("problems %q, errors %v", r.Problems, r.Errors)
			}
		})
	}
}

// Real nodes keep what the embedded cluster only imitates.
func TestDrillWithRealClusters(t *testing.T) {
	servers := []string{realserver.Redis8, realserver.Valkey9} // of each kind the newest; maintsim's tests have all
	if testing.Short() || invariants.Enabled {
		servers = []string{realserver.Redis8} // to time and races all are alike
	}
	for _, name := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := realserver.Require(t, name)
			for _, s := range []Scenario{SlotMigrate, ClusterFailover} {
				c := brief(s)
				c.Server, c.Duration = program, 0
				if s == SlotMigrate {
					c.Slots = 200
				}
				r := &drill(t, c).Result
				if !r.OK || r.Cluster.SlotsMoved == 0 {
					t.Errorf("%s: problems %q, errors %v, %+v", s, r.Problems, r.Errors, r.Cluster)
				}
			}
		})
	}
}
