// Command allocs counts the allocations of each hot command, from the call until its
// caller has the value, with Baton and with go-redis, both with their defaults and
// against one server.
//
//	go run -C bench ./allocs
//
// It ends with exit status 1 where Baton does not keep its bounds: GET and SET at most 2,
// every command at most 4 less than go-redis, and the byte form none.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/bench/internal/program"
	"github.com/baton-go/redis/bench/internal/rig"
	"github.com/baton-go/redis/bench/internal/sheet"
	"github.com/baton-go/redis/internal/realserver"
)

func main() { program.Main(run) }

// fewer is by how much Baton must stay below go-redis.
const fewer = 4

// A row is what a command costs.
type row struct {
	command        string
	baton, goredis float64
	atMost         float64 // whatever go-redis needs; 0: no such bound
	bytes          bool    // the byte form, which go-redis does not have
}

// bound is the most that Baton may need.
func (r row) bound() float64 {
	switch {
	case r.bytes:
		return 0
	case r.atMost > 0:
		return min(r.atMost, r.goredis-fewer)
	}
	return r.goredis - fewer
}

// run is the program with everything it touches.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintf(stderr, "allocs: unknown argument %q\n", args[0])
		return program.Usage
	}
	rows, err := measure(ctx)
	if err == nil {
		err = show(stdout, rows)
	}
	if err != nil {
		fmt.Fprintf(stderr, "allocs: %v\n", err)
		return program.Failed
	}
	return program.OK
}

// show writes the table; the error tells which bounds were not kept.
func show(w io.Writer, rows []row) error {
	t := &sheet.Table{Title: "Allocations of a command", Columns: []string{"command", "Baton", "go-redis", "at most"}}
	var errs []error
	for _, r := range rows {
		theirs := "-"
		if !r.bytes {
			theirs = fmt.Sprint(r.goredis)
		}
		t.Add(r.command, fmt.Sprint(r.baton), theirs, fmt.Sprint(r.bound()))
		if r.baton > r.bound() {
			errs = append(errs, fmt.Errorf("%s: %v allocations, want %v at most", r.command, r.baton, r.bound()))
		}
	}
	return errors.Join(t.Write(w), errors.Join(errs...))
}

// measure starts a server and counts.
func measure(ctx context.Context) (rows []row, err error) {
	server, err := rig.StartServer(ctx, realserver.Redis7)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	ours := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer func() { err = errors.Join(err, ours.Close()) }()
	theirs := goredis.NewClient(&goredis.Options{Addr: server.Addr()})
	defer func() { err = errors.Join(err, theirs.Close()) }()

	var failed error
	count := func(call func() error) float64 {
		return testing.AllocsPerRun(2000, func() {
			if err := call(); err != nil && failed == nil {
				failed = err
			}
		})
	}
	for _, h := range hotCommands(ctx, ours, theirs) {
		if err := ours.FlushAll(ctx).Err(); err != nil {
			return nil, err
		}
		for _, line := range h.setup {
			words := strings.Fields(line)
			args := make([]any, len(words))
			for i, word := range words {
				args[i] = word
			}
			if err := ours.Do(ctx, args...).Err(); err != nil {
				return nil, err
			}
		}
		r := row{command: h.name, atMost: h.atMost, bytes: h.goredis == nil}
		r.baton = count(h.baton)
		if h.goredis != nil {
			r.goredis = count(h.goredis)
		}
		if failed != nil {
			return nil, fmt.Errorf("%s: %w", h.name, failed)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
