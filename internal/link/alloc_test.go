package link

import (
	"bytes"
	"context"
	"net"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/invariants"
)

// instantConn answers each write with one reply, and allocates nothing.
type instantConn struct {
	net.Conn
	replies chan struct{}
	closed  chan struct{}
}

func (c *instantConn) Write(p []byte) (int, error) {
	c.replies <- struct{}{}
	return len(p), nil
}

func (c *instantConn) Read(p []byte) (int, error) {
	select {
	case <-c.replies:
		return copy(p, "+OK\r\n"), nil
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *instantConn) Close() error {
	close(c.closed)
	return nil
}

func (c *instantConn) SetDeadline(time.Time) error { return nil }

// nothing is a sink.
type nothing struct{}

func (nothing) Reply(int, []byte) {}

func TestDoAllocatesNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the race detector allocates")
	}
	ctx := t.Context()
	for name, test := range map[string]struct {
		ctx   context.Context
		watch bool
	}{
		"shared, no context": {context.Background(), false},
		"shared, context":    {ctx, false},
		"lent, context":      {ctx, true},
	} {
		t.Run(name, func(t *testing.T) {
			nc := &instantConn{replies: make(chan struct{}, 16), closed: make(chan struct{})}
			l, err := Open(t.Context(), nc, Config{
				Timeouts: NewTimeouts(time.Minute, time.Minute), WatchContexts: test.watch,
			}, Handshake{Protocol: 2})
			if err != nil {
				t.Fatal(err)
			}
			l.Start()
			q := Request{Wire: wire("PING"), Replies: 1, Sink: nothing{}}
			allocs := testing.AllocsPerRun(2000, func() {
				if n, err := l.Do(test.ctx, q); n.Replies != 1 || err != nil {
					t.Fatalf("got %d, %v", n, err)
				}
			})
			if allocs > 0 {
				t.Errorf("got %v allocations per command, want 0", allocs)
			}
			l.Close(nil)
			<-l.Gone()
		})
	}
}

// The socket and the write path of requests of any size allocate nothing either, once
// the buffers have grown.
func TestDoAllocatesNothingOnLoopback(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the race detector allocates")
	}
	for name, replies := range map[string]int{"one command": 1, "pipeline": 100} {
		t.Run(name, func(t *testing.T) {
			command := wire("get key:000001")
			l := onLoopback(t, Config{}, command, hello)
			q := Request{Wire: bytes.Repeat(command, replies), Replies: replies, Sink: nothing{}}
			allocs := testing.AllocsPerRun(1000, func() { mustDo(context.Background(), t, l, q) })
			if allocs > 0 {
				t.Errorf("got %v allocations per request, want 0", allocs)
			}
		})
	}
}
