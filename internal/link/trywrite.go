package link

import (
	"net"
	"syscall"
)

// tryWriter writes to a socket as much as it takes at once.
type tryWriter struct {
	raw syscall.RawConn // nil: this socket has to be written to in the ordinary way

	// For the callback of one write.
	buf  []byte
	n    int
	err  error
	once func(fd uintptr) bool
}

// use makes the writer write to nc, if it can.
func (w *tryWriter) use(nc net.Conn) {
	if w.raw = rawConn(nc); w.raw != nil {
		w.once = w.write
	}
}

// try writes what the socket takes without waiting. The error is of the socket; that it
// takes no more is none.
func (w *tryWriter) try(b []byte) (int, error) {
	w.buf, w.n, w.err = b, 0, nil
	err := w.raw.Write(w.once)
	w.buf = nil
	if err == nil {
		err = w.err
	}
	return w.n, err
}

// rawConn gives the system's side of a socket; nil: it has none, or something else is
// in front of it that may do something with the bytes.
func rawConn(nc net.Conn) syscall.RawConn {
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return nil
	}
	raw, err := nc.(syscall.Conn).SyscallConn()
	if err != nil || !canPoll {
		return nil
	}
	return raw
}
