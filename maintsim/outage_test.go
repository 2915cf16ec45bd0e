package maintsim_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

func TestOutageDropsPackets(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := dial(t, sim.Addr())
	if got := c.do("PING"); got != "+PONG\r\n" { // the proxy has accepted it, so it is not reset
		t.Fatalf("before the outage: got %q", got)
	}
	ctx, end := context.WithCancel(t.Context())
	wait := background(t, func() error {
		if err := sim.Outage(ctx, maintsim.WithOutage(time.Hour)); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	waitFor(t, func() bool {
		return slices.ContainsFunc(sim.Events(), func(e maintsim.Event) bool { return e.Kind == maintsim.EventCut })
	})
	if got := probe(t, sim.Addr(), "PING"); got != "unreachable" {
		t.Errorf("in the outage: got %q", got)
	}
	c.send("PING") // it is under way
	deadline := time.Now().Add(3 * patience)
	if err := c.nc.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if b, err := c.br.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("in the outage: read %q, %v", b, err)
	}
	if err := c.nc.SetReadDeadline(deadline); err != nil {
		t.Fatal(err)
	}
	end()
	wait()
	c.want("+PONG\r\n")
	if got := probe(t, sim.Addr(), "PING"); got != "+PONG" {
		t.Errorf("after the outage: got %q", got)
	}
}
