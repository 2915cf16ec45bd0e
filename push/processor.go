package push

import "context"

// A Processor hands push frames to the handlers registered for their names. It
// is what a RESP3 client has; see [VoidProcessor] for RESP2. Create one with
// [NewProcessor]. It is safe for concurrent use.
type Processor struct {
	registry *Registry // immutable
}

var (
	_ NotificationProcessor = (*Processor)(nil)
	_ NotificationProcessor = (*VoidProcessor)(nil)
)

// NewProcessor returns a processor without handlers.
func NewProcessor() *Processor { return &Processor{registry: NewRegistry()} }

// GetHandler returns the handler of name, nil if there is none.
func (p *Processor) GetHandler(name string) NotificationHandler {
	return p.registry.GetHandler(name)
}

// RegisterHandler registers handler for name; see [Registry.RegisterHandler].
// An error is a [*ProcessorError] around the registry's.
func (p *Processor) RegisterHandler(name string, handler NotificationHandler, protected bool) error {
	if err := p.registry.RegisterHandler(name, handler, protected); err != nil {
		return NewProcessorError(ProcessorTypeProcessor, ProcessorOperationRegister, name, reasonOf(err), err)
	}
	return nil
}

// UnregisterHandler removes the handler of name; see
// [Registry.UnregisterHandler]. An error is a [*ProcessorError] around the
// registry's.
func (p *Processor) UnregisterHandler(name string) error {
	if err := p.registry.UnregisterHandler(name); err != nil {
		return NewProcessorError(ProcessorTypeProcessor, ProcessorOperationUnregister, name, reasonOf(err), err)
	}
	return nil
}

// HandleNotification gives one push frame to the handler of its name, without
// holding a lock. handled is false if the frame has no name or nobody is
// registered for it; such a frame is to be dropped. err is the handler's error,
// wrapped in a [*ProcessorError]. A panic of the handler is not swallowed.
func (p *Processor) HandleNotification(ctx context.Context, handlerCtx NotificationHandlerContext, notification []any) (handled bool, err error) {
	name, ok := frameName(notification)
	if !ok {
		return false, nil
	}
	h := p.registry.GetHandler(name)
	if h == nil {
		return false, nil
	}
	if err := h.HandlePushNotification(ctx, handlerCtx, notification); err != nil {
		return true, NewProcessorError(ProcessorTypeProcessor, ProcessorOperationProcess, name, "handler returned an error", err)
	}
	return true, nil
}

func frameName(notification []any) (string, bool) {
	if len(notification) == 0 {
		return "", false
	}
	switch v := notification[0].(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// A VoidProcessor takes no handlers: it stands where push frames cannot arrive,
// as on a RESP2 connection. The zero value is ready.
type VoidProcessor struct{}

// NewVoidProcessor returns a processor that takes no handlers.
func NewVoidProcessor() *VoidProcessor { return &VoidProcessor{} }

// GetHandler returns nil.
func (v *VoidProcessor) GetHandler(string) NotificationHandler { return nil }

// RegisterHandler returns an error that [IsVoidProcessorError] recognises.
func (v *VoidProcessor) RegisterHandler(name string, _ NotificationHandler, _ bool) error {
	return ErrVoidProcessorRegister(name)
}

// UnregisterHandler returns an error that [IsVoidProcessorError] recognises.
func (v *VoidProcessor) UnregisterHandler(name string) error {
	return ErrVoidProcessorUnregister(name)
}
