package redis

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/resp"
)

// commander is what commands are called on in the tests.
type commander struct {
	cmdable
	statefulCmdable
}

// A commandCase is one call of a command method.
type commandCase struct {
	name string // unique among all
	// setup are commands, as words, that make what call needs.
	setup []string
	call  func(c commander) Cmder
	// args are the words that are to be sent; exact is for words with spaces or none.
	args  string
	exact []string
	// want is the value, []any of several, an error, or a func(any) bool.
	want any
	// since is the first Redis with the command, valkey the first Valkey ("" : as
	// Redis 7.2, "-": none).
	since  string
	valkey string
	// r2 and r3 are replies, where no server that is tested with knows the command, or its
	// reply is too long to be recorded.
	r2, r3 string
	// cluster says that the server must be a node of a cluster, the one with slot 0.
	cluster bool
	// undo are commands that undo what the call has done.
	undo []string
	// unfit says that the command is not to be run on servers.
	unfit bool
	// alone says that it is not to be run behind another command: Redis 8.0.2 and
	// Valkey 8.0.1 lose the error reply of an AUTH there.
	alone bool
}

// commandCases are the cases of all groups.
func commandCases() []commandCase {
	return slices.Concat(
		stringCases(), stringCondCases(), genericCases(), bitmapCases(), hashCases(), hashTTLCases(), listCases(),
		setCases(), zsetCases(), zsetRangeCases(), scriptCases(), pubSubCases(), serverCases(), clientCases(),
		streamCases(), streamGroupCases(), streamInfoCases(), geoCases(),
		inModule(jsonCases()), inModule(jsonPathCases()), inModule(timeseriesCases()), inModule(timeseriesRangeCases()),
		inModule(bloomCases()), inModule(cuckooCases()), inModule(sketchCases()), inModule(tdigestCases()),
		vectorCases(), vectorSearchCases(),
		aclCases(),
		clusterCases(),
		functionCases(),
		arrayCases(),
		adminCases(), connectionCases(),
		searchIndexCases(), searchCreateCases(), searchQueryCases(), searchAggregateCases(), searchHybridCases(),
	)
}

// inModule marks cases of commands of a module, which no server that is tested with has.
func inModule(cases []commandCase) []commandCase {
	for i := range cases {
		cases[i].unfit = true
	}
	return cases
}

// captured is a command as it was given to the client.
func captured(t *testing.T, tc commandCase) Cmder {
	t.Helper()
	var got Cmder
	take := func(_ context.Context, cmd Cmder) error {
		if got != nil {
			t.Errorf("a second command: %v", cmd)
		}
		got = cmd
		return nil
	}
	if ret := tc.call(commander{take, take}); ret != got {
		t.Errorf("the command that was given to the client is not the one returned")
	}
	return got
}

func (tc commandCase) wantArgs() []string {
	if tc.exact != nil {
		return tc.exact
	}
	return strings.Fields(tc.args)
}

// feed gives a reply to a command, as the client does.
func feed(cmd Cmder, frame string) *resp.Reader {
	r := resp.NewReader([]byte(frame))
	cmd.base().settle(cmd.readReply(&r))
	settleRaw([]Cmder{cmd})
	return &r
}

// valueOf is what Result gives: the value, []any of several, or the error.
func valueOf(cmd Cmder) any {
	out := reflect.ValueOf(cmd).MethodByName("Result").Call(nil)
	if err := cmd.Err(); err != nil {
		return err
	}
	if len(out) == 2 {
		return out[0].Interface()
	}
	list := make([]any, len(out)-1)
	for i := range list {
		list[i] = out[i].Interface()
	}
	return list
}

// compare reports where a command's value is not what is wanted.
func compare(t *testing.T, how string, cmd Cmder, want any) {
	t.Helper()
	got := valueOf(cmd)
	switch want := want.(type) {
	case func(any) bool:
		if !want(got) {
			t.Errorf("%s: got %#v, which is not wanted", how, got)
		}
	case error:
		err, _ := got.(error)
		if err == nil || !errors.Is(err, want) && !strings.HasPrefix(err.Error(), want.Error()) {
			t.Errorf("%s: got %#v, want error %v", how, got, want)
		}
	default:
		if err, ok := got.(error); ok {
			t.Errorf("%s: got error %v, want %#v", how, err, want)
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: value (-want +got):\n%s", how, diff)
		}
	}
}

func TestCommandsEncode(t *testing.T) {
	seen := map[string]bool{}
	for _, tc := range commandCases() {
		t.Run(tc.name, func(t *testing.T) {
			if seen[tc.name] {
				t.Error("the name is taken")
			}
			seen[tc.name] = true
			cmd := captured(t, tc)
			want := tc.wantArgs()
			var wire bytes.Buffer
			fmt.Fprintf(&wire, "*%d\r\n", len(want))
			var args []any
			for _, a := range want {
				fmt.Fprintf(&wire, "$%d\r\n%s\r\n", len(a), a)
				args = append(args, a)
			}
			if got := string(cmd.base().wire()); got != wire.String() {
				t.Errorf("sent %q, want %q", got, wire.String())
			}
			if diff := cmp.Diff(args, cmd.Args()); diff != "" {
				t.Errorf("Args (-want +got):\n%s", diff)
			}
			if cmd.Err() != nil {
				t.Errorf("error before it was sent: %v", cmd.Err())
			}
			if got := cmd.Name(); got != want[0] {
				t.Errorf("Name is %q, want %q", got, want[0])
			}
			blocks := cmd.base().flags()&flagBlocking != 0
			if strings.HasSuffix(strings.TrimSuffix(cmd.Name(), "group"), "read") && !cmd.base().hasOption(1, "block") {
				blocks = false
			}
			_, writes := cmd.(*RawWriteToCmd) // its writer may block
			if got := cmd.base().lane == laneExclusive; got != blocks && cmd.Name() != "migrate" && !writes {
				t.Errorf("blocking: %v, but the table says %v", got, blocks)
			}
			if got, want := cmd.base().lane == laneSession, cmd.base().flags()&flagSession != 0; got != want {
				t.Errorf("session: %v, but the table says %v", got, want)
			}
		})
	}
}

// repliesFile holds what a server has answered; see TestRecordReplies.
const repliesFile = "testdata/replies.txt"

// recordedReplies are the recordings by case and protocol.
func recordedReplies(t testing.TB) map[string][2]string {
	t.Helper()
	b, err := os.ReadFile(repliesFile)
	if err != nil {
		t.Fatal(err)
	}
	replies := map[string][2]string{}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		q2, err := strconv.QuotedPrefix(rest)
		if err != nil {
			t.Fatalf("%s: %q: %v", repliesFile, line, err)
		}
		r2, _ := strconv.Unquote(q2)
		r3, err := strconv.Unquote(strings.TrimSpace(rest[len(q2):]))
		if err != nil {
			t.Fatalf("%s: %q: %v", repliesFile, line, err)
		}
		replies[name] = [2]string{r2, r3}
	}
	return replies
}

func TestCommandsReadReplies(t *testing.T) {
	recorded := recordedReplies(t)
	for _, tc := range commandCases() {
		t.Run(tc.name, func(t *testing.T) {
			replies, ok := recorded[tc.name]
			if tc.r2 != "" {
				replies = [2]string{tc.r2, tc.r3}
				ok = true
			}
			if !ok {
				t.Fatalf("no reply is recorded in %s", repliesFile)
			}
			for i, frame := range replies {
				cmd := captured(t, tc)
				if frame == "" { // the same in RESP3
					frame = replies[0]
				}
				feed(cmd, frame)
				compare(t, fmt.Sprintf("RESP%d %q", i+2, frame), cmd, tc.want)
				if !strings.Contains(cmd.String(), ": ") {
					t.Errorf("String is %q", cmd.String())
				}
				for n := range frame { // cut short
					cmd := captured(t, tc)
					feed(cmd, frame[:n])
					if cmd.Err() == nil && n == 0 {
						t.Errorf("no error for an empty reply")
					}
					if err := cmd.Err(); err != nil && !errors.Is(err, resp.ErrProtocol) && !anyError(tc.want) && n > 0 &&
						!isTypeError(err) {
						t.Errorf("reply cut to %q: error %v", frame[:n], err)
					}
				}
			}
		})
	}
}

func anyError(v any) bool { _, ok := v.(error); return ok }

func isTypeError(err error) bool {
	_, ok := errors.AsType[*resp.TypeError](err)
	return ok
}

// oddReplies are sound values that few commands answer, and hostile ones.
var oddReplies = []string{
	"+text\r\n", ":7\r\n", "$0\r\n\r\n", "$3\r\nabc\r\n", "*0\r\n", "*1\r\n*0\r\n", "*2\r\n:1\r\n:2\r\n",
	"*2\r\n$1\r\na\r\n_\r\n", "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n", "*1\r\n-ERR inside\r\n", "%1\r\n+k\r\n*1\r\n%0\r\n",
	"%1\r\n*0\r\n+v\r\n", "~2\r\n+a\r\n+b\r\n", ">1\r\n+a\r\n", "#t\r\n", "#f\r\n", ",1.5\r\n", ",inf\r\n", ",nan\r\n",
	"(123456789012345678901234567890\r\n", "=7\r\ntxt:abc\r\n", "*2\r\n*2\r\n+a\r\n+b\r\n+c\r\n", "*2\r\n:0\r\n*1\r\n*1\r\n*0\r\n",
	"*2\r\n+a\r\n*2\r\n+m\r\n+x\r\n", "*4\r\n*1\r\n+a\r\n*1\r\n+b\r\n*3\r\n+a\r\n+b\r\n+c\r\n*0\r\n",
	"*1000000000\r\n", "%1000000000\r\n", "*2\r\n+0\r\n*1000000000\r\n", "$1000000000\r\nab", "", "\r\n", "nonsense\r\n",
	"|1\r\n+ttl\r\n:3\r\n:7\r\n", "*2\r\n*1000000\r\n*1000000\r\n",
}

func TestCommandsSurviveOddReplies(t *testing.T) {
	for _, tc := range commandCases() {
		for _, frame := range oddReplies {
			cmd := captured(t, tc)
			feed(cmd, frame)
			err := cmd.Err()
			if frame == "" && err == nil {
				t.Errorf("%s: no error for an empty reply", tc.name)
			}
			if err != nil && !errors.Is(err, Nil) && !errors.Is(err, resp.ErrProtocol) && !isTypeError(err) &&
				!HasErrorPrefix(err, "ERR inside") && !strings.Contains(err.Error(), "unexpected reply") {
				t.Errorf("%s: %q: error %v (%T)", tc.name, frame, err, err)
			}
		}
	}
}

func TestCommandsGiveNullsAndErrors(t *testing.T) {
	for _, tc := range commandCases() {
		switch captured(t, tc).(type) {
		case *RawCmd, *RawWriteToCmd: // whose replies they are
			continue
		}
		for _, null := range []string{"_\r\n", "$-1\r\n", "*-1\r\n"} {
			cmd := captured(t, tc)
			feed(cmd, null)
			var want any = Nil
			if _, ok := cmd.(*BoolCmd); ok {
				want = false
			}
			compare(t, tc.name+": null", cmd, want)
		}
		for frame, text := range map[string]string{
			"-WRONGTYPE Operation against a key\r\n": "WRONGTYPE Operation against a key",
			"!9\r\nERR a\r\nbc\r\n":                  "ERR a\r\nbc",
		} {
			cmd := captured(t, tc)
			feed(cmd, frame)
			if err := cmd.Err(); err == nil || err.Error() != text {
				t.Errorf("%s: got error %v, want %q", tc.name, err, text)
			} else if _, ok := errors.AsType[Error](err); !ok {
				t.Errorf("%s: the error %T is none of the server", tc.name, err)
			}
		}
	}
}

// TestCommandsHaveCases makes sure that no method is without a case.
func TestCommandsHaveCases(t *testing.T) {
	called := map[string]bool{"DoRaw": true, "DoRawWriteTo": true} // any command: TestDoRaw
	for _, tc := range commandCases() {
		method, _, _ := strings.Cut(tc.name, "/")
		called[method] = true
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[cmdable](), reflect.TypeFor[statefulCmdable]()} {
		for m := range typ.Methods() {
			if !called[m.Name] && m.Name != "Monitor" && m.Name != "FTExplainCli" { // which have no reply
				t.Errorf("%s has no case", m.Name)
			}
		}
	}
}

var recordFlag = flag.Bool("record", false, "record the replies of a real server in "+repliesFile)

// within tells whether a duration is close below another.
func within(d time.Duration) func(any) bool {
	return func(got any) bool {
		v, ok := got.(time.Duration)
		return ok && v <= d && v > d-time.Minute
	}
}

// bg is the context of the cases.
var bg = context.Background()
