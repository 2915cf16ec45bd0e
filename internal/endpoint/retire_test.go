package endpoint

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// wantRetired checks that err says that the endpoint is retired and nothing was sent.
func wantRetired(t *tester, err error) {
	t.Helper()
	e, ok := errors.AsType[*link.Error](err)
	if !ok || e.Delivery != link.NotSent || !errors.Is(err, ErrRetired) {
		t.Errorf("got %v, want that it is retired and nothing was sent", err)
	}
}

// What is in flight is answered, lent links are waited for, and nothing new is begun.
func TestRetireWaitsForWhatIsInUse(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		e := t.endpoint()
		e.Echo("up")
		leases := e.Borrow(3)
		e.Return(leases[0])
		t.net.SetLatency(oldAddr, 100*time.Millisecond)
		began := time.Now()
		inFlight := make(chan error, 1)
		go func() { inFlight <- echo(context.Background(), e.shared, "x") }()
		synctest.Wait()
		over := make(chan time.Duration, 1)
		go func() { e.Retire(context.Background(), time.Minute); over <- time.Since(began) }()
		synctest.Wait()
		wantRetired(t, echo(t.Context(), e.shared, "y"))
		_, err := e.Pool().Get(t.Context())
		wantRetired(t, err)
		if err := <-inFlight; err != nil {
			t.Errorf("in flight: %v", err)
		}
		t.net.SetLatency(oldAddr, 0)
		time.Sleep(time.Second)
		if err := echo(t.Context(), leases[1].Link, "z"); err != nil {
			t.Errorf("on a lent link: %v", err)
		}
		t.wantConns(oldAddr, 2)
		e.Return(leases[1:]...)
		if took := <-over; took < time.Second || took > 2*time.Second {
			t.Errorf("retired after %v, want when the last link came back", took)
		}
		t.wantConns(oldAddr, 0)
		e.Close()
	})
}

// A dial going on ends at once, however long it would have taken.
func TestRetireEndsDials(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.net.Blackhole(oldAddr, true)
		t.cfg.DialRetries = 5
		e := t.endpoint()
		shared, lent := make(chan error, 1), make(chan error, 1)
		go func() { shared <- echo(context.Background(), e.shared, "x") }()
		go func() { _, err := e.Pool().Get(context.Background()); lent <- err }()
		time.Sleep(time.Second)
		e.Retire(t.Context(), time.Minute)
		wantRetired(t, <-shared)
		wantRetired(t, <-lent)
		t.at(time.Second)
		e.Close()
	})
}

// Links beside the lanes are left their time, and no more.
func TestRetireGivesSubscriptionsTheirTime(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		e := t.endpoint()
		l, err := e.OpenDedicated(t.Context(), Dedicated{})
		if err != nil {
			t.Fatal(err)
		}
		e.Retire(t.Context(), 5*time.Second)
		t.at(5 * time.Second)
		if !l.Alive() {
			t.Error("the link was closed")
		}
		l.Close(nil)
		<-l.Gone()
		e.Retire(t.Context(), 5*time.Second)
		t.at(5 * time.Second)
		e.Close()
	})
}
