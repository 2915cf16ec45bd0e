package maintsim

import (
	"errors"
	"slices"
	"strings"
)

var errPending = errors.New("maintsim: too much is waiting behind a blocking command")

// input is what readCommands owns.
type input struct {
	buf     []byte // read and not taken
	pieces  [][]byte
	entries []entry

	authSent bool // AUTH was read, whatever its answer

	inTx     bool // between MULTI and EXEC or DISCARD
	isBroken bool // what is read is no request
	txBroken bool // a command of the transaction was refused by the proxy
	served   bool // a command was treated without a fault
	quiet    bool // CLIENT REPLY OFF
	skip     bool // CLIENT REPLY SKIP: the next command isn't answered
	subs     [3]map[string]struct{}

	cluster clusterInput
}

func (r *input) makeRoom()    { r.buf = makeRoom(r.buf) }
func (r *input) free() []byte { return r.buf[len(r.buf):cap(r.buf)] }

// A ruling says what becomes of a command that isn't plain.
type ruling struct {
	entry  entry
	drop   bool   // it isn't forwarded
	silent bool   // nothing answers it
	hold   bool   // nothing behind it is forwarded before it is answered
	bytes  []byte // forwarded instead of what was read; nil means that
}

// takeCommands forwards the complete commands in the buffer, up to one that
// must be waited for. They are in the queue of those in flight before the server
// sees them.
func (s *session) takeCommands() error {
	r := &s.in
	s.mu.Lock()
	held := s.mu.held
	s.mu.Unlock()
	if held {
		if len(r.buf) > maxPending {
			return errPending
		}
		return nil
	}
	r.pieces, r.entries = r.pieces[:0], r.entries[:0]
	if s.raw.Load() {
		r.pieces = append(r.pieces, r.buf)
		s.forward(false)
		r.buf = r.buf[:0]
		return nil
	}
	if r.isBroken {
		r.buf = r.buf[:0] // nothing counts any more, until the session has ended
		return nil
	}
	var pos, start, plain int
	watchful := s.proxy.has() != FaultNone || s.sim.routes() != nil || s.sim.sentinels != nil // no command is plain
	for !held {
		n, name, err := nextRequest(r.buf[pos:])
		if r.isBroken = err != nil; r.isBroken {
			break
		}
		if n == 0 {
			break
		}
		if name != nil && !watchful && !r.quiet && !r.skip {
			if v := verbOf(name); v == verbPlain {
				plain++
				pos += n
				continue
			}
		}
		if plain > 0 {
			r.entries = append(r.entries, entry{n: plain})
			plain = 0
		}
		rule := s.rule(name, r.buf[pos:pos+n])
		if !rule.silent {
			r.entries = append(r.entries, rule.entry)
		}
		if rule.drop || rule.bytes != nil {
			if pos > start {
				r.pieces = append(r.pieces, r.buf[start:pos])
			}
			if !rule.drop {
				r.pieces = append(r.pieces, rule.bytes)
			}
			start = pos + n
		}
		pos += n
		held = rule.hold
	}
	if plain > 0 {
		r.entries = append(r.entries, entry{n: plain})
	}
	if r.isBroken { // what came before is answered first
		r.entries = append(r.entries, entry{kind: entryLocal, answer: s.refuse})
	}
	if pos > start {
		r.pieces = append(r.pieces, r.buf[start:pos])
	}
	s.forward(held)
	r.buf = discard(r.buf, pos)
	return nil
}

// refuse ends the session of a client that does not speak the protocol.
func (s *session) refuse() {
	s.reply(appendError(nil, "ERR Protocol error"))
	s.end(endFlush)
}

// forward queues the entries of the batch and writes its pieces to the server.
func (s *session) forward(held bool) {
	r := &s.in
	if len(r.entries) == 0 && len(r.pieces) == 0 {
		return
	}
	var sent, local uint64
	s.mu.Lock()
	if s.mu.how != endNot {
		s.mu.Unlock()
		return
	}
	idle := s.mu.fifo.empty()
	for i, e := range r.entries {
		switch e.kind {
		case entryForwarded:
			sent += uint64(e.n)
		case entryWatched, entryBlocking, entrySubscribe:
			sent++
		case entryLocal, entryReset:
			local++
		}
		s.mu.fifo.push(e)
		r.entries[i] = entry{}
	}
	s.mu.held = held
	backend := s.mu.backend
	s.mu.Unlock()
	s.sim.commands.Add(sent)
	s.sim.answered.Add(local)
	s.proxy.commands.Add(sent + local)
	if idle {
		// Nobody else answers what the proxy answers before anything of this
		// batch reached the server.
		s.answerHead()
	}
	for i, p := range r.pieces {
		// An error means that the server closed, which readReplies sees.
		_, _ = backend.Write(p)
		r.pieces[i] = nil
	}
}

// rule decides about the command in frame. Its name is nil for an inline one.
func (s *session) rule(name, frame []byte) ruling {
	r := &s.in
	if name == nil {
		args := requestArgs(frame)
		if len(args) == 0 {
			return ruling{drop: true, silent: true}
		}
		array := appendCommand(nil, args...)
		rule := s.rule([]byte(args[0]), array)
		if rule.bytes == nil {
			rule.bytes = array
		}
		return rule
	}
	rule, faulty := s.ruleFault(s.proxy.has(), name, frame)
	s.in.served = s.in.served || !faulty
	v := verbOf(name)
	elsewhere := false
	if c := s.sim.routes(); c != nil && !faulty {
		var r ruling
		if r, elsewhere = s.ruleCluster(c, v, frame); elsewhere {
			rule = r
		}
	}
	if all := s.sim.sentinels; all != nil && !faulty {
		var r ruling
		if r, elsewhere = s.ruleSentinel(all, name, frame); elsewhere {
			rule = r
		}
	}
	if !faulty && !elsewhere && v != verbPlain {
		rule = s.ruleVerb(v, requestArgs(frame))
	}
	if rule.entry.kind == entryBlocking && len(r.cluster.keys) > 0 {
		rule.entry.slot = slotOf(r.cluster.keys[0])
	}
	if rule.silent {
		return rule
	}
	rule.silent = r.quiet || r.skip
	r.skip = false
	return rule
}

// ruleVerb decides about a command that isn't plain.
func (s *session) ruleVerb(v verb, args []string) ruling {
	r := &s.in
	pass := ruling{entry: entry{n: 1}}
	// Within MULTI the server queues or refuses; what the proxy knows better
	// about the embedded server's connections doesn't matter there.
	embedded := s.sim.engine.Embedded() && !r.inTx
	local := func(answer func()) ruling {
		return ruling{drop: true, entry: entry{kind: entryLocal, answer: answer}}
	}
	reply := func(b []byte) ruling {
		return local(func() { s.reply(b) })
	}
	watched := func(rewrite func(out, reply []byte) []byte) ruling {
		return ruling{entry: entry{kind: entryWatched, rewrite: rewrite}}
	}
	switch v {
	case verbClient:
		return s.ruleClient(args, pass, local)
	case verbHello:
		if !s.sim.engine.Embedded() {
			return watched(s.seeHello(args))
		}
		if len(args) == 1 {
			return local(func() { s.reply(s.appendHello(nil, s.proto.Load())) })
		}
		if !r.authSent && s.needsAuth() && !hasOption(args[2:], "AUTH") {
			return reply(appendError(nil, "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"))
		}
		return watched(s.rewriteHello(args))
	case verbAuth:
		r.authSent = true
		return watched(s.seeAuth)
	case verbSelect:
		return watched(s.seeSelect(args))
	case verbMonitor:
		return watched(s.seeMonitor)
	case verbMulti:
		r.inTx, r.txBroken = true, false
	case verbEndTx:
		broken := r.txBroken
		r.inTx, r.txBroken = false, false
		if broken && strings.EqualFold(args[0], "EXEC") {
			return s.ruleBrokenTx()
		}
	case verbSubscribe, verbUnsubscribe:
		if r.inTx {
			return pass
		}
		return s.ruleSubscribe(v, args)
	case verbPing:
		if embedded && s.proto.Load() == 3 && r.subscriptions() > 0 {
			return reply(appendPong(args))
		}
	case verbReset:
		r.inTx, r.txBroken, r.subs = false, false, [3]map[string]struct{}{}
		if s.sim.engine.Embedded() {
			return ruling{drop: true, hold: true, entry: entry{kind: entryReset}}
		}
		return watched(s.seeReset)
	case verbStream:
		if embedded && hasBlock(args) {
			return ruling{hold: true, entry: entry{kind: entryBlocking, array: true}}
		}
	case verbBlocking, verbBlockingArray:
		if embedded {
			return ruling{hold: true, entry: entry{kind: entryBlocking, array: v == verbBlockingArray}}
		}
	case verbReadOnly, verbAsking:
		if embedded {
			return reply(appendSimple(nil, "OK"))
		}
	case verbRole:
		if embedded {
			return local(func() { s.reply(s.appendRole(nil)) })
		}
	case verbInfo:
		if embedded {
			return local(func() { s.reply(s.appendInfo(nil, args[1:])) })
		}
	case verbCluster:
		// Between nodes, to move slots as a whole.
		if len(args) > 1 && strings.EqualFold(args[1], "SYNCSLOTS") {
			return s.ruleRaw()
		}
	case verbSync:
		return s.ruleRaw()
	case verbPlain:
	}
	return pass
}

// ruleRaw makes the session pass on whatever comes: the servers of a cluster talk to each
// other through the proxies, and not in commands and replies.
func (s *session) ruleRaw() ruling {
	if s.proxy.upstream == "" {
		return ruling{entry: entry{n: 1}}
	}
	s.raw.Store(true)
	return ruling{silent: true}
}

// ruleSubscribe counts how many confirmations a command gets.
func (s *session) ruleSubscribe(v verb, args []string) ruling {
	r := &s.in
	kind := 0
	switch strings.ToUpper(args[0]) {
	case "PSUBSCRIBE", "PUNSUBSCRIBE":
		kind = 1
	case "SSUBSCRIBE", "SUNSUBSCRIBE":
		kind = 2
	}
	n := max(len(args)-1, 1)
	if v == verbSubscribe {
		if r.subs[kind] == nil {
			r.subs[kind] = make(map[string]struct{})
		}
		for _, c := range args[1:] {
			r.subs[kind][c] = struct{}{}
		}
	} else {
		if len(args) == 1 {
			n = max(len(r.subs[kind]), 1)
			clear(r.subs[kind])
		}
		for _, c := range args[1:] {
			delete(r.subs[kind], c)
		}
	}
	return ruling{entry: entry{kind: entrySubscribe, n: n}}
}

func (r *input) subscriptions() int {
	return len(r.subs[0]) + len(r.subs[1]) + len(r.subs[2])
}

// hasOption reports whether one of args is option in any case.
func hasOption(args []string, option string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, option) })
}

// hasBlock reports whether XREAD or XREADGROUP says BLOCK.
func hasBlock(args []string) bool {
	for _, a := range args[1:] {
		switch {
		case strings.EqualFold(a, "BLOCK"):
			return true
		case strings.EqualFold(a, "STREAMS"):
			return false
		}
	}
	return false
}

// appendPong answers PING.
func appendPong(args []string) []byte {
	if len(args) > 1 {
		return appendBulk(nil, args[1])
	}
	return appendSimple(nil, "PONG")
}
