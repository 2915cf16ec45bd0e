package lane

import (
	"context"
	"hash/maphash"
	"sync/atomic"

	"github.com/baton-go/redis/internal/link"
)

// Replies come in the order of commands, so a large one holds up all behind it. Which
// command will have one is learned: a command whose reply was large goes, the next time
// it is sent in the same words, over a second link for large ones, as do commands that
// are large themselves. That link is opened when it is first needed.

// Numbers of the split.
const (
	// largeBytes is what counts as large, in either direction: a few dozen
	// microseconds of a network of 10 Gbit/s.
	largeBytes = 32 << 10
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
	if len(q.Wire) >= largeBytes {
		return s.large.Do(ctx, q)
	}
	learnt := s.learnt.Load()
	if learnt == nil || len(q.Wire) > longestKnown {
		d, err := s.small.Do(ctx, q)
		if d.Bytes >= largeBytes && len(q.Wire) <= longestKnown {
			s.learnt.CompareAndSwap(nil, new(table))
			slot, sum := s.slot(s.learnt.Load(), q.Wire)
			slot.Store(sum)
		}
		return d, err
	}
	slot, sum := s.slot(learnt, q.Wire)
	if slot.Load() != sum {
		d, err := s.small.Do(ctx, q)
		if d.Bytes >= largeBytes {
			slot.Store(sum)
		}
		return d, err
	}
	d, err := s.large.Do(ctx, q)
	if err == nil && d.Bytes < largeBytes/2 {
		slot.CompareAndSwap(sum, 0)
	}
	return d, err
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
