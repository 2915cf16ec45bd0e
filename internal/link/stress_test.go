package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// An echoServer answers each ECHO with its argument, and remembers which it has
// executed.
type echoServer struct {
	t     *testing.T
	l     net.Listener
	conns sync.WaitGroup

	mu       sync.Mutex // guards executed
	executed map[string]int
}

func startEcho(t *testing.T) *echoServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &echoServer{t: t, l: l, executed: make(map[string]int)}
	s.conns.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Go(func() { s.serve(nc) })
		}
	})
	return s
}

// Stop returns when every connection has ended; the links have to be closed.
func (s *echoServer) Stop() {
	_ = s.l.Close()
	s.conns.Wait()
}

func (s *echoServer) serve(nc net.Conn) {
	defer nc.Close()
	r, w := bufio.NewReader(nc), bufio.NewWriter(nc)
	for n := 0; ; n++ {
		command, err := readCommand(r)
		if err != nil {
			return
		}
		id := strings.TrimPrefix(command, "ECHO ")
		s.mu.Lock()
		s.executed[id]++
		s.mu.Unlock()
		if n%7 == 0 {
			_, _ = w.WriteString(pushFrame("noise", id))
		}
		_, _ = w.WriteString(bulk(id))
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

// supply hands out a link, and opens another when it has died.
type supply struct {
	t    *testing.T
	addr string

	mu   sync.Mutex // guards the fields below
	l    *Link
	all  []*Link
	push int
}

func (s *supply) get() *Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.l != nil && s.l.Alive() {
		return s.l
	}
	nc, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Error(err)
		return s.l
	}
	l, err := Open(context.Background(), nc, Config{
		Endpoint: s.addr, Timeouts: NewTimeouts(10*time.Second, 10*time.Second),
		OnPush: func(*Link, []byte) {
			s.mu.Lock()
			s.push++
			s.mu.Unlock()
		},
		WatchContexts: len(s.all)%2 == 1, soloAfter: []int{0, 1, -1}[len(s.all)%3],
	}, Handshake{Protocol: 2})
	if err != nil {
		s.t.Error(err)
		return s.l
	}
	l.Start()
	s.l = l
	s.all = append(s.all, l)
	return l
}

// echoes checks the replies to one caller's commands, and that none comes when the
// caller has its outcome.
type echoes struct {
	t     *testing.T
	ids   []string
	mu    sync.Mutex // guards the fields below
	got   int
	ended bool
}

func (e *echoes) Reply(i int, frame []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := resp.NewReader(frame)
	id, err := r.String()
	if e.ended || i != e.got || err != nil || id != e.ids[i] {
		e.t.Errorf("reply %d of %v is %q, %v; ended: %v, replies before: %d", i, e.ids, id, err, e.ended, e.got)
	}
	e.got++
}

// ask is for a caller with one command, in either form of a question.
func (e *echoes) ask(ctx context.Context, l *Link, dst *[]byte) (n int, err error) {
	head := []byte("*2\r\n$4\r\nECHO\r\n")
	var a *Answer
	var got string
	if rand.N(2) == 0 {
		got, a, err = l.AskText(ctx, head, e.ids[0])
	} else {
		*dst, a, err = l.AskBytes(ctx, head, e.ids[0], (*dst)[:0])
		got = string(*dst)
		for i := range *dst {
			(*dst)[i] = 0
		}
	}
	if err != nil {
		return 0, err
	}
	if got != e.ids[0] || a != nil {
		e.t.Errorf("asked %q, got %q, %v", e.ids[0], got, a)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got++
	return 1, nil
}

// Under random cancels, drains and kills every call has one outcome, that outcome
// is true, and no reply is another's.
func TestStress(t *testing.T) {
	srv := startEcho(t)
	s := &supply{t: t, addr: srv.l.Addr().String()}
	callers, rounds := 48, 400
	if testing.Short() {
		rounds = 50
	}
	type outcome struct {
		ids []string
		n   int
		err error
	}
	outcomes := make([][]outcome, callers)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			dst := make([]byte, 0, 16) // one for all questions: nobody may write to it later
			for i := range rounds {
				e := &echoes{t: t}
				var w []byte
				for j := range 1 + rand.N(3) {
					id := fmt.Sprintf("%d-%d-%d", c, i, j)
					e.ids = append(e.ids, id)
					w = append(w, wire("ECHO "+id)...)
				}
				ctx, cancel := context.Background(), func() {}
				if rand.N(4) == 0 {
					ctx, cancel = context.WithTimeout(ctx, rand.N(8*time.Millisecond))
				}
				l := s.get()
				var n int
				var err error
				if len(e.ids) == 1 && rand.N(2) == 0 {
					n, err = e.ask(ctx, l, &dst)
				} else {
					var d Done
					d, err = l.Do(ctx, Request{Wire: w, Replies: len(e.ids), Sink: e})
					n = d.Replies
				}
				e.mu.Lock()
				e.ended = true
				if n != e.got || err == nil && n != len(e.ids) {
					t.Errorf("%v: got %d replies and %v, the sink has %d", e.ids, n, err, e.got)
				}
				e.mu.Unlock()
				cancel()
				outcomes[c] = append(outcomes[c], outcome{e.ids, n, err})
				switch rand.N(2000) {
				case 0, 1:
					l.Drain()
				case 2, 3:
					l.Close(nil)
				case 4:
					_ = l.nc.Close() // as if the network failed
				}
			}
		})
	}
	wg.Wait()
	for _, l := range s.all {
		l.Close(nil)
		<-l.Gone()
	}
	srv.Stop()
	failed := map[Delivery]int{}
	for _, all := range outcomes {
		for _, o := range all {
			var e *Error
			if o.err != nil && !errors.As(o.err, &e) {
				t.Errorf("%v: got %v, want a *link.Error", o.ids, o.err)
				continue
			}
			if e != nil {
				failed[e.Delivery]++
			}
			for i, id := range o.ids {
				n := srv.executed[id]
				switch {
				case n > 1, i < o.n && n != 1, e != nil && e.Delivery == NotSent && n != 0:
					t.Errorf("%s was executed %d times; its outcome: reply %d of %d, %v", id, n, i, o.n, o.err)
				}
			}
		}
	}
	t.Logf("%d links, %d pushes, %d not sent, %d maybe sent", len(s.all), s.push, failed[NotSent], failed[MaybeSent])
}

// Commands and replies that fill every buffer on the way must not make the two sides
// wait for each other.
func TestStressOfLargeValues(t *testing.T) {
	srv := startEcho(t)
	s := &supply{t: t, addr: srv.l.Addr().String()}
	l := s.get()
	var wg sync.WaitGroup
	for c := range 16 {
		wg.Go(func() {
			for i := range 10 {
				id := fmt.Sprintf("%d-%d-", c, i) + strings.Repeat("x", rand.N(1_000_000))
				e := &echoes{t: t, ids: []string{id}}
				if n, err := l.Do(context.Background(), Request{Wire: wire("ECHO " + id), Replies: 1, Sink: e}); n.Replies != 1 || err != nil {
					t.Errorf("got %d, %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	l.Close(nil)
	<-l.Gone()
	srv.Stop()
}
