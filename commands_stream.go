package redis

import (
	"context"
	"time"
)

// XTrimLimitDisabled is the limit with which an approximate trim may look at any
// number of messages.
const XTrimLimitDisabled = -1

// XAddArgs are the arguments of XAdd.
type XAddArgs struct {
	Stream     string
	NoMkStream bool   // only if the stream exists
	MaxLen     int64  // keep so many messages at most; 0: all
	MinID      string // or keep those from this ID on; with MaxLen, that counts
	// Approx lets the server keep some more, which is much cheaper; Limit then bounds
	// how many messages are looked at: 0 is the server's default, XTrimLimitDisabled
	// none.
	Approx bool
	Limit  int64
	// Mode says what happens to what groups know of trimmed messages: KEEPREF, DELREF
	// or ACKED; empty: KEEPREF. Since Redis 8.2.
	Mode string
	ID   string // empty: the server chooses one

	// Values are the fields: names and values in turn in a []any or []string, a
	// map[string]any or map[string]string, or a struct as HSet takes it.
	Values any

	// ProducerID makes that a message is added once only: with IdempotentAuto the
	// server finds out by its fields, else IdempotentID is its name. Since Redis 8.6.
	ProducerID     string
	IdempotentID   string
	IdempotentAuto bool
}

// XAdd adds a message to a stream and gives its ID; Nil if NoMkStream was in the way. An
// error of the server says that the ID is not higher than all before. Since Redis 5.0,
// O(1), and O(N) with the messages trimmed.
func (c cmdable) XAdd(ctx context.Context, a *XAddArgs) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.key("xadd", a.Stream)
	cmd.opt(a.NoMkStream, "nomkstream")
	cmd.opt(a.Mode != "", a.Mode)
	if a.ProducerID != "" {
		if a.IdempotentAuto {
			cmd.strs("idmpauto", a.ProducerID)
		} else if a.IdempotentID != "" {
			cmd.strs("idmp", a.ProducerID, a.IdempotentID)
		}
	}
	if a.MaxLen > 0 || a.MinID != "" {
		cmd.trim(a.MaxLen, a.MinID, a.Approx, a.Limit)
	}
	if a.ID != "" {
		cmd.str(a.ID)
	} else {
		cmd.str("*")
	}
	cmd.expand([]any{a.Values})
	_ = c(ctx, cmd)
	return cmd
}

// trim appends what to keep: maxLen messages, or those from minID on if that is given
// and maxLen is not.
func (c *baseCmd) trim(maxLen int64, minID string, approx bool, limit int64) {
	byID := minID != "" && maxLen <= 0
	if byID {
		c.str("minid")
	} else {
		c.str("maxlen")
	}
	c.opt(approx, "~")
	if byID {
		c.str(minID)
	} else {
		c.int(maxLen)
	}
	switch {
	case limit > 0:
		c.optInt(true, "limit", limit)
	case limit == XTrimLimitDisabled:
		c.optInt(true, "limit", 0)
	}
}

func (c cmdable) xtrim(ctx context.Context, key string, maxLen int64, minID string, approx bool, limit int64, mode string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("xtrim", key)
	cmd.trim(maxLen, minID, approx, limit)
	cmd.opt(mode != "", mode)
	_ = c(ctx, cmd)
	return cmd
}

// XTrimMaxLen removes the oldest messages until maxLen are left, and gives how many it
// removed. Since Redis 5.0, O(N) with those.
func (c cmdable) XTrimMaxLen(ctx context.Context, key string, maxLen int64) *IntCmd {
	return c.xtrim(ctx, key, maxLen, "", false, 0, "")
}

// XTrimMaxLenApprox is XTrimMaxLen that may leave some more, which is much cheaper. limit
// bounds how many messages are looked at: 0 is the server's default, XTrimLimitDisabled
// none. Since Redis 5.0 (limit since 6.2), O(N) with those removed.
func (c cmdable) XTrimMaxLenApprox(ctx context.Context, key string, maxLen, limit int64) *IntCmd {
	return c.xtrim(ctx, key, maxLen, "", true, limit, "")
}

// XTrimMaxLenMode is XTrimMaxLen with a mode; see XAddArgs.Mode. Since Redis 8.2, O(N)
// with those removed.
func (c cmdable) XTrimMaxLenMode(ctx context.Context, key string, maxLen int64, mode string) *IntCmd {
	return c.xtrim(ctx, key, maxLen, "", false, 0, mode)
}

// XTrimMaxLenApproxMode is XTrimMaxLenApprox with a mode; see XAddArgs.Mode. Since Redis
// 8.2, O(N) with those removed.
func (c cmdable) XTrimMaxLenApproxMode(ctx context.Context, key string, maxLen, limit int64, mode string) *IntCmd {
	return c.xtrim(ctx, key, maxLen, "", true, limit, mode)
}

// XTrimMinID removes the messages before minID, and gives how many there were. Since
// Redis 6.2, O(N) with those.
func (c cmdable) XTrimMinID(ctx context.Context, key, minID string) *IntCmd {
	return c.xtrim(ctx, key, 0, minID, false, 0, "")
}

// XTrimMinIDApprox is XTrimMinID that may leave some more; see XTrimMaxLenApprox. Since
// Redis 6.2, O(N) with those removed.
func (c cmdable) XTrimMinIDApprox(ctx context.Context, key, minID string, limit int64) *IntCmd {
	return c.xtrim(ctx, key, 0, minID, true, limit, "")
}

// XTrimMinIDMode is XTrimMinID with a mode; see XAddArgs.Mode. Since Redis 8.2, O(N) with
// those removed.
func (c cmdable) XTrimMinIDMode(ctx context.Context, key, minID, mode string) *IntCmd {
	return c.xtrim(ctx, key, 0, minID, false, 0, mode)
}

// XTrimMinIDApproxMode is XTrimMinIDApprox with a mode; see XAddArgs.Mode. Since Redis
// 8.2, O(N) with those removed.
func (c cmdable) XTrimMinIDApproxMode(ctx context.Context, key, minID string, limit int64, mode string) *IntCmd {
	return c.xtrim(ctx, key, 0, minID, true, limit, mode)
}

// XDel removes messages and gives how many there were. Since Redis 5.0, O(1) for each.
func (c cmdable) XDel(ctx context.Context, stream string, ids ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("xdel", stream)
	cmd.strs(ids...)
	_ = c(ctx, cmd)
	return cmd
}

// XDelEx is XDel with a mode (see XAddArgs.Mode). For each ID it gives 1 removed, -1 no
// such message, 2 not removed because groups still know it. Since Redis 8.2, O(1) for
// each.
func (c cmdable) XDelEx(ctx context.Context, stream, mode string, ids ...string) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.key("xdelex", stream)
	cmd.opt(mode != "", mode)
	cmd.str("ids")
	cmd.numKeys(ids)
	_ = c(ctx, cmd)
	return cmd
}

// XLen gives the number of messages, 0 for a key that does not exist. Since Redis 5.0,
// O(1).
func (c cmdable) XLen(ctx context.Context, stream string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("xlen", stream)
	_ = c(ctx, cmd)
	return cmd
}

func (c cmdable) xrange(ctx context.Context, name, stream, from, to string, limited bool, count int64) *XMessageSliceCmd {
	cmd := roomy[XMessageSliceCmd]()
	cmd.key(name, stream)
	cmd.strs(from, to)
	cmd.optInt(limited, "count", count)
	_ = c(ctx, cmd)
	return cmd
}

// XRange gives the messages from one ID to another, both included; - is the first and +
// the last, and (id leaves id out. It gives none for a key that does not exist. Since
// Redis 5.0, O(N) with the messages.
func (c cmdable) XRange(ctx context.Context, stream, start, stop string) *XMessageSliceCmd {
	return c.xrange(ctx, "xrange", stream, start, stop, false, 0)
}

// XRangeN is XRange for up to count messages. Since Redis 5.0, O(N) with the messages.
func (c cmdable) XRangeN(ctx context.Context, stream, start, stop string, count int64) *XMessageSliceCmd {
	return c.xrange(ctx, "xrange", stream, start, stop, true, count)
}

// XRevRange is XRange with the last message first; start is the higher ID. Since Redis
// 5.0, O(N) with the messages.
func (c cmdable) XRevRange(ctx context.Context, stream, start, stop string) *XMessageSliceCmd {
	return c.xrange(ctx, "xrevrange", stream, start, stop, false, 0)
}

// XRevRangeN is XRevRange for up to count messages. Since Redis 5.0, O(N) with the
// messages.
func (c cmdable) XRevRangeN(ctx context.Context, stream, start, stop string, count int64) *XMessageSliceCmd {
	return c.xrange(ctx, "xrevrange", stream, start, stop, true, count)
}

// XReadArgs are the arguments of XRead.
type XReadArgs struct {
	// Streams are the streams and then an ID for each: messages after it are read. With
	// ID, that is the one for all, and Streams are streams only. $ is the last message
	// there is.
	Streams []string
	Count   int64 // messages of each stream; 0: all
	// Block is for how long to wait for a message, in whole milliseconds: 0 for ever,
	// negative not at all.
	Block    time.Duration
	ID       string
	MaxCount int64 // messages of all streams together; 0: all. Since Redis 8.10.
	MaxSize  int64 // bytes of all messages together; 0: all. Since Redis 8.10.
}

// readLimits appends how much to read.
func (c *baseCmd) readLimits(count, maxCount, maxSize int64) {
	c.optInt(count > 0, "count", count)
	c.optInt(maxCount > 0, "maxcount", maxCount)
	c.optInt(maxSize > 0, "maxsize", maxSize)
}

// waitFor appends for how long to wait, unless that is negative.
func (c *baseCmd) waitFor(d time.Duration) {
	if d >= 0 {
		c.optInt(true, "block", milliseconds(d))
		c.blocks(d)
	}
}

// XRead gives the messages that come after some IDs. Nil says that there are none, or
// that none came in time. If it may wait, it has a connection of its own. Since Redis
// 5.0, O(N) with the messages.
func (c cmdable) XRead(ctx context.Context, a *XReadArgs) *XStreamSliceCmd {
	cmd := roomy[XStreamSliceCmd]()
	cmd.begin("xread")
	cmd.readLimits(a.Count, a.MaxCount, a.MaxSize)
	cmd.waitFor(a.Block)
	cmd.str("streams")
	cmd.strs(a.Streams...)
	if a.ID != "" {
		for range a.Streams {
			cmd.str(a.ID)
		}
	}
	_ = c(ctx, cmd)
	return cmd
}

// XReadStreams is XRead of all messages of streams, given as the streams and then an ID
// for each, without waiting. Nil says that there are none. Since Redis 5.0, O(N) with the
// messages.
func (c cmdable) XReadStreams(ctx context.Context, streams ...string) *XStreamSliceCmd {
	return c.XRead(ctx, &XReadArgs{Streams: streams, Block: -1})
}

//------------------------------------------------------------------------------

// XGroupCreate makes a group that begins to read after an ID; $ is the last message there
// is, 0 all. An error of the server says that there is no stream, or that there is the
// group (BUSYGROUP). Since Redis 5.0, O(1).
func (c cmdable) XGroupCreate(ctx context.Context, stream, group, start string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("xgroup", "create")
	cmd.strs(stream, group, start)
	_ = c(ctx, cmd)
	return cmd
}

// XGroupCreateMkStream is XGroupCreate, and makes the stream if there is none. Since
// Redis 5.0, O(1).
func (c cmdable) XGroupCreateMkStream(ctx context.Context, stream, group, start string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("xgroup", "create")
	cmd.strs(stream, group, start, "mkstream")
	_ = c(ctx, cmd)
	return cmd
}

// XGroupSetID makes a group read on after an ID. An error of the server says that there
// is no stream, or no group (NOGROUP). Since Redis 5.0, O(1).
func (c cmdable) XGroupSetID(ctx context.Context, stream, group, start string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("xgroup", "setid")
	cmd.strs(stream, group, start)
	_ = c(ctx, cmd)
	return cmd
}

// XGroupDestroy removes a group, and gives 1 if there was one, else 0. An error of the
// server says that there is no stream. Since Redis 5.0, O(N) with its pending messages.
func (c cmdable) XGroupDestroy(ctx context.Context, stream, group string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("xgroup", "destroy")
	cmd.strs(stream, group)
	_ = c(ctx, cmd)
	return cmd
}

// XGroupCreateConsumer makes a consumer of a group, and gives 1 if it is new, else 0. An
// error of the server says that there is no stream, or no group (NOGROUP). Since Redis
// 6.2, O(1).
func (c cmdable) XGroupCreateConsumer(ctx context.Context, stream, group, consumer string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("xgroup", "createconsumer")
	cmd.strs(stream, group, consumer)
	_ = c(ctx, cmd)
	return cmd
}

// XGroupDelConsumer removes a consumer of a group together with its pending messages, and
// gives how many it had. An error of the server says that there is no stream, or no group
// (NOGROUP). Since Redis 5.0, O(1).
func (c cmdable) XGroupDelConsumer(ctx context.Context, stream, group, consumer string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("xgroup", "delconsumer")
	cmd.strs(stream, group, consumer)
	_ = c(ctx, cmd)
	return cmd
}

// XReadGroupArgs are the arguments of XReadGroup.
type XReadGroupArgs struct {
	Group    string
	Consumer string
	// Streams are the streams and then an ID for each: > for messages that the group has
	// not read, another ID for those after it that the consumer has not acknowledged.
	Streams []string
	Count   int64 // messages of each stream; 0: all
	// Block is for how long to wait for a message, in whole milliseconds: 0 for ever,
	// negative not at all.
	Block time.Duration
	NoAck bool // the messages need not be acknowledged
	// Claim takes over messages too that are pending for so long, in whole milliseconds;
	// 0: none. Since Redis 8.4.
	Claim    time.Duration
	MaxCount int64 // messages of all streams together; 0: all. Since Redis 8.10.
	MaxSize  int64 // bytes of all messages together; 0: all. Since Redis 8.10.
}

// XReadGroup is XRead for a consumer of a group; the messages are pending until XAck. Nil
// says that there are none, or that none came in time. An error of the server says that
// there is no stream or no group (NOGROUP). It is not sent again by itself if its reply
// is lost: the messages are pending then, and are read with an ID instead of >. Since
// Redis 5.0, O(N) with the messages.
func (c cmdable) XReadGroup(ctx context.Context, a *XReadGroupArgs) *XStreamSliceCmd {
	cmd := roomy[XStreamSliceCmd]()
	cmd.begin("xreadgroup")
	cmd.strs("group", a.Group, a.Consumer)
	cmd.readLimits(a.Count, a.MaxCount, a.MaxSize)
	cmd.waitFor(a.Block)
	cmd.optInt(a.Claim > 0, "claim", milliseconds(a.Claim))
	cmd.opt(a.NoAck, "noack")
	cmd.str("streams")
	cmd.strs(a.Streams...)
	_ = c(ctx, cmd)
	return cmd
}

// XAck acknowledges messages, and gives how many were pending, 0 where there is no group.
// Since Redis 5.0, O(1) for each.
func (c cmdable) XAck(ctx context.Context, stream, group string, ids ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("xack", stream)
	cmd.str(group)
	cmd.strs(ids...)
	_ = c(ctx, cmd)
	return cmd
}

// XAckDel is XAck and XDelEx in one, with the reply of the latter. Since Redis 8.2, O(1)
// for each.
func (c cmdable) XAckDel(ctx context.Context, stream, group, mode string, ids ...string) *SliceCmd {
	cmd := roomy[SliceCmd]()
	cmd.key("xackdel", stream)
	cmd.str(group)
	cmd.opt(mode != "", mode)
	cmd.str("ids")
	cmd.numKeys(ids)
	_ = c(ctx, cmd)
	return cmd
}

// The modes of XNack.
const (
	XNackModeSilent = "SILENT" // as if it had not been delivered
	XNackModeFail   = "FAIL"   // this consumer can't
	XNackModeFatal  = "FATAL"  // no consumer can
)

// XNackArgs are the arguments of XNack.
type XNackArgs struct {
	Stream string
	Group  string
	Mode   string // one of the XNackMode constants
	IDs    []string
	// RetryCount is how often the messages count as delivered; nil: as Mode says.
	RetryCount *uint64
	Force      bool // also messages that are not pending
}

// XNack gives pending messages back to their group, and gives how many. Since Redis
// 8.8, O(1) for each.
func (c cmdable) XNack(ctx context.Context, a *XNackArgs) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("xnack", a.Stream)
	cmd.strs(a.Group, a.Mode, "ids")
	cmd.numKeys(a.IDs)
	if a.RetryCount != nil {
		cmd.str("retrycount")
		cmd.uint(*a.RetryCount)
	}
	cmd.opt(a.Force, "force")
	_ = c(ctx, cmd)
	return cmd
}

// XPending gives an overview of the pending messages of a group. An error of the server
// says that there is no stream or no group (NOGROUP). Since Redis 5.0, O(N) with the
// consumers.
func (c cmdable) XPending(ctx context.Context, stream, group string) *XPendingCmd {
	cmd := roomy[XPendingCmd]()
	cmd.key("xpending", stream)
	cmd.str(group)
	_ = c(ctx, cmd)
	return cmd
}

// XPendingExtArgs are the arguments of XPendingExt.
type XPendingExtArgs struct {
	Stream   string
	Group    string
	Idle     time.Duration // only those pending for so long, in whole milliseconds; 0: all
	Start    string        // the first ID, - for the first there is
	End      string        // the last ID, + for the last there is
	Count    int64
	Consumer string // empty: all
}

// XPendingExt gives the pending messages of a group. An error of the server says that
// there is no stream or no group (NOGROUP). Since Redis 5.0, O(N) with the messages.
func (c cmdable) XPendingExt(ctx context.Context, a *XPendingExtArgs) *XPendingExtCmd {
	cmd := roomy[XPendingExtCmd]()
	cmd.key("xpending", a.Stream)
	cmd.str(a.Group)
	cmd.optInt(a.Idle != 0, "idle", milliseconds(a.Idle))
	cmd.strs(a.Start, a.End)
	cmd.int(a.Count)
	cmd.opt(a.Consumer != "", a.Consumer)
	_ = c(ctx, cmd)
	return cmd
}

// XClaimArgs are the arguments of XClaim.
type XClaimArgs struct {
	Stream   string
	Group    string
	Consumer string        // the new one
	MinIdle  time.Duration // only those pending for so long, in whole milliseconds
	Messages []string      // their IDs
}

// xclaim encodes an XCLAIM.
func (c *baseCmd) xclaim(a *XClaimArgs) {
	c.key("xclaim", a.Stream)
	c.strs(a.Group, a.Consumer)
	c.int(milliseconds(a.MinIdle))
	c.strs(a.Messages...)
}

// XClaim makes pending messages those of another consumer, and gives them. An error of
// the server says that there is no stream or no group (NOGROUP). Since Redis 5.0,
// O(log N) for each.
func (c cmdable) XClaim(ctx context.Context, a *XClaimArgs) *XMessageSliceCmd {
	cmd := roomy[XMessageSliceCmd]()
	cmd.xclaim(a)
	_ = c(ctx, cmd)
	return cmd
}

// XClaimJustID is XClaim with the IDs only, and does not count as a delivery. Since Redis
// 5.0, O(log N) for each.
func (c cmdable) XClaimJustID(ctx context.Context, a *XClaimArgs) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.xclaim(a)
	cmd.str("justid")
	_ = c(ctx, cmd)
	return cmd
}

// XAutoClaimArgs are the arguments of XAutoClaim.
type XAutoClaimArgs struct {
	Stream   string
	Group    string
	MinIdle  time.Duration // only those pending for so long, in whole milliseconds
	Start    string        // the first ID to look at
	Count    int64         // 0: the server's default
	Consumer string        // the new one
}

// xautoclaim encodes an XAUTOCLAIM.
func (c *baseCmd) xautoclaim(a *XAutoClaimArgs) {
	c.key("xautoclaim", a.Stream)
	c.strs(a.Group, a.Consumer)
	c.int(milliseconds(a.MinIdle))
	c.str(a.Start)
	c.optInt(a.Count > 0, "count", a.Count)
}

// XAutoClaim is XClaim for the messages that are pending for long. It gives them, and the
// ID to start at next, 0-0 at the end. An error of the server says that there is no
// stream or no group (NOGROUP). Since Redis 6.2, O(1) for a small count.
func (c cmdable) XAutoClaim(ctx context.Context, a *XAutoClaimArgs) *XAutoClaimCmd {
	cmd := roomy[XAutoClaimCmd]()
	cmd.xautoclaim(a)
	_ = c(ctx, cmd)
	return cmd
}

// XAutoClaimWithDeleted is XAutoClaim that also gives the IDs of those messages that no
// longer exist and are not pending any more. Since Redis 7.0, O(1) for a small count.
func (c cmdable) XAutoClaimWithDeleted(ctx context.Context, a *XAutoClaimArgs) *XAutoClaimWithDeletedCmd {
	cmd := roomy[XAutoClaimWithDeletedCmd]()
	cmd.xautoclaim(a)
	_ = c(ctx, cmd)
	return cmd
}

// XAutoClaimJustID is XAutoClaim with the IDs only, and does not count as a delivery.
// Since Redis 6.2, O(1) for a small count.
func (c cmdable) XAutoClaimJustID(ctx context.Context, a *XAutoClaimArgs) *XAutoClaimJustIDCmd {
	cmd := roomy[XAutoClaimJustIDCmd]()
	cmd.xautoclaim(a)
	cmd.str("justid")
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// XInfoGroups gives the groups of a stream. An error of the server says that there is no
// stream. Since Redis 5.0, O(1).
func (c cmdable) XInfoGroups(ctx context.Context, key string) *XInfoGroupsCmd {
	cmd := NewXInfoGroupsCmd(ctx, key)
	_ = c(ctx, cmd)
	return cmd
}

// XInfoConsumers gives the consumers of a group. An error of the server says that there
// is no stream, or no group (NOGROUP). Since Redis 5.0, O(1).
func (c cmdable) XInfoConsumers(ctx context.Context, key, group string) *XInfoConsumersCmd {
	cmd := NewXInfoConsumersCmd(ctx, key, group)
	_ = c(ctx, cmd)
	return cmd
}

// XInfoStream describes a stream. An error of the server says that there is none. Since
// Redis 5.0, O(1).
func (c cmdable) XInfoStream(ctx context.Context, key string) *XInfoStreamCmd {
	cmd := NewXInfoStreamCmd(ctx, key)
	_ = c(ctx, cmd)
	return cmd
}

// XInfoStreamFull describes a stream with its groups and count of its messages and
// pending ones, 0 for the server's default. An error of the server says that there is no
// stream. Since Redis 6.0, O(N) with those messages.
func (c cmdable) XInfoStreamFull(ctx context.Context, key string, count int) *XInfoStreamFullCmd {
	cmd := roomy[XInfoStreamFullCmd]()
	cmd.sub("xinfo", "stream")
	cmd.strs(key, "full")
	cmd.optInt(count > 0, "count", int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// XCfgSetArgs are the arguments of XCfgSet.
type XCfgSetArgs struct {
	Stream   string
	Duration int64 // for how many seconds the names of messages are kept; 0: unchanged
	MaxSize  int64 // how many are kept for each producer; 0: unchanged
}

// XCfgSet sets how the server finds out that a message was added before; see
// XAddArgs.ProducerID. Since Redis 8.6, O(1).
func (c cmdable) XCfgSet(ctx context.Context, a *XCfgSetArgs) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("xcfgset", a.Stream)
	cmd.optInt(a.Duration > 0, "idmp-duration", a.Duration)
	cmd.optInt(a.MaxSize > 0, "idmp-maxsize", a.MaxSize)
	_ = c(ctx, cmd)
	return cmd
}
