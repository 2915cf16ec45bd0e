package maintnotifications

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

var traceStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestTraces runs testdata/*.trace: notices and other events in, decisions out.
// go test -rewrite writes the decisions anew.
//
// "machine addr=... [retries=n] [post=d] [handoff=d] [jitter=share]" makes a
// machine, and "events" tells it, line by line, what happens at which time:
//
//	<time> up <link> <peer or -> [<addr>]
//	<time> down <link>
//	<time> notice <link> <name> <args...>    _ is null
//	<time> resolved <ip>... | resolved error
//	<time> done <op> <link> ok|error|breaker|full
//	<time> dial | state | pass
//
// Between two events the machine gets the ticks it asks for.
func TestTraces(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".trace") {
			return
		}
		var tr *tracer
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "machine":
				tr = newTracer(t, d)
				return ""
			case "events":
				tr.t, tr.d = t, d
				for line := range strings.Lines(d.Input) {
					tr.event(strings.Fields(line))
				}
				out := tr.out.String()
				tr.out.Reset()
				return out
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

type tracer struct {
	t    *testing.T
	d    *datadriven.TestData
	m    *Machine
	addr string
	out  strings.Builder
}

func newTracer(t *testing.T, d *datadriven.TestData) *tracer {
	t.Helper()
	var cfg MachineConfig
	d.ScanArgs(t, "addr", &cfg.Addr)
	d.MaybeScanArgs(t, "retries", &cfg.MaxHandoffRetries)
	for name, field := range map[string]*time.Duration{
		"post": &cfg.PostHandoffRelaxedDuration, "handoff": &cfg.HandoffTimeout,
	} {
		var s string
		if d.MaybeScanArgs(t, name, &s) {
			*field = duration(t, s)
		}
	}
	if d.HasArg("jitter") {
		cfg.Jitter = func(limit time.Duration) time.Duration { return limit / 2 }
	}
	return &tracer{t: t, d: d, m: NewMachine(cfg), addr: cfg.Addr}
}

func duration(t *testing.T, s string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (tr *tracer) event(f []string) {
	tr.t.Helper()
	at := traceStart.Add(duration(tr.t, f[0]))
	tr.ticksUntil(at)
	args := f[2:]
	switch f[1] {
	case "up":
		info := LinkInfo{ID: tr.link(args[0]), Addr: tr.addr}
		if args[1] != "-" {
			info.Peer = args[1]
		}
		if len(args) > 2 {
			info.Addr = args[2]
		}
		tr.print(at, tr.m.LinkUp(at, info))
	case "down":
		tr.print(at, tr.m.LinkDown(at, tr.link(args[0])))
	case "notice":
		frame := make([]any, 0, len(args))
		for _, a := range args[1:] {
			frame = append(frame, traceArg(a))
		}
		n, err := ParseNotice(frame)
		if err != nil {
			tr.d.Fatalf(tr.t, "%v", err)
		}
		tr.print(at, tr.m.Notice(at, tr.link(args[0]), n))
	case "resolved":
		if args[0] == "error" {
			tr.print(at, tr.m.Resolved(at, nil, errors.New("no such host")))
		} else {
			tr.print(at, tr.m.Resolved(at, args, nil))
		}
	case "done":
		tr.print(at, tr.m.HandoffDone(at, traceOp(args[0]), tr.link(args[1]), traceErr(args[2])))
	case "dial":
		tr.printf(at, "dial %s", strings.Join(tr.m.DialTargets(at), " "))
	case "state":
		next := "never"
		if n, ok := tr.m.Next(); ok {
			next = n.Sub(traceStart).String()
		}
		tr.printf(at, "relaxed=%v active=%v next=%s", tr.m.Relaxed(), tr.m.Active(), next)
	case "pass":
	default:
		tr.d.Fatalf(tr.t, "unknown event %q", f[1])
	}
}

func (tr *tracer) ticksUntil(at time.Time) {
	tr.t.Helper()
	for range 10000 {
		next, ok := tr.m.Next()
		if !ok || next.After(at) {
			return
		}
		tr.print(next, tr.m.Tick(next))
		if again, ok := tr.m.Next(); ok && !again.After(next) {
			tr.d.Fatalf(tr.t, "Next is %v again after Tick", next.Sub(traceStart))
		}
	}
	tr.d.Fatalf(tr.t, "endless ticks")
}

func (tr *tracer) print(at time.Time, acts []Action) {
	for _, a := range acts {
		tr.printf(at, "%s", a)
	}
}

func (tr *tracer) printf(at time.Time, format string, args ...any) {
	fmt.Fprintf(&tr.out, "%v "+format+"\n", append([]any{at.Sub(traceStart)}, args...)...)
}

func (tr *tracer) link(s string) LinkID {
	id, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		tr.d.Fatalf(tr.t, "%v", err)
	}
	return LinkID(id)
}

func traceArg(s string) any {
	if s == "_" {
		return nil
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i
	}
	if after, ok := strings.CutPrefix(s, "moves:"); ok { // moves:src>dst=slots
		src, rest, _ := strings.Cut(after, ">")
		dst, slots, _ := strings.Cut(rest, "=")
		return []any{[]any{src, dst, slots}}
	}
	return s
}

func traceOp(s string) OpKey {
	seq, target, _ := strings.Cut(s, ">")
	n, _ := strconv.ParseInt(seq, 10, 64)
	if target == "none" {
		target = ""
	}
	return OpKey{Seq: n, Target: target}
}

func traceErr(s string) error {
	switch s {
	case "ok":
		return nil
	case "breaker":
		return fmt.Errorf("dial: %w", ErrCircuitBreakerOpen)
	case "full":
		return ErrHandoffQueueFull
	}
	return errors.New("connection refused")
}
