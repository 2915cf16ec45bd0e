package redis

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// clusterNode is one node.
type clusterNode struct {
	of     *clusterCore
	addr   string
	client *Client
	lacks  atomic.Int32 // what it can't be asked for; see askNode
	asked  atomic.Int64 // when an ASK led there last, in nanoseconds of Unix time

	leaving bool // the topology has it no more; guarded by clusterCore.mu
}

// node gives the node at an address, and makes it where there is none. nil: the client
// is closed.
func (c *clusterCore) node(addr string) *clusterNode {
	for {
		c.mu.Lock()
		n, made := c.nodes[addr], c.making[addr]
		switch {
		case c.closed:
			c.mu.Unlock()
			return nil
		case n != nil:
			c.mu.Unlock()
			return n
		case made == nil:
			made = make(chan struct{})
			c.making[addr] = made
			onNew := slices.Clone(c.onNew)
			c.mu.Unlock()
			return c.makeNode(addr, made, onNew)
		}
		c.mu.Unlock()
		<-made
	}
}

// makeNode makes the node at an address, and tells those who want to know of it. Others
// who need the node wait until made is closed.
func (c *clusterCore) makeNode(addr string, made chan struct{}, onNew []func(*Client)) (n *clusterNode) {
	defer func() { // also where a callback panics
		c.mu.Lock()
		delete(c.making, addr)
		isClosed := c.closed
		if n != nil && !isClosed {
			c.nodes[addr] = n
		}
		c.mu.Unlock()
		close(made)
		if n != nil && isClosed {
			_ = n.client.Close()
			n = nil
		}
	}()
	client := c.opt.NewClient(c.opt.node(addr))
	client.hooks.note(&c.nodesHooked)
	client.core.isNode.Store(true)
	client.core.readOnly.Store(c.opt.ReadOnly)
	told := c.migrated
	client.core.slots.Store(&told)
	for _, fn := range onNew {
		fn(client)
	}
	return &clusterNode{of: c, addr: addr, client: client}
}

// OnNewNode has fn called with the client of each node that is made from now on, before
// anything is sent to it; so OnNewNode belongs right behind NewClusterClient. A hook that
// fn adds sees the node's dials, and each attempt of a command, pipeline or transaction of
// the ClusterClient there, with its redirects. fn may be called by several goroutines at
// once, as may ClusterOptions.NewClient, and both may use the ClusterClient, but neither
// wait for a command of it, which may be waiting for them, nor close it.
func (c *ClusterClient) OnNewNode(fn func(client *Client)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onNew = append(c.onNew, fn)
	c.nodesHooked.Store(true)
}

//------------------------------------------------------------------------------

// nodeCall is an attempt of the cluster client that passes the hooks of a node's client.
// It goes with the context: what the client does after its hooks is this attempt then, and
// nothing else.
type nodeCall struct {
	cmd    Cmder // the first of several; it tells the attempt from what hooks send themselves
	do     func(ctx context.Context) error
	err    error
	answer error // the first that the server has given
	isEnd  bool  // the end of the hooks was reached
}

type nodeCallKey struct{}

// nodeCallOf gives the attempt that a context brings for commands; nil: there is none.
func (c *core) nodeCallOf(ctx context.Context, cmds ...Cmder) *nodeCall {
	if !c.isNode.Load() || len(cmds) == 0 {
		return nil // most clients
	}
	if call, ok := ctx.Value(nodeCallKey{}).(*nodeCall); ok && call.cmd == cmds[0] {
		return call
	}
	return nil
}

// attempt is what happens after the hooks.
func (call *nodeCall) attempt(ctx context.Context, cmds ...Cmder) error {
	call.isEnd = true
	call.err = call.do(ctx)
	if call.answer = firstErr(cmds); call.err != nil {
		return call.err
	}
	return call.answer
}

// hooked makes an attempt pass hooks, which run has begin. It gives the error that do has,
// even if hooks have put words around it, as it decides what comes next; so do redirects.
// What else hooks have made of the outcome is in the commands.
func (call *nodeCall) hooked(ctx context.Context, run func(ctx context.Context) error, cmds ...Cmder) error {
	err := run(context.WithValue(ctx, nodeCallKey{}, call))
	switch {
	case call.isEnd && call.err != nil && errors.Is(err, call.err):
		return call.err
	case call.isEnd && call.err == nil && call.answer != nil && isElsewhere(call.answer) && errors.Is(err, call.answer):
	case len(cmds) == 1:
		cmds[0].SetErr(err)
	case err != nil && firstErr(cmds) == nil:
		setErrs(cmds, err) // a hook has not let them be sent
	}
	return nil
}

// passes tells whether hooks of nodes may have to be passed.
func (n *clusterNode) passes(isPlain bool) bool {
	return !isPlain && n.of.nodesHooked.Load() && n.client.hooked()
}

//------------------------------------------------------------------------------

// Times of a node that the topology does not have any more.
const (
	// leaveAfter is how long it must have been missing: nodes learn of each other's news
	// one after the other, so that a topology may be behind the one before.
	leaveAfter = 500 * time.Millisecond
	// leaveSubs is how long subscriptions have to be moved to other nodes.
	leaveSubs = 2*relayTime + time.Second
)

// retire ends a node that is no part of the topology any more, unless it is one again
// soon: it gets no new commands, those in flight are answered, the cluster's
// subscriptions are handed over, and then its client is closed.
func (c *clusterCore) retire(n *clusterNode) {
	sleep(c.run, leaveAfter)
	for c.run.Err() == nil && time.Since(time.Unix(0, n.asked.Load())) < leaveAfter {
		sleep(c.run, leaveAfter) // it is importing slots
	}
	c.mu.Lock()
	if st := c.state.Load(); st.nodes[n.addr] == n && !c.closed {
		n.leaving = false
		c.mu.Unlock()
		return
	}
	delete(c.nodes, n.addr)
	c.leaving[n] = struct{}{}
	c.mu.Unlock()
	if ep := n.client.core.ep; ep != nil {
		ep.Retire(c.run, leaveSubs)
	}
	_ = n.client.Close()
	c.mu.Lock()
	delete(c.leaving, n)
	c.mu.Unlock()
}
