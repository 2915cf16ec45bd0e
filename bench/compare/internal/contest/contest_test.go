package contest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/result"
	"github.com/baton-go/redis/bench/compare/internal/server"
	"github.com/baton-go/redis/bench/compare/internal/subject"
)

// A field is what a contest is run with in a bubble, where time is exact.
type field struct {
	open    int              // clients open now
	wrong   string           // the setting whose client fails
	missing server.Transport // that the server has not
	heard   []string         // who was measured, in order
	served  []server.Transport
}

func (f *field) Reach(_ context.Context, t server.Transport) (subject.Server, error) {
	if t == f.missing {
		return subject.Server{}, errors.New("no " + string(t))
	}
	f.served = append(f.served, t)
	return subject.Server{}, nil
}

func (f *field) CPU(server.Transport) (time.Duration, error) { return 0, nil }

// one is a subject with settings that take so long for each call. An odd name of a
// setting can't be opened.
func (f *field) one(name string, settings ...string) subject.Subject {
	s := subject.Subject{Name: name, Family: subject.Family(name)}
	for _, setting := range settings {
		delay, err := time.ParseDuration(setting)
		s.Settings = append(s.Settings, subject.Setting{Name: setting, Open: func(subject.Server) (subject.Client, error) {
			if err != nil {
				return nil, err
			}
			f.open++
			return &client{f: f, delay: delay, wrong: setting == f.wrong}, nil
		}})
	}
	return s
}

type client struct {
	f     *field
	delay time.Duration
	wrong bool
}

func (c *client) Get(_ context.Context, key string) (string, error) {
	time.Sleep(c.delay)
	if c.wrong {
		return "", nil
	}
	return key + strings.Repeat(".", 64-len(key)), nil
}

func (c *client) Set(context.Context, string, string) error { return errors.ErrUnsupported }

func (c *client) Incr(context.Context, string) (int64, error) { return 0, errors.ErrUnsupported }

func (c *client) MGet(context.Context, []string, []string) error { return errors.ErrUnsupported }

func (c *client) Pipe(context.Context, []subject.Op, []string) error { return errors.ErrUnsupported }

func (c *client) Close() error {
	c.f.open--
	return nil
}

func block(t *testing.T, transport server.Transport, contexts ...load.Context) Block {
	t.Helper()
	w, err := load.Named("get64")
	if err != nil {
		t.Fatal(err)
	}
	return Block{Workload: w, Goroutines: 1, Transport: transport, Contexts: contexts}
}

func plan(blocks []Block, subjects ...subject.Subject) Plan {
	return Plan{Blocks: blocks, Subjects: subjects, Rounds: 4, Time: 10 * time.Millisecond, Warm: time.Millisecond, Seed: 1}
}

// run runs p and checks that every client was closed.
func (f *field) run(t *testing.T, p Plan) ([]*result.Cell, error) {
	t.Helper()
	cells, err := Run(t.Context(), p, f, func(s Status) {
		if s.Round > 0 {
			f.heard = append(f.heard, s.Subject)
		}
	})
	if f.open != 0 {
		t.Errorf("%d clients are still open", f.open)
	}
	return cells, err
}

func TestRatiosFollowTheClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f field
		cells, err := f.run(t, plan([]Block{block(t, server.TCP, load.Background, load.Cancel)},
			f.one(subject.Baton, "100us"), f.one("slow", "400us")))
		if err != nil {
			t.Fatal(err)
		}
		if len(cells) != 2 || cells[0].Context != "background" || cells[1].Context != "cancel" {
			t.Fatalf("cells %v", cells)
		}
		for _, c := range cells {
			slow := c.Find("slow")
			if slow == nil || slow.BatonRatio < 3.7 || slow.BatonRatio > 4.3 {
				t.Errorf("%s: %+v, want a ratio of 4", c, slow)
			}
			if baton := c.Find(subject.Baton); math.Abs(baton.OpsPerS-10_000) > 200 || len(baton.OpsPerSRounds) != 4 || baton.BatonRatio != 1 {
				t.Errorf("%s: %+v, want 10,000 ops/s in each of 4 rounds", c, baton)
			}
			if l := slow.Latency; math.Abs(l.P50-400) > 1 || math.Abs(l.Max-400) > 1 || l.Timed == 0 {
				t.Errorf("%s: latency %+v, want 400 µs", c, l)
			}
		}
	})
}

func TestEveryRoundHasEverybodyInAnotherOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f field
		names := []string{subject.Baton, "b", "c", "d", "e"}
		var subjects []subject.Subject
		for _, n := range names {
			subjects = append(subjects, f.one(n, "100us"))
		}
		p := plan([]Block{block(t, server.TCP, load.Background)}, subjects...)
		if _, err := f.run(t, p); err != nil {
			t.Fatal(err)
		}
		orders := map[string]bool{}
		for round := range slices.Chunk(f.heard, len(names)) {
			orders[strings.Join(round, " ")] = true
			if sorted := slices.Sorted(slices.Values(round)); !slices.Equal(sorted, slices.Sorted(slices.Values(names))) {
				t.Errorf("a round had %v", round)
			}
		}
		if len(orders) < 2 {
			t.Errorf("the order was always the same: %v", f.heard)
		}
	})
}

func TestFastestSettingIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f field
		cells, err := f.run(t, plan([]Block{block(t, server.TCP, load.Background)}, f.one("several", "300us", "100us", "200us")))
		if err != nil {
			t.Fatal(err)
		}
		s := cells[0].Find("several")
		if s.Setting != "100us" || s.Error != "" || len(s.Trials) != 3 || s.Trials[0].OpsPerS >= s.Trials[2].OpsPerS {
			t.Errorf("measured %+v", s)
		}
	})
}

func TestFailuresLeaveTheOthersMeasured(t *testing.T) {
	for _, tt := range []struct {
		name            string
		wrong           string
		settings        []string
		setting, errors string
	}{
		{"wrong replies", "100us", []string{"100us"}, "100us", "wrong reply"},
		{"not opened", "", []string{"never"}, "never", "invalid duration"},
		{"the fastest is wrong", "100us", []string{"100us", "200us"}, "200us", "100us: wrong reply"},
		{"one is not opened", "", []string{"200us", "never"}, "200us", "never: "},
		{"all fail", "100us", []string{"100us", "never"}, "", "wrong reply"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := field{wrong: tt.wrong}
				cells, err := f.run(t, plan([]Block{block(t, server.TCP, load.Background)}, f.one("bad", tt.settings...), f.one(subject.Baton, "150us")))
				if err != nil {
					t.Fatal(err)
				}
				if s := cells[0].Find(subject.Baton); s.OpsPerS == 0 || s.Error != "" {
					t.Errorf("the other: %+v", s)
				}
				s := cells[0].Find("bad")
				if !strings.Contains(s.Error, tt.errors) {
					t.Errorf("error %q, want %q", s.Error, tt.errors)
				}
				if works := tt.setting == "200us"; (s.OpsPerS > 0) != works || works && s.Setting != tt.setting {
					t.Errorf("measured %+v", s)
				}
			})
		})
	}
}

func TestTransportThatIsMissingIsNotMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := field{missing: server.TLS}
		cells, err := f.run(t, plan([]Block{block(t, server.TLS, load.Background), block(t, server.Unix, load.Background)}, f.one(subject.Baton, "1ms")))
		if err != nil {
			t.Fatal(err)
		}
		if len(cells) != 2 || cells[0].NotMeasured != "no tls" || cells[1].NotMeasured != "" || len(cells[1].Subjects) != 1 {
			t.Errorf("cells %+v", cells)
		}
	})
}

func TestKeysOfSeveralSlotsAreNotMeasuredInACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f field
		b := block(t, server.Cluster, load.Background, load.Cancel)
		several := b
		several.Workload.Keys = 2
		cells, err := f.run(t, plan([]Block{several, b}, f.one(subject.Baton, "1ms")))
		if err != nil {
			t.Fatal(err)
		}
		if len(cells) != 4 || !strings.Contains(cells[1].NotMeasured, "slots") || cells[3].NotMeasured != "" || len(f.served) != 1 {
			t.Errorf("cells %+v, reached %v", cells, f.served)
		}
	})
}

func TestClientThatCannotWorkThereIsNotMeasuredAndNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f field
		none := f.one("none", "1ms")
		none.Settings[0].Open = func(subject.Server) (subject.Client, error) { return nil, subject.NotMeasured("no way") }
		cells, err := f.run(t, plan([]Block{block(t, server.Cluster, load.Background)}, none, f.one(subject.Baton, "1ms")))
		if err != nil {
			t.Fatal(err)
		}
		if s := cells[0].Find("none"); s.NotMeasured != "no way" || s.Error != "" || s.OpsPerS != 0 {
			t.Errorf("measured %+v", s)
		}
		if s := cells[0].Find(subject.Baton); s.NotMeasured != "" || s.OpsPerS == 0 {
			t.Errorf("the other: %+v", s)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f field
		p := plan([]Block{block(t, server.TCP, load.Background), block(t, server.Unix, load.Background)}, f.one(subject.Baton, "100us", "200us"))
		enough := errors.New("enough")
		// In the trials of the second block.
		ctx, cancel := context.WithCancelCause(t.Context())
		cells, err := Run(ctx, p, &f, func(s Status) {
			if s.Number == 2 {
				cancel(enough)
			}
		})
		if !errors.Is(err, enough) || len(cells) != 1 || f.open != 0 {
			t.Errorf("error %v, %d cells, %d clients open", err, len(cells), f.open)
		}
	})
}

func TestSlicesAreLongWhereMuchIsInFlight(t *testing.T) {
	b := block(t, server.TCP, load.Background)
	p := plan([]Block{b})
	if warm, length := p.lengths(b); warm != p.Warm || length != p.Time {
		t.Errorf("%v and %v, want those of the plan", warm, length)
	}
	b.Goroutines = 100_000
	if warm, length := p.lengths(b); warm != 100*time.Millisecond || length != 500*time.Millisecond {
		t.Errorf("%v and %v, want 100ms and 500ms", warm, length)
	}
}
