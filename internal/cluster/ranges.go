package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// A Range is a range of slots, both ends included.
type Range struct{ First, Last uint16 }

// Ranges are slots. Those that this package returns are ascending and apart from
// each other, with a gap between them; those that it takes may be in any order and
// overlap.
type Ranges []Range

// ParseRanges reads slots as SMIGRATING and SMIGRATED tell them: single slots and
// inclusive ranges, separated by commas ("123,456-789").
func ParseRanges(s string) (Ranges, error) {
	var rs Ranges
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		r, err := parseRange(first, last)
		if err != nil {
			return nil, fmt.Errorf("slots %s: %w", clip(s), err)
		}
		rs = append(rs, r)
	}
	return rs.normal(), nil
}

func parseRange(first, last string) (Range, error) {
	a, ok := parseSlot(first)
	b, okToo := parseSlot(last)
	switch {
	case !ok:
		return Range{}, fmt.Errorf("%s is no slot", clip(first))
	case !okToo:
		return Range{}, fmt.Errorf("%s is no slot", clip(last))
	}
	return newRange(a, b)
}

// parseSlot reads at most five digits.
func parseSlot(s string) (int64, bool) {
	n, ok := parseDigits(s)
	return int64(n), ok && n < Slots
}

// parseDigits reads one to five digits and nothing else.
func parseDigits(s string) (n int, ok bool) {
	if len(s) == 0 || len(s) > 5 {
		return 0, false
	}
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int(c)
	}
	return n, true
}

// newRange checks both ends.
func newRange(first, last int64) (Range, error) {
	for _, slot := range []int64{first, last} {
		if slot < 0 || slot >= Slots {
			return Range{}, fmt.Errorf("slot %d is not within 0 to %d", slot, Slots-1)
		}
	}
	if first > last {
		return Range{}, errors.New("slots " + strconv.FormatInt(first, 10) + "-" + strconv.FormatInt(last, 10) + " are upside down")
	}
	return Range{uint16(first), uint16(last)}, nil
}

// normal sorts the ranges and joins those that overlap or touch, in place.
func (rs Ranges) normal() Ranges {
	slices.SortFunc(rs, func(a, b Range) int { return cmp.Compare(a.First, b.First) })
	out := rs[:0]
	for _, r := range rs {
		if n := len(out); n > 0 && int(r.First) <= int(out[n-1].Last)+1 {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return out
}

// add appends a slot that is higher than all before it.
func (rs Ranges) add(slot uint16) Ranges {
	if n := len(rs); n > 0 && rs[n-1].Last+1 == slot {
		rs[n-1].Last = slot
		return rs
	}
	return append(rs, Range{slot, slot})
}

// Len returns how many slots there are, in ranges that don't overlap.
func (rs Ranges) Len() int {
	n := 0
	for _, r := range rs {
		n += int(r.Last) - int(r.First) + 1
	}
	return n
}

// Contains tells whether slot is in one of the ranges.
func (rs Ranges) Contains(slot uint16) bool {
	return slices.ContainsFunc(rs, func(r Range) bool { return r.First <= slot && slot <= r.Last })
}

// all returns every slot, those of overlapping ranges again. What is beyond the
// last slot is none.
func (rs Ranges) all() iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for _, r := range rs {
			for slot := int(r.First); slot <= min(int(r.Last), Slots-1); slot++ {
				if !yield(uint16(slot)) {
					return
				}
			}
		}
	}
}

// String returns the range in the form of SMIGRATED: "5" or "5-9".
func (r Range) String() string { return string(r.append(nil)) }

// String returns the ranges in the form of SMIGRATED, as [ParseRanges] reads them,
// and "" for none.
func (rs Ranges) String() string {
	var b []byte
	for i, r := range rs {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.append(b)
	}
	return string(b)
}

func (r Range) append(b []byte) []byte {
	b = strconv.AppendUint(b, uint64(r.First), 10)
	if r.First != r.Last {
		b = append(b, '-')
		b = strconv.AppendUint(b, uint64(r.Last), 10)
	}
	return b
}

// clip quotes text of a server for an error, at most 64 bytes of it.
func clip(s string) string {
	if len(s) > 64 {
		return strconv.QuoteToASCII(s[:64]) + "..."
	}
	return strconv.QuoteToASCII(s)
}
