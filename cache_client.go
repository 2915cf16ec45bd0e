package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/baton-go/redis/internal/cache"
	"github.com/baton-go/redis/internal/endpoint"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// clientCache is the part of a client that answers reads out of a cache. Replies are
// stored, and invalidated, in the order in which the reader of a link sees them.
type clientCache struct {
	c     *core
	local *cache.Cache // nil: the cache is the user's, in own. Immutable
	own   Cache        // immutable
	mine  bool         // the cache is this client's alone; immutable
	space string       // what keys of this server, database and user begin with; immutable

	shares  bool       // callers who miss the same thing wait for one command; immutable
	renewer *refresher // nil: what was invalidated is not read anew
	beat    heartbeat

	closed       atomic.Bool
	isWarned     atomic.Bool
	hits, misses atomic.Uint64 // of own

	invalidations, deletions, noops atomic.Uint64
}

var spaces atomic.Uint64 //nolint:gochecknoglobals // numbers of clients with a space of their own

// newClientCache makes the cache that the options ask for; nil: none.
func newClientCache(c *core) *clientCache {
	opt := c.opt
	switch {
	case !opt.caches():
		return nil
	case opt.Protocol != 3:
		opt.Logger.Warn("client-side caching is off: it needs RESP3, and Options.Protocol is 2", "endpoint", opt.Addr)
		return nil
	}
	k := &clientCache{c: c, own: opt.ClientSideCache}
	if k.own == nil {
		k.own, k.mine = NewLocalCache(*opt.ClientSideCacheConfig), true
	}
	if l, ok := k.own.(*LocalCache); ok {
		k.local = l.c
		k.shares = opt.ClientSideCacheCoalesceMisses
		if opt.ClientSideCacheRefreshOnInvalidate {
			k.renewer = newRefresher(k, opt.ClientSideCacheInvalidationBatchWindow)
		}
	}
	k.beat.init(opt)
	addr, user := opt.Addr, opt.Username
	if c.failover != nil {
		addr = "master " + c.failover.MasterName
	}
	if opt.CredentialsProvider != nil || opt.CredentialsProviderContext != nil || opt.StreamingCredentialsProvider != nil {
		// Who the user is may change, so that nobody else may have what is stored.
		user = "client " + strconv.FormatUint(spaces.Add(1), 10)
	}
	k.space = strconv.Quote(addr) + strconv.Itoa(opt.DB) + strconv.Quote(user)
	return k
}

// tracking is what the endpoint tells.
func (k *clientCache) tracking() *endpoint.Tracking {
	if k == nil {
		return nil
	}
	return &endpoint.Tracking{OnInvalidate: k.invalidate, OnLeave: k.left, OnGone: k.evict}
}

// left runs when a link is left. LocalCache looks at Link.Left itself.
func (k *clientCache) left(l *link.Link) {
	if k.local == nil {
		k.own.EvictByConn(l.ID())
	}
}

func (k *clientCache) evict(l *link.Link) { k.own.EvictByConn(l.ID()) }

// invalidate runs on a link's reader.
func (k *clientCache) invalidate(_ *link.Link, r resp.Reader) {
	if r.Null() {
		k.flush()
		return
	}
	n, err := r.ArrayLen()
	for range max(n, 0) {
		if err != nil {
			break
		}
		var key string
		if key, err = r.String(); err == nil {
			k.forget(key)
		}
	}
	if err != nil {
		k.flush() // whatever it means
	}
}

// forget deletes what the server says is out of date.
func (k *clientCache) forget(key string) {
	n := 0
	switch {
	case k.local == nil:
		n = k.own.DeleteByRedisKey(key)
	case k.renewer != nil:
		n = k.local.Invalidate(key, k.renewer.add)
	default:
		n = k.local.Invalidate(key, nil)
	}
	k.invalidations.Add(1)
	k.deletions.Add(uint64(n))
	if n == 0 {
		k.noops.Add(1)
	}
}

func (k *clientCache) flush() {
	k.invalidations.Add(1)
	k.deletions.Add(uint64(k.own.Flush()))
}

// appendKey appends what a command's reply is stored under.
func (k *clientCache) appendKey(dst []byte, b *baseCmd) []byte {
	return append(append(dst, k.space...), b.wire()...)
}

// isCached tells whether replies of the command are cached.
func (b *baseCmd) isCached() bool {
	return b.lane == laneShared && b.keyPos == 0 && b.flags()&flagCached != 0
}

// keyRoom is for the keys of most commands.
const keyRoom = 192

// answer gives a command its reply out of the cache; false: it is not there.
func (k *clientCache) answer(ctx context.Context, cmd Cmder) bool {
	b := cmd.base()
	if k.closed.Load() || ctx.Err() != nil || !b.isCached() {
		return false
	}
	var room [keyRoom]byte
	key := k.appendKey(room[:0], b)
	if k.local != nil {
		raw, ok := k.local.Get(key)
		if ok {
			settleFrom(cmd, raw)
		}
		return ok
	}
	if raw, ok := k.own.Get(ctx, string(key)); ok {
		settleFrom(cmd, raw)
		if b.err == nil || isAnswer(b.err) {
			k.hits.Add(1)
			return true
		}
		k.own.DeleteByCacheKey(string(key)) // it is no reply to that
	}
	k.misses.Add(1)
	return false
}

// settleFrom gives a command a reply that stays as it is.
func settleFrom(cmd Cmder, raw []byte) {
	s := singles.Get().(*single)
	s.cmd = cmd
	s.Reply(0, raw)
	*s = single{}
	singles.Put(s)
}

// attempts is core.attempts for a command that answer had nothing for.
func (k *clientCache) attempts(ctx context.Context, cmd Cmder, t *tries) error {
	b := cmd.base()
	if k.closed.Load() || !b.isCached() {
		err := k.c.attempts(ctx, cmd, t)
		k.wrote(b)
		return err
	}
	f := &fill{k: k, cmd: cmd, key: string(k.appendKey(nil, b))}
	if k.renewer != nil {
		k.renewer.demand(f.key)
	}
	keys := make([]string, 0, 1)
	b.eachKey(func(key []byte) bool { keys = append(keys, string(key)); return true })
	if k.local == nil {
		if f.token, f.leads = k.own.Reserve(f.key, keys); !f.leads {
			return k.c.attempts(ctx, cmd, t)
		}
	} else if f.e, f.leads = k.local.Reserve(f.key, keys); !f.leads {
		if k.shares && f.e != nil {
			if raw, ok := k.local.Wait(f.e, ctx.Done()); ok {
				settleFrom(cmd, raw)
				return b.err
			}
		}
		return k.c.attempts(ctx, cmd, t)
	}
	err := k.c.attemptsBy(ctx, cmd, t, f)
	f.cancel()
	return err
}

// wrote takes away what a command may have changed, once it was answered, so that its
// caller does not read what was before: the server tells of it after the reply.
func (k *clientCache) wrote(b *baseCmd) {
	if b.flags()&flagRead != 0 || b.lane == laneSession && b.Name() == "watch" {
		return
	}
	n := 0
	b.eachKey(func(key []byte) bool {
		n++
		if k.local != nil {
			k.local.Forget(string(key))
		} else {
			k.own.DeleteByRedisKey(string(key))
		}
		return true
	})
	if n == 0 && slices.Contains(flushing, b.Name()) {
		k.own.Flush()
	}
}

// flushing are commands without keys that change any, or may have. Of SWAPDB servers
// tell nothing.
var flushing = []string{"flushall", "flushdb", "swapdb", "exec"} //nolint:gochecknoglobals // constant

// wroteAll is wrote for commands that were sent together.
func (k *clientCache) wroteAll(cmds []Cmder) {
	if k == nil {
		return
	}
	for _, cmd := range cmds {
		k.wrote(cmd.base())
	}
}

// close ends all that runs for the cache, when the client's links are closed.
func (k *clientCache) close() {
	if k == nil {
		return
	}
	k.closed.Store(true)
	k.renewer.close()
	k.beat.close()
	if k.mine {
		k.own.Flush()
	}
}

// A fill is a command whose reply is stored, by whoever has reserved its place.
type fill struct {
	k     *clientCache
	cmd   Cmder
	key   string
	e     *cache.Entry // nil: token is the reservation
	token uint64
	leads bool // there is a reservation

	l  *link.Link // that carries it
	rd resp.Reader
}

// Carried notes the link. Where its server tracks nothing, nothing is stored.
func (f *fill) Carried(l *link.Link) {
	f.l = l
	if f.k.watch(l) {
		return
	}
	f.cancel()
}

// watch tells whether a link's server tracks what is read on it, and if so sees to it
// that it is noticed when the link is dead.
func (k *clientCache) watch(l *link.Link) bool {
	if l.Info().Tracking {
		k.beat.watch(l)
		return true
	}
	if !k.isWarned.Swap(true) {
		if err := l.Info().TrackingRefused; err != nil {
			k.c.opt.Logger.Warn("client-side caching is off: the server refuses CLIENT TRACKING", "endpoint", l.Endpoint(), "reply", err)
		} else {
			k.c.opt.Logger.Warn("client-side caching is off: the server does not speak RESP3", "endpoint", l.Endpoint())
		}
	}
	return false
}

// mustKeep tells whether a command would end the tracking of the link that it is sent
// on, which carries what is cached.
func (k *clientCache) mustKeep(b *baseCmd) bool {
	if k == nil {
		return false
	}
	switch b.FullName() {
	case "reset", "client tracking", "client caching":
		return true
	case "hello":
		proto, ok := b.argAt(1)
		return ok && string(proto) != "3"
	}
	return false
}

var errTracked = errors.New("the client caches what is read on its connections, so that their tracking can't be changed")

// Reply runs on the link's reader, so that what is invalidated after it is deleted
// after it.
func (f *fill) Reply(_ int, frame []byte) {
	f.rd = resp.NewReader(frame)
	f.cmd.base().settle(f.cmd.readReply(&f.rd))
	if isStorable(frame) {
		f.store(slices.Clone(frame))
	}
}

// Keep is Reply with a frame that may be kept: by the cache, and not by the command.
func (f *fill) Keep(_ int, frame []byte) {
	f.rd = resp.NewReader(frame)
	f.cmd.base().settle(f.cmd.readReply(&f.rd))
	if isStorable(frame) {
		f.store(frame)
	}
}

// isStorable tells whether a reply is the command's, and not about the server's state.
func isStorable(frame []byte) bool {
	switch resp.Kind(frame[0]) {
	case '-', '!', '|':
		return false
	}
	return true
}

// store stores a reply, which is the cache's from now on.
func (f *fill) store(raw []byte) {
	if !f.leads {
		return
	}
	f.leads = false
	f.k.fulfill(f.e, f.key, f.token, f.l, raw)
}

// fulfill stores the reply to a reservation that came over l.
func (k *clientCache) fulfill(e *cache.Entry, key string, token uint64, l *link.Link, raw []byte) bool {
	if e != nil {
		return k.local.Fulfill(e, cache.Owner{ID: l.ID(), Left: l.Left()}, raw)
	}
	isStored := k.own.FulfillOwned(key, token, l.ID(), raw)
	if l.Left().Load() {
		k.own.EvictByConn(l.ID()) // perhaps it was evicted before that was stored
	}
	return isStored
}

// cancel gives a reservation up that was not fulfilled.
func (f *fill) cancel() {
	switch {
	case !f.leads:
	case f.e != nil:
		f.k.local.Cancel(f.e)
	default:
		f.k.own.Cancel(f.key, f.token)
	}
	f.leads = false
}

// CSCStats gives the numbers of the client's cache: all 0 without one. A LocalCache
// that clients share counts for all of them.
func (c *Client) CSCStats() CSCStats {
	k := c.csc
	if k == nil {
		return CSCStats{}
	}
	if s, ok := k.own.(interface{ Stats() CSCStats }); ok {
		return s.Stats()
	}
	return CSCStats{Hits: k.hits.Load(), Misses: k.misses.Load()}
}

// CSCRefreshStats gives the numbers of the invalidations that the client has got, and of
// what it has read anew: all 0 without a cache.
func (c *Client) CSCRefreshStats() CSCRefreshStats {
	k := c.csc
	if k == nil {
		return CSCRefreshStats{}
	}
	s := CSCRefreshStats{Invalidations: k.invalidations.Load(), Deletions: k.deletions.Load(), DeletionsNoop: k.noops.Load()}
	if r := k.renewer; r != nil {
		s.Enqueued, s.Refreshed, s.RefreshFailed = r.enqueued.Load(), r.refreshed.Load(), r.failed.Load()
		s.Dropped, s.DemandFlushes = r.dropped.Load(), r.demands.Load()
	}
	return s
}

// cachedRows are the commands whose replies are cached: those that read keys and give
// the same reply until one of the keys changes. Left out are reads of time left, at
// random, with cursors, of other keys than those among the arguments, and of what is
// about a key and not in it.
func cachedRows() []flagRow {
	return []flagRow{{flags: flagCached, names: `get mget getrange substr strlen lcs
		bitcount bitpos getbit bitfield_ro
		exists type expiretime pexpiretime
		hexists hget hgetall hkeys hlen hmget hstrlen hvals hexpiretime hpexpiretime
		lindex llen lpos lrange
		scard sdiff sinter sintercard sismember smembers smismember sunion
		zcard zcount zdiff zinter zintercard zlexcount zmscore zrange zrangebylex zrangebyscore zrank zrevrange
		zrevrangebylex zrevrangebyscore zrevrank zscore zunion
		geodist geohash geopos geosearch georadius_ro georadiusbymember_ro
		xlen xrange xrevrange
		json.get json.mget json.type json.strlen json.objkeys json.objlen json.arrindex json.arrlen json.resp
		vcard vdim vgetattr vismember`}}
}
