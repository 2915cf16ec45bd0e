package cluster

import (
	"slices"
	"time"
)

// Seen remembers which notices have been acted upon. Every node sends SMIGRATED to
// every connection that asked for it, with the same sequence number, and it must be
// acted upon once.
//
// Numbers are forgotten after a while, because they start again when a database is
// created anew, and then a new event has the number of an old one. Kinds of notices
// that share numbers need a Seen each.
//
// It belongs to one goroutine at a time. The zero value remembers nothing.
type Seen struct {
	size    int
	age     time.Duration
	entries []sighting // oldest first, at most size
}

type sighting struct {
	seq int64
	at  time.Time
}

// NewSeen returns a Seen that remembers at most size numbers, the latest, none
// longer than age.
func NewSeen(size int, age time.Duration) Seen { return Seen{size: size, age: age} }

// First tells whether seq comes for the first time, and remembers it. Being seen
// again doesn't make it younger.
func (s *Seen) First(seq int64, now time.Time) bool {
	s.expire(now)
	if slices.ContainsFunc(s.entries, func(e sighting) bool { return e.seq == seq }) {
		return false
	}
	if s.size <= 0 {
		return true
	}
	if extra := len(s.entries) - s.size + 1; extra > 0 {
		s.entries = slices.Delete(s.entries, 0, extra)
	}
	s.entries = append(s.entries, sighting{seq, now})
	return true
}

// expire forgets what is as old as age or older. A clock that was set back doesn't
// harm: what seems to be of the future is forgotten in its turn.
func (s *Seen) expire(now time.Time) {
	s.entries = slices.DeleteFunc(s.entries, func(e sighting) bool { return now.Sub(e.at) >= s.age })
}

// Len returns how many numbers are remembered.
func (s *Seen) Len() int { return len(s.entries) }
