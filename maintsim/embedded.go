package maintsim

import (
	"errors"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// embedded is the server inside this process, reached without sockets.
type embedded struct {
	m    *miniredis.Miniredis
	stop chan struct{}  // closed to end expire
	wg   sync.WaitGroup // expire

	mu     sync.Mutex // guards the fields below; held over in-memory I/O by nudge only
	waker  *dataConn
	closed bool
}

func startEmbedded(user, password string) (*embedded, error) {
	m := miniredis.NewMiniRedis()
	if password != "" {
		if user == "" {
			user = "default"
		}
		m.RequireUserAuth(user, password)
	}
	c, err := m.Dial() // starts it without a listener
	if err != nil {
		return nil, err
	}
	e := &embedded{m: m, stop: make(chan struct{})}
	e.wg.Go(e.expire)
	return e, c.Close()
}

// expiryTick is how late a key may expire.
const expiryTick = 20 * time.Millisecond

// expire lets keys expire as time goes by, until stop. The server could look at the
// clock by itself, but then does so with each command and for all keys, which takes
// most of its time.
func (e *embedded) expire() {
	t := time.NewTicker(expiryTick)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case <-e.stop:
			return
		case <-t.C:
			now := time.Now()
			e.m.FastForward(now.Sub(last))
			last = now
		}
	}
}

// dial opens a connection.
func (e *embedded) dial() (duplex, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dialLocked()
}

func (e *embedded) dialLocked() (duplex, error) {
	if e.closed {
		return nil, ErrClosed
	}
	client, server := newPipe()
	e.m.Server().ServeConn(server)
	return client, nil
}

// restore opens a connection and brings it to a client's state.
func (e *embedded) restore(proto int32, db, user, password string) (duplex, error) {
	c, err := e.dial()
	if err != nil {
		return nil, err
	}
	d := newDataConn(c)
	err = d.auth(user, password)
	if proto == 3 && err == nil {
		_, err = d.do("HELLO", "3")
	}
	if db != "" && db != "0" && err == nil {
		_, err = d.do("SELECT", db)
	}
	err = errors.Join(err, c.SetReadDeadline(time.Time{}))
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// nudge wakes the server's blocked commands, so that they see that their
// connection is gone: the server looks only when something happens.
func (e *embedded) nudge() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waker == nil {
		c, err := e.dialLocked()
		if err != nil {
			return
		}
		e.waker = newDataConn(c)
	}
	// A command that wakes the others even from a connection without AUTH.
	if _, err := e.waker.do("CLIENT", "GETNAME"); err != nil && !isServerError(err) {
		_ = e.waker.conn.Close()
		e.waker = nil
	}
}

// close ends the server and every connection to it.
func (e *embedded) close() {
	e.mu.Lock()
	waker, again := e.waker, e.closed
	e.waker, e.closed = nil, true
	e.mu.Unlock()
	if !again {
		close(e.stop)
		e.wg.Wait()
	}
	if waker != nil {
		_ = waker.conn.Close()
	}
	e.m.Close()
}
