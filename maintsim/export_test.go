package maintsim

// Holding reports whether replies are held back at present.
func (s *Sim) Holding() bool { return s.gate.Load() != nil }

// Sessions is the number of sessions, those included that have ended and wait
// for the server or the client.
func (s *Sim) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, p := range s.proxies {
		n += len(p.sessions)
	}
	return n
}

// Blocked is the number of sessions that wait in a blocking command.
func (s *Sim) Blocked() int { return len(s.blocked()) }
