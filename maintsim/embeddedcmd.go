package maintsim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What this file answers, a real server answers itself. The embedded one knows
// nothing of connections.

const (
	embeddedVersion = "7.4.0"
	replyBadClient  = "ERR Client names cannot contain spaces, newlines or special characters."
)

// rewriteHello replaces the embedded server's reply to HELLO, which has neither
// a real id nor a memory for names. session.mu is held when it runs.
func (s *session) rewriteHello(args []string) func(out, reply []byte) []byte {
	return func(out, reply []byte) []byte {
		if reply[0] == '-' {
			return append(out, reply...)
		}
		proto := int32(2)
		if args[1] == "3" {
			proto = 3
		}
		s.proto.Store(proto)
		for i := 2; i < len(args); i++ {
			switch strings.ToUpper(args[i]) {
			case "AUTH":
				s.mu.authed = true
				i += 2
			case "SETNAME":
				if i+1 < len(args) {
					s.mu.name = args[i+1]
				}
				i++
			}
		}
		return s.appendHello(out, proto)
	}
}

// appendHello appends the reply to HELLO.
func (s *session) appendHello(b []byte, proto int32) []byte {
	fields := 7
	if s.sim.sentinels != nil {
		fields-- // they have no role
	}
	b = appendMapLen(b, fields, proto)
	b = appendBulk(appendBulk(b, "server"), "redis")
	b = appendBulk(appendBulk(b, "version"), s.sim.reportedVersion(embeddedVersion))
	b = appendInt(appendBulk(b, "proto"), int64(proto))
	b = appendInt(appendBulk(b, "id"), s.id)
	mode, role := "standalone", "master"
	if c := s.sim.routes(); c != nil {
		mode = "cluster"
		if !c.isPrimary(s.proxy.index) {
			role = "replica"
		}
	}
	if s.proxy.replicaOf.Load() != nil {
		role = "replica"
	}
	if s.sim.sentinels != nil {
		b = appendBulk(appendBulk(b, "mode"), "sentinel")
	} else {
		b = appendBulk(appendBulk(b, "mode"), mode)
		b = appendBulk(appendBulk(b, "role"), role)
	}
	return appendArrayLen(appendBulk(b, "modules"), 0)
}

// answerClient returns the answer to a CLIENT subcommand, nil for one that is
// left to the server.
func (s *session) answerClient(sub string, args []string) func() {
	ok := func() { s.reply(appendSimple(nil, "OK")) }
	fail := func(msg string) { s.reply(appendError(nil, msg)) }
	arity := func(n int, answer func()) func() {
		return func() {
			if len(args) != n {
				fail("ERR wrong number of arguments for 'client|" + strings.ToLower(sub) + "' command")
				return
			}
			answer()
		}
	}
	switch sub {
	case "ID":
		return arity(2, func() { s.reply(appendInt(nil, s.id)) })
	case "INFO":
		return arity(2, func() { s.reply(appendText(nil, s.sim.describe(s), s.proto.Load())) })
	case "LIST":
		return func() { s.answerList(args) }
	case "GETNAME":
		return arity(2, func() {
			s.mu.Lock()
			name := s.mu.name
			s.mu.Unlock()
			if name == "" {
				s.reply(appendNull(nil, s.proto.Load()))
				return
			}
			s.reply(appendBulk(nil, name))
		})
	case "SETNAME":
		return arity(3, func() {
			if !printable(args[2]) {
				fail(replyBadClient)
				return
			}
			s.mu.Lock()
			s.mu.name = args[2]
			s.mu.Unlock()
			ok()
		})
	case "SETINFO":
		return arity(4, func() { s.answerSetInfo(args) })
	case "NO-EVICT", "NO-TOUCH":
		return arity(3, func() {
			if on := strings.ToUpper(args[2]); on != "ON" && on != "OFF" {
				fail("ERR syntax error")
				return
			}
			ok()
		})
	case "KILL":
		return func() { s.answerKill(args) }
	case "UNBLOCK":
		return func() { s.answerUnblock(args) }
	}
	return nil
}

// answerSetInfo answers CLIENT SETINFO.
func (s *session) answerSetInfo(args []string) {
	if !printable(args[3]) {
		s.reply(appendError(nil, "ERR "+strings.ToLower(args[2])+" cannot contain spaces, newlines or special characters."))
		return
	}
	switch strings.ToUpper(args[2]) {
	case "LIB-NAME":
		s.mu.Lock()
		s.mu.libName = args[3]
		s.mu.Unlock()
	case "LIB-VER":
		s.mu.Lock()
		s.mu.libVer = args[3]
		s.mu.Unlock()
	default:
		s.reply(appendError(nil, "ERR Unrecognized option '"+args[2]+"'"))
		return
	}
	s.reply(appendSimple(nil, "OK"))
}

// printable reports whether every byte of name is visible ASCII.
func printable(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' })
}

// answerList answers CLIENT LIST [TYPE normal|...] [ID id...].
func (s *session) answerList(args []string) {
	want := func(*session) bool { return true }
	switch {
	case len(args) == 2:
	case strings.EqualFold(args[2], "TYPE") && len(args) == 4:
		normal := strings.EqualFold(args[3], "normal")
		want = func(*session) bool { return normal }
	case strings.EqualFold(args[2], "ID") && len(args) > 3:
		want = func(c *session) bool { return slices.Contains(args[3:], strconv.FormatInt(c.id, 10)) }
	default:
		s.reply(appendError(nil, "ERR syntax error"))
		return
	}
	var b strings.Builder
	for _, c := range s.fellows(want) {
		b.WriteString(s.sim.describe(c))
	}
	s.reply(appendText(nil, b.String(), s.proto.Load()))
}

// fellows returns the open sessions of s's server that match accepts, by id.
func (s *session) fellows(match func(*session) bool) []*session {
	s.sim.mu.Lock()
	defer s.sim.mu.Unlock()
	return s.sim.sessionsLocked(func(c *session) bool {
		return (s.sim.cluster == nil || c.proxy == s.proxy) && match(c)
	})
}

// describe is c's line of CLIENT LIST.
func (s *Sim) describe(c *session) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	db, user := c.mu.db, s.cfg.Username
	if db == "" {
		db = "0"
	}
	if user == "" {
		user = "default"
	}
	flags := "N"
	if !c.mu.fifo.empty() && c.mu.fifo.head().kind == entryBlocking {
		flags = "b"
	}
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=0 flags=%s db=%s sub=0 psub=0 ssub=0 "+
		"multi=-1 watch=0 qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=16384 rbp=0 obl=%d oll=0 omem=0 "+
		"tot-mem=0 events=r cmd=NULL user=%s redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		c.id, c.tcp.RemoteAddr(), c.tcp.LocalAddr(), 8+c.id, c.mu.name, int(time.Since(c.born).Seconds()), flags, db,
		len(c.mu.out), user, c.proto.Load(), c.mu.libName, c.mu.libVer)
}

// answerKill answers CLIENT KILL in its old form, addr, and its new one, pairs of
// filters.
func (s *session) answerKill(args []string) {
	old := len(args) == 3
	skipMe := !old
	var filters []func(*session) bool
	if old {
		filters = append(filters, func(c *session) bool { return c.tcp.RemoteAddr().String() == args[2] })
	} else if len(args) < 4 || len(args)%2 != 0 {
		s.reply(appendError(nil, "ERR syntax error"))
		return
	}
	for i := 2; !old && i < len(args); i += 2 {
		value := args[i+1]
		switch strings.ToUpper(args[i]) {
		case "ID":
			filters = append(filters, func(c *session) bool { return strconv.FormatInt(c.id, 10) == value })
		case "ADDR":
			filters = append(filters, func(c *session) bool { return c.tcp.RemoteAddr().String() == value })
		case "LADDR":
			filters = append(filters, func(c *session) bool { return c.tcp.LocalAddr().String() == value })
		case "TYPE":
			normal := strings.EqualFold(value, "normal")
			filters = append(filters, func(*session) bool { return normal })
		case "SKIPME":
			skipMe = strings.EqualFold(value, "yes")
		default:
			s.reply(appendError(nil, "ERR syntax error"))
			return
		}
	}
	victims := s.fellows(func(c *session) bool {
		if skipMe && c == s {
			return false
		}
		return !slices.ContainsFunc(filters, func(f func(*session) bool) bool { return !f(c) })
	})
	switch {
	case !old:
		s.reply(appendInt(nil, int64(len(victims))))
	case len(victims) == 0:
		s.reply(appendError(nil, "ERR No such client"))
	default:
		s.reply(appendSimple(nil, "OK"))
	}
	for _, c := range victims {
		c.end(endFlush)
	}
}

// answerUnblock answers CLIENT UNBLOCK id [TIMEOUT|ERROR].
func (s *session) answerUnblock(args []string) {
	how := renewTimeout
	if len(args) == 4 && strings.EqualFold(args[3], "ERROR") {
		how = renewError
	} else if len(args) != 3 && (len(args) != 4 || !strings.EqualFold(args[3], "TIMEOUT")) {
		s.reply(appendError(nil, "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"))
		return
	}
	id, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		s.reply(appendError(nil, "ERR value is not an integer or out of range"))
		return
	}
	for _, c := range s.fellows(func(c *session) bool { return c.id == id && c != s }) {
		if c.unblock(how) {
			s.reply(appendInt(nil, 1))
			return
		}
	}
	s.reply(appendInt(nil, 0))
}

// appendRole appends the reply to ROLE.
func (s *session) appendRole(b []byte) []byte {
	if master := s.proxy.replicaOf.Load(); master != nil {
		return appendReplicaRole(b, master.host, master.port)
	}
	return appendMasterRole(b)
}

func appendMasterRole(b []byte) []byte {
	b = appendArrayLen(b, 3)
	b = appendBulk(b, "master")
	b = appendInt(b, 0)
	return appendArrayLen(b, 0)
}

func appendReplicaRole(b []byte, host string, port int) []byte {
	b = appendArrayLen(b, 5)
	b = appendInt(appendBulk(appendBulk(b, "slave"), host), int64(port))
	return appendInt(appendBulk(b, "connected"), 0)
}

// appendInfo appends the reply to INFO with the sections asked for.
func (s *session) appendInfo(b []byte, want []string) []byte {
	st := s.sim.Stats()
	mode, role, enabled := "standalone", "master", 0
	if c := s.sim.routes(); c != nil {
		mode, enabled = "cluster", 1
		if !c.isPrimary(s.proxy.index) {
			role = "slave"
		}
	}
	if master := s.proxy.replicaOf.Load(); master != nil {
		role = fmt.Sprintf("slave\r\nmaster_host:%s\r\nmaster_port:%d\r\nmaster_link_status:up", master.host, master.port)
	}
	sections := []struct{ name, body string }{
		{"server", fmt.Sprintf("# Server\r\nredis_version:%s\r\nredis_mode:%s\r\ntcp_port:%d\r\n", s.sim.reportedVersion(embeddedVersion), mode, s.proxy.port)},
		{"clients", fmt.Sprintf("# Clients\r\nconnected_clients:%d\r\n", st.Open())},
		{"stats", fmt.Sprintf("# Stats\r\ntotal_commands_processed:%d\r\n", st.Commands)},
		{"replication", "# Replication\r\nrole:" + role + "\r\nconnected_slaves:0\r\n"},
		{"cluster", fmt.Sprintf("# Cluster\r\ncluster_enabled:%d\r\n", enabled)},
	}
	var out []string
	for _, sec := range sections {
		if len(want) == 0 || hasOption(want, sec.name) || hasOption(want, "all") || hasOption(want, "default") || hasOption(want, "everything") {
			out = append(out, sec.body)
		}
	}
	return appendText(b, strings.Join(out, "\r\n"), s.proto.Load())
}
