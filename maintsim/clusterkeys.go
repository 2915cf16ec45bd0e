package maintsim

import (
	"strconv"
	"strings"
)

// A keyPlace says where the keys of a command are.
type keyPlace uint8

const (
	keyFirst   keyPlace = iota // argument 1
	keyNone                    // nowhere
	keySecond                  // argument 2
	keyTwo                     // arguments 1 and 2
	keyAll                     // all from 1
	keyFromTwo                 // all from 2
	keyButLast                 // all from 1 but the last
	keyPairs                   // every other from 1
	keyCount1                  // argument 1 is their number
	keyCount2                  // argument 2 is their number
	keyStored                  // argument 1, and argument 2 is the number of more
	keyStreams                 // the first half of what follows STREAMS
)

// keyPlaces is where the keys of commands are that the embedded server knows, except for
// those with one key in argument 1.
var keyPlaces = makeKeyPlaces(map[keyPlace]string{
	keyNone: `ACL ASKING AUTH BGREWRITEAOF BGSAVE CLIENT CLUSTER COMMAND CONFIG DBSIZE DEBUG DISCARD ECHO EXEC FAILOVER
		FLUSHALL FLUSHDB FUNCTION HELLO INFO KEYS LASTSAVE LATENCY LOLWUT MODULE MONITOR MULTI PING PSUBSCRIBE PSYNC
		PUBLISH PUBSUB PUNSUBSCRIBE QUIT RANDOMKEY READONLY READWRITE REPLCONF REPLICAOF RESET ROLE SAVE SCAN SCRIPT
		SELECT SHUTDOWN SLAVEOF SLOWLOG SUBSCRIBE SUNSUBSCRIBE SWAPDB SYNC TIME UNSUBSCRIBE UNWATCH WAIT WAITAOF`,
	keySecond: `MEMORY OBJECT XGROUP XINFO`,
	keyTwo: `BLMOVE BRPOPLPUSH COPY GEOSEARCHSTORE LCS LMOVE RENAME RENAMENX RPOPLPUSH SMOVE
		ZRANGESTORE`,
	keyAll: `DEL EXISTS MGET PFCOUNT PFMERGE SDIFF SDIFFSTORE SINTER SINTERSTORE SSUBSCRIBE SUNION SUNIONSTORE TOUCH
		UNLINK WATCH`,
	keyFromTwo: `BITOP`,
	keyButLast: `BLPOP BRPOP BZPOPMAX BZPOPMIN`,
	keyPairs:   `MSET MSETNX`,
	keyCount1:  `LMPOP SINTERCARD ZDIFF ZINTER ZINTERCARD ZMPOP ZUNION`,
	keyCount2:  `BLMPOP BZMPOP EVAL EVALSHA EVALSHA_RO EVAL_RO FCALL FCALL_RO`,
	keyStored:  `ZDIFFSTORE ZINTERSTORE ZUNIONSTORE`,
	keyStreams: `XREAD XREADGROUP`,
})

func makeKeyPlaces(words map[keyPlace]string) map[string]keyPlace {
	places := make(map[string]keyPlace)
	for place, names := range words {
		for name := range strings.FieldsSeq(names) {
			places[name] = place
		}
	}
	return places
}

// placeOf is where the keys of the command called name are, in any case.
func placeOf(name []byte) keyPlace {
	var buf [16]byte
	if len(name) > len(buf) {
		return keyFirst
	}
	for i, c := range name {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		buf[i] = c
	}
	return keyPlaces[string(buf[:len(name)])]
}

// appendKeys appends the keys among args, the arguments of a command with its name, to
// keys. What is too short to have any has none: the server complains.
func appendKeys(keys, args [][]byte) [][]byte {
	n := len(args)
	at := func(from, to, step int) [][]byte {
		for i := from; i < to && i < n; i += step {
			keys = append(keys, args[i])
		}
		return keys
	}
	counted := func(pos int) [][]byte {
		if pos >= n {
			return keys
		}
		count, err := strconv.Atoi(string(args[pos]))
		if err != nil || count < 0 || count > n {
			return keys
		}
		return at(pos+1, pos+1+count, 1)
	}
	switch placeOf(args[0]) {
	case keyNone:
	case keyFirst:
		return at(1, 2, 1)
	case keySecond:
		return at(2, 3, 1)
	case keyTwo:
		return at(1, 3, 1)
	case keyAll:
		return at(1, n, 1)
	case keyFromTwo:
		return at(2, n, 1)
	case keyButLast:
		return at(1, n-1, 1)
	case keyPairs:
		return at(1, n, 2)
	case keyCount1:
		return counted(1)
	case keyCount2:
		return counted(2)
	case keyStored:
		keys = at(1, 2, 1)
		return counted(2)
	case keyStreams:
		for i := 1; i < n; i++ {
			if strings.EqualFold(string(args[i]), "STREAMS") {
				return at(i+1, i+1+(n-i-1)/2, 1)
			}
		}
	}
	return keys
}

// appendArgs appends the arguments of a complete command, slices of it, to args.
func appendArgs(args [][]byte, b []byte) [][]byte {
	elems, pos, _ := requestHead(b, 0, '*')
	for range elems {
		size, start, _ := requestHead(b, pos, '$')
		args = append(args, b[start:start+size])
		pos = start + size + 2
	}
	return args
}
