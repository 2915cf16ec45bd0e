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
	// Of each so many reads the first pollTrial take turns, pollStretch of them with
	// polling and pollStretch without, and the rest do what had the shorter waits.
	pollPeriod  = 2048
	pollTrial   = 8 * pollStretch
	pollStretch = 16
	// A trial that shows that polling does not pay makes the next one come twice as
	// late, up to this.
	pollLongest = 64 * pollPeriod
	// A trial is given up when so many polls in a row have found nothing, and polling
	// is tried anew.
	pollMisses = 8
	// Polling has to make waits shorter by a fifth. Longer waits than pollCap count
	// as that: they tell nothing about polling.
	pollCap = 4 * pollFor
)

// poller decides whether to poll. It belongs to whoever has the turn to read.
type poller struct {
	raw    syscall.RawConn  // nil: this socket can't be polled
	on     bool             // polling pays, as far as is known
	reads  int              // since the trial began
	period int              // reads until the next trial
	misses int              // polls in a row that found nothing
	waited [2]time.Duration // in the trial, without polling and with it

	// For the callback of one read.
	buf     []byte
	n       int
	err     error
	waiting bool // it has polled, and found nothing
	try     func(fd uintptr) bool
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
	var began time.Time
	var waited time.Duration
	if isTrial {
		began = time.Now()
	}
	if polled {
		n, err = p.poll(buf)
	} else {
		n, err = nc.Read(buf)
	}
	if isTrial {
		waited = time.Since(began)
	}
	p.account(polled, p.waiting, waited)
	return n, err
}

// trying tells whether a trial is going on.
func (p *poller) trying() bool { return p.reads < pollTrial }

// polls tells whether the next read polls.
func (p *poller) polls() bool {
	if p.trying() {
		return p.reads/pollStretch%2 == 1
	}
	return p.on
}

// account takes in how long a read has waited, if there is a trial, and whether a poll
// was in vain. It decides at the end of a trial.
func (p *poller) account(polled, inVain bool, waited time.Duration) {
	if p.trying() {
		i := 0
		if polled {
			i = 1
		}
		p.waited[i] += min(waited, pollCap)
	}
	p.reads++
	switch {
	case polled && inVain:
		p.misses++
	case polled:
		p.misses = 0
	}
	switch {
	case p.misses >= pollMisses && p.reads <= pollTrial:
		p.decide(false)
	case p.reads == pollTrial:
		p.decide(p.waited[1]*5 < p.waited[0]*4)
	case p.misses >= pollMisses, p.reads >= p.period:
		p.reads, p.misses, p.waited = 0, 0, [2]time.Duration{}
	}
}

// decide ends a trial.
func (p *poller) decide(on bool) {
	p.on = on
	p.reads, p.misses = pollTrial, 0
	if on {
		p.period = pollPeriod
	} else {
		p.period = min(2*p.period, pollLongest)
	}
}
