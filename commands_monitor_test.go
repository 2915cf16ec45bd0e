package redis

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/realserver"
)

// next receives a line.
func next(t *testing.T, ch chan string) string {
	t.Helper()
	select {
	case line := <-ch:
		return line
	case <-time.After(10 * time.Second):
		t.Fatal("no line comes")
		return ""
	}
}

func TestMonitorOnServers(t *testing.T) {
	for _, name := range realserver.All() {
		t.Run(name, func(t *testing.T) {
			srv := realserver.Start(t, name)
			for _, protocol := range []int{2, 3} {
				c := NewClient(&Options{Addr: srv.Addr(), Protocol: protocol, DisableIdentity: true})
				c.Ping(bg)
				ch := make(chan string)
				m := c.Monitor(bg, ch)
				if m.Err() != nil || m.String() != "monitor: " {
					t.Fatal(m)
				}
				c.Set(bg, "k", "before the start", 0) // kept by the server
				m.Start()
				m.Start()
				if got := next(t, ch); got != "OK" {
					t.Errorf("the first line is %q", got)
				}
				c.Set(bg, "k", "v", 0)
				for _, want := range []string{`"set" "k" "before the start"`, `"set" "k" "v"`} {
					if got := next(t, ch); !strings.Contains(got, want) || !strings.Contains(got, " [0 127.0.0.1:") {
						t.Errorf("got %q, want %q", got, want)
					}
				}
				c.Set(bg, "k", "nobody receives it", 0)
				m.Stop()
				m.Stop()
				m.Start()
				if m.Err() != nil {
					t.Errorf("after Stop: %v", m.Err())
				}
				if err := c.Close(); err != nil { // with a monitor that nobody stops
					t.Error(err)
				}
			}
		})
	}
}

func TestMonitorEndsWithItsConnection(t *testing.T) {
	srv := realserver.Start(t, realserver.Redis8)
	c := NewClient(&Options{Addr: srv.Addr()})
	defer c.Close()
	ch := make(chan string)
	m := c.Monitor(bg, ch)
	m.Start()
	next(t, ch)
	if err := c.ShutdownNoSave(bg).Err(); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	l := m.l
	m.mu.Unlock()
	for alive := true; alive; { // the loss is seen when all lines before it are received
		select {
		case <-ch:
		case <-l.Down():
			alive = false
		case <-time.After(20 * time.Second):
			t.Fatal("the loss is not seen")
		}
	}
	<-srv.Done()
	if err := c.Close(); err != nil { // waits for the reader, and so for its last word
		t.Error(err)
	}
	if err := m.Err(); err == nil || DeliveryOf(err) != MaybeSent {
		t.Errorf("got %v, want that the connection is lost", err)
	}

	idle := realserver.Start(t, realserver.Redis8)
	d := NewClient(&Options{Addr: idle.Addr()})
	stuck := d.Monitor(bg, ch)
	stuck.Start() // and nobody receives
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Monitor(bg, ch).Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("of a closed client: %v", err)
	}
}

func TestMonitorIsRefused(t *testing.T) {
	srv := realserver.Start(t, realserver.Redis8)
	c := NewClient(&Options{Addr: srv.Addr(), PoolTimeout: 50 * time.Millisecond})
	defer c.Close()
	if err := c.ACLSetUser(bg, "ann", "on", "nopass", "+@all", "-monitor").Err(); err != nil {
		t.Fatal(err)
	}
	ann := NewClient(&Options{Addr: srv.Addr(), Username: "ann", Password: "x"})
	defer ann.Close()
	if err := ann.Monitor(bg, nil).Err(); !IsPermissionError(err) {
		t.Errorf("of a user that may not: %v", err)
	}
	ended, cancel := context.WithCancel(bg)
	cancel()
	if err := c.Monitor(ended, nil).Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	cn := c.Conn()
	defer cn.Close()
	p := c.pipe()
	in := p.Monitor(bg, nil)
	_, _ = p.Exec(bg)
	for where, m := range map[string]*MonitorCmd{"Conn": cn.Monitor(bg, nil), "Pipeline": in} {
		if err := m.Err(); err == nil || DeliveryOf(err) != NotSent {
			t.Errorf("in a %s: %v", where, err)
		}
	}
}
