package maintsim

import (
	"bytes"
	"strings"
)

// ruleClient decides about a CLIENT command.
func (s *session) ruleClient(args []string, pass ruling, local func(func()) ruling) ruling {
	if len(args) < 2 {
		return pass
	}
	sub := strings.ToUpper(args[1])
	switch sub {
	case "MAINT_NOTIFICATIONS":
		return local(func() { s.answerOptIn(args) })
	case "MAINT_NOTIFICATIONS_INFO":
		return local(func() { s.answerOptInInfo(args) })
	}
	if s.sim.engine.Embedded() {
		if answer := s.answerClient(sub, args); answer != nil && !s.in.inTx {
			return local(func() {
				if !s.refused() {
					answer()
				}
			})
		}
		return pass
	}
	if sub != "REPLY" {
		return ruling{entry: entry{kind: entryWatched}}
	}
	if len(args) == 3 {
		switch strings.ToUpper(args[2]) {
		case "ON":
			s.in.quiet, s.in.skip = false, false
		case "OFF":
			s.in.quiet = true
		case "SKIP":
			s.in.skip = true
			pass.silent = true
		}
	}
	return pass
}

// needsAuth reports whether the connection has yet to authenticate.
func (s *session) needsAuth() bool {
	if s.sim.cfg.Password == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.mu.authed
}

// refused answers a command with NOAUTH if the connection has yet to
// authenticate.
func (s *session) refused() bool {
	if !s.needsAuth() {
		return false
	}
	s.reply(appendError(nil, "NOAUTH Authentication required."))
	return true
}

// answerOptIn answers CLIENT MAINT_NOTIFICATIONS ON|OFF.
func (s *session) answerOptIn(args []string) {
	if s.refused() {
		return
	}
	switch s.sim.optInMode() {
	case optInAccepted:
	case optInRefused:
		s.reply(appendError(nil, "ERR unknown subcommand '"+args[1]+"'. Try CLIENT HELP."))
		return
	case optInFatal:
		s.end(endFlush)
		return
	}
	if len(args) == 3 && strings.EqualFold(args[2], "OFF") {
		s.sim.optOut(s)
		s.reply(appendSimple(nil, "OK"))
		return
	}
	if len(args) < 3 || !strings.EqualFold(args[2], "ON") || len(args) != 3 && len(args) != 5 {
		s.reply(appendError(nil, "ERR syntax error"))
		return
	}
	endpointType := "none"
	if len(args) == 5 {
		endpointType = strings.ToLower(args[4])
		if !strings.EqualFold(args[3], "moving-endpoint-type") {
			s.reply(appendError(nil, "ERR syntax error"))
			return
		}
		switch endpointType {
		case "internal-ip", "internal-fqdn", "external-ip", "external-fqdn", "none":
		default:
			s.reply(appendError(nil, "ERR invalid moving-endpoint-type"))
			return
		}
	}
	s.sim.acceptOptIn(s, endpointType)
}

// answerOptInInfo answers CLIENT MAINT_NOTIFICATIONS_INFO.
func (s *session) answerOptInInfo(args []string) {
	if s.refused() {
		return
	}
	if s.sim.optInMode() == optInRefused {
		s.reply(appendError(nil, "ERR unknown subcommand '"+args[1]+"'. Try CLIENT HELP."))
		return
	}
	proto, endpointType := s.proto.Load(), s.sim.optedIn(s)
	b := appendMapLen(nil, 2, proto)
	b = appendBulk(b, "status")
	if endpointType == "" {
		b = appendBulk(b, "off")
		b = appendBulk(b, "parameters")
		b = appendMapLen(b, 0, proto)
	} else {
		b = appendBulk(b, "on")
		b = appendBulk(b, "parameters")
		b = appendMapLen(b, 1, proto)
		b = appendBulk(b, "moving-endpoint-type")
		b = appendBulk(b, endpointType)
	}
	s.reply(b)
}

// optInMode is what becomes of the opt-in command.
func (s *Sim) optInMode() optInMode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.optIn
}

// optedIn is the endpoint type c opted in with, empty if it didn't.
func (s *Sim) optedIn(c *session) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.maint
}

// The functions below look at replies of the server, or rewrite them. They are
// called with session.mu held.

// seeHello learns the protocol from a real server's reply to HELLO.
func (s *session) seeHello(args []string) func(out, reply []byte) []byte {
	return func(out, reply []byte) []byte {
		switch reply[0] {
		case '%':
			s.proto.Store(3)
		case '*':
			s.proto.Store(2)
		}
		if reply[0] != '-' && hasOption(args, "AUTH") {
			s.mu.authed = true
		}
		return s.appendHelloVersion(out, reply)
	}
}

// appendHelloVersion appends a real server's reply to HELLO with the version that
// is to be reported.
func (s *session) appendHelloVersion(out, reply []byte) []byte {
	const key = "$7\r\nversion\r\n"
	i := bytes.Index(reply, []byte(key))
	if i < 0 {
		return append(out, reply...)
	}
	i += len(key)
	n, start, err := requestHead(reply, i, '$')
	if err != nil || start == 0 || start+n+2 > len(reply) {
		return append(out, reply...)
	}
	out = append(out, reply[:i]...)
	out = appendBulk(out, s.sim.reportedVersion(string(reply[start:start+n])))
	return append(out, reply[start+n+2:]...)
}

// seeAuth learns whether AUTH was successful.
func (s *session) seeAuth(out, reply []byte) []byte {
	if reply[0] == '+' {
		s.mu.authed = true
	}
	return append(out, reply...)
}

// seeSelect learns the database.
func (s *session) seeSelect(args []string) func(out, reply []byte) []byte {
	return func(out, reply []byte) []byte {
		if string(reply) == "+OK\r\n" && len(args) == 2 {
			s.mu.db = args[1]
		}
		return append(out, reply...)
	}
}

// seeMonitor learns that what follows may be no reply.
func (s *session) seeMonitor(out, reply []byte) []byte {
	s.mu.monitor = reply[0] == '+'
	return append(out, reply...)
}

// seeReset learns that the connection is as new.
func (s *session) seeReset(out, reply []byte) []byte {
	if reply[0] == '+' {
		s.proto.Store(2)
		s.mu.authed, s.mu.monitor, s.mu.db, s.mu.name = false, false, "", ""
	}
	return append(out, reply...)
}
