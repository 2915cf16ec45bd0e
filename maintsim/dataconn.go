package maintsim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// A ServerError is an error reply, in the server's words.
type ServerError string

// Error returns the server's words.
func (e ServerError) Error() string { return string(e) }

func isServerError(err error) bool {
	_, ok := errors.AsType[ServerError](err)
	return ok
}

// dataConn is a RESP2 connection for one command at a time. It is not safe for
// concurrent use.
type dataConn struct {
	conn duplex
	br   *bufio.Reader
	buf  []byte
}

func newDataConn(c duplex) *dataConn {
	return &dataConn{conn: c, br: bufio.NewReader(c)}
}

// auth authenticates unless password is empty.
func (d *dataConn) auth(user, password string) error {
	if password == "" {
		return nil
	}
	args := []string{"AUTH", password}
	if user != "" {
		args = []string{"AUTH", user, password}
	}
	_, err := d.do(args...)
	return err
}

// do runs one command; see [Engine.Do].
func (d *dataConn) do(args ...string) (any, error) {
	if len(args) == 0 {
		return nil, errors.New("maintsim: empty command")
	}
	if err := d.conn.SetDeadline(time.Now().Add(doTimeout)); err != nil {
		return nil, fmt.Errorf("maintsim: %s: %w", args[0], err)
	}
	d.buf = appendCommand(d.buf[:0], args...)
	if _, err := d.conn.Write(d.buf); err != nil {
		return nil, fmt.Errorf("maintsim: %s: %w", args[0], err)
	}
	v, err := d.reply()
	if err != nil {
		return nil, fmt.Errorf("maintsim: %s: %w", args[0], err)
	}
	if e, ok := v.(ServerError); ok {
		return nil, e
	}
	return v, nil
}

// reply reads one RESP2 value; an error reply is a ServerError.
func (d *dataConn) reply() (any, error) {
	line, err := d.br.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, fmt.Errorf("bad reply line %q", line)
	}
	rest := line[1 : len(line)-2]
	switch line[0] {
	case '+':
		return rest, nil
	case '-':
		return ServerError(rest), nil
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '$':
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return nil, err
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(d.br, b); err != nil {
			return nil, err
		}
		return string(b[:n]), nil
	case '*', '%': // a map is read as the flat array it would be in RESP2
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return nil, err
		}
		if line[0] == '%' {
			n *= 2
		}
		list := make([]any, 0, min(n, 1024))
		for range n {
			v, err := d.reply()
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	}
	return nil, fmt.Errorf("bad reply line %q", line)
}
