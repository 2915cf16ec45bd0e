//go:build unix

package maintsim

import (
	"net"
	"syscall"
)

// shrinkBacklog makes ln queue as few connections that nobody accepts as the
// system lets it.
func shrinkBacklog(ln net.Listener) bool {
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.Listen(int(fd), 0) }); err != nil {
		return false
	}
	return failed == nil
}
