package report

import (
	"cmp"
	"slices"

	"github.com/baton-go/redis/bench/compare/internal/result"
)

// series groups the cells that were measured by all but the number of goroutines, in
// the order in which the groups begin.
func series(cells []*result.Cell) [][]*result.Cell {
	var groups [][]*result.Cell
	place := map[result.Key]int{}
	for _, c := range cells {
		if c.NotMeasured != "" {
			continue
		}
		k := c.Key
		k.Goroutines = 0
		i, ok := place[k]
		if !ok {
			i = len(groups)
			place[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b *result.Cell) int { return cmp.Compare(a.Goroutines, b.Goroutines) })
	}
	return groups
}

// namesIn are the clients that were measured in any of the cells, in their order.
func namesIn(cells []*result.Cell) []string {
	var names []string
	for _, c := range cells {
		for _, s := range c.Subjects {
			if s.NotMeasured == "" && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}
