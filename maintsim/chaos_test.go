package maintsim_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// wild is a configuration with everything chaos can play with.
func wild() maintsim.Config {
	return maintsim.Config{
		Proxies: 4, Records: 2,
		Grace: 10 * time.Second, Lead: 2 * time.Second, TimeUnit: 10 * time.Millisecond,
		Stall: 30 * time.Millisecond, Outage: 30 * time.Millisecond, Hold: 5 * time.Millisecond,
	}
}

func TestChaosIsRepeatable(t *testing.T) {
	sim := maintsim.Start(t, wild())
	plan := func(seed uint64, opts ...maintsim.ChaosOption) []string {
		t.Helper()
		steps, err := sim.ChaosPlan(seed, 200, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return steps
	}
	a := plan(1)
	if !slices.Equal(a, plan(1)) {
		t.Error("the same seed gave two plans")
	}
	if slices.Equal(a, plan(2)) {
		t.Error("two seeds gave the same plan")
	}
	if b := plan(1, maintsim.ChaosFirst(50)); !slices.Equal(a[50:], b[:150]) {
		t.Error("a run that begins later does other steps")
	}
	all := strings.Join(plan(3), "\n")
	for _, name := range maintsim.ChaosActions() {
		if !strings.Contains(all, " "+name) {
			t.Errorf("no step %s in 200", name)
		}
	}
	for _, s := range plan(1, maintsim.ChaosAnnounced()) {
		switch name := strings.Fields(s)[1]; name {
		case "migrate", "failover", "rebind", "take-over", "grow", "garbage", "retain", "writes":
		default:
			t.Errorf("announced only: got %s", s)
		}
	}
	for _, s := range plan(1, maintsim.ChaosOnly("cut", "grow"), maintsim.ChaosExcept("grow")) {
		if strings.Fields(s)[1] != "cut" {
			t.Errorf("only cuts: got %s", s)
		}
	}
	for _, opts := range [][]maintsim.ChaosOption{{maintsim.ChaosOnly("storm")}, {maintsim.ChaosOnly()}} {
		if err := sim.Chaos(t.Context(), 1, opts...); err == nil {
			t.Error("bad options: got no error")
		}
	}
}

// Whatever chaos does, an acknowledged command is in the server once, one that
// failed at most once, and afterwards everything works.
func TestAccountsBalanceUnderChaos(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			sim := maintsim.Start(t, wild())
			stop := make(chan struct{})
			workers := make([]worker, 4)
			var working sync.WaitGroup
			for i := range workers {
				workers[i].key, workers[i].mayFail = "n"+strconv.Itoa(i), true
				working.Go(func() { workers[i].run(t, sim, stop) })
			}
			err := sim.Chaos(t.Context(), seed, maintsim.ChaosSteps(50), maintsim.ChaosOverlap(4), maintsim.ChaosPause(0, 40*time.Millisecond))
			if err != nil {
				t.Error(err)
			}
			close(stop)
			working.Wait()
			waitFor(t, func() bool { return sim.Sessions() == 0 })
			for _, w := range workers {
				v, err := sim.Backend().Do("GET", w.key)
				if err != nil {
					t.Fatal(err)
				}
				s, _ := v.(string)
				n, _ := strconv.Atoi(s)
				if n < w.acked || n > w.acked+w.failed {
					t.Errorf("%s: %d in the server, want %d to %d", w.key, n, w.acked, w.acked+w.failed)
				}
			}
			began := 0
			for _, e := range sim.Events() {
				if e.Kind == maintsim.EventChaos && !strings.HasSuffix(e.Detail, "is over") && !strings.Contains(e.Detail, "failed:") {
					began++
				}
			}
			if began != 50 {
				t.Errorf("%d steps began, want 50", began)
			}
			c := optIn(t, sim.Addr(), "none")
			c.send("PING")
			if got := c.replies(1, func(int, string) {}); len(got) > 1 {
				t.Errorf("told %q, want a completion at most", got)
			}
		})
	}
}

func TestChaosEndsWithTheContext(t *testing.T) {
	cfg := wild()
	cfg.TimeUnit, cfg.Stall, cfg.Outage = time.Second, time.Hour, time.Hour
	sim := maintsim.Start(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := sim.Chaos(ctx, 1, maintsim.ChaosPause(0, 0), maintsim.ChaosOverlap(8)); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if sim.Holding() {
		t.Error("replies are still held back")
	}
	if got := dial(t, sim.Addr()).do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING: got %q", got)
	}
}

func TestChaosEndsWithTheSim(t *testing.T) {
	sim, err := maintsim.New(wild())
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 1)
	go func() { errs <- sim.Chaos(t.Context(), 1) }()
	waitFor(t, func() bool { return len(sim.Events()) > 5 })
	if err := sim.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-errs; !errors.Is(err, maintsim.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
