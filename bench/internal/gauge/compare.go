package gauge

// A Comparison is something (B) against the same without it (A), measured in pairs.
// The names in its JSON are stable.
type Comparison struct {
	Name    string  `json:"name"`
	N       int     `json:"n"` // goroutines
	Ops     Ratio   `json:"ops_ratio"`
	CPU     Ratio   `json:"cpu_ratio"`
	OpsA    float64 `json:"ops_per_second_a"`
	OpsB    float64 `json:"ops_per_second_b"`
	CPUA    float64 `json:"cpu_us_per_op_a"`
	CPUB    float64 `json:"cpu_us_per_op_b"`
	AllocsA float64 `json:"allocs_per_op_a"`
	AllocsB float64 `json:"allocs_per_op_b"`
}

// Compare compares the B of all pairs with their A, for n goroutines.
func Compare(name string, n int, pairs []Pair[Cost]) Comparison {
	as, bs := As(pairs), Bs(pairs)
	return Comparison{
		Name: name, N: n,
		Ops:  RatioOf(pairs, Cost.OpsPerSecond),
		CPU:  RatioOf(pairs, Cost.CPUPerOp),
		OpsA: MedianOf(as, Cost.OpsPerSecond), OpsB: MedianOf(bs, Cost.OpsPerSecond),
		CPUA: MedianOf(as, Cost.CPUPerOp), CPUB: MedianOf(bs, Cost.CPUPerOp),
		AllocsA: MedianOf(as, Cost.AllocsPerOp), AllocsB: MedianOf(bs, Cost.AllocsPerOp),
	}
}
