package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// A relayTester plays a handoff of a subscription, without sockets.
type relayTester struct {
	t         *testing.T
	p         *PubSub
	from, to  *stream
	r         *relay
	delivered []string
}

func newRelayTester(t *testing.T) *relayTester {
	p := newPubSub(nil, nil, newInbox())
	rt := &relayTester{t: t, p: p, from: newStream(p), to: newStream(p)}
	rt.from.l, rt.to.l = new(link.Link), new(link.Link)
	rt.r = &relay{from: rt.from, to: rt.to, marker: markerPrefix + "x", origins: &origins{cores: make([]*core, 1)}, done: make(chan struct{})}
	rt.r.begin(false)
	p.relay, p.cur = rt.r, rt.from
	return rt
}

// play makes events come: "<1" on the old stream, ">1" on the new one, M being the
// marker, *M the marker as the pattern * sees it, + and - the begin and the end of the
// subscription to the shard channel, "S" that it is asked for, "|" the end without a
// marker, "x" the end of a handoff that has failed.
func (rt *relayTester) play(events string) {
	for e := range strings.FieldsSeq(events) {
		if e == "|" {
			rt.deliver(rt.r.end())
			continue
		}
		if e == "S" {
			rt.p.want(subShard, true, []string{"ch"})
			continue
		}
		if e == "x" {
			rt.deliver(rt.r.giveUp())
			continue
		}
		s := rt.from
		if e[0] == '>' {
			s = rt.to
		}
		if kind, ok := map[byte]string{'+': "ssubscribe", '-': "sunsubscribe"}[e[1]]; ok {
			rt.deliver(s.take(&Subscription{Kind: kind, Channel: "ch"}))
			continue
		}
		m := &Message{Channel: "ch", Payload: e[1:]}
		if pattern, ok := strings.CutPrefix(m.Payload, "*"); ok {
			m.Pattern, m.Payload = "*", pattern
		}
		if m.Payload == "M" {
			m.Channel, m.Payload = rt.r.marker, "0"
		}
		rt.deliver(s.take(m))
	}
}

func (rt *relayTester) deliver(events []any) {
	for _, ev := range events {
		switch ev := ev.(type) {
		case *Message:
			rt.delivered = append(rt.delivered, ev.Payload)
		case error:
			rt.delivered = append(rt.delivered, "error")
		case *Subscription:
			rt.delivered = append(rt.delivered, map[string]string{"ssubscribe": "+", "sunsubscribe": "-"}[ev.Kind])
		default:
			rt.delivered = append(rt.delivered, fmt.Sprint(ev))
		}
	}
}

func TestRelay(t *testing.T) {
	for _, c := range []struct {
		name, events, want string
		patterns           bool // the subscription has some
	}{
		{name: "marker", events: "<1 <2 >2 <M >M >3 <3 >4", want: "1 2 3 4"},
		{name: "the old one is behind", events: "<1 >2 >M >3 >4 <2 <M <3 <4 >5", want: "1 2 3 4 5"},
		{name: "the new one is behind", events: "<1 <2 <M <3 <4 >2 >M >3 >4 >5", want: "1 2 3 4 5"},
		{name: "nothing but the marker", events: "<M >M", want: ""},
		{name: "identical messages", events: "<x >x <x >x <M >M >x", want: "x x x"},
		{name: "the marker for a pattern too", events: "<1 <M <*M >1 >M >*M >2", want: "1 2", patterns: true},
		{name: "the marker for two patterns", events: "<1 <M <*M <*M >1 >M >*M >*M >2", want: "1 2", patterns: true},
		{name: "the marker for two patterns, the old one behind", events: "<1 >M >*M >*M >2 <M <*M <*M <2 >3", want: "1 2 3", patterns: true},
		{name: "channels and patterns", events: "<1 <*1 >M <M <*2 >*2 >*M <*M >*3 >2", want: "1 1 2 3 2", patterns: true},

		{name: "no marker", events: "<1 <2 <3 >2 >3 | >4", want: "1 2 3 4"},
		{name: "no marker, the new one ahead", events: "<1 <2 >2 >3 >4 | >5", want: "1 2 3 4 5"},
		{name: "no marker, the new one behind", events: "<1 <2 <3 <4 >2 >3 | >4 >5", want: "1 2 3 4 5"},
		{name: "no marker, the new one behind, patterns", events: "<1 <*1 <*2 <2 >1 >*1 | >*2 >2 >*3 >3", want: "1 1 2 2 3 3", patterns: true},
		{name: "no marker, nothing in common", events: "<1 >2 | >3", want: "1 2 3"},
		{name: "no marker, nothing at all", events: "| >1", want: "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := newRelayTester(t)
			rt.r.parts[1].used = c.patterns
			rt.play(c.events)
			if got := strings.Join(rt.delivered, " "); got != c.want {
				t.Errorf("delivered %s, want %s", got, c.want)
			}
			if rt.p.cur != rt.to || rt.p.relay != nil {
				t.Error("the new stream has not taken over")
			}
		})
	}
}

// A shard channel that the server has ended on the old connection begins anew on the new
// one, and is told to have.
func TestRelayOfAnEndedChannel(t *testing.T) {
	for _, c := range []struct {
		name, before, events, want string
		isEnded                    bool // in the end
	}{
		{name: "not ended", events: "<1 >+ >2 <2 <M >M >3", want: "1 2 3"},
		{name: "before", before: "<1 <-", events: ">+ >2 >3 <M >M >4", want: "1 - + 2 3 4"},
		{name: "before, and without a marker", before: "<1 <-", events: ">+ >2 | >3", want: "1 - + 2 3"},
		{name: "before, and again", before: "<1 <-", events: ">+ >2 >- <M >M", want: "1 - + 2 -", isEnded: true},
		{name: "before, begun again", before: "<1 <- <+ <2", events: ">+ >3 <3 <M >M >4", want: "1 - + 2 3 4"},
		{name: "before, asked for again", before: "<1 <- S", events: "<+ >+ <2 >2 <M >M >3", want: "1 - + 2 3"},
		{name: "before, asked for again, the new one first", before: "<1 <- S", events: ">+ >2 <+ <2 <M >M >3", want: "1 - + 2 3"},
		{name: "before the new one is subscribed", events: "<1 <- >+ >2 <M >M >3", want: "1 - + 2 3"},
		{name: "before that, and the new one is first", events: "<1 >+ >2 <- >3 <M >M >4", want: "1 - + 2 3 4"},
		{name: "in the middle", events: "<1 >+ >2 <2 >3 <- >4 <M >M >5", want: "1 2 - + 3 4 5"},
		{name: "in the middle, the old one ahead", events: "<1 >+ <2 <3 <- >2 >3 >4 <M >M >5", want: "1 2 3 - + 4 5"},
		{name: "after the marker has come on the new one", events: "<1 >+ >2 >M >3 <2 <- <M >4", want: "1 2 - + 3 4"},
		{name: "on both", events: "<1 >+ >2 <2 <- >- <M >M", want: "1 2 - + -", isEnded: true},
		{name: "on both, the new one first", events: "<1 >+ >2 >- <2 <- <M >M", want: "1 2 -", isEnded: true},
		{name: "on both, the old one too late", events: "<1 >+ <M >M >-", want: "1 -", isEnded: true},
		{name: "on both, the old one not heard", events: "<1 >+ >2 >- <2 <M >M", want: "1 2 -", isEnded: true},
		{name: "before, and the handoff fails", before: "<1 <-", events: ">+ >2 x", want: "1 - + 2 -", isEnded: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := newRelayTester(t)
			rt.p.subs[subShard]["ch"] = struct{}{}
			rt.p.relay = nil
			rt.play(c.before)
			rt.p.relay = rt.r
			rt.to.expect(rt.p.confirmations())
			rt.play(c.events)
			if got := strings.Join(rt.delivered, " "); got != c.want {
				t.Errorf("delivered %s, want %s", got, c.want)
			}
			if _, isEnded := rt.p.ended["ch"]; isEnded != c.isEnded {
				t.Errorf("the channel is ended: %v, want %v", isEnded, c.isEnded)
			}
		})
	}
}

// What a stream waits for from one handoff is not given to the consumer because of
// the next one.
func TestRelayConfirmations(t *testing.T) {
	rt := newRelayTester(t)
	rt.p.relay = nil
	first := rt.to.expect([]string{"unsubscribe m1"})
	second := rt.to.expect([]string{"subscribe m2"})
	if first != second {
		t.Error("who waited first waits for something else")
	}
	for _, kind := range []string{"unsubscribe m1", "subscribe m2"} {
		verb, ch, _ := strings.Cut(kind, " ")
		if ev := rt.to.take(&Subscription{Kind: verb, Channel: ch}); ev != nil {
			t.Errorf("the consumer gets %v", ev)
		}
	}
	select {
	case <-second:
	default:
		t.Error("not settled")
	}
	if c := rt.to.expect(nil); c == nil {
		t.Error("nothing to wait for")
	} else {
		<-c
	}
}

func TestRelayBothStreamsDie(t *testing.T) {
	for name, order := range map[string][2]bool{"the old one first": {true, false}, "the new one first": {false, true}} {
		t.Run(name, func(t *testing.T) {
			rt := newRelayTester(t)
			rt.play("<1 >1 >2")
			for _, isFrom := range order {
				s := rt.to
				if isFrom {
					s = rt.from
				}
				s.onGone(s.l)
			}
			if rt.p.cur != nil {
				t.Error("a dead stream is the one that delivers: Receive would wait for ever")
			}
			errs := 0
			for {
				ev, ok := rt.p.in.tryPop()
				if !ok {
					break
				}
				if _, ok := ev.(error); ok {
					errs++
				}
			}
			if errs != 1 {
				t.Errorf("the consumer gets %d errors, want one", errs)
			}
		})
	}
}

func TestRelayRefused(t *testing.T) {
	no := resp.Error("NOPERM no")
	t.Run("the marker", func(t *testing.T) {
		rt := newRelayTester(t)
		settled := rt.to.expect([]string{"subscribe a", "subscribe " + rt.r.marker})
		if ev := rt.to.take(&Subscription{Kind: "subscribe", Channel: "a"}); ev != nil {
			t.Errorf("the consumer gets %v", ev)
		}
		if ev := rt.to.take(no); ev != nil {
			t.Errorf("the consumer gets %v", ev)
		}
		<-settled
		if !rt.r.unmarked || rt.r.refused != nil || rt.r.wire("unsubscribe") != nil {
			t.Errorf("unmarked %t, refused %v", rt.r.unmarked, rt.r.refused)
		}
	})
	t.Run("a channel", func(t *testing.T) {
		rt := newRelayTester(t)
		settled := rt.to.expect([]string{"subscribe a", "subscribe " + rt.r.marker})
		if ev := rt.to.take(no); ev != nil {
			t.Errorf("the consumer gets %v", ev)
		}
		<-settled
		if !errors.Is(rt.r.refused, no) {
			t.Errorf("refused %v", rt.r.refused)
		}
	})
	t.Run("what the consumer asked for", func(t *testing.T) {
		rt := newRelayTester(t)
		if ev := rt.from.take(no); len(ev) != 1 {
			t.Errorf("the consumer gets %v", ev)
		}
	})
}
