package link

import (
	"crypto/tls"
	"net"
	"os"
)

// TLS hands over one record in each read, however many have come. A server answers each
// record of commands by a record of replies, so that a batch would never get larger than
// the one before. A gate below TLS knows where records end and whether another one is
// there, so that all of them are read before callers are woken.

const (
	recordHeader = 5 // of a TLS record: its type, its version, the length of the rest
	gateBuffer   = 64 << 10
)

// gate is a socket that is read record by record. Reads must not overlap; everything
// else is as safe as the socket.
type gate struct {
	net.Conn
	buf  []byte // nil before the first read
	r, w int    // unread part of buf
	left int    // bytes of the record at r that TLS has not read; 0: a record begins at r
	dry  bool   // reads must not wait
}

// Gate prepares a socket for TLS: tls.Client on what it returns makes a connection that
// links read faster.
func Gate(nc net.Conn) net.Conn { return &gate{Conn: nc} }

// gateOf is the gate below a TLS connection, nil where there is none.
func gateOf(nc net.Conn) *gate {
	if t, ok := nc.(*tls.Conn); ok {
		if g, ok := t.NetConn().(*gate); ok {
			return g
		}
	}
	return nil
}

// Read gives no more than the rest of one record.
func (g *gate) Read(p []byte) (int, error) {
	for g.r == g.w || g.left == 0 && g.w-g.r < recordHeader {
		if g.dry {
			return 0, os.ErrDeadlineExceeded // to TLS it is no failure, but a read to be repeated
		}
		if err := g.fill(g.Conn.Read); err != nil {
			return 0, err
		}
	}
	if g.left == 0 {
		g.left = recordSize(g.buf[g.r:])
	}
	n := copy(p, g.buf[g.r:min(g.w, g.r+g.left)])
	g.r += n
	g.left -= n
	return n, nil
}

// fill gets more bytes by read.
func (g *gate) fill(read func([]byte) (int, error)) error {
	if g.buf == nil {
		g.buf = make([]byte, gateBuffer)
	}
	if g.r > 0 {
		g.w = copy(g.buf, g.buf[g.r:g.w])
		g.r = 0
	}
	n, err := read(g.buf[g.w:])
	g.w += n
	if n > 0 {
		return nil // an error comes again
	}
	return err
}

// ready tells whether a whole record is there.
func (g *gate) ready() bool {
	b := g.buf[g.r:g.w]
	if g.left > 0 {
		return len(b) >= g.left
	}
	return len(b) >= recordHeader && len(b) >= recordSize(b)
}

// recordSize is the size of the record whose header b begins with. A record is smaller
// than the buffer; one that says otherwise is refused by TLS.
func recordSize(b []byte) int { return recordHeader + int(b[3])<<8 + int(b[4]) }

// readAll reads from the TLS connection above: it waits for bytes, and then takes what
// is there of other records, as far as there is room.
func (g *gate) readAll(nc net.Conn, buf []byte) (int, error) {
	n, err := nc.Read(buf)
	for err == nil && n < len(buf) && g.ready() {
		var more int
		g.dry = true // the record may hold no bytes for us
		more, err = nc.Read(buf[n:])
		g.dry = false
		n += more
	}
	if n > 0 {
		err = nil // it comes again
	}
	return n, err
}
