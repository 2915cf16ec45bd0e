package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseRanges(t *testing.T) {
	for text, want := range map[string]Ranges{
		"0":                     {{0, 0}},
		"16383":                 {{16383, 16383}},
		"0-16383":               {{0, 16383}},
		"123,456,789-1000":      {{123, 123}, {456, 456}, {789, 1000}},
		"5-9,1-2":               {{1, 2}, {5, 9}},
		"1-5,3-9":               {{1, 9}},
		"1-5,2-3":               {{1, 5}},
		"1-5,6":                 {{1, 6}},
		"7,7,7":                 {{7, 7}},
		" 1 , 2-3 ":             {{1, 3}},
		"00001":                 {{1, 1}},
		"16383,0-1,16380-16383": {{0, 1}, {16380, 16383}},
	} {
		got, err := ParseRanges(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseRangesRefusesGarbage(t *testing.T) {
	for _, text := range []string{
		"", ",", "1,", ",1", "1,,2", "-", "1-", "-1", "--1", "1--2", "1-2-3", "16384", "0-16384", "65536", "99999999999999999999",
		"2-1", "a", "1a", "+1", "0x1", "1 2", "1;2", "1 - 2", "١", "000001",
	} {
		if got, err := ParseRanges(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// drawRanges draws ranges that may overlap, in any order.
func drawRanges(t *rapid.T, label string) Ranges {
	pairs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Range {
		first := rapid.Uint16Max(Slots-1).Draw(t, "first")
		return Range{first, min(first+rapid.Uint16Max(300).Draw(t, "more"), Slots-1)}
	}), 1, 6).Draw(t, label)
	return pairs
}

func TestRangesSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawRanges(t, "ranges")
		got, err := ParseRanges(drawn.String())
		if err != nil {
			t.Fatal(err)
		}
		slots := make(map[uint16]bool)
		for slot := range drawn.all() {
			slots[slot] = true
		}
		if got.Len() != len(slots) {
			t.Fatalf("%v: %d slots, want %d", got, got.Len(), len(slots))
		}
		for slot := range uint16(Slots) {
			if got.Contains(slot) != slots[slot] {
				t.Fatalf("%v: Contains(%d) is %v", got, slot, got.Contains(slot))
			}
		}
		again, err := ParseRanges(got.String())
		if diff := cmp.Diff(got, again); diff != "" || err != nil {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
		for i := 1; i < len(got); i++ {
			if got[i].First <= got[i-1].Last+1 {
				t.Fatalf("%v: %v and %v are not apart", got, got[i-1], got[i])
			}
		}
	})
}

func TestRangesWithoutSlots(t *testing.T) {
	var none Ranges
	if none.String() != "" || none.Len() != 0 || none.Contains(0) {
		t.Errorf("got %q, %d slots", none, none.Len())
	}
}

func FuzzParseRanges(f *testing.F) {
	for _, text := range []string{"0", "123,456-789", "5-9,1-2", "16384", "1-", " 1 ", "1-2-3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rs, err := ParseRanges(text)
		if err != nil {
			return
		}
		again, err := ParseRanges(rs.String())
		if diff := cmp.Diff(rs, again); diff != "" || err != nil {
			t.Fatalf("%q: %v (-want +got):\n%s", text, err, diff)
		}
		if n := rs.Len(); n < 1 || n > Slots {
			t.Fatalf("%q: %d slots", text, n)
		}
	})
}
