package redis

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// one returns 1; its hash is that of the server.
const (
	one     = "return 1"
	oneHash = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
)

func scriptCases() []commandCase {
	return []commandCase{
		{name: "Eval", call: func(c commander) Cmder {
			return c.Eval(bg, "return {KEYS[1],ARGV[1],ARGV[2],3,false}", []string{"k"}, "a", 2)
		}, exact: []string{"eval", "return {KEYS[1],ARGV[1],ARGV[2],3,false}", "1", "k", "a", "2"}, want: []any{"k", "a", "2", int64(3), nil}},
		{name: "Eval/slice", call: func(c commander) Cmder { return c.Eval(bg, "return #ARGV", nil, []string{"a", "b"}) }, exact: []string{"eval", "return #ARGV", "0", "a", "b"}, want: int64(2)},
		{name: "Eval/nil", call: func(c commander) Cmder { return c.Eval(bg, "return false", nil) }, exact: []string{"eval", "return false", "0"}, want: Nil},
		{name: "Eval/status", call: func(c commander) Cmder { return c.Eval(bg, "return {ok='fine'}", nil) }, exact: []string{"eval", "return {ok='fine'}", "0"}, want: "fine"},
		{name: "Eval/error", call: func(c commander) Cmder { return c.Eval(bg, "return {err='MY word'}", nil) }, exact: []string{"eval", "return {err='MY word'}", "0"}, want: errors.New("MY word")},
		{name: "EvalSha", call: func(c commander) Cmder { return c.EvalSha(bg, oneHash, []string{"k"}) }, args: "evalsha " + oneHash + " 1 k", want: errors.New("NOSCRIPT No matching script.")},
		{name: "EvalRO", call: func(c commander) Cmder { return c.EvalRO(bg, one, nil) }, exact: []string{"eval_ro", one, "0"}, want: int64(1), since: "7.0"},
		{name: "EvalShaRO", call: func(c commander) Cmder { return c.EvalShaRO(bg, oneHash, nil) }, args: "evalsha_ro " + oneHash + " 0", want: errors.New("NOSCRIPT No matching script."), since: "7.0"},
		{name: "ScriptLoad", call: func(c commander) Cmder { return c.ScriptLoad(bg, one) }, exact: []string{"script", "load", one}, want: oneHash},
		{name: "ScriptExists", call: func(c commander) Cmder { return c.ScriptExists(bg, oneHash, "x") }, args: "script exists " + oneHash + " x", want: []bool{false, false}},
		{name: "ScriptFlush", call: func(c commander) Cmder { return c.ScriptFlush(bg) }, args: "script flush", want: "OK"},
		{name: "ScriptKill", call: func(c commander) Cmder { return c.ScriptKill(bg) }, args: "script kill", want: errors.New("NOTBUSY")},
	}
}

func pubSubCases() []commandCase {
	return []commandCase{
		{name: "Publish", call: func(c commander) Cmder { return c.Publish(bg, "ch", 7) }, args: "publish ch 7", want: int64(0)},
		{name: "SPublish", call: func(c commander) Cmder { return c.SPublish(bg, "ch", "m") }, args: "spublish ch m", want: int64(0), since: "7.0"},
		{name: "PubSubChannels", call: func(c commander) Cmder { return c.PubSubChannels(bg, "") }, args: "pubsub channels", want: []string{}},
		{name: "PubSubChannels/pattern", call: func(c commander) Cmder { return c.PubSubChannels(bg, "a*") }, args: "pubsub channels a*", want: []string{}},
		{name: "PubSubNumSub", call: func(c commander) Cmder { return c.PubSubNumSub(bg, "a", "b") }, args: "pubsub numsub a b", want: map[string]int64{"a": 0, "b": 0}},
		{name: "PubSubNumPat", call: func(c commander) Cmder { return c.PubSubNumPat(bg) }, args: "pubsub numpat", want: int64(0)},
		{name: "PubSubShardChannels", call: func(c commander) Cmder { return c.PubSubShardChannels(bg, "") }, args: "pubsub shardchannels", want: []string{}, since: "7.0"},
		{name: "PubSubShardNumSub", call: func(c commander) Cmder { return c.PubSubShardNumSub(bg, "a") }, args: "pubsub shardnumsub a", want: map[string]int64{"a": 0}, since: "7.0"},
	}
}

// scripter is a server that knows some scripts.
type scripter struct {
	knows map[string]bool
	sent  []string
}

func (s *scripter) process(_ context.Context, cmd Cmder) error {
	s.sent = append(s.sent, cmd.FullName())
	arg := func(i int) string { a, _ := cmd.base().argAt(i); return string(a) }
	switch cmd.FullName() {
	case "evalsha", "evalsha_ro":
		if !s.knows[arg(1)] {
			feed(cmd, "-NOSCRIPT no such script\r\n")
			break
		}
		feed(cmd, ":1\r\n")
	case "eval", "eval_ro":
		s.knows[NewScript(arg(1)).Hash()] = true
		feed(cmd, ":1\r\n")
	case "script load":
		s.knows[NewScript(arg(2)).Hash()] = true
		feed(cmd, "$40\r\n"+NewScript(arg(2)).Hash()+"\r\n")
	case "script exists":
		feed(cmd, "*1\r\n:1\r\n")
	}
	return cmd.Err()
}

func TestScriptIsSentOnce(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script *Script
		run    func(s *Script, c Scripter) *Cmd
		want   []string
	}{
		{"Run", NewScript(one), func(s *Script, c Scripter) *Cmd { return s.Run(bg, c, []string{"k"}, 1) }, []string{"evalsha", "eval", "evalsha"}},
		{"RunRO", NewScript(one), func(s *Script, c Scripter) *Cmd { return s.RunRO(bg, c, nil) }, []string{"evalsha_ro", "eval_ro", "evalsha_ro"}},
		{"server's hash", NewScriptServerSHA(one), func(s *Script, c Scripter) *Cmd { return s.Run(bg, c, nil) }, []string{"script load", "evalsha", "evalsha"}},
		{"server's hash, RO", NewScriptServerSHA(one), func(s *Script, c Scripter) *Cmd { return s.RunRO(bg, c, nil) }, []string{"script load", "evalsha_ro", "evalsha_ro"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := &scripter{knows: map[string]bool{}}
			c := cmdable(srv.process)
			for range 2 {
				if n, err := tc.run(tc.script, c).Int(); n != 1 || err != nil {
					t.Errorf("got %d, %v, want 1", n, err)
				}
			}
			if !slices.Equal(srv.sent, tc.want) {
				t.Errorf("sent %q, want %q", srv.sent, tc.want)
			}
			if tc.script.Hash() != oneHash {
				t.Errorf("hash is %q, want %q", tc.script.Hash(), oneHash)
			}
			if ok, err := tc.script.Exists(bg, c).Result(); err != nil || !ok[0] {
				t.Errorf("Exists gave %v, %v", ok, err)
			}
		})
	}
}

// A script whose hash nobody knows can't be queued.
func TestScriptWithoutHashInPipeline(t *testing.T) {
	if err := NewScriptServerSHA(one).Run(bg, cmdable(none), nil).Err(); err == nil {
		t.Error("no error")
	}
	failing := cmdable(func(_ context.Context, cmd Cmder) error { cmd.SetErr(ErrClosed); return ErrClosed })
	if err := NewScriptServerSHA(one).Run(bg, failing, nil).Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if err := NewScript(one).Run(bg, failing, nil).Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
