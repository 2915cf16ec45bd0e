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
			srv := realserver.Start(t, name)
			for _, protocol := range []int{2, 3} {
				t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
					c := NewClient(&Options{Addr: srv.Addr(), Protocol: protocol})
					defer c.Close()
					info, err := c.InfoMap(bg, "server").Result()
					if err != nil {
						t.Fatal(err)
					}
					called := 0
					for _, tc := range commandCases() {
						if tc.knows(info["Server"]) {
							called++
							t.Run(tc.name, func(t *testing.T) { callOnServer(t, c, tc) })
						}
					}
					t.Logf("%d cases", called)
				})
			}
		})
	}
}

func callOnServer(t *testing.T, c *Client, tc commandCase) {
	prepare := func() {
		t.Helper()
		if err := c.FlushAll(bg).Err(); err != nil {
			t.Fatal(err)
		}
		if err := c.ScriptFlush(bg).Err(); err != nil {
			t.Fatal(err)
		}
		for _, line := range tc.setup {
			if err := c.Do(bg, words(line)...).Err(); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(bg, 10*time.Second)
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

	if tc.alone {
		return
	}
	prepare()
	p := c.Pipeline()
	before := p.Ping(ctx)
	cmd := tc.call(with(p.Process))
	after := p.Echo(ctx, "after")
	_, _ = p.Exec(ctx)
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

// TestRecordReplies records the replies of a server for TestCommandsReadReplies:
//
//	go test -run TestRecordReplies -record .
func TestRecordReplies(t *testing.T) {
	if !*recordFlag {
		t.Skip("only with -record")
	}
	srv := realserver.Start(t, realserver.Redis8)
	lines := map[string]string{}
	for _, tc := range commandCases() {
		if tc.unfit || version(tc.since) > version("8.0") {
			continue
		}
		var line strings.Builder
		line.WriteString(tc.name)
		for _, hello := range []string{"hello 2", "hello 3"} {
			nc, err := net.Dial("tcp", srv.Addr())
			if err != nil {
				t.Fatal(err)
			}
			for _, setup := range append([]string{"flushall", "script flush", hello}, tc.setup...) {
				exchange(t, nc, NewCmd(bg, words(setup)...))
			}
			fmt.Fprintf(&line, " %q", exchange(t, nc, captured(t, tc)))
			_ = nc.Close()
		}
		lines[tc.name] = line.String()
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
