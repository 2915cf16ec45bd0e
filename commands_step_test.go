package redis

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/baton-go/redis/internal/resp"
)

// An oddServer answers ECHO as it should, and most else with reply.
type oddServer struct {
	addr     string
	reply    atomic.Pointer[string]
	accepted atomic.Int64
}

// startOddServer starts one that ends with the test.
func startOddServer(t *testing.T) *oddServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &oddServer{addr: ln.Addr().String()}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			wg.Go(func() { defer nc.Close(); s.serve(nc) })
		}
	})
	t.Cleanup(func() { ln.Close(); wg.Wait() })
	return s
}

func (s *oddServer) serve(nc net.Conn) {
	var in []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := nc.Read(buf)
		if err != nil {
			return
		}
		in = append(in, buf[:n]...)
		var out strings.Builder
		for {
			var scan resp.Scanner
			size, err := scan.Next(in)
			if err != nil {
				return
			}
			if size == 0 {
				break
			}
			out.WriteString(s.answer(in[:size]))
			in = in[size:]
		}
		if _, err := io.WriteString(nc, out.String()); err != nil {
			return
		}
	}
}

func (s *oddServer) answer(frame []byte) string {
	r := resp.NewReader(frame)
	if _, err := r.ArrayLen(); err != nil {
		return "-ERR " + err.Error() + "\r\n"
	}
	name, _ := r.String()
	switch strings.ToLower(name) {
	case "hello", "client", "command":
		return "-ERR unknown command\r\n"
	case "echo":
		text, _ := r.String()
		return frameBulk(text)
	}
	return *s.reply.Load()
}

// TestOddRepliesKeepLinksInStep: whatever a command is answered, the next one gets its
// own reply, on the same connection.
func TestOddRepliesKeepLinksInStep(t *testing.T) {
	srv := startOddServer(t)
	c := NewClient(&Options{Addr: srv.addr, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() }) // before the server waits
	cases := slices.DeleteFunc(commandCases(), func(tc commandCase) bool {
		return captured(t, tc).base().lane != laneShared
	})
	var before int64 // connections, once a pipeline so large has its own
	for i, frame := range append([]string{frameOK}, append(moduleFrames(), oddReplies...)...) {
		var scan resp.Scanner
		if size, err := scan.Next([]byte(frame)); err != nil || size != len(frame) || size == 0 || frame[0] == '>' {
			continue // no reply at all, or a push
		}
		srv.reply.Store(&frame)
		p := c.Pipeline()
		own := map[string]*StringCmd{}
		for j := i % 7; j < len(cases); j += 7 { // with each frame others
			cases[j].call(commander{p.Process, p.Process})
			own[cases[j].name] = p.Echo(bg, fmt.Sprint(i, cases[j].name))
		}
		_, _ = p.Exec(bg)
		for name, echo := range own {
			if want := fmt.Sprint(i, name); echo.Val() != want {
				t.Fatalf("after %s was answered %q, ECHO gives %q, %v", name, frame, echo.Val(), echo.Err())
			}
		}
		if i == 0 {
			before = srv.accepted.Load()
		}
	}
	if after := srv.accepted.Load(); after != before {
		t.Errorf("%d connections were made anew", after-before)
	}
}

// moduleFrames are the replies of the cases that have some of their own, each once.
func moduleFrames() []string {
	var frames []string
	for _, tc := range commandCases() {
		for _, frame := range []string{tc.r2, tc.r3} {
			if frame != "" && !slices.Contains(frames, frame) {
				frames = append(frames, frame)
			}
		}
	}
	return frames
}
