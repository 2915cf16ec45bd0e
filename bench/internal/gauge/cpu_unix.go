//go:build unix

package gauge

import (
	"syscall"
	"time"
)

// ProcessCPU is the CPU time that this process has used.
func ProcessCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
