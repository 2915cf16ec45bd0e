//go:build !linux

package rig

import "time"

// pause waits, to a millisecond or so.
func pause(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}
