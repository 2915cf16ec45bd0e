package resp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// mget returns an array of n bulk strings of 10 bytes.
func mget(n int) []byte {
	b := AppendArrayLen(nil, n)
	for i := range n {
		b = AppendBulk(b, fmt.Sprintf("value:%04d", i%10000))
	}
	return b
}

func BenchmarkScannerNext(b *testing.B) {
	for _, bb := range []struct {
		name  string
		frame []byte
	}{
		{"ok", []byte("+OK\r\n")},
		{"int", []byte(":1234\r\n")},
		{"null", []byte("_\r\n")},
		{"nullbulk", []byte("$-1\r\n")},
		{"bulk5", []byte("$5\r\nhello\r\n")},
		{"bulk64", AppendBulk(nil, strings.Repeat("x", 64))},
		{"bulk1k", AppendBulk(nil, strings.Repeat("x", 1024))},
		{"double", []byte(",3.14\r\n")},
		{"mget10", mget(10)},
		{"mget100", mget(100)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var s Scanner
			for b.Loop() {
				if n, err := s.Next(bb.frame); n != len(bb.frame) || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}

func BenchmarkScannerInPieces(b *testing.B) {
	const piece = 16 << 10
	for _, bb := range []struct {
		name  string
		frame []byte
	}{
		{"bulk16M", AppendBulk(nil, strings.Repeat("x", 16<<20))},
		{"mget1M", mget(1 << 20)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.frame)))
			var s Scanner
			for b.Loop() {
				for end := piece; ; end += piece {
					n, err := s.Next(bb.frame[:min(end, len(bb.frame))])
					if err != nil {
						b.Fatal(err)
					}
					if n > 0 {
						break
					}
				}
			}
		})
	}
}

func BenchmarkReader(b *testing.B) {
	bulk, number, list := []byte("$5\r\nhello\r\n"), []byte(":1234\r\n"), mget(100)
	double := []byte(",3.14\r\n")
	b.Run("Bytes", func(b *testing.B) {
		for b.Loop() {
			r := NewReader(bulk)
			if _, err := r.Bytes(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("String", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := NewReader(bulk)
			if _, err := r.String(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Int", func(b *testing.B) {
		for b.Loop() {
			r := NewReader(number)
			if _, err := r.Int(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Float", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := NewReader(double)
			if _, err := r.Float(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("mget100", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := NewReader(list)
			n, err := r.ArrayLen()
			if err != nil {
				b.Fatal(err)
			}
			for range n {
				if _, err := r.Bytes(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("mget100Any", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := NewReader(list)
			if _, err := r.Any(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("mget100Skip", func(b *testing.B) {
		for b.Loop() {
			r := NewReader(list)
			if err := r.Skip(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkScanAndRead is what a link does with a buffer full of small replies, as a
// batch brings them: each is scanned, then read.
func BenchmarkScanAndRead(b *testing.B) {
	const replies = 1000
	for _, bb := range []struct {
		name  string
		frame []byte
		read  func(r *Reader) error
	}{
		{"ok", []byte("+OK\r\n"), func(r *Reader) error { _, err := r.Bytes(); return err }},
		{"int", []byte(":1234\r\n"), func(r *Reader) error { _, err := r.Int(); return err }},
		{"bulk64", AppendBulk(nil, strings.Repeat("x", 64)), func(r *Reader) error { _, err := r.Bytes(); return err }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			full := bytes.Repeat(bb.frame, replies)
			var s Scanner
			var r Reader // kept, as by those who wait for replies
			b.ReportAllocs()
			for b.Loop() {
				for rest := full; len(rest) > 0; {
					n, err := s.Next(rest)
					if n == 0 || err != nil {
						b.Fatal(n, err)
					}
					r = NewReader(rest[:n])
					if err := bb.read(&r); err != nil {
						b.Fatal(err)
					}
					rest = rest[n:]
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*replies), "ns/reply")
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	buf := make([]byte, 0, 4096)
	value := bytes.Repeat([]byte("v"), 64)
	b.Run("Bulk5", func(b *testing.B) {
		for b.Loop() {
			buf = AppendBulk(buf[:0], "hello")
		}
	})
	b.Run("BulkBytes64", func(b *testing.B) {
		for b.Loop() {
			buf = AppendBulkBytes(buf[:0], value)
		}
	})
	b.Run("BulkInt", func(b *testing.B) {
		for b.Loop() {
			buf = AppendBulkInt(buf[:0], 123456)
		}
	})
	b.Run("BulkFloat", func(b *testing.B) {
		for b.Loop() {
			buf = AppendBulkFloat(buf[:0], 3.14)
		}
	})
	b.Run("SetCommand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendArrayLen(buf[:0], 3)
			buf = AppendBulk(buf, "set")
			buf = AppendBulk(buf, "key:000001")
			buf = AppendBulkBytes(buf, value)
		}
	})
	b.Run("GetCommand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendArrayLen(buf[:0], 2)
			buf = AppendBulk(buf, "get")
			buf = AppendBulk(buf, "key:000001")
		}
	})
	args := []any{"set", "key:000001", value, "ex", 10}
	b.Run("Args", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendArrayLen(buf[:0], len(args))
			for _, a := range args {
				var err error
				if buf, err = AppendArg(buf, a); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
