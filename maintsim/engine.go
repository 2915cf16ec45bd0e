package maintsim

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"
)

// A Backend says which server is behind the proxies. Zero means [Embedded].
type Backend struct {
	kind backendKind
	addr string   // of backendAddress
	argv []string // of backendProgram
}

type backendKind uint8

const (
	backendEmbedded backendKind = iota
	backendAddress
	backendProgram
)

// Embedded is a server inside this process. It needs nothing installed, begins
// empty, and is gone at Close. The proxies answer the connection commands it
// lacks.
func Embedded() Backend { return Backend{} }

// Address is a server that is running at addr, host:port. The simulator neither
// empties nor ends it.
func Address(addr string) Backend { return Backend{kind: backendAddress, addr: addr} }

// Program is a server the simulator starts on a free loopback port, without
// persistence, in a folder of its own, and ends at Close. Arguments before the
// server's own, such as those of a loader, come with path and args:
// Program("/lib/ld.so", "--argv0", "redis-server", "/opt/redis-server").
func Program(path string, args ...string) Backend {
	return Backend{kind: backendProgram, argv: append([]string{path}, args...)}
}

// Command is [Program] with path and arguments in one slice.
func Command(argv []string) Backend {
	return Backend{kind: backendProgram, argv: slices.Clone(argv)}
}

// String describes b.
func (b Backend) String() string {
	switch b.kind {
	case backendAddress:
		return "server at " + b.addr
	case backendProgram:
		return fmt.Sprintf("program %q", b.argv)
	case backendEmbedded:
	}
	return "embedded server"
}

// An Engine is the server behind the proxies.
type Engine struct {
	embedded *embedded // nil for a real server
	addr     string    // of a real server
	user     string
	password string
	stop     func() error // ends what was started; may be nil

	mu   sync.Mutex // serialises Do, I/O included: it is no request path
	data *dataConn  // nil until the first Do, and after an error
}

// start makes b ready to serve.
func (b Backend) start(ctx context.Context, cfg Config) (*Engine, error) {
	e := &Engine{user: cfg.Username, password: cfg.Password}
	switch b.kind {
	case backendEmbedded:
		m, err := startEmbedded(cfg.Username, cfg.Password)
		if err != nil {
			return nil, err
		}
		e.embedded = m
	case backendAddress:
		e.addr = b.addr
		if _, err := e.Do("PING"); err != nil {
			return nil, fmt.Errorf("maintsim: %s: %w", b, err)
		}
	case backendProgram:
		p, err := startProgram(ctx, b.argv, cfg.Password)
		if err != nil {
			return nil, err
		}
		e.addr, e.stop = p.addr, p.close
	}
	cfg.Logger.Debug("maintsim: backend is up", slog.String("backend", b.String()), slog.String("addr", e.addr))
	return e, nil
}

// Addr is the address of a real server, empty for the embedded one.
func (e *Engine) Addr() string { return e.addr }

// Embedded reports whether the server is the embedded one.
func (e *Engine) Embedded() bool { return e.embedded != nil }

// doTimeout bounds one Do.
const doTimeout = 10 * time.Second

// Do runs a command on the server, past the proxies and whatever they simulate,
// in database 0. Simple and bulk strings come as string, integers as int64, null
// as nil, arrays as []any. An error reply is returned as [ServerError]; others
// say that the server could not be reached. Calls are serialised, may come from
// any goroutine, and take at most 10 seconds each.
func (e *Engine) Do(args ...string) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.data == nil {
		ctx, cancel := context.WithTimeout(context.Background(), doTimeout)
		defer cancel()
		c, err := e.dial(ctx)
		if err != nil {
			return nil, err
		}
		d := newDataConn(c)
		if err := d.auth(e.user, e.password); err != nil {
			_ = c.Close()
			return nil, err
		}
		e.data = d
	}
	v, err := e.data.do(args...)
	if err != nil && !isServerError(err) {
		_ = e.data.conn.Close()
		e.data = nil
	}
	return v, err
}

// dial opens a connection for one client.
func (e *Engine) dial(ctx context.Context) (duplex, error) {
	if e.embedded != nil {
		return e.embedded.dial()
	}
	return dialServer(ctx, e.addr)
}

// dialServer connects to a real server.
func dialServer(ctx context.Context, addr string) (duplex, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("maintsim: backend: %w", err)
	}
	return c.(*net.TCPConn), nil
}

// close ends the server if the simulator started it.
func (e *Engine) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.data != nil {
		_ = e.data.conn.Close()
		e.data = nil
	}
	if e.embedded != nil {
		e.embedded.close()
	}
	if e.stop != nil {
		return e.stop()
	}
	return nil
}
