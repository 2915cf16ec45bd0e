package load

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of /proc/stat.
const clockTick = 10 * time.Millisecond

// MachineCPU is the CPU time that all processes of the machine have used, those of
// other machines that share its hardware included. Interrupts are left out: the
// clients' own traffic makes them, and they may be no process's. Only Linux tells.
func MachineCPU() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseStat(text)
}

// parseStat reads the first line of /proc/stat:
//
//	cpu user nice system idle iowait irq softirq steal guest guest_nice
//
// The time of guests is part of user and nice.
func parseStat(text []byte) (time.Duration, error) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return 0, errors.New("/proc/stat: no line of all CPUs")
	}
	var ticks int64
	for i, name := range []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"} {
		n, err := strconv.ParseInt(string(fields[i+1]), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %s: %w", name, err)
		}
		switch name {
		case "user", "nice", "system", "steal":
			ticks += n
		}
	}
	return time.Duration(ticks) * clockTick, nil
}
