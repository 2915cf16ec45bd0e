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

// Numbers of the polling. The shares and counts were found by measuring.
const (
	// pollFor is how long a reader polls before it sleeps.
	pollFor = 50 * time.Microsecond
	// Of each so many reads the first pollTrial take turns, pollStretch of them without
	// polling and pollStretch with it, and the rest do what was faster.
	pollPeriod  = 2048
	pollTrial   = 8 * pollStretch
	pollStretch = 16
	// A trial that shows that polling does not pay makes the next one come twice as
	// late, up to this.
	pollLongest = 64 * pollPeriod
	// A trial is given up when so many polls in a row have found nothing, and polling
	// is tried anew.
	pollMisses = 8
	// From one read to the next no more time counts than this: callers may have had
	// nothing to ask.
	pollCap = 2 * time.Millisecond
)

// poller decides whether to poll. It belongs to whoever has the turn to read.
type poller struct {
	raw    syscall.RawConn // nil: this socket can't be polled
	on     bool            // polling pays, as far as is known
	reads  int             // since the trial began
	period int             // reads until the next trial
	misses int             // polls in a row that found nothing
	last   time.Time       // when the read before ended, in a trial
	trial  [2]pace         // without polling and with it

	// For the callback of one read.
	buf     []byte
	n       int
	err     error
	waiting bool // it has polled, and found nothing
	try     func(fd uintptr) bool
}

// pace is how fast replies came.
type pace struct {
	took    time.Duration
	replies int
}

// fasterByFifth tells whether replies came faster by a fifth than at the other pace.
// Polling has to be that much better to be worth the processor time it burns.
func (p pace) fasterByFifth(than pace) bool {
	return p.took*time.Duration(than.replies)*5 < than.took*time.Duration(p.replies)*4
}

// use makes the poller poll nc, if it can be.
func (p *poller) use(nc net.Conn) {
	p.period = pollPeriod
	switch nc.(type) { // not what wraps them: it may do something with the bytes
	case *net.TCPConn, *net.UnixConn:
	default:
		return
	}
	if raw, err := nc.(syscall.Conn).SyscallConn(); err == nil && canPoll {
		p.raw = raw
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

// answered takes in how many replies a read has brought.
func (p *poller) answered(n int) {
	if p.reads > 0 && p.reads <= pollTrial {
		p.trial[(p.reads-1)/pollStretch%2].replies += n
	}
}

// account takes in a read: how long after the one before it ended, if there is a trial,
// and whether a poll was in vain. It decides at the end of a trial, one read later,
// when the replies of the last one are known.
func (p *poller) account(polled, inVain bool, took time.Duration) {
	switch {
	case p.trying():
		p.trial[p.turn()].took += min(took, pollCap)
		p.reads++
	case p.reads == pollTrial:
		p.decide(p.trial[1].fasterByFifth(p.trial[0]))
	default:
		p.reads++
	}
	switch {
	case polled && inVain:
		p.misses++
	case polled:
		p.misses = 0
	}
	switch {
	case p.misses >= pollMisses && p.reads <= pollTrial:
		p.decide(false)
	case p.misses >= pollMisses, p.reads >= p.period:
		p.reads, p.misses, p.last, p.trial = 0, 0, time.Time{}, [2]pace{}
	}
}

// decide ends a trial.
func (p *poller) decide(on bool) {
	p.on = on
	p.reads, p.misses = pollTrial+1, 0
	if on {
		p.period = pollPeriod
	} else {
		p.period = min(2*p.period, pollLongest)
	}
}
