package redis

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/baton-go/redis/internal/realserver"
)

// A serverCommand is a command or subcommand as a server describes it.
type serverCommand struct {
	name    string // in lower case, with the subcommand
	hasKeys bool
	tips    []string
	args    []commandArg // from COMMAND DOCS
	info    []any        // from COMMAND
}

// A commandArg is an argument in COMMAND DOCS.
type commandArg struct {
	name, kind, token                  string
	optional, multiple, multipleTokens bool
	args                               []commandArg
}

// serverCommands are all commands of a server without subcommands, and all subcommands.
func serverCommands(t *testing.T, c *Client) []serverCommand {
	t.Helper()
	infos, err := c.Do(bg, "command").Slice()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := c.Do(bg, "command", "docs").Slice()
	if err != nil {
		t.Fatal(err)
	}
	args := map[string][]commandArg{}
	readDocs(docs, args)
	return flatten(infos, args)
}

func flatten(infos []any, args map[string][]commandArg) []serverCommand {
	var found []serverCommand
	for _, entry := range infos {
		info := entry.([]any)
		name := strings.ToLower(strings.ReplaceAll(info[0].(string), "|", " "))
		if subs := info[9].([]any); len(subs) > 0 {
			found = append(found, flatten(subs, args)...)
			continue
		}
		cmd := serverCommand{name: name, hasKeys: len(info[8].([]any)) > 0, args: args[name], info: info}
		for _, tip := range info[7].([]any) {
			cmd.tips = append(cmd.tips, tip.(string))
		}
		found = append(found, cmd)
	}
	return found
}

// readDocs reads the reply of COMMAND DOCS, in RESP2: names and their maps, as lists.
func readDocs(docs []any, args map[string][]commandArg) {
	for name, doc := range pairs(docs) {
		fields := maps.Collect(pairs(doc.([]any)))
		if list, ok := fields["arguments"].([]any); ok {
			args[strings.ReplaceAll(name, "|", " ")] = readArgs(list)
		}
		if subs, ok := fields["subcommands"].([]any); ok {
			readDocs(subs, args)
		}
	}
}

// pairs walks over a map that is a list.
func pairs(list []any) func(yield func(string, any) bool) {
	return func(yield func(string, any) bool) {
		for pair := range slices.Chunk(list, 2) {
			if !yield(pair[0].(string), pair[1]) {
				return
			}
		}
	}
}

func readArgs(list []any) []commandArg {
	var args []commandArg
	for _, entry := range list {
		fields := maps.Collect(pairs(entry.([]any)))
		arg := commandArg{}
		arg.name, _ = fields["name"].(string)
		arg.kind, _ = fields["type"].(string)
		arg.token, _ = fields["token"].(string)
		if flags, ok := fields["flags"].([]any); ok {
			arg.optional = slices.Contains(flags, any("optional"))
			arg.multiple = slices.Contains(flags, any("multiple"))
			arg.multipleTokens = slices.Contains(flags, any("multiple_token"))
		}
		if inner, ok := fields["arguments"].([]any); ok {
			arg.args = readArgs(inner)
		}
		args = append(args, arg)
	}
	return args
}

// An example is a command made up of what COMMAND DOCS says. Its variant is a number:
// 0 leaves out what is optional, others put everything in, and choose otherwise each.
type example struct {
	variant int
	keys    int
	words   []string
}

func exampleOf(cmd serverCommand, variant int) []string {
	e := example{variant: variant, words: strings.Fields(cmd.name)}
	e.addAll(cmd.args)
	if cmd.hasKeys && cmd.args == nil { // vector sets have no documents, nor arities
		e.words = append(e.words, "key:1", "arg:2")
	}
	return e.words
}

func (e *example) addAll(args []commandArg) {
	for i, arg := range args {
		if e.leaves(arg) {
			continue
		}
		if strings.HasPrefix(arg.name, "num") && arg.kind == "integer" && i+1 < len(args) {
			e.count(arg, args[i+1])
			continue
		}
		e.add(arg)
	}
}

func (e *example) leaves(arg commandArg) bool { return arg.optional && e.variant == 0 }

// count adds the number of what next will add.
func (e *example) count(arg, next commandArg) {
	n := 1
	if next.multiple {
		n = 2
	}
	if e.leaves(next) {
		n = 0
	}
	if arg.token != "" {
		e.words = append(e.words, arg.token)
	}
	e.words = append(e.words, strconv.Itoa(n))
}

func (e *example) add(arg commandArg) {
	times := 1
	if arg.multiple {
		times = 2
	}
	for i := range times {
		if arg.token != "" && (i == 0 || arg.multipleTokens) {
			e.words = append(e.words, arg.token)
		}
		e.value(arg)
	}
}

func (e *example) value(arg commandArg) {
	switch arg.kind {
	case "key":
		e.keys++
		e.words = append(e.words, fmt.Sprintf("key:%d", e.keys))
	case "oneof":
		e.addAll(arg.args[e.variant%len(arg.args):][:1])
	case "block":
		e.addAll(arg.args)
	case "pure-token":
		if arg.token == "" {
			e.words = append(e.words, "")
		}
	case "integer", "double", "unix-time":
		e.words = append(e.words, "1")
	default:
		e.words = append(e.words, arg.name)
	}
}

// variants is how many examples are made of each command.
const variants = 6

// getKeys asks a server for the keys of a command; ok false: it doesn't say.
func getKeys(t *testing.T, c *Client, line []string) (keys []string, ok bool) {
	t.Helper()
	args := []any{"command", "getkeys"}
	for _, word := range line {
		args = append(args, word)
	}
	keys, err := c.Do(bg, args...).StringSlice()
	switch {
	case err == nil:
		return keys, true
	case strings.Contains(err.Error(), "no key arguments"):
		return nil, true
	case strings.Contains(err.Error(), "nvalid"), strings.Contains(err.Error(), "wrong number"):
		return nil, false
	}
	t.Fatalf("command getkeys %q: %v", line, err)
	return nil, false
}

func asCommand(line []string) *Cmd {
	args := make([]any, len(line))
	for i, word := range line {
		args[i] = word
	}
	return NewCmd(bg, args...)
}

// onServers runs a test against each server; complete: all were there.
func onServers(t *testing.T, f func(t *testing.T, c *Client)) (complete bool) {
	t.Helper()
	complete = true
	for _, name := range realserver.All() {
		ran := false
		t.Run(name, func(t *testing.T) {
			srv := realserver.Start(t, name)
			c := NewClient(&Options{Addr: srv.Addr(), Protocol: 2})
			defer c.Close()
			ran = true
			f(t, c)
		})
		complete = complete && ran
	}
	return complete
}

// TestKeysAgreeWithServers compares with COMMAND GETKEYS, for examples of all commands.
func TestKeysAgreeWithServers(t *testing.T) {
	seen := map[string]bool{}
	complete := onServers(t, func(t *testing.T, c *Client) {
		compared := 0
		for _, cmd := range serverCommands(t, c) {
			answered, differs := compareKeys(t, c, cmd)
			if answered {
				compared++
			} else if cmd.hasKeys {
				t.Errorf("%s: no comparison, e.g. %q", cmd.name, exampleOf(cmd, 1))
			}
			seen[cmd.name] = seen[cmd.name] || differs
		}
		for _, test := range keyLines() {
			if !test.server {
				continue
			}
			var line []string
			for _, word := range test.words() {
				line = append(line, word.(string))
			}
			if got, ok := getKeys(t, c, line); !ok || !slices.Equal(got, strings.Fields(test.keys)) {
				t.Errorf("%s: the server says %q, %v, want %s", test.line, got, ok, test.keys)
			}
		}
		t.Logf("%d commands compared", compared)
	})
	if complete {
		checkSeen(t, slices.Collect(maps.Keys(keyDifferences)), seen)
	}
}

// compareKeys tells whether the server said anything of examples of a command, and
// whether we differ.
func compareKeys(t *testing.T, c *Client, cmd serverCommand) (answered, differs bool) {
	t.Helper()
	for variant := range variants {
		line := exampleOf(cmd, variant)
		got := keysOf(t, asCommand(line))
		want, ok := getKeys(t, c, line)
		if !ok && cmd.hasKeys {
			continue
		}
		answered = answered || ok
		if !differs && !slices.Equal(got, want) {
			differs = true
			if keyDifferences[cmd.name] == "" {
				t.Errorf("%q: got %q, the server says %q", line, got, want)
			}
		}
	}
	return answered, differs
}

// checkSeen finds differences that are listed but not there.
func checkSeen(t *testing.T, listed []string, seen map[string]bool) {
	t.Helper()
	for _, name := range listed {
		if !seen[name] {
			t.Errorf("%s: no server differs", name)
		}
	}
}

// keyDifferences are the commands whose keys we see otherwise than COMMAND GETKEYS, and
// why.
var keyDifferences = differences(map[string]string{
	"spublish; ssubscribe; sunsubscribe": "channels of sharded Pub/Sub are no keys, but belong to slots as keys do",
	"clusterscan":                        "its cursor is no key, but has the slot where it goes on as a hash tag",
	"georadius; georadiusbymember":       "Redis 7.0 and Valkey 8 count a STORE that a later STOREDIST replaces",
})

// A routing is what TestRoutesAgreeWithTips compares.
type routing struct {
	route routeKind
	merge mergeKind
}

func (r routing) String() string { return fmt.Sprintf("%v, %v", r.route, r.merge) }

// tipped is what a server's tips mean to us.
func (cmd serverCommand) tipped(t *testing.T) routing {
	t.Helper()
	tips := map[string]string{}
	for _, tip := range cmd.tips {
		key, value, _ := strings.Cut(tip, ":")
		tips[key] = value
	}
	r := routing{route: routeAny}
	if cmd.hasKeys {
		r.route = routeKey
	}
	switch request := tips["request_policy"]; request {
	case "":
		return r
	case "all_nodes":
		r = routing{routeNodes, mergeConcat}
	case "all_shards":
		r = routing{routePrimaries, mergeConcat}
	case "multi_shard":
		r = routing{routeSplit, mergeInOrder}
	case "special":
		return routing{routeRefused, mergeNone}
	default:
		t.Errorf("%s: unknown request policy %q", cmd.name, request)
	}
	switch response := tips["response_policy"]; response {
	case "":
	case "all_succeeded":
		r.merge = mergeAll
	case "one_succeeded":
		r.merge = mergeOne
	case "agg_sum":
		r.merge = mergeSum
	case "agg_min":
		r.merge = mergeMin
	case "agg_logical_and":
		r.merge = mergeAnd
	case "special":
		r.merge = mergeNone
	default:
		t.Errorf("%s: unknown response policy %q", cmd.name, response)
	}
	return r
}

// TestRoutesAgreeWithTips compares with the tips that servers give with COMMAND.
func TestRoutesAgreeWithTips(t *testing.T) {
	seen := map[string]bool{}
	complete := onServers(t, func(t *testing.T, c *Client) {
		for _, cmd := range serverCommands(t, c) {
			rule := NewCmd(bg, words(cmd.name)...).keyRuleOf()
			got, want := routing{rule.route, rule.merge}, cmd.tipped(t)
			if got == want {
				continue
			}
			seen[cmd.name] = true
			if routeDifferences[cmd.name] == "" {
				t.Errorf("%s: got %v; the server's tips say %v (%q)", cmd.name, got, want, cmd.tips)
			}
		}
	})
	if complete {
		checkSeen(t, slices.Collect(maps.Keys(routeDifferences)), seen)
	}
}

// routeDifferences are the commands that we route otherwise than the tips say, and why.
var routeDifferences = differences(map[string]string{
	"publish": "any node takes a message, but two on one channel must not overtake each other",
	"ping":    "it asks whether there is somebody; a node that is down must not make it fail",

	"info; memory doctor; memory malloc-stats; memory stats; function stats":            "nothing can be made of several such replies",
	"latency doctor; latency graph; latency histogram; latency history; latency latest": "nothing can be made of several such replies",

	"randomkey": "the tips leave open how: a key of any node that has keys",

	"client setname; client setinfo": "they are for a connection, and refused outside of one",

	"cluster countkeysinslot; cluster getkeysinslot; cluster flushslot": "only the owner of the slot knows its keys",

	"client kill; client pause; client unblock; client unpause": "clients are those of one node",
	"module load; module loadex; module unload":                 "a cluster of which one node has the module is broken",
	"failover; replicaof; slaveof; shutdown":                    "they end or change the very node",

	"cluster addslots; cluster addslotsrange; cluster bumpepoch; cluster cancelslotmigrations; cluster delslots": "they change the view of the very node",
	"cluster delslotsrange; cluster failover; cluster flushslots; cluster forget; cluster meet":                  "they change the view of the very node",
	"cluster migrateslots; cluster replicate; cluster reset; cluster saveconfig":                                 "they change the view of the very node",
	"cluster set-config-epoch; cluster setslot; cluster syncslots":                                               "they change the view of the very node",

	"clusterscan": "its cursor says where it goes on; see keyDifferences",

	"msetnx; msetex": "all or nothing can't be kept by several nodes",

	"acl deluser; acl save; acl setuser; config resetstat; config rewrite": "Redis 7.0 gives no tips; others say what we do",
	"latency reset": "Redis 7.0 takes its reply for a status, but it is a number; others say what we do",
})

// differences has each of the names, which stand together if their reason is one.
func differences(byReason map[string]string) map[string]string {
	each := map[string]string{}
	for names, why := range byReason {
		for name := range strings.SplitSeq(names, "; ") {
			each[name] = why
		}
	}
	return each
}
