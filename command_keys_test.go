package redis

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// keysOf are the keys that eachKey visits; firstKey must give the first.
func keysOf(t *testing.T, cmd Cmder) []string {
	t.Helper()
	var keys []string
	cmd.base().eachKey(func(key []byte) bool {
		keys = append(keys, string(key))
		return true
	})
	first, ok := cmd.base().firstKey()
	if ok != (len(keys) > 0) || ok && string(first) != keys[0] {
		t.Errorf("%v: firstKey gives %q, %v, eachKey %q", cmd.Args(), first, ok, keys)
	}
	return keys
}

// A keyLine is a command with its keys.
type keyLine struct {
	line   string
	keys   string
	server bool // its servers say the same
}

// keyLines are commands whose keys are not easily seen. An underscore stands for an empty
// argument.
func keyLines() []keyLine {
	return []keyLine{
		{"GET k", "k", true},
		{"set k v ex 1", "k", true},
		{"Mget a b c", "a b c", true},
		{"mset a 1 b 2", "a b", true},
		{"msetnx a 1 b 2", "a b", true},
		{"blpop a b 0", "a b", true},
		{"rename a b", "a b", true},
		{"lmove a b left right", "a b", true},
		{"bitop and d a b", "d a b", true},
		{"lmpop 2 a b left count 1", "a b", true},
		{"blmpop 0 2 a b left", "a b", true},
		{"zunionstore d 2 a b weights 1 2", "d a b", true},
		{"zinter 2 a b withscores", "a b", true},
		{"sintercard 2 a b limit 1", "a b", true},
		{"eval s 2 a b c d", "a b", true},
		{"eval s 0 c", "", false}, // the servers' error has no name for it
		{"evalsha s 3 a b", "", false},
		{"eval s x a b", "", false},
		{"eval s -1 a b", "", false},
		{"fcall f 1 a x", "a", true},
		{"xread count 2 block 0 streams a b 0 0", "a b", true},
		{"xread STREAMS a 0", "a", true},
		{"xreadgroup group streams streams noack count 1 streams a b > >", "a b", true},
		{"xreadgroup group g block count 5 streams a >", "a", true},
		{"xreadgroup group g c claim 5 streams a >", "a", false}, // CLAIM is newer
		{"sort a", "a", true},
		{"sort a by store limit store 1 get store store d", "a d", true},
		{"sort a store d store e", "a e", true},
		{"sort_ro a by w", "a", true},
		{"georadius a 1 1 1 km store d", "a d", true},
		{"georadius a 1 1 1 km storedist d count 1", "a d", true},
		{"georadiusbymember store m 1 km", "store", true},
		{"georadiusbymember a m 1 km store d", "a d", true},
		{"georadius_ro a 1 1 1 km", "a", true},
		{"geosearchstore d a frommember m byradius 1 km", "d a", true},
		{"migrate h 1 k 0 1", "k", true},
		{"migrate h 1 k 0 1 copy replace auth p", "k", true},
		{"migrate h 1 _ 0 1 auth2 keys keys keys a b", "a b", true},
		{"migrate h 1 _ 0 1 auth keys keys a", "a", true},
		{"memory usage k samples 1", "k", true},
		{"memory doctor", "", false},
		{"object encoding k", "k", true},
		{"OBJECT Freq k", "k", true},
		{"object help", "", false},
		{"xgroup create k g $ mkstream", "k", true},
		{"xgroup delconsumer k g c", "k", true},
		{"xinfo stream k full", "k", true},
		{"xinfo help", "", false},
		{"xinfo nonsense k", "", false},
		{"lcs a b len", "a b", true},
		{"pfmerge d a b", "d a b", true},
		{"pfcount a b", "a b", true},
		{"smove a b m", "a b", true},
		{"zrangestore d a 0 1", "d a", true},
		{"watch a b", "a b", true},
		{"spublish ch m", "ch", false},
		{"ssubscribe a b", "a b", false},
		{"sunsubscribe", "", false},
		{"publish ch m", "", false},
		{"ping k", "", false},
		{"echo k", "", false},
		{"scan 0 match k", "", false},
		{"get", "", false},
		{"msetex 2 a 1 b 2 ex 5", "a b", false},
		{"blmovem a b left right 0", "a b", false},
		{"json.get k $", "k", false},
		{"json.mget a b $", "a b", false},
		{"json.mset a $ 1 b $ 2", "a b", false},
		{"json.debug memory k $", "k", false},
		{"ts.madd a 1 1 b * 2", "a b", false},
		{"ts.nrange 2 a b - +", "a b", false},
		{"ts.nrevrange 3 a b - +", "a b -", false},
		{"ts.querylabels VALUES k", "", false},
		{"ts.read k 0", "k", false},
		{"cms.merge d 2 a b WEIGHTS 1 1", "d a b", false},
		{"tdigest.merge d 1 a OVERRIDE", "d a", false},
		{"ft.search i q", "", false},
		{"ft.aggregate i q withcursor", "", false},
		{"ft.cursor read i 7", "", false},
		{"ft.alter i", "", false},
		{"nobody.knows k", "k", false},
		{"nobodyknows", "", false},
		{"averylongnamethatnobodyhasforanycommandwhatever k", "k", false},
	}
}

func (l keyLine) words() []any {
	args := words(l.line)
	for i, arg := range args {
		if arg == "_" {
			args[i] = ""
		}
	}
	return args
}

func TestKeysOfCommands(t *testing.T) {
	for _, test := range keyLines() {
		got := keysOf(t, NewCmd(bg, test.words()...))
		if diff := cmp.Diff(strings.Fields(test.keys), got, cmpEmpty); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.line, diff)
		}
	}
}

// cmpEmpty makes nil and empty lists equal.
var cmpEmpty = cmp.Transformer("strings", func(s []string) string { return strings.Join(s, "\x00") })

func TestKeysWithoutArguments(t *testing.T) {
	cmd := NewCmd(bg)
	if got := keysOf(t, cmd); got != nil {
		t.Errorf("got %q", got)
	}
	if got := cmd.route(); got != routeAny {
		t.Errorf("route: got %v", got)
	}
}

func TestFirstKeyPosIsBelieved(t *testing.T) {
	cmd := NewCmd(bg, "my.command", "x", "k", "y")
	cmd.SetFirstKeyPos(2)
	if got := keysOf(t, cmd); !slices.Equal(got, []string{"k"}) {
		t.Errorf("got %q, want k", got)
	}
	if got := cmd.route(); got != routeKey {
		t.Errorf("route: got %v", got)
	}
	cmd.SetFirstKeyPos(9)
	if got := keysOf(t, cmd); got != nil {
		t.Errorf("behind the end: got %q", got)
	}
	cmd = NewCmd(bg, "ping", "k")
	cmd.SetFirstKeyPos(1)
	if got := keysOf(t, cmd); !slices.Equal(got, []string{"k"}) {
		t.Errorf("of a keyless command: got %q, want k", got)
	}
}

func TestEachKeyStops(t *testing.T) {
	for _, line := range []string{"mget a b c", "zunionstore a 2 b c", "sort a store b"} {
		n := 0
		NewCmd(bg, words(line)...).eachKey(func([]byte) bool {
			n++
			return false
		})
		if n != 1 {
			t.Errorf("%s: %d keys after the first was enough", line, n)
		}
	}
}

// TestKeysOfLeanCommands: they are not encoded.
func TestKeysOfLeanCommands(t *testing.T) {
	cmd := new(StringCmd)
	cmd.know(leanGet, "k")
	if got := keysOf(t, cmd); !slices.Equal(got, []string{"k"}) {
		t.Errorf("got %q, want k", got)
	}
	if got := cmd.route(); got != routeKey {
		t.Errorf("route: got %v", got)
	}
	if cmd.off != leanOff {
		t.Error("it has been encoded")
	}
}

// leastAllocs is the least of what testing.AllocsPerRun gives: goroutines that earlier tests
// have left to end allocate, too.
func leastAllocs(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for range 9 {
		if least == 0 {
			break
		}
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}

func TestFirstKeyNeedsNoMemory(t *testing.T) {
	for _, line := range []string{
		"get k", "SET k v", "mget a b", "eval s 1 k", "xreadgroup group g c streams k >", "zunionstore d 1 a", "xgroup create k g $",
	} {
		cmd := NewCmd(bg, words(line)...)
		allocs := leastAllocs(100, func() {
			if _, ok := cmd.firstKey(); !ok {
				t.Error("no key")
			}
			if kind := cmd.route(); kind != routeKey && kind != routeSplit {
				t.Errorf("route: got %v", kind)
			}
		})
		if allocs > 0 {
			t.Errorf("%s: %v allocations", line, allocs)
		}
	}
}

func TestRoutes(t *testing.T) {
	for _, test := range []struct {
		line  string
		route routeKind
		merge mergeKind
	}{
		{"get k", routeKey, mergeNone},
		{"get", routeAny, mergeNone},
		{"eval s 1 k", routeKey, mergeNone},
		{"eval s 0", routeAny, mergeNone},
		{"mget a b", routeSplit, mergeInOrder},
		{"mset a 1 b 2", routeSplit, mergeAll},
		{"del a b", routeSplit, mergeSum},
		{"ping", routeAny, mergeNone},
		{"PUBLISH c m", routeChannel, mergeNone},
		{"spublish c m", routeKey, mergeNone},
		{"DBSIZE", routePrimaries, mergeSum},
		{"flushall async", routePrimaries, mergeAll},
		{"keys *", routePrimaries, mergeConcat},
		{"wait 1 0", routePrimaries, mergeMin},
		{"script load x", routeNodes, mergeAll},
		{"script exists a b", routePrimaries, mergeAnd},
		{"script kill", routePrimaries, mergeOne},
		{"randomkey", routePrimaries, mergeNotNil},
		{"config set a b", routeNodes, mergeAll},
		{"config get a", routeAny, mergeNone},
		{"config", routeAny, mergeNone},
		{"scan 0", routeRefused, mergeNone},
		{"cluster forget x", routeRefused, mergeNone},
		{"cluster slots", routeAny, mergeNone},
		{"cluster countkeysinslot 7", routeSlot, mergeNone},
		{"xinfo help", routeAny, mergeNone},
		{"nobody.knows k", routeKey, mergeNone},
		{"json.mget a b $", routeKey, mergeNone},
		{"json.debug memory k", routeKey, mergeNone},
		{"json.debug help", routeAny, mergeNone},
		{"ts.mget filter a=1", routeAny, mergeNone},
		{"ts.mrevrange - + filter a=1", routeAny, mergeNone},
		{"ts.querylabels labels", routeAny, mergeNone},
		{"ts.queryindex a=1", routeAny, mergeNone},
		{"ts.nrange 1 k - +", routeKey, mergeNone},
		{"ts.nrange x k - +", routeAny, mergeNone},
		{"vsim k ele e", routeKey, mergeNone},
		{"arget k 0", routeKey, mergeNone},
		{"ft.search i q", routeAny, mergeNone},
		{"ft.aggregate i q", routeCursor, mergeNone},
		{"FT.CURSOR read i 7", routeCursor, mergeNone},
		{"ft.cursor", routeAny, mergeNone},
		{"ft.config get x", routeAny, mergeNone},
		{"ft.config set x 1", routeNodes, mergeAll},
	} {
		cmd := NewCmd(bg, words(test.line)...)
		if route, merge := cmd.route(), cmd.merge(); route != test.route || merge != test.merge {
			t.Errorf("%s: got %v, %v, want %v, %v", test.line, route, merge, test.route, test.merge)
		}
	}
}

func TestSlotArg(t *testing.T) {
	for line, want := range map[string]int{
		"cluster countkeysinslot 7": 7, "CLUSTER GETKEYSINSLOT 16383 10": 16383,
		"cluster countkeysinslot x": -1, "cluster countkeysinslot": -1, "cluster slots": -1, "get k 3": -1,
	} {
		got, ok := NewCmd(bg, words(line)...).slotArg()
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%s: got %d, %v, want %d", line, got, ok, want)
		}
	}
}

// TestKeysAreArguments: whatever a command is made of, its keys are among it, and what
// looks for them survives.
func TestKeysAreArguments(t *testing.T) {
	names := slices.Sorted(maps.Keys(keyTable))
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		rest := rapid.SliceOfN(rapid.SampledFrom([]string{
			"", "0", "1", "2", "3", "-1", "999999999", "9999999999999999999", "k", "streams", "GROUP", "block", "store", "Keys", "auth2",
			"limit", "storedist",
		}), 0, 9).Draw(t, "rest")
		args := words(name)
		for _, word := range rest {
			args = append(args, word)
		}
		cmd := NewCmd(bg, args...)
		n, first := 0, ""
		cmd.eachKey(func(key []byte) bool {
			if n++; n == 1 {
				first = string(key)
			}
			if !slices.Contains(args, any(string(key))) {
				t.Fatalf("%q: %q is none of it", args, key)
			}
			return true
		})
		key, ok := cmd.firstKey()
		if n >= len(args) || ok != (n > 0) || string(key) != first {
			t.Fatalf("%q: %d keys, %q first; firstKey gives %q, %v", args, n, first, key, ok)
		}
	})
}

// TestKeyTableIsSound: of what is kept by hand, no name twice, and none that the default
// would do for.
func TestKeyTableIsSound(t *testing.T) {
	told := map[string]bool{} // by servers, where the default may be what we know better
	for _, row := range serverKeys() {
		for name := range strings.FieldsSeq(row.names) {
			told[name] = true
		}
	}
	seen := map[string]bool{}
	for _, row := range slices.Concat(keyedRows(), nodeRows(), subcommandRows(), moduleRows()) {
		for name := range strings.FieldsSeq(row.names) {
			if row.of != "" {
				name = row.of + " " + name
			}
			if seen[name] {
				t.Errorf("%s: twice", name)
			}
			seen[name] = true
			if name != strings.ToLower(name) || len(name) > 40 {
				t.Errorf("%s: not a name that can be looked up", name)
			}
			if row.rule == defaultKeys && !told[name] {
				t.Errorf("%s: the default says the same", name)
			}
		}
	}
}
