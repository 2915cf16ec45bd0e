package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/baton-go/redis/internal/invariants"
)

var getHead = []byte("*2\r\n$3\r\nGET\r\n")

// asked is what came of a question, in words.
func asked(v any, a *Answer, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case a != nil:
		return fmt.Sprintf("other %q", a.Frame)
	}
	return fmt.Sprintf("%s", v)
}

// TestACallFillsCacheLines: see call.
func TestACallFillsCacheLines(t *testing.T) {
	var c call
	if size, second := unsafe.Sizeof(c), unsafe.Offsetof(c.odd); size != 192 || second != 64 {
		t.Errorf("a call is %d bytes long, and its second line begins at %d; want 192 and 64", size, second)
	}
}

// TestAskGivesTheReply asks in each form for replies of every kind.
func TestAskGivesTheReply(t *testing.T) {
	forms := map[string]func(l *Link) string{
		"text": func(l *Link) string {
			v, a, err := l.AskText(context.Background(), getHead, "k")
			return asked(v, a, err)
		},
		"bytes": func(l *Link) string {
			before := append(make([]byte, 0, 64), "before "...)
			v, a, err := l.AskBytes(context.Background(), getHead, "k", before)
			if !strings.HasPrefix(string(v), "before ") || a != nil && len(v) != len(before) {
				return fmt.Sprintf("the buffer has become %q", v)
			}
			return asked(v[len(before):], a, err)
		},
		"int": func(l *Link) string {
			v, a, err := l.AskInt(context.Background(), getHead, "k")
			return asked(fmt.Sprint(v), a, err)
		},
		"ok": func(l *Link) string {
			a, err := l.AskOK(context.Background(), wire("GET k"))
			return asked("OK", a, err)
		},
	}
	long := strings.Repeat("x", 3000)
	for _, tc := range []struct{ reply, text, num, ok string }{
		{reply: "$5\r\nhello\r\n", text: "hello"},
		{reply: "$0\r\n\r\n", text: ""},
		{reply: "$3000\r\n" + long + "\r\n", text: long},
		{reply: "$11\r\n$1\r\na\r\n$-1\r\r\n", text: "$1\r\na\r\n$-1\r"},
		{reply: "+OK\r\n", text: "OK", ok: "OK"},
		{reply: "+QUEUED\r\n", text: "QUEUED"},
		{reply: "+\r\n", text: ""},
		{reply: ":-42\r\n", num: "-42"},
		{reply: ":123456789012\r\n", num: "123456789012"},
		{reply: ":9223372036854775807\r\n"},
		{reply: "$-1\r\n"},
		{reply: "_\r\n"},
		{reply: "-ERR wrong\r\n"},
		{reply: "*1\r\n$1\r\na\r\n"},
		{reply: "|1\r\n+a\r\n+b\r\n$1\r\nx\r\n"},
		{reply: "=5\r\ntxt:a\r\n"},
	} {
		isText := tc.reply[0] == '$' && tc.reply[1] != '-' || tc.reply[0] == '+'
		for form, ask := range forms {
			want := fmt.Sprintf("other %q", tc.reply)
			switch {
			case (form == "text" || form == "bytes") && isText:
				want = tc.text
			case form == "int" && tc.num != "":
				want = tc.num
			case form == "ok" && tc.ok != "":
				want = tc.ok
			}
			bubble(t, func(t *tester) {
				l, srv := t.link()
				got := make(chan string, 1)
				go func() { got <- ask(l) }()
				srv.Expect("GET k")
				srv.Reply(tc.reply)
				if g := <-got; g != want {
					t.Errorf("%s of %.40q: got %.60q, want %.60q", form, tc.reply, g, want)
				}
			})
		}
	}
}

// TestTellWritesKeyAndValue: and nothing of them is left in the call, which others get.
func TestTellWritesKeyAndValue(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		setHead := []byte("*3\r\n$3\r\nSET\r\n")
		for i, reply := range []string{"+OK\r\n", "-ERR no\r\n", "+OK\r\n"} {
			value := fmt.Sprintf("v%d", i)
			got := make(chan string, 1)
			go func() {
				a, err := l.TellOK(context.Background(), setHead, "k", value)
				got <- asked("OK", a, err)
			}()
			srv.Expect("SET k " + value)
			srv.Reply(reply)
			want := "OK"
			if reply[0] == '-' {
				want = fmt.Sprintf("other %q", reply)
			}
			if g := <-got; g != want {
				t.Errorf("got %q, want %q", g, want)
			}
			go func() {
				v, a, err := l.AskText(context.Background(), getHead, "k")
				got <- asked(v, a, err)
			}()
			srv.Expect("GET k")
			srv.Reply("$-1\r\n")
			if g := <-got; g != `other "$-1\r\n"` {
				t.Errorf("a text that is not there: got %q", g)
			}
		}
	})
}

// TestAskTellsHowFarItGot is the same for questions as for requests.
func TestAskTellsHowFarItGot(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := l.AskInt(ended, getHead, "k"); !errors.Is(err, context.Canceled) || deliveryOf(err) != NotSent {
			t.Errorf("with a context that has ended: %v", err)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begun := time.Now()
		_, _, err := l.AskText(ctx, getHead, "late")
		if !errors.Is(err, context.DeadlineExceeded) || deliveryOf(err) != MaybeSent {
			t.Errorf("after its deadline: %v", err)
		}
		if late := time.Since(begun) - 100*time.Millisecond; late < 0 || late > sweepEvery {
			t.Errorf("left %v after the deadline, want at most %v", late, sweepEvery)
		}
		srv.Expect("GET late")

		got := make(chan string, 1)
		go func() {
			v, a, err := l.AskText(context.Background(), getHead, "k")
			got <- asked(v, a, err)
		}()
		srv.Expect("GET k")
		srv.Reply(bulk("of late") + bulk("of k")) // the first is for somebody who has left
		if g := <-got; g != "of k" {
			t.Errorf("got %q, want its own reply", g)
		}

		failed := make(chan error, 1)
		go func() {
			_, _, err := l.AskBytes(context.Background(), getHead, "cut", nil)
			failed <- err
		}()
		srv.Expect("GET cut")
		_ = srv.c.Close()
		if err := <-failed; deliveryOf(err) != MaybeSent {
			t.Errorf("cut in the middle: %v", err)
		}
		synctest.Wait()
		if _, err := l.AskOK(context.Background(), wire("SET k v")); deliveryOf(err) != NotSent {
			t.Errorf("on a dead link: %v", err)
		}
	})
}

func deliveryOf(err error) Delivery {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Delivery
	}
	return 255 // it has none
}

// TestAskKeepsLargeFrames is a text that has a buffer of its own: it is not copied.
func TestAskKeepsLargeFrames(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		want := bulk(strings.Repeat("y", 2*apartBytes))
		got := make(chan *Answer, 1)
		go func() {
			_, a, err := l.AskText(context.Background(), getHead, "k")
			if err != nil {
				t.Error(err)
			}
			got <- a
		}()
		srv.Expect("GET k")
		srv.Reply(want)
		if a := <-got; a == nil || string(a.Frame) != want || !a.Owned {
			t.Errorf("got %v, want %d bytes of one's own", a, len(want))
		}
	})
}

func TestAskAllocatesNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the race detector allocates")
	}
	command := wire("get key:000001")
	l := onLoopback(t, Config{}, command, hello)
	head := []byte("*2\r\n$3\r\nget\r\n")
	dst := make([]byte, 0, 64)
	for name, most := range map[string]float64{"text": 1, "bytes": 0} {
		got := testing.AllocsPerRun(1000, func() {
			var a *Answer
			var err error
			if name == "text" {
				_, a, err = l.AskText(context.Background(), head, "key:000001")
			} else {
				_, a, err = l.AskBytes(context.Background(), head, "key:000001", dst)
			}
			if err != nil || a != nil {
				t.Fatalf("got %v, %v", a, err)
			}
		})
		if got > most {
			t.Errorf("%s: %v allocations, want %v at most", name, got, most)
		}
	}
}
