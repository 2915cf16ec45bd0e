package redis

import (
	"errors"
	"strings"
	"time"
)

func serverCases() []commandCase {
	return []commandCase{
		{name: "Ping", call: func(c commander) Cmder { return c.Ping(bg) }, args: "ping", want: "PONG"},
		{name: "Echo", call: func(c commander) Cmder { return c.Echo(bg, 1.5) }, args: "echo 1.5", want: "1.5"},
		{name: "Time", call: func(c commander) Cmder { return c.Time(bg) }, args: "time", want: func(v any) bool {
			t, ok := v.(time.Time)
			return ok && t.Unix() > 1_700_000_000 && t.Nanosecond()%1000 == 0
		}},
		{name: "DBSize", setup: []string{"mset a 1 b 2"}, call: func(c commander) Cmder { return c.DBSize(bg) }, args: "dbsize", want: int64(2)},
		{name: "FlushAll", call: func(c commander) Cmder { return c.FlushAll(bg) }, args: "flushall", want: "OK"},
		{name: "FlushAllAsync", call: func(c commander) Cmder { return c.FlushAllAsync(bg) }, args: "flushall async", want: "OK"},
		{name: "FlushDB", call: func(c commander) Cmder { return c.FlushDB(bg) }, args: "flushdb", want: "OK"},
		{name: "FlushDBAsync", call: func(c commander) Cmder { return c.FlushDBAsync(bg) }, args: "flushdb async", want: "OK"},
		{name: "Info", call: func(c commander) Cmder { return c.Info(bg, "cpu") }, args: "info cpu", want: func(v any) bool {
			s, _ := v.(string)
			return strings.HasPrefix(s, "# CPU\r\nused_cpu_sys:")
		}},
		{name: "InfoMap", call: func(c commander) Cmder { return c.InfoMap(bg, "cluster", "cpu") }, args: "info cluster cpu", want: func(v any) bool {
			m, _ := v.(map[string]map[string]string)
			return m["Cluster"]["cluster_enabled"] == "0" && m["CPU"]["used_cpu_sys"] != ""
		}, since: "7.0"},
		{name: "ConfigGet", call: func(c commander) Cmder { return c.ConfigGet(bg, "appendonly") }, args: "config get appendonly", want: map[string]string{"appendonly": "no"}},
		{name: "ConfigSet", call: func(c commander) Cmder { return c.ConfigSet(bg, "timeout", "0") }, args: "config set timeout 0", want: "OK"},
		{name: "ConfigResetStat", call: func(c commander) Cmder { return c.ConfigResetStat(bg) }, args: "config resetstat", want: "OK"},
		{name: "ConfigRewrite", call: func(c commander) Cmder { return c.ConfigRewrite(bg) }, args: "config rewrite", want: "OK", unfit: true, r2: "+OK\r\n"},
		{name: "Save", call: func(c commander) Cmder { return c.Save(bg) }, args: "save", want: "OK", unfit: true, r2: "+OK\r\n"},
		{name: "BgSave", call: func(c commander) Cmder { return c.BgSave(bg) }, args: "bgsave", want: "Background saving started", unfit: true, r2: "+Background saving started\r\n"},
		{name: "BgRewriteAOF", call: func(c commander) Cmder { return c.BgRewriteAOF(bg) }, args: "bgrewriteaof", want: "Background append only file rewriting started", unfit: true, r2: "+Background append only file rewriting started\r\n"},
		{name: "LastSave", call: func(c commander) Cmder { return c.LastSave(bg) }, args: "lastsave", want: func(v any) bool { n, _ := v.(int64); return n > 1_700_000_000 }},
		{name: "MemoryUsage", setup: []string{"set k v"}, call: func(c commander) Cmder { return c.MemoryUsage(bg, "k") }, args: "memory usage k", want: func(v any) bool { n, _ := v.(int64); return n > 10 }},
		{name: "MemoryUsage/samples", call: func(c commander) Cmder { return c.MemoryUsage(bg, "k", 0) }, args: "memory usage k samples 0", want: Nil},
		{name: "DebugObject", call: func(c commander) Cmder { return c.DebugObject(bg, "k") }, args: "debug object k", want: errors.New("ERR")},
		{name: "Wait", call: func(c commander) Cmder { return c.Wait(bg, 1, 10*time.Millisecond) }, args: "wait 1 10", want: int64(0)},
		{name: "WaitAOF", call: func(c commander) Cmder { return c.WaitAOF(bg, 0, 1, 10*time.Millisecond) }, args: "waitaof 0 1 10", want: []int64{0, 0}, since: "7.2"},
	}
}

func clientCases() []commandCase {
	return []commandCase{
		{name: "ClientList", call: func(c commander) Cmder { return c.ClientList(bg) }, args: "client list", want: func(v any) bool {
			s, _ := v.(string)
			return strings.HasPrefix(s, "id=")
		}},
		{name: "ClientInfo", call: func(c commander) Cmder { return c.ClientInfo(bg) }, args: "client info", want: func(v any) bool {
			i, ok := v.(*ClientInfo)
			return ok && i.ID > 0 && strings.HasPrefix(i.Addr, "127.0.0.1:") && i.LastCmd == "client|info" && i.Multi == -1 &&
				i.User == "default" && i.TotalMemory > 0 && i.Events == "r" && i.Redir == -1
		}},
		{name: "ClientID", call: func(c commander) Cmder { return c.ClientID(bg) }, args: "client id", want: func(v any) bool { n, _ := v.(int64); return n > 0 }},
		{name: "ClientGetName", call: func(c commander) Cmder { return c.ClientGetName(bg) }, args: "client getname", want: Nil},
		{name: "ClientKill", call: func(c commander) Cmder { return c.ClientKill(bg, "127.0.0.1:1") }, args: "client kill 127.0.0.1:1", want: errors.New("ERR No such client")},
		{name: "ClientKillByFilter", call: func(c commander) Cmder { return c.ClientKillByFilter(bg, "ID", "999999") }, args: "client kill ID 999999", want: int64(0)},
		{name: "ClientPause", call: func(c commander) Cmder { return c.ClientPause(bg, 1500*time.Microsecond) }, args: "client pause 1", want: true},
		{name: "ClientUnpause", call: func(c commander) Cmder { return c.ClientUnpause(bg) }, args: "client unpause", want: true},
		{name: "ClientUnblock", call: func(c commander) Cmder { return c.ClientUnblock(bg, 999999) }, args: "client unblock 999999", want: int64(0)},
		{name: "ClientUnblockWithError", call: func(c commander) Cmder { return c.ClientUnblockWithError(bg, 999999) }, args: "client unblock 999999 error", want: int64(0)},

		{name: "Auth", call: func(c commander) Cmder { return c.Auth(bg, "pw") }, args: "auth pw", want: errors.New("ERR AUTH")},
		{name: "AuthACL", call: func(c commander) Cmder { return c.AuthACL(bg, "ann", "pw") }, args: "auth ann pw", want: errors.New("WRONGPASS"), alone: true},
		{name: "Select", call: func(c commander) Cmder { return c.Select(bg, 1) }, args: "select 1", want: "OK"},
		{name: "SwapDB", call: func(c commander) Cmder { return c.SwapDB(bg, 1, 2) }, args: "swapdb 1 2", want: "OK"},
		{name: "ClientSetName", call: func(c commander) Cmder { return c.ClientSetName(bg, "me") }, args: "client setname me", want: true},
		{name: "ClientSetInfo", call: func(c commander) Cmder { return c.ClientSetInfo(bg, WithLibraryName("lib")) }, args: "client setinfo lib-name lib", want: "OK", since: "7.2"},
		{name: "ClientSetInfo/version", call: func(c commander) Cmder { return c.ClientSetInfo(bg, WithLibraryVersion("1")) }, args: "client setinfo lib-ver 1", want: "OK", since: "7.2"},
		{name: "Hello", call: func(c commander) Cmder { return c.Hello(bg, 3, "", "", "me") }, args: "hello 3 setname me", want: func(v any) bool {
			m, _ := v.(map[string]any)
			return m["proto"] == int64(3) && m["role"] != nil
		}},
		{name: "Hello/auth", call: func(c commander) Cmder { return c.Hello(bg, 2, "", "pw", "") }, args: "hello 2 auth default pw", want: func(v any) bool {
			m, _ := v.(map[string]any)
			return m["proto"] == int64(2)
		}},
	}
}
