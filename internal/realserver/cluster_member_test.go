package realserver

import (
	"slices"
	"testing"
)

// A spare node joins, leaves and joins again, as if nothing had been.
func TestClusterMembersComeAndGo(t *testing.T) {
	for _, name := range []string{Redis8, Valkey9} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, name, ClusterConfig{Spares: 2})
			members := c.Addrs()
			if len(members) != 3 {
				t.Fatalf("the cluster has %v, want three nodes", members)
			}
			primary, replica := c.nodes[3].server().Addr(), c.nodes[4].server().Addr()
			for range 2 {
				if err := c.Join(t.Context(), primary, ""); err != nil {
					t.Fatal(err)
				}
				if err := c.Join(t.Context(), replica, primary); err != nil {
					t.Fatal(err)
				}
				if got := c.Addrs(); !slices.Equal(got, append(slices.Clone(members), primary, replica)) {
					t.Errorf("got members %v", got)
				}
				states, err := c.Describe(t.Context())
				if err != nil || len(states) != 5 || !states[primary].Primary || states[replica].Primary {
					t.Errorf("got %+v, %v", states, err)
				}
				if err := c.Leave(t.Context(), primary, replica); err != nil {
					t.Fatal(err)
				}
				if err := c.Reset(t.Context(), primary, replica); err != nil {
					t.Fatal(err)
				}
				if got := c.Addrs(); !slices.Equal(got, members) {
					t.Errorf("got members %v after two have left, want %v", got, members)
				}
			}
		})
	}
}

// A killed primary comes back as the replica of the node that replaced it.
func TestClusterNodeRestarts(t *testing.T) {
	for _, name := range []string{Redis7, Redis8, Valkey9} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, name, ClusterConfig{Replicas: 1})
			victim := c.primaries()[0]
			heir := c.replicas(victim)[0]
			if err := c.Restart(t.Context(), victim); err == nil {
				t.Error("a node that lives was restarted")
			}
			if err := c.Kill(victim); err != nil {
				t.Fatal(err)
			}
			if err := c.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := c.Restart(t.Context(), victim); err != nil {
				t.Fatal(err)
			}
			if got := c.replicas(heir); !slices.Equal(got, []string{victim}) {
				t.Errorf("%s has the replicas %v, want %s", heir, got, victim)
			}
		})
	}
}
