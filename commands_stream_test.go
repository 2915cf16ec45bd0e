package redis

import (
	"errors"
	"time"
)

// msg is a message with fields a and b.
func msg(id string, fields ...string) XMessage {
	m := XMessage{ID: id, Values: map[string]any{}}
	for i := 0; i < len(fields); i += 2 {
		m.Values[fields[i]] = fields[i+1]
	}
	return m
}

func streamCases() []commandCase {
	three := []string{"xadd s 1-0 a 1", "xadd s 2-0 a 2 b x", "xadd s 3-0 a 3"}
	all := []XMessage{msg("1-0", "a", "1"), msg("2-0", "a", "2", "b", "x"), msg("3-0", "a", "3")}
	tick := 10 * time.Millisecond
	isID := func(v any) bool { s, _ := v.(string); return len(s) > 10 }
	return []commandCase{
		{name: "XAdd", call: func(c commander) Cmder {
			return c.XAdd(bg, &XAddArgs{Stream: "s", Values: []any{"a", 1, "b", "x"}})
		}, args: "xadd s * a 1 b x", want: isID},
		{name: "XAdd/id", call: func(c commander) Cmder {
			return c.XAdd(bg, &XAddArgs{Stream: "s", ID: "5-1", Values: map[string]any{"a": 1}})
		}, args: "xadd s 5-1 a 1", want: "5-1"},
		{name: "XAdd/nomkstream", call: func(c commander) Cmder {
			return c.XAdd(bg, &XAddArgs{Stream: "s", NoMkStream: true, MaxLen: 10, Values: []string{"a", "1"}})
		}, args: "xadd s nomkstream maxlen 10 * a 1", want: Nil},
		{name: "XAdd/approx", call: func(c commander) Cmder {
			return c.XAdd(bg, &XAddArgs{Stream: "s", MinID: "3", Approx: true, Limit: 7, ID: "9-0", Values: struct {
				A int `redis:"a"`
			}{1}})
		}, args: "xadd s minid ~ 3 limit 7 9-0 a 1", want: "9-0"},
		{name: "XAdd/unlimited", call: func(c commander) Cmder {
			return c.XAdd(bg, &XAddArgs{Stream: "s", MaxLen: 3, MinID: "1", Approx: true, Limit: XTrimLimitDisabled, ID: "9-0", Values: []string{"a", "1"}})
		}, args: "xadd s maxlen ~ 3 limit 0 9-0 a 1", want: "9-0"},
		{name: "XAdd/idmp", call: func(c commander) Cmder {
			return c.XAdd(bg, &XAddArgs{Stream: "s", Mode: "ACKED", ProducerID: "p", IdempotentID: "i", ID: "1-0", Values: []string{"a", "1"}})
		}, args: "xadd s ACKED idmp p i 1-0 a 1", want: "1-0", since: "8.6", valkey: "-", r2: "$3\r\n1-0\r\n"},
		{name: "XAdd/idmpauto", call: func(c commander) Cmder {
			return c.XAdd(bg, &XAddArgs{Stream: "s", ProducerID: "p", IdempotentAuto: true, ID: "1-0", Values: []string{"a", "1"}})
		}, args: "xadd s idmpauto p 1-0 a 1", want: "1-0", since: "8.6", valkey: "-", r2: "$3\r\n1-0\r\n"},
		{name: "XTrimMaxLen", setup: three, call: func(c commander) Cmder { return c.XTrimMaxLen(bg, "s", 1) }, args: "xtrim s maxlen 1", want: int64(2)},
		{name: "XTrimMaxLen/0", setup: three, call: func(c commander) Cmder { return c.XTrimMaxLen(bg, "s", 0) }, args: "xtrim s maxlen 0", want: int64(3)},
		{name: "XTrimMaxLenApprox", setup: three, call: func(c commander) Cmder { return c.XTrimMaxLenApprox(bg, "s", 1, 5) }, args: "xtrim s maxlen ~ 1 limit 5", want: int64(0)},
		{name: "XTrimMaxLenMode", call: func(c commander) Cmder { return c.XTrimMaxLenMode(bg, "s", 1, "DELREF") }, args: "xtrim s maxlen 1 DELREF", want: int64(2), since: "8.2", valkey: "-", r2: ":2\r\n"},
		{name: "XTrimMaxLenApproxMode", call: func(c commander) Cmder { return c.XTrimMaxLenApproxMode(bg, "s", 1, 0, "ACKED") }, args: "xtrim s maxlen ~ 1 ACKED", want: int64(0), since: "8.2", valkey: "-", r2: ":0\r\n"},
		{name: "XTrimMinID", setup: three, call: func(c commander) Cmder { return c.XTrimMinID(bg, "s", "2-0") }, args: "xtrim s minid 2-0", want: int64(1)},
		{name: "XTrimMinIDApprox", setup: three, call: func(c commander) Cmder { return c.XTrimMinIDApprox(bg, "s", "2-0", -1) }, args: "xtrim s minid ~ 2-0 limit 0", want: int64(0)},
		{name: "XTrimMinIDMode", call: func(c commander) Cmder { return c.XTrimMinIDMode(bg, "s", "2", "KEEPREF") }, args: "xtrim s minid 2 KEEPREF", want: int64(1), since: "8.2", valkey: "-", r2: ":1\r\n"},
		{name: "XTrimMinIDApproxMode", call: func(c commander) Cmder { return c.XTrimMinIDApproxMode(bg, "s", "2", 9, "KEEPREF") }, args: "xtrim s minid ~ 2 limit 9 KEEPREF", want: int64(0), since: "8.2", valkey: "-", r2: ":0\r\n"},
		{name: "XDel", setup: three, call: func(c commander) Cmder { return c.XDel(bg, "s", "1-0", "9-0") }, args: "xdel s 1-0 9-0", want: int64(1)},
		{name: "XDelEx", call: func(c commander) Cmder { return c.XDelEx(bg, "s", "ACKED", "1-0", "9-0") }, args: "xdelex s ACKED ids 2 1-0 9-0", want: []any{int64(1), int64(-1)}, since: "8.2", valkey: "-", r2: "*2\r\n:1\r\n:-1\r\n"},
		{name: "XLen", setup: three, call: func(c commander) Cmder { return c.XLen(bg, "s") }, args: "xlen s", want: int64(3)},
		{name: "XRange", setup: three, call: func(c commander) Cmder { return c.XRange(bg, "s", "-", "+") }, args: "xrange s - +", want: all},
		{name: "XRange/none", call: func(c commander) Cmder { return c.XRange(bg, "s", "-", "+") }, args: "xrange s - +", want: []XMessage{}},
		{name: "XRangeN", setup: three, call: func(c commander) Cmder { return c.XRangeN(bg, "s", "(1-0", "+", 1) }, args: "xrange s (1-0 + count 1", want: all[1:2]},
		{name: "XRevRange", setup: three, call: func(c commander) Cmder { return c.XRevRange(bg, "s", "+", "2-0") }, args: "xrevrange s + 2-0", want: []XMessage{all[2], all[1]}},
		{name: "XRevRangeN", setup: three, call: func(c commander) Cmder { return c.XRevRangeN(bg, "s", "+", "-", 1) }, args: "xrevrange s + - count 1", want: all[2:]},
		{name: "XRead", setup: three, call: func(c commander) Cmder {
			return c.XRead(bg, &XReadArgs{Streams: []string{"s", "t"}, ID: "1-0", Count: 1, Block: -1})
		}, args: "xread count 1 streams s t 1-0 1-0", want: []XStream{{"s", all[1:2]}}},
		{name: "XRead/block", setup: three, call: func(c commander) Cmder {
			return c.XRead(bg, &XReadArgs{Streams: []string{"s", "0"}, Block: time.Second})
		}, args: "xread block 1000 streams s 0", want: []XStream{{"s", all}}},
		{name: "XRead/forever", setup: three, call: func(c commander) Cmder {
			return c.XRead(bg, &XReadArgs{Streams: []string{"s", "2-0"}})
		}, args: "xread block 0 streams s 2-0", want: []XStream{{"s", all[2:]}}},
		{name: "XRead/timeout", call: func(c commander) Cmder {
			return c.XRead(bg, &XReadArgs{Streams: []string{"s", "$"}, Block: tick})
		}, args: "xread block 10 streams s $", want: Nil},
		{name: "XRead/limits", call: func(c commander) Cmder {
			return c.XRead(bg, &XReadArgs{Streams: []string{"s", "$"}, MaxCount: 5, MaxSize: 100, Block: -1})
		}, args: "xread maxcount 5 maxsize 100 streams s $", want: Nil, since: "8.10", valkey: "-", r2: "*-1\r\n", r3: "_\r\n"},
		{name: "XReadStreams", setup: append(three, "xadd t 7-0 c 1"), call: func(c commander) Cmder { return c.XReadStreams(bg, "s", "t", "2-0", "0") }, args: "xread streams s t 2-0 0", want: []XStream{{"s", all[2:]}, {"t", []XMessage{msg("7-0", "c", "1")}}}},
	}
}

func streamGroupCases() []commandCase {
	base := []string{"xadd s 1-0 a 1", "xadd s 2-0 a 2", "xgroup create s g 0"}
	read := append(base[:3:3], "xreadgroup group g ann streams s >")
	one, two := msg("1-0", "a", "1"), msg("2-0", "a", "2")
	old := XMessage{ID: "1-0", Values: map[string]any{"a": "1"}, MillisElapsedFromDelivery: 1500, DeliveredCount: 2}
	return []commandCase{
		{name: "XGroupCreate", setup: base[:2], call: func(c commander) Cmder { return c.XGroupCreate(bg, "s", "g", "$") }, args: "xgroup create s g $", want: "OK"},
		{name: "XGroupCreate/exists", setup: base, call: func(c commander) Cmder { return c.XGroupCreate(bg, "s", "g", "0") }, args: "xgroup create s g 0", want: errors.New("BUSYGROUP")},
		{name: "XGroupCreateMkStream", call: func(c commander) Cmder { return c.XGroupCreateMkStream(bg, "s", "g", "0") }, args: "xgroup create s g 0 mkstream", want: "OK"},
		{name: "XGroupSetID", setup: base, call: func(c commander) Cmder { return c.XGroupSetID(bg, "s", "g", "1") }, args: "xgroup setid s g 1", want: "OK"},
		{name: "XGroupDestroy", setup: base, call: func(c commander) Cmder { return c.XGroupDestroy(bg, "s", "g") }, args: "xgroup destroy s g", want: int64(1)},
		{name: "XGroupCreateConsumer", setup: base, call: func(c commander) Cmder { return c.XGroupCreateConsumer(bg, "s", "g", "ann") }, args: "xgroup createconsumer s g ann", want: int64(1)},
		{name: "XGroupDelConsumer", setup: read, call: func(c commander) Cmder { return c.XGroupDelConsumer(bg, "s", "g", "ann") }, args: "xgroup delconsumer s g ann", want: int64(2)},
		{name: "XReadGroup", setup: base, call: func(c commander) Cmder {
			return c.XReadGroup(bg, &XReadGroupArgs{Group: "g", Consumer: "ann", Streams: []string{"s", ">"}, Count: 1, Block: -1, NoAck: true})
		}, args: "xreadgroup group g ann count 1 noack streams s >", want: []XStream{{"s", []XMessage{one}}}},
		{name: "XReadGroup/block", setup: read, call: func(c commander) Cmder {
			return c.XReadGroup(bg, &XReadGroupArgs{Group: "g", Consumer: "ann", Streams: []string{"s", ">"}, Block: 10 * time.Millisecond})
		}, args: "xreadgroup group g ann block 10 streams s >", want: Nil},
		{name: "XReadGroup/deleted", setup: append(read[:4:4], "xdel s 1-0"), call: func(c commander) Cmder {
			return c.XReadGroup(bg, &XReadGroupArgs{Group: "g", Consumer: "ann", Streams: []string{"s", "0"}, Block: -1})
		}, args: "xreadgroup group g ann streams s 0", want: []XStream{{"s", []XMessage{{ID: "1-0"}, two}}}},
		{
			name: "XReadGroup/claim", call: func(c commander) Cmder {
				return c.XReadGroup(bg, &XReadGroupArgs{Group: "g", Consumer: "bob", Streams: []string{"s", ">"}, Claim: time.Second, Block: -1, MaxCount: 2, MaxSize: 9})
			}, args: "xreadgroup group g bob maxcount 2 maxsize 9 claim 1000 streams s >", want: []XStream{{"s", []XMessage{old, two}}}, since: "8.10", valkey: "-",
			r2: "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*4\r\n$3\r\n1-0\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n:1500\r\n:2\r\n*4\r\n$3\r\n2-0\r\n*2\r\n$1\r\na\r\n$1\r\n2\r\n:0\r\n:0\r\n",
			r3: "%1\r\n$1\r\ns\r\n*2\r\n*4\r\n$3\r\n1-0\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n:1500\r\n:2\r\n*4\r\n$3\r\n2-0\r\n*2\r\n$1\r\na\r\n$1\r\n2\r\n:0\r\n:0\r\n",
		},
		{name: "XAck", setup: read, call: func(c commander) Cmder { return c.XAck(bg, "s", "g", "1-0", "9-0") }, args: "xack s g 1-0 9-0", want: int64(1)},
		{name: "XAckDel", call: func(c commander) Cmder { return c.XAckDel(bg, "s", "g", "KEEPREF", "1-0") }, args: "xackdel s g KEEPREF ids 1 1-0", want: []any{int64(1)}, since: "8.2", valkey: "-", r2: "*1\r\n:1\r\n"},
		{name: "XNack", call: func(c commander) Cmder {
			return c.XNack(bg, &XNackArgs{Stream: "s", Group: "g", Mode: XNackModeFail, IDs: []string{"1-0"}, RetryCount: new(uint64(3)), Force: true})
		}, args: "xnack s g FAIL ids 1 1-0 retrycount 3 force", want: int64(1), since: "8.8", valkey: "-", r2: ":1\r\n"},
		{name: "XPending", setup: read, call: func(c commander) Cmder { return c.XPending(bg, "s", "g") }, args: "xpending s g", want: &XPending{Count: 2, Lower: "1-0", Higher: "2-0", Consumers: map[string]int64{"ann": 2}}},
		{name: "XPending/none", setup: base, call: func(c commander) Cmder { return c.XPending(bg, "s", "g") }, args: "xpending s g", want: &XPending{}},
		{name: "XPendingExt", setup: read, call: func(c commander) Cmder {
			return c.XPendingExt(bg, &XPendingExtArgs{Stream: "s", Group: "g", Start: "-", End: "+", Count: 1, Consumer: "ann"})
		}, args: "xpending s g - + 1 ann", want: func(v any) bool {
			p, _ := v.([]XPendingExt)
			return len(p) == 1 && p[0].ID == "1-0" && p[0].Consumer == "ann" && p[0].RetryCount == 1 && p[0].Idle < time.Second
		}},
		{name: "XPendingExt/idle", setup: read, call: func(c commander) Cmder {
			return c.XPendingExt(bg, &XPendingExtArgs{Stream: "s", Group: "g", Idle: time.Minute, Start: "-", End: "+", Count: 1})
		}, args: "xpending s g idle 60000 - + 1", want: []XPendingExt{}},
		{name: "XClaim", setup: read, call: func(c commander) Cmder {
			return c.XClaim(bg, &XClaimArgs{Stream: "s", Group: "g", Consumer: "bob", Messages: []string{"1-0", "2-0"}})
		}, args: "xclaim s g bob 0 1-0 2-0", want: []XMessage{one, two}},
		{name: "XClaim/null", call: func(c commander) Cmder {
			return c.XClaim(bg, &XClaimArgs{Stream: "s", Group: "g", Consumer: "bob", MinIdle: time.Second, Messages: []string{"1-0", "2-0"}})
		}, args: "xclaim s g bob 1000 1-0 2-0", want: []XMessage{one}, unfit: true, r2: "*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n*-1\r\n", r3: "*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n_\r\n"},
		{name: "XClaimJustID", setup: read, call: func(c commander) Cmder {
			return c.XClaimJustID(bg, &XClaimArgs{Stream: "s", Group: "g", Consumer: "bob", Messages: []string{"1-0"}})
		}, args: "xclaim s g bob 0 1-0 justid", want: []string{"1-0"}},
		{name: "XAutoClaim", setup: read, call: func(c commander) Cmder {
			return c.XAutoClaim(bg, &XAutoClaimArgs{Stream: "s", Group: "g", Consumer: "bob", Start: "0", Count: 1})
		}, args: "xautoclaim s g bob 0 0 count 1", want: []any{[]XMessage{one}, "2-0"}},
		{name: "XAutoClaim/6.2", call: func(c commander) Cmder {
			return c.XAutoClaim(bg, &XAutoClaimArgs{Stream: "s", Group: "g", Consumer: "bob", Start: "0"})
		}, args: "xautoclaim s g bob 0 0", want: []any{[]XMessage{one}, "0-0"}, unfit: true, r2: "*2\r\n$3\r\n0-0\r\n*2\r\n*-1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n"},
		{name: "XAutoClaimWithDeleted", setup: append(read[:4:4], "xdel s 1-0"), call: func(c commander) Cmder {
			return c.XAutoClaimWithDeleted(bg, &XAutoClaimArgs{Stream: "s", Group: "g", Consumer: "bob", Start: "0"})
		}, args: "xautoclaim s g bob 0 0", want: []any{[]XMessage{two}, "0-0", []string{"1-0"}}, since: "7.0"},
		{name: "XAutoClaimJustID", setup: read, call: func(c commander) Cmder {
			return c.XAutoClaimJustID(bg, &XAutoClaimArgs{Stream: "s", Group: "g", Consumer: "bob", Start: "0", MinIdle: time.Nanosecond})
		}, args: "xautoclaim s g bob 1 0 justid", want: func(v any) bool {
			list, _ := v.([]any)
			return len(list) == 2 && list[1] == "0-0"
		}},
	}
}

func streamInfoCases() []commandCase {
	read := []string{
		"xadd s 1-0 a 1", "xadd s 2-0 a 2", "xgroup create s g 0", "xgroup createconsumer s g bob",
		"xreadgroup group g ann count 1 streams s >",
	}
	recently := func(t time.Time) bool { return t.Year() >= 2026 }
	return []commandCase{
		{name: "XInfoGroups", setup: read, call: func(c commander) Cmder { return c.XInfoGroups(bg, "s") }, args: "xinfo groups s", want: []XInfoGroup{
			{Name: "g", Consumers: 2, Pending: 1, LastDeliveredID: "1-0", EntriesRead: 1, Lag: 1},
		}, since: "7.0"},
		{name: "XInfoGroups/unknown", setup: []string{"xadd s 1-0 a 1", "xadd s 2-0 a 1", "xdel s 1-0", "xgroup create s g 1-0"}, call: func(c commander) Cmder { return c.XInfoGroups(bg, "s") }, args: "xinfo groups s", want: func(v any) bool {
			g, _ := v.([]XInfoGroup)
			return len(g) == 1 && g[0].EntriesRead == -1
		}, since: "7.0"},
		{name: "XInfoConsumers", setup: read, call: func(c commander) Cmder { return c.XInfoConsumers(bg, "s", "g") }, args: "xinfo consumers s g", want: func(v any) bool {
			l, _ := v.([]XInfoConsumer)
			return len(l) == 2 && l[0].Name == "ann" && l[0].Pending == 1 && l[0].Idle < time.Minute && l[0].Inactive < time.Minute &&
				l[1].Name == "bob" && l[1].Inactive == -1
		}, since: "7.2"},
		{name: "XInfoStream", setup: read, call: func(c commander) Cmder { return c.XInfoStream(bg, "s") }, args: "xinfo stream s", want: &XInfoStream{
			Length: 2, RadixTreeKeys: 1, RadixTreeNodes: 2, Groups: 1, LastGeneratedID: "2-0", MaxDeletedEntryID: "0-0",
			EntriesAdded: 2, FirstEntry: msg("1-0", "a", "1"), LastEntry: msg("2-0", "a", "2"), RecordedFirstEntryID: "1-0",
		}, since: "7.0"},
		{name: "XInfoStream/empty", setup: []string{"xgroup create s g 0 mkstream"}, call: func(c commander) Cmder { return c.XInfoStream(bg, "s") }, args: "xinfo stream s", want: func(v any) bool {
			s, ok := v.(*XInfoStream)
			return ok && s.Length == 0 && s.FirstEntry.ID == "" && s.LastEntry.Values == nil && s.Groups == 1
		}},
		{name: "XInfoStream/idmp", call: func(c commander) Cmder { return c.XInfoStream(bg, "s") }, args: "xinfo stream s", want: &XInfoStream{
			IDMPDuration: 1, IDMPMaxSize: 2, PIDsTracked: 3, IIDsTracked: 4, IIDsAdded: 5, IIDsDuplicates: 6,
		}, since: "8.6", valkey: "-", r2: "*14\r\n+idmp-duration\r\n:1\r\n+idmp-maxsize\r\n:2\r\n+pids-tracked\r\n:3\r\n+iids-tracked\r\n:4\r\n+iids-added\r\n:5\r\n+iids-duplicates\r\n:6\r\n+newer\r\n*1\r\n:1\r\n"},
		{name: "XInfoStreamFull", setup: read, call: func(c commander) Cmder { return c.XInfoStreamFull(bg, "s", 5) }, args: "xinfo stream s full count 5", want: func(v any) bool {
			s, ok := v.(*XInfoStreamFull)
			if !ok || s.Length != 2 || len(s.Entries) != 2 || len(s.Groups) != 1 || s.RecordedFirstEntryID != "1-0" {
				return false
			}
			g := s.Groups[0]
			if g.Name != "g" || g.PelCount != 1 || g.Lag != 1 || g.EntriesRead != 1 || len(g.Pending) != 1 || len(g.Consumers) != 2 {
				return false
			}
			p, ann, bob := g.Pending[0], g.Consumers[0], g.Consumers[1]
			return p.ID == "1-0" && p.Consumer == "ann" && p.DeliveryCount == 1 && recently(p.DeliveryTime) &&
				ann.Name == "ann" && ann.PelCount == 1 && recently(ann.SeenTime) && recently(ann.ActiveTime) &&
				len(ann.Pending) == 1 && ann.Pending[0].ID == "1-0" && recently(ann.Pending[0].DeliveryTime) && ann.Pending[0].DeliveryCount == 1 &&
				bob.Name == "bob" && bob.ActiveTime.IsZero() && len(bob.Pending) == 0
		}, since: "7.2"},
		{name: "XInfoStreamFull/default", setup: read[:1], call: func(c commander) Cmder { return c.XInfoStreamFull(bg, "s", 0) }, args: "xinfo stream s full", want: func(v any) bool {
			s, ok := v.(*XInfoStreamFull)
			return ok && s.Length == 1 && s.Entries[0].ID == "1-0"
		}},
		{name: "XCfgSet", call: func(c commander) Cmder {
			return c.XCfgSet(bg, &XCfgSetArgs{Stream: "s", Duration: 60, MaxSize: 50})
		}, args: "xcfgset s idmp-duration 60 idmp-maxsize 50", want: "OK", since: "8.6", valkey: "-", r2: "+OK\r\n"},
	}
}
