package server

import (
	"context"
	"strings"
	"testing"
	"time"

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
		reach, err := srv.Reach(transport)
		if err != nil {
			t.Errorf("%s: %v", transport, err)
		}
		if (reach.TLS != nil) != (transport == TLS) || (reach.Network == "unix") != (transport == Unix) || reach.Addr == "" {
			t.Errorf("%s: %+v", transport, reach)
		}
	}
}

func TestServerTellsOfItself(t *testing.T) {
	srv := start(t)
	version, err := srv.Version()
	if err != nil || !strings.HasPrefix(version, "redis 7.") {
		t.Errorf("version %q, %v", version, err)
	}
	before, err := srv.CPU()
	if err != nil || before <= 0 {
		t.Errorf("CPU time %v, %v", before, err)
	}
	for range 1000 {
		if _, err := srv.control.Do("PING"); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := srv.CPU(); err != nil || after <= before || after > before+time.Minute {
		t.Errorf("CPU time %v and %v later, %v", before, after, err)
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
