// Command handoff shows what an application feels of a handoff: it puts a load on a
// simulated database that moves again and again, and compares the second of each move
// with the second before it, and quiet seconds with quiet ones. It also compares a
// client that is ready for moves with one that is not, while there is none.
//
//	go run -C bench ./handoff
//	go run -C bench ./handoff -handoffs 20 -goroutines 512 -json handoff.json
//	go run -C bench ./handoff -server embedded -quick
//
// The simulator is a process of its own, so that its work is not counted as the
// client's. Every reply is checked: an error, a wrong value, or a move that the client
// did not follow ends the program with exit status 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/baton-go/redis/bench/internal/program"
	"github.com/baton-go/redis/bench/internal/rig"
	"github.com/baton-go/redis/bench/internal/sheet"
	"github.com/baton-go/redis/internal/realserver"
)

// roles are what processes beside the program do.
func roles() map[string]rig.Role { return map[string]rig.Role{roleSim: serveSim} }

func main() {
	rig.PlayRole(roles())
	program.Main(run)
}

// options are what the program is called with.
type options struct {
	server     string
	goroutines int
	handoffs   int
	second     time.Duration // what is compared with what; a real second unless asked otherwise
	pairs      int           // of rounds with notifications on and off
	json       string
}

// embedded is the name of the simulator's own server.
const embedded = "embedded"

// parse reads the arguments. An error has been shown already.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("handoff", flag.ContinueOnError)
	f.SetOutput(stderr)
	servers := append(realserver.All(), embedded)
	f.StringVar(&o.server, "server", realserver.Redis7, "the `server` behind the simulator, one of "+strings.Join(servers, ", "))
	f.IntVar(&o.goroutines, "goroutines", 64, "how many goroutines make the load")
	f.IntVar(&o.handoffs, "handoffs", 10, "how often the database moves")
	f.IntVar(&o.pairs, "pairs", 20, "how many pairs of rounds compare notifications on with off")
	f.DurationVar(&o.second, "second", time.Second, "how long the times are that are compared")
	quick := f.Bool("quick", false, "as -handoffs 4 -pairs 3 -second 300ms, for a first look")
	f.StringVar(&o.json, "json", "", "write the figures to this `file`; - is stdout")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if *quick {
		o.handoffs, o.pairs, o.second = 4, 3, 300*time.Millisecond
	}
	var err error
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", f.Arg(0))
	case o.goroutines < 1 || o.handoffs < 1 || o.pairs < 1:
		err = errors.New("-goroutines, -handoffs and -pairs must be 1 at least")
	case o.second < 10*time.Millisecond:
		err = errors.New("-second must be 10ms at least")
	case !slices.Contains(servers, o.server):
		err = fmt.Errorf("unknown server %q, want one of %s", o.server, strings.Join(servers, ", "))
	}
	if err != nil {
		fmt.Fprintf(stderr, "handoff: %v\n", err)
	}
	return o, err
}

// run is the program with everything it touches.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return program.OK
	case err != nil:
		return program.Usage
	}
	out, err := sheet.Open(o.json, "", stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "handoff: %v\n", err)
		return program.Usage
	}
	defer out.Discard()
	result, err := measure(ctx, o, stderr)
	if err == nil {
		err = out.Write(result, func(w io.Writer) error { return sheet.WriteAll(w, result.tables()) }, nil)
	}
	if err != nil {
		fmt.Fprintf(stderr, "handoff: %v\n", err)
		return program.Failed
	}
	return program.OK
}

// measure starts what is needed and does both comparisons.
func measure(ctx context.Context, o options, stderr io.Writer) (r *Result, err error) {
	backend := embedded
	if o.server != embedded {
		server, err := rig.StartServer(ctx, o.server)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		backend = server.Addr()
	}
	sim, err := startSim(ctx, backend, o.second/2)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sim.Close()) }()
	progress := sheet.NewProgress(stderr)
	defer progress.Close()
	r = newResult(o)
	if r.Ready, err = compareReady(ctx, o, sim.addr, progress); err != nil {
		return nil, err
	}
	moves, err := watchMoves(ctx, o, sim, progress)
	if err != nil {
		return nil, err
	}
	r.take(moves)
	return r, nil
}
