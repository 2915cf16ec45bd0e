package maintsim

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// shardChannels are the subscriptions to sharded channels, which the embedded server does
// not have.
//
// Lock order: shardChannels.mu, then the slot table's or session.mu.
type shardChannels struct {
	table *slotTable

	mu struct {
		sync.Mutex
		of map[*session]map[string]struct{}
		at map[string]map[*session]struct{}
	}
}

func newShardChannels(t *slotTable) *shardChannels {
	ch := &shardChannels{table: t}
	ch.mu.of = make(map[*session]map[string]struct{})
	ch.mu.at = make(map[string]map[*session]struct{})
	return ch
}

// ruleShardChannels decides about SSUBSCRIBE, SUNSUBSCRIBE and SPUBLISH, called name.
func (s *session) ruleShardChannels(c *Cluster, name string, args []string) ruling {
	answer := func() {
		s.reply(appendError(nil, "ERR wrong number of arguments for '"+strings.ToLower(name)+"' command"))
	}
	switch {
	case name == "SSUBSCRIBE":
		answer = func() { c.channels.subscribe(s, args[1:]) }
	case name == "SUNSUBSCRIBE":
		answer = func() { c.channels.unsubscribe(s, args[1:]) }
	case len(args) == 3:
		answer = func() { s.reply(appendInt(nil, c.channels.publish(args[1], args[2]))) }
	}
	return ruling{drop: true, entry: entry{kind: entryLocal, answer: answer}}
}

// appendConfirmation appends what confirms a subscription command for a channel, whose
// name null is "".
func appendConfirmation(b []byte, proto int32, kind, channel string, count int) []byte {
	b = appendSpontaneous(b, proto, 3)
	b = appendBulk(b, kind)
	if channel == "" {
		b = appendNull(b, proto)
	} else {
		b = appendBulk(b, channel)
	}
	return appendInt(b, int64(count))
}

// appendSpontaneous opens what a subscriber is sent, with n elements.
func appendSpontaneous(b []byte, proto int32, n int) []byte {
	if proto == 3 {
		return appendHead(b, '>', int64(n))
	}
	return appendArrayLen(b, n)
}

// subscribe answers SSUBSCRIBE. The slot may have left since the command was read.
func (ch *shardChannels) subscribe(s *session, names []string) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	keys := [][]byte{[]byte(names[0])}
	refusal := ch.table.judge(request{node: s.proxy.index, keys: keys, channels: true, reads: true}, nil)
	if refusal != "" {
		s.proxy.countError(refusal)
		s.reply(appendError(nil, refusal))
		return
	}
	own := ch.mu.of[s]
	if own == nil {
		own = make(map[string]struct{})
		ch.mu.of[s] = own
	}
	var b []byte
	for _, name := range names {
		own[name] = struct{}{}
		if ch.mu.at[name] == nil {
			ch.mu.at[name] = make(map[*session]struct{})
		}
		ch.mu.at[name][s] = struct{}{}
		b = appendConfirmation(b, s.proto.Load(), "ssubscribe", name, len(own))
	}
	s.reply(b)
}

// unsubscribe answers SUNSUBSCRIBE.
func (ch *shardChannels) unsubscribe(s *session, names []string) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	own := ch.mu.of[s]
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(own))
	}
	if len(names) == 0 {
		names = []string{""}
	}
	var b []byte
	for _, name := range names {
		ch.removeLocked(s, name)
		b = appendConfirmation(b, s.proto.Load(), "sunsubscribe", name, len(ch.mu.of[s]))
	}
	s.reply(b)
}

func (ch *shardChannels) removeLocked(s *session, name string) {
	delete(ch.mu.of[s], name)
	if len(ch.mu.of[s]) == 0 {
		delete(ch.mu.of, s)
	}
	delete(ch.mu.at[name], s)
	if len(ch.mu.at[name]) == 0 {
		delete(ch.mu.at, name)
	}
}

// publish delivers a message and returns how many got it.
func (ch *shardChannels) publish(channel, message string) int64 {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	var n int64
	for s := range ch.mu.at[channel] {
		b := appendSpontaneous(nil, s.proto.Load(), 3)
		b = appendBulk(appendBulk(appendBulk(b, "smessage"), channel), message)
		s.push(b)
		n++
	}
	return n
}

// evict ends the subscriptions to channels of slots that have left, unasked, as servers
// do. stays tells which sessions keep theirs.
func (ch *shardChannels) evict(slots []int, stays func(*session) bool) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(ch.mu.at)) {
		if !slices.Contains(slots, slotOfString(name)) {
			continue
		}
		for s := range maps.Clone(ch.mu.at[name]) {
			if stays(s) {
				continue
			}
			ch.removeLocked(s, name)
			s.push(appendConfirmation(nil, s.proto.Load(), "sunsubscribe", name, len(ch.mu.of[s])))
		}
	}
}

// drop forgets a session.
func (ch *shardChannels) drop(s *session) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	for name := range maps.Clone(ch.mu.of[s]) {
		ch.removeLocked(s, name)
	}
}

// answer answers PUBSUB SHARDCHANNELS and SHARDNUMSUB. Patterns are not looked at.
func (ch *shardChannels) answer(s *session, args []string) []byte {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	here := func(name string) (n int64) {
		for other := range ch.mu.at[name] {
			if other.proxy == s.proxy {
				n++
			}
		}
		return n
	}
	if strings.EqualFold(args[1], "SHARDNUMSUB") {
		b := appendArrayLen(nil, 2*(len(args)-2))
		for _, name := range args[2:] {
			b = appendInt(appendBulk(b, name), here(name))
		}
		return b
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(ch.mu.at)) {
		if here(name) > 0 {
			names = append(names, name)
		}
	}
	b := appendArrayLen(nil, len(names))
	for _, name := range names {
		b = appendBulk(b, name)
	}
	return b
}
