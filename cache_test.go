package redis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/invariants"
	"github.com/baton-go/redis/internal/realserver"
)

// caching gives options of a client with a cache.
func caching(addr string) *redis.Options {
	return &redis.Options{Addr: addr, ClientSideCacheConfig: &redis.ClientSideCacheConfig{}}
}

// onEach runs a test on each real server.
func onEach(t *testing.T, test func(t *testing.T, addr string)) {
	t.Helper()
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			s := realserver.Start(t, name)
			test(t, s.Addr())
		})
	}
}

// wantGet checks what a client reads, and whether it was out of the cache.
func wantGet(t *testing.T, c *redis.Client, key, want string, cached bool) {
	t.Helper()
	before := c.CSCStats().Hits
	got, err := c.Get(t.Context(), key).Result()
	if want == "" && errors.Is(err, redis.Nil) {
		err = nil
	}
	if err != nil || got != want {
		t.Errorf("got %q, %v of %s, want %q", got, err, key, want)
	}
	if hit := c.CSCStats().Hits > before; hit != cached {
		t.Errorf("%s came out of the cache: %v, want %v", key, hit, cached)
	}
}

func TestCacheAnswersUntilTheKeyChanges(t *testing.T) {
	onEach(t, func(t *testing.T, addr string) {
		c, other := newClient(t, caching(addr)), admin(t, addr)
		wantGet(t, c, "k", "", false)
		wantGet(t, c, "k", "", true) // that there is nothing is cached as well
		do(t, other, "set", "k", "v1")
		await(t, "the key is invalid", func() bool { return c.CSCStats().Entries == 0 })
		wantGet(t, c, "k", "v1", false)
		wantGet(t, c, "k", "v1", true)
		if b, err := c.GetBytes(t.Context(), nil, "k"); err != nil || string(b) != "v1" {
			t.Errorf("got %q, %v", b, err)
		}
		for _, flush := range []string{"flushdb", "flushall"} {
			do(t, other, "set", "k", flush)
			await(t, "the key is invalid", func() bool { return c.CSCStats().Entries == 0 })
			wantGet(t, c, "k", flush, false)
			do(t, other, flush)
			await(t, "all is invalid", func() bool { return c.CSCStats().Entries == 0 })
			wantGet(t, c, "k", "", false)
		}
		do(t, other, "set", "e", "v", "px", "200")
		wantGet(t, c, "e", "v", false)
		await(t, "the key has expired", func() bool { return c.Get(t.Context(), "e").Err() == redis.Nil }) //nolint:errorlint // it is Nil
		if s := c.CSCRefreshStats(); s.Invalidations == 0 || s.Deletions == 0 {
			t.Errorf("got %+v", s)
		}
	})
}

func TestCacheSeesTheClientsOwnWrites(t *testing.T) {
	onEach(t, func(t *testing.T, addr string) {
		c, ctx := newClient(t, caching(addr)), t.Context()
		conn := c.Conn()
		defer conn.Close()
		writes := []func(v string) error{
			func(v string) error { return c.Set(ctx, "k", v, 0).Err() },
			func(v string) error { return c.SetBytes(ctx, "k", []byte(v), 0) },
			func(v string) error { return conn.Set(ctx, "k", v, 0).Err() },
			func(v string) error {
				return c.Eval(ctx, "return redis.call('set', KEYS[1], ARGV[1])", []string{"k"}, v).Err()
			},
			func(v string) error {
				_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, "k", v, 0); return nil })
				return err
			},
			func(v string) error {
				_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, "k", v, 0); return nil })
				return err
			},
			func(v string) error {
				return c.Watch(ctx, func(tx *redis.Tx) error {
					_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, "k", v, 0); return nil })
					return err
				}, "k")
			},
			func(v string) error {
				conn.Do(ctx, "multi")
				conn.Set(ctx, "k", v, 0)
				return conn.Do(ctx, "exec").Err()
			},
			func(v string) error {
				_, err := conn.Pipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, "k", v, 0); return nil })
				return err
			},
		}
		for i := range 200 * len(writes) {
			v := fmt.Sprint(i)
			if err := writes[i%len(writes)](v); err != nil {
				t.Fatal(err)
			}
			if got, err := c.Get(ctx, "k").Result(); err != nil || got != v {
				t.Fatalf("got %q, %v after writing %q by way %d", got, err, v, i%len(writes))
			}
		}
		do(t, c, "set", "k", "v")
		wantGet(t, c, "k", "v", false)
		do(t, c, "swapdb", "0", "1")
		wantGet(t, c, "k", "", false)
		do(t, c, "flushall")
		wantGet(t, c, "k", "", false)
	})
}

// TestCachedCommands compares the replies of each command without and with the cache.
func TestCachedCommands(t *testing.T) {
	onEach(t, func(t *testing.T, addr string) {
		other := admin(t, addr)
		for _, args := range [][]any{
			{"set", "s", "hello"},
			{"set", "s2", "help"},
			{"rpush", "l", "a", "b", "c"},
			{"sadd", "set", "a"},
			{"sadd", "set2", "a"},
			{"hset", "h", "f", "1", "g", "2"},
			{"zadd", "z", "1", "a", "2", "b"},
			{"zadd", "z2", "3", "a"},
			{"geoadd", "geo", "13.361389", "38.115556", "Palermo"},
			{"xadd", "x", "1-1", "f", "v"},
		} {
			do(t, other, args...)
		}
		plain, c := newClient(t, &redis.Options{Addr: addr}), newClient(t, caching(addr))
		held := map[string][]string{} // the words of each command that is cached, by its text
		for _, line := range []string{
			"get s", "mget s s2 none", "getrange s 1 3", "strlen s", "lcs s s2", "bitcount s", "bitpos s 1", "getbit s 3",
			"bitfield_ro s GET u8 0", "exists s none", "type s", "expiretime s", "hexists h f", "hget h f", "hgetall h", "hkeys h",
			"hlen h", "hmget h f none", "hstrlen h f", "hvals h", "lindex l 1", "llen l", "lpos l b", "lrange l 0 -1", "scard set",
			"sdiff set set2", "sinter set set2", "sintercard 2 set set2", "sismember set a", "smembers set", "smismember set a b",
			"sunion set set2", "zcard z", "zcount z 0 5", "zdiff 2 z z2", "zinter 2 z z2 WITHSCORES", "zintercard 2 z z2",
			"zlexcount z - +", "zmscore z a c", "zrange z 0 -1 WITHSCORES", "zrangebyscore z 0 5", "zrank z b", "zrevrange z 0 -1",
			"zrevrank z b", "zscore z b", "zunion 2 z z2", "geodist geo Palermo Palermo", "geohash geo Palermo", "geopos geo Palermo",
			"xlen x", "xrange x - +", "xrevrange x + -", "GET s",
		} {
			var args []any
			for f := range strings.FieldsSeq(line) {
				args = append(args, f)
			}
			want := fmt.Sprint(plain.Do(t.Context(), args...).Result())
			first := fmt.Sprint(c.Do(t.Context(), args...).Result())
			before := c.CSCStats()
			again := fmt.Sprint(c.Do(t.Context(), args...).Result())
			if first != want || again != want {
				t.Errorf("%s: got %s and then %s, want %s", line, first, again, want)
			}
			if after := c.CSCStats(); after.Hits != before.Hits+1 {
				t.Errorf("%s is not cached", line)
			}
			line = strings.ToLower(line)
			held[line] = strings.Fields(line)[1:]
		}
		// Each of these keys is one of the last command's.
		for _, key := range []string{"s", "z", "set2"} {
			do(t, other, "del", key)
			maps.DeleteFunc(held, func(_ string, words []string) bool { return slices.Contains(words, key) })
			await(t, "what is kept is what has not "+key, func() bool { return c.CSCStats().Entries == len(held) })
		}
		for _, line := range []string{"get h", "ttl h", "srandmember set", "scan 0", "object encoding h", "ping"} {
			was := c.CSCStats().Entries
			for range 2 {
				var args []any
				for f := range strings.FieldsSeq(line) {
					args = append(args, f)
				}
				_ = c.Do(t.Context(), args...).Err()
			}
			if n := c.CSCStats().Entries; n != was {
				t.Errorf("%s is cached", line)
			}
		}
	})
}

// TestCacheStaleness lets readers look for a value older than what they must see: the
// writer's number once its invalidation was received, and what the same client wrote once
// it was answered.
func TestCacheStaleness(t *testing.T) {
	onEach(t, func(t *testing.T, addr string) {
		for _, coalesce := range []bool{false, true} {
			opt := caching(addr)
			opt.ClientSideCacheCoalesceMisses, opt.ClientSideCacheRefreshOnInvalidate = coalesce, coalesce
			testStaleness(t, opt)
		}
	})
}

func testStaleness(t *testing.T, opt *redis.Options) {
	t.Helper()
	const keys = 4
	c, other := newClient(t, opt), admin(t, opt.Addr)
	ctx, stop := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer stop()
	var told [keys]atomic.Int64
	var reads atomic.Int64
	var wg sync.WaitGroup
	for k := range keys {
		key := fmt.Sprint("key", k)
		do(t, other, "set", key, 0)
		writer := other
		if k%2 == 0 {
			writer = c // its own writes are seen once they are answered
		}
		wg.Go(func() {
			for v := int64(1); ctx.Err() == nil; v++ {
				was := c.CSCRefreshStats().Invalidations
				if err := writer.Set(context.Background(), key, v, 0).Err(); err != nil {
					t.Error(err)
					return
				}
				if writer != c {
					// One reader has read the key since the write before; its
					// invalidation, or a later one of all, is on its way.
					if _, err := c.Get(context.Background(), key).Result(); err != nil {
						t.Error(err)
						return
					}
					for c.CSCRefreshStats().Invalidations < was+1 && ctx.Err() == nil {
						_ = c.Ping(context.Background()).Err()
					}
					continue
				}
				told[k].Store(v)
			}
		})
		for range 3 {
			wg.Go(func() {
				last := int64(0)
				for ctx.Err() == nil {
					least := max(told[k].Load(), last)
					v, err := c.Get(context.Background(), key).Int64()
					if err != nil || v < least {
						t.Errorf("got %d, %v of %s, after %d", v, err, key, least)
						return
					}
					last = v // values never go back
					if reads.Add(1)%64 == 0 {
						_ = c.Ping(ctx).Err() // let others run
					}
				}
			})
		}
	}
	wg.Wait()
	t.Logf("%d reads, %+v, %+v", reads.Load(), c.CSCStats(), c.CSCRefreshStats())
	for k := range keys {
		want := do(t, other, "get", fmt.Sprint("key", k))
		await(t, "the last value", func() bool { return c.Get(t.Context(), fmt.Sprint("key", k)).Val() == want })
	}
}

func TestCacheIsEmptiedWithItsConnection(t *testing.T) {
	onEach(t, func(t *testing.T, addr string) {
		c, other := newClient(t, caching(addr)), admin(t, addr)
		do(t, other, "set", "k", "v1")
		wantGet(t, c, "k", "v1", false)
		wantGet(t, c, "k", "v1", true)
		do(t, other, "client", "kill", "type", "normal", "skipme", "yes")
		await(t, "the cache is empty", func() bool { return c.CSCStats().Entries == 0 })
		do(t, other, "set", "k", "v2") // nobody tells
		wantGet(t, c, "k", "v2", false)
		do(t, other, "set", "k", "v3") // the new connection does
		await(t, "the cache is empty", func() bool { return c.CSCStats().Entries == 0 })
		wantGet(t, c, "k", "v3", false)
	})
}

func TestPipelinesAndSessionsDoWithoutTheCache(t *testing.T) {
	s := realserver.Start(t, realserver.Redis7)
	c, other, ctx := newClient(t, caching(s.Addr())), admin(t, s.Addr()), t.Context()
	do(t, other, "set", "k", "v1")
	conn := c.Conn()
	defer conn.Close()
	read := func() {
		t.Helper()
		before := c.CSCStats()
		if _, err := c.Pipelined(ctx, func(p redis.Pipeliner) error { p.Get(ctx, "k"); return nil }); err != nil {
			t.Error(err)
		}
		if _, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Get(ctx, "k"); return nil }); err != nil {
			t.Error(err)
		}
		if err := conn.Get(ctx, "k").Err(); err != nil {
			t.Error(err)
		}
		err := c.Watch(ctx, func(tx *redis.Tx) error { return tx.Get(ctx, "k").Err() }, "k")
		if after := c.CSCStats(); err != nil || after != before {
			t.Errorf("got %v, and %+v after %+v: the cache was used", err, after, before)
		}
	}
	read()
	wantGet(t, c, "k", "v1", false)
	read()
	wantGet(t, c, "k", "v1", true)
	// Those are not tracked: what is read on them must not count as tracked on others.
	if n := strings.Count(do(t, other, "client", "list"), "flags=t"); n != 1 {
		t.Errorf("got %d connections that are tracked, want the shared one", n)
	}
}

func TestCacheNeedsRESP3AndTracking(t *testing.T) {
	s := realserver.Start(t, realserver.Redis7)
	a := admin(t, s.Addr())
	do(t, a, "acl", "setuser", "u", "on", ">pw", "~*", "+@all", "-client|tracking")
	for name, test := range map[string]struct {
		change func(opt *redis.Options)
		logged string
	}{
		"RESP2":   {func(opt *redis.Options) { opt.Protocol = 2 }, "needs RESP3"},
		"refused": {func(opt *redis.Options) { opt.Username, opt.Password = "u", "pw" }, "refuses CLIENT TRACKING"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			opt := caching(s.Addr())
			opt.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}))
			opt.ClientSideCacheCoalesceMisses = true
			test.change(opt)
			c := newClient(t, opt)
			do(t, a, "set", "k", "v1")
			for range 3 {
				wantGet(t, c, "k", "v1", false)
			}
			do(t, a, "set", "k", "v2")
			wantGet(t, c, "k", "v2", false)
			if n := strings.Count(out.String(), test.logged); n != 1 {
				t.Errorf("got %q, want one line with %q", out.String(), test.logged)
			}
		})
	}
}

func TestCacheOptionsAreValidated(t *testing.T) {
	opt := caching("localhost:1")
	opt.ClientSideCacheConfig.MaxEntries = -1
	opt.ClientSideCacheConfig.MaxStaleness = -1
	opt.ClientSideCache = (*redis.LocalCache)(nil)
	opt.ClientSideCacheStrategy = 7
	opt.ClientSideCacheInvalidationBatchWindow = -time.Second
	err := newClient(t, opt).Get(t.Context(), "k").Err()
	for _, want := range []string{"MaxEntries", "MaxStaleness", "ClientSideCache is no cache", "Strategy 7", "BatchWindow"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to tell of %s", err, want)
		}
	}
	if c := redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: []string{"localhost:1", "localhost:2"}, ClientSideCacheConfig: &redis.CacheConfig{},
	}); !strings.Contains(fmt.Sprint(c.Get(t.Context(), "k").Err()), "client-side caching is not there for a cluster") {
		t.Errorf("got %v", c.Get(t.Context(), "k").Err())
	} else {
		_ = c.Close()
	}
}

func TestUniversalClientCaches(t *testing.T) {
	s := realserver.Start(t, realserver.Redis7)
	c := redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: []string{s.Addr()}, ClientSideCacheConfig: &redis.CacheConfig{}, ClientSideCacheCoalesceMisses: true,
	}).(*redis.Client)
	t.Cleanup(func() { _ = c.Close() })
	wantGet(t, c, "k", "", false)
	wantGet(t, c, "k", "", true)
}

func TestClientsShareACache(t *testing.T) {
	s, elsewhere := realserver.Start(t, realserver.Redis7), realserver.Start(t, realserver.Redis7)
	shared := redis.NewLocalCache(redis.CacheConfig{})
	sharing := func(addr string, db int) *redis.Client {
		return newClient(t, &redis.Options{Addr: addr, DB: db, ClientSideCache: shared})
	}
	a, b, other, db1, foreign := sharing(s.Addr(), 0), sharing(s.Addr(), 0), admin(t, s.Addr()), sharing(s.Addr(), 1), sharing(elsewhere.Addr(), 0)
	do(t, other, "set", "k", "v1")
	wantGet(t, a, "k", "v1", false)
	wantGet(t, b, "k", "v1", true)
	wantGet(t, db1, "k", "", false)
	wantGet(t, foreign, "k", "", false)
	if n := shared.Len(); n != 3 {
		t.Errorf("got %d entries, want one for each server and database", n)
	}
	if err := b.Set(t.Context(), "k", "v2", 0).Err(); err != nil {
		t.Fatal(err)
	}
	await(t, "who has read it has been told", func() bool { // of another database as well
		return a.CSCRefreshStats().Invalidations == 1 && db1.CSCRefreshStats().Invalidations == 1
	})
	wantGet(t, b, "k", "v2", false)
	wantGet(t, a, "k", "v2", true)
	_ = b.Close()
	await(t, "what b has read is gone", func() bool { return shared.Len() == 0 })
	wantGet(t, a, "k", "v2", false)
	wantGet(t, a, "k", "v2", true)
	if err := b.Get(t.Context(), "k").Err(); !errors.Is(err, redis.ErrClosed) {
		t.Errorf("got %v of a closed client", err)
	}
}

func TestRepliesAreNotTheCaches(t *testing.T) {
	s := realserver.Start(t, realserver.Redis7)
	c, ctx := newClient(t, caching(s.Addr())), t.Context()
	large := strings.Repeat("x", 200<<10)
	do(t, admin(t, s.Addr()), "set", "k", large)
	do(t, admin(t, s.Addr()), "hset", "h", "f", "v")
	for range 3 {
		b, err := c.Get(ctx, "k").Bytes()
		if err != nil || string(b) != large {
			t.Fatalf("got %d bytes, %v", len(b), err)
		}
		clear(b)
		m, err := c.HGetAll(ctx, "h").Result()
		if err != nil || m["f"] != "v" || len(m) != 1 {
			t.Fatalf("got %v, %v", m, err)
		}
		m["f"] = "changed"
	}
	if s := c.CSCStats(); s.Hits != 4 || s.Misses != 2 {
		t.Errorf("got %+v", s)
	}
}

// ownCache is a user's cache, as simple as can be.
type ownCache struct {
	mu      sync.Mutex
	entries map[string]*ownEntry
	tokens  uint64
	calls   []string
}

type ownEntry struct {
	token, conn uint64
	keys        []string
	raw         []byte
}

func (o *ownCache) Get(_ context.Context, key string) ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.entries[key]; e != nil && e.raw != nil {
		return e.raw, true
	}
	return nil, false
}

func (o *ownCache) Reserve(key string, keys []string) (uint64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.entries[key] != nil {
		return 0, false
	}
	o.tokens++
	o.entries[key] = &ownEntry{token: o.tokens, keys: keys}
	return o.tokens, true
}

func (o *ownCache) FulfillOwned(key string, token, conn uint64, raw []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.entries[key]
	if e == nil || e.token != token {
		return false
	}
	e.conn, e.raw = conn, raw
	return true
}

func (o *ownCache) Cancel(key string, token uint64) bool {
	return o.remove("cancel", func(k string, e *ownEntry) bool { return k == key && e.token == token && e.raw == nil }) > 0
}

func (o *ownCache) DeleteByRedisKey(key string) int {
	return o.remove("delete "+key, func(_ string, e *ownEntry) bool { return slices.Contains(e.keys, key) })
}

func (o *ownCache) DeleteByCacheKey(key string) bool {
	return o.remove("delete", func(k string, _ *ownEntry) bool { return k == key }) > 0
}

func (o *ownCache) EvictByConn(conn uint64) int {
	return o.remove("evict", func(_ string, e *ownEntry) bool { return e.raw != nil && e.conn == conn })
}

func (o *ownCache) Flush() int {
	return o.remove("flush", func(string, *ownEntry) bool { return true })
}

func (o *ownCache) remove(call string, is func(string, *ownEntry) bool) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, call)
	for k, e := range o.entries {
		if is(k, e) {
			delete(o.entries, k)
			n++
		}
	}
	return n
}

func (o *ownCache) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.entries)
}

func TestAUsersOwnCache(t *testing.T) {
	onEach(t, func(t *testing.T, addr string) {
		own := &ownCache{entries: make(map[string]*ownEntry)}
		opt := caching(addr)
		opt.ClientSideCache = own
		c, other := newClient(t, opt), admin(t, addr)
		do(t, other, "set", "k", "v1")
		wantGet(t, c, "k", "v1", false)
		wantGet(t, c, "k", "v1", true)
		if err := c.Do(t.Context(), "hget", "k", "f").Err(); err == nil {
			t.Error("a string is no hash")
		}
		if own.len() != 1 {
			t.Error("an error was cached, or its reservation kept")
		}
		do(t, other, "set", "k", "v2")
		await(t, "the cache is empty", func() bool { return own.len() == 0 })
		wantGet(t, c, "k", "v2", false)
		if err := c.Set(t.Context(), "k", "v3", 0).Err(); err != nil {
			t.Fatal(err)
		}
		wantGet(t, c, "k", "v3", false)
		own.mu.Lock()
		for _, e := range own.entries {
			e.raw = []byte("no reply")
		}
		own.mu.Unlock()
		wantGet(t, c, "k", "v3", false)
		wantGet(t, c, "k", "v3", true)
		do(t, other, "client", "kill", "type", "normal", "skipme", "yes")
		await(t, "the cache is empty", func() bool { return own.len() == 0 })
		if s := c.CSCStats(); s.Hits != 2 || s.Misses == 0 {
			t.Errorf("got %+v", s)
		}
	})
}

func TestHooksSeeWhatTheCacheAnswers(t *testing.T) {
	s := realserver.Start(t, realserver.Redis7)
	c := newClient(t, caching(s.Addr()))
	seen := 0
	c.AddHook(counting{&seen})
	wantGet(t, c, "k", "", false)
	wantGet(t, c, "k", "", true)
	if seen != 2 {
		t.Errorf("the hook has seen %d commands, want 2", seen)
	}
}

type counting struct{ n *int }

func (counting) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h counting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		*h.n++
		return next(ctx, cmd)
	}
}

func (counting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestTrackingCantBeEndedByOnConnect(t *testing.T) {
	s := realserver.Start(t, realserver.Redis7)
	for _, args := range [][]any{{"client", "tracking", "off"}, {"reset"}, {"hello", "2"}} {
		var got error
		opt := caching(s.Addr())
		opt.OnConnect = func(ctx context.Context, cn *redis.Conn) error {
			got = cn.Do(ctx, args...).Err()
			return nil
		}
		wantGet(t, newClient(t, opt), "k", "", false)
		if got == nil || !strings.Contains(got.Error(), "tracking") {
			t.Errorf("%v: got %v", args, got)
		}
	}
}

func TestACachedReplyNeedsNoMemory(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks allocate")
	}
	s := realserver.Start(t, realserver.Redis7)
	c, ctx := newClient(t, caching(s.Addr())), context.Background()
	do(t, c, "set", "k", "v")
	wantGet(t, c, "k", "v", false)
	buf := make([]byte, 0, 64)
	least := math.Inf(1) // the process may have something else to do meanwhile
	for range 5 {
		least = min(least, testing.AllocsPerRun(100, func() { buf, _ = c.GetBytes(ctx, buf[:0], "k") }))
	}
	if least != 0 {
		t.Errorf("got %v allocations for a reply out of the cache, want 0", least)
	}
	if string(buf) != "v" {
		t.Errorf("got %q", buf)
	}
}
