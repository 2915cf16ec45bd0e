package lane

import (
	"context"
	"hash/maphash"
	"sync/atomic"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// Replies come in the order of commands, so a large one holds up all behind it. Which
// command will have one is learned: a command whose reply was large goes, the next time
// it is sent in the same words, over a second link for large ones, as do commands that
// are large themselves. That link is opened when it is first needed.

// Numbers of the split.
const (
	// Large is how many bytes count as large, in either direction: a few dozen
	// microseconds of a network of 10 Gbit/s.
	Large = 32 << 10
	// longestKnown is the longest command that is remembered; others, as pipelines, are
	// hardly ever sent in the same words.
	longestKnown = 512
	// known is how many commands are remembered; a newer one takes an older one's place.
	known = 2048
)

// Split is the lane of ordinary commands: one link for those with small replies, and
// one for those with large ones. Commands of one caller, which waits for each, keep
// their order. Safe for concurrent use.
type Split struct {
	small, large *Shared // immutable

	seed   maphash.Seed          // immutable
	learnt atomic.Pointer[table] // nil: there was no large reply, so nothing is looked up
}

// table is what is remembered: sums of commands. It is much memory for a lane whose
// replies are small.
type table [known]atomic.Uint64

// NewSplit makes a lane of two.
func NewSplit(small, large *Shared) *Split {
	return &Split{small: small, large: large, seed: maphash.MakeSeed()}
}

// Do sends a request on the link for its kind; see Shared.Do.
func (s *Split) Do(ctx context.Context, q link.Request) (link.Done, error) {
	if len(q.Wire) >= Large {
		return s.large.Do(ctx, q)
	}
	learnt := s.learnt.Load()
	if learnt == nil || len(q.Wire) > longestKnown {
		d, err := s.small.Do(ctx, q)
		s.Learn(q.Wire, d.Bytes)
		return d, err
	}
	slot, sum := s.slot(learnt, q.Wire)
	if slot.Load() != sum {
		d, err := s.small.Do(ctx, q)
		if d.Bytes >= Large {
			slot.Store(sum)
		}
		return d, err
	}
	d, err := s.large.Do(ctx, q)
	if err == nil && d.Bytes < Large/2 {
		slot.CompareAndSwap(sum, 0)
	}
	return d, err
}

// Quick is the link that a short command may go straight to, unless its reply may be
// large: see IsLarge. nil: there is none for the time being. Who gets an error of that
// link tells it to Gone, and a large reply to Learn.
func (s *Split) Quick() *link.Link { return s.small.Current() }

// IsLarge tells whether the command of a key behind head had a large reply, so that it
// has to go by Do.
func (s *Split) IsLarge(head []byte, key string) bool {
	learnt := s.learnt.Load()
	return learnt != nil && s.knows(learnt, head, key)
}

func (s *Split) knows(learnt *table, head []byte, key string) bool {
	if len(head)+len(key) > longestKnown {
		return false
	}
	var room [longestKnown + 32]byte
	slot, sum := s.slot(learnt, resp.AppendBulk(append(room[:0], head...), key))
	return slot.Load() == sum
}

// Gone looks whether the link of Quick takes commands no more.
func (s *Split) Gone(l *link.Link) {
	if !l.Alive() {
		s.small.Dropped(l) // the next caller must not meet it again
	}
}

// Learn takes in how large the reply to a command was.
func (s *Split) Learn(wire []byte, bytes int) {
	if bytes >= Large && len(wire) <= longestKnown {
		s.learnt.CompareAndSwap(nil, new(table))
		slot, sum := s.slot(s.learnt.Load(), wire)
		slot.Store(sum)
	}
}

// slot is where a command is remembered, and as what.
func (s *Split) slot(learnt *table, wire []byte) (*atomic.Uint64, uint64) {
	sum := max(maphash.Bytes(s.seed, wire), 1) // 0 is nothing
	return &learnt[sum%known], sum
}

// Close closes both links.
func (s *Split) Close() {
	s.small.Close()
	s.large.Close()
}
