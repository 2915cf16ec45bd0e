package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/cluster"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// What makes a command one that a cluster client does not send.
var (
	errOneNode = errors.New("it is for one node, and only its caller knows which: " +
		"send it by that node's client, as MasterForKey and ForEachMaster give it")
	errSeveralNodes = errors.New("it is for several nodes, so it can't be in a pipeline: " +
		"send it by itself, or by the nodes' clients, as ForEachMaster gives them")
	errNoValue = errors.New("the last key has no value")
)

// What makes the replies of several nodes impossible to merge.
var errUneven = errors.New("the nodes' replies differ in form")

// manySlots stands for a command that is for several nodes; see fan.
const manySlots = -2

// place gives the slot of a command whose node has it, anySlot where any node will do,
// manySlots where one is not enough, or why it must not be sent.
func (c *clusterCore) place(b *baseCmd) (slot int, err error) {
	slot, err = slotOf(b)
	if err == nil && slot != anySlot || c.opt.DisableRoutingPolicies {
		return slot, err // most commands
	}
	switch b.route() {
	case routeSplit, routePrimaries, routeNodes:
		return manySlots, nil
	case routeChannel:
		if channel, ok := b.argAt(1); ok {
			slot = int(cluster.Slot(channel))
		}
	case routeCursor:
		if index, ok := b.cursorIndex(); ok {
			slot = int(cluster.Slot(index))
		}
	case routeSlot:
		if n, ok := b.slotArg(); ok && n < cluster.Slots {
			slot = n
		}
	case routeRefused:
		err = &CommandError{Command: b.FullName(), Delivery: NotSent, Err: errOneNode}
	case routeKey, routeAny:
	}
	return slot, err
}

// notPiped tells why a command that is for several nodes can't be in a pipeline.
func notPiped(b *baseCmd) error {
	err := errSeveralNodes
	if b.route() == routeSplit {
		err = errCrossSlot
	}
	return &CommandError{Command: b.FullName(), Delivery: NotSent, Err: err}
}

// rawCmd is what a part of a command is sent as: its reply is kept as it came.
type rawCmd struct {
	baseCmd
	frame []byte
}

func (c *rawCmd) String() string { return c.show("a part of a reply") }

func (c *rawCmd) readReply(r *resp.Reader) error {
	if kind := r.Kind(); kind == resp.KindError || kind == resp.KindBulkError {
		_, err := r.Bytes()
		return err
	}
	frame, err := r.Raw()
	c.frame = bytes.Clone(frame)
	return err
}

// A fanPart is what one node does of a command that is for several.
type fanPart struct {
	cmd    rawCmd
	addr   string // of the node; "" where it was not found
	slot   int    // one that a primary has; anySlot: a replica, or it has none
	places []int  // of a split command: which of its keys are here
	isGone bool   // it is no node of the cluster any more, so that nothing is asked of it
}

// fan is process for a command that is for several nodes: each gets its part at the same
// time, and the replies are merged into one, which the command reads as if it had come
// from a server.
func (c *clusterCore) fan(ctx context.Context, cmd Cmder) error {
	b := cmd.base()
	b.err = nil
	var parts []*fanPart
	var err error
	if kind := b.route(); kind == routeSplit {
		parts, err = c.fanSlots(ctx, b)
	} else {
		parts, err = c.fanNodes(ctx, b, kind)
	}
	if err == nil {
		parts, err = b.succeeded(parts)
	}
	if err != nil {
		b.err = err
		return err
	}
	frame, err := merged(b.merge(), parts)
	if err == nil {
		r := resp.NewReader(frame)
		err = cmd.readReply(&r)
	}
	b.settle(err)
	return b.err
}

// fanNodes sends a command to all primaries, or to all nodes.
func (c *clusterCore) fanNodes(ctx context.Context, b *baseCmd, kind routeKind) ([]*fanPart, error) {
	st, err := c.latest(ctx, b)
	if err != nil {
		return nil, err
	}
	var parts []*fanPart
	add := func(n *clusterNode, slot int) {
		p := &fanPart{cmd: rawCmd{baseCmd: *b}, addr: n.addr, slot: slot}
		parts = append(parts, p)
	}
	for i, n := range st.primary {
		slot := anySlot
		if slots := st.topo.SlotsOf(i); len(slots) > 0 {
			slot = int(slots[0].First)
		}
		add(n, slot)
		if kind == routeNodes {
			for _, replica := range st.replicas[i] {
				add(replica, anySlot)
			}
		}
	}
	var wg sync.WaitGroup
	for _, p := range parts {
		wg.Go(func() { c.processPart(ctx, p, kind) })
	}
	wg.Wait()
	return parts, nil
}

// tornFor is how long slots without a node are taken for a failover that is being told: a
// node may hear of it from the old primary first, and knows of no new one then.
const tornFor = time.Second

// isTorn tells whether slots are without a node that will have one.
func (c *clusterCore) isTorn() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.torn.IsZero() && time.Since(c.torn) < tornFor
}

// latest asks for the topology: a node that is new to it has its part to do too. It
// waits until all shards have a primary.
func (c *clusterCore) latest(ctx context.Context, b *baseCmd) (*clusterState, error) {
	var t clusterTries
	for {
		st, err := c.refresh(ctx)
		if err == nil {
			if c.isTorn() {
				sleep(ctx, shortestHold) // if it is ended, refresh tells
				continue
			}
			if !slices.Contains(st.primary, nil) {
				return st, nil
			}
			err = &link.Error{Delivery: NotSent, Err: errNoPrimary}
		}
		pause, again := c.judge(ctx, &t, b, nil, err)
		if !again || !c.rest(ctx, pause) {
			return nil, c.conclude(ctx, &t, b, err)
		}
	}
}

// processPart is process for the part of one node.
func (c *clusterCore) processPart(ctx context.Context, p *fanPart, kind routeKind) {
	b := &p.cmd.baseCmd
	var t clusterTries
	for {
		n, err := c.partNode(ctx, p, kind)
		if p.isGone {
			return
		}
		if err == nil {
			p.addr = n.addr
			err = n.send(ctx, &p.cmd, false, false)
		}
		if err == nil && b.err == nil {
			return
		}
		pause, again := c.judge(ctx, &t, b, n, err)
		if !again || !c.rest(ctx, pause) {
			_ = c.conclude(ctx, &t, b, err)
			return
		}
	}
}

// partNode gives the node of a part. A node that has left the cluster since the part was
// made is asked nothing; what is for primaries is then for the one that has its slot.
func (c *clusterCore) partNode(ctx context.Context, p *fanPart, kind routeKind) (*clusterNode, error) {
	if ctx.Err() != nil {
		return nil, &link.Error{Delivery: NotSent, Err: context.Cause(ctx)}
	}
	st := c.state.Load()
	if kind == routeNodes {
		n := st.nodes[p.addr]
		p.isGone = n == nil
		return n, nil
	}
	for _, n := range st.masters {
		if n.addr == p.addr {
			return n, nil
		}
	}
	if p.slot == anySlot {
		p.isGone = true
		return nil, nil
	}
	if n := st.at(uint16(p.slot)); n != nil {
		return n, nil
	}
	return nil, notServed(p.slot)
}

// fanSlots sends a command in parts, one for each slot.
func (c *clusterCore) fanSlots(ctx context.Context, b *baseCmd) ([]*fanPart, error) {
	parts, err := b.split()
	if err != nil {
		return nil, err
	}
	all := make([]piped, len(parts))
	rest := make([]*piped, len(parts))
	for i, p := range parts {
		all[i] = piped{cmd: &p.cmd, slot: p.slot}
		rest[i] = &all[i]
	}
	c.settle(ctx, rest)
	for i, p := range parts {
		if n := all[i].node; n != nil {
			p.addr = n.addr
		}
	}
	return parts, nil
}

// split takes a command with keys of several slots apart.
func (c *baseCmd) split() (parts []*fanPart, err error) {
	step := max(1, int(c.keyRuleOf().step))
	if (int(c.count)-1)%step != 0 {
		return nil, &CommandError{Command: c.Name(), Delivery: NotSent, Err: errNoValue}
	}
	name := c.Name()
	bySlot := make(map[int]*fanPart)
	r := c.reader()
	if err := r.Skip(); err != nil {
		return nil, err
	}
	for place := 0; r.Len() > 0; place++ {
		key, err := r.Bytes()
		if err != nil {
			return nil, err
		}
		slot := int(cluster.Slot(key))
		p := bySlot[slot]
		if p == nil {
			p = &fanPart{slot: slot}
			p.cmd.begin(name)
			bySlot[slot] = p
			parts = append(parts, p)
		}
		p.places = append(p.places, place)
		p.cmd.bytes(key)
		for range step - 1 {
			value, err := r.Bytes()
			if err != nil {
				return nil, err
			}
			p.cmd.bytes(value)
		}
	}
	for _, p := range parts {
		p.cmd.wire()
	}
	return parts, nil
}

//------------------------------------------------------------------------------

// succeeded gives the parts that were executed, or the error of the whole: where all
// nodes have answered the same it is that answer, else it says at which node what went
// wrong. Its delivery is NotSent only if no part has left the process, and MaybeSent if
// part of a write was executed.
func (c *baseCmd) succeeded(parts []*fanPart) ([]*fanPart, error) {
	var done, failed []*fanPart
	for _, p := range parts {
		switch {
		case p.isGone:
		case p.cmd.err == nil:
			done = append(done, p)
		default:
			failed = append(failed, p)
		}
	}
	switch {
	case len(failed) == 0 && len(done) == 0:
		return nil, &CommandError{Command: c.FullName(), Delivery: NotSent, Err: errNoPrimary}
	case len(failed) == 0, len(done) > 0 && c.merge() == mergeOne:
		return done, nil
	}
	worst := failed[0]
	isSent, isUniform := len(done) > 0, len(done) == 0
	for _, p := range failed {
		if weight(p.cmd.err) > weight(worst.cmd.err) {
			worst = p
		}
		isSent = isSent || DeliveryOf(p.cmd.err) != NotSent
		isUniform = isUniform && p.cmd.err.Error() == failed[0].cmd.err.Error()
	}
	cause, isAnswer := worst.cmd.err.(resp.Error) //nolint:errorlint // settle gives it unwrapped
	if isAnswer && isUniform {
		return nil, cause
	}
	out := &CommandError{Command: c.FullName(), Endpoint: worst.addr, Delivery: DeliveryOf(worst.cmd.err), Err: worst.cmd.err}
	if e, ok := worst.cmd.err.(*link.Error); ok { //nolint:errorlint // conclude gives it unwrapped
		out.Attempts, out.Err = e.Attempts, e.Err
		if e.Endpoint != "" {
			out.Endpoint = e.Endpoint
		}
	}
	isWrite := c.flags()&flagRead == 0
	if out.Delivery == NotSent && isSent || isWrite && len(done) > 0 {
		out.Delivery = MaybeSent
	}
	if n := len(done) + len(failed); n > 1 {
		out.Err = fmt.Errorf("executed in %d of %d parts: %w", len(done), n, out.Err)
	}
	return nil, out
}

// weight orders errors by how much they say about the whole: what may have been executed
// more than what was not sent, that more than an answer, and of answers least the one
// that there was nothing to kill.
func weight(err error) int {
	e, ok := err.(*link.Error) //nolint:errorlint // conclude gives it unwrapped
	switch {
	case ok && e.Delivery == MaybeSent:
		return 3
	case ok:
		return 2
	case !HasErrorPrefix(err, "NOTBUSY "):
		return 1
	}
	return 0
}

// merged makes one reply of those of the parts, of which there is at least one.
func merged(kind mergeKind, parts []*fanPart) ([]byte, error) {
	switch kind {
	case mergeNone, mergeAll, mergeOne:
		return parts[0].cmd.frame, nil
	case mergeSum:
		return fold(parts, func(a, b int64) int64 { return a + b })
	case mergeMin, mergeAnd: // of 0 and 1, the smallest is 1 only if all are
		return fold(parts, func(a, b int64) int64 { return min(a, b) })
	case mergeConcat:
		return concatenated(parts)
	case mergeInOrder:
		return ordered(parts)
	case mergeNotNil:
		return notNil(parts), nil
	}
	return nil, fmt.Errorf("there is no way %s to merge replies", kind)
}

// fold combines numbers, or lists of numbers place by place.
func fold(parts []*fanPart, combine func(a, b int64) int64) ([]byte, error) {
	var total []int64
	var isList bool
	for i, p := range parts {
		nums, kind, err := numbers(p.cmd.frame)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			total, isList = nums, kind
			continue
		}
		if isList != kind || len(nums) != len(total) {
			return nil, errUneven
		}
		for j, n := range nums {
			total[j] = combine(total[j], n)
		}
	}
	if !isList {
		return resp.AppendInt(nil, total[0]), nil
	}
	frame := resp.AppendArrayLen(nil, len(total))
	for _, n := range total {
		frame = resp.AppendInt(frame, n)
	}
	return frame, nil
}

// numbers reads a number, or a list of numbers.
func numbers(frame []byte) (nums []int64, isList bool, err error) {
	r := resp.NewReader(frame)
	if kind := r.Kind(); kind == resp.KindArray || kind == resp.KindSet {
		nums, err = readSlice(&r, (*resp.Reader).Int)
		return nums, true, err
	}
	n, err := r.Int()
	return []int64{n}, false, err
}

// concatenated makes one list of several.
func concatenated(parts []*fanPart) ([]byte, error) {
	total := 0
	var body []byte
	for _, p := range parts {
		r := resp.NewReader(p.cmd.frame)
		n, err := r.ArrayLen()
		if err != nil {
			return nil, err
		}
		total += n
		body = append(body, p.cmd.frame[len(p.cmd.frame)-r.Len():]...)
	}
	return append(resp.AppendArrayLen(nil, total), body...), nil
}

// ordered makes one list of those of a split command, in the order of its keys.
func ordered(parts []*fanPart) ([]byte, error) {
	total := 0
	for _, p := range parts {
		total += len(p.places)
	}
	values := make([][]byte, total)
	for _, p := range parts {
		r := resp.NewReader(p.cmd.frame)
		n, err := r.ArrayLen()
		if err != nil {
			return nil, err
		}
		if n != len(p.places) {
			return nil, fmt.Errorf("%d values for %d keys", n, len(p.places))
		}
		for _, place := range p.places {
			if values[place], err = r.Raw(); err != nil {
				return nil, err
			}
		}
	}
	return append(resp.AppendArrayLen(nil, total), bytes.Join(values, nil)...), nil
}

// notNil gives any of the replies that are not null, and else a null.
func notNil(parts []*fanPart) []byte {
	for _, i := range rand.Perm(len(parts)) { // no node is preferred
		r := resp.NewReader(parts[i].cmd.frame)
		if !r.Null() {
			return parts[i].cmd.frame
		}
	}
	return parts[0].cmd.frame
}
