// Package realserver starts real Redis and Valkey servers for tests.
//
// The servers are the ones that scripts/fetch-servers unpacks ("make servers").
// A test asks for one by name and gets it on a free loopback port:
//
//	srv := realserver.Start(t, "redis-8.0")
//	conn, err := net.Dial("tcp", srv.Addr())
//
// Without the server the test is skipped with a line that says how to get it;
// with BATON_REQUIRE_SERVERS=1 in the environment it fails instead. The server
// ends with the test, and with the test process should that be killed.
//
// A cluster of them is started by StartCluster, or by LaunchCluster outside of tests;
// it can move its slots, fail over and lose nodes.
//
// It is for tests, the simulator and the baton command only: nothing of the library
// imports it. A server is a process and a socket, so it has no place inside a
// testing/synctest bubble.
package realserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The servers that can be asked for, oldest first within a kind.
const (
	Redis7  = "redis-7.0"
	Redis8  = "redis-8.0"
	Valkey8 = "valkey-8"
	Valkey9 = "valkey-9"
)

// Environment variables that change where servers come from.
const (
	// EnvServers names the folder that holds the unpacked servers. Empty means
	// .cache/servers in the root of the module, or of a module around it.
	EnvServers = "BATON_SERVERS"

	// EnvRequire set to 1 makes a missing server an error and not a skip.
	EnvRequire = "BATON_REQUIRE_SERVERS"
)

// TB is what this package needs of a test or benchmark.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Failed() bool
	Skip(args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// All returns the names of all servers, for tests that run against each.
func All() []string {
	return []string{Redis7, Redis8, Valkey8, Valkey9}
}

// Find returns the path of the server program called name, and whether it is
// there. The path can be started as it is.
func Find(name string) (path string, ok bool) {
	return find(name, "server")
}

// FindSentinel is Find for the Sentinel that belongs to the server called name.
func FindSentinel(name string) (path string, ok bool) {
	return find(name, "sentinel")
}

// Require returns the path of the server program called name. Without it the
// test ends there: skipped, or failed if servers are required.
func Require(tb TB, name string) string {
	tb.Helper()
	return require(tb, name, "server")
}

// Start starts the server called name with args added to its command line. It
// listens on a free port of 127.0.0.1, saves nothing and ends with the test.
func Start(tb TB, name string, args ...string) *Server {
	tb.Helper()
	return StartConfig(tb, name, Config{Args: args})
}

// StartConfig is Start with everything that can be chosen.
func StartConfig(tb TB, name string, cfg Config) *Server {
	tb.Helper()
	role := "server"
	if cfg.Sentinel != nil {
		role = "sentinel"
	}
	path := require(tb, name, role)
	srv, err := Launch(tb.Context(), path, cfg)
	if err != nil {
		tb.Fatalf("realserver: %s: %v", name, err)
	}
	tb.Cleanup(func() {
		// Not Stop: its last words take a server a tenth of a second.
		if err := srv.Kill(); err != nil {
			tb.Errorf("realserver: %s at %s: %v", name, srv.Addr(), err)
		}
		if tb.Failed() {
			tb.Logf("realserver: the last lines of %s at %s:\n%s", name, srv.Addr(), srv.Log())
		}
	})
	return srv
}

func require(tb TB, name, role string) string {
	tb.Helper()
	if !slices.Contains(All(), name) {
		tb.Fatalf("realserver: no server is called %q; there are %s", name, strings.Join(All(), ", "))
	}
	path, ok := find(name, role)
	if ok {
		return path
	}
	missing := fmt.Sprintf("realserver: %s is not there: run 'make servers' to get it", name)
	if os.Getenv(EnvRequire) == "1" {
		tb.Fatal(missing + " (" + EnvRequire + "=1 forbids to skip)")
	}
	tb.Skip(missing)
	return ""
}

// find looks for <name>/bin/<kind>-<role>, where the kind is the first word of
// the name.
func find(name, role string) (string, bool) {
	if !slices.Contains(All(), name) {
		return "", false
	}
	kind, _, _ := strings.Cut(name, "-")
	for _, dir := range folders() {
		path := filepath.Join(dir, name, "bin", kind+"-"+role)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// folders returns where servers may be: beside each go.mod on the way up, as
// some modules of the project live in folders of another.
func folders() []string {
	if dir := os.Getenv(EnvServers); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil
		}
		return []string{abs}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	var found []string
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			found = append(found, filepath.Join(dir, ".cache", "servers"))
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return found
		}
		dir = parent
	}
}
