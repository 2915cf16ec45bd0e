package redis

import (
	"math"
	"testing"
)

func geoCases() []commandCase {
	sicily := []string{"geoadd g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania"}
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.01 }
	// nearest tells whether Catania comes first, with what was asked for.
	nearest := func(dist, hash, coord bool) func(any) bool {
		return func(v any) bool {
			l, _ := v.([]GeoLocation)
			if len(l) != 2 || l[0].Name != "Catania" || l[1].Name != "Palermo" {
				return false
			}
			c := l[0]
			return near(c.Dist, 56.44) == dist && (c.GeoHash == 3479447370796909) == hash &&
				(near(c.Longitude, 15.09) && near(c.Latitude, 37.5)) == coord
		}
	}
	return []commandCase{
		{name: "GeoAdd", call: func(c commander) Cmder {
			return c.GeoAdd(bg, "g", &GeoLocation{Name: "Palermo", Longitude: 13.361389, Latitude: 38.115556})
		}, args: "geoadd g 13.361389 38.115556 Palermo", want: int64(1)},
		{name: "GeoPos", setup: sicily, call: func(c commander) Cmder { return c.GeoPos(bg, "g", "Palermo", "x") }, args: "geopos g Palermo x", want: func(v any) bool {
			p, _ := v.([]*GeoPos)
			return len(p) == 2 && p[0] != nil && near(p[0].Longitude, 13.36) && near(p[0].Latitude, 38.11) && p[1] == nil
		}},
		{name: "GeoDist", setup: sicily, call: func(c commander) Cmder { return c.GeoDist(bg, "g", "Palermo", "Catania", "") }, args: "geodist g Palermo Catania km", want: 166.2742},
		{name: "GeoDist/none", setup: sicily, call: func(c commander) Cmder { return c.GeoDist(bg, "g", "Palermo", "x", "m") }, args: "geodist g Palermo x m", want: Nil},
		{name: "GeoHash", setup: sicily, call: func(c commander) Cmder { return c.GeoHash(bg, "g", "Palermo", "x") }, args: "geohash g Palermo x", want: []string{"sqc8b49rny0", ""}},
		{name: "GeoRadius", setup: sicily, call: func(c commander) Cmder {
			return c.GeoRadius(bg, "g", 15, 37, &GeoRadiusQuery{Radius: 200, Sort: "ASC"})
		}, args: "georadius_ro g 15 37 200 km ASC", want: []GeoLocation{{Name: "Catania"}, {Name: "Palermo"}}},
		{name: "GeoRadius/all", setup: sicily, call: func(c commander) Cmder {
			return c.GeoRadius(bg, "g", 15, 37, &GeoRadiusQuery{Radius: 200, Unit: "km", WithCoord: true, WithDist: true, WithGeoHash: true, Count: 9, Sort: "ASC"})
		}, args: "georadius_ro g 15 37 200 km withcoord withdist withhash count 9 ASC", want: nearest(true, true, true)},
		{name: "GeoRadiusStore", setup: sicily, call: func(c commander) Cmder {
			return c.GeoRadiusStore(bg, "g", 15, 37, &GeoRadiusQuery{Radius: 200, Store: "d"})
		}, args: "georadius g 15 37 200 km store d", want: int64(2)},
		{name: "GeoRadiusByMember", setup: sicily, call: func(c commander) Cmder {
			return c.GeoRadiusByMember(bg, "g", "Palermo", &GeoRadiusQuery{Radius: 1, WithDist: true})
		}, args: "georadiusbymember_ro g Palermo 1 km withdist", want: []GeoLocation{{Name: "Palermo"}}},
		{name: "GeoRadiusByMemberStore", setup: sicily, call: func(c commander) Cmder {
			return c.GeoRadiusByMemberStore(bg, "g", "Palermo", &GeoRadiusQuery{Radius: 1, StoreDist: "d"})
		}, args: "georadiusbymember g Palermo 1 km storedist d", want: int64(1)},
		{name: "GeoSearch", setup: sicily, call: func(c commander) Cmder {
			return c.GeoSearch(bg, "g", &GeoSearchQuery{Member: "Palermo", BoxWidth: 400, BoxHeight: 400, BoxUnit: "km", Sort: "DESC", Count: 1})
		}, args: "geosearch g frommember Palermo bybox 400 400 km DESC count 1", want: []string{"Catania"}},
		{name: "GeoSearch/any", setup: sicily, call: func(c commander) Cmder {
			return c.GeoSearch(bg, "g", &GeoSearchQuery{Longitude: 13.4, Latitude: 38.1, Radius: 50, Count: 1, CountAny: true})
		}, args: "geosearch g fromlonlat 13.4 38.1 byradius 50 km count 1 any", want: []string{"Palermo"}},
		{name: "GeoSearchLocation", setup: sicily, call: func(c commander) Cmder {
			return c.GeoSearchLocation(bg, "g", &GeoSearchLocationQuery{
				GeoSearchQuery: GeoSearchQuery{Longitude: 15, Latitude: 37, Radius: 200, Sort: "ASC"},
				WithCoord:      true, WithDist: true, WithHash: true,
			})
		}, args: "geosearch g fromlonlat 15 37 byradius 200 km ASC withcoord withdist withhash", want: nearest(true, true, true)},
		{name: "GeoSearchLocation/some", setup: sicily, call: func(c commander) Cmder {
			return c.GeoSearchLocation(bg, "g", &GeoSearchLocationQuery{
				GeoSearchQuery: GeoSearchQuery{Longitude: 15, Latitude: 37, Radius: 200, RadiusUnit: "km", Sort: "ASC"}, WithCoord: true,
			})
		}, args: "geosearch g fromlonlat 15 37 byradius 200 km ASC withcoord", want: nearest(false, false, true)},
		{name: "GeoSearchStore", setup: sicily, call: func(c commander) Cmder {
			return c.GeoSearchStore(bg, "g", "d", &GeoSearchStoreQuery{GeoSearchQuery: GeoSearchQuery{Member: "Palermo", Radius: 500}, StoreDist: true})
		}, args: "geosearchstore d g frommember Palermo byradius 500 km storedist", want: int64(2)},
	}
}

func TestGeoRadiusAndStoreDontMix(t *testing.T) {
	c := cmdable(none)
	store, plain := &GeoRadiusQuery{Store: "d"}, &GeoRadiusQuery{}
	for _, cmd := range []Cmder{
		c.GeoRadius(bg, "g", 1, 2, store), c.GeoRadiusByMember(bg, "g", "m", store),
		c.GeoRadiusStore(bg, "g", 1, 2, plain), c.GeoRadiusByMemberStore(bg, "g", "m", plain),
	} {
		if cmd.Err() == nil || DeliveryOf(cmd.Err()) != NotSent {
			t.Errorf("%v: got %v, want an error before it is sent", cmd.Args(), cmd.Err())
		}
	}
}
