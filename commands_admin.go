package redis

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// SlowLogGet gives the newest entries of the log of slow commands: at most num, or all
// where num is -1. Since Redis 2.2.12, O(N) with the entries.
func (c cmdable) SlowLogGet(ctx context.Context, num int64) *SlowLogCmd {
	cmd := roomy[SlowLogCmd]()
	cmd.sub("slowlog", "get")
	cmd.int(num)
	_ = c(ctx, cmd)
	return cmd
}

// SlowLogLen gives how many entries the log of slow commands has. Since Redis 2.2.12,
// O(1).
func (c cmdable) SlowLogLen(ctx context.Context) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("slowlog", "len")
	_ = c(ctx, cmd)
	return cmd
}

// SlowLogReset empties the log of slow commands. Since Redis 2.2.12, O(N) with the
// entries.
func (c cmdable) SlowLogReset(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("slowlog", "reset")
	_ = c(ctx, cmd)
	return cmd
}

// Latency gives the latest spike of each kind of event that took longer than
// latency-monitor-threshold. Since Redis 2.8.13, O(1).
func (c cmdable) Latency(ctx context.Context) *LatencyCmd {
	cmd := roomy[LatencyCmd]()
	cmd.sub("latency", "latest")
	_ = c(ctx, cmd)
	return cmd
}

// LatencyReset forgets the spikes of some kinds of events, or of all. The reply is the
// number of kinds that had any, as text. Since Redis 2.8.13, O(1).
func (c cmdable) LatencyReset(ctx context.Context, events ...any) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("latency", "reset")
	cmd.args(events...)
	_ = c(ctx, cmd)
	return cmd
}

// ModuleLoadexConfig says which module ModuleLoadex loads, and how.
type ModuleLoadexConfig struct {
	Path string         // at the server
	Conf map[string]any // settings, sent in the order of their names
	Args []any          // arguments of the module
}

// ModuleLoadex loads a module. An error of the server says that it can't, or may not.
// Since Redis 7.0, O(1).
func (c cmdable) ModuleLoadex(ctx context.Context, conf *ModuleLoadexConfig) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("module", "loadex")
	cmd.str(conf.Path)
	for _, name := range slices.Sorted(maps.Keys(conf.Conf)) {
		cmd.strs("config", name)
		cmd.arg(conf.Conf[name])
	}
	if len(conf.Args) > 0 {
		cmd.str("args")
		cmd.args(conf.Args...)
	}
	_ = c(ctx, cmd)
	return cmd
}

// ReplicaOf makes the server a replica of another one, or with "NO" and "ONE" a primary.
// Since Redis 5.0, O(1).
func (c cmdable) ReplicaOf(ctx context.Context, host, port string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("replicaof")
	cmd.strs(host, port)
	_ = c(ctx, cmd)
	return cmd
}

// SlaveOf is ReplicaOf by its older name. Since Redis 1.0, O(1).
func (c cmdable) SlaveOf(ctx context.Context, host, port string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("slaveof")
	cmd.strs(host, port)
	_ = c(ctx, cmd)
	return cmd
}

// Shutdown ends the server, which saves the data first if it is configured to. A server
// that ends gives no reply and closes the connection: that is success, and the error is
// nil. An error of the server says why it goes on. Other commands on the way at that
// moment fail. In a pipeline the closed connection is an error. Since Redis 1.0, O(N) with
// the keys if they are saved.
func (c cmdable) Shutdown(ctx context.Context) *StatusCmd { return c.shutdown(ctx, "") }

// ShutdownSave is Shutdown that saves the data in any case. Since Redis 1.0, O(N) with
// the keys.
func (c cmdable) ShutdownSave(ctx context.Context) *StatusCmd { return c.shutdown(ctx, "save") }

// ShutdownNoSave is Shutdown that does not save the data. Since Redis 1.0, O(1).
func (c cmdable) ShutdownNoSave(ctx context.Context) *StatusCmd { return c.shutdown(ctx, "nosave") }

func (c cmdable) shutdown(ctx context.Context, modifier string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("shutdown")
	cmd.opt(modifier != "", modifier)
	if wasClosed(c(ctx, cmd)) {
		cmd.err = nil
	}
	return cmd
}

// wasClosed tells whether the server has closed the connection after a command was sent.
func wasClosed(err error) bool {
	return err != nil && DeliveryOf(err) == MaybeSent &&
		(errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET))
}

//------------------------------------------------------------------------------

// SlowLog is an entry of the log of slow commands.
type SlowLog struct {
	ID       int64 // counts up until the server ends
	Time     time.Time
	Duration time.Duration // in whole microseconds
	// Args are the command; long arguments are shortened, and if there were too many, the
	// last one tells of how many more.
	Args       []string
	ClientAddr string // since Redis 4.0
	ClientName string // since Redis 4.0
	// CommandArgc is how many arguments the command had; 0: the server does not tell.
	CommandArgc int64
}

// SlowLogCmd is the command of SlowLogGet.
type SlowLogCmd struct{ result[[]SlowLog] }

// NewSlowLogCmd makes a command of its arguments, the name first.
func NewSlowLogCmd(_ context.Context, args ...any) *SlowLogCmd {
	c := roomy[SlowLogCmd]()
	c.beginArgs(args)
	return c
}

func (c *SlowLogCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, readSlowLog)
	return err
}

// readSlowLog reads an entry, of which later versions have more values.
func readSlowLog(r *resp.Reader) (s SlowLog, err error) {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return s, err
	}
	if n < 4 {
		return s, badShape(at, "slow command")
	}
	for i := range n {
		switch i {
		case 0:
			s.ID, err = r.Int()
		case 1:
			s.Time, err = readUnixTime(r)
		case 2:
			s.Duration, err = readUnits(r, time.Microsecond)
		case 3:
			s.Args, err = readSlice(r, readString)
		case 4:
			s.ClientAddr, err = r.String()
		case 5:
			s.ClientName, err = r.String()
		case 6:
			s.CommandArgc, err = r.Int()
		default:
			err = r.Skip()
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// readUnixTime reads a point in time in seconds since 1970.
func readUnixTime(r *resp.Reader) (time.Time, error) {
	n, err := r.Int()
	return time.Unix(n, 0), err
}

// readUnits reads a time span in units.
func readUnits(r *resp.Reader, unit time.Duration) (time.Duration, error) {
	n, err := r.Int()
	return times(max(n, 0), unit), err
}

// Latency is the latest spike of a kind of event, and the highest.
type Latency struct {
	Name   string
	Time   time.Time     // of the latest, in whole seconds
	Latest time.Duration // in whole milliseconds
	Max    time.Duration // in whole milliseconds
}

// LatencyCmd is the command of Latency.
type LatencyCmd struct{ result[[]Latency] }

// NewLatencyCmd makes a command of its arguments, the name first.
func NewLatencyCmd(_ context.Context, args ...any) *LatencyCmd {
	c := roomy[LatencyCmd]()
	c.beginArgs(args)
	return c
}

func (c *LatencyCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (l Latency, err error) {
		at := *r
		n, err := r.ArrayLen()
		if err != nil {
			return l, err
		}
		if n < 4 { // Valkey has more
			return l, badShape(at, "kind of event")
		}
		if l.Name, err = r.String(); err != nil {
			return l, err
		}
		if l.Time, err = readUnixTime(r); err != nil {
			return l, err
		}
		if l.Latest, err = readUnits(r, time.Millisecond); err != nil {
			return l, err
		}
		if l.Max, err = readUnits(r, time.Millisecond); err != nil {
			return l, err
		}
		for range n - 4 {
			if err := r.Skip(); err != nil {
				return l, err
			}
		}
		return l, nil
	})
	return err
}
