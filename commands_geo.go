package redis

import (
	"context"

	"github.com/baton-go/redis/internal/resp"
)

// GeoLocation is a place. In replies only what was asked for is set.
type GeoLocation struct {
	Name                      string
	Longitude, Latitude, Dist float64
	GeoHash                   int64
}

// GeoPos is where a place is, in degrees.
type GeoPos struct {
	Longitude, Latitude float64
}

// GeoRadiusQuery says what GeoRadius and its like look for and give.
type GeoRadiusQuery struct {
	Radius float64
	Unit   string // m, km, ft or mi; empty: km

	WithCoord   bool
	WithDist    bool
	WithGeoHash bool

	Count int    // places; 0: all
	Sort  string // ASC, the nearest first, or DESC; empty: in no order

	// Store and StoreDist are the key for the places found, or for their distances, for
	// GeoRadiusStore and GeoRadiusByMemberStore; one of the two.
	Store     string
	StoreDist string
}

// unitOr is a unit of length, km if it is empty.
func unitOr(unit string) string {
	if unit == "" {
		return "km"
	}
	return unit
}

// geoRadius appends a query.
func (c *baseCmd) geoRadius(q *GeoRadiusQuery) {
	c.float(q.Radius)
	c.str(unitOr(q.Unit))
	c.opt(q.WithCoord, "withcoord")
	c.opt(q.WithDist, "withdist")
	c.opt(q.WithGeoHash, "withhash")
	c.optInt(q.Count > 0, "count", int64(q.Count))
	c.opt(q.Sort != "", q.Sort)
	if q.Store != "" {
		c.strs("store", q.Store)
	}
	if q.StoreDist != "" {
		c.strs("storedist", q.StoreDist)
	}
}

// stores tells whether the result goes to a key.
func (q *GeoRadiusQuery) stores() bool { return q.Store != "" || q.StoreDist != "" }

// parts are what the reply to a query has.
func (q *GeoRadiusQuery) parts() geoParts {
	return geoParts{dist: q.WithDist, hash: q.WithGeoHash, coord: q.WithCoord}
}

// GeoAdd adds places to a sorted set, or moves them, and gives how many are new. That a
// position is beyond what Geohash can tell (latitudes up to 85 degrees) is an error of
// the server. Since Redis 3.2, O(log N) for each.
func (c cmdable) GeoAdd(ctx context.Context, key string, geoLocation ...*GeoLocation) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("geoadd", key)
	for _, l := range geoLocation {
		cmd.float(l.Longitude)
		cmd.float(l.Latitude)
		cmd.str(l.Name)
	}
	_ = c(ctx, cmd)
	return cmd
}

// GeoPos gives where places are; nil for those that are not there. Since Redis 3.2,
// O(1) for each.
func (c cmdable) GeoPos(ctx context.Context, key string, members ...string) *GeoPosCmd {
	cmd := roomy[GeoPosCmd]()
	cmd.key("geopos", key)
	cmd.strs(members...)
	_ = c(ctx, cmd)
	return cmd
}

// GeoDist gives the distance of two places in a unit: m, km, ft or mi, empty for km;
// Nil where one is not there. Since Redis 3.2, O(1).
func (c cmdable) GeoDist(ctx context.Context, key, member1, member2, unit string) *FloatCmd {
	cmd := roomy[FloatCmd]()
	cmd.key("geodist", key)
	cmd.strs(member1, member2, unitOr(unit))
	_ = c(ctx, cmd)
	return cmd
}

// GeoHash gives the Geohash strings of places; empty for those that are not there.
// Since Redis 3.2, O(1) for each.
func (c cmdable) GeoHash(ctx context.Context, key string, members ...string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("geohash", key)
	cmd.strs(members...)
	_ = c(ctx, cmd)
	return cmd
}

// GeoRadius gives the places in a circle; the query must not store. Since Redis 3.2.10,
// O(N + log M) with the places around and those in the circle. GeoSearch replaces it.
func (c cmdable) GeoRadius(ctx context.Context, key string, longitude, latitude float64, query *GeoRadiusQuery) *GeoLocationCmd {
	cmd := roomy[GeoLocationCmd]()
	cmd.parts = query.parts()
	cmd.key("georadius_ro", key)
	cmd.float(longitude)
	cmd.float(latitude)
	cmd.geoRadius(query)
	if query.stores() {
		cmd.reject("redis: GeoRadius does not store; GeoRadiusStore does")
	}
	_ = c(ctx, cmd)
	return cmd
}

// GeoRadiusStore stores the places in a circle, and gives how many there are. Since Redis
// 3.2, O(N + log M) as GeoRadius. GeoSearchStore replaces it.
func (c cmdable) GeoRadiusStore(ctx context.Context, key string, longitude, latitude float64, query *GeoRadiusQuery) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("georadius", key)
	cmd.float(longitude)
	cmd.float(latitude)
	cmd.geoRadius(query)
	if !query.stores() {
		cmd.reject("redis: GeoRadiusStore needs Store or StoreDist")
	}
	_ = c(ctx, cmd)
	return cmd
}

// GeoRadiusByMember is GeoRadius around a place; that this is not there is an error of
// the server. Since Redis 3.2.10, O(N + log M) as GeoRadius. GeoSearch replaces it.
func (c cmdable) GeoRadiusByMember(ctx context.Context, key, member string, query *GeoRadiusQuery) *GeoLocationCmd {
	cmd := roomy[GeoLocationCmd]()
	cmd.parts = query.parts()
	cmd.key("georadiusbymember_ro", key)
	cmd.str(member)
	cmd.geoRadius(query)
	if query.stores() {
		cmd.reject("redis: GeoRadiusByMember does not store; GeoRadiusByMemberStore does")
	}
	_ = c(ctx, cmd)
	return cmd
}

// GeoRadiusByMemberStore is GeoRadiusStore around a place; that this is not there is an
// error of the server. Since Redis 3.2, O(N + log M) as GeoRadius. GeoSearchStore
// replaces it.
func (c cmdable) GeoRadiusByMemberStore(ctx context.Context, key, member string, query *GeoRadiusQuery) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("georadiusbymember", key)
	cmd.str(member)
	cmd.geoRadius(query)
	if !query.stores() {
		cmd.reject("redis: GeoRadiusByMemberStore needs Store or StoreDist")
	}
	_ = c(ctx, cmd)
	return cmd
}

// GeoSearchQuery says what GeoSearch looks for: places around a place or a position, in
// a circle or a box.
type GeoSearchQuery struct {
	Member string // empty: the position counts

	Longitude float64
	Latitude  float64

	Radius     float64 // 0: the box counts
	RadiusUnit string  // m, km, ft or mi; empty: km

	BoxWidth  float64
	BoxHeight float64
	BoxUnit   string // m, km, ft or mi; empty: km

	Sort     string // ASC, the nearest first, or DESC; empty: in no order
	Count    int    // places; 0: all
	CountAny bool   // any that are found first, with Count
}

// GeoSearchLocationQuery says what GeoSearchLocation looks for and gives.
type GeoSearchLocationQuery struct {
	GeoSearchQuery

	WithCoord bool
	WithDist  bool
	WithHash  bool
}

// parts are what the reply to a query has.
func (q *GeoSearchLocationQuery) parts() geoParts {
	return geoParts{dist: q.WithDist, hash: q.WithHash, coord: q.WithCoord}
}

// GeoSearchStoreQuery says what GeoSearchStore looks for and stores.
type GeoSearchStoreQuery struct {
	GeoSearchQuery

	StoreDist bool // the distances
}

// geoSearch appends a query.
func (c *baseCmd) geoSearch(q *GeoSearchQuery) {
	if q.Member != "" {
		c.strs("frommember", q.Member)
	} else {
		c.str("fromlonlat")
		c.float(q.Longitude)
		c.float(q.Latitude)
	}
	if q.Radius > 0 {
		c.optFloat(true, "byradius", q.Radius)
		c.str(unitOr(q.RadiusUnit))
	} else {
		c.optFloat(true, "bybox", q.BoxWidth)
		c.float(q.BoxHeight)
		c.str(unitOr(q.BoxUnit))
	}
	c.opt(q.Sort != "", q.Sort)
	if q.Count > 0 {
		c.optInt(true, "count", int64(q.Count))
		c.opt(q.CountAny, "any")
	}
}

// geoSearchLocation appends a query and what to give.
func (c *baseCmd) geoSearchLocation(q *GeoSearchLocationQuery) {
	c.geoSearch(&q.GeoSearchQuery)
	c.opt(q.WithCoord, "withcoord")
	c.opt(q.WithDist, "withdist")
	c.opt(q.WithHash, "withhash")
}

// GeoSearch gives the names of places in a circle or a box; none where the key does not
// exist. That the place in the middle is not there is an error of the server. Since Redis
// 6.2, O(N + log M) with the places around and those inside.
func (c cmdable) GeoSearch(ctx context.Context, key string, q *GeoSearchQuery) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("geosearch", key)
	cmd.geoSearch(q)
	_ = c(ctx, cmd)
	return cmd
}

// GeoSearchLocation is GeoSearch with positions, distances and hashes. Since Redis 6.2,
// O(N + log M) as GeoSearch.
func (c cmdable) GeoSearchLocation(ctx context.Context, key string, q *GeoSearchLocationQuery) *GeoSearchLocationCmd {
	cmd := roomy[GeoSearchLocationCmd]()
	cmd.parts = q.parts()
	cmd.key("geosearch", key)
	cmd.geoSearchLocation(q)
	_ = c(ctx, cmd)
	return cmd
}

// GeoSearchStore stores the result of a search in store, and gives how many places it
// has. Since Redis 6.2, O(N + log M) as GeoSearch.
func (c cmdable) GeoSearchStore(ctx context.Context, key, store string, q *GeoSearchStoreQuery) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("geosearchstore", store)
	cmd.str(key)
	cmd.geoSearch(&q.GeoSearchQuery)
	cmd.opt(q.StoreDist, "storedist")
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// GeoPosCmd is a command whose reply is positions, nil for a place that is not there.
type GeoPosCmd struct{ result[[]*GeoPos] }

// NewGeoPosCmd makes a command of its arguments, the name first.
func NewGeoPosCmd(_ context.Context, args ...any) *GeoPosCmd {
	c := roomy[GeoPosCmd]()
	c.beginArgs(args)
	return c
}

func (c *GeoPosCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (*GeoPos, error) {
		if r.Null() {
			return nil, nil
		}
		p, err := readGeoPos(r)
		return &p, err
	})
	return err
}

// readGeoPos reads a position.
func readGeoPos(r *resp.Reader) (p GeoPos, err error) {
	if err := expectLen(r, 2, "longitude and latitude"); err != nil {
		return p, err
	}
	if p.Longitude, err = r.Float(); err != nil {
		return p, err
	}
	p.Latitude, err = r.Float()
	return p, err
}

// geoParts are what the places of a reply have beside their names.
type geoParts struct{ dist, hash, coord bool }

// read reads places.
func (p geoParts) read(r *resp.Reader) ([]GeoLocation, error) {
	more := 0
	for _, asked := range []bool{p.dist, p.hash, p.coord} {
		if asked {
			more++
		}
	}
	return readSlice(r, func(r *resp.Reader) (l GeoLocation, err error) {
		if more > 0 {
			if err := expectLen(r, 1+more, "place"); err != nil {
				return l, err
			}
		}
		if l.Name, err = r.String(); err != nil {
			return l, err
		}
		if p.dist {
			if l.Dist, err = r.Float(); err != nil {
				return l, err
			}
		}
		if p.hash {
			if l.GeoHash, err = r.Int(); err != nil {
				return l, err
			}
		}
		if p.coord {
			pos, err := readGeoPos(r)
			if err != nil {
				return l, err
			}
			l.Longitude, l.Latitude = pos.Longitude, pos.Latitude
		}
		return l, nil
	})
}

// GeoLocationCmd is the command of GeoRadius and GeoRadiusByMember.
type GeoLocationCmd struct {
	result[[]GeoLocation]
	parts geoParts
}

// NewGeoLocationCmd makes a command of its arguments, the name first, to which those of
// the query are added.
func NewGeoLocationCmd(_ context.Context, q *GeoRadiusQuery, args ...any) *GeoLocationCmd {
	c := roomy[GeoLocationCmd]()
	c.parts = q.parts()
	c.beginArgs(args)
	c.geoRadius(q)
	return c
}

func (c *GeoLocationCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = c.parts.read(r)
	return err
}

// GeoSearchLocationCmd is the command of GeoSearchLocation.
type GeoSearchLocationCmd struct {
	result[[]GeoLocation]
	parts geoParts
}

// NewGeoSearchLocationCmd makes a command of its arguments, the name first; the query
// says what its reply has.
func NewGeoSearchLocationCmd(_ context.Context, opt *GeoSearchLocationQuery, args ...any) *GeoSearchLocationCmd {
	c := roomy[GeoSearchLocationCmd]()
	c.parts = opt.parts()
	c.beginArgs(args)
	return c
}

func (c *GeoSearchLocationCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = c.parts.read(r)
	return err
}

// NewGeoPosCmdResult makes a command that is answered already; see NewCmdResult.
func NewGeoPosCmdResult(val []*GeoPos, err error) *GeoPosCmd {
	return answered(roomy[GeoPosCmd](), val, err)
}

// NewGeoLocationCmdResult makes a command that is answered already; see NewCmdResult.
func NewGeoLocationCmdResult(val []GeoLocation, err error) *GeoLocationCmd {
	return answered(roomy[GeoLocationCmd](), val, err)
}
