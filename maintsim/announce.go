package maintsim

import (
	"math"
	"slices"
	"time"
)

// optInMode is what the proxies do with the opt-in command.
type optInMode uint8

const (
	optInAccepted optInMode = iota
	optInRefused            // as a server that doesn't know it
	optInFatal              // the connection is closed
)

// Support makes the proxies accept the opt-in command from now on.
func (s *Sim) Support() { s.setOptIn(optInAccepted) }

// Refuse makes the proxies refuse the opt-in command from now on. Connections
// that have opted in are told nothing any more.
func (s *Sim) Refuse() { s.setOptIn(optInRefused) }

// CloseOnOptIn makes the proxies close, from now on, every connection that sends
// the opt-in command, without a reply to it.
func (s *Sim) CloseOnOptIn() { s.setOptIn(optInFatal) }

func (s *Sim) setOptIn(m optInMode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.optIn = m
}

// SetVersion makes HELLO, and the embedded server's INFO, report another server
// version from now on, as after an upgrade; empty means the server's own again.
func (s *Sim) SetVersion(version string) { s.version.Store(&version) }

// reportedVersion is the version to report, own if none was set.
func (s *Sim) reportedVersion(own string) string {
	if v := s.version.Load(); v != nil && *v != "" {
		return *v
	}
	return own
}

// SetSeq makes the next notice have number seq, as after the database was made
// anew. Notices of windows that are open keep theirs.
func (s *Sim) SetSeq(seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.seq = seq
}

// Retain keeps a completion, MIGRATED or FAILED_OVER, of long ago for connections
// to come: each is told it when it opts in, until another one completes. Nobody is
// told now.
func (s *Sim) Retain(n Notice, seq int64, shards ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.retained = &completion{notice: n, seq: seq, shards: append([]string{}, shards...)}
}

// listenersLocked returns the sessions that opted in and can be told, by id.
func (s *Sim) listenersLocked() []*session {
	if s.mu.optIn == optInRefused {
		return nil
	}
	return s.sessionsLocked(func(c *session) bool { return c.maint != "" && c.proto.Load() == 3 })
}

// pickLocked returns which of all are among a fraction of them: all or none at 1
// and 0, else at random, but at least one and, of several, not all.
func (s *Sim) pickLocked(all []*session, fraction float64) (in, out []*session) {
	n := len(all)
	switch {
	case fraction >= 1:
		return all, nil
	case fraction <= 0:
		return nil, all
	case n == 0:
		return nil, nil
	}
	k := min(max(int(math.Round(fraction*float64(n))), 1), max(n-1, 1))
	all = slices.Clone(all)
	s.mu.rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:k], all[k:]
}

// openLocked makes w known to connections to come and tells those it concerns, a
// fraction of them.
func (s *Sim) openLocked(w *window, o options) (told int) {
	s.mu.windows = append(s.mu.windows, w)
	var concerned []*session
	for _, c := range s.listenersLocked() {
		if w.concerns(c.proxy, c.gen) {
			concerned = append(concerned, c)
		}
	}
	in, out := s.pickLocked(concerned, min(o.openingsTo, 1-o.reordered))
	w.nobody = o.openingsTo <= 0
	w.untold = make(map[*session]struct{}, len(out))
	for _, c := range out {
		w.untold[c] = struct{}{}
	}
	now := time.Now()
	var b []byte
	for _, c := range in {
		b = w.appendTo(b[:0], c.maint, now, s.cfg.TimeUnit)
		c.push(b)
	}
	s.mu.notices[w.notice] += uint64(len(in))
	return len(in)
}

// closeLocked forgets w and tells a fraction of the connections its completion,
// and those that are to be told in the wrong order w's opening behind it.
func (s *Sim) closeLocked(w *window, done *completion, o options) (told int) {
	s.mu.windows = removeWindow(s.mu.windows, w)
	if done == nil {
		return 0
	}
	if done.notice != SMigrated {
		s.mu.retained = done
	}
	in, _ := s.pickLocked(s.listenersLocked(), o.closingsTo)
	now := time.Now()
	var b []byte
	for _, c := range in {
		b = done.appendTo(b[:0])
		if _, ok := w.untold[c]; ok && o.reordered > 0 {
			b = w.appendTo(b, c.maint, now, s.cfg.TimeUnit)
			s.mu.notices[w.notice]++
		}
		c.push(b)
	}
	s.mu.notices[done.notice] += uint64(len(in))
	return len(in)
}

// Push sends frame, one complete RESP3 push or whatever is to be tried on a
// client, to every connection that opted in with RESP3, and returns how many that
// were. It lands between replies like any notice, and counts as none.
func (s *Sim) Push(frame string) (told int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.listenersLocked()
	for _, c := range all {
		c.push([]byte(frame))
	}
	return len(all)
}

// announceWait is how long a connection waits for the replies its announcements
// are to come behind.
const announceWait = 20 * time.Millisecond

// acceptOptIn answers CLIENT MAINT_NOTIFICATIONS ON with an endpoint type, and
// tells the connection what it missed.
func (s *Sim) acceptOptIn(c *session, endpointType string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ok := appendSimple(nil, "OK")
	first := c.maint == ""
	c.maint = endpointType
	if !first || c.proto.Load() != 3 {
		c.reply(ok)
		return
	}
	missed := s.appendMissedLocked(nil, c)
	if len(missed) == 0 || s.cfg.AnnounceAfter == 0 {
		c.reply(append(ok, missed...))
		return
	}
	c.replyThen(ok, missed, s.cfg.AnnounceAfter)
	s.laterLocked(announceWait, c.announce)
}

// appendMissedLocked appends what a connection that opts in is told: the windows
// that are open, and the last completion.
func (s *Sim) appendMissedLocked(b []byte, c *session) []byte {
	if !s.cfg.RetainedLast {
		b = s.appendRetainedLocked(b)
	}
	now := time.Now()
	for _, w := range s.mu.windows {
		if w.concerns(c.proxy, c.gen) && !w.nobody {
			b = w.appendTo(b, c.maint, now, s.cfg.TimeUnit)
			s.mu.notices[w.notice]++
		}
	}
	if s.cfg.RetainedLast {
		b = s.appendRetainedLocked(b)
	}
	return b
}

func (s *Sim) appendRetainedLocked(b []byte) []byte {
	r := s.mu.retained
	if r == nil {
		return b
	}
	s.mu.notices[r.notice]++
	return r.appendTo(b)
}

// optOut forgets that c opted in.
func (s *Sim) optOut(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.maint = ""
}
