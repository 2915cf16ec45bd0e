package redis

import (
	"context"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/resp"
)

// The most frequent commands of a client without hooks go out in command objects from a
// pool. What their callers get is another object, that knows its arguments but is not
// encoded: as nobody but the caller sees it, it needs no memory from the heap where the
// caller only looks at the reply.

// leanName is the name of a command whose only argument is a key.
type leanName int32

const (
	leanGet leanName = iota
	leanIncr
	leanDecr
)

var leanNames = [...]string{leanGet: "get", leanIncr: "incr", leanDecr: "decr"} //nolint:gochecknoglobals // constant

// leanOff marks a command that is not encoded: count is its leanName, and lean its key.
const leanOff = -1

// know makes c a command that is not encoded.
func (c *baseCmd) know(name leanName, key string) {
	c.off, c.count = leanOff, int32(name)
	c.lean = key
}

// encode encodes a command that is not.
func (c *baseCmd) encode() {
	c.off = 0
	c.key(leanNames[c.count], c.lean)
}

var (
	leanStrings  = sync.Pool{New: func() any { return roomy[StringCmd]() }} //nolint:gochecknoglobals // pool
	leanStatuses = sync.Pool{New: func() any { return new(StatusCmd) }}     //nolint:gochecknoglobals // pool
	leanInts     = sync.Pool{New: func() any { return roomy[IntCmd]() }}    //nolint:gochecknoglobals // pool
)

// keepLean is how large a buffer may be to go back to the pool with its command.
const keepLean = 1 << 10

// reset makes a command from a pool empty again.
func (c *result[T]) reset() {
	buf := c.buf[:0]
	if cap(buf) > keepLean {
		buf = nil
	}
	*c = result[T]{baseCmd: baseCmd{buf: buf}}
}

// hooked tells whether anybody else may see the client's commands.
func (h *hooks) hooked() bool { return len(h.chain.Load().hooks) > 0 }

// leanSender is a client that can send commands of the lean way.
type leanSender interface {
	hooked() bool
	process(ctx context.Context, cmd Cmder) error // without hooks
	Process(ctx context.Context, cmd Cmder) error // with them
	// keySlot gives the slot of a key plus 1; 0 where slots don't matter.
	keySlot(key string) uint16
}

func (c *Client) keySlot(string) uint16 { return 0 }

func (c *ClusterClient) keySlot(key string) uint16 { return cluster.SlotString(key) + 1 }

// Get gives the value of key; Nil where there is none. An error of the server says
// that the key holds no string. Since Redis 1.0, O(1).
func (c *Client) Get(ctx context.Context, key string) *StringCmd {
	cmd := new(StringCmd)
	askString(ctx, c, leanGet, key, &cmd.result)
	return cmd
}

// Incr adds 1 to the number that key holds, and gives the sum. A key that does not exist
// counts as 0. An error of the server says that the value is no integer, or that the sum
// does not fit 64 bits. Since Redis 1.0, O(1).
func (c *Client) Incr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, c, leanIncr, key, &cmd.result)
	return cmd
}

// Decr is Incr with -1. Since Redis 1.0, O(1).
func (c *Client) Decr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, c, leanDecr, key, &cmd.result)
	return cmd
}

// Set stores value in key, whatever it held, for the time of expiration: 0 for ever,
// KeepTTL for as long as the key would have lived. Below a second, the server is told
// milliseconds. Since Redis 1.0 (KeepTTL since 6.0), O(1).
func (c *Client) Set(ctx context.Context, key string, value any, expiration time.Duration) *StatusCmd {
	cmd := new(StatusCmd)
	tellSet(ctx, c, key, value, expiration, &cmd.result)
	return cmd
}

func askString(ctx context.Context, c leanSender, name leanName, key string, out *result[string]) {
	if c.hooked() {
		cmd := roomy[StringCmd]()
		cmd.key(leanNames[name], key)
		_ = c.Process(ctx, cmd)
		*out = cmd.result
		return
	}
	cmd := leanStrings.Get().(*StringCmd)
	cmd.key(leanNames[name], key)
	cmd.slot = c.keySlot(key)
	out.err = c.process(ctx, cmd)
	out.val = cmd.val
	out.know(name, key)
	cmd.reset()
	leanStrings.Put(cmd)
}

func askInt(ctx context.Context, c leanSender, name leanName, key string, out *result[int64]) {
	if c.hooked() {
		cmd := roomy[IntCmd]()
		cmd.key(leanNames[name], key)
		_ = c.Process(ctx, cmd)
		*out = cmd.result
		return
	}
	cmd := leanInts.Get().(*IntCmd)
	cmd.key(leanNames[name], key)
	cmd.slot = c.keySlot(key)
	out.err = c.process(ctx, cmd)
	out.val = cmd.val
	out.know(name, key)
	cmd.reset()
	leanInts.Put(cmd)
}

// tellSet encodes the command for its caller: the value may be any.
func tellSet(ctx context.Context, c leanSender, key string, value any, d time.Duration, out *result[string]) {
	if c.hooked() {
		cmd := new(StatusCmd)
		cmd.encodeSet(key, value, d)
		_ = c.Process(ctx, cmd)
		*out = cmd.result
		return
	}
	cmd := leanStatuses.Get().(*StatusCmd)
	cmd.encodeSet(key, value, d)
	cmd.slot = c.keySlot(key)
	out.err = c.process(ctx, cmd)
	out.val = cmd.val
	out.buf, out.off, out.count = cmd.buf, cmd.off, cmd.count
	cmd.buf = nil
	cmd.reset()
	leanStatuses.Put(cmd)
}

// encodeSet makes c a SET, in memory of its size.
func (c *baseCmd) encodeSet(key string, value any, d time.Duration) {
	size := wireHead + bulkSize(len("set")) + bulkSize(len(key)) + bulkSize(argSize(value)) + ttlRoom(d)
	c.buf = resp.AppendBulk(make([]byte, wireHead, size), "set")
	c.count = 1
	c.str(key)
	c.arg(value)
	c.ttl(d)
}

//------------------------------------------------------------------------------

// bytesCmd is a command of the byte form: it appends its reply to a buffer of the
// caller's. Pooled, so nobody else may keep it.
type bytesCmd struct {
	baseCmd
	dst    []byte
	status bool // the reply is a status that nobody wants
}

func (c *bytesCmd) String() string { return c.show(string(c.dst)) }

func (c *bytesCmd) readReply(r *resp.Reader) error {
	b, err := r.Bytes()
	if !c.status {
		c.dst = append(c.dst, b...)
	}
	return err
}

// keepEncoded is how large a command's buffer may be to be kept.
const keepEncoded = 64 << 10

var bytesCmds = sync.Pool{New: func() any { return new(bytesCmd) }} //nolint:gochecknoglobals // pool

// newBytesCmd starts a command on a key; release ends it.
func newBytesCmd(name, key string, dst []byte) *bytesCmd {
	c := bytesCmds.Get().(*bytesCmd)
	c.key(name, key)
	c.dst = dst
	return c
}

func (c *bytesCmd) release() {
	buf := c.buf
	if cap(buf) > keepEncoded {
		buf = nil
	}
	c.baseCmd = baseCmd{buf: buf}
	c.dst, c.status = nil, false
	bytesCmds.Put(c)
}

// GetBytes is [Client.Get] without memory of its own: it appends the value of key to
// dst and returns the extended buffer, as append does. Where the key does not exist the
// error is Nil; with any error, dst is returned as it was. A client with hooks takes
// the way of Get. Safe for concurrent use, each call with its own dst.
func (c *Client) GetBytes(ctx context.Context, dst []byte, key string) ([]byte, error) {
	return getBytes(ctx, c, dst, key)
}

// SetBytes is [Client.Set] without memory of its own. value is not kept. A client with
// hooks takes the way of Set. Safe for concurrent use.
func (c *Client) SetBytes(ctx context.Context, key string, value []byte, expiration time.Duration) error {
	return setBytes(ctx, c, key, value, expiration)
}

func getBytes(ctx context.Context, c leanSender, dst []byte, key string) ([]byte, error) {
	if c.hooked() {
		v, err := cmdable(c.Process).Get(ctx, key).Result()
		if err != nil {
			return dst, err
		}
		return append(dst, v...), nil
	}
	cmd := newBytesCmd("get", key, dst)
	cmd.slot = c.keySlot(key)
	err := c.process(ctx, cmd)
	out := cmd.dst
	cmd.release()
	if err != nil {
		return dst, err
	}
	return out, nil
}

func setBytes(ctx context.Context, c leanSender, key string, value []byte, expiration time.Duration) error {
	if c.hooked() {
		return cmdable(c.Process).Set(ctx, key, value, expiration).Err()
	}
	cmd := newBytesCmd("set", key, nil)
	cmd.slot = c.keySlot(key)
	cmd.status = true
	cmd.buf = resp.AppendBulkBytes(cmd.buf, value)
	cmd.count++
	cmd.ttl(expiration)
	err := c.process(ctx, cmd)
	cmd.release()
	return err
}

//------------------------------------------------------------------------------

// Get gives the value of key; Nil where there is none. An error of the server says that
// the key holds no string. Since Redis 1.0, O(1).
func (c *ClusterClient) Get(ctx context.Context, key string) *StringCmd {
	cmd := new(StringCmd)
	askString(ctx, c, leanGet, key, &cmd.result)
	return cmd
}

// Incr adds 1 to the number that key holds, and gives the sum. A key that does not exist
// counts as 0. An error of the server says that the value is no integer, or that the sum
// does not fit 64 bits. Since Redis 1.0, O(1).
func (c *ClusterClient) Incr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, c, leanIncr, key, &cmd.result)
	return cmd
}

// Decr is Incr with -1. Since Redis 1.0, O(1).
func (c *ClusterClient) Decr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, c, leanDecr, key, &cmd.result)
	return cmd
}

// Set stores value in key, whatever it held, for the time of expiration: 0 for ever,
// KeepTTL for as long as the key would have lived. Below a second, the server is told
// milliseconds. Since Redis 1.0 (KeepTTL since 6.0), O(1).
func (c *ClusterClient) Set(ctx context.Context, key string, value any, expiration time.Duration) *StatusCmd {
	cmd := new(StatusCmd)
	tellSet(ctx, c, key, value, expiration, &cmd.result)
	return cmd
}

// GetBytes is [ClusterClient.Get] without memory of its own: it appends the value of key
// to dst and returns the extended buffer, as append does. Where the key does not exist
// the error is Nil; with any error, dst is returned as it was. A client with hooks takes
// the way of Get. Safe for concurrent use, each call with its own dst.
func (c *ClusterClient) GetBytes(ctx context.Context, dst []byte, key string) ([]byte, error) {
	return getBytes(ctx, c, dst, key)
}

// SetBytes is [ClusterClient.Set] without memory of its own. value is not kept. A client
// with hooks takes the way of Set. Safe for concurrent use.
func (c *ClusterClient) SetBytes(ctx context.Context, key string, value []byte, expiration time.Duration) error {
	return setBytes(ctx, c, key, value, expiration)
}
