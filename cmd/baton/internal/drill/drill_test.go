package drill

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/cmd/baton/internal/account"
	"github.com/baton-go/redis/internal/invariants"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintnotifications"
)

// TestMain lets several drills run beside each other, unless -parallel says how many: most
// of their time they wait. Under the race detector each has enough to do for two.
func TestMain(m *testing.M) {
	isSet := false
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "test.parallel" })
	if !isSet && !invariants.Enabled {
		_ = flag.Set("test.parallel", "4")
	}
	goleak.VerifyTestMain(m)
}

func TestValidateFindsEveryProblem(t *testing.T) {
	tests := []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"scenario", func(c *Config) { c.Scenario = "reboot" }, `unknown scenario "reboot", want one of rolling-upgrade, migrate`},
		{"server", func(c *Config) { c.Server = "/no/such/server" }, `--server "/no/such/server" is neither`},
		{"empty server", func(c *Config) { c.Server = " " }, "--server is empty"},
		{"server without port", func(c *Config) { c.Server = "localhost" }, `--server "localhost" is neither`},
		{"few workers", func(c *Config) { c.Workers = 7 }, "7 workers, want 8 to"},
		{"many workers", func(c *Config) { c.Workers = 100_000 }, "100000 workers"},
		{"mode", func(c *Config) { c.Mode = "sometimes" }, `unknown mode of maintenance notifications "sometimes"`},
		{"negative", func(c *Config) { c.Stall = -1 }, "--stall -1ns is negative"},
		{"grace", func(c *Config) { c.Grace = 0 }, "--grace 0s, want more than 0"},
		{"half a second", func(c *Config) { c.Scenario, c.Grace = RebindNone, 1500*time.Millisecond }, "rebind-none needs whole seconds"},
		{"read timeout", func(c *Config) { c.ReadTimeout = 0 }, "--read-timeout 0s"},
		{"one proxy", func(c *Config) { c.Proxies = 1 }, "needs at least 2 proxies"},
		{"no proxy", func(c *Config) { c.Proxies, c.Scenario = 0, Migrate }, "0 proxies, want 1 to 100"},
		{"storm of migrations", func(c *Config) { c.Scenario, c.Handoffs = Migrate, 5 }, "--handoffs is for the scenarios rebind, rebind-none, sentinel-failover, discovery-switch, ring, not for migrate"},
		{"no handoff", func(c *Config) { c.Handoffs = 0 }, "--handoffs 0, want at least 1"},
		{"overlap in place", func(c *Config) { c.Scenario, c.Handoffs = RebindNone, 5 }, "must be longer than --grace"},
		{"short", func(c *Config) { c.Duration = 5 * time.Second }, "--duration 5s is too short: scenario rolling-upgrade takes 27.1s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Default()
			tt.edit(&c)
			err := c.Validate()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
			if _, err := Run(t.Context(), c, nil); err == nil {
				t.Error("Run takes it")
			}
		})
	}
	t.Run("all at once", func(t *testing.T) {
		c := Default()
		c.Workers, c.Grace, c.Mode = 1, 0, "x"
		if err := c.Validate(); err == nil || strings.Count(err.Error(), "\n") != 2 {
			t.Errorf("error = %v, want three lines", err)
		}
	})
}

func TestDefaultFitsItsTime(t *testing.T) {
	c := Default()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	before, during, after := c.plan()
	if d := before + during + after; d > 40*time.Second {
		t.Errorf("the default drill takes %v, want some less than 45s", d)
	}
	if c.ReadTimeout >= c.Stall {
		t.Errorf("read timeout %v, stall %v: nothing needs relaxed timeouts", c.ReadTimeout, c.Stall)
	}
	for _, s := range Scenarios() {
		c.Scenario = s
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		if c.length() <= 0 || s.Explain() == "unknown" {
			t.Errorf("%s: takes %v, %q", s, c.length(), s.Explain())
		}
	}
}

func TestPlanKeepsToTheDuration(t *testing.T) {
	c := Default()
	c.Scenario, c.Duration = Migrate, 20*time.Second
	before, during, after := c.plan()
	if before+during+after != c.Duration || before <= 0 || after <= 0 {
		t.Errorf("plan = %v, %v, %v", before, during, after)
	}
}

func TestBackendIsFound(t *testing.T) {
	program := filepath.Join(t.TempDir(), "a server")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string]string{
		"embedded":       "embedded server",
		program:          "a server",
		"127.0.0.1:6379": "server at 127.0.0.1:6379",
		"[::1]:6379":     "server at [::1]:6379",
		"sh -c true":     "sh -c true",
	} {
		if _, got, err := Backend(server); err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("Backend(%q) = %q, %v, want %q", server, got, err, want)
		}
	}
}

// brief is a drill of a few seconds in which everything of a long one happens.
func brief(s Scenario) Config {
	c := Default()
	c.Scenario = s
	c.Workers = 16
	c.Grace = 500 * time.Millisecond
	if s.among(RebindNone, TakeOver) {
		c.Grace = time.Second
	}
	c.Lead = 100 * time.Millisecond
	c.Stall = 1500 * time.Millisecond
	if s.among(MaintenanceMode, DNSChange) {
		c.Grace = time.Second
	}
	if s.Clustered() {
		c.Stall, c.Window = 0, 300*time.Millisecond
	}
	switch s {
	case SlotMigrate:
		c.Steps = 2
		c.Duration = c.length() + 2*shortEdge
	case ClusterFailover:
		c.Window = 0
		c.Duration = c.length() + 2*shortEdge
	case Chaos:
		c.Grace, c.Duration = time.Second, 5*time.Second
	case Quiet:
		c.Duration = 2 * time.Second
	default:
		c.Interval = 200 * time.Millisecond // of a ring
		c.Duration = c.length() + 2*shortEdge
		if s.silent() {
			c.Duration += recoverFast
		}
	}
	return c
}

func drill(t *testing.T, c Config) *Report {
	t.Helper()
	var shown []Status
	rep, err := Run(t.Context(), c, func(s Status) { shown = append(shown, s) })
	if err != nil {
		t.Fatal(err)
	}
	if len(shown) == 0 || shown[len(shown)-1].Live.Sent == 0 {
		t.Errorf("shown: %+v", shown)
	}
	return rep
}

// In every scenario the accounts balance, whatever the client has to do for it.
func TestDrillIsOK(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(string(s), func(t *testing.T) {
			if testing.Short() && s != Rebind {
				t.Skip("takes seconds")
			}
			t.Parallel()
			c := brief(s)
			rep := drill(t, c)
			r := &rep.Result
			if !r.OK {
				t.Fatalf("problems: %q\nerrors: %v\n%+v", r.Problems, r.Errors, *r)
			}
			if r.Commands.Acknowledged < 1000 || r.PubSub.Received == 0 || r.Watch.Committed == 0 || r.Blocking.Served == 0 || r.Incr.Value == 0 {
				t.Errorf("a kind of work was not done: %+v", *r)
			}
			if r.LatencyUS.Before.P50 <= 0 || r.LatencyUS.During.Max < r.LatencyUS.During.P99 || len(rep.Samples) < 10 {
				t.Errorf("latency %+v, %d samples", r.LatencyUS, len(rep.Samples))
			}
			if (s.moves() || s.watched()) && (r.Handoffs.Succeeded == 0 || s.moves() && r.Notices.Moving == 0) {
				t.Errorf("handoffs %+v, notices %+v", r.Handoffs, r.Notices)
			}
			if !c.felt() && (r.PubSub.Published != r.PubSub.Received || r.Blocking.Pushed != r.Blocking.Served || len(r.Allowed) > 0) {
				t.Errorf("messages %+v, items %+v, allowed %q", r.PubSub, r.Blocking, r.Allowed)
			}
			if r.AppRetries != (account.AppRetries{}) {
				t.Errorf("the application has tried again: %+v", r.AppRetries)
			}
			if n := r.Notices; s.Clustered() && (r.Cluster.SlotsMoved == 0 || n.SMigrating == 0 || n.SMigrated == 0 || r.Values.Keys < int64(10*c.Workers)) {
				t.Errorf("cluster %+v, notices %+v, values %+v", r.Cluster, n, r.Values)
			}
			if g := r.Growth.Goroutines; s == Outage && (g.Before == 0 || g.After > g.Before+50 || r.RecoveryMS <= 0) {
				t.Errorf("goroutines %+v, recovered after %v ms", g, r.RecoveryMS)
			}
			if s.Cuts() && (r.InFlightAtCut == 0 || r.RecoveryMS <= 0 || r.RecoveryMS > 1000) {
				t.Errorf("%d in flight, recovered after %v ms", r.InFlightAtCut, r.RecoveryMS)
			}
		})
	}
}

// The negative control: without notices the same scenario is felt, so the drill can
// fail.
func TestDrillWithoutNoticesIsNotOK(t *testing.T) {
	t.Parallel()
	c := brief(RollingUpgrade)
	c.Mode = maintnotifications.ModeDisabled
	r := &drill(t, c).Result
	if r.OK || len(r.Problems) == 0 || r.Commands.Failed+r.Commands.Unknown == 0 {
		t.Errorf("ok %v, problems %q, commands %+v", r.OK, r.Problems, r.Commands)
	}
	if r.WrongReplies > 0 {
		t.Errorf("%d wrong replies", r.WrongReplies)
	}
}

func TestDrillSurvivesAStormOfHandoffs(t *testing.T) {
	t.Parallel()
	c := brief(Rebind)
	c.Handoffs, c.Interval = 12, 100*time.Millisecond
	c.Duration = 0
	r := &drill(t, c).Result
	if !r.OK || r.Handoffs.Succeeded < int64(c.Handoffs) {
		t.Errorf("problems %q, handoffs %+v", r.Problems, r.Handoffs)
	}
}

func TestDrillByNameFollowsTheResolver(t *testing.T) {
	t.Parallel()
	c := brief(RebindNone)
	c.ByName = true
	if r := &drill(t, c).Result; !r.OK {
		t.Errorf("problems %q, errors %v", r.Problems, r.Errors)
	}
}

// An interrupted drill ends soon and still has its account.
func TestInterruptedDrillHasItsAccount(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	rep, err := Run(ctx, Default(), func(s Status) {
		if s.Live.Acknowledged > 100 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &rep.Result
	if r.OK || !strings.Contains(strings.Join(r.Problems, " "), "The drill was interrupted.") {
		t.Errorf("problems = %q", r.Problems)
	}
	if c := r.Commands; c.Acknowledged == 0 || c.Sent != c.Acknowledged+c.Failed+c.Unknown || r.Incr.Acknowledged != r.Incr.Value {
		t.Errorf("commands %+v, incr %+v", c, r.Incr)
	}
	if d := time.Since(began); d > 15*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestDrillHasATimeout(t *testing.T) {
	c := Default()
	c.Timeout = time.Second
	rep, err := Run(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := rep.Result; r.OK || !strings.Contains(strings.Join(r.Problems, " "), "The drill took longer than 1s.") {
		t.Errorf("problems = %q", r.Problems)
	}
}

// Real servers keep what the embedded one only imitates.
func TestDrillWithRealServers(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := realserver.Require(t, name)
			for _, s := range []Scenario{Rebind, RebindNone, FailoverCut} {
				c := brief(s)
				c.Server = program
				if r := &drill(t, c).Result; !r.OK {
					t.Errorf("%s: problems %q, errors %v", s, r.Problems, r.Errors)
				}
			}
		})
	}
}

// Sentinels, a discovery service and a ring with real servers, and what they are like
// without notices.
func TestDrillOfFailoverAndRingClientsWithRealServers(t *testing.T) {
	for _, name := range []string{realserver.Redis8, realserver.Valkey9} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := realserver.Require(t, name)
			for _, s := range []Scenario{SentinelFailover, DiscoverySwitch, RingMoves} {
				c := brief(s)
				c.Server = program
				c.Duration = 0
				if s == DiscoverySwitch {
					c.Mode = maintnotifications.ModeDisabled // the service alone is enough
				}
				if r := &drill(t, c).Result; !r.OK || r.PubSub.Published != r.PubSub.Received {
					t.Errorf("%s: problems %q, errors %v, %v, Pub/Sub %+v", s, r.Problems, r.Errors, r.AppErrors, r.PubSub)
				}
			}
		})
	}
}

func TestValidateFindsWhatNoSentinelAndNoRingCanDo(t *testing.T) {
	for want, edit := range map[string]func(*Config){
		"makes servers of its own":                 func(c *Config) { c.Scenario, c.Server = SentinelFailover, "127.0.0.1:6379" },
		"--by-name is for clients that know":       func(c *Config) { c.Scenario, c.ByName = DiscoverySwitch, true },
		"--records is for names":                   func(c *Config) { c.Scenario, c.Records = DiscoverySwitch, 2 },
		"are for servers with notices":             func(c *Config) { c.Scenario, c.RefuseOptIn = SentinelFailover, -1 },
		"needs at least 2 proxies":                 func(c *Config) { c.Scenario, c.Proxies = SentinelFailover, 1 },
		"--shards 1, want 2 to 16":                 func(c *Config) { c.Scenario, c.Shards = RingMoves, 1 },
		"a ring has several servers":               func(c *Config) { c.Scenario, c.TLS = RingMoves, true },
		"from knowing where its shards go":         func(c *Config) { c.Scenario, c.Protocol = RingMoves, 2 },
		"are for the scenarios slot-migrate, clus": func(c *Config) { c.Scenario, c.Steps = RingMoves, 2 },
	} {
		c := Default()
		edit(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error = %v, want one with %q", err, want)
		}
	}
}

// A server that was running before is left as it was.
func TestDrillCleansUp(t *testing.T) {
	srv := realserver.Start(t, realserver.Redis7)
	c := brief(Rebind)
	c.Server = srv.Addr()
	if r := &drill(t, c).Result; !r.OK {
		t.Errorf("problems %q, errors %v", r.Problems, r.Errors)
	}
	client := redis.NewClient(&redis.Options{Addr: srv.Addr()})
	defer client.Close()
	if n, err := client.DBSize(t.Context()).Result(); err != nil || n != 0 {
		t.Errorf("%d keys are left, %v", n, err)
	}
}

func TestDrillNeedsAServer(t *testing.T) {
	c := Default()
	c.Server = "127.0.0.1:1"
	if rep, err := Run(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("report %v, error %v", rep, err)
	}
}
