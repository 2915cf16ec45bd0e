//go:build !unix

package link

import (
	"errors"
	"time"
)

const canPoll = false

func (*poller) poll([]byte) (int, error) { return 0, errors.ErrUnsupported }

func (*poller) attempt(uintptr) bool { return true }

func processCPU() time.Duration { return 0 }

func (*tryWriter) write(uintptr) bool { return true }
