package rig

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
)

// DialAgreeing opens a connection on which any server seems to agree to send
// maintenance notifications: the client's command for it, which an open source server
// refuses, reaches it as SELECT 0, which it answers by OK as well. Nothing else is
// changed, and nothing costs anything after the handshake.
func DialAgreeing(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		_ = nc.Close()
		return nil, fmt.Errorf("%s is no TCP address", addr)
	}
	return &agreeingConn{TCPConn: tcp}, nil
}

// handshakeWrites is how many writes may hold the command: HELLO and what comes with
// it, or what follows where the server has to be known first.
const handshakeWrites = 2

// agreeingConn is a connection of DialAgreeing.
type agreeingConn struct {
	*net.TCPConn
	writes int // owned by whoever shakes hands, and not changed any more afterwards
}

// Write writes p, but for the command.
func (c *agreeingConn) Write(p []byte) (int, error) {
	if c.writes >= handshakeWrites {
		return c.TCPConn.Write(p)
	}
	c.writes++
	if _, err := c.TCPConn.Write(withoutOptIn(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// withoutOptIn gives commands with SELECT 0 in place of CLIENT MAINT_NOTIFICATIONS.
func withoutOptIn(p []byte) []byte {
	name := []byte("$6\r\nCLIENT\r\n$19\r\nMAINT_NOTIFICATIONS\r\n")
	at := bytes.Index(p, name)
	if at < 0 {
		return p
	}
	begin := bytes.LastIndexByte(p[:at], '*')
	count, err := strconv.Atoi(string(bytes.TrimSpace(p[begin+1 : at])))
	if err != nil {
		return p
	}
	end := at
	for range 2 * count { // the length of each argument, and the argument
		n := bytes.Index(p[end:], []byte("\r\n"))
		if n < 0 {
			return p
		}
		end += n + 2
	}
	out := append([]byte(nil), p[:begin]...)
	out = append(out, "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"...)
	return append(out, p[end:]...)
}
