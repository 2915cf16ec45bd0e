package redis

import (
	"context"
	"errors"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// HotKeysMetric is what keys are measured by.
type HotKeysMetric string

// The metrics.
const (
	HotKeysMetricCPU HotKeysMetric = "CPU" // processor time
	HotKeysMetricNET HotKeysMetric = "NET" // bytes over the network
)

// ErrHotKeysNoMetrics is the error of HotKeysStart without a metric.
var ErrHotKeysNoMetrics = errors.New("redis: HotKeysStart needs a metric at least")

// HotKeysStartArgs say what HotKeysStart measures. Zero leaves a choice to the server.
type HotKeysStartArgs struct {
	Metrics  []HotKeysMetric // at least one
	Count    uint8           // how many keys are kept
	Duration int64           // seconds after which it ends by itself; 0: never
	Sample   int64           // one of so many commands is looked at
	Slots    []uint16        // only keys of these slots, in a cluster
}

// HotKeysStart makes the server find out which keys take most of its processor time or
// network. An error of the server says that it does already. It is for one server, and so
// not for a ClusterClient. Since Redis 8.6, O(1).
func (c *Client) HotKeysStart(ctx context.Context, args *HotKeysStartArgs) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("hotkeys", "start")
	if args == nil || len(args.Metrics) == 0 {
		cmd.err = &CommandError{Command: "hotkeys", Delivery: NotSent, Err: ErrHotKeysNoMetrics}
		return cmd
	}
	cmd.str("metrics")
	cmd.int(int64(len(args.Metrics)))
	for _, m := range args.Metrics {
		cmd.str(string(m))
	}
	cmd.optInt(args.Count > 0, "count", int64(args.Count))
	cmd.optInt(args.Duration > 0, "duration", args.Duration)
	cmd.optInt(args.Sample > 0, "sample", args.Sample)
	if len(args.Slots) > 0 {
		cmd.str("slots")
		cmd.int(int64(len(args.Slots)))
		for _, slot := range args.Slots {
			cmd.int(int64(slot))
		}
	}
	_ = c.Process(ctx, cmd)
	return cmd
}

// HotKeysStop ends what HotKeysStart has begun; what was found is kept. An error of the
// server says that nothing was begun. Since Redis 8.6, O(1).
func (c *Client) HotKeysStop(ctx context.Context) *StatusCmd { return c.hotKeys(ctx, "stop") }

// HotKeysReset forgets what was found. An error of the server says that it has not ended.
// Since Redis 8.6, O(1).
func (c *Client) HotKeysReset(ctx context.Context) *StatusCmd { return c.hotKeys(ctx, "reset") }

func (c *Client) hotKeys(ctx context.Context, subcommand string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("hotkeys", subcommand)
	_ = c.Process(ctx, cmd)
	return cmd
}

// HotKeysGet gives what was found so far; Nil where nothing was begun. Since Redis 8.6,
// O(N) with the keys.
func (c *Client) HotKeysGet(ctx context.Context) *HotKeysCmd {
	cmd := roomy[HotKeysCmd]()
	cmd.sub("hotkeys", "get")
	_ = c.Process(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// HotKeysKeyEntry is a key and what it takes: microseconds or bytes, an int64.
type HotKeysKeyEntry struct {
	Key   string
	Value any
}

// HotKeysSlotRange is a slot, or the first and the last of several.
type HotKeysSlotRange []int64

// HotKeysResult is what was found. What was not measured is the zero value.
type HotKeysResult struct {
	TrackingActive bool  // it has not ended
	SampleRatio    uint8 // one of so many commands was looked at; 255 stands for more too
	SelectedSlots  []HotKeysSlotRange

	// Processor time.
	SampledCommandsSelectedSlots time.Duration
	AllCommandsSelectedSlots     time.Duration
	AllCommandsAllSlots          time.Duration

	// Bytes over the network.
	NetBytesSampledCommandsSelectedSlots int64
	NetBytesAllCommandsSelectedSlots     int64
	NetBytesAllCommandsAllSlots          int64

	CollectionStartTime time.Time
	CollectionDuration  time.Duration
	UsedCPUSys          time.Duration
	UsedCPUUser         time.Duration
	TotalNetBytes       int64

	ByCPUTime  []HotKeysKeyEntry // the most expensive first
	ByNetBytes []HotKeysKeyEntry // likewise
}

// HotKeysCmd is the command of HotKeysGet.
type HotKeysCmd struct{ result[*HotKeysResult] }

// NewHotKeysCmd makes a command of its arguments, the name first.
func NewHotKeysCmd(_ context.Context, args ...any) *HotKeysCmd {
	c := roomy[HotKeysCmd]()
	c.beginArgs(args)
	return c
}

func (c *HotKeysCmd) readReply(r *resp.Reader) error {
	c.val = nil
	at := *r
	if n, err := at.ArrayLen(); err == nil && n == 1 { // one server's, in an array
		*r = at
	}
	h := &HotKeysResult{}
	if err := readFields(r, func(name string) error { return h.read(r, name) }); err != nil {
		return err
	}
	c.val = h
	return nil
}

// read reads a field.
func (h *HotKeysResult) read(r *resp.Reader, name string) (err error) {
	switch name {
	case "tracking-active":
		h.TrackingActive, err = r.Bool()
	case "sample-ratio":
		var n int64
		n, err = r.Int()
		h.SampleRatio = uint8(min(max(n, 0), 255))
	case "selected-slots":
		h.SelectedSlots, err = readSlice(r, readHotSlots)
	case "collection-start-time-unix-ms":
		h.CollectionStartTime, err = readMilliTime(r)
	case "by-cpu-time-us":
		h.ByCPUTime, err = readPairs(r, "keys and numbers", readHotKey)
	case "by-net-bytes":
		h.ByNetBytes, err = readPairs(r, "keys and numbers", readHotKey)
	case "total-net-bytes":
		h.TotalNetBytes, err = r.Int()
	case "net-bytes-sampled-commands-selected-slots":
		h.NetBytesSampledCommandsSelectedSlots, err = r.Int()
	case "net-bytes-all-commands-selected-slots":
		h.NetBytesAllCommandsSelectedSlots, err = r.Int()
	case "net-bytes-all-commands-all-slots":
		h.NetBytesAllCommandsAllSlots, err = r.Int()
	default:
		return h.readTime(r, name)
	}
	return err
}

// readTime reads a field that is a time span.
func (h *HotKeysResult) readTime(r *resp.Reader, name string) (err error) {
	switch name {
	case "sampled-commands-selected-slots-us":
		h.SampledCommandsSelectedSlots, err = readUnits(r, time.Microsecond)
	case "all-commands-selected-slots-us":
		h.AllCommandsSelectedSlots, err = readUnits(r, time.Microsecond)
	case "all-commands-all-slots-us":
		h.AllCommandsAllSlots, err = readUnits(r, time.Microsecond)
	case "collection-duration-ms":
		h.CollectionDuration, err = readUnits(r, time.Millisecond)
	case "total-cpu-time-user-ms":
		h.UsedCPUUser, err = readUnits(r, time.Millisecond)
	case "total-cpu-time-sys-ms":
		h.UsedCPUSys, err = readUnits(r, time.Millisecond)
	default:
		err = r.Skip()
	}
	return err
}

func readHotSlots(r *resp.Reader) (HotKeysSlotRange, error) { return readSlice(r, readInt) }

func readHotKey(r *resp.Reader) (e HotKeysKeyEntry, err error) {
	if e.Key, err = r.String(); err != nil {
		return e, err
	}
	n, err := r.Int()
	e.Value = n
	return e, err
}
