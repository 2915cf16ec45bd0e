package endpoint

import (
	"time"

	"github.com/baton-go/redis/maintnotifications"
)

// workerRest is how long a worker waits for work before it leaves.
const workerRest = 15 * time.Second

// A job is one handoff of one link.
type job struct {
	op       maintnotifications.OpKey
	link     uint64
	targets  []string
	deadline time.Time
}

// enqueue gives a handoff to the workers. Where their queue is full the handoff is
// refused, and the link is retired instead.
func (e *Endpoint) enqueue(j job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	workers := max(e.cfg.Maint.MaxWorkers, 1)
	waiting := len(e.jobs) - (workers - e.busy) // the others are about to be begun
	if waiting >= max(e.cfg.Maint.HandoffQueueSize, 1) {
		e.cfg.Logger.Warn("handoff queue full, the link is retired instead",
			"endpoint", e.cfg.Addr, "link", j.link, "size", waiting)
		e.post(event{kind: eventDone, link: j.link, op: j.op, err: maintnotifications.ErrHandoffQueueFull})
		if en := e.links[j.link]; en != nil {
			e.work.Go(en.retire)
		}
		return
	}
	e.jobs = append(e.jobs, j)
	switch {
	case e.resting > 0:
		e.resting--
		e.wake <- struct{}{} // as many places as workers: never blocks
	case e.workers < workers:
		e.workers++
		e.work.Go(e.worker)
	}
}

// worker does handoffs until there were none for a while.
func (e *Endpoint) worker() {
	rest := time.NewTimer(workerRest)
	defer rest.Stop()
	for {
		e.mu.Lock()
		if e.closed {
			e.workers--
			e.mu.Unlock()
			return
		}
		if len(e.jobs) > 0 {
			j := e.jobs[0]
			e.jobs = e.jobs[1:]
			e.busy++
			e.mu.Unlock()
			e.handOff(j)
			continue
		}
		e.resting++
		e.mu.Unlock()
		rest.Reset(workerRest)
		select {
		case <-e.wake:
		case <-rest.C:
			if e.leave() {
				return
			}
		case <-e.run.Done():
			if e.leave() {
				return
			}
		}
	}
}

// leave makes a resting worker go, unless it has been given work at this moment.
func (e *Endpoint) leave() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.resting == 0 {
		<-e.wake // it was meant for one of us; it is there already
		return false
	}
	e.resting--
	e.workers--
	return true
}

// handOff does one handoff and tells the owner how it ended.
func (e *Endpoint) handOff(j job) {
	err := e.move(j)
	if err != nil {
		e.cfg.Logger.Debug("handoff failed", "endpoint", e.cfg.Addr, "link", j.link, "targets", j.targets, "cause", err)
	}
	e.mu.Lock()
	e.busy--
	e.post(event{kind: eventDone, link: j.link, op: j.op, err: err})
	e.mu.Unlock()
}

// move replaces a link, within HandoffTimeout and before the deadline.
func (e *Endpoint) move(j job) error {
	en := e.entry(j.link)
	if en == nil || en.move == nil {
		return nil // it has died, and what comes after it is dialled to the right place
	}
	deadline := time.Now().Add(e.cfg.Maint.HandoffTimeout)
	if j.deadline.After(time.Now()) && j.deadline.Before(deadline) {
		deadline = j.deadline
	}
	ctx, done, err := e.cfg.Manager.BeginHandoff(e.run, maintnotifications.Handoff{
		Op: j.op, Link: maintnotifications.LinkID(j.link), Kind: maintnotifications.NotificationMoving,
		Endpoint: j.targets[0], Deadline: deadline,
	})
	if err != nil {
		return err
	}
	err = en.move(ctx, j.targets)
	done(err)
	return err
}
