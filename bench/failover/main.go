// Command failover shows what an application feels of a planned failover by Sentinel
// (SENTINEL FAILOVER): Baton and go-redis follow the same master at the same time, each
// with its own load, and everything is counted.
//
//	go run -C bench ./failover
//	go run -C bench ./failover -failovers 10 -workers 64 -json failover.json -html failover.html
//
// Each worker increments a counter of its own, and reads a value in between. What was
// acknowledged is compared with what the new master has: a counter that is higher was
// incremented twice by a command that succeeded once, silently; one that is lower has
// lost what was acknowledged, as asynchronous replication may.
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
	"github.com/baton-go/redis/bench/internal/sheet"
	"github.com/baton-go/redis/internal/realserver"
)

func main() { program.Main(run) }

// options are what the program is called with.
type options struct {
	server     string
	workers    int
	failovers  int
	around     time.Duration // how long the load runs before a failover, and after it
	json, html string
}

// parse reads the arguments. An error has been shown already.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("failover", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.server, "server", realserver.Redis8, "the `server` and its sentinel, one of "+strings.Join(realserver.All(), ", "))
	f.IntVar(&o.workers, "workers", 64, "how many goroutines each client has")
	f.IntVar(&o.failovers, "failovers", 5, "how often a replica is made the master")
	f.DurationVar(&o.around, "around", 2*time.Second, "how long the load runs before a failover, and after it")
	f.StringVar(&o.json, "json", "", "write the figures to this `file`; - is stdout")
	f.StringVar(&o.html, "html", "", "write a page to this `file`")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", f.Arg(0))
	case o.workers < 1 || o.failovers < 1:
		err = errors.New("-workers and -failovers must be 1 at least")
	case o.around < 10*time.Millisecond:
		err = errors.New("-around must be 10ms at least")
	case !slices.Contains(realserver.All(), o.server):
		err = fmt.Errorf("unknown server %q, want one of %s", o.server, strings.Join(realserver.All(), ", "))
	}
	if err != nil {
		fmt.Fprintf(stderr, "failover: %v\n", err)
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
	out, err := sheet.Open(o.json, o.html, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "failover: %v\n", err)
		return program.Usage
	}
	defer out.Discard()
	result, err := measure(ctx, o, stderr)
	if err == nil {
		err = out.Write(result, func(w io.Writer) error { return sheet.WriteAll(w, result.tables()) }, result.page)
	}
	if err != nil {
		fmt.Fprintf(stderr, "failover: %v\n", err)
		return program.Failed
	}
	return program.OK
}

// measure starts what is needed, and lets both clients meet the failovers.
func measure(ctx context.Context, o options, stderr io.Writer) (r *Result, err error) {
	w, err := startWatched(ctx, o.server)
	if err != nil {
		return nil, errors.Join(err, w.stop())
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	progress := sheet.NewProgress(stderr)
	defer progress.Close()
	r = newResult(o)
	subjects := []*subject{newBaton(w.sentinels()), newGoRedis(w.sentinels())}
	for _, s := range subjects {
		defer func() { err = errors.Join(err, s.close()) }()
	}
	for i := range o.failovers {
		progress.Step("failover %d of %d", i+1, o.failovers)
		if err := w.settled(ctx); err != nil {
			return nil, err
		}
		round, err := meet(ctx, o, w, subjects)
		if err != nil {
			return nil, fmt.Errorf("failover %d: %w", i+1, err)
		}
		r.add(round)
	}
	return r, nil
}
