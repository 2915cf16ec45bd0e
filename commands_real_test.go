package redis

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/internal/resp"
)

// version is "8.10" as a number that can be compared.
func version(s string) int {
	var major, minor int
	_, _ = fmt.Sscanf(s, "%d.%d", &major, &minor)
	return major*1000 + minor
}

// knows tells whether a server can be asked for a case.
func (tc commandCase) knows(info map[string]string) bool {
	if tc.unfit {
		return false
	}
	if v := info["valkey_version"]; v != "" {
		switch tc.valkey {
		case "-":
			return false
		case "":
			return version(tc.since) <= version("7.2")
		}
		return version(v) >= version(tc.valkey)
	}
	return version(info["redis_version"]) >= version(tc.since)
}

// TestCommandsOnServers calls every method on real servers, alone and in a pipeline,
// with both protocols.
func TestCommandsOnServers(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != realserver.Redis8 {
				t.Skip("short: one server only")
			}
			t.Parallel()
			addr, node := startBoth(t, name)
			for _, protocol := range []int{2, 3} {
				t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
					c := NewClient(&Options{Addr: addr, Protocol: protocol})
					defer c.Close()
					nc := NewClient(&Options{Addr: node, Protocol: protocol})
					defer nc.Close()
					info, err := c.InfoMap(bg, "server").Result()
					if err != nil {
						t.Fatal(err)
					}
					called := 0
					for _, tc := range commandCases() {
						if !tc.knows(info["Server"]) {
							continue
						}
						called++
						on := c
						if tc.cluster {
							on = nc
						}
						t.Run(tc.name, func(t *testing.T) { callOnServer(t, on, tc) })
					}
					t.Logf("%d cases", called)
				})
			}
		})
	}
}

// startBoth starts a server and a cluster of two, and gives the address of the server
// and of the node with slot 0.
func startBoth(t *testing.T, name string) (addr, node string) {
	t.Helper()
	srv := realserver.Start(t, name)
	nodes := realserver.StartCluster(t, name, realserver.ClusterConfig{Primaries: 2})
	node, err := nodes.Owner(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return srv.Addr(), node
}

func callOnServer(t *testing.T, c *Client, tc commandCase) {
	run := func(lines []string) {
		t.Helper()
		for _, line := range lines {
			if err := c.Do(bg, words(line)...).Err(); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	prepare := func() {
		t.Helper()
		if err := c.FlushAll(bg).Err(); err != nil {
			t.Fatal(err)
		}
		if err := c.ScriptFlush(bg).Err(); err != nil {
			t.Fatal(err)
		}
		run(tc.setup)
	}
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	with := func(do func(context.Context, Cmder) error) commander {
		within := func(_ context.Context, cmd Cmder) error { return do(ctx, cmd) }
		return commander{within, within}
	}

	prepare()
	process := c.Process
	if captured(t, tc).base().lane == laneSession {
		cn := c.Conn()
		defer cn.Close()
		process = cn.Process
	}
	compare(t, "alone", tc.call(with(process)), tc.want)
	run(tc.undo)

	if tc.alone {
		return
	}
	prepare()
	p := c.Pipeline()
	before := p.Ping(ctx)
	cmd := tc.call(with(p.Process))
	after := p.Echo(ctx, "after")
	_, _ = p.Exec(ctx)
	run(tc.undo)
	compare(t, "in a pipeline", cmd, tc.want)
	if before.Err() != nil || after.Val() != "after" {
		t.Errorf("its neighbours: %v, %v", before, after)
	}
}

// words are the arguments that a line stands for; "append k " has an empty one.
func words(line string) []any {
	var args []any
	for w := range strings.SplitSeq(line, " ") {
		args = append(args, w)
	}
	return args
}

// TestRecordReplies records the replies of a server for TestCommandsReadReplies, of those
// cases that have no recording; remove a line to have it recorded anew:
//
//	go test -run TestRecordReplies -record .
func TestRecordReplies(t *testing.T) {
	if !*recordFlag {
		t.Skip("only with -record")
	}
	addr, node := startBoth(t, realserver.Redis8)
	lines := map[string]string{}
	recorded := recordedReplies(t)
	for _, tc := range commandCases() {
		if tc.unfit || tc.r2 != "" || version(tc.since) > version("8.0") {
			continue
		}
		if old, ok := recorded[tc.name]; ok {
			lines[tc.name] = fmt.Sprintf("%s %q %q", tc.name, old[0], old[1])
			continue
		}
		on := addr
		if tc.cluster {
			on = node
		}
		lines[tc.name] = fmt.Sprintf("%s %q %q", tc.name, record(t, on, "hello 2", tc), record(t, on, "hello 3", tc))
	}
	var text strings.Builder
	text.WriteString("# Replies of redis-8.0 in RESP2 and RESP3 by case; see TestRecordReplies.\n")
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		text.WriteString(lines[name] + "\n")
	}
	if err := os.WriteFile(repliesFile, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// record gives the reply to the command of a case.
func record(t *testing.T, addr, hello string, tc commandCase) string {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, setup := range append([]string{"flushall", "script flush", hello}, tc.setup...) {
		exchange(t, nc, NewCmd(bg, words(setup)...))
	}
	reply := exchange(t, nc, captured(t, tc))
	for _, undo := range tc.undo {
		exchange(t, nc, NewCmd(bg, words(undo)...))
	}
	return reply
}

// exchange sends a command and gives the reply as it came.
func exchange(t *testing.T, nc net.Conn, cmd Cmder) string {
	t.Helper()
	if err := nc.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Write(cmd.base().wire()); err != nil {
		t.Fatal(err)
	}
	var s resp.Scanner
	var got []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := nc.Read(buf)
		if err != nil {
			t.Fatalf("%v: %v", cmd.Args(), err)
		}
		got = append(got, buf[:n]...)
		size, err := s.Next(got)
		if err != nil {
			t.Fatal(err)
		}
		if size == len(got) {
			return string(got)
		}
	}
}
