package endpoint

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/simnet"
)

func TestDialRetriesWithTheirPauses(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.net.Refuse(oldAddr, true)
		t.cfg.DialRetries = 3
		t.cfg.DialBackoff = func(attempt int) time.Duration { return time.Duration(attempt) * time.Second }
		e := t.endpoint()
		_, err := e.shared.Get(t.Context())
		t.at(3 * time.Second) // pauses of 1 s and 2 s
		le, ok := errors.AsType[*link.Error](err)
		if !ok || le.Delivery != link.NotSent || !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got %v, want NotSent because it is refused", err)
		}
		if de, ok := errors.AsType[*DialError](err); !ok || de.Addr != oldAddr {
			t.Errorf("got %v, want a DialError of %s", err, oldAddr)
		}
		if got := t.dials(oldAddr); got != 3 || e.WasUp() {
			t.Errorf("got %d dials, up %v, want 3, false", got, e.WasUp())
		}
		t.net.Refuse(oldAddr, false)
		e.Echo("now")
		if !e.WasUp() {
			t.Error("not up with a link")
		}
		e.Close()
	})
}

func TestDialTimeoutIsExact(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.net.Blackhole(oldAddr, true)
		e := t.endpoint()
		_, err := e.shared.Get(t.Context())
		t.at(5 * time.Second)
		if le, ok := errors.AsType[*link.Error](err); !ok || !le.Timeout() || !strings.Contains(err.Error(), "dial timeout after 5s") {
			t.Errorf("got %v, want a dial timeout", err)
		}
		e.Close()
	})
}

func TestHandshakeHasTheReadTimeout(t *testing.T) {
	bubble(t, func(t *tester) {
		l, err := t.net.Listen(oldAddr) // nobody answers
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		e := t.endpoint()
		_, err = e.shared.Get(t.Context())
		t.at(readTimeout)
		if te, ok := errors.AsType[*link.TimeoutError](err); !ok || te.After != readTimeout || Permanent(err) {
			t.Errorf("got %v, want a read timeout after %v", err, readTimeout)
		}
		t.wantConns(oldAddr, 0)
		e.Close()
	})
}

func TestDialTimeoutLeavesTheHandshakeItsTime(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.net.SetLatency(oldAddr, 1400*time.Millisecond)
		t.cfg.DialTimeout = 2900 * time.Millisecond
		e := t.endpoint()
		e.Echo("first")
		t.at(3 * 2800 * time.Millisecond)
		e.Close()
	})
}

func TestCredentialsThatCantBeHad(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		errVault := errors.New("vault is sealed")
		t.cfg.DialRetries = 5
		t.cfg.Handshake = func(context.Context) (link.Handshake, error) { return link.Handshake{}, errVault }
		e := t.endpoint()
		_, err := e.shared.Get(t.Context())
		if !errors.Is(err, errVault) || !Permanent(err) {
			t.Errorf("got %v, permanent %v, want %v, permanent", err, Permanent(err), errVault)
		}
		t.at(0)
		t.wantConns(oldAddr, 0)
		e.Close()
	})
}

func TestOnLinkSeesEachLinkOfTheLanesFirst(t *testing.T) {
	bubble(t, func(t *tester) {
		srv := t.server(oldAddr)
		var seen []uint64
		t.cfg.OnLink = func(ctx context.Context, l *link.Link) error {
			seen = append(seen, l.ID())
			return echo(ctx, l, "setup")
		}
		e := t.endpoint()
		shared, err := e.shared.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lent := e.Borrow(1)[0]
		if _, err := e.OpenDedicated(t.Context(), Dedicated{OnFrame: func(*link.Link, []byte) {}}); err != nil {
			t.Fatal(err)
		}
		if want := []uint64{shared.ID(), lent.Link.ID()}; !slices.Equal(seen, want) {
			t.Errorf("got %d, want %d", seen, want)
		}
		if _, echoes := srv.counts(); echoes != 2 {
			t.Errorf("got %d commands, want 2", echoes)
		}
		e.Close()
	})
}

func TestOnLinkThatFailsEndsTheLink(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		errScript := errors.New("no such script")
		t.cfg.DialRetries = 5
		t.cfg.OnLink = func(context.Context, *link.Link) error { return errScript }
		e := t.endpoint()
		_, err := e.shared.Get(t.Context())
		le, ok := errors.AsType[*link.Error](err)
		if !errors.Is(err, errScript) || !Permanent(err) || !ok || le.Delivery != link.NotSent {
			t.Errorf("got %v, permanent %v, want NotSent because of %v, permanent", err, Permanent(err), errScript)
		}
		synctest.Wait()
		if got := e.Links(); got != 0 {
			t.Errorf("got %d links, want 0", got)
		}
		t.wantConns(oldAddr, 0)
		e.Close()
	})
}

// The notice may come before the lane has the link: while OnLink still works on it.
func TestMovingDuringOnLink(t *testing.T) {
	bubble(t, func(t *tester) {
		before, _ := t.server(oldAddr), t.server(newAddr)
		t.cfg.OnLink = func(_ context.Context, l *link.Link) error {
			if l.Peer() == oldAddr {
				time.Sleep(time.Second)
			}
			return nil
		}
		e := t.endpoint()
		errs := make(chan error, 2)
		go func() { errs <- echo(t.Context(), e.shared, "x") }()
		go func() {
			l, err := e.Pool().Get(t.Context())
			if err == nil {
				err = echo(t.Context(), l.Link, "x")
				e.Pool().Put(l, true)
			}
			errs <- err
		}()
		before.Push("MOVING", 1, 15, newAddr)
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		time.Sleep(2 * time.Second)
		if got := e.Peer(); got != newAddr {
			t.Errorf("the lane leads to %q, want %s", got, newAddr)
		}
		t.wantConns(oldAddr, 0)
		e.Close()
	})
}

func TestLinkThatComesWhenTheEndpointIsClosed(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		late := make(chan struct{})
		dial := t.cfg.Dial
		t.cfg.Dial = func(_ context.Context, network, addr string) (net.Conn, error) {
			<-late // deaf to its context
			return dial(context.Background(), network, addr)
		}
		e := t.endpoint()
		errs := make(chan error)
		go func() {
			_, err := e.OpenDedicated(context.Background(), Dedicated{})
			errs <- err
		}()
		synctest.Wait()
		e.Close()
		close(late)
		if err := <-errs; !errors.Is(err, link.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		e.Close()
	})
}

func TestErrorsOfSeveralTargetsAreAllTold(t *testing.T) {
	bubble(t, func(t *tester) {
		e := t.endpoint()
		_, err := e.OpenDedicatedAt(t.Context(), Dedicated{}, []string{oldAddr, newAddr})
		for _, want := range []string{oldAddr, newAddr} {
			if err == nil || !strings.Contains(err.Error(), "connect to "+want) {
				t.Errorf("got %v, want it to name %s", err, want)
			}
		}
		e.Close()
	})
}

// What OnLink does may take many round trips; each of its commands has a timeout of
// its own.
func TestOnLinkMayTakeLongerThanTheReadTimeout(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.net.SetLatency(oldAddr, 500*time.Millisecond)
		t.cfg.OnLink = func(ctx context.Context, l *link.Link) error {
			for range 10 {
				if err := echo(ctx, l, "setup"); err != nil {
					return err
				}
			}
			return nil
		}
		e := t.endpoint()
		e.Echo("first")
		t.at(13 * time.Second)
		e.Close()
	})
}

// OnLink isn't to blame for a server that goes away meanwhile.
func TestOnLinkThatLosesItsServerIsTriedAgain(t *testing.T) {
	bubble(t, func(t *tester) {
		t.server(oldAddr)
		t.cfg.DialRetries = 2
		tries := 0
		t.cfg.OnLink = func(ctx context.Context, l *link.Link) error {
			if tries++; tries == 1 {
				t.net.Cut(oldAddr, simnet.RST)
				synctest.Wait()
			}
			return echo(ctx, l, "setup")
		}
		e := t.endpoint()
		e.Echo("first")
		t.at(time.Second) // the pause of one retry
		e.Close()
	})
}
