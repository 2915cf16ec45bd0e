package link

import (
	"bytes"
	"context"

	"github.com/baton-go/redis/internal/resp"
)

// Most commands are short and have a short reply of a form that is known before. Such a
// question needs no sink: its key is encoded where it is written from, and the reader
// keeps the reply in the call. So a caller who waits has little on its stack, and little
// memory is touched until it goes on, which is what counts where thousands wait.

// want is the form of a reply that a question expects.
type want uint8

const (
	wantSink  want = iota // it is no question
	wantText              // a string
	wantInt               // an integer
	wantOK                // the status OK
	wantBytes             // a string, appended to the caller's
)

// An Answer is a reply that is not of the form its question expects: an error, a null,
// any other kind of value, or a text that is large.
type Answer struct {
	Frame []byte // nil: the reply was as expected
	Owned bool   // nobody else uses Frame
}

// AskText sends a command whose last argument is key, and head what comes before, from
// the number of arguments on, and gives the text of its reply. Errors are those of Do.
func (l *Link) AskText(ctx context.Context, head []byte, key string) (string, Answer, error) {
	c, err := l.ask(ctx, wantText, head, key, "", true, nil)
	if err != nil {
		return "", Answer{}, err
	}
	text, a := c.text, Answer{c.raw, c.kept}
	l.answered(c)
	return text, a, nil
}

// AskInt is AskText for integers.
func (l *Link) AskInt(ctx context.Context, head []byte, key string) (int64, Answer, error) {
	c, err := l.ask(ctx, wantInt, head, key, "", true, nil)
	if err != nil {
		return 0, Answer{}, err
	}
	num, a := c.num, Answer{c.raw, c.kept}
	l.answered(c)
	return num, a, nil
}

// AskOK sends a whole command, whose reply is to be OK.
func (l *Link) AskOK(ctx context.Context, wire []byte) (Answer, error) {
	c, err := l.ask(ctx, wantOK, wire, "", "", false, nil)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{c.raw, c.kept}
	l.answered(c)
	return a, nil
}

// TellOK is AskOK for a command that ends with key and value. Neither is kept.
func (l *Link) TellOK(ctx context.Context, head []byte, key, value string) (Answer, error) {
	c, err := l.ask(ctx, wantOK, head, key, value, true, nil)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{c.raw, c.kept}
	l.answered(c)
	return a, nil
}

// AskBytes is AskText with the text appended to dst, which nobody else may use until it
// returns. With an error or another form of the reply, dst comes back as it was.
func (l *Link) AskBytes(ctx context.Context, head []byte, key string, dst []byte) ([]byte, Answer, error) {
	c, err := l.ask(ctx, wantBytes, head, key, "", true, dst)
	if err != nil {
		return dst, Answer{}, err
	}
	if raw := c.raw; c.num == 0 {
		l.answered(c)
		return raw, Answer{}, nil
	}
	a := Answer{c.raw, c.kept}
	l.answered(c)
	return dst, a, nil
}

// ask sends a question and waits until its call is done.
func (l *Link) ask(ctx context.Context, w want, head []byte, key, value string, keyed bool, dst []byte) (*call, error) {
	watch := ctx.Done()
	if watch != nil && ctx.Err() != nil {
		return nil, &Error{Endpoint: l.cfg.Endpoint, Delivery: NotSent, Err: context.Cause(ctx)}
	}
	c := l.calls.Get().(*call)
	c.want, c.keyed, c.text, c.raw = w, keyed, value, dst
	c.replies = 1
	if watch != nil {
		c.ctx = ctx
	}
	c.alone = true
	if err := l.submit(ctx, c, head, key); err != nil {
		l.answered(c)
		return nil, err
	}
	<-c.ready
	if c.state.Load() == abandoned { // by the sweeper
		return nil, l.left(ctx) // the link may look at the call still, but not at what was written
	}
	if c.err != nil {
		err := c.err
		l.answered(c)
		return nil, err
	}
	return c, nil
}

// answered gives the call of a question back.
func (l *Link) answered(c *call) {
	c.state.Store(pending)
	c.want, c.keyed, c.alone, c.kept = wantSink, false, false, false
	c.text, c.num, c.raw = "", 0, nil
	c.ctx, c.err, c.replies, c.size = nil, nil, 0, 0
	l.calls.Put(c)
}

// answer takes the reply to a question, for good if apart, unless the caller has left.
func (c *call) answer(frame []byte, apart bool) {
	if !c.state.CompareAndSwap(pending, filling) {
		return
	}
	switch c.want {
	case wantText:
		if text, ok := resp.Text(frame); ok && !apart {
			c.text = string(text)
		} else {
			c.keep(frame, apart)
		}
	case wantInt:
		if n, ok := resp.Integer(frame); ok {
			c.num = n
		} else {
			c.keep(frame, apart)
		}
	case wantOK:
		if string(frame) != "+OK\r\n" {
			c.keep(frame, apart)
		}
	case wantBytes:
		if text, ok := resp.Text(frame); ok {
			c.raw = append(c.raw, text...)
		} else {
			c.num = 1
			c.keep(frame, apart)
		}
	case wantSink:
	}
	c.state.Store(done)
	c.ready <- struct{}{} // one slot and one sender: never blocks
}

// keep keeps a reply of another form as it is.
func (c *call) keep(frame []byte, apart bool) {
	if c.kept = apart; !apart {
		frame = bytes.Clone(frame)
	}
	c.raw = frame
}
