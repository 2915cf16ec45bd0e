package redis

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/baton-go/redis/internal/resp"
)

// ClientTrackingOptions say which keys the server tells the connection about.
type ClientTrackingOptions struct {
	Redirect int64    // the number of the connection that is told; 0: this one, with RESP3
	Prefixes []string // with Bcast: of which keys; none: of all
	Bcast    bool     // of keys with the prefixes, not of those that were read
	OptIn    bool     // only of keys read after CLIENT CACHING YES
	OptOut   bool     // not of keys read after CLIENT CACHING NO
	NoLoop   bool     // not of what this connection changes
}

// ClientTracking makes the server tell when keys change that the connection has read, or
// ends that. Options count only with on. It changes the connection, so it is for a Conn or
// its pipeline; what the server tells is a push, for which a handler can be registered.
// Since Redis 6.0, O(1).
func (c cmdable) ClientTracking(ctx context.Context, on bool, opts *ClientTrackingOptions) *StatusCmd {
	if on {
		return c.ClientTrackingOn(ctx, opts)
	}
	return c.ClientTrackingOff(ctx)
}

// ClientTrackingOn is ClientTracking switched on; nil options are the zero value. Since
// Redis 6.0, O(1).
func (c cmdable) ClientTrackingOn(ctx context.Context, opts *ClientTrackingOptions) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("client", "tracking")
	cmd.str("on")
	if opts != nil {
		cmd.optInt(opts.Redirect != 0, "redirect", opts.Redirect)
		for _, prefix := range opts.Prefixes {
			cmd.strs("prefix", prefix)
		}
		cmd.opt(opts.Bcast, "bcast")
		cmd.opt(opts.OptIn, "optin")
		cmd.opt(opts.OptOut, "optout")
		cmd.opt(opts.NoLoop, "noloop")
	}
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// ClientTrackingOff is ClientTracking switched off. Since Redis 6.0, O(1).
func (c cmdable) ClientTrackingOff(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("client", "tracking")
	cmd.str("off")
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// ClientMaintNotifications asks a connection's server to announce maintenance, and to name
// the endpoint to move to in one of several ways, such as "internal-ip" or "none", or not to. The
// client does it for its own connections; see Options.MaintNotificationsConfig. An error
// of the server says that it announces nothing.
func (c cmdable) ClientMaintNotifications(ctx context.Context, enabled bool, endpointType string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("client", "maint_notifications")
	if enabled {
		cmd.str("on")
		if endpointType == "" {
			endpointType = "none"
		}
		cmd.strs("moving-endpoint-type", endpointType)
	} else {
		cmd.str("off")
	}
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// Quit makes the server close the connection after its reply, so it is for a Conn; Close
// does as well. Since Redis 1.0, O(1).
func (c cmdable) Quit(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("quit")
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// DoRaw sends a command given by its arguments, the name first, and gives the reply as it
// came, not parsed: RESP2 or RESP3, as Options.Protocol says. A null and an error of the
// server are replies like others, and no errors of the command.
func (c cmdable) DoRaw(ctx context.Context, args ...any) *RawCmd {
	cmd := NewRawCmd(ctx, args...)
	_ = c(ctx, cmd)
	return cmd
}

// DoRawWriteTo is DoRaw with the reply written to w. The value is the number of bytes. w
// is written to by whoever reads the connection, one that no other command uses meanwhile:
// an error of w is the command's error, and a w that blocks for longer than the read
// timeout makes the command fail. In a pipeline, an error of the server is not written, but
// the command's error.
func (c cmdable) DoRawWriteTo(ctx context.Context, w io.Writer, args ...any) *RawWriteToCmd {
	cmd := NewRawWriteToCmd(ctx, w, args...)
	_ = c(ctx, cmd)
	if cmd.refusal != nil { // nothing comes after it
		cmd.write(cmd.refusal)
		cmd.refusal = nil
	}
	return cmd
}

// RawCmd is a command whose reply is kept as it came.
type RawCmd struct{ result[[]byte] }

// NewRawCmd makes a command of its arguments, the name first.
func NewRawCmd(_ context.Context, args ...any) *RawCmd {
	c := roomy[RawCmd]()
	c.beginArgs(args)
	return c
}

// Err is the command's error; an error of the server is none, but the reply.
func (c *RawCmd) Err() error {
	if _, ok := c.err.(resp.Error); ok && len(c.val) > 0 { //nolint:errorlint // settle stores it unwrapped
		return nil
	}
	return c.err
}

// Result is the reply and the error.
func (c *RawCmd) Result() ([]byte, error) { return c.val, c.Err() }

// Bytes is the reply and the error.
func (c *RawCmd) Bytes() ([]byte, error) { return c.Result() }

func (c *RawCmd) readReply(r *resp.Reader) error {
	raw, err := readRaw(r)
	c.val = bytes.Clone(raw)
	return err
}

// readRaw reads a reply as it came. An error reply is given as an error too.
func readRaw(r *resp.Reader) ([]byte, error) {
	at := *r
	raw, err := r.Raw()
	if err != nil {
		return nil, err
	}
	switch at.Kind() {
	case resp.KindError, resp.KindBulkError:
		_, err = at.Bytes()
	}
	return raw, err
}

// RawWriteToCmd is a command whose reply is written out as it came.
type RawWriteToCmd struct {
	result[int64]
	w       io.Writer
	refusal []byte // an error of the server, which is not written before it is judged
}

// NewRawWriteToCmd makes a command of its arguments, the name first, whose reply goes to
// w.
func NewRawWriteToCmd(_ context.Context, w io.Writer, args ...any) *RawWriteToCmd {
	c := roomy[RawWriteToCmd]()
	c.w = w
	c.beginArgs(args)
	if c.lane == laneShared { // w must not hold others up
		c.lane = laneExclusive
	}
	return c
}

func (c *RawWriteToCmd) readReply(r *resp.Reader) error {
	c.val, c.refusal = 0, nil
	raw, err := readRaw(r)
	if err != nil {
		c.refusal = bytes.Clone(raw)
		return err
	}
	c.write(raw)
	return c.err
}

// write writes the reply out.
func (c *RawWriteToCmd) write(raw []byte) {
	c.err = nil
	if c.w == nil {
		c.err = &writeError{errNoWriter}
		return
	}
	n, err := c.w.Write(raw)
	c.val = int64(n)
	if err != nil {
		c.err = &writeError{err}
	}
}

var errNoWriter = errors.New("there is no writer")

// writeError is the failure to write a reply out.
type writeError struct{ err error }

func (e *writeError) Error() string { return "redis: writing the reply out: " + e.err.Error() }

func (e *writeError) Unwrap() error { return e.err }
