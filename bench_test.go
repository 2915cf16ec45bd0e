package redis

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
// size bytes. It neither parses nor allocates, so that a benchmark shows the client.
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

// A clientCall is a method of the client as an application calls it.
type clientCall struct {
	name   string
	reply  string
	call   func(ctx context.Context, c cmdable) Cmder
	check  func(cmd Cmder) bool
	allocs float64 // at most, with what the application keeps: the command and its value
}

// clientCalls are those that applications live on. What their arguments cost as
// interfaces is the caller's, so these are made before.
func clientCalls() []clientCall {
	var value any = strings.Repeat("v", 64)
	text := value.(string)
	return []clientCall{
		{
			name: "Get", reply: "$64\r\n" + text + "\r\n", allocs: 2,
			call:  func(ctx context.Context, c cmdable) Cmder { return c.Get(ctx, "key:000001") },
			check: func(cmd Cmder) bool { return cmd.(*StringCmd).Val() == text },
		},
		{
			name: "Set", reply: "+OK\r\n", allocs: 2,
			call:  func(ctx context.Context, c cmdable) Cmder { return c.Set(ctx, "key:000001", value, 0) },
			check: func(cmd Cmder) bool { return cmd.(*StatusCmd).Val() == "OK" },
		},
		{
			name: "Incr", reply: ":1234567\r\n", allocs: 1,
			call:  func(ctx context.Context, c cmdable) Cmder { return c.Incr(ctx, "key:000001") },
			check: func(cmd Cmder) bool { return cmd.(*IntCmd).Val() == 1234567 },
		},
	}
}

// open gives a client of a canned server for this call.
func (cc clientCall) open(tb testing.TB) *Client {
	tb.Helper()
	cmd := cc.call(tb.Context(), func(context.Context, Cmder) error { return nil })
	c := openCanned(tb, len(cmd.base().wire()), cc.reply)
	cc.must(tb.Context(), tb, c)
	return c
}

// openCanned gives a client of a canned server.
func openCanned(tb testing.TB, size int, reply string) *Client {
	tb.Helper()
	c := NewClient(&Options{Addr: canned(tb, size, reply), Protocol: 2, DisableIdentity: true})
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// must makes the call and checks the reply.
func (cc clientCall) must(ctx context.Context, tb testing.TB, c *Client) {
	if cmd := cc.call(ctx, c.cmdable); cmd.Err() != nil || !cc.check(cmd) {
		tb.Errorf("got %v", cmd)
	}
}

// A byteCall is one of the client's methods that take and give bytes.
type byteCall struct {
	name string
	open func(tb testing.TB) func(ctx context.Context, tb testing.TB)
}

func byteCalls() []byteCall {
	const k = "key:000001"
	value := []byte(strings.Repeat("v", 64))
	return []byteCall{
		{"GetBytes", func(tb testing.TB) func(context.Context, testing.TB) {
			c := openCanned(tb, len("*2\r\n$3\r\nget\r\n$10\r\n")+len(k)+2, "$64\r\n"+string(value)+"\r\n")
			buf := make([]byte, 0, 128)
			return func(ctx context.Context, tb testing.TB) {
				if got, err := c.GetBytes(ctx, buf, k); err != nil || !bytes.Equal(got, value) {
					tb.Errorf("got %q, %v", got, err)
				}
			}
		}},
		{"SetBytes", func(tb testing.TB) func(context.Context, testing.TB) {
			size := len("*5\r\n$3\r\nset\r\n$10\r\n") + len(k) + len("\r\n$64\r\n") + len(value) + len("\r\n$2\r\nex\r\n$2\r\n60\r\n")
			c := openCanned(tb, size, "+OK\r\n")
			return func(ctx context.Context, tb testing.TB) {
				if err := c.SetBytes(ctx, k, value, time.Minute); err != nil {
					tb.Error(err)
				}
			}
		}},
		{"ReusableCmd", func(tb testing.TB) func(context.Context, testing.TB) {
			c := openCanned(tb, len("*4\r\n$7\r\nhincrby\r\n$10\r\n")+len(k)+len("\r\n$5\r\nfield\r\n$2\r\n12\r\n"), ":1234567\r\n")
			var cmd ReusableCmd
			return func(ctx context.Context, tb testing.TB) {
				err := c.Process(ctx, cmd.Begin("hincrby").Str(k).Str("field").Int(12))
				if got, _ := cmd.Int64(); err != nil || got != 1234567 {
					tb.Errorf("got %v, %v", got, err)
				}
			}
		}},
		{"ReusableCmd of a list", func(tb testing.TB) func(context.Context, testing.TB) {
			c := openCanned(tb, len("*4\r\n$6\r\nlrange\r\n$10\r\n")+len(k)+len("\r\n$1\r\n0\r\n$1\r\n9\r\n"), "*3\r\n$1\r\na\r\n$2\r\nbb\r\n:7\r\n")
			var cmd ReusableCmd
			return func(ctx context.Context, tb testing.TB) {
				n, err := 0, c.Process(ctx, cmd.Begin("lrange").Str(k).Int(0).Int(9))
				for b, err := range cmd.All() {
					if err != nil {
						tb.Error(err)
					}
					n += len(b)
				}
				if err != nil || n != 4 {
					tb.Errorf("got %d bytes, %v", n, err)
				}
			}
		}},
	}
}

// BenchmarkClientBytes is one command after another of one caller.
func BenchmarkClientBytes(b *testing.B) {
	for _, bc := range byteCalls() {
		b.Run(bc.name, func(b *testing.B) {
			call := bc.open(b)
			b.ReportAllocs()
			for b.Loop() {
				call(context.Background(), b)
			}
		})
	}
}

// BenchmarkClient is one command after another of each of many callers.
func BenchmarkClient(b *testing.B) {
	for _, cc := range clientCalls() {
		b.Run(cc.name+"/callers=1", func(b *testing.B) {
			c := cc.open(b)
			b.ReportAllocs()
			for b.Loop() {
				cc.must(context.Background(), b, c)
			}
		})
		b.Run(cc.name+"/callers=64", func(b *testing.B) {
			c := cc.open(b)
			manyCallers(b, func() { cc.must(context.Background(), b, c) })
		})
		b.Run(cc.name+"/callers=64/context", func(b *testing.B) {
			c := cc.open(b)
			manyCallers(b, func() { cc.must(b.Context(), b, c) })
		})
	}
}

// manyCallers makes 64 goroutines do something all the time.
func manyCallers(b *testing.B, do func()) {
	procs := runtime.GOMAXPROCS(0)
	b.SetParallelism((64 + procs - 1) / procs)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			do()
		}
	})
}

// BenchmarkClientPipeline is a pipeline of a hundred commands.
func BenchmarkClientPipeline(b *testing.B) {
	const depth = 100
	for _, cc := range clientCalls() {
		b.Run(cc.name, func(b *testing.B) {
			c := cc.open(b)
			b.ReportAllocs()
			for b.Loop() {
				p := c.pipe()
				for range depth {
					cc.call(b.Context(), p.cmdable)
				}
				cmds, err := p.Exec(b.Context())
				if err != nil || !cc.check(cmds[depth-1]) {
					b.Fatal(err, cmds[depth-1])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*depth), "ns/command")
		})
	}
}
