package maintsim

import (
	"maps"
	"slices"
	"time"
)

// Stats are counts since the start, and what is open now.
type Stats struct {
	Proxies  []ProxyStats
	Commands uint64            // forwarded to the server
	Answered uint64            // answered by the proxies themselves
	Lookups  uint64            // of names, whatever came of them
	Notices  map[Notice]uint64 // sent, one for each connection told
	Cuts     []CutStats        // in order, one for each cut and each proxy that closed
}

// ProxyStats are the counts of one proxy.
type ProxyStats struct {
	Addr      string
	Listening bool
	Accepted  uint64 // connections since the start
	Open      int    // connections now
	OptedIn   int    // of those open, how many asked for notices
}

// CutStats say what one close or cut did.
type CutStats struct {
	Time        time.Time
	Connections int
	InFlight    int // commands read from clients whose replies were not sent
}

// Open is the number of open connections over all proxies.
func (s Stats) Open() int {
	n := 0
	for _, p := range s.Proxies {
		n += p.Open
	}
	return n
}

// OptedIn is the number of open connections that asked for notices.
func (s Stats) OptedIn() int {
	n := 0
	for _, p := range s.Proxies {
		n += p.OptedIn
	}
	return n
}

// Stats returns a consistent copy of the counts. It may be called at any time.
func (s *Sim) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{
		Commands: s.commands.Load(),
		Answered: s.answered.Load(),
		Lookups:  s.lookedUp.Load(),
		Notices:  maps.Clone(s.mu.notices),
		Cuts:     slices.Clone(s.mu.cuts),
	}
	for _, p := range s.proxies {
		ps := ProxyStats{Addr: p.addr, Listening: p.ln != nil, Accepted: p.accepted}
		for c := range p.sessions {
			if c.hasEnded() {
				continue
			}
			ps.Open++
			if c.maint != "" {
				ps.OptedIn++
			}
		}
		st.Proxies = append(st.Proxies, ps)
	}
	return st
}
