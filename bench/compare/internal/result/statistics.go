package result

import (
	"fmt"
	"slices"
)

func (k Key) String() string {
	return fmt.Sprintf("%s, %s, %s, %s", k.Workload, Goroutines(k.Goroutines), k.Transport, k.Context)
}

// Goroutines is a number of them in words.
func Goroutines(n int) string {
	if n == 1 {
		return "1 goroutine"
	}
	return fmt.Sprintf("%d goroutines", n)
}

// Median is the middle of values, or 0 without any. It leaves values as they are.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// Ratios are the ratios of a to b in the same round. Rounds in which one of them
// failed are left out.
func Ratios(a, b []float64) []float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if a[i] > 0 && b[i] > 0 {
			ratios = append(ratios, a[i]/b[i])
		}
	}
	return ratios
}

// PairRatio is the median of a's ratios to b in the same round, or 0 if there is no
// round in which both were measured.
func PairRatio(a, b *Subject) float64 {
	if a == nil || b == nil {
		return 0
	}
	return Median(Ratios(a.OpsPerSRounds, b.OpsPerSRounds))
}

// Fastest returns the subject with the highest rate among those that ok accepts, or
// nil.
func (c *Cell) Fastest(ok func(*Subject) bool) *Subject {
	var best *Subject
	for _, s := range c.Subjects {
		if ok(s) && s.OpsPerS > 0 && (best == nil || s.OpsPerS > best.OpsPerS) {
			best = s
		}
	}
	return best
}

// SetRatios fills in the ratios to the subject called name.
func (c *Cell) SetRatios(name string) {
	own := c.Find(name)
	for _, s := range c.Subjects {
		s.BatonRatio = PairRatio(own, s)
	}
}
