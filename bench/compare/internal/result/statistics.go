package result

import (
	"fmt"

	"github.com/baton-go/redis/bench/internal/gauge"
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
	return gauge.Median(Ratios(a.OpsPerSRounds, b.OpsPerSRounds))
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
