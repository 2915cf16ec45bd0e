package redis

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// StreamMessages goes over the messages of a stream from one ID to another, both
// included, in the order of their IDs, a page of up to pageSize messages at a time (0:
// 100). - is the first and + the last, as with XRange; (id leaves id out. Messages that
// are added meanwhile come too, if they are in the range. An error comes as the last
// pair. rdb is any client, and is used by the loop only:
//
//	for msg, err := range redis.StreamMessages(ctx, rdb, "events", "-", "+", 0) {
//		if err != nil {
//			return err
//		}
//		use(msg)
//	}
//
// Since Redis 6.2, each page O(N) with its messages.
func StreamMessages(ctx context.Context, rdb StreamCmdable, stream, start, stop string, pageSize int64) iter.Seq2[XMessage, error] {
	if pageSize <= 0 {
		pageSize = 100
	}
	return func(yield func(XMessage, error) bool) {
		for from := start; ; {
			page, err := rdb.XRangeN(ctx, stream, from, stop, pageSize).Result()
			if err != nil {
				yield(XMessage{}, err)
				return
			}
			for _, m := range page {
				if !yield(m, nil) {
					return
				}
			}
			if int64(len(page)) < pageSize {
				return
			}
			from = "(" + page[len(page)-1].ID
		}
	}
}

// StreamMessage is a message and the stream that it is in.
type StreamMessage struct {
	Stream string
	XMessage
}

// FollowStreams goes over the messages of one or more streams that come after some IDs,
// and then over those that are added, as XRead with the same arguments called again and
// again. Each message comes once, in the order of its stream. $ is the last message that
// there is when the loop begins; nothing that is added from then on is missed, also
// between two reads. With a.Block at 0 or more it waits for further messages, without
// end, in turns of a.Block; below 0, it ends where the streams end. It also ends with ctx
// or another error, which comes as the last pair. a is not changed. rdb is any client,
// and is used by the loop only. Since Redis 5.0.
func FollowStreams(ctx context.Context, rdb StreamCmdable, a *XReadArgs) iter.Seq2[StreamMessage, error] {
	return func(yield func(StreamMessage, error) bool) {
		if err := followStreams(ctx, rdb, *a, yield); err != nil {
			yield(StreamMessage{}, err)
		}
	}
}

// followStreams reads until there is nothing left, an error, or yield has enough.
func followStreams(ctx context.Context, rdb StreamCmdable, a XReadArgs, yield func(StreamMessage, error) bool) error {
	streams, after, err := startsOf(ctx, rdb, &a)
	if err != nil {
		return err
	}
	for a.ID = ""; ; {
		a.Streams = slices.Concat(streams, after)
		got, err := rdb.XRead(ctx, &a).Result()
		switch {
		case errors.Is(err, Nil) && a.Block >= 0 && ctx.Err() == nil:
			continue
		case errors.Is(err, Nil) && a.Block < 0:
			return nil
		case errors.Is(err, Nil):
			return context.Cause(ctx)
		case err != nil:
			return err
		}
		for _, s := range got {
			at := slices.Index(streams, s.Stream)
			if at < 0 {
				return fmt.Errorf("redis: xread: messages of stream %q, which was not asked for", s.Stream)
			}
			for _, m := range s.Messages {
				after[at] = m.ID
				if !yield(StreamMessage{Stream: s.Stream, XMessage: m}, nil) {
					return nil
				}
			}
		}
	}
}

// startsOf gives the streams and for each of them the ID that is read from.
func startsOf(ctx context.Context, rdb StreamCmdable, a *XReadArgs) (streams, after []string, err error) {
	n := len(a.Streams)
	switch {
	case a.ID != "":
		streams, after = a.Streams, slices.Repeat([]string{a.ID}, n)
	case n%2 == 0:
		streams, after = a.Streams[:n/2], slices.Clone(a.Streams[n/2:])
	default:
		return nil, nil, fmt.Errorf("redis: xread: %d streams and IDs, want as many of each", n)
	}
	if len(streams) == 0 {
		return nil, nil, errors.New("redis: xread: no streams")
	}
	for i, id := range after {
		if id != "$" {
			continue
		}
		last, err := rdb.XRevRangeN(ctx, streams[i], "+", "-", 1).Result()
		if err != nil {
			return nil, nil, err
		}
		after[i] = "0"
		if len(last) > 0 {
			after[i] = last[0].ID
		}
	}
	return streams, after, nil
}
