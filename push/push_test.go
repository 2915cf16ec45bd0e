package push

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type handlerFunc func(context.Context, NotificationHandlerContext, []any) error

func (f handlerFunc) HandlePushNotification(ctx context.Context, hctx NotificationHandlerContext, n []any) error {
	return f(ctx, hctx, n)
}

// named is a handler that can be compared.
type named struct{ name string }

func (*named) HandlePushNotification(context.Context, NotificationHandlerContext, []any) error {
	return nil
}

func TestProtectedHandlersStay(t *testing.T) {
	for name, p := range map[string]NotificationProcessor{"registry": NewRegistry(), "processor": NewProcessor()} {
		t.Run(name, func(t *testing.T) {
			first, second := &named{"first"}, &named{"second"}
			if err := p.RegisterHandler("MOVING", first, true); err != nil {
				t.Fatal(err)
			}
			for _, protected := range []bool{true, false} {
				if err := p.RegisterHandler("MOVING", second, protected); !IsHandlerExistsError(err) {
					t.Errorf("second handler: got %v", err)
				}
			}
			if err := p.UnregisterHandler("MOVING"); !IsProtectedHandlerError(err) {
				t.Errorf("removal: got %v", err)
			}
			if got := p.GetHandler("MOVING"); got != first {
				t.Errorf("got handler %v, want the first", got)
			}
		})
	}
}

func TestOrdinaryHandlersCanBeRemoved(t *testing.T) {
	p := NewProcessor()
	first, second := &named{"first"}, &named{"second"}
	if err := p.RegisterHandler("x", first, false); err != nil {
		t.Fatal(err)
	}
	if err := p.RegisterHandler("x", second, false); !IsHandlerExistsError(err) {
		t.Errorf("second handler: got %v", err)
	}
	if err := p.UnregisterHandler("x"); err != nil {
		t.Error(err)
	}
	if err := p.UnregisterHandler("x"); err != nil {
		t.Errorf("a removal of nothing: got %v", err)
	}
	if got := p.GetHandler("x"); got != nil {
		t.Errorf("got handler %v, want none", got)
	}
	if err := p.RegisterHandler("x", second, false); err != nil {
		t.Error(err)
	}
	if err := p.RegisterHandler("y", nil, false); !IsHandlerNilError(err) || IsHandlerExistsError(err) {
		t.Errorf("nil handler: got %v", err)
	}
}

func TestHandleNotification(t *testing.T) {
	p := NewProcessor()
	boom := errors.New("boom")
	var got []any
	mustRegister(t, p, "good", func(_ context.Context, hctx NotificationHandlerContext, n []any) error {
		got = append([]any{hctx.Conn}, n...)
		return nil
	})
	mustRegister(t, p, "bad", func(context.Context, NotificationHandlerContext, []any) error { return boom })

	for _, tc := range []struct {
		name    string
		frame   []any
		handled bool
		err     error
	}{
		{"text", []any{"good", int64(1)}, true, nil},
		{"bytes", []any{[]byte("good"), int64(1)}, true, nil},
		{"handler fails", []any{"bad"}, true, boom},
		{"nobody registered", []any{"other"}, false, nil},
		{"empty", nil, false, nil},
		{"no name", []any{int64(1)}, false, nil},
	} {
		got = nil
		handled, err := p.HandleNotification(t.Context(), NotificationHandlerContext{Conn: "c"}, tc.frame)
		if handled != tc.handled || !errors.Is(err, tc.err) {
			t.Errorf("%s: got %v, %v, want %v, %v", tc.name, handled, err, tc.handled, tc.err)
		}
		if tc.handled && tc.err == nil {
			if diff := cmp.Diff(append([]any{"c"}, tc.frame...), got); diff != "" {
				t.Errorf("%s: the handler got (-want +got):\n%s", tc.name, diff)
			}
		}
	}
	_, err := p.HandleNotification(t.Context(), NotificationHandlerContext{}, []any{"bad"})
	pe, ok := errors.AsType[*ProcessorError](err)
	if !ok || pe.Operation != ProcessorOperationProcess || pe.PushNotificationName != "bad" {
		t.Errorf("got error %#v", err)
	}
}

func mustRegister(t *testing.T, p *Processor, name string, h handlerFunc) {
	t.Helper()
	if err := p.RegisterHandler(name, h, false); err != nil {
		t.Fatal(err)
	}
}

func TestHandlersMayChangeTheRegistry(t *testing.T) {
	p := NewProcessor()
	mustRegister(t, p, "once", func(context.Context, NotificationHandlerContext, []any) error {
		return p.UnregisterHandler("once")
	})
	for i, want := range []bool{true, false} {
		if got, err := p.HandleNotification(t.Context(), NotificationHandlerContext{}, []any{"once"}); got != want || err != nil {
			t.Errorf("call %d: got %v, %v", i, got, err)
		}
	}
}

func TestVoidProcessor(t *testing.T) {
	v := NewVoidProcessor()
	if err := v.RegisterHandler("x", &named{}, false); !IsVoidProcessorError(err) {
		t.Errorf("RegisterHandler: got %v", err)
	}
	if err := v.UnregisterHandler("x"); !IsVoidProcessorError(err) {
		t.Errorf("UnregisterHandler: got %v", err)
	}
	if got := v.GetHandler("x"); got != nil {
		t.Errorf("got handler %v", got)
	}
}

func TestErrorTexts(t *testing.T) {
	p := NewProcessor()
	_ = p.RegisterHandler("x", &named{}, true)
	for _, tc := range []struct {
		err  error
		want string
	}{
		{p.RegisterHandler("x", &named{}, false), `push: processor: register "x": cannot overwrite existing handler`},
		{p.RegisterHandler("x", nil, false), `push: processor: register "x": handler cannot be nil`},
		{p.UnregisterHandler("x"), `push: processor: unregister "x": handler is protected`},
		{ErrHandlerExists("x"), `push: handler: register "x": cannot overwrite existing handler`},
		{ErrVoidProcessorRegister("x"), `push: void_processor: register "x": push notifications are disabled`},
		{NewProcessorError(ProcessorTypeCustom, ProcessorOperationUnknown, "", "odd", errors.New("cause")), `push: custom: unknown: odd: cause`},
		{NewHandlerError(ProcessorOperationProcess, "x", "odd", errors.New("cause")), `push: handler: process "x": odd: cause`},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
	for _, is := range []func(error) bool{IsHandlerNilError, IsHandlerExistsError, IsProtectedHandlerError, IsVoidProcessorError} {
		if is(nil) || is(errors.New("x")) {
			t.Error("a helper recognises a foreign error")
		}
	}
}

func TestRegistryIsSafeForConcurrentUse(t *testing.T) {
	p := NewProcessor()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				name := fmt.Sprint(j % 5)
				_ = p.RegisterHandler(name, &named{}, i == 0 && j > 150)
				_, _ = p.HandleNotification(t.Context(), NotificationHandlerContext{}, []any{name})
				_ = p.UnregisterHandler(name)
			}
		})
	}
	wg.Wait()
}
