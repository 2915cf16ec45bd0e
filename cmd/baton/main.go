// Command baton rehearses the maintenance of a Redis database.
//
//	baton drill    run a load through the client while a database is maintained
//	baton sim      simulate a database that any client can be pointed at
//	baton version  print the version
//
// It exits with 0 if all went well, 1 if something failed, and 2 if it was called
// wrongly.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errFailed says that the command has told its user already what failed.
var errFailed = errors.New("failed")

// usageError is an error of whoever called the program.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// run is the program with everything it touches.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "baton",
		Short:         "Rehearse the maintenance of a Redis database",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usageArgs(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(drillCommand(), simCommand(), versionCommand())

	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errFailed) {
		return exitFailed
	}
	fmt.Fprintf(stderr, "baton: %v\n", err)
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(stderr, "See %q.\n", cmd.CommandPath()+" --help")
		return exitUsage
	}
	return exitFailed
}

// usageArgs makes wrong arguments an error of usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && cmd.HasSubCommands() {
			return usageError{fmt.Errorf("unknown command %q", args[0])}
		}
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}
