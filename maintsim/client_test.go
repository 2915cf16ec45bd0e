package maintsim_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/baton-go/redis/maintsim"
)

// TestMain lets eight tests run beside each other, unless -parallel says how many: most of
// their time they wait.
func TestMain(m *testing.M) {
	isSet := false
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "test.parallel" })
	if !isSet {
		_ = flag.Set("test.parallel", "8")
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait for something that is to happen.
const patience = 10 * time.Second

// quick is a configuration whose scenarios take tenths of a second.
func quick() maintsim.Config {
	return maintsim.Config{
		Grace:    10 * time.Second,
		Lead:     2 * time.Second,
		TimeUnit: 20 * time.Millisecond,
		Stall:    100 * time.Millisecond,
		Outage:   100 * time.Millisecond,
	}
}

// client is a RESP client that shows frames as they come.
type client struct {
	tb testing.TB
	nc net.Conn
	br *bufio.Reader
}

func dial(tb testing.TB, addr string) *client {
	tb.Helper()
	nc, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		tb.Fatal(err)
	}
	return newClient(tb, nc)
}

func dialTLS(tb testing.TB, sim *maintsim.Sim, cfg *tls.Config) *client {
	tb.Helper()
	nc, err := sim.DialContext(context.Background(), "tcp", sim.Name())
	if err != nil {
		tb.Fatal(err)
	}
	return newClient(tb, tls.Client(nc, cfg))
}

func newClient(tb testing.TB, nc net.Conn) *client {
	tb.Cleanup(func() { _ = nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(3 * patience)); err != nil {
		tb.Fatal(err)
	}
	return &client{tb: tb, nc: nc, br: bufio.NewReader(nc)}
}

// subscriber dials and opts in with RESP3 and an endpoint type.
func optIn(tb testing.TB, addr, endpointType string) *client {
	tb.Helper()
	c := dial(tb, addr)
	c.hello3()
	c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", endpointType)
	c.want("+OK\r\n")
	return c
}

func (c *client) send(args ...string) {
	c.tb.Helper()
	c.raw(encode(args...))
}

func encode(args ...string) string {
	var b strings.Builder
	b.WriteString("*" + strconv.Itoa(len(args)) + "\r\n")
	for _, a := range args {
		b.WriteString("$" + strconv.Itoa(len(a)) + "\r\n" + a + "\r\n")
	}
	return b.String()
}

func (c *client) raw(s string) {
	c.tb.Helper()
	if _, err := io.WriteString(c.nc, s); err != nil {
		c.tb.Fatal(err)
	}
}

func (c *client) hello3() {
	c.tb.Helper()
	c.send("HELLO", "3")
	if got := c.frame(); got[0] != '%' {
		c.tb.Fatalf("HELLO 3: got %q, want a map", got)
	}
}

// do sends one command and returns the frame that answers it.
func (c *client) do(args ...string) string {
	c.tb.Helper()
	c.send(args...)
	return c.frame()
}

// frame reads one frame.
func (c *client) frame() string {
	c.tb.Helper()
	f, err := c.read()
	if err != nil {
		c.tb.Fatalf("got error %v, want a frame", err)
	}
	return f
}

func (c *client) read() (string, error) {
	line, err := c.br.ReadString('\n')
	if err != nil {
		return "", err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$', '=', '!':
		if n < 0 {
			return line, nil
		}
		body := make([]byte, n+2)
		_, err := io.ReadFull(c.br, body)
		return line + string(body), err
	case '%', '|':
		n *= 2
	case '*', '~', '>':
	default:
		return line, nil
	}
	var b strings.Builder
	b.WriteString(line)
	for range n {
		f, err := c.read()
		if err != nil {
			return "", err
		}
		b.WriteString(f)
	}
	return b.String(), nil
}

// want reads one frame and compares it.
func (c *client) want(want string) {
	c.tb.Helper()
	if got := c.frame(); got != want {
		c.tb.Fatalf("got %q, want %q", got, want)
	}
}

// quiet fails if a frame comes within d.
func (c *client) quiet(d time.Duration) {
	c.tb.Helper()
	_ = c.nc.SetReadDeadline(time.Now().Add(d))
	b, err := c.br.Peek(1)
	if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() {
		c.tb.Fatalf("got %q and error %v, want silence", b, err)
	}
	_ = c.nc.SetReadDeadline(time.Now().Add(3 * patience))
}

// end reads until the connection ends and returns how it did.
func (c *client) end() error {
	_, err := io.Copy(io.Discard, c.br)
	return err
}

func push(name, seq string, elems ...string) string {
	n := 2 + len(elems)
	return ">" + strconv.Itoa(n) + "\r\n$" + strconv.Itoa(len(name)) + "\r\n" + name + "\r\n:" + seq + "\r\n" + strings.Join(elems, "")
}

func bulk(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }

// background runs f and returns a function that waits for its error.
func background(tb testing.TB, f func() error) (wait func()) {
	tb.Helper()
	errs := make(chan error, 1)
	go func() { errs <- f() }()
	return func() {
		tb.Helper()
		if err := <-errs; err != nil {
			tb.Fatal(err)
		}
	}
}
