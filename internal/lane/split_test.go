package lane

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// tookLarge sends a command and tells whether it took the link of large replies: that
// one is closed before, and has to be opened anew.
func tookLarge(t *tester, s *Split, wire []byte) bool {
	t.Helper()
	if l := s.large.Current(); l != nil {
		l.Close(nil)
		synctest.Wait()
	}
	if _, err := s.Do(t.Context(), link.Request{Wire: wire, Replies: 1, Sink: &echoed{}}); err != nil {
		t.Fatal(err)
	}
	return s.large.Current() != nil
}

func echoWire(text string) []byte {
	b := resp.AppendArrayLen(nil, 2)
	return resp.AppendBulk(resp.AppendBulk(b, "ECHO"), text)
}

func TestLargeOnesHaveALinkOfTheirOwn(t *testing.T) {
	bubble(t, func(t *tester) {
		s := NewSplit(NewShared(t.open, Wait{}), NewShared(t.open, Wait{}))
		defer s.Close()
		t.onClose = s.large.Dropped
		small, grown := echoWire("small"), echoWire(inflated)
		steps := []struct {
			name string
			wire []byte
			size int // of the reply to grown
			want bool
		}{
			{"a small command", small, 0, false},
			{"a large reply that nobody knew of", grown, Large, false},
			{"the same command", grown, Large, true},
			{"another one", small, 0, false},
			{"a reply that is small again", grown, 10, true},
			{"the same command then", grown, Large, false},
			{"and again", grown, Large, true},
			{"a large command", echoWire(strings.Repeat("x", Large)), 0, true},
		}
		for _, step := range steps {
			t.inflate(step.size)
			if got := tookLarge(t, s, step.wire); got != step.want {
				t.Errorf("%s: the link of large replies was used: %v, want %v", step.name, got, step.want)
			}
		}
		s.large.Current().Close(nil)
		synctest.Wait()
		t.wantConns(1)
	})
}
