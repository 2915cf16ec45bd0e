package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/lane"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

var (
	// errCrossSlot is why a command is not sent.
	errCrossSlot = errors.New("CROSSSLOT: its keys are in different slots, so no node has them all; " +
		"give them a common {tag}, or send one command for each")
	errNoPrimary = errors.New("the cluster has no primary, or a part of it has none")
	errNoKeys    = errors.New("a cluster needs keys to know which node to watch them at")
)

// notServed is the error for a slot without a node.
func notServed(slot int) *link.Error {
	return &link.Error{Delivery: NotSent, Err: fmt.Errorf("slot %d is served by no node", slot)}
}

// newAsking makes what goes before a command that was answered with ASK.
func newAsking() *StatusCmd {
	cmd := &StatusCmd{}
	cmd.begin("asking")
	return cmd
}

// anySlot stands for commands without a key.
const anySlot = -1

// slotOf gives the slot of a command's keys, anySlot where it has none, or why there is
// no such slot.
func slotOf(b *baseCmd) (slot int, err error) {
	if b.slot > 0 {
		return int(b.slot) - 1, nil
	}
	slot = anySlot
	b.eachKey(func(key []byte) bool {
		s := int(cluster.Slot(key))
		if slot != anySlot && s != slot {
			err = &CommandError{Command: b.Name(), Delivery: NotSent, Err: errCrossSlot}
			return false
		}
		slot = s
		return true
	})
	return slot, err
}

// clusterTries is what judge remembers of a command.
type clusterTries struct {
	tries
	redirects int
	asking    bool   // the next attempt follows an ASK
	addr      string // to this address
}

// process is what the client does with one command after its hooks.
func (c *clusterCore) process(ctx context.Context, cmd Cmder) error {
	return c.processAs(ctx, cmd, false)
}

// process is that of the lean way, which is not taken where nodes have hooks: commands
// from a pool are not shown to them.
func (c *ClusterClient) process(ctx context.Context, cmd Cmder) error {
	return c.processAs(ctx, cmd, true)
}

// hooked tells whether anybody else may see the client's commands.
func (c *ClusterClient) hooked() bool { return c.nodesHooked.Load() || c.hooks.hooked() }

// processAs is process; isPlain is for commands that no hook may see.
func (c *clusterCore) processAs(ctx context.Context, cmd Cmder, isPlain bool) error {
	var t clusterTries
	began := telemetryStart()
	n, err := c.attempts(ctx, cmd, isPlain, &t)
	if began != 0 {
		n.core(c).recordCommand(ctx, began, cmd, t.count()+t.redirects, err)
	}
	return err
}

// core is that of the node's client; of one that stands for all if there is no node.
func (n *clusterNode) core(c *clusterCore) *core {
	if n == nil {
		return &core{opt: c.base}
	}
	return n.client.core
}

// attempts sends a command until it has an outcome that counts, and tells which node was
// asked last; nil: none.
func (c *clusterCore) attempts(ctx context.Context, cmd Cmder, isPlain bool, t *clusterTries) (*clusterNode, error) {
	b := cmd.base()
	slot, err := c.admit(b)
	if err != nil {
		cmd.SetErr(err)
		return nil, err
	}
	b.wire() // an error from now on is none of the arguments, whatever becomes of the command
	if slot == manySlots {
		return nil, c.fan(ctx, cmd)
	}
	n, err := c.attempt(ctx, cmd, slot, t, isPlain)
	return c.goOn(ctx, cmd, slot, t, n, err, isPlain)
}

// attempt sends a command once, and tells to which node, if there was one.
func (c *clusterCore) attempt(ctx context.Context, cmd Cmder, slot int, t *clusterTries, isPlain bool) (*clusterNode, error) {
	n, err := c.pick(ctx, cmd.base(), slot, t)
	if err == nil {
		err = n.send(ctx, cmd, t.asking, isPlain)
	}
	return n, err
}

// goOn is attempts after the first of them, at n, which ended with err; nil: the command
// has its answer.
func (c *clusterCore) goOn(ctx context.Context, cmd Cmder, slot int, t *clusterTries, n *clusterNode, err error, isPlain bool) (*clusterNode, error) {
	b := cmd.base()
	for {
		if err == nil && b.err == nil {
			return n, nil
		}
		pause, again := c.judge(ctx, t, b, n, err)
		if again {
			recordRetried(ctx, n.core(c), cmp.Or(err, b.err), t.count())
		}
		if !again || !c.rest(ctx, pause) {
			return n, c.conclude(ctx, t, b, err)
		}
		n, err = c.attempt(ctx, cmd, slot, t, isPlain)
	}
}

// admit tells the slot of a command as place does, or why it must not be sent at all.
func (c *clusterCore) admit(b *baseCmd) (slot int, err error) {
	switch {
	case b.err != nil && b.off == 0:
		return 0, b.err // an argument that can't be encoded
	case c.invalid != nil:
		return 0, c.unusable()
	case b.lane == laneSession:
		return 0, &CommandError{Command: b.Name(), Delivery: NotSent, Err: errSession}
	}
	return c.place(b)
}

// conclude gives a command its error when there are no more attempts.
func (c *clusterCore) conclude(ctx context.Context, t *clusterTries, b *baseCmd, err error) error {
	if err == nil {
		return b.err // the server's answer
	}
	b.err = namedAt(ctx, b, err, "", 1+t.sent+t.idle+t.redirects)
	return b.err
}

// pick gives the node for the next attempt.
func (c *clusterCore) pick(ctx context.Context, b *baseCmd, slot int, t *clusterTries) (*clusterNode, error) {
	st, err := c.topology(ctx)
	if err != nil {
		return nil, err
	}
	return c.pickIn(ctx, st, b, slot, t)
}

// pickIn is pick with a given state.
func (c *clusterCore) pickIn(ctx context.Context, st *clusterState, b *baseCmd, slot int, t *clusterTries) (*clusterNode, error) {
	if ctx.Err() != nil {
		return nil, &link.Error{Delivery: NotSent, Err: context.Cause(ctx)}
	}
	if t.asking {
		if n := c.node(t.addr); n != nil {
			n.asked.Store(time.Now().UnixNano())
			return n, nil
		}
		return nil, &link.Error{Delivery: NotSent, Err: ErrClosed}
	}
	if slot == anySlot {
		if len(st.masters) == 0 {
			return nil, &link.Error{Delivery: NotSent, Err: errNoPrimary}
		}
		return st.masters[c.anyOf(len(st.masters))], nil
	}
	if c.opt.ReadOnly && b.flags()&flagRead != 0 && b.route() != routeCursor {
		if n := c.reader(st, uint16(slot)); n != nil {
			return n, nil
		}
	}
	if n := st.at(uint16(slot)); n != nil {
		return n, nil
	}
	switch b.route() {
	case routeChannel, routeCursor: // it needs no slot, only always the same node
		if len(st.masters) > 0 {
			return st.masters[slot%len(st.masters)], nil
		}
	case routeKey, routeSplit, routeSlot, routeAny, routePrimaries, routeNodes, routeRefused:
	}
	return nil, notServed(slot)
}

// anyOf picks one of several primaries.
func (c *clusterCore) anyOf(total int) int {
	if p := c.opt.ShardPicker; p != nil {
		return min(max(p.Next(total), 0), total-1)
	}
	return rand.IntN(total) //nolint:gosec // no secret
}

// send sends a command to the node once, after ASKING if it was told to.
func (n *clusterNode) send(ctx context.Context, cmd Cmder, asking, isPlain bool) error {
	if !n.passes(isPlain) {
		return n.sendOnce(ctx, cmd, asking)
	}
	call := &nodeCall{cmd: cmd, do: func(ctx context.Context) error { return n.sendOnce(ctx, cmd, asking) }}
	return call.hooked(ctx, func(ctx context.Context) error { return n.client.hooks.chain.Load().process(ctx, cmd) }, cmd)
}

// sendOnce is send without hooks.
func (n *clusterNode) sendOnce(ctx context.Context, cmd Cmder, asking bool) error {
	if !asking {
		return n.client.core.sendOnce(ctx, cmd)
	}
	_, err := n.client.core.sendUnit(ctx, cmd.base().lane, []Cmder{newAsking(), cmd}, sendMany)
	return err
}

// judge decides whether a command that failed is sent again, and after which pause; err
// is nil where a server has answered. Beside what it is for a Client:
//   - MOVED: yes, to the node it names, MaxRedirects times;
//   - ASK: yes, to that node, this once, MaxRedirects times with MOVED, counted from the last
//     TRYAGAIN on;
//   - not sent: yes, wherever the slot is then, until PoolTimeout has passed;
//   - answered that the cluster is not ready (TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN,
//     READONLY): the same, as nothing was done.
func (c *clusterCore) judge(ctx context.Context, t *clusterTries, b *baseCmd, n *clusterNode, err error) (pause time.Duration, again bool) {
	t.asking = false
	if ctx.Err() != nil || c.run.Err() != nil {
		return 0, false
	}
	if t.began.IsZero() {
		t.began = time.Now().Add(-lane.Waited(err))
	}
	if err == nil {
		return c.judgeAnswer(t, b.err, n)
	}
	e, ok := err.(*link.Error) //nolint:errorlint // lanes and links give it unwrapped
	if !ok || errors.Is(e, lane.ErrPoolTimeout) || errors.Is(e, lane.ErrPoolExhausted) {
		return 0, false
	}
	c.refreshSoon()
	if n != nil {
		n.failed()
		if e.Timeout() {
			n.suspect()
		}
	}
	switch {
	case e.Delivery == NotSent:
		return t.hold(c.base.PoolTimeout)
	case !b.isIdempotent(), t.sent >= c.base.MaxRetries:
		return 0, false
	}
	t.sent++
	return c.base.backoff(t.sent - 1), true
}

// rest is the pause before the next attempt. It ends early where the topology changes; as
// long as somebody rests it is asked for often. false: the context has ended.
func (c *clusterCore) rest(ctx context.Context, pause time.Duration) bool {
	if pause <= 0 {
		return ctx.Err() == nil
	}
	c.resting.Add(1)
	defer c.resting.Add(-1)
	c.mu.Lock()
	changed := c.changed
	c.mu.Unlock()
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-changed:
		return sleep(ctx, min(pause, rand.N(shortestHold))) //nolint:gosec // jitter, no secret
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// redirect reads MOVED and ASK from a node. Addr is "" where they don't tell where to.
func (c *clusterCore) redirect(answer error, n *clusterNode) (cluster.Redirect, bool) {
	text := answer.Error()
	if st := c.state.Load(); st != nil {
		return st.topo.ParseRedirect(text, n.addr)
	}
	return (*cluster.Topology)(nil).ParseRedirect(text, n.addr)
}

// judgeAnswer is judge for what a server has answered.
func (c *clusterCore) judgeAnswer(t *clusterTries, answer error, n *clusterNode) (pause time.Duration, again bool) {
	if r, ok := c.redirect(answer, n); ok {
		if t.redirects >= c.opt.MaxRedirects {
			return 0, false
		}
		if r.Addr == "" {
			c.refreshSoon()
			return t.hold(c.base.PoolTimeout)
		}
		t.redirects++
		if r.Ask {
			t.asking, t.addr = true, r.Addr
		} else {
			c.redirects.Add(1)
			c.moved(r.Slot, r.Addr)
		}
		return 0, true
	}
	if !notReady(answer) || c.opt.MaxRedirects < 0 {
		return 0, false
	}
	if IsTryAgainError(answer) {
		t.redirects = 0 // several keys meet ASK and TRYAGAIN in turn until their slot has moved
	} else {
		c.refreshSoon()
	}
	if IsLoadingError(answer) || IsMasterDownError(answer) {
		n.failed()
	}
	return t.hold(c.base.PoolTimeout)
}

//------------------------------------------------------------------------------

// Pipeline starts to collect commands. Exec splits them by node and sends all parts at
// the same time; commands with the same slot keep their order. Commands that are for
// several nodes by themselves, such as DBSIZE or an MGET with keys of several slots, can't
// be among them: nothing is sent then, and the error says which one it is.
func (c *ClusterClient) Pipeline() Pipeliner { return c.pipe() }

func (c *ClusterClient) pipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return c.hooks.chain.Load().pipeline(ctx, cmds) })
}

// Pipelined collects the commands of fn and sends them together. An error of fn is
// returned, and nothing is sent.
func (c *ClusterClient) Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.pipe().Pipelined(ctx, fn)
}

// TxPipeline starts to collect commands for a transaction: Exec puts them between MULTI
// and EXEC and sends all at once. All keys must have the same slot.
func (c *ClusterClient) TxPipeline() Pipeliner { return c.txPipe() }

func (c *ClusterClient) txPipe() *Pipeline {
	return newPipeline(func(ctx context.Context, cmds []Cmder) error { return c.hooks.chain.Load().tx(ctx, cmds) })
}

// TxPipelined collects the commands of fn and sends them as one transaction.
func (c *ClusterClient) TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.txPipe().Pipelined(ctx, fn)
}

// piped is a command of a pipeline with what is remembered of it.
type piped struct {
	cmd  Cmder
	slot int
	t    clusterTries
	node *clusterNode // of the attempt going on
	err  error        // why that has no answer; nil: it has one
}

// admitAll tells the slots of a pipeline's commands, or why none of them is sent.
func (c *clusterCore) admitAll(cmds []Cmder) ([]*piped, error) {
	all := make([]piped, len(cmds))
	out := make([]*piped, len(cmds))
	for i, cmd := range cmds {
		slot, err := c.admit(cmd.base())
		if slot == manySlots {
			err = notPiped(cmd.base())
		}
		if err != nil {
			err = fmt.Errorf("redis: nothing of the pipeline was sent because of command %d: %w", i+1, err)
			setErrs(cmds, err)
			return nil, err
		}
		all[i] = piped{cmd: cmd, slot: slot}
		out[i] = &all[i]
	}
	for _, cmd := range cmds {
		cmd.base().wire() // see process
	}
	return out, nil
}

// processPipeline is what the client does with a pipeline after its hooks: in rounds,
// each of which sends what has no outcome yet to where it belongs then.
func (c *clusterCore) processPipeline(ctx context.Context, cmds []Cmder) error {
	rest, err := c.admitAll(cmds)
	if err != nil {
		return err
	}
	began := telemetryStart()
	c.settle(ctx, rest)
	if began != 0 {
		(*clusterNode)(nil).core(c).recordPipeline(ctx, began, "PIPELINE", cmds, 1)
	}
	return firstErr(cmds)
}

// settle sends commands until each has its outcome.
func (c *clusterCore) settle(ctx context.Context, rest []*piped) {
	for len(rest) > 0 {
		c.round(ctx, rest)
		var pause time.Duration
		rest, pause = c.unsettled(ctx, rest)
		if len(rest) > 0 && !c.rest(ctx, pause) {
			for _, p := range rest {
				_ = c.conclude(ctx, &p.t, p.cmd.base(), p.err)
			}
			return
		}
	}
}

// round sends commands once, those of a node together, all nodes at the same time. All are
// sent by one state: a read must go where the write in front of it goes, or could overtake
// it.
func (c *clusterCore) round(ctx context.Context, rest []*piped) {
	parts := make(map[*clusterNode][]*piped)
	st, err := c.topology(ctx)
	var keyless *clusterNode // commands without a key go together
	for _, p := range rest {
		switch {
		case err != nil:
			p.node, p.err = nil, err
		case p.slot == anySlot && keyless != nil:
			p.node, p.err = keyless, nil
		default:
			p.node, p.err = c.pickIn(ctx, st, p.cmd.base(), p.slot, &p.t)
		}
		if p.err != nil {
			continue
		}
		if p.slot == anySlot {
			keyless = p.node
		}
		parts[p.node] = append(parts[p.node], p)
	}
	var wg sync.WaitGroup
	for n, part := range parts {
		if len(parts) == 1 {
			n.sendPart(ctx, part)
			return
		}
		wg.Go(func() { n.sendPart(ctx, part) })
	}
	wg.Wait()
}

// sendPart sends a node's part of a pipeline.
func (n *clusterNode) sendPart(ctx context.Context, part []*piped) {
	if !n.passes(false) {
		_ = n.sendPartOnce(ctx, part)
		return
	}
	cmds := make([]Cmder, len(part))
	for i, p := range part {
		cmds[i], p.err = p.cmd, nil
	}
	call := &nodeCall{cmd: cmds[0], do: func(ctx context.Context) error { return n.sendPartOnce(ctx, part) }}
	_ = call.hooked(ctx, func(ctx context.Context) error { return n.client.hooks.chain.Load().pipeline(ctx, cmds) }, cmds...)
}

// sendPartOnce is sendPart without hooks.
func (n *clusterNode) sendPartOnce(ctx context.Context, part []*piped) error {
	cmds := make([]Cmder, 0, len(part))
	need := laneShared
	for _, p := range part {
		if p.t.asking {
			cmds = append(cmds, newAsking())
		}
		cmds = append(cmds, p.cmd)
		need = max(need, p.cmd.base().lane)
	}
	answered, err := n.client.core.sendUnit(ctx, need, cmds, sendMany)
	i := 0
	for _, p := range part {
		if p.t.asking {
			i++
		}
		if p.err = nil; i >= answered {
			p.err = err
		}
		i++
	}
	return err
}

// unsettled judges the commands of a round, and gives those to be sent again after a
// pause. Reads behind a write that is sent again, in the same slot, are too, or they would
// not see it.
func (c *clusterCore) unsettled(ctx context.Context, round []*piped) (rest []*piped, pause time.Duration) {
	late := make(map[int]bool) // slots with a write that is sent again
	for _, p := range round {
		b := p.cmd.base()
		if p.err == nil && b.err == nil {
			if len(late) > 0 && late[p.slot] && b.flags()&flagRead != 0 {
				rest = append(rest, p)
			}
			continue
		}
		d, again := c.judge(ctx, &p.t, b, p.node, p.err)
		if !again {
			_ = c.conclude(ctx, &p.t, b, p.err)
			continue
		}
		pause = max(pause, d)
		rest = append(rest, p)
		if b.flags()&flagRead == 0 {
			late[p.slot] = true
		}
	}
	return rest, pause
}

// processTx is what the client does with a transaction after its hooks. It goes whole to
// one node, and is sent again only where nothing of it was executed.
func (c *clusterCore) processTx(ctx context.Context, cmds []Cmder) error {
	all, err := c.admitAll(cmds)
	if err != nil {
		return err
	}
	slot, other := anySlot, anySlot // other: what counts where there are no keys
	for _, p := range all {
		s, _ := slotOf(p.cmd.base())
		if s != anySlot && slot != anySlot && s != slot {
			err = &CommandError{Command: "multi", Delivery: NotSent, Err: errCrossSlot}
			setErrs(cmds, err)
			return err
		}
		slot, other = max(slot, s), max(other, p.slot)
	}
	if slot == anySlot {
		slot = other
	}
	var t clusterTries
	if began := telemetryStart(); began != 0 {
		defer func() { (*clusterNode)(nil).core(c).recordPipeline(ctx, began, "MULTI", cmds, t.count()+t.redirects) }()
	}
	for {
		answer := txCmd
		n, err := c.pick(ctx, &answer, slot, &t)
		if err == nil {
			err = n.sendBlock(ctx, cmds, t.asking)
		}
		if err == nil {
			if answer.err = refusedTx(cmds); answer.err == nil {
				return firstErr(cmds)
			}
		}
		pause, again := c.judge(ctx, &t, &answer, n, err)
		if !again || !c.rest(ctx, pause) {
			if err != nil {
				setErrs(cmds, c.conclude(ctx, &t, &answer, err))
			}
			return firstErr(cmds)
		}
		for _, cmd := range cmds {
			cmd.base().err = nil
		}
	}
}

// sendBlock sends a transaction to the node, after ASKING if it was told to.
func (n *clusterNode) sendBlock(ctx context.Context, cmds []Cmder, asking bool) error {
	if !n.passes(false) {
		return n.sendBlockOnce(ctx, cmds, asking)
	}
	call := &nodeCall{cmd: cmds[0], do: func(ctx context.Context) error { return n.sendBlockOnce(ctx, cmds, asking) }}
	return call.hooked(ctx, func(ctx context.Context) error { return n.client.hooks.chain.Load().tx(ctx, cmds) }, cmds...)
}

// sendBlockOnce is sendBlock without hooks.
func (n *clusterNode) sendBlockOnce(ctx context.Context, cmds []Cmder, asking bool) error {
	_, err := n.client.core.sendUnit(ctx, laneShared, cmds, func(ctx context.Context, d doer, cmds []Cmder) (int, error) {
		b := &block{many: many{cmds: cmds}}
		if asking {
			// It counts for what MULTI queues, which the node refuses as a whole as long as
			// keys are at both ends.
			b.wire = append(b.wire, newAsking().wire()...)
			b.before = 1
		}
		return b.send(ctx, d)
	})
	return err
}

// refusedTx tells why nothing of a transaction was executed, though it may be elsewhere
// or later; nil: it has an outcome.
func refusedTx(cmds []Cmder) error {
	for _, cmd := range cmds {
		err := cmd.base().err
		if err == nil {
			return nil
		}
		if cause := abortCause(err); isElsewhere(cause) {
			return cause
		}
	}
	return nil
}

// abortCause is why EXEC was refused, where the server says so: it does where nothing but
// EXEC itself was. Else it is what the server has answered.
func abortCause(answer error) error {
	if text, ok := strings.CutPrefix(answer.Error(), "EXECABORT Transaction discarded because of: "); ok {
		return resp.Error(text)
	}
	return answer
}

// isElsewhere tells whether a server has answered that a command is for another one, or for
// later.
func isElsewhere(answer error) bool {
	_, isRedirect := cluster.ParseRedirect(answer.Error(), "host:1")
	return isRedirect || notReady(answer)
}

// Watch watches keys, which must have the same slot, calls fn, and ends the watch; see
// Client.Watch and Tx. Where the keys' node has changed meanwhile the error is TxFailedErr,
// so that the usual loop runs it again at the new one.
func (c *ClusterClient) Watch(ctx context.Context, fn func(*Tx) error, keys ...string) error {
	probe := &StatusCmd{}
	probe.begin("watch")
	probe.strs(keys...)
	slot, err := slotOf(&probe.baseCmd)
	switch {
	case err != nil:
		return err
	case slot == anySlot:
		return &CommandError{Command: "watch", Delivery: NotSent, Err: errNoKeys}
	case c.invalid != nil:
		return c.unusable()
	}
	var t clusterTries
	for {
		isBegun := false
		n, err := c.pick(ctx, &probe.baseCmd, slot, &t)
		if err == nil {
			err = n.client.watchAt(ctx, &txPlace{c: c.clusterCore, n: n, slot: uint16(slot)}, func(tx *Tx) error {
				isBegun = true
				return fn(tx)
			}, keys...)
		}
		if err == nil || isBegun {
			return err
		}
		probe.err = nil
		if _, isSend := err.(*link.Error); !isSend { //nolint:errorlint // lanes and links give it unwrapped
			probe.err, err = err, nil
		}
		pause, again := c.judge(ctx, &t, &probe.baseCmd, n, err)
		if t.asking { // no session is begun by ASK: it waits until the slot has moved
			t.asking = false
			t.redirects--
			pause, again = t.hold(c.clusterCore.base.PoolTimeout)
		}
		if !again || !c.rest(ctx, pause) {
			return c.conclude(ctx, &t, &probe.baseCmd, err)
		}
	}
}
