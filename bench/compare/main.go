// Command compare measures Baton and its peers side by side: in one process, against
// one server or one cluster, in alternating rounds.
//
//	go run -C bench ./compare -quick
//
// It exits with 0 whatever the figures are, 1 if something failed (a client that
// returned errors or wrong values, too), and 2 if it was called wrongly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/baton-go/redis/bench/compare/internal/contest"
	"github.com/baton-go/redis/bench/compare/internal/report"
	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/compare/internal/server"
	"github.com/baton-go/redis/bench/compare/internal/target"
	"github.com/baton-go/redis/bench/internal/program"
	"github.com/baton-go/redis/bench/internal/sheet"
)

func main() {
	program.Main(run)
}

// run is the program with everything it touches.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return program.OK
	case err != nil:
		return program.Usage
	}
	out, err := sheet.Open(opts.json, opts.html, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "compare: %v\n", err)
		return program.Usage
	}
	defer out.Discard()
	if err := compare(ctx, opts, out, stderr); err != nil {
		fmt.Fprintf(stderr, "compare: %v\n", err)
		return program.Failed
	}
	return program.OK
}

// compare measures and shows what was asked for.
func compare(ctx context.Context, opts options, out *sheet.Outputs, stderr io.Writer) error {
	res, err := measure(ctx, opts, stderr)
	if res == nil {
		return err
	}
	text := func(w io.Writer) error { return report.WriteTable(w, res) }
	page := func(w io.Writer) error { return report.WritePage(w, res) }
	return errors.Join(err, out.Write(res, text, page), failure(res))
}

// failure is an error if a client failed.
func failure(res *result.Result) error {
	if n := len(res.Failures()); n > 0 {
		return fmt.Errorf("%d failures of clients, see above", n)
	}
	return nil
}

// measure starts the server and lets the clients work. Beside an error it returns
// what was measured before, if anything.
func measure(ctx context.Context, opts options, stderr io.Writer) (_ *result.Result, err error) {
	program, err := server.Locate(opts.server)
	if err != nil {
		return nil, err
	}
	srv, err := server.Start(ctx, program)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, srv.Stop()) }()
	version, err := srv.Version()
	if err != nil {
		return nil, err
	}
	line := newProgress(stderr)
	cells, err := contest.Run(ctx, opts.plan, srv, line.show)
	line.close()
	if len(cells) == 0 {
		return nil, err
	}
	res := &result.Result{
		Version: result.FormatVersion, Date: time.Now(), Environment: environment(program, version),
		Quick: opts.quick, Seed: opts.plan.Seed, Rounds: opts.plan.Rounds,
		SliceS: opts.plan.Time.Seconds(), WarmS: opts.plan.Warm.Seconds(), Cells: cells,
	}
	res.Targets = target.Judge(res)
	return res, err
}

// peers are the modules whose versions matter.
var peers = []string{"github.com/redis/go-redis/v9", "github.com/redis/rueidis", "github.com/gomodule/redigo"}

func environment(program, version string) result.Environment {
	e := result.Environment{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), MaxProcs: runtime.GOMAXPROCS(0),
		Server: version, ServerProgram: program, Modules: map[string]string{},
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return e
	}
	for _, path := range peers {
		for _, dep := range build.Deps {
			if dep.Path == path {
				e.Modules[path] = dep.Version
			}
		}
	}
	return e
}
