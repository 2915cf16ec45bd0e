package redis

import (
	"context"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// XMessage is a message of a stream. Values is nil for one that was deleted and is
// still pending.
type XMessage struct {
	ID     string
	Values map[string]any // strings

	// With XReadGroupArgs.Claim: for how many milliseconds it was pending, and how often
	// it was delivered. Both are 0 for a new message.
	MillisElapsedFromDelivery int64
	DeliveredCount            int64
}

// readXMessage reads a message.
func readXMessage(r *resp.Reader) (m XMessage, err error) {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return m, err
	}
	if n != 2 && n != 4 {
		return m, badShape(at, "message of a stream")
	}
	if m.ID, err = r.String(); err != nil {
		return m, err
	}
	if m.Values, err = orZero(readMap(r, readText)); err != nil || n == 2 {
		return m, err
	}
	if m.MillisElapsedFromDelivery, err = r.Int(); err != nil {
		return m, err
	}
	m.DeliveredCount, err = r.Int()
	return m, err
}

// readText reads a string as a value of any type.
func readText(r *resp.Reader) (any, error) { return r.String() }

// minXMessage is how many bytes a message takes at least: "*2", an ID and a null.
const minXMessage = 16

// readXMessages reads messages, and leaves out the nulls that Redis before 7.0 has for
// deleted ones.
func readXMessages(r *resp.Reader) ([]XMessage, error) {
	n, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	list := make([]XMessage, 0, min(n, r.Len()/minXMessage))
	for range n {
		if r.Null() {
			continue
		}
		m, err := readXMessage(r)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// XMessageSliceCmd is a command whose reply is messages of a stream.
type XMessageSliceCmd struct{ result[[]XMessage] }

// NewXMessageSliceCmd makes a command of its arguments, the name first.
func NewXMessageSliceCmd(_ context.Context, args ...any) *XMessageSliceCmd {
	c := roomy[XMessageSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *XMessageSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readXMessages(r)
	return err
}

// XStream is a stream and messages of it.
type XStream struct {
	Stream   string
	Messages []XMessage
}

// XStreamSliceCmd is a command whose reply is messages of several streams.
type XStreamSliceCmd struct{ result[[]XStream] }

// NewXStreamSliceCmd makes a command of its arguments, the name first.
func NewXStreamSliceCmd(_ context.Context, args ...any) *XStreamSliceCmd {
	c := roomy[XStreamSliceCmd]()
	c.beginArgs(args)
	return c
}

func (c *XStreamSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readPairs(r, "streams with messages", func(r *resp.Reader) (s XStream, err error) {
		if s.Stream, err = r.String(); err != nil {
			return s, err
		}
		s.Messages, err = readXMessages(r)
		return s, err
	})
	return err
}

//------------------------------------------------------------------------------

// XPending is an overview of the pending messages of a group.
type XPending struct {
	Count     int64
	Lower     string           // the lowest ID
	Higher    string           // the highest ID
	Consumers map[string]int64 // how many each has
}

// XPendingCmd is the command of XPending.
type XPendingCmd struct{ result[*XPending] }

// NewXPendingCmd makes a command of its arguments, the name first.
func NewXPendingCmd(_ context.Context, args ...any) *XPendingCmd {
	c := roomy[XPendingCmd]()
	c.beginArgs(args)
	return c
}

func (c *XPendingCmd) readReply(r *resp.Reader) (err error) {
	c.val = nil
	if err := expectLen(r, 4, "pending messages"); err != nil {
		return err
	}
	p := &XPending{}
	if p.Count, err = r.Int(); err != nil {
		return err
	}
	if p.Lower, err = readStringOrEmpty(r); err != nil {
		return err
	}
	if p.Higher, err = readStringOrEmpty(r); err != nil {
		return err
	}
	if !r.Null() {
		n, err := r.ArrayLen()
		if err != nil {
			return err
		}
		p.Consumers = make(map[string]int64, n/2)
		for range n {
			if err := expectLen(r, 2, "consumer and number"); err != nil {
				return err
			}
			name, err := r.String()
			if err != nil {
				return err
			}
			if p.Consumers[name], err = r.Int(); err != nil {
				return err
			}
		}
	}
	c.val = p
	return nil
}

// XPendingExt is a pending message of a group.
type XPendingExt struct {
	ID         string
	Consumer   string
	Idle       time.Duration // since it was delivered, in whole milliseconds
	RetryCount int64         // how often it was delivered
}

// XPendingExtCmd is the command of XPendingExt.
type XPendingExtCmd struct{ result[[]XPendingExt] }

// NewXPendingExtCmd makes a command of its arguments, the name first.
func NewXPendingExtCmd(_ context.Context, args ...any) *XPendingExtCmd {
	c := roomy[XPendingExtCmd]()
	c.beginArgs(args)
	return c
}

func (c *XPendingExtCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (p XPendingExt, err error) {
		if err := expectLen(r, 4, "pending message"); err != nil {
			return p, err
		}
		if p.ID, err = r.String(); err != nil {
			return p, err
		}
		if p.Consumer, err = r.String(); err != nil {
			return p, err
		}
		if p.Idle, err = readMillis(r); err != nil {
			return p, err
		}
		p.RetryCount, err = r.Int()
		return p, err
	})
	return err
}

// readMillis reads a number of milliseconds. A negative number is -1 (a nanosecond):
// the server does not know.
func readMillis(r *resp.Reader) (time.Duration, error) {
	n, err := r.Int()
	if n < 0 {
		return -1, err
	}
	return times(n, time.Millisecond), err
}

// readMilliTime reads a point in time in milliseconds since 1970; a negative number is
// the zero time.
func readMilliTime(r *resp.Reader) (time.Time, error) {
	n, err := r.Int()
	if err != nil || n < 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(n), nil
}

//------------------------------------------------------------------------------

// autoClaimed is the reply of an XAUTOCLAIM.
type autoClaimed[T any] struct {
	start   string
	val     []T
	deleted []string // since Redis 7.0
}

// read reads the reply.
func (a *autoClaimed[T]) read(r *resp.Reader, claimed func(*resp.Reader) ([]T, error)) error {
	*a = autoClaimed[T]{}
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return err
	}
	if n < 2 || n > 3 {
		return badShape(at, "claimed messages")
	}
	if a.start, err = r.String(); err != nil {
		return err
	}
	if a.val, err = claimed(r); err != nil || n == 2 {
		return err
	}
	a.deleted, err = readSlice(r, readString)
	return err
}

// XAutoClaimCmd is the command of XAutoClaim.
type XAutoClaimCmd struct {
	baseCmd
	reply autoClaimed[XMessage]
}

// NewXAutoClaimCmd makes a command of its arguments, the name first.
func NewXAutoClaimCmd(_ context.Context, args ...any) *XAutoClaimCmd {
	c := roomy[XAutoClaimCmd]()
	c.beginArgs(args)
	return c
}

// SetVal sets the reply.
func (c *XAutoClaimCmd) SetVal(val []XMessage, start string) { c.reply.val, c.reply.start = val, start }

// Val is the messages and the ID to start at next.
func (c *XAutoClaimCmd) Val() (messages []XMessage, start string) {
	c = settled(c)
	return c.reply.val, c.reply.start
}

// Result is the messages, the ID to start at next, and the error.
func (c *XAutoClaimCmd) Result() (messages []XMessage, start string, err error) {
	c = settled(c)
	return c.reply.val, c.reply.start, c.err
}

// String shows the command and its reply or error.
func (c *XAutoClaimCmd) String() string {
	c = settled(c)
	return c.show(c.reply.val)
}

func (c *XAutoClaimCmd) readReply(r *resp.Reader) error { return c.reply.read(r, readXMessages) }

// XAutoClaimWithDeletedCmd is the command of XAutoClaimWithDeleted.
type XAutoClaimWithDeletedCmd struct {
	baseCmd
	reply autoClaimed[XMessage]
}

// NewXAutoClaimWithDeletedCmd makes a command of its arguments, the name first.
func NewXAutoClaimWithDeletedCmd(_ context.Context, args ...any) *XAutoClaimWithDeletedCmd {
	c := roomy[XAutoClaimWithDeletedCmd]()
	c.beginArgs(args)
	return c
}

// SetVal sets the reply.
func (c *XAutoClaimWithDeletedCmd) SetVal(val []XMessage, start string, deleted []string) {
	c.reply = autoClaimed[XMessage]{start: start, val: val, deleted: deleted}
}

// Val is the messages, the ID to start at next, and the IDs of deleted messages.
func (c *XAutoClaimWithDeletedCmd) Val() (messages []XMessage, start string, deleted []string) {
	c = settled(c)
	return c.reply.val, c.reply.start, c.reply.deleted
}

// Result is Val and the error.
func (c *XAutoClaimWithDeletedCmd) Result() (messages []XMessage, start string, deleted []string, err error) {
	c = settled(c)
	return c.reply.val, c.reply.start, c.reply.deleted, c.err
}

// String shows the command and its reply or error.
func (c *XAutoClaimWithDeletedCmd) String() string {
	c = settled(c)
	return c.show(c.reply.val)
}

func (c *XAutoClaimWithDeletedCmd) readReply(r *resp.Reader) error {
	return c.reply.read(r, readXMessages)
}

// XAutoClaimJustIDCmd is the command of XAutoClaimJustID.
type XAutoClaimJustIDCmd struct {
	baseCmd
	reply autoClaimed[string]
}

// NewXAutoClaimJustIDCmd makes a command of its arguments, the name first.
func NewXAutoClaimJustIDCmd(_ context.Context, args ...any) *XAutoClaimJustIDCmd {
	c := roomy[XAutoClaimJustIDCmd]()
	c.beginArgs(args)
	return c
}

// SetVal sets the reply.
func (c *XAutoClaimJustIDCmd) SetVal(val []string, start string) {
	c.reply.val, c.reply.start = val, start
}

// Val is the IDs of the messages and the ID to start at next.
func (c *XAutoClaimJustIDCmd) Val() (ids []string, start string) {
	c = settled(c)
	return c.reply.val, c.reply.start
}

// Result is the IDs of the messages, the ID to start at next, and the error.
func (c *XAutoClaimJustIDCmd) Result() (ids []string, start string, err error) {
	c = settled(c)
	return c.reply.val, c.reply.start, c.err
}

// String shows the command and its reply or error.
func (c *XAutoClaimJustIDCmd) String() string {
	c = settled(c)
	return c.show(c.reply.val)
}

func (c *XAutoClaimJustIDCmd) readReply(r *resp.Reader) error {
	return c.reply.read(r, func(r *resp.Reader) ([]string, error) { return readSlice(r, readString) })
}

//------------------------------------------------------------------------------

// NewXMessageSliceCmdResult makes a command that is answered already; see
// NewCmdResult.
func NewXMessageSliceCmdResult(val []XMessage, err error) *XMessageSliceCmd {
	return answered(&XMessageSliceCmd{}, val, err)
}

// NewXStreamSliceCmdResult makes a command that is answered already; see NewCmdResult.
func NewXStreamSliceCmdResult(val []XStream, err error) *XStreamSliceCmd {
	return answered(&XStreamSliceCmd{}, val, err)
}

// NewXPendingResult makes a command that is answered already; see NewCmdResult.
func NewXPendingResult(val *XPending, err error) *XPendingCmd {
	return answered(&XPendingCmd{}, val, err)
}

//------------------------------------------------------------------------------

// readCountOrUnknown reads a number, and a null as -1: the server does not know it.
func readCountOrUnknown(r *resp.Reader) (int64, error) {
	if r.Null() {
		return -1, nil
	}
	return r.Int()
}

// readMessageOrZero reads a message, and a null as the zero value.
func readMessageOrZero(r *resp.Reader) (XMessage, error) { return orZero(readXMessage(r)) }

// XInfoGroup describes a group.
type XInfoGroup struct {
	Name            string
	Consumers       int64
	Pending         int64
	LastDeliveredID string
	EntriesRead     int64 // -1: not known. Since Redis 7.0
	Lag             int64 // messages that it has not read; -1: not known. Since Redis 7.0
}

// XInfoGroupsCmd is the command of XInfoGroups.
type XInfoGroupsCmd struct{ result[[]XInfoGroup] }

// NewXInfoGroupsCmd makes the command for a stream.
func NewXInfoGroupsCmd(_ context.Context, stream string) *XInfoGroupsCmd {
	c := &XInfoGroupsCmd{}
	c.sub("xinfo", "groups")
	c.str(stream)
	return c
}

func (c *XInfoGroupsCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (g XInfoGroup, err error) {
		err = readFields(r, func(name string) (err error) {
			switch name {
			case "name":
				g.Name, err = r.String()
			case "consumers":
				g.Consumers, err = r.Int()
			case "pending":
				g.Pending, err = r.Int()
			case "last-delivered-id":
				g.LastDeliveredID, err = r.String()
			case "entries-read":
				g.EntriesRead, err = readCountOrUnknown(r)
			case "lag":
				g.Lag, err = readCountOrUnknown(r)
			default:
				err = r.Skip()
			}
			return err
		})
		return g, err
	})
	return err
}

// XInfoConsumer describes a consumer.
type XInfoConsumer struct {
	Name    string
	Pending int64
	Idle    time.Duration // since it last tried to read, in whole milliseconds
	// Inactive is how long ago it last got something, in whole milliseconds; -1 (a
	// nanosecond): never. Since Redis 7.2.
	Inactive time.Duration
}

// XInfoConsumersCmd is the command of XInfoConsumers.
type XInfoConsumersCmd struct{ result[[]XInfoConsumer] }

// NewXInfoConsumersCmd makes the command for a group of a stream.
func NewXInfoConsumersCmd(_ context.Context, stream, group string) *XInfoConsumersCmd {
	c := &XInfoConsumersCmd{}
	c.sub("xinfo", "consumers")
	c.strs(stream, group)
	return c
}

func (c *XInfoConsumersCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (v XInfoConsumer, err error) {
		err = readFields(r, func(name string) (err error) {
			switch name {
			case "name":
				v.Name, err = r.String()
			case "pending":
				v.Pending, err = r.Int()
			case "idle":
				v.Idle, err = readMillis(r)
			case "inactive":
				v.Inactive, err = readMillis(r)
			default:
				err = r.Skip()
			}
			return err
		})
		return v, err
	})
	return err
}

// XInfoStream describes a stream. What the server does not tell is the zero value.
type XInfoStream struct {
	Length               int64
	RadixTreeKeys        int64
	RadixTreeNodes       int64
	Groups               int64
	LastGeneratedID      string
	MaxDeletedEntryID    string
	EntriesAdded         int64
	FirstEntry           XMessage // the zero value in an empty stream
	LastEntry            XMessage
	RecordedFirstEntryID string

	// How messages are found that were added before; see XAddArgs.ProducerID.
	IDMPDuration   int64 // seconds
	IDMPMaxSize    int64
	PIDsTracked    int64
	IIDsTracked    int64
	IIDsAdded      int64
	IIDsDuplicates int64
}

// XInfoStreamCmd is the command of XInfoStream.
type XInfoStreamCmd struct{ result[*XInfoStream] }

// NewXInfoStreamCmd makes the command for a stream.
func NewXInfoStreamCmd(_ context.Context, stream string) *XInfoStreamCmd {
	c := &XInfoStreamCmd{}
	c.sub("xinfo", "stream")
	c.str(stream)
	return c
}

func (c *XInfoStreamCmd) readReply(r *resp.Reader) error {
	c.val = nil
	s := &XInfoStream{}
	err := readFields(r, func(name string) (err error) {
		switch name {
		case "groups":
			s.Groups, err = r.Int()
		case "first-entry":
			s.FirstEntry, err = readMessageOrZero(r)
		case "last-entry":
			s.LastEntry, err = readMessageOrZero(r)
		default:
			err = readStreamField(r, name, streamFields{
				length: &s.Length, keys: &s.RadixTreeKeys, nodes: &s.RadixTreeNodes, added: &s.EntriesAdded,
				last: &s.LastGeneratedID, deleted: &s.MaxDeletedEntryID, first: &s.RecordedFirstEntryID,
				duration: &s.IDMPDuration, maxSize: &s.IDMPMaxSize, pids: &s.PIDsTracked,
				iids: &s.IIDsTracked, iidsAdded: &s.IIDsAdded, duplicates: &s.IIDsDuplicates,
			})
		}
		return err
	})
	if err != nil {
		return err
	}
	c.val = s
	return nil
}

// streamFields are where the fields go that XINFO STREAM has with and without FULL.
type streamFields struct {
	length, keys, nodes, added                           *int64
	last, deleted, first                                 *string
	duration, maxSize, pids, iids, iidsAdded, duplicates *int64
}

// readStreamField reads one of these fields, or skips it.
func readStreamField(r *resp.Reader, name string, f streamFields) (err error) {
	switch name {
	case "length":
		*f.length, err = r.Int()
	case "radix-tree-keys":
		*f.keys, err = r.Int()
	case "radix-tree-nodes":
		*f.nodes, err = r.Int()
	case "entries-added":
		*f.added, err = r.Int()
	case "last-generated-id":
		*f.last, err = r.String()
	case "max-deleted-entry-id":
		*f.deleted, err = r.String()
	case "recorded-first-entry-id":
		*f.first, err = r.String()
	case "idmp-duration":
		*f.duration, err = r.Int()
	case "idmp-maxsize":
		*f.maxSize, err = r.Int()
	case "pids-tracked":
		*f.pids, err = r.Int()
	case "iids-tracked":
		*f.iids, err = r.Int()
	case "iids-added":
		*f.iidsAdded, err = r.Int()
	case "iids-duplicates":
		*f.duplicates, err = r.Int()
	default:
		err = r.Skip()
	}
	return err
}

//------------------------------------------------------------------------------

// XInfoStreamFull describes a stream with its messages and groups. What the server
// does not tell is the zero value.
type XInfoStreamFull struct {
	Length               int64
	RadixTreeKeys        int64
	RadixTreeNodes       int64
	LastGeneratedID      string
	MaxDeletedEntryID    string
	EntriesAdded         int64
	Entries              []XMessage
	Groups               []XInfoStreamGroup
	RecordedFirstEntryID string

	// How messages are found that were added before; see XAddArgs.ProducerID.
	IDMPDuration   int64 // seconds
	IDMPMaxSize    int64
	PIDsTracked    int64
	IIDsTracked    int64
	IIDsAdded      int64
	IIDsDuplicates int64
}

// XInfoStreamGroup describes a group with its pending messages and consumers.
type XInfoStreamGroup struct {
	Name            string
	LastDeliveredID string
	EntriesRead     int64 // -1: not known
	Lag             int64 // messages that it has not read; -1: not known
	PelCount        int64 // pending messages
	NackedCount     uint64
	Pending         []XInfoStreamGroupPending
	Consumers       []XInfoStreamConsumer
}

// XInfoStreamGroupPending is a pending message of a group.
type XInfoStreamGroupPending struct {
	ID            string
	Consumer      string
	DeliveryTime  time.Time
	DeliveryCount int64
}

// XInfoStreamConsumer describes a consumer with its pending messages.
type XInfoStreamConsumer struct {
	Name       string
	SeenTime   time.Time // when it last tried to read
	ActiveTime time.Time // when it last got something; zero: never. Since Redis 7.2
	PelCount   int64     // pending messages
	Pending    []XInfoStreamConsumerPending
}

// XInfoStreamConsumerPending is a pending message of a consumer.
type XInfoStreamConsumerPending struct {
	ID            string
	DeliveryTime  time.Time
	DeliveryCount int64
}

// XInfoStreamFullCmd is the command of XInfoStreamFull.
type XInfoStreamFullCmd struct{ result[*XInfoStreamFull] }

// NewXInfoStreamFullCmd makes a command of its arguments, the name first.
func NewXInfoStreamFullCmd(_ context.Context, args ...any) *XInfoStreamFullCmd {
	c := roomy[XInfoStreamFullCmd]()
	c.beginArgs(args)
	return c
}

func (c *XInfoStreamFullCmd) readReply(r *resp.Reader) error {
	c.val = nil
	s := &XInfoStreamFull{}
	err := readFields(r, func(name string) (err error) {
		switch name {
		case "entries":
			s.Entries, err = readXMessages(r)
		case "groups":
			s.Groups, err = readSlice(r, readXInfoStreamGroup)
		default:
			err = readStreamField(r, name, streamFields{
				length: &s.Length, keys: &s.RadixTreeKeys, nodes: &s.RadixTreeNodes, added: &s.EntriesAdded,
				last: &s.LastGeneratedID, deleted: &s.MaxDeletedEntryID, first: &s.RecordedFirstEntryID,
				duration: &s.IDMPDuration, maxSize: &s.IDMPMaxSize, pids: &s.PIDsTracked,
				iids: &s.IIDsTracked, iidsAdded: &s.IIDsAdded, duplicates: &s.IIDsDuplicates,
			})
		}
		return err
	})
	if err != nil {
		return err
	}
	c.val = s
	return nil
}

// readXInfoStreamGroup reads a group.
func readXInfoStreamGroup(r *resp.Reader) (g XInfoStreamGroup, err error) {
	err = readFields(r, func(name string) (err error) {
		switch name {
		case "name":
			g.Name, err = r.String()
		case "last-delivered-id":
			g.LastDeliveredID, err = r.String()
		case "entries-read":
			g.EntriesRead, err = readCountOrUnknown(r)
		case "lag":
			g.Lag, err = readCountOrUnknown(r)
		case "pel-count":
			g.PelCount, err = r.Int()
		case "nacked-count":
			g.NackedCount, err = r.Uint()
		case "pending", "pel":
			g.Pending, err = readSlice(r, readXInfoStreamGroupPending)
		case "consumers":
			g.Consumers, err = readSlice(r, readXInfoStreamConsumer)
		default:
			err = r.Skip()
		}
		return err
	})
	return g, err
}

// readXInfoStreamGroupPending reads a pending message of a group.
func readXInfoStreamGroupPending(r *resp.Reader) (p XInfoStreamGroupPending, err error) {
	if err := expectLen(r, 4, "pending message"); err != nil {
		return p, err
	}
	if p.ID, err = r.String(); err != nil {
		return p, err
	}
	if p.Consumer, err = readStringOrEmpty(r); err != nil {
		return p, err
	}
	if p.DeliveryTime, err = readMilliTime(r); err != nil {
		return p, err
	}
	p.DeliveryCount, err = r.Int()
	return p, err
}

// readXInfoStreamConsumer reads a consumer.
func readXInfoStreamConsumer(r *resp.Reader) (v XInfoStreamConsumer, err error) {
	err = readFields(r, func(name string) (err error) {
		switch name {
		case "name":
			v.Name, err = r.String()
		case "seen-time":
			v.SeenTime, err = readMilliTime(r)
		case "active-time":
			v.ActiveTime, err = readMilliTime(r)
		case "pel-count":
			v.PelCount, err = r.Int()
		case "pending", "pel":
			v.Pending, err = readSlice(r, readXInfoStreamConsumerPending)
		default:
			err = r.Skip()
		}
		return err
	})
	return v, err
}

// readXInfoStreamConsumerPending reads a pending message of a consumer.
func readXInfoStreamConsumerPending(r *resp.Reader) (p XInfoStreamConsumerPending, err error) {
	if err := expectLen(r, 3, "pending message"); err != nil {
		return p, err
	}
	if p.ID, err = r.String(); err != nil {
		return p, err
	}
	if p.DeliveryTime, err = readMilliTime(r); err != nil {
		return p, err
	}
	p.DeliveryCount, err = r.Int()
	return p, err
}
