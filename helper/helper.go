// Package helper has small functions that go with commands.
package helper

import (
	"fmt"
	"math"
	"strconv"
)

// ParseFloat is the number that a server has written, with its words for what has no
// digits: inf, -inf, nan.
func ParseFloat(s string) (float64, error) {
	switch s {
	case "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	case "nan", "-nan":
		return math.NaN(), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("redis: %q is no number: %w", s, err)
	}
	return f, nil
}

// MustParseFloat is ParseFloat of what is a number; it panics where it is none.
func MustParseFloat(s string) float64 {
	f, err := ParseFloat(s)
	if err != nil {
		panic(err)
	}
	return f
}
