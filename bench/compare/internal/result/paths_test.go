package result

import (
	"maps"
	"slices"
)

// paths are the keys of a tree of JSON, sorted.
func paths(above string, tree any, seen map[string]bool) []string {
	switch tree := tree.(type) {
	case map[string]any:
		for key, below := range tree {
			path := key
			if above != "" {
				path = above + "." + key
			}
			seen[path] = true
			paths(path, below, seen)
		}
	case []any:
		for _, below := range tree {
			paths(above, below, seen)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
