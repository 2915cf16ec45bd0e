//go:build !unix

package gauge

import "time"

// cpuTime is not to be had here.
func cpuTime() time.Duration { return 0 }
