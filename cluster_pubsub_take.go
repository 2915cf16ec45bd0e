package redis

import (
	"maps"
	"slices"
	"time"
)

// push takes what a part has received; the mutex of its PubSub is held.
func (part *shardPart) push(events []any) {
	s := part.of
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ev := range events {
		if deliver := s.take(part, ev); len(deliver) > 0 {
			s.p.in.push(deliver...)
		}
	}
}

// ended takes in that a part was closed, as where its node is retired.
func (part *shardPart) ended() {
	s := part.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if !part.gone && !s.closed {
		s.p.in.push(s.lose(part, nil)...)
	}
}

// take tells what is to be delivered now that ev has come from a part; mu is held.
func (s *shardSubs) take(part *shardPart, ev any) []any {
	switch ev := ev.(type) {
	case *Message:
		ch := s.chans[ev.Channel]
		switch {
		case ch == nil: // the user has left it just now
			return []any{ev}
		case ch.at == part:
			deliver := ch.takeMessage(ev)
			s.leaveSoon(ch)
			return deliver
		case ch.next == part:
			ch.hold(ev)
			s.leaveSoon(ch)
		}
		return nil
	case *Subscription:
		ch := s.chans[ev.Channel]
		if ev.Kind == "ssubscribe" {
			return s.takeBegin(part, ch, ev)
		}
		return s.takeEnd(part, ch, ev)
	case *CommandError:
		return s.lose(part, []any{ev})
	case error:
		return s.takeRefusal(part, ev)
	}
	return []any{ev}
}

// takeBegin is take for a confirmation.
func (s *shardSubs) takeBegin(part *shardPart, ch *shardChan, ev *Subscription) []any {
	switch {
	case ch == nil:
		return []any{ev}
	case ch.at == part:
		ch.confirmed = true
		s.failures = 0
		return []any{ev}
	case ch.next == part:
		ch.isReady, ch.isDue = true, ch.isDue || !ch.isMate
		s.failures = 0
		signal(s.wake) // to leave the old one
	}
	return nil
}

// takeEnd is take for the end of a subscription, which was asked for or not.
func (s *shardSubs) takeEnd(part *shardPart, ch *shardChan, ev *Subscription) []any {
	wasAsked := part.leaving[ev.Channel] > 0
	if wasAsked {
		if part.leaving[ev.Channel]--; part.leaving[ev.Channel] == 0 {
			delete(part.leaving, ev.Channel)
		}
	}
	switch {
	case ch == nil:
		return []any{ev}
	case ch.at == part && ch.next != nil:
		if ch.isReady {
			return ch.pass()
		}
		return append([]any{ev}, ch.pass()...)
	case wasAsked:
		return []any{ev} // and subscribed to again since
	case ch.at == part:
		ch.at, ch.was, ch.confirmed = nil, part, false
		signal(s.wake)
		return []any{ev}
	case ch.next == part: // it has moved on already
		deliver := append(ch.held, ev)
		*ch = shardChan{slot: ch.slot}
		signal(s.wake)
		return deliver
	}
	return nil
}

// takeRefusal is take for an error of the server, which doesn't tell what it is about.
func (s *shardSubs) takeRefusal(part *shardPart, err error) []any {
	r, isRedirect := s.c.redirect(err, part.node)
	if !isRedirect && !notReady(err) {
		return []any{err}
	}
	if isRedirect && !r.Ask {
		s.redirects = append(s.redirects, r)
	}
	for _, ch := range s.chans {
		if isRedirect && ch.slot != r.Slot {
			continue
		}
		if ch.at == part && !ch.confirmed {
			ch.at = nil
		}
		if ch.next == part && !ch.isReady {
			ch.stay()
		}
	}
	s.failures++
	signal(s.wake)
	return nil
}

// lose takes in that nothing comes from a part any more; deliver is what the consumer is
// told of it.
func (s *shardSubs) lose(part *shardPart, deliver []any) []any {
	part.gone = true
	for _, name := range slices.Sorted(maps.Keys(s.chans)) {
		ch := s.chans[name]
		if ch.next == part {
			ch.stay()
		}
		switch {
		case ch.at != part:
		case ch.next != nil:
			deliver = append(deliver, ch.pass()...)
		default:
			ch.at, ch.confirmed = nil, false
		}
	}
	signal(s.wake)
	return deliver
}

// stay ends a move that has come to nothing.
func (ch *shardChan) stay() {
	*ch = shardChan{slot: ch.slot, at: ch.at, confirmed: ch.confirmed, skip: ch.skip, limit: ch.limit}
}

// takeMessage is take for a message of the part that delivers.
func (ch *shardChan) takeMessage(m *Message) []any {
	if len(ch.skip) > 0 {
		i := slices.IndexFunc(ch.skip, func(s any) bool { return sameMessage(s, m) })
		switch {
		case time.Now().After(ch.limit):
			ch.skip = nil
		case i >= 0:
			ch.skip = slices.Delete(ch.skip, i, i+1)
			return nil
		}
	}
	if ch.isMate {
		ch.since = append(ch.since, m)
		ch.meet()
	}
	return []any{m}
}

// leaveSoon makes the goroutine leave the part that delivers, where that is due.
func (s *shardSubs) leaveSoon(ch *shardChan) {
	if ch.isDue && !ch.isLeft {
		signal(s.wake)
	}
}

// hold takes a message of the next part.
func (ch *shardChan) hold(m *Message) {
	ch.held = append(ch.held, m)
	if ch.isMate {
		ch.meet()
	}
}

// meet looks whether both nodes of a shard have sent the same message, and forgets what the
// next one has sent before that: the other one has, too.
func (ch *shardChan) meet() {
	if ch.isDue || len(ch.since) == 0 {
		return
	}
	i := slices.IndexFunc(ch.held, func(h any) bool { return sameMessage(h, ch.since[0]) })
	if i >= 0 {
		ch.held = ch.held[i:]
		ch.isDue = true
	}
}

// pass makes next the one that delivers, and gives what it has sent and at has not.
func (ch *shardChan) pass() (deliver []any) {
	deliver = ch.held
	var skip []any
	if ch.isMate {
		deliver, skip = without(ch.held, ch.since)
	}
	*ch = shardChan{slot: ch.slot, at: ch.next, confirmed: ch.isReady, skip: skip, limit: time.Now().Add(relayTime)}
	return deliver
}

// without gives the messages of held that are not in since, and those of since that are not
// in held.
func without(held, since []any) (rest, missing []any) {
	missing = slices.Clone(since)
	for _, h := range held {
		i := slices.IndexFunc(missing, func(s any) bool { return sameMessage(s, h) })
		if i < 0 {
			rest = append(rest, h)
		} else {
			missing = slices.Delete(missing, i, i+1)
		}
	}
	return rest, missing
}
