package maintsim_test

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/baton-go/redis/maintsim"
)

// BenchmarkPipelined pushes 200,000 commands through one connection per
// iteration and reads what comes back.
func BenchmarkPipelined(b *testing.B) {
	benchmarkPipelined(b, func(b *testing.B) string { return maintsim.Start(b, maintsim.Config{}).Addr() })
}

// BenchmarkClusterPipelined is the same at a node, which looks at each key.
func BenchmarkClusterPipelined(b *testing.B) {
	benchmarkPipelined(b, func(b *testing.B) string {
		c := maintsim.StartCluster(b, maintsim.ClusterConfig{})
		return c.Addrs()[c.Owner("key:12345")]
	})
}

func benchmarkPipelined(b *testing.B, start func(*testing.B) string) {
	const total, batch = 200_000, 100
	for _, tc := range []struct{ name, command, reply string }{
		{"set", encode("SET", "key:12345", "0123456789abcdef0123456789abcdef"), "+OK\r\n"},
		{"get", encode("GET", "key:12345"), bulk("0123456789abcdef0123456789abcdef")},
	} {
		b.Run(tc.name, func(b *testing.B) {
			c := dial(b, start(b))
			c.hello3()
			c.do("SET", "key:12345", "0123456789abcdef0123456789abcdef")
			pipeline := strings.Repeat(tc.command, batch)
			r := bufio.NewReaderSize(c.nc, 64<<10)
			b.ReportAllocs()
			for b.Loop() {
				go func() {
					for range total / batch {
						_, _ = io.WriteString(c.nc, pipeline)
					}
				}()
				if _, err := r.Discard(total * len(tc.reply)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(total)*float64(b.N)/b.Elapsed().Seconds(), "commands/s")
		})
	}
}

// BenchmarkOneByOne is a client that waits for each reply.
func BenchmarkOneByOne(b *testing.B) {
	sim := maintsim.Start(b, maintsim.Config{})
	c := dial(b, sim.Addr())
	command, reply := encode("PING"), "+PONG\r\n"
	for b.Loop() {
		if _, err := io.WriteString(c.nc, command); err != nil {
			b.Fatal(err)
		}
		if _, err := c.br.Discard(len(reply)); err != nil {
			b.Fatal(err)
		}
	}
}
