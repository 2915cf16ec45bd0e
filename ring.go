package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/cluster"
)

// Ring is a client of several servers that know nothing of each other: it spreads keys
// over them by consistent hashing. A shard that does not answer is left out, and its keys
// go to the others until it is back, so a ring is for caches. Each shard is an endpoint
// with lanes and handoffs of its own. Commands with several keys go to the shard of the
// first; those without a key to any, PUBLISH to that of its channel. It is safe for
// concurrent use. Connections are opened when they are first needed.
type Ring struct {
	cmdable
	hooks
	*ringCore
}

// shardsDown is how many heartbeats in a row fail until a shard is left out.
const shardsDown = 3

// ringCore is what a ring knows and does. Lock order: mu, then that of a shard's client.
type ringCore struct {
	opt     *RingOptions // with defaults; immutable
	invalid error        // what is wrong with the options; immutable

	run  context.Context // ends at Close
	stop context.CancelFunc
	work sync.WaitGroup // heartbeats, retirements

	state atomic.Pointer[ringState]
	beats atomic.Bool // the heartbeat has been started
	autos autoPipes

	mu      sync.Mutex // guards the fields below
	closed  bool
	shards  map[string]*ringShard // by name
	version int                   // grows with each change of shards, or of one that is up
	onNew   []func(*Client)
}

// ringShard is one server.
type ringShard struct {
	name, addr string
	client     *Client
	fails      int // heartbeats in a row; the heartbeat's
	isDown     atomic.Bool
}

// ringState is the shards that are up. It is never changed.
type ringState struct {
	hash   ConsistentHash
	shards map[string]*ringShard
	list   []*ringShard
}

// Errors of rings.
var (
	errRingDown  = errors.New("redis: all ring shards are down")
	errRingKeys  = errors.New("redis: Watch requires all keys to be in the same shard")
	errRingNoKey = errors.New("redis: Watch requires at least one key")
)

// NewRing makes a ring. It connects to nothing and starts nothing until it is used.
func NewRing(opt *RingOptions) *Ring {
	if opt == nil {
		panic("redis: NewRing needs RingOptions")
	}
	core := &ringCore{opt: opt.withDefaults(), shards: make(map[string]*ringShard)}
	core.run, core.stop = context.WithCancel(context.Background())
	base := core.opt.shard("localhost:6379").withDefaults()
	core.invalid = base.validate(nil)
	r := &Ring{ringCore: core}
	r.hooks.init(chain{
		dial: base.Dialer, process: core.process,
		pipeline: func(ctx context.Context, cmds []Cmder) error {
			return core.batch(ctx, cmds, func(c *Client) ProcessPipelineHook { return c.hooks.chain.Load().pipeline })
		},
		tx: func(ctx context.Context, cmds []Cmder) error {
			return core.batch(ctx, cmds, func(c *Client) ProcessPipelineHook { return c.hooks.chain.Load().tx })
		},
	}, nil)
	r.cmdable = r.Process
	r.SetAddrs(core.opt.Addrs)
	return r
}

// Options are the ring's, with defaults filled in. They must not be changed.
func (c *Ring) Options() *RingOptions { return c.opt }

// OnNewNode makes fn be called for each shard's client that is made from now on, before
// it is used.
func (c *Ring) OnNewNode(fn func(client *Client)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onNew = append(c.onNew, fn)
}

// SetAddrs makes these the shards: new ones are used at once, those that are gone answer
// what is in flight and are closed, and one with another address is a new one.
func (c *Ring) SetAddrs(addrs map[string]string) {
	for !c.trySetAddrs(addrs) { // somebody else was faster: each try is a change of theirs
	}
}

// trySetAddrs is false where the shards have changed while clients were made of them,
// which is done without a lock because it calls functions of the user's.
func (c *ringCore) trySetAddrs(addrs map[string]string) bool {
	c.mu.Lock()
	old, onNew, version := maps.Clone(c.shards), slices.Clone(c.onNew), c.version
	c.mu.Unlock()
	next := make(map[string]*ringShard, len(addrs))
	var made []*ringShard
	for name, addr := range addrs {
		if s := old[name]; s != nil && s.addr == addr {
			next[name] = s
			delete(old, name)
			continue
		}
		s := &ringShard{name: name, addr: addr, client: c.opt.NewClient(c.opt.shard(addr))}
		for _, fn := range onNew {
			fn(s.client)
		}
		next[name] = s
		made = append(made, s)
	}
	c.mu.Lock()
	isLate := c.version != version
	if c.closed || isLate {
		c.mu.Unlock()
		for _, s := range made {
			_ = s.client.Close()
		}
		return !isLate
	}
	c.version++
	c.shards = next
	c.mu.Unlock()
	c.rebuild()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range old {
		if c.closed {
			_ = s.client.Close() // Close does not know it
			continue
		}
		c.work.Go(func() { c.retire(s) })
	}
	return true
}

// retire closes a shard's client when what was sent to it is answered.
func (c *ringCore) retire(s *ringShard) {
	if ep := s.client.core.ep; ep != nil { // nil: its options are invalid
		ep.Retire(c.run, leaveSubs)
	}
	_ = s.client.Close()
}

// rebuild publishes which shards are up.
func (c *ringCore) rebuild() {
	for {
		st := &ringState{shards: make(map[string]*ringShard)}
		c.mu.Lock()
		version := c.version
		for _, name := range slices.Sorted(maps.Keys(c.shards)) {
			if s := c.shards[name]; !s.isDown.Load() {
				st.shards[name] = s
				st.list = append(st.list, s)
			}
		}
		c.mu.Unlock()
		st.hash = c.opt.NewConsistentHash(slices.Sorted(maps.Keys(st.shards))) // the user's: no lock is held
		c.mu.Lock()
		isCurrent := c.version == version
		if isCurrent {
			c.state.Store(st)
		}
		c.mu.Unlock()
		if isCurrent {
			return
		}
	}
}

// Close ends all connections and waits until every goroutine of the ring has ended. A
// second Close returns ErrClosed.
func (c *Ring) Close() error {
	c.autos.close()
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.closed = true
	shards := slices.Collect(maps.Values(c.shards))
	c.mu.Unlock()
	c.stop()
	var errs []error
	for _, s := range shards {
		if err := s.client.Close(); err != nil && !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	c.work.Wait()
	return errors.Join(errs...)
}

//------------------------------------------------------------------------------

// beat starts the heartbeat with the first use.
func (c *ringCore) beat() {
	if c.beats.Load() || c.beats.Swap(true) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Go(c.heartbeat)
	}
}

// heartbeat asks all shards from time to time whether they are there.
func (c *ringCore) heartbeat() {
	t := time.NewTicker(max(c.opt.HeartbeatFrequency, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-c.run.Done():
			return
		}
		c.mu.Lock()
		shards := slices.Collect(maps.Values(c.shards))
		c.mu.Unlock()
		var wg sync.WaitGroup
		for _, s := range shards {
			wg.Go(func() {
				if !c.examine(s) {
					return
				}
				c.mu.Lock()
				c.version++
				c.mu.Unlock()
				c.rebuild() // at once: others may take long to answer
			})
		}
		wg.Wait()
	}
}

// examine asks one shard, for as long as a heartbeat lasts, and tells whether it has come
// or gone.
func (c *ringCore) examine(s *ringShard) (changed bool) {
	ctx, cancel := context.WithTimeout(c.run, max(c.opt.HeartbeatFrequency, heartbeatLeast))
	defer cancel()
	isUp := c.opt.HeartbeatFn(ctx, s.client)
	if c.run.Err() != nil {
		return false
	}
	if isUp {
		s.fails = 0
		return s.isDown.Swap(false)
	}
	if s.fails++; s.fails < shardsDown || s.isDown.Swap(true) {
		return false
	}
	s.client.opt.Logger.Warn("a ring's shard does not answer and is left out", "shard", s.name, "endpoint", s.addr)
	return true
}

// heartbeatLeast is how long a shard may take to answer at least.
const heartbeatLeast = 500 * time.Millisecond

// shardOf gives the shard of a key.
func (c *ringCore) shardOf(key string) (*ringShard, error) {
	st := c.state.Load()
	if s := st.shards[st.hash.Get(cluster.Tag(key))]; s != nil {
		return s, nil
	}
	return nil, errRingDown
}

// pick gives the shard of a command.
func (c *ringCore) pick(b *baseCmd) (*ringShard, error) {
	c.beat()
	if key, ok := b.firstKey(); ok {
		return c.shardOf(string(key))
	}
	if name := b.Name(); name == "publish" || name == "spublish" {
		if channel, ok := b.argAt(1); ok {
			return c.shardOf(string(channel))
		}
	}
	st := c.state.Load()
	if len(st.list) == 0 {
		return nil, errRingDown
	}
	return st.list[rand.N(len(st.list))], nil //nolint:gosec // to spread load
}

// process is what the ring does with one command after its hooks.
func (c *ringCore) process(ctx context.Context, cmd Cmder) error {
	b := cmd.base()
	if b.err != nil && b.off == 0 {
		return b.err // an argument that can't be encoded
	}
	if c.invalid != nil {
		return &CommandError{Command: b.Name(), Delivery: NotSent, Err: c.invalid}
	}
	var t tries
	began := telemetryStart()
	for {
		s, err := c.pick(b)
		if err != nil {
			return &CommandError{Command: b.Name(), Delivery: NotSent, Err: err}
		}
		if len(s.client.hooks.list()) > 0 {
			return s.client.Process(ctx, cmd) // they see the command; its retries stay with this shard
		}
		b.wire() // an error from now on is none of encoding
		if err = s.client.core.admit(b); err != nil {
			return err
		}
		err = s.client.core.sendOnce(ctx, cmd)
		if err == nil && (b.err == nil || !notReady(b.err)) {
			if began != 0 {
				s.client.core.recordCommand(ctx, began, cmd, t.count(), b.err)
			}
			return b.err
		}
		if err == nil {
			err = b.err
		}
		if c.isGone(s, err) {
			b.err = nil
			continue
		}
		was := t
		pause, again := s.client.core.judge(ctx, &t, b, err)
		if again {
			recordRetried(ctx, s.client.core, err, t.count())
		}
		if !again || !sleep(ctx, pause) {
			err = s.client.core.named(ctx, &was, b, err)
			if began != 0 {
				s.client.core.recordCommand(ctx, began, cmd, t.count(), err)
			}
			return err
		}
		b.err = nil
	}
}

// isGone tells whether a command was not sent because its shard has just left the ring.
func (c *ringCore) isGone(s *ringShard, err error) bool {
	return errors.Is(err, ErrClosed) && DeliveryOf(err) == NotSent && c.run.Err() == nil &&
		c.state.Load().shards[s.name] != s
}

// batch sends the commands of a pipeline to their shards, and what was not sent because a
// shard has just left the ring to where it belongs then.
func (c *ringCore) batch(ctx context.Context, cmds []Cmder, send func(*Client) ProcessPipelineHook) error {
	for rest := cmds; len(rest) > 0; {
		parts, err := c.split(rest)
		if err != nil {
			setErrs(rest, err)
			return err
		}
		var wg sync.WaitGroup
		for s, part := range parts {
			wg.Go(func() {
				if err := send(s.client)(ctx, part); err != nil && firstErr(part) == nil {
					setErrs(part, err) // a hook has not let them be sent
				}
			})
		}
		wg.Wait()
		rest = nil
		for s, part := range parts {
			for _, cmd := range part {
				if c.isGone(s, cmd.base().err) {
					cmd.base().err = nil
					rest = append(rest, cmd)
				}
			}
		}
	}
	return firstErr(cmds)
}

// split sorts the commands of a pipeline by shard.
func (c *ringCore) split(cmds []Cmder) (map[*ringShard][]Cmder, error) {
	err := c.invalid
	parts := make(map[*ringShard][]Cmder)
	var keyless *ringShard // commands without a key go together
	for i, cmd := range cmds {
		if err != nil {
			break
		}
		b := cmd.base()
		if b.err != nil && b.off == 0 {
			err = fmt.Errorf("redis: nothing of the pipeline was sent because of command %d: %w", i+1, b.err)
			break
		}
		_, keyed := b.firstKey()
		s := keyless
		if keyed || s == nil {
			s, err = c.pick(b)
		}
		if !keyed && keyless == nil {
			keyless = s
		}
		parts[s] = append(parts[s], cmd)
	}
	return parts, err
}

//------------------------------------------------------------------------------

// Process sends a command and waits for its reply, which is stored in cmd together with
// the error.
func (c *Ring) Process(ctx context.Context, cmd Cmder) error {
	err := c.hooks.chain.Load().process(ctx, cmd)
	cmd.SetErr(err) // a hook may have changed it
	return err
}

// Do sends a command given by its arguments, the name first.
func (c *Ring) Do(ctx context.Context, args ...any) *Cmd {
	cmd := NewCmd(ctx, args...)
	_ = c.Process(ctx, cmd)
	return cmd
}

// Pipeline starts to collect commands. Exec splits them by shard and sends all parts at
// the same time.
func (c *Ring) Pipeline() Pipeliner { return c.pipe() }

func (c *Ring) pipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return c.hooks.chain.Load().pipeline(ctx, cmds) })
}

// Pipelined collects the commands of fn and sends them together. An error of fn is
// returned, and nothing is sent.
func (c *Ring) Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.pipe().Pipelined(ctx, fn)
}

// TxPipeline starts to collect commands for transactions: Exec splits them by shard, and
// each shard's are one transaction.
func (c *Ring) TxPipeline() Pipeliner { return c.txPipe() }

func (c *Ring) txPipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return c.hooks.chain.Load().tx(ctx, cmds) })
}

// TxPipelined collects the commands of fn and sends them as one transaction for each
// shard.
func (c *Ring) TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.txPipe().Pipelined(ctx, fn)
}

// Watch is Client.Watch at the shard of the keys, which must have the same.
func (c *Ring) Watch(ctx context.Context, fn func(*Tx) error, keys ...string) error {
	if len(keys) == 0 {
		return errRingNoKey
	}
	c.beat()
	var at *ringShard
	for _, key := range keys {
		s, err := c.shardOf(key)
		if err != nil {
			return err
		}
		if at != nil && s != at {
			return errRingKeys
		}
		at = s
	}
	return at.client.Watch(ctx, fn, keys...)
}

// Publish sends a message to the subscribers of a channel, at the shard of the channel,
// and gives how many there are. Since Redis 2.0, O(N+M) with them and with all patterns.
func (c *Ring) Publish(ctx context.Context, channel string, message any) *IntCmd {
	return c.cmdable.Publish(ctx, channel, message)
}

// Subscribe subscribes to channels at the shard of the first. It panics without any.
// Since Redis 2.0, O(N) with the channels.
func (c *Ring) Subscribe(ctx context.Context, channels ...string) *PubSub {
	return c.subscriber(channels).Subscribe(ctx, channels...)
}

// PSubscribe subscribes to patterns at the shard of the first. It panics without any.
// Since Redis 2.0, O(N) with the patterns.
func (c *Ring) PSubscribe(ctx context.Context, channels ...string) *PubSub {
	return c.subscriber(channels).PSubscribe(ctx, channels...)
}

// SSubscribe subscribes to shard channels at the shard of the first. It panics without
// any. Since Redis 7.0, O(N) with the channels.
func (c *Ring) SSubscribe(ctx context.Context, channels ...string) *PubSub {
	return c.subscriber(channels).SSubscribe(ctx, channels...)
}

// subscriber is the client of the first channel's shard; where all are down, that of any,
// which goes on trying.
func (c *Ring) subscriber(channels []string) *Client {
	if len(channels) == 0 {
		panic("redis: at least one channel is required")
	}
	c.beat()
	s, err := c.shardOf(channels[0])
	if err == nil {
		return s.client
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.shards {
		return s.client
	}
	panic("redis: the ring has no shards")
}

// ForEachShard calls fn with the client of each shard that is up, all at the same time,
// and gives the first error.
func (c *Ring) ForEachShard(ctx context.Context, fn func(ctx context.Context, client *Client) error) error {
	c.beat()
	var wg sync.WaitGroup
	list := c.state.Load().list
	errs := make([]error, len(list))
	for i, s := range list {
		wg.Go(func() { errs[i] = fn(ctx, s.client) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// GetShardClients are the clients of the shards that are up.
func (c *Ring) GetShardClients() []*Client {
	var all []*Client
	for _, s := range c.state.Load().list {
		all = append(all, s.client)
	}
	return all
}

// GetShardClientForKey is the client of a key's shard.
func (c *Ring) GetShardClientForKey(key string) (*Client, error) {
	s, err := c.shardOf(key)
	if err != nil {
		return nil, err
	}
	return s.client, nil
}

// Len is how many shards are up.
func (c *Ring) Len() int { return len(c.state.Load().list) }

// PoolStats adds up those of the shards that are up.
func (c *Ring) PoolStats() *PoolStats {
	var all PoolStats
	for _, s := range c.state.Load().list {
		all.add(s.client.PoolStats())
	}
	return &all
}
