package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/baton-go/redis/internal/cluster"
)

// A moveTester plays the move of a shard channel from one node to another, without sockets.
type moveTester struct {
	s         *shardSubs
	from, to  *shardPart
	move      *shardMove
	delivered []string
}

func newMoveTester(isMate bool) *moveTester {
	mt := &moveTester{s: newShardSubs(&PubSub{in: newInbox()}, new(clusterCore))}
	part := func(addr string) *shardPart {
		n := &clusterNode{addr: addr}
		p := &shardPart{of: mt.s, node: n, leaving: make(map[string][]leaver)}
		mt.s.parts[n] = p
		return p
	}
	mt.from, mt.to = part("p:1"), part("r:1")
	mt.s.chans["ch"] = &shardChan{name: "ch", slot: cluster.SlotString("ch"), at: mt.from, confirmed: true}
	if isMate {
		mt.from.mates = []string{mt.to.node.addr}
	}
	return mt
}

// play makes events come: "<1" on the old part, ">1" on the new one, Mp and Mr being the
// markers of the two nodes, E the end of the subscription that nobody has asked for. "move"
// begins the move, and "|" is when it has taken too long.
func (mt *moveTester) play(events string) {
	for e := range strings.FieldsSeq(events) {
		switch e {
		case "move":
			moves, _ := mt.s.assign(mt.to, shardGoal{}, []string{"ch"})
			mt.move = moves[0]
			mt.s.take(mt.to, &Subscription{Kind: "ssubscribe", Channel: "ch"})
			mt.move.round, mt.move.want = 1, 2
			continue
		case "|":
			mt.deliver(mt.s.late(mt.s.chans["ch"]))
			continue
		}
		part, what := mt.from, e[1:]
		if e[0] == '>' {
			part = mt.to
		}
		var ev any = &Message{Channel: "ch", Payload: what}
		switch what {
		case "Mp", "Mr":
			ev = &Message{Channel: mt.move.marker, Payload: "1 " + what[1:] + ":1"}
		case "E":
			ev = &Subscription{Kind: "sunsubscribe", Channel: "ch"}
		}
		mt.deliver(mt.s.take(part, ev))
	}
}

func (mt *moveTester) deliver(events []any) {
	for _, ev := range events {
		if m, ok := ev.(*Message); ok {
			mt.delivered = append(mt.delivered, m.Payload)
		} else {
			mt.delivered = append(mt.delivered, fmt.Sprint(ev))
		}
	}
}

func TestShardMove(t *testing.T) {
	for _, c := range []struct {
		name, events, want string
		isMate             bool // which is known
		stays              bool // with the old part
	}{
		{name: "a slot moves", events: "<1 move <2 >3 >4 <E >5", want: "1 2 3 4 5"},
		{name: "a slot moves, equal messages", events: "<x move <x >x >x <E >x", want: "x x x x x"},
		{name: "a slot moves, and the old node does not say so", events: "<1 move >3 <2 >4 | >5", want: "1 2 3 4 5"},
		{name: "a failover", isMate: true, events: "<1 move >2 <2 >Mr >3 >Mp <3 <Mp >4 <Mr <4 >5", want: "1 2 3 4 5"},
		{name: "the old node is behind", isMate: true, events: "<1 move >2 >3 >Mr >Mp >4 <2 <3 <Mr <Mp <4 >5", want: "1 2 3 4 5"},
		{name: "the new node has only what came later", isMate: true, events: "<1 move >3 >Mp <2 <3 <Mp >Mr <Mr >4", want: "1 2 3 4"},
		{name: "the new node is behind", isMate: true, events: "<1 <2 move <3 <Mp <Mr <4 >1 >2 >3 >Mp >Mr >4 >5", want: "1 2 3 4 5"},
		{name: "equal messages", isMate: true, events: "move <x >x >x <x <x >x >Mp >Mr <Mp <Mr >x", want: "x x x x"},
		{name: "a failover that the topology does not show", events: "<1 move >2 >3 <2 >Mr <3 <Mr <4 >4 >Mp <Mp >5", want: "1 2 3 4 5"},
		{name: "the new primary does not pass on yet", events: "move >1 >2 >Mr >Mp <Mp >3 <Mr >4 <4", want: "1 2 3 4"},
		{name: "the old node ends", isMate: true, events: "<1 move >2 >3 <2 <E >4", want: "1 2 3 4"},
		{name: "the new node ends", isMate: true, events: "<1 move >2 <2 >3 >E <3 <4", want: "1 2 3 4", stays: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			mt := newMoveTester(c.isMate)
			mt.play(c.events)
			if got := strings.Join(mt.delivered, " "); got != c.want {
				t.Errorf("delivered %s, want %s", got, c.want)
			}
			want := mt.to
			if c.stays {
				want = mt.from
			}
			if ch := mt.s.chans["ch"]; ch.at != want || ch.move != nil {
				t.Error("the wrong part delivers")
			}
		})
	}
}

// Redis 8 answers SUNSUBSCRIBE with MOVED at a replica, and others where a slot has left.
func TestShardChannelCannotBeLeft(t *testing.T) {
	mt := newMoveTester(false)
	slot := cluster.SlotString("ch")
	_ = mt.s.unwant([]string{"ch"})
	mt.deliver(mt.from.refusedToLeave(slot))
	if got := strings.Join(mt.delivered, " "); got != "sunsubscribe: ch" {
		t.Errorf("the user gets %q", got)
	}
	mt.s.want([]string{"ch"})
	mt.s.chans["ch"].at = mt.from
	mt.play("<1") // of the subscription that goes on
	mt.s.take(mt.from, &Subscription{Kind: "ssubscribe", Channel: "ch"})
	mt.play("<2 <E")
	if ch := mt.s.chans["ch"]; ch.at != nil || len(mt.delivered) != 3 {
		t.Errorf("an end that nobody has asked for was missed; delivered %q", mt.delivered)
	}
}

// Nodes of a shard pass messages on late: copies of what one has delivered come on another one
// that is subscribed to when the first has ended, or that ends itself.
func TestShardChannelCopiesComeLate(t *testing.T) {
	begin := func(mt *moveTester) {
		if _, err := mt.s.assign(mt.to, shardGoal{}, []string{"ch"}); err != nil {
			mt.s.p.in.push(err)
		}
		mt.deliver(mt.s.take(mt.to, &Subscription{Kind: "ssubscribe", Channel: "ch"}))
	}
	for name, c := range map[string]struct {
		isMate bool
		play   func(mt *moveTester)
		want   string
	}{
		"subscribed to behind it": {
			isMate: true,
			play:   func(mt *moveTester) { mt.play("<1 <2 <E"); begin(mt); mt.play(">2 >3") },
			want:   "1 2 sunsubscribe: ch ssubscribe: ch 3",
		},
		"of another shard, equal messages": {
			play: func(mt *moveTester) { mt.play("<1 <2 <E"); begin(mt); mt.play(">2 >3") },
			want: "1 2 sunsubscribe: ch ssubscribe: ch 2 3",
		},
		"it ends itself, and nobody knew that it is of the shard": {
			play: func(mt *moveTester) { mt.play("<1 <2 move >1 >2 >3 >E") },
			want: "1 2 3 sunsubscribe: ch",
		},
		"it ends itself, and is subscribed to again": {
			play: func(mt *moveTester) {
				mt.play("<1 <2 move >1 >E")
				mt.from.mates = []string{mt.to.node.addr}
				begin(mt)
				mt.play(">2 >3")
			},
			want: "1 2 sunsubscribe: ch ssubscribe: ch 3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			mt := newMoveTester(c.isMate)
			c.play(mt)
			if got := strings.Join(mt.delivered, " "); got != c.want {
				t.Errorf("delivered %s, want %s", got, c.want)
			}
		})
	}
}

// The nodes that a shard has had are remembered, also where a topology leaves one out.
func TestShardPartMeetsItsMates(t *testing.T) {
	part := &shardPart{node: &clusterNode{addr: "a:1"}}
	for _, nodes := range [][]ClusterNode{{{Addr: "a:1"}, {Addr: "b:1"}, {Addr: "c:1"}}, {{Addr: "a:1"}}} {
		topo, err := topologyOf([]ClusterSlot{{End: cluster.Slots - 1, Nodes: nodes}})
		if err != nil {
			t.Fatal(err)
		}
		part.meet(newClusterState(topo, nil))
	}
	if got := strings.Join(part.mates, " "); got != "a:1 b:1 c:1" {
		t.Errorf("mates are %s", got)
	}
}

// A new connection of a part begins what the server has ended on the old one.
func TestShardChannelBeginsAnewWhereItWas(t *testing.T) {
	begin := &Subscription{Kind: "ssubscribe", Channel: "ch"}
	for name, c := range map[string]struct {
		prepare func(mt *moveTester)
		want    string
		isAt    func(mt *moveTester) *shardPart
	}{
		"nowhere": {
			prepare: func(*moveTester) {},
			want:    "1 sunsubscribe: ch ssubscribe: ch 2",
			isAt:    func(mt *moveTester) *shardPart { return mt.from },
		},
		"elsewhere, soon": {
			prepare: func(mt *moveTester) { mt.s.chans["ch"].at = mt.to },
			want:    "1 sunsubscribe: ch ssubscribe: ch 2",
			isAt:    func(mt *moveTester) *shardPart { return mt.from },
		},
		"elsewhere": {
			prepare: func(mt *moveTester) { mt.s.chans["ch"].at, mt.s.chans["ch"].confirmed = mt.to, true },
			want:    "1 sunsubscribe: ch",
			isAt:    func(mt *moveTester) *shardPart { return mt.to },
		},
		"it is being left": {
			prepare: func(mt *moveTester) { mt.from.leaving["ch"] = []leaver{leftByMove} },
			want:    "1 sunsubscribe: ch",
			isAt:    func(*moveTester) *shardPart { return nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			mt := newMoveTester(false)
			mt.play("<1 <E")
			c.prepare(mt)
			mt.deliver(mt.s.take(mt.from, begin))
			mt.play("<2")
			if got := strings.Join(mt.delivered, " "); got != c.want {
				t.Errorf("delivered %s, want %s", got, c.want)
			}
			if at := mt.s.chans["ch"].at; at != c.isAt(mt) {
				t.Errorf("the channel is at %v", at)
			}
			if wasLeft := slices.Contains(mt.to.ending, "ch"); wasLeft != (name == "elsewhere, soon") {
				t.Errorf("the other part leaves it: %v", wasLeft)
			}
		})
	}
}

func TestMarkerBeside(t *testing.T) {
	for _, name := range []string{"", "ch", "{ch}1", "a{b}c", "{}x", "a}b", "}", "{", strings.Repeat("}", 40)} {
		if got := markerBeside(name); cluster.SlotString(got) != cluster.SlotString(name) || !strings.HasPrefix(got, shardMarkerPrefix) {
			t.Errorf("%q: %q has another slot", name, got)
		}
	}
}

// Messages of several nodes of a cluster have an order each.
func TestRelayOfSeveralOrigins(t *testing.T) {
	rt := newRelayTester(t)
	rt.r.origins = &origins{cores: make([]*core, 2), of: func(channel string) int { return len(channel) - 1 }}
	rt.r.begin(true)
	play := func(s *stream, pattern, channel, payload string) {
		rt.deliver(s.take(&Message{Pattern: pattern, Channel: channel, Payload: payload}))
	}
	mark := func(s *stream, origin int) {
		for _, pattern := range []string{"", "*"} {
			play(s, pattern, rt.r.marker, strconv.Itoa(origin))
		}
	}
	play(rt.from, "", "a", "1")
	play(rt.from, "*", "bb", "2")
	mark(rt.from, 0)
	mark(rt.to, 0)
	play(rt.to, "", "a", "3") // after the marker of its origin
	play(rt.from, "", "a", "3")
	play(rt.to, "*", "bb", "4") // before it
	play(rt.from, "*", "bb", "4")
	mark(rt.to, 1)
	play(rt.to, "*", "bb", "5")
	mark(rt.from, 1)
	play(rt.from, "*", "bb", "5")
	if got := strings.Join(rt.delivered, " "); got != "1 2 4 3 5" {
		t.Errorf("delivered %s", got)
	}
}
