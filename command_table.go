package redis

import "strings"

// cmdFlags say how a command may be treated; see commandTable.
type cmdFlags uint16

const (
	// flagRead: it changes nothing, so it may run twice.
	flagRead cmdFlags = 1 << iota
	// flagIdempotent: running it twice in a row leaves the same data and gives the
	// same reply as running it once. A command that only does the former (DEL, SADD,
	// HSET: the second reply counts nothing) has it not: its caller would be told
	// something wrong.
	flagIdempotent
	// flagBlocking: it can keep its connection waiting.
	flagBlocking
	// flagSession: it changes its connection's state, so it is refused on a shared one.
	flagSession
	// flagPush: it turns its connection into a stream of pushes or gives no reply.
	flagPush
	// flagSub: its first argument is a subcommand.
	flagSub
)

// hasSubcommands tells whether a command's first argument is a subcommand.
func hasSubcommands(name string) bool { return commandTable[name]&flagSub != 0 }

// flags looks a command up; subcommands first.
func (c *baseCmd) flags() cmdFlags {
	var low [32]byte // longer than any name
	name, _ := c.argAt(0)
	key := appendLower(low[:0], name)
	f := commandTable[string(key)]
	if f&flagSub != 0 {
		if sub, ok := c.argAt(1); ok {
			return commandTable[string(appendLower(append(key, ' '), sub))]
		}
	}
	return f
}

// appendLower appends ASCII in lower case.
func appendLower(dst, s []byte) []byte {
	for _, b := range s {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst
}

// isIdempotent tells whether the command may be sent again although the server may
// have executed it.
func (c *baseCmd) isIdempotent() bool {
	if c.once {
		return false
	}
	f := c.flags()
	if f&flagBlocking != 0 && f&flagRead == 0 {
		return false
	}
	switch c.Name() {
	case "set":
		return !c.hasOption(3, "nx", "xx", "get", "ifeq", "ifne", "ifdeq", "ifdne")
	case "json.set":
		return !c.hasOption(4, "nx", "xx")
	}
	return f&(flagRead|flagIdempotent) != 0
}

// hasOption tells whether one of the words is among the arguments from position
// from on, in any case.
func (c *baseCmd) hasOption(from int, words ...string) bool {
	for i := from; i < int(c.count); i++ {
		a, ok := c.argAt(i)
		if !ok {
			return false
		}
		for _, w := range words {
			if strings.EqualFold(string(a), w) {
				return true
			}
		}
	}
	return false
}

// classify finds the lane of a command that is given by its arguments.
func (c *baseCmd) classify() {
	f := c.flags()
	switch {
	case f&flagSession != 0:
		c.lane = laneSession
	case f&flagBlocking != 0:
		switch c.Name() {
		case "xread", "xreadgroup", "ts.read":
			if !c.hasOption(1, "block") {
				return
			}
		}
		c.blocks(0)
	}
}

// commandTable holds the commands about which there is something to know; all
// others are ordinary ones that must not run twice. Flags follow the server's
// COMMAND output (write, readonly, blocking), but for flagIdempotent, which is ours.
var commandTable = map[string]cmdFlags{ //nolint:gochecknoglobals // constant
	// connection
	"ping": flagRead, "echo": flagRead, "time": flagRead, "lolwut": flagRead,
	"auth": flagSession, "hello": flagSession, "select": flagSession, "quit": flagSession, "reset": flagSession,
	"multi": flagSession, "exec": flagSession, "discard": flagSession, "watch": flagSession | flagIdempotent, "unwatch": flagSession | flagIdempotent,
	"subscribe": flagSession | flagPush, "psubscribe": flagSession | flagPush, "ssubscribe": flagSession | flagPush,
	"unsubscribe": flagSession | flagPush, "punsubscribe": flagSession | flagPush, "sunsubscribe": flagSession | flagPush,
	"monitor": flagSession | flagPush, "sync": flagSession | flagPush, "psync": flagSession | flagPush, "asking": flagSession,
	"readonly": flagSession, "readwrite": flagSession,
	"client":       flagSub,
	"client reply": flagSession | flagPush, "client tracking": flagSession, "client maint_notifications": flagSession,
	"client caching": flagSession, "client no-evict": flagSession, "client no-touch": flagSession,
	"client setname": flagSession, "client setinfo": flagSession,
	"client id": flagRead, "client info": flagRead, "client list": flagRead, "client getname": flagRead,
	"client getredir": flagRead, "client trackinginfo": flagRead, "client help": flagRead,

	// generic
	"exists": flagRead, "ttl": flagRead, "pttl": flagRead, "type": flagRead, "keys": flagRead, "scan": flagRead,
	"dbsize": flagRead, "dump": flagRead, "randomkey": flagRead, "touch": flagRead, "expiretime": flagRead,
	"pexpiretime": flagRead, "sort_ro": flagRead,
	"object": flagSub, "object encoding": flagRead, "object freq": flagRead, "object idletime": flagRead,
	"object refcount": flagRead, "object help": flagRead,
	"memory": flagSub, "memory usage": flagRead, "memory stats": flagRead, "memory doctor": flagRead,
	"wait": flagBlocking | flagRead, "waitaof": flagBlocking | flagRead,

	// strings and bitmaps
	"get": flagRead, "mget": flagRead, "strlen": flagRead, "getrange": flagRead, "substr": flagRead, "lcs": flagRead,
	"getbit": flagRead, "bitcount": flagRead, "bitpos": flagRead, "bitfield_ro": flagRead,
	"digest": flagRead,
	"set":    flagIdempotent, "mset": flagIdempotent, "setex": flagIdempotent, "psetex": flagIdempotent,
	"setrange": flagIdempotent,

	// hashes
	"hget": flagRead, "hmget": flagRead, "hgetall": flagRead, "hkeys": flagRead, "hvals": flagRead, "hlen": flagRead,
	"hexists": flagRead, "hstrlen": flagRead, "hscan": flagRead, "hrandfield": flagRead, "httl": flagRead,
	"hpttl": flagRead, "hexpiretime": flagRead, "hpexpiretime": flagRead,
	"hmset":           flagIdempotent,
	"himport":         flagSub, // its names belong to the connection
	"himport prepare": flagSession, "himport set": flagSession, "himport discard": flagSession,
	"himport discardall": flagSession,

	// lists
	"lindex": flagRead, "llen": flagRead, "lpos": flagRead, "lrange": flagRead, "lset": flagIdempotent,
	"blpop": flagBlocking, "brpop": flagBlocking, "brpoplpush": flagBlocking, "blmove": flagBlocking, "blmpop": flagBlocking,
	"blmovem": flagBlocking,

	// sets
	"scard": flagRead, "sismember": flagRead, "smismember": flagRead, "smembers": flagRead, "srandmember": flagRead,
	"sdiff": flagRead, "sinter": flagRead, "sintercard": flagRead, "sunion": flagRead, "sscan": flagRead,
	"sdiffcard": flagRead, "sunioncard": flagRead,

	// sorted sets
	"zcard": flagRead, "zcount": flagRead, "zlexcount": flagRead, "zrange": flagRead, "zrangebyscore": flagRead,
	"zrangebylex": flagRead, "zrevrange": flagRead, "zrevrangebyscore": flagRead, "zrevrangebylex": flagRead,
	"zrank": flagRead, "zrevrank": flagRead, "zscore": flagRead, "zmscore": flagRead, "zrandmember": flagRead,
	"zscan": flagRead, "zdiff": flagRead, "zinter": flagRead, "zintercard": flagRead, "zunion": flagRead,
	"bzpopmin": flagBlocking, "bzpopmax": flagBlocking, "bzmpop": flagBlocking,

	// streams
	"xlen": flagRead, "xrange": flagRead, "xrevrange": flagRead, "xpending": flagRead,
	"xinfo": flagSub, "xinfo stream": flagRead, "xinfo groups": flagRead, "xinfo consumers": flagRead,
	"xread": flagBlocking | flagRead, "xreadgroup": flagBlocking,

	// geo, HyperLogLog
	"geodist": flagRead, "geohash": flagRead, "geopos": flagRead, "geosearch": flagRead,
	"georadius_ro": flagRead, "georadiusbymember_ro": flagRead, "pfcount": flagRead,

	// scripting
	"eval_ro": flagRead, "evalsha_ro": flagRead, "fcall_ro": flagRead,
	"script": flagSub, "script load": flagIdempotent, "script exists": flagRead,
	"function": flagSub, "function list": flagRead, "function dump": flagRead, "function stats": flagRead,

	// Pub/Sub
	"pubsub": flagSub, "pubsub channels": flagRead, "pubsub numsub": flagRead, "pubsub numpat": flagRead,
	"pubsub shardchannels": flagRead, "pubsub shardnumsub": flagRead,

	// server
	"info": flagRead, "role": flagRead, "lastsave": flagRead,
	"command": flagSub | flagRead, "command count": flagRead, "command info": flagRead, "command docs": flagRead,
	"command list": flagRead, "command getkeys": flagRead, "command getkeysandflags": flagRead,
	"hotkeys": flagSub, "hotkeys get": flagRead,
	"config": flagSub, "config get": flagRead, "config set": flagIdempotent,
	"latency": flagSub, "latency latest": flagRead, "latency history": flagRead,
	"slowlog": flagSub, "slowlog get": flagRead, "slowlog len": flagRead,
	"acl": flagSub, "acl whoami": flagRead, "acl list": flagRead, "acl users": flagRead, "acl getuser": flagRead,
	"acl cat": flagRead, "acl log": flagRead, "acl dryrun": flagRead, "acl genpass": flagRead,
	"cluster": flagSub, "cluster info": flagRead, "cluster nodes": flagRead, "cluster slots": flagRead,
	"cluster shards": flagRead, "cluster keyslot": flagRead, "cluster countkeysinslot": flagRead,
	"cluster getkeysinslot": flagRead, "cluster myid": flagRead, "cluster links": flagRead,

	// JSON
	"json.get": flagRead, "json.mget": flagRead, "json.type": flagRead, "json.resp": flagRead, "json.strlen": flagRead,
	"json.objkeys": flagRead, "json.objlen": flagRead, "json.arrindex": flagRead, "json.arrlen": flagRead,
	"json.debug": flagSub, "json.debug memory": flagRead,
	"json.set": flagIdempotent, "json.mset": flagIdempotent, "json.merge": flagIdempotent,

	// time series
	"ts.get": flagRead, "ts.mget": flagRead, "ts.range": flagRead, "ts.revrange": flagRead, "ts.mrange": flagRead,
	"ts.mrevrange": flagRead, "ts.nrange": flagRead, "ts.nrevrange": flagRead, "ts.info": flagRead,
	"ts.queryindex": flagRead, "ts.querylabels": flagRead,
	"ts.read": flagBlocking | flagRead, "ts.alter": flagIdempotent,

	// filters and sketches; a dump counts as a write, so replicas refuse it
	"bf.exists": flagRead, "bf.mexists": flagRead, "bf.card": flagRead, "bf.info": flagRead, "bf.scandump": flagIdempotent,
	"cf.exists": flagRead, "cf.mexists": flagRead, "cf.count": flagRead, "cf.info": flagRead, "cf.scandump": flagIdempotent,
	"cms.query": flagRead, "cms.info": flagRead,
	"topk.query": flagRead, "topk.count": flagRead, "topk.list": flagRead, "topk.info": flagRead,
	"tdigest.min": flagRead, "tdigest.max": flagRead, "tdigest.quantile": flagRead, "tdigest.cdf": flagRead,
	"tdigest.rank": flagRead, "tdigest.revrank": flagRead, "tdigest.byrank": flagRead, "tdigest.byrevrank": flagRead,
	"tdigest.trimmed_mean": flagRead, "tdigest.info": flagRead, "tdigest.reset": flagIdempotent,

	// vector sets
	"vcard": flagRead, "vdim": flagRead, "vemb": flagRead, "vgetattr": flagRead, "vinfo": flagRead, "vismember": flagRead,
	"vlinks": flagRead, "vrandmember": flagRead, "vrange": flagRead, "vsim": flagRead, "vsetattr": flagIdempotent,
	"cluster myshardid": flagRead, "cluster slaves": flagRead, "cluster replicas": flagRead,
	"cluster count-failure-reports": flagRead,

	// arrays
	"arcount": flagRead, "arget": flagRead, "argetrange": flagRead, "argrep": flagRead, "arinfo": flagRead,
	"arlastitems": flagRead, "arlen": flagRead, "armget": flagRead, "arnext": flagRead, "arop": flagRead, "arscan": flagRead,
	"arseek": flagIdempotent,
}
