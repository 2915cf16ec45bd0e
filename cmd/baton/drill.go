package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/baton-go/redis/cmd/baton/internal/drill"
	"github.com/baton-go/redis/cmd/baton/internal/report"
	"github.com/baton-go/redis/cmd/baton/internal/status"
	"github.com/baton-go/redis/maintnotifications"
)

const drillLong = `Drill starts a simulated database, runs a mixed load through the client, does a
maintenance scenario to the database, and shows what an application would have
felt.

Every reply is checked to be its own command's, every acknowledged INCR is
compared with the counter in the server, every message with those received, every
list item with those served. The drill succeeds, with exit status 0, only if
nothing failed and every account balances. Where a scenario cuts connections with
commands in flight, commands that can't be sent again may end with an error that
says so, and no others.

Scenarios:
`

// drillFlags are the flags that are no part of a drill's configuration.
type drillFlags struct {
	scenario, mode string
	json, report   string
	quiet          bool
}

func drillCommand() *cobra.Command {
	cfg := drill.Default()
	var f drillFlags
	var explain strings.Builder
	for _, s := range drill.Scenarios() {
		fmt.Fprintf(&explain, "  %-16s %s\n", s, s.Explain())
	}
	cmd := &cobra.Command{
		Use:   "drill",
		Short: "Run a load through the client while a database is maintained",
		Long:  drillLong + explain.String(),
		Example: `  baton drill
  baton drill --scenario failover-cut --report drill.html
  baton drill --server /usr/bin/redis-server --json -
  baton drill --scenario rebind --handoffs 40 --interval 500ms --grace 1s
  baton drill --maintnotifications disabled   # what it is like without`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg.Scenario, cfg.Mode = drill.Scenario(f.scenario), maintnotifications.Mode(f.mode)
			return runDrill(cmd, cfg, f)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.scenario, "scenario", string(cfg.Scenario), "what is done to the database, see above")
	fs.StringVar(&cfg.Server, "server", cfg.Server, "`embedded`, a server program with its arguments, or host:port;\nonly keys beginning with baton-drill: are written, and deleted at the end")
	fs.IntVar(&cfg.Workers, "workers", cfg.Workers, "number of closed loops, at least 8")
	fs.DurationVar(&cfg.Duration, "duration", 0, "length of the load (default what the scenario takes, and 3s before and after it)")
	fs.StringVar(&f.mode, "maintnotifications", string(cfg.Mode), "the client's mode: auto, enabled or disabled")
	fs.StringVar(&f.json, "json", "", "write the account as JSON to this `file`, - for stdout")
	fs.StringVar(&f.report, "report", "", "write a report as HTML to this `file`")
	fs.Uint64Var(&cfg.Seed, "seed", cfg.Seed, "seed of all random choices")
	fs.DurationVar(&cfg.Grace, "grace", cfg.Grace, "how long an old endpoint serves after MOVING")
	fs.DurationVar(&cfg.Lead, "lead", cfg.Lead, "time between an announcement and the stall")
	fs.DurationVar(&cfg.Stall, "stall", cfg.Stall, "how long replies stall")
	fs.DurationVar(&cfg.Outage, "outage", cfg.Outage, "how long nothing accepts after a cut")
	fs.DurationVar(&cfg.ReadTimeout, "read-timeout", cfg.ReadTimeout, "the client's timeout for reads and writes; shorter than the stall,\nso that it has to be relaxed")
	fs.IntVar(&cfg.Proxies, "proxies", cfg.Proxies, "number of nodes")
	fs.BoolVar(&cfg.ByName, "by-name", false, "configure the client with the database's name instead of its address")
	fs.IntVar(&cfg.Handoffs, "handoffs", cfg.Handoffs, "number of rebinds, for the scenarios rebind and rebind-none")
	fs.DurationVar(&cfg.Interval, "interval", cfg.Interval, "time between rebinds, where there are several")
	fs.DurationVar(&cfg.Timeout, "timeout", 0, "longest time for the whole drill (default 30s more than planned)")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print no progress")
	return cmd
}

func runDrill(cmd *cobra.Command, cfg drill.Config, f drillFlags) error {
	if err := cfg.Validate(); err != nil {
		return usageError{err}
	}
	out, err := openOutputs(f)
	if err != nil {
		return usageError{err}
	}
	defer out.discard()

	line := status.New(cmd.ErrOrStderr(), f.quiet)
	rep, err := drill.Run(cmd.Context(), cfg, line.Show)
	line.Close()
	if rep == nil {
		return fmt.Errorf("drill: %w", err)
	}
	stdout := cmd.OutOrStdout()
	tableTo := stdout
	if f.json == "-" {
		tableTo = cmd.ErrOrStderr() // stdout is the JSON's alone
	}
	errs := []error{err, rep.Result.WriteTable(tableTo), out.write(rep, stdout, tableTo)}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("drill: %w", err)
	}
	if !rep.Result.OK {
		return errFailed
	}
	return nil
}

// outputs are the files a drill writes. They are opened before it starts, so that
// a wrong path is found out at once.
type outputs struct {
	json, report *os.File // nil: not wanted
	stdout       bool     // JSON goes there
	written      bool
}

func openOutputs(f drillFlags) (*outputs, error) {
	o := &outputs{stdout: f.json == "-"}
	open := func(to **os.File, path, flag string) error {
		if path == "" || path == "-" {
			return nil
		}
		file, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		*to = file
		return nil
	}
	if f.report == "-" {
		return nil, errors.New("--report wants a file")
	}
	if err := errors.Join(open(&o.json, f.json, "json"), open(&o.report, f.report, "report")); err != nil {
		o.discard()
		return nil, err
	}
	return o, nil
}

// discard closes files that nothing was written to.
func (o *outputs) discard() {
	if o.written {
		return
	}
	for _, f := range []*os.File{o.json, o.report} {
		if f != nil {
			_ = f.Close()           // nothing was written
			_ = os.Remove(f.Name()) // an empty file helps nobody
		}
	}
}

// write writes what was asked for, and tells where.
func (o *outputs) write(rep *drill.Report, stdout, tell io.Writer) error {
	o.written = true
	if o.stdout {
		if err := rep.Result.WriteJSON(stdout); err != nil {
			return err
		}
	}
	var errs []error
	into := func(f *os.File, name string, write func(io.Writer) error) {
		if f == nil {
			return
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", f.Name(), err))
			return
		}
		fmt.Fprintf(tell, "%s: %s\n", name, f.Name())
	}
	if o.json != nil || o.report != nil {
		fmt.Fprintln(tell)
	}
	into(o.json, "JSON", rep.Result.WriteJSON)
	into(o.report, "Report", func(w io.Writer) error { return report.Write(w, rep, time.Now()) })
	return errors.Join(errs...)
}
