// Command growth shows how the cost of a command grows: with the number of callers,
// of connections, of a cluster's nodes, with the size of values, and with what the client
// has to be ready for. It starts servers of its own.
//
//	go run -C bench ./growth
//	go run -C bench ./growth -quick -parts goroutines,slow
//	go run -C bench ./growth -json growth.json -html growth.html
//
// Every reply is checked: an error or a wrong value ends the program with exit status 1.
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
func roles() map[string]rig.Role {
	return map[string]rig.Role{rig.RoleRelay: rig.ServeRelay, rig.RoleStub: rig.ServeStub}
}

func main() {
	rig.PlayRole(roles())
	program.Main(run)
}

// options are what the program is called with.
type options struct {
	plan   plan
	parts  []string
	server string
	json   string
	html   string
}

// parse reads the arguments. An error has been shown already.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("growth", flag.ContinueOnError)
	f.SetOutput(stderr)
	quick := f.Bool("quick", false, "measure for less than a minute, roughly")
	only := f.String("parts", "", "measure only these `parts`, separated by commas: "+strings.Join(partNames(), ","))
	window := f.Duration("window", 0, "how long one measurement takes (default 1s, with -quick 200ms)")
	rounds := f.Int("rounds", 0, "how often each absolute figure is measured (default 3, with -quick 1)")
	pairs := f.Int("pairs", 0, "how many pairs each ratio is taken of (default 20, with -quick 3)")
	f.StringVar(&o.server, "server", realserver.Redis7, "the `server`, one of "+strings.Join(realserver.All(), ", "))
	f.StringVar(&o.json, "json", "", "write the figures to this `file`; - is stdout")
	f.StringVar(&o.html, "html", "", "write a page with tables and charts to this `file`")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	bad := func(format string, args ...any) error {
		err := fmt.Errorf(format, args...)
		fmt.Fprintf(stderr, "growth: %v\n", err)
		return err
	}
	if f.NArg() > 0 {
		return o, bad("unknown argument %q", f.Arg(0))
	}
	if *window < 0 || *rounds < 0 || *pairs < 0 {
		return o, bad("-window, -rounds and -pairs can't be negative")
	}
	o.plan = newPlan(*quick, *window, *rounds, *pairs)
	o.parts = partNames()
	if *only != "" {
		o.parts = strings.Split(*only, ",")
	}
	for _, name := range o.parts {
		if !slices.Contains(partNames(), name) {
			return o, bad("unknown part %q, want some of %s", name, strings.Join(partNames(), ","))
		}
	}
	return o, nil
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
		fmt.Fprintf(stderr, "growth: %v\n", err)
		return program.Usage
	}
	defer out.Discard()
	result, err := measure(ctx, o, fullSizes(), stderr)
	if err == nil {
		text := func(w io.Writer) error { return sheet.WriteAll(w, result.tables()) }
		err = out.Write(result, text, func(w io.Writer) error { return writePage(w, result, time.Now()) })
	}
	if err != nil {
		fmt.Fprintf(stderr, "growth: %v\n", err)
		return program.Failed
	}
	return program.OK
}

// measure does all parts, one after the other.
func measure(ctx context.Context, o options, far sizes, stderr io.Writer) (r *Result, err error) {
	server, err := rig.StartServer(ctx, o.server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	progress := sheet.NewProgress(stderr)
	defer progress.Close()
	l := &lab{plan: o.plan, sizes: far, server: o.server, addr: server.Addr(), progress: progress, result: newResult(o)}
	for _, p := range parts() {
		if !slices.Contains(o.parts, p.name) {
			continue
		}
		if err := p.measure(l, ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return l.result, nil
}
