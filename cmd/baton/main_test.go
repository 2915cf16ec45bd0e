package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/baton-go/redis/cmd/baton/internal/account"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// baton runs the program and returns what it leaves.
func baton(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// Bad usage is told clearly, with an exit code of its own and before anything is
// started.
func TestBadUsage(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"drll", `^baton: unknown command "drll"\nSee "baton --help"`},
		{"drill now", `^baton: unknown command "now" for "baton drill"\nSee "baton drill --help"`},
		{"drill --scenaro rebind", `unknown flag: --scenaro`},
		{"drill --workers many", `invalid argument "many" for "--workers"`},
		{"drill --duration 5", `invalid argument "5" for "--duration"`},
		{"drill --scenario reboot", `unknown scenario "reboot", want one of rolling-upgrade, migrate, failover, rebind, rebind-none, take-over, overlapping-moves, failover-cut, silent-cut, outage, restart, demotion, dns-change, shrink, maintenance-mode, slot-migrate, cluster-failover, reshard, sentinel-failover, discovery-switch, ring, chaos, quiet`},
		{"drill --server /no/such/server", `--server "/no/such/server" is neither`},
		{"drill --server localhost:port", `--server "localhost:port" is neither`},
		{"drill --workers 7", `7 workers, want 8`},
		{"drill --maintnotifications on", `unknown mode of maintenance notifications "on", want auto, enabled or disabled`},
		{"drill --duration 2s", `--duration 2s is too short`},
		{"drill --json no/such/folder/x.json", `--json: open`},
		{"drill --report no/such/folder/x.html", `--report: open`},
		{"drill --report -", `--report wants a file`},
		{"sim --schedule migrate,dance", `--schedule: unknown scenario "dance"`},
		{"sim --schedule quiet", `--schedule: unknown scenario "quiet"`},
		{"sim --every -1s", `--every -1s is negative`},
		{"sim --hosts 8.8.8.8", `no loopback address`},
		{"sim --server nothing", `--server "nothing" is neither`},
		{"drill --variant seq-text,bold", `unknown variant "bold", want some of no-endpoint, null-text`},
		{"drill --target-fault sick:2s", `unknown fault "sick", want one of refuse, unreachable, hang`},
		{"drill --target-fault hang:-2s", `fault hang for "-2s", want a time`},
		{"drill --scenario migrate --target-fault hang", `--target-fault is for scenarios that move to another node, not for migrate`},
		{"drill --ending softly", `unknown ending "softly", want one of fin, rst, silent`},
		{"drill --retained MOVING:3", `"MOVING:3", want a number, or one of MIGRATED:number, FAILED_OVER:number`},
		{"drill --reordered 1.5", `--reordered 1.5, want 0 to 1`},
		{"drill --lost-openings -1", `--lost-openings -1, want 0 to 1`},
		{"drill --refuse-opt-in sometimes", `"sometimes", want always, or a time`},
		{"drill --refuse-opt-in always --close-on-opt-in 1s", `exclude each other`},
		{"drill --maintnotifications enabled --close-on-opt-in 1s", `doesn't work without the opt-in`},
		{"drill --handshake-push x", `unknown push "x", want one of invalidate, message, unknown, stale-migrated`},
		{"drill --protocol 4", `--protocol 4, want 2 or 3`},
		{"drill --records 99", `--records 99, want 1 to 16`},
		{"drill --scenario shrink --records 1", `--records 1: shrink needs at least 2`},
		{"drill --scenario demotion --own-ports", `--own-ports: a name can't lead to another port`},
		{"drill --split-writes -1", `--split-writes -1 is negative`},
		{"drill --linger -1s", `"-1s", want a time`},
		{"drill --timings fast", `unknown timings "fast", want measured or measured:SCALE`},
		{"drill --timings measured:0", `unknown timings "measured:0"`},
		{"drill --scenario chaos --chaos some", `unknown chaos "some", want announced or all`},
		{"drill --scenario chaos --chaos-only dance", `unknown chaos action "dance", want some of migrate, failover`},
		{"drill --chaos-only cut", `--chaos-only is for the scenario chaos`},
		{"drill --scenario slot-migrate --server 127.0.0.1:6379", `--server 127.0.0.1:6379: the scenario slot-migrate makes a cluster of its own`},
		{"drill --steps 3", `are for the scenarios slot-migrate, cluster-failover, reshard, not for rolling-upgrade`},
		{"drill --scenario reshard --steps 3", `--steps is for slot-migrate, not for reshard`},
		{"drill --scenario slot-migrate --shards 1", `--shards 1, want 2 to 16`},
		{"drill --scenario slot-migrate --replicas 9", `--replicas 9, want 0 to 3`},
		{"drill --scenario slot-migrate --records 2", `--records has no use in a cluster`},
		{"drill --scenario slot-migrate --target-fault hang", `--target-fault is for scenarios that move to another node`},
		{"drill --scenario cluster-failover --window 2s", `--window and --atomic are for slots that move, not for cluster-failover`},
		{"drill --scenario reshard --max-redirects -2", `--max-redirects -2, want -1 or more`},
		{"drill --scenario reshard --duration 3s", `--duration 3s is too short: scenario reshard takes`},
		{"sim --schedule slot-migrate", `--schedule: slot-migrate is for a cluster, which --shards makes`},
		{"sim --shards 3 --schedule rebind", `--schedule: rebind is for a database, not for a cluster`},
		{"sim --shards 3 --server 127.0.0.1:6379", `a cluster can't be in front of a server at 127.0.0.1:6379`},
		{"sim --shards 3 --records 2", `--records is for a database`},
		{"sim --shards -1", `can't be negative`},
		{"sim --shards 3 --window -1s", `--window -1s is negative`},
		{"sim --ending softly", `want one of fin, rst, silent`},
		{"sim --records 99", `--records 99, want 1 to 16`},
		{"sim --tls no/such/folder/ca.pem", `--tls: open`},
		{"version please", `unknown command "please"`},
	} {
		t.Run(tt.args, func(t *testing.T) {
			code, stdout, stderr := baton(t, strings.Fields(tt.args)...)
			if code != exitUsage || stdout != "" {
				t.Errorf("exit code %d, stdout %q", code, stdout)
			}
			if !regexp.MustCompile(tt.want).MatchString(stderr) || !strings.Contains(stderr, "--help") {
				t.Errorf("stderr %q, want %q and a hint at --help", stderr, tt.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for args, want := range map[string]string{
		"":             "Run a load through the client",
		"--help":       "Simulate a database that any client",
		"drill --help": "rolling-upgrade   migrate, failover and rebind, once per node",
		"sim --help":   "failover-cut [outage=1s]",
		"drill -h":     "The scenarios of clusters start one of their own",
		"version":      " go1.",
	} {
		code, stdout, stderr := baton(t, strings.Fields(args)...)
		if code != exitOK || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("baton %s: exit code %d, no %q in %q, stderr %q", args, code, want, stdout, stderr)
		}
	}
}

var briefRebind = strings.Fields("drill --scenario rebind --workers 16 --grace 500ms --duration 1700ms")

// Where the JSON goes to stdout, nothing else does.
func TestDrillWritesWhatItIsAskedFor(t *testing.T) {
	page := filepath.Join(t.TempDir(), "report.html")
	code, stdout, stderr := baton(t, append(briefRebind, "--json", "-", "--report", page)...)
	if code != exitOK {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var r account.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	if !r.OK || r.Scenario != "rebind" || r.Commands.Acknowledged == 0 {
		t.Errorf("account = %+v", r)
	}
	for _, want := range []string{"before ", "\nOK: ", "\nReport: " + page} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %q", want, stderr)
		}
	}
	if b, err := os.ReadFile(page); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("report: %v, %d bytes", err, len(b))
	}
}

func TestQuietDrillPrintsItsTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	code, stdout, stderr := baton(t, append(briefRebind, "--quiet", "--json", file)...)
	if code != exitOK || stderr != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	if !strings.Contains(stdout, "\nOK: ") || !strings.Contains(stdout, "\nJSON: "+file) {
		t.Errorf("stdout %q", stdout)
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.Contains(b, []byte(`"ok": true`)) {
		t.Errorf("JSON: %v, %s", err, b)
	}
}

func TestFailedDrillExitsWithOne(t *testing.T) {
	args := "drill -q --scenario migrate --lead 50ms --stall 1s --read-timeout 150ms --workers 16 --duration 2500ms --maintnotifications disabled"
	code, stdout, _ := baton(t, strings.Fields(args)...)
	if code != exitFailed || !strings.Contains(stdout, "\nNOT OK:\n  - ") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}

// A drill without a server leaves no empty files.
func TestDrillWithoutServer(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := baton(t, "drill", "-q", "--server", "127.0.0.1:1",
		"--json", filepath.Join(dir, "x.json"), "--report", filepath.Join(dir, "x.html"))
	if code != exitFailed || stdout != "" || !strings.Contains(stderr, "127.0.0.1:1") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// The simulator does what is typed, and says so.
func TestSimTakesOrders(t *testing.T) {
	order, waitFor, ended := typing(t, "sim", "--stall", "10ms", "--lead", "0s", "--grace", "50ms")
	waitFor("clients connect to 127.0.0.1:")
	order("migrate stall=5ms")
	waitFor("MIGRATING seq=")
	waitFor("migrate is over")
	order("rebind")
	waitFor("MOVING seq=")
	waitFor("rebind is over")
	order("dance")
	waitFor(`unknown scenario "dance"`)
	order("rebind grace=soon")
	waitFor("grace wants a time")
	order("rebind pace=1s")
	waitFor(`unknown option "pace"`)
	order("demote")
	waitFor("demoted proxy=")
	waitFor("demote is over")
	order("fault 1 hang")
	waitFor("fault proxy=1 hang")
	order("fault 1 sick")
	waitFor(`unknown fault "sick", want one of refuse`)
	order("repair")
	waitFor("fault proxy=1 none")
	order("restart outage=5ms")
	waitFor("restart is over")
	order("chaos all seed=3")
	waitFor("chaos #0 ")
	order("stop")
	waitFor("chaos is over")
	order("help")
	waitFor("malformed notice")
	waitFor("busiest")
	order("stats")
	waitFor("0 connections")
	ended()
}

// The same goes for a cluster.
func TestSimOfAClusterTakesOrders(t *testing.T) {
	order, waitFor, ended := typing(t, "sim", "--shards", "3", "--replicas", "1", "--lead", "0s", "--window", "20ms", "--grace", "50ms", "--outage", "10ms")
	waitFor("embedded server, a cluster; its clients connect to 127.0.0.1:")
	order("nodes")
	waitFor("primary 0-5460")
	waitFor("replica")
	order("slot-migrate from=0 to=1 slots=5,100-199")
	waitFor("SMIGRATED seq=")
	waitFor("slot-migrate is over")
	order("slot-migrate window=10ms")
	waitFor("slot-migrate is over")
	order("slot-migrate from=0")
	waitFor("wants both from=shard and to=shard")
	order("slot-migrate from=0 to=1 slots=9-5")
	waitFor(`slots wants slots of 0 to 16383 such as 5,100-199, not "9-5"`)
	order("cluster-failover shard=1")
	waitFor("promoted proxy=")
	waitFor("cluster-failover is over")
	order("cluster-failover shard=x")
	waitFor(`shard wants a number from 0 on, not "x"`)
	order("reshard")
	waitFor("reshard is over")
	order("add-shard")
	waitFor("add-shard is over")
	order("remove-shard 3")
	waitFor("remove-shard is over")
	order("remove-shard")
	waitFor("wants a number from 0 on")
	order("kill 2")
	waitFor("killed proxy=2")
	waitFor("kill is over")
	order("start 2")
	waitFor("start is over")
	order("cut outage=5ms")
	waitFor("cut is over")
	order("rebind")
	waitFor("rebind is for a database, not for a cluster")
	order("fault 1 hang")
	waitFor("fault proxy=1 hang")
	order("repair")
	waitFor("repair is over")
	order("malformed smigrated")
	waitFor("malformed is over")
	order("help")
	waitFor("move slots, by default half")
	order("stats")
	waitFor("0 connections, 0 opted in")
	ended()
}

// typing runs the program with orders: order types one, waitFor waits until the program
// says something, and ended is for the end.
func typing(t *testing.T, args ...string) (order, waitFor func(string), ended func()) {
	t.Helper()
	in, orders := io.Pipe()
	said, out := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, args, in, out, io.Discard)
		_ = out.Close()
	}()
	lines := bufio.NewScanner(said)
	waitFor = func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("it never said %q: %v", want, lines.Err())
	}
	order = func(text string) {
		t.Helper()
		if _, err := io.WriteString(orders, text+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	return order, waitFor, func() {
		t.Helper()
		order("quit")
		last := ""
		for lines.Scan() { // to the end, as it can't write what nobody reads
			last = lines.Text()
		}
		if !strings.HasSuffix(last, "  closed") {
			t.Errorf("the last it said is %q", last)
		}
		if c := <-code; c != exitOK {
			t.Errorf("exit code %d", c)
		}
		_ = orders.Close()
	}
}

// With a schedule the simulator works by itself, and ends when it is interrupted.
func TestSimKeepsItsSchedule(t *testing.T) {
	said, out := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	code := make(chan int, 1)
	go func() {
		args := []string{"sim", "--stall", "5ms", "--lead", "0s", "--every", "20ms", "--schedule", "migrate,failover"}
		code <- run(ctx, args, strings.NewReader(""), out, io.Discard)
		_ = out.Close()
	}()
	var log strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		if strings.Count(log.String(), "failover is over") == 2 {
			cancel()
		}
	}
	if n := strings.Count(log.String(), "migrate is over"); n < 2 {
		t.Errorf("%d migrations:\n%s", n, log.String())
	}
	if c := <-code; c != exitOK {
		t.Errorf("exit code %d", c)
	}
}
