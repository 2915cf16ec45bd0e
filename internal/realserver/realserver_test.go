package realserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// talk sends commands on conn and returns the last reply.
func talk(t *testing.T, conn net.Conn, commands ...[]string) string {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	var last string
	for _, words := range commands {
		reply, err := ask(conn, reader, words...)
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		last = reply
	}
	return last
}

func dial(t *testing.T, network, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestEveryServerAnswers(t *testing.T) {
	wantVersion := map[string]string{
		Redis7: "\nredis_version:7.0.", Redis8: "\nredis_version:8.0.",
		Valkey8: "\nvalkey_version:8.", Valkey9: "\nvalkey_version:9.",
	}
	for _, name := range All() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := Start(t, name, "--maxclients", "77")
			conn := dial(t, "tcp", srv.Addr())
			if got := talk(t, conn, []string{"PING"}); got != "+PONG" {
				t.Errorf("PING: got %q, want +PONG", got)
			}
			info := talk(t, conn, []string{"INFO", "server"})
			if !strings.Contains(info, wantVersion[name]) {
				t.Errorf("INFO lacks %q:\n%s", wantVersion[name], info)
			}
			if got := talk(t, conn, []string{"INFO", "clients"}); !strings.Contains(got, "\nmaxclients:77\r\n") {
				t.Errorf("the argument given did not reach the server: want maxclients:77, got %q", got)
			}
		})
	}
}

func TestEverySentinelFollowsItsMaster(t *testing.T) {
	for _, name := range All() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master := Start(t, name)
			host, port, err := net.SplitHostPort(master.Addr())
			if err != nil {
				t.Fatal(err)
			}
			sentinel := StartConfig(t, name, Config{
				Sentinel: []string{"sentinel monitor main " + host + " " + port + " 1"},
			})
			conn := dial(t, "tcp", sentinel.Addr())
			if got := talk(t, conn, []string{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"}); got != "*2" {
				t.Errorf("master address: got %q, want an array of 2", got)
			}
		})
	}
}

func TestOtherWaysIn(t *testing.T) {
	for _, name := range All() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := StartConfig(t, name, Config{
				Host:     "127.0.0.2",
				Password: "open sesame",
				Users:    []string{"alice on >secret ~a* +get"},
				Unix:     true,
				TLS:      true,
				TLSHosts: []string{"db.example"},
			})
			if host, _, _ := net.SplitHostPort(srv.Addr()); host != "127.0.0.2" {
				t.Errorf("listens on %s, want 127.0.0.2", host)
			}
			unix := dial(t, "unix", srv.UnixSocket())
			if got := talk(t, unix, []string{"PING"}); !strings.HasPrefix(got, "-NOAUTH") {
				t.Errorf("without a password: got %q, want -NOAUTH", got)
			}
			if got := talk(t, unix, []string{"AUTH", "open sesame"}, []string{"PING"}); got != "+PONG" {
				t.Errorf("with the password: got %q, want +PONG", got)
			}
			plain := dial(t, "tcp", srv.Addr())
			if got := talk(t, plain, []string{"AUTH", "alice", "secret"}, []string{"GET", "b"}); !strings.HasPrefix(got, "-NOPERM") {
				t.Errorf("another's key: got %q, want -NOPERM", got)
			}

			conf := srv.TLSConfig()
			conf.ServerName = "db.example"
			secure, err := tls.Dial("tcp", srv.TLSAddr(), conf)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = secure.Close() }()
			if got := talk(t, secure, []string{"AUTH", "open sesame"}, []string{"PING"}); got != "+PONG" {
				t.Errorf("over TLS: got %q, want +PONG", got)
			}
			conf = srv.TLSConfig()
			conf.ServerName = "127.0.0.2"
			if wrong, err := tls.Dial("tcp", srv.TLSAddr(), conf); err == nil {
				_ = wrong.Close()
				t.Error("an address that is not in the certificate was accepted")
			}
		})
	}
}

func TestTLSCanDemandClientCertificates(t *testing.T) {
	srv := StartConfig(t, Redis7, Config{TLS: true, TLSClients: true})
	conn, err := tls.Dial("tcp", srv.TLSAddr(), srv.TLSConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if got := talk(t, conn, []string{"PING"}); got != "+PONG" {
		t.Errorf("with a certificate: got %q, want +PONG", got)
	}
	stranger := srv.TLSConfig()
	stranger.Certificates = nil
	refused, err := tls.Dial("tcp", srv.TLSAddr(), stranger)
	if err == nil { // TLS 1.3 tells the client only after its handshake
		defer func() { _ = refused.Close() }()
		_, err = ask(refused, bufio.NewReader(refused), "PING")
	}
	if err == nil {
		t.Error("a client without a certificate was served")
	}
}

func TestClusterNodeStarts(t *testing.T) {
	srv := StartConfig(t, Valkey9, Config{Cluster: true})
	info := talk(t, dial(t, "tcp", srv.Addr()), []string{"INFO", "cluster"})
	if !strings.Contains(info, "cluster_enabled:1") {
		t.Errorf("got %q, want cluster_enabled:1", info)
	}
}

func TestStopEndsTheServerAndFreesThePort(t *testing.T) {
	path := Require(t, Redis7)
	srv, err := Launch(t.Context(), path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if srv.Path() != path {
		t.Errorf("path: got %q, want %q", srv.Path(), path)
	}
	if err := srv.Pause(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := srv.Stop(); err != nil {
				t.Errorf("stop: %v", err)
			}
		})
	}
	all.Wait()
	select {
	case <-srv.Done():
	default:
		t.Fatal("Stop returned before the server had ended")
	}
	if _, err := os.Stat(srv.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is still there: %v", err)
	}
	if err := srv.Kill(); err != nil {
		t.Errorf("kill after stop: %v", err)
	}
	_, portText, _ := net.SplitHostPort(srv.Addr())
	port, err := net.LookupPort("tcp", portText)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Launch(t.Context(), path, Config{Port: port})
	if err != nil {
		t.Fatalf("start on the same port: %v", err)
	}
	if again.Addr() != srv.Addr() {
		t.Errorf("address: got %s, want %s", again.Addr(), srv.Addr())
	}
	if err := again.Kill(); err != nil {
		t.Error(err)
	}
	select {
	case <-again.Done():
	default:
		t.Error("Kill returned before the server had ended")
	}
}

func TestAPortThatIsTakenIsAnError(t *testing.T) {
	path := Require(t, Redis7)
	first := Start(t, Redis7)
	_, portText, _ := net.SplitHostPort(first.Addr())
	port, err := net.LookupPort("tcp", portText)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Launch(t.Context(), path, Config{Port: port}); err == nil {
		_ = second.Stop()
		t.Fatal("two servers share a port")
	} else if !errors.Is(err, errPortTaken) {
		t.Errorf("got %v, want %v", err, errPortTaken)
	}
}

func TestAServerThatEndsAtOnceTellsWhy(t *testing.T) {
	path := Require(t, Redis7)
	srv, err := Launch(t.Context(), path, Config{Args: []string{"--no-such-setting", "1"}})
	if err == nil {
		_ = srv.Stop()
		t.Fatal("started with a setting that does not exist")
	}
	if !strings.Contains(err.Error(), "no-such-setting") {
		t.Errorf("the error does not show the server's log: %v", err)
	}
}

func TestOnlyLoopback(t *testing.T) {
	for _, host := range []string{"0.0.0.0", "10.0.0.1", "localhost", "::"} {
		if srv, err := Launch(t.Context(), "/nowhere", Config{Host: host}); err == nil {
			_ = srv.Stop()
			t.Errorf("%s was accepted", host)
		}
	}
}

func TestFindWalksUpAndHonoursTheEnvironment(t *testing.T) {
	root := t.TempDir()
	bin := filepath.Join(root, ".cache", "servers", Valkey8, "bin")
	inner := filepath.Join(root, "bench", "deep")
	for _, dir := range []string{bin, inner} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put := func(file string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(file, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(bin, "valkey-server")
	put(filepath.Join(root, "go.mod"), 0o600)
	put(filepath.Join(root, "bench", "go.mod"), 0o600)
	put(program, 0o600)
	t.Setenv(EnvServers, "")
	t.Chdir(inner)

	if path, ok := Find(Valkey8); ok {
		t.Errorf("found %s, which can't be run", path)
	}
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	if path, ok := Find(Valkey8); !ok || path != program {
		t.Errorf("got %q, %v, want %q", path, ok, program)
	}
	if path, ok := FindSentinel(Valkey8); ok {
		t.Errorf("found a sentinel that is not there: %s", path)
	}
	if path, ok := Find("../" + Valkey8); ok {
		t.Errorf("found %s under a name that does not exist", path)
	}
	t.Setenv(EnvServers, t.TempDir())
	if path, ok := Find(Valkey8); ok {
		t.Errorf("found %s outside %s", path, EnvServers)
	}
	t.Setenv(EnvServers, filepath.Join(root, ".cache", "servers"))
	if _, ok := Find(Valkey8); !ok {
		t.Errorf("not found in %s", EnvServers)
	}
}

// A recorder is a testing.TB that notes how a test would have ended.
type recorder struct {
	testing.TB
	how, message string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(args ...any) { r.end("skipped", args) }

func (r *recorder) Fatal(args ...any) { r.end("failed", args) }

func (r *recorder) end(how string, args []any) {
	if r.how == "" {
		r.how, r.message = how, args[0].(string)
	}
}

func TestAMissingServerSkipsOrFails(t *testing.T) {
	t.Setenv(EnvServers, t.TempDir())
	for _, test := range []struct{ require, want string }{
		{"", "skipped"},
		{"0", "skipped"},
		{"1", "failed"},
	} {
		t.Setenv(EnvRequire, test.require)
		got := &recorder{TB: t}
		Require(got, Redis8)
		if got.how != test.want {
			t.Errorf("%s=%q: the test is %s, want %s", EnvRequire, test.require, got.how, test.want)
		}
		if !strings.Contains(got.message, "make servers") {
			t.Errorf("the message does not say how to get it: %q", got.message)
		}
	}
}

func TestTheLogKeepsItsEnd(t *testing.T) {
	var log tail
	long := strings.Repeat("x", logLimit)
	for _, part := range []string{"first", long, "last"} {
		if n, err := log.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	if got := log.String(); len(got) != logLimit || !strings.HasSuffix(got, "xlast") {
		t.Errorf("kept %d bytes, ending in %q", len(got), got[len(got)-5:])
	}
}

// TestServerDiesWithItsParent runs itself as a process that starts a server
// and is killed.
func TestServerDiesWithItsParent(t *testing.T) {
	path := Require(t, Redis7)
	if os.Getenv("BATON_TEST_PARENT") == "1" {
		srv, err := Launch(t.Context(), path, Config{})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("\nserver " + srv.Addr() + " " + srv.dir + "\n")
		<-srv.Done()
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	parent := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestServerDiesWithItsParent$")
	parent.Env = append(os.Environ(), "BATON_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	lines := bufio.NewScanner(out)
	for addr == "" && lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "server" {
			addr = words[1]
			defer func() { _ = os.RemoveAll(words[2]) }()
		}
	}
	if addr == "" {
		t.Fatalf("the process started no server: %v", parent.Wait())
	}
	conn := dial(t, "tcp", addr)
	talk(t, conn, []string{"PING"})
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the server lives on: %v", err)
	}
}
