package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/cluster"
)

// due is a command's outcome that is still to come. The command that was handed out
// points to it for good, so that whoever reads its reply waits first.
//
// Whoever moves state on from queued or sent owns the outcome: the engine, by taking the
// command and then by closing done, or the caller whose context has ended.
type due struct {
	ctx   context.Context // the command's; immutable
	cmd   Cmder           // as it was handed out; immutable
	done  chan struct{}   // closed when the outcome is there; one for all commands of a batch
	proxy Cmder           // what has the outcome in place of cmd; nil: cmd. Set before done is closed
	state atomic.Uint32
	gone  error // of a caller who has left; set with state left
}

// The states of a due.
const (
	dueQueued uint32 = iota
	dueSent          // or about to be
	dueHere          // somebody has seen the outcome
	dueLeaving
	dueLeft // the command's context ended first: the outcome is of no interest
)

// wait gives the command that has the outcome, or the error of a context that has ended
// before it came. All who wait for a command get the same.
func (d *due) wait() (Cmder, error) {
	select {
	case <-d.done:
		return d.arrived()
	default:
	}
	select {
	case <-d.done:
		return d.arrived()
	case <-d.ctx.Done():
		return d.leave()
	}
}

// arrived is wait for an outcome that is there.
func (d *due) arrived() (Cmder, error) {
	for {
		switch s := d.state.Load(); s {
		case dueLeft:
			return nil, d.gone
		case dueLeaving:
			runtime.Gosched() // a few instructions
		case dueHere:
			if d.proxy != nil {
				return d.proxy, nil
			}
			return d.cmd, nil
		default:
			d.state.CompareAndSwap(s, dueHere)
		}
	}
}

// leave gives up a command whose context has ended. What was not sent by now is not sent
// any more.
func (d *due) leave() (Cmder, error) {
	for {
		s := d.state.Load()
		if s > dueSent {
			return d.arrived()
		}
		if !d.state.CompareAndSwap(s, dueLeaving) {
			continue
		}
		reached := NotSent
		if s == dueSent {
			reached = MaybeSent
		}
		d.gone = &CommandError{Command: d.cmd.Name(), Delivery: reached, Err: context.Cause(d.ctx)}
		d.state.Store(dueLeft)
		return nil, d.gone
	}
}

// take is false for a command that must not be sent any more, as nobody wants it.
func (d *due) take() bool { return d.state.CompareAndSwap(dueQueued, dueSent) }

// errOf is the error of the command that was handed out as c.
func (d *due) errOf(c *baseCmd) error {
	src, err := d.wait()
	switch {
	case err != nil:
		return err
	case src.base() == c:
		return c.err
	}
	return src.base().err
}

// goneBy is what is left of a command whose outcome is of no interest.
func (c *baseCmd) goneBy(err error) baseCmd {
	return baseCmd{err: err, buf: c.buf, off: c.off, count: c.count, lean: c.lean}
}

// settled gives the command that has the outcome of c, which is waited for.
func settled[C any, P interface {
	*C
	base() *baseCmd
}](c P) P {
	d := c.base().due
	if d == nil {
		return c
	}
	src, err := d.wait()
	if err != nil {
		gone := P(new(C))
		*gone.base() = c.base().goneBy(err)
		return gone
	}
	if s, ok := src.(any).(P); ok {
		return s
	}
	return c
}

// settled is the function of that name for what most commands have in common.
func (c *result[T]) settled() *result[T] {
	if c.due == nil {
		return c
	}
	return c.later()
}

func (c *result[T]) later() *result[T] {
	src, err := c.due.wait()
	if err != nil {
		return &result[T]{baseCmd: c.goneBy(err)}
	}
	if s, ok := src.(interface{ itself() *result[T] }); ok {
		return s.itself()
	}
	return c
}

func (c *result[T]) itself() *result[T] { return c }

// follow makes c a command with the outcome of from, be it there or still to come.
func (c *result[T]) follow(from *result[T]) {
	if from.due == nil {
		*c = *from
		return
	}
	c.baseCmd = baseCmd{buf: from.buf, off: from.off, count: from.count, due: from.due}
}

//------------------------------------------------------------------------------

// autoEngine is what is behind the asynchronous form: commands queue up and go out as
// pipelines of the client, by goroutines that live as long as there is something to send.
type autoEngine struct {
	client autoClient          // immutable
	opt    AutoPipelineOptions // immutable, with defaults
	most   int                 // commands that may be without an outcome; immutable
	shards []*autoShard        // immutable
	turn   atomic.Uint32       // of commands without a key among the shards

	accepted atomic.Int64  // commands that have no outcome yet
	closed   atomic.Bool   // no more are accepted
	waiting  atomic.Int32  // callers who wait for room
	drained  chan struct{} // closed once closed is set and nothing is accepted any more
	through  atomic.Int64  // batches of which something was answered
	expired  atomic.Bool   // what is still queued is given up
	empty    sync.Once     // closes it

	run  context.Context // ends when commands that are on their own are to end
	stop context.CancelFunc
	work sync.WaitGroup // goroutines; begun only for what is accepted

	mu   sync.Mutex    // guards room
	room chan struct{} // closed when there is some again; nil: nobody waits
}

// autoShard is a queue of its own.
type autoShard struct {
	eng *autoEngine

	mu      sync.Mutex // guards the fields below
	queue   []*autoBatch
	sending int // goroutines
}

// autoBatch is what goes out as one pipeline.
type autoBatch struct {
	cmds  []Cmder
	dues  []*due
	bytes int
	done  chan struct{} // closed when all have their outcome
}

// newAutoEngine makes the engine of an AutoPipeliner. That of the blocking form only
// counts, and has no window.
func newAutoEngine(client autoClient, opt AutoPipelineOptions, async bool) *autoEngine {
	e := &autoEngine{client: client, opt: opt, most: opt.MaxQueuedCommands, drained: make(chan struct{})}
	switch {
	case e.most == 0 && async:
		e.most = opt.FullDuplexWindow
	case e.most == 0:
		e.most = math.MaxInt
	}
	e.run, e.stop = context.WithCancel(context.Background())
	for range opt.NumShards {
		e.shards = append(e.shards, &autoShard{eng: e})
	}
	return e
}

// accept counts n commands in, or tells why they are refused. It waits while the window
// is full, unless there is a limit that refuses instead.
func (e *autoEngine) accept(ctx context.Context, n int) error {
	if !e.reserve(n) {
		if e.opt.MaxQueuedCommands > 0 {
			return ErrAutoPipelineQueueFull
		}
		if err := e.queue(ctx, n); err != nil {
			return err
		}
	}
	if e.closed.Load() {
		e.release(n)
		return ErrClosed
	}
	return nil
}

// reserve counts n commands in if there is room.
func (e *autoEngine) reserve(n int) bool {
	for {
		now := e.accepted.Load()
		if now > int64(e.most-n) {
			return false
		}
		if e.accepted.CompareAndSwap(now, now+int64(n)) {
			return true
		}
	}
}

// queue waits for room for n commands.
func (e *autoEngine) queue(ctx context.Context, n int) error {
	e.waiting.Add(1)
	defer e.waiting.Add(-1)
	for {
		e.mu.Lock()
		if e.room == nil {
			e.room = make(chan struct{})
		}
		room := e.room
		e.mu.Unlock()
		// Whoever gives room after this finds that somebody waits.
		if e.closed.Load() {
			return ErrClosed
		}
		if e.reserve(n) {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return errors.Join(ErrAutoPipelineTimeout, context.Cause(ctx))
		}
	}
}

// release counts n commands out.
func (e *autoEngine) release(n int) {
	if e.accepted.Add(int64(-n)) == 0 && e.closed.Load() {
		e.empty.Do(func() { close(e.drained) })
	}
	if e.waiting.Load() > 0 {
		e.letIn()
	}
}

// letIn wakes those who wait for room.
func (e *autoEngine) letIn() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.room != nil {
		close(e.room)
		e.room = nil
	}
}

// close refuses further commands. It is false if that has happened before.
func (e *autoEngine) close() bool {
	if !e.closed.CompareAndSwap(false, true) {
		return false
	}
	e.accepted.Add(1) // where nothing is accepted, nobody counts out
	e.release(1)
	e.letIn()
	return true
}

// wait returns when what was accepted has its outcome and all goroutines have ended. What
// is queued is given up when nothing gets through for a while. Commands that block are ended
// once all others are through.
func (e *autoEngine) wait() {
	t := time.NewTicker(max(e.client.patience(), time.Millisecond))
	defer t.Stop()
	for last := e.through.Load(); ; {
		select {
		case <-e.drained:
			e.stop()
			e.work.Wait()
			return
		case <-t.C:
			now := e.through.Load()
			if e.closed.Load() && now == last {
				e.expired.Store(true)
			}
			last = now
		}
	}
}

// submit queues a command. Its outcome is there once what its due says is closed; an
// error says that it was not queued, and is the command's.
func (e *autoEngine) submit(ctx context.Context, cmd Cmder) error {
	b := cmd.base()
	b.due = nil
	if b.err != nil && b.off == 0 {
		return b.err // an argument that can't be encoded
	}
	b.wire() // nobody changes the encoded form from now on
	b.err = nil
	if err := e.accept(ctx, 1); err != nil {
		b.err = &CommandError{Command: b.Name(), Delivery: NotSent, Err: err}
		return b.err
	}
	d := &due{ctx: ctx, cmd: cmd}
	switch {
	case takesForItself(cmd):
		defer e.release(1)
		return e.client.Process(ctx, cmd)
	case b.lane == laneShared && e.client.rides(b):
		b.due = d
		e.shardOf(b).add(cmd, d)
	default:
		d.done = make(chan struct{})
		b.due = d
		e.alone(cmd, d)
	}
	return nil
}

// submitAll queues commands one behind the other, all or none of them.
func (e *autoEngine) submitAll(ctx context.Context, cmds []Cmder) error {
	var at *autoShard
	for i, cmd := range cmds {
		b := cmd.base()
		b.due = nil
		if b.err != nil && b.off == 0 {
			return fmt.Errorf("redis: FDPipelined: nothing was sent because of command %d: %w", i+1, b.err)
		}
		b.wire()
		b.err = nil
		if b.lane != laneShared || takesForItself(cmd) || !e.client.rides(b) {
			return ErrFDPipelineDiverts
		}
		if _, keyed := b.firstKey(); keyed {
			if s := e.shardOf(b); at == nil {
				at = s
			} else if at != s {
				return ErrFDPipelineSpansEngines
			}
		}
	}
	if at == nil {
		at = e.shardOf(cmds[0].base())
	}
	if len(cmds) > e.most {
		return ErrFDPipelineTooLarge
	}
	if err := e.accept(ctx, len(cmds)); err != nil {
		err = &CommandError{Command: cmds[0].Name(), Delivery: NotSent, Err: err}
		setErrs(cmds, err)
		return err
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	for _, cmd := range cmds {
		d := &due{ctx: ctx, cmd: cmd}
		cmd.base().due = d
		at.put(cmd, d)
	}
	at.start()
	return nil
}

// takesForItself tells whether a reply goes to where the caller may use it as soon as the
// command is given up. It is then waited for.
func takesForItself(cmd Cmder) bool {
	switch cmd.(type) {
	case *ZeroCopyStringCmd, *RawWriteToCmd, *MonitorCmd:
		return true
	}
	return false
}

// alone sends a command that can't be in a pipeline. Commands that block don't keep Close
// waiting: they are not counted, and end when the engine does.
func (e *autoEngine) alone(cmd Cmder, d *due) {
	blocks := cmd.base().lane == laneExclusive
	e.work.Go(func() {
		ctx := d.ctx
		if blocks {
			var cancel context.CancelCauseFunc
			ctx, cancel = context.WithCancelCause(d.ctx)
			defer context.AfterFunc(e.run, func() { cancel(ErrClosed) })()
			defer cancel(nil)
		}
		if d.take() {
			copied := shallow(cmd)
			_ = e.client.Process(ctx, copied)
			d.proxy = copied
		}
		if !blocks {
			e.release(1)
		}
		close(d.done)
	})
	if blocks {
		e.release(1)
	}
}

// shallow is a copy of a command for those who may look at its reply while it is still
// to come: hooks, and what is made for commands that are waited for.
func shallow(cmd Cmder) Cmder {
	c := reflect.New(reflect.TypeOf(cmd).Elem())
	c.Elem().Set(reflect.ValueOf(cmd).Elem())
	out := c.Interface().(Cmder)
	out.base().due = nil
	return out
}

// shardOf gives the queue of a command: that of its key, so that commands on the same key
// keep their order.
func (e *autoEngine) shardOf(b *baseCmd) *autoShard {
	n := uint32(len(e.shards))
	if n == 1 {
		return e.shards[0]
	}
	if key, ok := b.firstKey(); ok {
		return e.shards[uint32(cluster.Slot(key))%n]
	}
	return e.shards[e.turn.Add(1)%n]
}

// add queues commands that follow one another, and sees that somebody sends them.
func (s *autoShard) add(cmd Cmder, d *due) {
	s.mu.Lock()
	s.put(cmd, d)
	s.start()
	s.mu.Unlock()
}

// put queues a command; mu is held.
func (s *autoShard) put(cmd Cmder, d *due) {
	size := len(cmd.base().wire())
	var last *autoBatch
	if n := len(s.queue); n > 0 {
		last = s.queue[n-1]
	}
	opt := &s.eng.opt
	most := opt.MaxBatchSize
	if opt.FullDuplex {
		most = opt.FullDuplexWindow
	}
	if last == nil || len(last.cmds) >= most || last.bytes+size > opt.MaxBatchBytes {
		last = &autoBatch{done: make(chan struct{})}
		s.queue = append(s.queue, last)
	}
	d.done = last.done
	last.cmds = append(last.cmds, cmd)
	last.dues = append(last.dues, d)
	last.bytes += size
}

// start begins to send if there are not enough who do; mu is held.
func (s *autoShard) start() {
	if s.sending < s.eng.opt.MaxConcurrentBatches && s.sending < len(s.queue) {
		s.sending++
		s.eng.work.Go(s.send)
	}
}

// send sends batches until there are none.
func (s *autoShard) send() {
	for {
		s.gather()
		b := s.next()
		if b == nil {
			return
		}
		s.eng.flush(b)
	}
}

// gather gives callers time to fill the first batch.
func (s *autoShard) gather() {
	opt := &s.eng.opt
	if opt.MaxFlushDelay <= 0 {
		runtime.Gosched()
		return
	}
	s.mu.Lock()
	filled := 1.0
	if len(s.queue) > 0 {
		filled = float64(len(s.queue[0].cmds)) / float64(opt.MaxBatchSize)
	}
	s.mu.Unlock()
	d := opt.MaxFlushDelay
	if opt.AdaptiveDelay {
		d = time.Duration(float64(d) * (1 - filled))
	}
	if filled < 1 && !s.eng.closed.Load() {
		_ = sleep(s.eng.run, d)
	}
}

// next takes the first batch; nil: there is none, and the caller is not counted among
// those who send any more.
func (s *autoShard) next() *autoBatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.sending--
		return nil
	}
	b := s.queue[0]
	s.queue[0] = nil
	if s.queue = s.queue[1:]; len(s.queue) == 0 {
		s.queue = nil
	}
	return b
}

// flush sends a batch and gives every command of it its outcome.
func (e *autoEngine) flush(b *autoBatch) {
	total := len(b.cmds)
	cmds := b.cmds[:0:total]
	dues := b.dues[:0:total]
	for i, d := range b.dues {
		if !d.take() {
			continue
		}
		if err := e.unwanted(d); err != nil {
			cmd := b.cmds[i].base()
			cmd.err = &CommandError{Command: cmd.Name(), Delivery: NotSent, Err: err}
			continue
		}
		cmds, dues = append(cmds, b.cmds[i]), append(dues, d)
	}
	if len(cmds) > 0 {
		e.exec(batchContext(dues), cmds, dues)
	}
	e.release(total) // Close waits for this goroutine all the same
	close(b.done)
}

// unwanted tells why a command is not sent any more; nil: it is.
func (e *autoEngine) unwanted(d *due) error {
	switch {
	case d.ctx.Err() != nil:
		return context.Cause(d.ctx)
	case e.expired.Load():
		return ErrClosed
	}
	return nil
}

// exec sends commands as a pipeline. Those who may look at them on the way get copies.
func (e *autoEngine) exec(ctx context.Context, cmds []Cmder, dues []*due) {
	send, seen := e.client.pipelineHook()
	if seen {
		cmds = slices.Clone(cmds)
		for i, cmd := range cmds {
			cmds[i] = shallow(cmd)
			dues[i].proxy = cmds[i]
		}
	}
	err := send(ctx, cmds)
	if err != nil && firstErr(cmds) == nil {
		setErrs(cmds, err) // a hook has not let them be sent
	}
	settleRaw(cmds)
	if slices.ContainsFunc(cmds, wasAnswered) {
		e.through.Add(1)
	}
}

// wasAnswered tells whether the outcome of a command is a server's.
func wasAnswered(cmd Cmder) bool {
	return DeliveryOf(cmd.base().err) == Rejected || cmd.base().err == nil
}

// batchContext is the context of commands that go out together: theirs if all have the
// same, else one that never ends, as those who leave don't take the others with them.
func batchContext(dues []*due) context.Context {
	ctx := dues[0].ctx
	for _, d := range dues[1:] {
		if d.ctx.Done() != ctx.Done() {
			return context.WithoutCancel(ctx)
		}
	}
	return ctx
}
