package maintsim

import (
	"strconv"
	"strings"
)

// What imitated sentinels answer, in the shapes of Redis 7.

// ruleSentinel decides about a command to an imitated sentinel. ok is false for what it
// has in common with a server.
func (s *session) ruleSentinel(all *Sentinels, name, frame []byte) (r ruling, ok bool) {
	local := func(answer func()) (ruling, bool) {
		return ruling{drop: true, entry: entry{kind: entryLocal, answer: answer}}, true
	}
	reply := func(b []byte) (ruling, bool) { return local(func() { s.reply(b) }) }
	args := requestArgs(frame)
	switch verb := strings.ToUpper(string(name)); verb {
	case "AUTH", "CLIENT", "COMMAND", "HELLO", "PING", "PSUBSCRIBE", "PUNSUBSCRIBE", "QUIT", "RESET", "SUBSCRIBE", "UNSUBSCRIBE":
		return ruling{}, false
	case "SENTINEL":
		return local(func() { s.reply(s.appendSentinel(all, args)) })
	case "ROLE":
		b := appendArrayLen(appendBulk(appendArrayLen(nil, 2), "sentinel"), 1)
		return reply(appendBulk(b, all.cfg.MasterName))
	case "INFO":
		return local(func() { s.reply(s.appendSentinelInfo(all)) })
	case "PUBLISH":
		return reply(appendError(nil, "ERR Only HELLO messages are accepted by Sentinel instances."))
	default:
		return reply(appendError(nil, "ERR unknown command '"+args[0]+"', with args beginning with: "+quoted(args[1:])))
	}
}

// quoted is the arguments the way a server complains of them.
func quoted(args []string) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString("'" + a + "' ")
	}
	return b.String()
}

// appendSentinel appends the reply to SENTINEL.
func (s *session) appendSentinel(all *Sentinels, args []string) []byte {
	if len(args) < 2 {
		return appendError(nil, "ERR wrong number of arguments for 'sentinel' command")
	}
	proto := s.proto.Load()
	sub := strings.ToUpper(args[1])
	switch sub {
	case "MASTERS":
		return all.appendMaster(appendArrayLen(nil, 1), proto)
	case "MYID":
		return appendBulk(nil, runID("sentinel", s.proxy.index))
	case "GET-MASTER-ADDR-BY-NAME", "MASTER", "REPLICAS", "SLAVES", "SENTINELS", "FAILOVER", "CKQUORUM":
		if len(args) != 3 {
			return appendError(nil, "ERR wrong number of arguments for 'sentinel|"+strings.ToLower(sub)+"' command")
		}
	default:
		return appendError(nil, "ERR unknown subcommand '"+args[1]+"'. Try SENTINEL HELP.")
	}
	known := args[2] == all.cfg.MasterName || all.cfg.Discovery && args[2] == all.cfg.MasterName+"@internal"
	switch {
	case sub == "GET-MASTER-ADDR-BY-NAME" && !known && proto == 3:
		return appendNull(nil, proto)
	case sub == "GET-MASTER-ADDR-BY-NAME" && !known:
		return append([]byte(nil), "*-1\r\n"...)
	case !known:
		return appendError(nil, "ERR No such master with that name")
	}
	switch sub {
	case "GET-MASTER-ADDR-BY-NAME":
		p := all.fleet.master()
		return appendBulk(appendBulk(appendArrayLen(nil, 2), p.host), strconv.Itoa(p.port))
	case "MASTER":
		return all.appendMaster(nil, proto)
	case "REPLICAS", "SLAVES":
		return all.appendReplicas(nil, proto)
	case "SENTINELS":
		return all.appendOthers(nil, s.proxy, proto)
	case "FAILOVER":
		return all.startFailover()
	}
	return appendSimple(nil, "OK "+strconv.Itoa(all.cfg.Sentinels)+" usable Sentinels. Quorum and failover authorization can be reached")
}

// startFailover does what SENTINEL FAILOVER does, and answers at once.
func (s *Sentinels) startFailover() []byte {
	if s.cfg.Discovery {
		return appendError(nil, "ERR a discovery service fails nothing over")
	}
	select {
	case s.turn <- struct{}{}:
	default:
		return appendError(nil, "INPROG Failover already in progress")
	}
	s.servers.later(0, func() {
		defer func() { <-s.turn }()
		// What keeps it from being done is told by no sentinel either.
		_ = s.fleet.failover(s.servers.ctx, s.servers.options([]Option{WithUnannounced()}))
	})
	return appendSimple(nil, "OK")
}

// runID is the 40 digits by which a server is known.
func runID(kind string, index int) string {
	id := strconv.FormatUint(uint64(len(kind))*1_000_003+uint64(index)+1, 16)
	return strings.Repeat("0", 40-len(id)) + id
}

func (s *Sentinels) appendMaster(b []byte, proto int32) []byte {
	p := s.fleet.master()
	return appendFields(b, proto,
		"name", s.cfg.MasterName, "ip", p.host, "port", strconv.Itoa(p.port), "runid", runID("server", p.index),
		"flags", "master", "role-reported", "master", "num-slaves", strconv.Itoa(len(s.replicas())),
		"num-other-sentinels", strconv.Itoa(s.cfg.Sentinels-1), "quorum", strconv.Itoa(s.quorum()))
}

// quorum is how many sentinels have to agree.
func (s *Sentinels) quorum() int { return s.cfg.Sentinels/2 + 1 }

// replicas are the servers that are replicas. The other proxies of a database are none.
func (s *Sentinels) replicas() (all []*proxy) {
	if s.cfg.Discovery {
		return nil
	}
	master := s.fleet.master()
	for _, p := range s.servers.proxies {
		if p != master {
			all = append(all, p)
		}
	}
	return all
}

func (s *Sentinels) appendReplicas(b []byte, proto int32) []byte {
	master, all := s.fleet.master(), s.replicas()
	b = appendArrayLen(b, len(all))
	for _, p := range all {
		flags, link := "slave", "ok"
		if !s.accepts(p) {
			flags, link = "s_down,slave,disconnected", "err"
		}
		b = appendFields(b, proto,
			"name", p.addr, "ip", p.host, "port", strconv.Itoa(p.port), "runid", runID("server", p.index), "flags", flags,
			"role-reported", "slave", "master-link-status", link, "master-host", master.host, "master-port", strconv.Itoa(master.port))
	}
	return b
}

// accepts reports whether a server does.
func (s *Sentinels) accepts(p *proxy) bool {
	s.servers.mu.Lock()
	defer s.servers.mu.Unlock()
	return p.wanted
}

// appendOthers appends the sentinels but the one that is asked.
func (s *Sentinels) appendOthers(b []byte, asked *proxy, proto int32) []byte {
	b = appendArrayLen(b, len(s.watch.proxies)-1)
	for _, p := range s.watch.proxies {
		if p != asked {
			b = appendFields(b, proto,
				"name", runID("sentinel", p.index), "ip", p.host, "port", strconv.Itoa(p.port),
				"runid", runID("sentinel", p.index), "flags", "sentinel")
		}
	}
	return b
}

// appendFields appends pairs as a map.
func appendFields(b []byte, proto int32, pairs ...string) []byte {
	b = appendMapLen(b, len(pairs)/2, proto)
	for _, text := range pairs {
		b = appendBulk(b, text)
	}
	return b
}

// appendSentinelInfo appends the reply to INFO.
func (s *session) appendSentinelInfo(all *Sentinels) []byte {
	p := all.fleet.master()
	return appendText(nil, "# Server\r\nredis_version:"+s.sim.reportedVersion(embeddedVersion)+"\r\nredis_mode:sentinel\r\n\r\n"+
		"# Sentinel\r\nsentinel_masters:1\r\nmaster0:name="+all.cfg.MasterName+",status=ok,address="+p.addr+
		",slaves="+strconv.Itoa(len(all.replicas()))+",sentinels="+strconv.Itoa(all.cfg.Sentinels)+"\r\n", s.proto.Load())
}
