package cache

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// store stores a value under key, made of a redis key of the same name.
func store(t *testing.T, c *Cache, key, value string, owner Owner) *Entry {
	t.Helper()
	e, lead := c.Reserve(key, []string{key})
	if !lead {
		t.Fatalf("%s is reserved already", key)
	}
	if !c.Fulfill(e, owner, []byte(value)) {
		t.Fatalf("%s was not stored", key)
	}
	return e
}

func wantValue(t *testing.T, c *Cache, key, want string) {
	t.Helper()
	got, ok := c.Get([]byte(key))
	if ok != (want != "") || string(got) != want {
		t.Errorf("got %q, %v under %s, want %q", got, ok, key, want)
	}
}

// wantEmpty checks that nothing is left of anything, in the index neither.
func wantEmpty(t *testing.T, c *Cache) {
	t.Helper()
	if s := c.Stats(); s.Entries != 0 || s.Memory != 0 {
		t.Errorf("got %d entries of %d bytes, want none", s.Entries, s.Memory)
	}
	for i := range c.shards {
		if n := len(c.shards[i].entries) + c.shards[i].waiting; n != 0 {
			t.Errorf("shard %d has %d entries or reservations", i, n)
		}
		if n := len(c.index[i].keys); n != 0 {
			t.Errorf("index %d has %d keys", i, n)
		}
	}
}

func TestWhatWasInvalidatedInFlightIsNotStored(t *testing.T) {
	for name, invalidate := range map[string]func(c *Cache){
		"its key":   func(c *Cache) { c.Invalidate("k2", nil) },
		"all":       func(c *Cache) { c.Flush() },
		"the entry": func(c *Cache) { c.Delete("mget k1 k2") },
		"forgotten": func(c *Cache) { c.Forget("k1") },
	} {
		t.Run(name, func(t *testing.T) {
			c := New(Config{})
			e, _ := c.Reserve("mget k1 k2", []string{"k1", "k2"})
			invalidate(c)
			if c.Fulfill(e, Owner{}, []byte("old")) {
				t.Error("a reply was stored that is out of date")
			}
			wantValue(t, c, "mget k1 k2", "")
			wantEmpty(t, c)
		})
	}
}

func TestANewReservationIsNotFulfilledByTheOldReply(t *testing.T) {
	c := New(Config{})
	old, _ := c.Reserve("k", []string{"k"})
	c.Invalidate("k", nil)
	e, lead := c.Reserve("k", []string{"k"})
	if !lead {
		t.Fatal("what was invalidated is still reserved")
	}
	if c.Fulfill(old, Owner{}, []byte("old")) {
		t.Error("the old reply was stored")
	}
	wantValue(t, c, "k", "")
	if !c.Fulfill(e, Owner{}, []byte("new")) {
		t.Error("the new reply was not stored")
	}
	wantValue(t, c, "k", "new")
	c.Cancel(old)
	wantValue(t, c, "k", "new")
}

func TestOneReserves(t *testing.T) {
	c := New(Config{})
	e, lead := c.Reserve("k", []string{"k"})
	if other, again := c.Reserve("k", []string{"k"}); !lead || again || other != e {
		t.Errorf("got %v, %v, want one reservation", lead, again)
	}
	if !c.Cancel(e) || c.Cancel(e) {
		t.Error("a reservation is not cancelled once")
	}
	wantEmpty(t, c)
	e = store(t, c, "k", "v", Owner{})
	if e, lead := c.Reserve("k", []string{"k"}); lead || e == nil {
		t.Error("what is stored can be reserved")
	}
	if c.Cancel(e) || c.Fulfill(e, Owner{}, []byte("w")) {
		t.Error("what is stored is cancelled, or fulfilled again")
	}
	wantValue(t, c, "k", "v")
	c.Invalidate("k", nil)
	wantEmpty(t, c)
}

func TestThoseWhoWaitGetTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Config{})
		e, _ := c.Reserve("k", []string{"k"})
		got := make(chan string, 2)
		for range 2 {
			go func() {
				v, ok := c.Wait(e, nil)
				got <- fmt.Sprint(string(v), ok)
			}()
		}
		synctest.Wait()
		c.Invalidate("k", nil) // they have asked before
		c.Fulfill(e, Owner{}, []byte("v"))
		for range 2 {
			if v := <-got; v != "vtrue" {
				t.Errorf("got %s, want the reply", v)
			}
		}
		e, _ = c.Reserve("k", []string{"k"})
		go func() {
			_, ok := c.Wait(e, nil)
			got <- fmt.Sprint(ok)
		}()
		synctest.Wait()
		c.Cancel(e)
		if v := <-got; v != "false" {
			t.Errorf("got %s of what was cancelled", v)
		}
		stop := make(chan struct{})
		close(stop)
		e, _ = c.Reserve("k", []string{"k"})
		if _, ok := c.Wait(e, stop); ok {
			t.Error("got a reply that did not come")
		}
	})
}

func TestAnOwnerThatHasLeftIsNotServed(t *testing.T) {
	c := New(Config{})
	left := new(atomic.Bool)
	store(t, c, "a", "1", Owner{ID: 7, Left: left})
	store(t, c, "b", "2", Owner{ID: 8})
	e, _ := c.Reserve("c", []string{"c"})
	left.Store(true)
	wantValue(t, c, "a", "")
	wantValue(t, c, "b", "2")
	if c.Fulfill(e, Owner{ID: 7, Left: left}, []byte("3")) {
		t.Error("a reply of a connection was stored that was left before")
	}
	if e, lead := c.Reserve("a", []string{"a"}); !lead {
		t.Error("what is not served can't be reserved")
	} else {
		c.Cancel(e)
	}
	store(t, c, "d", "4", Owner{ID: 9})
	if n := c.EvictOwner(8); n != 1 {
		t.Errorf("got %d entries evicted, want 1", n)
	}
	wantValue(t, c, "b", "")
	wantValue(t, c, "d", "4")
	c.Flush()
	wantEmpty(t, c)
}

func TestEntriesAreBounded(t *testing.T) {
	for _, most := range []int{1, 3, 1000, 5000} {
		c := New(Config{MaxEntries: most})
		for i := range 3 * most {
			store(t, c, fmt.Sprint(i), "v", Owner{})
			if n := c.Stats().Entries; n > most {
				t.Fatalf("got %d entries, the limit is %d", n, most)
			}
		}
		if n := c.Stats().Entries; n < most*3/4 {
			t.Errorf("got %d entries of at most %d", n, most)
		}
		c.Flush()
		wantEmpty(t, c)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	const most = 10_000
	c := New(Config{MaxMemory: most})
	for i := range 100 {
		store(t, c, fmt.Sprint(i), strings.Repeat("v", 10*i), Owner{})
		if s := c.Stats(); s.Memory > most || s.Entries == 0 {
			t.Fatalf("got %d entries of %d bytes, the limit is %d", s.Entries, s.Memory, most)
		}
	}
	e, _ := c.Reserve("large", nil)
	if n := c.Stats().Entries; c.Fulfill(e, Owner{}, make([]byte, most)) || c.Stats().Entries != n {
		t.Error("what is larger than the cache was stored, or has driven out others")
	}
	c.Flush()
	wantEmpty(t, c)

	c = New(Config{MaxMemory: 10, Sizer: func(key string, keys []string, value []byte) int64 {
		return int64(len(key) + len(keys) + len(value))
	}})
	store(t, c, "a", "123", Owner{}) // 5
	store(t, c, "b", "123", Owner{})
	if s := c.Stats(); s.Entries != 2 || s.Memory != 10 {
		t.Errorf("got %+v, want what Sizer says", s)
	}
	store(t, c, "c", "1", Owner{})
	if s := c.Stats(); s.Entries != 2 || s.Memory != 8 {
		t.Errorf("got %+v, want one to have gone", s)
	}
}

func TestWhatIsAskedForStays(t *testing.T) {
	c := New(Config{MaxEntries: 100})
	for i := range 10 {
		store(t, c, fmt.Sprint("hot", i), "v", Owner{})
	}
	for i := range 2000 {
		store(t, c, fmt.Sprint("cold", i), "v", Owner{})
		c.Get(fmt.Appendf(nil, "hot%d", i%10))
	}
	for i := range 10 {
		wantValue(t, c, fmt.Sprint("hot", i), "v")
	}
}

func TestStalenessIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Config{MaxStaleness: time.Second})
		store(t, c, "k", "v", Owner{})
		time.Sleep(time.Second - 1)
		wantValue(t, c, "k", "v")
		time.Sleep(time.Nanosecond)
		wantValue(t, c, "k", "")
		store(t, c, "k", "v2", Owner{})
		wantValue(t, c, "k", "v2")
	})
}

func TestAStaleReservationIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Config{StaleTimeout: time.Second})
		old, _ := c.Reserve("k", []string{"k"})
		time.Sleep(time.Second - 1)
		if _, lead := c.Reserve("k", []string{"k"}); lead {
			t.Error("a reservation was taken over too soon")
		}
		time.Sleep(time.Nanosecond)
		e, lead := c.Reserve("k", []string{"k"})
		if !lead {
			t.Fatal("a reservation was not taken over")
		}
		if c.Fulfill(old, Owner{}, []byte("old")) || !c.Fulfill(e, Owner{}, []byte("new")) {
			t.Error("the old reservation counts, or the new one does not")
		}
		wantValue(t, c, "k", "new")
		c.Flush()
		wantEmpty(t, c)
	})
}

func TestReservationsAreBounded(t *testing.T) {
	c := New(Config{MaxEntries: 1})
	n := 0
	for i := range 10 * leastEntries {
		if e, _ := c.Reserve(fmt.Sprint(i), []string{"k"}); e != nil {
			n++
		}
	}
	if n > leastEntries {
		t.Errorf("got %d reservations, want at most %d", n, leastEntries)
	}
	if c.Forget("k") != n {
		t.Error("not all were forgotten")
	}
	wantEmpty(t, c)
}

func TestInvalidationTellsWhatWasServed(t *testing.T) {
	c := New(Config{})
	for _, key := range []string{"get h", "hget h f", "mget h g"} {
		e, _ := c.Reserve(key, []string{"h", "g"}[:1+strings.Count(key, "g h ")+strings.Count(key, "mget")])
		c.Fulfill(e, Owner{}, []byte("v"))
	}
	c.Reserve("reserved", []string{"h"})
	var seen []string
	if n := c.Invalidate("h", func(key string, _ []string) { seen = append(seen, key) }); n != 4 {
		t.Errorf("got %d, want 4", n)
	}
	slices.Sort(seen)
	if want := []string{"get h", "hget h f", "mget h g"}; !slices.Equal(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
	wantEmpty(t, c)
	c.Invalidate("h", nil)
	if s := c.Stats(); s.Invalidations != 2 || s.Deletions != 4 || s.Noops != 1 {
		t.Errorf("got %+v", s)
	}
}

// TestNothingOlderThanAnInvalidation lets readers and writers race. The server's value is
// a number that grows. A writer makes it grow, invalidates, and notes what the cache must
// not give out any more.
func TestNothingOlderThanAnInvalidation(t *testing.T) {
	const keys, rounds = 8, 3000
	c := New(Config{MaxEntries: 6})
	var server, told [keys]atomic.Int64
	name := func(k int) string { return fmt.Sprint("key", k) }
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := range rounds {
				k := (i*7 + w) % keys
				v := server[k].Add(1)
				if i%100 == 0 {
					c.Flush()
				} else {
					c.Invalidate(name(k), nil)
				}
				for old := told[k].Load(); old < v && !told[k].CompareAndSwap(old, v); old = told[k].Load() {
				}
			}
		})
	}
	for r := range 4 {
		wg.Go(func() {
			left := new(atomic.Bool)
			for i := range rounds {
				k := (i + r) % keys
				least := told[k].Load()
				if got, ok := c.Get([]byte(name(k))); ok {
					var v int64
					if _, err := fmt.Sscan(string(got), &v); err != nil || v < least {
						t.Errorf("got %q of key %d after %d was invalidated", got, k, least)
						return
					}
					continue
				}
				if i%500 == 0 {
					left.Store(true)
					c.EvictOwner(uint64(r))
					left = new(atomic.Bool)
				}
				e, lead := c.Reserve(name(k), []string{name(k)})
				if !lead {
					continue
				}
				v := server[k].Load()
				if i%11 == 0 {
					c.Cancel(e)
					continue
				}
				c.Fulfill(e, Owner{ID: uint64(r), Left: left}, fmt.Append(nil, v))
			}
		})
	}
	wg.Wait()
	c.Flush()
	wantEmpty(t, c)
}

func BenchmarkGet(b *testing.B) {
	c := New(Config{})
	for i := range 1000 {
		e, _ := c.Reserve(fmt.Sprint("key", i), []string{"k"})
		c.Fulfill(e, Owner{}, make([]byte, 64))
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		key := []byte("key500")
		for pb.Next() {
			if _, ok := c.Get(key); !ok {
				b.Fatal("missed")
			}
		}
	})
}
