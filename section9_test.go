package redis_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/simnet"
	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/maintsim"
)

// The tests of this file are named after the items of the maintenance specification's
// section 9. Each says in which rule of the code it guards.

// Guards: a relaxed timeout is the larger of the two (link.Timeouts.floor).
func TestSection9_01_RelaxedTimeoutsAreAFloor(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.opt.ReadTimeout = 60 * time.Second
		c := s.client()
		s.echo(c)
		a.tell("MIGRATING", 1, 2, "1")
		a.set(func(a *actor) { a.stalled = time.Now().Add(30 * time.Second) })
		if took := s.echo(c); took != 30*time.Second {
			t.Errorf("took %v, want the 30s of the stall", took)
		}
		s.wantTimeout(s.silence(c), 60*time.Second)
	})
}

// Guards: one push relaxes the endpoint's Timeouts, which its links share, and not
// those of the link that read it (endpoint.apply, ActionRelax).
func TestSection9_01_OneNoticeRelaxesAllConnectionsAndWhatIsInFlight(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.opt.ReadTimeout = time.Second
		c := s.client()
		s.echo(c)
		held := s.hold(c, 2)
		a.set(func(a *actor) { a.stalled = time.Now().Add(8 * time.Second) })
		var all sync.WaitGroup
		for _, on := range []echoer{c, held[0], held[1]} {
			all.Go(func() {
				if took := s.echo(on); took != 8*time.Second {
					t.Errorf("took %v, want the 8s of the stall", took)
				}
			})
		}
		s.sleep(900 * time.Millisecond)
		a.tellOne("FAILING_OVER", 1, 2, "1")
		all.Go(func() { s.echo(s.hold(c, 1)[0]) }) // opened during the window: the handshake is held back, too
		all.Wait()
	})
}

// Guards: every window has an end of its own (Machine.expireWindows).
func TestSection9_01_AWindowEndsWithoutItsClosingNotice(t *testing.T) {
	for _, tc := range []struct {
		kind string
		ends time.Duration // after the notice, which says 2 s
	}{
		{"FAILING_OVER", 62 * time.Second},
		{"MIGRATING", 602 * time.Second},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			onStage(t, func(s *stage) {
				a := s.actor(oldAddr)
				c := s.client()
				s.echo(c)
				a.tell(tc.kind, 1, 2, "1")
				s.sleepUntil(tc.ends - 12*time.Second)
				s.wantTimeout(s.silence(c), 10*time.Second)
				s.sleepUntil(tc.ends - time.Second)
				// From the window's end on, whoever waits has an ordinary timeout.
				s.wantTimeout(s.silence(c), time.Second+3*time.Second)
				s.wantTimeout(s.silence(c), 3*time.Second)
			})
		})
	}
}

// Guards: a closing notice closes the windows of its kind and shards, and timeouts
// are relaxed until the last has gone (Machine.closeWindows, Machine.holds).
func TestSection9_01_OverlappingWindowsDoNotEndEachOther(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		c := s.client()
		s.hold(c, 2)
		relaxed := func(want int) {
			t.Helper()
			synctest.Wait()
			if got, _, _ := s.seen.now(); got != want {
				t.Errorf("%d connections are relaxed, want %d", got, want)
			}
		}
		a.tell("MIGRATING", 1, 2, "1")
		a.tell("MIGRATING", 2, 2, "2")
		a.tell("FAILING_OVER", 3, 2, "1")
		relaxed(2)
		a.tell("MIGRATED", 4, "1")
		relaxed(2)
		a.tell("FAILED_OVER", 5, "1")
		relaxed(2)
		a.tell("MIGRATED", 6, "2")
		relaxed(0)
	})
}

// Guards: an open breaker lets trials pass once its reset time is over, and closes
// when they have succeeded (breaker.at, breaker.report).
func TestSection9_02_TheBreakerReallyHalfOpens(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		s.net.Refuse(newAddr, true)
		c := s.client()
		s.give(s.hold(c, 5)...)
		stats := func(state maintnotifications.CircuitBreakerState, failures int64) {
			t.Helper()
			synctest.Wait()
			all := c.GetMaintNotificationsManager().GetCircuitBreakerStats()
			if len(all) != 1 || all[0].Endpoint != newAddr || all[0].State != state || all[0].Failures != failures {
				t.Errorf("after %v: got %+v, want %s to be %v after %d failures", time.Since(s.start), all, newAddr, state, failures)
			}
		}
		a.tell("MOVING", 1, 1, newAddr)
		stats(maintnotifications.CircuitBreakerOpen, 5) // one failure of each connection opens it
		s.sleep(2 * time.Second)
		s.wantConns(oldAddr, 0)
		s.give(s.hold(c, 5)...)
		s.net.Refuse(newAddr, false)
		dialled := len(s.dials(newAddr))

		s.sleepUntil(time.Minute - 1)
		a.tell("MOVING", 2, 100, newAddr)
		if got := len(s.dials(newAddr)); got != dialled {
			t.Errorf("dialled %d times although the breaker is open", got-dialled)
		}
		stats(maintnotifications.CircuitBreakerOpen, 5)

		s.sleepUntil(time.Minute)
		stats(maintnotifications.CircuitBreakerHalfOpen, 5)
		a.tell("MOVING", 3, 100, newAddr)
		s.wantConns(newAddr, 5)
		s.wantConns(oldAddr, 0)
		stats(maintnotifications.CircuitBreakerClosed, 5)
	})
}

// Guards: a replacement is in the pool before the link it replaces leaves it
// (endpoint.pooledUse, endpoint.sharedUse).
func TestSection9_03_CapacityNeverDropsDuringAHandoff(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		s.opt.MaxActiveConns = s.opt.PoolSize
		c := s.client()
		s.echo(c)
		s.give(s.hold(c, s.opt.PoolSize)...)
		s.net.SetLatency(newAddr, 200*time.Millisecond) // a dial and a handshake take 0.8 s
		a.tell("MOVING", 1, 15, newAddr)
		for time.Since(s.start) < 12*time.Second {
			began := time.Now()
			held := s.hold(c, s.opt.PoolSize)
			s.echo(c)
			// On a link to the new server a command takes 0.4 s. Whoever waited for a dial
			// would need 0.8 s more for it.
			if took := time.Since(began); took > time.Duration(s.opt.PoolSize+1)*400*time.Millisecond {
				t.Errorf("after %v: %d connections and a command took %v", time.Since(s.start), len(held), took)
			}
			s.give(held...)
			s.sleep(50 * time.Millisecond)
		}
		s.wantConns(oldAddr, 0)
		s.wantConns(newAddr, s.opt.PoolSize+1)
		if st := c.PoolStats(); st.Misses != uint32(s.opt.PoolSize) || st.Timeouts != 0 || st.WaitCount != 0 {
			t.Errorf("got %+v: somebody had to wait", st)
		}
		// A handoff late in the window may try a second time beside an attempt that
		// takes long.
		if got, want := len(s.dials("")), 2*(s.opt.PoolSize+1); got < want || got > want+want/2 {
			t.Errorf("got %d dials, want %d to %d", got, want, want+want/2)
		}
	})
}

// Guards: a MOVING without a target polls DNS, and goes where it shows an address that
// does not retire, a sibling's too (Machine.resolved).
func TestSection9_04_NullEndpointFollowsDNS(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after []string
		changes, want time.Duration // after the notice
	}{
		"early":   {[]string{"10.0.0.1"}, []string{"10.0.0.2"}, 4400 * time.Millisecond, 4500 * time.Millisecond},
		"late":    {[]string{"10.0.0.1"}, []string{"10.0.0.2"}, 14500 * time.Millisecond, 15 * time.Second},
		"sibling": {[]string{"10.0.0.1", "10.0.0.2"}, []string{"10.0.0.2", "10.0.0.3"}, 10 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				a := s.actor(oldAddr)
				s.actor(newAddr)
				s.opt.Addr = "db.example:6379"
				s.net.Hosts.Set("db.example", tc.before...)
				c := s.client()
				s.echo(c)
				s.wantConns(oldAddr, 1)
				a.tell("MOVING", 0, 15, nil)
				time.AfterFunc(tc.changes, func() { s.net.Hosts.Set("db.example", tc.after...) })
				s.sleep(tc.want - time.Nanosecond)
				if tc.want > 0 {
					s.wantConns(oldAddr, 1)
					s.wantConns(newAddr, 0)
				}
				s.sleep(time.Nanosecond + 750*time.Millisecond) // the look-ups' interval is a twentieth of the window
				s.wantConns(oldAddr, 0)
				s.wantConns(newAddr, 1)
				s.echo(c)
			})
		})
	}
}

// Guards: where the configured address is an IP, links go there anew at half of the
// window (movingOp, moveAtHalf).
func TestSection9_04_NullEndpointOfAnIPWaitsForHalfOfTheWindow(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		c := s.client()
		s.echo(c)
		a.tell("MOVING", 0, 15, nil)
		s.sleep(15 * time.Second)
		at := s.dials(oldAddr)
		if len(at) != 2 || at[1] < 7500*time.Millisecond || at[1] > 9*time.Second {
			t.Errorf("dialled at %v, want once between 7.5s and 9s", at[1:])
		}
		s.wantConns(oldAddr, 1)
	})
}

// The same under load, with the timing that was measured, scaled down to a fifth; DNS
// changes in the last part of the window, where most clients have reconnected long ago.
func TestSection9_04_NullEndpointWithMeasuredTimings(t *testing.T) {
	cfg := maintsim.MeasuredTimings(0.2)
	cfg.ResolverChange = maintsim.Range{Min: 2 * time.Second, Max: 2800 * time.Millisecond}
	sim := maintsim.Start(t, cfg)
	c := newClient(t, &redis.Options{Addr: sim.Name(), Dialer: sim.DialContext, Resolver: lookup(func(host string) ([]string, error) {
		return sim.LookupHost(t.Context(), host)
	})})
	l := startLoad(t, c, 8)
	if err := sim.Rebind(t.Context(), maintsim.WithNullByName()); err != nil {
		t.Fatal(err)
	}
	l.end()
}

// Guards: during a move new links are dialled at its target first (endpoint.dialTargets,
// Machine.DialTargets).
func TestSection9_05_NewDialsDuringAMoveGoToTheTarget(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		c := s.client()
		s.echo(c)
		a.tell("MOVING", 1, 15, newAddr)
		s.hold(c, 5)
		sub := c.Subscribe(s.Context(), "news")
		defer sub.Close()
		if err := sub.Ping(s.Context()); err != nil {
			t.Error(err)
		}
		s.wantConns(newAddr, 7)
		if got := len(s.dials(oldAddr)); got != 1 {
			t.Errorf("dialled the retiring address %d times, want once, before the notice", got)
		}
	})
}

// Guards: certificates are verified against the configured host's name wherever a
// link is dialled (newDialer).
func TestSection9_06_TheVerifiedNameStaysTheConfiguredHost(t *testing.T) {
	server, roots, err := maintsim.NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	sim := maintsim.Start(t, maintsim.Config{Grace: time.Second, TLS: server})
	c := newClient(t, &redis.Options{
		Addr: sim.Name(), TLSConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		Resolver: lookup(func(host string) ([]string, error) { return sim.LookupHost(t.Context(), host) }),
		MaintNotificationsConfig: &maintnotifications.Config{ // an address that the certificate does not name
			Mode: maintnotifications.ModeEnabled, EndpointType: maintnotifications.EndpointTypeExternalIP,
		},
	})
	l := startLoad(t, c, 8)
	if err := sim.Rebind(t.Context(), maintsim.WithResolverChange(5)); err != nil {
		t.Fatal(err)
	}
	l.end()
	if p := sim.Stats().Proxies[1]; p.Open == 0 {
		t.Errorf("nobody is at the target: %+v", p)
	}
}

// Guards: targets in every form are understood (maintnotifications.ParseNotice) and
// dialled as they are (endpoint.openAt).
func TestSection9_07_TargetsOfEveryForm(t *testing.T) {
	for said, where := range map[string]string{
		"[fd00::2]:6380":         "[fd00::2]:6380",
		"fd00::2:6380":           "[fd00::2]:6380",
		"10.0.0.1:7000":          "10.0.0.1:7000", // another port of the same host
		"node-2.example:7000":    "10.0.0.9:7000",
		"NODE-2.example.:7000":   "10.0.0.9:7000",
		"[::ffff:10.0.0.9]:7000": "10.0.0.9:7000",
	} {
		t.Run(said, func(t *testing.T) {
			onStage(t, func(s *stage) {
				for _, name := range []string{"node-2.example", "NODE-2.example.", "::ffff:10.0.0.9"} {
					s.net.Hosts.Set(name, "10.0.0.9")
				}
				a := s.actor(oldAddr)
				s.actor(where)
				c := s.client()
				s.echo(c)
				s.give(s.hold(c, 3)...)
				a.tell("MOVING", 1, 15, said)
				s.wantConns(oldAddr, 0)
				s.wantConns(where, 4)
				s.echo(c)
			})
		})
	}
}

// Guards: links that nobody uses read and act on notices (link's reader, onPush).
func TestSection9_08_IdleConnectionsActOnANotice(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.actor(newAddr)
		c := s.client()
		s.echo(c)
		s.give(s.hold(c, 10)...)
		s.sleep(5 * time.Minute)
		_, before := a.counts()
		a.tell("MOVING", 1, 15, newAddr)
		s.wantConns(oldAddr, 0)
		s.wantConns(newAddr, 11)
		if _, after := a.counts(); after != before {
			t.Errorf("the old server got %d commands", after-before)
		}
	})
}

// Guards: a refusal is remembered by the server's identity and for ten minutes
// (endpoint.remember, endpoint.handshake), and costs no round trip meanwhile.
func TestSection9_09_ARefusalIsRememberedPerServer(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		a.set(func(a *actor) { a.refuses = true })
		s.net.SetLatency(oldAddr, 50*time.Millisecond)
		s.opt.PoolSize = 100
		c := s.client()
		asked := func(want int) {
			t.Helper()
			s.hold(c, 5)
			if got, _ := a.counts(); got != want {
				t.Errorf("after %v: asked %d times, want %d", time.Since(s.start), got, want)
			}
		}
		s.echo(c)
		asked(1)
		began := time.Now()
		s.hold(c, 1)
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("a new connection and a command took %v, want three round trips: to dial, the handshake, the command", took)
		}
		s.sleepUntil(9 * time.Minute)
		asked(1)
		s.sleepUntil(11 * time.Minute)
		asked(2) // it may have learnt it meanwhile
		a.set(func(a *actor) { a.version, a.refuses = "8.4.0", false })
		asked(7) // after an upgrade at once, and from all
		a.tell("MIGRATING", 1, 2, "1")
		s.sleep(50 * time.Millisecond)
		if got, _, _ := s.seen.now(); got == 0 {
			t.Error("the notices of the upgraded server mean nothing")
		}
	})
}

// Guards: whatever a server makes of the opt-in, ModeAuto has a connection
// (link.Handshake, endpoint.noteCut).
func TestSection9_09_AutoNeverFailsAConnection(t *testing.T) {
	for name, change := range map[string]func(sim *maintsim.Sim){
		"refused": (*maintsim.Sim).Refuse,
		"closed":  (*maintsim.Sim).CloseOnOptIn,
	} {
		t.Run(name, func(t *testing.T) {
			sim := maintsim.Start(t, maintsim.Config{})
			change(sim)
			c := newClient(t, &redis.Options{Addr: sim.Addr(), MaxRetries: -1})
			for range 3 {
				if err := c.Conn().Ping(soon(t)).Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Guards: a server that goes down while it is asked does not count as one that can't
// stand it (endpoint.noteCut), and so the notices go on.
func TestSection9_09_CutsOfAServerThatGoesDownAreNoRefusal(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		a.set(func(a *actor) { a.hangsUp = true })
		c := s.client()
		var all sync.WaitGroup
		for range 5 { // side by side
			all.Go(func() {
				if err := c.Conn().Ping(s.Context()).Err(); err == nil {
					t.Error("a connection that was cut works")
				}
			})
		}
		all.Wait()
		a.set(func(a *actor) { a.hangsUp = false })
		s.echo(c)
		a.set(func(a *actor) { a.hangsUp = true })
		for range 5 { // one after the other, of a server that is known to send notices
			s.sleep(time.Second)
			ctx, cancel := context.WithTimeout(s.Context(), time.Second)
			if err := c.Conn().Ping(ctx).Err(); err == nil {
				t.Error("a connection that was cut works")
			}
			cancel()
		}
		a.set(func(a *actor) { a.hangsUp = false })
		s.hold(c, 3)
		a.tell("MIGRATING", 1, 2, "1")
		a.mu.Lock()
		told := len(a.conns)
		a.mu.Unlock()
		if relaxed, _, _ := s.seen.now(); told != 4 || relaxed != 4 {
			t.Errorf("%d connections are told, %d relaxed, want 4", told, relaxed)
		}
	})
}

// Guards: completions close and never open (Machine.closeWindows), and the same MOVING
// heard again, on the new link too, moves nothing (Machine.movingAgain).
func TestSection9_10_OldNewsStartsNothing(t *testing.T) {
	onStage(t, func(s *stage) {
		a, b := s.actor(oldAddr), s.actor(newAddr)
		// What a server keeps for those who opt in: completions of long ago, and the
		// move that is going on, with the time that is left.
		a.set(func(a *actor) { a.greeting = []byte(notice("MIGRATED", 7, "1") + notice("FAILED_OVER", 9, "2")) })
		b.set(func(a *actor) { a.greeting = []byte(notice("MIGRATED", 7, "1") + notice("MOVING", 11, 14, newAddr)) })
		c := s.client()
		s.hold(c, 5)
		s.wantTimeout(s.silence(c), 3*time.Second)
		if got, _, _ := s.seen.now(); got != 0 {
			t.Errorf("%d connections are relaxed by what is over", got)
		}
		s.echo(c)
		before := len(s.dials(""))
		for _, left := range []int{15, 15, 7, 0, -2} {
			a.tell("MOVING", 11, left, newAddr)
		}
		s.wantConns(newAddr, 6)
		s.sleep(time.Second)
		b.tell("MOVING", 11, 0, newAddr)
		s.sleep(time.Minute)
		b.tell("MOVING", 11, -60, newAddr)
		if got := len(s.dials("")) - before; got != 6 {
			t.Errorf("got %d dials for one move of 6 connections", got)
		}
	})
}

// The same against the simulator, which repeats everything.
func TestSection9_10_RepeatedNoticesOnTheTarget(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Grace: time.Second, FirstSeq: 40})
	sim.Retain(maintsim.Migrated, 12, "1")
	c := newClient(t, &redis.Options{Addr: sim.Addr()})
	l := startLoad(t, c, 4)
	if err := sim.Rebind(t.Context(), maintsim.WithRepeatOnTarget(), maintsim.WithDuplicates()); err != nil {
		t.Fatal(err)
	}
	l.end()
	// One, and a few more where it took long to answer.
	if p := sim.Stats().Proxies[1]; p.Accepted == 0 || p.Accepted > 6 {
		t.Errorf("the target accepted %d connections, want 1", p.Accepted)
	}
}

// Guards: READONLY from what was a primary makes the endpoint dial anew, and the write
// waits for that (core.willBeReady, endpoint.Demoted).
func TestSection9_14_AWriteSurvivesAnUnannouncedDemotion(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{Lead: time.Second, TimeUnit: 300 * time.Millisecond})
	c := newClient(t, &redis.Options{Addr: sim.Name(), Dialer: sim.DialContext, Resolver: lookup(func(host string) ([]string, error) {
		return sim.LookupHost(t.Context(), host)
	})})
	l := startLoad(t, c, 8)
	cn := c.Conn() // and one that is idle meanwhile
	if err := cn.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := cn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sim.Demote(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "all connections have left the old primary", func() bool {
		st := sim.Stats()
		return st.Proxies[0].Open == 0 && st.Proxies[1].Open >= 2
	})
	l.end()
}

// Guards: a peer that was missing from DNS twice is left (endpoint.seen).
func TestSection9_14_AnAddressThatHasLeftDNSIsLeft(t *testing.T) {
	onStage(t, func(s *stage) {
		s.actor(oldAddr)
		s.actor(newAddr)
		s.opt.Addr = "db.example:6379"
		s.net.Hosts.Set("db.example", "10.0.0.1")
		c := s.client()
		s.echo(c)
		s.give(s.hold(c, 3)...)
		s.sleep(10 * time.Second)
		s.net.Hosts.Set("db.example", "10.0.0.2")
		s.sleep(90 * time.Second)
		s.wantConns(oldAddr, 0)
		s.wantConns(newAddr, 4)
		s.echo(c)
	})
}

// Guards: what dies without a word is dialled anew, with commands held back that were
// not sent (core.hold), and idle links to the same peer are not trusted
// (endpoint.stuck, lane.Pool.popIdle).
func TestSection9_14_ACutWithoutNoticeIsRepaired(t *testing.T) {
	for _, how := range []simnet.How{simnet.FIN, simnet.RST} {
		t.Run(how.String(), func(t *testing.T) {
			onStage(t, func(s *stage) {
				s.actor(oldAddr)
				c := s.client()
				s.echo(c)
				s.give(s.hold(c, 5)...)
				s.net.Cut(oldAddr, how)
				synctest.Wait()
				s.echo(c)
				s.hold(c, 5)
				s.wantConns(oldAddr, 6)
			})
		})
	}
	t.Run("silence", func(t *testing.T) {
		onStage(t, func(s *stage) {
			s.actor(oldAddr)
			c := s.client()
			s.echo(c)
			held := s.hold(c, 5)
			s.give(held[:4]...)
			s.net.Blackhole(oldAddr, true)
			if err := held[4].Ping(s.Context()).Err(); err == nil {
				t.Fatal("a dead peer has answered")
			}
			s.net.Blackhole(oldAddr, false)
			synctest.Wait()
			if st := c.PoolStats(); st.IdleConns != 0 {
				t.Errorf("%d idle connections to the silent peer are kept", st.IdleConns)
			}
			s.hold(c, 5)
			s.echo(c)
		})
	})
}

// Guards: a command that could not be sent waits for a connection up to PoolTimeout
// (core.waitsFor), while all share one dial, and not too many (lane.Shared.rest).
func TestSection9_14_RepeatedConnectFailuresAreWaitedFor(t *testing.T) {
	onStage(t, func(s *stage) {
		s.actor(oldAddr)
		c := s.client()
		s.echo(c)
		s.net.Refuse(oldAddr, true)
		s.net.Cut(oldAddr, simnet.RST)
		synctest.Wait()
		dialled := len(s.dials(""))
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if took := s.echo(c); took > 3500*time.Millisecond {
					t.Errorf("a command went out %v after the service came back", took-3*time.Second)
				}
			})
		}
		s.sleep(3 * time.Second)
		s.net.Refuse(oldAddr, false)
		all.Wait()
		if got := len(s.dials("")) - dialled; got > 40 {
			t.Errorf("got %d dials for 100 commands in 3s", got)
		}
		s.net.Refuse(oldAddr, true)
		s.net.Cut(oldAddr, simnet.RST)
		began := time.Now()
		err := c.Echo(s.Context(), "x").Err()
		if e, ok := errors.AsType[*redis.CommandError](err); !ok || e.Delivery != redis.NotSent {
			t.Errorf("got %v, want a command that was not sent", err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 4500*time.Millisecond {
			t.Errorf("gave up after %v, want PoolTimeout, 4s", took)
		}
	})
}

// A transition nobody announced, under load, with what was measured: the address
// leaves DNS, and its connections are closed without notice.
func TestSection9_14_DNSChangesAndTheOldProxyHangsUp(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{TimeUnit: 100 * time.Millisecond})
	c := newClient(t, &redis.Options{Addr: sim.Name(), Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		return sim.DialContext(ctx, network, addr)
	}, Resolver: lookup(func(host string) ([]string, error) { return sim.LookupHost(t.Context(), host) })})
	l := startLoad(t, c, 8)
	if err := sim.ChangeDNS(t.Context(), maintsim.WithLinger(3*time.Second)); err != nil {
		t.Fatal(err)
	}
	await(t, "the client has followed", func() bool { return sim.Stats().Proxies[1].OptedIn > 0 })
	close(l.stop)
	l.wg.Wait()
	l.errs.Range(func(msg, _ any) bool {
		// Only INCR, which may have been executed, can't be sent again.
		if got, want := fmt.Sprint(msg), "may have been executed"; !containsAll(got, "incr: ", want) {
			t.Error(got)
		}
		return true
	})
	if acked, maybe, got := l.acked.Load(), l.maybe.Load(), counter(t, sim); got < acked || got > acked+maybe {
		t.Errorf("counter is %d, want between %d and %d", got, acked, acked+maybe)
	}
}
