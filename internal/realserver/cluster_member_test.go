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
			primary, replica := c.nodes[3].srv.Addr(), c.nodes[4].srv.Addr()
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
				if got := c.Addrs(); !slices.Equal(got, members) {
					t.Errorf("got members %v after two have left, want %v", got, members)
				}
			}
		})
	}
}
