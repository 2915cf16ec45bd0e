// Package program is what the commands of the bench have in common as commands.
package program

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes.
const (
	OK     = 0
	Failed = 1
	Usage  = 2
)

// A Run is a program with everything it touches. It gives the exit code, and ends soon
// when ctx ends.
type Run func(ctx context.Context, args []string, stdout, stderr io.Writer) int

// Main runs a program and ends the process. A signal ends the context, and a second one
// the process at once.
func Main(run Run) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
