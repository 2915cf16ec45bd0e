package redis

import (
	"reflect"
	"slices"
	"testing"
)

// replyShapes are the command types by the shape of the replies that they take. Each shape
// has a fuzz target of its own.
var replyShapes = map[string][]any{
	"text": {
		StatusCmd{},
		StringCmd{},
		JSONCmd{},
		ZeroCopyStringCmd{},
		Cmd{},
		RawCmd{},
		RawWriteToCmd{},
		ReusableCmd{},
		DigestCmd{},
		HImportPrepareCmd{},
		HImportSetCmd{},
		InfoCmd{},
		ClientInfoCmd{},
		MonitorCmd{},
	},
	"number": {
		IntCmd{},
		UintCmd{},
		FloatCmd{},
		BoolCmd{},
		DurationCmd{},
		TimeCmd{},
		RankWithScoreCmd{},
		IncrEXIntCmd{},
		IncrEXFloatCmd{},
		HImportDiscardCmd{},
		HImportDiscardAllCmd{},
	},
	"list": {
		SliceCmd{},
		StringSliceCmd{},
		IntSliceCmd{},
		UintSliceCmd{},
		FloatSliceCmd{},
		BoolSliceCmd{},
		IntPointerSliceCmd{},
		JSONSliceCmd{},
		StringSliceSliceCmd{},
		StringStructMapCmd{},
		ScanCmd{},
		ScanDumpCmd{},
		AREntrySliceCmd{},
		KeyValuesCmd{},
		KeyFlagsCmd{},
	},
	"map": {
		MapStringStringCmd{},
		MapStringIntCmd{},
		MapStringInterfaceCmd{},
		MapMapStringInterfaceCmd{},
		MapStringSliceInterfaceCmd{},
		MapStringStringSliceCmd{},
		MapStringInterfaceSliceCmd{},
		KeyValueSliceCmd{},
		LCSCmd{},
	},
	"scores": {
		ZSliceCmd{},
		ZWithKeyCmd{},
		ZSliceWithKeyCmd{},
		VectorScoreSliceCmd{},
		VectorScoreSliceSliceCmd{},
		VectorAttribSliceCmd{},
		VectorScoreAttribSliceCmd{},
	},
	"stream": {
		XMessageSliceCmd{},
		XStreamSliceCmd{},
		XPendingCmd{},
		XPendingExtCmd{},
		XAutoClaimCmd{},
		XAutoClaimWithDeletedCmd{},
		XAutoClaimJustIDCmd{},
		XInfoGroupsCmd{},
		XInfoConsumersCmd{},
		XInfoStreamCmd{},
		XInfoStreamFullCmd{},
	},
	"geo":     {GeoPosCmd{}, GeoLocationCmd{}, GeoSearchLocationCmd{}},
	"cluster": {ClusterSlotsCmd{}, ClusterShardsCmd{}, ClusterLinksCmd{}},
	"server": {
		ACLLogCmd{}, SlowLogCmd{}, LatencyCmd{}, CommandsInfoCmd{}, FunctionListCmd{}, FunctionStatsCmd{}, HotKeysCmd{},
	},
	"sketch": {BFInfoCmd{}, CFInfoCmd{}, CMSInfoCmd{}, TopKInfoCmd{}, TDigestInfoCmd{}},
	"search": {FTHybridCmd{}, FTInfoCmd{}, FTSearchCmd{}, AggregateCmd{}, FTSpellCheckCmd{}, FTSynDumpCmd{}},
	"series": {TSTimestampValueCmd{}, TSTimestampValueSliceCmd{}, TSNRangePivotRowSliceCmd{}},
}

// uncalled make commands of the types that no method of all clients gives.
var uncalled = []func() Cmder{
	func() Cmder { return NewHotKeysCmd(bg, "x") },
	func() Cmder { return NewUintCmd(bg, "x") },
	func() Cmder { return NewUintSliceCmd(bg, "x") },
	func() Cmder { return NewStringSliceSliceCmd(bg, "x") },
	func() Cmder { return NewMapStringInterfaceSliceCmd(bg, "x") },
	func() Cmder { return NewMapStringStringSliceCmd(bg, "x") },
}

func shapesOf(cmd Cmder) []string {
	var names []string
	for name, list := range replyShapes {
		if slices.ContainsFunc(list, func(v any) bool { return reflect.TypeOf(v) == reflect.TypeOf(cmd).Elem() }) {
			names = append(names, name)
		}
	}
	return names
}

// Each command is fuzzed, by one target.
func TestEveryReplyHasAShape(t *testing.T) {
	for _, tc := range commandCases() {
		if cmd := captured(t, tc); len(shapesOf(cmd)) != 1 {
			t.Errorf("%s: %T is of the shapes %q, want one", tc.name, cmd, shapesOf(cmd))
		}
	}
	for _, fresh := range uncalled {
		cmd := fresh()
		if len(shapesOf(cmd)) != 1 {
			t.Errorf("%T is of the shapes %q, want one", cmd, shapesOf(cmd))
		}
	}
}

// answersTo gives what servers answer to the commands of cases, each reply once.
func answersTo(tb testing.TB, cases []commandCase) []string {
	recorded := recordedReplies(tb)
	var frames []string
	for _, tc := range cases {
		replies := recorded[tc.name]
		for _, frame := range []string{tc.r2, tc.r3, replies[0], replies[1]} {
			if frame != "" && !slices.Contains(frames, frame) {
				frames = append(frames, frame)
			}
		}
	}
	return frames
}

// fuzzShape gives the commands of a shape any bytes as their reply, beginning with their own:
// they may fail, no more.
func fuzzShape(f *testing.F, shape string) {
	cases := slices.DeleteFunc(commandCases(), func(tc commandCase) bool {
		return !slices.Contains(shapesOf(tc.call(commander{none, none})), shape)
	})
	for _, frame := range slices.Concat(oddReplies, answersTo(f, cases)) {
		f.Add([]byte(frame))
	}
	more := slices.DeleteFunc(slices.Clone(uncalled), func(fresh func() Cmder) bool {
		return !slices.Contains(shapesOf(fresh()), shape)
	})
	f.Fuzz(func(t *testing.T, frame []byte) {
		cmds := make([]Cmder, 0, len(cases)+len(more))
		for _, fresh := range more {
			cmds = append(cmds, fresh())
		}
		for _, tc := range cases {
			cmds = append(cmds, captured(t, tc))
		}
		for _, cmd := range cmds {
			feed(cmd, string(frame))
			_ = cmd.String()
		}
	})
}

func FuzzTextReplies(f *testing.F)    { fuzzShape(f, "text") }
func FuzzNumberReplies(f *testing.F)  { fuzzShape(f, "number") }
func FuzzListReplies(f *testing.F)    { fuzzShape(f, "list") }
func FuzzMapReplies(f *testing.F)     { fuzzShape(f, "map") }
func FuzzScoreReplies(f *testing.F)   { fuzzShape(f, "scores") }
func FuzzStreamReplies(f *testing.F)  { fuzzShape(f, "stream") }
func FuzzGeoReplies(f *testing.F)     { fuzzShape(f, "geo") }
func FuzzClusterReplies(f *testing.F) { fuzzShape(f, "cluster") }
func FuzzServerReplies(f *testing.F)  { fuzzShape(f, "server") }
func FuzzSketchReplies(f *testing.F)  { fuzzShape(f, "sketch") }
func FuzzSearchReplies(f *testing.F)  { fuzzShape(f, "search") }
func FuzzSeriesReplies(f *testing.F)  { fuzzShape(f, "series") }
