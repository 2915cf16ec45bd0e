package redis_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
)

// both runs a test with RESP2 and with RESP3.
func both(t *testing.T, test func(t *testing.T, proto int)) {
	t.Helper()
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) { test(t, proto) })
	}
}

// start starts the server most tests use, and gives a client of it.
func start(t *testing.T, opt *redis.Options) (*redis.Client, *realserver.Server) {
	t.Helper()
	s := realserver.Start(t, realserver.Redis7)
	o := redis.Options{}
	if opt != nil {
		o = *opt
	}
	o.Addr = s.Addr()
	return newClient(t, &o), s
}

// admin gives a client that is not the one tested: it looks at the server, and does
// to it what others do.
func admin(t *testing.T, addr string) *redis.Client {
	t.Helper()
	return newClient(t, &redis.Options{Addr: addr, ClientName: "admin", Protocol: 2})
}

// do sends a command that must succeed, and gives its reply as text.
func do(t *testing.T, c *redis.Client, args ...any) string {
	t.Helper()
	v, err := c.Do(t.Context(), args...).Result()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return fmt.Sprint(v)
}

// clients gives the fields of each connection in CLIENT LIST but admin's.
func clients(t *testing.T, c *redis.Client) (list []map[string]string) {
	t.Helper()
	for line := range strings.Lines(do(t, c, "client", "list")) {
		m := fields(line)
		if m["name"] != "admin" {
			list = append(list, m)
		}
	}
	return list
}

// fields takes a line of CLIENT LIST or CLIENT INFO apart.
func fields(line string) map[string]string {
	m := map[string]string{}
	for f := range strings.FieldsSeq(line) {
		k, v, _ := strings.Cut(f, "=")
		m[k] = v
	}
	return m
}

// info gives one number of INFO; 0 where it is not there.
func info(t *testing.T, c *redis.Client, name string) int {
	t.Helper()
	for line := range strings.Lines(do(t, c, "info", "everything")) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			n, err := strconv.Atoi(strings.TrimPrefix(v, "count="))
			if err != nil {
				t.Fatalf("%s is %q", name, v)
			}
			return n
		}
	}
	return 0
}

// await waits until something that only the server knows is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// soon gives a context that ends a test which hangs.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// A pulse measures how late this machine is.
type pulse struct {
	stop context.CancelFunc
	wg   sync.WaitGroup
	late time.Duration
}

// startPulse asks a server again and again, as directly as can be.
func startPulse(t *testing.T, addr string) *pulse {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := &pulse{stop: cancel}
	t.Cleanup(p.wg.Wait)
	p.wg.Go(func() {
		defer nc.Close()
		const beat = 2 * time.Millisecond
		tick := time.NewTicker(beat)
		defer tick.Stop()
		pong := make([]byte, len("+PONG\r\n"))
		for {
			began := time.Now()
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if _, err := io.WriteString(nc, "PING\r\n"); err != nil {
				t.Error(err)
				return
			}
			if _, err := io.ReadFull(nc, pong); err != nil {
				t.Error(err)
				return
			}
			p.late = max(p.late, time.Since(began)-beat)
		}
	})
	return p
}

// end gives the longest time that an answer took.
func (p *pulse) end() time.Duration {
	p.stop()
	p.wg.Wait()
	return p.late
}

//------------------------------------------------------------------------------

// A script is a server that does what a test says. It answers the handshake by
// itself, with RESP3 and the opt-in refused.
type script struct {
	addr string

	mu  sync.Mutex // guards the fields below
	got [][]string // commands that came, handshakes aside
}

// peer is one connection to a script.
type peer struct {
	net.Conn
	n int // which one, from 1
}

// The replies of a script that are none.
const (
	silence = "" // no reply
	hangUp  = "hang up"
)

// newScript starts a script. reply gives the answer to each command; it is called
// by one goroutine at a time.
func newScript(t *testing.T, reply func(p *peer, args []string) string) *script {
	t.Helper()
	s := &script{}
	n := 0
	s.addr = serve(t, func(nc net.Conn) {
		s.mu.Lock()
		n++
		p := &peer{Conn: nc, n: n}
		s.mu.Unlock()
		in := bufio.NewReader(nc)
		for {
			args, err := readCommand(in)
			if err != nil {
				return
			}
			out := handshakeReply(args)
			if out == "" {
				s.mu.Lock()
				s.got = append(s.got, args)
				out = reply(p, args)
				s.mu.Unlock()
			}
			if out == hangUp {
				return
			}
			if _, err := io.WriteString(nc, out); err != nil {
				return
			}
		}
	})
	return s
}

func handshakeReply(args []string) string {
	switch strings.ToLower(args[0]) {
	case "hello":
		return "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:3\r\n"
	case "client":
		switch strings.ToLower(args[1]) {
		case "setinfo":
			return "+OK\r\n"
		case "maint_notifications":
			return "-ERR unknown subcommand\r\n"
		}
	}
	return ""
}

func readCommand(in *bufio.Reader) ([]string, error) {
	line := func(kind byte) (int, error) {
		s, err := in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		if s[0] != kind {
			return 0, fmt.Errorf("no command: %q", s)
		}
		return strconv.Atoi(strings.TrimSpace(s[1:]))
	}
	n, err := line('*')
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := line('$')
		if err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(in, b); err != nil {
			return nil, err
		}
		args[i] = string(b[:size])
	}
	return args, nil
}

// commands gives the names of the commands that came.
func (s *script) commands() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, len(s.got))
	for i, a := range s.got {
		names[i] = strings.Join(a, " ")
	}
	return strings.Join(names, ", ")
}
