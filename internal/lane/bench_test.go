package lane

import (
	"bytes"
	"context"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// nothing is a sink.
type nothing struct{}

func (nothing) Reply(int, []byte) {}

// ping is the request of benchmarks.
func ping() link.Request {
	b := resp.AppendBulk(resp.AppendArrayLen(nil, 1), "PING")
	return link.Request{Wire: b, Replies: 1, Sink: nothing{}}
}

// loopback gives an Open whose links lead to a server on loopback that answers each
// PING without parsing or allocating, so that a benchmark shows the lane.
func loopback(tb testing.TB) Open {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { pong(nc) })
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		conns.Wait()
	})
	addr := l.Addr().String()
	return func(ctx context.Context) (*link.Link, error) {
		var d net.Dialer
		nc, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		l, err := link.Open(ctx, nc, link.Config{
			Endpoint: addr, Timeouts: link.NewTimeouts(time.Minute, time.Minute),
		}, link.Handshake{Protocol: 2})
		if err == nil {
			l.Start()
		}
		return l, err
	}
}

// pong answers one reply for as many bytes as a PING has.
func pong(nc net.Conn) {
	defer nc.Close()
	const reply = "+PONG\r\n"
	size := len(ping().Wire)
	in := make([]byte, 64<<10)
	out := bytes.Repeat([]byte(reply), len(in)/size+1)
	for rest := 0; ; {
		n, err := nc.Read(in)
		if err != nil {
			return
		}
		rest += n
		if _, err := nc.Write(out[:rest/size*len(reply)]); err != nil {
			return
		}
		rest %= size
	}
}

// onLane makes a shared lane that is connected.
func onLane(tb testing.TB) *Shared {
	tb.Helper()
	s := NewShared(loopback(tb), Wait{})
	tb.Cleanup(s.Close)
	mustDo(tb, s, ping())
	return s
}

func mustDo(tb testing.TB, s *Shared, q link.Request) {
	if n, err := s.Do(context.Background(), q); n.Replies != 1 || err != nil {
		tb.Errorf("got %d replies, %v, want 1", n, err)
	}
}

func BenchmarkShared(b *testing.B) {
	q := ping()
	b.Run("callers=1", func(b *testing.B) {
		s := onLane(b)
		b.ReportAllocs()
		for b.Loop() {
			mustDo(b, s, q)
		}
	})
	b.Run("callers=64", func(b *testing.B) {
		s := onLane(b)
		procs := runtime.GOMAXPROCS(0)
		b.SetParallelism((64 + procs - 1) / procs)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				mustDo(b, s, q)
			}
		})
	})
}

// withIdle makes a pool that has n idle links.
func withIdle(tb testing.TB, n int) *Pool {
	tb.Helper()
	p := NewPool(PoolConfig{Size: n, Timeout: time.Minute, MaxIdleTime: time.Hour}, loopback(tb))
	tb.Cleanup(p.Close)
	var leases []*Lease
	for range n {
		l, err := p.Get(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		leases = append(leases, l)
	}
	for _, l := range leases {
		p.Put(l, true)
	}
	return p
}

// borrow takes a link and gives it back.
func borrow(tb testing.TB, p *Pool) {
	l, err := p.Get(context.Background())
	if err != nil {
		tb.Error(err)
		return
	}
	p.Put(l, true)
}

// BenchmarkPool is Get and Put of links that are there.
func BenchmarkPool(b *testing.B) {
	for _, bb := range []struct {
		name string
		idle int
	}{{"idle=1", 1}, {"idle=200", 200}} {
		b.Run(bb.name, func(b *testing.B) {
			p := withIdle(b, bb.idle)
			b.ReportAllocs()
			for b.Loop() {
				borrow(b, p)
			}
		})
	}
	b.Run("parallel", func(b *testing.B) { // nobody waits for a turn
		p := withIdle(b, runtime.GOMAXPROCS(0))
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				borrow(b, p)
			}
		})
	})
}
