package rig

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// ValueOf is a value of size bytes that tells which key it belongs to.
func ValueOf(key string, size int) string {
	unit := key + "|"
	return strings.Repeat(unit, size/len(unit)+1)[:size]
}

// StubSize is the size of the values that a Stub gives.
const StubSize = 64

// A Stub listens on many loopback addresses and seems to be a server on each, at a cost
// that hardly depends on how many there are. It stores nothing: GET is answered with
// ValueOf the key, SET with OK, and everything else as an unknown command.
type Stub struct {
	listeners []net.Listener // immutable
	wg        sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	closed bool
	conns  map[net.Conn]struct{}
}

// NewStub starts one with n addresses.
func NewStub(n int) (*Stub, error) {
	s := &Stub{conns: make(map[net.Conn]struct{})}
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.listeners = append(s.listeners, l)
	}
	for _, l := range s.listeners {
		s.wg.Go(func() { s.accept(l) })
	}
	return s, nil
}

// Addrs are where clients connect.
func (s *Stub) Addrs() (addrs []string) {
	for _, l := range s.listeners {
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}

func (s *Stub) accept(l net.Listener) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		isClosed := s.closed
		if !isClosed {
			s.conns[nc] = struct{}{}
		}
		s.mu.Unlock()
		if isClosed {
			_ = nc.Close()
			return
		}
		s.wg.Go(func() { s.serve(nc) })
	}
}

// stubBuffer holds what comes at one time, and what is said about it.
const stubBuffer = 64 << 10

// serve answers one client, all that has come together at one time.
func (s *Stub) serve(nc net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, nc)
		s.mu.Unlock()
		_ = nc.Close()
	}()
	in, out := bufio.NewReaderSize(nc, stubBuffer), bufio.NewWriterSize(nc, stubBuffer)
	var words [][]byte
	for {
		var err error
		if words, err = readWords(in, words[:0]); err != nil {
			return
		}
		answerAsStub(out, words)
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

// answerAsStub writes the reply to a command. An error of out stays until it is flushed.
func answerAsStub(out *bufio.Writer, words [][]byte) {
	switch {
	case len(words) == 2 && strings.EqualFold(string(words[0]), "get"):
		fmt.Fprintf(out, "$%d\r\n", StubSize)
		for left := StubSize; left > 0; {
			n, _ := out.Write(words[1][:min(left, len(words[1]))])
			if left -= n; left > 0 {
				_ = out.WriteByte('|')
				left--
			}
		}
		_, _ = out.WriteString("\r\n")
	case len(words) >= 3 && strings.EqualFold(string(words[0]), "set"):
		_, _ = out.WriteString("+OK\r\n")
	default:
		_, _ = out.WriteString("-ERR unknown command\r\n")
	}
}

// readWords reads one command into words, whose memory it uses again.
func readWords(in *bufio.Reader, words [][]byte) ([][]byte, error) {
	count, err := readLength(in, '*')
	if err != nil {
		return nil, err
	}
	for range count {
		size, err := readLength(in, '$')
		if err != nil {
			return nil, err
		}
		n := len(words)
		if n < cap(words) {
			words = words[:n+1]
		} else {
			words = append(words, nil)
		}
		words[n] = append(words[n][:0], make([]byte, size)...)
		if _, err := io.ReadFull(in, words[n]); err != nil {
			return nil, err
		}
		if _, err := in.Discard(len("\r\n")); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// maxStubLength is the most words, and the longest one, that a stub reads.
const maxStubLength = 1 << 20

func readLength(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < len("*1\r\n") || line[0] != kind {
		return 0, fmt.Errorf("%.20q is no length after %q", line, kind)
	}
	n, err := strconv.Atoi(string(line[1 : len(line)-2]))
	if err != nil || n < 0 || n > maxStubLength {
		return 0, fmt.Errorf("%.20q is no length", line)
	}
	return n, nil
}

// Close ends the stub and its connections.
func (s *Stub) Close() error {
	var errs []error
	for _, l := range s.listeners {
		errs = append(errs, l.Close())
	}
	s.mu.Lock()
	s.closed = true
	for nc := range s.conns {
		_ = nc.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return errors.Join(errs...)
}

// RoleStub is the name of the role ServeStub.
const RoleStub = "stub"

// ServeStub is the role of a process that is a stub. Its argument is with how many
// addresses; it prints them in one line and ends with in.
func ServeStub(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("a stub wants a number of addresses")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 {
		return fmt.Errorf("%q is no number of addresses", args[0])
	}
	s, err := NewStub(n)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, strings.Join(s.Addrs(), " ")+"\n"); err != nil {
		return errors.Join(err, s.Close())
	}
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, s.Close())
}

// SpawnStub starts a stub in a process of its own, which plays the role "stub".
func SpawnStub(ctx context.Context, n int) (c *Child, addrs []string, err error) {
	c, err = Spawn(ctx, RoleStub, strconv.Itoa(n))
	if err != nil {
		return nil, nil, err
	}
	line, err := c.Line()
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	return c, strings.Fields(line), nil
}
