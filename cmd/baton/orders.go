package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/drill"
	"github.com/baton-go/redis/maintsim"
)

// simAction is something to do, with its options.
type simAction struct {
	name string
	do   func(context.Context, *simulation) error
}

// A place is what an order is for.
type place uint8

const (
	anywhere place = iota
	inDatabase
	inCluster
)

// An order is something that can be typed. Scenarios of a database are none.
type order struct {
	name, args, explain string
	where               place
	parse               func(args []string) (func(context.Context, *simulation) error, error)
}

const ordersHelp = `Options of scenarios, such as "rebind grace=5s target-fault=hang:2s duplicates":
  grace, lead, stall, outage, hold, linger   times
  variant=names      duplicates              lost-closings
  reordered=0.5      lost-openings=0.5       closings-to=0.5
  seq=7              announced=host:port     repeated
  target-fault=kind[:time]                   ending=fin|rst|silent
  take-over=0.3      resolver=0.6            of the grace time
  null               by-name                 no address is named
  proxy=0            target=1                second-target=2
  busiest            shards=1,2
Of clusters:
  window=1s          how long slots take to move
  atomic             they move as a whole
  unannounced        nobody is told
  removal            what owns nothing then leaves the cluster
`

// simNames are the words for scenarios beside their own names.
func simNames() map[string]drill.Scenario {
	return map[string]drill.Scenario{"demote": drill.Demotion, "change-dns": drill.DNSChange, "cut": drill.SilentCut}
}

// simHelp is what can be typed.
func simHelp(isCluster bool) string {
	var b strings.Builder
	if !isCluster {
		b.WriteString("Scenarios:\n")
		for _, s := range drill.Scenarios() {
			if s.IsOfDatabase() {
				fmt.Fprintf(&b, "  %-18s%s\n", s, s.Explain())
			}
		}
	}
	b.WriteString("Orders:\n")
	for _, o := range orders(isCluster) {
		fmt.Fprintf(&b, "  %-34s%s\n", strings.TrimSpace(o.name+" "+o.args), o.explain)
	}
	for _, o := range [][2]string{{"stop", "call off what runs"}, {"stats", "what was done so far"}, {"help", "this"}, {"quit", ""}} {
		fmt.Fprintf(&b, "  %-34s%s\n", o[0], o[1])
	}
	b.WriteString(ordersHelp)
	return b.String()
}

// once makes an order of something that is done at once.
func once(f func(*maintsim.Sim)) func(context.Context, *simulation) error {
	return func(_ context.Context, s *simulation) error {
		f(s.sim)
		return nil
	}
}

// word parses the only argument of an order.
func word(f func(string) (func(context.Context, *simulation) error, error)) func([]string) (func(context.Context, *simulation) error, error) {
	return func(args []string) (func(context.Context, *simulation) error, error) {
		if len(args) != 1 {
			return nil, errors.New("wants one argument")
		}
		return f(args[0])
	}
}

// bare parses an order without arguments.
func bare(do func(context.Context, *simulation) error) func([]string) (func(context.Context, *simulation) error, error) {
	return func(args []string) (func(context.Context, *simulation) error, error) {
		if len(args) > 0 {
			return nil, errors.New("wants no argument")
		}
		return do, nil
	}
}

// orders are those for a database or a cluster, but for those about the simulation
// itself.
func orders(isCluster bool) []order {
	where := inDatabase
	if isCluster {
		where = inCluster
	}
	return slices.DeleteFunc(append(clusterOrders(), commonOrders()...), func(o order) bool {
		return o.where != anywhere && o.where != where
	})
}

func commonOrders() []order {
	return []order{
		{"chaos", "[all] [seed=n] [for=time]", "random scenarios, announced ones only or all, until stop", inDatabase, parseChaos},
		{"grow", "[proxy=n]", "a proxy joins the endpoint, nobody is told", inDatabase, func(args []string) (func(context.Context, *simulation) error, error) {
			opts, _, err := parseOptions(args)
			return func(ctx context.Context, s *simulation) error { return s.sim.Grow(ctx, opts...) }, err
		}},
		{"fault", "proxy kind|none", "make a proxy faulty: " + joined(maintsim.Faults()), anywhere, parseFaultOrder},
		{"repair", "", "take all faults away", anywhere, bare(func(_ context.Context, s *simulation) error { return s.sim.Repair() })},
		{"refuse", "", "refuse the opt-in", anywhere, bare(once((*maintsim.Sim).Refuse))},
		{"close-on-opt-in", "", "close connections that opt in", anywhere, bare(once((*maintsim.Sim).CloseOnOptIn))},
		{"accept", "", "accept the opt-in", anywhere, bare(once((*maintsim.Sim).Support))},
		{"retain", "[notice:]seq", "tell who opts in a completion of long ago", inDatabase, word(func(text string) (func(context.Context, *simulation) error, error) {
			r, err := drill.ParseRetained(text)
			return once(func(s *maintsim.Sim) { s.Retain(r.Notice, r.Seq) }), err
		})},
		{"seq", "n", "number the next notice so", anywhere, word(func(text string) (func(context.Context, *simulation) error, error) {
			n, err := strconv.ParseInt(text, 10, 64)
			return once(func(s *maintsim.Sim) { s.SetSeq(n) }), err
		})},
		{"version", "text", "report another server version", anywhere, word(func(text string) (func(context.Context, *simulation) error, error) {
			return once(func(s *maintsim.Sim) { s.SetVersion(text) }), nil
		})},
		{"writes", "plain|split=n|gather=time", "send in pieces, or gathered", anywhere, word(parseWrites)},
		{"lookups", "well|fail|time", "make lookups of names fail or late", anywhere, word(parseLookups)},
		{"push", `frame`, `send any push, with \r\n for ends of lines`, anywhere, func(args []string) (func(context.Context, *simulation) error, error) {
			frame, err := drill.ParseFrame(strings.Join(args, " "))
			return once(func(s *maintsim.Sim) { s.Push(frame) }), err
		}},
		{"malformed", "notice", "send every frame that only calls itself such a notice", anywhere, word(func(text string) (func(context.Context, *simulation) error, error) {
			n := maintsim.Notice(strings.ToUpper(text))
			if !slices.Contains([]maintsim.Notice{maintsim.Moving, maintsim.Migrating, maintsim.Migrated, maintsim.FailingOver, maintsim.FailedOver, maintsim.SMigrating, maintsim.SMigrated}, n) {
				return nil, fmt.Errorf("unknown notice %q, want one of MOVING, MIGRATING, MIGRATED, FAILING_OVER, FAILED_OVER, SMIGRATING, SMIGRATED", text)
			}
			return once(func(s *maintsim.Sim) {
				for _, frame := range maintsim.Malformed(n) {
					s.Push(frame)
				}
			}), nil
		})},
	}
}

func joined[T ~string](values []T) string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return strings.Join(out, ", ")
}

func parseChaos(args []string) (func(context.Context, *simulation) error, error) {
	seed, long, opts := uint64(1), time.Duration(0), []maintsim.ChaosOption{maintsim.ChaosAnnounced(), maintsim.ChaosOverlap(1)}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		var err error
		switch key {
		case "all":
			opts = nil
		case "seed":
			seed, err = strconv.ParseUint(value, 10, 64)
		case "for":
			long, err = time.ParseDuration(value)
		default:
			err = fmt.Errorf("unknown option %q, want all, seed or for", key)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, s *simulation) error {
		if long > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, long)
			defer cancel()
		}
		return s.sim.Chaos(ctx, seed, opts...)
	}, nil
}

func parseFaultOrder(args []string) (func(context.Context, *simulation) error, error) {
	if len(args) != 2 {
		return nil, errors.New("wants a proxy and a fault, such as fault 1 hang")
	}
	i, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, fmt.Errorf("%q is no index of a proxy", args[0])
	}
	f := maintsim.FaultNone
	if args[1] != maintsim.FaultNone.String() {
		if f, err = drill.ParseFault(args[1]); err != nil {
			return nil, err
		}
	}
	return func(_ context.Context, s *simulation) error { return s.sim.SetFault(i, f) }, nil
}

func parseWrites(text string) (func(context.Context, *simulation) error, error) {
	var w maintsim.Writes
	var err error
	switch key, value, _ := strings.Cut(text, "="); key {
	case "plain":
	case "split":
		w.MaxPiece, err = strconv.Atoi(value)
	case "gather":
		w.Gather, err = time.ParseDuration(value)
	default:
		err = fmt.Errorf("unknown writes %q, want plain, split or gather", key)
	}
	if err == nil && (w.MaxPiece < 0 || w.Gather < 0) {
		err = fmt.Errorf("%q is negative", text)
	}
	return once(func(s *maintsim.Sim) { s.SetWrites(w) }), err
}

func parseLookups(text string) (func(context.Context, *simulation) error, error) {
	var delay time.Duration
	var failure, err error
	switch text {
	case "well":
	case "fail":
		failure = &net.DNSError{Err: "server misbehaving", Name: maintsim.DBName, IsTemporary: true}
	default:
		delay, err = time.ParseDuration(text)
	}
	return once(func(s *maintsim.Sim) { s.DisturbLookups(delay, failure) }), err
}

// parseAction reads "rebind grace=5s", or another order.
func parseAction(line string, isCluster bool) (simAction, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return simAction{}, errors.New("empty scenario")
	}
	for _, o := range orders(isCluster) {
		if o.name == words[0] {
			do, err := o.parse(words[1:])
			if err != nil {
				return simAction{}, fmt.Errorf("%s: %w", o.name, err)
			}
			return simAction{name: o.name, do: do}, nil
		}
	}
	scenario, ok := simNames()[words[0]]
	if !ok {
		scenario = drill.Scenario(words[0])
	}
	if _, err := drill.ParseScenario(string(scenario)); err != nil || scenario == drill.Quiet {
		return simAction{}, fmt.Errorf("unknown scenario %q, see help", words[0])
	}
	switch {
	case isCluster:
		return simAction{}, fmt.Errorf("%s is for a database, not for a cluster, see help", words[0])
	case scenario.Clustered():
		return simAction{}, fmt.Errorf("%s is for a cluster, which --shards makes", words[0])
	}
	opts, grace, err := parseOptions(words[1:])
	if err != nil {
		return simAction{}, err
	}
	return simAction{name: words[0], do: func(ctx context.Context, s *simulation) error {
		if grace == 0 {
			grace = s.grace
		}
		return scenario.Do(ctx, s.sim, grace, opts...)
	}}, nil
}
