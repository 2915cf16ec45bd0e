package link

import (
	"net"
	"syscall"
	"time"
)

// Before it sleeps, whoever reads a socket on which replies are due may look for bytes
// again and again for a while. Over a loopback or a very near network that saves the
// time, and the work, of going to sleep and being woken. Where it does not pay it only
// burns processor time, so it is done only while trials show that it pays.

// Numbers of the polling, found by measuring with 1 to 512 callers.
const (
	// pollFor is how long a reader polls before it sleeps.
	pollFor = 50 * time.Microsecond
	// Of each pollPeriod reads the first pollTrial are a trial: pollStretch without
	// polling, as many with it, and that once more. The first pollSettle of a stretch
	// don't count: batches take some reads to get as large as they will be.
	pollPeriod  = 3072
	pollTrial   = 4 * pollStretch
	pollStretch = 96
	pollSettle  = 40
	// A trial is given up when so many polls in a row have found nothing; the next one
	// then comes twice as late, up to pollLongest. Outside of a trial that begins one.
	pollMisses  = 8
	pollLongest = 64 * pollPeriod
	// From one read to the next no more time counts than this: callers may have had
	// nothing to ask.
	pollCap = 2 * time.Millisecond
	// With so many replies due nobody polls: the callers of the replies before need the
	// processor, and one wake-up among so many costs nothing.
	pollMost = 1024
)

// poller decides whether to poll. It belongs to whoever has the turn to read.
type poller struct {
	raw    syscall.RawConn      // nil: this socket can't be polled
	cpu    func() time.Duration // the processor time that the process has used
	on     bool                 // polling pays, as far as is known
	reads  int                  // since the trial began
	period int                  // reads until the next trial
	misses int                  // polls in a row that found nothing
	last   time.Time            // when the read before ended, in a trial
	used   time.Duration        // cpu when the stretch had settled
	trial  [2]pace              // without polling and with it

	// For the callback of one read.
	buf     []byte
	n       int
	err     error
	waiting bool // it has polled, and found nothing
	try     func(fd uintptr) bool
}

// pace is how many replies came, in which time and at which cost.
type pace struct {
	took, cpu time.Duration
	replies   int
}

// Polling pays where replies come faster and cost no more, or come much faster. What is
// done already has the benefit of the doubt.
const (
	fasterToBegin = 0.95 // of the time for one reply without polling
	fasterToStay  = 1.02
	muchFaster    = 0.67
	dearest       = 1.05 // of the processor time for one reply without polling
)

// pays tells whether polling pays, from the paces without it and with it.
func pays(without, with pace, isOn bool) bool {
	if without.replies == 0 || with.replies == 0 || without.took <= 0 {
		return false
	}
	share := float64(without.replies) / float64(with.replies)
	took := float64(with.took) / float64(without.took) * share
	limit := fasterToBegin
	if isOn {
		limit = fasterToStay
	}
	return took < muchFaster || took < limit && float64(with.cpu)*share <= dearest*float64(without.cpu)
}

// use makes the poller poll nc, if it can be.
func (p *poller) use(nc net.Conn) {
	p.period = pollPeriod
	if p.raw = rawConn(nc); p.raw != nil {
		p.cpu = processCPU
		p.try = p.attempt
	}
}

// read reads from the socket, after polling if that pays.
func (p *poller) read(nc net.Conn, buf []byte) (n int, err error) {
	polled, isTrial := p.polls(), p.trying()
	if isTrial && p.last.IsZero() {
		p.last = time.Now()
	}
	if polled {
		n, err = p.poll(buf)
	} else {
		n, err = nc.Read(buf)
	}
	var took time.Duration
	if isTrial {
		at := time.Now()
		took = at.Sub(p.last)
		p.last = at
	}
	p.account(polled, p.waiting, took)
	return n, err
}

// trying tells whether a trial is going on.
func (p *poller) trying() bool { return p.reads < pollTrial }

// polls tells whether the next read polls.
func (p *poller) polls() bool {
	if p.trying() {
		return p.turn() == 1
	}
	return p.on
}

// turn is whose turn it is in a trial: 0 without polling, 1 with it.
func (p *poller) turn() int { return p.reads / pollStretch % 2 }

// counts tells whether read number n of a trial counts.
func counts(n int) bool { return n%pollStretch >= pollSettle }

// answered takes in how many replies the latest read has brought.
func (p *poller) answered(n int) {
	if latest := p.reads - 1; latest >= 0 && latest < pollTrial && counts(latest) {
		p.trial[latest/pollStretch%2].replies += n
	}
}

// account takes in a read: how long after the one before it ended, if there is a trial,
// and whether a poll was in vain. It decides at the end of a trial, one read later,
// when the replies of the last one are known.
func (p *poller) account(polled, inVain bool, took time.Duration) {
	switch {
	case polled && inVain:
		p.misses++
	case polled:
		p.misses = 0
	}
	switch {
	case p.trying():
		p.measure(took)
	case p.reads == pollTrial:
		p.decide(pays(p.trial[0], p.trial[1], p.on), pollPeriod)
	default:
		p.reads++
	}
	switch {
	case p.misses >= pollMisses && p.reads <= pollTrial:
		p.decide(false, min(2*p.period, pollLongest))
	case p.misses >= pollMisses, p.reads >= p.period:
		p.reads, p.misses, p.last, p.trial = 0, 0, time.Time{}, [2]pace{}
	}
}

// measure takes in a read of a trial.
func (p *poller) measure(took time.Duration) {
	t := &p.trial[p.turn()]
	if counts(p.reads) {
		t.took += min(took, pollCap)
	}
	p.reads++
	switch p.reads % pollStretch {
	case pollSettle:
		p.used = p.cpu()
	case 0:
		t.cpu += p.cpu() - p.used
	}
}

// decide ends a trial; the next one comes after so many reads.
func (p *poller) decide(on bool, period int) {
	p.on, p.period = on, period
	p.reads, p.misses = pollTrial+1, 0
}
