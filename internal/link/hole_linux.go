package link

import (
	"net"
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall has for some processors only.
const tcpUserTimeout = 0x12

// LimitHole makes the system end a connection whose peer has acknowledged no byte of what
// was sent for d. Keep-alive asks only peers to which nothing is on its way. A socket that
// knows nothing of that stays as it is.
func LimitHole(nc net.Conn, d time.Duration) {
	t, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(d.Milliseconds()))
	})
}
