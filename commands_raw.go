package redis

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/baton-go/redis/internal/resp"
)

// rawReply is a reply as it came. What the server has refused is the command's error
// while it is processed, so that redirects are followed and a server that is not ready
// is waited for; then it is a reply like any other.
type rawReply struct {
	frame   []byte
	refused error // the error that frame is; nil: it is none
}

// read takes the reply.
func (w *rawReply) read(r *resp.Reader) error {
	*w = rawReply{}
	frame, err := r.Raw()
	if err != nil {
		return err
	}
	w.frame = bytes.Clone(frame)
	said := resp.NewReader(w.frame)
	if kind := said.Kind(); kind == resp.KindError || kind == resp.KindBulkError {
		_, w.refused = said.Bytes()
	}
	return w.refused
}

// outcome is the error of a command that ended with err.
func (w *rawReply) outcome(err error) error {
	if w.refused != nil && err == w.refused { //nolint:errorlint // it is this one
		return nil
	}
	return err
}

// RawCmd is a command whose reply is kept as the bytes that came. An error that the
// server answers with is such a reply, and so is a null: Err is then nil.
type RawCmd struct {
	result[[]byte]
	reply rawReply
}

// NewRawCmd makes a command of its arguments, the name first.
func NewRawCmd(_ context.Context, args ...any) *RawCmd {
	c := roomy[RawCmd]()
	c.beginArgs(args)
	return c
}

// Bytes is the reply and the error.
func (c *RawCmd) Bytes() ([]byte, error) { return c.Result() }

// SetErr sets the command's error.
func (c *RawCmd) SetErr(err error) { c.err = c.reply.outcome(err) }

// String shows the command and its reply or error.
func (c *RawCmd) String() string {
	r := c.settled()
	return r.show(string(r.val))
}

func (c *RawCmd) readReply(r *resp.Reader) error {
	err := c.reply.read(r)
	c.val = c.reply.frame
	return err
}

// RawWriteToCmd is a command whose reply is written somewhere, as the bytes that came:
// once, whole, by the goroutine that processes the command. Errors that the server
// answers with and nulls are written like other replies. Its value is how many bytes
// were written. It is not sent again once it was sent.
type RawWriteToCmd struct {
	result[int64]
	to    io.Writer
	reply rawReply
}

// NewRawWriteToCmd makes a command of its arguments, the name first, whose reply is
// written to w.
func NewRawWriteToCmd(_ context.Context, w io.Writer, args ...any) *RawWriteToCmd {
	c := roomy[RawWriteToCmd]()
	c.to, c.once = w, true
	c.beginArgs(args)
	return c
}

// SetErr sets the command's error. Where it is nil, a reply that has come is written
// now.
func (c *RawWriteToCmd) SetErr(err error) {
	c.err = c.reply.outcome(err)
	frame := c.reply.frame
	c.reply.frame = nil
	if c.err != nil || frame == nil {
		return
	}
	if c.to == nil {
		c.err = fmt.Errorf("redis: %s: there is no writer for the reply", c.Name())
		return
	}
	n, err := c.to.Write(frame)
	c.val = int64(n)
	switch {
	case err != nil:
		c.err = fmt.Errorf("redis: %s: writing the reply: %w", c.Name(), err)
	case n < len(frame):
		c.err = fmt.Errorf("redis: %s: writing the reply: %w", c.Name(), io.ErrShortWrite)
	}
}

func (c *RawWriteToCmd) readReply(r *resp.Reader) error {
	c.val = 0
	return c.reply.read(r)
}

// settleRaw gives the commands of a pipeline their outcome whose replies are raw, and
// tells whether there are any.
func settleRaw(cmds []Cmder) (found bool) {
	for _, cmd := range cmds {
		switch cmd.(type) {
		case *RawCmd, *RawWriteToCmd:
			cmd.SetErr(cmd.base().err)
			found = true
		}
	}
	return found
}

// DoRaw sends a command given by its arguments, the name first, and gives its reply as
// the bytes that came. An error of the server is such a reply, and so is nil: Err is nil
// for both.
func (c cmdable) DoRaw(ctx context.Context, args ...any) *RawCmd {
	cmd := NewRawCmd(ctx, args...)
	_ = c(ctx, cmd)
	return cmd
}

// DoRawWriteTo is DoRaw with the reply written to w, which is used by nobody else
// meanwhile; in a pipeline, that is Exec.
func (c cmdable) DoRawWriteTo(ctx context.Context, w io.Writer, args ...any) *RawWriteToCmd {
	cmd := NewRawWriteToCmd(ctx, w, args...)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// MapStringStringSliceCmd is a command whose reply is an array of maps of strings.
type MapStringStringSliceCmd struct{ result[[]map[string]string] }

// NewMapStringStringSliceCmd makes a command of its arguments, the name first.
func NewMapStringStringSliceCmd(_ context.Context, args ...any) *MapStringStringSliceCmd {
	c := roomy[MapStringStringSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *MapStringStringSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (map[string]string, error) { return readMap(r, readStringOrEmpty) })
	return err
}

// MapStringInterfaceSliceCmd is a command whose reply is an array of maps with values
// of any type.
type MapStringInterfaceSliceCmd struct{ result[[]map[string]any] }

// NewMapStringInterfaceSliceCmd makes a command of its arguments, the name first.
func NewMapStringInterfaceSliceCmd(_ context.Context, args ...any) *MapStringInterfaceSliceCmd {
	c := roomy[MapStringInterfaceSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *MapStringInterfaceSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (map[string]any, error) { return readMap(r, readElement) })
	return err
}
