package simnet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

const addr = "10.0.0.1:6379"

// A tester is a network with one listener, for use in a bubble.
type tester struct {
	*testing.T
	net   *Network
	l     net.Listener
	start time.Time
}

// run runs f in a bubble.
func run(t *testing.T, f func(t *tester)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := New()
		l, err := n.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		f(&tester{T: t, net: n, l: l, start: time.Now()})
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
}

// dial returns both ends of a new connection.
func (t *tester) dial() (client, server *Conn) {
	t.Helper()
	c, err := t.net.Dial(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s, err := t.l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c.(*Conn), s.(*Conn)
}

// at checks how much time has passed since the bubble began.
func (t *tester) at(want time.Duration) {
	t.Helper()
	if got := time.Since(t.start); got != want {
		t.Errorf("at %v, want %v", got, want)
	}
}

// write writes s to c.
func (t *tester) write(c net.Conn, s string) {
	t.Helper()
	if n, err := c.Write([]byte(s)); n != len(s) || err != nil {
		t.Errorf("write %q: got %d, %v", s, n, err)
	}
}

// read reads exactly want from c.
func (t *tester) read(c net.Conn, want string) {
	t.Helper()
	buf := make([]byte, len(want))
	if n, err := io.ReadFull(c, buf); err != nil || string(buf) != want {
		t.Errorf("read %q, %v, want %q", buf[:n], err, want)
	}
}

// readFails checks that a read from c fails with want.
func (t *tester) readFails(c net.Conn, want error) {
	t.Helper()
	if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, want) {
		t.Errorf("read: got %d, %v, want %v", n, err, want)
	}
}

// writeFails checks that a write to c fails with want.
func (t *tester) writeFails(c net.Conn, want error) {
	t.Helper()
	if n, err := c.Write([]byte("x")); n != 0 || !errors.Is(err, want) {
		t.Errorf("write: got %d, %v, want %v", n, err, want)
	}
}

func TestConnCarriesBytesBothWays(t *testing.T) {
	run(t, func(t *tester) {
		c, s := t.dial()
		t.write(c, "ping")
		t.write(c, " pong")
		t.read(s, "ping pong")
		t.write(s, "reply")
		t.read(c, "reply")
		t.at(0)
	})
}

func TestAddresses(t *testing.T) {
	run(t, func(t *tester) {
		c, s := t.dial()
		if got := c.RemoteAddr().(*net.TCPAddr).String(); got != addr {
			t.Errorf("remote address %s, want %s", got, addr)
		}
		if c.LocalAddr().String() != s.RemoteAddr().String() || c.RemoteAddr().String() != s.LocalAddr().String() {
			t.Errorf("ends disagree: %v-%v, %v-%v", c.LocalAddr(), c.RemoteAddr(), s.LocalAddr(), s.RemoteAddr())
		}
		other, _ := t.dial()
		if c.LocalAddr().String() == other.LocalAddr().String() {
			t.Errorf("two dials from %v", c.LocalAddr())
		}
		if _, err := t.net.Listen(addr); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("second Listen: got %v", err)
		}
	})
}

func TestLatencyIsExact(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetLatency(addr, 10*time.Millisecond)
		c, s := t.dial()
		t.at(20 * time.Millisecond)
		t.write(c, "a")
		t.read(s, "a")
		t.at(30 * time.Millisecond)
		t.write(s, "b")
		t.net.SetLatency(addr, time.Millisecond)
		t.write(s, "c") // doesn't overtake
		t.read(c, "bc")
		t.at(40 * time.Millisecond)
		t.write(c, "d")
		t.read(s, "d")
		t.at(41 * time.Millisecond)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		t.readFails(s, io.EOF)
		t.at(42 * time.Millisecond)
	})
}

func TestDefaultLatencyAppliesWithoutOwn(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetLatency("", 5*time.Millisecond)
		t.dial()
		t.at(10 * time.Millisecond)
		t.net.SetLatency(addr, 0)
		t.dial()
		t.at(10 * time.Millisecond)
	})
}

func TestBandwidthDelaysReads(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetBandwidth(addr, 10<<10)
		c, s := t.dial()
		t.write(c, string(make([]byte, 20<<10)))
		t.at(0)
		t.read(s, string(make([]byte, 1<<10)))
		t.at(100 * time.Millisecond)
		t.read(s, string(make([]byte, 19<<10)))
		t.at(2 * time.Second)
	})
}

func TestWriteBlocksBeyondTheBuffer(t *testing.T) {
	run(t, func(t *tester) {
		c, s := t.dial()
		t.write(c, string(make([]byte, defaultBuffer)))
		if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		t.writeFails(c, os.ErrDeadlineExceeded)
		t.at(time.Second)
		if got := s.Buffered(); got != defaultBuffer {
			t.Errorf("%d bytes buffered, want %d", got, defaultBuffer)
		}
		if err := c.SetWriteDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { t.write(c, "tail") })
		synctest.Wait()
		t.read(s, string(make([]byte, defaultBuffer)))
		t.read(s, "tail")
		wg.Wait()
	})
}

func TestWriteReportsWhatWasSent(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetBuffer(addr, 10)
		c, _ := t.dial()
		if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Write(make([]byte, 15)); n != 10 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %d, %v, want 10 and a timeout", n, err)
		}
	})
}

func TestReadDeadline(t *testing.T) {
	run(t, func(t *tester) {
		c, s := t.dial()
		if err := c.SetReadDeadline(time.Now().Add(3 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err := c.Read(make([]byte, 1))
		t.at(3 * time.Second)
		if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want a timeout", err)
		}
		t.write(s, "x")
		t.readFails(c, os.ErrDeadlineExceeded) // although there is data
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		t.read(c, "x")
	})
}

func TestDeadlineChangesWhileWaiting(t *testing.T) {
	run(t, func(t *tester) {
		c, _ := t.dial()
		if err := c.SetDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			t.readFails(c, os.ErrDeadlineExceeded)
			t.at(2 * time.Second)
		})
		time.Sleep(time.Second)
		if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
			t.Error(err)
		}
		wg.Wait()
		wg.Go(func() {
			if err := c.SetDeadline(time.Time{}); err != nil {
				t.Error(err)
			}
			t.readFails(c, os.ErrDeadlineExceeded)
		})
		time.Sleep(time.Second)
		if err := c.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
			t.Error(err)
		}
		wg.Wait()
		t.at(3 * time.Second)
	})
}

func TestCloseEndsOwnCallsAndFeedsThePeer(t *testing.T) {
	run(t, func(t *tester) {
		c, s := t.dial()
		t.write(c, "last words")
		var wg sync.WaitGroup
		wg.Go(func() { t.readFails(c, net.ErrClosed) })
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		t.writeFails(c, net.ErrClosed)
		if err := c.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second Close: got %v", err)
		}
		if err := c.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("SetDeadline: got %v", err)
		}
		t.read(s, "last words")
		t.readFails(s, io.EOF)
		t.readFails(s, io.EOF)
		if got := t.net.Conns(addr); len(got) != 0 {
			t.Errorf("%d connections after Close", len(got))
		}
	})
}

func TestFirstWriteAfterPeerClosedIsLost(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetLatency(addr, time.Millisecond)
		c, s := t.dial()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		t.write(c, "lost")
		time.Sleep(time.Millisecond)
		t.write(c, "lost too")
		time.Sleep(time.Millisecond)
		t.writeFails(c, syscall.EPIPE)
		t.readFails(c, io.EOF)
	})
}

func TestCloseWrite(t *testing.T) {
	run(t, func(t *tester) {
		c, s := t.dial()
		t.write(c, "request")
		if err := c.CloseWrite(); err != nil {
			t.Error(err)
		}
		t.writeFails(c, syscall.EPIPE)
		t.read(s, "request")
		t.readFails(s, io.EOF)
		t.write(s, "reply")
		t.read(c, "reply")
	})
}

func TestCutFINDrains(t *testing.T) {
	run(t, func(t *tester) {
		c, s := t.dial()
		t.write(s, "reply")
		t.net.Cut(addr, FIN)
		t.read(c, "reply")
		t.readFails(c, io.EOF)
		t.readFails(s, io.EOF)
		t.write(c, "lost")
		t.writeFails(c, syscall.EPIPE)
		if got := t.net.Conns(addr); len(got) != 0 {
			t.Errorf("%d connections after the cut", len(got))
		}
		t.dial() // the listener stays
	})
}

func TestCutRSTFailsAtOnce(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetLatency(addr, time.Second)
		c, s := t.dial()
		t.write(s, "reply")
		var wg sync.WaitGroup
		wg.Go(func() {
			t.readFails(c, syscall.ECONNRESET)
			t.at(2 * time.Second)
		})
		synctest.Wait()
		t.net.Cut(addr, RST)
		wg.Wait()
		t.readFails(s, syscall.ECONNRESET)
		t.writeFails(c, syscall.ECONNRESET)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestCutOneOfSeveral(t *testing.T) {
	run(t, func(t *tester) {
		c1, _ := t.dial()
		c2, s2 := t.dial()
		conns := t.net.Conns(addr)
		if len(conns) != 2 || conns[0].Peer() != c1 || conns[1] != s2 {
			t.Fatalf("got %d connections, want the two, oldest first", len(conns))
		}
		conns[0].Cut(RST)
		t.readFails(c1, syscall.ECONNRESET)
		t.write(c2, "alive")
		t.read(s2, "alive")
		if got := t.net.Conns(addr); !slices.Equal(got, []*Conn{s2}) {
			t.Errorf("got %d connections, want 1", len(got))
		}
	})
}

func TestDialErrors(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetLatency("", time.Millisecond)
		_, err := t.net.Dial(t.Context(), "tcp", "10.0.0.2:6379")
		if oe, ok := errors.AsType[*net.OpError](err); !ok || oe.Op != "dial" || !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens: got %v", err)
		}
		t.at(2 * time.Millisecond)
		t.net.Refuse(addr, true)
		if _, err := t.net.Dial(t.Context(), "tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("refused: got %v", err)
		}
		t.net.Refuse(addr, false)
		t.dial()
		_, err = t.net.Dial(t.Context(), "tcp", "nowhere:6379")
		if de, ok := errors.AsType[*net.DNSError](err); !ok || !de.IsNotFound {
			t.Errorf("unknown name: got %v", err)
		}
		if _, err := t.net.Dial(t.Context(), "unix", "/tmp/x"); err == nil {
			t.Error("unix: no error")
		}
		if _, err := t.net.Dial(t.Context(), "tcp", "10.0.0.1"); err == nil {
			t.Error("no port: no error")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := t.net.Dial(ctx, "tcp", addr); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got %v", err)
		}
		if err := t.l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := t.net.Dial(t.Context(), "tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("after Close of the listener: got %v", err)
		}
	})
}

func TestBlackholeHangsDials(t *testing.T) {
	run(t, func(t *tester) {
		t.net.Blackhole(addr, true)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := t.net.Dial(ctx, "tcp", addr)
		t.at(5 * time.Second)
		if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want a timeout", err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			t.dial()
			t.at(7 * time.Second)
		})
		time.Sleep(2 * time.Second)
		t.net.Blackhole(addr, false)
		wg.Wait()
	})
}

func TestDialsAreSentAgainAsTCPDoes(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetResend(time.Second)
		t.net.SetLatency(addr, 10*time.Millisecond)
		t.net.Blackhole(addr, true)
		var wg sync.WaitGroup
		wg.Go(func() {
			t.dial() // sent at 0 s, 1 s, 3 s and 7 s
			t.at(7020 * time.Millisecond)
		})
		time.Sleep(3100 * time.Millisecond)
		t.net.Blackhole(addr, false)
		t.dial()
		t.at(3120 * time.Millisecond)
		wg.Wait()
	})
}

func TestBlackholeHoldsBackWhatIsSent(t *testing.T) {
	run(t, func(t *tester) {
		c, s := t.dial()
		t.write(s, "before")
		t.net.Blackhole(addr, true)
		t.write(s, "during")
		t.read(c, "before")
		if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		t.readFails(c, os.ErrDeadlineExceeded)
		t.at(time.Second)
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			t.read(c, "during")
			t.readFails(c, io.EOF)
			t.at(2 * time.Second)
		})
		time.Sleep(time.Second)
		t.net.Blackhole(addr, false)
		wg.Wait()
	})
}

func TestBlackholeFillsTheBuffer(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetBuffer(addr, 4)
		c, s := t.dial()
		t.net.Blackhole(addr, true)
		var wg sync.WaitGroup
		wg.Go(func() { t.write(c, "12345678") })
		wg.Go(func() { t.read(s, "12345678") })
		time.Sleep(time.Second)
		if got := s.Buffered(); got != 4 {
			t.Errorf("%d bytes buffered, want 4", got)
		}
		t.net.Blackhole(addr, false)
		wg.Wait()
		t.at(time.Second)
	})
}

func TestBlackholeDoesNotStopARST(t *testing.T) {
	run(t, func(t *tester) {
		c, _ := t.dial()
		t.net.Blackhole(addr, true)
		t.net.Cut(addr, RST)
		t.readFails(c, syscall.ECONNRESET)
	})
}

func TestHostsChangeAtRunTime(t *testing.T) {
	run(t, func(t *tester) {
		l2, err := t.net.Listen("10.0.0.2:6379")
		if err != nil {
			t.Fatal(err)
		}
		t.net.Hosts.Set("redis.example", "10.0.0.9", "10.0.0.1")
		c, err := t.net.Dial(t.Context(), "tcp", "redis.example:6379")
		if err != nil || c.RemoteAddr().String() != addr {
			t.Fatalf("got %v, want a connection to the second address", err)
		}
		t.net.Hosts.Set("redis.example", "10.0.0.2")
		c, err = t.net.Dial(t.Context(), "tcp", "redis.example:6379")
		if err != nil || c.RemoteAddr().String() != l2.Addr().String() {
			t.Fatalf("got %v, want a connection to %v", err, l2.Addr())
		}
		ips, err := t.net.LookupHost(t.Context(), "redis.example")
		if err != nil || !slices.Equal(ips, []string{"10.0.0.2"}) {
			t.Errorf("got %v, %v", ips, err)
		}
		t.net.Hosts.Set("redis.example")
		if _, err := t.net.LookupHost(t.Context(), "redis.example"); err == nil {
			t.Error("the name still resolves")
		}
		if ips, err := t.net.LookupHost(t.Context(), "::1"); err != nil || !slices.Equal(ips, []string{"::1"}) {
			t.Errorf("an IP: got %v, %v", ips, err)
		}
	})
}

func TestListenWithoutIPAndPort(t *testing.T) {
	run(t, func(t *tester) {
		l, err := t.net.Listen(":0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := t.net.Dial(t.Context(), "tcp", "10.9.9.9:"+port); err != nil {
			t.Error(err)
		}
		if got := len(t.net.Conns(l.Addr().String())); got != 1 {
			t.Errorf("%d connections, want 1", got)
		}
		named, err := t.net.Listen("node-1:7000")
		if err != nil {
			t.Fatal(err)
		}
		c, err := t.net.Dial(t.Context(), "tcp", "node-1:7000")
		if err != nil || c.RemoteAddr() != named.Addr() {
			t.Errorf("dial of a name somebody listens at: %v", err)
		}
	})
}

func TestListenerCloseResetsWhatWasNotAccepted(t *testing.T) {
	run(t, func(t *tester) {
		c1, s1 := t.dial()
		c2, err := t.net.Dial(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := t.l.Close(); err != nil {
			t.Error(err)
		}
		t.readFails(c2, syscall.ECONNRESET)
		t.write(c1, "alive")
		t.read(s1, "alive")
		if _, err := t.l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept: got %v", err)
		}
	})
}

func TestNetworkCloseEndsEverything(t *testing.T) {
	run(t, func(t *tester) {
		c, _ := t.dial()
		_, s := t.dial()
		t.net.Blackhole("10.0.0.7:1", true)
		var wg sync.WaitGroup
		wg.Go(func() { t.readFails(c, syscall.ECONNRESET) })
		wg.Go(func() {
			if n, err := s.Write(make([]byte, 2*defaultBuffer)); n != defaultBuffer || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("write: got %d, %v", n, err)
			}
		})
		wg.Go(func() {
			if _, err := t.l.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("Accept: got %v", err)
			}
		})
		wg.Go(func() {
			if _, err := t.net.Dial(t.Context(), "tcp", "10.0.0.7:1"); !errors.Is(err, net.ErrClosed) {
				t.Errorf("Dial: got %v", err)
			}
		})
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := t.net.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		t.at(0)
		if _, err := t.net.Listen(addr); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Listen: got %v", err)
		}
	})
}

func TestStreamArrivesIntact(t *testing.T) {
	run(t, func(t *tester) {
		t.net.SetLatency(addr, 3*time.Millisecond)
		t.net.SetBandwidth(addr, 1<<20)
		t.net.SetBuffer(addr, 10_000)
		c, s := t.dial()
		rnd := rand.New(rand.NewPCG(1, 2))
		data := make([]byte, 1<<20)
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		var wg sync.WaitGroup
		for _, end := range []*Conn{c, s} {
			wg.Go(func() { // writer
				rnd := rand.New(rand.NewPCG(3, 4))
				for rest := data; len(rest) > 0; {
					n, err := end.Write(rest[:min(len(rest), 1+rnd.IntN(30_000))])
					if err != nil {
						t.Error(err)
						return
					}
					rest = rest[n:]
				}
				if err := end.CloseWrite(); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() { // reader
				got, err := io.ReadAll(end)
				if err != nil || sha256.Sum256(got) != sha256.Sum256(data) {
					t.Errorf("%d bytes, %v; equal: %v", len(got), err, bytes.Equal(got, data))
				}
			})
		}
		wg.Wait()
	})
}

func TestWorksOutsideABubble(t *testing.T) {
	n := New()
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	l, err := n.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	n.SetLatency(addr, time.Millisecond)
	var wg sync.WaitGroup
	wg.Go(func() {
		s, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := io.Copy(s, s); err != nil { // echo
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := n.Dial(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("echo"), 100_000)
	wg.Go(func() {
		if _, err := c.Write(want); err != nil {
			t.Error(err)
		}
		if err := c.(*Conn).CloseWrite(); err != nil {
			t.Error(err)
		}
	})
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
	}
	wg.Wait()
}

func TestHowString(t *testing.T) {
	if FIN.String() != "FIN" || RST.String() != "RST" || How(7).String() != "How(7)" {
		t.Errorf("got %v, %v, %v", FIN, RST, How(7))
	}
}
