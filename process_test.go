package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// loopback listens and accepts, so that a link can be opened.
func loopback(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				buf := make([]byte, 4096)
				for {
					n, err := nc.Read(buf)
					if err != nil {
						return
					}
					for _, b := range buf[:n] {
						if b == '*' {
							_, _ = io.WriteString(nc, "+OK\r\n")
						}
					}
				}
			}()
		}
	}()
	return ln.Addr().String()
}

func TestJudge(t *testing.T) {
	read, write := NewCmd(t.Context(), "get", "k"), NewCmd(t.Context(), "incr", "k")
	setNX, set := NewCmd(t.Context(), "set", "k", "v", "nx"), NewCmd(t.Context(), "set", "k", "v")
	blpop := NewCmd(t.Context(), "blpop", "k", 1)
	failed := func(d Delivery, err error) error { return &link.Error{Delivery: d, Err: err} }
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	wrongPass := &link.HandshakeError{Step: "HELLO", Err: resp.Error("WRONGPASS invalid")}
	loading := &link.HandshakeError{Step: "HELLO", Err: resp.Error("LOADING Redis is loading")}
	const never, always = 0, 1 << 30
	for _, c := range []struct {
		name    string
		cmd     Cmder
		err     error
		retries int // MaxRetries; 0 is the default
		isNew   bool
		age     time.Duration // since it first failed
		want    int           // how often it is tried again
	}{
		{name: "not sent, read", cmd: read, err: failed(NotSent, refused), want: always},
		{name: "not sent, write", cmd: write, err: failed(NotSent, refused), want: always},
		{name: "not sent, blocking", cmd: blpop, err: failed(NotSent, refused), want: always},
		{name: "not sent, without retries", cmd: write, err: failed(NotSent, io.EOF), retries: -1, want: always},
		{name: "not sent, for too long", cmd: write, err: failed(NotSent, refused), age: 7 * time.Second, want: never},
		{name: "not sent, not yet too long", cmd: write, err: failed(NotSent, refused), age: 5 * time.Second, want: always},
		{name: "not sent, server never up", cmd: read, err: failed(NotSent, refused), isNew: true, want: never},
		{name: "not sent, pool timeout", cmd: read, err: failed(NotSent, lane.ErrPoolTimeout), want: never},
		{name: "not sent, pool exhausted", cmd: read, err: failed(NotSent, lane.ErrPoolExhausted), want: never},
		{name: "not sent, client closed", cmd: read, err: failed(NotSent, link.ErrClosed), want: never},
		{name: "not sent, draining", cmd: write, err: failed(NotSent, link.ErrDraining), want: always},
		{name: "not sent, wrong password", cmd: read, err: failed(NotSent, wrongPass), want: never},
		{name: "not sent, server loads at the handshake", cmd: write, err: failed(NotSent, loading), want: always},

		{name: "maybe sent, read", cmd: read, err: failed(MaybeSent, io.EOF), want: 3},
		{name: "maybe sent, SET", cmd: set, err: failed(MaybeSent, io.EOF), want: 3},
		{name: "maybe sent, SET NX", cmd: setNX, err: failed(MaybeSent, io.EOF), want: never},
		{name: "maybe sent, write", cmd: write, err: failed(MaybeSent, io.EOF), want: never},
		{name: "maybe sent, blocking", cmd: blpop, err: failed(MaybeSent, io.EOF), want: never},
		{name: "maybe sent, transaction", cmd: &Cmd{result[any]{baseCmd: txCmd}}, err: failed(MaybeSent, io.EOF), want: never},
		{name: "maybe sent, one retry", cmd: read, err: failed(MaybeSent, io.EOF), retries: 1, want: 1},
		{name: "maybe sent, without retries", cmd: read, err: failed(MaybeSent, io.EOF), retries: -1, want: never},
		{name: "maybe sent, timeout", cmd: read, err: failed(MaybeSent, &link.TimeoutError{Op: "read"}), want: 3},
		{name: "maybe sent, client closed", cmd: read, err: failed(MaybeSent, link.ErrClosed), want: never},

		{name: "LOADING, write", cmd: write, err: resp.Error("LOADING Redis is loading"), want: always},
		{name: "LOADING, for too long", cmd: write, err: resp.Error("LOADING Redis is loading"), age: 7 * time.Second, want: never},
		{name: "LOADING, without retries", cmd: write, err: resp.Error("LOADING Redis is loading"), retries: -1, want: never},
		{name: "READONLY from a primary", cmd: write, err: resp.Error("READONLY You can't write"), want: always},
		{name: "READONLY, without retries", cmd: write, err: resp.Error("READONLY You can't write"), retries: -1, want: never},
		{name: "MASTERDOWN", cmd: read, err: resp.Error("MASTERDOWN Link with MASTER is down"), want: always},
		{name: "CLUSTERDOWN", cmd: read, err: resp.Error("CLUSTERDOWN The cluster is down"), want: always},
		{name: "TRYAGAIN", cmd: read, err: resp.Error("TRYAGAIN Multiple keys"), want: always},
		{name: "max clients", cmd: read, err: resp.Error("ERR max number of clients reached"), want: always},
		{name: "wrong type", cmd: read, err: resp.Error("WRONGTYPE Operation"), want: never},
		{name: "no script", cmd: read, err: resp.Error("NOSCRIPT No matching"), want: never},
		{name: "out of memory", cmd: write, err: resp.Error("OOM command not allowed"), want: never},
		{name: "null", cmd: read, err: Nil, want: never},
		{name: "reply of another type", cmd: read, err: fmt.Errorf("unexpected reply: %w", resp.ErrProtocol), want: never},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := NewClient(&Options{Addr: loopback(t), MaxRetries: c.retries, Protocol: 2, DisableIdentity: true})
			defer client.Close()
			if !c.isNew {
				if err := client.Ping(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
			}
			var tr tries
			if c.age > 0 {
				tr.began = time.Now().Add(-c.age)
			}
			n := 0
			for ; n < 10; n++ {
				pause, again := client.judge(t.Context(), &tr, c.cmd.base(), c.err)
				if !again {
					break
				}
				if pause < 0 || pause > time.Second {
					t.Errorf("pause %v", pause)
				}
			}
			if n != min(c.want, 10) {
				t.Errorf("tried again %d times, want %d", n, c.want)
			}

			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, again := client.judge(ctx, &tries{}, c.cmd.base(), c.err); again {
				t.Error("tried again although the context has ended")
			}
		})
	}
}

func TestBackoffBounds(t *testing.T) {
	for _, c := range []struct {
		name        string
		least, most time.Duration
		n           int
		from, to    time.Duration
	}{
		{"default, first", 0, 0, 0, 10 * time.Millisecond, 20 * time.Millisecond},
		{"default, second", 0, 0, 1, 10 * time.Millisecond, 30 * time.Millisecond},
		{"default, tenth", 0, 0, 9, 10 * time.Millisecond, time.Second},
		{"none", -1, -1, 5, 0, 0},
		{"no least", -1, 0, 0, 0, time.Millisecond},
		{"no most", 0, -1, 3, 0, 0},
		{"least above most", time.Second, time.Millisecond, 3, time.Millisecond, time.Millisecond},
		{"hours", time.Hour, 24 * time.Hour, 29, time.Hour, 24 * time.Hour},
		{"very often", 20 * time.Second, time.Minute, 29, 20 * time.Second, time.Minute},
		{"for ever", 0, math.MaxInt64, 100, 10 * time.Millisecond, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := (&Options{MinRetryBackoff: c.least, MaxRetryBackoff: c.most}).withDefaults()
			seen := map[time.Duration]bool{}
			for range 200 {
				d := opt.backoff(c.n)
				if d < c.from || d > c.to {
					t.Fatalf("%v, want %v to %v", d, c.from, c.to)
				}
				seen[d] = true
			}
			if c.from != c.to && len(seen) < 10 {
				t.Error("there is no jitter")
			}
		})
	}
}
