package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/internal/simnet"
	"github.com/baton-go/redis/maintsim"
)

// replicated starts a simulated database in front of a real server that has one replica.
func replicated(t *testing.T, server string, grace time.Duration) (c, direct *redis.Client, sim *maintsim.Sim) {
	t.Helper()
	c, direct, sim = startBlockable(t, server, grace)
	host, port, _ := strings.Cut(direct.Options().Addr, ":")
	replica := newClient(t, &redis.Options{Addr: realserver.Start(t, server).Addr()})
	if err := replica.Do(t.Context(), "replicaof", host, port).Err(); err != nil {
		t.Fatal(err)
	}
	await(t, "the replica is in step", func() bool {
		info, err := direct.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(info, "state=online")
	})
	return c, direct, sim
}

// waits are the ways to wait for more replicas than there are, on a connection that has
// written; each gives how many there were.
func waits(server string) map[string]func(ctx context.Context, cn *redis.Conn, d time.Duration) (int64, error) {
	all := map[string]func(ctx context.Context, cn *redis.Conn, d time.Duration) (int64, error){
		"wait": func(ctx context.Context, cn *redis.Conn, d time.Duration) (int64, error) {
			return cn.Wait(ctx, 2, d).Result()
		},
		"pipeline": func(ctx context.Context, cn *redis.Conn, d time.Duration) (int64, error) {
			var w *redis.Cmd
			_, err := cn.Pipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "k", "w", 0)
				w = p.Do(ctx, "wait", 2, d.Milliseconds())
				return nil
			})
			if err != nil {
				return 0, err
			}
			return w.Int64()
		},
	}
	if server != "redis-7.0" {
		all["waitaof"] = func(ctx context.Context, cn *redis.Conn, d time.Duration) (int64, error) {
			v, err := cn.WaitAOF(ctx, 0, 2, d).Result()
			if err != nil {
				return 0, err
			}
			return 1 + v[1], nil // no replica of the tests writes to a disk
		}
	}
	return all
}

// TestWaitEndsBeforeItsConnectionDoes: a WAIT stays on its connection during a handoff, and
// tells before that is closed how many have the writes.
func TestWaitEndsBeforeItsConnectionDoes(t *testing.T) {
	const grace = 2 * time.Second
	for _, server := range sentinelServers() {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c, direct, sim := replicated(t, server, grace)
			for name, wait := range waits(server) {
				t.Run(name, func(t *testing.T) {
					ctx := soon(t)
					cn := c.Conn()
					defer cn.Close()
					if err := cn.Set(ctx, "k", "v", 0).Err(); err != nil {
						t.Fatal(err)
					}
					began := time.Now()
					if n, err := wait(ctx, cn, 300*time.Millisecond); n != 1 || err != nil {
						t.Errorf("got %d, %v, want the one replica there is", n, err)
					}
					if took := time.Since(began); took < 300*time.Millisecond || took > 600*time.Millisecond {
						t.Errorf("a wait of 300ms took %v", took)
					}
					moved := moveOnceItWaits(ctx, t, direct, sim, &began)
					n, err := wait(ctx, cn, 20*time.Second)
					took := time.Since(began)
					if n != 1 || err != nil {
						t.Errorf("got %d, %v, want the one replica there is", n, err)
					}
					if took < grace/2 || took >= grace {
						t.Errorf("it was ended after %v of %v", took, grace)
					}
					moved()
				})
			}
		})
	}
}

// moveOnceItWaits moves the client's connections as soon as the server has a WAIT, and sets
// began then. moved waits until that is over.
func moveOnceItWaits(ctx context.Context, t *testing.T, direct *redis.Client, sim *maintsim.Sim, began *time.Time) (moved func()) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() {
		await(t, "it waits", func() bool {
			list, err := direct.ClientList(ctx).Result()
			return err == nil && strings.Contains(list, "cmd=wait")
		})
		*began = time.Now()
		if err := sim.Rebind(ctx); err != nil {
			t.Error(err)
		}
	})
	return wg.Wait
}

// A waitTrial is a stage whose server answers WAIT with 1, and counts them; it finds out
// whether somebody answers for what another connection has written.
type waitTrial struct {
	*stage
	roams bool // WAITs are like other commands
	asked atomic.Int32
	cut   atomic.Bool
	found []string // what is wrong
}

// client makes the client.
func (s *waitTrial) client() *redis.Client {
	s.actor(oldAddr).says = func(args []string) string {
		if !strings.EqualFold(args[0], "wait") {
			return ""
		}
		s.asked.Add(1)
		if s.cut.Load() {
			s.net.Cut(oldAddr, simnet.FIN) // what was answered before arrives
			return ""
		}
		return ":1\r\n"
	}
	s.opt.MaxRetries = 3
	c := s.stage.client()
	if s.roams {
		c.LetWaitsRoam()
	}
	return c
}

// find notes something wrong.
func (s *waitTrial) find(format string, args ...any) {
	s.found = append(s.found, fmt.Sprintf(format, args...))
}

// wantLost finds out whether a WAIT was not answered, and says so.
func (s *waitTrial) wantLost(err error, want redis.Delivery, times int32) {
	e, ok := errors.AsType[*redis.CommandError](err)
	if !ok || e.Delivery != want {
		s.find("got %v, want a command error, %v", err, want)
	}
	if got := s.asked.Load(); got != times {
		s.find("it was sent %d times, want %d", got, times)
	}
}

// set writes on a connection.
func (s *waitTrial) set(cn *redis.Conn) {
	s.Helper()
	if err := cn.Set(s.Context(), "k", "v", 0).Err(); err != nil {
		s.Error(err)
	}
}

// pipelined writes and waits in one pipeline.
func (s *waitTrial) pipelined(c *redis.Client) ([]redis.Cmder, error) {
	return c.Pipelined(s.Context(), func(p redis.Pipeliner) error {
		p.Set(s.Context(), "k", "v", 0)
		p.Do(s.Context(), "wait", 1, 1000)
		return nil
	})
}

// Another connection answers a WAIT for its own writes, so it is not asked. Without the
// rule it is, which the trials find where nothing else forbids it: one that was sent is
// not sent again by itself.
func TestWaitIsAboutItsOwnConnection(t *testing.T) {
	sent := []string{"cut in it", "cut in a pipeline"}
	for name, test := range map[string]func(s *waitTrial){
		"cut before it": func(s *waitTrial) {
			cn := s.client().Conn()
			s.set(cn)
			s.net.Cut(oldAddr, simnet.RST)
			s.wantLost(cn.Wait(s.Context(), 1, time.Second).Err(), redis.NotSent, 0)
			s.set(cn) // on a new one
			if n, err := cn.Wait(s.Context(), 1, time.Second).Result(); n != 1 || err != nil {
				s.Errorf("got %d, %v on the new connection", n, err)
			}
			s.give(cn)
		},
		"cut before it and written again": func(s *waitTrial) {
			cn := s.client().Conn()
			s.set(cn)
			s.net.Cut(oldAddr, simnet.RST)
			s.set(cn)
			s.wantLost(cn.Wait(s.Context(), 1, time.Second).Err(), redis.NotSent, 0)
			s.give(cn)
		},
		"cut in it": func(s *waitTrial) {
			cn := s.client().Conn()
			s.set(cn)
			s.cut.Store(true)
			s.wantLost(cn.Wait(s.Context(), 1, time.Second).Err(), redis.MaybeSent, 1)
			s.give(cn)
		},
		"cut in a pipeline": func(s *waitTrial) {
			c := s.client()
			s.cut.Store(true)
			cmds, err := s.pipelined(c)
			s.wantLost(err, redis.MaybeSent, 1)
			if cmds[0].Err() != nil {
				s.Errorf("SET: %v", cmds[0].Err())
			}
		},
	} {
		for kind, roams := range map[string]bool{"": false, "/without the rule": true} {
			if roams && slices.Contains(sent, name) {
				continue
			}
			t.Run(name+kind, func(t *testing.T) {
				onStage(t, func(stage *stage) {
					s := &waitTrial{stage: stage, roams: roams}
					test(s)
					if roams != (len(s.found) > 0) {
						s.Errorf("found %q", s.found)
					}
				})
			})
		}
	}
}

// A WAIT goes over another connection together with all that it is about.
func TestWaitIsSentAgainWithItsWrites(t *testing.T) {
	onStage(t, func(stage *stage) {
		s := &waitTrial{stage: stage}
		c := s.client()
		s.give(s.hold(c, 1)...)
		s.net.Cut(oldAddr, simnet.FIN) // seen when it is lent, or not
		cmds, err := s.pipelined(c)
		if err != nil || cmds[1].(*redis.Cmd).Val() != int64(1) || s.asked.Load() != 1 {
			s.Errorf("got %v, %v, sent %d times", cmds, err, s.asked.Load())
		}
	})
}

// Without the rule a WAIT is not ended before its connection is, and another one answers.
func TestWithoutItsRuleAWaitOutlastsItsConnection(t *testing.T) {
	t.Parallel()
	const grace = time.Second
	c, direct, sim := replicated(t, realserver.Redis8, grace)
	c.LetWaitsRoam()
	ctx := soon(t)
	cn := c.Conn()
	defer cn.Close()
	if err := cn.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	var began time.Time
	moved := moveOnceItWaits(ctx, t, direct, sim, &began)
	n, err := cn.Wait(ctx, 2, 3*time.Second).Result()
	ended := time.Now()
	moved()
	if took := ended.Sub(began); took < grace {
		t.Errorf("got %d, %v after %v, want it to be cut off after %v", n, err, took, grace)
	}
}

// blockingWaits are commands that block, with how a server answers when their time is over.
func blockingWaits() map[string]struct {
	timeout int // which argument
	unit    time.Duration
	null    string
	call    func(ctx context.Context, c *redis.Client, d time.Duration) error
} {
	type row = struct {
		timeout int
		unit    time.Duration
		null    string
		call    func(ctx context.Context, c *redis.Client, d time.Duration) error
	}
	const sec, ms, null = time.Second, time.Millisecond, "_\r\n"
	return map[string]row{
		"blpop": {2, sec, null, func(ctx context.Context, c *redis.Client, d time.Duration) error { return c.BLPop(ctx, d, "k").Err() }},
		"brpop": {2, sec, null, func(ctx context.Context, c *redis.Client, d time.Duration) error { return c.BRPop(ctx, d, "k").Err() }},
		"brpoplpush": {3, sec, null, func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.BRPopLPush(ctx, "k", "l", d).Err()
		}},
		"blmove": {5, sec, null, func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.BLMove(ctx, "k", "l", "left", "right", d).Err()
		}},
		"blmpop": {1, sec, null, func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.BLMPop(ctx, d, "left", 1, "k").Err()
		}},
		"bzpopmin": {2, sec, null, func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.BZPopMin(ctx, d, "k").Err()
		}},
		"bzpopmax": {2, sec, null, func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.BZPopMax(ctx, d, "k").Err()
		}},
		"bzmpop": {1, sec, null, func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.BZMPop(ctx, d, "min", 1, "k").Err()
		}},
		"xread": {2, ms, null, func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.XRead(ctx, &redis.XReadArgs{Streams: []string{"k", "$"}, Block: d}).Err()
		}},
		"xreadgroup": {5, ms, null, func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{"k", ">"}, Block: d}).Err()
		}},
		"ts.read": {4, ms, "*0\r\n", func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.TSReadWithArgs(ctx, "k", "$", &redis.TSReadOptions{Block: true, Timeout: d}).Err()
		}},
		"wait": {2, ms, ":0\r\n", func(ctx context.Context, c *redis.Client, d time.Duration) error { return c.Wait(ctx, 1, d).Err() }},
		"waitaof": {3, ms, "*2\r\n:0\r\n:0\r\n", func(ctx context.Context, c *redis.Client, d time.Duration) error {
			return c.WaitAOF(ctx, 0, 1, d).Err()
		}},
	}
}

// Each command that blocks does so for its own time: the timeouts of others, relaxed or
// not, do not cut it short.
func TestBlockingCommandsHaveTheirOwnTime(t *testing.T) {
	for name, b := range blockingWaits() {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				a := s.actor(oldAddr)
				a.says = func(args []string) string {
					if !strings.EqualFold(args[0], name) {
						return ""
					}
					n, err := strconv.ParseFloat(args[b.timeout], 64)
					if err != nil {
						return "-ERR timeout is not a number\r\n"
					}
					<-time.After(time.Duration(n * float64(b.unit)))
					return b.null
				}
				s.maint.RelaxedTimeout = 6 * time.Second
				c := s.client()
				s.echo(c)
				check := func(d time.Duration) {
					s.Helper()
					began := time.Now()
					err := b.call(s.Context(), c, d)
					if took := time.Since(began); took != d || err != nil && !errors.Is(err, redis.Nil) {
						s.Errorf("got %v after %v, want nothing after %v", err, took, d)
					}
				}
				both := []time.Duration{200 * time.Millisecond, 5 * time.Second, 17 * time.Second}
				for d := range slices.Values(both) {
					check(d)
				}
				a.tell("MIGRATING", 1, 30, "1")
				for d := range slices.Values(both) {
					check(d)
				}
			})
		})
	}
}

// A TS.READ that was cut goes on with the time that is left.
func TestTSReadGoesOnWithTheTimeThatIsLeft(t *testing.T) {
	onStage(t, func(s *stage) {
		var blocks []string
		s.actor(oldAddr).says = func(args []string) string {
			if !strings.EqualFold(args[0], "ts.read") {
				return ""
			}
			s.mu.Lock()
			blocks = append(blocks, args[4])
			s.mu.Unlock()
			n, _ := strconv.Atoi(args[4])
			<-time.After(time.Duration(n) * time.Millisecond)
			return "*0\r\n"
		}
		s.opt.MaxRetries = 3
		c := s.client()
		time.AfterFunc(3*time.Second, func() { s.net.Cut(oldAddr, simnet.FIN) })
		began := time.Now()
		err := c.TSReadWithArgs(s.Context(), "k", "0", &redis.TSReadOptions{Block: true, Timeout: 10 * time.Second}).Err()
		if took := time.Since(began); err != nil || took < 9950*time.Millisecond || took > 10050*time.Millisecond {
			s.Errorf("got %v after %v, want nothing after 10s", err, took)
		}
		if len(blocks) != 2 || blocks[0] != "10000" || len(blocks[1]) != 4 {
			s.Errorf("it blocked for %v ms, want 10000, and 7000 less a pause", blocks)
		}
		s.sleep(10 * time.Second) // the server has not noticed
	})
}
