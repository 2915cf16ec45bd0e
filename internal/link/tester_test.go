package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/resp"
	"github.com/baton-go/redis/internal/simnet"
)

const addr = "10.0.0.1:6379"

// The timeouts of a tester's links.
const (
	readTimeout  = 3 * time.Second
	writeTimeout = 2 * time.Second
)

// A tester is a network with one address to listen at, in a bubble. Its links have
// the settings of cfg; a test changes these before it opens one.
type tester struct {
	*testing.T
	net   *simnet.Network
	l     net.Listener
	start time.Time
	cfg   Config
	bend  func(nc net.Conn) net.Conn // nil, or changes what a link gets as its socket
}

// bubble runs f in a bubble, which also finds every goroutine a link leaves behind:
// once with links that are read by their readers, and once with those whose callers read
// as often as they can.
func bubble(t *testing.T, f func(t *tester)) {
	t.Helper()
	t.Run("reader", func(t *testing.T) { bubbleSolo(t, math.MaxInt, f) })
	t.Run("solo", func(t *testing.T) { bubbleSolo(t, -1, f) })
}

// bubbleSolo runs f in a bubble with links that leave the socket to lone callers after
// so many replies; -1: from the start.
func bubbleSolo(t *testing.T, soloAfter int, f func(t *tester)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New()
		defer func() {
			n.Close()
			time.Sleep(2 * soloRest) // until the readers of links at rest see it
		}()
		l, err := n.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		f(&tester{
			T: t, net: n, l: l, start: time.Now(),
			cfg: Config{Endpoint: addr, Timeouts: NewTimeouts(readTimeout, writeTimeout), soloAfter: soloAfter},
		})
	})
}

// connect makes a socket and the server at its other end.
func (t *tester) connect() (net.Conn, *server) {
	t.Helper()
	nc, err := t.net.Dial(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := t.l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	srv := &server{t: t, c: sc.(*simnet.Conn), r: bufio.NewReader(sc)}
	if t.bend != nil {
		nc = t.bend(nc)
	}
	return nc, srv
}

// link opens a link that needs no handshake, and starts it.
func (t *tester) link() (*Link, *server) {
	t.Helper()
	nc, srv := t.connect()
	l, err := Open(t.Context(), nc, t.cfg, Handshake{Protocol: 2})
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	return l, srv
}

// at checks how much time has passed since the bubble began.
func (t *tester) at(want time.Duration) {
	t.Helper()
	if got := time.Since(t.start); got != want {
		t.Errorf("got here after %v, want %v", got, want)
	}
}

// A server is one connection as its server sees it; the test itself plays it.
type server struct {
	t *tester
	c *simnet.Conn
	r *bufio.Reader
}

// Expect reads commands and checks them; arguments are separated by blanks.
func (s *server) Expect(commands ...string) {
	s.t.Helper()
	for _, want := range commands {
		got, err := readCommand(s.r)
		if err != nil {
			s.t.Fatalf("got %v, want the command %q", err, want)
		}
		if got != want {
			s.t.Fatalf("got the command %q, want %q", got, want)
		}
	}
}

// Reply sends bytes.
func (s *server) Reply(b string) {
	s.t.Helper()
	if _, err := io.WriteString(s.c, b); err != nil {
		s.t.Fatal(err)
	}
}

// Push sends a push with the given elements.
func (s *server) Push(elems ...string) {
	s.t.Helper()
	s.Reply(pushFrame(elems...))
}

// ExpectClose checks that the client closes the connection without another byte.
func (s *server) ExpectClose() {
	s.t.Helper()
	if b, err := s.r.ReadByte(); !errors.Is(err, io.EOF) {
		s.t.Errorf("got %q, %v, want EOF", b, err)
	}
}

// readCommand reads one command and joins its arguments by blanks.
func readCommand(r *bufio.Reader) (string, error) {
	var n int
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	if _, err := fmt.Sscanf(line, "*%d\r\n", &n); err != nil {
		return "", fmt.Errorf("%q is no command: %w", line, err)
	}
	args := make([]string, n)
	for i := range args {
		var size int
		if line, err = r.ReadString('\n'); err != nil {
			return "", err
		}
		if _, err := fmt.Sscanf(line, "$%d\r\n", &size); err != nil {
			return "", fmt.Errorf("%q is no argument: %w", line, err)
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		args[i] = string(b[:size])
	}
	return strings.Join(args, " "), nil
}

// wire encodes a command whose arguments are separated by blanks.
func wire(command string) []byte {
	args := strings.Split(command, " ")
	b := resp.AppendArrayLen(nil, len(args))
	for _, a := range args {
		b = resp.AppendBulk(b, a)
	}
	return b
}

func bulk(s string) string { return string(resp.AppendBulk(nil, s)) }

func pushFrame(elems ...string) string {
	b := resp.AppendPushLen(nil, len(elems), 3)
	for _, e := range elems {
		b = resp.AppendBulk(b, e)
	}
	return string(b)
}

// replies keeps the frames it is given.
type replies struct {
	mu     sync.Mutex // guards frames
	frames []string
}

func (r *replies) Reply(i int, frame []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i != len(r.frames) {
		panic(fmt.Sprintf("got reply number %d, want %d", i, len(r.frames)))
	}
	r.frames = append(r.frames, string(frame))
}

func (r *replies) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.frames)
}

// A running is a command somebody waits for.
type running struct {
	t    *tester
	name string
	sink replies
	done chan struct{} // closed when the fields below are set
	n    int
	err  error
	took time.Duration // since the bubble began
}

// Do sends a command of a caller that can't be cancelled, and returns when it has
// gone out or hangs.
func (t *tester) Do(l *Link, command string) *running {
	return t.Request(context.Background(), l, command, Request{})
}

// Request is Do with the fields of q that aren't zero.
func (t *tester) Request(ctx context.Context, l *Link, command string, q Request) *running {
	r := &running{t: t, name: fmt.Sprintf("%.20s", command), done: make(chan struct{})}
	if q.Wire == nil {
		q.Wire = wire(command)
	}
	q.Replies = max(q.Replies, 1)
	q.Sink = &r.sink
	go func() {
		var d Done
		d, r.err = l.Do(ctx, q)
		r.n = d.Replies
		r.took = time.Since(t.start)
		close(r.done)
	}()
	synctest.Wait()
	return r
}

// Ended tells whether the command has its outcome.
func (r *running) Ended() bool {
	synctest.Wait()
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Want waits for the replies and checks them.
func (r *running) Want(frames ...string) {
	r.t.Helper()
	<-r.done
	if r.err != nil || r.n != len(frames) {
		r.t.Errorf("%s: got %d replies, %v, want %d without error", r.name, r.n, r.err, len(frames))
	}
	if d := cmp.Diff(frames, r.sink.all()); d != "" {
		r.t.Errorf("%s: replies (-want +got):\n%s", r.name, d)
	}
}

// WantError waits for the failure and checks it: how far the command got, the
// cause, and how many replies came before.
func (r *running) WantError(want Delivery, cause error, replies int) *Error {
	r.t.Helper()
	<-r.done
	var e *Error
	if !errors.As(r.err, &e) {
		r.t.Fatalf("%s: got %v, want a *link.Error", r.name, r.err)
	}
	if e.Delivery != want || r.n != replies || len(r.sink.all()) != replies {
		r.t.Errorf("%s: got %v after %d replies (the sink has %d), want %v after %d: %v",
			r.name, e.Delivery, r.n, len(r.sink.all()), want, replies, e)
	}
	if cause != nil && !errors.Is(e, cause) {
		r.t.Errorf("%s: got the cause %v, want %v", r.name, e.Err, cause)
	}
	if e.Endpoint != addr {
		r.t.Errorf("%s: got the endpoint %q, want %q", r.name, e.Endpoint, addr)
	}
	return e
}

// WantTimeout waits for a timeout of the link and checks when it came.
func (r *running) WantTimeout(op string, after, at time.Duration) {
	r.t.Helper()
	e := r.WantError(MaybeSent, nil, 0)
	te, ok := errors.AsType[*TimeoutError](e)
	if !ok || te.Op != op || te.After != after || !e.Timeout() {
		r.t.Errorf("%s: got %v, want a %s timeout after %v", r.name, e.Err, op, after)
	}
	r.Took(at)
}

// Took checks when the command had its outcome, counted from the bubble's start.
func (r *running) Took(want time.Duration) {
	r.t.Helper()
	<-r.done
	if r.took != want {
		r.t.Errorf("%s: got the outcome after %v, want %v", r.name, r.took, want)
	}
}

// bentConn is a socket whose writes do something else.
type bentConn struct {
	net.Conn
	write func(nc net.Conn, p []byte) (int, error)
}

func (b *bentConn) Write(p []byte) (int, error) { return b.write(b.Conn, p) }

// gone checks that a link has died and left nothing behind.
func (t *tester) gone(l *Link) {
	t.Helper()
	synctest.Wait()
	select {
	case <-l.Gone():
	default:
		t.Fatal("the link is not gone")
	}
	if n := l.InFlight(); n != 0 || l.Alive() || l.Err() == nil {
		t.Errorf("got %d in flight, alive %v, error %v on a dead link", n, l.Alive(), l.Err())
	}
}
