// Command compat compares the exported API of Baton with that of go-redis, both as the
// type checker sees them, and tells what is missing or different.
//
//	go run -C bench ./compat                    # a table, and every difference
//	go run -C bench ./compat -group hash,list   # of some groups only
//	go run -C bench ./compat -check             # exit status 1 if a complete group is not
//	go run -C bench ./compat -json compat.json
//
// What counts as the same: types are equal but for the path of the module; names of
// parameters don't matter. Which groups are complete, and which differences are meant,
// is in exceptions.txt, each with its reason.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// The modules that are compared.
const (
	theirModule = "github.com/redis/go-redis/v9"
	ourModule   = "github.com/baton-go/redis"
)

// packages are the public packages of go-redis, by folder; "" is the root.
var packages = []string{"", "auth", "helper", "logging", "maintnotifications", "push"}

//go:embed exceptions.txt
var exceptionsText string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are what the program is called with.
type options struct {
	check  bool
	quiet  bool
	json   string
	groups []string // which to list; none: all
}

// parse reads the arguments. An error has been shown already.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("compat", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.BoolVar(&o.check, "check", false, "exit with status 1 if a complete group misses something, or an exception is not needed")
	f.BoolVar(&o.quiet, "quiet", false, "only the table")
	f.StringVar(&o.json, "json", "", "write the result to this `file`; - is stdout")
	groups := f.String("group", "", "list only these `groups`, separated by commas")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if *groups != "" {
		o.groups = strings.Split(*groups, ",")
	}
	if f.NArg() > 0 {
		err := fmt.Errorf("unknown argument %q", f.Arg(0))
		fmt.Fprintf(stderr, "compat: %v\n", err)
		return o, err
	}
	return o, nil
}

// run is the program with everything it touches.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	rep, err := compareModules(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "compat: %v\n", err)
		return exitFailed
	}
	for _, name := range o.groups {
		if !slices.ContainsFunc(rep.Groups, func(g *group) bool { return g.Name == name }) {
			fmt.Fprintf(stderr, "compat: unknown group %q\n", name)
			return exitUsage
		}
	}
	if err := rep.write(o, stdout); err != nil {
		fmt.Fprintf(stderr, "compat: %v\n", err)
		return exitFailed
	}
	if !o.check {
		return exitOK
	}
	faults := rep.faults()
	for _, fault := range faults {
		fmt.Fprintf(stderr, "compat: %s\n", fault)
	}
	if len(faults) > 0 {
		return exitFailed
	}
	return exitOK
}

// compareModules loads both modules and compares them.
func compareModules(ctx context.Context) (*report, error) {
	rules, err := parseExceptions(exceptionsText)
	if err != nil {
		return nil, err
	}
	loaded, err := load(ctx)
	if err != nil {
		return nil, err
	}
	theirs := surfaceOf(theirModule, loaded)
	ours := surfaceOf(ourModule, loaded)
	return compare(theirs, ours, groupsOf(theirs), rules)
}

// write shows the result as text, as JSON, or both.
func (r *report) write(o options, stdout io.Writer) error {
	if o.json != "" {
		text, err := json.MarshalIndent(r, "", "\t")
		if err != nil {
			return err
		}
		text = append(text, '\n')
		if o.json == "-" {
			_, err = stdout.Write(text)
			return err
		}
		if err := os.WriteFile(o.json, text, 0o644); err != nil {
			return err
		}
	}
	return r.show(o, stdout)
}
