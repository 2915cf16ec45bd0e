package maintsim

import (
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"time"
)

// Writes says how bytes go to clients: in one write each time there are some, or
// gathered, or torn at any byte. What is sent doesn't change, and its order
// neither. The zero value writes at once and in one piece.
type Writes struct {
	// Gather is how long bytes are collected before they are written together,
	// so that notices and replies come in one piece.
	Gather time.Duration

	// MaxPiece tears every write into pieces of random sizes from 1 to it. Zero
	// means that none is torn.
	MaxPiece int

	// At are offsets at which every write is torn, from its beginning. A frame
	// pushed to a connection that is idle is a write of its own.
	At []int

	// Pause passes between the pieces of a write. Zero means 200 µs, so that a
	// client reads them one by one.
	Pause time.Duration
}

const defaultPause = 200 * time.Microsecond

func (w Writes) validate() error {
	if w.Gather < 0 || w.Pause < 0 || w.MaxPiece < 0 || slices.ContainsFunc(w.At, func(n int) bool { return n < 0 }) {
		return errors.New("maintsim: Writes with negative values")
	}
	return nil
}

// plain reports whether w does nothing.
func (w Writes) plain() bool { return w.Gather == 0 && w.MaxPiece == 0 && len(w.At) == 0 }

// SetWrites changes how bytes go to all clients from now on. It panics if w is
// not valid.
func (s *Sim) SetWrites(w Writes) {
	if err := w.validate(); err != nil {
		panic(err)
	}
	if w.plain() {
		s.writes.Store(nil)
		return
	}
	w.At = slices.Sorted(slices.Values(w.At))
	if w.Pause == 0 {
		w.Pause = defaultPause
	}
	s.writes.Store(&w)
}

// pieces returns the ends of the pieces n bytes are written in.
func (w *Writes) pieces(n int, rng *rand.Rand) []int {
	var ends []int
	if w.MaxPiece > 0 {
		for end := 0; end < n; {
			end += 1 + rng.IntN(w.MaxPiece)
			ends = append(ends, min(end, n))
		}
	}
	for _, at := range w.At {
		if at > 0 && at < n {
			ends = append(ends, at)
		}
	}
	ends = append(ends, n)
	slices.Sort(ends)
	return slices.Compact(ends)
}

// write sends b to conn in pieces, without pauses once ended is closed.
func (w *Writes) write(conn net.Conn, b []byte, rng *rand.Rand, ended <-chan struct{}) error {
	var timer *time.Timer
	start := 0
	for _, end := range w.pieces(len(b), rng) {
		if start > 0 {
			if timer == nil {
				timer = time.NewTimer(w.Pause)
				defer timer.Stop()
			} else {
				timer.Reset(w.Pause)
			}
			select {
			case <-timer.C:
			case <-ended:
			}
		}
		if _, err := conn.Write(b[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// gather lets more bytes come together, unless the session ends.
func (w *Writes) gather(ended <-chan struct{}) {
	if w.Gather == 0 {
		return
	}
	timer := time.NewTimer(w.Gather)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ended:
	}
}
