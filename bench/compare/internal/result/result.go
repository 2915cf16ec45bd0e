// Package result holds what was measured, and what follows from it.
package result

import "time"

// A Result is a whole comparison. Its JSON keys are stable: they may be added to.
type Result struct {
	Version     int         `json:"version"` // of this format
	Date        time.Time   `json:"date"`
	Environment Environment `json:"environment"`
	Quick       bool        `json:"quick"`
	Seed        uint64      `json:"seed"`
	Rounds      int         `json:"rounds"`
	SliceS      float64     `json:"slice_s"` // of each client in each round
	WarmS       float64     `json:"warm_s"`  // before each slice
	Cells       []*Cell     `json:"cells"`
	Targets     []Target    `json:"targets"`
}

// FormatVersion is the version of the format that this program writes.
const FormatVersion = 1

// An Environment is where it was measured.
type Environment struct {
	Go            string            `json:"go"`
	OS            string            `json:"os"`
	Arch          string            `json:"arch"`
	CPUs          int               `json:"cpus"`
	MaxProcs      int               `json:"gomaxprocs"`
	Server        string            `json:"server"`
	ServerProgram string            `json:"server_program"`
	Modules       map[string]string `json:"modules"` // versions of the peers
}

// A Cell is one workload under one condition, for all clients.
type Cell struct {
	Key
	NotMeasured string     `json:"not_measured,omitempty"` // why
	OthersCPU   float64    `json:"others_cpu"`             // part of all CPUs that other processes used meanwhile; 0: none, or not known
	Subjects    []*Subject `json:"subjects"`
}

// A Key says which cell it is.
type Key struct {
	Workload   string `json:"workload"`
	Goroutines int    `json:"goroutines"`
	Transport  string `json:"transport"`
	Context    string `json:"context"`
}

// A Subject is what was measured of one client in a cell.
type Subject struct {
	Name               string    `json:"name"`
	Family             string    `json:"family"`
	Setting            string    `json:"setting"`
	Trials             []Trial   `json:"trials,omitempty"` // that the setting was chosen by
	OpsPerS            float64   `json:"ops_per_s"`        // median of the rounds
	OpsPerSRounds      []float64 `json:"ops_per_s_rounds"` // 0 where a round failed
	BatonRatio         float64   `json:"baton_ratio"`      // median of baton's to this one's in the same round; 0: not known
	Latency            Latency   `json:"latency_us"`
	AllocsPerOp        float64   `json:"allocs_per_op"`
	BytesPerOp         float64   `json:"bytes_per_op"`
	ClientCPUMicrosPer float64   `json:"client_cpu_us_per_op"`
	ServerCPUMicrosPer float64   `json:"server_cpu_us_per_op"`
	Error              string    `json:"error,omitempty"`        // the first
	NotMeasured        string    `json:"not_measured,omitempty"` // why
}

// A Trial is what a client did in one of its settings before the rounds began.
type Trial struct {
	Setting string  `json:"setting"`
	OpsPerS float64 `json:"ops_per_s"`
}

// Latency is the distribution of one call's time, in microseconds.
type Latency struct {
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
	Timed int64   `json:"timed"` // calls that were timed
}

// Find returns the cell with that key, or nil.
func (r *Result) Find(k Key) *Cell {
	for _, c := range r.Cells {
		if c.Key == k {
			return c
		}
	}
	return nil
}

// Find returns the subject of that name, or nil.
func (c *Cell) Find(name string) *Subject {
	for _, s := range c.Subjects {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Failures are what went wrong, a line each.
func (r *Result) Failures() []string {
	var lines []string
	for _, c := range r.Cells {
		for _, s := range c.Subjects {
			if s.Error != "" {
				lines = append(lines, c.String()+": "+s.Name+": "+s.Error)
			}
		}
	}
	return lines
}
