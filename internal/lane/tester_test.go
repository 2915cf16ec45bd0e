package lane

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
	"github.com/baton-go/redis/internal/simnet"
)

const addr = "10.0.0.1:6379"

var errDial = errors.New("dial failed by the test")

// A tester is a network with a server that echoes, in a bubble, and the way a lane
// opens its links there.
type tester struct {
	*testing.T
	net   *simnet.Network
	start time.Time

	mu       sync.Mutex // guards the fields below
	took     time.Duration
	failing  int // so many dials fail
	dials    int // begun
	opened   []*link.Link
	size     int // of the reply to inflated
	onClose  func(l *link.Link)
	atOpened func(l *link.Link) // called before the lane gets it
}

func bubble(t *testing.T, f func(t *tester)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New()
		defer n.Close()
		l, err := n.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		tt := &tester{T: t, net: n, start: time.Now()}
		go func() {
			for {
				nc, err := l.Accept()
				if err != nil {
					return
				}
				go tt.echo(nc)
			}
		}()
		f(tt)
	})
}

// inflated is the argument that ECHO is answered with another size to.
const inflated = "inflated"

// inflate sets that size.
func (t *tester) inflate(size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.size = size
}

// echo answers each ECHO with its argument.
func (t *tester) echo(nc net.Conn) {
	defer nc.Close()
	r := bufio.NewReader(nc)
	for {
		var lines [5]string
		for i := range lines {
			var err error
			if lines[i], err = r.ReadString('\n'); err != nil {
				return
			}
		}
		reply := lines[3] + lines[4]
		if lines[4] == inflated+"\r\n" {
			t.mu.Lock()
			reply = string(resp.AppendBulk(nil, strings.Repeat("x", t.size)))
			t.mu.Unlock()
		}
		if _, err := nc.Write([]byte(reply)); err != nil {
			return
		}
	}
}

// link opens a link at once.
func (t *tester) link() *link.Link {
	t.Helper()
	l, err := t.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (t *tester) dial(ctx context.Context) (*link.Link, error) {
	nc, err := t.net.Dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	l, err := link.Open(ctx, nc, link.Config{
		Endpoint: addr, Timeouts: link.NewTimeouts(3*time.Second, 3*time.Second), WatchContexts: true,
		OnClose: func(l *link.Link, _ error) {
			t.mu.Lock()
			f := t.onClose
			t.mu.Unlock()
			if f != nil {
				f(l)
			}
		},
	}, link.Handshake{Protocol: 2})
	if err != nil {
		return nil, err
	}
	l.Start()
	t.mu.Lock()
	t.opened = append(t.opened, l)
	f := t.atOpened
	t.mu.Unlock()
	if f != nil {
		f(l)
	}
	return l, nil
}

// open is a lane's Open: it takes the time that dials take now, and fails if dials
// are to fail. The link is there when it begins, as during a slow OnConnect.
func (t *tester) open(ctx context.Context) (*link.Link, error) {
	t.mu.Lock()
	t.dials++
	d, fails := t.took, t.failing > 0
	if fails {
		t.failing--
	}
	t.mu.Unlock()
	l, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			l.Close(nil)
			return nil, context.Cause(ctx)
		}
	}
	if fails {
		l.Close(nil)
		return nil, errDial
	}
	return l, nil
}

// set changes how dials go from now on.
func (t *tester) set(took time.Duration, failing int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took, t.failing = took, failing
}

func (t *tester) dialled() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dials
}

// wantConns checks how many connections the server has.
func (t *tester) wantConns(want int) {
	t.Helper()
	synctest.Wait()
	if got := len(t.net.Conns(addr)); got != want {
		t.Errorf("got %d connections, want %d", got, want)
	}
}

// at checks how much time has passed since the bubble began.
func (t *tester) at(want time.Duration) {
	t.Helper()
	if got := time.Since(t.start); got != want {
		t.Errorf("got here after %v, want %v", got, want)
	}
}

// echoed is a sink.
type echoed struct{ text string }

func (e *echoed) Reply(_ int, frame []byte) {
	r := resp.NewReader(frame)
	e.text, _ = r.String()
}

// A doer is a lane or a link.
type doer interface {
	Do(ctx context.Context, q link.Request) (link.Done, error)
}

// sendEcho sends one command and checks its reply.
func sendEcho(ctx context.Context, d doer, text string) error {
	b := resp.AppendArrayLen(nil, 2)
	b = resp.AppendBulk(b, "ECHO")
	b = resp.AppendBulk(b, text)
	var e echoed
	if _, err := d.Do(ctx, link.Request{Wire: b, Replies: 1, Sink: &e}); err != nil {
		return err
	}
	if e.text != text {
		return fmt.Errorf("got the reply %q, want %q", e.text, text)
	}
	return nil
}

// wantNotSent checks that err is a failure that is safe to repeat, with the cause.
func wantNotSent(t *testing.T, err, cause error) {
	t.Helper()
	e, ok := errors.AsType[*link.Error](err)
	if !ok || e.Delivery != link.NotSent || !errors.Is(err, cause) {
		t.Errorf("got %v, want NotSent because of %v", err, cause)
	}
}
