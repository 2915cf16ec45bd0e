package endpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
	"github.com/baton-go/redis/internal/simnet"
	"github.com/baton-go/redis/maintnotifications"
)

// The addresses of the tests: the old server, its successor, another one.
const (
	oldAddr   = "10.0.0.1:6379"
	newAddr   = "10.0.0.2:6379"
	otherAddr = "10.0.0.3:6379"
)

const (
	readTimeout    = 3 * time.Second
	relaxedTimeout = 10 * time.Second
)

// A tester is a network in a bubble and what an endpoint there is to be like; a test
// changes cfg before it makes one.
type tester struct {
	*testing.T
	net   *simnet.Network
	start time.Time
	cfg   Config

	mu      sync.Mutex // guards the fields below
	dialled []string   // addresses, in their order
	dialing int
	atOnce  int // the most dials at one time
}

func bubble(t *testing.T, f func(t *tester)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New()
		defer n.Close()
		maint := &maintnotifications.Config{
			Mode: maintnotifications.ModeAuto, EndpointType: maintnotifications.EndpointTypeAuto,
			RelaxedTimeout: relaxedTimeout, HandoffTimeout: 15 * time.Second, MaxWorkers: 3, HandoffQueueSize: 100,
			PostHandoffRelaxedDuration: 20 * time.Second, CircuitBreakerFailureThreshold: 100,
			CircuitBreakerResetTimeout: time.Minute, CircuitBreakerMaxRequests: 3, MaxHandoffRetries: 3,
		}
		manager, err := maintnotifications.NewManager(maint, nil)
		if err != nil {
			t.Fatal(err)
		}
		tt := &tester{T: t, net: n, start: time.Now()}
		tt.cfg = Config{
			Network: "tcp", Addr: oldAddr, Dial: tt.dial, Resolver: n,
			Handshake:   func(context.Context) (link.Handshake, error) { return link.Handshake{Protocol: 3}, nil },
			DialTimeout: 5 * time.Second, DialRetries: 1, DialBackoff: func(int) time.Duration { return time.Second },
			ReadTimeout: readTimeout, WriteTimeout: readTimeout,
			Pool:  lane.PoolConfig{Size: 20, Timeout: time.Minute},
			Maint: maint, Manager: manager, Logger: slog.New(slog.DiscardHandler),
		}
		f(tt)
	})
}

// dial is the endpoint's; it counts.
func (t *tester) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	t.mu.Lock()
	t.dialled = append(t.dialled, addr)
	t.dialing++
	t.atOnce = max(t.atOnce, t.dialing)
	t.mu.Unlock()
	nc, err := t.net.Dial(ctx, network, addr)
	t.mu.Lock()
	t.dialing--
	t.mu.Unlock()
	return nc, err
}

// dials is how often addr was dialled.
func (t *tester) dials(addr string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.dialled {
		if a == addr {
			n++
		}
	}
	return n
}

// at checks how much time has passed since the bubble began.
func (t *tester) at(want time.Duration) {
	t.Helper()
	if got := time.Since(t.start); got != want {
		t.Errorf("got here after %v, want %v", got, want)
	}
}

// wantConns checks how many connections there are to addr.
func (t *tester) wantConns(addr string, want int) {
	t.Helper()
	synctest.Wait()
	if got := len(t.net.Conns(addr)); got != want {
		t.Errorf("got %d connections to %s after %v, want %d", got, addr, time.Since(t.start), want)
	}
}

// An endpointUnderTest closes itself at the end and has verbs.
type endpointUnderTest struct {
	*Endpoint
	t *tester
}

func (t *tester) endpoint() *endpointUnderTest {
	return &endpointUnderTest{New(t.cfg), t}
}

// Close checks that nothing is left.
func (e *endpointUnderTest) Close() {
	e.t.Helper()
	e.Endpoint.Close()
	if got := e.Links(); got != 0 {
		e.t.Errorf("got %d links after Close", got)
	}
	e.mu.Lock()
	if e.workers != 0 || e.resting != 0 || len(e.jobs) != 0 {
		e.t.Errorf("got %d workers, %d resting, %d jobs after Close", e.workers, e.resting, len(e.jobs))
	}
	e.mu.Unlock()
	for _, a := range []string{oldAddr, newAddr, otherAddr} {
		e.t.wantConns(a, 0)
	}
}

// Borrow takes n links of the pool.
func (e *endpointUnderTest) Borrow(n int) []*lane.Lease {
	e.t.Helper()
	leases := make([]*lane.Lease, n)
	for i := range leases {
		l, err := e.Pool().Get(e.t.Context())
		if err != nil {
			e.t.Fatal(err)
		}
		leases[i] = l
	}
	return leases
}

// Return gives links back to the pool.
func (e *endpointUnderTest) Return(leases ...*lane.Lease) {
	for _, l := range leases {
		e.Pool().Put(l, true)
	}
}

// Echo sends a command on the shared lane and checks its reply.
func (e *endpointUnderTest) Echo(text string) {
	e.t.Helper()
	if err := echo(e.t.Context(), e.shared, text); err != nil {
		e.t.Errorf("after %v: %v", time.Since(e.t.start), err)
	}
}

// Peer is where the shared lane leads, "" if nowhere.
func (e *endpointUnderTest) Peer() string {
	synctest.Wait()
	if l := e.shared.Current(); l != nil {
		return l.Peer()
	}
	return ""
}

func (e *endpointUnderTest) workersNow() int {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.workers
}

// A load is callers of the shared lane, each of whose commands has to succeed.
type load struct {
	stop    chan struct{}
	callers sync.WaitGroup
}

func (e *endpointUnderTest) Load(callers int) *load {
	l := &load{stop: make(chan struct{})}
	for c := range callers {
		l.callers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-l.stop:
					return
				case <-time.After(10 * time.Millisecond):
					e.Echo(fmt.Sprintf("%d-%d", c, i))
				}
			}
		})
	}
	return l
}

func (l *load) End() {
	close(l.stop)
	l.callers.Wait()
}

// A server answers HELLO, the opt-in and ECHO; HANG is never answered.
type server struct {
	t    *tester
	addr string
	l    net.Listener

	mu      sync.Mutex // guards the fields below
	version string
	refuses bool      // the opt-in
	told    []telling // the connections that have opted in, in their order
	optIns  []string  // endpoint types, in their order
	asked   int       // opt-ins
	echoes  int
}

func (t *tester) server(addr string) *server {
	t.Helper()
	l, err := t.net.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, addr: addr, l: l, version: "8.2.1"}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(nc)
		}
	}()
	return s
}

func (s *server) serve(nc net.Conn) {
	defer func() {
		s.mu.Lock()
		s.told = slices.DeleteFunc(s.told, func(c telling) bool { return c.nc == nc })
		s.mu.Unlock()
		_ = nc.Close()
	}()
	r, w := bufio.NewReader(nc), bufio.NewWriter(nc)
	for {
		args, err := readCommand(r)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.answer(nc, w, args)
		if r.Buffered() == 0 {
			err = w.Flush()
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// answer writes the reply to one command; mu is held.
func (s *server) answer(nc net.Conn, w *bufio.Writer, args []string) {
	switch args[0] {
	case "HELLO":
		_, _ = fmt.Fprintf(w, "%%5\r\n+server\r\n+redis\r\n+version\r\n+%s\r\n+proto\r\n:3\r\n+id\r\n:1\r\n+role\r\n+master\r\n", s.version)
	case "CLIENT":
		s.asked++
		if s.refuses {
			_, _ = w.WriteString("-ERR unknown subcommand 'MAINT_NOTIFICATIONS'\r\n")
			return
		}
		s.optIns = append(s.optIns, args[4])
		s.told = append(s.told, telling{nc, w})
		_, _ = w.WriteString("+OK\r\n")
	case "ECHO":
		s.echoes++
		_, _ = w.Write(resp.AppendBulk(nil, args[1]))
	case "HANG":
	}
}

func readCommand(r *bufio.Reader) ([]string, error) {
	var n int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		var size int
		if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		args[i] = string(b[:size])
	}
	return args, nil
}

// A telling is a connection that gets notices.
type telling struct {
	nc net.Conn
	w  *bufio.Writer
}

// Push sends a notice to every connection that has opted in. An element is a string,
// a number, or nil.
func (s *server) Push(elems ...any) {
	s.t.Helper()
	s.push(0, elems)
}

// PushOne is Push to the connection only that came last.
func (s *server) PushOne(elems ...any) {
	s.t.Helper()
	s.push(1, elems)
}

// push tells the last n connections, all if n is 0.
func (s *server) push(n int, elems []any) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.told) == 0 {
		s.t.Fatalf("nobody to tell %v to", elems)
	}
	if n == 0 {
		n = len(s.told)
	}
	for _, c := range s.told[len(s.told)-n:] {
		tell(c.w, elems...)
	}
}

func tell(w *bufio.Writer, elems ...any) {
	b := resp.AppendPushLen(nil, len(elems), 3)
	for _, e := range elems {
		switch e := e.(type) {
		case string:
			b = resp.AppendBulk(b, e)
		case int:
			b = resp.AppendInt(b, int64(e))
		default:
			b = resp.AppendNull(b, 3)
		}
	}
	_, _ = w.Write(b)
	_ = w.Flush()
}

// counts are how often it was asked for notices, and executed an ECHO.
func (s *server) counts() (asked, echoes int) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.echoes
}

// A doer is a lane or a link.
type doer interface {
	Do(ctx context.Context, q link.Request) (link.Done, error)
}

type echoed struct{ text string }

func (e *echoed) Reply(_ int, frame []byte) {
	r := resp.NewReader(frame)
	e.text, _ = r.String()
}

func echo(ctx context.Context, d doer, text string) error {
	return send(ctx, d, "ECHO", text)
}

func send(ctx context.Context, d doer, args ...string) error {
	b := resp.AppendArrayLen(nil, len(args))
	for _, a := range args {
		b = resp.AppendBulk(b, a)
	}
	var e echoed
	if _, err := d.Do(ctx, link.Request{Wire: b, Replies: 1, Sink: &e}); err != nil {
		return err
	}
	if want := args[len(args)-1]; e.text != want {
		return fmt.Errorf("%s: got the reply %q, want %q", strings.Join(args, " "), e.text, want)
	}
	return nil
}

// hang sends a command that is not answered; the channel gets its outcome.
func hang(d doer) <-chan error {
	errs := make(chan error, 1)
	go func() { errs <- send(context.Background(), d, "HANG") }()
	synctest.Wait()
	return errs
}

// wantTimeout checks that err is a read timeout of the given length.
func wantTimeout(t *tester, err error, after time.Duration) {
	t.Helper()
	te, ok := errors.AsType[*link.TimeoutError](err)
	if !ok || te.Op != "read" || te.After != after {
		t.Errorf("got %v, want a read timeout of %v", err, after)
	}
}
