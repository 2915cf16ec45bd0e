//go:build !unix

package load

import "time"

// processCPU is not known here.
func processCPU() (time.Duration, error) { return 0, nil }
