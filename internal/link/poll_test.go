//go:build unix

package link

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair is a TCP connection and its other end.
func pair(t *testing.T) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

func TestPollReadsLikeAnyRead(t *testing.T) {
	nc, peer := pair(t)
	var p poller
	p.use(nc)
	buf := make([]byte, 10)
	read := func(want string, cause error) {
		t.Helper()
		n, err := p.poll(buf)
		if string(buf[:n]) != want || !errors.Is(err, cause) {
			t.Errorf("got %q, %v, want %q, %v", buf[:n], err, want, cause)
		}
	}
	_, _ = peer.Write([]byte("there"))
	read("there", nil)
	time.AfterFunc(20*pollFor, func() { _, _ = peer.Write([]byte("later")) }) // it sleeps by then
	read("later", nil)
	_ = nc.SetReadDeadline(time.Now().Add(20 * pollFor))
	read("", os.ErrDeadlineExceeded)
	_ = nc.SetReadDeadline(time.Time{})
	time.AfterFunc(20*pollFor, func() { _ = peer.Close() })
	read("", io.EOF)
	_ = nc.Close()
	read("", net.ErrClosed)
}

func TestOnlyRealSocketsArePolled(t *testing.T) {
	nc, _ := pair(t)
	for name, test := range map[string]struct {
		nc   net.Conn
		want bool
	}{
		"TCP":     {nc, true},
		"wrapped": {&bentConn{Conn: nc}, false},
	} {
		var p poller
		p.use(test.nc)
		if got := p.raw != nil; got != test.want {
			t.Errorf("%s: polled: %v, want %v", name, got, test.want)
		}
	}
}

// The trials decide by the pace of the replies, and cost little where polling is in
// vain.
func TestPollingIsDoneWhereItPays(t *testing.T) {
	for name, test := range map[string]struct {
		plain, polled time.Duration // from read to read
		more          int           // replies of a read that was polled for, in place of 10
		finds         bool
		on            bool
		most          int // polls of 10,000 reads
	}{
		"loopback":         {20 * time.Microsecond, 10 * time.Microsecond, 10, true, true, 10_000},
		"larger batches":   {20 * time.Microsecond, 25 * time.Microsecond, 20, true, true, 10_000},
		"too little":       {20 * time.Microsecond, 17 * time.Microsecond, 10, true, false, 5 * pollTrial / 2},
		"smaller batches":  {20 * time.Microsecond, 10 * time.Microsecond, 5, true, false, 5 * pollTrial / 2},
		"a real network":   {500 * time.Microsecond, 490 * time.Microsecond, 10, false, false, 4 * pollMisses},
		"a server at rest": {time.Second, time.Second, 10, false, false, 4 * pollMisses},
	} {
		t.Run(name, func(t *testing.T) {
			p := poller{period: pollPeriod}
			polls := 0
			for range 10_000 {
				polled := p.polls()
				took, replies := test.plain, 10
				if polled {
					polls++
					took, replies = test.polled, test.more
				}
				p.account(polled, polled && !test.finds, took)
				p.answered(replies)
			}
			if p.on != test.on || polls > test.most {
				t.Errorf("on %v after %d polls, want %v after %d at most", p.on, polls, test.on, test.most)
			}
		})
	}
}

// Where polling has paid and stops to, that is noticed at once.
func TestPollingThatNoLongerPaysEnds(t *testing.T) {
	p := poller{period: pollPeriod}
	for range pollTrial + 1 {
		polled := p.polls()
		took := 20 * time.Microsecond
		if polled {
			took /= 2
		}
		p.account(polled, false, took)
		p.answered(1)
	}
	if !p.on {
		t.Fatal("polling is off, though it pays")
	}
	polls := 0
	for range 1000 {
		polled := p.polls()
		if polled {
			polls++
		}
		p.account(polled, true, time.Millisecond)
		p.answered(1)
	}
	if p.on || polls > 3*pollMisses {
		t.Errorf("on %v, %d polls in vain, want %d at most", p.on, polls, 3*pollMisses)
	}
}

// A link on a real socket, polled or not, carries commands.
func TestLinksPoll(t *testing.T) {
	for _, off := range []bool{false, true} {
		nc, peer := pair(t)
		go func() { _, _ = io.Copy(peer, peer) }()
		l, err := Open(context.Background(), nc, Config{Timeouts: NewTimeouts(0, 0), NoPolling: off}, Handshake{Protocol: 2})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.poller.raw != nil; got == off {
			t.Errorf("NoPolling %v: polled: %v", off, got)
		}
		l.Start()
		for range pollTrial {
			if _, err := l.Do(context.Background(), Request{Wire: []byte("+x\r\n"), Replies: 1, Sink: &echoSink{}}); err != nil {
				t.Fatal(err)
			}
		}
		l.Close(nil)
		<-l.Gone()
	}
}

type echoSink struct{}

func (*echoSink) Reply(int, []byte) {}
