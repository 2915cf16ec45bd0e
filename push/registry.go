package push

import "sync"

// A Registry maps names of push frames to handlers. The zero value is empty and
// ready; it is safe for concurrent use and must not be copied after first use.
type Registry struct {
	mu       sync.RWMutex // guards handlers; never held while a handler runs
	handlers map[string]entry
}

type entry struct {
	handler   NotificationHandler
	protected bool
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{} }

// RegisterHandler registers handler for name.
//
// A protected handler can neither be replaced nor removed. An ordinary one has
// to be removed before another takes its place. The error is [ErrHandlerNil],
// or one that [IsHandlerExistsError] recognises.
func (r *Registry) RegisterHandler(name string, handler NotificationHandler, protected bool) error {
	if handler == nil {
		return ErrHandlerNil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.handlers[name]; ok {
		return ErrHandlerExists(name)
	}
	if r.handlers == nil {
		r.handlers = make(map[string]entry)
	}
	r.handlers[name] = entry{handler: handler, protected: protected}
	return nil
}

// UnregisterHandler removes the handler of name. Without one it does nothing.
// For a protected handler it returns an error that [IsProtectedHandlerError]
// recognises.
func (r *Registry) UnregisterHandler(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.handlers[name]
	if !ok {
		return nil
	}
	if e.protected {
		return ErrProtectedHandler(name)
	}
	delete(r.handlers, name)
	return nil
}

// GetHandler returns the handler of name, nil if there is none.
func (r *Registry) GetHandler(name string) NotificationHandler {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.handlers[name].handler
}
