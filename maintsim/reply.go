package maintsim

import (
	"bytes"
	"time"
)

// deliver passes the complete frames at the start of b to the client, in order
// with what the proxy answers, and returns how many bytes that were.
func (s *session) deliver(b []byte) (used int, err error) {
	s.mu.Lock()
	if s.mu.how != endNot {
		s.mu.Unlock()
		return len(b), nil
	}
	if s.raw.Load() {
		s.mu.out = append(s.mu.out, b...)
		s.mu.Unlock()
		notify(s.wake)
		return len(b), nil
	}
	// Nulls of arrays are those of RESP2 in the embedded server's RESP3, too.
	fixNulls := s.sim.engine.Embedded() && s.proto.Load() == 3
	pos, start := 0, 0 // b[start:pos] is passed on as it is
	for pos < len(b) {
		n, bad := s.scan.Next(b[pos:])
		if n == 0 {
			err = bad
			break
		}
		frame := b[pos : pos+n]
		if frame[0] == '-' && s.proxy.upstream != "" {
			s.proxy.countError(string(frame[1:]))
		}
		if s.outOfBandLocked(frame) {
			pos += n
			continue
		}
		f := &s.mu.fifo
		h := f.head()
		done := true
		switch h.kind {
		case entryForwarded:
			f.total--
			h.n--
			done = h.n == 0
			s.mu.outReplies++
			if fixNulls && n == 5 && string(frame) == "*-1\r\n" {
				s.mu.out = append(append(s.mu.out, b[start:pos]...), "_\r\n"...)
				start = pos + n
			}
		case entrySubscribe:
			if isConfirmation(frame) {
				h.n--
				done = h.n <= 0
			}
			s.mu.subscriber = true
			if done {
				s.mu.outReplies++
			}
		case entryWatched, entryBlocking:
			s.mu.out = append(s.mu.out, b[start:pos]...)
			start = pos + n
			switch {
			case h.rewrite != nil:
				s.mu.out = h.rewrite(s.mu.out, frame)
				fixNulls = s.sim.engine.Embedded() && s.proto.Load() == 3
			case fixNulls && string(frame) == "*-1\r\n":
				s.mu.out = append(s.mu.out, "_\r\n"...)
			default:
				s.mu.out = append(s.mu.out, frame...)
			}
			s.mu.outReplies++
			if h.kind == entryWatched {
				s.trailLocked()
			}
			if h.kind == entryBlocking && s.mu.renew == renewNot {
				s.unholdLocked()
			}
		case entryLocal, entryReset:
			done = false // the server said something nobody asked for
		}
		pos += n
		if !done {
			continue
		}
		f.pop()
		if !f.empty() && f.head().kind >= entryLocal {
			s.mu.out = append(s.mu.out, b[start:pos]...)
			start = pos
			s.mu.Unlock()
			s.answerHead()
			s.mu.Lock()
			if s.mu.how != endNot {
				s.mu.Unlock()
				return len(b), nil
			}
		}
	}
	s.mu.out = append(s.mu.out, b[start:pos]...)
	s.mu.Unlock()
	notify(s.wake)
	return pos, err
}

// outOfBandLocked reports whether frame answers no command.
func (s *session) outOfBandLocked(frame []byte) bool {
	f := &s.mu.fifo
	if f.empty() {
		return true
	}
	switch frame[0] {
	case '>':
		return f.head().kind != entrySubscribe || !isConfirmation(frame)
	case '*':
		if (s.mu.subscriber || f.head().kind == entrySubscribe) && s.proto.Load() != 3 {
			switch string(firstBulk(frame)) {
			case "message", "pmessage", "smessage":
				return true
			}
		}
	case '+':
		return s.mu.monitor && frame[1] >= '0' && frame[1] <= '9'
	}
	return false
}

// isConfirmation reports whether frame confirms one channel of a subscription
// command.
func isConfirmation(frame []byte) bool {
	return (frame[0] == '>' || frame[0] == '*') && bytes.HasSuffix(firstBulk(frame), []byte("subscribe"))
}

// firstBulk is the first element of an aggregate if it is a bulk string.
func firstBulk(frame []byte) []byte {
	i := bytes.IndexByte(frame, '\n') + 1
	if i >= len(frame) || frame[i] != '$' {
		return nil
	}
	n, start, err := requestHead(frame, i, '$')
	if err != nil || start == 0 || start+n > len(frame) {
		return nil
	}
	return frame[start : start+n]
}

// answerHead answers commands the proxy answers itself, as long as one is the
// oldest in flight. It is called when one became that, by whoever made it so; the
// entry stays at the head until it is answered, so nobody else does it too.
func (s *session) answerHead() {
	for {
		s.mu.Lock()
		if s.mu.how != endNot || s.mu.fifo.empty() {
			s.mu.Unlock()
			return
		}
		h := s.mu.fifo.head()
		answer := h.answer
		if h.kind == entryReset {
			s.mu.renew = renewReset
			backend := s.mu.backend
			s.mu.Unlock()
			_ = backend.CloseWrite()
			_ = backend.SetReadDeadline(time.Now())
			return
		}
		local := h.kind == entryLocal
		s.mu.Unlock()
		if !local {
			return
		}
		answer()
		s.mu.Lock()
		s.mu.fifo.pop()
		s.mu.Unlock()
	}
}

// A renewal is why the server's side of a session is to be replaced. Only the
// embedded server's is.
type renewal uint8

const (
	renewNot     renewal = iota
	renewTimeout         // CLIENT UNBLOCK: as if the time were over
	renewError           // CLIENT UNBLOCK ERROR
	renewRefused         // its slot, or the primary's place, is another's now
	renewReset           // RESET
)

// unblock ends the blocking command the session waits in, if it does, and
// reports whether it did. The embedded server can't, but it drops a blocked
// command when its connection closes. Nothing else was forwarded meanwhile, so
// either the command is answered, or it had no effect.
func (s *session) unblock(how renewal) bool { return s.unblockSaying(how, "") }

// unblockError is unblock with an error of one's own.
func (s *session) unblockError(text string) bool { return s.unblockSaying(renewRefused, text) }

func (s *session) unblockSaying(how renewal, text string) bool {
	s.mu.Lock()
	if s.mu.how != endNot || s.mu.renew != renewNot || s.mu.fifo.empty() || s.mu.fifo.head().kind != entryBlocking {
		s.mu.Unlock()
		return false
	}
	done := make(chan bool, 1)
	s.mu.renew, s.mu.renewed, s.mu.renewText = how, done, text
	backend := s.mu.backend
	s.mu.Unlock()
	_ = backend.CloseWrite()
	_ = backend.SetReadDeadline(time.Now())
	return <-done // sent by renewBackend or end
}

// renewBackend replaces the server's side, which has closed, if that was asked
// for, and answers the command it was asked for. It returns nil otherwise.
func (s *session) renewBackend() duplex {
	s.mu.Lock()
	how, db, authed := s.mu.renew, s.mu.db, s.mu.authed
	ended := s.mu.how != endNot
	s.mu.Unlock()
	if how == renewNot || ended {
		return nil
	}
	proto := s.proto.Load()
	var user, password string
	if how == renewReset {
		s.sim.optOut(s)
		s.proto.Store(2)
		proto, db = 2, ""
	} else if authed {
		user, password = s.sim.cfg.Username, s.sim.cfg.Password
	}
	next, err := s.sim.engine.embedded.restore(proto, db, user, password)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.how != endNot {
		_ = next.Close()
		return nil
	}
	s.mu.renew, s.mu.backend = renewNot, next
	// A blocking command may have been answered before its connection closed.
	waiting := false
	if !s.mu.fifo.empty() {
		kind := s.mu.fifo.head().kind
		waiting = kind == entryBlocking || kind == entryReset
	}
	if waiting {
		switch {
		case how == renewReset:
			s.mu.out = appendSimple(s.mu.out, "RESET")
			s.mu.authed, s.mu.monitor, s.mu.db, s.mu.name = false, false, "", ""
		case how == renewRefused:
			s.mu.out = appendError(s.mu.out, s.mu.renewText)
		case how == renewError:
			s.mu.out = appendError(s.mu.out, "UNBLOCKED client unblocked via CLIENT UNBLOCK")
		case s.mu.fifo.head().array && proto != 3:
			s.mu.out = append(s.mu.out, "*-1\r\n"...)
		default:
			s.mu.out = appendNull(s.mu.out, proto)
		}
		s.mu.outReplies++
		s.mu.fifo.pop()
	}
	if s.mu.renewed != nil {
		s.mu.renewed <- waiting
		s.mu.renewed = nil
	}
	s.unholdLocked()
	notify(s.wake)
	return next
}

// blockedSlot is the slot of the blocking command the session waits in, or -1.
func (s *session) blockedSlot() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.how != endNot || s.mu.fifo.empty() || s.mu.fifo.head().kind != entryBlocking {
		return -1
	}
	return s.mu.fifo.head().slot
}

// blocked are the sessions that wait in a blocking command.
func (s *Sim) blocked() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessionsLocked(func(c *session) bool { return c.blockedSlot() >= 0 })
}
