// Package invariants checks at run time what must always hold. The checks are
// on in builds with the race detector or with -tags invariants, and compile to
// nothing otherwise. A failed check panics: it is a bug of this module, never
// of its user.
package invariants

import (
	"fmt"
	"sync/atomic"
)

// Check panics with the formatted message if cond is false and checks are
// enabled. Its arguments are evaluated in every build; where that costs, guard
// the call with [Enabled].
func Check(cond bool, format string, args ...any) {
	if Enabled && !cond {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}

// Closed watches that something is closed once, and not used after that. The
// zero value is open. It is safe for concurrent use.
type Closed struct {
	closed atomic.Bool
}

// Close marks c as closed. It panics if c was closed before and checks are
// enabled.
func (c *Closed) Close() {
	if Enabled && c.closed.Swap(true) {
		panic("invariant broken: closed twice")
	}
}

// CheckOpen panics if c is closed and checks are enabled.
func (c *Closed) CheckOpen() {
	if Enabled && c.closed.Load() {
		panic("invariant broken: used after close")
	}
}

// scribbled is what Scribble leaves behind.
const scribbled = 0xDB

// Scribble overwrites b if checks are enabled. Call it on memory that nobody
// may read any more, so that whoever still does sees garbage.
func Scribble(b []byte) {
	if Enabled {
		for i := range b {
			b[i] = scribbled
		}
	}
}
