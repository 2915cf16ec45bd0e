package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/baton-go/redis/cmd/baton/internal/drill"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// A flagGroup is flags with a heading of their own in the help.
type flagGroup struct {
	name string
	set  *pflag.FlagSet
}

func newGroup(name string) flagGroup {
	set := pflag.NewFlagSet(name, pflag.ContinueOnError)
	set.SortFlags = false
	return flagGroup{name: name, set: set}
}

// addGroups gives cmd the flags of all groups, and a help that keeps them apart.
func addGroups(cmd *cobra.Command, groups []flagGroup) {
	cmd.Flags().SortFlags = false
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.set)
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
		for _, g := range groups {
			fmt.Fprintf(&b, "\n%s:\n%s", g.name, g.set.FlagUsages())
		}
		_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
		return err
	})
}

// parsed is a flag whose value a function reads.
type parsed[T any] struct {
	to    *T
	text  string
	kind  string // of the value, for the help
	parse func(string) (T, error)
}

// value is a flag that writes what parse reads from it into to.
func value[T any](to *T, kind string, parse func(string) (T, error)) *parsed[T] {
	return &parsed[T]{to: to, kind: kind, parse: parse}
}

func (p *parsed[T]) Set(text string) error {
	v, err := p.parse(text)
	if err == nil {
		*p.to, p.text = v, text
	}
	return err
}

func (p *parsed[T]) String() string { return p.text }
func (p *parsed[T]) Type() string   { return p.kind }

// drillFlags are what a drill is told.
type drillFlags struct {
	cfg            drill.Config
	scenario, mode string
	json, report   string
	quiet          bool
	timings        maintsim.Config
	timed          *parsed[maintsim.Config]
}

// groups are the flags of a drill. The first two are what a newcomer needs.
func (f *drillFlags) groups() []flagGroup {
	cfg := &f.cfg
	basic := newGroup("Flags")
	fs := basic.set
	fs.StringVar(&f.scenario, "scenario", string(cfg.Scenario), "what is done to the database, see above")
	fs.StringVar(&cfg.Server, "server", cfg.Server, "`embedded`, a server program with its arguments, or host:port;\nonly keys beginning with baton-drill: are written, and deleted at the end")
	fs.IntVar(&cfg.Workers, "workers", cfg.Workers, "number of closed loops, at least 8")
	fs.DurationVar(&cfg.Duration, "duration", 0, "length of the load (default what the scenario takes, and 3s before and after it)")
	fs.StringVar(&f.mode, "maintnotifications", string(cfg.Mode), "the client's mode: auto, enabled or disabled")
	fs.StringVar(&f.json, "json", "", "write the account as JSON to this `file`, - for stdout")
	fs.StringVar(&f.report, "report", "", "write a report as HTML to this `file`")
	fs.Uint64Var(&cfg.Seed, "seed", cfg.Seed, "seed of all random choices")
	fs.DurationVar(&cfg.Timeout, "timeout", 0, "longest time for the whole drill (default 30s more than planned)")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print no progress")
	fs.BoolP("help", "h", false, "show this")

	times := newGroup("Times and sizes")
	fs = times.set
	fs.DurationVar(&cfg.Grace, "grace", cfg.Grace, "how long an old endpoint serves after MOVING")
	fs.DurationVar(&cfg.Lead, "lead", cfg.Lead, "time between an announcement and the stall")
	fs.DurationVar(&cfg.Stall, "stall", cfg.Stall, "how long replies stall; in a cluster, when slots have moved, and 0s if it\nis not given")
	fs.DurationVar(&cfg.Outage, "outage", cfg.Outage, "how long nothing accepts after a cut")
	fs.DurationVar(&cfg.ReadTimeout, "read-timeout", cfg.ReadTimeout, "the client's timeout for reads and writes; shorter than the stall,\nso that it has to be relaxed")
	f.timed = value(&f.timings, "measured[:scale]", drill.ParseTimings)
	fs.Var(f.timed, "timings", "the timing of the real product, such as measured:0.2; times that are\ngiven otherwise hold, too")
	fs.IntVar(&cfg.Proxies, "proxies", cfg.Proxies, "number of nodes")
	fs.IntVar(&cfg.Handoffs, "handoffs", cfg.Handoffs, "number of moves, for the scenarios rebind, rebind-none, sentinel-failover,\ndiscovery-switch and ring")
	fs.DurationVar(&cfg.Interval, "interval", cfg.Interval, "time between moves, where there are several")
	fs.StringVar(&cfg.Chaos, "chaos", cfg.Chaos, "what the scenario chaos does: announced, which must not be felt, or all")
	fs.StringSliceVar(&cfg.ChaosOnly, "chaos-only", nil, "limit it to these `actions`: "+wrap(maintsim.ChaosActions()))

	clusters := newGroup("Clusters")
	fs = clusters.set
	fs.IntVar(&cfg.Shards, "shards", 0, "number of shards, of a ring too (default 3)")
	fs.IntVar(&cfg.Replicas, "replicas", 0, "number of replicas of each (default what the scenario needs)")
	fs.IntVar(&cfg.Steps, "steps", 0, "in how many parts the slots of slot-migrate move, and move back (default 4)")
	fs.IntVar(&cfg.Slots, "slots", 0, "how many slots these are (default all of a shard)")
	fs.DurationVar(&cfg.Window, "window", 0, "how long a part takes to move (default 1s)")
	fs.BoolVar(&cfg.Atomic, "atomic", false, "move slots as a whole, so that nothing is answered with ASK or TRYAGAIN;\nof real servers Valkey 9 can")
	fs.IntVar(&cfg.MaxRedirects, "max-redirects", 0, "how often the client follows MOVED and ASK, -1 for never (default 3)")

	how := newGroup("Harder: how the client connects")
	fs = how.set
	fs.BoolVar(&cfg.ByName, "by-name", false, "configure the client with the database's name instead of its address;\nscenarios and options that need it do so anyway; in a cluster, name nodes")
	fs.IntVar(&cfg.Protocol, "protocol", 3, "RESP version: 3, or 2, which has no notices")
	fs.BoolVar(&cfg.TLS, "tls", false, "encrypt, with a certificate that holds names and no addresses")
	addPlaces(fs, &cfg.Conditions)

	notices := newGroup("Harder: notices that are not as they should be")
	fs = notices.set
	fs.Var(value(&cfg.Variants, "names", drill.ParseVariants), "variant", "send notices in these forms: "+wrap(maintsim.Variants()))
	fs.BoolVar(&cfg.Duplicates, "duplicates", false, "send every notice twice")
	fs.Float64Var(&cfg.Reordered, "reordered", 0, "`fraction` of connections told the closing notice first")
	fs.BoolVar(&cfg.LostClosings, "lost-closings", false, "leave MIGRATED and FAILED_OVER out")
	fs.Float64Var(&cfg.LostOpenings, "lost-openings", 0, "`fraction` of connections not told that something begins")
	fs.BoolVar(&cfg.Repeated, "repeated", false, "tell connections at the target of the move that led there")
	fs.Float64Var(&cfg.TakeOver, "take-over", 0, "when the address is taken over, as a `fraction` of the grace time (default 0.3)")

	return []flagGroup{basic, times, clusters, how, notices, f.faults()}
}

// faults are the flags of what goes wrong beside notices.
func (f *drillFlags) faults() flagGroup {
	cfg := &f.cfg
	g := newGroup("Harder: faults")
	g.set.Var(value(&cfg.Target, "kind[:time]", drill.ParseTargetFault), "target-fault", "what is wrong with the target of a move, and how long (default until the\nold endpoint has closed): "+wrap(maintsim.Faults()))
	addFaults(g.set, &cfg.Conditions)
	return g
}

// addPlaces adds the flags of where a simulator listens.
func addPlaces(fs *pflag.FlagSet, c *drill.Conditions) {
	fs.BoolVar(&c.IPv6, "ipv6", false, "give the second node an IPv6 address; with --own-ports, every node")
	fs.BoolVar(&c.OwnPorts, "own-ports", false, "give each node a port of its own instead of an address")
	fs.IntVar(&c.Records, "records", 0, "number of `addresses` of the database's name (default what the scenario needs)")
}

// addFaults adds the flags of what goes wrong in a whole simulation.
func addFaults(fs *pflag.FlagSet, c *drill.Conditions) {
	fs.Var(value(&c.Linger, "time", drill.ParseLinger), "linger", "serve beyond the deadline for so long")
	fs.Var(value(&c.Ending, "how", drill.ParseEnding), "ending", "how connections end: fin, rst, or silent, without a sign")
	fs.Var(value(&c.Retained, "[notice:]seq", drill.ParseRetained), "retained", "tell who opts in a MIGRATED or FAILED_OVER of long ago")
	fs.Var(value(&c.RefuseOptIn, "always|time", drill.ParseDenial), "refuse-opt-in", "refuse the opt-in to notices, and accept it later")
	fs.Var(value(&c.CloseOnOptIn, "always|time", drill.ParseDenial), "close-on-opt-in", "close connections that opt in, and accept it later")
	fs.Var(value(&c.HandshakePush, "kind|frame", drill.ParseHandshakePush), "handshake-push", "send a push after each reply of a handshake: invalidate, message,\nunknown, stale-migrated, or a frame")
	fs.IntVar(&c.AnnounceAfter, "announce-after", 0, "tell who opts in what it missed so many `replies` later")
	fs.IntVar(&c.Writes.MaxPiece, "split-writes", 0, "send in pieces of at most so many `bytes`")
	fs.DurationVar(&c.Writes.Gather, "gather-writes", 0, "collect for so long what is sent in one piece")
}

// resolve makes the configuration of what was given as text, and of the timing.
func (f *drillFlags) resolve(cmd *cobra.Command) {
	f.cfg.Scenario, f.cfg.Mode = drill.Scenario(f.scenario), maintnotifications.Mode(f.mode)
	if f.cfg.Scenario.Clustered() && !cmd.Flags().Changed("stall") {
		f.cfg.Stall = 0
	}
	if f.timed.text == "" {
		return
	}
	given, t := cmd.Flags().Changed, f.timings
	for flag, set := range map[string]func(){
		"grace":  func() { f.cfg.Grace = t.Grace },
		"lead":   func() { f.cfg.Lead = t.Lead },
		"stall":  func() { f.cfg.Stall = t.Stall },
		"outage": func() { f.cfg.Outage = t.Outage },
		"linger": func() { f.cfg.Linger = t.Linger },
	} {
		if !given(flag) {
			set()
		}
	}
	f.cfg.Resolver = t.ResolverChange
}

// wrap is names with commas between them, in lines that fit the help.
func wrap[T ~string](names []T) string {
	var b strings.Builder
	width := 0
	for i, n := range names {
		word := string(n)
		if i < len(names)-1 {
			word += ", "
		}
		if i == 0 || width+len(word) > 70 {
			b.WriteString("\n")
			width = 0
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}
