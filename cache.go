package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/baton-go/redis/internal/cache"
)

// Cache keeps replies of a client with Options.ClientSideCache. LocalCache is one;
// whoever wants another one implements this. It is safe for concurrent use, and its
// methods must neither block nor use the client: most are called while the client
// reads from a connection.
//
// key names a command with its arguments, its server, database and user. redisKeys
// are the keys that the command reads. A client reserves a key before it sends the
// command, and fulfils the reservation with the raw reply when that comes. Between the
// two, the key may be invalidated: the reservation must then be taken away like an
// entry, so that FulfillOwned finds none and does not store what is out of date.
type Cache interface {
	// Get gives the reply stored under key, which its caller does not change.
	Get(ctx context.Context, key string) ([]byte, bool)
	// Reserve reserves key and gives the reservation's token, which is not 0. It is
	// false where there is an entry or a reservation already.
	Reserve(key string, redisKeys []string) (uint64, bool)
	// FulfillOwned stores the reply to a reservation, which belongs to a connection:
	// see EvictByConn. It is false, and nothing is stored, where there is no reservation
	// with that token. raw is the cache's from then on.
	FulfillOwned(key string, token uint64, connID uint64, raw []byte) bool
	// Cancel takes a reservation away; false: there was none with that token.
	Cancel(key string, token uint64) bool
	// DeleteByRedisKey takes all entries and reservations away that a redis key belongs
	// to, and counts them.
	DeleteByRedisKey(redisKey string) int
	// DeleteByCacheKey takes an entry or a reservation away; false: there was none.
	DeleteByCacheKey(key string) bool
	// EvictByConn takes the entries away that belong to a connection, and counts them:
	// the server does not tell any more when they are out of date.
	EvictByConn(connID uint64) int
	// Flush takes all entries and reservations away, and counts them.
	Flush() int
}

// CacheSizer tells how many bytes an entry counts.
type CacheSizer func(key string, redisKeys []string, value []byte) int64

// CacheConfig configures a LocalCache. The zero value of each field means its default.
type CacheConfig struct {
	// MaxEntries is how many replies are kept. Default 10,000. Beyond it, those go that
	// were not asked for lately.
	MaxEntries int
	// MaxMemoryBytes bounds their size, as Sizer has it. Default 64 MiB. A reply that is
	// larger than a shard's part of it, 1 to 2 MiB of the default, is not kept.
	MaxMemoryBytes int64
	// Sizer tells how much an entry counts. Default: its bytes, and what it takes to
	// keep them.
	Sizer CacheSizer
	// StaleTimeout is after how long a reservation may be taken over that was neither
	// fulfilled nor cancelled. Default 5 s.
	StaleTimeout time.Duration
	// MaxStaleness is how long a reply is given out at most, whatever the server tells.
	// Default 0: until it is out of date.
	MaxStaleness time.Duration
	// DrainInterval is there because go-redis has it: the client reads its connections
	// at all times, so that nothing has to be looked for.
	DrainInterval time.Duration
}

// ClientSideCacheConfig is CacheConfig.
type ClientSideCacheConfig = CacheConfig

// validate tells what is wrong.
func (cfg *CacheConfig) validate() (errs []error) {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"MaxEntries", int64(cfg.MaxEntries)},
		{"MaxMemoryBytes", cfg.MaxMemoryBytes},
		{"StaleTimeout", int64(cfg.StaleTimeout)},
		{"MaxStaleness", int64(cfg.MaxStaleness)},
		{"DrainInterval", int64(cfg.DrainInterval)},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("redis: options: ClientSideCacheConfig.%s is negative", f.name))
		}
	}
	return errs
}

// CSCStrategy says how a client learns that what it has cached is out of date.
type CSCStrategy int

// CSCStrategySharedTracking is the only strategy: each connection that carries
// commands which are cached has the server track what is read on it, and all fill one
// cache.
const CSCStrategySharedTracking CSCStrategy = 0

// CSCStats are the numbers of a cache.
type CSCStats struct {
	Hits             uint64 // replies out of the cache
	Misses           uint64 // those that were not there
	Entries          int    // replies in it
	MemoryUsageBytes int64  // their size
}

// CSCRefreshStats are the numbers of invalidations, and of what is read anew because of
// them; see Options.ClientSideCacheRefreshOnInvalidate.
type CSCRefreshStats struct {
	Invalidations uint64 // keys that the server has told of
	Deletions     uint64 // entries that went because of it
	DeletionsNoop uint64 // keys of which there was no entry
	Enqueued      uint64 // entries to be read anew
	Refreshed     uint64 // that were, and are stored
	RefreshFailed uint64 // that were not, or not stored
	Dropped       uint64 // not enqueued, as too many were
	DemandFlushes uint64 // times that a batch was read before its time because somebody asked for it
}

// LocalCache is a Cache in memory, of bounded size, that gives up first what was not
// asked for lately. Several clients may share one: replies of other servers, databases
// and users are other entries. It is safe for concurrent use.
type LocalCache struct{ c *cache.Cache }

var _ Cache = (*LocalCache)(nil)

// NewLocalCache makes an empty cache. What is negative in the configuration counts as 0.
func NewLocalCache(config CacheConfig) *LocalCache {
	return &LocalCache{c: cache.New(cache.Config{
		MaxEntries: config.MaxEntries, MaxMemory: config.MaxMemoryBytes, MaxStaleness: config.MaxStaleness,
		StaleTimeout: config.StaleTimeout, Sizer: config.Sizer,
	})}
}

// Get gives a copy of the reply stored under key.
func (l *LocalCache) Get(_ context.Context, key string) ([]byte, bool) {
	value, ok := l.c.Get([]byte(key))
	return slices.Clone(value), ok
}

// Reserve is that of Cache.
func (l *LocalCache) Reserve(key string, redisKeys []string) (uint64, bool) {
	e, lead := l.c.Reserve(key, slices.Clone(redisKeys))
	if !lead {
		return 0, false
	}
	return e.Token(), true
}

// FulfillOwned is that of Cache. raw is copied.
func (l *LocalCache) FulfillOwned(key string, token uint64, connID uint64, raw []byte) bool {
	e := l.c.Reserved(key, token)
	return e != nil && l.c.Fulfill(e, cache.Owner{ID: connID}, append([]byte{}, raw...))
}

// Cancel is that of Cache.
func (l *LocalCache) Cancel(key string, token uint64) bool {
	e := l.c.Reserved(key, token)
	return e != nil && l.c.Cancel(e)
}

// DeleteByRedisKey is that of Cache.
func (l *LocalCache) DeleteByRedisKey(redisKey string) int { return l.c.Invalidate(redisKey, nil) }

// DeleteByCacheKey is that of Cache.
func (l *LocalCache) DeleteByCacheKey(key string) bool { return l.c.Delete(key) }

// EvictByConn is that of Cache.
func (l *LocalCache) EvictByConn(connID uint64) int { return l.c.EvictOwner(connID) }

// Flush is that of Cache.
func (l *LocalCache) Flush() int { return l.c.Flush() }

// Len is the number of replies kept.
func (l *LocalCache) Len() int { return l.c.Stats().Entries }

// MemoryUsage is their size.
func (l *LocalCache) MemoryUsage() int64 { return l.c.Stats().Memory }

// Stats gives the numbers of the moment.
func (l *LocalCache) Stats() CSCStats {
	s := l.c.Stats()
	return CSCStats{Hits: s.Hits, Misses: s.Misses, Entries: s.Entries, MemoryUsageBytes: s.Memory}
}

// InvalidationStats counts the redis keys that were to be deleted.
func (l *LocalCache) InvalidationStats() uint64 { return l.c.Stats().Invalidations }

// DeletionStats counts what was deleted for them: entries, and keys of which there
// were none.
func (l *LocalCache) DeletionStats() (deleted, noop uint64) {
	s := l.c.Stats()
	return s.Deletions, s.Noops
}

// caches tells whether options ask for a cache.
func (opt *Options) caches() bool {
	return opt.ClientSideCache != nil || opt.ClientSideCacheConfig != nil
}

// validateCache tells what is wrong with a client's cache.
func (opt *Options) validateCache() (errs []error) {
	if l, ok := opt.ClientSideCache.(*LocalCache); ok && (l == nil || l.c == nil) {
		errs = append(errs, errors.New("redis: options: ClientSideCache is no cache; NewLocalCache makes one"))
	}
	if opt.ClientSideCacheConfig != nil {
		errs = append(errs, opt.ClientSideCacheConfig.validate()...)
	}
	if opt.ClientSideCacheStrategy != CSCStrategySharedTracking {
		errs = append(errs, fmt.Errorf("redis: options: ClientSideCacheStrategy %d is not known", opt.ClientSideCacheStrategy))
	}
	if opt.ClientSideCacheInvalidationBatchWindow < 0 {
		errs = append(errs, errors.New("redis: options: ClientSideCacheInvalidationBatchWindow is negative"))
	}
	return errs
}

// cacheOptions are the fields of options that are about a cache.
type cacheOptions struct {
	config   *ClientSideCacheConfig
	cache    Cache
	strategy CSCStrategy
	refresh  bool
	coalesce bool
	window   time.Duration
}

// cacheOptions are those of a client of whatever kind.
func (o *UniversalOptions) cacheOptions() cacheOptions {
	return cacheOptions{
		config: o.ClientSideCacheConfig, cache: o.ClientSideCache, strategy: o.ClientSideCacheStrategy,
		refresh: o.ClientSideCacheRefreshOnInvalidate, coalesce: o.ClientSideCacheCoalesceMisses,
		window: o.ClientSideCacheInvalidationBatchWindow,
	}
}

// into puts them into the options of a client, which it returns.
func (o cacheOptions) into(opt *Options) *Options {
	opt.ClientSideCacheConfig, opt.ClientSideCache, opt.ClientSideCacheStrategy = o.config, o.cache, o.strategy
	opt.ClientSideCacheRefreshOnInvalidate, opt.ClientSideCacheCoalesceMisses = o.refresh, o.coalesce
	opt.ClientSideCacheInvalidationBatchWindow = o.window
	return opt
}

// refused is the error of a client that can't have a cache; nil: it is to have none.
func (o cacheOptions) refused() error {
	if o.config == nil && o.cache == nil {
		return nil
	}
	return errors.New("redis: options: client-side caching is not there for a cluster, nor for reads from replicas; " +
		"set neither ClientSideCache nor ClientSideCacheConfig")
}
