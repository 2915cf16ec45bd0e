package redis

import "errors"

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
