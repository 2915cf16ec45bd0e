// Package account holds what a drill counted, judges it, and prints it.
//
// A [Result] is a plain value: it is filled by whoever ran the drill, [Judge]
// says which rules it breaks, and its JSON form is the drill's stable output.
package account

import "math"

// A Result is the account of one drill. Its JSON keys are stable: keys are only
// ever added, after those that are there.
type Result struct {
	// Scenario is what was done to the server.
	Scenario string `json:"scenario"`
	// Client names the client and its version.
	Client string `json:"client"`
	// OK is true if no rule is broken: Problems is empty.
	OK bool `json:"ok"`
	// Commands counts ordinary commands: single ones, those in pipelines and in
	// MULTI/EXEC units, RPUSH and PUBLISH. Blocking commands and the commands of
	// WATCH sessions have accounts of their own.
	Commands Commands `json:"commands"`
	// Incr compares the acknowledged INCRs with the counters in the server.
	Incr Incr `json:"incr"`
	// PubSub compares the messages published with those received.
	PubSub PubSub `json:"pubsub"`
	// Watch counts optimistic transactions: read, compute, MULTI/EXEC.
	Watch Watch `json:"watch"`
	// Blocking compares the items pushed with those served by BLPOP.
	Blocking Blocking `json:"blocking"`
	// LatencyUS is the time of a round trip in microseconds, by the phase in which
	// it began. A pipeline is one round trip. BLPOP is left out.
	LatencyUS Phases[Latency] `json:"latency_us"`
	// LongestGapMS is the longest time in which no command at all completed.
	LongestGapMS float64 `json:"longest_gap_ms"`
	// Handoffs counts the connections the client replaced.
	Handoffs Handoffs `json:"handoffs"`
	// Notices counts the notices sent, one for each connection told.
	Notices Notices `json:"notices"`
	// Errors counts the errors of ordinary commands by their message.
	Errors map[string]int64 `json:"errors"`

	// WrongReplies counts replies that were not the command's own.
	WrongReplies int64 `json:"wrong_replies"`
	// AppRetries counts what the drill itself tried again: only subscriptions, which the
	// client is to keep up by itself.
	AppRetries AppRetries `json:"app_retries"`
	// AppErrors counts the errors of BLPOP, of WATCH sessions and of subscriptions, gaps
	// included, by their message.
	AppErrors map[string]int64 `json:"app_errors"`
	// RecoveryMS is the longest time from the server being back after a cut to the
	// first command that succeeded, over all workers. Zero without a cut.
	RecoveryMS float64 `json:"recovery_ms"`
	// DurationS is the length of the load in seconds.
	DurationS float64 `json:"duration_s"`
	// OpsPerS is the number of acknowledged ordinary commands per second.
	OpsPerS float64 `json:"ops_per_s"`
	// InFlightAtCut is how many commands the server side had read and not answered
	// when it cut connections without a closing notice.
	InFlightAtCut int64 `json:"in_flight_at_cut"`
	// Problems has one sentence for every rule that is broken.
	Problems []string `json:"problems"`

	// Server says what was behind the simulator.
	Server string `json:"server"`
	// Mode is the client's mode of maintenance notifications.
	Mode string `json:"maintnotifications"`
	// Workers is the number of workers.
	Workers int `json:"workers"`
	// Seed is the seed of all random choices.
	Seed uint64 `json:"seed"`
	// GapMS is LongestGapMS by the phase in which the gap began.
	GapMS Phases[float64] `json:"gap_ms"`
	// OrdinaryGapMS is the longest time without an ordinary command, by phase. These
	// share a connection, and the others have one each.
	OrdinaryGapMS Phases[float64] `json:"ordinary_gap_ms"`
	// GapOutsideStallsMS is LongestGapMS, but for the times in which the server held
	// every reply back or accepted nobody after a cut.
	GapOutsideStallsMS float64 `json:"gap_outside_stalls_ms"`
	// PhaseS is the length of the phases in seconds.
	PhaseS Phases[float64] `json:"phase_s"`
	// IdempotentFailed counts single GETs and SETs that did not succeed.
	IdempotentFailed int64 `json:"idempotent_failed"`
	// StaleReads counts replies that were the key's own, but not the value that was
	// last acknowledged.
	StaleReads int64 `json:"stale_reads"`
	// CompletedAfter counts the ordinary commands acknowledged after the scenario.
	CompletedAfter int64 `json:"completed_after"`
	// NotRecovered counts the workers without a successful command after a cut.
	NotRecovered int64 `json:"not_recovered"`
	// SplitTransactions counts MULTI/EXEC units that were executed in part.
	SplitTransactions int64 `json:"split_transactions"`
	// History is the account of the keys that several workers read and write.
	History History `json:"history"`

	// OvertakenReads counts GETs that were executed before a SET in front of them in the
	// same pipeline, which can only be where a server refuses the SET for a while.
	OvertakenReads int64 `json:"overtaken_reads"`
	// Values compares the keys that one worker writes to with what is in the server.
	Values Values `json:"values"`
	// Cluster counts what is only in a cluster. Without one everything is 0.
	Cluster Cluster `json:"cluster"`
	// Allowed has one sentence for each thing that was felt and that the scenario allows
	// for: no client can do better where connections are cut without a word.
	Allowed []string `json:"allowed"`
	// Growth is what the whole program has, the simulator and the load with the client.
	Growth Growth `json:"growth"`
}

// Growth is what a program has before the scenario, at most in it, and at the end of the
// load.
type Growth struct {
	Goroutines Span `json:"goroutines"`
	// HeapKB is alive after a collection, but for the most. The load's own books are in it:
	// each worker notes with a bit when it was served, and fills that in after an outage.
	HeapKB Span `json:"heap_kb"`
}

// A Span is one number over a drill.
type Span struct {
	Before int64 `json:"before"`
	Most   int64 `json:"most"`
	End    int64 `json:"end"` // of the scenario
	After  int64 `json:"after"`
}

// Commands counts commands. Sent is the sum of the others.
type Commands struct {
	Sent         int64 `json:"sent"`
	Acknowledged int64 `json:"acknowledged"`
	Failed       int64 `json:"failed"`  // not executed: never sent, or refused
	Unknown      int64 `json:"unknown"` // sent, not answered
}

// Incr is the account of the counters.
type Incr struct {
	Acknowledged int64 `json:"acknowledged"`
	Unknown      int64 `json:"unknown"`
	Value        int64 `json:"value"`      // in the server, read past the proxies
	Mismatched   int64 `json:"mismatched"` // counters that alone break the rule
}

// Values is the account of the keys with one writer each.
type Values struct {
	Keys int64 `json:"keys"` // that were written to
	Lost int64 `json:"lost"` // whose value in the server is not the last acknowledged one or a later
}

// PubSub is the account of the messages.
type PubSub struct {
	Published  int64 `json:"published"` // acknowledged
	Received   int64 `json:"received"`  // each message once
	Duplicated int64 `json:"duplicated"`
	Lost       int64 `json:"lost"`      // acknowledged and never received
	Reordered  int64 `json:"reordered"` // received after a later one
	Unknown    int64 `json:"unknown"`   // published without an answer
	// Unheard counts the messages to shard channels that were not received, and of which
	// the reply said so: nobody listens while a subscription moves. They are not in
	// Published. Deaf counts the channels that nobody listened to in the end.
	Unheard int64 `json:"unheard"`
	Deaf    int64 `json:"deaf"`
	// Gaps is how often a subscriber was told that messages may be missing, and Untold how
	// many were lost elsewhere.
	Gaps   int64 `json:"gaps"`
	Untold int64 `json:"lost_untold"`
}

// Watch is the account of the optimistic transactions.
type Watch struct {
	Committed int64 `json:"committed"`
	Conflicts int64 `json:"conflicts"`
	Failed    int64 `json:"failed"`  // for another reason
	Unknown   int64 `json:"unknown"` // EXEC sent, not answered
	Value     int64 `json:"value"`   // in the server
}

// Blocking is the account of the lists.
type Blocking struct {
	Served     int64 `json:"served"`
	Failed     int64 `json:"failed"` // refused, or never sent
	Lost       int64 `json:"lost"`   // pushed, neither served nor left
	Pushed     int64 `json:"pushed"` // acknowledged
	Left       int64 `json:"left"`   // still in the list at the end
	Duplicated int64 `json:"duplicated"`
	Unknown    int64 `json:"unknown"` // BLPOPs sent and not answered
}

// History counts what was recorded of keys with several writers, and the keys whose
// history no order of the commands explains.
type History struct {
	Operations int64 `json:"operations"`
	Keys       int64 `json:"keys"`
	Violations int64 `json:"violations"`
	Unchecked  int64 `json:"unchecked"` // keys the check had no time for
}

// Cluster is the account of the slots and of the redirects they caused. All replies are
// counted that nodes gave while the load ran.
type Cluster struct {
	Shards     int64 `json:"shards"` // at the beginning
	Nodes      int64 `json:"nodes"`  // spare ones included
	SlotsMoved int64 `json:"slots_moved"`
	// MovedPerSlot is Moved by SlotsMoved.
	MovedPerSlot float64 `json:"moved_per_slot"`
	Moved        int64   `json:"MOVED"`
	Ask          int64   `json:"ASK"`
	TryAgain     int64   `json:"TRYAGAIN"`
	ClusterDown  int64   `json:"CLUSTERDOWN"`
}

// Phases holds one value for each phase of a drill.
type Phases[T any] struct {
	Before T `json:"before"`
	During T `json:"during"`
	After  T `json:"after"`
}

// Latency is a distribution.
type Latency struct {
	P50  int64 `json:"p50"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p999"`
	Max  int64 `json:"max"`
}

// Handoffs counts replaced connections.
type Handoffs struct {
	Started   int64 `json:"started"`
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
}

// Notices counts notices by name.
type Notices struct {
	Moving      int64 `json:"MOVING"`
	Migrating   int64 `json:"MIGRATING"`
	Migrated    int64 `json:"MIGRATED"`
	FailingOver int64 `json:"FAILING_OVER"`
	FailedOver  int64 `json:"FAILED_OVER"`
	SMigrating  int64 `json:"SMIGRATING"`
	SMigrated   int64 `json:"SMIGRATED"`
}

// Total is the sum of all.
func (n Notices) Total() int64 {
	return n.Moving + n.Migrating + n.Migrated + n.FailingOver + n.FailedOver + n.SMigrating + n.SMigrated
}

// AppRetries counts operations the application tried again.
type AppRetries struct {
	Blocking int64 `json:"blocking"`
	PubSub   int64 `json:"pubsub"`
	Watch    int64 `json:"watch"`
}

// Round returns v with d decimals, for values that are printed.
func Round(v float64, d int) float64 {
	p := math.Pow10(d)
	return math.Round(v*p) / p
}
