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
)

const drillLong = `Drill starts a simulated database, runs a mixed load through the client, does a
maintenance scenario to the database, and shows what an application would have
felt.

Every reply is checked to be its own command's, every acknowledged INCR is
compared with the counter in the server, every message with those received, every
list item with those served, every commit of WATCH with its counter. The application
tries nothing again, but for a WATCH whose key has changed. The drill succeeds, with
exit status 0, only if nothing failed and every account balances.

Where connections end with commands in flight and nobody has said so before,
commands that can't be sent again may end with an error that says that they may
have been executed, and no others: a counter is then between the acknowledged
INCRs and those and the unanswered ones together, a message may be lost only where
its subscriber was told of a gap, and each worker's next command succeeds within 1s
after the server is back, or 2s after an outage. What was felt and is allowed is said
in the account. That is 11s where peers vanish without a sign, because timeouts are
relaxed in a window. Options that keep notices from the
client, or make a target bad for more than half of the grace time, are judged in
the same way. Where there is no server at all for longer than commands wait, as
in --chaos all, commands that were not executed may fail, too.

The scenarios of clusters start one of their own, by default an embedded one. Keys
are spread over all slots. What is done there can be followed without notices as
well, so nothing may fail either way, and the MOVED answers for each slot that moved
are counted. Where a real primary fails over or loses all its slots, Pub/Sub messages
reach their subscribers by other nodes than before: they are counted, but may come
twice, in another order, or be lost.

The scenarios of sentinels start a master with a replica and three sentinels, or a
discovery service in front of a database, and the client asks those where its server
is. In a failover of real servers writes pause until a replica has everything, as
careful operators do it: what a master acknowledges that is no longer one is lost,
whatever a client does.

Scenarios:
`

func drillCommand() *cobra.Command {
	f := drillFlags{cfg: drill.Default()}
	var explain strings.Builder
	for _, g := range drill.Groups() {
		fmt.Fprintf(&explain, "%s:\n", g.Name)
		for _, s := range g.Scenarios {
			fmt.Fprintf(&explain, "  %-18s%s\n", s, s.Explain())
		}
	}
	cmd := &cobra.Command{
		Use:   "drill",
		Short: "Run a load through the client while a database is maintained",
		Long:  drillLong + explain.String(),
		Example: `  baton drill
  baton drill --scenario failover-cut --report drill.html
  baton drill --scenario outage --outage 15m
  baton drill --server /usr/bin/redis-server --json -
  baton drill --scenario rebind --handoffs 40 --interval 500ms --grace 1s
  baton drill --scenario rebind --target-fault hang:2s --variant seq-text --duplicates
  baton drill --scenario chaos --chaos all --seed 7 --duration 1m
  baton drill --scenario slot-migrate --server /usr/bin/redis-server
  baton drill --scenario sentinel-failover --server /usr/bin/redis-server --handoffs 10
  baton drill --scenario discovery-switch --maintnotifications disabled
  baton drill --maintnotifications disabled                # what it is like without
  baton drill --scenario slot-migrate --max-redirects -1   # the same of a cluster`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.resolve(cmd)
			return runDrill(cmd, f.cfg, f)
		},
	}
	addGroups(cmd, f.groups())
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
