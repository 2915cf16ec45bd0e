package realserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// talkTimeout bounds one exchange whose context has no deadline.
const talkTimeout = 5 * time.Second

// A ReplyError is an error that a server answered with, in its words.
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// A session is a connection on which one goroutine talks RESP2 to a server.
type session struct {
	conn net.Conn
	r    *bufio.Reader
}

// openSession connects to a server; password "" means that it wants none. It ends
// with ctx, but must be closed by whoever opened it.
func openSession(ctx context.Context, addr, password string) (*session, error) {
	dialer := net.Dialer{Timeout: talkTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, r: bufio.NewReader(conn)}
	if password != "" {
		if _, err := s.do(ctx, "AUTH", password); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *session) close() { _ = s.conn.Close() }

// do sends one command and returns its reply: a string, an int64, nil or a []any of
// these. An error reply is a ReplyError, inside an array too.
func (s *session) do(ctx context.Context, words ...string) (any, error) {
	replies, err := s.doAll(ctx, [][]string{words})
	if err != nil {
		return nil, err
	}
	return replies[0], nil
}

// doAll sends commands at once and returns their replies, or the first error among them.
func (s *session) doAll(ctx context.Context, commands [][]string) ([]any, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(talkTimeout)
	}
	if err := s.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	replies, failed, err := s.exchange(commands)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		words := commands[failed]
		return nil, fmt.Errorf("%s: %w", strings.Join(words[:min(3, len(words))], " "), err)
	}
	return replies, nil
}

// exchange is doAll without a bound. With an error it tells which command failed first.
func (s *session) exchange(commands [][]string) (replies []any, failed int, err error) {
	var text strings.Builder
	for _, words := range commands {
		_ = writeCommand(&text, words) // to memory
	}
	if _, err := io.WriteString(s.conn, text.String()); err != nil {
		return nil, 0, err
	}
	var refused error
	for i := range commands {
		reply, err := readReply(s.r)
		if err != nil {
			return nil, i, err
		}
		if refusal, ok := reply.(ReplyError); ok && refused == nil {
			refused, failed = refusal, i
		}
		replies = append(replies, reply)
	}
	return replies, failed, refused
}

// text is do for a reply that is a string.
func (s *session) text(ctx context.Context, words ...string) (string, error) {
	reply, err := s.do(ctx, words...)
	if err != nil {
		return "", err
	}
	text, ok := reply.(string)
	if !ok {
		return "", fmt.Errorf("%s: got %v, want a string", strings.Join(words, " "), reply)
	}
	return text, nil
}

func writeCommand(w io.Writer, words []string) error {
	var command strings.Builder
	fmt.Fprintf(&command, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&command, "$%d\r\n%s\r\n", len(word), word)
	}
	_, err := io.WriteString(w, command.String())
	return err
}

// readReply reads one reply of RESP2.
func readReply(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty line is no reply")
	}
	switch rest := line[1:]; line[0] {
	case '+':
		return rest, nil
	case '-':
		return ReplyError(rest), nil
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '$':
		return readBulk(r, rest)
	case '*':
		return readArray(r, rest)
	}
	return nil, fmt.Errorf("%q is no reply of RESP2", line)
}

func readBulk(r *bufio.Reader, size string) (any, error) {
	n, err := strconv.Atoi(size)
	if err != nil || n < 0 {
		return nil, err
	}
	bulk := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(r, bulk); err != nil {
		return nil, err
	}
	return string(bulk[:n]), nil
}

func readArray(r *bufio.Reader, size string) (any, error) {
	n, err := strconv.Atoi(size)
	if err != nil || n < 0 {
		return nil, err
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = readReply(r); err != nil {
			return nil, err
		}
	}
	return list, nil
}
