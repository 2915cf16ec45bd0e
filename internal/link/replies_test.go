package link

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/resp"
)

func TestCallersGetTheirRepliesInOrder(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		var all []*running
		for i := range 50 {
			all = append(all, t.Do(l, fmt.Sprintf("GET %d", i)))
		}
		for i := range all {
			srv.Expect(fmt.Sprintf("GET %d", i))
		}
		if got := l.InFlight(); got != 50 {
			t.Errorf("got %d in flight, want 50", got)
		}
		for i, r := range all {
			if r.Ended() {
				t.Fatalf("%s has ended before its reply came", r.name)
			}
			srv.Reply(fmt.Sprintf(":%d\r\n", i))
			r.Want(fmt.Sprintf(":%d\r\n", i))
		}
		synctest.Wait()
		if got := l.InFlight(); got != 0 {
			t.Errorf("got %d in flight, want 0", got)
		}
	})
}

// While one write is under way, what others queue becomes one batch.
func TestCommandsQueuedDuringAWriteGoOutTogether(t *testing.T) {
	bubble(t, func(t *tester) {
		open := make(chan struct{})
		var writes []string
		t.bend = func(nc net.Conn) net.Conn {
			return &bentConn{nc, func(nc net.Conn, p []byte) (int, error) {
				writes = append(writes, string(p))
				<-open
				return nc.Write(p)
			}}
		}
		l, srv := t.link()
		var all []*running
		want := []string{"", ""}
		for i := range 20 {
			all = append(all, t.Do(l, fmt.Sprintf("GET %d", i)))
			want[min(i, 1)] += string(wire(fmt.Sprintf("GET %d", i)))
		}
		close(open)
		for i, r := range all {
			srv.Expect(fmt.Sprintf("GET %d", i))
			srv.Reply(fmt.Sprintf(":%d\r\n", i))
			r.Want(fmt.Sprintf(":%d\r\n", i))
		}
		if d := cmp.Diff(want, writes); d != "" {
			t.Errorf("writes (-want +got):\n%s", d)
		}
	})
}

func TestPipelineIsOneUnit(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		w := append(append(wire("GET a"), wire("GET b")...), wire("GET c")...)
		p := t.Request(t.Context(), l, "pipeline", Request{Wire: w, Replies: 3})
		r := t.Do(l, "GET d")
		srv.Expect("GET a", "GET b", "GET c", "GET d")
		srv.Reply(":1\r\n:2\r\n")
		if p.Ended() {
			t.Fatal("the pipeline has ended after 2 of 3 replies")
		}
		srv.Reply(":3\r\n:4\r\n")
		p.Want(":1\r\n", ":2\r\n", ":3\r\n")
		r.Want(":4\r\n")
	})
}

// A mixture is replies of all sorts with pushes between them.
type mixture struct {
	frames [3][]string // of three callers
	pushes []string
}

var stream = mixture{
	frames: [3][]string{
		{bulk("one"), "*2\r\n:1\r\n$-1\r\n", "%1\r\n+k\r\n*1\r\n" + bulk("v")},
		{"|1\r\n+ttl\r\n:9\r\n" + bulk("\r\n>2\r\n")},
		{"-ERR wrong\r\n"},
	},
	pushes: []string{pushFrame("message", "x"), "|1\r\n+a\r\n+b\r\n>1\r\n+MOVING\r\n", ">2\r\n+invalidate\r\n_\r\n"},
}

// all is how they come.
func (m *mixture) all() string {
	return m.pushes[0] + m.frames[0][0] + m.frames[0][1] + m.pushes[1] + m.frames[0][2] +
		m.frames[1][0] + m.pushes[2] + m.frames[2][0]
}

func TestRepliesSplitAtEveryByte(t *testing.T) {
	all := stream.all()
	for i := range len(all) {
		bubble(t, func(t *tester) {
			var pushes []string
			t.cfg.OnPush = func(_ *Link, frame []byte) { pushes = append(pushes, string(frame)) }
			l, srv := t.link()
			callers := []*running{
				t.Request(t.Context(), l, "pipeline", Request{Replies: 3}), t.Do(l, "GET b"), t.Do(l, "GET c"),
			}
			srv.Reply(all[:i])
			synctest.Wait()
			srv.Reply(all[i:])
			for c, r := range callers {
				r.Want(stream.frames[c]...)
			}
			if d := cmp.Diff(stream.pushes, pushes); d != "" {
				t.Errorf("split at %d: pushes (-want +got):\n%s", i, d)
			}
		})
	}
}

func TestRepliesByteByByte(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		callers := []*running{
			t.Request(t.Context(), l, "pipeline", Request{Replies: 3}), t.Do(l, "GET b"), t.Do(l, "GET c"),
		}
		all := stream.all()
		for i := range len(all) {
			srv.Reply(all[i : i+1])
			synctest.Wait()
		}
		for c, r := range callers {
			r.Want(stream.frames[c]...)
		}
	})
}

func TestPushOnAnIdleLinkIsSeenAtOnce(t *testing.T) {
	bubble(t, func(t *tester) {
		seen := make(chan string, 1)
		t.cfg.OnPush = func(_ *Link, frame []byte) { seen <- string(frame) }
		_, srv := t.link()
		time.Sleep(time.Hour)
		srv.Push("MOVING", "1")
		if got := <-seen; got != pushFrame("MOVING", "1") {
			t.Errorf("got %q", got)
		}
		t.at(time.Hour)
	})
}

func TestSubscriberGetsEveryFrame(t *testing.T) {
	bubble(t, func(t *tester) {
		var got []string
		t.cfg.Subscriber = true
		t.cfg.OnPush = func(_ *Link, frame []byte) { got = append(got, string(frame)) }
		_, srv := t.link()
		want := []string{"*3\r\n+message\r\n+a\r\n+x\r\n", pushFrame("message", "a", "y"), "+PONG\r\n"}
		srv.Reply(strings.Join(want, ""))
		synctest.Wait()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("frames (-want +got):\n%s", d)
		}
	})
}

func TestUnexpectedReplyKillsTheLink(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		r := t.Do(l, "GET a")
		srv.Reply("+a\r\n+b\r\n")
		r.Want("+a\r\n")
		t.gone(l)
		if !errors.Is(l.Err(), ErrUnexpectedReply) {
			t.Errorf("got %v, want ErrUnexpectedReply", l.Err())
		}
		t.Do(l, "GET b").WantError(NotSent, ErrUnexpectedReply, 0)
	})
}

func TestUnexpectedReplyOnAnIdleLinkKillsIt(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		srv.Reply(bulk(strings.Repeat("x", 1000)))
		time.Sleep(2 * soloRest) // until the reader has the socket
		t.gone(l)
		if !errors.Is(l.Err(), ErrUnexpectedReply) || len(l.Err().Error()) > 500 {
			t.Errorf("got %v, want a short ErrUnexpectedReply", l.Err())
		}
	})
}

// Nobody gets a reply that is another's, whatever comes after the fault.
func TestProtocolErrorKillsTheLink(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		a, b, c := t.Do(l, "GET a"), t.Request(t.Context(), l, "pipeline", Request{Replies: 2}), t.Do(l, "GET c")
		srv.Reply("+a\r\n+b\r\n" + "$3\r\nabcde\r\n" + "+c\r\n+d\r\n")
		a.Want("+a\r\n")
		b.WantError(MaybeSent, resp.ErrProtocol, 1)
		c.WantError(MaybeSent, resp.ErrProtocol, 0)
		t.gone(l)
	})
}

func TestHugeAnnouncementIsRefusedWithoutAllocating(t *testing.T) {
	for name, reply := range map[string]string{
		"bulk":  "$629145600\r\n", // 600 MiB
		"array": "*2000000000\r\n",
		"depth": strings.Repeat("*1\r\n", 200),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				l, srv := t.link()
				r := t.Do(l, "GET a")
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				srv.Reply(reply)
				r.WantError(MaybeSent, resp.ErrLimit, 0)
				runtime.ReadMemStats(&after)
				if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
					t.Errorf("allocated %d bytes", got)
				}
				t.gone(l)
			})
		})
	}
}

func TestAnnouncedBytesAreAllocatedAsTheyCome(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		r := t.Do(l, "GET a")
		srv.Reply("$536870912\r\n" + strings.Repeat("x", 100_000)) // 512 MiB, which is legal
		synctest.Wait()
		l.Close(nil)
		r.WantError(MaybeSent, ErrClosed, 0)
		if got := len(l.rbuf); got > apartStep*100_000 {
			t.Errorf("the read buffer has %d bytes after 100 kB", got)
		}
	})
}

func TestBuffersShrinkAfterALargeValue(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		large := strings.Repeat("x", 4<<20)
		r := t.Do(l, "SET a "+large)
		srv.Expect("SET a " + large)
		srv.Reply(bulk(large))
		r.Want(bulk(large))
		for range 2 {
			r = t.Do(l, "GET b")
			srv.Expect("GET b")
			srv.Reply("+b\r\n")
			r.Want("+b\r\n")
		}
		synctest.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		if r, b, s := len(l.rbuf), cap(l.buf), cap(l.spare); r > keepShared || b > keepWrite || s > keepWrite {
			t.Errorf("got %d bytes to read into and %d, %d to write from", r, b, s)
		}
	})
}

// A buffer that large arrays need again and again is kept, and given up when they are
// no more; a lent link, of which there are many, keeps less.
func TestReadBuffersFollowTheReplies(t *testing.T) {
	for _, lent := range []bool{false, true} {
		bubble(t, func(t *tester) {
			t.cfg.WatchContexts = lent
			l, srv := t.link()
			size := func(reply string) int {
				r := t.Do(l, "GET a")
				srv.Expect("GET a")
				srv.Reply("*1\r\n" + bulk(reply))
				r.Want("*1\r\n" + bulk(reply))
				synctest.Wait()
				return len(l.rbuf)
			}
			large := strings.Repeat("x", 1<<20)
			for range 3 {
				size(large)
			}
			if got, most := size("small"), map[bool]int{false: 2 << 20, true: defaultReadBuffer}[lent]; got != most {
				t.Errorf("lent %v: the buffer has %d bytes after large replies, want %d", lent, got, most)
			}
			for range slackMost {
				size("small")
			}
			if got := size("small"); got != defaultReadBuffer {
				t.Errorf("lent %v: the buffer has %d bytes after many small replies, want %d", lent, got, defaultReadBuffer)
			}
		})
	}
}

// keeper is a sink that keeps large frames.
type keeper struct {
	replies
	kept [][]byte
}

func (k *keeper) Keep(i int, frame []byte) {
	k.kept = append(k.kept, frame)
	k.Reply(i, frame)
}

// A large string is read into a buffer of its own, in whatever pieces it comes and
// whatever is around it, and nobody writes there again.
func TestLargeStringsAreSetApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	bubble(t, func(t *tester) {
		l, srv := t.link()
		var sink keeper
		var all strings.Builder
		var want []string
		for i := range 60 {
			size := []int{rng.IntN(100), apartBytes - 100 + rng.IntN(200), rng.IntN(1 << 20)}[i%3]
			want = append(want, bulk(strings.Repeat(string(rune('a'+i%26)), size)))
			all.WriteString(want[i])
		}
		done := make(chan error)
		go func() {
			_, err := l.Do(context.Background(), Request{Wire: wire("GET a"), Replies: len(want), Sink: &sink})
			done <- err
		}()
		srv.Expect("GET a")
		for rest := all.String(); rest != ""; {
			n := min(1+rng.IntN(200_000), len(rest))
			srv.Reply(rest[:n])
			rest = rest[n:]
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, sink.all()); d != "" {
			t.Errorf("replies differ (%d bytes of difference)", len(d))
		}
		if len(sink.kept) < 10 {
			t.Errorf("%d strings were set apart, want 10 or more", len(sink.kept))
		}
		for _, frame := range sink.kept {
			if !slices.Contains(want, string(frame)) {
				t.Error("a frame was changed after it had been given away")
			}
			if cap(frame) > len(frame) {
				t.Errorf("a frame of %d bytes has %d more", len(frame), cap(frame)-len(frame))
			}
		}
		synctest.Wait()
		if got := len(l.rbuf); got > widest {
			t.Errorf("the buffer has %d bytes, want %d at most", got, widest)
		}
	})
}

// The buffer of a shared link that reads fill again and again becomes larger, and smaller
// again when they don't.
func TestBuffersThatReadsFill(t *testing.T) {
	for _, lent := range []bool{false, true} {
		bubble(t, func(t *tester) {
			t.cfg.WatchContexts = lent
			l, srv := t.link()
			ask := func(n, size int) int {
				r := t.Request(context.Background(), l, "GET a", Request{Replies: n})
				srv.Expect("GET a")
				srv.Reply(strings.Repeat(bulk(strings.Repeat("x", size)), n))
				<-r.done
				synctest.Wait()
				return len(l.rbuf)
			}
			want := map[bool]int{false: widest, true: defaultReadBuffer}[lent]
			if got := ask(500, 4<<10); got != want {
				t.Errorf("lent %v: the buffer has %d bytes, want %d", lent, got, want)
			}
			for range slackMost + 1 {
				ask(1, 10)
			}
			if got := ask(1, 10); got != defaultReadBuffer {
				t.Errorf("lent %v: the buffer has %d bytes, want %d", lent, got, defaultReadBuffer)
			}
		})
	}
}

// A link that is never quite idle must not remember the batches of its whole life.
func TestQueueOfBatchesStaysSmall(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.link()
		const ahead = 8
		var all []*running
		for i := range 2000 {
			all = append(all, t.Do(l, "GET a"))
			srv.Expect("GET a")
			if i >= ahead {
				srv.Reply("+a\r\n")
				all[i-ahead].Want("+a\r\n")
			}
		}
		l.mu.Lock()
		got := cap(l.fifo)
		l.mu.Unlock()
		if got > 16*ahead {
			t.Errorf("the queue has %d places for %d batches", got, ahead)
		}
		for _, r := range all[len(all)-ahead:] {
			srv.Reply("+a\r\n")
			r.Want("+a\r\n")
		}
	})
}

func TestSmallReadBuffer(t *testing.T) {
	bubble(t, func(t *tester) {
		t.cfg.ReadBuffer = 1
		l, srv := t.link()
		var all []*running
		for range 40 {
			all = append(all, t.Request(context.Background(), l, "pipeline", Request{Replies: 3}))
		}
		value := bulk(strings.Repeat("v", 700))
		srv.Reply(strings.Repeat(value, 3*40))
		for _, r := range all {
			r.Want(value, value, value)
		}
	})
}
