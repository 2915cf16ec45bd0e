package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/baton-go/redis/internal/endpoint"
	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/internal/resp"
)

// MonitorStatus is where a MonitorCmd is in its life.
type MonitorStatus int

const (
	monitorIdle    MonitorStatus = iota // nothing is delivered yet
	monitorStarted                      // by Start
	monitorStopped                      // by Stop
)

// MonitorCmd is a MONITOR: what the server executes goes to a channel, from Start to Stop,
// or until its connection is lost, which Err tells once the lines before it are received.
// The channel is never closed.
type MonitorCmd struct {
	baseCmd
	ch      chan string
	answer  chan error    // gets the first reply
	started chan struct{} // closed by Start
	exit    chan struct{} // closed by Stop

	answered bool // the reader's: the first reply has come

	mu     sync.Mutex // guards the fields below, and baseCmd.err once the command is sent
	status MonitorStatus
	l      *link.Link
}

func newMonitorCmd(ch chan string) *MonitorCmd {
	m := &MonitorCmd{ch: ch, answer: make(chan error, 1), started: make(chan struct{}), exit: make(chan struct{})}
	m.begin("monitor")
	m.lane = laneSession
	return m
}

// Monitor is refused where commands share or hold a connection; see Client.Monitor. Since
// Redis 1.0, O(N) with those who watch, for each command of the server.
func (c cmdable) Monitor(ctx context.Context, ch chan string) *MonitorCmd {
	m := newMonitorCmd(ch)
	_ = c(ctx, m)
	return m
}

// Monitor delivers to ch what the server executes, as lines of text, after a first line
// "OK", from MonitorCmd.Start to MonitorCmd.Stop. It has a connection of its own, which
// is not replaced when it is lost. The server keeps lines that are not received, so
// receive them soon. Since Redis 1.0, O(N) with those who watch, for each command of the
// server.
func (c *Client) Monitor(ctx context.Context, ch chan string) *MonitorCmd {
	m := newMonitorCmd(ch)
	if err := c.unusable(); err != nil {
		m.SetErr(err)
		return m
	}
	l, err := c.ep.OpenDedicated(ctx, endpoint.Dedicated{OnFrame: m.onFrame, OnGone: m.onGone})
	if err == nil {
		m.hold(l)
		if err = l.WriteOnly(m.wire()); err == nil {
			err = m.await(ctx, l, c.opt.ReadTimeout)
		}
	}
	if err != nil {
		m.fail(namedAt(ctx, &m.baseCmd, err, c.opt.Addr, 1))
		m.Stop()
	}
	return m
}

// Start lets lines be delivered.
func (m *MonitorCmd) Start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.status == monitorIdle {
		m.status = monitorStarted
		close(m.started)
	}
}

// Stop ends the command and closes its connection. It can't be started again.
func (m *MonitorCmd) Stop() {
	m.mu.Lock()
	l, stopped := m.l, m.status == monitorStopped
	if !stopped {
		m.status = monitorStopped
		close(m.exit)
	}
	m.mu.Unlock()
	if l != nil && !stopped {
		l.Close(ErrClosed)
	}
}

// Err is why the command was refused, or why nothing comes any more before Stop was
// called.
func (m *MonitorCmd) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// SetErr sets the command's error.
func (m *MonitorCmd) SetErr(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// String shows the command and its error.
func (m *MonitorCmd) String() string {
	if err := m.Err(); err != nil {
		return "monitor: " + err.Error()
	}
	return "monitor: "
}

// readReply is for whoever sends the command by other means than Client.Monitor.
func (m *MonitorCmd) readReply(r *resp.Reader) error { return r.Skip() }

// hold keeps the link for Stop.
func (m *MonitorCmd) hold(l *link.Link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.l = l
}

// fail sets the first error.
func (m *MonitorCmd) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil && m.status != monitorStopped {
		m.err = err
	}
}

var errNoAnswer = errors.New("the server has not answered in time")

// await waits for the first reply.
func (m *MonitorCmd) await(ctx context.Context, l *link.Link, timeout time.Duration) error {
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	e := &link.Error{Endpoint: l.Endpoint(), Delivery: MaybeSent}
	select {
	case err := <-m.answer:
		return err
	case <-l.Down():
		e.Err = l.Err()
	case <-ctx.Done():
		e.Err = context.Cause(ctx)
	case <-late:
		e.Err = errNoAnswer
	}
	return e
}

// onFrame runs on the link's reader, which has nothing else to do: it waits for the
// receiver of the line.
func (m *MonitorCmd) onFrame(l *link.Link, frame []byte) {
	r := resp.NewReader(frame)
	line, err := r.String()
	if !m.answered {
		m.answered = true
		m.answer <- err // there is room
	}
	if err != nil {
		return
	}
	select {
	case <-m.started:
	case <-m.exit:
		return
	case <-l.Down():
		return
	}
	select {
	case m.ch <- line:
	case <-m.exit:
	case <-l.Down():
	}
}

// onGone notes that the connection is lost.
func (m *MonitorCmd) onGone(l *link.Link) {
	m.fail(&CommandError{Command: "monitor", Endpoint: l.Endpoint(), Delivery: MaybeSent, Err: l.Err()})
}
