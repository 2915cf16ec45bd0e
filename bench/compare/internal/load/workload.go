// Package load makes work for a client and measures one slice of time of it.
package load

import (
	"fmt"
	"strings"
)

// A Workload is a kind of work.
type Workload struct {
	Name     string
	Explain  string
	Commands int // of one call: 1 but for pipelines
	Size     int // of values, in bytes; 0 where there are none
	Keys     int // of one command
	call     func(w *worker) error
}

// Workloads returns all kinds of work in the order in which they are shown.
func Workloads() []Workload {
	return []Workload{
		{"get64", "GET of 64 B", 1, smallValue, 1, (*worker).get},
		{"set64", "SET of 64 B", 1, smallValue, 1, (*worker).set},
		{"mixed", "80 % GET and 20 % SET of 64 B", 1, smallValue, 1, (*worker).mixed},
		{"get4k", "GET of 4 KiB", 1, largeValue, 1, (*worker).get},
		{"incr", "INCR", 1, 0, 1, (*worker).incr},
		{"mget10", "MGET of 10 keys of 64 B", 1, smallValue, mgetKeys, (*worker).mget},
		{"pipe10", "pipelines of 10, 80 % GET and 20 % SET of 64 B", 10, smallValue, 1, (*worker).pipe},
		{"pipe100", "pipelines of 100, 80 % GET and 20 % SET of 64 B", 100, smallValue, 1, (*worker).pipe},
	}
}

// Named returns the workload of that name.
func Named(name string) (Workload, error) {
	var names []string
	for _, w := range Workloads() {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	return Workload{}, fmt.Errorf("no workload is called %q; there are %s", name, strings.Join(names, ", "))
}

const (
	smallValue = 64
	largeValue = 4096
	mgetKeys   = 10
	writeEvery = 5 // in mixed work, one command of so many is a SET
)

// keyCount is how many keys there are of a size. They all fit into caches, so the
// server is not what is measured.
func keyCount(size int) int {
	if size >= largeValue {
		return 256
	}
	return 1024
}

// A Pair is a key and the value it has from beginning to end.
type Pair struct{ Key, Value string }

// Pairs returns all keys with values of that size. A value begins with its key, so
// that a reply shows whose it is.
func Pairs(size int) []Pair {
	pairs := make([]Pair, keyCount(size))
	for i := range pairs {
		key := fmt.Sprintf("compare:%d:%04d", size, i)
		pairs[i] = Pair{Key: key, Value: key + strings.Repeat(".", size-len(key))}
	}
	return pairs
}

// Sizes are the sizes of values for which the server must have pairs.
func Sizes() []int { return []int{smallValue, largeValue} }

// counterKey is the key that only worker number i increments.
func counterKey(i int) string { return fmt.Sprintf("compare:counter:%04d", i) }

// check tells whether value is key's.
func check(key, value string, size int) error {
	if len(value) == size && strings.HasPrefix(value, key) {
		return nil
	}
	if len(value) > 40 {
		value = value[:40] + "..."
	}
	return fmt.Errorf("wrong reply for %s: %q", key, value)
}
