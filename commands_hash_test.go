package redis

import "time"

// account is a struct as HSet and Scan take it.
type account struct {
	Name     string        `redis:"name"`
	Age      int           `redis:"age"`
	Email    string        `redis:"email,omitempty"`
	Idle     time.Duration `redis:"idle,omitempty"`
	Since    time.Time     `redis:"since,omitempty"`
	Active   bool          `redis:"active"`
	Ignored  string        `redis:"-"`
	Untagged string
	private  string `redis:"private"`
}

func hashCases() []commandCase {
	ab := []string{"hset h a 1 b 2"}
	return []commandCase{
		{name: "HGet", setup: ab, call: func(c commander) Cmder { return c.HGet(bg, "h", "a") }, args: "hget h a", want: "1"},
		{name: "HGet/none", setup: ab, call: func(c commander) Cmder { return c.HGet(bg, "h", "c") }, args: "hget h c", want: Nil},
		{name: "HMGet", setup: ab, call: func(c commander) Cmder { return c.HMGet(bg, "h", "a", "c") }, args: "hmget h a c", want: []any{"1", nil}},
		{name: "HGetAll", setup: ab, call: func(c commander) Cmder { return c.HGetAll(bg, "h") }, args: "hgetall h", want: map[string]string{"a": "1", "b": "2"}},
		{name: "HGetAll/none", call: func(c commander) Cmder { return c.HGetAll(bg, "h") }, args: "hgetall h", want: map[string]string{}},
		{name: "HKeys", setup: ab, call: func(c commander) Cmder { return c.HKeys(bg, "h") }, args: "hkeys h", want: []string{"a", "b"}},
		{name: "HVals", setup: ab, call: func(c commander) Cmder { return c.HVals(bg, "h") }, args: "hvals h", want: []string{"1", "2"}},
		{name: "HLen", setup: ab, call: func(c commander) Cmder { return c.HLen(bg, "h") }, args: "hlen h", want: int64(2)},
		{name: "HStrLen", setup: ab, call: func(c commander) Cmder { return c.HStrLen(bg, "h", "a") }, args: "hstrlen h a", want: int64(1)},
		{name: "HExists", setup: ab, call: func(c commander) Cmder { return c.HExists(bg, "h", "a") }, args: "hexists h a", want: true},
		{name: "HSet", setup: ab, call: func(c commander) Cmder { return c.HSet(bg, "h", "a", 3, "c", 1.5) }, args: "hset h a 3 c 1.5", want: int64(1)},
		{name: "HSet/slice", call: func(c commander) Cmder { return c.HSet(bg, "h", []string{"a", "1", "b", "2"}) }, args: "hset h a 1 b 2", want: int64(2)},
		{name: "HSet/map", call: func(c commander) Cmder { return c.HSet(bg, "h", map[string]any{"a": true}) }, args: "hset h a 1", want: int64(1)},
		{name: "HSet/struct", call: func(c commander) Cmder {
			return c.HSet(bg, "h", account{Name: "ann", Age: 7, Active: true, Ignored: "x", Untagged: "y", private: "z"})
		}, args: "hset h name ann age 7 active 1", want: int64(3)},
		{name: "HSet/pointer", call: func(c commander) Cmder {
			return c.HSet(bg, "h", &account{Name: "ann", Email: "a@b", Idle: time.Second, Since: time.Unix(0, 0).UTC()})
		}, args: "hset h name ann age 0 email a@b idle 1000000000 since 1970-01-01T00:00:00Z active 0", want: int64(6)},
		{name: "HMSet", call: func(c commander) Cmder { return c.HMSet(bg, "h", "a", 1) }, args: "hmset h a 1", want: true},
		{name: "HSetNX", setup: ab, call: func(c commander) Cmder { return c.HSetNX(bg, "h", "a", 1) }, args: "hsetnx h a 1", want: false},
		{name: "HDel", setup: ab, call: func(c commander) Cmder { return c.HDel(bg, "h", "a", "c") }, args: "hdel h a c", want: int64(1)},
		{name: "HIncrBy", setup: ab, call: func(c commander) Cmder { return c.HIncrBy(bg, "h", "a", 5) }, args: "hincrby h a 5", want: int64(6)},
		{name: "HIncrByFloat", setup: ab, call: func(c commander) Cmder { return c.HIncrByFloat(bg, "h", "a", 0.5) }, args: "hincrbyfloat h a 0.5", want: 1.5},
		{name: "HScan", setup: ab, call: func(c commander) Cmder { return c.HScan(bg, "h", 0, "a*", 10) }, args: "hscan h 0 match a* count 10", want: []any{[]string{"a", "1"}, uint64(0)}},
		{name: "HScanNoValues", setup: ab, call: func(c commander) Cmder { return c.HScanNoValues(bg, "h", 0, "", 0) }, args: "hscan h 0 novalues", want: []any{[]string{"a", "b"}, uint64(0)}, since: "7.4", valkey: "8.0"},
		{name: "HRandField", setup: []string{"hset h a 1"}, call: func(c commander) Cmder { return c.HRandField(bg, "h", 1) }, args: "hrandfield h 1", want: []string{"a"}},
		{name: "HRandFieldWithValues", setup: []string{"hset h a 1"}, call: func(c commander) Cmder { return c.HRandFieldWithValues(bg, "h", -2) }, args: "hrandfield h -2 withvalues", want: []KeyValue{{"a", "1"}, {"a", "1"}}},
		{name: "HRandFieldWithValues/none", call: func(c commander) Cmder { return c.HRandFieldWithValues(bg, "h", 2) }, args: "hrandfield h 2 withvalues", want: []KeyValue{}},
	}
}

func hashTTLCases() []commandCase {
	ab := []string{"hset h a 1 b 2"}
	ttl := []string{"hset h a 1 b 2", "hexpireat h 4102444800 fields 1 a"}
	far := time.Unix(4102444800, 7e6)
	cases := []commandCase{
		{name: "HExpire", setup: ab, call: func(c commander) Cmder { return c.HExpire(bg, "h", time.Minute, "a", "c") }, args: "hexpire h 60 fields 2 a c", want: []int64{1, -2}},
		{name: "HExpire/short", setup: ab, call: func(c commander) Cmder { return c.HExpire(bg, "h", time.Millisecond, "a") }, args: "hexpire h 1 fields 1 a", want: []int64{1}},
		{name: "HExpireWithArgs", setup: ttl, call: func(c commander) Cmder {
			return c.HExpireWithArgs(bg, "h", time.Minute, HExpireArgs{NX: true}, "a", "b")
		}, args: "hexpire h 60 nx fields 2 a b", want: []int64{0, 1}},
		{name: "HPExpire", setup: ab, call: func(c commander) Cmder { return c.HPExpire(bg, "h", time.Minute, "a") }, args: "hpexpire h 60000 fields 1 a", want: []int64{1}},
		{name: "HPExpireWithArgs", setup: ttl, call: func(c commander) Cmder {
			return c.HPExpireWithArgs(bg, "h", time.Minute, HExpireArgs{XX: true}, "a", "b")
		}, args: "hpexpire h 60000 xx fields 2 a b", want: []int64{1, 0}},
		{name: "HExpireAt", setup: ab, call: func(c commander) Cmder { return c.HExpireAt(bg, "h", far, "a") }, args: "hexpireat h 4102444800 fields 1 a", want: []int64{1}},
		{name: "HExpireAtWithArgs", setup: ttl, call: func(c commander) Cmder {
			return c.HExpireAtWithArgs(bg, "h", far.Add(time.Hour), HExpireArgs{GT: true}, "a")
		}, args: "hexpireat h 4102448400 gt fields 1 a", want: []int64{1}},
		{name: "HPExpireAt", setup: ab, call: func(c commander) Cmder { return c.HPExpireAt(bg, "h", far, "a") }, args: "hpexpireat h 4102444800007 fields 1 a", want: []int64{1}},
		{name: "HPExpireAtWithArgs", setup: ttl, call: func(c commander) Cmder {
			return c.HPExpireAtWithArgs(bg, "h", far, HExpireArgs{LT: true}, "a")
		}, args: "hpexpireat h 4102444800007 lt fields 1 a", want: []int64{0}},
		{name: "HPersist", setup: ttl, call: func(c commander) Cmder { return c.HPersist(bg, "h", "a", "b", "c") }, args: "hpersist h fields 3 a b c", want: []int64{1, -1, -2}},
		{name: "HTTL", setup: ab, call: func(c commander) Cmder { return c.HTTL(bg, "h", "a", "c") }, args: "httl h fields 2 a c", want: []int64{-1, -2}},
		{name: "HPTTL", setup: ab, call: func(c commander) Cmder { return c.HPTTL(bg, "h", "a", "c") }, args: "hpttl h fields 2 a c", want: []int64{-1, -2}},
		{name: "HExpireTime", setup: ttl, call: func(c commander) Cmder { return c.HExpireTime(bg, "h", "a", "b") }, args: "hexpiretime h fields 2 a b", want: []int64{4102444800, -1}},
		{name: "HPExpireTime", setup: ttl, call: func(c commander) Cmder { return c.HPExpireTime(bg, "h", "a", "b") }, args: "hpexpiretime h fields 2 a b", want: []int64{4102444800000, -1}},
	}
	for i := range cases {
		cases[i].since, cases[i].valkey = "7.4", "9.0"
	}
	cases = append(
		cases,
		commandCase{name: "HGetDel", setup: ab, call: func(c commander) Cmder { return c.HGetDel(bg, "h", "a", "c") }, args: "hgetdel h fields 2 a c", want: []string{"1", ""}, since: "8.0", valkey: "9.1"},
		commandCase{name: "HGetEX", setup: ab, call: func(c commander) Cmder { return c.HGetEX(bg, "h", "a", "c") }, args: "hgetex h fields 2 a c", want: []string{"1", ""}, since: "8.0", valkey: "9.0"},
		commandCase{name: "HGetEXWithArgs", setup: ab, call: func(c commander) Cmder {
			return c.HGetEXWithArgs(bg, "h", &HGetEXOptions{ExpirationType: HGetEXExpirationEX, ExpirationVal: 9}, "a")
		}, args: "hgetex h EX 9 fields 1 a", want: []string{"1"}, since: "8.0", valkey: "9.0"},
		commandCase{name: "HGetEXWithArgs/persist", setup: ab, call: func(c commander) Cmder {
			return c.HGetEXWithArgs(bg, "h", &HGetEXOptions{ExpirationType: HGetEXExpirationPERSIST, ExpirationVal: 9}, "a")
		}, args: "hgetex h PERSIST fields 1 a", want: []string{"1"}, since: "8.0", valkey: "9.0"},
		commandCase{name: "HSetEX", call: func(c commander) Cmder { return c.HSetEX(bg, "h", "a", "1", "b", "2") }, args: "hsetex h fields 2 a 1 b 2", want: int64(1), since: "8.0", valkey: "9.0"},
		commandCase{name: "HSetEXWithArgs", setup: ab, call: func(c commander) Cmder {
			return c.HSetEXWithArgs(bg, "h", &HSetEXOptions{Condition: HSetEXFNX, ExpirationType: HSetEXExpirationPX, ExpirationVal: 900}, "a", "1")
		}, args: "hsetex h FNX PX 900 fields 1 a 1", want: int64(0), since: "8.0", valkey: "9.0"},
		commandCase{name: "HSetEXWithArgs/keepttl", setup: ab, call: func(c commander) Cmder {
			return c.HSetEXWithArgs(bg, "h", &HSetEXOptions{ExpirationType: HSetEXExpirationKEEPTTL}, "a", "1")
		}, args: "hsetex h KEEPTTL fields 1 a 1", want: int64(1), since: "8.0", valkey: "9.0"},
		commandCase{name: "HImportPrepare", call: func(c commander) Cmder { return c.HImportPrepare(bg, "u", "a", "b") }, args: "himport prepare u a b", want: "OK", since: "8.10", valkey: "-", r2: "+OK\r\n"},
		commandCase{name: "HImportSet", call: func(c commander) Cmder { return c.HImportSet(bg, "k", "u", "a", 1) }, args: "himport set k u a 1", want: "OK", since: "8.10", valkey: "-", r2: "+OK\r\n"},
		commandCase{name: "HImportDiscard", call: func(c commander) Cmder { return c.HImportDiscard(bg, "u") }, args: "himport discard u", want: int64(1), since: "8.10", valkey: "-", r2: ":1\r\n"},
		commandCase{name: "HImportDiscardAll", call: func(c commander) Cmder { return c.HImportDiscardAll(bg) }, args: "himport discardall", want: int64(2), since: "8.10", valkey: "-", r2: ":2\r\n"},
	)
	return cases
}
