package link

import (
	"bytes"
	"context"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// canned is a server on loopback that answers whatever comes: one reply for every
// size bytes. It neither parses nor allocates, so that a benchmark shows the link.
func canned(tb testing.TB, size int, reply string) (addr string) {
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
			conns.Go(func() { answer(nc, size, reply) })
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		conns.Wait()
	})
	return l.Addr().String()
}

func answer(nc net.Conn, size int, reply string) {
	defer nc.Close()
	in := make([]byte, 64<<10)
	most := len(in)/len(reply) + 1
	out := bytes.Repeat([]byte(reply), most)
	for rest := 0; ; {
		n, err := nc.Read(in)
		if err != nil {
			return
		}
		rest += n
		for due := rest / size; due > 0; due -= most {
			if _, err := nc.Write(out[:min(due, most)*len(reply)]); err != nil {
				return
			}
		}
		rest %= size
	}
}

// onLoopback opens a link to a canned server, for requests of one or more times the
// given command.
func onLoopback(tb testing.TB, cfg Config, command []byte, reply string) *Link {
	tb.Helper()
	nc, err := net.Dial("tcp", canned(tb, len(command), reply))
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Timeouts = NewTimeouts(time.Minute, time.Minute)
	l, err := Open(tb.Context(), nc, cfg, Handshake{Protocol: 2})
	if err != nil {
		tb.Fatal(err)
	}
	l.Start()
	tb.Cleanup(func() {
		l.Close(nil)
		<-l.Gone()
	})
	return l
}

const hello = "$5\r\nhello\r\n"

// BenchmarkDo is one command after another of each of many callers. What differs is
// how the link has to watch for the end of their contexts.
func BenchmarkDo(b *testing.B) {
	never := context.Background()
	ctx, cancel := context.WithCancel(never)
	defer cancel()
	for _, bb := range []struct {
		name    string
		ctx     context.Context
		cfg     Config
		callers int
	}{
		{"callers=1", never, Config{}, 1},
		{"callers=1/context", ctx, Config{}, 1},
		{"callers=1/context/lent", ctx, Config{WatchContexts: true}, 1},
		{"callers=64", never, Config{}, 64},
		{"callers=64/context", ctx, Config{}, 64},
		{"callers=1000", never, Config{}, 1000},
	} {
		b.Run(bb.name, func(b *testing.B) {
			q := Request{Wire: wire("get key:000001"), Replies: 1, Sink: nothing{}}
			l := onLoopback(b, bb.cfg, q.Wire, hello)
			b.ReportAllocs()
			if bb.callers == 1 {
				for b.Loop() {
					mustDo(bb.ctx, b, l, q)
				}
				return
			}
			procs := runtime.GOMAXPROCS(0)
			b.SetParallelism((bb.callers + procs - 1) / procs)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					mustDo(bb.ctx, b, l, q)
				}
			})
		})
	}
}

// BenchmarkPipeline is a hundred commands in one request.
func BenchmarkPipeline(b *testing.B) {
	const depth = 100
	command := wire("get key:000001")
	l := onLoopback(b, Config{}, command, hello)
	q := Request{Wire: bytes.Repeat(command, depth), Replies: depth, Sink: nothing{}}
	b.ReportAllocs()
	for b.Loop() {
		mustDo(context.Background(), b, l, q)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*depth), "ns/command")
}

// BenchmarkLargeReply is a reply that the link's read buffer has to grow for.
func BenchmarkLargeReply(b *testing.B) {
	const size = 256 << 10
	command := wire("get key:000001")
	l := onLoopback(b, Config{}, command, bulk(strings.Repeat("x", size)))
	q := Request{Wire: command, Replies: 1, Sink: nothing{}}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		mustDo(context.Background(), b, l, q)
	}
}

// mustDo is a request that gets all its replies. Any number of goroutines may use it.
func mustDo(ctx context.Context, tb testing.TB, l *Link, q Request) {
	if n, err := l.Do(ctx, q); n.Replies != q.Replies || err != nil {
		tb.Errorf("got %d replies, %v, want %d", n, err, q.Replies)
	}
}
