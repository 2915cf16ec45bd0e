package account

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// balanced is the account of a drill in which nothing went wrong.
func balanced() *Result {
	return &Result{
		Scenario:       "rebind",
		Client:         "test",
		Commands:       Commands{Sent: 1000, Acknowledged: 1000},
		Incr:           Incr{Acknowledged: 300, Value: 300},
		PubSub:         PubSub{Published: 50, Received: 50},
		Watch:          Watch{Committed: 20, Conflicts: 7, Value: 20},
		Blocking:       Blocking{Pushed: 40, Served: 40},
		Notices:        Notices{Moving: 3},
		Errors:         map[string]int64{},
		AppErrors:      map[string]int64{},
		CompletedAfter: 100,
	}
}

// cut is the account of a cut in which everything happened that is allowed.
func cut() *Result {
	r := balanced()
	r.Scenario = "silent-cut"
	r.Notices = Notices{}
	r.Commands = Commands{Sent: 1000, Acknowledged: 990, Unknown: 10}
	r.Incr = Incr{Acknowledged: 300, Unknown: 5, Value: 303}
	r.PubSub = PubSub{Published: 50, Received: 47, Lost: 3, Unknown: 1}
	r.Watch = Watch{Committed: 20, Unknown: 1, Value: 21}
	r.Blocking = Blocking{Pushed: 40, Served: 38, Left: 1, Lost: 1, Unknown: 1}
	r.InFlightAtCut = 12
	r.RecoveryMS = 80
	return r
}

var (
	announced = Terms{Announced: true}
	cutTerms  = Terms{Cut: true, RecoveryMS: 1000}
)

func TestJudgeAcceptsWhatBalances(t *testing.T) {
	if p := Judge(balanced(), announced); len(p) > 0 {
		t.Errorf("balanced account: %q", p)
	}
	if p := Judge(cut(), cutTerms); len(p) > 0 {
		t.Errorf("cut account: %q", p)
	}
	r, all := cut(), cutTerms
	all.Unbounded, all.Down, all.Refused = true, true, true
	r.Commands = Commands{Sent: 1000, Acknowledged: 900, Unknown: 50, Failed: 50}
	r.IdempotentFailed, r.OvertakenReads, r.Watch.Failed, r.Blocking.Failed = 3, 3, 1, 1
	if p := Judge(r, all); len(p) > 0 {
		t.Errorf("chaos account: %q", p)
	}
	r = balanced()
	r.PubSub = PubSub{Published: 50, Received: 50, Reordered: 3}
	if p := Judge(r, Terms{Announced: true, Scattered: true}); len(p) > 0 {
		t.Errorf("account of a cluster's failover: %q", p)
	}
}

// Every rule can fail: each case breaks one, and exactly its sentence comes out.
func TestJudgeFindsEveryBrokenRule(t *testing.T) {
	tests := []struct {
		name  string
		from  func() *Result
		terms Terms
		edit  func(*Result)
		want  string
	}{
		{"wrong reply", balanced, announced, func(r *Result) { r.WrongReplies = 1 }, "1 reply was not the command's own."},
		{"stale read", balanced, announced, func(r *Result) { r.StaleReads = 2 }, "2 replies were older than"},
		{"overtaken", balanced, announced, func(r *Result) { r.OvertakenReads = 1 }, "1 GET was executed before a SET"},
		{"overtaken at a cut", cut, cutTerms, func(r *Result) { r.OvertakenReads = 2 }, "2 GETs were executed before a SET"},
		{"no order", balanced, announced, func(r *Result) { r.History.Violations = 1 }, "1 key has a history that no order"},
		{"value lost", balanced, announced, func(r *Result) { r.Values.Lost = 1 }, "1 key has not the value that was acknowledged last."},
		{"failed", balanced, announced, func(r *Result) { r.Commands.Failed, r.Commands.Sent = 3, 1003 }, "3 commands failed."},
		{"unknown", balanced, announced, func(r *Result) { r.Commands.Unknown, r.Commands.Sent = 1, 1001 }, "1 command was sent and not answered."},
		{"unanswered sums", balanced, announced, func(r *Result) { r.Commands.Sent = 1001 }, "The commands don't add up"},
		{"idempotent", balanced, announced, func(r *Result) { r.IdempotentFailed = 1 }, "1 single GET or SET did not succeed"},
		{"incr lost", balanced, announced, func(r *Result) { r.Incr.Value = 299 }, "The INCRs don't add up: 300 acknowledged, the counters have 299."},
		{"incr twice", balanced, announced, func(r *Result) { r.Incr.Value = 301 }, "The INCRs don't add up: 300 acknowledged, the counters have 301."},
		{"one counter up, one down", balanced, announced, func(r *Result) { r.Incr.Mismatched = 2 }, "2 counters are not what"},
		{"half a transaction", balanced, announced, func(r *Result) { r.SplitTransactions = 1 }, "1 MULTI/EXEC unit was executed in part."},
		{"message lost", balanced, announced, func(r *Result) { r.PubSub.Lost, r.PubSub.Received = 1, 49 }, "1 published message was lost."},
		{"message twice", balanced, announced, func(r *Result) { r.PubSub.Duplicated = 2 }, "2 messages were received twice."},
		{"message late", balanced, announced, func(r *Result) { r.PubSub.Reordered = 1 }, "1 message was received after a later one."},
		{"messages forgotten", balanced, announced, func(r *Result) { r.PubSub.Received = 40 }, "The messages don't add up"},
		{"deaf", balanced, announced, func(r *Result) { r.PubSub.Deaf = 1 }, "1 shard channel had no listener any more."},
		{"watch gave up", balanced, announced, func(r *Result) { r.Watch.Failed = 1 }, "1 optimistic transaction failed."},
		{"commit lost", balanced, announced, func(r *Result) { r.Watch.Value = 19 }, "The optimistic transactions don't add up: 20 committed, the counters have 19."},
		{"commit twice", balanced, announced, func(r *Result) { r.Watch.Value = 21 }, "The optimistic transactions don't add up"},
		{"blpop gave up", balanced, announced, func(r *Result) { r.Blocking.Failed = 1 }, "1 BLPOP failed."},
		{"exec unknown", balanced, announced, func(r *Result) { r.Watch.Unknown = 1 }, "1 EXEC was sent and not answered."},
		{"blpop unknown", balanced, announced, func(r *Result) { r.Blocking.Unknown = 2 }, "2 BLPOPs were sent and not answered."},
		{"items left", balanced, announced, func(r *Result) { r.Blocking.Served, r.Blocking.Left = 39, 1 }, "The list items don't add up: 40 pushed, 39 served, 1 left."},
		{"more messages than published", balanced, announced, func(r *Result) { r.PubSub.Received = 51 }, "The messages don't add up"},
		{"tried again", balanced, announced, func(r *Result) { r.AppRetries.PubSub = 1 }, "1 subscription was opened again by the application."},
		{"message lost without a word", cut, cutTerms, func(r *Result) { r.PubSub.Untold = 1 }, "1 published message was lost of which no subscriber was told."},
		{"item lost", balanced, announced, func(r *Result) { r.Blocking.Lost = 1 }, "1 list item was lost."},
		{"item twice", balanced, announced, func(r *Result) { r.Blocking.Duplicated = 1 }, "1 list item was served twice."},
		{"nobody told", balanced, announced, func(r *Result) { r.Notices = Notices{} }, "No connection was told anything"},
		{"storm", balanced, Terms{Announced: true, Redirects: 4}, func(r *Result) { r.Cluster.MovedPerSlot = 4.5 }, "4.5 commands were answered with MOVED"},
		{"dead after", balanced, announced, func(r *Result) { r.CompletedAfter = 0 }, "No command succeeded after the scenario."},
		{"more unknown than in flight", cut, cutTerms, func(r *Result) { r.InFlightAtCut = 11 }, "12 commands were not answered, more than the 11 in flight"},
		{"failed at a cut", cut, cutTerms, func(r *Result) { r.Commands.Failed, r.Commands.Sent = 1, 1001 }, "1 command failed."},
		{"incr lost at a cut", cut, cutTerms, func(r *Result) { r.Incr.Value = 299 }, "Acknowledged INCRs are lost"},
		{"incr twice at a cut", cut, cutTerms, func(r *Result) { r.Incr.Value = 306 }, "INCRs were executed twice"},
		{"commit lost at a cut", cut, cutTerms, func(r *Result) { r.Watch.Value = 19 }, "don't add up: 20 committed and 1 unknown, the counters have 19."},
		{"commit twice at a cut", cut, cutTerms, func(r *Result) { r.Watch.Value = 22 }, "don't add up: 20 committed and 1 unknown, the counters have 22."},
		{"items lost at a cut", cut, cutTerms, func(r *Result) { r.Blocking.Lost = 2 }, "2 list items were lost, more than the 1 BLPOPs"},
		{"slow recovery", cut, cutTerms, func(r *Result) { r.RecoveryMS = 1001 }, "A worker's next command took 1001 ms"},
		{"no recovery", cut, cutTerms, func(r *Result) { r.NotRecovered = 1 }, "1 worker had no successful command after the cut."},
		{"incomplete", balanced, Terms{Announced: true, Incomplete: []string{"Interrupted."}}, func(*Result) {}, "Interrupted."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.from()
			tt.edit(r)
			got := Judge(r, tt.terms)
			if len(got) != 1 || !strings.Contains(got[0], tt.want) {
				t.Errorf("problems = %q, want one with %q", got, tt.want)
			}
		})
	}
}

// What was felt and is allowed for is said.
func TestAllowedSaysWhatWasFelt(t *testing.T) {
	if a := Allowed(balanced(), announced); len(a) > 0 {
		t.Errorf("balanced account: %q", a)
	}
	r := cut()
	r.PubSub.Gaps = 2
	got := strings.Join(Allowed(r, cutTerms), "\n")
	for _, want := range []string{"10 commands that can't be repeated", "1 EXEC has no answer", "1 BLPOP has no answer", "1 list items are lost", "3 published messages were lost", "2 gaps"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// The keys of the JSON are an interface: scripts read them.
func TestJSONKeysAreStable(t *testing.T) {
	r := balanced()
	r.Errors["read: i/o timeout"] = 1
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var keys []string
	d := json.NewDecoder(&b)
	if err := listKeys(d, "", &keys); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(keys, "\n") + "\n"
	const golden = "testdata/keys.golden"
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// listKeys appends the path of every key of the value that comes next, in order.
func listKeys(d *json.Decoder, path string, keys *[]string) error {
	tok, err := d.Token()
	if err != nil {
		return err
	}
	switch tok {
	case json.Delim('{'):
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return err
			}
			p := strings.TrimPrefix(path+"."+k.(string), ".")
			*keys = append(*keys, p)
			if err := listKeys(d, p, keys); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for d.More() {
			if err := listKeys(d, path+"[]", keys); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = d.Token()
	return err
}

func TestTableShowsVerdictAndProblems(t *testing.T) {
	r := balanced()
	r.OK = true
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); !strings.Contains(s, "\nOK: ") || strings.Contains(s, "NOT OK") {
		t.Errorf("table of a good run:\n%s", s)
	}
	r.OK, r.Problems = false, []string{"3 commands failed."}
	r.Errors = map[string]int64{"incr: i/o timeout": 3}
	b.Reset()
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NOT OK", "3 commands failed.", "incr: i/o timeout", "1,000 sent"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the table:\n%s", want, b.String())
		}
	}
}

func TestNumbersReadWell(t *testing.T) {
	for v, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := Thousands(v); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[int64]string{7: "7 µs", 1500: "1.50 ms", 15_000: "15.0 ms", 150_000: "150 ms", 3_020_000: "3020 ms", 12_000_000: "12.0 s"} {
		if got := Micros(v); got != want {
			t.Errorf("Micros(%d) = %q, want %q", v, got, want)
		}
	}
}
