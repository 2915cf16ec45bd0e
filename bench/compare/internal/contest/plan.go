// Package contest lets the clients work in alternating rounds.
package contest

import (
	"time"

	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/server"
	"github.com/baton-go/redis/bench/compare/internal/subject"
)

// A Block is work under conditions that are measured in the same rounds: they differ
// in the context only.
type Block struct {
	Workload   load.Workload
	Goroutines int
	Transport  server.Transport
	Contexts   []load.Context
}

// A Plan is all that is to be measured.
type Plan struct {
	Blocks   []Block
	Subjects []subject.Subject
	Rounds   int
	Time     time.Duration // of each client in each round
	Warm     time.Duration // before that
	Seed     uint64
}

// trials is how often each setting of a client with several is tried, for half of
// the time of a round each.
const trials = 2

// slices is how many slices a block takes, trials included.
func (p Plan) slices(b Block) float64 {
	n := float64(p.Rounds * len(p.Subjects) * len(b.Contexts))
	for _, s := range p.Subjects {
		if len(s.Settings) > 1 {
			n += float64(len(s.Settings)*trials) / 2
		}
	}
	return n
}

// Expected is about how long a plan takes.
func (p Plan) Expected() time.Duration {
	var sum time.Duration
	for _, b := range p.Blocks {
		sum += p.expected(b)
	}
	return sum
}

// overhead is what a slice takes beside its time: collecting garbage, starting and
// stopping the workers.
const overhead = 10 * time.Millisecond

func (p Plan) expected(b Block) time.Duration {
	warm, length := p.lengths(b)
	return time.Duration(p.slices(b) * float64(warm+length+overhead))
}

const (
	// perCommand is what a command in flight takes at the rate of a fast client.
	perCommand = time.Microsecond
	// waves is how often everything in flight must be answered within a slice.
	waves = 5
)

// lengths are those of a slice of b. Where so much is in flight that few calls would
// end in the time of the plan, they are longer.
func (p Plan) lengths(b Block) (warm, length time.Duration) {
	wave := time.Duration(b.Goroutines*b.Workload.Commands) * perCommand
	return max(p.Warm, wave), max(p.Time, waves*wave)
}
