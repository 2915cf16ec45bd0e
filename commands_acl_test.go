package redis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/realserver"
)

func aclCases() []commandCase {
	has := func(word string) func(any) bool {
		return func(v any) bool { list, _ := v.([]string); return slices.Contains(list, word) }
	}
	return []commandCase{
		{name: "ACLCat", call: func(c commander) Cmder { return c.ACLCat(bg) }, args: "acl cat", want: has("scripting")},
		{name: "ACLCatArgs", call: func(c commander) Cmder { return c.ACLCatArgs(bg, &ACLCatArgs{Category: "scripting"}) }, args: "acl cat scripting", want: has("eval")},
		{name: "ACLCatArgs/all", call: func(c commander) Cmder { return c.ACLCatArgs(bg, &ACLCatArgs{}) }, args: "acl cat", want: has("scripting")},
		{name: "ACLCatArgs/unknown", call: func(c commander) Cmder { return c.ACLCatArgs(bg, &ACLCatArgs{Category: "cats"}) }, args: "acl cat cats", want: errors.New("ERR Unknown category")},
		{name: "ACLDelUser", setup: []string{"acl setuser bob"}, call: func(c commander) Cmder { return c.ACLDelUser(bg, "bob") }, args: "acl deluser bob", want: int64(1)},
		{name: "ACLDelUser/none", call: func(c commander) Cmder { return c.ACLDelUser(bg, "nobody") }, args: "acl deluser nobody", want: int64(0)},
		{name: "ACLDryRun", setup: []string{"acl setuser bob +get ~k"}, undo: []string{"acl deluser bob"}, call: func(c commander) Cmder { return c.ACLDryRun(bg, "bob", "get", "k") }, args: "acl dryrun bob get k", want: "OK"},
		{name: "ACLDryRun/no", setup: []string{"acl setuser bob reset +get ~k"}, undo: []string{"acl deluser bob"}, call: func(c commander) Cmder { return c.ACLDryRun(bg, "bob", "set", "k", 1) }, args: "acl dryrun bob set k 1", want: func(v any) bool {
			s, _ := v.(string)
			return strings.Contains(s, "has no permissions to run the 'set' command")
		}},
		{name: "ACLGenPass", call: func(c commander) Cmder { return c.ACLGenPass(bg, 0) }, args: "acl genpass", want: func(v any) bool { s, _ := v.(string); return len(s) == 64 }},
		{name: "ACLGenPass/bits", call: func(c commander) Cmder { return c.ACLGenPass(bg, 5) }, args: "acl genpass 5", want: func(v any) bool { s, _ := v.(string); return len(s) == 2 }},
		{name: "ACLList", call: func(c commander) Cmder { return c.ACLList(bg) }, args: "acl list", want: func(v any) bool {
			list, _ := v.([]string)
			return slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, "user default on nopass") })
		}},
		{name: "ACLLog", setup: []string{"acl log reset"}, call: func(c commander) Cmder { return c.ACLLog(bg, 0) }, args: "acl log", want: []*ACLLogEntry{}},
		{
			name: "ACLLog/entry", call: func(c commander) Cmder { return c.ACLLog(bg, 10) }, args: "acl log 10", unfit: true,
			r2: "*1\r\n*20\r\n$5\r\ncount\r\n:2\r\n$6\r\nreason\r\n$4\r\nauth\r\n$7\r\ncontext\r\n$8\r\ntoplevel\r\n$6\r\nobject\r\n$4\r\nauth\r\n$8\r\nusername\r\n$3\r\nann\r\n$11\r\nage-seconds\r\n$5\r\n0.001\r\n$11\r\nclient-info\r\n$28\r\nid=3 addr=127.0.0.1:1 resp=2\r\n$8\r\nentry-id\r\n:7\r\n$17\r\ntimestamp-created\r\n:1796047200000\r\n$22\r\ntimestamp-last-updated\r\n:1796047200001\r\n",
			r3: "*1\r\n%10\r\n$5\r\ncount\r\n:2\r\n$6\r\nreason\r\n$4\r\nauth\r\n$7\r\ncontext\r\n$8\r\ntoplevel\r\n$6\r\nobject\r\n$4\r\nauth\r\n$8\r\nusername\r\n$3\r\nann\r\n$11\r\nage-seconds\r\n,0.001\r\n$11\r\nclient-info\r\n$28\r\nid=3 addr=127.0.0.1:1 resp=2\r\n$8\r\nentry-id\r\n:7\r\n$17\r\ntimestamp-created\r\n:1796047200000\r\n$22\r\ntimestamp-last-updated\r\n:1796047200001\r\n",
			want: []*ACLLogEntry{{
				Count: 2, Reason: "auth", Context: "toplevel", Object: "auth", Username: "ann", AgeSeconds: 0.001,
				ClientInfo: &ClientInfo{ID: 3, Addr: "127.0.0.1:1", Resp: 2}, EntryID: 7, TimestampCreated: 1796047200000, TimestampLastUpdated: 1796047200001,
			}},
		},
		{name: "ACLLogReset", call: func(c commander) Cmder { return c.ACLLogReset(bg) }, args: "acl log reset", want: "OK"},
		{name: "ACLSetUser", call: func(c commander) Cmder { return c.ACLSetUser(bg, "bob", "on", ">pw", "+@read") }, args: "acl setuser bob on >pw +@read", want: "OK", undo: []string{"acl deluser bob"}},
		{name: "ACLSetUser/bad", call: func(c commander) Cmder { return c.ACLSetUser(bg, "ann", "sideways") }, args: "acl setuser ann sideways", want: errors.New("ERR Error in ACL SETUSER modifier 'sideways'")},
		{name: "ACLUsers", call: func(c commander) Cmder { return c.ACLUsers(bg) }, args: "acl users", want: has("default")},
		{name: "ACLWhoAmI", call: func(c commander) Cmder { return c.ACLWhoAmI(bg) }, args: "acl whoami", want: "default"},
	}
}

// TestACLLogOnServers looks at what servers note of a login that failed.
func TestACLLogOnServers(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			srv := realserver.Start(t, name)
			for _, protocol := range []int{2, 3} {
				c := NewClient(&Options{Addr: srv.Addr(), Protocol: protocol})
				cn := c.Conn()
				if err := cn.AuthACL(bg, "nobody", fmt.Sprint("wrong", protocol)).Err(); !IsAuthError(err) {
					t.Errorf("the login: %v", err)
				}
				_ = cn.Close()
				log, err := c.ACLLog(bg, 1).Result()
				if err != nil || len(log) != 1 {
					t.Fatalf("RESP%d: got %v, %v, want one entry", protocol, log, err)
				}
				e := log[0]
				if e.Count < 1 || e.Reason != "auth" || e.Context != "toplevel" || e.Username != "nobody" || e.AgeSeconds < 0 ||
					e.ClientInfo == nil || e.ClientInfo.ID == 0 {
					t.Errorf("RESP%d: got %+v", protocol, e)
				}
				if at := time.UnixMilli(e.TimestampCreated); e.TimestampCreated != 0 && time.Since(at) > time.Minute {
					t.Errorf("RESP%d: it is from %v", protocol, at)
				}
				_ = c.Close()
			}
		})
	}
}

// No password may be seen where commands are logged.
func TestACLHidesPasswords(t *testing.T) {
	for _, tc := range aclCases() {
		if text := captured(t, tc).String(); strings.Contains(text, "pw") {
			t.Errorf("%s: %q", tc.name, text)
		}
	}
}
