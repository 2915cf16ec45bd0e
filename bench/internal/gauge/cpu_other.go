//go:build !unix

package gauge

import "time"

// ProcessCPU is not known here.
func ProcessCPU() (time.Duration, error) { return 0, nil }
