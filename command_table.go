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
	// flagCached: its reply is the same until one of its keys changes; see cachedRows.
	flagCached
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
	case "wait", "waitaof": // another connection would answer for itself
		return false
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
// others are ordinary ones that must not run twice. What servers tell with COMMAND
// (readonly, blocking, subcommands) comes from command_table_servers.go; ourFlags are
// added.
var commandTable = tabulateFlags(append(serverFlags(), cachedRows()...), ourFlags()) //nolint:gochecknoglobals // constant

func tabulateFlags(rows []flagRow, added map[string]cmdFlags) map[string]cmdFlags {
	table := make(map[string]cmdFlags, 400)
	for _, row := range rows {
		prefix := ""
		if row.of != "" {
			prefix = row.of + " "
		}
		for name := range strings.FieldsSeq(row.names) {
			table[prefix+name] |= row.flags
		}
	}
	for name, flags := range added {
		table[name] |= flags
	}
	return table
}

// ourFlags are what servers don't tell. They call nothing readonly that has no keys, so
// that all that only looks at the server is here; they don't know which command changes
// its connection (flagSession, flagPush), nor which one gives the same reply when it is
// repeated (flagIdempotent); and the servers of the tests don't know all commands.
func ourFlags() map[string]cmdFlags {
	return map[string]cmdFlags{
		// connection
		"ping": flagRead, "echo": flagRead, "time": flagRead,
		"auth": flagSession, "hello": flagSession, "select": flagSession, "quit": flagSession, "reset": flagSession,
		"multi": flagSession, "exec": flagSession, "discard": flagSession, "watch": flagSession | flagIdempotent, "unwatch": flagSession | flagIdempotent,
		"subscribe": flagSession | flagPush, "psubscribe": flagSession | flagPush, "ssubscribe": flagSession | flagPush,
		"unsubscribe": flagSession | flagPush, "punsubscribe": flagSession | flagPush, "sunsubscribe": flagSession | flagPush,
		"monitor": flagSession | flagPush, "sync": flagSession | flagPush, "psync": flagSession | flagPush, "asking": flagSession,
		"readonly": flagSession, "readwrite": flagSession,
		"client reply": flagSession | flagPush, "client tracking": flagSession, "client maint_notifications": flagSession,
		"client caching": flagSession, "client no-evict": flagSession, "client no-touch": flagSession,
		"client setname": flagSession, "client setinfo": flagSession,
		"client id": flagRead, "client info": flagRead, "client list": flagRead, "client getname": flagRead,
		"client getredir": flagRead, "client trackinginfo": flagRead, "client help": flagRead,

		// generic
		"object help":  flagRead,
		"memory stats": flagRead, "memory doctor": flagRead,
		"wait": flagRead, "waitaof": flagRead,

		// strings and bitmaps
		"digest": flagRead,
		"set":    flagIdempotent, "mset": flagIdempotent, "setex": flagIdempotent, "psetex": flagIdempotent,
		"setrange": flagIdempotent,

		// hashes
		"hmset":           flagIdempotent,
		"himport":         flagSub, // its names belong to the connection
		"himport prepare": flagSession, "himport set": flagSession, "himport discard": flagSession,
		"himport discardall": flagSession,

		// lists
		"lset":    flagIdempotent,
		"blmovem": flagBlocking,

		// sets
		"sdiffcard": flagRead, "sunioncard": flagRead,

		// scripting
		"script load": flagIdempotent, "script exists": flagRead,
		"function list": flagRead, "function dump": flagRead, "function stats": flagRead,

		// Pub/Sub
		"pubsub channels": flagRead, "pubsub numsub": flagRead, "pubsub numpat": flagRead,
		"pubsub shardchannels": flagRead, "pubsub shardnumsub": flagRead,

		// server
		"info": flagRead, "role": flagRead, "lastsave": flagRead,
		"command": flagSub | flagRead, "command count": flagRead, "command info": flagRead, "command docs": flagRead,
		"command list": flagRead, "command getkeys": flagRead, "command getkeysandflags": flagRead,
		"hotkeys": flagSub, "hotkeys get": flagRead,
		"config get": flagRead, "config set": flagIdempotent,
		"latency latest": flagRead, "latency history": flagRead,
		"slowlog get": flagRead, "slowlog len": flagRead,
		"acl whoami": flagRead, "acl list": flagRead, "acl users": flagRead, "acl getuser": flagRead,
		"acl cat": flagRead, "acl log": flagRead, "acl dryrun": flagRead, "acl genpass": flagRead,
		"cluster info": flagRead, "cluster nodes": flagRead, "cluster slots": flagRead,
		"cluster shards": flagRead, "cluster keyslot": flagRead, "cluster countkeysinslot": flagRead,
		"cluster getkeysinslot": flagRead, "cluster myid": flagRead, "cluster links": flagRead,
		"cluster myshardid": flagRead, "cluster slaves": flagRead, "cluster replicas": flagRead,
		"cluster count-failure-reports": flagRead,

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
		"vrange": flagRead, "vsetattr": flagIdempotent,

		// arrays
		"arcount": flagRead, "arget": flagRead, "argetrange": flagRead, "argrep": flagRead, "arinfo": flagRead,
		"arlastitems": flagRead, "arlen": flagRead, "armget": flagRead, "arnext": flagRead, "arop": flagRead, "arscan": flagRead,
		"arseek": flagIdempotent,

		// search; a cursor that nobody knows of, because the reply was lost, ends by itself
		"ft.search": flagRead, "ft.aggregate": flagRead, "ft.hybrid": flagRead, "ft.profile": flagRead, "ft.explain": flagRead,
		"ft.explaincli": flagRead, "ft.info": flagRead, "ft.tagvals": flagRead, "ft.spellcheck": flagRead, "ft.syndump": flagRead,
		"ft.dictdump": flagRead, "ft._list": flagRead, "ft.aliaslist": flagRead,
		"ft.aliasupdate": flagIdempotent, "ft.synupdate": flagIdempotent,
		"ft.config": flagSub, "ft.config get": flagRead, "ft.config set": flagIdempotent,
		"ft.cursor": flagSub, // reading moves it on
	}
}

// A flagRow is flags with the commands that have them: names, or subcommands if of is the
// name of their command.
type flagRow struct {
	flags cmdFlags
	of    string
	names string
}
