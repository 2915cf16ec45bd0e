package redis

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// DialHook opens a connection.
type DialHook func(ctx context.Context, network, addr string) (net.Conn, error)

// ProcessHook processes a command.
type ProcessHook func(ctx context.Context, cmd Cmder) error

// ProcessPipelineHook processes the commands of a pipeline.
type ProcessPipelineHook func(ctx context.Context, cmds []Cmder) error

// Hook is put around what a client does, by AddHook. Each method gets what comes
// next and gives what to call in its place; it is called once for each client, when
// the hook is added or the client is derived from another one. A nil result means
// next.
type Hook interface {
	DialHook(next DialHook) DialHook
	ProcessHook(next ProcessHook) ProcessHook
	ProcessPipelineHook(next ProcessPipelineHook) ProcessPipelineHook
}

// hooks are the hooks of one client, with the chains made of them. Changed by
// replacing chain, so that reading costs one atomic load. Safe for concurrent use.
type hooks struct {
	base     chain // what the chains end with; set before first use
	chain    atomic.Pointer[chain]
	changing sync.Mutex   // makes changes follow one another
	noted    *atomic.Bool // becomes true with the first hook; nil: nobody asks
}

type chain struct {
	hooks    []Hook
	dial     DialHook
	process  ProcessHook
	pipeline ProcessPipelineHook
	tx       ProcessPipelineHook
}

// init says what to do after the last hook, and takes over the hooks of a parent.
func (h *hooks) init(base chain, inherited []Hook) {
	h.base = base
	h.set(slices.Clone(inherited))
}

func (h *hooks) set(list []Hook) {
	c := h.base
	c.hooks = list
	// The hook added first is the outermost one.
	for _, hook := range slices.Backward(list) {
		if n := hook.DialHook(c.dial); n != nil {
			c.dial = n
		}
		if n := hook.ProcessHook(c.process); n != nil {
			c.process = n
		}
		if n := hook.ProcessPipelineHook(c.pipeline); n != nil {
			c.pipeline = n
		}
		if n := hook.ProcessPipelineHook(c.tx); n != nil {
			c.tx = n
		}
	}
	h.chain.Store(&c)
	if h.noted != nil && len(list) > 0 {
		h.noted.Store(true)
	}
}

// note makes is true as soon as there is a hook.
func (h *hooks) note(is *atomic.Bool) {
	h.changing.Lock()
	defer h.changing.Unlock()
	h.noted = is
	if len(h.list()) > 0 {
		is.Store(true)
	}
}

// AddHook puts a hook around everything that the client does from now on. The hook
// added first is the outermost one.
func (h *hooks) AddHook(hook Hook) {
	h.changing.Lock()
	defer h.changing.Unlock()
	h.set(append(slices.Clone(h.list()), hook))
}

func (h *hooks) list() []Hook { return h.chain.Load().hooks }
