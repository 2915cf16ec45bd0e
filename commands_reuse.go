package redis

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/baton-go/redis/internal/resp"
)

// A ReusableCmd is a command that is made, sent and read again and again in the same
// memory, for loops that can't afford a new command object each time. Once its buffers
// are large enough, nothing is allocated:
//
//	var cmd redis.ReusableCmd
//	for _, e := range events {
//		cmd.Begin("hincrby").Str(e.Key).Str(e.Field).Int(e.N)
//		if err := rdb.Process(ctx, &cmd); err != nil {
//			return err
//		}
//		total, err := cmd.Int64()
//		...
//	}
//
// Every client, pipeline and connection takes it as any other command; a hook that
// keeps commands must Clone it. The zero value is ready for Begin; sending it without is
// an error. It belongs to one goroutine at a time. What its methods return of the reply
// is valid until the next Begin or Process. Buffers above 64 KiB are given back by Begin.
type ReusableCmd struct {
	baseCmd
	reply  []byte // as it came; empty: none
	sorted bool   // its lane is known
}

// Begin forgets the last command and its reply and starts another. The name is in lower
// case, with a subcommand as the next argument.
func (c *ReusableCmd) Begin(name string) *ReusableCmd {
	buf, reply := c.buf, c.reply[:0]
	if cap(buf) > keepEncoded {
		buf = nil
	}
	if cap(reply) > keepEncoded {
		reply = nil
	}
	*c = ReusableCmd{baseCmd: baseCmd{buf: buf}, reply: reply}
	c.begin(name)
	return c
}

// Str appends an argument.
func (c *ReusableCmd) Str(s string) *ReusableCmd {
	c.str(s)
	return c
}

// Bytes appends an argument; it is copied.
func (c *ReusableCmd) Bytes(b []byte) *ReusableCmd {
	c.buf = resp.AppendBulkBytes(c.buf, b)
	c.count++
	return c
}

// Int appends a number.
func (c *ReusableCmd) Int(v int64) *ReusableCmd {
	c.int(v)
	return c
}

// Float appends a number; infinite ones are sent as the servers want them.
func (c *ReusableCmd) Float(v float64) *ReusableCmd {
	c.float(v)
	return c
}

// base also finds the command's lane, once it is whole.
func (c *ReusableCmd) base() *baseCmd {
	if !c.sorted {
		c.sorted = true
		if c.count == 0 {
			c.beginArgs(nil)
		} else {
			c.classify()
		}
	}
	return &c.baseCmd
}

func (c *ReusableCmd) readReply(r *resp.Reader) error {
	c.reply = c.reply[:0]
	frame, err := r.Raw()
	if err != nil {
		return err
	}
	c.reply = append(c.reply, frame...)
	said := resp.NewReader(c.reply)
	switch kind := said.Kind(); {
	case kind == resp.KindError || kind == resp.KindBulkError:
		_, err = said.Bytes()
	case said.Null():
		err = Nil
	}
	return err
}

// Text is the reply as text, be it a string of any kind or a number. The error is the
// command's, or tells that the reply is a list.
func (c *ReusableCmd) Text() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	r := resp.NewReader(c.reply)
	b, err := r.Bytes()
	return b, c.unexpected(err)
}

// Int64 is the reply as an integer. The error is the command's, or tells that the reply
// is something else.
func (c *ReusableCmd) Int64() (int64, error) {
	if c.err != nil {
		return 0, c.err
	}
	r := resp.NewReader(c.reply)
	n, err := r.Int()
	return n, c.unexpected(err)
}

// Float64 is Int64 for numbers with a fraction.
func (c *ReusableCmd) Float64() (float64, error) {
	if c.err != nil {
		return 0, c.err
	}
	r := resp.NewReader(c.reply)
	f, err := r.Float()
	return f, c.unexpected(err)
}

// unexpected names the command whose reply could not be read.
func (c *ReusableCmd) unexpected(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redis: %s: unexpected reply: %w", c.Name(), err)
}

// Raw is the reply as the bytes that came, of whatever form, with errors of the server
// among them; nil: none came.
func (c *ReusableCmd) Raw() []byte { return c.reply }

// All goes over the elements of a reply that is a list, set or map of texts and numbers,
// of a map over names and values in turn. A null is a nil slice. An error, the
// command's or of a reply of another form, comes as the last pair.
func (c *ReusableCmd) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := c.each(yield); err != nil {
			yield(nil, err)
		}
	}
}

// each calls yield with each element; the error is not told to it.
func (c *ReusableCmd) each(yield func([]byte, error) bool) error {
	if c.err != nil {
		return c.err
	}
	r := resp.NewReader(c.reply)
	n, err := r.ArrayLen()
	for ; err == nil && n > 0; n-- {
		if r.Null() {
			if !yield(nil, nil) {
				return nil
			}
			continue
		}
		var b []byte
		if b, err = r.Bytes(); err == nil && !yield(b, nil) {
			return nil
		}
	}
	return c.unexpected(err)
}

// String shows the command and its reply or error.
func (c *ReusableCmd) String() string { return c.show(fmt.Sprintf("%q", c.reply)) }

func (c *ReusableCmd) detachReply() { c.reply = bytes.Clone(c.reply) }
