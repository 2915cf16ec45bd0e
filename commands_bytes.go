package redis

import (
	"context"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

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
	if c.hooked() {
		v, err := c.Get(ctx, key).Result()
		if err != nil {
			return dst, err
		}
		return append(dst, v...), nil
	}
	cmd := newBytesCmd("get", key, dst)
	err := c.process(ctx, cmd)
	out := cmd.dst
	cmd.release()
	if err != nil {
		return dst, err
	}
	return out, nil
}

// SetBytes is [Client.Set] without memory of its own. value is not kept. A client with
// hooks takes the way of Set. Safe for concurrent use.
func (c *Client) SetBytes(ctx context.Context, key string, value []byte, expiration time.Duration) error {
	if c.hooked() {
		return c.Set(ctx, key, value, expiration).Err()
	}
	cmd := newBytesCmd("set", key, nil)
	cmd.status = true
	cmd.buf = resp.AppendBulkBytes(cmd.buf, value)
	cmd.count++
	cmd.ttl(expiration)
	err := c.process(ctx, cmd)
	cmd.release()
	return err
}
