package link

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// FuzzReplies feeds a link with what a server might send, in two pieces. Callers get
// exactly the frames that are theirs, pushes go to OnPush, and a link that can't
// understand what comes ends every caller's wait.
func FuzzReplies(f *testing.F) {
	for _, s := range []string{
		stream.all(), "+a\r\n+b\r\n+c\r\n+d\r\n+e\r\n", "+a\r\n?\r\n", "$5\r\nab", ">1\r\n+x\r\n:1\r\n", "*-1\r\n_\r\n#t\r\n",
		"|1\r\n+a\r\n+b\r\n>1\r\n+x\r\n", "$600000000\r\n", "*1\r\n*1\r\n*1\r\n", "-ERR x\r\n!3\r\nabc\r\n=7\r\ntxt:abc\r\n",
	} {
		f.Add([]byte(s), uint16(len(s)/2))
	}
	f.Add([]byte(strings.Repeat("+\r\n", 7)), uint16(12)) // unasked for, while nobody reads
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		if len(data) > 1<<16 {
			return
		}
		wanted, pushes, broken := sort(data)
		bubble(t, func(t *tester) {
			var pushed []string
			t.cfg.OnPush = func(_ *Link, frame []byte) { pushed = append(pushed, string(frame)) }
			l, srv := t.link()
			callers := []*running{
				t.Do(l, "GET a"), t.Request(t.Context(), l, "pipeline", Request{Replies: 2}), t.Do(l, "GET b"),
			}
			at := int(cut) % (len(data) + 1)
			srv.Reply(string(data[:at]))
			synctest.Wait()
			if l.Alive() { // else the first piece was enough
				srv.Reply(string(data[at:]))
			}
			time.Sleep(2 * soloRest) // a link at rest is read again after so much
			synctest.Wait()
			if !l.Alive() != (broken || len(wanted) > 4) {
				t.Errorf("alive %v: %v", l.Alive(), l.Err())
			}
			if len(wanted) > 4 && !errors.Is(l.Err(), ErrUnexpectedReply) {
				t.Errorf("got %v, want ErrUnexpectedReply", l.Err())
			}
			l.Close(nil)
			left := wanted
			for i, n := range []int{1, 2, 1} {
				mine := left[:min(n, len(left))]
				left = left[len(mine):]
				if len(mine) == n {
					callers[i].Want(mine...)
					continue
				}
				callers[i].WantError(MaybeSent, nil, len(mine))
				if got := callers[i].sink.all(); !slices.Equal(got, mine) {
					t.Errorf("got %q, want %q", got, mine)
				}
			}
			if len(wanted) <= 4 && !slices.Equal(pushed, pushes) {
				t.Errorf("got the pushes %q, want %q", pushed, pushes)
			}
		})
	})
}

// sort splits what a server sends into replies and pushes, up to where it can't be
// understood.
func sort(data []byte) (replies, pushes []string, broken bool) {
	var s resp.Scanner
	for len(data) > 0 {
		n, err := s.Next(data)
		if n == 0 {
			return replies, pushes, err != nil
		}
		if r := resp.NewReader(data[:n]); r.Kind() == resp.KindPush {
			pushes = append(pushes, string(data[:n]))
		} else {
			replies = append(replies, string(data[:n]))
		}
		data = data[n:]
	}
	return replies, pushes, false
}
