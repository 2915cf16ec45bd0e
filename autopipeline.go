package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// AutoPipelineOptions configure an AutoPipeliner. Zero is the default of each field.
//
// The blocking form uses MaxQueuedCommands only: what it is asked for goes into the
// connections that all commands of the client share, which are full-duplex, keep each
// goroutine's order, and gather by themselves what goroutines ask for at the same time.
type AutoPipelineOptions struct {
	// MaxBatchSize is how many commands go out together at most. Default: 200, and 300 of
	// the blocking form, where it has no effect.
	MaxBatchSize int
	// MaxBatchBytes is how large they are together at most; a larger command goes alone.
	// Default: 128 KiB.
	MaxBatchBytes int
	// MaxConcurrentBatches is how many batches of one queue are on the way at the same
	// time. More than 1 needs Unordered. Default: 1.
	MaxConcurrentBatches int
	// Unordered says that commands need not be executed in the order in which they were
	// given, not even those on the same key.
	Unordered bool

	// FullDuplex makes FullDuplexWindow bound a batch, and not MaxBatchSize. It excludes
	// Unordered and MaxConcurrentBatches.
	FullDuplex bool
	// FullDuplexWindow is how many commands may be without an outcome; who gives one more
	// waits until there is room, or fails with ErrAutoPipelineTimeout when its context ends.
	// It counts without FullDuplex too, unless there is MaxQueuedCommands. Default: 65536.
	FullDuplexWindow int
	// FullDuplexIdleTimeout and FullDuplexMaxHold are there because go-redis has them. They
	// tell when a connection goes back to its pool, so that maintenance can move it; ours
	// belong to no one and move with commands on them.
	FullDuplexIdleTimeout time.Duration
	FullDuplexMaxHold     time.Duration

	// NumShards is the number of queues. Commands on the same key have the same queue; those
	// without a key are spread over all. More than 1 needs Unordered or FullDuplex, or a
	// ClusterClient or Ring, where commands on different keys have no order anyway.
	// Default: 1, and 4 of those two.
	NumShards int

	// MaxFlushDelay is how long a batch that is not full waits for more commands.
	// Default: 0, as a batch fills while the one before it is on its way.
	MaxFlushDelay time.Duration
	// AdaptiveDelay makes the delay the shorter, the fuller the batch is.
	AdaptiveDelay bool

	// MaxQueuedCommands is how many commands may be without an outcome; one more fails at
	// once with ErrAutoPipelineQueueFull. Default: 0, no limit; see FullDuplexWindow.
	MaxQueuedCommands int
}

// Defaults of AutoPipelineOptions.
const (
	autoBatchSize         = 200
	autoBatchSizeBlocking = 300
	autoBatchBytes        = 128 << 10
	autoWindow            = 1 << 16
	autoShardsKeyed       = 4
)

// DefaultAutoPipelineOptions are the defaults of AsyncAutoPipeline.
func DefaultAutoPipelineOptions() *AutoPipelineOptions {
	return &AutoPipelineOptions{
		MaxBatchSize: autoBatchSize, MaxBatchBytes: autoBatchBytes, MaxConcurrentBatches: 1,
		NumShards: 1, FullDuplexWindow: autoWindow,
	}
}

// DefaultBlockingAutoPipelineOptions are the defaults of AutoPipeline.
func DefaultBlockingAutoPipelineOptions() *AutoPipelineOptions {
	o := DefaultAutoPipelineOptions()
	o.MaxBatchSize = autoBatchSizeBlocking
	return o
}

// Validate tells everything that is wrong with the options. AutoPipelineWithOptions and
// AsyncAutoPipelineWithOptions call it.
func (o *AutoPipelineOptions) Validate() error { return o.validate(false) }

// validate is Validate; isKeyed says that the order is one of keys anyway.
func (o *AutoPipelineOptions) validate(isKeyed bool) error {
	if o == nil {
		return nil
	}
	var errs []error
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"MaxBatchSize", int64(o.MaxBatchSize)},
		{"MaxBatchBytes", int64(o.MaxBatchBytes)},
		{"MaxConcurrentBatches", int64(o.MaxConcurrentBatches)},
		{"FullDuplexWindow", int64(o.FullDuplexWindow)},
		{"FullDuplexIdleTimeout", int64(o.FullDuplexIdleTimeout)},
		{"FullDuplexMaxHold", int64(o.FullDuplexMaxHold)},
		{"NumShards", int64(o.NumShards)},
		{"MaxFlushDelay", int64(o.MaxFlushDelay)},
		{"MaxQueuedCommands", int64(o.MaxQueuedCommands)},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("redis: AutoPipelineOptions.%s is negative", f.name))
		}
	}
	for _, f := range []struct {
		wrong bool
		text  string
	}{
		{o.FullDuplex && o.Unordered, "FullDuplex is one ordered stream: it excludes Unordered"},
		{o.MaxConcurrentBatches > 1 && !o.Unordered, "MaxConcurrentBatches above 1 needs Unordered"},
		{
			o.NumShards > 1 && !o.Unordered && !o.FullDuplex && !isKeyed,
			"NumShards above 1 needs Unordered or FullDuplex, as commands without a key lose their order",
		},
	} {
		if f.wrong {
			errs = append(errs, errors.New("redis: AutoPipelineOptions: "+f.text))
		}
	}
	return errors.Join(errs...)
}

// withDefaults fills in the fields that are zero.
func (o *AutoPipelineOptions) withDefaults(def *AutoPipelineOptions) AutoPipelineOptions {
	if o == nil {
		return *def
	}
	out := *o
	for _, f := range []struct {
		is  *int
		def int
	}{
		{&out.MaxBatchSize, def.MaxBatchSize},
		{&out.MaxBatchBytes, def.MaxBatchBytes},
		{&out.MaxConcurrentBatches, def.MaxConcurrentBatches},
		{&out.NumShards, def.NumShards},
		{&out.FullDuplexWindow, def.FullDuplexWindow},
	} {
		if *f.is == 0 {
			*f.is = f.def
		}
	}
	return out
}

// Errors of AutoPipeliners.
var (
	// ErrAutoPipelineQueueFull refuses a command because MaxQueuedCommands have no outcome
	// yet. It was not sent.
	ErrAutoPipelineQueueFull = errors.New("redis: the queue of the AutoPipeliner is full")
	// ErrAutoPipelineTimeout refuses a command whose context has ended while it waited for
	// room; see FullDuplexWindow. It was not sent.
	ErrAutoPipelineTimeout = errors.New("redis: no room in the window of the AutoPipeliner before the command's context ended")
	// ErrSubmitBlockingFace is the outcome of Submit with the blocking form.
	ErrSubmitBlockingFace = errors.New("redis: Submit is for the asynchronous form of AutoPipeliner: use AsyncAutoPipeline")
	// ErrRingAutoPipelineUnsupported is there because go-redis has it: its rings have no
	// AutoPipeliner. Ours have, and never give it.
	ErrRingAutoPipelineUnsupported = errors.New("redis: this Ring has no AutoPipeliner")

	// ErrFDPipelineUnavailable refuses FDPipelined without FullDuplex.
	ErrFDPipelineUnavailable = errors.New("redis: FDPipelined needs the asynchronous form with AutoPipelineOptions.FullDuplex")
	// ErrFDPipelineTooLarge refuses what would not fit into FullDuplexWindow.
	ErrFDPipelineTooLarge = errors.New("redis: FDPipelined: more commands than FullDuplexWindow")
	// ErrFDPipelineDiverts refuses commands that can't be in a pipeline.
	ErrFDPipelineDiverts = errors.New("redis: FDPipelined: a command that blocks, or needs a connection or several nodes for itself")
	// ErrFDPipelineSpansEngines refuses commands whose keys belong to different queues.
	ErrFDPipelineSpansEngines = errors.New("redis: FDPipelined: keys of different queues; see AutoPipelineOptions.NumShards")
)

// AutoPipeliner is a client whose commands are pipelined by themselves, made by
// AutoPipeline or AsyncAutoPipeline of a client. It is safe for concurrent use.
//
// Of the blocking form each call waits for its reply. It is what the client is, since the
// client's commands are pipelined anyway, with a limit and a Close of its own.
//
// Of the asynchronous form each call returns at once, and the methods of the command that
// it gives wait for the reply: Err, Result, Val and so on. Commands are executed in the
// order in which they were given. A command whose context ends is not sent if it has not
// been yet; those who wait for it leave at once, and get the context's error from then on.
// Hooks see a batch as a pipeline. Never sent twice is what may have an effect twice.
//
// In both forms, commands that block or that are for several nodes of a cluster go their
// own way at once, in no order with the others. So do Pipeline, TxPipeline and Watch, which
// wait for their replies.
type AutoPipeliner struct {
	cmdable

	client autoClient  // immutable
	eng    *autoEngine // immutable; of the blocking form it only counts
	async  bool        // immutable
}

var _ UniversalClient = (*AutoPipeliner)(nil)

// autoClient is a client that an AutoPipeliner can be made of.
type autoClient interface {
	UniversalClient
	leanSender
	// rides tells whether a command may be in a pipeline with others.
	rides(b *baseCmd) bool
	// pipelineHook gives what sends a pipeline, hooks and all. seen tells whether anybody
	// may look at its commands meanwhile.
	pipelineHook() (send ProcessPipelineHook, seen bool)
	// autoOptions are the options of the client; isKeyed says that commands on different
	// keys have no order in it anyway.
	autoOptions() (opt *AutoPipelineOptions, isKeyed bool)
	// patience is how long Close goes on with what is queued although nothing gets
	// through.
	patience() time.Duration
}

// autoPipes are the AutoPipeliners of a client: one for each form, as their first caller
// wants it.
type autoPipes struct {
	mu     sync.Mutex // guards the fields below
	closed bool
	forms  [2]*AutoPipeliner // blocking, asynchronous
	older  []*AutoPipeliner  // closed ones that may not be through yet
}

// get gives the AutoPipeliner of a form, and makes it where there is none, or only one that
// was closed.
func (a *autoPipes) get(client autoClient, opt *AutoPipelineOptions, async bool) (*AutoPipeliner, error) {
	own, isKeyed := client.autoOptions()
	if opt == nil {
		opt = own
	}
	if err := opt.validate(isKeyed); err != nil {
		return nil, err
	}
	def, form := DefaultBlockingAutoPipelineOptions(), 0
	if async {
		def, form = DefaultAutoPipelineOptions(), 1
	}
	if isKeyed {
		def.NumShards = autoShardsKeyed
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	ap := a.forms[form]
	if ap != nil && !ap.IsClosed() {
		return ap, nil
	}
	if ap != nil {
		a.older = append(a.older, ap)
	}
	ap = &AutoPipeliner{client: client, eng: newAutoEngine(client, opt.withDefaults(def), async), async: async}
	ap.cmdable = ap.Process
	a.forms[form] = ap
	return ap, nil
}

// close ends all AutoPipeliners, and waits until what they have accepted is through.
func (a *autoPipes) close() {
	a.mu.Lock()
	a.closed = true
	all := append(a.older, a.forms[0], a.forms[1]) //nolint:gocritic // nobody appends any more
	a.mu.Unlock()
	for _, ap := range all {
		if ap != nil {
			ap.eng.close()
			ap.eng.wait()
		}
	}
}

// IsBlocking tells the form.
func (ap *AutoPipeliner) IsBlocking() bool { return !ap.async }

// IsClosed tells whether Close was called, or the client's.
func (ap *AutoPipeliner) IsClosed() bool { return ap.eng.closed.Load() }

// Len is the number of commands that have no outcome yet, without those that block.
func (ap *AutoPipeliner) Len() int { return int(ap.eng.accepted.Load()) }

// Config are the options, with defaults.
func (ap *AutoPipeliner) Config() AutoPipelineOptions { return ap.eng.opt }

// Close refuses further commands with ErrClosed, and waits until those that were accepted
// have their outcome; commands that block are ended. The client stays open. All who got
// this AutoPipeliner from the client are concerned. A further Close does not wait and gives
// ErrClosed.
func (ap *AutoPipeliner) Close() error {
	if !ap.eng.close() {
		return ErrClosed
	}
	return ap.WaitClosed()
}

// WaitClosed waits until somebody has called Close and that is through.
func (ap *AutoPipeliner) WaitClosed() error {
	ap.eng.wait()
	return nil
}

// Process gives a command its way. Of the asynchronous form it returns at once; the error
// is then why the command was refused.
func (ap *AutoPipeliner) Process(ctx context.Context, cmd Cmder) error {
	if ap.async {
		return ap.eng.submit(ctx, cmd)
	}
	if cmd.base().lane == laneExclusive && !ap.IsClosed() {
		return ap.client.Process(ctx, cmd) // Close does not wait for it
	}
	if err := ap.enter(ctx, cmd); err != nil {
		return err
	}
	defer ap.eng.release(1)
	return ap.client.Process(ctx, cmd)
}

// enter counts a command of the blocking form in, or gives it the reason why not.
func (ap *AutoPipeliner) enter(ctx context.Context, cmd Cmder) error {
	err := ap.eng.accept(ctx, 1)
	if err != nil {
		err = &CommandError{Command: cmd.Name(), Delivery: NotSent, Err: err}
		cmd.SetErr(err)
	}
	return err
}

// process is Process of the blocking form without hooks, for commands that are frequent.
func (ap *AutoPipeliner) process(ctx context.Context, cmd Cmder) error {
	if err := ap.enter(ctx, cmd); err != nil {
		return err
	}
	err := ap.client.process(ctx, cmd)
	ap.eng.release(1)
	return err
}

// hooked tells whether commands must not come from a pool.
func (ap *AutoPipeliner) hooked() bool { return ap.async || ap.client.hooked() }

func (ap *AutoPipeliner) keySlot(key string) uint16 { return ap.client.keySlot(key) }

// quick gives no way, as every command is counted.
func (ap *AutoPipeliner) quick(string) leanWay { return leanWay{} }

// resume is not called, as there is no quick way.
func (ap *AutoPipeliner) resume(ctx context.Context, _ leanWay, cmd Cmder, _ error) error {
	return ap.process(ctx, cmd)
}

// Get gives the value of key, as [Client.Get]; Nil where there is none. Since Redis 1.0,
// O(1).
func (ap *AutoPipeliner) Get(ctx context.Context, key string) *StringCmd {
	cmd := new(StringCmd)
	askString(ctx, ap, leanGet, key, &cmd.result)
	return cmd
}

// Incr adds 1 to the number that key holds, as [Client.Incr], and gives the sum. Since
// Redis 1.0, O(1).
func (ap *AutoPipeliner) Incr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, ap, leanIncr, key, &cmd.result)
	return cmd
}

// Decr is Incr with -1. Since Redis 1.0, O(1).
func (ap *AutoPipeliner) Decr(ctx context.Context, key string) *IntCmd {
	cmd := new(IntCmd)
	askInt(ctx, ap, leanDecr, key, &cmd.result)
	return cmd
}

// Set stores value in key for the time of expiration, as [Client.Set]. Since Redis 1.0,
// O(1).
func (ap *AutoPipeliner) Set(ctx context.Context, key string, value any, expiration time.Duration) *StatusCmd {
	cmd := new(StatusCmd)
	tellSet(ctx, ap, key, value, expiration, &cmd.result)
	return cmd
}

// Do sends a command given by its arguments, the name first.
func (ap *AutoPipeliner) Do(ctx context.Context, args ...any) *Cmd {
	cmd := NewCmd(ctx, args...)
	_ = ap.Process(ctx, cmd)
	return cmd
}

// DoRaw sends a command given by its arguments, the name first, and gives its reply as the
// bytes that came.
func (ap *AutoPipeliner) DoRaw(ctx context.Context, args ...any) *RawCmd {
	return ap.cmdable.DoRaw(ctx, args...)
}

// DoRawWriteTo is DoRaw with the reply written to w. It waits for the reply in both forms.
func (ap *AutoPipeliner) DoRawWriteTo(ctx context.Context, w io.Writer, args ...any) *RawWriteToCmd {
	return ap.cmdable.DoRawWriteTo(ctx, w, args...)
}

//------------------------------------------------------------------------------

// AutoFuture is a command whose outcome is still to come. The zero value is of no command.
type AutoFuture struct {
	cmd Cmder
	err error // why it was refused
}

// Submit queues any command, once. It is for the asynchronous form; with the blocking one the
// future's error is ErrSubmitBlockingFace, and the command is not sent.
func (ap *AutoPipeliner) Submit(ctx context.Context, cmd Cmder) AutoFuture {
	if !ap.async {
		cmd.SetErr(ErrSubmitBlockingFace)
		return AutoFuture{cmd: cmd, err: ErrSubmitBlockingFace}
	}
	return AutoFuture{cmd: cmd, err: ap.eng.submit(ctx, cmd)}
}

// Cmd is the command. Its methods wait for the outcome too.
func (f AutoFuture) Cmd() Cmder { return f.cmd }

// Wait waits for the outcome, and gives the command's error.
func (f AutoFuture) Wait() error { return f.WaitContext(context.Background()) }

// WaitContext is Wait that ends with the context. The command is sent all the same.
func (f AutoFuture) WaitContext(ctx context.Context) error {
	switch {
	case f.err != nil, f.cmd == nil:
		return f.err
	case f.cmd.base().due == nil:
		return f.cmd.base().err
	}
	d := f.cmd.base().due
	select {
	case <-d.done:
	case <-d.ctx.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return f.cmd.Err()
}

// FDPipelined sends commands one after the other with none of others' in between, and waits
// for their replies; the error is that of the first one that failed. It is for the
// asynchronous form with FullDuplex, and sends all or nothing.
func (ap *AutoPipeliner) FDPipelined(ctx context.Context, cmds []Cmder) error {
	if !ap.async || !ap.eng.opt.FullDuplex {
		return ErrFDPipelineUnavailable
	}
	if len(cmds) == 0 {
		return nil
	}
	if err := ap.eng.submitAll(ctx, cmds); err != nil {
		return err
	}
	var first error
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

//------------------------------------------------------------------------------

// Pipeline starts to collect commands, which Exec sends together and waits for.
func (ap *AutoPipeliner) Pipeline() Pipeliner { return newPipeline(ap.batch(ap.client.Pipeline)) }

// Pipelined collects the commands of fn and sends them together. An error of fn is
// returned, and nothing is sent.
func (ap *AutoPipeliner) Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return ap.Pipeline().Pipelined(ctx, fn)
}

// TxPipeline is Pipeline for a transaction.
func (ap *AutoPipeliner) TxPipeline() Pipeliner { return newPipeline(ap.batch(ap.client.TxPipeline)) }

// TxPipelined collects the commands of fn and sends them as one transaction.
func (ap *AutoPipeliner) TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return ap.TxPipeline().Pipelined(ctx, fn)
}

// batch sends commands as a pipeline of the client, and counts as one command.
func (ap *AutoPipeliner) batch(begin func() Pipeliner) ProcessPipelineHook {
	return func(ctx context.Context, cmds []Cmder) error {
		if err := ap.eng.accept(ctx, 1); err != nil {
			err = &CommandError{Command: cmds[0].Name(), Delivery: NotSent, Err: err}
			setErrs(cmds, err)
			return err
		}
		defer ap.eng.release(1)
		p := begin()
		if err := p.BatchProcess(ctx, cmds...); err != nil {
			return err
		}
		_, err := p.Exec(ctx)
		return err
	}
}

// Watch is the client's.
func (ap *AutoPipeliner) Watch(ctx context.Context, fn func(*Tx) error, keys ...string) error {
	if ap.IsClosed() {
		return ErrClosed
	}
	return ap.client.Watch(ctx, fn, keys...)
}

// Subscribe is the client's; the subscription is closed by itself. Since Redis 2.0, O(N)
// with the channels.
func (ap *AutoPipeliner) Subscribe(ctx context.Context, channels ...string) *PubSub {
	return ap.client.Subscribe(ctx, channels...)
}

// PSubscribe is Subscribe for patterns. Since Redis 2.0, O(N) with the patterns.
func (ap *AutoPipeliner) PSubscribe(ctx context.Context, patterns ...string) *PubSub {
	return ap.client.PSubscribe(ctx, patterns...)
}

// SSubscribe is Subscribe for shard channels. Since Redis 7.0, O(N) with the channels.
func (ap *AutoPipeliner) SSubscribe(ctx context.Context, channels ...string) *PubSub {
	return ap.client.SSubscribe(ctx, channels...)
}

// AddHook adds a hook to the client.
func (ap *AutoPipeliner) AddHook(hook Hook) { ap.client.AddHook(hook) }

// PoolStats counts the client's connections.
func (ap *AutoPipeliner) PoolStats() *PoolStats { return ap.client.PoolStats() }

// AutoPipeline gives the client's AutoPipeliner of the blocking form.
func (ap *AutoPipeliner) AutoPipeline() (*AutoPipeliner, error) { return ap.client.AutoPipeline() }

// AutoPipelineWithOptions gives the client's AutoPipeliner of the blocking form.
func (ap *AutoPipeliner) AutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error) {
	return ap.client.AutoPipelineWithOptions(opt)
}

// AsyncAutoPipeline gives the client's AutoPipeliner of the asynchronous form.
func (ap *AutoPipeliner) AsyncAutoPipeline() (*AutoPipeliner, error) {
	return ap.client.AsyncAutoPipeline()
}

// AsyncAutoPipelineWithOptions gives the client's AutoPipeliner of the asynchronous form.
func (ap *AutoPipeliner) AsyncAutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error) {
	return ap.client.AsyncAutoPipelineWithOptions(opt)
}

// AutoPipeline gives the client's AutoPipeliner of the blocking form, which all callers
// share: its first caller's options count, here Options.AutoPipelineOptions. It is closed
// by its Close or the client's, and then made anew.
func (c *Client) AutoPipeline() (*AutoPipeliner, error) {
	return c.autos.get(c, nil, false)
}

// AutoPipelineWithOptions is AutoPipeline with options; nil: the client's. An error tells
// what is wrong with them.
func (c *Client) AutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error) {
	return c.autos.get(c, opt, false)
}

// AsyncAutoPipeline is AutoPipeline of the asynchronous form.
func (c *Client) AsyncAutoPipeline() (*AutoPipeliner, error) {
	return c.autos.get(c, nil, true)
}

// AsyncAutoPipelineWithOptions is AutoPipelineWithOptions of the asynchronous form.
func (c *Client) AsyncAutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error) {
	return c.autos.get(c, opt, true)
}

// AutoPipeline is [Client.AutoPipeline].
func (c *ClusterClient) AutoPipeline() (*AutoPipeliner, error) {
	return c.autos.get(c, nil, false)
}

// AutoPipelineWithOptions is [Client.AutoPipelineWithOptions].
func (c *ClusterClient) AutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error) {
	return c.autos.get(c, opt, false)
}

// AsyncAutoPipeline is [Client.AsyncAutoPipeline].
func (c *ClusterClient) AsyncAutoPipeline() (*AutoPipeliner, error) {
	return c.autos.get(c, nil, true)
}

// AsyncAutoPipelineWithOptions is [Client.AsyncAutoPipelineWithOptions].
func (c *ClusterClient) AsyncAutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error) {
	return c.autos.get(c, opt, true)
}

// AutoPipeline is [Client.AutoPipeline].
func (c *Ring) AutoPipeline() (*AutoPipeliner, error) {
	return c.autos.get(c, nil, false)
}

// AutoPipelineWithOptions is [Client.AutoPipelineWithOptions].
func (c *Ring) AutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error) {
	return c.autos.get(c, opt, false)
}

// AsyncAutoPipeline is [Client.AsyncAutoPipeline].
func (c *Ring) AsyncAutoPipeline() (*AutoPipeliner, error) {
	return c.autos.get(c, nil, true)
}

// AsyncAutoPipelineWithOptions is [Client.AsyncAutoPipelineWithOptions].
func (c *Ring) AsyncAutoPipelineWithOptions(opt *AutoPipelineOptions) (*AutoPipeliner, error) {
	return c.autos.get(c, opt, true)
}

func (c *Client) autoOptions() (opt *AutoPipelineOptions, isKeyed bool) {
	return c.opt.AutoPipelineOptions, false
}

func (c *ClusterClient) autoOptions() (opt *AutoPipelineOptions, isKeyed bool) {
	return c.opt.AutoPipelineOptions, true
}

func (c *Ring) autoOptions() (opt *AutoPipelineOptions, isKeyed bool) { return nil, true }

func (c *core) patience() time.Duration        { return c.opt.PoolTimeout }
func (c *clusterCore) patience() time.Duration { return c.base.PoolTimeout }
func (c *ringCore) patience() time.Duration    { return c.opt.shard("").withDefaults().PoolTimeout }

func (c *core) rides(*baseCmd) bool     { return true }
func (c *ringCore) rides(*baseCmd) bool { return true }

func (c *clusterCore) rides(b *baseCmd) bool {
	slot, err := c.place(b)
	return err == nil && slot != manySlots
}

func (c *Client) pipelineHook() (send ProcessPipelineHook, seen bool) {
	h := c.hooks.chain.Load()
	return h.pipeline, len(h.hooks) > 0
}

// Nodes and shards may have hooks of their own.
func (c *ClusterClient) pipelineHook() (send ProcessPipelineHook, seen bool) {
	return c.hooks.chain.Load().pipeline, true
}

func (c *Ring) pipelineHook() (send ProcessPipelineHook, seen bool) {
	return c.hooks.chain.Load().pipeline, true
}
