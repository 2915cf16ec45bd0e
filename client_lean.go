package redis

import (
	"bytes"
	"context"
	"sync"
	"time"
	"unsafe"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// The most frequent commands of a client without hooks go out in command objects from a
// pool. What their callers get is another object, that knows its arguments but is not
// encoded: as nobody but the caller sees it, it needs no memory from the heap where the
// caller only looks at the reply.

// leanName is the name of a command whose only argument is a key.
type leanName int32

const (
	leanGet leanName = iota
	leanIncr
	leanDecr
	leanSet // its value is in buf
)

var leanNames = [...]string{leanGet: "get", leanIncr: "incr", leanDecr: "decr", leanSet: "set"} //nolint:gochecknoglobals // constant

// leanHeads are what goes before the key.
var leanHeads = [...][]byte{ //nolint:gochecknoglobals // constant
	leanGet:  []byte("*2\r\n$3\r\nget\r\n"),
	leanIncr: []byte("*2\r\n$4\r\nincr\r\n"),
	leanDecr: []byte("*2\r\n$4\r\ndecr\r\n"),
	leanSet:  []byte("*3\r\n$3\r\nset\r\n"),
}

// leanOff marks a command that is not encoded: count is its leanName, and lean its key.
const leanOff = -1

// know makes c a command that is not encoded.
func (c *baseCmd) know(name leanName, key string) {
	c.off, c.count = leanOff, int32(name)
	c.lean = key
}

// knowSet makes c a SET that is not encoded. The buffer is the value itself: nothing may
// be written to it.
func (c *baseCmd) knowSet(key, value string) {
	c.know(leanSet, key)
	c.buf = unsafe.Slice(unsafe.StringData(value), len(value))
}

// encode encodes a command that is not.
func (c *baseCmd) encode() {
	name, value := leanName(c.count), c.buf
	c.off, c.buf = 0, nil
	c.key(leanNames[name], c.lean)
	if name == leanSet {
		c.buf = resp.AppendBulkBytes(c.buf, value)
		c.count++
	}
}

var (
	leanStrings  = sync.Pool{New: func() any { return roomy[StringCmd]() }} //nolint:gochecknoglobals // pool
	leanStatuses = sync.Pool{New: func() any { return new(StatusCmd) }}     //nolint:gochecknoglobals // pool
	leanInts     = sync.Pool{New: func() any { return roomy[IntCmd]() }}    //nolint:gochecknoglobals // pool
)

// keepLean is how large a buffer may be to go back to the pool with its command.
const keepLean = 1 << 10

// reset makes a command from a pool empty again.
func (c *result[T]) reset() {
	buf := c.buf[:0]
	if cap(buf) > keepLean {
		buf = nil
	}
	*c = result[T]{baseCmd: baseCmd{buf: buf}}
}

// hooked tells whether anybody else may see the client's commands.
func (h *hooks) hooked() bool { return len(h.chain.Load().hooks) > 0 }

// leanSender is a client that can send commands of the lean way.
type leanSender interface {
	hooked() bool
	process(ctx context.Context, cmd Cmder) error // without hooks
	Process(ctx context.Context, cmd Cmder) error // with them
	// keySlot gives the slot of a key plus 1; 0 where slots don't matter.
	keySlot(key string) uint16
	// quick gives the way of a first attempt; its link is nil where that has to be the
	// usual one.
	quick(key string) leanWay
	// resume makes further attempts, if they are needed, after one that took that way
	// and ended with err; nil: the command has its answer.
	resume(ctx context.Context, way leanWay, cmd Cmder, err error) error
}

// A leanWay is a link that may be asked straight away: nobody limits, watches or changes
// commands, and the link takes them.
type leanWay struct {
	link *link.Link
	lane *lane.Split
	node *clusterNode // nil: there is no cluster
}

func (c *Client) keySlot(string) uint16 { return 0 }

func (c *Client) quick(string) leanWay {
	if c.opt.Limiter != nil || c.ep == nil || c.isNode.Load() || c.csc != nil || telemetry.Load() != nil {
		return leanWay{}
	}
	l := c.ep.Lane()
	return leanWay{link: l.Quick(), lane: l}
}

func (c *Client) resume(ctx context.Context, _ leanWay, cmd Cmder, err error) error {
	var t tries
	return c.goOn(ctx, cmd, &t, time.Time{}, nil, err)
}

func (c *Ring) keySlot(string) uint16 { return 0 }

// quick gives no way: a ring's shard is found when a command is processed.
func (c *Ring) quick(string) leanWay { return leanWay{} }

// resume is not called, as there is no quick way.
func (c *Ring) resume(ctx context.Context, _ leanWay, cmd Cmder, _ error) error {
	return c.process(ctx, cmd)
}

func (c *ClusterClient) keySlot(key string) uint16 { return cluster.SlotString(key) + 1 }

func (c *ClusterClient) quick(key string) leanWay {
	st := c.state.Load()
	if st == nil || c.opt.ReadOnly || telemetry.Load() != nil {
		return leanWay{}
	}
	n := st.at(cluster.SlotString(key))
	if n == nil || n.client.ep == nil || n.client.opt.Limiter != nil {
		return leanWay{}
	}
	l := n.client.ep.Lane()
	return leanWay{link: l.Quick(), lane: l, node: n}
}

func (c *ClusterClient) resume(ctx context.Context, way leanWay, cmd Cmder, err error) error {
	var t clusterTries
	_, err = c.goOn(ctx, cmd, int(cmd.base().slot)-1, &t, way.node, err, true)
	return err
}

// settle gives a command what came of its first attempt, and the lane what it learns
// from that.
func (w leanWay) settle(cmd Cmder, a *link.Answer, err error) {
	b := cmd.base()
	wire := b.wire() // an error from now on is none of the arguments
	if err != nil {
		w.lane.Gone(w.link)
		return
	}
	r := resp.NewReader(a.Frame)
	if a.Owned {
		r = resp.NewOwner(a.Frame)
	}
	b.settle(cmd.readReply(&r))
	w.lane.Learn(wire, len(a.Frame))
}

// goOn processes a command that was asked for by this way, and then has got a or err; if
// there is no way, from the beginning.
func (w leanWay) goOn(ctx context.Context, c leanSender, cmd Cmder, a *link.Answer, err error) error {
	if w.link == nil {
		return c.process(ctx, cmd)
	}
	w.settle(cmd, a, err)
	return c.resume(ctx, w, cmd, err)
}

// learn tells the lane of a large reply to a command that is not encoded.
func (w leanWay) learn(name leanName, key string, size int) {
	w.lane.Learn(resp.AppendBulk(bytes.Clone(leanHeads[name]), key), size)
}

// Get gives the value of key; Nil where there is none. An error of the server says
// that the key holds no string. Since Redis 1.0, O(1).
func (c *Client) Get(ctx context.Context, key string) *StringCmd {
	cmd := new(StringCmd)
	askString(ctx, c, leanGet, key, &cmd.result)
	return cmd
}

// Incr adds 1 to the number that key holds, and gives the sum. A key that does not exist
// counts as 0. An error of the server says that the value is no integer, or that the sum
// does not fit 64 bits. Since Redis 1.0, O(1).
func (c *Client) Incr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, c, leanIncr, key, &cmd.result)
	return cmd
}

// Decr is Incr with -1. Since Redis 1.0, O(1).
func (c *Client) Decr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, c, leanDecr, key, &cmd.result)
	return cmd
}

// Set stores value in key, whatever it held, for the time of expiration: 0 for ever,
// KeepTTL for as long as the key would have lived. Below a second, the server is told
// milliseconds. Since Redis 1.0 (KeepTTL since 6.0), O(1).
func (c *Client) Set(ctx context.Context, key string, value any, expiration time.Duration) *StatusCmd {
	cmd := new(StatusCmd)
	tellSet(ctx, c, key, value, expiration, &cmd.result)
	return cmd
}

func askString(ctx context.Context, c leanSender, name leanName, key string, out *result[string]) {
	if c.hooked() {
		askStringHooked(ctx, c, name, key, out)
		return
	}
	way := c.quick(key)
	if way.link == nil || way.lane.IsLarge(leanHeads[name], key) {
		askStringSlowly(ctx, c, name, key, out, leanWay{}, nil, nil)
		return
	}
	text, odd, err := way.link.AskText(ctx, leanHeads[name], key)
	if err != nil || odd != nil {
		askStringSlowly(ctx, c, name, key, out, way, odd, err)
		return
	}
	if len(text) >= lane.Large {
		way.learn(name, key, len(text))
	}
	out.val = text
	out.know(name, key)
}

// askStringHooked is askString where others see the command.
//
//go:noinline
func askStringHooked(ctx context.Context, c leanSender, name leanName, key string, out *result[string]) {
	cmd := roomy[StringCmd]()
	cmd.key(leanNames[name], key)
	_ = c.Process(ctx, cmd)
	out.follow(&cmd.result)
}

// askStringSlowly is askString by way of a command from the pool, which was asked for by
// way, if that has a link, and then has got a or err.
//
//go:noinline
func askStringSlowly(ctx context.Context, c leanSender, name leanName, key string, out *result[string], way leanWay, a *link.Answer, err error) {
	cmd := leanStrings.Get().(*StringCmd)
	cmd.key(leanNames[name], key)
	cmd.slot = c.keySlot(key)
	out.err = way.goOn(ctx, c, cmd, a, err)
	out.val = cmd.val
	out.know(name, key)
	cmd.reset()
	leanStrings.Put(cmd)
}

func askInt(ctx context.Context, c leanSender, name leanName, key string, out *result[int64]) {
	if c.hooked() {
		askIntHooked(ctx, c, name, key, out)
		return
	}
	way := c.quick(key)
	if way.link == nil {
		askIntSlowly(ctx, c, name, key, out, way, nil, nil)
		return
	}
	num, odd, err := way.link.AskInt(ctx, leanHeads[name], key)
	if err != nil || odd != nil {
		askIntSlowly(ctx, c, name, key, out, way, odd, err)
		return
	}
	out.val = num
	out.know(name, key)
}

//go:noinline
func askIntHooked(ctx context.Context, c leanSender, name leanName, key string, out *result[int64]) {
	cmd := roomy[IntCmd]()
	cmd.key(leanNames[name], key)
	_ = c.Process(ctx, cmd)
	out.follow(&cmd.result)
}

// askIntSlowly is askStringSlowly for integers.
//
//go:noinline
func askIntSlowly(ctx context.Context, c leanSender, name leanName, key string, out *result[int64], way leanWay, a *link.Answer, err error) {
	cmd := leanInts.Get().(*IntCmd)
	cmd.key(leanNames[name], key)
	cmd.slot = c.keySlot(key)
	out.err = way.goOn(ctx, c, cmd, a, err)
	out.val = cmd.val
	out.know(name, key)
	cmd.reset()
	leanInts.Put(cmd)
}

// tellSet sends a text without a time to live as it is, and encodes any other value for
// its caller.
func tellSet(ctx context.Context, c leanSender, key string, value any, d time.Duration, out *result[string]) {
	if c.hooked() {
		tellSetHooked(ctx, c, key, value, d, out)
		return
	}
	way := c.quick(key)
	if text, ok := value.(string); ok && d == 0 && way.link != nil && len(key)+len(text) < lane.Large {
		odd, err := way.link.TellOK(ctx, leanHeads[leanSet], key, text)
		if err != nil || odd != nil {
			out.encodeSet(key, value, d)
			tellSlowly(ctx, c, key, out, way, odd, err)
			return
		}
		out.val = "OK"
		out.knowSet(key, text)
		return
	}
	tellEncoded(ctx, c, key, value, d, out, way)
}

//go:noinline
func tellSetHooked(ctx context.Context, c leanSender, key string, value any, d time.Duration, out *result[string]) {
	cmd := new(StatusCmd)
	cmd.encodeSet(key, value, d)
	_ = c.Process(ctx, cmd)
	out.follow(&cmd.result)
}

// tellEncoded is tellSet for any value.
//
//go:noinline
func tellEncoded(ctx context.Context, c leanSender, key string, value any, d time.Duration, out *result[string], way leanWay) {
	out.encodeSet(key, value, d)
	if way.link == nil || out.err != nil || len(out.buf) >= lane.Large {
		tellSlowly(ctx, c, key, out, leanWay{}, nil, nil)
		return
	}
	odd, err := way.link.AskOK(ctx, out.wire())
	if err != nil || odd != nil {
		tellSlowly(ctx, c, key, out, way, odd, err)
		return
	}
	out.val = "OK"
}

// tellSlowly is askStringSlowly for a command that out has encoded.
//
//go:noinline
func tellSlowly(ctx context.Context, c leanSender, key string, out *result[string], way leanWay, a *link.Answer, err error) {
	cmd := leanStatuses.Get().(*StatusCmd)
	cmd.baseCmd = out.baseCmd
	cmd.slot = c.keySlot(key)
	out.err = way.goOn(ctx, c, cmd, a, err)
	out.val = cmd.val
	out.off = cmd.off
	cmd.buf = nil
	cmd.reset()
	leanStatuses.Put(cmd)
}

// encodeSet makes c a SET, in memory of its size.
func (c *baseCmd) encodeSet(key string, value any, d time.Duration) {
	size := wireHead + bulkSize(len("set")) + bulkSize(len(key)) + bulkSize(argSize(value)) + ttlRoom(d)
	c.buf = resp.AppendBulk(make([]byte, wireHead, size), "set")
	c.count = 1
	c.str(key)
	c.arg(value)
	c.ttl(d)
}

//------------------------------------------------------------------------------

// bytesCmd is a command of the byte form: it appends its reply to a buffer of the
// caller's. Pooled, so nobody else may keep it.
type bytesCmd struct {
	baseCmd
	dst    []byte
	status bool // the reply is a status that nobody wants
}

func (c *bytesCmd) String() string { return c.show(string(c.dst)) }

func (c *bytesCmd) readReply(r *resp.Reader) error {
	b, err := r.Bytes()
	if !c.status {
		c.dst = append(c.dst, b...)
	}
	return err
}

// keepEncoded is how large a command's buffer may be to be kept.
const keepEncoded = 64 << 10

var bytesCmds = sync.Pool{New: func() any { return new(bytesCmd) }} //nolint:gochecknoglobals // pool

// newBytesCmd starts a command on a key; release ends it.
func newBytesCmd(name, key string, dst []byte) *bytesCmd {
	c := bytesCmds.Get().(*bytesCmd)
	c.key(name, key)
	c.dst = dst
	return c
}

func (c *bytesCmd) release() {
	buf := c.buf
	if cap(buf) > keepEncoded {
		buf = nil
	}
	c.baseCmd = baseCmd{buf: buf}
	c.dst, c.status = nil, false
	bytesCmds.Put(c)
}

// GetBytes is [Client.Get] without memory of its own: it appends the value of key to
// dst and returns the extended buffer, as append does. Where the key does not exist the
// error is Nil; with any error, dst is returned as it was. A client with hooks takes
// the way of Get. Safe for concurrent use, each call with its own dst.
func (c *Client) GetBytes(ctx context.Context, dst []byte, key string) ([]byte, error) {
	return getBytes(ctx, c, dst, key)
}

// SetBytes is [Client.Set] without memory of its own. value is not kept. A client with
// hooks takes the way of Set. Safe for concurrent use.
func (c *Client) SetBytes(ctx context.Context, key string, value []byte, expiration time.Duration) error {
	return setBytes(ctx, c, key, value, expiration)
}

func getBytes(ctx context.Context, c leanSender, dst []byte, key string) ([]byte, error) {
	if c.hooked() {
		v, err := cmdable(c.Process).Get(ctx, key).Result()
		if err != nil {
			return dst, err
		}
		return append(dst, v...), nil
	}
	way := c.quick(key)
	if way.link == nil || way.lane.IsLarge(leanHeads[leanGet], key) {
		return getBytesSlowly(ctx, c, dst, key, leanWay{}, nil, nil)
	}
	out, odd, err := way.link.AskBytes(ctx, leanHeads[leanGet], key, dst)
	if err != nil || odd != nil {
		return getBytesSlowly(ctx, c, dst, key, way, odd, err)
	}
	if n := len(out) - len(dst); n >= lane.Large {
		way.learn(leanGet, key, n)
	}
	return out, nil
}

// getBytesSlowly is askStringSlowly for the byte form.
//
//go:noinline
func getBytesSlowly(ctx context.Context, c leanSender, dst []byte, key string, way leanWay, a *link.Answer, err error) ([]byte, error) {
	cmd := newBytesCmd("get", key, dst)
	cmd.slot = c.keySlot(key)
	err = way.goOn(ctx, c, cmd, a, err)
	out := cmd.dst
	cmd.release()
	if err != nil {
		return dst, err
	}
	return out, nil
}

func setBytes(ctx context.Context, c leanSender, key string, value []byte, expiration time.Duration) error {
	if c.hooked() {
		return cmdable(c.Process).Set(ctx, key, value, expiration).Err()
	}
	way := c.quick(key)
	if expiration == 0 && way.link != nil && len(key)+len(value) < lane.Large {
		odd, err := way.link.TellOK(ctx, leanHeads[leanSet], key, unsafe.String(unsafe.SliceData(value), len(value)))
		if err != nil || odd != nil {
			return setBytesSlowly(ctx, c, newSetBytes(key, value, 0), key, way, odd, err)
		}
		return nil
	}
	cmd := newSetBytes(key, value, expiration)
	if way.link == nil || cmd.err != nil || len(cmd.buf) >= lane.Large {
		return setBytesSlowly(ctx, c, cmd, key, leanWay{}, nil, nil)
	}
	if odd, err := way.link.AskOK(ctx, cmd.wire()); err != nil || odd != nil {
		return setBytesSlowly(ctx, c, cmd, key, way, odd, err)
	}
	cmd.release()
	return nil
}

// newSetBytes starts a SET of the byte form.
func newSetBytes(key string, value []byte, expiration time.Duration) *bytesCmd {
	cmd := newBytesCmd("set", key, nil)
	cmd.status = true
	cmd.buf = resp.AppendBulkBytes(cmd.buf, value)
	cmd.count++
	cmd.ttl(expiration)
	return cmd
}

// setBytesSlowly is askStringSlowly for the byte form of SET.
//
//go:noinline
func setBytesSlowly(ctx context.Context, c leanSender, cmd *bytesCmd, key string, way leanWay, a *link.Answer, err error) error {
	cmd.slot = c.keySlot(key)
	err = way.goOn(ctx, c, cmd, a, err)
	cmd.release()
	return err
}

//------------------------------------------------------------------------------

// Get gives the value of key; Nil where there is none. An error of the server says that
// the key holds no string. Since Redis 1.0, O(1).
func (c *ClusterClient) Get(ctx context.Context, key string) *StringCmd {
	cmd := new(StringCmd)
	askString(ctx, c, leanGet, key, &cmd.result)
	return cmd
}

// Incr adds 1 to the number that key holds, and gives the sum. A key that does not exist
// counts as 0. An error of the server says that the value is no integer, or that the sum
// does not fit 64 bits. Since Redis 1.0, O(1).
func (c *ClusterClient) Incr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, c, leanIncr, key, &cmd.result)
	return cmd
}

// Decr is Incr with -1. Since Redis 1.0, O(1).
func (c *ClusterClient) Decr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, c, leanDecr, key, &cmd.result)
	return cmd
}

// Set stores value in key, whatever it held, for the time of expiration: 0 for ever,
// KeepTTL for as long as the key would have lived. Below a second, the server is told
// milliseconds. Since Redis 1.0 (KeepTTL since 6.0), O(1).
func (c *ClusterClient) Set(ctx context.Context, key string, value any, expiration time.Duration) *StatusCmd {
	cmd := new(StatusCmd)
	tellSet(ctx, c, key, value, expiration, &cmd.result)
	return cmd
}

// GetBytes is [ClusterClient.Get] without memory of its own: it appends the value of key
// to dst and returns the extended buffer, as append does. Where the key does not exist
// the error is Nil; with any error, dst is returned as it was. A client with hooks takes
// the way of Get. Safe for concurrent use, each call with its own dst.
func (c *ClusterClient) GetBytes(ctx context.Context, dst []byte, key string) ([]byte, error) {
	return getBytes(ctx, c, dst, key)
}

// SetBytes is [ClusterClient.Set] without memory of its own. value is not kept. A client
// with hooks takes the way of Set. Safe for concurrent use.
func (c *ClusterClient) SetBytes(ctx context.Context, key string, value []byte, expiration time.Duration) error {
	return setBytes(ctx, c, key, value, expiration)
}
