package redis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fp32 is a vector as bytes.
func fp32(v ...float32) []byte {
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// onServer8 marks cases of commands that Redis has since 8.0, and Valkey has not.
func onServer8(cases []commandCase) []commandCase {
	for i := range cases {
		cases[i].valkey = "-"
		if cases[i].since == "" {
			cases[i].since = "8.0"
		}
	}
	return cases
}

func vectorCases() []commandCase {
	east, north := &VectorValues{Val: []float64{1, 0}}, &VectorValues{Val: []float64{0, 1.5}}
	three := []string{"vadd k values 2 1 0 east", "vadd k values 2 0 1 north setattr {\"y\":1}", "vadd k values 2 -1 0 west"}
	missing := errors.New("ERR key does not exist")
	// around tells whether a value is a list of about these numbers.
	around := func(want ...float64) func(any) bool {
		return func(v any) bool {
			list, _ := v.([]any)
			if len(list) != len(want) {
				return false
			}
			for i := range want {
				var got float64
				if _, err := fmt.Sscan(fmt.Sprint(list[i]), &got); err != nil || math.Abs(got-want[i]) > 0.01 {
					return false
				}
			}
			return true
		}
	}
	raw := func(v any) bool {
		list, _ := v.([]any)
		return len(list) == 4 && list[0] == "int8" && len(list[1].(string)) == 2
	}
	info := func(v any) bool {
		m, _ := v.(map[string]any)
		return m["size"] == int64(3) && m["vector-dim"] == int64(2) && m["quant-type"] == "int8"
	}
	// lowest tells whether the lists end with both neighbours of east, in any order.
	lowest := func(v any) bool {
		lists, _ := v.([][]string)
		return len(lists) > 0 && len(lists[len(lists)-1]) == 2
	}
	scored := func(v any) bool {
		lists, _ := v.([][]VectorScore)
		if len(lists) == 0 {
			return false
		}
		for _, s := range lists[len(lists)-1] {
			if want := map[string]float64{"north": 0.5, "west": 0}[s.Name]; math.Abs(s.Score-want) > 0.01 {
				return false
			}
		}
		return len(lists[len(lists)-1]) == 2
	}
	return onServer8([]commandCase{
		{name: "VAdd", call: func(c commander) Cmder { return c.VAdd(bg, "k", "e", east) }, args: "vadd k VALUES 2 1 0 e", want: true},
		{name: "VAdd/again", setup: three, call: func(c commander) Cmder { return c.VAdd(bg, "k", "east", north) }, args: "vadd k VALUES 2 0 1.5 east", want: false},
		{name: "VAdd/fp32", call: func(c commander) Cmder { return c.VAdd(bg, "k", "e", &VectorFP32{Val: fp32(1, 2)}) }, exact: []string{"vadd", "k", "FP32", string(fp32(1, 2)), "e"}, want: true},
		{name: "VAdd/dimension", setup: three, call: func(c commander) Cmder { return c.VAdd(bg, "k", "e", &VectorFP32{Val: fp32(1)}) }, exact: []string{"vadd", "k", "FP32", string(fp32(1)), "e"}, want: errors.New("ERR Vector dimension mismatch")},
		{name: "VAddWithArgs", call: func(c commander) Cmder {
			return c.VAddWithArgs(bg, "k", "e", east, &VAddArgs{Reduce: 1, Cas: true, Q8: true, EF: 100, SetAttr: "{}", M: 8})
		}, args: "vadd k reduce 1 VALUES 2 1 0 e cas q8 ef 100 setattr {} m 8", want: true},
		{name: "VAddWithArgs/noquant", call: func(c commander) Cmder {
			return c.VAddWithArgs(bg, "k", "e", east, &VAddArgs{NoQuant: true})
		}, args: "vadd k VALUES 2 1 0 e noquant", want: true},
		{name: "VAddWithArgs/bin", call: func(c commander) Cmder {
			return c.VAddWithArgs(bg, "k", "e", east, &VAddArgs{Bin: true})
		}, args: "vadd k VALUES 2 1 0 e bin", want: true},
		{name: "VRem", setup: three, call: func(c commander) Cmder { return c.VRem(bg, "k", "east") }, args: "vrem k east", want: true},
		{name: "VRem/none", call: func(c commander) Cmder { return c.VRem(bg, "k", "east") }, args: "vrem k east", want: false},
		{name: "VCard", setup: three, call: func(c commander) Cmder { return c.VCard(bg, "k") }, args: "vcard k", want: int64(3)},
		{name: "VCard/none", call: func(c commander) Cmder { return c.VCard(bg, "k") }, args: "vcard k", want: int64(0)},
		{name: "VDim", setup: three, call: func(c commander) Cmder { return c.VDim(bg, "k") }, args: "vdim k", want: int64(2)},
		{name: "VDim/none", call: func(c commander) Cmder { return c.VDim(bg, "k") }, args: "vdim k", want: missing},
		{name: "VIsMember", setup: three, call: func(c commander) Cmder { return c.VIsMember(bg, "k", "east") }, args: "vismember k east", want: true},
		{name: "VIsMember/none", setup: three, call: func(c commander) Cmder { return c.VIsMember(bg, "k", "south") }, args: "vismember k south", want: false},
		{name: "VEmb", setup: three, call: func(c commander) Cmder { return c.VEmb(bg, "k", "west", false) }, args: "vemb k west", want: around(-1, 0)},
		{name: "VEmb/raw", setup: three, call: func(c commander) Cmder { return c.VEmb(bg, "k", "west", true) }, args: "vemb k west raw", want: raw},
		{name: "VEmb/none", call: func(c commander) Cmder { return c.VEmb(bg, "k", "west", false) }, args: "vemb k west", want: Nil},
		{name: "VGetAttr", setup: three, call: func(c commander) Cmder { return c.VGetAttr(bg, "k", "north") }, args: "vgetattr k north", want: `{"y":1}`},
		{name: "VGetAttr/none", setup: three, call: func(c commander) Cmder { return c.VGetAttr(bg, "k", "west") }, args: "vgetattr k west", want: Nil},
		{name: "VSetAttr", setup: three, call: func(c commander) Cmder { return c.VSetAttr(bg, "k", "west", `{"z":2}`) }, args: `vsetattr k west {"z":2}`, want: true},
		{name: "VSetAttr/value", setup: three, call: func(c commander) Cmder { return c.VSetAttr(bg, "k", "west", map[string]int{"z": 2}) }, args: `vsetattr k west {"z":2}`, want: true},
		{name: "VSetAttr/none", call: func(c commander) Cmder { return c.VSetAttr(bg, "k", "west", []byte("{}")) }, args: "vsetattr k west {}", want: false},
		{name: "VClearAttributes", setup: three, call: func(c commander) Cmder { return c.VClearAttributes(bg, "k", "north") }, exact: []string{"vsetattr", "k", "north", ""}, want: true},
		{name: "VInfo", setup: three, call: func(c commander) Cmder { return c.VInfo(bg, "k") }, args: "vinfo k", want: info},
		{name: "VInfo/none", call: func(c commander) Cmder { return c.VInfo(bg, "k") }, args: "vinfo k", want: Nil},
		{name: "VLinks", setup: three, call: func(c commander) Cmder { return c.VLinks(bg, "k", "east") }, args: "vlinks k east", want: lowest},
		{name: "VLinks/none", setup: three, call: func(c commander) Cmder { return c.VLinks(bg, "k", "south") }, args: "vlinks k south", want: Nil},
		{name: "VLinksWithScores", setup: three, call: func(c commander) Cmder { return c.VLinksWithScores(bg, "k", "east") }, args: "vlinks k east withscores", want: scored},
		{name: "VLinksWithScores/none", call: func(c commander) Cmder { return c.VLinksWithScores(bg, "k", "east") }, args: "vlinks k east withscores", want: Nil},
		{name: "VRandMember", setup: three[:1], call: func(c commander) Cmder { return c.VRandMember(bg, "k") }, args: "vrandmember k", want: "east"},
		{name: "VRandMember/none", call: func(c commander) Cmder { return c.VRandMember(bg, "k") }, args: "vrandmember k", want: Nil},
		{name: "VRandMemberCount", setup: three[:1], call: func(c commander) Cmder { return c.VRandMemberCount(bg, "k", -2) }, args: "vrandmember k -2", want: []string{"east", "east"}},
		{name: "VRandMemberCount/none", call: func(c commander) Cmder { return c.VRandMemberCount(bg, "k", 2) }, args: "vrandmember k 2", want: []string{}},
		{name: "VRange", call: func(c commander) Cmder { return c.VRange(bg, "k", "[east", "+", -1) }, args: "vrange k [east + -1", want: []string{"east", "west"}, since: "8.4", r2: frameBulks("east", "west")},
	})
}

func vectorSearchCases() []commandCase {
	three := []string{"vadd k values 2 1 0 east", "vadd k values 2 0 1 north setattr {\"y\":1}", "vadd k values 2 -1 0 west"}
	args := &VSimArgs{Count: 2, EF: 50, Filter: ".y==1", FilterEF: 20, Truth: true, NoThread: true}
	argsLine := "count 2 ef 50 filter .y==1 filter-ef 20 truth nothread"
	east := &VectorRef{Name: "east"}
	y := new(`{"y":1}`)
	// near tells whether scores are these, in order, or a little off.
	near := func(want ...VectorScore) func(any) bool {
		return func(v any) bool {
			got, _ := v.([]VectorScore)
			return cmp.Equal(got, want, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 0.01 }))
		}
	}
	return onServer8([]commandCase{
		{name: "VSim", setup: three, call: func(c commander) Cmder { return c.VSim(bg, "k", east) }, args: "vsim k ELE east", want: []string{"east", "north", "west"}},
		{name: "VSim/none", call: func(c commander) Cmder { return c.VSim(bg, "k", &VectorValues{Val: []float64{1}}) }, args: "vsim k VALUES 1 1", want: []string{}},
		{name: "VSim/fp32", setup: three, call: func(c commander) Cmder { return c.VSim(bg, "k", &VectorFP32{Val: fp32(-1, 0.5)}) }, exact: []string{"vsim", "k", "FP32", string(fp32(-1, 0.5))}, want: []string{"west", "north", "east"}},
		{name: "VSimWithArgs", setup: three, call: func(c commander) Cmder { return c.VSimWithArgs(bg, "k", east, args) }, args: "vsim k ELE east " + argsLine, want: []string{"north"}},
		{name: "VSimWithArgs/epsilon", call: func(c commander) Cmder {
			return c.VSimWithArgs(bg, "k", east, &VSimArgs{Epsilon: 0.25})
		}, args: "vsim k ELE east epsilon 0.25", want: []string{"east"}, since: "8.2", r2: frameBulks("east")},
		{name: "VSimWithScores", setup: three, call: func(c commander) Cmder { return c.VSimWithScores(bg, "k", east) }, args: "vsim k ELE east withscores", want: near(VectorScore{"east", 1}, VectorScore{"north", 0.5}, VectorScore{"west", 0})},
		{name: "VSimWithScores/none", call: func(c commander) Cmder { return c.VSimWithScores(bg, "k", east) }, args: "vsim k ELE east withscores", want: []VectorScore{}},
		{name: "VSimWithArgsWithScores", setup: three, call: func(c commander) Cmder { return c.VSimWithArgsWithScores(bg, "k", east, args) }, args: "vsim k ELE east withscores " + argsLine, want: near(VectorScore{"north", 0.5})},
		{
			name: "VSimWithArgsWithAttribs", call: func(c commander) Cmder { return c.VSimWithArgsWithAttribs(bg, "k", east, args) },
			args: "vsim k ELE east withattribs " + argsLine, want: []VectorAttrib{{Name: "north", Attribs: y}, {Name: "west"}}, since: "8.2",
			r2: frameList(frameBulk("north"), frameBulk(*y), frameBulk("west"), frameNull2), r3: frameMap(frameBulk("north"), frameBulk(*y), frameBulk("west"), frameNull),
		},
		{
			name: "VSimWithArgsWithScoresWithAttribs", call: func(c commander) Cmder {
				return c.VSimWithArgsWithScoresWithAttribs(bg, "k", east, &VSimArgs{Count: 2})
			},
			args: "vsim k ELE east withscores withattribs count 2", want: []VectorScoreAttrib{{"north", 0.5, y}, {"west", 0, nil}}, since: "8.2",
			r2: frameList(frameBulk("north"), frameBulk("0.5"), frameBulk(*y), frameBulk("west"), frameBulk("0"), frameNull2),
			r3: frameMap(frameBulk("north"), frameList(frameDouble(0.5), frameBulk(*y)), frameBulk("west"), frameList(frameDouble(0), frameNull)),
		},
		{
			name: "VSimWithArgsWithScoresWithAttribs/none", call: func(c commander) Cmder {
				return c.VSimWithArgsWithScoresWithAttribs(bg, "k", east, nil)
			}, args: "vsim k ELE east withscores withattribs", want: []VectorScoreAttrib{}, since: "8.2", r2: frameList(), r3: frameMap(),
		},
	})
}

// otherVector is a vector of an application.
type otherVector struct{}

func (otherVector) Value() []any { return []any{"VALUES", 1, 2.5} }

func TestVectorsAreSentAsTheirValues(t *testing.T) {
	bytes := []byte{1, 2}
	for _, v := range []Vector{
		&VectorFP32{Val: bytes}, &VectorValues{Val: []float64{1, 2.5}}, &VectorRef{Name: "e"}, &VectorFloat16{Val: bytes},
		&VectorBFloat16{Val: bytes}, &VectorFloat64{Val: bytes}, &VectorInt8{Val: bytes}, &VectorUint8{Val: bytes},
		otherVector{},
	} {
		want := NewCmd(bg, append([]any{"vsim", "k"}, v.Value()...)...).Args()
		if diff := cmp.Diff(want, cmdable(none).VSim(bg, "k", v).Args()); diff != "" {
			t.Errorf("%T (-want +got):\n%s", v, diff)
		}
	}
}

func TestVectorsThatCantBeSent(t *testing.T) {
	c := cmdable(none)
	v := &VectorValues{Val: []float64{1}}
	for _, cmd := range []Cmder{
		c.VAdd(bg, "k", "e", nil), c.VSim(bg, "k", nil), c.VSetAttr(bg, "k", "e", math.Inf(1)),
		c.VAddWithArgs(bg, "k", "e", v, &VAddArgs{NoQuant: true, Bin: true}), c.VAddWithArgs(bg, "k", "e", v, &VAddArgs{Q8: true, Bin: true}),
	} {
		if err := cmd.Err(); err == nil || DeliveryOf(err) != NotSent || !strings.Contains(err.Error(), cmd.Name()) {
			t.Errorf("%v: got %v, want an error that names the command before it is sent", cmd.Args(), err)
		}
	}
}

func TestVectorsRefuseOddReplies(t *testing.T) {
	c := cmdable(none)
	e := &VectorRef{Name: "e"}
	for frame, cmd := range map[string]Cmder{
		frameBulks("a"):                          c.VSimWithScores(bg, "k", e),
		frameBulks("a", "near"):                  c.VSimWithScores(bg, "k", e),
		frameBulks("a", "1"):                     c.VSimWithArgsWithScoresWithAttribs(bg, "k", e, nil),
		frameMap(frameBulk("a"), frameDouble(1)): c.VSimWithArgsWithScoresWithAttribs(bg, "k", e, nil),
		frameMap(frameBulk("a"), frameList()):    c.VSimWithArgsWithScoresWithAttribs(bg, "k", e, nil),
		frameList(frameBulk("a"), frameList()):   c.VSimWithArgsWithAttribs(bg, "k", e, nil),
		frameBulks("a", "b"):                     c.VLinks(bg, "k", "e"),
		frameList(frameBulks("a", "b")):          c.VLinksWithScores(bg, "k", "e"),
	} {
		feed(cmd, frame)
		if err := cmd.Err(); err == nil || !strings.Contains(err.Error(), cmd.Name()+": unexpected reply") {
			t.Errorf("%q: got %v, want an error that names %s", frame, err, cmd.Name())
		}
	}
}
