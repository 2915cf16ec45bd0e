package rig

import (
	"syscall"
	"time"
)

// pause waits to some 50 us. A timer of the runtime can be a millisecond late where
// nothing else happens, and that is twice the delay of a near network.
func pause(d time.Duration) {
	if d <= 0 {
		return
	}
	t := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&t, &t) == syscall.EINTR { //nolint:errorlint // a system call gives its number
	}
}
