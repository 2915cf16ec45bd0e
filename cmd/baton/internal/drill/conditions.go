package drill

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// Conditions make a scenario harder than it has to be: notices in other forms, bad
// targets, bytes in pieces. The zero value makes nothing harder.
type Conditions struct {
	// Variants are other forms of notices.
	Variants []maintsim.Variant
	// Duplicates sends every notice twice.
	Duplicates bool
	// Reordered is the fraction of connections told the closing notice first.
	Reordered float64
	// LostClosings leaves out MIGRATED and FAILED_OVER.
	LostClosings bool
	// LostOpenings is the fraction of connections not told an opening notice.
	LostOpenings float64
	// Repeated tells connections at the target of the move that led there.
	Repeated bool
	// Retained is a completion of long ago that every connection is told.
	Retained Retained

	// Target is what is wrong with the target of a move.
	Target TargetFault
	// Linger is how long an old endpoint serves beyond its deadline.
	Linger maintsim.Range
	// Resolver is when after MOVING the name leads to the target; zero is the
	// simulator's default.
	Resolver maintsim.Range
	// TakeOver is when in its window another node takes over an address, as a fraction
	// of the grace time; 0 is the simulator's default.
	TakeOver float64
	// Ending is how connections end.
	Ending maintsim.CloseMode

	// RefuseOptIn and CloseOnOptIn take the opt-in away for a while.
	RefuseOptIn, CloseOnOptIn Denial
	// HandshakePush is sent between the replies of a handshake.
	HandshakePush string
	// AnnounceAfter is behind how many replies of a handshake notices come.
	AnnounceAfter int
	// Writes says in which pieces bytes come.
	Writes maintsim.Writes

	// Protocol is the client's RESP version; 0 is 3.
	Protocol int
	// TLS encrypts, with a certificate that has names only.
	TLS bool
	// IPv6 gives proxies IPv6 addresses.
	IPv6 bool
	// OwnPorts gives each proxy a port of its own.
	OwnPorts bool
	// Records is how many addresses the database's name has; 0 is what the scenario
	// needs.
	Records int
}

// A TargetFault is what is wrong with the target of a move, and for how long.
type TargetFault struct {
	Fault maintsim.Fault
	// For is how long; 0 is until the old endpoint has closed.
	For time.Duration
}

// A Retained completion is what connections are told when they opt in; Notice is
// empty for none.
type Retained struct {
	Notice maintsim.Notice
	Seq    int64
}

// A Denial is how long the opt-in is denied: 0 is not at all, negative for good.
type Denial time.Duration

// options are those of every run of a scenario.
func (c Conditions) options() []maintsim.Option {
	var opts []maintsim.Option
	add := func(is bool, o maintsim.Option) {
		if is {
			opts = append(opts, o)
		}
	}
	add(len(c.Variants) > 0, maintsim.WithVariant(c.Variants...))
	add(c.Duplicates, maintsim.WithDuplicates())
	add(c.Reordered > 0, maintsim.WithReordered(c.Reordered))
	add(c.LostClosings, maintsim.WithoutClosing())
	add(c.LostOpenings > 0, maintsim.WithOpeningsTo(1-c.LostOpenings))
	add(c.Repeated, maintsim.WithRepeatOnTarget())
	add(c.Target.Fault != maintsim.FaultNone, maintsim.WithTargetFault(c.Target.Fault, c.Target.For))
	add(c.TakeOver > 0, maintsim.WithTakeOver(c.TakeOver))
	return opts
}

// Apply writes what holds for a whole simulator into cfg, which has its number of
// proxies.
func (c Conditions) Apply(cfg *maintsim.Config) {
	cfg.Linger, cfg.ResolverChange, cfg.CloseMode = c.Linger, c.Resolver, c.Ending
	cfg.HandshakePush, cfg.AnnounceAfter, cfg.Writes = c.HandshakePush, c.AnnounceAfter, c.Writes
	cfg.OwnPorts = c.OwnPorts
	cfg.Records = max(c.Records, 1)
	if c.IPv6 && len(cfg.Hosts) == 0 {
		cfg.Hosts = ipv6Hosts(cfg.Proxies, c.OwnPorts)
	}
}

// Begin does to sim what its configuration has no field for. It returns after which
// time the opt-in is to be accepted again; 0 is never.
func (c Conditions) Begin(sim *maintsim.Sim) (accept time.Duration) {
	switch {
	case c.RefuseOptIn != 0:
		sim.Refuse()
	case c.CloseOnOptIn != 0:
		sim.CloseOnOptIn()
	}
	if c.Retained.Notice != "" {
		// Of long ago: what comes now has higher numbers.
		sim.SetSeq(c.Retained.Seq + 1)
		sim.Retain(c.Retained.Notice, c.Retained.Seq)
	}
	return max(time.Duration(c.RefuseOptIn), time.Duration(c.CloseOnOptIn), 0)
}

// Check returns everything that is wrong with c itself.
func (c Conditions) Check() error {
	var errs []error
	c.validate(func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	})
	return errors.Join(errs...)
}

// ipv6Hosts are addresses for n proxies. There is only one IPv6 address of the
// loopback; where ports are shared, it is the second proxy's, so that moves lead from
// one family to the other.
func ipv6Hosts(n int, ownPorts bool) []string {
	hosts := make([]string, n)
	for i := range hosts {
		hosts[i] = "127.0.0." + strconv.Itoa(i+1)
		if ownPorts || i == min(1, n-1) {
			hosts[i] = "::1"
		}
	}
	return hosts
}

// validate reports what is wrong with c itself.
func (c Conditions) validate(bad func(is bool, format string, args ...any)) {
	fraction := func(flag string, f float64) { bad(f < 0 || f > 1, "%s %v, want 0 to 1", flag, f) }
	fraction("--reordered", c.Reordered)
	fraction("--lost-openings", c.LostOpenings)
	fraction("--take-over", c.TakeOver)
	bad(c.Protocol != 0 && c.Protocol != 2 && c.Protocol != 3, "--protocol %d, want 2 or 3", c.Protocol)
	bad(c.Records < 0 || c.Records > 16, "--records %d, want 1 to 16", c.Records)
	bad(c.Writes.MaxPiece < 0, "--split-writes %d is negative", c.Writes.MaxPiece)
	bad(c.Writes.Gather < 0, "--gather-writes %v is negative", c.Writes.Gather)
	bad(c.AnnounceAfter < 0, "--announce-after %d is negative", c.AnnounceAfter)
	bad(c.Linger.Min < 0, "--linger %v is negative", c.Linger.Min)
	bad(c.RefuseOptIn != 0 && c.CloseOnOptIn != 0, "--refuse-opt-in and --close-on-opt-in exclude each other")
}

// names are the texts of values, for messages.
func names[T ~string](values []T) string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return strings.Join(out, ", ")
}

// ParseVariants reads names of variants, with commas between them.
func ParseVariants(text string) ([]maintsim.Variant, error) {
	var out []maintsim.Variant
	for name := range strings.SplitSeq(text, ",") {
		v := maintsim.Variant(name)
		if !slices.Contains(maintsim.Variants(), v) {
			return nil, fmt.Errorf("unknown variant %q, want some of %s", name, names(maintsim.Variants()))
		}
		out = append(out, v)
	}
	return out, nil
}

// ParseFault reads the name of a fault.
func ParseFault(text string) (maintsim.Fault, error) {
	if f := maintsim.Fault(text); slices.Contains(maintsim.Faults(), f) {
		return f, nil
	}
	return "", fmt.Errorf("unknown fault %q, want one of %s", text, names(maintsim.Faults()))
}

// ParseTargetFault reads KIND or KIND:DURATION.
func ParseTargetFault(text string) (TargetFault, error) {
	kind, duration, limited := strings.Cut(text, ":")
	f, err := ParseFault(kind)
	if err != nil || !limited {
		return TargetFault{Fault: f}, err
	}
	d, err := time.ParseDuration(duration)
	if err != nil || d <= 0 {
		return TargetFault{}, fmt.Errorf("fault %s for %q, want a time such as 2s", kind, duration)
	}
	return TargetFault{Fault: f, For: d}, nil
}

// ParseEnding reads how connections end.
func ParseEnding(text string) (maintsim.CloseMode, error) {
	switch text {
	case "fin":
		return maintsim.CloseFIN, nil
	case "rst":
		return maintsim.CloseRST, nil
	case "silent":
		return maintsim.CloseSilent, nil
	}
	return maintsim.CloseDefault, fmt.Errorf("unknown ending %q, want one of fin, rst, silent", text)
}

// ParseRetained reads SEQ or NOTICE:SEQ.
func ParseRetained(text string) (Retained, error) {
	notice, seq, named := strings.Cut(text, ":")
	if !named {
		notice, seq = string(maintsim.Migrated), text
	}
	n, err := strconv.ParseInt(seq, 10, 64)
	r := Retained{Notice: maintsim.Notice(strings.ToUpper(notice)), Seq: n}
	if err != nil || n < 0 || r.Notice != maintsim.Migrated && r.Notice != maintsim.FailedOver {
		return Retained{}, fmt.Errorf("%q, want a number, or one of MIGRATED:number, FAILED_OVER:number", text)
	}
	return r, nil
}

// ParseDenial reads how long something is denied.
func ParseDenial(text string) (Denial, error) {
	if text == "always" {
		return -1, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q, want always, or a time such as 2s", text)
	}
	return Denial(d), nil
}

// Frames of pushes that are no maintenance notifications.
func handshakePushes() (kinds, frames []string) {
	return []string{"invalidate", "message", "unknown", "stale-migrated"},
		[]string{
			">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nkey\r\n",
			">3\r\n$7\r\nmessage\r\n$7\r\nchannel\r\n$4\r\ntext\r\n",
			">2\r\n$7\r\nTHE-SKY\r\n$4\r\nblue\r\n",
			">3\r\n$8\r\nMIGRATED\r\n:0\r\n$1\r\n1\r\n",
		}
}

// ParseHandshakePush reads the kind of a push, or a frame of RESP3 with \r\n as its
// ends of lines.
func ParseHandshakePush(text string) (string, error) {
	kinds, frames := handshakePushes()
	if i := slices.Index(kinds, text); i >= 0 {
		return frames[i], nil
	}
	if frame, err := ParseFrame(text); err == nil {
		return frame, nil
	}
	return "", fmt.Errorf(`unknown push %q, want one of %s, or a frame such as >1\r\n+X\r\n`, text, strings.Join(kinds, ", "))
}

// ParseFrame reads a push written with \r\n as its ends of lines.
func ParseFrame(text string) (string, error) {
	frame, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	if err != nil || !strings.HasPrefix(frame, ">") || !strings.HasSuffix(frame, "\r\n") {
		return "", errors.New(`a push begins with > and ends with \r\n`)
	}
	return frame, nil
}

// ParseTimings reads "measured" or "measured:SCALE", the timing of the real product.
func ParseTimings(text string) (maintsim.Config, error) {
	name, scale, scaled := strings.Cut(text, ":")
	f := 1.0
	if scaled {
		var err error
		if f, err = strconv.ParseFloat(scale, 64); err != nil {
			f = 0
		}
	}
	if name != "measured" || f < 0.05 || f > 10 {
		return maintsim.Config{}, fmt.Errorf("unknown timings %q, want measured or measured:SCALE with a scale of 0.05 to 10, such as measured:0.2", text)
	}
	return maintsim.MeasuredTimings(f), nil
}

// ParseLinger reads how long an old endpoint serves beyond its deadline.
func ParseLinger(text string) (maintsim.Range, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return maintsim.Range{}, fmt.Errorf("%q, want a time such as 1s", text)
	}
	return maintsim.Range{Min: d, Max: d}, nil
}
