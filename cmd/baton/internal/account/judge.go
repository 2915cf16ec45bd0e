package account

import "fmt"

// Terms are what a scenario allows and requires.
type Terms struct {
	// Cut is true where connections are cut without a closing notice, with commands
	// in flight: commands without an answer are then allowed, no more of them than
	// were in flight.
	Cut bool
	// Unbounded is true where commands may be sent to a server that is gone already:
	// more than were in flight at its end may then be without an answer.
	Unbounded bool
	// Down is true where there may be no server for longer than commands wait: they
	// may then fail, unsent or refused, and be given up.
	Down bool
	// Announced is true where the client asks for notices and the scenario sends
	// some: at least one connection must have been told.
	Announced bool
	// Refused is true where a server refuses writes for a while and answers reads. In a
	// pipeline, a write that is sent again is then behind the reads that followed it.
	Refused bool
	// Scattered is true where messages are published at other nodes than before: they may
	// then come in another order.
	Scattered bool
	// Redirects is how many MOVED there may be for each slot that moves; 0 is any number.
	Redirects float64
	// RecoveryMS is how long after a cut, or the end of another scenario, each worker's next command may take.
	RecoveryMS float64
	// Incomplete says why the drill ended early, or is empty.
	Incomplete []string
}

// Judge returns one sentence for every rule that r breaks, and none if the
// application would have felt nothing that the terms don't allow.
func Judge(r *Result, t Terms) []string {
	j := judge{problems: append([]string{}, t.Incomplete...)}
	j.commands(r, t)
	j.incr(r, t)
	j.pubsub(r, t)
	j.watch(r, t)
	j.blocking(r, t)
	j.scenario(r, t)
	return j.problems
}

// Allowed returns one sentence for each thing that was felt and that t allows for.
func Allowed(r *Result, t Terms) []string {
	j := judge{problems: []string{}}
	if !t.Cut {
		return j.problems
	}
	const maybe = "no answer: they were sent, and may have been executed, so they were not sent again"
	j.broken(r.Commands.Unknown > 0, "%s %s.", count(r.Commands.Unknown, "command that can't be repeated has", "commands that can't be repeated have"), maybe)
	j.broken(r.Watch.Unknown > 0, "%s %s.", count(r.Watch.Unknown, "EXEC has", "EXECs have"), maybe)
	j.broken(r.Blocking.Unknown > 0, "%s %s; %d list items are lost with them.", count(r.Blocking.Unknown, "BLPOP has", "BLPOPs have"), maybe, r.Blocking.Lost)
	j.broken(r.PubSub.Lost > 0, "%s lost while subscribers had no connection; they were told of %s.",
		count(r.PubSub.Lost, "published message was", "published messages were"), count(r.PubSub.Gaps, "gap", "gaps"))
	j.broken(t.Down && r.Commands.Failed+r.Watch.Failed+r.Blocking.Failed > 0, "%d commands, %d transactions and %d BLPOPs failed while there was no server.",
		r.Commands.Failed, r.Watch.Failed, r.Blocking.Failed)
	return j.problems
}

type judge struct{ problems []string }

// broken adds a sentence if is is true.
func (j *judge) broken(is bool, format string, args ...any) {
	if is {
		j.problems = append(j.problems, fmt.Sprintf(format, args...))
	}
}

func (j *judge) commands(r *Result, t Terms) {
	c := r.Commands
	j.broken(r.WrongReplies > 0, "%s not the command's own.", count(r.WrongReplies, "reply was", "replies were"))
	j.broken(r.StaleReads > 0, "%s older than the last acknowledged write.", count(r.StaleReads, "reply was", "replies were"))
	j.broken(r.OvertakenReads > 0 && !t.Refused, "%s executed before a SET in front of it in the same pipeline.",
		count(r.OvertakenReads, "GET was", "GETs were"))
	j.broken(r.History.Violations > 0, "%s that no order of its commands explains: one was lost, took effect twice, or too late.",
		count(r.History.Violations, "key has a history", "keys have a history"))
	j.broken(r.Values.Lost > 0, "%s not the value that was acknowledged last.", count(r.Values.Lost, "key has", "keys have"))
	j.broken(c.Failed > 0 && !t.Down, "%s failed.", count(c.Failed, "command", "commands"))
	j.broken(r.IdempotentFailed > 0 && !t.Down, "%s, though they can be sent again.",
		count(r.IdempotentFailed, "single GET or SET did not succeed", "single GETs and SETs did not succeed"))
	j.broken(c.Sent != c.Acknowledged+c.Failed+c.Unknown,
		"The commands don't add up: %d sent, %d acknowledged, %d failed, %d unknown.", c.Sent, c.Acknowledged, c.Failed, c.Unknown)
	if !t.Cut {
		j.broken(c.Unknown > 0, "%s sent and not answered.", count(c.Unknown, "command was", "commands were"))
		return
	}
	unanswered := c.Unknown + r.Watch.Unknown + r.Blocking.Unknown
	j.broken(unanswered > r.InFlightAtCut && !t.Unbounded,
		"%s not answered, more than the %d in flight when connections were cut.",
		count(unanswered, "command was", "commands were"), r.InFlightAtCut)
}

func (j *judge) incr(r *Result, t Terms) {
	i := r.Incr
	if t.Cut {
		j.broken(i.Value < i.Acknowledged, "Acknowledged INCRs are lost: %d acknowledged, the counters have %d.", i.Acknowledged, i.Value)
		j.broken(i.Value > i.Acknowledged+i.Unknown,
			"INCRs were executed twice: %d acknowledged and %d unknown, the counters have %d.", i.Acknowledged, i.Unknown, i.Value)
	} else {
		j.broken(i.Value != i.Acknowledged, "The INCRs don't add up: %d acknowledged, the counters have %d.", i.Acknowledged, i.Value)
	}
	j.broken(i.Mismatched > 0, "%s add up to.", count(i.Mismatched, "counter is not what its INCRs", "counters are not what their INCRs"))
	j.broken(r.SplitTransactions > 0, "%s executed in part.", count(r.SplitTransactions, "MULTI/EXEC unit was", "MULTI/EXEC units were"))
}

func (j *judge) pubsub(r *Result, t Terms) {
	p := r.PubSub
	// A message published into a cut has nobody to reach: Pub/Sub promises no more.
	j.broken(p.Lost > 0 && !t.Cut, "%s lost.", count(p.Lost, "published message was", "published messages were"))
	j.broken(p.Duplicated > 0, "%s received twice.", count(p.Duplicated, "message was", "messages were"))
	j.broken(p.Reordered > 0 && !t.Scattered, "%s received after a later one.", count(p.Reordered, "message was", "messages were"))
	j.broken(p.Deaf > 0, "%s no listener any more.", count(p.Deaf, "shard channel had", "shard channels had"))
	j.broken(p.Untold > 0 && t.Cut, "%s lost of which no subscriber was told.",
		count(p.Untold, "published message was", "published messages were"))
	j.broken(r.AppRetries.PubSub > 0 && !t.Down, "%s opened again by the application.", count(r.AppRetries.PubSub, "subscription was", "subscriptions were"))
	j.broken(p.Received+p.Lost < p.Published || p.Received+p.Lost > p.Published+p.Unknown && r.Cluster.Nodes == 0,
		"The messages don't add up: %d published, %d received, %d lost.", p.Published, p.Received, p.Lost)
}

func (j *judge) watch(r *Result, t Terms) {
	w := r.Watch
	j.broken(w.Failed > 0 && !t.Down, "%s failed.", count(w.Failed, "optimistic transaction", "optimistic transactions"))
	if t.Cut {
		j.broken(w.Value < w.Committed || w.Value > w.Committed+w.Unknown,
			"The optimistic transactions don't add up: %d committed and %d unknown, the counters have %d.", w.Committed, w.Unknown, w.Value)
		return
	}
	j.broken(w.Unknown > 0, "%s sent and not answered.", count(w.Unknown, "EXEC was", "EXECs were"))
	j.broken(w.Value != w.Committed,
		"The optimistic transactions don't add up: %d committed, the counters have %d.", w.Committed, w.Value)
}

func (j *judge) blocking(r *Result, t Terms) {
	b := r.Blocking
	j.broken(b.Failed > 0 && !t.Down, "%s failed.", count(b.Failed, "BLPOP", "BLPOPs"))
	j.broken(b.Duplicated > 0, "%s served twice.", count(b.Duplicated, "list item was", "list items were"))
	if t.Cut {
		// Each BLPOP without an answer may have taken one item with it.
		j.broken(b.Lost > b.Unknown, "%s lost, more than the %d BLPOPs that were not answered.",
			count(b.Lost, "list item was", "list items were"), b.Unknown)
		return
	}
	j.broken(b.Unknown > 0, "%s sent and not answered.", count(b.Unknown, "BLPOP was", "BLPOPs were"))
	j.broken(b.Lost > 0, "%s lost.", count(b.Lost, "list item was", "list items were"))
	j.broken(b.Served != b.Pushed, "The list items don't add up: %d pushed, %d served, %d left.", b.Pushed, b.Served, b.Left)
}

func (j *judge) scenario(r *Result, t Terms) {
	j.broken(t.Announced && r.Notices.Total() == 0, "No connection was told anything: none had asked for notices.")
	j.broken(r.CompletedAfter == 0, "No command succeeded after the scenario.")
	j.broken(t.Redirects > 0 && r.Cluster.MovedPerSlot > t.Redirects,
		"%.1f commands were answered with MOVED for each slot that moved, more than %.0f.", r.Cluster.MovedPerSlot, t.Redirects)
	if !t.Cut {
		return
	}
	j.broken(r.NotRecovered > 0, "%s no successful command after the cut.", count(r.NotRecovered, "worker had", "workers had"))
	j.broken(r.RecoveryMS > t.RecoveryMS, "A worker's next command took %.0f ms after the server was back, more than %.0f.", r.RecoveryMS, t.RecoveryMS)
}

// count is n with the form of the words that goes with it.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
