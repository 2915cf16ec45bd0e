//go:build unix

package link

import (
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
)

const canPoll = true

// pollYield is how many looks a poll takes until it lets other goroutines run and
// looks at the clock.
const pollYield = 4

// poll reads, and polls before it sleeps.
func (p *poller) poll(buf []byte) (int, error) {
	p.buf, p.n, p.err, p.waiting = buf, 0, nil, false
	err := p.raw.Read(p.try)
	p.buf = nil
	switch {
	case err != nil:
		return 0, err
	case p.err != nil:
		return 0, os.NewSyscallError("read", p.err)
	case p.n == 0:
		return 0, io.EOF
	}
	return p.n, nil
}

// attempt is what RawConn.Read calls: first when nobody has looked yet, and then each
// time the socket has become readable. False makes it wait for that.
func (p *poller) attempt(fd uintptr) bool {
	var began time.Time
	for i := 0; ; i++ {
		n, err := syscall.Read(int(fd), p.buf)
		switch {
		case err == syscall.EINTR: //nolint:errorlint // a system call's errors are never wrapped
			continue
		case err != syscall.EAGAIN: //nolint:errorlint // the same
			p.n, p.err = n, err
			return true
		case p.waiting:
			return false
		case i%pollYield != pollYield-1:
			continue
		}
		runtime.Gosched()
		switch {
		case began.IsZero():
			began = time.Now()
		case time.Since(began) > pollFor:
			p.waiting = true
			return false
		}
	}
}

// processCPU is the processor time that the process has used; 0 where it is not known.
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// write is what RawConn.Write calls. True makes it return at once.
func (w *tryWriter) write(fd uintptr) bool {
	for len(w.buf) > w.n {
		n, err := syscall.Write(int(fd), w.buf[w.n:])
		switch {
		case err == syscall.EINTR: //nolint:errorlint // a system call's errors are never wrapped
			continue
		case err == syscall.EAGAIN: //nolint:errorlint // the same
			return true
		case err != nil:
			w.err = os.NewSyscallError("write", err)
			return true
		}
		w.n += n
	}
	return true
}
