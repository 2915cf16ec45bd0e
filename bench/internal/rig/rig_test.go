package rig

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintnotifications"
)

// echo is a server that says what it hears.
func echo(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer nc.Close()
				_, _ = io.Copy(nc, nc)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

// talk says something at addr and wants to hear it again. It tells how long that took.
func talk(t *testing.T, addr, text string) time.Duration {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if _, err := io.WriteString(nc, text); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(nc, got); err != nil || string(got) != text {
		t.Fatalf("got %.20q, %v, want %.20q", got, err, text)
	}
	return time.Since(begun)
}

func TestRelayPassesOn(t *testing.T) {
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		r, err := NewRelay(echo(t), delay)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"x", strings.Repeat("0123456789", 200_000)} {
			if took := talk(t, r.Addr(), text); took < delay {
				t.Errorf("%d bytes with a delay of %v took %v", len(text), delay, took)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRelayHoldsBack(t *testing.T) {
	r, err := NewRelay(echo(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	nc, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	r.Hold()
	if _, err := io.WriteString(nc, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := r.AwaitSent(t.Context(), 5); err != nil || r.Sent() != 5 {
		t.Fatalf("got %d bytes, %v, want 5", r.Sent(), err)
	}
	heard := make(chan []byte)
	go func() {
		b := make([]byte, 5)
		_, _ = io.ReadFull(nc, b)
		heard <- b
	}()
	select {
	case b := <-heard:
		t.Fatalf("got %q while held", b)
	case <-time.After(20 * time.Millisecond):
	}
	r.Release()
	if got := <-heard; string(got) != "hello" {
		t.Errorf("got %q", got)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := r.AwaitSent(ctx, 6); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestRelayClosesWhatItHolds(t *testing.T) {
	r, err := NewRelay(echo(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	r.Hold()
	_, _ = io.WriteString(nc, "hello")
	_ = r.AwaitSent(t.Context(), 5)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(nc); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}

func TestRelayInAProcessOfItsOwn(t *testing.T) {
	c, addr, err := SpawnRelay(t.Context(), echo(t), 3*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if took := talk(t, addr, "hello"); took < 3*time.Millisecond {
		t.Errorf("took %v, want 3ms at least", took)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("it still listens after Close")
	}
}

func TestServeRelayWantsItsArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"127.0.0.1:1", "soon"}} {
		if err := ServeRelay(args, strings.NewReader(""), io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// stubbed is one client of a server, or of one of the nodes, of a stub.
func stubbed(t *testing.T, open func(addrs []string) Peer) {
	t.Helper()
	c, addrs, err := SpawnStub(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	p := open(addrs)
	for _, k := range []string{"a", "bb", "a key of more bytes than a value has: " + strings.Repeat("0123456789", 6)} {
		if err := p.Set(t.Context(), k, "anything"); err != nil {
			t.Error(err)
		}
		if err := Getting(p, k, ValueOf(k, StubSize))(); err != nil {
			t.Error(err)
		}
		if err := Getting(p, k, "anything")(); !errors.Is(err, ErrWrongValue) {
			t.Errorf("got %v, want %v", err, ErrWrongValue)
		}
	}
	if err := errors.Join(p.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addrs[0]); err == nil {
		t.Error("it still listens after Close")
	}
}

func TestStubAnswersOneServersClient(t *testing.T) {
	stubbed(t, func(addrs []string) Peer { return NewBaton(&redis.Options{Addr: addrs[1]}) })
}

func TestStubAnswersAClustersClient(t *testing.T) {
	stubbed(t, func(addrs []string) Peer { return NewBatonCluster(addrs) })
}

func TestStubRefusesWhatItDoesNotKnow(t *testing.T) {
	s, err := NewStub(1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const unknown = "-ERR unknown command\r\n"
	for in, want := range map[string]string{
		"*1\r\n$4\r\nPING\r\n":                       unknown,
		"*0\r\n*2\r\n$3\r\nset\r\n$1\r\nk\r\n":       unknown + unknown,
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nab\r\n": "+OK\r\n",
		"*1\r\n$-1\r\n":                              "",
		"*99999999999\r\n":                           "",
		"*1\r\n$2000000\r\n":                         "",
		"\n":                                         "",
	} {
		if got := answered(t, s.Addrs()[0], in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// answered says something at addr, and gives what is said until the connection ends.
func answered(t *testing.T, addr, in string) string {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, in); err != nil {
		t.Fatal(err)
	}
	if err := nc.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(nc)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
	return string(got)
}

func TestServeStubWantsItsArgument(t *testing.T) {
	for _, args := range [][]string{nil, {"none"}, {"0"}} {
		if err := ServeStub(args, strings.NewReader(""), io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

func TestWithoutOptIn(t *testing.T) {
	const (
		hello  = "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n"
		optIn  = "*5\r\n$6\r\nCLIENT\r\n$19\r\nMAINT_NOTIFICATIONS\r\n$2\r\nON\r\n$20\r\nmoving-endpoint-type\r\n$11\r\ninternal-ip\r\n"
		choose = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"
		ping   = "*1\r\n$4\r\nPING\r\n"
	)
	for in, want := range map[string]string{
		"":                   "",
		hello:                hello,
		optIn:                choose,
		hello + optIn:        hello + choose,
		hello + optIn + ping: hello + choose + ping,
		optIn[:60]:           optIn[:60],
	} {
		if got := string(withoutOptIn([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestServerSeemsToAgree(t *testing.T) {
	s := realserver.Start(t, realserver.Redis7)
	for mode, ok := range map[maintnotifications.Mode]bool{maintnotifications.ModeDisabled: true, maintnotifications.ModeEnabled: true} {
		b := NewBaton(&redis.Options{
			Addr: s.Addr(), Dialer: DialAgreeing, MaintNotificationsConfig: &maintnotifications.Config{Mode: mode},
		})
		if err := b.Set(t.Context(), "k", string(mode)); (err == nil) != ok {
			t.Errorf("%s: got %v", mode, err)
		}
		if err := Getting(b, "k", string(mode))(); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := DialAgreeing(t.Context(), "tcp", "127.0.0.1:1"); err == nil {
		t.Error("no error from a port where nobody listens")
	}
}

func TestEveryPeerGetsWhatItHasSet(t *testing.T) {
	s := realserver.Start(t, realserver.Redis7)
	large := string(bytes.Repeat([]byte("0123456789"), 300_000))
	for _, m := range Makers() {
		p, err := m.Open(s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{"", m.Name, large} {
			if err := p.Set(t.Context(), "k", value); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
			if err := Getting(p, "k", value)(); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
		if err := Getting(p, "k", "other")(); !errors.Is(err, ErrWrongValue) {
			t.Errorf("%s: got %v, want %v", m.Name, err, ErrWrongValue)
		}
		if err := Getting(p, "none", "x")(); err == nil {
			t.Errorf("%s: no error where there is no value", m.Name)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMissingServerIsNamed(t *testing.T) {
	_, err := StartServer(t.Context(), "redis-0.1")
	if err == nil || !strings.Contains(err.Error(), "make servers") {
		t.Errorf("got %v, want advice to run make servers", err)
	}
}

func TestServerStarts(t *testing.T) {
	realserver.Require(t, realserver.Redis7)
	s, err := StartServer(t.Context(), realserver.Redis7)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBaton(&redis.Options{Addr: s.Addr()})
	if err := b.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(b.Close(), s.Stop()); err != nil {
		t.Error(err)
	}
}
