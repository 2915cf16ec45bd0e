package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis/bench/compare/internal/contest"
	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/server"
	"github.com/baton-go/redis/bench/compare/internal/subject"
)

// options are what the program is told.
type options struct {
	quick      bool
	server     string
	json, html string
	plan       contest.Plan
}

// selection is what the flags choose; empty lists are the default.
type selection struct {
	workloads, goroutines, subjects, transports, contexts list
	rounds                                                int
	time                                                  time.Duration
	seed                                                  uint64
}

// list is a flag with values that commas separate.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(text string) error {
	*l = nil
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" && !slices.Contains(*l, word) {
			*l = append(*l, word)
		}
	}
	if len(*l) == 0 {
		return errors.New("nothing is selected")
	}
	return nil
}

// A preset is what is measured unless flags say otherwise.
type preset struct {
	workloads  []string
	goroutines []int
	rounds     int
	time       time.Duration
	extras     bool // other contexts and transports, too
}

func presetOf(quick bool) preset {
	if quick {
		return preset{[]string{"get64", "mixed", "pipe100"}, []int{1, 64, 512}, 3, 100 * time.Millisecond, false}
	}
	var all []string
	for _, w := range load.Workloads() {
		all = append(all, w.Name)
	}
	return preset{all, []int{1, 8, 64, 512, 2048}, 7, 450 * time.Millisecond, true}
}

// The extras: these workloads, at so many goroutines, with a context that can be
// cancelled, and over the other transports.
var (
	extraWorkloads  = []string{"get64", "mixed"}
	extraGoroutines = []int{1, 64, 512}
)

const usage = `Compare measures Baton and its peers side by side: in one process, against a
server that it starts, in alternating rounds.

Usage:
  go run -C bench ./compare [flags]

Without a selection, all workloads are measured at all numbers of goroutines over
TCP, and get64 and mixed with contexts that can be cancelled, over TLS, over a unix
socket and in a cluster of three nodes, too. With -workloads, -goroutines,
-transports or -contexts, all combinations of what is selected are measured; what
is not selected is then all workloads, all numbers of goroutines, tcp and
background.

`

// parse reads the flags. It has told stderr about an error it returns.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var s selection
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, usage, "Flags:\n")
		fs.PrintDefaults()
	}
	fs.BoolVar(&o.quick, "quick", false, "measure a part of everything in less than a minute")
	fs.Var(&s.workloads, "workloads", "`names` of workloads: "+strings.Join(presetOf(false).workloads, ","))
	fs.Var(&s.goroutines, "goroutines", "`numbers` of goroutines: 1,8,64,512,2048 or others")
	fs.Var(&s.subjects, "subjects", "`names` of clients: "+strings.Join(subject.Names(subject.All()), ","))
	fs.Var(&s.transports, "transports", "`names` of transports: tcp,tls,unix,cluster")
	fs.Var(&s.contexts, "contexts", "`names` of contexts: background,cancel,timeout")
	fs.IntVar(&s.rounds, "rounds", 0, "number of rounds (default 7; quick: 3)")
	fs.DurationVar(&s.time, "time", 0, "`time` of each client in each round (default 450ms; quick: 100ms)")
	fs.Uint64Var(&s.seed, "seed", 1, "seed of the order of clients and of the keys")
	fs.StringVar(&o.server, "server", "", "`path` of the server program (default Redis 7.0 of 'make servers')")
	fs.StringVar(&o.json, "json", "", "write the result as JSON to this `file`, - for stdout")
	fs.StringVar(&o.html, "html", "", "write the result as a page to this `file`")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	var err error
	if fs.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	} else {
		o.plan, err = s.plan(o.quick)
	}
	if err != nil {
		fmt.Fprintf(stderr, "compare: %v\nSee -help.\n", err)
	}
	return o, err
}

// plan is what s chooses, with the defaults for the rest.
func (s selection) plan(quick bool) (contest.Plan, error) {
	def := presetOf(quick)
	p := contest.Plan{Rounds: cmp.Or(s.rounds, def.rounds), Time: cmp.Or(s.time, def.time), Seed: s.seed}
	p.Warm = max(p.Time/5, time.Millisecond)
	var err error
	if p.Rounds < 1 || p.Time < 0 {
		err = errors.New("-rounds and -time must be positive")
	}
	subjects, wrong := subject.Select(orElse(s.subjects, subject.Names(subject.All())))
	p.Subjects = subjects
	workloads, wrong2 := parsed(orElse(s.workloads, def.workloads), load.Named)
	goroutines, wrong3 := parsed(s.goroutines, positive)
	transports, wrong4 := parsed(orElse(s.transports, []string{string(server.TCP)}), oneOf(server.Transports()))
	contexts, wrong5 := parsed(orElse(s.contexts, []string{string(load.Background)}), oneOf(load.Contexts()))
	if err := errors.Join(err, wrong, wrong2, wrong3, wrong4, wrong5); err != nil {
		return p, err
	}
	if len(goroutines) == 0 {
		goroutines = def.goroutines
	}
	for _, t := range transports {
		for _, w := range workloads {
			for _, g := range goroutines {
				p.Blocks = append(p.Blocks, contest.Block{Workload: w, Goroutines: g, Transport: t, Contexts: contexts})
			}
		}
	}
	if def.extras && !s.selects() {
		p.Blocks = addExtras(p.Blocks)
	}
	return p, nil
}

// selects tells whether s chooses what is measured.
func (s selection) selects() bool {
	return len(s.workloads)+len(s.goroutines)+len(s.transports)+len(s.contexts) > 0
}

// addExtras adds the other contexts to the blocks there are, and blocks with the
// other transports.
func addExtras(blocks []contest.Block) []contest.Block {
	more := slices.Clone(blocks)
	var extra []contest.Block
	for i, b := range blocks {
		if !slices.Contains(extraWorkloads, b.Workload.Name) || !slices.Contains(extraGoroutines, b.Goroutines) {
			continue
		}
		more[i].Contexts = []load.Context{load.Background, load.Cancel}
		extra = append(extra, b)
	}
	// The cluster comes last: while others are measured its nodes are not there yet.
	for _, t := range []server.Transport{server.TLS, server.Unix, server.Cluster} {
		for _, b := range extra {
			b.Transport = t
			more = append(more, b)
		}
	}
	return more
}

func orElse(chosen list, def []string) []string {
	if len(chosen) > 0 {
		return chosen
	}
	return def
}

// parsed reads all words.
func parsed[T any](words []string, parse func(string) (T, error)) ([]T, error) {
	var values []T
	for _, word := range words {
		v, err := parse(word)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// maxGoroutines is what no selection needs more of.
const maxGoroutines = 100_000

func positive(word string) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > maxGoroutines {
		return 0, fmt.Errorf("-goroutines: %q is no number from 1 to %d", word, maxGoroutines)
	}
	return n, nil
}

// oneOf reads one of a few names.
func oneOf[T ~string](names []T) func(string) (T, error) {
	return func(word string) (T, error) {
		if slices.Contains(names, T(word)) {
			return T(word), nil
		}
		return "", fmt.Errorf("%q is none of %v", word, names)
	}
}
