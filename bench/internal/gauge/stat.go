package gauge

import (
	"context"
	"slices"
)

// Median is the middle of values, 0 where there are none.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Quantile is the value that a fraction of values does not exceed, between two of
// them where it falls between.
func Quantile(values []float64, fraction float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	at := fraction * float64(len(s)-1)
	i := min(int(at), len(s)-1)
	if i == len(s)-1 {
		return s[i]
	}
	part := at - float64(i)
	return s[i]*(1-part) + s[i+1]*part
}

// MedianOf is the median of one number of each item.
func MedianOf[T any](items []T, number func(T) float64) float64 {
	return Median(numbers(items, number))
}

func numbers[T any](items []T, number func(T) float64) []float64 {
	out := make([]float64, 0, len(items))
	for _, item := range items {
		out = append(out, number(item))
	}
	return out
}

// A Pair is what was measured one right after the other, so that whatever else the
// machine did concerned both.
type Pair[T any] struct{ A, B T }

// Pairs measures A and B n times, in turn as AB, BA, AB, ...
func Pairs[T any](ctx context.Context, n int, a, b func(context.Context) (T, error)) ([]Pair[T], error) {
	out := make([]Pair[T], 0, n)
	for i := range n {
		var p Pair[T]
		first, second := a, b
		to := [2]*T{&p.A, &p.B}
		if i%2 == 1 {
			first, second = b, a
			to[0], to[1] = to[1], to[0]
		}
		var err error
		if *to[0], err = first(ctx); err != nil {
			return out, err
		}
		if *to[1], err = second(ctx); err != nil {
			return out, err
		}
		out = append(out, p)
	}
	return out, nil
}

// A Ratio is B against A over all pairs: the median, and the range of the half of
// them that lies around it.
type Ratio struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// RatioOf is the ratio of one number of B to that of A, pair by pair. Pairs without
// one are left out.
func RatioOf[T any](pairs []Pair[T], number func(T) float64) Ratio {
	var values []float64
	for _, p := range pairs {
		if a := number(p.A); a > 0 {
			values = append(values, number(p.B)/a)
		}
	}
	return Ratio{Median: Median(values), Low: Quantile(values, 0.25), High: Quantile(values, 0.75)}
}

// As gives the A of all pairs.
func As[T any](pairs []Pair[T]) []T {
	out := make([]T, 0, len(pairs))
	for _, p := range pairs {
		out = append(out, p.A)
	}
	return out
}

// Bs gives the B of all pairs.
func Bs[T any](pairs []Pair[T]) []T {
	out := make([]T, 0, len(pairs))
	for _, p := range pairs {
		out = append(out, p.B)
	}
	return out
}
