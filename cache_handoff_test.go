package redis_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintsim"
)

// A tracker is a server on a stage whose replies a test gives. It answers handshakes by
// itself.
type tracker struct {
	mu    sync.Mutex // guards parts
	parts []*part    // connections, oldest first
}

// newTracker starts a tracker; answer gets the number of the connection, from 1. An
// empty answer is none yet.
func newTracker(s *stage, answer func(conn int, args []string) string) *tracker {
	s.Helper()
	l, err := s.net.Listen(oldAddr)
	if err != nil {
		s.Fatal(err)
	}
	tr := &tracker{}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			p := &part{Conn: nc}
			tr.mu.Lock()
			tr.parts = append(tr.parts, p)
			n := len(tr.parts)
			tr.mu.Unlock()
			go tr.serve(p, n, answer)
		}
	}()
	return tr
}

func (tr *tracker) serve(nc net.Conn, n int, answer func(conn int, args []string) string) {
	in := bufio.NewReader(nc)
	for {
		args, err := readCommand(in)
		if err != nil {
			_ = nc.Close()
			return
		}
		out := handshakeReply(args)
		switch {
		case strings.EqualFold(strings.Join(args, " "), "client tracking on"):
			out = "+OK\r\n"
		case out == "":
			out = answer(n, args)
		}
		tr.send(n, out)
	}
}

// send sends frames on a connection.
func (tr *tracker) send(conn int, frames string) {
	tr.mu.Lock()
	p := tr.parts[conn-1]
	tr.mu.Unlock()
	p.send(frames)
}

func invalidated(key string) string { return ">2\r\n" + bulk("invalidate") + "*1\r\n" + bulk(key) }

// TestAReplyOnItsWayIsNotStoredAfterItsInvalidation is the race of which Redis's reference
// of client-side caching warns. A key is tracked on both links of the shared lane, and its
// reply on the one is overtaken by its invalidation on the other.
func TestAReplyOnItsWayIsNotStoredAfterItsInvalidation(t *testing.T) {
	onStage(t, func(s *stage) {
		long := strings.Repeat(".", 40<<10) // goes over the second link, once that is known
		gets := 0
		tr := newTracker(s, func(_ int, args []string) string {
			switch args[0] {
			case "get":
				switch gets++; gets {
				case 1:
					return bulk("v1" + long)
				case 2:
					return "" // v2 was read, and is on its way
				}
				return bulk("v3" + long)
			case "strlen":
				return ":40962\r\n"
			}
			return "+OK\r\n"
		})
		s.opt.ClientSideCacheConfig = &redis.CacheConfig{}
		c := s.client()
		read := func() string {
			v, err := c.Get(context.Background(), "k").Result()
			if err != nil {
				s.Error(err)
			}
			return v[:2]
		}
		if v := read(); v != "v1" {
			s.Fatalf("got %s", v)
		}
		tr.send(1, invalidated("k")) // v2 was written
		synctest.Wait()
		if err := c.StrLen(context.Background(), "k").Err(); err != nil { // the first link tracks the key again
			s.Fatal(err)
		}
		slow := make(chan string, 1)
		go func() { slow <- read() }() // over the second link
		synctest.Wait()
		tr.send(1, invalidated("k")) // v3 was written
		synctest.Wait()
		tr.send(2, bulk("v2"+long)) // the second link's invalidation comes behind it
		if v := <-slow; v != "v2" {
			s.Fatalf("got %s", v)
		}
		if v := read(); v != "v3" {
			s.Errorf("got %s, which is older than an invalidation that was received", v)
		}
		if v := read(); v != "v3" || c.CSCStats().Hits != 1 {
			s.Errorf("got %s, %+v, want v3 out of the cache", v, c.CSCStats())
		}
	})
}

func TestADeadConnectionIsNoticedThoughAllIsCached(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.actor(oldAddr)
		s.opt.ClientSideCacheConfig = &redis.CacheConfig{}
		c := s.client()
		s.values["k"] = "v1"
		wantGet(s.T, c, "k", "v1", false)
		s.sleep(time.Minute)
		wantGet(s.T, c, "k", "v1", true)
		a.mu.Lock()
		if a.commands < 20 || a.commands > 31 {
			s.Errorf("got %d commands in a minute, want a PING every other second", a.commands)
		}
		a.quiet = true
		a.mu.Unlock()
		s.values["k"] = "v2"
		s.sleep(2*time.Second + s.opt.ReadTimeout + time.Second)
		if n := c.CSCStats().Entries; n != 0 {
			s.Errorf("got %d entries of a server that is silent", n)
		}
		a.mu.Lock()
		a.quiet = false
		a.mu.Unlock()
		wantGet(s.T, c, "k", "v2", false)
	})
}

func TestAHandoffEmptiesTheCache(t *testing.T) {
	onStage(t, func(s *stage) {
		old := s.actor(oldAddr)
		s.actor(newAddr)
		s.opt.ClientSideCacheConfig = &redis.CacheConfig{}
		c := s.client()
		s.values["k"] = "v1"
		wantGet(s.T, c, "k", "v1", false)
		wantGet(s.T, c, "k", "v1", true)
		stuck := s.silence(c) // keeps the old connection draining
		s.values["k"] = "v2"  // at the new server, of which the old one knows nothing
		old.conns[0].send(">4\r\n+MOVING\r\n:1\r\n:10\r\n" + bulk(newAddr))
		s.sleep(time.Second)
		s.wantConns(oldAddr, 1)
		s.wantConns(newAddr, 1)
		wantGet(s.T, c, "k", "v2", false)
		wantGet(s.T, c, "k", "v2", true)
		<-stuck.done
		s.sleep(time.Second)
		s.wantConns(oldAddr, 0)
		wantGet(s.T, c, "k", "v2", true) // it is the new connection's
	})
}

func TestRefreshReadsAnewWhatWasInvalidated(t *testing.T) {
	onStage(t, func(s *stage) {
		value := atomic.Int64{}
		var asked atomic.Int64
		tr := newTracker(s, func(_ int, args []string) string {
			if args[0] == "get" {
				asked.Add(1)
				return bulk(fmt.Sprint(args[1], "=", value.Load()))
			}
			return "+OK\r\n"
		})
		s.opt.ClientSideCacheConfig = &redis.CacheConfig{}
		s.opt.ClientSideCacheRefreshOnInvalidate = true
		s.opt.ClientSideCacheInvalidationBatchWindow = time.Second
		c := s.client()
		for _, key := range []string{"a", "b"} {
			wantGet(s.T, c, key, key+"=0", false)
		}
		change := func() {
			value.Add(1)
			tr.send(1, invalidated("a")+invalidated("b")+invalidated("other"))
			synctest.Wait()
		}
		change()
		if n := c.CSCStats().Entries; n != 0 {
			s.Errorf("got %d entries, want what was invalidated to be gone at once", n)
		}
		s.sleep(time.Second)
		for _, key := range []string{"a", "b"} {
			wantGet(s.T, c, key, key+"=1", true)
		}
		change()
		wantGet(s.T, c, "a", "a=2", false) // asked for: the window ends
		synctest.Wait()
		wantGet(s.T, c, "b", "b=2", true)
		tr.send(1, ">2\r\n"+bulk("invalidate")+"_\r\n")
		synctest.Wait()
		if n := c.CSCStats().Entries; n != 0 {
			s.Errorf("got %d entries after a flush", n)
		}
		want := redis.CSCRefreshStats{
			Invalidations: 7, Deletions: 6, DeletionsNoop: 2, Enqueued: 4, Refreshed: 3, DemandFlushes: 1,
		}
		if got := c.CSCRefreshStats(); got != want {
			s.Errorf("got %+v, want %+v", got, want)
		}
		if n := asked.Load(); n != 6 {
			s.Errorf("the server was asked %d times, want 6", n)
		}
	})
}

func TestMissesAreCoalesced(t *testing.T) {
	for _, coalesce := range []bool{false, true} {
		onStage(t, func(s *stage) {
			var asked atomic.Int64
			tr := newTracker(s, func(int, []string) string { asked.Add(1); return "" })
			s.opt.ClientSideCacheConfig = &redis.CacheConfig{}
			s.opt.ClientSideCacheCoalesceMisses = coalesce
			c := s.client()
			const callers = 5
			want := int64(callers)
			if coalesce {
				want = 1
			}
			got := make(chan string, callers)
			for range callers {
				go func() { got <- c.Get(context.Background(), "k").Val() }()
			}
			synctest.Wait()
			if n := asked.Load(); n != want {
				s.Errorf("the server was asked %d times, want %d", n, want)
			}
			tr.send(1, strings.Repeat(bulk("v"), int(want)))
			for range callers {
				if v := <-got; v != "v" {
					s.Errorf("got %q", v)
				}
			}
			wantGet(s.T, c, "k", "v", true)

			// A leader that leaves leaves the others to themselves.
			ctx, cancel := context.WithCancel(context.Background())
			lead := make(chan error, 1)
			go func() { lead <- c.Get(ctx, "other").Err() }()
			synctest.Wait()
			go func() { got <- c.Get(context.Background(), "other").Val() }()
			synctest.Wait()
			cancel()
			if err := <-lead; err == nil {
				s.Error("got no error of a caller that has left")
			}
			synctest.Wait()
			tr.send(1, bulk("late")+bulk("v2"))
			if v := <-got; v != "v2" {
				s.Errorf("got %q, want the reply of a command of its own", v)
			}
		})
	}
}

// TestCachedReadsAcrossHandoffs moves the endpoint under load. Nothing fails, nobody
// reads less than he has read or written before, and when it is over all read the last
// value.
func TestCachedReadsAcrossHandoffs(t *testing.T) {
	for _, name := range []string{realserver.Redis7, realserver.Redis8} {
		t.Run(name, func(t *testing.T) {
			sim := maintsim.Start(t, maintsim.Config{
				Backend: maintsim.Program(realserver.Require(t, name)), Proxies: 3, Grace: 6 * time.Second, TimeUnit: 50 * time.Millisecond,
			})
			c := newClient(t, caching(sim.Addr()))
			const keys = 4
			put := func(k int, v int64) {
				if _, err := sim.Backend().Do("SET", fmt.Sprint("number", k), fmt.Sprint(v)); err != nil {
					t.Error(err)
				}
			}
			for k := range keys {
				put(k, 0)
			}
			l := startLoad(t, c, 4) // reads what it has written
			var wg sync.WaitGroup
			var last [keys]atomic.Int64
			for k := range keys {
				wg.Go(func() {
					for v := int64(1); ; v++ {
						select {
						case <-l.stop:
							return
						case <-time.After(3 * time.Millisecond):
						}
						put(k, v)
						last[k].Store(v)
					}
				})
				wg.Go(func() {
					least := int64(0)
					for n := 0; ; n++ {
						select {
						case <-l.stop:
							return
						default:
						}
						v, err := c.Get(context.Background(), fmt.Sprint("number", k)).Int64()
						if err != nil || v < least {
							t.Errorf("got %d, %v of number %d, after %d", v, err, k, least)
							return
						}
						least = v
						if n%32 == 0 {
							_ = c.Ping(context.Background()).Err()
						}
					}
				})
			}
			for range 6 {
				if err := sim.Rebind(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			l.end()
			wg.Wait()
			t.Logf("%d commands, %+v", l.ops.Load(), c.CSCStats())
			for k := range keys {
				key, want := fmt.Sprint("number", k), last[k].Load()
				await(t, "the last value of "+key, func() bool { v, _ := c.Get(t.Context(), key).Int64(); return v == want })
			}
			if s := c.CSCStats(); s.Hits == 0 {
				t.Errorf("got %+v, want something to come out of the cache", s)
			}
		})
	}
}
