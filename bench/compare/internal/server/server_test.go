package server

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/internal/realserver"
)

// start starts the default server, or skips the test as realserver does.
func start(t *testing.T) *Server {
	t.Helper()
	srv, err := Start(t.Context(), realserver.Require(t, realserver.Redis7))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

func TestServerHasAllTransports(t *testing.T) {
	srv := start(t)
	for _, transport := range Transports() {
		reach, err := srv.Reach(t.Context(), transport)
		if err != nil {
			t.Errorf("%s: %v", transport, err)
		}
		if (reach.TLS != nil) != (transport == TLS) || (reach.Network == "unix") != (transport == Unix) || reach.Addr == "" {
			t.Errorf("%s: %+v", transport, reach)
		}
		if want := map[Transport]int{Cluster: 3}[transport]; len(reach.Nodes) != want {
			t.Errorf("%s: nodes %v, want %d", transport, reach.Nodes, want)
		}
	}
}

func TestServerTellsOfItself(t *testing.T) {
	srv := start(t)
	version, err := srv.Version()
	if err != nil || !strings.HasPrefix(version, "redis 7.") {
		t.Errorf("version %q, %v", version, err)
	}
	before, err := srv.CPU(TCP)
	if err != nil || before <= 0 {
		t.Errorf("CPU time %v, %v", before, err)
	}
	for range 1000 {
		if _, err := srv.control.Do("PING"); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := srv.CPU(TCP); err != nil || after <= before || after > before+time.Minute {
		t.Errorf("CPU time %v and %v later, %v", before, after, err)
	}
}

func TestClusterStartsWhenItIsAskedForAndHasEverything(t *testing.T) {
	srv := start(t)
	if _, err := srv.Reach(t.Context(), TCP); err != nil || srv.cluster != nil {
		t.Errorf("%v; a cluster nobody has asked for: %v", err, srv.cluster)
	}
	reach, err := srv.Reach(t.Context(), Cluster)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := srv.Reach(t.Context(), Cluster); err != nil || !slices.Equal(again.Nodes, reach.Nodes) {
		t.Errorf("nodes %v and then %v, %v", reach.Nodes, again.Nodes, err)
	}
	keys := 0
	var sum, most time.Duration
	for _, addr := range reach.Nodes {
		n, err := redis.Int(srv.cluster.controls[addr].Do("DBSIZE"))
		if err != nil || n == 0 {
			t.Errorf("%s has %d keys, %v", addr, n, err)
		}
		keys += n
		one, err := cpuOf(srv.cluster.controls[addr])
		if err != nil {
			t.Fatal(err)
		}
		sum, most = sum+one, max(most, one)
	}
	want := 0
	for _, size := range load.Sizes() {
		want += len(load.Pairs(size))
	}
	if keys != want {
		t.Errorf("%d keys, want %d", keys, want)
	}
	if used, err := srv.CPU(Cluster); err != nil || used < sum || used <= most {
		t.Errorf("CPU time %v, %v; the nodes had used %v", used, err, sum)
	}
}

func TestClusterThatDoesNotStartSaysWhy(t *testing.T) {
	srv := &Server{path: t.TempDir() + "/none"}
	for range 2 {
		if _, err := srv.Reach(t.Context(), Cluster); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("error %v", err)
		}
	}
}

func TestLocateSaysHowToGetAServer(t *testing.T) {
	t.Setenv(realserver.EnvServers, t.TempDir())
	if _, err := Locate(""); err == nil || !strings.Contains(err.Error(), "make servers") {
		t.Errorf("error %v, want one that tells of 'make servers'", err)
	}
	if path, err := Locate("/some/server"); err != nil || path != "/some/server" {
		t.Errorf("%q, %v", path, err)
	}
}

func TestStartFailsWithoutAProgram(t *testing.T) {
	if _, err := Start(context.Background(), t.TempDir()+"/none"); err == nil {
		t.Error("no error")
	}
}

func TestInfoField(t *testing.T) {
	info := "# CPU\r\nused_cpu_sys:1.5\r\nused_cpu_sys_children:2\r\n"
	for name, want := range map[string]string{"used_cpu_sys": "1.5", "used_cpu_sys_children": "2", "used_cpu": "", "CPU": ""} {
		if got := infoField(info, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
