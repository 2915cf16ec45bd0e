package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/internal/resp"
)

// commandReply is what Redis 8.0 says of two commands; the whole is long.
const commandReply = "*2\r\n*10\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n*3\r\n+@read\r\n+@string\r\n+@fast\r\n*0\r\n" +
	"*1\r\n*6\r\n$5\r\nflags\r\n*2\r\n+RO\r\n+access\r\n$12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n*2\r\n$5\r\nindex\r\n:1\r\n" +
	"$9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n$4\r\nspec\r\n*6\r\n$7\r\nlastkey\r\n:0\r\n$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n*0\r\n" +
	"*10\r\n$4\r\nmset\r\n:-3\r\n*2\r\n+write\r\n+denyoom\r\n:1\r\n:-1\r\n:2\r\n*3\r\n+@write\r\n+@string\r\n+@slow\r\n" +
	"*2\r\n$26\r\nrequest_policy:multi_shard\r\n$29\r\nresponse_policy:all_succeeded\r\n*0\r\n*0\r\n"

func adminCases() []commandCase {
	return []commandCase{
		{name: "SlowLogGet", setup: []string{"config set slowlog-log-slower-than 0", "slowlog reset", "set k v"}, call: func(c commander) Cmder { return c.SlowLogGet(bg, -1) }, args: "slowlog get -1", undo: []string{"config set slowlog-log-slower-than 10000"}, want: func(v any) bool {
			list, _ := v.([]SlowLog)
			if len(list) == 0 {
				return false
			}
			s := list[len(list)-1] // the first one
			return len(s.Args) > 1 && s.Duration >= 0 && s.Time.Unix() > 1_700_000_000 && isAddr(s.ClientAddr)
		}},
		{
			name: "SlowLogGet/old and new", call: func(c commander) Cmder { return c.SlowLogGet(bg, 2) }, args: "slowlog get 2", unfit: true,
			r2: "*2\r\n*4\r\n:1\r\n:1796047200\r\n:1500\r\n*2\r\n$3\r\nget\r\n$1\r\nk\r\n*8\r\n:2\r\n:1796047201\r\n:9\r\n*1\r\n$4\r\nping\r\n$3\r\na:1\r\n$2\r\nme\r\n:40\r\n+more\r\n",
			want: []SlowLog{
				{ID: 1, Time: time.Unix(1796047200, 0), Duration: 1500 * time.Microsecond, Args: []string{"get", "k"}},
				{ID: 2, Time: time.Unix(1796047201, 0), Duration: 9 * time.Microsecond, Args: []string{"ping"}, ClientAddr: "a:1", ClientName: "me", CommandArgc: 40},
			},
		},
		{name: "SlowLogLen", setup: []string{"slowlog reset"}, call: func(c commander) Cmder { return c.SlowLogLen(bg) }, args: "slowlog len", want: int64(0)},
		{name: "SlowLogReset", call: func(c commander) Cmder { return c.SlowLogReset(bg) }, args: "slowlog reset", want: "OK"},
		{name: "Latency", setup: []string{"latency reset"}, call: func(c commander) Cmder { return c.Latency(bg) }, args: "latency latest", want: []Latency{}},
		{
			name: "Latency/some", call: func(c commander) Cmder { return c.Latency(bg) }, args: "latency latest", unfit: true,
			r2: "*2\r\n*4\r\n$7\r\ncommand\r\n:1796047200\r\n:12\r\n:40\r\n*6\r\n$4\r\nfork\r\n:1796047201\r\n:1\r\n:2\r\n:3\r\n:4\r\n",
			want: []Latency{
				{"command", time.Unix(1796047200, 0), 12 * time.Millisecond, 40 * time.Millisecond},
				{"fork", time.Unix(1796047201, 0), time.Millisecond, 2 * time.Millisecond},
			},
		},
		{name: "LatencyReset", setup: []string{"latency reset"}, call: func(c commander) Cmder { return c.LatencyReset(bg, "fork", "command") }, args: "latency reset fork command", want: "0"},
		{name: "ModuleLoadex", call: func(c commander) Cmder {
			return c.ModuleLoadex(bg, &ModuleLoadexConfig{Path: "/no", Conf: map[string]any{"m.b": 1, "m.a": "x"}, Args: []any{"y", 2}})
		}, args: "module loadex /no config m.a x config m.b 1 args y 2", want: errors.New("ERR")},
		{name: "ModuleLoadex/bare", call: func(c commander) Cmder { return c.ModuleLoadex(bg, &ModuleLoadexConfig{Path: "/no"}) }, args: "module loadex /no", want: errors.New("ERR")},
		{name: "ReplicaOf", call: func(c commander) Cmder { return c.ReplicaOf(bg, "NO", "ONE") }, args: "replicaof NO ONE", want: "OK"},
		{name: "SlaveOf", call: func(c commander) Cmder { return c.SlaveOf(bg, "NO", "ONE") }, args: "slaveof NO ONE", want: "OK"},
		{name: "Shutdown", call: func(c commander) Cmder { return c.Shutdown(bg) }, args: "shutdown", unfit: true, r2: "-ERR Errors trying to SHUTDOWN. Check logs.\r\n", want: errors.New("ERR Errors trying")},
		{name: "ShutdownSave", call: func(c commander) Cmder { return c.ShutdownSave(bg) }, args: "shutdown save", unfit: true, r2: "-ERR Errors trying to SHUTDOWN. Check logs.\r\n", want: errors.New("ERR Errors trying")},
		{name: "ShutdownNoSave", call: func(c commander) Cmder { return c.ShutdownNoSave(bg) }, args: "shutdown nosave", unfit: true, r2: "-ERR Errors trying to SHUTDOWN. Check logs.\r\n", want: errors.New("ERR Errors trying")},

		{name: "Command", call: func(c commander) Cmder { return c.Command(bg) }, args: "command", r2: commandReply, want: func(v any) bool {
			m, _ := v.(map[string]*CommandInfo)
			get, mset := m["get"], m["mset"]
			return get != nil && get.ReadOnly && get.Arity == 2 && get.FirstKeyPos == 1 && slices.Contains(get.ACLFlags, "@read") &&
				mset != nil && !mset.ReadOnly && mset.LastKeyPos == -1 && mset.StepCount == 2
		}},
		{
			name: "Command/old", call: func(c commander) Cmder { return c.Command(bg) }, args: "command", unfit: true,
			r2:   "*2\r\n*-1\r\n*6\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n",
			want: map[string]*CommandInfo{"get": {Name: "get", Arity: 2, Flags: []string{"readonly", "fast"}, FirstKeyPos: 1, LastKeyPos: 1, StepCount: 1, ReadOnly: true}},
		},
		{name: "CommandList", call: func(c commander) Cmder { return c.CommandList(bg, nil) }, args: "command list", want: func(v any) bool { list, _ := v.([]string); return slices.Contains(list, "get") }},
		{name: "CommandList/module", call: func(c commander) Cmder { return c.CommandList(bg, &FilterBy{Module: "m", ACLCat: "x", Pattern: "y"}) }, args: "command list filterby module m", want: []string{}},
		{name: "CommandList/category", call: func(c commander) Cmder { return c.CommandList(bg, &FilterBy{ACLCat: "hash"}) }, args: "command list filterby aclcat hash", want: func(v any) bool {
			list, _ := v.([]string)
			return slices.Contains(list, "hget") && !slices.Contains(list, "get")
		}},
		{name: "CommandList/pattern", call: func(c commander) Cmder { return c.CommandList(bg, &FilterBy{Pattern: "hget"}) }, args: "command list filterby pattern hget", want: []string{"hget"}},
		{name: "CommandGetKeys", call: func(c commander) Cmder { return c.CommandGetKeys(bg, "mset", "a", 1, "b", 2) }, args: "command getkeys mset a 1 b 2", want: []string{"a", "b"}},
		{name: "CommandGetKeys/none", call: func(c commander) Cmder { return c.CommandGetKeys(bg, "echo", "x") }, args: "command getkeys echo x", want: errors.New("ERR The command has no key arguments")},
		{name: "CommandGetKeysAndFlags", call: func(c commander) Cmder { return c.CommandGetKeysAndFlags(bg, "lmove", "a", "b", "left", "left") }, args: "command getkeysandflags lmove a b left left", want: []KeyFlags{
			{"a", []string{"RW", "access", "delete"}}, {"b", []string{"RW", "insert"}},
		}},
	}
}

func connectionCases() []commandCase {
	return []commandCase{
		{name: "ClientTracking", call: func(c commander) Cmder { return c.ClientTracking(bg, true, nil) }, args: "client tracking on", want: "OK"},
		{name: "ClientTracking/off", call: func(c commander) Cmder { return c.ClientTracking(bg, false, &ClientTrackingOptions{Bcast: true}) }, args: "client tracking off", want: "OK"},
		{name: "ClientTrackingOn", call: func(c commander) Cmder {
			return c.ClientTrackingOn(bg, &ClientTrackingOptions{Prefixes: []string{"a", "b"}, Bcast: true, NoLoop: true})
		}, args: "client tracking on prefix a prefix b bcast noloop", want: "OK"},
		{name: "ClientTrackingOn/optin", call: func(c commander) Cmder { return c.ClientTrackingOn(bg, &ClientTrackingOptions{OptIn: true}) }, args: "client tracking on optin", want: "OK"},
		{name: "ClientTrackingOn/optout", call: func(c commander) Cmder { return c.ClientTrackingOn(bg, &ClientTrackingOptions{OptOut: true}) }, args: "client tracking on optout", want: "OK"},
		{name: "ClientTrackingOn/redirect", call: func(c commander) Cmder { return c.ClientTrackingOn(bg, &ClientTrackingOptions{Redirect: 999999}) }, args: "client tracking on redirect 999999", want: errors.New("ERR The client ID you want redirect to does not exist")},
		{name: "ClientTrackingOff", call: func(c commander) Cmder { return c.ClientTrackingOff(bg) }, args: "client tracking off", want: "OK"},
		{name: "ClientMaintNotifications", call: func(c commander) Cmder { return c.ClientMaintNotifications(bg, true, "internal-ip") }, args: "client maint_notifications on moving-endpoint-type internal-ip", want: errors.New("ERR ")},
		{name: "ClientMaintNotifications/none", call: func(c commander) Cmder { return c.ClientMaintNotifications(bg, true, "") }, args: "client maint_notifications on moving-endpoint-type none", want: errors.New("ERR ")},
		{name: "ClientMaintNotifications/off", call: func(c commander) Cmder { return c.ClientMaintNotifications(bg, false, "none") }, args: "client maint_notifications off", want: errors.New("ERR ")},
		{name: "Quit", call: func(c commander) Cmder { return c.Quit(bg) }, args: "quit", want: "OK", alone: true},
		{name: "DoRaw", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.DoRaw(bg, "get", "k") }, args: "get k", want: []byte("$1\r\nv\r\n")},
		{name: "DoRaw/error", setup: []string{"lpush k v"}, call: func(c commander) Cmder { return c.DoRaw(bg, "get", "k") }, args: "get k", want: []byte("-WRONGTYPE Operation against a key holding the wrong kind of value\r\n")},
		{name: "DoRawWriteTo", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.DoRawWriteTo(bg, io.Discard, "get", "k") }, args: "get k", want: int64(7)},
	}
}

// TestShutdownOnServers ends servers: no reply is success.
func TestShutdownOnServers(t *testing.T) {
	t.Parallel()
	for _, name := range realserver.All() {
		for how, shutdown := range map[string]func(c *Client) *StatusCmd{
			"shutdown": func(c *Client) *StatusCmd { return c.Shutdown(bg) },
			"nosave":   func(c *Client) *StatusCmd { return c.ShutdownNoSave(bg) },
			"save":     func(c *Client) *StatusCmd { return c.ShutdownSave(bg) },
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				srv := realserver.Start(t, name)
				c := NewClient(&Options{Addr: srv.Addr(), PoolTimeout: 50 * time.Millisecond, DialerRetries: 1})
				defer c.Close()
				if err := c.Ping(bg).Err(); err != nil {
					t.Fatal(err)
				}
				if cmd := shutdown(c); cmd.Err() != nil {
					t.Error(cmd)
				}
				<-srv.Done()
				if err := shutdown(c).Err(); err == nil {
					t.Error("no error where there is no server")
				}
			})
		}
	}
}

// A reply that is written out arrives as it came, whatever it is; a writer's error is the
// command's.
func TestRawRepliesOnServers(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			srv := realserver.Start(t, name)
			c := NewClient(&Options{Addr: srv.Addr(), Protocol: 3})
			defer c.Close()
			for _, test := range []struct{ line, want string }{
				{"hset h a 1", ":1\r\n"},
				{"hgetall h", "%1\r\n$1\r\na\r\n$1\r\n1\r\n"},
				{"get none", "_\r\n"},
				{"get h", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"},
			} {
				raw, err := c.DoRaw(bg, words(test.line)...).Result()
				if string(raw) != test.want || err != nil {
					if test.line == "hset h a 1" {
						t.Fatalf("%s: got %q, %v", test.line, raw, err)
					}
					t.Errorf("%s: got %q, %v, want %q", test.line, raw, err, test.want)
				}
				if strings.HasPrefix(test.line, "hset") {
					continue
				}
				var out bytes.Buffer
				n, err := c.DoRawWriteTo(bg, &out, words(test.line)...).Result()
				if out.String() != test.want || n != int64(len(test.want)) || err != nil {
					t.Errorf("%s, written out: got %q, %d, %v, want %q", test.line, &out, n, err, test.want)
				}
			}
			full := errors.New("full")
			if err := c.DoRawWriteTo(bg, failingWriter{full}, "ping").Err(); !errors.Is(err, full) {
				t.Errorf("a writer that fails: %v", err)
			}
			if err := c.DoRawWriteTo(bg, nil, "ping").Err(); err == nil {
				t.Error("no error without a writer")
			}
			p := c.pipe() // go-redis's Pipeliner has not all methods of its Pipeline
			var out bytes.Buffer
			p.DoRawWriteTo(bg, &out, "hget", "h", "a")
			bad := p.DoRawWriteTo(bg, &out, "get", "h")
			raw := p.DoRaw(bg, "echo", "x")
			_, _ = p.Exec(bg)
			const both = "$1\r\n1\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
			if out.String() != both || string(raw.Val()) != "$1\r\nx\r\n" || bad.Err() != nil {
				t.Errorf("a pipeline: got %q, %q, %v", &out, raw.Val(), bad.Err())
			}
		})
	}
}

// What the server answered to an attempt before the last one is not written.
func TestRawReplyOfAnEarlierAttempt(t *testing.T) {
	c := cmdable(func(_ context.Context, cmd Cmder) error {
		r := resp.NewReader([]byte("-LOADING x\r\n"))
		cmd.base().settle(cmd.readReply(&r))
		cmd.SetErr(&CommandError{Command: "get", Delivery: MaybeSent, Err: io.EOF})
		return cmd.Err()
	})
	var out bytes.Buffer
	if cmd := c.DoRawWriteTo(bg, &out, "get", "k"); !errors.Is(cmd.Err(), io.EOF) || out.Len() > 0 {
		t.Errorf("got %v, and %q was written", cmd.Err(), &out)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// What changes a connection is refused where the connection is everybody's.
func TestSessionCommandsNeedASession(t *testing.T) {
	srv := realserver.Start(t, realserver.Redis8)
	c := NewClient(&Options{Addr: srv.Addr()})
	defer c.Close()
	for name, err := range map[string]error{
		"ClientTracking": c.ClientTracking(bg, true, nil).Err(), "ReadOnly": c.ReadOnly(bg).Err(), "Quit": c.Quit(bg).Err(),
		"ClientMaintNotifications": c.ClientMaintNotifications(bg, true, "").Err(),
	} {
		if err == nil || DeliveryOf(err) != NotSent || !strings.Contains(err.Error(), "Conn") {
			t.Errorf("%s: got %v, want an error that names Conn", name, err)
		}
	}
	cn := c.Conn()
	if err := cn.ClientTracking(bg, true, nil).Err(); err != nil {
		t.Error(err)
	}
	id := cn.ClientID(bg).Val()
	_ = cn.Close()
	other := c.Conn()
	defer other.Close()
	if got := other.ClientID(bg).Val(); got == id {
		t.Error("a connection that tracks keys was given to somebody else")
	}
}

// A processHook sees each command.
type processHook func(cmd Cmder)

func (processHook) DialHook(DialHook) DialHook { return nil }

func (h processHook) ProcessHook(next ProcessHook) ProcessHook {
	return func(ctx context.Context, cmd Cmder) error {
		h(cmd)
		return next(ctx, cmd)
	}
}

func (processHook) ProcessPipelineHook(ProcessPipelineHook) ProcessPipelineHook { return nil }

// hotKeysReply is a reply as the documentation of Redis 8.6 shows it, and one with slots.
const hotKeysReply = "*1\r\n*28\r\n+tracking-active\r\n:1\r\n+sample-ratio\r\n:300\r\n+selected-slots\r\n*2\r\n*2\r\n:0\r\n:5\r\n*1\r\n:9\r\n" +
	"+all-commands-all-slots-us\r\n:103\r\n+net-bytes-all-commands-all-slots\r\n:2042\r\n+collection-start-time-unix-ms\r\n:1770824933147\r\n" +
	"+collection-duration-ms\r\n:7\r\n+total-cpu-time-user-ms\r\n:23\r\n+total-cpu-time-sys-ms\r\n:4\r\n+total-net-bytes\r\n:2038\r\n" +
	"+by-cpu-time-us\r\n*4\r\n+k\r\n:29\r\n+l\r\n:2\r\n+by-net-bytes\r\n*2\r\n+k\r\n:446\r\n+sampled-commands-selected-slots-us\r\n:5\r\n+later\r\n*0\r\n"

func TestHotKeys(t *testing.T) {
	want := &HotKeysResult{
		TrackingActive: true, SampleRatio: 255, SelectedSlots: []HotKeysSlotRange{{0, 5}, {9}}, AllCommandsAllSlots: 103 * time.Microsecond,
		NetBytesAllCommandsAllSlots: 2042, CollectionStartTime: time.UnixMilli(1770824933147), CollectionDuration: 7 * time.Millisecond,
		UsedCPUUser: 23 * time.Millisecond, UsedCPUSys: 4 * time.Millisecond, TotalNetBytes: 2038, SampledCommandsSelectedSlots: 5 * time.Microsecond,
		ByCPUTime: []HotKeysKeyEntry{{"k", int64(29)}, {"l", int64(2)}}, ByNetBytes: []HotKeysKeyEntry{{"k", int64(446)}},
	}
	for name, frame := range map[string]string{
		"RESP2": hotKeysReply, "RESP3": strings.Replace(hotKeysReply, "*28", "%14", 1), "no array around it": hotKeysReply[4:],
	} {
		cmd := NewHotKeysCmd(bg, "hotkeys", "get")
		feed(cmd, frame)
		if diff := cmp.Diff(want, cmd.Val()); diff != "" || cmd.Err() != nil {
			t.Errorf("%s: %v; (-want +got):\n%s", name, cmd.Err(), diff)
		}
		for n := range len(frame) - 1 {
			feed(cmd, frame[:n])
			if cmd.Err() == nil || cmd.Val() != nil {
				t.Errorf("%s cut to %d bytes: %v", name, n, cmd)
			}
		}
	}
	for _, frame := range append(oddReplies, "*1\r\n*2\r\n+by-cpu-time-us\r\n:1\r\n") {
		feed(NewHotKeysCmd(bg, "hotkeys", "get"), frame)
	}
	cmd := NewHotKeysCmd(bg, "hotkeys", "get")
	if feed(cmd, "*-1\r\n"); !errors.Is(cmd.Err(), Nil) {
		t.Errorf("a null: %v", cmd.Err())
	}
}

// The servers of the tests don't know HOTKEYS, but a hook sees what they were sent.
func TestHotKeysAreSent(t *testing.T) {
	srv := realserver.Start(t, realserver.Redis8)
	c := NewClient(&Options{Addr: srv.Addr()})
	defer c.Close()
	var sent []string
	c.AddHook(processHook(func(cmd Cmder) { sent = append(sent, strings.TrimSuffix(fmt.Sprintln(cmd.Args()...), "\n")) }))
	for _, err := range []error{
		c.HotKeysStart(bg, &HotKeysStartArgs{Metrics: []HotKeysMetric{HotKeysMetricCPU, HotKeysMetricNET}, Count: 3, Duration: 9, Sample: 2, Slots: []uint16{1, 2}}).Err(),
		c.HotKeysStart(bg, &HotKeysStartArgs{Metrics: []HotKeysMetric{HotKeysMetricNET}}).Err(),
		c.HotKeysGet(bg).Err(), c.HotKeysStop(bg).Err(), c.HotKeysReset(bg).Err(),
	} {
		if !HasErrorPrefix(err, "ERR unknown command") {
			t.Errorf("got %v, want that the command is unknown", err)
		}
	}
	for _, args := range []*HotKeysStartArgs{nil, {}} {
		if err := c.HotKeysStart(bg, args).Err(); !errors.Is(err, ErrHotKeysNoMetrics) || DeliveryOf(err) != NotSent {
			t.Errorf("without a metric: %v", err)
		}
	}
	want := []string{
		"hotkeys start metrics 2 CPU NET count 3 duration 9 sample 2 slots 2 1 2", "hotkeys start metrics 1 NET",
		"hotkeys get", "hotkeys stop", "hotkeys reset",
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

func TestShapes(t *testing.T) {
	for _, test := range []struct {
		cmd   Cmder
		frame string
		want  any
	}{
		{NewUintCmd(bg, "x"), ":18446744073709551615\r\n", uint64(1<<64 - 1)},
		{NewUintCmd(bg, "x"), ":-1\r\n", errors.New("redis: x: unexpected reply")},
		{NewUintSliceCmd(bg, "x"), "*2\r\n:1\r\n$1\r\n2\r\n", []uint64{1, 2}},
		{NewStringSliceSliceCmd(bg, "x"), "*3\r\n*2\r\n+a\r\n_\r\n*-1\r\n*0\r\n", [][]string{{"a", ""}, nil, {}}},
		{NewMapStringInterfaceSliceCmd(bg, "x"), "*2\r\n%1\r\n+a\r\n:1\r\n*2\r\n+b\r\n*1\r\n_\r\n", []map[string]any{{"a": int64(1)}, {"b": []any{nil}}}},
		{NewMapStringStringSliceCmd(bg, "x"), "*2\r\n%1\r\n+a\r\n+1\r\n*2\r\n+b\r\n_\r\n", []map[string]string{{"a": "1"}, {"b": ""}}},
	} {
		feed(test.cmd, test.frame)
		compare(t, test.frame, test.cmd, test.want)
		for _, frame := range oddReplies {
			feed(test.cmd, frame)
		}
		if feed(test.cmd, "_\r\n"); !errors.Is(test.cmd.Err(), Nil) {
			t.Errorf("%T: a null: %v", test.cmd, test.cmd.Err())
		}
	}
}
