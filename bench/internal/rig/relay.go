package rig

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A Relay passes on what clients and a server say to each other. It can deliver what
// the server says later, as a network would that is longer, or hold it back.
type Relay struct {
	l     net.Listener
	to    string        // immutable
	delay time.Duration // immutable; of what the server says

	wg sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	closed bool
	conns  map[net.Conn]struct{}
	sent   int64         // bytes that have come from clients
	heard  chan struct{} // closed, and replaced, when sent grows
	gate   chan struct{} // closed to let the server's words through; nil: they pass
}

// Sizes of what one connection holds.
const (
	chunkSize = 32 << 10
	maxChunks = 1 << 10 // on the way at one time
)

// NewRelay starts a relay on a loopback address.
func NewRelay(to string, delay time.Duration) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{l: l, to: to, delay: delay, conns: make(map[net.Conn]struct{}), heard: make(chan struct{})}
	r.wg.Go(r.accept)
	return r, nil
}

// Addr is where clients connect.
func (r *Relay) Addr() string { return r.l.Addr().String() }

func (r *Relay) accept() {
	for {
		client, err := r.l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		if !r.keep(client, server) {
			return
		}
		r.wg.Go(func() { r.upstream(client, server) })
		r.wg.Go(func() { r.downstream(client, server) })
	}
}

// keep remembers connections for Close; false: it was called, and they are closed.
func (r *Relay) keep(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, nc := range conns {
		if r.closed {
			_ = nc.Close()
		} else {
			r.conns[nc] = struct{}{}
		}
	}
	return !r.closed
}

// end closes both sides of a connection.
func (r *Relay) end(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, nc := range conns {
		_ = nc.Close()
		delete(r.conns, nc)
	}
}

// upstream passes on what the client says, at once.
func (r *Relay) upstream(client, server net.Conn) {
	defer r.end(client, server)
	buf := make([]byte, chunkSize)
	for {
		n, err := client.Read(buf)
		if n > 0 {
			r.count(n) // first: who has its reply must find its command counted
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *Relay) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent += int64(n)
	close(r.heard)
	r.heard = make(chan struct{})
}

// chunk is something that the server has said, and when it is to arrive.
type chunk struct {
	bytes []byte
	due   time.Time
}

// downstream passes on what the server says, after the delay.
func (r *Relay) downstream(client, server net.Conn) {
	defer r.end(client, server)
	if r.delay <= 0 {
		r.straight(client, server)
		return
	}
	way := make(chan chunk, maxChunks)
	var late sync.WaitGroup
	late.Go(func() {
		for c := range way {
			pause(time.Until(c.due))
			if _, err := client.Write(c.bytes); err != nil {
				r.end(client, server) // then the reader ends, and closes the channel
			}
		}
	})
	for {
		buf := make([]byte, chunkSize)
		n, err := server.Read(buf)
		if n > 0 {
			way <- chunk{buf[:n], time.Now().Add(r.delay)}
		}
		if err != nil {
			break
		}
	}
	close(way)
	late.Wait()
}

// straight passes on what the server says at once, or when it is not held back.
func (r *Relay) straight(client, server net.Conn) {
	buf := make([]byte, chunkSize)
	for {
		n, err := server.Read(buf)
		if n > 0 {
			if gate := r.held(); gate != nil {
				<-gate
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *Relay) held() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gate
}

// Hold keeps back what the server says from now on. It is for relays without delay.
func (r *Relay) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gate == nil && !r.closed {
		r.gate = make(chan struct{})
	}
}

// Release lets it through again.
func (r *Relay) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gate != nil {
		close(r.gate)
		r.gate = nil
	}
}

// Sent is how many bytes clients have sent.
func (r *Relay) Sent() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent
}

// AwaitSent waits until clients have sent so many bytes in all.
func (r *Relay) AwaitSent(ctx context.Context, total int64) error {
	for {
		r.mu.Lock()
		sent, heard := r.sent, r.heard
		r.mu.Unlock()
		if sent >= total {
			return nil
		}
		select {
		case <-heard:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends the relay and its connections.
func (r *Relay) Close() error {
	r.Release()
	err := r.l.Close()
	r.mu.Lock()
	r.closed = true
	for nc := range r.conns {
		_ = nc.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ServeRelay is the role of a process that is a relay with a delay. Its arguments
// are where it leads to and the delay; it prints its address and ends with in.
func ServeRelay(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("a relay wants an address and a delay")
	}
	delay, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	r, err := NewRelay(args[0], delay)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, r.Addr()+"\n"); err != nil {
		return errors.Join(err, r.Close())
	}
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, r.Close())
}
