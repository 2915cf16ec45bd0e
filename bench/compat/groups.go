package main

import (
	"regexp"
	"slices"
	"strings"
)

// commandGroups are go-redis's interfaces of commands and the groups named after them,
// in the order in which they are shown.
var commandGroups = []struct{ iface, group string }{
	{"StringCmdable", "string"},
	{"HashCmdable", "hash"},
	{"ListCmdable", "list"},
	{"SetCmdable", "set"},
	{"SortedSetCmdable", "sorted-set"},
	{"StreamCmdable", "stream"},
	{"GeoCmdable", "geo"},
	{"HyperLogLogCmdable", "hyperloglog"},
	{"BitMapCmdable", "bitmap"},
	{"GenericCmdable", "generic"},
	{"ScriptingFunctionsCmdable", "scripting"},
	{"PubSubCmdable", "pubsub"},
	{"ACLCmdable", "acl"},
	{"ClusterCmdable", "cluster-admin"},
	{"JSONCmdable", "json"},
	{"SearchCmdable", "search"},
	{"TimeseriesCmdable", "timeseries"},
	{"ProbabilisticCmdable", "probabilistic"},
	{"VectorSetCmdable", "vector-set"},
	{"ArrayCmdable", "array"},
	{"Cmdable", "server"}, // what Cmdable has beside the interfaces above
	{"StatefulCmdable", "server"},
}

// The groups of what is no command.
const (
	groupTypes  = "types"  // of several groups of commands: replies, arguments
	groupClient = "client" // clients and their options, commands, pipelines, hooks, errors
	groupRest   = "rest"
)

// A nameRule puts objects of package redis, or members of its types, into a group by
// their names.
type nameRule struct {
	pattern *regexp.Regexp
	group   string
}

func named(pattern, group string) nameRule {
	return nameRule{regexp.MustCompile(`^(` + pattern + `)`), group}
}

// objectRules are for what the package itself has; what belongs to a type goes with
// it. The first match counts.
var objectRules = []nameRule{
	named(`Ring|NewRing|ConsistentHash`, "ring"),
	named(`(New)?(Failover|Sentinel)`, "sentinel"),
	named(`ClusterClient|ClusterOptions|NewClusterClient|ParseClusterURL|(New)?(CommandInfoResol|DefaultCommandPolicy)`, "cluster-client"),
	named(`[A-Za-z]*AutoPipeline|AutoFuture|ErrFDPipeline|ErrSubmitBlocking`, "auto-pipelining"),
	named(`CSC|Cache|LocalCache|NewLocalCache|ClientSideCache`, "client-side-cache"),
	named(`OTel|SetOTel|ConnInfo|Pooler|PubSubPooler|ErrorTypeNil`, "telemetry"),
	named(`PubSub$|Channel|WithChannel|Message|Subscription|Pong`, "pubsub"),
	named(`Script|NewScript|RunningScript|Function|Library|Engine`, "scripting"),
	named(`HImport|NewHImport`, "hash"),
	named(`HotKeys|NewHotKeys|ErrHotKeys|Monitor|SlowLog|ModuleLoadex`, "server"),
	named(`FT|New.*Builder$|[A-Za-z]+Builder$|Collect(Column|Entry)|AggregateQuery|SearchQuery|SpellCheckTerms|Search[A-Z]`, "search"),
	named(`TSRead`, "timeseries"),
	named(`Vector`, "vector-set"),
	named(`CmdTyp|ExtractCommandValue|(New)?Raw(Write|Cmd)|(New)?MapString`, groupTypes),
	named(`SetLog`, "logging"),
	named(`(Client|Conn|Tx|Pipeline|Pipeliner|UniversalClient|UniversalOptions|Options|Cmder|Hook|Limiter|PoolStats|Cmdable|StatefulCmdable)$`, groupClient),
}

// memberRules are for methods and fields of clients and their options.
var memberRules = []nameRule{
	named(`(Async)?AutoPipeline`, "auto-pipelining"),
	named(`CSC|ClientSideCache`, "client-side-cache"),
	named(`FT|New.*Builder$`, "search"),
	named(`HotKeys|Monitor|Sync$`, "server"),
	named(`Sentinel|MasterName|Failover`, "sentinel"),
}

func (r nameRule) of(name string) string {
	if r.pattern.MatchString(name) {
		return r.group
	}
	return ""
}

func firstRule(rules []nameRule, name string) string {
	for _, r := range rules {
		if group := r.of(name); group != "" {
			return group
		}
	}
	return ""
}

// commandOwners have the commands of all groups as methods. What has them in a group
// of its own (Ring, ...) is not among them.
var commandOwners = []string{
	"redis.Client", "redis.ClusterClient", "redis.Conn", "redis.Tx", "redis.Pipeline",
	"redis.Pipeliner", "redis.UniversalClient", "redis.Cmdable", "redis.StatefulCmdable",
}

// A grouping gives each item of go-redis a group.
type grouping struct {
	commands map[string]string // by the command method's name
	types    map[string]string // by key
}

// groupsOf divides go-redis's surface.
func groupsOf(theirs *surface) *grouping {
	g := &grouping{commands: make(map[string]string), types: make(map[string]string)}
	reached := make(map[string][]string) // groups by type
	for _, cg := range commandGroups {
		iface := theirs.items["redis."+cg.iface]
		var seeds []string
		for _, name := range iface.methods {
			if g.commands[name] == "" {
				g.commands[name] = cg.group
			}
			if g.commands[name] == cg.group {
				seeds = append(seeds, theirs.items[iface.key+"."+name].mentioned...)
			}
		}
		for key := range reach(theirs, seeds) {
			if !slices.Contains(reached[key], cg.group) {
				reached[key] = append(reached[key], cg.group)
			}
		}
	}
	for key, names := range reached {
		g.types[key] = names[0]
		if len(names) > 1 {
			g.types[key] = groupTypes
		}
	}
	for _, cg := range commandGroups {
		g.types["redis."+cg.iface] = cg.group
	}
	for key, it := range theirs.items {
		if group := nameGroup(it); it.kind == kindType && group != "" {
			g.types[key] = group
		}
	}
	return g
}

// reach lists the types that users of some types come across in their fields and
// methods. It stops at clients, which have everything.
func reach(s *surface, seeds []string) map[string]bool {
	seen := make(map[string]bool)
	for len(seeds) > 0 {
		key := seeds[0]
		seeds = seeds[1:]
		if seen[key] || !strings.HasPrefix(key, "redis.") || nameGroup(s.items[key]) == groupClient {
			continue
		}
		seen[key] = true
		for _, it := range s.items {
			if it.owner == key {
				seeds = append(seeds, it.mentioned...)
			}
		}
	}
	return seen
}

// nameGroup is the group that an object of package redis has by its name.
func nameGroup(it item) string {
	name, ok := strings.CutPrefix(it.key, "redis.")
	if !ok {
		return ""
	}
	return firstRule(objectRules, name)
}

// groupOf is the group of an item.
func (g *grouping) groupOf(it item) string {
	pkg, _, _ := strings.Cut(it.key, ".")
	switch {
	case pkg != "redis":
		return pkg
	case it.owner != "":
		if command := g.commands[it.name]; command != "" && slices.Contains(commandOwners, it.owner) {
			return command
		}
		group := g.typeGroup(it.owner)
		if group == groupClient || group == "cluster-client" {
			if other := firstRule(memberRules, it.name); other != "" {
				return other
			}
		}
		return group
	case it.kind == kindType:
		return g.typeGroup(it.key)
	}
	if group := nameGroup(it); group != "" {
		return group
	}
	for _, key := range it.mentioned { // the constants of a type, what makes one
		if group := g.typeGroup(key); group != groupRest {
			return group
		}
	}
	return groupRest
}

func (g *grouping) typeGroup(key string) string {
	if group := g.types[key]; group != "" {
		return group
	}
	return groupRest
}
