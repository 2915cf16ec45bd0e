package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// Cmder is a command with its reply. Commands are made by the methods of the
// clients, or by the New...Cmd functions for Process; one command object belongs to
// one goroutine until it has been processed.
type Cmder interface {
	// Name is the command's name in lower case: "set".
	Name() string
	// FullName is the name with the subcommand where there is one: "client list".
	FullName() string
	// Args are the command's arguments, the name first, decoded from the encoded
	// form: every argument is a string.
	Args() []any
	// String shows the command and its reply or error.
	String() string
	// SetErr sets the command's error.
	SetErr(err error)
	// Err is the command's error: nil, Nil for a null reply, the server's error, or a
	// *CommandError.
	Err() error
	// SetFirstKeyPos says which argument is the first key, for commands that the
	// client does not know; 0: none.
	SetFirstKeyPos(pos int8)
	// SetStepCount is there because go-redis has it. Where keys follow the first one,
	// they must be in its slot, which the server sees to.
	SetStepCount(count int8)
	// Clone is a copy of the command, with its reply and error, that shares nothing
	// with it, so that both may be processed.
	Clone() Cmder
	// NoRetry tells whether the command is not sent again by itself once it was sent.
	NoRetry() bool
	// GetCmdType is the command's type.
	GetCmdType() CmdType

	base() *baseCmd
	// readReply takes the reply. It may read less than there is.
	readReply(r *resp.Reader) error
}

// wireHead is what is kept free in front of a command for "*<count>\r\n", written
// last: the count is known then.
const wireHead = 12

// baseCmd is what all commands share: the encoded command, and how it is to be
// treated. Its builder methods (begin, str, ...) append arguments; they are used by
// the command's maker only, before the command is processed.
type baseCmd struct {
	err    error
	buf    []byte // wireHead bytes, then the arguments; starts out in the command's room
	off    int32  // where the wire form starts in buf; 0: not sealed; see leanOff
	count  int32  // arguments
	keyPos int8
	lane   laneKind
	// oneIsList says that a reply that is no list is one of a single value; see jsonPath.
	oneIsList bool
	once      bool   // it is not sent again once it was sent
	slot      uint16 // of its only key, plus 1; 0: not worked out
	// wait is how long the server may keep silent beyond the read timeout because
	// the command says so: 0 none, negative for ever.
	wait time.Duration
	lean string // the key of a command that is not encoded
	due  *due   // the outcome is still to come; nil: it is here. See autopipeline_async.go
}

// laneKind says what a command needs.
type laneKind uint8

const (
	laneShared    laneKind = iota // an ordinary command
	laneExclusive                 // it blocks, so it must not hold others up
	laneSession                   // it changes the connection: only in a session of its own
)

func (c *baseCmd) base() *baseCmd { return c }

// head is the buffer of a command that begins.
func (c *baseCmd) head() []byte {
	if cap(c.buf) < wireHead {
		return make([]byte, wireHead, roomyWire)
	}
	return c.buf[:wireHead]
}

// begin starts the command; name is in lower case.
func (c *baseCmd) begin(name string) {
	c.buf = resp.AppendBulk(c.head(), name)
	c.count = 1
}

// str appends a string argument.
func (c *baseCmd) str(s string) {
	c.buf = resp.AppendBulk(c.buf, s)
	c.count++
}

// strs appends several.
func (c *baseCmd) strs(s ...string) {
	for _, a := range s {
		c.str(a)
	}
}

// int appends an integer argument.
func (c *baseCmd) int(v int64) {
	c.buf = resp.AppendBulkInt(c.buf, v)
	c.count++
}

// float appends a number.
func (c *baseCmd) float(v float64) {
	c.buf = resp.AppendBulkFloat(c.buf, v)
	c.count++
}

// arg appends an argument of any type that resp.AppendArg knows. One that it does
// not know becomes the command's error, and the command is not sent.
func (c *baseCmd) arg(v any) {
	b, err := resp.AppendArg(c.buf, v)
	if err != nil {
		if c.err == nil {
			c.err = &CommandError{Command: c.Name(), Delivery: NotSent, Err: err}
		}
		return
	}
	c.buf = b
	c.count++
}

// args appends several.
func (c *baseCmd) args(v ...any) {
	for _, a := range v {
		c.arg(a)
	}
}

// beginArgs starts a command given by its arguments, the name first.
func (c *baseCmd) beginArgs(args []any) {
	if len(args) == 0 {
		c.begin("")
		c.err = &CommandError{Delivery: NotSent, Err: errors.New("a command needs at least its name")}
		return
	}
	if name, ok := args[0].(string); ok {
		c.begin(name)
	} else {
		c.buf = c.head()
		c.arg(args[0])
	}
	c.args(args[1:]...)
	c.classify()
}

// blocks marks a command that blocks on the server for at most d, 0 for ever.
func (c *baseCmd) blocks(d time.Duration) {
	c.lane = laneExclusive
	// The server answers after d; how late it may be is bounded by the usual
	// timeout on top.
	c.wait = -1
	if d > 0 {
		c.wait = d + blockingGrace
	}
}

// blockingGrace is how long after its own time a blocking command's reply is
// waited for.
const blockingGrace = 10 * time.Second

// wire is the encoded command.
func (c *baseCmd) wire() []byte {
	if c.off == leanOff {
		c.encode()
	}
	if c.off == 0 {
		var head [wireHead]byte
		h := resp.AppendArrayLen(head[:0], int(c.count))
		c.off = int32(wireHead - len(h))
		copy(c.buf[c.off:wireHead], h)
	}
	return c.buf[c.off:]
}

// reader reads the encoded arguments, the name first.
func (c *baseCmd) reader() resp.Reader {
	if c.off == leanOff { // it stays as it is: several goroutines may look at it
		encoded := baseCmd{buf: c.buf, count: c.count, lean: c.lean}
		encoded.encode()
		return resp.NewReader(encoded.buf[wireHead:])
	}
	return resp.NewReader(c.buf[min(wireHead, len(c.buf)):])
}

// argAt gives argument i, 0 being the name, without decoding the others into
// strings; ok false: there is none.
func (c *baseCmd) argAt(i int) (arg []byte, ok bool) {
	r := c.reader()
	for ; i > 0; i-- {
		if r.Skip() != nil {
			return nil, false
		}
	}
	b, err := r.Bytes()
	return b, err == nil
}

// Name is the command's name in lower case.
func (c *baseCmd) Name() string {
	b, _ := c.argAt(0)
	return strings.ToLower(string(b))
}

// FullName is the name, with the subcommand where the command has any.
func (c *baseCmd) FullName() string {
	name := c.Name()
	if hasSubcommands(name) {
		if sub, ok := c.argAt(1); ok {
			return name + " " + strings.ToLower(string(sub))
		}
	}
	return name
}

// Args decodes the arguments; all are strings.
func (c *baseCmd) Args() []any {
	r := c.reader()
	out := make([]any, 0, c.count)
	for r.Len() > 0 {
		s, err := r.String()
		if err != nil {
			break
		}
		out = append(out, s)
	}
	return out
}

// SetErr sets the command's error.
func (c *baseCmd) SetErr(err error) { c.err = err }

// Err is the command's error.
func (c *baseCmd) Err() error {
	if c.due != nil {
		return c.due.errOf(c)
	}
	return c.err
}

// SetFirstKeyPos says which argument is the first key; 0: none.
func (c *baseCmd) SetFirstKeyPos(pos int8) { c.keyPos = pos }

// SetStepCount does nothing; see Cmder.
func (c *baseCmd) SetStepCount(int8) {}

// show is the String of all commands.
func (c *baseCmd) show(val any) string {
	var b strings.Builder
	for i, a := range hideSecrets(c.Name(), c.Args()) {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, a)
	}
	b.WriteString(": ")
	if c.err != nil {
		b.WriteString(c.err.Error())
	} else {
		fmt.Fprint(&b, val)
	}
	return b.String()
}

// hideSecrets leaves out what must not appear in a log.
func hideSecrets(name string, args []any) []any {
	keep := len(args)
	switch name {
	case "auth":
		keep = 1
	case "hello", "migrate":
		for i, a := range args {
			if s, ok := a.(string); ok && (strings.EqualFold(s, "auth") || strings.EqualFold(s, "auth2")) {
				keep = i + 1
				break
			}
		}
	case "acl":
		if len(args) > 2 {
			keep = 3
		}
	case "config":
		if len(args) > 3 {
			s, _ := args[2].(string)
			if s = strings.ToLower(s); strings.Contains(s, "pass") || strings.Contains(s, "auth") {
				keep = 3
			}
		}
	}
	if keep < len(args) {
		args = append(args[:keep:keep], "(hidden)")
	}
	return args
}

// settle stores the outcome of reading a reply.
func (c *baseCmd) settle(err error) {
	if err == nil {
		c.err = nil
		return
	}
	if isAnswer(err) {
		c.err = err
		return
	}
	c.err = fmt.Errorf("redis: %s: unexpected reply: %w", c.Name(), err)
}

// cmdable gives the command methods to whatever can process a command: it is
// embedded in Client, Conn, Tx and Pipeline.
type cmdable func(ctx context.Context, cmd Cmder) error

//------------------------------------------------------------------------------

// Cmd is a command with a reply of any type: nil, string, int64, float64, bool,
// *big.Int, []any or map[any]any.
type Cmd struct{ result[any] }

// NewCmd makes a command of its arguments, the name first. The context is not used;
// the parameter is there because go-redis has it.
func NewCmd(_ context.Context, args ...any) *Cmd {
	c := roomy[Cmd]()
	c.beginArgs(args)
	return c
}

func (c *Cmd) readReply(r *resp.Reader) (err error) {
	c.val, err = r.Any()
	return err
}

//------------------------------------------------------------------------------

// StatusCmd is a command whose reply is a status such as OK.
type StatusCmd struct{ result[string] }

// NewStatusCmd makes a command of its arguments, the name first.
func NewStatusCmd(_ context.Context, args ...any) *StatusCmd {
	c := roomy[StatusCmd]()
	c.beginArgs(args)
	return c
}

// Bytes is the reply as bytes.
func (c *StatusCmd) Bytes() ([]byte, error) {
	r := c.settled()
	return []byte(r.val), r.err
}

func (c *StatusCmd) readReply(r *resp.Reader) error {
	b, err := r.Bytes()
	if string(b) == "OK" { // the usual reply needs no memory
		c.val = "OK"
	} else {
		c.val = string(b)
	}
	return err
}

//------------------------------------------------------------------------------

// StringCmd is a command whose reply is a string.
type StringCmd struct{ result[string] }

// NewStringCmd makes a command of its arguments, the name first.
func NewStringCmd(_ context.Context, args ...any) *StringCmd {
	c := roomy[StringCmd]()
	c.beginArgs(args)
	return c
}

// Bytes is the reply as bytes.
func (c *StringCmd) Bytes() ([]byte, error) {
	r := c.settled()
	return []byte(r.val), r.err
}

// Bool is the reply as a bool: 1, t, true or 0, f, false.
func (c *StringCmd) Bool() (bool, error) { return parseReply(c, strconv.ParseBool) }

// Int is the reply as an int.
func (c *StringCmd) Int() (int, error) { return parseReply(c, strconv.Atoi) }

// Int64 is the reply as an int64.
func (c *StringCmd) Int64() (int64, error) {
	return parseReply(c, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
}

// Uint64 is the reply as a uint64.
func (c *StringCmd) Uint64() (uint64, error) {
	return parseReply(c, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
}

// Float32 is the reply as a float32.
func (c *StringCmd) Float32() (float32, error) {
	return parseReply(c, func(s string) (float32, error) {
		f, err := strconv.ParseFloat(s, 32)
		return float32(f), err
	})
}

// Float64 is the reply as a float64.
func (c *StringCmd) Float64() (float64, error) {
	return parseReply(c, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
}

// Time is the reply as a time in the form RFC 3339 with nanoseconds, which is how
// the client encodes times.
func (c *StringCmd) Time() (time.Time, error) {
	return parseReply(c, func(s string) (time.Time, error) { return time.Parse(time.RFC3339Nano, s) })
}

// Scan stores the reply in what dst points to.
func (c *StringCmd) Scan(dst any) error {
	r := c.settled()
	if r.err != nil {
		return r.err
	}
	return scanInto([]byte(r.val), dst)
}

func (c *StringCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = r.String()
	return err
}

// parseReply is a string reply made something else.
func parseReply[T any](c *StringCmd, parse func(string) (T, error)) (T, error) {
	r := c.settled()
	if r.err != nil {
		var zero T
		return zero, r.err
	}
	return parse(r.val)
}

//------------------------------------------------------------------------------

// IntCmd is a command whose reply is an integer.
type IntCmd struct{ result[int64] }

// NewIntCmd makes a command of its arguments, the name first.
func NewIntCmd(_ context.Context, args ...any) *IntCmd {
	c := roomy[IntCmd]()
	c.beginArgs(args)
	return c
}

// Uint64 is the reply as a uint64.
func (c *IntCmd) Uint64() (uint64, error) {
	r := c.settled()
	return uint64(r.val), r.err
}

func (c *IntCmd) readReply(r *resp.Reader) (err error) {
	if c.oneIsList {
		c.val, err = readSum(r)
		return err
	}
	c.val, err = r.Int()
	return err
}
