//go:build unix

package link

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
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

// TestWhoMayPoll: where nothing is due there is nothing to poll for, and where much is, the
// callers need the processor.
func TestWhoMayPoll(t *testing.T) {
	nc, _ := pair(t)
	var l Link
	if l.due = 1; l.mayPoll() {
		t.Error("a socket that can't be polled")
	}
	l.poller.use(nc)
	for due, want := range map[int]bool{0: false, 1: true, 64: true, pollMost - 1: true, pollMost: false, 2 * pollMost: false} {
		if l.due = due; l.mayPoll() != want {
			t.Errorf("%d due: %v, want %v", due, !want, want)
		}
	}
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

// A pollRun is what reads are like for a poller.
type pollRun struct {
	plain, polled       time.Duration // from read to read
	plainCPU, polledCPU time.Duration // the processor time of that
	more                int           // replies of a read that was polled for, in place of 10
	inVain              bool          // polls find nothing
}

// play makes p do so many reads, and tells how many of them polled.
func (run pollRun) play(p *poller, reads int) (polls int) {
	var cpu time.Duration
	p.cpu = func() time.Duration { return cpu }
	for range reads {
		polled := p.polls()
		took, used, replies := run.plain, run.plainCPU, 10
		if polled {
			polls++
			took, used, replies = run.polled, run.polledCPU, run.more
		}
		cpu += used
		p.account(polled, polled && run.inVain, took)
		p.answered(replies)
	}
	return polls
}

const us = time.Microsecond

// The trials decide by the pace of the replies and what they cost, and cost little
// themselves where polling is in vain.
func TestPollingIsDoneWhereItPays(t *testing.T) {
	const reads = 10 * pollPeriod
	trials := 10 * pollTrial / 2
	for name, test := range map[string]struct {
		run  pollRun
		on   bool
		most int // polls
	}{
		"loopback":            {pollRun{20 * us, 10 * us, 20 * us, 21 * us, 10, false}, true, reads},
		"cheaper, not faster": {pollRun{20 * us, 20 * us, 20 * us, 10 * us, 10, false}, false, trials},
		"a bit faster":        {pollRun{20 * us, 18 * us, 20 * us, 20 * us, 10, false}, true, reads},
		"and dearer":          {pollRun{20 * us, 18 * us, 20 * us, 22 * us, 10, false}, false, trials},
		"much faster, dearer": {pollRun{20 * us, 10 * us, 20 * us, 40 * us, 10, false}, true, reads},
		"larger batches":      {pollRun{20 * us, 25 * us, 20 * us, 25 * us, 20, false}, true, reads},
		"smaller batches":     {pollRun{20 * us, 15 * us, 20 * us, 20 * us, 5, false}, false, trials},
		"a real network":      {pollRun{500 * us, 490 * us, 30 * us, 80 * us, 10, true}, false, 5 * pollMisses},
		"a server at rest":    {pollRun{time.Second, time.Second, 30 * us, 80 * us, 10, true}, false, 5 * pollMisses},
	} {
		t.Run(name, func(t *testing.T) {
			p := poller{period: pollPeriod}
			if polls := test.run.play(&p, reads); p.on != test.on || polls > test.most {
				t.Errorf("on %v after %d polls, want %v after %d at most", p.on, polls, test.on, test.most)
			}
		})
	}
}

// Where polling has paid and stops to, that is noticed at once; where it pays no more
// and no less, it goes on.
func TestPollingThatNoLongerPaysEnds(t *testing.T) {
	p := poller{period: pollPeriod}
	(pollRun{20 * us, 10 * us, 20 * us, 20 * us, 10, false}).play(&p, pollTrial+1)
	if !p.on {
		t.Fatal("polling is off, though it pays")
	}
	(pollRun{20 * us, 20 * us, 20 * us, 20 * us, 10, false}).play(&p, 2*pollPeriod)
	if !p.on {
		t.Error("polling is off, though nothing speaks against it")
	}
	polls := (pollRun{500 * us, 500 * us, 20 * us, 70 * us, 10, true}).play(&p, pollTrial)
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

// Where a socket takes no more, neither a caller nor the reader waits for it, and what
// is written later is whole.
func TestWritesThatDontFit(t *testing.T) {
	nc, peer := pair(t)
	l, err := Open(context.Background(), nc, Config{Timeouts: NewTimeouts(time.Minute, time.Minute)}, Handshake{Protocol: 2})
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	const callers, size = 8, 1 << 20
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, callers)
	for i := range callers {
		w := wire("SET a " + strings.Repeat(string(rune('a'+i)), size))
		go func() {
			_, err := l.Do(ctx, Request{Wire: w, Replies: 1, Sink: &echoSink{}})
			left <- err
		}()
	}
	for until := time.Now().Add(10 * time.Second); l.InFlight() < callers && time.Now().Before(until); {
		runtime.Gosched()
	}
	cancel()
	for range callers { // though nobody has read a byte
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the end of the context", err)
		}
	}
	_ = peer.SetDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(peer)
	for range callers {
		command, err := readCommand(r)
		if err != nil {
			t.Fatal(err)
		}
		value, ok := strings.CutPrefix(command, "SET a ")
		if !ok || len(value) != size || strings.Trim(value, value[:1]) != "" {
			t.Fatalf("a command of %d bytes is not what was sent: %.20q", len(command), command)
		}
	}
	if _, err := peer.Write([]byte(strings.Repeat("+OK\r\n", callers))); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := l.Do(context.Background(), Request{Wire: wire("GET a"), Replies: 1, Sink: &echoSink{}})
		done <- err
	}()
	if command, err := readCommand(r); command != "GET a" || err != nil {
		t.Fatalf("got %.20q, %v", command, err)
	}
	_, _ = peer.Write([]byte("+a\r\n"))
	if err := <-done; err != nil {
		t.Error(err)
	}
	l.Close(nil)
	<-l.Gone()
}
