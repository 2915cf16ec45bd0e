package link

import (
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
	Frame []byte
	Owned bool // nobody else uses Frame
	room  [16]byte
}

// newAnswer keeps a reply as it is.
func newAnswer(frame []byte, apart bool) *Answer {
	a := &Answer{Frame: frame, Owned: apart}
	if !apart {
		a.Frame = append(a.room[:0], frame...)
	}
	return a
}

// AskText sends a command whose last argument is key, and head what comes before, from
// the number of arguments on, and gives the text of its reply, or the reply where it is of
// another form. Errors are those of Do.
func (l *Link) AskText(ctx context.Context, head []byte, key string) (string, *Answer, error) {
	c := l.calls.Get().(*call)
	c.want, c.keyed = wantText, true
	if !l.ask(ctx, c, head, key) {
		a, err := l.instead(ctx, c)
		return "", a, err
	}
	text := c.text
	l.answered(c)
	return text, nil, nil
}

// AskInt is AskText for integers.
func (l *Link) AskInt(ctx context.Context, head []byte, key string) (int64, *Answer, error) {
	c := l.calls.Get().(*call)
	c.want, c.keyed = wantInt, true
	if !l.ask(ctx, c, head, key) {
		a, err := l.instead(ctx, c)
		return 0, a, err
	}
	num := c.num
	l.answered(c)
	return num, nil, nil
}

// AskOK sends a whole command, whose reply is to be OK.
func (l *Link) AskOK(ctx context.Context, wire []byte) (*Answer, error) {
	c := l.calls.Get().(*call)
	c.want = wantOK
	if !l.ask(ctx, c, wire, "") {
		return l.instead(ctx, c)
	}
	l.answered(c)
	return nil, nil
}

// TellOK is AskOK for a command that ends with key and value. Neither is kept.
func (l *Link) TellOK(ctx context.Context, head []byte, key, value string) (*Answer, error) {
	c := l.calls.Get().(*call)
	c.want, c.keyed, c.text = wantOK, true, value
	if !l.ask(ctx, c, head, key) {
		return l.instead(ctx, c)
	}
	l.answered(c)
	return nil, nil
}

// AskBytes is AskText with the text appended to dst, which nobody else may use until it
// returns. With an error or another form of the reply, dst comes back as it was.
func (l *Link) AskBytes(ctx context.Context, head []byte, key string, dst []byte) ([]byte, *Answer, error) {
	c := l.calls.Get().(*call)
	c.want, c.keyed, c.dst = wantBytes, true, dst
	if !l.ask(ctx, c, head, key) {
		a, err := l.instead(ctx, c)
		return dst, a, err
	}
	dst = c.dst
	l.answered(c)
	return dst, nil, nil
}

// ask sends a question and waits until its call is done. It is true where the reply is as
// expected; otherwise see instead.
func (l *Link) ask(ctx context.Context, c *call, head []byte, key string) bool {
	if ctx.Done() != nil && !l.watch(ctx, c) {
		return false
	}
	c.replies, c.alone = 1, true
	if err := l.submit(ctx, c, head, key); err != nil {
		c.err = err // once it is queued, the call is the reader's
		return false
	}
	<-c.ready
	return c.state.Load() == done
}

// watch makes the sweeper look at the context of a call, unless it has ended.
func (l *Link) watch(ctx context.Context, c *call) bool {
	if ctx.Err() != nil {
		c.err = &Error{Endpoint: l.cfg.Endpoint, Delivery: NotSent, Err: context.Cause(ctx)}
		return false
	}
	c.ctx, c.watched = ctx, true
	return true
}

// instead is what has come of a question that was not answered as expected.
func (l *Link) instead(ctx context.Context, c *call) (*Answer, error) {
	if c.state.Load() == abandoned { // by the sweeper
		return nil, l.left(ctx)
	}
	a, err := c.odd, c.err
	l.answered(c)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// answered gives the call of a question back.
func (l *Link) answered(c *call) {
	if c.watched || c.want == wantBytes || c.state.Load() != done {
		c.odd, c.err, c.dst, c.ctx = nil, nil, nil, nil
	}
	c.want, c.keyed, c.alone, c.watched = wantSink, false, false, false
	c.text, c.num, c.size, c.replies = "", 0, 0, 0
	c.state.Store(pending)
	l.calls.Put(c)
}

// answer takes the reply to a question, for good if apart, unless the caller has left.
// What it writes to the call nobody reads then.
func (c *call) answer(frame []byte, apart bool) {
	state := done
	switch c.want {
	case wantText:
		if text, ok := resp.Text(frame); ok && !apart {
			c.text = string(text)
		} else {
			state = odd
		}
	case wantInt:
		if n, ok := resp.Integer(frame); ok {
			c.num = n
		} else {
			state = odd
		}
	case wantOK:
		if string(frame) != "+OK\r\n" {
			state = odd
		}
	case wantBytes:
		text, ok := resp.Text(frame)
		if !ok {
			state = odd
			break
		}
		if !c.state.CompareAndSwap(pending, filling) { // its memory may be in use again
			return
		}
		c.dst = append(c.dst, text...)
		c.state.Store(done)
		c.ready <- struct{}{}
		return
	case wantSink:
	}
	if state == odd {
		c.odd = newAnswer(frame, apart)
	}
	if c.state.CompareAndSwap(pending, state) {
		c.ready <- struct{}{} // one slot and one sender: never blocks
	}
}
