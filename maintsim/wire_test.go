package maintsim_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// brief makes a window take no time.
func brief(opts ...maintsim.Option) []maintsim.Option {
	return append([]maintsim.Option{maintsim.WithLead(0), maintsim.WithStall(0)}, opts...)
}

func TestVariantsOfNotices(t *testing.T) {
	type variants = []maintsim.Variant
	for _, tc := range []struct {
		name                    string
		v                       variants
		moving, opening, closed string // without the address
	}{
		{
			"no endpoint, no shards",
			variants{maintsim.VariantNoEndpoint, maintsim.VariantNoShards},
			">3\r\n$6\r\nMOVING\r\n:2\r\n:2\r\n", ">3\r\n$9\r\nMIGRATING\r\n:0\r\n:0\r\n", ">2\r\n$8\r\nMIGRATED\r\n:1\r\n",
		},
		{
			"null as text, no time",
			variants{maintsim.VariantNullText, maintsim.VariantNoTime},
			">4\r\n$6\r\nMOVING\r\n:2\r\n:2\r\n$4\r\nnull\r\n", ">2\r\n$9\r\nMIGRATING\r\n:0\r\n", push("MIGRATED", "1", shard1),
		},
		{
			"null of RESP2, array of shards",
			variants{maintsim.VariantNullBulk, maintsim.VariantShardArray},
			">4\r\n$6\r\nMOVING\r\n:2\r\n:2\r\n$-1\r\n", push("MIGRATING", "0", ":0\r\n", "*1\r\n$1\r\n1\r\n"),
			push("MIGRATED", "1", "*1\r\n$1\r\n1\r\n"),
		},
		{
			"null although asked for, extra",
			variants{maintsim.VariantNullEndpoint, maintsim.VariantExtra},
			">5\r\n$6\r\nMOVING\r\n:2\r\n:2\r\n_\r\n$5\r\nextra\r\n", push("MIGRATING", "0", ":0\r\n", shard1, bulk("extra")),
			push("MIGRATED", "1", shard1, bulk("extra")),
		},
		{
			"numbers as text",
			variants{maintsim.VariantSeqText, maintsim.VariantTimeText},
			">4\r\n$6\r\nMOVING\r\n$1\r\n2\r\n$1\r\n2\r\nADDR", ">4\r\n$9\r\nMIGRATING\r\n$1\r\n0\r\n$1\r\n0\r\n" + shard1,
			">3\r\n$8\r\nMIGRATED\r\n$1\r\n1\r\n" + shard1,
		},
		{
			"simple strings",
			variants{maintsim.VariantSimpleName, maintsim.VariantSimpleText},
			">4\r\n+MOVING\r\n:2\r\n:2\r\n+SIMPLE\r\n", ">4\r\n+MIGRATING\r\n:0\r\n:0\r\n+[\"1\"]\r\n",
			">3\r\n+MIGRATED\r\n:1\r\n+[\"1\"]\r\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			sim := maintsim.Start(t, quick())
			c := optIn(t, sim.Addr(), "external-ip")
			target := sim.Addrs()[1]
			if err := sim.Migrate(t.Context(), brief(maintsim.WithVariant(tc.v...))...); err != nil {
				t.Fatal(err)
			}
			c.want(tc.opening)
			c.want(tc.closed)
			retained := optIn(t, sim.Addr(), "none")
			retained.want(tc.closed)
			wait := background(t, func() error {
				return sim.Rebind(t.Context(), maintsim.WithGrace(2*time.Second), maintsim.WithVariant(tc.v...))
			})
			c.want(strings.NewReplacer("ADDR", bulk(target), "SIMPLE", target).Replace(tc.moving))
			wait()
		})
	}
}

func TestMalformedNoticesAreFrames(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := optIn(t, sim.Addr(), "none")
	for _, n := range []maintsim.Notice{maintsim.Moving, maintsim.Migrating, maintsim.Migrated, maintsim.FailingOver, maintsim.FailedOver} {
		frames := maintsim.Malformed(n)
		if len(frames) < 8 {
			t.Errorf("%s: got %d frames", n, len(frames))
		}
		for _, f := range frames {
			if told := sim.Push(f); told != 1 {
				t.Fatalf("told %d, want 1", told)
			}
			c.want(f)
		}
	}
	if got := c.do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
}

func TestLingeringProxyAnnouncesNegativeTime(t *testing.T) {
	sim := maintsim.Start(t, quick())
	old := sim.Addr()
	c := optIn(t, old, "none")
	start := time.Now()
	wait := background(t, func() error {
		return sim.Rebind(t.Context(), maintsim.WithGrace(2*time.Second), maintsim.WithLinger(20*time.Second))
	})
	c.want(push("MOVING", "0", ":2\r\n", "_\r\n"))
	last := 3
	for last > -2 {
		late := optIn(t, old, "none")
		f := late.frame()
		left, err := strconv.Atoi(strings.Split(f, "\r\n")[4][1:])
		if err != nil || left > last || !strings.HasPrefix(f, ">4\r\n$6\r\nMOVING\r\n:0\r\n") {
			t.Fatalf("got %q after %d seconds", f, last)
		}
		last = left
		_ = late.nc.Close()
	}
	if err := c.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
	if d := time.Since(start); d < 440*time.Millisecond {
		t.Errorf("closed after %v, want 22 wire seconds, 440ms", d)
	}
	wait()
}

func TestOldCompletionAndNumbers(t *testing.T) {
	cfg := quick()
	cfg.FirstSeq = 41
	sim := maintsim.Start(t, cfg)
	sim.Retain(maintsim.FailedOver, 3, "7")
	c := optIn(t, sim.Addr(), "none")
	c.want(push("FAILED_OVER", "3", bulk(`["7"]`)))
	if err := sim.Migrate(t.Context(), brief()...); err != nil {
		t.Fatal(err)
	}
	c.want(push("MIGRATING", "41", ":0\r\n", shard1))
	c.want(push("MIGRATED", "42", shard1))
	sim.SetSeq(0) // made anew
	if err := sim.Failover(t.Context(), brief()...); err != nil {
		t.Fatal(err)
	}
	c.want(push("FAILING_OVER", "0", ":0\r\n", shard1))
	c.want(push("FAILED_OVER", "1", shard1))
}

func TestOneNumberTwoTargets(t *testing.T) {
	cfg := quick()
	cfg.Proxies = 4
	sim := maintsim.Start(t, cfg)
	addrs := sim.Addrs()
	c := optIn(t, addrs[0], "external-ip")
	wait := background(t, func() error {
		return sim.Rebind(t.Context(), maintsim.WithSecondTarget(2, 0.3))
	})
	c.want(push("MOVING", "0", ":10\r\n", bulk(addrs[1])))
	c.want(push("MOVING", "0", ":7\r\n", bulk(addrs[2])))
	for _, a := range addrs[:3] {
		if got := dial(t, a).do("PING"); got != "+PONG\r\n" {
			t.Errorf("PING at %s: got %q", a, got)
		}
	}
	// Two moves that overlap, with the number of the first.
	at2 := optIn(t, addrs[2], "external-ip")
	again := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithSeq(0)) })
	at2.want(push("MOVING", "0", ":10\r\n", bulk(addrs[3])))
	wait()
	again()
	if got := sim.Addr(); got != addrs[3] {
		t.Errorf("Addr: got %s, want %s", got, addrs[3])
	}
	next := optIn(t, sim.Addr(), "none")
	if err := sim.Migrate(t.Context(), brief()...); err != nil {
		t.Fatal(err)
	}
	next.want(push("MIGRATING", "1", ":0\r\n", shard1))
}

func TestMovingIsRepeatedOnTheTarget(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := optIn(t, sim.Addr(), "external-ip")
	wait := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithRepeatOnTarget()) })
	target := bulk(sim.Addrs()[1])
	c.want(push("MOVING", "0", ":10\r\n", target))
	if got := optIn(t, sim.Addrs()[1], "external-ip").frame(); !strings.HasPrefix(got, ">4\r\n$6\r\nMOVING\r\n:0\r\n") || !strings.HasSuffix(got, target) {
		t.Errorf("at the target: got %q", got)
	}
	wait()
	optIn(t, sim.Addr(), "external-ip").quiet(20 * time.Millisecond)
}

func TestDuplicatesComeTwice(t *testing.T) {
	sim := maintsim.Start(t, quick())
	c := optIn(t, sim.Addr(), "none")
	if err := sim.Failover(t.Context(), brief(maintsim.WithDuplicates())...); err != nil {
		t.Fatal(err)
	}
	wait := background(t, func() error { return sim.Rebind(t.Context(), maintsim.WithDuplicates()) })
	opening, closing := push("FAILING_OVER", "0", ":0\r\n", shard1), push("FAILED_OVER", "1", shard1)
	moving := push("MOVING", "2", ":10\r\n", "_\r\n")
	for _, want := range []string{opening, opening, closing, closing, moving, moving} {
		c.want(want)
	}
	late := optIn(t, sim.Addrs()[0], "none")
	late.want(closing)
	late.want(closing)
	if a, b := late.frame(), late.frame(); a != b {
		t.Errorf("got %q and %q, want the same", a, b)
	}
	wait()
}

// kinds reads what a connection was told, up to a marker.
func kinds(t *testing.T, c *client) string {
	t.Helper()
	c.send("PING")
	var names []string
	for _, p := range c.replies(1, func(int, string) {}) {
		names = append(names, strings.Split(p, "\r\n")[2])
	}
	return strings.Join(names, " ")
}

func TestNoticesReachSomeConnectionsOnly(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  maintsim.Option
		want map[string]int
	}{
		{"openings to half", maintsim.WithOpeningsTo(0.5), map[string]int{"MIGRATING MIGRATED": 2, "MIGRATED": 2}},
		{"openings to few", maintsim.WithOpeningsTo(0.01), map[string]int{"MIGRATING MIGRATED": 1, "MIGRATED": 3}},
		{"openings to nobody", maintsim.WithOpeningsTo(0), map[string]int{"MIGRATED": 4}},
		{"closings to most", maintsim.WithClosingsTo(0.99), map[string]int{"MIGRATING MIGRATED": 3, "MIGRATING": 1}},
		{"closings to nobody", maintsim.WithClosingsTo(0), map[string]int{"MIGRATING": 4}},
		{"a quarter reordered", maintsim.WithReordered(0.25), map[string]int{"MIGRATING MIGRATED": 3, "MIGRATED MIGRATING": 1}},
		{"all reordered", maintsim.WithReordered(1), map[string]int{"MIGRATED MIGRATING": 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			sim := maintsim.Start(t, quick())
			var clients []*client
			for range 4 {
				clients = append(clients, optIn(t, sim.Addr(), "none"))
			}
			if err := sim.Migrate(t.Context(), brief(tc.opt)...); err != nil {
				t.Fatal(err)
			}
			got := make(map[string]int)
			for _, c := range clients {
				got[kinds(t, c)]++
			}
			for k, n := range tc.want {
				if got[k] != n {
					t.Errorf("got %v, want %v", got, tc.want)
				}
			}
			optIn(t, sim.Addr(), "none").want(push("MIGRATED", "1", shard1))
		})
	}
}

func TestOptInThatIsFatal(t *testing.T) {
	sim := maintsim.Start(t, quick())
	sim.CloseOnOptIn()
	c := dial(t, sim.Addr())
	c.hello3()
	c.send("CLIENT", "MAINT_NOTIFICATIONS", "ON")
	if err := c.end(); err != nil {
		t.Errorf("ended with %v, want EOF", err)
	}
	sim.Support()
	optIn(t, sim.Addr(), "none")
}

func TestVersionChanges(t *testing.T) {
	cfg := quick()
	cfg.Unsupported, cfg.Version = true, "7.2.0"
	sim := maintsim.Start(t, cfg)
	for _, version := range []string{"7.2.0", "8.0.2", "7.4.0"} {
		c := dial(t, sim.Addr())
		if got := c.do("HELLO", "3"); !strings.Contains(got, bulk("version")+bulk(version)) {
			t.Errorf("HELLO: got %q, want version %s", got, version)
		}
		if got := c.do("INFO", "server"); !strings.Contains(got, "redis_version:"+version+"\r\n") {
			t.Errorf("INFO: got %q, want version %s", got, version)
		}
		if version == "7.2.0" {
			sim.SetVersion("8.0.2")
		} else {
			sim.SetVersion("")
		}
	}
}
