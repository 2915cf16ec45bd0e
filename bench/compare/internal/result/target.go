package result

import "fmt"

// An Outcome is whether a target was reached.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Short       Outcome = "short"
	NotMeasured Outcome = "not measured"
)

// A Target is a figure that Baton wants to reach.
type Target struct {
	Group    string  `json:"group"`
	What     string  `json:"what"`
	Against  string  `json:"against"`
	Limit    float64 `json:"limit"`
	AtMost   bool    `json:"at_most"` // the limit is the most allowed, else the least wanted
	Measured float64 `json:"measured"`
	Outcome  Outcome `json:"outcome"`
}

// Judged is t with what was measured; 0 is nothing.
func (t Target) Judged(measured float64) Target {
	t.Measured = measured
	switch {
	case measured == 0:
		t.Outcome = NotMeasured
	case t.AtMost && measured <= t.Limit, !t.AtMost && measured >= t.Limit:
		t.Outcome = OK
	default:
		t.Outcome = Short
	}
	return t
}

// Wanted is the limit in words.
func (t Target) Wanted() string {
	if t.AtMost {
		return fmt.Sprintf("≤ %.2f", t.Limit)
	}
	return fmt.Sprintf("≥ %.2f", t.Limit)
}
