package maintsim

import (
	"slices"
	"strings"
)

// clusterInput is what a session of an embedded cluster's node knows of its client. It
// is owned by readCommands.
type clusterInput struct {
	readOnly bool     // READONLY
	asking   bool     // the next command, or transaction, is behind ASKING
	txKeys   [][]byte // of the commands that were queued
	args     [][]byte // reused
	keys     [][]byte // reused
}

// routes returns the cluster whose slots the proxies themselves watch over, or nil.
func (s *Sim) routes() *Cluster {
	if s.cluster == nil || s.engine.embedded == nil {
		return nil
	}
	return s.cluster
}

// ruleCluster decides about a command that another node is to be asked for, or that
// means one node of the cluster only. ok is false if it is to be treated as any other.
func (s *session) ruleCluster(c *Cluster, v verb, frame []byte) (r ruling, ok bool) {
	in := &s.in.cluster
	asking := in.asking
	switch {
	case v == verbAsking && s.in.inTx: // it is queued like any other, and has no effect
		return ruling{bytes: appendCommand(nil, "PING"), entry: entry{n: 1}}, true
	case v == verbAsking:
		in.asking = true
	case v == verbEndTx, v != verbMulti && !s.in.inTx:
		in.asking = false
	}
	if s.needsAuth() { // which comes first, and is the server's to say
		return ruling{}, false
	}
	in.args = appendArgs(in.args[:0], frame)
	in.keys = appendKeys(in.keys[:0], in.args)
	keys := in.keys
	if v == verbEndTx {
		keys = in.txKeys
		in.txKeys = nil
		if s.in.txBroken || strings.EqualFold(string(in.args[0]), "DISCARD") {
			return ruling{}, false
		}
	}
	if len(keys) == 0 {
		return s.ruleKeyless(c, v, requestArgs(frame))
	}
	name := strings.ToUpper(string(in.args[0]))
	channels := name == "SSUBSCRIBE" || name == "SPUBLISH"
	_, writes := writeCommands[name]
	refusal := c.table.judge(request{
		node:     s.proxy.index,
		keys:     keys,
		channels: channels,
		reads:    channels || in.readOnly && !writes && v != verbEndTx,
		asking:   asking,
		queued:   s.in.inTx && v != verbEndTx,
	}, c.exists)
	if refusal != "" {
		return s.refuseSlot(v, refusal), true
	}
	if s.in.inTx && v != verbEndTx {
		for _, k := range keys {
			in.txKeys = append(in.txKeys, slices.Clone(k))
		}
	}
	if channels && !s.in.inTx {
		return s.ruleShardChannels(c, name, requestArgs(frame)), true
	}
	return ruling{}, false
}

// refuseSlot answers a command with an error because of its slot.
func (s *session) refuseSlot(v verb, refusal string) ruling {
	s.proxy.countError(refusal)
	if v == verbEndTx {
		s.in.inTx, s.in.txBroken = false, false
		return ruling{
			bytes: appendCommand(nil, "DISCARD"),
			entry: entry{kind: entryWatched, rewrite: func(out, _ []byte) []byte { return appendError(out, refusal) }},
		}
	}
	s.in.txBroken = s.in.inTx
	return ruling{drop: true, entry: entry{kind: entryLocal, answer: func() { s.reply(appendError(nil, refusal)) }}}
}

// countError counts what an error reply says about the slot.
func (p *proxy) countError(reply string) {
	switch {
	case strings.HasPrefix(reply, "MOVED "):
		p.moved.Add(1)
	case strings.HasPrefix(reply, "ASK "):
		p.asked.Add(1)
	case strings.HasPrefix(reply, "TRYAGAIN "):
		p.tryAgain.Add(1)
	case strings.HasPrefix(reply, "CLUSTERDOWN "):
		p.clusterDown.Add(1)
	}
}

// ruleKeyless decides about a command without keys.
func (s *session) ruleKeyless(c *Cluster, v verb, args []string) (r ruling, ok bool) {
	if s.in.inTx {
		return ruling{}, false
	}
	local := func(answer func() []byte) (ruling, bool) {
		return ruling{drop: true, entry: entry{kind: entryLocal, answer: func() { s.reply(answer()) }}}, true
	}
	switch v {
	case verbReadOnly:
		s.in.cluster.readOnly = strings.EqualFold(args[0], "READONLY")
		return ruling{}, false
	case verbReset:
		s.in.cluster = clusterInput{}
		c.channels.drop(s)
		return ruling{}, false
	case verbSelect:
		if len(args) == 2 && args[1] != "0" {
			return local(func() []byte { return appendError(nil, "ERR SELECT is not allowed in cluster mode") })
		}
		return ruling{}, false
	case verbRole:
		return local(func() []byte { return c.appendRole(nil, s.proxy.index) })
	case verbUnsubscribe:
		if strings.EqualFold(args[0], "SUNSUBSCRIBE") {
			return s.ruleShardChannels(c, "SUNSUBSCRIBE", args), true
		}
		return ruling{}, false
	default:
	}
	switch name := strings.ToUpper(args[0]); name {
	case "CLUSTER":
		return local(func() []byte { return c.answer(s, args) })
	case "DBSIZE", "RANDOMKEY":
		return local(func() []byte { return c.answerKeyspace(s, name) })
	case "FLUSHALL", "FLUSHDB":
		return local(func() []byte { return c.flush(s.proxy.index) })
	case "KEYS", "SCAN":
		return ruling{entry: entry{kind: entryWatched, rewrite: c.ownKeys(s.proxy.index)}}, true
	case "PUBSUB":
		if len(args) > 1 && strings.HasPrefix(strings.ToUpper(args[1]), "SHARD") {
			return local(func() []byte { return c.channels.answer(s, args) })
		}
	}
	return ruling{}, false
}
