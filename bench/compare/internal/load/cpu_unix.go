//go:build unix

package load

import (
	"syscall"
	"time"
)

// ProcessCPU is the CPU time that this process has used.
func ProcessCPU() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
