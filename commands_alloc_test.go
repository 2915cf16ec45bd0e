package redis

import (
	"strings"
	"testing"

	"github.com/baton-go/redis/internal/invariants"
)

// hotCalls are the commands whose memory is counted. What their arguments cost as
// interfaces is the caller's, so these are made before.
func hotCalls() []struct {
	name  string
	call  func(c cmdable) Cmder
	make  float64 // allocations to make and encode it
	reply string
	read  float64 // allocations to read the reply
} {
	var (
		small any = "v"
		v64   any = strings.Repeat("v", 64)
		pair      = []any{any("field"), v64}
		z         = Z{Score: 1, Member: small}
	)
	return []struct {
		name  string
		call  func(c cmdable) Cmder
		make  float64
		reply string
		read  float64
	}{
		{"GET", func(c cmdable) Cmder { return c.Get(bg, "key:12345678") }, 1, "$5\r\nhello\r\n", 1},
		{"SET 64 B", func(c cmdable) Cmder { return c.Set(bg, "key:12345678", v64, 0) }, 2, "+OK\r\n", 0},
		{"SET small", func(c cmdable) Cmder { return c.Set(bg, "key:12345678", small, 0) }, 1, "+OK\r\n", 0},
		{"SET from buffer", func(c cmdable) Cmder { return c.SetFromBuffer(bg, "key", make([]byte, 8)) }, 1, "+OK\r\n", 0},
		{"INCR", func(c cmdable) Cmder { return c.Incr(bg, "key:12345678") }, 1, ":1234567\r\n", 0},
		{"INCRBY", func(c cmdable) Cmder { return c.IncrBy(bg, "key:12345678", 1234567) }, 1, ":1234567\r\n", 0},
		{"DEL", func(c cmdable) Cmder { return c.Del(bg, "key:1", "key:2") }, 1, ":2\r\n", 0},
		{"EXPIRE", func(c cmdable) Cmder { return c.Expire(bg, "key:1", 1e10) }, 1, ":1\r\n", 0},
		{"TTL", func(c cmdable) Cmder { return c.TTL(bg, "key:1") }, 1, ":60\r\n", 0},
		{"MGET", func(c cmdable) Cmder { return c.MGet(bg, "key:1", "key:2") }, 1, "*2\r\n$5\r\nhello\r\n_\r\n", 3},
		{"HGET", func(c cmdable) Cmder { return c.HGet(bg, "key:1", "field") }, 1, "$5\r\nhello\r\n", 1},
		{"HSET", func(c cmdable) Cmder { return c.HSet(bg, "key:1", pair...) }, 2, ":1\r\n", 0},
		{"HGETALL", func(c cmdable) Cmder { return c.HGetAll(bg, "key:1") }, 1, "%2\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n", 2},
		{"LPUSH", func(c cmdable) Cmder { return c.LPush(bg, "key:1", small) }, 1, ":1\r\n", 0},
		{"BLPOP", func(c cmdable) Cmder { return c.BLPop(bg, 1e9, "key:1", "key:2") }, 1, "*2\r\n$5\r\nkey:1\r\n$2\r\nvv\r\n", 3},
		{"LRANGE", func(c cmdable) Cmder { return c.LRange(bg, "key:1", 0, -1) }, 1, "*3\r\n$2\r\naa\r\n$2\r\nbb\r\n$2\r\ncc\r\n", 4},
		{"SADD", func(c cmdable) Cmder { return c.SAdd(bg, "key:1", small) }, 1, ":1\r\n", 0},
		{"ZADD", func(c cmdable) Cmder { return c.ZAdd(bg, "key:1", z) }, 1, ":1\r\n", 0},
		{"ZRANGE", func(c cmdable) Cmder { return c.ZRangeWithScores(bg, "key:1", 0, -1) }, 1, "*2\r\n*2\r\n$2\r\naa\r\n,1.5\r\n*2\r\n$2\r\nbb\r\n,2\r\n", 5},
		{"PUBLISH", func(c cmdable) Cmder { return c.Publish(bg, "channel", small) }, 1, ":1\r\n", 0},
		{"EVALSHA", func(c cmdable) Cmder { return c.EvalSha(bg, "0123", []string{"key:1"}, small) }, 1, ":1\r\n", 1},
	}
}

func TestCommandsAllocateLittle(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks allocate")
	}
	for _, tc := range hotCalls() {
		if got := leastAllocs(100, func() { tc.call(none).base().wire() }); got > tc.make {
			t.Errorf("%s: %v allocations to make it, want %v", tc.name, got, tc.make)
		}
		cmd := tc.call(none)
		frame := tc.reply
		if got := leastAllocs(100, func() { feed(cmd, frame) }) - 2; got > tc.read { // the frame and the reader
			t.Errorf("%s: %v allocations to read the reply, want %v", tc.name, got, tc.read)
		}
	}
}

// TestClientAllocatesLittle counts the whole way of a command, from the call until its
// caller has the reply, with whatever the link's reader does meanwhile.
func TestClientAllocatesLittle(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks allocate")
	}
	for _, cc := range clientCalls() {
		t.Run(cc.name, func(t *testing.T) {
			c := cc.open(t)
			if got := leastAllocs(1000, func() { cc.must(bg, t, c) }); got > cc.allocs {
				t.Errorf("got %v allocations, want %v at most", got, cc.allocs)
			}
		})
	}
}

// TestByteCommandsAllocateNothing is TestClientAllocatesLittle for those who can't
// afford a command object and a value for each command.
func TestByteCommandsAllocateNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks allocate")
	}
	for _, bc := range byteCalls() {
		t.Run(bc.name, func(t *testing.T) {
			call := bc.open(t)
			if got := leastAllocs(1000, func() { call(bg, t) }); got > 0 {
				t.Errorf("got %v allocations, want 0", got)
			}
		})
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, tc := range hotCalls() {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tc.call(none).base().wire()
			}
		})
	}
}
