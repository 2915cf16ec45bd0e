package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/baton-go/redis/bench/internal/rig"
	"github.com/baton-go/redis/maintsim"
)

// roleSim is the role of the process that is the simulator.
const roleSim = "sim"

// proxies is how many nodes the database moves between: when it moves on, the one that
// it has left is closed.
const proxies = 3

// A simulator is the process that is one. It is used by one goroutine.
type simulator struct {
	*rig.Child
	addr string // of the database, before it moves
}

// startSim starts the simulator in front of a server at backend, or its own. Old
// endpoints close so long after their move was announced.
func startSim(ctx context.Context, backend string, grace time.Duration) (*simulator, error) {
	child, err := rig.Spawn(ctx, roleSim, backend, grace.String())
	if err != nil {
		return nil, err
	}
	addr, err := child.Line()
	if err != nil {
		return nil, errors.Join(err, child.Close())
	}
	return &simulator{child, addr}, nil
}

// A move is what the simulator tells of one.
type move struct {
	told     int // connections that were told
	closed   int // connections that were still there at the deadline
	inFlight int // commands on these that were not answered
}

// begin makes the database move. It does not wait for the old endpoint's end: see end.
func (s *simulator) begin() error { return s.Tell("move") }

// end waits until the old endpoint has closed.
func (s *simulator) end() (m move, err error) {
	line, err := s.Line()
	if err != nil {
		return m, err
	}
	if n, _ := fmt.Sscanf(line, "moved %d %d %d", &m.told, &m.closed, &m.inFlight); n != 3 {
		return m, fmt.Errorf("the simulator says %q", line)
	}
	return m, nil
}

// serveSim is the role: it prints the address of the database, then moves it for each
// line that comes in, and says how that went.
func serveSim(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("the simulator wants a backend and a grace time")
	}
	grace, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	backend := maintsim.Address(args[0])
	if args[0] == embedded {
		backend = maintsim.Embedded()
	}
	var m move // what the move going on has done so far
	sim, err := maintsim.New(maintsim.Config{
		Backend: backend, Proxies: proxies,
		// The notice says a second, whatever that is here: clients are told whole ones.
		Grace: time.Second, TimeUnit: grace,
		OnEvent: func(e maintsim.Event) {
			switch e.Kind { //nolint:exhaustive // others are not counted
			case maintsim.EventNotice:
				m.told += e.Connections
			case maintsim.EventProxyClosed:
				m.closed, m.inFlight = m.closed+e.Connections, m.inFlight+e.InFlight
			}
		},
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, sim.Addr()); err != nil {
		return errors.Join(err, sim.Close())
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		m = move{}
		if err := sim.Rebind(context.Background()); err != nil {
			fmt.Fprintf(out, "not moved: %v\n", err)
			continue
		}
		fmt.Fprintf(out, "moved %d %d %d\n", m.told, m.closed, m.inFlight)
	}
	return sim.Close()
}
