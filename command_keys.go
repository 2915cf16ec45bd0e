package redis

import (
	"slices"
	"strconv"
	"strings"
)

// A routeKind says which nodes of a cluster a command is for. Kinds follow the tips that
// servers give with COMMAND; what differs is explained where it stands below keyRows.
type routeKind uint8

const (
	// routeKey: the node that owns the slot of its first key.
	routeKey routeKind = iota
	// routeSplit: as routeKey, but its keys may be in several slots: then it is sent in
	// parts, one for each slot, and the replies are merged.
	routeSplit
	// routeSlot: the node that owns the slot whose number slotArg gives.
	routeSlot
	// routeChannel: any node will do, but commands with the same first argument must go
	// to the same one, or they would be overtaken by others.
	routeChannel
	// routeCursor: any node will do, but a cursor must be used at the node that opened it:
	// that is the one with the slot of the index, which is argument first.
	routeCursor
	// routeAny: any primary.
	routeAny
	// routePrimaries: all primaries; the replies are merged.
	routePrimaries
	// routeNodes: all nodes, replicas too; the replies are merged.
	routeNodes
	// routeRefused: it means one node, and only its caller knows which one: it must be
	// sent by a client of that node.
	routeRefused
)

// A mergeKind says what the reply of a command is that went to several nodes. An error
// among the replies is the reply, but with mergeOne.
type mergeKind uint8

const (
	mergeNone    mergeKind = iota // it goes to one node only
	mergeAll                      // any of the replies
	mergeOne                      // any reply that is no error; an error only if all are
	mergeSum                      // the sum of numbers
	mergeMin                      // the smallest number
	mergeAnd                      // lists of 0 and 1, of which each place is 1 if all are
	mergeConcat                   // one list, the replies of the nodes one after the other
	mergeInOrder                  // one list, in the order of the command's keys
	mergeNotNil                   // any reply that is not null; null only if all are
)

// A keyPlace says how the keys of a command are found.
type keyPlace uint8

const (
	keysNone    keyPlace = iota
	keysRange            // from first to last, each step-th argument
	keysCounted          // their number is argument first, they follow it, each step-th argument
	keysStored           // argument 1 is where the result is stored, argument 2 the number of the keys after it
	keysStreams          // the first half of what follows STREAMS
	keysSort             // argument 1, and what follows STORE
	keysRadius           // argument 1, and what follows STORE or STOREDIST
	keysMigrate          // argument 3, or what follows KEYS if that is empty
)

// A keyRule is what is known of the keys and the nodes of a command.
type keyRule struct {
	place keyPlace
	first int8
	last  int8 // negative: from the end, -1 being the last argument; 0: as first
	step  int8 // 0: 1
	route routeKind
	merge mergeKind
	isSub bool // the first argument is a subcommand, with a rule of its own
}

// defaultKeys is the rule of commands that are not in the table: one key, the first
// argument. A keyless command of a module that is sent by it goes to some node, which
// is not wrong.
var defaultKeys = keyRule{place: keysRange, first: 1} //nolint:gochecknoglobals // constant

// keyRuleOf looks a command up, subcommands included.
func (c *baseCmd) keyRuleOf() keyRule {
	var low [40]byte // longer than any name
	name, ok := c.argAt(0)
	if !ok {
		return keyRule{route: routeAny}
	}
	key := appendLower(low[:0], name)
	rule, ok := keyTable[string(key)]
	if !ok {
		return defaultKeys
	}
	if !rule.isSub {
		return rule
	}
	if sub, ok := c.argAt(1); ok {
		if known, ok := keyTable[string(appendLower(append(key, ' '), sub))]; ok {
			return known
		}
	}
	return rule // that of an unknown subcommand, or of none
}

// target tells which nodes of a cluster the command is for, and its first key; ok false:
// it has none. It is route and firstKey in one.
func (c *baseCmd) target() (kind routeKind, key []byte, ok bool) {
	if c.off == leanOff {
		return routeKey, []byte(c.lean), true
	}
	if c.keyPos > 0 {
		return c.targetAt(routeKey, int(c.keyPos))
	}
	rule := c.keyRuleOf()
	switch {
	case rule.place == keysNone:
		return rule.route, nil, false
	case rule.place == keysRange && rule.last >= 0: // most commands
		return c.targetAt(rule.route, int(rule.first))
	}
	span := c.spansOf(rule)[0]
	if span.count == 0 {
		return routeAny, nil, false
	}
	return c.targetAt(rule.route, span.at)
}

// targetAt is target for a command whose first key is argument at. If that is missing,
// any node can refuse the command.
func (c *baseCmd) targetAt(kind routeKind, at int) (routeKind, []byte, bool) {
	key, ok := c.argAt(at)
	if !ok {
		return routeAny, nil, false
	}
	return kind, key, true
}

// route tells which nodes of a cluster the command is for.
func (c *baseCmd) route() routeKind {
	kind, _, _ := c.target()
	return kind
}

// merge tells what becomes of the replies if route names several nodes.
func (c *baseCmd) merge() mergeKind {
	if c.off == leanOff || c.keyPos > 0 {
		return mergeNone
	}
	return c.keyRuleOf().merge
}

// slotArg is the slot that a command with routeSlot names.
func (c *baseCmd) slotArg() (slot int, ok bool) {
	slot = c.intAt(2)
	return slot, slot >= 0 && c.route() == routeSlot
}

// cursorIndex is the index that says which node has the cursor of a command with
// routeCursor; ok false: it has none.
func (c *baseCmd) cursorIndex() (index []byte, ok bool) {
	first := int(c.keyRuleOf().first)
	if first == 1 && !c.hasOption(2, "withcursor") {
		return nil, false
	}
	return c.argAt(first)
}

// firstKey gives the first key of the command; ok false: it has none. Channels of
// sharded Pub/Sub count as keys: they belong to slots too. The key is part of the
// command and must not be changed.
func (c *baseCmd) firstKey() (key []byte, ok bool) {
	_, key, ok = c.target()
	return key, ok
}

// eachKey calls f with each key, first to last, until f returns false.
func (c *baseCmd) eachKey(f func(key []byte) bool) {
	if c.off == leanOff || c.keyPos > 0 {
		if key, ok := c.firstKey(); ok {
			f(key)
		}
		return
	}
	for _, span := range c.spansOf(c.keyRuleOf()) {
		if !c.walk(span, f) {
			return
		}
	}
}

// walk calls f with the arguments of a span; false: f did not want more.
func (c *baseCmd) walk(span keySpan, f func(arg []byte) bool) bool {
	if span.count == 0 {
		return true
	}
	r := c.reader()
	for range span.at {
		if r.Skip() != nil {
			return false
		}
	}
	for i := range span.count {
		if i > 0 {
			for range span.step - 1 {
				if r.Skip() != nil {
					return false
				}
			}
		}
		arg, err := r.Bytes()
		if err != nil || !f(arg) {
			return false
		}
	}
	return true
}

// A keySpan is arguments that are keys: count of them, from position at on, each
// step-th one. All are there.
type keySpan struct{ at, count, step int }

// spansOf finds the keys. No rule needs more than two spans; the first is empty only if
// both are.
func (c *baseCmd) spansOf(rule keyRule) (spans [2]keySpan) {
	switch rule.place {
	case keysNone:
	case keysRange:
		spans[0] = c.between(int(rule.first), int(rule.last), max(1, int(rule.step)))
	case keysCounted:
		spans[0] = c.counted(int(rule.first), max(1, int(rule.step)))
	case keysStored:
		spans[0], spans[1] = c.between(1, 1, 1), c.counted(2, 1)
	case keysStreams:
		spans[0] = c.streamKeys()
	case keysSort:
		spans[0], spans[1] = c.between(1, 1, 1), c.sortTarget()
	case keysRadius:
		spans[0], spans[1] = c.between(1, 1, 1), c.radiusTarget()
	case keysMigrate:
		spans[0] = c.migrateKeys()
	}
	return spans
}

// between is the span from first to last, as keyRule has them.
func (c *baseCmd) between(first, last, step int) keySpan {
	switch {
	case last == 0:
		last = first
	case last < 0:
		last += int(c.count)
	}
	last = min(last, int(c.count)-1)
	if first > last {
		return keySpan{}
	}
	return keySpan{at: first, count: (last-first)/step + 1, step: step}
}

// counted is the span of the keys whose number is argument at. A number that promises
// more than there is means none: the server will refuse it.
func (c *baseCmd) counted(at, step int) keySpan {
	n := c.intAt(at)
	if n <= 0 || n > (int(c.count)-at-1)/step {
		return keySpan{}
	}
	return keySpan{at: at + 1, count: n, step: step}
}

// streamKeys finds the keys of XREAD and XREADGROUP. Options are stepped over: a group
// may be called "streams".
func (c *baseCmd) streamKeys() keySpan {
	for i := 1; i < int(c.count); i++ {
		switch word, _ := c.argAt(i); {
		case isWord(word, "streams"):
			half := (int(c.count) - i - 1) / 2
			return keySpan{at: i + 1, count: half, step: 1}
		case isWord(word, "block"), isWord(word, "count"), isWord(word, "claim"):
			i++
		case isWord(word, "group"):
			i += 2
		}
	}
	return keySpan{}
}

// sortTarget finds the key that SORT stores its result in; of several, the last counts.
func (c *baseCmd) sortTarget() (target keySpan) {
	for i := 2; i < int(c.count); i++ {
		switch word, _ := c.argAt(i); {
		case isWord(word, "limit"):
			i += 2
		case isWord(word, "by"), isWord(word, "get"):
			i++
		case isWord(word, "store"):
			i++
			target = c.between(i, i, 1)
		}
	}
	return target
}

// radiusTarget finds the key that GEORADIUS and GEORADIUSBYMEMBER store their result in;
// of several, the last counts.
func (c *baseCmd) radiusTarget() (target keySpan) {
	for i := 5; i < int(c.count); i++ {
		if word, _ := c.argAt(i); isWord(word, "store") || isWord(word, "storedist") {
			i++
			target = c.between(i, i, 1)
		}
	}
	return target
}

// migrateKeys finds the keys of MIGRATE.
func (c *baseCmd) migrateKeys() keySpan {
	if key, ok := c.argAt(3); !ok || len(key) > 0 {
		return c.between(3, 3, 1)
	}
	for i := 6; i < int(c.count); i++ {
		switch word, _ := c.argAt(i); {
		case isWord(word, "auth"):
			i++
		case isWord(word, "auth2"):
			i += 2
		case isWord(word, "keys"):
			return c.between(i+1, -1, 1)
		}
	}
	return keySpan{}
}

// intAt is argument i as a number that is not negative, or -1.
func (c *baseCmd) intAt(i int) int {
	arg, ok := c.argAt(i)
	if !ok || len(arg) > 9 {
		return -1
	}
	n := 0
	for _, digit := range arg {
		if digit < '0' || digit > '9' {
			return -1
		}
		n = n*10 + int(digit-'0')
	}
	return n
}

// isWord tells whether an argument is a word, which is in lower case.
func isWord(arg []byte, word string) bool {
	if len(arg) != len(word) {
		return false
	}
	var low [16]byte // longer than any such word
	return string(appendLower(low[:0], arg)) == word
}

// A keyRow is a rule with the commands that follow it: names, or subcommands if of is
// the name of their command.
type keyRow struct {
	rule  keyRule
	of    string
	names string
}

// keyTable is keyRows by name, "xgroup create" with subcommands.
var keyTable = tabulate(keyRows()) //nolint:gochecknoglobals // constant

func tabulate(rows []keyRow) map[string]keyRule {
	table := make(map[string]keyRule, 400)
	for _, row := range rows {
		prefix := ""
		if row.of != "" {
			prefix = row.of + " "
			table[row.of] = keyRule{isSub: true, route: routeAny}
		}
		for name := range strings.FieldsSeq(row.names) {
			table[prefix+name] = row.rule
		}
	}
	return table
}

// String is the name of the kind.
func (k routeKind) String() string { return nameOf(int(k), routeNames[:]) }

// String is the name of the kind.
func (k mergeKind) String() string { return nameOf(int(k), mergeNames[:]) }

func nameOf(i int, names []string) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

var (
	routeNames = [...]string{ //nolint:gochecknoglobals // constant
		routeKey: "key", routeSplit: "split", routeSlot: "slot", routeChannel: "channel", routeCursor: "cursor", routeAny: "any",
		routePrimaries: "primaries", routeNodes: "nodes", routeRefused: "refused",
	}
	mergeNames = [...]string{ //nolint:gochecknoglobals // constant
		mergeNone: "none", mergeAll: "all", mergeOne: "one", mergeSum: "sum", mergeMin: "min", mergeAnd: "and",
		mergeConcat: "concat", mergeInOrder: "in order", mergeNotNil: "not nil",
	}
)

// keyRows says where the keys of commands are and which nodes they are for: what servers
// tell with COMMAND, then what we know better, for the reasons given.
func keyRows() []keyRow {
	return slices.Concat(serverKeys(), keyedRows(), nodeRows(), subcommandRows(), moduleRows())
}

// keyedRows are commands with keys.
func keyedRows() []keyRow {
	return []keyRow{
		// Too vague for a table: the keys depend on words among the arguments.
		{rule: keyRule{place: keysStored}, names: "zdiffstore zinterstore zunionstore"},
		{rule: keyRule{place: keysStreams}, names: "xread xreadgroup"},
		{rule: keyRule{place: keysSort}, names: "sort"},
		{rule: keyRule{place: keysRadius}, names: "georadius georadiusbymember"},
		{rule: keyRule{place: keysMigrate}, names: "migrate"},
		// All or nothing can't be kept by several nodes.
		{rule: keyRule{place: keysCounted, first: 1, step: 2}, names: "msetex"},
		// Its cursor says where it goes on.
		{rule: keyRule{place: keysRange, first: 1}, names: "clusterscan"},
		// Newer than the servers of the tests.
		{rule: keyRule{place: keysRange, first: 1, last: 2}, names: "lmovem blmovem"},
		{rule: keyRule{place: keysCounted, first: 1}, names: "sdiffcard sunioncard"},
	}
}

// nodeRows are commands without keys.
func nodeRows() []keyRow {
	return []keyRow{
		// Any node does, but messages on a channel must not overtake each other.
		{rule: keyRule{route: routeChannel}, names: "publish"},
		// Whether there is somebody must not fail because of one node; of several texts
		// nothing can be made.
		{rule: keyRule{route: routeAny}, names: "ping info"},
		// A key of any node that has keys: the tips leave open how.
		{rule: keyRule{route: routePrimaries, merge: mergeNotNil}, names: "randomkey"},
		// A role and a process belong to one node.
		{rule: keyRule{route: routeRefused}, names: "shutdown failover replicaof slaveof"},
	}
}

// subcommandRows are commands with subcommands, of which those that have no row are for
// any node.
func subcommandRows() []keyRow {
	second := keyRule{place: keysRange, first: 2}
	refused := keyRule{route: routeRefused}
	anyNode := keyRule{route: routeAny}
	return []keyRow{
		// No subcommands in the eyes of the servers, or newer than those of the tests.
		{of: "debug", rule: second, names: "object"},
		{of: "himport", rule: second, names: "set"},
		{of: "json.debug", rule: second, names: "memory"},
		{of: "hotkeys", rule: refused, names: "start stop get reset"},
		// Nothing can be made of several such replies.
		{of: "memory", rule: anyNode, names: "doctor malloc-stats stats"},
		{of: "function", rule: anyNode, names: "stats"},
		{of: "latency", rule: anyNode, names: "doctor graph histogram history latest"},
		// Only the owner of the slot knows its keys.
		{of: "cluster", rule: keyRule{route: routeSlot}, names: "countkeysinslot getkeysinslot flushslot"},
		// They change the view of the very node.
		{of: "cluster", rule: refused, names: `addslots addslotsrange bumpepoch delslots delslotsrange failover flushslots
			forget meet replicate reset saveconfig set-config-epoch setslot migrateslots cancelslotmigrations syncslots`},
		// They are for a connection, or for one of a node.
		{of: "client", rule: anyNode, names: "setname setinfo"},
		{of: "client", rule: refused, names: "kill unblock pause unpause"},
		// A cluster of which one node has the module is broken.
		{of: "module", rule: refused, names: "load loadex unload"},
	}
}

// moduleRows are commands of the modules that come with Redis, which have no COMMAND to
// compare with in the servers of the tests.
func moduleRows() []keyRow {
	return []keyRow{
		{rule: keyRule{place: keysRange, first: 1, last: -2}, names: "json.mget"},
		{rule: keyRule{place: keysRange, first: 1, last: -1, step: 3}, names: "json.mset ts.madd"},
		{rule: keyRule{place: keysRange, first: 1, last: 2}, names: "ts.createrule ts.deleterule"},
		{rule: keyRule{place: keysCounted, first: 1}, names: "ts.nrange ts.nrevrange"},
		{rule: keyRule{place: keysStored}, names: "cms.merge tdigest.merge"},
		{rule: keyRule{route: routeAny}, names: `ts.mget ts.mrange ts.mrevrange ts.queryindex ts.querylabels
			ft.create ft.search ft.dictadd ft.dictdump ft.dictdel ft.spellcheck ft.explain ft.explaincli
			ft.aliasadd ft.aliasupdate ft.aliasdel ft.aliaslist ft.info ft.tagvals ft.syndump ft.synupdate ft.profile ft.alter
			ft.dropindex ft._list`},
		{rule: keyRule{route: routeCursor, first: 1}, names: "ft.aggregate ft.hybrid"},
		{of: "ft.cursor", rule: keyRule{route: routeCursor, first: 2}, names: "read del gc"},
		{of: "ft.config", rule: keyRule{route: routeNodes, merge: mergeAll}, names: "set"},
	}
}
